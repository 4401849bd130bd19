// SPDX-License-Identifier: Apache-2.0
// See kernel_list.h.
#include "sw/apps/kernel_list.h"

#include <stdio.h>

#include "sw/apps/ranks.h"

static stretto_status_t run(const kernel_list_parameters_t* p, stretto_client_t* client) {
  const stretto_api_t* api = client->api;
  stretto_stream_t* stream = NULL;
  TRY(api->stream_create(client, &stream));
  TRY(memory_plan_allocate(&p->memory, client, stream));
  const memory_range_t* words = &p->memory.range[KERNEL_LIST_WORDS];
  TRY(api->fill(client, stream, stretto_gpu_address(p->memory.gpu, words->base), words->bytes, 0,
                STRETTO_ACCOUNT_OTHER));
  stretto_module_t* module = NULL;
  TRY(api->module_load(client, p->elf, p->elf_bytes, &module));
  for (uint32_t i = 0; i < p->count; ++i) {
    const kernel_list_entry_t* one = &p->entries[i];
    stretto_kernel_t kernel;
    TRY(api->module_kernel(client, module, one->kernel, &kernel));
    const stretto_launch_t launch = {.kernel = &kernel,
                                     .arguments = one->arguments,
                                     .argument_bytes = one->argument_bytes,
                                     .work_groups = one->work_groups,
                                     .account = one->account,
                                     .device_scope = one->device_scope,
                                     .after_all_earlier = 1};
    TRY(api->launch(client, stream, &launch));
    if (!one->queued) TRY(api->stream_synchronize(client, stream));
  }
  return STRETTO_OK;
}

stretto_status_t kernel_list_run(const kernel_list_parameters_t* p, const stretto_host_ops_t* ops,
                                 char* error) {
  stretto_client_t* client = stretto_client_create(&p->client, ops);
  if (client == NULL) {
    snprintf(error, 256, "kernel list: no driver client");
    return STRETTO_ERROR_STATE;
  }
  const stretto_status_t status = run(p, client);
  if (status != STRETTO_OK)
    snprintf(error, 256, "kernel list: %s", client->api->last_error(client));
  stretto_client_destroy(client);
  return status;
}
