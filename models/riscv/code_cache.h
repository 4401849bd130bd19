// SPDX-License-Identifier: Apache-2.0
// CodeCache: basic blocks of decoded instructions, keyed by pc, shared by any number of harts that
// see the same code (both harts of a command processor; all wavefronts of a GPU).
//
// Invariants
//  1. A block never changes after translate(), except its successor links.
//  2. A link leads only to a block of the same generation: flush() clears all links.
//  3. Blocks flushed while a hart is inside run() stay readable until the last hart has left run()
//     (a port may block inside an access while another hart executes fence.i).
//  4. Content depends only on the guest's code and the order of its execution, never on addresses
//     of host memory; find() has no effect that a guest could see.
//
// Who calls what: harts call enter(), leave(), find(), translate(), flush() and note_write(). The
// owner calls flush() when it changes code by another way than a hart's store (a DMA write, a
// module load over old code).
#ifndef STRETTO_MODELS_RISCV_CODE_CACHE_H_
#define STRETTO_MODELS_RISCV_CODE_CACHE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "models/riscv/decoder.h"

namespace stretto::riscv {

struct Block {
  uint64_t pc = 0;
  const Op* ops = nullptr;  // instruction_count ops, then EndBlock if the last one falls through
  uint32_t instruction_count = 0;
  uint32_t length_bytes = 0;
  uint64_t cycles = 0;  // of all instructions
  Block* fall_through = nullptr;
  Block* taken = nullptr;  // of a jalr: the last target seen
};

class CodeCache {
 public:
  // Longest block. Longer blocks save dispatch and cost decoding of code that is never reached.
  static constexpr unsigned kMaxBlockInstructions = 64;
  // Decoded micro-ops kept before everything is dropped and decoded again: 16 MiB of host memory.
  static constexpr size_t kMaxOps = size_t{1} << 20;

  // Reads the 16-bit parcel at addr; false where no code can be fetched.
  using FetchParcel = bool (*)(void* context, uint64_t addr, uint16_t& parcel);

  // REQUIRES: every cost is at most kMaxCostCycles.
  explicit CodeCache(const IsaOptions& isa = {}, const CostTable& cost = {});
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;

  const IsaOptions& isa() const { return isa_; }
  const CostTable& cost() const { return cost_; }

  // A hart is inside run() between these two.
  void enter() {
    if (running_++ == 0 && !flushed_chunks_.empty()) flushed_chunks_.clear();
  }
  void leave() { --running_; }

  Block* find(uint64_t pc) {
    const Slot& slot = slots_[slot_index(pc)];
    return slot.pc == pc && slot.block != nullptr ? slot.block : find_slow(pc);
  }
  // REQUIRES: find(pc) returned nullptr.
  Block* translate(uint64_t pc, FetchParcel fetch, void* context);

  // Forgets all code.
  void flush();
  uint64_t generation() const { return generation_; }  // number of flushes

  // True if a store to addr may touch decoded code: one load and a test, rarely wrong.
  bool maybe_code(uint64_t addr) const { return line_filter_[filter_index(addr)] != 0; }
  // Call if maybe_code(); flushes and returns true if [addr, addr + size) holds decoded code.
  bool note_write(uint64_t addr, unsigned size_bytes);

  size_t block_count() const { return blocks_.size(); }
  size_t op_count() const { return op_count_; }

 private:
  struct Slot {
    uint64_t pc = 0;
    Block* block = nullptr;
  };
  // Storage of one generation's blocks and ops; addresses are stable.
  struct Chunk {
    std::deque<Block> blocks;
    std::vector<std::unique_ptr<Op[]>> op_arrays;
  };

  static constexpr size_t kSlots = 4096;
  static constexpr unsigned kLineShift = 6;
  static constexpr size_t kFilterLines = 32768;

  static size_t slot_index(uint64_t pc) { return (pc >> 1) & (kSlots - 1); }
  static size_t filter_index(uint64_t addr) { return (addr >> kLineShift) & (kFilterLines - 1); }
  Block* find_slow(uint64_t pc);

  IsaOptions isa_;
  CostTable cost_;
  std::vector<Slot> slots_;                      // direct-mapped front of blocks_
  std::unordered_map<uint64_t, Block*> blocks_;  // looked up, never walked
  std::unordered_set<uint64_t> lines_;           // 64-byte lines with code; looked up only
  std::vector<uint8_t> line_filter_;
  std::unique_ptr<Chunk> chunk_;
  std::vector<std::unique_ptr<Chunk>> flushed_chunks_;
  size_t op_count_ = 0;
  uint64_t generation_ = 0;
  unsigned running_ = 0;
};

}  // namespace stretto::riscv

#endif  // STRETTO_MODELS_RISCV_CODE_CACHE_H_
