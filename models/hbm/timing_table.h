// SPDX-License-Identifier: Apache-2.0
// DRAM timing as a table: (level, preceding command, following command, cycles). Code walks it and
// knows no rule by name.
//
// One column command here is one atom (64 B). In a set whose burst is 32 B an atom is a pair of
// back-to-back column commands that are issued as a unit, `cycles` counting from the first of the
// pair: a delay that the source counts from a column command counts from the second, one
// column-to-column delay later. All values are memory clocks.
#ifndef STRETTO_MODELS_HBM_TIMING_TABLE_H_
#define STRETTO_MODELS_HBM_TIMING_TABLE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace stretto {

// Of a channel, in kHbmGroups bank groups; bank = group * 4 + bank in group.
inline constexpr unsigned kHbmBanks = 16;
inline constexpr unsigned kHbmGroups = 4;
inline constexpr unsigned kHbmBanksPerGroup = kHbmBanks / kHbmGroups;
inline constexpr uint32_t kAtomBytes = 64;

// `update` is the op-and-store of the near-bank ALU (T3-NMC-01). `refresh` is all-bank and wants
// all banks precharged.
enum class DramCommand : uint8_t { activate, precharge, read, write, update, refresh };
inline constexpr unsigned kDramCommands = 6;
const char* name_of(DramCommand command);

enum class TimingLevel : uint8_t { bank, group, channel };  // What the two commands have in common.

struct TimingRule {
  const char* name;
  TimingLevel level;
  DramCommand preceding;
  DramCommand following;
  unsigned cycles;      // Fewest from preceding to following.
  unsigned window = 1;  // The preceding command meant is the last but (window - 1): 4 for tFAW.
};

struct TimingSet {
  std::string name;
  unsigned columns_per_atom;  // Column commands that an atom stands for.
  unsigned burst_cycles;      // Data bus cycles of an atom: 64 B each is the channel's peak.
  unsigned read_latency;      // Column command to first data.
  unsigned write_latency;
  unsigned refresh_interval;  // tREFI.
  unsigned refresh_cycles;    // tRFC.
  std::vector<TimingRule> rules;
};

// The set called `name` (t3 | hbm2_generic), with `fault_rule`, if not empty, made one cycle short
// (fault injection). Throws UserError for an unknown set or rule.
TimingSet timing_set(const std::string& name, const std::string& fault_rule = "");

// Per following command the earliest cycles are kept in slots: 16 banks, 4 groups, the channel.
struct TimingSlots {
  static constexpr unsigned kGroup = kHbmBanks;
  static constexpr unsigned kChannel = kGroup + kHbmGroups;
  static constexpr unsigned kSlots = kChannel + 1;
  static constexpr unsigned base(DramCommand command) {
    return static_cast<unsigned>(command) * kSlots;
  }
};

// A set in the form in which commands walk it; shared by all channels.
class TimingTable {
 public:
  explicit TimingTable(const TimingSet& set);

  struct Step {
    uint16_t base;   // Slot of the following command at the rule's level.
    uint16_t shift;  // Bank number to index at that level.
    uint32_t cycles;
  };
  struct Window {
    DramCommand preceding;
    DramCommand following;
    uint32_t cycles;
    uint32_t count;
  };
  const std::vector<Step>& steps(DramCommand command) const {
    return steps_[static_cast<unsigned>(command)];
  }
  const std::vector<Window>& windows() const { return windows_; }

 private:
  std::array<std::vector<Step>, kDramCommands> steps_;
  std::vector<Window> windows_;
};

// The earliest legal cycles of one channel's commands, kept by walking the table at each command.
class TimingState {
 public:
  // `table` outlives this.
  explicit TimingState(const TimingTable& table);

  uint64_t channel_ready(DramCommand command) const {
    return ready_[Slots::base(command) + Slots::kChannel];
  }
  uint64_t group_ready(DramCommand command, unsigned group) const {
    return ready_[Slots::base(command) + Slots::kGroup + group];
  }
  void prefetch() const {  // Groups and channel of reads and writes.
    __builtin_prefetch(&ready_[Slots::base(DramCommand::read) + Slots::kGroup], 1);
    __builtin_prefetch(&ready_[Slots::base(DramCommand::write) + Slots::kGroup], 1);
  }
  uint64_t bank_ready(DramCommand command, unsigned bank) const {
    return ready_[Slots::base(command) + bank];
  }
  // All levels together.
  uint64_t ready(DramCommand command, unsigned bank) const {
    const uint64_t* of = &ready_[Slots::base(command)];
    uint64_t at = of[bank];
    if (of[Slots::kGroup + bank / kHbmBanksPerGroup] > at) {
      at = of[Slots::kGroup + bank / kHbmBanksPerGroup];
    }
    if (of[Slots::kChannel] > at) at = of[Slots::kChannel];
    return at;
  }
  // `bank` is ignored by refresh.
  void issue(DramCommand command, unsigned bank, uint64_t cycle) {
    for (const TimingTable::Step& step : table_.steps(command)) {
      uint64_t& ready = ready_[step.base + (bank >> step.shift)];
      if (cycle + step.cycles > ready) ready = cycle + step.cycles;
    }
    if (!history_.empty()) issue_windows(command, cycle);
  }

 private:
  using Slots = TimingSlots;
  struct History {               // Of a window rule's preceding command.
    uint32_t next;               // Oldest entry of `last`.
    std::vector<uint64_t> last;  // Cycle + 1 of the last `count` commands; 0 = none.
  };
  void issue_windows(DramCommand command, uint64_t cycle);

  const TimingTable& table_;
  std::array<uint64_t, kDramCommands * Slots::kSlots> ready_{};
  std::vector<History> history_;  // One a window rule.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_TIMING_TABLE_H_
