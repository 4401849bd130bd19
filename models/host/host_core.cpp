// SPDX-License-Identifier: Apache-2.0
// A program of the host on its core: what it calls, and threads that share cores and mutexes.
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

constexpr uint64_t kPacketBytes = 4'096;  // Largest payload of a PCIe write.
constexpr uint32_t kWriteUnit = 64;       // What write_ns pays for, a line.
constexpr size_t kStackBytes = 8 << 20;   // As Linux gives a program; pages are taken when touched.

}  // namespace

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
      wait(woken_);
    }
    scheduled_at_ = now();
    program_(*this);
    trace_wait(nullptr, now());
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

void HostCore::trace_wait(const char* what, Time begin) {
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
  if (time > 0) wait_until(systemc_now() + time);
}

void HostCore::wait_until(Time at) {
  host_.wake(*this, at);
  wait(woken_);
}

void HostCore::wait_until(Time at, const sc_core::sc_event& event) {
  host_.wake(*this, at);
  wait(woken_ | event);
  host_.wakes_.erase({at, index_});
}

void HostCore::block() {
  host_.leave(*this);
  wait(woken_);
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
  trace_wait("waits for its core", begin);
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
  pass(time);
  spent(time, progress);
}

void HostCore::spent(Time time, uint64_t progress) {
  if (progress != progress_) computed_ = calls_ = 0;
  computed_ += time;
  progress_ = progress;
  constexpr uint64_t kLoop = 1000;  // Of fewer, long ones, some are sleeps.
  if (++calls_ >= kLoop) host_.conductor_.spent_without_progress(computed_);
}

// It goes on at once, so it can poll for ever; while anybody else has something to do, that may be
// what it polls for.
void HostCore::met_at_once(std::span<const Word> words, size_t met) {
  polled_ = words[met].address;
  if (host_.conductor_.is_at_rest())
    spent(host_.spec_.poll_ns * kNanosecond, host_.conductor_.progress());
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
  if (met != words.size()) met_at_once(words, met);
  const bool ends = until != kNever;
  host_.conductor_.waits_for_time(ends ? 1 : 0);
  Time first = start;  // Of polls one after the other.
  while (met == words.size() && systemc_now() < until) {
    if (give_way()) {
      first = systemc_now();
      wait_until(first + poll);
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
        wait_until(systemc_now() + most, changed_);
      }
      waits_for_ = {};
      const Time since = systemc_now() - first;
      const Time next = (since + poll - 1) / poll * poll - since;
      if (next > 0) wait_until(systemc_now() + next);
    }
    met = first_met(words);
  }
  host_.conductor_.waits_for_time(ends ? -1 : 0);
  trace_wait("waits for the machine", start);
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
        wait_until(at);
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
  trace_wait("moves lines", begin);
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
    wake(thread, systemc_now() + wake_ns * kNanosecond);
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
  wake(*core.runs, systemc_now() + spec_.switch_ns * kNanosecond);
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
         " ns of its time without a byte moved" +
         (polled_ == 0 ? "" : "; it polls words, the one at " + hex(polled_) + " last");
}

}  // namespace stretto
