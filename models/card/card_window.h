// SPDX-License-Identifier: Apache-2.0
// CardWindow: what others see of a DMA card (GD-HW): its apertures, and its reports of errors.
//
// 8-byte writes that arrive at the aperture go to the request ring's registers, to the card's own
// (card.yaml) or, in the send window, into the ring as the stores of GPU threads do; where the card
// has a collective engine, through that. When the ring raises its line, the card writes the first
// error to two words of the node that `report` names: the request, then the reason.
//
// Invariants
//  1 Writes take effect in the order in which they arrive.
//  2 A report leaves only after the one before it is taken; its second word behind its first.
#ifndef STRETTO_MODELS_CARD_CARD_WINDOW_H_
#define STRETTO_MODELS_CARD_CARD_WINDOW_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include <array>
#include <cstdint>
#include <deque>
#include <utility>

#include "models/card/word_sender.h"
#include "models/common/component.h"
#include "models/common/interrupt_line.h"
#include "models/common/payload_pool.h"
#include "models/common/register_bank.h"

namespace stretto {

class CollectiveEngine;

class CardWindow final : public sc_core::sc_module,
                         public Component,
                         public InterruptLine,
                         private EventHandler {
 public:
  using NothingSocket =
      tlm_utils::simple_target_socket_tagged_optional<CardWindow, 32, StrettoProtocol>;

  tlm_utils::simple_target_socket_optional<CardWindow>
      aperture;  // Router: 8-byte writes, offset in the aperture.
  tlm_utils::simple_initiator_socket_optional<CardWindow> ring;  // Registers of the request ring.
  tlm_utils::simple_initiator_socket_optional<CardWindow, 32, StrettoProtocol>
      stores;  // Its stores, or the engine's.
  tlm_utils::simple_initiator_socket_optional<CardWindow, 32, StrettoProtocol>
      report_out;  // Router.
  sc_core::sc_vector<NothingSocket>
      nothing;  // A card has no memory: every access is an address error.

  CardWindow(sc_core::sc_module_name name, PartitionServices& services);

  // That takes its stores. Without one the register `peers` is not there.
  void set_engine(CollectiveEngine& engine);

  // The ring's line. A report is sent when it rises.
  void set(unsigned line, bool level) override;

  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;

 private:
  void write(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  uint64_t read_ring(uint32_t offset);
  void send_report();
  void on_event(uint64_t tag) override;
  tlm::tlm_sync_enum on_store_taken(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                    sc_core::sc_time& delay);
  tlm::tlm_sync_enum on_report_taken(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  tlm::tlm_sync_enum refuse(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time& delay);

  PartitionServices& services_;
  RegisterBank registers_;
  CollectiveEngine* engine_ = nullptr;
  PayloadPool pool_;
  WordSender words_;                  // Stores: they wait for a clock of the ring.
  std::array<uint64_t, 2> report_{};  // Request and reason that are on their way.
  unsigned reporting_ = 0;            // Of them, not yet taken.
  bool again_ = false;                // The line rose meanwhile.
  std::deque<std::pair<int, tlm::tlm_generic_payload*>> refusals_;  // To be answered.
  uint64_t register_writes_ = 0;
  uint64_t reports_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_CARD_CARD_WINDOW_H_
