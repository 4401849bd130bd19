// SPDX-License-Identifier: Apache-2.0
// Question: what service do many work-groups get that use the memory of another server at a time, by
// harts and by threads of the host? Data and laws are checked by the kind: entries written = taken =
// ended, operations asked for = posted = begun by the NIC = completed, every one ended well.
#include <catch2/catch.hpp>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

const std::string kLoaded = "compnet/loaded --impl all=model ";

// Of reads of a kind that harts sent to the L2, those that found their sector.
double found(const RunResult& run, const std::string& reads) {
  const std::string name = "statistics.gpu0.compute.l2." + reads;
  return static_cast<double>(run.number(name + "_found")) / static_cast<double>(run.number(name));
}
// Of all that `more` has more than `few`: without the begin of the service, whose code misses.
double all_found(const RunResult& few, const RunResult& more) {
  uint64_t all = 0, found = 0;
  for (const std::string kind : {"hart_reads", "hart_data_reads", "hart_code_reads"}) {
    const std::string name = "statistics.gpu0.compute.l2." + kind;
    all += more.number(name) - few.number(name);
    found += more.number(name + "_found") - few.number(name + "_found");
  }
  return static_cast<double>(found) / static_cast<double>(all);
}

double blocking(const RunResult& run, const char* what) {
  return run.at("job.blocking").at(what).to_number<double>();
}

}  // namespace

TEST_CASE("480 work-groups that all wait are served, in each design",
          "[CN-Q-06][CN-Q-08][CN-Q-09]") {
  // Threads that load queues over PCIe serve worst, the more queues each has (CN-R32).
  const RunResult harts = run_correctly(kLoaded + "--set loaded.rounds=1"),
                  bus = run_correctly(kLoaded + "--mode dgpu --set loaded.rounds=1"),
                  host = run_correctly(kLoaded + "--mode dgpu-host --set loaded.rounds=1"),
                  die = run_correctly(kLoaded + "--mode apu --set loaded.rounds=1");
  for (const RunResult* run : {&harts, &bus, &host, &die}) {
    CHECK(run->at("job.operations").to_number<uint64_t>() == 480);
    CHECK(run->at("job.entries").to_number<uint64_t>() == 480 * 2);  // With the quiet at the end.
    CHECK(run->at("kernel_sha256") == harts.at("kernel_sha256"));
  }
  CHECK(blocking(bus, "span_us") > 2 * blocking(harts, "span_us"));
  CHECK(blocking(die, "mean_us") < blocking(host, "mean_us"));
  const RunResult more =
      run_correctly(kLoaded + "--mode dgpu --set loaded.rounds=1 --set loaded.threads=8");
  CHECK(blocking(more, "span_us") < blocking(bus, "span_us") / 2);
}

TEST_CASE("a work-group waits for its own entry to be written, however late the L2 does so") {
  // Lines of entries are filled first: the word that is polled was found as it was before, and 3 of 480 operations
  // counted as ended.
  (void)run_correctly(kLoaded + "--set loaded.rounds=1 --set loaded.threads=1");
}

TEST_CASE("queues are served in turn where the NIC's ring is full", "[.long][CN-Q-06]") {
  for (const char* const mode : {"--mode compnet ", "--mode compnet-nolock "}) {
    CAPTURE(mode);
    const RunResult run =
        run_correctly(kLoaded + mode + "--set loaded.threads=2 --set loaded.messages=8");
    CHECK(blocking(run, "p99_us") < 2 * blocking(run, "median_us"));  // It was 39 times that.
  }
}

TEST_CASE("entries alone cost the NIC nothing, and less from host memory than from GPU memory",
          "[CN-HOST-02][CN-HOST-03][CN-HOST-06]") {
  const std::string entries = kLoaded + "--set gpu.cus=64 --set loaded.operation=none ";
  const auto run = [&](const char* mode, int groups, int threads) {
    return run_correctly(entries + "--mode " + mode +
                         " --set loaded.work_groups=" + std::to_string(groups) +
                         " --set loaded.threads=" + std::to_string(threads));
  };
  double before = 0;
  for (const int groups : {1, 64, 512}) {
    CAPTURE(groups);
    const RunResult gpu = run("dgpu", groups, 1), host = run("dgpu-host", groups, 1);
    CHECK(gpu.number("statistics.nic0.interface.operations_begun") ==
          host.number("statistics.nic0.interface.operations_begun"));
    CHECK(blocking(host, "mean_us") < blocking(gpu, "mean_us"));
    CHECK(blocking(gpu, "mean_us") > before);
    before = blocking(gpu, "mean_us");
  }
  CHECK(blocking(run("dgpu", 512, 8), "mean_us") < before / 4);
}

TEST_CASE("an operation of a loaded service costs the NIC one entry of 64 bytes", "[CN-Q-10]") {
  for (const char* const mode : {"--mode compnet ", "--mode dgpu-host "}) {
    CAPTURE(mode);
    const std::string some = kLoaded + mode + "--set loaded.work_groups=48 --set loaded.bytes=100 ";
    const RunResult few = run_correctly(some + "--set loaded.messages=10"),
                    more = run_correctly(some + "--set loaded.messages=30");
    const char* const entries = "statistics.nic0.interface.pcie_read_bytes.entries";
    CHECK(more.number(entries) - few.number(entries) == 48 * 20 * 64);
  }
}

TEST_CASE("puts of many work-groups arrive, and no way to make the run changes what comes out") {
  for (const char* const mode :
       {"--mode compnet ", "--mode dgpu ", "--mode dgpu-host ", "--mode apu "}) {
    CAPTURE(mode);
    const std::string puts = kLoaded + mode +
                             "--set loaded.work_groups=24 --set loaded.operation=put --set "
                             "loaded.bytes=77 --set loaded.messages=3 ";
    const RunResult run = run_correctly(puts);
    const RunResult other = run_correctly(puts + "--set sim.window_ns=7 --set sim.threads=2");
    CHECK(other.text("digest") == run.text("digest"));
    CHECK(other.at("job") == run.at("job"));
  }
}

TEST_CASE("streams push out of the L2 what the command processor reads, but not what is locked",
          "[CN-LOCK-01][CN-LOCK-03][CN-CP-01]") {
  const std::string llc = "compnet/llc --impl all=model --set loaded.rounds=40 ";
  const std::string begin = " --set loaded.rounds=10";
  const std::string free = llc + "--mode compnet-nolock ", quiet = "--set loaded.streaming=0 ";
  const RunResult alone = run_correctly(free + quiet), pushed = run_correctly(free),
                  locked = run_correctly(llc), calm = run_correctly(llc + quiet);
  CHECK(all_found(run_correctly(free + begin), pushed) <=
        0.4 * all_found(run_correctly(free + quiet + begin), alone));
  CHECK(found(locked, "hart_announced_reads") >= 0.99);
  CHECK(found(pushed, "hart_announced_reads") < 0.9);
  // What the command processor has for itself is not locked.
  CHECK(found(locked, "hart_data_reads") < 0.9 * found(calm, "hart_data_reads"));
  CHECK(locked.at("job.streamed_bytes").to_number<uint64_t>() > uint64_t{1} << 20);
}

TEST_CASE("where a hart's own data lie, and what fences reach, changes times alone") {
  const std::string few = kLoaded + "--set loaded.work_groups=16 --set loaded.messages=3 ";
  const RunResult sram = run_correctly(few + "--set cp.private_memory=sram"),
                  all = run_correctly(few), shared = run_correctly(few + "--set cp.fenced=shared"),
                  buffer = run_correctly(few + "--set cp.store_buffer=4");
  for (const RunResult* run : {&all, &shared, &buffer})
    CHECK(run->at("job.entries") == sram.at("job.entries"));
  const RunResult windows =
      run_correctly(few + "--set cp.store_buffer=4 --set sim.window_ns=7 --set sim.threads=2");
  CHECK(windows.text("digest") == buffer.text("digest"));
}
