// SPDX-License-Identifier: Apache-2.0
#include "models/nic/responder.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "models/nic/atomic_unit.h"

namespace stretto {
namespace {

constexpr uint32_t kEventPlaced = 0x71;  // Digest kind.

}  // namespace

Responder::Responder(NicContext& context, QueuePairStatus& pair)
    : context_(context),
      pair_(pair),
      ring_(context.work_ring(pair,
                              [this](const stretto_nic_work_entry_t& entry) { accept(entry); })) {}

void Responder::reset() {
  withdraw();
  ++incarnation_;
  ring_.configure(pair_.config.receive_base, pair_.config.receive_entries);
  entries_.clear();
  received_.clear();
  replies_.clear();
  done_.clear();
  incoming_ = {};
  expected_ = wanted_ = visible_ = 0;
  looking_ = acknowledge_ = refuse_ = asked_again_ = false;
  for (const uint8_t node : written_nodes_) written_[node] = 0;
  written_nodes_.clear();
}

// Receive entries

void Responder::accept(const stretto_nic_work_entry_t& entry) {
  entries_.push_back(entry);
  if (pair_.state != PairState::ready) flush();
}

void Responder::flush() {
  while (!entries_.empty()) end_receive(STRETTO_NIC_FLUSHED, 0, 0, true);
}

// Requests

bool Responder::in_sequence(const NicMessage& message) {
  const int32_t ahead = packets_between(message.number, expected_);
  if (ahead == 0) return true;
  if (ahead < 0) {
    ++context_.counters.duplicates;
    // Its acknowledgement was lost, or is on its way.
    if (message.asks && packets_between(message.number, visible_) < 0) acknowledge_ = true;
  } else {
    ++context_.counters.out_of_sequence;
    if (!asked_again_) refuse(expected_, kOutOfSequence);
    asked_again_ = true;
  }
  return false;
}

void Responder::on_request(NicMessage&& message, OnTaken taken) {
  switch (message.kind) {
    case WireKind::put: on_put(std::move(message), std::move(taken)); break;
    case WireKind::send: on_send(std::move(message), std::move(taken)); break;
    case WireKind::datagram: on_datagram(std::move(message), std::move(taken)); break;
    case WireKind::get:
      on_get(message);
      taken();
      break;
    case WireKind::fetch_add:
    case WireKind::compare_swap:
      on_atomic(message);
      taken();
      break;
    default: assert(false);
  }
  context_.transmitter.wake(*this);
}

void Responder::discard(const NicMessage& message) {
  context_.counters.bytes_discarded += message.data.size();
}

// The packet has taken effect.
void Responder::taken_in(const NicMessage& message, uint32_t packets) {
  expected_ += packets;
  asked_again_ = false;
  if (message.asks) want_visible(expected_);
}

void Responder::on_put(NicMessage&& message, OnTaken taken) {
  if (!in_sequence(message)) {
    discard(message);
    taken();
    return;
  }
  const uint32_t bytes = static_cast<uint32_t>(message.data.size());
  if (message.first) {
    const bool allowed =
        context_.regions
            .find(message.key, message.address, message.length, STRETTO_NIC_REMOTE_WRITE)
            .has_value();
    incoming_ = {message.address, allowed ? message.length : 0, message.key, 0};
  }
  const auto region =
      context_.regions.find(incoming_.key, incoming_.address, bytes, STRETTO_NIC_REMOTE_WRITE);
  if (!region || bytes > incoming_.left) {
    discard(message);
    taken();
    refuse(message.number, STRETTO_NIC_REMOTE_ACCESS);
    return;
  }
  const uint64_t to = incoming_.address;
  incoming_.address += bytes;
  incoming_.left -= bytes;
  place(to, *region, std::move(message.data), std::move(taken));
  taken_in(message);
}

void Responder::on_send(NicMessage&& message, OnTaken taken) {
  const bool expected = in_sequence(message);
  if (!expected || entries_.empty()) {
    context_.counters.not_ready += expected;
    discard(message);
    taken();
    return;
  }
  const stretto_nic_work_entry_t& entry = entries_.front();
  if (message.first) incoming_ = {entry.local_address, entry.length, entry.local_key, 0};
  const uint32_t bytes = static_cast<uint32_t>(message.data.size());
  const auto region =
      context_.regions.find(incoming_.key, incoming_.address, bytes, STRETTO_NIC_LOCAL_WRITE);
  if (bytes > incoming_.left || !region) {
    const bool too_long = bytes > incoming_.left;
    discard(message);
    taken();
    end_receive(too_long ? STRETTO_NIC_BAD_LENGTH : STRETTO_NIC_LOCAL_PROTECTION, 0, 0, true);
    refuse(message.number, too_long ? STRETTO_NIC_REMOTE_LENGTH : STRETTO_NIC_REMOTE_OPERATION);
    return;
  }
  const uint64_t to = incoming_.address;
  incoming_.address += bytes;
  incoming_.left -= bytes;
  incoming_.bytes += bytes;
  const bool last = message.last;
  const uint32_t number = message.number;
  place(to, *region, std::move(message.data), std::move(taken));
  if (last) end_receive(STRETTO_NIC_OK, number, 0, false);
  taken_in(message);
}

// Queue pair 0: no numbers, no answers; what finds no entry is lost.
void Responder::on_datagram(NicMessage&& message, OnTaken taken) {
  const uint32_t bytes = static_cast<uint32_t>(message.data.size());
  const auto region =
      entries_.empty() || bytes > entries_.front().length
          ? std::nullopt
          : context_.regions.find(entries_.front().local_key, entries_.front().local_address, bytes,
                                  STRETTO_NIC_LOCAL_WRITE);
  if (!region) {
    ++context_.counters.not_ready;
    discard(message);
    taken();
    return;
  }
  incoming_ = {0, 0, 0, bytes};
  context_.counters.datagram_bytes += bytes;
  place(entries_.front().local_address, *region, std::move(message.data), std::move(taken));
  end_receive(STRETTO_NIC_OK, expected_,
              uint64_t{message.source_node} << 16 | message.source_queue_pair, false);
  ++expected_;
  want_visible(expected_);
}

void Responder::on_get(const NicMessage& message) {
  const uint32_t mtu = context_.spec.mtu_bytes;
  const uint32_t packets = (message.length + mtu - 1) / mtu;
  const bool again = packets_between(message.number, expected_) < 0;
  if (!again && !in_sequence(message)) return;
  if (!context_.regions.find(message.key, message.address, message.length,
                             STRETTO_NIC_REMOTE_READ)) {
    refuse(message.number, STRETTO_NIC_REMOTE_ACCESS);
    return;
  }
  if (again) {  // From here on, instead of what was under way.
    ++context_.counters.duplicates;
    std::erase_if(replies_, [&](const Reply& reply) {
      const int32_t at = packets_between(reply.number, message.number);
      return reply.kind == WireKind::get_answer && at >= 0 && at < static_cast<int32_t>(packets);
    });
  } else {
    taken_in(message, packets);
  }
  replies_.push_back({.kind = WireKind::get_answer,
                      .number = message.number,
                      .packets = packets,
                      .address = message.address,
                      .left = message.length,
                      .key = message.key});
}

void Responder::on_atomic(const NicMessage& message) {
  if (packets_between(message.number, expected_) < 0) {
    ++context_.counters.duplicates;
    for (const Done& done : done_) {
      if (done.number == message.number && done.ready)
        replies_.push_back({.kind = WireKind::atomic_answer,
                            .number = done.number,
                            .packets = 1,
                            .value = done.value});
    }
    return;
  }
  if (!in_sequence(message)) return;
  if (message.address % 8 != 0) {
    refuse(message.number, STRETTO_NIC_REMOTE_LENGTH);
    return;
  }
  if (!context_.regions.find(message.key, message.address, 8, STRETTO_NIC_REMOTE_ATOMIC)) {
    refuse(message.number, STRETTO_NIC_REMOTE_ACCESS);
    return;
  }
  taken_in(message);
  execute(message);
}

void Responder::execute(const NicMessage& message) {
  done_.push_back({message.number, false, 0});
  // The peer has at most so many without an answer.
  if (done_.size() > context_.spec.outstanding_reads) done_.pop_front();
  replies_.push_back(
      {.kind = WireKind::atomic_answer, .number = message.number, .packets = 1, .ready = false});
  const uint32_t region =
      *context_.regions.find(message.key, message.address, 8, STRETTO_NIC_REMOTE_ATOMIC);
  context_.regions.use(region);
  context_.atomics.execute(
      {message.kind, message.address, message.operand, message.compare,
       [this, region, number = message.number, use = incarnation_](bool ok, uint64_t old_value) {
         context_.regions.leave(region);
         context_.counters.atomics_done += ok;
         if (use != incarnation_) return;
         if (!ok) {
           std::erase_if(replies_, [&](const Reply& reply) { return reply.number == number; });
           refuse(number, STRETTO_NIC_REMOTE_OPERATION);
         }
         for (Done& done : done_) {
           if (done.number == number) done = {number, ok, old_value};
         }
         for (Reply& reply : replies_) {
           if (reply.number != number) continue;
           reply.ready = true;
           reply.value = old_value;
         }
         context_.transmitter.wake(*this);
       }});
}

// Effects

void Responder::place(uint64_t address, uint32_t region, BusMaster::Bytes&& data, OnTaken taken) {
  const uint64_t bytes = data.size();
  context_.counters.bytes_placed += bytes;
  ++context_.services.progress;
  if (context_.services.digest != nullptr)
    context_.services.digest->event(context_.now(), kEventPlaced, address, bytes);
  const uint8_t node = static_cast<uint8_t>(address >> STRETTO_NODE_SHIFT);
  if (written_[node] == 0) written_nodes_.push_back(node);
  written_[node] = address + bytes - 1;
  context_.regions.use(region);
  context_.bus.write(BusUse::data, address, std::move(data),
                     [this, region, taken = std::move(taken)](bool) {
                       context_.regions.leave(region);
                       taken();
                     });
}

void Responder::refuse(uint32_t number, uint8_t status) {
  if (refuse_ && refused_status_ != kOutOfSequence) return;  // The first error counts.
  refuse_ = true;
  refused_number_ = number;
  refused_status_ = status;
  if (status == kOutOfSequence) return;
  ++context_.counters.refused;
  context_.transmitter.wake(*this);
  // A pair that is its own other end fails when its sending half hears of it: that says why.
  const bool own =
      pair_.config.peer_node == context_.node && pair_.config.peer == pair_.config.number;
  if (!own) pair_.fail();
}

void Responder::want_visible(uint32_t number) {
  wanted_ = number;
  look();
}

void Responder::look() {
  if (looking_ || packets_between(wanted_, visible_) <= 0) return;
  if (context_.spec.acknowledge == NicAcknowledge::received || written_nodes_.empty()) {
    on_visible(wanted_);
    return;
  }
  looking_ = true;
  const auto open = std::make_shared<size_t>(written_nodes_.size());
  for (const uint8_t node : std::exchange(written_nodes_, {})) {
    const uint64_t last_byte = std::exchange(written_[node], 0);
    context_.bus.wait_visible(last_byte, [this, open, behind = wanted_, use = incarnation_](bool) {
      if (--*open != 0 || use != incarnation_) return;
      looking_ = false;
      on_visible(behind);
      look();
    });
  }
}

// All below `behind` can be seen.
void Responder::on_visible(uint32_t behind) {
  visible_ = behind;
  acknowledge_ = true;
  while (!received_.empty() && packets_between(received_.front().number, visible_) < 0) {
    write_completion(received_.front().completion);
    received_.pop_front();
  }
  context_.transmitter.wake(*this);
}

// The oldest receive entry has ended.
void Responder::end_receive(uint8_t status, uint32_t number, uint64_t value, bool at_once) {
  stretto_nic_completion_t completion{};
  completion.id = entries_.front().id;
  completion.bytes = status == STRETTO_NIC_OK ? incoming_.bytes : 0;
  completion.queue_pair = pair_.config.number;
  completion.status = status;
  completion.opcode = STRETTO_NIC_RECEIVE;
  completion.value = value;
  entries_.pop_front();
  if (at_once) {
    write_completion(completion);
  } else {
    received_.push_back({number, completion});
  }
  ring_.free();
}

void Responder::write_completion(const stretto_nic_completion_t& completion) {
  ++context_.counters.owed;
  if (!context_.completions.write(pair_.config.receive_completion, completion)) pair_.fail();
}

// Answers

bool Responder::next(OutgoingPacket& packet) {
  if (pair_.state == PairState::reset || pair_.config.number == 0) return false;
  NicMessage& message = packet.message;
  packet.to = pair_.config.peer_node;
  message.source_node = context_.node;
  message.queue_pair = pair_.config.peer;
  message.source_queue_pair = pair_.config.number;
  if (acknowledge_) {
    acknowledge_ = false;
    message.kind = WireKind::acknowledge;
    message.number = visible_ - 1;
    return true;
  }
  if (refuse_) {
    refuse_ = false;
    message.kind = WireKind::refuse;
    message.number = refused_number_;
    message.status = refused_status_;
    return true;
  }
  if (replies_.empty() || !replies_.front().ready) return false;
  Reply& reply = replies_.front();
  message.kind = reply.kind;
  message.number = reply.number;
  message.value = reply.value;
  if (reply.kind == WireKind::get_answer) {
    const uint32_t bytes = std::min(context_.spec.mtu_bytes, reply.left);
    const auto region =
        context_.regions.find(reply.key, reply.address, bytes, STRETTO_NIC_REMOTE_READ);
    if (!region) {  // It ended meanwhile.
      replies_.pop_front();
      refuse(message.number, STRETTO_NIC_REMOTE_ACCESS);
      return next(packet);
    }
    message.first = reply.first;
    message.last = reply.packets == 1;
    packet.address = reply.address;
    packet.bytes = bytes;
    packet.region = *region;
    reply.address += bytes;
    reply.left -= bytes;
    reply.first = false;
  }
  ++reply.number;
  if (--reply.packets == 0) replies_.pop_front();
  return true;
}

void Responder::on_unreadable(const OutgoingPacket& packet) {
  replies_.clear();
  refuse(packet.message.number, STRETTO_NIC_REMOTE_OPERATION);
}

std::vector<std::string> Responder::waiting_on() const {
  std::vector<std::string> lines;
  const std::string name = "queue pair " + std::to_string(pair_.config.number) + ": ";
  if (!replies_.empty())
    lines.push_back(name + std::to_string(replies_.size()) + " answers to node " +
                    std::to_string(pair_.config.peer_node) + " are not sent");
  if (looking_) lines.push_back(name + "waits until data can be seen");
  return lines;
}

}  // namespace stretto
