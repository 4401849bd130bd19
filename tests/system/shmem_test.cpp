// SPDX-License-Identifier: Apache-2.0
// Question: do work-groups of several servers communicate through command queues that their command
// processors serve, with what each call of shmem.h promises, whatever way the run is made? Kernels
// leave what they have seen (sw/kernels/shmem_exchange.h), the kind checks it; faults planted in
// the firmware must be found out.
#include <catch2/catch.hpp>

#include <filesystem>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

const std::string kExchange = "compnet/shmem --impl all=model ";
// PE 2 is told after PE 1 has been put much.
const std::string kLitmus =
    "compnet/shmem --impl all=model --set shmem.program=litmus --set shmem.bytes=262144 "
    "--set shmem.work_groups=1 ";
const std::string kOutside =
    "compnet/shmem --impl all=model --set shmem.program=outside --set shmem.work_groups=2 ";

std::string firmware(const char* name) {
  return std::string("--firmware " STRETTO_BUILD_DIR "/sw/firmware/main_net_") + name + ".elf ";
}

uint64_t at_pe(const RunResult& run, size_t pe, const char* what) {
  return run.at("job.pes").as_array().at(pe).at(what).to_number<uint64_t>();
}

}  // namespace

TEST_CASE(
    "every call does what it promises between three servers, of any size",
    "[CN-API-01][CN-API-02][CN-API-03][CN-API-05][CN-Q-01][CN-Q-02][CN-Q-04][CN-Q-05][CN-Q-08]") {
  for (const char* const more :
       {"", "--set shmem.bytes=8", "--set shmem.bytes=13", "--set shmem.bytes=4099",
        "--set shmem.bytes=20001 --set shmem.rounds=5", "--set shmem.poll_rounds=1",
        "--mode compnet-nolock"}) {
    CAPTURE(more);
    run_correctly(kExchange + more);
  }
}

TEST_CASE("two and four servers, one work-group and many", "[CN-CP-02][CN-Q-06]") {
  run_correctly(kExchange + "--set gpus=2 --set servers=2 --set shmem.work_groups=1");
  run_correctly(kExchange + "--set gpus=4 --set servers=4 --set shmem.rounds=4");
  run_correctly(kExchange +
                "--set gpus=2 --set servers=2 --set shmem.work_groups=41 --set shmem.rounds=1");
}

TEST_CASE("no way to make the run changes what comes out") {
  const std::string small = kExchange + "--set shmem.rounds=3 ";
  const RunResult run = run_correctly(small);
  for (const char* const way : {"--set sim.threads=2", "--set sim.window_ns=7",
                                "--set sim.reverse_elaboration=true", "--impl all=rtl"}) {
    CAPTURE(way);
    const RunResult other = run_correctly(small + way);
    CHECK(other.text("digest") == run.text("digest"));
    CHECK(other.at("job") == run.at("job"));
  }
}

TEST_CASE("each entry is one of 64 bytes, taken once, and its data cross the NIC once",
          "[CN-Q-09][CN-Q-10]") {
  const std::string one =
      kExchange + "--set gpus=2 --set servers=2 --set shmem.work_groups=1 --set shmem.bytes=4096 ";
  const RunResult few = run_correctly(one + "--set shmem.rounds=10"),
                  more = run_correctly(one + "--set shmem.rounds=30");
  const auto added = [&](const char* what) {
    const std::string name = std::string("statistics.nic0.interface.") + what;
    return more.number(name) - few.number(name);
  };
  CHECK(at_pe(more, 0, "entries") - at_pe(few, 0, "entries") == 20);
  CHECK(at_pe(more, 0, "operations") - at_pe(few, 0, "operations") == 20);
  CHECK(added("operations_begun") == 20);
  CHECK(added("pcie_read_bytes.entries") == 20 * 64);
  CHECK(added("bytes_placed") == 20 * 4096);
}

TEST_CASE("eight bytes go with the entry: the NIC reads no data", "[CN-Q-03]") {
  const std::string one =
      kExchange + "--set gpus=2 --set servers=2 --set shmem.work_groups=1 --set shmem.bytes=8 ";
  const char* const data = "statistics.nic0.interface.pcie_read_bytes.data";
  // Gets of the other server alone.
  CHECK(run_correctly(one + "--set shmem.rounds=30").number(data) ==
        run_correctly(one + "--set shmem.rounds=10").number(data));
}

TEST_CASE("a get of a work-group takes what its parts add up to, to the femtosecond",
          "[CN-CP-03]") {
  const std::string get = "compnet/get --mode compnet --impl all=model --set one_sided.messages=0 ";
  const RunResult run = run_correctly(get);
  REQUIRE(run.at("job.sizes").as_array().size() == 20);
  for (const auto& size : run.at("job.sizes").as_array()) {
    uint64_t sum = 0;
    for (const auto& part : size.at("parts_fs").as_object())
      sum += part.value().to_number<uint64_t>();
    CHECK(sum == size.at("latency_fs").to_number<uint64_t>());
  }
  // The hart finds the entry in the L2: hundreds of clocks of 1.5 GHz, one round and a read.
  const double detect =
      run.at("job.sizes").as_array()[0].at("parts_fs").at("detect").to_number<double>() / 1e6;
  CHECK(detect > 100);
  CHECK(detect < 300);
  // Ways over PCIe, of 100 ns more: of the doorbell two, of a read four; the queue is in GPU
  // memory. Of the get of least latency, of so many that none of what comes at other moments is in
  // its way: polls of harts, and the NIC's reads of other entries.
  const std::string many = get + "--set one_sided.max_bytes=8 --set one_sided.rounds=64 ";
  const RunResult usual = run_correctly(many),
                  bus = run_correctly(many + "--set pcie.latency_ns=225");
  const auto added = [&](const char* part) {
    const auto of = [&](const RunResult& from) {
      return from.at("job.sizes").as_array()[0].at("parts_fs").at(part).to_number<double>() / 1e6;
    };
    return of(bus) - of(usual);
  };
  CHECK(added("enqueue") == Approx(0).margin(10));
  CHECK(added("detect") == Approx(0).margin(100));
  CHECK(added("service") == Approx(200).margin(20));
  CHECK(added("fetch") == Approx(400).margin(40));
  CHECK(added("remote") == Approx(400).margin(40));
}

TEST_CASE("what was put before a quiet is there for whoever is told behind it", "[CN-MEM-03]") {
  run_correctly(kLitmus);
  run_correctly(kLitmus + "--mode compnet-nolock");
  fails(kLitmus + firmware("no_quiet"), "end of the data behind the flag");
}

TEST_CASE(
    "an operation that fails ends the run and is named, or its status reaches the work-group") {
  fails(kOutside, "firmware: gpu 0: work-group ");
  fails(kOutside, ": get of 1000 bytes, PE 1 at 0x");
  fails(kOutside, ": remote key does not allow it");
  // The second one of the queue pair is flushed if it comes behind; each work-group has its own
  // here.
  run_correctly(kOutside + "--set shmem.return_errors=true");
}

TEST_CASE("a network service that repeats or forgets is found out") {
  fails(kExchange + "--set shmem.rounds=3 " + firmware("twice"),
        "operations begun by the NIC = those that differ");
  fails("compnet/get --mode compnet --impl all=model --set one_sided.max_bytes=64 " +
            firmware("no_wait"),
        "latencies = those whose parts are known and in order");
}

TEST_CASE("harts that poll for nothing are no progress") {
  // An operation that is never posted never ends: a work-group waits for it, and harts go on with
  // their rounds.
  fails(kExchange + "--set shmem.rounds=0 --set sim.progress_limit_us=300 " + firmware("skip"),
        "no progress in 300000 ns");
}

TEST_CASE("private memory that no hart hands over is found out where fences leave it alone",
          "[CN-CP-01]") {
  const std::string kept =
      kExchange + "--firmware " STRETTO_BUILD_DIR "/sw/firmware/main_gpu_kept.elf ";
  fails(kept + "--set cp.fenced=shared --set sim.progress_limit_us=300", "deadlock");
  run_correctly(kept + "--set cp.fenced=all");
}

TEST_CASE("threads of the host serve the same kernels, from GPU memory and from their own",
          "[CN-HOST-01][CN-HOST-02][CN-HOST-03][CN-HOST-04][CN-HOST-05]") {
  const RunResult by_harts = run_correctly(kExchange);
  for (const char* const mode : {"--mode dgpu ", "--mode dgpu-host ", "--mode apu "}) {
    CAPTURE(mode);
    const RunResult run = run_correctly(kExchange + mode);
    CHECK(run.at("kernel_sha256") == by_harts.at("kernel_sha256"));
    CHECK(at_pe(run, 0, "entries") == at_pe(by_harts, 0, "entries"));
    run_correctly(kExchange + mode + "--set shmem.threads=1 --set shmem.bytes=4099");
    run_correctly(kExchange + mode + "--set shmem.threads=5 --set shmem.bytes=8");
    run_correctly(kLitmus + mode);
    const std::string small = kExchange + mode + "--set shmem.rounds=3 ";
    const RunResult one = run_correctly(small);
    for (const char* const way : {"--set sim.threads=2", "--set sim.window_ns=7",
                                  "--set sim.reverse_elaboration=true", "--impl all=rtl"}) {
      CAPTURE(way);
      const RunResult other = run_correctly(small + way);
      CHECK(other.text("digest") == one.text("digest"));
      CHECK(other.at("job") == one.at("job"));
    }
    fails(kOutside + mode, "service0_");
    fails(kOutside + mode, ": get of 1000 bytes, PE 1 at 0x");
    fails(kOutside + mode, ": remote key does not allow it");
    run_correctly(kOutside + mode + "--set shmem.return_errors=true");
  }
}

TEST_CASE(
    "ways over PCIe are where the queue lies: entries of GPU memory are loaded word by word") {
  // Of the get of least latency: so many that one of them comes when threads are about to look.
  const auto added = [](const std::string& mode, const char* part) {
    const std::string get =
        "compnet/get --impl all=model --set one_sided.messages=0 --set one_sided.rounds=64 --set "
        "one_sided.max_bytes=8 --mode " +
        mode;
    const auto of = [&](const std::string& more) {
      const RunResult run = run_correctly(get + more);
      const auto& size = run.at("job.sizes").as_array()[0];
      uint64_t sum = 0;
      for (const auto& each : size.at("parts_fs").as_object())
        sum += each.value().to_number<uint64_t>();
      CHECK(sum == size.at("latency_fs").to_number<uint64_t>());
      return size.at("parts_fs").at(part).to_number<double>() / 1e6;
    };
    return of(" --set pcie.latency_ns=225") - of("");
  };
  // A read over PCIe passes two links twice, a posted write two. A get: three words behind the
  // state of its entry, and the doorbell.
  CHECK(added("dgpu", "service") == Approx(3 * 400 + 200).margin(160));
  CHECK(added("dgpu-host", "service") == Approx(200).margin(10));
  CHECK(added("dgpu-host", "detect") == Approx(200).margin(20));
}

// An entry and what answers it cross the link once each, and no PCIe; the doorbell does not.
TEST_CASE("GPU and host on one die meet on a link of their own", "[CN-HOST-05]") {
  const auto ns = [](const std::string& more) {
    const RunResult run = run_correctly(
        "compnet/get --impl all=model --set one_sided.messages=0 --set one_sided.rounds=16 --set "
        "one_sided.max_bytes=8 --mode apu " +
        more);
    return run.at("job.sizes").as_array()[0].at("latency_fs").to_number<double>() / 1e6;
  };
  const double usual = ns("");
  CHECK(ns("--set coherent.latency_ns=180") - usual == Approx(2 * 100).margin(20));
  CHECK(ns("--set pcie.latency_ns=135") - usual > 8 * 10);  // Where the NIC is, all the same.
}

TEST_CASE("threads of the host that poll for nothing are no progress") {
  namespace fs = std::filesystem;
  const std::string sw = STRETTO_BUILD_DIR "/sw";
  for (const char* const mode : {"--mode dgpu ", "--mode dgpu-host "}) {
    const Scratch scratch;
    const std::string own = scratch.path + "/sw";
    fs::create_directories(own + "/firmware");
    fs::create_directory_symlink(sw + "/kernels", own + "/kernels");
    for (const char* const firmware : {"/firmware/main.elf", "/firmware/main_gpu.elf"})
      fs::create_symlink(sw + firmware, own + firmware);
    fs::create_symlink(sw + "/firmware/host_service_skip.elf", own + "/firmware/host_service.elf");
    const Finished finished = run_stretto(
        "run " + kExchange + mode + "--set shmem.rounds=0 --set sim.progress_limit_us=300 --out " +
            scratch.path + "/r",
        "env STRETTO_SW=" + own + " timeout 300");
    INFO(finished.output);
    CHECK(finished.status == 1);
    CHECK(finished.says("no progress in 300000 ns"));
  }
}

TEST_CASE("what does not fit is refused in a line that says what does") {
  const auto refused = [](const std::string& arguments, const std::string& text) {
    const Finished finished = run_somewhere(arguments);
    INFO(arguments << "\n" << finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.says(text));
    CHECK(finished.lines() == 1);
  };
  refused("compnet/shmem --set servers=1 --set gpus=1",
          "needs topology=cluster and servers of 2 to 32");
  refused("compnet/shmem --set gpus=2 --set servers=2 --set shmem.program=litmus",
          "needs topology=cluster and servers of 3 to 32");
  refused("compnet/shmem --set shmem.work_groups=481", "the GPU has room for 480");
  refused("compnet/get --mode compnet --set one_sided.memory=host", "is for mode cpu");
  refused("compnet/get --mode compnet --set one_sided.threads=3",
          "3 threads cannot serve; harts of the command processor do: 1 to 2");
  refused("compnet/get --mode dgpu --set one_sided.threads=16",
          "16 threads cannot serve; one core of host.cores is the program's: 1 to 15");
  refused("compnet/get --mode apu --set coherent_host=false", "needs coherent_host=true");
  refused("t3/small --set coherent_host=true", "coherent_host=true needs topology cluster");
  refused("compnet/get --mode dgpu --set service_core.l1_kib=48", "service_core: l1_kib (48)");
}
