// SPDX-License-Identifier: Apache-2.0
// StoreBuffer: what a hart has stored and memory has not yet (cp.store_buffer). An entry is a line
// whose bytes a store has missed in the L1, dirty bytes that leave the L1, or a store to another node.
//
//   open    takes further bytes of its line; loads of these find them here
//   closed  waits for its turn, is sent, and is gone with the last answer
//
// Invariants
//  1 An entry is sent behind the answers to all that a release stands between, to older ones of its
//    line, and, to another node, to all older ones to other nodes.
//  2 A load finds its bytes in the newest entry that has any of them, or waits.
// CpHart decides when entries are closed, and sends.
#ifndef STRETTO_MODELS_COMMON_STORE_BUFFER_H_
#define STRETTO_MODELS_COMMON_STORE_BUFFER_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>

#include "models/common/l1_cache.h"

namespace stretto {

class StoreBuffer {
 public:
  enum class State : uint8_t { open, closed };
  struct Entry {
    uint64_t serial;
    uint64_t line;
    uint64_t mask;    // A bit a byte.
    uint64_t sent;    // Of these.
    uint64_t group;   // Releases before it.
    bool is_remote;   // To another node: `mask` is one run.
    bool is_private;  // Of private memory.
    State state = State::open;
    unsigned unanswered = 0;
    std::array<uint8_t, L1Cache::kLineBytes> data{};
  };

  explicit StoreBuffer(uint32_t capacity) : capacity_(capacity) {}

  bool exists() const { return capacity_ != 0; }
  bool empty() const { return entries_.empty(); }
  bool full() const { return entries_.size() >= capacity_; }
  std::deque<Entry>& entries() { return entries_; }

  // REQUIRES: !full().
  Entry& push(uint64_t line, uint64_t mask, State state) {
    entries_.push_back({++serial_, line, mask, 0, group_, false, false, state, 0, {}});
    return entries_.back();
  }
  // Bytes of a store into an open entry of the line; false: there is none.
  bool merge(uint64_t line, uint64_t in_line, unsigned bytes, const void* data) {
    for (size_t i = entries_.size(); i-- > 0;) {
      Entry& entry = entries_[i];
      if (entry.line != line) continue;
      if (entry.state != State::open) return false;
      std::memcpy(entry.data.data() + in_line, data, bytes);
      entry.mask |= mask_of(in_line, bytes);
      return true;
    }
    return false;
  }
  // False: not all of the bytes are in one entry that is the newest with any of them. `at_once`: nor
  // if that is closed, since it may be gone when the calendar comes to where a hart has run ahead.
  bool forward(uint64_t line, uint64_t in_line, unsigned bytes, void* data, bool at_once) const {
    const uint64_t wanted = mask_of(in_line, bytes);
    for (size_t i = entries_.size(); i-- > 0;) {
      const Entry& entry = entries_[i];
      if (entry.line != line || (entry.mask & wanted) == 0) continue;
      if ((entry.mask & wanted) != wanted || (at_once && entry.state != State::open)) return false;
      std::memcpy(data, entry.data.data() + in_line, bytes);
      return true;
    }
    return false;
  }
  bool holds(uint64_t line) const {
    for (const Entry& entry : entries_)
      if (entry.line == line) return true;
    return false;
  }
  // Whether a store to a device must wait: a release stands between, or one to another node is here.
  bool holds_devices() const {
    for (const Entry& entry : entries_)
      if (entry.state != State::open && (entry.group != group_ || entry.is_remote)) return true;
    return false;
  }
  void release() {
    if (!entries_.empty()) ++group_;
  }
  void close_oldest() {
    for (Entry& entry : entries_)
      if (entry.state == State::open) {
        entry.state = State::closed;
        return;
      }
  }
  void close_line(uint64_t line) {
    for (Entry& entry : entries_)
      if (entry.line == line && entry.state == State::open) entry.state = State::closed;
  }
  void close(bool private_too) {
    for (Entry& entry : entries_)
      if (entry.state == State::open && (private_too || !entry.is_private))
        entry.state = State::closed;
  }
  bool may_send(size_t index) const {
    const Entry& entry = entries_[index];
    if (entry.state != State::closed || entry.sent == entry.mask) return false;
    for (size_t i = 0; i < index; ++i) {
      const Entry& older = entries_[i];
      const bool released = older.group < entry.group && older.state != State::open;
      if (released || older.line == entry.line || (older.is_remote && entry.is_remote))
        return false;
    }
    return true;
  }
  // One of the entry's transactions has been answered.
  void answered(uint64_t serial) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->serial != serial) continue;
      if (--entry->unanswered == 0 && entry->sent == entry->mask) entries_.erase(entry);
      return;
    }
  }

  static uint64_t mask_of(uint64_t in_line, unsigned bytes) {
    return (bytes == L1Cache::kLineBytes ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1) << in_line;
  }

 private:
  const uint32_t capacity_;
  uint64_t serial_ = 0;
  uint64_t group_ = 0;
  std::deque<Entry> entries_;  // Oldest first.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_STORE_BUFFER_H_
