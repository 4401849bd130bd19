// SPDX-License-Identifier: Apache-2.0
// Translation of code into blocks, and forgetting them.
#include "models/riscv/code_cache.h"

#include <algorithm>
#include <cassert>

namespace stretto::riscv {

CodeCache::CodeCache(const IsaOptions& isa, const CostTable& cost)
    : isa_(isa),
      cost_(cost),
      slots_(kSlots),
      line_filter_(kFilterLines, 0),
      chunk_(std::make_unique<Chunk>()) {
  for ([[maybe_unused]] const CostField& field : cost_fields()) {
    assert(cost_.*field.member <= kMaxCostCycles);
  }
}

Block* CodeCache::find_slow(uint64_t pc) {
  const auto it = blocks_.find(pc);
  if (it == blocks_.end()) return nullptr;
  slots_[slot_index(pc)] = {pc, it->second};
  return it->second;
}

Block* CodeCache::translate(uint64_t pc, FetchParcel fetch, void* context) {
  assert((pc & 1) == 0);
  if (op_count_ > kMaxOps) flush();

  Op ops[kMaxBlockInstructions + 1];
  unsigned count = 0;
  uint64_t at = pc;
  uint32_t cycles = 0;
  bool ended = false;
  uint64_t first_line = 0;  // Where the first instruction ends.
  while (!ended && count < kMaxBlockInstructions) {
    uint16_t low = 0;
    uint16_t high = 0;
    Decoded d{};
    const bool low_ok = fetch(context, at, low);
    const bool is_wide = (low & 3) == 3;
    if (low_ok && (!is_wide || fetch(context, at + 2, high))) {
      const uint32_t raw = is_wide ? static_cast<uint32_t>(high) << 16 | low : low;
      d = decode(raw, at, isa_, cost_);
    } else {
      // Only an instruction that is reached may fault: elsewhere the block ends before it.
      if (count != 0) break;
      d.op.id = OpId::kFetchFault;
      d.op.imm = static_cast<int64_t>(low_ok ? at + 2 : at);
      d.ends_block = true;
    }
    if (isa_.line_blocks) {
      const uint64_t line = (at + d.length_bytes - 1) >> kLineShift;
      if (count != 0 && line != first_line) break;
      first_line = line;
    }
    d.op.pc_parcels = static_cast<uint8_t>((at - pc) / 2);
    d.op.cycles_before = static_cast<uint16_t>(cycles);
    ops[count++] = d.op;
    cycles += d.cost_cycles;
    at += d.length_bytes;
    ended = d.ends_block;
  }
  const unsigned instruction_count = count;
  if (!ended) {
    Op end{};
    end.id = OpId::kEndBlock;
    end.pc_parcels = static_cast<uint8_t>((at - pc) / 2);
    end.cycles_before = static_cast<uint16_t>(cycles);
    ops[count++] = end;
  }

  auto stored = std::make_unique<Op[]>(count);
  std::copy(ops, ops + count, stored.get());
  Block& block = chunk_->blocks.emplace_back();
  block.pc = pc;
  block.ops = stored.get();
  block.instruction_count = instruction_count;
  block.length_bytes = static_cast<uint32_t>(at - pc);
  block.cycles = cycles;
  chunk_->op_arrays.push_back(std::move(stored));
  op_count_ += count;

  blocks_.emplace(pc, &block);
  slots_[slot_index(pc)] = {pc, &block};
  for (uint64_t line = pc >> kLineShift; line <= (at - (at > pc)) >> kLineShift; ++line) {
    lines_.insert(line);
    line_filter_[line & (kFilterLines - 1)] = 1;
  }
  return &block;
}

void CodeCache::flush() {
  ++generation_;
  if (op_count_ == 0) return;  // Nothing was decoded since.
  for (Block& block : chunk_->blocks) {
    block.fall_through = nullptr;
    block.taken = nullptr;
  }
  if (running_ != 0) flushed_chunks_.push_back(std::move(chunk_));
  chunk_ = std::make_unique<Chunk>();
  std::fill(slots_.begin(), slots_.end(), Slot{});
  std::fill(line_filter_.begin(), line_filter_.end(), uint8_t{0});
  blocks_.clear();
  lines_.clear();
  op_count_ = 0;
}

bool CodeCache::note_write(uint64_t addr, unsigned size_bytes) {
  const bool touched = lines_.count(addr >> kLineShift) != 0 ||
                       lines_.count((addr + size_bytes - 1) >> kLineShift) != 0;
  if (touched) flush();
  return touched;
}

}  // namespace stretto::riscv
