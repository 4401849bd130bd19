// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce NAME`: simulates what a table of published results needs, then prints the
// table. Help, messages, default folder, options and time limit come from this description.
#ifndef STRETTO_PLATFORM_REPRODUCE_REPRODUCTION_H_
#define STRETTO_PLATFORM_REPRODUCE_REPRODUCTION_H_

#include <boost/program_options.hpp>

#include <string>
#include <vector>

#include "platform/campaign/reproduce_options.h"

namespace stretto {

struct Reproduction {
  std::string name;           // "t3".
  std::string sentence;       // What it reproduces.
  std::string figures;        // Allowed for --figure, as "16, 17, 18"; empty: it has none.
  unsigned time_limit_s = 0;  // Default of --time-limit; 0 = none.
  // Declares options that only this reproduction has; null: none. Their values are text, so that
  // run() says what is wrong with them.
  void (*add_options)(boost::program_options::options_description& own) = nullptr;
  // Exit status: 0 if every simulation passed its checks (targets may be missed), else that of the
  // first failure. `own`: values of its own options. Throws UserError before any simulation.
  int (*run)(const ReproduceOptions& options, const boost::program_options::variables_map& own);
};

// All of them, in the order of the help text (registry.cpp).
const std::vector<Reproduction>& reproductions();

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_REPRODUCTION_H_
