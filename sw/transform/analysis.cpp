// SPDX-License-Identifier: Apache-2.0
#include "sw/transform/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sw/include/tile.h"
#include "sw/transform/switches.h"

namespace stretto::transform {
namespace {

constexpr const char* kNotUnderstood = "indirect jump that is not understood";

class Descent {
 public:
  Descent(const KernelElf& elf, const Kernel& kernel, Analysis& out)
      : elf_(elf), kernel_(kernel), out_(out) {}

  void run() {
    begin(kernel_.fields.entry);
    do {
      while (!work_.empty()) {
        const auto [function, address] = work_.back();
        work_.pop_back();
        if (!function->next.contains(address)) visit(*function, address);
      }
    } while (follow_switches());
    refuse_jumps_into_pairs();
    try {
      for (const auto& [address, instruction] : out_.code) note(address, instruction);
      out_.refusal = find_waits(elf_, out_);
    } catch (const Refused& refused) {
      out_.refusal = refused.what();
    }
  }

 private:
  [[noreturn]] void refuse(uint64_t address, const std::string& why) const {
    throw Refused(fmt::format("{} at {}", why, elf_.place(address)));
  }

  Instruction fetch(uint64_t address) const {
    const std::optional<uint32_t> word = elf_.code(address);
    if (!word) throw Refused(fmt::format("goes to {:#x}, which is no code", address));
    const Instruction instruction = decode(*word);
    if ((*word & 3) != 3) refuse(address, "compressed instruction");
    if (instruction.kind == Kind::unknown)
      refuse(address, fmt::format("word {:08x} is not of RV64IMA", *word));
    return instruction;
  }

  Function& begin(uint64_t entry) {
    const auto [place, fresh] = out_.functions.try_emplace(entry);
    if (fresh) {
      place->second.entry = entry;
      work_.emplace_back(&place->second, entry);
    }
    return place->second;
  }

  // A jalr whose address is an auipc's, one word before, must not be reached past it.
  void refuse_jumps_into_pairs() const {
    for (const auto& [entry, function] : out_.functions) {
      for (const auto& [address, following] : function.next) {
        for (const uint64_t target : following) {
          if (target != address + 4 && pairs_.contains(target))
            refuse(address, "jump between auipc and jalr");
        }
      }
    }
  }

  void go(Function& function, uint64_t from, uint64_t to) {
    function.next[from].push_back(to);
    work_.emplace_back(&function, to);
  }

  void visit(Function& function, uint64_t address) {
    const Instruction instruction = fetch(address);
    out_.code.emplace(address, instruction);
    function.next[address];
    switch (instruction.kind) {
      case Kind::jump:
        jump(function, address, instruction,
             address + static_cast<uint64_t>(instruction.immediate));
        return;
      case Kind::jump_to: jump_to(function, address, instruction); return;
      case Kind::branch:
        go(function, address, address + static_cast<uint64_t>(instruction.immediate));
        break;
      case Kind::system: return;  // Faults: nothing is behind it.
      default:
        if (instruction.is_control(TILE_CONTROL_END)) return;
    }
    go(function, address, address + 4);
  }

  void jump(Function& function, uint64_t address, const Instruction& instruction, uint64_t target) {
    if (instruction.rd() == encode::kZero) {
      go(function, address, target);
      return;
    }
    if (instruction.rd() != encode::kRa) refuse(address, "call that keeps its return not in ra");
    function.calls[address] = target;
    if (begin(target).returns) go(function, address, address + 4);
  }

  void jump_to(Function& function, uint64_t address, const Instruction& instruction) {
    const std::optional<uint32_t> before = elf_.code(address - 4);
    const Instruction place = before ? decode(*before) : Instruction{};
    if (place.kind == Kind::place && place.rd() == instruction.rs1() &&
        function.next.contains(address - 4)) {
      pairs_.insert(address);
      jump(function, address, instruction,
           address - 4 + static_cast<uint64_t>(place.immediate + instruction.immediate));
    } else if (instruction.rd() == encode::kZero && instruction.rs1() == encode::kRa &&
               instruction.immediate == 0) {
      if (function.entry == kernel_.fields.entry) refuse(address, "returns without a call");
      returns(function);
    } else if (instruction.rd() == encode::kZero && instruction.immediate == 0) {
      switches_.emplace_back(&function, address);
    } else {
      refuse(address, kNotUnderstood);
    }
  }

  // Its callers go on.
  void returns(Function& function) {
    if (std::exchange(function.returns, true)) return;
    for (auto& [entry, caller] : out_.functions) {
      for (const auto& [address, callee] : caller.calls)
        if (callee == function.entry) go(caller, address, address + 4);
    }
  }

  // Ways that lead through the targets may be new ways to the jump.
  bool follow_switches() {
    bool more = false;
    for (const auto& [function, address] : switches_) {
      const auto found = find_targets(elf_, out_.code, *function, address);
      if (!found) refuse(address, kNotUnderstood);
      for (const uint64_t target : *found) {
        const auto& following = function->next[address];
        if (std::find(following.begin(), following.end(), target) != following.end()) continue;
        go(*function, address, target);
        more = true;
      }
    }
    return more;
  }

  void note(uint64_t address, const Instruction& instruction) {
    if (instruction.kind == Kind::csr || instruction.kind == Kind::csr_value)
      note_csr(address, instruction);
    if (instruction.kind == Kind::tile) note_tile(address, instruction);
    if ((instruction.writes() & 1u << encode::kSp) != 0) note_stack(address, instruction);
  }

  void note_csr(uint64_t address, const Instruction& instruction) {
    const unsigned csr = instruction.csr();
    const bool writes = (instruction.funct3() & 3) == 1 || instruction.rs1() != 0;
    const bool only_reads = !writes && instruction.name == std::string("csrrs");
    if (csr == TILE_CSR_SCRATCH0 || csr == TILE_CSR_SCRATCH1)
      refuse(address, fmt::format("uses CSR {:#x}, which is the transformed kernel's", csr));
    if (!only_reads && csr >= TILE_CSR_WG_ID && csr <= TILE_CSR_GRID_Z)
      refuse(address, fmt::format("does not only read CSR {:#x}", csr));
    (writes ? out_.writes : out_.reads).insert(csr);
    if (csr == TILE_CSR_CYCLE && out_.warnings.empty())
      out_.warnings.push_back(fmt::format(
          "reads the cycle at {}: equal to the original only up to time", elf_.place(address)));
  }

  void note_tile(uint64_t address, const Instruction& instruction) {
    const unsigned f3 = instruction.funct3();
    if (f3 == TILE_WAIT_UNTIL_F3)
      refuse(address, "work-groups may wait for each other: tile.wait_until");
    if (f3 == TILE_LOAD_F3 && (instruction.funct7() & TILE_LINES << 1) != 0)
      refuse(address, "work-groups may wait for each other: lines are loaded");
    if (f3 != TILE_CONTROL_F3 && f3 != TILE_LOCKED_STORE_F3) out_.tiles = true;
    out_.tiles |= instruction.is_control(TILE_CONTROL_ZERO);
    out_.barriers |= instruction.is_control(TILE_CONTROL_BARRIER);
    out_.votes |= instruction.is_control(TILE_CONTROL_VOTE);
  }

  // sp stands in for 1 in votes, so it has to be an address of the stack, always.
  void note_stack(uint64_t address, const Instruction& instruction) const {
    const std::string name = instruction.name;
    const bool moves =
        (name == "addi" || name == "add" || name == "sub") && instruction.rs1() == encode::kSp;
    if (!moves) refuse(address, "sp is not only the stack");
  }

  const KernelElf& elf_;
  const Kernel& kernel_;
  Analysis& out_;
  std::vector<std::pair<Function*, uint64_t>> work_;
  std::vector<std::pair<Function*, uint64_t>> switches_;  // Their indirect jumps.
  std::set<uint64_t> pairs_;
};

}  // namespace

Analysis analyse(const KernelElf& elf, const Kernel& kernel) {
  Analysis analysis;
  Descent(elf, kernel, analysis).run();
  return analysis;
}

}  // namespace stretto::transform
