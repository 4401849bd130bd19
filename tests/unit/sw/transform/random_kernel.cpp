// SPDX-License-Identifier: Apache-2.0
// See random_kernel.h. Registers: sp; three for the places of this wavefront, one for each depth of
// loops; all others are data, so that whatever a rewritten word clobbers shows in what is stored. Data
// never depends on addresses of code or stack, which a transformed kernel has others of.
#include "tests/unit/sw/transform/random_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "sw/include/formats/machine_types.h"
#include "sw/include/tile.h"

namespace stretto::test {
namespace {

constexpr unsigned kFp16 = static_cast<unsigned>(ElementType::fp16);
constexpr unsigned kFp32 = static_cast<unsigned>(ElementType::fp32);
constexpr unsigned kByte = static_cast<unsigned>(ElementType::byte);
constexpr unsigned kMaxCost = 200;
constexpr uint32_t kLdsBytes = 32768, kRegisterBytes = 65536;
constexpr std::array<unsigned, 12> kSaved = {8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27};

// Where a statement stands.
struct Place {
  unsigned depth = 0;      // Of nested statements.
  unsigned loops = 0;      // The next register of a loop,
  unsigned loops_end = 2;  // of those of this function.
  unsigned times = 1;      // It is executed at most.
  bool same_way = true;    // All wavefronts come here, as often, unless they have ended.
  bool in_loop = false;    // Of this function.
  bool is_called = false;  // Perhaps in a loop.
  unsigned functions = 0;  // The first so many may be called.
};

struct Function {
  unsigned rounds = 0;  // Of barriers and votes, at most.
  unsigned stack = 0;   // Bytes, with those that it calls.
  unsigned cost = 0;    // Statements that are executed, at most.
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : rng_(seed, 1) {
    kernel_.seed = seed;
    choose_launch();
    choose_registers();
    two_kernels_ = one_of(10);
    has_votes_ = !two_kernels_ && one_of(3);
    in_step_ = one_of(2);
  }

  RandomKernel make() {
    const unsigned functions = static_cast<unsigned>(rng_.below(4));  // As loops_ has places for.
    for (unsigned i = 0; i < functions; ++i) make_function(i);
    const std::string name = fmt::format("k{}", kernel_.seed);
    make_kernel(name);
    if (two_kernels_) make_kernel(name + "_b");
    kernel_.assembly = text_ + tables_ + descriptors_;
    return std::move(kernel_);
  }

 private:
  // --- choices ---

  bool one_of(uint64_t n) { return rng_.below(n) == 0; }
  unsigned data() { return data_[rng_.below(data_.size())]; }
  // Several that differ.
  template <size_t N>
  std::array<unsigned, N> several() {
    std::array<unsigned, N> chosen{};
    for (size_t i = 0; i < N; ++i) {
      do {
        chosen[i] = data();
      } while (std::find(chosen.begin(), chosen.begin() + i, chosen[i]) != chosen.begin() + i);
    }
    return chosen;
  }
  std::string label() { return fmt::format(".L{}_{}", kernel_.seed, labels_++); }

  void choose_launch() {
    constexpr std::array<uint32_t, 6> kWavefronts = {1, 2, 3, 4, 4, 8};
    kernel_.wavefronts = kWavefronts[rng_.below(kWavefronts.size())];
    Grid& grid = kernel_.grid;
    const uint64_t dimensions = rng_.between(1, 3);
    if (dimensions == 1) grid.x = static_cast<uint32_t>(rng_.between(1, RandomKernel::kMaxTasks));
    if (dimensions == 2) grid = {uint32_t(rng_.between(1, 6)), uint32_t(rng_.between(1, 4)), 1};
    if (dimensions == 3)
      grid = {uint32_t(rng_.between(1, 4)), uint32_t(rng_.between(1, 3)),
              uint32_t(rng_.between(1, 2))};
    leader_ = static_cast<unsigned>(rng_.below(kernel_.wavefronts));
    argument_bytes_ = sizeof(RandomKernelArguments);
    if (one_of(4)) argument_bytes_ += static_cast<uint32_t>(4 * rng_.between(1, 1200));
  }

  void choose_registers() {
    std::vector<unsigned> saved(kSaved.begin(), kSaved.end());
    for (unsigned* reg :
         {&out_, &marks_, &round_, &loops_[0], &loops_[1], &loops_[2], &loops_[3], &loops_[4]}) {
      const size_t i = rng_.below(saved.size());
      *reg = saved[i];
      saved.erase(saved.begin() + static_cast<long>(i));
    }
    for (unsigned reg = 3; reg < 32; ++reg) {
      const bool taken = reg == out_ || reg == marks_ || reg == round_ ||
                         std::find(loops_.begin(), loops_.end(), reg) != loops_.end();
      if (!taken) data_.push_back(reg);
    }
  }

  // --- text ---

  template <class... T>
  void emit(fmt::format_string<T...> format, T&&... values) {
    text_ += "  " + fmt::format(format, std::forward<T>(values)...) + "\n";
  }
  void bind(const std::string& at) { text_ += at + ":\n"; }
  void constant(unsigned reg) {
    emit("li x{}, {}", reg, static_cast<int64_t>(rng_.next()) >> rng_.below(64));
  }
  void argument(unsigned reg, size_t field) {
    emit("csrr x{}, {:#x}", reg, TILE_CSR_KERNARG);
    emit("ld x{}, {}(x{})", reg, field, reg);
  }
  void shape(unsigned reg, uint64_t rows, uint64_t row_bytes) {
    emit("li x{}, {}", reg, rows | row_bytes << 16 | row_bytes << 32);
  }
  void tile(unsigned f3, unsigned f7, unsigned rd, unsigned rs1, unsigned rs2) {
    emit(".insn r 0x0B, {}, {}, x{}, x{}, x{}", f3, f7, rd, rs1, rs2);
  }
  void control(unsigned f7, unsigned rd = 0, unsigned rs1 = 0, unsigned rs2 = 0) {
    tile(TILE_CONTROL_F3, f7, rd, rs1, rs2);
  }

  // --- whole ---

  void make_function(unsigned index) {
    Function function;
    const unsigned callees = index == 0 ? 0 : static_cast<unsigned>(rng_.below(index + 1));
    const bool leaf = callees == 0;
    const unsigned frame = leaf && one_of(2) ? 0 : static_cast<unsigned>(16 * rng_.between(1, 8));
    bind(function_name(index));
    move_stack(-static_cast<int>(frame));
    if (!leaf) emit("sd ra, {}(sp)", frame - 8);
    frame_ = frame - (leaf ? 0 : 8);
    rounds_ = stack_ = cost_ = 0;
    Place place;
    place.depth = 1;
    place.loops = 2 + index;  // Those of callers are kept.
    place.loops_end = 3 + index;
    place.functions = callees;
    place.is_called = true;
    if (two_kernels_ && one_of(2)) end(place, data());
    block(place, 2 + static_cast<unsigned>(rng_.below(6)));
    if (!leaf) emit("ld ra, {}(sp)", frame - 8);
    move_stack(static_cast<int>(frame));
    emit("ret");
    function.rounds = rounds_;
    function.stack = stack_ + frame;
    function.cost = cost_;
    functions_.push_back(function);
  }

  void make_kernel(const std::string& name) {
    const unsigned frame = one_of(3) ? 0 : static_cast<unsigned>(16 * rng_.between(1, 12));
    rounds_ = stack_ = cost_ = 0;
    text_ += fmt::format("  .globl {}\n", name);
    bind(name);
    begin(frame);
    frame_ = frame;
    Place place;
    place.functions = static_cast<unsigned>(functions_.size());
    block(place, 4 + static_cast<unsigned>(rng_.below(10)));
    finish();
    describe(name, frame + stack_);
  }

  // Where this wavefront writes, that it runs, and something in every register.
  void begin(unsigned frame) {
    const auto [id, wavefront, t] = several<3>();
    move_stack(-static_cast<int>(frame));
    emit("csrr x{}, {:#x}", id, TILE_CSR_WG_ID);
    emit("csrr x{}, {:#x}", wavefront, TILE_CSR_WF_ID);
    argument(out_, offsetof(RandomKernelArguments, out));
    emit("slli x{}, x{}, 3", t, id);
    emit("add x{}, x{}, x{}", t, t, wavefront);
    emit("slli x{}, x{}, 6", t, t);
    emit("add x{}, x{}, x{}", out_, out_, t);
    argument(marks_, offsetof(RandomKernelArguments, marks));
    emit("li x{}, {}", t, RandomKernel::kRounds * 64);
    emit("mul x{}, x{}, x{}", t, t, id);
    emit("add x{}, x{}, x{}", marks_, marks_, t);
    argument(t, offsetof(RandomKernelArguments, ran));
    emit("slli x{}, x{}, 3", round_, id);
    emit("add x{}, x{}, x{}", t, t, round_);
    emit("li x{}, 1", round_);
    emit("slli x{}, x{}, 3", loops_[0], wavefront);
    emit("sll x{}, x{}, x{}", round_, round_, loops_[0]);
    emit("amoadd.d zero, x{}, (x{})", round_, t);
    emit("li x{}, 0", round_);
    for (const unsigned reg : loops_) emit("li x{}, 0", reg);
    for (const unsigned reg : data_) {
      if (reg == id || reg == wavefront) continue;
      constant(reg);
      emit("{} x{}, x{}, x{}", one_of(2) ? "add" : "xor", reg, reg, one_of(2) ? id : wavefront);
    }
  }

  void move_stack(int by) {
    if (by == 0) return;
    if (one_of(4)) {
      const unsigned reg = data();
      emit("li x{}, {}", reg, -by);
      emit("sub sp, sp, x{}", reg);
    } else {
      emit("addi sp, sp, {}", by);
    }
  }

  // All data meets in one word.
  void finish() {
    const unsigned sum = data();
    for (const unsigned reg : data_) {
      if (reg == sum) continue;
      emit("slli x{}, x{}, 5", round_, sum);
      emit("sub x{}, x{}, x{}", sum, round_, sum);
      emit("xor x{}, x{}, x{}", sum, sum, reg);
    }
    emit("sd x{}, {}(x{})", sum, 8 * (RandomKernel::kOutWords - 1), out_);
    control(TILE_CONTROL_END);
  }

  void describe(const std::string& name, unsigned stack) {
    uint32_t bytes = 256;
    while (bytes < stack) bytes *= 2;
    if (one_of(200)) bytes = 65536;  // Nothing is left for what a transformed kernel keeps there.
    descriptors_ += fmt::format(
        "  .section .stretto.kernel, \"aw\"\n  .balign 64\n  .globl {0}.kd\n{0}.kd:\n"
        "  .4byte {1}, 0\n  .8byte {0}\n  .4byte {2}, {3}, {4}, {5}, 0, 0, {6}, 0\n"
        "  .8byte 0\n  .4byte 0, 0\n",
        name, STRETTO_KERNEL_MAGIC, kRegisterBytes, kLdsBytes, bytes, kernel_.wavefronts,
        argument_bytes_);
    kernel_.names.push_back(name);
  }

  std::string function_name(unsigned index) const {
    return fmt::format("f{}_{}", kernel_.seed, index);
  }

  // --- statements ---

  void block(const Place& place, unsigned statements) {
    for (unsigned i = 0; i < statements; ++i) statement(place);
  }

  void statement(const Place& place) {
    cost_ += place.times;
    const uint64_t choice = rng_.below(100);
    if (choice < 22) return compute();
    if (choice < 34) return access();
    if (choice < 44) return identify();
    if (choice < 48) return set_csr();
    if (choice < 56) return meet(place);
    if (choice < 62) return use_registers(place);
    if (choice < 68) return use_group_tiles(place);
    if (choice < 72) return end(place, data());
    if (choice < 78) return call(place);
    if (choice < 82) return use_stack();
    if (place.depth >= 3) return compute();
    if (choice < 89) return condition(place);
    if (choice < 95) return loop(place);
    return choose(place);
  }

  void compute() {
    static constexpr std::array<const char*, 24> kThree = {
        "add", "sub",  "xor",  "or",   "and",   "sll",    "srl",  "sra",
        "slt", "sltu", "mul",  "mulh", "mulhu", "mulhsu", "div",  "divu",
        "rem", "remu", "addw", "subw", "sllw",  "mulw",   "divw", "remuw"};
    static constexpr std::array<const char*, 6> kValue = {"addi", "xori", "andi",
                                                          "ori",  "slti", "addiw"};
    for (uint64_t i = rng_.between(1, 5); i > 0; --i) {
      if (one_of(3)) {
        emit("{} x{}, x{}, {}", kValue[rng_.below(kValue.size())], data(), data(),
             static_cast<int>(rng_.below(4096)) - 2048);
      } else {
        emit("{} x{}, x{}, x{}", kThree[rng_.below(kThree.size())], data(), data(), data());
      }
    }
  }

  // Of places of its own, sums of all, and input.
  void access() {
    static constexpr std::array<const char*, 6> kAtomic = {"amoadd.d", "amoswap.d", "amoxor.d",
                                                           "amoor.d",  "amomax.d",  "amominu.d"};
    const uint64_t at = 8 * rng_.below(RandomKernel::kOutWords - 1);
    const auto [value, address, result] = several<3>();
    switch (rng_.below(6)) {
      case 0: return emit("sd x{}, {}(x{})", value, at, out_);
      case 1: return emit("sw x{}, {}(x{})", value, at + 4 * rng_.below(2), out_);
      case 2: return emit("ld x{}, {}(x{})", value, at, out_);
      case 3:
        emit("addi x{}, x{}, {}", address, out_, at);
        emit("{} x{}, x{}, (x{})", kAtomic[rng_.below(kAtomic.size())], result, value, address);
        return emit("li x{}, 7", address);
      case 4:
        argument(address, offsetof(RandomKernelArguments, common));
        emit("addi x{}, x{}, {}", address, address, 8 * rng_.below(8));
        emit("amoadd.d zero, x{}, (x{})", value, address);
        if (one_of(2)) emit("fence rw, rw");
        return;
      default:
        argument(address, offsetof(RandomKernelArguments, input));
        return emit("lw x{}, {}(x{})", result, 4 * rng_.below(500), address);
    }
  }

  // Ids and sizes.
  void identify() {
    for (uint64_t i = rng_.between(1, 3); i > 0; --i)
      emit("csrr x{}, {:#x}", one_of(20) ? 0 : data(), random_id());
  }
  unsigned random_id() {
    static constexpr std::array<unsigned, 12> kIds = {
        TILE_CSR_WG_ID,  TILE_CSR_WG_ID,  TILE_CSR_WF_ID, TILE_CSR_GRID,
        TILE_CSR_WG_X,   TILE_CSR_WG_Y,   TILE_CSR_WG_Z,  TILE_CSR_GRID_X,
        TILE_CSR_GRID_Y, TILE_CSR_GRID_Z, TILE_CSR_GRID,  TILE_CSR_WAVEFRONTS};
    return kIds[rng_.below(kIds.size())];
  }

  // Found as they are at the start, or as this wavefront has left them.
  void set_csr() {
    const unsigned csr = one_of(2) ? TILE_CSR_SCOPE : TILE_CSR_FLAG;
    emit("csrr x{}, {:#x}", data(), csr);
    if (one_of(2)) emit("csrwi {:#x}, {}", csr, rng_.below(4));
  }

  // A barrier or a vote; what others wrote before it is read behind it.
  void meet(const Place& place) {
    if (rounds_ + place.times > RandomKernel::kRounds || (in_step_ && !place.same_way))
      return compute();
    rounds_ += place.times;
    const auto [at, mine, value] = several<3>();
    const bool marks = one_of(2);
    if (marks) {
      emit("slli x{}, x{}, 6", at, round_);
      emit("add x{}, x{}, x{}", at, at, marks_);
      emit("csrr x{}, {:#x}", mine, TILE_CSR_WF_ID);
      emit("slli x{}, x{}, 3", mine, mine);
      emit("add x{}, x{}, x{}", mine, mine, at);
      emit("sd x{}, 0(x{})", value, mine);
    }
    emit("addi x{}, x{}, 1", round_, round_);
    if (has_votes_ && one_of(2)) {
      control(TILE_CONTROL_VOTE, one_of(8) ? 0 : data(), one_of(4) ? 0 : value);
      if (marks) emit("slli x{}, x{}, 6", at, round_);  // The vote's result may be there.
      if (marks) emit("add x{}, x{}, x{}", at, at, marks_);
      if (marks) emit("addi x{}, x{}, -64", at, at);
    } else {
      control(TILE_CONTROL_BARRIER);
    }
    if (!marks) return;
    emit("ld x{}, {}(x{})", value, 8 * rng_.below(kernel_.wavefronts), at);
    emit("li x{}, 3", at);
    emit("li x{}, 5", mine);
  }

  // Register tiles of this wavefront: input, an operation, a place of its own.
  void use_registers(const Place& place) {
    const auto [from, to, size] = several<3>();
    const uint64_t slot = rng_.below(4), rows = rng_.between(1, 4),
                   row_bytes = 16 * rng_.between(1, 4);
    const unsigned first = static_cast<unsigned>(rng_.below(7)), second = first + 1;
    const unsigned element = kFp32 << 1;
    argument(from, offsetof(RandomKernelArguments, input));
    emit("addi x{}, x{}, {}", from, from, 64 * rng_.below(30));
    shape(size, rows, row_bytes);
    tile(TILE_LOAD_F3, element, first, from, size);
    if (one_of(2)) {
      emit("addi x{}, x{}, 64", from, from);
      tile(TILE_LOAD_F3, element, second, from, size);
      constexpr std::array<unsigned, 4> kOperations = {TILE_SIMT_ADD, TILE_SIMT_MAX, TILE_SIMT_MUL,
                                                       TILE_SIMT_SUB};
      tile(TILE_SIMT_F3, kOperations[rng_.below(4)], first, first, second);
    }
    own_tile(to, size, slot * 256);
    shape(size, rows, row_bytes);
    tile(TILE_STORE_F3, element, first, to, size);
    forget(place, {from, to, size});
  }

  // x`to` <- the place of this wavefront's tiles; x`t` is overwritten.
  void own_tile(unsigned to, unsigned t, uint64_t offset) {
    argument(to, offsetof(RandomKernelArguments, tiles));
    emit("csrr x{}, {:#x}", t, TILE_CSR_WG_ID);
    emit("slli x{}, x{}, 14", t, t);
    emit("add x{}, x{}, x{}", to, to, t);
    emit("csrr x{}, {:#x}", t, TILE_CSR_WF_ID);
    emit("slli x{}, x{}, 11", t, t);
    emit("add x{}, x{}, x{}", to, to, t);
    if (offset != 0) emit("addi x{}, x{}, {}", to, to, offset);
  }

  void forget(const Place& place, std::initializer_list<unsigned> addresses) {
    if (place.in_loop || place.times > 1 || one_of(4)) control(TILE_CONTROL_WAIT);
    for (const unsigned reg : addresses) emit("li x{}, 11", reg);
  }

  // Tiles of the work-group. Its leader loads them, and ends behind the last statement alone.
  void use_group_tiles(const Place& place) {
    if (!in_step_ || !place.same_way || place.depth > 1 ||
        rounds_ + 2 * place.times > RandomKernel::kRounds)
      return use_registers(place);
    const std::string others = label();
    const auto [t, u, size] = several<3>();
    emit("csrr x{}, {:#x}", t, TILE_CSR_WF_ID);
    emit("li x{}, {}", u, leader_);
    emit("bne x{}, x{}, {}", t, u, others);
    if (one_of(3)) {
      multiply(place, t, u, size);
      return bind(others);
    }
    const unsigned name = TILE_FIRST_LDS + static_cast<unsigned>(rng_.below(12));
    const bool large = one_of(3);
    if (large) {
      load_large(name, t, u, size);
    } else {
      load_input(name, t, size, 4, 64, kFp32);
    }
    bind(others);
    if (large) return forget(place, {t, u, size});
    rounds_ += 2 * place.times;
    emit("addi x{}, x{}, 2", round_, round_);
    control(TILE_CONTROL_BARRIER);
    own_tile(t, size, 1024);
    shape(size, 4, 64);
    tile(TILE_STORE_F3, kFp32 << 1, name, t, size);
    control(TILE_CONTROL_BARRIER);
    forget(place, {t, u, size});
  }

  void load_input(unsigned name, unsigned t, unsigned size, uint64_t rows, uint64_t row_bytes,
                  unsigned element) {
    argument(t, offsetof(RandomKernelArguments, input));
    emit("addi x{}, x{}, {}", t, t, 64 * rng_.below(30));
    shape(size, rows, row_bytes);
    tile(TILE_LOAD_F3, element << 1, name, t, size);
  }

  // Two thirds of the LDS, by the parity of the id in one tile or another: there is no room for both.
  void load_large(unsigned name, unsigned t, unsigned u, unsigned size) {
    if (large_) return load_input(name, t, size, 4, 64, kFp32);
    large_ = true;
    kernel_.keeps_room = kernel_.grid.tasks() == 1;
    const std::string odd = label(), done = label();
    argument(t, offsetof(RandomKernelArguments, input));
    shape(size, 20, 1024);
    emit("csrr x{}, {:#x}", u, TILE_CSR_WG_ID);
    emit("andi x{}, x{}, 1", u, u);
    emit("bnez x{}, {}", u, odd);
    tile(TILE_LOAD_F3, kByte << 1, TILE_FIRST_LDS + 14, t, size);
    emit("j {}", done);
    bind(odd);
    tile(TILE_LOAD_F3, kByte << 1, TILE_FIRST_LDS + 15, t, size);
    bind(done);
  }

  // 16 x 16 x 16, and the product to a place of its own.
  void multiply(const Place& place, unsigned t, unsigned u, unsigned size) {
    const unsigned a = TILE_FIRST_LDS + 12,
                   accumulator = TILE_FIRST_ACCUMULATOR + static_cast<unsigned>(rng_.below(4));
    load_input(a, t, size, 16, 32, kFp16);
    load_input(a + 1, t, size, 16, 32, kFp16);
    emit("li x{}, {}", u, 16 | 16 << 16);
    control(TILE_CONTROL_ZERO, accumulator, u);
    tile(TILE_MMA_F3, static_cast<unsigned>(rng_.below(4)), accumulator, a, a + 1);
    emit("li x{}, {}", u, uint64_t{16} << 16 | uint64_t{16} << 48);
    tile(TILE_EPILOGUE_F3, kFp16, 7, accumulator, u);
    own_tile(t, size, 1280);
    shape(size, 16, 32);
    tile(TILE_STORE_F3, kFp16 << 1, 7, t, size);
    forget(place, {t, u, size});
  }

  // Some wavefronts of some work-groups end here. What they depend on is not memory where a loop is
  // around, perhaps the caller's: that would be a wait.
  void end(const Place& place, unsigned value) {
    const std::string on = label();
    const auto [t, u, v] = several<3>();
    emit("csrr x{}, {:#x}", t, TILE_CSR_WF_ID);
    emit("li x{}, {}", u, leader_);
    emit("beq x{}, x{}, {}", t, u, on);
    if (place.in_loop || one_of(2) || place.is_called) {
      emit("csrr x{}, {:#x}", u, random_id());
      emit("add x{}, x{}, x{}", t, t, u);
      if (place.in_loop) emit("add x{}, x{}, x{}", t, t, loops_[place.loops - 1]);
      emit("andi x{}, x{}, {}", t, t, one_of(2) ? 1 : 3);
      emit("li x{}, {}", u, rng_.below(3));
      emit("{} x{}, x{}, {}", one_of(2) ? "bne" : "bltu", t, u, on);
    } else {
      emit("andi x{}, x{}, 3", v, value);
      emit("bnez x{}, {}", v, on);
    }
    if (one_of(2)) emit("sd x{}, 0(x{})", data(), out_);
    control(TILE_CONTROL_END);
    bind(on);
  }

  void call(const Place& place) {
    if (place.functions == 0) return compute();
    const unsigned index = static_cast<unsigned>(rng_.below(place.functions));
    const Function& callee = functions_[index];
    const unsigned rounds = callee.rounds * place.times;
    const unsigned cost = callee.cost * place.times;
    if (rounds_ + rounds > RandomKernel::kRounds || cost_ + cost > kMaxCost ||
        (in_step_ && !place.same_way && rounds != 0))
      return compute();
    rounds_ += rounds;
    cost_ += cost;
    stack_ = std::max(stack_, callee.stack);
    if (one_of(2)) {
      emit("call {}", function_name(index));
    } else {
      emit("jal ra, {}", function_name(index));
    }
  }

  void use_stack() {
    if (frame_ < 8) return compute();
    const uint64_t at = 8 * rng_.below(frame_ / 8);
    emit("sd x{}, {}(sp)", data(), at);
    compute();
    emit("ld x{}, {}(sp)", data(), at);
  }

  // Of the id alone, so that all wavefronts go the same way; else of anything.
  void compare(bool same_way, const std::string& to) {
    static constexpr std::array<const char*, 6> kBranches = {"beq", "bne",  "blt",
                                                             "bge", "bltu", "bgeu"};
    const auto [t, u] = several<2>();
    const char* const branch = kBranches[rng_.below(kBranches.size())];
    if (!same_way) return emit("{} x{}, x{}, {}", branch, data(), data(), to);
    emit("csrr x{}, {:#x}", t, TILE_CSR_WG_ID);
    emit("andi x{}, x{}, {}", t, t, rng_.between(1, 7));
    emit("li x{}, {}", u, rng_.below(4));
    emit("{} x{}, x{}, {}", branch, t, u, to);
  }

  void condition(Place place) {
    const bool same_way = one_of(2);
    const std::string other = label(), done = label();
    ++place.depth;
    place.same_way &= same_way;
    compare(same_way, other);
    block(place, 1 + static_cast<unsigned>(rng_.below(3)));
    emit("j {}", done);
    bind(other);
    if (one_of(2)) block(place, 1 + static_cast<unsigned>(rng_.below(3)));
    bind(done);
  }

  void loop(Place place) {
    if (place.loops == place.loops_end) return compute();
    const unsigned count = loops_[place.loops];
    const uint64_t turns = rng_.between(1, 4);
    const bool same_way = one_of(2);
    const std::string again = label(), done = label();
    if (same_way) {
      emit("li x{}, {}", count, turns);
    } else {
      emit("csrr x{}, {:#x}", count, TILE_CSR_WF_ID);
      emit("andi x{}, x{}, {}", count, count, turns <= 2 ? 1 : 3);
      if (one_of(2)) emit("addi x{}, x{}, 1", count, count);
    }
    ++place.depth;
    ++place.loops;
    place.in_loop = true;
    place.times *= 4;
    place.same_way &= same_way;
    const bool at_head = one_of(2) || !same_way;
    bind(again);
    if (at_head) emit("beqz x{}, {}", count, done);
    block(place, 1 + static_cast<unsigned>(rng_.below(4)));
    emit("addi x{}, x{}, -1", count, count);
    if (at_head) {
      emit("j {}", again);
    } else {
      emit("bnez x{}, {}", count, again);
    }
    bind(done);
  }

  // A jump table.
  void choose(Place place) {
    const uint64_t ways = uint64_t{2} << rng_.below(3);
    const auto [t, u] = several<2>();
    const std::string table = label(), done = label();
    const bool same_way = one_of(2);
    ++place.depth;
    place.same_way &= same_way;
    if (same_way) emit("csrr x{}, {:#x}", t, TILE_CSR_WG_ID);
    emit("andi x{}, x{}, {}", t, same_way ? t : data(), ways - 1);
    emit("slli x{}, x{}, 2", t, t);
    emit("lla x{}, {}", u, table);
    emit("add x{}, x{}, x{}", t, t, u);
    emit("lw x{}, 0(x{})", t, t);
    emit("add x{}, x{}, x{}", t, t, u);
    emit("jr x{}", t);
    std::string entries = fmt::format("  .section .rodata\n  .balign 4\n{}:\n", table);
    for (uint64_t i = 0; i < ways; ++i) {
      const std::string way = label();
      entries += fmt::format("  .4byte {} - {}\n", way, table);
      bind(way);
      emit("li x{}, {}", t, i);
      emit("li x{}, 1", u);
      block(place, 1 + static_cast<unsigned>(rng_.below(2)));
      emit("j {}", done);
    }
    bind(done);
    tables_ += entries;
  }

  Rng rng_;
  RandomKernel kernel_;
  unsigned out_ = 0, marks_ = 0, round_ = 0, leader_ = 0;
  std::array<unsigned, 5> loops_{};  // Two of kernels, one of each function.
  std::vector<unsigned> data_;
  bool two_kernels_ = false, has_votes_ = false;
  bool in_step_ = false;  // Barriers only where all wavefronts come: tiles pass between them.
  bool large_ = false;
  uint32_t argument_bytes_ = 0;
  unsigned labels_ = 0, rounds_ = 0, stack_ = 0, cost_ = 0, frame_ = 0;
  std::vector<Function> functions_;
  std::string text_ = "  .text\n", tables_, descriptors_;
};

}  // namespace

RandomKernel make_random_kernel(uint64_t seed) { return Generator(seed).make(); }

}  // namespace stretto::test
