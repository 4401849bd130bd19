// SPDX-License-Identifier: Apache-2.0
#include "models/reference/tracker_model.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace stretto {
namespace {

constexpr uint64_t kEntryValid = uint64_t{1} << 63;

// The first set bit of `mask` at or after `from`, cyclically. REQUIRES: mask != 0.
unsigned first_from(unsigned mask, unsigned from) {
  const unsigned upper = mask & (~0u << from);
  return static_cast<unsigned>(std::countr_zero(upper != 0 ? upper : mask));
}

}  // namespace

void TrackerBankModel::clear() {
  input_valid_ = false;
  queue_ = {};
  waiting_ = {};
  retry_ = 0;
  s1_ = {};
  s2_ = {};
  triggers_ = {};
  entries_ = {};
  used_entries_ = 0;
  sends_ = {};
  arrived_ = {};
  grew_ = false;
  live_ = 0;
  valid_ = {};
  pending_ = {};
  oldest_ = {};
  spilled_ = {};
}

bool TrackerBankModel::conflict(uint16_t wg_id, uint8_t wf_id) const {
  if (used_entries_ == 0) return false;
  for (const Entry& e : entries_) {
    if (e.state != State::free && e.wg_id == wg_id && e.wf_id == wf_id) return true;
  }
  return false;
}

// The lowest free entry whose bit in `except` is clear, or kEntries.
unsigned TrackerBankModel::free_entry(unsigned except) const {
  for (unsigned id = 0; id < kEntries; ++id) {
    if (entries_[id].state == State::free && (except >> id & 1) == 0) return id;
  }
  return kEntries;
}

void TrackerBankModel::occupy(unsigned id, State state, const Update& u, uint8_t way) {
  entries_[id] = {state, u.wg_id, u.wf_id, u.tile_class, way, 0};
  ++used_entries_;
}

void TrackerBankModel::release(unsigned id) {
  entries_[id].state = State::free;
  --used_entries_;
}

// Adds to the slot; completes the tile or writes the slot back; saves the victim.
void TrackerBankModel::stage2() {
  const Update& u = s2_.update;
  const unsigned row = row_of(u.wg_id);
  Slot& slot = slot_[row][s2_.way];
  if (s2_.spill) {
    Entry& e = entries_[s2_.id];
    e.state = State::send_write;
    e.data = kEntryValid | uint64_t{slot.count & 0x7fffu} << 48 | slot.address;
    sends_.push(s2_.id);
  }
  const uint32_t sum = std::min<uint32_t>((s2_.fresh ? 0 : slot.count) + u.count, 0xffff);
  const uint64_t address = std::min(s2_.fresh ? kAddressMask : slot.address, u.address);
  if (s2_.check && sum >= s2_.threshold) {
    valid_[row] = static_cast<uint8_t>(valid_[row] & ~(1u << s2_.way));
    triggers_.push({u.wg_id, u.wf_id, address});
    --live_;
    ++counters_.triggers;
  } else {
    slot = {static_cast<uint16_t>(sum), address};
  }
}

// Finds or makes the slot of s1_. Returns true if the update has to wait for memory.
bool TrackerBankModel::stage1(Stage2& next, bool& event) {
  const Update& u = s1_.update;
  const unsigned row = row_of(u.wg_id);
  next.threshold = threshold_of(u);
  next.update = u;
  if (s1_.refill) {
    event = true;
    pending_[row] = static_cast<uint8_t>(pending_[row] & ~(1u << s1_.way));
    if (s1_.found) {
      --spilled_[row];
      --live_;
      ++counters_.refills;
      entries_[s1_.id].state = State::send_write;  // Invalidates the entry.
      entries_[s1_.id].data = 0;
      sends_.push(s1_.id);
    } else {
      release(s1_.id);
    }
    next.valid = true;
    next.check = true;
    next.way = s1_.way;
    return false;
  }
  if (next.threshold == 0) {
    ++counters_.ignored;
    return false;
  }
  const unsigned valid = valid_[row];
  const uint16_t tag = tag_of(u);
  for (unsigned left = valid; left != 0; left &= left - 1) {
    const auto way = static_cast<unsigned>(std::countr_zero(left));
    if (tag_[row][way] != tag) continue;
    next.valid = true;
    next.way = static_cast<uint8_t>(way);
    next.check = (pending_[row] >> way & 1) == 0;
    ++counters_.updates;
    counters_.half_words += u.count;
    return false;
  }
  const unsigned in_use = (1u << ways()) - 1;
  const unsigned unused = ~valid & in_use;
  const bool evict = unused == 0;
  const unsigned candidates = evict ? ~pending_[row] & in_use : unused;
  if (candidates == 0) return true;
  const unsigned way = first_from(candidates, oldest_[row]);
  const bool read = spilled_[row] != 0;
  const auto victim_wg = static_cast<uint16_t>((tag_[row][way] >> 3) << 8 | (u.wg_id & 0xff));
  const auto victim_wf = static_cast<uint8_t>(tag_[row][way] & 7);
  if (read && conflict(u.wg_id, u.wf_id)) return true;
  if (evict && conflict(victim_wg, victim_wf)) return true;
  const unsigned first = evict || read ? free_entry(0) : 0;
  const unsigned second = evict && read && first != kEntries ? free_entry(1u << first) : 0;
  if (first == kEntries || second == kEntries) return true;

  next.valid = true;
  next.fresh = true;
  next.check = !read;
  next.way = static_cast<uint8_t>(way);
  if (evict) {
    Update victim;
    victim.wg_id = victim_wg;
    victim.wf_id = victim_wf;
    occupy(first, State::fill_write, victim, next.way);
    next.spill = true;
    next.id = static_cast<uint8_t>(first);
    ++spilled_[row];
    ++counters_.spills;
  }
  if (read) {
    const unsigned id = evict ? second : first;
    occupy(id, State::send_read, u, next.way);
    sends_.push(static_cast<uint8_t>(id));
    pending_[row] = static_cast<uint8_t>(pending_[row] | 1u << way);
    ++counters_.spill_reads;
  }
  valid_[row] = static_cast<uint8_t>(valid_[row] | 1u << way);
  tag_[row][way] = tag;
  oldest_[row] = static_cast<uint8_t>(way + 1u >= ways() ? 0 : way + 1);
  ++live_;
  grew_ = true;
  ++counters_.updates;
  counters_.half_words += u.count;
  return false;
}

void TrackerBankModel::step(const TrackerUpdate* update, const Response* response,
                            bool take_trigger, bool take_request) {
  // Issue: refills first, then updates that waited, then new ones; never next to one of the same
  // row.
  Stage1 issue;
  if (triggers_.size() + s1_.valid + s2_.valid < kTriggers) {
    if (arrived_.size() != 0) {
      const Entry& e = entries_[arrived_.front()];
      issue.refill = true;
      issue.found = (e.data & kEntryValid) != 0;
      issue.way = e.way;
      issue.id = arrived_.front();
      issue.update = {e.wg_id,
                      e.wf_id,
                      e.tile_class,
                      static_cast<uint16_t>(issue.found ? e.data >> 48 & 0x7fff : 0),
                      0,
                      issue.found ? e.data & kAddressMask : kAddressMask};
      issue.valid = true;
    } else if (retry_ != 0) {
      issue.update = waiting_.front();
      issue.valid = true;
    } else if (queue_.size() != 0 && waiting_.size() + (s1_.valid && !s1_.refill) < kWaiting) {
      issue.update = queue_.front();
      const auto& strips = registers_.strips;
      const uint32_t wg = issue.update.wg_id, across = (1u << strips.width) - 1;
      const auto along =
          static_cast<uint16_t>((wg >> strips.width) - strips.along * issue.update.strip);
      const bool end = along == static_cast<uint16_t>(strips.along - 1);
      const bool far = wg >= registers_.tiles.last_strip && (wg & across) == across;
      issue.update.tile_class = static_cast<uint8_t>(far * 2 + end);
      issue.valid = true;
    }
    if (s1_.valid && row_of(s1_.update.wg_id) == row_of(issue.update.wg_id)) issue.valid = false;
    if (issue.valid) {
      if (issue.refill) {
        arrived_.pop();
      } else if (retry_ != 0) {
        waiting_.pop();
        --retry_;
      } else {
        queue_.pop();
      }
    }
  }

  if (take_trigger) triggers_.pop();
  const uint8_t requested = take_request ? sends_.front() : 0;
  if (take_request) sends_.pop();
  grew_ = false;
  bool event = false;
  if (s2_.valid) stage2();
  s2_ = {};
  if (s1_.valid && stage1(s2_, event)) waiting_.push(s1_.update);
  s1_ = issue;

  if (response != nullptr) {
    for (unsigned id = 0; id < kEntries; ++id) {
      Entry& e = entries_[id];
      if (e.state != (response->write ? State::wait_write : State::wait_read)) continue;
      if (uint32_t{e.wg_id} * 8 + e.wf_id != response->index) continue;
      if (response->write) {
        release(id);
        event = true;
      } else {
        e.state = State::arrived;
        e.data = response->data;
        arrived_.push(static_cast<uint8_t>(id));
      }
      break;
    }
  }
  if (take_request) {
    Entry& e = entries_[requested];
    e.state = e.state == State::send_write ? State::wait_write : State::wait_read;
  }
  if (event) retry_ = waiting_.size();

  if (input_valid_) {
    const uint32_t wg = input_.wg_id;
    const uint32_t distance =
        (wg >= registers_.untracked.first ? wg : wg + registers_.tiles.total) -
        registers_.untracked.first;
    if (registers_.control.enable && wg < registers_.tiles.total &&
        (distance & 0x1ffff) >= registers_.untracked.count) {
      input_.strip = static_cast<uint16_t>(
          uint64_t{wg >> registers_.strips.width} * registers_.strips.reciprocal >> 24);
      queue_.push(input_);
    } else {
      ++counters_.ignored;
    }
  }
  input_valid_ = update != nullptr;
  if (update != nullptr) {
    assert(update->wf_id < 8 && update->count >= 1 && update->count <= 4096);
    input_ = {update->wg_id, update->wf_id, 0, update->count, 0, update->address & kAddressMask};
  }
}

TrackerModel::TrackerModel()
    : banks_{TrackerBankModel(registers_), TrackerBankModel(registers_),
             TrackerBankModel(registers_), TrackerBankModel(registers_)} {}

void TrackerModel::reset() {
  registers_ = {};
  for (TrackerBankModel& bank : banks_) {
    bank.clear();
    bank.counters() = {};
  }
  trigger_turn_ = request_turn_ = 0;
  clear_ = counter_clear_ = read_pending_ = false;
  read_address_ = 0;
  max_live_ = 0;
  out_ = {};
}

uint32_t TrackerModel::live() const {
  uint32_t sum = 0;
  for (const TrackerBankModel& bank : banks_) sum += bank.live();
  return sum;
}

TrackerOutputs TrackerModel::step(const TrackerInputs& in) {
  if (read_pending_)
    out_.reg_rdata = registers_.read(TrackerRegisters::find(read_address_), hardware());
  for (const TrackerBankModel& bank : banks_) {
    if (bank.grew()) max_live_ = std::max(max_live_, live());
  }
  if (counter_clear_) max_live_ = live();

  // The two output arbiters, from the state before the edge.
  int trigger_bank = -1;
  int request_bank = -1;
  if (!out_.trigger_valid || in.trigger_ready) {
    out_.trigger_valid = false;
    for (unsigned i = 0; i < kTrackerBanks && trigger_bank < 0; ++i) {
      const unsigned b = (trigger_turn_ + i) % kTrackerBanks;
      if (banks_[b].has_trigger()) trigger_bank = static_cast<int>(b);
    }
  }
  if (!out_.spill_req_valid || in.spill_req_ready) {
    out_.spill_req_valid = false;
    for (unsigned i = 0; i < kTrackerBanks && request_bank < 0; ++i) {
      const unsigned b = (request_turn_ + i) % kTrackerBanks;
      if (banks_[b].has_request()) request_bank = static_cast<int>(b);
    }
  }
  if (trigger_bank >= 0) {
    const auto b = static_cast<unsigned>(trigger_bank);
    trigger_turn_ = (b + 1) % kTrackerBanks;
    out_.trigger_valid = true;
    out_.trigger_wg_id = banks_[b].trigger().wg_id;
    out_.trigger_wf_id = banks_[b].trigger().wf_id;
    out_.trigger_address = banks_[b].trigger().address;
    const uint32_t id = out_.trigger_wg_id;
    const uint32_t distance =
        (id >= registers_.event.first ? id : id + registers_.tiles.total) - registers_.event.first;
    out_.trigger_event = (distance & 0x1ffff) < registers_.event.count;
  }
  if (request_bank >= 0) {
    const auto b = static_cast<unsigned>(request_bank);
    request_turn_ = (b + 1) % kTrackerBanks;
    out_.spill_req_valid = true;
    out_.spill_req_write = banks_[b].request_write();
    out_.spill_req_index = banks_[b].request_index();
    out_.spill_req_data = banks_[b].request_data();
  }

  const TrackerBankModel::Response response{in.spill_rsp_index, in.spill_rsp_data,
                                            in.spill_rsp_write};
  const unsigned response_bank = in.spill_rsp_index >> 3 & 3;
  bool idle = true;
  for (unsigned b = 0; b < kTrackerBanks; ++b) {
    TrackerBankModel& bank = banks_[b];
    const TrackerUpdate& u = in.update[b];
    assert(!u.valid || (u.wg_id & 3) == b);
    const bool respond = in.spill_rsp_valid && response_bank == b;
    const bool take = u.valid && bank.ready();
    if (clear_) {
      bank.clear();
    } else if (take || respond || !bank.idle()) {
      bank.step(take ? &u : nullptr, respond ? &response : nullptr,
                static_cast<int>(b) == trigger_bank, static_cast<int>(b) == request_bank);
    }
    if (counter_clear_) bank.counters() = {};
    out_.update_ready[b] = bank.ready();
    idle = idle && bank.idle();
  }
  if (clear_) {
    out_.trigger_valid = false;
    out_.spill_req_valid = false;
  }

  clear_ = counter_clear_ = false;
  read_pending_ = in.reg.read;
  if (in.reg.read) read_address_ = in.reg.address;
  if (in.reg.write) write(in.reg.address, in.reg.wdata);
  out_.idle = idle && !out_.trigger_valid && !out_.spill_req_valid && !clear_ && !counter_clear_ &&
              !read_pending_;
  return out_;
}

void TrackerModel::write(uint16_t address, uint64_t data) {
  const TrackerRegisters::Place place = TrackerRegisters::find(address);
  registers_.write(place, data);
  if (place.name == TrackerRegisters::Name::clear) clear_ = true;
  if (place.name == TrackerRegisters::Name::counter_clear) counter_clear_ = true;
}

TrackerRegisters::Hardware TrackerModel::hardware() const {
  TrackerRegisters::Hardware sum;
  sum.status.busy = out_.trigger_valid || out_.spill_req_valid || clear_;
  sum.status.live = live();
  sum.max_live = max_live_;
  for (const TrackerBankModel& bank : banks_) {
    const TrackerModelCounters& c = bank.counters();
    sum.updates += c.updates;
    sum.half_words += c.half_words;
    sum.ignored += c.ignored;
    sum.triggers += c.triggers;
    sum.spills += c.spills;
    sum.spill_reads += c.spill_reads;
    sum.refills += c.refills;
    sum.status.outstanding = static_cast<uint8_t>(sum.status.outstanding + bank.outstanding());
    sum.status.busy = sum.status.busy || bank.busy();
  }
  return sum;
}

}  // namespace stretto
