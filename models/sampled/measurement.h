// SPDX-License-Identifier: Apache-2.0
// What work-groups that the instruction-set simulator executes take and use, by kernel.
//
// Times are of every work-group but those that are left over at the end of a launch. What it uses is the
// difference of the GPU's counters over intervals in which one kernel alone runs, an equal part each;
// intervals with several kernels are left out.
#ifndef STRETTO_MODELS_SAMPLED_MEASUREMENT_H_
#define STRETTO_MODELS_SAMPLED_MEASUREMENT_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/sampled/body_law.h"
#include "models/sampled/body_table.h"
#include "models/sampled/measured_launch.h"

namespace stretto {

class Measurement {
 public:
  // Totals of the GPU since time 0.
  using Counters = std::function<BodyDemand()>;

  // How it is measured, see BodyPoint.
  Measurement(uint32_t residency_percent, uint32_t limit, Counters counters)
      : residency_percent_(residency_percent), limit_(limit), counters_(std::move(counters)) {}

  // The launch has the number `launch` among those of its kernel, from 0 on.
  void body(const std::string& key, uint64_t grid, uint64_t launch, const MeasuredBody& body);
  // All of a launch that passes().
  void part(const std::string& key, uint64_t grid, uint64_t launch, const MeasuredLaunch& part);
  // Work-groups run on the GPU again, the first is of this kernel; another kernel has joined it;
  // none run.
  void begin(const std::string& key);
  void join() { is_mixed_ = true; }
  // If only part of the launch will have been measured, what bodies use counts from now on
  void settled();
  // until now: as many have begun before and end behind it as then.
  void end_part();
  void body_ended() { ++interval_bodies_; }
  void end();
  // All work-groups of a launch have run, and none of another with them.
  void launch(const std::string& key, uint64_t launch, Time time);

  bool has(const std::string& key) const;
  // REQUIRES: has(key)
  BodyTimes kernel(const std::string& key) const;
  // All that has().
  std::map<std::string, BodyTimes> kernels() const;

 private:
  struct Sum {
    Wide bodies = 0, time = 0, on_unit = 0, on_gpu = 0;
    void add(const MeasuredBody& body);
    // Bodies that stand for so many.
    void add(const Sum& sum, uint64_t bodies);
  };
  struct Kernel {
    struct Bodies {
      std::vector<Time> times;
      uint64_t joined = 0;
      double company = 0;  // Sums: of the launch, on their unit,
      double refill = 0;   // and MeasuredBody::refill.
    };
    struct Launch {
      Time time = 0;
      Bodies first, rest;
      uint64_t stands_for = 0;  // Of so many bodies `rest` is a part; 0: it is all.
    };
    uint64_t grid = 0;
    uint64_t measured = 0;

    std::vector<Launch> kept;    // The first launches.
    Sum sum;                     // Of all that the measured ones stand for.
    uint64_t demand_bodies = 0;  // Those that `demand` is the sum of.
    BodyDemand demand;
  };

  const uint32_t residency_percent_;
  const uint32_t limit_;
  Counters counters_;
  std::map<std::string, Kernel> kernels_;
  std::string interval_;  // The kernel that runs.
  uint64_t interval_bodies_ = 0;
  bool is_mixed_ = false;
  BodyDemand before_;
  uint64_t settled_bodies_ = 0;  // Of interval_bodies_, when it settled,
  BodyDemand settled_before_;    // and the counters.

  void use(uint64_t bodies, const BodyDemand& before);
  // Counts the body, and whether what it took does.
  static bool keep(Kernel& kernel, uint64_t launch, const MeasuredBody& body);
  static TimeDistribution distribution(Kernel::Bodies bodies, bool is_first);
};

}  // namespace stretto

#endif  // STRETTO_MODELS_SAMPLED_MEASUREMENT_H_
