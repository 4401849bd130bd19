// SPDX-License-Identifier: Apache-2.0
// The Verilated MCA behind mca_if.h. A step is one tick().
#include "Vmca.h"
#include "Vmca___024root.h"
#include "Vmca_inverted.h"
#include "Vmca_inverted___024root.h"
#include "platform/adapters/verilated_blocks.h"
#include "platform/adapters/verilated_clock.h"

namespace stretto {
namespace {

template <typename Top>
class VerilatedMca final : public Mca {
 public:
  explicit VerilatedMca(WaveProbe* probe) : top_(&context_, "mca"), clock_(top_, probe) { reset(); }
  ~VerilatedMca() override { top_.final(); }

  void reset() override {
    top_.rst_i = 1;
    step(McaInputs());
    top_.rst_i = 0;
  }

  McaOutputs step(const McaInputs& in) override {
    drive(in);
    clock_.tick(in.cycle, [&] {
      McaInputs idle;
      idle.cycle = in.cycle;
      idle.dram_parked = in.dram_parked;  // A level.
      drive(idle);
    });
    McaOutputs out;
    out.grant_compute = top_.grant_compute_o;
    out.grant_comm = top_.grant_comm_o;
    out.drain_done = top_.drain_done_o;
    out.threshold = top_.threshold_o;
    out.idle = top_.idle_o;
    out.wake_cycle = top_.wake_cycle_o;
    out.reg_rdata = top_.reg_rdata_o;
    return out;
  }

 private:
  void drive(const McaInputs& in) {
    top_.cycle_i = in.cycle & kMcaNeverWakes;
    top_.compute_push_i = in.compute_push;
    top_.comm_push_i = in.comm_push;
    top_.dram_pop_i = in.dram_pop;
    top_.dram_parked_i = in.dram_parked;
    top_.kernel_start_i = in.kernel_start;
    top_.first_wg_done_i = in.first_wg_done;
    top_.kernel_end_i = in.kernel_end;
    top_.reg_we_i = in.reg.write;
    top_.reg_re_i = in.reg.read;
    if (in.reg.write || in.reg.read) {
      top_.reg_addr_i = in.reg.address;
      top_.reg_wdata_i = in.reg.wdata;
    }
  }

  VerilatedContext context_;
  Top top_;
  VerilatedClock<Top> clock_;
};

}  // namespace

std::unique_ptr<Mca> make_verilated_mca(WaveProbe* probe) {
  return std::make_unique<VerilatedMca<Vmca>>(probe);
}

std::unique_ptr<Mca> make_verilated_inverted_mca(WaveProbe* probe) {
  return std::make_unique<VerilatedMca<Vmca_inverted>>(probe);
}

}  // namespace stretto
