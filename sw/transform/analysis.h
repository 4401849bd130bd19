// SPDX-License-Identifier: Apache-2.0
// What a kernel reaches: recursive descent from its entry over branches, jumps, calls, returns and
// jump tables. Data between functions is never taken for code.
//
// Calls are jal or auipc + jalr that write ra. A return is jalr x0, 0(ra) in a function that was
// called; that ra then holds what the call wrote is taken from the calling convention. Any other
// jalr must be a switch's (switches.h): it goes to all targets of its jump tables.
#ifndef STRETTO_SW_TRANSFORM_ANALYSIS_H_
#define STRETTO_SW_TRANSFORM_ANALYSIS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sw/transform/instruction.h"
#include "sw/transform/kernel_elf.h"

namespace stretto::transform {

struct Function {
  uint64_t entry = 0;
  std::map<uint64_t, std::vector<uint64_t>> next;  // Instruction -> what may follow it here.
  std::map<uint64_t, uint64_t> calls;              // Instruction -> callee.
  bool returns = false;                            // Else nothing follows its calls.
};

struct Analysis {
  std::map<uint64_t, Instruction> code;    // All that is reached.
  std::map<uint64_t, Function> functions;  // By entry; the kernel's too.
  std::set<unsigned> reads;                // CSRs.
  std::set<unsigned> writes;
  bool barriers = false, votes = false, tiles = false;
  std::string refusal;  // Why the kernel cannot be transformed, if so.
  std::vector<std::string> warnings;
};

// Throws Refused if the descent meets what it does not understand: then all that the kernel reaches
// is not known. What is known and unfit is `refusal`.
Analysis analyse(const KernelElf& elf, const Kernel& kernel);

// Why work-groups may wait for each other: a loop ends when memory at one address has changed. Empty
// if none does. (waits.cpp)
std::string find_waits(const KernelElf& elf, const Analysis& analysis);

}  // namespace stretto::transform

#endif  // STRETTO_SW_TRANSFORM_ANALYSIS_H_
