// SPDX-License-Identifier: Apache-2.0
// What tests of instructions share: two ranges of memory, and the laws behind each program.
#ifndef STRETTO_TESTS_UNIT_GPU_INSTRUCTION_BENCH_H_
#define STRETTO_TESTS_UNIT_GPU_INSTRUCTION_BENCH_H_

#include <catch2/catch.hpp>

#include "tests/unit/gpu/program.h"

namespace stretto::test {

inline constexpr uint64_t kIn = kNode + 0x100000, kOut = kNode + 0x200000;
inline constexpr Time kClock = 714286;  // One clock at 1.4 GHz, rounded up, in fs.

// A GPU with numbers in memory at kIn and room at kOut.
struct Bench : GpuMachine {
  Bench() {
    map(kIn, 0x100000);
    map(kOut, 0x100000, AllocationClass::uncached);
    for (uint32_t i = 0; i < 0x4000; ++i)
      set_value<uint16_t>(kIn + 2 * i, fp16_from_fp32(static_cast<float>(i % 97)));
  }
  float half_at(uint64_t address) { return fp32_from_fp16(value_at<uint16_t>(address)); }
  void require_quiet() {
    INFO((gpu.front_end.faults().empty() ? std::string()
                                         : describe_fault(0, gpu.front_end.faults()[0])));
    REQUIRE(gpu.front_end.fault_count() == 0);
    REQUIRE(gpu.waiting_on().empty());
    AuditSink sink;
    gpu.audit(sink);
    for (const AuditResult& result : sink.all()) {
      INFO(result.law << ": " << result.left << " against " << result.right);
      REQUIRE(result.holds);
    }
  }
  const ComputeUnitCounters& unit(unsigned i = 0) { return gpu.units[i]->counters(); }
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_GPU_INSTRUCTION_BENCH_H_
