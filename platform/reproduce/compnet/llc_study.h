// SPDX-License-Identifier: Apache-2.0
// ComP-Net's Fig 7 (CN-R20 to -R22): what the command processor finds in the L2 while work-groups that
// use the network run beside others that stream, with and without locked lines.
#ifndef STRETTO_PLATFORM_REPRODUCE_COMPNET_LLC_STUDY_H_
#define STRETTO_PLATFORM_REPRODUCE_COMPNET_LLC_STUDY_H_

#include <string>
#include <vector>

#include "platform/reproduce/compnet/compnet_targets.h"

namespace stretto {

std::vector<CampaignRun> llc_runs();
// Throws MissingSimulations.
Measured measure_hit_rate(const CompnetResults& results);
Measured measure_locked_drop(const CompnetResults& results);
Measured measure_lock_time(const CompnetResults& results);
// A line a simulation; empty: there is none.
std::string llc_csv(const CompnetResults& results);
// fig7.svg and .png in the folder.
void plot_llc(const std::string& folder, const CompnetResults& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_COMPNET_LLC_STUDY_H_
