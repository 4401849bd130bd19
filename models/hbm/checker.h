// SPDX-License-Identifier: Apache-2.0
// Checks every DRAM command against the timing rules, from a table and a bookkeeping of its own: it
// shares nothing with timing_table.* but the names of commands, so that an error there shows here.
//
// It remembers when each command was last issued (per bank, bank group and channel), where
// timing_table.* computes when the next may be. It also checks what is not timing: rows open and
// closed, one column and one row command a cycle (a precharge-all counts as one), refresh of no
// bank forgotten.
#ifndef STRETTO_MODELS_HBM_CHECKER_H_
#define STRETTO_MODELS_HBM_CHECKER_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/hbm/dram_scheduler.h"

namespace stretto {

class HbmChecker final : public CommandObserver {
 public:
  // `set` is t3 or hbm2_generic. A channel must refresh in time, as `refresh` says.
  HbmChecker(const std::string& set, unsigned channels, Refresh refresh);

  // Throws CheckError that names channel, command, cycle and rule.
  void on_command(unsigned channel, uint64_t cycle, DramCommand command, unsigned bank,
                  uint32_t row) override;
  // Likewise: looks at a round, which all others repeat, and a refresh more.
  void on_idle_refreshes(unsigned channel, uint64_t cycle, uint64_t interval, uint64_t count,
                         DramCommand command, unsigned bank) override;
  // The name of the rule that the command would break, or null. Changes nothing.
  const char* broken_rule(unsigned channel, uint64_t cycle, DramCommand command, unsigned bank,
                          uint32_t row) const;
  uint64_t commands() const { return commands_; }

  enum class Scope : uint8_t { bank, group, channel };
  struct Rule {
    const char* name;
    Scope scope;
    DramCommand before;
    DramCommand after;
    unsigned cycles;
  };
  const std::vector<Rule>& rules() const { return rules_; }
  unsigned four_activates() const { return four_activates_; }  // tFAW; 0: none.

 private:
  static constexpr int64_t kLongAgo = -1'000'000;
  static constexpr unsigned kScopes = kHbmBanks + kHbmGroups + 1;
  struct alignas(64) Line {  // By command; the last one is not used.
    std::array<int64_t, 8> of;
  };
  // The indices in State::last of a bank, its group, the channel; in the order of Scope.
  static std::array<unsigned, 3> scopes_of(unsigned bank) {
    return {bank, kHbmBanks + bank / kHbmBanksPerGroup, kHbmBanks + kHbmGroups};
  }
  struct State {
    // When each command was last issued to each of 16 banks, 4 groups, the channel. A command looks
    // at three lines.
    std::array<Line, kScopes> last;
    std::array<int64_t, 4> activates;  // Ring of the last four.
    unsigned next_activate = 0;
    std::array<int64_t, kHbmBanks> open_row;  // -1: closed.
    int64_t last_column = kLongAgo;
    int64_t last_row = kLongAgo;
    bool last_row_was_precharge = false;
  };
  void record(State& state, int64_t cycle, DramCommand command, unsigned bank, uint32_t row);

  std::vector<Rule> rules_;
  // Cycles of the rules: [after][scope].of[before].
  std::array<std::array<Line, 3>, kDramCommands> limits_{};
  unsigned four_activates_ = 0;
  // From one refresh of a channel to the next, of a bank; 0: not checked.
  unsigned longest_refresh_gap_ = 0, longest_bank_gap_ = 0;
  DramCommand refresh_command_ = DramCommand::refresh;
  std::vector<State> states_;
  uint64_t commands_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_CHECKER_H_
