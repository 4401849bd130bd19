// SPDX-License-Identifier: Apache-2.0
// Parameters of a network interface and of the link that it ends.
#ifndef STRETTO_MODELS_NIC_NIC_SPEC_H_
#define STRETTO_MODELS_NIC_NIC_SPEC_H_

#include <cstdint>

#include "models/common/spec.h"
#include "models/fabric/link_spec.h"

namespace stretto {

enum class NicAcknowledge : uint8_t { visible, received };

struct NicSpec {
  uint32_t doorbell_ns = 50;
  uint32_t send_ns = 50;
  uint32_t receive_ns = 50;
  uint32_t mtu_bytes = 4'096;
  uint32_t fetch_entries = 4;
  uint32_t bus_reads = 64;
  uint32_t buffer_bytes = 65'536;
  uint32_t operations = 64;
  uint32_t outstanding_reads = 16;
  uint32_t window_packets = 128;
  uint32_t acknowledge_packets = 16;
  uint32_t acknowledge_timeout_ns = 524'288;
  uint32_t retries = 7;
  NicAcknowledge acknowledge = NicAcknowledge::visible;
  uint64_t fault_lose_packet = 0;
  uint64_t fault_delay_packet = 0;
  uint32_t fault_delay_ns = 10'000;
  uint64_t fault_down_at_ns = 0;
};

inline void describe(NicSpec& spec, ParameterSet& set) {
  // The three stages: nobody publishes them.
  set.number("doorbell_ns", spec.doorbell_ns, 0, 100'000,
             "From a doorbell to the read of the entries that it announces.");
  set.number("send_ns", spec.send_ns, 0, 100'000,
             "From work entries being there to the first read of their data, or packet.");
  set.number("receive_ns", spec.receive_ns, 1, 100'000,
             "From a packet being in to its effect: check of the key, first write or read.");
  set.choice<uint32_t>(
      "mtu_bytes", spec.mtu_bytes,
      {{"256", 256}, {"512", 512}, {"1024", 1'024}, {"2048", 2'048}, {"4096", 4'096}},
      "Data of a packet at most (InfiniBand: 256 to 4096).");
  set.number("fetch_entries", spec.fetch_entries, 1, 64,
             "Work entries read at a time; more save reads and delay the first.");
  set.number("bus_reads", spec.bus_reads, 1, 4'096,
             "Reads over PCIe without their data, each of a packet at most; less than bandwidth x "
             "round trip costs bandwidth.");
  set.number("buffer_bytes", spec.buffer_bytes, 4'096, 1u << 24,
             "Data between their read and the wire; less than bandwidth x round trip of PCIe costs "
             "bandwidth.");
  set.number("operations", spec.operations, 1, 4'096,
             "Operations of a queue pair that are read and have not ended.");
  set.number(
      "outstanding_reads", spec.outstanding_reads, 1, 256,
      "Gets and atomics of a queue pair without their answer (ConnectX: max_qp_rd_atom 16).");
  set.number("window_packets", spec.window_packets, 1, 65'536,
             "Packets of puts and sends of a queue pair without acknowledgement; less than "
             "bandwidth x round trip costs bandwidth.");
  set.number("acknowledge_packets", spec.acknowledge_packets, 1, 65'536,
             "Each so many packets of a message, and its last one, ask for an acknowledgement.");
  set.number("acknowledge_timeout_ns", spec.acknowledge_timeout_ns, 1'000, 1'000'000'000,
             "Without an answer for so long, what has none is sent again (InfiniBand: 4.096 us x "
             "2^n, n by software; here 7).");
  set.number("retries", spec.retries, 1, 100,
             "So many times in a row without an answer, and the queue pair goes into error "
             "(InfiniBand: 7 at most).");
  set.choice("acknowledge", spec.acknowledge,
             {{"visible", NicAcknowledge::visible}, {"received", NicAcknowledge::received}},
             "When data are acknowledged: visible to who reads them; received is a fault to plant, "
             "as a put then ends before its data are there.");
  set.number("fault.lose_packet", spec.fault_lose_packet, 0, ~uint64_t{0},
             "Fault injection: the packet of this number (from 1) that arrives from the network is "
             "lost; 0 = none.");
  set.number("fault.delay_packet", spec.fault_delay_packet, 0, ~uint64_t{0},
             "Fault injection: the packet of this number is looked at fault.delay_ns late; 0 = "
             "none.");
  set.number("fault.delay_ns", spec.fault_delay_ns, 0, 1'000'000'000, "See fault.delay_packet.");
  set.number("fault.down_at_ns", spec.fault_down_at_ns, 0, ~uint64_t{0} / kNanosecond,
             "Fault injection: from this time on nothing passes between NIC and network; 0 = "
             "never.");
}

// 100 Gbit/s and 100 ns a link (ComP-Net, table 1). Header: LRH 8, ICRC 4, VCRC 2 bytes of
// InfiniBand; its transport headers are data of the packet here (wire_format.h).
inline LinkSpec network_defaults() {
  return {.bandwidth_mb_s = 12'500,
          .latency_ns = 100,
          .credit_bytes = 131'072,
          .egress_bytes = 16'384,
          .header_bytes = 14};
}

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_NIC_SPEC_H_
