// SPDX-License-Identifier: Apache-2.0
// Parameters of work-groups that are sampled or measured (gpu.executor).
#ifndef STRETTO_MODELS_SAMPLED_SAMPLED_SPEC_H_
#define STRETTO_MODELS_SAMPLED_SAMPLED_SPEC_H_

#include <cstdint>
#include <string>

#include "models/common/spec.h"

namespace stretto {

struct SampledSpec {
  std::string bodies = "";
  uint64_t seed = 1;
  uint32_t residency_percent = 100;
  uint32_t groups = 0;
  uint32_t launches = 3;
  uint32_t waves = 0;
  uint32_t settle_cycles = 64;
  uint32_t share_bits = 7;
  uint32_t contention_percent = 100;
  bool correct = false;
  uint32_t fault_rate = 1;
};

inline void describe(SampledSpec& spec, ParameterSet& set) {
  set.text("bodies", spec.bodies,
           "gpu.executor=sampled: file of measured times, made by stretto characterise.");
  set.number("seed", spec.seed, 0, UINT64_MAX, "Of the times that are drawn.");
  set.number("residency_percent", spec.residency_percent, 0, 100,
             "gpu.executor=measured: work-groups of a kernel on a compute unit, of those that fit; "
             "at least one.");
  set.number("groups", spec.groups, 0, 65535,
             "gpu.executor=measured: work-groups that run at a time on a GPU; 0 = no limit.");
  set.number("launches", spec.launches, 1, 65535,
             "gpu.executor=measured: launches of equal kernels that are simulated; later ones take "
             "times that were measured on them.");
  set.number(
      "waves", spec.waves, 0, 65535,
      "gpu.executor=measured: of a launch with more work-groups than the GPU holds, so many "
      "waves are measured once the L2 has turned over, and the rest executes nothing, nor do "
      "launches beyond those that are measured; 0 = all of it.");
  set.number(
      "settle_cycles", spec.settle_cycles, 1, 65536,
      "gpu.executor=sampled: clocks from one change of the shares of L2 and memory to the next.");
  set.number(
      "share_bits", spec.share_bits, 2, 20,
      "gpu.executor=sampled: leading bits of a share that count; 7 = steps of 0.8 to 1.6 %.");
  set.number("contention_percent", spec.contention_percent, 100, 1000,
             "gpu.executor=sampled: by so much of what the law says bodies of different launches "
             "lengthen each other, where they share a part; above 100 for sensitivity.");
  set.flag(
      "correct", spec.correct,
      "gpu.executor=sampled: the table is written as DIR/bodies.txt, with corrections by which "
      "launches that ran by themselves take what was measured.");
  set.number("fault.rate", spec.fault_rate, 1, 1000,
             "Fault injection: sampled work-groups work so many times faster than they may.");
}

}  // namespace stretto

#endif  // STRETTO_MODELS_SAMPLED_SAMPLED_SPEC_H_
