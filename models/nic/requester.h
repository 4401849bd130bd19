// SPDX-License-Identifier: Apache-2.0
// Requester: the sending half of a queue pair. Reads work entries, makes packets of them, keeps them
// until they are answered, sends them again if they are not, and writes completions.
//
// Invariants
//  1 Operations begin and end in the order of their entries; nothing is sent behind an operation that
//    has failed, and those before it end as they would without it.
//  2 Numbers of packets are gapless: a put or send takes one a packet, a get one for each packet of
//    its answer, an atomic one.
//  3 An operation ends successfully only when its data can be seen where they belong.
//  4 No later than acknowledge_timeout_ns x retries after the last answer, everything that waits for
//    an answer has ended.
#ifndef STRETTO_MODELS_NIC_REQUESTER_H_
#define STRETTO_MODELS_NIC_REQUESTER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/nic/nic_context.h"
#include "models/nic/transmitter.h"

namespace stretto {

class Requester final : public PacketSource {
 public:
  using OnTaken = std::function<void()>;

  Requester(NicContext& context, QueuePairStatus& pair);

  // The pair starts anew, or stops.
  void reset();
  void on_doorbell(uint32_t index) { ring_.announce(index); }
  // The pair has gone into error.
  void flush();

  void on_acknowledge(uint32_t number);
  void on_refuse(uint32_t number, uint8_t status);
  // `taken` when the packet's place in the NIC is free.
  void on_get_answer(NicMessage&& message, OnTaken taken);
  void on_atomic_answer(const NicMessage& message);

  size_t operations() const { return operations_.size(); }
  std::vector<std::string> waiting_on() const;

 private:
  struct Operation {
    stretto_nic_work_entry_t entry{};
    uint32_t number = 0;    // Of its first packet; valid if `begun`.
    uint32_t packets = 0;   // Numbers that it takes.
    uint32_t sent = 0;      // Of them, also those of a get that were asked for.
    uint32_t answered = 0;  // Acknowledged, or come.
    uint8_t status = STRETTO_NIC_OK;
    bool begun = false;
    bool done = false;
    uint64_t value = 0;
    uint64_t word = 0;  // What a get of at most 8 bytes has brought.
  };

  void accept(const stretto_nic_work_entry_t& entry);
  uint8_t check(const stretto_nic_work_entry_t& entry) const;
  bool next(OutgoingPacket& packet) override;
  void on_unreadable(const OutgoingPacket& packet) override;
  bool may_send(const Operation& operation) const;
  void begin(Operation& operation);
  void make_request(Operation& operation, OutgoingPacket& packet);
  // False: its region has ended; `operation` has failed and may be gone.
  bool make_data(Operation& operation, OutgoingPacket& packet);
  Operation* find(uint32_t number);
  void fail(Operation& operation, uint8_t status);
  // The result of `operation` is on its way to local memory.
  void end_placed(Operation& operation, uint64_t last_byte);
  void finish();
  void end(const Operation& operation);
  // It asks, and has been told what it was told before: no progress of the run (component.h).
  bool polls(const Operation& operation);
  void go_back(uint32_t number);
  void progress();
  void arm();
  void on_timer();
  const Operation* oldest() const;

  NicContext& context_;
  QueuePairStatus& pair_;
  WorkRing ring_;
  std::deque<Operation> operations_;
  std::unordered_map<uint64_t, uint64_t> words_;  // By address: what was brought from there.
  uint32_t serial_ = 0;                           // Of operations_.front().
  uint32_t next_number_ = 0;                      // Of packets.
  uint32_t sent_up_to_ = 0;                       // What is below was sent before.
  uint32_t incarnation_ = 0;                      // Of the pair.
  uint32_t tries_ = 0;                            // Time-outs in a row.
  Time deadline_ = 0;
  bool armed_ = false;
  bool gap_ = false;  // An answer of a get was missed, and asked for again.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_REQUESTER_H_
