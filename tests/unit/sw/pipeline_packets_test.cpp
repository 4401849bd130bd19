// SPDX-License-Identifier: Apache-2.0
// Question: is a pipeline taken, placed, stopped and told as one, and refused as one with the reason? State
// space: pipelines of one to all slots, behind one that waits, with members that cannot run.
#include "tests/unit/sw/firmware_bench.h"

using namespace stretto::test;

TEST_CASE("a pipeline is taken when all its members are there, and launched with one write") {
  Firmware f;
  f.put_descriptor();
  f.put(0, pipeline(2));
  for (unsigned i = 1; i < 4; ++i) f.put(i, dispatch(15));
  f.ring(1);
  CHECK(f.packets.next[0] == 0);
  f.ring(3);
  CHECK(f.packets.next[0] == 4);
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_PIPELINE_OFFSET) == 3);
  CHECK(f.device.at(slot_register(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 0)) == 0);
  CHECK(f.device.at(slot_register(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 2)) == 1);
  CHECK((f.device.at(kOwn + STRETTO_QUEUE_OFFSET(0) + 2 * 64) & 0xFFFF) == STRETTO_PACKET_INVALID);
  CHECK(f.device.at(kHost + STRETTO_READ_INDEX_OFFSET(uint64_t{kGpu}, 0)) == 4);
  f.kernel_ends(1);
  CHECK(f.status_of(2) == STRETTO_OK);
  CHECK(f.status_of(1) == STRETTO_SIGNAL_PENDING);
  // Another one waits until the first is placed.
  f.put(4, pipeline(1));
  f.put(5, dispatch(15));
  f.ring(5);
  CHECK(f.packets.next[0] == 4);
  f.device.word[STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_PIPELINE_OFFSET] = 0;
  f.kernel_ends(0);
  packet_service_run(&f.packets);
  CHECK(f.packets.next[0] == 6);
}

TEST_CASE("a pipeline behind one that waits is looked at again by the clock") {
  Firmware f;
  f.put_descriptor();
  f.put(0, pipeline(1));
  f.put(1, dispatch(15));
  f.put(2, pipeline(1));
  f.put(3, dispatch(15));
  f.device.word[STRETTO_CLINT_BASE + CLINT_MTIME_OFFSET] = 5000;
  f.ring(3);
  CHECK(f.packets.next[0] == 2);
  CHECK(packet_service_alarm(&f.packets) == 6000);
  f.device.word[STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_PIPELINE_OFFSET] = 0;
  packet_service_run(&f.packets);
  CHECK(f.packets.next[0] == 4);
  CHECK(packet_service_alarm(&f.packets) == CLINT_NEVER);
}

TEST_CASE("a pipeline acquires once, and is released once, when its last member has ended") {
  Firmware f;
  f.put_descriptor();
  f.put(0, pipeline(3));
  f.put(1, with_scopes(dispatch(15), STRETTO_SCOPE_SYSTEM, STRETTO_SCOPE_DEVICE));
  f.put(2, with_scopes(dispatch(15), STRETTO_SCOPE_DEVICE, STRETTO_SCOPE_SYSTEM));
  f.put(3, with_scopes(dispatch(15), STRETTO_SCOPE_SYSTEM, STRETTO_SCOPE_SYSTEM));
  f.ring(3);
  CHECK(f.device.count(kL2Command) == 1);
  CHECK(f.device.position(kL2Command) <
        f.device.position(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_PIPELINE_OFFSET));
  f.device.writes.clear();
  f.kernel_ends(1);
  f.kernel_ends(0);
  CHECK(f.device.count(kL2Command) == 0);
  f.kernel_ends(2);
  CHECK(f.device.count(kL2Command) == 1);
  for (unsigned i = 1; i < 4; ++i) CHECK(f.status_of(i) == STRETTO_SIGNAL_PENDING);
  f.written_back();
  for (unsigned i = 1; i < 4; ++i) CHECK(f.status_of(i) == STRETTO_OK);
}

TEST_CASE("the packet says of which type a kernel is, or leaves it to the code object",
          "[KT-SCHED-03]") {
  Firmware f;
  f.put_descriptor();  // TENSOR.
  const auto type = [&](unsigned slot) {
    const uint64_t flags = f.device.at(STRETTO_GPU_BASE + GPU_CONTEXT_FLAGS_OFFSET_AT(slot));
    const uint64_t needs = f.device.at(slot_register(GRID_SCHEDULER_SLOT_NEEDS_OFFSET, slot));
    CHECK(STRETTO_FIELD_GET(flags, GPU_CONTEXT_FLAGS_TYPE) ==
          STRETTO_FIELD_GET(needs, GRID_SCHEDULER_SLOT_NEEDS_TYPE));
    return STRETTO_FIELD_GET(needs, GRID_SCHEDULER_SLOT_NEEDS_TYPE);
  };
  stretto_packet_t packet = dispatch(15);
  f.put(0, packet);
  packet.dispatch.flags |= STRETTO_DISPATCH_TYPE(STRETTO_KERNEL_SIMT);
  f.put(1, packet);
  packet.dispatch.flags |= 3 << 10;
  f.put(2, packet);
  f.ring(2);
  CHECK(type(0) == STRETTO_KERNEL_TENSOR);
  CHECK(type(1) == STRETTO_KERNEL_SIMT);
  CHECK(f.status_of(2) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a pipeline with a member that cannot run is refused as a whole") {
  Firmware f;
  f.put_descriptor();
  f.put(0, pipeline(2));
  f.put(1, dispatch(15));
  stretto_packet_t gated = dispatch(15);
  gated.dispatch.order = STRETTO_ORDER(0, 0, 0, 1);
  f.put(2, gated);
  f.put(3, pipeline(1));
  f.put(4, fill(4096));
  f.put(5, pipeline(0));
  f.put(6, pipeline(STRETTO_PIPELINE_MEMBERS + 1));
  f.ring(6);
  for (unsigned i = 0; i < 3; ++i) CHECK(f.status_of(i) == STRETTO_ERROR_ARGUMENT);
  for (unsigned i = 3; i < 5; ++i) CHECK(f.status_of(i) == STRETTO_ERROR_PACKET);
  for (unsigned i = 5; i < 7; ++i) CHECK(f.status_of(i) == STRETTO_ERROR_ARGUMENT);
  CHECK(f.device.count(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_PIPELINE_OFFSET) == 0);
  f.put(7, dispatch(15));
  f.ring(7);
  CHECK(f.device.at(slot_register(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 0)) == 1);
}

TEST_CASE(
    "a pipeline that can never be resident is refused with member, resource, needs and room") {
  Firmware f;
  f.put_descriptor();
  const unit_limits_t& limits = f.shared.limits;
  const uint32_t room = limits.registers_bytes / (112 * 1024) * limits.cus;
  f.put(0, pipeline(2));
  f.put(1, dispatch(1));
  f.put(2, dispatch(room + 1));
  f.ring(2);
  for (unsigned i = 0; i < 3; ++i) CHECK(f.status_of(i) == STRETTO_ERROR_RESOURCES);
  const auto text = [](uint64_t value) { return std::to_string(value); };
  CHECK(f.device.console.ends_with(
      "packet 0 (pipeline): refused: " + text(room + 1) +
      " work-groups of member 1 need 114688 bytes of registers each, " +
      text((room + 2) * uint64_t{114688}) + " in all with the members before; " + text(limits.cus) +
      " units have " + text(limits.registers_bytes) + " each, room for " + text(room) + "\n"));
  CHECK(std::count(f.device.console.begin(), f.device.console.end(), '\n') == 1);
  f.put(3, pipeline(1));
  f.put(4, dispatch(room));
  f.ring(4);
  CHECK(f.status_of(3) == STRETTO_OK);
}

TEST_CASE("a pipeline that was stopped before it was placed is launched as one again") {
  Firmware f;
  f.put_descriptor();
  f.put(0, pipeline(2), 3);
  for (unsigned i = 1; i < 3; ++i) f.put(i, dispatch(15), 3);
  f.ring(2, 3);
  f.put(0, stops(STRETTO_OP_PREEMPT, 3));
  f.put(1, stops(STRETTO_OP_RESUME, 3));
  f.ring(1);
  CHECK(f.packets.next[0] == 1);  // It resumes what has stopped.
  stopped(f, 0, 15);
  stopped(f, 1, 15);
  f.device.word[STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_PIPELINE_OFFSET] = 0;
  packet_service_run(&f.packets);
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_PIPELINE_OFFSET) == 3);
}
