// SPDX-License-Identifier: Apache-2.0
// See tracker_port.h.
#include "models/hbm/tracker_port.h"

#include <algorithm>

namespace stretto {

void TrackerPort::respond(uint64_t cycle, bool write, uint32_t index, uint64_t data) {
  responses_.push_back({cycle, response_sequence_++, data, index, write});
  std::push_heap(responses_.begin(), responses_.end(), later);
}

uint64_t TrackerPort::step(uint64_t cycle, const RegisterPort& reg) {
  TrackerInputs in;
  in.cycle = cycle;
  in.reg = reg;
  for (unsigned bank = 0; bank < kTrackerBanks; ++bank) {
    if (fifos_[bank].empty() || !out_.update_ready[bank]) continue;
    in.update[bank] = fifos_[bank].front();
    fifos_[bank].pop();
    ++counters_.updates;
    counters_.half_words += in.update[bank].count;
  }
  if (!responses_.empty() && responses_.front().cycle <= cycle) {
    in.spill_rsp_valid = true;
    in.spill_rsp_index = responses_.front().index;
    in.spill_rsp_data = responses_.front().data;
    in.spill_rsp_write = responses_.front().write;
    std::pop_heap(responses_.begin(), responses_.end(), later);
    responses_.pop_back();
    --spills_outstanding_;
  }
  // Trigger and spill request of the outputs before this edge are taken by it: the ready inputs are
  // always high.
  if (out_.trigger_valid) {
    ++counters_.triggers;
    counters_.events += out_.trigger_event;
    client_.on_tracker_trigger(cycle, out_.trigger_event, out_.trigger_wg_id, out_.trigger_wf_id,
                               out_.trigger_address);
  }
  if (out_.spill_req_valid) {
    ++(out_.spill_req_write ? counters_.spill_writes : counters_.spill_reads);
    ++spills_outstanding_;
    client_.on_spill(cycle, out_.spill_req_write, out_.spill_req_index, out_.spill_req_data);
  }
  out_ = tracker_.step(in);
  return out_.reg_rdata;
}

uint64_t TrackerPort::next(uint64_t cycle) const {
  if (!out_.idle || out_.trigger_valid || out_.spill_req_valid) return cycle + 1;
  for (unsigned bank = 0; bank < kTrackerBanks; ++bank) {
    if (!fifos_[bank].empty() && out_.update_ready[bank]) return cycle + 1;
  }
  return responses_.empty() ? kNoCycle : std::max(cycle + 1, responses_.front().cycle);
}

uint64_t TrackerPort::waiting() const {
  uint64_t sum = 0;
  for (const auto& fifo : fifos_) sum += fifo.size();
  return sum;
}

}  // namespace stretto
