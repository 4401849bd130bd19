// SPDX-License-Identifier: Apache-2.0
// Question: are programs over OpenSHMEM right that are written with what shmem.h documents alone
// (sw/kernels/open_shmem.c)? The kind computes what each work-group of each PE must leave.
#include <catch2/catch.hpp>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

const std::string kProgram = "compnet/open_shmem --impl all=model --set open_shmem.program=";
const char* const kPrograms[] = {"tokens",      "histogram",  "halo",
                                 "ticket_lock", "all_to_all", "collectives"};

std::string servers(int count) {
  return " --set gpus=" + std::to_string(count) + " --set servers=" + std::to_string(count) + " ";
}

}  // namespace

TEST_CASE("programs leave what they must, in every mode", "[CN-API-01][CN-API-05]") {
  for (const char* const program : kPrograms) {
    for (const char* const mode : {"compnet", "compnet-nolock"}) {
      CAPTURE(program, mode);
      run_correctly(kProgram + program + " --mode " + mode);
    }
  }
}

TEST_CASE("of other numbers of servers, work-groups and rounds", "[.long]") {
  for (const char* const program : kPrograms) {
    CAPTURE(program);
    run_correctly(kProgram + program + servers(6) + "--set open_shmem.work_groups=1");
    run_correctly(kProgram + program +
                  " --set open_shmem.work_groups=20 --set open_shmem.rounds=2");
  }
  run_correctly(kProgram + "collectives" + servers(2));
  run_correctly(kProgram + "collectives" + servers(32) + "--set open_shmem.work_groups=1");
  run_correctly(kProgram + "histogram" + servers(3) + "--set open_shmem.rounds=200");
}

TEST_CASE("one hart serves, or many threads of the host, in every kind of programs") {
  const std::string few = servers(2);
  const std::string kinds[] = {
      "open_shmem", "all_reduce --set all_reduce.bytes=65536",
      "jacobi --set jacobi.rows=64 --set jacobi.columns=64 --set jacobi.iterations=2"};
  for (const std::string& kind : kinds) {
    const std::string name = kind.substr(0, kind.find(' '));
    const auto with = [&](const std::string& mode, const std::string& threads) {
      return "compnet/" + kind + few + "--impl all=model --mode " + mode + " --set " + name +
             ".threads=" + threads;
    };
    CAPTURE(kind);
    const RunResult one = run_correctly(with("compnet", "1"));
    CHECK(one.text("digest") != run_correctly(with("compnet", "2")).text("digest"));
    run_correctly(with("dgpu", "1"));
    run_correctly(with("dgpu", "9"));
    const Finished refused = run_somewhere(with("compnet", "3"));
    CHECK(refused.status == 2);
    CHECK(refused.says("3 threads cannot serve; harts of the command processor do: 1 to 2"));
  }
}

TEST_CASE("no way to make the run changes what comes out") {
  for (const char* const program : kPrograms) {
    const std::string one = kProgram + program;
    const RunResult run = run_correctly(one);
    for (const char* const way : {" --set sim.threads=2", " --set sim.window_ns=7"}) {
      CAPTURE(program, way);
      CHECK(run_correctly(one + way).text("digest") == run.text("digest"));
    }
  }
}

TEST_CASE("a lock that nobody waits for loses additions, and that is found out") {
  const Finished finished =
      run_somewhere(kProgram + "ticket_lock --set open_shmem.kernels=" STRETTO_BUILD_DIR
                               "/sw/kernels/open_shmem_no_lock.elf");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("PE 0 work-group 0: counter: got "));
}

TEST_CASE("what does not fit is refused in a line that says what does") {
  const auto refused = [](const std::string& arguments, const std::string& text) {
    const Finished finished = run_somewhere(kProgram + arguments);
    INFO(arguments << "\n" << finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.says(text));
    CHECK(finished.lines() == 1);
  };
  refused("tokens" + servers(1), "needs topology=cluster and servers of 2 to 32");
  refused("halo" + servers(3), "needs topology=cluster and servers of 4 to 32");
  refused("halo" + servers(5), "needs an even number of servers, not 5");
  refused("tokens --set open_shmem.work_groups=241", "the GPU has room for 240");
}
