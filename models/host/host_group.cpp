// SPDX-License-Identifier: Apache-2.0
#include "models/host/host_group.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace stretto {

HostGroup::HostGroup(Conductor& conductor, std::vector<Host*> hosts) : hosts_(std::move(hosts)) {
  for (Host* const host : hosts_) {
    if (host->node() != kHostNode) at_[host->node()] = host;
    for (size_t i = 0; host->node() == kHostNode && i < host->links(); ++i) {
      Host*& behind = behind_[host->link(i).peer_node];
      assert(behind == nullptr);
      behind = host;
    }
    host->on_end([this, &conductor] {
      const auto ended = [](const Host* one) { return one->has_ended(); };
      if (std::all_of(hosts_.begin(), hosts_.end(), ended)) conductor.finish(0);
    });
  }
  conductor.attach_host(*this);
}

void HostGroup::deliver(Packet&& packet) {
  Host* const host =
      packet.destination == kHostNode ? behind_[packet.source] : at_[packet.destination];
  assert(host != nullptr);
  host->deliver(std::move(packet));
}

uint64_t HostGroup::progress() const {
  uint64_t sum = 0;
  for (const Host* const host : hosts_) sum += host->progress();
  return sum;
}

std::vector<std::string> HostGroup::waiting_on() const {
  std::vector<std::string> lines;
  for (const Host* const host : hosts_) {
    for (const std::string& line : host->waiting_on())
      lines.push_back(std::string(host->basename()) + ": " + line);
  }
  return lines;
}

}  // namespace stretto
