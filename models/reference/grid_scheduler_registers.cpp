// SPDX-License-Identifier: Apache-2.0
// Register accesses of the grid scheduler's model: what a write does beside being stored in the
// generated register file, and what a read of the block's own registers returns.
#include "models/reference/grid_scheduler_model.h"

#include <algorithm>
#include <cassert>

namespace stretto {

void GridSchedulerModel::write_slot(Registers::Place place, uint64_t data, SlotState state) {
  using Name = Registers::Name;
  Slot& slot = slots_[place.index];
  const auto control = Registers::SlotControl::from(data);
  if (place.name == Name::slot_control && state == SlotState::running && control.preempt) {
    preempt_ |= 1u << place.index;
    out_.preempt_valid = control.drain;
    out_.preempt_slot = static_cast<uint8_t>(place.index);
  }
  if (state != SlotState::free) return;
  switch (place.name) {
    case Name::slot_needs: slot.needs = Registers::SlotNeeds::from(data); break;
    case Name::slot_range: slot.range = Registers::SlotRange::from(data); break;
    case Name::slot_order: slot.order = Registers::SlotOrder::from(data); break;
    case Name::slot_skip: slot.skip = Registers::SlotSkip::from(data); break;
    case Name::slot_gate: slot.gate = Registers::SlotGate::from(data); break;
    case Name::slot_control:
      if (control.launch) launch(place.index);
      break;
    default: break;
  }
}

void GridSchedulerModel::write_pipeline(uint32_t slots, const SlotStates& states, bool stopping) {
  uint32_t free = 0;
  for (unsigned s = 0; s < kGridSlots; ++s) {
    if ((slots >> s & 1) == 0 || states[s] != SlotState::free) continue;
    free |= 1u << s;
    slots_[s].state = SlotState::running;
    running_ |= 1u << s;
  }
  if (pipe_.state != PipeState::idle || stopping || free != slots) {
    refuse(free, Reason::busy);
  } else if (free != 0) {
    pipe_.state = PipeState::check;
    pipe_.slots = pipe_.todo = free;
    pipe_.total = 0;
    pipe_.two_arbiters = two_arbiters();
  }
}

void GridSchedulerModel::free_slots(uint32_t slots) {
  for (unsigned s = 0; s < kGridSlots; ++s) {
    if ((slots >> s & 1) == 0) continue;
    slots_[s].state = SlotState::free;
    slots_[s].reason = Reason::none;
    slots_[s].skip = {};
    slots_[s].gate = {};
  }
  preempt_ &= ~slots;
  done_ &= ~slots;
}

void GridSchedulerModel::write(uint16_t address, uint64_t data, const SlotStates& states,
                               bool stopping) {
  using Name = Registers::Name;
  const Registers::Place place = Registers::find(address);
  registers_.write(place, data);
  switch (place.name) {
    case Name::cus:
    case Name::capacity:
      // REQUIRES: a trial of a pipeline and the candidates of a slot rest on both.
      assert(std::count(states.begin(), states.end(), SlotState::running) == 0);
      break;
    case Name::done: free_slots(static_cast<uint32_t>(done_ & data)); break;
    case Name::counter_clear: counters_ = {}; break;
    case Name::pipeline:
      write_pipeline(Registers::Pipeline::from(data).slots, states, stopping);
      break;
    case Name::gate_set: open_gate(Registers::GateSet::from(data).gate); break;
    case Name::gate_clear: gates_ = {}; break;
    case Name::returned_take:
      if (returned_before_ != returned_out_) ++returned_out_;
      break;
    default:
      if (place.index < kGridSlots) write_slot(place, data, states[place.index]);
      break;
  }
}

GridSchedulerModel::Registers::SlotState GridSchedulerModel::slot_state(unsigned index) const {
  const Slot& slot = slots_[index];
  return {.state = static_cast<uint8_t>(slot.state),
          .preempted = (preempt_ >> index & 1) != 0,
          .pipeline = (pipe_.slots >> index & 1) != 0,
          .reason = static_cast<uint8_t>(slot.reason),
          .closed = (closed_ >> index & 1) != 0,
          .resident = slot.resident,
          .undispatched = slot.undispatched};
}

uint64_t GridSchedulerModel::read(uint16_t address) const {
  const Registers::Place place = Registers::find(address);
  Registers::Hardware hardware = counters_;
  hardware.done.slots = done_;
  hardware.status = {.running = running_, .undispatched = running_ & left_};
  hardware.pipeline.slots = pipe_.slots;
  if (returned_in_ != returned_out_) {
    const Returned& oldest = returned_[returned_out_ % kGridReturnedEntries];
    hardware.returned = {.id = oldest.id, .slot = oldest.slot, .valid = true};
  }
  hardware.returned.lost = returned_lost_;
  if (place.index < kGridSlots) {
    const Slot& slot = slots_[place.index];
    hardware.slot_needs = slot.needs;
    hardware.slot_range = slot.range;
    hardware.slot_order = slot.order;
    hardware.slot_skip = slot.skip;
    if (slot.gate.batch != 0) hardware.slot_gate = slot.gate;
    hardware.slot_state = slot_state(place.index);
  }
  hardware.unit_use = used_[place.index];
  return registers_.read(place, hardware);
}

}  // namespace stretto
