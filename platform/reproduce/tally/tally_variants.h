// SPDX-License-Identifier: Apache-2.0
// What the papers leave open and the results of `stretto reproduce tally` may depend on: variants of one pair, each with
// one input changed.
#ifndef STRETTO_PLATFORM_REPRODUCE_TALLY_TALLY_VARIANTS_H_
#define STRETTO_PLATFORM_REPRODUCE_TALLY_TALLY_VARIANTS_H_

#include <string>
#include <vector>

#include "platform/reproduce/tally/tally_targets.h"

namespace stretto {

struct TallyVariant {
  std::string name;                  // Of its folder.
  std::vector<std::string> sets;     // What it changes,
  std::vector<const char*> systems;  // in these.
  bool changes_arrivals = false;     // It has an inference under load of its own,
  bool changes_inference = false;    // and one without load, which says what load 1 means.
  bool changes_profile = false;      // Kernels of the training are measured anew.
  bool with_all_trainings = false;   // Else with the pair's.
};

const std::vector<TallyVariant>& tally_variants();

// "variants/burst-5": the folder of its simulations.
std::string tally_variant_folder(const TallyVariant& variant);
std::string tally_variant_alone_folder(const TallyVariant& variant);
std::string tally_variant_trace_folder(const TallyVariant& variant, const std::string& inference);
std::string tally_variant_profile_folder(const TallyVariant& variant);
std::string tally_variant_pair_folder(const TallyVariant& variant, const std::string& inference,
                                      const std::string& training, const char* system);

// A line for each that has run, behind those of the pair without a change.
std::string tally_variants_csv(const TallyResults& results, const std::string& inference,
                               const std::vector<std::string>& trainings);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_TALLY_TALLY_VARIANTS_H_
