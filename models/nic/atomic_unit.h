// SPDX-License-Identifier: Apache-2.0
// AtomicUnit: atomics on a server's memories, by a read and a write over PCIe. Those of this NIC
// on one word come one after the other; what others do to the word meanwhile is not held up.
#ifndef STRETTO_MODELS_NIC_ATOMIC_UNIT_H_
#define STRETTO_MODELS_NIC_ATOMIC_UNIT_H_

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "models/nic/bus_master.h"
#include "models/nic/wire_format.h"

namespace stretto {

class AtomicUnit {
 public:
  // `old_value`: what was there. Called when the new value can be seen.
  using OnDone = std::function<void(bool ok, uint64_t old_value)>;
  struct Job {
    WireKind kind;  // fetch_add or compare_swap.
    uint64_t address;
    uint64_t operand;
    uint64_t compare;
    OnDone on_done;
  };

  explicit AtomicUnit(BusMaster& bus) : bus_(bus) {}

  void execute(Job job) {
    std::deque<Job>& jobs = by_address_[job.address];
    jobs.push_back(std::move(job));
    if (jobs.size() == 1) begin(jobs.front());
  }
  uint64_t under_way() const { return by_address_.size(); }

 private:
  void begin(const Job& job) {
    bus_.read(BusUse::atomics, job.address, 8,
              [this, address = job.address](bool ok, BusMaster::Bytes&& data) {
                uint64_t value = 0;
                std::memcpy(&value, data.data(), 8);
                if (ok) {
                  change(address, value);
                } else {
                  end(address, false, 0);
                }
              });
  }
  void change(uint64_t address, uint64_t value) {
    const Job& job = by_address_[address].front();
    if (job.kind == WireKind::compare_swap && value != job.compare) {
      end(address, true, value);
      return;
    }
    const uint64_t changed = job.kind == WireKind::compare_swap ? job.operand : value + job.operand;
    BusMaster::Bytes bytes(8);
    std::memcpy(bytes.data(), &changed, 8);
    bus_.write(BusUse::atomics, address, std::move(bytes));
    bus_.wait_visible(address, [this, address, value](bool ok) { end(address, ok, value); });
  }
  void end(uint64_t address, bool ok, uint64_t value) {
    std::deque<Job>& jobs = by_address_[address];
    const OnDone done = std::move(jobs.front().on_done);
    jobs.pop_front();
    if (jobs.empty()) {
      by_address_.erase(address);
    } else {
      begin(jobs.front());
    }
    done(ok, value);
  }

  BusMaster& bus_;
  std::map<uint64_t, std::deque<Job>> by_address_;  // The first of each is under way.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_ATOMIC_UNIT_H_
