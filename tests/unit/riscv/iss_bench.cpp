// SPDX-License-Identifier: Apache-2.0
// iss_bench [ELF]: speed of the bare ISS on a CoreMark-like loop, in million instructions a host
// second. No caches, no SystemC: the ceiling of what the platform can reach. Prints the median of 5
// runs, with the budget of each run() call as in the platform's default quantum (10,000 steps).
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "models/common/elf_image.h"
#include "models/common/error.h"
#include "tests/unit/riscv/flat_port.h"

namespace {

using namespace stretto::riscv;

struct Result {
  double seconds;
  uint64_t instructions;
  uint64_t cycles;
};

Result run_once(const stretto::ElfImage& image) {
  test::MachinePort port(1u << 20);
  for (const auto& segment : image.segments()) {
    for (size_t i = 0; i < segment.data.size(); ++i)
      port.poke(segment.load_address + i, segment.data[i]);
  }
  port.tohost_ = image.symbol("tohost").value_or(test::MachinePort::kNothing);
  CodeCache code;
  Hart<test::MachinePort> hart(port, code);
  hart.reset(image.entry());
  constexpr uint64_t kQuantumSteps = 10000;
  const auto start = std::chrono::steady_clock::now();
  while (port.peek<uint64_t>(port.tohost_) == 0) hart.run(kQuantumSteps);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (port.peek<uint64_t>(port.tohost_) != 1)
    throw stretto::CheckError("the guest reports a wrong result");
  return {elapsed.count(), hart.instret(), hart.cycles()};
}

}  // namespace

// The SystemC library that every target links brings main() and calls this.
extern "C" int sc_main(int argc, char* argv[]) {
  try {
    const auto image = stretto::ElfImage::load(argc > 1 ? argv[1] : STRETTO_ISS_BENCH_ELF);
    std::vector<Result> results;
    for (int i = 0; i < 5; ++i) results.push_back(run_once(image));
    std::sort(results.begin(), results.end(),
              [](const Result& a, const Result& b) { return a.seconds < b.seconds; });
    const Result& median = results[results.size() / 2];
    std::printf("iss_bench: %.0f MIPS  (%" PRIu64 " instructions, %" PRIu64
                " cycles, %.3f s; best %.0f)\n",
                1e-6 * static_cast<double>(median.instructions) / median.seconds,
                median.instructions, median.cycles, median.seconds,
                1e-6 * static_cast<double>(results[0].instructions) / results[0].seconds);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "iss_bench: %s\n", error.what());
    return 2;
  }
}
