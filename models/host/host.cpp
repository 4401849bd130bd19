// SPDX-License-Identifier: Apache-2.0
#include "models/host/host.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>

#include "models/common/payload_pool.h"
#include "sw/include/formats/address_map.h"

namespace stretto {
namespace {

constexpr uint64_t kPacketBytes = 4'096;  // Largest payload of a PCIe write.
constexpr uint32_t kWriteUnit = 64;       // What write_ns pays for, a line.
constexpr size_t kStackBytes = 8 << 20;   // As Linux gives a program; pages are taken when touched.
constexpr uint8_t kNoLink = 0xFF;
constexpr uint32_t kEventWrite = 1;  // Digest kinds.
constexpr uint32_t kEventReceived = 2;

// The next edge of the root complex, strictly after `at`.
Time edge_after(Time at) { return (at / kNanosecond + 1) * kNanosecond; }

Time systemc_now() { return sc_core::sc_time_stamp().value(); }

bool later(const Packet& a, const Packet& b) {
  if (a.arrival != b.arrival) return a.arrival > b.arrival;
  if (a.source != b.source) return a.source > b.source;
  return a.sequence > b.sequence;
}

}  // namespace

// HostCore

HostCore::HostCore(sc_core::sc_module_name name, Host& host, size_t index, Program program)
    : sc_module(name), host_(host), index_(index), program_(std::move(program)) {
  SC_HAS_PROCESS(HostCore);
  SC_THREAD(main);
  set_stack_size(kStackBytes);
}

void HostCore::main() {
  try {
    if (processor_->runs == nullptr) {
      processor_->runs = this;
    } else {
      processor_->ready.push_back(this);
      wait(scheduled_);
    }
    scheduled_at_ = now();
    program_(*this);
    trace(nullptr, now());
    done_ = true;
    host_.leave(*this);
    host_.program_ended();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;  // SystemC's own way to end a thread.
  } catch (...) {
    done_ = true;
    host_.conductor_.fail(std::current_exception());
  }
}

Time HostCore::now() const { return systemc_now(); }

void HostCore::trace(const char* what, Time begin) {
  if (host_.trace_ == nullptr) return;
  const std::string track = host_.basename() + ("/" + std::string(basename()));
  if (begin > traced_at_) host_.trace_->span(track, "runs", traced_at_, begin);
  traced_at_ = now();
  if (what != nullptr && traced_at_ > begin) host_.trace_->span(track, what, begin, traced_at_);
}

void HostCore::code_loaded(uint64_t base, const void* elf, uint64_t bytes) {
  if (host_.on_code_) host_.on_code_(base, elf, bytes);
}

void HostCore::pass(Time time) {
  give_way();
  if (time > 0) wait(delay_of(time));
}

void HostCore::block() {
  host_.leave(*this);
  wait(scheduled_);
  scheduled_at_ = systemc_now();
  processor_->preempts = false;  // Who got ready meanwhile waits for its turn.
}

bool HostCore::give_way() {
  Processor& core = *processor_;
  if (core.ready.empty()) return false;
  const bool over = systemc_now() - scheduled_at_ >= host_.spec_.slice_ns * kNanosecond;
  if (!core.preempts && !over) return false;
  core.ready.push_back(this);
  ready_ = true;
  const Time begin = systemc_now();
  block();
  ready_ = false;
  trace("waits for its core", begin);
  return true;
}

void HostCore::charge_ns(uint64_t nanoseconds) {
  constexpr uint64_t kLong = 10'000;  // Who polls asks more often.
  const int change = nanoseconds >= kLong ? 1 : 0;
  host_.conductor_.computes(change);
  charge(nanoseconds * kNanosecond);
  host_.conductor_.computes(-change);
}

void HostCore::charge(Time time) {
  host_.charged_ += time;
  const uint64_t progress = host_.conductor_.progress();
  if (progress != progress_) computed_ = calls_ = 0;
  computed_ += time;
  progress_ = progress;
  pass(time);
  constexpr uint64_t kLoop = 1000;  // Of fewer, long ones, some are sleeps.
  if (++calls_ >= kLoop) host_.conductor_.spent_without_progress(computed_);
}

void HostCore::store(uint64_t address, uint64_t value) {
  assert(address >> STRETTO_NODE_SHIFT == host_.node_);
  const uint64_t offset = address & STRETTO_OFFSET_MASK;
  ++host_.stores_;
  charge_ns(host_.spec_.store_ns);
  host_.memory_.write(offset, reinterpret_cast<const uint8_t*>(&value), 8);
  host_.changed(offset, 8);
}

void HostCore::store_bytes(uint64_t address, const void* data, uint64_t bytes) {
  assert(address >> STRETTO_NODE_SHIFT == host_.node_);
  const uint64_t offset = address & STRETTO_OFFSET_MASK;
  ++host_.stores_;
  charge_ns(host_.spec_.write_ns * ((bytes + kWriteUnit - 1) / kWriteUnit));
  host_.memory_.write(offset, static_cast<const uint8_t*>(data), bytes);
  host_.changed(offset, bytes);
}

uint64_t HostCore::load(uint64_t address) {
  assert(address >> STRETTO_NODE_SHIFT == host_.node_);
  uint64_t value = 0;
  host_.memory_.read(address & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&value), 8);
  return value;
}

void HostCore::read(uint64_t address, void* data, uint64_t bytes) {
  assert(address >> STRETTO_NODE_SHIFT == host_.node_);
  charge_ns(host_.spec_.write_ns * ((bytes + kWriteUnit - 1) / kWriteUnit));
  host_.memory_.read(address & STRETTO_OFFSET_MASK, static_cast<uint8_t*>(data), bytes);
}

uint64_t HostCore::wait_word(uint64_t address, Condition condition, uint64_t value) {
  const Word word{address, condition, value};
  wait_any({&word, 1}, kNever);
  return load(address);
}

size_t HostCore::first_met(std::span<const Word> words) {
  const auto is_met = [this](const Word& one) {
    const uint64_t word = load(one.address);
    return one.condition == Condition::not_equal ? word != one.value : word >= one.value;
  };
  return static_cast<size_t>(std::find_if(words.begin(), words.end(), is_met) - words.begin());
}

size_t HostCore::wait_any(std::span<const Word> words, Time until) {
  assert(!words.empty() || until != kNever);
  const Time poll = host_.spec_.poll_ns * kNanosecond;
  const Time start = systemc_now();
  pass(poll);
  size_t met = first_met(words);
  Time first = start;  // Of polls one after the other.
  while (met == words.size() && systemc_now() < until) {
    if (give_way()) {
      first = systemc_now();
      wait(delay_of(poll));
    } else {
      waits_for_ = words;
      waits_since_ = start;
      Time most = until == kNever ? kNever : until - systemc_now();
      if (!processor_->ready.empty()) {
        const Time slice = host_.spec_.slice_ns * kNanosecond;
        most = std::min(most, slice - (systemc_now() - scheduled_at_));
      }
      if (most == kNever) {
        wait(changed_);
      } else {
        wait(delay_of(most), changed_);
      }
      waits_for_ = {};
      const Time since = systemc_now() - first;
      const Time next = (since + poll - 1) / poll * poll - since;
      if (next > 0) wait(delay_of(next));
    }
    met = first_met(words);
  }
  trace("waits for the machine", start);
  host_.polls_ += (systemc_now() - start) / poll;
  host_.waited_ += systemc_now() - start;
  return met;
}

void HostCore::write(uint64_t address, const void* data, uint64_t bytes) {
  Host::Link& link = host_.link_to(address, bytes);
  const uint8_t* source = static_cast<const uint8_t*>(data);
  ++host_.writes_;
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t piece = std::min(kPacketBytes, bytes - done);
    const uint64_t cpu_ns = host_.spec_.write_ns * ((piece + kWriteUnit - 1) / kWriteUnit);
    if (!link.shared) {
      give_way();
      link.announce(systemc_now() + cpu_ns * kNanosecond, index_);
    }
    charge_ns(cpu_ns);
    Packet packet;
    packet.address = address + done;
    packet.row_bytes = static_cast<uint32_t>(piece);
    packet.data.assign(source + done, source + done + piece);
    leave(std::move(packet));
    done += piece;
  }
}

void HostCore::leave(Packet&& packet) {
  Host::Link& link = host_.link_to(packet.address, packet.row_bytes);
  const uint64_t bytes = packet.data.size();
  const Time before = systemc_now();
  blocked_on_pcie_ = true;
  if (link.shared) {
    host_.wait_turn(link, {before, index_, &packet, nullptr});
    wait(granted_);
  } else {
    while (link.announced.front().second != index_) wait(granted_);
    for (Time at = host_.room_at(link, bytes); at > systemc_now();
         at = host_.room_at(link, bytes)) {
      if (at == kNever) {
        wait(link.credit_came);
      } else {
        wait(delay_of(at - systemc_now()));
      }
    }
    host_.send(link, digest_, std::move(packet));
    link.announced.pop_front();
    if (!link.announced.empty())
      host_.cores_[link.announced.front().second]->granted_.notify(sc_core::SC_ZERO_TIME);
  }
  blocked_on_pcie_ = false;
  host_.blocked_ += systemc_now() - before;
}

uint64_t HostCore::load_device(uint64_t address, unsigned bytes) {
  Host::Link& link = host_.link_to(address, bytes);
  if (!link.shared) link.announce(systemc_now(), index_);
  Packet packet;
  packet.operation = Operation::read;
  packet.address = address;
  packet.row_bytes = bytes;
  packet.tag = static_cast<uint32_t>(index_);
  uint64_t value = 0;
  loads_ = &value;
  ++host_.loads_sent_;
  leave(std::move(packet));
  if (loads_ != nullptr) wait(loaded_);
  if (load_failed_)
    throw CheckError(std::string(basename()) + ": load of " + std::to_string(bytes) + " bytes at " +
                     hex(address) + ", where no memory is");
  return value;
}

void HostCore::check_shared(uint64_t address, uint64_t bytes) const {
  if (host_.link_to(address, bytes).shared) return;
  throw UserError("host program: a copy of " + std::to_string(bytes) + " bytes at " + hex(address) +
                  " over PCIe, but the host has a link of its own to that GPU");
}

void HostCore::start_copy(uint64_t to, uint64_t from, uint64_t bytes, uint64_t signal,
                          uint64_t value) {
  check_shared(to, bytes);
  check_shared(from, bytes);
  assert(signal >> STRETTO_NODE_SHIFT == host_.node_);
  charge_ns(2 * host_.spec_.write_ns);
  host_.copy_engine_.submit({to, from, bytes, signal, value, index_});
}

void HostCore::move(uint64_t to, uint64_t from, uint64_t bytes) {
  check_shared(to, bytes);
  check_shared(from, bytes);
  give_way();
  if (mover_ == nullptr)
    mover_ = host_.make_mover(index_, {host_.spec_.fill_buffers, kWriteUnit}, digest_);
  const Time begin = systemc_now();
  mover_->begin(to, from, bytes);
  while (!mover_->is_idle()) wait(mover_->ended());
  if (mover_->has_failed())
    throw CheckError(std::string(basename()) + ": copy of " + std::to_string(bytes) +
                     " bytes from " + hex(from) + ", where no memory is");
  host_.moving_ += systemc_now() - begin;
  trace("moves lines", begin);
}

void HostCore::peek(uint64_t address, void* data, uint64_t bytes) {
  assert(address >> STRETTO_NODE_SHIFT == host_.node_);
  host_.due();
  host_.memory_.read(address & STRETTO_OFFSET_MASK, static_cast<uint8_t*>(data), bytes);
}

void HostCore::poke(uint64_t address, const void* data, uint64_t bytes) {
  assert(address >> STRETTO_NODE_SHIFT == host_.node_);
  const uint64_t offset = address & STRETTO_OFFSET_MASK;
  host_.memory_.write(offset, static_cast<const uint8_t*>(data), bytes);
  host_.changed(offset, bytes);
}

Time HostCore::unchanged_until() const {
  const Time known = systemc_now() + host_.conductor_.lookahead();
  return host_.arriving_.empty() ? known : std::min(known, host_.arriving_.front().arrival);
}

void HostCore::write_from(uint64_t address, uint64_t host_address, uint64_t bytes) {
  assert(host_address >> STRETTO_NODE_SHIFT == host_.node_);
  std::vector<uint8_t> data(bytes);
  host_.memory_.read(host_address & STRETTO_OFFSET_MASK, data.data(), bytes);
  write(address, data.data(), bytes);
}

// Threads that ask at one time do so in SystemC's order of processes; programs for which that
// matters are wrong on a real machine, too.
void HostCore::lock(uint64_t mutex) {
  charge_ns(host_.spec_.lock_ns);
  Host::Mutex& which = host_.mutexes_[mutex];
  if (which.owner == nullptr) {
    which.owner = this;
    return;
  }
  which.waiting.push_back(this);
  mutex_ = mutex;
  mutex_wait_ = "waits for mutex ";
  block();
  mutex_wait_ = nullptr;
}

void HostCore::unlock(uint64_t mutex) {
  charge_ns(host_.spec_.lock_ns);
  Host::Mutex& which = host_.mutexes_[mutex];
  if (which.owner != this)
    throw CheckError(std::string(basename()) + " unlocks mutex " + std::to_string(mutex) +
                     ", which it does not hold");
  host_.hand_on(which);
  give_way();
}

void HostCore::sleep(uint64_t mutex) {
  charge_ns(host_.spec_.lock_ns);
  Host::Mutex& which = host_.mutexes_[mutex];
  if (which.owner != this)
    throw CheckError(std::string(basename()) + " sleeps on mutex " + std::to_string(mutex) +
                     ", which it does not hold");
  which.sleeping.push_back(this);
  host_.hand_on(which);
  mutex_ = mutex;
  mutex_wait_ = "waits for a notification on mutex ";
  block();
  mutex_wait_ = nullptr;
}

void HostCore::notify(uint64_t mutex) {
  charge_ns(host_.spec_.lock_ns);
  Host::Mutex& which = host_.mutexes_[mutex];
  if (which.sleeping.empty()) return;
  HostCore* const core = which.sleeping.front();
  which.sleeping.pop_front();
  which.waiting.push_back(core);
  core->mutex_wait_ = "waits for mutex ";
  if (which.owner == nullptr) host_.hand_on(which);
}

void Host::hand_on(Mutex& mutex) {
  mutex.owner = nullptr;
  if (mutex.waiting.empty()) return;
  mutex.owner = mutex.waiting.front();
  mutex.waiting.pop_front();
  ++handed_on_;
  make_ready(*mutex.owner);
}

void Host::make_ready(HostCore& thread) {
  Processor& core = *thread.processor_;
  if (core.runs == nullptr) {
    core.runs = &thread;
    const bool idles = systemc_now() - core.idle_since >= spec_.idle_after_ns * kNanosecond;
    const uint64_t wake_ns = uint64_t{spec_.wake_ns} + (idles ? spec_.idle_exit_ns : 0);
    thread.scheduled_.notify(delay_of(wake_ns * kNanosecond));
    return;
  }
  core.ready.push_back(&thread);
  core.preempts = true;
  if (!core.runs->waits_for_.empty()) core.runs->changed_.notify(sc_core::SC_ZERO_TIME);
}

void Host::leave(HostCore& thread) {
  Processor& core = *thread.processor_;
  assert(core.runs == &thread);
  core.runs = nullptr;
  core.preempts = false;
  core.idle_since = systemc_now();
  if (core.ready.empty()) return;
  core.runs = core.ready.front();
  core.ready.pop_front();
  ++switches_;
  core.runs->scheduled_.notify(delay_of(spec_.switch_ns * kNanosecond));
}

std::string HostCore::waiting_on() const {
  if (done_) return "";
  if (ready_) return std::string(basename()) + " waits for its core";
  if (mutex_wait_ != nullptr)
    return std::string(basename()) + " " + mutex_wait_ + std::to_string(mutex_);
  if (!waits_for_.empty()) {
    const uint64_t address = waits_for_.front().address;
    uint64_t word = 0;
    host_.memory_.read(address & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&word), 8);
    const size_t more = waits_for_.size() - 1;
    return std::string(basename()) + " waits for the word at " + hex(address) + " (now " +
           hex(word) + ")" + (more == 0 ? "" : " or one of " + std::to_string(more) + " more") +
           " since " + std::to_string(waits_since_ / kNanosecond) + " ns";
  }
  if (mover_ != nullptr && !mover_->is_idle())
    return std::string(basename()) + " " + mover_->waiting_on();
  if (loads_ != nullptr && !blocked_on_pcie_)
    return std::string(basename()) + " waits for the answer to a read over PCIe";
  if (blocked_on_pcie_) return std::string(basename()) + " waits for credit of PCIe";
  return std::string(basename()) + " computes, since " + std::to_string(computed_ / kNanosecond) +
         " ns of its time without a byte moved";
}

// Host

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
  SC_METHOD(due);
  sensitive << arrival_;
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
  arrival_.notify(delay_of(packet.arrival - now));  // An earlier one that is pending stays.
  arriving_.push_back(std::move(packet));
  std::push_heap(arriving_.begin(), arriving_.end(), later);
}

void Host::due() {
  const Time now = systemc_now();
  while (!arriving_.empty() && arriving_.front().arrival <= now) {
    std::pop_heap(arriving_.begin(), arriving_.end(), later);
    Packet packet = std::move(arriving_.back());
    arriving_.pop_back();
    receive(std::move(packet));
  }
  if (!arriving_.empty()) arrival_.notify(delay_of(arriving_.front().arrival - now));
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
    return_credit(link, packet);
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
  return_credit(link, packet);
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
