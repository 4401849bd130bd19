// SPDX-License-Identifier: Apache-2.0
// RangeTable: the firmware-programmed table of mapped address ranges (T3 Figs 11-12, T3-CFG) with
// its register bank (sw/include/regs/range_table.yaml).
//
// Invariants
//  1 An entry takes effect when its flags are written with valid set, and not before; a bad one is
//    refused (status).
//  2 Where several entries hold an access, the one with the highest index answers.
//  3 An entry of class shared is local, neither update nor tracked, and made of whole lines of the
//    L2.
//  4 find() has no effect that the machine could see; it remembers its last answers to be fast.
#ifndef STRETTO_MODELS_GPU_BASE_RANGE_TABLE_H_
#define STRETTO_MODELS_GPU_BASE_RANGE_TABLE_H_

#include <tlm_utils/simple_target_socket.h>
#include <tlm>

#include <array>
#include <cstdint>

#include "models/common/range_lookup.h"
#include "models/common/register_bank.h"

namespace stretto {

class RangeTable final : public sc_core::sc_module, public RangeLookup {
 public:
  static constexpr unsigned kEntries = 256;

  tlm_utils::simple_target_socket_optional<RegisterBank> regs;  // b_transport, 8 bytes.

  explicit RangeTable(sc_core::sc_module_name name);

  const RangeEntry* find(uint64_t address, uint64_t bytes) const override;
  // The entry that holds all rows of a tile, or null.
  const RangeEntry* find_tile(uint64_t address, uint32_t rows, uint64_t pitch,
                              uint64_t row_bytes) const;
  const RangeEntry& entry(unsigned index) const { return entries_[index]; }
  unsigned count() const { return count_; }
  bool has_shared() const { return has_shared_; }  // An entry of class shared is valid.

  // Register access without a transaction; offsets of range_table_regs.h.
  uint64_t read_register(uint32_t offset) const { return registers_.read(offset); }
  void write_register(uint32_t offset, uint64_t value) { registers_.write(offset, value); }

 private:
  void commit(unsigned index);
  void invalidate(unsigned index);
  void rebuild();
  static bool holds(const RangeEntry& entry, uint64_t address, uint64_t bytes);
  static bool shares(const RangeEntry& a, const RangeEntry& b);
  static bool contains(const RangeEntry& outer, const RangeEntry& inner);
  static uint64_t end_of(const RangeEntry& entry) {
    return entry.base + (entry.rows - 1) * entry.pitch + entry.row_bytes;
  }

  void clear();

  RegisterBank registers_;
  std::array<RangeEntry, kEntries> entries_{};
  // A later entry may hold bytes of this one too; then a remembered answer must be checked again.
  std::array<bool, kEntries> shadowed_{};
  unsigned highest_ = 0;  // One above the highest valid entry.
  unsigned count_ = 0;
  bool has_shared_ = false;
  mutable std::array<uint16_t, 4> recent_{};
  mutable unsigned next_recent_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_BASE_RANGE_TABLE_H_
