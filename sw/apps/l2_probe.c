// SPDX-License-Identifier: Apache-2.0
// See l2_probe.h.
#include "sw/apps/l2_probe.h"

#include <stdio.h>

#include "sw/apps/ranks.h"

static stretto_status_t run(const l2_probe_parameters_t* p, stretto_client_t* client) {
  const stretto_api_t* api = client->api;
  stretto_stream_t* stream = NULL;
  TRY(api->stream_create(client, &stream));
  TRY(memory_plan_allocate(&p->memory, client, stream));
  const memory_range_t* words = &p->memory.range[L2_PROBE_WORDS];
  TRY(api->fill(client, stream, stretto_gpu_address(p->memory.gpu, words->base), words->bytes, 0,
                STRETTO_ACCOUNT_OTHER));
  stretto_module_t* module = NULL;
  TRY(api->module_load(client, p->elf, p->elf_bytes, &module));
  for (uint32_t i = 0; i < p->count; ++i) {
    const l2_probe_launch_t* one = &p->launches[i];
    stretto_kernel_t kernel;
    TRY(api->module_kernel(client, module, one->kernel, &kernel));
    const stretto_launch_t launch = {.kernel = &kernel,
                                     .arguments = one->arguments,
                                     .argument_bytes = one->argument_bytes,
                                     .work_groups = one->work_groups,
                                     .account = one->account,
                                     .after_all_earlier = 1};
    TRY(api->launch(client, stream, &launch));
    TRY(api->stream_synchronize(client, stream));
  }
  return STRETTO_OK;
}

stretto_status_t l2_probe_run(const l2_probe_parameters_t* p, const stretto_host_ops_t* ops,
                              char* error) {
  stretto_client_t* client = stretto_client_create(&p->client, ops);
  if (client == NULL) {
    snprintf(error, 256, "l2_probe: no driver client");
    return STRETTO_ERROR_STATE;
  }
  const stretto_status_t status = run(p, client);
  if (status != STRETTO_OK) snprintf(error, 256, "l2_probe: %s", client->api->last_error(client));
  stretto_client_destroy(client);
  return status;
}
