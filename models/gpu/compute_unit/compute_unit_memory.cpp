// SPDX-License-Identifier: Apache-2.0
// Requests of ComputeUnit to the L2 and what comes back: tiles, scalar accesses, atomics, waits on
// memory.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "models/common/payload_builder.h"
#include "models/gpu/compute_unit/compute_unit.h"

namespace stretto {
namespace {

// Low half of a payload's cookie: the number of a tile operation, or one of these.
constexpr uint64_t kAccess = 0xFFFFFFFF;
constexpr uint64_t kConfirm = 0xFFFFFFFE;
constexpr uint64_t kFence = 0xFFFFFFFD;
// High half, of a wavefront's slot: the low one is the number of a state that is moved.
constexpr uint64_t kMove = 0xFFFFFFFF;
constexpr uint32_t kMoveBytes = 8192;  // Of a request, as the largest row of a tile.

uint64_t cookie(uint64_t wavefront, uint64_t what) { return wavefront << 32 | what; }

AtomicOp atomic_of(riscv::AmoOp op) {
  switch (op) {
    case riscv::AmoOp::kAdd: return AtomicOp::add;
    case riscv::AmoOp::kXor: return AtomicOp::xor_;
    case riscv::AmoOp::kAnd: return AtomicOp::and_;
    case riscv::AmoOp::kOr: return AtomicOp::or_;
    case riscv::AmoOp::kMin: return AtomicOp::min;
    case riscv::AmoOp::kMax: return AtomicOp::max;
    case riscv::AmoOp::kMinu: return AtomicOp::minu;
    case riscv::AmoOp::kMaxu: return AtomicOp::maxu;
    case riscv::AmoOp::kCompareSwap: return AtomicOp::compare_swap;
    default: return AtomicOp::swap;
  }
}

// What a link does not carry, in words; null: it does.
const char* not_over_links(AtomicOp op, Scope scope) {
  if (!is_link_atomic(op))
    return "a peer or the host executes PCIe AtomicOps alone: amoadd, amoswap, amocas";
  if (scope != Scope::system)
    return "an atomic on a peer or the host has system scope: tile_set_scope(TILE_SCOPE_SYSTEM)";
  return nullptr;
}

bool holds(unsigned funct7, uint64_t value, uint64_t wanted) {
  switch (funct7 & 3) {
    case TILE_EQ: return value == wanted;
    case TILE_NE: return value != wanted;
    case TILE_GEU: return value >= wanted;
    default: return value < wanted;
  }
}

}  // namespace

PooledPayload& ComputeUnit::make_request(Wavefront& wavefront, tlm::tlm_command command,
                                         uint64_t address, uint8_t* data, uint32_t bytes) {
  const Group& group = groups_[wavefront.group];
  PooledPayload& payload = make_request(*group.context, command, address, data, bytes);
  payload.extension.wg_id = group.tile_id;
  payload.extension.wf_id = wavefront.id;
  return payload;
}

PooledPayload& ComputeUnit::make_request(const DispatchContext& context, tlm::tlm_command command,
                                         uint64_t address, uint8_t* data, uint32_t bytes) {
  PooledPayload& payload = pool_.acquire();
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  StrettoExtension& extension = payload.extension;
  extension.engine = Engine::wavefront;
  extension.gpu = services_.gpu;
  extension.unit = index_;
  extension.wg_id = 0;
  extension.wf_id = 0;
  extension.tracked = false;
  extension.operation = command == tlm::TLM_READ_COMMAND ? Operation::read : Operation::write;
  extension.stream = context.communication ? Stream::communication : Stream::compute;
  extension.scope = Scope::device;
  extension.allocation = AllocationClass::cached;
  extension.account = context.account;
  extension.tags_only = false;
  extension.rows = 1;
  extension.row_bytes = bytes;
  extension.pitch = 0;
  return payload;
}

bool ComputeUnit::apply_entry(Wavefront& wavefront, const RangeEntry* entry, uint64_t address,
                              bool store, PooledPayload& payload) {
  const FaultKind unmapped = store ? FaultKind::unmapped_store : FaultKind::unmapped_load;
  const char* wrong = nullptr;
  if (entry == nullptr) {
    wrong = "no range entry holds it";
  } else if (entry->kind != RangeKind::remote && !own(address)) {
    wrong = "its range entry is local and the address is another node's";
  } else if (store && own(address) && entry->kind != RangeKind::remote &&
             parts_.memory->stamp_at(address & STRETTO_OFFSET_MASK) != nullptr) {
    wrong = "it belongs to a stamp matrix, which has no bytes";
  }
  if (wrong != nullptr) {
    payload.release();
    fault(wavefront, unmapped, address, 0, wrong);
    return false;
  }
  if (entry->kind == RangeKind::remote) {
    if (!store) {
      payload.release();
      fault(wavefront, FaultKind::remote_load, address, 0, "loads from peers are not supported");
      return false;
    }
    payload.set_address(entry->peer_base + (address - entry->base));
  }
  payload.extension.allocation = entry->allocation;
  return true;
}

RaceLaw::Wavefront ComputeUnit::racer(const PooledPayload& payload) const {
  const Wavefront& wavefront = *wavefronts_[payload.extension.cookie >> 32];
  const Group& group = groups_[wavefront.group];
  return {index_, wavefront.group, wavefront.id, group.slot, group.wg_id};
}

Cycle ComputeUnit::transport(Cycle not_before, PooledPayload& payload) {
  const Time now = services_.queue->now();
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = delay_of(std::max(clock_.edge(not_before), now) - now);
  const tlm::tlm_sync_enum answer = l2->nb_transport_fw(payload, phase, delay);
  if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP))
    return clock_.cycle_from(now + time_of(delay));
  return kUnknown;
}

Cycle ComputeUnit::send(Cycle not_before, PooledPayload& payload) {
  const bool may_race = parts_.races->watches();
  if (may_race) {
    const Time at = std::max(clock_.edge(not_before), services_.queue->now());
    parts_.races->sent(racer(payload), payload, clock_.cycle_from(at));
  }
  const Cycle done = transport(not_before, payload);
  if (may_race && done != kUnknown) parts_.races->answered(racer(payload), payload, done);
  return done;
}

void ComputeUnit::move_state(bool save, uint64_t address, uint64_t bytes, uint8_t* data,
                             const DispatchContext& context, uint32_t wg_id, Moved done) {
  const uint32_t number = ++last_move_;
  Move& move = moves_[number];
  move.done = std::move(done);
  move.since = services_.queue->now();
  move.requests = 1;  // Held until all are sent.
  if (save) {
    move.saved_bytes = bytes;
  } else {
    counters_.loaded_bytes += bytes;
  }
  for (uint64_t at = 0; at < bytes; at += kMoveBytes) {
    const auto piece = static_cast<uint32_t>(std::min<uint64_t>(kMoveBytes, bytes - at));
    PooledPayload& payload =
        make_request(context, save ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address + at,
                     data == nullptr ? nullptr : data + at, piece);
    payload.extension.wg_id = wg_id / context.split;
    payload.extension.element = ElementType::byte;
    payload.extension.tags_only = data == nullptr;
    payload.extension.cookie = cookie(kMove, number);
    ++move.requests;
    const Cycle answered = transport(now_cycle(), payload);
    if (answered == kUnknown) continue;
    payload.release();
    move_done(number, answered);
  }
  move_done(number, now_cycle());
}

// A tile load or store becomes one request for each run of rows that one range entry holds; usually
// one in all.
ComputeUnit::Step ComputeUnit::issue_tile(Wavefront& wavefront, Group& group, unsigned name,
                                          uint64_t address, const TileShape& shape,
                                          ElementType element, bool store, bool streaming,
                                          uint8_t* data) {
  const uint32_t number = wavefront.last++;
  Wavefront::Operation& operation = wavefront.operation(number);
  operation = {};
  operation.tile = static_cast<uint8_t>(name);
  operation.store = store;
  operation.requests = 1;  // Held until all are sent.
  Slot& slot = slot_of(group, wavefront, name);
  if (store) {
    ++slot.stores;
  } else {
    slot.written = kUnknown;
  }
  const uint64_t index = group.members[wavefront.id];
  const RangeEntry* entry =
      parts_.ranges->find_tile(address, shape.rows, shape.pitch, shape.row_bytes);
  for (uint32_t row = 0; row < shape.rows;) {
    const uint64_t from = address + uint64_t{row} * shape.pitch;
    uint32_t rows = shape.rows;
    if (entry == nullptr || row != 0) {
      entry = parts_.ranges->find(from, shape.row_bytes);
      rows = 1;
      while (row + rows < shape.rows &&
             parts_.ranges->find(from + uint64_t{rows} * shape.pitch, shape.row_bytes) == entry) {
        ++rows;
      }
    }
    const uint32_t bytes = rows * shape.row_bytes;
    PooledPayload& payload = make_request(
        wavefront, store ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, from, data, bytes);
    if (!apply_entry(wavefront, entry, from, store, payload)) return Step::stop;
    StrettoExtension& extension = payload.extension;
    extension.element = element;
    extension.rows = rows;
    extension.row_bytes = shape.row_bytes;
    extension.pitch = rows == 1 ? 0 : shape.pitch;
    extension.tags_only = data == nullptr;
    extension.cookie = cookie(index, number);
    if (store && group.context->update) {
      if (entry->update) extension.operation = Operation::update;
      extension.tracked = entry->tracked;
      extension.wg_id = static_cast<uint16_t>(extension.wg_id + entry->id_shift);
      if (entry->update || entry->tracked) extension.allocation = AllocationClass::uncached;
    }
    if (streaming && extension.allocation == AllocationClass::cached) {
      extension.allocation = AllocationClass::streaming;
    }
    ++operation.requests;
    const Cycle done = send(wavefront, payload);
    if (done != kUnknown) {
      const bool failed = payload.is_response_error();
      payload.release();
      if (failed)
        return fault(wavefront, FaultKind::bus_error, from, 0, "the memory refused a tile access");
      operation.latest = std::max(operation.latest, done);
      --operation.requests;
    }
    if (data != nullptr) data += bytes;
    row += rows;
  }
  if (--operation.requests == 0) operation_done(wavefront, number);
  const bool to_lds = !store && name >= TILE_FIRST_LDS;
  return finish(wavefront, memory_instructions(shape.bytes(), to_lds));
}

void ComputeUnit::request_done(Wavefront& wavefront, uint32_t number, Cycle at) {
  Wavefront::Operation& operation = wavefront.operation(number);
  operation.latest = std::max(operation.latest, at);
  if (--operation.requests == 0) operation_done(wavefront, number);
}

// All requests of an operation are answered: frees its tile and wakes who waits for it.
void ComputeUnit::operation_done(Wavefront& wavefront, uint32_t number) {
  Wavefront::Operation& operation = wavefront.operation(number);
  Group& group = groups_[wavefront.group];
  if (operation.lines && !take_lines(wavefront, number)) {
    look_at_frozen(group);
    return;
  }
  operation.done = operation.latest;
  if (operation.tile != Wavefront::kNoTile) {
    Slot& slot = slot_of(group, wavefront, operation.tile);
    ++services_.progress;
    if (operation.store) {
      --slot.stores;
      slot.read = std::max(slot.read, operation.done);
    } else {
      slot.written = operation.done;
    }
    tiles_done(group, wavefront, 1u << operation.tile, operation.done);
  }
  if (operation.store && wavefront.held != 0) send_held(wavefront);
  look_at_frozen(group);
  if (group.phase != Phase::runs) return;  // Who waits looks again when it has been resumed.
  if (wavefront.state != Wavefront::State::count && wavefront.state != Wavefront::State::stores)
    return;
  Cycle at = wavefront.at;
  for (uint32_t i = wavefront.first; i != wavefront.until; ++i) {
    const Wavefront::Operation& earlier = wavefront.operation(i);
    if (wavefront.state == Wavefront::State::stores && !earlier.store) continue;
    if (earlier.done == kUnknown) return;
    at = std::max(at, earlier.done);
  }
  wake(wavefront, at);
}

tlm::tlm_sync_enum ComputeUnit::backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  PooledPayload& pooled = static_cast<PooledPayload&>(payload);
  const uint64_t what = pooled.extension.cookie;
  if (what >> 32 == kMove) {
    payload.release();
    move_done(static_cast<uint32_t>(what),
              clock_.cycle_from(services_.queue->now() + time_of(delay)));
    return tlm::TLM_COMPLETED;
  }
  Wavefront& wavefront = *wavefronts_[what >> 32];
  const Cycle at = clock_.cycle_from(services_.queue->now() + time_of(delay));
  const bool failed = payload.is_response_error();
  const uint64_t address = payload.get_address();
  const Operation operation = pooled.extension.operation;
  const bool is_line = payload.get_data_ptr() == wavefront.line.data();
  if (parts_.races->watches()) parts_.races->answered(racer(pooled), payload, at);
  if (pooled.extension.allocation == AllocationClass::shared && operation != Operation::read)
    drop_scalars(payload, pooled.extension);
  payload.release();
  if ((what & 0xFFFFFFFF) == kAccess) {
    if (operation == Operation::atomic && !failed) {
      amo_done(wavefront, at);
    } else {
      if (is_line && !failed) take_scalar_line(wavefront);
      access_done(wavefront, at, failed);
    }
    if (wavefront.state == Wavefront::State::ready) wake(wavefront, wavefront.at);
  } else if ((what & 0xFFFFFFFF) == kFence) {
    ordered(wavefront, at);
    if (wavefront.state == Wavefront::State::ready) wake(wavefront, wavefront.at);
  } else if ((what & 0xFFFFFFFF) == kConfirm) {
    confirm_done(wavefront, at, failed);
    if (wavefront.state == Wavefront::State::ready) wake(wavefront, wavefront.at);
  } else if (failed) {
    fault(wavefront, FaultKind::bus_error, address, 0, "the memory refused a tile access");
  } else {
    request_done(wavefront, static_cast<uint32_t>(what), at);
  }
  return tlm::TLM_COMPLETED;
}

ComputeUnit::Step ComputeUnit::scalar_access(Wavefront& wavefront) {
  const riscv::PendingAccess& access = wavefront.hart.pending();
  if (access.kind == riscv::PendingAccess::Kind::kFence) return fence(wavefront);
  if (access.kind == riscv::PendingAccess::Kind::kCsr) {
    wavefront.word = wavefront.at;
    return access_done(wavefront, wavefront.at, false);
  }
  Step step = Step::go_on;
  if (!own_word_done(wavefront, access.addr, step)) return step;
  if (access.kind == riscv::PendingAccess::Kind::kAmo) return amo(wavefront);
  return send_scalar(wavefront);
}

bool ComputeUnit::own_word_done(Wavefront& wavefront, uint64_t address, Step& step) {
  if (static_cast<int32_t>(wavefront.words - wavefront.first) <= 0) return true;
  uint32_t behind = wavefront.first;
  for (uint32_t i = wavefront.first; i != wavefront.words; ++i) {
    const Wavefront::Operation& operation = wavefront.operation(i);
    if (operation.store && operation.tile == Wavefront::kNoTile &&
        operation.target / 8 == address / 8)
      behind = i + 1;
  }
  return behind == wavefront.first || operations_done(wavefront, behind, true, step);
}

ComputeUnit::Step ComputeUnit::send_scalar(Wavefront& wavefront) {
  const riscv::PendingAccess& access = wavefront.hart.pending();
  const bool load = access.kind == riscv::PendingAccess::Kind::kLoad;
  const bool amo = access.kind == riscv::PendingAccess::Kind::kAmo;
  wavefront.word = load ? 0 : wavefront.port.store_value();
  PooledPayload& payload =
      make_request(wavefront, load ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, access.addr,
                   reinterpret_cast<uint8_t*>(&wavefront.word), access.size_bytes);
  const RangeEntry* const entry = parts_.ranges->find(access.addr, access.size_bytes);
  if (!apply_entry(wavefront, entry, access.addr, !load, payload)) return Step::stop;
  if (load && parts_.memory->stamp_at(access.addr & STRETTO_OFFSET_MASK) != nullptr) {
    payload.release();
    return fault(wavefront, FaultKind::unmapped_load, access.addr, 0,
                 "it belongs to a stamp matrix, which has no bytes");
  }
  if (load && entry->allocation == AllocationClass::shared) {
    if (hits_scalar(wavefront, access.addr, access.size_bytes)) {
      payload.release();
      ++counters_.scalar_accesses;
      return access_done(wavefront, wavefront.at + spec_.scalar_cache_hit_cycles, false);
    }
    payload.set_address(access.addr & ~uint64_t{L1Cache::kLineBytes - 1});
    payload.set_data_ptr(wavefront.line.data());
    payload.set_data_length(L1Cache::kLineBytes);
    payload.set_streaming_width(L1Cache::kLineBytes);
    payload.extension.row_bytes = L1Cache::kLineBytes;
  }
  if (amo) {
    payload.extension.operation = Operation::atomic;
    payload.extension.atomic_op = atomic_of(access.amo_op);
    payload.extension.compare = wavefront.port.amo_request().compare;
    payload.extension.scope = wavefront.port.scope();
    const char* const wrong =
        entry->kind == RangeKind::remote
            ? not_over_links(payload.extension.atomic_op, payload.extension.scope)
            : nullptr;
    if (wrong != nullptr) {
      payload.release();
      return fault(wavefront, FaultKind::remote_atomic, access.addr, 0, wrong);
    }
    ++counters_.atomics;
  } else {
    ++counters_.scalar_accesses;
  }
  payload.extension.cookie = cookie(groups_[wavefront.group].members[wavefront.id], kAccess);
  wavefront.state = Wavefront::State::access;
  const Cycle done = send(wavefront, payload);
  if (done == kUnknown) return Step::wait;
  const bool failed = payload.is_response_error();
  payload.release();
  return access_done(wavefront, done, failed);
}

ComputeUnit::Step ComputeUnit::access_done(Wavefront& wavefront, Cycle at, bool failed) {
  const riscv::PendingAccess access = wavefront.hart.pending();
  if (failed)
    return fault(wavefront, FaultKind::bus_error, access.addr, 0,
                 access.kind == riscv::PendingAccess::Kind::kAmo
                     ? "there is no word, or nothing that executes an atomic on it"
                     : "the memory refused a scalar access");
  const uint64_t cycles = wavefront.hart.cycles();
  switch (access.kind) {
    case riscv::PendingAccess::Kind::kLoad: wavefront.hart.complete_load(wavefront.word); break;
    case riscv::PendingAccess::Kind::kStore: wavefront.hart.complete_store(); break;
    case riscv::PendingAccess::Kind::kAmo: wavefront.hart.complete_amo(wavefront.word); break;
    case riscv::PendingAccess::Kind::kCsr: wavefront.hart.complete_csr(wavefront.word); break;
    default: wavefront.hart.complete_fence(); break;
  }
  retired(wavefront, 0);
  wavefront.at = std::max(wavefront.at, at) + (wavefront.hart.cycles() - cycles);
  wavefront.state = Wavefront::State::ready;
  return Step::go_on;
}

// Asks the L2 for what wavefront.ordering says. To the L2, a fence has no address.
ComputeUnit::Step ComputeUnit::send_fence(Wavefront& wavefront) {
  PooledPayload& payload = make_request(wavefront, tlm::TLM_WRITE_COMMAND, node_, nullptr, 8);
  payload.extension.operation = Operation::fence;
  payload.extension.tags_only = true;
  payload.extension.scope = Scope::system;
  payload.extension.acquire = wavefront.ordering.acquire;
  payload.extension.release = wavefront.ordering.release;
  payload.extension.cookie = cookie(groups_[wavefront.group].members[wavefront.id], kFence);
  wavefront.state = Wavefront::State::access;
  const Cycle done = send(wavefront, payload);
  if (done == kUnknown) return Step::wait;
  payload.release();
  return ordered(wavefront, done);
}

// What a poll would see now.
uint64_t ComputeUnit::peek(uint64_t address, bool at_l2) const {
  if (at_l2) return parts_.shared->word(address & STRETTO_OFFSET_MASK);
  uint64_t value = 0;
  parts_.memory->read(address & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&value),
                      sizeof value);
  return value;
}

// Asleep until the word holds, then one read in the machine's time confirms it: past the L2, where
// other nodes write, or at device scope through it.
ComputeUnit::Step ComputeUnit::tile_wait_until(Wavefront& wavefront, const riscv::CustomOp& op) {
  const uint64_t address = op.rs1_value;
  if (op.funct7 > (TILE_LTU | TILE_WAIT_DEVICE)) {
    return fault(wavefront, FaultKind::illegal_instruction, op.raw, 2,
                 "tile.wait_until: no such condition");
  }
  if (address % 8 != 0)
    return fault(wavefront, FaultKind::misaligned, address, 4, "tile.wait_until");
  if (!wavefront.waiting) {
    wavefront.waiting = true;
    wavefront.wait_since = wavefront.at;
    ++counters_.waits;
  }
  Step step = Step::go_on;
  if (!own_word_done(wavefront, address, step)) return step;
  const uint64_t index = groups_[wavefront.group].members[wavefront.id];
  wavefront.word = 0;
  PooledPayload& payload = make_request(wavefront, tlm::TLM_READ_COMMAND, address,
                                        reinterpret_cast<uint8_t*>(&wavefront.word), 8);
  if (!apply_entry(wavefront, parts_.ranges->find(address, 8), address, false, payload))
    return Step::stop;
  // A poll brings a shared word into the L2, which has it from then on.
  const bool at_l2 = waits_at_l2(op);
  const uint64_t offset = address & STRETTO_OFFSET_MASK;
  if (!holds(op.funct7, peek(address, at_l2), op.rs2_value) &&
      (!at_l2 || parts_.shared->holds_word(offset))) {
    payload.release();
    wavefront.state = Wavefront::State::watch;
    watch(offset, at_l2, index);
    return Step::stop;
  }
  if ((op.funct7 & TILE_WAIT_DEVICE) == 0) {
    payload.extension.allocation = AllocationClass::uncached;
    payload.extension.scope = Scope::system;
  }
  payload.extension.account = STRETTO_ACCOUNT_SYNC;
  payload.extension.cookie = cookie(index, kConfirm);
  wavefront.state = Wavefront::State::confirm;
  const Cycle done = send(wavefront, payload);
  if (done == kUnknown) return Step::wait;
  const bool failed = payload.is_response_error();
  payload.release();
  return confirm_done(wavefront, done, failed);
}

void ComputeUnit::on_memory_change(uint64_t address, uint64_t index) {
  Wavefront& wavefront = *wavefronts_[index & 0xFFFFFFFF];
  if (index >> 32 != 0)  // A load of lines.
    return poll_lines(wavefront, static_cast<uint32_t>((index >> 32) - 1), now_cycle());
  if (wavefront.state != Wavefront::State::watch) return;
  const riscv::CustomOp op = wavefront.hart.custom();
  if ((op.rs1_value & STRETTO_OFFSET_MASK) != address) return;  // Of who was here before.
  const bool at_l2 = waits_at_l2(op);
  if (holds(op.funct7, peek(op.rs1_value, at_l2), op.rs2_value) ||
      (at_l2 && !parts_.shared->holds_word(address))) {
    wake(wavefront, now_cycle());
  } else {
    watch(address, at_l2, index);
  }
}

// A wait of device scope on a shared word polls the bytes of the L2, all others memory's image.
bool ComputeUnit::waits_at_l2(const riscv::CustomOp& op) const {
  if ((op.funct7 & TILE_WAIT_DEVICE) == 0 || !parts_.ranges->has_shared()) return false;
  const RangeEntry* const entry = parts_.ranges->find(op.rs1_value, 8);
  return entry != nullptr && entry->allocation == AllocationClass::shared;
}

void ComputeUnit::watch(uint64_t offset, bool at_l2, uint64_t index) {
  if (at_l2) {
    parts_.shared->watch(offset, *this, index);
  } else {
    parts_.memory->watch(offset, *this, index);
  }
}

void ComputeUnit::end_wait(Wavefront& wavefront, Cycle at) {
  wavefront.waiting = false;
  const uint64_t waited = at - wavefront.wait_since;
  counters_.wait_cycles += waited;
  counters_.charged_polls +=
      1 + waited * 1000 / (uint64_t{spec_.poll_interval_ns} * spec_.clock_mhz);
}

ComputeUnit::Step ComputeUnit::confirm_done(Wavefront& wavefront, Cycle at, bool failed) {
  const riscv::CustomOp op = wavefront.hart.custom();
  if (failed)
    return fault(wavefront, FaultKind::bus_error, op.rs1_value, 0, "the memory refused a poll");
  wavefront.at = std::max(wavefront.at, at);
  wavefront.state = Wavefront::State::ready;
  if (!holds(op.funct7, wavefront.word, op.rs2_value))
    return Step::go_on;  // Changed again: from the start.
  end_wait(wavefront, wavefront.at);
  return finish(wavefront);
}

// Ordered behind the wavefront's own stores: it issues when all of them are performed.
ComputeUnit::Step ComputeUnit::tile_locked_store(Wavefront& wavefront, const riscv::CustomOp& op) {
  if (op.funct7 == TILE_RED) return tile_red(wavefront, op);
  const uint64_t address = op.rs1_value;
  const bool locks = op.funct7 == TILE_LLC_STORE;
  const char* const name = locks ? "tile.llc_store" : "tile.locked_store";
  if (!locks && op.funct7 != TILE_LOCKED_STORE)
    return fault(wavefront, FaultKind::illegal_instruction, op.raw, 2, name);
  if (address % 8 != 0) return fault(wavefront, FaultKind::misaligned, address, 6, name);
  Step step = Step::go_on;
  if (!operations_done(wavefront, wavefront.last, true, step) || !ring_has_room(wavefront, step))
    return step;
  const uint32_t number = wavefront.last++;
  wavefront.words = wavefront.last;
  Wavefront::Operation& operation = wavefront.operation(number);
  operation = {};
  operation.tile = Wavefront::kNoTile;
  operation.store = true;
  operation.requests = 1;
  operation.data = op.rs2_value;
  operation.target = address;
  PooledPayload& payload = make_request(wavefront, tlm::TLM_WRITE_COMMAND, address,
                                        reinterpret_cast<uint8_t*>(&operation.data), 8);
  if (!apply_entry(wavefront, parts_.ranges->find(address, 8), address, true, payload))
    return Step::stop;
  payload.extension.operation = Operation::locked_store;
  payload.extension.locks_line = locks;
  // A send request keeps the kernel's account: what it moves is booked there.
  if (!in_send_window(payload.get_address())) payload.extension.account = STRETTO_ACCOUNT_SYNC;
  payload.extension.cookie = cookie(groups_[wavefront.group].members[wavefront.id], number);
  const Cycle done = send(wavefront, payload);
  if (done != kUnknown) {
    const bool failed = payload.is_response_error();
    payload.release();
    if (failed)
      return fault(wavefront, FaultKind::bus_error, address, 0,
                   "the memory refused a locked store");
    request_done(wavefront, number, done);
  }
  return finish(wavefront);
}

Cycle ComputeUnit::stores_done(Wavefront& wavefront, uint32_t number) const {
  Cycle done = 0;
  for (uint32_t i = wavefront.first; i != number; ++i) {
    const Wavefront::Operation& earlier = wavefront.operation(i);
    if (earlier.store && !earlier.reduction) done = std::max(done, earlier.done);
  }
  return done;
}

// Asynchronous and behind the wavefront's own stores: until they are performed the reduction waits
// here, and the wavefront goes on.
ComputeUnit::Step ComputeUnit::tile_red(Wavefront& wavefront, const riscv::CustomOp& op) {
  const uint64_t address = op.rs1_value;
  if (address % 8 != 0) return fault(wavefront, FaultKind::misaligned, address, 6, "tile.red");
  Step step = Step::go_on;
  if (!ring_has_room(wavefront, step)) return step;
  const uint32_t number = wavefront.last++;
  wavefront.words = wavefront.last;
  ++counters_.reductions;
  Wavefront::Operation& operation = wavefront.operation(number);
  operation = {};
  operation.tile = Wavefront::kNoTile;
  operation.store = operation.reduction = true;
  operation.requests = 1;
  operation.data = op.rs2_value;
  operation.target = address;
  const Cycle stores = stores_done(wavefront, number);
  if (stores != kUnknown) {
    step = send_reduction(wavefront, number, std::max(wavefront.at, stores));
    return step == Step::stop ? step : finish(wavefront);
  }
  operation.held = true;
  operation.latest = wavefront.at;
  ++wavefront.held;
  return finish(wavefront);
}

ComputeUnit::Step ComputeUnit::send_reduction(Wavefront& wavefront, uint32_t number, Cycle at) {
  Wavefront::Operation& operation = wavefront.operation(number);
  const uint64_t address = operation.target;
  PooledPayload& payload = make_request(wavefront, tlm::TLM_WRITE_COMMAND, address,
                                        reinterpret_cast<uint8_t*>(&operation.data), 8);
  const RangeEntry* const entry = parts_.ranges->find(address, 8);
  if (!apply_entry(wavefront, entry, address, true, payload)) return Step::stop;
  if (entry->kind == RangeKind::remote) {
    payload.release();
    fault(wavefront, FaultKind::remote_atomic, address, 0,
          "tile.red has device scope: a peer or the host has amoadd, amoswap, amocas of system "
          "scope");
    return Step::stop;
  }
  payload.extension.operation = Operation::atomic;
  payload.extension.atomic_op = AtomicOp::add;
  payload.extension.cookie = cookie(groups_[wavefront.group].members[wavefront.id], number);
  const Cycle done = send(at, payload);
  if (done == kUnknown) return Step::go_on;
  const bool failed = payload.is_response_error();
  payload.release();
  if (failed) {
    fault(wavefront, FaultKind::bus_error, address, 0, "the memory refused a reduction");
    return Step::stop;
  }
  request_done(wavefront, number, done);
  return Step::go_on;
}

// A store is performed: what waited for it goes, in its order.
void ComputeUnit::send_held(Wavefront& wavefront) {
  for (uint32_t i = wavefront.first; i != wavefront.last && wavefront.held != 0; ++i) {
    Wavefront::Operation& operation = wavefront.operation(i);
    if (!operation.held) continue;
    const Cycle stores = stores_done(wavefront, i);
    if (stores == kUnknown) return;
    operation.held = false;
    --wavefront.held;
    const Cycle at = std::max(operation.latest, stores);
    operation.latest = 0;
    if (send_reduction(wavefront, i, at) == Step::stop) return;
  }
}

}  // namespace stretto
