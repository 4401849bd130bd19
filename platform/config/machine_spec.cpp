// SPDX-License-Identifier: Apache-2.0
#include "platform/config/machine_spec.h"

#include <algorithm>

#include "models/common/error.h"
#include "sw/include/regs/mca_bank.h"

namespace stretto {

void describe(SimSpec& spec, ParameterSet& set) {
  describe(spec.conductor, set);
  set.flag("sleep", spec.sleep,
           "Blocks sleep while they have no work; false ticks every cycle, for tests of equality.");
  set.flag("reverse_elaboration", spec.reverse_elaboration,
           "Construct GPUs in falling order, for tests of equality.");
  set.flag("mirror", spec.mirror,
           "Simulate GPU 0 alone; what it sends comes back as from its neighbour (T3-SIM-01).");
  set.number("timeline_mib", spec.timeline_mib, 1, 65536, "Size cap of timeline.json in MiB.");
}

void describe(FaultSpec& spec, ParameterSet& set) {
  set.flag("mca_inverted", spec.mca_inverted,
           "Fault injection: the arbiters prefer what they should hold back (RTL only).");
  set.number("nic_server", spec.nic_server, 0, kMaxServers - 1,
             "Server whose NIC has what nic.fault injects.");
}

void describe(SoftwareSpec& spec, ParameterSet& set) {
  set.text("gemm", spec.gemm,
           "GEMM kernels: name of a shipped ELF or a file with a slash in its name.");
  set.text("ring", spec.ring, "Ring kernels, likewise.");
  set.text("collective", spec.collective, "Kernels of collectives, likewise.");
  set.choice(
      "algorithm", spec.algorithm,
      {{"auto", CollectiveAlgorithm::automatic},
       {"ring", CollectiveAlgorithm::ring},
       {"direct", CollectiveAlgorithm::direct}},
      "Of collectives: around a ring, or straight between all pairs; auto: a ring, but direct "
      "for all-to-all where links allow it.");
  set.choice(
      "protocol", spec.protocol,
      {{"auto", CollectiveProtocol::automatic},
       {"simple", CollectiveProtocol::simple},
       {"ll", CollectiveProtocol::ll}},
      "Of copy kernels (engine mmio): data and a word behind them, or ll, a flag in every 64 "
      "bytes; auto: ll as long as it saves more a hop than its flags take of the link.");
  set.number(
      "ll_bytes", spec.ll_bytes, 0, UINT32_MAX,
      "protocol=auto: what a link carries a hop by ll at most; 0 = as long as ll saves time.");
  set.number("channels", spec.channels, 1, 32,
             "Work-groups of a collective, each with links of its own (GD-U11).");
  set.number(
      "channel_bytes", spec.channel_bytes, 0, 1u << 30,
      "Bytes of a rank's block that a channel of a collective has at least, as NCCL counts them; "
      "0 = another channel from each 8 KiB on.");
  set.number("channel_ns", spec.channel_ns, 0, 1'000'000,
             "CPU time of a channel of a collective that is launched, on top of the launch.");
  set.number("fifo_slots", spec.fifo_slots, 4, 64,
             "Slots of a link's FIFO: how far a sender runs ahead of its receiver.");
  set.number(
      "slot_bytes", spec.slot_bytes, 64, 1u << 20,
      "Bytes of a slot: what is sent and reduced as one; small ones begin sooner, large ones "
      "cost fewer flags.");
  set.number(
      "copy_registers_bytes", spec.copy_registers_bytes, 0, 1u << 20,
      "Registers that a work-group of copy kernels (engine mmio) holds at least; 0 = what the "
      "kernel says.");
  set.choice<uint32_t>(
      "tile_m", spec.tile_m, {{"16", 16}, {"128", 128}, {"256", 256}},
      "Rows of an output tile, 16 for the few of token generation; columns are 128.");
  set.number(
      "split_k", spec.split_k, 1, 15,
      "Work-groups that add to an output tile, modes t3 and t3-mca with software.gemm=gemm_split.");
  set.number("collective_groups", spec.collective_groups, 0, 4096,
             "Work-groups of a collective kernel; 0 = one a compute unit.");
  set.number("block_tiles", spec.block_tiles, 1, 4096,
             "Wavefront tiles of a DMA block (T3-DMA-04).");
  set.number("tracker_ways", spec.tracker_ways, 0, 8,
             "Ways of the Tracker in use; 0 = all. Fewer spill more.");
  std::vector<std::pair<std::string, uint32_t>> policies = {{"auto", kMcaPolicyOfMode}};
  for (const RegisterValue& policy : kMcaControlPolicyValues)
    policies.emplace_back(policy.name, static_cast<uint32_t>(policy.value));
  set.choice("mca_policy", spec.mca_policy, policies,
             "Of the memory arbiters (T3-MCA-01, -07, -08); auto: communication_aware in mode "
             "t3-mca, else round_robin.");
  set.flag("mca_fixed_threshold", spec.mca_fixed_threshold,
           "communication_aware: mca_threshold instead of the measured choice (T3-MCA-04).");
  set.number(
      "mca_threshold", spec.mca_threshold, 0, 127,
      "communication_aware with mca_fixed_threshold: entries of the DRAM queue; 0 = no limit.");
  set.number("mca_starve_limit", spec.mca_starve_limit, 1, 65535,
             "Memory cycles that communication may wait (T3-MCA-05).");
  set.number("memory_gib", spec.memory_gib, 1, 1000, "Device memory that a client may give out.");
  set.number("call_ns", spec.call_ns, 0, 1'000'000, "CPU time of a driver call.");
  set.number("packet_ns", spec.packet_ns, 0, 1'000'000, "CPU time of a packet, on top.");
  set.number("load_ns_per_kib", spec.load_ns_per_kib, 0, 1'000'000,
             "CPU time of loading a module.");
  set.number("launch_ns", spec.launch_ns, 0, 1'000'000,
             "CPU time of launching a kernel or a pipeline, in framework and driver, on top.");
  set.number("copy_ns", spec.copy_ns, 0, 1'000'000,
             "CPU time of a call that copies between GPUs, on top.");
  set.number("stream_wait_poll_ns", spec.stream_wait_poll_ns, 0, 1'000'000,
             "How often a GPU looks at a semaphore that a stream waits for; 0 = when it is told "
             "(GD-CASYNC-02).");
  set.number("event_query_ns", spec.event_query_ns, 1, 1'000'000,
             "CPU time of asking whether an event is complete (GD-CDRV-02: about 3 us).");
  set.number("event_poll_delay_ns", spec.event_poll_delay_ns, 0, 1'000'000'000,
             "What a framework's polling thread sleeps between two rounds (TensorFlow: 10 us).");
  set.number("outstanding_events", spec.outstanding_events, 0, 4096,
             "Events that the polling thread serves; 0 = four streams a GPU (TensorFlow: compute, "
             "to and from the host, between GPUs).");
  set.flag("callback_beside_polling", spec.callback_beside_polling,
           "A framework's callback thread runs on the core of its polling thread (GD-CDRV-03).");
  set.choice("send_mover", spec.send_mover,
             {{"gpu_dma", SendMover::gpu_dma},
              {"cpu_mmio", SendMover::cpu_mmio},
              {"cpu_dma", SendMover::cpu_dma}},
             "What a software engine for send requests moves data with: gpu_dma, the sender's DMA "
             "engine (cudaMemcpy); cpu_mmio, loads and stores of its thread (GD-SW-04); cpu_dma, "
             "the DMA engine of its processor (GD-FUTURE-03).");
  set.number("send_threads", spec.send_threads, 1, 32,
             "Threads, each on a core, that move the data of a software engine with "
             "send_mover=cpu_mmio; 1 = the one that takes requests.");
}

void describe(HostComputeSpec& spec, ParameterSet& set) {
  // Skylake: two additions of 256 bits a cycle (A. Fog, instruction tables).
  set.number("operations_per_cycle", spec.operations_per_cycle, 1, 1'024,
             "FP32 operations that a core of the host does in a cycle of service_core.mhz.");
  // ComP-Net's Table 1: 8 channels of DDR4-2400, 8 B each. What no program surpasses.
  set.number("memory_mb_s", spec.memory_mb_s, 1, 10'000'000, "Memory, of all cores together.");
  // D. Lemire, "Memory-level parallelism", 2019: about ten lines under way, 9 GB/s.
  set.number("core_memory_mb_s", spec.core_memory_mb_s, 1, 10'000'000, "Memory, of one core.");
  // Intel 64 optimization manual, Skylake: 32 at most, about 18 sustained.
  set.number("cache_bytes_per_cycle", spec.cache_bytes_per_cycle, 1, 1'024,
             "Third cache (service_core.l3_kib), of a core.");
  // Unsourced.
  set.number("parallel_ns", spec.parallel_ns, 0, 1'000'000,
             "Begin and end of a loop in which all cores take part.");
}

void describe(EnergySpec& spec, ParameterSet& set) {
  // ARM Cortex-A9, hard macro for speed, TSMC 40G: two cores of 2 GHz with 32 KB caches take 1.9 W
  // (heise.de/-788960). Two-wide, out of order, as ComP-Net's Table 1 has it.
  set.number("hart_mw", spec.hart_mw, 1, 1'000'000,
             "Power of a hart of the command processor that executes, mW.");
  // Intel i7-6700K: four cores of 4 GHz and what is around them take 91 W (silentpcreview.com).
  set.number("host_core_mw", spec.host_core_mw, 1, 10'000'000,
             "Power of a core of the host that executes, at most, mW.");
  // Unsourced; reproduce compnet prints 20, 50 and 80.
  set.number("stall_percent", spec.stall_percent, 0, 100,
             "Power of one that waits for memory or a bus, of what it takes when it executes.");
}

void describe(MachineSpec& spec, ParameterSet& set) {
  set.number("gpus", spec.gpus, 1, 32, "GPUs of the machine.");
  set.number("servers", spec.servers, 1, kMaxServers,
             "Servers, each with its part of the GPUs, a host and a NIC (topology cluster).");
  set.choice("topology", spec.topology,
             {{"ring", Topology::ring},
              {"fully_connected", Topology::fully_connected},
              {"switch", Topology::switched},
              {"pcie_switch", Topology::pcie_switch},
              {"cluster", Topology::cluster}},
             "Links between GPUs; switch: one into a switch each; pcie_switch: none, peers and "
             "host share PCIe; cluster: servers, in each peers, host and NIC share PCIe.");
  set.choice("server_links", spec.server_links,
             {{"none", PeerLinks::none},
              {"ring", PeerLinks::ring},
              {"fully_connected", PeerLinks::fully_connected}},
             "Links between the GPUs of a server (topology cluster), beside PCIe; GPUs without a "
             "link to each other meet there.");
  set.number(
      "gpus_per_node", spec.gpus_per_node, 0, 32,
      "GPUs of a node (topology ring): link_between_nodes leads from one node to the next; 0 "
      "= all are of one node.");
  set.group("gpu", spec.gpu);
  set.group("sampled", spec.sampled);
  set.group("l2", spec.l2);
  set.group("hbm", spec.hbm);
  set.group("dma", spec.dma);
  set.group("link", spec.link);
  set.group("link_between_nodes", spec.link_between_nodes);
  set.group("pcie", spec.pcie);
  set.flag(
      "coherent_host", spec.coherent_host,
      "Host and GPUs of a server are on one die: their ways to each other are links `coherent`, "
      "and not PCIe, where the NIC is (topology cluster).");
  set.group("coherent", spec.coherent);
  set.group("switch", spec.switch_);
  set.group("nic", spec.nic);
  set.group("network", spec.network);
  set.group("network_switch", spec.network_switch);
  set.group("card", spec.card);
  set.group("smartnic", spec.smartnic);
  set.group("cp", spec.cp);
  set.group("host", spec.host);
  set.group("service_core", spec.service_core);
  set.group("host_compute", spec.host_compute);
  set.group("energy", spec.energy);
  set.group("software", spec.software);
  set.group("fault", spec.fault);
  set.group("sim", spec.sim);
}

uint32_t lookahead_ns(const MachineSpec& spec) {
  const uint32_t pcie = spec.pcie.latency_ns;
  uint32_t least = pcie;
  if (spec.has_network()) least = std::min(least, spec.network.latency_ns);
  if (spec.coherent_host) least = std::min(least, spec.coherent.latency_ns);
  if (spec.has_nodes()) least = std::min(least, spec.link_between_nodes.latency_ns);
  if (spec.gpus_of_server() > 1 && spec.has_gpu_links() && spec.gpus_per_node != 1)
    least = std::min(least, spec.link.latency_ns);
  return least;
}

void check_machine(const MachineSpec& spec) {
  for (const std::string& wrong : {spec.gpu.check(), spec.l2.check(), spec.cp.check()}) {
    if (!wrong.empty()) throw UserError(wrong);
  }
  if (spec.gpu.executor == Executor::sampled && spec.sampled.bodies.empty())
    throw UserError(
        "gpu.executor=sampled needs sampled.bodies=FILE, a table that stretto characterise makes");
  if (const std::string wrong = spec.service_core.check(); !wrong.empty())
    throw UserError("service_core: " + wrong);
  if (spec.coherent_host && !spec.has_network())
    throw UserError("coherent_host=true needs topology cluster");
  if (spec.servers > 1 && !spec.has_network())
    throw UserError("servers (" + std::to_string(spec.servers) + ") needs topology cluster");
  if (spec.server_links != PeerLinks::none && !spec.has_network())
    throw UserError("server_links needs topology cluster: others have links of their own");
  if (spec.gpus_per_node != 0 && spec.topology != Topology::ring) {
    throw UserError("gpus_per_node (" + std::to_string(spec.gpus_per_node) +
                    ") needs topology ring: it says where a ring leaves a node");
  }
  if (spec.gpus_per_node != 0 && spec.gpus % spec.gpus_per_node != 0) {
    throw UserError("gpus (" + std::to_string(spec.gpus) +
                    ") must be a multiple of gpus_per_node (" + std::to_string(spec.gpus_per_node) +
                    "): each node has as many");
  }
  if (spec.has_nodes() && spec.sim.mirror) {
    throw UserError("sim.mirror needs links that are all alike; gpus_per_node (" +
                    std::to_string(spec.gpus_per_node) + ") makes them differ");
  }
  if (spec.gpus % spec.servers != 0) {
    throw UserError("gpus (" + std::to_string(spec.gpus) + ") must be a multiple of servers (" +
                    std::to_string(spec.servers) + "): each has as many");
  }
  if (spec.nic.acknowledge_packets > spec.nic.window_packets) {
    throw UserError("nic.acknowledge_packets (" + std::to_string(spec.nic.acknowledge_packets) +
                    ") must not be above nic.window_packets (" +
                    std::to_string(spec.nic.window_packets) +
                    "): a full window would wait for an acknowledgement that nobody asks for");
  }
  if (spec.fault.nic_server >= spec.servers) {
    throw UserError("fault.nic_server (" + std::to_string(spec.fault.nic_server) +
                    ") must be below servers (" + std::to_string(spec.servers) + ")");
  }
  for (const SwitchSpec* one : {&spec.switch_, &spec.network_switch}) {
    const bool of_gpus = one == &spec.switch_;
    const std::string key = of_gpus ? "switch.add_bytes" : "network_switch.add_bytes";
    if (one->add_bytes == 0) continue;
    if (!of_gpus || spec.topology != Topology::switched)
      throw UserError(key +
                      " needs topology switch: only there do GPUs meet at a switch that adds");
    if (one->add_bytes < kMaxPacketBytes) {
      throw UserError(key + " (" + std::to_string(one->add_bytes) + ") must be 0 or at least " +
                      std::to_string(kMaxPacketBytes) + ", a packet");
    }
  }
  if (spec.card.count != 0 && spec.topology != Topology::pcie_switch)
    throw UserError("card.count needs topology pcie_switch");
  if (spec.card.collective && spec.card.kind != CardKind::engine)
    throw UserError(
        "card.collective needs card.kind=engine: a SmartNIC that runs software has none");
  const bool meet = spec.topology == Topology::pcie_switch ||
                    (spec.topology == Topology::cluster && !spec.coherent_host);
  if (spec.software.send_mover != SendMover::gpu_dma && !meet)
    throw UserError(
        "software.send_mover=cpu_mmio and cpu_dma need a switch between host and GPUs: topology "
        "pcie_switch, or cluster without coherent_host");
  if (spec.card.count > spec.gpus) {
    throw UserError("card.count (" + std::to_string(spec.card.count) +
                    ") must not be above gpus (" + std::to_string(spec.gpus) +
                    "): a card serves one");
  }
  if (spec.sim.mirror && spec.topology != Topology::ring)
    throw UserError("sim.mirror needs topology ring");
  if (spec.l2.banks % spec.hbm.channels != 0) {
    throw UserError("l2.banks (" + std::to_string(spec.l2.banks) +
                    ") must be a multiple of hbm.channels (" + std::to_string(spec.hbm.channels) +
                    ")");
  }
  if (spec.l2.partitions > 1 && (spec.hbm.channels < 2 || spec.hbm.mapping().block_bytes() < 256)) {
    throw UserError("l2.partitions (" + std::to_string(spec.l2.partitions) +
                    ") needs two hbm.channels at least, and hbm.interleave_bytes of at least 256");
  }
  if (spec.software.fifo_slots % 2 != 0 || spec.software.slot_bytes % 64 != 0)
    throw UserError("software.fifo_slots must be even and software.slot_bytes a multiple of 64");
  if (spec.software.mca_threshold != 0 && !spec.software.mca_fixed_threshold) {
    throw UserError(
        "software.mca_threshold (" + std::to_string(spec.software.mca_threshold) +
        ") needs software.mca_fixed_threshold=true: else the arbiters measure their limit");
  }
  if (spec.hbm.write_low_atoms >= spec.hbm.write_high_atoms) {
    throw UserError("hbm.write_low_atoms (" + std::to_string(spec.hbm.write_low_atoms) +
                    ") must be below hbm.write_high_atoms (" +
                    std::to_string(spec.hbm.write_high_atoms) + ")");
  }
}

}  // namespace stretto
