// SPDX-License-Identifier: Apache-2.0
// The Verilated grid scheduler behind grid_scheduler_if.h. A step is one tick().
#include "Vgrid_scheduler.h"
#include "Vgrid_scheduler___024root.h"
#include "platform/adapters/verilated_blocks.h"
#include "platform/adapters/verilated_clock.h"

namespace stretto {
namespace {

class VerilatedGridScheduler final : public GridScheduler {
 public:
  explicit VerilatedGridScheduler(WaveProbe* probe)
      : top_(&context_, "grid_scheduler"), clock_(top_, probe) {
    VerilatedGridScheduler::reset();
  }
  ~VerilatedGridScheduler() override { top_.final(); }

  void reset() override {
    top_.rst_i = 1;
    step(GridSchedulerInputs());
    top_.rst_i = 0;
  }

  GridSchedulerOutputs step(const GridSchedulerInputs& in) override {
    drive(in);
    clock_.tick(in.cycle, [&] { drive(GridSchedulerInputs()); });
    GridSchedulerOutputs out;
    out.dispatch_valid = top_.dispatch_valid_o;
    out.dispatch_cu = top_.dispatch_cu_o;
    out.dispatch_slot = top_.dispatch_slot_o;
    out.dispatch_wg_id = top_.dispatch_wg_id_o;
    out.kernel_start = top_.kernel_start_o;
    out.first_wg_done = top_.first_wg_done_o;
    out.kernel_done = top_.kernel_done_o;
    out.start_slot = top_.start_slot_o;
    out.done_slot = top_.done_slot_o;
    out.refused = top_.refused_o;
    out.drained_ready = top_.drained_ready_o;
    out.preempt_valid = top_.preempt_valid_o;
    out.preempt_slot = top_.preempt_slot_o;
    out.irq = top_.irq_o;
    out.idle = top_.idle_o;
    out.reg_rdata = top_.reg_rdata_o;
    return out;
  }

 private:
  void drive(const GridSchedulerInputs& in) {
    top_.done_valid_i = in.done_valid;
    top_.drained_valid_i = in.drained_valid;
    if (in.done_valid || in.drained_valid) {
      top_.done_cu_i = in.done_cu;
      top_.done_slot_i = in.done_slot;
      top_.drained_wg_id_i = in.drained_wg_id;
    }
    top_.event_valid_i = in.event_valid;
    top_.event_gate_i = in.event_gate;
    top_.reg_we_i = in.reg.write;
    top_.reg_re_i = in.reg.read;
    if (in.reg.write || in.reg.read) {
      top_.reg_addr_i = in.reg.address;
      top_.reg_wdata_i = in.reg.wdata;
    }
  }

  VerilatedContext context_;
  Vgrid_scheduler top_;
  VerilatedClock<Vgrid_scheduler> clock_;
};

}  // namespace

std::unique_ptr<GridScheduler> make_verilated_grid_scheduler(WaveProbe* probe) {
  return std::make_unique<VerilatedGridScheduler>(probe);
}

}  // namespace stretto
