// SPDX-License-Identifier: Apache-2.0
// Question: do the firmware's services turn packets into the right device state, refuse what they
// must with a status and a console line, and tell the driver once and in the right order? State
// space: queues with and without barrier. Fault injection: each guard once.
#include "tests/unit/sw/firmware_bench.h"

#include "sw/firmware/services/transfer_service.h"

using namespace stretto::test;

TEST_CASE("a map packet is answered with 0, its slot freed and the read index told") {
  Firmware f;
  stretto_packet_t packet = vendor(STRETTO_OP_LOCAL_MAP);
  packet.vendor.map.base = kOwn + 0x500000;
  packet.vendor.map.row_bytes = 4096;
  packet.vendor.map.rows = 1;
  f.put(0, packet);
  f.ring(0);
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK((f.device.at(kOwn + STRETTO_QUEUE_OFFSET(0)) & 0xFFFF) == STRETTO_PACKET_INVALID);
  CHECK(f.device.at(kHost + STRETTO_READ_INDEX_OFFSET(uint64_t{kGpu}, 0)) == 1);
  CHECK(f.device.console.empty());
}

TEST_CASE(
    "a refused packet has a negative signal and one line on the console, and the queue goes on") {
  Firmware f;
  f.put(0, vendor(STRETTO_OP_COLLECTIVE_WAIT));
  f.put(1, vendor(static_cast<stretto_operation_t>(77)));
  stretto_packet_t barrier{};
  barrier.barrier.header = STRETTO_PACKET_BARRIER_AND;
  f.put(2, barrier);
  f.ring(2);
  completion_service_poke(&f.shared);
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.status_of(1) == STRETTO_ERROR_PACKET);
  CHECK(f.status_of(2) == STRETTO_OK);
  CHECK_THAT(f.device.console,
             Catch::Contains("queue 0 packet 1 (vendor): refused: unknown packet\n"));
}

TEST_CASE("a doorbell without a packet is refused, not waited for") {
  Firmware f;
  stretto_packet_t invalid{};
  invalid.header = STRETTO_PACKET_INVALID;
  f.put(0, invalid);
  f.ring(0);
  CHECK(f.status_of(0) == STRETTO_ERROR_PACKET);
}

TEST_CASE("a barrier bit holds a packet until earlier background work is complete") {
  Firmware f;
  f.put_descriptor();
  f.put(0, dispatch(15));
  f.put(1, dispatch(15, true));
  f.ring(1);
  CHECK(f.packets.next[0] == 1);
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_CONTROL_OFFSET) == 1);
  CHECK(f.status_of(0) == STRETTO_SIGNAL_PENDING);
  f.kernel_ends(0);
  CHECK(f.status_of(0) == STRETTO_OK);
  packet_service_run(&f.packets);
  CHECK(f.packets.next[0] == 2);
  f.kernel_ends(0);
  CHECK(f.status_of(1) == STRETTO_OK);
}

TEST_CASE(
    "a kernel that is released at system scope is complete after its write-back, its slot free "
    "before it is announced") {
  Firmware f;
  f.put_descriptor();
  f.put(0, with_scopes(dispatch(15), STRETTO_SCOPE_SYSTEM, STRETTO_SCOPE_SYSTEM));
  f.ring(0);
  CHECK(f.device.position(kL2Command) <
        f.device.position(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_CONTROL_OFFSET));
  CHECK(f.device.at(kL2Command) == GPU_L2_COMMAND_INVALIDATE_MASK);
  f.device.writes.clear();
  f.kernel_ends(0);
  CHECK(f.device.at(kL2Command) == GPU_L2_COMMAND_WRITE_BACK_MASK);
  CHECK(f.status_of(0) == STRETTO_SIGNAL_PENDING);
  CHECK(f.shared.slots_started[0] != f.shared.slots_ended[0]);
  f.written_back();
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.device.position(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_DONE_OFFSET) <
        f.device.position(f.signal(0)));
  CHECK(f.shared.slots_started[0] == f.shared.slots_ended[0]);
}

TEST_CASE("a kernel at device scope leaves the L2 alone, and ends while another is written back") {
  Firmware f;
  f.put_descriptor();
  f.put(0, with_scopes(dispatch(15), STRETTO_SCOPE_DEVICE, STRETTO_SCOPE_SYSTEM));
  f.put(1, with_scopes(dispatch(15), STRETTO_SCOPE_DEVICE, STRETTO_SCOPE_DEVICE));
  f.put(2, with_scopes(dispatch(15), STRETTO_SCOPE_DEVICE, STRETTO_SCOPE_SYSTEM));
  f.ring(2);
  f.kernel_ends(0);
  f.device.writes.clear();
  f.kernel_ends(1);
  CHECK(f.status_of(1) == STRETTO_OK);
  CHECK(f.status_of(0) == STRETTO_SIGNAL_PENDING);
  f.kernel_ends(2);
  CHECK(f.device.count(kL2Command) == 0);  // One write-back at a time.
  f.written_back();
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.status_of(2) == STRETTO_SIGNAL_PENDING);
  CHECK(f.device.count(kL2Command) == 1);
  f.written_back();
  CHECK(f.status_of(2) == STRETTO_OK);
}

TEST_CASE("a barrier that is released at system scope is complete after a write-back") {
  Firmware f;
  f.put_descriptor();
  stretto_packet_t barrier{};
  barrier.barrier.header = STRETTO_PACKET_BARRIER_AND | STRETTO_PACKET_BARRIER;
  f.put(0, with_scopes(dispatch(15), STRETTO_SCOPE_DEVICE, STRETTO_SCOPE_DEVICE));
  f.put(1, with_scopes(barrier, 0, STRETTO_SCOPE_SYSTEM));
  f.ring(1);
  CHECK(f.packets.next[0] == 1);
  f.device.writes.clear();
  f.kernel_ends(0);
  packet_service_run(&f.packets);
  completion_service_poke(&f.shared);
  CHECK(f.device.count(kL2Command) == 1);
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.status_of(1) == STRETTO_SIGNAL_PENDING);
  f.written_back();
  CHECK(f.status_of(1) == STRETTO_OK);
}

TEST_CASE("a dispatch programs its context before the launch, with the staggered order") {
  Firmware f;
  f.put_descriptor();
  stretto_packet_t packet = dispatch(15);
  packet.dispatch.order = STRETTO_ORDER(0, 0, 6, 0);
  f.put(0, packet);
  f.ring(0);
  CHECK(f.device.position(STRETTO_GPU_BASE + GPU_CONTEXT_FLAGS_OFFSET) <
        f.device.position(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_CONTROL_OFFSET));
  CHECK(f.device.at(STRETTO_GPU_BASE + GPU_CONTEXT_FLAGS_OFFSET) ==
        (1 | kKernelAccount << 4 | 1 << 8 | 1 << 16));
  CHECK(f.device.at(STRETTO_GPU_BASE + GPU_CONTEXT_KERNARG_BYTES_OFFSET) == 56);
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_RANGE_OFFSET) == uint64_t{15}
                                                                                           << 32);
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_ORDER_OFFSET) ==
        (15 | uint64_t{6} << 32));
}

TEST_CASE("a grid of three dimensions, and a range of ids above 65,535") {
  Firmware f;
  f.put_descriptor();
  stretto_packet_t packet = dispatch(1000);
  packet.dispatch.setup = 3;
  packet.dispatch.grid_size_y = 300;
  packet.dispatch.grid_size_z = 2;
  packet.dispatch.flags = STRETTO_DISPATCH_RANGE;
  packet.dispatch.order = STRETTO_RANGE(500'000u, 70'000u);
  f.put(0, packet);
  f.ring(0);
  CHECK(f.device.at(STRETTO_GPU_BASE + GPU_CONTEXT_GRID_OFFSET) ==
        (uint64_t{2} << 48 | uint64_t{300} << 32 | 600'000));
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_RANGE_OFFSET) ==
        (uint64_t{70'000} << 32 | 500'000));
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_ORDER_OFFSET) == 600'000);
}

TEST_CASE("dispatches that cannot run are refused, each with its status") {
  Firmware f;
  const job_t job{};
  const auto status = [&](auto change) {
    stretto_packet_t packet = dispatch(15);
    change(packet.dispatch);
    return dispatch_service_start(&f.shared, &packet.dispatch, job);
  };
  CHECK(status([](auto&) {}) == STRETTO_ERROR_KERNEL);  // no descriptor there
  f.put_descriptor();
  CHECK(status([](auto& d) { d.kernel_object = kPeer; }) == STRETTO_ERROR_KERNEL);
  for (const uint16_t setup : {0, 4})
    CHECK(status([&](auto& d) { d.setup = setup; }) == STRETTO_ERROR_ARGUMENT);
  // A dimension that `setup` does not name; none; more than the register holds.
  CHECK(status([](auto& d) {
          d.setup = 2;
          d.grid_size_z = 2;
        }) == STRETTO_ERROR_ARGUMENT);
  for (const uint32_t y : {0u, 65'536u}) {
    CHECK(status([&](auto& d) {
            d.setup = 3;
            d.grid_size_y = y;
          }) == STRETTO_ERROR_ARGUMENT);
  }
  // Output tiles have 16-bit ids; without updates a grid is larger, to 2^31 - 1.
  CHECK(status([](auto& d) {
          d.setup = 2;
          d.grid_size_y = 4370;
        }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& d) {
          d.flags = 0;
          d.setup = 3;
          d.grid_size_y = d.grid_size_z = 12'000;
        }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& d) {
          d.flags = STRETTO_DISPATCH_RANGE;
          d.order = STRETTO_RANGE(4'294'967'290u, 10u);
        }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& d) { d.grid_size_y = 2; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& d) { d.workgroup_size_x = 4; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& d) { d.grid_size_x = 0; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& d) { d.grid_size_x = 65537 * 8; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& d) { d.order = STRETTO_ORDER(10, 6, 0, 0); }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& d) { d.order = STRETTO_ORDER(0, 0, 15, 0); }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& d) {
          d.grid_size_x = 8 * 1025;
          d.order = STRETTO_ORDER(0, 0, 0, 1);
        }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& d) { d.kernarg_address = 0x1000; }) == STRETTO_ERROR_UNMAPPED);
  CHECK(status([](auto& d) { d.group_segment_bytes = 96 * 1024 + 1; }) == STRETTO_ERROR_RESOURCES);
  f.put_descriptor(256 * 1024 + 1);
  CHECK(status([](auto&) {}) == STRETTO_ERROR_RESOURCES);
  CHECK(f.device.count(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_CONTROL_OFFSET) == 0);
}

TEST_CASE("a kernel more than there are slots waits for one") {
  Firmware f;
  f.put_descriptor();
  for (unsigned i = 0; i < 33; ++i) f.put(i, dispatch(15));
  f.ring(32);
  CHECK(f.packets.next[0] == 32);
  f.kernel_ends(31);
  packet_service_run(&f.packets);
  CHECK(f.packets.next[0] == 33);
}

TEST_CASE("a launch that the scheduler refuses is told as lack of resources") {
  Firmware f;
  f.put_descriptor();
  f.put(0, dispatch(15));
  f.ring(0);
  f.device.word[STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_STATE_OFFSET] =
      GRID_SCHEDULER_SLOT_STATE_STATE_REFUSED;
  f.kernel_ends(0);
  CHECK(f.status_of(0) == STRETTO_ERROR_RESOURCES);
}

TEST_CASE("fills and copies go to the engine on the account of their packet") {
  Firmware f;
  f.put(0, fill(4096));
  f.put(1, copy(kPeer + kOutput, kOwn + kOutput, 8));
  f.ring(1);
  std::vector<uint64_t> accounts;
  for (const auto& write : f.device.writes) {
    if (write.address == STRETTO_DMA_BASE + DMA_QUEUE_PUSH_OFFSET)
      accounts.push_back(STRETTO_FIELD_GET(write.value, DMA_QUEUE_PUSH_ACCOUNT));
  }
  CHECK(accounts == std::vector<uint64_t>{kFillAccount, kCopyAccount});
}

TEST_CASE("a fill that was faster than its entry in the ring is still told") {
  Firmware f;
  f.put(0, fill(4096));
  f.device.word[STRETTO_DMA_BASE + DMA_QUEUE_COMPLETED_OFFSET] = 1;
  completion_service_irq(&f.shared, STRETTO_IRQ_DMA);  // before hart 0 has published it
  f.ring(0);
  CHECK(f.device.at(STRETTO_CLINT_BASE + 4) == 1);  // hart 1 is poked
  completion_service_poke(&f.shared);
  CHECK(f.status_of(0) == STRETTO_OK);
}

TEST_CASE("fills are told in order, as far as the engine has come") {
  Firmware f;
  for (unsigned i = 0; i < 3; ++i) f.put(i, fill(4096));
  f.ring(2);
  f.device.word[STRETTO_DMA_BASE + DMA_QUEUE_COMPLETED_OFFSET] = 2;
  completion_service_irq(&f.shared, STRETTO_IRQ_DMA);
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.status_of(1) == STRETTO_OK);
  CHECK(f.status_of(2) == STRETTO_SIGNAL_PENDING);
}

TEST_CASE("fills outside of this GPU or of odd size are refused") {
  Firmware f;
  stretto_packet_t packet = fill(4096);
  packet.vendor.fill.address = kPeer + kOutput;
  f.put(0, packet);
  f.put(1, fill(4095));
  f.ring(1);
  CHECK(f.status_of(0) == STRETTO_ERROR_UNMAPPED);
  CHECK(f.status_of(1) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a copy programs the engine, to the byte, and is told when the engine is done") {
  Firmware f;
  f.put(0, copy(kPeer + kOutput + 3, kOwn + kOutput + 1, 17));
  f.put(1, copy(kHost + 0x5000, kOwn + kOutput, 8));
  f.ring(1);
  CHECK(f.device.at(STRETTO_DMA_BASE + DMA_QUEUE_SOURCE_OFFSET) == kOwn + kOutput);
  CHECK(f.device.at(STRETTO_DMA_BASE + DMA_QUEUE_DESTINATION_OFFSET) == kHost + 0x5000);
  CHECK(f.device.at(STRETTO_DMA_BASE + DMA_QUEUE_BYTES_OFFSET) == 8);
  for (const auto& write : f.device.writes) {
    if (write.address == STRETTO_DMA_BASE + DMA_QUEUE_PUSH_OFFSET)
      CHECK(STRETTO_FIELD_GET(write.value, DMA_QUEUE_PUSH_KIND) == DMA_QUEUE_PUSH_KIND_COPY);
  }
  CHECK(f.status_of(0) == STRETTO_SIGNAL_PENDING);
  f.device.word[STRETTO_DMA_BASE + DMA_QUEUE_COMPLETED_OFFSET] = 2;
  completion_service_irq(&f.shared, STRETTO_IRQ_DMA);
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.status_of(1) == STRETTO_OK);
}

TEST_CASE("a copy from elsewhere, to no memory or of no bytes is refused") {
  Firmware f;
  f.put(0, copy(kOwn + kOutput, kPeer + kOutput, 8));
  f.put(1, copy(kOwn + STRETTO_GPU_MEMORY_LIMIT - 4, kOwn + kOutput, 8));
  f.put(2, copy(kPeer + STRETTO_GPU_MEMORY_LIMIT - 4, kOwn + kOutput, 8));
  f.put(3, copy(kPeer + kOutput, kOwn + kOutput, 0));
  f.ring(3);
  for (unsigned i = 0; i < 3; ++i) CHECK(f.status_of(i) == STRETTO_ERROR_UNMAPPED);
  CHECK(f.status_of(3) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a signal writes the word, then rings the doorbell that belongs to no queue") {
  Firmware f;
  stretto_packet_t packet = vendor(STRETTO_OP_SIGNAL);
  packet.vendor.signal.address = kPeer + 0x600000;
  packet.vendor.signal.value = 77;
  const uint64_t bell = kPeer + STRETTO_DOORBELL_APERTURE + 8 * STRETTO_WAKE_DOORBELL;
  f.device.word[bell] = 1;
  f.put(0, packet);
  packet.vendor.signal.address = kHost + 0x7000;
  f.put(1, packet);
  packet.vendor.signal.address = kPeer + 0x600004;
  f.put(2, packet);
  packet.vendor.signal.address = kOwn + 0x600000;
  f.put(3, packet);
  packet.vendor.signal.address = kOwn + STRETTO_GPU_MEMORY_LIMIT;
  f.put(4, packet);
  f.ring(4);
  CHECK(f.device.at(kOwn + 0x600000) == 77);
  CHECK(f.status_of(3) == STRETTO_OK);
  CHECK(f.device.at(kPeer + 0x600000) == 77);
  CHECK(f.device.at(bell) == 0);
  CHECK(f.device.at(kHost + 0x7000) == 77);
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.status_of(2) == STRETTO_ERROR_ARGUMENT);
  CHECK(f.status_of(4) == STRETTO_ERROR_UNMAPPED);
}

TEST_CASE(
    "a signal that is asked for the time writes the clock to the host and the word if it has one") {
  Firmware f;
  f.device.word[STRETTO_CLINT_BASE + CLINT_MTIME_OFFSET] = 123'456;
  stretto_packet_t packet = vendor(STRETTO_OP_SIGNAL);
  packet.vendor.signal.time = kHost + 0x7000;
  f.put(0, packet);
  packet.vendor.signal.time = kHost + 0x7008;
  packet.vendor.signal.address = kOwn + 0x600000;
  f.device.word[kOwn + 0x600000] = 1;
  f.put(1, packet);
  packet.vendor.signal.time = kHost + 0x7004;
  f.put(2, packet);
  packet.vendor.signal.time = kOwn + 0x600008;
  f.put(3, packet);
  f.ring(3);
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.device.at(kHost + 0x7000) == 123'456);
  CHECK(f.status_of(1) == STRETTO_OK);
  CHECK(f.device.at(kHost + 0x7008) == 123'456);
  CHECK(f.device.at(kOwn + 0x600000) == 0);
  CHECK(f.status_of(2) == STRETTO_ERROR_ARGUMENT);
  CHECK(f.status_of(3) == STRETTO_ERROR_UNMAPPED);
}

TEST_CASE("a barrier that polls looks again at its time, whatever rings in between") {
  Firmware f;
  const uint64_t now = STRETTO_CLINT_BASE + CLINT_MTIME_OFFSET, word = kOwn + 0x600000;
  f.device.word[now] = 1000;
  f.device.word[word] = 1;
  stretto_packet_t packet{};
  packet.barrier.header = STRETTO_PACKET_BARRIER_AND;
  packet.barrier.dep_signal[0] = word;
  packet.barrier.poll_ns = 500;
  f.put(0, packet);
  f.ring(0);
  CHECK(packet_service_alarm(&f.packets) == 1500);
  f.device.word[word] = 0;
  f.device.word[now] = 1499;
  f.ring(0);
  CHECK(f.status_of(0) == STRETTO_SIGNAL_PENDING);
  f.device.word[now] = 1500;
  packet_service_run(&f.packets);
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(packet_service_alarm(&f.packets) == CLINT_NEVER);
}

TEST_CASE("a collective wait ends with the last mapped region") {
  Firmware f;
  configure(f);
  for (uint32_t i = 0; i < 2; ++i) {
    const stretto_map_t map = tiles(i * 3, 3);
    REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, STRETTO_MAP_TILES, &map) ==
            STRETTO_OK);
  }
  f.put(0, vendor(STRETTO_OP_COLLECTIVE_WAIT));
  f.ring(0);
  completion_service_poke(&f.shared);
  CHECK(f.status_of(0) == STRETTO_SIGNAL_PENDING);
  CHECK(trigger_service_reset(&f.trigger, false) == STRETTO_ERROR_STATE);
  f.device.word[STRETTO_DMA_BASE + DMA_REGION_DONE_OFFSET] = 1;
  completion_service_irq(&f.shared, STRETTO_IRQ_DMA);
  CHECK(f.status_of(0) == STRETTO_SIGNAL_PENDING);
  f.device.word[STRETTO_DMA_BASE + DMA_REGION_DONE_OFFSET] = 2;
  completion_service_irq(&f.shared, STRETTO_IRQ_DMA);
  CHECK(f.status_of(0) == STRETTO_OK);
  CHECK(f.device.count(f.signal(0)) == 1);
}

TEST_CASE("a barrier-and packet waits until its dependent signals are 0") {
  Firmware f;
  stretto_packet_t packet{};
  packet.barrier.header = STRETTO_PACKET_BARRIER_AND;
  packet.barrier.dep_signal[4] = kOwn + 0x600000;
  f.device.word[kOwn + 0x600000] = 1;
  f.put(0, packet);
  f.ring(0);
  CHECK(f.status_of(0) == STRETTO_SIGNAL_PENDING);
  f.device.word[kOwn + 0x600000] = 0;
  f.ring(0);
  CHECK(f.status_of(0) == STRETTO_OK);
  packet.barrier.dep_signal[0] = kHost;
  f.put(1, packet);
  f.ring(1);
  CHECK(f.status_of(1) == STRETTO_ERROR_UNMAPPED);
}

// What stays in the L2, and the policy of the scheduler

namespace {

stretto_packet_t persists(uint32_t action, uint64_t base, uint64_t bytes) {
  stretto_packet_t packet = vendor(STRETTO_OP_L2_PERSIST);
  packet.vendor.persist = {base, bytes, action, 0, {}};
  return packet;
}

constexpr uint64_t pin_bytes(unsigned range) {
  return STRETTO_GPU_BASE + GPU_L2_PIN_BYTES_OFFSET_AT(range);
}

}  // namespace

TEST_CASE(
    "a limit of the L2 becomes ways, and one that it cannot keep is refused with what it can") {
  Firmware f;
  // 40 MiB in 10 ways, of which 7 may be pinned.
  f.device.word[STRETTO_GPU_BASE + GPU_L2_SIZE_OFFSET] =
      40u << 20 | uint64_t{10} << 32 | uint64_t{7} << 40;
  const uint64_t share = STRETTO_GPU_BASE + GPU_L2_PERSIST_OFFSET;
  const uint64_t limits[] = {28u << 20, (12u << 20) - 1, 0, (28u << 20) + 1, (4u << 20) - 1};
  for (unsigned i = 0; i < 5; ++i) f.put(i, persists(STRETTO_L2_LIMIT, 0, limits[i]));
  for (const auto& [index, ways] : {std::pair(0u, 7u), std::pair(1u, 2u), std::pair(2u, 0u)}) {
    f.ring(index);
    CHECK(f.status_of(index) == STRETTO_OK);
    CHECK(f.device.at(share) == ways);
  }
  f.device.writes.clear();
  f.ring(4);
  CHECK(f.status_of(3) == STRETTO_ERROR_ARGUMENT);
  CHECK(f.status_of(4) == STRETTO_ERROR_ARGUMENT);
  CHECK(f.device.count(share) == 0);
  CHECK_THAT(f.device.console,
             Catch::Contains("packet 3 (l2_persist): refused: 29360129 bytes of the L2 for pinned "
                             "ranges: 4194304 to 29360128 are possible\n"));
}

TEST_CASE("ranges are pinned, unpinned and forgotten, and what cannot be is refused") {
  Firmware f;
  const auto at = [](unsigned i) { return kOwn + 0x800000 + 0x10000 * i; };
  for (unsigned i = 0; i < 4; ++i) f.put(i, persists(STRETTO_L2_PIN, at(i), 0x10000));
  f.put(4, persists(STRETTO_L2_PIN, at(4), 0x10000));
  f.put(5, persists(STRETTO_L2_UNPIN, at(1), 0));
  f.ring(5);
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(f.status_of(i) == STRETTO_OK);
    CHECK(f.device.at(STRETTO_GPU_BASE + GPU_L2_PIN_BASE_OFFSET_AT(i)) == at(i));
    CHECK(f.device.at(pin_bytes(i)) == (i == 1 ? 0 : 0x10000));
  }
  CHECK(f.status_of(4) == STRETTO_ERROR_TABLE_FULL);
  CHECK(f.status_of(5) == STRETTO_OK);
  const stretto_packet_t refused[] = {persists(STRETTO_L2_PIN, at(0) + 0xFF80, 0x100),
                                      persists(STRETTO_L2_PIN, at(4) + 64, 128),
                                      persists(STRETTO_L2_PIN, at(4), 64),
                                      persists(STRETTO_L2_PIN, at(4), 0),
                                      persists(STRETTO_L2_PIN, kPeer, 128),
                                      persists(STRETTO_L2_UNPIN, at(1), 0),
                                      persists(4, 0, 0)};
  const int64_t why[] = {STRETTO_ERROR_OVERLAP,  STRETTO_ERROR_ARGUMENT, STRETTO_ERROR_ARGUMENT,
                         STRETTO_ERROR_ARGUMENT, STRETTO_ERROR_UNMAPPED, STRETTO_ERROR_UNMAPPED,
                         STRETTO_ERROR_ARGUMENT};
  for (unsigned i = 0; i < 7; ++i) f.put(6 + i, refused[i]);
  f.ring(12);
  for (unsigned i = 0; i < 7; ++i) CHECK(f.status_of(6 + i) == why[i]);
  f.put(13, persists(STRETTO_L2_PIN, at(4), 0x80));
  f.put(14, persists(STRETTO_L2_RESET, 0, 0));
  f.ring(13);
  CHECK(f.device.at(pin_bytes(1)) == 0x80);
  f.ring(14);
  for (unsigned i = 0; i < 4; ++i) CHECK(f.device.at(pin_bytes(i)) == 0);
}

TEST_CASE("a packet sets the policy of the scheduler") {
  Firmware f;
  stretto_packet_t packet = vendor(STRETTO_OP_SCHEDULER_POLICY);
  packet.vendor.policy.in_order = packet.vendor.policy.two_arbiters = 1;
  f.put(0, packet);
  packet.vendor.policy.in_order = 2;
  f.put(1, packet);
  f.ring(1);
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_POLICY_OFFSET) == 3);
  CHECK(f.status_of(1) == STRETTO_ERROR_ARGUMENT);
  packet.vendor.policy.in_order = 0;
  packet.vendor.policy.strict_priority = 1;
  f.put(2, packet);
  packet.vendor.policy.strict_priority = 2;
  f.put(3, packet);
  f.ring(3);
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_POLICY_OFFSET) == 6);
  CHECK(f.status_of(3) == STRETTO_ERROR_ARGUMENT);
}

// What ends a run

TEST_CASE("a wavefront fault is printed with its place and ends the run") {
  Firmware f;
  f.device.word[STRETTO_GPU_BASE + GPU_FAULT_STATUS_OFFSET] = 1;
  f.device.word[STRETTO_GPU_BASE + GPU_FAULT_KIND_OFFSET] = 1 | uint64_t{3} << 32;
  f.device.word[STRETTO_GPU_BASE + GPU_FAULT_ADDRESS_OFFSET] = 0x1000;
  f.device.word[STRETTO_GPU_BASE + GPU_FAULT_WG_OFFSET] = 42;
  CHECK_THROWS_WITH(completion_service_irq(&f.shared, STRETTO_IRQ_FAULT), "tohost 7");
  CHECK_THAT(f.device.console,
             Catch::Contains("load from an unmapped address at 0x1000, work-group 42 wavefront 3"));
}

TEST_CASE("a DMA error is printed by name and ends the run") {
  Firmware f;
  f.device.word[STRETTO_DMA_BASE + DMA_ERROR_OFFSET] = DMA_ERROR_REPEATED_TRIGGER_MASK;
  f.device.word[STRETTO_DMA_BASE + DMA_ERROR_INFO_OFFSET] = 17 | uint64_t{2} << 32;
  CHECK_THROWS_WITH(completion_service_irq(&f.shared, STRETTO_IRQ_DMA_ERROR), "tohost 9");
  CHECK_THAT(f.device.console,
             Catch::Contains("DMA error: repeated trigger, work-group 17 wavefront 2"));
}
