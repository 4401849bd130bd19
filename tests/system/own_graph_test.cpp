// SPDX-License-Identifier: Apache-2.0
// Question: does `stretto run` take a user's own graph, an ONNX file or an application by its name, plan it, run it as
// kernels and as pipelines with results that double precision confirms, say what each operator and stage took, plan
// better by that, and refuse with one line what cannot be? Through the executable.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>

#include <catch2/catch.hpp>

#include "tests/support/onnx_net.h"
#include "tests/system/process.h"

using namespace stretto::test;

namespace {

boost::json::value run(const std::string& graph, const std::string& options,
                       const std::string& out) {
  const Finished finished =
      run_stretto("run " + graph + " --impl all=model " + options + " --out " + out);
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  const auto root = stats(out);
  CHECK(root.at("check").at("elements").to_number<uint64_t>() > 10000);
  CHECK(root.at("check").at("mismatches").to_number<uint64_t>() == 0);
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
  return root;
}

void refused(const std::string& arguments, const std::string& word) {
  const Scratch scratch;
  const Finished finished = run_stretto("run " + arguments + " --out " + scratch.path + "/r");
  INFO(arguments << ": " << finished.output);
  CHECK(finished.status == 2);
  CHECK(finished.lines() == 1);
  CHECK(finished.says(word));
}

}  // namespace

TEST_CASE("another kernel of pipelines makes no result of kernels out of date") {
  for (const auto& [mode, has_stages] :
       {std::pair{"launched", false}, std::pair{"kitsune", true}}) {
    const Finished dry =
        run_stretto(std::string("run graph/pipeline --mode ") + mode + " --dry-run");
    INFO(dry.output);
    CHECK(dry.status == 0);
    CHECK(dry.says("/stages.elf") == has_stages);
    CHECK(dry.says("/ops_vector_fp16.elf"));
  }
}

TEST_CASE(
    "a user's own graph runs as kernels, and each operator's time and use of the machine is said") {
  const Scratch scratch;
  const auto root = run(net(scratch), "--mode bsp", scratch.path + "/bsp");
  CHECK(root.at("machine") == "a100");
  CHECK(root.at("mode") == "bsp");
  const auto& operators = root.at("job").at("operators_alone").as_array();
  REQUIRE(operators.size() == 3);
  double sum = 0;
  for (const auto& one : operators) sum += one.at("us").to_number<double>();
  const double iteration =
      root.at("job").at("iteration_ns").as_array().at(1).to_number<double>() / 1000;
  CHECK(sum == Approx(iteration).epsilon(1e-4));
  // 2 x 700 x 200 x 256 operations in the last iteration, of 108 units x 1024 multiply-adds x 1.4 GHz.
  const auto& product = operators.at(0);
  CHECK(product.at("tensor").to_number<double>() * product.at("us").to_number<double>() >=
        0.999 * 700 * 200 * 256 / (108 * 1024 * 1400.0));
  CHECK(product.at("tensor").to_number<double>() < 1);
  CHECK(operators.at(1).at("tensor").to_number<double>() == 0);
  CHECK(operators.at(1).at("simt").to_number<double>() > 0);
}

TEST_CASE(
    "a user's own graph runs as a pipeline, with what was predicted beside what was simulated",
    "[KT-LB-06]") {
  const Scratch scratch;
  const std::string graph = net(scratch), first = scratch.path + "/first",
                    second = scratch.path + "/second";
  const auto pipeline_of = [](const boost::json::value& root) {
    return root.at("job").at("pipelines").as_array().at(0);
  };
  const auto before = pipeline_of(run(graph, "", first));
  CHECK(before.at("tiles").to_number<uint64_t>() == 6);
  CHECK(before.at("predicted").at("source") == "estimate");
  const double us = before.at("us").to_number<double>();
  CHECK(before.at("tiles_a_ms").to_number<double>() == Approx(6000 / us).epsilon(1e-4));
  for (const auto& stage : before.at("stages").as_array()) {
    // The work-groups' time for a tile lies between what the tensor pipe needs and what they took.
    CHECK(stage.at("tile_us").to_number<double>() > 0);
    CHECK(stage.at("tile_us").to_number<double>() * 6 <=
          stage.at("us").to_number<double>() * stage.at("work_groups").to_number<double>() + 1e-3);
  }
  // Six tiles: all of it is launch and the way through the stages.
  CHECK(before.at("simulated_of_predicted").to_number<double>() >= 0.75);
  CHECK(before.at("simulated_of_predicted").to_number<double>() <= 1.1);
  double run_us = 0, way = 0;
  for (const auto& stage : before.at("stages").as_array()) {
    run_us = std::max(run_us, stage.at("us").to_number<double>());
    CHECK(stage.at("first_us").to_number<double>() > 0);
    way += stage.at("first_us").to_number<double>();
  }
  CHECK(way == Approx(run_us).epsilon(0.1));
  // What the firmware takes before the first work-group (LAUNCH_CLOCKS of timing.py), and to begin an iteration.
  const double launch = before.at("predicted").at("launch_us").to_number<double>();
  CHECK(us - run_us > launch - 0.2);
  CHECK(us - run_us < launch + 1.5);
  // The second pass takes what was measured.
  const auto after = pipeline_of(run(graph, "--profile " + first + "/profile.json", second));
  CHECK(after.at("predicted").at("source") == "profile");
  CHECK(after.at("simulated_of_predicted").to_number<double>() >= 0.9);
  CHECK(after.at("simulated_of_predicted").to_number<double>() <= 1.1);
}

// Three products on 131,072 rows, the last one 3 columns wide: next to nothing for a pipe, but for
// latency. Predictions of Kitsune are held to 0.8; this one has nothing that a profile does not
// know, so it is held to more, from both sides.
TEST_CASE("what the second pass predicts is simulated, and sooner than the first pass's plan",
          "[.long]") {
  const Scratch scratch;
  const std::string graph = scratch.path + "/net.onnx";
  const std::string script = scratch.file("net.py", R"(
import onnx, sys
from onnx import TensorProto, helper
half = TensorProto.FLOAT16
wide = [256, 256, 256, 3]
weights = [helper.make_tensor(f"w{i}", half, [a, b], bytes(2 * a * b), raw=True)
           for i, (a, b) in enumerate(zip(wide, wide[1:]))]
nodes = [helper.make_node("MatMul", ["x", "w0"], ["h0"]), helper.make_node("Relu", ["h0"], ["a0"]),
         helper.make_node("MatMul", ["a0", "w1"], ["h1"]), helper.make_node("Relu", ["h1"], ["a1"]),
         helper.make_node("MatMul", ["a1", "w2"], ["y"])]
graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", half, [131072, 256])],
                          [helper.make_tensor_value_info("y", half, [131072, 3])], weights)
onnx.save(helper.make_model(graph), sys.argv[1])
)");
  REQUIRE(run_command("/usr/bin/python3 " + script + " " + graph).status == 0);
  const auto pass = [&](const std::string& options, const std::string& out) {
    const Finished finished =
        run_stretto("run " + graph + " --impl all=model --set gpu.tile_values=false " + options +
                    " --out " + out);
    INFO(finished.output);
    REQUIRE(finished.status == 0);
    return stats(out).at("job").at("pipelines").as_array().at(0);
  };
  const std::string first = scratch.path + "/first";
  const auto before = pass("", first);
  const auto after = pass("--profile " + first + "/profile.json", scratch.path + "/second");
  CHECK(before.at("simulated_of_predicted").to_number<double>() < 0.7);
  CHECK(after.at("simulated_of_predicted").to_number<double>() == Approx(1).epsilon(0.03));
  CHECK(after.at("us").to_number<double>() < 0.75 * before.at("us").to_number<double>());
}

TEST_CASE("a net of other numbers than FP16 says that it runs as FP16") {
  const Scratch scratch;
  const std::string script = scratch.file("net.py", R"(
import onnx, sys
from onnx import TensorProto, helper
kind = getattr(TensorProto, sys.argv[2])
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])], "net",
                          [helper.make_tensor_value_info("x", kind, [64, 64]), helper.make_tensor_value_info("w", kind, [64, 64])],
                          [helper.make_tensor_value_info("y", kind, [64, 64])],
                          value_info=[helper.make_tensor_value_info("h", kind, [64, 64])])
onnx.save(helper.make_model(graph), sys.argv[1])
)");
  const auto said = [&](const std::string& kind) {
    const std::string graph = scratch.path + "/" + kind + ".onnx";
    REQUIRE(run_command("/usr/bin/python3 " + script + " " + graph + " " + kind).status == 0);
    const Finished finished = run_stretto("run " + graph + " --mode bsp --dry-run");
    INFO(finished.output);
    REQUIRE(finished.status == 0);
    return finished.output;
  };
  const std::string note = " of the file is kept and computed as FP16";
  CHECK(said("FLOAT").find("FP32" + note) != std::string::npos);
  CHECK(said("BFLOAT16").find("BF16" + note) != std::string::npos);
  CHECK(said("FLOAT16").find(note) == std::string::npos);
}

// With one row the gradient of a bias is a view of a tensor that passes through a queue.
TEST_CASE("one row is trained right in every mode") {
  for (const char* mode : {"bsp", "vertical", "kitsune"}) {
    const Scratch scratch;
    INFO(mode);
    run("nerf:rows=1", std::string("--training --mode ") + mode, scratch.path + "/r");
  }
}

TEST_CASE("an application runs by its name and parameters, and files of a dry run go away") {
  const Scratch scratch;
  const Finished finished = run_stretto("run nerf:rows=130 --dry-run --out " + scratch.path + "/r");
  INFO(finished.output);
  CHECK(finished.status == 0);
  CHECK(finished.says("name: \"nerf:rows=130\""));
  CHECK(!std::filesystem::exists(scratch.path + "/r"));
  (void)run("nerf:rows=130", "", scratch.path + "/r");
}

TEST_CASE("no plan is made in a folder that another run writes into") {
  const Scratch scratch;
  const std::string out = scratch.path + "/r";
  const Finished finished =
      run_stretto("run nerf:rows=3 --out " + out, "mkdir " + out + " && flock " + out);
  INFO(finished.output);
  CHECK(finished.status == 2);
  CHECK(finished.says("another stretto is writing there"));
  CHECK_FALSE(std::filesystem::exists(out + "/plan"));
}

// Every folder and file of it.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    names.push_back(entry.path().lexically_relative(folder));
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("a run that is refused, before or after its plan, leaves older results and their plan") {
  const Scratch scratch;
  const std::string graph = net(scratch), out = scratch.path + "/r";
  (void)run(graph, "", out);
  const auto files = files_in(out);
  CHECK(std::count(files.begin(), files.end(), "plan/plan.0.lp") == 1);
  const auto text = [&](const std::string& file) {
    std::ostringstream all;
    all << std::ifstream(out + "/" + file).rdbuf();
    return all.str();
  };
  const std::string plan = text("plan/plan.graph.json"), stats = text("stats.json");
  // By the compiler, by the loader of the plan, by the driver.
  for (const char* wrong :
       {"--mode bsp --profile /dev/zero", "--mode bsp --set gpu.tile_values=maybe",
        "--mode bsp --set software.memory_gib=1 --set gpu.registers_bytes=4096"}) {
    const Finished refused = run_stretto("run " + graph + " " + wrong + " --out " + out);
    INFO(wrong << ": " << refused.output);
    CHECK(refused.status == 2);
    CHECK(files_in(out) == files);
    CHECK(text("plan/plan.graph.json") == plan);
    CHECK(text("stats.json") == stats);
  }
}

TEST_CASE("a plan has no files of the one before, and a refused run no folder") {
  const Scratch scratch;
  const std::string graph = net(scratch), out = scratch.path + "/r";
  (void)run(graph, "", out);
  (void)run(graph, "--profile " + out + "/profile.json", out);  // Which the new one replaces.
  (void)run(graph, "--mode bsp", out);
  const auto files = files_in(out);
  CHECK(std::find(files.begin(), files.end(), "plan/plan.json") != files.end());
  for (const std::string& file : files) CHECK(!file.ends_with(".lp"));
  const Finished refused = run_stretto(
      "run " + graph + " --mode bsp --set gpu.tile_values=maybe --out " + scratch.path + "/a/b/c");
  CHECK(refused.status == 2);
  CHECK_FALSE(std::filesystem::exists(scratch.path + "/a"));
}

TEST_CASE("SIGINT while a graph is planned is said, and leaves older results") {
  const Scratch scratch;
  const std::string out = scratch.path + "/r";
  (void)run("nerf:rows=130", "", out);
  const auto files = files_in(out);
  const Finished stopped =
      run_stretto("run llama:layers=200 --out " + out, "timeout --preserve-status -s INT 1");
  INFO(stopped.output);
  CHECK(stopped.status == 130);
  CHECK(stopped.lines() == 1);
  CHECK(stopped.says("interrupted by SIGINT while llama:layers=200 was planned"));
  CHECK(files_in(out) == files);
}

TEST_CASE("kernels and pipelines of one graph are compared, those of two graphs are not") {
  const Scratch scratch, other;
  const std::string graph = net(scratch), bsp = scratch.path + "/bsp",
                    kitsune = scratch.path + "/k";
  const auto a = run(graph, "--mode bsp", bsp), b = run(graph, "", kitsune);
  const Finished compared = run_stretto("compare " + bsp + " " + kitsune);
  INFO(compared.output);
  CHECK(compared.status == 0);
  CHECK(!compared.says("no speed-up"));
  const double ratio = a.at("time_ns").at("total").to_number<double>() /
                       b.at("time_ns").at("total").to_number<double>();
  std::ostringstream shown;
  shown << std::fixed << std::setprecision(3) << ratio;
  CHECK(compared.says(shown.str()));
  // The same name, another graph in it.
  std::filesystem::copy_file(net(other, "Sigmoid"), graph,
                             std::filesystem::copy_options::overwrite_existing);
  const std::string changed = scratch.path + "/changed";
  (void)run(graph, "--mode bsp", changed);
  const Finished refused = run_stretto("compare " + bsp + " " + changed);
  INFO(refused.output);
  CHECK(refused.status == 1);
  CHECK(refused.says("/plan/plan.graph holds another plan"));
}

// Vertical fusion and pipelines are of one compiler, on the machine of the kernels that they are held against, by the same
// firmware and kernels.
TEST_CASE("fused groups and pipelines are held against kernels of the same graph and machine",
          "[KT-EVAL-01]") {
  const Scratch scratch;
  const std::string graph = "mgn:nodes=61,edges=95";
  std::map<std::string, boost::json::value> of;
  std::map<std::string, std::string> kernels;
  for (const std::string mode : {"bsp", "vertical", "kitsune"}) {
    of[mode] = run(graph, "--mode " + mode, scratch.path + "/" + mode);
    CHECK(of[mode].at("job").at("profile").at("graph") ==
          of["bsp"].at("job").at("profile").at("graph"));
    CHECK(of[mode].at("job").at("results_sha256") == of["bsp"].at("job").at("results_sha256"));
    CHECK(of[mode].at("firmware_sha256") == of["bsp"].at("firmware_sha256"));
    for (const auto& kernel : of[mode].at("kernel_sha256").as_object()) {
      const std::string sha256 = kernel.value().as_string().c_str();
      CHECK(kernels.emplace(kernel.key(), sha256).first->second == sha256);
    }
  }
  CHECK(kernels.contains("fused"));
  CHECK(kernels.contains("stages"));
  const std::string all =
      scratch.path + "/bsp " + scratch.path + "/vertical " + scratch.path + "/kitsune";
  const Finished compared = run_stretto("compare " + all);
  INFO(compared.output);
  CHECK(compared.status == 0);
  CHECK(compared.says("speed-up, whole run"));
  CHECK(!compared.says("no speed-up"));
  (void)run(graph, "--mode kitsune --machine a100-2x", scratch.path + "/twice");
  const Finished other = run_stretto("compare " + scratch.path + "/bsp " + scratch.path + "/twice");
  INFO(other.output);
  CHECK(other.says("not only the mode differs"));
  CHECK(other.says("machine (a100, a100-2x)"));
}

// h, a and r are declared and read by others: a product, what is behind it, and what is behind that.
TEST_CASE("all declared outputs are in memory in every mode, and are what results_sha256 is of") {
  const Scratch scratch;
  const std::string graph = scratch.path + "/net.onnx";
  const std::string script = scratch.file("net.py", R"(
import onnx, sys
from onnx import TensorProto, helper
half = TensorProto.FLOAT16
info = lambda name, columns: helper.make_tensor_value_info(name, half, [300, columns])
weights = [helper.make_tensor(name, half, shape, bytes(2 * shape[0] * shape[1]), raw=True)
           for name, shape in (("w0", [128, 128]), ("w1", [128, 64]))]
nodes = [helper.make_node("MatMul", ["x", "w0"], ["h"]), helper.make_node("Relu", ["h"], ["a"]),
         helper.make_node("Add", ["a", "x"], ["r"]), helper.make_node("MatMul", ["r", "w1"], ["y"])]
graph = helper.make_graph(nodes, "net", [info("x", 128)],
                          [info("h", 128), info("a", 128), info("r", 128), info("y", 64)], weights)
onnx.save(helper.make_model(graph), sys.argv[1])
)");
  REQUIRE(run_command("/usr/bin/python3 " + script + " " + graph).status == 0);
  std::string expected;
  for (const char* const mode : {"bsp", "vertical", "kitsune"}) {
    INFO(mode);
    const std::string out = scratch.path + "/" + mode;
    const auto root = run(graph, std::string("--mode ") + mode, out);
    CHECK(root.at("check").at("elements").to_number<uint64_t>() >= 300 * (3 * 128 + 64));
    const std::string found = root.at("job").at("results_sha256").as_string().c_str();
    if (expected.empty()) expected = found;
    CHECK(found == expected);
  }
}

// Of 1.25 and 2.5 MiB with 10 ways, 7 of them for queues, whose sets have more fills under way than ways.
void expect_queues_stay(const std::string& l2_bytes) {
  const Scratch scratch;
  const auto root =
      run("dlrm:batch=130,entries=20", "--mode kitsune --set l2.bytes=" + l2_bytes, scratch.path);
  const auto& l2 = root.at("statistics").as_object();
  CHECK(l2.at("gpu0.compute.l2.unallocated").to_number<uint64_t>() > 1000);
  CHECK(l2.at("gpu0.compute.l2.pinned_evictions").to_number<uint64_t>() == 0);
}
TEST_CASE("queues stay in an L2 that is small, whatever streams through it", "[KT-Q-01]") {
  expect_queues_stay("1310720");
}
TEST_CASE("queues stay in an L2 of twice that size, too", "[.long]") {
  expect_queues_stay("2621440");
}

TEST_CASE("one head of keys and values for all heads is right") {
  const Scratch scratch;
  (void)run("llama:tokens=40,hidden=256,heads=2,kv_heads=1,between=160", "--mode bsp",
            scratch.path + "/r");
}

TEST_CASE("a plan lies beside the workload that names it") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path + "/w");
  scratch.file("w/w.yaml",
               "machine: a100\nset: {gpus: 1}\nmodes: [bsp]\ngraph: {plan: ./p.graph}\n");
  REQUIRE(run_command("/usr/bin/python3 " STRETTO_SOURCE_DIR "/sw/compiler/compile.py " +
                      net(scratch) + " --mode bsp -o " + scratch.path + "/w/p")
              .status == 0);
  for (const auto& [from, file] : {std::pair{"/", "w/w.yaml"}, std::pair{"/w", "w.yaml"}}) {
    const Finished finished =
        run_stretto(std::string("run ") + file + " --impl all=model --out " + scratch.path + "/r",
                    "cd " + scratch.path + from + "; ");
    INFO(finished.output);
    CHECK(finished.status == 0);
  }
}

TEST_CASE("what cannot be planned or run is refused with one line") {
  const Scratch scratch;
  const std::string graph = net(scratch);
  refused(graph + " --mode loop", "--mode loop: a graph has bsp, vertical, kitsune");
  refused(scratch.path + "/none.onnx", "none.onnx: no such file");
  mkfifo((scratch.path + "/pipe.onnx").c_str(), 0600);
  refused(scratch.path + "/pipe.onnx", "pipe.onnx: cannot be read (is not a regular file)");
  refused("nerf:row=3", "nearest: rows");
  refused(graph + " --set graph.plan=./x", "what the compiler makes");
  refused("graph/mlp --training", "are of graphs");
  refused("nerf:rows=3,rows=4", "rows is there twice");
  refused(graph + " --set gpu.lds_bytes=65536",
          "net.onnx has no pipeline that can be run: MatMul -> h: its stage takes 98304 bytes of "
          "LDS, a "
          "unit has 65536; --mode bsp runs it");
}
