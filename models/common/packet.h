// SPDX-License-Identifier: Apache-2.0
// What crosses between partitions: a plain, serialisable packet. GPUs and host meet nowhere else
// (models/README.md, Partitions). Credits travel as packets too. A packet arrives no earlier than
// the smallest link latency after it was sent; that latency is the lookahead with which partitions
// run apart.
#ifndef STRETTO_MODELS_COMMON_PACKET_H_
#define STRETTO_MODELS_COMMON_PACKET_H_

#include <cstdint>
#include <vector>

#include "models/common/event_queue.h"
#include "models/common/payload_extension.h"

namespace stretto {

struct Packet {
  Time arrival =
      0;          // Tail of the packet at the receiver; at a switch, which cuts through, its head.
  Time tail = 0;  // To a switch only: when the tail arrives.
  uint8_t source = 0;         // Node of this hop: g + 1, 0xFE = switch, 0xFF = host.
  uint8_t destination = 0;    // Of this hop; the last one is the node in `address`.
  uint8_t origin = 0;         // Node at which the packet began its way.
  uint8_t link = 0;           // Port index at the receiver.
  uint64_t sequence = 0;      // Of (source, destination), gapless.
  uint32_t credit_bytes = 0;  // Nonzero: a credit return, and nothing else below is valid.

  // write, update; read: a request without data, or with `completion` its answer; atomic: a request
  // with its operands, or the answer with the value that was there.
  Operation operation = Operation::write;
  bool completion = false;
  bool failed = false;  // A completion without data: there is nothing to read.
  uint32_t tag = 0;     // Of what is answered, the requester's own.
  AtomicOp atomic_op = AtomicOp::add;
  ElementType element = ElementType::fp16;
  uint8_t account = STRETTO_ACCOUNT_OTHER;
  bool stored = false;  // By a compute unit.
  bool tracked = false;
  uint8_t wf_id = 0;
  uint32_t wg_id = 0;
  uint8_t parts = 1;     // Of an update: what senders have sent that is in it; a switch adds.
  uint64_t address = 0;  // 48-bit, destination's node included.
  uint32_t rows = 1;
  uint32_t row_bytes = 0;
  uint64_t pitch = 0;
  uint64_t flow = 0;  // Of the timeline (TraceDetail); changes nothing.
  // rows * row_bytes, dense; of a compare and swap twice row_bytes: what is compared, what is stored.
  std::vector<uint8_t> data;

  bool is_read_request() const { return operation == Operation::read && !completion; }
  bool is_atomic_request() const { return operation == Operation::atomic && !completion; }
  // It is answered by a completion.
  bool is_non_posted() const { return is_read_request() || is_atomic_request(); }
};

// Receives the packets of one partition, in the order (arrival, source, sequence), each at its
// arrival time.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  virtual void receive(Packet&& packet) = 0;
};

// Takes packets that leave a partition. REQUIRES: arrival - now >= the lookahead of the machine.
class PacketPort {
 public:
  virtual ~PacketPort() = default;
  virtual void send(Packet&& packet) = 0;
};

// The order in which a receiver takes packets, for heaps: time, then sender, then what the sender
// counts.
inline bool arrives_later(const Packet& a, const Packet& b) {
  if (a.arrival != b.arrival) return a.arrival > b.arrival;
  if (a.source != b.source) return a.source > b.source;
  return a.sequence > b.sequence;
}

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_PACKET_H_
