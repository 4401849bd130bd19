// SPDX-License-Identifier: Apache-2.0
// The router's doorbell port speaks the base protocol with offsets; the CP's door is a memory-side
// socket with addresses. This carries 8-byte writes from one to the other.
#ifndef STRETTO_MODELS_CP_DOORBELL_BRIDGE_H_
#define STRETTO_MODELS_CP_DOORBELL_BRIDGE_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "models/common/payload_extension.h"

namespace stretto {

class DoorbellBridge final : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<DoorbellBridge> in;
  tlm_utils::simple_initiator_socket<DoorbellBridge, 32, StrettoProtocol> out;
  explicit DoorbellBridge(sc_core::sc_module_name name);

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  StrettoExtension extension_;  // On the payload while it is on the memory side.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_CP_DOORBELL_BRIDGE_H_
