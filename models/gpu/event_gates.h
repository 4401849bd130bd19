// SPDX-License-Identifier: Apache-2.0
// From the Tracker's scheduling events to gates of the grid scheduler (T3-AGC-01, -02): ids in runs
// of `per_gate`, one event an id; the last event of a run opens its gate. The counterpart of the
// counter that the DMA command table has for a block of several tiles (T3-DMA-04). Programmed
// through event_map (gpu.yaml).
#ifndef STRETTO_MODELS_GPU_EVENT_GATES_H_
#define STRETTO_MODELS_GPU_EVENT_GATES_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/reference/grid_scheduler_if.h"

namespace stretto {

class EventGates {
 public:
  // Forgets what was counted. Gates that do not exist get no events: theirs are stray.
  void map(uint32_t per_gate, uint32_t ids) {
    per_gate_ = per_gate;
    ids_ = ids;
    const uint32_t gates = per_gate == 0 ? 0 : (ids + per_gate - 1) / per_gate;
    left_.assign(std::min<uint32_t>(gates, kGridGates), 0);
    for (uint32_t gate = 0; gate < left_.size(); ++gate) left_[gate] = events_of(gate);
  }

  // An event of `id`; the gate that it opens, if it is the last of that gate.
  std::optional<uint16_t> take(uint32_t id) {
    ++events_;
    const uint32_t gate = per_gate_ != 0 && id < ids_ ? id / per_gate_ : kGridGates;
    if (gate >= left_.size() || left_[gate] == 0) {
      ++stray_;
      return std::nullopt;
    }
    if (--left_[gate] != 0) return std::nullopt;
    ++opened_;
    return static_cast<uint16_t>(gate);
  }

  uint64_t events() const { return events_; }
  uint64_t stray() const { return stray_; }
  uint64_t opened() const { return opened_; }
  // "2 of 6 events have come".
  std::string progress(uint32_t gate) const {
    if (gate >= left_.size()) return "no event can open it";
    return std::to_string(events_of(gate) - left_[gate]) + " of " +
           std::to_string(events_of(gate)) + " events have come";
  }

 private:
  uint32_t events_of(uint32_t gate) const { return std::min(per_gate_, ids_ - gate * per_gate_); }

  uint32_t per_gate_ = 0;
  uint32_t ids_ = 0;
  std::vector<uint32_t> left_;  // By gate: events that have not come.
  uint64_t events_ = 0;
  uint64_t stray_ = 0;
  uint64_t opened_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_EVENT_GATES_H_
