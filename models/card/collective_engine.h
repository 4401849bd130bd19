// SPDX-License-Identifier: Apache-2.0
// CollectiveEngine: what makes one request to each of several peers of one store (GD-FUTURE-02). It
// lies between the send window and the request ring of a DMA card, takes collective requests
// (formats/send_request.h) out of the stream of stores and lets plain ones through.
//
// A collective request becomes `peers` WRITE requests; the i-th names source + i, destination + i
// and connection + i, the rest of the collective request, and its account. Buffers and connections
// of the peers are registered side by side, so an all-to-all has a buffer of blocks for each peer,
// and an all-gather the same memory under every id.
//
// Invariants
//  1 Requests leave in the order of the stores; those of a collective request in the order of the
//    peers, with nothing between them.
//  2 One request a clock of the card leaves for the ring, which samples it at the next edge: a plain
//    request takes one clock more than without an engine.
//  3 `peers` counts for what is stored behind its write. With 0 the engine is off, and a collective
//    request goes to the ring, which refuses its opcode.
//  4 A request whose ids would leave their fields is not cut: the ring gets the collective request
//    itself in its place and refuses and reports it. So there are always `peers` requests, and every
//    ticket that the sender took comes back.
#ifndef STRETTO_MODELS_CARD_COLLECTIVE_ENGINE_H_
#define STRETTO_MODELS_CARD_COLLECTIVE_ENGINE_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "models/card/word_sender.h"
#include "models/common/clock_domain.h"
#include "models/common/component.h"

namespace stretto {

class CollectiveEngine final : public sc_core::sc_module, public Component, private EventHandler {
 public:
  tlm_utils::simple_target_socket_optional<CollectiveEngine, 32, StrettoProtocol>
      requests;  // CardWindow: 8-byte stores to the send window.
  tlm_utils::simple_initiator_socket_optional<CollectiveEngine, 32, StrettoProtocol>
      stores;  // The request ring's.

  CollectiveEngine(sc_core::sc_module_name name, uint32_t clock_mhz, PartitionServices& services);

  // The card's register `peers`.
  void set_peers(uint64_t peers) { peers_ = peers; }

  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

 private:
  struct Waiting {
    tlm::tlm_generic_payload* store;
    uint64_t request;
    uint64_t count;  // Requests that are made of it.
    uint64_t made;
    bool is_collective;
  };
  tlm::tlm_sync_enum on_request(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay);
  tlm::tlm_sync_enum on_taken(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void on_event(uint64_t tag) override;
  void arm();

  PartitionServices& services_;
  const ClockDomain clock_;
  WordSender made_;  // Requests into the ring.
  uint64_t peers_ = 0;
  std::deque<Waiting> waiting_;  // In the order of the stores.
  uint64_t next_cycle_ = 0;      // The first in which nothing has left.
  bool armed_ = false;

  struct Counters {
    uint64_t plain = 0, collective = 0, owed = 0, beyond = 0, most_waiting = 0;
  } counters_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_CARD_COLLECTIVE_ENGINE_H_
