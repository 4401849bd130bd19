// SPDX-License-Identifier: Apache-2.0
// The rings in memory that a NIC shares with software: work entries, which it reads, and
// completions, which it writes.
#ifndef STRETTO_MODELS_NIC_RINGS_H_
#define STRETTO_MODELS_NIC_RINGS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "models/nic/bus_master.h"
#include "sw/include/formats/nic.h"
#include "sw/include/regs/nic_regs.h"

namespace stretto {

// One send or receive queue. Entries are read in order, some at a time, one read after the other.
class WorkRing {
 public:
  struct Timing {
    uint32_t doorbell_ns = 0;
    uint32_t decode_ns = 0;
    uint32_t fetch_entries = 1;
    uint32_t held = 1;  // Entries that are read and not freed.
  };
  using OnEntry = std::function<void(const stretto_nic_work_entry_t& entry)>;
  enum class Error : uint8_t { beyond, unreadable };  // A doorbell beyond the ring; an entry.
  using OnError = std::function<void(Error error)>;

  WorkRing(LaterCalls& later, BusMaster& bus, const Timing& timing, OnEntry on_entry,
           OnError on_error)
      : later_(later),
        bus_(bus),
        timing_(timing),
        on_entry_(std::move(on_entry)),
        on_error_(std::move(on_error)) {}

  // Starts it empty; what an earlier use still reads is forgotten.
  void configure(uint64_t base, uint32_t entries) {
    ++use_;
    base_ = base;
    entries_ = entries;
    announced_ = fetched_ = freed_ = 0;
    fetching_ = false;
  }
  // A doorbell; one beyond the ring changes nothing.
  void announce(uint32_t index) {
    if (index - freed_ > entries_) {
      on_error_(Error::beyond);
      return;
    }
    if (static_cast<int32_t>(index - announced_) <= 0) return;  // One that came earlier.
    announced_ = index;
    later_.at(later_.now() + timing_.doorbell_ns * kNanosecond, [this, use = use_] {
      if (use == use_) fetch();
    });
  }
  // The oldest entry that was read has ended: its place is free.
  void free() {
    ++freed_;
    fetch();
  }
  uint32_t announced() const { return announced_; }
  uint32_t fetched() const { return fetched_; }
  uint32_t freed() const { return freed_; }

 private:
  void fetch() {
    const uint32_t room = timing_.held - std::min(timing_.held, fetched_ - freed_);
    const uint32_t to_end = entries_ - fetched_ % entries_;
    const uint32_t count = std::min({announced_ - fetched_, timing_.fetch_entries, room, to_end});
    if (fetching_ || count == 0) return;
    fetching_ = true;
    const uint64_t from = base_ + uint64_t{fetched_ % entries_} * STRETTO_NIC_WORK_ENTRY_BYTES;
    fetched_ += count;
    bus_.read(BusUse::entries, from, count * STRETTO_NIC_WORK_ENTRY_BYTES,
              [this, use = use_, count](bool ok, BusMaster::Bytes&& data) {
                if (use != use_) return;
                fetching_ = false;
                later_.at(later_.now() + timing_.decode_ns * kNanosecond,
                          [this, use, count, ok, data = std::move(data)] {
                            for (uint32_t i = 0; i < count && use == use_; ++i)
                              hand_on(ok, data, i);
                          });
                fetch();
              });
  }
  void hand_on(bool ok, const BusMaster::Bytes& data, uint32_t index) {
    if (!ok) {  // Nobody knows what it was: it has no completion.
      free();
      on_error_(Error::unreadable);
      return;
    }
    stretto_nic_work_entry_t entry;
    std::memcpy(&entry, data.data() + size_t{index} * sizeof entry, sizeof entry);
    on_entry_(entry);
  }

  LaterCalls& later_;
  BusMaster& bus_;
  const Timing timing_;
  const OnEntry on_entry_;
  const OnError on_error_;
  uint32_t use_ = 0;
  uint64_t base_ = 0;
  uint32_t entries_ = 1;
  uint32_t announced_ = 0;  // All modulo 2^32.
  uint32_t fetched_ = 0;
  uint32_t freed_ = 0;
  bool fetching_ = false;
};

// All completion queues of a NIC.
class CompletionQueues {
 public:
  explicit CompletionQueues(BusMaster& bus) : bus_(bus) {}

  void configure(uint16_t index, bool valid, uint64_t base, uint32_t entries) {
    queues_[index] = {valid, base, entries, 0, 0};
  }
  void read_up_to(uint16_t index, uint32_t count) { queues_[index].read = count; }
  // Memory in which a queue lies.
  uint8_t node(uint16_t index) const {
    return static_cast<uint8_t>(queues_[index].base >> STRETTO_NODE_SHIFT);
  }
  // False: the queue is full or not there; the completion is lost.
  bool write(uint16_t index, stretto_nic_completion_t completion) {
    Queue& queue = queues_[index];
    if (!queue.valid || queue.written - queue.read >= queue.entries) {
      ++lost_;
      return false;
    }
    const uint64_t to =
        queue.base + uint64_t{queue.written % queue.entries} * STRETTO_NIC_COMPLETION_BYTES;
    ++queue.written;
    completion.serial = queue.written;
    BusMaster::Bytes bytes(sizeof completion);
    std::memcpy(bytes.data(), &completion, sizeof completion);
    ++written_;
    bus_.write(BusUse::completions, to, std::move(bytes));
    return true;
  }
  uint64_t written() const { return written_; }
  uint64_t lost() const { return lost_; }

 private:
  struct Queue {
    bool valid = false;
    uint64_t base = 0;
    uint32_t entries = 1;
    uint32_t written = 0;  // Modulo 2^32.
    uint32_t read = 0;
  };
  BusMaster& bus_;
  std::array<Queue, NIC_COMPLETION_CONFIG_COUNT> queues_{};
  uint64_t written_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_RINGS_H_
