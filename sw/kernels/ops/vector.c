// SPDX-License-Identifier: Apache-2.0
// Vector operators, see vector.h. Element by element, and in concat, a wavefront has one piece. Work-groups start in the
// order of their ids, so what is read and written at a time lies together, in few rows of DRAM.
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

// The piece that begins at byte `at`.
KERNEL_INLINE void map_piece(const ops_vector_arguments_t* g, uint64_t at, const map_kind_t kind,
                             const int element) {
  if (at >= g->bytes) return;
  const uint64_t left = g->bytes - at;
  const uint64_t shape =
      tile_shape(1, left < OPS_VECTOR_PIECE ? (uint32_t)left : OPS_VECTOR_PIECE, 0);
  tile_load(TILE_R(0), g->in[0] + at, shape, element, 0);
  if (kind >= MAP_ADD) tile_load(TILE_R(1), g->in[1] + at, shape, element, 0);
  if (kind == MAP_TRIAD) tile_load(TILE_R(2), g->in[2] + at, shape, element, 0);
  if (kind == MAP_GELU) tile_simt(TILE_SIMT_GELU, TILE_R(0), TILE_R(0), TILE_R(0));
  if (kind == MAP_RELU) tile_simt(TILE_SIMT_RELU_GRAD, TILE_R(0), TILE_R(0), TILE_R(0));
  if (kind == MAP_GELU_GRAD) tile_simt(TILE_SIMT_GELU_GRAD, TILE_R(0), TILE_R(0), TILE_R(1));
  if (kind == MAP_RELU_GRAD) tile_simt(TILE_SIMT_RELU_GRAD, TILE_R(0), TILE_R(0), TILE_R(1));
  if (kind == MAP_TRIAD) tile_simt(TILE_SIMT_MUL, TILE_R(1), TILE_R(1), TILE_R(2));
  if (kind == MAP_ADD || kind == MAP_TRIAD)
    tile_simt(TILE_SIMT_ADD, TILE_R(0), TILE_R(0), TILE_R(1));
  if (kind == MAP_MUL) tile_simt(TILE_SIMT_MUL, TILE_R(0), TILE_R(0), TILE_R(1));
  tile_store(TILE_R(0), g->out + at, shape, element);
}

KERNEL_INLINE void map(const map_kind_t kind, const int element) {
  map_piece(arguments(), (uint64_t)wavefront() * OPS_VECTOR_PIECE, kind, element);
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

// The pieces of the first matrix, then those of the second: fewer streams at a time.
KERNEL_INLINE void concat(const int element) {
  const ops_vector_arguments_t* const g = arguments();
  uint32_t piece = wavefront();
  for (int other = 0; other < 2; ++other) {
    const uint32_t row_bytes = other ? g->other_bytes : g->row_bytes;
    const uint32_t wide = (row_bytes + OPS_VECTOR_PIECE - 1) / OPS_VECTOR_PIECE;
    const uint32_t rows_each = row_bytes < OPS_VECTOR_PIECE ? OPS_VECTOR_PIECE / row_bytes : 1;
    const uint32_t pieces = (g->rows + rows_each - 1) / rows_each * wide;
    if (piece >= pieces) {
      piece -= pieces;
      continue;
    }
    const uint32_t row = piece / wide * rows_each, at = piece % wide * OPS_VECTOR_PIECE;
    const uint32_t rows = min_u32(rows_each, g->rows - row);
    const uint32_t bytes = min_u32(OPS_VECTOR_PIECE, row_bytes - at);
    const uint32_t pitch = g->row_bytes + g->other_bytes;
    tile_load(TILE_R(0), g->in[other] + (uint64_t)row * row_bytes + at,
              tile_shape(rows, bytes, row_bytes), element, 0);
    tile_store(TILE_R(0), g->out + (uint64_t)row * pitch + (other ? g->row_bytes : 0) + at,
               tile_shape(rows, bytes, pitch), element);
    return;
  }
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

#define OF_ELEMENT(name, element)                                                     \
  KERNEL(map_copy_##name, OPS_VECTOR_PIECE, 1, map(MAP_COPY, element));               \
  KERNEL(map_gelu_##name, OPS_VECTOR_PIECE, 1, map(MAP_GELU, element));               \
  KERNEL(map_relu_##name, OPS_VECTOR_PIECE, 1, map(MAP_RELU, element));               \
  KERNEL(map_gelu_grad_##name, OPS_VECTOR_PIECE, 2, map(MAP_GELU_GRAD, element));     \
  KERNEL(map_relu_grad_##name, OPS_VECTOR_PIECE, 2, map(MAP_RELU_GRAD, element));     \
  KERNEL(map_add_##name, OPS_VECTOR_PIECE, 2, map(MAP_ADD, element));                 \
  KERNEL(map_mul_##name, OPS_VECTOR_PIECE, 2, map(MAP_MUL, element));                 \
  KERNEL(map_triad_##name, OPS_VECTOR_PIECE, 3, map(MAP_TRIAD, element));             \
  KERNEL(concat_##name, OPS_VECTOR_PIECE, 1, concat(element));                        \
  KERNEL(gemv_##name##_2048, OPS_VECTOR_PIECE, OPS_VECTOR_GEMV_TILES, gemv(element)); \
  KERNEL(gemv_##name##_8192, OPS_VECTOR_LONG_PIECE, OPS_VECTOR_GEMV_TILES, gemv(element))
OF_ELEMENT(fp16, STRETTO_FP16);
#ifndef OPS_FP16_ALONE
OF_ELEMENT(bf16, STRETTO_BF16);
OF_ELEMENT(fp32, STRETTO_FP32);
#endif
