// SPDX-License-Identifier: Apache-2.0
// What NICs say to each other: the bytes of a packet of the network. Headers have the fields and
// sizes of InfiniBand's transport (BTH 12, RETH 16, AtomicETH 28, AETH 4, AtomicAckETH 8 bytes) in an
// order of their own; those of the link are the link's (nic_spec.h).
#ifndef STRETTO_MODELS_NIC_WIRE_FORMAT_H_
#define STRETTO_MODELS_NIC_WIRE_FORMAT_H_

#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

namespace stretto {

enum class WireKind : uint8_t {
  put = 1,
  send,
  get,
  get_answer,
  fetch_add,
  compare_swap,
  atomic_answer,
  acknowledge,
  refuse,
  datagram,
};

struct NicMessage {
  WireKind kind = WireKind::put;
  bool first = false;  // Of a message,
  bool last = false;
  bool asks = false;  // for an acknowledgement.
  uint8_t source_node = 0;
  uint16_t queue_pair = 0;  // At the receiver,
  uint16_t source_queue_pair = 0;
  uint32_t number = 0;  // of the packet in its queue pair, modulo 2^32.

  uint64_t address = 0;  // First packet of a put, get, atomic.
  uint32_t key = 0;
  uint32_t length = 0;
  uint64_t operand = 0;
  uint64_t compare = 0;
  uint8_t status = 0;  // refuse: STRETTO_NIC_*, or kOutOfSequence.
  uint64_t value = 0;  // atomic_answer.
  std::vector<uint8_t> data;
};

// A refusal that asks for the packet `number` again.
inline constexpr uint8_t kOutOfSequence = 0xFF;

// a - b of numbers of packets.
inline int32_t packets_between(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b); }

inline constexpr uint32_t kBaseHeader = 12;

// What comes between base header and data.
inline uint32_t extended_header(const NicMessage& message) {
  switch (message.kind) {
    case WireKind::put: return message.first ? 16 : 0;
    case WireKind::get: return 16;
    case WireKind::fetch_add:
    case WireKind::compare_swap: return 28;
    case WireKind::get_answer: return message.first || message.last ? 4 : 0;
    case WireKind::atomic_answer: return 12;
    case WireKind::acknowledge:
    case WireKind::refuse: return 4;
    case WireKind::send:
    case WireKind::datagram: return 0;
  }
  return 0;
}

// Copies fields one after the other, into bytes or out of them.
class WireCursor {
 public:
  WireCursor(uint8_t* at, bool writes) : at_(at), writes_(writes) {}
  template <class Field>
  void pass(Field& field) {
    std::memcpy(writes_ ? at_ : reinterpret_cast<uint8_t*>(&field),
                writes_ ? reinterpret_cast<uint8_t*>(&field) : at_, sizeof field);
    at_ += sizeof field;
  }

 private:
  uint8_t* at_;
  const bool writes_;
};

inline void pass_headers(NicMessage& message, WireCursor cursor) {
  uint8_t flags = static_cast<uint8_t>(message.first | message.last << 1 | message.asks << 2);
  uint8_t reserved = 0;
  cursor.pass(message.kind);
  cursor.pass(flags);
  cursor.pass(message.queue_pair);
  cursor.pass(message.source_queue_pair);
  cursor.pass(message.source_node);
  cursor.pass(reserved);
  cursor.pass(message.number);
  message.first = (flags & 1) != 0;
  message.last = (flags & 2) != 0;
  message.asks = (flags & 4) != 0;
  const uint32_t extended = extended_header(message);
  if (extended >= 16) {
    cursor.pass(message.address);
    cursor.pass(message.key);
  }
  if (extended == 16) cursor.pass(message.length);
  if (extended == 28) {
    cursor.pass(message.operand);
    cursor.pass(message.compare);
  }
  if (extended == 4 || extended == 12) {
    uint8_t unused[3] = {};
    cursor.pass(message.status);
    cursor.pass(unused);
  }
  if (extended == 12) cursor.pass(message.value);
}

inline std::vector<uint8_t> encode(NicMessage& message) {
  const uint32_t headers = kBaseHeader + extended_header(message);
  std::vector<uint8_t> bytes(headers + message.data.size());
  pass_headers(message, WireCursor(bytes.data(), true));
  if (!message.data.empty())
    std::memcpy(bytes.data() + headers, message.data.data(), message.data.size());
  return bytes;
}

// REQUIRES: `bytes` come from encode().
inline NicMessage decode(const std::vector<uint8_t>& bytes) {
  NicMessage message;
  assert(bytes.size() >= kBaseHeader);
  pass_headers(message, WireCursor(const_cast<uint8_t*>(bytes.data()), false));
  message.data.assign(bytes.begin() + kBaseHeader + extended_header(message), bytes.end());
  return message;
}

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_WIRE_FORMAT_H_
