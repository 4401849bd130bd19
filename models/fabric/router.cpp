// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/router.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "models/common/atomic_op.h"
#include "models/common/hex.h"
#include "models/common/payload_builder.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/link_bank.h"
#include "sw/include/regs/link_regs.h"

namespace stretto {
namespace {

constexpr uint64_t kRespond =
    uint64_t{1} << 32;  // Event tag: answer the request in the low bits; else it arrives.
constexpr unsigned kPortBits = 56;  // Cookie: port above, number of the packet below.
constexpr size_t kWords = 1024;     // Beyond them words are new once more.

uint64_t word_of(const uint8_t* bytes, size_t count) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

}  // namespace

Router::Router(sc_core::sc_module_name name, const RouterSpec& spec, unsigned requesters,
               Partition& partition)
    : sc_module(name),
      EventHandler(partition.queue()),
      egress("egress", requesters),
      memory("memory"),
      atomics("atomics"),
      doorbell("doorbell"),
      csr("csr"),
      services_(partition.services()),
      node_base_(uint64_t{partition.node()} << STRETTO_NODE_SHIFT),
      registers_(kLinkRegisters) {
  assert(spec.ports.size() <= LINK_PEER_COUNT);
  for (unsigned i = 0; i < requesters; ++i) {
    egress[i].register_nb_transport_fw(this, &Router::nb_transport_fw, static_cast<int>(i));
  }
  memory.register_nb_transport_bw(this, &Router::nb_transport_bw);
  atomics.register_nb_transport_bw(this, &Router::nb_transport_bw);
  csr.register_b_transport(&registers_, &RegisterBank::b_transport);
  describe_registers();
  LinkPortOwner& owner = *this;
  for (unsigned i = 0; i < spec.ports.size(); ++i) {
    ports_.push_back(std::make_unique<LinkPort>(spec.ports[i], i, owner, services_, partition));
    partition.attach(static_cast<uint8_t>(i), *ports_.back());
  }
  for (const auto& [node, port] : spec.routes) {
    registers_[LINK_ROUTE_OFFSET + node * LINK_ROUTE_STRIDE] =
        STRETTO_FIELD(LINK_ROUTE_LINK, port) | LINK_ROUTE_VALID_MASK;
  }
}

// Requests

tlm::tlm_response_status Router::check_atomic(const tlm::tlm_generic_payload& payload,
                                              const StrettoExtension& extension) const {
  const uint64_t bytes = payload.get_data_length();
  if (!is_link_atomic(extension.atomic_op)) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if ((bytes != 4 && bytes != 8) || extension.rows != 1) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_address() % bytes != 0) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

tlm::tlm_response_status Router::make_packet(const tlm::tlm_generic_payload& payload,
                                             Request& request) {
  const StrettoExtension* extension = payload.get_extension<StrettoExtension>();
  if (extension == nullptr) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  const Operation operation = extension->operation;
  const bool reads = operation == Operation::read && payload.is_read();
  const bool writes = operation == Operation::write || operation == Operation::update ||
                      operation == Operation::locked_store;
  const bool atomic = operation == Operation::atomic;
  if (!reads && !atomic && !(writes && payload.is_write())) {
    return tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  const uint64_t bytes = payload.get_data_length();
  const uint32_t rows = extension->rows;
  if (bytes == 0 || rows == 0 || bytes % rows != 0 || bytes > kMaxPacketBytes)
    return tlm::TLM_BURST_ERROR_RESPONSE;
  if (atomic) {
    const tlm::tlm_response_status status = check_atomic(payload, *extension);
    if (status != tlm::TLM_OK_RESPONSE) return status;
  }

  const uint64_t node = payload.get_address() >> STRETTO_NODE_SHIFT;
  const uint64_t route =
      node < LINK_ROUTE_COUNT ? registers_[LINK_ROUTE_OFFSET + node * LINK_ROUTE_STRIDE] : 0;
  const uint64_t port = STRETTO_FIELD_GET(route, LINK_ROUTE_LINK);
  if ((route & LINK_ROUTE_VALID_MASK) == 0 || port >= ports_.size()) {
    ++dropped_;
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  if (!writes && (node == STRETTO_NODE_SWITCH ||
                  (node == STRETTO_NODE_HOST && !ports_[port]->spec().to_switch())))
    return tlm::TLM_COMMAND_ERROR_RESPONSE;
  request.port = static_cast<uint8_t>(port);
  Packet& packet = request.packet;
  packet = {};
  packet.operation = operation == Operation::locked_store ? Operation::write : operation;
  packet.tag = static_cast<uint32_t>(&request - requests_.data());
  packet.element = extension->element;
  packet.account = extension->account;
  packet.stored = extension->engine == Engine::wavefront;
  packet.tracked = extension->tracked;
  packet.wg_id = extension->wg_id;
  packet.wf_id = extension->wf_id;
  packet.address = payload.get_address();
  packet.rows = rows;
  packet.row_bytes = static_cast<uint32_t>(bytes / rows);
  packet.pitch = atomic ? 0 : extension->pitch;
  packet.flow = extension->flow;
  if (atomic) {
    packet.atomic_op = extension->atomic_op;
    if (packet.atomic_op == AtomicOp::compare_swap) {
      packet.data.resize(bytes);
      std::memcpy(packet.data.data(), &extension->compare, bytes);
    }
  }
  if (!reads)
    packet.data.insert(packet.data.end(), payload.get_data_ptr(), payload.get_data_ptr() + bytes);
  return tlm::TLM_OK_RESPONSE;
}

tlm::tlm_sync_enum Router::nb_transport_fw(int requester, tlm::tlm_generic_payload& payload,
                                           tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;  // END_RESP: nothing is held for it.
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(requests_.size()));
    requests_.emplace_back();
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  requests_[index].payload = &payload;
  requests_[index].requester = requester;
  services_.queue->schedule(services_.queue->now() + time_of(delay), *this, index);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void Router::on_event(uint64_t tag) {
  const uint32_t index = static_cast<uint32_t>(tag);
  Request& request = requests_[index];
  if ((tag & kRespond) == 0) {
    const tlm::tlm_response_status status = make_packet(*request.payload, request);
    if (status == tlm::TLM_OK_RESPONSE) {
      if (!request.packet.is_non_posted()) request.payload->set_response_status(status);
      ports_[request.port]->request(std::move(request.packet), index);
    } else {
      request.payload->set_response_status(status);
      answer(index);
    }
    return;
  }
  tlm::tlm_generic_payload& payload = *request.payload;
  const int requester = request.requester;
  request.payload = nullptr;
  free_.push_back(index);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  egress[static_cast<size_t>(requester)]->nb_transport_bw(payload, phase, delay);
}

void Router::answer(uint32_t request) {
  services_.queue->schedule(services_.queue->now(), *this, kRespond | request);
}

void Router::rewrite(unsigned port, Packet&& packet, std::vector<Packet>& out) {
  if (mirror_ && port == 0 && packet.operation != Operation::read &&
      packet.operation != Operation::atomic) {
    mirror_(std::move(packet), out);
  } else {
    out.push_back(std::move(packet));
  }
}

// Arrivals

void Router::write_row(unsigned port, uint64_t incoming, const Packet& packet, uint32_t row) {
  access_row(port, incoming, packet, row,
             const_cast<uint8_t*>(packet.data.data()) + uint64_t{row} * packet.row_bytes);
}

void Router::read_row(unsigned port, uint64_t incoming, Packet& packet, uint32_t row) {
  access_row(port, incoming, packet, row, packet.data.data() + uint64_t{row} * packet.row_bytes);
}

void Router::completed(const Packet& packet) {
  tlm::tlm_generic_payload& payload = *requests_[packet.tag].payload;
  if (packet.operation == Operation::atomic && !packet.failed) note_atomic(payload, packet);
  std::copy(packet.data.begin(), packet.data.end(), payload.get_data_ptr());
  payload.set_response_status(packet.failed ? tlm::TLM_GENERIC_ERROR_RESPONSE
                                            : tlm::TLM_OK_RESPONSE);
  answer(packet.tag);
}

// One that changes nothing and finds what the last one there found polls: that is no progress
// (PartitionServices).
void Router::note_atomic(const tlm::tlm_generic_payload& payload, const Packet& answer) {
  const size_t bytes = answer.data.size();
  const uint64_t found = word_of(answer.data.data(), bytes);
  const uint64_t operand = word_of(payload.get_data_ptr(), bytes);
  const uint64_t left =
      apply_atomic_op(answer.atomic_op, static_cast<unsigned>(bytes), found, operand,
                      payload.get_extension<StrettoExtension>()->compare);
  if (word_of(reinterpret_cast<const uint8_t*>(&left), bytes) != found) {
    ++services_.progress;
    return;
  }
  if (words_.size() == kWords) words_.clear();
  Word& word = words_.try_emplace(payload.get_address()).first->second;
  const bool polls = word.times != 0 && word.found == found;
  word = {answer.atomic_op, found, polls ? word.times + 1 : 1};
  ++(polls ? services_.polls : services_.progress);
}

PooledPayload& Router::arrival(unsigned port, uint64_t incoming, const Packet& packet,
                               uint64_t address, uint8_t* data) {
  PooledPayload& payload =
      communication_payload(pool_, Engine::link, services_.gpu, packet.operation, packet.account,
                            node_base_ | (address & STRETTO_OFFSET_MASK), data, packet.row_bytes);
  StrettoExtension& extension = payload.extension;
  extension.unit = static_cast<uint16_t>(port);
  extension.wg_id = packet.wg_id;
  extension.wf_id = packet.wf_id;
  extension.tracked = packet.tracked;
  extension.element = packet.element;
  extension.parts = packet.parts;
  extension.cookie = uint64_t{port} << kPortBits | incoming;
  return payload;
}

void Router::access_row(unsigned port, uint64_t incoming, const Packet& packet, uint32_t row,
                        uint8_t* data) {
  PooledPayload& payload =
      arrival(port, incoming, packet, packet.address + row * packet.pitch, data);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  memory->nb_transport_fw(payload, phase, delay);
}

bool Router::perform(unsigned port, uint64_t incoming, Packet& packet) {
  if (atomics.size() == 0) return false;
  uint8_t* const operand = packet.data.data() + packet.data.size() - packet.row_bytes;
  PooledPayload& payload = arrival(port, incoming, packet, packet.address, operand);
  payload.extension.atomic_op = packet.atomic_op;
  payload.extension.compare = word_of(packet.data.data(), packet.row_bytes);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  if (atomics->nb_transport_fw(payload, phase, delay) != tlm::TLM_COMPLETED) return true;
  ++memory_errors_;  // Completed at once: refused.
  payload.release();
  return false;
}

void Router::on_admitted(uint64_t cookie) {
  ports_[cookie >> kPortBits]->row_admitted(cookie & ((uint64_t{1} << kPortBits) - 1));
}

tlm::tlm_sync_enum Router::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  const uint64_t cookie = static_cast<PooledPayload&>(payload).extension.cookie;
  const bool ok = payload.is_response_ok();
  if (!ok) ++memory_errors_;
  const Time at = services_.queue->now() + time_of(delay);
  phase = tlm::END_RESP;
  payload.release();
  ports_[cookie >> kPortBits]->row_written(cookie & ((uint64_t{1} << kPortBits) - 1), ok, at);
  return tlm::TLM_COMPLETED;
}

void Router::ring_doorbell(uint64_t offset, uint64_t value, uint8_t account) {
  ++doorbells_;
  StrettoExtension extension;
  extension.account = account;
  tlm::tlm_generic_payload payload;
  payload.set_extension(&extension);
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  payload.set_address(offset);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
  payload.set_data_length(8);
  payload.set_streaming_width(8);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  doorbell->b_transport(payload, delay);
  payload.clear_extension(&extension);
  if (!payload.is_response_ok()) ++memory_errors_;
}

// Registers

void Router::describe_registers() {
  registers_.on_read(LINK_LINKS_OFFSET, [this](uint32_t) { return ports_.size(); });
  registers_.on_read(LINK_DROPPED_OFFSET, [this](uint32_t) { return dropped_; });
  const auto of_port = [this](uint32_t offset, auto value) {
    registers_.on_read(offset, [this, value](uint32_t index) -> uint64_t {
      return index < ports_.size() ? value(*ports_[index]) : 0;
    });
  };
  of_port(LINK_PEER_OFFSET, [](const LinkPort& port) { return port.spec().peer_node; });
  of_port(LINK_SENT_OFFSET, [](const LinkPort& port) { return port.counters().bytes_sent; });
  of_port(LINK_RECEIVED_OFFSET,
          [](const LinkPort& port) { return port.counters().bytes_received; });
  of_port(LINK_WRITTEN_OFFSET, [](const LinkPort& port) { return port.counters().bytes_written; });
  of_port(LINK_CREDITS_OFFSET, [](const LinkPort& port) { return port.credits(); });
}

// Account

std::vector<const LinkPort*> Router::link_ports() const {
  std::vector<const LinkPort*> all;
  for (const auto& port : ports_) all.push_back(port.get());
  return all;
}

uint64_t Router::bytes_sent() const {
  uint64_t sum = 0;
  for (const auto& port : ports_)
    sum += port->counters().bytes_sent - port->counters().host_bytes_sent;
  return sum;
}

uint64_t Router::bytes_received() const {
  uint64_t sum = 0;
  for (const auto& port : ports_)
    sum += port->counters().bytes_received - port->counters().host_bytes_received;
  return sum;
}

void Router::report(StatisticSink& sink) const {
  for (const auto& port : ports_) port->report(sink);
  sink.add("dropped", dropped_, "count",
           "Requests refused because there was no way to their node.");
  sink.add("doorbells", doorbells_, "count", "Doorbells that peers and the host rang here.");
  sink.add("memory_errors", memory_errors_, "count",
           "Rows or doorbells that arrived for an address that does not exist.");
}

void Router::audit(AuditSink& sink) const {
  for (const auto& port : ports_) port->audit(sink);
}

std::vector<std::string> Router::waiting_on() const {
  std::vector<std::string> lines;
  for (const auto& port : ports_) {
    for (std::string& line : port->waiting_on()) lines.push_back(std::move(line));
  }
  constexpr uint64_t kPolls = 16;  // Fewer are no lock that nobody gives back.
  for (const auto& [address, word] : words_) {
    if (word.times >= kPolls)
      lines.push_back(std::string(link_atomic_name(word.op)) + " of " + hex(address) +
                      " has brought " + hex(word.found) + " " + std::to_string(word.times) +
                      " times");
  }
  return lines;
}

void audit_links(const std::vector<const Router*>& routers, uint64_t kept, AuditSink& sink) {
  uint64_t sent = 0;
  uint64_t received = 0;
  for (const Router* router : routers) {
    sent += router->bytes_sent();
    received += router->bytes_received();
  }
  sink.set_where("fabric");
  sink.equal("link bytes sent = received", sent, received + kept);
}

}  // namespace stretto
