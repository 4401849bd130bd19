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
  const std::string sw = scratch.path + "/sw";
  REQUIRE(run_command("cp -rL " STRETTO_BUILD_DIR "/sw " + sw + " && cd " + sw + "/kernels && cp " +
                      elf + ".elf stages.elf")
              .status == 0);
  return run_stretto("run " + workload + " --mode kitsune --impl all=model " + options + " --out " +
                         (out.empty() ? scratch.path + "/r" : out),
                     "env STRETTO_SW=" + sw + " timeout 100");
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_WITH_STAGES_H_
