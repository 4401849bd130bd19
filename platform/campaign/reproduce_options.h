// SPDX-License-Identifier: Apache-2.0
// What every campaign of simulations may be asked for.
#ifndef STRETTO_PLATFORM_CAMPAIGN_REPRODUCE_OPTIONS_H_
#define STRETTO_PLATFORM_CAMPAIGN_REPRODUCE_OPTIONS_H_

#include <string>
#include <vector>

namespace stretto {

struct ReproduceOptions {
  std::string name;  // Of a reproduction, "t3".
  std::string
      command;  // "reproduce t3", "characterise" or "sweep": who runs simulations, for messages.
  std::string figure;  // Empty: all.
  unsigned jobs = 1;
  std::string out;
  std::vector<std::string> sets;
  std::string impl;  // BLOCK|all=KIND of every simulation; empty: RTL.
  bool table_only = false;
  unsigned time_limit_s = 0;  // Of all simulations together; 0 = none.
  std::string command_line;   // For a shell, to run the same again.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CAMPAIGN_REPRODUCE_OPTIONS_H_
