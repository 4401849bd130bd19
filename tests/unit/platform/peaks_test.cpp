// SPDX-License-Identifier: Apache-2.0
// Derived peaks against the published ones of the machines: T3 Table 1 (ASPLOS'24), NVIDIA WP-08608
// (V100) and "NVIDIA A100 Tensor Core GPU Architecture" (2020), table 4.
#include <catch2/catch.hpp>

#include <yaml-cpp/yaml.h>

#include "platform/config/machine.h"
#include "platform/config/peaks.h"

namespace stretto {
namespace {

Peaks of(const std::string& name) {
  Machine machine;
  machine.load(name);
  return peaks_of(machine.spec());
}

TEST_CASE("peaks of an A100 are those of its white paper") {
  const Peaks peaks = of("a100-nvswitch");
  CHECK(peaks.tensor_fp16_tflop_s == Approx(312).epsilon(0.005));
  // 19.5 TFLOP/s of multiply-adds: 9.75 operations on elements.
  CHECK(peaks.simt_fp32_top_s == Approx(19.5 / 2).epsilon(0.005));
  CHECK(peaks.hbm_gb_s == Approx(1555).epsilon(0.001));
  CHECK(peaks.link.wire_gb_s == Approx(300));
  CHECK(peaks.link.payload_gb_s == Approx(300 * 256.0 / 272));
  CHECK(peaks.l2_bytes == 40u << 20);
}

TEST_CASE("peaks of a V100 are those of its white paper, and peers share PCIe") {
  const Peaks peaks = of("v100-pcie");
  CHECK(peaks.tensor_fp16_tflop_s == Approx(125).epsilon(0.005));
  CHECK(peaks.hbm_gb_s == Approx(900).epsilon(0.005));
  CHECK(peaks.link.wire_gb_s == 0);
  CHECK(peaks.pcie.wire_gb_s == Approx(15.754));
  CHECK(peaks.pcie.payload_gb_s == Approx(13.27).epsilon(0.001));  // 128 of 152 B.
  CHECK(peaks.lds_bytes == 80u * 128 * 1024);
}

TEST_CASE("peaks of T3's machine are those of its Table 1") {
  const Peaks peaks = of("t3");
  CHECK(peaks.tensor_fp16_tflop_s == Approx(114.7).epsilon(0.001));  // T3-U01.
  CHECK(peaks.hbm_gb_s == Approx(1024));                             // T3-U02: 32 x 32 GB/s.
  CHECK(peaks.link.payload_gb_s == Approx(75));
}

TEST_CASE("peaks are printed as YAML") {
  const YAML::Node root = YAML::Load(peaks_yaml(of("t3")));
  CHECK(root["peaks"]["hbm_gb_s"].as<double>() == Approx(1024));
  CHECK(root["peaks"]["l2_bytes"].as<uint64_t>() == 16u << 20);
  CHECK(root["peaks"].size() == 14);
  Machine machine;
  machine.load("t3");
  MachineSpec spec = machine.spec();
  spec.gpu.tensor_fp8_rate = 2;
  const YAML::Node fp8 = YAML::Load(peaks_yaml(peaks_of(spec)))["peaks"];
  CHECK(fp8["tensor_fp8_tflop_s"].as<double>() == Approx(2 * 114.7).epsilon(0.001));
  // HDR InfiniBand, 42 B of headers a packet of 4096.
  const YAML::Node nodes = YAML::Load(peaks_yaml(of("t3-nodes")))["peaks"];
  CHECK(nodes["link_gb_s"].as<double>() == Approx(75));
  CHECK(nodes["link_between_nodes_gb_s"].as<double>() == Approx(25));
  CHECK(nodes["link_between_nodes_payload_gb_s"].as<double>() == Approx(25 * 4096.0 / 4138));
}

// PCIe 3.0 x16: 15.754 GB/s, of which packets of 128 bytes and 24 bytes of headers leave 13.266.
TEST_CASE("a rate above the wire's is a violation") {
  Machine machine;
  machine.load("v100-pcie");
  AuditSink sink;
  audit_rate(machine.spec(), 13.26, sink);
  CHECK(sink.all().back().holds);
  audit_rate(machine.spec(), 13.695, sink);
  CHECK_FALSE(sink.all().back().holds);
}

}  // namespace
}  // namespace stretto
