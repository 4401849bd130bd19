// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/topology.h"

#include <cassert>

namespace stretto {
namespace {

constexpr uint8_t kHostNode = 0xFF;

uint8_t node_of(unsigned gpu) { return static_cast<uint8_t>(gpu + 1); }

void add_pcie(RouterSpec& spec, unsigned gpu, const LinkSpec& pcie) {
  const uint8_t port = static_cast<uint8_t>(spec.ports.size());
  spec.ports.push_back({kHostNode, static_cast<uint8_t>(gpu), pcie});
  spec.routes.emplace_back(kHostNode, port);
}

}  // namespace

RouterSpec ring(unsigned gpu, unsigned gpus, const LinkSpec& link, const LinkSpec& pcie) {
  assert(gpu < gpus);
  RouterSpec spec;
  if (gpus > 1) {
    const unsigned left = (gpu + gpus - 1) % gpus;
    const unsigned right = (gpu + 1) % gpus;
    spec.ports.push_back({node_of(left), 1, link});
    spec.ports.push_back({node_of(right), 0, link});
    spec.routes.emplace_back(node_of(left), 0);
    if (left != right) spec.routes.emplace_back(node_of(right), 1);
  }
  add_pcie(spec, gpu, pcie);
  return spec;
}

RouterSpec fully_connected(unsigned gpu, unsigned gpus, const LinkSpec& link, const LinkSpec& pcie) {
  assert(gpu < gpus);
  RouterSpec spec;
  for (unsigned other = 0; other < gpus; ++other) {
    if (other == gpu) continue;
    const uint8_t port = static_cast<uint8_t>(spec.ports.size());
    // The peer numbers its ports in the same way and leaves itself out.
    spec.ports.push_back({node_of(other), static_cast<uint8_t>(gpu < other ? gpu : gpu - 1), link});
    spec.routes.emplace_back(node_of(other), port);
  }
  add_pcie(spec, gpu, pcie);
  return spec;
}

RouterSpec mirrored_ring(unsigned gpus, const LinkSpec& link, const LinkSpec& pcie) {
  assert(gpus > 1);
  RouterSpec spec = ring(0, gpus, link, pcie);
  for (uint8_t port : {uint8_t{0}, uint8_t{1}}) {
    spec.ports[port].peer_node = node_of(0);
    spec.ports[port].peer_port = static_cast<uint8_t>(1 - port);
  }
  return spec;
}

}  // namespace stretto
