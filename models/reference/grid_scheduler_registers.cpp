// SPDX-License-Identifier: Apache-2.0
// Register accesses of the grid scheduler's model.
#include "models/reference/grid_scheduler_model.h"

#include "sw/include/regs/field.h"
#include "sw/include/regs/grid_scheduler_regs.h"

namespace stretto {
namespace {

uint32_t low(uint64_t data) { return static_cast<uint32_t>(data); }
uint32_t high(uint64_t data) { return static_cast<uint32_t>(data >> 32); }

}  // namespace

void GridSchedulerModel::write_slot(unsigned index, uint16_t offset, uint64_t data,
                                    SlotState state) {
  Slot& slot = slots_[index];
  if (state == SlotState::running && offset == GRID_SCHEDULER_SLOT_CONTROL_OFFSET &&
      STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_CONTROL_PREEMPT) != 0) {
    preempt_ = static_cast<uint8_t>(preempt_ | 1u << index);
    out_.preempt_valid = STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_CONTROL_DRAIN) != 0;
    out_.preempt_slot = static_cast<uint8_t>(index);
  }
  if (state != SlotState::free) return;
  switch (offset) {
    case GRID_SCHEDULER_SLOT_NEEDS_OFFSET:
      slot.needs.registers_kib =
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_NEEDS_REGISTERS_KIB));
      slot.needs.lds_kib =
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_NEEDS_LDS_KIB));
      slot.needs.wavefronts =
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_NEEDS_WAVEFRONTS));
      slot.tensor = STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_NEEDS_TYPE) != 0;
      slot.priority =
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_NEEDS_PRIORITY));
      break;
    case GRID_SCHEDULER_SLOT_RANGE_OFFSET:
      slot.first = low(data);
      slot.count = high(data);
      break;
    case GRID_SCHEDULER_SLOT_ORDER_OFFSET:
      slot.grid = low(data);
      slot.start = high(data);
      break;
    case GRID_SCHEDULER_SLOT_SKIP_OFFSET: slot.skip = low(data); break;
    case GRID_SCHEDULER_SLOT_GATE_OFFSET:
      slot.batch = static_cast<uint16_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_GATE_BATCH));
      slot.gate = static_cast<uint16_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_GATE_GATE));
      slot.phase = static_cast<uint16_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_GATE_PHASE));
      break;
    case GRID_SCHEDULER_SLOT_CONTROL_OFFSET:
      if (STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_CONTROL_LAUNCH) != 0) launch(index);
      break;
    default: break;
  }
}

void GridSchedulerModel::write_pipeline(uint8_t slots, const SlotStates& states, bool stopping) {
  uint8_t free = 0;
  for (unsigned s = 0; s < kGridSlots; ++s) {
    if ((slots >> s & 1) == 0 || states[s] != SlotState::free) continue;
    free = static_cast<uint8_t>(free | 1u << s);
    slots_[s].state = SlotState::running;
  }
  if (pipe_.state != PipeState::idle || stopping || free != slots) {
    refuse(free, Reason::busy);
  } else if (free != 0) {
    pipe_.state = PipeState::check;
    pipe_.slots = pipe_.todo = free;
    pipe_.total = 0;
  }
}

void GridSchedulerModel::write(uint16_t address, uint64_t data, const SlotStates& states,
                               bool stopping) {
  if (address >= GRID_SCHEDULER_SLOT_NEEDS_OFFSET) {
    const unsigned index = static_cast<unsigned>(address - GRID_SCHEDULER_SLOT_NEEDS_OFFSET) /
                           GRID_SCHEDULER_SLOT_NEEDS_STRIDE;
    if (index < kGridSlots)
      write_slot(index, static_cast<uint16_t>(address - index * GRID_SCHEDULER_SLOT_NEEDS_STRIDE),
                 data, states[index]);
    return;
  }
  switch (address) {
    case GRID_SCHEDULER_CUS_OFFSET:
      cus_ = static_cast<uint8_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_CUS_COUNT));
      break;
    case GRID_SCHEDULER_CAPACITY_OFFSET:
      capacity_.registers_kib =
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_CAPACITY_REGISTERS_KIB));
      capacity_.lds_kib =
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_CAPACITY_LDS_KIB));
      capacity_.wavefronts =
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_CAPACITY_WAVEFRONTS));
      capacity_.work_groups =
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_CAPACITY_WORK_GROUPS));
      break;
    case GRID_SCHEDULER_DONE_OFFSET: {
      const auto clear = static_cast<uint8_t>(done_ & data);
      for (unsigned s = 0; s < kGridSlots; ++s) {
        if ((clear >> s & 1) == 0) continue;
        slots_[s].state = SlotState::free;
        slots_[s].reason = Reason::none;
        slots_[s].skip = 0;
        slots_[s].batch = 0;
      }
      preempt_ = static_cast<uint8_t>(preempt_ & ~clear);
      done_ = static_cast<uint8_t>(done_ & ~clear);
      break;
    }
    case GRID_SCHEDULER_IRQ_ENABLE_OFFSET:
      irq_enable_ = static_cast<uint8_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_IRQ_ENABLE_SLOTS));
      break;
    case GRID_SCHEDULER_COUNTER_CLEAR_OFFSET: dispatched_ = finished_ = drained_ = 0; break;
    case GRID_SCHEDULER_POLICY_OFFSET:
      launch_order_ = STRETTO_FIELD_GET(data, GRID_SCHEDULER_POLICY_ORDER) != 0;
      two_arbiters_ = STRETTO_FIELD_GET(data, GRID_SCHEDULER_POLICY_ARBITERS) != 0;
      break;
    case GRID_SCHEDULER_PIPELINE_OFFSET:
      write_pipeline(static_cast<uint8_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_PIPELINE_SLOTS)),
                     states, stopping);
      break;
    case GRID_SCHEDULER_GATE_SET_OFFSET:
      open_gate(static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_GATE_SET_GATE)));
      break;
    case GRID_SCHEDULER_GATE_CLEAR_OFFSET: gates_ = {}; break;
    case GRID_SCHEDULER_RETURNED_TAKE_OFFSET:
      if (returned_before_ != returned_out_) ++returned_out_;
      break;
    default: break;
  }
}

uint64_t GridSchedulerModel::read_slot(unsigned index, unsigned offset) const {
  const Slot& s = slots_[index];
  switch (offset) {
    case GRID_SCHEDULER_SLOT_NEEDS_OFFSET:
      return STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_REGISTERS_KIB, s.needs.registers_kib) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_LDS_KIB, s.needs.lds_kib) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_WAVEFRONTS, s.needs.wavefronts) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_TYPE, s.tensor) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_PRIORITY, s.priority);
    case GRID_SCHEDULER_SLOT_RANGE_OFFSET:
      return STRETTO_FIELD(GRID_SCHEDULER_SLOT_RANGE_FIRST, s.first) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_RANGE_COUNT, s.count);
    case GRID_SCHEDULER_SLOT_ORDER_OFFSET:
      return STRETTO_FIELD(GRID_SCHEDULER_SLOT_ORDER_GRID, s.grid) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_ORDER_START, s.start);
    case GRID_SCHEDULER_SLOT_SKIP_OFFSET: return s.skip;
    case GRID_SCHEDULER_SLOT_GATE_OFFSET:
      if (s.batch == 0) return 0;
      return STRETTO_FIELD(GRID_SCHEDULER_SLOT_GATE_BATCH, s.batch) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_GATE_GATE, s.gate) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_GATE_PHASE, s.phase);
    case GRID_SCHEDULER_SLOT_STATE_OFFSET:
      return STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_STATE, static_cast<unsigned>(s.state)) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_PREEMPTED, preempt_ >> index & 1) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_PIPELINE, pipe_.slots >> index & 1) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_REASON, static_cast<unsigned>(s.reason)) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_CLOSED, closed_ >> index & 1) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_RESIDENT, s.resident) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED, s.undispatched);
    default: return 0;
  }
}

uint64_t GridSchedulerModel::read(uint16_t address) const {
  const auto resources = [](const Resources& r) {
    return STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_REGISTERS_KIB, r.registers_kib) |
           STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_LDS_KIB, r.lds_kib) |
           STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_WAVEFRONTS, r.wavefronts) |
           STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_WORK_GROUPS, r.work_groups);
  };
  if (address >= GRID_SCHEDULER_UNIT_USE_OFFSET) {
    const unsigned cu = (address - GRID_SCHEDULER_UNIT_USE_OFFSET) / 8u;
    return cu < kGridMaxCus ? resources(used_[cu]) : 0;
  }
  if (address >= GRID_SCHEDULER_SLOT_NEEDS_OFFSET) {
    const unsigned index = static_cast<unsigned>(address - GRID_SCHEDULER_SLOT_NEEDS_OFFSET) /
                           GRID_SCHEDULER_SLOT_NEEDS_STRIDE;
    return index < kGridSlots ? read_slot(index, address - index * GRID_SCHEDULER_SLOT_NEEDS_STRIDE)
                              : 0;
  }
  switch (address) {
    case GRID_SCHEDULER_CUS_OFFSET: return cus_;
    case GRID_SCHEDULER_CAPACITY_OFFSET: return resources(capacity_);
    case GRID_SCHEDULER_DONE_OFFSET: return done_;
    case GRID_SCHEDULER_IRQ_ENABLE_OFFSET: return irq_enable_;
    case GRID_SCHEDULER_STATUS_OFFSET: {
      uint64_t running = 0;
      uint64_t undispatched = 0;
      for (unsigned s = 0; s < kGridSlots; ++s) {
        if (slots_[s].state != SlotState::running) continue;
        running |= uint64_t{1} << s;
        if (slots_[s].undispatched != 0) undispatched |= uint64_t{1} << s;
      }
      return STRETTO_FIELD(GRID_SCHEDULER_STATUS_RUNNING, running) |
             STRETTO_FIELD(GRID_SCHEDULER_STATUS_UNDISPATCHED, undispatched);
    }
    case GRID_SCHEDULER_DISPATCHED_OFFSET: return dispatched_;
    case GRID_SCHEDULER_FINISHED_OFFSET: return finished_;
    case GRID_SCHEDULER_DRAINED_OFFSET: return drained_;
    case GRID_SCHEDULER_POLICY_OFFSET:
      return STRETTO_FIELD(GRID_SCHEDULER_POLICY_ORDER, launch_order_) |
             STRETTO_FIELD(GRID_SCHEDULER_POLICY_ARBITERS, two_arbiters_);
    case GRID_SCHEDULER_PIPELINE_OFFSET: return pipe_.slots;
    case GRID_SCHEDULER_RETURNED_OFFSET: {
      const bool valid = returned_in_ != returned_out_;
      const Returned& oldest = returned_[returned_out_ % kGridReturnedEntries];
      return STRETTO_FIELD(GRID_SCHEDULER_RETURNED_ID, valid ? oldest.id : 0) |
             STRETTO_FIELD(GRID_SCHEDULER_RETURNED_SLOT, valid ? oldest.slot : 0) |
             STRETTO_FIELD(GRID_SCHEDULER_RETURNED_LOST, returned_lost_) |
             STRETTO_FIELD(GRID_SCHEDULER_RETURNED_VALID, valid);
    }
    default: return 0;
  }
}

}  // namespace stretto
