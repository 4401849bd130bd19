// SPDX-License-Identifier: Apache-2.0
// The registers of a device, made from a generated table (sw/include/regs/<name>_bank.h): decoding,
// values, and what a read or a write does besides.
//
// An access is one whole register: aligned, of the register's size (8 bytes; 4 of CLINT's msip),
// without byte enables. Anything else answers TLM_ADDRESS_ERROR_RESPONSE and changes nothing.
// Registers of RTL blocks answer in the same way: there a bank only decodes, and the block holds
// the values.
//
// A handler stands for a register or, by the offset of its first element, for an array.
#ifndef STRETTO_MODELS_COMMON_REGISTER_BANK_H_
#define STRETTO_MODELS_COMMON_REGISTER_BANK_H_

#include <tlm>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <systemc>
#include <utility>
#include <vector>

#include "sw/include/regs/register_info.h"

namespace stretto {

class RegisterBank {
 public:
  struct Place {
    const RegisterInfo* info = nullptr;  // Null: no such register.
    uint32_t index = 0;                  // In its array.
  };
  struct Write {
    uint32_t index;  // In its array.
    uint64_t bits;   // What came in.
    uint64_t& held;  // What the bank holds after the write, by the register's access.
    const sc_core::sc_time& delay;
  };
  using Reader = std::function<uint64_t(uint32_t index)>;
  using Writer = std::function<void(const Write&)>;

  template <size_t kSize>
  explicit RegisterBank(const RegisterInfo (&table)[kSize]) {
    add(table);
  }
  // Further registers of the same device. REQUIRES: other offsets.
  template <size_t kSize>
  void add(const RegisterInfo (&table)[kSize]) {
    for (const RegisterInfo& info : table) {
      const uint32_t end = (info.offset + (info.count - 1) * info.stride + info.bytes) / kGrain;
      if (end > places_.size()) {
        places_.resize(end);
        values_.resize(end);
      }
      for (uint32_t i = 0; i < info.count; ++i) {
        const uint32_t at = (info.offset + i * info.stride) / kGrain;
        assert(places_[at].info == nullptr);
        places_[at] = {&info, i};
        values_[at] = info.reset;
      }
    }
  }

  // A read answers what `reader` returns instead of the value held.
  void on_read(uint32_t offset, Reader reader) { readers_[offset] = std::move(reader); }
  // `writer` acts when the value has been stored.
  void on_write(uint32_t offset, Writer writer) { writers_[offset] = std::move(writer); }
  // After every write: derives flags and interrupts from the values.
  void on_update(std::function<void()> update) { update_ = std::move(update); }

  uint64_t& operator[](uint32_t offset) { return values_[offset / kGrain]; }
  uint64_t operator[](uint32_t offset) const { return values_[offset / kGrain]; }

  Place find(uint64_t offset) const {
    return offset % kGrain == 0 && offset / kGrain < places_.size() ? places_[offset / kGrain]
                                                                    : Place{};
  }
  // The register that the payload accesses; sets the response. `offset` is that of the payload's
  // address in the bank.
  Place decode(tlm::tlm_generic_payload& payload, uint64_t offset) const {
    const Place place = find(offset);
    const bool good = place.info != nullptr && payload.get_data_length() == place.info->bytes &&
                      payload.get_byte_enable_ptr() == nullptr &&
                      payload.get_command() != tlm::TLM_IGNORE_COMMAND;
    payload.set_response_status(good ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return good ? place : Place{};
  }

  // REQUIRES: `offset` is that of a register.
  uint64_t read(uint32_t offset) const {
    const Place place = find(offset);
    const auto reader = readers_.find(place.info->offset);
    if (reader != readers_.end()) return reader->second(place.index);
    return place.info->access == RegisterAccess::kWriteOnly ? 0 : values_[offset / kGrain];
  }
  void write(uint32_t offset, uint64_t bits,
             const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME) {
    const Place place = find(offset);
    uint64_t& held = values_[offset / kGrain];
    held = value_after_write(*place.info, held, bits);
    const auto writer = writers_.find(place.info->offset);
    if (writer != writers_.end()) writer->second({place.index, bits, held, delay});
    if (update_) update_();
  }

  // False: refused.
  bool access(tlm::tlm_generic_payload& payload, uint64_t offset, const sc_core::sc_time& delay) {
    const Place place = decode(payload, offset);
    if (place.info == nullptr) return false;
    uint64_t value = 0;
    if (payload.is_read()) {
      value = read(static_cast<uint32_t>(offset));
      std::memcpy(payload.get_data_ptr(), &value, place.info->bytes);
    } else {
      std::memcpy(&value, payload.get_data_ptr(), place.info->bytes);
      write(static_cast<uint32_t>(offset), value, delay);
    }
    return true;
  }
  // For a socket of which the bank is all.
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    access(payload, payload.get_address(), delay);
  }

 private:
  static constexpr uint32_t kGrain = 4;

  std::vector<Place> places_;     // By offset / kGrain.
  std::vector<uint64_t> values_;  // Likewise.
  std::map<uint32_t, Reader> readers_;
  std::map<uint32_t, Writer> writers_;
  std::function<void()> update_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_REGISTER_BANK_H_
