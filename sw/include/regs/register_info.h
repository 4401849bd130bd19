// SPDX-License-Identifier: Apache-2.0
// What the generated tables (<name>_bank.h) say about a register, for the register banks of models.
#ifndef STRETTO_SW_INCLUDE_REGS_REGISTER_INFO_H_
#define STRETTO_SW_INCLUDE_REGS_REGISTER_INFO_H_

#include <cstddef>
#include <cstdint>

namespace stretto {

enum class RegisterAccess : uint8_t {
  kReadWrite,
  kReadOnly,         // A write changes nothing.
  kWriteOnly,        // Reads 0.
  kWriteOneToClear,  // Writing 1 clears the bit.
  kWriteOneToSet,    // Writing 1 sets the bit.
};

struct RegisterInfo {
  const char* name;
  uint32_t offset;  // Bytes from the start of the bank.
  uint32_t count;   // Elements of an array; 1 otherwise.
  uint32_t stride;  // Bytes from one element to the next.
  uint32_t bytes;   // Size of an element: 1, 2, 4 or 8.
  RegisterAccess access;
  uint64_t reset;
  uint64_t writable;  // Bits that a write may change; the others keep their value.
};

// A named value of a field: k<Block><Register><Field>Values lists them.
struct RegisterValue {
  const char* name;
  uint64_t value;
};

// The value of a register after a write, by its access alone; side effects are the model's.
constexpr uint64_t value_after_write(const RegisterInfo& info, uint64_t old_value,
                                     uint64_t written) {
  const uint64_t bits = written & info.writable;
  switch (info.access) {
    case RegisterAccess::kReadOnly: return old_value;
    case RegisterAccess::kWriteOneToClear: return old_value & ~bits;
    case RegisterAccess::kWriteOneToSet: return old_value | bits;
    case RegisterAccess::kReadWrite:
    case RegisterAccess::kWriteOnly: return (old_value & ~info.writable) | bits;
  }
  return old_value;
}

// The register at `offset` and the index in its array, or nullptr between registers and inside one.
template <size_t kSize>
constexpr const RegisterInfo* find_register(const RegisterInfo (&table)[kSize], uint32_t offset,
                                            uint32_t* index = nullptr) {
  for (const RegisterInfo& info : table) {
    if (offset < info.offset || (offset - info.offset) % info.stride != 0) continue;
    const uint32_t i = (offset - info.offset) / info.stride;
    if (i >= info.count) continue;
    if (index != nullptr) *index = i;
    return &info;
  }
  return nullptr;
}

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_REGISTER_INFO_H_
