// SPDX-License-Identifier: Apache-2.0
// The software engine: see send_engine.h.
#include "sw/apps/send_engine.h"

#include <stddef.h>
#include <stdio.h>

#include "sw/apps/ranks.h"

// What one copy does, and whom it tells then.
typedef struct copy {
  uint64_t to, from, bytes;
  uint64_t rc, sc;  // Addresses of flags, 0 = none,
  uint64_t number;  // which get this value.
} copy_t;

typedef struct engine {
  const send_engine_setup_t* setup;
  stretto_client_t* client;
  stretto_stream_t* stream;
  send_engine_counts_t* counts;
  char* error;
  uint64_t head;                              // Slots taken.
  uint64_t number[STRETTO_SEND_CONNECTIONS];  // Requests served.
  copy_t copy[SEND_ENGINE_COPIES];            // Under way by others, by number,
  uint64_t begun, ended;                      // from `ended` to `begun`.
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

static stretto_status_t by_gpu(engine_t* e, const copy_t* c) {
  const stretto_api_t* api = e->client->api;
  TRY(api->copy(e->client, e->stream, c->to, c->from, c->bytes, e->setup->account));
  if (c->rc != 0) TRY(api->signal(e->client, e->stream, c->rc, c->number));
  return c->sc == 0 ? STRETTO_OK : api->signal(e->client, e->stream, c->sc, c->number);
}

// Stores leave in order, and PCIe lets none pass.
static void store_flags(const engine_t* e, const copy_t* c) {
  const stretto_host_ops_t* ops = &e->client->ops;
  if (c->rc != 0) ops->write(ops->context, c->rc, &c->number, 8);
  if (c->sc != 0) ops->write(ops->context, c->sc, &c->number, 8);
}

static stretto_status_t by_thread(engine_t* e, const copy_t* c) {
  const stretto_host_ops_t* ops = &e->client->ops;
  ops->move(ops->context, c->to, c->from, c->bytes);
  store_flags(e, c);
  return STRETTO_OK;
}

// The oldest copy of those that others do, which is waited for or may be under way still: whether it
// has ended. Flags count, so they go in order.
static int end_oldest(engine_t* e, int wait) {
  const stretto_host_ops_t* ops = &e->client->ops;
  const uint64_t slot = e->ended % SEND_ENGINE_COPIES;
  const uint64_t word = e->setup->signals + 8 * slot;
  const uint64_t least = wait ? e->ended + 1 : 0;
  if (ops->wait(ops->context, word, STRETTO_WAIT_AT_LEAST, least) <= e->ended) return 0;
  store_flags(e, &e->copy[slot]);
  ++e->ended;
  return 1;
}

// Somebody else will copy: its place among those under way.
static uint64_t begin(engine_t* e, const copy_t* c) {
  if (e->begun - e->ended == SEND_ENGINE_COPIES) end_oldest(e, 1);
  const uint64_t slot = e->begun % SEND_ENGINE_COPIES;
  e->copy[slot] = *c;
  ++e->begun;
  return slot;
}

static stretto_status_t by_processor(engine_t* e, const copy_t* c) {
  const stretto_host_ops_t* ops = &e->client->ops;
  const uint64_t slot = begin(e, c);
  ops->start_copy(ops->context, c->to, c->from, c->bytes, e->setup->signals + 8 * slot, e->begun);
  return STRETTO_OK;
}

static uint64_t job_at(const send_engine_setup_t* setup, uint64_t slot) {
  return setup->jobs + slot * sizeof(send_engine_job_t);
}

static void give(const engine_t* e, uint64_t slot, send_engine_job_t job) {
  const stretto_host_ops_t* ops = &e->client->ops;
  const uint64_t at = job_at(e->setup, slot);
  ops->store_bytes(ops->context, at, &job, offsetof(send_engine_job_t, number));
  ops->store(ops->context, at + offsetof(send_engine_job_t, number), job.number);
}

// An equal part for each, the flags behind the last one.
static stretto_status_t by_workers(engine_t* e, const copy_t* c) {
  const uint64_t share = (c->bytes + e->setup->workers - 1) / e->setup->workers;
  const uint64_t most =
      (share + SEND_ENGINE_PART_BYTES - 1) / SEND_ENGINE_PART_BYTES * SEND_ENGINE_PART_BYTES;
  for (uint64_t done = 0; done < c->bytes;) {
    copy_t part = {.to = c->to + done, .from = c->from + done, .bytes = c->bytes - done};
    if (part.bytes > most) part.bytes = most;
    done += part.bytes;
    if (done == c->bytes) part.rc = c->rc, part.sc = c->sc, part.number = c->number;
    const uint64_t slot = begin(e, &part);
    give(e, slot, (send_engine_job_t){part.to, part.from, part.bytes, e->begun});
  }
  return STRETTO_OK;
}

void send_engine_worker(const send_engine_setup_t* setup, uint32_t worker,
                        const stretto_host_ops_t* ops) {
  for (uint64_t copy = worker;; copy += setup->workers) {
    const uint64_t slot = copy % SEND_ENGINE_COPIES;
    const uint64_t at = job_at(setup, slot);
    send_engine_job_t job;
    if (ops->wait(ops->context, at + offsetof(send_engine_job_t, number), STRETTO_WAIT_AT_LEAST,
                  copy + 1) == SEND_ENGINE_END)
      return;
    ops->read(ops->context, at, &job, sizeof job);
    ops->move(ops->context, job.to, job.from, job.bytes);
    ops->store(ops->context, setup->signals + 8 * slot, job.number);
  }
}

static void end_workers(const engine_t* e) {
  for (uint64_t slot = 0; e->setup->workers != 0 && slot < SEND_ENGINE_COPIES; ++slot)
    give(e, slot, (send_engine_job_t){.number = SEND_ENGINE_END});
}

static stretto_status_t move(engine_t* e, const copy_t* c) {
  switch (e->setup->mover) {
    case SEND_MOVER_GPU_DMA: return by_gpu(e, c);
    case SEND_MOVER_CPU_MMIO: return e->setup->workers != 0 ? by_workers(e, c) : by_thread(e, c);
    case SEND_MOVER_CPU_DMA: return by_processor(e, c);
  }
  return STRETTO_ERROR_ARGUMENT;
}

// One copy for `count` requests that begin with `first` and have `units` in all.
static stretto_status_t serve(engine_t* e, uint64_t first, uint64_t units, uint64_t count) {
  const send_engine_setup_t* setup = e->setup;
  const char* fault = fault_of(setup, first, units);
  if (fault != NULL) return refuse(e, first, fault);
  const uint32_t source = STRETTO_SR_GET(first, SOURCE);
  const uint32_t destination = STRETTO_SR_GET(first, DESTINATION);
  const uint32_t connection = STRETTO_SR_GET(first, CONNECTION);
  const uint32_t shift = setup->buffer[source].unit_shift;
  const uint64_t offset = (uint64_t)STRETTO_SR_GET(first, OFFSET) << shift;
  e->number[connection] += count;
  const copy_t c = {
      .to = setup->buffer[destination].base + offset,
      .from = setup->buffer[source].base + offset,
      .bytes = units << shift,
      .rc = (first & STRETTO_SR_RC) != 0 ? setup->rc[connection] + 8 * destination : 0,
      .sc = (first & STRETTO_SR_SC) != 0 ? setup->sc + 8 * source : 0,
      .number = e->number[connection]};
  TRY(move(e, &c));
  ++e->counts->copies;
  e->counts->sends += count;
  e->counts->bytes += c.bytes;
  return STRETTO_OK;
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
  const int by_gpus = e->setup->mover == SEND_MOVER_GPU_DMA;
  if (by_gpus) TRY(e->client->api->stream_create(e->client, &e->stream));
  for (;;) {
    const int stop = send_engine_load(ops, e->setup->stop) != 0;
    if (send_engine_load(ops, slot_of(e, e->head)) != 0) {
      TRY(drain(e));
    } else if (e->begun != e->ended) {
      end_oldest(e, 0);
    } else if (stop) {
      return by_gpus ? e->client->api->stream_synchronize(e->client, e->stream) : STRETTO_OK;
    }
  }
}

stretto_status_t send_engine_run(const send_engine_setup_t* setup, stretto_client_t* client,
                                 send_engine_counts_t* counts, char* error) {
  engine_t e = {.setup = setup, .client = client, .counts = counts, .error = error};
  error[0] = '\0';
  const stretto_status_t status = serve_all(&e);
  end_workers(&e);
  if (status != STRETTO_OK && error[0] == '\0') {
    snprintf(error, 256, "send engine of gpu %u: %s", client->options.gpu,
             client->api->last_error(client));
  }
  return status;
}
