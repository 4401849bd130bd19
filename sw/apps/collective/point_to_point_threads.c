// SPDX-License-Identifier: Apache-2.0
// Threads beside the ranks of point_to_point: the software engine of g-drv-s; polling thread,
// callback thread and observer of c-drv.
#include "sw/apps/collective/point_to_point_internal.h"

stretto_status_t p2p_send_engine(const p2p_parameters_t* parameters, p2p_shared_t* shared,
                                 const stretto_host_ops_t* ops, send_engine_counts_t* counts,
                                 char* error) {
  // The rank tells what is registered before it lets kernels send.
  const ranks_t ranks = p2p_ranks(parameters, ops);
  ops->wait(ops->context, ranks_word(&ranks, ranks.rank), STRETTO_WAIT_AT_LEAST, 1);
  stretto_client_t* client = stretto_client_create(&parameters->client, ops);
  if (client == NULL) return STRETTO_ERROR_ARGUMENT;
  const stretto_status_t status =
      send_engine_run(&shared->engine[parameters->rank], client, counts, error);
  if (status != STRETTO_OK) ops->store(ops->context, ranks_word(&ranks, ranks.rank), RANKS_FAILED);
  stretto_client_destroy(client);
  return status;
}

stretto_status_t p2p_smartnic_engine(const p2p_parameters_t* parameters,
                                     const stretto_host_ops_t* ops, send_engine_counts_t* counts,
                                     char* error) {
  const uint64_t memory = p2p_engine_memory(parameters);
  const uint64_t ready =
      ops->wait(ops->context, memory + P2P_SMARTNIC_READY, STRETTO_WAIT_AT_LEAST, 1);
  if (ready == RANKS_FAILED) return STRETTO_OK;
  send_engine_setup_t setup;
  ops->read(ops->context, memory + P2P_SMARTNIC_SETUP, &setup, sizeof setup);
  stretto_client_t* client = stretto_client_create(&parameters->client, ops);
  if (client == NULL) return STRETTO_ERROR_ARGUMENT;
  const stretto_status_t status = send_engine_run(&setup, client, counts, error);
  if (status != STRETTO_OK) {
    const ranks_t ranks = p2p_ranks(parameters, ops);
    const uint64_t failed = RANKS_FAILED;
    ops->write(ops->context, ranks_word(&ranks, ranks.rank), &failed, 8);
  }
  stretto_client_destroy(client);
  return status;
}

void p2p_worker(const p2p_parameters_t* parameters, const stretto_host_ops_t* ops,
                uint32_t worker) {
  const uint64_t memory = p2p_engine_memory(parameters);
  send_engine_setup_t setup = {.workers = parameters->workers,
                               .signals = memory + SEND_ENGINE_RING_BYTES,
                               .jobs = memory + P2P_ENGINE_JOBS};
  send_engine_worker(&setup, worker, ops);
}

// A framework's threads (GD-CDRV-01..05)

// One round asks for every outstanding event with the mutex held; then those that were found are
// handed to the callback thread. Events of the other streams stay open all the time.
void p2p_polling_thread(const p2p_parameters_t* p, p2p_shared_t* shared,
                        const stretto_host_ops_t* ops) {
  uint64_t seen = 0;
  for (;;) {
    ops->lock(ops->context, p2p_mutex(p));
    if (shared->stop) break;
    int found = 0;
    for (uint32_t event = 0; event < p->outstanding_events; ++event) {
      ops->charge_cpu_ns(ops->context, p->event_query_ns);
      found |= send_engine_load(ops, p2p_host_word(p, P2P_WORD_EVENTS + event)) == seen + 1;
    }
    if (found) {
      shared->found = ++seen;
      ops->notify(ops->context, p2p_mutex(p));
      shared->times.released = ops->now_ns(ops->context);
    }
    ops->unlock(ops->context, p2p_mutex(p));
    ops->charge_cpu_ns(ops->context, p->event_poll_delay_ns);
  }
  ops->unlock(ops->context, p2p_mutex(p));
}

static stretto_status_t launch_dependent(stretto_client_t* client, stretto_stream_t* stream,
                                         const stretto_kernel_t* kernel, uint64_t word,
                                         const p2p_parameters_t* p, uint64_t* consumer) {
  const uint64_t host = p2p_host_word(p, P2P_WORD_STAMPS + 2 * P2P_MAX_STAMPS);
  TRY(p2p_launch_stamp(client, stream, kernel, word));
  TRY(client->api->copy(client, stream, host, word, 8, STRETTO_ACCOUNT_OTHER));
  TRY(client->api->stream_synchronize(client, stream));
  *consumer = send_engine_load(&client->ops, host) * 1000 / p->clock_mhz;
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
  ops->lock(ops->context, p2p_mutex(p));
  ops->store(ops->context, p2p_host_word(p, P2P_WORD_READY),
             status == STRETTO_OK ? 1 : RANKS_FAILED);
  while (status == STRETTO_OK) {
    while (shared->found == done && !shared->stop) ops->sleep(ops->context, p2p_mutex(p));
    if (shared->stop) break;
    shared->times.locked = ops->now_ns(ops->context);
    status = launch_dependent(client, stream, &kernel, word, p, &shared->times.consumer);
    if (status == STRETTO_OK) ops->store(ops->context, p2p_host_word(p, P2P_WORD_CONSUMED), ++done);
  }
  ops->unlock(ops->context, p2p_mutex(p));
  if (status != STRETTO_OK)
    ops->store(ops->context, p2p_host_word(p, P2P_WORD_CONSUMED), RANKS_FAILED);
  stretto_client_destroy(client);
}

void p2p_observer_thread(const p2p_parameters_t* p, p2p_shared_t* shared,
                         const stretto_host_ops_t* ops) {
  uint64_t* const times[3] = {&shared->times.triggered, &shared->times.waited,
                              &shared->times.copied};
  for (uint64_t number = 1;; ++number) {
    const uint64_t words[3] = {p2p_host_word(p, P2P_WORD_TRIGGERED),
                               p2p_host_word(p, P2P_WORD_WAITED), p2p_event(p, number)};
    for (uint32_t i = 0; i < 3; ++i) {
      if (ops->wait(ops->context, words[i], STRETTO_WAIT_AT_LEAST, number) == RANKS_FAILED) return;
      *times[i] = ops->now_ns(ops->context);
    }
  }
}

stretto_status_t p2p_card_watch(const p2p_parameters_t* p, const stretto_host_ops_t* ops,
                                char* error) {
  stretto_card_t card;
  TRY(stretto_card_init(&card, ops, p->client.gpu, p2p_host_word(p, P2P_WORD_CARD + 2 * p->rank)));
  return stretto_card_wait_error(&card, error, 256) != NULL ? STRETTO_ERROR_DEVICE : STRETTO_OK;
}
