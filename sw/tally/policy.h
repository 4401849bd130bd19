// SPDX-License-Identifier: Apache-2.0
// Tally's decisions (ASPLOS'25, 4.2 and the authors' public code): in which form a best-effort kernel
// is launched, and when best-effort work runs at all. Pure functions of their arguments, in whole
// nanoseconds and per mille: no allocation, no floating point, no state. The host's server and the
// firmware of a command processor compile this file.
//
// Names and defaults of the parameters are those of the artifact. Times of configurations are
// measured by whoever calls (TL-PROF-01).
#ifndef STRETTO_SW_TALLY_POLICY_H_
#define STRETTO_SW_TALLY_POLICY_H_

#include "sw/include/formats/transformed_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Best-performing" (TL-SCHED-07), of all configurations within the threshold:
typedef enum tally_objective {
  TALLY_OBJECTIVE_STAGED,   // the first of those that are fast enough, asked less and less (-11);
  TALLY_OBJECTIVE_FASTEST,  // the fastest, as the paper's text says.
} tally_objective_t;

typedef struct tally_policy {
  // Longest estimated time until the GPU is free for the high-priority client (-07).
  uint64_t turnaround_threshold_ns;
  // High priority has been idle so long before best-effort kernels start, and before they start in
  // their original form (-09).
  uint64_t min_idle_before_best_effort_ns;
  uint64_t idle_before_original_kernels_ns;
  uint32_t ptb_max_threads_per_unit;  // Of workers (-10).
  uint32_t threads_per_wavefront;     // A warp's.
  uint32_t min_worker_blocks;  // Work-groups at a time where nothing qualifies, at least (-10).
  // Staged: the speed that is asked of a configuration, per mille of the original's, is `1000`, then
  // less by `speed_step`, and `fallback_speed_threshold` at last; that of kernels that are no longer
  // than the threshold themselves is `short_kernel_speed_threshold` from the first (-11).
  uint32_t speed_step;
  uint32_t fallback_speed_threshold;
  uint32_t short_kernel_speed_threshold;
  uint32_t preemption_estimate_divisor;  // A worker is met in the middle of a task (TL-PROF-05).
  uint32_t profile_iterations;           // Measured runs of each configuration,
  uint32_t profile_warm_up_iterations;   // behind so many of the original kernel.
  tally_objective_t objective;
} tally_policy_t;

// config.scheduler_parameters of the target file.
tally_policy_t tally_policy_defaults(void);
// What is wrong with it, one line; null if nothing is.
const char* tally_policy_error(const tally_policy_t* policy);

// How a kernel is launched (TL-SCHED-04).
typedef struct tally_configuration {
  uint32_t form;    // STRETTO_FORM_*.
  uint32_t groups;  // Work-groups of a launch: workers, or the most of a slice.
} tally_configuration_t;

typedef struct tally_kernel {
  uint32_t work_groups;  // Of its grid.
  uint32_t wavefronts;   // Of each.
  uint32_t units;        // Of the GPU.
  uint32_t resident;     // Work-groups of the kernel that a unit holds at most.
  int can_slice;         // The transformer has such a form of it.
  int can_preempt;
} tally_kernel_t;

// At most so many, whatever the machine.
#define TALLY_CANDIDATES 128u
// The configurations to try, the largest first: for each number of work-groups a unit the preemptive
// form and slices of as many work-groups as there would be workers (TL-SCHED-05, -10). Returns their
// number: 0 for a kernel of no more work-groups than units.
uint32_t tally_candidates(const tally_policy_t* policy, const tally_kernel_t* kernel,
                          tally_configuration_t candidates[TALLY_CANDIDATES]);
// Launches that a configuration takes without preemption.
uint32_t tally_launches(const tally_kernel_t* kernel, tally_configuration_t configuration);

// Estimated turnaround: the time until a kernel that runs so has left the GPU (TL-PROF-02). `duration`
// is that of the whole kernel in this configuration: sliced, it is the time of one slice (-03);
// preemptive, duration / (work-groups / workers), divided again (-04, -05); else all of it.
uint64_t tally_turnaround_ns(const tally_policy_t* policy, const tally_kernel_t* kernel,
                             tally_configuration_t configuration, uint64_t duration_ns);

// What was measured: of the original kernel and of each candidate, 0 = not known.
typedef struct tally_profile {
  uint64_t original_ns;
  uint32_t count;
  const tally_configuration_t* candidates;
  const uint64_t* duration_ns;
} tally_profile_t;

// The configuration for a kernel that may be stopped at any time (TL-SCHED-03, -07, -11). If none within the
// threshold is fast enough, and the original kernel is too long: fewer work-groups at a time than units, in
// proportion to how far one a unit is from the threshold, or so many more slices, whichever form is faster with one
// a unit (the authors' code, src/tally/scheduler/priority.cpp); the original if both are hopelessly slow.
tally_configuration_t tally_choose(const tally_policy_t* policy, const tally_kernel_t* kernel,
                                   const tally_profile_t* profile);

// What the scheduler of a GPU sees.
typedef struct tally_situation {
  uint64_t now_ns;
  int high_active;              // A high-priority kernel is queued or runs.
  uint64_t high_idle_since_ns;  // If none is; from the begin if none ever was.
  int waiting;                  // A best-effort kernel waits for its launch.
  int in_flight;                // One is on the GPU, and
  int can_stop;                 // can be stopped, and
  int stopping;                 // has been told to.
} tally_situation_t;

typedef enum tally_action {
  TALLY_HOLD,            // Nothing, until something changes or `until_ns`.
  TALLY_START,           // The kernel that waits, in the form that was chosen for it;
  TALLY_START_ORIGINAL,  // in its original form, unless it is to be measured: a long rest.
  TALLY_STOP,            // The kernel in flight.
} tally_action_t;

typedef struct tally_decision {
  tally_action_t action;
  uint64_t until_ns;  // TALLY_HOLD: look again then; UINT64_MAX: not because of time.
} tally_decision_t;

// What to do about best-effort work (TL-SCHED-02, -03, -08, -09). High-priority kernels are not asked
// for: they are launched when they come, unmodified (-01).
tally_decision_t tally_decide(const tally_policy_t* policy, const tally_situation_t* situation);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_TALLY_POLICY_H_
