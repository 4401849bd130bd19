// SPDX-License-Identifier: Apache-2.0
// Question: does an issue port's closed form decide what a loop over clocks decides: in each clock
// the first ready wavefront behind the one that issued last? State space: traces (slots, stalls) x
// arrivals x how much of a trace is known at a time. The loop over clocks below is written from
// issue_port.h's first paragraph and shares nothing with the port.
#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "models/gpu/compute_unit/issue_port.h"
#include "tests/support/seeded_rng.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr unsigned kPositions = 16;

// One instruction: not ready for `stall` clocks behind the next one.
using Instructions = std::vector<uint32_t>;

struct Arrival {
  Cycle at;
  unsigned position;
  Instructions before;  // Then comes one that others see.
};

// What a pipe's operation takes: slot j not before begin + floor(j clocks / slots).
struct PipeOperation {
  Cycle begin;
  Cycle clocks;
  uint64_t slots;
  uint64_t positions;
};
using Pipes = std::vector<PipeOperation>;  // One a pipe, two at most.

// Who issues what others see, and when.
using Turns = std::vector<std::pair<Cycle, unsigned>>;

// Positions one behind the other; in each the pipes before the wavefront itself.
Turns clock_by_clock(std::vector<Arrival> arrivals, const Pipes& pipes = {}) {
  struct State {
    std::deque<uint32_t> stalls;
    Cycle ready;
  };
  std::map<unsigned, State> present;
  Turns turns;
  std::vector<uint64_t> issued(2, 0);
  unsigned last = 2;  // Position 0, the wavefront itself; three turns a position.
  for (Cycle now = 0; !arrivals.empty() || !present.empty(); ++now) {
    for (auto it = arrivals.begin(); it != arrivals.end();) {
      if (it->at == now) {
        present[it->position] = {{it->before.begin(), it->before.end()}, now};
        it = arrivals.erase(it);
      } else {
        ++it;
      }
    }
    for (unsigned i = 1; i <= 3 * kPositions; ++i) {
      const unsigned turn = (last + i) % (3 * kPositions), who = turn / 3, whose = turn % 3;
      if (whose < 2) {
        if (whose >= pipes.size()) continue;
        const PipeOperation& pipe = pipes[whose];
        if (issued[whose] == pipe.slots || (pipe.positions >> who & 1) == 0 || now < pipe.begin ||
            now < pipe.begin + issued[whose] * pipe.clocks / pipe.slots)
          continue;
        last = turn;
        ++issued[whose];
        break;
      }
      const auto found = present.find(who);
      if (found == present.end() || found->second.ready > now) continue;
      last = turn;
      if (found->second.stalls.empty()) {
        turns.push_back({now, who});
        present.erase(found);
      } else {
        found->second.ready = now + 1 + found->second.stalls.front();
        found->second.stalls.pop_front();
      }
      break;
    }
  }
  return turns;
}

// The same through the port, `step` instructions of a trace at a time. `pulls`: wavefronts are taken
// out now and then, and enter again at once.
class Driven final : private IssueSource {
 public:
  Driven(std::vector<Arrival> arrivals, size_t step, Pipes pipes = {}, bool pulls = false)
      : arrivals_(std::move(arrivals)),
        pipes_(std::move(pipes)),
        step_(step),
        pulls_(pulls),
        port_(0, kPositions, *this) {}

  Turns run() {
    std::stable_sort(arrivals_.begin(), arrivals_.end(),
                     [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
    Turns turns;
    size_t next = 0;
    std::vector<bool> begun(pipes_.size(), false);
    for (;;) {
      const Cycle look = port_.next();
      const Cycle come = next < arrivals_.size() ? arrivals_[next].at : kUnknown;
      Cycle now = std::min(look, come);
      if (now == kUnknown) break;
      for (size_t i = 0; i < pipes_.size(); ++i) {
        if (!begun[i]) now = std::min(now, pipes_[i].begin);
      }
      // In parts: what is decided does not depend on how often the port is asked.
      for (Cycle part = port_.clock() + 1; part < now; part += 1 + rng_.below(200)) {
        port_.advance(part);
        for (unsigned i = 0; pulls_ && i < kPositions; ++i)
          if (port_.holds(i)) port_.enter(i, port_.pull(i));
      }
      port_.advance(now);
      for (unsigned i = 0; i < pipes_.size(); ++i) {
        if (begun[i] || pipes_[i].begin != now) continue;
        begun[i] = true;
        port_.start(i, now, pipes_[i].clocks, pipes_[i].slots, pipes_[i].positions);
      }
      for (; next < arrivals_.size() && arrivals_[next].at == now; ++next) {
        const Arrival& arrival = arrivals_[next];
        left_[arrival.position] = {arrival.before.begin(), arrival.before.end()};
        port_.trace(arrival.position).clear();
        port_.enter(arrival.position, now);
      }
      while (const auto who = port_.turn(now)) {
        port_.leave(*who);
        port_.take(*who);
        turns.push_back({now, *who});
      }
    }
    return turns;
  }

 private:
  bool extend(unsigned, unsigned position) override {
    std::deque<uint32_t>& left = left_[position];
    if (left.empty()) return false;
    for (size_t i = 0; i < step_ && !left.empty(); ++i) {
      port_.trace(position).add_slots(1);
      port_.trace(position).add_stall(left.front());
      left.pop_front();
    }
    port_.trace(position).close();
    return !left.empty();
  }

  std::vector<Arrival> arrivals_;
  const Pipes pipes_;
  const size_t step_;
  const bool pulls_;
  Rng rng_{4};
  std::map<unsigned, std::deque<uint32_t>> left_;
  IssuePort port_;
};

Instructions loop(size_t rounds, size_t slots, uint32_t stall) {
  Instructions all;
  for (size_t i = 0; i < rounds; ++i) {
    all.insert(all.end(), slots - 1, 0);
    all.push_back(stall);
  }
  return all;
}

}  // namespace

TEST_CASE("random traces issue as clock by clock, however much is known at a time") {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Arrival> arrivals;
    const unsigned wavefronts =
        1 + static_cast<unsigned>(rng.below(round % 2 == 0 ? 2 : kPositions));
    for (unsigned position = 0; position < wavefronts; ++position) {
      Instructions before;
      const uint64_t blocks = rng.below(20);
      for (uint64_t i = 0; i < blocks; ++i) {
        const Instructions more =
            loop(1 + rng.below(30), 1 + rng.below(20), static_cast<uint32_t>(rng.below(6)));
        before.insert(before.end(), more.begin(), more.end());
      }
      arrivals.push_back({rng.below(3000), position, before});
    }
    Pipes pipes;
    for (uint64_t i = rng.below(3); i != 0; --i) {
      const uint64_t slots = 1 + rng.below(1000);
      pipes.push_back({rng.below(3000), slots + rng.below(2000), slots,
                       1 + rng.below((uint64_t{1} << kPositions) - 1)});
    }
    const Turns expected = clock_by_clock(arrivals, pipes);
    REQUIRE(expected.size() == wavefronts);
    for (const size_t step : {1u, 7u, 64u, 4096u}) {
      INFO("round " << round << ", step " << step);
      REQUIRE(Driven(arrivals, step, pipes).run() == expected);
    }
  }
}

TEST_CASE("wavefronts that are pulled out have the rest of their traces before them") {
  Rng rng(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<Arrival> arrivals;
    const uint64_t wavefronts = 1 + rng.below(kPositions);
    for (unsigned position = 0; position < wavefronts; ++position) {
      Instructions before;
      for (uint64_t i = rng.below(20); i != 0; --i) {
        const Instructions more =
            loop(1 + rng.below(30), 1 + rng.below(20), static_cast<uint32_t>(rng.below(6)));
        before.insert(before.end(), more.begin(), more.end());
      }
      arrivals.push_back({rng.below(3000), position, before});
    }
    const Pipes pipes{{rng.below(3000), 1500, 400, 0x5A5A}};
    const Turns expected = clock_by_clock(arrivals, pipes);
    for (const size_t step : {1u, 7u, 4096u}) {
      INFO("round " << round << ", step " << step);
      REQUIRE(Driven(arrivals, step, pipes, true).run() == expected);
    }
  }
}

TEST_CASE("loops issue as clock by clock, whenever they have come and end") {
  Rng rng(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<Arrival> arrivals;
    const uint64_t wavefronts = 2 + rng.below(kPositions - 1);
    const bool equal = rng.below(2) == 0;
    uint64_t slots = 1 + rng.below(4);
    uint32_t stall = static_cast<uint32_t>(rng.below(12));
    for (unsigned position = 0; position < wavefronts; ++position) {
      if (!equal) {
        slots = 1 + rng.below(4);
        stall = static_cast<uint32_t>(rng.below(12));
      }
      arrivals.push_back({rng.below(500), position, loop(100 + rng.below(400), slots, stall)});
    }
    const Pipes pipes(rng.below(3) == 0 ? 1 : 0, PipeOperation{700, 300, 90, 0x5A5A});
    const Turns expected = clock_by_clock(arrivals, pipes);
    for (const size_t step : {1u, 7u, 4096u}) {
      INFO("round " << round << ", step " << step);
      REQUIRE(Driven(arrivals, step, pipes, round % 4 == 0 && step != 4096).run() == expected);
    }
  }
}

TEST_CASE("two equal wavefronts end a slot apart") {
  const std::vector<Arrival> arrivals{{100, 3, loop(1000, 17, 2)}, {100, 9, loop(1000, 17, 2)}};
  const Turns turns = Driven(arrivals, 4096).run();
  REQUIRE(turns.size() == 2);
  REQUIRE(turns[1].first == turns[0].first + 1);
  // A round is 34 slots and a clock in which both stall.
  REQUIRE(turns[1].first == 100 + 35'000 + 1);
}

TEST_CASE("k ready wavefronts have the k-th part each, one that is alone all of it") {
  for (const unsigned k : {1u, 2u, 3u, 8u, 16u}) {
    std::vector<Arrival> arrivals;
    for (unsigned i = 0; i < k; ++i) arrivals.push_back({0, i, Instructions(10'000, 0)});
    const Turns turns = Driven(arrivals, 100).run();
    for (const auto& [at, who] : turns) {
      REQUIRE(at >= 10'000 * k);
      REQUIRE(at < 10'000 * k + k);
    }
  }
}

TEST_CASE("a long run delays who comes by no more than its share") {
  // Ten instructions beside one that would go on for 100,000.
  const Turns turns =
      Driven({{0, 0, Instructions(100'000, 0)}, {5000, 1, Instructions(10, 0)}}, 4096).run();
  REQUIRE(turns[0].second == 1);
  REQUIRE(turns[0].first <= 5000 + 2 * 11);
}
