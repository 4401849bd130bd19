// SPDX-License-Identifier: Apache-2.0
// Responder: the receiving half of a queue pair. Places what arrives, answers gets and atomics, and
// acknowledges what can be seen.
//
// Invariants
//  1 Requests take effect in the order of their numbers, each once; a get that is asked for again is
//    read again.
//  2 A packet is acknowledged when it and all before it can be seen by who reads the memory, and not
//    before (acknowledge = visible).
//  3 Nothing is written or read outside the region whose key the request has, nor after the region
//    has ended.
//  4 A receive ends when its data can be seen.
#ifndef STRETTO_MODELS_NIC_RESPONDER_H_
#define STRETTO_MODELS_NIC_RESPONDER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "models/nic/nic_context.h"
#include "models/nic/transmitter.h"

namespace stretto {

class Responder final : public PacketSource {
 public:
  using OnTaken = std::function<void()>;

  Responder(NicContext& context, QueuePairStatus& pair);

  void reset();
  void on_doorbell(uint32_t index) { ring_.announce(index); }
  // The pair has gone into error: receives end.
  void flush();
  // A request of the peer. `taken` when the packet's place in the NIC is free.
  void on_request(NicMessage&& message, OnTaken taken);

  uint64_t under_way() const { return replies_.size() + (looking_ ? 1 : 0); }
  std::vector<std::string> waiting_on() const;

 private:
  // Between the first and the last packet of a put or send.
  struct Incoming {
    uint64_t address = 0;
    uint32_t left = 0;  // Bytes; of a send, room.
    uint32_t key = 0;
    uint32_t bytes = 0;  // So far.
  };
  struct Reply {
    WireKind kind;         // get_answer or atomic_answer.
    uint32_t number = 0;   // Of the next packet.
    uint32_t packets = 0;  // Left.
    bool first = true;
    uint64_t address = 0;
    uint32_t left = 0;
    uint32_t key = 0;
    bool ready = true;
    uint64_t value = 0;
  };
  // Atomics whose answer may have been lost.
  struct Done {
    uint32_t number;
    bool ready;
    uint64_t value;
  };
  struct Received {
    uint32_t number;  // Ends when this packet can be seen.
    stretto_nic_completion_t completion;
  };

  void accept(const stretto_nic_work_entry_t& entry);
  bool next(OutgoingPacket& packet) override;
  void on_unreadable(const OutgoingPacket& packet) override;
  bool in_sequence(const NicMessage& message);
  void on_put(NicMessage&& message, OnTaken taken);
  void on_send(NicMessage&& message, OnTaken taken);
  void on_datagram(NicMessage&& message, OnTaken taken);
  void on_get(const NicMessage& message);
  void on_atomic(const NicMessage& message);
  void execute(const NicMessage& message);
  void place(uint64_t address, uint32_t region, BusMaster::Bytes&& data, OnTaken taken);
  void discard(const NicMessage& message);
  void refuse(uint32_t number, uint8_t status);
  void taken_in(const NicMessage& message, uint32_t packets = 1);
  void want_visible(uint32_t number);
  void look();
  void on_visible(uint32_t behind);
  void end_receive(uint8_t status, uint32_t number, uint64_t value, bool at_once);
  void write_completion(const stretto_nic_completion_t& completion);

  NicContext& context_;
  QueuePairStatus& pair_;
  WorkRing ring_;
  std::deque<stretto_nic_work_entry_t> entries_;  // For sends.
  std::deque<Received> received_;
  std::deque<Reply> replies_;
  std::deque<Done> done_;
  Incoming incoming_;
  uint32_t incarnation_ = 0;
  uint32_t expected_ = 0;  // Number of the next packet.
  uint32_t wanted_ = 0;    // Below: shall be visible,
  uint32_t visible_ = 0;   // is.
  bool looking_ = false;   // A read is under way whose data say so.
  bool acknowledge_ = false;
  bool refuse_ = false;
  uint32_t refused_number_ = 0;
  uint8_t refused_status_ = 0;
  bool asked_again_ = false;             // For expected_.
  std::array<uint64_t, 256> written_{};  // Last byte written since a look, by node; 0 = none.
  std::vector<uint8_t> written_nodes_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_RESPONDER_H_
