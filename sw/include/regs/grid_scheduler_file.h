// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/grid_scheduler.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Register file of the model of grid_scheduler: twin of rtl/grid_scheduler/grid_scheduler_regs.sv.
#ifndef STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_FILE_H_
#define STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_FILE_H_

#include <cstdint>

#include "sw/include/regs/field.h"
#include "sw/include/regs/grid_scheduler_regs.h"

namespace stretto {

struct GridSchedulerRegisters {
  enum class Name : uint8_t { cus, capacity, done, irq_enable, status, dispatched, finished, drained, counter_clear, policy, pipeline, gate_set, gate_clear, returned, returned_take, slot_needs, slot_range, slot_order, slot_control, slot_state, slot_skip, slot_gate, unit_use, none };
  struct Place {
    Name name = Name::none;
    unsigned index = 0;  // In an array.
  };

  struct Cus {
    uint8_t count = 80;
    static constexpr Cus from(uint64_t data) {
      return {
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_CUS_COUNT)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_CUS_COUNT, count);
    }
  };

  struct Capacity {
    uint16_t registers_kib = 256;
    uint16_t lds_kib = 96;
    uint8_t wavefronts = 64;
    uint8_t work_groups = 32;
    static constexpr Capacity from(uint64_t data) {
      return {
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_CAPACITY_REGISTERS_KIB)),
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_CAPACITY_LDS_KIB)),
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_CAPACITY_WAVEFRONTS)),
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_CAPACITY_WORK_GROUPS)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_REGISTERS_KIB, registers_kib) |
             STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_LDS_KIB, lds_kib) |
             STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_WAVEFRONTS, wavefronts) |
             STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_WORK_GROUPS, work_groups);
    }
  };

  struct Done {
    uint32_t slots = 0;
    static constexpr Done from(uint64_t data) {
      return {
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_DONE_SLOTS)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_DONE_SLOTS, slots);
    }
  };

  struct IrqEnable {
    uint32_t slots = 0;
    static constexpr IrqEnable from(uint64_t data) {
      return {
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_IRQ_ENABLE_SLOTS)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_IRQ_ENABLE_SLOTS, slots);
    }
  };

  struct Status {
    uint32_t running = 0;
    uint32_t undispatched = 0;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_STATUS_RUNNING, running) |
             STRETTO_FIELD(GRID_SCHEDULER_STATUS_UNDISPATCHED, undispatched);
    }
  };

  struct Policy {
    bool order = false;
    bool arbiters = false;
    bool priority = false;
    static constexpr Policy from(uint64_t data) {
      return {
          STRETTO_FIELD_GET(data, GRID_SCHEDULER_POLICY_ORDER) != 0,
          STRETTO_FIELD_GET(data, GRID_SCHEDULER_POLICY_ARBITERS) != 0,
          STRETTO_FIELD_GET(data, GRID_SCHEDULER_POLICY_PRIORITY) != 0,
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_POLICY_ORDER, order) |
             STRETTO_FIELD(GRID_SCHEDULER_POLICY_ARBITERS, arbiters) |
             STRETTO_FIELD(GRID_SCHEDULER_POLICY_PRIORITY, priority);
    }
  };

  struct Pipeline {
    uint32_t slots = 0;
    static constexpr Pipeline from(uint64_t data) {
      return {
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_PIPELINE_SLOTS)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_PIPELINE_SLOTS, slots);
    }
  };

  struct GateSet {
    uint16_t gate = 0;
    static constexpr GateSet from(uint64_t data) {
      return {
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_GATE_SET_GATE)),
      };
    }
  };

  struct Returned {
    uint32_t id = 0;
    uint8_t slot = 0;
    bool lost = false;
    bool valid = false;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_RETURNED_ID, id) |
             STRETTO_FIELD(GRID_SCHEDULER_RETURNED_SLOT, slot) |
             STRETTO_FIELD(GRID_SCHEDULER_RETURNED_LOST, lost) |
             STRETTO_FIELD(GRID_SCHEDULER_RETURNED_VALID, valid);
    }
  };

  struct SlotNeeds {
    uint16_t registers_kib = 0;
    uint16_t lds_kib = 0;
    uint8_t wavefronts = 0;
    bool type = false;
    uint8_t priority = 0;
    static constexpr SlotNeeds from(uint64_t data) {
      return {
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_NEEDS_REGISTERS_KIB)),
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_NEEDS_LDS_KIB)),
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_NEEDS_WAVEFRONTS)),
          STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_NEEDS_TYPE) != 0,
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_NEEDS_PRIORITY)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_REGISTERS_KIB, registers_kib) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_LDS_KIB, lds_kib) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_WAVEFRONTS, wavefronts) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_TYPE, type) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_PRIORITY, priority);
    }
  };

  struct SlotRange {
    uint32_t first = 0;
    uint32_t count = 0;
    static constexpr SlotRange from(uint64_t data) {
      return {
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_RANGE_FIRST)),
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_RANGE_COUNT)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_SLOT_RANGE_FIRST, first) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_RANGE_COUNT, count);
    }
  };

  struct SlotOrder {
    uint32_t grid = 0;
    uint32_t start = 0;
    static constexpr SlotOrder from(uint64_t data) {
      return {
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_ORDER_GRID)),
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_ORDER_START)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_SLOT_ORDER_GRID, grid) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_ORDER_START, start);
    }
  };

  struct SlotControl {
    bool launch = false;
    bool preempt = false;
    bool drain = false;
    static constexpr SlotControl from(uint64_t data) {
      return {
          STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_CONTROL_LAUNCH) != 0,
          STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_CONTROL_PREEMPT) != 0,
          STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_CONTROL_DRAIN) != 0,
      };
    }
  };

  struct SlotState {
    uint8_t state = 0;
    bool preempted = false;
    bool pipeline = false;
    uint8_t reason = 0;
    bool closed = false;
    uint16_t resident = 0;
    uint32_t undispatched = 0;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_STATE, state) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_PREEMPTED, preempted) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_PIPELINE, pipeline) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_REASON, reason) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_CLOSED, closed) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_RESIDENT, resident) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED, undispatched);
    }
  };

  struct SlotSkip {
    uint32_t skip = 0;
    static constexpr SlotSkip from(uint64_t data) {
      return {
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_SKIP_SKIP)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_SLOT_SKIP_SKIP, skip);
    }
  };

  struct SlotGate {
    uint16_t batch = 0;
    uint16_t gate = 0;
    uint16_t phase = 0;
    static constexpr SlotGate from(uint64_t data) {
      return {
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_GATE_BATCH)),
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_GATE_GATE)),
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_GATE_PHASE)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_SLOT_GATE_BATCH, batch) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_GATE_GATE, gate) |
             STRETTO_FIELD(GRID_SCHEDULER_SLOT_GATE_PHASE, phase);
    }
  };

  struct UnitUse {
    uint16_t registers_kib = 0;
    uint16_t lds_kib = 0;
    uint8_t wavefronts = 0;
    uint8_t work_groups = 0;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(GRID_SCHEDULER_UNIT_USE_REGISTERS_KIB, registers_kib) |
             STRETTO_FIELD(GRID_SCHEDULER_UNIT_USE_LDS_KIB, lds_kib) |
             STRETTO_FIELD(GRID_SCHEDULER_UNIT_USE_WAVEFRONTS, wavefronts) |
             STRETTO_FIELD(GRID_SCHEDULER_UNIT_USE_WORK_GROUPS, work_groups);
    }
  };

  // Stored here.
  Cus cus;
  Capacity capacity;
  IrqEnable irq_enable;
  Policy policy;

  // What a read returns of the registers of the block; of an array, of the element that is read.
  struct Hardware {
    Done done{};
    Status status{};
    uint64_t dispatched = 0;
    uint64_t finished = 0;
    uint64_t drained = 0;
    Pipeline pipeline{};
    Returned returned{};
    SlotNeeds slot_needs{};
    SlotRange slot_range{};
    SlotOrder slot_order{};
    SlotState slot_state{};
    SlotSkip slot_skip{};
    SlotGate slot_gate{};
    UnitUse unit_use{};
  };

  static constexpr Place find(uint16_t address) {
    switch (address) {
      case GRID_SCHEDULER_CUS_OFFSET: return {Name::cus, 0};
      case GRID_SCHEDULER_CAPACITY_OFFSET: return {Name::capacity, 0};
      case GRID_SCHEDULER_DONE_OFFSET: return {Name::done, 0};
      case GRID_SCHEDULER_IRQ_ENABLE_OFFSET: return {Name::irq_enable, 0};
      case GRID_SCHEDULER_STATUS_OFFSET: return {Name::status, 0};
      case GRID_SCHEDULER_DISPATCHED_OFFSET: return {Name::dispatched, 0};
      case GRID_SCHEDULER_FINISHED_OFFSET: return {Name::finished, 0};
      case GRID_SCHEDULER_DRAINED_OFFSET: return {Name::drained, 0};
      case GRID_SCHEDULER_COUNTER_CLEAR_OFFSET: return {Name::counter_clear, 0};
      case GRID_SCHEDULER_POLICY_OFFSET: return {Name::policy, 0};
      case GRID_SCHEDULER_PIPELINE_OFFSET: return {Name::pipeline, 0};
      case GRID_SCHEDULER_GATE_SET_OFFSET: return {Name::gate_set, 0};
      case GRID_SCHEDULER_GATE_CLEAR_OFFSET: return {Name::gate_clear, 0};
      case GRID_SCHEDULER_RETURNED_OFFSET: return {Name::returned, 0};
      case GRID_SCHEDULER_RETURNED_TAKE_OFFSET: return {Name::returned_take, 0};
      default: break;
    }
    if (address >= GRID_SCHEDULER_SLOT_NEEDS_OFFSET && (address - GRID_SCHEDULER_SLOT_NEEDS_OFFSET) % GRID_SCHEDULER_SLOT_NEEDS_STRIDE == 0 &&
        address < GRID_SCHEDULER_SLOT_NEEDS_OFFSET_AT(GRID_SCHEDULER_SLOT_NEEDS_COUNT)) {
      return {Name::slot_needs, static_cast<unsigned>(address - GRID_SCHEDULER_SLOT_NEEDS_OFFSET) / GRID_SCHEDULER_SLOT_NEEDS_STRIDE};
    }
    if (address >= GRID_SCHEDULER_SLOT_RANGE_OFFSET && (address - GRID_SCHEDULER_SLOT_RANGE_OFFSET) % GRID_SCHEDULER_SLOT_RANGE_STRIDE == 0 &&
        address < GRID_SCHEDULER_SLOT_RANGE_OFFSET_AT(GRID_SCHEDULER_SLOT_RANGE_COUNT)) {
      return {Name::slot_range, static_cast<unsigned>(address - GRID_SCHEDULER_SLOT_RANGE_OFFSET) / GRID_SCHEDULER_SLOT_RANGE_STRIDE};
    }
    if (address >= GRID_SCHEDULER_SLOT_ORDER_OFFSET && (address - GRID_SCHEDULER_SLOT_ORDER_OFFSET) % GRID_SCHEDULER_SLOT_ORDER_STRIDE == 0 &&
        address < GRID_SCHEDULER_SLOT_ORDER_OFFSET_AT(GRID_SCHEDULER_SLOT_ORDER_COUNT)) {
      return {Name::slot_order, static_cast<unsigned>(address - GRID_SCHEDULER_SLOT_ORDER_OFFSET) / GRID_SCHEDULER_SLOT_ORDER_STRIDE};
    }
    if (address >= GRID_SCHEDULER_SLOT_CONTROL_OFFSET && (address - GRID_SCHEDULER_SLOT_CONTROL_OFFSET) % GRID_SCHEDULER_SLOT_CONTROL_STRIDE == 0 &&
        address < GRID_SCHEDULER_SLOT_CONTROL_OFFSET_AT(GRID_SCHEDULER_SLOT_CONTROL_COUNT)) {
      return {Name::slot_control, static_cast<unsigned>(address - GRID_SCHEDULER_SLOT_CONTROL_OFFSET) / GRID_SCHEDULER_SLOT_CONTROL_STRIDE};
    }
    if (address >= GRID_SCHEDULER_SLOT_STATE_OFFSET && (address - GRID_SCHEDULER_SLOT_STATE_OFFSET) % GRID_SCHEDULER_SLOT_STATE_STRIDE == 0 &&
        address < GRID_SCHEDULER_SLOT_STATE_OFFSET_AT(GRID_SCHEDULER_SLOT_STATE_COUNT)) {
      return {Name::slot_state, static_cast<unsigned>(address - GRID_SCHEDULER_SLOT_STATE_OFFSET) / GRID_SCHEDULER_SLOT_STATE_STRIDE};
    }
    if (address >= GRID_SCHEDULER_SLOT_SKIP_OFFSET && (address - GRID_SCHEDULER_SLOT_SKIP_OFFSET) % GRID_SCHEDULER_SLOT_SKIP_STRIDE == 0 &&
        address < GRID_SCHEDULER_SLOT_SKIP_OFFSET_AT(GRID_SCHEDULER_SLOT_SKIP_COUNT)) {
      return {Name::slot_skip, static_cast<unsigned>(address - GRID_SCHEDULER_SLOT_SKIP_OFFSET) / GRID_SCHEDULER_SLOT_SKIP_STRIDE};
    }
    if (address >= GRID_SCHEDULER_SLOT_GATE_OFFSET && (address - GRID_SCHEDULER_SLOT_GATE_OFFSET) % GRID_SCHEDULER_SLOT_GATE_STRIDE == 0 &&
        address < GRID_SCHEDULER_SLOT_GATE_OFFSET_AT(GRID_SCHEDULER_SLOT_GATE_COUNT)) {
      return {Name::slot_gate, static_cast<unsigned>(address - GRID_SCHEDULER_SLOT_GATE_OFFSET) / GRID_SCHEDULER_SLOT_GATE_STRIDE};
    }
    if (address >= GRID_SCHEDULER_UNIT_USE_OFFSET && (address - GRID_SCHEDULER_UNIT_USE_OFFSET) % GRID_SCHEDULER_UNIT_USE_STRIDE == 0 &&
        address < GRID_SCHEDULER_UNIT_USE_OFFSET_AT(GRID_SCHEDULER_UNIT_USE_COUNT)) {
      return {Name::unit_use, static_cast<unsigned>(address - GRID_SCHEDULER_UNIT_USE_OFFSET) / GRID_SCHEDULER_UNIT_USE_STRIDE};
    }
    return {};
  }

  // Of a register that is stored here; nothing else happens.
  void write(Place place, uint64_t data) {
    switch (place.name) {
      case Name::cus: cus = Cus::from(data); break;
      case Name::capacity: capacity = Capacity::from(data); break;
      case Name::irq_enable: irq_enable = IrqEnable::from(data); break;
      case Name::policy: policy = Policy::from(data); break;
      default: break;
    }
  }

  uint64_t read(Place place, const Hardware& hardware) const {
    switch (place.name) {
      case Name::cus: return cus.bits();
      case Name::capacity: return capacity.bits();
      case Name::done: return hardware.done.bits();
      case Name::irq_enable: return irq_enable.bits();
      case Name::status: return hardware.status.bits();
      case Name::dispatched: return hardware.dispatched;
      case Name::finished: return hardware.finished;
      case Name::drained: return hardware.drained;
      case Name::policy: return policy.bits();
      case Name::pipeline: return hardware.pipeline.bits();
      case Name::returned: return hardware.returned.bits();
      case Name::slot_needs: return hardware.slot_needs.bits();
      case Name::slot_range: return hardware.slot_range.bits();
      case Name::slot_order: return hardware.slot_order.bits();
      case Name::slot_state: return hardware.slot_state.bits();
      case Name::slot_skip: return hardware.slot_skip.bits();
      case Name::slot_gate: return hardware.slot_gate.bits();
      case Name::unit_use: return hardware.unit_use.bits();
      default: return 0;
    }
  }
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_GRID_SCHEDULER_FILE_H_
