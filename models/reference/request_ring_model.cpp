// SPDX-License-Identifier: Apache-2.0
#include "models/reference/request_ring_model.h"

#include "sw/include/formats/send_request.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/request_ring_regs.h"

namespace stretto {

static_assert(kRingDepth == STRETTO_SEND_RING_DEPTH && kRingBuffers == STRETTO_SEND_BUFFERS &&
              kRingConnections == STRETTO_SEND_CONNECTIONS);

namespace {

constexpr uint64_t kAddressMask = (uint64_t{1} << 48) - 1;
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
  const Buffer& source = s2_.source;
  const Buffer& destination = s2_.destination;
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
  const uint8_t source_node = write ? node_ : s2_.node;
  const uint8_t destination_node = write ? s2_.node : node_;
  if (source.base >> 40 != source_node || destination.base >> 40 != destination_node)
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
  const bool all = connection.limit == 0 || connection.limit > kRingSlots;
  return connection.count < (all ? kRingSlots : connection.limit);
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
  return replica_ && head_ != replica_sent_ &&
         (level_ == 0 || ((head_ - replica_sent_) & kAddressMask) >= batch_);
}

bool RequestRingModel::busy() const {
  return s1_valid_ || s2_valid_ || in_flight_ != 0 || sc_pending_ || rc_pending_ ||
         out_.write_valid || replica_due();
}

// R8.
bool RequestRingModel::idle() const {
  if (s2_valid_ && (reason() != 0 || (room() && !issue_))) return false;
  if (s1_valid_ && !s2_valid_) return false;
  if (enable_ && level_ != 0 && !s1_valid_) return false;
  if ((issue_ && !software_) || out_.write_valid || sc_pending_ || rc_pending_ || replica_due())
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
  const bool issue_taken = issue_ && (software_ ? take_write : in.issue_ready);
  const bool load = s2_valid_ && !bad && room() && (!issue_ || issue_taken);
  const bool s2_leave = load || bad;
  const bool s1_leave = s1_valid_ && (!s2_valid_ || s2_leave);
  const bool pop = enable_ && level_ != 0 && (!s1_valid_ || s1_leave) && !clear;
  const bool push = in.sr_valid && enable_ && level_ != kRingDepth && !clear;
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
      done_write
          ? completion(STRETTO_FIELD_GET(in.reg.wdata, REQUEST_RING_SOFTWARE_DONE_TAG),
                       STRETTO_FIELD_GET(in.reg.wdata, REQUEST_RING_SOFTWARE_DONE_FAILED) != 0)
          : Completion{};
  if (read_pending_) out_.reg_rdata = read(read_address_);

  // Flags and replica, before the retirement overwrites what they are made of.
  if (write_free) out_.write_valid = write_flag || write_replica;
  if (write_replica) {
    out_.write_kind = static_cast<uint8_t>(RingWrite::replica);
    out_.write_tag = 0;
    out_.write_address = replica_address_;
    out_.write_data = head_;
    replica_sent_ = head_;
    replica_turn_ = false;
    ++counters_.replicas;
  }
  if (write_flag) {
    out_.write_kind = static_cast<uint8_t>(sc_pending_ ? RingWrite::sent : RingWrite::received);
    out_.write_tag = out_.retire_tag;
    out_.write_address =
        (sc_pending_ ? sc_base_ + 8u * flag_source_ : flag_rc_base_ + 8u * flag_destination_) &
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
    error_reason_ = why;
    error_kind_ = (fresh & kMalformed) != 0 ? 0 : (fresh & kDropped) != 0 ? 1 : 2;
    error_request_ = error_kind_ == 0 ? s2_.sr : error_kind_ == 1 ? in.sr_data : failed_request;
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
    const uint64_t offset = uint64_t{STRETTO_SR_GET(s2_.sr, OFFSET)} << s2_.source.unit;
    out_.issue_tag = tag_of(index, connection.next);
    out_.issue_read = STRETTO_SR_GET(s2_.sr, OPCODE) == STRETTO_SR_READ;
    out_.issue_source = (s2_.source.base + offset) & kAddressMask;
    out_.issue_destination = (s2_.destination.base + offset) & kAddressMask;
    out_.issue_bytes = uint64_t{STRETTO_SR_GET(s2_.sr, LENGTH)} << s2_.source.unit;
    connection.next = static_cast<uint8_t>((connection.next + 1) % kRingSlots);
    ++connection.count;
    ++in_flight_;
  }

  // Decode.
  if (s2_leave) out_.judged = s2_.sr;
  if (s1_leave) {
    const unsigned index = STRETTO_SR_GET(s1_, CONNECTION);
    const bool built = index < kRingConnections;
    s2_ = {s1_, built && connections_[index].valid, built ? connections_[index].node : uint8_t{0},
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
  out_.issue_valid = issue_ && !software_;
  out_.irq = (error_ & irq_enable_ & 7) != 0 || (issue_ && software_ && (irq_enable_ & 8) != 0);
  out_.busy = busy();
  out_.idle = idle();
  return out_;
}

void RequestRingModel::write(uint16_t address, uint64_t data, bool was_busy) {
  if (address >= REQUEST_RING_BUFFER_BASE_OFFSET &&
      address < REQUEST_RING_BUFFER_BASE_OFFSET + kRingBuffers * REQUEST_RING_BUFFER_BASE_STRIDE) {
    Buffer& buffer =
        buffers_[(address - REQUEST_RING_BUFFER_BASE_OFFSET) / REQUEST_RING_BUFFER_BASE_STRIDE];
    if ((address & 8) == 0) {
      buffer.base = STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_BASE_ADDRESS);
    } else {
      buffer.units =
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_CONFIG_UNITS));
      buffer.unit = static_cast<uint8_t>(STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_CONFIG_UNIT));
      buffer.readable = STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_CONFIG_READABLE) != 0;
      buffer.writable = STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_CONFIG_WRITABLE) != 0;
      buffer.valid = STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_CONFIG_VALID) != 0;
    }
    return;
  }
  if (address >= REQUEST_RING_CONNECTION_CONFIG_OFFSET &&
      address < REQUEST_RING_CONNECTION_CONFIG_OFFSET +
                    kRingConnections * REQUEST_RING_CONNECTION_CONFIG_STRIDE) {
    const unsigned place = address - REQUEST_RING_CONNECTION_CONFIG_OFFSET;
    Connection& connection = connections_[place / REQUEST_RING_CONNECTION_CONFIG_STRIDE];
    switch (place / 8 % 4) {
      case 0:
        connection.valid = STRETTO_FIELD_GET(data, REQUEST_RING_CONNECTION_CONFIG_VALID) != 0;
        connection.limit =
            static_cast<uint8_t>(STRETTO_FIELD_GET(data, REQUEST_RING_CONNECTION_CONFIG_LIMIT));
        connection.node =
            static_cast<uint8_t>(STRETTO_FIELD_GET(data, REQUEST_RING_CONNECTION_CONFIG_NODE));
        break;
      case 1:
        connection.rc_base = STRETTO_FIELD_GET(data, REQUEST_RING_CONNECTION_RC_BASE_ADDRESS);
        break;
      default: break;
    }
    return;
  }
  switch (address) {
    case REQUEST_RING_CONTROL_OFFSET:
      enable_ = STRETTO_FIELD_GET(data, REQUEST_RING_CONTROL_ENABLE) != 0;
      if (!was_busy) software_ = STRETTO_FIELD_GET(data, REQUEST_RING_CONTROL_ENGINE) != 0;
      replica_ = STRETTO_FIELD_GET(data, REQUEST_RING_CONTROL_REPLICA) != 0;
      batch_ = static_cast<uint8_t>(STRETTO_FIELD_GET(data, REQUEST_RING_CONTROL_BATCH));
      break;
    case REQUEST_RING_COUNTER_CLEAR_OFFSET: counters_ = {}; break;
    case REQUEST_RING_NODE_OFFSET: node_ = static_cast<uint8_t>(data); break;
    case REQUEST_RING_REPLICA_ADDRESS_OFFSET: replica_address_ = data & kAddressMask; break;
    case REQUEST_RING_SC_BASE_OFFSET: sc_base_ = data & kAddressMask; break;
    case REQUEST_RING_IRQ_ENABLE_OFFSET: irq_enable_ = data & 0xf; break;
    default: break;
  }
}

uint64_t RequestRingModel::read(uint16_t address) const {
  if (address >= REQUEST_RING_CONNECTION_CONFIG_OFFSET &&
      address < REQUEST_RING_CONNECTION_CONFIG_OFFSET +
                    kRingConnections * REQUEST_RING_CONNECTION_CONFIG_STRIDE) {
    const unsigned place = address - REQUEST_RING_CONNECTION_CONFIG_OFFSET;
    const Connection& connection = connections_[place / REQUEST_RING_CONNECTION_CONFIG_STRIDE];
    switch (place / 8 % 4) {
      case 0:
        return STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_VALID, connection.valid) |
               STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_LIMIT, connection.limit) |
               STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_NODE, connection.node);
      case 2:
        return STRETTO_FIELD(REQUEST_RING_CONNECTION_STATE_COMPLETED, connection.completed) |
               STRETTO_FIELD(REQUEST_RING_CONNECTION_STATE_IN_FLIGHT, connection.count);
      default: return 0;
    }
  }
  const bool waits = issue_ && software_;
  switch (address) {
    case REQUEST_RING_CONTROL_OFFSET:
      return STRETTO_FIELD(REQUEST_RING_CONTROL_ENABLE, enable_) |
             STRETTO_FIELD(REQUEST_RING_CONTROL_ENGINE, software_) |
             STRETTO_FIELD(REQUEST_RING_CONTROL_REPLICA, replica_) |
             STRETTO_FIELD(REQUEST_RING_CONTROL_BATCH, batch_);
    case REQUEST_RING_STATUS_OFFSET:
      return STRETTO_FIELD(REQUEST_RING_STATUS_BUSY, busy()) |
             STRETTO_FIELD(REQUEST_RING_STATUS_WORK, waits) |
             STRETTO_FIELD(REQUEST_RING_STATUS_LEVEL, level_) |
             STRETTO_FIELD(REQUEST_RING_STATUS_IN_FLIGHT, in_flight_);
    case REQUEST_RING_LIMITS_OFFSET:
      return STRETTO_FIELD(REQUEST_RING_LIMITS_DEPTH, kRingDepth) |
             STRETTO_FIELD(REQUEST_RING_LIMITS_BUFFERS, kRingBuffers) |
             STRETTO_FIELD(REQUEST_RING_LIMITS_CONNECTIONS, kRingConnections) |
             STRETTO_FIELD(REQUEST_RING_LIMITS_SLOTS, kRingSlots);
    case REQUEST_RING_NODE_OFFSET: return node_;
    case REQUEST_RING_REPLICA_ADDRESS_OFFSET: return replica_address_;
    case REQUEST_RING_SC_BASE_OFFSET: return sc_base_;
    case REQUEST_RING_ERROR_OFFSET: return error_;
    case REQUEST_RING_IRQ_ENABLE_OFFSET: return irq_enable_;
    case REQUEST_RING_ERROR_FIRST_OFFSET:
      return STRETTO_FIELD(REQUEST_RING_ERROR_FIRST_REASON, error_reason_) |
             STRETTO_FIELD(REQUEST_RING_ERROR_FIRST_KIND, error_kind_);
    case REQUEST_RING_ERROR_REQUEST_OFFSET: return error_request_;
    case REQUEST_RING_TAIL_OFFSET: return tail_;
    case REQUEST_RING_HEAD_OFFSET: return head_;
    case REQUEST_RING_REFUSED_OFFSET: return counters_.refused;
    case REQUEST_RING_DROPPED_OFFSET: return counters_.dropped;
    case REQUEST_RING_ISSUED_OFFSET: return counters_.issued;
    case REQUEST_RING_COMPLETED_OFFSET: return counters_.completed;
    case REQUEST_RING_FAILED_OFFSET: return counters_.failed;
    case REQUEST_RING_FLAGS_OFFSET: return counters_.flags;
    case REQUEST_RING_REPLICAS_OFFSET: return counters_.replicas;
    case REQUEST_RING_SOFTWARE_SOURCE_OFFSET: return waits ? out_.issue_source : 0;
    case REQUEST_RING_SOFTWARE_DESTINATION_OFFSET: return waits ? out_.issue_destination : 0;
    case REQUEST_RING_SOFTWARE_BYTES_OFFSET:
      if (!waits) return 0;
      return STRETTO_FIELD(REQUEST_RING_SOFTWARE_BYTES_BYTES, out_.issue_bytes) |
             STRETTO_FIELD(REQUEST_RING_SOFTWARE_BYTES_TAG, out_.issue_tag) |
             STRETTO_FIELD(REQUEST_RING_SOFTWARE_BYTES_READ, out_.issue_read) |
             STRETTO_FIELD(REQUEST_RING_SOFTWARE_BYTES_VALID, 1);
    default: return 0;
  }
}

}  // namespace stretto
