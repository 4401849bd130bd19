// SPDX-License-Identifier: Apache-2.0
// Question: does the policy decide as the paper's section 4.2 and the authors' code do? Expected
// values are worked by hand from the requirements TL-SCHED and TL-PROF of the target file; the choice
// of a configuration is compared with a search over all of them that shares no code with it.
#include "sw/tally/policy.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/seeded_rng.h"

bool operator==(const tally_configuration_t& a, const tally_configuration_t& b) {
  return a.form == b.form && a.groups == b.groups;
}
std::ostream& operator<<(std::ostream& out, const tally_configuration_t& c) {
  return out << "form " << c.form << ", " << c.groups << " work-groups";
}

namespace {

using stretto::test::Rng;
using Configurations = std::vector<tally_configuration_t>;

constexpr uint32_t kOriginal = STRETTO_FORM_ORIGINAL, kSlice = STRETTO_FORM_SLICE,
                   kPreempt = STRETTO_FORM_PREEMPT;

// An A100 has 108 units.
tally_kernel_t kernel_of(uint32_t work_groups, uint32_t wavefronts = 8, uint32_t resident = 8) {
  return {work_groups, wavefronts, 108, resident, 1, 1};
}

Configurations candidates_of(const tally_kernel_t& kernel) {
  const tally_policy_t policy = tally_policy_defaults();
  Configurations all(TALLY_CANDIDATES);
  all.resize(tally_candidates(&policy, &kernel, all.data()));
  return all;
}

TEST_CASE("defaults are those of the artifact", "[TL-SCHED-09]") {
  const tally_policy_t p = tally_policy_defaults();
  CHECK(p.turnaround_threshold_ns == 31'600);  // 0.0316 ms.
  CHECK(p.min_idle_before_best_effort_ns == 100'000);
  CHECK(p.idle_before_original_kernels_ns == 100'000'000);
  CHECK(p.ptb_max_threads_per_unit == 1024);
  CHECK(p.min_worker_blocks == 24);
  CHECK(p.profile_iterations == 5);
  CHECK(p.fallback_speed_threshold == 100);
  CHECK(p.short_kernel_speed_threshold == 500);
  CHECK(p.preemption_estimate_divisor == 2);
  CHECK(tally_policy_error(&p) == nullptr);
}

TEST_CASE("what makes no policy is said in a line") {
  const auto error = [](auto change) {
    tally_policy_t p = tally_policy_defaults();
    change(p);
    const char* line = tally_policy_error(&p);
    return std::string(line == nullptr ? "" : line);
  };
  CHECK(error([](auto& p) { p.turnaround_threshold_ns = 0; }) == "the turnaround threshold is 0");
  CHECK(error([](auto& p) { p.ptb_max_threads_per_unit = 31; }) != "");
  CHECK(error([](auto& p) { p.threads_per_wavefront = 0; }) != "");
  CHECK(error([](auto& p) { p.min_worker_blocks = 0; }) != "");
  CHECK(error([](auto& p) { p.speed_step = 0; }) != "");
  CHECK(error([](auto& p) { p.speed_step = 1001; }) != "");
  CHECK(error([](auto& p) { p.fallback_speed_threshold = 1001; }) != "");
  CHECK(error([](auto& p) { p.preemption_estimate_divisor = 0; }) != "");
  CHECK(error([](auto& p) { p.profile_iterations = 0; }) != "");
}

TEST_CASE("candidates are multiples of the units within the limit of threads, largest first",
          "[TL-SCHED-05]") {
  // 8 wavefronts are 256 threads: 4 work-groups in 1,024 threads.
  CHECK(candidates_of(kernel_of(1'080)) == Configurations{{kPreempt, 432},
                                                          {kSlice, 360},
                                                          {kPreempt, 324},
                                                          {kSlice, 270},
                                                          {kPreempt, 216},
                                                          {kSlice, 216},
                                                          {kPreempt, 108},
                                                          {kSlice, 108}});
  // 3 a unit are more than there are: 250; ceil(250 / 216) = 2 slices, ceil(250 / 108) = 3.
  CHECK(candidates_of(kernel_of(250)) == Configurations{{kPreempt, 250},
                                                        {kSlice, 250},
                                                        {kPreempt, 216},
                                                        {kSlice, 125},
                                                        {kPreempt, 108},
                                                        {kSlice, 84}});
}

TEST_CASE("no candidate has more workers than a unit holds, or than the limit allows",
          "[TL-SCHED-10]") {
  CHECK(candidates_of(kernel_of(5'000, 8, 2)).front() == tally_configuration_t{kPreempt, 216});
  CHECK(candidates_of(kernel_of(5'000, 40, 2)).front() == tally_configuration_t{kPreempt, 108});
  CHECK(candidates_of(kernel_of(100'000, 1, 32)).size() == 64);
  CHECK(candidates_of(kernel_of(108)).empty());
  CHECK(candidates_of(kernel_of(1)).empty());
}

TEST_CASE("a configuration is a form and its work-groups, but none that was refused",
          "[TL-SCHED-04]") {
  tally_kernel_t kernel = kernel_of(250, 8, 1);
  kernel.can_preempt = 0;
  CHECK(candidates_of(kernel) == Configurations{{kSlice, 84}});
  kernel.can_slice = 0;
  CHECK(candidates_of(kernel).empty());
}

TEST_CASE("of a kernel without candidates fewer run at a time, and 24 at least", "[TL-SCHED-10]") {
  const tally_policy_t policy = tally_policy_defaults();
  const auto chosen = [&](uint32_t groups, uint64_t original_ns, int can_preempt = 1) {
    tally_kernel_t kernel = kernel_of(groups);
    kernel.can_preempt = can_preempt;
    const tally_profile_t profile{original_ns, 0, nullptr, nullptr};
    return tally_choose(&policy, &kernel, &profile);
  };
  CHECK(chosen(108, 31'600) == tally_configuration_t{kOriginal, 108});
  // All of them at once are met 100 us before their end: 31.6 % of them.
  CHECK(chosen(108, 200'000) == tally_configuration_t{kPreempt, 34});
  CHECK(chosen(108, 1'000'000) == tally_configuration_t{kPreempt, 24});
  CHECK(chosen(60, 200'000) == tally_configuration_t{kPreempt, 24});
  CHECK(chosen(24, 200'000) == tally_configuration_t{kOriginal, 24});
  CHECK(chosen(5, 200'000) == tally_configuration_t{kOriginal, 5});
  // 9 slices of 28.9 us would have fewer than 24.
  CHECK(chosen(108, 200'000, 0) == tally_configuration_t{kSlice, 22});
  CHECK(chosen(24, 200'000, 0) == tally_configuration_t{kOriginal, 24});
}

TEST_CASE("turnaround of a sliced kernel is the time of a slice", "[TL-PROF-03]") {
  const tally_policy_t policy = tally_policy_defaults();
  const tally_kernel_t kernel = kernel_of(250);
  CHECK(tally_launches(&kernel, {kSlice, 84}) == 3);
  CHECK(tally_turnaround_ns(&policy, &kernel, {kSlice, 84}, 90'000) == 30'000);
}

TEST_CASE("turnaround of a preemptive kernel is duration by work-groups a worker", "[TL-PROF-04]") {
  tally_policy_t policy = tally_policy_defaults();
  policy.preemption_estimate_divisor = 1;
  const tally_kernel_t kernel = kernel_of(1'080);
  // Each of 108 workers runs 10.
  CHECK(tally_turnaround_ns(&policy, &kernel, {kPreempt, 108}, 500'000) == 50'000);
}

TEST_CASE("a worker is met in the middle of its task on average", "[TL-PROF-05]") {
  const tally_policy_t policy = tally_policy_defaults();
  const tally_kernel_t kernel = kernel_of(1'080);
  CHECK(tally_turnaround_ns(&policy, &kernel, {kPreempt, 108}, 500'000) == 25'000);
}

TEST_CASE("the original kernel frees the GPU when it ends", "[TL-PROF-02]") {
  const tally_policy_t policy = tally_policy_defaults();
  const tally_kernel_t kernel = kernel_of(1'080);
  CHECK(tally_turnaround_ns(&policy, &kernel, {kOriginal, 1'080}, 500'000) == 500'000);
}

TEST_CASE("fewer workers, a shorter turnaround at the same rate of tasks", "[TL-SCHED-06]") {
  const tally_policy_t policy = tally_policy_defaults();
  const tally_kernel_t kernel = kernel_of(10'800);
  uint64_t before = UINT64_MAX;
  for (uint32_t workers = 432; workers > 0; workers -= 108) {
    const uint64_t now = tally_turnaround_ns(&policy, &kernel, {kPreempt, workers}, 1'000'000);
    CHECK(now < before);
    before = now;
  }
}

// A kernel of 432 work-groups, 2 a unit: P 216, S 216, P 108, S 108.
struct Subject {
  tally_policy_t policy = tally_policy_defaults();
  tally_kernel_t kernel = kernel_of(432, 16);
  Configurations candidates = candidates_of(kernel);
  tally_configuration_t choose(uint64_t original_ns, std::vector<uint64_t> duration_ns) const {
    REQUIRE(duration_ns.size() == candidates.size());
    const tally_profile_t profile{original_ns, static_cast<uint32_t>(candidates.size()),
                                  candidates.data(), duration_ns.data()};
    return tally_choose(&policy, &kernel, &profile);
  }
};

TEST_CASE("the fastest stage that a configuration within the threshold reaches has it",
          "[TL-SCHED-11]") {
  Subject s;
  REQUIRE(s.candidates ==
          Configurations{{kPreempt, 216}, {kSlice, 216}, {kPreempt, 108}, {kSlice, 108}});
  // Turnarounds: d / 4, d / 2, d / 8, d / 4. Original 100 us.
  // All within 31.6 us: the first one of speed 0.9 is P 216, though S 108 is faster.
  CHECK(s.choose(100'000, {110'000, 63'000, 120'000, 105'000}) ==
        tally_configuration_t{kSlice, 216});  // 63 us: faster than the original, first of stage 1.
  CHECK(s.choose(100'000, {110'000, 64'000, 120'000, 105'000}) ==
        tally_configuration_t{kPreempt, 216});
  // P 216 is too slow to stop, and P 108 reaches 0.8.
  CHECK(s.choose(100'000, {127'000, 64'000, 125'000, 400'000}) ==
        tally_configuration_t{kPreempt, 108});
  CHECK(s.choose(100'000, {0, 0, 0, 126'400}) == tally_configuration_t{kSlice, 108});
}

TEST_CASE("where none is short enough fewer workers run, or more slices", "[TL-SCHED-10]") {
  Subject s;
  // Speed 0.1 is the last stage: 100 / 0.1 = 1,000 us. P 108 needs 125 us to stop.
  CHECK(s.choose(100'000, {1'000'000, 1'000'000, 1'000'000, 1'000'000}) ==
        tally_configuration_t{kPreempt, 27});
  CHECK(s.choose(1'000'000, {1'000'000, 1'000'000, 2'000'000, 2'000'000}) ==
        tally_configuration_t{kPreempt, 24});
  // 4 slices are faster than workers; 5 of 26 us are wanted.
  CHECK(s.choose(100'000, {1'000'000, 1'000'000, 300'000, 299'999}) ==
        tally_configuration_t{kSlice, 87});
  // As many slices as a candidate has; and none of fewer than 24.
  CHECK(s.choose(40'000, {0, 0, 0, 200'000}) == tally_configuration_t{kSlice, 108});
  CHECK(s.choose(1'000'000, {0, 0, 0, 1'000'000}) == tally_configuration_t{kSlice, 24});
  // Slower than a tenth: as it is.
  CHECK(s.choose(100'000, {1'000'000, 1'000'000, 1'000'001, 1'000'001}) ==
        tally_configuration_t{kOriginal, 432});
  CHECK(s.choose(100'000, {0, 0, 0, 0}) == tally_configuration_t{kOriginal, 432});
}

TEST_CASE("a kernel shorter than the threshold asks for half its speed", "[TL-SCHED-11]") {
  Subject s;
  CHECK(s.choose(30'000, {60'000, 0, 0, 0}) == tally_configuration_t{kPreempt, 216});
  CHECK(s.choose(30'000, {60'001, 0, 0, 0}) == tally_configuration_t{kOriginal, 432});
  CHECK(s.choose(31'600, {100'000, 0, 0, 0}) == tally_configuration_t{kOriginal, 432});
  CHECK(s.choose(31'601, {100'000, 0, 0, 0}) == tally_configuration_t{kPreempt, 216});
  // The first of them, whatever is faster.
  CHECK(s.choose(30'000, {59'000, 30'000, 0, 0}) == tally_configuration_t{kPreempt, 216});
}

TEST_CASE("the text's objective takes the fastest within the threshold",
          "[TL-SCHED-07][TL-PROF-02]") {
  Subject s;
  s.policy.objective = TALLY_OBJECTIVE_FASTEST;
  CHECK(s.choose(100'000, {110'000, 64'000, 120'000, 105'000}) ==
        tally_configuration_t{kSlice, 108});
  CHECK(s.choose(100'000, {127'000, 64'000, 253'000, 127'000}) ==
        tally_configuration_t{kSlice, 87});
  s.policy.turnaround_threshold_ns = 32'000;
  CHECK(s.choose(100'000, {127'000, 64'000, 253'000, 127'000}) ==
        tally_configuration_t{kSlice, 216});
}

// TL-SCHED-11 once more, over all (stage, candidate) pairs at once: of those that hold, the one of
// the highest stage, then the first.
std::optional<tally_configuration_t> searched(const tally_policy_t& p, const tally_kernel_t& kernel,
                                              uint64_t original, const Configurations& candidates,
                                              const std::vector<uint64_t>& durations) {
  struct Found {
    int stage;
    size_t index;
  };
  std::vector<Found> all;
  for (int stage = 10; stage >= 1; --stage) {
    if (original <= p.turnaround_threshold_ns && stage != 5) continue;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (durations[i] == 0) continue;
      const double speed = static_cast<double>(original) / static_cast<double>(durations[i]);
      const uint64_t launches =
          (kernel.work_groups + candidates[i].groups - 1) / candidates[i].groups;
      const uint64_t turnaround =
          candidates[i].form == kSlice
              ? durations[i] / launches
              : durations[i] * candidates[i].groups / kernel.work_groups / 2;
      if (speed >= stage / 10.0 - 1e-12 && turnaround <= p.turnaround_threshold_ns)
        all.push_back({stage, i});
    }
  }
  const auto best = std::max_element(all.begin(), all.end(), [](const Found& a, const Found& b) {
    return a.stage != b.stage ? a.stage < b.stage : a.index > b.index;
  });
  if (best != all.end()) return candidates[best->index];
  return std::nullopt;
}

// Where none is found, from ratios.
tally_configuration_t restricted(const tally_policy_t& p, const tally_kernel_t& kernel,
                                 uint64_t original, const Configurations& candidates,
                                 const std::vector<uint64_t>& durations) {
  const tally_configuration_t whole{kOriginal, kernel.work_groups};
  const auto groups = static_cast<double>(kernel.work_groups);
  std::map<uint32_t, double> last;  // Of the fewest work-groups at a time.
  double slices = std::ceil(1.3 * static_cast<double>(original) /
                            static_cast<double>(p.turnaround_threshold_ns));
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (durations[i] != 0) last[candidates[i].form] = static_cast<double>(durations[i]);
    if (candidates[i].form == kSlice)
      slices = std::max(slices, std::ceil(groups / candidates[i].groups));
  }
  if (candidates.empty()) last[kPreempt] = static_cast<double>(original);
  const bool by_workers =
      last.count(kPreempt) != 0 && (last.count(kSlice) == 0 || last[kPreempt] <= last[kSlice]);
  const double duration = last.empty() ? 1e30 : by_workers ? last[kPreempt] : last[kSlice];
  if (duration > 10.0 * static_cast<double>(original)) return whole;
  if (by_workers) {
    const double of_units = std::min<double>(kernel.units, groups);
    const double turnaround = std::floor(duration * of_units / groups / 2);
    const double workers = std::max(
        24.0, std::floor(static_cast<double>(p.turnaround_threshold_ns) * of_units / turnaround));
    if (workers >= groups) return whole;
    return {kPreempt, static_cast<uint32_t>(workers)};
  }
  slices = std::min(slices, std::ceil(groups / 24));
  if (slices <= 1) return whole;
  return {kSlice, static_cast<uint32_t>(std::ceil(groups / slices))};
}

TEST_CASE("the choice is that of a search over all stages and candidates", "[TL-SCHED-11]") {
  Rng rng(2);
  unsigned found = 0, originals = 0, fallbacks = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    tally_policy_t policy = tally_policy_defaults();
    policy.turnaround_threshold_ns = rng.between(5'000, 200'000);
    const tally_kernel_t kernel{static_cast<uint32_t>(rng.between(1, 3'000)),
                                static_cast<uint32_t>(rng.between(1, 32)),
                                static_cast<uint32_t>(rng.between(1, 200)),
                                static_cast<uint32_t>(rng.between(1, 32)),
                                1,
                                1};
    Configurations candidates(TALLY_CANDIDATES);
    candidates.resize(tally_candidates(&policy, &kernel, candidates.data()));
    const uint64_t original = rng.between(1'000, 2'000'000);
    std::vector<uint64_t> durations;
    for (size_t i = 0; i < candidates.size(); ++i)
      durations.push_back(rng.below(10) == 0 ? 0 : original * rng.between(50, 1'200) / 100);
    const tally_profile_t profile{original, static_cast<uint32_t>(candidates.size()),
                                  candidates.data(), durations.data()};
    const tally_configuration_t got = tally_choose(&policy, &kernel, &profile);
    const auto wanted = searched(policy, kernel, original, candidates, durations);
    if (wanted) {
      REQUIRE(got == *wanted);
      ++found;
    } else if (original <= policy.turnaround_threshold_ns) {
      REQUIRE(got.form == kOriginal);
      ++originals;
    } else {
      REQUIRE(got == restricted(policy, kernel, original, candidates, durations));
      ++fallbacks;
    }
  }
  CHECK(std::min({found, originals, fallbacks}) > 100);
}

// Something to start since 1 ms; high priority idle since then.
tally_situation_t idle_situation() {
  tally_situation_t s{};
  s.now_ns = 1'000'000;
  s.high_idle_since_ns = 1'000'000;
  s.waiting = 1;
  return s;
}

tally_decision_t decided(const tally_situation_t& s) {
  const tally_policy_t policy = tally_policy_defaults();
  return tally_decide(&policy, &s);
}

TEST_CASE("best effort starts 0.1 ms after the last high-priority kernel, and originals after 100",
          "[TL-SCHED-09]") {
  tally_situation_t s = idle_situation();
  CHECK(decided(s).action == TALLY_HOLD);
  CHECK(decided(s).until_ns == 1'100'000);
  s.now_ns = 1'099'999;
  CHECK(decided(s).action == TALLY_HOLD);
  s.now_ns = 1'100'000;
  CHECK(decided(s).action == TALLY_START);
  s.now_ns = 100'999'999;
  CHECK(decided(s).action == TALLY_START);
  s.now_ns = 101'000'000;
  CHECK(decided(s).action == TALLY_START_ORIGINAL);
}

TEST_CASE("no best-effort kernel starts while high priority is active", "[TL-SCHED-02]") {
  tally_situation_t s = idle_situation();
  s.now_ns = 200'000'000;
  s.high_active = 1;
  CHECK(decided(s).action == TALLY_HOLD);
  CHECK(decided(s).until_ns == UINT64_MAX);
}

TEST_CASE("the kernel in flight is stopped once when high priority comes", "[TL-SCHED-03]") {
  tally_situation_t s = idle_situation();
  s.in_flight = s.can_stop = 1;
  CHECK(decided(s).action == TALLY_HOLD);
  s.high_active = 1;
  CHECK(decided(s).action == TALLY_STOP);
  s.stopping = 1;
  CHECK(decided(s).action == TALLY_HOLD);
  s.stopping = s.can_stop = 0;
  CHECK(decided(s).action == TALLY_HOLD);
}

TEST_CASE("one best-effort kernel is in flight at most", "[TL-SCHED-08]") {
  tally_situation_t s = idle_situation();
  s.now_ns = 200'000'000;
  s.in_flight = s.can_stop = 1;
  CHECK(decided(s).action == TALLY_HOLD);
  CHECK(decided(s).until_ns == UINT64_MAX);
  s.in_flight = 0;
  CHECK(decided(s).action == TALLY_START_ORIGINAL);
  s.waiting = 0;
  CHECK(decided(s).action == TALLY_HOLD);
}

}  // namespace
