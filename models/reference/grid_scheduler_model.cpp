// SPDX-License-Identifier: Apache-2.0
#include "models/reference/grid_scheduler_model.h"

#include <bit>
#include <cassert>

#include "sw/include/regs/field.h"
#include "sw/include/regs/grid_scheduler_regs.h"

namespace stretto {

bool GridSchedulerModel::wants(const Slot& slot) const {
  if (slot.state != SlotState::running || slot.undispatched == 0) return false;
  uint32_t any = 0;
  for (const uint32_t word : slot.candidates) any |= word;
  return any != 0;
}

bool GridSchedulerModel::any_wants() const {
  for (const Slot& slot : slots_) {
    if (wants(slot)) return true;
  }
  return false;
}

// Chooses the slot (priority, then in turn) and its next candidate unit.
void GridSchedulerModel::pick() {
  pick_valid_ = false;
  unsigned best = kGridSlots;
  for (unsigned i = 0; i < kGridSlots; ++i) {
    const unsigned s = (turn_slot_ + i) % kGridSlots;
    if (!wants(slots_[s])) continue;
    if (best == kGridSlots || slots_[s].priority > slots_[best].priority) best = s;
  }
  if (best == kGridSlots) return;
  const std::array<uint32_t, kWords>& words = slots_[best].candidates;
  unsigned word = turn_cu_ / 32;
  uint32_t bits = words[word] & (~uint32_t{0} << turn_cu_ % 32);
  for (unsigned i = 0; bits == 0; ++i) {
    assert(i < kWords);
    word = word + 1 == kWords ? 0 : word + 1;
    bits = words[word];
  }
  pick_valid_ = true;
  pick_slot_ = static_cast<uint8_t>(best);
  pick_cu_ = static_cast<uint8_t>(word * 32 + static_cast<unsigned>(std::countr_zero(bits)));
  turn_cu_ = static_cast<uint8_t>(pick_cu_ + 1u == kGridMaxCus ? 0 : pick_cu_ + 1);
  turn_slot_ = static_cast<uint8_t>((best + 1) % kGridSlots);
}

GridSchedulerOutputs GridSchedulerModel::step(const GridSchedulerInputs& in) {
  if (read_pending_) out_.reg_rdata = read(read_address_);

  const bool place = pick_valid_;
  const unsigned place_slot = pick_slot_;
  const unsigned place_cu = pick_cu_;
  pick();

  out_.dispatch_valid = out_.kernel_start = out_.first_wg_done = out_.kernel_done = false;
  uint8_t newly_done = 0;
  const bool leaves = in.done_valid || in.drained_valid;
  Slot& slot = slots_[place_slot];
  bool fits = false;
  if (place && slot.state == SlotState::running && slot.undispatched != 0) {
    Resources& used = used_[place_cu];
    fits = used.registers_kib + slot.needs.registers_kib <= capacity_.registers_kib &&
           used.lds_kib + slot.needs.lds_kib <= capacity_.lds_kib &&
           used.wavefronts + slot.needs.wavefronts <= capacity_.wavefronts &&
           used.work_groups + 1 <= capacity_.work_groups;
    if (fits) {
      used.registers_kib += slot.needs.registers_kib;
      used.lds_kib += slot.needs.lds_kib;
      used.wavefronts += slot.needs.wavefronts;
      used.work_groups += 1;
      out_.dispatch_valid = true;
      out_.dispatch_cu = static_cast<uint8_t>(place_cu);
      out_.dispatch_slot = static_cast<uint8_t>(place_slot);
      out_.dispatch_wg_id = slot.first + slot.position;
      if (!slot.started) {
        out_.kernel_start = true;
        out_.start_slot = static_cast<uint8_t>(place_slot);
      }
      slot.started = true;
      slot.position = slot.position + 1 == slot.count ? 0 : slot.position + 1;
      --slot.undispatched;
      ++slot.resident;
      ++dispatched_;
    } else {
      slot.candidates[place_cu / 32] &= ~(uint32_t{1} << place_cu % 32);
    }
  }
  if (leaves) {
    Slot& from = slots_[in.done_slot];
    Resources& used = used_[in.done_cu];
    used.registers_kib -= from.needs.registers_kib;
    used.lds_kib -= from.needs.lds_kib;
    used.wavefronts -= from.needs.wavefronts;
    used.work_groups -= 1;
    for (Slot& s : slots_) s.candidates[in.done_cu / 32u] |= uint32_t{1} << in.done_cu % 32;
    --from.resident;
    if (in.done_valid) {
      if (!from.first_done) {
        out_.first_wg_done = true;
        out_.done_slot = in.done_slot;
      }
      from.first_done = true;
      if (--from.unfinished == 0) {
        out_.kernel_done = true;
        out_.done_slot = in.done_slot;
        from.state = SlotState::done;
        newly_done = static_cast<uint8_t>(1u << in.done_slot);
      }
      ++finished_;
    } else {
      ++drained_;
    }
  }

  read_pending_ = in.reg.read;
  if (in.reg.read) read_address_ = in.reg.address;
  if (in.reg.write) write(in.reg.address, in.reg.wdata);
  done_ = static_cast<uint8_t>(done_ | newly_done);
  out_.irq = (done_ & irq_enable_) != 0;
  out_.idle = !pick_valid_ && !read_pending_ && !out_.dispatch_valid && !out_.first_wg_done &&
              !out_.kernel_done && !any_wants();
  return out_;
}

void GridSchedulerModel::write_slot(unsigned index, uint16_t offset, uint64_t data) {
  Slot& slot = slots_[index];
  if (slot.state != SlotState::free) return;
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
      slot.first = static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_RANGE_FIRST));
      slot.count = static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_RANGE_COUNT));
      break;
    case GRID_SCHEDULER_SLOT_ORDER_OFFSET:
      slot.grid = static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_ORDER_GRID));
      slot.start = static_cast<uint32_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_ORDER_START));
      break;
    case GRID_SCHEDULER_SLOT_CONTROL_OFFSET: {
      if (STRETTO_FIELD_GET(data, GRID_SCHEDULER_SLOT_CONTROL_LAUNCH) == 0) break;
      const bool refused =
          slot.needs.registers_kib > capacity_.registers_kib ||
          slot.needs.lds_kib > capacity_.lds_kib || slot.needs.wavefronts > capacity_.wavefronts ||
          capacity_.work_groups == 0 || slot.count == 0 ||
          uint64_t{slot.first} + slot.count > slot.grid || slot.start >= slot.count;
      if (refused) {
        slot.state = SlotState::refused;
        done_ = static_cast<uint8_t>(done_ | 1u << index);
        break;
      }
      slot.state = SlotState::running;
      slot.started = slot.first_done = false;
      slot.position = slot.start;
      slot.undispatched = slot.unfinished = slot.count;
      slot.resident = 0;
      for (unsigned cu = 0; cu < kWords * 32; ++cu) {
        const uint32_t bit = uint32_t{1} << cu % 32;
        slot.candidates[cu / 32] =
            cu < cus_in_use() ? slot.candidates[cu / 32] | bit : slot.candidates[cu / 32] & ~bit;
      }
      break;
    }
    default:
      break;
  }
}

void GridSchedulerModel::write(uint16_t address, uint64_t data) {
  if (address >= GRID_SCHEDULER_SLOT_NEEDS_OFFSET) {
    const unsigned index = static_cast<unsigned>(address - GRID_SCHEDULER_SLOT_NEEDS_OFFSET) /
                           GRID_SCHEDULER_SLOT_NEEDS_STRIDE;
    if (index < kGridSlots)
      write_slot(index, static_cast<uint16_t>(address - index * GRID_SCHEDULER_SLOT_NEEDS_STRIDE),
                 data);
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
        if (clear >> s & 1) slots_[s].state = SlotState::free;
      }
      done_ = static_cast<uint8_t>(done_ & ~clear);
      break;
    }
    case GRID_SCHEDULER_IRQ_ENABLE_OFFSET:
      irq_enable_ = static_cast<uint8_t>(STRETTO_FIELD_GET(data, GRID_SCHEDULER_IRQ_ENABLE_SLOTS));
      break;
    case GRID_SCHEDULER_COUNTER_CLEAR_OFFSET:
      dispatched_ = finished_ = drained_ = 0;
      break;
    default:
      break;
  }
}

uint64_t GridSchedulerModel::read(uint16_t address) const {
  if (address >= GRID_SCHEDULER_SLOT_NEEDS_OFFSET) {
    const unsigned index = static_cast<unsigned>(address - GRID_SCHEDULER_SLOT_NEEDS_OFFSET) /
                           GRID_SCHEDULER_SLOT_NEEDS_STRIDE;
    if (index >= kGridSlots) return 0;
    const Slot& s = slots_[index];
    switch (address - index * GRID_SCHEDULER_SLOT_NEEDS_STRIDE) {
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
      case GRID_SCHEDULER_SLOT_STATE_OFFSET:
        return STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_STATE, static_cast<unsigned>(s.state)) |
               STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_RESIDENT, s.resident) |
               STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED, s.undispatched);
      default:
        return 0;
    }
  }
  switch (address) {
    case GRID_SCHEDULER_CUS_OFFSET:
      return cus_;
    case GRID_SCHEDULER_CAPACITY_OFFSET:
      return STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_REGISTERS_KIB, capacity_.registers_kib) |
             STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_LDS_KIB, capacity_.lds_kib) |
             STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_WAVEFRONTS, capacity_.wavefronts) |
             STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_WORK_GROUPS, capacity_.work_groups);
    case GRID_SCHEDULER_DONE_OFFSET:
      return done_;
    case GRID_SCHEDULER_IRQ_ENABLE_OFFSET:
      return irq_enable_;
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
    case GRID_SCHEDULER_DISPATCHED_OFFSET:
      return dispatched_;
    case GRID_SCHEDULER_FINISHED_OFFSET:
      return finished_;
    case GRID_SCHEDULER_DRAINED_OFFSET:
      return drained_;
    default:
      return 0;
  }
}

}  // namespace stretto
