// SPDX-License-Identifier: Apache-2.0
// Decoding and narrow accesses of a register bank. Little-endian hosts only, like the whole platform.
#include "models/cp/register_bank.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace stretto {

RegisterBank::RegisterBank(const sc_core::sc_module_name& name, const RegisterInfo* table,
                           size_t size)
    : sc_core::sc_module(name), csr("csr") {
  csr.register_b_transport(this, &RegisterBank::b_transport);
  for (const RegisterInfo* info = table; info != table + size; ++info) {
    for (uint32_t i = 0; i < info->count; ++i) {
      registers_.push_back({info, i, info->offset + i * info->stride, info->reset});
    }
  }
  std::sort(registers_.begin(), registers_.end(),
            [](const Register& a, const Register& b) { return a.offset < b.offset; });
}

const RegisterBank::Register* RegisterBank::at(uint64_t offset) const {
  const auto after =
      std::upper_bound(registers_.begin(), registers_.end(), offset,
                       [](uint64_t wanted, const Register& r) { return wanted < r.offset; });
  return after == registers_.begin() ? nullptr : &*(after - 1);
}

RegisterBank::Register* RegisterBank::at(uint64_t offset, unsigned bytes) {
  if (bytes == 0 || bytes > 8 || (bytes & (bytes - 1)) != 0 || offset % bytes != 0) return nullptr;
  Register* found = const_cast<Register*>(static_cast<const RegisterBank*>(this)->at(offset));
  return found != nullptr && offset + bytes <= found->offset + found->info->bytes ? found : nullptr;
}

uint64_t RegisterBank::value(uint32_t offset) const {
  const Register* found = at(offset);
  assert(found != nullptr && found->offset == offset);
  return found->value;
}

void RegisterBank::set_value(uint32_t offset, uint64_t value) {
  Register* found = at(offset, 1);
  assert(found != nullptr && found->offset == offset);
  found->value = value;
}

void RegisterBank::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  const unsigned bytes = payload.get_data_length();
  Register* target = at(payload.get_address(), bytes);
  if (target == nullptr || payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const unsigned shift = 8 * static_cast<unsigned>(payload.get_address() - target->offset);
  const RegisterInfo& info = *target->info;
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (payload.is_read()) {
    const uint64_t held = info.access == RegisterAccess::kWriteOnly ? 0 : target->value;
    const uint64_t value = on_read(info, target->index, held) >> shift;
    std::memcpy(payload.get_data_ptr(), &value, bytes);
    return;
  }
  uint64_t incoming = 0;
  std::memcpy(&incoming, payload.get_data_ptr(), bytes);
  const uint64_t mask = (bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1) << shift;
  const bool keeps = info.access == RegisterAccess::kReadWrite;
  const uint64_t written = (incoming << shift) | (keeps ? target->value & ~mask : 0);
  target->value = value_after_write(info, target->value, written);
  on_write(info, target->index, target->value, written);
}

}  // namespace stretto
