// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/gpu_node.h"

#include <algorithm>

#include "models/common/error.h"
#include "models/common/tlm_checker.h"
#include "platform/machine/wiring.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

namespace {

constexpr uint64_t kBankBytes = 0x10000;  // Distance of the register banks in address_map.h.
struct GpuEgress {                        // Sockets of the router.
  enum : unsigned { kL2Remote, kDma, kRing, kCount };
};
struct HbmPeer {  // Sockets of the HBM.
  enum : unsigned { kLinks, kDma, kRing, kCount };
};

std::string instance(unsigned gpu, const std::string& rest) {
  return "gpu" + std::to_string(gpu) + "." + rest;
}

PartitionServices& with_trace(Partition& partition, unsigned gpu, TraceSink* trace) {
  partition.services().trace = trace;
  partition.services().gpu = static_cast<uint8_t>(gpu);
  return partition.services();
}

GpuSpec gpu_spec(const MachineSpec& spec) {
  GpuSpec gpu = spec.gpu;
  gpu.stamp_limit =
      std::min(gpu.stamp_limit, 2048 / spec.gpus);  // Sums over all ranks stay exact in FP16.
  return gpu;
}

HbmSpec hbm_spec(const MachineSpec& spec) {
  HbmSpec hbm = spec.hbm;
  hbm.sleep = hbm.sleep && spec.sim.sleep;
  return hbm;
}

// Where the waves of a block go, if anywhere.
WaveProbe* probe(Waves* waves, WaveStream::Name name, uint32_t clock_mhz) {
  return waves == nullptr ? nullptr : waves->probe(name, clock_mhz);
}

Hbm::Parts hbm_parts(const MachineSpec& spec, unsigned gpu, const std::map<std::string, Impl>& impl,
                     Waves* waves) {
  Hbm::Parts parts;
  for (unsigned i = 0; i < spec.hbm.channels; ++i) {
    const std::string name = instance(gpu, "hbm.channel" + std::to_string(i) + ".mca");
    WaveProbe* const to = probe(waves, {gpu, "mca", i, true}, spec.hbm.clock_mhz);
    parts.mca.push_back(spec.fault.mca_inverted ? make_inverted_mca(impl.at("mca"), name, to)
                                                : make_mca(impl.at("mca"), name, to));
  }
  parts.tracker = make_tracker(impl.at("tracker"), instance(gpu, "tracker"),
                               probe(waves, {gpu, "tracker", 0, false}, spec.hbm.clock_mhz));
  return parts;
}

}  // namespace

GpuNode::GpuNode(sc_core::sc_module_name name, const MachineSpec& spec, unsigned index,
                 const std::map<std::string, Impl>& impl, Conductor& conductor, TraceSink* trace,
                 Waves* waves)
    : Node(name, conductor, static_cast<uint8_t>(index + 1)),
      gpu("gpu", gpu_spec(spec), spec.l2, spec.hbm.mapping(), with_trace(partition, index, trace),
          memory,
          make_grid_scheduler(
              impl.at("grid_scheduler"), instance(index, "grid_scheduler"),
              probe(waves, {index, "grid_scheduler", 0, false}, spec.gpu.clock_mhz))),
      hbm("hbm", hbm_spec(spec), HbmPeer::kCount, partition.services(), memory,
          hbm_parts(spec, index, impl, waves)),
      dma("dma", spec.dma, partition.services()),
      router("router", gpu_wiring(spec, index), GpuEgress::kCount, partition),
      cp("cp", spec.cp, partition.services()),
      request_ring(
          "request_ring", spec.gpu.clock_mhz, partition.services(),
          make_request_ring(impl.at("request_ring"), instance(index, "request_ring"),
                            probe(waves, {index, "request_ring", 0, false}, spec.gpu.clock_mhz)),
          dma),
      doorbell_("doorbell") {
  bind();
  if (spec.cp.private_memory == PrivateMemory::gpu) cp.set_memory(memory);
  enlist();
  run_ahead(spec, index);
}

GpuNode::~GpuNode() = default;

void GpuNode::bind() {
  const EventQueue& queue = partition.queue();
  L2Cache& l2 = gpu.l2;
  for (unsigned i = 0; i < l2.channel.size(); ++i) connect(l2.channel[i], hbm.channel[i], queue);
  connect(l2.remote, router.egress[GpuEgress::kL2Remote], queue);
  connect(l2.device, request_ring.stores, queue);
  connect(cp.mem, l2.cp, queue);
  connect(dma.memory, hbm.peer[HbmPeer::kDma], queue);
  connect(dma.egress, router.egress[GpuEgress::kDma], queue);
  connect(request_ring.memory, hbm.peer[HbmPeer::kRing], queue);
  connect(request_ring.egress, router.egress[GpuEgress::kRing], queue);
  connect(router.memory, hbm.peer[HbmPeer::kLinks], queue);
  connect(router.atomics, l2.link, queue);
  connect(router.doorbell, doorbell_.in, queue);
  connect(doorbell_.out, cp.doorbell, queue);

  cp.bus.attach(STRETTO_TRACKER_BASE, kBankBytes, hbm.tracker_regs);
  cp.bus.attach(STRETTO_MCA_BASE, kBankBytes, hbm.mca_regs);
  cp.bus.attach(STRETTO_GRID_SCHEDULER_BASE, kBankBytes, gpu.front_end.scheduler_regs);
  cp.bus.attach(STRETTO_DMA_BASE, kBankBytes, dma.csr);
  cp.bus.attach(STRETTO_RANGE_TABLE_BASE, kBankBytes, gpu.ranges.regs);
  cp.bus.attach(STRETTO_GPU_BASE, kBankBytes, gpu.front_end.regs);
  cp.bus.attach(STRETTO_LINK_BASE, kBankBytes, router.csr);
  cp.bus.attach(STRETTO_REQUEST_RING_BASE, kBankBytes, request_ring.csr);

  cp.set_ranges(gpu.ranges);
  gpu.front_end.set_interrupts(cp);
  hbm.set_interrupts(cp);
  hbm.set_coherence(l2);
  hbm.set_queue_sink(l2.queue_sink());
  dma.set_interrupts(cp);
  request_ring.set_interrupts(cp);
  hbm.set_triggers(dma);
  hbm.set_events(gpu.front_end);
  hbm.set_admissions(HbmPeer::kLinks, router);
  gpu.front_end.set_kernel_events({[this](Time at) { hbm.kernel_start(at); },
                                   [this](Time at) { hbm.first_wg_done(at); },
                                   [this](Time at) { hbm.kernel_end(at); }});
}

void GpuNode::sample(const MachineSpec& spec, const BodyRates& rates, const BodyTable& table,
                     std::function<void(const std::string& key, uint64_t entry)> missing) {
  const auto hbm_bytes = [this] { return hbm.bytes(); };
  sampled =
      std::make_unique<SampledGpu>(spec.gpu, spec.sampled, rates, partition.services(), gpu, table,
                                   SampledGpu::Parts{&memory, hbm_bytes, std::move(missing)});
  partition.add("bodies", *sampled);
}

void GpuNode::audit(AuditSink& sink) const {
  Node::audit(sink);
  sink.set_where(name());
  sink.equal("scheduling events raised = taken", hbm.tracker_counters().events,
             gpu.front_end.events().events());
  uint64_t atomics = 0;
  for (const LinkPort* const port : router.link_ports())
    atomics += port->counters().atomics_received - port->counters().atomics_refused;
  sink.equal("atomics received = executed", atomics, gpu.l2.counters().link_atomics);
}

// The memory that was written belongs to it, in the order of addresses.
std::string GpuNode::digest() {
  Digest& digest = partition.digest();
  memory.for_each_written_page([&](uint64_t address, const uint8_t* bytes) {
    digest.bytes(&address, sizeof address);
    digest.bytes(bytes, MemoryImage::kPageBytes);
  });
  return digest.hex();
}

void GpuNode::run_ahead(const MachineSpec& spec, unsigned index) {
  const bool alone_on_switch = spec.topology == Topology::switched && spec.gpus == 1;
  Time by_others = kNever, by_host = kNever;
  for (const PortSpec& port : gpu_wiring(spec, index).ports) {
    if (port.peer_node < kServerSwitchNode) return;                  // Another GPU.
    if (alone_on_switch && port.peer_node == kSwitchNode) continue;  // Nothing comes from there.
    Time& by = port.peer_node == kHostNode ? by_host : by_others;
    by = std::min(by, port.link.latency_ns * kNanosecond);
  }
  if (by_others != kNever) partition.run_ahead(by_others, by_host);
}

void GpuNode::enlist() {
  partition.add("compute", gpu);
  partition.add("hbm", hbm);
  partition.add("dma", dma);
  partition.add("router", router);
  partition.add("cp", cp);
  partition.add("request_ring", request_ring);
}

}  // namespace stretto
