// SPDX-License-Identifier: Apache-2.0
// The Verilated MCA behind mca_if.h.
#include "Vmca.h"
#include "Vmca___024root.h"
#include "Vmca_inverted.h"
#include "Vmca_inverted___024root.h"
#include "platform/adapters/rtl_blocks.h"
#include "platform/adapters/verilated_block.h"

namespace stretto {
namespace {

template <class Top>
struct McaPins {
  static void drive(Top& top, const McaInputs& in) {
    top.cycle_i = in.cycle & kMcaNeverWakes;
    top.compute_push_i = in.compute_push;
    top.comm_push_i = in.comm_push;
    top.dram_pop_i = in.dram_pop;
    top.dram_parked_i = in.dram_parked;
    top.kernel_start_i = in.kernel_start;
    top.first_wg_done_i = in.first_wg_done;
    top.kernel_end_i = in.kernel_end;
  }

  static McaInputs quiet(const McaInputs& in) {
    McaInputs idle;
    idle.cycle = in.cycle;
    idle.dram_parked = in.dram_parked;  // A level.
    return idle;
  }

  static McaOutputs sample(const Top& top) {
    McaOutputs out;
    out.grant_compute = top.grant_compute_o;
    out.grant_comm = top.grant_comm_o;
    out.drain_done = top.drain_done_o;
    out.threshold = top.threshold_o;
    out.idle = top.idle_o;
    out.wake_cycle = top.wake_cycle_o;
    out.reg_rdata = top.reg_rdata_o;
    return out;
  }

  template <class Root>
  static std::optional<McaSnapshot> read_state(const Root& root) {
    if constexpr (requires {
                    root.mca__DOT__grants_compute_q;
                    root.mca__DOT__grants_comm_q;
                    root.mca__DOT__grants_starved_q;
                    root.mca__DOT__drains_q;
                  }) {
      return McaSnapshot{.grants_compute = root.mca__DOT__grants_compute_q,
                         .grants_comm = root.mca__DOT__grants_comm_q,
                         .grants_starved = root.mca__DOT__grants_starved_q,
                         .drains = root.mca__DOT__drains_q,
                         .limit = root.threshold_o};
    } else {
      return std::nullopt;
    }
  }
};

}  // namespace

std::unique_ptr<Mca> make_verilated_mca(WaveProbe* probe) {
  return std::make_unique<VerilatedBlock<Mca, Vmca, McaPins<Vmca>>>("mca", probe);
}

std::unique_ptr<Mca> make_verilated_inverted_mca(WaveProbe* probe) {
  return std::make_unique<VerilatedBlock<Mca, Vmca_inverted, McaPins<Vmca_inverted>>>("mca", probe);
}

}  // namespace stretto
