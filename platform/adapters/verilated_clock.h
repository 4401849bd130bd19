// SPDX-License-Identifier: Apache-2.0
// One clock of a Verilated block.
//
// The plain way is two evaluations, clock low and high. The low one changes nothing in a block that
// uses the rising edge only: it tells Verilator that the next rise is one. Where Verilator's record
// of the last clock level is reachable (5.006: a public member of the root module), it is set
// instead, which saves a fifth of an MCA's step. In traced builds waves want both edges. Inputs
// change before tick(), outputs are valid after it.
#ifndef STRETTO_PLATFORM_ADAPTERS_VERILATED_CLOCK_H_
#define STRETTO_PLATFORM_ADAPTERS_VERILATED_CLOCK_H_

namespace stretto {

// Call once, before the first tick().
template <typename Top>
void start_clock(Top& top) {
  top.clk_i = 0;
  top.eval();
}

template <typename Top>
void tick(Top& top) {
#ifndef STRETTO_TRACED
  if constexpr (requires { top.rootp->__Vtrigrprev__TOP__clk_i = 0; }) {
    top.clk_i = 1;
    top.rootp->__Vtrigrprev__TOP__clk_i = 0;
    top.eval();
    return;
  }
#endif
  top.clk_i = 0;
  top.eval();
  top.clk_i = 1;
  top.eval();
}

}  // namespace stretto

#endif  // STRETTO_PLATFORM_ADAPTERS_VERILATED_CLOCK_H_
