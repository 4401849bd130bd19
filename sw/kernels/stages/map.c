// SPDX-License-Identifier: Apache-2.0
// Stages on the SIMT pipe, see stages.h: element by element, two matrices beside each other, norms of rows. A wavefront
// has a share of a tile's rows and takes pieces of them whose loads run ahead, as the library's vector kernels do.
#include "sw/kernels/stages/norms.h"
#include "sw/kernels/stages/rope.h"

typedef enum map_kind {
  MAP_COPY,
  MAP_RELU,
  MAP_GELU,
  MAP_FUNCTION,
  MAP_NORM,
  MAP_RMS_NORM,
  MAP_EXPAND,
  MAP_ADD,  // From here on two operands.
  MAP_MUL,
  MAP_SUB,
  MAP_RELU_GRAD,
  MAP_GELU_GRAD,
  MAP_FUNCTION_OF_TWO,
  MAP_CONCAT,
  MAP_NORM_GRAD,
  MAP_ROPE,  // From here on three.
  MAP_ROPE_BACK
} map_kind_t;

KERNEL_INLINE int share_work(share_t* s, const int t, const map_kind_t kind, const each_kind_t of) {
  if (s->done >= s->rows) return 0;
  const int other = (t + 1) % 8;
#define SIMT(operation, with) tile_simt(operation, TILE_R(t), TILE_R(t), TILE_R(with))
  if (kind == MAP_RELU) SIMT(TILE_SIMT_RELU_GRAD, t);
  if (kind == MAP_GELU) SIMT(TILE_SIMT_GELU, t);
  if (kind == MAP_ADD) SIMT(TILE_SIMT_ADD, other);
  if (kind == MAP_MUL) SIMT(TILE_SIMT_MUL, other);
  if (kind == MAP_SUB) SIMT(TILE_SIMT_SUB, other);
  if (kind == MAP_RELU_GRAD) SIMT(TILE_SIMT_RELU_GRAD, other);
  if (kind == MAP_GELU_GRAD) SIMT(TILE_SIMT_GELU_GRAD, other);
#undef SIMT
  if (kind == MAP_FUNCTION || kind == MAP_FUNCTION_OF_TWO) function(of, t, t, ONE, MINUS_ONE, 0);
  share_store(s, t);
  return 1;
}

// All of one, then all of the other; either may have no rows.
static __attribute__((noinline)) void walk_copy(share_t* s, share_t* other) {
#define LOAD(t)            \
  if (s->loaded < s->rows) \
    share_load(s, t, 1);   \
  else                     \
    share_load(other, t, 1)
#define WORK(t) \
  if (!share_work(s, t, MAP_COPY, EACH_COPY) && !share_work(other, t, MAP_COPY, EACH_COPY)) return
  WALK_8(LOAD, WORK)
#undef LOAD
#undef WORK
}

// Functions leave the tiles from 4 on to what is in between.
KERNEL_INLINE void walk_share(share_t* s, const map_kind_t kind, const each_kind_t of) {
#define LOAD(t) share_load(s, t, 1)
#define WORK(t) \
  if (!share_work(s, t, kind, of)) return
#define LOAD_TWO(t) share_load(s, 2 * (t), 2)
#define WORK_TWO(t) \
  if (!share_work(s, 2 * (t), kind, of)) return
  if (kind == MAP_FUNCTION) {
    WALK_4(LOAD, WORK)
  } else if (kind < MAP_ADD) {
    WALK_8(LOAD, WORK)
  } else if (kind == MAP_FUNCTION_OF_TWO) {
    WALK_2(LOAD_TWO, WORK_TWO)
  } else {
    WALK_4(LOAD_TWO, WORK_TWO)
  }
#undef LOAD
#undef WORK
#undef LOAD_TWO
#undef WORK_TWO
}

KERNEL_INLINE void concat_rows(const stage_arguments_t* g, rows_t rows) {
  const uint32_t bytes = g->columns[0] * 2, other_bytes = g->columns[1] * 2;
  for (uint32_t at = 0; at < bytes || at < other_bytes; at += STAGE_PIECE) {
    share_t s = {0}, other = {0};
    if (at < bytes) s = share_of(g, rows, 0, 1, at, STAGE_PIECE, 0);
    if (at < other_bytes) other = share_of(g, rows, 1, 1, at, STAGE_PIECE, bytes);
    walk_copy(&s, &other);
  }
}

// A column times a factor, in LDS 0, added to zeros of an accumulator that all wavefronts read.
KERNEL_INLINE uint32_t expand_columns(const stage_arguments_t* g) {
  return min_u32(STAGE_PIECE / 4, g->n);
}
KERNEL_INLINE uint32_t expand_rows_each(const stage_arguments_t* g) {
  return STAGE_PIECE / 4 / expand_columns(g);
}
KERNEL_INLINE void expand_begin(const stage_arguments_t* g) {
  if (tile_csr(TILE_CSR_WF_ID) == 0) {
    tile_load(TILE_L(0), g->factor, tile_shape(1, 4, 0), STRETTO_FP32, 0);
    tile_zero(TILE_A(0), expand_rows_each(g) | (uint64_t)expand_columns(g) << 16);
  }
  tile_barrier();
}
KERNEL_INLINE void expand_piece(const share_t* s, uint32_t at, uint32_t rows, uint32_t columns) {
  tile_epilogue(TILE_R(5), TILE_A(0), (uint64_t)rows << 16 | (uint64_t)columns << 48, STRETTO_FP32);
  tile_simt(TILE_SIMT_ADD, TILE_R(5), TILE_R(5), TILE_R(4));
  narrow(6, 5, STRETTO_FP16);
  tile_store(TILE_R(6), s->to + (uint64_t)s->done * s->to_pitch + at,
             tile_shape(rows, columns * 2, s->to_pitch), STRETTO_FP16);
  if (s->copy_pitch != 0)
    tile_store(TILE_R(6), s->copy + (uint64_t)s->done * s->copy_pitch + at,
               tile_shape(rows, columns * 2, s->copy_pitch), STRETTO_FP16);
}
KERNEL_INLINE void expand_rows(const stage_arguments_t* g, share_t* s) {
  const uint32_t columns = expand_columns(g);
  s->piece = expand_rows_each(g);
  for (; s->done < s->rows; s->done += s->piece) {
    const uint32_t rows = share_rows(s, s->done);
    share_load(s, 0, 1);
    widen(4, 0, STRETTO_FP16);
    tile_simt(TILE_SIMT_MUL, TILE_R(4), TILE_R(4), TILE_L(0));
    for (uint32_t at = 0; at < g->n; at += columns)
      expand_piece(s, at * 2, rows, min_u32(columns, g->n - at));
  }
}

KERNEL_INLINE void map_tile(const stage_arguments_t* g, uint32_t tile, uint32_t wavefront,
                            const map_kind_t kind, const each_kind_t of, uint32_t* vectors,
                            norm_sums_t* sums) {
  const uint32_t all = tile_rows_of(g, tile);
  const uint32_t each = (g->tile_rows + STAGE_MAP_WAVEFRONTS - 1) / STAGE_MAP_WAVEFRONTS;
  const uint32_t mine = wavefront * each;
  if (mine >= all) return;
  const rows_t rows = {tile, mine, min_u32(each, all - mine)};
  if (kind == MAP_CONCAT) {
    concat_rows(g, rows);
  } else if (kind == MAP_NORM) {
    share_t s = share_of(g, rows, 0, 1, 0, STAGE_PIECE, 0);
    walk_norm(g, &s, vectors);
  } else if (kind == MAP_NORM_GRAD) {
    share_t s = share_of(g, rows, 0, 2, 0, STAGE_PIECE, 0);
    walk_norm_grad(g, &s, sums);
  } else if (kind == MAP_EXPAND) {
    share_t s = share_of(g, rows, 0, 1, 0, STAGE_PIECE, 0);
    expand_rows(g, &s);
  } else if (kind == MAP_RMS_NORM) {
    const share_t s = share_of(g, rows, 0, 1, 0, STAGE_PIECE, 0);
    rms_rows(g, &s, (uint64_t)tile * g->tile_rows + mine);
  } else if (kind >= MAP_ROPE) {
    const share_t s = share_of(g, rows, 0, 1, 0, STAGE_PIECE, 0);
    const share_t tables = share_of(g, rows, 1, 2, 0, STAGE_PIECE, 0);
    rope_rows(g, &s, &tables, kind == MAP_ROPE_BACK);
  } else {
    // Beside pieces of functions there are others in FP32.
    const uint32_t piece =
        kind == MAP_FUNCTION || kind == MAP_FUNCTION_OF_TWO ? STAGE_PIECE / 2 : STAGE_PIECE;
    for (uint32_t at = 0; at < g->columns[0] * 2; at += piece) {
      share_t s = share_of(g, rows, 0, kind < MAP_ADD ? 1 : 2, at, piece, 0);
      walk_share(&s, kind, of);
    }
  }
}

KERNEL_INLINE _Noreturn void map(const map_kind_t kind, const each_kind_t of) {
  const stage_arguments_t* const g = arguments();
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const uint32_t wavefront = (uint32_t)tile_csr(TILE_CSR_WF_ID), tiles = tiles_of(g);
  const int inputs = kind < MAP_ADD ? 1 : kind < MAP_ROPE ? 2 : 3;
  uint64_t waited_in = 0, waited_out = 0, met = 0;
  uint32_t vectors = 0;
  norm_sums_t sums = {0};
  if (kind == MAP_FUNCTION || kind == MAP_FUNCTION_OF_TWO) put_numbers(0);
  if (kind == MAP_NORM) tile_load(TILE_R(2), g->epsilon, tile_shape(1, 4, 0), STRETTO_FP32, 0);
  if (kind == MAP_NORM_GRAD) sums = norm_sums_of(g);
  if (kind == MAP_RMS_NORM) rms_begin(g);
  if (kind == MAP_EXPAND) expand_begin(g);
  for (uint32_t tile = (uint32_t)tile_csr(TILE_CSR_WG_ID); tile < tiles;
       tile += (uint32_t)tile_csr(TILE_CSR_GRID)) {
    if (wavefront == 0) {
      edge_wait(g, &g->in[0], tile, 1, &waited_in);
      if (inputs > 1) edge_wait(g, &g->in[1], tile, 1, &waited_in);
      if (inputs > 2) edge_wait(g, &g->in[2], tile, 1, &waited_in);
    }
    if (wavefront == 1) edge_wait(g, &g->out, tile, 0, &waited_out);
    meet(&met);
    map_tile(g, tile, wavefront, kind, of, &vectors, &sums);
#ifdef STAGE_TAKES_NEXT
    if (wavefront == 0 && tile + tile_csr(TILE_CSR_GRID) < tiles)
      edge_wait(g, &g->in[0], tile + (uint32_t)tile_csr(TILE_CSR_GRID), 1, &waited_in);
    tile_barrier();
#endif
    // Its stores have been issued, so what they are made of has been read.
    edge_add(g, &g->out, tile, 1);
    tile_barrier();
    if (wavefront != 0) continue;
    edge_add(g, &g->in[0], tile, 0);
    if (inputs > 1) edge_add(g, &g->in[1], tile, 0);
    if (inputs > 2) edge_add(g, &g->in[2], tile, 0);
  }
  if (kind == MAP_NORM_GRAD) norm_grad_end(g, &sums, &waited_out);
  tile_wait(0);
  tile_barrier();
  if (wavefront == 0) stage_note(g, STAGE_MET_MULTIPLYING, met);
  if (wavefront == 1) stage_note(g, STAGE_MET_STORING, met);
  stage_end(g, wavefront < 2 ? 1 + wavefront : 0, begin, waited_in, waited_out);
}

#define KERNEL_OF(name, kind, of, lds)                                            \
  void stage_map_##name(void) { map(kind, of); }                                  \
  STRETTO_KERNEL(stage_map_##name, .type = STRETTO_KERNEL_SIMT, .lds_bytes = lds, \
                 .registers_bytes = STAGE_MAP_REGISTERS, .private_bytes = 512,    \
                 .wavefronts = STAGE_MAP_WAVEFRONTS, .kernarg_bytes = sizeof(stage_arguments_t))
#define KERNEL(name, kind, of) KERNEL_OF(name, kind, of, 0)
KERNEL(copy, MAP_COPY, EACH_COPY);
KERNEL(relu, MAP_RELU, EACH_COPY);
KERNEL(gelu, MAP_GELU, EACH_COPY);
KERNEL(neg, MAP_FUNCTION, EACH_NEG);
KERNEL(sigmoid, MAP_FUNCTION, EACH_SIGMOID);
KERNEL(tanh, MAP_FUNCTION, EACH_TANH);
KERNEL(silu, MAP_FUNCTION, EACH_SILU);
KERNEL(layer_norm, MAP_NORM, EACH_COPY);
KERNEL(add, MAP_ADD, EACH_COPY);
KERNEL(mul, MAP_MUL, EACH_COPY);
KERNEL(sub, MAP_SUB, EACH_COPY);
KERNEL(relu_grad, MAP_RELU_GRAD, EACH_COPY);
KERNEL(gelu_grad, MAP_GELU_GRAD, EACH_COPY);
KERNEL(div, MAP_FUNCTION_OF_TWO, EACH_DIV);
KERNEL(sigmoid_grad, MAP_FUNCTION_OF_TWO, EACH_SIGMOID_GRAD);
KERNEL(tanh_grad, MAP_FUNCTION_OF_TWO, EACH_TANH_GRAD);
KERNEL(silu_grad, MAP_FUNCTION_OF_TWO, EACH_SILU_GRAD);
KERNEL(concat, MAP_CONCAT, EACH_COPY);
KERNEL(rope, MAP_ROPE, EACH_COPY);
KERNEL(rope_back, MAP_ROPE_BACK, EACH_COPY);
KERNEL_OF(expand, MAP_EXPAND, EACH_COPY, STAGE_EXPAND_LDS);
KERNEL_OF(rms_norm, MAP_RMS_NORM, EACH_COPY, STAGE_RMS_NORM_LDS);
KERNEL_OF(layer_norm_grad, MAP_NORM_GRAD, EACH_COPY, STAGE_NORM_GRAD_LDS);
