// SPDX-License-Identifier: Apache-2.0
// Finds loops that may wait for another work-group: an exit depends on a load or atomic of memory
// that others write, at an address that comes again turn by turn. Work-groups that wait for each
// other need to be resident together; slices and workers are not. When in doubt, it waits.
//
// Two data flows. Over the whole kernel: what each register may point to. In each loop, all ways
// back to one head together: on which registers at the head, and which loads, each value depends;
// one that differs by the way through the loop depends on what its branches compare, too. And which
// one register a value follows (Motion). A register steps if each way adds to it, in one direction.
// An address is another in each turn if it follows one register that steps, and all else in it is as
// it was: then what it has passed does not come again.
//
// A function in which the wavefront may end is looked at as a whole, and a call of it as an exit. Two
// exits of one condition are one, wherever they stand: compilers write a loop's end behind each way.
//
// Taken for granted (README, Limits): what is known only at launch and is added to, or multiplied
// with, what steps is not 0, and does not take it round the end of its type. Constants, and zeros
// that code puts below, are known (known_bits.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sw/include/tile.h"
#include "sw/transform/analysis.h"
#include "sw/transform/motion.h"
#include "sw/transform/origins.h"
#include "sw/transform/registers.h"

namespace stretto::transform {
namespace {

constexpr unsigned kMemory = 32;  // A 33rd register: what lies on the stack.
constexpr unsigned kOther = 33;   // And one that nobody knows: the clock, votes.
constexpr unsigned kShared = 34;  // What the kernel has left elsewhere, and tiles.
constexpr unsigned kRegisters = 35;

// Of what a function does: on its own loads; on these registers, as they were when it was called.
struct Dependence {
  bool on_loads = false;
  uint64_t on = 0;
  bool operator==(const Dependence&) const = default;
};

// An instruction of a function. It loads or ends the wavefront itself, or by what it calls.
struct Step {
  uint64_t address;
  const Instruction* code;
  const Origins::Bits* bits;  // What is known of the registers before it.
  uint8_t base;               // What its rs1 may point to.
  bool calls;
  bool loads;                                    // What others may write.
  bool ends;                                     // If it comes to that.
  Dependence end = {};                           // Of a call: on what it depends whether it ends.
  std::vector<uint32_t> next = {}, before = {};  // By number.
};
using Steps = std::vector<Step>;  // By address.

class Loop {
 public:
  Loop(const Steps& steps, uint32_t head, std::vector<uint32_t> body)
      : steps_(steps), head_(head), body_(std::move(body)), places_(steps.size(), kOutside) {
    for (uint32_t i = 0; i < body_.size(); ++i) places_[body_[i]] = i;
  }

  // Of a whole function: on what it depends whether the wavefront ends in it.
  Dependence end() {
    number_loads();
    find_kept();
    flow();
    Dependence end;
    Value on;
    const std::vector<bool> deciding = before_ends();
    look_at_branches(deciding);
    for (uint32_t place = 0; place < body_.size(); ++place) {
      const Step& step = steps_[body_[place]];
      end.on_loads |= step.end.on_loads;
      if (reached_[place] && step.calls && step.ends) add_end(place, on);
    }
    on.mixed = true;
    on = all_of(on);
    end.on_loads |= on.loads != 0;
    end.on = on.heads;
    return end;
  }

  // The load or call that an exit waits for, or 0.
  uint64_t waits_for() {
    number_loads();
    if (numbered_.empty()) return 0;
    find_kept();
    flow();
    look_at_branches(std::vector<bool>(body_.size(), true));
    find_varying();
    uint64_t same = 0;
    for (uint32_t number = 0; number < numbered_.size(); ++number) {
      const uint32_t place = numbered_[number];
      const Step& step = steps_[body_[place]];
      if (step.calls || !reached_[place] || !is_moving(states_[place][step.code->rs1()]) ||
          (step.code->is_tile(TILE_LOAD_F3) && !is_kept(states_[place][step.code->rs2()])))
        same |= load_bit(number);
    }
    const uint64_t waits = exits() & same;
    for (uint32_t number = 0; number < numbered_.size(); ++number)
      if ((waits & load_bit(number)) != 0) return steps_[body_[numbered_[number]]].address;
    return 0;
  }

 private:
  using State = std::array<Value, kRegisters>;
  static constexpr uint32_t kOutside = ~0u;
  // An address that moves with the bits of a register but these lowest ones stays for at most 64 turns
  // of 1, then moves on: nobody waits for ever.
  static constexpr unsigned kMostLow = 6;
  // So many turns, as a power of 2, pass at least before an address comes again. Those of a kernel that
  // counts in 32 bits do come again; a mask of fewer bits is a ring of flags.
  static constexpr unsigned kLeastTurns = 24;

  bool is_inside(uint32_t step) const { return places_[step] != kOutside; }
  static uint64_t load_bit(uint32_t number) { return bit(std::min(number, 63u)); }

  void number_loads() {
    for (uint32_t place = 0; place < body_.size(); ++place)
      if (steps_[body_[place]].loads) numbered_.push_back(place);
  }

  // Tiles go there through a pointer from the stack alone.
  static bool changes_stack(const Step& step) {
    const uint8_t no = step.code->stores_tile() ? ~kStack : kArguments | kConstants;
    return step.code->stores() && (step.base & ~no) != 0;
  }

  void find_kept() {
    uint64_t written = bit(kOther);
    for (const uint32_t number : body_) {
      const Step& step = steps_[number];
      written |= step.code->writes();
      if (step.calls) written |= kCallerSaved | bit(kMemory);
      if (changes_stack(step)) written |= bit(kMemory);
    }
    kept_ = ~written;
  }
  // In each turn as it was.
  bool is_kept(const Value& value) const {
    return (value.heads & ~kept_) == 0 && value.loads == 0 && !value.mixed;
  }

  void flow() {
    State start;
    for (unsigned reg = 0; reg < kRegisters; ++reg) {
      if (reg < kMemory && bits_of(head_, reg).is_constant()) {
        start[reg] = constant(bits_of(head_, reg));
        continue;
      }
      start[reg].heads = bit(reg);
      start[reg].term = 8 * reg;
      if (reg < kMemory && (kept_ & bit(reg)) == 0)
        start[reg].motion.root = static_cast<uint8_t>(reg);
    }
    states_.resize(body_.size());
    reached_.resize(body_.size());
    std::vector<bool> pending(body_.size());
    const auto join = [&](uint32_t place, const State& state) {
      if (!reached_[place]) {
        states_[place] = state;
        pending[place] = reached_[place] = true;
      } else if (join_states(states_[place], state)) {
        pending[place] = true;
      }
    };
    join(places_[head_], start);
    bool back = false;
    for (bool more = true; std::exchange(more, false);) {
      for (uint32_t place = 0; place < body_.size(); ++place) {
        if (!pending[place]) continue;
        pending[place] = false;
        more = true;
        const Step& step = steps_[body_[place]];
        State state = states_[place];
        follow(step, place, state);
        for (const uint32_t target : step.next) {
          if (target == head_ && !std::exchange(back, true)) {
            back_ = state;
          } else if (target == head_) {
            join_states(back_, state);
          } else if (is_inside(target)) {
            join(places_[target], state);
          }
        }
      }
    }
  }

  const KnownBits& bits_of(uint32_t step, unsigned reg) const { return (*steps_[step].bits)[reg]; }
  static Value constant(const KnownBits& bits) {
    return Value::constant(static_cast<int64_t>(bits.ones));
  }

  static bool join_states(State& into, const State& from) {
    bool changed = false;
    for (unsigned reg = 0; reg < kRegisters; ++reg) changed |= into[reg].join(from[reg]);
    return changed;
  }

  void follow(const Step& step, uint32_t place, State& state) const {
    const Instruction& i = *step.code;
    Value result;
    // Where nobody writes, the same address has the same value.
    const bool is_fixed = i.kind == Kind::load && !step.loads && (step.base & kStack) == 0;
    result.term = term_of(is_fixed ? i.word & 0xFFF0707F : step.address, 0, is_fixed);
    if (step.loads) {
      const auto found = std::lower_bound(numbered_.begin(), numbered_.end(), place);
      result.loads |= load_bit(static_cast<uint32_t>(found - numbered_.begin()));
      result.heads |= bit(kShared);
    }
    if (step.calls) {
      each_bit(kParameters, [&](unsigned reg) { result.add(state[reg]); });
      result.add(state[kMemory]);
      result.heads |= bit(kOther);
      state[kMemory].add(result);
      state[kShared].add(result);
      each_bit(kCallerSaved, [&](unsigned reg) {
        const Value before = std::exchange(state[reg], result);
        state[reg].add(before);  // Unless the function changes it.
      });
      return;
    }
    each_bit(i.reads(), [&](unsigned reg) { result.add(state[reg]); });
    if (is_unknown(i)) result.heads |= bit(kOther);
    if (i.stores_tile()) result.heads |= bit(kShared);
    if (i.stores() || i.is_tile(TILE_LOAD_F3)) state[kShared].add(result);
    if (changes_stack(step)) state[kMemory].add(result);
    if (i.writes() == 0) return;
    if ((step.base & kStack) != 0 && (i.kind == Kind::load || i.kind == Kind::atomic))
      result.add(state[kMemory]);
    if (i.kind == Kind::compute || i.kind == Kind::upper) compute(step, state, result);
    state[i.rd()] = result;
  }

  // What may be another each time: votes, and CSRs but ids and sizes.
  static bool is_unknown(const Instruction& i) {
    const bool csr = i.kind == Kind::csr || i.kind == Kind::csr_value;
    return i.kind == Kind::tile || (csr && (i.csr() < TILE_CSR_WG_ID || i.csr() > TILE_CSR_GRID_Z));
  }

  // What of the operands is in the result, whatever memory says.
  void compute(const Step& step, const State& state, Value& result) const {
    const Instruction& i = *step.code;
    const Value& a = state[i.rs1()];
    const Value b = i.has_rs2() ? state[i.rs2()] : Value::constant(i.immediate);
    const std::string_view operation = i.operation();
    const KnownBits bits = KnownBits::computed(i, (*step.bits)[i.rs1()], (*step.bits)[i.rs2()]);
    const bool cancels = operation == "sub" || operation == "xor";
    if (bits.is_constant()) {
      result = constant(bits);
    } else if (cancels && a.term == b.term && is_kept(a) && is_kept(b)) {
      result = Value::constant(0);
    } else if (i.is_move()) {
      result = a;
    } else {
      const uint64_t fields = i.has_rs2() ? 0xFE00707F : 0x707F;  // But for the registers' names.
      result.term = term_of(i.word & fields, a.term, b.term);
      result.motion = motion(step, a, b);
    }
  }

  // Of what is not listed nothing is known: a quotient or a remainder, a mask (an `or` is one, too),
  // a product of two that move. Two that move may cancel.
  Motion motion(const Step& step, const Value& a, const Value& b) const {
    const Instruction& i = *step.code;
    const std::string_view operation = i.operation();
    const unsigned bits = i.is_word() ? 32 : 64;
    const bool first = a.motion.moves() && is_kept(b), second = b.motion.moves() && is_kept(a);
    if (!first && !second) return {};
    const Motion& moving = first ? a.motion : b.motion;
    const Value& other = first ? b : a;
    const unsigned amount = static_cast<unsigned>(other.motion.by) % bits;
    const unsigned zeros = i.has_rs2() ? (*step.bits)[first ? i.rs2() : i.rs1()].low_zeros() : 0;
    const bool shifts = first && other.motion.is_constant();
    if (operation == "add" || operation == "addi" || (operation == "sub" && first))
      return moving.plus(other.motion, other.term, zeros, operation == "sub").cut(bits);
    if (operation == "sub") return moving.turned(other.term).cut(bits);
    if (operation == "mul") return moving.left(zeros).turned(other.term).cut(bits);
    if (shifts && (operation == "slli" || operation == "sll")) return moving.left(amount).cut(bits);
    if (shifts && (operation.substr(0, 3) == "srl" || operation.substr(0, 3) == "sra"))
      return moving.cut(bits).right(amount);
    return {};
  }

  // From where a way leads to an end.
  std::vector<bool> before_ends() const {
    std::vector<bool> found(body_.size());
    std::vector<uint32_t> work;
    for (const uint32_t number : body_)
      if (steps_[number].ends) work.push_back(number);
    while (!work.empty()) {
      const uint32_t number = work.back();
      work.pop_back();
      if (!is_inside(number) || found[places_[number]]) continue;
      found[places_[number]] = true;
      work.insert(work.end(), steps_[number].before.begin(), steps_[number].before.end());
    }
    return found;
  }

  // On what it depends by which way a turn goes; of these places.
  void look_at_branches(const std::vector<bool>& places) {
    for (uint32_t place = 0; place < body_.size(); ++place) {
      const Step& step = steps_[body_[place]];
      if (!places[place] || !reached_[place] || step.next.size() < 2) continue;
      each_bit(step.code->reads(), [&](unsigned reg) { branches_.add(states_[place][reg]); });
    }
  }
  Value with_branches(Value value) const {
    if (value.mixed) {
      value.heads |= branches_.heads;
      value.loads |= branches_.loads;
    }
    return value;
  }

  // Registers to which each turn adds, whatever is in memory; or that follow such a one.
  void find_varying() {
    for (bool more = true; std::exchange(more, false);) {
      for (unsigned reg = 1; reg < kMemory; ++reg) {
        const Motion& motion = back_[reg].motion;
        const unsigned root = motion.root;
        if ((varying_ & bit(reg)) != 0 || !motion.moves() || !motion.is_sum()) continue;
        if (root == reg && motion.is_step()) {
          directions_[reg] = motion.direction();
          step_bits_[reg] = motion.step_bits();
          if (motion.is_range()) uneven_ |= bit(reg);
        } else if (follows(motion)) {
          directions_[reg] = directions_[root];
          step_bits_[reg] = step_bits_[root];
          if (motion.is_range() || (uneven_ & bit(root)) != 0) uneven_ |= bit(reg);
        } else {
          continue;
        }
        if (motion.high < kLeastTurns + step_bits_[reg]) continue;
        varying_ |= bit(reg);
        more = true;
      }
    }
  }

  // What differs by the way is small.
  bool follows(const Motion& motion) const {
    return motion.moves() && (varying_ & bit(motion.root)) != 0;
  }

  bool is_moving(const Value& value) const {
    const Motion& motion = value.motion;
    return follows(motion) && motion.low <= kMostLow &&
           motion.high >= kLeastTurns + step_bits_[motion.root];
  }

  // Whether a turn can go round without one of the instructions.
  bool is_passed(const std::vector<uint32_t>& places) const {
    std::vector<bool> seen(body_.size());
    for (const uint32_t place : places) seen[place] = true;
    std::vector<uint32_t> work = {places_[head_]};
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      for (const uint32_t target : steps_[body_[at]].next) {
        if (target == head_) return true;
        if (is_inside(target)) work.push_back(places_[target]);
      }
    }
    return false;
  }

  // Whether the exit comes of itself: it compares what steps with what is as it was; or it is left
  // behind a bound that lies in memory.
  bool comes(const Step& step, const State& state) const {
    const Instruction& i = *step.code;
    if (i.kind != Kind::branch) return false;
    const Value &a = state[i.rs1()], &b = state[i.rs2()];
    for (const bool first : {true, false}) {
      const Value &moving = first ? a : b, &bound = first ? b : a;
      if (!is_moving(moving) || (bound.heads & ~(kept_ | bit(kShared))) != 0 || bound.mixed)
        continue;
      const bool compares = i.funct3() >= 4;
      const bool is_uneven = moving.motion.is_range() || (uneven_ & bit(moving.motion.root)) != 0;
      // By some ways it passes what it is to meet, but for a bound that it steps towards.
      if (!is_uneven && bound.loads == 0) return true;
      const bool is_less = (i.funct3() & 1) == 0;
      const bool leaves_below = is_less != is_inside(step.next[0]);  // If rs1 is less than rs2.
      if (compares && moving.motion.outer == 0 &&
          directions_[moving.motion.root] == (leaves_below == first ? -1 : 1))
        return true;
    }
    return false;
  }

  // A call in which the wavefront may end is an exit: by what it is given, and what it loads.
  void add_end(uint32_t place, Value& on) const {
    const Step& step = steps_[body_[place]];
    State state = states_[place];
    each_bit(step.end.on, [&](unsigned reg) { on.add(state[reg]); });
    if (step.end.on_loads) {
      follow(step, place, state);
      on.add(state[encode::kA0]);
    }
    on.mixed = true;
  }

  // Whether both leave the loop in the same turn, if a turn comes to both or to either.
  bool are_equal(uint32_t one, uint32_t other) const {
    const Step &a = steps_[body_[one]], &b = steps_[body_[other]];
    const auto is_same = [&](unsigned reg, unsigned beside) {
      const Value &x = states_[one][reg], &y = states_[other][beside];
      return x.term == y.term && !x.mixed && !y.mixed;
    };
    return a.code->funct3() == b.code->funct3() && is_inside(a.next[0]) == is_inside(b.next[0]) &&
           is_same(a.code->rs1(), b.code->rs1()) && is_same(a.code->rs2(), b.code->rs2());
  }

  // Loads on which it depends whether the loop is left. Exits that come of themselves need none, if
  // each turn comes to them; to another one the way may lead by branches.
  uint64_t exits() const {
    Value on;
    std::vector<uint32_t> coming;
    for (uint32_t place = 0; place < body_.size(); ++place) {
      const Step& step = steps_[body_[place]];
      const bool leaves = std::any_of(step.next.begin(), step.next.end(),
                                      [&](uint32_t to) { return !is_inside(to); });
      if (!reached_[place]) continue;
      if (step.calls && step.ends) add_end(place, on);
      if (step.next.size() < 2 || !leaves) continue;
      if (comes(step, states_[place])) {
        coming.push_back(place);
      } else {
        each_bit(step.code->reads(), [&](unsigned reg) { on.add(states_[place][reg]); });
        on.mixed = true;
      }
    }
    for (const uint32_t place : coming) {
      std::vector<uint32_t> equal = {place};
      for (const uint32_t other : coming)
        if (are_equal(place, other)) equal.push_back(other);
      on.mixed |= is_passed(equal);
    }
    return all_of(on).loads;
  }

  // With the turns before.
  Value all_of(Value on) const {
    on = with_branches(on);
    for (uint64_t done = 0; (on.heads & ~done) != 0;) {
      const uint64_t fresh = on.heads & ~done;
      done |= fresh;
      each_bit(fresh, [&](unsigned reg) { on.add(with_branches(back_[reg])); });
    }
    return on;
  }

  const Steps& steps_;
  const uint32_t head_;
  const std::vector<uint32_t> body_;  // By number, sorted. A place is an index of it.
  std::vector<uint32_t> places_;      // Of all steps; or kOutside.
  std::vector<uint32_t> numbered_;    // Places of loads.
  uint64_t kept_ = 0;                 // Registers that the loop does not change.
  std::vector<State> states_;         // Before each of body_,
  std::vector<bool> reached_;         // if there is a way to it from the head.
  State back_{};
  Value branches_;                             // What all of the body's compare.
  uint64_t varying_ = 0;                       // Registers that step,
  uint64_t uneven_ = 0;                        // not by the same in each turn;
  std::array<int, kMemory> directions_{};      // up (1) or down (-1); or it is not known (0),
  std::array<unsigned, kMemory> step_bits_{};  // by a power of 2 at most; 0 if it is not known.
};

// The loops' heads, to which an edge leads from what is behind them on a way from the entry, and from
// where.
std::map<uint32_t, std::vector<uint32_t>> back_edges(const Steps& steps, uint32_t entry) {
  std::map<uint32_t, std::vector<uint32_t>> found;
  std::vector<bool> seen(steps.size()), on_way(steps.size());
  seen[entry] = on_way[entry] = true;
  std::vector<std::pair<uint32_t, size_t>> way = {{entry, 0}};
  while (!way.empty()) {
    auto& [number, index] = way.back();
    if (index == steps[number].next.size()) {
      on_way[number] = false;
      way.pop_back();
      continue;
    }
    const uint32_t target = steps[number].next[index++];
    if (on_way[target]) found[target].push_back(number);
    if (seen[target]) continue;
    seen[target] = on_way[target] = true;
    way.emplace_back(target, 0);
  }
  return found;
}

// What reaches one of `last` without passing `head`.
std::vector<uint32_t> natural_loop(const Steps& steps, std::vector<uint32_t> last, uint32_t head) {
  std::vector<bool> inside(steps.size());
  inside[head] = true;
  while (!last.empty()) {
    const uint32_t number = last.back();
    last.pop_back();
    if (inside[number]) continue;
    inside[number] = true;
    last.insert(last.end(), steps[number].before.begin(), steps[number].before.end());
  }
  std::vector<uint32_t> body;
  for (uint32_t number = 0; number < steps.size(); ++number)
    if (inside[number]) body.push_back(number);
  return body;
}

class Waits {
 public:
  Waits(const KernelElf& elf, const Analysis& analysis)
      : analysis_(analysis), origins_(elf, analysis) {
    for (const auto& [entry, function] : analysis.functions) add_function(function);
    mark_calls();
    mark_ends();
  }

  // The load or call for which a work-group may wait; or 0.
  uint64_t find() const {
    for (const auto& [entry, function] : analysis_.functions) {
      const Steps& steps = functions_.at(entry);
      for (const Step& step : steps)  // A loop without an edge back.
        if (step.calls && step.loads && reaches(function.calls.at(step.address), entry))
          return step.address;
      for (const auto& [head, last] : back_edges(steps, number(steps, entry))) {
        Loop loop(steps, head, natural_loop(steps, last, head));
        if (const uint64_t address = loop.waits_for(); address != 0) return address;
      }
    }
    return 0;
  }

 private:
  static uint32_t number(const Steps& steps, uint64_t address) {
    const auto found =
        std::lower_bound(steps.begin(), steps.end(), address,
                         [](const Step& one, uint64_t other) { return one.address < other; });
    return static_cast<uint32_t>(found - steps.begin());
  }

  bool loads(const Instruction& i, uint8_t base) const {
    return i.kind == Kind::atomic || i.is_tile(TILE_LOAD_F3) ||
           (i.kind == Kind::load && !origins_.is_own(base));
  }

  void add_function(const Function& function) {
    Steps& steps = functions_[function.entry];
    for (const auto& [address, following] : function.next) {
      const Instruction& i = analysis_.code.at(address);
      const uint8_t base = origins_.base(address);
      steps.push_back({address, &i, &origins_.bits(address), base, function.calls.contains(address),
                       loads(i, base), i.is_control(TILE_CONTROL_END)});
    }
    uint32_t from = 0;
    for (const auto& [address, following] : function.next) {
      for (const uint64_t target : following) {
        const uint32_t to = number(steps, target);
        steps[from].next.push_back(to);
        steps[to].before.push_back(from);
      }
      ++from;
    }
  }

  // As what they call does.
  void mark_calls() {
    std::set<uint64_t> loading, ending;
    for (bool more = true; std::exchange(more, false);) {
      for (auto& [entry, steps] : functions_) {
        for (Step& step : steps) {
          if (step.calls) {
            const uint64_t callee = analysis_.functions.at(entry).calls.at(step.address);
            step.loads = loading.contains(callee);
            step.ends = ending.contains(callee);
          }
          if (step.loads) more |= loading.insert(entry).second;
          if (step.ends) more |= ending.insert(entry).second;
        }
      }
    }
  }

  // On what it depends whether calls end the wavefront.
  void mark_ends() {
    std::map<uint64_t, Dependence> ends;
    for (bool more = true; std::exchange(more, false);) {
      for (auto& [entry, steps] : functions_) {
        const Function& function = analysis_.functions.at(entry);
        for (Step& step : steps)
          if (step.calls) step.end = ends[function.calls.at(step.address)];
        if (std::none_of(steps.begin(), steps.end(), [](const Step& step) { return step.ends; }))
          continue;
        std::vector<uint32_t> all(steps.size());
        std::iota(all.begin(), all.end(), 0);
        const Dependence end = Loop(steps, number(steps, entry), all).end();
        more |= std::exchange(ends[entry], end) != end;
      }
    }
  }

  // By calls.
  bool reaches(uint64_t from, uint64_t to) const {
    std::set<uint64_t> seen;
    std::vector<uint64_t> work = {from};
    while (!work.empty()) {
      const uint64_t at = work.back();
      work.pop_back();
      if (at == to) return true;
      if (!seen.insert(at).second) continue;
      for (const auto& call : analysis_.functions.at(at).calls) work.push_back(call.second);
    }
    return false;
  }

  const Analysis& analysis_;
  const Origins origins_;
  std::map<uint64_t, Steps> functions_;
};

}  // namespace

std::string find_waits(const KernelElf& elf, const Analysis& analysis) {
  const uint64_t address = Waits(elf, analysis).find();
  if (address == 0) return {};
  return fmt::format(
      "work-groups may wait for each other: a loop reads the same memory until it changes at {}",
      elf.place(address));
}

}  // namespace stretto::transform
