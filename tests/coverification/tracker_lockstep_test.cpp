// SPDX-License-Identifier: Apache-2.0
// Question: do the Tracker's RTL and its reference model agree clock by clock, and does every tile
// trigger exactly once, at its threshold, with its smallest address, whatever is spilled? State
// space: table occupancy x spilled entries x outstanding transactions x back-pressure; parameters:
// ways 1..8, memory latency short and long, responses in any order. The scoreboard is a std::map of
// counts; thresholds and classes are computed here from the tile's row and column (rules of
// rtl/tracker/README.md), the table's size from T3 4.2.1 (256 x 8 slots).
#include <catch2/catch.hpp>

#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "models/common/error.h"
#include "platform/adapters/rtl_blocks.h"
#include "sw/include/regs/tracker_regs.h"
#include "tests/support/block_waves.h"
#include "tests/support/coverage_bins.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

struct Shape {
  unsigned tiles_m = 1;
  unsigned tiles_n = 1;
  unsigned width = 0;                         // log2 of the tile rows of a strip.
  unsigned threshold[4] = {100, 60, 50, 30};  // interior, right, bottom, corner
  unsigned empty_from_wf[4] = {8, 8, 8,
                               8};  // Wavefronts from here on have no part in a tile of the class.
  unsigned untracked_first = 0;
  unsigned untracked_count = 0;

  unsigned total() const { return tiles_m * tiles_n; }
  unsigned column(unsigned wg) const { return (wg >> width) % tiles_n; }
  unsigned row(unsigned wg) const {
    return wg / (tiles_n << width) * (1u << width) + wg % (1u << width);
  }
  unsigned tile_class(unsigned wg) const {
    return (row(wg) == tiles_m - 1) * 2 + (column(wg) == tiles_n - 1);
  }
  unsigned threshold_of(unsigned wg, unsigned wf) const {
    return wf < empty_from_wf[tile_class(wg)] ? threshold[tile_class(wg)] : 0;
  }
  bool tracked(unsigned wg, unsigned wf) const {
    return (wg + total() - untracked_first) % total() >= untracked_count &&
           threshold_of(wg, wf) != 0;
  }
};

// The Tracker with its memory, its DMA engine and a scoreboard.
class Bench {
 public:
  explicit Bench(Impl impl = Impl::lockstep)
      : tracker_(make_tracker(impl, "test.tracker", test::wave_probe("tracker"))) {}

  // Knobs.
  unsigned latency_min = 1, latency_max = 20;     // Of a spill transaction, clocks.
  unsigned trigger_stall = 0, request_stall = 0;  // Chance of not ready, in 16ths.
  TrackerInputs in;
  TrackerOutputs out;
  TrackerInputs stepped;  // The inputs of the last step.

  void step() {
    in.cycle = cycle_++;
    in.trigger_ready = !rng_.chance(trigger_stall, 16);
    in.spill_req_ready = !rng_.chance(request_stall, 16);
    in.spill_rsp_valid = false;
    for (auto it = outstanding_.begin(); it != outstanding_.end(); ++it) {
      if (it->due > cycle_) continue;
      in.spill_rsp_valid = true;
      in.spill_rsp_index = it->index;
      in.spill_rsp_write = it->write;
      in.spill_rsp_data = 0;
      if (!it->write)
        in.spill_rsp_data = memory_[it->index];
      else
        memory_[it->index] = it->data;
      outstanding_.erase(it);
      break;
    }
    // What the outputs offered before this edge is taken by it.
    if (out.trigger_valid && in.trigger_ready) {
      triggers.emplace_back(out.trigger_wg_id, out.trigger_wf_id, out.trigger_address);
      events += out.trigger_event;
    }
    if (out.spill_req_valid && in.spill_req_ready) {
      for (const Transaction& t : outstanding_) {
        if (t.index == out.spill_req_index)
          throw CheckError("two transactions of one index are outstanding");
      }
      const uint64_t due = cycle_ + rng_.between(latency_min, latency_max);
      const Transaction t{due, out.spill_req_index, out.spill_req_write, out.spill_req_data};
      // Responses come in any order.
      outstanding_.insert(
          outstanding_.begin() + static_cast<long>(rng_.below(outstanding_.size() + 1)), t);
    }
    for (unsigned b = 0; b < kTrackerBanks; ++b)
      taken[b] = in.update[b].valid && out.update_ready[b];
    stepped = in;
    out = tracker_->step(in);
    tracker_->snapshot();  // Lockstep compares the state inside, too.
    in.reg = {};
    for (unsigned b = 0; b < kTrackerBanks; ++b) {
      if (taken[b]) in.update[b] = {};
    }
  }
  void write(uint16_t address, uint64_t data) {
    in.reg = {true, false, address, data};
    step();
  }
  uint64_t read(uint16_t address) {
    in.reg = {false, true, address, 0};
    step();
    step();
    return out.reg_rdata;
  }
  void program(const Shape& s, unsigned ways) {
    write(TRACKER_TILES_OFFSET, s.total() | uint64_t{s.total() - (s.tiles_n << s.width)} << 32);
    write(TRACKER_STRIPS_OFFSET, s.tiles_n | uint64_t{s.width} << 16 |
                                     uint64_t{((1u << 24) + s.tiles_n - 1) / s.tiles_n} << 32);
    write(TRACKER_UNTRACKED_OFFSET, s.untracked_first | uint64_t{s.untracked_count} << 32);
    for (unsigned c = 0; c < 4; ++c) {
      for (unsigned half = 0; half < 2; ++half) {
        uint64_t data = 0;
        for (unsigned i = 0; i < 4; ++i) {
          data |= uint64_t{half * 4 + i < s.empty_from_wf[c] ? s.threshold[c] : 0} << 16 * i;
        }
        write(static_cast<uint16_t>(TRACKER_THRESHOLD_OFFSET_AT(c * 2 + half)), data);
      }
    }
    write(TRACKER_CONTROL_OFFSET, ways << 4 | 1);
  }
  void update(unsigned wg, unsigned wf, unsigned count, uint64_t address) {
    TrackerUpdate& u = in.update[wg % 4];
    while (u.valid) step();
    u = {true, static_cast<uint16_t>(wg), static_cast<uint8_t>(wf), static_cast<uint16_t>(count),
         address};
  }
  bool quiet() const {
    for (const TrackerUpdate& u : in.update) {
      if (u.valid) return false;
    }
    return out.idle && outstanding_.empty();
  }
  void settle() {
    for (unsigned i = 0; i < 100000 || !quiet(); ++i) {
      step();
      if (quiet()) return;
      if (i > 200000) throw CheckError("the Tracker does not come to rest");
    }
  }
  unsigned valid_entries() const {
    unsigned n = 0;
    for (const auto& [index, data] : memory_) n += data >> 63;
    return n;
  }
  void forget_memory() {
    outstanding_.clear();
    memory_.clear();
  }
  void reset() {
    tracker_->reset();
    forget_memory();
    in = {};
    out = {};
  }
  uint64_t cycle() const { return cycle_; }

  std::vector<std::tuple<unsigned, unsigned, uint64_t>> triggers;
  uint64_t events = 0;  // Of the triggers.
  std::array<bool, kTrackerBanks> taken{};
  size_t outstanding() const { return outstanding_.size(); }

 private:
  struct Transaction {
    uint64_t due;
    uint32_t index;
    bool write;
    uint64_t data;
  };
  std::unique_ptr<Tracker> tracker_;
  uint64_t cycle_ = 0;
  test::Rng rng_{11};
  std::vector<Transaction> outstanding_;
  std::map<uint32_t, uint64_t> memory_;
};

// Presents all updates of `shape`'s tiles in an order that interleaves `window` tiles, and checks
// the triggers. Returns the cycles that it took.
uint64_t run_all_tiles(Bench& bench, const Shape& shape, unsigned window, uint64_t salt,
                       bool stop_early = false) {
  test::Rng rng(salt);
  struct Tile {
    unsigned wg, wf, left;
    uint64_t base;
  };
  std::vector<Tile> pending;
  std::map<std::pair<unsigned, unsigned>, uint64_t> lowest;
  for (unsigned wg = 0; wg < shape.total(); ++wg) {
    for (unsigned wf = 0; wf < 8; ++wf) {
      const unsigned threshold = shape.threshold_of(wg, wf);
      if (threshold != 0) pending.push_back({wg, wf, threshold, rng.next() & 0xffffffffff00});
    }
  }
  const uint64_t begin = bench.cycle();
  bench.triggers.clear();
  std::map<std::pair<unsigned, unsigned>, unsigned> counted;  // Presented so far.
  size_t next = 0;
  size_t checked = 0;
  std::vector<Tile> live;
  uint64_t updates = 0, half_words = 0, ignored = 0;
  while (!live.empty() || next < pending.size()) {
    while (live.size() < window && next < pending.size()) live.push_back(pending[next++]);
    const size_t pick = rng.below(live.size());
    Tile& t = live[pick];
    const unsigned count = static_cast<unsigned>(rng.between(1, std::min(t.left, 40u)));
    const uint64_t address = t.base + rng.below(4096);
    bench.update(t.wg, t.wf, count, address);
    const auto key = std::make_pair(t.wg, t.wf);
    counted[key] += count;
    const auto [it, fresh] = lowest.emplace(key, address);
    if (!fresh) it->second = std::min(it->second, address);
    if (shape.tracked(t.wg, t.wf)) {
      ++updates;
      half_words += count;
    } else {
      ++ignored;
    }
    if (rng.chance(1, 3)) bench.step();
    t.left -= count;
    if (t.left == 0) {
      t = live.back();
      live.pop_back();
    }
    for (; checked < bench.triggers.size(); ++checked) {
      const auto& [wg, wf, trigger_address] = bench.triggers[checked];
      if (counted[{wg, wf}] < shape.threshold_of(wg, wf))
        throw CheckError("triggered before its threshold");
    }
    if (stop_early && counted.size() > pending.size() / 2) return bench.cycle() - begin;
  }
  bench.settle();

  std::map<std::pair<unsigned, unsigned>, uint64_t> expected;
  for (const auto& [key, address] : lowest) {
    if (shape.tracked(key.first, key.second)) expected[key] = address;
  }
  std::map<std::pair<unsigned, unsigned>, uint64_t> seen;
  for (const auto& [wg, wf, address] : bench.triggers) {
    if (!seen.emplace(std::make_pair(wg, wf), address).second)
      throw CheckError("a tile triggered twice");
  }
  REQUIRE((seen == expected));
  REQUIRE(bench.valid_entries() == 0);
  REQUIRE(bench.read(TRACKER_UPDATES_OFFSET) == updates);
  REQUIRE(bench.read(TRACKER_HALF_WORDS_OFFSET) == half_words);
  REQUIRE(bench.read(TRACKER_IGNORED_OFFSET) == ignored);
  REQUIRE(bench.read(TRACKER_TRIGGERS_OFFSET) == expected.size());
  REQUIRE(bench.read(TRACKER_SPILLS_OFFSET) == bench.read(TRACKER_REFILLS_OFFSET));
  REQUIRE(bench.read(TRACKER_STATUS_OFFSET) == 0);
  bench.write(TRACKER_COUNTER_CLEAR_OFFSET, 0);
  return bench.cycle() - begin;
}

TEST_CASE(
    "a tile triggers with the update that reaches its threshold and reports its smallest address",
    "[T3-TRK-04][T3-TRK-09]") {
  Bench b;
  Shape s;
  s.tiles_m = s.tiles_n = 4;
  b.program(s, 8);
  b.update(5, 3, 40, 0x2000);
  b.settle();
  b.update(5, 3, 59, 0x1000);
  b.settle();
  CHECK(b.triggers.empty());
  b.update(5, 3, 1, 0x3000);
  b.settle();
  REQUIRE(b.triggers.size() == 1);
  CHECK(b.triggers[0] == std::make_tuple(5u, 3u, uint64_t{0x1000}));
  CHECK(b.read(TRACKER_MAX_LIVE_OFFSET) == 1);
}

TEST_CASE("the four classes of tile have their own thresholds", "[T3-TRK-06]") {
  Bench b;
  Shape s;
  s.tiles_m = 3;
  s.tiles_n = 5;
  b.program(s, 8);
  for (const unsigned wg : {6u, 9u, 12u, 14u}) {  // interior, right, bottom, corner
    const unsigned threshold = s.threshold_of(wg, 0);
    b.triggers.clear();
    b.update(wg, 0, threshold - 1, 0);
    b.settle();
    CHECK(b.triggers.empty());
    b.update(wg, 0, 1, 0);
    b.settle();
    CHECK(b.triggers.size() == 1);
  }
}

TEST_CASE("in strips the four classes are those of the tile's row and column", "[T3-TRK-06]") {
  for (const unsigned width : {1u, 2u, 3u}) {
    Bench b;
    Shape s;
    s.tiles_m = 16;
    s.tiles_n = 5;
    s.width = width;
    b.program(s, 8);
    unsigned counts[4] = {};
    for (unsigned wg = 0; wg < s.total(); ++wg) {
      const unsigned threshold = s.threshold_of(wg, 0);
      ++counts[s.tile_class(wg)];
      b.triggers.clear();
      b.update(wg, 0, threshold - 1, 0);
      b.settle();
      REQUIRE(b.triggers.empty());
      b.update(wg, 0, 1, 0);
      b.settle();
      REQUIRE(b.triggers.size() == 1);
    }
    CHECK(counts[0] == 15 * 4);
    CHECK(counts[1] == 15);
    CHECK(counts[2] == 4);
    CHECK(counts[3] == 1);
  }
}

TEST_CASE("the column of every tile is found for any number of columns up to 256") {
  Bench b(Impl::model);
  for (const unsigned n : {1u, 2u, 3u, 7u, 34u, 100u, 255u, 256u}) {
    Shape s;
    s.tiles_n = n;
    s.tiles_m = 65536 / n;
    for (unsigned& threshold : s.threshold) threshold = 0;
    s.threshold[1] = 1;  // Only tiles of the right edge trigger.
    b.reset();
    b.program(s, 8);
    b.triggers.clear();
    unsigned expected = 0;
    for (unsigned wg = 0; wg < (s.tiles_m - 1) * n; ++wg) {
      b.update(wg, 0, 1, 0);
      if (wg % 4 == 3) b.step();
      expected += wg % n == n - 1;
    }
    b.settle();
    CHECK(b.triggers.size() == expected);
    for (const auto& [wg, wf, address] : b.triggers) REQUIRE(wg % n == n - 1);
  }
}

TEST_CASE("ids of the untracked chunk, empty wavefronts and ids outside the output are forgotten",
          "[T3-TRK-11]") {
  Bench b;
  Shape s;
  s.tiles_m = 4;
  s.tiles_n = 4;
  s.untracked_first = 14;
  s.untracked_count = 5;  // 14, 15, 0, 1, 2
  for (unsigned& wf : s.empty_from_wf) wf = 4;
  b.program(s, 8);
  for (const unsigned wg : {14u, 15u, 0u, 1u, 2u, 16u, 40000u}) b.update(wg, 0, 200, 0);
  b.update(5, 6, 200, 0);
  b.settle();
  CHECK(b.triggers.empty());
  CHECK(b.read(TRACKER_IGNORED_OFFSET) == 8);
  b.update(13, 0, 50, 0);  // Bottom row.
  b.update(3, 0, 60, 0);   // Right column.
  b.settle();
  CHECK(b.triggers.size() == 2);
}

TEST_CASE("a tile of three work-groups a rank triggers with the last of its four updates",
          "[T3-SPLITK-02]") {
  // The three parts come from three work-groups of the grid, all with the id of the tile they add
  // to; the fourth update comes from the neighbour.
  Bench b;
  Shape s;
  s.tiles_m = s.tiles_n = 4;
  s.threshold[0] = 4 * 100;  // Four updates of a wavefront tile of 100 half-words.
  b.program(s, 8);
  for (const uint64_t base : {0x3000u, 0x2000u, 0x4000u}) {
    for (unsigned row = 0; row < 10; ++row) b.update(5, 2, 10, base + row);
    b.settle();
    CHECK(b.triggers.empty());
  }
  for (unsigned row = 0; row < 10; ++row) b.update(5, 2, 10, 0x2000 + row);
  b.settle();
  REQUIRE(b.triggers.size() == 1);
  CHECK(b.triggers[0] == std::make_tuple(5u, 2u, uint64_t{0x2000}));
}

TEST_CASE("tiles of the event interval raise events, also where it wraps", "[T3-AGC-01]") {
  Bench b;
  Shape s;
  s.tiles_m = s.tiles_n = 4;
  b.program(s, 8);
  const auto complete = [&b, &s](unsigned wg) {
    const uint64_t before = b.events;
    b.update(wg, 0, s.threshold_of(wg, 0), 0);
    b.settle();
    return b.events - before;
  };
  CHECK(complete(5) == 0);                                // The reset value is no interval.
  b.write(TRACKER_EVENT_OFFSET, 14 | uint64_t{4} << 32);  // 14, 15, 0, 1
  CHECK(b.read(TRACKER_EVENT_OFFSET) == (14 | uint64_t{4} << 32));
  for (const unsigned wg : {14u, 15u, 0u, 1u}) CHECK(complete(wg) == 1);
  for (const unsigned wg : {13u, 2u}) CHECK(complete(wg) == 0);
  CHECK(b.triggers.size() == 7);
}

TEST_CASE("updates to different sets are taken at one a clock and a bank") {
  Bench b;
  Shape s;
  s.tiles_m = 16;
  s.tiles_n = 16;
  b.program(s, 8);
  for (unsigned i = 0; i < 256; ++i) {
    for (unsigned bank = 0; bank < 4; ++bank) {
      b.in.update[bank] = {true, static_cast<uint16_t>(i * 4 % 256 + bank),
                           static_cast<uint8_t>(i / 64), 1, 0};
    }
    b.step();
    for (const bool taken : b.taken) REQUIRE(taken);
  }
}

TEST_CASE("eight wavefronts fit in a set, a ninth spills the oldest, which is found",
          "[T3-TRK-02][T3-TRK-03]") {
  Bench b;
  Shape s;
  s.tiles_m = 256;
  s.tiles_n = 16;
  s.untracked_count = 0;
  b.program(s, 8);
  for (unsigned wf = 0; wf < 8; ++wf) b.update(16, wf, 10, 0x1000 + wf);
  b.settle();
  CHECK(b.read(TRACKER_SPILLS_OFFSET) == 0);
  b.update(16 + 256, 0, 10, 0x9000);
  b.settle();
  CHECK(b.read(TRACKER_SPILLS_OFFSET) == 1);
  CHECK(b.valid_entries() == 1);
  CHECK(b.triggers.empty());
  b.update(16, 0, 90, 0x5000);  // The oldest was wavefront 0.
  b.settle();
  REQUIRE(b.triggers.size() == 1);
  CHECK(b.triggers[0] == std::make_tuple(16u, 0u, uint64_t{0x1000}));
  CHECK(b.read(TRACKER_REFILLS_OFFSET) == 1);
  CHECK(b.valid_entries() == 1);  // Wavefront 1 made room for it.
}

// T3 4.2.1: 19 KB for the 256 work-groups of a stage, 8 wavefronts each. With one slot or one bit
// less in any field a tile is spilled, or its trigger is another: the largest ids, counts and
// addresses.
TEST_CASE("19 KB hold all tiles of a stage of 256 work-groups, and not one more", "[T3-TRK-05]") {
  Bench b;
  Shape s;
  s.tiles_m = 512;
  s.tiles_n = 128;
  for (unsigned& threshold : s.threshold) threshold = 0x8000;
  b.program(s, 8);
  constexpr unsigned kGroups = 256, kWavefronts = 8, kLast = 0xff00;  // Ids 0xff00..0xffff.
  constexpr uint64_t kTop = 0xffff'ffff'f000;
  const auto tile = [&](unsigned wg, unsigned wf) { return kTop | wg % 256 * 8 | wf; };
  const auto for_each = [&](auto act) {
    for (unsigned wg = kLast; wg < kLast + kGroups; ++wg) {
      for (unsigned wf = 0; wf < kWavefronts; ++wf) act(wg, wf);
    }
  };
  for (unsigned part = 0; part < 7; ++part)
    for_each([&](unsigned wg, unsigned wf) { b.update(wg, wf, 4096, tile(wg, wf)); });
  for_each([&](unsigned wg, unsigned wf) { b.update(wg, wf, 4095, tile(wg, wf)); });
  b.settle();
  CHECK(b.read(TRACKER_SPILLS_OFFSET) == 0);
  CHECK(b.triggers.empty());
  // Valid, wg_id[15:8] (the set has the rest), wf_id, counter, address: the widths that it took.
  constexpr unsigned kSlotBits = 1 + 8 + 3 + 16 + 48;
  CHECK(kGroups * kWavefronts * kSlotBits == 19 * 1024 * 8);
  CHECK(b.read(TRACKER_MAX_LIVE_OFFSET) == kGroups * kWavefronts);
  b.update(0, 0, 1, 0);
  b.settle();
  CHECK(b.read(TRACKER_SPILLS_OFFSET) == 1);
  for_each([&](unsigned wg, unsigned wf) { b.update(wg, wf, 1, tile(wg, wf)); });
  b.settle();
  std::set<std::tuple<unsigned, unsigned, uint64_t>> expected;
  for_each([&](unsigned wg, unsigned wf) { expected.emplace(wg, wf, tile(wg, wf)); });
  CHECK((std::set(b.triggers.begin(), b.triggers.end()) == expected));
  CHECK(b.triggers.size() == expected.size());
}

TEST_CASE("every tile triggers exactly once with 8 ways and no spill") {
  Bench b;
  Shape s;
  s.tiles_m = 9;
  s.tiles_n = 7;
  b.program(s, 8);
  run_all_tiles(b, s, 60, 21);
}

void spill_run(unsigned ways, unsigned latency_min, unsigned latency_max, unsigned stall) {
  Bench b;
  b.latency_min = latency_min;
  b.latency_max = latency_max;
  b.trigger_stall = b.request_stall = stall;
  Shape s;
  s.tiles_m = 64;
  s.tiles_n = 17;
  s.untracked_first = 1000;
  s.untracked_count = 136;
  s.empty_from_wf[1] = 5;
  s.empty_from_wf[3] = 2;
  b.program(s, ways);
  // All tiles are live at once: 34 slots wanted in a set, up to 8 there.
  run_all_tiles(b, s, 5 * 256 * 8, 22 + ways);
}

TEST_CASE("every tile triggers exactly once with 8 ways and short memory latency") {
  spill_run(8, 1, 20, 0);
}
TEST_CASE("every tile triggers exactly once with 8 ways and long memory latency") {
  spill_run(8, 100, 600, 4);
}
TEST_CASE("every tile triggers exactly once with 1 way and short memory latency") {
  spill_run(1, 1, 20, 0);
}
TEST_CASE("every tile triggers exactly once with 1 way and long memory latency") {
  spill_run(1, 100, 600, 4);
}
TEST_CASE("every tile triggers exactly once with 2 ways and much back-pressure") {
  spill_run(2, 1, 200, 14);
}

TEST_CASE("a second kernel finds a clean table") {
  Bench b;
  Shape s;
  s.tiles_m = 40;
  s.tiles_n = 8;
  b.program(s, 2);
  run_all_tiles(b, s, 2000, 31);
  run_all_tiles(b, s, 2000, 32);
}

TEST_CASE("reset in mid-flight leaves nothing behind") {
  Bench b;
  Shape s;
  s.tiles_m = 40;
  s.tiles_n = 8;
  b.program(s, 1);
  run_all_tiles(b, s, 2000, 41, true);
  b.reset();
  b.step();
  CHECK(b.out.idle);
  CHECK(b.read(TRACKER_STATUS_OFFSET) == 0);
  CHECK(b.read(TRACKER_CONTROL_OFFSET) == TRACKER_CONTROL_RESET);
  CHECK(b.read(TRACKER_UPDATES_OFFSET) == 0);
  b.program(s, 1);
  run_all_tiles(b, s, 2000, 42);
}

TEST_CASE("Tracker RTL and model agree under random traffic, resets and register accesses") {
  Bench b;
  test::Rng rng(51);
  Shape s;
  s.tiles_m = 100;
  s.tiles_n = 23;
  test::CoverageBins bins("tracker");
  uint64_t& triggered = bins.bin("T1: a trigger is taken");
  uint64_t& stalled = bins.bin("T1: a trigger waits for trigger_ready");
  uint64_t& older = bins.bin("T2: a trigger carries another address than its last update");
  uint64_t& four = bins.bin("T3: four banks take an update in one clock");
  uint64_t& spilled = bins.bin("T4: a slot is written to memory");
  uint64_t& read = bins.bin("T4: an entry is read");
  uint64_t& written_back = bins.bin("T4: an entry is written back invalid");
  uint64_t& beside = bins.bin("T5: an entry arrives valid while an update is taken by its bank");
  uint64_t& many = bins.bin("T6: twenty transactions are outstanding");
  uint64_t& refused = bins.bin("T7: an idle bank refuses an update until memory answers");
  uint64_t& sleeps = bins.bin("T8: idle while memory owes answers");
  uint64_t& wakes = bins.bin("T8: an answer wakes an idle Tracker");
  uint64_t& outside = bins.bin("T9: an update of an id outside the output is taken");
  uint64_t& untracked = bins.bin("T9: an update of the untracked interval is taken");
  uint64_t& empty_wavefront = bins.bin("T9: an update with threshold 0 is taken");
  uint64_t& disabled = bins.bin("T9: an update is taken while disabled");
  uint64_t& event = bins.bin("T10: a trigger is an event");
  uint64_t& event_wrapped = bins.bin("T10: an event past the wrap of its interval");
  uint64_t& no_event = bins.bin("T10: a trigger is none beside an interval of events");
  uint64_t& reset = bins.bin("T8: a reset while transactions are outstanding");
  uint64_t& clear = bins.bin("T4: a clear while tiles are live in slots and in memory");
  std::map<std::pair<unsigned, unsigned>, uint64_t> last_address;
  unsigned load = 8;
  uint64_t event_first = 0, event_count = 0;
  bool enabled = false;
  // Few sets and many tags, so that they spill; some beyond the output.
  unsigned tags = 12, first_tag = 0, first_set = 0;
  for (uint64_t i = 0; i < test::coverification_cycles(); ++i) {
    if (rng.chance(1, 4000)) {
      reset += b.outstanding() != 0;
      b.reset();
      enabled = false;
      event_first = event_count = 0;
    }
    if (rng.chance(1, 1000)) {
      load = static_cast<unsigned>(rng.below(17));
      b.latency_max =
          static_cast<unsigned>(rng.chance(1, 2) ? rng.between(1, 20) : rng.between(20, 500));
      b.trigger_stall = static_cast<unsigned>(rng.below(16));
      b.request_stall = static_cast<unsigned>(rng.below(16));
      // Now and then an output as large as they come, and counts that last.
      const auto [m, n] = rng.chance(2, 3)   ? std::pair(100u, 23u)
                          : rng.chance(1, 2) ? std::pair(256u, 256u)
                                             : std::pair(65536u, 1u);
      s.tiles_m = m;
      s.tiles_n = n;
      s.width = static_cast<unsigned>(rng.below(m % 8 == 0 ? 4 : 3));
      tags = s.total() / 256 + 3;
      first_tag = tags > 15 ? static_cast<unsigned>(rng.below(tags)) : 0;
      tags = std::min(tags, 12u);
      first_set = static_cast<unsigned>(rng.below(64)) * 4;
      const uint64_t most = rng.chance(2, 3) ? 400 : 1 + rng.below(32768);
      for (unsigned& threshold : s.threshold) threshold = static_cast<unsigned>(rng.below(most));
      s.empty_from_wf[0] = static_cast<unsigned>(rng.between(6, 8));
      s.untracked_first = static_cast<unsigned>(rng.below(s.total()));
      s.untracked_count = static_cast<unsigned>(rng.below(300));
      event_first = rng.chance(1, 2) ? rng.below(s.total()) : s.total() - 1 - rng.below(300);
      event_count = rng.chance(2, 3) ? rng.below(1200) : rng.below(s.total() + 1);
      b.program(s, static_cast<unsigned>(rng.below(10)));
      enabled = !rng.chance(1, 16);
      if (!enabled) b.write(TRACKER_CONTROL_OFFSET, 0);
      b.write(TRACKER_EVENT_OFFSET, event_first | event_count << 32);
    }
    for (TrackerUpdate& u : b.in.update) {
      if (u.valid || !rng.chance(load, 16)) continue;
      const auto bank = static_cast<unsigned>(&u - b.in.update.data());
      const unsigned tag = (first_tag + static_cast<unsigned>(rng.below(tags))) % 256;
      const unsigned wg =
          tag * 256 + (first_set + static_cast<unsigned>(rng.below(6)) * 4) % 256 + bank;
      u = {true, static_cast<uint16_t>(wg), static_cast<uint8_t>(rng.below(8)),
           static_cast<uint16_t>(rng.chance(1, 50) ? rng.between(1, 4096) : rng.between(1, 64)),
           rng.next() >> 16};
    }
    if (rng.chance(1, 50)) {
      const auto address =
          static_cast<uint16_t>(rng.chance(3, 4) ? rng.below(26) * 8 : rng.below(1 << 13) * 8);
      if (address != TRACKER_CLEAR_OFFSET) b.in.reg = {false, true, address, 0};
      if (address == TRACKER_COUNTER_CLEAR_OFFSET) b.in.reg = {true, false, address, 0};
    }
    // As firmware does it: nothing is on its way, tiles are in slots and in memory.
    if (rng.chance(1, 5000)) {
      b.in.reg = {};
      b.settle();
      clear += b.read(TRACKER_STATUS_OFFSET) >> 32 != 0 && b.valid_entries() != 0;
      b.write(TRACKER_CLEAR_OFFSET, 0);
      b.step();
      b.forget_memory();
    }

    const TrackerOutputs before = b.out;
    const std::array<TrackerUpdate, kTrackerBanks> presented = b.in.update;
    b.step();
    const TrackerInputs& in = b.stepped;
    unsigned takes = 0;
    for (unsigned bank = 0; bank < kTrackerBanks; ++bank) {
      const TrackerUpdate& u = presented[bank];
      refused += u.valid && !before.update_ready[bank] && before.idle;
      if (!b.taken[bank]) continue;
      ++takes;
      last_address[{u.wg_id, u.wf_id}] = u.address;
      outside += u.wg_id >= s.total();
      disabled += !enabled;
      if (enabled && u.wg_id < s.total()) {
        const unsigned offset = (u.wg_id + s.total() - s.untracked_first) % s.total();
        untracked += offset < s.untracked_count;
        empty_wavefront += s.threshold_of(u.wg_id, u.wf_id) == 0;
      }
      beside += in.spill_rsp_valid && !in.spill_rsp_write && in.spill_rsp_data >> 63 != 0 &&
                (in.spill_rsp_index >> 3 & 3) == bank;
    }
    four += takes == kTrackerBanks;
    if (before.trigger_valid && in.trigger_ready) {
      ++triggered;
      older += last_address[{before.trigger_wg_id, before.trigger_wf_id}] != before.trigger_address;
      event += before.trigger_event;
      event_wrapped += before.trigger_event && before.trigger_wg_id < event_first;
      no_event += !before.trigger_event && event_count != 0;
    }
    stalled += before.trigger_valid && !in.trigger_ready;
    if (before.spill_req_valid && in.spill_req_ready) {
      spilled += before.spill_req_write && before.spill_req_data >> 63 != 0;
      written_back += before.spill_req_write && before.spill_req_data == 0;
      read += !before.spill_req_write;
    }
    many += b.outstanding() >= 20;
    sleeps += before.idle && b.outstanding() != 0;
    wakes += before.idle && in.spill_rsp_valid && !b.out.idle;
  }
  bins.report();
  CHECK(bins.empty() == "");
  CHECK(bins.rules_without_bin(STRETTO_SOURCE_DIR "/rtl/tracker/README.md") == "");
}

// Flips one output in one clock.
class CorruptTracker final : public Tracker {
 public:
  explicit CorruptTracker(std::unique_ptr<Tracker> inner) : inner_(std::move(inner)) {}
  void reset() override { inner_->reset(); }
  TrackerOutputs step(const TrackerInputs& in) override {
    TrackerOutputs out = inner_->step(in);
    if (in.cycle == 3) out.trigger_wg_id ^= 1;
    return out;
  }

 private:
  std::unique_ptr<Tracker> inner_;
};

TEST_CASE("Tracker lockstep stops at a corrupted output") {
  const auto tracker = make_lockstep(
      make_tracker(Impl::rtl, ""), std::make_unique<CorruptTracker>(make_tracker(Impl::model, "")),
      "gpu1.tracker");
  TrackerInputs in;
  for (in.cycle = 0; in.cycle < 3; ++in.cycle) tracker->step(in);
  CHECK_THROWS_WITH(tracker->step(in),
                    Catch::Contains("lockstep: tracker gpu1.tracker, cycle 3: trigger_wg_id: "
                                    "rtl 0x0, model 0x1"));
}

}  // namespace
}  // namespace stretto
