// SPDX-License-Identifier: Apache-2.0
// The profiler: configurations of best-effort kernels are measured on the launches that their clients
// ask for (TL-PROF-01). Times are the host's, from a launch to the completion that it sees. A run that
// was stopped does not count and is repeated, but no more often than runs are measured: then its parts
// count together, each with its launch and the time in which workers leave.
#include <stdlib.h>

#include "sw/tally/server_internal.h"

// What a kernel's time may depend on: its code, grid and arguments, but for addresses in the client's
// memory.
static uint64_t key_of(const tenant_t* t, const item_t* item) {
  const stretto_client_options_t* o = &t->driver->options;
  const uint64_t begin = stretto_gpu_address(o->gpu, o->memory_begin),
                 end = stretto_gpu_address(o->gpu, o->memory_end);
  uint64_t key = server_key(item->kernel->key, item->grid, sizeof item->grid);
  for (uint32_t at = 0; at < item->argument_bytes; at += 8) {
    uint64_t word = 0;
    for (uint32_t i = 0; i < 8 && at + i < item->argument_bytes; ++i)
      word |= (uint64_t)item->arguments[at + i] << 8 * i;
    if (word >= begin && word < end) word = 0;
    key = server_key(key, &word, sizeof word);
  }
  return key;
}

// Work-groups of a kernel that a unit holds at a time.
static uint32_t resident(const server_t* s, const stretto_kernel_descriptor_t* d) {
  const stretto_client_options_t* unit = &s->p->own;
  const uint32_t limits[] = {
      s->p->unit_workgroups, unit->unit_wavefronts / d->wavefronts,
      d->registers_bytes == 0 ? UINT32_MAX : unit->unit_registers_bytes / d->registers_bytes,
      d->lds_bytes == 0 ? UINT32_MAX : unit->unit_lds_bytes / d->lds_bytes};
  uint32_t least = UINT32_MAX;
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; ++i)
    least = limits[i] < least ? limits[i] : least;
  return least;
}

// Tells what was chosen, measured to take so long.
static void tell_choice(const server_t* s, const tenant_t* t, const profile_t* p,
                        uint64_t duration_ns) {
  server_log(s, (tally_record_t){.kind = TALLY_CHOSEN,
                                 .client = t->number,
                                 .form = p->chosen.form,
                                 .groups = p->chosen.groups,
                                 .work_groups = p->shape.work_groups,
                                 .original_ns = p->original_ns,
                                 .duration_ns = duration_ns,
                                 .turnaround_ns = tally_turnaround_ns(&s->p->policy, &p->shape,
                                                                      p->chosen, duration_ns),
                                 .is_last = duration_ns != 0,
                                 .key = p->key,
                                 .kernel = p->kernel->name});
}

static void tell_measured(const server_t* s, const tenant_t* t, const profile_t* p,
                          tally_configuration_t configuration, uint64_t duration_ns) {
  if (duration_ns == 0) return;
  server_log(s, (tally_record_t){.kind = TALLY_MEASURED,
                                 .client = t->number,
                                 .form = configuration.form,
                                 .groups = configuration.groups,
                                 .work_groups = p->shape.work_groups,
                                 .duration_ns = duration_ns,
                                 .key = p->key,
                                 .kernel = p->kernel->name});
}

static tally_configuration_t original_of(const profile_t* p) {
  return (tally_configuration_t){STRETTO_FORM_ORIGINAL, p->shape.work_groups};
}

static void settle(const server_t* s, const tenant_t* t, profile_t* p) {
  const tally_profile_t measured = {.original_ns = p->original_ns,
                                    .count = p->candidates,
                                    .candidates = p->candidate,
                                    .duration_ns = p->duration_ns};
  p->chosen = tally_choose(&s->p->policy, &p->shape, &measured);
  p->is_chosen = 1;
  uint64_t duration_ns = p->chosen.form == STRETTO_FORM_ORIGINAL ? p->original_ns : 0;
  tell_measured(s, t, p, original_of(p), p->original_ns);
  for (uint32_t i = 0; i < p->candidates; ++i) {
    tell_measured(s, t, p, p->candidate[i], p->duration_ns[i]);
    if (p->candidate[i].form == p->chosen.form && p->candidate[i].groups == p->chosen.groups)
      duration_ns = p->duration_ns[i];
  }
  tell_choice(s, t, p, duration_ns);
}

static uint64_t known_ns(const server_t* s, const profile_t* p, tally_configuration_t c) {
  for (uint32_t i = 0; i < s->p->known_count; ++i) {
    const tally_known_t* known = &s->p->known[i];
    if (known->key == p->key && known->configuration.form == c.form &&
        known->configuration.groups == c.groups)
      return known->duration_ns;
  }
  return 0;
}

// Chooses at once if an earlier run has measured all that there is to measure.
static void recall(const server_t* s, const tenant_t* t, profile_t* p) {
  p->original_ns = known_ns(s, p, original_of(p));
  int is_whole = p->original_ns != 0;
  for (uint32_t i = 0; i < p->candidates && is_whole; ++i) {
    p->duration_ns[i] = known_ns(s, p, p->candidate[i]);
    is_whole = p->duration_ns[i] != 0;
  }
  if (is_whole) settle(s, t, p);
}

profile_t* profile_find(server_t* s, tenant_t* t, const item_t* item) {
  const uint64_t key = key_of(t, item);
  for (profile_t* p = t->profiles; p != NULL; p = p->next)
    if (p->kernel == item->kernel && p->key == key) return p;
  profile_t* const p = calloc(1, sizeof *p);
  if (p == NULL) return NULL;
  const kernel_t* kernel = item->kernel;
  const stretto_kernel_descriptor_t* d = &kernel->form[STRETTO_FORM_ORIGINAL].descriptor;
  *p = (profile_t){.next = t->profiles,
                   .kernel = kernel,
                   .key = key,
                   .shape = {.work_groups = item->work_groups,
                             .wavefronts = d->wavefronts,
                             .units = s->p->units,
                             .resident = resident(s, d),
                             .can_slice = kernel->has[STRETTO_FORM_SLICE],
                             .can_preempt = kernel->has[STRETTO_FORM_PREEMPT]}};
  p->candidates = tally_candidates(&s->p->policy, &p->shape, p->candidate);
  t->profiles = p;
  if (s->p->policy.profile_warm_up_iterations == 0) p->turn = 1;
  recall(s, t, p);
  return p;
}

tally_configuration_t profile_next(const profile_t* profile, int* is_measured) {
  *is_measured = 0;
  if (profile->is_chosen) return profile->chosen;
  *is_measured = 1;
  if (profile->turn >= 2) return profile->candidate[profile->turn - 2];
  return original_of(profile);
}

void profile_note(server_t* s, const tenant_t* t, profile_t* p, uint64_t duration_ns,
                  int was_interrupted) {
  const tally_policy_t* policy = &s->p->policy;
  const uint32_t wanted =
      p->turn == 0 ? policy->profile_warm_up_iterations : policy->profile_iterations;
  if (was_interrupted && p->stopped < wanted) {
    ++p->stopped;
    return;
  }
  p->sum_ns += duration_ns;
  if (++p->runs < wanted) return;
  const uint64_t mean = p->sum_ns / p->runs;
  if (p->turn == 1) p->original_ns = mean;
  if (p->turn >= 2) p->duration_ns[p->turn - 2] = mean;
  p->runs = p->stopped = 0;
  p->sum_ns = 0;
  if (++p->turn == 2 + p->candidates) settle(s, t, p);
}
