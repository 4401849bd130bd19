// SPDX-License-Identifier: Apache-2.0
// Where a byte lies in the HBM of one GPU: channel, bank, row, column (T3-U04).
//
// Blocks of `interleave` bytes go round the channels; bits above are XORed into channel and
// bank-group number, so that power-of-two strides spread. Inside a channel successive blocks change
// the bank group first (two open groups are needed for full bandwidth), then fill the rows, then
// change the bank. The map is a bijection.
#ifndef STRETTO_MODELS_HBM_ADDRESS_MAPPING_H_
#define STRETTO_MODELS_HBM_ADDRESS_MAPPING_H_

#include <bit>
#include <cassert>
#include <cstdint>

#include "models/hbm/timing_table.h"

namespace stretto {

class HbmAddressMapping {
 public:
  struct Place {
    uint8_t bank;  // Group in the upper two bits.
    uint32_t row;
  };

  // REQUIRES: powers of two; interleave >= kAtomBytes; row_bytes >= interleave.
  HbmAddressMapping(unsigned channels, unsigned interleave_bytes, unsigned row_bytes, bool hash)
      : channel_bits_(std::countr_zero(channels)),
        block_bits_(std::countr_zero(interleave_bytes)),
        column_bits_(std::countr_zero(row_bytes) - block_bits_),
        hash_(hash) {
    assert(std::has_single_bit(channels) && std::has_single_bit(interleave_bytes) &&
           std::has_single_bit(row_bytes));
    assert(interleave_bytes >= kAtomBytes && row_bytes >= interleave_bytes);
  }

  unsigned channels() const { return 1u << channel_bits_; }
  uint64_t block_bytes() const { return uint64_t{1} << block_bits_; }

  unsigned channel_of(uint64_t offset) const {
    const uint64_t block = offset >> block_bits_;
    const unsigned low = static_cast<unsigned>(block) & (channels() - 1);
    return hash_ && channel_bits_ != 0 ? low ^ fold(block >> channel_bits_, channel_bits_) : low;
  }
  Place place_of(uint64_t offset) const {
    // Index of the block in its channel.
    const uint64_t block = offset >> block_bits_ >> channel_bits_;
    unsigned group = block & (kHbmGroups - 1);
    const uint64_t above = block >> 2;
    if (hash_) group ^= fold(above >> column_bits_, 2);
    const unsigned bank = (above >> column_bits_) & (kHbmBanksPerGroup - 1);
    return {static_cast<uint8_t>(group * kHbmBanksPerGroup + bank),
            static_cast<uint32_t>(above >> column_bits_ >> 2)};
  }
  // The address of byte 0 of (channel, bank, row), for tests and traces.
  uint64_t address_of(unsigned channel, unsigned bank, uint32_t row,
                      unsigned block_in_row = 0) const {
    const uint64_t above =
        (((uint64_t{row} << 2 | bank % kHbmBanksPerGroup) << column_bits_) | block_in_row);
    unsigned group = bank / kHbmBanksPerGroup;
    if (hash_) group ^= fold(above >> column_bits_, 2);
    const uint64_t block = above << 2 | group;
    const unsigned low =
        hash_ && channel_bits_ != 0 ? channel ^ fold(block, channel_bits_) : channel;
    return (block << channel_bits_ | low) << block_bits_;
  }

 private:
  // XOR of the `bits`-wide pieces of `value`.
  static unsigned fold(uint64_t value, unsigned bits) {
    if (bits == 5) {  // The shipped machines; the loop below gives the same.
      value ^= value >> 20;
      value ^= value >> 10;
      value ^= value >> 5;
      return value & 31;
    }
    unsigned folded = 0;
    for (; value != 0; value >>= bits) folded ^= static_cast<unsigned>(value) & ((1u << bits) - 1);
    return folded;
  }

  unsigned channel_bits_;
  unsigned block_bits_;
  unsigned column_bits_;  // Blocks of a row.
  bool hash_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_ADDRESS_MAPPING_H_
