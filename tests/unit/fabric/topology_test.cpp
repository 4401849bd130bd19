// SPDX-License-Identifier: Apache-2.0
// Question: do both ends of each link of a cluster name each other, has each node a route to all of
// its server and to nobody else, and do peers with a link of their own use it? State space: servers,
// GPUs of each, links between them. No expected number: the rules are those of topology.h.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>

#include "models/fabric/topology.h"

namespace stretto {
namespace {

constexpr uint8_t kHost = 0xFF;

LinkSpec link_of(uint32_t mb_s) {
  LinkSpec link;
  link.bandwidth_mb_s = mb_s;
  return link;
}

// Routers by a name that is unique in the cluster: hosts all have one node.
std::map<std::string, RouterSpec> ends_of(const ClusterWiring& wiring, unsigned server) {
  std::map<std::string, RouterSpec> ends;
  for (unsigned gpu = 0; gpu < wiring.gpus; ++gpu)
    ends["gpu" + std::to_string(server * wiring.gpus + gpu)] = wiring.gpu(server, gpu);
  ends["host"] = wiring.host(server);
  ends["nic"] = wiring.nic(server);
  ends["switch"] = wiring.server_switch(server);
  return ends;
}

std::string name_at(const ClusterWiring& wiring, unsigned server, uint8_t node) {
  if (node == kHost) return "host";
  if (node == kNicNode + server) return "nic";
  if (node == kServerSwitchNode + server) return "switch";
  if (node >= 1 && node <= wiring.servers * wiring.gpus) return "gpu" + std::to_string(node - 1);
  return "none";
}

bool is_neighbour(unsigned gpus, unsigned a, unsigned b) {
  return a != b && ((a + 1) % gpus == b || (b + 1) % gpus == a);
}

TEST_CASE("both ends of each link of a server name each other, and routes stay within it") {
  const unsigned servers = GENERATE(1u, 2u, 4u), gpus = GENERATE(1u, 2u, 3u, 4u, 5u);
  const PeerLinks peers = GENERATE(PeerLinks::none, PeerLinks::ring, PeerLinks::fully_connected);
  CAPTURE(servers, gpus, static_cast<int>(peers));
  const ClusterWiring wiring{servers,         gpus,  link_of(16'000),
                             link_of(12'500), peers, link_of(75'000)};
  for (unsigned server = 0; server < servers; ++server) {
    const std::map<std::string, RouterSpec> ends = ends_of(wiring, server);
    for (const auto& [name, router] : ends) {
      CAPTURE(name);
      for (size_t port = 0; port < router.ports.size(); ++port) {
        const PortSpec& one = router.ports[port];
        const std::string other = name_at(wiring, server, one.peer_node);
        REQUIRE(ends.count(other) == 1);
        REQUIRE(one.peer_port < ends.at(other).ports.size());
        const PortSpec& back = ends.at(other).ports[one.peer_port];
        CHECK(name_at(wiring, server, back.peer_node) == name);
        CHECK(back.peer_port == port);
        CHECK(back.link.bandwidth_mb_s == one.link.bandwidth_mb_s);
      }
      std::set<std::string> reached;
      for (const auto& [node, port] : router.routes) {
        const std::string other = name_at(wiring, server, node);
        REQUIRE(ends.count(other) == 1);
        CHECK(reached.insert(other).second);  // One route to each.
        REQUIRE(port < router.ports.size());
      }
      CHECK(reached.size() == ends.size() - (name == "switch" ? 1 : 2));  // Itself, the switch.
    }
  }
}

TEST_CASE("peers with a link of their own use it, others meet on PCIe, and so do host and NIC") {
  const PeerLinks peers = GENERATE(PeerLinks::none, PeerLinks::ring, PeerLinks::fully_connected);
  const unsigned gpus = 4, server = 1;
  const ClusterWiring wiring{2, gpus, link_of(16'000), link_of(12'500), peers, link_of(75'000)};
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    const RouterSpec router = wiring.gpu(server, gpu);
    CHECK(router.ports.back().link.bandwidth_mb_s == 16'000);  // The way to the host is the last.
    for (const auto& [node, port] : router.routes) {
      const unsigned other = node - 1 - server * gpus;
      const bool linked =
          node <= 2 * gpus && (peers == PeerLinks::fully_connected ||
                               (peers == PeerLinks::ring && is_neighbour(gpus, gpu, other)));
      CAPTURE(static_cast<int>(peers), gpu, unsigned{node});
      CHECK(router.ports[port].link.bandwidth_mb_s == (linked ? 75'000 : 16'000));
      if (linked) CHECK(router.ports[port].peer_node == node);
    }
  }
}

// Expected: GPU g is on node g / gpus_per_node. Two GPUs are joined by two links, one each way round.
TEST_CASE("a ring leaves each node by two links of its own kind, alike at both ends",
          "[T3-MULTINODE-01]") {
  const unsigned per_node = GENERATE(1u, 2u, 4u), nodes = GENERATE(1u, 2u, 3u);
  const unsigned gpus = per_node * nodes;
  CAPTURE(per_node, nodes);
  std::map<unsigned, unsigned> leaving;  // By node.
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    const RouterSpec router =
        ring_of_nodes(gpu, gpus, per_node, link_of(75'000), link_of(25'000), link_of(16'000));
    CHECK(router.ports.back().link.bandwidth_mb_s == 16'000);
    for (size_t port = 0; port + 1 < router.ports.size(); ++port) {
      const PortSpec& one = router.ports[port];
      const unsigned peer = one.peer_node - 1u;
      CHECK(is_neighbour(gpus, gpu, peer));
      const bool leaves = peer / per_node != gpu / per_node;
      CHECK(one.link.bandwidth_mb_s == (leaves ? 25'000 : 75'000));
      leaving[gpu / per_node] += leaves;
      const RouterSpec other =
          ring_of_nodes(peer, gpus, per_node, link_of(75'000), link_of(25'000), link_of(16'000));
      CHECK(other.ports[one.peer_port].peer_node == gpu + 1);
      CHECK(other.ports[one.peer_port].link.bandwidth_mb_s == one.link.bandwidth_mb_s);
    }
  }
  for (unsigned node = 0; node < nodes; ++node) CHECK(leaving[node] == (nodes == 1 ? 0 : 2));
}

}  // namespace
}  // namespace stretto
