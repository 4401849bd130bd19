// SPDX-License-Identifier: Apache-2.0
// Register sockets of hbm.h: base-protocol accesses of 8 bytes become clocks of the MCAs or the
// Tracker.
#include <cstring>

#include "models/common/payload_pool.h"
#include "models/hbm/hbm.h"
#include "models/reference/block_host.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/regs/hbm_regs.h"

namespace stretto {
namespace {

// Offset of the front end's registers in the Tracker's bank.
constexpr uint64_t kFrontEnd = 0x1000;

// An access of another shape than 8 aligned bytes is the guest's mistake.
bool well_formed(tlm::tlm_generic_payload& payload) {
  if (payload.get_data_length() == 8 && payload.get_address() % 8 == 0 &&
      payload.get_byte_enable_ptr() == nullptr &&
      payload.get_command() != tlm::TLM_IGNORE_COMMAND) {
    return true;
  }
  payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  return false;
}

}  // namespace

void Hbm::on_mca_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!well_formed(payload)) return;
  const uint64_t index = payload.get_address() / STRETTO_MCA_STRIDE;
  const bool all = index == STRETTO_MCA_BROADCAST && payload.is_write();
  if (index >= channels_.size() && !all) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const RegisterPort port = register_port(payload, payload.get_address() % STRETTO_MCA_STRIDE);
  uint64_t value = 0;
  for (unsigned i = all ? 0 : static_cast<unsigned>(index);
       i < (all ? channels_.size() : index + 1); ++i) {
    value = access_mca(i, port);
  }
  after_ticks(cycle());
  finish_register(payload, value, delay);
}

uint64_t Hbm::access_mca(unsigned index, const RegisterPort& port) {
  const uint64_t now = cycle();
  const uint64_t value = access_registers(
      port, [&](const RegisterPort& one) { return channels_[index]->step_registers(now, one); });
  next_[index] = std::min(next_[index], channels_[index]->next(now));
  arm(next_[index]);
  return value;
}

void Hbm::on_tracker_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!well_formed(payload)) return;
  const RegisterPort port = register_port(payload, payload.get_address());
  uint64_t value = port.wdata;
  if (payload.get_address() >= kFrontEnd) {
    if (!access_front_end(payload.get_address() - kFrontEnd, payload.is_write(), value)) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
  } else if (!core_.tracker_port.present()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  } else {
    const uint64_t now = cycle();
    value = access_registers(
        port, [&](const RegisterPort& one) { return core_.tracker_port.step(now, one); });
    tracker_next_ = core_.tracker_port.next(now);
    if (tracker_next_ != kNoCycle) arm(tracker_next_);
  }
  finish_register(payload, value, delay);
}

bool Hbm::access_front_end(uint64_t offset, bool write, uint64_t& value) {
  switch (offset) {
    case SPILL_BASE_OFFSET:
      if (write) spill_base_ = value & SPILL_BASE_ADDRESS_MASK & ~uint64_t{63};
      value = spill_base_;
      return true;
    case SPILL_BYTES_OFFSET:
      if (write) spill_bytes_ = value & SPILL_BYTES_BYTES_MASK;
      value = spill_bytes_;
      return true;
    case DRAIN_STATUS_OFFSET:
      if (write && (value & DRAIN_STATUS_DONE_MASK) != 0) set_drain(false);
      value = drain_status_ ? DRAIN_STATUS_DONE_MASK : 0;
      return true;
    default: return false;
  }
}

void Hbm::finish_register(tlm::tlm_generic_payload& payload, uint64_t value,
                          sc_core::sc_time& delay) {
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &value, 8);
  const Time start = services_.queue->now() + time_of(delay);
  const uint64_t edge = clock_.cycle_from(start) + (payload.is_read() ? 2 : 1);
  delay = delay_of(clock_.edge(edge) - services_.queue->now());
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace stretto
