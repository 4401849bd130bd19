// SPDX-License-Identifier: Apache-2.0
#include "sw/transform/origins.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "sw/include/tile.h"
#include "sw/transform/registers.h"

namespace stretto::transform {

Origins::Origins(const KernelElf& elf, const Analysis& analysis) : elf_(elf) {
  for (const auto& [address, instruction] : analysis.code)
    nodes_.push_back({address, &instruction});
  std::set<uint64_t> called;
  for (const auto& [entry, function] : analysis.functions) {
    for (const auto& [address, following] : function.next)
      for (const uint64_t target : following) node(address).next.push_back(number(target));
    for (const auto& [address, callee] : function.calls) {
      node(address).callee = number(callee);
      called.insert(callee);
    }
  }
  State start;
  start.origins.fill(kElsewhere);
  start.origins[encode::kZero] = kNumber;
  start.origins[encode::kSp] = kStack;
  start.bits[encode::kZero] = KnownBits::constant(0);
  // The kernel's entry is the function that nobody calls; joining into others does no harm.
  for (const auto& [entry, function] : analysis.functions)
    if (!called.contains(entry)) join(number(entry), start);
  for (bool more = true; std::exchange(more, false);) {
    for (Node& one : nodes_) {
      if (!std::exchange(one.pending, false)) continue;
      flow(one);
      more = true;
    }
  }
  for (const Node& one : nodes_)
    if (one.code->stores()) written_ |= one.state.origins[one.code->rs1()];
}

uint8_t Origins::base(uint64_t address) const {
  const Node& found = nodes_[number(address)];
  if ((found.code->reads() & bit(found.code->rs1())) == 0) return kNumber;
  const uint8_t origin = found.state.origins[found.code->rs1()];
  return origin == 0 ? uint8_t{kElsewhere} : origin;
}

uint32_t Origins::number(uint64_t address) const {
  const auto found =
      std::lower_bound(nodes_.begin(), nodes_.end(), address,
                       [](const Node& one, uint64_t other) { return one.address < other; });
  return static_cast<uint32_t>(found - nodes_.begin());
}

void Origins::join(uint32_t number, const State& state) {
  Node& into = nodes_[number];
  const bool is_first = into.state.origins[encode::kZero] == 0;
  bool is_fresh = is_first;
  if (is_first) into.state.bits = state.bits;
  for (unsigned i = 0; i < 32; ++i) {
    uint8_t& origins = into.state.origins[i];
    KnownBits& bits = into.state.bits[i];
    const KnownBits joined = bits.join(state.bits[i]);
    is_fresh |= (state.origins[i] & ~origins) != 0 || joined != bits;
    origins |= state.origins[i];
    bits = joined;
  }
  into.pending |= is_fresh;
}

void Origins::flow(const Node& from) {
  State state = from.state;
  const Instruction& i = *from.code;
  if (from.callee != kNone) {
    state.origins[encode::kRa] = kElsewhere;
    state.bits[encode::kRa] = {.zeros = 3};  // An instruction's address.
    join(from.callee, state);
    each_bit(kCallerSaved, [&](unsigned reg) {
      state.origins[reg] = kElsewhere;
      state.bits[reg] = {};
    });
  } else if (i.writes() != 0) {
    const bool is_computed = i.kind == Kind::compute || i.kind == Kind::upper;
    const KnownBits bits = is_computed
                               ? KnownBits::computed(i, state.bits[i.rs1()], state.bits[i.rs2()])
                               : KnownBits{};
    state.origins[i.rd()] = value(from, state);
    state.bits[i.rd()] = bits;
  }
  for (const uint32_t target : from.next) join(target, state);
}

uint8_t Origins::value(const Node& from, const State& state) const {
  const Instruction& i = *from.code;
  switch (i.kind) {
    case Kind::compute: return computed(i, state);
    case Kind::place: {
      const auto formed = elf_.formed(from.address);
      return formed && elf_.is_writable(*formed) ? kElsewhere : kConstants;
    }
    case Kind::csr: return i.csr() == TILE_CSR_KERNARG ? kArguments : kNumber;
    case Kind::load:
    case Kind::atomic: return kElsewhere;
    default: return kNumber;
  }
}

// A place and a number are that place still; so are a place and what was loaded, an index.
uint8_t Origins::computed(const Instruction& i, const State& state) {
  const uint8_t a = state.origins[i.rs1()];
  const uint8_t b = i.has_rs2() ? state.origins[i.rs2()] : uint8_t{kNumber};
  const std::string_view operation = i.operation();
  const uint8_t both = a | b;
  if (operation == "slt" || operation == "sltu" || operation == "sltiu" || operation == "slti")
    return kNumber;
  if (both == kNumber) return kNumber;
  const bool keeps =
      !i.is_word() && (operation.substr(0, 3) == "add" || operation == "sub" ||
                       operation.substr(0, 3) == "and" || operation.substr(0, 2) == "or");
  if ((both & kDistance) != 0 || (is_place(b) && (operation == "sub" || !keeps)) ||
      (is_place(a) && !keeps))
    return kDistance;
  return is_place(a) ? a : is_place(b) ? b : uint8_t{kElsewhere};
}

}  // namespace stretto::transform
