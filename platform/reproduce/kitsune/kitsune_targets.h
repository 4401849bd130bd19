// SPDX-License-Identifier: Apache-2.0
// The published results of Kitsune and how each is computed from plans and simulations. A published
// figure is only compared with.
#ifndef STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_TARGETS_H_
#define STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_TARGETS_H_

#include <set>
#include <string>
#include <vector>

#include "platform/campaign/targets.h"
#include "platform/reproduce/kitsune/kitsune_results.h"

namespace stretto {

// What results are computed from.
enum class KitsuneSource {
  queue,            // kitsune/queue.
  widths,           // Plans of MLPs, by their width.
  sweep,            // dlrm by rows.
  inference_plans,  // Of all modes,
  training_plans,
  inference,  // and simulations.
  training,
  inference_vertical,  // Likewise, with fused groups.
  training_vertical,
  inference_twice,  // On the machine with twice the compute and L2 bandwidth.
  training_twice,
};

// All results of the paper, in the order of kitsune.yaml.
const std::vector<std::string>& kitsune_ids();
std::set<KitsuneSource> kitsune_sources(const std::string& id);
Measured measure_kitsune(const Target& target, const KitsuneResults& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_TARGETS_H_
