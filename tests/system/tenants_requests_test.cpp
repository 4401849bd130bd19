// SPDX-License-Identifier: Apache-2.0
// Question: do requests of clients come when they are told to, are they measured and ended right, and
// is what clients cannot be said in a line? Through the executable, two clients on 8 units.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "models/common/read_file.h"
#include "tests/system/tenants_runs.h"

using namespace stretto::test;

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
  const RunResult bound = run_small("ideal", two),
                  free = run_small("ideal", two + " --set tenants.host_ns=40000");
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
  const RunResult timed = run_small("ideal", set);
  CHECK(timed.number("job.time_ns.span") > 200'000);
  CHECK(timed.number("job.time_ns.span") < 300'000);
  const auto requests = [](const RunResult& result) {
    return client(result, 0).at("requests").to_number<uint64_t>();
  };
  CHECK(requests(timed) < 60);
  CHECK(requests(run_small("ideal", set + " --set tenants.least_requests=50")) == 50);
  // Nobody waits for an arrival behind that time.
  const Scratch scratch;
  const RunResult rare = run_small("ideal",
                                   " --set tenants.requests=2 --set tenants.time_ns=200000 --set "
                                   "tenants.arrivals=trace --set tenants.trace=" +
                                       scratch.file("late.txt", "0\n900\n"));
  CHECK(requests(rare) == 1);
  CHECK(rare.number("job.time_ns.span") < 200'000);
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
TEST_CASE("figures are given beside those of the same clients alone, and of no others") {
  const Scratch scratch;
  const std::string alone = scratch.path + "/alone",
                    set = " --set tenants.requests=3 --set tenants.alone=" + alone;
  const Finished ideal = run_stretto(
      "run tally/small --mode ideal --impl all=model --set tenants.requests=3 --out " + alone);
  REQUIRE(ideal.status == 0);
  const RunResult result = run_small("ideal", set);
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

TEST_CASE("best effort has arrivals of its own, and serves what comes while it can", "[TL-R51]") {
  const auto served = [](const std::string& more) {
    const RunResult result = run_small(
        "mps",
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
    const RunResult result = run_small("ideal", set + more);
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
  const RunResult together = run_small("mps", set);
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
  const RunResult result = run_small("ideal", set);
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
      trace + " --out " + scratch.path + "/r --time-limit ";
  using Requests = std::map<unsigned, std::vector<std::array<double, 3>>>;
  const auto read = [&] {
    std::ifstream file(scratch.path + "/r/requests.csv");
    std::string line;
    REQUIRE(std::getline(file, line));
    CHECK(line == "job,client,request,arrival_ns,begin_ns,end_ns");
    Requests requests;
    while (std::getline(file, line)) {
      unsigned client = 0, request = 0;
      std::array<double, 3> at{};
      REQUIRE(std::sscanf(line.c_str(), "0,%u,%u,%lf,%lf,%lf", &client, &request, &at[0], &at[1],
                          &at[2]) == 5);
      CHECK(request == requests[client].size());
      requests[client].push_back(at);
    }
    return requests;
  };
  Finished finished;
  Requests requests;
  // A busy host takes longer to come to the fourth.
  for (unsigned limit = 2; requests[0].size() < 4 && limit <= 64; limit *= 2) {
    finished = run_stretto(set + std::to_string(limit));
    INFO(finished.output);
    REQUIRE(finished.status == 124);
    requests = read();
  }
  const RunResult result(stats(scratch.path + "/r"), finished.output);
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
      "tenants.arrivals=trace --time-limit 2 --set tenants.trace=" +
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
    CHECK(client(run_small(mode, set), 1).at("requests").to_number<uint64_t>() != 0);
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
