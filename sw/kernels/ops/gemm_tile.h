// SPDX-License-Identifier: Apache-2.0
// What kernels of the GEMM family share: K loops by layout, from accumulator to memory, and their table. A source
// defines the work of a wavefront, its kernels are GEMM_ELEMENTS and, of each tile, GEMM_TILE.
#ifndef STRETTO_SW_KERNELS_OPS_GEMM_TILE_H_
#define STRETTO_SW_KERNELS_OPS_GEMM_TILE_H_

#include "sw/kernels/ops/gemm.h"
#include "sw/kernels/ops/gemm_loop.h"

#define ZEROS TILE_A(1)
#define NO_INLINE static __attribute__((noinline))

// K loop

#define K_LOOP(name, stages, element, product)                              \
  NO_INLINE void k_loop_##name##_##stages(operands_t* o, uint32_t layout) { \
    switch (layout) {                                                       \
      case 0: k_loop(o, stages, 0, 0, element, product); return;            \
      case GEMM_A_KM: k_loop(o, stages, 1, 0, element, product); return;    \
      case GEMM_B_NK: k_loop(o, stages, 0, 1, element, product); return;    \
      default: k_loop(o, stages, 1, 1, element, product); return;           \
    }                                                                       \
  }

KERNEL_INLINE const ops_gemm_arguments_t* arguments(void) {
  return (const ops_gemm_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
}

// Epilogue

// In place. Zeros come from an accumulator that nothing was added to.
KERNEL_INLINE void activate(const int tile, const int zero, uint32_t activation, uint64_t block,
                            const int element) {
  if (activation == OPS_GEMM_RELU) {
    tile_epilogue(zero, ZEROS, block, element);
    tile_simt(TILE_SIMT_MAX, tile, tile, zero);
  }
  if (activation == OPS_GEMM_GELU) tile_simt(TILE_SIMT_GELU, tile, tile, tile);
}

typedef struct output {
  uint64_t address;  // Of the wavefront's first row.
  uint64_t bias;
  uint64_t addend;  // As `address`.
  uint32_t pitch;
  uint32_t columns;
  uint32_t first;  // Row of the accumulator.
  uint32_t rows;
  uint32_t piece_rows;
  uint32_t activation;
} output_t;

// Stores `rows` rows at .. of the wavefront's, behind bias. The addend is in `other`.
KERNEL_INLINE void finish_piece(const output_t* o, uint32_t at, uint32_t rows, const int tile,
                                const int other, const int element) {
  const uint32_t bytes = o->columns * (element == STRETTO_FP32 ? 4 : 2);
  if (o->addend != 0) tile_simt(TILE_SIMT_ADD, tile, tile, other);
  activate(tile, other, o->activation, (uint64_t)rows << 16 | (uint64_t)o->columns << 48, element);
  tile_store(tile, o->address + (uint64_t)at * o->pitch, tile_shape(rows, bytes, o->pitch),
             element);
}

// Rows at .. of the wavefront's, by way of `tile`.
KERNEL_INLINE void store_piece(const output_t* o, uint32_t at, const int tile, const int element) {
  const uint32_t bytes = o->columns * (element == STRETTO_FP32 ? 4 : 2);
  const uint32_t rows = min_u32(o->piece_rows, o->rows - at);
  const uint64_t size = (uint64_t)rows << 16 | (uint64_t)o->columns << 48;
  if (o->addend != 0)
    tile_load(TILE_R(3), o->addend + (uint64_t)at * o->pitch, tile_shape(rows, bytes, o->pitch),
              element, 0);
  tile_epilogue(tile, ACCUMULATOR, (o->first + at) | size, element);
  if (o->bias != 0) {
    if (at == 0 || rows != o->piece_rows)
      tile_load(TILE_R(2), o->bias, tile_shape(rows, bytes, 0), element, 0);
    tile_simt(TILE_SIMT_ADD, tile, tile, TILE_R(2));
  }
  finish_piece(o, at, rows, tile, TILE_R(3), element);
}

KERNEL_INLINE void store_rows(const output_t* o, const int element) {
  for (uint32_t at = 0; at < o->rows; at += 2 * o->piece_rows) {
    store_piece(o, at, TILE_R(0), element);
    if (at + o->piece_rows < o->rows) store_piece(o, at + o->piece_rows, TILE_R(1), element);
  }
}

// Rows and columns of a tile of C, K elements a step, bytes that a wavefront stores at a time.
typedef struct config {
  uint32_t m, n, step, piece;
} config_t;

typedef void (*k_loop_t)(operands_t*, uint32_t);

// A tile of C, and what C has of it.
typedef struct place {
  uint32_t outer, inner;  // Matrix of the batch.
  uint32_t row, column;
  uint32_t rows, columns;
} place_t;

KERNEL_INLINE place_t place_of(const ops_gemm_arguments_t* g, const config_t* config,
                               uint32_t batch, uint32_t id) {
  const uint32_t outer = batch / g->inner, inner = batch % g->inner;
  const tile_t tile = ordered(id, g->tiles_m, g->tiles_n, g->strip);
  const uint32_t row = tile.row * config->m, column = tile.column * config->n;
  const place_t place = {
      outer, inner, row, column, min_u32(config->m, g->m - row), min_u32(config->n, g->n - column)};
  return place;
}

// Steps first .. end - 1 of its product. A macro, so that what they are is worked out where it is needed.
#define OPERANDS_AT(g, config, at, first, end, bytes)                                             \
  ({                                                                                              \
    const int a_km_ = ((g)->layout & GEMM_A_KM) != 0, b_kn_ = ((g)->layout & GEMM_B_NK) == 0;     \
    operands_of(matrix_of((g)->a, (g)->a_outer, (g)->a_stride, (at).outer, (at).inner) +          \
                    line_offset((at).row, (g)->lda, a_km_, bytes),                                \
                matrix_of((g)->b, (g)->b_outer, (g)->b_stride, (at).outer, (at).inner) +          \
                    line_offset((at).column, (g)->ldb, b_kn_, bytes),                             \
                (g)->lda, (g)->ldb, (g)->layout, (at).rows, (at).columns, (g)->k, (config)->step, \
                first, end, bytes);                                                               \
  })

// C, bias and addend of `rows` rows of a tile from row `mine` on.
KERNEL_INLINE output_t result_of(const ops_gemm_arguments_t* g, const place_t* at, uint32_t mine,
                                 uint32_t rows, uint32_t bytes, uint32_t piece_rows) {
  output_t o = {.address = matrix_of(g->c, g->c_outer, g->c_stride, at->outer, at->inner) +
                           (uint64_t)(at->row + mine) * g->ldc + at->column * bytes,
                .pitch = g->ldc,
                .columns = at->columns,
                .first = mine,
                .rows = rows,
                .piece_rows = piece_rows,
                .activation = g->activation};
  if (g->bias != 0) o.bias = g->bias + at->column * bytes;
  if (g->addend != 0) o.addend = g->addend - g->c + o.address;
  return o;
}

// Kernels: body(config, K loop, element) is what a wavefront does.

#define GEMM_KERNEL(name, suffix, argument_bytes, M, N, wavefronts_, piece_, K, S, bytes)   \
  void name##_##M##x##N##_k##K##_s##S##suffix(void) { run_##name##_s##S(M, N, K, piece_); } \
  STRETTO_KERNEL(name##_##M##x##N##_k##K##_s##S##suffix, .type = STRETTO_KERNEL_TENSOR,     \
                 .registers_bytes = OPS_GEMM_REGISTERS(M, N, wavefronts_, piece_),          \
                 .lds_bytes = OPS_GEMM_LDS(M, N, (K) * (bytes), S), .private_bytes = 1024,  \
                 .wavefronts = wavefronts_, .tile_m = M, .tile_n = N,                       \
                 .kernarg_bytes = argument_bytes);
#define GEMM_STAGES(body, name, element, product, S)                                               \
  K_LOOP(name, S, element, product)                                                                \
  NO_INLINE _Noreturn void run_##name##_s##S(uint32_t m, uint32_t n, uint32_t k, uint32_t piece) { \
    const config_t config = {m, n, k, piece};                                                      \
    body(&config, k_loop_##name##_##S, element);                                                   \
  }
#define GEMM_ELEMENT(body, name, element, product) \
  GEMM_STAGES(body, name, element, product, 2)     \
  GEMM_STAGES(body, name, element, product, 3)     \
  GEMM_STAGES(body, name, element, product, 4)

#ifdef OPS_FP16_ALONE
#define GEMM_ELEMENTS(body) GEMM_ELEMENT(body, gemm_fp16, STRETTO_FP16, STRETTO_FP16)
#else
#define GEMM_ELEMENTS(body)                                 \
  GEMM_ELEMENT(body, gemm_fp16, STRETTO_FP16, STRETTO_FP16) \
  GEMM_ELEMENT(body, gemm_bf16, STRETTO_BF16, STRETTO_BF16) \
  GEMM_ELEMENT(body, gemm_tf32, STRETTO_FP32, TILE_TF32)    \
  GEMM_ELEMENT(body, gemm_fp32, STRETTO_FP32, STRETTO_FP32)
#endif

// K steps of OPS_GEMM_MIN_STEP_BYTES and OPS_GEMM_MAX_STEP_BYTES.
#define GEMM_BUFFERS(name, suffix, argument_bytes, M, N, wavefronts, piece, K, bytes) \
  GEMM_KERNEL(name, suffix, argument_bytes, M, N, wavefronts, piece, K, 2, bytes)     \
  GEMM_KERNEL(name, suffix, argument_bytes, M, N, wavefronts, piece, K, 3, bytes)     \
  GEMM_KERNEL(name, suffix, argument_bytes, M, N, wavefronts, piece, K, 4, bytes)
#define GEMM_SHORT(name, suffix, argument_bytes, M, N, wavefronts, piece)    \
  GEMM_BUFFERS(name, suffix, argument_bytes, M, N, wavefronts, piece, 32, 2) \
  GEMM_BUFFERS(name, suffix, argument_bytes, M, N, wavefronts, piece, 64, 2)
#define GEMM_LONG(name, suffix, argument_bytes, M, N, wavefronts, piece)     \
  GEMM_BUFFERS(name, suffix, argument_bytes, M, N, wavefronts, piece, 16, 4) \
  GEMM_BUFFERS(name, suffix, argument_bytes, M, N, wavefronts, piece, 32, 4)
#ifdef OPS_FP16_ALONE
#define GEMM_TILE(suffix, argument_bytes, M, N, wavefronts, piece) \
  GEMM_SHORT(gemm_fp16, suffix, argument_bytes, M, N, wavefronts, piece)
#else
#define GEMM_TILE(suffix, argument_bytes, M, N, wavefronts, piece)       \
  GEMM_SHORT(gemm_fp16, suffix, argument_bytes, M, N, wavefronts, piece) \
  GEMM_SHORT(gemm_bf16, suffix, argument_bytes, M, N, wavefronts, piece) \
  GEMM_LONG(gemm_tf32, suffix, argument_bytes, M, N, wavefronts, piece)  \
  GEMM_LONG(gemm_fp32, suffix, argument_bytes, M, N, wavefronts, piece)
#endif

#endif  // STRETTO_SW_KERNELS_OPS_GEMM_TILE_H_
