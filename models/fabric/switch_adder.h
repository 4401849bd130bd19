// SPDX-License-Identifier: Apache-2.0
// SwitchAdder: sums of updates on their way through one port of a switch to its GPU (T3 7.4; as
// NVLink SHARP). The GPU asks for it: updates of a range of its memory, of `parts` senders an
// address. What they bring is added as memory would add it (arithmetic.h), and one update goes on,
// which says how many parts are in it.
//
// A sum leaves when all its parts have come; when the table has no room for another one, the oldest
// first; when it has waited hold_ns; when something of one of its senders that is not added follows;
// when the GPU asks for something else. Whoever comes later begins a new sum, so whatever leaves
// when, each part reaches memory once. A part for which there is no room waits at its input until a
// sum has gone.
//
// Invariants
//  1 Sums that wait and sums that leave never take more than add_bytes.
//  2 Each part is in one sum, and a sum goes out once.
#ifndef STRETTO_MODELS_FABRIC_SWITCH_ADDER_H_
#define STRETTO_MODELS_FABRIC_SWITCH_ADDER_H_

#include <cstdint>
#include <deque>
#include <string>

#include "models/common/component.h"
#include "models/common/packet.h"

namespace stretto {

class SwitchAdder {
 public:
  struct Counters {
    uint64_t parts = 0;  // Packets that were added,
    uint64_t part_bytes = 0;
    uint64_t parts_counted = 0;  // ... what they say is in them,
    uint64_t parts_left = 0;     // ... and what sums that left have said.
    uint64_t sums = 0;           // That left,
    uint64_t sum_bytes = 0;
    uint64_t early = 0;  // ... not all of whose parts had come.
    uint64_t waits = 0;  // Parts that found no room.
    uint64_t high_water = 0;
  };

  SwitchAdder(uint64_t bytes, Time hold, uint64_t fault_skip)
      : bytes_(bytes), hold_(hold), fault_skip_(fault_skip) {}

  // What the GPU asks for: updates of [base, base + bytes), 48-bit addresses, of `parts` senders; 0
  // or 1: nothing is added.
  void set_base(uint64_t base, Time now) { push_out_all(now), base_ = base; }
  void set_length(uint64_t length, Time now) { push_out_all(now), length_ = length; }
  void set_parts(uint8_t parts, Time now) { push_out_all(now), parts_ = parts; }

  bool is_built() const { return bytes_ != 0; }
  bool takes(const Packet& packet) const {
    return bytes_ != 0 && parts_ > 1 && packet.operation == Operation::update &&
           packet.address >= base_ && packet.address - base_ < length_;
  }
  // Adds what came through `input`. False: there is no room, and what has to leave for it does.
  // `opened`: a sum begins, which leaves at now + hold at the latest: then call expire().
  // REQUIRES: takes(packet).
  bool add(Packet& packet, uint8_t input, Time now, bool& opened);
  Time hold() const { return hold_; }
  void expire(Time now);
  // Something that is not added follows from `input`. Whether a sum with parts of it is still here.
  bool push_out(uint8_t input, Time now);

  // Sums that leave, in this order, and since when they are complete.
  bool is_leaving() const { return !leaving_.empty(); }
  const Packet& next() const { return leaving_.front().packet; }
  Time next_since() const { return leaving_.front().since; }
  Packet take();              // It is on the wire,
  void left(uint64_t bytes);  // ... and now gone.

  const Counters& counters() const { return counters_; }
  void report(StatisticSink& sink, const std::string& prefix) const;
  void audit(AuditSink& sink) const;

 private:
  struct Sum {
    Packet packet;
    uint64_t inputs = 0;  // A bit each.
    Time since = 0;       // It has begun; of those that leave: it is complete.
  };
  using Sums = std::deque<Sum>;

  Sums::iterator find(const Packet& packet);
  Sums::iterator leave(Sums::iterator sum, Time now);
  void push_out_all(Time now);
  void make_room(uint64_t bytes, Time now);

  const uint64_t bytes_;
  const Time hold_;
  const uint64_t fault_skip_;
  uint64_t base_ = 0;
  uint64_t length_ = 0;
  uint8_t parts_ = 0;
  uint64_t used_ = 0;           // By sums that wait, leave, or are on the wire.
  uint64_t leaving_bytes_ = 0;  // Of them, by those that leave or are on the wire.
  Sums waiting_;                // In the order of their beginning.
  Sums leaving_;
  uint64_t additions_ = 0;
  Counters counters_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_FABRIC_SWITCH_ADDER_H_
