// SPDX-License-Identifier: Apache-2.0
// Fused attention, see attention.h. Wavefront 0 loads keys and values, a block ahead; each wavefront multiplies and
// weighs for its own queries. Accumulators cannot be scaled, so the values of a block are summed in one of their own and
// added to the running sum, which lies in registers.
//
// Tiles: 0 scores, 1 running sum of values, 2 running maximum, 3 sum of exponentials, 4 a column, 5 queries, 6 in
// between, 7 weights. LDS: 0 and 1 keys, 2 and 3 values, 4 the scale.
#include "sw/kernels/ops/attention.h"

#include "sw/kernels/ops/walk.h"

#define R TILE_R
#define SIMT(operation, t, a, b) tile_simt(TILE_SIMT_##operation, R(t), R(a), R(b))

typedef struct block {
  uint64_t keys, values;
  uint32_t left;  // Keys that are not yet loaded.
  uint32_t d_bytes;
} block_t;

KERNEL_INLINE void load_block(block_t* b, const int buffer) {
  if (b->left == 0) return;
  const uint32_t rows = min_u32(OPS_ATTENTION_KEYS, b->left);
  const uint64_t shape = tile_shape(rows, b->d_bytes, b->d_bytes);
  tile_load(TILE_L(buffer), b->keys, shape, STRETTO_FP16, 0);
  tile_load(TILE_L(2 + (buffer)), b->values, shape, STRETTO_FP16, 0);
  b->keys += OPS_ATTENTION_KEYS * b->d_bytes;
  b->values += OPS_ATTENTION_KEYS * b->d_bytes;
  b->left -= rows;
}

KERNEL_INLINE void weigh(const int buffer, const int scores, const int values, uint32_t rows,
                         uint32_t keys, uint32_t d) {
  const uint64_t all = (uint64_t)rows << 16;
  tile_zero(TILE_A(scores), rows | (uint64_t)keys << 16);
  tile_mma(TILE_A(scores), R(5), TILE_L(buffer), 0, 1, STRETTO_FP16);
  tile_epilogue(R(0), TILE_A(scores), all | (uint64_t)keys << 48, STRETTO_FP32);
  tile_simt(TILE_SIMT_MUL, R(0), R(0), TILE_L(4));
  SIMT(ROW_MAX, 6, 0, 0);
  SIMT(FIRST, 4, 6, 6);
  SIMT(MAX, 4, 4, 2);
  SIMT(SUB, 2, 2, 4);
  SIMT(EXP, 2, 2, 2);
  SIMT(SUB, 0, 0, 4);
  SIMT(EXP, 0, 0, 0);
  narrow(7, 0, STRETTO_FP16);
  tile_zero(TILE_A(values), rows | (uint64_t)d << 16);
  tile_mma(TILE_A(values), R(7), TILE_L(2 + (buffer)), 0, 0, STRETTO_FP16);
  SIMT(ROW_SUM, 0, 0, 0);
  SIMT(FIRST, 0, 0, 0);
  SIMT(MUL, 3, 3, 2);
  SIMT(ADD, 3, 3, 0);
  SIMT(MUL, 1, 1, 2);
  SIMT(COPY, 2, 4, 4);
  tile_epilogue(R(6), TILE_A(values), all | (uint64_t)d << 48, STRETTO_FP32);
  SIMT(ADD, 1, 1, 6);
}

KERNEL_INLINE void attend(const ops_attention_arguments_t* g, const int me) {
  const uint32_t blocks = (g->queries + OPS_ATTENTION_QUERIES - 1) / OPS_ATTENTION_QUERIES;
  const uint32_t id = (uint32_t)tile_csr(TILE_CSR_WG_ID), head = id / blocks;
  const uint32_t query = id % blocks * OPS_ATTENTION_QUERIES + me * OPS_ATTENTION_ROWS;
  const uint32_t rows = query < g->queries ? min_u32(OPS_ATTENTION_ROWS, g->queries - query) : 0;
  const uint32_t d_bytes = g->d * 2;
  const uint64_t mine = ((uint64_t)head * g->queries + query) * d_bytes;
  block_t b = {.keys = g->k + (uint64_t)head * g->keys * d_bytes,
               .values = g->v + (uint64_t)head * g->keys * d_bytes,
               .left = g->keys,
               .d_bytes = d_bytes};
  if (me == 0) {
    tile_load(TILE_L(4), g->constants + 4 * OPS_ATTENTION_SCALE, tile_shape(1, 4, 0), STRETTO_FP32,
              0);
    load_block(&b, 0);
    load_block(&b, 1);
  }
  if (rows != 0) {
    const uint64_t column = tile_shape(rows, 4, 0);
    tile_load(R(5), g->q + mine, tile_shape(rows, d_bytes, d_bytes), STRETTO_FP16, 0);
    tile_load(R(2), g->constants + 4 * OPS_ATTENTION_LOWEST, column, STRETTO_FP32, 0);
    tile_load(R(3), g->constants + 4 * OPS_ATTENTION_ZERO, column, STRETTO_FP32, 0);
    tile_zero(TILE_A(me), rows | (uint64_t)g->d << 16);
    tile_epilogue(R(1), TILE_A(me), (uint64_t)rows << 16 | (uint64_t)g->d << 48, STRETTO_FP32);
  }
  tile_barrier();
#define BLOCK(buffer)                                                                                         \
  {                                                                                                           \
    if (left == 0) break;                                                                                     \
    const uint32_t keys = min_u32(OPS_ATTENTION_KEYS, left);                                                  \
    if (rows != 0) weigh(buffer, me, 4 + (me), rows, keys, g->d);                                             \
    left -= keys;                                                                                             \
    /* All have issued what reads the block; who reads the next in its place is a barrier behind its load. */ \
    tile_barrier();                                                                                           \
    if (me == 0) load_block(&b, buffer);                                                                      \
  }
  for (uint32_t left = g->keys;;) {
    BLOCK(0);
    BLOCK(1);
  }
#undef BLOCK
  if (rows == 0) return;
  SIMT(RECIP, 3, 3, 3);
  SIMT(MUL, 1, 1, 3);
  narrow(7, 1, STRETTO_FP16);
  tile_store(R(7), g->out + mine, tile_shape(rows, d_bytes, d_bytes), STRETTO_FP16);
}

static __attribute__((noinline)) void attention(void) {
  const ops_attention_arguments_t* const g =
      (const ops_attention_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  switch ((uint32_t)tile_csr(TILE_CSR_WF_ID)) {
    case 0: attend(g, 0); break;
    case 1: attend(g, 1); break;
    case 2: attend(g, 2); break;
    default: attend(g, 3);
  }
}

#define KERNEL(d)                                                                                  \
  void attention_fp16_##d(void) {                                                                  \
    attention();                                                                                   \
    tile_end();                                                                                    \
    __builtin_unreachable();                                                                       \
  }                                                                                                \
  STRETTO_KERNEL(attention_fp16_##d, .type = STRETTO_KERNEL_TENSOR,                                \
                 .registers_bytes = OPS_ATTENTION_REGISTERS(d), .lds_bytes = OPS_ATTENTION_LDS(d), \
                 .private_bytes = 512, .wavefronts = OPS_ATTENTION_WAVEFRONTS,                     \
                 .kernarg_bytes = sizeof(ops_attention_arguments_t))
KERNEL(64);
KERNEL(128);
