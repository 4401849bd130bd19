// SPDX-License-Identifier: Apache-2.0
#include "models/reference/mca_model.h"

#include "sw/include/regs/field.h"
#include "sw/include/regs/mca_regs.h"

namespace stretto {

// The mean occupancy is accumulated only when something changes, so that skipped clocks count (R8).
void McaModel::measure(const McaInputs& in, bool changed) {
  if (decide_) {
    if (sample_cycles_ != 0) {
      automatic_limit_ = sample_sum_ > cutoffs_[0] * sample_cycles_   ? 5
                         : sample_sum_ > cutoffs_[1] * sample_cycles_ ? 10
                         : sample_sum_ > cutoffs_[2] * sample_cycles_ ? 30
                                                                      : 0;
    }
    decide_ = false;
  }
  if (in.kernel_start) {
    measuring_ = true;
    sample_sum_ = 0;
    sample_cycles_ = 0;
    since_ = in.cycle;
  } else if (measuring_ && (changed || in.first_wg_done)) {
    if (comm_pending_ == 0) {
      const auto cycles = static_cast<uint32_t>(in.cycle - since_);
      sample_sum_ = (sample_sum_ + uint64_t{occupancy_} * cycles) & kCycleMask;
      sample_cycles_ = (sample_cycles_ + cycles) & 0xffffffffffu;
    }
    since_ = in.cycle;
    decide_ = in.first_wg_done;
    measuring_ = !in.first_wg_done;
  }
}

void McaModel::write(uint16_t address, uint64_t data) {
  switch (address) {
    case MCA_CONTROL_OFFSET:
      policy_ = static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_CONTROL_POLICY));
      automatic_ = STRETTO_FIELD_GET(data, MCA_CONTROL_THRESHOLD_SELECT) != 0;
      break;
    case MCA_THRESHOLD_OFFSET:
      fixed_limit_ = static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_THRESHOLD_LIMIT));
      break;
    case MCA_CUTOFFS_OFFSET:
      cutoffs_[0] = static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_CUTOFFS_LIMIT_5));
      cutoffs_[1] = static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_CUTOFFS_LIMIT_10));
      cutoffs_[2] = static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_CUTOFFS_LIMIT_30));
      break;
    case MCA_STARVE_LIMIT_OFFSET:
      starve_limit_ = static_cast<uint32_t>(STRETTO_FIELD_GET(data, MCA_STARVE_LIMIT_CYCLES));
      break;
    case MCA_DRAM_QUEUE_DEPTH_OFFSET:
      depth_ = static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_DRAM_QUEUE_DEPTH_ATOMS));
      break;
    case MCA_COUNTER_CLEAR_OFFSET:
      grants_compute_ = grants_comm_ = grants_starved_ = drains_ = 0;
      break;
    default: break;
  }
}

uint64_t McaModel::read(uint16_t address) const {
  switch (address) {
    case MCA_CONTROL_OFFSET:
      return STRETTO_FIELD(MCA_CONTROL_POLICY, policy_) |
             STRETTO_FIELD(MCA_CONTROL_THRESHOLD_SELECT, automatic_);
    case MCA_THRESHOLD_OFFSET: return fixed_limit_;
    case MCA_CUTOFFS_OFFSET:
      return STRETTO_FIELD(MCA_CUTOFFS_LIMIT_5, cutoffs_[0]) |
             STRETTO_FIELD(MCA_CUTOFFS_LIMIT_10, cutoffs_[1]) |
             STRETTO_FIELD(MCA_CUTOFFS_LIMIT_30, cutoffs_[2]);
    case MCA_STARVE_LIMIT_OFFSET: return starve_limit_;
    case MCA_DRAM_QUEUE_DEPTH_OFFSET: return depth_;
    case MCA_STATUS_OFFSET:
      return STRETTO_FIELD(MCA_STATUS_OCCUPANCY, occupancy_) |
             STRETTO_FIELD(MCA_STATUS_LIMIT, limit()) |
             STRETTO_FIELD(MCA_STATUS_DRAINING, draining_) |
             STRETTO_FIELD(MCA_STATUS_MEASURING, measuring_) |
             STRETTO_FIELD(MCA_STATUS_KERNELS, kernels_) |
             STRETTO_FIELD(MCA_STATUS_COMPUTE_PENDING, compute_pending_) |
             STRETTO_FIELD(MCA_STATUS_COMM_PENDING, comm_pending_);
    case MCA_SAMPLE_SUM_OFFSET: return sample_sum_;
    case MCA_SAMPLE_CYCLES_OFFSET: return sample_cycles_;
    case MCA_GRANTS_COMPUTE_OFFSET: return grants_compute_;
    case MCA_GRANTS_COMM_OFFSET: return grants_comm_;
    case MCA_GRANTS_STARVED_OFFSET: return grants_starved_;
    case MCA_DRAINS_OFFSET: return drains_;
    default: return 0;
  }
}

}  // namespace stretto
