// SPDX-License-Identifier: Apache-2.0
// Question: is every pipeline that cannot be, or cannot go on, refused or ended with the culprit? One list; each row was
// some user's mistake or bad luck. Through the executable and the compiler.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/onnx_net.h"
#include "tests/support/with_stages.h"
#include "tests/system/process.h"

using namespace stretto::test;

namespace {

const std::string kCompile = "/usr/bin/python3 " STRETTO_SOURCE_DIR "/sw/compiler/compile.py ";

// One line, exit 2, and the line says what it must.
void refused(const Finished& finished, const std::vector<std::string>& says) {
  INFO(finished.output);
  CHECK(finished.status == 2);
  CHECK(finished.lines() == 1);
  for (const std::string& text : says) CHECK(finished.says(text));
}

void plan_refused(const std::string& arguments, const std::vector<std::string>& says) {
  INFO(arguments);
  refused(run_command(kCompile + arguments), says);
}

void run_refused(const std::string& arguments, const std::vector<std::string>& says,
                 const std::string& before = "timeout 100") {
  const Scratch scratch;
  INFO(arguments);
  refused(
      run_stretto("run " + arguments + " --impl all=model --out " + scratch.path + "/r", before),
      says);
}

// A graph that names its pipeline, on 700 rows of 64 elements: `ops` in order, one tensor each.
std::string graph(const Scratch& scratch,
                  const std::vector<std::pair<std::string, std::string>>& ops,
                  const std::string& pipeline) {
  std::string tensors = "name: g\ntensors:\n  x: {shape: [700, 64], kind: input}\n", all = "ops:\n";
  for (const auto& [out, op] : ops) {
    tensors += "  " + out + ": {shape: [700, 64]}\n";
    all += "  - {" + op + ", out: " + out + "}\n";
  }
  return scratch.file("g.yaml", tensors + all + "pipelines:\n  - " + pipeline + "\n");
}

// A workload of it.
std::string workload(const Scratch& scratch, const std::string& graph) {
  const Finished finished = run_command(kCompile + graph + " -o " + scratch.path + "/g");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  return scratch.file("w.yaml", "machine: a100\nset: {gpus: 1}\nmodes: [kitsune]\ngraph: {plan: " +
                                    scratch.path + "/g, iterations: 1}\n");
}

// a goes to y at once and through n.
const std::vector<std::pair<std::string, std::string>> kFork{
    {"a", "op: Neg, in: [x]"}, {"n", "op: Neg, in: [a]"}, {"y", "op: Add, in: [n, a]"}};

}  // namespace

TEST_CASE("work-groups that can never be resident at once are refused, not waited for",
          "[KT-SCHED-02]") {
  const Scratch scratch;
  const std::string file = scratch.file(
      "g.yaml",
      "name: g\ntensors:\n  x: {shape: [14000, 64], kind: input}\n  w: {shape: [64, 64], kind: "
      "weight}\n  y: {shape: [14000, 64]}\nops:\n  - {op: MatMul, in: [x, w], out: y}\n"
      "pipelines:\n  - {stages: {y: 109}}\n");
  // Each keeps its weights in LDS, so a unit has room for one.
  run_refused(workload(scratch, file),
              {"the pipeline of y can never be resident: 109 work-groups of stage y need 182272 of "
               "registers_bytes each",
               "108 units have 262144 each, room for 108"});
}

TEST_CASE("more stages than slots are refused, named by who planned them") {
  const Scratch scratch;
  std::vector<std::pair<std::string, std::string>> ops;
  std::string stages, in = "x";
  for (unsigned i = 0; i < 33; ++i) {
    ops.emplace_back("t" + std::to_string(i), "op: Neg, in: [" + in + "]");
    in = ops.back().first;
    stages += (i == 0 ? "" : ", ") + in + ": 1";
  }
  plan_refused(graph(scratch, ops, "{stages: {" + stages + "}}") + " -o " + scratch.path + "/g",
               {"operators 0 to 32: 33 stages, the scheduler has slots for 32"});
  // The compiler has said why before.
  const Finished planned = run_stretto("run nerf:rows=300,depth=40 --out " + scratch.path + "/r");
  INFO(planned.output);
  CHECK(planned.status == 2);
  CHECK(planned.lines() == 2);
  CHECK(
      planned.says("has no pipeline that can be run: pipeline p0: operators 0 to 87: 47 stages, "
                   "the scheduler has slots for 32"));
}

TEST_CASE("queues beyond the share of the L2 that may be pinned are refused") {
  // a100: 7 of 10 ways of 40 MiB.
  plan_refused("nerf:rows=131072 --mode kitsune --report --depth 1000",
               {"the pipeline of p0: its queues take ", "29360128 of the L2 may be pinned"});
  run_refused("machine/queue --set gpus=1 --set l2.persist_percent=1",
              {"l2.persist_percent leaves nothing for pinned lines"});
}

TEST_CASE("an operator that there is not, and rows that are not known, are refused by name") {
  const Scratch scratch, other;
  run_refused(net(scratch, "Selu"), {"a (Selu)", "not supported; nearest: Silu"});
  run_refused(net(other, "Relu", "\\\"batch\\\""), {"tensor x", "not static"});
}

TEST_CASE("a forced group that is not contiguous is refused with the way that leaves it") {
  plan_refused("nerf: --mode kitsune --report --group p0,p2",
               {"group of p0, p2 is not contiguous: p0 leaves it, p1.a comes back into p2"});
  const Scratch scratch;
  plan_refused(graph(scratch, kFork, "{stages: {a: 1, y: 1}}") + " -o " + scratch.path + "/g",
               {"pipeline 0 is not contiguous: n is between a and y"});
}

TEST_CASE("a queue too short for two ways that meet again is refused with the cycle") {
  plan_refused(
      "nerf: --mode kitsune --report --queue density=1",
      {"the pipeline of p0 cannot move: queues ", "density (depth 1: density waits for entries)",
       "colour (depth 2: result waits for tiles)", "v.a (depth 2: colour waits for tiles)"});
}

// Stages that give a tile back when they have the next one, as Kitsune's do, and nobody who has looked at depths: a
// waits until y has read tile 0, y for n, n for tile 1 of a.
TEST_CASE(
    "a queue too short for two ways that meet again is a deadlock that names stages and words") {
  const Scratch scratch;
  const std::string file =
      workload(scratch, graph(scratch, kFork, "{stages: {a: 1, n: 1, y: 1}, depth: 1}"));
  const Finished shipped =
      run_stretto("run " + file + " --impl all=model --out " + scratch.path + "/r");
  INFO(shipped.output);
  CHECK(shipped.status == 0);
  const Finished stuck = with_stages("stages_takes_next", "", file);
  INFO(stuck.output);
  CHECK(stuck.status == 1);
  CHECK(stuck.says("deadlock"));
  const auto waits = [&](const std::string& stage, const std::string& what) {
    return stuck.says("(stage " + stage + ") waits until memory at 0x") && stuck.says(what);
  };
  CHECK(waits("a", ">= 8, it is 0 (queue a, entry 0, free)"));
  CHECK(waits("n", ">= 8, it is 4 (queue a, entry 0, full)"));
  CHECK(waits("y", ">= 4, it is 0 (queue n, entry 0, full)"));
}

TEST_CASE("a profile of another graph, machine or parameters is refused") {
  const Scratch scratch;
  const std::string file = net(scratch), first = scratch.path + "/first";
  REQUIRE(run_stretto("run " + file + " --impl all=model --out " + first).status == 0);
  const std::string profile = " --profile " + first + "/profile.json";
  run_refused("nerf:rows=300" + profile, {"is of graph"});
  run_refused(file + profile + " --machine a100-nvswitch --set gpus=1", {"is of machine 'a100'"});
  run_refused(file + profile + " --set l2.memory_cycles=100", {"is of set []"});
}

TEST_CASE("without a solver a plan of pipelines is refused with the package") {
  const Scratch scratch;
  run_refused(net(scratch), {"glpsol is not installed", "glpk-utils"}, "env PATH=/nowhere");
}

TEST_CASE("a work-group that faults in the middle of a graph's pipeline ends the run by name") {
  const Scratch scratch;
  const Finished finished = with_stages("stages_wild", "", "graph/pipeline", scratch.path + "/r");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(
      finished.says("unmapped_store at 0x1fffffff000: no range entry holds it, in stage_map_add+"));
  const auto root = stats(scratch.path + "/r");
  CHECK(root.at("status").as_string() == "failed");
  CHECK(root.at("statistics").at("gpu0.compute.front_end.dispatched").to_number<uint64_t>() >= 9);
}

TEST_CASE("SIGINT in the middle of a graph's pipeline leaves complete results") {
  const Scratch scratch;
  const Finished finished = run_stretto(
      "run nerf:rows=524288 --impl all=model --set gpu.tile_values=false --timeline --out " +
          scratch.path + "/r",
      "timeout --preserve-status -s INT 12");
  INFO(finished.output);
  CHECK(finished.status == 130);
  const auto root = stats(scratch.path + "/r");
  CHECK(root.at("status").as_string() == "interrupted");
  const auto& statistics = root.at("statistics").as_object();
  CHECK(statistics.at("gpu0.compute.front_end.dispatched").to_number<uint64_t>() > 15);
  CHECK(statistics.at("gpu0.compute.l2.pinned_written").to_number<uint64_t>() > 0);
  CHECK(statistics.at("gpu0.compute.front_end.retired").to_number<uint64_t>() == 0);
  const Finished drawn =
      run_command("/usr/bin/python3 " STRETTO_SOURCE_DIR "/tests/support/timeline_check.py " +
                  scratch.path + "/r/timeline.json --expect queue");
  INFO(drawn.output);
  CHECK(drawn.status == 0);
}
