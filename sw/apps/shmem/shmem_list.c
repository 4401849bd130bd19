// SPDX-License-Identifier: Apache-2.0
// See shmem_list.h.
#include "sw/apps/shmem/shmem_list.h"

#include <stdio.h>
#include <string.h>

#include "sw/apps/ranks.h"

typedef struct run {
  const shmem_list_parameters_t* p;
  const stretto_host_ops_t* ops;
  stretto_client_t* client;
  stretto_stream_t* stream;
  stretto_module_t* module;
  stretto_symmetric_t symmetric;
} run_t;

static stretto_status_t open_memory(run_t* run) {
  stretto_symmetric_options_t options = run->p->symmetric;
  const stretto_api_t* api = run->client->api;
  TRY(api->stream_create(run->client, &run->stream));
  TRY(memory_plan_allocate(&run->p->memory, run->client, run->stream));
  TRY(api->module_load(run->client, run->p->elf, run->p->elf_bytes, &run->module));
  options.cluster.ops = run->ops;
  options.client = run->client;
  options.stream = run->stream;
  return stretto_symmetric_open(&run->symmetric, &options);
}

static stretto_status_t launch(run_t* run, uint32_t number) {
  const shmem_launch_t* one = &run->p->launches[number];
  shmem_span_t unused, *span = run->p->spans != NULL ? &run->p->spans[number] : &unused;
  const stretto_api_t* api = run->client->api;
  uint64_t arguments[SHMEM_LIST_ARGUMENT_BYTES / 8];
  stretto_kernel_t kernel;
  if (one->argument_bytes < sizeof run->symmetric.handle || one->argument_bytes > sizeof arguments)
    return STRETTO_ERROR_ARGUMENT;
  memcpy(arguments, one->arguments, one->argument_bytes);
  memcpy(arguments, &run->symmetric.handle, sizeof run->symmetric.handle);
  TRY(api->module_kernel(run->client, run->module, one->kernel, &kernel));
  const stretto_launch_t launch = {.kernel = &kernel,
                                   .arguments = arguments,
                                   .argument_bytes = one->argument_bytes,
                                   .work_groups = one->work_groups,
                                   .account = STRETTO_ACCOUNT_OTHER,
                                   .after_all_earlier = 1};
  run->ops->charge_cpu_ns(run->ops->context, SHMEM_LIST_QUIET_NS);
  span->begin_ns = run->ops->now_ns(run->ops->context);
  TRY(api->launch(run->client, run->stream, &launch));
  TRY(api->stream_synchronize(run->client, run->stream));
  span->end_ns = run->ops->now_ns(run->ops->context);
  return STRETTO_OK;
}

static stretto_status_t run_all(run_t* run) {
  TRY(open_memory(run));
  for (uint32_t i = 0; i < run->p->count; ++i) {
    TRY(stretto_symmetric_barrier(&run->symmetric));
    if (run->p->launches[i].work_groups != 0) TRY(launch(run, i));
  }
  TRY(stretto_symmetric_barrier(&run->symmetric));
  return stretto_symmetric_close(&run->symmetric);
}

stretto_status_t shmem_list_run(const shmem_list_parameters_t* p, const stretto_host_ops_t* ops,
                                char* error) {
  const uint32_t server = p->symmetric.cluster.server;
  run_t run = {.p = p, .ops = ops};
  run.client = stretto_client_create(&p->client, ops);
  if (run.client == NULL) {
    snprintf(error, 256, "server %u: no driver client", server);
    return STRETTO_ERROR_STATE;
  }
  const stretto_status_t status = run_all(&run);
  if (status != STRETTO_OK)
    snprintf(error, 256, "server %u: %s", server,
             run.symmetric.error[0] != '\0' ? run.symmetric.error
                                            : run.client->api->last_error(run.client));
  stretto_client_destroy(run.client);
  return status;
}
