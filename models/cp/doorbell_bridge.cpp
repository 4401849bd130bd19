// SPDX-License-Identifier: Apache-2.0
#include "models/cp/doorbell_bridge.h"

#include "models/common/payload_builder.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

DoorbellBridge::DoorbellBridge(sc_core::sc_module_name name)
    : sc_module(name), in("in"), out("out") {
  in.register_b_transport(this, &DoorbellBridge::b_transport);
  mark_communication(extension_, Engine::link, 0, Operation::write, STRETTO_ACCOUNT_SYNC);
}

void DoorbellBridge::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  payload.set_address(payload.get_address() + STRETTO_DOORBELL_APERTURE);
  StrettoExtension* const of_sender = payload.get_extension<StrettoExtension>();
  payload.set_extension(&extension_);
  out->b_transport(payload, delay);
  payload.set_extension(of_sender);  // Nobody else takes it off, see IEEE 1666-2011, 14.5.
}

}  // namespace stretto
