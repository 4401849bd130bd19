// SPDX-License-Identifier: Apache-2.0
// What devices ask of host memory: reads and PCIe AtomicOps, of which the root complex is the
// completer.
#include <cstring>
#include <utility>

#include "models/common/atomic_op.h"
#include "models/common/payload_pool.h"
#include "models/host/host.h"

namespace stretto {

// A device reads host memory: it finds what was written before the read came in.
void Host::serve_read(Link& link, Packet&& packet) {
  ++link.reads_received;
  packet.data.resize(uint64_t{packet.rows} * packet.row_bytes);
  for (uint32_t row = 0; row < packet.rows; ++row) {
    const uint64_t offset = (packet.address + row * packet.pitch) & STRETTO_OFFSET_MASK;
    memory_.read(offset, packet.data.data() + uint64_t{row} * packet.row_bytes, packet.row_bytes);
  }
  if (link.reads_received + link.atomics_received == link.port.link.fault_lose_completion) return;
  complete(link, std::move(packet));
}

// It has the data, or what was there.
void Host::complete(Link& link, Packet&& packet) {
  auto answer = std::make_unique<Packet>(std::move(packet));
  answer->completion = true;
  answer->address =
      uint64_t{answer->origin} << STRETTO_NODE_SHIFT | (answer->address & STRETTO_OFFSET_MASK);
  const Time since = systemc_now() + spec_.read_ns * kNanosecond;
  wait_turn(link, {since, Link::kAnswer, nullptr, std::move(answer)});
}

// A compare and swap that finds something else writes nothing.
void Host::perform(Link& link, Packet& packet) {
  ++link.atomics_performed;
  const uint64_t offset = packet.address & STRETTO_OFFSET_MASK;
  const unsigned bytes = packet.row_bytes;
  uint64_t found = 0, operand = 0, compare = 0;
  memory_.read(offset, reinterpret_cast<uint8_t*>(&found), bytes);
  std::memcpy(&operand, packet.data.data() + packet.data.size() - bytes, bytes);
  std::memcpy(&compare, packet.data.data(), bytes);
  const uint64_t left = apply_atomic_op(packet.atomic_op, bytes, found, operand, compare);
  const bool writes = packet.atomic_op != AtomicOp::compare_swap || found == compare;
  if (writes && link.atomics_received != link.port.link.fault_lose_atomic) {
    memory_.write(offset, reinterpret_cast<const uint8_t*>(&left), bytes);
    changed(offset, bytes);
  }
  packet.data.resize(bytes);
  std::memcpy(packet.data.data(), &found, bytes);
}

void Host::serve_atomic(Link& link, Packet&& packet) {
  ++link.atomics_received;
  if (link.atomics_received == link.port.link.fault_repeat_atomic) {
    Packet again = packet;
    perform(link, again);
  }
  perform(link, packet);
  if (link.reads_received + link.atomics_received == link.port.link.fault_lose_completion) return;
  complete(link, std::move(packet));
}

void Host::return_credit(Link& link, const Packet& packet, uint64_t bytes) {
  if (++link.credit_returns == link.port.link.fault_lose_credit) return;
  Packet credit;
  credit.source = node_;
  credit.destination = packet.source;
  credit.link = link.port.peer_port;
  credit.credit_bytes = static_cast<uint32_t>(bytes);
  credit.arrival = packet.arrival + link.port.link.latency_ns * kNanosecond;
  conductor_.post(std::move(credit));
}

}  // namespace stretto
