// SPDX-License-Identifier: Apache-2.0
// Parameters of a link; GPU links and PCIe differ in values only. And what a packet takes on its
// wire: a Packet is a burst of the link's own packets (TLPs), each with its header.
#ifndef STRETTO_MODELS_FABRIC_LINK_SPEC_H_
#define STRETTO_MODELS_FABRIC_LINK_SPEC_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "models/common/packet.h"
#include "models/common/spec.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

struct LinkSpec {
  uint32_t bandwidth_mb_s = 75'000;
  uint32_t latency_ns = 500;
  uint32_t credit_bytes = 131'072;
  uint32_t egress_bytes = 32'768;
  uint32_t header_bytes = 0;
  uint32_t max_payload_bytes = 0;
  uint32_t completion_header_bytes = 0;
  uint32_t max_read_request_bytes = 0;
  uint32_t read_tags = 64;
  uint32_t store_payload_bytes = 0;
  uint32_t response_bytes = 0;
  uint32_t dllp_bytes = 0;
  uint32_t dllp_interval_bytes = 468;
  uint64_t fault_lose_credit = 0;
  uint64_t fault_lose_completion = 0;
  uint64_t fault_lose_answer = 0;
  uint64_t fault_lose_atomic = 0;
  uint64_t fault_repeat_atomic = 0;
};

inline LinkSpec pcie_defaults() {
  return {.bandwidth_mb_s = 16'000,
          .latency_ns = 600,
          .credit_bytes = 65'536,
          .egress_bytes = 16'384,
          .header_bytes = 24,
          .completion_header_bytes = 20,
          .max_read_request_bytes = 512};
}

// Between a host and a GPU on one die. Unsourced (CN-U13: 60 to 100 ns through a directory, CN-R35's
// text names none); its bandwidth keeps nobody waiting for entries of 64 B.
inline LinkSpec coherent_defaults() {
  return {
      .bandwidth_mb_s = 38'400, .latency_ns = 80, .header_bytes = 8, .completion_header_bytes = 8};
}

// From a GPU of one node to a GPU of another. HDR InfiniBand: 200 Gbit/s, and 0.99 us from memory to
// memory without a switch (SI-NIC-01). Each contiguous piece is a packet of a write with LRH 8, BTH
// 12, RETH 16, ICRC 4 and VCRC 2 bytes; those of read data have AETH 4 for RETH.
inline LinkSpec between_nodes_defaults() {
  return {.bandwidth_mb_s = 25'000,
          .latency_ns = 1'000,
          .header_bytes = 42,
          .max_payload_bytes = 4'096,
          .completion_header_bytes = 30};
}

inline void describe(LinkSpec& spec, ParameterSet& set) {
  set.number("bandwidth_mb_s", spec.bandwidth_mb_s, 1, 10'000'000,
             "Bandwidth of one direction in MB/s.");
  set.number("latency_ns", spec.latency_ns, 1, 1'000'000,
             "From the last byte leaving to the last byte arriving; the smallest of all links is "
             "how far GPUs run apart.");
  set.number("credit_bytes", spec.credit_bytes, 65'536, 1u << 30,
             "Receive buffer; less than bandwidth x (2 x latency + memory time) costs bandwidth.");
  // What a port holds between crossbar and wire. Unsourced: nobody publishes it. It is what presses
  // back on stores to peers; 2^30 = nothing does (T3-SIM-02, -03).
  set.number("egress_bytes", spec.egress_bytes, 1, 1u << 30,
             "Send buffer; a request is answered when it fits, or when it is the only one.");
  set.number("header_bytes", spec.header_bytes, 0, 4'096,
             "Added to each packet on the wire: header, framing, CRC.");
  set.number("max_payload_bytes", spec.max_payload_bytes, 0, 65'536,
             "Longer data go in several packets, each with its header; a switch forwards when it "
             "has the first. 0 = any length.");
  set.number("store_payload_bytes", spec.store_payload_bytes, 0, 65'536,
             "Likewise for what compute units store, where that is less: what an instruction's "
             "accesses are merged to; 0 = as other data.");
  set.number("response_bytes", spec.response_bytes, 0, 256,
             "Answer to each packet of a write, on the wire against it; 0 = writes are posted.");
  set.number("completion_header_bytes", spec.completion_header_bytes, 0, 4'096,
             "Added to each packet of read data on the wire: header, framing, CRC.");
  set.number("max_read_request_bytes", spec.max_read_request_bytes, 0, 65'536,
             "Longer reads go in several requests, each with a header and a tag; 0 = any length.");
  set.number("read_tags", spec.read_tags, 1, 65'536,
             "Read requests that wait for their data at one port; less than bandwidth x round trip "
             "costs bandwidth.");
  set.number(
      "dllp_bytes", spec.dllp_bytes, 0, 64,
      "An Ack, or a flow-control update, on the wire against the packets that it answers; 0 = "
      "they are free.");
  set.number(
      "dllp_interval_bytes", spec.dllp_interval_bytes, 1, 1'000'000,
      "Bytes of packets, headers included, that one Ack and one flow-control update answer.");
  set.number(
      "fault.lose_credit", spec.fault_lose_credit, 0, ~uint64_t{0},
      "Fault injection: the credit return of this number (from 1) of each port is lost; 0 = none.");
  set.number("fault.lose_completion", spec.fault_lose_completion, 0, ~uint64_t{0},
             "Fault injection: the answer to a read of this number (from 1) of each port is lost; "
             "0 = none.");
  set.number("fault.lose_answer", spec.fault_lose_answer, 0, ~uint64_t{0},
             "Fault injection: a wire's answer to the packet of this number (from 1) is lost; 0 = "
             "none.");
  set.number("fault.lose_atomic", spec.fault_lose_atomic, 0, ~uint64_t{0},
             "Fault injection: the atomic of this number (from 1) that comes to each port is "
             "answered and not written; 0 = none.");
  set.number("fault.repeat_atomic", spec.fault_repeat_atomic, 0, ~uint64_t{0},
             "Fault injection: the atomic of this number (from 1) that comes to each port is "
             "executed twice; 0 = none.");
}

// A packet carries at most this many bytes (one row of a tile, or a whole wavefront tile).
inline constexpr uint32_t kMaxPacketBytes = 65'536;

// Pieces of at most `limit` bytes (0 = any) of the data of a packet: a row lies at an address of its
// own.
inline uint64_t runs_of(uint64_t limit, const Packet& packet) {
  if (limit == 0) return 1;
  const bool dense = packet.rows == 1 || packet.pitch == packet.row_bytes;
  const uint64_t runs = dense ? 1 : packet.rows;
  const uint64_t bytes = dense ? uint64_t{packet.rows} * packet.row_bytes : packet.row_bytes;
  return runs * ((bytes + limit - 1) / limit);
}

// The requests, and so the tags, of a read or an atomic.
inline uint64_t read_requests(const LinkSpec& spec, const Packet& packet) {
  if (packet.operation == Operation::atomic) return 1;
  return runs_of(spec.max_read_request_bytes, packet);
}

// What one of the link's own packets brings at most; 0 = any.
inline uint64_t payload_limit(const LinkSpec& spec, const Packet& packet) {
  if (!packet.stored || spec.store_payload_bytes == 0) return spec.max_payload_bytes;
  if (spec.max_payload_bytes == 0) return spec.store_payload_bytes;
  return std::min(spec.store_payload_bytes, spec.max_payload_bytes);
}

// The link's own packets for the data of a packet. Operands are never apart.
inline uint64_t link_packets(const LinkSpec& spec, const Packet& packet) {
  if (packet.operation == Operation::atomic) return 1;
  return runs_of(payload_limit(spec, packet), packet);
}

// What the packet takes on the wire, headers included.
inline uint64_t wire_bytes(const LinkSpec& spec, const Packet& packet) {
  if (packet.is_read_request()) return spec.header_bytes * read_requests(spec, packet);
  const uint64_t header = packet.completion ? spec.completion_header_bytes : spec.header_bytes;
  return packet.data.size() + header * (packet.failed ? 1 : link_packets(spec, packet));
}

// What a processor has loaded from a device. It may poll, so that is no progress.
inline bool is_load_of_host(const Packet& packet) {
  return packet.completion && packet.address >> STRETTO_NODE_SHIFT == STRETTO_NODE_HOST;
}

// What the first of the link's own packets takes of it.
inline uint64_t first_wire_bytes(const LinkSpec& spec, const Packet& packet) {
  if (packet.is_read_request()) return spec.header_bytes;
  const uint64_t limit = payload_limit(spec, packet);
  if (limit == 0 || packet.operation == Operation::atomic) return wire_bytes(spec, packet);
  const uint64_t header = packet.completion ? spec.completion_header_bytes : spec.header_bytes;
  return header + std::min<uint64_t>(packet.data.size(), limit);
}

}  // namespace stretto

#endif  // STRETTO_MODELS_FABRIC_LINK_SPEC_H_
