// SPDX-License-Identifier: Apache-2.0
// See one_sided.h.
#include "sw/apps/shmem/one_sided.h"

#include <stdio.h>

#include "sw/apps/ranks.h"

#define QUIET_NS 20000u  // Behind a barrier, until the links carry nothing of it.

typedef struct run {
  const one_sided_parameters_t* p;
  stretto_cluster_t cluster;
  one_sided_result_t* result;
  char* error;
} run_t;

static stretto_status_t fail(run_t* run, const char* what) {
  snprintf(run->error, 256, "server %u: %s", run->p->cluster.server, what);
  return STRETTO_ERROR_STATE;
}

static stretto_status_t meet(run_t* run) {
  if (stretto_cluster_barrier(&run->cluster) != STRETTO_NIC_RESULT_OK)
    return fail(run, run->cluster.error);
  return STRETTO_OK;
}

static stretto_status_t post(run_t* run, uint32_t size, uint32_t round) {
  const one_sided_parameters_t* p = run->p;
  const uint32_t self = p->cluster.server;
  const int is_get = p->opcode == STRETTO_NIC_GET;
  const stretto_nic_work_entry_t entry = {
      .opcode = p->opcode,
      .id = one_sided_id(size, round),
      .local_address =
          stretto_cluster_at(&run->cluster, self, is_get ? p->to[size] : p->from[size]),
      .remote_address =
          stretto_cluster_at(&run->cluster, p->peer, is_get ? p->from[size] : p->to[size]),
      .length = p->bytes[size],
      .local_key = run->cluster.heap_key,
      .remote_key = run->cluster.peer[p->peer].heap_key,
  };
  if (stretto_cluster_post(&run->cluster, p->peer, &entry) != STRETTO_NIC_RESULT_OK)
    return fail(run, "the ring is full");
  return STRETTO_OK;
}

static stretto_status_t wait(run_t* run, uint32_t size) {
  stretto_nic_completion_t completion;
  stretto_cluster_wait(&run->cluster, &completion);
  if (completion.status == STRETTO_NIC_OK && completion.bytes == run->p->bytes[size]) {
    ++run->result->operations;
    return STRETTO_OK;
  }
  char what[128];
  snprintf(what, sizeof what, "%u B to server %u: %s", run->p->bytes[size], run->p->peer,
           completion.status == STRETTO_NIC_OK ? "not all have been moved"
                                               : stretto_nic_status_text(completion.status));
  return fail(run, what);
}

static stretto_status_t measure_latency(run_t* run, uint32_t size) {
  const one_sided_parameters_t* p = run->p;
  for (uint32_t round = 0; round < p->rounds; ++round) {
    p->note(p->note_context, size, round, ONE_SIDED_CALL);
    TRY(post(run, size, round));
    p->note(p->note_context, size, round, ONE_SIDED_POSTED);
    TRY(wait(run, size));
    p->note(p->note_context, size, round, ONE_SIDED_NOTICED);
  }
  return STRETTO_OK;
}

static stretto_status_t measure_rate(run_t* run, uint32_t size) {
  const one_sided_parameters_t* p = run->p;
  const stretto_host_ops_t* ops = run->cluster.options.ops;
  const uint64_t begin = ops->now_ns(ops->context);
  for (uint32_t posted = 0, ended = 0; ended < p->messages[size];) {
    if (posted < p->messages[size] && posted - ended < p->window) {
      TRY(post(run, size, p->rounds + posted));
      ++posted;
      continue;
    }
    TRY(wait(run, size));
    ++ended;
  }
  run->result->rate_ns[size] = ops->now_ns(ops->context) - begin;
  return STRETTO_OK;
}

static stretto_status_t run_all(run_t* run) {
  const one_sided_parameters_t* p = run->p;
  const stretto_host_ops_t* ops = run->cluster.options.ops;
  for (uint32_t size = 0; size < p->sizes; ++size) {
    TRY(meet(run));
    if (!p->acts) continue;
    ops->charge_cpu_ns(ops->context, QUIET_NS);
    TRY(measure_latency(run, size));
    if (p->messages[size] != 0) TRY(measure_rate(run, size));
  }
  return meet(run);
}

stretto_status_t one_sided_run(const one_sided_parameters_t* p, const stretto_host_ops_t* ops,
                               one_sided_result_t* result, char* error) {
  run_t run = {.p = p, .result = result, .error = error};
  *result = (one_sided_result_t){0};
  stretto_cluster_options_t options = p->cluster;
  options.ops = ops;
  if (stretto_cluster_join(&run.cluster, &options) != STRETTO_NIC_RESULT_OK)
    return fail(&run, run.cluster.error);
  return run_all(&run);
}
