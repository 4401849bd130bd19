// SPDX-License-Identifier: Apache-2.0
// RegisterBank: a TLM target made from a generated register table. It decodes, checks size and access and keeps the
// values; a device overrides what reading or writing a register does.
//
// An access has 1, 2, 4 or 8 bytes, is aligned and lies in one register; a narrow write leaves the rest of the register
// as it is. Anything else answers TLM_ADDRESS_ERROR_RESPONSE.
#ifndef STRETTO_MODELS_CP_REGISTER_BANK_H_
#define STRETTO_MODELS_CP_REGISTER_BANK_H_

#include <tlm_utils/simple_target_socket.h>
#include <tlm>

#include <cstdint>
#include <systemc>
#include <vector>

#include "sw/include/regs/register_info.h"

namespace stretto {

class RegisterBank : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<RegisterBank> csr;

 protected:
  template <size_t kSize>
  RegisterBank(const sc_core::sc_module_name& name, const RegisterInfo (&table)[kSize])
      : RegisterBank(name, table, kSize) {}

  // `value` is what the bank holds; returns what the reader gets.
  virtual uint64_t on_read(const RegisterInfo&, uint32_t /*index*/, uint64_t value) {
    return value;
  }
  // `value` is what the bank holds after the write, by the register's access; `written` what came in.
  virtual void on_write(const RegisterInfo& info, uint32_t index, uint64_t value,
                        uint64_t written) = 0;

  uint64_t value(uint32_t offset) const;
  void set_value(uint32_t offset, uint64_t value);

 private:
  struct Register {
    const RegisterInfo* info;
    uint32_t index;
    uint32_t offset;
    uint64_t value;
  };
  RegisterBank(const sc_core::sc_module_name& name, const RegisterInfo* table, size_t size);
  Register* at(uint64_t offset, unsigned bytes);
  const Register* at(uint64_t offset) const;
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  std::vector<Register> registers_;  // In ascending order of their offsets.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_CP_REGISTER_BANK_H_
