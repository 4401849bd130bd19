// SPDX-License-Identifier: Apache-2.0
// Graphs and workloads that a test writes down in its text. REQUIRES: STRETTO_SOURCE_DIR.
#ifndef STRETTO_TESTS_SUPPORT_GRAPH_FILE_H_
#define STRETTO_TESTS_SUPPORT_GRAPH_FILE_H_

#include <string>

#include <catch2/catch.hpp>

#include "tests/support/run_json.h"

namespace stretto::test {

// The stem of a graph of these tensors and operators, as compile.py writes it.
inline std::string compiled(const Scratch& scratch, const std::string& tensors,
                            const std::string& ops) {
  const std::string graph =
      scratch.file("g.yaml", "name: g\ntensors:\n  " + tensors + "\nops:\n  - " + ops + "\n");
  const Finished finished = run_command("python3 " STRETTO_SOURCE_DIR "/sw/compiler/compile.py " +
                                        graph + " -o " + scratch.path + "/g");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  return scratch.path + "/g";
}

// A workload of it that runs twice, launched unless another mode is asked for.
inline std::string launched(const Scratch& scratch, const std::string& plan) {
  return scratch.file("w.yaml", "machine: t3\nmodes: [launched, loop]\ngraph: {plan: " + plan +
                                    ", iterations: 2}\n");
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_GRAPH_FILE_H_
