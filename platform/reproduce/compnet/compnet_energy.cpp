// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/compnet/compnet_energy.h"

#include <fmt/format.h>

#include "platform/campaign/targets.h"

namespace stretto {

namespace {

struct Experiment {
  EnergyExperiment experiment;
  const char* name;
  unsigned servers;
};

std::vector<Experiment> experiments() {
  std::vector<Experiment> all{{EnergyExperiment::loaded, "loaded", 2}};
  for (const unsigned servers : kReduceServers)
    all.push_back({EnergyExperiment::all_reduce, "all_reduce", servers});
  return all;
}

// Of the servers below `servers` in a run.
ServiceTime time_of(const CompnetResults& results, const std::string& folder,
                    const std::string& design, unsigned servers) {
  const ResultFile* const file = results(folder);
  if (file == nullptr) throw MissingSimulations({folder});
  ServiceTime sum;
  if (design != kCompnetDesign) {
    for (const ResultValue& core : file->root().at("job").at("cores").items()) {
      if (core.at("server").whole() >= servers) continue;
      sum.busy_us += core.at("busy_us").number();
      sum.stalled_us += core.at("waiting_us").number();
    }
    return sum;
  }
  const ResultValue statistics = file->root().at("statistics");
  constexpr double kMhz = 2000;  // Table 1.
  for (unsigned server = 0; server < servers; ++server)
    for (unsigned hart = 0; hart < kHarts; ++hart) {
      const std::string name = fmt::format("gpu{}.cp.hart{}.", server, hart);
      sum.busy_us += statistics.at(name + "busy_cycles").number() / kMhz;
      sum.stalled_us += statistics.at(name + "waiting_cycles").number() / kMhz;
    }
  return sum;
}

std::string folder_of(EnergyExperiment experiment, const std::string& design, unsigned servers) {
  return experiment == EnergyExperiment::loaded ? loaded_folder(design, kHarts, 1)
                                                : reduce_folder(design, servers, kReduceBytes);
}

}  // namespace

ServiceTime service_time(const CompnetResults& results, EnergyExperiment experiment,
                         const std::string& design, unsigned servers) {
  const std::string folder = folder_of(experiment, design, servers);
  if (experiment == EnergyExperiment::all_reduce) return time_of(results, folder, design, servers);
  // Server 0 asks.
  const ServiceTime once = time_of(results, folder, design, 1);
  const ServiceTime twice = time_of(results, loaded_folder(design, kHarts, 2), design, 1);
  return {twice.busy_us - once.busy_us, twice.stalled_us - once.stalled_us};
}

ServicePower service_power(const CompnetResults& results, EnergyExperiment experiment,
                           unsigned servers) {
  const ResultValue energy =
      compnet_job(results, folder_of(experiment, kCompnetDesign, servers)).at("energy");
  return {energy.at("hart_mw").number(), energy.at("host_core_mw").number(),
          energy.at("stall_percent").number() / 100};
}

EnergyRatio energy_ratio(const CompnetResults& results, EnergyExperiment experiment,
                         const std::string& design, unsigned servers) {
  const ServiceTime own = service_time(results, experiment, kCompnetDesign, servers),
                    other = service_time(results, experiment, design, servers);
  const ServicePower power = service_power(results, experiment, servers);
  const double times = own.at(power.stall_share) / other.at(power.stall_share);
  EnergyRatio all;
  all.ratio = times * power.hart / power.host_core;
  all.needed_third = 3 * times;
  all.needed_half = 2 * times;
  for (const double share : kStallShares)
    for (const double ratio : kPowerRatios) {
      ++all.cells;
      all.less += own.at(share) < ratio * other.at(share);
    }
  return all;
}

std::string energy_csv(const CompnetResults& results) {
  std::string csv =
      "experiment,servers,design,busy_us,stalled_us,energy_uj,stall_share,power_ratio,"
      "compnet_over_design\n";
  for (const auto& [experiment, name, servers] : experiments())
    for (const char* design : kServedDesigns) {
      const auto measured = [&, e = experiment, n = servers] {
        return service_time(results, e, kCompnetDesign, n).busy_us +
               service_time(results, e, design, n).busy_us;
      };
      if (!has_result(measured)) continue;
      const ServiceTime own = service_time(results, experiment, kCompnetDesign, servers),
                        one = service_time(results, experiment, design, servers);
      const ServicePower power = service_power(results, experiment, servers);
      const bool by_harts = design == std::string(kCompnetDesign);
      const double uj = one.at(power.stall_share) * (by_harts ? power.hart : power.host_core) / 1e3;
      csv += fmt::format("{},{},{},{:.1f},{:.1f},{:.3f},,,\n", name, servers, design, one.busy_us,
                         one.stalled_us, uj);
      if (by_harts) continue;
      for (const double share : kStallShares)
        for (const double ratio : kPowerRatios)
          csv += fmt::format("{},{},{},,,,{},{},{:.4f}\n", name, servers, design, share, ratio,
                             own.at(share) / (ratio * one.at(share)));
    }
  return csv;
}

}  // namespace stretto
