// SPDX-License-Identifier: Apache-2.0
// Question: does one launch of a generated loop kernel run a whole operator graph many times, with
// the numbers that double precision gives, on any number of GPUs and with either engine, and is
// what does not fit said before? Through the executable.
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

uint64_t statistic(const RunResult& root, const std::string& path) {
  return root.number("statistics." + path);
}

// The times between two kernels that followed each other, ns, of a launched chain of four operators
// on rows x 1024 elements. Kernels of one stream: a thread of the timeline for each slot.
std::vector<uint64_t> gaps(unsigned rows) {
  const Scratch scratch;
  const std::string shape = "{shape: [" + std::to_string(rows) + ", 1024]";
  const std::string graph = scratch.file(
      "g.yaml", "name: chain\ntensors:\n  a: " + shape + ", kind: input}\n  b: " + shape +
                    "}\n  c: " + shape + "}\n  d: " + shape + "}\n  e: " + shape +
                    "}\nops:\n  - {op: Gelu, in: [a], out: b}\n" +
                    "  - {op: Gelu, in: [b], out: c}\n" + "  - {op: Gelu, in: [c], out: d}\n" +
                    "  - {op: Gelu, in: [d], out: e}\n");
  const Finished compiled = run_command("python3 " STRETTO_SOURCE_DIR "/sw/compiler/compile.py " +
                                        graph + " -o " + scratch.path + "/chain");
  INFO(compiled.output);
  REQUIRE(compiled.status == 0);
  const std::string workload = scratch.file(
      "w.yaml", "machine: t3\nset: {gpus: 1, \"gpu.tile_values\": false}\nmodes: [launched]\n" +
                    std::string("graph: {plan: ") + scratch.path + "/chain, iterations: 2}\n");
  const Finished run =
      run_stretto("run " + workload + " --impl all=model --timeline --out " + scratch.path + "/r");
  INFO(run.output);
  REQUIRE(run.status == 0);
  std::ifstream stream(scratch.path + "/r/timeline.json");
  std::ostringstream text;
  text << stream.rdbuf();
  const boost::json::value timeline = boost::json::parse(text.str());
  std::vector<std::pair<uint64_t, uint64_t>> kernels;
  for (const auto& event : timeline.as_array()) {
    if (event.at("ph").as_string() != "X") continue;
    if (event.at("name").as_string().find("graph_rows slot ") == std::string::npos) continue;
    const double begin = event.at("ts").to_number<double>() * 1000;
    kernels.emplace_back(begin, begin + event.at("dur").to_number<double>() * 1000);
  }
  std::sort(kernels.begin(), kernels.end());
  std::vector<uint64_t> found;
  for (size_t i = 1; i < kernels.size(); ++i)
    found.push_back(kernels[i].first - kernels[i - 1].second);
  return found;
}

}  // namespace

TEST_CASE("the gap of two dependent kernels is that of an empty L2, whatever is dirty") {
  // 64 KB, 2 MB and 12 MB of output an operator; the L2 holds 16 MB.
  for (const unsigned rows : {32u, 1024u, 6144u}) {
    const std::vector<uint64_t> all = gaps(rows);
    CHECK(all.size() == 2 * 4 - 1);
    for (const uint64_t gap : all) {
      INFO(rows << " rows");
      CHECK(gap <= 2200);
    }
  }
}

TEST_CASE("a graph gives the numbers of double precision whatever runs it", "[GD-LOOP-02]") {
  for (const char* graph : {"graph/mlp", "graph/bert-small"}) {
    for (const char* rest :
         {"--set gpus=1", "--mode loop", "--mode loop-s", "--mode launched",
          "--mode launched-after", "--mode loop --set gpus=3",
          // A communicator larger than all that a loop kernel is given.
          "--mode launched --set software.channels=32 --set software.slot_bytes=65536"}) {
      const auto root = run_correctly(std::string(graph) + " " + rest);
      CHECK(root.real("check.error_bound") == 1);
      CHECK(root.real("check.max_error") > 0);
    }
  }
}

TEST_CASE(
    "a hundred iterations give the numbers of double precision, weights that hardly move "
    "included") {
  const auto root = run_correctly("graph/mlp --set gpus=1 --set graph.iterations=100");
  CHECK(root.real("check.max_error") < 0.5);
}

TEST_CASE("a graph runs many times with one launch and no word of the host in between",
          "[GD-LOOP-01][GD-LOOP-03]") {
  const auto few = run_correctly("graph/mlp --set gpus=2"),
             alone = run_correctly("graph/mlp --set gpus=1");
  // Kernels that the scheduler of a GPU was given.
  CHECK(statistic(few, "gpu0.compute.front_end.launches") == 1);
  CHECK(statistic(alone, "gpu0.compute.front_end.launches") == 1);
  const auto& times = few.at("job.iteration_ns").as_array();
  REQUIRE(times.size() == 2);
  for (const auto& time : times) CHECK(time.to_number<uint64_t>() > 0);
  // The ring moves 2 (N - 1) / N of the gradients a GPU and iteration, in whole units.
  const uint64_t bytes = 300 * 70 * 2, units = (bytes + 8191) / 8192;
  CHECK(statistic(few, "gpu0.request_ring.transfers") ==
        2 * 2 * 2);  // Iterations, halves, work-groups.
  CHECK(few.number("link_bytes") >= 2 * 2 * units * 8192);
}

TEST_CASE("what operators lose is measured inside reductions", "[GD-MMIO-03]") {
  // Each operator of the first iteration is as long as of the last, but for those beside reductions.
  const auto run = run_correctly(
      "graph/bert-small --mode launched --machine v100-pcie --set gpus=2 --set "
      "graph.baseline=true");
  const double lost = run.real("job.lost_percent");
  CHECK(lost > 0);
  CHECK(lost < 50);
  double before = 0;
  for (const auto& end : run.at("job.op_end_us").as_array()) {
    CHECK(end.to_number<double>() > before);
    before = end.to_number<double>();
  }
  for (const auto& bucket : run.at("job.buckets").as_array()) {
    const double begin = bucket.at("begin_us").to_number<double>();
    CHECK(begin > 0);
    CHECK(bucket.at("end_us").to_number<double>() > begin);
    CHECK(begin < before);  // An operator is left that runs beside it.
  }
}

TEST_CASE(
    "an operator that is a kernel of its own ends with its last work-group, of which a unit has "
    "several") {
  const Scratch scratch;
  const std::string graph =
      scratch.file("g.yaml",
                   "name: one\ntensors:\n  x: {shape: [2048, 1024], kind: input}\n"
                   "  w: {shape: [1024, 2048], kind: weight}\n  y: {shape: [2048, 2048]}\n"
                   "  z: {shape: [2048, 2048]}\nops:\n  - {op: MatMul, in: [x, w], out: y}\n"
                   "  - {op: Gelu, in: [y], out: z}\n");
  REQUIRE(run_command("python3 " STRETTO_SOURCE_DIR "/sw/compiler/compile.py " + graph + " -o " +
                      scratch.path + "/one")
              .status == 0);
  const auto run = run_correctly(scratch.file(
      "w.yaml",
      "machine: a100-nvswitch\nset: {gpus: 1, gpu.tile_values: false, software.launch_ns: 0}\n"
      "modes: [launched]\ngraph: {plan: " +
          scratch.path + "/one, iterations: 2}\n"));
  const auto& ends = run.at("job.op_end_us").as_array();
  REQUIRE(ends.size() == 2);
  const double product = ends[0].to_number<double>(), map = ends[1].to_number<double>() - product;
  // 256 tiles of 128 x 128 on 108 units: three in turn, K = 1024 at 4/5 of 1024 multiply-adds a clock of 1410 MHz; less
  // than a quarter more for what is around them.
  const double least = 3 * 128 * 128 * 1024 / (0.8 * 1024) / 1410;
  CHECK(product > least);
  CHECK(product < 1.25 * least + 2.5);  // The launch, SI-LAUNCH-01.
  // 16.8 MB at 1555 GB/s, written into an L2 that holds them, and a launch: one work-group a unit took twice that.
  CHECK(map < 16);
}

TEST_CASE("without values a graph takes the same time") {
  const auto with = run_correctly("graph/mlp"),
             without = run_correctly("graph/mlp --set gpu.tile_values=false");
  CHECK(with.at("job.iteration_ns") == without.at("job.iteration_ns"));
}

TEST_CASE("what does not fit a graph is said before the run") {
  const Scratch scratch;
  const auto bad = [&](const std::string& arguments, const std::string& says) {
    const Finished finished = run_stretto("run " + arguments);
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(says));
  };
  const auto workload = [&](const std::string& graph) {
    return scratch.file("w.yaml", "machine: t3\nmodes: [loop]\ngraph: {" + graph + "}\n");
  };
  bad(workload(""), "needs plan");
  bad(workload("plan: nothing"), "nothing.json");
  bad(workload("plan: " + scratch.file("x.json", "{}").substr(0, scratch.path.size() + 2)),
      "the plan has no 'name'");
  bad("graph/bert-large-1 --set gpu.tile_values=true", "GFLOP");
  bad("graph/mlp --set graph.baseline=true --set graph.iterations=1", "iterations of at least 2");
  bad("graph/mlp --set gpu.cus=2 --set gpus=2", "resident at once");
  bad("graph/bert-large-2 --set software.memory_gib=1", "software.memory_gib");
  bad("graph/mlp --set sim.mirror=true", "sim.mirror");
}
