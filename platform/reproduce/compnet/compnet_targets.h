// SPDX-License-Identifier: Apache-2.0
// The published results of ComP-Net and how each is computed from simulations.
#ifndef STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_TARGETS_H_
#define STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_TARGETS_H_

#include <set>
#include <string>
#include <vector>

#include "platform/campaign/targets.h"
#include "platform/reproduce/compnet/compnet_runs.h"

namespace stretto {

// All results of the paper, in the order of the table.
const std::vector<std::string>& compnet_ids();
std::set<CompnetSource> compnet_sources(const std::string& id);
// `host_queue`: the dGPU design has its queues in host memory, not in GPU memory (CN-D7).
Measured measure_compnet(const std::string& id, bool host_queue, const CompnetResults& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_TARGETS_H_
