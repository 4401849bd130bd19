// SPDX-License-Identifier: Apache-2.0
// Energy of the threads that serve command queues: harts of command processors or cores of hosts.
// E = power x (time that they execute + share x time that they wait for memory or a bus). Times are
// counted by the simulation; powers are the machine's energy.* and cited there. Nothing is fitted:
// the grid says what other powers would give.
#ifndef STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_ENERGY_H_
#define STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_ENERGY_H_

#include <array>
#include <string>

#include "platform/reproduce/compnet/compnet_runs.h"

namespace stretto {

// Power of a host core over that of a hart; power of a thread that waits over one that executes.
inline constexpr std::array<double, 5> kPowerRatios{2, 4, 8, 16, 24};
inline constexpr std::array<double, 3> kStallShares{0.2, 0.5, 0.8};

// Of all threads that serve.
struct ServiceTime {
  double busy_us = 0;
  double stalled_us = 0;
  double at(double stall_share) const { return busy_us + stall_share * stalled_us; }
};

// In mW: those of the machine.
struct ServicePower {
  double hart = 0, host_core = 0, stall_share = 0;
};

enum class EnergyExperiment { loaded, all_reduce };

// loaded: of a round of 480 operations, two threads each: what a run with two rounds has more than
// one with a round, so without begin and end. all_reduce: of a run of `servers` servers.
ServiceTime service_time(const CompnetResults& results, EnergyExperiment experiment,
                         const std::string& design, unsigned servers);
ServicePower service_power(const CompnetResults& results, EnergyExperiment experiment,
                           unsigned servers);

struct EnergyRatio {
  double ratio = 0;         // Of ComP-Net over the design, with the machine's powers.
  double needed_third = 0;  // Ratio of powers at which it would be a third, a half.
  double needed_half = 0;
  unsigned less = 0, cells = 0;  // Of the grid: in how many ComP-Net takes less.
};
EnergyRatio energy_ratio(const CompnetResults& results, EnergyExperiment experiment,
                         const std::string& design, unsigned servers);

// All of it: times, energies, the grid.
std::string energy_csv(const CompnetResults& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_ENERGY_H_
