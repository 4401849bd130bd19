// SPDX-License-Identifier: Apache-2.0
// Parameters of a command processor, declared once.
#ifndef STRETTO_MODELS_CP_CP_SPEC_H_
#define STRETTO_MODELS_CP_CP_SPEC_H_

#include <cstdint>
#include <string>

#include "models/common/spec.h"
#include "models/riscv/isa.h"

namespace stretto {

inline constexpr unsigned kMaxCpHarts = 4;

// Where code, constants, stacks and other data of one hart alone lie.
enum class PrivateMemory : uint8_t { sram, gpu };
// What fences, .aq and .rl reach in an L1.
enum class Fenced : uint8_t { all, shared };

struct CpSpec {
  uint32_t harts = 2;
  uint32_t mhz = 1500;
  uint32_t timer_mhz = 1000;
  uint32_t quantum_ns = 500;
  uint32_t l1d_kib = 32;
  uint32_t l1d_ways = 8;
  uint32_t l1d_hit_cycles = 2;
  uint32_t bus_cycles = 10;
  uint32_t max_outstanding = 8;
  uint16_t l1i_kib = 16;
  uint8_t l1i_ways = 8;
  PrivateMemory private_memory = PrivateMemory::sram;
  std::string uart = "stdout";
  riscv::CostTable cost;
  Fenced fenced = Fenced::all;
  uint8_t store_buffer = 0;

  // The first relation between parameters that does not hold, in words; empty if all is well.
  std::string check() const;
};

inline void describe(CpSpec& spec, ParameterSet& set) {
  set.number("harts", spec.harts, 1, kMaxCpHarts, "RISC-V harts of the command processor.");
  set.number("mhz", spec.mhz, 1, 10'000, "Clock of the harts, their L1s and the SRAM, MHz.");
  set.number("timer_mhz", spec.timer_mhz, 1, 10'000,
             "Rate at which mtime counts, MHz; 1000 makes it nanoseconds.");
  set.number("quantum_ns", spec.quantum_ns, 1, 100'000,
             "How far a hart runs ahead of the calendar over registers, SRAM and L1 hits, at one "
             "instruction a cycle; "
             "longer is faster on the host and delays interrupts of a running hart.");
  set.number("l1d_kib", spec.l1d_kib, 1, 1024, "Data cache of a hart (GPU memory only), KiB.");
  set.number("l1d_ways", spec.l1d_ways, 1, 64,
             "Associativity of the L1 data cache; lines have 64 bytes.");
  set.number("l1d_hit_cycles", spec.l1d_hit_cycles, 1, 100,
             "Load-to-use time of an L1 data hit, CP cycles.");
  set.choice("private_memory", spec.private_memory,
             {{"sram", PrivateMemory::sram}, {"gpu", PrivateMemory::gpu}},
             "Where firmware has its code, constants, stacks and what one hart alone writes: SRAM, "
             "or memory of the GPU behind the L1s and the L2.");
  set.choice("fenced", spec.fenced, {{"all", Fenced::all}, {"shared", Fenced::shared}},
             "What an acquire drops of an L1 and a release writes back: all lines, or those of "
             "private memory only if the fence orders devices, too.");
  set.number("l1i_kib", spec.l1i_kib, 1, 1024,
             "Instruction cache of a hart (code in GPU memory only), KiB.");
  set.number("l1i_ways", spec.l1i_ways, 1, 64,
             "Associativity of the L1 instruction cache; lines have 64 bytes.");
  set.number("bus_cycles", spec.bus_cycles, 0, 10'000,
             "CP cycles that one access crosses the peripheral bus, both ways, beside what the "
             "device takes.");
  set.number(
      "max_outstanding", spec.max_outstanding, 1, 64,
      "Memory transactions of one hart in flight; only write-backs of a release come close to it.");
  set.number("store_buffer", spec.store_buffer, 0, 64,
             "Stores to memory or other nodes that a hart leaves behind, lines of 64 bytes; 0: it "
             "waits for the answer to each that its L1 does not hold.");
  set.text("uart", spec.uart,
           "Where the console goes: stdout, none, or a file (with .N appended for GPU N > 0).");
  for (const riscv::CostField& field : riscv::cost_fields()) {
    set.number(std::string("cost_") + field.name, spec.cost.*field.member, 1, riscv::kMaxCostCycles,
               field.sentence);
  }
}

}  // namespace stretto

#endif  // STRETTO_MODELS_CP_CP_SPEC_H_
