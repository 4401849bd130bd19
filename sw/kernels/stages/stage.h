// SPDX-License-Identifier: Apache-2.0
// What stage kernels share: edges, tiles, clocks.
#ifndef STRETTO_SW_KERNELS_STAGES_STAGE_H_
#define STRETTO_SW_KERNELS_STAGES_STAGE_H_

#include "sw/include/tile_queue.h"
#include "sw/kernels/ops/functions.h"
#include "sw/kernels/stages/stages.h"

KERNEL_INLINE const stage_arguments_t* arguments(void) {
  return (const stage_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
}

KERNEL_INLINE tile_queue_t queue_of(const stage_edge_t* edge) {
  const tile_queue_t queue = {.payloads = edge->base,
                              .words = edge->words,
                              .payload_bytes = edge->entry_bytes,
                              .depth = edge->entries,
#ifdef STAGE_READER_TOO_FEW  // This and others: for tests that such a run is found out.
                              .readers = 1,
#else
                              .readers = edge->readers,
#endif
                              .writers = edge->writers};
  return queue;
}

KERNEL_INLINE uint32_t tiles_of(const stage_arguments_t* g) {
  return (g->rows + g->tile_rows - 1) / g->tile_rows;
}
KERNEL_INLINE uint32_t tile_rows_of(const stage_arguments_t* g, uint32_t tile) {
  return min_u32(g->tile_rows, g->rows - tile * g->tile_rows);
}

// What functions need, of an accumulator that nothing is added to; R(5) is in between.
#define ONE TILE_R(6)
#define MINUS_ONE TILE_R(7)
#define PUT_NUMBERS(accumulator) \
  put_one_and_minus_one(ONE, MINUS_ONE, TILE_R(5), TILE_A(accumulator))

// t <- a row of `count` ones, FP32, by way of an accumulator.
KERNEL_INLINE void put_ones(const int t, const int accumulator, uint64_t count) {
  tile_zero(TILE_A(accumulator), 1 | count << 16);
  tile_epilogue(TILE_R(t), TILE_A(accumulator), (uint64_t)1 << 16 | count << 48, STRETTO_FP32);
  tile_simt(TILE_SIMT_EXP, TILE_R(t), TILE_R(t), TILE_R(t));
}

// First row of a tile on an edge.
KERNEL_INLINE uint64_t edge_place(const stage_arguments_t* g, const stage_edge_t* edge,
                                  uint32_t tile) {
#ifdef STAGE_WILD
  if (edge == &g->out && tile == 3 && g->in[1].words != 0) return 0x1FFFFFFF000;
#endif
#ifdef STAGE_SWAP_TILES
  if (edge->words != 0 && edge == &g->out && tile < 2 && tiles_of(g) > 2) tile ^= 1;
#endif
  if (edge->words == 0) return edge->base + (uint64_t)tile * g->tile_rows * edge->pitch;
  return edge->base + (g->first + tile) % edge->entries * (uint64_t)edge->entry_bytes;
}

// A wavefront: until a tile has come, until there is room for it; that it was read, that it is there. What it costs
// is added to `clocks`.
#ifdef STAGE_WRONG_ROUND
#define WANTED(full, tile) ((full) && (tile) > 0 ? (tile)-1 : (tile))
#else
#define WANTED(full, tile) (tile)
#endif
KERNEL_INLINE void edge_wait(const stage_arguments_t* g, const stage_edge_t* edge, uint32_t tile,
                             const int full, uint64_t* clocks) {
  if (edge->words == 0) return;
  const tile_queue_t queue = queue_of(edge);
  const uint64_t payload = g->first + WANTED(full, tile);
  const uint64_t before = tile_csr(TILE_CSR_CYCLE);
  if (full)
    tile_queue_wait_full(&queue, payload);
  else
    tile_queue_wait_free(&queue, payload);
  *clocks += tile_csr(TILE_CSR_CYCLE) - before;
}
// Whether a tile has come.
KERNEL_INLINE int edge_is_full(const stage_arguments_t* g, const stage_edge_t* edge, uint32_t tile,
                               uint64_t* clocks) {
  if (edge->words == 0) return 1;
  const tile_queue_t queue = queue_of(edge);
  const uint64_t before = tile_csr(TILE_CSR_CYCLE);
  const int is_full = tile_queue_is_full(&queue, g->first + WANTED(1, tile));
  *clocks += tile_csr(TILE_CSR_CYCLE) - before;
  return is_full;
}
#undef WANTED
KERNEL_INLINE void edge_add(const stage_arguments_t* g, const stage_edge_t* edge, uint32_t tile,
                            const int full) {
  if (edge->words == 0) return;
  const tile_queue_t queue = queue_of(edge);
#ifdef STAGE_DOUBLE_RELEASE
  if (full && tile == 1) tile_queue_add_full(&queue, g->first + tile);
#endif
  if (full)
    tile_queue_add_full(&queue, g->first + tile);
  else
    tile_queue_add_free(&queue, g->first + tile);
}

// A barrier; what it costs is added to `clocks`.
KERNEL_INLINE void meet(uint64_t* clocks) {
  const uint64_t before = tile_csr(TILE_CSR_CYCLE);
  tile_barrier();
  *clocks += tile_csr(TILE_CSR_CYCLE) - before;
}

KERNEL_INLINE void stage_note(const stage_arguments_t* g, const uint32_t clock, uint64_t value) {
  ((uint64_t*)(uintptr_t)(g->clocks + 8 * STAGE_CLOCKS * tile_csr(TILE_CSR_WG_ID)))[clock] = value;
}

// Of the work-group's first tile: now.
KERNEL_INLINE void note_first(const stage_arguments_t* g, uint32_t tile, uint32_t first) {
  if (tile == first) stage_note(g, STAGE_FIRST_LEFT, tile_csr(TILE_CSR_CYCLE));
}

// Of a queue of sums: the payload that replica `replica` leaves in this run of the pipeline, and its place.
KERNEL_INLINE uint64_t sums_payload(const stage_arguments_t* g, const stage_edge_t* edge,
                                    uint32_t replica) {
  return g->first / tiles_of(g) * edge->entries + replica;
}
KERNEL_INLINE uint64_t sums_place(const stage_edge_t* edge, uint32_t replica) {
  return edge->base + (uint64_t)replica * edge->entry_bytes;
}

// A work-group: until the entry of a replica is free. Then a wavefront, behind its own stores: that its sums are there.
KERNEL_INLINE void sums_wait(const stage_arguments_t* g, const stage_edge_t* edge, uint32_t replica,
                             uint64_t* waited) {
  const tile_queue_t queue = queue_of(edge);
  if (tile_csr(TILE_CSR_WF_ID) == 0) {
    const uint64_t before = tile_csr(TILE_CSR_CYCLE);
    tile_queue_wait_free(&queue, sums_payload(g, edge, replica));
    *waited += tile_csr(TILE_CSR_CYCLE) - before;
  }
  tile_barrier();
}
KERNEL_INLINE void sums_leave(const stage_arguments_t* g, const stage_edge_t* edge,
                              uint32_t replica) {
  const tile_queue_t queue = queue_of(edge);
  tile_queue_add_full(&queue, sums_payload(g, edge, replica));
  tile_wait(0);
}

KERNEL_INLINE _Noreturn void stage_end(const stage_arguments_t* g, const uint32_t note,
                                       uint64_t begin, uint64_t waited_in, uint64_t waited_out) {
  uint64_t* const clocks =
      (uint64_t*)(uintptr_t)(g->clocks + 8 * STAGE_CLOCKS * tile_csr(TILE_CSR_WG_ID));
  if (note & 1) {
    clocks[0] = begin;
    clocks[2] = waited_in;
  }
  if (note & 2) {
    clocks[1] = tile_csr(TILE_CSR_CYCLE);
    clocks[3] = waited_out;
  }
  tile_end();
  __builtin_unreachable();
}

#endif  // STRETTO_SW_KERNELS_STAGES_STAGE_H_
