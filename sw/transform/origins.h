// SPDX-License-Identifier: Apache-2.0
// What each register of a kernel may point to, and which of its bits are known, wherever the kernel
// gets.
#ifndef STRETTO_SW_TRANSFORM_ORIGINS_H_
#define STRETTO_SW_TRANSFORM_ORIGINS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "sw/transform/analysis.h"
#include "sw/transform/known_bits.h"

namespace stretto::transform {

// What a value may be; several bits: one of them. What an own place and a distance of places add up
// to may be any place.
enum Origin : uint8_t {
  kNumber = 1,
  kStack = 2,
  kArguments = 4,
  kConstants = 8,
  kElsewhere = 16,
  kDistance = 32,
};

class Origins {
 public:
  Origins(const KernelElf& elf, const Analysis& analysis);

  using Bits = std::array<KnownBits, 32>;

  // What rs1 of the instruction there may point to; of one that does not read it, nothing.
  uint8_t base(uint64_t address) const;
  // Of the registers before the instruction there.
  const Bits& bits(uint64_t address) const { return nodes_[number(address)].state.bits; }
  // Whether nobody else writes there during the run. Arguments and constants are of all work-groups,
  // which may leave word there.
  bool is_own(uint8_t base) const {
    return is_place(base) && (base & written_ & (kArguments | kConstants)) == 0;
  }

 private:
  struct State {
    std::array<uint8_t, 32> origins = {};  // 0: not reached.
    Bits bits = {};
  };
  static constexpr uint32_t kNone = ~0u;
  struct Node {
    uint64_t address;
    const Instruction* code;
    std::vector<uint32_t> next = {};
    uint32_t callee = kNone;
    State state = {};
    bool pending = false;
  };

  uint32_t number(uint64_t address) const;
  Node& node(uint64_t address) { return nodes_[number(address)]; }

  void join(uint32_t number, const State& state);

  // Of this kernel or wavefront.
  static bool is_place(uint8_t origin) {
    return origin != 0 && (origin & ~(kStack | kArguments | kConstants)) == 0;
  }

  void flow(const Node& from);

  uint8_t value(const Node& from, const State& state) const;
  static uint8_t computed(const Instruction& i, const State& state);

  const KernelElf& elf_;
  std::vector<Node> nodes_;  // By address.
  uint8_t written_ = 0;      // Where stores of the kernel go.
};

}  // namespace stretto::transform

#endif  // STRETTO_SW_TRANSFORM_ORIGINS_H_
