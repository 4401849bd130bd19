// SPDX-License-Identifier: Apache-2.0
// Question: do tracked accesses, registers, kernel pulses and the spill table work through the
// sockets as software sees them?
//
// The Tracker and the MCA are the reference models; their own rules are tested elsewhere. Here:
// what the memory side adds (T3-TRK): counting when an access is enqueued, joining,
// triggers, spill traffic through the channels.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "sw/include/regs/hbm_regs.h"
#include "sw/include/regs/mca_regs.h"
#include "sw/include/regs/tracker_regs.h"
#include "tests/support/seeded_rng.h"
#include "tests/unit/common/in_child.h"
#include "tests/unit/hbm/hbm_fixture.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr uint64_t kSpillTable = 0x4000'0000;
constexpr uint64_t kFrontEnd = 0x1000;  // Of the front end's registers (hbm.yaml).

// 1024 x 16 tiles of the same size, two updates an element: the threshold in half-words is
//      twice the wavefront tile.
void program_tracker(HbmFixture& bench, unsigned ways, uint64_t threshold) {
  bench.write_register(false, kFrontEnd + SPILL_BASE_OFFSET, kSpillTable);
  bench.write_register(false, kFrontEnd + SPILL_BYTES_OFFSET, 1024 * 64);
  bench.write_register(false, TRACKER_TILES_OFFSET, 1024 | uint64_t{1008} << 32);
  bench.write_register(false, TRACKER_STRIPS_OFFSET, 16 | ((uint64_t{1} << 24) / 16) << 32);
  for (unsigned i = 0; i < 8; ++i) {
    bench.write_register(false, TRACKER_THRESHOLD_OFFSET + 8 * i,
                         threshold * 0x0001'0001'0001'0001);
  }
  bench.write_register(false, TRACKER_CONTROL_OFFSET, 1 | ways << 4);
}

size_t tracked_update(HbmFixture& bench, unsigned wg, unsigned wf, uint64_t address, size_t bytes,
                      Time at, Stream stream) {
  return bench.send(Operation::update, address, std::vector<uint8_t>(bytes), at, stream,
                    [&](PooledPayload& payload) {
                      payload.extension.tracked = true;
                      payload.extension.wg_id = wg;
                      payload.extension.wf_id = static_cast<uint8_t>(wf);
                    });
}

}  // namespace

TEST_CASE(
    "local and incoming updates complete a wavefront tile, which triggers once with its smallest "
    "address",
    "[T3-TRK-01][T3-TRK-10][T3-TRK-12]") {
  HbmFixture bench{HbmSpec{}};
  program_tracker(bench, 8, 2 * 512);
  // A tile of 16 rows of 64 B, 4 KiB apart; the local update first, then the incoming one from the
  // top row up.
  for (unsigned row = 0; row < 16; ++row) {
    tracked_update(bench, 5, 3, 0x10000 + row * 4096, 64, row * 20 * kCycle, Stream::compute);
  }
  bench.run();
  CHECK(bench.triggers.empty());
  for (unsigned row = 16; row-- > 0;) {
    tracked_update(bench, 5, 3, 0x10000 + row * 4096, 64, bench.queue.now(), Stream::communication);
  }
  bench.run();
  REQUIRE(bench.triggers.size() == 1);
  CHECK(bench.triggers[0].wg_id == 5);
  CHECK(bench.triggers[0].wf_id == 3);
  CHECK(bench.triggers[0].address == 0x10000);
  CHECK(bench.statistic("tracker.half_words") == 1024);
  CHECK(bench.read_register(false, TRACKER_TRIGGERS_OFFSET) == 1);
  CHECK(bench.statistic("tracker.max_live") == 1);
  CHECK(bench.statistic("mca.grants_compute") == 16);
  CHECK(bench.statistic("mca.grants_communication") == 16);
  CHECK(bench.violations().empty());
}

TEST_CASE("the Tracker counts FP8 by elements, of rows of an odd number of bytes, too",
          "[T3-2XCU-02]") {
  HbmFixture bench{HbmSpec{}};
  program_tracker(bench, 8, 2 * 4 * 37);
  for (unsigned time = 0; time < 2; ++time) {
    CHECK(bench.triggers.empty());
    for (unsigned row = 0; row < 4; ++row) {
      bench.send(Operation::update, 0x10001 + row * 4099, std::vector<uint8_t>(37),
                 bench.queue.now(), Stream::compute, [](PooledPayload& payload) {
                   payload.extension.element = ElementType::e4m3;
                   payload.extension.tracked = true;
                   payload.extension.wg_id = 5;
                   payload.extension.wf_id = 3;
                 });
    }
    bench.run();
  }
  REQUIRE(bench.triggers.size() == 1);
  CHECK(bench.triggers[0].address == 0x10001);
  CHECK(bench.statistic("tracker.half_words") == 2 * 4 * 37);
  CHECK(bench.violations().empty());
}

TEST_CASE("a complete tile of the event interval schedules instead of triggering the DMA",
          "[T3-AGC-01]") {
  struct Events final : TriggerSink {
    void on_trigger(Time, uint16_t wg_id, uint8_t wf_id, uint64_t address) override {
      all.emplace_back(wg_id, wf_id, address);
    }
    std::vector<std::tuple<unsigned, unsigned, uint64_t>> all;
  };
  HbmFixture bench{HbmSpec{}};
  Events events;
  bench.hbm->set_events(events);
  program_tracker(bench, 8, 32);
  bench.write_register(false, TRACKER_EVENT_OFFSET, 6 | uint64_t{2} << 32);
  for (const unsigned wg : {5u, 6u, 7u, 8u})
    tracked_update(bench, wg, 1, 0x10000 + wg * 4096, 64, 0, Stream::communication);
  bench.run();
  CHECK((events.all ==
         std::vector<std::tuple<unsigned, unsigned, uint64_t>>{{6, 1, 0x16000}, {7, 1, 0x17000}}));
  CHECK(bench.triggers.size() == 2);
  CHECK(bench.hbm->tracker_counters().events == 2);
  CHECK(bench.violations().empty());
}

TEST_CASE("a triggered read sees the update that triggered it", "[T3-TRK-08]") {
  HbmFixture bench{HbmSpec{}};
  program_tracker(bench, 8, 32);
  // The update is counted when it is enqueued; compute reads keep its channel busy long after.
  bench.write_register(true, STRETTO_MCA_BROADCAST * STRETTO_MCA_STRIDE,
                       MCA_CONTROL_POLICY_COMMUNICATION_AWARE);
  std::vector<uint8_t> ones;
  for (unsigned i = 0; i < 32; ++i) ones.insert(ones.end(), {0x00, 0x3C});
  const uint64_t address = 0x10000;
  for (unsigned i = 1; i < 60; ++i) {
    const uint64_t other =
        bench.hbm->mapping().address_of(bench.hbm->mapping().channel_of(address), i % 16, 40 + i);
    bench.read(other, 64, 0);
  }
  const size_t update =
      bench.send(Operation::update, address, ones, 0, Stream::communication,
                 [](PooledPayload& payload) { payload.extension.tracked = true; });
  while (bench.triggers.empty()) bench.run(bench.queue.now() + kCycle);
  CHECK(bench.statistic("mca.grants_communication") == 0);  // It has not left that queue.
  CHECK(bench.requests[update].status == tlm::TLM_INCOMPLETE_RESPONSE);
  const size_t read = bench.read(address, 64, bench.queue.now(), Stream::communication);
  bench.run();
  CHECK(bench.requests[read].data == ones);
  CHECK(bench.requests[read].done > bench.requests[update].done);
}

TEST_CASE("writes parked for a batch do not hold communication back") {
  HbmSpec spec;
  spec.write_policy = WritePolicy::watermark;
  HbmFixture bench(spec);
  const uint64_t all = STRETTO_MCA_BROADCAST * STRETTO_MCA_STRIDE;
  bench.write_register(true, all + MCA_CONTROL_OFFSET, MCA_CONTROL_POLICY_COMMUNICATION_AWARE);
  bench.write_register(true, all + MCA_THRESHOLD_OFFSET, 5);
  bench.hbm->kernel_start(0);
  const auto in_channel = [&](unsigned bank, unsigned row) {
    return bench.hbm->mapping().address_of(3, bank, row);
  };
  // New rows of one bank a little faster than tRC (47): two or three reads are always queued, so
  // that ten writes stay parked.
  for (unsigned i = 0; i < 30; ++i)
    bench.read(in_channel(0, i), 64, (i < 3 ? 0 : i - 2) * 46 * kCycle);
  std::vector<size_t> parked;
  for (unsigned i = 0; i < 10; ++i)
    parked.push_back(bench.write(in_channel(1 + i, 7), std::vector<uint8_t>(64), 30 * kCycle));
  const size_t read = bench.read(in_channel(12, 9), 64, 200 * kCycle, Stream::communication);
  bench.run();
  CHECK(bench.done(parked.front()) > 900 * kCycle);
  CHECK(bench.done(read) < 400 * kCycle);
}

TEST_CASE("successive accesses of one wavefront in a channel are joined into one update") {
  HbmFixture bench{HbmSpec{}};
  program_tracker(bench, 8, 128);
  tracked_update(bench, 1, 0, 0x20000, 256, 0, Stream::compute);  // Four atoms, two an edge.
  bench.run();
  CHECK(bench.statistic("tracker.updates") == 1);
  CHECK(bench.triggers.size() == 1);
}

namespace {

// 512 work-groups in 256 sets of `ways`, eight wavefronts each, in random order and pieces.
void check_all_tiles_trigger(unsigned ways) {
  HbmFixture bench{HbmSpec{}};
  program_tracker(bench, ways, 64);  // A wavefront tile: one atom of 32 half-words, updated twice.
  Rng rng(ways);
  std::vector<std::pair<unsigned, bool>> order;
  for (unsigned tile = 0; tile < 4096; ++tile) {
    order.push_back({tile, false});
    order.push_back({tile, true});
  }
  for (size_t i = order.size(); i-- > 1;) std::swap(order[i], order[rng.below(i + 1)]);
  Time at = 0;
  for (const auto& [tile, incoming] : order) {
    at += rng.below(3) * kCycle;
    tracked_update(bench, tile / 8, tile % 8, 0x100000 + tile * 64, 64, at,
                   incoming ? Stream::communication : Stream::compute);
  }
  bench.run();
  std::set<std::pair<unsigned, unsigned>> tiles;
  for (const Trigger& trigger : bench.triggers) {
    tiles.insert({trigger.wg_id, trigger.wf_id});
    CHECK(trigger.address == 0x100000 + (trigger.wg_id * 8u + trigger.wf_id) * 64);
  }
  CHECK(tiles.size() == 4096);
  CHECK(bench.triggers.size() == 4096);
  CHECK(bench.statistic("tracker.spill_writes") > 0);
  CHECK(bench.statistic("tracker.spill_reads") > 0);
  CHECK(bench.statistic("write_bytes.spill") == 8 * bench.statistic("tracker.spill_writes"));
  CHECK(bench.statistic("read_bytes.spill") == 64 * bench.statistic("tracker.spill_reads"));
  CHECK(bench.hbm->waiting_on().empty());
  CHECK(bench.violations().empty());
}

}  // namespace

TEST_CASE("every tile triggers once with one way, through the spill table in memory") {
  check_all_tiles_trigger(1);
}
TEST_CASE("every tile triggers once with eight ways and twice as many live tiles") {
  check_all_tiles_trigger(8);
}

TEST_CASE("a spilled entry beyond the table that firmware reserved ends the run with its number") {
  HbmFixture bench{HbmSpec{}};
  program_tracker(bench, 1, 64);
  bench.write_register(false, kFrontEnd + SPILL_BYTES_OFFSET, 64);
  tracked_update(bench, 256, 0, 0x100000, 64, 0, Stream::compute);
  bench.run();
  tracked_update(bench, 0, 0, 0x200000, 64, bench.queue.now(), Stream::compute);
  CHECK_THROWS_WITH(bench.run(),
                    Catch::Matchers::Contains("entry 2048 (work-group 256, wavefront 0)"));
}

TEST_CASE("MCA registers are read and written one channel at a time or all at once") {
  HbmFixture bench{HbmSpec{}};
  bench.write_register(true, 3 * STRETTO_MCA_STRIDE + MCA_THRESHOLD_OFFSET, 10);
  CHECK(bench.register_status == tlm::TLM_OK_RESPONSE);
  CHECK(bench.register_delay == kCycle);
  CHECK(bench.read_register(true, 3 * STRETTO_MCA_STRIDE + MCA_THRESHOLD_OFFSET) == 10);
  CHECK(bench.register_delay == 2 * kCycle);
  CHECK(bench.read_register(true, 4 * STRETTO_MCA_STRIDE + MCA_THRESHOLD_OFFSET) == 0);
  bench.write_register(true, STRETTO_MCA_BROADCAST * STRETTO_MCA_STRIDE + MCA_STARVE_LIMIT_OFFSET,
                       77);
  for (unsigned i = 0; i < 32; ++i) {
    CHECK(bench.read_register(true, i * STRETTO_MCA_STRIDE + MCA_STARVE_LIMIT_OFFSET) == 77);
  }
  bench.read_register(true, 32 * STRETTO_MCA_STRIDE);
  CHECK(bench.register_status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  bench.read_register(true, 4);
  CHECK(bench.register_status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  bench.read_register(false, kFrontEnd + 0x800);
  CHECK(bench.register_status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_CASE("the depth of the DRAM queue is wired to the MCAs") {
  HbmSpec spec;
  spec.dram_queue_atoms = 16;
  HbmFixture bench(spec);
  CHECK(bench.read_register(true, MCA_DRAM_QUEUE_DEPTH_OFFSET) == 16);
  for (unsigned i = 0; i < 400; ++i) bench.read(bench.hbm->mapping().address_of(0, 0, i), 64, 0);
  bench.run();
  CHECK(bench.answered() == 400);
  CHECK(bench.statistic("channel0.dram_high_water") == 16);
}

TEST_CASE("the end of a kernel drains communication and raises the interrupt until it is cleared",
          "[T3-MCA-06]") {
  HbmFixture bench{HbmSpec{}};
  bench.write_register(true, STRETTO_MCA_BROADCAST * STRETTO_MCA_STRIDE,
                       MCA_CONTROL_POLICY_COMPUTE_EXCLUSIVE);
  bench.hbm->kernel_start(0);
  bench.hbm->first_wg_done(50 * kCycle);
  const size_t update =
      bench.update(0, std::vector<uint8_t>(8192), 10 * kCycle, Stream::communication);
  bench.run(500 * kCycle);
  CHECK(bench.requests[update].status ==
        tlm::TLM_INCOMPLETE_RESPONSE);  // Compute has the memory to itself.
  bench.hbm->kernel_end(500 * kCycle);
  bench.run(900 * kCycle);
  CHECK(bench.requests[update].status == tlm::TLM_OK_RESPONSE);
  CHECK(bench.lines[STRETTO_IRQ_MCA_DRAIN]);
  CHECK(bench.read_register(false, kFrontEnd + DRAIN_STATUS_OFFSET) == 1);
  bench.write_register(false, kFrontEnd + DRAIN_STATUS_OFFSET, 1);
  CHECK_FALSE(bench.lines[STRETTO_IRQ_MCA_DRAIN]);
}

// What a run that is stopped at that time reports.
TEST_CASE("at any time the MCAs have granted what has been served and what is in the DRAM queues") {
  HbmFixture bench{HbmSpec{}};
  bench.write_register(true, STRETTO_MCA_BROADCAST * STRETTO_MCA_STRIDE + MCA_THRESHOLD_OFFSET, 10);
  for (unsigned i = 0; i < 3000; ++i) bench.read(i * 64, 64, (10 + i / 16) * kCycle);
  unsigned busy = 0;
  for (unsigned i = 0; i < 100; ++i) {
    bench.run((10 + 2 * i) * kCycle);
    uint64_t granted = 0;
    for (unsigned c = 0; c < 32; ++c) {
      granted += bench.hbm->channel_state(c).counters(bench.hbm->cycle()).atoms[0][0];
      granted += bench.hbm->channel_state(c).scheduler().size();
      busy += bench.hbm->channel_state(c).quiet() ? 0 : 1;
    }
    REQUIRE(bench.statistic("mca.grants_compute") == granted);
    REQUIRE(bench.statistic("mca.channels_at_limit_10") == 32);
    REQUIRE(bench.statistic("mca.channels_at_limit_0") == 0);
  }
  CHECK(busy > 1000);
}

TEST_CASE("register accesses under traffic lose no grant") {
  HbmFixture bench{HbmSpec{}};
  for (unsigned i = 0; i < 3000; ++i) bench.read(i * 64, 64, (10 + i / 16) * kCycle);
  uint64_t pending = 0;
  for (unsigned i = 0; i < 100; ++i) {
    bench.run((10 + 2 * i) * kCycle);
    pending += bench.read_register(true, i % 32 * STRETTO_MCA_STRIDE + MCA_STATUS_OFFSET);
  }
  bench.run();
  CHECK(pending > 0);
  CHECK(bench.answered() == 3000);
  CHECK(bench.violations().empty());
}

namespace {

std::string digest_of(bool sleep) {
  HbmSpec spec;
  spec.sleep = sleep;
  spec.write_policy = WritePolicy::watermark;
  HbmFixture bench(spec);
  program_tracker(bench, 1, 64);
  bench.write_register(
      true, STRETTO_MCA_BROADCAST * STRETTO_MCA_STRIDE,
      MCA_CONTROL_POLICY_COMMUNICATION_AWARE | 1 << MCA_CONTROL_THRESHOLD_SELECT_SHIFT);
  bench.hbm->kernel_start(20 * kCycle);
  bench.hbm->first_wg_done(5000 * kCycle);
  bench.hbm->kernel_end(20000 * kCycle);
  Rng rng(7);
  Time at = 0;
  for (unsigned i = 0; i < 20000; ++i) {
    at += rng.chance(1, 100) ? rng.below(200) * kCycle
                             : rng.below(3) * kCycle + rng.below(1000) * 1000;
    const uint64_t address = rng.below(1 << 14) * 64;
    const Stream stream = rng.chance(1, 2) ? Stream::compute : Stream::communication;
    if (rng.chance(1, 2)) {
      bench.read(address, 64, at, stream);
    } else {
      tracked_update(bench, static_cast<unsigned>(rng.below(1000)), 0, address, 64, at, stream);
    }
  }
  bench.run(at + 100'000 * kCycle);
  std::string text = bench.digest.hex();
  for (const TestRequest& request : bench.requests)
    text.append(std::to_string(request.done)).append(" ");
  for (const Trigger& trigger : bench.triggers) {
    text.append(std::to_string(trigger.at))
        .append(",")
        .append(std::to_string(trigger.wg_id))
        .append(" ");
  }
  return sha256_hex(text.data(), text.size());
}

}  // namespace

TEST_CASE("sleeping to the next work changes no result") {
  const std::string asleep = in_child([] { return digest_of(true); });
  CHECK(asleep.size() == 64);
  CHECK(asleep == in_child([] { return digest_of(false); }));
}
