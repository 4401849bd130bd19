// SPDX-License-Identifier: Apache-2.0
// Question: are the L1s non-coherent exactly as promised? Stale until acquire, private until
// release, atomics at the L2 under its lock, neighbours in a line untouched; and are hits, misses
// and transactions what one counts by hand?
#include <catch2/catch.hpp>

#include "tests/unit/cp/cp_machine.h"

using namespace stretto;
using stretto::test::CpMachine;

namespace {

std::string guest(const std::string& name) {
  return std::string(STRETTO_GUEST_DIR) + "/" + name + ".elf";
}

unsigned count(const CpMachine& machine, Operation operation, unsigned bytes) {
  unsigned n = 0;
  for (const auto& entry : machine.memory.log)
    n += entry.operation == operation && entry.bytes == bytes;
  return n;
}

}  // namespace

TEST_CASE("a hart reads what its L1 holds until it acquires") {
  CpMachine machine;
  machine.memory.set_word(0x1000, 1);
  machine.load(guest("stale"));
  machine.at(5 * kMicrosecond, [&] { machine.memory.set_word(0x1000, 2); });
  machine.expect_pass();
  CHECK(count(machine, Operation::read, 64) == 2);
}

TEST_CASE("a store stays in the L1 until the release, and only its own bytes are written back") {
  CpMachine machine;
  machine.load(guest("release"));
  machine.at(5 * kMicrosecond, [&] {
    CHECK(machine.memory.word(0x2000) == 0);
    machine.memory.set_byte(0x2004, 0x44);
  });
  machine.at(15 * kMicrosecond, [&] { CHECK(machine.memory.word(0x2000) == 0x4433000000); });
  machine.expect_pass();
  CHECK(machine.memory.word(0x2000) == 0x7700004433000000);
  CHECK(count(machine, Operation::write, 1) == 2);
  CHECK(machine.memory.log[1].at >= 10 * kMicrosecond);
}

TEST_CASE("atomics of two harts on GPU memory lose nothing and lock the line at the L2",
          "[CN-RMW-01]") {
  CpMachine machine;
  machine.load(guest("atomic"));
  machine.expect_pass();
  CHECK(machine.memory.word(0x3000) == 1001);
  CHECK(count(machine, Operation::locked_read, 8) == count(machine, Operation::unlocking_write, 8));
  CHECK(count(machine, Operation::locked_read, 8) >= 2 * 50 * 2);
  CHECK(machine.memory.waits_for_lock > 0);
}

TEST_CASE("hits, misses and write-backs are those of an 8-way LRU cache") {
  CpMachine machine;
  machine.load(guest("cache"));
  machine.expect_pass();
  // Nine lines of an eight-way set in a circle: every line misses both times it comes by and its
  // second access, the read-modify-write, hits twice; all but the eight that are left at the end
  // are written back.
  CHECK(machine.statistic("hart0.l1d_misses") == 18);
  CHECK(machine.statistic("hart0.l1d_hits") == 36);
  CHECK(machine.statistic("hart0.l1d_write_backs") == 10);
  CHECK(count(machine, Operation::read, 64) == 18);
}

TEST_CASE("a load miss takes the time of the memory and no more than a few cycles") {
  CpMachine machine;
  machine.memory.set_word(0x1000, 1);
  machine.load(guest("stale"));
  machine.run_us(5);
  // One miss so far: 100 ns are 150 cycles.
  CHECK(machine.statistic("hart0.waiting_cycles") == 150);
}

TEST_CASE("a hart whose memory does not answer says what it waits for") {
  CpMachine machine;
  machine.memory.silent = true;
  machine.load(guest("stale"));
  machine.run_us(100);
  CHECK(machine.queue.empty());
  const std::vector<std::string> lines = machine.cp->waiting_on();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("hart 0 waits for memory read 0x10000001000 at pc 0x8000") == 0);
}

TEST_CASE("no more transactions are in flight than allowed") {
  CpSpec spec = CpMachine::quiet();
  spec.max_outstanding = 1;
  CpMachine machine(spec);
  machine.load(guest("cache"));
  machine.expect_pass();
  CHECK(machine.memory.in_flight_high == 1);
}
