// SPDX-License-Identifier: Apache-2.0
// Programs Tracker, DMA table and range table: see trigger_service.h.
//
// FIRMWARE_NO_TRACKER builds an image that leaves the Tracker alone, for the test that such a run
// is found out. FIRMWARE_WHOLE_CHUNKS: one whose DMA waits for whole chunks. FIRMWARE_OTHER_PEER: one
// that sends the tiles of each remote map to the GPU behind the one that was asked for, of four.
// FIRMWARE_OPERAND_ADDS: one whose memory adds each operand. FIRMWARE_SENDER_TOO_FEW: one whose switch
// does not wait for the last sender.
#include "sw/firmware/services/trigger_service.h"

#include <stddef.h>

#include "sw/firmware/hal/grid_control.h"
#include "sw/firmware/hal/switch_adder.h"
#include "sw/firmware/services/memory_range.h"
#include "sw/firmware/services/report.h"
#include "sw/include/formats/machine_types.h"

#define SPILL_BYTES_OF_TILE 64u
#define TRACKER_POLLS 1000u

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t element_bytes(const stretto_output_config_t* output) {
  switch (output->element) {
    case STRETTO_FP16:
    case STRETTO_BF16: return 2;
    case STRETTO_FP32:
    case STRETTO_INT32: return 4;
    case STRETTO_E4M3:
    case STRETTO_E5M2: return 1;
    default: return 0;  // No numbers.
  }
}

fw_result_t trigger_service_init(trigger_service_t* service, shared_t* shared) {
  if (service == NULL || shared == NULL) return STRETTO_ERROR_ARGUMENT;
  *service = (trigger_service_t){.shared = shared};
  const fw_result_t result = tracker_init(&service->tracker);
  if (result != STRETTO_OK) return result;
  return range_table_init(&service->ranges);
}

fw_result_t trigger_service_spill_table(trigger_service_t* service,
                                        const stretto_spill_table_t* spill) {
  if (service == NULL || spill == NULL) return STRETTO_ERROR_ARGUMENT;
  if (service->tiles != 0) return STRETTO_ERROR_STATE;
  if (!in_gpu_memory(spill->base, spill->bytes, service->shared->gpu_id))
    return STRETTO_ERROR_UNMAPPED;
  const fw_result_t result = tracker_set_spill_table(&service->tracker, spill->base, spill->bytes);
  if (result == STRETTO_OK) service->spill = *spill;
  return result;
}

// The last trigger may be followed by answers of the spill table: a few memory latencies.
static fw_result_t stop_tracker(const trigger_service_t* service) {
  fw_result_t result = STRETTO_ERROR_STATE;
  for (unsigned i = 0; i < TRACKER_POLLS && result == STRETTO_ERROR_STATE; ++i) {
    result = tracker_stop(&service->tracker);
  }
  return result;
}

fw_result_t trigger_service_output(trigger_service_t* service,
                                   const stretto_output_config_t* output) {
  if (service == NULL || output == NULL) return STRETTO_ERROR_ARGUMENT;
  if (service->runs != 0) return STRETTO_ERROR_STATE;
  const uint32_t bytes = element_bytes(output);
  if (bytes == 0 || output->account >= STRETTO_ACCOUNTS) return STRETTO_ERROR_ARGUMENT;
  if (output->m == 0 || output->n == 0 || output->tile_m == 0 || output->tile_n == 0)
    return STRETTO_ERROR_ARGUMENT;
  if (output->base % bytes != 0 || output->pitch < (uint64_t)output->n * bytes)
    return STRETTO_ERROR_ARGUMENT;
  const uint64_t size = (uint64_t)(output->m - 1) * output->pitch + (uint64_t)output->n * bytes;
  if (!in_gpu_memory(output->base, size, service->shared->gpu_id)) return STRETTO_ERROR_UNMAPPED;
  const uint64_t tiles_m = ((uint64_t)output->m + output->tile_m - 1) / output->tile_m;
  const uint64_t tiles_n = ((uint64_t)output->n + output->tile_n - 1) / output->tile_n;
  if (!tile_order_fits(output->tile_order, (uint32_t)tiles_m, (uint32_t)tiles_n))
    return STRETTO_ERROR_ARGUMENT;
  if (service->spill.bytes < tiles_m * tiles_n * SPILL_BYTES_OF_TILE) return STRETTO_ERROR_UNMAPPED;
  // Split-K: so many work-groups add to each tile; the incoming updates stay as they are.
  uint32_t updates = output->updates;
  uint32_t split = 1;
  if (output->work_groups != 0) {
    if (updates == 0 || output->work_groups % (tiles_m * tiles_n) != 0)
      return STRETTO_ERROR_ARGUMENT;
    split = (uint32_t)(output->work_groups / (tiles_m * tiles_n));
    updates += split - 1;
  }
#ifndef FIRMWARE_NO_TRACKER
  fw_result_t result = stop_tracker(service);
  if (result != STRETTO_OK) return result;
  const tracker_output_t tracked = {.m = output->m,
                                    .n = output->n,
                                    .tile_m = output->tile_m,
                                    .tile_n = output->tile_n,
                                    .wavefronts = output->wavefronts,
                                    .updates = updates,
                                    .element_bytes = bytes,
                                    .ways = output->tracker_ways,
                                    .order = output->tile_order};
  result = tracker_configure(&service->tracker, &tracked);
  if (result != STRETTO_OK) return result;
  // Armed with its thresholds: peers may send updates as soon as their own maps are complete.
  result = tracker_start(&service->tracker, output->tracker_ways);
  if (result != STRETTO_OK) return result;
#endif
  service->output = *output;
  service->order = tile_order(output->tile_order, (uint32_t)tiles_m, (uint32_t)tiles_n);
  service->tiles_n = (uint32_t)tiles_n;
  service->tiles = (uint32_t)(tiles_m * tiles_n);
  service->shared->output_tiles = service->tiles;
  service->shared->split = split;
  return STRETTO_OK;
}

static fw_result_t add_tiles(trigger_service_t* service, range_t range, uint64_t peer_base,
                             const tile_rectangle_t* tiles) {
  const stretto_output_config_t* o = &service->output;
  const uint32_t bytes = element_bytes(o);
  const uint32_t first_row = tiles->row * o->tile_m;
  const uint32_t first_column = tiles->column * o->tile_n;
  const uint64_t offset = (uint64_t)first_row * o->pitch + (uint64_t)first_column * bytes;
  range.base = o->base + offset;
  range.rows = min_u32(tiles->row_end * o->tile_m, o->m) - first_row;
  range.row_bytes = (uint64_t)(min_u32(tiles->column_end * o->tile_n, o->n) - first_column) * bytes;
  range.pitch = o->pitch;
  range.peer_base = range.kind == RANGE_LOCAL ? 0 : peer_base + offset;
#ifdef FIRMWARE_OTHER_PEER
  if (range.kind == RANGE_REMOTE) {
    const uint64_t peer = (range.peer_base >> STRETTO_NODE_SHIFT) - 1;
    uint64_t other = (peer + 1) % 4;
    if (other == service->shared->gpu_id) other = (other + 1) % 4;
    range.peer_base = (range.peer_base & STRETTO_OFFSET_MASK) | (other + 1) << STRETTO_NODE_SHIFT;
  }
#endif
  const uint64_t size = (uint64_t)(range.rows - 1) * range.pitch + range.row_bytes;
  if (range.kind == RANGE_REMOTE && !in_peer_memory(range.peer_base, size, service->shared->gpu_id))
    return STRETTO_ERROR_UNMAPPED;
  return range_table_add(&service->ranges, &range);
}

static fw_result_t add_run(trigger_service_t* service, const range_t* range,
                           const stretto_map_t* map) {
  tile_rectangle_t tiles[TILE_ORDER_RECTANGLES];
  const uint32_t count =
      tile_order_rectangles(&service->order, map->first_tile, map->tile_count, tiles);
  fw_result_t result = STRETTO_OK;
  for (uint32_t i = 0; i < count && result == STRETTO_OK; ++i)
    result = add_tiles(service, *range, map->peer_base, &tiles[i]);
  return result;
}

static fw_result_t add_region(trigger_service_t* service, uint32_t flags, const stretto_map_t* map,
                              uint64_t base, uint64_t peer_base) {
  const stretto_output_config_t* o = &service->output;
  const uint32_t index = service->regions;
  if (index == DMA_REGIONS) return STRETTO_ERROR_TABLE_FULL;
  const dma_region_t region = {.base = base,
                               .peer_base = peer_base,
                               .pitch = o->pitch,
                               .m = o->m,
                               .n = o->n,
                               .tile_m = o->tile_m,
                               .tile_n = o->tile_n,
                               .tiles_n = service->tiles_n,
                               .order = o->tile_order,
                               .wavefronts = o->wavefronts,
                               .first_tile = map->first_tile,
                               .tile_count = map->tile_count,
#ifdef FIRMWARE_WHOLE_CHUNKS
                               .block_tiles = UINT16_MAX,
#else
                               .block_tiles = map->block_tiles,
#endif
                               .element = o->element,
                               .account = o->account,
                               .update = (flags & STRETTO_MAP_UPDATE) != 0,
                               .ready = (flags & STRETTO_MAP_READY) != 0,
#ifndef FIRMWARE_OPERAND_ADDS
                               .multiply = (flags & STRETTO_MAP_MULTIPLY) != 0,
#endif
                               .in_place = (flags & STRETTO_MAP_OPERAND) != 0};
  const fw_result_t result = dma_set_region(&service->shared->dma, index, &region);
  if (result != STRETTO_OK) return result;
  ++service->regions;
  volatile uint64_t* mapped = &service->shared->regions_mapped[index / 64];
  *mapped = *mapped | 1ull << (index % 64);
  return STRETTO_OK;
}

// The Tracker has one interval of tiles that it does not track, which goes around the end. All
// remote maps together make it up, each next to those before it; false if this one is not.
static bool join_runs(const trigger_service_t* service, const stretto_map_t* map, tile_run_t* all) {
  const uint32_t tiles = service->tiles;
  if (all->count == 0) {
    *all = (tile_run_t){map->first_tile, map->tile_count};
    return true;
  }
  const bool behind = (all->first + all->count) % tiles == map->first_tile;
  if (!behind && (map->first_tile + map->tile_count) % tiles != all->first) return false;
  if (!behind) all->first = map->first_tile;
  all->count += map->tile_count;
  return true;
}

static fw_result_t set_untracked(trigger_service_t* service, tile_run_t untracked) {
  service->untracked = untracked;
#ifdef FIRMWARE_NO_TRACKER
  return STRETTO_OK;
#else
  return tracker_set_untracked(&service->tracker, untracked.first, untracked.count);
#endif
}

// Of count 0: forgets them, and what they open. Written only by those who use it.
static fw_result_t set_events(trigger_service_t* service, uint32_t first, uint32_t count) {
  service->events = count != 0;
  const fw_result_t result = tracker_set_events(&service->tracker, first, count);
  if (count != 0 || result != STRETTO_OK) return result;
  return gpu_set_event_map(&service->shared->gpu, 0, 0);
}

// What others send to the output is added on its way here: one update an element comes for all of
// them, and the own one stays.
static fw_result_t set_switch(trigger_service_t* service) {
  const stretto_output_config_t* o = &service->output;
  const uint64_t size = (uint64_t)(o->m - 1) * o->pitch + (uint64_t)o->n * element_bytes(o);
#ifdef FIRMWARE_SENDER_TOO_FEW
  const uint32_t senders = o->updates - 2u;
#else
  const uint32_t senders = o->updates - 1u;
#endif
  const fw_result_t result = switch_adder_set(service->shared->gpu_id, o->base, size, senders);
  service->in_switch = result == STRETTO_OK;
  return result;
}

static void clear_switch(trigger_service_t* service) {
  if (service->in_switch) switch_adder_clear(service->shared->gpu_id);
  service->in_switch = false;
}

// Takes back what a map that was refused half-way has programmed. The indices are those of this
// service: nothing fails.
static void undo_map(trigger_service_t* service, stretto_operation_t operation, uint32_t flags,
                     uint32_t ranges, uint32_t regions, tile_run_t untracked) {
  fw_result_t result = range_table_truncate(&service->ranges, ranges);
  if ((flags & STRETTO_MAP_EVENT) != 0 && result == STRETTO_OK) result = set_events(service, 0, 0);
  if ((flags & STRETTO_MAP_SWITCH) != 0) clear_switch(service);
  if (operation == STRETTO_OP_REMOTE_MAP && result == STRETTO_OK)
    result = set_untracked(service, untracked);
  if (service->regions > regions && result == STRETTO_OK) {
    volatile uint64_t* mapped = &service->shared->regions_mapped[regions / 64];
    *mapped = *mapped & ~(1ull << (regions % 64));
    result = dma_clear_region(&service->shared->dma, regions);
    service->regions = regions;
  }
  FW_ASSERT(result == STRETTO_OK);
}

static fw_result_t map_tiles(trigger_service_t* service, stretto_operation_t operation,
                             uint32_t flags, const stretto_map_t* map) {
  const stretto_output_config_t* o = &service->output;
  const bool tracked = operation == STRETTO_OP_DMA_MAP || (flags & STRETTO_MAP_TRACKED) != 0;
  const bool remote = operation == STRETTO_OP_REMOTE_MAP;
  const bool arrival = (flags & STRETTO_MAP_ARRIVAL) != 0;
  if (service->tiles == 0) return STRETTO_ERROR_STATE;
  if (map->tile_count == 0) return STRETTO_ERROR_ARGUMENT;
  if (map->first_tile >= service->tiles || map->tile_count > service->tiles - map->first_tile)
    return STRETTO_ERROR_UNMAPPED;
  if ((arrival && !(remote && tracked)) || (map->id_shift != 0 && !remote))
    return STRETTO_ERROR_ARGUMENT;
  if ((!remote || arrival) && tracked && map->updates != o->updates) return STRETTO_ERROR_ARGUMENT;
  const bool in_switch = (flags & STRETTO_MAP_SWITCH) != 0;
  if (in_switch && (operation != STRETTO_OP_LOCAL_MAP || !tracked ||
                    (flags & STRETTO_MAP_UPDATE) == 0 || o->updates < 2 || service->in_switch))
    return STRETTO_ERROR_ARGUMENT;
  const uint64_t size = (uint64_t)(o->m - 1) * o->pitch + (uint64_t)o->n * element_bytes(o);
  // Operands of memory here: no link and no Tracker meets them.
  if ((flags & (STRETTO_MAP_OPERAND | STRETTO_MAP_MULTIPLY)) != 0) {
    const uint32_t needed = STRETTO_MAP_OPERAND | STRETTO_MAP_READY | STRETTO_MAP_UPDATE;
    if (operation != STRETTO_OP_DMA_MAP || (flags & needed) != needed)
      return STRETTO_ERROR_ARGUMENT;
    if (!in_gpu_memory(map->base, size, service->shared->gpu_id)) return STRETTO_ERROR_UNMAPPED;
    return add_region(service, flags, map, map->base, o->base);
  }
  // The tiles of a remote map may lie elsewhere in the peer's array (add_tiles).
  if (operation == STRETTO_OP_DMA_MAP &&
      !in_peer_memory(map->peer_base, size, service->shared->gpu_id)) {
    return STRETTO_ERROR_UNMAPPED;
  }
  // No store of a kernel meets this map: it needs no range.
  if ((flags & STRETTO_MAP_READY) != 0) {
    if (operation != STRETTO_OP_DMA_MAP) return STRETTO_ERROR_ARGUMENT;
    return add_region(service, flags, map, o->base, map->peer_base);
  }
  for (uint32_t i = 0; i < service->runs; ++i) {
    const tile_run_t* run = &service->run[i];
    if (map->first_tile < run->first + run->count &&
        run->first < map->first_tile + map->tile_count) {
      return STRETTO_ERROR_OVERLAP;
    }
  }
  if (service->runs == TRIGGER_MAX_RUNS) return STRETTO_ERROR_TABLE_FULL;
  const bool events = (flags & STRETTO_MAP_EVENT) != 0;
  if (events && (operation != STRETTO_OP_LOCAL_MAP || !tracked)) return STRETTO_ERROR_ARGUMENT;
  // The Tracker has one interval of tiles that raise events, and one of untracked tiles.
  if (events && service->events) return STRETTO_ERROR_TABLE_FULL;
  const tile_run_t untracked_before = service->untracked;
  tile_run_t untracked = untracked_before;
  if (remote && !arrival && !join_runs(service, map, &untracked)) return STRETTO_ERROR_TABLE_FULL;

  const range_t range = {.kind = operation == STRETTO_OP_LOCAL_MAP    ? RANGE_LOCAL
                                 : operation == STRETTO_OP_REMOTE_MAP ? RANGE_REMOTE
                                                                      : RANGE_DMA,
                         .allocation = map->allocation,
                         .update = (flags & STRETTO_MAP_UPDATE) != 0,
                         .tracked = tracked,
                         .id_shift = map->id_shift};
  // The DMA table and the Tracker first: an update may arrive as soon as stores find their range.
  const uint32_t ranges_before = service->ranges.used;
  const uint32_t regions_before = service->regions;
  fw_result_t result = STRETTO_OK;
  if (remote && !arrival) {
    result = set_untracked(service, untracked);
  } else if (events) {
    result = set_events(service, map->first_tile, map->tile_count);
  } else if (tracked) {
    result = add_region(service, flags, map, o->base,
                        operation == STRETTO_OP_DMA_MAP ? map->peer_base : 0);
  }
  if (result == STRETTO_OK && in_switch) result = set_switch(service);
  if (result == STRETTO_OK) result = add_run(service, &range, map);
  if (result != STRETTO_OK) {
    undo_map(service, operation, flags, ranges_before, regions_before, untracked_before);
    return result;
  }
  service->run[service->runs++] = (tile_run_t){map->first_tile, map->tile_count};
  return STRETTO_OK;
}

static fw_result_t map_rectangle(trigger_service_t* service, stretto_operation_t operation,
                                 uint32_t flags, const stretto_map_t* map) {
  const unsigned gpu = service->shared->gpu_id;
  if (operation == STRETTO_OP_DMA_MAP) return STRETTO_ERROR_ARGUMENT;
  if (map->rows == 0 || map->row_bytes == 0 || (map->rows > 1 && map->pitch < map->row_bytes))
    return STRETTO_ERROR_ARGUMENT;
  if (map->row_bytes > STRETTO_OFFSET_MASK) return STRETTO_ERROR_UNMAPPED;
  const uint64_t size = (uint64_t)(map->rows - 1) * map->pitch + map->row_bytes;
  const bool remote = operation == STRETTO_OP_REMOTE_MAP;
  // The host and a card's window take stores but have neither ALUs nor a Tracker.
  const bool plain =
      remote && flags == 0 && map->base == map->peer_base &&
      (in_host_memory(map->peer_base, size) || in_card_window(map->peer_base, size, gpu));
  if (remote && !plain && !in_peer_memory(map->peer_base, size, gpu)) return STRETTO_ERROR_UNMAPPED;
  if (!in_gpu_memory(map->base, size, gpu) && !plain &&
      !(remote && in_peer_memory(map->base, size, gpu))) {
    return STRETTO_ERROR_UNMAPPED;
  }
  const range_t range = {.base = map->base,
                         .row_bytes = map->row_bytes,
                         .pitch = map->pitch,
                         .rows = map->rows,
                         .kind = remote ? RANGE_REMOTE : RANGE_LOCAL,
                         .allocation = map->allocation,
                         .update = (flags & STRETTO_MAP_UPDATE) != 0,
                         .tracked = (flags & STRETTO_MAP_TRACKED) != 0,
                         .peer_base = remote ? map->peer_base : 0};
  return range_table_add_low(&service->ranges, &range);  // Tiles lie over it.
}

fw_result_t trigger_service_map_send_window(trigger_service_t* service) {
  if (service == NULL) return STRETTO_ERROR_ARGUMENT;
  const uint64_t base =
      ((uint64_t)(service->shared->gpu_id + 1) << STRETTO_NODE_SHIFT) + STRETTO_SEND_APERTURE;
  if (range_table_has(&service->ranges, base)) return STRETTO_OK;
  const range_t range = {.base = base,
                         .row_bytes = STRETTO_SEND_APERTURE_BYTES,
                         .rows = 1,
                         .kind = RANGE_LOCAL,
                         .allocation = STRETTO_ALLOCATION_UNCACHED};
  return range_table_add_low(&service->ranges, &range);
}

fw_result_t trigger_service_map(trigger_service_t* service, stretto_operation_t operation,
                                uint32_t flags, const stretto_map_t* map) {
  if (service == NULL || map == NULL || map->allocation > STRETTO_ALLOCATION_SHARED)
    return STRETTO_ERROR_ARGUMENT;
  if ((flags & ~(STRETTO_MAP_TILES | STRETTO_MAP_UPDATE | STRETTO_MAP_TRACKED | STRETTO_MAP_EVENT |
                 STRETTO_MAP_READY | STRETTO_MAP_ARRIVAL | STRETTO_MAP_OPERAND |
                 STRETTO_MAP_MULTIPLY | STRETTO_MAP_SWITCH)) != 0)
    return STRETTO_ERROR_ARGUMENT;
  if ((flags & (STRETTO_MAP_EVENT | STRETTO_MAP_READY | STRETTO_MAP_ARRIVAL | STRETTO_MAP_OPERAND |
                STRETTO_MAP_MULTIPLY | STRETTO_MAP_SWITCH)) != 0 &&
      (flags & STRETTO_MAP_TILES) == 0)
    return STRETTO_ERROR_ARGUMENT;
  return (flags & STRETTO_MAP_TILES) != 0 ? map_tiles(service, operation, flags, map)
                                          : map_rectangle(service, operation, flags, map);
}

fw_result_t trigger_service_unmap(trigger_service_t* service, uint64_t base) {
  if (service == NULL) return STRETTO_ERROR_ARGUMENT;
  const uint64_t output = service->output.base;
  // Tiles lie in it.
  if (service->runs != 0 && range_table_holds(&service->ranges, base, output))
    return STRETTO_ERROR_STATE;
  return range_table_remove(&service->ranges, base);
}

fw_result_t trigger_service_gates(trigger_service_t* service, const stretto_gates_t* gates) {
  if (service == NULL || gates == NULL) return STRETTO_ERROR_ARGUMENT;
  // More wavefronts would raise more events, and fewer at the lower edge.
  if (!service->events || service->output.wavefronts != 1) return STRETTO_ERROR_STATE;
  if (gates->open_first > STRETTO_GATES || gates->open_count > STRETTO_GATES - gates->open_first)
    return STRETTO_ERROR_ARGUMENT;
  const shared_t* shared = service->shared;
  const fw_result_t result = gpu_set_event_map(&shared->gpu, gates->tiles_per_gate, service->tiles);
  if (result != STRETTO_OK) return result;
  grid_control_close_gates(&shared->scheduler);
  for (uint32_t i = 0; i < gates->open_count; ++i)
    grid_control_open_gate(&shared->scheduler, gates->open_first + i);
  return STRETTO_OK;
}

fw_result_t trigger_service_reset(trigger_service_t* service, bool allocations) {
  if (service == NULL) return STRETTO_ERROR_ARGUMENT;
  shared_t* shared = service->shared;
  if (shared->waits_started != shared->waits_ended) return STRETTO_ERROR_STATE;
  fw_result_t result = stop_tracker(service);
  if (result != STRETTO_OK) return result;
  while (service->regions != 0 && result == STRETTO_OK) {
    result = dma_clear_region(&shared->dma, service->regions - 1);
    --service->regions;
  }
  for (unsigned i = 0; i < 2; ++i) {
    shared->regions_mapped[i] = 0;
    shared->regions_done[i] = 0;
  }
  service->runs = 0;
  service->tiles = shared->output_tiles = 0;
  service->untracked = (tile_run_t){0, 0};
  clear_switch(service);
  if (service->events && result == STRETTO_OK) result = set_events(service, 0, 0);
  if (result != STRETTO_OK) return result;
  return range_table_truncate(&service->ranges, allocations ? 0 : service->ranges.low);
}

fw_result_t trigger_service_wait(trigger_service_t* service, job_t job) {
  if (service == NULL) return STRETTO_ERROR_ARGUMENT;
  shared_t* shared = service->shared;
  if (shared->waits_started != shared->waits_ended) return STRETTO_ERROR_TABLE_FULL;
  shared->wait_job = job;
  ++shared->started[job.queue];
  fence_release();
  shared->waits_started = shared->waits_started + 1;
  return STRETTO_OK;
}
