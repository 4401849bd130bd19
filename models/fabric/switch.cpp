// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/switch.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "models/fabric/link_port.h"
#include "sw/include/formats/address_map.h"

namespace stretto {
namespace {

constexpr uint64_t kLeft =
    uint64_t{1}
    << 32;  // Event tag: the packet on the wire of the port below has left; else look again.
constexpr uint32_t kEventSent = 0x48;  // Digest kind.

}  // namespace

Switch::Port::Port(Switch& of, const PortSpec& port, uint8_t number, size_t ports)
    : owner(of),
      spec(port),
      index(number),
      queues(ports),
      wire(port.link, LinkWire::CompletionCredits::counted),
      credits(port.link.credit_bytes) {}

Switch::Switch(sc_core::sc_module_name name, const SwitchSpec& spec, const RouterSpec& wiring,
               Partition& partition)
    : sc_module(name),
      EventHandler(partition.queue()),
      spec_(spec),
      partition_(partition),
      services_(partition.services()) {
  assert(wiring.ports.size() < kNoPort);
  routes_.fill(kNoPort);
  for (size_t i = 0; i < wiring.ports.size(); ++i) {
    ports_.push_back(std::make_unique<Port>(*this, wiring.ports[i], static_cast<uint8_t>(i),
                                            wiring.ports.size()));
    partition.attach(static_cast<uint8_t>(i), *ports_.back());
  }
  for (const auto& [node, port] : wiring.routes) routes_[node] = port;
}

// In

void Switch::receive(uint8_t index, Packet&& packet) {
  Port& in = *ports_[index];
  if (packet.credit_bytes != 0) {
    in.credits += packet.credit_bytes;
    arbitrate(in);
    return;
  }
  const uint64_t bytes = packet.data.size();
  in.wire.received(services_.queue->now(), packet, services_.queue->now());
  ++in.counters.packets_in;
  in.counters.bytes_in += bytes;
  in.buffered += bytes;
  in.counters.buffered_high_water = std::max(in.counters.buffered_high_water, in.buffered);
  const uint8_t to = routes_[packet.address >> STRETTO_NODE_SHIFT & 0xFF];
  if (to == kNoPort || ++packets_ == spec_.fault_drop_packet) {
    unroutable_ += to == kNoPort;
    in.buffered -= bytes;
    return_credit(in, bytes);
    return;
  }
  Port& out = *ports_[to];
  const Time ready = ready_at(in, out, packet);
  in.queues[to].push_back({std::move(packet), ready});
  services_.queue->schedule(ready, *this, to);
}

Time Switch::ready_at(const Port& in, const Port& out, const Packet& packet) const {
  const uint64_t first = first_wire_bytes(in.spec.link, packet);
  const Time latency = spec_.latency_ns * kNanosecond;
  const Time head = services_.queue->now() + in.wire.duration(first) + latency;
  const Time leaving = out.wire.duration(wire_bytes(out.spec.link, packet));
  const Time tail = packet.tail + latency;
  return std::max(head, tail > leaving ? tail - leaving : 0);
}

// Out

void Switch::arbitrate(Port& out) {
  if (out.busy) return;
  const Time now = services_.queue->now();
  for (size_t i = 0; i < ports_.size(); ++i) {
    Port& in = *ports_[(out.next + i) % ports_.size()];
    const std::deque<Waiting>& queue = in.queues[out.index];
    if (queue.empty() || queue.front().ready > now) continue;
    out.next = in.index;  // Its turn, until it has left.
    if (queue.front().packet.data.size() > out.credits) {
      if (out.stalled_since == kNever) out.stalled_since = now;
      return;
    }
    transmit(in, out);
    return;
  }
}

void Switch::transmit(Port& in, Port& out) {
  const Time now = services_.queue->now();
  std::deque<Waiting>& queue = in.queues[out.index];
  Packet packet = std::move(queue.front().packet);
  queue.pop_front();
  if (out.stalled_since != kNever) {
    out.counters.credit_stall += now - out.stalled_since;
    out.stalled_since = kNever;
  }
  const LinkSpec& link = out.spec.link;
  const uint64_t bytes = packet.data.size();
  out.credits -= bytes;
  out.next = static_cast<uint8_t>((in.index + 1u) % ports_.size());
  out.busy = true;
  out.from = in.index;
  out.sending = bytes;
  const auto [begin, end] = out.wire.send(now, packet);
  ++out.counters.packets_out;
  out.counters.bytes_out += bytes;
  if (!is_load_of_host(packet)) services_.count_moved(bytes);
  if (services_.digest != nullptr)
    services_.digest->event(end, kEventSent, packet.address, bytes << 8 | out.index);
  packet.destination = out.spec.peer_node;
  packet.link = out.spec.peer_port;
  packet.arrival = packet.tail = end + link.latency_ns * kNanosecond;
  if (out.spec.to_switch()) packet.arrival = begin + link.latency_ns * kNanosecond;
  partition_.send(std::move(packet));
  services_.queue->schedule(end, *this, kLeft | out.index);
}

void Switch::left(Port& out) {
  out.busy = false;
  Port& in = *ports_[out.from];
  in.buffered -= out.sending;
  return_credit(in, out.sending);
  arbitrate(out);
}

void Switch::return_credit(Port& in, uint64_t bytes) {
  if (bytes == 0 || ++in.counters.credit_returns == in.spec.link.fault_lose_credit) return;
  Packet credit;
  credit.destination = in.spec.peer_node;
  credit.link = in.spec.peer_port;
  credit.credit_bytes = static_cast<uint32_t>(bytes);
  credit.arrival = services_.queue->now() + in.spec.link.latency_ns * kNanosecond;
  partition_.send(std::move(credit));
}

void Switch::on_event(uint64_t tag) {
  Port& out = *ports_[tag & 0xFF];
  if ((tag & kLeft) != 0) {
    left(out);
  } else {
    arbitrate(out);
  }
}

// Account

void Switch::report(StatisticSink& sink) const {
  for (const auto& port : ports_) {
    const Counters& counters = port->counters;
    const auto add = [&](const char* what, uint64_t value, const char* unit, const char* sentence) {
      sink.add("port" + std::to_string(port->index) + "." + what, value, unit, sentence);
    };
    add("peer", port->spec.peer_node, "count", "Node at the other end.");
    add("packets_in", counters.packets_in, "count", "Packets that came in.");
    add("bytes_in", counters.bytes_in, "bytes", "Payload that came in.");
    add("packets_out", counters.packets_out, "count", "Packets that left.");
    add("bytes_out", counters.bytes_out, "bytes", "Payload that left.");
    port->wire.report(sink, "port" + std::to_string(port->index) + ".");
    add("credit_stall", counters.credit_stall, "fs",
        "Time in which the packet whose turn it was waited for credit.");
    add("buffered_high_water", counters.buffered_high_water, "bytes",
        "Most payload in the input buffer.");
  }
  sink.add("unroutable", unroutable_, "count",
           "Packets for a node that is at no port; they are lost.");
}

void Switch::audit(AuditSink& sink) const {
  Counters all;
  for (const auto& port : ports_) {
    all.packets_in += port->counters.packets_in;
    all.packets_out += port->counters.packets_out;
    all.bytes_in += port->counters.bytes_in;
    all.bytes_out += port->counters.bytes_out;
    sink.equal("credits all home", port->credits, port->spec.link.credit_bytes);
    sink.at_most("switch input within its buffer", port->counters.buffered_high_water,
                 port->spec.link.credit_bytes);
    port->wire.audit(sink);
  }
  sink.equal("switch packets in = out", all.packets_in, all.packets_out);
  sink.equal("switch bytes in = out", all.bytes_in, all.bytes_out);
}

std::vector<std::string> Switch::waiting_on() const {
  std::vector<std::string> lines;
  for (const auto& out : ports_) {
    size_t packets = 0;
    for (const auto& in : ports_) packets += in->queues[out->index].size();
    if (packets == 0) continue;
    lines.push_back("port" + std::to_string(out->index) + " to node " +
                    std::to_string(out->spec.peer_node) + ": " + std::to_string(packets) +
                    " packets wait (credit " + std::to_string(out->credits) + " of " +
                    std::to_string(out->spec.link.credit_bytes) + " B free)");
  }
  return lines;
}

void audit_switch(const Switch& crossbar, const std::string& where,
                  const std::vector<const LinkPort*>& ends, AuditSink& sink) {
  for (const LinkPort* end : ends) {
    const Switch::Counters& other = crossbar.counters(end->spec().peer_port);
    sink.set_where(where + ".port" + std::to_string(end->spec().peer_port));
    sink.equal("link bytes sent = received", end->counters().bytes_sent, other.bytes_in);
    sink.equal("link bytes sent = received", other.bytes_out, end->counters().bytes_received);
  }
}

}  // namespace stretto
