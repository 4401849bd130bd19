// SPDX-License-Identifier: Apache-2.0
#include "models/nic/transmitter.h"

#include <algorithm>
#include <utility>

#include "sw/include/formats/address_map.h"

namespace stretto {

// An answer goes to the NIC of the operation, a request comes from there.
void tell_packet(const NicContext& context, const NicMessage& message, bool leaves, uint8_t to) {
  using Event = NicMoment::Event;
  NicMoment moment{.event = Event::request_out, .number = message.number};
  switch (message.kind) {
    case WireKind::datagram:
    case WireKind::refuse: return;
    case WireKind::get_answer:
    case WireKind::atomic_answer:
    case WireKind::acknowledge:
      moment.event = leaves ? Event::answer_out : Event::answer_in;
      moment.node = leaves ? to : context.node;
      moment.pair = message.queue_pair;
      break;
    default:
      moment.event = leaves ? Event::request_out : Event::request_in;
      moment.node = message.source_node;
      moment.pair = message.source_queue_pair;
  }
  context.tell(moment);
}

void Transmitter::wake(PacketSource& source) {
  if (!source.awake_) {
    source.awake_ = true;
    awake_.push_back(&source);
  }
  run();
}

void Transmitter::run() {
  if (running_) return;  // next() may wake others.
  running_ = true;
  while (!awake_.empty() && buffered_ < context_.spec.buffer_bytes) {
    PacketSource& source = *awake_.front();
    awake_.pop_front();
    auto slot = std::make_shared<PacketSource::Slot>();
    if (!source.next(slot->packet)) {
      source.awake_ = false;
      continue;
    }
    awake_.push_back(&source);
    slot->use = source.use_;
    slot->ready = slot->packet.bytes == 0;
    source.slots_.push_back(slot);
    ++under_way_;
    const OutgoingPacket& packet = slot->packet;
    buffered_ += packet.bytes + packet.message.data.size();
    buffered_high_water_ = std::max(buffered_high_water_, buffered_);
    if (slot->ready) {
      send_ready(source);
      continue;
    }
    context_.regions.use(packet.region);
    context_.bus.read(BusUse::data, packet.address, packet.bytes,
                      [this, &source, slot](bool ok, BusMaster::Bytes&& data) {
                        context_.regions.leave(slot->packet.region);
                        slot->ready = true;
                        slot->packet.message.data = std::move(data);
                        if (!ok && slot->use == source.use_) {
                          --slot->use;
                          source.on_unreadable(slot->packet);
                        }
                        send_ready(source);
                        run();
                      });
  }
  running_ = false;
}

void Transmitter::send_ready(PacketSource& source) {
  while (!source.slots_.empty() && source.slots_.front()->ready) {
    const std::shared_ptr<PacketSource::Slot> slot = std::move(source.slots_.front());
    source.slots_.pop_front();
    if (slot->use == source.use_) {
      send(std::move(slot->packet));
    } else {
      leave(slot->packet.message.data.size());
    }
  }
}

// Its place until the link or the loopback has taken it.
uint32_t Transmitter::enlist(uint32_t bytes, OutgoingPacket& outgoing) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(requests_.size()));
    requests_.emplace_back();
  }
  const uint32_t request = free_.back();
  free_.pop_back();
  requests_[request] = {bytes, std::move(outgoing.on_sent)};
  tell_packet(context_, outgoing.message, true, outgoing.to);
  ++context_.counters.packets_sent;
  context_.counters.bytes_sent += bytes;
  return request;
}

void Transmitter::send(OutgoingPacket&& outgoing) {
  const uint32_t data = static_cast<uint32_t>(outgoing.message.data.size());
  if (outgoing.to == context_.node) {
    const uint32_t request = enlist(data, outgoing);
    loopback_->send(std::move(outgoing.message), [this, request] { taken(request); });
    return;
  }
  const uint64_t down = context_.spec.fault_down_at_ns;
  if (down != 0 && context_.now() >= down * kNanosecond) {
    ++context_.counters.packets_unsent;
    leave(data);
    if (outgoing.on_sent) outgoing.on_sent();
    return;
  }
  const uint32_t request = enlist(data, outgoing);
  Packet packet;
  packet.operation = Operation::write;
  packet.address = uint64_t{outgoing.to} << STRETTO_NODE_SHIFT;
  packet.data = encode(outgoing.message);
  packet.row_bytes = static_cast<uint32_t>(packet.data.size());
  link_->request(std::move(packet), request);
}

void Transmitter::taken(uint32_t request) {
  const Request done = std::move(requests_[request]);
  free_.push_back(request);
  leave(done.bytes);
  if (done.on_sent) done.on_sent();
  run();
}

void Transmitter::leave(uint64_t bytes) {
  buffered_ -= bytes;
  --under_way_;
}

}  // namespace stretto
