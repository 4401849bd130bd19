// SPDX-License-Identifier: Apache-2.0
// Maps, configuration of the blocks beside the memory, and the request ring.
#include <stdlib.h>

#include "sw/driver/internal.h"

stretto_status_t driver_remote_map(stretto_client_t* client, stretto_stream_t* stream,
                                   uint64_t base, uint64_t bytes, uint64_t peer_base,
                                   uint32_t flags) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_REMOTE_MAP, flags);
  packet.vendor.map = (stretto_map_t){.base = base,
                                      .peer_base = peer_base,
                                      .row_bytes = bytes,
                                      .rows = 1,
                                      .allocation = STRETTO_ALLOCATION_UNCACHED};
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_configure_output(stretto_client_t* client, stretto_stream_t* stream,
                                         const stretto_output_config_t* output) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_OUTPUT_CONFIG, 0);
  packet.vendor.output = *output;
  packet.vendor.output.account = (uint8_t)driver_account_of(client, output->account);
  return driver_submit(client, stream, &packet);
}

static stretto_status_t map_tiles(stretto_client_t* client, stretto_stream_t* stream,
                                  stretto_operation_t operation, const stretto_tile_map_t* map) {
  driver_call(client);
  if (map->updates > 255 || map->block_tiles > 65535 ||
      map->allocation > STRETTO_ALLOCATION_UNCACHED) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "tile map: %u updates, %u tiles a block, class %u", map->updates,
                       map->block_tiles, map->allocation);
  }
  stretto_packet_t packet = driver_vendor(operation, map->flags | STRETTO_MAP_TILES);
  // The output is complete when everything before is.
  if ((map->flags & STRETTO_MAP_OPERAND) != 0) packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.map = (stretto_map_t){.base = map->operand,
                                      .peer_base = map->peer_base,
                                      .first_tile = map->first_tile,
                                      .tile_count = map->tile_count,
                                      .block_tiles = (uint16_t)map->block_tiles,
                                      .updates = (uint8_t)map->updates,
                                      .allocation = (uint8_t)map->allocation,
                                      .id_shift = map->id_shift};
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_remote_map_tiles(stretto_client_t* client, stretto_stream_t* stream,
                                         const stretto_tile_map_t* map) {
  return map_tiles(client, stream, STRETTO_OP_REMOTE_MAP, map);
}

stretto_status_t driver_dma_map_tiles(stretto_client_t* client, stretto_stream_t* stream,
                                      const stretto_tile_map_t* map) {
  return map_tiles(client, stream, STRETTO_OP_DMA_MAP, map);
}

stretto_status_t driver_local_map_tiles(stretto_client_t* client, stretto_stream_t* stream,
                                        const stretto_tile_map_t* map) {
  return map_tiles(client, stream, STRETTO_OP_LOCAL_MAP, map);
}

stretto_status_t driver_configure_gates(stretto_client_t* client, stretto_stream_t* stream,
                                        const stretto_gates_t* gates) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_GATES, 0);
  packet.vendor.gates = *gates;
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_spill_table(stretto_client_t* client, stretto_stream_t* stream,
                                    uint64_t base, uint64_t bytes) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_SPILL_TABLE, 0);
  packet.vendor.spill = (stretto_spill_table_t){.base = base, .bytes = bytes};
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_configure_mca(stretto_client_t* client, stretto_stream_t* stream,
                                      const stretto_mca_config_t* mca, uint32_t flags) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_MCA_CONFIG, flags);
  packet.vendor.mca = *mca;
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_reset_maps(stretto_client_t* client, stretto_stream_t* stream,
                                   uint32_t flags) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_RESET_MAPS, flags);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_collective_wait(stretto_client_t* client, stretto_stream_t* stream) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_COLLECTIVE_WAIT, 0);
  return driver_submit(client, stream, &packet);
}

// The request ring

stretto_status_t driver_ring_start(stretto_client_t* client, stretto_stream_t* stream,
                                   uint64_t replica, uint64_t sc_base, uint32_t batch) {
  driver_call(client);
  if (!driver_in_client_memory(client, replica, 8) ||
      !driver_in_client_memory(client, sc_base, STRETTO_SEND_FLAG_BYTES)) {
    return driver_fail(client, STRETTO_ERROR_UNMAPPED,
                       "ring_start: replica or send flags are not allocated");
  }
  stretto_packet_t packet = driver_vendor(STRETTO_OP_RING_CONFIG, 0);
  packet.vendor.ring =
      (stretto_ring_config_t){.replica = replica, .sc_base = sc_base, .batch = batch};
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_ring_connect(stretto_client_t* client, stretto_stream_t* stream,
                                     uint32_t connection, uint32_t peer, uint64_t rc_base,
                                     uint32_t limit) {
  driver_call(client);
  if (connection >= STRETTO_SEND_CONNECTIONS || limit > 15) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "ring_connect: connection %u (0..%u), limit %u", connection,
                       STRETTO_SEND_CONNECTIONS - 1, limit);
  }
  stretto_packet_t packet = driver_vendor(STRETTO_OP_RING_CONNECTION, 0);
  packet.vendor.connection = (stretto_ring_connection_t){
      .rc_base = rc_base, .connection = connection, .peer = peer, .limit = limit};
  return driver_submit(client, stream, &packet);
}

static stretto_status_t set_ring_buffer(stretto_client_t* client, stretto_stream_t* stream,
                                        uint32_t id, const stretto_ring_export_t* what) {
  if (id >= STRETTO_SEND_BUFFERS || what->unit_shift > STRETTO_SEND_MAX_UNIT_SHIFT ||
      what->bytes % (1ull << what->unit_shift) != 0 ||
      what->bytes >> what->unit_shift > STRETTO_SEND_MAX_UNITS) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "ring buffer %u of %llu bytes in units of 2^%u: at most id %u, unit 2^%u, "
                       "%u whole units",
                       id, (unsigned long long)what->bytes, what->unit_shift,
                       STRETTO_SEND_BUFFERS - 1, STRETTO_SEND_MAX_UNIT_SHIFT,
                       STRETTO_SEND_MAX_UNITS);
  }
  if (client->ring_buffers == NULL) {
    client->ring_buffers = calloc(STRETTO_SEND_BUFFERS, sizeof *client->ring_buffers);
    if (client->ring_buffers == NULL)
      return driver_fail(client, STRETTO_ERROR_TABLE_FULL, "ring buffer: no host memory");
  }
  client->ring_buffers[id] = *what;
  stretto_packet_t packet = driver_vendor(STRETTO_OP_RING_BUFFER, what->flags);
  packet.vendor.buffer = (stretto_ring_buffer_t){
      .base = what->base, .bytes = what->bytes, .buffer = id, .unit_shift = what->unit_shift};
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_ring_register(stretto_client_t* client, stretto_stream_t* stream,
                                      uint32_t id, uint64_t base, uint64_t bytes,
                                      uint32_t unit_shift, uint32_t flags) {
  driver_call(client);
  if (bytes == 0 || !driver_in_client_memory(client, base, bytes)) {
    return driver_fail(client, STRETTO_ERROR_UNMAPPED,
                       "ring_register: buffer %u: 0x%llx, %llu bytes are not allocated", id,
                       (unsigned long long)base, (unsigned long long)bytes);
  }
  const stretto_ring_export_t what = {
      .base = base, .bytes = bytes, .unit_shift = unit_shift, .flags = flags};
  return set_ring_buffer(client, stream, id, &what);
}

stretto_status_t driver_ring_export(stretto_client_t* client, uint32_t id,
                                    stretto_ring_export_t* exported) {
  driver_call(client);
  const stretto_ring_export_t* what =
      id < STRETTO_SEND_BUFFERS && client->ring_buffers != NULL ? &client->ring_buffers[id] : NULL;
  if (what == NULL || what->bytes == 0 || !driver_in_client_memory(client, what->base, what->bytes))
    return driver_fail(client, STRETTO_ERROR_UNMAPPED,
                       "ring_export: buffer %u is not registered here", id);
  *exported = *what;
  return STRETTO_OK;
}

stretto_status_t driver_ring_import(stretto_client_t* client, stretto_stream_t* stream, uint32_t id,
                                    const stretto_ring_export_t* exported) {
  driver_call(client);
  return set_ring_buffer(client, stream, id, exported);
}

stretto_status_t driver_ring_unregister(stretto_client_t* client, stretto_stream_t* stream,
                                        uint32_t id) {
  driver_call(client);
  const stretto_ring_export_t nothing = {0};
  return set_ring_buffer(client, stream, id, &nothing);
}
