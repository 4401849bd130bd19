// SPDX-License-Identifier: Apache-2.0
// The software engine: see send_engine.h.
#include "sw/apps/send_engine.h"

#include <stdio.h>

#include "sw/apps/ranks.h"

typedef struct engine {
  const send_engine_setup_t* setup;
  stretto_client_t* client;
  stretto_stream_t* stream;
  send_engine_counts_t* counts;
  char* error;
  uint64_t head;                              // Slots taken.
  uint64_t number[STRETTO_SEND_CONNECTIONS];  // Requests served.
} engine_t;

uint64_t send_engine_load(const stretto_host_ops_t* ops, uint64_t address) {
  return ops->wait(ops->context, address, STRETTO_WAIT_AT_LEAST, 0);
}

static uint64_t slot_of(const engine_t* e, uint64_t index) {
  return e->setup->ring + 8 * (index % STRETTO_SEND_RING_DEPTH);
}

// The next request, or 0: none yet.
static uint64_t take(engine_t* e) {
  const stretto_host_ops_t* ops = &e->client->ops;
  const uint64_t request = send_engine_load(ops, slot_of(e, e->head));
  if (request == 0) return 0;
  if (e->setup->found_ns != NULL)
    e->setup->found_ns[e->head % STRETTO_SEND_RING_DEPTH] = ops->now_ns(ops->context);
  ops->store(ops->context, slot_of(e, e->head), 0);
  ++e->head;
  return request;
}

// Whether b goes on where a ends, in both buffers, with the same wishes.
static int continues(uint64_t a, uint64_t b) {
  const uint64_t place = (((uint64_t)1 << STRETTO_SR_LENGTH_BITS) - 1) << STRETTO_SR_LENGTH_SHIFT |
                         (((uint64_t)1 << STRETTO_SR_OFFSET_BITS) - 1) << STRETTO_SR_OFFSET_SHIFT;
  return (a & ~place) == (b & ~place) &&
         STRETTO_SR_GET(b, OFFSET) == STRETTO_SR_GET(a, OFFSET) + STRETTO_SR_GET(a, LENGTH);
}

static stretto_status_t refuse(const engine_t* e, uint64_t request, const char* why) {
  snprintf(e->error, 256, "send engine of gpu %u: request 0x%016llx refused: %s",
           e->client->options.gpu, (unsigned long long)request, why);
  return STRETTO_ERROR_ARGUMENT;
}

static const char* fault_of(const send_engine_setup_t* setup, uint64_t request, uint64_t units) {
  const send_engine_buffer_t* source = &setup->buffer[STRETTO_SR_GET(request, SOURCE)];
  const send_engine_buffer_t* destination = &setup->buffer[STRETTO_SR_GET(request, DESTINATION)];
  const uint32_t connection = STRETTO_SR_GET(request, CONNECTION);
  const uint64_t end = STRETTO_SR_GET(request, OFFSET) + units;
  if (STRETTO_SR_GET(request, OPCODE) != STRETTO_SR_WRITE) return "only writes are served";
  if (request >> STRETTO_SR_RESERVED_SHIFT != 0) return "reserved bits are set";
  if (connection >= STRETTO_SEND_CONNECTIONS || setup->rc[connection] == 0)
    return "no such connection";
  if (source->base == 0) return "its source is not registered";
  if (destination->base == 0) return "its destination is not registered";
  if (source->unit_shift != destination->unit_shift) return "its buffers have different units";
  if (units == 0) return "it has no length";
  if (end << source->unit_shift > source->bytes) return "it reaches beyond its source";
  if (end << source->unit_shift > destination->bytes) return "it reaches beyond its destination";
  return NULL;
}

// One copy for `count` requests that begin with `first` and have `units` in all.
static stretto_status_t serve(engine_t* e, uint64_t first, uint64_t units, uint64_t count) {
  const send_engine_setup_t* setup = e->setup;
  const char* fault = fault_of(setup, first, units);
  if (fault != NULL) return refuse(e, first, fault);
  const send_engine_buffer_t* source = &setup->buffer[STRETTO_SR_GET(first, SOURCE)];
  const send_engine_buffer_t* destination = &setup->buffer[STRETTO_SR_GET(first, DESTINATION)];
  const uint32_t connection = STRETTO_SR_GET(first, CONNECTION);
  const uint64_t offset = (uint64_t)STRETTO_SR_GET(first, OFFSET) << source->unit_shift;
  const stretto_api_t* api = e->client->api;
  TRY(api->copy(e->client, e->stream, destination->base + offset, source->base + offset,
                units << source->unit_shift, e->setup->account));
  e->number[connection] += count;
  ++e->counts->copies;
  e->counts->sends += count;
  if ((first & STRETTO_SR_RC) != 0) {
    TRY(api->signal(e->client, e->stream,
                    setup->rc[connection] + 8 * STRETTO_SR_GET(first, DESTINATION),
                    e->number[connection]));
  }
  if ((first & STRETTO_SR_SC) == 0) return STRETTO_OK;
  return api->signal(e->client, e->stream, setup->sc + 8 * STRETTO_SR_GET(first, SOURCE),
                     e->number[connection]);
}

// Everything in the ring; the head replica follows the batch.
static stretto_status_t drain(engine_t* e) {
  const stretto_host_ops_t* ops = &e->client->ops;
  uint64_t next = take(e);
  while (next != 0) {
    uint64_t last = next, units = STRETTO_SR_GET(next, LENGTH), count = 1;
    const uint64_t first = next;
    for (next = take(e); next != 0 && continues(last, next); next = take(e)) {
      units += STRETTO_SR_GET(next, LENGTH);
      last = next;
      ++count;
    }
    TRY(serve(e, first, units, count));
    if (next == 0) next = take(e);
  }
  ops->write(ops->context, e->setup->replica, &e->head, 8);
  return STRETTO_OK;
}

static stretto_status_t serve_all(engine_t* e) {
  const stretto_host_ops_t* ops = &e->client->ops;
  TRY(e->client->api->stream_create(e->client, &e->stream));
  for (;;) {
    const int stop = send_engine_load(ops, e->setup->stop) != 0;
    if (send_engine_load(ops, slot_of(e, e->head)) != 0)
      TRY(drain(e));
    else if (stop)
      return e->client->api->stream_synchronize(e->client, e->stream);
  }
}

stretto_status_t send_engine_run(const send_engine_setup_t* setup, stretto_client_t* client,
                                 send_engine_counts_t* counts, char* error) {
  engine_t e = {.setup = setup, .client = client, .counts = counts, .error = error};
  error[0] = '\0';
  const stretto_status_t status = serve_all(&e);
  if (status != STRETTO_OK && error[0] == '\0') {
    snprintf(error, 256, "send engine of gpu %u: %s", client->options.gpu,
             client->api->last_error(client));
  }
  return status;
}
