// SPDX-License-Identifier: Apache-2.0
// See policy.h.
#include "sw/tally/policy.h"

#include <stddef.h>

#define PER_MILLE 1000u
#define SLICED_PER_MILLE \
  1300u  // What slices are expected to take of the original's time, together.

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t parts(uint32_t all, uint32_t of) { return all / of + (all % of != 0); }

tally_policy_t tally_policy_defaults(void) {
  return (tally_policy_t){
      .turnaround_threshold_ns = 31600,
      .min_idle_before_best_effort_ns = 100000,
      .idle_before_original_kernels_ns = 100000000,
      .ptb_max_threads_per_unit = 1024,
      .threads_per_wavefront = 32,
      .min_worker_blocks = 24,
      .speed_step = 100,
      .fallback_speed_threshold = 100,
      .short_kernel_speed_threshold = 500,
      .preemption_estimate_divisor = 2,
      .profile_iterations = 5,
      .profile_warm_up_iterations = 10,
      .objective = TALLY_OBJECTIVE_STAGED,
  };
}

const char* tally_policy_error(const tally_policy_t* policy) {
  if (policy->turnaround_threshold_ns == 0) return "the turnaround threshold is 0";
  if (policy->threads_per_wavefront == 0 ||
      policy->ptb_max_threads_per_unit < policy->threads_per_wavefront)
    return "workers of fewer threads than a wavefront has";
  if (policy->min_worker_blocks == 0) return "no worker where nothing qualifies";
  if (policy->speed_step == 0 || policy->speed_step > PER_MILLE)
    return "a step of speed that is not 1..1000 per mille";
  if (policy->fallback_speed_threshold > PER_MILLE ||
      policy->short_kernel_speed_threshold > PER_MILLE)
    return "a least speed above 1000 per mille";
  if (policy->preemption_estimate_divisor == 0) return "a divisor of the estimate that is 0";
  if (policy->profile_iterations == 0) return "no measured run";
  return NULL;
}

static tally_configuration_t original_of(const tally_kernel_t* kernel) {
  return (tally_configuration_t){STRETTO_FORM_ORIGINAL, kernel->work_groups};
}

// Work-groups a unit that candidates have at most: within the limit of threads, no more than a unit
// holds (those beyond would only wait), and no more than there is work for.
static uint32_t most_of_unit(const tally_policy_t* policy, const tally_kernel_t* kernel) {
  const uint32_t threads = kernel->wavefronts * policy->threads_per_wavefront;
  uint32_t most = least(policy->ptb_max_threads_per_unit / threads, kernel->resident);
  if (most == 0) most = 1;
  most = least(most, parts(kernel->work_groups, kernel->units));
  return least(most, TALLY_CANDIDATES / 2);
}

uint32_t tally_candidates(const tally_policy_t* policy, const tally_kernel_t* kernel,
                          tally_configuration_t candidates[TALLY_CANDIDATES]) {
  uint32_t count = 0;
  if (kernel->work_groups <= kernel->units) return 0;
  for (uint32_t of_unit = most_of_unit(policy, kernel); of_unit > 0; --of_unit) {
    const uint32_t workers = least(of_unit * kernel->units, kernel->work_groups);
    const uint32_t slices = parts(kernel->work_groups, of_unit * kernel->units);
    if (kernel->can_preempt)
      candidates[count++] = (tally_configuration_t){STRETTO_FORM_PREEMPT, workers};
    if (kernel->can_slice)
      candidates[count++] =
          (tally_configuration_t){STRETTO_FORM_SLICE, parts(kernel->work_groups, slices)};
  }
  return count;
}

uint32_t tally_launches(const tally_kernel_t* kernel, tally_configuration_t configuration) {
  if (configuration.form != STRETTO_FORM_SLICE) return 1;
  return parts(kernel->work_groups, configuration.groups);
}

uint64_t tally_turnaround_ns(const tally_policy_t* policy, const tally_kernel_t* kernel,
                             tally_configuration_t configuration, uint64_t duration_ns) {
  if (configuration.form == STRETTO_FORM_SLICE)
    return duration_ns / tally_launches(kernel, configuration);
  if (configuration.form == STRETTO_FORM_PREEMPT)
    return duration_ns * configuration.groups / kernel->work_groups /
           policy->preemption_estimate_divisor;
  return duration_ns;
}

// The fastest within the threshold, no slower than `speed`; the first of equals. -1: none.
static int32_t fastest(const tally_policy_t* policy, const tally_kernel_t* kernel,
                       const tally_profile_t* profile, uint32_t speed, int first) {
  int32_t found = -1;
  for (uint32_t i = 0; i < profile->count; ++i) {
    const uint64_t duration = profile->duration_ns[i];
    if (duration == 0 || profile->original_ns * PER_MILLE < duration * speed ||
        tally_turnaround_ns(policy, kernel, profile->candidates[i], duration) >
            policy->turnaround_threshold_ns)
      continue;
    if (found < 0 || duration < profile->duration_ns[found]) found = (int32_t)i;
    if (first) return found;
  }
  return found;
}

static int32_t staged(const tally_policy_t* policy, const tally_kernel_t* kernel,
                      const tally_profile_t* profile) {
  if (profile->original_ns <= policy->turnaround_threshold_ns)
    return fastest(policy, kernel, profile, policy->short_kernel_speed_threshold, 1);
  const uint32_t lowest = policy->fallback_speed_threshold;
  for (uint32_t speed = PER_MILLE;;) {
    const int32_t found = fastest(policy, kernel, profile, speed, 1);
    if (found >= 0 || speed == lowest) return found;
    speed = speed > lowest + policy->speed_step ? speed - policy->speed_step : lowest;
  }
}

// Time of the candidate of `form` with the fewest work-groups at a time; 0: not known. A kernel that the units hold at
// once has none, and is that by itself.
static uint64_t of_fewest(const tally_profile_t* profile, uint32_t form) {
  if (profile->count == 0) return profile->original_ns;
  for (uint32_t i = profile->count; i-- > 0;)
    if (profile->candidates[i].form == form && profile->duration_ns[i] != 0)
      return profile->duration_ns[i];
  return 0;
}

static tally_configuration_t fewer_workers(const tally_policy_t* policy,
                                           const tally_kernel_t* kernel, uint64_t duration_ns) {
  const uint32_t most = least(kernel->units, kernel->work_groups);
  const uint64_t turnaround = tally_turnaround_ns(
      policy, kernel, (tally_configuration_t){STRETTO_FORM_PREEMPT, most}, duration_ns);
  uint64_t workers = turnaround == 0 ? most : policy->turnaround_threshold_ns * most / turnaround;
  if (workers < policy->min_worker_blocks) workers = policy->min_worker_blocks;
  if (workers >= kernel->work_groups) return original_of(kernel);
  return (tally_configuration_t){STRETTO_FORM_PREEMPT, (uint32_t)workers};
}

static tally_configuration_t more_slices(const tally_policy_t* policy, const tally_kernel_t* kernel,
                                         const tally_profile_t* profile) {
  const uint64_t wanted =
      (profile->original_ns * SLICED_PER_MILLE + PER_MILLE * policy->turnaround_threshold_ns - 1) /
      (PER_MILLE * policy->turnaround_threshold_ns);
  const uint32_t most = parts(kernel->work_groups, policy->min_worker_blocks);
  uint32_t slices = wanted < most ? (uint32_t)wanted : most;
  for (uint32_t i = 0; i < profile->count; ++i) {
    const uint32_t launches = tally_launches(kernel, profile->candidates[i]);
    if (launches > slices) slices = least(launches, most);
  }
  if (slices <= 1) return original_of(kernel);
  return (tally_configuration_t){STRETTO_FORM_SLICE, parts(kernel->work_groups, slices)};
}

static tally_configuration_t fallback(const tally_policy_t* policy, const tally_kernel_t* kernel,
                                      const tally_profile_t* profile) {
  const uint64_t preempt = kernel->can_preempt ? of_fewest(profile, STRETTO_FORM_PREEMPT) : 0;
  const uint64_t slice = kernel->can_slice ? of_fewest(profile, STRETTO_FORM_SLICE) : 0;
  const int by_workers = preempt != 0 && (slice == 0 || preempt <= slice);
  const uint64_t faster = by_workers ? preempt : slice;
  if (faster == 0 || profile->original_ns * PER_MILLE < faster * policy->fallback_speed_threshold)
    return original_of(kernel);
  if (by_workers) return fewer_workers(policy, kernel, preempt);
  return more_slices(policy, kernel, profile);
}

tally_configuration_t tally_choose(const tally_policy_t* policy, const tally_kernel_t* kernel,
                                   const tally_profile_t* profile) {
  const int32_t found = policy->objective == TALLY_OBJECTIVE_STAGED
                            ? staged(policy, kernel, profile)
                            : fastest(policy, kernel, profile, 0, 0);
  if (found >= 0) return profile->candidates[found];
  if (profile->original_ns <= policy->turnaround_threshold_ns) return original_of(kernel);
  return fallback(policy, kernel, profile);
}

tally_decision_t tally_decide(const tally_policy_t* policy, const tally_situation_t* s) {
  const tally_decision_t hold = {TALLY_HOLD, UINT64_MAX};
  if (s->high_active) {
    if (s->in_flight && s->can_stop && !s->stopping) return (tally_decision_t){TALLY_STOP, 0};
    return hold;
  }
  if (!s->waiting || s->in_flight) return hold;
  const uint64_t idle = s->now_ns - s->high_idle_since_ns;
  if (idle < policy->min_idle_before_best_effort_ns)
    return (tally_decision_t){TALLY_HOLD,
                              s->high_idle_since_ns + policy->min_idle_before_best_effort_ns};
  return (tally_decision_t){
      idle >= policy->idle_before_original_kernels_ns ? TALLY_START_ORIGINAL : TALLY_START, 0};
}
