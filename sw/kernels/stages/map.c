// SPDX-License-Identifier: Apache-2.0
// Stages on the SIMT pipe, see stages.h: element by element, and two matrices beside each other. A wavefront has a share
// of a tile's rows and takes pieces of them whose loads run ahead, as the library's vector kernels do.
#include "sw/kernels/ops/walk.h"
#include "sw/kernels/stages/stage.h"

typedef enum map_kind {
  MAP_COPY,
  MAP_RELU,
  MAP_GELU,
  MAP_ADD,
  MAP_MUL,
  MAP_SUB,
  MAP_RELU_GRAD,
  MAP_GELU_GRAD,
  MAP_CONCAT
} map_kind_t;

// Rows of one operand, or of two that have the same shape.
typedef struct share {
  uint64_t from[2];
  uint64_t to;
  uint64_t copy;
  uint32_t pitch[2];
  uint32_t to_pitch, copy_pitch;
  uint32_t bytes;  // Of a row.
  uint32_t rows;
  uint32_t piece;  // Rows.
  uint32_t loaded, done;
} share_t;

KERNEL_INLINE uint32_t share_rows(const share_t* s, uint32_t row) {
  return min_u32(s->piece, s->rows - row);
}

KERNEL_INLINE void share_load(share_t* s, const int t, const int inputs) {
  if (s->loaded >= s->rows) return;
  const uint32_t rows = share_rows(s, s->loaded);
  tile_load(TILE_R(t), s->from[0] + (uint64_t)s->loaded * s->pitch[0],
            tile_shape(rows, s->bytes, s->pitch[0]), STRETTO_FP16, 0);
  if (inputs > 1)
    tile_load(TILE_R((t + 1) % 8), s->from[1] + (uint64_t)s->loaded * s->pitch[1],
              tile_shape(rows, s->bytes, s->pitch[1]), STRETTO_FP16, 0);
  s->loaded += s->piece;
}

KERNEL_INLINE int share_work(share_t* s, const int t, const map_kind_t kind) {
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
  const uint32_t rows = share_rows(s, s->done);
  tile_store(TILE_R(t), s->to + (uint64_t)s->done * s->to_pitch,
             tile_shape(rows, s->bytes, s->to_pitch), STRETTO_FP16);
  if (s->copy_pitch != 0)
    tile_store(TILE_R(t), s->copy + (uint64_t)s->done * s->copy_pitch,
               tile_shape(rows, s->bytes, s->copy_pitch), STRETTO_FP16);
  s->done += s->piece;
  return 1;
}

static __attribute__((noinline)) void walk_copy(share_t* s) {
#define LOAD(t) share_load(s, t, 1)
#define WORK(t) \
  if (!share_work(s, t, MAP_COPY)) return
  WALK_8(LOAD, WORK)
#undef LOAD
#undef WORK
}

KERNEL_INLINE void walk_share(share_t* s, const map_kind_t kind) {
  if (kind < MAP_ADD) {
#define LOAD(t) share_load(s, t, 1)
#define WORK(t) \
  if (!share_work(s, t, kind)) return
    WALK_8(LOAD, WORK)
#undef LOAD
#undef WORK
  } else {
#define LOAD(t) share_load(s, 2 * (t), 2)
#define WORK(t) \
  if (!share_work(s, 2 * (t), kind)) return
    WALK_4(LOAD, WORK)
#undef LOAD
#undef WORK
  }
}

// Rows mine .. of a tile, of input `input` (and the next one); they go behind `before` bytes of a row.
KERNEL_INLINE share_t share_of(const stage_arguments_t* g, uint32_t tile, uint32_t mine,
                               uint32_t rows, const int input, const int inputs, uint32_t before) {
  const uint32_t bytes = g->columns[input] * 2;
  share_t s = {.to = edge_place(g, &g->out, tile) + (uint64_t)mine * g->out.pitch + before,
               .to_pitch = g->out.pitch,
               .copy_pitch = g->copy_pitch,
               .bytes = bytes,
               .rows = rows,
               .piece = STAGE_PIECE / bytes};
  for (int i = 0; i < inputs; ++i) {
    s.pitch[i] = g->in[input + i].pitch;
    s.from[i] = edge_place(g, &g->in[input + i], tile) + (uint64_t)mine * s.pitch[i];
  }
  if (g->copy_pitch != 0)
    s.copy = g->copy + ((uint64_t)tile * g->tile_rows + mine) * g->copy_pitch + before;
  return s;
}

KERNEL_INLINE void map_tile(const stage_arguments_t* g, uint32_t tile, uint32_t wavefront,
                            const map_kind_t kind) {
  const uint32_t all = tile_rows_of(g, tile);
  const uint32_t each = (g->tile_rows + STAGE_MAP_WAVEFRONTS - 1) / STAGE_MAP_WAVEFRONTS;
  const uint32_t mine = wavefront * each;
  if (mine >= all) return;
  const uint32_t rows = min_u32(each, all - mine);
  if (kind == MAP_CONCAT) {
    share_t s = share_of(g, tile, mine, rows, 0, 1, 0);
    walk_copy(&s);
    s = share_of(g, tile, mine, rows, 1, 1, g->columns[0] * 2);
    walk_copy(&s);
  } else {
    share_t s = share_of(g, tile, mine, rows, 0, kind < MAP_ADD ? 1 : 2, 0);
    walk_share(&s, kind);
  }
}

KERNEL_INLINE _Noreturn void map(const map_kind_t kind) {
  const stage_arguments_t* const g = arguments();
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const uint32_t wavefront = (uint32_t)tile_csr(TILE_CSR_WF_ID), tiles = tiles_of(g);
  const int inputs = kind < MAP_ADD ? 1 : 2;
  uint64_t waited_in = 0, waited_out = 0;
  for (uint32_t tile = (uint32_t)tile_csr(TILE_CSR_WG_ID); tile < tiles;
       tile += (uint32_t)tile_csr(TILE_CSR_GRID)) {
    if (wavefront == 0) {
      edge_wait(g, &g->in[0], tile, 1, &waited_in);
      if (inputs > 1) edge_wait(g, &g->in[1], tile, 1, &waited_in);
      edge_wait(g, &g->out, tile, 0, &waited_out);
    }
    tile_barrier();
    map_tile(g, tile, wavefront, kind);
    tile_wait(0);
    tile_barrier();
    if (wavefront != 0) continue;
    edge_add(g, &g->out, tile, 1);
    edge_add(g, &g->in[0], tile, 0);
    if (inputs > 1) edge_add(g, &g->in[1], tile, 0);
  }
  tile_wait(0);
  stage_end(g, wavefront == 0 ? 3 : 0, begin, waited_in, waited_out);
}

#define KERNEL(name, kind)                                                     \
  void stage_map_##name(void) { map(kind); }                                   \
  STRETTO_KERNEL(stage_map_##name, .type = STRETTO_KERNEL_SIMT,                \
                 .registers_bytes = STAGE_MAP_REGISTERS, .private_bytes = 512, \
                 .wavefronts = STAGE_MAP_WAVEFRONTS, .kernarg_bytes = sizeof(stage_arguments_t))
KERNEL(copy, MAP_COPY);
KERNEL(relu, MAP_RELU);
KERNEL(gelu, MAP_GELU);
KERNEL(add, MAP_ADD);
KERNEL(mul, MAP_MUL);
KERNEL(sub, MAP_SUB);
KERNEL(relu_grad, MAP_RELU_GRAD);
KERNEL(gelu_grad, MAP_GELU_GRAD);
KERNEL(concat, MAP_CONCAT);
