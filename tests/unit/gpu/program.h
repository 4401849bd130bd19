// SPDX-License-Identifier: Apache-2.0
// Small wavefront programs for tests, as instruction words. Constants come from the kernel
// arguments: x31 holds their address after the first instruction.
#ifndef STRETTO_TESTS_UNIT_GPU_PROGRAM_H_
#define STRETTO_TESTS_UNIT_GPU_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "sw/include/formats/machine_types.h"
#include "sw/include/tile.h"
#include "tests/unit/gpu/gpu_machine.h"

namespace stretto::test {

inline uint64_t shape(uint32_t rows, uint32_t row_bytes, uint32_t pitch) {
  return uint64_t{rows} | uint64_t{row_bytes} << 16 | uint64_t{pitch} << 32;
}

class Program {
 public:
  Program() { csr(31, TILE_CSR_KERNARG); }

  // Plain instructions.
  Program& csr(unsigned rd, unsigned number) {
    return word(number << 20 | 2 << 12 | rd << 7 | 0x73);
  }
  Program& set_csr(unsigned number, unsigned rs1) {
    return word(number << 20 | rs1 << 15 | 1 << 12 | 0x73);
  }
  Program& constant(unsigned rd, uint64_t value) {
    constants.push_back(value);
    return word(static_cast<uint32_t>((constants.size() - 1) * 8) << 20 | 31 << 15 | 3 << 12 |
                rd << 7 | 0x03);
  }
  Program& ld(unsigned rd, unsigned rs1, int offset = 0) {
    return word(uint32_t(offset) << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x03);
  }
  Program& lw(unsigned rd, unsigned rs1) { return word(rs1 << 15 | 2 << 12 | rd << 7 | 0x03); }
  Program& sd(unsigned rs2, unsigned rs1, unsigned offset = 0) {
    return word(offset >> 5 << 25 | rs2 << 20 | rs1 << 15 | 3 << 12 | (offset & 31) << 7 | 0x23);
  }
  Program& add(unsigned rd, unsigned rs1, unsigned rs2) {
    return word(rs2 << 20 | rs1 << 15 | rd << 7 | 0x33);
  }
  Program& sub(unsigned rd, unsigned rs1, unsigned rs2) {
    return word(0x20u << 25 | rs2 << 20 | rs1 << 15 | rd << 7 | 0x33);
  }
  Program& sltz(unsigned rd, unsigned rs1) { return word(rs1 << 15 | 2 << 12 | rd << 7 | 0x33); }
  Program& addi(unsigned rd, unsigned rs1, int value) {
    return word((uint32_t(value) & 0xFFF) << 20 | rs1 << 15 | rd << 7 | 0x13);
  }
  Program& slli(unsigned rd, unsigned rs1, unsigned by) {
    return word(by << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x13);
  }
  Program& bnez(unsigned rs1, int words) { return branch(1, rs1, words * 4); }
  Program& beqz(unsigned rs1, int words) { return branch(0, rs1, words * 4); }
  Program& amoadd(unsigned rd, unsigned rs2, unsigned rs1) {
    return word(rs2 << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x2F);
  }
  Program& fence() { return word(0x0FF0000F); }

  // Tile instructions; tiles by name, scalars by register.
  Program& load(unsigned t, unsigned address, unsigned shape_register,
                ElementType element = ElementType::fp16, bool streaming = false) {
    return custom(0, (streaming ? 1 : 0) | static_cast<unsigned>(element) << 1, t, address,
                  shape_register);
  }
  Program& store(unsigned t, unsigned address, unsigned shape_register,
                 ElementType element = ElementType::fp16) {
    return custom(1, static_cast<unsigned>(element) << 1, t, address, shape_register);
  }
  Program& load_lines(unsigned t, unsigned address, unsigned shape_register) {
    return custom(0, (static_cast<unsigned>(ElementType::byte) | TILE_LINES) << 1, t, address,
                  shape_register);
  }
  Program& store_lines(unsigned t, unsigned address, unsigned shape_register) {
    return custom(1, (static_cast<unsigned>(ElementType::byte) | TILE_LINES) << 1, t, address,
                  shape_register);
  }
  Program& mma(unsigned a, unsigned ta, unsigned tb, bool a_km, bool b_nk,
               ElementType element = ElementType::fp16) {
    return custom(2, (a_km ? 1 : 0) | (b_nk ? 2 : 0) | static_cast<unsigned>(element) << 2, a, ta,
                  tb);
  }
  Program& simt(unsigned operation, unsigned t, unsigned t1, unsigned t2) {
    return custom(3, operation, t, t1, t2);
  }
  Program& epilogue(unsigned t, unsigned a, unsigned block,
                    ElementType element = ElementType::fp16) {
    return custom(4, static_cast<unsigned>(element), t, a, block);
  }
  Program& zero(unsigned a, unsigned extents) {
    return custom(5, TILE_CONTROL_ZERO, a, extents, 0);
  }
  Program& wait(unsigned count) { return custom(5, TILE_CONTROL_WAIT, 0, 0, count); }
  Program& barrier() { return custom(5, TILE_CONTROL_BARRIER, 0, 0, 0); }
  Program& vote(unsigned rd, unsigned rs1) { return custom(5, TILE_CONTROL_VOTE, rd, rs1, 0); }
  Program& release() { return custom(5, TILE_CONTROL_RELEASE, 0, 0, 0); }
  Program& tile_fence(unsigned scope) { return custom(5, TILE_CONTROL_FENCE, 0, 0, scope); }
  Program& end() { return custom(5, TILE_CONTROL_END, 0, 0, 0); }
  Program& wait_until(unsigned address, unsigned condition, unsigned value) {
    return custom(6, condition, 0, address, value);
  }
  Program& locked_store(unsigned address, unsigned value) {
    return custom(7, 0, 0, address, value);
  }
  Program& llc_store(unsigned address, unsigned value) {
    return custom(7, TILE_LLC_STORE, 0, address, value);
  }
  Program& red(unsigned address, unsigned value) { return custom(7, TILE_RED, 0, address, value); }
  Program& custom(unsigned f3, unsigned f7, unsigned rd, unsigned rs1, unsigned rs2) {
    return word(f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x0B);
  }
  Program& word(uint32_t value) {
    words.push_back(value);
    return *this;
  }

  // Address and shape in registers x10, x11 (then x12, x13 ...), a load of them, and so on: the
  // common case.
  Program& load_at(unsigned t, uint64_t address, uint64_t what,
                   ElementType element = ElementType::fp16) {
    return constant(10, address).constant(11, what).load(t, 10, 11, element);
  }
  Program& store_at(unsigned t, uint64_t address, uint64_t what,
                    ElementType element = ElementType::fp16) {
    return constant(10, address).constant(11, what).store(t, 10, 11, element);
  }

  void put_into(GpuMachine& machine) const {
    machine.load_words(words);
    machine.image.load(kArguments & STRETTO_OFFSET_MASK,
                       reinterpret_cast<const uint8_t*>(constants.data()), 8 * constants.size());
  }
  Launch launch() const {
    Launch what;
    what.code_bytes = 4 * words.size();
    what.kernarg_bytes = static_cast<uint32_t>(8 * constants.size());
    return what;
  }
  // Loads and runs it; returns the time of the last event.
  Time run(GpuMachine& machine) const { return run(machine, launch()); }
  Time run(GpuMachine& machine, const Launch& what) const {
    put_into(machine);
    return machine.run_kernel(what);
  }

  std::vector<uint32_t> words;
  std::vector<uint64_t> constants;

 private:
  Program& branch(unsigned f3, unsigned rs1, int bytes) {
    const uint32_t imm = static_cast<uint32_t>(bytes);
    return word((imm >> 12 & 1) << 31 | (imm >> 5 & 63) << 25 | rs1 << 15 | f3 << 12 |
                (imm >> 1 & 15) << 8 | (imm >> 11 & 1) << 7 | 0x63);
  }
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_GPU_PROGRAM_H_
