// SPDX-License-Identifier: Apache-2.0
#include "models/dma/dma_engine.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "models/common/payload_builder.h"
#include "models/fabric/link_spec.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/regs/dma_bank.h"
#include "sw/include/regs/dma_regs.h"
#include "sw/include/regs/field.h"

namespace stretto {
namespace {

// Event tags: kind in the top bits.
constexpr uint64_t kPump = 0;
constexpr uint64_t kTransfer = uint64_t{1}
                               << 62;  // Low bits: the transfer whose answers are all in.
constexpr uint64_t kFill = uint64_t{2}
                           << 62;  // A piece of a fill is done: descriptor in [61:32], bytes below.
constexpr uint64_t kKindMask = uint64_t{3} << 62;
constexpr uint64_t kIdMask = 0x3FFF'FFFF;  // What a tag holds of a descriptor's id.
constexpr uint64_t kDirectId =
    0x2000'0000;  // Set in the ids of direct transfers, clear in those of the queue.

constexpr uint32_t kEventTrigger = 0x50;  // Digest kinds.
constexpr uint32_t kEventSent = 0x51;
constexpr uint32_t kEventDescriptor = 0x52;

uint64_t fill_tag(uint64_t descriptor, uint64_t bytes) {
  return kFill | (descriptor & (kDirectId - 1)) << 32 | bytes;
}

}  // namespace

DmaEngine::DmaEngine(sc_core::sc_module_name name, const DmaSpec& spec, PartitionServices& services)
    : sc_module(name),
      EventHandler(*services.queue),
      csr("csr"),
      memory("memory"),
      egress("egress"),
      spec_(spec),
      services_(services),
      track_("gpu" + std::to_string(services.gpu) + "/"),
      node_(static_cast<uint8_t>(services.gpu + 1)),
      registers_(kDmaRegisters),
      table_(node_) {
  csr.register_b_transport(&registers_, &RegisterBank::b_transport);
  describe_registers();
  memory.register_nb_transport_bw(this, &DmaEngine::on_memory_response);
  egress.register_nb_transport_bw(this, &DmaEngine::on_egress_response);
  registers_[DMA_CONTROL_OFFSET] =
      STRETTO_FIELD(DMA_CONTROL_READ_PACING, spec.read_pacing == ReadPacing::link
                                                 ? DMA_CONTROL_READ_PACING_LINK
                                                 : DMA_CONTROL_READ_PACING_UNTHROTTLED);
  registers_[DMA_IN_FLIGHT_LIMIT_OFFSET] = spec.in_flight_bytes;
}

bool DmaEngine::is_local(uint64_t address) const { return address >> STRETTO_NODE_SHIFT == node_; }

bool DmaEngine::link_paced() const {
  return STRETTO_FIELD_GET(registers_[DMA_CONTROL_OFFSET], DMA_CONTROL_READ_PACING) ==
         DMA_CONTROL_READ_PACING_LINK;
}

DmaEngine::Flow& DmaEngine::flow_to(uint64_t address) {
  const uint8_t node = static_cast<uint8_t>(address >> STRETTO_NODE_SHIFT);
  if (flows_[node] == nullptr) {
    flows_[node] = std::make_unique<Flow>();
    flow_nodes_.push_back(node);
  }
  return *flows_[node];
}

// Triggers

void DmaEngine::on_trigger(Time at, uint16_t wg_id, uint8_t wf_id, uint64_t address) {
  assert(at == services_.queue->now());
  if (services_.digest != nullptr) services_.digest->event(at, kEventTrigger, wg_id, wf_id);
  scratch_.clear();
  unsigned region = 0;
  uint64_t start = 0;
  const uint64_t info =
      STRETTO_FIELD(DMA_ERROR_INFO_WG_ID, wg_id) | STRETTO_FIELD(DMA_ERROR_INFO_WF_ID, wf_id);
  switch (table_.trigger(wg_id, wf_id, scratch_, region, start)) {
    case CommandTable::Trigger::no_region: raise_error(DMA_ERROR_NO_REGION_MASK, info); return;
    case CommandTable::Trigger::repeated:
      raise_error(DMA_ERROR_REPEATED_TRIGGER_MASK,
                  info | STRETTO_FIELD(DMA_ERROR_INFO_INDEX, region));
      return;
    case CommandTable::Trigger::taken: break;
  }
  ++counters_.triggers;
  if (((address ^ start) & STRETTO_OFFSET_MASK) != 0) ++counters_.wrong_addresses;
  if (table_.region(region).done()) region_done(region);
  if (services_.trace != nullptr) trace_trigger(at);
  queue_tiles(at);
}

// An arrow from the trigger to each transfer that it lets go.
void DmaEngine::trace_trigger(Time at) {
  for (TileTransfer& tile : scratch_) {
    tile.flow = next_flow();
    services_.trace->span(track_ + "triggers", "tile " + std::to_string(tile.wg_id), at,
                          at + kNanosecond, {tile.flow, TraceDetail::Arrow::leaves, 0});
  }
}

// What the command table has handed out in scratch_.
void DmaEngine::queue_tiles(Time at) {
  for (const TileTransfer& tile : scratch_) flow_to(tile.destination).ready.push_back(tile);
  ready_tiles_ += scratch_.size();
  counters_.ready_high_water = std::max(counters_.ready_high_water, ready_tiles_);
  // Not from inside the memory's own event or a register access: they are the callers.
  if (!scratch_.empty()) services_.queue->schedule(at, *this, kPump);
}

// Stages

void DmaEngine::pump() {
  if (!direct_.empty()) retire_direct();
  for (const uint8_t node : flow_nodes_) start_tiles(*flows_[node]);
  for (Descriptor& descriptor : queue_) {
    while (descriptor.issued < descriptor.bytes && start_piece(descriptor)) {
    }
    if (descriptor.issued < descriptor.bytes) break;
  }
  // One whose destination is busy does not hold the others.
  for (Descriptor& descriptor : direct_) {
    while (descriptor.issued < descriptor.bytes && start_piece(descriptor)) {
    }
  }
}

void DmaEngine::start_direct(const DirectTransfer& transfer) {
  Descriptor descriptor;
  descriptor.id = kDirectId | (++direct_started_ & (kDirectId - 1));
  descriptor.copy = true;
  descriptor.direct = true;
  descriptor.tag = transfer.tag;
  descriptor.source = transfer.source;
  descriptor.destination = transfer.destination;
  descriptor.bytes = transfer.bytes;
  descriptor.account = transfer.account;
  descriptor.not_before = services_.queue->now() + spec_.start_ns * kNanosecond;
  direct_.push_back(descriptor);
  services_.queue->schedule(descriptor.not_before, *this, kPump);
}

void DmaEngine::start_tiles(Flow& flow) {
  const uint64_t link_limit = link_paced() ? registers_[DMA_IN_FLIGHT_LIMIT_OFFSET] : ~uint64_t{0};
  while (!flow.ready.empty()) {
    const TileTransfer& tile = flow.ready.front();
    const uint64_t bytes = uint64_t{tile.rows} * tile.row_bytes;
    const bool remote = !is_local(tile.destination);
    uint64_t& under_way = remote ? flow.in_flight : local_outstanding_;
    const uint64_t limit = remote ? link_limit : spec_.local_outstanding_bytes;
    if (under_way != 0 && under_way + bytes > limit) break;
    const uint32_t index = make_transfer(tile);
    Transfer& transfer = *transfers_[index];
    const CommandTable::Region& region = table_.region(tile.region);
    transfer.of_copy = false;
    transfer.remote = remote;
    transfer.tracked = region.tracked;
    transfer.multiply = region.multiply;
    transfer.operation = region.operation;
    transfer.element = region.element;
    transfer.account = region.account;
    under_way += bytes;
    counters_.in_flight_high_water = std::max(counters_.in_flight_high_water, flow.in_flight);
    flow.ready.pop_front();
    --ready_tiles_;
    issue_reads(index);
  }
}

// Begins the next piece of a fill or copy if the limits allow it.
bool DmaEngine::start_piece(Descriptor& descriptor) {
  if (services_.queue->now() < descriptor.not_before) return false;
  const uint64_t bytes =
      std::min<uint64_t>(spec_.burst_bytes, descriptor.bytes - descriptor.issued);
  const bool remote = descriptor.copy && !is_local(descriptor.destination);
  if (remote) {
    Flow& flow = flow_to(descriptor.destination);
    if (!flow.ready.empty()) return false;  // Tiles go first.
    if (flow.in_flight != 0 && flow.in_flight + bytes > registers_[DMA_IN_FLIGHT_LIMIT_OFFSET])
      return false;
    flow.in_flight += bytes;
  } else {
    if (local_outstanding_ != 0 && local_outstanding_ + bytes > spec_.local_outstanding_bytes)
      return false;
    local_outstanding_ += bytes;
  }
  const uint64_t offset = descriptor.issued;
  if (!descriptor.copy) {
    issue_fill(descriptor, bytes);
    return true;
  }
  descriptor.issued += bytes;
  TileTransfer piece;
  piece.source = descriptor.source + offset;
  piece.destination = descriptor.destination + offset;
  piece.rows = 1;
  piece.row_bytes = static_cast<uint32_t>(bytes);
  const uint32_t index = make_transfer(piece);
  Transfer& transfer = *transfers_[index];
  transfer.of_copy = true;
  transfer.remote = remote;
  transfer.tracked = false;
  transfer.multiply = false;
  transfer.operation = descriptor.operation;
  transfer.element = descriptor.element;
  transfer.account = descriptor.account;
  transfer.descriptor = descriptor.id;
  issue_reads(index);
  return true;
}

PooledPayload& DmaEngine::make_payload(Operation operation, uint64_t address, uint8_t* data,
                                       uint32_t bytes, uint8_t account, uint64_t cookie) {
  PooledPayload& payload = communication_payload(pool_, Engine::dma, services_.gpu, operation,
                                                 account, address, data, bytes);
  payload.extension.cookie = cookie;
  return payload;
}

void DmaEngine::issue_fill(Descriptor& descriptor, uint64_t bytes) {
  PooledPayload& payload =
      make_payload(Operation::fill, descriptor.destination + descriptor.issued,
                   reinterpret_cast<uint8_t*>(&descriptor.pattern), static_cast<uint32_t>(bytes),
                   descriptor.account, fill_tag(descriptor.id, bytes));
  descriptor.issued += bytes;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  memory->nb_transport_fw(payload, phase, delay);
}

uint32_t DmaEngine::make_transfer(const TileTransfer& tile) {
  if (free_transfers_.empty()) {
    free_transfers_.push_back(static_cast<uint32_t>(transfers_.size()));
    transfers_.push_back(std::make_unique<Transfer>());
  }
  const uint32_t index = free_transfers_.back();
  free_transfers_.pop_back();
  Transfer& transfer = *transfers_[index];
  transfer.tile = tile;
  transfer.failed = false;
  transfer.bytes = tile.rows * tile.row_bytes;
  transfer.begun = services_.queue->now();
  transfer.data.resize(transfer.bytes);
  if (services_.trace != nullptr) transfer.flow = tile.flow != 0 ? tile.flow : next_flow();
  return index;
}

void DmaEngine::issue_reads(uint32_t index) {
  Transfer& transfer = *transfers_[index];
  const TileTransfer& tile = transfer.tile;
  const bool dense = tile.pitch == tile.row_bytes;  // Then all rows are one range.
  const uint32_t requests = dense ? 1 : tile.rows;
  const uint32_t bytes = dense ? transfer.bytes : tile.row_bytes;
  transfer.stage = Stage::read;
  transfer.answers_left = requests;
  transfer.last = 0;
  counters_.bytes_read += transfer.bytes;
  for (uint32_t i = 0; i < requests; ++i) {
    PooledPayload& payload =
        make_payload(Operation::read, tile.source + i * tile.pitch,
                     transfer.data.data() + uint64_t{i} * bytes, bytes, transfer.account, index);
    payload.extension.wg_id = tile.wg_id;
    payload.extension.wf_id = tile.wf_id;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (is_local(tile.source)) {
      memory->nb_transport_fw(payload, phase, delay);
    } else {
      egress->nb_transport_fw(payload, phase, delay);
    }
  }
}

// One two-dimensional packet to a peer; here each row is an access of its own.
void DmaEngine::issue_write(uint32_t index) {
  Transfer& transfer = *transfers_[index];
  const TileTransfer& tile = transfer.tile;
  const uint32_t requests = transfer.remote ? 1 : tile.rows;
  const uint32_t bytes = transfer.bytes / requests;
  transfer.stage = Stage::write;
  transfer.answers_left = requests;
  transfer.last = 0;
  for (uint32_t i = 0; i < requests; ++i) {
    PooledPayload& payload =
        make_payload(transfer.operation, tile.destination + i * tile.pitch,
                     transfer.data.data() + uint64_t{i} * bytes, bytes, transfer.account, index);
    StrettoExtension& extension = payload.extension;
    extension.element = transfer.element;
    extension.tracked = transfer.tracked;
    extension.multiply = transfer.multiply;
    extension.wg_id = tile.wg_id;
    extension.wf_id = tile.wf_id;
    extension.rows = tile.rows / requests;
    extension.row_bytes = tile.row_bytes;
    extension.pitch = tile.pitch;
    extension.flow = transfer.flow;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (transfer.remote) {
      egress->nb_transport_fw(payload, phase, delay);
    } else {
      memory->nb_transport_fw(payload, phase, delay);
    }
  }
}

// Answers, from inside the memory's or the router's event: only noted here.

tlm::tlm_sync_enum DmaEngine::on_memory_response(tlm::tlm_generic_payload& payload,
                                                 tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  const uint64_t cookie = static_cast<PooledPayload&>(payload).extension.cookie;
  const bool ok = payload.is_response_ok();
  const Time at = services_.queue->now() + time_of(delay);
  phase = tlm::END_RESP;
  payload.release();
  if ((cookie & kKindMask) == kFill) {
    if (!ok) {
      counters_.bytes_failed += cookie & 0xFFFF'FFFF;
      raise_error(DMA_ERROR_RESPONSE_MASK, STRETTO_FIELD(DMA_ERROR_INFO_INDEX, cookie >> 32));
    } else {
      counters_.bytes_filled += cookie & 0xFFFF'FFFF;
    }
    services_.queue->schedule(at, *this, cookie);
  } else {
    answered(static_cast<uint32_t>(cookie), ok, at);
  }
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum DmaEngine::on_egress_response(tlm::tlm_generic_payload& payload,
                                                 tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  const uint64_t cookie = static_cast<PooledPayload&>(payload).extension.cookie;
  const bool ok = payload.is_response_ok();
  phase = tlm::END_RESP;
  payload.release();
  answered(static_cast<uint32_t>(cookie), ok, services_.queue->now() + time_of(delay));
  return tlm::TLM_COMPLETED;
}

void DmaEngine::answered(uint32_t index, bool ok, Time at) {
  Transfer& transfer = *transfers_[index];
  transfer.failed = transfer.failed || !ok;
  transfer.last = std::max(transfer.last, at);
  if (--transfer.answers_left == 0)
    services_.queue->schedule(transfer.last, *this, kTransfer | index);
}

void DmaEngine::on_event(uint64_t tag) {
  if ((tag & kKindMask) == kTransfer) {
    const uint32_t index = static_cast<uint32_t>(tag);
    Transfer& transfer = *transfers_[index];
    if (transfer.stage == Stage::read && !transfer.failed) {
      issue_write(index);
      return;
    }
    complete(index);
  } else if ((tag & kKindMask) == kFill) {
    const uint64_t bytes = tag & 0xFFFF'FFFF;
    local_outstanding_ -= bytes;
    const uint64_t id = (tag & ~kKindMask) >> 32;
    services_.progress += bytes;
    complete_bytes(id, bytes);
  }
  pump();
}

void DmaEngine::complete(uint32_t index) {
  Transfer& transfer = *transfers_[index];
  const TileTransfer& tile = transfer.tile;
  const Time now = services_.queue->now();
  if (transfer.remote) {
    flow_to(tile.destination).in_flight -= transfer.bytes;
  } else {
    local_outstanding_ -= transfer.bytes;
  }
  services_.progress += transfer.bytes;
  if (transfer.failed) {
    counters_.bytes_failed += transfer.bytes;
    const uint64_t index_info = transfer.of_copy ? transfer.descriptor & 0xFFFF : tile.region;
    raise_error(DMA_ERROR_RESPONSE_MASK, STRETTO_FIELD(DMA_ERROR_INFO_WG_ID, tile.wg_id) |
                                             STRETTO_FIELD(DMA_ERROR_INFO_WF_ID, tile.wf_id) |
                                             STRETTO_FIELD(DMA_ERROR_INFO_INDEX, index_info));
  } else if (transfer.remote) {
    counters_.bytes_sent += transfer.bytes;
  } else {
    counters_.bytes_copied += transfer.bytes;
  }
  if (services_.digest != nullptr) {
    services_.digest->event(now, kEventSent, tile.destination,
                            uint64_t{tile.wg_id} << 32 | transfer.bytes);
  }
  if (services_.trace != nullptr) {
    const bool triggered = !transfer.of_copy && tile.flow != 0;
    services_.trace->span(
        track_ + "dma", transfer.of_copy ? "copy" : "tile " + std::to_string(tile.wg_id),
        transfer.begun, now,
        {transfer.flow, triggered ? TraceDetail::Arrow::passes : TraceDetail::Arrow::leaves, 0});
  }
  if (transfer.of_copy) {
    for (Descriptor& descriptor : direct_) {
      if (descriptor.id == transfer.descriptor)
        descriptor.failed = descriptor.failed || transfer.failed;
    }
    complete_bytes(transfer.descriptor & kIdMask, transfer.bytes);
  } else if (!transfer.failed) {
    ++counters_.tiles_sent;
    counters_.transfer_time += now - transfer.begun;
    table_.sent(tile.region);
    if (table_.region(tile.region).done()) region_done(tile.region);
  }
  free_transfers_.push_back(index);
}

void DmaEngine::complete_bytes(uint64_t id, uint64_t bytes) {
  if ((id & kDirectId) != 0) {
    for (Descriptor& descriptor : direct_) {
      if (descriptor.id == id) descriptor.completed += bytes;
    }
    return;  // pump() follows and retires them.
  }
  for (Descriptor& descriptor : queue_) {
    if ((descriptor.id & (kDirectId - 1)) == id) descriptor.completed += bytes;
  }
  retire_descriptors();
}

void DmaEngine::retire_direct() {
  for (size_t i = 0; i < direct_.size();) {
    if (direct_[i].completed != direct_[i].bytes) {
      ++i;
      continue;
    }
    const Descriptor descriptor = direct_[i];
    direct_.erase(direct_.begin() + static_cast<std::ptrdiff_t>(i));
    direct_client_->transfer_done(descriptor.tag, descriptor.failed);
  }
}

void DmaEngine::retire_descriptors() {
  bool interrupt = false;
  while (!queue_.empty() && queue_.front().completed == queue_.front().bytes) {
    const Descriptor& descriptor = queue_.front();
    retired_ = descriptor.id;
    interrupt = interrupt || descriptor.interrupt;
    if (services_.digest != nullptr) {
      services_.digest->event(services_.queue->now(), kEventDescriptor, descriptor.id,
                              descriptor.bytes);
    }
    queue_.pop_front();
  }
  if (!interrupt) return;
  registers_[DMA_QUEUE_STATUS_OFFSET] |= DMA_QUEUE_STATUS_DONE_MASK;
  update();
}

// Registers

void DmaEngine::region_done(unsigned region) {
  registers_[DMA_REGION_DONE_OFFSET_AT(region / 64)] |= uint64_t{1} << region % 64;
  update();
}

void DmaEngine::raise_error(uint64_t bit, uint64_t info) {
  if (registers_[DMA_ERROR_OFFSET] == 0) registers_[DMA_ERROR_INFO_OFFSET] = info;
  registers_[DMA_ERROR_OFFSET] |= bit;
  update();
}

void DmaEngine::update() {
  if (interrupts_ == nullptr) return;
  bool done = (registers_[DMA_QUEUE_STATUS_OFFSET] & DMA_QUEUE_STATUS_DONE_MASK) != 0 &&
              (registers_[DMA_IRQ_ENABLE_OFFSET] & DMA_IRQ_ENABLE_QUEUE_DONE_MASK) != 0;
  for (unsigned i = 0; i < DMA_REGION_DONE_COUNT; ++i) {
    done = done || (registers_[DMA_REGION_DONE_OFFSET_AT(i)] &
                    registers_[DMA_REGION_IRQ_ENABLE_OFFSET_AT(i)]) != 0;
  }
  interrupts_->set(STRETTO_IRQ_DMA, done);
  interrupts_->set(STRETTO_IRQ_DMA_ERROR,
                   (registers_[DMA_ERROR_OFFSET] & registers_[DMA_ERROR_ENABLE_OFFSET]) != 0);
}

void DmaEngine::describe_registers() {
  const auto reads = [this](uint32_t offset, auto value) {
    registers_.on_read(offset, [value](uint32_t) -> uint64_t { return value(); });
  };
  reads(DMA_QUEUE_STATUS_OFFSET, [this] {
    return registers_[DMA_QUEUE_STATUS_OFFSET] |
           STRETTO_FIELD(DMA_QUEUE_STATUS_FREE, kQueueEntries - queue_.size());
  });
  reads(DMA_QUEUE_PUSHED_OFFSET, [this] { return pushed_; });
  reads(DMA_QUEUE_COMPLETED_OFFSET, [this] { return retired_; });
  reads(DMA_TRIGGERS_OFFSET, [this] { return counters_.triggers; });
  reads(DMA_TILES_SENT_OFFSET, [this] { return counters_.tiles_sent; });
  reads(DMA_BYTES_READ_OFFSET, [this] { return counters_.bytes_read; });
  reads(DMA_BYTES_SENT_OFFSET, [this] { return counters_.bytes_sent; });
  reads(DMA_BYTES_WRITTEN_OFFSET,
        [this] { return counters_.bytes_filled + counters_.bytes_copied; });
  registers_.on_read(DMA_REGION_STATUS_OFFSET, [this](uint32_t index) {
    const CommandTable::Region& region = table_.region(index);
    return STRETTO_FIELD(DMA_REGION_STATUS_TRIGGERED, region.triggered) |
           STRETTO_FIELD(DMA_REGION_STATUS_SENT, region.sent) |
           STRETTO_FIELD(DMA_REGION_STATUS_TOTAL, region.total);
  });
  registers_.on_write(DMA_REGION_CONTROL_OFFSET, [this](const RegisterBank::Write& write) {
    on_write_region_control(write.index, write.held);
  });
  registers_.on_write(DMA_QUEUE_PUSH_OFFSET, [this](const RegisterBank::Write& write) {
    on_write_queue_push(write.held, services_.queue->now() + time_of(write.delay));
  });
  const auto pump = [this](const RegisterBank::Write& write) {
    services_.queue->schedule(services_.queue->now() + time_of(write.delay), *this, kPump);
  };
  registers_.on_write(DMA_CONTROL_OFFSET, pump);
  registers_.on_write(DMA_IN_FLIGHT_LIMIT_OFFSET, pump);
  registers_.on_update([this] { update(); });
}

void DmaEngine::on_write_region_control(unsigned region, uint64_t value) {
  if ((value & DMA_REGION_CONTROL_VALID_MASK) == 0) {
    table_.disarm(region);
    return;
  }
  RegionWords words;
  words.range = registers_[DMA_REGION_RANGE_OFFSET_AT(region)];
  words.base = registers_[DMA_REGION_BASE_OFFSET_AT(region)];
  words.peer = registers_[DMA_REGION_PEER_OFFSET_AT(region)];
  words.pitch = registers_[DMA_REGION_PITCH_OFFSET_AT(region)];
  words.size = registers_[DMA_REGION_SIZE_OFFSET_AT(region)];
  words.tile = registers_[DMA_REGION_TILE_OFFSET_AT(region)];
  words.wavefronts = registers_[DMA_REGION_WAVEFRONTS_OFFSET_AT(region)];
  words.control = value;
  registers_[DMA_REGION_DONE_OFFSET_AT(region / 64)] &= ~(uint64_t{1} << region % 64);
  if (table_.arm(region, words)) {
    const CommandTable::Region& armed = table_.region(region);
    if (armed.ready) {
      scratch_.clear();
      table_.take_ready(region, scratch_);
      queue_tiles(services_.queue->now());
    } else {
      counters_.mapped_tiles += armed.total;
    }
    if (armed.transfers) counters_.mapped_transfers += armed.total;
  } else {
    registers_[DMA_REGION_CONTROL_OFFSET_AT(region)] &= ~uint64_t{DMA_REGION_CONTROL_VALID_MASK};
    raise_error(DMA_ERROR_BAD_REGION_MASK, STRETTO_FIELD(DMA_ERROR_INFO_INDEX, region));
  }
  update();
}

void DmaEngine::on_write_queue_push(uint64_t value, Time at) {
  if (queue_.size() == kQueueEntries) {
    raise_error(DMA_ERROR_QUEUE_FULL_MASK, 0);
    return;
  }
  Descriptor descriptor;
  descriptor.id = ++pushed_;
  descriptor.copy = STRETTO_FIELD_GET(value, DMA_QUEUE_PUSH_KIND) == DMA_QUEUE_PUSH_KIND_COPY;
  descriptor.interrupt = (value & DMA_QUEUE_PUSH_INTERRUPT_MASK) != 0;
  const bool updates = descriptor.copy && STRETTO_FIELD_GET(value, DMA_QUEUE_PUSH_OPERATION) ==
                                              DMA_QUEUE_PUSH_OPERATION_UPDATE;
  descriptor.operation = updates ? Operation::update : Operation::write;
  const uint64_t element = STRETTO_FIELD_GET(value, DMA_QUEUE_PUSH_ELEMENT);
  descriptor.element = static_cast<ElementType>(element);
  descriptor.account = static_cast<uint8_t>(STRETTO_FIELD_GET(value, DMA_QUEUE_PUSH_ACCOUNT));
  descriptor.source = registers_[DMA_QUEUE_SOURCE_OFFSET];
  descriptor.destination = registers_[DMA_QUEUE_DESTINATION_OFFSET];
  descriptor.bytes = registers_[DMA_QUEUE_BYTES_OFFSET];
  descriptor.pattern = registers_[DMA_QUEUE_PATTERN_OFFSET];
  descriptor.not_before = at;

  const unsigned granule = !descriptor.copy ? 8 : updates ? element_bytes(descriptor.element) : 1;
  const auto fits = [&](uint64_t address) {
    return address % granule == 0 &&
           (address & STRETTO_OFFSET_MASK) + descriptor.bytes <= STRETTO_GPU_MEMORY_LIMIT;
  };
  const bool good = descriptor.bytes != 0 && descriptor.bytes % granule == 0 &&
                    fits(descriptor.destination) &&
                    (descriptor.copy ? is_local(descriptor.source) && fits(descriptor.source)
                                     : is_local(descriptor.destination)) &&
                    descriptor.destination >> STRETTO_NODE_SHIFT != STRETTO_NODE_LOCAL &&
                    (!updates || (element_exists(element) && is_number(descriptor.element)));
  if (!good) {
    descriptor.bytes = 0;
    raise_error(DMA_ERROR_BAD_DESCRIPTOR_MASK, STRETTO_FIELD(DMA_ERROR_INFO_INDEX, descriptor.id));
  }
  queue_.push_back(descriptor);
  retire_descriptors();
  services_.queue->schedule(at, *this, kPump);
}

// Account

void DmaEngine::report(StatisticSink& sink) const {
  sink.add("triggers", counters_.triggers, "count", "Triggers that hit a region.");
  sink.add("mapped_tiles", counters_.mapped_tiles, "count",
           "Wavefront tiles of all regions that wait for triggers.");
  sink.add("tiles_sent", counters_.tiles_sent, "count",
           "Wavefront tiles that were handed to a link, or to the local memory as operands.");
  sink.add("bytes_read", counters_.bytes_read, "bytes",
           "Read for tiles and copies, from here or from peers.");
  sink.add("bytes_sent", counters_.bytes_sent, "bytes", "Handed to links.");
  sink.add("bytes_filled", counters_.bytes_filled, "bytes", "Written by fills.");
  sink.add("bytes_copied", counters_.bytes_copied, "bytes",
           "Written to the local memory by copies and operands.");
  sink.add("descriptors", pushed_, "count", "Fills and copies that were queued.");
  sink.add("ready_high_water", counters_.ready_high_water, "count",
           "Most tiles that waited to be read.");
  sink.add("in_flight_high_water", counters_.in_flight_high_water, "bytes",
           "Most bytes for one destination in reading or waiting for the link.");
  sink.add("transfer_time", counters_.transfer_time, "fs",
           "Sum over tiles, from the first read to the link.");
}

void DmaEngine::audit(AuditSink& sink) const {
  sink.equal("triggers = DMA-mapped tiles", counters_.triggers, counters_.mapped_tiles);
  sink.equal("tiles sent = tiles mapped to a peer", counters_.tiles_sent,
             counters_.mapped_transfers);
  sink.equal("DMA bytes read = bytes sent + bytes copied", counters_.bytes_read,
             counters_.bytes_sent + counters_.bytes_copied + counters_.bytes_failed);
  sink.equal("DMA bytes that failed = 0", counters_.bytes_failed, 0);
  sink.equal("trigger addresses that are not their tile's = 0", counters_.wrong_addresses, 0);
  sink.equal("DMA transfers in flight = 0",
             transfers_.size() - free_transfers_.size() + queue_.size() + direct_.size(), 0);
}

std::vector<std::string> DmaEngine::waiting_on() const {
  std::vector<std::string> lines;
  for (unsigned i = 0; i < kDmaRegions; ++i) {
    const CommandTable::Region& region = table_.region(i);
    if (!region.valid || region.done()) continue;
    std::string missing;
    if (const auto tile = table_.first_missing(i))
      missing = " (not work-group " + std::to_string(tile->first) + ", wavefront " +
                std::to_string(tile->second) + ")";
    lines.push_back("region " + std::to_string(i) + " (wg " + std::to_string(region.first_wg) +
                    ".." + std::to_string(region.first_wg + region.wg_count - 1) +
                    "): " + std::to_string(region.triggered) + " of " +
                    std::to_string(region.total) + " wavefront tiles triggered" + missing +
                    (region.transfers ? ", " + std::to_string(region.sent) + " sent" : ""));
  }
  for (const uint8_t node : flow_nodes_) {
    if (flows_[node]->in_flight == 0 && flows_[node]->ready.empty()) continue;
    lines.push_back(std::to_string(flows_[node]->in_flight) + " B in flight to node " +
                    std::to_string(node) + ", " + std::to_string(flows_[node]->ready.size()) +
                    " tiles wait");
  }
  for (const Descriptor& descriptor : queue_) {
    lines.push_back((descriptor.copy ? "copy " : "fill ") + std::to_string(descriptor.id) + ": " +
                    std::to_string(descriptor.completed) + " of " +
                    std::to_string(descriptor.bytes) + " B done");
  }
  for (const Descriptor& descriptor : direct_) {
    lines.push_back("transfer of a send request to node " +
                    std::to_string(descriptor.destination >> STRETTO_NODE_SHIFT) + ": " +
                    std::to_string(descriptor.completed) + " of " +
                    std::to_string(descriptor.bytes) + " B done");
  }
  return lines;
}

}  // namespace stretto
