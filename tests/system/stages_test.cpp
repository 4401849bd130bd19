// SPDX-License-Identifier: Apache-2.0
// Question: is each kind of stage (sw/kernels/stages) right where rows, columns and parts are ragged, by double precision,
// and does it leave the same bits whatever the depth of its queues? Do graphs of applications whose pipelines have them run
// with all that are planned? Through the executable.
#include <algorithm>

#include "tests/support/with_stages.h"
#include "tests/system/pipeline_runs.h"

using namespace stretto::test;

namespace {

// Runs a graph with each of these pipelines, all of which must leave the same bits. Returns kernels of the last one.
std::vector<std::string> same_bits(const std::string& graph,
                                   const std::vector<std::string>& pipelines) {
  std::string expected;
  std::vector<std::string> found;
  for (const std::string& one : pipelines) {
    const Scratch scratch;
    INFO(one);
    const auto root =
        run(compiled(scratch, graph + "pipelines:\n  - " + one + "\n"), "--impl all=model");
    if (expected.empty()) expected = bits(root);
    CHECK(bits(root) == expected);
    found = kernels(root).at(0);
  }
  return found;
}

// Likewise as it is planned, with queues of 2 to 4 tiles. `text`: of a file; else `graph` is known by its name.
std::vector<std::vector<std::string>> same_bits_planned(const std::string& graph,
                                                        const std::string& text = "",
                                                        const std::string& options = "") {
  std::string expected;
  std::vector<std::vector<std::string>> found;
  for (const char* const depth : {"2", "3", "4"}) {
    const Scratch scratch;
    INFO(graph << " with queues of " << depth);
    const std::string name = text.empty() ? graph : scratch.file(graph, text);
    const auto root =
        run(planned(scratch, name + options + " --depth " + depth), "--impl all=model");
    if (expected.empty()) expected = bits(root);
    CHECK(bits(root) == expected);
    found = kernels(root);
  }
  return found;
}

// 333 rows: tiles of 128, 128 and 77, or of 100. `columns`: of the norm.
std::string norm_gradient(const std::string& columns) {
  std::string graph = R"(name: g
tensors:
  x: {shape: [333, @], kind: input}
  d: {shape: [333, @], kind: input}
  e: {shape: [333, @]}
  g: {shape: [@], kind: weight}
  dx: {shape: [333, @]}
  dg: {shape: [@], kind: gradient}
  db: {shape: [@], kind: gradient}
  w: {shape: [@, 400], kind: weight}
  y: {shape: [333, 400]}
ops:
  - {op: Relu, in: [d], out: e}
  - {op: LayerNormGrad, in: [x, g, e], out: dx}
  - {op: LayerNormGammaGrad, in: [x, e], out: dg}
  - {op: LayerNormBetaGrad, in: [e], out: db}
  - {op: MatMul, in: [dx, w], out: y}
)";
  for (size_t at; (at = graph.find('@')) != std::string::npos;) graph.replace(at, 1, columns);
  return graph;
}

// Products, of which one has an activation; r is added through a queue, z from memory.
const std::string kAdded = R"(name: g
tensors:
  x: {shape: [333, 300], kind: input}
  z: {shape: [333, 520], kind: input}
  w: {shape: [300, 300], kind: weight}
  v: {shape: [300, 520], kind: weight}
  u: {shape: [520, 70], kind: weight}
  r: {shape: [333, 300]}
  p: {shape: [333, 300]}
  a: {shape: [333, 300]}
  s: {shape: [333, 300]}
  q: {shape: [333, 520]}
  t: {shape: [333, 520]}
  y: {shape: [333, 70]}
  c: {shape: [333, 300]}
ops:
  - {op: Relu, in: [x], out: r}
  - {op: MatMul, in: [r, w], out: p}
  - {op: ACTIVATION, in: [p], out: a}
  - {op: Add, in: [a, r], out: s}
  - {op: MatMul, in: [s, v], out: q}
  - {op: Add, in: [z, q], out: t}
  - {op: MatMul, in: [t, u], out: y}
  - {op: Neg, in: [p], out: c}
)";

}  // namespace

TEST_CASE("gradients of layer norm are right, those of gamma and beta and of ragged tiles, too",
          "[KT-PIPE-01]") {
  // Pieces of 8, 4 and 1 rows; 500 columns have one in FP32. Tiles of 100 rows: of one row, 25 a wavefront.
  for (const char* const columns : {"40", "70", "128", "500"}) {
    INFO(columns);
    const auto found = same_bits(norm_gradient(columns),
                                 {"{stages: {e: 2, dx: 3, dg: 1, db: 1, y: 2}, depth: 2}",
                                  "{stages: {e: 1, dx: 3, dg: 1, db: 1, y: 3}, depth: 3}",
                                  "{stages: {e: 3, dx: 3, dg: 1, db: 1, y: 1}, depth: 4}"});
    CHECK(found == std::vector<std::string>{"stage_map_relu", "stage_map_layer_norm_grad",
                                            "stage_final", "stage_final", "stage_linear_stream"});
  }
  (void)same_bits(norm_gradient("96"),
                  {"{stages: {e: 2, dx: 2, dg: 1, db: 1, y: 2}, tile_rows: 100}",
                   "{stages: {e: 2, dx: 2, dg: 1, db: 1, y: 2}, tile_rows: 100, depth: 4}"});
}

TEST_CASE("a sum of a gradient of layer norm that is left out is found") {
  const Scratch scratch;
  const std::string file =
      compiled(scratch, norm_gradient("70") +
                            "pipelines:\n  - {stages: {e: 1, dx: 2, dg: 1, db: 1, y: 1}}\n");
  const Finished skipped = with_stages("stages_skip_sum", "--set l2.persist_percent=0", file);
  INFO(skipped.output);
  CHECK(skipped.status == 1);
  CHECK(skipped.says("tensor dg"));
}

// Work-groups share tiles by columns: 300 are three blocks, 520 five. Neg is no stage of this, so p goes to memory.
TEST_CASE("sums behind products are right, and what an activation is of goes to memory") {
  for (const char* const activation : {"Relu", "Silu"}) {
    std::string graph = kAdded;
    graph.replace(graph.find("ACTIVATION"), 10, activation);
    const auto found = same_bits_planned("g.yaml", graph, " --exclude c");
    CHECK(found.at(0).size() == 4);
  }
}

// 16 tiles, of which a work-group has three or more. What is added has another way than what is multiplied.
TEST_CASE("a product that does not wait for what is added to it is found") {
  const std::string graph = R"(name: g
tensors:
  x: {shape: [2000, 64], kind: input}
  z: {shape: [2000, 64], kind: input}
  w: {shape: [64, 64], kind: weight}
  v: {shape: [64, 64], kind: weight}
  r: {shape: [2000, 64]}
  p: {shape: [2000, 64]}
  s: {shape: [2000, 64]}
  y: {shape: [2000, 64]}
ops:
  - {op: Gelu, in: [z], out: r}
  - {op: MatMul, in: [x, w], out: p}
  - {op: Add, in: [p, r], out: s}
  - {op: MatMul, in: [s, v], out: y}
)";
  const Scratch scratch;
  const std::string few = "--set gpu.cus=8";
  const std::string file = planned(scratch, scratch.file("g.yaml", graph) + " " + few);
  CHECK(kernels(run(file, "--impl all=model " + few)).at(0).size() == 3);
  const Finished early = with_stages("stages_early_addend", few, file);
  INFO(early.output);
  CHECK(early.status == 1);
  CHECK(early.says("race: gpu0: queue data at 0x"));
  CHECK(early.says("queue r, entry "));
}

// 150 tokens are tiles of 128 and 22 rows; heads have 64 columns. In decoding, work-groups share a tile of one row.
TEST_CASE("Llama as the compiler plans it is right: rotary embedding, norm, residual sums") {
  const std::string shape = "hidden=256,heads=4,kv_heads=2,between=392";
  for (const char* const tokens : {"llama:tokens=150,", "llama:tokens=1,cached=37,"}) {
    const auto found = same_bits_planned(tokens + shape);
    REQUIRE(found.size() == 2);
    CHECK(found[0].size() == 6);
    CHECK(found[0][0] == "stage_map_rms_norm");
    CHECK(found[0][4] == "stage_map_rope");
    CHECK(found[1].size() == 6);
  }
}

// A row, a column from a queue and one from memory, one element; then a column as wide as 700 elements. Rows of 1,100
// elements are two pieces, of functions three.
TEST_CASE("second operands that are repeated are right, and columns that become matrices") {
  const std::string graph = R"(name: g
tensors:
  x: {shape: [333, 1100], kind: input}
  c: {shape: [333, 1], kind: input}
  r: {shape: [1100], kind: weight}
  w: {shape: [1100, 1], kind: weight}
  k: {shape: [1], kind: constant, value: 1.5}
  a: {shape: [333, 1100]}
  b: {shape: [333, 1100]}
  p: {shape: [333, 1]}
  q: {shape: [333, 1]}
  d: {shape: [333, 1100]}
  e: {shape: [333, 1100]}
  f: {shape: [333, 1100]}
  t: {shape: [333, 1]}
  u: {shape: [333, 700]}
ops:
  - {op: Mul, in: [x, r], out: a}
  - {op: Sub, in: [a, k], out: b}
  - {op: MatMul, in: [b, w], out: p}
  - {op: Sigmoid, in: [p], out: q}
  - {op: Add, in: [b, q], out: d}
  - {op: Div, in: [d, q], out: e}
  - {op: Mul, in: [e, c], out: f}
  - {op: Mul, in: [q, k], out: t}
  - {op: Expand, in: [t], out: u, axis: 1, scale: 0.25}
)";
  const auto found = same_bits(
      graph, {"{stages: {a: 2, b: 2, p: 1, q: 1, d: 3, e: 2, f: 2, t: 1, u: 2}, depth: 2}",
              "{stages: {a: 1, b: 3, p: 2, q: 2, d: 1, e: 1, f: 3, t: 2, u: 1}, depth: 3}",
              "{stages: {a: 3, b: 1, p: 3, q: 3, d: 2, e: 3, f: 1, t: 1, u: 3}, depth: 4, "
              "tile_rows: 48}"});
  CHECK(found.at(8) == "stage_map_expand");
}

// Forward and backward; heads of 64 columns. Roots and quotients of norms are read by gradients.
TEST_CASE("Llama's training as the compiler plans it is right") {
  const Scratch scratch;
  const auto found = kernels(
      run(planned(scratch, "llama:tokens=150,hidden=256,heads=4,kv_heads=4,between=392 --training"),
          "--impl all=model"));
  size_t expanded = 0;
  for (const auto& pipeline : found)
    expanded += std::count(pipeline.begin(), pipeline.end(), "stage_map_expand");
  CHECK(expanded > 0);
}

// 27 pipelines; six of them with the gradient of a norm.
TEST_CASE("MeshGraphNets' training as the compiler plans it is right") {
  const Scratch scratch;
  const auto found =
      kernels(run(planned(scratch, "mgn:nodes=150,edges=333 --training"), "--impl all=model"));
  size_t norms = 0;
  for (const auto& pipeline : found)
    norms += std::count(pipeline.begin(), pipeline.end(), "stage_map_layer_norm_grad");
  CHECK(found.size() == 27);
  CHECK(norms == 6);
}

// 21 pipelines. What SiLU is of is read by its gradient, so products of the forward pass write it, too.
TEST_CASE("GraphCast's training as the compiler plans it is right") {
  const Scratch scratch;
  const auto found = kernels(run(
      planned(
          scratch,
          "graphcast:grid=150,mesh=70,to_mesh=200,in_mesh=130,to_grid=210,latent=128 --training"),
      "--impl all=model"));
  CHECK(found.size() == 21);
}
