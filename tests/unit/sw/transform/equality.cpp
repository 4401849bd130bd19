// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sw/transform/equality.h"

#include <fmt/format.h>

#include <algorithm>

namespace stretto::test {
namespace {

constexpr Time kPatience = 1000 * kMicrosecond;  // Beside 100 times what the original takes.

}  // namespace

Equality::Equality(TransformBench& bench, std::vector<Region> regions)
    : bench_(bench), regions_(std::move(regions)), before_(contents()) {}

void Equality::run_original(const FormsOfKernel& kernel, const Grid& grid) {
  bench_.longest = 100'000 * kMicrosecond;
  restore();
  try {
    bench_.run(*kernel.original, grid);
  } catch (const Hangs& hangs) {
    throw Unequal(fmt::format("original: {}", hangs.what()));
  }
  span_ = bench_.last_time;
  bench_.longest = kPatience + 100 * span_;
  expected_ = contents();
}

void Equality::run_all(const FormsOfKernel& kernel, const Grid& grid, Rng& rng) {
  require_equal("block ranges", [&] { bench_.run_ranges(*kernel.original, grid, rng); });
  require_equal("preempted by the grid scheduler",
                [&] { bench_.run_preempted(*kernel.original, grid, rng); });
  for (unsigned form = 0; form < kTransformedForms; ++form) {
    const Launch* const launch = kernel.transformed[form];
    if (launch == nullptr) continue;
    require_equal(kForms[form].name, [&] {
      if (kForms[form].form == transform::Form::slice) {
        bench_.run_slices(*launch, grid, rng);
        return;
      }
      bench_.run_workers(*launch, grid, rng);
      const uint32_t next = bench_.control().next;
      if (next < grid.tasks() || next > grid.tasks() + kMaxWorkers)
        throw Unequal(
            fmt::format("{}: index {} of {} tasks", kForms[form].name, next, grid.tasks()));
    });
  }
}

void Equality::restore() {
  for (size_t i = 0; i < regions_.size(); ++i)
    bench_.machine.image.load(regions_[i].base & STRETTO_OFFSET_MASK, before_[i].data(),
                              before_[i].size());
}

std::vector<Bytes> Equality::contents() {
  std::vector<Bytes> all;
  for (const Region& region : regions_) {
    Bytes& bytes = all.emplace_back(region.bytes);
    bench_.machine.image.read(region.base & STRETTO_OFFSET_MASK, bytes.data(), bytes.size());
  }
  return all;
}

template <class Run>
void Equality::require_equal(const char* form, Run&& run) {
  bench_.last_time = span_;
  restore();
  try {
    run();
  } catch (const Hangs& hangs) {
    throw Unequal(fmt::format("{}: {}", form, hangs.what()));
  }
  const std::vector<Bytes> now = contents();
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i] == expected_[i]) continue;
    const size_t at = static_cast<size_t>(
        std::mismatch(now[i].begin(), now[i].end(), expected_[i].begin()).first - now[i].begin());
    throw Unequal(fmt::format("{}: byte {} of {} is {:#04x}, {:#04x} after the original", form, at,
                              regions_[i].name, now[i][at], expected_[i][at]));
  }
}

}  // namespace stretto::test
