// SPDX-License-Identifier: Apache-2.0
// Vector operators, see vector.h. A wavefront has S tiles for what it loads: S - 1 pieces fly while one is worked on,
// in place, and stored. The tile that is loaded anew is the one whose store was issued a step before.
#include "sw/kernels/ops/vector.h"

#include "sw/kernels/ops/walk.h"

KERNEL_INLINE const ops_vector_arguments_t* arguments(void) {
  return (const ops_vector_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
}

// Element by element

typedef enum map_kind {
  MAP_COPY,
  MAP_GELU,
  MAP_RELU,
  MAP_ADD,
  MAP_MUL,
  MAP_GELU_GRAD,
  MAP_RELU_GRAD,
  MAP_TRIAD
} map_kind_t;

typedef struct map {
  uint64_t in[3];
  uint64_t out;
  uint64_t bytes;
  uint64_t loaded, done;  // Where the next piece begins that is loaded, worked on.
  uint64_t step;
} map_t;

KERNEL_INLINE uint64_t map_shape(const map_t* m, uint64_t at) {
  const uint64_t left = m->bytes - at;
  return tile_shape(1, left < OPS_VECTOR_PIECE ? (uint32_t)left : OPS_VECTOR_PIECE, 0);
}

// Tiles t, t + 1, t + 2 hold what is loaded.
KERNEL_INLINE void map_load(map_t* m, const int t, const int inputs, const int element) {
  if (m->loaded >= m->bytes) return;
  const uint64_t shape = map_shape(m, m->loaded);
  tile_load(TILE_R(t), m->in[0] + m->loaded, shape, element, 0);
  if (inputs > 1) tile_load(TILE_R((t + 1) % 8), m->in[1] + m->loaded, shape, element, 0);
  if (inputs > 2) tile_load(TILE_R((t + 2) % 8), m->in[2] + m->loaded, shape, element, 0);
  m->loaded += m->step;
}

// Returns whether there was a piece.
KERNEL_INLINE int map_work(map_t* m, const int t, const map_kind_t kind, const int element) {
  if (m->done >= m->bytes) return 0;
  if (kind == MAP_GELU) tile_simt(TILE_SIMT_GELU, TILE_R(t), TILE_R(t), TILE_R(t));
  if (kind == MAP_RELU) tile_simt(TILE_SIMT_RELU_GRAD, TILE_R(t), TILE_R(t), TILE_R(t));
  if (kind == MAP_GELU_GRAD)
    tile_simt(TILE_SIMT_GELU_GRAD, TILE_R(t), TILE_R(t), TILE_R((t + 1) % 8));
  if (kind == MAP_RELU_GRAD)
    tile_simt(TILE_SIMT_RELU_GRAD, TILE_R(t), TILE_R(t), TILE_R((t + 1) % 8));
  if (kind == MAP_ADD) tile_simt(TILE_SIMT_ADD, TILE_R(t), TILE_R(t), TILE_R((t + 1) % 8));
  if (kind == MAP_MUL) tile_simt(TILE_SIMT_MUL, TILE_R(t), TILE_R(t), TILE_R((t + 1) % 8));
  if (kind == MAP_TRIAD) {
    tile_simt(TILE_SIMT_MUL, TILE_R((t + 1) % 8), TILE_R((t + 1) % 8), TILE_R((t + 2) % 8));
    tile_simt(TILE_SIMT_ADD, TILE_R(t), TILE_R(t), TILE_R((t + 1) % 8));
  }
  tile_store(TILE_R(t), m->out + m->done, map_shape(m, m->done), element);
  m->done += m->step;
  return 1;
}

KERNEL_INLINE void map(const map_kind_t kind, const int element) {
  const ops_vector_arguments_t* const g = arguments();
  const uint64_t first = (uint64_t)wavefront() * OPS_VECTOR_PIECE;
  map_t m = {.in = {g->in[0], g->in[1], g->in[2]},
             .out = g->out,
             .bytes = g->bytes,
             .loaded = first,
             .done = first,
             .step = (uint64_t)wavefronts() * OPS_VECTOR_PIECE};
  if (kind < MAP_ADD) {
#define LOAD(s) map_load(&m, s, 1, element)
#define WORK(s) \
  if (!map_work(&m, s, kind, element)) return
    WALK_8(LOAD, WORK)
#undef LOAD
#undef WORK
  } else if (kind < MAP_TRIAD) {
#define LOAD(s) map_load(&m, 2 * (s), 2, element)
#define WORK(s) \
  if (!map_work(&m, 2 * (s), kind, element)) return
    WALK_4(LOAD, WORK)
#undef LOAD
#undef WORK
  } else {
#define LOAD(s) map_load(&m, 3 * (s), 3, element)
#define WORK(s) \
  if (!map_work(&m, 3 * (s), kind, element)) return
    WALK_2(LOAD, WORK)
#undef LOAD
#undef WORK
  }
}

// Matrix times vector

typedef struct rows {
  const ops_vector_arguments_t* g;
  uint32_t loaded, done;  // First row of the next piece that is loaded, worked on.
  uint32_t step;
  uint32_t broadcast;  // Rows that the tiles of vectors have.
} rows_t;

KERNEL_INLINE uint32_t rows_at(const rows_t* r, uint32_t row) {
  return min_u32(r->g->rows_each, r->g->rows - row);
}
KERNEL_INLINE uint64_t rows_shape(const rows_t* r, uint32_t row) {
  return tile_shape(rows_at(r, row), r->g->row_bytes, r->g->row_bytes);
}

KERNEL_INLINE void rows_load(rows_t* r, const int t, const int element) {
  if (r->loaded >= r->g->rows) return;
  tile_load(TILE_R(t), r->g->in[0] + (uint64_t)r->loaded * r->g->row_bytes,
            rows_shape(r, r->loaded), element, 0);
  r->loaded += r->step;
}

// Tiles 0 to 2 hold pieces, 4 the vector.
KERNEL_INLINE int gemv_work(rows_t* r, const int t, const int element) {
  const ops_vector_arguments_t* const g = r->g;
  const uint32_t row = r->done;
  if (row >= g->rows) return 0;
  const uint32_t rows = rows_at(r, row), bytes = element == STRETTO_FP32 ? 4 : 2;
  if (rows != r->broadcast)
    tile_load(TILE_R(4), g->in[1], tile_shape(rows, g->row_bytes, 0), element, 0);
  r->broadcast = rows;
  r->done += r->step;
  tile_simt(TILE_SIMT_MUL, TILE_R(t), TILE_R(t), TILE_R(4));
  tile_simt(TILE_SIMT_ROW_SUM, TILE_R(t), TILE_R(t), TILE_R(t));
  tile_store(TILE_R(t), g->out + (uint64_t)row * bytes, tile_shape(rows, bytes, bytes), element);
  return 1;
}

KERNEL_INLINE void gemv(const int element) {
  const ops_vector_arguments_t* const g = arguments();
  const uint32_t first = wavefront() * g->rows_each;
  rows_t r = {.g = g, .loaded = first, .done = first, .step = wavefronts() * g->rows_each};
#define LOAD(s) rows_load(&r, s, element)
#define WORK(s) \
  if (!gemv_work(&r, s, element)) return
  WALK_3(LOAD, WORK)
#undef LOAD
#undef WORK
}

// Two matrices beside each other

typedef struct concat {
  const ops_vector_arguments_t* g;
  uint32_t pieces[2];  // Of each matrix,
  uint32_t wide[2];    // of a row of it.
  uint32_t rows_each[2];
  uint32_t loaded, done, step;
} concat_t;

typedef struct concat_place {
  uint64_t from, to;
  uint32_t rows, bytes, pitch;
} concat_place_t;

static __attribute__((noinline)) concat_place_t concat_place(const concat_t* c, uint32_t piece) {
  const ops_vector_arguments_t* const g = c->g;
  const int other = piece >= c->pieces[0];
  if (other) piece -= c->pieces[0];
  const uint32_t row_bytes = other ? g->other_bytes : g->row_bytes;
  const uint32_t row = piece / c->wide[other] * c->rows_each[other];
  const uint32_t at = piece % c->wide[other] * OPS_VECTOR_PIECE;
  const concat_place_t place = {.from = g->in[other] + (uint64_t)row * row_bytes + at,
                                .to = g->out + (uint64_t)row * (g->row_bytes + g->other_bytes) +
                                      (other ? g->row_bytes : 0) + at,
                                .rows = min_u32(c->rows_each[other], g->rows - row),
                                .bytes = min_u32(OPS_VECTOR_PIECE, row_bytes - at),
                                .pitch = row_bytes};
  return place;
}

KERNEL_INLINE void concat_load(concat_t* c, const int t, const int element) {
  if (c->loaded >= c->pieces[0] + c->pieces[1]) return;
  const concat_place_t p = concat_place(c, c->loaded);
  tile_load(TILE_R(t), p.from, tile_shape(p.rows, p.bytes, p.pitch), element, 0);
  c->loaded += c->step;
}

KERNEL_INLINE int concat_work(concat_t* c, const int t, const int element) {
  if (c->done >= c->pieces[0] + c->pieces[1]) return 0;
  const concat_place_t p = concat_place(c, c->done);
  tile_store(TILE_R(t), p.to, tile_shape(p.rows, p.bytes, c->g->row_bytes + c->g->other_bytes),
             element);
  c->done += c->step;
  return 1;
}

KERNEL_INLINE void concat_matrix(concat_t* c, int which, uint32_t row_bytes) {
  c->wide[which] = (row_bytes + OPS_VECTOR_PIECE - 1) / OPS_VECTOR_PIECE;
  c->rows_each[which] = row_bytes < OPS_VECTOR_PIECE ? OPS_VECTOR_PIECE / row_bytes : 1;
  c->pieces[which] = (c->g->rows + c->rows_each[which] - 1) / c->rows_each[which] * c->wide[which];
}

KERNEL_INLINE void concat(const int element) {
  const ops_vector_arguments_t* const g = arguments();
  concat_t c = {.g = g, .loaded = wavefront(), .done = wavefront(), .step = wavefronts()};
  concat_matrix(&c, 0, g->row_bytes);
  concat_matrix(&c, 1, g->other_bytes);
#define LOAD(s) concat_load(&c, s, element)
#define WORK(s) \
  if (!concat_work(&c, s, element)) return
  WALK_8(LOAD, WORK)
#undef LOAD
#undef WORK
}

#define KERNEL(name, piece, tiles, call)                                                      \
  void name(void) {                                                                           \
    call;                                                                                     \
    tile_end();                                                                               \
    __builtin_unreachable();                                                                  \
  }                                                                                           \
  STRETTO_KERNEL(name, .type = STRETTO_KERNEL_SIMT,                                           \
                 .registers_bytes = OPS_VECTOR_REGISTERS(piece, tiles), .private_bytes = 512, \
                 .wavefronts = OPS_VECTOR_WAVEFRONTS(piece),                                  \
                 .kernarg_bytes = sizeof(ops_vector_arguments_t))

#define OF_ELEMENT(name, element)                                                                \
  KERNEL(map_copy_##name, OPS_VECTOR_PIECE, OPS_VECTOR_TILES, map(MAP_COPY, element));           \
  KERNEL(map_gelu_##name, OPS_VECTOR_PIECE, OPS_VECTOR_TILES, map(MAP_GELU, element));           \
  KERNEL(map_relu_##name, OPS_VECTOR_PIECE, OPS_VECTOR_TILES, map(MAP_RELU, element));           \
  KERNEL(map_gelu_grad_##name, OPS_VECTOR_PIECE, OPS_VECTOR_TILES, map(MAP_GELU_GRAD, element)); \
  KERNEL(map_relu_grad_##name, OPS_VECTOR_PIECE, OPS_VECTOR_TILES, map(MAP_RELU_GRAD, element)); \
  KERNEL(map_add_##name, OPS_VECTOR_PIECE, OPS_VECTOR_TILES, map(MAP_ADD, element));             \
  KERNEL(map_mul_##name, OPS_VECTOR_PIECE, OPS_VECTOR_TILES, map(MAP_MUL, element));             \
  KERNEL(map_triad_##name, OPS_VECTOR_PIECE, OPS_VECTOR_TILES, map(MAP_TRIAD, element));         \
  KERNEL(concat_##name, OPS_VECTOR_PIECE, OPS_VECTOR_TILES, concat(element));                    \
  KERNEL(gemv_##name##_2048, OPS_VECTOR_PIECE, OPS_VECTOR_GEMV_TILES, gemv(element));            \
  KERNEL(gemv_##name##_8192, OPS_VECTOR_LONG_PIECE, OPS_VECTOR_GEMV_TILES, gemv(element))
OF_ELEMENT(fp16, STRETTO_FP16);
#ifndef OPS_FP16_ALONE
OF_ELEMENT(bf16, STRETTO_BF16);
OF_ELEMENT(fp32, STRETTO_FP32);
#endif
