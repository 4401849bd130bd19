// SPDX-License-Identifier: Apache-2.0
// Question: do the firmware's services turn packets into the right device state, refuse what they
// must with a status and a console line, and tell the driver once and in the right order? State
// space: queues with and without barrier, one GPU of a ring of four, an output of 5 x 3 tiles (640
// x 300 elements, last column 44 wide). Fault injection: each guard once.
#include "tests/unit/sw/fake_device.h"

#include <catch2/catch.hpp>

#include <cstring>

#include "sw/firmware/dispatch_service.h"
#include "sw/firmware/packet_service.h"
#include "sw/firmware/transfer_service.h"
#include "sw/firmware/trigger_service.h"
#include "sw/include/formats/code_object.h"
#include "sw/include/formats/machine_types.h"

using stretto::test::FakeDevice;

namespace {

constexpr auto kGemm = static_cast<unsigned>(stretto::TrafficClass::gemm);
constexpr auto kRs = static_cast<uint8_t>(stretto::TrafficClass::rs);
constexpr auto kFp16 = static_cast<uint8_t>(stretto::ElementType::fp16);
constexpr unsigned kGpu = 1;
constexpr uint64_t kOwn = uint64_t{kGpu + 1} << STRETTO_NODE_SHIFT;
constexpr uint64_t kPeer = uint64_t{1} << STRETTO_NODE_SHIFT;
constexpr uint64_t kHost = uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT;
constexpr uint64_t kOutput = 0x200000;
constexpr uint64_t kDescriptor = kOwn + 0x300000;
constexpr uint32_t kPitch = 600;

struct Firmware {
  FakeDevice device;
  shared_t shared{};
  trigger_service_t trigger{};
  packet_service_t packets{};

  Firmware() {
    shared.gpu_id = kGpu;
    shared.limits = {80, 256 * 1024, 96 * 1024, 64, 32};
    REQUIRE(gpu_init(&shared.gpu) == STRETTO_OK);
    REQUIRE(grid_scheduler_init(&shared.scheduler, &shared.limits) == STRETTO_OK);
    REQUIRE(dma_init(&shared.dma) == STRETTO_OK);
    REQUIRE(trigger_service_init(&trigger, &shared) == STRETTO_OK);
    REQUIRE(packet_service_init(&packets, &shared, &trigger) == STRETTO_OK);
    device.writes.clear();
  }

  uint64_t signal(unsigned index) const {
    return kHost + STRETTO_SIGNAL_OFFSET(uint64_t{kGpu}, index);
  }

  // Puts a packet into queue 0; its signal is signal(index).
  void put(uint64_t index, stretto_packet_t packet) {
    packet.vendor.completion_signal = signal(static_cast<unsigned>(index));
    const uint64_t slot = kOwn + STRETTO_QUEUE_OFFSET(0) + index % STRETTO_QUEUE_PACKETS * 64;
    for (unsigned i = 0; i < 8; ++i) device.word[slot + 8 * i] = packet.words[i];
    device.word[packet.vendor.completion_signal] = STRETTO_SIGNAL_PENDING;
  }
  void ring(uint64_t index) {
    device.word[STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET] = 1;
    device.word[STRETTO_DOORBELL_BASE + DOORBELL_VALUE_OFFSET] = index;
    packet_service_doorbell(&packets);
    packet_service_run(&packets);
  }
  int64_t status_of(unsigned index) { return static_cast<int64_t>(device.at(signal(index))); }

  void kernel_ends(unsigned slot) {
    device.word[STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_DONE_OFFSET] = 1u << slot;
    completion_service_irq(&shared, STRETTO_IRQ_GRID_SCHEDULER);
  }

  void put_descriptor(uint32_t registers_bytes = 112 * 1024) {
    stretto_kernel_descriptor_t d{};
    d.magic = STRETTO_KERNEL_MAGIC;
    d.type = STRETTO_KERNEL_TENSOR;
    d.entry = kDescriptor - 0x1000 + 0x40;
    d.registers_bytes = registers_bytes;
    d.lds_bytes = 32 * 1024;
    d.private_bytes = 256;
    d.wavefronts = 8;
    d.kernarg_bytes = 56;
    d.code_base = kDescriptor - 0x1000;
    d.code_bytes = 0x2000;
    uint64_t words[8];
    std::memcpy(words, &d, sizeof d);
    for (unsigned i = 0; i < 8; ++i) device.word[kDescriptor + 8 * i] = words[i];
  }
};

stretto_packet_t vendor(stretto_operation_t operation, uint32_t flags = 0) {
  stretto_packet_t packet{};
  packet.vendor.header = STRETTO_PACKET_VENDOR;
  packet.vendor.operation = static_cast<uint16_t>(operation);
  packet.vendor.flags = flags;
  return packet;
}

stretto_packet_t dispatch(uint32_t work_groups, bool barrier = false) {
  stretto_packet_t packet{};
  packet.dispatch.header = static_cast<uint16_t>(STRETTO_PACKET_KERNEL_DISPATCH |
                                                 (barrier ? STRETTO_PACKET_BARRIER : 0));
  packet.dispatch.setup = 1;
  packet.dispatch.workgroup_size_x = 8;
  packet.dispatch.workgroup_size_y = packet.dispatch.workgroup_size_z = 1;
  packet.dispatch.flags = STRETTO_DISPATCH_UPDATE | kGemm << STRETTO_DISPATCH_TRAFFIC_SHIFT;
  packet.dispatch.grid_size_x = work_groups * 8;
  packet.dispatch.grid_size_y = packet.dispatch.grid_size_z = 1;
  packet.dispatch.kernel_object = kDescriptor;
  packet.dispatch.kernarg_address = kOwn + 0x400000;
  return packet;
}

stretto_packet_t fill(uint64_t bytes) {
  stretto_packet_t packet = vendor(STRETTO_OP_FILL);
  packet.vendor.fill = {kOwn + kOutput, bytes, 0, {}};
  return packet;
}

stretto_output_config_t output() {
  stretto_output_config_t o{};
  o.base = kOwn + kOutput;
  o.m = 640;
  o.n = 300;
  o.pitch = kPitch;
  o.tile_m = o.tile_n = 128;
  o.wavefronts = 8;
  o.updates = 2;
  o.element = kFp16;
  o.traffic = kRs;
  return o;
}

stretto_map_t tiles(uint32_t first, uint32_t count) {
  stretto_map_t map{};
  map.first_tile = first;
  map.tile_count = count;
  map.peer_base = kPeer + kOutput;
  map.updates = 2;
  map.allocation = STRETTO_ALLOCATION_UNCACHED;
  return map;
}

void configure(Firmware& f, uint32_t work_groups = 0) {
  const stretto_spill_table_t spill = {kOwn + 0x100000, 15 * 64, {}};
  stretto_output_config_t o = output();
  o.work_groups = work_groups;
  REQUIRE(trigger_service_spill_table(&f.trigger, &spill) == STRETTO_OK);
  REQUIRE(trigger_service_output(&f.trigger, &o) == STRETTO_OK);
}

uint64_t range_field(FakeDevice& device, uint64_t offset, unsigned index) {
  return device.at(STRETTO_RANGE_TABLE_BASE + offset +
                   index * uint64_t{RANGE_TABLE_ENTRY_BASE_STRIDE});
}

}  // namespace

// Maps

TEST_CASE("a chunk that begins and ends inside tile rows becomes three rectangles") {
  Firmware f;
  configure(f);
  // Tiles 2 .. 9 of 5 x 3: (0, 2); rows 1, 2; (3, 0). The last column is 44 elements wide.
  const stretto_map_t map = tiles(2, 8);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP,
                              STRETTO_MAP_TILES | STRETTO_MAP_UPDATE, &map) == STRETTO_OK);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_BASE_OFFSET, 0) == kOwn + kOutput + 512);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET, 0) == 88);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_ROWS_OFFSET, 0) == 128);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_PEER_BASE_OFFSET, 0) == kPeer + kOutput + 512);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_BASE_OFFSET, 1) == kOwn + kOutput + 128 * kPitch);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET, 1) == 600);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_ROWS_OFFSET, 1) == 256);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_BASE_OFFSET, 2) == kOwn + kOutput + 384 * kPitch);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET, 2) == 256);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_ROWS_OFFSET, 2) == 128);
  // Valid, dma, update, tracked, uncached.
  for (unsigned i = 0; i < 3; ++i)
    CHECK(range_field(f.device, RANGE_TABLE_ENTRY_FLAGS_OFFSET, i) ==
          (1 | 2 << 1 | 1 << 3 | 1 << 4 | 2 << 5));
  CHECK(f.trigger.ranges.used == 3);
}

TEST_CASE("T3-DMA-01, -07: the DMA region of a chunk is armed before its stores can find a range") {
  Firmware f;
  configure(f);
  const stretto_map_t map = tiles(3, 3);
  f.device.writes.clear();
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP,
                              STRETTO_MAP_TILES | STRETTO_MAP_UPDATE, &map) == STRETTO_OK);
  CHECK(f.device.position(STRETTO_DMA_BASE + DMA_REGION_CONTROL_OFFSET) <
        f.device.position(STRETTO_RANGE_TABLE_BASE + RANGE_TABLE_ENTRY_FLAGS_OFFSET));
  CHECK(f.device.at(STRETTO_DMA_BASE + DMA_REGION_RANGE_OFFSET) == (3 | uint64_t{3} << 32));
  CHECK(f.device.at(STRETTO_DMA_BASE + DMA_REGION_PEER_OFFSET) == kPeer + kOutput);
  CHECK(f.shared.regions_mapped[0] == 1);
}

TEST_CASE(
    "the Tracker is armed with thresholds before any chunk is mapped, and told the remote chunk") {
  Firmware f;
  configure(f);
  // The first write to control stops it, the one after the thresholds starts it.
  REQUIRE(f.device.writes.back().address == STRETTO_TRACKER_BASE + TRACKER_CONTROL_OFFSET);
  CHECK(f.device.position(STRETTO_TRACKER_BASE + TRACKER_THRESHOLD_OFFSET_AT(7)) <
        f.device.writes.size() - 1);
  CHECK((f.device.at(STRETTO_TRACKER_BASE + TRACKER_CONTROL_OFFSET) & 1) == 1);
  const stretto_map_t map = tiles(12, 3);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP,
                              STRETTO_MAP_TILES | STRETTO_MAP_UPDATE | STRETTO_MAP_TRACKED,
                              &map) == STRETTO_OK);
  CHECK(f.device.at(STRETTO_TRACKER_BASE + TRACKER_UNTRACKED_OFFSET) == (12 | uint64_t{3} << 32));
  CHECK(f.trigger.regions == 0);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_FLAGS_OFFSET, 0) ==
        (1 | 1 << 1 | 1 << 3 | 1 << 4 | 2 << 5));
}

TEST_CASE("the own chunk has a region that only counts completion") {
  Firmware f;
  configure(f);
  const stretto_map_t map = tiles(0, 3);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP,
                              STRETTO_MAP_TILES | STRETTO_MAP_UPDATE | STRETTO_MAP_TRACKED,
                              &map) == STRETTO_OK);
  CHECK(f.device.at(STRETTO_DMA_BASE + DMA_REGION_PEER_OFFSET) == 0);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_PEER_BASE_OFFSET, 0) == 0);
}

TEST_CASE(
    "T3-AGC-01: gathered tiles raise events, have no DMA region, and are forgotten by a reset") {
  Firmware f;
  configure(f);
  const uint32_t flags =
      STRETTO_MAP_TILES | STRETTO_MAP_UPDATE | STRETTO_MAP_TRACKED | STRETTO_MAP_EVENT;
  stretto_map_t map = tiles(6, 4);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, flags, &map) == STRETTO_OK);
  CHECK(f.device.at(STRETTO_TRACKER_BASE + TRACKER_EVENT_OFFSET) == (6 | uint64_t{4} << 32));
  CHECK(f.trigger.regions == 0);
  map = tiles(0, 3);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, flags, &map) ==
        STRETTO_ERROR_TABLE_FULL);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_ERROR_ARGUMENT);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, flags & ~STRETTO_MAP_TRACKED, &map) ==
        STRETTO_ERROR_ARGUMENT);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, flags & ~STRETTO_MAP_TILES, &map) ==
        STRETTO_ERROR_ARGUMENT);
  REQUIRE(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  CHECK(f.device.at(STRETTO_TRACKER_BASE + TRACKER_EVENT_OFFSET) == 0);
}

TEST_CASE("T3-AGC-02: gates are mapped to tiles, closed, and those that are there opened") {
  Firmware f;
  configure(f);
  stretto_gates_t gates = {6, 1, 2, 0, {}};
  CHECK(trigger_service_gates(&f.trigger, &gates) ==
        STRETTO_ERROR_STATE);  // No tile raises events.
  REQUIRE(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  stretto_output_config_t o = output();
  o.tile_m = 16;  // 40 x 3 tiles.
  o.wavefronts = 1;
  const stretto_spill_table_t spill = {kOwn + 0x100000, 120 * 64, {}};
  REQUIRE(trigger_service_spill_table(&f.trigger, &spill) == STRETTO_OK);
  REQUIRE(trigger_service_output(&f.trigger, &o) == STRETTO_OK);
  const stretto_map_t map = tiles(0, 120);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP,
                              STRETTO_MAP_TILES | STRETTO_MAP_TRACKED | STRETTO_MAP_EVENT,
                              &map) == STRETTO_OK);
  REQUIRE(trigger_service_gates(&f.trigger, &gates) == STRETTO_OK);
  CHECK(f.device.at(STRETTO_GPU_BASE + GPU_EVENT_MAP_OFFSET) == (6 | uint64_t{120} << 32));
  const uint64_t set = STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_GATE_SET_OFFSET;
  const uint64_t clear = STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_GATE_CLEAR_OFFSET;
  const auto& writes = f.device.writes;
  REQUIRE(writes.size() > 3);
  CHECK(writes[writes.size() - 3].address == clear);
  CHECK(writes[writes.size() - 2].address == set);
  CHECK(writes[writes.size() - 2].value == 1);
  CHECK(writes[writes.size() - 1].value == 2);
  gates.tiles_per_gate = 0;
  CHECK(trigger_service_gates(&f.trigger, &gates) == STRETTO_ERROR_ARGUMENT);
  gates = {6, 1000, 25, 0, {}};
  CHECK(trigger_service_gates(&f.trigger, &gates) == STRETTO_ERROR_ARGUMENT);
  REQUIRE(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  CHECK(f.device.at(STRETTO_GPU_BASE + GPU_EVENT_MAP_OFFSET) == 0);
}

TEST_CASE("T3-AGC-02: several wavefronts a tile, and more gates than there are, are refused") {
  Firmware f;
  configure(f);
  const stretto_map_t map = tiles(0, 15);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP,
                              STRETTO_MAP_TILES | STRETTO_MAP_TRACKED | STRETTO_MAP_EVENT,
                              &map) == STRETTO_OK);
  const stretto_gates_t gates = {3, 0, 0, 0, {}};
  CHECK(trigger_service_gates(&f.trigger, &gates) == STRETTO_ERROR_STATE);
  CHECK(gpu_set_event_map(&f.shared.gpu, 1, 1024) == STRETTO_OK);
  CHECK(gpu_set_event_map(&f.shared.gpu, 1, 1025) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("T3-AGC: tiles that are ready get a DMA region a peer and no range") {
  Firmware f;
  configure(f);
  stretto_map_t map = tiles(3, 5);
  const uint32_t flags = STRETTO_MAP_TILES | STRETTO_MAP_READY;
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_OK);
  map.peer_base += uint64_t{2} << STRETTO_NODE_SHIFT;
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_OK);
  CHECK(f.trigger.regions == 2);
  CHECK(f.trigger.runs == 0);
  CHECK(f.trigger.ranges.used == 0);
  CHECK((f.device.at(STRETTO_DMA_BASE + DMA_REGION_CONTROL_OFFSET_AT(1)) &
         DMA_REGION_CONTROL_READY_MASK) != 0);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, flags, &map) ==
        STRETTO_ERROR_ARGUMENT);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, STRETTO_MAP_READY, &map) ==
        STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("T3-SPLITK-01: the work-groups of the kernel give the local updates of an element") {
  // 5 x 3 tiles; 45 work-groups add three times, one more update comes in: 16 rows x 128 x 4.
  Firmware f;
  configure(f, 45);
  CHECK(f.device.at(STRETTO_TRACKER_BASE + TRACKER_THRESHOLD_OFFSET) == 0x2000200020002000);
  // As many work-groups as tiles are no split.
  Firmware whole;
  configure(whole, 15);
  CHECK(whole.device.at(STRETTO_TRACKER_BASE + TRACKER_THRESHOLD_OFFSET) == 0x1000100010001000);
  // A grid that does not divide among the tiles is no split.
  REQUIRE(trigger_service_reset(&whole.trigger, false) == STRETTO_OK);
  stretto_output_config_t o = output();
  o.work_groups = 40;
  CHECK(trigger_service_output(&whole.trigger, &o) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("T3-SPLITK-02: what three work-groups a tile write carries the id of the tile") {
  Firmware f;
  configure(f, 45);
  f.put_descriptor();
  const job_t job = {0, 0};
  stretto_packet_t packet = dispatch(45);
  REQUIRE(dispatch_service_start(&f.shared, &packet.dispatch, job) == STRETTO_OK);
  CHECK((f.device.at(STRETTO_GPU_BASE + GPU_CONTEXT_FLAGS_OFFSET) & GPU_CONTEXT_FLAGS_SPLIT_MASK) ==
        3 << GPU_CONTEXT_FLAGS_SPLIT_SHIFT);
  // As many as the thresholds count, or the tiles would never be complete, or too early.
  packet = dispatch(15);
  CHECK(dispatch_service_start(&f.shared, &packet.dispatch, job) == STRETTO_ERROR_ARGUMENT);
  // A kernel whose stores are not updates has nothing to do with it, nor has any after a reset.
  packet.dispatch.flags = 0;
  CHECK(dispatch_service_start(&f.shared, &packet.dispatch, job) == STRETTO_OK);
  REQUIRE(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  packet = dispatch(15);
  CHECK(dispatch_service_start(&f.shared, &packet.dispatch, job) == STRETTO_OK);
}

TEST_CASE("maps that cannot be are refused, each with its status") {
  Firmware f;
  const uint32_t flags = STRETTO_MAP_TILES | STRETTO_MAP_UPDATE;
  stretto_map_t map = tiles(0, 3);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) ==
        STRETTO_ERROR_STATE);  // no output
  configure(f);
  CHECK(trigger_service_map(nullptr, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_ERROR_ARGUMENT);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags | 1u << 9, &map) ==
        STRETTO_ERROR_ARGUMENT);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, STRETTO_MAP_UPDATE, &map) ==
        STRETTO_ERROR_ARGUMENT);
  map.tile_count = 0;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_ERROR_ARGUMENT);
  map = tiles(14, 2);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_ERROR_UNMAPPED);
  map = tiles(0, 3);
  map.updates = 3;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_ERROR_ARGUMENT);
  map = tiles(0, 3);
  map.peer_base = kOwn + kOutput;  // this GPU is not its own peer
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_ERROR_UNMAPPED);
  map = tiles(0, 3);
  map.allocation = 3;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_ERROR_ARGUMENT);
  map = tiles(0, 3);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_OK);
  map = tiles(2, 2);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_ERROR_OVERLAP);
  map = tiles(3, 3);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, flags, &map) == STRETTO_OK);
  map = tiles(6, 3);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, flags, &map) ==
        STRETTO_ERROR_TABLE_FULL);
  CHECK(f.trigger.ranges.used == 2);
}

TEST_CASE("a map that the range table refuses leaves no DMA region behind") {
  Firmware f;
  configure(f);
  f.device.on_write[STRETTO_RANGE_TABLE_BASE + RANGE_TABLE_ENTRY_FLAGS_OFFSET_AT(1)] =
      [&f](uint64_t) {
        f.device.word[STRETTO_RANGE_TABLE_BASE + RANGE_TABLE_STATUS_OFFSET] =
            RANGE_TABLE_STATUS_OVERLAP_MASK;
      };
  const stretto_map_t map = tiles(1, 7);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, STRETTO_MAP_TILES, &map) ==
        STRETTO_ERROR_OVERLAP);
  CHECK(f.trigger.ranges.used == 0);
  CHECK(f.trigger.regions == 0);
  CHECK(f.shared.regions_mapped[0] == 0);
  CHECK(f.device.at(STRETTO_DMA_BASE + DMA_REGION_CONTROL_OFFSET) == 0);
}

TEST_CASE("outputs and spill tables that do not fit are refused") {
  Firmware f;
  stretto_output_config_t o = output();
  CHECK(trigger_service_output(&f.trigger, &o) == STRETTO_ERROR_UNMAPPED);  // no spill table yet
  stretto_spill_table_t spill = {kPeer + 0x100000, 15 * 64, {}};
  CHECK(trigger_service_spill_table(&f.trigger, &spill) == STRETTO_ERROR_UNMAPPED);
  spill.base = kOwn + 0x100020;
  CHECK(trigger_service_spill_table(&f.trigger, &spill) == STRETTO_ERROR_ARGUMENT);
  configure(f);
  o.base = kPeer + kOutput;
  CHECK(trigger_service_output(&f.trigger, &o) == STRETTO_ERROR_UNMAPPED);
  o = output();
  o.pitch = 598;
  CHECK(trigger_service_output(&f.trigger, &o) == STRETTO_ERROR_ARGUMENT);
  o = output();
  o.m = 0;
  CHECK(trigger_service_output(&f.trigger, &o) == STRETTO_ERROR_ARGUMENT);
  o = output();
  o.m = 641;  // one tile row more than the spill table holds
  CHECK(trigger_service_output(&f.trigger, &o) == STRETTO_ERROR_UNMAPPED);
}

TEST_CASE("rectangles need memory of a GPU, bytes, and come before tiles") {
  Firmware f;
  stretto_map_t map{};
  map.base = kOwn + 0x500000;
  map.row_bytes = 4096;
  map.rows = 1;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, 0, &map) == STRETTO_OK);
  map.base = kPeer + 0x500000;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, 0, &map) == STRETTO_ERROR_UNMAPPED);
  map.peer_base = kPeer + 0x500000;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, 0, &map) == STRETTO_OK);
  map.peer_base = kHost;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, 0, &map) == STRETTO_ERROR_UNMAPPED);
  map.base = kHost;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, STRETTO_MAP_UPDATE, &map) ==
        STRETTO_ERROR_UNMAPPED);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, 0, &map) == STRETTO_OK);
  map.base = kOwn + STRETTO_GPU_MEMORY_LIMIT - 8;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, 0, &map) == STRETTO_ERROR_UNMAPPED);
  map.row_bytes = 0;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, 0, &map) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a reset keeps allocations and forgets tiles, regions and Tracker") {
  Firmware f;
  stretto_map_t allocation{};
  allocation.base = kOwn + kOutput;
  allocation.row_bytes = 640 * kPitch;
  allocation.rows = 1;
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, 0, &allocation) == STRETTO_OK);
  configure(f);
  const stretto_map_t map = tiles(0, 15);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP,
                              STRETTO_MAP_TILES | STRETTO_MAP_TRACKED, &map) == STRETTO_OK);
  REQUIRE(f.trigger.ranges.used == 2);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, 0, &allocation) ==
        STRETTO_ERROR_STATE);
  REQUIRE(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  CHECK(f.trigger.ranges.used == 1);
  CHECK(f.trigger.regions == 0);
  CHECK(f.shared.regions_mapped[0] == 0);
  CHECK((f.device.at(STRETTO_TRACKER_BASE + TRACKER_CONTROL_OFFSET) & 1) == 0);
  REQUIRE(trigger_service_reset(&f.trigger, true) == STRETTO_OK);
  CHECK(f.trigger.ranges.used == 0);
}

TEST_CASE(
    "a reset waits for the Tracker's last memory answers and gives up on one that stays busy") {
  Firmware f;
  configure(f);
  int busy = 5;
  f.device.on_read[STRETTO_TRACKER_BASE + TRACKER_STATUS_OFFSET] = [&] {
    return busy-- > 0 ? uint64_t{1} : uint64_t{0};
  };
  CHECK(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  busy = 1000000;
  CHECK(trigger_service_reset(&f.trigger, false) == STRETTO_ERROR_STATE);
}

// Packets

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
    "a kernel is complete only after its L2 write-back, and its slot is free before it is "
    "announced") {
  Firmware f;
  f.put_descriptor();
  f.put(0, dispatch(15));
  f.ring(0);
  int polls = 3;
  f.device.on_read[STRETTO_GPU_BASE + GPU_L2_STATUS_OFFSET] = [&] { return polls-- > 0 ? 1u : 0u; };
  f.device.writes.clear();
  f.kernel_ends(0);
  CHECK(polls == -1);
  const size_t write_back = f.device.position(STRETTO_GPU_BASE + GPU_L2_COMMAND_OFFSET);
  const size_t release =
      f.device.position(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_DONE_OFFSET);
  const size_t told = f.device.position(f.signal(0));
  CHECK(write_back < release);
  CHECK(release < told);
  CHECK(f.shared.slots_started[0] == f.shared.slots_ended[0]);
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
        (1 | kGemm << 4 | 1 << 8 | 1 << 16));
  CHECK(f.device.at(STRETTO_GPU_BASE + GPU_CONTEXT_KERNARG_BYTES_OFFSET) == 56);
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_RANGE_OFFSET) == uint64_t{15}
                                                                                           << 32);
  CHECK(f.device.at(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_SLOT_ORDER_OFFSET) ==
        (15 | uint64_t{6} << 32));
}

TEST_CASE("dispatches that cannot run are refused, each with its status") {
  Firmware f;
  const job_t job = {0, 0};
  const auto status = [&](auto change) {
    stretto_packet_t packet = dispatch(15);
    change(packet.dispatch);
    return dispatch_service_start(&f.shared, &packet.dispatch, job);
  };
  CHECK(status([](auto&) {}) == STRETTO_ERROR_KERNEL);  // no descriptor there
  f.put_descriptor();
  CHECK(status([](auto& d) { d.kernel_object = kPeer; }) == STRETTO_ERROR_KERNEL);
  CHECK(status([](auto& d) { d.setup = 2; }) == STRETTO_ERROR_ARGUMENT);
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

TEST_CASE("a ninth kernel waits for a slot") {
  Firmware f;
  f.put_descriptor();
  for (unsigned i = 0; i < 9; ++i) f.put(i, dispatch(15));
  f.ring(8);
  CHECK(f.packets.next[0] == 8);
  f.kernel_ends(3);
  packet_service_run(&f.packets);
  CHECK(f.packets.next[0] == 9);
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

stretto_packet_t copy(uint64_t destination, uint64_t source, uint64_t bytes) {
  stretto_packet_t packet = vendor(STRETTO_OP_COPY);
  packet.vendor.copy = {source, destination, bytes, {}};
  return packet;
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
