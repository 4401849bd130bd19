// SPDX-License-Identifier: Apache-2.0
// Question: does a relaxation over servers give the grid and the residuals of its reference, bit for
// bit, for any shape, from kernels that communicate and from kernels an iteration? Shapes: bands that
// differ by a row, servers and work-groups of one row, rows of one element, of a piece of 1,024 and
// one more. The kind compares each element and each residual (platform/kinds/jacobi).
#include <catch2/catch.hpp>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

const std::string kJacobi = "compnet/jacobi --impl all=model ";
const std::string kThree = kJacobi + "--set gpus=3 --set servers=3 --set jacobi.iterations=5 ";
const char* const kModes[] = {"--mode compnet ", "--mode compnet-nolock ", "--mode inter-kernel ",
                              "--mode cpu "};

std::string grid(int rows, int columns, int work_groups) {
  return "--set jacobi.rows=" + std::to_string(rows) +
         " --set jacobi.columns=" + std::to_string(columns) +
         " --set jacobi.work_groups=" + std::to_string(work_groups) + " ";
}

}  // namespace

TEST_CASE("grids of any shape are relaxed as the reference does, in every mode",
          "[CN-JAC-01][CN-JAC-02][CN-INTER-01][CN-CPU-01]") {
  for (const std::string& shape : {grid(101, 37, 5), grid(3, 1, 1), grid(40, 1025, 7)}) {
    CAPTURE(shape);
    const RunResult kernel = run_correctly(kThree + shape + kModes[0]);
    for (const char* const mode : kModes) {
      CAPTURE(mode);
      const RunResult other = run_correctly(kThree + shape + mode);
      CHECK(other.at("job.residual_bits") == kernel.at("job.residual_bits"));
    }
  }
}

TEST_CASE("two servers and eight, rows of all lengths") {
  run_correctly(kJacobi + "--set gpus=2 --set servers=2 --set jacobi.iterations=3 " +
                grid(64, 4000, 24));
  run_correctly(kJacobi + "--set gpus=8 --set servers=8 --set jacobi.iterations=3 " +
                grid(64, 64, 8));
}

TEST_CASE("it ends when the residual of all is small, at all servers in the same iteration") {
  const std::string few = kJacobi + grid(96, 16, 24) + "--set jacobi.iterations=60 ";
  for (const char* const mode : kModes) {
    CAPTURE(mode);
    const RunResult run = run_correctly(few + mode + "--set jacobi.stop_log2=0");
    const auto& residuals = run.at("job.residuals").as_array();
    CHECK(residuals.size() < 60);
    CHECK(residuals.back().to_number<double>() < 1);
    CHECK(residuals[residuals.size() - 2].to_number<double>() >= 1);
  }
}

TEST_CASE("bits of a residual are those of its order of additions") {
  const RunResult many = run_correctly(kThree + grid(96, 256, 24)),
                  one = run_correctly(kThree + grid(96, 256, 1));
  CHECK(many.at("job.residual_bits") != one.at("job.residual_bits"));
}

TEST_CASE("no way to make the run changes what comes out") {
  for (const char* const mode : kModes) {
    const std::string small = kThree + grid(24, 64, 4) + mode;
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

TEST_CASE("the parts of an iteration add up to it") {
  const RunResult run = run_correctly(kJacobi + "--set jacobi.iterations=4 ");
  double sum = 0;
  for (const auto& part : run.at("job.parts_us").as_object())
    sum += part.value().to_number<double>();
  CHECK(sum == Approx(run.real("job.others_us")).epsilon(1e-5));
}

TEST_CASE("halos of another iteration are found out") {
  fails(kThree + grid(96, 64, 4) +
            "--set jacobi.kernels=" STRETTO_BUILD_DIR "/sw/kernels/jacobi_old_edge.elf",
        "server 0, iteration 2: residual 0x");
}

TEST_CASE("transfers that are repeated or forgotten are found out") {
  const std::string firmware =
      std::string("--firmware " STRETTO_BUILD_DIR "/sw/firmware/main_net_");
  fails(kThree + grid(24, 64, 4) + firmware + "twice.elf",
        "operations begun by the NIC = those that differ");
  fails(kThree + grid(24, 64, 4) + firmware + "skip.elf --set sim.progress_limit_us=300",
        "no progress in 300000 ns");
}

TEST_CASE("what does not fit is refused in a line that says what does") {
  const auto refused = [](const std::string& arguments, const std::string& text) {
    const Finished finished = run_somewhere(kJacobi + arguments);
    INFO(arguments << "\n" << finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.says(text));
    CHECK(finished.lines() == 1);
  };
  refused("--set servers=1 --set gpus=1", "needs topology=cluster and servers of 2 to 32");
  refused(grid(95, 16, 24), "need a row each, and a server has 23 of jacobi.rows (95)");
  refused(grid(1024, 16, 37), "the GPU has room for 36");
  refused(grid(8192, 16384, 1), "at most 2048 pieces");
}
