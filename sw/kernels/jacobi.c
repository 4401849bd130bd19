// SPDX-License-Identifier: Apache-2.0
// Jacobi relaxation in two dimensions, split in one over servers; see jacobi.h. What a row needs of
// its neighbours is loaded at four places: there is no instruction that moves elements in a tile.
//
// Why no work-group overwrites what another one still reads: an iteration begins when the residual
// of the one before has come from all servers, and each sends its own when all its work-groups have
// read and written. So a halo or an edge of the same parity is two residuals old.
#include "sw/kernels/jacobi.h"

#include "sw/include/shmem.h"
#include "sw/kernels/kernel.h"

#define R TILE_R
#define SIMT(operation, t, a, b) tile_simt(TILE_SIMT_##operation, R(t), R(a), R(b))
#define FLOAT STRETTO_FP32
#define FACTOR 5

typedef struct band {
  const jacobi_arguments_t* g;
  uint32_t first, end;  // Rows of this work-group.
  uint32_t chunks;      // Of a row.
  uint32_t parity;      // Of what is read.
  uint64_t pieces;
} band_t;

// Of `rows` rows from `row` on the bytes [at, at + bytes). `edges`: it is one row, whose neighbours
// may lie in a halo, and which may be an edge.
KERNEL_INLINE void relax(const band_t* b, uint32_t row, uint32_t rows, uint32_t at, uint32_t bytes,
                         const int edges) {
  const jacobi_arguments_t* g = b->g;
  const uint32_t now = b->parity, next = 1 - now;
  const uint64_t place = (uint64_t)row * g->pitch + at, old = g->grid[now] + place;
  const uint64_t shape = tile_shape(rows, bytes, g->pitch);
  const int first = edges && row == 0, last = edges && row + 1 == g->rows;
  const uint64_t above = first ? g->halo[now][JACOBI_ABOVE] + at : old - g->pitch;
  const uint64_t below = last ? g->halo[now][JACOBI_BELOW] + at : old + g->pitch;
  tile_load(R(0), above, shape, FLOAT, 0);
  tile_load(R(1), below, shape, FLOAT, 0);
  tile_load(R(2), old - 4, shape, FLOAT, 0);
  tile_load(R(3), old + 4, shape, FLOAT, 0);
  tile_load(R(4), old, shape, FLOAT, 0);
  SIMT(ADD, 0, 0, 1);
  SIMT(ADD, 2, 2, 3);
  SIMT(ADD, 0, 0, 2);
  SIMT(MUL, 0, 0, FACTOR);
  tile_store(R(0), g->grid[next] + place, shape, FLOAT);
  if (first) tile_store(R(0), g->edge[next][JACOBI_ABOVE] + at, shape, FLOAT);
  if (last) tile_store(R(0), g->edge[next][JACOBI_BELOW] + at, shape, FLOAT);
  SIMT(SUB, 4, 0, 4);
  SIMT(MUL, 4, 4, 4);
  SIMT(ROW_SUM, 4, 4, 4);
  SIMT(FIRST, 3, 4, 4);
  const uint64_t piece = (uint64_t)(row - b->first) * b->chunks + at / JACOBI_CHUNK_BYTES;
  tile_store(R(3), b->pieces + 4 * piece, tile_shape(rows, 4, 4 * b->chunks), FLOAT);
}

// Rows [row, end) in pieces of at most `rows_each`, which the wavefronts take in turn.
KERNEL_INLINE void relax_rows(const band_t* b, uint32_t row, uint32_t end, uint32_t rows_each,
                              const int edges) {
  const uint32_t wavefronts = (uint32_t)tile_csr(TILE_CSR_WAVEFRONTS);
  uint32_t turn = (uint32_t)tile_csr(TILE_CSR_WF_ID);
  for (; row < end; row += rows_each) {
    const uint32_t rows = min_u32(rows_each, end - row);
    for (uint32_t at = 0; at < 4 * b->g->columns; at += JACOBI_CHUNK_BYTES) {
      if (turn == 0)
        relax(b, row, rows, at, min_u32(JACOBI_CHUNK_BYTES, 4 * b->g->columns - at), edges);
      turn = turn == 0 ? wavefronts - 1 : turn - 1;
    }
  }
}

// Behind it all wavefronts may read, and tell others of, what any of them has stored.
KERNEL_INLINE void join(void) {
  tile_fence(TILE_SCOPE_DEVICE);
  tile_barrier();
}

KERNEL_INLINE int has_first(const band_t* b) { return b->first == 0; }
KERNEL_INLINE int has_last(const band_t* b) { return b->end == b->g->rows; }

KERNEL_INLINE void relax_edges(const band_t* b) {
  if (has_first(b)) relax_rows(b, 0, 1, 1, 1);
  if (has_last(b) && (b->g->rows > 1 || !has_first(b)))
    relax_rows(b, b->g->rows - 1, b->g->rows, 1, 1);
}

KERNEL_INLINE void relax_interior(const band_t* b) {
  const uint32_t first = has_first(b) ? 1 : b->first;
  const uint32_t end = has_last(b) ? b->g->rows - 1 : b->end;
  relax_rows(b, first, end, b->g->rows_each, 0);
}

// The sum of `count` numbers at `from`, to `to`.
KERNEL_INLINE void sum_row(uint64_t from, uint32_t count, uint64_t to) {
  tile_load(R(0), from, tile_shape(1, 4 * count, 0), FLOAT, 0);
  SIMT(ROW_SUM, 0, 0, 0);
  SIMT(FIRST, 3, 0, 0);
  tile_store(R(3), to, tile_shape(1, 4, 0), FLOAT);
  tile_fence(TILE_SCOPE_DEVICE);
}

// The residual of this server is at g->residual when work-group 0 returns; of wavefront 0.
KERNEL_INLINE void reduce(const band_t* b, uint32_t iterations) {
  const jacobi_arguments_t* g = b->g;
  const uint64_t me = tile_csr(TILE_CSR_WG_ID), groups = tile_csr(TILE_CSR_GRID);
  sum_row(b->pieces, (b->end - b->first) * b->chunks, g->sums + 4 * me);
  tile_red(g->arrived, 1ull);
  if (me != 0) return;
  tile_wait_until(g->arrived, TILE_GEU | TILE_WAIT_DEVICE, groups * iterations);
  tile_fence(TILE_SCOPE_DEVICE);
  sum_row(g->sums, (uint32_t)groups, g->residual);
}

KERNEL_INLINE band_t band_of(const jacobi_arguments_t* g) {
  const uint64_t me = tile_csr(TILE_CSR_WG_ID), groups = tile_csr(TILE_CSR_GRID);
  const band_t band = {.g = g,
                       .first = (uint32_t)(g->rows * me / groups),
                       .end = (uint32_t)(g->rows * (me + 1) / groups),
                       .chunks = (4 * g->columns + JACOBI_CHUNK_BYTES - 1) / JACOBI_CHUNK_BYTES,
                       .pieces = g->pieces + 4 * JACOBI_MAX_PIECES * me};
  tile_load(R(FACTOR), g->factor, tile_shape(1, 4, 0), FLOAT, 0);
  return band;
}

KERNEL_INLINE const jacobi_arguments_t* arguments(void) {
  return (const jacobi_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
}

#define NOTE(g, field) ((g)->notes + offsetof(jacobi_notes_t, field))

KERNEL_INLINE uint64_t note_of(const jacobi_arguments_t* g, uint32_t iteration) {
  return NOTE(g, iteration) + (iteration - 1) * sizeof(jacobi_note_t);
}

KERNEL_INLINE void note_moment(const jacobi_arguments_t* g, uint32_t iteration, const int moment) {
  if (tile_csr(TILE_CSR_WG_ID) == 0 && shmem_acts_())
    shmem_store_(note_of(g, iteration) + 8 * moment, tile_csr(TILE_CSR_CYCLE));
}

KERNEL_INLINE void note_end(const jacobi_arguments_t* g, uint32_t iteration, uint32_t residual) {
  note_moment(g, iteration, JACOBI_DECIDED);
  shmem_store_(note_of(g, iteration) + offsetof(jacobi_note_t, residual), residual);
  shmem_store_(NOTE(g, iterations), iteration);
}

#ifndef JACOBI_EDGE  // Parity of what is put; another one is deliberately wrong.
#define JACOBI_EDGE next
#endif
#define HEAP(address) ((void*)(uintptr_t)(address))

// To the neighbour above, or below, if there is one.
KERNEL_INLINE void put_edge(shmem_ctx_t* ctx, const band_t* b, const int side, uint32_t iteration) {
  const jacobi_arguments_t* g = b->g;
  const uint32_t next = 1 - b->parity, other = 1 - side;
  if (ctx->pe == (side == JACOBI_ABOVE ? 0 : ctx->pes - 1)) return;
  shmem_ctx_putmem_signal_nbi_wg(ctx, HEAP(g->halo[next][other]), HEAP(g->edge[JACOBI_EDGE][side]),
                                 4 * (uint64_t)g->columns, (uint64_t*)HEAP(g->signal[other]),
                                 iteration, SHMEM_SIGNAL_SET,
                                 side == JACOBI_ABOVE ? ctx->pe - 1 : ctx->pe + 1);
}

// Until the neighbour's edge of an iteration is there.
KERNEL_INLINE void wait_halo(const shmem_ctx_t* ctx, const band_t* b, const int side,
                             uint32_t iteration) {
  if (ctx->pe == (side == JACOBI_ABOVE ? 0 : ctx->pes - 1)) return;
  (void)shmem_signal_wait_until_wg((uint64_t*)HEAP(b->g->signal[side]), SHMEM_CMP_GE, iteration);
}

// Of all servers, by work-group 0: the residual, whether it is the last iteration, to all others.
KERNEL_INLINE void decide(shmem_ctx_t* ctx, const jacobi_arguments_t* g, uint32_t iteration) {
  shmem_ctx_float_sum_reduce_wg(ctx, (float*)HEAP(g->residual + 8), (const float*)HEAP(g->residual),
                                1);
  if (!shmem_acts_()) return;
  const uint32_t residual = (uint32_t)shmem_load_(g->residual + 8);
  const int last = residual < g->stop || iteration == g->iterations || ctx->failed != 0;
  note_end(g, iteration, residual);
  tile_locked_store(g->decision, 2ull * iteration + (last ? 1 : 0));
}

// Whether it was the last one, to all wavefronts.
KERNEL_INLINE int decided(const jacobi_arguments_t* g, uint32_t iteration) {
  uint64_t decision = 0;
  if (shmem_acts_()) {
    tile_wait_until(g->decision, TILE_GEU | TILE_WAIT_DEVICE, 2ull * iteration);
    tile_fence(TILE_SCOPE_DEVICE);
    decision = shmem_load_(g->decision);
  }
  return tile_vote(decision) & 1;
}

void jacobi_relax(void) {
  const jacobi_arguments_t* g = arguments();
  band_t b = band_of(g);
  const uint64_t me = tile_csr(TILE_CSR_WG_ID);
  shmem_ctx_t ctx = {.queue = 0};  // Of those inside, which have none.
  const int communicates = has_first(&b) || has_last(&b);
  if (communicates) shmem_wg_ctx_create(&ctx, &g->shmem, has_first(&b) ? 0 : 1);
  if (me == 0 && shmem_acts_()) shmem_store_(NOTE(g, begin), tile_csr(TILE_CSR_CYCLE));
  for (uint32_t i = 1;; ++i) {
    b.parity = (i - 1) % 2;
    if (i > 1 && has_first(&b)) wait_halo(&ctx, &b, JACOBI_ABOVE, i - 1);
    if (i > 1 && has_last(&b)) wait_halo(&ctx, &b, JACOBI_BELOW, i - 1);
    note_moment(g, i, JACOBI_HALO);
    relax_edges(&b);
    if (communicates) join();
    if (has_first(&b)) put_edge(&ctx, &b, JACOBI_ABOVE, i);
    if (has_last(&b)) put_edge(&ctx, &b, JACOBI_BELOW, i);
    relax_interior(&b);
    join();
    note_moment(g, i, JACOBI_SWEPT);
    if (shmem_acts_()) reduce(&b, i);
    note_moment(g, i, JACOBI_REDUCED);
    if (me == 0) decide(&ctx, g, i);
    if (decided(g, i)) break;
  }
  if (communicates) shmem_wg_ctx_destroy(&ctx);
  if (ctx.failed != 0 && shmem_acts_()) shmem_store_(NOTE(g, failed), ctx.failed);
  tile_end();
  __builtin_unreachable();
}

void jacobi_sweep(void) {
  const jacobi_arguments_t* g = arguments();
  band_t b = band_of(g);
  b.parity = (g->iteration - 1) % 2;
  relax_edges(&b);
  relax_interior(&b);
  join();
  if (shmem_acts_()) {
    reduce(&b, g->iteration);
    if (tile_csr(TILE_CSR_WG_ID) == 0)
      note_end(g, g->iteration, (uint32_t)shmem_load_(g->residual));
  }
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(jacobi_relax, .type = STRETTO_KERNEL_SIMT, .registers_bytes = JACOBI_REGISTERS_BYTES,
               .private_bytes = 1024, .wavefronts = JACOBI_WAVEFRONTS,
               .kernarg_bytes = sizeof(jacobi_arguments_t));
STRETTO_KERNEL(jacobi_sweep, .type = STRETTO_KERNEL_SIMT, .registers_bytes = JACOBI_REGISTERS_BYTES,
               .private_bytes = 1024, .wavefronts = JACOBI_WAVEFRONTS,
               .kernarg_bytes = sizeof(jacobi_arguments_t));
