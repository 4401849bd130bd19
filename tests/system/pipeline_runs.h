// SPDX-License-Identifier: Apache-2.0
// Graphs as spatial pipelines, through the executables: compiled or planned, run, what they left.
#ifndef STRETTO_TESTS_SYSTEM_PIPELINE_RUNS_H_
#define STRETTO_TESTS_SYSTEM_PIPELINE_RUNS_H_

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/process.h"

namespace stretto::test {

inline const std::string kCompile =
    "/usr/bin/python3 " STRETTO_SOURCE_DIR "/sw/compiler/compile.py ";

// A graph that names its pipelines, compiled; a workload of it.
inline std::string compiled(const Scratch& scratch, const std::string& graph) {
  const Finished finished =
      run_command(kCompile + scratch.file("g.yaml", graph) + " -o " + scratch.path + "/g");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  return scratch.file("w.yaml",
                      "machine: a100-nvswitch\nset: {gpus: 1}\nmodes: [kitsune, launched]\n"
                      "graph: {plan: " +
                          scratch.path + "/g, iterations: 1}\n");
}

// A graph whose pipelines the compiler plans for machine a100; all of them must be such that run. Python needs the ONNX
// package to write the graph of an application.
inline std::string planned(const Scratch& scratch, const std::string& graph) {
  const Finished finished =
      run_command(kCompile + graph + " --mode kitsune --machine a100 -o " + scratch.path + "/p");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  CHECK(finished.output.empty());
  return scratch.file("w.yaml", "machine: a100\nmodes: [kitsune, launched]\ngraph: {plan: " +
                                    scratch.path + "/p.graph, iterations: 1}\n");
}

// Kernels of the stages of each pipeline.
inline std::vector<std::vector<std::string>> kernels(const boost::json::value& root) {
  std::vector<std::vector<std::string>> all;
  for (const auto& group : root.at("job").at("pipelines").as_array()) {
    all.emplace_back();
    for (const auto& stage : group.at("stages").as_array())
      all.back().emplace_back(stage.at("kernel").as_string().c_str());
  }
  return all;
}

inline boost::json::value run(const std::string& workload, const std::string& options) {
  const Scratch scratch;
  const Finished finished = run_stretto("run " + workload + " --mode kitsune " + options +
                                        " --out " + scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  const auto root = stats(scratch.path + "/r");
  CHECK(root.at("check").at("elements").to_number<uint64_t>() > 100000);
  CHECK(root.at("check").at("mismatches").to_number<uint64_t>() == 0);
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
  double shares = 0;
  for (const char* of : {"both_low", "only_sm_low", "only_dram_low", "neither_low"})
    shares += root.at("utilisation").at(of).to_number<double>();
  CHECK(shares == Approx(1).epsilon(1e-5));
  return root;
}

inline std::string bits(const boost::json::value& root) {
  return root.at("job").at("results_sha256").as_string().c_str();
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SYSTEM_PIPELINE_RUNS_H_
