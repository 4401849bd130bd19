// SPDX-License-Identifier: Apache-2.0
// What CardWindow and CollectiveEngine send their 8-byte stores with. The value of each has a place
// of its own until it is taken: the ring takes one a clock.
#ifndef STRETTO_MODELS_CARD_WORD_SENDER_H_
#define STRETTO_MODELS_CARD_WORD_SENDER_H_

#include <systemc>
#include <tlm>

#include <cstdint>
#include <memory>
#include <vector>

#include "models/common/component.h"
#include "models/common/payload_builder.h"
#include "models/common/payload_pool.h"

namespace stretto {

class WordSender final {
 public:
  explicit WordSender(PartitionServices& services) : services_(services) {}

  // A store that arrives `delay` from now.
  template <class Socket>
  void send(Socket& socket, uint64_t address, uint64_t value, uint8_t account,
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    size_t index = 0;
    while (index < words_.size() && words_[index]->busy) ++index;
    if (index == words_.size()) words_.push_back(std::make_unique<Word>());
    Word& word = *words_[index];
    word = {value, true};
    ++sent_;
    PooledPayload& payload = communication_payload(
        pool_, Engine::link, services_.gpu, Operation::write, account, address, &word.value, 8);
    payload.extension.cookie = index;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    socket->nb_transport_fw(payload, phase, delay);
  }
  // What the socket calls backwards.
  tlm::tlm_sync_enum on_taken(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    ++taken_;
    words_[static_cast<PooledPayload&>(payload).extension.cookie]->busy = false;
    phase = tlm::END_RESP;
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  uint64_t sent() const { return sent_; }
  uint64_t taken() const { return taken_; }

 private:
  struct Word {
    uint64_t value = 0;
    bool busy = false;
  };

  PartitionServices& services_;
  PayloadPool pool_;
  std::vector<std::unique_ptr<Word>> words_;
  uint64_t sent_ = 0;
  uint64_t taken_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_CARD_WORD_SENDER_H_
