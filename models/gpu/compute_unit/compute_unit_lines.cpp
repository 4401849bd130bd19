// SPDX-License-Identifier: Apache-2.0
// Lines of ComputeUnit (sw/include/tile.h): tile loads and stores with a flag in every 64 bytes.
//
// A load that misses a flag sleeps on a watch of that word, as wait_until does; when the last flag
// is there one read in the machine's time brings the bytes. It stands for the last read of a loop
// that polls: polls are charged and are no traffic.
#include <algorithm>
#include <cstring>

#include "models/gpu/compute_unit/compute_unit.h"

namespace stretto {
namespace {

constexpr uint64_t kFlag = sizeof(uint64_t);
static_assert(TILE_LINE_DATA + kFlag == TILE_LINE_BYTES);
static_assert(TILE_LINES_MAX % TILE_LINE_DATA == 0);

uint32_t lines_of(const TileShape& shape) {
  return (shape.row_bytes + TILE_LINE_DATA - 1) / TILE_LINE_DATA;
}
uint32_t bytes_of(const TileShape& shape, uint32_t line) {
  return std::min<uint32_t>(TILE_LINE_DATA, shape.row_bytes - line * TILE_LINE_DATA);
}

}  // namespace

// Whether the operands are such; else a fault.
bool ComputeUnit::are_lines(Wavefront& wavefront, const riscv::CustomOp& op, Step& step) {
  const TileShape shape = TileShape::decode(op.rs2_value);
  if (shape.rows != 1 || shape.row_bytes == 0 || shape.row_bytes > TILE_LINES_MAX) {
    step = fault(wavefront, FaultKind::bad_shape, op.rs1_value, 0,
                 "lines of " + std::to_string(shape.rows) + " rows of " +
                     std::to_string(shape.row_bytes) + " bytes");
    return false;
  }
  if (op.rs1_value % TILE_LINE_BYTES != 0) {
    step = fault(wavefront, FaultKind::misaligned, op.rs1_value, 0, "lines");
    return false;
  }
  return true;
}

ComputeUnit::Step ComputeUnit::load_lines(Wavefront& wavefront, Group& group,
                                          const riscv::CustomOp& op, ElementType element) {
  const TileShape shape = TileShape::decode(op.rs2_value);
  const uint64_t bytes = uint64_t{lines_of(shape)} * TILE_LINE_BYTES;
  Step step = Step::go_on;
  if (!are_lines(wavefront, op, step)) return step;
  const RangeEntry* const entry = parts_.ranges->find(op.rs1_value, static_cast<uint32_t>(bytes));
  if (entry != nullptr && entry->allocation == AllocationClass::shared) {
    return fault(wavefront, FaultKind::unmapped_load, op.rs1_value, 0,
                 "lines do not lie in shared ranges");
  }
  Slot& slot = slot_of(group, wavefront, op.rd);
  if (!ring_has_room(wavefront, step) || !writable(wavefront, slot, op.rd, step)) return step;
  if (!resize(group, op.rd, slot, shape.bytes())) {
    return fault(wavefront, FaultKind::no_room, op.rs1_value, 0,
                 "tile " + std::to_string(op.rd) + " of lines does not fit");
  }
  slot.tile.shape = shape;
  slot.tile.element = element;
  slot.tile.stamped = false;
  slot.tile.data.resize(shape.bytes());
  slot.staging.resize(bytes);
  slot.written = kUnknown;
  const uint32_t number = wavefront.last++;
  Wavefront::Operation& operation = wavefront.operation(number);
  operation = {};
  operation.tile = static_cast<uint8_t>(op.rd);
  operation.requests = 1;
  operation.lines = true;
  operation.since = wavefront.at;
  operation.data = wavefront.port.flag();
  operation.target = op.rs1_value;
  ++counters_.tile_loads;
  counters_.load_bytes += shape.bytes();
  poll_lines(wavefront, number, wavefront.at);
  if (wavefront.state == Wavefront::State::faulted) return Step::wait;
  return finish(wavefront, 2 * memory_instructions(bytes, op.rd >= TILE_FIRST_LDS));
}

// Reads the lines if all have the flag, else waits for the first that has not.
void ComputeUnit::poll_lines(Wavefront& wavefront, uint32_t number, Cycle at) {
  Wavefront::Operation& operation = wavefront.operation(number);
  const uint64_t index = groups_[wavefront.group].members[wavefront.id];
  operation.polls = true;
  if (groups_[wavefront.group].phase != Phase::runs) return;  // When it has been resumed.
  Slot& slot = slot_of(groups_[wavefront.group], wavefront, operation.tile);
  const uint32_t lines = lines_of(slot.tile.shape), bytes = lines * TILE_LINE_BYTES;
  slot.staging.resize(bytes);
  PooledPayload& payload =
      make_request(wavefront, tlm::TLM_READ_COMMAND, operation.target, slot.staging.data(), bytes);
  if (!apply_entry(wavefront, parts_.ranges->find(operation.target, bytes), operation.target, false,
                   payload))
    return;
  for (; operation.found < lines; ++operation.found) {
    const uint64_t word =
        operation.target + uint64_t{operation.found} * TILE_LINE_BYTES + TILE_LINE_DATA;
    if (peek(word, false) == operation.data) continue;
    payload.release();
    watch(word & STRETTO_OFFSET_MASK, false, (uint64_t{number} + 1) << 32 | index);
    return;
  }
  operation.polls = false;
  const uint64_t waited = at - std::min(at, operation.since);
  counters_.charged_polls += waited * 1000 / (uint64_t{spec_.poll_interval_ns} * spec_.clock_mhz);
  payload.extension.cookie = index << 32 | number;
  const Cycle done = send(at, payload);
  if (done == kUnknown) return;
  const bool failed = payload.is_response_error();
  payload.release();
  if (failed) {
    fault(wavefront, FaultKind::bus_error, operation.target, 0, "the memory refused lines");
    return;
  }
  request_done(wavefront, number, done);
}

bool ComputeUnit::take_lines(Wavefront& wavefront, uint32_t number) {
  Wavefront::Operation& operation = wavefront.operation(number);
  Slot& slot = slot_of(groups_[wavefront.group], wavefront, operation.tile);
  for (uint32_t line = 0; line < lines_of(slot.tile.shape); ++line) {
    const uint8_t* const from = slot.staging.data() + uint64_t{line} * TILE_LINE_BYTES;
    if (std::memcmp(from + TILE_LINE_DATA, &operation.data, kFlag) != 0) {
      operation.found = 0;
      operation.requests = 1;
      poll_lines(wavefront, number, operation.latest);
      return false;
    }
    std::copy_n(from, bytes_of(slot.tile.shape, line),
                slot.tile.data.begin() + uint64_t{line} * TILE_LINE_DATA);
  }
  return true;
}

ComputeUnit::Step ComputeUnit::store_lines(Wavefront& wavefront, Group& group,
                                           const riscv::CustomOp& op, ElementType element) {
  const TileShape shape = TileShape::decode(op.rs2_value);
  Step step = Step::go_on;
  if (!are_lines(wavefront, op, step)) return step;
  Slot& slot = slot_of(group, wavefront, op.rd);
  if (!ring_has_room(wavefront, step) || !readable(wavefront, slot, op.rd, step)) return step;
  const Tile& tile = slot.tile;
  if (tile.shape.rows != 1 || tile.shape.row_bytes < shape.row_bytes) {
    return fault(wavefront, tile.shape.rows == 0 ? FaultKind::empty_tile : FaultKind::bad_shape,
                 op.rs1_value, 0, "lines of tile " + std::to_string(op.rd));
  }
  // Earlier stores may still send what lies in the buffer.
  if (slot.stores != 0 && !writable(wavefront, slot, op.rd, step)) return step;
  const uint32_t lines = lines_of(shape);
  const uint64_t flag = wavefront.port.flag();
  slot.staging.assign(uint64_t{lines} * TILE_LINE_BYTES, 0);
  for (uint32_t line = 0; line < lines; ++line) {
    uint8_t* const to = slot.staging.data() + uint64_t{line} * TILE_LINE_BYTES;
    if (tile.stamped) {
      fill_with_nan(element, to, bytes_of(shape, line));
    } else {
      std::copy_n(tile.data.begin() + uint64_t{line} * TILE_LINE_DATA, bytes_of(shape, line), to);
    }
    std::memcpy(to + TILE_LINE_DATA, &flag, kFlag);
  }
  ++counters_.tile_stores;
  counters_.store_bytes += shape.bytes();
  const TileShape in_memory{1, lines * TILE_LINE_BYTES, 0};
  step = issue_tile(wavefront, group, op.rd, op.rs1_value, in_memory, ElementType::byte, true,
                    false, slot.staging.data());
  // As many instructions again put the flags in.
  if (step == Step::go_on)
    port_of(wavefront)
        .trace(position_of(wavefront))
        .add_slots(static_cast<uint32_t>(memory_instructions(in_memory.bytes(), false)));
  return step;
}

}  // namespace stretto
