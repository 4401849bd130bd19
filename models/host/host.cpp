// SPDX-License-Identifier: Apache-2.0
#include "models/host/host.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>

#include "models/common/hex.h"
#include "models/common/payload_pool.h"
#include "sw/include/formats/address_map.h"

namespace stretto {
namespace {

constexpr uint8_t kNoLink = 0xFF;
constexpr uint32_t kEventWrite = 1;  // Digest kinds.
constexpr uint32_t kEventReceived = 2;

// The next edge of the root complex, strictly after `at`.
Time edge_after(Time at) { return (at / kNanosecond + 1) * kNanosecond; }

}  // namespace

Host::Host(sc_core::sc_module_name name, const HostSpec& spec, const RouterSpec& wiring,
           Conductor& conductor, uint8_t node)
    : sc_module(name),
      spec_(spec),
      node_(node),
      conductor_(conductor),
      copy_engine_("copy_engine", *this, spec.copy_engine) {
  routes_.fill(kNoLink);
  for (const PortSpec& port : wiring.ports) {
    assert(port.link.latency_ns * kNanosecond >= conductor.lookahead());
    links_.push_back(std::make_unique<Link>(port));
  }
  for (const auto& [node, link] : wiring.routes) {
    // A switch behind which others are that GPUs are not: they read, and answers take turns.
    links_[link]->shared = links_[link]->shared ||
                           std::count(routes_.begin(), routes_.end(), link) != 0 ||
                           (links_[link]->port.to_switch() && links_.size() > 1);
    routes_[node] = link;
    if (node <= STRETTO_MAX_GPUS) nodes_ = std::max<uint64_t>(nodes_, node);
  }
  conductor.attach_host(*this);
  SC_HAS_PROCESS(Host);
  SC_METHOD(go_on);
  sensitive << next_;
  dont_initialize();
  SC_METHOD(arbitrate);
  sensitive << arbitration_;
  dont_initialize();
}

Host::~Host() = default;

void Host::add_program(const std::string& name, HostCore::Program program,
                       const std::string& beside) {
  const auto other = std::find_if(cores_.begin(), cores_.end(),
                                  [&](const auto& core) { return core->basename() == beside; });
  if (other == cores_.end() && processors_.size() == spec_.cores) {
    throw UserError((node_ == kHostNode ? "host.cores (" : "smartnic.cores (") +
                    std::to_string(spec_.cores) +
                    ") is less than the host programs of this run, at least " +
                    std::to_string(processors_.size() + 1));
  }
  assert((beside.empty() || other != cores_.end()) && "names an earlier program");
  if (other == cores_.end()) processors_.push_back(std::make_unique<Processor>());
  Processor* const core = other == cores_.end() ? processors_.back().get() : (*other)->processor_;
  ++running_;
  cores_.push_back(
      std::make_unique<HostCore>(name.c_str(), *this, cores_.size(), std::move(program)));
  cores_.back()->processor_ = core;
}

std::string Host::digest_hex() {
  std::string all = digest_.hex();
  for (const auto& core : cores_) all += core->digest_.hex();
  if (copy_engine_.was_used()) all += copy_engine_.digest_hex();
  return sha256_hex(all.data(), all.size());
}

void Host::program_ended() {
  if (--running_ != 0) return;
  if (on_end_) {
    on_end_();
  } else {
    conductor_.finish(0);
  }
}

void Host::Link::announce(Time at, size_t program) {
  const std::pair write(at, program);
  announced.insert(std::upper_bound(announced.begin(), announced.end(), write), write);
}

Host::Link& Host::link_to(uint64_t address, uint64_t bytes) {
  const uint64_t node = address >> STRETTO_NODE_SHIFT;
  const bool inside = (address & STRETTO_OFFSET_MASK) + bytes <= STRETTO_OFFSET_MASK + uint64_t{1};
  if (node > 255 || routes_[node] == kNoLink || bytes == 0 || !inside) {
    throw UserError("host program: write of " + std::to_string(bytes) + " bytes to " +
                    hex(address) + ", which is in no GPU of this machine (nodes 1.." +
                    std::to_string(nodes_) + ")");
  }
  return *links_[routes_[node]];
}

// Room in the send buffer: what is not on the wire yet must fit into egress_bytes.
Time Host::room_at(const Link& link, uint64_t bytes) const {
  if (bytes > link.credits) return kNever;
  const Time backlog =
      Time{link.port.link.egress_bytes} * 1'000'000'000 / link.port.link.bandwidth_mb_s;
  return std::max(systemc_now(), link.wire.free_at() - std::min(link.wire.free_at(), backlog));
}

void Host::send(Link& link, Digest& digest, Packet&& packet) {
  const LinkSpec& pcie = link.port.link;
  const Time latency = (pcie.latency_ns + spec_.root_complex_ns) * kNanosecond;
  const uint64_t bytes = packet.data.size();
  const auto [begin, end] = link.wire.send(systemc_now(), packet);
  packet.source = node_;
  packet.destination = link.port.peer_node;
  packet.link = link.port.peer_port;
  packet.arrival = packet.tail = end + latency;
  if (link.port.to_switch()) packet.arrival = begin + latency;
  link.credits -= bytes;
  ++link.packets_sent;
  link.bytes_sent += bytes;
  if (packet.address >> STRETTO_NODE_SHIFT != kHostNode) bytes_to_devices_ += bytes;
  progress_ += bytes;
  digest.event(packet.tail, kEventWrite, packet.address, bytes);
  conductor_.post(std::move(packet));
}

// It leaves at the first edge of the root complex behind `since`, if it has room.
void Host::wait_turn(Link& link, Link::Leaving&& leaving) {
  const Time edge = edge_after(leaving.since);
  const auto behind = std::upper_bound(
      link.leaving.begin(), link.leaving.end(), leaving, [](const auto& a, const auto& b) {
        return a.since != b.since ? a.since < b.since : a.program < b.program;
      });
  link.leaving.insert(behind, std::move(leaving));
  arbitration_.notify(delay_of(edge - systemc_now()));
}

std::unique_ptr<LineMover> Host::make_mover(size_t turn, const LineMover::Shape& shape,
                                            Digest& digest) {
  const uint32_t number = static_cast<uint32_t>(movers_.size());
  auto mover = std::make_unique<LineMover>(*this, turn, number, shape, digest);
  movers_.push_back(mover.get());
  return mover;
}

void Host::write_word(uint64_t address, uint64_t value) {
  const uint64_t offset = address & STRETTO_OFFSET_MASK;
  memory_.write(offset, reinterpret_cast<const uint8_t*>(&value), 8);
  changed(offset, 8);
}

void Host::fail(const CheckError& error) { conductor_.fail(std::make_exception_ptr(error)); }

void Host::leave_in_turn(LineMover& mover, std::unique_ptr<Packet> packet) {
  Link& link = link_to(packet->address, packet->row_bytes);
  loads_sent_ += packet->is_read_request() ? 1 : 0;
  wait_turn(link, {systemc_now(), mover.turn(), nullptr, std::move(packet), &mover});
}

void Host::take_turn(Link& link, Link::Leaving&& first) {
  if (first.mover != nullptr) {
    const bool reads = first.own->is_read_request();
    const uint32_t bytes = first.own->row_bytes;
    send(link, first.mover->digest(), std::move(*first.own));
    if (!reads) first.mover->stored(bytes);
  } else if (first.program == Link::kAnswer) {
    ++(first.own->operation == Operation::atomic ? link.atomics_answered : link.reads_answered);
    send(link, digest_, std::move(*first.own));
  } else {
    HostCore& core = *cores_[first.program];
    send(link, core.digest_, std::move(*first.packet));
    core.granted_.notify(sc_core::SC_ZERO_TIME);
  }
}

// An edge of the root complex. What came at this very time waits for the next one: others of this
// time may still come.
void Host::arbitrate() {
  due();  // Credit of this time counts, in whatever order SystemC runs the two.
  const Time now = systemc_now();
  Time again = kNever;
  for (const auto& each : links_) {
    Link& link = *each;
    while (!link.leaving.empty() && link.leaving.front().since < now) {
      Link::Leaving& first = link.leaving.front();
      Packet& packet = first.what();
      const bool reads = packet.is_read_request();
      if (reads && link.tags_used == link.port.link.read_tags) {
        link.without_tag.push_back(std::move(first));
        link.leaving.pop_front();
        continue;
      }
      const Time at = room_at(link, packet.data.size());
      if (at > now) {
        if (at != kNever) again = std::min(again, edge_after(at - 1));
        break;
      }
      link.tags_used += reads ? 1 : 0;
      Link::Leaving sent = std::move(first);
      link.leaving.pop_front();
      take_turn(link, std::move(sent));
    }
    if (!link.leaving.empty() && link.leaving.front().since >= now)
      again = std::min(again, edge_after(link.leaving.front().since));
  }
  if (again != kNever) arbitration_.notify(delay_of(again - now));
}

Host::Link& Host::link_from(uint8_t node) {
  for (const auto& link : links_) {
    if (link->port.peer_node == node) return *link;
  }
  assert(false);
  return *links_[0];
}

void Host::deliver(Packet&& packet) {
  const Time now = systemc_now();
  assert(packet.arrival > now);
  if (packet.credit_bytes == 0) packet.arrival += spec_.root_complex_ns * kNanosecond;
  next_.notify(delay_of(packet.arrival - now));  // An earlier one that is pending stays.
  arriving_.push_back(std::move(packet));
  std::push_heap(arriving_.begin(), arriving_.end(), arrives_later);
}

void Host::due() {
  const Time now = systemc_now();
  while (!arriving_.empty() && arriving_.front().arrival <= now) {
    std::pop_heap(arriving_.begin(), arriving_.end(), arrives_later);
    Packet packet = std::move(arriving_.back());
    arriving_.pop_back();
    receive(std::move(packet));
  }
  if (!arriving_.empty()) next_.notify(delay_of(arriving_.front().arrival - now));
}

void Host::wake(HostCore& thread, Time at) {
  const Time now = systemc_now();
  if (at == now) {
    thread.woken_.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  wakes_.emplace(at, thread.index_);
  next_.notify(delay_of(at - now));  // An earlier one that is pending stays.
}

void Host::go_on() {
  due();
  const Time now = systemc_now();
  while (!wakes_.empty() && wakes_.begin()->first == now) {
    cores_[wakes_.begin()->second]->woken_.notify();  // At once: they run in this order.
    wakes_.erase(wakes_.begin());
  }
  if (!wakes_.empty()) next_.notify(delay_of(wakes_.begin()->first - now));
}

void Host::receive(Packet&& packet) {
  Link& link = link_from(packet.source);
  if (packet.credit_bytes != 0) {
    link.credits += packet.credit_bytes;
    link.credit_came.notify(sc_core::SC_ZERO_TIME);
    if (link.shared || !link.leaving.empty())
      arbitration_.notify(delay_of(edge_after(packet.arrival) - packet.arrival));
    return;
  }
  const uint64_t bytes = packet.data.size();
  link.wire.received(packet.arrival, packet);
  ++link.packets_received;
  link.bytes_received += bytes;
  if (packet.origin != kHostNode) bytes_from_devices_ += bytes;
  if (!packet.completion) progress_ += bytes;  // What a core has loaded is none: it may poll.
  digest_.event(packet.arrival, kEventReceived, packet.address, bytes << 8 | packet.origin);
  if (packet.is_read_request()) {
    serve_read(link, std::move(packet));
    return;
  }
  if (packet.is_atomic_request()) {
    return_credit(link, packet, bytes);
    serve_atomic(link, std::move(packet));
    return;
  }
  if (packet.completion) {
    answered(link, packet);
    if (bytes == 0) return;
  }
  for (uint32_t row = 0; row < packet.rows && !packet.completion; ++row) {
    const uint64_t offset = (packet.address + row * packet.pitch) & STRETTO_OFFSET_MASK;
    memory_.write(offset, packet.data.data() + uint64_t{row} * packet.row_bytes, packet.row_bytes);
    changed(offset, packet.row_bytes);
  }
  return_credit(link, packet, bytes);
}

// What a core, or a mover, has read.
void Host::answered(Link& link, Packet& packet) {
  ++loads_answered_;
  if (link.shared) {
    --link.tags_used;
    if (!link.without_tag.empty()) {
      Link::Leaving next = std::move(link.without_tag.front());
      link.without_tag.pop_front();
      next.since = systemc_now();
      wait_turn(link, std::move(next));
    }
  }
  if ((packet.tag & LineMover::kTag) != 0) {
    movers_[packet.tag & ~LineMover::kTag]->answered(std::move(packet));
    return;
  }
  HostCore& core = *cores_[packet.tag];
  core.load_failed_ = packet.failed;
  std::copy(packet.data.begin(), packet.data.end(), reinterpret_cast<uint8_t*>(core.loads_));
  core.loads_ = nullptr;
  core.loaded_.notify(sc_core::SC_ZERO_TIME);
}

void Host::changed(uint64_t offset, uint64_t bytes) {
  for (const auto& core : cores_) {
    const auto is_changed = [&](const HostCore::Word& one) {
      const uint64_t word = one.address & STRETTO_OFFSET_MASK;
      return word < offset + bytes && offset < word + 8;
    };
    if (std::any_of(core->waits_for_.begin(), core->waits_for_.end(), is_changed))
      core->changed_.notify(sc_core::SC_ZERO_TIME);
  }
  for (HostMemoryWatcher* const watcher : watchers_) watcher->on_host_write(offset, bytes);
}

// Account

void Host::report(StatisticSink& sink) const {
  sink.add("writes", writes_, "count", "Posted writes of host programs.");
  sink.add("stores", stores_, "count", "Stores of host programs to host memory.");
  sink.add("loads", loads_sent_, "count", "Reads over PCIe by cores of the host.");
  uint64_t moved = 0;
  for (const auto& core : cores_) moved += core->mover_ == nullptr ? 0 : core->mover_->moved();
  sink.add("moved_bytes", moved, "bytes",
           "Device memory that cores have loaded, and stored to a device.");
  sink.add("moving", moving_, "fs", "Time in which cores loaded and stored device memory.");
  copy_engine_.report(sink);
  sink.add("polls", polls_, "count", "Polls of words of host memory.");
  sink.add("charged", charged_, "fs", "CPU time of host programs.");
  sink.add("waited", waited_, "fs", "Time in which host programs polled.");
  sink.add("blocked", blocked_, "fs",
           "Time in which host programs waited for PCIe to take a write.");
  sink.add("mutexes_handed_on", handed_on_, "count",
           "Mutexes that went to a thread that slept for them.");
  sink.add("switches", switches_, "count", "Cores that went from one thread to another.");
  for (size_t i = 0; i < links_.size(); ++i) {
    const Link& link = *links_[i];
    const std::string prefix = "pcie" + std::to_string(i) + ".";
    sink.add(prefix + "packets_sent", link.packets_sent, "count", "Packets to the device.");
    sink.add(prefix + "bytes_sent", link.bytes_sent, "bytes", "Payload to the device.");
    sink.add(prefix + "packets_received", link.packets_received, "count",
             "Packets from the device.");
    sink.add(prefix + "bytes_received", link.bytes_received, "bytes", "Payload from the device.");
    sink.add(prefix + "reads_received", link.reads_received, "count",
             "Reads of host memory by the device.");
    if (link.atomics_received != 0)
      sink.add(prefix + "atomics_received", link.atomics_received, "count",
               "Atomics on host memory by the device.");
    link.wire.report(sink, prefix);
  }
}

void Host::audit(AuditSink& sink) const {
  sink.equal("reads sent = answered", loads_sent_, loads_answered_);
  for (const LineMover* const mover : movers_) mover->audit(sink);
  copy_engine_.audit(sink);
  for (const auto& link : links_) {
    sink.equal("credits all home", link->credits, link->port.link.credit_bytes);
    sink.equal("tags all home", 0, link->tags_used + link->without_tag.size());
    sink.equal("reads received = answered", link->reads_received, link->reads_answered);
    sink.equal("atomics received = answered", link->atomics_received, link->atomics_answered);
    sink.equal("atomics received = executed", link->atomics_received, link->atomics_performed);
    link->wire.audit(sink);
  }
}

std::vector<std::string> Host::waiting_on() const {
  std::vector<std::string> lines;
  for (const auto& link : links_) {
    if (link->atomics_received != link->atomics_answered)
      lines.push_back(std::to_string(link->atomics_received - link->atomics_answered) +
                      " atomics on host memory by node " + std::to_string(link->port.peer_node) +
                      " have no answer");
    if (link->reads_received != link->reads_answered)
      lines.push_back(std::to_string(link->reads_received - link->reads_answered) +
                      " reads of host memory by node " + std::to_string(link->port.peer_node) +
                      " have no answer");
  }
  for (const auto& core : cores_) {
    std::string line = core->waiting_on();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  for (std::string& line : copy_engine_.waiting_on()) lines.push_back(std::move(line));
  return lines;
}

void audit_pcie(const Host& host, const std::vector<const Router*>& routers, AuditSink& sink) {
  for (size_t i = 0; i < host.links(); ++i) {
    if (host.link(i).to_switch()) continue;
    const unsigned gpu = host.link(i).peer_node - 1u;
    const Router& router = *routers[gpu];
    const LinkPort::Counters& port = router.port(router.ports() - 1).counters();
    sink.set_where("pcie" + std::to_string(gpu));
    sink.equal("link bytes sent = received", host.bytes_sent(i), port.bytes_received);
    sink.equal("link bytes sent = received", port.bytes_sent, host.bytes_received(i));
  }
}

void audit_pcie(const Host& host, const Switch& crossbar, AuditSink& sink) {
  for (size_t i = 0; i < host.links(); ++i) {
    if (!host.link(i).to_switch()) continue;
    const Switch::Counters& other = crossbar.counters(host.link(i).peer_port);
    sink.set_where(host.basename() + (".pcie" + std::to_string(i)));
    sink.equal("link bytes sent = received", host.bytes_sent(i), other.bytes_in);
    sink.equal("link bytes sent = received", other.bytes_out, host.bytes_received(i));
  }
}

}  // namespace stretto
