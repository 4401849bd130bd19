// SPDX-License-Identifier: Apache-2.0
// Question: do the mechanisms of all five systems work on one GPU at a time, each with its data
// right and its laws kept, and is missed which of them does not? Through the executable, by the
// shipped workload sharing/five, made smaller. Counts are those that the sizes say.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

const std::string kFive =
    "sharing/five --impl all=model --set sub_layer.m=512 --set sub_layer.n=512 "
    "--set sub_layer.k=128 --set collective.iterations=3 --set graph.iterations=1 "
    "--set loaded.messages=4 --set tenants.requests=4 --set tenants.interval_ns=60000 ";
const std::vector<std::string> kNames{"fused", "sends", "pipeline", "network", "tenants"};

std::string only(const std::string& name) {
  std::string sets;
  for (const std::string& other : kNames)
    if (other != name) sets += "--set jobs." + other + "=false ";
  return sets;
}

uint64_t elements(const boost::json::value& job) {
  return job.at("check").at("elements").to_number<uint64_t>();
}

}  // namespace

TEST_CASE("five mechanisms work on one GPU at a time, and no way to make the run changes that") {
  const RunResult all = run_correctly(kFive);
  const auto& jobs = all.at("jobs").as_array();
  REQUIRE(jobs.size() == kNames.size());
  for (const auto& job : jobs) CHECK(elements(job) > 0);
  // 16 tiles of 8 wavefronts, half of which are for the other GPU.
  CHECK(all.number("statistics.gpu0.hbm.tracker.triggers") == 64);
  // A block and its flag, twice an all-reduce of two: 2 + 3 of them, out of place and in place.
  CHECK(all.number("statistics.gpu0.request_ring.transfers") >= 2 * (2 + 3) * 2);
  CHECK(all.number("statistics.gpu0.compute.l2.pinned_read") > 0);
  CHECK(all.number("statistics.gpu0.compute.l2.pinned_evictions") == 0);
  // A get of 16 work-groups, then 4 of each and a quiet.
  CHECK(jobs[3].at("job").at("operations").to_number<uint64_t>() % 16 == 0);
  CHECK(jobs[3].at("job").at("entries").to_number<uint64_t>() >
        jobs[3].at("job").at("operations").to_number<uint64_t>());
  const auto& clients = jobs[4].at("job").at("clients").as_array();
  CHECK(clients[0].at("requests").to_number<uint64_t>() == 4);
  const RunResult other = run_correctly(kFive + "--set sim.window_ns=37 --set sim.threads=2");
  CHECK(other.text("digest") == all.text("digest"));
  CHECK(other.at("jobs") == all.at("jobs"));
  // Each alone is checked as much. What best effort has done is another matter.
  for (size_t i = 0; i < kNames.size(); ++i) {
    CAPTURE(kNames[i]);
    const RunResult alone = run_correctly(kFive + only(kNames[i]));
    const auto& job = alone.at("jobs").as_array().at(0);
    CHECK(job.at("workload") == jobs[i].at("workload"));
    if (kNames[i] == "tenants") continue;
    CHECK(elements(job) == elements(jobs[i]));
    CHECK(job.at("time_ns").to_number<uint64_t>() < jobs[i].at("time_ns").to_number<uint64_t>());
  }
}

TEST_CASE("a mechanism that does not work beside the others is found out") {
  const auto fails = [](const std::string& firmware, const std::string& says) {
    const Scratch scratch;
    const Finished finished =
        run_stretto("run " + kFive + "--firmware " + STRETTO_BUILD_DIR "/sw/firmware/" + firmware +
                    " --out " + scratch.path + "/r");
    INFO(firmware << "\n" << finished.output);
    CHECK(finished.status == 1);
    CHECK(finished.says(says));
  };
  fails("main_no_tracker.elf", "wavefront tiles triggered");
  fails("main_no_stop.elf",
        "best-effort kernels that began while high priority ran or had not rested");
}

TEST_CASE("what the servers of one machine cannot share is refused in one line") {
  const Scratch scratch;
  const auto bad = [&](const std::string& jobs, const std::string& says) {
    const Finished finished = run_stretto(
        "run " + scratch.file("w.yaml", "machine: t3-servers\njobs:\n" + jobs) + " --dry-run");
    INFO(jobs << finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(says));
  };
  const std::string network = "  - {workload: compnet/loaded, gpus: [0, 2]}\n";
  bad(network + network, "the network interface to itself");
  bad("  - {workload: compnet/loaded, gpus: [0, 1]}\n  - {workload: t3/small, gpus: [2]}\n",
      "gpus names none of server 1");
  bad(network + "  - {workload: t3/small, mode: t3, gpus: [1, 2]}\n", "runs within one server");
}

TEST_CASE("a job between servers has the GPUs that it names, not the first of each") {
  const Scratch scratch;
  const auto beside = [&](const std::string& name, const std::string& job) {
    return run_correctly(
        scratch.file(name + ".yaml", "machine: t3-servers\nset: {gpu.cus: 8}\njobs:\n  - {" + job +
                                         ", gpus: [1, 3]}\n  - {workload: t3/small, mode: gemm, "
                                         "data: real, gpus: [0]}\n") +
        " --impl all=model");
  };
  const RunResult kernels =
      beside("loaded", "workload: compnet/loaded, mode: compnet, set: {work_groups: 4}");
  CHECK(elements(kernels.at("jobs").as_array().at(0)) == 4 * 64);  // A get of 64 bytes each.
  CHECK(kernels.number("statistics.gpu1.compute.front_end.launches") == 1);
  CHECK(kernels.number("statistics.gpu2.compute.front_end.launches") == 0);
  // By programs of hosts, whose NICs address the memory themselves.
  const RunResult hosts =
      beside("get", "workload: compnet/get, mode: cpu, set: {max_bytes: 4096, total_bytes: 65536}");
  CHECK(elements(hosts.at("jobs").as_array().at(0)) > 0);
}

TEST_CASE("what jobs cost each other is nothing on GPUs of their own, and something on one") {
  const Scratch scratch;
  const std::string left = "  - {name: left, workload: graph/mlp, mode: loop, gpus: [0]}\n";
  // How often the table says that somebody takes as long as alone: with all, and beside the other.
  const auto zeros = [&](const std::string& gpu) {
    const std::string file = scratch.file(
        gpu + ".yaml", "machine: a100-nvswitch\nset: {gpus: 2, gpu.cus: 8}\njobs:\n" + left +
                           "  - {name: right, workload: t3/small, mode: gemm, data: real, gpus: [" +
                           gpu + "]}\n");
    const Finished finished = run_command("STRETTO_BUILD_DIR=" STRETTO_BUILD_DIR
                                          " bash " STRETTO_SOURCE_DIR "/tests/interplay.sh " +
                                          file + " --impl model --out " + scratch.path + "/" + gpu);
    INFO(finished.output);
    CHECK(finished.status == 0);
    CHECK(finished.says("right "));
    size_t found = 0;
    for (size_t at = 0; (at = finished.output.find("+0.0 %", at)) != std::string::npos; ++at)
      ++found;
    return found;
  };
  CHECK(zeros("1") == 4);
  CHECK(zeros("0") == 0);
}
