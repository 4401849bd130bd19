// SPDX-License-Identifier: Apache-2.0
#include "platform/results/use_windows.h"

#include <algorithm>
#include <cassert>

namespace stretto {

void UseOfSpan::add(const UseOfSpan& other) {
  const double mine = static_cast<double>(time()), its = static_cast<double>(other.time());
  if (its == 0) return;
  sm = (sm * mine + other.sm * its) / (mine + its);
  dram = (dram * mine + other.dram * its) / (mine + its);
  both_low += other.both_low;
  only_sm_low += other.only_sm_low;
  only_dram_low += other.only_dram_low;
  neither_low += other.neither_low;
}

void UseWindows::read(Time at, const UseCounts& so_far) {
  if (at <= read_at_) return;
  if (so_far != read_) {
    UseCounts& window = windows_[(at - 1) / kWindow];
    for (size_t part = 0; part < kUsedParts; ++part) {
      assert(so_far[part] >= read_[part]);
      window[part] += so_far[part] - read_[part];
    }
  }
  read_at_ = at;
  read_ = so_far;
}

UseOfSpan UseWindows::of(Time begin, Time end) const {
  UseOfSpan use;
  end = std::min(end, read_at_);
  auto next = windows_.lower_bound(begin / kWindow);
  while (begin < end) {
    const Time used_from = next == windows_.end() ? end : std::min(end, next->first * kWindow);
    if (begin < used_from) {
      UseOfSpan idle;
      idle.both_low = used_from - begin;
      use.add(idle);
      begin = used_from;
      continue;
    }
    const UseCounts& counts = next->second;
    const Time until = std::min(end, (next->first + 1) * kWindow);
    ++next;
    const Time time = until - begin;
    // A window that the span cuts is used within the span alone.
    const auto share = [&](UsedPart part) {
      return static_cast<double>(counts[part]) * static_cast<double>(kWindow) /
             (peak_[part] * static_cast<double>(time));
    };
    const double sm = std::max({share(kUsedTensor), share(kUsedSimt), share(kUsedIssue)});
    const double dram = share(kUsedDram);
    const bool is_sm_low = sm < kLowUse, is_dram_low = dram < kLowUse;
    UseOfSpan one;
    one.sm = sm;
    one.dram = dram;
    (is_sm_low && is_dram_low ? one.both_low
     : is_sm_low              ? one.only_sm_low
     : is_dram_low            ? one.only_dram_low
                              : one.neither_low) = time;
    use.add(one);
    begin = until;
  }
  return use;
}

}  // namespace stretto
