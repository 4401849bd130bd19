// SPDX-License-Identifier: Apache-2.0
// Backwards from the jump along each way, what it jumps to is written in terms of registers as they
// were there, until none is left. Ways stay apart: a dispatch that several switches share has
// entries and address of one table on each.
#include "sw/transform/switches.h"

#include <algorithm>
#include <compare>
#include <string_view>
#include <utility>
#include <vector>

#include "sw/transform/registers.h"

namespace stretto::transform {
namespace {

// More are not of a switch: something steps round and round.
constexpr size_t kMaxStates = 4096;

struct Operand {
  unsigned reg;
  bool is_word;  // Its lower 32 bits, sign-extended.
  auto operator<=>(const Operand&) const = default;
};

// A constant plus registers plus, if it loads, the word at (a constant plus registers plus, if it is
// indexed, any number).
struct Target {
  uint64_t sum = 0;
  std::vector<Operand> operands;
  bool loads = false;
  uint64_t place = 0;
  std::vector<unsigned> place_registers;
  bool is_indexed = false;

  auto operator<=>(const Target&) const = default;
  bool is_known() const { return operands.empty() && place_registers.empty(); }
};

class Backwards {
 public:
  Backwards(const KernelElf& elf, const std::map<uint64_t, Instruction>& code,
            const Function& function)
      : elf_(elf), code_(code), function_(function) {
    for (const auto& [address, following] : function.next)
      for (const uint64_t target : following) before_[target].push_back(address);
  }

  std::optional<std::set<uint64_t>> run(uint64_t jump) {
    Target start;
    start.operands = {{code_.at(jump).rs1(), false}};
    work_.emplace_back(jump, start);
    while (!work_.empty()) {
      const auto [address, target] = work_.back();
      work_.pop_back();
      // What a register has at the entry is the caller's.
      if (address == function_.entry || seen_.size() > kMaxStates) return std::nullopt;
      for (const uint64_t previous : before_[address])
        if (!pass(previous, target)) return std::nullopt;
    }
    return found_;
  }

 private:
  // On to what the target is before an instruction. False: it is not understood.
  bool pass(uint64_t address, Target target) {
    const Instruction& i = code_.at(address);
    const uint32_t written = function_.calls.contains(address) ? kCallerSaved : i.writes();
    const std::vector<unsigned> in_place = std::exchange(target.place_registers, {});
    for (const unsigned reg : in_place) {
      if ((written & bit(reg)) == 0) {
        target.place_registers.push_back(reg);
      } else if (!pass_place(address, i, in_place.size() == 1, target)) {
        return false;
      }
    }
    for (const Operand& operand : std::exchange(target.operands, {})) {
      if ((written & bit(operand.reg)) == 0) {
        target.operands.push_back(operand);
      } else if (!pass_operand(address, i, operand, target)) {
        return false;
      }
    }
    if (target.operands.size() + (target.loads ? 1 : 0) > 2) return false;
    std::sort(target.operands.begin(), target.operands.end());
    std::sort(target.place_registers.begin(), target.place_registers.end());
    if (target.is_known()) return take(target);
    if (seen_.emplace(address, target).second) work_.emplace_back(address, std::move(target));
    return true;
  }

  bool pass_operand(uint64_t address, const Instruction& i, const Operand& operand,
                    Target& target) {
    const std::string_view name = i.name;
    if (name == "lw" && !target.loads) {
      target.loads = true;
      target.place = static_cast<uint64_t>(i.immediate);
      add(target.place_registers, i.rs1());
    } else if (i.is_move() || (name == "addiw" && i.immediate == 0)) {
      if (i.rs1() != encode::kZero)
        target.operands.push_back({i.rs1(), operand.is_word || name == "addiw"});
    } else if (operand.is_word) {
      return false;
    } else if (name == "addi" || name == "add") {
      for (const unsigned reg : {i.rs1(), name == "add" ? i.rs2() : encode::kZero})
        if (reg != encode::kZero) target.operands.push_back({reg, false});
      if (name == "addi") target.sum += static_cast<uint64_t>(i.immediate);
    } else if (i.kind == Kind::place) {
      target.sum += address + static_cast<uint64_t>(i.immediate);
    } else {
      return false;
    }
    return true;
  }

  // One register of the address of an entry is its table's, what the other one is does not matter.
  bool pass_place(uint64_t address, const Instruction& i, bool is_only, Target& target) const {
    const std::string_view name = i.name;
    if (name == "addi") {
      target.place += static_cast<uint64_t>(i.immediate);
      add(target.place_registers, i.rs1());
    } else if (i.kind == Kind::place) {
      target.place += address + static_cast<uint64_t>(i.immediate);
    } else if (name == "add" && is_only && !target.is_indexed) {
      add(target.place_registers, i.rs1());
      add(target.place_registers, i.rs2());
    } else {
      return !std::exchange(target.is_indexed, true);
    }
    return true;
  }

  static void add(std::vector<unsigned>& registers, unsigned reg) {
    if (reg != encode::kZero) registers.push_back(reg);
  }

  bool take(const Target& target) {
    const std::vector<uint64_t>* const table = elf_.table(target.sum);
    if (!target.loads || table == nullptr || elf_.table_of_entry(target.place) != target.sum)
      return false;
    found_.insert(table->begin(), table->end());
    return true;
  }

  const KernelElf& elf_;
  const std::map<uint64_t, Instruction>& code_;
  const Function& function_;
  std::map<uint64_t, std::vector<uint64_t>> before_;
  std::vector<std::pair<uint64_t, Target>> work_;  // The target before the instruction there.
  std::set<std::pair<uint64_t, Target>> seen_;
  std::set<uint64_t> found_;
};

}  // namespace

std::optional<std::set<uint64_t>> find_targets(const KernelElf& elf,
                                               const std::map<uint64_t, Instruction>& code,
                                               const Function& function, uint64_t jump) {
  return Backwards(elf, code, function).run(jump);
}

}  // namespace stretto::transform
