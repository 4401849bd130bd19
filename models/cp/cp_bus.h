// SPDX-License-Identifier: Apache-2.0
// CpBus: routes the harts' accesses to node 0 to the register banks by address. TLM-2.0 base
// protocol, b_transport.
//
// A target sees the offset from its base. Ranges do not overlap (asserted). An address without a
// target answers TLM_ADDRESS_ERROR_RESPONSE, which the hart sees as an access fault. The annotated
// delay counts from the calendar's now(); a target adds what it takes.
#ifndef STRETTO_MODELS_CP_CP_BUS_H_
#define STRETTO_MODELS_CP_CP_BUS_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <tlm>

#include <cstdint>
#include <systemc>
#include <vector>

#include "models/common/event_queue.h"

namespace stretto {

class CpBus final : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<CpBus> in;

  CpBus(const sc_core::sc_module_name& name, const EventQueue& queue);

  // Binds a register bank to [base, base + bytes). Before the end of elaboration; at most
  // kMaxDevices.
  void attach(uint64_t base, uint64_t bytes, tlm::tlm_base_target_socket_b<32>& target);

 private:
  using Out = tlm_utils::simple_initiator_socket_optional<CpBus>;
  static constexpr unsigned kMaxDevices = 32;
  struct Window {
    uint64_t base;
    uint64_t bytes;
    Out* out;
  };
  const Window* window_of(uint64_t address, unsigned bytes) const;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  const EventQueue& queue_;
  sc_core::sc_vector<Out> out_;  // One a device; the rest stay unbound.
  std::vector<Window> windows_;  // Sorted by base.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_CP_CP_BUS_H_
