// SPDX-License-Identifier: Apache-2.0
// Names, ranges and sentences of the command processor's parameters.
#include "models/cp/cp_spec.h"

#include <bit>

namespace stretto {

void describe(CpSpec& spec, ParameterSet& set) {
  set.number("harts", spec.harts, 1, kMaxCpHarts, "RISC-V harts of the command processor.");
  set.number("mhz", spec.mhz, 1, 10'000, "Clock of the harts and their L1s, MHz.");
  set.number("timer_mhz", spec.timer_mhz, 1, 10'000, "Rate at which mtime counts, MHz; 1000 makes it nanoseconds.");
  set.number("quantum_ns", spec.quantum_ns, 1, 100'000,
             "How far a hart runs ahead of the calendar over registers, SRAM and L1 hits, at one instruction a cycle; "
             "longer is faster on the host and delays interrupts of a running hart.");
  set.number("l1i_kib", spec.l1i_kib, 1, 1024, "Instruction cache of a hart (code in GPU memory), KiB.");
  set.number("l1d_kib", spec.l1d_kib, 1, 1024, "Data cache of a hart (GPU memory only), KiB.");
  set.number("l1_ways", spec.l1_ways, 1, 64, "Associativity of both L1s; lines have 64 bytes.");
  set.number("l1_hit_cycles", spec.l1_hit_cycles, 1, 100, "Load-to-use time of an L1 data hit, CP cycles.");
  set.number("bus_cycles", spec.bus_cycles, 0, 10'000,
             "CP cycles that one access crosses the peripheral bus, both ways, beside what the device takes.");
  set.number("max_outstanding", spec.max_outstanding, 1, 64,
             "Memory transactions of one hart in flight; only write-backs of a release come close to it.");
  set.text("uart", spec.uart, "Where the console goes: stdout, none, or a file (with .N appended for GPU N > 0).");
  for (const riscv::CostField& field : riscv::cost_fields()) {
    set.number(std::string("cost_") + field.name, spec.cost.*field.member, 1, riscv::kMaxCostCycles, field.sentence);
  }
}

std::string CpSpec::check() const {
  for (const uint32_t kib : {l1i_kib, l1d_kib}) {
    const uint64_t lines = uint64_t{kib} * 1024 / 64;
    if (lines % l1_ways != 0 || !std::has_single_bit(lines / l1_ways)) {
      return "cp: an L1 of " + std::to_string(kib) + " KiB with " + std::to_string(l1_ways) +
             " ways has no power of two of sets of 64-byte lines";
    }
  }
  return "";
}

}  // namespace stretto
