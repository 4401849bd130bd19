// SPDX-License-Identifier: Apache-2.0
// GEMM family, see gemm.h. Wavefront 0 runs the K loop: with S buffers the loads of S - 1 steps fly while a step is
// multiplied. Then all wavefronts convert and store their rows in pieces, so that registers hold the accumulator and
// little else and two work-groups share a unit where the accumulator permits it.
//
// An edge tile is multiplied as a full tile (what lies beyond an operand reads as zero), like a tensor kernel that
// masks its loads.
#include "sw/kernels/ops/gemm.h"

#include "sw/kernels/kernel.h"

#define ACCUMULATOR TILE_A(0)
#define ZEROS TILE_A(1)
#define NO_INLINE static __attribute__((noinline))

typedef struct operands {
  uint64_t a, b;
  uint64_t a_shape, b_shape;
  uint64_t a_last, b_last;  // Shapes of the last step.
  uint64_t a_move, b_move;
  uint32_t loads_left;  // Steps whose loads are not yet issued.
} operands_t;

// K loop

KERNEL_INLINE void load_step(operands_t* o, const int buffer, const int element) {
  if (--o->loads_left == 0) {
    o->a_shape = o->a_last;
    o->b_shape = o->b_last;
  }
  tile_load(TILE_L(buffer), o->a, o->a_shape, element, 0);
  tile_load(TILE_L(8 + buffer), o->b, o->b_shape, element, 0);
  o->a += o->a_move;
  o->b += o->b_move;
}

// A product is issued before the loads that wait for the end of the one before it, so that the pipe never waits for
// the issue of loads. REQUIRES: at least one step.
KERNEL_INLINE void k_loop(operands_t* o, const int stages, const int a_km, const int b_nk,
                          const int element, const int product) {
  uint32_t left = o->loads_left;
  load_step(o, 0, element);
  if (o->loads_left != 0) load_step(o, 1, element);
  if (stages > 2 && o->loads_left != 0) load_step(o, 2, element);
  if (stages > 3 && o->loads_left != 0) load_step(o, 3, element);
  tile_mma(ACCUMULATOR, TILE_L(0), TILE_L(8), a_km, b_nk, product);
#define STEP(buffer, before)                                                        \
  if (--left == 0) return;                                                          \
  tile_mma(ACCUMULATOR, TILE_L(buffer), TILE_L(8 + (buffer)), a_km, b_nk, product); \
  if (o->loads_left != 0) load_step(o, before, element)
  for (;;) {
    STEP(1, 0);
    if (stages > 2) {
      STEP(2, 1);
    }
    if (stages > 3) {
      STEP(3, 2);
    }
    STEP(0, stages - 1);
  }
#undef STEP
}

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
  tile_epilogue(tile, ACCUMULATOR, (o->first + at) | size, element);
  if (o->bias != 0) {
    if (at == 0 || rows != o->piece_rows)
      tile_load(TILE_R(2), o->bias, tile_shape(rows, bytes, 0), element, 0);
    tile_simt(TILE_SIMT_ADD, tile, tile, TILE_R(2));
  }
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

// Tiles

typedef struct tile {
  uint32_t row, column;
} tile_t;

// Strips of so many tiles along the shorter way, a strip across before it goes on along (CUTLASS
// Identity8): what is resident shares its operands.
KERNEL_INLINE tile_t ordered(uint32_t id, const ops_gemm_arguments_t* g) {
  const int rows = g->tiles_m <= g->tiles_n;
  const uint32_t across = rows ? g->tiles_m : g->tiles_n, along = rows ? g->tiles_n : g->tiles_m;
  const uint32_t first = id / (g->strip * along) * g->strip;
  const uint32_t width = min_u32(g->strip, across - first);
  const uint32_t rest = id - first * along;
  const uint32_t x = first + rest % width, y = rest / width;
  const tile_t t = {rows ? x : y, rows ? y : x};
  return t;
}

KERNEL_INLINE uint64_t operand_shape(uint32_t lines, uint32_t k, uint32_t pitch, int k_outer,
                                     uint32_t bytes) {
  return k_outer ? tile_shape(k, lines * bytes, pitch) : tile_shape(lines, k * bytes, pitch);
}

KERNEL_INLINE uint64_t matrix_of(uint64_t first, uint64_t outer_stride, uint64_t stride,
                                 uint32_t outer, uint32_t inner) {
  return first + outer * outer_stride + inner * stride;
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
  const tile_t tile = ordered(id % tiles, g);
  const uint32_t row = tile.row * config->m, column = tile.column * config->n;
  const uint32_t rows = min_u32(config->m, g->m - row);
  const uint32_t columns = min_u32(config->n, g->n - column);
  if (wavefront == 0) {
    const int a_km = (g->layout & GEMM_A_KM) != 0, b_kn = (g->layout & GEMM_B_NK) == 0;
    const uint32_t step = config->step;
    const uint32_t steps = (g->k + step - 1) / step;
    const uint32_t first = (uint32_t)((uint64_t)steps * part / g->split);
    const uint32_t end = (uint32_t)((uint64_t)steps * (part + 1) / g->split);
    const uint32_t last_k = min_u32(step, g->k - (end - 1) * step);
    operands_t o = {.a = matrix_of(g->a, g->a_outer, g->a_stride, outer, inner) +
                         (uint64_t)row * (a_km ? element_bytes : g->lda),
                    .b = matrix_of(g->b, g->b_outer, g->b_stride, outer, inner) +
                         (uint64_t)column * (b_kn ? element_bytes : g->ldb),
                    .a_shape = operand_shape(rows, step, g->lda, a_km, element_bytes),
                    .b_shape = operand_shape(columns, step, g->ldb, b_kn, element_bytes),
                    .a_last = operand_shape(rows, last_k, g->lda, a_km, element_bytes),
                    .b_last = operand_shape(columns, last_k, g->ldb, b_kn, element_bytes),
                    .a_move = (uint64_t)step * (a_km ? g->lda : element_bytes),
                    .b_move = (uint64_t)step * (b_kn ? g->ldb : element_bytes),
                    .loads_left = end - first};
    o.a += first * o.a_move;
    o.b += first * o.b_move;
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
    } else if (g->bias != 0) {
      o.bias = g->bias + column * element_bytes;
    }
    o.address += (uint64_t)(row + mine) * o.pitch + column * out_bytes;
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
ELEMENT(gemm_bf16, STRETTO_BF16, STRETTO_BF16)
ELEMENT(gemm_tf32, STRETTO_FP32, TILE_TF32)
ELEMENT(gemm_fp32, STRETTO_FP32, STRETTO_FP32)

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
#define TILE(M, N, wavefronts, piece)       \
  SHORT(gemm_fp16, M, N, wavefronts, piece) \
  SHORT(gemm_bf16, M, N, wavefronts, piece) \
  LONG(gemm_tf32, M, N, wavefronts, piece)  \
  LONG(gemm_fp32, M, N, wavefronts, piece)
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
  activate(TILE_R(2), TILE_R(4), g->activation, size, element);
  const uint32_t batch = line / g->m, row = line % g->m;
  const uint64_t c = matrix_of(g->c, g->c_outer, g->c_stride, batch / g->inner, batch % g->inner);
  tile_store(TILE_R(2), c + (uint64_t)row * g->ldc + column * element_bytes, shape, element);
  tile_end();
  __builtin_unreachable();
}

#define REDUCE(name, element)                                                        \
  void gemm_reduce_##name(void) { reduce(element); }                                 \
  STRETTO_KERNEL(gemm_reduce_##name, .type = STRETTO_KERNEL_SIMT,                    \
                 .registers_bytes = OPS_GEMM_REDUCE_REGISTERS, .private_bytes = 256, \
                 .wavefronts = 1, .kernarg_bytes = sizeof(ops_gemm_arguments_t))
REDUCE(fp16, STRETTO_FP16);
REDUCE(bf16, STRETTO_BF16);
REDUCE(fp32, STRETTO_FP32);
