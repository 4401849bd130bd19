// SPDX-License-Identifier: Apache-2.0
// See tenant_port.h.
#include "sw/apps/tenants/tenant_port.h"

#include <string.h>

#include "sw/apps/ranks.h"

static int is_direct(const tenant_port_t* port) { return port->channel_address == 0; }

// Sends a message and takes its answer.
static stretto_status_t ask(tenant_port_t* port, const tally_message_t* message,
                            const void* payload, tally_reply_t* reply) {
  *reply = tally_call(&port->channel, message, payload);
  return (stretto_status_t)reply->status;
}

stretto_status_t tenant_open(tenant_port_t* port, const stretto_host_ops_t* ops,
                             uint64_t channel_address, tally_priority_t priority,
                             const stretto_client_options_t* options, uint32_t stream_priority) {
  *port = (tenant_port_t){.ops = ops, .channel_address = channel_address};
  if (!is_direct(port)) {
    port->channel = tally_attach(ops, channel_address, priority);
    return STRETTO_OK;
  }
  port->client = stretto_client_create(options, ops);
  if (port->client == NULL) return STRETTO_ERROR_STATE;
  const stretto_api_t* api = port->client->api;
  TRY(api->stream_create(port->client, &port->stream));
  if (stream_priority == 0) return STRETTO_OK;
  return api->stream_priority(port->client, port->stream, stream_priority);
}

stretto_status_t tenant_share(tenant_port_t* port, const stretto_share_t* share) {
  return port->client->api->share(port->client, port->stream, share);
}

stretto_status_t tenant_time_slice(tenant_port_t* port, const uint32_t* queues, uint32_t count,
                                   uint64_t slice_ns, uint64_t save_bytes) {
  return port->client->api->time_slice(port->client, port->stream, queues, count, slice_ns,
                                       save_bytes);
}

stretto_status_t tenant_set_policy(tenant_port_t* port, const stretto_scheduler_policy_t* policy) {
  return port->client->api->scheduler_policy(port->client, port->stream, policy);
}

stretto_status_t tenant_allocate(tenant_port_t* port, uint64_t bytes, uint64_t alignment,
                                 uint32_t allocation, uint64_t* address) {
  if (is_direct(port))
    return port->client->api->allocate(port->client, port->stream, bytes, alignment, allocation,
                                       address);
  const tally_message_t message = {
      .operation = TALLY_MALLOC,
      .malloc = {.bytes = bytes, .alignment = alignment, .allocation = allocation}};
  tally_reply_t reply;
  TRY(ask(port, &message, NULL, &reply));
  *address = reply.value[0];
  return STRETTO_OK;
}

stretto_status_t tenant_clear(tenant_port_t* port, uint64_t address, uint64_t bytes,
                              uint32_t account) {
  if (is_direct(port))
    return port->client->api->fill(port->client, port->stream, address, bytes, 0, account);
  const tally_message_t message = {.operation = TALLY_FILL,
                                   .fill = {.address = address, .bytes = bytes}};
  tally_reply_t reply;
  return ask(port, &message, NULL, &reply);
}

stretto_status_t tenant_load(tenant_port_t* port, uint32_t file, const void* elf, size_t bytes) {
  if (is_direct(port))
    return port->client->api->module_load(port->client, elf, bytes, &port->module[file]);
  if (bytes > TALLY_BULK_BYTES) {
    strcpy(port->error, "a library is larger than the channel's bulk");
    return STRETTO_ERROR_ARGUMENT;
  }
  tally_bulk_write(&port->channel, 0, elf, bytes);
  const tally_message_t message = {.operation = TALLY_LIBRARY_LOAD,
                                   .library_load = {.bulk = 0, .bytes = bytes}};
  tally_reply_t reply;
  return ask(port, &message, NULL, &reply);
}

stretto_status_t tenant_find(tenant_port_t* port, uint32_t file, const char* name,
                             tenant_kernel_t* kernel) {
  if (is_direct(port))
    return port->client->api->module_kernel(port->client, port->module[file], name,
                                            &kernel->kernel);
  const tally_message_t message = {.operation = TALLY_KERNEL,
                                   .payload_bytes = (uint32_t)strlen(name) + 1,
                                   .kernel = {.library = file}};
  tally_reply_t reply;
  TRY(ask(port, &message, name, &reply));
  kernel->number = reply.value[0];
  return STRETTO_OK;
}

stretto_status_t tenant_launch(tenant_port_t* port, const tenant_work_t* work) {
  if (is_direct(port)) {
    const stretto_launch_t launch = {.kernel = &work->kernel->kernel,
                                     .arguments = work->arguments,
                                     .argument_bytes = work->argument_bytes,
                                     .work_groups = work->work_groups,
                                     .account = work->account,
                                     .device_scope = !work->read_by_host,
                                     .after_all_earlier = 1};
    return port->client->api->launch(port->client, port->stream, &launch);
  }
  const tally_message_t message = {.operation = TALLY_LAUNCH,
                                   .payload_bytes = work->argument_bytes,
                                   .launch = {.kernel = work->kernel->number,
                                              .grid_x = work->work_groups,
                                              .grid_y = 1,
                                              .grid_z = 1,
                                              .read_by_host = (uint32_t)work->read_by_host}};
  (void)tally_send(&port->channel, &message, work->arguments);  // What is wrong, the wait tells.
  return STRETTO_OK;
}

stretto_status_t tenant_wait(tenant_port_t* port) {
  if (is_direct(port)) return port->client->api->stream_synchronize(port->client, port->stream);
  const tally_message_t message = {.operation = TALLY_EVENT_RECORD};
  const uint64_t number = tally_send(&port->channel, &message, NULL);
  return (stretto_status_t)tally_event_wait(&port->channel, 0, number).status;
}

const char* tenant_error(tenant_port_t* port) {
  if (is_direct(port))
    return port->client == NULL ? "no driver client" : port->client->api->last_error(port->client);
  if (port->error[0] == '\0')
    port->ops->read(port->ops->context, port->channel_address + TALLY_ERROR_TEXT, port->error,
                    sizeof port->error - 1);
  return port->error;
}

void tenant_close(tenant_port_t* port) {
  if (!is_direct(port)) tally_detach(&port->channel);
  stretto_client_destroy(port->client);
}
