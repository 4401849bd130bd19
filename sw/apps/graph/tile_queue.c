// SPDX-License-Identifier: Apache-2.0
// See tile_queue.h.
#include "sw/apps/graph/tile_queue.h"

#include <stdio.h>

#include "sw/apps/ranks.h"

static stretto_status_t fill(const tile_queue_parameters_t* p, stretto_client_t* client,
                             stretto_stream_t* stream, uint32_t range, uint64_t pattern) {
  const memory_range_t* what = &p->memory.range[range];
  return client->api->fill(client, stream, stretto_gpu_address(p->memory.gpu, what->base),
                           what->bytes, pattern, STRETTO_ACCOUNT_OTHER);
}

static stretto_status_t run(const tile_queue_parameters_t* p, stretto_client_t* client) {
  const stretto_api_t* api = client->api;
  stretto_stream_t* stream = NULL;
  TRY(api->stream_create(client, &stream));
  TRY(memory_plan_allocate(&p->memory, client, stream));
  TRY(fill(p, client, stream, TILE_QUEUE_WORDS, 0));
  TRY(fill(p, client, stream, TILE_QUEUE_DIFFERENCES, ~0ull));
  stretto_module_t* module = NULL;
  stretto_kernel_t kernel, free;
  TRY(api->module_load(client, p->elf, p->elf_bytes, &module));
  TRY(api->module_kernel(client, module, "tile_queue_pairs", &kernel));
  TRY(api->module_kernel(client, module, "tile_queue_pairs_free", &free));
  TRY(api->set_persisting_l2_cache_size(client, stream, p->limit));
  for (uint32_t i = 0; i < p->count; ++i) {
    const tile_queue_line_t* line = &p->lines[i];
    const tile_queue_t* queue = &line->arguments.queue;
    const stretto_launch_t launch = {.kernel = line->is_free ? &free : &kernel,
                                     .arguments = &line->arguments,
                                     .argument_bytes = sizeof line->arguments,
                                     .work_groups = 2 * line->pairs,
                                     .account = TILE_QUEUE_ACCOUNT,
                                     .after_all_earlier = 1};
    if (p->limit != 0) {
      TRY(api->access_policy_window(client, stream, queue->payloads, line->payloads_bytes, 1));
      TRY(api->access_policy_window(client, stream, queue->words, line->words_bytes, 1));
    }
    TRY(api->launch(client, stream, &launch));
    TRY(api->reset_persisting_l2_cache(client, stream));
    TRY(api->stream_synchronize(client, stream));
  }
  return STRETTO_OK;
}

stretto_status_t tile_queue_run(const tile_queue_parameters_t* p, const stretto_host_ops_t* ops,
                                char* error) {
  stretto_client_t* client = stretto_client_create(&p->client, ops);
  if (client == NULL) {
    snprintf(error, 256, "tile_queue: no driver client");
    return STRETTO_ERROR_STATE;
  }
  const stretto_status_t status = run(p, client);
  if (status != STRETTO_OK) snprintf(error, 256, "tile_queue: %s", client->api->last_error(client));
  stretto_client_destroy(client);
  return status;
}
