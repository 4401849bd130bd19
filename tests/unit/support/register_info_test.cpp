// SPDX-License-Identifier: Apache-2.0
// Question: does the generated kind of register table find registers and apply writes as its access
// says? Expected values are those of the five access kinds in sw/include/regs/README.md.

#include "sw/include/regs/register_info.h"

#include <catch2/catch.hpp>

#include "sw/include/regs/field.h"

namespace {

using stretto::RegisterAccess;

constexpr stretto::RegisterInfo kTable[] = {
    {"control", 0x0, 1, 8, 8, RegisterAccess::kReadWrite, 0, 0xf},
    {"status", 0x8, 1, 8, 8, RegisterAccess::kWriteOneToClear, 0, 0xff},
    {"entry", 0x40, 4, 32, 8, RegisterAccess::kReadOnly, 0, 0},
    {"set", 0x48, 4, 32, 8, RegisterAccess::kWriteOneToSet, 0, 0xff},
};

#define DEMO_POLICY_SHIFT 4
#define DEMO_POLICY_MASK 0xf0

}  // namespace

TEST_CASE("a register of interleaved arrays is found with its index") {
  uint32_t index = 9;
  REQUIRE(find_register(kTable, 0x68, &index) == &kTable[3]);
  CHECK(index == 1);
  CHECK(find_register(kTable, 0x40, &index) == &kTable[2]);
  CHECK(index == 0);
}

TEST_CASE("offsets between, inside and after registers belong to nobody") {
  CHECK(find_register(kTable, 0x4) == nullptr);
  CHECK(find_register(kTable, 0x10) == nullptr);
  CHECK(find_register(kTable, 0x40 + 4 * 32) == nullptr);
}

TEST_CASE("a write changes what the access allows") {
  CHECK(value_after_write(kTable[0], 0xa5, 0x3c) == 0xac);
  CHECK(value_after_write(kTable[1], 0xff, 0x0f) == 0xf0);
  CHECK(value_after_write(kTable[2], 0xa5, 0x3c) == 0xa5);
  CHECK(value_after_write(kTable[3], 0xa0, 0x05) == 0xa5);
}

TEST_CASE("fields are read, placed and replaced") {
  CHECK(STRETTO_FIELD_GET(0x1234u, DEMO_POLICY) == 3);
  CHECK(STRETTO_FIELD(DEMO_POLICY, 0x1f) == 0xf0);
  CHECK(STRETTO_FIELD_SET(0x1234u, DEMO_POLICY, 5) == 0x1254);
}
