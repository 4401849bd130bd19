// SPDX-License-Identifier: Apache-2.0
// From the statistics and laws of the components to the keys of stats.json.
#ifndef STRETTO_PLATFORM_MACHINE_COLLECT_H_
#define STRETTO_PLATFORM_MACHINE_COLLECT_H_

#include <vector>

#include "models/fabric/switch.h"
#include "models/host/host.h"
#include "platform/jobs/job.h"
#include "platform/machine/node.h"
#include "platform/results/results.h"

namespace stretto {

// Statistics, laws, digest, traffic and counters of all nodes. Closes the digests: call once.
// `crossbar` and `host` may be null. `accounts` and `phases` are those of all jobs; a host has
// jobs.
void collect_machine(const std::vector<Node*>& nodes, const Switch* crossbar, Host* host,
                     const std::vector<Account>& accounts, const std::vector<PhaseRule>& phases,
                     Results& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_COLLECT_H_
