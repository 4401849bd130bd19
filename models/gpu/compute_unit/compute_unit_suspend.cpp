// SPDX-License-Identifier: Apache-2.0
// Suspension of ComputeUnit's work-groups: they freeze, their states go to memory, and they go on
// later, here or on another unit.
//
// A state is what hardware would save: all registers and LDS that the work-group has been given,
// used or not, and kWavefrontBytes a wavefront. It leaves as stores and comes back as loads of the
// unit, through the L2 and at its rate. Contents of tiles, sums and registers exist in memory alone
// while the work-group is suspended. What has no bytes goes beside it (Suspended): shapes, stamps,
// the order of operations, private memory, which is memory's already.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "models/gpu/compute_unit/compute_unit.h"

namespace stretto {
namespace {

constexpr uint32_t kDigestSuspend = 0x4703;
constexpr uint32_t kDigestResume = 0x4704;

// Words of a wavefront in memory.
constexpr uint64_t kWavefrontBytes = 512;
constexpr unsigned kRegisters = 32;
constexpr unsigned kPcWord = 0;  // In place of x0.
constexpr unsigned kCsrWords = kRegisters;
constexpr unsigned kStateWord = kCsrWords + WavefrontPort::kWords;
constexpr unsigned kVotesWord = kStateWord + 1;
using Words = std::array<uint64_t, kWavefrontBytes / 8>;

}  // namespace

class ComputeUnit::Suspended final : public SuspendedState {
 public:
  struct OfWavefront {
    std::vector<IssueTrace::Stretch> trace;  // What it has executed and not issued.
    std::vector<Wavefront::Operation> ring;  // Done, or loads of lines that poll.
    uint32_t first = 0;
    std::vector<uint8_t> private_memory;
  };
  std::vector<OfWavefront> wavefronts;
  std::vector<Slot> slots;           // Without bytes,
  std::vector<uint64_t> tile_bytes;  // of which there are so many.
  uint64_t register_bytes = 0, lds_bytes = 0;
};

uint64_t ComputeUnit::saved_bytes(const DispatchContext& context) {
  const uint64_t bytes =
      uint64_t{context.registers_bytes} + context.lds_bytes + context.wavefronts * kWavefrontBytes;
  return (bytes + SaveArea::kBlockBytes - 1) / SaveArea::kBlockBytes * SaveArea::kBlockBytes;
}

void ComputeUnit::suspend(uint8_t slot, SaveArea& area) {
  preempt(slot);
  for (Group& group : groups_) {
    // A group whose wavefronts have ended is about to leave.
    if (!group.active || group.slot != slot || group.live == 0 || group.context->body != 0)
      continue;
    if (group.phase == Phase::restores) group.is_left = true;
    if (group.phase != Phase::runs) continue;
    const std::optional<uint64_t> address = area.take(slot, saved_bytes(*group.context));
    if (!address.has_value()) continue;
    group.save_address = *address;
    freeze(group);
  }
}

void ComputeUnit::freeze(Group& group) {
  group.phase = Phase::stops;
  group.phase_since = services_.queue->now();
  for (unsigned id = 0; id < group.wavefronts; ++id) {
    Wavefront& wavefront = *wavefronts_[group.members[id]];
    IssuePort& port = port_of(wavefront);
    port.advance(now_cycle());
    if (port.holds(position_of(wavefront)))
      wavefront.at = std::max(wavefront.at, port.pull(position_of(wavefront)));
    for (uint32_t i = wavefront.first; i != wavefront.last; ++i) {
      const Wavefront::Operation& one = wavefront.operation(i);
      if (!one.polls || one.done != kUnknown) continue;
      const uint64_t word = one.target + uint64_t{one.found} * TILE_LINE_BYTES + TILE_LINE_DATA;
      parts_.memory->unwatch(word & STRETTO_OFFSET_MASK, *this,
                             (uint64_t{i} + 1) << 32 | wavefront.slot);
    }
  }
  schedule_tick();
  look_at_frozen(group);
}

Cycle ComputeUnit::quiet_from(const Group& group) {
  if (group.operations != 0) return kUnknown;
  Cycle at = now_cycle();
  for (unsigned id = 0; id < group.wavefronts; ++id) {
    Wavefront& wavefront = *wavefronts_[group.members[id]];
    if (wavefront.state == Wavefront::State::access ||
        wavefront.state == Wavefront::State::confirm ||
        wavefront.state == Wavefront::State::faulted)
      return kUnknown;
    at = std::max(at, wavefront.at);
    for (uint32_t i = wavefront.first; i != wavefront.last; ++i) {
      const Wavefront::Operation& one = wavefront.operation(i);
      if (one.polls && one.done == kUnknown) continue;
      if (one.done == kUnknown) return kUnknown;
      at = std::max(at, one.done);
    }
  }
  for (const Slot& slot : group.slots) {
    if (slot.written != kUnknown) at = std::max({at, slot.written, slot.read});
  }
  return at;
}

void ComputeUnit::look_at_frozen(Group& group) {
  if (group.phase != Phase::stops) return;
  const Cycle at = quiet_from(group);
  if (at == kUnknown) return;
  if (at <= now_cycle()) {
    save(group);
  } else {
    services_.queue->schedule(clock_.edge(at), *this,
                              kFrozenTag + static_cast<uint64_t>(&group - groups_.data()));
  }
}

void ComputeUnit::save(Group& group) {
  group.phase = Phase::saves;
  counters_.draining_time += services_.queue->now() - group.phase_since;
  auto state = std::make_unique<Suspended>();
  const auto bytes = std::make_shared<std::vector<uint8_t>>(saved_bytes(*group.context));
  for (unsigned id = 0; id < group.wavefronts; ++id) {
    Wavefront& wavefront = *wavefronts_[group.members[id]];
    if (wavefront.waiting) end_wait(wavefront, now_cycle());
    IssueTrace& trace = port_of(wavefront).trace(position_of(wavefront));
    trace.close();
    Suspended::OfWavefront& of = state->wavefronts.emplace_back();
    of.trace = trace.stretches();
    of.first = wavefront.first;
    for (uint32_t i = wavefront.first; i != wavefront.last; ++i)
      of.ring.push_back(wavefront.operation(i));
    of.private_memory = std::move(wavefront.port.private_memory());
    Words words{};
    words[kPcWord] = wavefront.hart.pc();
    for (unsigned reg = 1; reg < kRegisters; ++reg) words[reg] = wavefront.hart.reg(reg);
    const std::array<uint64_t, WavefrontPort::kWords> csrs = wavefront.port.words();
    std::copy(csrs.begin(), csrs.end(), words.begin() + kCsrWords);
    // Who waits for a tile or for memory tries its instruction again.
    words[kStateWord] = static_cast<uint64_t>(wavefront.state == Wavefront::State::barrier ||
                                                      wavefront.state == Wavefront::State::ended
                                                  ? wavefront.state
                                                  : Wavefront::State::ready);
    words[kVotesWord] = group.votes;
    std::memcpy(bytes->data() + id * kWavefrontBytes, words.data(), kWavefrontBytes);
  }
  uint64_t at = group.wavefronts * kWavefrontBytes;
  state->slots.reserve(group.tiles());
  for (size_t i = 0; i < group.tiles(); ++i) {
    Slot& slot = group.slots[i];
    const bool has_bytes = slot.tile.shape.rows != 0 && !slot.tile.stamped;
    const uint64_t of_tile = has_bytes ? slot.tile.data.size() : 0;
    const uint64_t of_sums = slot.accumulator.value_bytes();
    assert(at + of_tile + of_sums <= bytes->size());
    std::copy_n(slot.tile.data.begin(), of_tile, bytes->begin() + static_cast<long>(at));
    slot.accumulator.move_values(bytes->data() + at + of_tile);
    at += of_tile + of_sums;
    slot.tile.data.clear();
    slot.staging.clear();
    state->tile_bytes.push_back(of_tile);
    state->slots.push_back(slot);
  }
  state->register_bytes = group.register_bytes;
  state->lds_bytes = group.lds_bytes;
  // std::function copies what it holds.
  const auto saved_group =
      std::make_shared<SavedGroup>(SavedGroup{group.save_address, bytes->size(), std::move(state)});
  move_state(true, group.save_address, bytes->size(), bytes->data(), *group.context, group.wg_id,
             [this, &group, saved_group, bytes] { saved(group, *saved_group); });
}

void ComputeUnit::saved(Group& group, SavedGroup& state) {
  const Time now = services_.queue->now();
  ++counters_.suspended;
  ++services_.progress;
  const uint8_t slot = group.slot;
  const uint32_t wg_id = group.wg_id;
  if (services_.digest != nullptr)
    services_.digest->event(now, kDigestSuspend, uint64_t{index_} << 8 | slot, wg_id);
  if (services_.trace != nullptr)
    services_.trace->span(track_, "wg " + std::to_string(wg_id) + " (suspended)", group.started,
                          now, {.code = group.context->entry});
  leave(group);
  parts_.listener->suspended(index_, slot, wg_id, std::move(state), group.fp16_work);
}

void ComputeUnit::resume(uint8_t slot, uint32_t wg_id, const DispatchContext& context,
                         SavedGroup saved, SaveArea& area) {
  Group& group = place(slot, wg_id, context);
  ++counters_.resumed;
  group.phase = Phase::restores;
  group.save_address = saved.address;
  if (services_.digest != nullptr)
    services_.digest->event(services_.queue->now(), kDigestResume, uint64_t{index_} << 8 | slot,
                            wg_id);
  const auto bytes = std::make_shared<std::vector<uint8_t>>(saved.bytes);
  const std::shared_ptr<SuspendedState> state = std::move(saved.state);
  const uint64_t moved =
      saved.bytes - (spec_.fault_restore == RestoreFault::bytes ? SaveArea::kBlockBytes : 0);
  move_state(false, saved.address, moved, bytes->data(), context, wg_id,
             [this, &group, &area, state, bytes] {
               const auto& suspended = static_cast<const Suspended&>(*state);
               restore(group, suspended, *bytes);
               if (group.is_left) {
                 group.is_left = false;
                 freeze(group);  // The block is still its own.
                 return;
               }
               area.give_back(group.save_address);
               go_on(group);
             });
}

void ComputeUnit::restore(Group& group, const Suspended& state, const std::vector<uint8_t>& bytes) {
  ++services_.progress;
  const Cycle now = now_cycle();
  for (unsigned id = 0; id < group.wavefronts; ++id) {
    Wavefront& wavefront = *wavefronts_[group.members[id]];
    const Suspended::OfWavefront& of = state.wavefronts[id];
    Words words;
    std::memcpy(words.data(), bytes.data() + id * kWavefrontBytes, kWavefrontBytes);
    wavefront.hart.reset(words[kPcWord]);
    for (unsigned reg = 1; reg < kRegisters; ++reg) wavefront.hart.set_reg(reg, words[reg]);
    if (spec_.fault_restore == RestoreFault::registers) {
      for (unsigned reg = 5; reg < kRegisters; ++reg) wavefront.hart.set_reg(reg, 0);
    }
    std::array<uint64_t, WavefrontPort::kWords> csrs;
    std::copy_n(words.begin() + kCsrWords, csrs.size(), csrs.begin());
    wavefront.port.set_words(csrs);
    wavefront.port.private_memory() = of.private_memory;
    wavefront.stop = riscv::StopReason::kBudget;
    wavefront.state = static_cast<Wavefront::State>(words[kStateWord]);
    wavefront.at = now;
    wavefront.first = of.first;
    wavefront.last = of.first + static_cast<uint32_t>(of.ring.size());
    wavefront.words = wavefront.last;
    for (uint32_t i = 0; i < of.ring.size(); ++i) wavefront.operation(of.first + i) = of.ring[i];
    port_of(wavefront).trace(position_of(wavefront)).assign(of.trace);
    if (wavefront.state == Wavefront::State::ended) --group.live;
    if (wavefront.state == Wavefront::State::barrier) {
      ++group.at_barrier;
      // It stands at the instruction whose barrier it is.
      wavefront.stop = wavefront.hart.run(1);
      assert(wavefront.stop == riscv::StopReason::kCustom);
      port_of(wavefront).trace(position_of(wavefront)).clear();
    }
    group.votes = words[kVotesWord];
  }
  group.barrier = now;
  group.has_tiles = true;
  std::copy(state.slots.begin(), state.slots.end(), group.slots.begin());
  uint64_t at = group.wavefronts * kWavefrontBytes;
  for (size_t i = 0; i < state.slots.size(); ++i) {
    Slot& slot = group.slots[i];
    slot.tile.data.resize(state.tile_bytes[i]);
    if (spec_.fault_restore != RestoreFault::tiles) {
      std::copy_n(bytes.begin() + static_cast<long>(at), state.tile_bytes[i],
                  slot.tile.data.begin());
      slot.accumulator.restore_values(bytes.data() + at + state.tile_bytes[i]);
    }
    at += state.tile_bytes[i] + slot.accumulator.value_bytes();
  }
  group.register_bytes = state.register_bytes;
  group.lds_bytes = state.lds_bytes;
}

void ComputeUnit::go_on(Group& group) {
  group.phase = Phase::runs;
  for (unsigned id = 0; id < group.wavefronts; ++id) {
    Wavefront& wavefront = *wavefronts_[group.members[id]];
    for (uint32_t i = wavefront.first; i != wavefront.last; ++i) {
      const Wavefront::Operation& one = wavefront.operation(i);
      if (!one.polls || one.done != kUnknown) continue;
      poll_lines(wavefront, i, now_cycle());
    }
    if (wavefront.state == Wavefront::State::ready) wake(wavefront, now_cycle());
  }
}

void ComputeUnit::move_done(uint32_t number, Cycle at) {
  Move& move = moves_.at(number);
  move.latest = std::max(move.latest, at);
  if (--move.requests != 0) return;
  services_.queue->schedule(std::max(clock_.edge(move.latest), services_.queue->now()), *this,
                            kMoveTag + number);
}

}  // namespace stretto
