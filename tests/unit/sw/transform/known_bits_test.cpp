// SPDX-License-Identifier: Apache-2.0
// Question: do known bits hold for every value that an instruction may have? State space: all computing
// instructions of RV64IM, operands of which some bits are known. Constants are compared with what The
// RISC-V Instruction Set Manual, volume I, says, above all where C has no answer: division by 0 and
// overflow, shifts, words.
#include <catch2/catch.hpp>

#include <set>
#include <vector>

#include "sw/transform/known_bits.h"
#include "tests/support/seeded_rng.h"

using namespace stretto::transform;
using namespace stretto::transform::encode;
using stretto::test::Rng;

namespace {

constexpr unsigned kOp = 0x33, kWord = 0x3B;
constexpr uint64_t kMin = uint64_t{1} << 63;

Instruction two(unsigned opcode, unsigned f7, unsigned f3) {
  return decode(r_type(opcode, f3, f7, kT0, kT1, kT2));
}
uint64_t value(const Instruction& i, uint64_t a, uint64_t b = 0) {
  const KnownBits bits = KnownBits::computed(i, KnownBits::constant(a), KnownBits::constant(b));
  REQUIRE(bits.is_constant());
  return bits.ones;
}

std::vector<Instruction> computing() {
  std::vector<Instruction> all;
  for (const unsigned opcode : {kOp, kWord, 0x13u, 0x1Bu})
    for (const unsigned f7 : {0x00u, 0x20u, 0x01u})
      for (unsigned f3 = 0; f3 < 8; ++f3)
        if (const Instruction i = two(opcode, f7, f3); i.kind == Kind::compute) all.push_back(i);
  return all;
}

}  // namespace

TEST_CASE("constants are what the manual says") {
  const uint64_t minus = ~uint64_t{0};
  REQUIRE(value(two(kOp, 1, 4), 7, 0) == minus);        // div
  REQUIRE(value(two(kOp, 1, 4), kMin, minus) == kMin);  // div
  REQUIRE(value(two(kOp, 1, 4), 0 - uint64_t{7}, 2) == 0 - uint64_t{3});
  REQUIRE(value(two(kOp, 1, 5), 7, 0) == minus);  // divu
  REQUIRE(value(two(kOp, 1, 5), minus, 2) == minus >> 1);
  REQUIRE(value(two(kOp, 1, 6), 7, 0) == 7);  // rem
  REQUIRE(value(two(kOp, 1, 6), kMin, minus) == 0);
  REQUIRE(value(two(kOp, 1, 6), 0 - uint64_t{7}, 2) == minus);
  REQUIRE(value(two(kOp, 1, 7), minus, 10) == 5);  // remu
  REQUIRE(value(two(kOp, 1, 7), 7, 0) == 7);
  REQUIRE(value(two(kOp, 1, 1), minus, minus) == 0);                          // mulh
  REQUIRE(value(two(kOp, 1, 2), minus, minus) == minus);                      // mulhsu
  REQUIRE(value(two(kOp, 1, 3), minus, minus) == minus - 1);                  // mulhu
  REQUIRE(value(two(kOp, 0, 1), 1, 64 + 61) == uint64_t{1} << 61);            // sll
  REQUIRE(value(two(kOp, 0x20, 5), kMin, 63) == minus);                       // sra
  REQUIRE(value(two(kOp, 0, 2), minus, 0) == 1);                              // slt
  REQUIRE(value(two(kOp, 0, 3), minus, 0) == 0);                              // sltu
  REQUIRE(value(two(kWord, 0, 0), 0x7FFFFFFF, 1) == 0xFFFFFFFF80000000);      // addw
  REQUIRE(value(two(kWord, 0, 5), 0xF80000000, 31) == 1);                     // srlw
  REQUIRE(value(two(kWord, 0x20, 5), 0x80000000, 31 + 32) == minus);          // sraw
  REQUIRE(value(two(kWord, 1, 4), 0x80000000, minus) == 0xFFFFFFFF80000000);  // divw
  REQUIRE(value(two(kWord, 1, 5), minus, 2) == 0x7FFFFFFF);                   // divuw
  REQUIRE(value(two(kWord, 1, 7), minus, 0) == minus);                        // remuw
  REQUIRE(value(decode(i_type(0x13, 3, kT0, kT1, -1)), 5) == 1);              // sltiu
  REQUIRE(value(decode(i_type(0x13, 5, kT0, kT1, 0x400 + 4)), kMin) == 0xF800000000000000);  // srai
  REQUIRE(value(decode(lui(kT0, 0x80000)), 0) == 0xFFFFFFFF80000000);
}

TEST_CASE("a register less itself is 0, whatever it is") {
  for (const Instruction& i :
       {decode(sub(kT0, kT1, kT1)), decode(r_type(kOp, 4, 0, kT0, kT1, kT1)),
        decode(r_type(kWord, 0, 0x20, kT0, kT1, kT1)), decode(r_type(kOp, 6, 1, kT0, kT1, kT1))})
    REQUIRE(KnownBits::computed(i, {}, {}) == KnownBits::constant(0));
}

TEST_CASE("zeros below are those of both factors, and those of a shift") {
  const KnownBits four = {3, 0}, any = {};
  REQUIRE(KnownBits::computed(two(kOp, 1, 0), four, four).low_zeros() == 4);
  REQUIRE(KnownBits::computed(decode(slli(kT0, kT1, 61)), any, {}).low_zeros() == 61);
  REQUIRE(KnownBits::computed(two(kOp, 0, 0), four, {1, 0}).low_zeros() == 1);
}

TEST_CASE("what is small is less than what is not, and has no product above") {
  const KnownBits byte = {~uint64_t{255}, 0}, any = {}, zero = KnownBits::constant(0);
  const auto value = KnownBits::constant;
  REQUIRE(KnownBits::computed(two(kOp, 0, 3), any, zero) == zero);             // sltu
  REQUIRE(KnownBits::computed(two(kOp, 0, 3), byte, value(256)) == value(1));  // sltu
  REQUIRE_FALSE(KnownBits::computed(two(kOp, 0, 3), byte, value(255)).is_constant());
  REQUIRE(KnownBits::computed(two(kOp, 1, 3), byte, byte) == zero);        // mulhu
  REQUIRE(KnownBits::computed(two(kOp, 1, 5), byte, value(256)) == zero);  // divu
  REQUIRE(KnownBits::computed(two(kOp, 1, 5), byte, value(300)) == zero);  // divu
  REQUIRE(KnownBits::computed(two(kOp, 1, 7), any, value(1)) == zero);     // remu
  REQUIRE(KnownBits::computed(two(kOp, 1, 7), byte, value(300)) == byte);  // remu
  REQUIRE(KnownBits::computed(two(kOp, 1, 6), any, value(1)) == zero);     // rem
  REQUIRE(KnownBits::computed(two(kOp, 1, 7), zero, any) == zero);         // remu
  REQUIRE(KnownBits::computed(two(kOp, 1, 1), zero, any) == zero);         // mulh
}

// Every instruction folds constants; with fewer bits known, no bit that stays known is another.
TEST_CASE("what is known of some bits holds for all values that have them") {
  Rng rng(31);
  const std::vector<Instruction> all = computing();
  std::set<std::string_view> names;
  for (const Instruction& i : all) names.insert(i.name);
  REQUIRE(names.size() == 41);
  unsigned known = 0;
  const auto any = [&] {
    const uint64_t one = rng.next(), other = rng.next();
    if (rng.below(8) == 0) return uint64_t{1} << rng.below(64);
    return rng.below(4) == 0 ? rng.below(8) : rng.below(2) == 0 ? one : one & other;
  };
  for (unsigned trial = 0; trial < 200000; ++trial) {
    const Instruction& i = all[rng.below(all.size())];
    const uint64_t a = any(), b = any();
    const uint64_t of_a = rng.below(2) == 0 ? ~any() : any(),
                   of_b = rng.below(2) == 0 ? ~any() : any();
    const uint64_t exact = value(i, a, b);
    const KnownBits bits = KnownBits::computed(i, {~a & of_a, a & of_a}, {~b & of_b, b & of_b});
    INFO(i.name << std::hex << " a " << a << " of " << of_a << " b " << b << " of " << of_b);
    REQUIRE((bits.zeros & exact) == 0);
    REQUIRE((bits.ones & ~exact) == 0);
    known += bits.zeros != 0 || bits.ones != 0;
  }
  REQUIRE(known > 100000);
}
