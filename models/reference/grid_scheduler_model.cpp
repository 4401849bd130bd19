// SPDX-License-Identifier: Apache-2.0
// Stages of the grid scheduler; its registers are in grid_scheduler_registers.cpp.
#include "models/reference/grid_scheduler_model.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>

namespace stretto {
namespace {

constexpr uint32_t bit(unsigned slot) { return uint32_t{1} << slot; }

// Calls use(slot) for each slot of a mask, from the lowest on.
template <class Use>
void each(uint32_t slots, Use use) {
  for (; slots != 0; slots &= slots - 1) use(static_cast<unsigned>(std::countr_zero(slots)));
}

// First set bit at or behind `turn`, cyclically. REQUIRES: one is set.
template <std::size_t kWords>
uint8_t next_unit(const std::array<uint32_t, kWords>& words, unsigned turn) {
  unsigned word = turn / 32;
  uint32_t bits = words[word] & (~uint32_t{0} << turn % 32);
  for (unsigned i = 0; bits == 0; ++i) {
    assert(i < kWords);
    word = word + 1 == kWords ? 0 : word + 1;
    bits = words[word];
  }
  return static_cast<uint8_t>(word * 32 + static_cast<unsigned>(std::countr_zero(bits)));
}

template <std::size_t kWords>
bool any(const std::array<uint32_t, kWords>& words) {
  uint32_t all = 0;
  for (const uint32_t word : words) all |= word;
  return all != 0;
}

void take(GridSchedulerRegisters::UnitUse& used, const GridSchedulerRegisters::SlotNeeds& needs) {
  used.registers_kib += needs.registers_kib;
  used.lds_kib += needs.lds_kib;
  used.wavefronts += needs.wavefronts;
  used.work_groups += 1;
}

void give_back(GridSchedulerRegisters::UnitUse& used,
               const GridSchedulerRegisters::SlotNeeds& needs) {
  used.registers_kib -= needs.registers_kib;
  used.lds_kib -= needs.lds_kib;
  used.wavefronts -= needs.wavefronts;
  used.work_groups -= 1;
}

}  // namespace

uint32_t GridSchedulerModel::served() const {
  const uint32_t work = this->work();
  uint32_t wants = 0;
  unsigned best = 0;
  if (is_strict())  // S3: who finds no room holds lower priorities back all the same.
    each(work, [&](unsigned s) { best = std::max<unsigned>(best, slots_[s].needs.priority); });
  each(work, [&](unsigned s) {
    const Slot& slot = slots_[s];
    if (!any(slot.candidates)) return;
    if (pipe_.slots != 0 && slot.needs.priority < pipe_.priority) return;
    if (launch_order()) {
      bool behind = false;
      each(slot.older & work, [&](unsigned t) {
        behind = behind || (slots_[t].needs.priority >= slot.needs.priority &&
                            !(two_arbiters() && slots_[t].needs.type != slot.needs.type));
      });
      if (behind) return;
    }
    if ((wants != 0 || is_strict()) && slot.needs.priority < best) return;
    if (slot.needs.priority > best) wants = 0;
    best = slot.needs.priority;
    wants |= bit(s);
  });
  if (two_arbiters()) {
    uint32_t preferred = 0;
    each(wants, [&](unsigned s) {
      if (slots_[s].needs.type == turn_class_) preferred |= bit(s);
    });
    if (preferred != 0) return preferred;
  }
  return wants;
}

bool GridSchedulerModel::outranked() const {
  bool outranked = false;
  if (is_strict() && pipe_.slots != 0)
    each(work(),
         [&](unsigned s) { outranked = outranked || slots_[s].needs.priority > pipe_.priority; });
  return outranked;
}

uint32_t GridSchedulerModel::stopped() const {
  uint32_t stopped = 0;
  each(preempt_ & ~pipe_.slots & running_, [&](unsigned s) {
    if (slots_[s].resident == 0) stopped |= bit(s);
  });
  return stopped;
}

GridSchedulerModel::Units GridSchedulerModel::units_in_use() const {
  Units units{};
  for (unsigned cu = 0; cu < cus_in_use(); ++cu) units[cu / 32] |= uint32_t{1} << cu % 32;
  return units;
}

// Chooses the slot (priority, then order) and its next candidate unit, or the next of a trial.
void GridSchedulerModel::pick() {
  const bool in_trial = pipe_.in_trial();
  const uint32_t tried = in_trial && pick_.valid ? 1 : 0;  // Not yet counted in pipe_.left.
  pick_.valid = false;
  pick_.trial = in_trial;
  unsigned slot = pipe_.slot;
  if (in_trial) {
    if (pipe_.left <= tried || !any(trial_candidates_)) return;
  } else {
    if (served_ == 0 || pipe_.state == PipeState::place) return;
    slot = (turn_slot_ + static_cast<unsigned>(std::countr_zero(std::rotr(served_, turn_slot_)))) %
           kGridSlots;
    turn_slot_ = static_cast<uint8_t>((slot + 1) % kGridSlots);
    turn_class_ = !slots_[slot].needs.type;
  }
  const bool second = (in_trial ? pipe_.two_arbiters : two_arbiters()) && slots_[slot].needs.type;
  uint8_t& turn =
      in_trial ? (second ? pipe_.tensor : pipe_.cu) : (second ? turn_tensor_ : turn_cu_);
  pick_.valid = true;
  pick_.slot = static_cast<uint8_t>(slot);
  pick_.cu = next_unit(in_trial ? trial_candidates_ : slots_[slot].candidates, turn);
  turn = static_cast<uint8_t>(pick_.cu + 1u == kGridMaxCus ? 0 : pick_.cu + 1);
}

void GridSchedulerModel::place(const Pick& picked, uint32_t stop, PipeState pipe_state) {
  const unsigned cu = picked.cu;
  Slot& slot = slots_[picked.slot];
  const uint32_t unit = uint32_t{1} << cu % 32;
  if (picked.trial) {
    if ((touched_[cu / 32] & unit) == 0)
      trial_used_[cu] = pipe_state == PipeState::empty ? Registers::UnitUse() : used_[cu];
    if (!fits(trial_used_[cu], slot.needs)) {
      trial_candidates_[cu / 32] &= ~unit;
      return;
    }
    take(trial_used_[cu], slot.needs);
    touched_[cu / 32] |= unit;
    log_[pipe_.log_index++ % kGridPipelineEntries] = picked.cu;
    --pipe_.left;
    return;
  }
  if (slot.state != SlotState::running || slot.undispatched == 0 || (stop & bit(picked.slot)) != 0)
    return;
  if (!fits(used_[cu], slot.needs)) {
    slot.candidates[cu / 32] &= ~unit;
    return;
  }
  auto& [batch, gate, phase] = slot.gate;
  if (batch != 0 && (gates_[gate % kGridGates / 32] >> gate % 32 & 1) == 0) {
    closed_ |= bit(picked.slot);
    return;
  }
  take(used_[cu], slot.needs);
  out_.dispatch_valid = true;
  out_.dispatch_cu = picked.cu;
  out_.dispatch_slot = picked.slot;
  out_.dispatch_wg_id = slot.range.first + slot.position;
  if (!slot.started) {
    out_.kernel_start = true;
    out_.start_slot = picked.slot;
  }
  slot.started = true;
  const bool last = slot.position + 1 == slot.range.count;
  slot.position = last ? 0 : slot.position + 1;
  if (batch != 0) {
    const bool next = last || phase + 1 == batch;
    if (next) gate = static_cast<uint16_t>(last ? 0 : gate + 1);
    phase = static_cast<uint16_t>(next ? 0 : phase + 1);
  }
  if (--slot.undispatched == 0) left_ &= ~bit(picked.slot);
  ++slot.resident;
  ++counters_.dispatched;
}

void GridSchedulerModel::end(unsigned slot) {
  out_.kernel_done = true;
  out_.done_slot = static_cast<uint8_t>(slot);
  slots_[slot].state = SlotState::done;
  running_ &= ~bit(slot);
  pipe_.slots &= ~bit(slot);  // Before the last of the pipeline is placed.
  ended_ |= bit(slot);
}

void GridSchedulerModel::leave(const GridSchedulerInputs& in, unsigned placed_slot, uint32_t stop,
                               uint32_t stopped) {
  // T1: a stopped slot ends when no other slot is reported.
  const auto end_stopped = [&] {
    if (stopped != 0 && ended_ == 0 && !out_.first_wg_done)
      end(static_cast<unsigned>(std::countr_zero(stopped)));
  };
  if (!in.done_valid && !in.drained_valid) {
    end_stopped();
    return;
  }
  Slot& from = slots_[in.done_slot];
  give_back(used_[in.done_cu], from.needs);
  each(running_, [&](unsigned s) {  // A launch makes all units candidates.
    slots_[s].candidates[in.done_cu / 32u] |= uint32_t{1} << in.done_cu % 32;
  });
  --from.resident;
  if (in.done_slot != placed_slot && from.resident == 0 &&
      (from.undispatched == 0 || (stop & bit(in.done_slot)) != 0)) {
    end(in.done_slot);
  }
  if (in.done_valid) {
    if (!from.first_done) {
      out_.first_wg_done = true;
      out_.done_slot = in.done_slot;
    }
    from.first_done = true;
    ++counters_.finished;
  } else {
    ++counters_.drained;
    if (returned_in_ - returned_out_ == kGridReturnedEntries) {
      returned_lost_ = true;
    } else {
      returned_[returned_in_++ % kGridReturnedEntries] = {in.done_slot, in.drained_wg_id};
    }
  }
  end_stopped();
  pipe_.retry = true;
}

void GridSchedulerModel::begin_pass(PipeState state) {
  pipe_.state = state;
  pipe_.todo = pipe_.slots;
  pipe_.left = pipe_.log_index = 0;
  pipe_.cu = pipe_.tensor = 0;
  touched_ = {};
}

void GridSchedulerModel::step_pipeline(const Pipeline& before, const GridSchedulerInputs& in,
                                       const Pick& before_pick, uint32_t preempt_before) {
  const bool leaves = in.done_valid || in.drained_valid;
  const unsigned next = before.todo != 0 ? static_cast<unsigned>(std::countr_zero(before.todo)) : 0;
  if (before.state == PipeState::idle || in.reg.write) return;
  if (before.state == PipeState::check) {
    if (before.todo == 0) {
      begin_pass(PipeState::empty);
    } else {
      pipe_.todo &= ~bit(next);
      if (before.todo == before.slots) pipe_.priority = slots_[next].needs.priority;
      launch(next);
    }
  } else if (before.state != PipeState::place && (preempt_before & before.slots) != 0) {
    preempt_ |= before.slots;
    pipe_.slots = 0;
    pipe_.state = PipeState::idle;
  } else if (before.state == PipeState::wait) {
    if (!before.retry || served_ != 0 || outranked_) return;
    begin_pass(PipeState::now);
    pipe_.retry = leaves;
  } else if (before.left != 0) {
    if (before.state == PipeState::place) {
      pick_ = {true, false, before.slot, log_[pipe_.log_index++]};
      --pipe_.left;
    } else if (!pick_.valid && !before_pick.valid) {
      if (before.state == PipeState::empty) {
        refuse(before.slots, Reason::never_fits);
      } else {
        pipe_.state = PipeState::wait;
      }
    }
  } else if (before.todo != 0) {
    if (before.in_trial()) trial_candidates_ = units_in_use();
    pipe_.slot = static_cast<uint8_t>(next);
    pipe_.left = slots_[next].undispatched;
    pipe_.todo &= ~bit(next);
  } else if (before.state == PipeState::empty) {
    pipe_.state = PipeState::wait;
    pipe_.retry = true;
  } else if (before.state == PipeState::now) {
    pipe_.state = PipeState::place;
    pipe_.todo = before.slots;
    pipe_.log_index = 0;
  } else if (!before_pick.valid) {
    pipe_.state = PipeState::idle;
    pipe_.slots = 0;
  }
}

void GridSchedulerModel::launch(unsigned index) {
  Slot& slot = slots_[index];
  const bool in_pipeline = (pipe_.slots & bit(index)) != 0;
  const auto& [first, count] = slot.range;
  const auto& [grid, start] = slot.order;
  const auto& [batch, gate, phase] = slot.gate;
  const uint32_t skip = slot.skip.skip;
  const uint64_t order = uint64_t{start} + skip;
  const uint32_t left = count - skip;
  const Registers::Capacity& capacity = registers_.capacity;
  Reason reason = Reason::none;
  if (slot.needs.registers_kib > capacity.registers_kib || slot.needs.lds_kib > capacity.lds_kib ||
      slot.needs.wavefronts > capacity.wavefronts || capacity.work_groups == 0) {
    reason = Reason::needs;
  } else if (count == 0 || uint64_t{first} + count > grid || start >= count || skip >= count) {
    reason = Reason::range;
  } else if (batch != 0 && (in_pipeline || gate >= kGridGates || phase >= batch ||
                            count > uint64_t{batch} * kGridGates)) {
    reason = Reason::gates;
  } else if (in_pipeline && uint64_t{pipe_.total} + left > kGridPipelineEntries) {
    reason = Reason::too_many;
  }
  if (reason != Reason::none) {
    refuse(in_pipeline ? pipe_.slots : bit(index), reason);
  } else {
    slot.state = SlotState::running;
    slot.started = slot.first_done = false;
    closed_ &= ~bit(index);
    running_ |= bit(index);
    left_ |= bit(index);
    slot.position = static_cast<uint32_t>(order >= count ? order - count : order);
    slot.undispatched = left;
    slot.resident = 0;
    if (in_pipeline) pipe_.total += left;
    for (Slot& s : slots_) s.older &= ~bit(index);
    slot.older = ~bit(index);
  }
  slot.candidates = units_in_use();
}

void GridSchedulerModel::refuse(uint32_t slots, Reason reason) {
  each(slots, [&](unsigned s) {
    slots_[s].state = SlotState::refused;
    slots_[s].reason = reason;
  });
  running_ &= ~slots;
  out_.refused |= slots;
  ended_ |= slots;
  if ((slots & pipe_.slots) == 0) return;
  pipe_.slots = 0;
  pipe_.state = PipeState::idle;
}

void GridSchedulerModel::open_gate(uint32_t gate) {
  if (gate < kGridGates) gates_[gate / 32] |= uint32_t{1} << gate % 32;
  closed_ = 0;
}

GridSchedulerOutputs GridSchedulerModel::step(const GridSchedulerInputs& in) {
  if (read_pending_) out_.reg_rdata = read(read_address_);

  // The state before the edge, as far as later stages need it.
  const Pick picked = pick_;
  const Pipeline pipe_before = pipe_;
  const uint32_t preempt_before = preempt_;
  const uint32_t stop = preempt_ & ~pipe_.slots;
  const uint32_t stopped_before = stopped();
  SlotStates states{};
  if (in.reg.write) {
    for (unsigned s = 0; s < kGridSlots; ++s) states[s] = slots_[s].state;
  }

  out_.dispatch_valid = out_.kernel_start = out_.first_wg_done = out_.kernel_done = false;
  out_.preempt_valid = false;
  out_.refused = ended_ = 0;
  returned_before_ = returned_in_;
  pick();
  if (picked.valid) place(picked, stop, pipe_before.state);
  if (in.event_valid) open_gate(in.event_gate);
  leave(in, out_.dispatch_valid ? picked.slot : kGridSlots, stop, stopped_before);

  read_pending_ = in.reg.read;
  if (in.reg.read) read_address_ = in.reg.address;
  if (in.reg.write) write(in.reg.address, in.reg.wdata, states, stopped_before != 0);
  step_pipeline(pipe_before, in, picked, preempt_before);
  done_ |= ended_;

  served_ = served();
  outranked_ = outranked();
  out_.irq = (done_ & registers_.irq_enable.slots) != 0;
  out_.drained_ready = returned_in_ - returned_out_ != kGridReturnedEntries;
  out_.idle = !pick_.valid && !read_pending_ && !out_.dispatch_valid && !out_.first_wg_done &&
              !out_.kernel_done && !out_.preempt_valid && out_.refused == 0 && served_ == 0 &&
              stopped() == 0 &&
              (pipe_.state == PipeState::idle ||
               (pipe_.state == PipeState::wait && (!pipe_.retry || outranked_) &&
                (preempt_ & pipe_.slots) == 0));
  return out_;
}

}  // namespace stretto
