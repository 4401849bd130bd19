// SPDX-License-Identifier: Apache-2.0
// Address decoding of the peripheral bus.
#include "models/cp/cp_bus.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "models/common/tlm_checker.h"

namespace stretto {

CpBus::CpBus(const sc_core::sc_module_name& name, const EventQueue& queue)
    : sc_core::sc_module(name), in("in"), queue_(queue), out_("out", kMaxDevices) {
  in.register_b_transport(this, &CpBus::b_transport);
}

void CpBus::attach(uint64_t base, uint64_t bytes, tlm::tlm_base_target_socket_b<32>& target) {
  const auto after = std::find_if(windows_.begin(), windows_.end(),
                                  [base](const Window& window) { return window.base > base; });
  assert(bytes > 0 && (after == windows_.end() || base + bytes <= after->base));
  assert(after == windows_.begin() || std::prev(after)->base + std::prev(after)->bytes <= base);
  assert(windows_.size() < kMaxDevices);
  Out& out = out_[windows_.size()];
  connect(out, target, queue_);
  windows_.insert(after, {base, bytes, &out});
}

const CpBus::Window* CpBus::window_of(uint64_t address, unsigned bytes) const {
  for (const Window& window : windows_) {
    if (address - window.base < window.bytes) {
      return address - window.base + bytes <= window.bytes ? &window : nullptr;
    }
  }
  return nullptr;
}

void CpBus::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const uint64_t address = payload.get_address();
  const Window* window = window_of(address, payload.get_data_length());
  if (window == nullptr) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  payload.set_address(address - window->base);
  (*window->out)->b_transport(payload, delay);
  payload.set_address(address);
}

}  // namespace stretto
