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
    half_words_of(in.update[bank].wg_id, in.update[bank].wf_id) += in.update[bank].count;
  }
  if (reg.write) note_write(reg);
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
    half_words_of(out_.trigger_wg_id, out_.trigger_wf_id) = 0;
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

uint32_t& TrackerPort::half_words_of(uint32_t wg_id, uint32_t wf_id) {
  const size_t index = size_t{wg_id} * kWavefronts + wf_id;
  if (index >= half_words_.size()) half_words_.resize(index + 1);
  return half_words_[index];
}

void TrackerPort::note_write(const RegisterPort& reg) {
  const TrackerRegisters::Place place = TrackerRegisters::find(reg.address);
  registers_.write(place, reg.wdata);
  if (place.name == TrackerRegisters::Name::clear) half_words_.clear();
}

uint32_t TrackerPort::threshold_of(uint32_t wg_id, uint32_t wf_id) const {
  const uint32_t total = registers_.tiles.total, along = registers_.strips.along;
  const uint32_t width = registers_.strips.width, across = (1u << width) - 1;
  if (!registers_.control.enable || wg_id >= total || along == 0) return 0;
  if ((wg_id + total - registers_.untracked.first) % total < registers_.untracked.count) return 0;
  const bool end = (wg_id >> width) % along == along - 1;
  const bool far = wg_id >= registers_.tiles.last_strip && (wg_id & across) == across;
  const unsigned row = far * 2 + end;
  return registers_.threshold[row * 2 + wf_id / 4].bits() >> wf_id % 4 * 16 & 0xffff;
}

std::vector<std::string> TrackerPort::incomplete() const {
  std::vector<std::string> lines;
  for (size_t index = 0; index < half_words_.size(); ++index) {
    const auto wg_id = static_cast<uint32_t>(index / kWavefronts);
    const auto wf_id = static_cast<uint32_t>(index % kWavefronts);
    const uint32_t threshold = threshold_of(wg_id, wf_id);
    if (half_words_[index] == 0 || threshold == 0) continue;
    lines.push_back("tracker entry of work-group " + std::to_string(wg_id) + ", wavefront " +
                    std::to_string(wf_id) + " has " + std::to_string(half_words_[index]) + " of " +
                    std::to_string(threshold) +
                    " updates: the wavefront stored other rows than its slice of the tile, or "
                    "not all of them (sw/kernels/README.md), or a peer sent less");
  }
  return lines;
}

uint64_t TrackerPort::waiting() const {
  uint64_t sum = 0;
  for (const auto& fifo : fifos_) sum += fifo.size();
  return sum;
}

}  // namespace stretto
