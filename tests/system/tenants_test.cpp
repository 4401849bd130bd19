// SPDX-License-Identifier: Apache-2.0
// Question: do clients share a GPU as Tally and what it is compared with say, and is their work the
// same whoever else runs, whatever was stopped and gone on with? Through the executable, two clients
// on 8 units. Each run must meet its laws and the values of its kernels; a kernel counts its
// work-groups.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/system/tenants_runs.h"

using namespace stretto::test;

TEST_CASE("alone, each client has the GPU for itself") {
  const RunResult ideal = run_small("ideal");
  CHECK(ideal.number("job.time_ns.both") == 0);
  CHECK(ideal.number("job.time_ns.best_effort") == 0);
}

TEST_CASE("side by side, kernels of all clients run when they come", "[TL-BASE-02]") {
  const RunResult mps = run_small("mps");
  CHECK(mps.number("job.time_ns.both") > 0);
  CHECK(mps.number("job.time_ns.high") < mps.number("job.time_ns.both"));
}

// 64 work-groups of some us: behind 2,000 of best effort, or in turn with them.
TEST_CASE("in the order of launches a kernel waits for all of those before it") {
  const Scratch scratch;
  const std::string clients = two_clients(scratch, "count:64x300", "count:2000x300");
  CHECK(p99(run_small("mps", clients + " --set tenants.order=launch")) >
        2 * p99(run_small("mps", clients)));
}

TEST_CASE("in turn, clients lose and double nothing, however long slices are",
          "[.long][TL-BASE-01]") {
  const RunResult ideal = run_small("ideal");
  for (const char* const ns : {"30000", "70001", "2000000"}) {
    const RunResult sliced =
        run_small("time-slicing", std::string(" --set tenants.slice_ns=") + ns);
    CHECK(sliced.number("job.time_ns.both") == 0);
    CHECK(sliced.number("job.time_ns.best_effort") > 0);
    expect_same_outputs(sliced, ideal);
    if (ns == std::string("2000000")) continue;  // Longer than these requests.
    const auto of_gpu = [&](const char* name) {
      return sliced.number(std::string("statistics.gpu0.compute.") + name);
    };
    CHECK(of_gpu("front_end.suspended") > 0);
    CHECK(of_gpu("front_end.not_suspended") == 0);
    CHECK(of_gpu("gpu.saved_bytes") >= of_gpu("gpu.loaded_bytes"));
    CHECK(of_gpu("gpu.saving_time") > 0);
  }
}

TEST_CASE("a slice in which nobody would get on is refused, with the time that states take") {
  const Finished bad =
      run_stretto("run tally/small --mode time-slicing --set tenants.slice_ns=1000");
  CHECK(bad.status == 2);
  CHECK(bad.says("tenants.slice_ns: 1000 is shorter than"));
  CHECK(bad.says("in which registers and LDS of all units"));
}

// Each client more is a context more, whose work-groups the driver has to find room for.
TEST_CASE("four clients in turn save only where they were given room", "[TL-BASE-01]") {
  std::string others = " --set tenants.best_effort=tally/models/tiny-training";
  for (int i = 2; i < 4; ++i) others += ",tally/models/tiny-training";
  const RunResult sliced =
      run_small("time-slicing", others +
                                    " --set tenants.slice_ns=30000 --set tenants.requests=1 "
                                    "--set tenants.lead=1");
  CHECK(sliced.at("job.clients").as_array().size() == 4);
  CHECK(sliced.number("statistics.gpu0.compute.front_end.suspended") > 0);
}

TEST_CASE("what suspended work-groups do not get back is found out") {
  const Scratch scratch;
  const std::string file = scratch.path + "/products.yaml";
  std::ofstream(file) << "tenants:\n  kernels: |\n    gemm:1024x512x1024\nmodes: [ideal]\n";
  const std::map<std::string, std::string> cases{
      {"none", "audit"},
      {"tiles", "wrong data"},
      {"registers", "failed"},
      {"bytes", "bytes of suspended work-groups written = read back"}};
  for (const auto& [fault, line] : cases) {
    const Finished finished = run_stretto(
        "run tally/small --mode time-slicing --impl all=model --set tenants.slice_ns=30000 --set "
        "tenants.requests=4 --set tenants.lead=0 --set tenants.best_effort=" +
        file + " --set gpu.fault.restore=" + fault + " --out " + scratch.path + "/" + fault);
    INFO(finished.output);
    CHECK(finished.status == (fault == "none" ? 0 : 1));
    CHECK(finished.says(line));
  }
}

TEST_CASE("clients that act at one time do so in one order, whatever the window", "[.long]") {
  for (const char* const mode : {"mps", "time-slicing"}) {
    std::set<std::string> digests;
    for (const char* const ns : {"0", "50", "100"}) {
      const RunResult result = run_small(mode, std::string(" --set tenants.requests=1 --set "
                                                           "tenants.lead=1 --set sim.window_ns=") +
                                                   ns);
      digests.insert(result.text("digest"));
    }
    CHECK(digests.size() == 1);
  }
}

TEST_CASE("with priorities, high priority's work-groups are placed first", "[TL-BASE-03]") {
  const Scratch scratch;
  const std::string clients = two_clients(scratch, "count:1000x500", "count:4000x500");
  CHECK(p99(run_small("mps-priority", clients)) < 0.7 * p99(run_small("mps", clients)));
}

// A unit has room for many small work-groups, each of which leaves too little for a large one.
TEST_CASE("with priorities, small work-groups do not pass large ones that find no room",
          "[TL-BASE-03]") {
  const Scratch scratch;
  const std::string clients =
      two_clients(scratch, "gemm:512x512x256", "count:3000x500") + " --set gpu.cus=4";
  CHECK(2 * p99(run_small("mps-priority", clients)) <
        p99(run_small("mps-priority", clients + " --set tenants.priority=work_conserving")));
}

TEST_CASE("with priorities, the slowest requests are sooner done", "[.long][TL-BASE-03]") {
  // What a priority places first still waits for work-groups of best effort to end (50 us), which
  // take what is free between two kernels of a request: medians follow where in these a request
  // comes, the slowest ones do not.
  // Of few requests p99 is one of them.
  const std::string more = " --set tenants.requests=60";
  CHECK(p99(run_small("mps-priority", more)) < p99(run_small("mps", more)));
}

// TGS: not launched while the first client is seen alone, then at a rate that changes.
TEST_CASE("TGS launches best effort at a rate that it learns from high priority",
          "[.long][TL-BASE-04]") {
  const RunResult tgs = run_small("tgs", " --set tenants.requests=20"),
                  priority = run_small("mps-priority", " --set tenants.requests=20");
  const auto& limits = tgs.at("job.tgs.limit_from_ns").as_array();
  REQUIRE(limits.size() > 5);
  CHECK(limits[0].as_array()[1].is_null());
  CHECK(limits[1].as_array()[1].to_number<uint64_t>() == 0);
  const auto begins = [](const auto& limit) {
    const auto& groups = limit.as_array()[1];
    return groups.is_null() || groups.template to_number<uint64_t>() > 0;
  };
  CHECK(std::any_of(limits.begin() + 2, limits.end(), begins));
  CHECK(client(tgs, 1).at("requests_per_s").to_number<double>() > 0);
  CHECK(client(tgs, 1).at("requests_per_s").to_number<double>() <
        client(priority, 1).at("requests_per_s").to_number<double>());
  CHECK(p99(tgs) <= p99(priority));
  expect_same_outputs(tgs, run_small("ideal"));
}

TEST_CASE("without a scheduler the server dispatches kernels of both on arrival", "[TL-ABL-01]") {
  const RunResult result = run_small("no-scheduling");
  CHECK(result.number("job.time_ns.both") > 0);
  CHECK(result.number("job.server.preemptions") == 0);
  CHECK(result.number("job.server.originals") == result.number("job.server.launches"));
}

TEST_CASE("without transformation best effort waits, kernel by kernel", "[TL-ABL-02]") {
  const RunResult result = run_small("no-transformation");
  CHECK(result.number("job.server.originals") == result.number("job.server.launches"));
  CHECK(result.number("job.server.preemptions") == 0);
  CHECK(result.number("job.time_ns.draining") == 0);
}

// Tally's server, the command processor by itself, and the command processor at the server's word.
TEST_CASE("whoever stops best effort goes on with it, and loses and doubles nothing",
          "[TL-ABL-03][TL-ARCH-04]") {
  const RunResult ideal = run_small("ideal");
  const RunResult server = run_small("tally");
  // Messages of both clients, all of which it has taken: a law.
  for (const size_t i : {0u, 1u}) CHECK(client(server, i).at("messages").to_number<uint64_t>() > 0);
  CHECK(server.number("job.server.preemptions") > 0);
  CHECK(server.number("job.server.relaunches") > 0);
  CHECK(server.number("job.server.tasks") > 0);
  CHECK(server.number("job.server.control_blocks_checked") > 0);
  expect_same_outputs(server, ideal);

  const RunResult firmware = run_small("tally-firmware");
  CHECK(client(firmware, 1).at("requests_per_s").to_number<double>() > 0);
  // Best effort begins kernels between requests alone, and is stopped within them.
  CHECK(firmware.number("job.time_ns.best_effort") > 0);
  CHECK(firmware.number("job.time_ns.both") < firmware.number("job.time_ns.high") / 10);
  expect_same_outputs(firmware, ideal);

  const RunResult unmodified = run_small("tally-unmodified");
  CHECK(unmodified.number("job.server.preemptions") > 0);
  CHECK(unmodified.number("job.server.tasks") == 0);
  expect_same_outputs(unmodified, ideal);
}

TEST_CASE("the command processor's requests are sooner done than with priorities alone",
          "[.long][TL-ARCH-04]") {
  CHECK(p99(run_small("tally-firmware")) < p99(run_small("mps-priority")));
}

TEST_CASE("transformer, profiler and scheduler act together, with the stock instruction set, too",
          "[TL-ARCH-03]") {
  const RunResult result = run_small("tally-stock-isa",
                                     " --set tenants.ptb_max_threads_per_unit=256 --set "
                                     "tenants.profile_warm_up_iterations=0 --set tenants.lead=6");
  CHECK(result.number("job.server.tasks") > 0);
  CHECK_FALSE(result.at("job.server.chosen").as_array().empty());
  CHECK(result.number("job.server.preemptions") > 0);
}

TEST_CASE("configurations are measured on the client's own launches", "[TL-PROF-01]") {
  const RunResult result =
      run_small("tally",
                " --set tenants.ptb_max_threads_per_unit=256 --set "
                "tenants.profile_warm_up_iterations=0 --set tenants.lead=6 --set "
                "tenants.requests=2");
  const auto& chosen = result.at("job.server.chosen").as_array();
  REQUIRE(chosen.size() == 3);
  for (const auto& one : chosen) {
    CHECK(one.at("original_ns").to_number<uint64_t>() > 0);
    CHECK(one.at("duration_ns").to_number<uint64_t>() > 0);
  }
}

TEST_CASE("what high priority interrupts again and again is measured all the same") {
  const auto unmeasured = [](const RunResult& result) {
    std::vector<std::string> names;
    for (const auto& name : result.at("job.server.still_measured").as_array())
      names.emplace_back(name.as_string());
    return names;
  };
  const RunResult early = run_small("tally", " --set tenants.requests=10");
  CHECK(unmeasured(early) == std::vector<std::string>{"count", "map_add_fp16"});
  CHECK(early.says("still measured, form and size not chosen: count, map_add_fp16"));
  const RunResult late = run_small("tally", " --set tenants.requests=60");
  CHECK(unmeasured(late).empty());
  CHECK_FALSE(late.says("still measured"));
}

// High priority rests all the while, and kernels would run as they are.
TEST_CASE("a long rest is used to measure, and each line is launched as often as that needs") {
  const std::string set =
      " --set tenants.ptb_max_threads_per_unit=256 --set tenants.idle_before_original_kernels_ns=0 "
      "--set tenants.profile_warm_up_iterations=0 --set tenants.profile_iterations=1 --set "
      "tenants.requests=1 --set tenants.lead=1";
  CHECK(run_small("tally", set).at("job.server.chosen").as_array().empty());
  const RunResult often = run_small("tally", set + " --set tenants.least_times=6");
  const auto& chosen = often.at("job.server.chosen").as_array();
  REQUIRE(chosen.size() == 3);
  for (const auto& one : chosen) CHECK(one.at("duration_ns").to_number<uint64_t>() > 0);
  CHECK_FALSE(often.says("no measured form leaves within"));
  const RunResult strict = run_small(
      "tally", set + " --set tenants.least_times=6 --set tenants.turnaround_threshold_ns=1000");
  CHECK(
      strict.says("count of 800 work-groups: no measured form leaves within 1.0 us; runs 24 at a "
                  "time (preempt)"));
  CHECK_FALSE(strict.says("map_add_fp16 of"));
}

TEST_CASE("what the profiler measured in an earlier run is not measured again") {
  const Scratch scratch;
  const std::string own =
      "run tally/small --mode tally --impl all=model --set tenants.ptb_max_threads_per_unit=128 "
      "--set tenants.profile_warm_up_iterations=0 --set tenants.requests=2";
  const std::string first = scratch.path + "/first", set = " --set tenants.profiles=" + first;
  const auto taken = [&](const std::string& folder, const std::string& more = "",
                         const std::string& lead = "1") {
    const Finished finished = run_stretto(own + set + more + " --set tenants.lead=" + lead +
                                          " --out " + scratch.path + folder);
    INFO(finished.output);
    REQUIRE(finished.status == 0);
    return RunResult(stats(scratch.path + folder), finished.output);
  };
  REQUIRE(run_stretto(own + " --set tenants.lead=4 --out " + first).status == 0);
  const RunResult second = taken("/second");
  REQUIRE(stats(first).at("job").at("server").at("chosen").as_array().size() == 3);
  REQUIRE(second.number("job.server.launches") > 0);
  // Nothing is measured: one kernel of three runs as it is since that was chosen, none in slices.
  CHECK(second.at("job.server.chosen").as_array()[0].at("form").as_string() == "original");
  CHECK(second.number("job.server.originals") * 3 == second.number("job.server.launches"));
  CHECK(second.number("job.server.slices") == 0);
  // What was measured is chosen from by another policy, too.
  const RunResult other = taken("/other", " --set tenants.turnaround_threshold_ns=1000");
  CHECK(other.at("job.server.measured") == second.at("job.server.measured"));
  CHECK(other.at("job.server.chosen") != second.at("job.server.chosen"));
  // A kernel of which a configuration is missing is measured again.
  edit(
      first,
      [](boost::json::object& root) {
        for (auto& one : root["job"].at("server").at("measured").as_array())
          if (one.at("form").as_string() == "preempt") one.as_object()["groups"] = 4294967295;
      },
      true);
  const RunResult third = taken("/third", "", "4");
  CHECK(third.at("job.server.chosen").as_array().size() == 3);
  for (const auto& one : third.at("job.server.chosen").as_array())
    CHECK(one.at("groups").to_number<uint64_t>() < 4294967295);
  const std::map<std::string, std::string> cases{
      {own + set + "nix", "firstnix/stats.json"},
      {own + " --set tenants.profiles=" + scratch.path + "/ideal",
       "/ideal is no complete result of mode tally"},
      {own + set + " --set gpu.cus=7", "first is of another machine: its times do not hold here"},
      {"run tally/small --mode tally-stock-isa --impl all=model" + set,
       "first is no complete result of mode tally-stock-isa"}};
  REQUIRE(run_stretto("run tally/small --mode ideal --impl all=model --out " + scratch.path +
                      "/ideal --set tenants.requests=2")
              .status == 0);
  for (const auto& [arguments, line] : cases) {
    const Finished bad = run_stretto(arguments + " --out " + scratch.path + "/bad");
    INFO(bad.output);
    CHECK(bad.status == 2);
    CHECK(bad.says(line));
  }
}

TEST_CASE("several best-effort clients share what is left", "[.long][TL-ARCH-02]") {
  const RunResult result = run_small(
      "tally", " --set tenants.best_effort=tally/models/tiny-training,tally/models/tiny-training");
  REQUIRE(result.at("job.clients").as_array().size() == 3);
  for (const size_t i : {1u, 2u})
    CHECK(client(result, i).at("requests_per_s").to_number<double>() > 0);
}

TEST_CASE("a kernel that the transformer refuses runs as it is, counted and named once") {
  const Scratch scratch;
  std::ofstream(scratch.path + "/refused.yaml")
      << "tenants:\n  kernels: |\n    4 embedding_bag:64x128x1000x4\nmodes: [ideal]\n";
  const RunResult result =
      run_small("tally", " --set tenants.best_effort=" + scratch.path + "/refused.yaml");
  CHECK(result.number("job.server.refused_launches") > 0);
  CHECK(result.number("job.server.refused_launches") == result.number("job.server.launches"));
  CHECK(result.at("job.server.refused").as_array().size() == 1);
  CHECK(result.says("bag_fp16_256 runs as it is: work-groups may wait for each other"));
}
