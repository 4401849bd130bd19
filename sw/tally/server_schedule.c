// SPDX-License-Identifier: Apache-2.0
// Best-effort work: one kernel at a time, launched, stopped and gone on with as the policy says.
//
//   NONE -> WAITING -> RUNNING -> NONE                    it ended
//                      RUNNING -> WAITING                 a slice ended, more are left
//                      RUNNING -> STOPPING -> READING -> WAITING or NONE    flag, then `next`
//                      RUNNING -> STOPPING -> HELD -> RUNNING               packets
#include <stddef.h>
#include <stdlib.h>

#include "sw/tally/server_internal.h"

static int is_scheduled(const server_t* s, const tenant_t* t) {
  return t->state != TALLY_ABSENT && t != s->high && t->driver != NULL;
}

static item_t* head_of(tenant_t* t) {
  return t->items_count == 0 ? NULL : &t->items[t->items_first];
}

static void pop(tenant_t* t) {
  t->items_first = (t->items_first + 1) % ITEMS;
  --t->items_count;
}

void schedule_forget(server_t* s, tenant_t* t) {
  while (t->items_count != 0) {
    free(head_of(t)->arguments);
    pop(t);
  }
  if (s->current.tenant != t || s->current.phase != PHASE_WAITING) return;
  free(s->current.item.arguments);
  s->current = (current_t){.phase = PHASE_NONE};
}

// Copies, fills and events of clients whose turn of kernels has not come.
static stretto_status_t submit_others(server_t* s, int* progress) {
  for (uint32_t i = 0; i < s->p->clients; ++i) {
    tenant_t* t = &s->tenants[i];
    if (!is_scheduled(s, t) || (s->current.phase != PHASE_NONE && s->current.tenant == t)) continue;
    while (head_of(t) != NULL && head_of(t)->operation != TALLY_LAUNCH &&
           t->submitted_count < SUBMITTED) {
      item_t item = *head_of(t);
      pop(t);
      *progress = 1;
      const stretto_status_t status = server_submit(s, t, &item);
      if (status != STRETTO_OK && t->failure == STRETTO_OK) t->failure = status;
      // Who waits for it would wait for ever.
      if (status != STRETTO_OK && item.operation == TALLY_EVENT_RECORD)
        tally_event_done(&t->channel, item.event, item.number, status);
    }
  }
  return STRETTO_OK;
}

// The next client's kernel, in turn.
static void take_next(server_t* s, int* progress) {
  for (uint32_t i = 0; i < s->p->clients && s->current.phase == PHASE_NONE; ++i) {
    tenant_t* t = &s->tenants[(s->turn + i) % s->p->clients];
    if (!is_scheduled(s, t) || head_of(t) == NULL || head_of(t)->operation != TALLY_LAUNCH)
      continue;
    s->current = (current_t){.phase = PHASE_WAITING, .tenant = t, .item = *head_of(t)};
    pop(t);
    s->turn = (t->number + 1) % s->p->clients;
    *progress = 1;
  }
}

static tally_record_t record_of(const current_t* c, tally_record_kind_t kind) {
  return (tally_record_t){.kind = kind,
                          .client = c->tenant->number,
                          .launch = c->item.number,
                          .form = c->configuration.form,
                          .groups = c->configuration.groups,
                          .work_groups = c->item.work_groups,
                          .control = c->control,
                          .kernel = c->item.kernel->name};
}

// What was launched has ended, or has stopped.
static void note_run(server_t* s) { s->current.ran_ns += server_now(s) - s->current.begun_ns; }

static void end_current(server_t* s, uint64_t next) {
  current_t* c = &s->current;
  tally_record_t record = record_of(c, TALLY_ENDED);
  record.next = next;
  record.is_last = 1;
  server_log(s, record);
  if (c->is_measured) profile_note(s, c->tenant, c->profile, c->ran_ns, c->was_interrupted);
  free(c->item.arguments);
  *c = (current_t){.phase = PHASE_NONE};
}

static void write_flag(const server_t* s, uint32_t value) {
  s->ops->write(s->ops->context, s->current.control + offsetof(stretto_task_control_t, preempt),
                &value, sizeof value);
}

// A control block of zeros. The first round is as the fill has left it.
static uint64_t take_control(server_t* s) {
  const uint64_t at = s->controls + s->controls_used % TALLY_CONTROL_BLOCKS * s->control_bytes;
  static const uint8_t kZeros[4096];
  if (s->controls_used++ < TALLY_CONTROL_BLOCKS) return at;
  for (uint64_t done = 0; done < s->control_bytes; done += sizeof kZeros) {
    const uint64_t left = s->control_bytes - done;
    s->ops->write(s->ops->context, at + done, kZeros, left < sizeof kZeros ? left : sizeof kZeros);
  }
  return at;
}

static void choose(server_t* s, int original) {
  current_t* c = &s->current;
  c->configuration = (tally_configuration_t){STRETTO_FORM_ORIGINAL, c->item.work_groups};
  if (s->p->mode != TALLY_TRANSFORMED) return;
  kernel_t* kernel = c->item.kernel;
  if (!kernel->has[STRETTO_FORM_SLICE] && !kernel->has[STRETTO_FORM_PREEMPT]) {
    ++s->result->refused_launches;
    return;
  }
  profile_t* const profile = profile_find(s, c->tenant, &c->item);
  if (profile == NULL || (original && profile->is_chosen)) return;
  c->profile = profile;
  c->configuration = profile_next(profile, &c->is_measured);
}

// Launches the kernel, or what comes next of it.
static stretto_status_t start(server_t* s, int original) {
  current_t* c = &s->current;
  if (!c->has_begun) {
    choose(s, original);
    c->has_begun = 1;
    if (c->configuration.form == STRETTO_FORM_PREEMPT) c->control = take_control(s);
  } else if (c->configuration.form == STRETTO_FORM_PREEMPT) {
    write_flag(s, 0);  // It alone: the index is kept (TL-PTB-07).
  }
  const uint32_t left = c->item.work_groups - c->first;
  uint32_t groups = c->configuration.groups;
  if (c->configuration.form == STRETTO_FORM_SLICE && groups > left) groups = left;
  c->phase = PHASE_RUNNING;
  c->begun_ns = server_now(s);
  const stretto_status_t status = server_launch(s, c->tenant, &c->item, c->configuration.form,
                                                c->first, groups, c->control, &c->event);
  if (c->configuration.form == STRETTO_FORM_SLICE) c->first += groups;
  if (status == STRETTO_OK) return status;
  // The client's fault: its stream tells.
  if (c->tenant->failure == STRETTO_OK) c->tenant->failure = status;
  free(c->item.arguments);
  *c = (current_t){.phase = PHASE_NONE};
  return STRETTO_OK;
}

static stretto_status_t go_on(server_t* s) {
  current_t* c = &s->current;
  c->phase = PHASE_RUNNING;
  server_log(s, record_of(c, TALLY_RESUMED));
  return server_try(s, s->own->api->resume(s->own, s->stream, c->tenant->stream));
}

static stretto_status_t stop(server_t* s) {
  current_t* c = &s->current;
  server_log(s, record_of(c, TALLY_STOPPED));
  c->phase = PHASE_STOPPING;
  c->was_interrupted = 1;
  if (s->p->mode != TALLY_UNMODIFIED) {
    write_flag(s, 1);
    return STRETTO_OK;
  }
  TRY(server_try(s, s->own->api->preempt(s->own, s->stream, c->tenant->stream, 1)));
  return server_try(s, s->own->api->event_of_last(s->own, s->stream, &c->stopped));
}

// Where `next` of a stopped kernel comes to.
static uint64_t next_place(const server_t* s) {
  return tally_channel_address(s->p->job, 0) - TALLY_JOB_BYTES / 2;
}

static stretto_status_t read_next(server_t* s) {
  current_t* c = &s->current;
  c->phase = PHASE_READING;
  const stretto_api_t* api = s->own->api;
  TRY(server_try(s, api->copy(s->own, s->stream, next_place(s), c->control,
                              sizeof(stretto_task_control_t), s->p->own_account)));
  return server_try(s, api->event_of_last(s->own, s->stream, &c->stopped));
}

static void wait_again(server_t* s, uint64_t next) {
  current_t* c = &s->current;
  tally_record_t record = record_of(c, TALLY_ENDED);
  record.next = next;
  server_log(s, record);
  c->phase = PHASE_WAITING;
}

// The GPU has stopped it, or its last work-groups had begun and have ended: then its stream goes on.
static stretto_status_t look_at_packet(server_t* s, int* progress) {
  current_t* c = &s->current;
  if (!s->own->api->event_query(s->own, &c->stopped)) return STRETTO_OK;
  *progress = 1;
  if (!c->tenant->driver->api->event_query(c->tenant->driver, &c->event)) {
    wait_again(s, 0);
    c->phase = PHASE_HELD;
    return STRETTO_OK;
  }
  TRY(server_try(s, s->own->api->resume(s->own, s->stream, c->tenant->stream)));
  end_current(s, 0);
  return STRETTO_OK;
}

// What the GPU has told of the kernel.
static stretto_status_t look(server_t* s, int* progress) {
  current_t* c = &s->current;
  const phase_t before = c->phase;
  const int by_packets = before == PHASE_STOPPING && s->p->mode == TALLY_UNMODIFIED;
  if (by_packets) return look_at_packet(s, progress);
  const int is_on_gpu = before == PHASE_RUNNING || before == PHASE_STOPPING;
  if (is_on_gpu && c->tenant->driver->api->event_query(c->tenant->driver, &c->event)) {
    *progress = 1;
    note_run(s);
    if (before == PHASE_STOPPING) return read_next(s);
    if (c->configuration.form == STRETTO_FORM_SLICE && c->first < c->item.work_groups) {
      wait_again(s, 0);
    } else {
      end_current(s, 0);
    }
    return STRETTO_OK;
  }
  if (before == PHASE_READING && s->own->api->event_query(s->own, &c->stopped)) {
    *progress = 1;
    stretto_task_control_t control;
    s->ops->read(s->ops->context, next_place(s), &control, sizeof control);
    if (control.next >= c->item.work_groups)
      end_current(s, control.next);
    else
      wait_again(s, control.next);
  }
  return STRETTO_OK;
}

static int can_stop(const server_t* s) {
  return s->p->mode == TALLY_UNMODIFIED || s->current.configuration.form == STRETTO_FORM_PREEMPT;
}

stretto_status_t schedule(server_t* s, int* progress, uint64_t* until_ns) {
  current_t* c = &s->current;
  if (c->phase != PHASE_NONE) TRY(look(s, progress));
  TRY(submit_others(s, progress));
  if (c->phase == PHASE_NONE) take_next(s, progress);
  if (c->phase == PHASE_NONE || c->phase == PHASE_READING) return STRETTO_OK;
  const int is_on_gpu = c->phase == PHASE_RUNNING || c->phase == PHASE_STOPPING;
  const tally_situation_t situation = {
      .now_ns = server_now(s),
      .high_active = s->high_active,
      .high_idle_since_ns = s->high_idle_since_ns,
      .waiting = !is_on_gpu,
      .in_flight = is_on_gpu,
      .can_stop = is_on_gpu && can_stop(s),
      .stopping = c->phase == PHASE_STOPPING,
  };
  const tally_decision_t decision = tally_decide(&s->p->policy, &situation);
  *until_ns = decision.until_ns;
  if (decision.action == TALLY_HOLD) return STRETTO_OK;
  *progress = 1;
  if (decision.action == TALLY_STOP) return stop(s);
  if (c->phase == PHASE_HELD) return go_on(s);
  return start(s, decision.action == TALLY_START_ORIGINAL);
}

int schedule_word(const server_t* s, stretto_host_word_t* word) {
  const current_t* c = &s->current;
  switch (c->phase) {
    case PHASE_STOPPING:
      if (s->p->mode != TALLY_UNMODIFIED) break;
      *word = s->own->api->event_word(s->own, &c->stopped);
      return 1;
    case PHASE_READING: *word = s->own->api->event_word(s->own, &c->stopped); return 1;
    case PHASE_RUNNING: break;
    default: return 0;
  }
  *word = c->tenant->driver->api->event_word(c->tenant->driver, &c->event);
  return 1;
}
