// SPDX-License-Identifier: Apache-2.0
#include "models/nic/nic.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sw/include/regs/field.h"
#include "sw/include/regs/nic_bank.h"
#include "sw/include/regs/nic_regs.h"

namespace stretto {
namespace {

// Offsets in the aperture.
constexpr uint64_t kRegisters = STRETTO_NIC_REGISTERS - STRETTO_DOORBELL_APERTURE;
constexpr uint64_t kPages = uint64_t{STRETTO_NIC_PAGES} * STRETTO_NIC_PAGE_BYTES;

}  // namespace

Nic::Nic(sc_core::sc_module_name name, const NicSpec& spec, const PortSpec& network, unsigned port,
         Partition& partition)
    : sc_module(name),
      aperture("aperture"),
      nothing("nothing"),
      bus("bus", partition.services(), spec.bus_reads),
      spec_(spec),
      services_(partition.services()),
      later_(partition.queue()),
      completions_(bus),
      atomics_(bus),
      context_{spec_,    services_,    partition.node(), later_,   bus,
               regions_, completions_, transmitter_,     atomics_, counters_},
      transmitter_(context_),
      link_(network, port, *this, services_, partition),
      loopback_(later_, network.link,
                [this](NicMessage&& message, std::function<void()> taken) {
                  look_at(std::move(message), 0, std::move(taken));
                }),
      registers_(kNicRegisters) {
  aperture.register_b_transport(this, &Nic::write);
  nothing.register_nb_transport_fw(this, &Nic::refuse);
  partition.attach(static_cast<uint8_t>(port), link_);
  transmitter_.connect(link_, loopback_);
  regions_.on_free([this](uint32_t region, uint8_t generation, uint64_t address) {
    on_region_free(region, generation, address);
  });
  describe_registers();
}

Nic::~Nic() = default;

// What software writes

void Nic::write(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const uint64_t at = payload.get_address();
  if (at >= kRegisters && registers_.access(payload, at - kRegisters, delay)) return;
  if (at >= kPages || at % 8 != 0 || payload.get_data_length() != 8 || !payload.is_write()) {
    ++refused_;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  uint64_t value;
  std::memcpy(&value, payload.get_data_ptr(), 8);
  ring(static_cast<unsigned>(at / STRETTO_NIC_PAGE_BYTES), value);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

Nic::Pair* Nic::ready_pair(uint16_t number, unsigned page) {
  if (number >= pairs_.size() || pairs_[number] == nullptr) return nullptr;
  Pair& pair = *pairs_[number];
  const bool heard = pair.status.state != PairState::reset && pair.status.config.page == page;
  return heard ? &pair : nullptr;
}

void Nic::ring(unsigned page, uint64_t value) {
  ++counters_.doorbells;
  const uint8_t kind = static_cast<uint8_t>(value >> 56);
  const uint16_t queue = static_cast<uint16_t>(value >> 32);
  const uint32_t index = static_cast<uint32_t>(value);
  if (kind == STRETTO_NIC_DOORBELL_COMPLETION && queue < NIC_COMPLETION_CONFIG_COUNT) {
    completions_.read_up_to(queue, index);
    return;
  }
  Pair* const pair = ready_pair(queue, page);
  if (pair != nullptr && kind == STRETTO_NIC_DOORBELL_SEND) {
    context_.tell({.event = NicMoment::Event::doorbell,
                   .node = context_.node,
                   .pair = queue,
                   .number = index});
    pair->requester.on_doorbell(index);
  } else if (pair != nullptr && kind == STRETTO_NIC_DOORBELL_RECEIVE) {
    pair->responder.on_doorbell(index);
  } else {
    ++counters_.doorbells_refused;
  }
}

void Nic::describe_registers() {
  registers_.on_write(NIC_REGION_CONFIG_OFFSET, [this](const RegisterBank::Write& write) {
    const uint32_t i = write.index;
    regions_.configure(
        i, registers_[static_cast<uint32_t>(NIC_REGION_BASE_OFFSET_AT(i))],
        registers_[static_cast<uint32_t>(NIC_REGION_BYTES_OFFSET_AT(i))],
        static_cast<uint8_t>(STRETTO_FIELD_GET(write.held, NIC_REGION_CONFIG_ACCESS)),
        static_cast<uint8_t>(STRETTO_FIELD_GET(write.held, NIC_REGION_CONFIG_GENERATION)),
        (write.held & NIC_REGION_CONFIG_VALID_MASK) != 0);
  });
  registers_.on_write(NIC_COMPLETION_CONFIG_OFFSET, [this](const RegisterBank::Write& write) {
    completions_.configure(
        static_cast<uint16_t>(write.index), (write.held & NIC_COMPLETION_CONFIG_VALID_MASK) != 0,
        registers_[static_cast<uint32_t>(NIC_COMPLETION_BASE_OFFSET_AT(write.index))],
        1u << STRETTO_FIELD_GET(write.held, NIC_COMPLETION_CONFIG_ENTRIES_LOG2));
  });
  registers_.on_write(NIC_PAIR_CONFIG_OFFSET, [this](const RegisterBank::Write& write) {
    configure_pair(write.index, write.held);
  });
}

void Nic::configure_pair(uint32_t index, uint64_t config) {
  if (pairs_[index] == nullptr) {
    pairs_[index] = std::make_unique<Pair>(context_);
    Pair& made = *pairs_[index];
    made.status.fail = [&made] {
      if (made.status.state != PairState::ready) return;
      made.status.state = PairState::error;
      made.requester.flush();
      made.responder.flush();
    };
  }
  Pair& pair = *pairs_[index];
  const uint64_t peer = registers_[static_cast<uint32_t>(NIC_PAIR_PEER_OFFSET_AT(index))];
  pair.status.config = {
      .number = static_cast<uint16_t>(index),
      .send_base = registers_[static_cast<uint32_t>(NIC_PAIR_SEND_BASE_OFFSET_AT(index))],
      .receive_base = registers_[static_cast<uint32_t>(NIC_PAIR_RECEIVE_BASE_OFFSET_AT(index))],
      .send_entries = 1u << STRETTO_FIELD_GET(config, NIC_PAIR_CONFIG_SEND_ENTRIES_LOG2),
      .receive_entries = 1u << STRETTO_FIELD_GET(config, NIC_PAIR_CONFIG_RECEIVE_ENTRIES_LOG2),
      .send_completion =
          static_cast<uint16_t>(STRETTO_FIELD_GET(config, NIC_PAIR_CONFIG_SEND_COMPLETION)),
      .receive_completion =
          static_cast<uint16_t>(STRETTO_FIELD_GET(config, NIC_PAIR_CONFIG_RECEIVE_COMPLETION)),
      .page = static_cast<uint8_t>(STRETTO_FIELD_GET(config, NIC_PAIR_CONFIG_PAGE)),
      .peer_node = static_cast<uint8_t>(STRETTO_FIELD_GET(peer, NIC_PAIR_PEER_NODE)),
      .peer = static_cast<uint16_t>(STRETTO_FIELD_GET(peer, NIC_PAIR_PEER_QUEUE_PAIR))};
  pair.status.state =
      (config & NIC_PAIR_CONFIG_VALID_MASK) != 0 ? PairState::ready : PairState::reset;
  pair.requester.reset();
  pair.responder.reset();
}

// Posted writes may still be on their way when PCIe has taken them.
void Nic::on_region_free(uint32_t region, uint8_t generation, uint64_t address) {
  const uint64_t words = registers_[NIC_RELEASE_OFFSET];
  if (words == 0) return;
  bus.wait_visible(address, [this, to = words + 8 * uint64_t{region}, generation](bool) {
    const uint64_t value = uint64_t{generation} + 1;
    BusMaster::Bytes bytes(8);
    std::memcpy(bytes.data(), &value, 8);
    bus.write(BusUse::release, to, std::move(bytes));
  });
}

tlm::tlm_sync_enum Nic::refuse(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                               sc_core::sc_time&) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  ++refused_;
  later_.at(later_.now(), [this, &payload] {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    tlm::tlm_phase response = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    nothing->nb_transport_bw(payload, response, delay);
  });
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

// What arrives from the network

void Nic::write_row(unsigned, uint64_t incoming, const Packet& packet, uint32_t) {
  ++arrived_;
  const Time now = later_.now();
  const bool down = spec_.fault_down_at_ns != 0 && now >= spec_.fault_down_at_ns * kNanosecond;
  if (down || arrived_ == spec_.fault_lose_packet) {
    ++counters_.packets_lost;
    counters_.bytes_lost += decode(packet.data).data.size();
    later_.at(now, [this, incoming] { link_.row_written(incoming, true, later_.now()); });
    return;
  }
  look_at(decode(packet.data), arrived_ == spec_.fault_delay_packet ? spec_.fault_delay_ns : 0,
          [this, incoming] { link_.row_written(incoming, true, later_.now()); });
}

void Nic::look_at(NicMessage&& message, uint64_t late_ns, std::function<void()> taken) {
  if (context_.watch) tell_packet(context_, message, false);
  context_.after_ns(spec_.receive_ns + late_ns,
                    [this, arrived = std::make_shared<NicMessage>(std::move(message)),
                     taken = std::move(taken)] { dispatch(std::move(*arrived), taken); });
}

void Nic::dispatch(NicMessage&& message, std::function<void()> taken) {
  ++counters_.packets_received;
  counters_.bytes_received += message.data.size();
  Pair* const pair =
      message.queue_pair < pairs_.size() ? pairs_[message.queue_pair].get() : nullptr;
  const bool known =
      pair != nullptr && pair->status.state == PairState::ready &&
      (message.queue_pair == 0) == (message.kind == WireKind::datagram) &&
      (message.queue_pair == 0 || (pair->status.config.peer_node == message.source_node &&
                                   pair->status.config.peer == message.source_queue_pair));
  if (!known) {  // For nobody, from nobody, or for a pair in error.
    counters_.bytes_discarded += message.data.size();
    taken();
    return;
  }
  switch (message.kind) {
    case WireKind::acknowledge:
      taken();
      pair->requester.on_acknowledge(message.number);
      break;
    case WireKind::refuse:
      taken();
      pair->requester.on_refuse(message.number, message.status);
      break;
    case WireKind::atomic_answer:
      taken();
      pair->requester.on_atomic_answer(message);
      break;
    case WireKind::get_answer: pair->requester.on_get_answer(std::move(message), taken); break;
    default: pair->responder.on_request(std::move(message), taken);
  }
}

// Account

void Nic::report(StatisticSink& sink) const {
  const NicCounters& all = counters_;
  const auto count = [&](const char* what, uint64_t value, const char* sentence) {
    sink.add(what, value, "count", sentence);
  };
  const auto bytes = [&](const char* what, uint64_t value, const char* sentence) {
    sink.add(what, value, "bytes", sentence);
  };
  count("doorbells", all.doorbells, "Doorbells that were rung.");
  count("doorbells_refused", all.doorbells_refused,
        "Of these, for no queue, or on a page where its queue pair does not hear them.");
  count("overflows", all.overflows, "Doorbells beyond their ring; the queue pair is in error.");
  count("operations_begun", all.begun, "Operations whose entry was read.");
  count("operations_ended", all.ended, "Operations that ended.");
  count("operations_failed", all.failed, "Of these, those with another status than ok.");
  count("operations_abandoned", all.abandoned, "Operations that ended with their queue pair.");
  bytes("operation_bytes", all.ended_bytes,
        "Data of puts, gets and sends that ended well; datagrams left out.");
  count("completions_written", completions_.written(), "Completions that were written.");
  count("completions_lost", completions_.lost(), "Completions whose queue was full.");
  count("atomics_done", all.atomics_done, "Atomics executed here for other NICs.");
  count("packets_sent", all.packets_sent, "Packets to the network, or to the own server.");
  count("packets_looped", loopback_.packets(), "Of these, those to the own server: no link.");
  count("packets_sent_again", all.sent_again, "Of these, those of requests sent before.");
  count("packets_unsent", all.packets_unsent, "Packets that a server that is down did not send.");
  count("packets_received", all.packets_received, "Packets that were looked at.");
  count("packets_lost", all.packets_lost, "Packets from the network that a fault lost.");
  count("packets_duplicate", all.duplicates, "Packets that had taken effect before.");
  count("packets_out_of_sequence", all.out_of_sequence, "Packets behind a missing one.");
  bytes("bytes_sent", all.bytes_sent, "Data that were sent, without headers.");
  bytes("bytes_looped", loopback_.bytes(), "Of these, those to the own server.");
  bytes("bytes_received", all.bytes_received, "Data that were looked at.");
  bytes("bytes_lost", all.bytes_lost, "Data that a fault lost.");
  bytes("bytes_placed", all.bytes_placed, "Data that were written to this server's memories.");
  bytes("bytes_discarded", all.bytes_discarded,
        "Data that were received and not placed: duplicate, out of sequence, refused.");
  count("sends_not_ready", all.not_ready, "Sends that found no receive entry.");
  count("requests_refused", all.refused, "Requests of other NICs that were refused.");
  count("timeouts", all.timeouts, "Times without an answer.");
  bytes("buffered_high_water", transmitter_.buffered_high_water(),
        "Most data between PCIe and network.");
  bytes("looped_high_water", loopback_.high_water(),
        "Most data of the own server that PCIe had not taken.");
  count("refused", refused_, "Accesses to what is neither doorbell page nor register.");
  bus.report(sink);
  link_.report(sink);
}

void Nic::audit(AuditSink& sink) const {
  const NicCounters& all = counters_;
  uint64_t under_way = 0;
  for (const auto& pair : pairs_) {
    if (pair != nullptr) under_way += pair->requester.operations() + pair->responder.under_way();
  }
  sink.equal("operations begun = ended", all.begun, all.ended + all.abandoned + under_way);
  sink.equal("operations under way at the end = 0", under_way, 0);
  sink.equal("completions owed = written", all.owed, completions_.written());
  sink.equal("bytes received = placed + discarded", all.bytes_received,
             all.bytes_placed + all.bytes_discarded);
  sink.equal("packets that arrived = looked at + lost", arrived_ + loopback_.packets(),
             all.packets_received + all.packets_lost);
  sink.equal("users of regions at the end = 0", regions_.users(), 0);
  sink.equal("accesses over PCIe at the end = 0", bus.under_way(), 0);
  sink.equal("packets that wait to be sent at the end = 0",
             transmitter_.under_way() + loopback_.under_way(), 0);
  sink.equal("accesses to nothing at the NIC = 0", refused_, 0);
  link_.audit(sink);
}

std::vector<std::string> Nic::waiting_on() const {
  std::vector<std::string> lines = link_.waiting_on();
  for (std::string& line : loopback_.waiting_on()) lines.push_back(std::move(line));
  for (const auto& pair : pairs_) {
    if (pair == nullptr) continue;
    for (std::string& line : pair->requester.waiting_on()) lines.push_back(std::move(line));
    for (std::string& line : pair->responder.waiting_on()) lines.push_back(std::move(line));
  }
  return lines;
}

void audit_network(const std::vector<const Nic*>& nics, AuditSink& sink) {
  NicCounters all;
  for (const Nic* nic : nics) {
    const NicCounters& one = nic->counters();
    all.packets_sent += one.packets_sent;
    all.packets_received += one.packets_received;
    all.packets_lost += one.packets_lost;
    all.bytes_sent += one.bytes_sent;
    all.bytes_received += one.bytes_received;
    all.bytes_lost += one.bytes_lost;
    all.bytes_placed += one.bytes_placed - one.datagram_bytes;
    all.ended_bytes += one.ended_bytes;
    all.atomics_ended += one.atomics_ended;
    all.atomics_done += one.atomics_done;
    all.failed += one.failed + one.abandoned;
  }
  sink.set_where("network");
  sink.equal("NIC packets sent = received + lost", all.packets_sent,
             all.packets_received + all.packets_lost);
  sink.equal("NIC bytes sent = received + lost", all.bytes_sent,
             all.bytes_received + all.bytes_lost);
  if (all.failed == 0) {
    sink.equal("bytes of operations = placed", all.ended_bytes, all.bytes_placed);
    sink.equal("atomics that ended = executed", all.atomics_ended, all.atomics_done);
  } else {  // What failed may have been done in part.
    sink.at_most("bytes of operations at most placed", all.ended_bytes, all.bytes_placed);
    sink.at_most("atomics that ended at most executed", all.atomics_ended, all.atomics_done);
  }
}

}  // namespace stretto
