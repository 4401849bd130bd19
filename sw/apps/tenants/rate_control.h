// SPDX-License-Identifier: Apache-2.0
// TGS (NSDI'23): best-effort kernels are launched at a rate that slows the high-priority client by less than
// can be measured. A controller counts work-groups that this client launches in a period, takes the most
// that it has seen for what the client does alone, and lets best effort have so many work-groups in each of
// the short windows of a period: more while the count stays, less when it falls.
//
// Steps, thresholds and defaults are those of the authors' public code (pkusys/TGS e1c6a31, hijack/src), in
// whole numbers. Pure functions: no time, no allocation.
#ifndef STRETTO_SW_APPS_TENANTS_RATE_CONTROL_H_
#define STRETTO_SW_APPS_TENANTS_RATE_CONTROL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RATE_HISTORY 5u
#define RATE_UNLIMITED (1ull << 40)  // Work-groups of a window.

typedef struct rate_policy {
  uint64_t period_ns;          // The high-priority client is counted over; published: 5 s.
  uint32_t windows;            // Of a period; published: 100, of 50 ms.
  uint32_t profile_periods;    // At first best effort waits, and the client is seen alone.
  uint32_t tolerance;          // Per mille of the count, either way: nothing has happened.
  uint64_t initial_per_ms;     // Work-groups a millisecond behind the profile,
  uint64_t least_step_per_ms;  // and the least step up or down.
} rate_policy_t;

rate_policy_t rate_policy_defaults(void);
// What is wrong with it, one line; null if nothing is.
const char* rate_policy_error(const rate_policy_t* policy);
// Of a window.
uint64_t rate_window_ns(const rate_policy_t* policy);

typedef enum rate_phase {
  RATE_PROFILE,     // The client is seen alone.
  RATE_SLOW_START,  // Half as much again in each period, until it is felt.
  RATE_AVOIDANCE,   // Small steps up, larger ones down.
} rate_phase_t;

// All zero at first.
typedef struct rate_state {
  rate_phase_t phase;
  uint32_t periods;
  uint64_t most;  // Work-groups of the client in a period, at its best.
  uint64_t history[RATE_HISTORY];
  uint64_t limit;  // Of best effort, work-groups a window.
} rate_state_t;

// A period has ended, in which the client has launched `seen` work-groups. Changes `limit`.
void rate_update(const rate_policy_t* policy, rate_state_t* state, uint64_t seen);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_TENANTS_RATE_CONTROL_H_
