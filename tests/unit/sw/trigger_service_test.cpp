// SPDX-License-Identifier: Apache-2.0
// Question: does the trigger service turn maps of tiles and rectangles into ranges, DMA regions and
// a programmed Tracker, in the order in which they may be found, and refuse what it must with a
// status? State space: maps of the output of firmware_bench.h, and resets. Fault injection: each
// guard once.
#include <array>

#include "sw/include/regs/link_regs.h"
#include "tests/unit/sw/firmware_bench.h"

using namespace stretto::test;

namespace {

uint64_t range_field(FakeDevice& device, uint64_t offset, unsigned index) {
  return device.at(STRETTO_RANGE_TABLE_BASE + offset +
                   index * uint64_t{RANGE_TABLE_ENTRY_BASE_STRIDE});
}

}  // namespace

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

TEST_CASE("a chunk of an output in strips becomes the rectangles of its tiles",
          "[T3-U09][T3-U20]") {
  Firmware f;
  configure(f);
  REQUIRE(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  stretto_output_config_t o = output();
  o.m = 500;  // 4 x 3 tiles; two strips of 2 rows.
  o.tile_order = 1;
  REQUIRE(trigger_service_output(&f.trigger, &o) == STRETTO_OK);
  // Tiles 3 .. 7: (1, 1); column 2 of the first strip; column 0 of the second.
  const stretto_map_t map = tiles(3, 5);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP,
                              STRETTO_MAP_TILES | STRETTO_MAP_UPDATE, &map) == STRETTO_OK);
  const auto field = [&](uint64_t offset, unsigned i) { return range_field(f.device, offset, i); };
  CHECK(f.trigger.ranges.used == 3);
  CHECK(field(RANGE_TABLE_ENTRY_BASE_OFFSET, 0) == kOwn + kOutput + 128 * kPitch + 256);
  CHECK(field(RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET, 0) == 256);
  CHECK(field(RANGE_TABLE_ENTRY_ROWS_OFFSET, 0) == 128);
  CHECK(field(RANGE_TABLE_ENTRY_BASE_OFFSET, 1) == kOwn + kOutput + 512);
  CHECK(field(RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET, 1) == 88);
  CHECK(field(RANGE_TABLE_ENTRY_ROWS_OFFSET, 1) == 256);
  CHECK(field(RANGE_TABLE_ENTRY_BASE_OFFSET, 2) == kOwn + kOutput + 256 * kPitch);
  CHECK(field(RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET, 2) == 256);
  CHECK(field(RANGE_TABLE_ENTRY_ROWS_OFFSET, 2) == 244);  // 500 - 256.
  CHECK(f.device.at(STRETTO_DMA_BASE + DMA_REGION_RANGE_OFFSET) == (3 | uint64_t{5} << 32));
  CHECK((f.device.at(STRETTO_DMA_BASE + DMA_REGION_WAVEFRONTS_OFFSET) >> 4 & 7) == 1);
  CHECK((f.device.at(STRETTO_TRACKER_BASE + TRACKER_STRIPS_OFFSET) & 0x3ffff) == (3 | 1 << 16));
  o.tile_order = 2 | 4;  // 3 columns are no strips of 4.
  REQUIRE(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  CHECK(trigger_service_output(&f.trigger, &o) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("the DMA region of a chunk is armed before its stores can find a range",
          "[T3-DMA-01][T3-DMA-07][T3-CFG-04]") {
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
    "the Tracker is armed with thresholds before any chunk is mapped, and told the remote chunk",
    "[T3-CFG-04]") {
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

TEST_CASE("chunks that go to several peers are left out by the Tracker together, around the end",
          "[T3-DIRECT-01][T3-DIRECT-03]") {
  Firmware f;
  configure(f);
  const uint32_t flags = STRETTO_MAP_TILES | STRETTO_MAP_UPDATE | STRETTO_MAP_TRACKED;
  const auto remote = [&](uint32_t first, uint32_t count, uint64_t node) {
    stretto_map_t map = tiles(first, count);
    map.peer_base = (node << STRETTO_NODE_SHIFT) + kOutput;
    return trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, flags, &map);
  };
  const auto untracked = [&] {
    return f.device.at(STRETTO_TRACKER_BASE + TRACKER_UNTRACKED_OFFSET);
  };
  // 15 tiles; 6..8 are its own.
  REQUIRE(remote(9, 6, 4) == STRETTO_OK);
  CHECK(untracked() == (9 | uint64_t{6} << 32));
  REQUIRE(remote(0, 3, 5) == STRETTO_OK);
  CHECK(untracked() == (9 | uint64_t{9} << 32));
  CHECK(remote(5, 1, 6) == STRETTO_ERROR_TABLE_FULL);
  CHECK(untracked() == (9 | uint64_t{9} << 32));
  REQUIRE(remote(3, 3, 6) == STRETTO_OK);
  CHECK(untracked() == (9 | uint64_t{12} << 32));
  const auto peer = [&](unsigned i) {
    return range_field(f.device, RANGE_TABLE_ENTRY_PEER_BASE_OFFSET, i) >> STRETTO_NODE_SHIFT;
  };
  CHECK(peer(0) == 4);  // Two tile rows.
  CHECK(peer(1) == 5);
  CHECK(peer(2) == 6);
  CHECK(f.trigger.regions == 0);
  const stretto_map_t own = tiles(6, 3);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, flags, &own) == STRETTO_OK);
  REQUIRE(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  configure(f);
  REQUIRE(remote(3, 3, 5) == STRETTO_OK);  // In front of those before it.
  REQUIRE(remote(0, 3, 4) == STRETTO_OK);
  CHECK(untracked() == (0 | uint64_t{6} << 32));
}

TEST_CASE("a remote map that the range table refuses leaves the untracked tiles as they were") {
  Firmware f;
  configure(f);
  const uint32_t flags = STRETTO_MAP_TILES | STRETTO_MAP_UPDATE | STRETTO_MAP_TRACKED;
  stretto_map_t map = tiles(0, 3);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, flags, &map) == STRETTO_OK);
  f.device.on_write[STRETTO_RANGE_TABLE_BASE + RANGE_TABLE_ENTRY_FLAGS_OFFSET_AT(1)] =
      [&f](uint64_t) {
        f.device.word[STRETTO_RANGE_TABLE_BASE + RANGE_TABLE_STATUS_OFFSET] =
            RANGE_TABLE_STATUS_OVERLAP_MASK;
      };
  map = tiles(3, 3);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, flags, &map) ==
        STRETTO_ERROR_OVERLAP);
  CHECK(f.device.at(STRETTO_TRACKER_BASE + TRACKER_UNTRACKED_OFFSET) == uint64_t{3} << 32);
}

TEST_CASE("the switch is asked to add what the others send to the output, until maps are reset",
          "[T3-SW-01]") {
  Firmware f;
  const uint32_t flags =
      STRETTO_MAP_TILES | STRETTO_MAP_UPDATE | STRETTO_MAP_TRACKED | STRETTO_MAP_SWITCH;
  const uint64_t at = uint64_t{STRETTO_NODE_SWITCH} << STRETTO_NODE_SHIFT;
  const auto result = [&](stretto_operation_t operation, uint32_t with) {
    stretto_map_t map = tiles(6, 3);
    map.updates = f.trigger.output.updates;
    return trigger_service_map(&f.trigger, operation, with, &map);
  };
  configure(f);
  CHECK(result(STRETTO_OP_LOCAL_MAP, flags) == STRETTO_ERROR_UNMAPPED);  // There is none.
  CHECK(f.trigger.ranges.used == 0);
  CHECK(f.trigger.regions == 0);
  f.device.word[STRETTO_LINK_BASE + LINK_ROUTE_OFFSET_AT(STRETTO_NODE_SWITCH)] =
      LINK_ROUTE_VALID_MASK;
  CHECK(result(STRETTO_OP_DMA_MAP, flags) == STRETTO_ERROR_ARGUMENT);
  CHECK(result(STRETTO_OP_LOCAL_MAP, flags & ~STRETTO_MAP_UPDATE) == STRETTO_ERROR_ARGUMENT);
  CHECK(result(STRETTO_OP_LOCAL_MAP, flags & ~STRETTO_MAP_TRACKED) == STRETTO_ERROR_ARGUMENT);
  CHECK(result(STRETTO_OP_LOCAL_MAP, flags & ~STRETTO_MAP_TILES) == STRETTO_ERROR_ARGUMENT);
  REQUIRE(result(STRETTO_OP_LOCAL_MAP, flags) == STRETTO_OK);
  // 640 x 300 elements, the own part left out.
  CHECK(f.device.at(at + SWITCH_ADD_BASE_OFFSET_AT(kGpu)) == kOwn + kOutput);
  CHECK(f.device.at(at + SWITCH_ADD_LENGTH_OFFSET_AT(kGpu)) == 639 * kPitch + 600);
  CHECK(f.device.at(at + SWITCH_ADD_PARTS_OFFSET_AT(kGpu)) == f.trigger.output.updates - 1u);
  CHECK(result(STRETTO_OP_LOCAL_MAP, flags) == STRETTO_ERROR_ARGUMENT);  // Once.
  REQUIRE(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  CHECK(f.device.at(at + SWITCH_ADD_PARTS_OFFSET_AT(kGpu)) == 0);
}

TEST_CASE("tiles that arrive in the place of those that leave are tracked, with the peer's ids",
          "[T3-A2A-01]") {
  Firmware f;
  configure(f);
  const uint32_t flags = STRETTO_MAP_TILES | STRETTO_MAP_TRACKED | STRETTO_MAP_ARRIVAL;
  stretto_map_t map = tiles(9, 3);
  // At the peer these are tiles 3 .. 5: two tile rows further up.
  map.peer_base = kPeer + kOutput - 2 * 128 * kPitch;
  map.id_shift = static_cast<uint16_t>(3 - 9);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, flags, &map) == STRETTO_OK);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_PEER_BASE_OFFSET, 0) ==
        kPeer + kOutput + 128 * kPitch);
  // Valid, remote, tracked, uncached, shifted by 65530.
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_FLAGS_OFFSET, 0) ==
        (1 | 1 << 1 | 1 << 4 | 2 << 5 | uint64_t{0xFFFA} << 16));
  CHECK(f.device.at(STRETTO_TRACKER_BASE + TRACKER_UNTRACKED_OFFSET) == 0);
  CHECK(f.trigger.regions == 1);  // Counts what arrives.
  CHECK(f.device.at(STRETTO_DMA_BASE + DMA_REGION_PEER_OFFSET) == 0);
  CHECK(f.device.at(STRETTO_DMA_BASE + DMA_REGION_RANGE_OFFSET) == (9 | uint64_t{3} << 32));

  map = tiles(0, 3);
  map.peer_base = kPeer - 128 * kPitch;  // Would begin below the peer's memory.
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, flags, &map) ==
        STRETTO_ERROR_UNMAPPED);
  CHECK(f.trigger.regions == 1);
  map = tiles(0, 3);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, flags, &map) ==
        STRETTO_ERROR_ARGUMENT);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, flags & ~STRETTO_MAP_TRACKED,
                            &map) == STRETTO_ERROR_ARGUMENT);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, flags & ~STRETTO_MAP_TILES, &map) ==
        STRETTO_ERROR_ARGUMENT);
  map.id_shift = 3;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, STRETTO_MAP_TILES | STRETTO_MAP_TRACKED,
                            &map) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("the own chunk has a region that only counts completion", "[T3-FUSE-04]") {
  Firmware f;
  configure(f);
  const stretto_map_t map = tiles(0, 3);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP,
                              STRETTO_MAP_TILES | STRETTO_MAP_UPDATE | STRETTO_MAP_TRACKED,
                              &map) == STRETTO_OK);
  CHECK(f.device.at(STRETTO_DMA_BASE + DMA_REGION_PEER_OFFSET) == 0);
  CHECK(range_field(f.device, RANGE_TABLE_ENTRY_PEER_BASE_OFFSET, 0) == 0);
}

TEST_CASE("gathered tiles raise events, have no DMA region, and are forgotten by a reset",
          "[T3-AGC-01]") {
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

TEST_CASE("gates are mapped to tiles, closed, and those that are there opened", "[T3-AGC-02]") {
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

TEST_CASE("several wavefronts a tile, and more gates than there are, are refused", "[T3-AGC-02]") {
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

TEST_CASE("tiles that are ready get a DMA region a peer and no range") {
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

TEST_CASE("operands are read from an array of their own and applied to the output in place",
          "[T3-FOLLOW-01]") {
  Firmware f;
  configure(f);
  stretto_map_t map = tiles(3, 5);
  map.peer_base = 0;
  map.base = kOwn + 0x800000;
  const uint32_t flags =
      STRETTO_MAP_TILES | STRETTO_MAP_READY | STRETTO_MAP_UPDATE | STRETTO_MAP_OPERAND;
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags | STRETTO_MAP_MULTIPLY, &map) ==
          STRETTO_OK);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_OK);
  const uint64_t control = DMA_REGION_CONTROL_VALID_MASK | DMA_REGION_CONTROL_OPERATION_MASK |
                           DMA_REGION_CONTROL_READY_MASK;
  const uint64_t all = control | DMA_REGION_CONTROL_TRACKED_MASK | DMA_REGION_CONTROL_MULTIPLY_MASK;
  for (unsigned i = 0; i < 2; ++i) {
    CHECK(f.device.at(STRETTO_DMA_BASE + DMA_REGION_BASE_OFFSET_AT(i)) == map.base);
    CHECK(f.device.at(STRETTO_DMA_BASE + DMA_REGION_PEER_OFFSET_AT(i)) == kOwn + kOutput);
    CHECK((f.device.at(STRETTO_DMA_BASE + DMA_REGION_CONTROL_OFFSET_AT(i)) & all) ==
          (control | (i == 0 ? DMA_REGION_CONTROL_MULTIPLY_MASK : 0)));
  }
  const auto result = [&](stretto_operation_t operation, uint32_t wrong) {
    return trigger_service_map(&f.trigger, operation, wrong, &map);
  };
  CHECK(result(STRETTO_OP_LOCAL_MAP, flags) == STRETTO_ERROR_ARGUMENT);
  CHECK(result(STRETTO_OP_DMA_MAP, flags & ~STRETTO_MAP_UPDATE) == STRETTO_ERROR_ARGUMENT);
  CHECK(result(STRETTO_OP_DMA_MAP, flags & ~STRETTO_MAP_READY) == STRETTO_ERROR_ARGUMENT);
  CHECK(result(STRETTO_OP_DMA_MAP, (flags & ~STRETTO_MAP_OPERAND) | STRETTO_MAP_MULTIPLY) ==
        STRETTO_ERROR_ARGUMENT);
  map.base = kPeer + 0x800000;
  CHECK(result(STRETTO_OP_DMA_MAP, flags) == STRETTO_ERROR_UNMAPPED);
}

TEST_CASE("the work-groups of the kernel give the local updates of an element", "[T3-SPLITK-01]") {
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

TEST_CASE("what three work-groups a tile write carries the id of the tile", "[T3-SPLITK-02]") {
  Firmware f;
  configure(f, 45);
  f.put_descriptor();
  const job_t job{};
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
  map.allocation = 4;
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_ERROR_ARGUMENT);
  map = tiles(0, 3);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_OK);
  map = tiles(2, 2);
  CHECK(trigger_service_map(&f.trigger, STRETTO_OP_DMA_MAP, flags, &map) == STRETTO_ERROR_OVERLAP);
  map = tiles(3, 3);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_REMOTE_MAP, flags, &map) == STRETTO_OK);
  map = tiles(7, 3);  // Not next to 3..5: the Tracker would have to leave out two intervals.
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

TEST_CASE("rectangles need memory of a GPU, and bytes") {
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

TEST_CASE("an allocation is forgotten by its first byte, not while tiles in it are mapped") {
  Firmware f;
  stretto_map_t map{};
  map.row_bytes = 4096;
  map.rows = 1;
  for (const uint64_t base : {0x500000, 0x600000, 0x700000}) {
    map.base = kOwn + base;
    REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, 0, &map) == STRETTO_OK);
  }
  CHECK(trigger_service_unmap(&f.trigger, kOwn + 0x500040) == STRETTO_ERROR_UNMAPPED);
  CHECK(trigger_service_unmap(&f.trigger, kOwn + 0x500000) == STRETTO_OK);
  CHECK(f.trigger.ranges.low == 2);
  CHECK(range_table_has(&f.trigger.ranges, kOwn + 0x600000));
  CHECK(range_table_has(&f.trigger.ranges, kOwn + 0x700000));
  map.base = kOwn + kOutput;
  map.row_bytes = 640 * kPitch;
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, 0, &map) == STRETTO_OK);
  configure(f);
  const stretto_map_t run = tiles(0, 15);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP,
                              STRETTO_MAP_TILES | STRETTO_MAP_TRACKED, &run) == STRETTO_OK);
  CHECK(trigger_service_unmap(&f.trigger, kOwn + kOutput) == STRETTO_ERROR_STATE);
  CHECK(trigger_service_unmap(&f.trigger, kOwn + 0x600000) == STRETTO_OK);
}

TEST_CASE("allocations of others come and go under mapped tiles, which stay over their own") {
  Firmware f;
  const auto at = [&](unsigned i) {
    return range_field(f.device, RANGE_TABLE_ENTRY_BASE_OFFSET, i);
  };
  const auto is_valid = [&](unsigned i) {
    return (range_field(f.device, RANGE_TABLE_ENTRY_FLAGS_OFFSET, i) & 1) != 0;
  };
  stretto_map_t own{}, other{};
  own.base = kOwn + kOutput;
  own.row_bytes = 640 * kPitch;
  other.base = kOwn + 0x900000;
  other.row_bytes = 4096;
  own.rows = other.rows = 1;
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, 0, &own) == STRETTO_OK);
  configure(f);
  // Tiles 2 .. 9 of 5 x 3 are three rectangles.
  const stretto_map_t run = tiles(2, 8);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP,
                              STRETTO_MAP_TILES | STRETTO_MAP_TRACKED, &run) == STRETTO_OK);
  const uint64_t first = at(1), second = at(2), third = at(3);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, 0, &other) == STRETTO_OK);
  CHECK(f.trigger.ranges.low == 2);
  CHECK(f.trigger.ranges.used == 5);
  CHECK(std::array{at(0), at(1), at(2), at(3), at(4)} ==
        std::array{own.base, other.base, second, third, first});
  REQUIRE(trigger_service_unmap(&f.trigger, other.base) == STRETTO_OK);
  CHECK(std::array{at(0), at(1), at(2), at(3)} == std::array{own.base, first, second, third});
  CHECK(is_valid(3));
  CHECK(f.trigger.ranges.used == 4);
  REQUIRE(trigger_service_map(&f.trigger, STRETTO_OP_LOCAL_MAP, 0, &other) == STRETTO_OK);
  REQUIRE(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  CHECK(f.trigger.ranges.used == 2);
  CHECK((is_valid(0) && is_valid(1)));
  CHECK(at(1) == other.base);
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

TEST_CASE("an output of FP8 may begin anywhere, and what are no numbers is refused",
          "[T3-2XCU-02]") {
  Firmware f;
  stretto_output_config_t o = output();
  configure(f);
  REQUIRE(trigger_service_reset(&f.trigger, false) == STRETTO_OK);
  o.base += 1;
  CHECK(trigger_service_output(&f.trigger, &o) == STRETTO_ERROR_ARGUMENT);
  for (const uint8_t element : {6, 7}) {
    o.element = element;
    o.pitch = 300;
    REQUIRE(trigger_service_output(&f.trigger, &o) == STRETTO_OK);
    // 16 rows x 128 x 2, and a region that is as wide as the bytes.
    CHECK(f.device.at(STRETTO_TRACKER_BASE + TRACKER_THRESHOLD_OFFSET) == 0x1000100010001000);
  }
  for (const uint8_t element : {4, 5, 8}) {
    o.element = element;
    CHECK(trigger_service_output(&f.trigger, &o) == STRETTO_ERROR_ARGUMENT);
  }
}
