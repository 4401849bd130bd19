// SPDX-License-Identifier: Apache-2.0
// Rows that a team of wavefronts shares, see rows.h. A wavefront has consecutive pieces of the row. Loads of a row are
// issued at once, each as soon as the tile's store of the row before has left.
#include "sw/kernels/ops/rows.h"

#include "sw/kernels/ops/walk.h"

#define R TILE_R
#define SIMT(operation, t, a, b) tile_simt(TILE_SIMT_##operation, R(t), R(a), R(b))

typedef struct team {
  const ops_rows_arguments_t* g;
  uint32_t row, step;  // The first, and how far the next is.
  uint32_t at, bytes;  // Of a row, what this wavefront has.
} team_t;

KERNEL_INLINE team_t team_of(const int wide) {
  const ops_rows_arguments_t* const g =
      (const ops_rows_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint32_t at = wide == 1 ? 0 : (uint32_t)tile_csr(TILE_CSR_WF_ID) * g->share;
  const team_t team = {
      .g = g,
      .row = wide == 1 ? wavefront() * g->rows_each : (uint32_t)tile_csr(TILE_CSR_WG_ID),
      .step = wide == 1 ? wavefronts() * g->rows_each : (uint32_t)tile_csr(TILE_CSR_GRID),
      .at = at,
      .bytes = min_u32(g->share, g->row_bytes - at)};
  return team;
}

// One tile of a wavefront for all of its team: sum or maximum of those of all, in order.
KERNEL_INLINE void combine(const int wide, const int operation, const int t) {
#define PUT(i) \
  case i: tile_simt(TILE_SIMT_COPY, TILE_L(i), R(t), R(t)); break
  if (wide == 1) return;
  switch ((uint32_t)tile_csr(TILE_CSR_WF_ID)) {
    PUT(0);
    PUT(1);
    PUT(2);
    PUT(3);
    PUT(4);
    PUT(5);
    PUT(6);
    PUT(7);
  }
#undef PUT
  tile_barrier();
  tile_simt(operation, R(t), TILE_L(0), TILE_L(1));
  tile_simt(operation, R(t), R(t), TILE_L(2));
  tile_simt(operation, R(t), R(t), TILE_L(3));
  if (wide == 8) {
    tile_simt(operation, R(t), R(t), TILE_L(4));
    tile_simt(operation, R(t), R(t), TILE_L(5));
    tile_simt(operation, R(t), R(t), TILE_L(6));
    tile_simt(operation, R(t), R(t), TILE_L(7));
  }
  tile_barrier();  // Nobody puts the next before all have read.
}

KERNEL_INLINE void load_word(const team_t* team, const int t, uint32_t word) {
  tile_load(R(t), team->g->constants + 4 * word, tile_shape(1, 4, 0), STRETTO_FP32, 0);
}

// 1 / columns and epsilon, in LDS for all wavefronts of the work-group.
#define ONE_BY_COLUMNS TILE_L(8)
#define EPSILON TILE_L(9)
// Of softmax.
#define SCALE TILE_L(8)

KERNEL_INLINE void load_constants(const team_t* team) {
  if (tile_csr(TILE_CSR_WF_ID) == 0) {
    const uint64_t one = tile_shape(1, 4, 0), words = team->g->constants;
    tile_load(ONE_BY_COLUMNS, words + 4 * OPS_ROWS_ONE_BY_COLUMNS, one, STRETTO_FP32, 0);
    tile_load(EPSILON, words + 4 * OPS_ROWS_EPSILON, one, STRETTO_FP32, 0);
  }
  tile_barrier();
}
// Returns whether there is a scale.
KERNEL_INLINE int load_scale(const team_t* team) {
  const uint64_t scale = team->g->in[2];
  if (scale == 0) return 0;
  if (tile_csr(TILE_CSR_WF_ID) == 0) tile_load(SCALE, scale, tile_shape(1, 4, 0), STRETTO_FP32, 0);
  tile_barrier();
  return 1;
}

// Piece `i` of the wavefront's part of a row.
KERNEL_INLINE uint64_t piece_shape(const team_t* team, uint32_t i, uint32_t rows) {
  return tile_shape(rows, min_u32(OPS_ROWS_PIECE, team->bytes - i * OPS_ROWS_PIECE),
                    team->g->row_bytes);
}
KERNEL_INLINE uint64_t piece_at(const team_t* team, uint64_t matrix, uint32_t row, uint32_t i) {
  return matrix + (uint64_t)row * team->g->row_bytes + team->at + i * OPS_ROWS_PIECE;
}

#define EACH_OF_3(F)                     \
  F(0);                                  \
  if (team.bytes > OPS_ROWS_PIECE) F(1); \
  if (team.bytes > 2 * OPS_ROWS_PIECE) F(2)
#define EACH_OF_4(F)                         \
  F(0);                                      \
  if (team.bytes > OPS_ROWS_PIECE) F(1);     \
  if (team.bytes > 2 * OPS_ROWS_PIECE) F(2); \
  if (team.bytes > 3 * OPS_ROWS_PIECE) F(3)
#define EACH_OF_2(F) \
  F(0);              \
  if (team.bytes > OPS_ROWS_PIECE) F(1)

// t <- t + part, or part where it is the first.
#define GATHER(i, operation, t, part)                  \
  if ((i) == 0)                                        \
    tile_simt(TILE_SIMT_COPY, R(t), R(part), R(part)); \
  else                                                 \
    tile_simt(operation, R(t), R(t), R(part))

// Softmax: 4 is in between, 5 the sum, 6 the maximum.

// t <- FP32 of `from`, times the scale if there is one.
KERNEL_INLINE void widen_scaled(const int t, const int from, const int element, int is_scaled) {
  widen(t, from, element);
  if (is_scaled) tile_simt(TILE_SIMT_MUL, R(t), R(t), SCALE);
}
// 4 <- the exponential of `from` less the maximum, FP32.
KERNEL_INLINE void power_of(const int from, const int element, int is_scaled) {
  widen_scaled(4, from, element, is_scaled);
  SIMT(SUB, 4, 4, 6);
  SIMT(EXP, 4, 4, 4);
}
// 7 <- the largest of each row of `from`, FP32; 4 and t are in between.
KERNEL_INLINE void row_most(const int t, const int from, const int element, int is_scaled) {
  if (is_scaled) {
    widen_scaled(4, from, element, 1);
    row_column(TILE_SIMT_ROW_MAX, 7, 4);
    return;
  }
  SIMT(ROW_MAX, t, from, from);
  SIMT(FIRST, 7, t, t);
  widen(7, 7, element);
}

// Parts of rows that are one piece: a walk over rows whose loads run ahead of the work, in tiles 0 to 2 (layer norm: 0 and 1).
typedef struct walk {
  const team_t* team;
  uint32_t loaded, done;  // Rows.
  uint32_t vectors;       // Rows that the tiles of gamma and beta have.
  int is_scaled;
} walk_t;

KERNEL_INLINE uint32_t walk_rows(const walk_t* w, uint32_t row) {
  return min_u32(w->team->g->rows_each, w->team->g->rows - row);
}
KERNEL_INLINE void walk_load(walk_t* w, const int t, const int element) {
  const ops_rows_arguments_t* const g = w->team->g;
  if (w->loaded >= g->rows) return;
  tile_load(R(t), piece_at(w->team, g->in[0], w->loaded, 0),
            piece_shape(w->team, 0, walk_rows(w, w->loaded)), element, 0);
  w->loaded += w->team->step;
}
KERNEL_INLINE void walk_store(walk_t* w, const int t, const int element) {
  tile_store(R(t), piece_at(w->team, w->team->g->out, w->done, 0),
             piece_shape(w->team, 0, walk_rows(w, w->done)), element);
  w->done += w->team->step;
}

// Returns whether there was a row.
KERNEL_INLINE int short_softmax_row(walk_t* w, const int t, const int wide, const int element) {
  if (w->done >= w->team->g->rows) return 0;
  row_most(5, t, element, w->is_scaled);
  SIMT(COPY, 6, 7, 7);
  combine(wide, TILE_SIMT_MAX, 6);
  power_of(t, element, w->is_scaled);
  narrow(t, 4, element);
  row_column(TILE_SIMT_ROW_SUM, 5, 4);
  combine(wide, TILE_SIMT_ADD, 5);
  SIMT(RECIP, 5, 5, 5);
  widen(4, t, element);
  SIMT(MUL, 4, 4, 5);
  narrow(t, 4, element);
  walk_store(w, t, element);
  return 1;
}

KERNEL_INLINE void short_softmax(const team_t* team, int is_scaled, const int wide,
                                 const int element) {
  walk_t w = {team, team->row, team->row, 0, is_scaled};
#define LOAD(s) walk_load(&w, s, element)
#define WORK(s) \
  if (!short_softmax_row(&w, s, wide, element)) return
  WALK_3(LOAD, WORK)
#undef LOAD
#undef WORK
}

KERNEL_INLINE void softmax(const int wide, const int element) {
  const team_t team = team_of(wide);
  const ops_rows_arguments_t* const g = team.g;
  const int is_scaled = load_scale(&team);
  if (wide == 1 || g->share <= OPS_ROWS_PIECE) {
    short_softmax(&team, is_scaled, wide, element);
    return;
  }
  for (uint32_t row = team.row; row < g->rows; row += team.step) {
    const uint32_t rows = min_u32(g->rows_each, g->rows - row);
#define LOAD(i) \
  tile_load(R(i), piece_at(&team, g->in[0], row, i), piece_shape(&team, i, rows), element, 0)
    EACH_OF_4(LOAD);
#undef LOAD
#define MOST(i)                         \
  {                                     \
    row_most(5, i, element, is_scaled); \
    GATHER(i, TILE_SIMT_MAX, 6, 7);     \
  }
    EACH_OF_4(MOST);
#undef MOST
    combine(wide, TILE_SIMT_MAX, 6);
#define POWER(i)                         \
  {                                      \
    power_of(i, element, is_scaled);     \
    narrow(i, 4, element);               \
    row_column(TILE_SIMT_ROW_SUM, 7, 4); \
    GATHER(i, TILE_SIMT_ADD, 5, 7);      \
  }
    EACH_OF_4(POWER);
#undef POWER
    combine(wide, TILE_SIMT_ADD, 5);
    SIMT(RECIP, 5, 5, 5);
#define STORE(i)                                                                             \
  {                                                                                          \
    widen(4, i, element);                                                                    \
    SIMT(MUL, 4, 4, 5);                                                                      \
    narrow(i, 4, element);                                                                   \
    tile_store(R(i), piece_at(&team, g->out, row, i), piece_shape(&team, i, rows), element); \
  }
    EACH_OF_4(STORE);
#undef STORE
  }
}

// Layer norm: 4 is in between, 5 the scale, 6 the mean; 3 and 7 gamma and beta of the piece that is stored next.

// Of the sums of all wavefronts.
KERNEL_INLINE void mean(const int wide, const int t) {
  combine(wide, TILE_SIMT_ADD, t);
  tile_simt(TILE_SIMT_MUL, R(t), R(t), ONE_BY_COLUMNS);
}
// Of a variance.
KERNEL_INLINE void scale_of(const int t) {
  tile_simt(TILE_SIMT_ADD, R(t), R(t), EPSILON);
  SIMT(RSQRT, t, t, t);
}

KERNEL_INLINE void load_vectors(const team_t* team, uint32_t i, const int element) {
  const uint64_t shape = piece_shape(team, i, 1);
  tile_load(R(3), piece_at(team, team->g->in[1], 0, i), shape, element, 0);
  tile_load(R(7), piece_at(team, team->g->in[2], 0, i), shape, element, 0);
}

// x in `t`: (x - mean) scale gamma + beta. R(6), R(5): mean and scale; R(3), R(7): gamma and beta.
KERNEL_INLINE void scale_and_shift(const int t, const int element) {
  widen(4, t, element);
  SIMT(SUB, 4, 4, 6);
  SIMT(MUL, 4, 4, 5);
  narrow(t, 4, element);
  SIMT(MUL, t, t, 3);
  SIMT(ADD, t, t, 7);
}

// `last`: of a row's pieces.
KERNEL_INLINE void normalise(const team_t* team, uint32_t row, uint32_t i, uint32_t last,
                             const int t, const int element) {
  scale_and_shift(t, element);
  tile_store(R(t), piece_at(team, team->g->out, row, i), piece_shape(team, i, 1), element);
  if (i < last) load_vectors(team, i + 1, element);
}

// Gamma and beta stay where they are.
KERNEL_INLINE int short_layer_norm_row(walk_t* w, const int t, const int wide, const int element) {
  const ops_rows_arguments_t* const g = w->team->g;
  if (w->done >= g->rows) return 0;
  const uint32_t rows = walk_rows(w, w->done);
  if (rows != w->vectors) {
    const uint64_t vector = tile_shape(rows, w->team->bytes, 0);
    tile_load(R(3), g->in[1] + w->team->at, vector, element, 0);
    tile_load(R(7), g->in[2] + w->team->at, vector, element, 0);
    w->vectors = rows;
  }
  widen(4, t, element);
  row_column(TILE_SIMT_ROW_SUM, 6, 4);
  mean(wide, 6);
  widen(4, t, element);
  SIMT(SUB, 4, 4, 6);
  SIMT(MUL, 4, 4, 4);
  row_column(TILE_SIMT_ROW_SUM, 5, 4);
  mean(wide, 5);
  scale_of(5);
  scale_and_shift(t, element);
  walk_store(w, t, element);
  return 1;
}

KERNEL_INLINE void short_layer_norm(const team_t* team, const int wide, const int element) {
  walk_t w = {team, team->row, team->row, 0, 0};
#define LOAD(s) walk_load(&w, s, element)
#define WORK(s) \
  if (!short_layer_norm_row(&w, s, wide, element)) return
  WALK_2(LOAD, WORK)
#undef LOAD
#undef WORK
}

KERNEL_INLINE void layer_norm(const int wide, const int element) {
  const team_t team = team_of(wide);
  const ops_rows_arguments_t* const g = team.g;
  const uint32_t last = (team.bytes - 1) / OPS_ROWS_PIECE;
  load_constants(&team);
  if (wide == 1 || g->share <= OPS_ROWS_PIECE) {
    short_layer_norm(&team, wide, element);
    return;
  }
  for (uint32_t row = team.row; row < g->rows; row += team.step) {
#define LOAD(i) \
  tile_load(R(i), piece_at(&team, g->in[0], row, i), piece_shape(&team, i, 1), element, 0)
    EACH_OF_3(LOAD);
#undef LOAD
#define SUM(i)                           \
  {                                      \
    widen(4, i, element);                \
    row_column(TILE_SIMT_ROW_SUM, 7, 4); \
    GATHER(i, TILE_SIMT_ADD, 6, 7);      \
  }
    EACH_OF_3(SUM);
#undef SUM
    mean(wide, 6);
#define SQUARES(i)                       \
  {                                      \
    widen(4, i, element);                \
    SIMT(SUB, 4, 4, 6);                  \
    SIMT(MUL, 4, 4, 4);                  \
    row_column(TILE_SIMT_ROW_SUM, 7, 4); \
    GATHER(i, TILE_SIMT_ADD, 5, 7);      \
  }
    EACH_OF_3(SQUARES);
#undef SQUARES
    mean(wide, 5);
    scale_of(5);
    load_vectors(&team, 0, element);
#define STORE(i) normalise(&team, row, i, last, i, element)
    EACH_OF_3(STORE);
#undef STORE
  }
}

// Rows of any length: of a wavefront's part, pieces of one or two matrices; loads run ahead.

typedef struct stream {
  const team_t* team;
  uint32_t row, loaded, done;  // Pieces.
  uint32_t pieces;
} stream_t;

KERNEL_INLINE stream_t stream_of(const team_t* team, uint32_t row) {
  const stream_t stream = {team, row, 0, 0, (team->bytes + OPS_ROWS_PIECE - 1) / OPS_ROWS_PIECE};
  return stream;
}
KERNEL_INLINE uint64_t stream_from(const stream_t* s, int matrix) {
  return piece_at(s->team, s->team->g->in[matrix], s->row, s->loaded);
}
KERNEL_INLINE void stream_load(stream_t* s, const int t, const int element) {
  if (s->loaded == s->pieces) return;
  tile_load(R(t), stream_from(s, 0), piece_shape(s->team, s->loaded, 1), element, 0);
  ++s->loaded;
}
KERNEL_INLINE void stream_load_two(stream_t* s, const int t, const int element) {
  if (s->loaded == s->pieces) return;
  const uint64_t shape = piece_shape(s->team, s->loaded, 1);
  tile_load(R(t), stream_from(s, 0), shape, element, 0);
  tile_load(R(t + 1), stream_from(s, 1), shape, element, 0);
  ++s->loaded;
}
KERNEL_INLINE void stream_store(stream_t* s, const int t, const int element) {
  tile_store(R(t), piece_at(s->team, s->team->g->out, s->row, s->done),
             piece_shape(s->team, s->done, 1), element);
}

#define LOAD(s) stream_load(&stream, s, element)
#define LOAD_TWO(s) stream_load_two(&stream, 2 * (s), element)
#define LEFT() \
  if (stream.done == stream.pieces) return

// 5: sum of the exponentials, 6: maximum so far, by which they are divided.
KERNEL_INLINE void long_softmax_sums(const team_t* team, uint32_t row, const int element,
                                     int is_scaled) {
  stream_t stream = stream_of(team, row);
  load_word(team, 5, OPS_ROWS_ZERO);
  load_word(team, 6, OPS_ROWS_LOWEST);
#define WORK(s)                          \
  {                                      \
    LEFT();                              \
    row_most(4, s, element, is_scaled);  \
    SIMT(MAX, 7, 7, 6);                  \
    SIMT(SUB, 6, 6, 7);                  \
    SIMT(EXP, 6, 6, 6);                  \
    SIMT(MUL, 5, 5, 6);                  \
    SIMT(COPY, 6, 7, 7);                 \
    power_of(s, element, is_scaled);     \
    row_column(TILE_SIMT_ROW_SUM, 7, 4); \
    SIMT(ADD, 5, 5, 7);                  \
    ++stream.done;                       \
  }
  WALK_3(LOAD, WORK)
#undef WORK
}

KERNEL_INLINE void long_softmax_results(const team_t* team, uint32_t row, const int element,
                                        int is_scaled) {
  stream_t stream = stream_of(team, row);
#define WORK(s)                        \
  {                                    \
    LEFT();                            \
    power_of(s, element, is_scaled);   \
    SIMT(MUL, 4, 4, 5);                \
    narrow(s, 4, element);             \
    stream_store(&stream, s, element); \
    ++stream.done;                     \
  }
  WALK_3(LOAD, WORK)
#undef WORK
}

KERNEL_INLINE void long_softmax(const int element) {
  const team_t team = team_of(8);
  const int is_scaled = load_scale(&team);
  for (uint32_t row = team.row; row < team.g->rows; row += team.step) {
    long_softmax_sums(&team, row, element, is_scaled);
    SIMT(COPY, 7, 6, 6);
    combine(8, TILE_SIMT_MAX, 7);
    SIMT(SUB, 6, 6, 7);
    SIMT(EXP, 6, 6, 6);
    SIMT(MUL, 5, 5, 6);
    SIMT(COPY, 6, 7, 7);
    combine(8, TILE_SIMT_ADD, 5);
    SIMT(RECIP, 5, 5, 5);
    long_softmax_results(&team, row, element, is_scaled);
  }
}

// Differences from the row's first element, 3: their sum in 6, that of their squares in 5.
KERNEL_INLINE void long_layer_norm_sums(const team_t* team, uint32_t row, const int element) {
  stream_t stream = stream_of(team, row);
  tile_load(R(3), team->g->in[0] + (uint64_t)row * team->g->row_bytes,
            tile_shape(1, element == STRETTO_FP32 ? 4 : 2, 0), element, 0);
  widen(3, 3, element);
  load_word(team, 5, OPS_ROWS_ZERO);
  load_word(team, 6, OPS_ROWS_ZERO);
#define WORK(s)                          \
  {                                      \
    LEFT();                              \
    widen(4, s, element);                \
    SIMT(SUB, 4, 4, 3);                  \
    SIMT(ROW_SUM, 7, 4, 4);              \
    SIMT(FIRST, 7, 7, 7);                \
    SIMT(ADD, 6, 6, 7);                  \
    SIMT(MUL, 4, 4, 4);                  \
    row_column(TILE_SIMT_ROW_SUM, 7, 4); \
    SIMT(ADD, 5, 5, 7);                  \
    ++stream.done;                       \
  }
  WALK_3(LOAD, WORK)
#undef WORK
}

KERNEL_INLINE void long_layer_norm_results(const team_t* team, uint32_t row, const int element) {
  stream_t stream = stream_of(team, row);
  load_vectors(team, 0, element);
#define WORK(s)                                                       \
  {                                                                   \
    LEFT();                                                           \
    normalise(team, row, stream.done, stream.pieces - 1, s, element); \
    ++stream.done;                                                    \
  }
  WALK_3(LOAD, WORK)
#undef WORK
}

// 5 <- scale, 6 <- mean. The variance is the mean square of the differences less the square of their mean.
KERNEL_INLINE void long_layer_norm_moments(const team_t* team, uint32_t row, const int element) {
  long_layer_norm_sums(team, row, element);
  combine(8, TILE_SIMT_ADD, 5);
  combine(8, TILE_SIMT_ADD, 6);
  tile_simt(TILE_SIMT_MUL, R(5), R(5), ONE_BY_COLUMNS);
  tile_simt(TILE_SIMT_MUL, R(6), R(6), ONE_BY_COLUMNS);
  SIMT(MUL, 7, 6, 6);
  SIMT(SUB, 5, 5, 7);
  scale_of(5);
  SIMT(ADD, 6, 6, 3);
}

KERNEL_INLINE void long_layer_norm(const int element) {
  const team_t team = team_of(8);
  load_constants(&team);
  for (uint32_t row = team.row; row < team.g->rows; row += team.step) {
    long_layer_norm_moments(&team, row, element);
    long_layer_norm_results(&team, row, element);
  }
}

// Gradient of softmax: y (dy - sum of y dy) scale. The sum is in 6; 4 and 5 are in between.

KERNEL_INLINE void softmax_grad_sum(const int y, const int dy, const int t, const int element) {
  SIMT(MUL, t, y, dy);
  widen(4, t, element);
  row_column(TILE_SIMT_ROW_SUM, 7, 4);
}
KERNEL_INLINE void softmax_grad_result(const int y, const int dy, const int element,
                                       int is_scaled) {
  widen(4, dy, element);
  SIMT(SUB, 4, 4, 6);
  if (is_scaled) tile_simt(TILE_SIMT_MUL, R(4), R(4), SCALE);
  narrow(dy, 4, element);
  SIMT(MUL, y, y, dy);
}

KERNEL_INLINE void softmax_grad(const int wide, const int element) {
  const team_t team = team_of(wide);
  const ops_rows_arguments_t* const g = team.g;
  const int is_scaled = load_scale(&team);
  for (uint32_t row = team.row; row < g->rows; row += team.step) {
    const uint32_t rows = min_u32(g->rows_each, g->rows - row);
#define LOAD_BOTH(i)                                                             \
  {                                                                              \
    const uint64_t shape = piece_shape(&team, i, rows);                          \
    tile_load(R(i), piece_at(&team, g->in[0], row, i), shape, element, 0);       \
    tile_load(R(2 + (i)), piece_at(&team, g->in[1], row, i), shape, element, 0); \
  }
    EACH_OF_2(LOAD_BOTH);
#define SUM(i)                                \
  {                                           \
    softmax_grad_sum(i, 2 + (i), 5, element); \
    GATHER(i, TILE_SIMT_ADD, 6, 7);           \
  }
    EACH_OF_2(SUM);
#undef SUM
    combine(wide, TILE_SIMT_ADD, 6);
#define STORE(i)                                                                             \
  {                                                                                          \
    softmax_grad_result(i, 2 + (i), element, is_scaled);                                     \
    tile_store(R(i), piece_at(&team, g->out, row, i), piece_shape(&team, i, rows), element); \
  }
    EACH_OF_2(STORE);
#undef STORE
  }
}

KERNEL_INLINE void long_softmax_grad_sum(const team_t* team, uint32_t row, const int element) {
  stream_t stream = stream_of(team, row);
  load_word(team, 6, OPS_ROWS_ZERO);
#define WORK(s)                                               \
  {                                                           \
    LEFT();                                                   \
    softmax_grad_sum(2 * (s), 2 * (s) + 1, 2 * (s), element); \
    SIMT(ADD, 6, 6, 7);                                       \
    ++stream.done;                                            \
  }
  WALK_2(LOAD_TWO, WORK)
#undef WORK
}

KERNEL_INLINE void long_softmax_grad_results(const team_t* team, uint32_t row, const int element,
                                             int is_scaled) {
  stream_t stream = stream_of(team, row);
#define WORK(s)                                                    \
  {                                                                \
    LEFT();                                                        \
    softmax_grad_result(2 * (s), 2 * (s) + 1, element, is_scaled); \
    stream_store(&stream, 2 * (s), element);                       \
    ++stream.done;                                                 \
  }
  WALK_2(LOAD_TWO, WORK)
#undef WORK
}

KERNEL_INLINE void long_softmax_grad(const int element) {
  const team_t team = team_of(8);
  const int is_scaled = load_scale(&team);
  for (uint32_t row = team.row; row < team.g->rows; row += team.step) {
    long_softmax_grad_sum(&team, row, element);
    combine(8, TILE_SIMT_ADD, 6);
    long_softmax_grad_results(&team, row, element, is_scaled);
  }
}

// Gradient of layer norm. With x^ the normalised row and g = dy gamma: scale (g - mean g - x^ mean(g x^)). As the mean
// of x^ is 0, g less its mean does for the second mean, too. Sums over rows: of dy x^ in 4, of dy in 5.

// Rows of gamma that a tile has.
KERNEL_INLINE uint64_t gamma_shape(const team_t* team, uint32_t rows) {
  return tile_shape(rows, min_u32(OPS_ROWS_PIECE, team->bytes), 0);
}

KERNEL_INLINE void layer_norm_grad(const int wide, const int element) {
  const team_t team = team_of(wide);
  const ops_rows_arguments_t* const g = team.g;
  const int has_sums = g->parts != 0;
  load_constants(&team);
  if (team.row >= g->rows) return;
  for (uint32_t row = team.row; row < g->rows; row += team.step) {
    const uint32_t rows = min_u32(g->rows_each, g->rows - row);
    const uint64_t shape = piece_shape(&team, 0, rows);
    tile_load(R(0), piece_at(&team, g->in[0], row, 0), shape, element, 0);
    tile_load(R(1), piece_at(&team, g->in[1], row, 0), shape, element, 0);
    tile_load(R(7), piece_at(&team, g->in[2], 0, 0), gamma_shape(&team, rows), element, 0);
    widen(2, 0, element);
    SIMT(COPY, 3, 2, 2);
    row_column(TILE_SIMT_ROW_SUM, 6, 3);
    mean(wide, 6);
    SIMT(SUB, 2, 2, 6);
    SIMT(MUL, 3, 2, 2);
    row_column(TILE_SIMT_ROW_SUM, 6, 3);
    mean(wide, 6);
    scale_of(6);
    SIMT(MUL, 2, 2, 6);  // x^
    widen(3, 1, element);
    if (has_sums) SIMT(MUL, 0, 3, 2);
    if (has_sums && row == team.row) {
      SIMT(COPY, 4, 0, 0);
      SIMT(COPY, 5, 3, 3);
    } else if (has_sums) {
      SIMT(ADD, 4, 4, 0);
      SIMT(ADD, 5, 5, 3);
    }
    widen(0, 7, element);
    SIMT(MUL, 3, 3, 0);  // g
    SIMT(COPY, 0, 3, 3);
    row_column(TILE_SIMT_ROW_SUM, 7, 0);
    mean(wide, 7);
    SIMT(SUB, 3, 3, 7);
    SIMT(MUL, 0, 3, 2);
    row_column(TILE_SIMT_ROW_SUM, 7, 0);
    mean(wide, 7);
    SIMT(MUL, 2, 2, 7);
    SIMT(SUB, 3, 3, 2);
    SIMT(MUL, 3, 3, 6);
    narrow(1, 3, element);
    if (g->out != 0) tile_store(R(1), piece_at(&team, g->out, row, 0), shape, element);
  }
  if (!has_sums) return;
  const uint32_t wider = element == STRETTO_FP32 ? 1 : 2;  // FP32 to the element.
  const uint32_t row_bytes = g->row_bytes * wider, bytes = team.bytes * wider;
  const uint64_t to = g->parts + (uint64_t)team.row * 2 * row_bytes + team.at * wider;
  tile_store(R(4), to, tile_shape(1, bytes, 0), STRETTO_FP32);
  tile_store(R(5), to + row_bytes, tile_shape(1, bytes, 0), STRETTO_FP32);
}

// Rows of any length, read three times. Scale and mean are in LDS, so that 5 and 6 are free for the sums of g and of
// g x^. Parts of sums over rows stay in memory: registers hold no such row in FP32.
#define ROW_SCALE TILE_L(10)
#define ROW_MEAN TILE_L(11)

// 3 <- g, 4 <- x^ of piece i.
KERNEL_INLINE void long_layer_norm_grad_piece(const team_t* team, uint32_t row, uint32_t i,
                                              const int element) {
  const ops_rows_arguments_t* const g = team->g;
  const uint64_t shape = piece_shape(team, i, 1);
  tile_load(R(0), piece_at(team, g->in[0], row, i), shape, element, 0);
  tile_load(R(1), piece_at(team, g->in[1], row, i), shape, element, 0);
  tile_load(R(2), piece_at(team, g->in[2], 0, i), shape, element, 0);
  widen(3, 1, element);
  widen(4, 2, element);
  SIMT(MUL, 3, 3, 4);
  widen(4, 0, element);
  tile_simt(TILE_SIMT_SUB, R(4), R(4), ROW_MEAN);
  tile_simt(TILE_SIMT_MUL, R(4), R(4), ROW_SCALE);
}

// The part at `to` grows by `from`, FP32; or begins with it. 0 is in between.
KERNEL_INLINE void add_to_part(uint64_t to, uint64_t shape, int is_first, const int from) {
  if (!is_first) {
    tile_load(R(0), to, shape, STRETTO_FP32, 0);
    SIMT(ADD, from, from, 0);
  }
  tile_store(R(from), to, shape, STRETTO_FP32);
}

// dy of piece i is in 1, x^ in 4; 0 and 2 are in between.
KERNEL_INLINE void add_to_parts(const team_t* team, uint32_t i, int is_first, const int element) {
  const uint32_t wider = element == STRETTO_FP32 ? 1 : 2;  // FP32 to the element.
  const uint32_t row_bytes = team->g->row_bytes * wider, at = i * OPS_ROWS_PIECE;
  const uint64_t to =
      team->g->parts + (uint64_t)team->row * 2 * row_bytes + (uint64_t)(team->at + at) * wider;
  const uint64_t shape = tile_shape(1, min_u32(OPS_ROWS_PIECE, team->bytes - at) * wider, 0);
  widen(2, 1, element);
  add_to_part(to + row_bytes, shape, is_first, 2);
  widen(2, 1, element);
  SIMT(MUL, 2, 2, 4);
  add_to_part(to, shape, is_first, 2);
}

KERNEL_INLINE void long_layer_norm_grad(const int element) {
  const team_t team = team_of(8);
  const uint32_t pieces = (team.bytes + OPS_ROWS_PIECE - 1) / OPS_ROWS_PIECE;
  load_constants(&team);
  for (uint32_t row = team.row; row < team.g->rows; row += team.step) {
    long_layer_norm_moments(&team, row, element);
    if (tile_csr(TILE_CSR_WF_ID) == 0) {
      tile_simt(TILE_SIMT_COPY, ROW_SCALE, R(5), R(5));
      tile_simt(TILE_SIMT_COPY, ROW_MEAN, R(6), R(6));
    }
    tile_barrier();
    load_word(&team, 5, OPS_ROWS_ZERO);
    load_word(&team, 6, OPS_ROWS_ZERO);
    if (team.g->parts != 0) tile_wait(0);  // For those of the row before.
    for (uint32_t i = 0; i < pieces; ++i) {
      long_layer_norm_grad_piece(&team, row, i, element);
      if (team.g->parts != 0) add_to_parts(&team, i, row == team.row, element);
      SIMT(MUL, 4, 4, 3);
      row_column(TILE_SIMT_ROW_SUM, 7, 3);
      SIMT(ADD, 5, 5, 7);
      row_column(TILE_SIMT_ROW_SUM, 7, 4);
      SIMT(ADD, 6, 6, 7);
    }
    if (team.g->out == 0) continue;
    mean(8, 5);
    mean(8, 6);
    for (uint32_t i = 0; i < pieces; ++i) {
      long_layer_norm_grad_piece(&team, row, i, element);
      SIMT(SUB, 3, 3, 5);
      SIMT(MUL, 4, 4, 6);
      SIMT(SUB, 3, 3, 4);
      tile_simt(TILE_SIMT_MUL, R(3), R(3), ROW_SCALE);
      narrow(1, 3, element);
      tile_store(R(1), piece_at(&team, team.g->out, row, i), piece_shape(&team, i, 1), element);
    }
  }
}

#define KERNEL(name, wavefronts_, registers, call)                                          \
  void name(void) {                                                                         \
    call;                                                                                   \
    tile_end();                                                                             \
    __builtin_unreachable();                                                                \
  }                                                                                         \
  STRETTO_KERNEL(name, .type = STRETTO_KERNEL_SIMT,                                         \
                 .registers_bytes = (wavefronts_) * (registers), .lds_bytes = OPS_ROWS_LDS, \
                 .private_bytes = 512, .wavefronts = wavefronts_,                           \
                 .kernarg_bytes = sizeof(ops_rows_arguments_t))

#define ROWS_KERNEL(name, element, wide, wavefronts, call) \
  KERNEL(name##_w##wide, wavefronts, OPS_ROWS_REGISTERS, call(wide, element))
#define OF_ELEMENT(name, element)                                                        \
  ROWS_KERNEL(softmax_##name, element, 1, 4, softmax);                                   \
  ROWS_KERNEL(softmax_##name, element, 4, 4, softmax);                                   \
  ROWS_KERNEL(softmax_##name, element, 8, 8, softmax);                                   \
  KERNEL(softmax_##name##_long, 8, OPS_ROWS_REGISTERS, long_softmax(element));           \
  ROWS_KERNEL(layer_norm_##name, element, 1, 4, layer_norm);                             \
  ROWS_KERNEL(layer_norm_##name, element, 4, 4, layer_norm);                             \
  ROWS_KERNEL(layer_norm_##name, element, 8, 8, layer_norm);                             \
  KERNEL(layer_norm_##name##_long, 8, OPS_ROWS_REGISTERS, long_layer_norm(element));     \
  ROWS_KERNEL(softmax_grad_##name, element, 1, 4, softmax_grad);                         \
  ROWS_KERNEL(softmax_grad_##name, element, 4, 4, softmax_grad);                         \
  ROWS_KERNEL(softmax_grad_##name, element, 8, 8, softmax_grad);                         \
  KERNEL(softmax_grad_##name##_long, 8, OPS_ROWS_REGISTERS, long_softmax_grad(element)); \
  KERNEL(layer_norm_grad_##name##_w1, 4, OPS_ROWS_LAYER_NORM_GRAD_REGISTERS,             \
         layer_norm_grad(1, element));                                                   \
  KERNEL(layer_norm_grad_##name##_w4, 4, OPS_ROWS_LAYER_NORM_GRAD_REGISTERS,             \
         layer_norm_grad(4, element));                                                   \
  KERNEL(layer_norm_grad_##name##_w8, 8, OPS_ROWS_LAYER_NORM_GRAD_REGISTERS,             \
         layer_norm_grad(8, element));                                                   \
  KERNEL(layer_norm_grad_##name##_long, 8, OPS_ROWS_LAYER_NORM_GRAD_REGISTERS,           \
         long_layer_norm_grad(element))
OF_ELEMENT(fp16, STRETTO_FP16);
#ifndef OPS_FP16_ALONE
OF_ELEMENT(bf16, STRETTO_BF16);
OF_ELEMENT(fp32, STRETTO_FP32);
#endif
