// SPDX-License-Identifier: Apache-2.0
// Messages between two GPUs: see point_to_point.h.
#include "sw/apps/collective/point_to_point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/apps/collective/point_to_point_internal.h"
#include "sw/include/formats/card.h"
#include "sw/include/formats/machine_types.h"
#include "sw/include/formats/send_request.h"
#include "sw/kernels/kernel_arguments.h"

#define SOURCE_ID 1u
#define DESTINATION_ID 2u
#define PEER_ID 3u  // The peer's destination.
#define CONNECTION 0u
#define RING_BATCH 8u
#define HEAD_START_NS 50000u  // In which the other rank's kernel comes up.

const char* p2p_engine_name(p2p_engine_t engine) {
  static const char* const names[P2P_ENGINES] = {"memcpy",  "c-drv",   "c-async",
                                                 "g-drv-s", "g-drv-h", "g-drv-d"};
  return engine < P2P_ENGINES ? names[engine] : NULL;
}

p2p_shared_t* p2p_shared_create(void) { return calloc(1, sizeof(p2p_shared_t)); }
void p2p_shared_destroy(p2p_shared_t* shared) { free(shared); }

stretto_status_t p2p_plan(const p2p_parameters_t* p, p2p_plan_t* plan) {
  const uint32_t uncached = STRETTO_ALLOCATION_UNCACHED;
  memory_plan_t* memory = &plan->memory;
  *memory = memory_plan(&p->client, 4096);
  plan->source = memory_plan_add_input(memory, "source", p->buffer_bytes, uncached);
  plan->destination = memory_plan_add(memory, "destination", p->buffer_bytes, uncached);
  plan->words = memory_plan_add(memory, "words", P2P_WORD_BYTES, uncached);
  return memory->end + P2P_MODULE_BYTES <= p->client.memory_end ? STRETTO_OK
                                                                : STRETTO_ERROR_TABLE_FULL;
}

uint64_t p2p_stride(const p2p_parameters_t* p, uint32_t size) {
  const uint64_t bytes = p->bytes[size];
  return p->contiguous || 2 * bytes > p->buffer_bytes ? bytes : 2 * bytes;
}

uint64_t p2p_places(const p2p_parameters_t* p, uint32_t size) {
  return p->buffer_bytes / p2p_stride(p, size);
}

uint64_t p2p_host_word(const p2p_parameters_t* p, uint32_t index) {
  return job_host_memory(&p->job) + 8ull * index;
}

uint64_t p2p_event(const p2p_parameters_t* p, uint64_t message) {
  return p2p_host_word(p, P2P_WORD_EVENTS + (uint32_t)((message - 1) * 7 % p->outstanding_events));
}

uint64_t p2p_mutex(const p2p_parameters_t* p) { return 1 + (uint64_t)p->job.number; }

// Of a SmartNIC as the send window of a card: where the GPU may map what is not memory of a GPU.
uint64_t p2p_engine_memory(const p2p_parameters_t* p) {
  if (!p->on_smartnic) return p2p_host_word(p, 0) + 0x10000 + p->rank * 0x1000ull;
  return ((uint64_t)(STRETTO_NODE_CARD + p->client.gpu) << STRETTO_NODE_SHIFT) +
         STRETTO_SEND_APERTURE;
}

// GPU of the other rank.
static uint32_t peer_gpu(const p2p_parameters_t* p) { return job_gpu(&p->job, 1 - p->rank); }

ranks_t p2p_ranks(const p2p_parameters_t* p, const stretto_host_ops_t* ops) {
  return (ranks_t){.ops = ops, .job = p->job, .rank = p->rank, .ranks = 2, .host_ranks = 2};
}

static stretto_status_t meet(p2p_rank_t* g) { return ranks_meet(&g->ranks, 1); }

static uint64_t at_peer(const p2p_rank_t* g, uint64_t address) {
  return ranks_at(&g->ranks, address, 1 - g->p->rank);
}

// Set-up

static stretto_status_t allocate_all(p2p_rank_t* g) {
  const p2p_parameters_t* p = g->p;
  p2p_plan_t plan;
  TRY(p2p_plan(p, &plan));
  TRY(memory_plan_allocate(&plan.memory, g->client, g->stream));
  g->source = plan.source;
  g->destination = plan.destination;
  g->words = plan.words;
  return g->api->fill(g->client, g->stream, g->words, P2P_WORD_BYTES, 0, P2P_ACCOUNT_INIT);
}

static stretto_status_t load_kernels(p2p_rank_t* g) {
  stretto_module_t* module = NULL;
  TRY(g->api->module_load(g->client, g->p->send_elf, g->p->send_elf_bytes, &module));
  TRY(g->api->module_kernel(g->client, module, "send_stream", &g->send_stream));
  TRY(g->api->module_kernel(g->client, module, "receive_stream", &g->receive_stream));
  TRY(g->api->module_kernel(g->client, module, "ping_pong", &g->ping_pong));
  return g->api->module_kernel(g->client, module, "stamp", &g->stamp);
}

static uint64_t replica_of(const p2p_rank_t* g) { return g->words + P2P_REPLICA; }

static uint64_t stop_word(const p2p_parameters_t* p) {
  return p->on_smartnic ? p2p_engine_memory(p) + P2P_SMARTNIC_STOP
                        : p2p_host_word(p, P2P_WORD_STOP + p->rank);
}

static void set_up_engine(p2p_rank_t* g) {
  send_engine_setup_t* setup = &g->shared->engine[g->p->rank];
  setup->ring = g->window;
  setup->signals = g->window + SEND_ENGINE_RING_BYTES;
  setup->workers = g->p->workers;
  setup->jobs = g->window + P2P_ENGINE_JOBS;
  setup->found_ns = g->shared->found_ns[g->p->rank];
  setup->mover = g->p->mover;
  setup->account = P2P_ACCOUNT_PUT;
  setup->stop = stop_word(g->p);
  setup->replica = replica_of(g);
  setup->sc = g->words + P2P_SC;
  setup->rc[CONNECTION] = at_peer(g, g->words + P2P_RC);
  setup->buffer[SOURCE_ID] = (send_engine_buffer_t){g->source, g->p->buffer_bytes, P2P_UNIT_SHIFT};
  setup->buffer[PEER_ID] =
      (send_engine_buffer_t){at_peer(g, g->destination), g->p->buffer_bytes, P2P_UNIT_SHIFT};
  g->engine_is_set_up = 1;
  if (!g->p->on_smartnic) return;
  const uint64_t ready = 1;
  g->ops->write(g->ops->context, g->window + P2P_SMARTNIC_SETUP, setup, sizeof *setup);
  g->ops->write(g->ops->context, g->window + P2P_SMARTNIC_READY, &ready, 8);
}

static stretto_status_t set_up_card(p2p_rank_t* g) {
  const p2p_parameters_t* p = g->p;
  const stretto_ring_export_t source = {g->source, p->buffer_bytes, P2P_UNIT_SHIFT,
                                        STRETTO_RING_READABLE};
  g->shared->exported[p->rank] = (stretto_ring_export_t){g->destination, p->buffer_bytes,
                                                         P2P_UNIT_SHIFT, STRETTO_RING_WRITABLE};
  TRY(stretto_card_init(&g->card, g->ops, p->client.gpu,
                        p2p_host_word(g->p, P2P_WORD_CARD + 2 * p->rank)));
  g->window = stretto_card_window(&g->card);
  TRY(g->api->remote_map(g->client, g->stream, g->window, STRETTO_SEND_APERTURE_BYTES, g->window,
                         0));
  TRY(g->api->stream_synchronize(g->client, g->stream));
  TRY(meet(g));
  TRY(stretto_card_start(&g->card, replica_of(g), g->words + P2P_SC, RING_BATCH));
  TRY(stretto_card_connect(&g->card, CONNECTION, peer_gpu(p), at_peer(g, g->words + P2P_RC), 0));
  TRY(stretto_card_register(&g->card, SOURCE_ID, &source));
  return stretto_card_register(&g->card, PEER_ID, &g->shared->exported[1 - p->rank]);
}

static stretto_status_t set_up_ring(p2p_rank_t* g) {
  const p2p_parameters_t* p = g->p;
  const stretto_api_t* api = g->api;
  switch (p->engine) {
    case P2P_G_DRV_D:
      g->window = stretto_gpu_address(p->client.gpu, STRETTO_SEND_APERTURE);
      TRY(api->ring_start(g->client, g->stream, replica_of(g), g->words + P2P_SC, RING_BATCH));
      TRY(api->ring_register(g->client, g->stream, SOURCE_ID, g->source, p->buffer_bytes,
                             P2P_UNIT_SHIFT, STRETTO_RING_READABLE));
      TRY(api->ring_register(g->client, g->stream, DESTINATION_ID, g->destination, p->buffer_bytes,
                             P2P_UNIT_SHIFT, STRETTO_RING_WRITABLE));
      TRY(api->ring_export(g->client, DESTINATION_ID, &g->shared->exported[p->rank]));
      TRY(meet(g));
      TRY(api->ring_connect(g->client, g->stream, CONNECTION, peer_gpu(p),
                            at_peer(g, g->words + P2P_RC), 0));
      return api->ring_import(g->client, g->stream, PEER_ID, &g->shared->exported[1 - p->rank]);
    case P2P_G_DRV_H: return set_up_card(g);
    case P2P_G_DRV_S:
      g->window = p2p_engine_memory(p);
      set_up_engine(g);
      return api->remote_map(g->client, g->stream, g->window, SEND_ENGINE_RING_BYTES, g->window, 0);
    default: return STRETTO_OK;
  }
}

static stretto_status_t set_up(p2p_rank_t* g) {
  TRY(g->api->stream_create(g->client, &g->stream));
  TRY(g->api->stream_create(g->client, &g->copies));
  TRY(allocate_all(g));
  TRY(load_kernels(g));
  TRY(set_up_ring(g));
  return g->api->stream_synchronize(g->client, g->stream);
}

stretto_status_t p2p_launch_stamp(stretto_client_t* client, stretto_stream_t* stream,
                                  const stretto_kernel_t* kernel, uint64_t address) {
  const stretto_stamp_arguments_t arguments = {.address = address};
  const stretto_launch_t launch = {.kernel = kernel,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = 1,
                                   .after_all_earlier = 1};
  return client->api->launch(client, stream, &launch);
}

// The times that kernels noted at `first` and `second` of the words, by way of host memory.
static stretto_status_t read_stamps(p2p_rank_t* g, uint32_t first, uint32_t count, uint64_t* ns) {
  const uint64_t host = p2p_host_word(g->p, P2P_WORD_STAMPS + g->p->rank * P2P_MAX_STAMPS);
  TRY(g->api->copy(g->client, g->stream, host, g->words + P2P_STAMPS + 8 * first, 8ull * count,
                   STRETTO_ACCOUNT_OTHER));
  TRY(g->api->stream_synchronize(g->client, g->stream));
  for (uint32_t i = 0; i < count; ++i)
    ns[i] = send_engine_load(g->ops, host + 8 * i) * 1000 / g->p->clock_mhz;
  return STRETTO_OK;
}

// The CPU copies

static stretto_status_t copy_rate(p2p_rank_t* g, uint32_t size) {
  const uint64_t bytes = g->p->bytes[size];
  const uint64_t stride = p2p_stride(g->p, size), places = p2p_places(g->p, size);
  const uint64_t begin = g->ops->now_ns(g->ops->context);
  for (uint32_t i = 0; i < g->p->messages[size]; ++i) {
    const uint64_t offset = i % places * stride;
    TRY(g->api->copy(g->client, g->copies, at_peer(g, g->destination) + offset, g->source + offset,
                     bytes, P2P_ACCOUNT_PUT));
  }
  TRY(g->api->stream_synchronize(g->client, g->copies));
  g->result->rate_ns[size] = g->ops->now_ns(g->ops->context) - begin;
  return STRETTO_OK;
}

static uint64_t semaphore(const p2p_rank_t* g, uint32_t index) {
  return g->words + P2P_SEMAPHORES + 8 * index;
}

// All semaphores are 1: not yet.
static stretto_status_t arm_semaphores(p2p_rank_t* g) {
  uint64_t ones[P2P_MAX_SEMAPHORES];
  for (unsigned i = 0; i < P2P_MAX_SEMAPHORES; ++i) ones[i] = 1;
  return g->api->copy_to_device(g->client, semaphore(g, 0), ones, sizeof ones);
}

// One direction of one round, all of it in advance: kernel, event, copy on the other stream, event
// at the peer. Semaphore 2r: the kernel is done; 2r + 1: the peer's data are here.
static stretto_status_t enqueue_hop(p2p_rank_t* g, uint32_t round, uint64_t bytes) {
  const uint64_t poll = g->p->stream_wait_poll_ns;
  TRY(g->api->signal(g->client, g->stream, semaphore(g, 2 * round), 0));
  TRY(g->api->stream_wait(g->client, g->copies, semaphore(g, 2 * round), poll));
  TRY(g->api->copy(g->client, g->copies, at_peer(g, g->destination), g->source, bytes,
                   P2P_ACCOUNT_PUT));
  return g->api->signal(g->client, g->copies, at_peer(g, semaphore(g, 2 * round + 1)), 0);
}

static stretto_status_t async_latency(p2p_rank_t* g, uint32_t size) {
  const p2p_parameters_t* p = g->p;
  const uint64_t poll = p->stream_wait_poll_ns;
  const uint32_t start = 2 * p->rounds;
  const uint64_t zero = 0;
  TRY(arm_semaphores(g));
  TRY(meet(g));
  if (p->rank == 0) TRY(g->api->stream_wait(g->client, g->stream, semaphore(g, start), poll));
  for (uint32_t round = 0; round < p->rounds; ++round) {
    if (p->rank == 1)
      TRY(g->api->stream_wait(g->client, g->stream, semaphore(g, 2 * round + 1), poll));
    TRY(p2p_launch_stamp(g->client, g->stream, &g->stamp,
                         g->words + P2P_STAMPS + 8 * (round != 0)));
    TRY(enqueue_hop(g, round, p->bytes[size]));
    if (p->rank == 0)
      TRY(g->api->stream_wait(g->client, g->stream, semaphore(g, 2 * round + 1), poll));
  }
  TRY(p2p_launch_stamp(g->client, g->stream, &g->stamp, g->words + P2P_STAMPS + 8));
  TRY(meet(g));
  if (p->rank == 0) {
    // Everything is in the queues: go.
    g->ops->write(g->ops->context, semaphore(g, start), &zero, 8);
    g->ops->write(g->ops->context,
                  stretto_gpu_address(0, STRETTO_DOORBELL_APERTURE) + 8 * STRETTO_WAKE_DOORBELL,
                  &zero, 8);
  }
  TRY(g->api->stream_synchronize(g->client, g->stream));
  TRY(g->api->stream_synchronize(g->client, g->copies));
  uint64_t ns[2];
  TRY(read_stamps(g, 0, 2, ns));
  if (p->rank == 0) g->result->latency_ns[size] = ns[1] - ns[0];
  return STRETTO_OK;
}

// Messages whose control is the CPU's at run time; rank 1's part is the callback thread's.
static stretto_status_t driven_message(p2p_rank_t* g, uint32_t size) {
  const p2p_parameters_t* p = g->p;
  p2p_shared_t* shared = g->shared;
  const uint64_t number = ++shared->messages, one = 1;
  const uint64_t producer = g->words + P2P_STAMPS;
  TRY(g->api->copy_to_device(g->client, semaphore(g, 0), &one, 8));
  // The communication stream first, so that it waits by the time the kernel ends.
  TRY(g->api->stream_wait(g->client, g->copies, semaphore(g, 0), p->stream_wait_poll_ns));
  TRY(g->api->signal(g->client, g->copies, p2p_host_word(g->p, P2P_WORD_WAITED), number));
  TRY(g->api->copy(g->client, g->copies, at_peer(g, g->destination), g->source, p->bytes[size],
                   P2P_ACCOUNT_PUT));
  TRY(g->api->signal(g->client, g->copies, p2p_event(p, number), number));
  TRY(p2p_launch_stamp(g->client, g->stream, &g->stamp, producer));
  TRY(g->api->signal(g->client, g->stream, semaphore(g, 0), 0));
  TRY(g->api->signal(g->client, g->stream, p2p_host_word(g->p, P2P_WORD_TRIGGERED), number));
  // The dependent kernel is launched by the callback thread; the next message comes after it.
  if (g->ops->wait(g->ops->context, p2p_host_word(g->p, P2P_WORD_CONSUMED), STRETTO_WAIT_AT_LEAST,
                   number) == RANKS_FAILED) {
    return STRETTO_ERROR_STATE;
  }
  TRY(g->api->stream_synchronize(g->client, g->copies));
  uint64_t begin;
  TRY(read_stamps(g, 0, 1, &begin));
  const p2p_times_t* t = &shared->times;
  const uint64_t parts[P2P_PARTS] = {t->triggered - begin, t->waited - t->triggered,
                                     t->released - t->copied, t->locked - t->released,
                                     t->consumer - t->locked};
  for (unsigned i = 0; i < P2P_PARTS; ++i) g->result->parts_ns[size][i] += parts[i];
  g->result->latency_ns[size] += t->consumer - begin;
  return STRETTO_OK;
}

static stretto_status_t driven_latency(p2p_rank_t* g, uint32_t size) {
  const uint64_t ready = p2p_host_word(g->p, P2P_WORD_READY);
  if (g->ops->wait(g->ops->context, ready, STRETTO_WAIT_AT_LEAST, 1) == RANKS_FAILED)
    return STRETTO_ERROR_STATE;
  for (uint32_t i = 0; g->p->rank == 0 && i < g->p->rounds; ++i) TRY(driven_message(g, size));
  return meet(g);
}

// Kernels send

static stretto_status_t launch_messages(p2p_rank_t* g, const stretto_kernel_t* kernel,
                                        const stretto_message_arguments_t* arguments) {
  const stretto_launch_t launch = {.kernel = kernel,
                                   .arguments = arguments,
                                   .argument_bytes = sizeof *arguments,
                                   .work_groups = 1,
                                   .account = P2P_ACCOUNT_SEND,
                                   .communication = 1,
                                   .after_all_earlier = 1};
  return g->api->launch(g->client, g->stream, &launch);
}

static stretto_message_arguments_t message_arguments(const p2p_rank_t* g, uint32_t size) {
  const uint32_t units = (uint32_t)(g->p->bytes[size] >> P2P_UNIT_SHIFT);
  const uint32_t step = (uint32_t)(p2p_stride(g->p, size) >> P2P_UNIT_SHIFT);
  return (stretto_message_arguments_t){
      .ring = {.window = g->window,
               .ticket = g->words + P2P_TICKET,
               .replica = replica_of(g),
               .depth = STRETTO_SEND_RING_DEPTH},
      .request =
          stretto_send_request(STRETTO_SR_WRITE, SOURCE_ID, PEER_ID, CONNECTION, 0, units, 0),
      .stamps = g->words + P2P_STAMPS,
      .step = step,
      .wrap = (uint32_t)(p2p_places(g->p, size) * step),
      .initiator = g->p->rank == 0};
}

// From the first request to the arrival of the last message: what is sent may still be on its way.
// The cycle counters of all GPUs began together.
static stretto_status_t send_rate(p2p_rank_t* g, uint32_t size) {
  const int sends = g->p->rank == 0;
  uint64_t ns;
  stretto_message_arguments_t arguments = message_arguments(g, size);
  arguments.count = g->p->messages[size];
  if (sends) {
    arguments.flag = g->words + P2P_SC + 8 * SOURCE_ID;
    arguments.flag_base = g->sent;
    g->sent += arguments.count;
  } else {
    arguments.flag = g->words + P2P_RC + 8 * PEER_ID;
    arguments.flag_base = g->received;
    g->received += arguments.count;
  }
  TRY(launch_messages(g, sends ? &g->send_stream : &g->receive_stream, &arguments));
  TRY(read_stamps(g, 0, 1, &ns));
  if (!sends) g->shared->arrived_ns = ns;
  TRY(meet(g));
  if (sends) g->result->rate_ns[size] = g->shared->arrived_ns - ns;
  return STRETTO_OK;
}

static stretto_status_t send_latency(p2p_rank_t* g, uint32_t size) {
  uint64_t ns[2];
  stretto_message_arguments_t arguments = message_arguments(g, size);
  arguments.request |= STRETTO_SR_RC;
  // The peer's requests write the flag of the buffer that they name: its id at the peer.
  arguments.flag = g->words + P2P_RC + 8 * PEER_ID;
  arguments.flag_base = g->received;
  arguments.count = g->p->rounds;
  if (g->p->rank == 0) {
    TRY(meet(g));
    g->ops->charge_cpu_ns(g->ops->context, HEAD_START_NS);
  }
  TRY(launch_messages(g, &g->ping_pong, &arguments));
  if (g->p->rank == 1) TRY(meet(g));
  const uint64_t first = g->sent;
  g->sent += g->p->rounds;
  g->received += g->p->rounds;
  TRY(read_stamps(g, 0, 2, ns));
  if (g->p->rank == 0) {
    g->result->latency_ns[size] = ns[1] - ns[0];
    if (g->p->engine == P2P_G_DRV_S)
      g->result->request_ns[size] = g->shared->found_ns[0][first % STRETTO_SEND_RING_DEPTH] - ns[0];
  }
  return meet(g);
}

static stretto_status_t measure(p2p_rank_t* g, uint32_t size) {
  const int latency = g->p->bytes[size] <= g->p->latency_bytes;
  switch (g->p->engine) {
    case P2P_MEMCPY:
      if (g->p->rank == 0) TRY(copy_rate(g, size));
      return meet(g);
    case P2P_C_ASYNC:
      if (g->p->rank == 0) TRY(copy_rate(g, size));
      return latency ? async_latency(g, size) : meet(g);
    case P2P_C_DRV: return driven_latency(g, size);
    default: TRY(send_rate(g, size)); return latency ? send_latency(g, size) : STRETTO_OK;
  }
}

static stretto_status_t run(p2p_rank_t* g) {
  TRY(set_up(g));
  TRY(meet(g));
  for (uint32_t size = 0; size < g->p->sizes; ++size) TRY(measure(g, size));
  return STRETTO_OK;
}

// The other threads end when rank 0 does.
static void stop_threads(p2p_rank_t* g) {
  const stretto_host_ops_t* ops = g->ops;
  if (g->p->engine == P2P_C_DRV && g->p->rank == 0) {
    ops->lock(ops->context, p2p_mutex(g->p));
    g->shared->stop = 1;
    ops->notify(ops->context, p2p_mutex(g->p));
    ops->unlock(ops->context, p2p_mutex(g->p));
    ops->store(ops->context, p2p_host_word(g->p, P2P_WORD_TRIGGERED), RANKS_FAILED);
    ops->store(ops->context, p2p_host_word(g->p, P2P_WORD_WAITED), RANKS_FAILED);
    ops->store(ops->context, p2p_event(g->p, g->shared->messages), RANKS_FAILED);
  }
  if (g->p->engine == P2P_G_DRV_H && g->card.ops != NULL) stretto_card_stop_waiting(&g->card);
  if (g->p->engine != P2P_G_DRV_S) return;
  const uint64_t stop = 1, failed = RANKS_FAILED;
  if (!g->p->on_smartnic) {
    ops->store(ops->context, stop_word(g->p), stop);
    return;
  }
  ops->write(ops->context, stop_word(g->p), &stop, 8);
  if (!g->engine_is_set_up)
    ops->write(ops->context, p2p_engine_memory(g->p) + P2P_SMARTNIC_READY, &failed, 8);
}

stretto_status_t p2p_rank(const p2p_parameters_t* parameters, p2p_shared_t* shared,
                          const stretto_host_ops_t* ops, p2p_result_t* result, char* error) {
  p2p_rank_t g = {.p = parameters,
                  .shared = shared,
                  .ops = ops,
                  .ranks = p2p_ranks(parameters, ops),
                  .result = result};
  *result = (p2p_result_t){0};
  stretto_status_t status = STRETTO_ERROR_ARGUMENT;
  g.client = stretto_client_create(&parameters->client, ops);
  if (g.client != NULL) {
    g.api = g.client->api;
    status = run(&g);
  }
  if (status != STRETTO_OK) {
    const char* why = g.client != NULL ? g.api->last_error(g.client) : "";
    snprintf(error, 256, "rank %u: %s", parameters->rank,
             why[0] != '\0' ? why : stretto_status_text(status));
    ops->store(ops->context, ranks_word(&g.ranks, parameters->rank), RANKS_FAILED);
  }
  stop_threads(&g);
  stretto_client_destroy(g.client);
  return status;
}
