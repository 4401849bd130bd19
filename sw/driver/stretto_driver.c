// SPDX-License-Identifier: Apache-2.0
// Host driver: see stretto_driver.h.
#include "sw/driver/stretto_driver.h"

#include <stdlib.h>

#include "sw/driver/internal.h"

// Streams and events

static stretto_status_t do_stream_create(stretto_client_t* client, stretto_stream_t** stream) {
  driver_call(client);
  if (client->streams == client->options.queue_count) {
    return driver_fail(client, STRETTO_ERROR_TABLE_FULL, "stream_create: all %u queues are in use",
                       client->streams);
  }
  stretto_stream_t* created = calloc(1, sizeof *created);
  if (created == NULL)
    return driver_fail(client, STRETTO_ERROR_TABLE_FULL, "stream_create: no host memory");
  created->queue = client->options.first_queue + client->streams;
  client->stream[client->streams++] = created;
  *stream = created;
  return STRETTO_OK;
}

static stretto_status_t do_stream_synchronize(stretto_client_t* client, stretto_stream_t* stream) {
  driver_call(client);
  const stretto_status_t released = driver_release_earlier(client, stream);
  if (released != STRETTO_OK) return released;
  while (stream->checked != stream->written && stream->error == STRETTO_OK) {
    driver_check_oldest(client, stream);
  }
  const stretto_status_t status = stream->error;
  stream->error = STRETTO_OK;
  return status;
}

static stretto_status_t do_event_record(stretto_client_t* client, stretto_stream_t* stream,
                                        stretto_event_t* event) {
  driver_call(client);
  *event = (stretto_event_t){.stream = stream, .packet = stream->written};
  return driver_put_barrier(client, stream);
}

static stretto_status_t do_event_synchronize(stretto_client_t* client,
                                             const stretto_event_t* event) {
  driver_call(client);
  if (event->packet >= event->stream->written)
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "event was never recorded");
  while (event->stream->checked <= event->packet) driver_check_oldest(client, event->stream);
  return STRETTO_OK;
}

static stretto_status_t do_event_of_last(stretto_client_t* client, stretto_stream_t* stream,
                                         stretto_event_t* event) {
  if (stream->written == 0)
    return driver_fail(client, STRETTO_ERROR_STATE, "event: nothing was submitted to queue %u",
                       stream->queue);
  *event = (stretto_event_t){.stream = stream, .packet = stream->written - 1};
  return STRETTO_OK;
}

static int do_event_query(stretto_client_t* client, const stretto_event_t* event) {
  stretto_stream_t* stream = event->stream;
  if (event->packet >= stream->written) return 0;
  while (stream->checked <= event->packet) {
    if (!driver_look_at_oldest(client, stream)) return 0;
  }
  return 1;
}

static stretto_host_word_t do_event_word(const stretto_client_t* client,
                                         const stretto_event_t* event) {
  const stretto_stream_t* stream = event->stream;
  // Packets may complete in another order: the oldest comes first.
  const uint64_t next = stream->checked < event->packet ? stream->checked : event->packet;
  return (stretto_host_word_t){.address = driver_signal_address(client, stream, next),
                               .condition = STRETTO_WAIT_NOT_EQUAL,
                               .value = STRETTO_SIGNAL_PENDING};
}

// L2 persistence

static stretto_status_t persist(stretto_client_t* client, stretto_stream_t* stream,
                                stretto_l2_persist_action_t action, uint64_t base, uint64_t bytes) {
  stretto_packet_t packet = driver_vendor(STRETTO_OP_L2_PERSIST, 0);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.persist = (stretto_l2_persist_t){.base = base, .bytes = bytes, .action = action};
  // It changes what stays in the L2, and no byte: kernels before and behind are as if side by side.
  return driver_put(client, stream, &packet);
}

static stretto_status_t do_set_persisting_l2_cache_size(stretto_client_t* client,
                                                        stretto_stream_t* stream, uint64_t bytes) {
  driver_call(client);
  const uint64_t way = client->options.l2_way_bytes, most = client->options.l2_persist_bytes;
  if (way != 0 && bytes != 0 && (bytes < way || bytes > most)) {
    return driver_fail(
        client, STRETTO_ERROR_ARGUMENT, "persisting L2 cache size: %llu bytes; 0, or %llu to %llu",
        (unsigned long long)bytes, (unsigned long long)way, (unsigned long long)most);
  }
  return persist(client, stream, STRETTO_L2_LIMIT, 0, bytes);
}

static stretto_status_t do_import_memory(stretto_client_t* client, uint64_t base, uint64_t bytes) {
  driver_call(client);
  client->imported_base = base;
  client->imported_bytes = bytes;
  return STRETTO_OK;
}

static int is_imported(const stretto_client_t* client, uint64_t base, uint64_t bytes) {
  const uint64_t offset = base - client->imported_base;
  return offset <= client->imported_bytes && bytes <= client->imported_bytes - offset;
}

static stretto_status_t do_access_policy_window(stretto_client_t* client, stretto_stream_t* stream,
                                                uint64_t base, uint64_t bytes, int persisting) {
  driver_call(client);
  if ((base | bytes) % STRETTO_L2_LINE_BYTES != 0 || bytes == 0 || bytes > UINT32_MAX ||
      !(driver_in_client_memory(client, base, bytes) || is_imported(client, base, bytes))) {
    return driver_fail(
        client, STRETTO_ERROR_ARGUMENT,
        "access policy window: 0x%llx, %llu bytes: multiples of %u, allocated, below "
        "4 GiB",
        (unsigned long long)base, (unsigned long long)bytes, STRETTO_L2_LINE_BYTES);
  }
  return persist(client, stream, persisting ? STRETTO_L2_PIN : STRETTO_L2_UNPIN, base, bytes);
}

static stretto_status_t do_reset_persisting_l2_cache(stretto_client_t* client,
                                                     stretto_stream_t* stream) {
  driver_call(client);
  return persist(client, stream, STRETTO_L2_RESET, 0, 0);
}

// Fills, maps and configuration

static stretto_status_t put_fill(stretto_client_t* client, stretto_stream_t* stream,
                                 uint64_t address, uint64_t bytes, uint64_t pattern,
                                 uint32_t account, uint32_t barrier) {
  driver_call(client);
  account = driver_account_of(client, account);
  if (account >= STRETTO_ACCOUNTS) return driver_bad_account(client, "fill", account);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_FILL, 0);
  packet.vendor.header |= (uint16_t)barrier;
  packet.vendor.fill = (stretto_fill_t){
      .address = address, .bytes = bytes, .pattern = pattern, .account = (uint8_t)account};
  return driver_submit(client, stream, &packet);
}

static stretto_status_t do_fill(stretto_client_t* client, stretto_stream_t* stream,
                                uint64_t address, uint64_t bytes, uint64_t pattern,
                                uint32_t account) {
  return put_fill(client, stream, address, bytes, pattern, account, 0);
}

static stretto_status_t do_fill_in_order(stretto_client_t* client, stretto_stream_t* stream,
                                         uint64_t address, uint64_t bytes, uint64_t pattern,
                                         uint32_t account) {
  return put_fill(client, stream, address, bytes, pattern, account, STRETTO_PACKET_BARRIER);
}

static stretto_status_t do_copy(stretto_client_t* client, stretto_stream_t* stream,
                                uint64_t destination, uint64_t source, uint64_t bytes,
                                uint32_t account) {
  driver_call(client);
  account = driver_account_of(client, account);
  if (account >= STRETTO_ACCOUNTS) return driver_bad_account(client, "copy", account);
  driver_charge(client, client->options.costs.copy_ns);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_COPY, 0);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.copy = (stretto_copy_t){
      .source = source, .destination = destination, .bytes = bytes, .account = (uint8_t)account};
  return driver_submit(client, stream, &packet);
}

static stretto_status_t do_signal(stretto_client_t* client, stretto_stream_t* stream,
                                  uint64_t address, uint64_t value) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_SIGNAL, 0);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.signal = (stretto_signal_t){.address = address, .value = value};
  return driver_submit(client, stream, &packet);
}

static stretto_status_t do_event_record_time(stretto_client_t* client, stretto_stream_t* stream,
                                             uint64_t time, uint64_t word, stretto_event_t* event) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_SIGNAL, 0);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.signal = (stretto_signal_t){.address = word, .time = time};
  const stretto_status_t status = driver_submit(client, stream, &packet);
  *event = (stretto_event_t){.stream = stream, .packet = stream->written - 1};
  return status;
}

static stretto_status_t do_stream_wait(stretto_client_t* client, stretto_stream_t* stream,
                                       uint64_t address, uint64_t poll_ns) {
  driver_call(client);
  stretto_packet_t packet = {0};
  packet.barrier = (stretto_barrier_packet_t){
      .header = STRETTO_PACKET_BARRIER_AND | STRETTO_PACKET_BARRIER,
      .dep_signal = {address},
      .poll_ns = poll_ns,
  };
  stream->behind_kernel = 0;  // What it waits for may be somebody else's data.
  return driver_put(client, stream, &packet);
}

static const char* do_last_error(const stretto_client_t* client) { return client->error; }

static const stretto_api_t kApi = {
    .allocate = driver_allocate,
    .stream_create = do_stream_create,
    .stream_synchronize = do_stream_synchronize,
    .event_record = do_event_record,
    .event_synchronize = do_event_synchronize,
    .copy_to_device = driver_copy_to_device,
    .module_load = driver_module_load,
    .module_kernel = driver_module_kernel,
    .launch = driver_launch,
    .fill = do_fill,
    .copy = do_copy,
    .signal = do_signal,
    .stream_wait = do_stream_wait,
    .remote_map = driver_remote_map,
    .configure_output = driver_configure_output,
    .remote_map_tiles = driver_remote_map_tiles,
    .dma_map_tiles = driver_dma_map_tiles,
    .local_map_tiles = driver_local_map_tiles,
    .configure_gates = driver_configure_gates,
    .spill_table = driver_spill_table,
    .configure_mca = driver_configure_mca,
    .reset_maps = driver_reset_maps,
    .collective_wait = driver_collective_wait,
    .ring_start = driver_ring_start,
    .ring_connect = driver_ring_connect,
    .ring_register = driver_ring_register,
    .ring_export = driver_ring_export,
    .ring_import = driver_ring_import,
    .ring_unregister = driver_ring_unregister,
    .last_error = do_last_error,
    .release = driver_release,
    .map = driver_map,
    .stream_priority = driver_stream_priority,
    .preempt = driver_preempt,
    .resume = driver_resume,
    .launch_pipeline = driver_launch_pipeline,
    .scheduler_policy = driver_scheduler_policy,
    .set_persisting_l2_cache_size = do_set_persisting_l2_cache_size,
    .access_policy_window = do_access_policy_window,
    .import_memory = do_import_memory,
    .reset_persisting_l2_cache = do_reset_persisting_l2_cache,
    .event_of_last = do_event_of_last,
    .event_query = do_event_query,
    .event_word = do_event_word,
    .event_record_time = do_event_record_time,
    .fill_in_order = do_fill_in_order,
    .share = driver_share,
    .time_slice = driver_time_slice,
    .network = driver_network,
    .copy_host_memory = driver_copy_host_memory,
};

stretto_client_t* stretto_client_create(const stretto_client_options_t* options,
                                        const stretto_host_ops_t* ops) {
  if (options->gpu >= STRETTO_MAX_GPUS || options->queue_count == 0 ||
      options->first_queue + options->queue_count > STRETTO_QUEUE_COUNT) {
    return NULL;
  }
  if (options->memory_begin < STRETTO_SYSTEM_BYTES ||
      options->memory_end > STRETTO_GPU_MEMORY_LIMIT ||
      options->memory_begin > options->memory_end) {
    return NULL;
  }
  stretto_client_t* client = calloc(1, sizeof *client);
  if (client == NULL) return NULL;
  client->argument = calloc(ARGUMENT_UNITS, sizeof *client->argument);
  client->api = &kApi;
  client->ops = *ops;
  client->options = *options;
  client->memory_next = options->memory_begin;
  if (client->argument == NULL ||
      driver_take_memory(client, STRETTO_ARGUMENT_BUFFER_BYTES, MODULE_ALIGNMENT,
                         &client->argument_buffer) != STRETTO_OK) {
    free(client->argument);
    free(client);
    return NULL;
  }
  return client;
}

void stretto_client_destroy(stretto_client_t* client) {
  if (client == NULL) return;
  while (client->modules != NULL) {
    stretto_module_t* module = client->modules;
    client->modules = module->next;
    for (size_t i = 0; i < module->kernels; ++i) free(module->kernel[i].name);
    free(module->kernel);
    free(module);
  }
  for (uint32_t i = 0; i < client->streams; ++i) free(client->stream[i]);
  free(client->ring_buffers);
  free(client->argument);
  free(client);
}
