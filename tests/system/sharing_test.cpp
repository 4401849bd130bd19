// SPDX-License-Identifier: Apache-2.0
// Question: do several jobs on one machine each compute what they compute alone, on the same GPUs
// and on others, and is refused what a GPU has once only? Through the executable, by the shipped
// workloads sharing/*. Times are held against those of the same jobs alone.
#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

// One for all: its name is that of the process.
const Scratch& scratch() {
  static const Scratch one;
  return one;
}

boost::json::value run(const std::string& arguments) {
  const std::string out = scratch().path + "/r";
  const Finished finished = run_stretto("run " + arguments + " --out " + out);
  INFO(arguments << "\n" << finished.output);
  REQUIRE(finished.status == 0);
  const boost::json::value root = stats(out);
  CHECK(root.at("check").at("mismatches").to_number<uint64_t>() == 0);
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
  return root;
}

uint64_t number(const boost::json::value& root, const char* key) {
  return root.at(key).to_number<uint64_t>();
}

uint64_t total_ns(const boost::json::value& root) { return number(root.at("time_ns"), "total"); }

const boost::json::value& job(const boost::json::value& root, size_t index) {
  return root.at("jobs").as_array().at(index);
}

// The largest size of a collective.
const boost::json::value& wire_of(const boost::json::value& details) {
  return details.at("sizes").as_array().back().at("out_of_place");
}

std::string digest(const boost::json::value& root) {
  return std::string(root.at("digest").as_string());
}

// Each job has checked as many elements as alone, and found none wrong.
void expect_work_of(const boost::json::value& shared, size_t index,
                    const boost::json::value& alone) {
  const boost::json::value& one = job(shared, index);
  CHECK(number(one.at("check"), "elements") == number(alone.at("check"), "elements"));
  CHECK(number(one.at("check"), "mismatches") == 0);
  CHECK(one.at("mode") == alone.at("mode"));
  CHECK(number(one, "time_ns") <= total_ns(shared));
}

}  // namespace

TEST_CASE("two workloads side by side on one GPU compute what they compute alone") {
  const auto shared = run("sharing/one-gpu");
  const auto graph = run("graph/mlp --set gpus=1"),
             gemm = run("t3/small --mode gemm --data real --set gpus=1 --set gpu.cus=8");
  REQUIRE(shared.at("jobs").as_array().size() == 2);
  expect_work_of(shared, 0, graph);
  expect_work_of(shared, 1, gemm);
  CHECK(number(shared.at("check"), "elements") ==
        number(graph.at("check"), "elements") + number(gemm.at("check"), "elements"));
  // Neither is faster than alone, both are done before one after the other would be.
  CHECK(number(job(shared, 0), "time_ns") >= total_ns(graph) - total_ns(graph) / 50);
  CHECK(number(job(shared, 1), "time_ns") >= total_ns(gemm) - total_ns(gemm) / 50);
  CHECK(total_ns(shared) < total_ns(graph) + total_ns(gemm));
  CHECK(digest(run("sharing/one-gpu")) == digest(shared));
}

TEST_CASE("two workloads on the same GPUs compute what they compute alone") {
  const auto shared = run("sharing/same-gpus");
  const auto graph = run("graph/mlp --mode loop-s");
  const auto reduce =
      run("collectives/all_reduce --mode gdma --set gpus=2 --set gpu.cus=8 --set "
          "collective.min_bytes=1024 --set collective.max_bytes=16384 --set collective.factor=4");
  expect_work_of(shared, 0, graph);
  expect_work_of(shared, 1, reduce);
  CHECK(total_ns(shared) < total_ns(graph) + total_ns(reduce));
  // Bytes on links are those of both.
  CHECK(number(wire_of(reduce.at("job")), "wire_bytes") > 0);
  CHECK_FALSE(wire_of(job(shared, 1).at("job")).as_object().contains("wire_bytes"));
}

TEST_CASE(
    "two workloads on disjoint GPUs have the ranks they were given and cost each other nothing") {
  const auto shared = run("sharing/halves");
  const std::string machine = " --machine a100-nvswitch --set gpus=2";
  const auto reduce = run("collectives/all_reduce --mode gdma" + machine +
                          " --set collective.min_bytes=1024 --set collective.max_bytes=65536 --set "
                          "collective.factor=4");
  const auto layer = run("t3/small --mode t3-mca" + machine);
  expect_work_of(shared, 0, reduce);
  expect_work_of(shared, 1, layer);
  CHECK(job(shared, 1).at("gpus") == boost::json::array{2, 3});
  // Only switch and host are common; no port and no link of them is.
  CHECK(number(job(shared, 0), "time_ns") == total_ns(reduce));
  CHECK(number(job(shared, 1), "time_ns") == total_ns(layer));
  CHECK(number(wire_of(job(shared, 0).at("job")), "wire_bytes") ==
        number(wire_of(reduce.at("job")), "wire_bytes"));
  CHECK(digest(run("sharing/halves")) == digest(shared));
}

TEST_CASE("the order of jobs in the file does not matter to what they compute") {
  const std::string graph = "  - {workload: graph/mlp, mode: loop}\n",
                    gemm = "  - {workload: t3/small, mode: gemm, data: real}\n";
  const std::string head = "machine: t3\nset: {gpus: 1, gpu.cus: 8}\njobs:\n";
  const auto one = run(scratch().file("a.yaml", head + graph + gemm)),
             other = run(scratch().file("b.yaml", head + gemm + graph));
  for (size_t i = 0; i < 2; ++i) {
    CHECK(job(one, i).at("workload") == job(other, 1 - i).at("workload"));
    CHECK(job(one, i).at("check") == job(other, 1 - i).at("check"));
  }
}

TEST_CASE("a job that is turned off leaves the others where they are") {
  const std::string head = "machine: t3\nset: {gpus: 2, gpu.cus: 8}\njobs:\n";
  const std::string file = scratch().file(
      "named.yaml", head + "  - {name: layer, workload: t3/small, mode: t3-mca, data: real}\n" +
                        "  - {name: graph, workload: graph/mlp, mode: loop}\n");
  const auto both = run(file), layer = run(file + " --set jobs.graph=false"),
             graph = run(file + " --set jobs.layer=false");
  REQUIRE(both.at("jobs").as_array().size() == 2);
  REQUIRE(layer.at("jobs").as_array().size() == 1);
  CHECK(job(layer, 0).at("check") == job(both, 0).at("check"));
  CHECK(job(graph, 0).at("check") == job(both, 1).at("check"));
  CHECK(number(job(layer, 0), "time_ns") <= number(job(both, 0), "time_ns"));
  // Its accounts keep their names.
  CHECK(layer.at("time_ns").as_object().contains("job0_gemm"));
  CHECK(graph.at("time_ns").as_object().contains("job1_compute"));
  const auto refused = [&](const std::string& set, const std::string& says) {
    const Finished finished = run_stretto("run " + file + " " + set);
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(says));
  };
  refused("--set jobs.layers=false", "jobs.layer");
  refused("--set jobs.layer=no", "jobs.layer");
  refused("--set jobs.layer=false --set jobs.graph=false", "no job is left");
}

TEST_CASE("equal jobs are told apart, and one that programs the arbiters may have its policy set") {
  const std::string head = "machine: t3\nset: {gpus: 2, gpu.cus: 8}\njobs:\n";
  const std::string gemm = "  - {workload: t3/small, mode: gemm, gpus: [0]}\n";
  const std::string two =
      scratch().file("two.yaml", head + gemm + "  - {workload: t3/small, mode: gemm, gpus: [1]}\n");
  const Finished equal =
      run_stretto("run " + two + " --impl all=model --out " + scratch().path + "/two");
  INFO(equal.output);
  CHECK(equal.says("\njob 0, workload t3/small, mode gemm: ended"));
  CHECK(equal.says("\njob 1, workload t3/small, mode gemm: ended"));
  const std::string mixed =
      scratch().file("mixed.yaml", head + gemm + "  - {workload: graph/mlp, gpus: [1]}\n");
  CHECK(run_stretto("run " + mixed + " --dry-run --set software.mca_policy=round_robin").status ==
        0);
}

TEST_CASE("what cannot share a machine is refused in one line") {
  const auto bad = [&](const std::string& jobs, const std::string& says,
                       const std::string& set = "gpus: 2, gpu.cus: 8") {
    const Finished finished = run_stretto(
        "run " + scratch().file("w.yaml", "machine: t3\nset: {" + set + "}\njobs:\n" + jobs));
    INFO(jobs << finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(says));
  };
  const std::string graph = "  - {workload: graph/mlp}\n";
  bad(graph, "jobs must be a list of 2 to 5 jobs");
  bad(graph + graph, "the request ring to itself");
  const std::string fused = "  - {workload: t3/small, mode: t3}\n";
  bad(fused + fused, "the Tracker to itself");
  bad(graph + "  - {workload: t3/small, mode: t9}\n", "has no mode t9");
  bad(graph + "  - {workload: t3/small, gpus: [0, 0]}\n", "GPU 0 twice");
  bad(graph + "  - {workload: t3/small, gpus: [2]}\n", "the machine has GPUs 0 to 1");
  bad(graph + "  - {workload: t3/small, gpu: 1}\n", "unknown key 'gpu'");
  bad(graph + "  - {mode: t3}\n", "needs workload");
  bad(graph + "  - {workload: t3/small, set: {x: 1}}\n",
      "w.yaml:5: unknown parameter 'sub_layer.x'");
  bad(graph + "  - {workload: collectives/all_reduce, data: real}\n",
      "w.yaml:5: data does nothing");
  bad(graph + graph + "data: real\n", "modes and data are theirs");
  bad(graph + "  - {workload: sharing/one-gpu}\n", "has jobs itself");
  bad(graph + "  - {workload: " + scratch().path + "/w.yaml}\n", "has jobs itself");
  bad(graph + "  - {workload: t3/small, set: {gpu.cus: 4}}\n",
      "w.yaml:5: gpu.cus is a parameter of the machine");
  bad(graph + "  - {workload: t3/small, set: {hbm: {channels: 4}}}\n",
      "w.yaml:5: hbm is a parameter of the machine");
  // File, line and number of both: the jobs may be equal.
  bad(graph + graph,
      "w.yaml:4: job 0, workload graph/mlp, mode loop needs the request ring to itself, but shares "
      "GPUs with job 1, workload graph/mlp");
  bad("  - {workload: graph/mlp, gpus: [0]}\n  - {workload: graph/mlp, gpus: [1]}\n",
      "software.mca_policy: programs of kind graph", "gpus: 2, software.mca_policy: round_robin");
  bad("  - {workload: graph/mlp, gpus: [0, 2]}\n  - {workload: graph/mlp, gpus: [1, 3]}\n",
      "have no link", "gpus: 4");
  // A job has its own part of the memory: 1 GiB less 1 MiB of the system, halved to whole MiB.
  bad(graph + "  - {workload: t3/small, set: {m: 32768, n: 8192, k: 64}}\n",
      "w.yaml:5: job 1, workload t3/small, mode sequential: does not fit",
      "gpus: 2, software.memory_gib: 1");
  bad(graph + "  - {workload: t3/small, mode: gemm}\n", "cannot be mirrored", "sim.mirror: true");
}
