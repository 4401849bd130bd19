// SPDX-License-Identifier: Apache-2.0
// A program that ends with a word whose low half is 0: that is no success.
#include "test.h"

test_begin
  li t5, 0x100000000
  j report
test_end
