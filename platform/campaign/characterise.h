// SPDX-License-Identifier: Apache-2.0
// `stretto characterise`: measures what bodies of kernels take (models/sampled), and how far sampled
// runs are from simulated ones.
//
// Each workload is simulated four times with gpu.executor=measured: with all work-groups that fit on
// a unit, half of them, one, and one on every eighth unit. Sampled runs then correct launches, twice.
// Then each of them, and what is only to be checked, is run once simulated and once sampled. The
// differences go into the table, and from there into the results of every sampled run.
#ifndef STRETTO_PLATFORM_CAMPAIGN_CHARACTERISE_H_
#define STRETTO_PLATFORM_CAMPAIGN_CHARACTERISE_H_

#include <string>
#include <vector>

#include "platform/campaign/reproduce_options.h"

namespace stretto {

struct CharacteriseOptions {
  std::vector<std::string> workloads;
  std::vector<std::string> checks;  // WORKLOAD or WORKLOAD:MODE: only compared.
  std::string mode;                 // Of `workloads`; if empty, and of `checks`: the first of each.
  std::string machine;              // Empty: the workload's.
  std::string bodies;               // The table; what it has of the same machine stays.
  bool no_check = false;
  // For the runs that correct launches, behind the others' sets: sampled ones can have more launches.
  std::vector<std::string> correction_sets;
  ReproduceOptions campaign;  // jobs, out, sets, impl, time limit.
};

// Exit status. Throws UserError, Interrupted.
int characterise(const CharacteriseOptions& options);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CAMPAIGN_CHARACTERISE_H_
