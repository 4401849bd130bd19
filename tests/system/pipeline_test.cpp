// SPDX-License-Identifier: Apache-2.0
// Question: do operators of a graph that run as a spatial pipeline (Kitsune, 4) leave what double precision gives, the
// same bits whatever does not count, keep what is between them in the L2, and is a stage that breaks the rules of its
// queues found out? Through the executable.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/with_stages.h"
#include "tests/system/pipeline_runs.h"

using namespace stretto::test;

namespace {

const std::string kShipped = STRETTO_SOURCE_DIR "/sw/compiler/graphs/pipeline.yaml";

// The shipped graph with other pipelines.
std::string workload(const Scratch& scratch, const std::string& pipelines) {
  std::ifstream stream(kShipped);
  std::ostringstream text;
  text << stream.rdbuf();
  std::string graph = text.str();
  graph.resize(graph.find("pipelines:"));
  return compiled(scratch, graph + "pipelines:\n  - " + pipelines + "\n");
}

// Gradients of weights and of a bias: sums over 700 ragged rows, from a queue and from memory, of parts one below the
// other and side by side.
const std::string kSums = R"(name: sums
tensors:
  x: {shape: [700, 300], kind: input}
  y: {shape: [700, 600], kind: input}
  d: {shape: [700, 600], kind: input}
  v: {shape: [700, 70], kind: input}
  e: {shape: [700, 600]}
  w: {shape: [300, 600]}
  b: {shape: [600]}
  u: {shape: [300, 70]}
ops:
  - {op: ReluGrad, in: [y, d], out: e}
  - {op: MatMul, in: [x, e], out: w, transpose_a: 1}
  - {op: ReduceSum, in: [e], out: b, axis: 0}
  - {op: MatMul, in: [x, v], out: u, transpose_a: 1}
pipelines:
  - )";

}  // namespace

TEST_CASE("a pipeline is right, and its stages wait for tiles and room",
          "[KT-MODEL-01][KT-MODEL-04]") {
  const auto root = run("graph/pipeline", "--impl all=rtl");
  const auto& stages = root.at("job").at("pipelines").as_array().at(0).at("stages").as_array();
  REQUIRE(stages.size() == 5);
  CHECK(stages.at(0).at("waits_for_input_us").to_number<double>() == 0);  // It reads memory.
  CHECK(stages.at(4).at("waits_for_input_us").to_number<double>() > 0);
  // Two work-groups of the first fill 4 entries before the one that follows has freed them.
  CHECK(stages.at(0).at("waits_for_room_us").to_number<double>() > 0);
}

TEST_CASE("a pipeline leaves the same bits by RTL, by model and in lockstep") {
  const auto model = run("graph/pipeline", "--impl all=model");
  for (const char* kind : {"rtl", "lockstep"}) {
    const auto other = run("graph/pipeline", std::string("--impl all=") + kind);
    CHECK(bits(other) == bits(model));
    CHECK(other.at("digest") == model.at("digest"));
  }
}

TEST_CASE("work-groups, depth of queues and rows of a tile change no bit of a pipeline's results",
          "[KT-Q-02][KT-Q-03]") {
  std::string expected;
  for (const char* pipelines :
       {"{stages: {a0: 2, h1: 1, s: 3, y: 2, z: 1}}",
        "{stages: {a0: 1, h1: 1, s: 1, y: 1, z: 1}, depth: 1}",
        "{stages: {a0: 6, h1: 6, s: 6, y: 6, z: 6}, depth: 4}",
        "{stages: {a0: 3, h1: 5, s: 2, y: 4, z: 7}, depth: 2, tile_rows: 48}"}) {
    const Scratch scratch;
    const std::string found = bits(run(workload(scratch, pipelines), "--impl all=model"));
    if (expected.empty()) expected = found;
    INFO(pipelines);
    CHECK(found == expected);
  }
}

// The five tensors in between, 700 x 256 (3), 300 and 70 elements of FP16, never leave the L2: what the kernels read is
// x and weights. An iteration moves 2 x 5.4 MB of DRAM otherwise.
// Machines whose units keep no weights in LDS, one of them without latency on the way to the L2; two GPUs. Ways of the L2
// that are larger than all queues.
TEST_CASE("a pipeline is right on other machines, too", "[.long]") {
  CHECK(bits(run("graph/pipeline", "--impl all=model --machine v100-pcie --set gpus=1")) ==
        bits(run("graph/pipeline", "--impl all=model")));
  (void)run("graph/pipeline", "--impl all=model --machine t3 --set gpus=2");
  (void)run("graph/pipeline", "--impl all=model --set l2.bytes=167772160");
}

TEST_CASE("what is between stages is not read from memory", "[KT-MODEL-02]") {
  const auto root = run("graph/pipeline", "--impl all=model");
  const double weights = 2.0 * (200 * 256 + 256 + 256 * 256 + 256 + 256 * 300 + 300 * 70);
  const double read = root.at("dram_bytes").at("compute_read").to_number<double>();
  CHECK(read < 1.05 * (2.0 * 700 * 200 + weights));
}

// 24 operators (Table 2): one pipeline of 15 stages, or 24 kernels.
TEST_CASE("NeRF as the compiler plans it is right, as kernels and as one pipeline") {
  const Scratch scratch;
  const std::string file = planned(scratch, "nerf:rows=300");
  const auto pipeline = run(file, "--impl all=rtl");
  const auto& groups = pipeline.at("job").at("pipelines").as_array();
  REQUIRE(groups.size() == 1);
  CHECK(groups.at(0).at("operators").to_number<uint64_t>() == 24);
  CHECK(groups.at(0).at("stages").as_array().size() == 15);
  const Finished alone =
      run_stretto("run " + file + " --mode launched --impl all=model --out " + scratch.path + "/r");
  INFO(alone.output);
  REQUIRE(alone.status == 0);
  const auto launched = stats(scratch.path + "/r");
  CHECK(launched.at("job").at("launches").as_array().size() == 24);
  CHECK(launched.at("check").at("mismatches").to_number<uint64_t>() == 0);
  // What one operator leaves for the next goes through memory: 300 rows of some 3,000 elements.
  const auto written = [](const auto& root) {
    return root.at("dram_bytes").at("compute_write").template to_number<double>();
  };
  CHECK(written(launched) > 300 * 2560);
}

// 21 operators (Table 2), 17 of them in two pipelines: the lower MLP, and the upper one with a sigmoid at its end.
TEST_CASE("DLRM as the compiler plans it is right", "[.long]") {
  const Scratch scratch;
  const auto root = run(planned(scratch, "dlrm:batch=300,entries=50"), "--impl all=model");
  const auto found = kernels(root);
  REQUIRE(found.size() == 2);
  CHECK(found[0].size() == 3);
  // Work-groups share the columns of a tile. Of 479 rows of weights a part of 128 columns stays in LDS, of 1024 not.
  const auto& stages = root.at("job").at("pipelines").as_array()[1].at("stages").as_array();
  CHECK(stages[1].at("parts") == 8);
  CHECK(stages[2].at("parts") == 8);
  CHECK(found[1][1] == "stage_linear_resident");
  CHECK(found[1][2] == "stage_linear_stream");
  REQUIRE(found[1].size() == 6);
  CHECK(found[1][0] == "stage_map_concat");
}

// Ten pipelines; gradients of gathered columns and of tables are added to rows along either axis by kernels.
TEST_CASE("DLRM's training as the compiler plans it is right", "[.long]") {
  const Scratch scratch;
  const auto found =
      kernels(run(planned(scratch, "dlrm:batch=130,entries=20 --training"), "--impl all=model"));
  CHECK(found.size() == 10);
}

// 51 operators (Table 2), 41 in seven pipelines: six MLPs with a norm, and the decoder.
TEST_CASE("MeshGraphNets as the compiler plans it is right, norms of ragged rows included") {
  const Scratch scratch;
  const auto found = kernels(run(planned(scratch, "mgn:nodes=150,edges=333"), "--impl all=model"));
  REQUIRE(found.size() == 7);
  for (size_t i = 0; i < 6; ++i) {
    REQUIRE(found[i].size() == 4);
    CHECK(found[i][3] == "stage_map_layer_norm");
  }
  CHECK(found[6].size() == 3);
}

// The backward pass of each layer behind a ReLU is a pipeline: its gradient goes to the layer before, to the sums for the
// weights and to those for the bias.
TEST_CASE("NeRF's backward pass runs as pipelines whose sums are right", "[KT-PIPE-01]") {
  const Scratch scratch;
  const std::string file = planned(scratch, "nerf:rows=300 --training");
  const auto root = run(file, "--impl all=model");
  const auto found = kernels(root);
  REQUIRE(found.size() == 10);
  for (size_t i = 1; i < 9; ++i) {
    REQUIRE(found[i].size() == 6);
    CHECK(found[i][0] == "stage_map_relu_grad");
    CHECK(found[i][2] == "stage_fan_in_product");
    CHECK(found[i][3] == "stage_final");
    CHECK(found[i][4] == "stage_fan_in_sum");
    CHECK(found[i][5] == "stage_final");
  }
  CHECK(bits(run(file, "--impl all=model --set graph.iterations=2")) == bits(root));
}

TEST_CASE("activations behind products are right") {
  const Scratch scratch;
  const std::string file = scratch.file("g.yaml", R"(name: g
tensors:
  x: {shape: [333, 70], kind: input}
  k: {shape: [70, 300], kind: weight}
  l: {shape: [300, 130], kind: weight}
  m: {shape: [130, 40], kind: weight}
  p: {shape: [333, 300]}
  a: {shape: [333, 300]}
  q: {shape: [333, 130]}
  b: {shape: [333, 130]}
  r: {shape: [333, 40]}
  c: {shape: [333, 40]}
ops:
  - {op: MatMul, in: [x, k], out: p}
  - {op: Tanh, in: [p], out: a}
  - {op: MatMul, in: [a, l], out: q}
  - {op: Silu, in: [q], out: b}
  - {op: MatMul, in: [b, m], out: r}
  - {op: Sigmoid, in: [r], out: c}
)");
  CHECK(kernels(run(planned(scratch, file), "--impl all=model")).at(0).size() == 3);
}

// Rows of 1,500 elements are two pieces, of functions three.
TEST_CASE("functions element by element are right as stages, of long rows, too") {
  const Scratch scratch;
  std::string tensors = "name: g\ntensors:\n", ops = "ops:\n", stages;
  for (const char* one : {"x", "y"})
    tensors += "  " + std::string(one) + ": {shape: [150, 1500], kind: input}\n";
  const auto add = [&](const std::string& kind, const std::string& in) {
    const std::string out = "o" + kind;
    tensors += "  " + out + ": {shape: [150, 1500]}\n";
    ops += "  - {op: " + kind + ", in: [" + in + "], out: " + out + "}\n";
    stages += out + ": 2, ";
  };
  for (const char* kind : {"Relu", "Gelu", "Neg", "Sigmoid", "Tanh", "Silu"}) add(kind, "x");
  for (const char* kind :
       {"Add", "Sub", "Mul", "ReluGrad", "GeluGrad", "SigmoidGrad", "TanhGrad", "SiluGrad"})
    add(kind, "x, y");
  add("Div", "x, oSigmoid");
  const auto root = run(compiled(scratch, tensors + ops + "pipelines:\n  - {stages: {" + stages +
                                              "}, depth: 16, tile_rows: 64}\n"),
                        "--impl all=model");
  CHECK(kernels(root).at(0).size() == 15);
}

TEST_CASE("sums over all rows are right, and the same bits whatever does not split them",
          "[KT-PIPE-03][KT-MODEL-03]") {
  std::string expected;
  // 2 replicas of 9 parts, 3 of 2, 2 of 2. Tiles of 48 rows are summed in another order.
  for (const char* pipeline :
       {"{stages: {e: 2, w: 18, b: 6, u: 4}}", "{stages: {e: 1, w: 20, b: 7, u: 5}, depth: 5}",
        "{stages: {e: 5, w: 26, b: 6, u: 4}, depth: 3}"}) {
    const Scratch scratch;
    const std::string file = compiled(scratch, kSums + pipeline + "\n");
    const std::string found = bits(run(file, "--impl all=model"));
    if (expected.empty()) {
      expected = found;
      CHECK(bits(run(file, "--impl all=rtl --set graph.iterations=2")) == expected);  // Anew.
    }
    INFO(pipeline);
    CHECK(found == expected);
  }
  const Scratch scratch;
  (void)run(compiled(scratch, kSums + "{stages: {e: 3, w: 99, b: 40, u: 1}, tile_rows: 48}\n"),
            "--impl all=model");
}

TEST_CASE("kitsune without a pipeline that can be run is refused with why") {
  const Scratch scratch;
  const auto refused = [&](const std::string& attributes) {
    const std::string graph = scratch.file("g.yaml", R"(name: g
tensors:
  x: {shape: [128, 64], kind: input}
  w: {shape: [64, 64], kind: weight}
  p: {shape: [128, 64]}
  a: {shape: [128, 64]}
  s: {shape: [128, 64]}
ops:
  - {op: MatMul, in: [x, w], out: p}
  - {op: Silu, in: [p], out: a}
  - {op: Sqrt, in: [a], out: s}
)");
    REQUIRE(run_command(kCompile + graph + attributes + " -o " + scratch.path + "/g").status == 0);
    const std::string file = scratch.file(
        "w.yaml", "machine: a100\nmodes: [kitsune, launched]\ngraph: {plan: " + scratch.path +
                      (attributes.empty() ? "/g}\n" : "/g.graph}\n"));
    const Finished finished =
        run_stretto("run " + file + " --mode kitsune --out " + scratch.path + "/r");
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says("has no pipeline that can be run"));
    CHECK(finished.says("--mode launched runs it"));
    return finished;
  };
  CHECK(refused("").says("none is planned"));
  CHECK(refused(" --mode kitsune --group p,a,s").says("Sqrt -> s is no stage"));
}

// Nothing is pinned, so that nobody watches for races: by what they leave.
TEST_CASE("stages that break the rules of queues are found out, each by what it did") {
  const std::string unpinned = "--set l2.persist_percent=0";
  const Finished early = with_stages("stages_wrong_round", unpinned);
  INFO(early.output);
  CHECK(early.status == 1);
  CHECK(early.says("wrong data"));
  const Finished twice = with_stages("stages_double_release", unpinned);
  INFO(twice.output);
  CHECK(twice.status == 1);
  CHECK(twice.says("queue a0: 12 payloads"));
  const Finished swapped = with_stages("stages_swap_tiles", unpinned);
  INFO(swapped.output);
  CHECK(swapped.status == 1);
  CHECK(swapped.says("wrong data"));
  const Scratch scratch;
  const Finished skipped =
      with_stages("stages_skip_sum", unpinned,
                  compiled(scratch, kSums + "{stages: {e: 2, w: 18, b: 6, u: 4}}\n"));
  INFO(skipped.output);
  CHECK(skipped.status == 1);
  CHECK(skipped.says("tensor w"));
}

TEST_CASE("stages that race are named with line and queue, with values and without") {
  for (const char* const elf : {"stages_wrong_round", "stages_double_release", "stages_swap_tiles"})
    for (const char* const values : {"true", "false"}) {
      const Finished finished = with_stages(elf, std::string("--set gpu.tile_values=") + values);
      INFO(finished.output);
      CHECK(finished.status == 1);
      CHECK(finished.says("race: gpu0: queue data at 0x"));
      CHECK(finished.says(", entry "));
      // Which of the two comes first is a matter of clocks.
      const bool is_store = finished.says(" before the store of compute unit ");
      CHECK((is_store || finished.says(" before the load of compute unit ")));
    }
}

TEST_CASE(
    "a pipeline that reads more of memory than its plan, or nothing from pinned lines, fails") {
  const Finished again = with_stages("stages_past_l2");
  INFO(again.output);
  CHECK(again.status == 1);
  CHECK(again.says(
      "DRAM bytes that a pipeline has read <= most by the plan, at the pipeline of a0: "));
  const Scratch scratch;
  const Finished loose =
      run_stretto("run graph/pipeline --impl all=model --firmware " STRETTO_BUILD_DIR
                  "/sw/firmware/main_no_pin.elf --out " +
                  scratch.path + "/r");
  INFO(loose.output);
  CHECK(loose.status == 1);
  CHECK(loose.says("least by the plan <= bytes stored to pinned lines of a queue, at queue a0: "));
}

TEST_CASE("a plan whose pipelines are wrong is refused with the entry") {
  const Scratch scratch;
  const std::string file = workload(scratch, "{stages: {a0: 2, h1: 1}}");
  const auto changed = [&](const std::string& from, const std::string& to) {
    return run_command("cp " + scratch.path + "/g.elf " + scratch.path + "/h.elf && sed 's/" +
                       from + "/" + to + "/' " + scratch.path + "/g.json > " + scratch.path +
                       "/h.json && sed 's#/g,#/h,#' " + file + " > " + scratch.path +
                       "/v.yaml && " + STRETTO_BUILD_DIR "/stretto run " + scratch.path +
                       "/v.yaml --mode kitsune --out " + scratch.path + "/r");
  };
  const Finished readers = changed("\"readers\": 1", "\"readers\": 2");
  CHECK(readers.status == 2);
  CHECK(readers.says("groups[0].queues[0] is read by 1 stages and has readers 2"));
  const Finished kernel = changed("\"kernel\": \"linear\"", "\"kernel\": \"map_softmax\"");
  CHECK(kernel.status == 2);
  CHECK(kernel.says("groups[0].stages[0].kernel is 'map_softmax'; allowed: fan_in"));
  const Finished parts = changed("\"parts\": 1", "\"parts\": 3");
  CHECK(parts.status == 2);
  CHECK(parts.says("groups[0].stages[0].work_groups are 2, must be a multiple of 3 parts"));
  const Finished empty =
      changed("\"work_groups\": 2", "\"work_groups\": 64/;s/\"parts\": 1/\"parts\": 64");
  CHECK(empty.status == 2);
  CHECK(empty.says("leaves a part of"));
  const Finished first = changed("\"first\": 0", "\"first\": 5");
  CHECK(first.status == 2);
  CHECK(first.says("groups[0].first must be a whole number 0..4"));
  CHECK(first.lines() == 1);
}

// 108 TENSOR work-groups, one for each unit, and 80 of SIMT, of which a unit has room for one beside. With one arbiter
// b's would lie where a's are, and y's nowhere.
TEST_CASE("stages of both types share units, each type placed by its own arbiter",
          "[KT-SCHED-04]") {
  const Scratch scratch;
  const std::string graph = scratch.file(
      "g.yaml",
      "name: g\ntensors:\n  x: {shape: [900, 64], kind: input}\n  w: {shape: [64, 64], kind: "
      "weight}\n  h: {shape: [900, 64]}\n  a: {shape: [900, 64]}\n  k: {shape: [900, 64]}\n  b: "
      "{shape: [900, 64]}\n  y: {shape: [900, 64]}\nops:\n  - {op: MatMul, in: [x, w], out: h}\n"
      "  - {op: Add, in: [h, x], out: a}\n  - {op: MatMul, in: [a, w], out: k}\n"
      "  - {op: Add, in: [k, x], out: b}\n  - {op: MatMul, in: [b, w], out: y}\n"
      "pipelines:\n  - {stages: {h: 20, a: 40, k: 49, b: 40, y: 39}, tile_rows: 16}\n");
  REQUIRE(run_command("python3 " STRETTO_SOURCE_DIR "/sw/compiler/compile.py " + graph + " -o " +
                      scratch.path + "/g")
              .status == 0);
  (void)run(scratch.file("w.yaml", "machine: a100\nmodes: [kitsune]\ngraph: {plan: " +
                                       scratch.path + "/g, iterations: 1}\n"),
            "--impl all=model");
}
