// SPDX-License-Identifier: Apache-2.0
// See rate_control.h.
#include "sw/apps/tenants/rate_control.h"

#include <stddef.h>

#define PER_MILLE 1000u

rate_policy_t rate_policy_defaults(void) {
  return (rate_policy_t){.period_ns = 5000000000,
                         .windows = 100,
                         .profile_periods = 5,
                         .tolerance = 30,
                         .initial_per_ms = 400,
                         .least_step_per_ms = 20};
}

const char* rate_policy_error(const rate_policy_t* policy) {
  if (policy->windows == 0 || policy->period_ns < policy->windows)
    return "a period without windows, or with windows below 1 ns";
  if (policy->profile_periods == 0) return "no period in which the first client is seen alone";
  if (policy->tolerance == 0 || policy->tolerance > PER_MILLE / 3)
    return "a tolerance that is not 1..333 per mille";
  if (policy->initial_per_ms == 0 || policy->least_step_per_ms == 0) return "a rate or step of 0";
  return NULL;
}

uint64_t rate_window_ns(const rate_policy_t* policy) { return policy->period_ns / policy->windows; }

// Work-groups of a window; at least 1.
static uint64_t of_window(const rate_policy_t* policy, uint64_t per_ms) {
  const uint64_t groups = per_ms * rate_window_ns(policy) / 1000000;
  return groups == 0 ? 1 : groups;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t without(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// The best of the mean of two periods, of those seen so far. A single one may hold a request more.
static uint64_t best_of(const rate_state_t* s) {
  uint64_t best = 0;
  for (uint32_t i = 0; i + 1 < RATE_HISTORY && i + 1 < s->periods; ++i)
    best = larger(best, (s->history[i] + s->history[i + 1]) / 2);
  return best;
}

// What the client does at its best grows with what is seen, and shrinks when all of the history is a fifth
// below: then it asks for less.
static void note_best(rate_state_t* s) {
  const uint64_t best = best_of(s);
  if (best > s->most) s->most = best;
  if (s->periods >= RATE_HISTORY && best * 10 < s->most * 8) s->most = best * 41 / 40 + 1;
}

// Most of the last periods were without a launch: nobody is slowed.
static int is_idle(const rate_state_t* s) {
  uint32_t idle = 0;
  for (uint32_t i = 0; i < RATE_HISTORY; ++i) idle += s->history[i] == 0;
  return s->periods >= RATE_HISTORY && idle > RATE_HISTORY / 5 * 2;
}

static void step(const rate_policy_t* policy, rate_state_t* s, uint64_t off) {
  const uint64_t least = of_window(policy, policy->least_step_per_ms);
  if (s->phase == RATE_SLOW_START) {
    if (off <= policy->tolerance) {
      s->limit += s->limit / 2 + 1;
    } else {
      s->limit -= s->limit / 3;
      s->phase = RATE_AVOIDANCE;
    }
    return;
  }
  if (off <= policy->tolerance)
    s->limit += larger(s->most / policy->windows / 4000, least);
  else
    s->limit = without(s->limit, larger(s->limit * 8 / 100, least));
  if (off < 3 * policy->tolerance) return;
  s->limit /= 10;
  s->phase = RATE_SLOW_START;
}

void rate_update(const rate_policy_t* policy, rate_state_t* s, uint64_t seen) {
  for (uint32_t i = RATE_HISTORY - 1; i > 0; --i) s->history[i] = s->history[i - 1];
  s->history[0] = seen;
  ++s->periods;
  note_best(s);
  if (s->phase == RATE_PROFILE) {
    s->limit = 0;
    if (s->periods < policy->profile_periods || s->most == 0) return;
    s->phase = RATE_SLOW_START;
    s->limit = of_window(policy, policy->initial_per_ms);
    return;
  }
  if (is_idle(s)) {
    s->phase = RATE_SLOW_START;
    s->limit = RATE_UNLIMITED;
    return;
  }
  if (s->limit >= RATE_UNLIMITED) s->limit = of_window(policy, policy->initial_per_ms);
  const uint64_t away = seen > s->most ? seen - s->most : s->most - seen;
  step(policy, s, away * PER_MILLE / s->most);
  if (s->limit > RATE_UNLIMITED) s->limit = RATE_UNLIMITED;
}
