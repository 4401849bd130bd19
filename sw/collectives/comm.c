// SPDX-License-Identifier: Apache-2.0
// Communicators: unique ids, set-up, how ranks meet. Ranks know each other through words of host
// memory: of communicator `id`, rank r, index i. Index 0 says that the rank is set up:
//   [0] 1, [15:8] GPU, [23:16] free buffer id, [31:24] free connection, [63:32] place of the block
//   / 4096
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/internal.h"
#include "sw/include/formats/machine_types.h"

#define HOST_WORDS 0x40000000ull
#define WORDS_OF_COMM (1ull << 20)
#define WORDS_OF_RANK (WORDS_OF_COMM / STRETTO_COMM_MAX_RANKS)
#define BLOCK_ALIGNMENT 4096u
#define RING_WORDS 4096u  // Ticket, replica, send flags.
#define REPLICA_AT 64u
#define SENT_AT 2048u
#define REPLICA_BATCH 16u
#define FAILED UINT64_MAX

uint64_t comm_words(uint32_t id, uint32_t rank, uint32_t index) {
  return ((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) + HOST_WORDS + id * WORDS_OF_COMM +
         rank * WORDS_OF_RANK + 8ull * index;
}

uint64_t comm_word(const struct ncclComm* comm, uint32_t rank, uint32_t index) {
  return comm->words + rank * WORDS_OF_RANK + 8ull * index;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL || id == NULL) return ncclInvalidArgument;
  if (runtime->ids == COMM_IDS_OF_GPU)
    return runtime_fail(runtime, ncclInvalidUsage, "ncclGetUniqueId: at most %u in one program",
                        COMM_IDS_OF_GPU);
  memset(id, 0, sizeof *id);
  snprintf(id->internal, sizeof id->internal, "stretto %u",
           (runtime->options.job * STRETTO_MAX_GPUS + runtime->device) * COMM_IDS_OF_GPU +
               runtime->ids++);
  return ncclSuccess;
}

// Set-up of one rank

static uint32_t links_out(const stretto_comm_t* comm) {
  const uint32_t peers = comm->links == STRETTO_LINKS_RING ? 1 : comm->ranks - 1u;
  return peers * comm->channels;
}

// As many channels as the options ask for and the request ring has connections.
static ncclResult_t choose(ncclComm_t c) {
  const stretto_runtime_options_t* options = &c->runtime->options;
  stretto_comm_t* comm = &c->comm;
  comm->engine = options->engine;
  comm->links = options->links;
  comm->channels = (uint16_t)options->channels;
  comm->slots = (uint16_t)options->slots;
  comm->slot_bytes = options->slot_bytes;
  comm->lines_bytes = comm->engine == STRETTO_ENGINE_MMIO ? options->lines_bytes : 0;
  if (comm->engine != STRETTO_ENGINE_GDMA) return ncclSuccess;
  while (comm->channels > 1 && links_out(comm) > STRETTO_SEND_CONNECTIONS) --comm->channels;
  if (links_out(comm) > STRETTO_SEND_CONNECTIONS)
    return runtime_fail(c->runtime, ncclInvalidUsage,
                        "engine gdma, direct: %u peers, the request ring has %u connections",
                        comm->ranks - 1u, STRETTO_SEND_CONNECTIONS);
  return ncclSuccess;
}

static stretto_status_t start_ring(device_t* device) {
  const stretto_api_t* api = device->client->api;
  stretto_stream_t* stream = device->default_stream->stream;
  if (device->ring != 0) return STRETTO_OK;
  stretto_status_t status = api->allocate(device->client, stream, RING_WORDS, BLOCK_ALIGNMENT,
                                          STRETTO_ALLOCATION_UNCACHED, &device->ring);
  if (status == STRETTO_OK)
    status = api->fill(device->client, stream, device->ring, RING_WORDS, 0,
                       device->runtime->options.accounts.init);
  // The ring's first write of a word comes after this.
  if (status == STRETTO_OK) status = api->stream_synchronize(device->client, stream);
  if (status == STRETTO_OK)
    status = api->ring_start(device->client, stream, device->ring + REPLICA_AT,
                             device->ring + SENT_AT, REPLICA_BATCH);
  return status;
}

// A copy kernel holds more of its unit than it says: what another compiler would have given it.
static stretto_status_t widen(device_t* device, stretto_kernel_t* kernel) {
  const stretto_runtime_options_t* options = &device->runtime->options;
  uint32_t* const bytes = &kernel->descriptor.registers_bytes;
  if (options->engine != STRETTO_ENGINE_MMIO || options->copy_registers_bytes <= *bytes)
    return STRETTO_OK;
  *bytes = options->copy_registers_bytes;
  return device->client->api->copy_to_device(
      device->client, kernel->object + offsetof(stretto_kernel_descriptor_t, registers_bytes),
      bytes, sizeof *bytes);
}

static stretto_status_t load_kernels(device_t* device) {
  const stretto_runtime_options_t* options = &device->runtime->options;
  const stretto_api_t* api = device->client->api;
  stretto_module_t* module = NULL;
  if (device->combine.object != 0) return STRETTO_OK;
  const struct {
    const char* name;
    stretto_kernel_t* kernel;
    int is_copy;  // An engine's, which holds what copy kernels hold.
  } kernels[] = {{"collective", &device->collective[STRETTO_PROTOCOL_SIMPLE], 1},
                 {"send_receive", &device->send_receive[STRETTO_PROTOCOL_SIMPLE], 1},
                 {"collective_ll", &device->collective[STRETTO_PROTOCOL_LL], 1},
                 {"send_receive_ll", &device->send_receive[STRETTO_PROTOCOL_LL], 1},
                 {"combine", &device->combine, 0},
                 {"contribute", &device->contribute, 0}};
  stretto_status_t status =
      api->module_load(device->client, options->kernels, options->kernel_bytes, &module);
  for (unsigned i = 0; i < sizeof kernels / sizeof kernels[0] && status == STRETTO_OK; ++i) {
    if (options->lines_bytes == 0 && strstr(kernels[i].name, "_ll") != NULL) continue;
    status = api->module_kernel(device->client, module, kernels[i].name, kernels[i].kernel);
    if (status == STRETTO_OK && kernels[i].is_copy) status = widen(device, kernels[i].kernel);
  }
  return status;
}

// Of engines dma and t3: all armed; the last unit of the words stays zero.
static stretto_status_t arm_words(device_t* device, stretto_stream_t* stream,
                                  const stretto_comm_t* comm) {
  const uint64_t words = STRETTO_COMM_STEP_BYTES - STRETTO_COMM_UNIT;
  const stretto_status_t status = device->client->api->fill(
      device->client, stream, comm->block, words, 1, device->runtime->options.accounts.init);
  if (status != STRETTO_OK) return status;
  return device->client->api->fill(device->client, stream, comm->block + words, STRETTO_COMM_UNIT,
                                   0, device->runtime->options.accounts.init);
}

// 1 / ranks in each type, rounded to nearest even.
static uint16_t half_of(float value, unsigned exponent_bits) {
  const unsigned mantissa_bits = 15 - exponent_bits, drop = 23 - mantissa_bits;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint32_t rebias = (127u - ((1u << (exponent_bits - 1)) - 1)) << 23;
  bits -= rebias;  // Of 1 .. 1/64: normal in all types.
  return (uint16_t)((bits + (1u << (drop - 1)) - 1 + (bits >> drop & 1)) >> drop);
}

static stretto_status_t fill_scales(device_t* device, stretto_stream_t* stream,
                                    const stretto_comm_t* comm) {
  const float value = 1.0f / comm->ranks;
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  const uint64_t patterns[3] = {half_of(value, 5) * 0x0001000100010001ull,
                                half_of(value, 8) * 0x0001000100010001ull,
                                word * 0x0000000100000001ull};
  stretto_status_t status = STRETTO_OK;
  for (unsigned i = 0; i < 3 && status == STRETTO_OK; ++i)
    status = device->client->api->fill(
        device->client, stream,
        comm->block + stretto_comm_scale_at(comm) + i * STRETTO_COMM_SCALE_BYTES,
        STRETTO_COMM_SCALE_BYTES, patterns[i], device->runtime->options.accounts.init);
  return status;
}

uint64_t comm_scale(const struct ncclComm* c, uint32_t element) {
  const uint64_t index = element == STRETTO_FP16 ? 0 : element == STRETTO_BF16 ? 1 : 2;
  return c->comm.block + stretto_comm_scale_at(&c->comm) + index * STRETTO_COMM_SCALE_BYTES;
}

static int is_linked(const stretto_comm_t* comm, uint32_t peer) {
  const uint32_t distance = (peer + comm->ranks - comm->rank) % comm->ranks;
  if (distance == 0) return 0;
  return comm->links != STRETTO_LINKS_RING || distance == 1 || distance == comm->ranks - 1u;
}

// No line of a FIFO has a flag that is waited for.
static stretto_status_t clear_lines(device_t* device, stretto_stream_t* stream,
                                    const stretto_comm_t* comm) {
  const uint64_t bytes = comm->channels * stretto_comm_lines_fifo_bytes(comm);
  stretto_status_t status = STRETTO_OK;
  for (uint32_t peer = 0; peer < comm->ranks && bytes != 0 && status == STRETTO_OK; ++peer) {
    if (!is_linked(comm, peer)) continue;
    status = device->client->api->fill(device->client, stream,
                                       comm->block + stretto_comm_lines_at(comm) + peer * bytes,
                                       bytes, 0, device->runtime->options.accounts.init);
  }
  return status;
}

static stretto_status_t set_up(ncclComm_t c) {
  device_t* device = c->device;
  const stretto_api_t* api = device->client->api;
  stretto_stream_t* stream = device->default_stream->stream;
  stretto_comm_t* comm = &c->comm;
  stretto_status_t status = load_kernels(device);
  if (status == STRETTO_OK && comm->engine == STRETTO_ENGINE_GDMA) status = start_ring(device);
  if (status == STRETTO_OK)
    status = api->allocate(device->client, stream, stretto_comm_block_bytes(comm), BLOCK_ALIGNMENT,
                           STRETTO_ALLOCATION_UNCACHED, &comm->block);
  // Words and flags; what is in the FIFOs of whole slots does not matter.
  if (status == STRETTO_OK)
    status = stretto_comm_has_links(comm)
                 ? api->fill(device->client, stream, comm->block, stretto_comm_fifo_at(comm), 0,
                             device->runtime->options.accounts.init)
                 : arm_words(device, stream, comm);
  if (status == STRETTO_OK) status = fill_scales(device, stream, comm);
  if (status == STRETTO_OK) status = clear_lines(device, stream, comm);
  if (status == STRETTO_OK) status = api->stream_synchronize(device->client, stream);
  comm->window = stretto_gpu_address(device->client->options.gpu, STRETTO_SEND_APERTURE);
  comm->ticket = device->ring;
  comm->replica = device->ring + REPLICA_AT;
  return status;
}

ncclResult_t comm_set_up(ncclComm_t c) {
  const device_t* device = c->device;
  const stretto_host_ops_t* ops = &c->runtime->options.ops;
  ncclResult_t chosen = choose(c);
  // Nothing can be mapped while a reduce-scatter of engine t3 is under way.
  if (chosen == ncclSuccess && c->comm.engine == STRETTO_ENGINE_T3)
    chosen = runtime_quiet(c->device);
  const ncclResult_t result =
      chosen != ncclSuccess ? chosen : runtime_status(c->runtime, device, set_up(c));
  const uint64_t offset = c->comm.block & STRETTO_OFFSET_MASK;
  const uint64_t word = 1 | (uint64_t)device->client->options.gpu << 8 |
                        (uint64_t)(device->next_id > 255 ? 255 : device->next_id) << 16 |
                        (uint64_t)device->next_connection << 24 | offset / BLOCK_ALIGNMENT << 32;
  ops->store(ops->context, comm_word(c, c->comm.rank, 0), result == ncclSuccess ? word : FAILED);
  return result;
}

// All ranks

// Reads what the others have said of themselves.
static ncclResult_t meet(ncclComm_t c) {
  const stretto_host_ops_t* ops = &c->runtime->options.ops;
  stretto_comm_t* comm = &c->comm;
  const uint64_t own = (comm->block & STRETTO_OFFSET_MASK) / BLOCK_ALIGNMENT;
  for (uint32_t rank = 0; rank < comm->ranks; ++rank) {
    runtime_at(c->runtime, "rank %u of %u, ncclCommInitRank: waits for rank %u to call", comm->rank,
               comm->ranks, rank);
    const uint64_t word = ops->wait(ops->context, comm_word(c, rank, 0), STRETTO_WAIT_AT_LEAST, 1);
    if (word == FAILED)
      return runtime_fail(c->runtime, ncclSystemError, "rank %u failed in its set-up", rank);
    comm->gpu[rank] = (uint8_t)(word >> 8);
    if ((uint8_t)(word >> 16) > comm->first_id) comm->first_id = (uint8_t)(word >> 16);
    if ((uint8_t)(word >> 24) > comm->first_connection)
      comm->first_connection = (uint8_t)(word >> 24);
    if (word >> 32 != own)
      return runtime_fail(c->runtime, ncclInvalidUsage,
                          "rank %u has allocated other memory before ncclCommInitRank than rank %u",
                          rank, comm->rank);
  }
  c->runtime->position[0] = '\0';
  return ncclSuccess;
}

static int have_link(const stretto_runtime_options_t* options, uint32_t a, uint32_t b) {
  return !options->neighbours || stretto_ring_neighbours(options->gpus, a, b);
}

// Every rank checks the whole ring, so that all fail.
static ncclResult_t check_ring(ncclComm_t c) {
  const stretto_runtime_options_t* options = &c->runtime->options;
  const stretto_comm_t* comm = &c->comm;
  for (uint32_t rank = 0; rank < comm->ranks; ++rank) {
    const uint32_t next = (rank + 1u) % comm->ranks;
    if (have_link(options, comm->gpu[rank], comm->gpu[next])) continue;
    return runtime_fail(
        c->runtime, ncclInvalidUsage,
        "ranks %u and %u of %u are on GPUs %u and %u, which have no link: on a ring of %u GPUs a "
        "communicator holds all of them in their order, or two neighbours (gpus=%u makes a ring of "
        "%u)",
        rank, next, comm->ranks, comm->gpu[rank], comm->gpu[next], options->gpus, comm->ranks,
        comm->ranks);
  }
  return ncclSuccess;
}

// The staging areas of this rank, and the FIFOs that it fills.
static stretto_status_t register_links(ncclComm_t c, uint32_t peer) {
  const stretto_comm_t* comm = &c->comm;
  device_t* device = c->device;
  const stretto_api_t* api = device->client->api;
  stretto_stream_t* stream = device->default_stream->stream;
  const uint64_t bytes = stretto_comm_fifo_bytes(comm);
  const uint64_t there = stretto_gpu_address(comm->gpu[peer], comm->block & STRETTO_OFFSET_MASK);
  stretto_status_t status = STRETTO_OK;
  for (uint32_t channel = 0; channel < comm->channels && status == STRETTO_OK; ++channel) {
    const uint32_t outgoing = stretto_comm_outgoing(comm, peer, channel);
    const uint64_t staging = comm->block + stretto_comm_staging_at(comm) +
                             stretto_comm_link(comm, peer, channel) * bytes;
    const stretto_ring_export_t fifo = {
        .base = there + stretto_comm_fifo_at(comm) +
                stretto_comm_link(comm, comm->rank, channel) * bytes,
        .bytes = bytes,
        .unit_shift = STRETTO_COMM_UNIT_SHIFT,
        .flags = STRETTO_RING_WRITABLE};
    status = api->ring_register(device->client, stream, comm->staging_id + outgoing, staging, bytes,
                                STRETTO_COMM_UNIT_SHIFT, STRETTO_RING_READABLE);
    if (status == STRETTO_OK)
      status = api->ring_connect(device->client, stream, comm->first_connection + outgoing,
                                 comm->gpu[peer], there + stretto_comm_flags_at(comm), 0);
    if (status == STRETTO_OK)
      status = api->ring_import(device->client, stream,
                                stretto_comm_buffer_id(comm, comm->rank, peer, channel), &fifo);
  }
  return status;
}

static stretto_status_t map_peer(ncclComm_t c, uint32_t peer) {
  const stretto_comm_t* comm = &c->comm;
  device_t* device = c->device;
  const uint64_t there = stretto_gpu_address(comm->gpu[peer], comm->block & STRETTO_OFFSET_MASK);
  return device->client->api->remote_map(device->client, device->default_stream->stream, there,
                                         stretto_comm_block_bytes(comm), there, 0);
}

// Ids and connections of the request ring, equal on all ranks.
static ncclResult_t take_ids(ncclComm_t c) {
  stretto_comm_t* comm = &c->comm;
  if (comm->engine != STRETTO_ENGINE_GDMA) return ncclSuccess;
  const uint32_t out = links_out(comm);
  const uint32_t fifos =
      comm->links == STRETTO_LINKS_RING ? comm->channels : comm->ranks * (uint32_t)comm->channels;
  if (comm->first_id + fifos + out > STRETTO_SEND_BUFFERS ||
      comm->first_connection + out > STRETTO_SEND_CONNECTIONS)
    return runtime_fail(c->runtime, ncclInvalidUsage,
                        "engine gdma: the request ring has no room for %u more links (connections "
                        "%u of %u are taken)",
                        out, comm->first_connection, STRETTO_SEND_CONNECTIONS);
  comm->staging_id = (uint8_t)(comm->first_id + fifos);
  c->device->next_id = comm->first_id + fifos + out;
  c->direct_entries = (STRETTO_SEND_BUFFERS - c->device->next_id) / (comm->channels + 1u);
  if (c->direct_entries > DIRECT_ENTRIES) c->direct_entries = DIRECT_ENTRIES;
  comm->direct_id = (uint8_t)c->device->next_id;
  c->device->next_id += c->direct_entries * (comm->channels + 1u);
  c->device->next_connection = comm->first_connection + out;
  return ncclSuccess;
}

ncclResult_t comm_join(ncclComm_t c) {
  const stretto_comm_t* comm = &c->comm;
  device_t* device = c->device;
  TRY_NCCL(meet(c));
  TRY_NCCL(check_ring(c));
  TRY_NCCL(take_ids(c));
  for (uint32_t peer = 0; peer < comm->ranks; ++peer) {
    if (!stretto_comm_has_links(comm) || !is_linked(comm, peer)) continue;
    TRY_NCCL(runtime_status(c->runtime, device, map_peer(c, peer)));
    const uint32_t next = (comm->rank + 1u) % comm->ranks;
    if (comm->engine == STRETTO_ENGINE_GDMA && (comm->links != STRETTO_LINKS_RING || peer == next))
      TRY_NCCL(runtime_status(c->runtime, device, register_links(c, peer)));
  }
  return runtime_status(
      c->runtime, device,
      device->client->api->stream_synchronize(device->client, device->default_stream->stream));
}

ncclResult_t comm_create(stretto_runtime_t* runtime, uint32_t gpu, int ranks, uint32_t id, int rank,
                         ncclComm_t* comm) {
  if (comm == NULL || ranks < 1 || ranks > STRETTO_COMM_MAX_RANKS || rank < 0 || rank >= ranks)
    return runtime_fail(runtime, ncclInvalidArgument,
                        "ncclCommInitRank: rank %d of %d (at most %d)", rank, ranks,
                        STRETTO_COMM_MAX_RANKS);
  device_t* device = runtime_device(runtime, gpu);
  if (device == NULL) return ncclSystemError;
  ncclComm_t created = calloc(1, sizeof *created);
  if (created == NULL) return ncclSystemError;
  created->runtime = runtime;
  created->device = device;
  created->words = comm_words(id, 0, 0);
  created->comm.rank = (uint16_t)rank;
  created->comm.ranks = (uint16_t)ranks;
  created->next = runtime->comms;
  runtime->comms = created;
  *comm = created;
  return ncclSuccess;
}

int comm_is_known(ncclComm_t comm) {
  const stretto_runtime_t* runtime = runtime_current();
  const struct ncclComm* one = runtime == NULL ? NULL : runtime->comms;
  while (one != NULL && one != comm) one = one->next;
  return one != NULL;
}

static ncclResult_t check_comm(const char* what, ncclComm_t comm) {
  if (comm_is_known(comm)) return ncclSuccess;
  if (runtime_current() == NULL) return ncclInvalidUsage;
  return runtime_fail(runtime_current(), ncclInvalidArgument, "%s: no communicator of this program",
                      what);
}

// Waits for what is under way; refused while a call waits for the end of its group.
static ncclResult_t destroy(const char* what, ncclComm_t comm) {
  TRY_NCCL(check_comm(what, comm));
  stretto_runtime_t* runtime = comm->runtime;
  for (const operation_t* o = runtime->first; o != NULL; o = o->next) {
    char pending[OPERATION_TEXT];
    if (o->comm != comm) continue;
    operation_text(o, pending, sizeof pending);
    return runtime_fail(runtime, ncclInvalidUsage, "%s: %s waits for the end of its group", what,
                        pending);
  }
  TRY_NCCL(runtime_quiet(comm->device));
  if (comm->stage != 0 && runtime_release(comm->device, comm->stage) != cudaSuccess)
    return ncclUnhandledCudaError;
  ncclComm_t* link = &runtime->comms;
  while (*link != comm) link = &(*link)->next;
  *link = comm->next;
  free(comm);
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) { return destroy("ncclCommDestroy", comm); }

ncclResult_t ncclCommAbort(ncclComm_t comm) { return destroy("ncclCommAbort", comm); }

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  TRY_NCCL(check_comm("ncclCommGetAsyncError", comm));
  if (error == NULL) return ncclInvalidArgument;
  *error = comm->runtime->status == STRETTO_OK ? ncclSuccess : ncclSystemError;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  TRY_NCCL(check_comm("ncclCommCount", comm));
  if (count == NULL) return ncclInvalidArgument;
  *count = comm->comm.ranks;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  TRY_NCCL(check_comm("ncclCommCuDevice", comm));
  if (device == NULL) return ncclInvalidArgument;
  *device = (int)comm->device->number;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  TRY_NCCL(check_comm("ncclCommUserRank", comm));
  if (rank == NULL) return ncclInvalidArgument;
  *rank = comm->comm.rank;
  return ncclSuccess;
}
