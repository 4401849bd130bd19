// SPDX-License-Identifier: Apache-2.0
#include "platform/config/peaks.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/hbm/timing_table.h"

namespace stretto {

namespace {

LinkPeak peak_of(const LinkSpec& spec) {
  const double wire = spec.bandwidth_mb_s / 1e3;
  const double payload = spec.max_payload_bytes;
  return {wire, payload == 0 ? wire : wire * payload / (payload + spec.header_bytes)};
}

}  // namespace

Peaks peaks_of(const MachineSpec& spec) {
  const GpuSpec& gpu = spec.gpu;
  const double ghz = gpu.clock_mhz / 1e3;
  const TimingSet timing = timing_set(spec.hbm.timing);
  Peaks peaks;
  peaks.tensor_fp16_tflop_s = 2.0 * gpu.cus * gpu.tensor_fma_per_cycle * ghz / 1e3;
  peaks.tensor_fp32_tflop_s = peaks.tensor_fp16_tflop_s / 2;
  peaks.tensor_fp8_tflop_s = peaks.tensor_fp16_tflop_s * gpu.tensor_fp8_rate;
  peaks.tensor_sustained_share =
      double(gpu.tensor_efficiency_numerator) / gpu.tensor_efficiency_denominator;
  peaks.simt_fp32_top_s = 1.0 * gpu.cus * gpu.simt_lanes * ghz / 1e3;
  peaks.simt_fp16_top_s = 2 * peaks.simt_fp32_top_s;
  peaks.l2_gb_s = 1.0 * spec.l2.banks * spec.l2.bank_bytes_per_cycle * ghz;
  peaks.hbm_gb_s =
      1.0 * spec.hbm.channels * kAtomBytes * spec.hbm.clock_mhz / 1e3 / timing.burst_cycles;
  if (spec.has_gpu_links()) peaks.link = peak_of(spec.link);
  if (spec.has_nodes()) peaks.link_between_nodes = peak_of(spec.link_between_nodes);
  peaks.pcie = peak_of(spec.pcie);
  peaks.l2_bytes = spec.l2.bytes;
  peaks.lds_bytes = uint64_t{gpu.cus} * gpu.lds_bytes;
  peaks.registers_bytes = uint64_t{gpu.cus} * gpu.registers_bytes;
  return peaks;
}

void audit_rate(const MachineSpec& spec, double payload_gb_s, AuditSink& sink) {
  const Peaks peaks = peaks_of(spec);
  const LinkPeak& wire = spec.has_gpu_links() ? peaks.link : peaks.pcie;
  const double most = std::max(wire.payload_gb_s, peaks.link_between_nodes.payload_gb_s);
  sink.at_most("KB/s from GPU to GPU <= peak payload of the wire",
               static_cast<uint64_t>(payload_gb_s * 1e6), static_cast<uint64_t>(most * 1e6));
}

std::string peaks_yaml(const Peaks& peaks) {
  std::string text = "peaks:  # Of one GPU, derived from the machine's parameters.\n";
  const auto line = [&](const char* key, double value, const char* comment) {
    text += fmt::format("  {}: {:.6g}  # {}\n", key, value, comment);
  };
  line("tensor_fp16_tflop_s", peaks.tensor_fp16_tflop_s, "2 operations a multiply-add; BF16 alike");
  line("tensor_fp32_tflop_s", peaks.tensor_fp32_tflop_s, "FP32 operands take two passes");
  if (peaks.tensor_fp8_tflop_s != 0)
    line("tensor_fp8_tflop_s", peaks.tensor_fp8_tflop_s, "gpu.tensor_fp8_rate times FP16's");
  line("tensor_sustained_share", peaks.tensor_sustained_share, "of these, what a K loop reaches");
  line("simt_fp16_top_s", peaks.simt_fp16_top_s, "one operation an element");
  line("simt_fp32_top_s", peaks.simt_fp32_top_s, "likewise");
  line("l2_gb_s", peaks.l2_gb_s, "all banks");
  line("hbm_gb_s", peaks.hbm_gb_s, "all channels, without refresh and turn-arounds");
  line("link_gb_s", peaks.link.wire_gb_s, "a direction of one link to a peer; 0: peers share PCIe");
  line("link_payload_gb_s", peaks.link.payload_gb_s, "of it, without headers");
  if (peaks.link_between_nodes.wire_gb_s != 0) {
    line("link_between_nodes_gb_s", peaks.link_between_nodes.wire_gb_s, "a direction");
    line("link_between_nodes_payload_gb_s", peaks.link_between_nodes.payload_gb_s,
         "of it, without headers");
  }
  line("pcie_gb_s", peaks.pcie.wire_gb_s, "a direction");
  line("pcie_payload_gb_s", peaks.pcie.payload_gb_s, "of it, without headers");
  text += fmt::format("  l2_bytes: {}\n", peaks.l2_bytes);
  text += fmt::format("  lds_bytes: {}  # all compute units\n", peaks.lds_bytes);
  text += fmt::format("  registers_bytes: {}  # all compute units\n", peaks.registers_bytes);
  return text;
}

}  // namespace stretto
