// SPDX-License-Identifier: Apache-2.0
// See checker.h.
#include "models/hbm/checker.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "models/common/error.h"

namespace stretto {
namespace {

using enum DramCommand;
using Rule = HbmChecker::Rule;
using Scope = HbmChecker::Scope;

// T3 Table 1 and the 1 GHz set of t3.yaml, for atoms of two 32 B columns at t and t + 1: what the
// sheet counts from the end of a column access counts from t + 1; column spacings count twice.
const Rule kT3[] = {
    {"tRC", Scope::bank, activate, activate, 47},
    {"tRRD", Scope::channel, activate, activate, 4},
    {"tRCDRD", Scope::bank, activate, read, 14},
    {"tRCDWR", Scope::bank, activate, write, 14},
    {"tRCDWR", Scope::bank, activate, update, 14},
    {"tRAS", Scope::bank, activate, precharge, 33},
    {"tRP", Scope::bank, precharge, activate, 14},
    {"tRP", Scope::channel, precharge, refresh, 14},
    {"tRFC", Scope::channel, refresh, activate, 350},
    {"tRP", Scope::bank, precharge, refresh_bank, 14},
    {"tRRD", Scope::channel, activate, refresh_bank, 4},
    {"tRFCSB", Scope::bank, refresh_bank, activate, 160},
    {"tRREFD", Scope::channel, refresh_bank, activate, 8},
    {"tRREFD", Scope::channel, refresh_bank, refresh_bank, 8},
    {"tRTP", Scope::bank, read, precharge, 5},   // 1 + RTPL 4
    {"tWR", Scope::bank, write, precharge, 16},  // 1 + WL 2 + 1 + WR 12
    {"tWR", Scope::bank, update, precharge, 16},
    {"tRTW", Scope::channel, read, write, 16},  // 1 + (CL 14 + 1 + 2 - WL 2)
    {"tRTW", Scope::channel, read, update, 16},
    {"tWTR", Scope::channel, write, read, 7},  // 1 + WL 2 + 1 + CDLR 3
    {"tWTR", Scope::channel, update, read, 7},
    {"tCCD_S", Scope::channel, read, read, 2},  // 2 x CCD 1
    {"tCCD_S", Scope::channel, write, write, 2},
    {"tCCD_S", Scope::channel, write, update, 2},
    {"tCCD_S", Scope::channel, update, write, 2},
    {"tCCD_S", Scope::channel, update, update, 2},
    {"tCCD_L", Scope::group, read, read, 4},  // 2 x CCDL 2
    {"tCCD_L", Scope::group, write, write, 4},
    {"tCCD_L", Scope::group, write, update, 4},
    {"tCCDWL", Scope::group, update, read, 8},  // 2 x CCDWL 4
    {"tCCDWL", Scope::group, update, write, 8},
    {"tCCDWL", Scope::group, update, update, 8},
};

// FACTS "common HBM2 set": an atom is one column command, BL 4.
const Rule kHbm2[] = {
    {"tRC", Scope::bank, activate, activate, 48},
    {"tRRD_S", Scope::channel, activate, activate, 4},
    {"tRRD_L", Scope::group, activate, activate, 4},
    {"tRCDRD", Scope::bank, activate, read, 14},
    {"tRCDWR", Scope::bank, activate, write, 12},
    {"tRCDWR", Scope::bank, activate, update, 12},
    {"tRAS", Scope::bank, activate, precharge, 34},
    {"tRP", Scope::bank, precharge, activate, 14},
    {"tRP", Scope::channel, precharge, refresh, 14},
    {"tRFC", Scope::channel, refresh, activate, 350},
    {"tRP", Scope::bank, precharge, refresh_bank, 14},
    {"tRRD", Scope::channel, activate, refresh_bank, 4},
    {"tRFCSB", Scope::bank, refresh_bank, activate, 160},
    {"tRREFD", Scope::channel, refresh_bank, activate, 8},
    {"tRREFD", Scope::channel, refresh_bank, refresh_bank, 8},
    {"tRTP", Scope::bank, read, precharge, 5},
    {"tWR", Scope::bank, write, precharge, 23},  // WL 5 + 2 + WR 16
    {"tWR", Scope::bank, update, precharge, 23},
    {"tRTW", Scope::channel, read, write, 13},
    {"tRTW", Scope::channel, read, update, 13},
    {"tWTR_S", Scope::channel, write, read, 13},  // WL 5 + 2 + 6
    {"tWTR_S", Scope::channel, update, read, 13},
    {"tWTR_L", Scope::group, write, read, 15},  // WL 5 + 2 + 8
    {"tWTR_L", Scope::group, update, read, 15},
    {"tCCD_S", Scope::channel, read, read, 2},
    {"tCCD_S", Scope::channel, write, write, 2},
    {"tCCD_S", Scope::channel, write, update, 2},
    {"tCCD_S", Scope::channel, update, write, 2},
    {"tCCD_S", Scope::channel, update, update, 2},
    {"tCCD_L", Scope::group, read, read, 4},
    {"tCCD_L", Scope::group, write, write, 4},
    {"tCCD_L", Scope::group, write, update, 4},
    {"tCCDWL", Scope::group, update, read, 8},
    {"tCCDWL", Scope::group, update, write, 8},
    {"tCCDWL", Scope::group, update, update, 8},
};

bool is_column(DramCommand command) {
  return command == read || command == write || command == update;
}

// Beside the way that every command takes.
[[noreturn, gnu::cold, gnu::noinline]] void fail(const char* rule, unsigned channel, uint64_t cycle,
                                                 DramCommand command, unsigned bank, uint32_t row) {
  throw CheckError("hbm channel " + std::to_string(channel) + ": " + name_of(command) +
                   " to bank " + std::to_string(bank) + " row " + std::to_string(row) +
                   " at cycle " + std::to_string(cycle) + " breaks " + rule);
}

}  // namespace

HbmChecker::HbmChecker(const std::string& set, unsigned channels, Refresh refresh) {
  if (set == "t3") {
    rules_.assign(std::begin(kT3), std::end(kT3));
  } else {
    assert(set == "hbm2_generic");
    rules_.assign(std::begin(kHbm2), std::end(kHbm2));
    four_activates_ = 15;
  }
  // JESD235 lets a refresh wait for at most eight intervals; ours waits for open rows only: tRAS +
  // tRP + a column access. 16 banks in turn.
  if (refresh == Refresh::all_bank) longest_refresh_gap_ = 3900 + 100;
  if (refresh == Refresh::single_bank) {
    longest_refresh_gap_ = 3900 / 16 + 100;
    longest_bank_gap_ = 3900 + 100;
    refresh_command_ = refresh_bank;
  }
  for (const Rule& rule : rules_) {
    int64_t& limit = limits_[static_cast<unsigned>(rule.after)][static_cast<unsigned>(rule.scope)]
                         .of[static_cast<unsigned>(rule.before)];
    limit = std::max<int64_t>(limit, rule.cycles);
  }
  State fresh;
  for (Line& line : fresh.last) line.of.fill(kLongAgo);
  fresh.activates.fill(kLongAgo);
  fresh.open_row.fill(-1);
  states_.assign(channels, fresh);
}

const char* HbmChecker::broken_rule(unsigned channel, uint64_t at, DramCommand command,
                                    unsigned bank, uint32_t row) const {
  const State& state = states_[channel];
  const int64_t cycle = static_cast<int64_t>(at);
  if (is_column(command)) {
    if (state.open_row[bank] != static_cast<int64_t>(row))
      return "column command to a row that is not open";
    if (state.last_column == cycle) return "two column commands in one cycle";
  } else {
    if (state.last_row == cycle && !(command == precharge && state.last_row_was_precharge)) {
      return "two row commands in one cycle";
    }
    if (command == activate && state.open_row[bank] >= 0) return "ACT to a bank with an open row";
    if (command == precharge && state.open_row[bank] < 0) return "PRE to a closed bank";
    if (command == refresh) {
      for (const int64_t open : state.open_row) {
        if (open >= 0) return "REF with an open row";
      }
    }
    if (command == refresh_bank && state.open_row[bank] >= 0) return "REFSB with an open row";
    if (command == activate && four_activates_ != 0 &&
        cycle - state.activates[state.next_activate] < static_cast<int64_t>(four_activates_)) {
      return "tFAW";
    }
  }
  if (longest_refresh_gap_ != 0) {
    const auto is_late = [&](unsigned scope, unsigned gap) {
      const int64_t last = state.last[scope].of[static_cast<unsigned>(refresh_command_)];
      return cycle - (last == kLongAgo ? 0 : last) > static_cast<int64_t>(gap);
    };
    if (is_late(kScopes - 1, longest_refresh_gap_)) return "tREFI";
    if (command == activate && longest_bank_gap_ != 0 && is_late(bank, longest_bank_gap_))
      return "tREFI of a bank";
  }
  const std::array<unsigned, 3> scopes = scopes_of(bank);
  int64_t spare = 0;  // Negative: a rule is broken.
  for (unsigned scope = 0; scope < 3; ++scope) {
    const Line& last = state.last[scopes[scope]];
    const Line& limit = limits_[static_cast<unsigned>(command)][scope];
    for (unsigned i = 0; i < last.of.size(); ++i) spare |= cycle - last.of[i] - limit.of[i];
  }
  if (spare >= 0) [[likely]]
    return nullptr;
  for (const Rule& rule : rules_) {
    if (rule.after == command && cycle - state.last[scopes[static_cast<unsigned>(rule.scope)]]
                                             .of[static_cast<unsigned>(rule.before)] <
                                     static_cast<int64_t>(rule.cycles)) {
      return rule.name;
    }
  }
  return nullptr;
}

void HbmChecker::on_command(unsigned channel, uint64_t cycle, DramCommand command, unsigned bank,
                            uint32_t row) {
  if (const char* rule = broken_rule(channel, cycle, command, bank, row); rule != nullptr)
    fail(rule, channel, cycle, command, bank, row);
  record(states_[channel], static_cast<int64_t>(cycle), command, bank, row);
  ++commands_;
}

void HbmChecker::on_idle_refreshes(unsigned channel, uint64_t cycle, uint64_t interval,
                                   uint64_t count, DramCommand command, unsigned bank) {
  constexpr uint64_t kRound = kHbmBanks;
  const uint64_t looked_at = std::min(count, kRound + 1);
  for (uint64_t i = 0; i < looked_at; ++i)
    on_command(channel, cycle + i * interval, command, bank_in_turn(command, bank, i), 0);
  for (uint64_t i = std::max(looked_at, count - std::min(count, kRound)); i < count; ++i)
    record(states_[channel], static_cast<int64_t>(cycle + i * interval), command,
           bank_in_turn(command, bank, i), 0);
  commands_ += count - looked_at;
}

void HbmChecker::record(State& state, int64_t cycle, DramCommand command, unsigned bank,
                        uint32_t row) {
  for (const unsigned scope : scopes_of(bank))
    state.last[scope].of[static_cast<unsigned>(command)] = cycle;
  if (is_column(command)) {
    state.last_column = cycle;
    return;
  }
  state.last_row = cycle;
  state.last_row_was_precharge = command == precharge;
  if (command == activate) {
    state.open_row[bank] = row;
    state.activates[state.next_activate] = cycle;
    state.next_activate = (state.next_activate + 1) % 4;
  } else if (command == precharge) {
    state.open_row[bank] = -1;
  }
}

}  // namespace stretto
