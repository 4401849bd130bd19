// SPDX-License-Identifier: Apache-2.0
#include "models/sampled/state_flow.h"

#include <algorithm>
#include <cassert>

namespace stretto {

namespace {

constexpr unsigned kBits = 20;
constexpr uint64_t kArrived = 1;  // Tag: the last bytes of the first state of `arriving_`.

}  // namespace

StateFlow::StateFlow(EventQueue& queue, unsigned units, uint64_t unit_bytes_per_us,
                     uint64_t bytes_per_us, Time latency)
    : EventHandler(queue),
      queue_(queue),
      unit_rate_(unit_bytes_per_us),
      rate_(bytes_per_us),
      latency_(latency),
      moves_(units) {}

void StateFlow::move(unsigned unit, uint64_t bytes, std::function<void()> done) {
  assert(bytes != 0);
  advance();
  moves_[unit].push_back({Bytes{bytes} << kBits, std::move(done)});
  if (moves_[unit].size() == 1) begin(unit);
  schedule();
}

uint64_t StateFlow::rate() const {
  return std::max<uint64_t>(1, std::min(unit_rate_, rate_ / running_.size()));
}

void StateFlow::begin(unsigned unit) {
  running_.emplace(clock_ + moves_[unit].front().bytes, unit);
}

void StateFlow::advance() {
  const Time step = queue_.now() - last_;
  last_ = queue_.now();
  if (!running_.empty()) clock_ += (Bytes{step} * rate() << kBits) / kMicrosecond;
}

void StateFlow::schedule() {
  if (running_.empty()) return;
  const Bytes end = running_.begin()->first;
  const Bytes left = end > clock_ ? end - clock_ : 0;
  const Bytes per_us = Bytes{rate()} << kBits;
  next_ = queue_.now() + static_cast<Time>((left * kMicrosecond + per_us - 1) / per_us);
  queue_.schedule(next_, *this);
}

void StateFlow::on_event(uint64_t tag) {
  if (tag == kArrived) {
    const std::function<void()> done = std::move(arriving_.front());
    arriving_.pop_front();
    done();
    return;
  }
  if (queue_.now() != next_) return;  // Another one took its place.
  next_ = kNever;
  advance();
  while (!running_.empty() && running_.begin()->first <= clock_) {
    const unsigned unit = running_.begin()->second;
    running_.erase(running_.begin());
    arriving_.push_back(std::move(moves_[unit].front().done));
    moves_[unit].pop_front();
    queue_.schedule(queue_.now() + latency_, *this, kArrived);
    if (!moves_[unit].empty()) begin(unit);
  }
  schedule();
}

}  // namespace stretto
