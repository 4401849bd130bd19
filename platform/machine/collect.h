// SPDX-License-Identifier: Apache-2.0
// From the statistics and laws of the components to the keys of stats.json.
#ifndef STRETTO_PLATFORM_MACHINE_COLLECT_H_
#define STRETTO_PLATFORM_MACHINE_COLLECT_H_

#include <memory>
#include <vector>

#include "models/host/host.h"
#include "platform/jobs/job.h"
#include "platform/machine/card_node.h"
#include "platform/machine/gpu_node.h"
#include "platform/machine/switch_node.h"
#include "platform/results/results.h"

namespace stretto {

// Statistics, laws, digest, traffic and counters of all GPUs. Closes the digests: call once.
// `crossbar`, `host` and `job` may be null.
void collect_machine(const std::vector<std::unique_ptr<GpuNode>>& gpus,
                     const std::vector<std::unique_ptr<CardNode>>& cards, SwitchNode* crossbar,
                     Host* host, const Job* job, Results& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_COLLECT_H_
