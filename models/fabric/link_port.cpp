// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/link_port.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "sw/include/formats/address_map.h"

namespace stretto {
namespace {

constexpr uint32_t kEventSent = 0x40;  // Digest kinds.
constexpr uint32_t kEventReceived = 0x41;

bool is_flag(const Packet& packet) { return !packet.tracked && packet.data.size() <= 8; }

bool is_doorbell(const Packet& packet) { return (packet.address & STRETTO_OFFSET_MASK) >= STRETTO_DOORBELL_APERTURE; }

}  // namespace

LinkPort::LinkPort(const PortSpec& spec, unsigned index, LinkPortOwner& owner, PartitionServices& services,
                   PacketPort& out)
    : EventHandler(*services.queue),
      spec_(spec),
      index_(index),
      owner_(owner),
      services_(services),
      out_(out),
      wire_(spec.link.bandwidth_mb_s),
      credits_(spec.link.credit_bytes) {}

std::string LinkPort::name() const { return "port" + std::to_string(index_); }

// Out

void LinkPort::request(Packet&& packet, uint32_t request) {
  assert(packet.data.size() <= std::min<uint64_t>(kMaxPacketBytes, spec_.link.credit_bytes));
  requests_.push_back({std::move(packet), request});
  counters_.requests_high_water = std::max<uint64_t>(counters_.requests_high_water, requests_.size());
  take();
}

void LinkPort::take() {
  while (!requests_.empty()) {
    const uint64_t bytes = requests_.front().packet.data.size();
    if (!buffer_.empty() && buffered_ + bytes > spec_.link.egress_bytes) break;
    rewritten_.clear();
    owner_.rewrite(index_, std::move(requests_.front().packet), rewritten_);
    for (Packet& packet : rewritten_) {
      buffered_ += packet.data.size();
      buffer_.push_back(std::move(packet));
    }
    const uint32_t handle = requests_.front().handle;
    requests_.pop_front();
    owner_.answer(handle);
  }
  transmit();
}

void LinkPort::transmit() {
  if (busy_ || buffer_.empty()) return;
  Packet& packet = buffer_.front();
  const uint64_t bytes = packet.data.size();
  const Time now = services_.queue->now();
  if (bytes > credits_) {
    if (stalled_since_ == kNever) stalled_since_ = now;
    return;
  }
  if (stalled_since_ != kNever) {
    counters_.credit_stall += now - stalled_since_;
    stalled_since_ = kNever;
  }
  credits_ -= bytes;
  const uint64_t on_wire = wire_bytes(spec_.link, packet);
  const Time begin = std::max(now, wire_.free_at());
  const Time left = wire_.send(begin, on_wire);
  ++counters_.packets_sent;
  counters_.bytes_sent += bytes;
  counters_.wire_bytes += on_wire;
  if (packet.address >> STRETTO_NODE_SHIFT == STRETTO_NODE_HOST) counters_.host_bytes_sent += bytes;
  services_.progress += bytes;
  if (services_.digest != nullptr) services_.digest->event(left, kEventSent, packet.address, bytes << 8 | index_);
  if (services_.trace != nullptr) {
    services_.trace->span("gpu" + std::to_string(services_.gpu) + "/" + name() + " out",
                          packet.tracked ? "tile " + std::to_string(packet.wg_id) : std::to_string(bytes) + " B", now,
                          left);
  }
  packet.destination = spec_.peer_node;
  packet.link = spec_.peer_port;
  packet.arrival = packet.tail = left + spec_.link.latency_ns * kNanosecond;
  if (spec_.to_switch()) packet.arrival = begin + spec_.link.latency_ns * kNanosecond;
  out_.send(std::move(packet));
  sending_ = bytes;
  busy_ = true;
  services_.queue->schedule(left, *this);
}

// Tag 0: the packet at the head of the buffer has left; n + 1: incoming packet n is written.
void LinkPort::on_event(uint64_t tag) {
  if (tag == 0) {
    left();
  } else {
    written(tag - 1);
  }
}

void LinkPort::left() {
  busy_ = false;
  buffered_ -= sending_;
  buffer_.pop_front();
  take();
}

// In

void LinkPort::receive(Packet&& packet) {
  if (packet.credit_bytes != 0) {
    credits_ += packet.credit_bytes;
    transmit();
    return;
  }
  const uint64_t bytes = packet.data.size();
  assert(bytes == uint64_t{packet.rows} * packet.row_bytes);
  ++counters_.packets_received;
  counters_.bytes_received += bytes;
  if (packet.origin == STRETTO_NODE_HOST) counters_.host_bytes_received += bytes;
  if (packet.operation == Operation::update) counters_.updates_received += bytes;
  if (services_.digest != nullptr) {
    services_.digest->event(packet.arrival, kEventReceived, packet.address, bytes << 8 | index_);
  }
  incoming_.push_back({std::move(packet)});
  const uint64_t number = first_incoming_ + incoming_.size() - 1;
  if (!is_flag(incoming_.back().packet) || number == first_incoming_) issue(number);
}

void LinkPort::issue(uint64_t number) {
  Incoming& incoming = incoming_[number - first_incoming_];
  incoming.issued = true;
  incoming.rows_left = incoming.packet.rows;
  if (is_doorbell(incoming.packet)) {
    uint64_t value = 0;
    std::copy_n(incoming.packet.data.begin(), std::min<size_t>(8, incoming.packet.data.size()),
                reinterpret_cast<uint8_t*>(&value));
    owner_.ring_doorbell((incoming.packet.address & STRETTO_OFFSET_MASK) - STRETTO_DOORBELL_APERTURE, value);
    incoming.rows_left = 1;
    row_written(number, true, services_.queue->now());
    return;
  }
  // The memory never answers inside the call, so `incoming` stays where it is.
  for (uint32_t row = 0; row < incoming.packet.rows; ++row) owner_.write_row(index_, number, incoming.packet, row);
}

void LinkPort::row_written(uint64_t number, bool ok, Time at) {
  Incoming& incoming = incoming_[number - first_incoming_];
  const Packet& packet = incoming.packet;
  assert(incoming.issued && incoming.rows_left > 0);
  const uint64_t bytes = is_doorbell(packet) ? packet.data.size() : packet.row_bytes;
  if (ok) {
    counters_.bytes_written += bytes;
    if (packet.operation == Operation::update) counters_.updates_written += bytes;
  }
  services_.progress += bytes;
  incoming.last = std::max(incoming.last, at);
  if (--incoming.rows_left > 0) return;
  if (incoming.last == services_.queue->now()) {
    written(number);
  } else {
    services_.queue->schedule(incoming.last, *this, number + 1);
  }
}

void LinkPort::written(uint64_t number) {
  Incoming& incoming = incoming_[number - first_incoming_];
  incoming.written = true;
  return_credit(incoming.packet.data.size());
  while (!incoming_.empty() && incoming_.front().written) {
    incoming_.pop_front();
    ++first_incoming_;
  }
  // A flag that waited for all before it; a doorbell retires inside issue().
  if (!incoming_.empty() && !incoming_.front().issued) issue(first_incoming_);
}

void LinkPort::return_credit(uint64_t bytes) {
  if (++counters_.credit_returns == spec_.link.fault_lose_credit) return;
  Packet credit;
  credit.destination = spec_.peer_node;
  credit.link = spec_.peer_port;
  credit.credit_bytes = static_cast<uint32_t>(bytes);
  credit.arrival = services_.queue->now() + spec_.link.latency_ns * kNanosecond;
  out_.send(std::move(credit));
}

// Account

void LinkPort::report(StatisticSink& sink) const {
  const auto add = [&](const char* what, uint64_t value, const char* unit, const char* sentence) {
    sink.add(name() + "." + what, value, unit, sentence);
  };
  add("peer", spec_.peer_node, "count", "Node at the other end.");
  add("packets_sent", counters_.packets_sent, "count", "Packets that left.");
  add("bytes_sent", counters_.bytes_sent, "bytes", "Payload that left.");
  add("wire_bytes", counters_.wire_bytes, "bytes", "Payload and headers that left.");
  add("packets_received", counters_.packets_received, "count", "Packets that arrived.");
  add("bytes_received", counters_.bytes_received, "bytes", "Payload that arrived.");
  add("bytes_written", counters_.bytes_written, "bytes", "Payload that arrived and was written.");
  add("busy", wire_.busy(), "fs", "Time in which the wire carried something.");
  add("credit_stall", counters_.credit_stall, "fs", "Time in which a packet waited for credit alone.");
  add("requests_high_water", counters_.requests_high_water, "count", "Most requests waiting for the send buffer.");
}

void LinkPort::audit(AuditSink& sink) const {
  sink.equal("credits all home", credits_, spec_.link.credit_bytes);
  sink.equal("received bytes = written bytes", counters_.bytes_received, counters_.bytes_written);
  sink.equal("received updates = written updates", counters_.updates_received, counters_.updates_written);
  sink.at_most("no link above its peak", counters_.wire_bytes, wire_.peak_bytes(wire_.free_at()));
  sink.at_most("link busy + idle = total", wire_.busy(), std::max(services_.queue->now(), wire_.free_at()));
}

std::vector<std::string> LinkPort::waiting_on() const {
  std::vector<std::string> lines;
  const std::string to = name() + " to node " + std::to_string(spec_.peer_node);
  if (!buffer_.empty() && !busy_) {
    lines.push_back(to + ": " + std::to_string(buffer_.size() + requests_.size()) + " packets wait for credit (" +
                    std::to_string(credits_) + " of " + std::to_string(spec_.link.credit_bytes) + " B free)");
  }
  if (!incoming_.empty()) {
    lines.push_back(to + ": " + std::to_string(incoming_.size()) + " packets wait to be written to memory");
  }
  return lines;
}

}  // namespace stretto
