// SPDX-License-Identifier: Apache-2.0
#include "models/card/collective_engine.h"

#include <algorithm>
#include <cstring>

#include "sw/include/formats/send_request.h"

namespace stretto {
namespace {

constexpr uint32_t kEventCollective = 0x61;  // Digest kind.

bool fits(uint64_t id, unsigned bits) { return id >> bits == 0; }

// Whether the ids of peer `peer` are within their fields.
bool has_ids(uint64_t request, uint64_t peer) {
  return fits(STRETTO_SR_GET(request, SOURCE) + peer, STRETTO_SR_SOURCE_BITS) &&
         fits(STRETTO_SR_GET(request, DESTINATION) + peer, STRETTO_SR_DESTINATION_BITS) &&
         fits(STRETTO_SR_GET(request, CONNECTION) + peer, STRETTO_SR_CONNECTION_BITS);
}

// REQUIRES: has_ids().
uint64_t request_to(uint64_t request, uint64_t peer) {
  return request - STRETTO_SR_COLLECTIVE + STRETTO_SR_WRITE + peer * STRETTO_SR_NEXT_PEER;
}

}  // namespace

CollectiveEngine::CollectiveEngine(sc_core::sc_module_name name, uint32_t clock_mhz,
                                   PartitionServices& services)
    : sc_module(name),
      EventHandler(*services.queue),
      requests("requests"),
      stores("stores"),
      services_(services),
      clock_(clock_mhz),
      made_(services) {
  requests.register_nb_transport_fw(this, &CollectiveEngine::on_request);
  stores.register_nb_transport_bw(this, &CollectiveEngine::on_taken);
}

tlm::tlm_sync_enum CollectiveEngine::on_request(tlm::tlm_generic_payload& payload,
                                                tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;  // END_RESP: nothing is held for it.
  uint64_t request;
  std::memcpy(&request, payload.get_data_ptr(), 8);
  const bool is_collective =
      peers_ != 0 && STRETTO_SR_GET(request, OPCODE) == STRETTO_SR_COLLECTIVE;
  const uint64_t count = is_collective ? peers_ : 1;
  ++(is_collective ? counters_.collective : counters_.plain);
  if (is_collective) {
    counters_.owed += count;
    if (services_.digest != nullptr)
      services_.digest->event(services_.queue->now(), kEventCollective, request, count);
  }
  waiting_.push_back({&payload, request, count, 0, is_collective});
  counters_.most_waiting = std::max<uint64_t>(counters_.most_waiting, waiting_.size());
  arm();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void CollectiveEngine::arm() {
  if (armed_ || waiting_.empty()) return;
  armed_ = true;
  const uint64_t cycle = std::max(clock_.cycle_from(services_.queue->now()), next_cycle_);
  services_.queue->schedule(clock_.edge(cycle), *this, 0);
}

// A clock in which a request leaves.
void CollectiveEngine::on_event(uint64_t) {
  armed_ = false;
  next_cycle_ = clock_.cycle_at(services_.queue->now()) + 1;
  Waiting& head = waiting_.front();
  const uint64_t peer = head.made++;
  const bool expands = head.is_collective && has_ids(head.request, peer);
  counters_.beyond += head.is_collective && !expands;
  // The ring sees it half a clock later, so that it samples it at the next edge and at no other.
  const Time now = services_.queue->now();
  made_.send(stores, head.store->get_address(),
             expands ? request_to(head.request, peer) : head.request,
             extension_of(*head.store)->account, delay_of((clock_.edge_after(now) - now) / 2));
  if (head.made == head.count) {
    tlm::tlm_generic_payload& store = *head.store;
    waiting_.pop_front();
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    store.set_response_status(tlm::TLM_OK_RESPONSE);
    requests->nb_transport_bw(store, phase, delay);
  }
  arm();
}

tlm::tlm_sync_enum CollectiveEngine::on_taken(tlm::tlm_generic_payload& payload,
                                              tlm::tlm_phase& phase, sc_core::sc_time&) {
  return made_.on_taken(payload, phase);
}

// Account

void CollectiveEngine::report(StatisticSink& sink) const {
  sink.add("plain", counters_.plain, "count", "Requests that went through as they came.");
  sink.add("collective", counters_.collective, "count", "Collective requests taken.");
  sink.add("made", made_.sent(), "count", "Requests into the ring, plain ones included.");
  sink.add(
      "beyond", counters_.beyond, "count",
      "Requests of collective ones whose ids would leave their fields; the ring refuses them.");
  sink.add("most_waiting", counters_.most_waiting, "count",
           "Most stores that waited for a clock of the engine.");
}

void CollectiveEngine::audit(AuditSink& sink) const {
  sink.equal("requests into the ring = plain + those that collective requests asked for",
             made_.sent(), counters_.plain + counters_.owed);
  sink.equal("requests that the engine made = taken by the ring", made_.sent(), made_.taken());
  sink.equal("stores in the collective engine at the end = 0", waiting_.size(), 0);
}

std::vector<std::string> CollectiveEngine::waiting_on() const {
  if (waiting_.empty()) return {};
  return {std::to_string(waiting_.size()) + " stores wait in the collective engine"};
}

}  // namespace stretto
