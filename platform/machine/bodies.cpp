// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/bodies.h"

#include <fmt/format.h>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/config/body_machine_sum.h"
#include "platform/config/peaks.h"

namespace stretto {
namespace {

std::string command(const Machine& machine, const std::string& workload) {
  return fmt::format(
      "stretto characterise {} --machine {} --bodies {}, with what this run sets of gpu, l2 and "
      "hbm",
      workload, machine.name(), machine.spec().sampled.bodies);
}

}  // namespace

BodyRates body_rates(const MachineSpec& spec) {
  const Peaks peaks = peaks_of(spec);
  return {.clock_mhz = spec.gpu.clock_mhz,
          .issue_ports = spec.gpu.issue_ports,
          .units = spec.gpu.cus,
          .l2_bytes_per_us = static_cast<uint64_t>(1e3 * peaks.l2_gb_s),
          .hbm_bytes_per_us = static_cast<uint64_t>(1e3 * peaks.hbm_gb_s)};
}

BodyTable load_bodies(const Machine& machine) {
  if (machine.spec().gpu.executor != Executor::sampled) return {};
  const std::string& file = machine.spec().sampled.bodies;
  BodyTable table = BodyTable::parse(file, read_file(file));
  const std::string sum = body_machine_sum(machine);
  if (table.machine != sum)
    throw UserError(fmt::format(
        "{}: was measured on another machine (sum {}; {} with these parameters has {}): {}", file,
        table.machine, machine.name(), sum, command(machine, "WORKLOAD")));
  return table;
}

std::string missing_body(const Machine& machine, const std::string& workload,
                         const std::string& kernel, const std::string& key) {
  return fmt::format("{} has no times of kernel {} with these arguments (key {}): {}",
                     machine.spec().sampled.bodies, kernel, key, command(machine, workload));
}

}  // namespace stretto
