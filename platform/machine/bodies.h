// SPDX-License-Identifier: Apache-2.0
// Tables of measured times (models/sampled/body_table.h) and the machine that they are of.
#ifndef STRETTO_PLATFORM_MACHINE_BODIES_H_
#define STRETTO_PLATFORM_MACHINE_BODIES_H_

#include <string>

#include "models/sampled/body_law.h"
#include "models/sampled/body_table.h"
#include "platform/config/machine.h"

namespace stretto {

BodyRates body_rates(const MachineSpec& spec);
// The file that sampled.bodies names, if the machine samples; else an empty table. Throws UserError:
// it cannot be read, was changed, or is of another machine.
BodyTable load_bodies(const Machine& machine);
// What a sampled run needs and does not have, and how to make it.
std::string missing_body(const Machine& machine, const std::string& workload,
                         const std::string& kernel, const std::string& key);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_BODIES_H_
