// SPDX-License-Identifier: Apache-2.0
// States of suspended bodies on their way to or from memory, without bytes.
//
// A unit moves one state behind the other at the rate of its port. Units that move share what the L2, or the memory,
// gives in equal parts. All of them are equally fast, so one clock of bytes tells when each is done: an event a state.
#ifndef STRETTO_MODELS_SAMPLED_STATE_FLOW_H_
#define STRETTO_MODELS_SAMPLED_STATE_FLOW_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "models/common/event_queue.h"

namespace stretto {

class StateFlow final : private EventHandler {
 public:
  // Rates of one unit and of all together, not 0; `latency` is that of the last bytes.
  StateFlow(EventQueue& queue, unsigned units, uint64_t unit_bytes_per_us, uint64_t bytes_per_us,
            Time latency);

  // Calls `done` when all is moved. REQUIRES: bytes != 0
  void move(unsigned unit, uint64_t bytes, std::function<void()> done);

 private:
  using Bytes = unsigned __int128;  // Of 2^-20.
  struct Move {
    Bytes bytes;
    std::function<void()> done;
  };

  void on_event(uint64_t tag) override;
  void advance();
  uint64_t rate() const;  // Of a unit that moves, bytes per us.
  void begin(unsigned unit);
  void schedule();

  EventQueue& queue_;
  const uint64_t unit_rate_, rate_;
  const Time latency_;
  std::vector<std::deque<Move>> moves_;           // By unit; the first one moves.
  std::deque<std::function<void()>> arriving_;    // Of moved states, in their order.
  std::set<std::pair<Bytes, unsigned>> running_;  // When its clock says so much the unit's is done.
  Bytes clock_ = 0;                               // What a unit would have moved.
  Time last_ = 0;                                 // Until when.
  Time next_ = kNever;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_SAMPLED_STATE_FLOW_H_
