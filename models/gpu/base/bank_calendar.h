// SPDX-License-Identifier: Apache-2.0
// Which clocks of each bank of the L2 are taken. A request takes the first free clocks from its
// arrival at the bank on, so one that comes earlier than another, although it is known later, fills
// the gap before it: the banks serve in the order of arrival, and none idles while something waits.
//
// Invariants
//  1 A clock of a bank is taken once: a bank is never busy longer than time has passed.
//  2 Clocks before the present are forgotten; nothing may be taken there.
#ifndef STRETTO_MODELS_GPU_BASE_BANK_CALENDAR_H_
#define STRETTO_MODELS_GPU_BASE_BANK_CALENDAR_H_

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

namespace stretto {

class BankCalendar {
 public:
  explicit BankCalendar(uint32_t banks) : banks_(banks), words_(banks * kFirstWords, 0) {}

  // REQUIRES: it does not go back.
  void set_now(uint64_t clock) {
    assert(clock >= now_);
    now_ = clock;
  }

  // Takes the first `count` free clocks from `at` on; returns the clock after the last of them.
  // REQUIRES: at is not in the past, 0 < count < 64.
  uint64_t take(uint32_t index, uint64_t at, uint32_t count) {
    assert(at >= now_ && count > 0 && count < 64);
    Bank& bank = banks_[index];
    if (bank.first_word != now_ >> 6) forget(index);
    bank.busy += count;
    const uint64_t run = ((uint64_t{1} << count) - 1) << (at & 63);
    if ((at & 63) + count <= 64 && (at >> 6) - (now_ >> 6) < row_words_) {
      uint64_t& taken = word_of(index, at >> 6);
      if ((taken & run) == 0) {
        taken |= run;
        return at + count;
      }
    }
    return search(index, at, count);
  }

  uint32_t banks() const { return static_cast<uint32_t>(banks_.size()); }
  uint64_t busy(uint32_t bank) const { return banks_[bank].busy; }  // Clocks.

 private:
  static constexpr uint32_t kFirstWords = 16;  // 1024 clocks.
  struct Bank {
    uint64_t first_word = 0;  // Older ones are forgotten.
    uint64_t full_from = 0;   // A run of taken clocks, to skip it.
    uint64_t full_to = 0;
    uint64_t busy = 0;
  };

  uint64_t& word_of(uint32_t index, uint64_t word) {
    return words_[index * row_words_ + (word & (row_words_ - 1))];
  }

  // Apart from take(), so that what is frequent is short.
  [[gnu::noinline]] uint64_t search(uint32_t index, uint64_t at, uint32_t count) {
    Bank& bank = banks_[index];
    if (at >= bank.full_from && at < bank.full_to) at = bank.full_to;
    const uint64_t from = at;
    for (;;) {
      const uint64_t word = at >> 6;
      while (word - (now_ >> 6) >= row_words_) grow();
      uint64_t& taken = word_of(index, word);
      const uint64_t free = ~taken & ~uint64_t{0} << (at & 63);
      const uint32_t found = static_cast<uint32_t>(std::popcount(free));
      if (found >= count) {
        uint64_t rest = free;
        for (uint32_t i = 1; i < count; ++i) rest &= rest - 1;
        const unsigned last = static_cast<unsigned>(std::countr_zero(rest));
        taken |= free & (~uint64_t{0} >> (63 - last));
        at = (word << 6) + last + 1;
        break;
      }
      count -= found;
      taken |= free;
      at = (word + 1) << 6;
    }
    // All of [from, at) is taken now.
    if (bank.full_to == from) {
      bank.full_to = at;
    } else if (bank.full_to <= now_ || at - from > bank.full_to - bank.full_from) {
      bank.full_from = from;
      bank.full_to = at;
    }
    return at;
  }

  [[gnu::noinline]] void forget(uint32_t index) {
    Bank& bank = banks_[index];
    const uint64_t present = now_ >> 6;
    const uint64_t stale = std::min<uint64_t>(present - bank.first_word, row_words_);
    uint64_t* const row = &words_[index * row_words_];
    for (uint64_t i = 0; i < stale; ++i) row[(bank.first_word + i) & (row_words_ - 1)] = 0;
    bank.first_word = present;
  }

  void grow() {
    std::vector<uint64_t> wider(words_.size() * 2, 0);
    const uint64_t present = now_ >> 6;
    for (uint32_t index = 0; index < banks_.size(); ++index) {
      forget(index);
      for (uint64_t word = present; word < present + row_words_; ++word) {
        wider[index * 2 * row_words_ + (word & (2 * row_words_ - 1))] =
            words_[index * row_words_ + (word & (row_words_ - 1))];
      }
    }
    words_ = std::move(wider);
    row_words_ *= 2;
  }

  std::vector<Bank> banks_;
  std::vector<uint64_t> words_;  // row_words_ a bank; a bit is a clock.
  uint64_t row_words_ = kFirstWords;
  uint64_t now_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_BASE_BANK_CALENDAR_H_
