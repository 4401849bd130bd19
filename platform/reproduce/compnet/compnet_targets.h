// SPDX-License-Identifier: Apache-2.0
// The published results of ComP-Net and how each is computed from simulations.
#ifndef STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_TARGETS_H_
#define STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_TARGETS_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "platform/campaign/campaign.h"
#include "platform/campaign/targets.h"

namespace stretto {

// What a result needs to be simulated.
enum class CompnetSource { get, loaded, jacobi };

// All results of the paper, in the order of the table.
const std::vector<std::string>& compnet_ids();
std::set<CompnetSource> compnet_sources(const std::string& id);
std::vector<CampaignRun> compnet_runs(CompnetSource source);

// The result of a simulation by folder; null: it has none.
using CompnetResults = std::function<const ResultFile*(const std::string& folder)>;
// `host_queue`: the dGPU design has its queues in host memory, not in GPU memory (CN-D7).
Measured measure_compnet(const std::string& id, bool host_queue, const CompnetResults& results);

// Figures 8a, 8b and 9 as tables: a line a simulated point.
std::string compnet_csv(const CompnetResults& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_TARGETS_H_
