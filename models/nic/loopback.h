// SPDX-License-Identifier: Apache-2.0
// Loopback: what a NIC sends to itself. As InfiniBand's channel adapters do, it takes these packets
// from its sending to its receiving side inside: one after the other at the rate of the network
// port, which both sides are made for, with transport headers and without link.
//
// Invariants
//  1 Packets arrive in the order in which they were sent.
//  2 Those that have arrived and were not taken never have more data than the buffer of the port.
#ifndef STRETTO_MODELS_NIC_LOOPBACK_H_
#define STRETTO_MODELS_NIC_LOOPBACK_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/fabric/link_spec.h"
#include "models/fabric/serialiser.h"
#include "models/nic/bus_master.h"
#include "models/nic/wire_format.h"

namespace stretto {

class Loopback {
 public:
  // `taken`: PCIe has taken it.
  using OnArrival = std::function<void(NicMessage&& message, std::function<void()> taken)>;

  Loopback(LaterCalls& later, const LinkSpec& port, OnArrival on_arrival)
      : later_(later),
        wire_(port.bandwidth_mb_s),
        buffer_bytes_(port.credit_bytes),
        on_arrival_(std::move(on_arrival)) {}

  // `left`: the packet has left the sending side. REQUIRES: its data fit into the buffer.
  void send(NicMessage&& message, std::function<void()> left) {
    waiting_.push_back({std::move(message), std::move(left)});
    run();
  }
  uint64_t packets() const { return packets_; }
  uint64_t bytes() const { return bytes_; }  // Data of these.
  uint64_t high_water() const { return high_water_; }
  uint64_t under_way() const { return waiting_.size() + busy_; }

  std::vector<std::string> waiting_on() const {
    if (waiting_.empty()) return {};
    return {"loopback: " + std::to_string(waiting_.size()) + " packets wait for room"};
  }

 private:
  struct Waiting {
    NicMessage message;
    std::function<void()> left;
  };

  bool has_room(const Waiting& next) const {
    return held_ + next.message.data.size() <= buffer_bytes_;
  }

  void run() {
    if (busy_ || waiting_.empty() || !has_room(waiting_.front())) return;
    busy_ = true;
    auto packet = std::make_shared<Waiting>(std::move(waiting_.front()));
    waiting_.pop_front();
    const NicMessage& message = packet->message;
    held_ += message.data.size();
    high_water_ = std::max(high_water_, held_);
    ++packets_;
    bytes_ += message.data.size();
    const uint64_t passes = kBaseHeader + extended_header(message) + message.data.size();
    later_.at(wire_.send(later_.now(), passes), [this, packet] {
      busy_ = false;
      packet->left();
      const uint64_t data = packet->message.data.size();
      on_arrival_(std::move(packet->message), [this, data] {
        held_ -= data;
        run();
      });
      run();
    });
  }

  LaterCalls& later_;
  Serialiser wire_;
  const uint64_t buffer_bytes_;
  const OnArrival on_arrival_;
  std::deque<Waiting> waiting_;
  bool busy_ = false;
  uint64_t held_ = 0;  // Data on their way, or not taken.
  uint64_t high_water_ = 0;
  uint64_t packets_ = 0, bytes_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_LOOPBACK_H_
