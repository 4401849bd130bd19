// SPDX-License-Identifier: Apache-2.0
// GpuFrontEnd: clocks the grid scheduler, carries dispatches to the compute units and `done` back,
// holds the dispatch contexts, L2 control and the fault report (gpu.yaml), tells the memory when
// kernels begin and end, and opens the scheduler's gates when the Tracker's events say that what
// work-groups wait for has arrived (T3-AGC-01).
//
// Invariants
//  1 The scheduler is clocked as block_host.h says, register accesses too.
//  2 A dispatch context is sampled when its slot is launched and stays what it was until the kernel
//    is done.
//  3 stage_mode synchronous: after the first work-group of a stage has ended, what the scheduler
//    dispatches is held until all of the stage has ended; then it all starts at once. The last,
//    partial stage is a stage like any other.
//  4 When the scheduler asks for it, the units hand back work-groups of a preempted slot that have
//    not begun, and what is held of it goes back too; a work-group is handed to the scheduler only
//    while that has room for its id.
//  5 Of a slot with memory for states the units suspend what has begun. For the scheduler it comes
//    back as what has not: it holds nothing of a unit any more, and its id is placed again.
#ifndef STRETTO_MODELS_GPU_GPU_FRONT_END_H_
#define STRETTO_MODELS_GPU_GPU_FRONT_END_H_

#include <tlm_utils/simple_target_socket.h>
#include <tlm>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/common/component.h"
#include "models/common/interrupt_line.h"
#include "models/common/register_bank.h"
#include "models/common/trigger_sink.h"
#include "models/gpu/base/dispatch.h"
#include "models/gpu/base/gpu_spec.h"
#include "models/gpu/event_gates.h"
#include "models/gpu/l2/l2_cache.h"
#include "models/reference/block_host.h"
#include "models/reference/grid_scheduler_if.h"
#include "models/riscv/code_cache.h"

namespace stretto {

// To the memory controllers (T3-MCA-04, -06). Each may be empty.
struct KernelEvents {
  std::function<void(Time)> kernel_start;
  std::function<void(Time)> first_wg_done;
  std::function<void(Time)> kernel_end;
};

// What a clock of the scheduler was given: a work-group that left its unit, if any.
struct LeftUnit {
  bool valid = false;
  bool drained = false;
  uint8_t slot = 0;
};
using KernelHost = BlockHost<GridScheduler, LeftUnit>;

class GpuFrontEnd final : public sc_core::sc_module,
                          public Component,
                          public WorkGroupListener,
                          public FaultSink,
                          public TriggerSink,
                          private EventHandler,
                          private KernelHost::Owner {
 public:
  tlm_utils::simple_target_socket_optional<RegisterBank> regs;           // gpu.yaml; b_transport.
  tlm_utils::simple_target_socket_optional<GpuFrontEnd> scheduler_regs;  // grid_scheduler.yaml.

  GpuFrontEnd(sc_core::sc_module_name name, const GpuSpec& spec, PartitionServices& services,
              std::unique_ptr<GridScheduler> scheduler, riscv::CodeCache& code);

  // Before the run, again to replace the units. `l2` may be null in tests.
  void connect(std::vector<WorkGroupExecutor*> units, L2Cache* l2);
  void set_interrupts(InterruptLine& line) { interrupts_ = &line; }
  void set_kernel_events(KernelEvents events) { events_ = std::move(events); }
  // Called when the first work-group of a kernel starts and when its last one has ended. Any number of them.
  using KernelWatch = std::function<void(bool ended, uint8_t account, Time at)>;
  void on_kernel(KernelWatch watch) { kernel_watches_.push_back(std::move(watch)); }
  // What count_instructions reads.
  void set_instruction_count(std::function<uint64_t()> count) {
    instruction_count_ = std::move(count);
  }

  void done(uint16_t cu, uint8_t slot, uint32_t wg_id, uint64_t multiply_adds) override;
  void drained(uint16_t cu, uint8_t slot, uint32_t wg_id) override;
  void suspended(uint16_t cu, uint8_t slot, uint32_t wg_id, SavedGroup saved,
                 uint64_t multiply_adds) override;
  // Bytes of states that wait in memory.
  uint64_t suspended_bytes() const;
  void fault(const GpuFault& fault) override;
  // A scheduling event of the Tracker; a gate that it opens takes one clock of the scheduler.
  void on_trigger(Time at, uint16_t wg_id, uint8_t wf_id, uint64_t address) override;

  const EventGates& events() const { return event_gates_; }
  uint64_t retired() const { return retired_; }  // Work-groups.

  // Every fault of the run (at most the first 64), for its record.
  const std::vector<GpuFault>& faults() const { return faults_; }
  uint64_t fault_count() const { return fault_count_; }
  // Called at each fault; the platform ends the run with it. May be empty.
  void on_fault(std::function<void(const GpuFault&)> f) { on_fault_ = std::move(f); }

  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

 private:
  struct Dispatch {
    uint16_t cu;
    uint8_t slot;
    uint32_t wg_id;
  };
  struct Report {
    uint16_t cu;
    uint8_t slot;
    bool drained;
    uint32_t wg_id;
  };

  void on_event(uint64_t tag) override { scheduler_.on_event(tag); }
  void on_scheduler_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  bool has_input() const override { return report_may_go() || !gates_.empty(); }
  LeftUnit give(GridSchedulerInputs& in) override;
  void take(const GridSchedulerOutputs& outputs, const LeftUnit& left) override;
  void watch_kernels(const GridSchedulerOutputs& outputs, const LeftUnit& left);
  void tell_watches(bool ended, unsigned slot, Time now) const;
  // The scheduler has room for the id of a drained work-group.
  bool report_may_go() const {
    return !reports_.empty() && (scheduler_.outputs().drained_ready || !reports_.front().drained);
  }
  void hand_back(unsigned slot);
  void left_unit(uint16_t cu, uint8_t slot);
  // A work-group of a pipeline has come to a unit, or has left it.
  void note_pair(uint16_t cu, uint8_t slot, int change);
  void describe_registers();
  // False: refused, a fault is reported and the launch must not reach the scheduler.
  bool sample_context(unsigned slot);
  bool sample_pipeline(uint64_t slots);
  void sample_resume(unsigned slot);
  void dispatch(const Dispatch& dispatch);
  void begin(const Dispatch& dispatch);
  void launch_fault(unsigned slot, FaultKind kind, uint64_t bytes, std::string detail);
  void update_l2_line();
  void update_fault_line();

  const GpuSpec spec_;
  PartitionServices& services_;
  KernelHost scheduler_;
  riscv::CodeCache& code_;
  std::vector<WorkGroupExecutor*> units_;
  L2Cache* l2_ = nullptr;
  InterruptLine* interrupts_ = nullptr;
  KernelEvents events_;
  std::vector<KernelWatch> kernel_watches_;
  std::function<uint64_t()> instruction_count_;
  std::function<void(const GpuFault&)> on_fault_;

  RegisterBank registers_;
  RegisterBank scheduler_registers_;  // Decodes; the scheduler holds the values.
  std::array<DispatchContext, kGridSlots> contexts_{};
  std::array<bool, kGridSlots> running_{};  // Between launch and kernel_done or refusal.
  std::array<bool, kGridSlots> started_{};  // Between kernel_start and kernel_done.
  std::array<Time, kGridSlots> started_at_{};
  std::array<uint64_t, kGridSlots> needs_{};  // Last slot_needs written.

  // What the scheduler's outputs must agree with, whoever wrote it.
  struct Kernel {
    uint64_t resident = 0;       // Work-groups dispatched that have not left their units.
    bool has_ended = false;      // A work-group of this launch has ended,
    bool has_first = false;      // and first_wg_done has said so.
    uint64_t multiply_adds = 0;  // Of work-groups that have ended.
  };
  std::array<Kernel, kGridSlots> kernels_{};
  uint64_t early_ends_ = 0;    // kernel_done with work-groups resident.
  uint64_t wrong_firsts_ = 0;  // first_wg_done missing at kernel_done, too early or twice.
  uint64_t above_peak_ = 0;    // Kernels of more multiply-adds than all units can do in their time.

  // What came back from units and is to go on, by id; a state of no bytes: from its begin.
  struct Returned {
    std::map<uint32_t, SavedGroup> groups;
    uint64_t replayed = 0;  // Dispatches to come of work-groups that were placed before.
  };
  std::array<Returned, kGridSlots> returned_;
  SaveArea save_area_;
  std::deque<Report> reports_;  // done and drained, in their order; one enters a clock.
  EventGates event_gates_;
  std::deque<uint16_t> gates_;        // To be opened; one enters a clock.
  uint64_t dispatched_at_event_ = 0;  // Work-groups dispatched when the last event came.
  bool irq_ = false;

  bool stage_open_ = true;
  uint64_t stage_running_ = 0;
  std::deque<Dispatch> held_;
  Time stage_begin_ = 0;
  uint64_t stages_ = 0;
  struct Active {
    Time first_dispatch = kNever;
    Time last_end = 0;
    uint64_t running = 0;  // Work-groups.
  };
  std::array<Active, STRETTO_ACCOUNTS> active_{};  // By the account of the kernel.

  // Work-groups of pipelines: SIMT and TENSOR ones of each unit, and what they make together.
  struct Pairs {
    std::vector<std::array<uint16_t, 2>> of_unit;
    uint32_t slots = 0;  // Kernels that are members of pipelines.
    uint32_t groups = 0;
    uint64_t units = 0;       // That hold both types, now
    uint64_t most_units = 0;  // and at most.
    Time since = 0;           // The last change.
    Time time = 0;            // With work-groups of pipelines,
    Time unit_time = 0;       // and that of units with both types, of all units.
  };
  Pairs pairs_;

  std::vector<GpuFault> faults_;
  GpuFault current_fault_;
  uint64_t fault_count_ = 0;
  uint64_t dispatched_ = 0;
  uint64_t retired_ = 0;
  uint64_t drained_ = 0;
  uint64_t suspended_ = 0;
  uint64_t resumed_ = 0;
  uint64_t passed_ = 0;     // Dispatches of work-groups that had ended before.
  uint64_t forgotten_ = 0;  // Work-groups that came back and that no launch went on with.
  uint64_t launches_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_GPU_FRONT_END_H_
