// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/link_port.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "sw/include/formats/address_map.h"

namespace stretto {
namespace {

constexpr uint32_t kEventSent = 0x40;  // Digest kinds.
constexpr uint32_t kEventReceived = 0x41;
constexpr uint32_t kNobody = ~uint32_t{0};  // Handle of what the port itself sends, and of reads.
constexpr uint64_t kServed =
    uint64_t{1} << 55;  // Set in the numbers of served reads, clear in those of writes.

// It takes effect behind all before it.
bool is_ordered(const Packet& packet) {
  if (packet.operation == Operation::atomic) return true;
  return packet.operation != Operation::read && !packet.tracked && packet.data.size() <= 8;
}

bool is_doorbell(const Packet& packet) {
  return (packet.address & STRETTO_OFFSET_MASK) >= STRETTO_DOORBELL_APERTURE;
}

}  // namespace

LinkPort::LinkPort(const PortSpec& spec, unsigned index, LinkPortOwner& owner,
                   PartitionServices& services, PacketPort& out)
    : EventHandler(*services.queue),
      spec_(spec),
      index_(index),
      owner_(owner),
      services_(services),
      track_("gpu" + std::to_string(services.gpu) + "/port" + std::to_string(index)),
      out_(out),
      wire_(spec.link, LinkWire::CompletionCredits::infinite),
      credits_(spec.link.credit_bytes) {}

std::string LinkPort::trace_name(const Packet& packet) {
  if (packet.is_read_request()) return "read";
  if (packet.is_atomic_request()) return "atomic";
  return packet.tracked ? "tile " + std::to_string(packet.wg_id)
                        : std::to_string(packet.data.size()) + " B";
}

std::string LinkPort::name() const { return "port" + std::to_string(index_); }

// Out

void LinkPort::request(Packet&& packet, uint32_t request) {
  assert(packet.data.size() <= std::min<uint64_t>(kMaxPacketBytes, spec_.link.credit_bytes));
  if (packet.is_non_posted()) {
    reads_.push_back(std::move(packet));
    release_reads();
    return;
  }
  requests_.push_back({std::move(packet), request});
  counters_.requests_high_water =
      std::max<uint64_t>(counters_.requests_high_water, requests_.size());
  take();
}

void LinkPort::release_reads() {
  while (!reads_.empty()) {
    const uint64_t tags = read_requests(spec_.link, reads_.front());
    if (tags_used_ != 0 && tags_used_ + tags > spec_.link.read_tags) break;
    tags_used_ += tags;
    atomics_waiting_ += reads_.front().is_atomic_request();
    counters_.tags_high_water = std::max(counters_.tags_high_water, tags_used_);
    requests_.push_back({std::move(reads_.front()), kNobody});
    reads_.pop_front();
  }
  take();
}

void LinkPort::take() {
  while (!requests_.empty()) {
    const uint64_t bytes = requests_.front().packet.data.size();
    if (!buffer_.empty() && buffered_ + bytes > spec_.link.egress_bytes) break;
    rewritten_.clear();
    owner_.rewrite(index_, std::move(requests_.front().packet), rewritten_);
    for (Packet& packet : rewritten_) {
      buffered_ += packet.data.size();
      buffer_.push_back(std::move(packet));
    }
    const uint32_t handle = requests_.front().handle;
    requests_.pop_front();
    if (handle != kNobody) owner_.answer(handle);
  }
  transmit();
}

void LinkPort::transmit() {
  if (busy_ || buffer_.empty()) return;
  Packet& packet = buffer_.front();
  const uint64_t bytes = packet.data.size();
  const Time now = services_.queue->now();
  if (bytes > credits_) {
    if (stalled_since_ == kNever) stalled_since_ = now;
    return;
  }
  if (stalled_since_ != kNever) {
    counters_.credit_stall += now - stalled_since_;
    stalled_since_ = kNever;
  }
  credits_ -= bytes;
  const auto [begin, left] = wire_.send(now, packet);
  ++counters_.packets_sent;
  counters_.reads_sent += packet.is_read_request();
  counters_.atomics_sent += packet.is_atomic_request();
  counters_.bytes_sent += bytes;
  if (packet.address >> STRETTO_NODE_SHIFT == STRETTO_NODE_HOST) counters_.host_bytes_sent += bytes;
  if (!is_load_of_host(packet)) services_.count_moved(bytes);
  if (services_.digest != nullptr)
    services_.digest->event(left, kEventSent, packet.address, bytes << 8 | index_);
  if (services_.trace != nullptr) {
    services_.trace->span(track_ + " out", trace_name(packet), begin, left,
                          {packet.flow, TraceDetail::Arrow::passes, 0});
  }
  packet.destination = spec_.peer_node;
  packet.link = spec_.peer_port;
  packet.arrival = packet.tail = left + spec_.link.latency_ns * kNanosecond;
  if (spec_.to_switch()) packet.arrival = begin + spec_.link.latency_ns * kNanosecond;
  out_.send(std::move(packet));
  sending_ = bytes;
  busy_ = true;
  services_.queue->schedule(left, *this);
}

// Tag 0: the packet at the head of the buffer has left; n + 1: incoming packet n is written, or
// served read n has its data.
void LinkPort::on_event(uint64_t tag) {
  if (tag == 0) {
    left();
  } else if (((tag - 1) & kServed) != 0) {
    answer_served((tag - 1) & ~kServed);
  } else {
    written(tag - 1);
  }
}

void LinkPort::left() {
  busy_ = false;
  buffered_ -= sending_;
  buffer_.pop_front();
  take();
}

// In

void LinkPort::receive(Packet&& packet) {
  if (packet.credit_bytes != 0) {
    credits_ += packet.credit_bytes;
    transmit();
    return;
  }
  const uint64_t bytes = packet.data.size();
  assert(bytes == uint64_t{packet.rows} * packet.row_bytes || packet.is_non_posted() ||
         packet.failed);
  wire_.received(services_.queue->now(), packet);
  ++counters_.packets_received;
  counters_.bytes_received += bytes;
  if (packet.origin == STRETTO_NODE_HOST) counters_.host_bytes_received += bytes;
  if (packet.operation == Operation::update) counters_.updates_received += bytes;
  if (services_.digest != nullptr) {
    services_.digest->event(packet.arrival, kEventReceived, packet.address, bytes << 8 | index_);
  }
  if (packet.completion) {
    // The requester has room for what it asked for.
    if (packet.operation == Operation::atomic) {
      ++counters_.atomics_answered;
      --atomics_waiting_;
    } else {
      ++counters_.reads_answered;
      counters_.read_bytes += bytes;
    }
    count_written(packet, bytes);
    tags_used_ -= read_requests(spec_.link, packet);
    owner_.completed(packet);
    return_credit(bytes);
    release_reads();
    return;
  }
  counters_.reads_received += packet.is_read_request();
  counters_.atomics_received += packet.is_atomic_request();
  const bool waits = is_ordered(packet) || packet.is_read_request();
  incoming_.push_back({std::move(packet)});
  ++unissued_;
  if (waits) {
    advance();
  } else {
    issue(first_incoming_ + incoming_.size() - 1);
  }
}

// Retires what is done at the front, then issues what has waited: a flag or an atomic when it is
// first, a read when nothing before it waits.
void LinkPort::advance() {
  for (;;) {
    while (!incoming_.empty() && incoming_.front().written) {
      incoming_.pop_front();
      ++first_incoming_;
    }
    if (unissued_ == 0) return;
    uint64_t next = 0;
    while (incoming_[next].issued) ++next;
    if (next != 0 && is_ordered(incoming_[next].packet)) return;
    issue(first_incoming_ + next);
  }
}

void LinkPort::issue(uint64_t number) {
  Incoming& incoming = incoming_[number - first_incoming_];
  incoming.issued = true;
  --unissued_;
  if (incoming.packet.is_read_request()) {
    incoming.written = true;
    serve(std::move(incoming.packet));
    return;
  }
  if (incoming.packet.is_atomic_request()) {  // Writes behind it may pass it.
    const uint64_t bytes = incoming.packet.data.size();
    incoming.written = true;
    count_written(incoming.packet, bytes);
    serve_atomic(std::move(incoming.packet));
    return_credit(bytes);
    return;
  }
  if (is_doorbell(incoming.packet)) {
    const Packet& packet = incoming.packet;
    uint64_t value = 0;
    std::copy_n(packet.data.begin(), std::min<size_t>(8, packet.data.size()),
                reinterpret_cast<uint8_t*>(&value));
    owner_.ring_doorbell((packet.address & STRETTO_OFFSET_MASK) - STRETTO_DOORBELL_APERTURE, value,
                         packet.account);
    incoming.written = true;
    count_written(packet, packet.data.size());
    return_credit(packet.data.size());
    return;
  }
  incoming.rows_left = incoming.rows_outside = incoming.packet.rows;
  // The memory never answers inside the call, so `incoming` stays where it is.
  for (uint32_t row = 0; row < incoming.packet.rows; ++row)
    owner_.write_row(index_, number, incoming.packet, row);
}

void LinkPort::count_written(const Packet& packet, uint64_t bytes) {
  counters_.bytes_written += bytes;
  if (packet.operation == Operation::update) counters_.updates_written += bytes;
  services_.count_moved(bytes);
}

void LinkPort::row_admitted(uint64_t number) {
  Incoming& incoming = incoming_[number - first_incoming_];
  assert(incoming.issued && incoming.rows_outside > 0);
  if (--incoming.rows_outside == 0) return_credit(incoming);
}

void LinkPort::row_written(uint64_t number, bool ok, Time at) {
  uint32_t rows_left = 0;
  Time last = 0;
  if ((number & kServed) != 0) {
    Served& served = served_[number & ~kServed];
    served.ok = served.ok && ok;
    last = served.last = std::max(served.last, at);
    rows_left = --served.rows_left;
  } else {
    Incoming& incoming = incoming_[number - first_incoming_];
    assert(incoming.issued && incoming.rows_left > 0);
    if (ok) count_written(incoming.packet, incoming.packet.row_bytes);
    last = incoming.last = std::max(incoming.last, at);
    rows_left = --incoming.rows_left;
  }
  if (rows_left > 0) return;
  if (last == services_.queue->now()) {
    on_event(number + 1);
  } else {
    services_.queue->schedule(last, *this, number + 1);
  }
}

void LinkPort::written(uint64_t number) {
  Incoming& incoming = incoming_[number - first_incoming_];
  incoming.written = true;
  if (services_.trace != nullptr) {
    services_.trace->span(track_ + " in", trace_name(incoming.packet), incoming.packet.arrival,
                          services_.queue->now(),
                          {incoming.packet.flow, TraceDetail::Arrow::arrives, 0});
  }
  return_credit(incoming);  // Where the memory has not said before that it took the packet in.
  advance();
}

uint32_t LinkPort::take_served(Packet&& packet) {
  if (free_served_.empty()) {
    free_served_.push_back(static_cast<uint32_t>(served_.size()));
    served_.emplace_back();
  }
  const uint32_t index = free_served_.back();
  free_served_.pop_back();
  Served& served = served_[index];
  served.packet = std::move(packet);
  served.rows_left = served.packet.rows;
  served.ok = true;
  served.silent = false;
  served.last = 0;
  return index;
}

void LinkPort::serve(Packet&& packet) {
  const uint32_t index = take_served(std::move(packet));
  Served& served = served_[index];
  if (is_doorbell(served.packet)) {  // Registers of an aperture are not for reading.
    served.ok = false;
    answer_served(index);
    return;
  }
  served.packet.data.resize(uint64_t{served.packet.rows} * served.packet.row_bytes);
  for (uint32_t row = 0; row < served.packet.rows; ++row)
    owner_.read_row(index_, kServed | index, served.packet, row);
}

void LinkPort::serve_atomic(Packet&& packet) {
  const uint64_t number = ++atomics_issued_;
  if (number == spec_.link.fault_lose_atomic) {
    packet.atomic_op = AtomicOp::add;
    std::fill(packet.data.begin(), packet.data.end(), uint8_t{0});
  }
  if (number == spec_.link.fault_repeat_atomic) {
    const uint32_t again = take_served(Packet(packet));
    served_[again].silent = true;
    perform(again);
  }
  perform(take_served(std::move(packet)));
}

void LinkPort::perform(uint32_t index) {
  Served& served = served_[index];
  // What an aperture holds is for writing alone.
  if (!is_doorbell(served.packet) && owner_.perform(index_, kServed | index, served.packet)) return;
  served.ok = false;
  answer_served(index);
}

void LinkPort::answer_served(uint64_t index) {
  free_served_.push_back(static_cast<uint32_t>(index));
  if (served_[index].silent) return;
  Packet answer = std::move(served_[index].packet);
  answer.completion = true;
  answer.failed = !served_[index].ok;
  if (answer.failed) answer.data.clear();
  if (answer.operation == Operation::atomic) {
    counters_.atomics_refused += answer.failed;
    // The operand that is compared goes, if there is one.
    if (!answer.failed)
      answer.data.erase(answer.data.begin(), answer.data.end() - answer.row_bytes);
  }
  answer.address =
      uint64_t{answer.origin} << STRETTO_NODE_SHIFT | (answer.address & STRETTO_OFFSET_MASK);
  answer.origin = 0;  // Begins its way here.
  ++(answer.operation == Operation::atomic ? counters_.atomics_completed
                                           : counters_.completions_sent);
  if (counters_.completions_sent + counters_.atomics_completed == spec_.link.fault_lose_completion)
    return;
  requests_.push_back({std::move(answer), kNobody});
  take();
}

void LinkPort::return_credit(Incoming& incoming) {
  if (incoming.credit_returned) return;
  incoming.credit_returned = true;
  return_credit(incoming.packet.data.size());
}

void LinkPort::return_credit(uint64_t bytes) {
  if (bytes == 0 || ++counters_.credit_returns == spec_.link.fault_lose_credit) return;
  Packet credit;
  credit.destination = spec_.peer_node;
  credit.link = spec_.peer_port;
  credit.credit_bytes = static_cast<uint32_t>(bytes);
  credit.arrival = services_.queue->now() + spec_.link.latency_ns * kNanosecond;
  out_.send(std::move(credit));
}

// Account

void LinkPort::report(StatisticSink& sink) const {
  const auto add = [&](const char* what, uint64_t value, const char* unit, const char* sentence) {
    sink.add(name() + "." + what, value, unit, sentence);
  };
  add("peer", spec_.peer_node, "count", "Node at the other end.");
  add("packets_sent", counters_.packets_sent, "count", "Packets that left.");
  add("bytes_sent", counters_.bytes_sent, "bytes", "Payload that left.");
  add("packets_received", counters_.packets_received, "count", "Packets that arrived.");
  add("bytes_received", counters_.bytes_received, "bytes", "Payload that arrived.");
  add("bytes_written", counters_.bytes_written, "bytes", "Payload that arrived and was written.");
  add("reads_sent", counters_.reads_sent, "count", "Packets of read requests that left.");
  add("reads_answered", counters_.reads_answered, "count",
      "Read requests that left and whose data or error came.");
  add("reads_received", counters_.reads_received, "count",
      "Packets of read requests that arrived.");
  add("read_bytes", counters_.read_bytes, "bytes", "Data that reads brought.");
  if (counters_.atomics_sent + counters_.atomics_received != 0) {
    add("atomics_sent", counters_.atomics_sent, "count", "Atomics that left.");
    add("atomics_received", counters_.atomics_received, "count", "Atomics that arrived.");
    add("atomics_refused", counters_.atomics_refused, "count",
        "Those that arrived for what has no word, or executes none.");
  }
  add("tags_high_water", counters_.tags_high_water, "count",
      "Most read requests without their data.");
  wire_.report(sink, name() + ".");
  add("credit_stall", counters_.credit_stall, "fs",
      "Time in which a packet waited for credit alone.");
  add("requests_high_water", counters_.requests_high_water, "count",
      "Most requests waiting for the send buffer.");
}

void LinkPort::audit(AuditSink& sink) const {
  sink.equal("credits all home", credits_, spec_.link.credit_bytes);
  sink.equal("received bytes = written bytes", counters_.bytes_received, counters_.bytes_written);
  sink.equal("received updates = written updates", counters_.updates_received,
             counters_.updates_written);
  sink.equal("reads sent = answered", counters_.reads_sent, counters_.reads_answered);
  sink.equal("reads received = answered", counters_.reads_received, counters_.completions_sent);
  sink.equal("atomics sent = answered", counters_.atomics_sent, counters_.atomics_answered);
  sink.equal("atomics received = answered", counters_.atomics_received,
             counters_.atomics_completed);
  wire_.audit(sink);
  sink.at_most("link busy + idle = total", wire_.busy(),
               std::max(services_.queue->now(), wire_.free_at()));
}

std::vector<std::string> LinkPort::waiting_on() const {
  std::vector<std::string> lines;
  const std::string to = name() + " to node " + std::to_string(spec_.peer_node);
  if (!buffer_.empty() && !busy_) {
    lines.push_back(to + ": " + std::to_string(buffer_.size() + requests_.size()) +
                    " packets wait for credit (" + std::to_string(credits_) + " of " +
                    std::to_string(spec_.link.credit_bytes) + " B free)");
  }
  if (atomics_waiting_ != 0) {
    lines.push_back(to + ": " + std::to_string(atomics_waiting_) +
                    " atomics wait for their answer, " + std::to_string(reads_.size()) +
                    " requests for a tag");
  }
  if (tags_used_ != atomics_waiting_) {
    lines.push_back(to + ": " + std::to_string(tags_used_ - atomics_waiting_) +
                    " read requests wait for their data, " + std::to_string(reads_.size()) +
                    " reads for a tag");
  }
  if (!incoming_.empty()) {
    lines.push_back(to + ": " + std::to_string(incoming_.size()) +
                    " packets wait to be written to memory");
  }
  return lines;
}

}  // namespace stretto
