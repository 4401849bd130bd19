// SPDX-License-Identifier: Apache-2.0
// The Spec tree of a machine: what `stretto list parameters` shows. Each component describes its
// own part beside its Spec; here is only what concerns the machine as a whole.
#ifndef STRETTO_PLATFORM_CONFIG_MACHINE_SPEC_H_
#define STRETTO_PLATFORM_CONFIG_MACHINE_SPEC_H_

#include <cstdint>
#include <string>

#include "models/card/card_spec.h"
#include "models/common/partition.h"
#include "models/common/spec.h"
#include "models/cp/cp_spec.h"
#include "models/dma/dma_spec.h"
#include "models/fabric/link_spec.h"
#include "models/fabric/switch.h"
#include "models/fabric/topology.h"
#include "models/gpu/base/gpu_spec.h"
#include "models/hbm/hbm_spec.h"
#include "models/host/host.h"
#include "models/host/service_core.h"
#include "models/nic/nic_spec.h"
#include "models/sampled/sampled_spec.h"
#include "sw/include/formats/collective.h"

namespace stretto {

enum class Topology : uint8_t { ring, fully_connected, switched, pcie_switch, cluster };

enum class CollectiveAlgorithm : uint8_t { automatic, ring, direct };
enum class CollectiveProtocol : uint8_t { automatic, simple, ll };
enum class SendMover : uint8_t { gpu_dma, cpu_mmio, cpu_dma };

struct SimSpec {
  ConductorSpec conductor;
  bool sleep = true;
  bool reverse_elaboration = false;
  bool mirror = false;
  uint32_t timeline_mib = 256;
};

// software.mca_policy=auto: the mode says which policy the arbiters get.
inline constexpr uint32_t kMcaPolicyOfMode = ~0u;

// What the host programs ask of the driver; see sw/apps/overlap/ring_gemm_rs.h, sw/collectives/runtime.h.
struct SoftwareSpec {
  std::string gemm = "gemm";
  std::string ring = "ring";
  uint32_t tile_m = 128;
  uint32_t split_k = 1;
  uint32_t collective_groups = 0;
  uint32_t block_tiles = 1;
  uint32_t tracker_ways = 0;
  uint32_t mca_policy = kMcaPolicyOfMode;  // MCA_CONTROL_POLICY_*.
  bool mca_fixed_threshold = false;
  uint32_t mca_threshold = 0;
  uint32_t mca_starve_limit = 1000;
  std::string collective = "collective";
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  CollectiveProtocol protocol = CollectiveProtocol::automatic;
  uint32_t ll_bytes = 0;
  uint32_t channels = 8;
  uint32_t channel_bytes = 0;
  uint32_t channel_ns = 0;
  uint32_t fifo_slots = 8;
  uint32_t slot_bytes = 32'768;
  uint32_t copy_registers_bytes = 0;
  uint32_t memory_gib = 32;
  uint32_t call_ns = 200;
  uint32_t packet_ns = 100;
  uint32_t load_ns_per_kib = 100;
  uint32_t launch_ns = 0;
  uint32_t copy_ns = 0;
  uint32_t stream_wait_poll_ns = 0;
  uint32_t event_query_ns = 3000;
  uint32_t event_poll_delay_ns = 10'000;
  uint32_t outstanding_events = 0;
  bool callback_beside_polling = false;
  SendMover send_mover = SendMover::gpu_dma;
  uint32_t send_threads = 1;
};

// Programs of the host that compute with arrays (sw/apps/shmem/host_compute.h): a roofline.
struct HostComputeSpec {
  uint32_t operations_per_cycle = 16;
  uint32_t memory_mb_s = 153'600;
  uint32_t core_memory_mb_s = 9'000;
  uint32_t cache_bytes_per_cycle = 18;
  uint32_t parallel_ns = 2'000;
};

// Power of those who serve command queues, for reproduce/compnet; no model uses it.
struct EnergySpec {
  uint32_t hart_mw = 950;
  uint32_t host_core_mw = 22'750;
  uint32_t stall_percent = 50;
};

// Deliberate faults of the machine as a whole; those of a component are beside its parameters.
struct FaultSpec {
  bool mca_inverted = false;
  uint32_t nic_server = 0;  // Whose NIC has nic.fault.
};

struct MachineSpec {
  uint32_t gpus = 8;  // Of all servers.
  uint32_t servers = 1;
  Topology topology = Topology::ring;
  PeerLinks server_links = PeerLinks::none;  // Of a cluster.
  uint32_t gpus_per_node = 0;                // Of a ring; 0: all are of one node.
  GpuSpec gpu;
  SampledSpec sampled;
  L2Spec l2;
  HbmSpec hbm;
  DmaSpec dma;
  LinkSpec link;
  LinkSpec link_between_nodes = between_nodes_defaults();
  LinkSpec pcie = pcie_defaults();
  bool coherent_host = false;
  LinkSpec coherent = coherent_defaults();
  SwitchSpec switch_;
  NicSpec nic;
  LinkSpec network = network_defaults();
  SwitchSpec network_switch{.latency_ns = 0};  // A link has the latency of the table.
  CardSpec card;
  HostSpec smartnic;  // Of a card of that kind: its processor, without a root complex.
  CpSpec cp;
  HostSpec host;
  ServiceCoreSpec service_core;
  HostComputeSpec host_compute;
  EnergySpec energy;
  SoftwareSpec software;
  FaultSpec fault;
  SimSpec sim;

  // What the topology means; machine/wiring.h has the links themselves.
  // Between GPUs, beside PCIe.
  bool has_gpu_links() const {
    if (topology == Topology::cluster) return server_links != PeerLinks::none;
    return topology != Topology::pcie_switch;
  }
  bool has_nodes() const { return gpus_per_node != 0 && gpus_per_node < gpus; }
  bool has_network() const { return topology == Topology::cluster; }
  bool has_smartnics() const { return card.count != 0 && card.kind == CardKind::smartnic; }
  // Server s has the GPUs from s * gpus_of_server() on.
  uint32_t gpus_of_server() const { return gpus / servers; }
  uint32_t server_of(uint32_t gpu) const { return gpu / gpus_of_server(); }
  // Whether packets go from one to the other past no third GPU.
  bool are_linked(uint32_t a, uint32_t b) const {
    if (topology == Topology::ring) return stretto_ring_neighbours(gpus, a, b);
    return server_of(a) == server_of(b);
  }
  // Of one server.
  bool are_all_linked() const { return topology != Topology::ring || gpus <= 3; }
};

void describe(FaultSpec& spec, ParameterSet& set);
void describe(HostComputeSpec& spec, ParameterSet& set);
void describe(EnergySpec& spec, ParameterSet& set);
void describe(SimSpec& spec, ParameterSet& set);
void describe(SoftwareSpec& spec, ParameterSet& set);
void describe(MachineSpec& spec, ParameterSet& set);
// The smallest latency of all links, in nanoseconds: how far partitions may run apart.
uint32_t lookahead_ns(const MachineSpec& spec);
// Relations between parameters; throws UserError.
void check_machine(const MachineSpec& spec);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CONFIG_MACHINE_SPEC_H_
