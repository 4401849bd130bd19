// SPDX-License-Identifier: Apache-2.0
// A kernel ELF, read through libelf and changed in place: words of its text, its descriptors and one
// program header. Sections, symbols and relocations stay as they are.
#ifndef STRETTO_SW_TRANSFORM_KERNEL_ELF_H_
#define STRETTO_SW_TRANSFORM_KERNEL_ELF_H_

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sw/include/formats/code_object.h"

namespace stretto::transform {

// One line that says what is wrong with a file, or why a kernel is refused.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Of a kernel ELF; its image has at most 64 MiB.
constexpr uint64_t kMaxFileBytes = uint64_t{256} << 20;

struct Kernel {
  std::string name;
  uint64_t descriptor = 0;             // Address.
  stretto_kernel_descriptor_t fields;  // `entry` is relative to the image.
};

class KernelElf {
 public:
  // Throws Refused.
  explicit KernelElf(std::vector<uint8_t> bytes);

  const std::vector<uint8_t>& bytes() const { return bytes_; }
  const std::vector<Kernel>& kernels() const { return kernels_; }
  // An executable word, or nothing.
  std::optional<uint32_t> code(uint64_t address) const;
  // The targets of the jump table at this address, as relocations tell them; or nullptr.
  const std::vector<uint64_t>* table(uint64_t address) const;
  // The address of the jump table that has an entry there, or nothing.
  std::optional<uint64_t> table_of_entry(uint64_t address) const;
  // What the auipc at this address forms, as relocations tell it.
  std::optional<uint64_t> formed(uint64_t address) const;
  bool is_writable(uint64_t address) const;
  // As it is loaded at 0.
  std::vector<uint8_t> image() const;
  // "name+0x12"
  std::string place(uint64_t address) const;

  // Where appended words will lie; throws Refused if no program header is free for them.
  uint64_t appendix() const;

  // REQUIRES: code(address)
  void patch(uint64_t address, uint32_t word);
  // Writes fields and the relocation of the entry.
  void describe(const Kernel& kernel);
  // Once, after everything else. The words lie at appendix().
  void append(const std::vector<uint32_t>& words);

 private:
  struct Segment {
    uint64_t address, offset, bytes, memory_bytes;
    bool executable, writable;
  };
  class Reader;

  uint8_t* at(uint64_t address, uint64_t count);

  std::vector<uint8_t> bytes_;
  std::vector<Segment> segments_;
  std::vector<Kernel> kernels_;
  std::map<uint64_t, std::string> functions_;
  std::map<uint64_t, std::vector<uint64_t>> tables_;  // Sorted targets.
  std::map<uint64_t, uint64_t> entries_;              // Address of an entry -> its table.
  std::map<uint64_t, uint64_t> formed_;
  std::map<uint64_t, uint64_t> relative_;  // Address that R_RISCV_RELATIVE writes -> file offset.
  std::optional<uint64_t> spare_header_;   // File offset of PT_GNU_STACK.
};

}  // namespace stretto::transform

#endif  // STRETTO_SW_TRANSFORM_KERNEL_ELF_H_
