// SPDX-License-Identifier: Apache-2.0
// The registers of a device from a generated table (sw/include/regs/<name>_bank.h): decoding and values, no side effects.
// For devices that answer b_transport on the CP's peripheral bus. Accesses are whole registers of 64 bits.
#ifndef STRETTO_MODELS_COMMON_REGISTER_FILE_H_
#define STRETTO_MODELS_COMMON_REGISTER_FILE_H_

#include <tlm>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sw/include/regs/register_info.h"

namespace stretto {

class RegisterFile {
 public:
  struct Place {
    const RegisterInfo* info = nullptr;  // Null: no such register.
    uint32_t index = 0;
  };

  template <size_t kSize>
  explicit RegisterFile(const RegisterInfo (&table)[kSize]) {
    uint32_t end = 0;
    for (const RegisterInfo& info : table)
      end = std::max(end, info.offset + (info.count - 1) * info.stride + 8);
    places_.resize(end / 8);
    values_.resize(end / 8);
    for (const RegisterInfo& info : table) {
      assert(info.bytes == 8);
      for (uint32_t i = 0; i < info.count; ++i) {
        const uint32_t word = (info.offset + i * info.stride) / 8;
        places_[word] = {&info, i};
        values_[word] = info.reset;
      }
    }
  }

  Place find(uint64_t offset) const {
    return offset % 8 == 0 && offset / 8 < places_.size() ? places_[offset / 8] : Place{};
  }
  uint64_t& operator[](uint32_t offset) { return values_[offset / 8]; }
  uint64_t operator[](uint32_t offset) const { return values_[offset / 8]; }

  // Decodes one access. Sets the response; returns the place if device code has to act, else no place.
  Place decode(tlm::tlm_generic_payload& payload) const {
    const Place place = find(payload.get_address());
    const bool ok = place.info != nullptr && payload.get_data_length() == 8 &&
                    payload.get_byte_enable_ptr() == nullptr;
    payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return ok ? place : Place{};
  }
  static uint64_t written(const tlm::tlm_generic_payload& payload) {
    uint64_t value;
    std::memcpy(&value, payload.get_data_ptr(), 8);
    return value;
  }
  static void answer(tlm::tlm_generic_payload& payload, uint64_t value) {
    std::memcpy(payload.get_data_ptr(), &value, 8);
  }

 private:
  std::vector<Place> places_;     // By word.
  std::vector<uint64_t> values_;  // By word.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_REGISTER_FILE_H_
