// SPDX-License-Identifier: Apache-2.0
// HostGroup: the hosts of several servers, to the conductor as one. Each is node 0xFF to its own
// server: what comes for that node goes to the host behind the switch that it came from.
//
// Invariant: the run ends when the programs of all hosts have ended, not before.
#ifndef STRETTO_MODELS_HOST_HOST_GROUP_H_
#define STRETTO_MODELS_HOST_HOST_GROUP_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/common/partition.h"
#include "models/host/host.h"

namespace stretto {

class HostGroup final : public HostSide {
 public:
  // Takes the place of the hosts at the conductor. REQUIRES: they outlive it, and no two have a link
  // to the same node.
  HostGroup(Conductor& conductor, std::vector<Host*> hosts);

  void deliver(Packet&& packet) override;
  uint64_t progress() const override;
  std::vector<std::string> waiting_on() const override;

 private:
  std::vector<Host*> hosts_;
  std::array<Host*, 256> behind_{};  // By the node at the other end of its link.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HOST_HOST_GROUP_H_
