// SPDX-License-Identifier: Apache-2.0
// Question: are queues served by their priority, and do kernels that were stopped or drained go on with
// exactly the work-groups that are left? Fault injection: what cannot be stopped is refused.
#include "tests/unit/sw/firmware_bench.h"

using namespace stretto::test;

TEST_CASE(
    "a high queue that is rung between two packets of a low one is served before the second") {
  Firmware f;
  f.put(0, priority(2), 5);
  f.ring(0, 5);
  std::vector<unsigned> order;
  for (const unsigned signal : {0u, 1u, 2u, 501u, 502u}) {
    f.device.on_write[f.signal(signal)] = [&, signal](uint64_t) {
      order.push_back(signal);
      if (signal == 0) f.rings(2, 5);  // While the first is handled.
    };
  }
  stretto_packet_t nothing{};
  nothing.barrier.header = STRETTO_PACKET_BARRIER_AND;
  for (unsigned i = 0; i < 3; ++i) f.put(i, nothing);
  for (unsigned i = 1; i < 3; ++i) f.put(i, nothing, 5);
  f.ring(2);
  CHECK(order == std::vector<unsigned>{0, 501, 502, 1, 2});
}

namespace {

// A kernel of queue 5, under which queue 2, of higher priority, is rung with one packet; what became
// of both, in order. on_step gives the place where it is rung.
enum class Event { launched, told, high_done };
template <class OnStep>
std::vector<Event> order_under(OnStep on_step) {
  Firmware f;
  f.put_descriptor();
  f.put(0, priority(2), 5);
  f.put(0, priority(3), 2);
  f.ring(0, 5);
  f.ring(0, 2);
  std::vector<Event> order;
  const auto notes = [&](uint64_t address, Event event) {
    f.device.on_write[address] = [&f, &order, address, event](uint64_t value) {
      f.device.word[address] = value;
      order.push_back(event);
    };
  };
  stretto_packet_t nothing{};
  nothing.barrier.header = STRETTO_PACKET_BARRIER_AND;
  f.put(1, dispatch(15), 5);
  f.put(1, nothing, 2);
  notes(f.signal(201), Event::high_done);
  notes(kHost + STRETTO_READ_INDEX_OFFSET(uint64_t{kGpu}, 5), Event::told);
  notes(slot_register(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 0), Event::launched);
  on_step(f, [&f, rung = false]() mutable {
    if (!rung) f.rings(1, 2);
    rung = true;
  });
  f.ring(1, 5);
  CHECK(f.device.at(kHost + STRETTO_READ_INDEX_OFFSET(uint64_t{kGpu}, 5)) == 2);
  CHECK(f.device.at(kOwn + STRETTO_QUEUE_OFFSET(uint64_t{5}) + 64) == STRETTO_PACKET_INVALID);
  return order;
}

}  // namespace

TEST_CASE("a kernel whose descriptor has been read makes way for a higher queue") {
  const auto order = order_under([](Firmware& f, auto ring) {
    f.device.on_read[kDescriptor] = [&f, ring]() mutable {
      ring();
      return f.device.word[kDescriptor];
    };
  });
  CHECK(order == std::vector{Event::high_done, Event::launched, Event::told});
}

TEST_CASE("the driver is told of a kernel that was started behind what a higher queue has") {
  const auto order = order_under([](Firmware& f, auto ring) {
    const uint64_t control = slot_register(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 0);
    f.device.on_write[control] = [then = f.device.on_write[control], ring](uint64_t value) mutable {
      then(value);
      ring();
    };
  });
  CHECK(order == std::vector{Event::launched, Event::high_done, Event::told});
}

TEST_CASE("queues of one priority are served in turn, and their kernels are placed by it") {
  Firmware f;
  f.put_descriptor();
  f.put(0, priority(3), 1);
  f.put(0, priority(4), 2);
  f.ring(0, 1);
  f.ring(0, 2);
  CHECK(f.status_of(200) == STRETTO_ERROR_ARGUMENT);
  f.put(1, dispatch(15), 1);
  f.put(1, dispatch(15), 2);
  f.ring(1, 1);
  f.ring(1, 2);
  const auto of_slot = [&](unsigned slot) {
    return STRETTO_FIELD_GET(f.device.at(slot_register(GRID_SCHEDULER_SLOT_NEEDS_OFFSET, slot)),
                             GRID_SCHEDULER_SLOT_NEEDS_PRIORITY);
  };
  CHECK(of_slot(0) == 3);
  CHECK(of_slot(1) == 0);
  std::vector<unsigned> order;
  stretto_packet_t nothing{};
  nothing.barrier.header = STRETTO_PACKET_BARRIER_AND;
  for (const unsigned queue : {2u, 3u}) {
    const unsigned first = queue == 2 ? 2 : 0;
    for (unsigned i = first; i < first + 2; ++i) {
      f.put(i, nothing, queue);
      f.device.on_write[f.signal(100 * queue + i)] = [&, queue](uint64_t) {
        order.push_back(queue);
      };
    }
    f.rings(first + 1, queue);
  }
  packet_service_doorbell(&f.packets);
  packet_service_run(&f.packets);
  CHECK(order == std::vector<unsigned>{3, 2, 3, 2});  // Queue 2 was the last one before.
}

TEST_CASE("a preempted queue stops between work-groups, and resumes behind what was placed") {
  Firmware f;
  f.put_descriptor();
  stretto_packet_t kernel = dispatch(15);
  kernel.dispatch.order = STRETTO_ORDER(0, 0, 6, 0);
  f.put(0, kernel, 3);
  f.put(1, dispatch(15), 4);
  f.ring(0, 3);
  f.ring(1, 4);
  f.put(0, stops(STRETTO_OP_PREEMPT, 3));
  f.ring(0);
  const uint64_t control = slot_register(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 0);
  CHECK(f.device.at(control) == GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_MASK);
  CHECK(f.status_of(0) == STRETTO_SIGNAL_PENDING);
  f.put(1, dispatch(15), 3);
  f.ring(1, 3);
  CHECK(f.packets.next[3] == 1);  // Nothing more of it is taken,
  stopped(f, 0, 9);
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.status_of(300) == STRETTO_SIGNAL_PENDING);  // and it is not complete.
  f.put(1, stops(STRETTO_OP_RESUME, 3));
  f.ring(1);
  CHECK(f.status_of(1) == STRETTO_OK);
  CHECK(f.device.at(control) == GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_MASK);
  CHECK(f.device.at(slot_register(GRID_SCHEDULER_SLOT_SKIP_OFFSET, 0)) == 6);
  CHECK(f.device.at(slot_register(GRID_SCHEDULER_SLOT_ORDER_OFFSET, 0)) ==
        (15 | uint64_t{6} << 32));
  CHECK(f.packets.next[3] == 2);
  f.kernel_ends(0);
  CHECK(f.status_of(300) == STRETTO_OK);
}

TEST_CASE("a barrier that polls in a stopped queue is looked at when the queue goes on") {
  Firmware f;
  const uint64_t now = STRETTO_CLINT_BASE + CLINT_MTIME_OFFSET, word = kOwn + 0x600000;
  f.device.word[now] = 1000;
  f.device.word[word] = 1;
  stretto_packet_t packet{};
  packet.barrier.header = STRETTO_PACKET_BARRIER_AND;
  packet.barrier.dep_signal[0] = word;
  packet.barrier.poll_ns = 500;
  f.put(0, packet, 3);
  f.ring(0, 3);
  CHECK(packet_service_alarm(&f.packets) == 1500);
  f.put(0, stops(STRETTO_OP_PREEMPT, 3));
  f.ring(0);
  completion_service_poke(&f.shared);  // Of no kernel.
  f.device.word[now] = 2000;
  CHECK(packet_service_alarm(&f.packets) == CLINT_NEVER);
  f.device.word[word] = 0;
  f.put(1, stops(STRETTO_OP_RESUME, 3));
  f.ring(1);
  CHECK(f.status_of(300) == STRETTO_OK);
}

// A stopped kernel's work-groups that came back undone, as the queue of the scheduler shows them.
struct ReturnedQueue {
  ReturnedQueue(Firmware& f, unsigned slot, std::vector<uint64_t> ids) : left(std::move(ids)) {
    const uint64_t base = STRETTO_GRID_SCHEDULER_BASE;
    f.device.on_read[base + GRID_SCHEDULER_RETURNED_OFFSET] = [this, slot]() -> uint64_t {
      if (left.empty()) return 0;
      return GRID_SCHEDULER_RETURNED_VALID_MASK |
             uint64_t{slot} << GRID_SCHEDULER_RETURNED_SLOT_SHIFT | left.front();
    };
    f.device.on_write[base + GRID_SCHEDULER_RETURNED_TAKE_OFFSET] = [this](uint64_t) {
      left.erase(left.begin());
    };
  }
  std::vector<uint64_t> left;
};

// Ids first, first + 1, ... of the launch that runs in slot 0, and how many it skips.
struct Launched {
  uint64_t first, count, start, skip;
  bool operator==(const Launched&) const = default;
};
Launched launched(Firmware& f) {
  const uint64_t range = f.device.at(slot_register(GRID_SCHEDULER_SLOT_RANGE_OFFSET, 0));
  return {STRETTO_FIELD_GET(range, GRID_SCHEDULER_SLOT_RANGE_FIRST),
          STRETTO_FIELD_GET(range, GRID_SCHEDULER_SLOT_RANGE_COUNT),
          STRETTO_FIELD_GET(f.device.at(slot_register(GRID_SCHEDULER_SLOT_ORDER_OFFSET, 0)),
                            GRID_SCHEDULER_SLOT_ORDER_START),
          f.device.at(slot_register(GRID_SCHEDULER_SLOT_SKIP_OFFSET, 0))};
}

stretto_packet_t drains(uint32_t queue) {
  stretto_packet_t packet = stops(STRETTO_OP_PREEMPT, queue);
  packet.vendor.preempt.drain = 1;
  return packet;
}

// A kernel of so many work-groups in queue 3, whose order begins with id 6, is drained when `placed`
// were placed, and resumed; `ids` have come back.
void drain(Firmware& f, uint64_t placed, const std::vector<uint64_t>& ids, uint32_t batch = 0,
           uint32_t work_groups = 15) {
  f.put_descriptor();
  stretto_packet_t kernel = dispatch(work_groups);
  kernel.dispatch.order = STRETTO_ORDER(0, 0, 6, batch);
  f.put(0, kernel, 3);
  f.ring(0, 3);
  f.put(0, drains(3));
  f.ring(0);
  CHECK(f.device.at(slot_register(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 0)) ==
        (GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_MASK | GRID_SCHEDULER_SLOT_CONTROL_DRAIN_MASK));
  const ReturnedQueue returned(f, 0, ids);
  stopped(f, 0, work_groups - placed);
  f.device.on_read.clear();
  CHECK(returned.left.empty());
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.status_of(300) == STRETTO_SIGNAL_PENDING);
  f.device.word[slot_register(GRID_SCHEDULER_SLOT_SKIP_OFFSET, 0)] = 0;  // As the scheduler does.
  f.put(1, stops(STRETTO_OP_RESUME, 3));
  f.ring(1);
  CHECK(f.status_of(1) == STRETTO_OK);
}

// The launch ends, and hart 0 hears of it; returns what runs next.
Launched next(Firmware& f) {
  f.device.word[slot_register(GRID_SCHEDULER_SLOT_SKIP_OFFSET, 0)] = 0;
  f.kernel_ends(0);
  packet_service_run(&f.packets);
  return launched(f);
}

TEST_CASE("what a drain brings back and was placed last is skipped no longer") {
  Firmware f;
  drain(f, 6, {11, 10});  // The fifth and the sixth.
  CHECK(launched(f) == Launched{0, 15, 6, 4});
  f.kernel_ends(0);
  CHECK(f.status_of(300) == STRETTO_OK);
}

TEST_CASE("what a drain brings back out of order is launched first, in runs of neighbours") {
  Firmware f;
  drain(f, 12, {8, 7, 14, 0, 1});  // Positions 1 and 2; 8, 9 and 10, where ids start over.
  CHECK(launched(f) == Launched{7, 2, 0, 0});
  CHECK(next(f) == Launched{14, 1, 0, 0});
  CHECK(next(f) == Launched{0, 2, 0, 0});
  CHECK(f.status_of(300) == STRETTO_SIGNAL_PENDING);
  CHECK(next(f) == Launched{0, 15, 6, 12});
  CHECK(f.status_of(300) == STRETTO_SIGNAL_PENDING);
  f.kernel_ends(0);
  CHECK(f.status_of(300) == STRETTO_OK);
}

TEST_CASE("what a drain brings back may lie as far apart as a GPU holds work-groups") {
  // 160 units of 40; in any order.
  for (const std::vector<uint64_t>& ids : {std::vector<uint64_t>{7, 6404, 3000}, {6404, 3000, 7}}) {
    {
      Firmware reset;  // Before it has launched what came back: those bits are still in memory.
      drain(reset, 7000, {7, 8, 100, 3001, 6403, 6405}, 0, 8000);
    }
    Firmware f;
    drain(f, 7000, ids, 0, 8000);
    CHECK(launched(f) == Launched{7, 1, 0, 0});
    CHECK(next(f) == Launched{3000, 1, 0, 0});
    CHECK(next(f) == Launched{6404, 1, 0, 0});
    CHECK(next(f) == Launched{0, 8000, 6, 7000});
    f.kernel_ends(0);
    CHECK(f.status_of(300) == STRETTO_OK);
  }
}

TEST_CASE("a kernel of which all is placed is complete with the last that came back") {
  Firmware f;
  drain(f, 15, {9});
  CHECK(launched(f) == Launched{9, 1, 0, 0});
  f.kernel_ends(0);
  CHECK(f.status_of(300) == STRETTO_OK);
}

TEST_CASE("what came back waits for the gates it would have waited for") {
  Firmware f;
  drain(f, 12, {7}, 4);
  CHECK(f.device.at(slot_register(GRID_SCHEDULER_SLOT_GATE_OFFSET, 0)) ==
        (4 | uint64_t{1} << GRID_SCHEDULER_SLOT_GATE_GATE_SHIFT |
         uint64_t{3} << GRID_SCHEDULER_SLOT_GATE_PHASE_SHIFT));
}

TEST_CASE("a run that is stopped again goes on where it was") {
  Firmware f;
  drain(f, 12, {7, 8, 9});
  CHECK(launched(f) == Launched{7, 3, 0, 0});
  f.put(2, drains(3));
  f.ring(2);
  const ReturnedQueue returned(f, 0, {7});
  stopped(f, 0, 1);  // 9 was not placed.
  f.device.on_read.clear();
  f.put(3, stops(STRETTO_OP_RESUME, 3));
  f.ring(3);
  CHECK(launched(f) == Launched{7, 1, 0, 0});
  CHECK(next(f) == Launched{9, 1, 0, 0});
  CHECK(next(f) == Launched{0, 15, 6, 12});
}

TEST_CASE("more may come back than the harts have room for at a time") {
  Firmware f;
  f.put_descriptor();
  stretto_packet_t kernel = dispatch(300);
  kernel.dispatch.flags = kKernelAccount << STRETTO_DISPATCH_ACCOUNT_SHIFT;
  f.put(0, kernel, 3);
  f.ring(0, 3);
  f.put(0, drains(3));
  f.ring(0);
  std::vector<uint64_t> ids;
  for (uint64_t id = 100; id < 300; ++id) ids.push_back(id);
  ReturnedQueue returned(f, 0, ids);
  f.device.word[slot_register(GRID_SCHEDULER_SLOT_STATE_OFFSET, 0)] =
      GRID_SCHEDULER_SLOT_STATE_STATE_DONE | GRID_SCHEDULER_SLOT_STATE_PREEMPTED_MASK;
  f.kernel_ends(0);
  CHECK(returned.left.size() == 200 - RETURNED);
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_DONE_OFFSET) == 1);
  for (unsigned i = 0; i < 4; ++i) {
    packet_service_run(&f.packets);
    completion_service_irq(&f.shared, STRETTO_IRQ_GRID_SCHEDULER);
  }
  CHECK(returned.left.empty());
  CHECK(f.status_of(0) == STRETTO_OK);
  f.put(1, stops(STRETTO_OP_RESUME, 3));
  f.ring(1);
  CHECK(launched(f) == Launched{0, 300, 0, 100});
}

TEST_CASE("what a drain brings back is taken before the kernel has left the units") {
  Firmware f;
  f.put_descriptor();
  f.put(0, dispatch(15), 3);
  f.ring(0, 3);
  f.put(0, drains(3));
  f.ring(0);
  std::vector<uint64_t> ids(RETURNED + 1, 0);
  for (uint64_t i = 0; i < ids.size(); ++i) ids[i] = i % 15;
  ReturnedQueue returned(f, 0, ids);
  completion_service_poke(&f.shared);
  CHECK(returned.left.size() == 1);
  const uint64_t hart_1 = STRETTO_CLINT_BASE + CLINT_MSIP_OFFSET_AT(COMPLETION_HART);
  f.device.word[hart_1] = 0;
  packet_service_run(&f.packets);
  CHECK(f.device.at(hart_1) == 1);  // There is room now.
  completion_service_poke(&f.shared);
  CHECK(returned.left.empty());
}

TEST_CASE("members of a pipeline are not drained: others of it may wait for them") {
  Firmware f;
  f.put_descriptor();
  f.put(0, pipeline(2), 3);
  for (unsigned i = 1; i < 3; ++i) f.put(i, dispatch(15), 3);
  f.ring(2, 3);
  f.put(0, drains(3));
  f.ring(0);
  for (unsigned slot = 0; slot < 2; ++slot)
    CHECK(f.device.at(slot_register(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, slot)) ==
          GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_MASK);
}

TEST_CASE("a kernel that ends while it is preempted has ended") {
  Firmware f;
  f.put_descriptor();
  f.put(0, dispatch(15), 3);
  f.ring(0, 3);
  f.put(0, stops(STRETTO_OP_PREEMPT, 3));
  f.ring(0);
  stopped(f, 0, 0);
  CHECK(f.status_of(300) == STRETTO_OK);
  CHECK(f.status_of(0) == STRETTO_OK);
}

TEST_CASE("a preemption waits for the one before it, and is refused where there is nothing to do") {
  Firmware f;
  f.put_descriptor();
  f.put(0, dispatch(15), 3);
  f.ring(0, 3);
  f.put(0, stops(STRETTO_OP_PREEMPT, 3));
  f.put(1, stops(STRETTO_OP_PREEMPT, 4));
  f.ring(1);
  CHECK(f.packets.next[0] == 1);
  stopped(f, 0, 1);
  packet_service_run(&f.packets);
  completion_service_poke(&f.shared);
  CHECK(f.status_of(1) == STRETTO_OK);  // Of no kernel: complete at once.
  f.put(2, stops(STRETTO_OP_PREEMPT, 3));
  f.put(3, stops(STRETTO_OP_PREEMPT, 0));
  f.put(4, stops(STRETTO_OP_PREEMPT, STRETTO_QUEUE_COUNT));
  f.put(5, stops(STRETTO_OP_RESUME, 5));
  f.ring(5);
  CHECK(f.status_of(2) == STRETTO_ERROR_STATE);
  CHECK(f.status_of(3) == STRETTO_ERROR_ARGUMENT);
  CHECK(f.status_of(4) == STRETTO_ERROR_ARGUMENT);
  CHECK(f.status_of(5) == STRETTO_ERROR_STATE);
}
