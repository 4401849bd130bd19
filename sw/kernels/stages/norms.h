// SPDX-License-Identifier: Apache-2.0
// Layer norm, its gradient, and norm by the root mean square as stages, see map.c. The numbers are those of the library (ops/rows.c).
#ifndef STRETTO_SW_KERNELS_STAGES_NORMS_H_
#define STRETTO_SW_KERNELS_STAGES_NORMS_H_

#include "sw/kernels/stages/share.h"

// Layer norm of rows that are whole in a piece. Tiles 0 to 2 hold pieces, 3 and 7 gamma and beta in as many rows as
// `vectors` says, 4 to 6 what is in between.
#define NORM_EPSILON TILE_L(1)

KERNEL_INLINE void norm_begin(const stage_arguments_t* g) {
  if (tile_csr(TILE_CSR_WF_ID) == 0)
    tile_load(NORM_EPSILON, g->epsilon, tile_shape(1, 4, 0), STRETTO_FP32, 0);
  tile_barrier();
}
KERNEL_INLINE void norm_work(const stage_arguments_t* g, share_t* s, const int t,
                             uint32_t* vectors) {
  const uint32_t rows = share_rows(s, s->done);
  if (rows != *vectors) {
    tile_load(TILE_R(3), g->weights, tile_shape(rows, s->bytes, 0), STRETTO_FP16, 0);
    tile_load(TILE_R(7), g->bias, tile_shape(rows, s->bytes, 0), STRETTO_FP16, 0);
    *vectors = rows;
  }
  norm_of_rows(t, TILE_R(3), TILE_R(7), NORM_EPSILON);
  share_store(s, t);
}

// The gradient of layer norm. With x^ the normalised row and g = dy gamma scale: g - mean g - x^ mean(g x^). Sums over
// all rows: of dy x^, which is the gradient of gamma, and of dy, that of beta. Tiles 0 and 1 hold pieces of x and dy,
// loaded as soon as those before are in FP32; 2 x^, 3 dy, then g, 4 and 5 the sums, 6 a column, 7 what is in between.
// A piece has as many rows as divide a wavefront's share of a tile, the last one of all rows may have fewer. With it, or
// at the end, 4 and 5 go into accumulators as one row.
#define NORM_GAMMA TILE_L(0)

typedef struct norm_sums {
  uint32_t piece;  // Rows.
  uint32_t columns;
  int is_summed, is_folded;
} norm_sums_t;

KERNEL_INLINE norm_sums_t norm_sums_of(const stage_arguments_t* g) {
  norm_sums_t n = {.piece = 1, .columns = g->columns[0]};
  while (g->tile_rows % (2 * STAGE_MAP_WAVEFRONTS * n.piece) == 0 &&
         2 * n.piece * n.columns <= STAGE_NORM_GRAD_COLUMNS)
    n.piece *= 2;
  if (tile_csr(TILE_CSR_WF_ID) == 0) {
    tile_load(NORM_GAMMA, g->weights, tile_shape(n.piece, n.columns * 2, 0), STRETTO_FP16, 0);
    tile_load(NORM_EPSILON, g->epsilon, tile_shape(1, 4, 0), STRETTO_FP32, 0);
  }
  tile_barrier();
  return n;
}

// What is in 4 and 5, and the last piece's `left` rows in 7 and 3. 0 and 1 are in between.
KERNEL_INLINE void norm_fold(norm_sums_t* n, uint32_t left, const int accumulator) {
  put_ones(1, accumulator, n->piece);
  if (left != 0) put_ones(0, accumulator, left);
#define FOLD(accumulator, sums, last)                                                           \
  tile_zero(TILE_A(accumulator), 1 | (uint64_t)n->columns << 16);                               \
  if (n->is_summed) tile_mma(TILE_A(accumulator), TILE_R(1), TILE_R(sums), 0, 0, STRETTO_FP32); \
  if (left != 0) tile_mma(TILE_A(accumulator), TILE_R(0), TILE_R(last), 0, 0, STRETTO_FP32)
  FOLD(accumulator, 4, 7);
  FOLD(accumulator + 1, 5, 3);
#undef FOLD
  n->is_folded = 1;
}
#define EACH_WAVEFRONT(CALL)                    \
  switch ((uint32_t)tile_csr(TILE_CSR_WF_ID)) { \
    case 0: CALL(0); break;                     \
    case 1: CALL(2); break;                     \
    case 2: CALL(4); break;                     \
    default: CALL(6); break;                    \
  }
static __attribute__((noinline)) void norm_fold_mine(norm_sums_t* n, uint32_t left){
#define CALL(accumulator) norm_fold(n, left, accumulator)
    EACH_WAVEFRONT(CALL)
#undef CALL
}

KERNEL_INLINE void norm_grad_load(const share_t* s, const int input, uint32_t row) {
  if (row >= s->rows) return;
  tile_load(TILE_R(input), s->from[input] + (uint64_t)row * s->pitch[input],
            tile_shape(share_rows(s, row), s->bytes, s->pitch[input]), STRETTO_FP16, 0);
}

#define SIMT(operation, t, a, b) tile_simt(TILE_SIMT_##operation, TILE_R(t), TILE_R(a), TILE_R(b))
KERNEL_INLINE void norm_grad_piece(const stage_arguments_t* g, share_t* s, norm_sums_t* n) {
  const uint32_t rows = share_rows(s, s->done);
  widen(2, 0, STRETTO_FP16);
  norm_grad_load(s, 0, s->done + rows);
  SIMT(COPY, 3, 2, 2);
  row_column(TILE_SIMT_ROW_MEAN, 6, 3);
  SIMT(SUB, 2, 2, 6);
  SIMT(MUL, 3, 2, 2);
  row_column(TILE_SIMT_ROW_MEAN, 6, 3);
  tile_simt(TILE_SIMT_ADD, TILE_R(6), TILE_R(6), NORM_EPSILON);
  SIMT(RSQRT, 6, 6, 6);
  SIMT(MUL, 2, 2, 6);
  widen(3, 1, STRETTO_FP16);
  SIMT(MUL, 7, 3, 2);
  if (rows != n->piece) {
    norm_fold_mine(n, rows);
    tile_load(TILE_R(1), g->weights, tile_shape(rows, s->bytes, 0), STRETTO_FP16, 0);
    widen(7, 1, STRETTO_FP16);
  } else {
    norm_grad_load(s, 1, s->done + rows);
    if (n->is_summed) {
      SIMT(ADD, 4, 4, 7);
      SIMT(ADD, 5, 5, 3);
    } else {
      SIMT(COPY, 4, 7, 7);
      SIMT(COPY, 5, 3, 3);
    }
    n->is_summed = 1;
    tile_simt(TILE_SIMT_FP32, TILE_R(7), NORM_GAMMA, NORM_GAMMA);
  }
  SIMT(MUL, 3, 3, 7);
  SIMT(MUL, 3, 3, 6);
  SIMT(COPY, 7, 3, 3);
  row_column(TILE_SIMT_ROW_MEAN, 6, 7);
  SIMT(SUB, 3, 3, 6);
  SIMT(MUL, 7, 3, 2);  // As the mean of x^ is 0, g less its mean has the same.
  row_column(TILE_SIMT_ROW_MEAN, 6, 7);
  SIMT(MUL, 2, 2, 6);
  SIMT(SUB, 3, 3, 2);
  narrow(2, 3, STRETTO_FP16);
  share_store(s, 2);
}
#undef SIMT

KERNEL_INLINE void walk_norm_grad(const stage_arguments_t* g, share_t* s, norm_sums_t* n) {
  s->piece = n->piece;
  norm_grad_load(s, 0, 0);
  norm_grad_load(s, 1, 0);
  while (s->done < s->rows) norm_grad_piece(g, s, n);
}

KERNEL_INLINE void norm_grad_end(const stage_arguments_t* g, norm_sums_t* n, uint64_t* waited) {
  const uint32_t group = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  if (!n->is_folded) norm_fold_mine(n, 0);
#define TAKE(accumulator)                                                                       \
  tile_epilogue(TILE_R(6), TILE_A(accumulator), (uint64_t)1 << 16 | (uint64_t)n->columns << 48, \
                STRETTO_FP32)
#define TAKE_OTHER(accumulator) TAKE((accumulator) + 1)
#define LEAVE(i, OF)                                                                       \
  if (g->sums[i].words != 0) {                                                             \
    sums_wait(g, &g->sums[i], group, waited);                                              \
    EACH_WAVEFRONT(OF)                                                                     \
    tile_store(TILE_R(6),                                                                  \
               sums_place(&g->sums[i], group) + tile_csr(TILE_CSR_WF_ID) * n->columns * 4, \
               tile_shape(1, n->columns * 4, 0), STRETTO_FP32);                            \
    sums_leave(g, &g->sums[i], group);                                                     \
  }
  LEAVE(0, TAKE)
  LEAVE(1, TAKE_OTHER)
#undef TAKE
#undef TAKE_OTHER
#undef LEAVE
}
#undef EACH_WAVEFRONT

// Norm by the root mean square, rows of any length. Twice over the pieces of as many rows as fit one: the first time for
// the root, the second time rows are divided by it and multiplied by gamma. Roots and quotients are rounded as if they
// went to memory, where they may go (keep). Tiles 0 and 1 hold pieces, 2 and 3 gamma's, 4 a piece in FP32, 5 a column, 6
// the sum, then the root, 7 the root as it is kept. LDS: 0 the factor of the mean, 1 epsilon.
#define RMS_FACTOR TILE_L(0)

typedef struct rms {
  const stage_arguments_t* g;
  share_t s;  // Of all columns.
  uint32_t row, rows;
  uint64_t keep[2];
  uint32_t loaded, done;  // Bytes of a row.
} rms_t;

KERNEL_INLINE void rms_begin(const stage_arguments_t* g) {
  if (tile_csr(TILE_CSR_WF_ID) == 0) {
    tile_load(RMS_FACTOR, g->factor, tile_shape(1, 4, 0), STRETTO_FP32, 0);
    tile_load(NORM_EPSILON, g->epsilon, tile_shape(1, 4, 0), STRETTO_FP32, 0);
  }
  tile_barrier();
}

KERNEL_INLINE uint32_t rms_bytes(const rms_t* r, uint32_t at) {
  return min_u32(STAGE_PIECE / 2, r->s.bytes - at);
}
KERNEL_INLINE void rms_load(rms_t* r, const int t, const int has_gamma) {
  if (r->loaded >= r->s.bytes) return;
  const uint32_t bytes = rms_bytes(r, r->loaded);
  tile_load(TILE_R(t), r->s.from[0] + (uint64_t)r->row * r->s.pitch[0] + r->loaded,
            tile_shape(r->rows, bytes, r->s.pitch[0]), STRETTO_FP16, 0);
  if (has_gamma)
    tile_load(TILE_R(2 + t), r->g->weights + r->loaded, tile_shape(r->rows, bytes, 0), STRETTO_FP16,
              0);
  r->loaded += bytes;
}

#define SIMT(operation, t, a, b) tile_simt(TILE_SIMT_##operation, TILE_R(t), TILE_R(a), TILE_R(b))
KERNEL_INLINE int rms_sum_piece(rms_t* r, const int t) {
  if (r->done >= r->s.bytes) return 0;
  widen(4, t, STRETTO_FP16);
  SIMT(MUL, 4, 4, 4);
  row_column(TILE_SIMT_ROW_SUM, 5, 4);
  if (r->done == 0)
    SIMT(COPY, 6, 5, 5);
  else
    SIMT(ADD, 6, 6, 5);
  r->done += rms_bytes(r, r->done);
  return 1;
}
KERNEL_INLINE void rms_sum(rms_t* r) {
#define LOAD(t) rms_load(r, t, 0)
#define WORK(t) \
  if (!rms_sum_piece(r, t)) return
  r->loaded = r->done = 0;
  WALK_2(LOAD, WORK)
#undef LOAD
#undef WORK
}

KERNEL_INLINE void rms_store(const rms_t* r, const int t, uint64_t to, uint32_t pitch) {
  if (pitch == 0) return;
  const uint64_t shape = tile_shape(r->rows, rms_bytes(r, r->done), pitch);
  tile_store(TILE_R(t), to + (uint64_t)r->row * pitch + r->done, shape, STRETTO_FP16);
}
KERNEL_INLINE int rms_scale_piece(rms_t* r, const int t) {
  if (r->done >= r->s.bytes) return 0;
  widen(4, t, STRETTO_FP16);
  SIMT(MUL, 4, 4, 6);
  narrow(t, 4, STRETTO_FP16);
  rms_store(r, t, r->keep[1], r->g->keep[1].pitch);
  SIMT(MUL, t, t, 2 + t);
  rms_store(r, t, r->s.to, r->s.to_pitch);
  rms_store(r, t, r->s.copy, r->s.copy_pitch);
  r->done += rms_bytes(r, r->done);
  return 1;
}
KERNEL_INLINE void rms_scale(rms_t* r) {
#define LOAD(t) rms_load(r, t, 1)
#define WORK(t) \
  if (!rms_scale_piece(r, t)) return
  r->loaded = r->done = 0;
  WALK_2(LOAD, WORK)
#undef LOAD
#undef WORK
}

// `first`: of all rows, the first one of the share.
KERNEL_INLINE void rms_rows(const stage_arguments_t* g, const share_t* s, uint64_t first) {
  rms_t r = {.g = g, .s = *s};
  const uint32_t bytes = g->columns[0] * 2;
  const uint32_t each = bytes < STAGE_PIECE / 2 ? STAGE_PIECE / 2 / bytes : 1;
  for (int i = 0; i < 2; ++i) r.keep[i] = g->keep[i].base + first * g->keep[i].pitch;
  r.s.bytes = bytes;
  for (; r.row < s->rows; r.row += each) {
    r.rows = min_u32(each, s->rows - r.row);
    rms_sum(&r);
    tile_simt(TILE_SIMT_MUL, TILE_R(6), TILE_R(6), RMS_FACTOR);
    tile_simt(TILE_SIMT_ADD, TILE_R(6), TILE_R(6), NORM_EPSILON);
    SIMT(RSQRT, 6, 6, 6);
    SIMT(RECIP, 6, 6, 6);
    narrow(7, 6, STRETTO_FP16);
    if (g->keep[0].pitch != 0)
      tile_store(TILE_R(7), r.keep[0] + r.row * g->keep[0].pitch,
                 tile_shape(r.rows, 2, g->keep[0].pitch), STRETTO_FP16);
    widen(6, 7, STRETTO_FP16);
    SIMT(RECIP, 6, 6, 6);
    rms_scale(&r);
  }
}
#undef SIMT

#endif  // STRETTO_SW_KERNELS_STAGES_NORMS_H_
