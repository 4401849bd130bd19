// SPDX-License-Identifier: Apache-2.0
// See interference.h.
#include "sw/apps/interference.h"

#include "sw/apps/over_nccl.h"
#include "sw/kernels/kernel_arguments.h"

static uint64_t now_ns(const stretto_host_ops_t* ops) { return ops->now_ns(ops->context); }

#define TRY_DRIVER(call) TRY(app_driver(client, p->rank, call, error))

#define PROBE_FACTOR 4u  // From the kernel's shortest run to the other one.

typedef struct interference {
  const interference_parameters_t* p;
  const stretto_host_ops_t* ops;
  interference_result_t* result;
  ranks_t ranks;
  void *block, *gathered;
  cudaStream_t kernels, gathers;
  ncclComm_t comm;
  stretto_client_t* client;
  stretto_stream_t* stream;
  stretto_kernel_t kernel;
  uint64_t loaded;
  uint64_t clocks;  // Of the next kernel.
} interference_t;

static stretto_status_t set_up(interference_t* g, ncclUniqueId* id, char* error) {
  const interference_parameters_t* p = g->p;
  TRY(app_memory(&p->job, p->rank, p->block_bytes * (p->ranks + 1), p->source, &g->block, error));
  g->gathered = (void*)((uintptr_t)g->block + p->block_bytes);
  TRY_CALL(cudaStreamCreate(&g->kernels));
  TRY_CALL(cudaStreamCreate(&g->gathers));
  TRY(app_communicator(&g->ranks, id, &g->comm, error));
  g->stream = stretto_runtime_stream(g->kernels, &g->client);
  stretto_client_t* const client = g->client;
  stretto_module_t* module = NULL;
  TRY_DRIVER(client->api->module_load(client, p->load_elf, p->load_elf_bytes, &module));
  TRY_DRIVER(client->api->module_kernel(client, module, p->kernel, &g->kernel));
  // Cached, whatever the engine needs for what it moves.
  const uint64_t kernels = INTERFERENCE_FIRST_KERNELS + 2 * p->lines;
  TRY_DRIVER(client->api->allocate(
      client, g->stream, p->load_bytes + kernels * INTERFERENCE_CLOCKS_BYTES(p->work_groups), 4096,
      STRETTO_ALLOCATION_CACHED, &g->loaded));
  g->clocks = g->loaded + p->load_bytes;
  g->result->loaded = g->loaded & STRETTO_OFFSET_MASK;
  return STRETTO_OK;
}

// When the kernel was launched, when the all-gather was asked for, their ends and that of both.
typedef struct turn_times {
  uint64_t kernel_begin, gather_begin, gather_end, end;
} turn_times_t;

// The kernel for so many rounds, an all-gather of so many bytes a rank; 0: none. The kernel first:
// it finds the GPU empty, the all-gather finds it full.
static stretto_status_t run_beside(interference_t* g, uint32_t rounds, uint64_t bytes,
                                   turn_times_t* times, char* error) {
  const interference_parameters_t* p = g->p;
  stretto_client_t* const client = g->client;
  const stretto_load_arguments_t arguments = {g->loaded, p->load_bytes, rounds, g->clocks};
  const stretto_launch_t launch = {.kernel = &g->kernel,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = p->work_groups,
                                   .account = INTERFERENCE_ACCOUNT_LOAD};
  ranks_barrier(&g->ranks);
  times->kernel_begin = now_ns(g->ops);
  if (rounds != 0) {
    TRY_DRIVER(client->api->launch(client, g->stream, &launch));
    g->clocks += INTERFERENCE_CLOCKS_BYTES(p->work_groups);
  }
  times->gather_begin = now_ns(g->ops);
  if (bytes != 0)
    TRY_COMM(ncclAllGather(g->block, g->gathered, bytes, ncclInt8, g->comm, g->gathers));
  TRY_CALL(cudaStreamSynchronize(g->gathers));
  times->gather_end = now_ns(g->ops);
  TRY_CALL(cudaStreamSynchronize(g->kernels));
  times->end = now_ns(g->ops);
  return STRETTO_OK;
}

static stretto_status_t run_turn(interference_t* g, uint32_t i, interference_turn_t turn,
                                 uint32_t rounds, uint64_t bytes, char* error) {
  turn_times_t times = {0};
  TRY(run_beside(g, rounds, bytes, &times, error));
  g->result->gather_begin_ns[i][turn] = times.gather_begin;
  g->result->gather_end_ns[i][turn] = times.gather_end;
  return STRETTO_OK;
}

// A round takes `round_ns`.
static stretto_status_t run_line(interference_t* g, uint32_t i, double round_ns, char* error) {
  const interference_parameters_t* p = g->p;
  interference_result_t* r = g->result;
  const uint64_t bytes = p->line[i].block_bytes;
  TRY(run_turn(g, i, INTERFERENCE_GATHER, 0, bytes, error));
  const uint64_t alone =
      r->gather_end_ns[i][INTERFERENCE_GATHER] - r->gather_begin_ns[i][INTERFERENCE_GATHER];
  const double rounds = (double)(alone * p->line[i].percent / 100) / round_ns + 0.5;
  r->rounds[i] = rounds < 1 ? 1 : (uint32_t)rounds;
  ranks_barrier(&g->ranks);
  TRY(run_turn(g, i, INTERFERENCE_KERNEL, p->first->rounds[i], 0, error));
  return run_turn(g, i, INTERFERENCE_BOTH, p->first->rounds[i], bytes, error);
}

static stretto_status_t run(interference_t* g, char* error) {
  const interference_parameters_t* p = g->p;
  turn_times_t times = {0};
  TRY(run_beside(g, p->rounds, p->line[0].block_bytes, &times, error));
  TRY(run_beside(g, p->rounds, 0, &times, error));
  const uint64_t least_ns = times.end - times.kernel_begin;
  TRY(run_beside(g, PROBE_FACTOR * p->rounds, 0, &times, error));
  const uint64_t ns = times.end - times.kernel_begin;
  const double more_ns = ns > least_ns ? (double)(ns - least_ns) : 1;
  const double round_ns = more_ns / ((PROBE_FACTOR - 1) * p->rounds);
  for (uint32_t i = 0; i < p->lines; ++i) TRY(run_line(g, i, round_ns, error));
  return stretto_runtime_outcome(ncclCommDestroy(g->comm), error);
}

stretto_status_t interference_rank(const interference_parameters_t* p,
                                   const stretto_host_ops_t* ops, ncclUniqueId* id,
                                   interference_result_t* result, char* error) {
  interference_t g = {
      .p = p,
      .ops = ops,
      .result = result,
      .ranks = {
          .ops = ops, .job = p->job, .rank = p->rank, .ranks = p->ranks, .host_ranks = p->ranks}};
  TRY(set_up(&g, id, error));
  return run(&g, error);
}
