// SPDX-License-Identifier: Apache-2.0
// Question: is the sum of arrays over servers there at each, bit for bit, by rings of work-groups
// and by host programs, for any size and number of servers? Sizes: blocks of one number, fewer
// numbers than servers, shares that rings at the end have nothing of, pieces cut off. The kind
// compares every element in the order of its ring (platform/kinds/all_reduce).
#include <catch2/catch.hpp>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

const std::string kAllReduce = "compnet/all_reduce --impl all=model ";
const char* const kModes[] = {"--mode compnet ", "--mode compnet-nolock ", "--mode inter-kernel ",
                              "--mode cpu "};

std::string of(int servers, int bytes, int rings, int piece_bytes = 4096) {
  const std::string n = std::to_string(servers);
  return "--set gpus=" + n + " --set servers=" + n +
         " --set all_reduce.bytes=" + std::to_string(bytes) +
         " --set all_reduce.rings=" + std::to_string(rings) +
         " --set all_reduce.piece_bytes=" + std::to_string(piece_bytes) + " ";
}

}  // namespace

TEST_CASE("arrays of any size are summed up between any number of servers, in every mode",
          "[CN-AR-01][CN-AR-02][CN-CPU-01]") {
  for (const std::string& size :
       {of(2, 4, 1), of(3, 40'004, 5), of(4, 262'144, 24), of(5, 12, 3), of(8, 100'000, 7, 1024)}) {
    for (const char* const mode : kModes) {
      CAPTURE(size, mode);
      run_correctly(kAllReduce + size + mode);
    }
  }
}

TEST_CASE("thirty-two servers", "[.long]") {
  run_correctly(kAllReduce + of(32, 1 << 18, 4) + kModes[0]);
  run_correctly(kAllReduce + of(32, 1 << 18, 4) + kModes[2]);
  run_correctly(kAllReduce + of(32, 1 << 18, 4) + kModes[3]);
}

// The array and its copies have 8 MiB, which the third cache of 16 holds: 18 B a cycle of each core.
TEST_CASE("a host adds as fast as its cores, cache and memory allow", "[CN-CPU-01]") {
  const std::string base = kAllReduce + "--mode cpu " + of(2, 4 << 20, 1);
  const auto us = [&](const std::string& more) {
    return run_correctly(base + more).real("job.total_us");
  };
  const double adds = 3 * (2 << 20);  // Bytes that a server's block of 2 MiB moves.
  const double usual = us("");
  // Bytes x (1 / new rate - 1 / old rate), less 2 us of loops that all cores do.
  CHECK(us("--set host_compute.cache_bytes_per_cycle=9") - usual ==
        Approx(adds / (16 * 9 * 4e3) - adds / (16 * 18 * 4e3)).epsilon(0.01));
  CHECK(us("--set host_compute.parallel_ns=12000") - usual == Approx(10).epsilon(0.01));
  CHECK(us("--set service_core.l3_kib=4096") - usual ==
        Approx(adds / 153'600 - adds / (16 * 18 * 4e3)).epsilon(0.01));
  CHECK(us("--set host_compute.operations_per_cycle=1") - usual ==
        Approx(adds / 12 / (16 * 4e3) - adds / (16 * 18 * 4e3)).epsilon(0.01));
}

TEST_CASE("the wire carries what the algorithm sends, at nearly its rate") {
  const RunResult run = run_correctly(kAllReduce + of(4, 4 << 20, 24, 65'536));
  // 12.42 GB/s are what headers of a put of 4 KiB packets leave (one_sided_test).
  CHECK(run.real("job.wire_gb_s") > 0.9 * 12.42);
  CHECK(run.real("job.wire_gb_s") < 12.42);
}

TEST_CASE("no way to make the run changes what comes out") {
  for (const char* const mode : kModes) {
    const std::string small = kAllReduce + of(3, 20'000, 3) + mode;
    const RunResult run = run_correctly(small);
    for (const char* const way : {"--set sim.threads=2", "--set sim.window_ns=7",
                                  "--set sim.reverse_elaboration=true", "--impl all=rtl"}) {
      CAPTURE(mode, way);
      const RunResult other = run_correctly(small + way);
      CHECK(other.text("digest") == run.text("digest"));
      CHECK(other.at("job") == run.at("job"));
    }
  }
}

TEST_CASE("pieces that are added before they are there are found out") {
  fails(kAllReduce + of(4, 262'144, 4) +
            "--set all_reduce.kernels=" STRETTO_BUILD_DIR "/sw/kernels/all_reduce_early.elf",
        "wrong data: server ");
}

TEST_CASE("transfers that are repeated or forgotten are found out") {
  const std::string firmware =
      std::string("--firmware " STRETTO_BUILD_DIR "/sw/firmware/main_net_");
  fails(kAllReduce + of(3, 20'000, 3) + firmware + "twice.elf",
        "operations begun by the NIC = those that differ");
  // Its signal comes, its data do not.
  fails(kAllReduce + of(3, 20'000, 3) + firmware + "skip.elf", "wrong data: server ");
}

TEST_CASE("a lost packet costs time and no bytes") {
  for (const char* const mode : kModes) {
    CAPTURE(mode);
    run_correctly(kAllReduce + of(3, 300'000, 3) + mode + "--set nic.fault.lose_packet=70");
  }
}

TEST_CASE("what does not fit is refused in a line that says what does") {
  const auto refused = [](const std::string& arguments, const std::string& text) {
    const Finished finished = run_somewhere(kAllReduce + arguments);
    INFO(arguments << "\n" << finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.says(text));
    CHECK(finished.lines() == 1);
  };
  refused("--set servers=1 --set gpus=1", "needs topology=cluster and servers of 2 to 32");
  refused("--set all_reduce.rings=25", "the GPU has room for 24");
  refused("--set all_reduce.bytes=6", "needs bytes that are a multiple of 4");
  refused("--set all_reduce.piece_bytes=100", "needs piece_bytes that are a multiple of 64");
}
