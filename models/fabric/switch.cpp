// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/switch.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "models/fabric/link_port.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/link_bank.h"
#include "sw/include/regs/link_regs.h"

namespace stretto {
namespace {

constexpr uint64_t kLeft =
    uint64_t{1}
    << 32;  // Event tag: the packet on the wire of the port below has left; else look again.
constexpr uint64_t kHeld = uint64_t{1} << 33;  // Event tag: a sum for the port below may be old.
constexpr uint32_t kEventForwarded = 0x48;     // Digest kinds.
constexpr uint32_t kEventAdded = 0x49;

}  // namespace

Switch::Port::Port(Switch& of, const PortSpec& port, uint8_t number, size_t ports,
                   const SwitchSpec& of_switch)
    : owner(of),
      spec(port),
      index(number),
      queues(ports),
      wire(port.link, LinkWire::CompletionCredits::counted),
      credits(port.link.credit_bytes),
      adder(of_switch.add_bytes, of_switch.add_hold_ns * kNanosecond,
            of_switch.fault_skip_addition) {}

Switch::Switch(sc_core::sc_module_name name, const SwitchSpec& spec, const RouterSpec& wiring,
               Partition& partition)
    : sc_module(name),
      EventHandler(partition.queue()),
      spec_(spec),
      partition_(partition),
      services_(partition.services()),
      registers_(kSwitchRegisters) {
  assert(wiring.ports.size() < kNoPort);
  routes_.fill(kNoPort);
  for (size_t i = 0; i < wiring.ports.size(); ++i) {
    ports_.push_back(std::make_unique<Port>(*this, wiring.ports[i], static_cast<uint8_t>(i),
                                            wiring.ports.size(), spec));
    partition.attach(static_cast<uint8_t>(i), *ports_.back());
  }
  for (const auto& [node, port] : wiring.routes) routes_[node] = port;
  const auto asks = [this](uint32_t offset, auto set) {
    registers_.on_write(offset, [this, set](const RegisterBank::Write& write) {
      Port& port = *ports_[write.index];
      set(port.adder, write.held, services_.queue->now());
      arbitrate(port);
    });
  };
  asks(SWITCH_ADD_BASE_OFFSET, [](SwitchAdder& adder, uint64_t bits, Time now) {
    adder.set_base(STRETTO_FIELD_GET(bits, SWITCH_ADD_BASE_ADDRESS), now);
  });
  asks(SWITCH_ADD_LENGTH_OFFSET, [](SwitchAdder& adder, uint64_t bits, Time now) {
    adder.set_length(STRETTO_FIELD_GET(bits, SWITCH_ADD_LENGTH_BYTES), now);
  });
  asks(SWITCH_ADD_PARTS_OFFSET, [](SwitchAdder& adder, uint64_t bits, Time now) {
    adder.set_parts(static_cast<uint8_t>(STRETTO_FIELD_GET(bits, SWITCH_ADD_PARTS_SENDERS)), now);
  });
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
  const uint8_t node = packet.address >> STRETTO_NODE_SHIFT & 0xFF;
  if (node == STRETTO_NODE_SWITCH) return write_register(in, packet);
  const uint8_t to = routes_[node];
  if (to == kNoPort || ++packets_ == spec_.fault_drop_packet) {
    unroutable_ += to == kNoPort;
    free_input(in, bytes);
    return;
  }
  Port& out = *ports_[to];
  const bool adds = out.adder.takes(packet);
  const Time ready = adds ? packet.tail : ready_at(in, out, packet);
  in.queues[to].push_back({std::move(packet), ready, adds});
  services_.queue->schedule(ready, *this, to);
}

// A GPU asks for what is to come to it: it has the registers of its own port.
void Switch::write_register(Port& in, const Packet& packet) {
  const uint64_t bytes = packet.data.size(), offset = packet.address & STRETTO_OFFSET_MASK;
  const RegisterBank::Place place = registers_.find(offset);
  if (place.info != nullptr && place.index == in.index && packet.operation == Operation::write &&
      bytes == place.info->bytes) {
    uint64_t bits = 0;
    std::memcpy(&bits, packet.data.data(), sizeof bits);
    ++in.counters.register_writes;
    in.counters.register_bytes += bytes;
    registers_.write(static_cast<uint32_t>(offset), bits);
  } else {
    ++unroutable_;
  }
  free_input(in, bytes);
}

void Switch::free_input(Port& in, uint64_t bytes) {
  in.buffered -= bytes;
  return_credit(in, bytes);
}

// Parts at the head of their queue go into sums.
void Switch::add_parts(Port& out) {
  const Time now = services_.queue->now();
  for (const auto& in : ports_) {
    std::deque<Waiting>& queue = in->queues[out.index];
    while (!queue.empty() && queue.front().adds && queue.front().ready <= now) {
      Packet& packet = queue.front().packet;
      if (!out.adder.takes(packet)) {  // The GPU has asked for something else.
        queue.front().adds = false;
        break;
      }
      const uint64_t bytes = packet.data.size(), address = packet.address;
      bool opened = false;
      if (!out.adder.add(packet, in->index, now, opened)) break;
      if (opened) services_.queue->schedule(now + out.adder.hold(), *this, kHeld | out.index);
      if (services_.digest != nullptr)
        services_.digest->event(now, kEventAdded, address, bytes << 8 | in->index);
      services_.progress += bytes;
      queue.pop_front();
      free_input(*in, bytes);
    }
  }
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

// Sources are the inputs and, behind them, the sums.
bool Switch::has_turn(Port& out, size_t source, Time now) {
  const Time latency = spec_.latency_ns * kNanosecond;
  if (source < ports_.size()) {
    const std::deque<Waiting>& queue = ports_[source]->queues[out.index];
    if (queue.empty() || queue.front().ready > now || queue.front().adds) return false;
    if (!out.adder.is_built() || !out.adder.push_out(static_cast<uint8_t>(source), now))
      return true;
    services_.queue->schedule(now + latency, *this, out.index);  // Sums go first.
    return false;
  }
  if (!out.adder.is_leaving()) return false;
  const Time ready = out.adder.next_since() + latency;
  if (ready > now) services_.queue->schedule(ready, *this, out.index);
  return ready <= now;
}

void Switch::arbitrate(Port& out) {
  if (out.adder.is_built()) add_parts(out);
  if (out.busy) return;
  const Time now = services_.queue->now();
  const size_t sources = ports_.size() + 1;
  for (size_t i = 0; i < sources; ++i) {
    const size_t source = (out.next + i) % sources;
    if (!has_turn(out, source, now)) continue;
    out.next = static_cast<uint8_t>(source);  // Its turn, until it has left.
    const Packet& packet = source < ports_.size() ? ports_[source]->queues[out.index].front().packet
                                                  : out.adder.next();
    if (packet.data.size() > out.credits) {
      if (out.stalled_since == kNever) out.stalled_since = now;
      return;
    }
    transmit(out, source);
    return;
  }
}

void Switch::transmit(Port& out, size_t source) {
  const Time now = services_.queue->now();
  Packet packet;
  if (source < ports_.size()) {
    std::deque<Waiting>& queue = ports_[source]->queues[out.index];
    packet = std::move(queue.front().packet);
    queue.pop_front();
  } else {
    packet = out.adder.take();
  }
  if (out.stalled_since != kNever) {
    out.counters.credit_stall += now - out.stalled_since;
    out.stalled_since = kNever;
  }
  const LinkSpec& link = out.spec.link;
  const uint64_t bytes = packet.data.size();
  out.credits -= bytes;
  out.next = static_cast<uint8_t>((source + 1) % (ports_.size() + 1));
  out.busy = true;
  out.from = static_cast<uint8_t>(source);
  out.sending = bytes;
  const auto [begin, end] = out.wire.send(now, packet);
  ++out.counters.packets_out;
  out.counters.bytes_out += bytes;
  if (!is_load_of_host(packet)) services_.count_moved(bytes);
  if (services_.digest != nullptr)
    services_.digest->event(end, kEventForwarded, packet.address, bytes << 8 | out.index);
  packet.destination = out.spec.peer_node;
  packet.link = out.spec.peer_port;
  packet.arrival = packet.tail = end + link.latency_ns * kNanosecond;
  if (out.spec.to_switch()) packet.arrival = begin + link.latency_ns * kNanosecond;
  partition_.send(std::move(packet));
  services_.queue->schedule(end, *this, kLeft | out.index);
}

void Switch::left(Port& out) {
  out.busy = false;
  if (out.from < ports_.size()) {
    free_input(*ports_[out.from], out.sending);
  } else {
    out.adder.left(out.sending);
  }
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
    if ((tag & kHeld) != 0) out.adder.expire(services_.queue->now());
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
    port->adder.report(sink, "port" + std::to_string(port->index) + ".adder.");
  }
  sink.add("unroutable", unroutable_, "count",
           "Packets for a node that is at no port; they are lost.");
}

void Switch::audit(AuditSink& sink) const {
  Counters all;
  uint64_t sums = 0, parts = 0;
  for (const auto& port : ports_) {
    all.packets_in += port->counters.packets_in;
    all.packets_out += port->counters.packets_out;
    all.bytes_in += port->counters.bytes_in;
    all.bytes_out += port->counters.bytes_out;
    all.register_writes += port->counters.register_writes;
    sums += port->adder.counters().sums;
    parts += port->adder.counters().parts;
    port->adder.audit(sink);
    sink.equal("credits all home", port->credits, port->spec.link.credit_bytes);
    sink.at_most("switch input within its buffer", port->counters.buffered_high_water,
                 port->spec.link.credit_bytes);
    port->wire.audit(sink);
  }
  sink.equal("switch packets in = out", all.packets_in + sums,
             all.packets_out + parts + all.register_writes);
  sink.equal("switch bytes in = out", all.bytes_in, all.bytes_out + bytes_kept());
}

uint64_t Switch::bytes_kept() const {
  uint64_t kept = 0;
  for (const auto& port : ports_) {
    const SwitchAdder::Counters& sums = port->adder.counters();
    kept += port->counters.register_bytes + sums.part_bytes - sums.sum_bytes;
  }
  return kept;
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
