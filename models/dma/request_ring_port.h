// SPDX-License-Identifier: Apache-2.0
// RequestRingPort: the request ring in its place beside the DMA engine. Stores of kernels to the
// send window reach it through the L2's device socket; it clocks the ring, hands accepted transfers
// to the DMA engine, tells the ring of their completion, and writes the ring's words: head replica
// and send flags into the local memory, receive flags over the link, behind the data (the receiver
// lets no flag pass). GD-DMA-01..11; the contract of the block: rtl/request_ring/README.md.
//
// Invariants
//  1 The ring is clocked as block_host.h says, register accesses too.
//  2 A store is answered when the ring has taken it, one a clock, in the order of arrival; anything
//    else at the window is refused in the call.
//  3 A transfer that the ring offers is started at the next edge: the DMA engine holds what a
//    connection may have in flight.
//  4 A transfer is on the account of the kernel that stored its request. The ring knows no accounts:
//    they wait here, in the order of the requests.
//  5 At most kWrites words of the ring are being written; the ring waits for more.
#ifndef STRETTO_MODELS_DMA_REQUEST_RING_PORT_H_
#define STRETTO_MODELS_DMA_REQUEST_RING_PORT_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/common/component.h"
#include "models/common/interrupt_line.h"
#include "models/common/payload_pool.h"
#include "models/common/register_bank.h"
#include "models/dma/dma_engine.h"
#include "models/reference/block_host.h"
#include "models/reference/request_ring_if.h"

namespace stretto {

// What RequestRingPort keeps of a clock of the ring.
struct RequestRingClock {
  bool started = false;  // issue_* was taken at this edge,
  bool written = false;  // write_* too; both of the outputs before it.
  RequestRingOutputs before;
  tlm::tlm_generic_payload* store = nullptr;
};

class RequestRingPort final : public sc_core::sc_module,
                              public Component,
                              public DirectTransferClient,
                              private EventHandler,
                              private BlockHost<RequestRing, RequestRingClock>::Owner {
 public:
  tlm_utils::simple_target_socket_optional<RequestRingPort> csr;  // request_ring.yaml.
  tlm_utils::simple_target_socket_optional<RequestRingPort, 32, StrettoProtocol> stores;
  tlm_utils::simple_initiator_socket_optional<RequestRingPort, 32, StrettoProtocol> memory;
  tlm_utils::simple_initiator_socket_optional<RequestRingPort, 32, StrettoProtocol> egress;

  RequestRingPort(sc_core::sc_module_name name, uint32_t clock_mhz, PartitionServices& services,
                  std::unique_ptr<RequestRing> ring, DmaEngine& engine);

  void set_interrupts(InterruptLine& lines) { interrupts_ = &lines; }
  void transfer_done(uint16_t tag, bool failed) override;

  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

 private:
  static constexpr unsigned kWrites = 16;

  struct Done {
    uint16_t tag;
    bool failed;
  };
  struct Asked {
    uint64_t request;
    uint8_t account;
  };
  struct Word {
    uint64_t value = 0;
    bool busy = false;
  };

  tlm::tlm_sync_enum on_store(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  tlm::tlm_sync_enum on_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay);
  void access_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void on_event(uint64_t tag) override;
  bool has_input() const override { return !stores_.empty() || !done_.empty(); }
  RequestRingClock give(RequestRingInputs& in) override;
  void take(const RequestRingOutputs& out, const RequestRingClock& action) override;
  void write_word(const RequestRingOutputs& out);
  uint8_t account_of(uint64_t request);

  PartitionServices& services_;
  RegisterBank registers_;  // Decodes; the ring holds the values.
  BlockHost<RequestRing, RequestRingClock> ring_;
  DmaEngine& engine_;
  InterruptLine* interrupts_ = nullptr;
  PayloadPool pool_;

  std::deque<tlm::tlm_generic_payload*> arriving_;  // Stores on their way to the window, then
  std::deque<tlm::tlm_generic_payload*> stores_;    // at it: one enters the ring a clock.
  std::deque<Asked> asked_;                         // In the ring.
  uint8_t issue_account_ = STRETTO_ACCOUNT_OTHER;   // Of the transfer that the ring offers.
  std::deque<Done> done_;
  std::array<Word, kWrites> words_{};
  unsigned words_busy_ = 0;
  Time last_arrival_ = 0;
  bool irq_ = false;

  struct Counters {
    uint64_t stores = 0, refused_stores = 0, dropped = 0, popped = 0, refused = 0, accepted = 0,
             started = 0;
    uint64_t completed = 0, failed = 0, bytes = 0, replicas = 0, sent_flags = 0, received_flags = 0;
    uint64_t words_failed = 0, store_high_water = 0;
  } counters_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_DMA_REQUEST_RING_PORT_H_
