// SPDX-License-Identifier: Apache-2.0
// Question: does the command processor hold best effort back as Tally's policy says: stopped as soon as a
// doorbell of high priority rings, before that packet is even read, and going on when it has rested? Queue 0
// has high priority, 1 and 2 are best effort.
#include "tests/unit/sw/firmware_bench.h"

#include "sw/firmware/services/share_service.h"

using namespace stretto::test;

namespace {

constexpr uint64_t kTime = STRETTO_CLINT_BASE + CLINT_MTIME_OFFSET;
constexpr uint64_t kIdleNs = 5'000;

uint64_t control(unsigned slot) {
  return STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_CONTROL_OFFSET_AT(slot);
}

struct Shared : Firmware {
  Shared() {
    put_descriptor();
    stretto_packet_t priority{};
    priority.vendor.header = STRETTO_PACKET_VENDOR;
    priority.vendor.operation = STRETTO_OP_PRIORITY;
    priority.vendor.priority.priority = 3;
    put(0, priority);
    stretto_share_t config{};
    config.high = 1;
    config.best_effort = 6;
    config.min_idle_ns = kIdleNs;
    put(1, share_packet(config));
    ring(1);
    REQUIRE(status_of(1) == STRETTO_OK);
    device.writes.clear();
  }
  static stretto_packet_t share_packet(const stretto_share_t& config) {
    stretto_packet_t packet{};
    packet.vendor.header = STRETTO_PACKET_VENDOR;
    packet.vendor.operation = STRETTO_OP_SHARE;
    packet.vendor.share = config;
    return packet;
  }
  void at(uint64_t ns) { device.word[kTime] = ns; }
  // The scheduler reports that the slot has stopped, with so many work-groups left.
  void stopped(unsigned slot, uint64_t undispatched) {
    device.word[STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_STATE_OFFSET_AT(slot)] =
        STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_PREEMPTED, 1) |
        STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED, undispatched);
    kernel_ends(slot);
    device.word[STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_STATE_OFFSET_AT(slot)] = 0;
  }
  bool is_launched(unsigned slot) {
    return (device.at(control(slot)) & GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_MASK) != 0;
  }
};

}  // namespace

TEST_CASE("a doorbell of high priority stops best effort before its packet is read",
          "[TL-SCHED-01][TL-SCHED-03][TL-SCHED-08]") {
  Shared f;
  f.at(kIdleNs);
  f.put(0, dispatch(15), 1);
  f.ring(0, 1);
  REQUIRE(f.is_launched(0));
  f.put(2, dispatch(15));
  f.rings(2, 0);
  f.device.writes.clear();
  packet_service_doorbell(&f.packets);
  REQUIRE_FALSE(f.device.writes.empty());
  const uint64_t stop = STRETTO_FIELD(GRID_SCHEDULER_SLOT_CONTROL_PREEMPT, 1) |
                        STRETTO_FIELD(GRID_SCHEDULER_SLOT_CONTROL_DRAIN, 1);
  CHECK(std::any_of(f.device.writes.begin(), f.device.writes.end(), [&](const auto& write) {
    return write.address == control(0) && write.value == stop;
  }));
  CHECK_FALSE(f.is_launched(1));
  packet_service_run(&f.packets);
  CHECK(f.is_launched(1));  // Without waiting for the drain (TL-SCHED-08).
}

TEST_CASE("best effort goes on when high priority has rested, and not before",
          "[TL-SCHED-02][TL-SCHED-09]") {
  Shared f;
  f.at(kIdleNs);
  f.put(0, dispatch(15), 1);
  f.ring(0, 1);
  f.put(2, dispatch(15));
  f.ring(2);
  f.stopped(0, 7);
  f.at(20'000);
  f.kernel_ends(1);
  f.device.writes.clear();
  packet_service_run(&f.packets);
  CHECK(f.device.count(control(0)) == 0);
  CHECK(packet_service_alarm(&f.packets) == 20'000 + kIdleNs);
  f.at(20'000 + kIdleNs - 1);
  packet_service_run(&f.packets);
  CHECK(f.device.count(control(0)) == 0);
  f.at(20'000 + kIdleNs);
  packet_service_run(&f.packets);
  CHECK(f.device.count(control(0)) == 1);
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_SKIP_OFFSET_AT(0)) == 8);
  CHECK(packet_service_alarm(&f.packets) == CLINT_NEVER);
}

TEST_CASE("of best effort one kernel is in flight, of queues in turn", "[TL-SCHED-08]") {
  Shared f;
  f.at(kIdleNs);
  f.put(0, dispatch(15), 1);
  f.put(0, dispatch(15), 2);
  f.rings(0, 1);
  f.rings(0, 2);
  packet_service_doorbell(&f.packets);
  packet_service_run(&f.packets);
  CHECK(f.is_launched(0));
  CHECK_FALSE(f.is_launched(1));
  CHECK(f.packets.next[2] == 0);
  f.kernel_ends(0);
  packet_service_run(&f.packets);
  CHECK(f.packets.next[2] == 1);
}

TEST_CASE("what comes while high priority is active waits, though nothing was stopped") {
  Shared f;
  f.put(2, dispatch(15));
  f.ring(2);
  f.put(0, dispatch(15), 1);
  f.ring(0, 1);
  CHECK(f.packets.next[1] == 0);
}

TEST_CASE("queues that cannot share are refused, and none ends it") {
  Shared f;
  stretto_share_t config{};
  uint64_t index = 2;
  const auto refused = [&](uint32_t high, uint32_t best_effort) {
    config.high = high;
    config.best_effort = best_effort;
    f.put(index, Shared::share_packet(config));
    f.ring(index);
    completion_service_poke(&f.shared);  // Best effort is stopped.
    packet_service_run(&f.packets);
    return f.status_of(static_cast<unsigned>(index++)) == STRETTO_ERROR_ARGUMENT;
  };
  CHECK(refused(1, 0));
  CHECK(refused(0, 1));
  CHECK(refused(1, 3));
  CHECK(refused(1, 1u << STRETTO_QUEUE_COUNT));
  CHECK_FALSE(refused(0, 0));
  f.put(index, dispatch(15));
  f.ring(index);
  f.put(0, dispatch(15), 1);
  f.ring(0, 1);
  CHECK(f.packets.next[1] == 1);
}
