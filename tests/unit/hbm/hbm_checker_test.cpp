// SPDX-License-Identifier: Apache-2.0
// Question: does the independent checker know every rule, tightly, and does the scheduler never
// break one?
//
// Per rule of a set: the shortest legal command sequence that ends with the rule's pair is legal at
// t and refused under its name at t - 1; where a stronger rule hides it, the pair's distance is the
// longer one (said in the test). Then: 10^6 random commands of the real scheduler without a
// violation, and each rule of the scheduler's own table made one cycle short is found.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "models/common/error.h"
#include "models/hbm/checker.h"
#include "models/hbm/dram_scheduler.h"
#include "models/hbm/timing_table.h"
#include "tests/support/seeded_rng.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr uint64_t kFar = 400;  // Cycles after which no rule binds any more.

bool is_refresh(DramCommand command) {
  return command == DramCommand::refresh || command == DramCommand::refresh_bank;
}

// A channel prepared so that only `rule` can bind between its two commands, which are at `first`
// and later.
class RuleProbe {
 public:
  RuleProbe(const std::string& set, const HbmChecker::Rule& rule)
      : checker_(set, 1, Refresh::none), rule_(rule) {
    const unsigned same_group = 1, other_group = 4;
    first_bank_ = 0;
    second_bank_ = rule.scope == HbmChecker::Scope::bank    ? 0u
                   : rule.scope == HbmChecker::Scope::group ? same_group
                                                            : other_group;
    // Rows that the two commands need open. Activations long before, one every kFar cycles.
    const bool first_wants_open = rule.before != DramCommand::activate && !is_refresh(rule.before);
    if (first_wants_open) open(first_bank_);
    const bool second_wants_open = rule.after != DramCommand::activate && !is_refresh(rule.after);
    if (second_wants_open && second_bank_ != first_bank_) open(second_bank_);
    issue(rule.before, first_bank_, 0);
    first_ = now_;
    // Between an activation and the next of the same bank lies a precharge, as early as it may be.
    if (rule.before == DramCommand::activate && rule.after == DramCommand::activate &&
        second_bank_ == first_bank_) {
      uint64_t at = first_ + 1;
      while (checker_.broken_rule(0, at, DramCommand::precharge, 0, 0) != nullptr) ++at;
      checker_.on_command(0, at, DramCommand::precharge, 0, 0);
    }
  }
  // The rule that refuses the second command `distance` cycles after the first, or "".
  std::string refused(uint64_t distance) const {
    const char* name = checker_.broken_rule(0, first_ + distance, rule_.after, second_bank_, 0);
    return name == nullptr ? "" : name;
  }
  // Fewest cycles at which the second command is legal.
  uint64_t earliest() const {
    uint64_t distance = 1;
    while (!refused(distance).empty()) ++distance;
    return distance;
  }

 private:
  void open(unsigned bank) { issue(DramCommand::activate, bank, kFar); }
  void issue(DramCommand command, unsigned bank, uint64_t then) {
    checker_.on_command(0, now_, command, bank, 0);
    now_ += then;
  }
  HbmChecker checker_;
  const HbmChecker::Rule rule_;
  unsigned first_bank_ = 0;
  unsigned second_bank_ = 0;
  uint64_t now_ = 1000;
  uint64_t first_ = 0;
};

void check_rules(const std::string& set) {
  const HbmChecker table(set, 1, Refresh::none);
  std::map<std::string, unsigned> shown;
  for (const HbmChecker::Rule& rule : table.rules()) {
    RuleProbe probe(set, rule);
    INFO(set << " " << rule.name << " " << name_of(rule.before) << " -> " << name_of(rule.after));
    const uint64_t earliest = probe.earliest();
    CHECK(earliest >= rule.cycles);
    const std::string at_last = probe.refused(earliest - 1);
    if (earliest != rule.cycles)
      continue;  // A longer rule binds this pair; it is counted under its own name.
    // Two rules of equal length may both bind: either name is right.
    bool known = false;
    for (const HbmChecker::Rule& other : table.rules()) {
      known = known || (at_last == other.name && other.before == rule.before &&
                        other.after == rule.after && other.cycles == rule.cycles);
    }
    // tRC is the sum of tRAS and tRP in the sets, where the early activation breaks both.
    if (std::string(rule.name) == "tRC") known = known || at_last == "tRP";
    CHECK(known);
    ++shown[rule.name];
  }
  for (const HbmChecker::Rule& rule : table.rules()) {
    INFO(set << " " << rule.name);
    CHECK(shown[rule.name] > 0);
  }
}

}  // namespace

TEST_CASE("every rule of the t3 set is legal at its cycle and refused one earlier") {
  check_rules("t3");
}
TEST_CASE("every rule of the HBM2 set is legal at its cycle and refused one earlier") {
  check_rules("hbm2_generic");
}

TEST_CASE("a fifth activation waits for tFAW") {
  HbmChecker checker("hbm2_generic", 1, Refresh::none);
  // tRRD 4 spaces them by 4, 4, 4; the fifth may come 15 after the first but for tRRD (16): shift
  // the first by hand.
  for (const uint64_t at : {100, 104, 108, 112})
    checker.on_command(0, at, DramCommand::activate, (at - 100) / 4 * 4, 0);
  CHECK(std::string(checker.broken_rule(0, 115, DramCommand::activate, 1, 0)) == "tRRD_S");
  CHECK(checker.broken_rule(0, 116, DramCommand::activate, 1, 0) == nullptr);
  CHECK(std::string(checker.broken_rule(0, 114, DramCommand::activate, 1, 0)) == "tFAW");
}

TEST_CASE("rows must be open for columns and closed for activations and refresh") {
  HbmChecker checker("t3", 1, Refresh::none);
  CHECK(checker.broken_rule(0, 10, DramCommand::read, 0, 0) != nullptr);
  CHECK(checker.broken_rule(0, 10, DramCommand::precharge, 0, 0) != nullptr);
  checker.on_command(0, 10, DramCommand::activate, 0, 7);
  CHECK(checker.broken_rule(0, 500, DramCommand::read, 0, 8) != nullptr);
  CHECK(checker.broken_rule(0, 500, DramCommand::read, 0, 7) == nullptr);
  CHECK(checker.broken_rule(0, 500, DramCommand::activate, 0, 8) != nullptr);
  CHECK(checker.broken_rule(0, 500, DramCommand::refresh, 0, 0) != nullptr);
  checker.on_command(0, 500, DramCommand::read, 0, 7);
  CHECK_THROWS_AS(checker.on_command(0, 501, DramCommand::read, 0, 7), CheckError);
}

TEST_CASE("two columns or two rows in one cycle are refused") {
  HbmChecker checker("t3", 1, Refresh::none);
  checker.on_command(0, 10, DramCommand::activate, 0, 0);
  CHECK(std::string(checker.broken_rule(0, 10, DramCommand::activate, 4, 0)) ==
        "two row commands in one cycle");
  checker.on_command(0, 20, DramCommand::activate, 4, 0);
  checker.on_command(0, 100, DramCommand::read, 0, 0);
  CHECK(std::string(checker.broken_rule(0, 100, DramCommand::read, 4, 0)) ==
        "two column commands in one cycle");
}

TEST_CASE("a forgotten refresh is found") {
  HbmChecker checker("t3", 1, Refresh::all_bank);
  CHECK(checker.broken_rule(0, 3900, DramCommand::activate, 0, 0) == nullptr);
  CHECK(std::string(checker.broken_rule(0, 4001, DramCommand::activate, 0, 0)) == "tREFI");
}

namespace {

// Drives a scheduler with random atoms until the checker has seen `commands`; returns its message,
// or "".
std::string drive(HbmSpec spec, uint64_t commands, uint64_t salt) {
  const TimingSet set = timing_set(spec.timing, spec.fault_timing_rule);
  spec.channels = 1;
  HbmChecker checker(spec.timing, 1, spec.refresh);
  const TimingTable table(set);
  DramScheduler scheduler(0, spec, set, table, &checker);
  Rng rng(salt);
  unsigned load = 3;
  uint64_t issued = 0;
  uint64_t pushed = 0;
  unsigned rows = 4;
  try {
    for (uint64_t cycle = 1; checker.commands() < commands; ++cycle) {
      if (scheduler.tick(cycle) != DramScheduler::kNone) ++issued;
      if (rng.chance(1, 2000)) {
        load = static_cast<unsigned>(rng.between(1, 40));
        rows = static_cast<unsigned>(rng.between(1, 6));
      }
      if (scheduler.full() || !rng.chance(1, load)) continue;
      constexpr DramCommand kKinds[] = {DramCommand::read, DramCommand::read, DramCommand::write,
                                        DramCommand::update};
      scheduler.push(cycle, static_cast<uint32_t>(pushed++), static_cast<unsigned>(rng.below(16)),
                     static_cast<uint32_t>(rng.below(rows)), kKinds[rng.below(4)], true, false);
    }
  } catch (const CheckError& error) {
    return error.what();
  }
  return issued > commands / 4 ? "" : "too few columns";
}

}  // namespace

TEST_CASE("a forgotten refresh of a bank is found") {
  HbmChecker checker("hbm2_generic", 1, Refresh::single_bank);
  CHECK(std::string(checker.broken_rule(0, 344, DramCommand::activate, 0, 0)) == "tREFI");
  // All banks but bank 15, again and again.
  for (unsigned i = 0; i < 17; ++i)
    checker.on_command(0, 243 * (i + 1), DramCommand::refresh_bank, i % 15, 0);
  CHECK(checker.broken_rule(0, 4140, DramCommand::activate, 0, 0) == nullptr);
  CHECK(std::string(checker.broken_rule(0, 4140, DramCommand::activate, 15, 0)) ==
        "tREFI of a bank");
}

TEST_CASE("refreshes of a channel at rest are checked like single ones") {
  using enum DramCommand;
  const auto rested = [](DramCommand command, uint64_t interval, uint64_t count) {
    HbmChecker checker("hbm2_generic", 1,
                       command == refresh ? Refresh::all_bank : Refresh::single_bank);
    checker.on_idle_refreshes(0, 100, interval, count, command, 0);
    return checker;
  };
  for (const uint64_t count : {1, 15, 16, 17, 18, 31, 32, 33, 1000}) {
    INFO(count);
    HbmChecker single("hbm2_generic", 1, Refresh::single_bank);
    for (uint64_t i = 0; i < count; ++i)
      single.on_command(0, 100 + 243 * i, refresh_bank, i % kHbmBanks, 0);
    const HbmChecker all = rested(refresh_bank, 243, count);
    CHECK(all.commands() == single.commands());
    const uint64_t end = 100 + 243 * (count - 1);
    for (unsigned bank = 0; bank < kHbmBanks; ++bank) {
      for (const uint64_t at : {end + 1, end + 7, end + 8, end + 100, end + 250, end + 344}) {
        const char* const one = single.broken_rule(0, at, activate, bank, 0);
        const char* const other = all.broken_rule(0, at, activate, bank, 0);
        CHECK(std::string(one == nullptr ? "" : one) == (other == nullptr ? "" : other));
      }
    }
  }
  CHECK_THROWS_WITH(rested(refresh_bank, 344, 1000), Catch::Matchers::Contains("tREFI"));
  CHECK_THROWS_WITH(rested(refresh_bank, 7, 1000), Catch::Matchers::Contains("tRREFD"));
  CHECK_THROWS_WITH(rested(refresh, 4001, 1000), Catch::Matchers::Contains("tREFI"));
  HbmChecker open("hbm2_generic", 1, Refresh::single_bank);
  open.on_command(0, 10, activate, 9, 0);
  CHECK_THROWS_WITH(open.on_idle_refreshes(0, 200, 243, 1000, refresh_bank, 0),
                    Catch::Matchers::Contains("REFSB with an open row"));
}

namespace {

class CommandList final : public CommandObserver {
 public:
  void on_command(unsigned, uint64_t cycle, DramCommand command, unsigned bank, uint32_t) override {
    all.emplace_back(cycle, command, bank);
  }
  std::vector<std::tuple<uint64_t, DramCommand, unsigned>> all;
};

}  // namespace

TEST_CASE("a channel at rest refreshes as one that is looked at all the time") {
  const Refresh how = GENERATE(Refresh::all_bank, Refresh::single_bank);
  HbmSpec spec;
  spec.timing = "hbm2_generic";
  spec.refresh = how;
  const TimingSet set = timing_set(spec.timing, spec.fault_timing_rule);
  const TimingTable table(set);
  CommandList asleep_list, awake_list;
  DramScheduler asleep(3, spec, set, table, &asleep_list), awake(3, spec, set, table, &awake_list);
  uint64_t cycle = 5;
  Rng rng(11);
  for (unsigned access = 0; access < 400; ++access) {
    const unsigned bank = static_cast<unsigned>(rng.below(16));
    const uint32_t row = static_cast<uint32_t>(rng.below(3));
    const DramCommand command = rng.below(2) == 0 ? DramCommand::read : DramCommand::write;
    // From a few clocks to hundreds of rounds.
    const uint64_t rest = rng.below(uint64_t{1} << (4 + rng.below(17)));
    for (uint64_t at = cycle; at < cycle + rest; at += 50) awake.tick(at);
    cycle += rest;
    if (rng.below(2) == 0) asleep.tick(cycle);
    if (rng.below(2) == 0) awake.tick(cycle);
    asleep.push(cycle, access, bank, row, command, true, false);
    awake.push(cycle, access, bank, row, command, true, false);
    while (asleep.size() != 0) {
      ++cycle;
      const uint32_t issued = asleep.tick(cycle);
      REQUIRE(awake.tick(cycle) == issued);
    }
  }
  REQUIRE(asleep_list.all.size() == awake_list.all.size());
  REQUIRE(asleep_list.all.size() > 5'000);
  REQUIRE(asleep_list.all == awake_list.all);
  REQUIRE(asleep.counters().commands == awake.counters().commands);
}

TEST_CASE("a bank that refreshes is not activated, others are after tRREFD") {
  HbmChecker checker("hbm2_generic", 1, Refresh::single_bank);
  checker.on_command(0, 100, DramCommand::refresh_bank, 3, 0);
  CHECK(std::string(checker.broken_rule(0, 259, DramCommand::activate, 3, 0)) == "tRFCSB");
  CHECK(checker.broken_rule(0, 260, DramCommand::activate, 3, 0) == nullptr);
  CHECK(std::string(checker.broken_rule(0, 107, DramCommand::activate, 9, 0)) == "tRREFD");
  CHECK(checker.broken_rule(0, 108, DramCommand::activate, 9, 0) == nullptr);
  checker.on_command(0, 108, DramCommand::activate, 9, 0);
  CHECK(std::string(checker.broken_rule(0, 150, DramCommand::refresh_bank, 9, 0)) ==
        "REFSB with an open row");
}

TEST_CASE("a million random commands break no rule in the t3 set") {
  CHECK(drive(HbmSpec{}, 1'000'000, 1) == "");
}
TEST_CASE("a million random commands break no rule where banks refresh in turn") {
  HbmSpec spec;
  spec.timing = "hbm2_generic";
  spec.refresh = Refresh::single_bank;
  CHECK(drive(spec, 1'000'000, 7) == "");
}
TEST_CASE("a million random commands break no rule in the HBM2 set under write watermarks") {
  HbmSpec spec;
  spec.timing = "hbm2_generic";
  spec.write_policy = WritePolicy::watermark;
  CHECK(drive(spec, 1'000'000, 2) == "");
}

TEST_CASE("each timing rule made one cycle short is found by name") {
  for (const std::string set : {"t3", "hbm2_generic"}) {
    std::set<std::string> names;
    for (const TimingRule& rule : timing_set(set).rules) names.insert(rule.name);
    for (const std::string& name : names) {
      HbmSpec spec;
      spec.timing = set;
      spec.fault_timing_rule = name;
      if (name == "tRFCSB" || name == "tRREFD") spec.refresh = Refresh::single_bank;
      const std::string message = drive(spec, 1'000'000, 3);
      INFO(set << " " << name << ": " << message);
      // A short rule never binds where others are as long for its pairs: tRC = tRAS + tRP, tRRD_L =
      // tRRD_S, tFAW (15) is below four tRRD, and t3 has one tWTR for both levels.
      const bool hidden =
          name == "tRC" || name == "tRRD_L" || name == "tFAW" || (set == "t3" && name == "tWTR_L");
      if (hidden) {
        CHECK(message == "");
      } else {
        CHECK(message.find(" breaks t") != std::string::npos);
      }
    }
  }
}

TEST_CASE("an unknown timing set or rule is refused with what is allowed") {
  CHECK_THROWS_WITH(timing_set("ddr9"), Catch::Matchers::Contains("t3|hbm2_generic"));
  CHECK_THROWS_WITH(timing_set("t3", "tXYZ"), Catch::Matchers::Contains("tXYZ"));
}
