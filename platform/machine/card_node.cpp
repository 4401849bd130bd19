// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/card_node.h"

#include "models/common/tlm_checker.h"
#include "platform/adapters/rtl_blocks.h"
#include "sw/include/formats/card.h"

namespace stretto {

namespace {

struct CardEgress {  // Sockets of the router.
  enum : unsigned { kDma, kRing, kWindow, kCount };
};
struct CardNothing {  // Where a GPU has its HBM.
  enum : unsigned { kLinks, kDma, kRing };
};

DmaSpec dma_spec(const CardSpec& card) {
  DmaSpec dma;
  dma.in_flight_bytes = card.buffer_bytes;
  dma.burst_bytes = card.burst_bytes;
  dma.start_ns = card.start_ns;
  return dma;
}

}  // namespace

CardNode::CardNode(sc_core::sc_module_name name, const MachineSpec& spec, unsigned index,
                   const std::map<std::string, Impl>& impl, Conductor& conductor)
    : Node(name, conductor, static_cast<uint8_t>(STRETTO_NODE_CARD + index)),
      dma("dma", dma_spec(spec.card), partition.services()),
      router("router", card_port(index, spec.gpus, spec.pcie), CardEgress::kCount, partition),
      window("window", partition.services()),
      request_ring("request_ring", spec.card.clock_mhz, partition.services(),
                   make_request_ring(impl.at("request_ring"),
                                     "card" + std::to_string(index) + ".request_ring", nullptr),
                   dma) {
  const EventQueue& queue = partition.queue();
  connect(router.doorbell, window.aperture, queue);
  connect(window.ring, request_ring.csr, queue);
  if (spec.card.collective) {
    collective_engine = std::make_unique<CollectiveEngine>("collective_engine", spec.card.clock_mhz,
                                                           partition.services());
    window.set_engine(*collective_engine);
    connect(window.stores, collective_engine->requests, queue);
    connect(collective_engine->stores, request_ring.stores, queue);
    partition.add("collective_engine", *collective_engine);
  } else {
    connect(window.stores, request_ring.stores, queue);
  }
  connect(window.report_out, router.egress[CardEgress::kWindow], queue);
  connect(dma.egress, router.egress[CardEgress::kDma], queue);
  connect(request_ring.egress, router.egress[CardEgress::kRing], queue);
  connect(router.memory, window.nothing[CardNothing::kLinks], queue);
  connect(dma.memory, window.nothing[CardNothing::kDma], queue);
  connect(request_ring.memory, window.nothing[CardNothing::kRing], queue);
  request_ring.set_interrupts(window);
  partition.add("dma", dma);
  partition.add("router", router);
  partition.add("window", window);
  partition.add("request_ring", request_ring);
}

}  // namespace stretto
