// SPDX-License-Identifier: Apache-2.0
// The Verilated grid scheduler behind grid_scheduler_if.h.
#include "Vgrid_scheduler.h"
#include "Vgrid_scheduler___024root.h"
#include "platform/adapters/rtl_blocks.h"
#include "platform/adapters/verilated_block.h"

namespace stretto {
namespace {

struct GridSchedulerPins {
  static void drive(Vgrid_scheduler& top, const GridSchedulerInputs& in) {
    top.done_valid_i = in.done_valid;
    top.drained_valid_i = in.drained_valid;
    if (in.done_valid || in.drained_valid) {
      top.done_cu_i = in.done_cu;
      top.done_slot_i = in.done_slot;
      top.drained_wg_id_i = in.drained_wg_id;
    }
    top.event_valid_i = in.event_valid;
    top.event_gate_i = in.event_gate;
  }

  static GridSchedulerInputs quiet(const GridSchedulerInputs&) { return {}; }

  static GridSchedulerOutputs sample(const Vgrid_scheduler& top) {
    GridSchedulerOutputs out;
    out.dispatch_valid = top.dispatch_valid_o;
    out.dispatch_cu = top.dispatch_cu_o;
    out.dispatch_slot = top.dispatch_slot_o;
    out.dispatch_wg_id = top.dispatch_wg_id_o;
    out.kernel_start = top.kernel_start_o;
    out.first_wg_done = top.first_wg_done_o;
    out.kernel_done = top.kernel_done_o;
    out.start_slot = top.start_slot_o;
    out.done_slot = top.done_slot_o;
    out.refused = top.refused_o;
    out.drained_ready = top.drained_ready_o;
    out.preempt_valid = top.preempt_valid_o;
    out.preempt_slot = top.preempt_slot_o;
    out.irq = top.irq_o;
    out.idle = top.idle_o;
    out.reg_rdata = top.reg_rdata_o;
    return out;
  }

  template <class Root>
  static std::optional<GridSchedulerSnapshot> read_state(const Root& root) {
    if constexpr (requires {
                    root.grid_scheduler__DOT__u_progress__DOT__closed_q;
                    root.grid_scheduler__DOT__u_progress__DOT__running_q;
                    root.grid_scheduler__DOT__u_slots__DOT__gated_q;
                    root.grid_scheduler__DOT__u_progress__DOT__gate_q[0];
                    root.grid_scheduler__DOT__u_progress__DOT__undispatched_q[0];
                  }) {
      GridSchedulerSnapshot state;
      // The bit of a slot that has ended stands until the next event or launch, and means nothing in
      // a pipeline, whose slots have no gates.
      state.closed = root.grid_scheduler__DOT__u_progress__DOT__closed_q &
                     root.grid_scheduler__DOT__u_progress__DOT__running_q &
                     root.grid_scheduler__DOT__u_slots__DOT__gated_q;
      for (unsigned slot = 0; slot < kGridSlots; ++slot) {
        if ((state.closed >> slot & 1) == 0) continue;
        state.gate[slot] = root.grid_scheduler__DOT__u_progress__DOT__gate_q[slot];
        state.undispatched[slot] = root.grid_scheduler__DOT__u_progress__DOT__undispatched_q[slot];
      }
      return state;
    } else {
      return std::nullopt;
    }
  }
};

}  // namespace

std::unique_ptr<GridScheduler> make_verilated_grid_scheduler(WaveProbe* probe) {
  return std::make_unique<VerilatedBlock<GridScheduler, Vgrid_scheduler, GridSchedulerPins>>(
      "grid_scheduler", probe);
}

}  // namespace stretto
