// SPDX-License-Identifier: Apache-2.0
// What a wavefront of a stage on the SIMT pipe has of a tile: a share of its rows, in pieces.
#ifndef STRETTO_SW_KERNELS_STAGES_SHARE_H_
#define STRETTO_SW_KERNELS_STAGES_SHARE_H_

#include "sw/kernels/stages/stage.h"

// Rows of one operand, or of two, of which the second may be repeated.
typedef struct share {
  uint64_t from[2];
  uint64_t to;
  uint64_t copy;
  uint32_t pitch[2];
  uint32_t second;  // stage_second_t.
  uint32_t to_pitch, copy_pitch;
  uint32_t bytes;  // Of a row.
  uint32_t rows;
  uint32_t piece;  // Rows.
  uint32_t loaded, done;
} share_t;

KERNEL_INLINE uint32_t share_rows(const share_t* s, uint32_t row) {
  return min_u32(s->piece, s->rows - row);
}

KERNEL_INLINE uint64_t second_shape(const share_t* s, uint32_t rows) {
  if (s->second == STAGE_ONE) return tile_shape(1, 2, 0);
  return tile_shape(rows, s->second == STAGE_COLUMN ? 2 : s->bytes, s->pitch[1]);
}

KERNEL_INLINE void share_load(share_t* s, const int t, const int inputs) {
  if (s->loaded >= s->rows) return;
  const uint32_t rows = share_rows(s, s->loaded);
  tile_load(TILE_R(t), s->from[0] + (uint64_t)s->loaded * s->pitch[0],
            tile_shape(rows, s->bytes, s->pitch[0]), STRETTO_FP16, 0);
  if (inputs > 1)
    tile_load(TILE_R((t + 1) % 8), s->from[1] + (uint64_t)s->loaded * s->pitch[1],
              second_shape(s, rows), STRETTO_FP16, 0);
  s->loaded += s->piece;
}

KERNEL_INLINE void share_store(share_t* s, const int t) {
  const uint32_t rows = share_rows(s, s->done);
  tile_store(TILE_R(t), s->to + (uint64_t)s->done * s->to_pitch,
             tile_shape(rows, s->bytes, s->to_pitch), STRETTO_FP16);
  if (s->copy_pitch != 0)
    tile_store(TILE_R(t), s->copy + (uint64_t)s->done * s->copy_pitch,
               tile_shape(rows, s->bytes, s->copy_pitch), STRETTO_FP16);
  s->done += s->piece;
}

// What a wavefront has of a tile: rows mine ..
typedef struct rows {
  uint32_t tile, mine, count;
} rows_t;

KERNEL_INLINE rows_t rows_of(const stage_arguments_t* g, uint32_t tile) {
  const uint32_t all = tile_rows_of(g, tile);
  const uint32_t each = (g->tile_rows + STAGE_MAP_WAVEFRONTS - 1) / STAGE_MAP_WAVEFRONTS;
  const uint32_t mine = (uint32_t)tile_csr(TILE_CSR_WF_ID) * each;
  return (rows_t){tile, mine, mine < all ? min_u32(each, all - mine) : 0};
}

// Of input `input` (and the next one): bytes at .. of each row; they go `before` bytes further on.
KERNEL_INLINE share_t share_of(const stage_arguments_t* g, rows_t rows, const int input,
                               const int inputs, uint32_t at, uint32_t piece, uint32_t before) {
  const uint32_t bytes = min_u32(piece, g->columns[input] * 2 - at);
  share_t s = {
      .to = edge_place(g, &g->out, rows.tile) + (uint64_t)rows.mine * g->out.pitch + before + at,
      .to_pitch = g->out.pitch,
      .copy_pitch = g->copy_pitch,
      .second = g->second,
      .bytes = bytes,
      .rows = rows.count,
      .piece = piece / bytes};
  for (int i = 0; i < inputs; ++i) {
    s.pitch[i] = g->in[input + i].pitch;
    s.from[i] = edge_place(g, &g->in[input + i], rows.tile) + (uint64_t)rows.mine * s.pitch[i];
    if (i == 0 || g->second < STAGE_COLUMN) s.from[i] += at;
  }
  if (g->copy_pitch != 0)
    s.copy =
        g->copy + ((uint64_t)rows.tile * g->tile_rows + rows.mine) * g->copy_pitch + before + at;
  return s;
}

#endif  // STRETTO_SW_KERNELS_STAGES_SHARE_H_
