// SPDX-License-Identifier: Apache-2.0
// ElfImage: a RISC-V 64-bit little-endian ELF file, read whole and checked: firmware and bare-metal
// programs (ET_EXEC) and kernels (ET_DYN, static PIE with relative relocations).
//
// Everything a user can get wrong ends in a UserError of one line naming the file: missing,
// truncated, not ELF, wrong class, byte order, machine or type, headers of a wrong size, no
// loadable segment, one larger in the file than in memory, overlapping segments, a relocation other
// than R_RISCV_RELATIVE. After load() every segment's data lies inside the file and no two segments
// overlap.
//
// An ET_DYN image is linked at 0; relocate(base) moves it once: segments, entry, symbols, sections,
// and the words that hold addresses.
#ifndef STRETTO_MODELS_COMMON_ELF_IMAGE_H_
#define STRETTO_MODELS_COMMON_ELF_IMAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stretto {

class ElfImage {
 public:
  struct Segment {
    unsigned number = 0;   // Of its program header, as readelf -l counts: from 0, all kinds.
    uint64_t address = 0;  // Where it runs (p_vaddr).
    uint64_t load_address =
        0;  // Where a loader puts it (p_paddr); start code may copy it from there.
    uint64_t memory_bytes = 0;  // At least data.size(); the rest is zero.
    bool readable = false, writable = false, executable = false;
    std::vector<uint8_t> data;
  };
  struct Symbol {
    std::string name;
    uint64_t address = 0;
    uint64_t size_bytes = 0;
    bool is_function = false;
  };
  struct Section {
    std::string name;
    uint64_t address = 0;       // 0 if the section is not loaded.
    std::vector<uint8_t> data;  // Empty for .bss and the like.
  };

  static ElfImage load(const std::string& path);
  // A file that is in memory already; `name` stands for its path.
  static ElfImage parse(const std::string& name, const std::vector<uint8_t>& bytes);

  const std::string& path() const { return path_; }
  bool position_independent() const { return position_independent_; }
  uint64_t entry() const { return entry_; }
  const std::vector<Segment>& segments() const { return segments_; }
  // Sorted by address, then name; without mapping symbols and compiler-local labels.
  const std::vector<Symbol>& symbols() const { return symbols_; }
  std::optional<uint64_t> symbol(const std::string& name) const;
  const Section* section(const std::string& name) const;  // nullptr if there is none
  // "name+0x12" for the function (or, without one, the object) that contains the address, "name" at
  // its start, else the address in hexadecimal.
  std::string symbolize(uint64_t address) const;
  // Smallest run address and the end of the largest; for placing a position-independent image.
  uint64_t low_address() const;
  uint64_t high_address() const;
  const std::string& sha256() const { return sha256_; }  // Of the file, lower-case hex.

  // Bytes of a segment; nullptr: they are not all in one.
  const uint8_t* data(uint64_t address, uint64_t size_bytes) const;
  // Names a place that has no name yet.
  void add_function(const std::string& name, uint64_t address);

  // REQUIRES: position_independent() and not relocated yet.
  void relocate(uint64_t base);

 private:
  struct Relocation {
    uint64_t offset;
    uint64_t addend;
  };
  class Reader;

  uint8_t* at(uint64_t address, uint64_t size_bytes);

  std::string path_;
  std::string sha256_;
  bool position_independent_ = false;
  bool relocated_ = false;
  uint64_t entry_ = 0;
  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;
  std::vector<Section> sections_;
  std::vector<Relocation> relocations_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_ELF_IMAGE_H_
