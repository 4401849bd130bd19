// SPDX-License-Identifier: Apache-2.0
// Parameters of the DMA engine.
#ifndef STRETTO_MODELS_DMA_DMA_SPEC_H_
#define STRETTO_MODELS_DMA_DMA_SPEC_H_

#include <cstdint>

#include "models/common/spec.h"

namespace stretto {

enum class ReadPacing : uint8_t { link, unthrottled };

struct DmaSpec {
  ReadPacing read_pacing = ReadPacing::link;
  uint32_t in_flight_bytes = 65'536;
  uint32_t burst_bytes = 4'096;
  uint32_t local_outstanding_bytes = 524'288;
  uint32_t start_ns = 0;
};

inline void describe(DmaSpec& spec, ParameterSet& set) {
  set.choice("read_pacing", spec.read_pacing,
             {{"link", ReadPacing::link}, {"unthrottled", ReadPacing::unthrottled}},
             "link: read a tile when the link can soon take it; unthrottled: as soon as it is "
             "triggered (the paper's injection).");
  set.number("in_flight_bytes", spec.in_flight_bytes, 8'192, 1u << 30,
             "link pacing: bytes in reading or waiting for one destination; less starves the link, "
             "more makes bursts.");
  set.number("burst_bytes", spec.burst_bytes, 64, 65'536, "Largest request of a fill or a copy.");
  set.number(
      "local_outstanding_bytes", spec.local_outstanding_bytes, 65'536, 1u << 30,
      "Bytes of fills and local copies under way; bandwidth x memory latency fills the memory.");
  set.number("start_ns", spec.start_ns, 0, 100'000,
             "From a send request leaving the ring to its first read.");
}

}  // namespace stretto

#endif  // STRETTO_MODELS_DMA_DMA_SPEC_H_
