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
      single_bank_(spec.refresh == Refresh::single_bank),
      refresh_interval_(spec.refresh == Refresh::none ? 0
                        : single_bank_                ? set.refresh_interval / kHbmBanks
                                                      : set.refresh_interval) {
  if (refresh_interval_ == 0) return;
  // Channels refresh in turn, so that never all of them stand still.
  refresh_due_ = refresh_interval_ * (channel + 1) / spec.channels;
  refresh_next_ = refresh_due_;
}

void DramScheduler::push(uint64_t cycle, uint32_t id, unsigned bank, uint32_t row,
                         DramCommand command, bool eligible, bool atomic) {
  assert(size_ < depth_);
  if (size_ == 0) make_up_refreshes(cycle);
  const unsigned position = size_++;
  if (position == 0) front_since_ = cycle;
  const uint64_t here = bit(position);
  queue_[position] = {row, id, bank};
  masks_[bank] |= here;
  if (command == DramCommand::read) masks_[kRead] |= here;
  if (command == DramCommand::update) masks_[kUpdate] |= here;
  if (atomic) masks_[kAtomic] |= here;
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
    if (queue_[position].id != id) continue;
    masks_[kEligible] |= bit(position);
    if (watermark_) {
      choose_direction(cycle);
    } else {
      masks_[kActive] |= bit(position);
    }
    update_bank(queue_[position].bank);
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
  using enum DramCommand;
  const uint64_t waiting = (blocked_banks_ >> bank & 1) != 0 ? 0 : masks_[bank] & masks_[kActive];
  const uint64_t hits = waiting & masks_[kHit];
  const bool open = (open_ >> bank & 1) != 0;
  const bool activates = waiting != 0 && !open;
  const bool precharges = waiting != 0 && open && hits == 0;
  want(activate, bank, activates);
  want(precharge, bank, precharges);
  want(read, bank, (hits & masks_[kRead]) != 0);
  want(write, bank, (hits & ~masks_[kRead]) != 0);
  if (activates || precharges)
    row_next_ = std::min(row_next_, timing_.ready(activates ? activate : precharge, bank));
}

void DramScheduler::update_all_banks() {
  for (unsigned bank = 0; bank < kHbmBanks; ++bank) update_bank(bank);
}

uint32_t DramScheduler::tick(uint64_t cycle) {
  if (size_ == 0) return kNone;  // push() makes up for refreshes.
  while (cycle >= refresh_next_) refresh_action(refresh_next_);
  if (blocked_) return kNone;
  if (watermark_) choose_direction(cycle);
  const uint32_t issued = cycle >= column_next_ ? issue_column(cycle) : kNone;
  if (cycle >= row_next_ && cycle != row_bus_) issue_row(cycle);
  return issued;
}

uint32_t DramScheduler::issue_column(uint64_t cycle) {
  using enum DramCommand;
  const uint32_t read_banks = wanted(read) & timing_.banks_ready(read, cycle);
  const uint32_t write_banks = wanted(write) & timing_.banks_ready(write, cycle);
  uint32_t issued = kNone;
  if ((read_banks | write_banks) != 0) {
    const uint64_t hits = masks_[kHit] & masks_[kActive];
    uint64_t ready = 0;
    if (read_banks != 0) ready = of_banks(read_banks) & hits & masks_[kRead];
    if (write_banks != 0) ready |= of_banks(write_banks) & hits & ~masks_[kRead];
    const unsigned position = std::countr_zero(ready);
    const uint64_t here = bit(position);
    const unsigned bank = queue_[position].bank;
    last_command_ = (masks_[kRead] & here) != 0     ? read
                    : (masks_[kUpdate] & here) != 0 ? update
                                                    : write;
    command(cycle, last_command_, bank, open_row_[bank]);
    counters_.last_column = cycle;
    issued = queue_[position].id;
    if ((masks_[kAtomic] & here) != 0) {
      for (const Mask mask : {kRead, kEligible, kActive, kAtomic}) masks_[mask] &= ~here;
      ++writes_;
    } else {
      if (last_command_ != read) --writes_;
      remove(position);
      if (position == 0) front_since_ = cycle;
    }
    if (watermark_) choose_direction(cycle);
    update_bank(bank);
  }
  column_next_ = std::min(earliest(read), earliest(write));
  return issued;
}

// The oldest atom whose row command may go now.
void DramScheduler::issue_row(uint64_t cycle) {
  using enum DramCommand;
  const uint32_t banks = (wanted(precharge) & timing_.banks_ready(precharge, cycle)) |
                         (wanted(activate) & timing_.banks_ready(activate, cycle));
  if (banks != 0) {
    const Queued& oldest = queue_[std::countr_zero(of_banks(banks) & masks_[kActive])];
    open_or_close(cycle, oldest.bank, oldest.row);
  }
  row_next_ = std::min(earliest(precharge), earliest(activate));
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
    ++((closed_by_atom_ & here) != 0 ? counters_.row_conflicts : counters_.row_misses);
    closed_by_atom_ &= ~here;
    for (uint64_t left = masks_[bank]; left != 0; left &= left - 1) {
      const unsigned position = std::countr_zero(left);
      if (queue_[position].row == row) masks_[kHit] |= bit(position);
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
  std::copy(queue_.begin() + position + 1, queue_.begin() + size_ + 1, queue_.begin() + position);
}

void DramScheduler::close_for_refresh(uint64_t cycle, uint32_t banks) {
  for (uint32_t left = banks & open_; left != 0; left &= left - 1) {
    const unsigned bank = std::countr_zero(left);
    command(cycle, DramCommand::precharge, bank, open_row_[bank]);
    row_bus_ = cycle;
    masks_[kHit] &= ~masks_[bank];
  }
  open_ &= ~banks;
  closed_by_atom_ &= ~banks;
}

void DramScheduler::refresh_action(uint64_t cycle) {
  using enum DramCommand;
  const uint32_t banks = single_bank_ ? 1u << refresh_bank_ : (1u << kHbmBanks) - 1;
  switch (refresh_phase_) {
    case RefreshPhase::waiting:
      if (single_bank_) {
        blocked_banks_ = banks;
        update_bank(refresh_bank_);
      } else {
        blocked_ = true;
      }
      for (uint32_t left = open_ & banks; left != 0; left &= left - 1) {
        refresh_next_ = std::max(refresh_next_, timing_.ready(precharge, std::countr_zero(left)));
      }
      refresh_phase_ = RefreshPhase::precharge;
      break;
    case RefreshPhase::precharge:
      close_for_refresh(cycle, banks);
      refresh_next_ = std::max(cycle, timing_.ready(refresh_command(), refresh_bank_));
      refresh_phase_ = RefreshPhase::refresh;
      break;
    case RefreshPhase::refresh:
      // Other banks were activated meanwhile.
      if (const uint64_t ready = timing_.ready(refresh_command(), refresh_bank_); ready > cycle) {
        refresh_next_ = ready;
        break;
      }
      command(cycle, refresh_command(), refresh_bank_, 0);
      row_bus_ = cycle;
      refresh_due_ += refresh_interval_;
      refresh_next_ = std::max(refresh_due_, cycle + 1);
      refresh_phase_ = RefreshPhase::waiting;
      if (single_bank_) {
        blocked_banks_ = 0;
        update_bank(refresh_bank_);
        refresh_bank_ = (refresh_bank_ + 1) % kHbmBanks;
      } else {
        blocked_ = false;
        column_next_ = row_next_ = kNoCycle;
        update_all_banks();
      }
      break;
  }
}

// Behind a long rest: a round closes what is open, and from then on each refresh is like the one a
// round before. Of those only the last round leaves something behind.
void DramScheduler::skip_idle_refreshes(uint64_t cycle) {
  constexpr uint64_t kRound = kHbmBanks;
  if (refresh_interval_ == 0 || cycle < refresh_due_ + 3 * kRound * refresh_interval_) return;
  const uint64_t first_round = refresh_due_ + kRound * refresh_interval_;
  while (refresh_due_ < first_round) refresh_action(refresh_next_);
  if (refresh_next_ != refresh_due_) return;
  const uint64_t count = (cycle - refresh_due_) / refresh_interval_ - kRound;
  counters_.commands[static_cast<unsigned>(refresh_command())] += count;
  if (observer_ != nullptr) {
    observer_->on_idle_refreshes(channel_, refresh_due_, refresh_interval_, count,
                                 refresh_command(), refresh_bank_);
  }
  refresh_due_ += count * refresh_interval_;
  refresh_next_ = refresh_due_;
  if (single_bank_) refresh_bank_ = (refresh_bank_ + count) % kHbmBanks;
}

void DramScheduler::make_up_refreshes(uint64_t cycle) {
  skip_idle_refreshes(cycle);
  while (cycle >= refresh_next_) refresh_action(refresh_next_);
}

uint64_t DramScheduler::refreshes(uint64_t cycle) const {
  const uint64_t issued = counters_.commands[static_cast<unsigned>(refresh_command())];
  if (size_ != 0 || refresh_interval_ == 0 || cycle < refresh_due_) return issued;
  return issued + (cycle - refresh_due_) / refresh_interval_ + 1;
}

uint64_t DramScheduler::precharges(uint64_t cycle) const {
  const uint64_t issued = counters_.commands[static_cast<unsigned>(DramCommand::precharge)];
  if (size_ != 0 || refresh_interval_ == 0 || cycle < refresh_due_) return issued;
  const uint64_t rounds = (cycle - refresh_due_) / refresh_interval_ + 1;
  if (!single_bank_ || rounds >= kHbmBanks)
    return issued + static_cast<unsigned>(std::popcount(open_));
  const uint32_t banks = ((1u << rounds) - 1) << refresh_bank_;  // The next ones in turn.
  return issued + static_cast<unsigned>(std::popcount(open_ & (banks | banks >> kHbmBanks)));
}

}  // namespace stretto
