// SPDX-License-Identifier: Apache-2.0
// The wire of one direction: bytes become time, exactly. Within a busy period fractions of a
// femtosecond are carried, so that N bytes in any number of packets end at floor(N * 10^15 /
// bandwidth) after the start.
#ifndef STRETTO_MODELS_FABRIC_SERIALISER_H_
#define STRETTO_MODELS_FABRIC_SERIALISER_H_

#include <cassert>
#include <cstdint>

#include "models/common/event_queue.h"

namespace stretto {

class Serialiser {
 public:
  explicit Serialiser(uint32_t mb_per_s) : mb_per_s_(mb_per_s) { assert(mb_per_s > 0); }

  // The wire is free from here on.
  Time free_at() const { return free_at_; }
  // Occupies the wire with `bytes` from `start` on. Returns when the last byte has left. REQUIRES:
  // start >= free_at(), bytes < 2^33.
  Time send(Time start, uint64_t bytes) {
    assert(start >= free_at_);
    if (start > free_at_) remainder_ = 0;
    const uint64_t scaled = bytes * kFemtosecondsAtOneMb + remainder_;
    const Time duration = scaled / mb_per_s_;
    remainder_ = scaled % mb_per_s_;
    free_at_ = start + duration;
    busy_ += duration;
    return free_at_;
  }
  // What `bytes` take on an idle wire.
  Time duration(uint64_t bytes) const { return bytes * kFemtosecondsAtOneMb / mb_per_s_; }
  Time busy() const { return busy_; }
  // Whole bytes that pass in `time`.
  uint64_t fit(Time time) const {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(time) * mb_per_s_ /
                                 kFemtosecondsAtOneMb);
  }
  // The most that can have left in `time`.
  uint64_t peak_bytes(Time time) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(time) + 1) * mb_per_s_ /
                                 kFemtosecondsAtOneMb) +
           1;
  }

 private:
  static constexpr uint64_t kFemtosecondsAtOneMb = 1'000'000'000;  // One byte at 1 MB/s takes 1 us.
  const uint64_t mb_per_s_;
  Time free_at_ = 0;
  uint64_t remainder_ = 0;  // In 1/mb_per_s_ fs.
  Time busy_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_FABRIC_SERIALISER_H_
