// SPDX-License-Identifier: Apache-2.0
// How a component hosts RTL blocks. ClockedBlock: the block, and register accesses as clocks of
// their own; its owner says when the other clocks are. BlockHost has a calendar too: it clocks the
// block at the edges at which it has work or an input; the owner gives the inputs and takes the
// outputs.
//
// The MCAs and the Tracker are ClockedBlocks. One event of the HBM clocks all 33 of them: the
// Tracker, then the channels in their order, which results depend on. A BlockHost each costs an
// event for each clock of an MCA, 30 million in one GPU of the main job. With empty events alone
// that run takes 12.1 s of processor time instead of 9.4 (means of runs in turn).
//
// Invariants of BlockHost
//  1 The block is stepped at edges of its clock, each edge at most once; an idle block without
//    inputs costs nothing.
//  2 A register access takes the next free clock (a read two) at the time of the call. Clocks that
//    lie ahead of the calendar are taken by the owner at the time of their edge, in their order.
//  3 Events go through the owner's EventHandler, with tags below kHostTags, so that a host changes
//    no order of events.
#ifndef STRETTO_MODELS_REFERENCE_BLOCK_HOST_H_
#define STRETTO_MODELS_REFERENCE_BLOCK_HOST_H_

#include <tlm>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "models/common/clock_domain.h"
#include "models/common/event_queue.h"
#include "models/common/payload_pool.h"
#include "models/reference/register_port.h"

namespace stretto {

// A register access as clocks: a write is one; a read is presented in one and answers in the next.
// `clock(port)` is one clock and returns reg_rdata after it. REQUIRES: RegisterBank::decode() has
// let the payload pass, so it has 8 bytes.
template <class Clock>
void access_registers(tlm::tlm_generic_payload& payload, uint64_t offset, Clock clock) {
  RegisterPort port{payload.is_write(), payload.is_read(), static_cast<uint16_t>(offset), 0};
  if (port.write) std::memcpy(&port.wdata, payload.get_data_ptr(), 8);
  clock(port);
  if (!port.read) return;
  const uint64_t value = clock(RegisterPort());
  std::memcpy(payload.get_data_ptr(), &value, 8);
}

template <class BlockType>
class ClockedBlock final {
 public:
  using Inputs = typename BlockType::Inputs;
  using Outputs = typename BlockType::Outputs;

  explicit ClockedBlock(std::unique_ptr<BlockType> block) : block_(std::move(block)) {}

  bool present() const { return block_ != nullptr; }
  // REQUIRES: present().
  Outputs step(const Inputs& in) {
    ++steps_;
    return block_->step(in);
  }
  uint64_t steps() const { return steps_; }
  // Empty also without a block.
  std::optional<typename BlockType::Snapshot> snapshot() const {
    return present() ? block_->snapshot() : std::nullopt;
  }

 private:
  std::unique_ptr<BlockType> block_;
  uint64_t steps_ = 0;
};

// `Note` is what the owner wants to know of a clock when its time has come.
template <class BlockType, class Note>
class BlockHost final {
 public:
  using Inputs = typename BlockType::Inputs;
  using Outputs = typename BlockType::Outputs;
  enum : uint64_t { kTick, kTake, kHostTags };  // Event tags.

  class Owner {
   public:
    virtual ~Owner() = default;
    virtual bool has_input() const = 0;  // Something waits to enter the block.
    // Sets the inputs of a clock; host.outputs() are those before it.
    virtual Note give(Inputs& in) = 0;
    // What the clock means for the machine, at the time of its edge.
    virtual void take(const Outputs& out, const Note& note) = 0;
  };

  BlockHost(std::unique_ptr<BlockType> block, const ClockDomain& clock, EventQueue& queue,
            EventHandler& handler, Owner& owner)
      : block_(std::move(block)), clock_(clock), queue_(queue), handler_(handler), owner_(owner) {}

  // Call when an input has come.
  void arm() {
    if (armed_ || (out_.idle && !owner_.has_input())) return;
    armed_ = true;
    queue_.schedule(clock_.edge(next_cycle()), handler_, kTick);
  }

  // REQUIRES: tag < kHostTags.
  void on_event(uint64_t tag) {
    if (tag == kTake) {
      const Clocked clocked = std::move(ahead_.front());
      ahead_.pop_front();
      owner_.take(clocked.out, clocked.note);
      return;
    }
    armed_ = false;
    const uint64_t cycle = clock_.cycle_at(queue_.now());
    if (cycle >= next_free_) step(cycle, {});
    arm();
  }

  // A register access; `delay` becomes at least the end of its last clock.
  void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    uint64_t cycle = 0;
    access_registers(payload, payload.get_address(), [&](const RegisterPort& port) {
      cycle = next_cycle();
      step(cycle, port);
      return out_.reg_rdata;
    });
    delay = std::max(delay, delay_of(clock_.edge(cycle + 1) - queue_.now()));
    arm();
  }

  const Outputs& outputs() const { return out_; }  // After the last clock.
  uint64_t steps() const { return block_.steps(); }
  auto snapshot() const { return block_.snapshot(); }

 private:
  struct Clocked {
    Outputs out;
    Note note;
  };

  // The first edge from now on that has not been stepped.
  uint64_t next_cycle() const { return std::max(clock_.cycle_from(queue_.now()), next_free_); }

  void step(uint64_t cycle, const RegisterPort& port) {
    assert(cycle >= next_free_);
    Inputs in;
    in.cycle = cycle;
    in.reg = port;
    Note note = owner_.give(in);
    out_ = block_.step(in);
    next_free_ = cycle + 1;
    const Time at = clock_.edge(cycle);
    if (at <= queue_.now() && ahead_.empty()) {
      const Outputs out = out_;  // take() may clock the block again.
      owner_.take(out, note);
    } else {
      ahead_.push_back({out_, std::move(note)});
      queue_.schedule(std::max(at, queue_.now()), handler_, kTake);
    }
  }

  ClockedBlock<BlockType> block_;
  const ClockDomain clock_;
  EventQueue& queue_;
  EventHandler& handler_;
  Owner& owner_;
  Outputs out_;
  std::deque<Clocked> ahead_;  // Clocks that register accesses took ahead of time.
  uint64_t next_free_ = 0;     // First clock that has not been stepped.
  bool armed_ = false;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_BLOCK_HOST_H_
