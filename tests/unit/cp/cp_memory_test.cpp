// SPDX-License-Identifier: Apache-2.0
// Question: are the L1s non-coherent exactly as promised? Stale until acquire, private until
// release, atomics at the L2 under its lock, neighbours in a line untouched; and are hits, misses
// and transactions what one counts by hand?
#include <catch2/catch.hpp>

#include <sstream>

#include "tests/unit/common/in_child.h"
#include "tests/unit/cp/cp_machine.h"

using namespace stretto;
using stretto::test::CpMachine;
using stretto::test::in_child;

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

namespace {

CpSpec in_gpu_memory(Fenced fenced) {
  CpSpec spec = CpMachine::quiet();
  spec.private_memory = PrivateMemory::gpu;
  spec.fenced = fenced;
  return spec;
}

unsigned count(const CpMachine& machine, PrivateAccess access, unsigned hart, bool writes) {
  unsigned n = 0;
  for (const auto& entry : machine.memory.log)
    n += entry.private_access == access && entry.hart == hart &&
         (entry.operation == Operation::write) == writes;
  return n;
}

}  // namespace

namespace {

void expect_private(Fenced fenced) {
  CpMachine machine(in_gpu_memory(fenced));
  machine.load(guest("private"));
  machine.expect_pass();
  // By hand, of hart 0: own_of and own are filled once, and own_of again behind its hand-over.
  // Then each of ten acquires drops own_of, if acquires reach it, and each release writes it.
  const bool all = fenced == Fenced::all;
  CHECK(count(machine, PrivateAccess::data, 0, false) == (all ? 12 : 3));
  CHECK(count(machine, PrivateAccess::data, 0, true) == (all ? 12 : 2));
  const uint64_t own = 0x80000 + 0x40000;
  CHECK(machine.memory.word(own) == 8);
  CHECK(machine.memory.word(own + 64) == (all ? 110 : 100));
}

// Misses of the code cache and cycles that hart 0 waits, of guest/code.c.
std::pair<uint64_t, uint64_t> code_misses(uint32_t kib, uint32_t ways) {
  const std::string text = in_child([&] {
    CpSpec spec = in_gpu_memory(Fenced::all);
    spec.l1i_kib = static_cast<uint16_t>(kib);
    spec.l1i_ways = static_cast<uint8_t>(ways);
    CpMachine machine(spec);
    machine.load(guest("code"));
    machine.run_us(1000);
    if (machine.tohost != 1 ||
        count(machine, PrivateAccess::code, 0, false) != machine.statistic("hart0.l1i_misses"))
      return std::string("failed");
    return std::to_string(machine.statistic("hart0.l1i_misses")) + " " +
           std::to_string(machine.statistic("hart0.waiting_cycles"));
  });
  INFO(text);
  std::istringstream in(text);
  std::pair<uint64_t, uint64_t> both;
  in >> both.first >> both.second;
  REQUIRE_FALSE(in.fail());
  return both;
}

// What hart 0 sends, and when.
std::string sent(uint32_t quantum_ns, const std::string& program, uint8_t store_buffer) {
  return in_child([&] {
    CpSpec spec = in_gpu_memory(Fenced::all);
    spec.quantum_ns = quantum_ns;
    spec.store_buffer = store_buffer;
    spec.l1i_kib = 1;
    spec.l1i_ways = 2;
    CpMachine machine(spec);
    machine.memory.set_word(0x5000, 0x1122334455667788);
    machine.load(guest(program));
    machine.run_us(1000);
    std::string text = machine.tohost == 1 ? "" : "failed ";
    for (const auto& entry : machine.memory.log)
      if (entry.hart == 0)
        text += std::to_string(entry.at) + " " + std::to_string(entry.address) + "\n";
    return text;
  });
}

void expect_ordered_stores(uint8_t entries) {
  CpSpec spec = CpMachine::quiet();
  spec.store_buffer = entries;
  CpMachine machine(spec);
  machine.memory.set_word(0x5000, 0x1122334455667788);
  machine.load(guest("stores"));
  machine.expect_pass();
  const auto& log = machine.memory.log;
  // A line that was stored whole is written whole, and nothing is read for it.
  REQUIRE(log.size() > 3);
  if (entries > 1) {
    CHECK(log[0].operation == Operation::write);
    CHECK(log[0].bytes == 64);
    CHECK((log[0].address & 0xFFFF) == 0x4000);
    // Behind the release, one after the other, and the device behind all of them.
    CHECK(log[1].at >= log[0].at + 100 * kNanosecond);
    CHECK(log[2].at >= log[1].at + 100 * kNanosecond);
    REQUIRE(machine.device.log.size() == 1);
    CHECK(machine.device.log[0].at >= log[2].at + 100 * kNanosecond);
  }
  CHECK(machine.memory.host_word(0x100) == 2);
  CHECK(machine.memory.word(0x7080) == 2);
  const auto first = [&](uint64_t offset) {
    for (const auto& entry : log)
      if (entry.operation == Operation::write && (entry.address & 0xFFFF) == offset)
        return entry.at;
    FAIL("no write of " << offset);
    return Time{0};
  };
  CHECK(first(0x7080) >= first(0x7040) + 100 * kNanosecond);
}

CpSpec buffered() {
  CpSpec spec = CpMachine::quiet();
  spec.store_buffer = 4;
  return spec;
}

}  // namespace

TEST_CASE("private memory is behind the L1s, and acquires and releases reach it",
          "[CN-CP-01][CN-MEM-01]") {
  expect_private(Fenced::all);
}

TEST_CASE("with cp.fenced=shared a fence that names devices alone reaches private lines",
          "[CN-CP-01]") {
  expect_private(Fenced::shared);
}

TEST_CASE("code in private memory waits for each line of it once, or again where it does not fit",
          "[CN-CP-01]") {
  const auto [once, cycles_once] = code_misses(16, 8);
  const auto [twice, cycles_twice] = code_misses(2, 1);
  // 64 lines and what is around them: start, loop and end, one to eight lines.
  CHECK(once >= 65);
  CHECK(once <= 72);
  CHECK(twice >= once + 64);
  CHECK(cycles_once == 150 * once);  // 100 ns of memory a miss, one after the other.
  CHECK(cycles_twice == 150 * twice);
}

TEST_CASE("the quantum changes nothing of what a hart sends") {
  CHECK(sent(3, "code", 0) == sent(500, "code", 0));
  CHECK(sent(3, "stores", 4) == sent(500, "stores", 4));
}

TEST_CASE("a store buffer lets a hart go on, and keeps what fences order: one entry") {
  expect_ordered_stores(1);
}
TEST_CASE("a store buffer lets a hart go on, and keeps what fences order: two entries") {
  expect_ordered_stores(2);
}
TEST_CASE("a store buffer lets a hart go on, and keeps what fences order: four entries") {
  expect_ordered_stores(4);
}
TEST_CASE("a store buffer lets a hart go on, and keeps what fences order: more than transactions") {
  expect_ordered_stores(64);
}

TEST_CASE("a hart with a store buffer reads what its L1 holds until it acquires") {
  CpMachine machine(buffered());
  machine.memory.set_word(0x1000, 1);
  machine.at(5 * kMicrosecond, [&] { machine.memory.set_word(0x1000, 2); });
  machine.load(guest("stale"));
  machine.expect_pass();
}

TEST_CASE("what is in a store buffer is there behind the release, and only its own bytes") {
  CpMachine machine(buffered());
  machine.load(guest("release"));
  machine.at(5 * kMicrosecond, [&] {
    CHECK(machine.memory.word(0x2000) == 0);
    machine.memory.set_byte(0x2004, 0x44);
  });
  machine.at(15 * kMicrosecond, [&] { CHECK(machine.memory.word(0x2000) == 0x4433000000); });
  machine.expect_pass();
  CHECK(machine.memory.word(0x2000) == 0x7700004433000000);
}

TEST_CASE("atomics of harts with store buffers lose nothing") {
  CpMachine machine(buffered());
  machine.load(guest("atomic"));
  machine.expect_pass();
  CHECK(machine.memory.word(0x3000) == 1001);
}

TEST_CASE("a posted store that nobody takes ends the run with its address") {
  CpSpec spec = CpMachine::quiet();
  spec.store_buffer = 4;
  CpMachine machine(spec);
  machine.load(guest("nobody"));
  CHECK_THROWS_WITH(machine.run_us(100), Catch::Contains("a store to 0x10010000000 was answered") &&
                                             Catch::Contains("gone on to pc 0x8000"));
}

TEST_CASE("no more transactions are in flight than allowed") {
  CpSpec spec = CpMachine::quiet();
  spec.max_outstanding = 1;
  CpMachine machine(spec);
  machine.load(guest("cache"));
  machine.expect_pass();
  CHECK(machine.memory.in_flight_high == 1);
}
