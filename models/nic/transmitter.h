// SPDX-License-Identifier: Apache-2.0
// Transmitter: who sends next. Sources (a requester and a responder for each queue pair) that have
// packets take turns, a packet a turn; the data of a packet are read over PCIe into a buffer that all
// share, and leave for the network from there.
//
// Invariants
//  1 Packets of a source leave in the order in which it gave them.
//  2 Data between their read and the link never exceed buffer_bytes by more than a packet.
//  3 What a source has withdrawn does not leave.
#ifndef STRETTO_MODELS_NIC_TRANSMITTER_H_
#define STRETTO_MODELS_NIC_TRANSMITTER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/fabric/link_port.h"
#include "models/nic/loopback.h"
#include "models/nic/nic_context.h"
#include "models/nic/wire_format.h"

namespace stretto {

// A packet on its way to the network.
struct OutgoingPacket {
  NicMessage message;
  uint8_t to = 0;                 // Node of the NIC.
  uint64_t address = 0;           // Where its data are, if they are to be read,
  uint32_t bytes = 0;             // how many,
  uint32_t region = 0;            // and the region in which they lie.
  std::function<void()> on_sent;  // It has left for the link; may be null.
};

class PacketSource {
 public:
  virtual ~PacketSource() = default;
  // Its next packet; false: none now. wake() follows when there is one.
  virtual bool next(OutgoingPacket& packet) = 0;
  // The memory did not give the data of a packet of this source; it does not leave.
  virtual void on_unreadable(const OutgoingPacket& packet) = 0;

 protected:
  // Withdraws what has not left.
  void withdraw() { ++use_; }

 private:
  friend class Transmitter;
  struct Slot {
    OutgoingPacket packet;
    uint32_t use;
    bool ready;
  };
  std::deque<std::shared_ptr<Slot>> slots_;  // Given, in order.
  uint32_t use_ = 0;
  bool awake_ = false;
};

class Transmitter {
 public:
  explicit Transmitter(NicContext& context) : context_(context) {}
  void connect(LinkPort& link, Loopback& loopback) {
    link_ = &link;
    loopback_ = &loopback;
  }

  // The source may have a packet.
  void wake(PacketSource& source);
  // The link has taken the request.
  void taken(uint32_t request);
  uint64_t under_way() const { return under_way_; }
  uint64_t buffered_high_water() const { return buffered_high_water_; }

 private:
  struct Request {
    uint32_t bytes = 0;
    std::function<void()> on_sent;
  };
  void run();
  void send_ready(PacketSource& source);
  void send(OutgoingPacket&& packet);
  uint32_t enlist(uint32_t bytes, OutgoingPacket& packet);
  void leave(uint64_t bytes);

  NicContext& context_;
  LinkPort* link_ = nullptr;
  Loopback* loopback_ = nullptr;
  std::deque<PacketSource*> awake_;
  bool running_ = false;
  uint64_t buffered_ = 0;
  uint64_t buffered_high_water_ = 0;
  uint64_t under_way_ = 0;  // Packets between next() and the link.
  std::vector<Request> requests_;
  std::vector<uint32_t> free_;
};

// Tells who measures of a packet that leaves, for node `to`, or has arrived.
void tell_packet(const NicContext& context, const NicMessage& message, bool leaves, uint8_t to = 0);

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_TRANSMITTER_H_
