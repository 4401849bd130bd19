// SPDX-License-Identifier: Apache-2.0
// From the statistics and laws of the components to the keys of stats.json.
#ifndef STRETTO_PLATFORM_MACHINE_COLLECT_H_
#define STRETTO_PLATFORM_MACHINE_COLLECT_H_

#include <vector>

#include "models/host/host.h"
#include "models/nic/nic.h"
#include "platform/jobs/job.h"
#include "platform/machine/node.h"
#include "platform/machine/switch_node.h"
#include "platform/results/results.h"

namespace stretto {

struct MachineParts {
  std::vector<Node*> nodes;  // All, those below too.
  std::vector<const SwitchNode*> switches;
  std::vector<const Nic*> nics;  // Of one network.
  std::vector<Host*> hosts;      // By server, then processors of SmartNICs; none without jobs.
};

// Statistics, laws, digest, traffic and counters of all parts. Closes the digests: call once.
// `accounts` and `phases` are those of all jobs.
void collect_machine(const MachineParts& parts, const std::vector<Account>& accounts,
                     const std::vector<PhaseRule>& phases, Results& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_COLLECT_H_
