// SPDX-License-Identifier: Apache-2.0
// Targets that are written directly (engine gdma, ring): each rank registers its own target and
// that of the next rank at its request ring. Entries are kept, since programs use the same buffers
// again. All ranks know the targets of all (enqueue.c), so they keep the same entries under the
// same ids.
#include <string.h>

#include "sw/collectives/internal.h"

// Below this the registration is not worth it.
#define DIRECT_MIN_BYTES 65536u

// The unit in which a buffer of so many bytes can be addressed.
static uint32_t unit_shift(uint64_t bytes) {
  uint32_t shift = STRETTO_COMM_UNIT_SHIFT;
  while (bytes >> shift > STRETTO_SEND_MAX_UNITS) ++shift;
  return shift;
}

uint64_t direct_bytes(const operation_t* o) {
  const stretto_comm_t* comm = &o->comm->comm;
  const stretto_collective_arguments_t* a = &o->arguments;
  const int ring = comm->engine == STRETTO_ENGINE_GDMA && comm->links == STRETTO_LINKS_RING;
  if (!ring || comm->ranks == 1 || o->comm->direct_entries == 0) return 0;
  const uint64_t block = a->count * a->element_bytes;
  const uint64_t bytes = a->op == STRETTO_ALL_GATHER ? block * comm->ranks : block;
  if (a->op != STRETTO_ALL_REDUCE && a->op != STRETTO_ALL_GATHER && a->op != STRETTO_BROADCAST)
    return 0;
  const uint32_t shift = unit_shift(bytes);
  const uint64_t unit = 1ull << shift;
  if (bytes < DIRECT_MIN_BYTES || shift > STRETTO_SEND_MAX_UNIT_SHIFT || block % unit != 0 ||
      comm->slot_bytes % unit != 0)
    return 0;
  return bytes;
}

static uint32_t entry_id(const ncclComm_t c, uint32_t entry) {
  return c->comm.direct_id + entry * (c->comm.channels + 1u);
}

static stretto_status_t register_entry(const operation_t* o, const direct_entry_t* entry,
                                       uint32_t id) {
  const ncclComm_t c = o->comm;
  const stretto_comm_t* comm = &c->comm;
  stretto_client_t* client = c->device->client;
  stretto_stream_t* stream = o->stream->stream;
  const uint32_t next = (comm->rank + 1u) % comm->ranks;
  const stretto_ring_export_t there = {.base = entry->targets[next],
                                       .bytes = entry->bytes,
                                       .unit_shift = unit_shift(entry->bytes),
                                       .flags = STRETTO_RING_WRITABLE};
  stretto_status_t status =
      client->api->ring_register(client, stream, id, entry->targets[comm->rank], entry->bytes,
                                 unit_shift(entry->bytes), STRETTO_RING_READABLE);
  for (uint32_t channel = 0; channel < comm->channels && status == STRETTO_OK; ++channel)
    status = client->api->ring_import(client, stream, id + 1 + channel, &there);
  return status;
}

ncclResult_t direct_prepare(operation_t* o, const uint64_t* targets) {
  const ncclComm_t c = o->comm;
  const uint64_t bytes = direct_bytes(o);
  const size_t size = c->comm.ranks * sizeof *targets;
  uint32_t index = 0;
  while (index < c->direct_used &&
         (c->direct[index].bytes != bytes || memcmp(c->direct[index].targets, targets, size) != 0))
    ++index;
  if (index == c->direct_used) {
    index = c->direct_next++ % c->direct_entries;
    direct_entry_t* entry = &c->direct[index];
    if (index < c->direct_used) {
      // Kernels that use the old one have ended before it goes.
      TRY_NCCL(runtime_quiet(c->device));
    } else {
      c->direct_used = index + 1;
    }
    entry->bytes = bytes;
    memcpy(entry->targets, targets, size);
    TRY_NCCL(runtime_status(c->runtime, c->device, register_entry(o, entry, entry_id(c, index))));
  }
  o->arguments.direct_id = (uint8_t)entry_id(c, index);
  o->arguments.direct_shift = (uint8_t)unit_shift(bytes);
  return ncclSuccess;
}
