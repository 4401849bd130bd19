// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/topology.h"

#include <algorithm>
#include <cassert>

#include "models/common/partition.h"

namespace stretto {
namespace {

uint8_t node_of(unsigned gpu) { return static_cast<uint8_t>(gpu + 1); }
uint8_t card_node(unsigned card) { return static_cast<uint8_t>(kCardNode + card); }

void add_pcie(RouterSpec& spec, unsigned gpu, const LinkSpec& pcie) {
  const uint8_t port = static_cast<uint8_t>(spec.ports.size());
  spec.ports.push_back({kHostNode, static_cast<uint8_t>(gpu), pcie});
  spec.routes.emplace_back(kHostNode, port);
}

// A node that had a way gets a port of its own.
void lead(RouterSpec& spec, uint8_t node, const PortSpec& port) {
  const auto route = std::find_if(spec.routes.begin(), spec.routes.end(),
                                  [node](const auto& one) { return one.first == node; });
  assert(route != spec.routes.end());
  route->second = static_cast<uint8_t>(spec.ports.size());
  spec.ports.push_back(port);
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

RouterSpec ring_of_nodes(unsigned gpu, unsigned gpus, unsigned gpus_per_node, const LinkSpec& link,
                         const LinkSpec& between, const LinkSpec& pcie) {
  RouterSpec spec = ring(gpu, gpus, link, pcie);
  for (PortSpec& port : spec.ports) {
    if (port.peer_node == kHostNode) continue;
    const unsigned peer = port.peer_node - 1u;
    if (peer / gpus_per_node != gpu / gpus_per_node) port.link = between;
  }
  return spec;
}

RouterSpec fully_connected(unsigned gpu, unsigned gpus, const LinkSpec& link,
                           const LinkSpec& pcie) {
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

RouterSpec switched(unsigned gpu, unsigned gpus, const LinkSpec& link, const LinkSpec& pcie) {
  assert(gpu < gpus);
  RouterSpec spec;
  spec.ports.push_back({kSwitchNode, static_cast<uint8_t>(gpu), link});
  for (unsigned other = 0; other < gpus; ++other) {
    if (other != gpu) spec.routes.emplace_back(node_of(other), 0);
  }
  spec.routes.emplace_back(kSwitchNode, 0);
  add_pcie(spec, gpu, pcie);
  return spec;
}

RouterSpec pcie_switched(unsigned gpu, unsigned gpus, const LinkSpec& pcie, unsigned cards) {
  assert(gpu < gpus);
  RouterSpec spec;
  spec.ports.push_back({kSwitchNode, static_cast<uint8_t>(gpu), pcie});
  for (unsigned other = 0; other < gpus; ++other) {
    if (other != gpu) spec.routes.emplace_back(node_of(other), 0);
  }
  spec.routes.emplace_back(kHostNode, 0);
  for (unsigned card = 0; card < cards; ++card) spec.routes.emplace_back(card_node(card), 0);
  return spec;
}

RouterSpec card_port(unsigned card, unsigned gpus, const LinkSpec& pcie) {
  RouterSpec spec;
  spec.ports.push_back({kSwitchNode, static_cast<uint8_t>(gpus + 1 + card), pcie});
  for (unsigned gpu = 0; gpu < gpus; ++gpu) spec.routes.emplace_back(node_of(gpu), 0);
  spec.routes.emplace_back(kHostNode, 0);
  return spec;
}

RouterSpec switch_of(unsigned gpus, const LinkSpec& link, bool host, unsigned cards) {
  RouterSpec spec;
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    spec.ports.push_back({node_of(gpu), 0, link});
    spec.routes.emplace_back(node_of(gpu), static_cast<uint8_t>(gpu));
  }
  if (host) spec.routes.emplace_back(kHostNode, static_cast<uint8_t>(gpus));
  if (host || cards != 0) spec.ports.push_back({kHostNode, 0, link});
  for (unsigned card = 0; card < cards; ++card) {
    spec.routes.emplace_back(card_node(card), static_cast<uint8_t>(spec.ports.size()));
    spec.ports.push_back({card_node(card), 0, link});
  }
  return spec;
}

RouterSpec host_direct(const LinkSpec& pcie, const std::vector<uint8_t>& ports) {
  RouterSpec spec;
  for (unsigned gpu = 0; gpu < ports.size(); ++gpu) {
    spec.routes.emplace_back(node_of(gpu), static_cast<uint8_t>(gpu));
    spec.ports.push_back({node_of(gpu), ports[gpu], pcie});
  }
  return spec;
}

RouterSpec host_switched(unsigned gpus, const LinkSpec& pcie, unsigned cards) {
  RouterSpec spec;
  spec.ports.push_back({kSwitchNode, static_cast<uint8_t>(gpus), pcie});
  for (unsigned gpu = 0; gpu < gpus; ++gpu) spec.routes.emplace_back(node_of(gpu), 0);
  for (unsigned card = 0; card < cards; ++card) spec.routes.emplace_back(card_node(card), 0);
  return spec;
}

uint8_t ClusterWiring::node_at(unsigned server, unsigned port) const {
  if (port == gpus) return kHostNode;
  return port < gpus ? node_of(server * gpus + port) : static_cast<uint8_t>(kNicNode + server);
}

// As a machine of these GPUs alone has them, without its PCIe.
RouterSpec ClusterWiring::links_of(unsigned server, unsigned gpu_of_server) const {
  if (peers == PeerLinks::none || gpu_of_server >= gpus) return {};
  RouterSpec spec = peers == PeerLinks::ring ? ring(gpu_of_server, gpus, link, pcie)
                                             : fully_connected(gpu_of_server, gpus, link, pcie);
  spec.ports.pop_back();
  spec.routes.pop_back();
  const uint8_t first = static_cast<uint8_t>(server * gpus);
  for (PortSpec& port : spec.ports) port.peer_node = static_cast<uint8_t>(port.peer_node + first);
  for (auto& [node, port] : spec.routes) node = static_cast<uint8_t>(node + first);
  return spec;
}

// What is at a port of the server's switch has a link there, which leads to all others.
RouterSpec ClusterWiring::end(unsigned server, unsigned port) const {
  assert(server < servers && servers <= kMaxServers);
  RouterSpec spec = links_of(server, port);
  const std::vector<std::pair<uint8_t, uint8_t>> linked = spec.routes;
  const uint8_t to_switch = static_cast<uint8_t>(spec.ports.size());
  spec.ports.push_back(
      {static_cast<uint8_t>(kServerSwitchNode + server), static_cast<uint8_t>(port), pcie});
  for (unsigned other = 0; other < gpus + 2; ++other) {
    const uint8_t node = node_at(server, other);
    const bool is_linked = std::any_of(linked.begin(), linked.end(),
                                       [node](const auto& route) { return route.first == node; });
    if (other != port && !is_linked) spec.routes.emplace_back(node, to_switch);
  }
  return spec;
}

RouterSpec ClusterWiring::gpu(unsigned server, unsigned gpu_of_server) const {
  RouterSpec spec = end(server, gpu_of_server);
  if (coherent)
    lead(spec, kHostNode, {kHostNode, static_cast<uint8_t>(1 + gpu_of_server), *coherent});
  return spec;
}
RouterSpec ClusterWiring::host(unsigned server) const {
  RouterSpec spec = end(server, gpus);
  for (unsigned gpu = 0; gpu < gpus && coherent; ++gpu) {
    const size_t links = links_of(server, gpu).ports.size();
    lead(spec, node_at(server, gpu),
         {node_at(server, gpu), static_cast<uint8_t>(links + 1), *coherent});
  }
  return spec;
}
RouterSpec ClusterWiring::nic(unsigned server) const { return end(server, gpus + 1); }

RouterSpec ClusterWiring::server_switch(unsigned server) const {
  RouterSpec spec;
  for (unsigned port = 0; port < gpus + 2; ++port) {
    const size_t links = links_of(server, port).ports.size();
    spec.ports.push_back({node_at(server, port), static_cast<uint8_t>(links), pcie});
    spec.routes.emplace_back(node_at(server, port), static_cast<uint8_t>(port));
  }
  return spec;
}

PortSpec ClusterWiring::network_port(unsigned server) const {
  return {kSwitchNode, static_cast<uint8_t>(server), network};
}

RouterSpec ClusterWiring::network_switch() const {
  RouterSpec spec;
  for (unsigned server = 0; server < servers; ++server) {
    const uint8_t node = static_cast<uint8_t>(kNicNode + server);
    spec.ports.push_back({node, 1, network});
    spec.routes.emplace_back(node, static_cast<uint8_t>(server));
  }
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
