// SPDX-License-Identifier: Apache-2.0
// See kernel_list.h.
#include "sw/apps/kernel_list.h"

#include <stdio.h>

#include "sw/apps/ranks.h"

static stretto_status_t start(const kernel_list_entry_t* one, stretto_client_t* client,
                              stretto_stream_t* stream, const stretto_module_t* module) {
  const stretto_api_t* api = client->api;
  const kernel_list_copy_t* copy = one->arguments;
  if (one->kernel == NULL)
    return api->copy(client, stream, copy->to, copy->from, copy->bytes, one->account);
  stretto_kernel_t kernel;
  TRY(api->module_kernel(client, module, one->kernel, &kernel));
  const stretto_launch_t launch = {.kernel = &kernel,
                                   .arguments = one->arguments,
                                   .argument_bytes = one->argument_bytes,
                                   .work_groups = one->work_groups,
                                   .account = one->account,
                                   .device_scope = one->device_scope,
                                   .system_acquire = one->cold,
                                   .after_all_earlier = 1};
  return api->launch(client, stream, &launch);
}

static stretto_status_t run(const kernel_list_parameters_t* p, ranks_t* ranks,
                            stretto_client_t* client, kernel_list_span_t* spans) {
  const stretto_api_t* api = client->api;
  stretto_stream_t* stream = NULL;
  TRY(api->stream_create(client, &stream));
  TRY(memory_plan_allocate(&p->memory, client, stream));
  const memory_range_t* words = &p->memory.range[KERNEL_LIST_WORDS];
  TRY(api->fill(client, stream, stretto_gpu_address(p->memory.gpu, words->base), words->bytes, 0,
                STRETTO_ACCOUNT_OTHER));
  if (p->peer_bytes > 0)
    TRY(api->remote_map(client, stream, p->peer_base, p->peer_bytes, p->peer_base, 0));
  stretto_module_t* module = NULL;
  TRY(api->module_load(client, p->elf, p->elf_bytes, &module));
  int first = 1;
  for (uint32_t i = 0; i < p->count; ++i) {
    if (first && p->ranks > 0) {
      TRY(api->stream_synchronize(client, stream));
      TRY(ranks_meet(ranks, 1));
    }
    if (first && spans != NULL) spans[i].begin_ns = ranks->ops->now_ns(ranks->ops->context);
    if (!first && spans != NULL) spans[i].begin_ns = spans[i - 1].begin_ns;
    TRY(start(&p->entries[i], client, stream, module));
    first = !p->entries[i].queued;
    if (!first) continue;
    TRY(api->stream_synchronize(client, stream));
    if (spans != NULL) spans[i].end_ns = ranks->ops->now_ns(ranks->ops->context);
  }
  return STRETTO_OK;
}

stretto_status_t kernel_list_run(const kernel_list_parameters_t* p, const stretto_host_ops_t* ops,
                                 kernel_list_span_t* spans, char* error) {
  ranks_t ranks = {
      .ops = ops, .job = p->job, .rank = p->rank, .ranks = p->ranks, .host_ranks = p->ranks};
  stretto_client_t* client = stretto_client_create(&p->client, ops);
  if (client == NULL) {
    snprintf(error, 256, "kernel list: no driver client");
    return STRETTO_ERROR_STATE;
  }
  const stretto_status_t status = run(p, &ranks, client, spans);
  if (status != STRETTO_OK)
    snprintf(error, 256, "kernel list: %s", client->api->last_error(client));
  stretto_client_destroy(client);
  return status;
}
