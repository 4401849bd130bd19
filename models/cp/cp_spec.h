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

struct CpSpec {
  uint32_t harts = 2;
  uint32_t mhz = 1500;
  uint32_t timer_mhz = 1000;
  uint32_t quantum_ns = 500;
  uint32_t l1i_kib = 32;
  uint32_t l1d_kib = 32;
  uint32_t l1_ways = 8;
  uint32_t l1_hit_cycles = 2;
  uint32_t bus_cycles = 10;
  uint32_t max_outstanding = 8;
  std::string uart = "stdout";
  riscv::CostTable cost;

  // The first relation between parameters that does not hold, in words; empty if all is well.
  std::string check() const;
};

void describe(CpSpec& spec, ParameterSet& set);

}  // namespace stretto

#endif  // STRETTO_MODELS_CP_CP_SPEC_H_
