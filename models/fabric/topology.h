// SPDX-License-Identifier: Apache-2.0
// Who is wired to whom: the ports of GPUs, switch and host and the routes they make, for each
// topology and the mirror.
#ifndef STRETTO_MODELS_FABRIC_TOPOLOGY_H_
#define STRETTO_MODELS_FABRIC_TOPOLOGY_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/fabric/link_spec.h"

namespace stretto {

inline constexpr uint8_t kSwitchNode = 0xFE;
inline constexpr uint8_t kCardNode = 0x80;          // Of card 0.
inline constexpr uint8_t kNicNode = 0xA0;           // Of the NIC of server 0.
inline constexpr uint8_t kServerSwitchNode = 0x60;  // Of the PCIe switch of server 0.
inline constexpr unsigned kMaxServers = 32;

struct PortSpec {
  uint8_t peer_node = 0;  // g + 1, 0x60 + server, 0x80 + card, 0xA0 + server, 0xFE or 0xFF.
  uint8_t peer_port = 0;  // Index of the other end at the peer.
  LinkSpec link;

  bool to_switch() const {
    return peer_node == kSwitchNode ||
           (peer_node >= kServerSwitchNode && peer_node < kServerSwitchNode + kMaxServers);
  }
};

struct RouterSpec {
  std::vector<PortSpec> ports;                      // Of a GPU: the way to the host last.
  std::vector<std::pair<uint8_t, uint8_t>> routes;  // Node, port: reset values of the route table.
};

// Ring: port 0 to GPU gpu - 1, port 1 to GPU gpu + 1 (modulo gpus). Both exist from 2 GPUs on; with
// 2 the route to the other is port 0.
RouterSpec ring(unsigned gpu, unsigned gpus, const LinkSpec& link, const LinkSpec& pcie);
// The same over several nodes of so many GPUs, one after the other: a link from one node to another
// is `between`.
RouterSpec ring_of_nodes(unsigned gpu, unsigned gpus, unsigned gpus_per_node, const LinkSpec& link,
                         const LinkSpec& between, const LinkSpec& pcie);
// One port to each other GPU, in rising order.
RouterSpec fully_connected(unsigned gpu, unsigned gpus, const LinkSpec& link, const LinkSpec& pcie);
// One link into the switch and a PCIe of its own: NVSwitch. Port 0 to the switch's port `gpu`.
RouterSpec switched(unsigned gpu, unsigned gpus, const LinkSpec& link, const LinkSpec& pcie);
// PCIe alone, into the switch: peers, the host and DMA cards share it.
RouterSpec pcie_switched(unsigned gpu, unsigned gpus, const LinkSpec& pcie, unsigned cards = 0);
// DMA card `card` on the same switch.
RouterSpec card_port(unsigned card, unsigned gpus, const LinkSpec& pcie);
// The switch of both: port g to GPU g; with `host` port `gpus` to the root complex; port gpus + 1 +
// i to card i.
RouterSpec switch_of(unsigned gpus, const LinkSpec& link, bool host, unsigned cards = 0);
// The host's end: a link to each GPU at its port `ports[gpu]`, or one to the switch.
RouterSpec host_direct(const LinkSpec& pcie, const std::vector<uint8_t>& ports);
RouterSpec host_switched(unsigned gpus, const LinkSpec& pcie, unsigned cards = 0);

// Links between the GPUs of a server.
enum class PeerLinks : uint8_t { none, ring, fully_connected };

// Servers, each with `gpus` GPUs, a host and a NIC on a PCIe switch of its own; their NICs meet at a
// network switch (kSwitchNode). Server s has GPUs s * gpus .. and its own node 0xFF. Nothing has a
// route to a node of another server: only what a NIC sends gets there. Ports of a GPU are its links
// to peers, if there are any, then PCIe, over which it reaches all that it has no link to.
// With `coherent` GPUs and host of a server share a die, and have a link each to each other beside
// PCIe, which the NIC is on.
struct ClusterWiring {
  unsigned servers;
  unsigned gpus;  // Of a server.
  LinkSpec pcie;
  LinkSpec network;
  PeerLinks peers = PeerLinks::none;
  LinkSpec link = {};  // Of these.
  std::optional<LinkSpec> coherent = std::nullopt;

  RouterSpec gpu(unsigned server, unsigned gpu_of_server) const;
  RouterSpec nic(unsigned server) const;
  RouterSpec host(unsigned server) const;  // The link to the switch first, then those to GPUs.
  // Ports: its GPUs, then the host, then the NIC.
  RouterSpec server_switch(unsigned server) const;
  // The NIC's other link: its port 1 to port `server` of the network switch.
  PortSpec network_port(unsigned server) const;
  RouterSpec network_switch() const;

 private:
  RouterSpec links_of(unsigned server, unsigned gpu_of_server) const;
  RouterSpec end(unsigned server, unsigned port) const;
  uint8_t node_at(unsigned server, unsigned port) const;
};

// GPU 0 alone: what it sends through port 0 to GPU gpus - 1 arrives at its own port 1 as if from
// GPU 1 (T3-SIM-01/02), and the other way round. See Router::set_mirror().
RouterSpec mirrored_ring(unsigned gpus, const LinkSpec& link, const LinkSpec& pcie);

}  // namespace stretto

#endif  // STRETTO_MODELS_FABRIC_TOPOLOGY_H_
