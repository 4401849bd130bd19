// SPDX-License-Identifier: Apache-2.0
// Question: can command processors of two servers talk to each other through their NICs, by the
// library that host programs use, with rings in GPU memory and no host? The program
// (programs/nic_hart.c) looks at what has come and says what is wrong.
#include <catch2/catch.hpp>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

const std::string kRun =
    "run --firmware " STRETTO_BUILD_DIR
    "/sw/firmware/nic_hart.elf --machine compnet --set gpus=2 --set servers=2 --impl all=model ";

RunResult run(const std::string& more = "") {
  const Scratch scratch;
  const Finished finished =
      run_stretto(kRun + more + " --out " + scratch.path + "/r", "timeout 60");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  const RunResult result(stats(scratch.path + "/r"), finished.output);
  CHECK(result.number("audit.violations") == 0);
  return result;
}

uint64_t at_nic(const RunResult& run, const char* nic, const char* what) {
  return run.number(std::string("statistics.") + nic + ".interface." + what);
}

}  // namespace

TEST_CASE("command processors get, put and add in memory of another server, without a host") {
  const RunResult result = run();
  CHECK(at_nic(result, "nic0", "operations_failed") == 0);
  CHECK(at_nic(result, "nic1", "operations_failed") == 0);
  CHECK(at_nic(result, "nic1", "atomics_done") == 3);
  CHECK(at_nic(result, "nic1", "operations_ended") == 2);
  // A get of 8,192 bytes, two of 8, two flags; three results of atomics.
  CHECK(at_nic(result, "nic0", "pcie_written_bytes.data") == 8'192 + 2 * 8 + 2 * 8);
  CHECK(at_nic(result, "nic0", "pcie_written_bytes.atomics") == 3 * 8);
  CHECK(at_nic(result, "nic1", "bytes_placed") == 8'192 + 8);
}

TEST_CASE("the run is the same whatever way it is made") {
  const std::string digest = run().text("digest");
  for (const char* const way :
       {"--set sim.window_ns=9", "--set sim.reverse_elaboration=true", "--set sim.threads=2"}) {
    CAPTURE(way);
    CHECK(run(way).text("digest") == digest);
  }
}

TEST_CASE("what is lost on the way is sent again, and a server that is down is noticed") {
  CHECK(at_nic(run("--set nic.fault.lose_packet=2"), "nic0", "packets_lost") == 1);
  const Scratch scratch;
  const Finished down =
      run_stretto(kRun + "--set fault.nic_server=1 --set nic.fault.down_at_ns=30000 --out " +
                      scratch.path + "/r",
                  "timeout 60");
  INFO(down.output);
  CHECK(down.status == 1);
  CHECK(down.says("test 2 failed"));
}
