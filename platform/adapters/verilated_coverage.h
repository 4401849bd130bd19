// SPDX-License-Identifier: Apache-2.0
// Builds with the CMake option STRETTO_COVERAGE (tests/coverage.sh).
#ifndef STRETTO_PLATFORM_ADAPTERS_VERILATED_COVERAGE_H_
#define STRETTO_PLATFORM_ADAPTERS_VERILATED_COVERAGE_H_

#include <verilated.h>

namespace stretto {

// Writes what the block's RTL has met to a file of its own in the folder STRETTO_COVERAGE_DIR.
void keep_coverage(VerilatedContext& context);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_ADAPTERS_VERILATED_COVERAGE_H_
