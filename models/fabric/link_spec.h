// SPDX-License-Identifier: Apache-2.0
// Parameters of a link; GPU links and PCIe differ in values only.
#ifndef STRETTO_MODELS_FABRIC_LINK_SPEC_H_
#define STRETTO_MODELS_FABRIC_LINK_SPEC_H_

#include <cstdint>
#include <string>

#include "models/common/spec.h"

namespace stretto {

struct LinkSpec {
  uint32_t bandwidth_mb_s = 75'000;
  uint32_t latency_ns = 500;
  uint32_t credit_bytes = 131'072;
  uint32_t egress_bytes = 32'768;
  uint32_t header_bytes = 0;
  uint64_t fault_lose_credit = 0;
};

inline LinkSpec pcie_defaults() { return {16'000, 600, 65'536, 16'384, 24, 0}; }

inline void describe(LinkSpec& spec, ParameterSet& set) {
  set.number("bandwidth_mb_s", spec.bandwidth_mb_s, 1, 10'000'000, "Bandwidth of one direction in MB/s.");
  set.number("latency_ns", spec.latency_ns, 1, 1'000'000,
             "From the last byte leaving to the last byte arriving; the smallest of all links is how far GPUs run apart.");
  set.number("credit_bytes", spec.credit_bytes, 65'536, 1u << 30,
             "Receive buffer; less than bandwidth x (2 x latency + memory time) costs bandwidth.");
  set.number("egress_bytes", spec.egress_bytes, 1, 1u << 30,
             "Send buffer; a request is answered when it fits, or when it is the only one.");
  set.number("header_bytes", spec.header_bytes, 0, 4'096, "Added to each packet on the wire.");
  set.number("fault.lose_credit", spec.fault_lose_credit, 0, ~uint64_t{0},
             "Fault injection: the credit return of this number (from 1) of each port is lost; 0 = none.");
}

// A packet carries at most this many bytes (one row of a tile, or a whole wavefront tile).
inline constexpr uint32_t kMaxPacketBytes = 65'536;

}  // namespace stretto

#endif  // STRETTO_MODELS_FABRIC_LINK_SPEC_H_
