// SPDX-License-Identifier: Apache-2.0
// GEMM family, see gemm.h. Wavefront 0 runs the K loop: with S buffers the loads of S - 1 steps fly while a step is
// multiplied. Then all wavefronts convert and store their rows in pieces, so that registers hold the accumulator and
// little else and two work-groups share a unit where the accumulator permits it.
//
// An edge tile is multiplied as a full tile (what lies beyond an operand reads as zero), like a tensor kernel that
// masks its loads.
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
  if (o->addend != 0) tile_simt(TILE_SIMT_ADD, tile, tile, TILE_R(3));
  activate(tile, TILE_R(3), o->activation, size, element);
  tile_store(tile, o->address + (uint64_t)at * o->pitch, tile_shape(rows, bytes, o->pitch),
             element);
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

KERNEL_INLINE _Noreturn void gemm(const config_t* config, k_loop_t run, const int element) {
  const ops_gemm_arguments_t* const g = arguments();
  const uint32_t element_bytes = element == STRETTO_FP32 ? 4 : 2;
  const uint32_t id = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  const uint32_t wavefront = (uint32_t)tile_csr(TILE_CSR_WF_ID);
  const uint32_t wavefronts = (uint32_t)tile_csr(TILE_CSR_WAVEFRONTS);
  const uint32_t tiles = g->tiles_m * g->tiles_n;
  const uint32_t matrix = id / tiles;  // Of all parts.
  const uint32_t part = matrix / g->batch, batch = matrix % g->batch;
  const uint32_t outer = batch / g->inner, inner = batch % g->inner;
  const tile_t tile = ordered(id % tiles, g->tiles_m, g->tiles_n, g->strip);
  const uint32_t row = tile.row * config->m, column = tile.column * config->n;
  const uint32_t rows = min_u32(config->m, g->m - row);
  const uint32_t columns = min_u32(config->n, g->n - column);
  if (wavefront == 0) {
    const int a_km = (g->layout & GEMM_A_KM) != 0, b_kn = (g->layout & GEMM_B_NK) == 0;
    const uint32_t steps = (g->k + config->step - 1) / config->step;
    operands_t o = operands_of(matrix_of(g->a, g->a_outer, g->a_stride, outer, inner) +
                                   line_offset(row, g->lda, a_km, element_bytes),
                               matrix_of(g->b, g->b_outer, g->b_stride, outer, inner) +
                                   line_offset(column, g->ldb, b_kn, element_bytes),
                               g->lda, g->ldb, g->layout, rows, columns, g->k, config->step,
                               (uint32_t)((uint64_t)steps * part / g->split),
                               (uint32_t)((uint64_t)steps * (part + 1) / g->split), element_bytes);
    tile_zero(ACCUMULATOR, (uint64_t)config->m | (uint64_t)config->n << 16);
    run(&o, g->layout);
  }
  const uint32_t rows_each = config->m / wavefronts;
  const uint32_t mine = wavefront * rows_each;
  if (wavefront == 0 && g->activation == OPS_GEMM_RELU && g->split == 1)
    tile_zero(ZEROS,
              (uint64_t)(config->piece / (config->n * element_bytes)) | (uint64_t)config->n << 16);
  tile_barrier();
  if (mine < rows) {
    const uint32_t out_bytes = g->split > 1 ? 4 : element_bytes;
    output_t o = {.address = matrix_of(g->c, g->c_outer, g->c_stride, outer, inner),
                  .pitch = g->ldc,
                  .columns = columns,
                  .first = mine,
                  .rows = min_u32(rows_each, rows - mine),
                  .piece_rows = config->piece / (config->n * out_bytes),
                  .activation = g->activation};
    if (g->split > 1) {
      o.address = g->partials + (uint64_t)matrix * g->m * g->partial_pitch;
      o.pitch = g->partial_pitch;
      o.activation = OPS_GEMM_NO_ACTIVATION;
    } else {
      if (g->bias != 0) o.bias = g->bias + column * element_bytes;
      if (g->addend != 0) o.addend = g->addend - g->c + o.address;
    }
    const uint64_t inside = (uint64_t)(row + mine) * o.pitch + column * out_bytes;
    o.address += inside;
    if (o.addend != 0) o.addend += inside;
    if (g->split > 1)
      store_rows(&o, STRETTO_FP32);
    else
      store_rows(&o, element);
  }
  tile_end();
  __builtin_unreachable();
}

#define KERNEL(name, M, N, wavefronts_, piece_, K, S, bytes)                               \
  void name##_##M##x##N##_k##K##_s##S(void) { run_##name##_s##S(M, N, K, piece_); }        \
  STRETTO_KERNEL(name##_##M##x##N##_k##K##_s##S, .type = STRETTO_KERNEL_TENSOR,            \
                 .registers_bytes = OPS_GEMM_REGISTERS(M, N, wavefronts_, piece_),         \
                 .lds_bytes = OPS_GEMM_LDS(M, N, (K) * (bytes), S), .private_bytes = 1024, \
                 .wavefronts = wavefronts_, .tile_m = M, .tile_n = N,                      \
                 .kernarg_bytes = sizeof(ops_gemm_arguments_t));
#define STAGES(name, element, product, S)                                                          \
  K_LOOP(name, S, element, product)                                                                \
  NO_INLINE _Noreturn void run_##name##_s##S(uint32_t m, uint32_t n, uint32_t k, uint32_t piece) { \
    const config_t config = {m, n, k, piece};                                                      \
    gemm(&config, k_loop_##name##_##S, element);                                                   \
  }
#define ELEMENT(name, element, product) \
  STAGES(name, element, product, 2)     \
  STAGES(name, element, product, 3)     \
  STAGES(name, element, product, 4)

ELEMENT(gemm_fp16, STRETTO_FP16, STRETTO_FP16)
#ifndef OPS_FP16_ALONE
ELEMENT(gemm_bf16, STRETTO_BF16, STRETTO_BF16)
ELEMENT(gemm_tf32, STRETTO_FP32, TILE_TF32)
ELEMENT(gemm_fp32, STRETTO_FP32, STRETTO_FP32)
#endif

// K steps of OPS_GEMM_MIN_STEP_BYTES and OPS_GEMM_MAX_STEP_BYTES.
#define BUFFERS(name, M, N, wavefronts, piece, K, bytes) \
  KERNEL(name, M, N, wavefronts, piece, K, 2, bytes)     \
  KERNEL(name, M, N, wavefronts, piece, K, 3, bytes)     \
  KERNEL(name, M, N, wavefronts, piece, K, 4, bytes)
#define SHORT(name, M, N, wavefronts, piece)    \
  BUFFERS(name, M, N, wavefronts, piece, 32, 2) \
  BUFFERS(name, M, N, wavefronts, piece, 64, 2)
#define LONG(name, M, N, wavefronts, piece)     \
  BUFFERS(name, M, N, wavefronts, piece, 16, 4) \
  BUFFERS(name, M, N, wavefronts, piece, 32, 4)
#ifdef OPS_FP16_ALONE
#define TILE(M, N, wavefronts, piece) SHORT(gemm_fp16, M, N, wavefronts, piece)
#else
#define TILE(M, N, wavefronts, piece)       \
  SHORT(gemm_fp16, M, N, wavefronts, piece) \
  SHORT(gemm_bf16, M, N, wavefronts, piece) \
  LONG(gemm_tf32, M, N, wavefronts, piece)  \
  LONG(gemm_fp32, M, N, wavefronts, piece)
#endif
OPS_GEMM_TILES(TILE)

// Sums of parts: a product with a row of ones, on the SIMT pipe, in FP32 and in the order of the parts.
KERNEL_INLINE _Noreturn void reduce(const int element) {
  const ops_gemm_arguments_t* const g = arguments();
  const uint32_t id = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  const uint32_t chunks = (g->n + g->reduce_columns - 1) / g->reduce_columns;
  const uint32_t line = id / chunks, column = id % chunks * g->reduce_columns;  // Of all matrices.
  const uint32_t columns = min_u32(g->reduce_columns, g->n - column);
  const uint32_t element_bytes = element == STRETTO_FP32 ? 4 : 2;
  const uint32_t parts = g->reduce_parts, split = g->split;
  const uint64_t plane = (uint64_t)g->batch * g->m * g->partial_pitch;
  uint64_t from = g->partials + (uint64_t)line * g->partial_pitch + column * 4;
  const uint64_t ones = (uint64_t)1 << 16 | (uint64_t)parts << 48;
  tile_zero(ACCUMULATOR, 1 | (uint64_t)columns << 16);
  tile_zero(ZEROS, 1 | (uint64_t)g->reduce_columns << 16);
  tile_epilogue(TILE_R(3), ZEROS, ones, STRETTO_FP32);
  tile_simt(TILE_SIMT_EXP, TILE_R(3), TILE_R(3), TILE_R(3));
  for (uint32_t at = 0; at < split; at += 2 * parts) {
    tile_load(TILE_R(0), from, tile_shape(min_u32(parts, split - at), columns * 4, plane),
              STRETTO_FP32, 0);
    from += parts * plane;
    if (at + parts < split) {
      tile_load(TILE_R(1), from, tile_shape(min_u32(parts, split - at - parts), columns * 4, plane),
                STRETTO_FP32, 0);
      from += parts * plane;
    }
    tile_mma(ACCUMULATOR, TILE_R(3), TILE_R(0), 0, 0, STRETTO_FP32);
    if (at + parts < split) tile_mma(ACCUMULATOR, TILE_R(3), TILE_R(1), 0, 0, STRETTO_FP32);
  }
  const uint64_t size = (uint64_t)1 << 16 | (uint64_t)columns << 48;
  const uint64_t shape = tile_shape(1, columns * element_bytes, 0);
  tile_epilogue(TILE_R(2), ACCUMULATOR, size, element);
  if (g->bias != 0) {
    tile_load(TILE_R(4), g->bias + column * element_bytes, shape, element, 0);
    tile_simt(TILE_SIMT_ADD, TILE_R(2), TILE_R(2), TILE_R(4));
  }
  const uint32_t batch = line / g->m, row = line % g->m;
  const uint64_t to = matrix_of(g->c, g->c_outer, g->c_stride, batch / g->inner, batch % g->inner) +
                      (uint64_t)row * g->ldc + column * element_bytes;
  if (g->addend != 0) {
    tile_load(TILE_R(4), g->addend - g->c + to, shape, element, 0);
    tile_simt(TILE_SIMT_ADD, TILE_R(2), TILE_R(2), TILE_R(4));
  }
  activate(TILE_R(2), TILE_R(4), g->activation, size, element);
  tile_store(TILE_R(2), to, shape, element);
  tile_end();
  __builtin_unreachable();
}

#define REDUCE(name, element)                                                        \
  void gemm_reduce_##name(void) { reduce(element); }                                 \
  STRETTO_KERNEL(gemm_reduce_##name, .type = STRETTO_KERNEL_SIMT,                    \
                 .registers_bytes = OPS_GEMM_REDUCE_REGISTERS, .private_bytes = 256, \
                 .wavefronts = 1, .kernarg_bytes = sizeof(ops_gemm_arguments_t))
REDUCE(fp16, STRETTO_FP16);
#ifndef OPS_FP16_ALONE
REDUCE(bf16, STRETTO_BF16);
REDUCE(fp32, STRETTO_FP32);
#endif
