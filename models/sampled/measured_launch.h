// SPDX-License-Identifier: Apache-2.0
// MeasuredLaunch: which work-groups of a launch are simulated and measured, if not all are
// (sampled.waves). They are simulated from the first one on:
//
//   settling   until the memory has moved so many bytes that nothing the L2 held before counts. Of
//              these only the first wave is noted;
//   noting     as many as the waves have. They stand for all behind the first wave;
//   filling    more, so that those that are noted have company, until the last of them has ended;
//   passing    the others end as soon as they have begun.
//
// A launch that ends before it passes is measured whole.
#ifndef STRETTO_MODELS_SAMPLED_MEASURED_LAUNCH_H_
#define STRETTO_MODELS_SAMPLED_MEASURED_LAUNCH_H_

#include <cstdint>
#include <vector>

#include "models/common/event_queue.h"

namespace stretto {

// A body that has ended, of a launch of a kernel.
struct MeasuredBody {
  Time time = 0;
  Time on_unit = 0;      // Integral of the work-groups on its unit over that time,
  Time on_gpu = 0;       // of those on the GPU,
  Time of_launch = 0;    // and of its launch's on its unit.
  bool first = false;    // None of its launch had ended when it began.
  Time behind = kNever;  // How long before it another of its slot ended on its unit.
  Time refill = 0;       // In which the scheduler fills the GPU with work-groups of its launch.
  // At the end of its launch, with less company of it than others had (SampledGpu::measured_body).
  bool is_left_over = false;
};

class MeasuredLaunch {
 public:
  enum class Counts : uint8_t { first, early, noted, behind };
  // From now on bodies are noted; the others pass.
  enum class Change : uint8_t { none, settles, passes };

  // `noted`: bodies; `settled`: bytes of the memory. REQUIRES: noted != 0
  MeasuredLaunch(uint64_t noted, uint64_t settled)
      : phase_(settled == 0 ? Phase::noting : Phase::settling),
        to_note_(noted),
        settled_(settled) {}

  // What a body that begins now counts as.
  Counts begin();
  // It does not end: its work-group begins again.
  void forget(Counts counts);
  // `moved`: bytes of the memory since the launch began.
  Change end(Counts counts, const MeasuredBody& body, uint64_t moved);

  bool passes() const { return phase_ == Phase::passing; }
  // Those of the first wave; those that stand for all others, or all others.
  const std::vector<MeasuredBody>& first() const { return first_; }
  std::vector<MeasuredBody> rest() const;

 private:
  enum class Phase : uint8_t { settling, noting, filling, passing };

  Phase phase_;
  bool any_ended_ = false;
  uint64_t to_note_;
  uint64_t noting_ = 0;  // Bodies that are noted and run.
  uint64_t settled_;
  std::vector<MeasuredBody> first_, early_, noted_, behind_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_SAMPLED_MEASURED_LAUNCH_H_
