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
#include <tuple>

#include <catch2/catch.hpp>

#include "tests/support/graph_file.h"
#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

uint64_t statistic(const RunResult& root, const std::string& path) {
  return root.number("statistics." + path);
}

// The kernel that roofline calls 256x128x64x3.
std::string name_of(const std::string& how) {
  unsigned m = 0, n = 0, k = 0, stages = 0;
  REQUIRE(std::sscanf(how.c_str(), "%ux%ux%ux%u", &m, &n, &k, &stages) == 4);
  return "gemm_fp16_" + std::to_string(m) + "x" + std::to_string(n) + "_k" + std::to_string(k) +
         "_s" + std::to_string(stages);
}

// The times between two kernels that followed each other, ns, of a launched chain of four operators on rows x 1024
// elements, bound by the SIMT pipe (a quarter of its lanes), so that nothing waits for DRAM when one ends. Kernels of
// one stream: a thread of the timeline for each slot.
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
  const Finished run = run_stretto(
      "run " + workload + " --impl all=model --set gpus=1 --set gpu.tile_values=false " +
      "--set gpu.simt_lanes=16 --timeline --out " + scratch.path + "/r");
  INFO(run.output);
  REQUIRE(run.status == 0);
  std::ifstream stream(scratch.path + "/r/timeline.json");
  std::ostringstream text;
  text << stream.rdbuf();
  const boost::json::value timeline = boost::json::parse(text.str());
  std::vector<std::pair<uint64_t, uint64_t>> kernels;
  for (const auto& event : timeline.as_array()) {
    if (event.at("ph").as_string() != "X") continue;
    if (event.at("name").as_string().find("map_gelu_grad_fp16 slot ") == std::string::npos)
      continue;
    const double begin = event.at("ts").to_number<double>() * 1000;
    kernels.emplace_back(begin, begin + event.at("dur").to_number<double>() * 1000);
  }
  std::sort(kernels.begin(), kernels.end());
  std::vector<uint64_t> found;
  for (size_t i = 1; i < kernels.size(); ++i)
    found.push_back(kernels[i].first - kernels[i - 1].second);
  return found;
}

// Ways to run a graph.
constexpr const char* kWays[] = {
    "--set gpus=1", "--mode loop", "--mode loop-s", "--mode launched", "--mode launched-after",
    "--mode loop --set gpus=3", "--mode launched-gdma", "--mode launched-gdma --set gpus=3",
    // A communicator larger than all that a loop kernel is given.
    "--mode launched --set software.channels=32 --set software.slot_bytes=65536"};

void expect_right(const std::string& graph, const std::string& options) {
  const auto root = run_correctly(graph + " " + options);
  CHECK(root.real("check.error_bound") == 1);
  CHECK(root.real("check.max_error") > 0);
}

}  // namespace

TEST_CASE("the gap of two dependent kernels is that of an empty L2, whatever is dirty",
          "[KT-BSP-01]") {
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
  for (const char* way : kWays) expect_right("graph/mlp", way);
  expect_right("graph/bert-small", "--mode loop-s");
}

TEST_CASE("a Transformer layer gives the numbers of double precision whatever runs it", "[.long]") {
  for (const char* way : kWays) expect_right("graph/bert-small", way);
}

TEST_CASE(
    "a hundred iterations give the numbers of double precision, weights that hardly move "
    "included",
    "[.long]") {
  const auto root = run_correctly("graph/mlp --set gpus=1 --set graph.iterations=100");
  CHECK(root.number("check.elements") > 0);
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

TEST_CASE(
    "launched gradients that the DMA engine moves go through the ring, by RTL as by the model") {
  const std::string run = "graph/bert-small --mode launched-gdma ";
  const auto rtl = run_correctly(run), model = run_correctly(run + "--impl all=model"),
             copied = run_correctly("graph/bert-small --mode launched --impl all=model");
  CHECK(rtl.at("digest") == model.at("digest"));
  CHECK(rtl.at("job.results_sha256") == copied.at("job.results_sha256"));
  CHECK(statistic(rtl, "gpu0.request_ring.transfers") > 0);
  CHECK(statistic(copied, "gpu0.request_ring.transfers") == 0);
  // Two GPUs, two iterations: each sends half of the gradients, and the other half summed. In whole 8 KiB: four weights
  // of 128 x 128, two of four times the size, six biases. A flag goes with each request.
  const uint64_t bucket = 4 * 32768 + 2 * 131072 + 6 * 8192;
  CHECK(rtl.number("link_bytes") >= 2 * 2 * bucket);
  CHECK(rtl.number("link_bytes") < 2 * 2 * bucket * 101 / 100);
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
    "fast",
    "[.long]") {
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

TEST_CASE("a linear layer in a loop kernel reaches what its one work-group a unit permits",
          "[.long]") {
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

TEST_CASE("products whose tiles are shared give the numbers of double precision, twice") {
  // 16 and 8 tiles of 128 x 64, or twice as many of 64 x 64, on 6 units.
  const Scratch scratch;
  const std::string plan =
      compiled(scratch,
               "x: {shape: [256, 1024], kind: input}\n  w: {shape: [1024, 512], kind: weight}\n"
               "  b: {shape: [512], kind: weight}\n  v: {shape: [512, 256], kind: weight}\n"
               "  p: {shape: [256, 512]}\n  h: {shape: [256, 512]}\n  a: {shape: [256, 512]}\n"
               "  y: {shape: [256, 256]}",
               "{op: MatMul, in: [x, w], out: p}\n  - {op: Add, in: [p, b], out: h}\n"
               "  - {op: Gelu, in: [h], out: a}\n  - {op: MatMul, in: [a, v], out: y}");
  const auto run =
      run_correctly(launched(scratch, plan) + " --impl all=model --set gpus=1 --set gpu.cus=6");
  CHECK(run.has("kernel_sha256.ops_gemm_stream_fp16"));
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
    run_correctly(one + " --mode loop --set graph.by_rows=true");
    const auto run = run_correctly(one + " --mode launched");
    CHECK(run.real("check.max_error") > 0);
    const auto& lines = run.at("job.launches").as_array();
    REQUIRE(lines.size() == 7);  // Bias and GELU are the product's.
    CHECK(lines[0].at("kernels").as_array().size() == 2);
    CHECK(lines[0].at("kernels").as_array()[1].as_string() == "gemm_reduce_fp16");
    CHECK(lines[4].at("kernels").as_array()[0].as_string() == "softmax_fp16_w1");
  }
}

TEST_CASE("rows of a layer norm may be as far from their mean as FP16 has numbers") {
  // Up to 4000 from it: the square of 256 is beyond FP16. Rows that a piece of 2 KiB holds several of, one of, and rows
  // of a loop kernel's limit.
  for (const char* shape : {"[70, 100]", "[9, 1024]"}) {
    INFO(shape);
    const Scratch scratch;
    const std::string all = std::string("{shape: ") + shape, row = std::string(shape).substr(4);
    const std::string plan =
        compiled(scratch,
                 "x: " + all + ", kind: input}\n  c: " + all +
                     ", kind: constant, value: 4000}\n  y: " + all + "}\n  g: {shape: [" + row +
                     ", kind: weight}\n  b: {shape: [" + row + ", kind: weight}\n  z: " + all +
                     "}\n  dz: " + all + ", kind: input}\n  dy: " + all + "}",
                 "{op: Mul, in: [x, c], out: y}\n  - {op: LayerNorm, in: [y, g, b], out: z}\n"
                 "  - {op: LayerNormGrad, in: [y, g, dz], out: dy}");
    for (const char* mode : {"loop", "launched"})
      run_correctly(launched(scratch, plan) + " --impl all=model --set gpus=1 --mode " + mode);
  }
}

TEST_CASE("launched rows have any length, and a loop kernel says which it does not take") {
  // Rows of one wavefront, of four, of eight, and rows that are read several times.
  for (const char* n : {"1500", "3000", "9000", "33000"}) {
    INFO(n);
    const Scratch scratch;
    const std::string all = std::string("{shape: [5, ") + n + "]",
                      row = std::string("{shape: [") + n + "]";
    const std::string plan = compiled(
        scratch,
        "x: " + all + ", kind: input}\n  dy: " + all + ", kind: input}\n  g: " + row +
            ", kind: weight}\n  b: " + row +
            ", kind: weight}\n  ones: {shape: [1, 5], kind: constant, "
            "value: 1}\n  h: " +
            all + "}\n  s: " + all + "}\n  t: " + all + "}\n  y: " + all + "}\n  dx: " + all +
            "}\n  ds: " + all + "}\n  db: {shape: [1, " + n + "], kind: gradient}",
        "{op: Add, in: [x, b], out: h}\n  - {op: Sub, in: [h, dy], out: t}\n"
        "  - {op: Softmax, in: [t], out: s, scale: 8.5}\n"
        "  - {op: SoftmaxGrad, in: [s, dy], out: ds, scale: 8.5}\n"
        "  - {op: LayerNorm, in: [t, g, b], out: y}\n"
        "  - {op: LayerNormGrad, in: [t, g, dy], out: dx}\n"
        "  - {op: MatMul, in: [ones, dy], out: db}\n  - {op: Update, in: [b, db], out: b}");
    const std::string run = launched(scratch, plan) + " --impl all=model --set gpus=1 --mode ";
    const auto root = run_correctly(run + "launched");
    for (const auto& launch : root.at("job.launches").as_array())
      for (const auto& kernel : launch.at("kernels").as_array())
        CHECK(kernel.as_string() != "graph_rows");
    CHECK(root.at("job.launches").as_array()[6].at("kernels").as_array()[0].as_string() ==
          "sum_rows_fp16");
    const Finished refused = run_stretto("run " + run + "loop");
    INFO(refused.output);
    CHECK(refused.status == 2);
    CHECK(refused.lines() == 1);
    CHECK(refused.says(std::string(": rows of ") + n + " elements, at most "));
    CHECK(refused.says("--mode launched"));
  }
}

TEST_CASE(
    "large products, a softmax behind them and infinities are right to what their rounding "
    "permits") {
  // Sums of some 500 before a softmax, where half an ulp is a quarter; and 300 x 300, beyond FP16.
  const Scratch scratch;
  const std::string plan = compiled(
      scratch,
      "x: {shape: [60, 130], kind: input}\n  c: {shape: [60, 130], kind: constant, value: 80}\n"
      "  w: {shape: [130, 90], kind: input}\n  y: {shape: [60, 130]}\n  p: {shape: [60, 90]}\n"
      "  s: {shape: [60, 90]}\n  q: {shape: [60, 90]}\n  dq: {shape: [60, 90]}",
      "{op: Mul, in: [x, c], out: y}\n  - {op: MatMul, in: [y, w], out: p}\n"
      "  - {op: Softmax, in: [p], out: s}\n  - {op: Mul, in: [p, p], out: q}\n"
      "  - {op: SoftmaxGrad, in: [s, p], out: dq}");
  for (const char* mode : {"loop", "launched"})
    run_correctly(launched(scratch, plan) + " --impl all=model --set gpus=1 --mode " + mode);
}

TEST_CASE(
    "a tile that is not computed, a term of a sum that is left out and a stale operand are found") {
  const Scratch scratch;
  const std::string plan =
      compiled(scratch,
               "x: {shape: [130, 4100], kind: input}\n  w: {shape: [4100, 77], kind: weight}\n"
               "  u: {shape: [4100, 77], kind: weight}\n  y: {shape: [130, 77]}",
               "{op: MatMul, in: [x, w], out: y}");
  std::ifstream stream(plan + ".c");
  std::ostringstream text;
  text << stream.rdbuf();
  const std::string source = text.str();
  const auto place = [&](const char* name) {  // Of the operand, in the source.
    const size_t at = source.find("{", source.find(name)) + 1;
    return source.substr(at, source.find(",", at) - at);
  };
  const std::string w = place(".b = "), stale = "0x" + [&] {
    std::ostringstream hex;
    hex << std::hex << std::stoull(w, nullptr, 16) + (4100 * 77 * 2 + 4095) / 4096 * 4096;
    return hex.str();
  }();
  const std::tuple<std::string, std::string, const char*> faults[] = {
      {".m = 130", ".m = 128", "tensor y row 128 column 0: got 0"},
      {".k = 4100", ".k = 4099", "tensor y row"},
      {".b = {" + w, ".b = {" + stale, "tensor y row 0 column 0"}};
  const std::string run =
      "run " + launched(scratch, plan) + " --impl all=model --set gpus=1 --mode loop";
  for (const auto& [right, wrong, says] : faults) {
    INFO(wrong);
    std::string changed = source;
    REQUIRE(changed.find(right) != std::string::npos);
    changed.replace(changed.find(right), right.size(), wrong);
    scratch.file("g.c", changed);
    const Finished linked = run_command("cd " STRETTO_SOURCE_DIR
                                        "/sw/compiler && python3 -c 'import compile, pathlib; "
                                        "compile.link(pathlib.Path(\"" +
                                        plan + ".c\"), pathlib.Path(\"" + plan + ".elf\"))'");
    INFO(linked.output);
    REQUIRE(linked.status == 0);
    const Finished finished = run_stretto(run);
    INFO(finished.output);
    CHECK(finished.status == 1);
    CHECK(finished.says("wrong data: rank 0 "));
    CHECK(finished.says(says));
  }
}

TEST_CASE(
    "operators of inference and training give the numbers of double precision when launched") {
  // Ragged sizes; second operands that are a row, a column, one element, rows that come again; sums over either axis,
  // in one launch and in two; parts of tensors; rows by index, lists of more than 64 of them included.
  const Scratch scratch;
  const std::string plan = compiled(
      scratch,
      "x: {shape: [70, 90], kind: input}\n  u: {shape: [70, 90], kind: input}\n"
      "  row: {shape: [90], kind: weight}\n  column: {shape: [70, 1], kind: input}\n"
      "  one: {shape: [1], kind: constant, value: 3}\n  mask: {shape: [1, 7, 90], kind: input}\n"
      "  x3: {shape: [10, 7, 90]}\n  a1: {shape: [70, 90]}\n  a2: {shape: [70, 90]}\n"
      "  a3: {shape: [70, 90]}\n  a4: {shape: [10, 7, 90]}\n  r: {shape: [70, 90]}\n"
      "  rg: {shape: [70, 90]}\n  s: {shape: [70, 90]}\n  sg: {shape: [70, 90]}\n"
      "  t: {shape: [70, 90]}\n  tg: {shape: [70, 90]}\n  w: {shape: [70, 90]}\n"
      "  wg: {shape: [70, 90]}\n  n: {shape: [70, 90]}\n  p: {shape: [70, 90]}\n"
      "  m: {shape: [70, 1]}\n  q: {shape: [70, 1]}\n  rms: {shape: [70, 90]}\n"
      "  y: {shape: [70, 90]}\n  total: {shape: [90]}\n  mean: {shape: [1, 90]}\n"
      "  gamma: {shape: [90]}\n  beta: {shape: [90]}\n  e1: {shape: [70, 90]}\n"
      "  e2: {shape: [70, 90]}\n  wide: {shape: [3, 9000], kind: input}\n  sums: {shape: [3]}\n"
      "  deep: {shape: [9, 5, 90], kind: input}\n  groups: {shape: [9, 90]}\n"
      "  high: {shape: [2, 3, 4, 1500], kind: input}\n  means: {shape: [2, 3, 1, 1500]}",
      "{op: Reshape, in: [x], out: x3}\n  - {op: Mul, in: [x, row], out: a1}\n"
      "  - {op: Sub, in: [x, column], out: a2}\n  - {op: Div, in: [x, one], out: a3}\n"
      "  - {op: Add, in: [x3, mask], out: a4}\n  - {op: Relu, in: [x], out: r}\n"
      "  - {op: ReluGrad, in: [r, u], out: rg}\n  - {op: Sigmoid, in: [x], out: s}\n"
      "  - {op: SigmoidGrad, in: [s, u], out: sg}\n  - {op: Tanh, in: [x], out: t}\n"
      "  - {op: TanhGrad, in: [t, u], out: tg}\n  - {op: Silu, in: [x], out: w}\n"
      "  - {op: SiluGrad, in: [x, u], out: wg}\n  - {op: Neg, in: [x], out: n}\n"
      "  - {op: Pow, in: [x], out: p, exponent: 2}\n  - {op: ReduceMean, in: [p], out: m, axis: "
      "1}\n"
      "  - {op: Sqrt, in: [m], out: q, epsilon: 0.001}\n  - {op: Div, in: [x, q], out: rms}\n"
      "  - {op: Div, in: [u, s], out: y}\n  - {op: ReduceSum, in: [x], out: total, axis: 0}\n"
      "  - {op: ReduceMean, in: [x], out: mean, axis: 0}\n"
      "  - {op: LayerNormGammaGrad, in: [x, u], out: gamma}\n"
      "  - {op: LayerNormBetaGrad, in: [u], out: beta}\n"
      "  - {op: Expand, in: [m], out: e1, axis: 1, scale: 0.25}\n"
      "  - {op: Expand, in: [total], out: e2, axis: 0}\n"
      "  - {op: ReduceSum, in: [wide], out: sums, axis: 1}\n"
      "  - {op: ReduceSum, in: [deep], out: groups, axis: 1}\n"
      "  - {op: ReduceMean, in: [high], out: means, axis: 2}");
  const auto root = run_correctly(launched(scratch, plan) + " --impl all=model --set gpus=1");
  CHECK(root.real("check.max_error") > 0);
  const std::string moving = compiled(
      scratch,
      "x: {shape: [70, 90], kind: input}\n  u: {shape: [70, 33], kind: input}\n"
      "  table: {shape: [50, 90], kind: input}\n  i: {shape: [311], kind: index}\n"
      "  k: {shape: [311], kind: index}\n  both: {shape: [70, 123]}\n  more: {shape: [140, 90]}\n"
      "  part: {shape: [70, 40]}\n  rows: {shape: [30, 90]}\n  wide: {shape: [70, 60]}\n"
      "  high: {shape: [35, 90]}\n  g: {shape: [311, 90]}\n  sc: {shape: [60, 90]}\n"
      "  few: {shape: [2, 90]}\n  q: {shape: [12, 64], kind: input}\n"
      "  c: {shape: [12, 16], kind: input}\n  s: {shape: [12, 16], kind: input}\n"
      "  turned: {shape: [12, 64]}\n  back: {shape: [12, 64]}\n  j: {shape: [33], kind: index}\n"
      "  h: {shape: [5], kind: index}\n  three: {shape: [700, 311, 3], kind: input}\n"
      "  long: {shape: [2, 5, 1500], kind: input}\n  each: {shape: [70, 50]}\n"
      "  slices: {shape: [700, 2, 3]}\n  longer: {shape: [2, 7, 1500]}",
      "{op: Concat, in: [x, u], out: both, axis: 1}\n  - {op: Concat, in: [x, x], out: more, axis: "
      "0}\n"
      "  - {op: Slice, in: [both], out: part, axis: 1, start: 60, stop: 100}\n"
      "  - {op: Slice, in: [more], out: rows, axis: 0, start: 55, stop: 85}\n"
      "  - {op: Pad, in: [part], out: wide, axis: 1, before: 7, after: 13}\n"
      "  - {op: Pad, in: [rows], out: high, axis: 0, before: 0, after: 5}\n"
      "  - {op: Gather, in: [table, i], out: g, axis: 0}\n"
      "  - {op: ScatterAdd, in: [g, i], out: sc, axis: 0}\n"
      "  - {op: ScatterAdd, in: [g, k], out: few, axis: 0}\n"
      "  - {op: ScatterAdd, in: [u, j], out: each, axis: 1}\n"
      "  - {op: ScatterAdd, in: [three, k], out: slices, axis: 1}\n"
      "  - {op: ScatterAdd, in: [long, h], out: longer, axis: 1}\n"
      "  - {op: Rope, in: [q, c, s], out: turned, heads: 4}\n"
      "  - {op: Rope, in: [turned, c, s], out: back, heads: 4, inverse: 1}");
  const auto moved = run_correctly(launched(scratch, moving) + " --impl all=model --set gpus=2");
  // Lists of some 155: their parts are added in a second launch.
  for (const size_t launch : {8u, 10u})
    CHECK(moved.at("job.launches").as_array()[launch].at("kernels").as_array().size() == 2);
  CHECK(moved.at("job.launches").as_array()[7].at("kernels").as_array().size() == 1);
}

// Rows of 729 elements, 23 sectors, of which 351 elements are taken: all of 16 units' wavefronts together have 0.6 MB of
// them under way, of an L2 of 2.5 MB.
TEST_CASE("a gather of columns reads every row once, and writes every row once") {
  const Scratch scratch;
  const std::string plan =
      compiled(scratch,
               "x: {shape: [4096, 729], kind: input}\n  i: {shape: [351], kind: index}\n"
               "  y: {shape: [4096, 351]}",
               "{op: Gather, in: [x, i], out: y, axis: 1}");
  const auto root =
      run_correctly(scratch.file("w.yaml",
                                 "machine: a100\nmodes: [launched]\nset: {gpu.cus: 16, l2.bytes: "
                                 "2621440, gpu.tile_values: false}\ngraph: {plan: " +
                                     plan + ", iterations: 1}\n") +
                    " --impl all=model");
  CHECK(root.real("dram_bytes.compute_read") == Approx(4096 * 729 * 2).epsilon(0.02));
  CHECK(root.real("dram_bytes.compute_write") == Approx(4096 * 351 * 2).epsilon(0.02));
}

TEST_CASE("an operator that the kernel library has not is refused by its name") {
  const Scratch scratch;
  const std::tuple<const char*, const char*, const char*> bad[] = {
      {"{op: Pow, in: [x], out: y, exponent: 3}", "[4, 6, 600]",
       "launches[0] (Pow -> y) has an exponent of 3"},
      {"{op: Transpose, in: [x], out: y, perm: [1, 0, 2]}", "[6, 4, 600]", "'Transpose'; allowed:"},
      {"{op: Gather, in: [x, i], out: y, axis: 1}", "[4, 6, 600]",
       "columns of at most 1024 bytes"}};
  for (const auto& [op, shape, says] : bad) {
    INFO(op);
    const std::string plan = compiled(
        scratch,
        std::string(
            "x: {shape: [4, 6, 600], kind: input}\n  i: {shape: [6], kind: index}\n  y: {shape: ") +
            shape + "}",
        op);
    const Finished refused = run_stretto("run " + launched(scratch, plan));
    INFO(refused.output);
    CHECK(refused.status == 2);
    CHECK(refused.lines() == 1);
    CHECK(refused.says(says));
    CHECK(refused.says("launches[0]"));
  }
}

TEST_CASE("a loop kernel of another graph beside a plan is refused") {
  const Scratch scratch;
  const std::string folder = STRETTO_BUILD_DIR "/sw/graphs/";
  const Finished copied =
      run_command("cp " + folder + "mlp.json " + scratch.path + "/g.json && cp " + folder +
                  "bert-small.elf " + scratch.path + "/g.elf");
  REQUIRE(copied.status == 0);
  const Finished refused =
      run_stretto("run " + launched(scratch, scratch.path + "/g") + " --mode loop");
  INFO(refused.output);
  CHECK(refused.status == 2);
  CHECK(refused.lines() == 1);
  CHECK(refused.says("g.elf is of another plan than"));
}

// Of graphs that gather rows and that have queues, too.
TEST_CASE("without values a graph takes the same time", "[.long]") {
  for (const char* graph : {"graph/mlp", "dlrm:batch=130,entries=20 --mode bsp",
                            "mgn:nodes=150,edges=333 --training --mode bsp",
                            "mgn:nodes=150,edges=333 --mode kitsune"}) {
    INFO(graph);
    const std::string run = std::string(graph) + " --impl all=model";
    const auto with = run_correctly(run),
               without = run_correctly(run + " --set gpu.tile_values=false");
    CHECK(with.at("job.iteration_ns") == without.at("job.iteration_ns"));
  }
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
