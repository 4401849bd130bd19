// SPDX-License-Identifier: Apache-2.0
// Question: does every device answer a register access of the wrong shape in the same way? The rule
// is that of models/README.md: an access is one whole register, anything else is an address error.
// Devices are those of a GPU and of a DMA card as the machine has them, RTL blocks as models; each
// is asked at its own socket.
#include <catch2/catch.hpp>

#include <cstring>

#include "models/cp/local_devices.h"
#include "platform/machine/card_node.h"
#include "platform/machine/gpu_node.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/card.h"
#include "sw/include/regs/dma_regs.h"
#include "sw/include/regs/gpu_regs.h"
#include "sw/include/regs/grid_scheduler_regs.h"
#include "sw/include/regs/link_regs.h"
#include "sw/include/regs/mca_regs.h"
#include "sw/include/regs/range_table_regs.h"
#include "sw/include/regs/request_ring_regs.h"
#include "sw/include/regs/tracker_regs.h"

namespace stretto {
namespace {

using Socket = sc_core::sc_export<tlm::tlm_fw_transport_if<>>;

struct NoInterrupts final : HartInterrupts {
  void set_interrupt(unsigned, unsigned, bool) override {}
  void set_timer(unsigned, Time) override {}
};

tlm::tlm_response_status access(Socket& socket, tlm::tlm_command command, uint64_t address,
                                unsigned bytes) {
  uint8_t data[8] = {};
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  sc_core::sc_time delay;
  socket->b_transport(payload, delay);
  return payload.get_response_status();
}

TEST_CASE("every device refuses an access that is not one whole register") {
  MachineSpec spec;
  std::map<std::string, Impl> impl;
  for (const BlockInfo& block : kBlocks) impl[block.name] = Impl::model;
  Conductor conductor("conductor", spec.sim.conductor, lookahead_ns(spec) * kNanosecond);
  GpuNode gpu("gpu0", spec, 0, impl, conductor, nullptr, nullptr);
  CardNode card("card0", spec, 0, impl, conductor);
  NoInterrupts none;
  Clint clint("clint", gpu.partition.queue(), 1000, 1, none);
  Intc intc("intc", 1, 1, none);
  Doorbells doorbells("doorbells", intc);
  Uart uart("uart", "none");

  struct Device {
    const char* name;
    Socket& socket;
    uint64_t address;  // Of a register of 8 bytes that software may read and write.
    bool reads = true;
  };
  const Device devices[] = {
      {"tracker", gpu.hbm.tracker_regs, TRACKER_TILES_OFFSET},
      {"hbm", gpu.hbm.tracker_regs, 0x1000},
      {"mca", gpu.hbm.mca_regs, STRETTO_MCA_STRIDE + MCA_THRESHOLD_OFFSET},
      {"grid_scheduler", gpu.gpu.front_end.scheduler_regs, GRID_SCHEDULER_POLICY_OFFSET},
      {"dma", gpu.dma.csr, DMA_QUEUE_SOURCE_OFFSET},
      {"range_table", gpu.gpu.ranges.regs, RANGE_TABLE_ENTRY_BASE_OFFSET},
      {"gpu", gpu.gpu.front_end.regs, GPU_CONTEXT_ENTRY_OFFSET},
      {"link", gpu.router.csr, LINK_ROUTE_OFFSET},
      {"request_ring", gpu.request_ring.csr, REQUEST_RING_NODE_OFFSET},
      {"clint", clint.csr, 0x4000},
      {"intc", intc.csr, 0x100},
      {"doorbells", doorbells.csr, 0x100},
      {"uart", uart.csr, 0},
      {"card", card.window.aperture, STRETTO_CARD_REGISTERS - STRETTO_DOORBELL_APERTURE, false},
  };
  for (const Device& device : devices) {
    INFO(device.name);
    for (const tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
      if (command == tlm::TLM_READ_COMMAND && !device.reads) continue;
      CHECK(access(device.socket, command, device.address, 8) == tlm::TLM_OK_RESPONSE);
      for (const unsigned bytes : {1, 2, 4}) {
        CHECK(access(device.socket, command, device.address, bytes) ==
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
        CHECK(access(device.socket, command, device.address + 8 - bytes, bytes) ==
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
      }
      CHECK(access(device.socket, command, device.address + 4, 8) ==
            tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
  }
  // A register of 4 bytes is no exception: whole, or not at all.
  CHECK(access(clint.csr, tlm::TLM_WRITE_COMMAND, 0, 4) == tlm::TLM_OK_RESPONSE);
  CHECK(access(clint.csr, tlm::TLM_WRITE_COMMAND, 0, 8) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(access(clint.csr, tlm::TLM_WRITE_COMMAND, 0, 2) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

}  // namespace
}  // namespace stretto
