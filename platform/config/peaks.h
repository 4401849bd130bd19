// SPDX-License-Identifier: Apache-2.0
// What a machine can do at most, derived from its Specs.
#ifndef STRETTO_PLATFORM_CONFIG_PEAKS_H_
#define STRETTO_PLATFORM_CONFIG_PEAKS_H_

#include <cstdint>
#include <string>

#include "models/common/component.h"
#include "platform/config/machine_spec.h"

namespace stretto {

struct LinkPeak {
  double wire_gb_s = 0;     // A direction.
  double payload_gb_s = 0;  // Of it, without the headers of packets of full length.
};

// Of one GPU.
struct Peaks {
  // Tensor pipes, 2 operations a multiply-add. FP32 operands take two passes.
  double tensor_fp16_tflop_s = 0;  // BF16 alike.
  double tensor_fp32_tflop_s = 0;
  double tensor_fp8_tflop_s = 0;      // 0: it multiplies none.
  double tensor_sustained_share = 0;  // Of these, what a K loop reaches.
  // SIMT pipes, one operation an element.
  double simt_fp16_top_s = 0;
  double simt_fp32_top_s = 0;
  double l2_gb_s = 0;
  double hbm_gb_s = 0;          // Without refresh and turn-arounds.
  LinkPeak link;                // One link to a peer; nothing where peers share PCIe.
  LinkPeak link_between_nodes;  // Nothing where there is one node.
  LinkPeak pcie;
  uint64_t l2_bytes = 0;
  uint64_t lds_bytes = 0;        // All compute units.
  uint64_t registers_bytes = 0;  // Likewise.
};

Peaks peaks_of(const MachineSpec& spec);
// The law that no rate from one GPU to another is above what the wire between them carries: one
// that is ends before the receiver has the last byte.
void audit_rate(const MachineSpec& spec, double payload_gb_s, AuditSink& sink);
// As YAML below the key `peaks`.
std::string peaks_yaml(const Peaks& peaks);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CONFIG_PEAKS_H_
