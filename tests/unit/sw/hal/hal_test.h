// SPDX-License-Identifier: Apache-2.0
// What the tests of sw/firmware/hal share: registers in the order of their accesses, and an end of
// the run that throws. Included once an executable.
#ifndef STRETTO_TESTS_UNIT_SW_HAL_HAL_TEST_H_
#define STRETTO_TESTS_UNIT_SW_HAL_HAL_TEST_H_

#include "tests/support/mock_mmio.h"

using stretto::test::MockMmio;

// Only report.c needs it, which these tests never reach.
extern "C" [[noreturn]] void end_run(uint64_t tohost) { throw tohost; }

#endif  // STRETTO_TESTS_UNIT_SW_HAL_HAL_TEST_H_
