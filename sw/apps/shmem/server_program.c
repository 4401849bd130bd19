// SPDX-License-Identifier: Apache-2.0
#include "sw/apps/shmem/server_program.h"

#include <stdio.h>

#include "sw/apps/ranks.h"

static stretto_status_t open_gpu(server_program_t* server) {
  const server_parameters_t* p = server->p;
  const stretto_api_t* api = server->client->api;
  stretto_module_t* module;
  TRY(api->stream_create(server->client, &server->stream));
  TRY(memory_plan_allocate(&p->memory, server->client, server->stream));
  TRY(api->module_load(server->client, p->elf, p->elf_bytes, &module));
  TRY(api->module_kernel(server->client, module, p->kernel, &server->kernel));
  return api->stream_synchronize(server->client, server->stream);
}

static stretto_status_t join(server_program_t* server) {
  if (server->p->kernel != NULL) TRY(open_gpu(server));
  stretto_cluster_options_t options = server->p->cluster;
  options.ops = server->ops;
  return of_cluster(stretto_cluster_join(&server->cluster, &options));
}

stretto_status_t server_program_run(server_program_t* server, const server_parameters_t* p,
                                    const stretto_host_ops_t* ops,
                                    stretto_status_t (*body)(void* of_body), void* of_body,
                                    char* error) {
  *server =
      (server_program_t){.p = p, .ops = ops, .client = stretto_client_create(&p->client, ops)};
  if (server->client == NULL) {
    snprintf(error, 256, "server %u: no driver client", p->cluster.server);
    return STRETTO_ERROR_STATE;
  }
  stretto_status_t status = join(server);
  if (status == STRETTO_OK) status = body(of_body);
  if (status != STRETTO_OK)
    snprintf(error, 256, "server %u: %s", p->cluster.server,
             server->cluster.error[0] != '\0' ? server->cluster.error
                                              : server->client->api->last_error(server->client));
  stretto_client_destroy(server->client);
  return status;
}

stretto_status_t server_program_launch(server_program_t* server, const void* arguments,
                                       size_t argument_bytes) {
  const stretto_launch_t launch = {.kernel = &server->kernel,
                                   .arguments = arguments,
                                   .argument_bytes = argument_bytes,
                                   .work_groups = server->p->work_groups,
                                   .account = STRETTO_ACCOUNT_OTHER,
                                   .after_all_earlier = 1};
  return server->client->api->launch(server->client, server->stream, &launch);
}
