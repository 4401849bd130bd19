// SPDX-License-Identifier: Apache-2.0
// HostGroup: the hosts of several servers, and processors of SmartNICs, to the conductor as one. Each
// host is node 0xFF to its own server: what comes for that node goes to the host behind the switch
// that it came from. A SmartNIC's processor is a node of its own.
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
  // to the same node, or one of them is no node 0xFF.
  HostGroup(Conductor& conductor, std::vector<Host*> hosts);

  void deliver(Packet&& packet) override;
  uint64_t progress() const override;
  std::vector<std::string> waiting_on() const override;

 private:
  std::vector<Host*> hosts_;
  std::array<Host*, 256> behind_{};  // Node 0xFF, by the node at the other end of its link,
  std::array<Host*, 256> at_{};      // others, by their own.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HOST_HOST_GROUP_H_
