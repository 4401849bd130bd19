// SPDX-License-Identifier: Apache-2.0
// Engine t3: a reduce-scatter that the Tracker drives, as behind a GEMM (T3 4.2), with a copy of
// the source in the GEMM's place. A working area holds one block a rank, each as whole tiles of one
// row, behind each other. Kernel `contribute` adds the source to it: block r + 1 goes straight to
// rank r - 1, the others here, where an update from rank r + 1 is added; what has both is sent on
// by the DMA engine as an update, and block r stays. Then it is copied to the target; the second
// half of an all-reduce is that of engine dma.
//
// The updates of rank r may leave when rank r - 1 has configured its Tracker: it says so (steps.c).
#include "sw/collectives/internal.h"
#include "sw/include/formats/machine_types.h"

#define UPDATES 2u
// A tile is written by one wavefront; the Tracker counts at most 32768 half-words (rtl/tracker).
#define TILE_BYTES (32768u * 2 / UPDATES)
#define SPILL_BYTES_OF_TILE 64u
#define MAX_TILES 65536u

tracked_plan_t tracked_plan(const operation_t* o, uint64_t block_bytes) {
  const uint32_t ranks = o->comm->comm.ranks;
  tracked_plan_t plan = {.tiles = (block_bytes + TILE_BYTES - 1) / TILE_BYTES};
  // Tiles of equal length with little behind the end.
  if (plan.tiles != 0)
    plan.tile_bytes = ((block_bytes + plan.tiles - 1) / plan.tiles + 63) & ~63ull;
  plan.bytes = plan.tiles * ranks * plan.tile_bytes;
  plan.spill_bytes = plan.tiles * ranks * SPILL_BYTES_OF_TILE;
  return plan;
}

ncclResult_t tracked_check(const operation_t* o, uint64_t block_bytes) {
  const stretto_collective_arguments_t* a = &o->arguments;
  if (o->kind != OPERATION_COLLECTIVE ||
      (a->op != STRETTO_ALL_REDUCE && a->op != STRETTO_REDUCE_SCATTER) || o->reduction != ncclSum)
    return runtime_fail(
        o->comm->runtime, ncclInvalidUsage,
        "engine t3: only all_reduce and reduce_scatter with reduction sum: memory adds");
  if (o->comm->comm.links != STRETTO_LINKS_RING)
    return runtime_fail(o->comm->runtime, ncclInvalidUsage, "engine t3: only on a ring");
  if (tracked_plan(o, block_bytes).tiles * o->comm->comm.ranks > MAX_TILES)
    return runtime_fail(o->comm->runtime, ncclInvalidUsage,
                        "engine t3: more than %u tiles of %u bytes", MAX_TILES, TILE_BYTES);
  return ncclSuccess;
}

static stretto_status_t map_blocks(const operation_t* o, const tracked_plan_t* plan,
                                   stretto_stream_t* stream) {
  const stretto_comm_t* comm = &o->comm->comm;
  stretto_client_t* client = o->comm->device->client;
  const uint32_t previous = (comm->rank + comm->ranks - 1u) % comm->ranks;
  for (uint32_t position = 1; position <= comm->ranks; ++position) {
    const uint32_t block = (comm->rank + position) % comm->ranks;
    const stretto_tile_map_t map = {.first_tile = (uint32_t)(block * plan->tiles),
                                    .tile_count = (uint32_t)plan->tiles,
                                    .peer_base = o->stages[previous],
                                    .updates = UPDATES,
                                    .flags = STRETTO_MAP_UPDATE | STRETTO_MAP_TRACKED,
                                    .allocation = STRETTO_ALLOCATION_UNCACHED};
    const stretto_status_t status =
        position == comm->ranks ? client->api->local_map_tiles(client, stream, &map)
        : position == 1         ? client->api->remote_map_tiles(client, stream, &map)
                                : client->api->dma_map_tiles(client, stream, &map);
    if (status != STRETTO_OK) return status;
  }
  return STRETTO_OK;
}

stretto_status_t tracked_configure(const operation_t* o, uint64_t block_bytes, uint64_t free_word) {
  const tracked_plan_t plan = tracked_plan(o, block_bytes);
  const stretto_comm_t* comm = &o->comm->comm;
  stretto_client_t* client = o->comm->device->client;
  const stretto_api_t* api = client->api;
  stretto_stream_t* stream = o->stream->stream;
  const uint64_t work = o->stages[comm->rank], spill = work + plan.bytes;
  const uint32_t tiles = (uint32_t)(plan.tiles * comm->ranks);
  const uint32_t columns = (uint32_t)plan.tile_bytes / o->arguments.element_bytes;
  const stretto_output_config_t output = {
      .base = work,
      .m = tiles,
      .n = columns,
      .pitch = (uint32_t)plan.tile_bytes,
      .tile_m = 1,
      .tile_n = (uint16_t)columns,
      .wavefronts = 1,
      .updates = UPDATES,
      .element = o->arguments.element,
      .account = (uint8_t)o->comm->runtime->options.accounts.reduce,
      .work_groups = tiles};
  stretto_status_t status = api->fill(client, stream, work, plan.bytes + plan.spill_bytes, 0,
                                      o->comm->runtime->options.accounts.init);
  // What follows finds zeros: a signal waits for what is before it.
  if (status == STRETTO_OK) status = api->signal(client, stream, free_word, 1);
  if (status == STRETTO_OK) status = api->spill_table(client, stream, spill, plan.spill_bytes);
  if (status == STRETTO_OK) status = api->configure_output(client, stream, &output);
  return status == STRETTO_OK ? map_blocks(o, &plan, stream) : status;
}

stretto_status_t tracked_start(const operation_t* o, uint64_t block_bytes, uint64_t total_bytes) {
  const tracked_plan_t plan = tracked_plan(o, block_bytes);
  const stretto_comm_t* comm = &o->comm->comm;
  stretto_client_t* client = o->comm->device->client;
  stretto_stream_t* stream = o->stream->stream;
  const uint32_t first = (comm->rank + 1u) % comm->ranks;
  const stretto_contribute_arguments_t arguments = {
      .source = o->arguments.source,
      .output = o->stages[comm->rank],
      .zeros = comm->block + STRETTO_COMM_STEP_BYTES - STRETTO_COMM_UNIT,
      .block_bytes = block_bytes,
      .total_bytes = total_bytes,
      .tile_bytes = (uint32_t)plan.tile_bytes,
      .block_tiles = (uint32_t)plan.tiles,
      .element = o->arguments.element};
  const stretto_launch_t launch = {.kernel = &o->comm->device->contribute,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = (uint32_t)plan.tiles * comm->ranks,
                                   .stagger = (uint32_t)(first * plan.tiles),
                                   .account = o->comm->runtime->options.accounts.reduce,
                                   .update = 1,
                                   .after_all_earlier = 1};
  stretto_status_t status = client->api->launch(client, stream, &launch);
  if (status == STRETTO_OK) status = client->api->collective_wait(client, stream);
  return status == STRETTO_OK ? client->api->reset_maps(client, stream, 0) : status;
}
