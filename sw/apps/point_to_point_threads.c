// SPDX-License-Identifier: Apache-2.0
// Threads beside the ranks of point_to_point: the software engine of g-drv-s; polling thread,
// callback thread and observer of c-drv.
#include <stdio.h>
#include <string.h>

#include "sw/apps/point_to_point_internal.h"
#include "sw/include/formats/send_request.h"

// The software engine (GD-SW-01, -02)

typedef struct engine {
  const p2p_parameters_t* p;
  const p2p_ring_t* ring;
  const stretto_host_ops_t* ops;
  stretto_client_t* client;
  stretto_stream_t* stream;
  p2p_result_t* result;
  uint64_t head;    // Slots taken.
  uint64_t number;  // Requests served.
} engine_t;

static uint64_t slot_of(const engine_t* e, uint64_t index) {
  return p2p_host_ring(e->p->rank) + 8 * (index % STRETTO_SEND_RING_DEPTH);
}

// The next request, or 0: none yet.
static uint64_t take(engine_t* e) {
  const uint64_t request = p2p_load(e->ops, slot_of(e, e->head));
  if (request == 0) return 0;
  e->ops->store(e->ops->context, slot_of(e, e->head), 0);
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

// One copy for `count` requests that begin with `first` and have `units` in all. Flags are packets of
// the same stream: a write of the CPU could overtake the data.
static stretto_status_t serve(engine_t* e, uint64_t first, uint64_t units, uint64_t count) {
  const uint64_t offset = (uint64_t)STRETTO_SR_GET(first, OFFSET) << P2P_UNIT_SHIFT;
  const uint64_t bytes = units << P2P_UNIT_SHIFT;
  const stretto_api_t* api = e->client->api;
  if (STRETTO_SR_GET(first, OPCODE) != STRETTO_SR_WRITE || bytes == 0 ||
      offset + bytes > e->ring->bytes || first >> STRETTO_SR_RESERVED_SHIFT != 0) {
    return STRETTO_ERROR_ARGUMENT;
  }
  TRY(api->copy(e->client, e->stream, e->ring->destination + offset, e->ring->source + offset,
                bytes));
  e->number += count;
  ++e->result->copies;
  e->result->sends += count;
  if ((first & STRETTO_SR_RC) != 0) {
    TRY(api->signal(e->client, e->stream,
                    e->ring->rc + 8 * STRETTO_SR_GET(first, DESTINATION), e->number));
  }
  if ((first & STRETTO_SR_SC) == 0) return STRETTO_OK;
  return api->signal(e->client, e->stream, e->ring->sc + 8 * STRETTO_SR_GET(first, SOURCE),
                     e->number);
}

// Everything in the ring, sends of contiguous memory together; the head replica follows the batch.
static stretto_status_t drain(engine_t* e) {
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
  e->ops->write(e->ops->context, e->ring->replica, &e->head, 8);
  return STRETTO_OK;
}

static stretto_status_t serve_all(engine_t* e) {
  const uint64_t stop = p2p_host_word(P2P_WORD_STOP + e->p->rank);
  TRY(e->client->api->stream_create(e->client, &e->stream));
  while (p2p_load(e->ops, stop) == 0) {
    if (p2p_load(e->ops, slot_of(e, e->head)) != 0) TRY(drain(e));
  }
  return e->client->api->stream_synchronize(e->client, e->stream);
}

stretto_status_t p2p_send_engine(const p2p_parameters_t* parameters, p2p_shared_t* shared,
                                 const stretto_host_ops_t* ops, p2p_result_t* result, char* error) {
  engine_t e = {.p = parameters,
                .ring = &shared->ring[parameters->rank],
                .ops = ops,
                .result = result,
                .client = stretto_client_create(&parameters->client, ops)};
  const stretto_status_t status = e.client == NULL ? STRETTO_ERROR_ARGUMENT : serve_all(&e);
  if (status != STRETTO_OK) {
    snprintf(error, 256, "send engine of rank %u: %s", parameters->rank,
             e.client != NULL && status != STRETTO_ERROR_ARGUMENT
                 ? e.client->api->last_error(e.client)
                 : stretto_status_text(status));
    ops->store(ops->context, p2p_host_word(P2P_WORD_MEET + parameters->rank), P2P_FAILED);
  }
  stretto_client_destroy(e.client);
  return status;
}

// A framework's threads (GD-CDRV-01..05)

// One round asks for every outstanding event with the mutex held; then those that were found are
// handed to the callback thread. The message's event takes another place in each round of asking.
void p2p_polling_thread(const p2p_parameters_t* p, p2p_shared_t* shared,
                        const stretto_host_ops_t* ops) {
  uint64_t seen = 0;
  for (;;) {
    ops->lock(ops->context, P2P_MUTEX);
    if (shared->stop) break;
    const uint64_t place = seen * 7 % p->outstanding_events;
    int found = 0;
    for (uint64_t event = 0; event < p->outstanding_events; ++event) {
      ops->charge_cpu_ns(ops->context, p->event_query_ns);
      if (event == place && p2p_load(ops, p2p_host_word(P2P_WORD_COPIED)) == seen + 1) found = 1;
    }
    if (found) {
      shared->found = ++seen;
      ops->notify(ops->context, P2P_MUTEX);
      shared->times.released = ops->now_ns(ops->context);
    }
    ops->unlock(ops->context, P2P_MUTEX);
    ops->charge_cpu_ns(ops->context, p->event_poll_delay_ns);
  }
  ops->unlock(ops->context, P2P_MUTEX);
}

static stretto_status_t launch_dependent(stretto_client_t* client, stretto_stream_t* stream,
                                         const stretto_kernel_t* kernel, uint64_t word,
                                         const p2p_parameters_t* p, uint64_t* consumer) {
  const uint64_t host = p2p_host_word(P2P_WORD_STAMPS + 2 * P2P_MAX_STAMPS);
  TRY(p2p_launch_stamp(client, stream, kernel, word));
  TRY(client->api->copy(client, stream, host, word, 8));
  TRY(client->api->stream_synchronize(client, stream));
  *consumer = p2p_load(&client->ops, host) * 1000 / p->clock_mhz;
  return STRETTO_OK;
}

void p2p_callback_thread(const p2p_parameters_t* p, p2p_shared_t* shared,
                         const stretto_host_ops_t* ops) {
  stretto_client_t* client = stretto_client_create(&p->client, ops);
  stretto_stream_t* stream = NULL;
  stretto_module_t* module = NULL;
  stretto_kernel_t kernel;
  uint64_t word = 0;
  stretto_status_t status = client == NULL ? STRETTO_ERROR_ARGUMENT : STRETTO_OK;
  if (status == STRETTO_OK) status = client->api->stream_create(client, &stream);
  if (status == STRETTO_OK)
    status = client->api->allocate(client, stream, 4096, 4096, STRETTO_ALLOCATION_UNCACHED, &word);
  if (status == STRETTO_OK)
    status = client->api->module_load(client, p->send_elf, p->send_elf_bytes, &module);
  if (status == STRETTO_OK) status = client->api->module_kernel(client, module, "stamp", &kernel);
  uint64_t done = 0;
  ops->lock(ops->context, P2P_MUTEX);
  while (status == STRETTO_OK) {
    while (shared->found == done && !shared->stop) ops->sleep(ops->context, P2P_MUTEX);
    if (shared->stop) break;
    shared->times.locked = ops->now_ns(ops->context);
    status = launch_dependent(client, stream, &kernel, word, p, &shared->times.consumer);
    if (status == STRETTO_OK) ops->store(ops->context, p2p_host_word(P2P_WORD_CONSUMED), ++done);
  }
  ops->unlock(ops->context, P2P_MUTEX);
  if (status != STRETTO_OK)
    ops->store(ops->context, p2p_host_word(P2P_WORD_CONSUMED), P2P_FAILED);
  stretto_client_destroy(client);
}

void p2p_observer_thread(const p2p_parameters_t* p, p2p_shared_t* shared,
                         const stretto_host_ops_t* ops) {
  (void)p;
  uint64_t* const times[3] = {&shared->times.triggered, &shared->times.waited,
                              &shared->times.copied};
  for (uint64_t number = 1;; ++number) {
    for (uint32_t i = 0; i < 3; ++i) {
      if (ops->wait(ops->context, p2p_host_word(P2P_WORD_TRIGGERED + i), STRETTO_WAIT_AT_LEAST,
                    number) == P2P_FAILED) {
        return;
      }
      *times[i] = ops->now_ns(ops->context);
    }
  }
}
