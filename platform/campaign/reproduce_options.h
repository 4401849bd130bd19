// SPDX-License-Identifier: Apache-2.0
// What `stretto reproduce` was asked for.
#ifndef STRETTO_PLATFORM_CAMPAIGN_REPRODUCE_OPTIONS_H_
#define STRETTO_PLATFORM_CAMPAIGN_REPRODUCE_OPTIONS_H_

#include <string>
#include <vector>

namespace stretto {

struct ReproduceOptions {
  std::string paper;
  std::string figure;  // Empty: all.
  unsigned jobs = 1;
  std::string out;
  std::string cases;  // Only cases that begin with one of these, by commas.
  std::string machines = "t3,t3-paper";
  std::string modes;  // Only these, by commas; empty: all.
  std::vector<std::string> sets;
  std::string impl;   // BLOCK|all=KIND of every simulation; empty: RTL.
  bool full = false;  // Full machines instead of mirrored ones.
  bool table_only = false;
  unsigned time_limit_s = 0;  // Of all simulations together; 0 = none.
  std::string command_line;   // For a shell, to run the same again.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CAMPAIGN_REPRODUCE_OPTIONS_H_
