// SPDX-License-Identifier: Apache-2.0
// Question: do operators that are fused vertically (Kitsune, 3) leave what double precision gives, with any number of
// rows by the same kernels, and read nothing of memory that was made inside? Through the executable.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

const std::string kCompile = "/usr/bin/python3 " STRETTO_SOURCE_DIR "/sw/compiler/compile.py ";

// A workload of a graph that is planned for `machine`; nothing in it may be left to kernels of its own.
std::string planned(const Scratch& scratch, const std::string& graph,
                    const std::string& machine = "a100") {
  const Finished finished = run_command(kCompile + graph + " --mode vertical --machine " + machine +
                                        " -o " + scratch.path + "/p");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  CHECK(finished.output.empty());
  return scratch.file(
      "w.yaml", "machine: " + machine +
                    "\nset: {gpus: 1}\nmodes: [vertical, launched]\ngraph: {plan: " + scratch.path +
                    "/p.graph, iterations: 1}\n");
}

boost::json::value run(const std::string& workload, const std::string& options = "",
                       const std::string& mode = "vertical") {
  const Scratch scratch;
  const Finished finished =
      run_stretto("run " + workload + " --mode " + mode + " --impl all=model " + options +
                  " --out " + scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  const auto root = stats(scratch.path + "/r");
  CHECK(root.at("check").at("mismatches").to_number<uint64_t>() == 0);
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
  return root;
}

// What runs for each operator; groups are listed with their last one.
std::vector<std::string> kernels(const boost::json::value& root) {
  std::vector<std::string> all;
  for (const auto& op : root.at("job").at("launches").as_array())
    for (const auto& kernel : op.at("kernels").as_array()) all.emplace_back(kernel.as_string());
  return all;
}

size_t count(const std::vector<std::string>& all, const std::string& prefix) {
  return static_cast<size_t>(std::count_if(
      all.begin(), all.end(), [&](const std::string& one) { return one.starts_with(prefix); }));
}

// Three products: K is no multiple of a step and columns none of 16; weights both ways round, with and without bias;
// a norm at the end. 120 columns are one chunk of 24 and three of 32.
std::string chain(uint32_t rows) {
  const std::string r = std::to_string(rows);
  return R"(name: g
tensors:
  x: {shape: [)" +
         r + R"(, 75], kind: input}
  v: {shape: [75, 120], kind: weight}
  b: {shape: [120], kind: weight}
  w: {shape: [128, 120], kind: weight}
  u: {shape: [128, 104], kind: weight}
  c: {shape: [104], kind: weight}
  gamma: {shape: [104], kind: weight}
  beta: {shape: [104], kind: weight}
  p: {shape: [)" +
         r + R"(, 120]}
  a: {shape: [)" +
         r + R"(, 120]}
  q: {shape: [)" +
         r + R"(, 128]}
  e: {shape: [)" +
         r + R"(, 128]}
  s: {shape: [)" +
         r + R"(, 104]}
  y: {shape: [)" +
         r + R"(, 104]}
ops:
  - {op: MatMul, in: [x, v, b], out: p}
  - {op: Relu, in: [p], out: a}
  - {op: MatMul, in: [a, w], out: q, transpose_b: 1}
  - {op: Gelu, in: [q], out: e}
  - {op: MatMul, in: [e, u, c], out: s}
  - {op: LayerNorm, in: [s, gamma, beta], out: y}
)";
}

// Two products, the first one's weights the other way round, 256 columns between them; a function in FP32.
const std::string kWide = R"(name: g
tensors:
  x: {shape: [300, 90], kind: input}
  v: {shape: [256, 90], kind: weight}
  w: {shape: [256, 72], kind: weight}
  p: {shape: [300, 256]}
  a: {shape: [300, 256]}
  q: {shape: [300, 72]}
  y: {shape: [300, 72]}
ops:
  - {op: MatMul, in: [x, v], out: p, transpose_b: 1}
  - {op: Gelu, in: [p], out: a}
  - {op: MatMul, in: [a, w], out: q}
  - {op: ACTIVATION, in: [q], out: y}
)";

// One product of three blocks of columns.
const std::string kBlocks = R"(name: g
tensors:
  x: {shape: [300, 40], kind: input}
  w: {shape: [40, 300], kind: weight}
  b: {shape: [300], kind: weight}
  p: {shape: [300, 300]}
  y: {shape: [300, 300]}
ops:
  - {op: MatMul, in: [x, w, b], out: p}
  - {op: Silu, in: [p], out: y}
)";

// A norm of long rows behind a product, which others read, too; a product and what is added to it.
const std::string kKept = R"(name: g
tensors:
  x: {shape: [300, 70], kind: input}
  w: {shape: [70, 504], kind: weight}
  b: {shape: [504], kind: weight}
  gamma: {shape: [504], kind: weight}
  beta: {shape: [504], kind: weight}
  v: {shape: [504, 70], kind: weight}
  p: {shape: [300, 504]}
  y: {shape: [300, 504]}
  z: {shape: [300, 504]}
  q: {shape: [300, 70]}
  r: {shape: [300, 70]}
ops:
  - {op: MatMul, in: [x, w, b], out: p}
  - {op: LayerNorm, in: [p, gamma, beta], out: y}
  - {op: Softmax, in: [p], out: z}
  - {op: MatMul, in: [y, v], out: q}
  - {op: Add, in: [x, q], out: r}
)";

// A product and its own input behind it; two products by the same weights.
const std::string kTwice = R"(name: g
tensors:
  x: {shape: [259, 57], kind: input}
  w: {shape: [57, 57], kind: weight}
  v: {shape: [64, 64], kind: weight}
  z: {shape: [259, 64], kind: input}
  p: {shape: [259, 57]}
  y: {shape: [259, 57]}
  q: {shape: [259, 64]}
  a: {shape: [259, 64]}
  r: {shape: [259, 64]}
ops:
  - {op: MatMul, in: [x, w], out: p}
  - {op: Add, in: [p, x], out: y}
  - {op: MatMul, in: [z, v], out: q}
  - {op: Relu, in: [q], out: a}
  - {op: MatMul, in: [a, v], out: r}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

Finished with_kernels(const std::string& elf, const std::string& workload) {
  const Scratch scratch;
  return run_stretto("run " + workload +
                         " --mode vertical --impl all=model --set gpu.cus=1 --out " + scratch.path +
                         "/r",
                     "env STRETTO_SW=" + software_with(scratch, elf, "fused") + " timeout 100");
}

}  // namespace

TEST_CASE("a chain of products is right whatever its rows, by the same kernels", "[KT-VF-01]") {
  boost::json::value hashes;
  for (const uint32_t rows : {1u, 127u, 129u, 300u}) {
    INFO(rows);
    const Scratch scratch;
    const auto root = run(planned(scratch, scratch.file("g.yaml", chain(rows))));
    CHECK(kernels(root) == std::vector<std::string>{"fused_128"});
    if (hashes.is_null()) hashes = root.at("kernel_sha256");
    CHECK(root.at("kernel_sha256") == hashes);
  }
}

TEST_CASE("fused kernels are right on one unit, whose work-groups take tile after tile") {
  const Scratch scratch;
  const std::string file = planned(scratch, scratch.file("g.yaml", chain(900)));
  const auto one = run(file, "--set gpu.cus=1 --set graph.iterations=2");
  CHECK(one.at("job").at("results_sha256") == run(file).at("job").at("results_sha256"));
}

// GELUs are worked out by SIMT pipes of 64 lanes, and of 16. What they take longer, a unit with one work-group takes
// longer: fused_256 has most of its LDS. Two of fused_128, each with half of it, have one multiply meanwhile.
TEST_CASE("tensor and SIMT pipes of a unit take turns in a fused kernel, unless two share its LDS",
          "[KT-VF-03]") {
  const auto share = [](const std::string& graph, uint64_t work_groups) {
    const Scratch scratch;
    const std::string file = planned(scratch, scratch.file("g.yaml", graph));
    const auto cycles = [&](const char* lanes) {
      const auto root = run(file, std::string("--set gpu.cus=1 --set gpu.tile_values=false "
                                              "--set graph.iterations=1 --set gpu.simt_lanes=") +
                                      lanes);
      const auto of = [&](const std::string& name) {
        return root.at("statistics").at("gpu0.compute.cu0." + name).to_number<double>();
      };
      CHECK(of("workgroups") == static_cast<double>(work_groups));
      return std::pair(
          of("tensor.busy_cycles") + of("tensor.waiting_cycles") + of("tensor.idle_cycles"),
          of("simt.busy_cycles"));
    };
    const auto [fast, few] = cycles("64");
    const auto [slow, many] = cycles("16");
    CHECK(many > 2 * few);
    return (slow - fast) / (many - few);
  };
  std::string wide = replaced(kWide, "ACTIVATION", "Relu");
  while (wide.find("[300,") != std::string::npos) wide = replaced(wide, "[300,", "[2048,");
  const double alone = share(wide, 1);
  CHECK(alone > 0.85);
  CHECK(alone < 1.1);
  std::string tensors = "name: g\ntensors:\n  x: {shape: [2048, 128], kind: input}\n",
              ops = "ops:\n";
  for (const std::string n : {"0", "1", "2"}) {
    tensors += "  w" + n + ": {shape: [128, 128], kind: weight}\n  p" + n +
               ": {shape: [2048, 128]}\n  a" + n + ": {shape: [2048, 128]}\n";
    ops += "  - {op: MatMul, in: [" + (n == "0" ? "x" : "a" + std::to_string(n[0] - '1')) + ", w" +
           n + "], out: p" + n + "}\n  - {op: Gelu, in: [p" + n + "], out: a" + n + "}\n";
  }
  CHECK(share(tensors + ops, 2) < 0.8);
}

TEST_CASE("a wide tile in LDS, and functions in FP32, are right", "[KT-VF-02]") {
  for (const char* const activation : {"Sigmoid", "Tanh", "Silu"}) {
    INFO(activation);
    const Scratch scratch;
    const std::string graph = replaced(kWide, "ACTIVATION", activation);
    const auto root = run(planned(scratch, scratch.file("g.yaml", graph)));
    CHECK(kernels(root) == std::vector<std::string>{"fused_256"});
  }
}

TEST_CASE("one product of many columns is cut into blocks, and right") {
  const Scratch scratch;
  const auto root = run(planned(scratch, scratch.file("g.yaml", kBlocks)), "--set gpu.cus=2");
  CHECK(kernels(root) == std::vector<std::string>{"fused_128"});
}

TEST_CASE("a norm of long rows, a product that is kept, and what is added to one are right") {
  const Scratch scratch;
  const auto root =
      run(planned(scratch, scratch.file("g.yaml", kKept) + " --group p,y --group q,r"),
          "--set gpu.cus=3");
  const auto found = kernels(root);
  REQUIRE(found.size() == 3);
  CHECK(found[0] == "fused_512");
  CHECK(found[2].starts_with("gemm_fp16_"));
  // The product that is kept is compared, too: of y, p, z, r each element.
  CHECK(root.at("check").at("elements").to_number<uint64_t>() > 3 * 300 * 504 + 300 * 70);
}

// What several of its operators read is read from memory once.
TEST_CASE("a product to which its own input is added, and two by the same weights, are right") {
  const Scratch scratch;
  const auto root =
      run(planned(scratch, scratch.file("g.yaml", kTwice) + " --group p,y --group q,a,r"));
  const auto found = kernels(root);
  REQUIRE(found.size() == 2);
  CHECK(found[0].starts_with("gemm_fp16_"));
  CHECK(found[1] == "fused_128");
}

TEST_CASE(
    "a plan whose bytes are not those of its kernel violates a law, and no element is wrong") {
  const Scratch scratch;
  const std::string file = planned(scratch, scratch.file("g.yaml", kTwice) + " --group p,y");
  REQUIRE(run_command("sed -i 's/\"dram_bytes\": 65550/\"dram_bytes\": 65551/' " + scratch.path +
                      "/p.graph.json && grep -q 65551 " + scratch.path + "/p.graph.json")
              .status == 0);
  const Finished finished =
      run_stretto("run " + file + " --mode vertical --impl all=model --out " + scratch.path + "/r");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says(
      "law violated: DRAM bytes of a fused kernel, by its arguments = by its plan, at "
      "the fused kernel of p: 65550 against 65551"));
  CHECK(!finished.says("wrong data"));
  CHECK(stats(scratch.path + "/r").at("check").at("mismatches").to_number<uint64_t>() == 0);
}

TEST_CASE("fused kernels are right by RTL, and where a unit has less LDS") {
  const Scratch scratch;
  const auto root =
      run(planned(scratch, scratch.file("g.yaml", chain(300)), "a100-nvswitch"), "--impl all=rtl");
  CHECK(kernels(root) == std::vector<std::string>{"fused_128"});
}

// 24, 21 and 51 operators; Table 2 has 18, 17 and 36 of them in groups, here it is 18, 16 and 40.
TEST_CASE("NeRF, DLRM and MeshGraphNets with fused groups are right") {
  struct {
    const char* graph;
    size_t launches, chains;
  } const all[] = {{"nerf:rows=300", 24 - 9, 0},
                   {"dlrm:batch=300,entries=50", 21 - 9, 2},
                   {"mgn:nodes=150,edges=333", 51 - 33, 7}};
  for (const auto& one : all) {
    INFO(one.graph);
    const Scratch scratch;
    const auto root = run(planned(scratch, one.graph));
    size_t launches = 0;
    for (const auto& op : root.at("job").at("launches").as_array())
      launches += op.at("kernels").as_array().empty() ? 0 : 1;
    CHECK(launches == one.launches);
    CHECK(count(kernels(root), "fused_") == one.chains);
    CHECK(root.at("job").at("fused").at("alone").as_array().empty());
  }
}

// p, a, q, e, s of 900 rows: 600 elements each row, which kernels of their own write.
TEST_CASE("what is between fused operators is not written to memory") {
  const Scratch scratch;
  const std::string file = planned(scratch, scratch.file("g.yaml", chain(900)));
  const auto written = [](const boost::json::value& root) {
    return root.at("dram_bytes").at("compute_write").to_number<double>();
  };
  const double fused = written(run(file)), alone = written(run(file, "", "launched"));
  CHECK(alone - fused >= 0.98 * 2 * 900 * (120 + 120 + 128 + 128 + 104));
}

TEST_CASE("fused kernels that are wrong are found out") {
  const Scratch scratch;
  const std::string file = planned(scratch, scratch.file("g.yaml", chain(900)));
  for (const char* const elf : {"fused_swap_tiles", "fused_no_barrier", "fused_skip_epilogue"}) {
    const Finished finished = with_kernels(elf, file);
    INFO(elf << ": " << finished.output);
    CHECK(finished.status == 1);
    CHECK(finished.says("wrong data: rank 0 tensor y"));
  }
}

TEST_CASE("a group that is no fused kernel as a whole runs in parts, and the report says why") {
  const Scratch scratch;
  const std::string graph = scratch.file("g.yaml", replaced(chain(300), "{op: Gelu", "{op: Silu"));
  const Finished compiled =
      run_command(kCompile + graph + " --mode vertical --machine a100 -o " + scratch.path + "/p");
  REQUIRE(compiled.status == 0);
  CHECK(compiled.lines() == 1);
  CHECK(compiled.says("group p is planned and is no kernel as a whole: silu is worked out"));
  const std::string file = scratch.file(
      "w.yaml", "machine: a100\nmodes: [vertical]\ngraph: {plan: " + scratch.path + "/p.graph}\n");
  const auto root = run(file);
  // p to e, where SiLU is the last one; s and y.
  CHECK(root.at("job").at("fused").at("kernels").to_number<uint64_t>() == 2);
  CHECK(root.at("job").at("fused").at("alone").as_array().size() == 1);
  CHECK(count(kernels(root), "fused_") == 2);
}

TEST_CASE("a plan whose fused groups are wrong is refused with the entry") {
  const Scratch scratch;
  const std::string file = planned(scratch, scratch.file("g.yaml", chain(300)));
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& says) {
    const Finished finished =
        run_command("sed 's/" + from + "/" + to + "/' " + scratch.path + "/p.graph.json > " +
                    scratch.path + "/q.graph.json && sed 's#/p.graph#/q.graph#' " + file + " > " +
                    scratch.path + "/v.yaml && " STRETTO_BUILD_DIR "/stretto run " + scratch.path +
                    "/v.yaml --mode vertical --out " + scratch.path + "/r");
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(says));
  };
  refused("\"weights\": \"w\"", "\"weights\": \"u\"",
          "fused[0].products[1].weights has 104 rows for a left side of 120 columns");
  refused("\"activation\": \"gelu\"", "\"activation\": \"silu\"",
          "fused[0].products[1].activation is none that a tile in LDS can have");
  refused("\"kernel\": \"chain\"", "\"kernel\": \"product\"", "fused[0].kernel is a product alone");
  refused("\"fused\"", "\"groups2\"", "has no fused groups");
}
