// SPDX-License-Identifier: Apache-2.0
// Interface of the request ring, one per GPU, used by the GPU's store path, the DMA side, the
// adapters and the reference model. GD-DMA-01..11; format of a request and protocol:
// sw/include/formats/send_request.h; rules: rtl/request_ring/README.md.
//
// One step() is one clock: inputs sampled by the edge, outputs registered. A request (`sr`) is
// always taken: into the ring, or dropped and reported. A transfer is taken at the edge at which
// issue_valid (output) and issue_ready (next input) are both high; so is a memory write with
// write_ready. A transfer's tag names it until its `done`, which may come from the edge after the
// one that took it, in any order; a `done` for a tag that is not in flight is ignored.
#ifndef STRETTO_MODELS_REFERENCE_REQUEST_RING_IF_H_
#define STRETTO_MODELS_REFERENCE_REQUEST_RING_IF_H_

#include <cstdint>

#include "models/reference/block.h"

namespace stretto {

inline constexpr unsigned kRingDepth = 256;       // STRETTO_SEND_RING_DEPTH.
inline constexpr unsigned kRingBuffers = 256;     // STRETTO_SEND_BUFFERS.
inline constexpr unsigned kRingConnections = 16;  // STRETTO_SEND_CONNECTIONS.
inline constexpr unsigned kRingSlots = 8;         // Transfers in flight of a connection.

// What a memory write of the ring is.
enum class RingWrite : uint8_t { replica = 0, sent = 1, received = 2 };

struct RequestRingInputs {
  uint64_t cycle = 0;  // For reports only; the ring has no notion of elapsed time.
  bool sr_valid = false;
  uint64_t sr_data = 0;
  bool issue_ready = true;
  bool done_valid = false;
  uint16_t done_tag = 0;  // {connection, slot [3:0]}, 12 bits.
  bool done_failed = false;
  bool write_ready = true;
  RegisterPort reg;

  bool operator==(const RequestRingInputs&) const = default;
};

struct RequestRingOutputs {
  bool issue_valid = false;
  uint16_t issue_tag = 0;
  bool issue_read = false;         // Opcode read: source at the peer.
  uint64_t issue_source = 0;       // 48 bits.
  uint64_t issue_destination = 0;  // 48 bits.
  uint64_t issue_bytes = 0;        // 34 bits, at least 1.
  bool write_valid = false;
  uint8_t write_kind = 0;  // RingWrite.
  uint16_t write_tag = 0;  // Of the transfer; 0 for the replica.
  uint64_t write_address = 0;
  uint64_t write_data = 0;  // 8 bytes.
  bool pop = false;         // Pulse: a request left the ring.
  bool refuse = false;      // Pulse: the request `judged` was malformed.
  bool accept = false;      // Pulse: the request `judged` became the transfer of issue_*.
  uint64_t judged = 0;
  bool drop = false;    // Pulse: a request came while the ring was full or disabled.
  bool retire = false;  // Pulse: transfer `retire_tag` retired; its flags follow.
  uint16_t retire_tag = 0;
  bool irq = false;   // Level.
  bool busy = false;  // A request is past the ring and not retired, or a write waits.
  bool idle = true;   // More clocks without sr, done and register access change no state.
  uint64_t reg_rdata = 0;

  bool operator==(const RequestRingOutputs&) const = default;
};

struct RequestRingSnapshot {
  uint16_t level = 0;      // Requests in the ring.
  uint16_t in_flight = 0;  // Transfers accepted and not retired.

  bool operator==(const RequestRingSnapshot&) const = default;
};

// For reports: add(name, value) for each pin in use.
template <class Add>
void list_pins(const RequestRingInputs& in, Add add) {
  if (in.sr_valid) {
    add("sr_valid", 1);
    add("sr_data", in.sr_data);
  }
  add("issue_ready", in.issue_ready);
  if (in.done_valid) {
    add("done_valid", 1);
    add("done_tag", in.done_tag);
    add("done_failed", in.done_failed);
  }
  add("write_ready", in.write_ready);
  list_pins(in.reg, add);
}

template <class Add>
void list_pins(const RequestRingOutputs& out, Add add) {
  add("issue_valid", out.issue_valid);
  add("issue_tag", out.issue_tag);
  add("issue_read", out.issue_read);
  add("issue_source", out.issue_source);
  add("issue_destination", out.issue_destination);
  add("issue_bytes", out.issue_bytes);
  add("write_valid", out.write_valid);
  add("write_kind", out.write_kind);
  add("write_tag", out.write_tag);
  add("write_address", out.write_address);
  add("write_data", out.write_data);
  add("pop", out.pop);
  add("refuse", out.refuse);
  add("accept", out.accept);
  add("judged", out.judged);
  add("drop", out.drop);
  add("retire", out.retire);
  add("retire_tag", out.retire_tag);
  add("irq", out.irq);
  add("busy", out.busy);
  add("idle", out.idle);
  add("reg_rdata", out.reg_rdata);
}

class RequestRing : public Block<RequestRingInputs, RequestRingOutputs, RequestRingSnapshot> {};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_REQUEST_RING_IF_H_
