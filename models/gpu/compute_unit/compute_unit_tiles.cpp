// SPDX-License-Identifier: Apache-2.0
// The tile instructions of ComputeUnit and the scoreboard. An instruction that must wait leaves the
// hart where it is and the wavefront in the state that says why; it is tried again from the start.
#include <algorithm>
#include <cassert>

#include "models/gpu/compute_unit/compute_unit.h"
#include "models/gpu/compute_unit/tile_functions.h"

namespace stretto {
namespace {

constexpr uint32_t kMaxRows = 1024;
constexpr uint32_t kMaxRowBytes = 8192;
constexpr unsigned kIllegal = static_cast<unsigned>(riscv::Cause::kIllegalInstruction);

uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

bool is_accumulator(unsigned name) { return name >= TILE_FIRST_ACCUMULATOR; }

}  // namespace

ComputeUnit::Slot& ComputeUnit::slot_of(Group& group, const Wavefront& wavefront, unsigned name) {
  group.has_tiles = true;
  if (name < TILE_FIRST_LDS) return group.slots[8 * wavefront.id + name];
  return group.slots[8 * group.wavefronts + (name - TILE_FIRST_LDS)];
}

bool ComputeUnit::advance(Wavefront& wavefront, Cycle until, Step& step) {
  if (until <= wavefront.at) return true;
  wake(wavefront, until);
  step = Step::stop;
  return false;
}

bool ComputeUnit::readable(Wavefront& wavefront, const Slot& slot, unsigned name, Step& step) {
  if (slot.written == kUnknown) {
    wavefront.state = Wavefront::State::tile;
    wavefront.waits_for = static_cast<uint8_t>(name);
    step = Step::stop;
    return false;
  }
  return advance(wavefront, slot.written, step);
}

bool ComputeUnit::writable(Wavefront& wavefront, const Slot& slot, unsigned name, Step& step) {
  if (slot.written == kUnknown || slot.stores != 0 || slot.reads != 0) {
    wavefront.state = Wavefront::State::tile;
    wavefront.waits_for = static_cast<uint8_t>(name);
    step = Step::stop;
    return false;
  }
  return advance(wavefront, std::max(slot.written, slot.read), step);
}

// Charges the tile's new size against the work-group's share; false if it does not fit.
bool ComputeUnit::resize(Group& group, unsigned name, Slot& slot, uint64_t bytes) {
  const bool lds = name >= TILE_FIRST_LDS && !is_accumulator(name);
  uint64_t& used = lds ? group.lds_bytes : group.register_bytes;
  const uint64_t limit = lds ? group.context->lds_bytes : group.context->registers_bytes;
  if (used - slot.bytes + bytes > limit) return false;
  used += bytes - slot.bytes;
  slot.bytes = static_cast<uint32_t>(bytes);
  return true;
}

bool ComputeUnit::operations_done(Wavefront& wavefront, uint32_t number, bool stores_only,
                                  Step& step) {
  Cycle until = wavefront.at;
  for (uint32_t i = wavefront.first; i != number; ++i) {
    const Wavefront::Operation& operation = wavefront.operation(i);
    if (stores_only && !operation.store) continue;
    if (operation.done == kUnknown) {
      wavefront.state = stores_only ? Wavefront::State::stores : Wavefront::State::count;
      wavefront.until = number;
      step = Step::stop;
      return false;
    }
    until = std::max(until, operation.done);
  }
  if (!advance(wavefront, until, step)) return false;
  if (!stores_only) wavefront.first = number;
  return true;
}

bool ComputeUnit::ring_has_room(Wavefront& wavefront, Step& step) {
  while (wavefront.first != wavefront.last) {
    const Cycle done = wavefront.operation(wavefront.first).done;
    if (done == kUnknown || done > wavefront.at) break;
    ++wavefront.first;
  }
  if (wavefront.last - wavefront.first < Wavefront::kMaxOperations) return true;
  return operations_done(wavefront, wavefront.first + 1, false, step);
}

// Puts an operation behind those of its pipe.
ComputeUnit::Step ComputeUnit::use(unsigned pipe, Wavefront& wavefront, Group& group,
                                   const PipeOperation& operation) {
  ++group.operations;
  slot_of(group, wavefront, operation.result).written = kUnknown;
  for (unsigned i = 0; i < operation.source_count; ++i)
    ++slot_of(group, wavefront, operation.sources[i]).reads;
  std::deque<PipeOperation>& queue = pipes_[pipe].queue;
  queue.push_back(operation);
  if (queue.size() == 1) begin_turn(pipe, wavefront.at);
  return finish(wavefront);
}

// Begins it or goes on with it. Slots go to the ports evenly, at the turns of the work-group's wavefronts.
void ComputeUnit::begin_turn(unsigned index, Cycle at) {
  Pipe& pipe = pipes_[index];
  const PipeOperation& operation = pipe.queue.front();
  const Group& group = groups_[wavefronts_[operation.wavefront]->group];
  counters_of(index).waiting += at - std::max(pipe.free, resident_since_);
  pipe.begin = at;
  pipe.turn = operation.clocks - operation.served;
  if (spec_.pipe_turn_cycles != 0) pipe.turn = std::min<Cycle>(pipe.turn, spec_.pipe_turn_cycles);
  pipe.look = at + pipe.turn;
  if (operation.slots == 0) return;
  const auto slots_before = [&operation](uint64_t clocks) {
    return clocks == operation.clocks ? operation.slots
                                      : operation.slots * clocks / operation.clocks;
  };
  const uint64_t slots =
      slots_before(operation.served + pipe.turn) - slots_before(operation.served);
  for (unsigned i = 0; i < ports_.size(); ++i) {
    uint64_t positions = 0;
    for (unsigned id = 0; id < group.wavefronts; ++id) {
      const unsigned slot = group.members[id];
      if (slot % ports_.size() == i) positions |= uint64_t{1} << slot / ports_.size();
    }
    if (positions == 0) positions = uint64_t{1} << operation.wavefront / ports_.size();
    const uint64_t share = slots * (i + 1) / ports_.size() - slots * i / ports_.size();
    ports_[i].advance(at);
    ports_[i].start(index, at, pipe.turn, share, positions);
  }
}

// Ends the turn under way if its time is over and all of its slots have been issued.
void ComputeUnit::look_at(unsigned index, Cycle now) {
  while (pipes_[index].look <= now) {
    uint64_t missing = 0;
    for (const IssuePort& port : ports_) missing = std::max(missing, port.missing(index));
    if (missing != 0) {
      pipes_[index].look = now + missing;
      return;
    }
    end_turn(index, now);
  }
}

void ComputeUnit::end_turn(unsigned index, Cycle at) {
  Pipe& pipe = pipes_[index];
  pipe.free = at;
  pipe.look = kUnknown;
  counters_of(index).busy += at - pipe.begin;
  PipeOperation& first = pipe.queue.front();
  first.served += pipe.turn;
  if (first.served == first.clocks) {
    end_operation(index, at);
    return;
  }
  give_turn(pipe, wavefronts_[first.wavefront]->group);
  begin_turn(index, at);
}

// To the others that wait: what a work-group has asked for stays in its order.
void ComputeUnit::give_turn(Pipe& pipe, uint8_t group) {
  if (pipe.queue.size() < 2) return;
  std::stable_partition(pipe.queue.begin(), pipe.queue.end(), [&](const PipeOperation& one) {
    return wavefronts_[one.wavefront]->group != group;
  });
}

void ComputeUnit::end_operation(unsigned index, Cycle at) {
  Pipe& pipe = pipes_[index];
  const PipeOperation operation = pipe.queue.front();
  pipe.queue.pop_front();
  counters_.multiply_adds += operation.multiply_adds;
  counters_.fp16_work += operation.fp16_work;
  ++counters_of(index).operations;
  const Wavefront& owner = *wavefronts_[operation.wavefront];
  Group& group = groups_[owner.group];
  group.fp16_work += operation.fp16_work;
  slot_of(group, owner, operation.result).written = at;
  for (unsigned i = 0; i < operation.source_count; ++i) {
    Slot& source = slot_of(group, owner, operation.sources[i]);
    --source.reads;
    source.read = std::max(source.read, at);
  }
  if (spec_.pipe_turn_cycles != 0) give_turn(pipe, owner.group);
  if (!pipe.queue.empty()) begin_turn(index, at);
  --group.operations;
  retire_when_done(group);
  look_at_frozen(group);
  uint32_t names = 1u << operation.result;
  for (unsigned i = 0; i < operation.source_count; ++i) names |= 1u << operation.sources[i];
  tiles_done(group, owner, names, at);
}

// Wakes who waits for one of the tiles; it looks again.
void ComputeUnit::tiles_done(Group& group, const Wavefront& owner, uint32_t names, Cycle at) {
  for (unsigned id = 0; id < group.wavefronts; ++id) {
    Wavefront& other = *wavefronts_[group.members[id]];
    if (other.state != Wavefront::State::tile) continue;
    const uint32_t seen = &other == &owner ? names : names & ~0u << TILE_FIRST_LDS;
    if (other.waits_for == Wavefront::kAnyTile || (seen >> other.waits_for & 1) != 0)
      wake(other, at);
  }
}

// Native instructions of a product: matrix instructions, operands from LDS (wavefronts with a tile
// of kWavefrontTile squared, each fetches its rows and columns), and what goes around them.
// `fma`: multiply-adds, as many of FP16; `bytes`: of one operand, k times m times n.
uint64_t ComputeUnit::product_slots(const Group& group, uint64_t fma, uint64_t bytes) const {
  constexpr uint64_t kWavefrontTile = 64;
  uint64_t slots = uint64_t{spec_.product_overhead_slots} * group.wavefronts;
  if (spec_.product_instruction_fma != 0) slots += divide_up(fma, spec_.product_instruction_fma);
  if (spec_.operand_instruction_bytes != 0)
    slots += divide_up(2 * bytes, kWavefrontTile * spec_.operand_instruction_bytes);
  return slots;
}

uint64_t ComputeUnit::simt_slots(uint64_t lanes) const {
  return spec_.simt_instruction_lanes == 0 ? 0 : divide_up(lanes, spec_.simt_instruction_lanes);
}

ComputeUnit::Step ComputeUnit::tile_instruction(Wavefront& wavefront, const riscv::CustomOp& op) {
  Group& group = groups_[wavefront.group];
  if (op.opcode == 0) {
    switch (op.funct3) {
      case TILE_LOAD_F3: return tile_load(wavefront, group, op);
      case TILE_STORE_F3: return tile_store(wavefront, group, op);
      case TILE_MMA_F3: return tile_mma(wavefront, group, op);
      case TILE_SIMT_F3: return tile_simt(wavefront, group, op);
      case TILE_EPILOGUE_F3: return tile_epilogue(wavefront, group, op);
      case TILE_CONTROL_F3: return tile_control(wavefront, group, op);
      case TILE_WAIT_UNTIL_F3: return tile_wait_until(wavefront, op);
      case TILE_LOCKED_STORE_F3: return tile_locked_store(wavefront, op);
    }
  }
  return fault(wavefront, FaultKind::illegal_instruction, op.raw, kIllegal,
               "unknown tile instruction");
}

ComputeUnit::Step ComputeUnit::tile_load(Wavefront& wavefront, Group& group,
                                         const riscv::CustomOp& op) {
  const bool lines = (op.funct7 >> 1 & TILE_LINES) != 0;
  const unsigned code = op.funct7 >> 1 & ~unsigned{TILE_LINES};
  if (is_accumulator(op.rd) || !element_exists(code) || (lines && (op.funct7 & 1) != 0)) {
    return fault(wavefront, FaultKind::illegal_instruction, op.raw, kIllegal,
                 "tile.load: no such tile or element");
  }
  if (lines) return load_lines(wavefront, group, op, static_cast<ElementType>(code));
  const TileShape shape = TileShape::decode(op.rs2_value);
  const ElementType element = static_cast<ElementType>(code);
  if (shape.rows == 0 || shape.rows > kMaxRows || shape.row_bytes == 0 ||
      shape.row_bytes > kMaxRowBytes || shape.row_bytes % element_bytes(element) != 0) {
    return fault(wavefront, FaultKind::bad_shape, op.rs1_value, 0,
                 "tile.load of " + std::to_string(shape.rows) + " rows of " +
                     std::to_string(shape.row_bytes) + " bytes");
  }
  Step step = Step::go_on;
  Slot& slot = slot_of(group, wavefront, op.rd);
  if (!ring_has_room(wavefront, step) || !writable(wavefront, slot, op.rd, step)) return step;
  if (!resize(group, op.rd, slot, shape.bytes())) {
    return fault(wavefront, FaultKind::no_room, op.rs1_value, 0,
                 "tile " + std::to_string(op.rd) + " of " + std::to_string(shape.bytes()) +
                     " bytes exceeds the work-group's " +
                     (op.rd < TILE_FIRST_LDS ? "registers" : "LDS"));
  }
  const uint64_t offset = op.rs1_value & STRETTO_OFFSET_MASK;
  const StampMatrix* const matrix = own(op.rs1_value) ? parts_.memory->stamp_at(offset) : nullptr;
  Tile& tile = slot.tile;
  tile.shape = shape;
  tile.element = element;
  tile.stamped = matrix != nullptr;
  if (matrix != nullptr) {
    tile.stamp = stamp_of(*matrix, offset, shape);
    if (matrix->element != element) tile.stamp.valid = false;
  } else {
    tile.data.resize(shape.bytes());
  }
  ++counters_.tile_loads;
  counters_.load_bytes += shape.bytes();
  return issue_tile(wavefront, group, op.rd, op.rs1_value, shape, element, false,
                    (op.funct7 & 1) != 0, matrix != nullptr ? nullptr : tile.data.data());
}

ComputeUnit::Step ComputeUnit::tile_store(Wavefront& wavefront, Group& group,
                                          const riscv::CustomOp& op) {
  const unsigned code = op.funct7 >> 1 & ~unsigned{TILE_LINES};
  if (is_accumulator(op.rd) || !element_exists(code) || (op.funct7 & 1) != 0) {
    return fault(wavefront, FaultKind::illegal_instruction, op.raw, kIllegal,
                 "tile.store: no such tile or element");
  }
  if ((op.funct7 >> 1 & TILE_LINES) != 0)
    return store_lines(wavefront, group, op, static_cast<ElementType>(code));
  const TileShape shape = TileShape::decode(op.rs2_value);
  const ElementType element = static_cast<ElementType>(code);
  if (shape.rows == 0 || shape.rows > kMaxRows || shape.row_bytes == 0 ||
      shape.row_bytes > kMaxRowBytes || shape.row_bytes % element_bytes(element) != 0) {
    return fault(wavefront, FaultKind::bad_shape, op.rs1_value, 0,
                 "tile.store of " + std::to_string(shape.rows) + " rows of " +
                     std::to_string(shape.row_bytes) + " bytes");
  }
  Step step = Step::go_on;
  Slot& slot = slot_of(group, wavefront, op.rd);
  if (!ring_has_room(wavefront, step) || !readable(wavefront, slot, op.rd, step)) return step;
  const Tile& tile = slot.tile;
  if (tile.shape.rows == 0) {
    return fault(wavefront, FaultKind::empty_tile, op.rs1_value, 0,
                 "tile.store of tile " + std::to_string(op.rd));
  }
  uint8_t* data = slot.tile.data.data();
  if (tile.stamped || tile.shape.row_bytes != shape.row_bytes || shape.rows > tile.shape.rows) {
    // Another shape than the tile's: its bytes are laid out anew, in a buffer that earlier stores
    // must have left.
    if (slot.stores != 0 && !writable(wavefront, slot, op.rd, step)) return step;
    slot.staging.assign(shape.bytes(), 0);
    if (tile.stamped) {
      fill_with_nan(element, slot.staging.data(), slot.staging.size());
    } else {
      const uint32_t bytes = std::min(shape.row_bytes, tile.shape.row_bytes);
      for (uint32_t row = 0; row < std::min(shape.rows, tile.shape.rows); ++row) {
        std::copy_n(data + uint64_t{row} * tile.shape.row_bytes, bytes,
                    slot.staging.begin() + static_cast<long>(uint64_t{row} * shape.row_bytes));
      }
    }
    data = slot.staging.data();
  }
  ++counters_.tile_stores;
  counters_.store_bytes += shape.bytes();
  return issue_tile(wavefront, group, op.rd, op.rs1_value, shape, element, true, false, data);
}

// Whether the unit has products of operands of an element of tile.mma.
bool ComputeUnit::multiplies(unsigned code) const {
  if (code == TILE_TF32) return spec_.tensor_tf32_passes != 0;
  if (!element_exists(code) || !is_floating(static_cast<ElementType>(code))) return false;
  return !is_fp8(static_cast<ElementType>(code)) || spec_.tensor_fp8_rate != 0;
}

ComputeUnit::Step ComputeUnit::tile_mma(Wavefront& wavefront, Group& group,
                                        const riscv::CustomOp& op) {
  const unsigned code = op.funct7 >> 2;
  const bool tf32 = code == TILE_TF32;
  if (!is_accumulator(op.rd) || is_accumulator(op.rs1) || is_accumulator(op.rs2) ||
      !multiplies(code)) {
    return fault(wavefront, FaultKind::illegal_instruction, op.raw, kIllegal,
                 "tile.mma: no such tile or element");
  }
  const ElementType element = tf32 ? ElementType::fp32 : static_cast<ElementType>(code);
  Slot& sum = slot_of(group, wavefront, op.rd);
  Slot& a = slot_of(group, wavefront, op.rs1);
  Slot& b = slot_of(group, wavefront, op.rs2);
  Step step = Step::go_on;
  if (!writable(wavefront, sum, op.rd, step) || !readable(wavefront, a, op.rs1, step) ||
      !readable(wavefront, b, op.rs2, step)) {
    return step;
  }
  if (a.tile.shape.rows == 0 || b.tile.shape.rows == 0 || sum.accumulator.m() == 0) {
    return fault(wavefront, FaultKind::empty_tile, 0, 0,
                 "tile.mma with tile " +
                     std::to_string(a.tile.shape.rows == 0   ? op.rs1
                                    : b.tile.shape.rows == 0 ? op.rs2
                                                             : op.rd) +
                     " never written");
  }
  const uint32_t k = sum.accumulator.multiply(
      a.tile, (op.funct7 & 1) != 0, b.tile, (op.funct7 & 2) != 0, element, spec_.tile_values, tf32);
  // K of a native instruction is 32 bytes of each operand: 16 of FP16, 32 of FP8.
  const uint64_t native_k = is_fp8(element) ? 32 : 16;
  const uint64_t m = sum.accumulator.m(), n = sum.accumulator.n(),
                 work_k = divide_up(k, native_k) * native_k;
  const uint64_t work = m * n * work_k;
  PipeOperation operation = {.wavefront = wavefront.slot,
                             .result = op.rd,
                             .sources = {op.rs1, op.rs2},
                             .source_count = 2,
                             .clocks = 0,
                             .slots = 0};
  if (element == ElementType::fp32 && !tf32) {  // The SIMT lanes' work, no tensor core's.
    operation.clocks = divide_up(work, spec_.simt_lanes);
    operation.slots = simt_slots(work);
    return use(kSimt, wavefront, group, operation);
  }
  const uint64_t passes = tf32 ? spec_.tensor_tf32_passes : 1;
  const uint64_t rate = is_fp8(element) ? spec_.tensor_fp8_rate : 1;
  operation.clocks = divide_up(work * passes * spec_.tensor_efficiency_denominator,
                               uint64_t{spec_.tensor_fma_per_cycle} * rate *
                                   spec_.tensor_efficiency_numerator * spec_.fault_product_speed);
  operation.slots = product_slots(group, divide_up(m * n * work_k * passes, rate),
                                  m * n * work_k * passes * (is_fp8(element) ? 1 : 2));
  operation.multiply_adds = work;
  operation.fp16_work = divide_up(work, rate);
  return use(kTensor, wavefront, group, operation);
}

ComputeUnit::Step ComputeUnit::tile_simt(Wavefront& wavefront, Group& group,
                                         const riscv::CustomOp& op) {
  const bool alone = simt_is_unary(op.funct7);
  if (is_accumulator(op.rd) || is_accumulator(op.rs1) || (!alone && is_accumulator(op.rs2)) ||
      !simt_exists(op.funct7)) {
    return fault(wavefront, FaultKind::illegal_instruction, op.raw, kIllegal,
                 "tile.simt: no such tile or operation");
  }
  Slot& result = slot_of(group, wavefront, op.rd);
  Slot& first = slot_of(group, wavefront, op.rs1);
  Slot& second = alone ? first : slot_of(group, wavefront, op.rs2);
  Step step = Step::go_on;
  if (!readable(wavefront, first, op.rs1, step) || !readable(wavefront, second, op.rs2, step) ||
      !writable(wavefront, result, op.rd, step)) {
    return step;
  }
  if (first.tile.shape.rows == 0 || second.tile.shape.rows == 0) {
    return fault(wavefront, FaultKind::empty_tile, 0, 0, "tile.simt with a tile never written");
  }
  if (!resize(group, op.rd, result, simt_result_shape(op.funct7, first.tile).bytes())) {
    return fault(wavefront, FaultKind::no_room, 0, 0,
                 "tile.simt: tile " + std::to_string(op.rd) + " does not fit");
  }
  const uint64_t elements = op.funct7 == TILE_SIMT_FIRST
                                ? first.tile.shape.rows
                                : first.tile.shape.bytes() / element_bytes(first.tile.element);
  const bool packed = element_bytes(first.tile.element) < 4 && !is_fp8(first.tile.element) &&
                      !simt_converts(op.funct7);
  const unsigned a_lane = !packed                                   ? 1
                          : first.tile.element == ElementType::fp16 ? spec_.simt_fp16_per_lane
                                                                    : 2;
  simt_operation(op.funct7, first.tile, second.tile, result.tile, spec_.tile_values);
  const uint64_t work =
      elements * (simt_issues(op.funct7) + simt_conversions(op.funct7, first.tile.element));
  return use(kSimt, wavefront, group,
             {.wavefront = wavefront.slot,
              .result = op.rd,
              .sources = {op.rs1, op.rs2},
              .source_count = alone ? 1u : 2u,
              .clocks = divide_up(work, uint64_t{spec_.simt_lanes} * a_lane),
              .slots = simt_slots(divide_up(work, packed ? 2 : 1))});
}

ComputeUnit::Step ComputeUnit::tile_epilogue(Wavefront& wavefront, Group& group,
                                             const riscv::CustomOp& op) {
  const unsigned code = op.funct7;
  if (is_accumulator(op.rd) || !is_accumulator(op.rs1) || !element_exists(code) ||
      !is_floating(static_cast<ElementType>(code))) {
    return fault(wavefront, FaultKind::illegal_instruction, op.raw, kIllegal,
                 "tile.epilogue: no such tile or element");
  }
  const ElementType element = static_cast<ElementType>(code);
  const uint64_t block = op.rs2_value;
  const uint32_t first_row = block & 0xFFFF, rows = block >> 16 & 0xFFFF;
  const uint32_t first_column = block >> 32 & 0xFFFF, columns = static_cast<uint32_t>(block >> 48);
  Slot& result = slot_of(group, wavefront, op.rd);
  Slot& sum = slot_of(group, wavefront, op.rs1);
  Step step = Step::go_on;
  if (!readable(wavefront, sum, op.rs1, step) || !writable(wavefront, result, op.rd, step))
    return step;
  if (sum.accumulator.m() == 0) {
    return fault(wavefront, FaultKind::empty_tile, 0, 0,
                 "tile.epilogue of an accumulator never zeroed");
  }
  if (rows == 0 || columns == 0 || first_row + rows > sum.accumulator.m() ||
      first_column + columns > sum.accumulator.n()) {
    return fault(wavefront, FaultKind::bad_shape, block, 0,
                 "tile.epilogue outside its accumulator");
  }
  const TileShape shape{rows, columns * element_bytes(element), 0};
  if (!resize(group, op.rd, result, shape.bytes())) {
    return fault(wavefront, FaultKind::no_room, 0, 0,
                 "tile.epilogue: tile " + std::to_string(op.rd) + " does not fit");
  }
  result.tile.shape = shape;
  result.tile.element = element;
  result.tile.stamped = false;
  result.tile.data.resize(shape.bytes());
  sum.accumulator.epilogue(first_row, rows, first_column, columns, element, services_.gpu,
                           spec_.stamp_limit, group.context->split > 1, result.tile.data.data());
  const uint64_t elements = uint64_t{rows} * columns;
  return use(kSimt, wavefront, group,
             {.wavefront = wavefront.slot,
              .result = op.rd,
              .sources = {op.rs1},
              .source_count = 1,
              .clocks = divide_up(elements, spec_.simt_lanes),
              .slots = simt_slots(elements)});
}

// All tiles of the work-group become such as were never written, and their share is free.
ComputeUnit::Step ComputeUnit::tile_release(Wavefront& wavefront, Group& group) {
  if (!group.has_tiles) return finish(wavefront);
  Step step = Step::go_on;
  Cycle done = wavefront.at;
  for (const Slot& slot : group.slots) {
    if (slot.written == kUnknown || slot.stores != 0 || slot.reads != 0) {
      wavefront.state = Wavefront::State::tile;
      wavefront.waits_for = Wavefront::kAnyTile;
      return Step::stop;
    }
    done = std::max({done, slot.written, slot.read});
  }
  if (!advance(wavefront, done, step)) return step;
  for (Slot& slot : group.slots) {
    slot.tile.clear();
    slot.accumulator.zero(0, 0);
    slot.bytes = 0;
  }
  group.register_bytes = group.lds_bytes = 0;
  return finish(wavefront);
}

ComputeUnit::Step ComputeUnit::tile_control(Wavefront& wavefront, Group& group,
                                            const riscv::CustomOp& op) {
  Step step = Step::go_on;
  switch (op.funct7) {
    case TILE_CONTROL_ZERO: {
      if (!is_accumulator(op.rd)) break;
      const uint32_t m = op.rs1_value & 0xFFFF, n = op.rs1_value >> 16 & 0xFFFF;
      if (m == 0 || n == 0)
        return fault(wavefront, FaultKind::bad_shape, op.rs1_value, 0, "tile.zero of no elements");
      Slot& sum = slot_of(group, wavefront, op.rd);
      if (!writable(wavefront, sum, op.rd, step)) return step;
      if (!resize(group, op.rd, sum, uint64_t{4} * m * n)) {
        return fault(wavefront, FaultKind::no_room, 0, 0,
                     "accumulator of " + std::to_string(m) + " x " + std::to_string(n) +
                         " exceeds the work-group's registers");
      }
      sum.accumulator.zero(m, n);
      return use(kSimt, wavefront, group,
                 {.wavefront = wavefront.slot,
                  .result = op.rd,
                  .sources = {},
                  .source_count = 0,
                  .clocks = 1,
                  .slots = 0});
    }
    case TILE_CONTROL_WAIT: {
      const uint32_t outstanding = wavefront.last - wavefront.first;
      if (outstanding > op.rs2 && !operations_done(wavefront, wavefront.last - op.rs2, false, step))
        return step;
      return finish(wavefront);
    }
    case TILE_CONTROL_VOTE: group.votes |= op.rs1_value; return barrier(wavefront, group);
    case TILE_CONTROL_BARRIER: return barrier(wavefront, group);
    case TILE_CONTROL_RELEASE: return tile_release(wavefront, group);
    case TILE_CONTROL_FENCE:
      if (op.rs2 > TILE_SCOPE_SYSTEM) break;
      return tile_fence(wavefront, static_cast<Scope>(op.rs2));
    case TILE_CONTROL_END:
      if (!operations_done(wavefront, wavefront.last, false, step)) return step;
      return end(wavefront, group);
    case kBodyFunct7:
      if (wavefront.hart.pc() == group.context->body) return enter_body(wavefront, group);
      break;
  }
  return fault(wavefront, FaultKind::illegal_instruction, op.raw, kIllegal,
               "unknown tile control instruction");
}

}  // namespace stretto
