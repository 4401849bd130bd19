// SPDX-License-Identifier: Apache-2.0
// How much of a GPU was in use, by windows of 10 us, and how long both its units and its DRAM were
// below a third of their peaks (Kitsune, 3, Fig 3: KT-EVAL-03).
//
// Invariants
//  1 What a reading adds lies in the window before it: whoever reads, reads at the end of each window.
//  2 The classes of a span add up to its time.
#ifndef STRETTO_PLATFORM_RESULTS_USE_WINDOWS_H_
#define STRETTO_PLATFORM_RESULTS_USE_WINDOWS_H_

#include <array>
#include <cstdint>
#include <map>

#include "models/common/event_queue.h"

namespace stretto {

// What is counted: clocks of pipes, issue slots, bytes.
enum UsedPart : uint8_t { kUsedTensor, kUsedSimt, kUsedIssue, kUsedDram, kUsedParts };
using UseCounts = std::array<uint64_t, kUsedParts>;

inline constexpr double kLowUse = 0.33;  // Of the peak.

// Times by class, and what was used on the average, as a share of the peak.
struct UseOfSpan {
  Time both_low = 0;
  Time only_sm_low = 0;
  Time only_dram_low = 0;
  Time neither_low = 0;
  double sm = 0;  // Tensor pipes, SIMT pipes or issue, whichever is used most in a window.
  double dram = 0;

  Time time() const { return both_low + only_sm_low + only_dram_low + neither_low; }
  // Of another GPU, or another span.
  void add(const UseOfSpan& other);
};

class UseWindows {
 public:
  static constexpr Time kWindow = 10 * kMicrosecond;

  // `peak`: what a window has at most, of each part.
  explicit UseWindows(const std::array<double, kUsedParts>& peak) : peak_(peak) {}

  // What has been counted from time 0 to `at`. REQUIRES: neither falls; nothing was counted between the last reading and
  // the begin of the window that `at` ends or is in.
  void read(Time at, const UseCounts& so_far);
  // Of [begin, end), as far as it was read.
  UseOfSpan of(Time begin, Time end) const;
  // Those in which anything was counted, by number.
  const std::map<Time, UseCounts>& windows() const { return windows_; }

 private:
  std::array<double, kUsedParts> peak_;
  Time read_at_ = 0;
  UseCounts read_{};
  std::map<Time, UseCounts> windows_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RESULTS_USE_WINDOWS_H_
