// SPDX-License-Identifier: Apache-2.0
#include "models/reference/request_ring_model.h"

#include "sw/include/formats/send_request.h"

namespace stretto {

static_assert(kRingDepth == STRETTO_SEND_RING_DEPTH && kRingBuffers == STRETTO_SEND_BUFFERS &&
              kRingConnections == STRETTO_SEND_CONNECTIONS);

namespace {

constexpr uint8_t kMalformed = 1;
constexpr uint8_t kDropped = 2;
constexpr uint8_t kTransfer = 4;

uint16_t tag_of(unsigned connection, unsigned slot) {
  return static_cast<uint16_t>(connection << 4 | slot);
}

}  // namespace

// R3: why the request in s2 is malformed; 0 = it is not.
uint16_t RequestRingModel::reason() const {
  const uint64_t sr = s2_.sr;
  const auto& [source_base, source] = s2_.source;
  const auto& [destination_base, destination] = s2_.destination;
  const uint32_t opcode = STRETTO_SR_GET(sr, OPCODE);
  const bool write = opcode == STRETTO_SR_WRITE;
  const bool opcode_ok = write || opcode == STRETTO_SR_READ;
  unsigned bits = 0;
  if (!opcode_ok) bits |= 1u << 0;
  if (STRETTO_SR_GET(sr, RESERVED) != 0) bits |= 1u << 1;
  if (!s2_.connection_known) bits |= 1u << 2;
  if (!source.valid) bits |= 1u << 3;
  if (!destination.valid) bits |= 1u << 4;
  if (STRETTO_SR_GET(sr, LENGTH) == 0) bits |= 1u << 8;
  if (!opcode_ok || !s2_.connection_known || !source.valid || !destination.valid)
    return static_cast<uint16_t>(bits);
  if (!source.readable || !destination.writable) bits |= 1u << 5;
  const uint8_t source_node = write ? registers_.node.node : s2_.node;
  const uint8_t destination_node = write ? s2_.node : registers_.node.node;
  if (source_base >> 40 != source_node || destination_base >> 40 != destination_node)
    bits |= 1u << 6;
  if (source.unit != destination.unit || source.unit > STRETTO_SEND_MAX_UNIT_SHIFT) bits |= 1u << 7;
  const uint32_t end = STRETTO_SR_GET(sr, OFFSET) + STRETTO_SR_GET(sr, LENGTH);
  if (end > source.units) bits |= 1u << 9;
  if (end > destination.units) bits |= 1u << 10;
  return static_cast<uint16_t>(bits);
}

// R4. Asked for requests of a known connection only.
bool RequestRingModel::room() const {
  const unsigned index = STRETTO_SR_GET(s2_.sr, CONNECTION);
  if (index >= kRingConnections) return false;
  const Connection& connection = connections_[index];
  const unsigned limit = connection.config.limit;
  return connection.count < (limit == 0 || limit > kRingSlots ? kRingSlots : limit);
}

// R6: the connection whose turn it is among those whose oldest transfer is done; -1 = none.
int RequestRingModel::retire_connection() const {
  if (in_flight_ == 0) return -1;
  for (unsigned i = 0; i < kRingConnections; ++i) {
    const unsigned index = (retire_turn_ + i) % kRingConnections;
    const Connection& connection = connections_[index];
    if (connection.slots[connection.oldest].done) return static_cast<int>(index);
  }
  return -1;
}

bool RequestRingModel::replica_due() const {
  return registers_.control.replica && head_ != replica_sent_ &&
         (level_ == 0 || ((head_ - replica_sent_) & kAddressMask) >= registers_.control.batch);
}

bool RequestRingModel::busy() const {
  return s1_valid_ || s2_valid_ || in_flight_ != 0 || sc_pending_ || rc_pending_ ||
         out_.write_valid || replica_due();
}

// R8.
bool RequestRingModel::idle() const {
  if (s2_valid_ && (reason() != 0 || (room() && !issue_))) return false;
  if (s1_valid_ && !s2_valid_) return false;
  if (registers_.control.enable && level_ != 0 && !s1_valid_) return false;
  if ((issue_ && !software()) || out_.write_valid || sc_pending_ || rc_pending_ || replica_due())
    return false;
  if (retire_connection() >= 0) return false;
  return !out_.pop && !out_.refuse && !out_.accept && !out_.drop && !out_.retire && !read_pending_;
}

RequestRingModel::Completion RequestRingModel::completion(uint64_t tag, bool failed) const {
  const unsigned connection = tag >> 4 & 0xff;
  const unsigned slot = tag & 0xf;
  if (connection >= kRingConnections || slot >= kRingSlots) return {};
  const Slot& place = connections_[connection].slots[slot];
  return {place.taken && !place.done, connection, slot, failed};
}

RequestRingOutputs RequestRingModel::step(const RequestRingInputs& in) {
  // Everything that is decided, from the state before the edge.
  const bool was_busy = busy();
  const bool clear = in.reg.write && in.reg.address == REQUEST_RING_CLEAR_OFFSET && !was_busy;
  const uint16_t why = s2_valid_ ? reason() : 0;
  const bool bad = why != 0;
  const bool take_write = in.reg.write && in.reg.address == REQUEST_RING_SOFTWARE_TAKE_OFFSET;
  const bool issue_taken = issue_ && (software() ? take_write : in.issue_ready);
  const bool load = s2_valid_ && !bad && room() && (!issue_ || issue_taken);
  const bool s2_leave = load || bad;
  const bool s1_leave = s1_valid_ && (!s2_valid_ || s2_leave);
  const bool pop = registers_.control.enable && level_ != 0 && (!s1_valid_ || s1_leave) && !clear;
  const bool push = in.sr_valid && registers_.control.enable && level_ != kRingDepth && !clear;
  const bool drop = in.sr_valid && !push;
  const bool flag_pending = sc_pending_ || rc_pending_;
  const bool write_free = !out_.write_valid || in.write_ready;
  const bool write_replica = write_free && replica_due() && (!flag_pending || replica_turn_);
  const bool write_flag = write_free && flag_pending && !write_replica;
  const bool flag_free = !flag_pending || (write_flag && !(sc_pending_ && rc_pending_));
  const int retiring = flag_free ? retire_connection() : -1;
  const bool retire = retiring >= 0;
  const Completion from_engine =
      in.done_valid ? completion(in.done_tag & 0xfff, in.done_failed) : Completion{};
  const bool done_write = in.reg.write && in.reg.address == REQUEST_RING_SOFTWARE_DONE_OFFSET;
  const Completion from_software =
      done_write ? completion(RequestRingRegisters::SoftwareDone::from(in.reg.wdata).tag,
                              RequestRingRegisters::SoftwareDone::from(in.reg.wdata).failed)
                 : Completion{};
  if (read_pending_) {
    const auto place = RequestRingRegisters::find(read_address_);
    out_.reg_rdata = registers_.read(place, hardware(place.index));
  }

  // Flags and replica, before the retirement overwrites what they are made of.
  if (write_free) out_.write_valid = write_flag || write_replica;
  if (write_replica) {
    out_.write_kind = static_cast<uint8_t>(RingWrite::replica);
    out_.write_tag = 0;
    out_.write_address = registers_.replica_address.address;
    out_.write_data = head_;
    replica_sent_ = head_;
    replica_turn_ = false;
    ++counters_.replicas;
  }
  if (write_flag) {
    out_.write_kind = static_cast<uint8_t>(sc_pending_ ? RingWrite::sent : RingWrite::received);
    out_.write_tag = out_.retire_tag;
    out_.write_address = (sc_pending_ ? registers_.sc_base.address + 8u * flag_source_
                                      : flag_rc_base_ + 8u * flag_destination_) &
                         kAddressMask;
    out_.write_data = flag_number_;
    (sc_pending_ ? sc_pending_ : rc_pending_) = false;
    replica_turn_ = true;
    ++counters_.flags;
  }

  // Retirement.
  uint8_t fresh = static_cast<uint8_t>((bad ? kMalformed : 0) | (drop ? kDropped : 0));
  uint64_t failed_request = 0;
  if (retire) {
    Connection& connection = connections_[retiring];
    Slot& slot = connection.slots[connection.oldest];
    out_.retire_tag = tag_of(static_cast<unsigned>(retiring), connection.oldest);
    flag_source_ = slot.source;
    flag_destination_ = slot.destination;
    flag_number_ = ++connection.completed;
    flag_rc_base_ = connection.rc_base;
    sc_pending_ = slot.sc && !slot.failed;
    rc_pending_ = slot.rc && !slot.failed;
    if (slot.failed) {
      fresh |= kTransfer;
      ++counters_.failed;
      failed_request =
          stretto_send_request(0, slot.source, slot.destination, static_cast<uint32_t>(retiring), 0,
                               0, (slot.sc ? STRETTO_SR_SC : 0) | (slot.rc ? STRETTO_SR_RC : 0));
    }
    slot.taken = slot.done = false;
    connection.oldest = static_cast<uint8_t>((connection.oldest + 1) % kRingSlots);
    --connection.count;
    --in_flight_;
    retire_turn_ = (static_cast<unsigned>(retiring) + 1) % kRingConnections;
    ++counters_.completed;
  }
  for (const Completion& done : {from_engine, from_software}) {
    if (!done.valid) continue;
    Slot& slot = connections_[done.connection].slots[done.slot];
    slot.done = true;
    slot.failed = done.failed;
  }

  // Errors.
  uint8_t left = error_;
  if (in.reg.write && in.reg.address == REQUEST_RING_ERROR_OFFSET)
    left &= static_cast<uint8_t>(~in.reg.wdata);
  if (left == 0 && fresh != 0) {
    auto& [reason, kind] = counters_.error_first;
    reason = why;
    kind = (fresh & kMalformed) != 0 ? 0 : (fresh & kDropped) != 0 ? 1 : 2;
    counters_.error_request = kind == 0 ? s2_.sr : kind == 1 ? in.sr_data : failed_request;
  }
  error_ = left | fresh;
  counters_.refused += bad;
  counters_.dropped += drop;

  // Issue.
  if (issue_taken) {
    connections_[out_.issue_tag >> 4].slots[out_.issue_tag & 0xf].taken = true;
    ++counters_.issued;
  }
  issue_ = load || (issue_ && !issue_taken);
  if (load) {
    const unsigned index = STRETTO_SR_GET(s2_.sr, CONNECTION);
    Connection& connection = connections_[index];
    Slot& slot = connection.slots[connection.next];
    slot.sc = (s2_.sr & STRETTO_SR_SC) != 0;
    slot.rc = (s2_.sr & STRETTO_SR_RC) != 0;
    slot.source = static_cast<uint8_t>(STRETTO_SR_GET(s2_.sr, SOURCE));
    slot.destination = static_cast<uint8_t>(STRETTO_SR_GET(s2_.sr, DESTINATION));
    const uint64_t offset = uint64_t{STRETTO_SR_GET(s2_.sr, OFFSET)} << s2_.source.config.unit;
    out_.issue_tag = tag_of(index, connection.next);
    out_.issue_read = STRETTO_SR_GET(s2_.sr, OPCODE) == STRETTO_SR_READ;
    out_.issue_source = (s2_.source.base + offset) & kAddressMask;
    out_.issue_destination = (s2_.destination.base + offset) & kAddressMask;
    out_.issue_bytes = uint64_t{STRETTO_SR_GET(s2_.sr, LENGTH)} << s2_.source.config.unit;
    connection.next = static_cast<uint8_t>((connection.next + 1) % kRingSlots);
    ++connection.count;
    ++in_flight_;
  }

  // Decode.
  if (s2_leave) out_.judged = s2_.sr;
  if (s1_leave) {
    const unsigned index = STRETTO_SR_GET(s1_, CONNECTION);
    const bool built = index < kRingConnections;
    s2_ = {s1_, built && connections_[index].config.valid,
           built ? connections_[index].config.node : uint8_t{0},
           buffers_[STRETTO_SR_GET(s1_, SOURCE)], buffers_[STRETTO_SR_GET(s1_, DESTINATION)]};
  }
  s2_valid_ = s1_leave || (s2_valid_ && !s2_leave);
  if (pop) {
    s1_ = ring_[ring_read_];
    ring_read_ = (ring_read_ + 1) % kRingDepth;
    head_ = (head_ + 1) & kAddressMask;
  }
  s1_valid_ = pop || (s1_valid_ && !s1_leave);

  // The ring.
  if (push) {
    ring_[ring_write_] = in.sr_data;
    ring_write_ = (ring_write_ + 1) % kRingDepth;
    tail_ = (tail_ + 1) & kAddressMask;
  }
  level_ = level_ + push - pop;
  if (clear) {
    ring_write_ = ring_read_ = level_ = 0;
    tail_ = head_ = replica_sent_ = 0;
    for (Connection& connection : connections_) connection.completed = 0;
  }

  read_pending_ = in.reg.read;
  if (in.reg.read) read_address_ = in.reg.address;
  if (in.reg.write) write(in.reg.address, in.reg.wdata, was_busy);

  out_.pop = pop;
  out_.refuse = bad;
  out_.accept = load;
  out_.drop = drop;
  out_.retire = retire;
  out_.issue_valid = issue_ && !software();
  out_.irq = (error_ & registers_.irq_enable.errors) != 0 ||
             (issue_ && software() && registers_.irq_enable.work);
  out_.busy = busy();
  out_.idle = idle();
  return out_;
}

void RequestRingModel::write(uint16_t address, uint64_t data, bool was_busy) {
  using Registers = RequestRingRegisters;
  const auto [name, index] = Registers::find(address);
  registers_.write({name, index}, data, was_busy);
  switch (name) {
    case Registers::Name::connection_config:
      connections_[index].config = Registers::ConnectionConfig::from(data);
      break;
    case Registers::Name::connection_rc_base:
      connections_[index].rc_base = Registers::ConnectionRcBase::from(data).address;
      break;
    case Registers::Name::buffer_base:
      buffers_[index].base = Registers::BufferBase::from(data).address;
      break;
    case Registers::Name::buffer_config:
      buffers_[index].config = Registers::BufferConfig::from(data);
      break;
    case Registers::Name::counter_clear:
      counters_ = {.error_first = counters_.error_first, .error_request = counters_.error_request};
      break;
    default: break;
  }
}

RequestRingRegisters::Hardware RequestRingModel::hardware(unsigned index) const {
  RequestRingRegisters::Hardware hardware = counters_;
  const bool waits = issue_ && software();
  hardware.status = {.busy = busy(),
                     .work = waits,
                     .level = static_cast<uint16_t>(level_),
                     .in_flight = static_cast<uint16_t>(in_flight_)};
  hardware.limits = {kRingDepth, kRingBuffers, kRingConnections, kRingSlots};
  hardware.error = {(error_ & kMalformed) != 0, (error_ & kDropped) != 0,
                    (error_ & kTransfer) != 0};
  hardware.tail = tail_;
  hardware.head = head_;
  if (waits) {
    hardware.software_source.address = out_.issue_source;
    hardware.software_destination.address = out_.issue_destination;
    hardware.software_bytes = {
        .bytes = out_.issue_bytes, .tag = out_.issue_tag, .read = out_.issue_read, .valid = true};
  }
  if (index < kRingConnections) {
    const Connection& connection = connections_[index];
    hardware.connection_config = connection.config;
    hardware.connection_state = {.completed = connection.completed, .in_flight = connection.count};
  }
  return hardware;
}

}  // namespace stretto
