// SPDX-License-Identifier: Apache-2.0
// Fixture: one hart on a flat port, a program of encoded instructions at the start of RAM.
#ifndef STRETTO_TESTS_UNIT_RISCV_HART_BENCH_H_
#define STRETTO_TESTS_UNIT_RISCV_HART_BENCH_H_

#include <initializer_list>

#include "tests/unit/riscv/encode.h"
#include "tests/unit/riscv/flat_port.h"

namespace stretto::riscv::test {

template <class Port>
struct HartBench {
  static constexpr uint64_t kBase = Port::kRamBase;
  static constexpr uint64_t kHandler = kBase + 0x1000;
  static constexpr uint64_t kData = kBase + 0x8000;
  static constexpr uint64_t kSlow = 0x10000000;

  explicit HartBench(std::initializer_list<uint32_t> program, const CostTable& cost = {})
      : code(IsaOptions{Port::kCompressed, Port::kMachineMode,
                        Port::kMachineMode ? uint8_t{0} : uint8_t{1}, false, !Port::kMachineMode},
             cost) {
    place(kBase, program);
    port.slow_base_ = kSlow;
    port.slow_bytes_ = 0x1000;
    hart.reset(kBase);
    hart.set_reg(10, kData);
    hart.set_reg(11, kSlow);
    if constexpr (Port::kMachineMode) hart.csrs().mtvec = kHandler;
  }
  void place(uint64_t addr, std::initializer_list<uint32_t> program) {
    for (const uint32_t instruction : program) {
      port.poke(addr, instruction);
      addr += 4;
    }
  }

  Port port{1u << 16};
  CodeCache code;
  Hart<Port> hart{port, code};
};

}  // namespace stretto::riscv::test

#endif  // STRETTO_TESTS_UNIT_RISCV_HART_BENCH_H_
