// SPDX-License-Identifier: Apache-2.0
// Question: does one launch of a generated loop kernel run a whole operator graph many times, with
// the numbers that double precision gives, on any number of GPUs and with either engine, and is
// what does not fit said before? Through the executable.
#include <algorithm>
#include <cmath>
#include <cstdio>
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

// The stem of a graph of these tensors and operators, as compile.py writes it.
std::string compiled(const Scratch& scratch, const std::string& tensors, const std::string& ops) {
  const std::string graph =
      scratch.file("g.yaml", "name: g\ntensors:\n  " + tensors + "\nops:\n  - " + ops + "\n");
  const Finished finished = run_command("python3 " STRETTO_SOURCE_DIR "/sw/compiler/compile.py " +
                                        graph + " -o " + scratch.path + "/g");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  return scratch.path + "/g";
}

// A workload of it that runs twice, launched unless another mode is asked for.
std::string launched(const Scratch& scratch, const std::string& plan) {
  return scratch.file("w.yaml", "machine: t3\nmodes: [launched, loop]\ngraph: {plan: " + plan +
                                    ", iterations: 2}\n");
}

// The kernel that roofline calls 256x128x64x3.
std::string name_of(const std::string& how) {
  unsigned m = 0, n = 0, k = 0, stages = 0;
  REQUIRE(std::sscanf(how.c_str(), "%ux%ux%ux%u", &m, &n, &k, &stages) == 4);
  return "gemm_fp16_" + std::to_string(m) + "x" + std::to_string(n) + "_k" + std::to_string(k) +
         "_s" + std::to_string(stages);
}

// The times between two kernels that followed each other, ns, of a launched chain of four operators
// on rows x 1024 elements, bound by the SIMT pipe. Kernels of one stream: a thread of the timeline for each slot.
std::vector<uint64_t> gaps(unsigned rows) {
  const Scratch scratch;
  const std::string shape = ": {shape: [" + std::to_string(rows) + ", 1024]";
  const std::string plan =
      compiled(scratch,
               "a" + shape + ", kind: input}\n  b" + shape + "}\n  c" + shape + "}\n  d" + shape +
                   "}\n  e" + shape + "}",
               "{op: GeluGrad, in: [a, a], out: b}\n  - {op: GeluGrad, in: [b, b], out: c}\n"
               "  - {op: GeluGrad, in: [c, c], out: d}\n  - {op: GeluGrad, in: [d, d], out: e}");
  const std::string workload = launched(scratch, plan);
  const Finished run = run_stretto("run " + workload +
                                   " --impl all=model --set gpus=1 --set gpu.tile_values=false " +
                                   "--timeline --out " + scratch.path + "/r");
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
    "a launched product is the kernel that the library chooses for machine and shape, and as "
    "fast") {
  // A linear layer of BERT-Large, batch 10; of a peak of 312 and 125 TFLOP/s (data sheets).
  const std::pair<const char*, double> machines[] = {{"a100-nvswitch", 312}, {"v100-pcie", 125}};
  const Scratch scratch;
  const std::string plan =
      compiled(scratch,
               "x: {shape: [3840, 1024], kind: input}\n"
               "  w: {shape: [1024, 4096], kind: weight}\n  b: {shape: [4096], kind: weight}\n"
               "  p: {shape: [3840, 4096]}\n  y: {shape: [3840, 4096]}\n  z: {shape: [3840, 4096]}",
               "{op: MatMul, in: [x, w], out: p}\n  - {op: Add, in: [p, b], out: y}\n"
               "  - {op: Mul, in: [y, y], out: z}");
  for (const auto& [machine, peak] : machines) {
    INFO(machine);
    const std::string one = std::string(" --impl all=model --set gpus=1 --set ") +
                            "gpu.tile_values=false --machine " + machine;
    const auto run = run_correctly(launched(scratch, plan) + one + " --set software.launch_ns=0");
    const auto alone = run_correctly(
        "kernels/roofline --set roofline.operators=gemm:3840x4096x1024:bias --set roofline.warm=0" +
        one);
    const auto& lines = run.at("job.launches").as_array();
    REQUIRE(lines.size() == 2);
    const auto& library = alone.at("job.operators").as_array()[0];
    CHECK(name_of(std::string(library.at("how").as_string())) ==
          std::string(lines[0].at("kernels").as_array()[0].as_string()));
    const auto& ends = run.at("job.op_end_us").as_array();
    REQUIRE(ends.size() == 2);
    const double product = ends[0].to_number<double>(), map = ends[1].to_number<double>() - product;
    // 2.7 us from launch to launch (SI-LAUNCH-01), and an L2 full of what the operator before has written.
    const double alone_us = library.at("us").to_number<double>();
    CHECK(product > alone_us);
    CHECK(product < 1.15 * alone_us + 2.7);
    const double tflop_s = 2.0 * 3840 * 4096 * 1024 / product / 1e6;
    CHECK(tflop_s > 0.6 * peak);
    CHECK(tflop_s < peak);
    // Both read and write 31.5 MB, at no less than two thirds of 1555 and 900 GB/s.
    CHECK(map < 4 + 1.5 * 63 / (peak > 200 ? 1.555 : 0.9));
  }
}

TEST_CASE("a linear layer in a loop kernel reaches what its one work-group a unit permits") {
  // A long K: 60 % of 312 TFLOP/s (data sheet), with 240 tiles of 128 x 128 on 108 units, three in turn.
  const Scratch scratch;
  const std::string plan = compiled(scratch,
                                    "x: {shape: [3840, 4096], kind: input}\n"
                                    "  w: {shape: [4096, 1024], kind: weight}\n"
                                    "  y: {shape: [3840, 1024]}",
                                    "{op: MatMul, in: [x, w], out: y}");
  const auto run = run_correctly(launched(scratch, plan) +
                                 " --mode loop --impl all=model --set gpus=1 --set "
                                 "gpu.tile_values=false --machine a100-nvswitch");
  const double us = run.at("job.iteration_ns").as_array()[1].to_number<double>() / 1000;
  const double tflop_s = 2.0 * 3840 * 1024 * 4096 / us / 1e6;
  CHECK(tflop_s > 0.6 * 312);
  CHECK(tflop_s < 312);
}

TEST_CASE("products of any shape, layout and batch give the numbers of double precision") {
  // No extent is a multiple of a tile or of a K step; a long K that is cut into parts, with bias and GELU behind their
  // sum; heads of several sequences, which lie apart in two strides.
  const Scratch scratch;
  const std::string plan = compiled(
      scratch,
      "x: {shape: [130, 4100], kind: input}\n  w: {shape: [4100, 77], kind: weight}\n"
      "  b: {shape: [77], kind: weight}\n  p: {shape: [130, 77]}\n  h: {shape: [130, 77]}\n"
      "  a: {shape: [130, 77]}\n  dy: {shape: [130, 77], kind: input}\n"
      "  dw: {shape: [4100, 77], kind: gradient}\n  dx: {shape: [130, 4100]}\n"
      "  q: {shape: [66, 60], kind: input}\n  k: {shape: [66, 60], kind: input}\n"
      "  s: {shape: [6, 33, 33]}\n  t: {shape: [6, 33, 33]}\n  c: {shape: [66, 60]}\n"
      "  d: {shape: [66, 60]}",
      "{op: MatMul, in: [x, w], out: p}\n  - {op: Add, in: [p, b], out: h}\n"
      "  - {op: Gelu, in: [h], out: a}\n"
      "  - {op: MatMul, in: [x, dy], out: dw, transpose_a: 1}\n"
      "  - {op: MatMul, in: [dy, w], out: dx, transpose_b: 1}\n"
      "  - {op: MatMul, in: [q, k], out: s, transpose_b: 1, heads_a: 3, heads_b: 3, sequences: 2}\n"
      "  - {op: Softmax, in: [s], out: t}\n"
      "  - {op: MatMul, in: [t, k], out: c, heads_b: 3, heads_out: 3, sequences: 2}\n"
      "  - {op: MatMul, in: [t, q], out: d, transpose_a: 1, heads_b: 3, heads_out: 3, sequences: "
      "2}");
  for (const char* machine : {"a100-nvswitch", "t3"}) {
    const std::string one =
        launched(scratch, plan) + " --impl all=model --set gpus=1 --machine " + machine;
    CHECK(run_correctly(one + " --mode loop").real("check.max_error") > 0);
    const auto run = run_correctly(one + " --mode launched");
    CHECK(run.real("check.max_error") > 0);
    const auto& lines = run.at("job.launches").as_array();
    REQUIRE(lines.size() == 7);  // Bias and GELU are the product's.
    CHECK(lines[0].at("kernels").as_array().size() == 2);
    CHECK(lines[0].at("kernels").as_array()[1].as_string() == "gemm_reduce_fp16");
    CHECK(lines[4].at("kernels").as_array()[0].as_string() == "softmax_fp16_2048");
  }
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
