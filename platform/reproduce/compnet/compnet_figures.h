// SPDX-License-Identifier: Apache-2.0
// The figures of ComP-Net as tables and pictures, and what results change with.
#ifndef STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_FIGURES_H_
#define STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_FIGURES_H_

#include <string>
#include <utility>
#include <vector>

#include "platform/campaign/plot.h"
#include "platform/reproduce/compnet/compnet_runs.h"

namespace stretto {

// Figs 4a, 4b, 8a, 8b, 9, 10a and 11: a line a simulated point.
std::string figures_csv(const CompnetResults& results);
// One parameter at a time.
std::string sensitivity_csv(const CompnetResults& results);
// Names of files, and what is drawn; those with no point are left out.
std::vector<std::pair<std::string, Plot>> compnet_plots(const CompnetResults& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_FIGURES_H_
