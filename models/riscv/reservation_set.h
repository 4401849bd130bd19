// SPDX-License-Identifier: Apache-2.0
// ReservationSet: LR/SC reservations of a few harts on memory that they share.
//
// A reservation covers an aligned 64-byte line. It is lost by an SC of its hart, by a store or AMO
// of any other agent to the line, and by nothing else, so a constrained LR/SC loop makes progress.
// Ports call reserve() on LR, claim() on SC, and note_store() on every other store (one compare
// while nobody holds a reservation).
#ifndef STRETTO_MODELS_RISCV_RESERVATION_SET_H_
#define STRETTO_MODELS_RISCV_RESERVATION_SET_H_

#include <cassert>
#include <cstdint>
#include <vector>

namespace stretto::riscv {

class ReservationSet {
 public:
  explicit ReservationSet(unsigned harts) : lines_(harts, kNoLine) {}

  void reserve(unsigned hart, uint64_t addr) {
    if (lines_[hart] == kNoLine) ++held_;
    lines_[hart] = addr >> kLineShift;
  }

  // SC of hart: true if it may store. The reservation is gone either way.
  bool claim(unsigned hart, uint64_t addr) {
    const bool success = lines_[hart] == addr >> kLineShift;
    drop(hart);
    if (success) note_store(hart, addr);
    return success;
  }

  // A store by hart, or by another agent if hart is kOther.
  void note_store(unsigned hart, uint64_t addr) {
    if (held_ == 0) return;
    for (unsigned other = 0; other < lines_.size(); ++other) {
      if (other != hart && lines_[other] == addr >> kLineShift) drop(other);
    }
  }

  void drop(unsigned hart) {
    if (lines_[hart] == kNoLine) return;
    lines_[hart] = kNoLine;
    assert(held_ > 0);
    --held_;
  }

  static constexpr unsigned kOther = ~0u;

 private:
  static constexpr unsigned kLineShift = 6;
  static constexpr uint64_t kNoLine = ~uint64_t{0};
  std::vector<uint64_t> lines_;
  unsigned held_ = 0;
};

}  // namespace stretto::riscv

#endif  // STRETTO_MODELS_RISCV_RESERVATION_SET_H_
