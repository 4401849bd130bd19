// SPDX-License-Identifier: Apache-2.0
#include "models/reference/mca_model.h"

namespace stretto {

// The mean occupancy is accumulated only when something changes, so that skipped clocks count (R8).
void McaModel::measure(const McaInputs& in, bool changed) {
  if (decide_) {
    const auto& [limit_5, limit_10, limit_30] = registers_.cutoffs;
    const uint64_t sum = counters_.sample_sum;
    const uint64_t cycles = counters_.sample_cycles;
    if (cycles != 0) {
      automatic_limit_ = sum > limit_5 * cycles    ? 5
                         : sum > limit_10 * cycles ? 10
                         : sum > limit_30 * cycles ? 30
                                                   : 0;
    }
    decide_ = false;
  }
  if (in.kernel_start) {
    measuring_ = true;
    counters_.sample_sum = 0;
    counters_.sample_cycles = 0;
    since_ = in.cycle;
  } else if (measuring_ && (changed || in.first_wg_done)) {
    if (comm_pending_ == 0) {
      const auto cycles = static_cast<uint32_t>(in.cycle - since_);
      counters_.sample_sum = (counters_.sample_sum + uint64_t{occupancy_} * cycles) & kCycleMask;
      counters_.sample_cycles = (counters_.sample_cycles + cycles) & 0xffffffffffu;
    }
    since_ = in.cycle;
    decide_ = in.first_wg_done;
    measuring_ = !in.first_wg_done;
  }
}

void McaModel::write(uint16_t address, uint64_t data) {
  const McaRegisters::Place place = McaRegisters::find(address);
  registers_.write(place, data);
  if (place.name == McaRegisters::Name::counter_clear) {
    counters_.grants_compute = counters_.grants_comm = counters_.grants_starved = 0;
    counters_.drains = 0;
  }
}

McaRegisters::Hardware McaModel::hardware() const {
  McaRegisters::Hardware hardware = counters_;
  hardware.status = {.occupancy = occupancy_,
                     .limit = limit(),
                     .draining = draining_,
                     .measuring = measuring_,
                     .kernels = kernels_,
                     .compute_pending = compute_pending_,
                     .comm_pending = comm_pending_};
  return hardware;
}

}  // namespace stretto
