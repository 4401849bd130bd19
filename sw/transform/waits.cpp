// SPDX-License-Identifier: Apache-2.0
// Finds loops that may wait for another work-group: an exit depends on a load or atomic of memory
// that others write, at an address that is the same in every turn. Work-groups that wait for each
// other need to be resident together; slices and workers are not.
//
// Two data flows. Over the whole kernel: what each register may point to. In each natural loop: on
// which registers at the loop's head, and which loads, each value depends; one that differs by the
// way through the loop depends on what its branches compare, too. A register steps if each way through
// the loop adds to it, and none looks at memory for that; an address is another in each turn if it
// moves with a register that steps: a sum, a product, a shift of it, but nothing that goes round (a
// remainder, a mask, a register that is set back). All else is refused when in doubt.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "sw/include/tile.h"
#include "sw/transform/analysis.h"

namespace stretto::transform {
namespace {

// What a value may be; several bits: one of them.
enum Origin : uint8_t { kNumber = 1, kStack = 2, kArguments = 4, kCode = 8, kElsewhere = 16 };
constexpr uint8_t kOwn = kStack | kArguments | kCode;  // Nobody else writes there during the run.

bool is_own(uint8_t origin) { return origin != 0 && (origin & ~kOwn) == 0; }

constexpr uint32_t kCallerSaved = 0xF003FCE2;  // ra, t0-t2, a0-a7, t3-t6.
constexpr uint32_t kParameters = 0x0003FC00;   // a0-a7
constexpr unsigned kMemory = 32;               // A 33rd register: what lies on the stack.

template <class F>
void each_bit(uint64_t bits, F&& f) {
  for (; bits != 0; bits &= bits - 1) f(static_cast<unsigned>(__builtin_ctzll(bits)));
}

class Origins {
 public:
  explicit Origins(const Analysis& analysis) : analysis_(analysis) {
    State start;
    start.fill(kElsewhere);
    start[encode::kZero] = kNumber;
    start[encode::kSp] = kStack;
    for (const auto& [entry, function] : analysis.functions) {
      for (const auto& [address, following] : function.next)
        next_[address].insert(following.begin(), following.end());
      calls_.insert(function.calls.begin(), function.calls.end());
    }
    // The kernel's entry is the function that nobody calls; joining into others does no harm.
    std::set<uint64_t> called;
    for (const auto& call : calls_) called.insert(call.second);
    for (const auto& [entry, function] : analysis.functions)
      if (!called.contains(entry)) join(entry, start);
    while (!work_.empty()) {
      const uint64_t address = *work_.begin();
      work_.erase(work_.begin());
      flow(address);
    }
  }

  uint8_t at(uint64_t address, unsigned reg) const {
    const auto found = states_.find(address);
    return found == states_.end() ? uint8_t{kElsewhere} : found->second[reg];
  }

 private:
  using State = std::array<uint8_t, 32>;

  void join(uint64_t address, const State& state) {
    const auto [place, fresh] = states_.emplace(address, state);
    bool changed = fresh;
    for (unsigned i = 0; i < 32; ++i) {
      changed |= (state[i] & ~place->second[i]) != 0;
      place->second[i] |= state[i];
    }
    if (changed) work_.insert(address);
  }

  static uint8_t sum(uint8_t a, uint8_t b) { return is_own(a) ? a : is_own(b) ? b : a | b; }

  void flow(uint64_t address) {
    State state = states_.at(address);
    const Instruction& i = analysis_.code.at(address);
    if (const auto call = calls_.find(address); call != calls_.end()) {
      join(call->second, state);
      each_bit(kCallerSaved, [&](unsigned reg) { state[reg] = kElsewhere; });
    } else if (i.writes() != 0) {
      state[i.rd()] = value(i, state);
    }
    for (const uint64_t target : next_[address]) join(target, state);
  }

  static uint8_t value(const Instruction& i, const State& state) {
    switch (i.kind) {
      case Kind::compute: {
        uint8_t origin = kNumber;
        each_bit(i.reads(), [&](unsigned reg) { origin = sum(origin, state[reg]); });
        if (is_own(origin)) return origin;
        return (origin & ~kNumber) != 0 ? kElsewhere : kNumber;
      }
      case Kind::place: return kCode;
      case Kind::csr: return i.csr() == TILE_CSR_KERNARG ? kArguments : kNumber;
      case Kind::load:
      case Kind::atomic: return kElsewhere;
      default: return kNumber;
    }
  }

  const Analysis& analysis_;
  std::map<uint64_t, std::set<uint64_t>> next_;
  std::map<uint64_t, uint64_t> calls_;
  std::map<uint64_t, State> states_;
  std::set<uint64_t> work_;
};

// On what a value depends.
struct Value {
  uint64_t heads = 0;  // Registers, and kMemory, as they were at the head of the loop.
  uint64_t loads = 0;  // Of the loop, that others may change; by number.
  int copy_of = -1;    // If it is exactly that register of the head.
  uint64_t plus =
      0;  // Registers of the head of which it is, whatever the way, one and something added;
  uint64_t moves = 0;  // that, or these multiplied, divided or shifted.
  uint64_t term = 0;   // Equal terms are equal values,
  bool mixed = false;  // but for what differs by the way.

  bool operator==(const Value&) const = default;
  void add(const Value& other) {
    heads |= other.heads;
    loads |= other.loads;
    mixed |= other.mixed;
    copy_of = -1;
    plus = moves = 0;
  }
  bool join(const Value& other) {
    const Value before = *this;
    heads |= other.heads;
    loads |= other.loads;
    plus &= other.plus;
    moves &= other.moves;
    mixed |= other.mixed || term != other.term;
    if (copy_of != other.copy_of) copy_of = -1;
    if (term != other.term) term = kMixed;
    return !(before == *this);
  }
  uint64_t same() const { return copy_of < 0 ? 0 : uint64_t{1} << copy_of; }

  static constexpr uint64_t kMixed = 1;
};

// The number of a term that is made of three others.
uint64_t term_of(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const uint64_t part : {a, b, c}) hash = (hash ^ part ^ part >> 29) * 0x9E3779B97F4A7C15;
  return hash | 2;
}

bool loads_elsewhere(const Analysis& analysis, const Origins& origins, uint64_t address) {
  const Instruction& i = analysis.code.at(address);
  if (i.kind == Kind::atomic) return true;
  return i.kind == Kind::load && !is_own(origins.at(address, i.rs1())) &&
         !analysis.table_loads.contains(address);
}

class Loop {
 public:
  Loop(const Analysis& analysis, const Origins& origins, const std::set<uint64_t>& loading,
       const Function& function, uint64_t head, std::set<uint64_t> body)
      : analysis_(analysis),
        origins_(origins),
        loading_(loading),
        function_(function),
        head_(head),
        body_(std::move(body)) {}

  // The load or call that an exit waits for, or 0.
  uint64_t waits_for() {
    number_loads();
    if (numbers_.empty()) return 0;
    flow();
    look_at_branches();
    const uint64_t varying = steps();
    uint64_t same = 0;
    for (const auto& [address, number] : numbers_) {
      const Instruction& i = analysis_.code.at(address);
      const bool call = function_.calls.contains(address);
      const auto state = states_.find(address);
      if (call || state == states_.end() || (state->second[i.rs1()].moves & varying) == 0)
        same |= uint64_t{1} << number;
    }
    const uint64_t waits = exits(varying) & same;
    for (const auto& [address, number] : numbers_)
      if ((waits >> number & 1) != 0) return address;
    return 0;
  }

 private:
  using State = std::array<Value, 33>;

  bool is_from_elsewhere(uint64_t address) const {
    const auto call = function_.calls.find(address);
    return call != function_.calls.end() ? loading_.contains(call->second)
                                         : loads_elsewhere(analysis_, origins_, address);
  }

  void number_loads() {
    for (const uint64_t address : body_) {
      if (is_from_elsewhere(address))
        numbers_.emplace(address, std::min<size_t>(numbers_.size(), 63));
    }
  }

  void flow() {
    State start;
    for (unsigned reg = 1; reg <= kMemory; ++reg) {
      start[reg].heads = start[reg].moves = uint64_t{1} << reg;
      start[reg].copy_of = static_cast<int>(reg);
      start[reg].term = 8 * reg;
    }
    states_[head_] = start;
    std::set<uint64_t> work = {head_};
    bool back = false;
    while (!work.empty()) {
      const uint64_t address = *work.begin();
      work.erase(work.begin());
      State state = states_.at(address);
      step(address, state);
      for (const uint64_t target : function_.next.at(address)) {
        if (target == head_) {
          join(back_, state, back);
          back = true;
        } else if (body_.contains(target)) {
          const auto [place, fresh] = states_.emplace(target, state);
          if (fresh || join(place->second, state, true)) work.insert(target);
        }
      }
    }
  }

  static bool join(State& into, const State& from, bool filled) {
    bool changed = !filled;
    if (!filled) into = from;
    for (unsigned reg = 0; filled && reg <= kMemory; ++reg) changed |= into[reg].join(from[reg]);
    return changed;
  }

  void step(uint64_t address, State& state) const {
    const Instruction& i = analysis_.code.at(address);
    const auto number = numbers_.find(address);
    Value result;
    result.term = term_of(address, 0, 0);
    if (number != numbers_.end()) result.loads |= uint64_t{1} << number->second;
    if (function_.calls.contains(address)) {
      each_bit(kParameters, [&](unsigned reg) { result.add(state[reg]); });
      result.add(state[kMemory]);
      state[kMemory].add(result);
      each_bit(kCallerSaved, [&](unsigned reg) { state[reg] = result; });
      return;
    }
    each_bit(i.reads(), [&](unsigned reg) { result.add(state[reg]); });
    if (i.kind == Kind::store && (origins_.at(address, i.rs1()) & ~(kArguments | kCode)) != 0) {
      state[kMemory].add(result);
      state[kMemory].term = result.term;
    }
    if (i.writes() == 0) return;
    if (i.kind == Kind::load && (origins_.at(address, i.rs1()) & kStack) != 0)
      result.add(state[kMemory]);
    if (i.kind == Kind::compute || i.kind == Kind::upper) compute(i, state, result);
    state[i.rd()] = result;
  }

  // What of the operands is in the result, whatever memory says.
  static void compute(const Instruction& i, const State& state, Value& result) {
    const std::string name = i.name;
    const bool one =
        (i.word & 0x20) == 0 || i.kind == Kind::upper;  // The other operand is in the word.
    const Value& a = state[i.rs1()];
    const Value& b = one ? state[encode::kZero] : state[i.rs2()];
    if (name == "addi" && i.immediate == 0) {
      result = a;
      return;
    }
    const auto is = [&](std::initializer_list<const char*> names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    // But for the registers' names.
    const uint64_t operation = one ? i.word & 0xFFF0707F : i.word & 0xFE00707F;
    result.term = i.kind == Kind::upper ? term_of(i.word >> 12, 0x37, 0)
                                        : term_of(operation, a.term, one ? 0 : b.term);
    if (is({"addi", "addiw", "sub", "subw"})) result.plus = a.plus | a.same();
    if (is({"add", "addw"})) result.plus = a.plus | a.same() | b.plus | b.same();
    if (is({"addiw"}) && i.immediate == 0) result.plus = a.plus;
    if (is({"addi", "addiw", "add",  "addw",  "sub",  "subw",  "slli", "slliw",
            "sll",  "sllw",  "srli", "srliw", "srai", "sraiw", "mul",  "mulw",
            "div",  "divw",  "divu", "divuw", "or",   "ori"}))
      result.moves = a.moves | b.moves;
  }

  // On what it depends by which way a turn goes.
  void look_at_branches() {
    for (const auto& [address, values] : states_) {
      const auto& state = values;  // clang 14 captures no structured bindings.
      if (function_.next.at(address).size() < 2) continue;
      each_bit(analysis_.code.at(address).reads(),
               [&](unsigned reg) { branches_.add(state[reg]); });
    }
  }
  Value with_branches(Value value) const {
    if (value.mixed) {
      value.heads |= branches_.heads;
      value.loads |= branches_.loads;
    }
    return value;
  }

  // Registers to which each turn adds, whatever is in memory.
  uint64_t steps() const {
    uint64_t varying = 0;
    for (bool more = true; more;) {
      more = false;
      for (unsigned reg = 1; reg < 32; ++reg) {
        const Value value = with_branches(back_[reg]);
        const uint64_t bit = uint64_t{1} << reg;
        if (value.loads != 0 || (value.heads >> kMemory & 1) != 0 || (varying & bit) != 0 ||
            ((value.plus & (varying | bit)) == 0 && (value.same() & varying) == 0))
          continue;
        varying |= bit;
        more = true;
      }
    }
    return varying;
  }

  // Whether a turn can go round without the instruction.
  bool is_passed(uint64_t address) const {
    std::set<uint64_t> seen = {address};
    std::vector<uint64_t> work = {head_};
    while (!work.empty()) {
      const uint64_t at = work.back();
      work.pop_back();
      if (!seen.insert(at).second) continue;
      for (const uint64_t target : function_.next.at(at)) {
        if (target == head_) return true;
        if (body_.contains(target)) work.push_back(target);
      }
    }
    return false;
  }

  // Loads on which it depends whether the loop is left. An exit that compares what steps with a bound
  // from memory comes of itself, if each turn comes to it; to another one the way may lead by branches.
  uint64_t exits(uint64_t varying) const {
    Value on;
    for (const auto& [address, values] : states_) {
      const auto& state = values;  // clang 14 captures no structured bindings.
      const Instruction& i = analysis_.code.at(address);
      const auto& following = function_.next.at(address);
      const bool leaves = std::any_of(following.begin(), following.end(),
                                      [&](uint64_t to) { return !body_.contains(to); });
      if (following.size() < 2 || !leaves) continue;
      uint64_t moves = 0;
      Value exit;
      each_bit(i.reads(), [&](unsigned reg) {
        moves |= state[reg].moves;
        exit.add(state[reg]);
      });
      if ((moves & varying) == 0) on.add(exit);
      if ((moves & varying) == 0 || is_passed(address)) on.mixed = true;
    }
    on = with_branches(on);
    for (uint64_t done = 0; (on.heads & ~done) != 0;) {
      const uint64_t fresh = on.heads & ~done;
      done |= fresh;
      each_bit(fresh, [&](unsigned reg) { on.add(with_branches(back_[reg])); });
    }
    return on.loads;
  }

  const Analysis& analysis_;
  const Origins& origins_;
  const std::set<uint64_t>& loading_;
  const Function& function_;
  const uint64_t head_;
  const std::set<uint64_t> body_;
  std::map<uint64_t, size_t> numbers_;
  std::map<uint64_t, State> states_;
  State back_{};
  Value branches_;  // What all of the body's compare.
};

// Edges that close a loop: to an instruction that is on the way from the entry.
std::vector<std::pair<uint64_t, uint64_t>> back_edges(const Function& function) {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  std::set<uint64_t> seen = {function.entry}, on_way = {function.entry};
  std::vector<std::pair<uint64_t, size_t>> way = {{function.entry, 0}};
  while (!way.empty()) {
    auto& [address, index] = way.back();
    const auto& following = function.next.at(address);
    if (index == following.size()) {
      on_way.erase(address);
      way.pop_back();
      continue;
    }
    const uint64_t target = following[index++];
    if (on_way.contains(target)) found.emplace_back(address, target);
    if (!seen.insert(target).second) continue;
    on_way.insert(target);
    way.emplace_back(target, 0);
  }
  return found;
}

// What reaches `last` without passing `head`.
std::set<uint64_t> natural_loop(const std::map<uint64_t, std::vector<uint64_t>>& before,
                                uint64_t last, uint64_t head) {
  std::set<uint64_t> body = {head};
  std::vector<uint64_t> work = {last};
  while (!work.empty()) {
    const uint64_t address = work.back();
    work.pop_back();
    if (!body.insert(address).second) continue;
    const auto found = before.find(address);
    if (found != before.end()) work.insert(work.end(), found->second.begin(), found->second.end());
  }
  return body;
}

// Functions that load, or call one that loads, what others may write.
std::set<uint64_t> functions_that_load(const Analysis& analysis, const Origins& origins) {
  std::set<uint64_t> found;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [entry, function] : analysis.functions) {
      const auto loads = [&](const auto& step) {
        return loads_elsewhere(analysis, origins, step.first);
      };
      const auto calls = [&](const auto& call) { return found.contains(call.second); };
      if (found.contains(entry)) continue;
      if (std::any_of(function.next.begin(), function.next.end(), loads) ||
          std::any_of(function.calls.begin(), function.calls.end(), calls)) {
        found.insert(entry);
        more = true;
      }
    }
  }
  return found;
}

}  // namespace

std::string find_waits(const KernelElf& elf, const Analysis& analysis) {
  const Origins origins(analysis);
  const std::set<uint64_t> loading = functions_that_load(analysis, origins);
  for (const auto& [entry, function] : analysis.functions) {
    std::map<uint64_t, std::vector<uint64_t>> before;
    for (const auto& [address, following] : function.next)
      for (const uint64_t target : following) before[target].push_back(address);
    for (const auto& [last, head] : back_edges(function)) {
      Loop loop(analysis, origins, loading, function, head, natural_loop(before, last, head));
      if (const uint64_t address = loop.waits_for(); address != 0)
        return fmt::format(
            "work-groups may wait for each other: a loop reads the same memory until it changes at "
            "{}",
            elf.place(address));
    }
  }
  return {};
}

}  // namespace stretto::transform
