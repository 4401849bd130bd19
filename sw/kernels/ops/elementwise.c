// SPDX-License-Identifier: Apache-2.0
// Operators element by element, see elementwise.h. A wavefront has one piece, as in vector.c.
#include "sw/kernels/ops/elementwise.h"

#include "sw/kernels/ops/functions.h"

#define R TILE_R
#define SIMT(operation, t, a, b) tile_simt(TILE_SIMT_##operation, R(t), R(a), R(b))

// Numbers in LDS for all wavefronts of the work-group, FP32.
#define ONE TILE_L(0)
#define MINUS_ONE TILE_L(1)
#define FACTOR TILE_L(2)

KERNEL_INLINE int needs_numbers(const each_kind_t kind) {
  return kind != EACH_RELU && kind != EACH_COPY && kind != EACH_FILL &&
         (kind < EACH_ADD || kind > EACH_RELU_GRAD);
}

KERNEL_INLINE void put_numbers(const ops_elementwise_arguments_t* g, const each_kind_t kind) {
  if (tile_csr(TILE_CSR_WF_ID) == 0) {
    // Zero, of an accumulator that nothing was added to.
    tile_zero(TILE_A(0), 1 | (uint64_t)1 << 16);
    tile_epilogue(R(4), TILE_A(0), (uint64_t)1 << 16 | (uint64_t)1 << 48, STRETTO_FP32);
    SIMT(EXP, 5, 4, 4);
    tile_simt(TILE_SIMT_COPY, ONE, R(5), R(5));
    tile_simt(TILE_SIMT_SUB, MINUS_ONE, R(4), R(5));
    if (g->factor != 0) tile_load(R(4), g->factor, tile_shape(1, 4, 0), STRETTO_FP32, 0);
    if (g->factor != 0 && kind == EACH_UPDATE) narrow(4, 4, STRETTO_FP16);
    tile_simt(TILE_SIMT_COPY, FACTOR, R(4), R(4));
  }
  tile_barrier();
}

typedef struct place {
  uint32_t row, at;  // Where the piece begins, `at` in bytes.
  uint32_t rows, bytes;
} place_t;

KERNEL_INLINE place_t place_of(const ops_elementwise_arguments_t* g, uint32_t piece) {
  const uint32_t row = piece / g->chunks * g->rows_each, at = piece % g->chunks * OPS_EACH_PIECE;
  const place_t place = {row, at, min_u32(g->rows_each, g->rows - row),
                         min_u32(OPS_EACH_PIECE, g->row_bytes - at)};
  return place;
}

KERNEL_INLINE uint32_t pitch_of(const ops_elementwise_arguments_t* g, uint32_t pitch) {
  return pitch != 0 ? pitch : g->row_bytes;
}

KERNEL_INLINE void load_second(const ops_elementwise_arguments_t* g, const int t, uint64_t from,
                               const place_t* p) {
  uint64_t shape = tile_shape(1, 2, 0);
  if (g->second == OPS_EACH_ROWS) {
    from += (uint64_t)(p->row % g->period) * g->row_bytes + p->at;
    shape = tile_shape(p->rows, p->bytes, g->row_bytes);
  } else if (g->second == OPS_EACH_ROW) {
    from += p->at;
    shape = tile_shape(p->rows, p->bytes, 0);
  } else if (g->second == OPS_EACH_COLUMN) {
    from += (uint64_t)p->row * 2;
    shape = tile_shape(p->rows, 2, 2);
  } else if (g->second == OPS_EACH_GROUP) {
    from += (uint64_t)(p->row / g->period) * g->row_bytes + p->at;
    shape = tile_shape(p->rows, p->bytes, 0);
  }
  tile_load(R(t), from, shape, STRETTO_FP16, 0);
}

KERNEL_INLINE void store_piece(const ops_elementwise_arguments_t* g, const int t,
                               const place_t* p) {
  const uint32_t pitch = pitch_of(g, g->out_pitch);
  tile_store(R(t), g->out + (uint64_t)p->row * pitch + p->at, tile_shape(p->rows, p->bytes, pitch),
             STRETTO_FP16);
}

// Tiles 0 and 1 hold the operands.
KERNEL_INLINE void load_operands(const ops_elementwise_arguments_t* g, const place_t* p,
                                 const each_kind_t kind) {
  if (kind == EACH_FILL) return;
  if (kind == EACH_EXPAND) {
    load_second(g, 0, g->in[1], p);
    return;
  }
  const uint32_t pitch = pitch_of(g, g->in_pitch);
  tile_load(R(0), g->in[0] + (uint64_t)p->row * pitch + p->at, tile_shape(p->rows, p->bytes, pitch),
            STRETTO_FP16, 0);
  if (kind >= EACH_ADD) load_second(g, 1, g->in[1], p);
}

// R(t) <- zeros, of an accumulator of the wavefront that nothing was added to.
KERNEL_INLINE void zeros(const int t, const place_t* p) {
  const uint64_t rows = p->rows, columns = p->bytes / 2;
#define OF(wavefront)                                                                 \
  case wavefront:                                                                     \
    tile_zero(TILE_A(wavefront), rows | columns << 16);                               \
    tile_epilogue(R(t), TILE_A(wavefront), rows << 16 | columns << 48, STRETTO_FP16); \
    break
  switch ((uint32_t)tile_csr(TILE_CSR_WF_ID)) {
    OF(0);
    OF(1);
    OF(2);
    OF(3);
  }
#undef OF
}

KERNEL_INLINE void each(const each_kind_t kind) {
  const ops_elementwise_arguments_t* const g =
      (const ops_elementwise_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint32_t piece = wavefront();
  const int has_piece = piece < (g->rows + g->rows_each - 1) / g->rows_each * g->chunks;
  const place_t p = place_of(g, has_piece ? piece : 0);
  if (has_piece) load_operands(g, &p, kind);
  if (needs_numbers(kind)) put_numbers(g, kind);
  if (!has_piece) return;
  switch (kind) {
    case EACH_RELU: SIMT(RELU_GRAD, 0, 0, 0); break;
    case EACH_ADD: SIMT(ADD, 0, 0, 1); break;
    case EACH_SUB: SIMT(SUB, 0, 0, 1); break;
    case EACH_MUL: SIMT(MUL, 0, 0, 1); break;
    case EACH_RELU_GRAD: SIMT(RELU_GRAD, 0, 0, 1); break;
    case EACH_COPY: break;
    case EACH_FILL: zeros(0, &p); break;
    case EACH_EXPAND:
      if (g->second == OPS_EACH_COLUMN || g->second == OPS_EACH_ONE) {
        zeros(6, &p);
        SIMT(ADD, 0, 6, 0);
      }
      if (g->factor != 0) function(EACH_SCALE, 0, 6, ONE, MINUS_ONE, FACTOR);
      break;
    case EACH_UPDATE:
      tile_simt(TILE_SIMT_MUL, R(1), R(1), FACTOR);
      SIMT(SUB, 0, 0, 1);
      break;
    default: function(kind, 0, 6, ONE, MINUS_ONE, FACTOR); break;
  }
  store_piece(g, 0, &p);
}

// Of rows of one head, x1 and x2 the halves of a row, likewise of cosines c and sines s: x1 c1 - x2 s1, x2 c2 + x1 s2;
// back: x1 c1 + x2 s2, x2 c2 - x1 s1. Tiles 0 and 1 hold the halves, 2 cosines, 3 sines.

KERNEL_INLINE void rope_half(const ops_elementwise_arguments_t* g, const place_t* p, const int half,
                             const int back) {
  const uint32_t bytes = g->row_bytes / 2;
  place_t c = *p, s = *p;
  c.at = half * bytes;
  s.at = (back ? 1 - half : half) * bytes;
  load_second(g, 2, g->in[1], &c);
  load_second(g, 3, g->factor, &s);
  widen(4, half, STRETTO_FP16);
  widen(5, 2, STRETTO_FP16);
  SIMT(MUL, 4, 4, 5);
  widen(5, 1 - half, STRETTO_FP16);
  widen(6, 3, STRETTO_FP16);
  SIMT(MUL, 5, 5, 6);
  if ((half == 0) != back)
    SIMT(SUB, 4, 4, 5);
  else
    SIMT(ADD, 4, 4, 5);
  narrow(2, 4, STRETTO_FP16);
  store_piece(g, 2, &c);
}

KERNEL_INLINE void rope(const int back) {
  const ops_elementwise_arguments_t* const g =
      (const ops_elementwise_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  place_t p = {.row = wavefront() * g->rows_each, .bytes = g->row_bytes / 2};
  if (p.row >= g->rows) return;
  p.rows = min_u32(g->rows_each, g->rows - p.row);
  const uint64_t from = g->in[0] + (uint64_t)p.row * g->row_bytes;
  const uint64_t shape = tile_shape(p.rows, p.bytes, g->row_bytes);
  tile_load(R(0), from, shape, STRETTO_FP16, 0);
  tile_load(R(1), from + p.bytes, shape, STRETTO_FP16, 0);
  rope_half(g, &p, 0, back);
  rope_half(g, &p, 1, back);
}

#define KERNEL(name, registers, call)                                                    \
  void each_##name(void) {                                                               \
    call;                                                                                \
    tile_end();                                                                          \
    __builtin_unreachable();                                                             \
  }                                                                                      \
  STRETTO_KERNEL(each_##name, .type = STRETTO_KERNEL_SIMT, .registers_bytes = registers, \
                 .lds_bytes = OPS_EACH_LDS, .private_bytes = 512,                        \
                 .wavefronts = OPS_EACH_WAVEFRONTS,                                      \
                 .kernarg_bytes = sizeof(ops_elementwise_arguments_t))
KERNEL(neg, OPS_EACH_REGISTERS, each(EACH_NEG));
KERNEL(relu, OPS_EACH_FEW_REGISTERS, each(EACH_RELU));
KERNEL(sigmoid, OPS_EACH_REGISTERS, each(EACH_SIGMOID));
KERNEL(tanh, OPS_EACH_REGISTERS, each(EACH_TANH));
KERNEL(silu, OPS_EACH_REGISTERS, each(EACH_SILU));
KERNEL(sqrt, OPS_EACH_REGISTERS, each(EACH_SQRT));
KERNEL(scale, OPS_EACH_REGISTERS, each(EACH_SCALE));
KERNEL(copy, OPS_EACH_FEW_REGISTERS, each(EACH_COPY));
KERNEL(fill, OPS_EACH_FEW_REGISTERS, each(EACH_FILL));
KERNEL(expand, OPS_EACH_REGISTERS, each(EACH_EXPAND));
KERNEL(rope, OPS_EACH_REGISTERS, rope(0));
KERNEL(rope_back, OPS_EACH_REGISTERS, rope(1));
KERNEL(add, OPS_EACH_FEW_REGISTERS, each(EACH_ADD));
KERNEL(sub, OPS_EACH_FEW_REGISTERS, each(EACH_SUB));
KERNEL(mul, OPS_EACH_FEW_REGISTERS, each(EACH_MUL));
KERNEL(div, OPS_EACH_REGISTERS, each(EACH_DIV));
KERNEL(relu_grad, OPS_EACH_FEW_REGISTERS, each(EACH_RELU_GRAD));
KERNEL(sigmoid_grad, OPS_EACH_REGISTERS, each(EACH_SIGMOID_GRAD));
KERNEL(tanh_grad, OPS_EACH_REGISTERS, each(EACH_TANH_GRAD));
KERNEL(silu_grad, OPS_EACH_REGISTERS, each(EACH_SILU_GRAD));
KERNEL(update, OPS_EACH_REGISTERS, each(EACH_UPDATE));
