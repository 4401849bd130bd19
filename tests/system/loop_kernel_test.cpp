// SPDX-License-Identifier: Apache-2.0
// Question: do work-groups of a loop kernel wait for what they read, by operators and by rows, no longer than that, and
// is a kernel that does not wait found out, also where its data are right? Through the executable.
#include <string>

#include <catch2/catch.hpp>

#include "tests/support/graph_file.h"
#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

const std::string kRun =
    " --impl all=model --set gpus=1 --set graph.by_rows=true --set graph.races=true";

// Two products and rows between them: c waits for blocks of b, b for blocks of a.
const std::string kTensors =
    "x: {shape: [500, 200], kind: input}\n  v: {shape: [200, 256], kind: weight}\n"
    "  w: {shape: [256, 256], kind: weight}\n  a: {shape: [500, 256]}\n  b: {shape: [500, 256]}\n"
    "  c: {shape: [500, 256]}";
const std::string kOps =
    "{op: MatMul, in: [x, v], out: a}\n  - {op: Softmax, in: [a], out: b}\n"
    "  - {op: MatMul, in: [b, w], out: c}";

// Of a run, whether tiles wait for rows or operators for operators.
void expect_same_bits_by_rows(const std::string& run) {
  const auto whole = run_correctly(run);
  const auto by_rows = run_correctly(run + " --set graph.by_rows=true");
  CHECK(by_rows.text("job.results_sha256") == whole.text("job.results_sha256"));
  CHECK(by_rows.text("digest") != whole.text("digest"));
}

}  // namespace

TEST_CASE("tiles that wait for rows give the same bits as operators that wait for operators",
          "[GD-LOOP-04]") {
  expect_same_bits_by_rows("graph/mlp --mode loop --set gpus=3");
  expect_same_bits_by_rows("graph/mlp --mode loop --set graph.compute=1");
}

TEST_CASE("tiles that wait for rows give the same bits in layers on one GPU and two", "[.long]") {
  expect_same_bits_by_rows("graph/bert-small --mode loop --set gpus=1 --set graph.compute=5");
  expect_same_bits_by_rows("graph/bert-small --mode loop");
  expect_same_bits_by_rows("graph/bert-small --mode loop-s");
  expect_same_bits_by_rows("graph/bert-small-master --mode loop --set graph.iterations=3");
}

// Of all operators one alone waits for rows, of a product whose weights move: what it has seen at its end in one iteration
// says nothing of the next. There are more work-groups than tiles: others make a than read it.
TEST_CASE("tiles wait for rows anew in each iteration", "[GD-LOOP-04]") {
  const Scratch scratch;
  const std::string plan =
      compiled(scratch,
               "x: {shape: [128, 200], kind: input}\n  v: {shape: [200, 128], kind: weight}\n"
               "  w: {shape: [128, 128], kind: weight}\n  dy: {shape: [128, 128], kind: input}\n"
               "  a: {shape: [128, 128]}\n  b: {shape: [128, 128]}\n"
               "  dv: {shape: [200, 128], kind: gradient}",
               "{op: MatMul, in: [x, v], out: a}\n  - {op: MatMul, in: [a, w], out: b}\n"
               "  - {op: MatMul, in: [x, dy], out: dv, transpose_a: 1}\n"
               "  - {op: Update, in: [v, dv], out: v, rate: 0.01}");
  const std::string run = launched(scratch, plan) +
                          " --mode loop --impl all=model --set gpus=1 --set graph.compute=16 ";
  CHECK(run_correctly(run + "--set graph.by_rows=true").text("job.results_sha256") ==
        run_correctly(run).text("job.results_sha256"));
}

// Three products of 1408 x 256 and a softmax between them. In tiles of 128 x 128 each has 22; seven units have four
// rounds of them where one product waits for the other, and 3.14 where it does not.
TEST_CASE("units begin an operator while others end the one before", "[GD-LOOP-04]") {
  const Scratch scratch;
  const std::string wide = ": {shape: [1408, 256]", weight = ": {shape: [256, 256], kind: weight}";
  const std::string plan =
      compiled(scratch,
               "x" + wide + ", kind: input}\n  v" + weight + "\n  w" + weight + "\n  u" + weight +
                   "\n  a" + wide + "}\n  b" + wide + "}\n  c" + wide + "}\n  d" + wide + "}",
               "{op: MatMul, in: [x, v], out: a}\n  - {op: MatMul, in: [a, w], out: b}\n"
               "  - {op: Softmax, in: [b], out: c}\n  - {op: MatMul, in: [c, u], out: d}");
  const std::string run =
      launched(scratch, plan) + " --mode loop --impl all=model --set gpus=1 --set graph.compute=7 ";
  const auto ns = [&](const std::string& more) {
    const auto root = run_correctly(run + more);
    return root.at("job.iteration_ns").as_array().at(1).to_number<double>();
  };
  const double gain = ns("--set graph.by_rows=true") / ns("");
  CHECK(gain < 0.97);
  CHECK(gain > 3.14 / 4);
}

TEST_CASE("tiles that wait for no rows, and blocks that are miscounted, are found out",
          "[GD-LOOP-04]") {
  const Scratch scratch;
  const std::string plan = compiled(
      scratch,
      "x: {shape: [300, 200], kind: input}\n  v: {shape: [200, 256], kind: weight}\n"
      "  w: {shape: [256, 256], kind: weight}\n  a: {shape: [300, 256]}\n  b: {shape: [300, 256]}",
      "{op: MatMul, in: [x, v], out: a}\n  - {op: MatMul, in: [a, w], out: b}");
  const std::string run = "run " + launched(scratch, plan) +
                          " --mode loop --impl all=model --set gpus=1 --set graph.iterations=1 "
                          "--set graph.by_rows=true --out " +
                          scratch.path + "/r";
  const auto expect = [&](const std::string& edit, int status, const std::string& says) {
    const std::string source = scratch.path + "/fault.c";
    const Finished built = run_command("sed '" + edit + "' " + plan + ".c > " + source +
                                       " && bash " STRETTO_BUILD_DIR "/stretto-kernel -e loop -o " +
                                       plan + ".elf " + source);
    INFO(edit << "\n" << built.output);
    REQUIRE(built.status == 0);
    const Finished finished = run_stretto(run);
    INFO(finished.output);
    CHECK(finished.status == status);
    CHECK(finished.says(says));
  };
  expect("", 0, "complete");
  expect("/[.]a = /s/, 0},/, LOOP_NOBODY},/", 1, "wrong data: rank 0 tensor b");
  // The first block of a is counted in a word that is not its own.
  expect("s/, 300, 512, 0},/, 300, 512, 7},/", 1, "blocks of operator 0: 0 bytes counted");
}

TEST_CASE("rows are waited for in loop kernels alone") {
  const Finished finished =
      run_stretto("run graph/mlp --mode launched --set gpus=1 --set graph.by_rows=true");
  CHECK(finished.status == 2);
  CHECK(finished.says("graph.by_rows is of loop kernels"));
}

// Of the faults by rows the data are right: an atomic takes longer to memory than stores to the L2, whoever waits for the
// word comes too late to see them.
TEST_CASE("kernels that tell of results before these are stored are found by the race law alone",
          "[GD-LOOP-04]") {
  const Scratch scratch;
  const std::string plan = compiled(scratch, kTensors, kOps);
  const std::string workload = launched(scratch, plan);
  const auto expect = [&](const std::string& edit, const std::string& more, int status,
                          const std::string& says) {
    const std::string header = scratch.path + "/loop.h", source = scratch.path + "/fault.c";
    const Finished built = run_command(
        "sed '" + edit + "' " STRETTO_SOURCE_DIR "/sw/compiler/loop.h > " + header +
        " && sed 's#\"sw/compiler/loop.h\"#\"" + header + "\"#' " + plan + ".c > " + source +
        " && bash " STRETTO_BUILD_DIR "/stretto-kernel -e loop -o " + plan + ".elf " + source);
    INFO(edit << "\n" << built.output);
    REQUIRE(built.status == 0);
    const Finished finished = run_stretto("run " + workload + " --mode loop" + kRun + more +
                                          " --out " + scratch.path + "/r");
    INFO(finished.output);
    CHECK(finished.status == status);
    CHECK(finished.says(says));
  };
  expect("", "", 0, "complete");
  const std::string early_tile =
      "/stores of the tile before have had/,/tile_barrier/s/.*tile_wait(0);//";
  const std::string early_rows =
      "/first == LOOP_UNCOUNTED) return;/,/tile_barrier/s/  tile_wait(0);//";
  const std::string early_word =
      "/^KERNEL_INLINE void loop_done/,/tile_barrier/s/  tile_wait(0);//";
  const std::string no_wait =
      "/^KERNEL_INLINE void loop_wait(/,/^}/s/if (l->wavefront == 0)/if (0)/";
  const std::string race = "race: gpu0: data at 0x";
  // Of a work-group; of its last one the operator's word tells.
  const std::string several_tiles = " --set graph.compute=3";
  expect(early_tile, several_tiles, 1, race);
  expect(early_rows, "", 1, race);
  expect(early_word, " --set graph.by_rows=false", 1, race);
  expect(no_wait, " --set graph.by_rows=false", 1, race);
  expect(early_tile, several_tiles + " --set graph.races=false", 0, "complete");
  expect(early_rows, " --set graph.races=false", 0, "complete");
}

TEST_CASE("a run that watches for races takes the time of one that does not", "[GD-LOOP-04]") {
  for (const std::string run :
       {"graph/mlp --mode loop --set graph.compute=5", "graph/mlp --mode loop-s",
        "graph/bert-small --mode loop --set graph.by_rows=true",
        "graph/bert-small-master --mode loop --set graph.iterations=3"}) {
    const auto plain = run_correctly(run + " --set gpus=1");
    const auto watched = run_correctly(run + " --set gpus=1 --set graph.races=true");
    CHECK(watched.text("job.results_sha256") == plain.text("job.results_sha256"));
    CHECK(watched.at("job.iteration_ns") == plain.at("job.iteration_ns"));
    CHECK(watched.at("time_ns") == plain.at("time_ns"));
    CHECK(watched.number("statistics.gpu0.compute.l2.race_checks") > 1000);
    CHECK(watched.says("are watched: a race ends the run"));
    CHECK_FALSE(plain.says("a race ends the run"));
  }
}

TEST_CASE("races are watched in loop kernels of one GPU alone") {
  const Finished launch =
      run_stretto("run graph/mlp --mode launched --set gpus=1 --set graph.races=true");
  CHECK(launch.status == 2);
  CHECK(launch.says("graph.races is of loop kernels"));
  const Finished two = run_stretto("run graph/mlp --mode loop --set gpus=2 --set graph.races=true");
  CHECK(two.status == 2);
  CHECK(two.says("graph.races is for gpus=1"));
}
