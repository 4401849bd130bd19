// SPDX-License-Identifier: Apache-2.0
// See issue_port.h.
#include "models/gpu/compute_unit/issue_port.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace stretto {

// IssueTrace

void IssueTrace::push(uint32_t slots, uint32_t stall) {
  if (!stretches_.empty() && stretches_.back().slots == slots && stretches_.back().stall == stall) {
    ++stretches_.back().times;
  } else {
    stretches_.push_back({slots, stall, 1});
  }
}

void IssueTrace::add_stall(uint32_t clocks) {
  if (clocks == 0) return;
  if (open_ == 0 && !stretches_.empty()) {  // One more behind the same instruction.
    const Stretch last = stretches_.back();
    if (--stretches_.back().times == 0) stretches_.pop_back();
    push(last.slots, last.stall + clocks);
  } else {
    push(std::exchange(open_, 0), clocks);
  }
}

void IssueTrace::close() {
  if (open_ != 0) push(std::exchange(open_, 0), 0);
}

void IssueTrace::add(const riscv::Block& block, uint32_t count) {
  if (block.cycles == block.instruction_count) {  // A clock each.
    open_ += count;
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t end =
        i + 1 < block.instruction_count ? block.ops[i + 1].cycles_before : block.cycles;
    ++open_;
    add_stall(static_cast<uint32_t>(end - block.ops[i].cycles_before) - 1);
  }
}

void IssueTrace::leave_block(const riscv::Block& block, const riscv::Op* first) {
  stretches_.resize(mark_.size);
  if (mark_.size != 0) stretches_.back() = {mark_.slots, mark_.stall, mark_.times};
  open_ = mark_.open;
  add(block, static_cast<uint32_t>(first - block.ops));
}

void IssueTrace::keep(size_t stretch, uint64_t begun, uint32_t left, uint32_t stall) {
  std::vector<Stretch> rest{{left, stall, 1}};
  if (stretch < stretches_.size()) {
    const Stretch& current = stretches_[stretch];
    if (begun < current.times)
      rest.push_back({current.slots, current.stall, current.times - begun});
    rest.insert(rest.end(), stretches_.begin() + static_cast<long>(stretch) + 1, stretches_.end());
  }
  assign(std::move(rest));
}

// IssuePort

IssuePort::IssuePort(unsigned index, unsigned positions, IssueSource& source)
    : index_(index), source_(source), traces_(positions) {
  assert(positions <= 64);
  state_.members.resize(positions);
  ahead_.members.resize(positions);
}

void IssuePort::enter(unsigned position, Cycle ready) {
  assert(!holds(position));
  looked_ahead_ = false;
  const uint64_t bit = uint64_t{1} << position;
  state_.present |= bit;
  state_.at_end &= ~bit;
  state_.members[position] = {};
  state_.members[position].ready = ready;
  traces_[position].close();
  next_stretch(state_, position);
  find_active(state_);
}

void IssuePort::leave(unsigned position) {
  looked_ahead_ = false;
  const uint64_t bit = uint64_t{1} << position;
  state_.present &= ~bit;
  state_.at_end &= ~bit;
  find_active(state_);
}

Cycle IssuePort::pull(unsigned position) {
  const Member member = state_.members[position];
  if ((state_.at_end >> position & 1) != 0) {
    traces_[position].clear();
  } else {
    traces_[position].keep(member.stretch, member.begun, member.left, member.stall);
  }
  leave(position);
  return std::max(member.ready, state_.clock);
}

std::optional<unsigned> IssuePort::turn(Cycle now) const {
  if (state_.clock != now || state_.active == 0) return std::nullopt;
  const Turn turn = turn_of(state_);
  if (turn.whose != kOwn || (state_.at_end >> turn.position & 1) == 0) return std::nullopt;
  return turn.position;
}

void IssuePort::start(unsigned pipe, Cycle begin, Cycle clocks, uint64_t slots,
                      uint64_t positions) {
  assert(missing(pipe) == 0);
  looked_ahead_ = false;
  clocks = std::max<Cycle>({clocks, slots, 1});  // One slot a clock is all that there is.
  PipeSlots& its = state_.pipes[pipe];
  its = {begin, clocks, slots, 0, positions};
  if (slots == 0) return;
  its.whole = clocks / slots;
  its.part = clocks % slots;
  its.ready = begin;
}

void IssuePort::take(unsigned position) {
  looked_ahead_ = false;
  state_.last = position;
  state_.whose = kOwn;
  ++state_.clock;
  ++state_.issued;
  find_active(state_);
}

void IssuePort::advance(Cycle until) {
  if (state_.clock >= until) return;
  if (looked_ahead_ && ahead_.clock <= until) std::swap(state_, ahead_);
  looked_ahead_ = false;
  run(state_, until, ~0u);
  assert(state_.clock == until);
  for (uint64_t left = state_.present; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    Member& member = state_.members[i];
    if (member.stretch < kDropFrom) continue;
    traces_[i].drop(member.stretch);
    member.stretch = 0;
  }
}

Cycle IssuePort::next() {
  if (state_.present == 0) return kUnknown;
  if (!looked_ahead_) {
    if (turn(state_.clock).has_value()) return state_.clock;
    const Cycle begin = state_.active != 0 ? state_.clock : std::max(state_.clock, state_.soon);
    if (state_.active == 0 && state_.present == state_.at_end) return begin;  // Or a pipe's then.
    static_cast<Head&>(ahead_) = state_;
    for (uint64_t left = state_.present; left != 0; left &= left - 1) {
      const auto i = static_cast<size_t>(std::countr_zero(left));
      ahead_.members[i] = state_.members[i];
    }
    run(ahead_, begin + kHorizon, kSteps);
    looked_ahead_ = true;
  }
  return ahead_.clock;
}

inline unsigned IssuePort::first_behind(uint64_t positions, unsigned last) {
  const uint64_t behind = last >= 63 ? 0 : positions & (~uint64_t{0} << (last + 1));
  return static_cast<unsigned>(std::countr_zero(behind != 0 ? behind : positions));
}

// Without a division.
inline void IssuePort::PipeSlots::take_one() {
  if (++issued == slots) {
    ready = kUnknown;
    return;
  }
  ready += whole;
  rest += part;
  if (rest < slots) return;
  rest -= slots;
  ++ready;
}

void IssuePort::PipeSlots::take(uint64_t count) {
  issued += count;
  ready = issued == slots ? kUnknown : begin + issued * clocks / slots;
  if (slots != 0) rest = issued * clocks % slots;
}

uint64_t IssuePort::PipeSlots::planned(Cycle until) const {
  if (until <= begin) return 0;
  return std::min(slots, ((until - begin) * slots + clocks - 1) / clocks);
}

uint64_t IssuePort::unfinished(const State& state) {
  uint64_t pipes = 0;
  for (unsigned i = 0; i < kPipes; ++i) {
    if (state.pipes[i].ready != kUnknown) pipes |= uint64_t{1} << i;
  }
  return pipes;
}

// Whose turn clock `state.clock` is. It decides most clocks beside a pipe: kept short.
inline IssuePort::Turn IssuePort::turn_of(const State& state) {
  static_assert(kPipes == 2);
  const auto ready = [&](const PipeSlots& pipe) {
    return pipe.ready <= state.clock ? pipe.positions : 0;
  };
  const uint64_t first = ready(state.pipes[0]), second = ready(state.pipes[1]);
  const uint64_t all = state.active | first | second;
  if (all == 0) return {0, kNobody};
  if ((all >> state.last & 1) != 0 && state.whose != kOwn) {
    if (state.whose == 0 && (second >> state.last & 1) != 0) return {state.last, 1};
    if ((state.active >> state.last & 1) != 0) return {state.last, kOwn};
  }
  const unsigned position = first_behind(all, state.last);
  if ((first >> position & 1) != 0) return {position, 0};
  return {position, (second >> position & 1) != 0 ? 1 : kOwn};
}

void IssuePort::run_pipes(State& state, Cycle until) {
  const uint64_t pipes = unfinished(state);
  if ((pipes & (pipes - 1)) != 0) {  // Two of them: clock by clock.
    const Turn turn = turn_of(state);
    ++state.clock;
    if (turn.whose == kNobody) return;
    state.pipes[turn.whose].take_one();
    ++state.issued;
    state.last = turn.position;
    state.whose = turn.whose;
    return;
  }
  if (pipes != 0) {
    const auto whose = static_cast<unsigned>(std::countr_zero(pipes));
    PipeSlots& pipe = state.pipes[whose];
    // What is late follows clock by clock.
    const uint64_t issued = std::min(pipe.issued + (until - state.clock), pipe.planned(until));
    if (const uint64_t count = issued - pipe.issued; count != 0) {
      state.issued += count;
      pipe.take(count);
      // One position a slot, in turn.
      if (state.whose >= whose || (pipe.positions >> state.last & 1) == 0)
        state.last = first_behind(pipe.positions, state.last);
      state.whose = whose;
      const auto round = static_cast<unsigned>(std::popcount(pipe.positions));
      for (uint64_t left = (count - 1) % round; left != 0; --left)
        state.last = first_behind(pipe.positions, state.last);
    }
  }
  state.clock = until;
}

void IssuePort::find_active(State& state) {
  state.active = 0;
  state.soon = kUnknown;
  for (uint64_t left = state.present; left != 0; left &= left - 1) {
    const auto position = static_cast<unsigned>(std::countr_zero(left));
    const Cycle ready = state.members[position].ready;
    if (ready <= state.clock) {
      state.active |= uint64_t{1} << position;
    } else {
      state.soon = std::min(state.soon, ready);
    }
  }
}

void IssuePort::next_stretch(State& state, unsigned position) {
  Member& member = state.members[position];
  const IssueTrace& trace = traces_[position];
  for (bool more = true;;) {
    if (member.stretch < trace.size() && member.begun == trace[member.stretch].times &&
        member.stretch + 1 < trace.size()) {
      ++member.stretch;
      member.begun = 0;
    }
    if (member.stretch < trace.size() && member.begun < trace[member.stretch].times) {
      ++member.begun;
      member.left = trace[member.stretch].slots;
      member.stall = trace[member.stretch].stall;
      return;
    }
    if (!more) break;
    more = source_.extend(index_, position);
  }
  state.at_end |= uint64_t{1} << position;
}

// Its last slot was the clock before `state.clock`.
void IssuePort::end_stretch(State& state, unsigned position) {
  Member& member = state.members[position];
  member.ready = state.clock + member.stall;
  const bool stalls = member.stall != 0;
  next_stretch(state, position);
  if (!stalls) return;
  state.active &= ~(uint64_t{1} << position);
  state.soon = std::min(state.soon, member.ready);
}

void IssuePort::issue(State& state, unsigned who, uint32_t slots) {
  Member& member = state.members[who];
  state.last = who;
  state.whose = kOwn;
  state.clock += slots;
  state.issued += slots;
  member.left -= slots;
  if (member.left == 0) end_stretch(state, who);
}

// One wavefront is ready and one pipe works whose slots are two clocks apart or more. Behind a slot of
// the wavefront comes the pipe's, if one is ready; so the pipe is on time and the wavefront has the
// other clocks. False: it is not so simple.
bool IssuePort::beside_pipe(State& state, unsigned who, Cycle until) {
  const uint64_t pipes = unfinished(state);
  if ((pipes & (pipes - 1)) != 0 || (state.active & (state.active - 1)) != 0) return false;
  const auto whose = static_cast<unsigned>(std::countr_zero(pipes));
  PipeSlots& pipe = state.pipes[whose];
  if (pipe.whole < 2 || pipe.ready < state.clock || state.last != who || state.whose != kOwn)
    return false;
  const uint32_t left = state.members[who].left;
  const uint64_t before = pipe.issued;
  Cycle end = state.clock + left;  // Least solution of: end - clock = left + slots of the pipe.
  for (Cycle next = end; end < until; end = next) {
    next = state.clock + left + pipe.planned(end) - before;
    if (next == end) break;
  }
  end = std::min({end, until, state.soon});
  const uint64_t count = pipe.planned(end) - before;
  const bool last_is_pipe = pipe.planned(end - 1) - before != count;
  if (count != 0) pipe.take(count);
  state.issued += count;
  state.clock += count;
  issue(state, who, static_cast<uint32_t>(end - state.clock));
  if (last_is_pipe) {
    state.last = first_behind(pipe.positions, who);
    state.whose = whose;
  }
  return true;
}

bool IssuePort::recurs(const State& state) const {
  if (state.active != past_.active || state.last != past_.last || state.whose != past_.whose ||
      state.at_end != 0)
    return false;
  for (uint64_t left = state.present; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    const Member &now = state.members[i], &then = past_.members[i];
    if (now.stretch != then.stretch || now.left != then.left) return false;
    if ((state.active >> i & 1) == 0 && now.ready - state.clock != then.ready - past_.clock)
      return false;
  }
  return true;
}

bool IssuePort::repeat(State& state, Cycle until) const {
  const Cycle period = state.clock - past_.clock;
  uint64_t times = (until - state.clock) / period;
  for (uint64_t left = state.present; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    const Member& member = state.members[i];
    const uint64_t rounds = member.begun - past_.members[i].begun;
    if (rounds != 0)
      times = std::min(times, (traces_[i][member.stretch].times - member.begun) / rounds);
  }
  if (times == 0) return false;
  for (uint64_t left = state.present; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    Member& member = state.members[i];
    member.begun += times * (member.begun - past_.members[i].begun);
    if ((state.active >> i & 1) == 0) member.ready += times * period;
  }
  state.issued += times * (state.issued - past_.issued);
  state.clock += times * period;
  if (state.soon != kUnknown) state.soon += times * period;
  return true;
}

void IssuePort::run(State& state, Cycle until, unsigned steps) {
  unsigned step = 0, look = kFirstLook;
  bool kept = false;
  for (; state.clock < until && steps != 0; --steps) {
    if (state.clock >= state.soon) find_active(state);
    if (kept && recurs(state) && repeat(state, until)) {
      kept = false;
      step = 0;
      look = kFirstLook;
      continue;
    }
    if (++step == look) {
      look *= 2;
      kept = state.at_end == 0 && unfinished(state) == 0;
      if (kept) past_ = state;
    }
    if (state.active == 0) {
      run_pipes(state, std::min(state.soon, until));
      continue;
    }
    const Turn turn = turn_of(state);
    const unsigned who = turn.position;
    if (turn.whose != kOwn) {
      state.pipes[turn.whose].take_one();
      ++state.issued;
      ++state.clock;
      state.last = who;
      state.whose = turn.whose;
      continue;
    }
    if ((state.at_end >> who & 1) != 0) return;
    if (unfinished(state) != 0) {
      if (!beside_pipe(state, who, until)) issue(state, who, 1);
      continue;
    }
    const unsigned ready = static_cast<unsigned>(std::popcount(state.active));
    const Cycle span = std::min(state.soon, until) - state.clock;
    Member& member = state.members[who];
    uint32_t rounds = 0;
    if (ready == 1) {
      const IssueTrace::Stretch& stretch = traces_[who][member.stretch];
      const uint64_t period = uint64_t{stretch.slots} + stretch.stall;
      if (state.present == state.active && member.left == stretch.slots) {  // All by itself.
        const uint64_t times = std::min(stretch.times - member.begun, span / period);
        member.begun += times;
        state.clock += times * period;
        state.issued += times * stretch.slots;
        if (times != 0) {
          state.last = who;
          state.whose = kOwn;
          continue;
        }
      }
      rounds = static_cast<uint32_t>(std::min<Cycle>(member.left, span));
    } else if ((state.at_end & state.active) == 0) {
      rounds = ~0u;
      for (uint64_t left = state.active; left != 0; left &= left - 1)
        rounds = std::min(rounds, state.members[static_cast<size_t>(std::countr_zero(left))].left);
      rounds = static_cast<uint32_t>(std::min<Cycle>(rounds - 1, span / ready));
    }
    if (ready == 1 || rounds == 0) {
      issue(state, who, std::max(rounds, 1u));
      continue;
    }
    for (uint64_t left = state.active; left != 0; left &= left - 1)
      state.members[static_cast<size_t>(std::countr_zero(left))].left -= rounds;
    state.clock += uint64_t{rounds} * ready;
    state.issued += uint64_t{rounds} * ready;
    // The last of a round is the one before who begins it.
    const uint64_t before = state.active & ((uint64_t{1} << who) - 1);
    state.whose = kOwn;
    state.last = static_cast<unsigned>(63 - std::countl_zero(before != 0 ? before : state.active));
  }
  if (state.clock >= state.soon) find_active(state);
}

}  // namespace stretto
