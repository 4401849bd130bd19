// SPDX-License-Identifier: Apache-2.0
// A Verilated block behind its interface: a step is one tick(). `Pins` says how the pins and the
// state inside are called:
//   static void drive(Top&, const Inputs&)                     pins of a port whose valid is low may keep their last value
//   static Inputs quiet(const Inputs&)                         the pins as they are between clocks
//   static Outputs sample(const Top&)
//   static std::optional<Snapshot> read_state(const Root&)     empty if the RTL has other signals
// Included by one translation unit a block (verilated_<block>.cpp), after Verilator's headers.
#ifndef STRETTO_PLATFORM_ADAPTERS_VERILATED_BLOCK_H_
#define STRETTO_PLATFORM_ADAPTERS_VERILATED_BLOCK_H_

#include <optional>

#include "platform/adapters/verilated_clock.h"

namespace stretto {

template <class Interface, class Top, class Pins>
class VerilatedBlock final : public Interface {
 public:
  using Inputs = typename Interface::Inputs;
  using Outputs = typename Interface::Outputs;
  using Snapshot = typename Interface::Snapshot;

  VerilatedBlock(const char* name, WaveProbe* probe) : top_(&context_, name), clock_(top_, probe) {
    reset();
  }
  ~VerilatedBlock() override { top_.final(); }

  void reset() override {
    top_.rst_i = 1;
    step(Inputs());
    top_.rst_i = 0;
  }

  Outputs step(const Inputs& in) override {
    drive(in);
    clock_.tick(in.cycle, [&] { drive(Pins::quiet(in)); });
    return Pins::sample(top_);
  }

  std::optional<Snapshot> snapshot() const override { return Pins::read_state(*top_.rootp); }

 private:
  void drive(const Inputs& in) {
    Pins::drive(top_, in);
    top_.reg_we_i = in.reg.write;
    top_.reg_re_i = in.reg.read;
    if (in.reg.write || in.reg.read) {
      top_.reg_addr_i = in.reg.address;
      top_.reg_wdata_i = in.reg.wdata;
    }
  }

  // By itself Verilator 5.006 starts a thread for each other core of the host, for each context.
  struct Context : VerilatedContext {
    Context() { threads(1); }
  };

  Context context_;
  Top top_;
  VerilatedClock<Top> clock_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_ADAPTERS_VERILATED_BLOCK_H_
