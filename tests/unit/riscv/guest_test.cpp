// SPDX-License-Identifier: Apache-2.0
// Question: do whole guest programs, one check per instruction and corner case, pass on a hart?
// State space: instruction x operands (asm/*.S; the arithmetic ones are generated with Python's
// integers as reference). Parameters: the budget of run(), which must change nothing that a guest
// or owner can see.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <string>

#include "models/common/elf_image.h"
#include "tests/unit/riscv/flat_port.h"

using namespace stretto;
using namespace stretto::riscv;

namespace {

struct Outcome {
  uint64_t tohost = 0;
  uint64_t instret = 0;
  uint64_t cycles = 0;
  uint64_t checksum = 0;  // of all registers
};

using MachineHart = Hart<test::MachinePort>;

Outcome run_guest(const std::string& name, uint64_t steps_per_run, uint64_t max_instructions,
                  const std::function<void(MachineHart&, const ElfImage&)>& prepare = nullptr) {
  const ElfImage image = ElfImage::load(std::string(STRETTO_GUEST_DIR) + "/" + name + ".elf");
  test::MachinePort port(1u << 20);
  for (const auto& segment : image.segments()) {
    REQUIRE(port.in_ram(segment.load_address, segment.memory_bytes));
    std::copy(segment.data.begin(), segment.data.end(),
              port.ram_.begin() + static_cast<long>(segment.load_address - port.kRamBase));
  }
  port.tohost_ = image.symbol("tohost").value();
  CodeCache code;
  MachineHart hart(port, code);
  hart.reset(image.entry());
  if (prepare) prepare(hart, image);
  Outcome outcome;
  while (outcome.tohost == 0 && hart.instret() < max_instructions) {
    hart.run(steps_per_run);
    outcome.tohost = port.peek<uint64_t>(port.tohost_);
  }
  outcome.instret = hart.instret();
  outcome.cycles = hart.cycles();
  for (unsigned i = 0; i < 32; ++i) outcome.checksum = outcome.checksum * 31 + hart.reg(i);
  return outcome;
}

constexpr uint64_t kManySteps = 1000000;
constexpr uint64_t kLimit = 10000000;

void expect_pass(const std::string& name) {
  const Outcome outcome = run_guest(name, kManySteps, kLimit);
  INFO("failed check: " << (outcome.tohost >> 1));
  CHECK(outcome.tohost == 1);
}

}  // namespace

TEST_CASE("integer and multiply instructions compute what the specification says") {
  expect_pass("alu");
}

TEST_CASE("branches, jumps, loads, stores and fence.i do what the specification says") {
  expect_pass("control");
}

TEST_CASE("atomics do what the specification says") { expect_pass("atomic"); }

TEST_CASE("compressed instructions do what the specification says") { expect_pass("compressed"); }

TEST_CASE("machine mode reports every exception and its CSRs behave") { expect_pass("machine"); }

TEST_CASE("a guest that fails says which check") {
  const Outcome outcome =
      run_guest("atomic", kManySteps, kLimit, [](auto& hart, const ElfImage& image) {
        hart.set_reg(27, 7);  // s11, the number of the check
        hart.set_pc(image.symbol("fail").value());
      });
  CHECK(outcome.tohost == ((7u << 1) | 1));
}

TEST_CASE("the size of the budget changes neither counts nor results") {
  for (const char* name : {"control", "atomic", "compressed", "machine"}) {
    const Outcome whole = run_guest(name, kManySteps, kLimit);
    for (const uint64_t steps : {1, 2, 3, 7, 64, 65, 1001}) {
      INFO(name << " in runs of " << steps);
      const Outcome parts = run_guest(name, steps, kLimit);
      CHECK(parts.tohost == 1);
      CHECK(parts.instret == whole.instret);
      CHECK(parts.cycles == whole.cycles);
      CHECK(parts.checksum == whole.checksum);
    }
  }
}
