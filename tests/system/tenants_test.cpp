// SPDX-License-Identifier: Apache-2.0
// Question: do clients share a GPU as Tally and what it is compared with say, and is their work the
// same whoever else runs, whatever was stopped and gone on with? Through the executable, two clients
// on 8 units. Each run must meet its laws and the values of its kernels; a kernel counts its
// work-groups.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "models/common/read_file.h"
#include "tests/support/run_json.h"
#include "tests/unit/platform/result_folder.h"

using namespace stretto::test;

namespace {

// Six requests if `set` does not say how many.
RunResult run(const std::string& mode, const std::string& set = "") {
  const Scratch scratch;
  const bool counted = set.find("tenants.requests=") != std::string::npos;
  const Finished finished = run_stretto("run tally/small --mode " + mode + " --impl all=model" +
                                        (counted ? "" : " --set tenants.requests=6") + set +
                                        " --out " + scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  RunResult result(stats(scratch.path + "/r"), finished.output);
  CHECK(result.number("check.mismatches") == 0);
  CHECK(result.number("audit.violations") == 0);
  return result;
}

const boost::json::value& client(const RunResult& result, size_t number) {
  return result.at("job.clients").as_array().at(number);
}

// Clients' outputs, however they were computed.
void expect_same_outputs(const RunResult& a, const RunResult& b) {
  for (const size_t i : {0u, 1u}) {
    REQUIRE(client(a, i).at("requests").to_number<uint64_t>() != 0);
    CHECK(client(a, i).at("outputs_sha256") == client(b, i).at("outputs_sha256"));
  }
}

double p99(const RunResult& result) {
  return client(result, 0).at("service_us").at("p99").to_number<double>();
}

// Of a kernel each; two requests of the first, behind one of the other.
std::string two_clients(const Scratch& scratch, const std::string& high,
                        const std::string& best_effort) {
  const auto client_of = [&](const std::string& name, const std::string& kernel) {
    return scratch.file(name + ".yaml",
                        "tenants:\n  kernels: \"" + kernel + "\"\nmodes: [ideal]\n");
  };
  return " --set tenants.requests=2 --set tenants.lead=1 --set tenants.high=" +
         client_of("high", high) +
         " --set tenants.best_effort=" + client_of("best_effort", best_effort);
}

}  // namespace

TEST_CASE("files that a workload names for clients, arrivals and jobs lie beside it") {
  const Scratch scratch;
  for (const char* const name : {"high", "other"})
    scratch.file(std::string(name) + ".yaml",
                 "tenants:\n  kernels: add:4096\n  requests: 2\nmodes: [ideal]\n");
  scratch.file("times.txt", "1000\n2000\n");
  const std::string pair =
      scratch.file("pair.yaml",
                   "machine: a100-nvswitch\nset: {gpus: 1, gpu.cus: 4}\ntenants: {high: high.yaml, "
                   "best_effort: other.yaml, "
                   "arrivals: trace, trace: times.txt, requests: 2}\nmodes: [mps]\n");
  const std::string jobs = scratch.file(
      "jobs.yaml",
      "machine: a100-nvswitch\nset: {gpus: 1, gpu.cus: 4}\njobs:\n  - {workload: high.yaml}\n"
      "  - {workload: other.yaml}\n");
  for (const std::string& file : {pair, jobs}) {
    const Finished finished =
        run_stretto("run " + file + " --impl all=model --out " + scratch.path + "/r");
    INFO(finished.output);
    CHECK(finished.status == 0);
  }
}

TEST_CASE("alone, each client has the GPU for itself") {
  const RunResult ideal = run("ideal");
  CHECK(ideal.number("job.time_ns.both") == 0);
  CHECK(ideal.number("job.time_ns.best_effort") == 0);
}

TEST_CASE("without numbers a client is measured all the same, and says what was checked") {
  const Scratch scratch;
  const Finished finished = run_stretto(
      "run tally/models/tiny-inference --impl all=model --set gpu.tile_values=false "
      "--set tenants.requests=1 --out " +
      scratch.path + "/r");
  INFO(finished.output);
  CHECK(finished.status == 0);
  CHECK(finished.says("3 elements, 0 mismatches; only that kernels ran"));
}

TEST_CASE("what the first client computes before its launches lengthens its requests by that") {
  const std::string two = " --set tenants.requests=2";
  const RunResult bound = run("ideal", two),
                  free = run("ideal", two + " --set tenants.host_ns=40000");
  const auto p50 = [](const RunResult& of, size_t number) {
    return client(of, number).at("service_us").at("p50").to_number<double>();
  };
  const double launches = client(bound, 0).at("kernels").to_number<double>();
  // But what the GPU did meanwhile; and a poll of the last completion.
  CHECK(p50(free, 0) <= p50(bound, 0) + 40 * launches + 1);
  CHECK(p50(free, 0) >= 40 * launches);
  CHECK(p50(free, 1) == Approx(p50(bound, 1)).epsilon(0.05));
}

TEST_CASE("a line of kernels counts so often at most") {
  const Scratch scratch;
  const std::string list =
      scratch.file("list.yaml",
                   "machine: t3\nset: {gpus: 1, gpu.cus: 8}\nmodes: [ideal]\n"
                   "tenants: {kernels: \"5 count:4x10\\n2 add:1000\\nadd:3000\", requests: 3}\n");
  const auto launches = [&](const std::string& set) {
    const Finished finished =
        run_stretto("run " + list + " --impl all=model" + set + " --out " + scratch.path + "/r");
    INFO(finished.output);
    CHECK(finished.status == 0);
    return RunResult(stats(scratch.path + "/r"), finished.output)
        .number("statistics.gpu0.compute.front_end.launches");
  };
  CHECK(launches("") == 3 * (5 + 2 + 1));
  CHECK(launches(" --set tenants.most_times=2") == 3 * (2 + 2 + 1));
  CHECK(launches(" --set tenants.most_times=9") == 3 * (5 + 2 + 1));
}

TEST_CASE("requests end behind a time, unless there are too few of them") {
  const std::string set =
      " --set tenants.requests=60 --set tenants.time_ns=200000 --set "
      "tenants.arrivals=back_to_back";
  const RunResult timed = run("ideal", set);
  CHECK(timed.number("job.time_ns.span") > 200'000);
  CHECK(timed.number("job.time_ns.span") < 300'000);
  const auto requests = [](const RunResult& result) {
    return client(result, 0).at("requests").to_number<uint64_t>();
  };
  CHECK(requests(timed) < 60);
  CHECK(requests(run("ideal", set + " --set tenants.least_requests=50")) == 50);
  // Nobody waits for an arrival behind that time.
  const Scratch scratch;
  const RunResult rare = run("ideal",
                             " --set tenants.requests=2 --set tenants.time_ns=200000 --set "
                             "tenants.arrivals=trace --set tenants.trace=" +
                                 scratch.file("late.txt", "0\n900\n"));
  CHECK(requests(rare) == 1);
  CHECK(rare.number("job.time_ns.span") < 200'000);
}

TEST_CASE("side by side, kernels of all clients run when they come", "[TL-BASE-02]") {
  const RunResult mps = run("mps");
  CHECK(mps.number("job.time_ns.both") > 0);
  CHECK(mps.number("job.time_ns.high") < mps.number("job.time_ns.both"));
}

// 64 work-groups of some us: behind 2,000 of best effort, or in turn with them.
TEST_CASE("in the order of launches a kernel waits for all of those before it") {
  const Scratch scratch;
  const std::string clients = two_clients(scratch, "count:64x300", "count:2000x300");
  CHECK(p99(run("mps", clients + " --set tenants.order=launch")) > 2 * p99(run("mps", clients)));
}

TEST_CASE("in turn, clients lose and double nothing, however long slices are",
          "[.long][TL-BASE-01]") {
  const RunResult ideal = run("ideal");
  for (const char* const ns : {"30000", "70001", "2000000"}) {
    const RunResult sliced = run("time-slicing", std::string(" --set tenants.slice_ns=") + ns);
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
      run("time-slicing", others +
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
      const RunResult result = run(mode, std::string(" --set tenants.requests=1 --set "
                                                     "tenants.lead=1 --set sim.window_ns=") +
                                             ns);
      digests.insert(result.text("digest"));
    }
    CHECK(digests.size() == 1);
  }
}

TEST_CASE("clients that do not exist are refused by name, as is what a mode has no use for") {
  const std::map<std::string, std::string> cases{
      {"--set tenants.best_effort=nix", "tenants.best_effort: unknown workload 'nix'"},
      {"--set tenants.best_effort=t3/small",
       "tenants.best_effort: t3/small is no workload of kind tenants"},
      {"--set tenants.best_effort=tally/models/tiny-training,", "needs a name between the commas"},
      {"--set tenants.order=launch --mode tally", "tenants.order=launch is of modes without"},
      {"--set tenants.priority=work_conserving",
       "tenants.priority=work_conserving is of modes with stream priorities (mps-priority, tgs, "
       "tally-firmware), not of mps"},
      {"--set tenants.profiles=p", "tenants.profiles is of modes that transform"}};
  for (const auto& [set, line] : cases) {
    const Scratch scratch;
    const Finished finished = run_stretto(
        "run tally/small " + set + (set.find("--mode") == std::string::npos ? " --mode mps" : "") +
        " --out " + scratch.path + "/r");
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.says(line));
  }
}

// Both have more work-groups than fit, of 10 us each: in turn, half of the places are high priority's.
TEST_CASE("with priorities, high priority's work-groups are placed first", "[TL-BASE-03]") {
  const Scratch scratch;
  const std::string clients = two_clients(scratch, "count:1000x500", "count:4000x500");
  CHECK(p99(run("mps-priority", clients)) < 0.7 * p99(run("mps", clients)));
}

// A unit has room for many small work-groups, each of which leaves too little for a large one.
TEST_CASE("with priorities, small work-groups do not pass large ones that find no room",
          "[TL-BASE-03]") {
  const Scratch scratch;
  const std::string clients =
      two_clients(scratch, "gemm:512x512x256", "count:3000x500") + " --set gpu.cus=4";
  CHECK(2 * p99(run("mps-priority", clients)) <
        p99(run("mps-priority", clients + " --set tenants.priority=work_conserving")));
}

TEST_CASE("with priorities, the slowest requests are sooner done", "[.long][TL-BASE-03]") {
  // What a priority places first still waits for work-groups of best effort to end (50 us), which
  // take what is free between two kernels of a request: medians follow where in these a request
  // comes, the slowest ones do not.
  // Of few requests p99 is one of them.
  const std::string more = " --set tenants.requests=60";
  CHECK(p99(run("mps-priority", more)) < p99(run("mps", more)));
}

// TGS: not launched while the first client is seen alone, then at a rate that changes.
TEST_CASE("TGS launches best effort at a rate that it learns from high priority",
          "[.long][TL-BASE-04]") {
  const RunResult tgs = run("tgs", " --set tenants.requests=20"),
                  priority = run("mps-priority", " --set tenants.requests=20");
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
  expect_same_outputs(tgs, run("ideal"));
}

TEST_CASE("without a scheduler the server dispatches kernels of both on arrival", "[TL-ABL-01]") {
  const RunResult result = run("no-scheduling");
  CHECK(result.number("job.time_ns.both") > 0);
  CHECK(result.number("job.server.preemptions") == 0);
  CHECK(result.number("job.server.originals") == result.number("job.server.launches"));
}

TEST_CASE("without transformation best effort waits, kernel by kernel", "[TL-ABL-02]") {
  const RunResult result = run("no-transformation");
  CHECK(result.number("job.server.originals") == result.number("job.server.launches"));
  CHECK(result.number("job.server.preemptions") == 0);
  CHECK(result.number("job.time_ns.draining") == 0);
}

// Tally's server, the command processor by itself, and the command processor at the server's word.
TEST_CASE("whoever stops best effort goes on with it, and loses and doubles nothing",
          "[TL-ABL-03][TL-ARCH-04]") {
  const RunResult ideal = run("ideal");
  const RunResult server = run("tally");
  // Messages of both clients, all of which it has taken: a law.
  for (const size_t i : {0u, 1u}) CHECK(client(server, i).at("messages").to_number<uint64_t>() > 0);
  CHECK(server.number("job.server.preemptions") > 0);
  CHECK(server.number("job.server.relaunches") > 0);
  CHECK(server.number("job.server.tasks") > 0);
  CHECK(server.number("job.server.control_blocks_checked") > 0);
  expect_same_outputs(server, ideal);

  const RunResult firmware = run("tally-firmware");
  CHECK(client(firmware, 1).at("requests_per_s").to_number<double>() > 0);
  // Best effort begins kernels between requests alone, and is stopped within them.
  CHECK(firmware.number("job.time_ns.best_effort") > 0);
  CHECK(firmware.number("job.time_ns.both") < firmware.number("job.time_ns.high") / 10);
  expect_same_outputs(firmware, ideal);

  const RunResult unmodified = run("tally-unmodified");
  CHECK(unmodified.number("job.server.preemptions") > 0);
  CHECK(unmodified.number("job.server.tasks") == 0);
  expect_same_outputs(unmodified, ideal);
}

TEST_CASE("the command processor's requests are sooner done than with priorities alone",
          "[.long][TL-ARCH-04]") {
  CHECK(p99(run("tally-firmware")) < p99(run("mps-priority")));
}

TEST_CASE("transformer, profiler and scheduler act together, with the stock instruction set, too",
          "[TL-ARCH-03]") {
  const RunResult result = run("tally-stock-isa",
                               " --set tenants.ptb_max_threads_per_unit=256 --set "
                               "tenants.profile_warm_up_iterations=0 --set tenants.lead=6");
  CHECK(result.number("job.server.tasks") > 0);
  CHECK_FALSE(result.at("job.server.chosen").as_array().empty());
  CHECK(result.number("job.server.preemptions") > 0);
}

TEST_CASE("configurations are measured on the client's own launches", "[TL-PROF-01]") {
  const RunResult result = run("tally",
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
  const RunResult early = run("tally", " --set tenants.requests=10");
  CHECK(unmeasured(early) == std::vector<std::string>{"count", "map_add_fp16"});
  CHECK(early.says("still measured, form and size not chosen: count, map_add_fp16"));
  const RunResult late = run("tally", " --set tenants.requests=60");
  CHECK(unmeasured(late).empty());
  CHECK_FALSE(late.says("still measured"));
}

// High priority rests all the while, and kernels would run as they are.
TEST_CASE("a long rest is used to measure, and each line is launched as often as that needs") {
  const std::string set =
      " --set tenants.ptb_max_threads_per_unit=256 --set tenants.idle_before_original_kernels_ns=0 "
      "--set tenants.profile_warm_up_iterations=0 --set tenants.profile_iterations=1 --set "
      "tenants.requests=1 --set tenants.lead=1";
  CHECK(run("tally", set).at("job.server.chosen").as_array().empty());
  const RunResult often = run("tally", set + " --set tenants.least_times=6");
  const auto& chosen = often.at("job.server.chosen").as_array();
  REQUIRE(chosen.size() == 3);
  for (const auto& one : chosen) CHECK(one.at("duration_ns").to_number<uint64_t>() > 0);
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

TEST_CASE("figures are given beside those of the same clients alone, and of no others") {
  const Scratch scratch;
  const std::string alone = scratch.path + "/alone",
                    set = " --set tenants.requests=3 --set tenants.alone=" + alone;
  const Finished ideal = run_stretto(
      "run tally/small --mode ideal --impl all=model --set tenants.requests=3 --out " + alone);
  REQUIRE(ideal.status == 0);
  const RunResult result = run("ideal", set);
  for (const size_t i : {0u, 1u})
    CHECK(client(result, i).at("normalised_throughput").to_number<double>() == Approx(1));
  CHECK(client(result, 0).at("p99_slowdown").to_number<double>() == Approx(1));
  const std::string beside = scratch.path + "/beside";
  REQUIRE(run_stretto("run tally/small --mode mps --impl all=model" + set + " --out " + beside)
              .status == 0);
  const Finished compared = run_stretto("compare " + alone + " " + beside);
  CHECK(compared.status == 0);
  CHECK_FALSE(compared.says("no speed-up"));
  const Finished other = run_stretto("run tally/models/tiny-training --mode ideal" + set);
  CHECK(other.status == 2);
  CHECK(other.output.find("has other clients") != std::string::npos);
  const std::map<std::string, std::string> cases{
      {" --set gpu.cus=7", "/alone is of another machine"},
      {" --set tenants.most_times=1", "/alone has other clients"},
      {" --set tenants.interval_ns=300000",
       "/alone has other clients, or their requests come otherwise"},
      {" --set tenants.arrivals=bursts --set tenants.burst_interval_ns=50000",
       "requests come otherwise"},
      {"/nix", "/alone/nix/stats.json"}};
  for (const auto& [more, line] : cases) {
    const Finished bad = run_stretto("run tally/small --mode mps" + set + more + " --dry-run");
    INFO(bad.output);
    CHECK(bad.status == 2);
    CHECK(bad.says(line));
  }
}

TEST_CASE("several best-effort clients share what is left", "[.long][TL-ARCH-02]") {
  const RunResult result = run(
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
      run("tally", " --set tenants.best_effort=" + scratch.path + "/refused.yaml");
  CHECK(result.number("job.server.refused_launches") > 0);
  CHECK(result.number("job.server.refused_launches") == result.number("job.server.launches"));
  CHECK(result.at("job.server.refused").as_array().size() == 1);
  CHECK(result.says("bag_fp16_256 runs as it is: work-groups may wait for each other"));
}

TEST_CASE("best effort has arrivals of its own, and serves what comes while it can", "[TL-R51]") {
  const auto served = [](const std::string& more) {
    const RunResult result =
        run("mps",
            " --set gpu.tile_values=false --set tenants.best_effort=tally/models/tiny-inference" +
                more);
    return client(result, 1);
  };
  const auto number = [](const boost::json::value& of, const char* key) {
    return of.at(key).to_number<double>();
  };
  const boost::json::value steady = served(""),
                           rare = served(" --set tenants.best_effort_interval_ns=100000"),
                           full = served(" --set tenants.best_effort_interval_ns=5000");
  // Of 10,000 a second some 15 come in the time; of more than it can serve the rest waits.
  CHECK(number(rare, "requests_per_s") > 4000);
  CHECK(number(rare, "requests_per_s") < 16000);
  CHECK(number(full, "requests_per_s") == Approx(number(steady, "requests_per_s")).epsilon(0.03));
  CHECK(number(full, "requests_per_s") > 2 * number(rare, "requests_per_s"));
  const auto median = [](const boost::json::value& of, const char* key) {
    return of.at(key).at("p50").to_number<double>();
  };
  CHECK(median(steady, "response_us") == median(steady, "service_us"));
  CHECK(median(full, "response_us") > 5 * median(full, "service_us"));
}

TEST_CASE("load goes up and down as it is told, and figures over time show it",
          "[TL-R40][TL-R41]") {
  const std::string set =
      " --set gpu.tile_values=false --set tenants.requests=80 --set tenants.arrivals=poisson --set "
      "tenants.interval_ns=50000 --set tenants.time_ns=4000000 --set tenants.windows=4 --set "
      "tenants.best_effort=tally/models/tiny-inference";
  const auto requests = [&](const std::string& more) {
    std::vector<double> all;
    const RunResult result = run("ideal", set + more);
    for (const boost::json::value& one : result.at("job.windows").as_array()) {
      CHECK(one.at("service_us").at("p99").to_number<double>() < 25);
      CHECK(one.at("best_effort_share").to_number<double>() < 0.1);
      all.push_back(one.at("requests").to_number<double>());
    }
    REQUIRE(all.size() == 4);
    return all;
  };
  const std::vector<double> level = requests(""),
                            shaped = requests(" --set tenants.load_profile=20,180,180,20");
  // 20 a part in the mean: 4, 36, 36, 4.
  CHECK(shaped[0] + shaped[3] < 16);
  CHECK(shaped[1] + shaped[2] > 56);
  CHECK(level[0] + level[3] > 28);
  const RunResult together = run("mps", set);
  for (const boost::json::value& one : together.at("job.windows").as_array())
    CHECK(one.at("best_effort_share").to_number<double>() > 0.2);
  const Scratch scratch;
  for (const auto& [bad, why] : std::map<std::string, std::string>{
           {"50,x", "'x' is no percentage, 1 to 10000"}, {"0", "'0' is no percentage"}}) {
    const Finished finished =
        run_stretto("run tally/small" + set + " --set tenants.load_profile=" + bad + " --out " +
                    scratch.path + "/bad");
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.says(why));
  }
}

TEST_CASE("arrivals of a trace are kept, and a trace that goes back is refused in a line") {
  const Scratch scratch;
  const std::string file = scratch.path + "/trace.txt";
  std::ofstream(file) << "# us\n0\n300\n310\n320\n900\n1000\n";
  const std::string set =
      " --set tenants.requests=6 --set tenants.arrivals=trace --set tenants.trace=" + file;
  const RunResult result = run("ideal", set);
  CHECK(client(result, 0).at("response_us").at("p99").to_number<double>() > p99(result));
  std::ofstream(file) << "0\n300\n200\n400\n500\n600\n";
  const Finished bad =
      run_stretto("run tally/small --mode ideal" + set + " --out " + scratch.path + "/bad");
  CHECK(bad.status == 2);
  CHECK(bad.output.find("trace.txt:3: 200 us is before the line above") != std::string::npos);
}

TEST_CASE("each request is in requests.csv with its times, of a run that was cut short, too") {
  const Scratch scratch;
  const std::string trace = scratch.file("trace.txt", "0\n300\n310\n320\n2000000\n");
  const std::string set =
      "run tally/small --mode mps --impl all=model --set tenants.requests=5 --set "
      "tenants.arrivals=trace --set tenants.trace=" +
      trace + " --time-limit 2 --out " + scratch.path + "/r";
  const Finished finished = run_stretto(set);
  INFO(finished.output);
  REQUIRE(finished.status == 124);
  const RunResult result(stats(scratch.path + "/r"), finished.output);
  std::ifstream file(scratch.path + "/r/requests.csv");
  std::string line;
  REQUIRE(std::getline(file, line));
  CHECK(line == "job,client,request,arrival_ns,begin_ns,end_ns");
  std::map<unsigned, std::vector<std::array<double, 3>>> requests;
  while (std::getline(file, line)) {
    unsigned client = 0, request = 0;
    std::array<double, 3> at{};
    REQUIRE(std::sscanf(line.c_str(), "0,%u,%u,%lf,%lf,%lf", &client, &request, &at[0], &at[1],
                        &at[2]) == 5);
    CHECK(request == requests[client].size());
    requests[client].push_back(at);
  }
  REQUIRE(requests[0].size() == 4);
  CHECK(requests[1].size() == client(result, 1).at("requests").to_number<size_t>());
  const auto& high = requests[0];
  CHECK(high[1][0] - high[0][0] == 300'000);
  CHECK(high[3][0] - high[0][0] == 320'000);
  std::vector<double> service;
  for (const auto& at : high) {
    CHECK(at[0] <= at[1]);
    service.push_back(at[2] - at[1]);
  }
  std::sort(service.begin(), service.end());
  CHECK(client(result, 0).at("service_us").at("p50").to_number<double>() ==
        Approx((service[1] + service[2]) / 2000));
}

TEST_CASE("lines of kernels and arrivals have limits") {
  const Scratch scratch;
  std::ofstream(scratch.path + "/late.txt") << "0\n10000000001\n";
  std::ofstream(scratch.path + "/odd.txt") << std::string("0\0\x1b\n", 4);
  const std::string trace = "tenants.arrivals=trace --set tenants.trace=" + scratch.path;
  const std::map<std::string, std::string> cases{
      {"tenants.kernels='1000001 gelu:16'", "TIMES is 1 to 1000000"},
      {"tenants.kernels='99999999999 gelu:16'", "TIMES is 1 to 1000000"},
      {"tenants.kernels='-3 gelu:16'", "'-3 gelu:16': TIMES is 1 to 1000000"},
      {"tenants.kernels='2 3 gelu:16'", "'3': a line is [TIMES] OPERATOR [host_ns=N]"},
      {"tenants.kernels='host_ns=1 host_ns=2 gelu:16'", "'host_ns=2': a line is [TIMES] OPERATOR"},
      {"tenants.kernels='gelu:16 host_ns=1 host_ns=1'", "'host_ns=1': a line is [TIMES] OPERATOR"},
      {"tenants.least_times=5 --set tenants.most_times=2",
       "tenants.least_times=5: is more than tenants.most_times=2"},
      {"tenants.kernels='gelu:16 host_ns=4294967296'", "host_ns is 0 to 4294967295"},
      {"tenants.kernels=no:1", "there is count, gemm,"},
      {"tenants.kernels=count:0x1", "'0x1' is no size; allowed: whole numbers from 1 on, with x"},
      {trace + "/late.txt", "late.txt:2: '10000000001' is no time in whole microseconds, 0 to"},
      {trace + "/odd.txt", "odd.txt:1: '0?\?' is no time"}};
  for (const auto& [set, line] : cases) {
    const Finished bad = run_stretto("run tally/models/tiny-inference --set " + set);
    INFO(bad.output);
    CHECK(bad.status == 2);
    CHECK(bad.says(line));
  }
}

// Nothing happens in the machine then, and nobody looks at the request behind a window.
TEST_CASE("a time limit ends a run whose clients sleep, and its results are kept") {
  const Scratch scratch;
  std::ofstream(scratch.path + "/trace.txt") << "0\n9000000000\n";
  const Finished run = run_stretto(
      "run tally/models/tiny-inference --impl all=model --set tenants.requests=2 --set "
      "tenants.arrivals=trace --time-limit 1 --set tenants.trace=" +
      scratch.path + "/trace.txt --out " + scratch.path + "/r");
  INFO(run.output);
  CHECK(run.status == 124);
  const RunResult result(stats(scratch.path + "/r"), run.output);
  CHECK(client(result, 0).at("requests").to_number<uint64_t>() == 1);
  CHECK(client(result, 0).at("requests_per_s").to_number<double>() > 0);
}

// Of several kernels each line's have to be found once.
TEST_CASE("lines may be very long, and a time limit ends their runs, too") {
  const Scratch scratch;
  const std::string file =
      scratch.file("long.yaml",
                   "tenants:\n  kernels: |\n    1000000 gelu:16\n    1000000 relu:16\n    1000000 "
                   "add:16\nmodes: [ideal]\nmachine: a100-nvswitch\n");
  const Finished run =
      run_stretto("run " + file + " --impl all=model --set gpu.cus=8 --time-limit 2 --out " +
                      scratch.path + "/r",
                  "timeout 60");
  INFO(run.output);
  CHECK(run.status == 124);
}

TEST_CASE("rewritten kernels have their names in a timeline, with their form and client") {
  const Scratch scratch;
  REQUIRE(run_stretto("run tally/small --mode tally --impl all=model --timeline --out " +
                      scratch.path + "/r")
              .status == 0);
  const std::string timeline = stretto::read_file(scratch.path + "/r/timeline.json");
  for (const char* const name : {"client1 map_add_fp16 wg", "client1 map_add_fp16 (slice) wg",
                                 "client1 count (preempt) wg", "client0 gemm_"})
    CHECK(timeline.find(name) != std::string::npos);
  CHECK(timeline.find("_DYNAMIC") == std::string::npos);
}

// Of a table that is longer than half of the memory a few rows are read.
TEST_CASE("a client has as much memory as it needs, unless all of them need more than there is") {
  const Scratch scratch;
  const std::string file = scratch.path + "/wide.yaml";
  std::ofstream(file) << "machine: a100-nvswitch\nmodes: [ideal]\ntenants:\n"
                         "  kernels: \"gather:64x128x2400000\"\n";
  const std::string set =
      " --set software.memory_gib=1 --set tenants.requests=2 --set "
      "tenants.lead=0 --set tenants.best_effort=" +
      file;
  for (const std::string mode : {"mps", "time-slicing"})
    CHECK(client(run(mode, set), 1).at("requests").to_number<uint64_t>() != 0);
  const Finished bad = run_stretto("run tally/small --mode mps" + set + "," + file + " --out " +
                                   scratch.path + "/bad");
  INFO(bad.output);
  CHECK(bad.status == 2);
  CHECK(bad.says("does not fit: it needs "));
  CHECK(bad.says("the most for what client " + file + " allocates"));
}

TEST_CASE("what clients cannot be is said in a line") {
  const std::map<std::string, std::string> cases{
      {"tenants.high=t3/small", "t3/small is no workload of kind tenants with kernels"},
      {"tenants.turnaround_threshold_ns=0", "turnaround_threshold_ns"},
      {"tenants.arrivals=trace", "needs trace"},
      {"tenants.kernels=gemm:12", "needs kernels, or high and best_effort, not both"},
      {"tenants.interval_ns=1000000000000 --set tenants.requests=1000", "allowed are 10000"}};
  for (const auto& [set, line] : cases) {
    const Finished bad = run_stretto("run tally/small --mode tally --set " + set);
    INFO(bad.output);
    CHECK(bad.status == 2);
    CHECK(bad.output.find(line) != std::string::npos);
  }
}
