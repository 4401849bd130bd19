// SPDX-License-Identifier: Apache-2.0
#include "models/common/tlm_checker.h"

namespace stretto {

namespace {

void count(sc_core::sc_object& object, TlmCensus& census) {
  const auto* socket = dynamic_cast<const tlm::tlm_base_socket_if*>(&object);
  auto* port = dynamic_cast<sc_core::sc_port_base*>(&object);
  if (socket != nullptr && port != nullptr &&
      socket->get_socket_category() == tlm::TLM_INITIATOR_SOCKET &&
      port->get_interface() != nullptr) {
    ++census.bound;
    if (const auto* checker = dynamic_cast<const TlmChecked*>(port->get_interface())) {
      ++census.checked;
      census.begun += checker->hop().begun();
      census.ended += checker->hop().ended();
    } else {
      census.unchecked.push_back(object.name());
    }
  }
  for (sc_core::sc_object* child : object.get_child_objects()) count(*child, census);
}

}  // namespace

TlmCensus tlm_census() {
  TlmCensus census;
  for (sc_core::sc_object* object : sc_core::sc_get_top_level_objects()) count(*object, census);
  return census;
}

}  // namespace stretto
