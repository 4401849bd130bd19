// SPDX-License-Identifier: Apache-2.0
// Stages on the SIMT pipe, see stages.h: element by element, two matrices beside each other, norms of rows. A wavefront
// has a share of each tile's rows and takes pieces of them.
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

KERNEL_INLINE void share_work(share_t* s, const int t, const map_kind_t kind,
                              const each_kind_t of) {
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

// A tile by itself.
KERNEL_INLINE void map_tile(const stage_arguments_t* g, uint32_t tile, const map_kind_t kind,
                            norm_sums_t* sums) {
  const rows_t rows = rows_of(g, tile);
  if (rows.count == 0) return;
  if (kind == MAP_NORM_GRAD) {
    share_t s = share_of(g, rows, 0, 2, 0, STAGE_PIECE, 0);
    walk_norm_grad(g, &s, sums);
  } else if (kind == MAP_EXPAND) {
    share_t s = share_of(g, rows, 0, 1, 0, STAGE_PIECE, 0);
    expand_rows(g, &s);
  } else if (kind == MAP_RMS_NORM) {
    const share_t s = share_of(g, rows, 0, 1, 0, STAGE_PIECE, 0);
    rms_rows(g, &s, (uint64_t)tile * g->tile_rows + rows.mine);
  } else {
    const share_t s = share_of(g, rows, 0, 1, 0, STAGE_PIECE, 0);
    const share_t tables = share_of(g, rows, 1, 2, 0, STAGE_PIECE, 0);
    rope_rows(g, &s, &tables, kind == MAP_ROPE_BACK);
  }
}

// Pieces of tiles, loaded ahead of the work, into the next tile if it has come.

KERNEL_INLINE int inputs_of(const map_kind_t kind) {
  return kind < MAP_ADD ? 1 : kind < MAP_ROPE ? 2 : 3;
}
KERNEL_INLINE int has_pieces(const map_kind_t kind) {
  return kind <= MAP_NORM || (kind >= MAP_ADD && kind <= MAP_CONCAT);
}
// Loaded beside each other, in tiles of their own.
KERNEL_INLINE int operands_of_piece(const map_kind_t kind) {
  return kind >= MAP_ADD && kind < MAP_CONCAT ? 2 : 1;
}
// Of a ring. Functions and norms have more tiles in between.
KERNEL_INLINE uint32_t pieces_in_ring(const map_kind_t kind) {
  if (kind == MAP_NORM) return 3;
  if (kind == MAP_FUNCTION_OF_TWO) return 2;
  return kind == MAP_FUNCTION || operands_of_piece(kind) == 2 ? 4 : 8;
}
// Bytes of a row; beside pieces of functions there are others in FP32.
KERNEL_INLINE uint32_t piece_bytes(const map_kind_t kind) {
  return kind == MAP_FUNCTION || kind == MAP_FUNCTION_OF_TWO ? STAGE_PIECE / 2 : STAGE_PIECE;
}

// A way through a wavefront's pieces: those of `s`, then from column `at` of an input of a tile on.
typedef struct way {
  share_t s;
  uint32_t tile, input, at;
} way_t;

typedef struct pieces {
  const stage_arguments_t* g;
  uint32_t tiles;
  uint32_t there;      // The last tile that has come, and
  uint32_t asked;      // that was asked for.
  way_t loaded, done;  // `ahead` pieces apart; both go round the ring.
  uint32_t ahead, to, from;
  uint32_t vectors;
  uint64_t waited;
} pieces_t;

KERNEL_INLINE void way_on(const pieces_t* p, way_t* w, const map_kind_t kind) {
  const stage_arguments_t* const g = p->g;
  const uint32_t step = piece_bytes(kind), input = kind == MAP_CONCAT ? w->input : 0;
  w->s = share_of(g, rows_of(g, w->tile), (int)input, operands_of_piece(kind), w->at, step,
                  input != 0 ? g->columns[0] * 2 : 0);
  w->at += step;
  if (w->at < g->columns[input] * 2) return;
  w->at = 0;
  if (kind == MAP_CONCAT && input == 0) {
    w->input = 1;
    return;
  }
  w->input = 0;
  w->tile += (uint32_t)tile_csr(TILE_CSR_GRID);
}

KERNEL_INLINE void take_tile(pieces_t* p, uint32_t tile, const map_kind_t kind) {
  if (p->there == tile) return;
  for (int i = 0; i < inputs_of(kind); ++i) edge_wait(p->g, &p->g->in[i], tile, 1, &p->waited);
  p->there = tile;
}
// Once for each.
KERNEL_INLINE int has_come(pieces_t* p, uint32_t tile, const map_kind_t kind) {
  if (p->there == tile) return 1;
  if (p->asked == tile) return 0;
  p->asked = tile;
  for (int i = 0; i < inputs_of(kind); ++i)
    if (!edge_is_full(p->g, &p->g->in[i], tile, &p->waited)) return 0;
  p->there = tile;
  return 1;
}

// Whether there is a piece to load.
KERNEL_INLINE int loads_on(pieces_t* p, const map_kind_t kind) {
  while (p->loaded.s.loaded >= p->loaded.s.rows) {
    if (p->loaded.tile >= p->tiles || !has_come(p, p->loaded.tile, kind)) return 0;
    way_on(p, &p->loaded, kind);
  }
  return 1;
}
#define EACH_PIECE(number, CALL) \
  switch (number) {              \
    CALL(0);                     \
    CALL(1);                     \
    CALL(2);                     \
    CALL(3);                     \
    CALL(4);                     \
    CALL(5);                     \
    CALL(6);                     \
    CALL(7);                     \
  }
KERNEL_INLINE void load_piece(pieces_t* p, const map_kind_t kind) {
  const int operands = operands_of_piece(kind);
#define LOAD(n)                                                                           \
  case n:                                                                                 \
    if ((n) < pieces_in_ring(kind)) share_load(&p->loaded.s, operands*(n) % 8, operands); \
    break
  EACH_PIECE(p->to, LOAD)
#undef LOAD
  if (++p->to == pieces_in_ring(kind)) p->to = 0;
  ++p->ahead;
}
KERNEL_INLINE void work_piece(pieces_t* p, const map_kind_t kind, const each_kind_t of) {
  const int operands = operands_of_piece(kind);
#define WORK(n)                                           \
  case n:                                                 \
    if ((n) >= pieces_in_ring(kind)) break;               \
    if (kind == MAP_NORM)                                 \
      norm_work(p->g, &p->done.s, n, &p->vectors);        \
    else                                                  \
      share_work(&p->done.s, operands*(n) % 8, kind, of); \
    break
  EACH_PIECE(p->from, WORK)
#undef WORK
  if (++p->from == pieces_in_ring(kind)) p->from = 0;
  --p->ahead;
}
#undef EACH_PIECE

// What is loaded anew is the piece whose store was issued a step before, of a ring of two at once.
KERNEL_INLINE void work_tile(pieces_t* p, uint32_t tile, const map_kind_t kind,
                             const each_kind_t of) {
  const uint32_t most = pieces_in_ring(kind) > 2 ? pieces_in_ring(kind) - 1 : 2;
  for (;;) {
    while (p->done.s.done >= p->done.s.rows) {
      if (p->done.tile != tile) return;
      way_on(p, &p->done, kind);
    }
    while (p->ahead < most && loads_on(p, kind)) load_piece(p, kind);
    work_piece(p, kind, of);
  }
}

// Each wavefront waits, and says what it has read and written, for itself.
KERNEL_INLINE _Noreturn void map(const map_kind_t kind, const each_kind_t of) {
  const stage_arguments_t* const g = arguments();
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const uint32_t tiles = tiles_of(g), stride = (uint32_t)tile_csr(TILE_CSR_GRID);
  const uint32_t first = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  uint64_t waited_out = 0;
  norm_sums_t sums = {0};
  pieces_t p = {.g = g, .tiles = tiles, .there = tiles, .asked = tiles};
  p.loaded.tile = p.done.tile = first;
  if (kind == MAP_FUNCTION || kind == MAP_FUNCTION_OF_TWO) PUT_NUMBERS(0);
  if (kind == MAP_NORM) norm_begin(g);
  if (kind == MAP_NORM_GRAD) sums = norm_sums_of(g);
  if (kind == MAP_RMS_NORM) rms_begin(g);
  if (kind == MAP_EXPAND) expand_begin(g);
  for (uint32_t tile = first; tile < tiles; tile += stride) {
    take_tile(&p, tile, kind);
    edge_wait(g, &g->out, tile, 0, &waited_out);
    if (has_pieces(kind))
      work_tile(&p, tile, kind, of);
    else
      map_tile(g, tile, kind, &sums);
#ifdef STAGE_TAKES_NEXT
    if (tile + stride < tiles) take_tile(&p, tile + stride, kind);
#endif
    // Its stores have been issued, so what they are made of has been read.
    edge_add(g, &g->out, tile, 1);
    if (tile_csr(TILE_CSR_WF_ID) == 0) note_first(g, tile, first);
    for (int i = 0; i < inputs_of(kind); ++i) edge_add(g, &g->in[i], tile, 0);
  }
  if (kind == MAP_NORM_GRAD) norm_grad_end(g, &sums, &waited_out);
  tile_wait(0);
  tile_barrier();
  stage_end(g, tile_csr(TILE_CSR_WF_ID) == 0 ? 3 : 0, begin, p.waited, waited_out);
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
KERNEL_OF(layer_norm, MAP_NORM, EACH_COPY, STAGE_NORM_LDS);
KERNEL_OF(rms_norm, MAP_RMS_NORM, EACH_COPY, STAGE_NORM_LDS);
KERNEL_OF(layer_norm_grad, MAP_NORM_GRAD, EACH_COPY, STAGE_NORM_GRAD_LDS);
