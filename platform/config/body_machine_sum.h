// SPDX-License-Identifier: Apache-2.0
// Which machine measured times of work-groups hold for (models/sampled).
#ifndef STRETTO_PLATFORM_CONFIG_BODY_MACHINE_SUM_H_
#define STRETTO_PLATFORM_CONFIG_BODY_MACHINE_SUM_H_

#include <string>

#include "platform/config/machine.h"

namespace stretto {

// Of all parameters that the times of work-groups depend on: 16 hex digits.
std::string body_machine_sum(const Machine& machine);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CONFIG_BODY_MACHINE_SUM_H_
