// SPDX-License-Identifier: Apache-2.0
// The published results of T3 and how each is computed from simulations.
#ifndef STRETTO_PLATFORM_REPRODUCE_T3_T3_TARGETS_H_
#define STRETTO_PLATFORM_REPRODUCE_T3_T3_TARGETS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/campaign/targets.h"
#include "platform/reproduce/t3/t3_cases.h"
#include "platform/reproduce/t3/t3_models.h"

namespace stretto {

// A reduce-scatter on four GPUs (Fig 14).
struct T3Transfer {
  uint64_t bytes = 0;                              // Of the array.
  std::optional<uint64_t> time_ns = std::nullopt;  // Without value: not simulated.
  double gb_s() const { return 0.75 * static_cast<double>(bytes) / static_cast<double>(*time_ns); }
};

// Of one machine; also what has no results.
struct T3Results {
  std::vector<T3Case> cases;
  std::vector<T3Model> models = {};
  std::vector<T3Transfer> sweep = {};
  T3Case direct = {.name = "linked GPUs"};  // Modes direct and t3.
};

// All ids that are published, in the order of the table.
const std::vector<std::string>& t3_ids();
// A target that needs a simulation that is missing is not judged.
Measured measure_t3(const std::string& id, const T3Results& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_T3_T3_TARGETS_H_
