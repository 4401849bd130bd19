// SPDX-License-Identifier: Apache-2.0
#include "models/nic/requester.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

namespace stretto {
namespace {

constexpr uint32_t kMaxLength = 1u << 30;
constexpr uint32_t kWordBytes = 8;
constexpr uint8_t kFlags = STRETTO_NIC_SIGNALED | STRETTO_NIC_FENCE | STRETTO_NIC_INLINE;
constexpr uint32_t kEventEnd = 0x70;  // Digest kind.

bool is_atomic(const stretto_nic_work_entry_t& entry) {
  return entry.opcode == STRETTO_NIC_FETCH_ADD || entry.opcode == STRETTO_NIC_COMPARE_SWAP;
}
// Its answer brings something.
bool is_read(const stretto_nic_work_entry_t& entry) {
  return entry.opcode == STRETTO_NIC_GET || is_atomic(entry);
}
bool changes_nothing(const stretto_nic_work_entry_t& entry, uint64_t before) {
  if (entry.opcode == STRETTO_NIC_FETCH_ADD) return entry.operand == 0;
  return before != entry.compare || entry.operand == before;
}
bool is_inline(const stretto_nic_work_entry_t& entry) {
  return (entry.flags & STRETTO_NIC_INLINE) != 0;
}

constexpr std::array<const char*, 8> kNames = {
    "?", "put", "get", "fetch_add", "compare_swap", "send", "flush", "receive"};

}  // namespace

Requester::Requester(NicContext& context, QueuePairStatus& pair)
    : context_(context),
      pair_(pair),
      ring_(context.work_ring(pair,
                              [this](const stretto_nic_work_entry_t& entry) { accept(entry); })) {}

void Requester::reset() {
  withdraw();
  ++incarnation_;
  context_.counters.abandoned += operations_.size();
  serial_ += static_cast<uint32_t>(operations_.size());
  operations_.clear();
  next_number_ = sent_up_to_ = tries_ = 0;
  gap_ = false;
  ring_.configure(pair_.config.send_base, pair_.config.send_entries);
}

void Requester::flush() {
  withdraw();
  for (Operation& operation : operations_) {
    if (!operation.done) fail(operation, STRETTO_NIC_FLUSHED);
  }
  finish();
}

// Entries

void Requester::accept(const stretto_nic_work_entry_t& entry) {
  ++context_.counters.begun;
  context_.tell({.event = NicMoment::Event::entry,
                 .node = context_.node,
                 .pair = pair_.config.number,
                 .id = entry.id});
  Operation& operation = operations_.emplace_back();
  operation.entry = entry;
  const uint8_t wrong =
      pair_.state == PairState::ready ? check(entry) : uint8_t{STRETTO_NIC_FLUSHED};
  if (wrong != STRETTO_NIC_OK) {
    fail(operation, wrong);
  } else if (entry.opcode == STRETTO_NIC_FLUSH) {
    operation.done = true;  // Operations end in order.
  }
  finish();
  context_.transmitter.wake(*this);
}

uint8_t Requester::check(const stretto_nic_work_entry_t& entry) const {
  const bool datagrams = pair_.config.number == 0;
  const bool carries = entry.opcode == STRETTO_NIC_PUT || entry.opcode == STRETTO_NIC_SEND;
  if (entry.opcode < STRETTO_NIC_PUT || entry.opcode > STRETTO_NIC_FLUSH ||
      (entry.flags & ~kFlags) != 0 || (is_inline(entry) && !carries) ||
      (datagrams && entry.opcode != STRETTO_NIC_SEND && entry.opcode != STRETTO_NIC_FLUSH))
    return STRETTO_NIC_BAD_ENTRY;
  if (entry.opcode == STRETTO_NIC_FLUSH) return STRETTO_NIC_OK;
  const uint32_t limit = is_inline(entry) ? STRETTO_NIC_INLINE_BYTES
                         : datagrams      ? context_.spec.mtu_bytes
                                          : kMaxLength;
  if (entry.length == 0 || entry.length > limit || (is_atomic(entry) && entry.length != 8))
    return STRETTO_NIC_BAD_LENGTH;
  if (is_inline(entry)) return STRETTO_NIC_OK;
  const uint8_t access = is_read(entry) ? STRETTO_NIC_LOCAL_WRITE : 0;
  return context_.regions.find(entry.local_key, entry.local_address, entry.length, access)
             ? uint8_t{STRETTO_NIC_OK}
             : uint8_t{STRETTO_NIC_LOCAL_PROTECTION};
}

// Packets

bool Requester::may_send(const Operation& operation) const {
  if ((operation.entry.flags & STRETTO_NIC_FENCE) != 0 && &operation != &operations_.front())
    return false;
  uint32_t reads = 0;
  uint32_t packets = 0;
  for (const Operation& other : operations_) {
    if (!other.begun || other.done) continue;
    if (!is_read(other.entry)) {
      packets += other.sent - other.answered;
    } else if (other.sent != other.answered) {
      ++reads;
    }
  }
  return is_read(operation.entry) ? reads < context_.spec.outstanding_reads
                                  : packets < context_.spec.window_packets;
}

bool Requester::next(OutgoingPacket& packet) {
  if (pair_.state != PairState::ready) return false;
  for (Operation& operation : operations_) {
    if (operation.status != STRETTO_NIC_OK) return false;
    if (operation.done || (operation.begun && operation.sent == operation.packets)) continue;
    if (!may_send(operation)) return false;
    if (!operation.begun) begin(operation);
    packet.to = pair_.config.peer_node;
    NicMessage& message = packet.message;
    message.source_node = context_.node;
    message.queue_pair = pair_.config.peer;
    message.source_queue_pair = pair_.config.number;
    if (is_read(operation.entry)) {
      make_request(operation, packet);
    } else if (!make_data(operation, packet)) {
      return false;
    }
    const uint32_t behind = message.number + 1;
    if (packets_between(behind, sent_up_to_) <= 0) {
      ++context_.counters.sent_again;
    } else {
      sent_up_to_ = behind;
    }
    arm();
    return true;
  }
  return false;
}

void Requester::begin(Operation& operation) {
  const uint32_t mtu = context_.spec.mtu_bytes;
  operation.begun = true;
  operation.number = next_number_;
  operation.packets = is_atomic(operation.entry) ? 1 : (operation.entry.length + mtu - 1) / mtu;
  next_number_ += operation.packets;
  if (oldest() == &operation) {
    tries_ = 0;
    deadline_ = context_.now() + context_.spec.acknowledge_timeout_ns * kNanosecond;
  }
}

// Of a get that was answered in part, the rest.
void Requester::make_request(Operation& operation, OutgoingPacket& packet) {
  const stretto_nic_work_entry_t& entry = operation.entry;
  const uint64_t done = uint64_t{operation.answered} * context_.spec.mtu_bytes;
  NicMessage& message = packet.message;
  message.kind = entry.opcode == STRETTO_NIC_GET         ? WireKind::get
                 : entry.opcode == STRETTO_NIC_FETCH_ADD ? WireKind::fetch_add
                                                         : WireKind::compare_swap;
  message.number = operation.number + operation.answered;
  message.address = entry.remote_address + done;
  message.key = entry.remote_key;
  message.length = entry.length - static_cast<uint32_t>(done);
  message.operand = entry.operand;
  message.compare = entry.compare;
  operation.sent = operation.packets;
}

bool Requester::make_data(Operation& operation, OutgoingPacket& packet) {
  const stretto_nic_work_entry_t& entry = operation.entry;
  const bool datagram = pair_.config.number == 0;
  const uint64_t offset = uint64_t{operation.sent} * context_.spec.mtu_bytes;
  const uint32_t bytes =
      static_cast<uint32_t>(std::min<uint64_t>(context_.spec.mtu_bytes, entry.length - offset));
  NicMessage& message = packet.message;
  if (is_inline(entry)) {
    message.data.resize(bytes);
    std::memcpy(message.data.data(), &entry.operand, bytes);  // `compare` lies behind it.
  } else {
    const auto region =
        context_.regions.find(entry.local_key, entry.local_address, entry.length, 0);
    if (!region) {  // It ended meanwhile.
      fail(operation, STRETTO_NIC_LOCAL_PROTECTION);
      finish();
      return false;
    }
    packet.address = entry.local_address + offset;
    packet.bytes = bytes;
    packet.region = *region;
  }
  message.kind = datagram                          ? WireKind::datagram
                 : entry.opcode == STRETTO_NIC_PUT ? WireKind::put
                                                   : WireKind::send;
  message.first = operation.sent == 0;
  message.last = operation.sent + 1 == operation.packets;
  message.number = operation.number + operation.sent;
  message.asks = message.last || (operation.sent + 1) % context_.spec.acknowledge_packets == 0;
  message.address = entry.remote_address;
  message.key = entry.remote_key;
  message.length = entry.length;
  ++operation.sent;
  if (!datagram) return true;
  packet.to = entry.peer_node;
  message.queue_pair = entry.peer_queue_pair;
  const auto place =
      std::find_if(operations_.begin(), operations_.end(),
                   [&operation](const Operation& one) { return &one == &operation; });
  packet.on_sent = [this, serial = serial_ + static_cast<uint32_t>(place - operations_.begin()),
                    use = incarnation_] {
    if (use != incarnation_ || serial - serial_ >= operations_.size()) return;
    operations_[serial - serial_].done = true;
    finish();
  };
  return true;
}

void Requester::on_unreadable(const OutgoingPacket& packet) {
  Operation* const operation = find(packet.message.number);
  if (operation == nullptr) return;
  fail(*operation, STRETTO_NIC_LOCAL_PROTECTION);
  finish();
}

// Answers

Requester::Operation* Requester::find(uint32_t number) {
  for (Operation& operation : operations_) {
    const int32_t index = packets_between(number, operation.number);
    if (operation.begun && !operation.done && index >= 0 &&
        index < static_cast<int32_t>(operation.packets))
      return &operation;
  }
  return nullptr;
}

void Requester::on_acknowledge(uint32_t number) {
  bool news = false;
  for (Operation& operation : operations_) {
    const int32_t index = packets_between(number, operation.number);
    if (!operation.begun || index < 0) break;
    if (operation.done || is_read(operation.entry)) continue;
    const uint32_t answered = std::min(operation.packets, static_cast<uint32_t>(index) + 1);
    if (answered <= operation.answered) continue;
    news = true;
    operation.answered = answered;
    operation.sent = std::max(operation.sent, answered);
    operation.done = answered == operation.packets;
  }
  if (!news) return;
  progress();
  finish();
  context_.transmitter.wake(*this);
}

void Requester::on_refuse(uint32_t number, uint8_t status) {
  if (status == kOutOfSequence) {
    go_back(number);
    return;
  }
  Operation* const operation = find(number);
  if (operation == nullptr) return;
  fail(*operation, status);
  withdraw();
  finish();
}

void Requester::on_get_answer(NicMessage&& message, OnTaken taken) {
  Operation* const operation = find(message.number);
  const uint32_t index = operation == nullptr ? 0 : message.number - operation->number;
  const uint64_t offset = uint64_t{index} * context_.spec.mtu_bytes;
  const bool expected = operation != nullptr && operation->entry.opcode == STRETTO_NIC_GET &&
                        index == operation->answered &&
                        message.data.size() == std::min<uint64_t>(context_.spec.mtu_bytes,
                                                                  operation->entry.length - offset);
  if (!expected) {
    ++(operation == nullptr || index < operation->answered ? context_.counters.duplicates
                                                           : context_.counters.out_of_sequence);
    context_.counters.bytes_discarded += message.data.size();
    taken();
    if (operation != nullptr && index > operation->answered && !gap_) {
      gap_ = true;
      go_back(operation->number + operation->answered);
    }
    return;
  }
  const stretto_nic_work_entry_t& entry = operation->entry;
  const auto region = context_.regions.find(entry.local_key, entry.local_address, entry.length,
                                            STRETTO_NIC_LOCAL_WRITE);
  if (!region) {
    context_.counters.bytes_discarded += message.data.size();
    taken();
    fail(*operation, STRETTO_NIC_LOCAL_PROTECTION);
    finish();
    return;
  }
  const uint64_t to = entry.local_address + offset;
  const uint64_t last_byte = to + message.data.size() - 1;
  context_.counters.bytes_placed += message.data.size();
  if (entry.length <= kWordBytes) {
    std::memcpy(&operation->word, message.data.data(), message.data.size());
  } else {
    ++context_.services.progress;
  }
  context_.regions.use(*region);
  context_.bus.write(BusUse::data, to, std::move(message.data),
                     [this, taken = std::move(taken), region = *region](bool) {
                       context_.regions.leave(region);
                       taken();
                     });
  ++operation->answered;
  gap_ = false;
  progress();
  if (operation->answered == operation->packets) end_placed(*operation, last_byte);
  context_.transmitter.wake(*this);
}

void Requester::on_atomic_answer(const NicMessage& message) {
  Operation* const operation = find(message.number);
  if (operation == nullptr || !is_atomic(operation->entry) || operation->answered == 1) {
    ++context_.counters.duplicates;
    return;
  }
  progress();
  const stretto_nic_work_entry_t& entry = operation->entry;
  if (!context_.regions.find(entry.local_key, entry.local_address, 8, STRETTO_NIC_LOCAL_WRITE)) {
    fail(*operation, STRETTO_NIC_LOCAL_PROTECTION);
    finish();
    return;
  }
  operation->value = message.value;
  operation->answered = 1;
  BusMaster::Bytes bytes(8);
  std::memcpy(bytes.data(), &message.value, 8);
  context_.bus.write(BusUse::atomics, entry.local_address, std::move(bytes));
  end_placed(*operation, entry.local_address);
  context_.transmitter.wake(*this);
}

// A completion passes no write to the same memory; to another one it could.
void Requester::end_placed(Operation& operation, uint64_t last_byte) {
  const uint8_t queue_node = context_.completions.node(pair_.config.send_completion);
  if (queue_node == last_byte >> STRETTO_NODE_SHIFT) {
    operation.done = true;
    finish();
    return;
  }
  context_.bus.wait_visible(
      last_byte, [this, number = operation.number, use = incarnation_](bool ok) {
        Operation* const waiting = use == incarnation_ ? find(number) : nullptr;
        if (waiting == nullptr) return;
        if (ok) {
          waiting->done = true;
        } else {
          fail(*waiting, STRETTO_NIC_LOCAL_PROTECTION);
        }
        finish();
        context_.transmitter.wake(*this);
      });
}

// Ends

void Requester::fail(Operation& operation, uint8_t status) {
  operation.status = status;
  operation.done = true;
}

void Requester::finish() {
  while (!operations_.empty() && operations_.front().done) {
    const Operation operation = operations_.front();
    operations_.pop_front();
    ++serial_;
    end(operation);
    ring_.free();
    if (operation.status != STRETTO_NIC_OK) pair_.fail();
  }
}

bool Requester::polls(const Operation& operation) {
  constexpr size_t kWords = 4'096;
  const stretto_nic_work_entry_t& entry = operation.entry;
  if (operation.status != STRETTO_NIC_OK || !is_read(entry) || entry.length > kWordBytes)
    return false;
  if (is_atomic(entry) && !changes_nothing(entry, operation.value)) return false;
  const uint64_t brought = is_atomic(entry) ? operation.value : operation.word;
  if (words_.size() == kWords) words_.clear();  // What was forgotten is new once more.
  const auto [word, is_new] = words_.try_emplace(entry.remote_address, brought);
  return !is_new && std::exchange(word->second, brought) == brought;
}

void Requester::end(const Operation& operation) {
  NicCounters& counters = context_.counters;
  const stretto_nic_work_entry_t& entry = operation.entry;
  const bool ok = operation.status == STRETTO_NIC_OK;
  const uint32_t bytes = ok && entry.opcode != STRETTO_NIC_FLUSH ? entry.length : 0;
  ++counters.ended;
  counters.failed += !ok;
  counters.atomics_ended += ok && is_atomic(entry);
  if (!is_atomic(entry) && pair_.config.number != 0) counters.ended_bytes += bytes;
  const bool vain = polls(operation);
  ++(vain ? context_.services.polls : context_.services.progress);
  context_.tell({.event = NicMoment::Event::end,
                 .node = context_.node,
                 .pair = pair_.config.number,
                 .id = entry.id,
                 .polls = vain,
                 .opcode = entry.opcode,
                 .peer = pair_.config.peer_node,
                 .address = entry.remote_address,
                 .value = is_atomic(entry) ? operation.value : operation.word});
  if (context_.services.digest != nullptr) {
    context_.services.digest->event(context_.now(), kEventEnd, entry.id,
                                    uint64_t{operation.status} << 16 | pair_.config.number);
  }
  if (ok && (entry.flags & STRETTO_NIC_SIGNALED) == 0) return;
  ++counters.owed;
  stretto_nic_completion_t completion{};
  completion.id = entry.id;
  completion.bytes = bytes;
  completion.queue_pair = pair_.config.number;
  completion.status = operation.status;
  completion.opcode = entry.opcode;
  completion.value = operation.value;
  if (!context_.completions.write(pair_.config.send_completion, completion)) pair_.fail();
}

// Time

const Requester::Operation* Requester::oldest() const {
  for (const Operation& operation : operations_) {
    if (operation.begun && !operation.done) return &operation;
  }
  return nullptr;
}

void Requester::progress() {
  tries_ = 0;
  deadline_ = context_.now() + context_.spec.acknowledge_timeout_ns * kNanosecond;
}

void Requester::arm() {
  if (armed_ || pair_.config.number == 0) return;
  armed_ = true;
  context_.later.at(deadline_, [this] { on_timer(); });
}

void Requester::on_timer() {
  armed_ = false;
  const Operation* const waiting = oldest();
  if (waiting == nullptr || pair_.state != PairState::ready) return;
  if (context_.now() >= deadline_) {
    ++context_.counters.timeouts;
    if (++tries_ >= context_.spec.retries) {
      withdraw();
      fail(const_cast<Operation&>(*waiting), STRETTO_NIC_RETRIES_EXCEEDED);
      finish();
      return;
    }
    deadline_ = context_.now() + context_.spec.acknowledge_timeout_ns * kNanosecond;
    go_back(waiting->number + waiting->answered);
  }
  arm();
}

// Sends again from this packet on, and what a get has not brought.
void Requester::go_back(uint32_t number) {
  withdraw();
  for (Operation& operation : operations_) {
    const int32_t kept = packets_between(number, operation.number);
    if (!operation.begun || operation.done || kept >= static_cast<int32_t>(operation.packets))
      continue;
    const uint32_t before = is_read(operation.entry) ? 0 : static_cast<uint32_t>(std::max(kept, 0));
    operation.sent = std::min(operation.sent, std::max(operation.answered, before));
  }
  context_.transmitter.wake(*this);
}

std::vector<std::string> Requester::waiting_on() const {
  const Operation* const waiting = oldest();
  if (waiting == nullptr) return {};
  const stretto_nic_work_entry_t& entry = waiting->entry;
  return {"queue pair " + std::to_string(pair_.config.number) + ": " + kNames[entry.opcode] +
          " (id " + std::to_string(entry.id) + ") to node " +
          std::to_string(pair_.config.peer_node) + " has " + std::to_string(waiting->answered) +
          " of " + std::to_string(waiting->packets) + " packets answered; " +
          std::to_string(operations_.size()) + " operations under way"};
}

}  // namespace stretto
