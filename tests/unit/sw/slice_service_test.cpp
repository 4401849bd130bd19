// SPDX-License-Identifier: Apache-2.0
// Question: does the command processor give the GPU to contexts in turn, only while more than one has
// work, and does a suspended kernel go on with all that it had left? Context A is queue 0, B queue 1;
// packets of the test's own come in queue 2.
#include "tests/unit/sw/firmware_bench.h"

#include "sw/firmware/services/slice_service.h"

using namespace stretto::test;

namespace {

constexpr uint64_t kTime = STRETTO_CLINT_BASE + CLINT_MTIME_OFFSET;
constexpr uint64_t kSliceNs = 10'000;
constexpr uint64_t kArea = kOwn + 0x10000000;
constexpr uint64_t kAreaBytes = 0x1000000;

uint64_t scheduler(uint32_t offset) { return STRETTO_GRID_SCHEDULER_BASE + offset; }
uint64_t control(unsigned slot) { return scheduler(GRID_SCHEDULER_SLOT_CONTROL_OFFSET_AT(slot)); }

struct Sliced : Firmware {
  Sliced() {
    put_descriptor();
    for (unsigned i = 0; i < 2; ++i) {
      put(i, slice(1u << i, kArea + i * kAreaBytes), 2);
      ring(i, 2);
      REQUIRE(status_of(200 + i) == STRETTO_OK);
    }
    device.writes.clear();
  }
  static stretto_packet_t slice(uint32_t queues, uint64_t area = kArea,
                                uint64_t slice_ns = kSliceNs, uint64_t bytes = kAreaBytes) {
    stretto_packet_t packet{};
    packet.vendor.header = STRETTO_PACKET_VENDOR;
    packet.vendor.operation = STRETTO_OP_TIME_SLICE;
    packet.vendor.time_slice.queues = queues;
    packet.vendor.time_slice.slice_ns = slice_ns;
    packet.vendor.time_slice.save_base = area;
    packet.vendor.time_slice.save_bytes = bytes;
    return packet;
  }
  void at(uint64_t ns) {
    device.word[kTime] = ns;
    packet_service_run(&packets);
  }
  // The units have handed back these work-groups of the slot, and the scheduler has stopped it.
  void stopped(unsigned slot, std::vector<uint32_t> ids, uint64_t undispatched) {
    device.on_read[scheduler(GRID_SCHEDULER_RETURNED_OFFSET)] =
        [=, next = size_t{0}]() mutable -> uint64_t {
      if (next == ids.size()) return 0;
      return STRETTO_FIELD(GRID_SCHEDULER_RETURNED_VALID, 1) |
             STRETTO_FIELD(GRID_SCHEDULER_RETURNED_SLOT, slot) |
             STRETTO_FIELD(GRID_SCHEDULER_RETURNED_ID, ids[next++]);
    };
    const uint64_t state = scheduler(GRID_SCHEDULER_SLOT_STATE_OFFSET_AT(slot));
    device.word[state] = STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_PREEMPTED, 1) |
                         STRETTO_FIELD(GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED, undispatched);
    kernel_ends(slot);
    device.word[state] = 0;
  }
  // Nothing is on the units.
  void off_units() {
    completion_service_poke(&shared);
    packet_service_run(&packets);
  }
  bool is_launched(unsigned slot) {
    return (device.at(control(slot)) & GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_MASK) != 0;
  }
  uint64_t save_base(unsigned slot) {
    return device.at(STRETTO_GPU_BASE + GPU_CONTEXT_SAVE_BASE_OFFSET_AT(slot));
  }
};

}  // namespace

TEST_CASE("a context by itself keeps the GPU", "[TL-BASE-01]") {
  Sliced f;
  f.put(0, dispatch(15));
  f.ring(0);
  REQUIRE(f.is_launched(0));
  CHECK(packet_service_alarm(&f.packets) == CLINT_NEVER);
  f.at(35'000);
  CHECK(f.device.count(control(0)) == 1);
  // Another one has to wait for the end of a slice.
  f.put(0, dispatch(15), 1);
  f.ring(0, 1);
  CHECK_FALSE(f.is_launched(1));
  CHECK(packet_service_alarm(&f.packets) == 40'000);
}

TEST_CASE("at the end of a slice kernels are suspended, then the other context has the GPU",
          "[TL-BASE-01]") {
  Sliced f;
  f.put(0, dispatch(15));
  f.ring(0);
  f.put(0, dispatch(15), 1);
  f.ring(0, 1);
  f.at(kSliceNs - 1);
  CHECK(f.device.count(control(0)) == 1);
  f.device.writes.clear();
  f.at(kSliceNs);
  CHECK(f.device.at(control(0)) == (STRETTO_FIELD(GRID_SCHEDULER_SLOT_CONTROL_PREEMPT, 1) |
                                    STRETTO_FIELD(GRID_SCHEDULER_SLOT_CONTROL_DRAIN, 1)));
  CHECK(f.save_base(0) == kArea);
  CHECK(f.device.position(STRETTO_GPU_BASE + GPU_CONTEXT_SAVE_BYTES_OFFSET_AT(0)) <
        f.device.position(control(0)));
  CHECK_FALSE(f.is_launched(1));  // Units hold the first.
  // Of 12 placed, 3, 8 and 10 come back; the others have ended.
  f.stopped(0, {8, 3, 10}, 3);
  f.at(kSliceNs + 2'000);
  CHECK(f.is_launched(1));
  CHECK(packet_service_alarm(&f.packets) == 2 * kSliceNs + 2'000);
  f.device.writes.clear();
  f.at(2 * kSliceNs + 2'000);
  f.stopped(1, {14}, 0);
  f.at(2 * kSliceNs + 4'000);
  CHECK(f.save_base(1) == kArea + kAreaBytes);
  CHECK(f.is_launched(0));
  CHECK(f.device.at(scheduler(GRID_SCHEDULER_SLOT_SKIP_OFFSET_AT(0))) == 3);
  CHECK(f.device.at(STRETTO_GPU_BASE + GPU_CONTEXT_RESUME_OFFSET_AT(0)) == 12 - 3);
}

TEST_CASE("a kernel that is suspended before all that was left is placed forgets none of it") {
  Sliced f;
  f.put(0, dispatch(15));
  f.ring(0);
  f.put(0, dispatch(15), 1);
  f.ring(0, 1);
  f.at(kSliceNs);
  f.stopped(0, {3, 8}, 3);  // 12 were placed.
  f.at(kSliceNs + 2'000);
  f.at(2 * kSliceNs + 2'000);
  f.stopped(1, {0}, 0);
  f.at(2 * kSliceNs + 4'000);
  f.at(3 * kSliceNs + 4'000);
  f.stopped(0, {}, 10);  // 3 and 4 have been placed, and have ended.
  f.at(3 * kSliceNs + 6'000);
  f.at(4 * kSliceNs + 6'000);
  f.stopped(1, {0}, 0);
  f.at(4 * kSliceNs + 8'000);
  CHECK(f.device.at(scheduler(GRID_SCHEDULER_SLOT_SKIP_OFFSET_AT(0))) == 5);
  CHECK(f.device.at(STRETTO_GPU_BASE + GPU_CONTEXT_RESUME_OFFSET_AT(0)) == 12 - 5);
}

TEST_CASE("a context without work passes its turn on at once") {
  Sliced f;
  f.put(0, dispatch(15), 1);
  f.ring(0, 1);
  f.off_units();
  CHECK(f.is_launched(0));
  CHECK(f.device.at(kTime) < kSliceNs);
  f.kernel_ends(0);
  f.put(0, dispatch(15));
  f.ring(0);
  f.off_units();
  CHECK(f.packets.next[0] == 1);
}

TEST_CASE("contexts that cannot be are refused, and none ends it") {
  Sliced f;
  uint64_t index = 2;
  const auto refused = [&](const stretto_packet_t& packet, int64_t status) {
    f.put(index, packet, 2);
    f.ring(index, 2);
    return f.status_of(static_cast<unsigned>(200 + index++)) == status;
  };
  CHECK(refused(Sliced::slice(1), STRETTO_ERROR_ARGUMENT));  // Has one.
  CHECK(refused(Sliced::slice(1u << STRETTO_QUEUE_COUNT), STRETTO_ERROR_ARGUMENT));
  CHECK(refused(Sliced::slice(8, kArea, 999), STRETTO_ERROR_ARGUMENT));
  CHECK(refused(Sliced::slice(8, kPeer), STRETTO_ERROR_UNMAPPED));
  CHECK(refused(Sliced::slice(8, kArea + 64), STRETTO_ERROR_UNMAPPED));
  stretto_packet_t preempt{};
  preempt.vendor.header = STRETTO_PACKET_VENDOR;
  preempt.vendor.operation = STRETTO_OP_PREEMPT;
  preempt.vendor.preempt.queue = 1;
  CHECK(refused(preempt, STRETTO_ERROR_STATE));
  CHECK(refused(Sliced::slice(0), STRETTO_OK));
  f.put(0, dispatch(15));
  f.ring(0);
  f.put(0, dispatch(15), 1);
  f.ring(0, 1);
  CHECK(f.is_launched(0));
  CHECK(f.is_launched(1));
}
