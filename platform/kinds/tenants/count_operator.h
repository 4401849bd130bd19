// SPDX-License-Identifier: Apache-2.0
// count:WORK_GROUPSxROUNDS, of a kernel (sw/kernels/count.h) whose result tells how often each
// work-group ran.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_COUNT_OPERATOR_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_COUNT_OPERATOR_H_

#include "platform/jobs/operators/operators.h"

namespace stretto {

class CountOperator final : public Operator {
 public:
  // Throws UserError.
  explicit CountOperator(Fields fields);
  uint64_t input_elements() const override { return 0; }
  uint64_t output_bytes() const override { return 8 * uint64_t{work_groups_}; }
  std::vector<Launch> launches(const Places& places) const override;
  std::string how() const override;
  uint64_t least_read_bytes() const override { return output_bytes(); }
  double reference_work() const override { return work_groups_; }
  // Its output is not random: see expect().
  void check(const Places&, uint64_t, Comparison&) const override {}
  // Each work-group ran `times` times.
  void expect(const Places& places, MemoryImage& memory, uint64_t times, const std::string& subject,
              CheckReport& report) const;

 private:
  uint32_t work_groups_, rounds_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_COUNT_OPERATOR_H_
