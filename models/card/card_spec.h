// SPDX-License-Identifier: Apache-2.0
// Parameters of cards on the PCIe switch: DMA cards (GD-HW), or SmartNICs (GD-FUTURE-01).
#ifndef STRETTO_MODELS_CARD_CARD_SPEC_H_
#define STRETTO_MODELS_CARD_CARD_SPEC_H_

#include <cstdint>

#include "models/common/spec.h"

namespace stretto {

enum class CardKind : uint8_t { engine, smartnic };

struct CardSpec {
  uint32_t count = 0;
  CardKind kind = CardKind::engine;
  uint32_t clock_mhz = 250;
  uint32_t start_ns = 160;
  uint32_t burst_bytes = 512;
  uint32_t buffer_bytes = 65'536;
  bool collective = false;
};

inline void describe(CardSpec& spec, ParameterSet& set) {
  set.number("count", spec.count, 0, 64,
             "Cards; card i serves the kernels of GPU i. Needs topology pcie_switch.");
  set.choice("kind", spec.kind, {{"engine", CardKind::engine}, {"smartnic", CardKind::smartnic}},
             "engine: a DMA engine in hardware (mode g-drv-h); smartnic: cores and memory "
             "(smartnic.*) that run the software engine (mode g-drv-s, GD-FUTURE-01).");
  set.number("clock_mhz", spec.clock_mhz, 10, 2'000,
             "Clock of the request ring: the user clock of the PCIe core.");
  set.number(
      "start_ns", spec.start_ns, 0, 100'000,
      "From a request leaving the ring to its first read: the pipeline that makes packets of it.");
  set.number("burst_bytes", spec.burst_bytes, 64, 4'096,
             "Bytes read and written at a time; more than a read request brings latency and saves "
             "simulation.");
  set.number("buffer_bytes", spec.buffer_bytes, 4'096, 1u << 24,
             "Data of one destination between its read request and the link; less than bandwidth x "
             "round trip costs bandwidth.");
  set.flag("collective", spec.collective,
           "A collective engine (GD-FUTURE-02): makes a request to each of several peers of one "
           "store; a clock more for plain requests.");
}

}  // namespace stretto

#endif  // STRETTO_MODELS_CARD_CARD_SPEC_H_
