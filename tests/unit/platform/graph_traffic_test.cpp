// SPDX-License-Identifier: Apache-2.0
// Question: does the law on DRAM bytes of a pipeline hold what its stages read and leave to the plan, within 2 %, and
// does the host find the weights that are read with every tile? Not where queues have left the L2. A pipeline of two
// products, 10,000 rows: 64 columns in, 256 between them, 128 out; weights of 64 x 256 and 256 x 128, so no number is
// from the code under test.
#include "platform/kinds/graph/graph_traffic.h"

#include <catch2/catch.hpp>

#include "platform/kinds/graph/graph_fused.h"
#include "sw/kernels/kernel_arguments.h"

using namespace stretto;

namespace {

constexpr uint64_t kIn = 10000 * 64 * 2, kWeights = (64 * 256 + 256 * 128) * 2;
constexpr uint64_t kOut = 10000 * 128 * 2;

stage_edge_t memory(uint64_t base, uint32_t columns) {
  stage_edge_t edge{};
  edge.base = base;
  edge.pitch = columns * 2;
  return edge;
}
stage_edge_t queue() {
  stage_edge_t edge{};
  edge.words = 4096;
  edge.pitch = 512;
  edge.entries = 2;
  return edge;
}

stage_arguments_t product(stage_edge_t in, uint32_t k, stage_edge_t out, uint32_t n,
                          uint64_t weights) {
  stage_arguments_t g{};
  g.in[0] = in;
  g.out = out;
  g.rows = 10000;
  g.columns[0] = g.k = k;
  g.n = n;
  g.weights = weights;
  g.ldb = n * 2;
  g.parts = 1;
  return g;
}

GraphPlan plan() {
  GraphPlan plan;
  plan.outputs = {"h", "y"};
  plan.stages = {
      {{"stage_linear", 1, 1, product(memory(0, 64), 64, queue(), 256, 1 << 22)},
       {"stage_linear", 1, 1, product(queue(), 256, memory(1 << 24, 128), 128, 1 << 23)}}};
  plan.groups = {{0, 2, 2, 79, 0, plan.stages[0].data()}};
  return plan;
}

// What the law says where it reads and leaves so many bytes, so many sectors of its queues had to make room, and so many
// of anything found no way.
const GraphTraffic::Caches kPinned{uint64_t{1} << 26, 1, 0, {true}};

struct Laws {
  size_t checked = 0, violated = 0;
};
Laws laws_of(const AuditSink& sink) {
  Laws laws;
  for (const AuditResult& one : sink.all()) {
    ++laws.checked;
    if (!one.holds) ++laws.violated;
  }
  return laws;
}

Laws checked(const GraphPlan& plan, uint64_t read, uint64_t left, uint64_t evicted,
             const GraphTraffic::Caches& caches = kPinned, uint64_t fetched_past = 0) {
  GraphTraffic traffic(plan);
  const auto no_queue = [](const GraphQueue&) { return QueueTraffic{}; };
  traffic.note(
      0, false,
      [] {
        return GraphTraffic::Bytes{1000, 5000, 7, 9};
      },
      no_queue);
  traffic.note(
      1, true,
      [&] {
        return GraphTraffic::Bytes{1000 + read, 5000 + left, 7 + evicted, 9 + fetched_past};
      },
      no_queue);
  AuditSink sink;
  traffic.audit_reads(caches, sink);
  traffic.audit_writes(sink);
  return laws_of(sink);
}
uint64_t wrong(const GraphPlan& plan, uint64_t read, uint64_t left) {
  const Laws laws = checked(plan, read, left, 0);
  CHECK(laws.checked == 4);
  return laws.violated;
}

}  // namespace

TEST_CASE("a pipeline reads operands and weights once and leaves its results once") {
  const GraphPlan one = plan();
  CHECK(wrong(one, kIn + kWeights, kOut) == 0);
  CHECK(wrong(one, (kIn + kWeights) * 101 / 100, kOut * 101 / 100) == 0);
  CHECK(wrong(one, (kIn + kWeights) * 103 / 100 + 4096, kOut) == 1);
  CHECK(wrong(one, kIn + kWeights, kOut * 103 / 100 + 4096) == 1);  // Written twice, in part.
  CHECK(wrong(one, kIn + kWeights, kOut * 97 / 100 - 4096) == 1);   // Not written.
  CHECK(wrong(one, 0, 0) == 2);
}

TEST_CASE("a pipeline whose queues leave the L2 is held to nothing, one whose queues stay is") {
  CHECK(checked(plan(), 2 * kIn, 2 * kOut, 0).violated == 2);
  CHECK(checked(plan(), 2 * kIn, 2 * kOut, 1).checked == 0);
}

TEST_CASE("a sector that finds no way in the L2 may come with each reader, no other one") {
  const uint64_t more = kIn + kWeights + 64 * 10000;
  CHECK(checked(plan(), more, kOut, 0).violated == 1);
  CHECK(checked(plan(), more, kOut, 0, kPinned, 10000).violated == 0);
  CHECK(checked(plan(), more + kIn, kOut, 0, kPinned, 10000).violated == 1);
}

// 79 tiles, a work-group a stage: those of 64 x 256 stay in 160 KiB of LDS, as do those of 256 x 128.
TEST_CASE("weights that stay nowhere may come again with each tile, others come once") {
  const uint64_t again = kIn + 79 * kWeights;
  CHECK(checked(plan(), again, kOut, 0, {uint64_t{1} << 26, 1, 0, {false}}).violated == 0);
  CHECK(checked(plan(), again, kOut, 0, {uint64_t{1} << 26, 1, 0, {true}}).violated == 1);
  CHECK(checked(plan(), again, kOut, 0, {uint64_t{1} << 26, 1, STAGE_RESIDENT_LDS, {false}})
            .violated == 1);
  CHECK(checked(plan(), again + 2 * kIn, kOut, 0, {uint64_t{1} << 26, 1, 0, {false}}).violated ==
        1);
}

// Two parts of the first product read a tile of 127 x 64, up to two tiles apart. Between the first
// and the last of them come 2 tiles into each partition and 2 of 79 parts of the results; weights
// of 98,304 B are pinned.
TEST_CASE("tiles may come for each part where the L2 does not hold them, and no more often") {
  GraphPlan plan = ::plan();
  plan.stages[0][0].arguments.parts = 2;
  plan.stages[0][0].arguments.tile_rows = 127;
  const uint64_t again = 2 * kIn + kWeights;
  const uint64_t needs = 2 * (2 * 127 * 64 * 2 + kOut / 79) + kWeights;
  const GraphTraffic::Caches room{needs, 2, 0, {true}}, none{needs - 1, 2, 0, {true}};
  CHECK(checked(plan, again, kOut, 0, room).violated == 1);
  CHECK(checked(plan, again, kOut, 0, none).violated == 0);
  CHECK(checked(plan, again + kIn, kOut, 0, none).violated == 1);
  CHECK(checked(plan, again, kOut, 0, {needs - 1, 1, 0, {true}}).violated == 1);
  plan.stages[0][0].arguments.parts = 1;
  CHECK(checked(plan, again, kOut, 0, none).violated == 1);
}

namespace {

// One product of 10,000 rows, `k` columns in, 256 out, no bias.
graph_fused_t one_product(uint32_t k) {
  graph_fused_t fused{};
  fused.ops = 2;
  fused.op.form = GRAPH_PRODUCT;
  fused.op.choice.tile_n = 256;
  fused.op.chain.in = 0;
  fused.op.chain.rows = 10000;
  fused.op.chain.blocks = 1;
  fused.op.chain.products = 1;
  fused.op.chain.keep = GRAPH_NOWHERE;
  fused.op.chain.product[0].weights = 1 << 28;
  fused.op.chain.product[0].k = k;
  fused.op.chain.product[0].n = 256;
  fused.op.chain.product[0].bias = GRAPH_NOWHERE;
  return fused;
}

// Laws that are violated where it reads and leaves so many bytes, and its plan has so many.
uint64_t wrong(const graph_fused_t& fused, uint64_t planned, uint64_t read, uint64_t left) {
  GraphPlan plan;
  plan.outputs = {"y", "z"};
  plan.fused = {fused};
  plan.fused_bytes = {planned};
  GraphTraffic traffic(plan);
  const auto no_queue = [](const GraphQueue&) { return QueueTraffic{}; };
  traffic.note(
      0, false, [] { return GraphTraffic::Bytes{}; }, no_queue);
  traffic.note(
      1, true, [&] { return GraphTraffic::Bytes{.read = read, .left = left}; }, no_queue);
  AuditSink sink;
  traffic.audit_fused(uint64_t{1} << 26, sink);
  const Laws laws = laws_of(sink);
  CHECK(laws.checked == 5);
  return laws.violated;
}

}  // namespace

// 64 columns in: tiles or blocks of 128 columns make two of a row of tiles.
TEST_CASE("rows that work-groups share may come once for each, and no more often") {
  constexpr uint64_t kWeight = 64 * 256 * 2, kResult = 10000 * 256 * 2;
  const auto wrong = [](uint32_t tile_n, graph_form_t form, uint64_t read) {
    graph_fused_t fused = one_product(64);
    fused.op.form = form;
    fused.op.choice.tile_n = tile_n;
    fused.op.chain.blocks = 256 / tile_n;
    return ::wrong(fused, kIn + kWeight + kResult, read, kResult);
  };
  CHECK(wrong(128, GRAPH_PRODUCT, kIn + kWeight) == 0);
  CHECK(wrong(128, GRAPH_PRODUCT, 2 * kIn + kWeight) == 0);
  CHECK(wrong(128, GRAPH_PRODUCT, 3 * kIn + kWeight) == 1);
  CHECK(wrong(256, GRAPH_PRODUCT, 2 * kIn + kWeight) == 1);
  CHECK(wrong(128, GRAPH_CHAIN, 2 * kIn + kWeight) == 0);
  CHECK(wrong(128, GRAPH_CHAIN, 3 * kIn + kWeight) == 1);
  CHECK(wrong(256, GRAPH_CHAIN, 2 * kIn + kWeight) == 1);
  CHECK(wrong(128, GRAPH_PRODUCT, (kIn + kWeight) / 2) == 1);
}

TEST_CASE("what several operators of a fused kernel read is one operand") {
  constexpr uint64_t kRows = 10000 * 256 * 2, kWeight = 256 * 256 * 2;
  graph_fused_t fused = one_product(256);  // Its input is added to it.
  fused.op.gemm.has_addend = 1;
  fused.op.addend = fused.op.chain.in;
  CHECK(wrong(fused, 2 * kRows + kWeight, kRows + kWeight, kRows) == 0);
  CHECK(wrong(fused, 2 * kRows + kWeight, 2 * kRows + kWeight, kRows) == 1);
  fused.op.addend = 1 << 26;
  CHECK(wrong(fused, 3 * kRows + kWeight, 2 * kRows + kWeight, kRows) == 0);
  fused = one_product(256);  // Two products have their weights in common.
  fused.op.form = GRAPH_CHAIN;
  fused.op.chain.products = 2;
  fused.op.chain.product[1] = fused.op.chain.product[0];
  CHECK(fused_weights(fused) == kWeight);
  CHECK(wrong(fused, 2 * kRows + kWeight, kRows + kWeight, kRows) == 0);
}

TEST_CASE("what a stage writes beside its queue leaves, too") {
  GraphPlan one = plan();
  one.stages[0][0].arguments.copy_pitch = 512;  // 256 columns.
  CHECK(wrong(one, kIn + kWeights, kOut) == 1);
  CHECK(wrong(one, kIn + kWeights, kOut + 10000 * 512) == 0);
  one.stages[0][0].arguments.keep[1].pitch = 256;
  CHECK(wrong(one, kIn + kWeights, kOut + 10000 * 512) == 1);
  CHECK(wrong(one, kIn + kWeights, kOut + 10000 * 768) == 0);
}

TEST_CASE("an operand that is repeated for all rows is read once") {
  GraphPlan one = plan();
  one.stages[0][1].arguments.in[1] = memory(1 << 25, 0);
  one.stages[0][1].arguments.columns[1] = 128;
  CHECK(wrong(one, (kIn + kWeights + 256) * 101 / 100, kOut) == 0);
  CHECK(wrong(one, kIn + kWeights + 10000 * 256, kOut) == 1);
}

TEST_CASE("weights that do not stay in a unit are found in ranges of whole lines") {
  GraphPlan one = plan();
  graph_range_t ranges[2];
  const auto found = [&](uint32_t lds_bytes) {
    return graph_streamed_weights(one.groups.data(), 1, lds_bytes, 64, ranges, 2);
  };
  CHECK(found(STAGE_RESIDENT_LDS) == 0);  // At most 256 x 256 stay.
  REQUIRE(found(STAGE_RESIDENT_LDS - 1) == 2);
  CHECK(ranges[0].begin == 1 << 22);
  CHECK(ranges[0].end == (1 << 22) + 64 * 256 * 2 + 128);  // From 64 bytes behind a line on.
  one.stages[0][1].arguments.weights = (1 << 22) + 64 * 256 * 2 + 512;  // Behind a bias.
  REQUIRE(found(0) == 1);
  CHECK(ranges[0].end == (1 << 22) + kWeights + 512 + 128);
}

// 100,000 elements: 4 bytes of master and 2 of gradient to read, 4 of master and 2 of weight to write.
TEST_CASE("an update of a master reads and writes it once, and no weight is read") {
  GraphPlan plan;
  plan.outputs = {"w"};
  plan.operators.resize(1);
  plan.operators[0].columns = 100000;
  plan.with_master = {0};
  const auto wrong_of = [&](uint64_t read, uint64_t left) {
    GraphTraffic traffic(plan);
    const auto none = [](const GraphQueue&) { return QueueTraffic{}; };
    traffic.note(
        0, false,
        [] {
          return GraphTraffic::Bytes{7, 9};
        },
        none);
    traffic.note(
        0, true,
        [&] {
          return GraphTraffic::Bytes{7 + read, 9 + left};
        },
        none);
    AuditSink sink;
    traffic.audit_updates(sink);
    const Laws laws = laws_of(sink);
    CHECK(laws.checked == 4);
    return laws.violated;
  };
  CHECK(wrong_of(400000, 600000) == 0);  // The gradient is in the L2.
  CHECK(wrong_of(600000, 600000) == 0);
  CHECK(wrong_of(300000, 600000) == 1);
  CHECK(wrong_of(800000, 600000) == 1);  // The weight, too.
  CHECK(wrong_of(600000, 200000) == 1);  // No master.
  CHECK(wrong_of(600000, 400000) == 1);  // No weight.
}
