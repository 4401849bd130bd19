// SPDX-License-Identifier: Apache-2.0
// Question: does a channel meet the closed forms on which three DRAM simulators agree (FACTS), to
// the cycle?
//
// State space: idle and saturated channel x row hit, conflict, bank cycling, bank groups.
// Parameters: both timing sets. Expected numbers are written here from the data sheet sets, not
// read from timing_table.cpp. No refresh, except where it is the question. `front` is the constant
// way of an atom to the DRAM queue: it is seen by the edge after its arrival, granted by the MCA
// one edge later, issued one edge later.
#include <catch2/catch.hpp>

#include "sw/include/regs/mca_regs.h"
#include "tests/unit/hbm/hbm_fixture.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr uint64_t kFront = 3;

HbmSpec one_channel(const std::string& timing) {
  HbmSpec spec;
  spec.channels = 1;
  spec.timing = timing;
  spec.refresh = Refresh::none;
  return spec;
}

// Mean distance of the column commands in the middle half of the log, times 100.
uint64_t spacing_x100(const CommandLog& log) {
  std::vector<uint64_t> cycles;
  for (const CommandLog::Entry& entry : log.all) {
    if (entry.command != DramCommand::activate && entry.command != DramCommand::precharge)
      cycles.push_back(entry.cycle);
  }
  const size_t quarter = cycles.size() / 4;
  return (cycles[3 * quarter] - cycles[quarter]) * 100 / (2 * quarter);
}

// Reads `count` atoms that cycle through `banks`; `new_rows`: a new row at each round.
void read_round_robin(HbmFixture& bench, const std::vector<unsigned>& banks, bool new_rows,
                      unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const uint32_t row = new_rows ? i / static_cast<uint32_t>(banks.size()) : 0;
    const uint64_t address = bench.hbm->mapping().address_of(0, banks[i % banks.size()], row);
    bench.read(address, 64, 10 * kCycle);
  }
  bench.run();
}

std::vector<unsigned> all_banks() {
  std::vector<unsigned> banks;
  for (unsigned i = 0; i < 16; ++i) banks.push_back(i % 4 * 4 + i / 4);
  return banks;
}

void check_idle_row_hit(const std::string& timing, uint64_t expected) {
  HbmFixture bench(one_channel(timing));
  const uint64_t address = bench.hbm->mapping().address_of(0, 0, 5);
  bench.read(address, 64, 0);
  const size_t hit = bench.read(address + 64, 64, 1000 * kCycle);
  bench.run();
  CHECK(bench.done_cycle(hit) == 1000 + kFront + expected);
  CHECK(bench.violations().empty());
}

void check_idle_row_conflict(const std::string& timing, uint64_t expected) {
  HbmFixture bench(one_channel(timing));
  bench.read(bench.hbm->mapping().address_of(0, 0, 5), 64, 0);
  const size_t conflict = bench.read(bench.hbm->mapping().address_of(0, 0, 6), 64, 1000 * kCycle);
  bench.run();
  CHECK(bench.done_cycle(conflict) == 1000 + kFront + expected);
}

}  // namespace

TEST_CASE("an idle row hit takes RL + BL/2 in the HBM2 set") {
  check_idle_row_hit("hbm2_generic", 14 + 2);
}
TEST_CASE("an idle row hit takes CL and the two bursts of an atom in the t3 set") {
  check_idle_row_hit("t3", 14 + 2);
}
TEST_CASE("an idle row conflict takes RP + RCD + RL + BL/2 in the HBM2 set") {
  check_idle_row_conflict("hbm2_generic", 14 + 14 + 14 + 2);
}
TEST_CASE("an idle row conflict takes RP + RCD + CL and the two bursts in the t3 set") {
  check_idle_row_conflict("t3", 14 + 14 + 14 + 2);
}

TEST_CASE("one bank with a new row each takes tRC a request in the HBM2 set") {
  HbmFixture bench(one_channel("hbm2_generic"));
  read_round_robin(bench, {0}, true, 40);
  CHECK(spacing_x100(bench.log) == 4800);
}
TEST_CASE("one bank with a new row each takes tRC a request in the t3 set") {
  HbmFixture bench(one_channel("t3"));
  read_round_robin(bench, {0}, true, 40);
  CHECK(spacing_x100(bench.log) == 4700);
}
TEST_CASE(
    "sixteen banks round robin on new rows take max(tRRD_S, tFAW/4) a request in the HBM2 set") {
  HbmFixture bench(one_channel("hbm2_generic"));
  read_round_robin(bench, all_banks(), true, 640);
  CHECK(spacing_x100(bench.log) == 400);
}
TEST_CASE("sixteen banks round robin on new rows take tRRD a request in the t3 set") {
  HbmFixture bench(one_channel("t3"));
  read_round_robin(bench, all_banks(), true, 640);
  CHECK(spacing_x100(bench.log) == 400);
}
TEST_CASE("two bank groups on open rows take tCCD_S a request in the HBM2 set") {
  HbmFixture bench(one_channel("hbm2_generic"));
  read_round_robin(bench, {0, 4}, false, 200);
  CHECK(spacing_x100(bench.log) == 200);
}
TEST_CASE("two bank groups on open rows take two tCCD a 64 B atom in the t3 set") {
  HbmFixture bench(one_channel("t3"));
  read_round_robin(bench, {0, 4}, false, 200);
  CHECK(spacing_x100(bench.log) == 200);
}
TEST_CASE("one bank on an open row takes tCCD_L a request in the HBM2 set") {
  HbmFixture bench(one_channel("hbm2_generic"));
  read_round_robin(bench, {0}, false, 200);
  CHECK(spacing_x100(bench.log) == 400);
}
TEST_CASE("one bank on an open row takes two tCCDL a 64 B atom in the t3 set") {
  HbmFixture bench(one_channel("t3"));
  read_round_robin(bench, {0}, false, 200);
  CHECK(spacing_x100(bench.log) == 400);
}

TEST_CASE("op-and-store doubles the column spacing in its own bank group", "[T3-NMC-05]") {
  HbmFixture bench(one_channel("t3"));
  for (unsigned i = 0; i < 32; ++i) {
    bench.update(bench.hbm->mapping().address_of(0, 0, 0) + 64 * (i % 4), std::vector<uint8_t>(64),
                 10 * kCycle);
  }
  bench.run();
  CHECK(spacing_x100(bench.log) == 800);  // CCDWL 4 = 2 x CCDL (T3 Table 1), two columns an atom.
  CHECK(bench.violations().empty());
}
TEST_CASE("op-and-stores over four bank groups keep the channel's full rate", "[T3-NMC-05]") {
  HbmFixture bench(one_channel("t3"));
  for (unsigned i = 0; i < 128; ++i) {
    const uint64_t block = bench.hbm->mapping().address_of(0, i % 4 * 4, 0, i / 4 % 8);
    bench.update(block + i / 32 * 64, std::vector<uint8_t>(64), 10 * kCycle);
  }
  bench.run();
  CHECK(spacing_x100(bench.log) == 200);
}

TEST_CASE("an atomic unit reads, waits for the data and its adder, and writes", "[T3-NMC-07]") {
  HbmSpec spec = one_channel("t3");
  spec.updates = Updates::controller;
  spec.atomic_cycles = 9;
  HbmFixture bench(spec);
  const uint64_t address = bench.hbm->mapping().address_of(0, 0, 5);
  bench.read(address + 64, 64, 0);
  const size_t update = bench.update(address, std::vector<uint8_t>(64), 1000 * kCycle);
  const size_t behind = bench.read(address, 64, 1001 * kCycle);  // Waits for the sum.
  bench.run();
  const std::vector<uint64_t> reads = bench.log.cycles_of(DramCommand::read);
  const std::vector<uint64_t> writes = bench.log.cycles_of(DramCommand::write);
  REQUIRE(reads.size() == 3);
  REQUIRE(writes.size() == 1);
  CHECK(reads[1] == 1000 + kFront);
  CHECK(writes[0] == reads[1] + 14 + 2 + 9);  // CL, two bursts, adder.
  CHECK(bench.log.cycles_of(DramCommand::update).empty());
  CHECK(bench.done_cycle(update) > writes[0]);
  CHECK(reads[2] > writes[0]);
  CHECK(bench.done_cycle(behind) > bench.done_cycle(update));
  CHECK(bench.violations().empty());
}

TEST_CASE("updates by atomic units take a read and a write each, half the rate at most",
          "[T3-NMC-07]") {
  HbmSpec spec = one_channel("t3");
  spec.updates = Updates::controller;
  HbmFixture bench(spec);
  for (uint64_t i = 0; i < 4096; ++i) bench.update(i * 64, std::vector<uint8_t>(64), 10 * kCycle);
  bench.run();
  // Data bus: two atoms of two cycles an update. Turning the bus costs some; at least half is left.
  CHECK(bench.log.all.back().cycle > 4096 * 4);
  CHECK(bench.log.all.back().cycle < 4096 * 8);
  CHECK(bench.statistic("channel0.busy_cycles") == 4096 * 4);
  CHECK(bench.statistic("updates_read") == 4096);
  CHECK(bench.statistic("updates_applied") == 4096);
  CHECK(bench.statistic("read_atoms.other") == 4096);
  CHECK(bench.statistic("write_atoms.other") == 4096);
  CHECK(bench.violations().empty());
}

namespace {

void check_stream(const std::string& timing, Operation operation) {
  HbmSpec spec = one_channel(timing);
  spec.refresh = Refresh::all_bank;
  HbmFixture bench(spec);
  // 2 MiB back to back: 16384 requests of 128 B, all waiting from the start.
  for (uint64_t i = 0; i < 16384; ++i) {
    bench.send(operation, i * 128, std::vector<uint8_t>(128), 10 * kCycle);
  }
  bench.run();
  const uint64_t cycles = bench.log.all.back().cycle;
  const double available = double(cycles) * (3900 - 350) / 3900;
  const double used = 32768 * 2.0;  // 64 B take two data bus cycles.
  INFO("efficiency " << used / available);
  CHECK(used / available >= 0.95);
  CHECK(bench.statistic("channel0.busy_cycles") == 65536);
  CHECK(bench.violations().empty());
}

}  // namespace

TEST_CASE("sequential reads use at least 95 % of what refresh leaves in the t3 set") {
  check_stream("t3", Operation::read);
}
TEST_CASE("sequential reads use at least 95 % of what refresh leaves in the HBM2 set") {
  check_stream("hbm2_generic", Operation::read);
}
TEST_CASE("sequential writes use at least 95 % of what refresh leaves in the t3 set") {
  check_stream("t3", Operation::write);
}
TEST_CASE("sequential updates use at least 95 % of what refresh leaves in the t3 set") {
  check_stream("t3", Operation::update);
}

TEST_CASE("an idle channel refreshes every tREFI and a late request finds its rows closed") {
  HbmSpec spec = one_channel("t3");
  spec.refresh = Refresh::all_bank;
  HbmFixture bench(spec);
  bench.read(0, 64, 10 * kCycle);
  const size_t late = bench.read(0, 64, 1'000'050 * kCycle);
  bench.run();
  // Due at 3900, 7800 ...: 1,000,050 lies 1,650 past the 256th.
  CHECK(bench.log.cycles_of(DramCommand::refresh).size() == 256);
  CHECK(bench.done_cycle(late) == 1'000'050 + kFront - 1 + 1 + 14 + 14 + 2);
}

TEST_CASE("banks refresh in turn, each every tREFI, and a stream hardly notices") {
  HbmSpec spec = one_channel("hbm2_generic");
  spec.refresh = Refresh::single_bank;
  HbmFixture bench(spec);
  for (uint64_t i = 0; i < 16384; ++i)
    bench.send(Operation::read, i * 128, std::vector<uint8_t>(128), 10 * kCycle);
  bench.run();
  const uint64_t cycles = bench.log.all.back().cycle;
  const std::vector<uint64_t> refreshes = bench.log.cycles_of(DramCommand::refresh_bank);
  // 3900 / 16 rounded down: 243. tRAS, tRP and a column access may hold up one.
  CHECK(refreshes.size() == Approx(double(cycles) / 243).margin(2));
  for (size_t i = 1; i < refreshes.size(); ++i)
    CHECK(std::abs(double(refreshes[i] - refreshes[i - 1]) - 243) < 100);
  CHECK(bench.log.cycles_of(DramCommand::refresh).empty());
  // All-bank refresh leaves 3550 of 3900.
  CHECK(32768 * 2.0 / double(cycles) > 0.97);
  CHECK(bench.violations().empty());
}

TEST_CASE("a link hears of a write when its last atom is admitted, before the data are written") {
  struct Admissions final : AdmissionSink {
    explicit Admissions(HbmFixture& fixture) : bench(fixture) {}
    void on_admitted(uint64_t cookie) override {
      seen.emplace_back(cookie, bench.hbm->clock().cycle_at(bench.queue.now()));
    }
    HbmFixture& bench;
    std::vector<std::pair<uint64_t, uint64_t>> seen;
  };
  HbmFixture bench(one_channel("t3"));
  Admissions admissions(bench);
  bench.hbm->set_admissions(0, admissions);
  // 80 atoms, two a cycle from cycle 1 on, until 64 are in the queue; then as it is emptied.
  const size_t few = bench.write(0, std::vector<uint8_t>(1024), 0, Stream::communication);
  const size_t many = bench.write(8192, std::vector<uint8_t>(4096), 0, Stream::communication);
  bench.send(Operation::write, 65536, std::vector<uint8_t>(64), 0, Stream::communication, {}, 1);
  bench.read(16384, 64, 0, Stream::communication);
  bench.run();
  REQUIRE(admissions.seen.size() == 2);  // Not of the other socket's, not of the read.
  REQUIRE(admissions.seen[0] == std::pair<uint64_t, uint64_t>(few, 8));
  REQUIRE(admissions.seen[1].first == many);
  REQUIRE(admissions.seen[1].second >= 40);
  REQUIRE(admissions.seen[1].second < bench.done_cycle(many));
  REQUIRE(bench.done_cycle(few) > 8);
  REQUIRE(bench.violations().empty());
}

TEST_CASE("the L2 hears of each of its atoms when the arbiter takes it, and of no other") {
  struct Places final : QueueSink {
    explicit Places(HbmFixture& fixture) : bench(fixture) {}
    void on_place_free(uint64_t offset) override {
      seen.emplace_back(offset, bench.hbm->clock().cycle_at(bench.queue.now()));
    }
    HbmFixture& bench;
    std::vector<std::pair<uint64_t, uint64_t>> seen;
  };
  HbmFixture bench(one_channel("t3"));
  Places places(bench);
  bench.hbm->set_queue_sink(&places);
  bench.read(0, 256,
             0);  // Two atoms are pushed at cycle 1, two at 2; from 2 on one is granted each.
  bench.write(8192, std::vector<uint8_t>(64), 0, Stream::communication);
  bench.run();
  REQUIRE(places.seen.size() == 4);
  for (uint64_t i = 0; i < 4; ++i) {
    CHECK(places.seen[i].first == 64 * i);
    CHECK(places.seen[i].second >= 2 + i);
    CHECK(places.seen[i].second <= 2 + i + 1);  // The other stream has a turn.
  }
  REQUIRE(bench.violations().empty());
}

TEST_CASE("queues of 64 units of 32 bytes hold 32 atoms") {
  for (const uint32_t unit : {64u, 32u}) {
    HbmSpec spec = one_channel("t3");
    spec.queue_unit_bytes = unit;
    CHECK(spec.input_queue_depth() == unit);
    CHECK(spec.dram_queue_depth() == unit);
  }
  HbmSpec spec = one_channel("t3");
  spec.queue_unit_bytes = 32;
  HbmFixture bench(spec);
  for (uint64_t block = 0; block < 64; ++block) bench.read(256 * block, 256, 0);
  bench.run();
  CHECK(bench.read_register(true, MCA_DRAM_QUEUE_DEPTH_OFFSET) == 32);
  const ChannelCounters counters = bench.hbm->channel_state(0).counters(bench.hbm->cycle());
  CHECK(counters.dram_high_water == 32);
  CHECK(counters.compute_high_water == 32);
  CHECK(bench.violations().empty());
}
