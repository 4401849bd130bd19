// SPDX-License-Identifier: Apache-2.0
#include "platform/config/body_machine_sum.h"

#include <algorithm>
#include <array>

#include "models/common/component.h"

namespace stretto {
namespace {

// Change what is computed or how fast the host is, not when.
constexpr std::array<const char*, 4> kWithoutTime{"gpu.executor", "gpu.tile_values",
                                                  "gpu.step_instructions", "hbm.sleep"};

}  // namespace

std::string body_machine_sum(const Machine& machine) {
  std::string text;
  for (const Parameter& one : machine.parameters().all()) {
    const bool is_of_gpu =
        one.path.starts_with("gpu.") || one.path.starts_with("l2.") || one.path.starts_with("hbm.");
    if (!is_of_gpu || std::count(kWithoutTime.begin(), kWithoutTime.end(), one.path) != 0) continue;
    text += one.path + "=" + one.get() + "\n";
  }
  return sha256_hex(text.data(), text.size()).substr(0, 16);
}

}  // namespace stretto
