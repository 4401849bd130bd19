// SPDX-License-Identifier: Apache-2.0
#ifndef STRETTO_SW_KERNELS_STAGES_ROPE_H_
#define STRETTO_SW_KERNELS_STAGES_ROPE_H_

#include "sw/kernels/stages/share.h"

// Rotary embedding: of rows of heads, x1 and x2 the halves of one, likewise of cosines c and sines s, which all heads of a
// row share: x1 c1 - x2 s1, x2 c2 + x1 s2; back: x1 c1 + x2 s2, x2 c2 - x1 s1 (ops/elementwise.c). One half of all heads,
// then the other. Tiles 0 and 1 hold the halves, 2 cosines, 3 sines, 7 what is stored, the others are in between.
typedef struct rope {
  share_t s;  // Of all columns.
  uint32_t row, rows;
  uint32_t half_bytes;
} rope_t;

KERNEL_INLINE void rope_load(const rope_t* r, uint32_t head) {
  if (2 * head * r->half_bytes >= r->s.bytes) return;
  const uint64_t from = r->s.from[0] + (uint64_t)r->row * r->s.pitch[0] + 2 * head * r->half_bytes;
  const uint64_t shape = tile_shape(r->rows, r->half_bytes, r->s.pitch[0]);
  tile_load(TILE_R(0), from, shape, STRETTO_FP16, 0);
  tile_load(TILE_R(1), from + r->half_bytes, shape, STRETTO_FP16, 0);
}

#define SIMT(operation, t, a, b) tile_simt(TILE_SIMT_##operation, TILE_R(t), TILE_R(a), TILE_R(b))
KERNEL_INLINE void rope_half(const rope_t* r, const int half, const int back, uint64_t cosines,
                             uint64_t sines, const uint32_t* pitch) {
  const uint32_t sine_half = back ? 1 - half : half;
  tile_load(TILE_R(2), cosines + half * r->half_bytes, tile_shape(r->rows, r->half_bytes, pitch[0]),
            STRETTO_FP16, 0);
  tile_load(TILE_R(3), sines + sine_half * r->half_bytes,
            tile_shape(r->rows, r->half_bytes, pitch[1]), STRETTO_FP16, 0);
  rope_load(r, 0);
  for (uint32_t head = 0; 2 * head * r->half_bytes < r->s.bytes; ++head) {
    widen(4, half, STRETTO_FP16);
    widen(5, 1 - half, STRETTO_FP16);
    rope_load(r, head + 1);
    widen(6, 2, STRETTO_FP16);
    SIMT(MUL, 4, 4, 6);
    widen(6, 3, STRETTO_FP16);
    SIMT(MUL, 5, 5, 6);
    if ((half == 0) != back)
      SIMT(SUB, 4, 4, 5);
    else
      SIMT(ADD, 4, 4, 5);
    narrow(7, 4, STRETTO_FP16);
    const uint32_t at = (2 * head + half) * r->half_bytes;
    tile_store(TILE_R(7), r->s.to + (uint64_t)r->row * r->s.to_pitch + at,
               tile_shape(r->rows, r->half_bytes, r->s.to_pitch), STRETTO_FP16);
    if (r->s.copy_pitch != 0)
      tile_store(TILE_R(7), r->s.copy + (uint64_t)r->row * r->s.copy_pitch + at,
                 tile_shape(r->rows, r->half_bytes, r->s.copy_pitch), STRETTO_FP16);
  }
}
#undef SIMT

// `tables`: the share of cosines and sines.
KERNEL_INLINE void rope_rows(const stage_arguments_t* g, const share_t* s, const share_t* tables,
                             const int back) {
  rope_t r = {.s = *s, .half_bytes = g->columns[1]};
  const uint32_t each = STAGE_PIECE / 2 / r.half_bytes;
  r.s.bytes = g->columns[0] * 2;
  for (; r.row < s->rows; r.row += each) {
    r.rows = min_u32(each, s->rows - r.row);
    const uint64_t cosines = tables->from[0] + (uint64_t)r.row * tables->pitch[0];
    const uint64_t sines = tables->from[1] + (uint64_t)r.row * tables->pitch[1];
    rope_half(&r, 0, back, cosines, sines, tables->pitch);
    rope_half(&r, 1, back, cosines, sines, tables->pitch);
  }
}

#endif  // STRETTO_SW_KERNELS_STAGES_ROPE_H_
