// SPDX-License-Identifier: Apache-2.0
// See tenant.h.
#include "sw/apps/tenants/tenant.h"

#include <stdio.h>
#include <stdlib.h>

// Words of a client, 64 bytes each, in the host memory of the job.
#define WORD_READY 0u     // 1: it is set up.
#define WORD_REQUESTS 8u  // Complete.
#define WORD_ENDED 16u    // So many ns it has taken, at least 1.
#define WORD_COUNT 24u    // Work-groups launched; of the first client alone.
#define WORD_LIMIT 0u     // Of the line behind those of clients: work-groups a window.

typedef struct tenant {
  const tenant_parameters_t* p;
  const stretto_host_ops_t* ops;
  tenant_result_t* result;
  tenant_port_t port;
  tenant_kernel_t* kernels;  // By number.
  uint64_t count;            // Work-groups launched.
  tenant_turn_t turn;
} tenant_t;

static uint64_t now_ns(const tenant_t* t) { return t->ops->now_ns(t->ops->context); }

static uint64_t word_at(uint32_t job_number, uint32_t client, uint32_t word) {
  const host_job_t job = {.number = job_number};
  return job_host_memory(&job) + 64ull * client + word;
}

static uint64_t word_of(const tenant_t* t, uint32_t client, uint32_t word) {
  return word_at(t->p->job, client, word);
}

void tenant_rate_place(tenant_rate_t* rate, uint32_t job) {
  rate->count_word = word_at(job, 0, WORD_COUNT);
  rate->ended_word = word_at(job, 0, WORD_ENDED);
  rate->limit_word = word_at(job, rate->clients, WORD_LIMIT);
}

static void tell(const tenant_t* t, uint32_t word, uint64_t value) {
  t->ops->store(t->ops->context, word_of(t, t->p->number, word), value);
}

static void tell_requests(const tenant_t* t) {
  t->result->messages = t->port.channel.messages;
  t->result->message_bytes = t->port.channel.bytes;
  tell(t, WORD_REQUESTS, t->result->requests);
}

static uint64_t wait_for(const tenant_t* t, uint32_t client, uint32_t word, uint64_t least) {
  return t->ops->wait(t->ops->context, word_of(t, client, word), STRETTO_WAIT_AT_LEAST, least);
}

static stretto_status_t set_up(tenant_t* t) {
  const tenant_parameters_t* p = t->p;
  TRY(tenant_open(&t->port, t->ops, p->by_server ? tally_channel_address(p->job, p->number) : 0,
                  p->priority, &p->client, p->stream_priority));
  if (p->share.high != 0) TRY(tenant_share(&t->port, &p->share));
  if (p->policy != NULL) TRY(tenant_set_policy(&t->port, p->policy));
  for (uint32_t i = 1; i < p->memory.ranges; ++i) {
    const memory_range_t* range = &p->memory.range[i];
    uint64_t address = 0;
    TRY(tenant_allocate(&t->port, range->bytes, p->memory.alignment, range->allocation, &address));
    if (address != stretto_gpu_address(p->memory.gpu, range->base)) return STRETTO_ERROR_STATE;
  }
  const memory_range_t* cleared = &p->memory.range[TENANT_CLEARED];
  TRY(tenant_clear(&t->port, stretto_gpu_address(p->memory.gpu, cleared->base), cleared->bytes,
                   STRETTO_ACCOUNT_OTHER));
  for (uint32_t i = 0; i < p->files; ++i)
    TRY(tenant_load(&t->port, i, p->file[i].elf, p->file[i].bytes));
  uint32_t found = 0;
  for (uint32_t i = 0; i < p->step_count; ++i) {
    const tenant_step_t* step = &p->steps[i];
    if (step->number != found) continue;
    TRY(tenant_find(&t->port, step->file, step->kernel, &t->kernels[found++]));
  }
  TRY(tenant_wait(&t->port));
  if (p->contexts == 0) return STRETTO_OK;
  TRY(tenant_time_slice(&t->port, p->context, p->contexts, p->slice_ns, p->save_bytes));
  return tenant_wait(&t->port);
}

// Whether a client that has no number of its own goes on.
static int goes_on(const tenant_t* t) {
  const tenant_parameters_t* p = t->p;
  if (p->requests != 0) return 1;
  uint64_t ended = 0;
  t->ops->read(t->ops->context, word_of(t, 0, WORD_ENDED), &ended, sizeof ended);
  return p->alone ? now_ns(t) - t->result->begin_ns < ended : ended == 0;
}

// 0: the run has ended meanwhile.
static int may_launch(tenant_t* t, uint32_t work_groups) {
  const tenant_parameters_t* p = t->p;
  if (p->rate == NULL) return 1;
  if (p->number != 0) return tenant_rate_wait(p->rate, t->ops, &t->turn, p->number, work_groups);
  tenant_rate_count(p->rate, t->ops, &t->count, work_groups);
  return 1;
}

// 1: it was cut short.
static stretto_status_t run_request(tenant_t* t, int* is_cut) {
  const tenant_parameters_t* p = t->p;
  for (uint32_t i = 0; i < p->step_count; ++i) {
    const tenant_step_t* step = &p->steps[i];
    if (!goes_on(t) || !may_launch(t, step->work_groups)) {
      t->result->steps = i;
      *is_cut = 1;
      break;
    }
    const uint64_t host_ns = (uint64_t)step->host_ns + p->host_ns;
    if (host_ns != 0) t->ops->charge_cpu_ns(t->ops->context, host_ns);
    const tenant_work_t work = {.kernel = &t->kernels[step->number],
                                .arguments = step->arguments,
                                .argument_bytes = step->argument_bytes,
                                .work_groups = step->work_groups,
                                .account = p->priority == TALLY_HIGH_PRIORITY
                                               ? TENANT_ACCOUNT_HIGH
                                               : TENANT_ACCOUNT_BEST_EFFORT,
                                .read_by_host = i + 1 == p->step_count};
    TRY(tenant_launch(&t->port, &work));
  }
  return tenant_wait(&t->port);
}

// Whether another request begins that may do so at `at_ns`.
static int begins(const tenant_t* t, uint64_t at_ns) {
  const tenant_parameters_t* p = t->p;
  return p->time_ns == 0 || t->result->requests < p->least_requests ||
         at_ns < t->result->begin_ns + p->time_ns;
}

static void wait_until(const tenant_t* t, uint64_t at_ns) {
  if (now_ns(t) < at_ns) t->ops->wait_any(t->ops->context, NULL, 0, at_ns);
}

static stretto_status_t run(tenant_t* t) {
  const tenant_parameters_t* p = t->p;
  tenant_result_t* r = t->result;
  TRY(set_up(t));
  tell(t, WORD_READY, 1);
  for (uint32_t i = 0; i < p->clients; ++i) wait_for(t, i, WORD_READY, 1);
  if (p->alone && p->number > 0) wait_for(t, p->number - 1, WORD_ENDED, 1);
  for (uint32_t i = 0; i < p->clients && !p->alone && p->requests != 0; ++i)
    if (i != p->number) wait_for(t, i, WORD_REQUESTS, p->lead);
  r->begin_ns = now_ns(t);
  const uint32_t most = p->requests != 0 ? p->requests : p->most_requests;
  int is_cut = 0;
  while (r->requests < most && !is_cut && goes_on(t)) {
    tenant_request_t one = {.arrival_ns = now_ns(t)};
    if (p->arrival_ns != NULL) one.arrival_ns = r->begin_ns + p->arrival_ns[r->requests];
    if (!begins(t, one.arrival_ns > now_ns(t) ? one.arrival_ns : now_ns(t))) break;
    wait_until(t, one.arrival_ns);
    one.begin_ns = now_ns(t);
    TRY(run_request(t, &is_cut));
    one.end_ns = now_ns(t);
    if (is_cut) {
      r->cut_begin_ns = one.begin_ns;
      break;
    }
    r->request[r->requests++] = one;
    tell_requests(t);
  }
  r->end_ns = now_ns(t);
  tell(t, WORD_ENDED, r->end_ns - r->begin_ns + 1);
  return STRETTO_OK;
}

stretto_status_t tenant_run(const tenant_parameters_t* p, const stretto_host_ops_t* ops,
                            tenant_result_t* result, char* error) {
  tenant_t t = {.p = p, .ops = ops, .result = result};
  t.kernels = calloc(p->kernel_count, sizeof *t.kernels);
  if (t.kernels == NULL) {
    snprintf(error, 256, "client %u: no host memory", p->number);
    return STRETTO_ERROR_STATE;
  }
  const stretto_status_t status = run(&t);
  if (status != STRETTO_OK)
    snprintf(error, 256, "client %u: %s: %s", p->number, stretto_status_text(status),
             tenant_error(&t.port));
  result->messages = t.port.channel.messages;
  result->message_bytes = t.port.channel.bytes;
  tenant_close(&t.port);
  free(t.kernels);
  return status;
}
