// SPDX-License-Identifier: Apache-2.0
// See gpu_front_end.h.
#include "models/gpu/gpu_front_end.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "sw/include/formats/address_map.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/gpu_bank.h"
#include "sw/include/regs/gpu_regs.h"
#include "sw/include/regs/grid_scheduler_bank.h"
#include "sw/include/regs/grid_scheduler_regs.h"

namespace stretto {
namespace {

constexpr size_t kFaultsKept = 64;

}  // namespace

GpuFrontEnd::GpuFrontEnd(sc_core::sc_module_name name, const GpuSpec& spec,
                         PartitionServices& services, std::unique_ptr<GridScheduler> scheduler,
                         riscv::CodeCache& code)
    : sc_core::sc_module(name),
      EventHandler(*services.queue),
      regs("regs"),
      scheduler_regs("scheduler_regs"),
      spec_(spec),
      services_(services),
      scheduler_(std::move(scheduler), ClockDomain(spec.clock_mhz), *services.queue, *this, *this),
      code_(code),
      registers_(kGpuRegisters),
      scheduler_registers_(kGridSchedulerRegisters) {
  regs.register_b_transport(&registers_, &RegisterBank::b_transport);
  scheduler_regs.register_b_transport(this, &GpuFrontEnd::on_scheduler_register);
  describe_registers();
}

void GpuFrontEnd::connect(std::vector<WorkGroupExecutor*> units, L2Cache* l2) {
  units_ = std::move(units);
  pairs_.of_unit.resize(units_.size());
  l2_ = l2;
  if (l2_ == nullptr) return;
  l2_->on_written_back([this] {
    registers_[GPU_L2_DONE_OFFSET] |= GPU_L2_DONE_PENDING_MASK;
    update_l2_line();
  });
}

// ---- The scheduler's clock

LeftUnit GpuFrontEnd::give(GridSchedulerInputs& in) {
  LeftUnit left;
  if (report_may_go()) {
    const Report& report = reports_.front();
    left = {true, report.drained, report.slot};
    in.done_valid = !report.drained;
    in.drained_valid = report.drained;
    in.done_cu = static_cast<uint8_t>(report.cu);
    in.done_slot = report.slot;
    in.drained_wg_id = report.wg_id;
    reports_.pop_front();
  }
  if (!gates_.empty()) {
    in.event_valid = true;
    in.event_gate = gates_.front();
    gates_.pop_front();
  }
  return left;
}

void GpuFrontEnd::watch_kernels(const GridSchedulerOutputs& out, const LeftUnit& left) {
  if (left.valid) {
    --kernels_[left.slot].resident;
    kernels_[left.slot].has_ended |= !left.drained;
  }
  if (out.kernel_start)
    kernels_[out.start_slot].has_ended = kernels_[out.start_slot].has_first = false;
  Kernel& kernel = kernels_[out.done_slot];
  if (out.first_wg_done) {
    if (kernel.has_first || !kernel.has_ended) ++wrong_firsts_;
    kernel.has_first = true;
  }
  if (out.kernel_done) {
    if (kernel.resident != 0) ++early_ends_;
    if (kernel.has_ended && !kernel.has_first) ++wrong_firsts_;
    const Time ns = (services_.queue->now() - started_at_[out.done_slot]) / kNanosecond + 1;
    const uint64_t most =
        ns * spec_.clock_mhz / 1000 * spec_.cus * uint64_t{spec_.tensor_fma_per_cycle};
    if (std::exchange(kernel.multiply_adds, 0) > most) ++above_peak_;
  }
  if (out.dispatch_valid) ++kernels_[out.dispatch_slot].resident;
}

void GpuFrontEnd::tell_watches(bool ended, unsigned slot, Time now) const {
  for (const KernelWatch& watch : kernel_watches_) watch(ended, contexts_[slot].account, now);
}

void GpuFrontEnd::take(const GridSchedulerOutputs& out, const LeftUnit& left) {
  watch_kernels(out, left);
  const Time now = services_.queue->now();
  // A kernel of the communication stream is no producer whose accesses the memory would have to
  // protect (T3 4.5).
  if (out.kernel_start) {
    started_[out.start_slot] = true;
    for (WorkGroupExecutor* unit : units_) unit->begin_kernel();
    started_at_[out.start_slot] = now;
    if (!contexts_[out.start_slot].communication && events_.kernel_start) events_.kernel_start(now);
    tell_watches(false, out.start_slot, now);
  }
  const bool of_compute = !contexts_[out.done_slot].communication;
  if (out.first_wg_done && of_compute && events_.first_wg_done) events_.first_wg_done(now);
  if (out.kernel_done) {
    // A kernel that was stopped before its first dispatch has never begun for the memory.
    if (started_[out.done_slot] && of_compute && events_.kernel_end) events_.kernel_end(now);
    if (started_[out.done_slot]) tell_watches(true, out.done_slot, now);
    if (started_[out.done_slot] && services_.trace != nullptr) {
      services_.trace->span("gpu" + std::to_string(services_.gpu) + "/kernels",
                            "slot " + std::to_string(out.done_slot), started_at_[out.done_slot],
                            now, {.code = contexts_[out.done_slot].entry});
    }
    running_[out.done_slot] = started_[out.done_slot] = false;
  }
  for (uint32_t refused = out.refused; refused != 0; refused &= refused - 1)
    running_[static_cast<unsigned>(std::countr_zero(refused))] = false;
  if (out.dispatch_valid) dispatch({out.dispatch_cu, out.dispatch_slot, out.dispatch_wg_id});
  if (out.preempt_valid) hand_back(out.preempt_slot);
  if (out.irq != irq_) {
    irq_ = out.irq;
    if (interrupts_ != nullptr) interrupts_->set(STRETTO_IRQ_GRID_SCHEDULER, irq_);
  }
}

void GpuFrontEnd::on_scheduler_register(tlm::tlm_generic_payload& payload,
                                        sc_core::sc_time& delay) {
  const auto [info, index] = scheduler_registers_.decode(payload, payload.get_address());
  if (info == nullptr) return;
  if (payload.is_write()) {
    uint64_t written;
    std::memcpy(&written, payload.get_data_ptr(), 8);
    if (info->offset == GRID_SCHEDULER_SLOT_NEEDS_OFFSET) needs_[index] = written;
    if (info->offset == GRID_SCHEDULER_SLOT_CONTROL_OFFSET &&
        (written & GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_MASK) != 0 && !running_[index] &&
        !sample_context(index)) {
      return;
    }
    if (info->offset == GRID_SCHEDULER_PIPELINE_OFFSET && !sample_pipeline(written)) return;
  }
  scheduler_.access(payload, delay);
}

// ---- Launch and dispatch

bool GpuFrontEnd::sample_context(unsigned slot) {
  const auto raw = [&](uint32_t offset) {
    return registers_[offset + slot * GPU_CONTEXT_ENTRY_STRIDE];
  };
  DispatchContext context;
  context.entry = raw(GPU_CONTEXT_ENTRY_OFFSET);
  context.kernarg = raw(GPU_CONTEXT_KERNARG_OFFSET);
  context.kernarg_bytes = raw(GPU_CONTEXT_KERNARG_BYTES_OFFSET);
  context.code_base = raw(GPU_CONTEXT_CODE_BASE_OFFSET);
  context.code_bytes = raw(GPU_CONTEXT_CODE_BYTES_OFFSET);
  context.registers_bytes = static_cast<uint32_t>(raw(GPU_CONTEXT_REGISTERS_BYTES_OFFSET));
  context.lds_bytes = static_cast<uint32_t>(raw(GPU_CONTEXT_LDS_BYTES_OFFSET));
  context.private_bytes = static_cast<uint32_t>(raw(GPU_CONTEXT_PRIVATE_BYTES_OFFSET));
  context.wavefronts = static_cast<uint32_t>(raw(GPU_CONTEXT_WAVEFRONTS_OFFSET));
  const uint64_t grid = raw(GPU_CONTEXT_GRID_OFFSET);
  context.grid = static_cast<uint32_t>(STRETTO_FIELD_GET(grid, GPU_CONTEXT_GRID_WORKGROUPS));
  context.grid_y = std::max(1u, static_cast<uint32_t>(STRETTO_FIELD_GET(grid, GPU_CONTEXT_GRID_Y)));
  context.grid_z = std::max(1u, static_cast<uint32_t>(STRETTO_FIELD_GET(grid, GPU_CONTEXT_GRID_Z)));
  const uint64_t plane = uint64_t{context.grid_y} * context.grid_z;
  context.grid_x = static_cast<uint32_t>(context.grid / plane);
  const uint64_t flags = raw(GPU_CONTEXT_FLAGS_OFFSET);
  context.update = (flags & GPU_CONTEXT_FLAGS_UPDATE_MASK) != 0;
  context.communication = (flags & GPU_CONTEXT_FLAGS_COMMUNICATION_MASK) != 0;
  context.split =
      std::max(1u, static_cast<uint32_t>(STRETTO_FIELD_GET(flags, GPU_CONTEXT_FLAGS_SPLIT)));
  context.account = static_cast<uint8_t>(STRETTO_FIELD_GET(flags, GPU_CONTEXT_FLAGS_ACCOUNT));

  if (context.wavefronts == 0 || context.wavefronts > 8 ||
      (context.private_bytes != 0 && !std::has_single_bit(context.private_bytes)) ||
      context.private_bytes > 65536 || context.grid_x * plane != context.grid ||
      context.entry < context.code_base ||
      context.entry - context.code_base + 4 > context.code_bytes || context.entry % 4 != 0) {
    launch_fault(slot, FaultKind::bad_context, context.entry,
                 "launch with a dispatch context that cannot run");
    return false;
  }
  // A kernel that goes on is the launch that it was.
  const bool goes_on = raw(GPU_CONTEXT_RESUME_OFFSET) != 0;
  context.launch = goes_on ? contexts_[slot].launch : ++launches_;
  pairs_.slots &= ~(1u << slot);
  code_.flush();  // A launch may follow a load over old code.
  contexts_[slot] = context;
  sample_resume(slot);
  running_[slot] = true;
  const uint64_t registers =
      STRETTO_FIELD_GET(needs_[slot], GRID_SCHEDULER_SLOT_NEEDS_REGISTERS_KIB) * 1024;
  const uint64_t lds = STRETTO_FIELD_GET(needs_[slot], GRID_SCHEDULER_SLOT_NEEDS_LDS_KIB) * 1024;
  const uint64_t wavefronts = STRETTO_FIELD_GET(needs_[slot], GRID_SCHEDULER_SLOT_NEEDS_WAVEFRONTS);
  const bool too_large =
      context.registers_bytes > spec_.registers_bytes || context.lds_bytes > spec_.lds_bytes;
  if (too_large) {
    const bool by_registers = context.registers_bytes > spec_.registers_bytes;
    launch_fault(slot, FaultKind::kernel_too_large,
                 by_registers ? context.registers_bytes : context.lds_bytes,
                 by_registers
                     ? "a work-group needs " + std::to_string(context.registers_bytes) +
                           " bytes of registers, a compute unit has " +
                           std::to_string(spec_.registers_bytes)
                     : "a work-group needs " + std::to_string(context.lds_bytes) +
                           " bytes of LDS, a compute unit has " + std::to_string(spec_.lds_bytes));
    running_[slot] = false;
    // The scheduler refuses it by itself, and says so in the slot's state, if it was told the same
    // needs.
    return registers > spec_.registers_bytes || lds > spec_.lds_bytes;
  }
  if (registers < context.registers_bytes || lds < context.lds_bytes ||
      wavefronts < context.wavefronts) {
    running_[slot] = false;
    launch_fault(slot, FaultKind::bad_context, context.entry,
                 "the scheduler was told smaller needs than the dispatch context has");
    return false;
  }
  return true;
}

// All or nothing, as the launch itself: one member that cannot run keeps the others from the
// scheduler.
bool GpuFrontEnd::sample_pipeline(uint64_t slots) {
  uint64_t sampled = 0;
  bool good = true;
  for (unsigned slot = 0; good && slot < kGridSlots; ++slot) {
    if ((slots >> slot & 1) == 0 || running_[slot]) continue;
    good = sample_context(slot);
    sampled |= uint64_t{1} << slot;
  }
  for (unsigned slot = 0; !good && slot < kGridSlots; ++slot) {
    if ((sampled >> slot & 1) != 0) running_[slot] = false;
  }
  if (good) pairs_.slots |= static_cast<uint32_t>(slots);
  return good;
}

void GpuFrontEnd::sample_resume(unsigned slot) {
  Returned& returned = returned_[slot];
  returned.replayed = std::exchange(registers_[GPU_CONTEXT_RESUME_OFFSET_AT(slot)], 0);
  if (returned.replayed != 0) return;
  forgotten_ += returned.groups.size();
  for (const auto& [id, saved] : returned.groups)
    if (saved.bytes != 0) save_area_.give_back(saved.address);
  returned.groups.clear();
}

void GpuFrontEnd::launch_fault(unsigned slot, FaultKind kind, uint64_t bytes, std::string detail) {
  GpuFault report;
  report.kind = kind;
  report.slot = static_cast<uint8_t>(slot);
  report.address = bytes;
  report.pc = registers_[GPU_CONTEXT_ENTRY_OFFSET_AT(slot)];
  report.at = services_.queue->now();
  report.detail = std::move(detail);
  fault(report);
}

void GpuFrontEnd::dispatch(const Dispatch& dispatch) {
  Returned& returned = returned_[dispatch.slot];
  if (returned.replayed != 0) {
    --returned.replayed;
    if (returned.groups.count(dispatch.wg_id) == 0) {  // It has ended.
      ++passed_;
      reports_.push_back({dispatch.cu, dispatch.slot, false, dispatch.wg_id});
      scheduler_.arm();
      return;
    }
  }
  ++dispatched_;
  if (spec_.stage_mode == StageMode::synchronous && !stage_open_) {
    held_.push_back(dispatch);
    return;
  }
  begin(dispatch);
}

void GpuFrontEnd::begin(const Dispatch& dispatch) {
  const Time now = services_.queue->now();
  if (stage_running_++ == 0) stage_begin_ = now;
  Active& active = active_[contexts_[dispatch.slot].account];
  active.first_dispatch = std::min(active.first_dispatch, now);
  ++active.running;
  note_pair(dispatch.cu, dispatch.slot, 1);
  const DispatchContext& context = contexts_[dispatch.slot];
  WorkGroupExecutor& unit = *units_.at(dispatch.cu);
  const auto returned = returned_[dispatch.slot].groups.extract(dispatch.wg_id);
  if (returned.empty() || returned.mapped().bytes == 0) {
    unit.start(dispatch.slot, dispatch.wg_id, context);
    return;
  }
  ++resumed_;
  unit.resume(dispatch.slot, dispatch.wg_id, context, std::move(returned.mapped()), save_area_);
}

void GpuFrontEnd::note_pair(uint16_t cu, uint8_t slot, int change) {
  if ((pairs_.slots >> slot & 1) == 0) return;
  const Time now = services_.queue->now();
  if (pairs_.groups != 0) pairs_.time += now - pairs_.since;
  pairs_.unit_time += pairs_.units * (now - pairs_.since);
  pairs_.since = now;
  pairs_.groups += static_cast<uint32_t>(change);
  std::array<uint16_t, 2>& held = pairs_.of_unit.at(cu);
  const bool was_paired = held[0] != 0 && held[1] != 0;
  held[STRETTO_FIELD_GET(needs_[slot], GRID_SCHEDULER_SLOT_NEEDS_TYPE)] +=
      static_cast<uint16_t>(change);
  const bool is_paired = held[0] != 0 && held[1] != 0;
  pairs_.units += static_cast<uint64_t>(is_paired) - static_cast<uint64_t>(was_paired);
  pairs_.most_units = std::max(pairs_.most_units, pairs_.units);
}

// A work-group has left its unit, done, drained or suspended; with the last of a stage the next one may begin.
void GpuFrontEnd::left_unit(uint16_t cu, uint8_t slot) {
  note_pair(cu, slot, -1);
  --active_[contexts_[slot].account].running;
  stage_open_ = false;
  if (--stage_running_ == 0) {
    ++stages_;
    stage_open_ = true;
    if (services_.trace != nullptr && spec_.stage_mode == StageMode::synchronous) {
      services_.trace->span("gpu" + std::to_string(services_.gpu) + "/stages",
                            "stage " + std::to_string(stages_), stage_begin_,
                            services_.queue->now());
    }
    std::deque<Dispatch> next;
    next.swap(held_);
    for (const Dispatch& dispatch : next) begin(dispatch);
  }
  scheduler_.arm();
}

void GpuFrontEnd::done(uint16_t cu, uint8_t slot, uint32_t wg_id, uint64_t multiply_adds) {
  ++retired_;
  kernels_[slot].multiply_adds += multiply_adds;
  active_[contexts_[slot].account].last_end = services_.queue->now();
  reports_.push_back({cu, slot, false, wg_id});
  left_unit(cu, slot);
}

void GpuFrontEnd::drained(uint16_t cu, uint8_t slot, uint32_t wg_id) {
  ++drained_;
  if (save_area_.has(slot)) returned_[slot].groups.try_emplace(wg_id);
  reports_.push_back({cu, slot, true, wg_id});
  left_unit(cu, slot);
}

void GpuFrontEnd::suspended(uint16_t cu, uint8_t slot, uint32_t wg_id, SavedGroup saved,
                            uint64_t multiply_adds) {
  ++suspended_;
  kernels_[slot].multiply_adds += multiply_adds;
  returned_[slot].groups.insert_or_assign(wg_id, std::move(saved));
  reports_.push_back({cu, slot, true, wg_id});
  left_unit(cu, slot);
}

uint64_t GpuFrontEnd::suspended_bytes() const {
  uint64_t bytes = 0;
  for (const Returned& returned : returned_)
    for (const auto& [id, saved] : returned.groups) bytes += saved.bytes;
  return bytes;
}

void GpuFrontEnd::hand_back(unsigned slot) {
  std::deque<Dispatch> others;
  for (const Dispatch& dispatch : held_) {
    if (dispatch.slot != slot) {
      others.push_back(dispatch);
      continue;
    }
    ++drained_;
    if (save_area_.has(dispatch.slot)) returned_[slot].groups.try_emplace(dispatch.wg_id);
    reports_.push_back({dispatch.cu, dispatch.slot, true, dispatch.wg_id});
  }
  held_.swap(others);
  for (WorkGroupExecutor* unit : units_) {
    if (save_area_.has(static_cast<uint8_t>(slot))) {
      unit->suspend(static_cast<uint8_t>(slot), save_area_);
    } else {
      unit->preempt(static_cast<uint8_t>(slot));
    }
  }
  scheduler_.arm();
}

void GpuFrontEnd::on_trigger(Time, uint16_t wg_id, uint8_t, uint64_t) {
  dispatched_at_event_ = dispatched_;
  const std::optional<uint16_t> gate = event_gates_.take(wg_id);
  if (!gate.has_value()) return;
  gates_.push_back(*gate);
  scheduler_.arm();
}

// ---- Faults

void GpuFrontEnd::fault(const GpuFault& fault) {
  ++fault_count_;
  if (faults_.size() < kFaultsKept) faults_.push_back(fault);
  uint64_t& status = registers_[GPU_FAULT_STATUS_OFFSET];
  if ((status & GPU_FAULT_STATUS_PENDING_MASK) != 0) {
    status |= GPU_FAULT_STATUS_LOST_MASK;
  } else {
    status |= GPU_FAULT_STATUS_PENDING_MASK;
    current_fault_ = fault;
    update_fault_line();
  }
  if (on_fault_) on_fault_(fault);
}

void GpuFrontEnd::update_l2_line() {
  if (interrupts_ != nullptr)
    interrupts_->set(STRETTO_IRQ_L2,
                     (registers_[GPU_L2_DONE_OFFSET] & GPU_L2_DONE_PENDING_MASK) != 0);
}

void GpuFrontEnd::update_fault_line() {
  if (interrupts_ != nullptr) {
    interrupts_->set(STRETTO_IRQ_FAULT,
                     (registers_[GPU_FAULT_STATUS_OFFSET] & GPU_FAULT_STATUS_PENDING_MASK) != 0);
  }
}

// ---- Registers of gpu.yaml

void GpuFrontEnd::describe_registers() {
  const auto reads = [this](uint32_t offset, auto value) {
    registers_.on_read(offset, [value](uint32_t) -> uint64_t { return value(); });
  };
  reads(GPU_L2_STATUS_OFFSET, [this]() -> uint64_t {
    if (l2_ == nullptr) return 0;
    return STRETTO_FIELD(GPU_L2_STATUS_BUSY, l2_->write_back_busy()) |
           STRETTO_FIELD(GPU_L2_STATUS_COMPLETED, l2_->write_backs_completed());
  });
  reads(GPU_FAULT_KIND_OFFSET, [this] {
    return STRETTO_FIELD(GPU_FAULT_KIND_KIND, static_cast<uint64_t>(current_fault_.kind)) |
           STRETTO_FIELD(GPU_FAULT_KIND_CAUSE, current_fault_.cause) |
           STRETTO_FIELD(GPU_FAULT_KIND_SLOT, current_fault_.slot) |
           STRETTO_FIELD(GPU_FAULT_KIND_CU, current_fault_.cu) |
           STRETTO_FIELD(GPU_FAULT_KIND_WF_ID, current_fault_.wf_id);
  });
  reads(GPU_FAULT_ADDRESS_OFFSET, [this] { return current_fault_.address; });
  reads(GPU_FAULT_PC_OFFSET, [this] { return current_fault_.pc; });
  reads(GPU_FAULT_WG_OFFSET, [this] { return current_fault_.wg_id; });
  reads(GPU_FAULT_COUNT_OFFSET, [this] { return fault_count_; });
  reads(GPU_CUS_OFFSET, [this] { return spec_.cus; });
  reads(GPU_REGISTERS_PER_CU_OFFSET, [this] { return spec_.registers_bytes; });
  reads(GPU_LDS_PER_CU_OFFSET, [this] { return spec_.lds_bytes; });
  reads(GPU_WAVEFRONTS_PER_CU_OFFSET, [this] { return spec_.wavefront_slots; });
  reads(GPU_WORKGROUPS_PER_CU_OFFSET, [this] { return spec_.workgroup_slots; });
  reads(GPU_COUNT_DISPATCHED_OFFSET, [this] { return dispatched_; });
  reads(GPU_COUNT_RETIRED_OFFSET, [this] { return retired_; });
  reads(GPU_COUNT_INSTRUCTIONS_OFFSET,
        [this] { return instruction_count_ ? instruction_count_() : 0; });
  reads(GPU_COUNT_SUSPENDED_OFFSET, [this] { return suspended_; });
  reads(GPU_COUNT_RESUMED_OFFSET, [this] { return resumed_; });
  reads(GPU_COUNT_EVENTS_OFFSET, [this] { return event_gates_.events(); });
  reads(GPU_COUNT_STRAY_EVENTS_OFFSET, [this] { return event_gates_.stray(); });
  reads(GPU_COUNT_L2_HITS_OFFSET,
        [this] { return l2_ == nullptr ? 0 : l2_->total(l2_->counters().hits); });
  reads(GPU_COUNT_L2_MISSES_OFFSET,
        [this] { return l2_ == nullptr ? 0 : l2_->total(l2_->counters().misses); });

  registers_.on_write(GPU_FAULT_STATUS_OFFSET, [this](const RegisterBank::Write& write) {
    if ((write.held & GPU_FAULT_STATUS_PENDING_MASK) == 0) current_fault_ = {};
    update_fault_line();
  });
  registers_.on_write(GPU_L2_COMMAND_OFFSET, [this](const RegisterBank::Write& write) {
    write.held = 0;
    if (l2_ == nullptr) return;
    if ((write.bits & GPU_L2_COMMAND_WRITE_BACK_MASK) != 0 && !l2_->write_back_busy())
      l2_->write_back();
    if ((write.bits & GPU_L2_COMMAND_INVALIDATE_MASK) != 0) l2_->invalidate();
  });
  registers_.on_write(GPU_L2_DONE_OFFSET, [this](const RegisterBank::Write&) { update_l2_line(); });
  registers_.on_write(GPU_EVENT_MAP_OFFSET, [this](const RegisterBank::Write& write) {
    event_gates_.map(static_cast<uint32_t>(STRETTO_FIELD_GET(write.held, GPU_EVENT_MAP_PER_GATE)),
                     static_cast<uint32_t>(STRETTO_FIELD_GET(write.held, GPU_EVENT_MAP_IDS)));
  });
  reads(GPU_L2_SIZE_OFFSET, [this]() -> uint64_t {
    if (l2_ == nullptr) return 0;
    const L2Spec& spec = l2_->spec();
    return STRETTO_FIELD(GPU_L2_SIZE_BYTES, spec.bytes) |
           STRETTO_FIELD(GPU_L2_SIZE_WAYS, spec.ways) |
           STRETTO_FIELD(GPU_L2_SIZE_PERSIST_WAYS, spec.persist_ways());
  });
  registers_.on_write(GPU_L2_PERSIST_OFFSET, [this](const RegisterBank::Write& write) {
    if (l2_ != nullptr)
      l2_->set_persist_ways(
          static_cast<unsigned>(STRETTO_FIELD_GET(write.held, GPU_L2_PERSIST_WAYS)));
  });
  const auto save_area = [this](const RegisterBank::Write& write) {
    save_area_.set(static_cast<uint8_t>(write.index),
                   registers_[GPU_CONTEXT_SAVE_BASE_OFFSET_AT(write.index)],
                   registers_[GPU_CONTEXT_SAVE_BYTES_OFFSET_AT(write.index)]);
  };
  registers_.on_write(GPU_CONTEXT_SAVE_BASE_OFFSET, save_area);
  registers_.on_write(GPU_CONTEXT_SAVE_BYTES_OFFSET, save_area);
  const auto pin = [this](const RegisterBank::Write& write) {
    if (l2_ == nullptr) return;
    l2_->pin(write.index, registers_[GPU_L2_PIN_BASE_OFFSET_AT(write.index)],
             registers_[GPU_L2_PIN_BYTES_OFFSET_AT(write.index)]);
  };
  registers_.on_write(GPU_L2_PIN_BASE_OFFSET, pin);
  registers_.on_write(GPU_L2_PIN_BYTES_OFFSET, pin);
}

// ---- Component

void GpuFrontEnd::report(StatisticSink& sink) const {
  sink.add("front_end.launches", launches_, "count", "Kernels launched.");
  sink.add("front_end.dispatched", dispatched_, "count", "Work-groups dispatched.");
  sink.add("front_end.retired", retired_, "count", "Work-groups ended.");
  sink.add("front_end.stages", stages_, "count", "Times that all resident work-groups had ended.");
  sink.add("front_end.scheduler_clocks", scheduler_.steps(), "count",
           "Clocks in which the grid scheduler was evaluated.");
  sink.add("front_end.events", event_gates_.events(), "count",
           "Scheduling events of the Tracker (T3-AGC-01).");
  sink.add("front_end.gates_opened", event_gates_.opened(), "count",
           "Gates that the last of their events opened.");
  sink.add("front_end.dispatched_before_last_event", dispatched_at_event_, "count",
           "Work-groups that had been dispatched when the last scheduling event came: overlap with "
           "the gather.");
  for (unsigned account = 0; account < STRETTO_ACCOUNTS; ++account) {
    if (active_[account].first_dispatch == kNever) continue;
    const std::string& name = sink.account(account);
    sink.add("front_end.first_dispatch." + name, active_[account].first_dispatch, "fs",
             "First work-group of these kernels began.");
    sink.add("front_end.last_end." + name, active_[account].last_end, "fs",
             "Last work-group of these kernels ended.");
    if (active_[account].running != 0)
      sink.add("front_end.running." + name, active_[account].running, "count",
               "Work-groups of these kernels that have begun and not ended.");
  }
  if (pairs_.time != 0) {
    sink.add("front_end.pipeline_time", pairs_.time, "fs",
             "With work-groups of pipelines in units.");
    sink.add("front_end.paired_units", pairs_.most_units, "count",
             "Units that held SIMT and TENSOR work-groups of pipelines at a time, at most.");
    sink.add("front_end.paired_time", pairs_.unit_time, "fs",
             "For which units held both, of all units.");
  }
  if (suspended_ != 0) {
    sink.add("front_end.suspended", suspended_, "count",
             "Work-groups that left their unit with their state in memory.");
    sink.add("front_end.resumed", resumed_, "count", "Of them, those that went on.");
    sink.add("front_end.not_suspended", save_area_.refused(), "count",
             "Work-groups that ran on, for want of memory for their states.");
    sink.add("front_end.passed", passed_, "count",
             "Work-groups that were placed again and had ended before.");
  }
  sink.add("front_end.faults", fault_count_, "count", "Faults of wavefronts and launches.");
}

void GpuFrontEnd::audit(AuditSink& sink) const {
  sink.equal("work-groups dispatched = ended + preempted + suspended + running + held", dispatched_,
             retired_ + drained_ + suspended_ + stage_running_ + held_.size());
  uint64_t running = 0;
  for (const Active& active : active_) running += active.running;
  sink.equal("work-groups running, of all accounts = running", running, stage_running_);
  sink.equal("work-groups that came back and that no launch went on with = 0", forgotten_, 0);
  sink.equal("kernels done while work-groups of them run = 0", early_ends_, 0);
  sink.equal("launches whose first end is not signalled once = 0", wrong_firsts_, 0);
  sink.equal("kernels above the tensor peak of all units over their time = 0", above_peak_, 0);
  sink.equal("GPU faults = 0", fault_count_, 0);
  sink.equal("scheduling events that no gate waits for = 0", event_gates_.stray(), 0);
}

std::vector<std::string> GpuFrontEnd::waiting_on() const {
  std::vector<std::string> lines;
  if (!held_.empty()) {
    lines.push_back(std::to_string(held_.size()) + " work-groups wait for " +
                    std::to_string(stage_running_) + " of their stage to end");
  }
  const GridSchedulerSnapshot state = scheduler_.snapshot().value_or(GridSchedulerSnapshot());
  for (unsigned slot = 0; slot < kGridSlots; ++slot) {
    if (!running_[slot]) continue;
    lines.push_back("kernel slot " + std::to_string(slot) +
                    " runs: " + std::to_string(dispatched_) + " work-groups dispatched, " +
                    std::to_string(retired_) + " ended");
    if ((state.closed >> slot & 1) == 0) continue;
    lines.push_back("kernel slot " + std::to_string(slot) + " waits for gate " +
                    std::to_string(state.gate[slot]) + " (" +
                    event_gates_.progress(state.gate[slot]) + "), " +
                    std::to_string(state.undispatched[slot]) + " work-groups not placed");
  }
  return lines;
}

}  // namespace stretto
