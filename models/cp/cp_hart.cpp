// SPDX-License-Identifier: Apache-2.0
// Life of a hart: run, access, wait.
#include "models/cp/cp_hart.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <iostream>

#include "models/common/error.h"
#include "models/common/hex.h"

namespace stretto {

using riscv::AmoOp;
using riscv::StopReason;
using Kind = riscv::PendingAccess::Kind;

namespace {

// Kinds of digest events.
constexpr uint32_t kDigestBusRead = 0x4350'0001;
constexpr uint32_t kDigestBusWrite = 0x4350'0002;
constexpr uint32_t kDigestAtomic = 0x4350'0003;
constexpr uint32_t kDigestWait = 0x4350'0004;

uint64_t quantum_in_cycles(const CpSpec& spec) {
  return std::max<uint64_t>(1, uint64_t{spec.quantum_ns} * spec.mhz / 1000);
}

}  // namespace

CpHart::CpHart(unsigned hart, const CpSpec& spec, const Shared& shared, HartOwner& owner)
    : id_(hart),
      shared_(shared),
      owner_(owner),
      clock_(spec.mhz),
      quantum_cycles_(quantum_in_cycles(spec)),
      port_(
          {hart, shared.services->gpu, shared.sram, shared.reservations, shared.memory,
           [this] { return owner_.mtime(local_time()); },
           [this](riscv::Cause cause, uint64_t value, uint64_t pc) { on_trap(cause, value, pc); }},
          spec),
      core_(port_, *shared.code, hart),
      slots_(spec.max_outstanding) {}

void CpHart::start(uint64_t entry) {
  core_.reset(entry);
  wake();
}

// It has slept until now.
void CpHart::wake() {
  const uint64_t cycle =
      std::max(core_.cycles(), clock_.cycle_from(shared_.services->queue->now()));
  wfi_cycles_ += cycle - core_.cycles();
  core_.add_cycles(cycle - core_.cycles());
  state_ = State::running;
  awake_since_ = local_time();
  owner_.schedule(awake_since_, id_, kRun);
}

void CpHart::on_event(uint64_t what) {
  if (state_ == State::halted) return;
  switch (what & 0xFF) {
    case kRun: run(); break;
    case kAccess: begin_access(); break;
    default: on_answer(static_cast<unsigned>(what >> 8)); break;
  }
}

// Run

void CpHart::run() {
  assert(state_ == State::running);
  const uint64_t start = core_.cycles();
  uint64_t steps = quantum_cycles_;
  // Approaches the timer in ever smaller runs, since an instruction may take several cycles.
  if (timer_cycle_ > start) steps = std::min(steps, (timer_cycle_ - start - 1) / 4 + 1);
  StopReason reason = StopReason::kBudget;
  busy([&] { reason = core_.run(steps); });
  switch (reason) {
    case StopReason::kYield:
      check_tohost();
      if (state_ == State::halted) return;
      [[fallthrough]];
    case StopReason::kBudget: owner_.schedule(local_time(), id_, kRun); break;
    case StopReason::kWfi:
      state_ = State::wfi;
      if (shared_.services->digest != nullptr) {
        shared_.services->digest->event(local_time(), kDigestWait, id_, core_.pc());
      }
      if (shared_.services->trace != nullptr) {
        shared_.services->trace->span(
            "gpu" + std::to_string(shared_.services->gpu) + "/cp/hart" + std::to_string(id_), "run",
            awake_since_, local_time());
      }
      break;
    case StopReason::kPending:
      state_ = State::access;
      owner_.schedule(local_time(), id_, kAccess);
      break;
    default:
      assert(false && "a machine-mode hart without custom instructions does not stop for this");
  }
}

void CpHart::check_tohost() {
  const uint64_t value = tohost_ == HartPort::kNoAddress ? 0 : port_.sram_word(tohost_);
  if (value != 0) owner_.on_tohost(id_, value);
}

void CpHart::set_interrupt(unsigned number, bool level) {
  core_.set_interrupt(number, level);
  if (state_ == State::wfi && core_.csrs().interrupt_pending()) wake();
}

void CpHart::on_trap(riscv::Cause cause, uint64_t value, uint64_t pc) {
  const uint64_t base = core_.csrs().mtvec & ~uint64_t{3};
  const bool no_handler = base == 0;
  if (!no_handler && pc != base) return;
  throw CheckError(
      "gpu" + std::to_string(shared_.services->gpu) + " cp hart " + std::to_string(id_) + ": " +
      riscv::cause_name(cause) + " (mtval " + hex(value) + ") at pc " + hex(pc) + " <" +
      owner_.symbolize(pc) + ">, " +
      (no_handler ? "and no trap handler is set (mtvec = 0)"
                  : "the first instruction of the trap handler; the trap before was at mepc " +
                        hex(core_.csrs().mepc) + " <" + owner_.symbolize(core_.csrs().mepc) + ">"));
}

// Access

void CpHart::begin_access() {
  assert(state_ == State::access);
  failed_ = false;
  waits_ = forwarded_ = false;
  const HartPort::Request& request = port_.request();
  const bool behind = request.kind == Kind::kStore && port_.buffer().holds_devices();
  if (request.region == Region::bus && !behind) {
    access_bus();
    return;
  }
  state_ = State::memory;
  steps_.clear();
  step_ = 0;
  plan_access();
  next_step();
}

void CpHart::access_bus() {
  const HartPort::Request& request = port_.request();
  const bool write = request.kind == Kind::kStore;
  uint8_t data[8] = {};
  std::memcpy(data, &request.value, sizeof data);
  Time delay = 0;
  const Time now = shared_.services->queue->now();
  failed_ = !owner_.bus_access(write, request.address, data, request.bytes, delay);
  if (state_ == State::halted) return;
  std::memcpy(&result_, data, sizeof result_);
  ++(write ? bus_writes_ : bus_reads_);
  if (shared_.services->digest != nullptr) {
    shared_.services->digest->event(now, write ? kDigestBusWrite : kDigestBusRead,
                                    request.address | uint64_t{id_} << 56, result_);
  }
  finish_access(now + delay);
}

void CpHart::plan_access() {
  const HartPort::Request& request = port_.request();
  const bool buffers = port_.buffer().exists();
  if (request.region == Region::bus) {  // Behind what a release has sent.
    steps_ = {Step::bus_write};
    return;
  }
  if (request.region == Region::remote) {
    steps_ = {buffers ? Step::buffer_store : Step::remote_write};
    return;
  }
  switch (request.kind) {
    case Kind::kLoad:
    case Kind::kStore:
      if (buffers && request.kind == Kind::kStore) {
        steps_ = {Step::buffer_store};
        break;
      }
      if (buffers && request.kind == Kind::kLoad) {
        result_ = 0;
        forwarded_ = port_.buffer().forward(line(), request.address % L1Cache::kLineBytes,
                                            request.bytes, &result_, false);
        if (forwarded_) break;
      }
      ++misses_;
      if (buffers) steps_.push_back(Step::drain_line);
      steps_.push_back(Step::fill);
      break;
    case Kind::kFetch: steps_ = {Step::fetch}; break;
    case Kind::kFence:
      steps_ = {Step::write_back_all};
      if ((request.fence.successor & 2) != 0) {
        steps_.push_back(Step::drop_all);
        // Loads behind it come behind stores before it.
        if ((request.fence.predecessor & 1) != 0) steps_.push_back(Step::drain_all);
      }
      break;
    default: plan_amo(); break;
  }
}

// Atomics bypass the L1: what it holds of the line goes to memory first.
void CpHart::plan_amo() {
  const riscv::AmoRequest& amo = port_.request().amo;
  ++atomics_;
  if (amo.op == AmoOp::kStoreConditional && !(reserved_ && reserved_address_ == amo.addr)) {
    reserved_ = false;
    result_ = 1;
    return;
  }
  steps_ = {amo.release ? Step::write_back_all : Step::write_back_line, Step::drop_line,
            Step::drain_all};
  if (amo.op == AmoOp::kLoadReserved) {
    steps_.push_back(Step::read);
  } else {
    steps_.push_back(Step::locked_read);
    steps_.push_back(Step::unlocking_write);
  }
  if (amo.acquire) {
    steps_.push_back(Step::write_back_all);
    steps_.push_back(Step::drop_all);
  }
}

void CpHart::next_step() {
  while (step_ < steps_.size() && !failed_) {
    waits_ = !may_begin(steps_[step_]);
    if (waits_) return;
    if (steps_[step_] == Step::bus_write) return access_bus();
    do_step(steps_[step_++]);
    pump();
    if (outstanding_ > 0 || !queue_.empty()) return;
  }
  finish_access(shared_.services->queue->now());
}

void CpHart::do_step(Step step) {
  const HartPort::Request& request = port_.request();
  L1Cache& cache = port_.cache();
  const uint32_t held = cache.find(line());
  switch (step) {
    case Step::write_back_all:
      for (uint32_t slot = 0; slot < cache.slots(); ++slot)
        if (request.fences_private || !port_.is_private(cache.line_of(slot)))
          queue_write_back(slot);
      port_.buffer().close(request.fences_private);
      if (request.kind != Kind::kFence || (request.fence.predecessor & 1) != 0)
        port_.buffer().release();
      pump_buffer();
      break;
    case Step::write_back_line:
      if (held != L1Cache::kMiss) queue_write_back(held);
      break;
    case Step::drop_all: port_.drop_lines(request.fences_private); break;
    case Step::drop_line:
      if (held != L1Cache::kMiss) cache.drop(held);
      break;
    case Step::fill: {
      const uint32_t slot = cache.victim(line());
      queue_write_back(slot);
      cache.drop(slot);
      enqueue(Operation::read, line() << L1Cache::kLineShift, L1Cache::kLineBytes);
      break;
    }
    case Step::fetch: queue_fetches(); break;
    case Step::read: enqueue(Operation::read, request.address, request.bytes); break;
    case Step::locked_read: enqueue(Operation::locked_read, request.address, request.bytes); break;
    case Step::unlocking_write: {
      // The store-conditional succeeds if memory still holds what its load-reserved read.
      if (request.amo.op == AmoOp::kStoreConditional) {
        const bool success = result_ == reserved_value_;
        stored_ = success ? request.amo.operand : result_;
        result_ = success ? 0 : 1;
        reserved_ = false;
      } else {
        stored_ = riscv::apply_amo(request.amo.op, request.bytes, result_, request.amo.operand);
      }
      enqueue(Operation::unlocking_write, request.address, request.bytes, &stored_);
      break;
    }
    case Step::remote_write:
      enqueue(Operation::write, request.address, request.bytes, &request.value);
      break;
    case Step::buffer_store: buffer_store(); break;
    case Step::drain_line:
    case Step::drain_all:
    case Step::bus_write: break;
  }
}

// The access is over at `at`, well or not: the instruction retires or traps, and the hart runs on.
void CpHart::finish_access(Time at) {
  const uint64_t cycle = std::max(core_.cycles(), clock_.cycle_from(at));
  waiting_cycles_ += cycle - core_.cycles();
  core_.add_cycles(cycle - core_.cycles());
  state_ = State::running;
  if (failed_) {
    ++faults_;
    std::clog << "gpu" << +shared_.services->gpu << " cp hart " << id_ << ": access to "
              << hex(core_.pending().addr) << " answered with an error, at pc " << hex(core_.pc())
              << " <" << owner_.symbolize(core_.pc()) << ">\n";
    busy([&] { core_.fail_access(); });
  } else {
    busy([&] { complete(); });
  }
  owner_.schedule(local_time(), id_, kRun);
}

void CpHart::complete() {
  const HartPort::Request& request = port_.request();
  L1Cache& cache = port_.cache();
  const uint64_t in_line = request.address % L1Cache::kLineBytes;
  switch (request.kind) {
    case Kind::kLoad:
      if (request.region == Region::memory && !forwarded_) {
        result_ = 0;
        std::memcpy(&result_, cache.bytes(cache.lookup(line())) + in_line, request.bytes);
      }
      core_.complete_load(result_);
      break;
    case Kind::kStore:
      if (request.region == Region::memory && !port_.buffer().exists()) {
        const uint32_t slot = cache.lookup(line());
        std::memcpy(cache.bytes(slot) + in_line, &request.value, request.bytes);
        cache.mark_dirty(slot, HartPort::byte_mask(in_line, request.bytes));
      }
      core_.complete_store();
      break;
    case Kind::kFence: core_.complete_fence(); break;
    case Kind::kFetch: core_.complete_fetch(); break;
    default:
      if (request.amo.op == AmoOp::kLoadReserved) {
        reserved_ = true;
        reserved_address_ = request.address;
        reserved_value_ = result_;
      }
      if (shared_.services->digest != nullptr) {
        shared_.services->digest->event(local_time(), kDigestAtomic,
                                        request.address | uint64_t{id_} << 56, result_);
      }
      core_.complete_amo(result_);
      break;
  }
}

// Reports

// A hart that sleeps or waits has not counted the clocks since it began to.
uint64_t CpHart::uncounted(bool asleep) const {
  const bool sleeps = state_ == State::wfi || state_ == State::halted;
  if (state_ == State::running || sleeps != asleep) return 0;
  const uint64_t now = clock_.cycle_from(shared_.services->queue->now());
  return now - std::min(now, core_.cycles());
}

void CpHart::report(StatisticSink& sink) const {
  const std::string name = "hart" + std::to_string(id_) + ".";
  sink.add(name + "instructions", core_.instret(), "count", "Instructions retired.");
  sink.add(name + "busy_cycles", busy_cycles_, "cycles",
           "Cycles in which the hart executed, L1 hits included.");
  sink.add(name + "waiting_cycles", waiting_cycles_ + uncounted(false), "cycles",
           "Cycles stalled for memory or the peripheral bus.");
  sink.add(name + "wfi_cycles", wfi_cycles_ + uncounted(true), "cycles",
           "Cycles asleep in WFI, or halted.");
  sink.add(name + "l1d_hits", port_.hits(), "count",
           "Loads and stores that hit in the L1 data cache.");
  sink.add(name + "l1d_misses", misses_, "count",
           "Loads and stores that filled a line of the L1 data cache.");
  sink.add(name + "l1d_write_backs", written_back_lines_, "count",
           "Lines written back, by replacement or release.");
  if (port_.has_private_memory())
    sink.add(name + "l1i_misses", fetched_lines_, "count",
             "Lines of the L1 instruction cache that were filled.");
  sink.add(name + "atomics", atomics_, "count", "LR, SC and AMO on GPU memory.");
  if (port_.has_store_buffer())
    sink.add(name + "stores_buffered", buffered_, "count",
             "Stores that opened an entry of the store buffer.");
  sink.add(name + "bus_reads", bus_reads_, "count", "Reads of device registers.");
  sink.add(name + "bus_writes", bus_writes_, "count", "Writes of device registers.");
  sink.add(name + "memory_read_bytes", read_bytes_, "bytes", "Bytes requested from the L2.");
  sink.add(name + "memory_written_bytes", written_bytes_, "bytes",
           "Bytes written to the L2 or to other nodes.");
  sink.add(name + "access_faults", faults_, "count",
           "Accesses that a device or the memory answered with an error.");
}

void CpHart::audit(AuditSink& sink) const {
  // A hart may have run ahead.
  const uint64_t now = clock_.cycle_from(shared_.services->queue->now());
  sink.equal("cp hart busy + waiting + idle = total",
             busy_cycles_ + waiting_cycles_ + wfi_cycles_ + uncounted(true) + uncounted(false),
             std::max(now, core_.cycles()));
  sink.equal("cp memory requests = answers + in flight", requests_,
             answers_ + outstanding_ + storing_);
}

std::string CpHart::waiting_on() const {
  const std::string name = "hart " + std::to_string(id_);
  const std::string place = " at pc " + hex(core_.pc()) + " <" + owner_.symbolize(core_.pc()) + ">";
  switch (state_) {
    case State::halted: return "";
    case State::running: return name + " runs" + place;
    case State::wfi: return name + " in WFI" + place;
    case State::access:
    case State::memory: break;
  }
  const HartPort::Request& request = port_.request();
  if (request.kind == Kind::kFetch) return name + " waits for instructions" + place;
  if (request.kind == Kind::kFence) return name + " waits for write-backs of a fence" + place;
  const char* what = request.kind == Kind::kLoad    ? "read "
                     : request.kind == Kind::kStore ? "write "
                                                    : "atomic ";
  return name + " waits for " + (request.region == Region::bus ? "bus " : "memory ") + what +
         hex(request.address) + place;
}

}  // namespace stretto
