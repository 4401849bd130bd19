// SPDX-License-Identifier: Apache-2.0
// Register sockets of hbm.h: accesses become clocks of the MCAs or the Tracker.
#include <algorithm>

#include "models/common/payload_pool.h"
#include "models/hbm/hbm.h"
#include "models/reference/block_host.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/regs/hbm_bank.h"
#include "sw/include/regs/hbm_regs.h"

namespace stretto {
namespace {

// Offset of the front end's registers in the Tracker's bank.
constexpr uint64_t kFrontEnd = 0x1000;

}  // namespace

void Hbm::on_mca_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const uint64_t index = payload.get_address() / STRETTO_MCA_STRIDE;
  const uint64_t offset = payload.get_address() % STRETTO_MCA_STRIDE;
  if (mca_registers_.decode(payload, offset).info == nullptr) return;
  const bool all = index == STRETTO_MCA_BROADCAST && payload.is_write();
  if (index >= channels_.size() && !all) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const uint64_t now = cycle(), first = all ? 0 : index, end = all ? channels_.size() : index + 1;
  access_registers(payload, offset, [&](const RegisterPort& port) {
    uint64_t value = 0;
    for (uint64_t i = first; i < end; ++i) value = channels_[i]->step_registers(now, port);
    return value;
  });
  for (uint64_t i = first; i < end; ++i) {
    next_[i] = std::min(next_[i], channels_[i]->next(now));
    arm(next_[i]);
  }
  after_ticks(now);
  finish_register(payload, delay);
}

void Hbm::on_tracker_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const uint64_t address = payload.get_address();
  if (address >= kFrontEnd) {
    if (registers_.access(payload, address - kFrontEnd, delay)) finish_register(payload, delay);
    return;
  }
  if (tracker_registers_.decode(payload, address).info == nullptr) return;
  if (!core_.tracker_port.present()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const uint64_t now = cycle();
  access_registers(payload, address,
                   [&](const RegisterPort& port) { return core_.tracker_port.step(now, port); });
  tracker_next_ = core_.tracker_port.next(now);
  if (tracker_next_ != kNoCycle) arm(tracker_next_);
  finish_register(payload, delay);
}

void Hbm::describe_registers() {
  registers_.add(kDrainRegisters);
  registers_.on_write(SPILL_BASE_OFFSET,
                      [](const RegisterBank::Write& write) { write.held &= ~uint64_t{63}; });
  registers_.on_update([this] { update_drain_line(); });
}

// An access ends with its last clock.
void Hbm::finish_register(const tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) const {
  const Time start = services_.queue->now() + time_of(delay);
  const uint64_t edge = clock_.cycle_from(start) + (payload.is_read() ? 2 : 1);
  delay = delay_of(clock_.edge(edge) - services_.queue->now());
}

}  // namespace stretto
