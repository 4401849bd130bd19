// SPDX-License-Identifier: Apache-2.0
// Words for the segment of stubs, one behind the other, with labels and a sentence each.
#ifndef STRETTO_SW_TRANSFORM_ASSEMBLER_H_
#define STRETTO_SW_TRANSFORM_ASSEMBLER_H_

#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

#include "sw/transform/instruction.h"
#include "sw/transform/kernel_elf.h"

namespace stretto::transform {

struct Line {
  uint64_t address;
  uint32_t word;
  std::string what;
};

class Assembler {
 public:
  using Label = size_t;

  explicit Assembler(uint64_t base) : base_(base) {}

  uint64_t here() const { return base_ + 4 * lines_.size(); }
  const std::vector<Line>& lines() const { return lines_; }

  void emit(uint32_t word, std::string what) { lines_.push_back({here(), word, std::move(what)}); }
  // REQUIRES: a word was emitted there.
  void replace(uint64_t address, uint32_t word) { lines_[(address - base_) / 4].word = word; }
  // To an address that is already known. Throws Refused if `jal` does not reach it: what comes
  // before a jump back may be what is too much.
  void jump(uint64_t target, std::string what) {
    const int64_t distance = static_cast<int64_t>(target - here());
    if (!encode::reaches(distance)) throw Refused("its stubs lie farther than 1 MiB from its text");
    emit(encode::jal(encode::kZero, distance), std::move(what));
  }

  Label label() {
    places_.push_back(0);
    return places_.size() - 1;
  }
  void bind(Label label) { places_[label] = here(); }
  void branch(encode::Condition condition, unsigned rs1, unsigned rs2, Label to, std::string what) {
    open_.push_back({lines_.size(), to, condition, rs1, rs2, false});
    emit(0, std::move(what));
  }
  // rd <- where the label is: stubs of a kernel with many ends and jumps lie far apart.
  void address(unsigned rd, Label of, std::string what) {
    emit(encode::auipc(rd), what);
    open_.push_back({lines_.size(), of, encode::kEqual, rd, rd, true});
    emit(0, std::move(what));
  }
  // Once, when all labels are bound. Throws Refused if a branch does not reach its label.
  void resolve() {
    for (const Open& open : open_) {
      Line& line = lines_[open.index];
      assert(places_[open.to] != 0);
      const int64_t distance = static_cast<int64_t>(places_[open.to] - line.address);
      if (open.is_address) {
        const int64_t from_auipc = distance + 4, high = (from_auipc + 0x800) >> 12;
        lines_[open.index - 1].word = encode::auipc(open.rs1, high);
        line.word = encode::addi(open.rs1, open.rs1, static_cast<int>(from_auipc - high * 4096));
      } else {
        if (!encode::branch_reaches(distance)) throw Refused("its stubs are larger than 4 KiB");
        line.word = encode::branch(open.condition, open.rs1, open.rs2, distance);
      }
    }
    open_.clear();
  }

 private:
  struct Open {
    size_t index;
    Label to;
    encode::Condition condition;
    unsigned rs1, rs2;
    bool is_address;  // The second word of address().
  };
  uint64_t base_;
  std::vector<Line> lines_;
  std::vector<uint64_t> places_;
  std::vector<Open> open_;
};

}  // namespace stretto::transform

#endif  // STRETTO_SW_TRANSFORM_ASSEMBLER_H_
