// SPDX-License-Identifier: Apache-2.0
// See timing_table.h.
#include "models/hbm/timing_table.h"

#include "models/common/error.h"

namespace stretto {
namespace {

// A data sheet's numbers, per column command, in clocks.
struct DataSheet {
  const char* name;
  unsigned columns_per_atom, column_cycles;  // Column commands of 64 B; data bus clocks of one.
  unsigned rl, wl, rcd_read, rcd_write, rp, ras, rc, rrd_s, rrd_l, faw;  // faw 0: the set has none.
  unsigned ccd_s, ccd_l, ccd_after_update;
  unsigned wtr_s, wtr_l, rtp, wr, rtw, rfc, refi, rfc_bank, rrefd;
};

// clang-format off
constexpr DataSheet kSheets[] = {
    // t3.yaml accel_sim_volta timing_1GHz: CCD 1 CCDL 2 RCD 14 RAS 33 RP 14 RC 47 CL 14 WL 2 CDLR 3
    // WR 12 RRD 4 RTPL 4, bus of 16 B, burst 2. CCDWL 4: T3 Table 1. RTW = CL + BL/2 + 2 - WL, the
    // rule of the simulator that the set is from; it has no refresh: tREFI and tRFC are those of
    // HBM2 below (8 Gb die, JESD235), tRFCSB and tRREFD likewise: Ramulator 2 (HBM2_2Gbps, JESD235C).
    {"t3",           2, 1, 14, 2, 14, 14, 14, 33, 47, 4, 4,  0, 1, 2, 4, 3, 3, 4, 12, 15, 350, 3900, 160, 8},
    // FACTS "common HBM2 set" (tCK 1 ns, BL 4 on 16 B): one column command is 64 B.
    // CCDWL = 2 x CCDL (T3-NMC-05).
    {"hbm2_generic", 1, 2, 14, 5, 14, 12, 14, 34, 48, 4, 4, 15, 2, 4, 8, 6, 8, 5, 16, 13, 350, 3900, 160, 8},
};
// clang-format on

TimingSet set_of(const DataSheet& s) {
  using enum DramCommand;
  using enum TimingLevel;
  const unsigned columns = s.columns_per_atom;
  const unsigned burst = columns * s.column_cycles;
  // From the first to the last column command of an atom.
  const unsigned second = burst - s.column_cycles;
  const unsigned write_end = second + s.wl + s.column_cycles;
  TimingSet set{s.name, columns, burst, s.rl, s.wl, s.refi, s.rfc, {}};
  set.rules = {
      {"tRC", bank, activate, activate, s.rc},
      {"tRRD_L", group, activate, activate, s.rrd_l},
      {"tRRD_S", channel, activate, activate, s.rrd_s},
      {"tRCDRD", bank, activate, read, s.rcd_read},
      {"tRCDWR", bank, activate, write, s.rcd_write},
      {"tRCDWR", bank, activate, update, s.rcd_write},
      {"tRAS", bank, activate, precharge, s.ras},
      {"tRP", bank, precharge, activate, s.rp},
      {"tRP", channel, precharge, refresh, s.rp},
      {"tRFC", channel, refresh, activate, s.rfc},
      {"tRFC", channel, refresh, refresh, s.rfc},
      {"tRP", bank, precharge, refresh_bank, s.rp},
      {"tRRD_L", group, activate, refresh_bank, s.rrd_l},
      {"tRRD_S", channel, activate, refresh_bank, s.rrd_s},
      {"tRFCSB", bank, refresh_bank, activate, s.rfc_bank},
      {"tRREFD", channel, refresh_bank, activate, s.rrefd},
      {"tRREFD", channel, refresh_bank, refresh_bank, s.rrefd},
      {"tRTP", bank, read, precharge, second + s.rtp},
      {"tRTW", channel, read, write, second + s.rtw},
      {"tRTW", channel, read, update, second + s.rtw},
      {"tCCD_S", channel, read, read, columns * s.ccd_s},
      {"tCCD_L", group, read, read, columns * s.ccd_l},
  };
  for (const DramCommand store : {write, update}) {
    const bool is_update = store == update;
    const char* long_name = is_update ? "tCCDWL" : "tCCD_L";
    const unsigned long_delay = columns * (is_update ? s.ccd_after_update : s.ccd_l);
    for (const DramCommand next : {write, update}) {
      set.rules.push_back({"tCCD_S", channel, store, next, columns * s.ccd_s});
      set.rules.push_back({long_name, group, store, next, long_delay});
    }
    if (is_update) set.rules.push_back({long_name, group, store, read, long_delay});
    set.rules.push_back({"tWTR_S", channel, store, read, write_end + s.wtr_s});
    set.rules.push_back({"tWTR_L", group, store, read, write_end + s.wtr_l});
    set.rules.push_back({"tWR", bank, store, precharge, write_end + s.wr});
  }
  if (s.faw != 0) set.rules.push_back({"tFAW", channel, activate, activate, s.faw, 4});
  return set;
}

}  // namespace

const char* name_of(DramCommand command) {
  constexpr const char* kNames[kDramCommands] = {"ACT", "PRE", "RD", "WR", "UPD", "REF", "REFSB"};
  return kNames[static_cast<unsigned>(command)];
}

TimingSet timing_set(const std::string& name, const std::string& fault_rule) {
  std::string names;
  for (const DataSheet& sheet : kSheets) {
    if (name != sheet.name) {
      names += std::string(names.empty() ? "" : "|") + sheet.name;
      continue;
    }
    TimingSet set = set_of(sheet);
    if (fault_rule.empty()) return set;
    bool found = false;
    std::string rules;  // A name stands for several pairs of commands.
    for (TimingRule& rule : set.rules) {
      if ((rules + ", ").find(std::string(rule.name) + ", ") == std::string::npos)
        rules.append(rules.empty() ? "" : ", ").append(rule.name);
      if (fault_rule != rule.name) continue;
      --rule.cycles;
      found = true;
    }
    if (found) return set;
    throw UserError("hbm.fault.timing_rule: the set '" + name + "' has no rule '" + fault_rule +
                    "'; it has " + rules);
  }
  throw UserError("hbm.timing: unknown timing set '" + name + "'; allowed: " + names);
}

TimingTable::TimingTable(const TimingSet& set) {
  for (const TimingRule& rule : set.rules) {
    if (rule.window > 1) {
      windows_.push_back({rule.preceding, rule.following, rule.cycles, rule.window});
      continue;
    }
    const bool covered =
        std::any_of(set.rules.begin(), set.rules.end(), [&](const TimingRule& wide) {
          return wide.window == 1 && wide.level > rule.level && wide.preceding == rule.preceding &&
                 wide.following == rule.following && wide.cycles >= rule.cycles;
        });
    if (covered || rule.following == DramCommand::update) continue;
    steps_[static_cast<unsigned>(rule.level)][static_cast<unsigned>(rule.preceding)].push_back(
        {static_cast<unsigned>(rule.following), rule.cycles});
  }
}

TimingState::TimingState(const TimingTable& table) : table_(table) {
  for (const TimingTable::Window& window : table.windows()) {
    history_.push_back({0, std::vector<uint64_t>(window.count, 0)});
  }
}

void TimingState::issue_windows(DramCommand command, uint64_t cycle) {
  for (size_t i = 0; i < history_.size(); ++i) {
    const TimingTable::Window& window = table_.windows()[i];
    if (window.preceding != command) continue;
    History& history = history_[i];
    history.last[history.next] = cycle + 1;
    history.next = history.next + 1 == history.last.size() ? 0 : history.next + 1;
    const uint64_t oldest = history.last[history.next];
    if (oldest == 0 || oldest - 1 + window.cycles <= epoch_) continue;
    raise<kHbmBanks>(&ready_[static_cast<unsigned>(window.following)][0],
                     static_cast<uint32_t>(oldest - 1 + window.cycles - epoch_));
  }
}

// What was ready before `cycle` is ready at it.
void TimingState::begin_epoch(uint64_t cycle) {
  const uint64_t passed = cycle - epoch_;
  for (Row& row : ready_) {
    for (uint32_t& ready : row)
      ready = static_cast<uint32_t>(ready - std::min<uint64_t>(ready, passed));
  }
  epoch_ = cycle;
}

}  // namespace stretto
