// SPDX-License-Identifier: Apache-2.0
// See dram_scheduler.h.
#include "models/hbm/dram_scheduler.h"

#include <algorithm>

namespace stretto {
namespace {

constexpr uint64_t bit(unsigned position) { return uint64_t{1} << position; }

}  // namespace

DramScheduler::DramScheduler(unsigned channel, const HbmSpec& spec, const TimingSet& set,
                             const TimingTable& table, CommandObserver* observer)
    : timing_(table),
      observer_(observer),
      channel_(channel),
      depth_(spec.dram_queue_depth()),
      watermark_(spec.write_policy == WritePolicy::watermark),
      write_high_(std::min(spec.write_high_atoms, spec.dram_queue_depth())),
      write_low_(std::min(spec.write_low_atoms, write_high_ - 1)),
      refresh_interval_(spec.refresh ? set.refresh_interval : 0) {
  if (refresh_interval_ == 0) return;
  // Channels refresh in turn, so that never all of them stand still.
  refresh_due_ = refresh_interval_ * (channel + 1) / spec.channels;
  refresh_next_ = refresh_due_;
}

void DramScheduler::push(uint64_t cycle, uint32_t id, unsigned bank, uint32_t row,
                         DramCommand command, bool eligible) {
  assert(size_ < depth_);
  const unsigned position = size_++;
  if (position == 0) front_since_ = cycle;
  const uint64_t here = bit(position);
  id_[position] = id;
  wanted_row_[position] = row;
  bank_[position] = static_cast<uint8_t>(bank);
  masks_[bank] |= here;
  masks_[kGroups + bank / kHbmBanksPerGroup] |= here;
  if (command == DramCommand::read) masks_[kRead] |= here;
  if (command == DramCommand::update) masks_[kUpdate] |= here;
  if (command != DramCommand::read) ++writes_;
  const bool hit = (open_ >> bank & 1) != 0 && open_row_[bank] == row;
  if (hit) masks_[kHit] |= here;
  if (eligible) masks_[kEligible] |= here;
  if (watermark_) {
    choose_direction(cycle);
  } else if (eligible) {
    masks_[kActive] |= here;
  }
  if ((masks_[kActive] & here) == 0) return;
  update_bank(bank);
  if (hit) column_next_ = std::min(column_next_, timing_.ready(command, bank));
}

void DramScheduler::make_eligible(uint64_t cycle, uint32_t id) {
  for (unsigned position = 0; position < size_; ++position) {
    if (id_[position] != id) continue;
    masks_[kEligible] |= bit(position);
    if (watermark_) {
      choose_direction(cycle);
    } else {
      masks_[kActive] |= bit(position);
    }
    update_bank(bank_at(position));
    column_next_ = std::min(column_next_, cycle + 1);
    return;
  }
}

// Under `watermark` only one direction is active: writes from write_high queued (or a write oldest
// for kFrontLimit) down to write_low, else reads; the other one when no atom of the preferred
// direction may go at all.
void DramScheduler::choose_direction(uint64_t cycle) {
  if (!draining_ && size_ != 0 &&
      (writes_ >= write_high_ ||
       ((masks_[kRead] & 1) == 0 && cycle >= front_since_ + kFrontLimit))) {
    draining_ = true;
  } else if (draining_ && writes_ <= write_low_ &&
             ((masks_[kRead] & 1) != 0 || cycle < front_since_ + kFrontLimit)) {
    draining_ = false;
  }
  const uint64_t preferred = masks_[kEligible] & (draining_ ? ~masks_[kRead] : masks_[kRead]);
  const uint64_t active = preferred != 0 ? preferred : masks_[kEligible];
  if (active == masks_[kActive]) return;
  masks_[kActive] = active;
  update_all_banks();
  column_next_ = std::min(column_next_, cycle);
}

void DramScheduler::update_bank(unsigned bank) {
  const uint64_t waiting = masks_[bank] & masks_[kActive];
  const uint32_t here = 1u << bank;
  want_activate_ &= ~here;
  want_precharge_ &= ~here;
  if (waiting == 0) return;
  if ((open_ & here) == 0) {
    want_activate_ |= here;
    row_next_ = std::min(row_next_, timing_.ready(DramCommand::activate, bank));
  } else if ((waiting & masks_[kHit]) == 0) {
    want_precharge_ |= here;
    row_next_ = std::min(row_next_, timing_.ready(DramCommand::precharge, bank));
  }
}

void DramScheduler::update_all_banks() {
  for (unsigned bank = 0; bank < kHbmBanks; ++bank) update_bank(bank);
}

uint32_t DramScheduler::tick(uint64_t cycle) {
  while (cycle >= refresh_next_) refresh_action(refresh_next_);
  if (blocked_ || size_ == 0) return kNone;
  if (watermark_) choose_direction(cycle);
  const uint32_t issued = cycle >= column_next_ ? issue_column(cycle) : kNone;
  if (cycle >= row_next_) issue_row(cycle);
  return issued;
}

uint32_t DramScheduler::issue_column(uint64_t cycle) {
  using enum DramCommand;
  const uint64_t hits = masks_[kHit] & masks_[kActive];
  uint64_t reads = cycle >= timing_.channel_ready(read) ? hits & masks_[kRead] : 0;
  uint64_t writes = cycle >= timing_.channel_ready(write) ? hits & ~masks_[kRead] : 0;
  for (unsigned group = 0; group < kHbmGroups; ++group) {
    const uint64_t members = group_mask(group);
    if (cycle < timing_.group_ready(read, group)) reads &= ~members;
    if (cycle < timing_.group_ready(write, group)) writes &= ~members;
  }
  for (uint32_t left = settling_; left != 0; left &= left - 1) {
    const unsigned bank = std::countr_zero(left);
    const bool read_waits = cycle < timing_.bank_ready(read, bank);
    const bool write_waits = cycle < timing_.bank_ready(write, bank);
    if (read_waits) reads &= ~masks_[bank];
    if (write_waits) writes &= ~masks_[bank];
    if (!read_waits && !write_waits) settling_ &= ~(1u << bank);
  }
  uint32_t issued = kNone;
  if (const uint64_t ready = reads | writes; ready != 0) {
    const unsigned position = std::countr_zero(ready);
    const uint64_t here = bit(position);
    const unsigned bank = bank_at(position);
    last_command_ = (masks_[kRead] & here) != 0     ? read
                    : (masks_[kUpdate] & here) != 0 ? update
                                                    : write;
    command(cycle, last_command_, bank, open_row_[bank]);
    counters_.last_column = cycle;
    issued = id_[position];
    if (last_command_ != read) --writes_;
    remove(position);
    if (position == 0) front_since_ = cycle;
    if (watermark_) choose_direction(cycle);
    update_bank(bank);
  }
  find_next_column();
  return issued;
}

void DramScheduler::find_next_column() {
  using enum DramCommand;
  const uint64_t hits = masks_[kHit] & masks_[kActive];
  column_next_ = kNoCycle;
  if (hits == 0) return;
  uint64_t settled = hits;
  for (uint32_t left = settling_; left != 0; left &= left - 1) {
    const unsigned bank = std::countr_zero(left);
    const uint64_t here = hits & masks_[bank];
    settled &= ~here;
    if ((here & masks_[kRead]) != 0)
      column_next_ = std::min(column_next_, timing_.ready(read, bank));
    if ((here & ~masks_[kRead]) != 0)
      column_next_ = std::min(column_next_, timing_.ready(write, bank));
  }
  uint64_t read_next = kNoCycle;
  uint64_t write_next = kNoCycle;
  for (unsigned group = 0; group < kHbmGroups; ++group) {
    const uint64_t members = settled & group_mask(group);
    if ((members & masks_[kRead]) != 0)
      read_next = std::min(read_next, timing_.group_ready(read, group));
    if ((members & ~masks_[kRead]) != 0)
      write_next = std::min(write_next, timing_.group_ready(write, group));
  }
  if (read_next != kNoCycle)
    column_next_ = std::min(column_next_, std::max(read_next, timing_.channel_ready(read)));
  if (write_next != kNoCycle) {
    column_next_ = std::min(column_next_, std::max(write_next, timing_.channel_ready(write)));
  }
}

// One pass finds the oldest atom whose row command may go now, and when the others may at the
// earliest, by bank alone: the channel's share of an activation's time is added at the end, the
// group's is left out (row_next_ is a lower bound).
void DramScheduler::issue_row(uint64_t cycle) {
  using enum DramCommand;
  const uint64_t active = masks_[kActive];
  unsigned best = 64;
  uint32_t of_best = 0;
  uint64_t precharge_next = kNoCycle;
  for (uint32_t left = want_precharge_; left != 0; left &= left - 1) {
    const unsigned bank = std::countr_zero(left);
    const uint64_t ready = timing_.bank_ready(precharge, bank);
    if (ready > cycle) {
      precharge_next = std::min(precharge_next, ready);
      continue;
    }
    const unsigned oldest = std::countr_zero(masks_[bank] & active);
    if (best < 64) precharge_next = cycle + 1;  // One of two must wait.
    if (oldest >= best) continue;
    best = oldest;
    of_best = bank;
  }
  uint64_t activate_next = kNoCycle;
  const bool activate_ready = timing_.channel_ready(activate) <= cycle;
  for (uint32_t left = want_activate_; left != 0; left &= left - 1) {
    const unsigned bank = std::countr_zero(left);
    const uint64_t ready = timing_.bank_ready(activate, bank);
    activate_next = std::min(activate_next, ready);
    if (!activate_ready || ready > cycle ||
        timing_.group_ready(activate, bank / kHbmBanksPerGroup) > cycle) {
      continue;
    }
    const unsigned oldest = std::countr_zero(masks_[bank] & active);
    if (oldest >= best) continue;
    if (best < 64 && (open_ >> of_best & 1) != 0) precharge_next = cycle + 1;
    best = oldest;
    of_best = bank;
  }
  row_next_ = precharge_next;
  if (best < 64) open_or_close(cycle, of_best, wanted_row_[best]);
  if (activate_next != kNoCycle) {
    row_next_ = std::min(row_next_, std::max(activate_next, timing_.channel_ready(activate)));
  }
}

// Closes the open row of `bank`, or opens `row` in it.
void DramScheduler::open_or_close(uint64_t cycle, unsigned bank, uint32_t row) {
  using enum DramCommand;
  const uint32_t here = 1u << bank;
  if ((open_ & here) != 0) {
    command(cycle, precharge, bank, open_row_[bank]);
    open_ &= ~here;
    closed_by_atom_ |= here;
    masks_[kHit] &= ~masks_[bank];
  } else {
    command(cycle, activate, bank, row);
    open_ |= here;
    open_row_[bank] = row;
    settling_ |= here;
    ++((closed_by_atom_ & here) != 0 ? counters_.row_conflicts : counters_.row_misses);
    closed_by_atom_ &= ~here;
    for (uint64_t left = masks_[bank]; left != 0; left &= left - 1) {
      const unsigned position = std::countr_zero(left);
      if (wanted_row_[position] == row) masks_[kHit] |= bit(position);
    }
    const uint64_t hits = masks_[bank] & masks_[kHit] & masks_[kActive];
    if ((hits & masks_[kRead]) != 0) {
      column_next_ = std::min(column_next_, timing_.ready(read, bank));
    }
    if ((hits & ~masks_[kRead]) != 0) {
      column_next_ = std::min(column_next_, timing_.ready(write, bank));
    }
  }
  update_bank(bank);
}

void DramScheduler::remove(unsigned position) {
  const uint64_t below = bit(position) - 1;
  for (uint64_t& mask : masks_) mask = (mask & below) | (mask >> 1 & ~below);
  --size_;
  std::copy(id_.begin() + position + 1, id_.begin() + size_ + 1, id_.begin() + position);
  std::copy(wanted_row_.begin() + position + 1, wanted_row_.begin() + size_ + 1,
            wanted_row_.begin() + position);
  std::copy(bank_.begin() + position + 1, bank_.begin() + size_ + 1, bank_.begin() + position);
}

void DramScheduler::refresh_action(uint64_t cycle) {
  using enum DramCommand;
  switch (refresh_phase_) {
    case RefreshPhase::waiting:
      blocked_ = true;
      for (uint32_t left = open_; left != 0; left &= left - 1) {
        refresh_next_ = std::max(refresh_next_, timing_.ready(precharge, std::countr_zero(left)));
      }
      refresh_phase_ = RefreshPhase::precharge;
      break;
    case RefreshPhase::precharge:
      for (uint32_t left = open_; left != 0; left &= left - 1) {
        const unsigned bank = std::countr_zero(left);
        command(cycle, precharge, bank, open_row_[bank]);
      }
      open_ = closed_by_atom_ = settling_ = 0;
      masks_[kHit] = 0;
      refresh_next_ = std::max(cycle, timing_.channel_ready(refresh));
      refresh_phase_ = RefreshPhase::refresh;
      break;
    case RefreshPhase::refresh:
      command(cycle, refresh, 0, 0);
      blocked_ = false;
      refresh_due_ += refresh_interval_;
      refresh_next_ = refresh_due_;
      refresh_phase_ = RefreshPhase::waiting;
      column_next_ = row_next_ = kNoCycle;
      update_all_banks();
      break;
  }
}

uint64_t DramScheduler::refreshes(uint64_t cycle) const {
  const uint64_t issued = counters_.commands[static_cast<unsigned>(DramCommand::refresh)];
  if (size_ != 0 || refresh_interval_ == 0 || cycle < refresh_due_) return issued;
  return issued + (cycle - refresh_due_) / refresh_interval_ + 1;
}

}  // namespace stretto
