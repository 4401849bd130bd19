// SPDX-License-Identifier: Apache-2.0
// Sums over rows, over columns and over what is between, see reduce.h.
#include "sw/kernels/ops/reduce.h"

#include "sw/kernels/ops/walk.h"

#define R TILE_R

KERNEL_INLINE const ops_sum_arguments_t* arguments(void) {
  return (const ops_sum_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
}

// R(t) <- a row of ones, by way of an accumulator that nothing was added to.
#define ONES(t, accumulator, count)                                                       \
  {                                                                                       \
    tile_zero(TILE_A(accumulator), 1 | (uint64_t)(count) << 16);                          \
    tile_epilogue(R(t), TILE_A(accumulator), (uint64_t)1 << 16 | (uint64_t)(count) << 48, \
                  STRETTO_FP32);                                                          \
    tile_simt(TILE_SIMT_EXP, R(t), R(t), R(t));                                           \
  }

// Sum of rows. Work-group id = (part, piece of a row), the latter fastest; wavefronts take pieces of rows_each rows
// in turn. Tiles 0 to 3 hold pieces, 4 one in FP32, 5 the sum of those with all rows.

typedef struct walk {
  const ops_sum_arguments_t* g;
  uint64_t from;
  uint32_t bytes;
  uint32_t loaded, done, step;  // Rows.
  int summed;
} walk_t;

KERNEL_INLINE void load(walk_t* w, const int t, const int element) {
  if (w->loaded >= w->g->rows) return;
  tile_load(R(t), w->from + (uint64_t)w->loaded * w->g->row_bytes,
            tile_shape(min_u32(w->g->rows_each, w->g->rows - w->loaded), w->bytes, w->g->row_bytes),
            element, 0);
  w->loaded += w->step;
}

// Returns whether there is more; a piece with fewer rows is left in 4.
KERNEL_INLINE int work(walk_t* w, const int t, const int element) {
  if (w->done >= w->g->rows) return 0;
  if (w->done + w->g->rows_each > w->g->rows) {
    widen(4, t, element);
    return 0;
  }
  if (!w->summed) {
    widen(5, t, element);
    w->summed = 1;
  } else {
    widen(4, t, element);
    tile_simt(TILE_SIMT_ADD, R(5), R(5), R(4));
  }
  w->done += w->step;
  return 1;
}

KERNEL_INLINE void sum_pieces(walk_t* w, const int element) {
#define LOAD(s) load(w, s, element)
#define WORK(s) \
  if (!work(w, s, element)) return
  WALK_4(LOAD, WORK)
#undef LOAD
#undef WORK
}

// Rows of the sum, and those left in 4, to one row in 6.
KERNEL_INLINE void sum_tile(const walk_t* w, const int accumulator, uint32_t columns) {
  ONES(7, accumulator, w->g->rows_each);
  tile_zero(TILE_A(accumulator), 1 | (uint64_t)columns << 16);
  if (w->summed) tile_mma(TILE_A(accumulator), R(7), R(5), 0, 0, STRETTO_FP32);
  if (w->done < w->g->rows) tile_mma(TILE_A(accumulator), R(7), R(4), 0, 0, STRETTO_FP32);
  tile_epilogue(R(6), TILE_A(accumulator), (uint64_t)1 << 16 | (uint64_t)columns << 48,
                STRETTO_FP32);
  tile_simt(TILE_SIMT_COPY, TILE_L(accumulator), R(6), R(6));
}

KERNEL_INLINE void sum_rows(const int element) {
  const ops_sum_arguments_t* const g = arguments();
  const uint32_t id = (uint32_t)tile_csr(TILE_CSR_WG_ID), chunk = id % g->chunks,
                 part = id / g->chunks, me = (uint32_t)tile_csr(TILE_CSR_WF_ID);
  const uint32_t at = chunk * OPS_SUM_PIECE;
  const uint32_t first = (part * OPS_SUM_ROWS_WAVEFRONTS + me) * g->rows_each;
  walk_t w = {.g = g,
              .from = g->in + at,
              .bytes = min_u32(OPS_SUM_PIECE, g->row_bytes - at),
              .loaded = first,
              .done = first,
              .step = g->part_count * OPS_SUM_ROWS_WAVEFRONTS * g->rows_each};
  const uint32_t element_bytes = element == STRETTO_FP32 ? 4 : 2;
  const uint32_t columns = w.bytes / element_bytes;
  sum_pieces(&w, element);
  if (me == 0) sum_tile(&w, 0, columns);
  if (me == 1) sum_tile(&w, 1, columns);
  if (me == 2) sum_tile(&w, 2, columns);
  if (me == 3) sum_tile(&w, 3, columns);
  tile_barrier();
  if (me != 0) return;
  tile_simt(TILE_SIMT_ADD, R(6), R(6), TILE_L(1));
  tile_simt(TILE_SIMT_ADD, R(6), R(6), TILE_L(2));
  tile_simt(TILE_SIMT_ADD, R(6), R(6), TILE_L(3));
  const uint64_t row_bytes = (uint64_t)g->row_bytes / element_bytes * 4;
  tile_store(R(6), g->parts + part * row_bytes + (uint64_t)at / element_bytes * 4,
             tile_shape(1, columns * 4, 0), STRETTO_FP32);
}

// Parts: a product with a row of ones on the SIMT pipe adds them in their order.
KERNEL_INLINE void sum_parts(const int element) {
  const ops_sum_arguments_t* const g = arguments();
  const uint32_t column = (uint32_t)tile_csr(TILE_CSR_WG_ID) * OPS_SUM_PARTS_COLUMNS;
  const uint32_t columns = min_u32(OPS_SUM_PARTS_COLUMNS, g->columns - column);
  const uint32_t element_bytes = element == STRETTO_FP32 ? 4 : 2;
  const uint32_t pitch = (g->pitch != 0 ? g->pitch : g->columns) * 4;
  const uint64_t from = g->parts + column * 4;
  ONES(7, 0, OPS_SUM_PARTS_EACH);
  tile_zero(TILE_A(0), 1 | (uint64_t)columns << 16);
  for (uint32_t at = 0; at < g->part_count; at += 2 * OPS_SUM_PARTS_EACH) {
    const uint32_t left = g->part_count - at;
    const int two = left > OPS_SUM_PARTS_EACH;
    tile_load(R(0), from + (uint64_t)at * pitch,
              tile_shape(min_u32(OPS_SUM_PARTS_EACH, left), columns * 4, pitch), STRETTO_FP32, 0);
    if (two)
      tile_load(
          R(1), from + (uint64_t)(at + OPS_SUM_PARTS_EACH) * pitch,
          tile_shape(min_u32(OPS_SUM_PARTS_EACH, left - OPS_SUM_PARTS_EACH), columns * 4, pitch),
          STRETTO_FP32, 0);
    tile_mma(TILE_A(0), R(7), R(0), 0, 0, STRETTO_FP32);
    if (two) tile_mma(TILE_A(0), R(7), R(1), 0, 0, STRETTO_FP32);
  }
  if (g->factor != 0) {
    tile_load(R(3), g->factor, tile_shape(1, 4, 0), STRETTO_FP32, 0);
    tile_epilogue(R(2), TILE_A(0), (uint64_t)1 << 16 | (uint64_t)columns << 48, STRETTO_FP32);
    tile_simt(TILE_SIMT_MUL, R(2), R(2), R(3));
    narrow(2, 2, element);
  } else {
    tile_epilogue(R(2), TILE_A(0), (uint64_t)1 << 16 | (uint64_t)columns << 48, element);
  }
  tile_store(R(2), g->out + (uint64_t)column * element_bytes,
             tile_shape(1, columns * element_bytes, 0), element);
}

// Sums of columns. Tiles 0 to 3 hold pieces, 4 one in FP32, 5 its sums.

typedef struct columns {
  const ops_sum_arguments_t* g;
  uint32_t loaded, done, step;  // Pieces.
  uint32_t pieces;
} columns_t;

KERNEL_INLINE void columns_load(columns_t* c, const int t, uint32_t piece, const int element) {
  if (c->loaded >= c->pieces) return;
  const ops_sum_arguments_t* const g = c->g;
  const uint32_t row = c->loaded / g->chunks * g->rows_each, at = c->loaded % g->chunks * piece;
  tile_load(R(t), g->in + (uint64_t)row * g->row_bytes + at,
            tile_shape(min_u32(g->rows_each, g->rows - row), min_u32(piece, g->row_bytes - at),
                       g->row_bytes),
            element, 0);
  c->loaded += c->step;
}

KERNEL_INLINE int columns_work(columns_t* c, const int t, const int element) {
  if (c->done >= c->pieces) return 0;
  const ops_sum_arguments_t* const g = c->g;
  const uint32_t row = c->done / g->chunks * g->rows_each;
  const uint32_t rows = min_u32(g->rows_each, g->rows - row);
  widen(4, t, element);
  row_column(TILE_SIMT_ROW_SUM, 5, 4);
  if (g->factor != 0) tile_simt(TILE_SIMT_MUL, R(5), R(5), R(6));
  // With several pieces of a row there is one row of a piece, so that sums lie as pieces are counted.
  const uint64_t first = g->chunks > 1 ? c->done : row;
#define STORE(kind, bytes) \
  tile_store(R(5), g->out + first * (bytes), tile_shape(rows, bytes, bytes), kind)
  if (g->out_element == STRETTO_FP16) {
    narrow(5, 5, STRETTO_FP16);
    STORE(STRETTO_FP16, 2);
  } else if (g->out_element == STRETTO_BF16) {
    narrow(5, 5, STRETTO_BF16);
    STORE(STRETTO_BF16, 2);
  } else {
    STORE(STRETTO_FP32, 4);
  }
#undef STORE
  c->done += c->step;
  return 1;
}

KERNEL_INLINE void sum_columns(uint32_t piece, const int element) {
  const ops_sum_arguments_t* const g = arguments();
  columns_t c = {.g = g,
                 .loaded = wavefront(),
                 .done = wavefront(),
                 .step = wavefronts(),
                 .pieces = (g->rows + g->rows_each - 1) / g->rows_each * g->chunks};
  if (g->factor != 0) tile_load(R(6), g->factor, tile_shape(1, 4, 0), STRETTO_FP32, 0);
#define LOAD(s) columns_load(&c, s, piece, element)
#define WORK(s) \
  if (!columns_work(&c, s, element)) return
  WALK_4(LOAD, WORK)
#undef LOAD
#undef WORK
}

// Sums of groups of rows. Wavefronts take pieces of the result in turn; each is as many loads as a group has rows.
// Tiles 0 to 3 hold pieces, 4 one in FP32, 5 their sum.

typedef struct groups {
  const ops_sum_arguments_t* g;
  uint32_t loaded, load_row;  // Piece, and row of its groups.
  uint32_t done, done_row;
  uint32_t step, pieces;
} groups_t;

// Place of a piece in rows of so many bytes, and its shape.
KERNEL_INLINE uint64_t groups_place(const ops_sum_arguments_t* g, uint32_t piece, uint64_t pitch) {
  return piece / g->chunks * g->rows_each * pitch + piece % g->chunks * OPS_SUM_PIECE;
}
KERNEL_INLINE uint64_t groups_shape(const ops_sum_arguments_t* g, uint32_t piece, uint32_t pitch) {
  return tile_shape(min_u32(g->rows_each, g->rows - piece / g->chunks * g->rows_each),
                    min_u32(OPS_SUM_PIECE, g->row_bytes - piece % g->chunks * OPS_SUM_PIECE),
                    pitch);
}

KERNEL_INLINE void groups_load(groups_t* w, const int t, const int element) {
  if (w->loaded >= w->pieces) return;
  const ops_sum_arguments_t* const g = w->g;
  const uint32_t pitch = g->part_count * g->row_bytes;
  tile_load(R(t), g->in + groups_place(g, w->loaded, pitch) + (uint64_t)w->load_row * g->row_bytes,
            groups_shape(g, w->loaded, pitch), element, 0);
  if (++w->load_row < g->part_count) return;
  w->load_row = 0;
  w->loaded += w->step;
}

KERNEL_INLINE int groups_work(groups_t* w, const int t, const int element) {
  if (w->done >= w->pieces) return 0;
  const ops_sum_arguments_t* const g = w->g;
  if (w->done_row == 0) {
    widen(5, t, element);
  } else {
    widen(4, t, element);
    tile_simt(TILE_SIMT_ADD, R(5), R(5), R(4));
  }
  if (++w->done_row < g->part_count) return 1;
  if (g->factor != 0) tile_simt(TILE_SIMT_MUL, R(5), R(5), R(6));
  narrow(5, 5, element);
  tile_store(R(5), g->out + groups_place(g, w->done, g->row_bytes),
             groups_shape(g, w->done, g->row_bytes), element);
  w->done_row = 0;
  w->done += w->step;
  return 1;
}

KERNEL_INLINE void sum_groups(const int element) {
  const ops_sum_arguments_t* const g = arguments();
  groups_t w = {.g = g,
                .loaded = wavefront(),
                .done = wavefront(),
                .step = wavefronts(),
                .pieces = (g->rows + g->rows_each - 1) / g->rows_each * g->chunks};
  if (g->factor != 0) tile_load(R(6), g->factor, tile_shape(1, 4, 0), STRETTO_FP32, 0);
#define LOAD(s) groups_load(&w, s, element)
#define WORK(s) \
  if (!groups_work(&w, s, element)) return
  WALK_4(LOAD, WORK)
#undef LOAD
#undef WORK
}

#define KERNEL(name, call, ...)                                           \
  void name(void) {                                                       \
    call;                                                                 \
    tile_end();                                                           \
    __builtin_unreachable();                                              \
  }                                                                       \
  STRETTO_KERNEL(name, .type = STRETTO_KERNEL_SIMT, .private_bytes = 512, \
                 .kernarg_bytes = sizeof(ops_sum_arguments_t), __VA_ARGS__)

#define SUM_COLUMNS(name, element, piece)                           \
  KERNEL(sum_columns_##name##_##piece, sum_columns(piece, element), \
         .registers_bytes = OPS_SUM_COLUMNS_REGISTERS(piece),       \
         .wavefronts = OPS_SUM_COLUMNS_WAVEFRONTS(piece))
#define OF_ELEMENT(name, element)                                                             \
  KERNEL(sum_rows_##name, sum_rows(element), .registers_bytes = OPS_SUM_ROWS_REGISTERS,       \
         .lds_bytes = OPS_SUM_ROWS_LDS, .wavefronts = OPS_SUM_ROWS_WAVEFRONTS);               \
  KERNEL(sum_parts_##name, sum_parts(element), .registers_bytes = OPS_SUM_PARTS_REGISTERS,    \
         .wavefronts = 1);                                                                    \
  KERNEL(sum_groups_##name, sum_groups(element), .registers_bytes = OPS_SUM_GROUPS_REGISTERS, \
         .wavefronts = OPS_SUM_GROUPS_WAVEFRONTS);                                            \
  SUM_COLUMNS(name, element, 2048);                                                           \
  SUM_COLUMNS(name, element, 8192)
OF_ELEMENT(fp16, STRETTO_FP16);
#ifdef OPS_FP16_ALONE
SUM_COLUMNS(fp32, STRETTO_FP32, 2048);  // Of the sums of a row's pieces.
SUM_COLUMNS(fp32, STRETTO_FP32, 8192);
#else
OF_ELEMENT(bf16, STRETTO_BF16);
OF_ELEMENT(fp32, STRETTO_FP32);
#endif
