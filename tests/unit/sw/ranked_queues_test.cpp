// SPDX-License-Identifier: Apache-2.0
// Question: are queues of any priorities served whole, each in its order, whenever doorbells ring and
// kernels end? Both happen between any two accesses of hart 0. Expected is what a queue promises:
// packets are taken once, in order, those with the barrier bit behind the ends of all before.
#include "tests/unit/sw/firmware_bench.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <vector>

#include "tests/support/seeded_rng.h"

using namespace stretto::test;

namespace {

constexpr unsigned kQueues = 6;

class Traffic {
 public:
  Traffic(Rng& rng, unsigned levels) : rng_(rng) {
    f_.put_descriptor(1024);
    for (unsigned slot = 0; slot < GRID_SLOTS; ++slot) {
      const uint64_t control = slot_register(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, slot);
      f_.device.on_write[control] = [this, slot](uint64_t) { started(slot); };
    }
    for (unsigned q = 0; q < kQueues; ++q) {
      add(q, priority(static_cast<uint32_t>(rng_.below(levels))));
      for (unsigned i = 0, count = static_cast<unsigned>(rng_.between(1, 30)); i < count; ++i) {
        const bool barrier = rng_.chance(1, 3);
        stretto_packet_t nothing{};
        nothing.barrier.header = static_cast<uint16_t>(STRETTO_PACKET_BARRIER_AND |
                                                       (barrier ? STRETTO_PACKET_BARRIER : 0));
        const bool kernel = rng_.chance(2, 3);
        add(q, kernel ? dispatch(15, barrier) : nothing);
      }
    }
  }

  void run() {
    f_.device.on_access = [this] { meanwhile(); };
    for (unsigned idle = 0; !over() && idle < 2;) {
      const unsigned before = taken();
      const bool rang = ring();
      packet_service_doorbell(&f_.packets);
      packet_service_run(&f_.packets);
      CHECK(f_.packets.owed == 0);  // It may sleep now.
      idle = rang || !running_.empty() || taken() != before ? 0 : idle + 1;
      if (!running_.empty() && rng_.chance(1, 2)) end_one();
    }
    f_.device.on_access = nullptr;
    for (unsigned q = 0; q < kQueues; ++q) {
      INFO("queue " << q);
      CHECK(taken_[q] == total_[q]);
      CHECK(f_.device.at(kHost + STRETTO_READ_INDEX_OFFSET(uint64_t{kGpu}, q)) == total_[q]);
      for (unsigned i = 0; i < total_[q]; ++i) {
        CHECK(f_.device.at(f_.signal(100 * q + i)) == 0);
        CHECK((f_.device.at(kOwn + STRETTO_QUEUE_OFFSET(uint64_t{q}) + 64 * i) & 0xFF) ==
              STRETTO_PACKET_INVALID);
      }
    }
  }
  unsigned put_off() const { return put_off_; }

 private:
  void add(unsigned queue, const stretto_packet_t& packet) {
    const unsigned index = total_[queue]++;
    f_.put(index, packet, queue);
    const uint64_t signal = f_.signal(100 * queue + index);
    const bool kernel = (packet.dispatch.header & 0xFF) == STRETTO_PACKET_KERNEL_DISPATCH;
    waits_[queue].push_back((packet.dispatch.header & STRETTO_PACKET_BARRIER) != 0);
    f_.device.on_write[signal] = [this, queue, index, signal, kernel](uint64_t value) {
      f_.device.word[signal] = value;
      if (!kernel) takes(queue, index);
    };
  }

  // Hart 0 has taken a packet.
  void takes(unsigned queue, unsigned index) {
    CHECK(taken_[queue] == index);
    ++taken_[queue];
    if (waits_[queue][index]) CHECK(active_[queue] == 0);
  }

  void started(unsigned slot) {
    const unsigned queue = f_.shared.slot_jobs[slot].queue;
    const auto index =
        static_cast<unsigned>((f_.shared.slot_jobs[slot].signal - f_.signal(100 * queue)) / 8);
    takes(queue, index);
    CHECK(running_.insert(slot).second);
    ++active_[queue];
    put_off_ += f_.packets.owed != 0;
    if (rng_.chance(1, 3)) ring();
  }

  void meanwhile() {
    if (is_within_) return;
    is_within_ = true;
    if (rng_.chance(1, 100)) ring();
    if (!running_.empty() && rng_.chance(1, 40)) end_one();
    is_within_ = false;
  }

  // Some queue's next packets.
  bool ring() {
    const auto queue = static_cast<unsigned>(rng_.below(kQueues));
    for (unsigned i = 0; i < kQueues; ++i) {
      const unsigned q = (queue + i) % kQueues;
      if (rung_[q] == total_[q]) continue;
      rung_[q] += static_cast<unsigned>(rng_.between(1, std::min(total_[q] - rung_[q], 2u)));
      f_.rings(rung_[q] - 1, q);
      return true;
    }
    return false;
  }

  void end_one() {
    const bool was = is_within_;
    is_within_ = true;  // Hart 1's accesses are its own.
    auto one = running_.begin();
    std::advance(one, static_cast<long>(rng_.below(running_.size())));
    const unsigned slot = *one;
    running_.erase(one);
    --active_[f_.shared.slot_jobs[slot].queue];
    f_.kernel_ends(slot);
    is_within_ = was;
  }

  unsigned taken() const { return std::accumulate(std::begin(taken_), std::end(taken_), 0u); }
  bool over() const {
    for (unsigned q = 0; q < kQueues; ++q)
      if (taken_[q] != total_[q]) return false;
    return running_.empty();
  }

  Firmware f_;
  Rng& rng_;
  unsigned total_[kQueues] = {}, rung_[kQueues] = {}, taken_[kQueues] = {}, active_[kQueues] = {};
  std::vector<bool> waits_[kQueues];
  std::set<unsigned> running_;  // Slots.
  bool is_within_ = false;
  unsigned put_off_ = 0;  // Kernels that were started while a driver was owed an index.
};

}  // namespace

TEST_CASE("queues of any priorities are served whole and in order, whenever doorbells ring") {
  Rng rng(81);
  unsigned put_off = 0;
  for (unsigned round = 0; round < 200; ++round) {
    INFO("round " << round);
    Traffic traffic(rng, round % 4 == 0 ? 1 : STRETTO_PRIORITIES);
    traffic.run();
    put_off += traffic.put_off();
  }
  CHECK(put_off > 0);
}
