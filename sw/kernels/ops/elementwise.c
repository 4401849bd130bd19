// SPDX-License-Identifier: Apache-2.0
// Operators element by element, see elementwise.h. Loads run two pieces ahead, or one of two operands.
#include "sw/kernels/ops/elementwise.h"

#include "sw/kernels/ops/functions.h"

#define R TILE_R
#define SIMT(operation, t, a, b) tile_simt(TILE_SIMT_##operation, R(t), R(a), R(b))

// Numbers in LDS for all wavefronts of the work-group, FP32.
#define ONE TILE_L(0)
#define MINUS_ONE TILE_L(1)
#define FACTOR TILE_L(2)

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

typedef struct each {
  const ops_elementwise_arguments_t* g;
  uint32_t loaded, done, step, pieces;
} each_t;

static __attribute__((noinline)) place_t place_of(const ops_elementwise_arguments_t* g,
                                                  uint32_t piece) {
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

KERNEL_INLINE void each_load(each_t* e, const int t, const each_kind_t kind) {
  const ops_elementwise_arguments_t* const g = e->g;
  if (e->loaded >= e->pieces) return;
  const place_t p = place_of(g, e->loaded);
  e->loaded += e->step;
  if (kind == EACH_FILL) return;
  if (kind == EACH_EXPAND) {
    load_second(g, t, g->in[1], &p);
    return;
  }
  const uint32_t pitch = pitch_of(g, g->in_pitch);
  tile_load(R(t), g->in[0] + (uint64_t)p.row * pitch + p.at, tile_shape(p.rows, p.bytes, pitch),
            STRETTO_FP16, 0);
  if (kind >= EACH_ADD) load_second(g, t + 1, g->in[1], &p);
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

KERNEL_INLINE void each_function(const each_kind_t kind, const int t) {
  function(kind, t, 6, ONE, MINUS_ONE, FACTOR);
}

// Returns whether there was a piece.
KERNEL_INLINE int each_work(each_t* e, const int t, const each_kind_t kind) {
  const ops_elementwise_arguments_t* const g = e->g;
  if (e->done >= e->pieces) return 0;
  const place_t p = place_of(g, e->done);
  switch (kind) {
    case EACH_RELU: SIMT(RELU_GRAD, t, t, t); break;
    case EACH_ADD: SIMT(ADD, t, t, t + 1); break;
    case EACH_SUB: SIMT(SUB, t, t, t + 1); break;
    case EACH_MUL: SIMT(MUL, t, t, t + 1); break;
    case EACH_RELU_GRAD: SIMT(RELU_GRAD, t, t, t + 1); break;
    case EACH_COPY: break;
    case EACH_FILL: zeros(t, &p); break;
    case EACH_EXPAND:
      if (g->second == OPS_EACH_COLUMN || g->second == OPS_EACH_ONE) {
        zeros(6, &p);
        SIMT(ADD, t, 6, t);
      }
      if (g->factor != 0) each_function(EACH_SCALE, t);
      break;
    case EACH_UPDATE:
      tile_simt(TILE_SIMT_MUL, R(t + 1), R(t + 1), FACTOR);
      SIMT(SUB, t, t, t + 1);
      break;
    default: each_function(kind, t); break;
  }
  store_piece(g, t, &p);
  e->done += e->step;
  return 1;
}

KERNEL_INLINE void each(const each_kind_t kind) {
  const ops_elementwise_arguments_t* const g =
      (const ops_elementwise_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  each_t e = {.g = g,
              .loaded = wavefront(),
              .done = wavefront(),
              .step = wavefronts(),
              .pieces = (g->rows + g->rows_each - 1) / g->rows_each * g->chunks};
  put_numbers(g, kind);
  if (kind < EACH_ADD) {
#define LOAD(s) each_load(&e, s, kind)
#define WORK(s) \
  if (!each_work(&e, s, kind)) return
    WALK_4(LOAD, WORK)
#undef LOAD
#undef WORK
  } else {
#define LOAD(s) each_load(&e, 2 * (s), kind)
#define WORK(s) \
  if (!each_work(&e, 2 * (s), kind)) return
    WALK_2(LOAD, WORK)
#undef LOAD
#undef WORK
  }
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
  const uint32_t pieces = (g->rows + g->rows_each - 1) / g->rows_each;
  for (uint32_t piece = wavefront(); piece < pieces; piece += wavefronts()) {
    place_t p = {.row = piece * g->rows_each, .bytes = g->row_bytes / 2};
    p.rows = min_u32(g->rows_each, g->rows - p.row);
    const uint64_t from = g->in[0] + (uint64_t)p.row * g->row_bytes;
    const uint64_t shape = tile_shape(p.rows, p.bytes, g->row_bytes);
    tile_load(R(0), from, shape, STRETTO_FP16, 0);
    tile_load(R(1), from + p.bytes, shape, STRETTO_FP16, 0);
    rope_half(g, &p, 0, back);
    rope_half(g, &p, 1, back);
  }
}

#define KERNEL(name, call)                                                                        \
  void each_##name(void) {                                                                        \
    call;                                                                                         \
    tile_end();                                                                                   \
    __builtin_unreachable();                                                                      \
  }                                                                                               \
  STRETTO_KERNEL(each_##name, .type = STRETTO_KERNEL_SIMT, .registers_bytes = OPS_EACH_REGISTERS, \
                 .lds_bytes = OPS_EACH_LDS, .private_bytes = 512,                                 \
                 .wavefronts = OPS_EACH_WAVEFRONTS,                                               \
                 .kernarg_bytes = sizeof(ops_elementwise_arguments_t))
KERNEL(neg, each(EACH_NEG));
KERNEL(relu, each(EACH_RELU));
KERNEL(sigmoid, each(EACH_SIGMOID));
KERNEL(tanh, each(EACH_TANH));
KERNEL(silu, each(EACH_SILU));
KERNEL(sqrt, each(EACH_SQRT));
KERNEL(scale, each(EACH_SCALE));
KERNEL(copy, each(EACH_COPY));
KERNEL(fill, each(EACH_FILL));
KERNEL(expand, each(EACH_EXPAND));
KERNEL(rope, rope(0));
KERNEL(rope_back, rope(1));
KERNEL(add, each(EACH_ADD));
KERNEL(sub, each(EACH_SUB));
KERNEL(mul, each(EACH_MUL));
KERNEL(div, each(EACH_DIV));
KERNEL(relu_grad, each(EACH_RELU_GRAD));
KERNEL(sigmoid_grad, each(EACH_SIGMOID_GRAD));
KERNEL(tanh_grad, each(EACH_TANH_GRAD));
KERNEL(silu_grad, each(EACH_SILU_GRAD));
KERNEL(update, each(EACH_UPDATE));
