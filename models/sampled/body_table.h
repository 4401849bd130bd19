// SPDX-License-Identifier: Apache-2.0
// What was measured of kernels' bodies: a body is what a work-group executes of the original kernel.
//
// The file is text, a line a fact, closed by the SHA-256 of all lines before:
//
//   stretto bodies 2
//   machine SUM                      of the parameters that times depend on
//   l2 BYTES                         that the machine's L2 holds
//   kernel KEY NAME grid G groups N  work-groups measured; KEY: kernel_key.h
//   demand tensor C simt C issue S l2 B read B written B     of a work-group on average
//   point PERCENT LIMIT residency R/1000 groups G/1000 time FS
//   launch FS                        a launch with all that fits resident, and how long it lasted
//                                    (0: not by itself); then the times of its work-groups:
//   correct PPM                      of which each is multiplied by this when it is drawn and the launch
//                                    is by itself, so that this lasts as long; not there: 1,000,000
//   first N joined PPM t0 .. t32     those of the first wave, in 32 parts of equal weight,
//   rest N joined PPM t0 .. t32      and the others; PPM of them ended together with another of the
//                                    launch on their unit, that is within the time in which the
//                                    scheduler fills the GPU, beyond those that do by chance
//   error NAME PPM                   of sampled runs, as stretto characterise measured it
//   end SUM
//
// PERCENT and LIMIT say how the point was measured (SampledSpec::residency_percent, groups). Times
// are in femtoseconds, from dispatch to end. All that have times count in `time`.
#ifndef STRETTO_MODELS_SAMPLED_BODY_TABLE_H_
#define STRETTO_MODELS_SAMPLED_BODY_TABLE_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/common/event_queue.h"

namespace stretto {

// Of a work-group on average.
struct BodyDemand {
  uint64_t tensor_cycles = 0;
  uint64_t simt_cycles = 0;
  uint64_t issue_slots = 0;
  uint64_t l2_bytes = 0;
  uint64_t hbm_read_bytes = 0;
  uint64_t hbm_written_bytes = 0;
  uint64_t hbm_bytes() const { return hbm_read_bytes + hbm_written_bytes; }
};

// Quantiles i/32; linear between them.
struct TimeDistribution {
  static constexpr unsigned kParts = 32;
  static constexpr uint64_t kAll = 1'000'000;  // Of `joined_ppm`.
  uint64_t count = 0;
  uint64_t joined_ppm = 0;  // So many end together with another, beyond those that do by chance.
  std::array<Time, kParts + 1> at{};

  // Sorts `times`. REQUIRES: not empty.
  static TimeDistribution of(std::vector<Time>& times);
  Time mean() const;
  // The quantile of `random`, uniform over all 64-bit values.
  Time draw(uint64_t random) const;
};

struct BodyPoint {
  uint32_t residency_percent = 100;
  uint32_t limit = 0;            // Of work-groups on the GPU; 0 = none.
  uint64_t residency_milli = 0;  // Work-groups on the unit, on average over the body.
  uint64_t groups_milli = 0;     // On the GPU.
  Time time = 0;                 // Mean.

  bool is_full() const { return residency_percent == 100 && limit == 0; }
};

struct LaunchTimes {
  static constexpr uint64_t kLeastCorrection = 500'000, kMostCorrection = 2'000'000;
  Time time = 0;  // Of all of it; 0: others ran, too.
  TimeDistribution first, rest;
  uint64_t correction_ppm = 1'000'000;  // Of times that are drawn.
};

struct BodyTimes {
  std::string name;
  uint64_t grid = 0;
  uint64_t groups = 0;
  BodyDemand demand;
  std::vector<BodyPoint> points;      // Not empty,
  std::vector<LaunchTimes> launches;  // nor these: in their order.

  // Index of the one whose times the `launch`-th launch takes: that one, or, beyond those, one of
  // them but the first, which is the one that `which` says.
  size_t index_for(uint64_t launch, uint64_t which) const;
  const LaunchTimes& launch_for(uint64_t launch, uint64_t which) const {
    return launches[index_for(launch, which)];
  }
  // Mean of the launches by themselves; 0: there is none.
  Time launch_time() const;
  // Mean of all their work-groups.
  Time group_time() const;
};

// Of errors of what was not measured, only compared, the names begin so.
inline constexpr const char* kCheckedError = "checked.";

class BodyTable {
 public:
  std::string machine;
  uint64_t l2_bytes = 0;
  std::map<std::string, BodyTimes> kernels;  // By key.
  std::map<std::string, uint64_t> errors;    // By name, in parts per million.

  // Throws UserError: one line with `name` and what is wrong.
  static BodyTable parse(const std::string& name, const std::string& text);
  std::string text() const;
  // Adds the points of another measurement on the same machine. Where both have measured a point,
  // that of `other` stands. Of a kernel whose operands the L2 can hold, a point with other residency
  // counts only if it found them there as the full measurement did: launches before it may have been
  // left out.
  void merge(const BodyTable& other);
  // Takes the corrections by which `from` differs from `base`, of which it was made.
  // REQUIRES: this and `from` have the kernels of `base`.
  void take_corrections(const BodyTable& from, const BodyTable& base);
};

}  // namespace stretto

#endif  // STRETTO_MODELS_SAMPLED_BODY_TABLE_H_
