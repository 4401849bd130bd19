// SPDX-License-Identifier: Apache-2.0
// Question: do weights with masters of FP32 keep what FP16 alone loses, in loop kernels and in launched ones, to the
// roundings of FP32; does an update move the bytes that it must and no more; and is an update that is wrong found out?
// Through the executable.
#include <catch2/catch.hpp>

#include <utility>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

constexpr uint64_t kSteps = 1501;  // Elements of the bias of graph/small-steps.
// Of graph/bert-small, hidden size 128: four projections, two of four times the size, and their biases.
constexpr uint64_t kBert = 12 * 128 * 128 + 9 * 128;

Finished with_update(const std::string& elf, const std::string& run) {
  const Scratch scratch;
  return run_stretto(
      "run " + run + " --mode launched --impl all=model --out " + scratch.path + "/r",
      "env STRETTO_SW=" + software_with(scratch, elf, "ops_update") + " timeout 100");
}

void expect_right(const std::string& options) {
  INFO(options);
  const auto root = run_correctly("graph/bert-small-master " + options);
  CHECK(root.number("job.updates.weights") == kBert);
  CHECK(root.number("job.updates.master_bytes") == 4 * kBert);
  CHECK(root.real("check.max_error") > 0);
}

}  // namespace

TEST_CASE("weights with masters have the numbers of double precision whatever runs them") {
  expect_right("--mode loop --set graph.iterations=2");
  expect_right("--mode launched --set graph.iterations=1");
}

TEST_CASE("weights with masters have them after one and two iterations in all modes", "[.long]") {
  for (const char* mode :
       {"--mode loop", "--mode launched", "--mode launched-after --impl all=model",
        "--mode loop-s --set gpus=3 --impl all=model",
        "--mode loop --set gpus=1 --impl all=model"}) {
    for (const char* iterations : {"1", "2"})
      expect_right(std::string(mode) + " --set graph.iterations=" + iterations);
  }
}

// Half an ulp of the bias is 2^-12, no update is half as large.
TEST_CASE("updates that FP16 alone loses arrive in masters") {
  for (const std::string mode : {"loop", "launched"}) {
    INFO(mode);
    const std::string run = "graph/small-steps --impl all=model --mode " + mode;
    const auto lost = run_correctly(run),
               kept = run_correctly(run + " --set graph.plan=small-steps-master");
    CHECK(lost.number("job.updates.weights") == kSteps);
    CHECK(lost.number("job.updates.weights_moved") == 0);
    // Each to the roundings of 64 updates in FP32: the check. Some gradients are 0.
    CHECK(kept.number("job.updates.masters_moved") >= kSteps * 99 / 100);
    CHECK(kept.number("job.updates.weights_moved") >= kSteps / 2);
  }
}

// The L2 holds all of it: masters come from DRAM once, and go there once.
TEST_CASE("a master costs four bytes of DRAM each way, and no weight is read for its update") {
  const std::string rest = " --mode launched --impl all=model --set gpus=1";
  const auto with = run_correctly("graph/bert-small-master" + rest),
             without = run_correctly("graph/bert-small" + rest);
  for (const std::string direction : {"read", "write"}) {
    const std::string key = "dram_bytes.compute_" + direction;
    CHECK(with.number(key) == without.number(key) + 4 * kBert);
  }
}

TEST_CASE("masters that cannot be are refused before the run") {
  const std::string compiler = "python3 " STRETTO_SOURCE_DIR "/sw/compiler/compile.py ";
  const std::string tensors =
      "tensors: {x: {shape: [7, 5], kind: input}, w: {shape: [7, 5], kind: weight}, "
      "m: {shape: [7, 5], kind: master}, n: {shape: [35], kind: master}, "
      "d: {shape: [7, 5], kind: gradient}}\n";
  const std::string gradient = "{op: Mul, in: [x, x], out: d}";
  const std::pair<std::string, const char*> cases[] = {
      {"ops: [" + gradient + "]\nmaster_weights: true\n", "has no Update"},
      {"ops: [" + gradient + "]\nmaster_weights: 1.5\n", "master_weights 1.5 must be true or"},
      {"ops: [" + gradient + ", {op: Update, in: [w, d, x], out: w}]\n",
       "x is of kind input, must"},
      {"ops: [" + gradient + ", {op: Update, in: [w, d, m], out: w}]\n", "n: no Update takes"},
      {"ops: [" + gradient + ", {op: Update, in: [w, d, n], out: w}]\n", "n is [35], w is [7, 5]"},
      {"ops: [{op: Mul, in: [x, m], out: d}]\n", "m is of kind master, which the Update"},
  };
  for (const auto& [ops, says] : cases) {
    const Scratch scratch;
    const std::string graph = scratch.file("g.yaml", "name: g\n" + tensors + ops);
    const Finished refused = run_command(compiler + graph + " -o " + scratch.path + "/g");
    INFO(refused.output);
    CHECK(refused.status == 2);
    CHECK(refused.lines() == 1);
    CHECK(refused.says(says));
  }
  const Finished refused = run_command(compiler + STRETTO_SOURCE_DIR
                                       "/sw/compiler/graphs/pipeline.yaml --master-weights --list");
  CHECK(refused.status == 2);
  CHECK(refused.says("pipeline.yaml: has no Update"));
}

TEST_CASE("updates of masters that are wrong are found out") {
  for (const auto& [elf, says] : {std::pair("update_from_weight", "tensor b.master"),
                                  std::pair("update_rounds_master", "tensor b.master"),
                                  std::pair("update_keeps_weight", "tensor y")}) {
    const Finished finished = with_update(
        elf, "graph/small-steps --set graph.plan=small-steps-master --set graph.iterations=8");
    INFO(elf << ": " << finished.output);
    CHECK(finished.status == 1);
    CHECK(finished.says(std::string("wrong data: rank 0 ") + says));
  }
}
