// SPDX-License-Identifier: Apache-2.0
// What an acquire and the load behind it cost a hart on machine compnet, whose private memory is behind the
// L2 (ComP-Net Table 1: 150 clocks of 1.5 GHz there and back, harts of 2 GHz): CN-R23. Clocks of the hart,
// as (clocks << 1) | 1 to tohost: the run says "test N failed", N clocks.
#include "test.h"

test_begin
  li a0, 0x90040000  // STRETTO_PRIVATE_BASE, behind code and data.
  li a1, 32
  ld a2, 0(a0)
  fence iorw, iorw
  ld a2, 0(a0)  // The L2 has the line.
  csrr s0, mcycle
1:
  fence iorw, iorw  // The fence that reaches private lines, too.
  ld a2, 0(a0)
  add a3, a2, a1  // It waits for the load.
  addi a1, a1, -1
  bnez a1, 1b
  csrr s1, mcycle
  sub s1, s1, s0
  srli s11, s1, 5
  j fail
test_end
