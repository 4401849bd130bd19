// SPDX-License-Identifier: Apache-2.0
// A program whose check 3 fails: what a run must report.
#include "test.h"

test_begin
  li a0, 5
  check 1, a0, 5
  check 3, a0, 6
test_end
