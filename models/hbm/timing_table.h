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

#include <algorithm>
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
inline constexpr uint64_t kNoCycle = ~uint64_t{0};

// `update` is the op-and-store of the near-bank ALU (T3-NMC-01). `refresh` is all-bank and wants
// all banks precharged, `refresh_bank` (REFSB) only its own.
enum class DramCommand : uint8_t {
  activate,
  precharge,
  read,
  write,
  update,
  refresh,
  refresh_bank
};
inline constexpr unsigned kDramCommands = 7;
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

// A set in the form in which commands walk it; shared by all channels.
class TimingTable {
 public:
  explicit TimingTable(const TimingSet& set);

  struct Step {
    unsigned following;  // A DramCommand.
    uint32_t cycles;
  };
  struct Window {
    DramCommand preceding;
    DramCommand following;
    uint32_t cycles;
    uint32_t count;
  };
  // What a command delays in its bank, its group, the channel. No step of a narrow level that one
  // of a wider level covers, and none to `update`, which waits for what a write waits for.
  const std::vector<Step>& steps(TimingLevel level, DramCommand preceding) const {
    return steps_[static_cast<unsigned>(level)][static_cast<unsigned>(preceding)];
  }
  const std::vector<Window>& windows() const { return windows_; }

 private:
  std::array<std::array<std::vector<Step>, kDramCommands>, 3> steps_;
  std::vector<Window> windows_;
};

// The earliest legal cycles of one channel's commands, kept by walking the table at each command.
// Per following command they fill one line of the host's cache: 16 banks, in each the latest that
// bank, group and channel ask for. Loops over them have no branches, so compilers use vectors.
class TimingState {
 public:
  // `table` outlives this.
  explicit TimingState(const TimingTable& table);

  // The first cycle at which `command` may go to `bank`, which refresh ignores.
  uint64_t ready(DramCommand command, unsigned bank) const { return epoch_ + row(command)[bank]; }
  // The banks (bits) to which `command` may go at `cycle`.
  uint32_t banks_ready(DramCommand command, uint64_t cycle) const {
    const Row& ready = row(command);
    const uint32_t now = static_cast<uint32_t>(std::min<uint64_t>(cycle - epoch_, kNever));
    uint32_t banks = 0;
    for (unsigned bank = 0; bank < kHbmBanks; ++bank) banks |= uint32_t{ready[bank] <= now} << bank;
    return banks;
  }
  // The first cycle at which `command` may go to one of `banks` (bits); kNoCycle without banks.
  uint64_t earliest(DramCommand command, uint32_t banks) const {
    const Row& ready = row(command);
    uint32_t at = kNever;
    for (unsigned bank = 0; bank < kHbmBanks; ++bank)
      at = std::min(at, ready[bank] | ((banks >> bank & 1) - 1));
    return at == kNever ? kNoCycle : epoch_ + at;
  }
  void prefetch() const {
    for (unsigned command = 0; command < static_cast<unsigned>(DramCommand::update); ++command)
      __builtin_prefetch(&ready_[command], 1);
  }
  // `bank` is ignored by refresh.
  void issue(DramCommand command, unsigned bank, uint64_t cycle) {
    if (cycle - epoch_ >= kEpoch) [[unlikely]]
      begin_epoch(cycle);
    const uint32_t now = static_cast<uint32_t>(cycle - epoch_);
    for (const TimingTable::Step& step : table_.steps(TimingLevel::bank, command))
      raise<1>(&ready_[step.following][bank], now + step.cycles);
    for (const TimingTable::Step& step : table_.steps(TimingLevel::group, command)) {
      raise<kHbmBanksPerGroup>(&ready_[step.following][bank & ~(kHbmBanksPerGroup - 1)],
                               now + step.cycles);
    }
    for (const TimingTable::Step& step : table_.steps(TimingLevel::channel, command))
      raise<kHbmBanks>(&ready_[step.following][0], now + step.cycles);
    if (!history_.empty()) issue_windows(command, cycle);
  }

 private:
  using Row = std::array<uint32_t, kHbmBanks>;  // Cycles after epoch_.
  struct History {                              // Of a window rule's preceding command.
    uint32_t next;                              // Oldest entry of `last`.
    std::vector<uint64_t> last;                 // Cycle + 1 of the last `count` commands; 0 = none.
  };
  static constexpr uint32_t kNever = ~uint32_t{0};
  static constexpr uint64_t kEpoch = uint64_t{1} << 31;

  const Row& row(DramCommand command) const {
    return ready_[static_cast<unsigned>(command == DramCommand::update ? DramCommand::write
                                                                       : command)];
  }
  template <unsigned kCount>
  static void raise(uint32_t* ready, uint32_t to) {
    for (unsigned i = 0; i < kCount; ++i) ready[i] = std::max(ready[i], to);
  }
  void issue_windows(DramCommand command, uint64_t cycle);
  void begin_epoch(uint64_t cycle);

  alignas(64) std::array<Row, kDramCommands> ready_{};
  uint64_t epoch_ = 0;
  const TimingTable& table_;
  std::vector<History> history_;  // One a window rule.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_TIMING_TABLE_H_
