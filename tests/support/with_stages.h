// SPDX-License-Identifier: Apache-2.0
// Runs a graph with other stages than those that are shipped.
#ifndef STRETTO_TESTS_SUPPORT_WITH_STAGES_H_
#define STRETTO_TESTS_SUPPORT_WITH_STAGES_H_

#include <string>

#include <catch2/catch.hpp>

#include "tests/system/process.h"

namespace stretto::test {

// Results go to `out`; "" = nobody looks at them.
inline Finished with_stages(const std::string& elf, const std::string& options = "",
                            const std::string& workload = "graph/pipeline",
                            const std::string& out = "") {
  const Scratch scratch;
  return run_stretto("run " + workload + " --mode kitsune --impl all=model " + options + " --out " +
                         (out.empty() ? scratch.path + "/r" : out),
                     "env STRETTO_SW=" + software_with(scratch, elf, "stages") + " timeout 100");
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_WITH_STAGES_H_
