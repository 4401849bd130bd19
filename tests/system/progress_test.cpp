// SPDX-License-Identifier: Apache-2.0
// Polling is no progress: firmware, kernels and host programs that only ask end as deadlocks after
// sim.progress_limit_us, and the report names them. The limit is varied, so that it and nothing
// else decides.
#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

const std::string kPrograms = STRETTO_SOURCE_DIR "/tests/system/programs/";

void build(const std::string& command) {
  const Finished finished = run_command(command);
  INFO(command << "\n" << finished.output);
  REQUIRE(finished.status == 0);
}

// What a run without progress prints and when it ended, in nanoseconds.
uint64_t deadlock_ns(const Scratch& scratch, const std::string& arguments, unsigned limit_us,
                     const std::vector<std::string>& says) {
  const std::string limit = std::to_string(limit_us);
  const Finished finished =
      run_stretto("run " + arguments + " --set sim.progress_limit_us=" + limit + " --out " +
                      scratch.path + "/r",
                  "timeout 100");
  INFO(arguments << "\n" << finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("no progress in " + limit + "000 ns"));
  for (const std::string& one : says) CHECK(finished.says(one));
  return stats(scratch.path + "/r").at("time_ns").at("total").to_number<uint64_t>();
}

// The run ends at the limit: later by what the limit is larger, and by the few windows in which
// nothing at all happened.
void ends_at_the_limit(const Scratch& scratch, const std::string& arguments,
                       const std::vector<std::string>& says) {
  const uint64_t early = deadlock_ns(scratch, arguments, 300, says);
  const uint64_t late = deadlock_ns(scratch, arguments, 1300, says);
  CHECK(late - early > 999'000);
  CHECK(late - early < 1'050'000);
}

}  // namespace

TEST_CASE("firmware that polls for ever is a deadlock") {
  const Scratch scratch;
  const std::string elf = scratch.path + "/polling.elf";
  build(
      "riscv64-unknown-elf-gcc -march=rv64imac -misa-spec=2.2 -mabi=lp64 -mcmodel=medany "
      "-nostdlib -Wl,--no-warn-rwx-segments -T" STRETTO_SOURCE_DIR
      "/tests/unit/riscv/asm/test.ld " +
      kPrograms + "polling_firmware.S -o " + elf);
  ends_at_the_limit(scratch, "t3/small --set gpus=1 --firmware " + elf,
                    {"hart 1 waits for memory atomic 0x10000000000"});
}

TEST_CASE("a kernel that polls for ever is a deadlock") {
  const Scratch scratch;
  const std::string elf = scratch.path + "/polling.elf";
  build("bash " STRETTO_BUILD_DIR "/stretto-kernel -e gemm_128x128 -o " + elf + " " + kPrograms +
        "polling_kernel.c");
  ends_at_the_limit(scratch, "t3/small --set gpus=1 --set software.gemm=" + elf,
                    {"15 work-groups dispatched, 0 ended", "more like these"});
}

// Of fills, GEMM, reduce-scatter and all-gather the fills have ended and the GEMM has begun.
TEST_CASE("of a run that is cut short, what has ended has a time, what has begun a begin") {
  const Scratch scratch;
  const std::string elf = scratch.path + "/polling.elf", out = scratch.path + "/r";
  build("bash " STRETTO_BUILD_DIR "/stretto-kernel -e gemm_128x128 -o " + elf + " " + kPrograms +
        "polling_kernel.c");
  const Finished finished =
      run_stretto("run t3/small --set gpus=2 --set software.gemm=" + elf +
                      " --set sim.progress_limit_us=300 --impl all=model --out " + out,
                  "timeout 100");
  INFO(finished.output);
  CHECK(finished.status == 1);
  const auto root = stats(out);
  const auto& time = root.at("time_ns").as_object();
  const auto& under_way = root.at("under_way_since_ns").as_object();
  const auto ns = [](const boost::json::value& value) { return value.to_number<double>(); };
  CHECK(under_way.size() == 1);
  CHECK(!time.contains("gemm"));
  CHECK(ns(time.at("init")) > 0);
  // Setup has a gap where init is; then the GEMM lasts to the end.
  CHECK(ns(under_way.at("gemm")) >= ns(time.at("setup")));
  CHECK(ns(under_way.at("gemm")) <= ns(time.at("setup")) + ns(time.at("init")) + 2);
  CHECK(ns(time.at("no_phase")) == 0);
  CHECK(finished.says("under way   gemm since "));
  for (const char* const name : {"rs", "ag"}) CHECK(!time.contains(name));
  CHECK(!finished.says("not ended"));
}

// However far it comes in a second: the fills of this machine take longer.
TEST_CASE("of a run that is cut short in its fills, neither they nor setup have ended") {
  const Scratch scratch;
  const Finished finished =
      run_stretto("run t3/tnlg-fc2-tp8 --mode t3-mca --impl all=model --time-limit 1 --out " +
                  scratch.path + "/r");
  INFO(finished.output);
  CHECK(finished.status == 124);
  const auto root = stats(scratch.path + "/r");
  for (const char* const name : {"setup", "init", "gemm", "rs", "ag"})
    CHECK(!root.at("time_ns").as_object().contains(name));
  CHECK(root.at("time_ns").at("no_phase").to_number<uint64_t>() == 0);
  CHECK(root.at("under_way_since_ns").at("setup").to_number<uint64_t>() == 0);
  CHECK(!root.at("under_way_since_ns").as_object().contains("gemm"));
}

TEST_CASE("a host program that asks for ever is a deadlock") {
  const Scratch scratch;
  const std::string object = scratch.path + "/polling.so";
  build("cc -shared -fPIC -Wall -Werror -I" STRETTO_SOURCE_DIR "/sw/include -o " + object + " " +
        kPrograms + "polling_program.c");
  ends_at_the_limit(scratch, object + " --set gpus=2", {"without a byte moved"});
}

TEST_CASE("a program that sleeps longer than the limit and a long K loop are no deadlocks") {
  const Scratch scratch;
  for (const std::string arguments :
       {"gpu-driven/p2p --mode c-drv --set point_to_point.max_bytes=1024 "
        "--set software.event_poll_delay_ns=100000000",
        "t3/small --mode gemm --set gpus=1 --set gpu.clock_mhz=100 --set sub_layer.m=16 "
        "--set sub_layer.n=16 --set sub_layer.k=131072"}) {
    const Finished finished =
        run_stretto("run " + arguments + " --out " + scratch.path + "/r", "timeout 100");
    INFO(arguments << "\n" << finished.output);
    CHECK(finished.status == 0);
  }
}
