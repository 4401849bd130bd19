// SPDX-License-Identifier: Apache-2.0
// Sums over all rows as stages, see stages.h: fan-in, whose work-groups sum the tiles that they get, first to last, and
// final, which adds their sums in a tree. Nothing depends on who came first.
#include "sw/kernels/stages/stage.h"

#define R TILE_R

KERNEL_INLINE uint32_t replicas(const stage_arguments_t* g) {
  return (uint32_t)tile_csr(TILE_CSR_GRID) / g->parts;
}

// Products. Wavefront 0 loads and multiplies steps of 64 rows, all store. Buffer b: LDS tiles b and 8 + b hold columns of
// both matrices, 4 + b those of the second block.

typedef struct block {
  uint32_t row, column;  // Of the result.
  uint32_t rows, columns;
} block_t;

typedef struct part {
  const stage_arguments_t* g;
  block_t block[2];
  int is_below, has_second;
} part_t;

KERNEL_INLINE block_t block_at(const stage_arguments_t* g, uint32_t row, uint32_t column) {
  const block_t block = {row, column, min_u32(STAGE_BLOCK, g->columns[0] - row),
                         min_u32(STAGE_BLOCK, g->columns[1] - column)};
  return block;
}

KERNEL_INLINE part_t part_of(const stage_arguments_t* g, uint32_t number) {
  const uint32_t m = g->columns[0], n = g->columns[1];
  part_t part = {.g = g, .is_below = n <= STAGE_BLOCK};
  if (part.is_below) {
    const uint32_t row = 2 * number * STAGE_BLOCK;
    part.block[0] = block_at(g, row, 0);
    part.has_second = row + STAGE_BLOCK < m;
    if (part.has_second) part.block[1] = block_at(g, row + STAGE_BLOCK, 0);
    return part;
  }
  const uint32_t across = (STAGE_BLOCKS(n) + 1) / 2;
  const uint32_t row = number / across * STAGE_BLOCK, column = number % across * 2 * STAGE_BLOCK;
  part.block[0] = block_at(g, row, column);
  part.has_second = column + STAGE_BLOCK < n;
  if (part.has_second) part.block[1] = block_at(g, row, column + STAGE_BLOCK);
  return part;
}

KERNEL_INLINE void load_columns(const stage_arguments_t* g, const int t, const int input,
                                uint32_t tile, uint32_t row, uint32_t rows, uint32_t column,
                                uint32_t columns) {
  const stage_edge_t* const edge = &g->in[input];
  tile_load(t, edge_place(g, edge, tile) + (uint64_t)row * edge->pitch + column * 2,
            tile_shape(rows, columns * 2, edge->pitch), STRETTO_FP16, 0);
}

KERNEL_INLINE void load_step(const part_t* p, const int buffer, uint32_t tile, uint32_t row,
                             uint32_t rows) {
  const stage_arguments_t* const g = p->g;
  const block_t *const one = &p->block[0], *const other = &p->block[1];
  load_columns(g, TILE_L(buffer), 0, tile, row, rows, one->row, one->rows);
  load_columns(g, TILE_L(8 + buffer), 1, tile, row, rows, one->column, one->columns);
  if (!p->has_second) return;
  if (p->is_below)
    load_columns(g, TILE_L(4 + buffer), 0, tile, row, rows, other->row, other->rows);
  else
    load_columns(g, TILE_L(4 + buffer), 1, tile, row, rows, other->column, other->columns);
}

KERNEL_INLINE void multiply(const part_t* p, const int buffer) {
  tile_mma(TILE_A(0), TILE_L(buffer), TILE_L(8 + buffer), 1, 0, STRETTO_FP16);
  if (!p->has_second) return;
  if (p->is_below)
    tile_mma(TILE_A(1), TILE_L(4 + buffer), TILE_L(8 + buffer), 1, 0, STRETTO_FP16);
  else
    tile_mma(TILE_A(1), TILE_L(buffer), TILE_L(4 + buffer), 1, 0, STRETTO_FP16);
}

// When the last product is issued its operands have been read from the queues.
KERNEL_INLINE void product_tile(const part_t* p, const int buffer, uint32_t tile,
                                uint64_t* waited) {
  const stage_arguments_t* const g = p->g;
  const uint32_t rows = tile_rows_of(g, tile);
  edge_wait(g, &g->in[0], tile, 1, waited);
  edge_wait(g, &g->in[1], tile, 1, waited);
  if (rows <= STAGE_STEP) {
    load_step(p, buffer, tile, 0, rows);
    multiply(p, buffer);
  } else {
    load_step(p, 0, tile, 0, STAGE_STEP);
    load_step(p, 1, tile, STAGE_STEP, rows - STAGE_STEP);
    multiply(p, 0);
    multiply(p, 1);
  }
  edge_add(g, &g->in[0], tile, 0);
  edge_add(g, &g->in[1], tile, 0);
}

// In rows of all columns of the result; a wavefront has a quarter of the rows.
KERNEL_INLINE void store_block(const part_t* p, const int block, uint32_t replica) {
  const block_t* const b = &p->block[block];
  const uint32_t each = STAGE_BLOCK / STAGE_FAN_IN_WAVEFRONTS;
  const uint32_t first = (uint32_t)tile_csr(TILE_CSR_WF_ID) * each;
  const uint32_t end = min_u32(first + each, b->rows), pitch = p->g->columns[1] * 4;
  const uint64_t to = sums_place(&p->g->out, replica) + (uint64_t)b->row * pitch + b->column * 4;
  const uint32_t piece = STAGE_PIECE / (STAGE_BLOCK * 4);
#define PIECE(t, at)                                                                              \
  if ((at) < end) {                                                                               \
    const uint32_t count = min_u32(piece, end - (at));                                            \
    tile_epilogue(R(t), TILE_A(block), (at) | (uint64_t)count << 16 | (uint64_t)b->columns << 48, \
                  STRETTO_FP32);                                                                  \
    tile_store(R(t), to + (uint64_t)(at)*pitch, tile_shape(count, b->columns * 4, pitch),         \
               STRETTO_FP32);                                                                     \
  }
  for (uint32_t row = first; row < end; row += 2 * piece) {
    PIECE(0, row)
    PIECE(1, row + piece)
  }
#undef PIECE
}

KERNEL_INLINE uint64_t block_size(const block_t* b) {
  return (uint64_t)((b->rows + 15) / 16 * 16) | (uint64_t)((b->columns + 15) / 16 * 16) << 16;
}

void stage_fan_in_product(void) {
  const stage_arguments_t* const g = arguments();
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const uint32_t id = (uint32_t)tile_csr(TILE_CSR_WG_ID), tiles = tiles_of(g);
  const uint32_t replica = id / g->parts, step = replicas(g);
  const part_t p = part_of(g, id % g->parts);
  uint64_t waited_in = 0, waited_out = 0;
  if (tile_csr(TILE_CSR_WF_ID) == 0) {
    tile_zero(TILE_A(0), block_size(&p.block[0]));
    if (p.has_second) tile_zero(TILE_A(1), block_size(&p.block[1]));
    for (uint32_t tile = replica; tile < tiles; tile += step) {
      product_tile(&p, 0, tile, &waited_in);
      note_first(g, tile, replica);
      tile += step;
      if (tile >= tiles) break;
      product_tile(&p, 1, tile, &waited_in);
    }
  }
  sums_wait(g, &g->out, replica, &waited_out);
  store_block(&p, 0, replica);
  if (p.has_second) store_block(&p, 1, replica);
  sums_leave(g, &g->out, replica);
  stage_end(g, tile_csr(TILE_CSR_WF_ID) == 0 ? 3 : 0, begin, waited_in, waited_out);
}
STRETTO_KERNEL(stage_fan_in_product, .type = STRETTO_KERNEL_TENSOR,
               .registers_bytes = STAGE_FAN_IN_REGISTERS, .lds_bytes = STAGE_FAN_IN_LDS,
               .private_bytes = 512, .wavefronts = STAGE_FAN_IN_WAVEFRONTS, .tile_m = STAGE_BLOCK,
               .tile_n = STAGE_BLOCK, .kernarg_bytes = sizeof(stage_arguments_t));

// Sums of rows. Tiles 0 to 3 hold pieces, as many rows each as divide a tile's, 4 one in FP32, 5 the sum of those; the
// last piece of all rows may have fewer and stays in 4. A row of ones times both is the wavefront's sum.

typedef struct sum {
  uint64_t from;
  uint32_t pitch, bytes, piece;
  uint32_t rows;  // Of the tile.
  uint32_t loaded, done;
  int is_summed, is_left;
} sum_t;

KERNEL_INLINE void sum_load(sum_t* s, const int t) {
  if (s->loaded >= s->rows) return;
  tile_load(R(t), s->from + (uint64_t)s->loaded * s->pitch,
            tile_shape(min_u32(s->piece, s->rows - s->loaded), s->bytes, s->pitch), STRETTO_FP16,
            0);
  s->loaded += STAGE_MAP_WAVEFRONTS * s->piece;
}
KERNEL_INLINE int sum_work(sum_t* s, const int t) {
  if (s->done >= s->rows) return 0;
  if (s->done + s->piece > s->rows) {
    widen(4, t, STRETTO_FP16);
    s->is_left = 1;
  } else if (!s->is_summed) {
    widen(5, t, STRETTO_FP16);
    s->is_summed = 1;
  } else {
    widen(4, t, STRETTO_FP16);
    tile_simt(TILE_SIMT_ADD, R(5), R(5), R(4));
  }
  s->done += STAGE_MAP_WAVEFRONTS * s->piece;
  return 1;
}
KERNEL_INLINE void sum_tile(sum_t* s) {
#define LOAD(t) sum_load(s, t)
#define WORK(t) \
  if (!sum_work(s, t)) return
  WALK_4(LOAD, WORK)
#undef LOAD
#undef WORK
}

// 6 <- the sum, by way of an accumulator of the wavefront.
KERNEL_INLINE void sum_rows(const sum_t* s, const int accumulator) {
  const uint64_t columns = s->bytes / 2;
  put_ones(7, accumulator, s->piece);
  tile_zero(TILE_A(accumulator), 1 | columns << 16);
  if (s->is_summed) tile_mma(TILE_A(accumulator), R(7), R(5), 0, 0, STRETTO_FP32);
  if (s->is_left) tile_mma(TILE_A(accumulator), R(7), R(4), 0, 0, STRETTO_FP32);
  tile_epilogue(R(6), TILE_A(accumulator), (uint64_t)1 << 16 | columns << 48, STRETTO_FP32);
}

void stage_fan_in_sum(void) {
  const stage_arguments_t* const g = arguments();
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const uint32_t id = (uint32_t)tile_csr(TILE_CSR_WG_ID), tiles = tiles_of(g);
  const uint32_t me = (uint32_t)tile_csr(TILE_CSR_WF_ID);
  const uint32_t replica = id / g->parts, step = replicas(g);
  const uint32_t column = id % g->parts * STAGE_SUM_COLUMNS;
  const uint32_t columns = min_u32(STAGE_SUM_COLUMNS, g->columns[0] - column);
  sum_t s = {.pitch = g->in[0].pitch, .bytes = columns * 2, .piece = 1};
  while (g->tile_rows % (2 * STAGE_MAP_WAVEFRONTS * s.piece) == 0 &&
         2 * s.piece * columns <= STAGE_SUM_COLUMNS)
    s.piece *= 2;
  uint64_t waited_in = 0, waited_out = 0;
  for (uint32_t tile = replica; tile < tiles; tile += step) {
    if (me == 0) edge_wait(g, &g->in[0], tile, 1, &waited_in);
    tile_barrier();
    s.from = edge_place(g, &g->in[0], tile) + column * 2;
    s.rows = tile_rows_of(g, tile);
    s.loaded = s.done = me * s.piece;
    sum_tile(&s);
    tile_wait(0);
    tile_barrier();
    if (me == 0) {
      edge_add(g, &g->in[0], tile, 0);
      note_first(g, tile, replica);
    }
  }
  if (me == 0) sum_rows(&s, 0);
  if (me == 1) sum_rows(&s, 1);
  if (me == 2) sum_rows(&s, 2);
  if (me == 3) sum_rows(&s, 3);
  sums_wait(g, &g->out, replica, &waited_out);
  tile_store(R(6), sums_place(&g->out, replica) + ((uint64_t)me * g->columns[0] + column) * 4,
             tile_shape(1, columns * 4, 0), STRETTO_FP32);
  sums_leave(g, &g->out, replica);
  stage_end(g, me == 0 ? 3 : 0, begin, waited_in, waited_out);
}

// The tree. A wavefront takes pieces of the result in turn. Tiles 0 to 3 hold sums of four that follow each other, 4 to 7
// those of the levels above, each of which has `count` of them so far. A piece of a small result takes a quarter of a
// tile, and a tile `rows` sums, so that the loads of 16 are under way; the rows of the top are a level of their own.

#define LEVELS 4
_Static_assert(STAGE_MAP_WAVEFRONTS == STAGE_TREE, "sections of an entry are the rows of a tile");

KERNEL_INLINE void climb(const int level, uint32_t* count) {
  const int from = level == 0 ? 0 : 3 + level;
  if (*count == 0)
    tile_simt(TILE_SIMT_COPY, R(4 + level), R(from), R(from));
  else
    tile_simt(TILE_SIMT_ADD, R(4 + level), R(4 + level), R(from));
  ++*count;
}

typedef struct tree {
  uint64_t from;
  uint32_t sums, sections, entry_bytes, section_bytes;
  uint32_t bytes;  // Of the piece.
  uint32_t rows;   // Of a tile, sums: 1, or as many as sections, if there are several.
} tree_t;

KERNEL_INLINE void tree_load(const tree_t* tree, const int t, uint32_t sum) {
  if (sum >= tree->sums) return;
  tile_load(R(t),
            tree->from + (uint64_t)(sum / tree->sections) * tree->entry_bytes +
                sum % tree->sections * tree->section_bytes,
            tile_shape(min_u32(tree->rows, tree->sums - sum), tree->bytes,
                       tree->sections == 1 ? tree->entry_bytes : tree->section_bytes),
            STRETTO_FP32, 0);
}

// 7 <- the sum of all tiles that are full.
KERNEL_INLINE void tree_sum(const tree_t* tree) {
  const uint32_t step = tree->rows, end = tree->sums - tree->sums % step;
  uint32_t count[LEVELS] = {0};
  for (uint32_t sum = 0; sum < end; sum += STAGE_TREE * step) {
    tree_load(tree, 0, sum);
    if (sum + step < end) tree_load(tree, 1, sum + step);
    if (sum + 2 * step < end) tree_load(tree, 2, sum + 2 * step);
    if (sum + 3 * step < end) tree_load(tree, 3, sum + 3 * step);
    if (sum + step < end) tile_simt(TILE_SIMT_ADD, R(0), R(0), R(1));
    if (sum + 2 * step < end) tile_simt(TILE_SIMT_ADD, R(0), R(0), R(2));
    if (sum + 3 * step < end) tile_simt(TILE_SIMT_ADD, R(0), R(0), R(3));
    climb(0, &count[0]);
    if (count[0] < STAGE_TREE) continue;
    count[0] = 0;
    climb(1, &count[1]);
    if (count[1] < STAGE_TREE) continue;
    count[1] = 0;
    climb(2, &count[2]);
    if (count[2] < STAGE_TREE) continue;
    count[2] = 0;
    climb(3, &count[3]);
  }
  // What is left of each level, to the top.
  if (count[0] != 0) climb(1, &count[1]);
  if (count[1] != 0) climb(2, &count[2]);
  if (count[2] != 0) climb(3, &count[3]);
}

// 7 <- the sum of its rows, and of those that fill no tile.
KERNEL_INLINE void tree_fold(const tree_t* tree, const int accumulator) {
  const uint32_t left = tree->sums % tree->rows;
  const uint64_t columns = tree->bytes / 4;
  if (left != 0) tree_load(tree, 0, tree->sums - left);
  put_ones(1, accumulator, tree->rows);
  if (left != 0) put_ones(2, accumulator, left);
  tile_zero(TILE_A(accumulator), 1 | columns << 16);
  if (tree->sums > left) tile_mma(TILE_A(accumulator), R(1), R(7), 0, 0, STRETTO_FP32);
  if (left != 0) tile_mma(TILE_A(accumulator), R(2), R(0), 0, 0, STRETTO_FP32);
  tile_epilogue(R(7), TILE_A(accumulator), (uint64_t)1 << 16 | columns << 48, STRETTO_FP32);
}

void stage_final(void) {
  const stage_arguments_t* const g = arguments();
  const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
  const uint32_t me = (uint32_t)tile_csr(TILE_CSR_WF_ID);
  const uint32_t rows = g->elements <= STAGE_FINAL_FOLDS ? STAGE_TREE : 1;
  const uint32_t piece = STAGE_PIECE / 4 / rows;  // Elements.
  const stage_edge_t* const in = &g->in[0];
  const tile_queue_t queue = queue_of(in);
  for (uint32_t i = me; i < in->entries; i += STAGE_MAP_WAVEFRONTS)
    tile_queue_wait_full(&queue, sums_payload(g, in, i));
  tile_barrier();
  const uint64_t waited = tile_csr(TILE_CSR_CYCLE) - begin;
#ifdef STAGE_SKIP_SUM  // For the test that such a run is found out.
  const uint32_t left_out = 1;
#else
  const uint32_t left_out = 0;
#endif
  for (uint32_t at = wavefront() * piece; at < g->elements; at += wavefronts() * piece) {
    const uint32_t count = min_u32(piece, g->elements - at);
    const tree_t tree = {.from = sums_place(in, 0) + (uint64_t)at * 4,
                         .sums = in->entries * g->sections - left_out,
                         .sections = g->sections,
                         .entry_bytes = in->entry_bytes,
                         .section_bytes = g->elements * 4,
                         .bytes = count * 4,
                         .rows = rows};
    tree_sum(&tree);
    if (rows != 1) {
      if (me == 0) tree_fold(&tree, 0);
      if (me == 1) tree_fold(&tree, 1);
      if (me == 2) tree_fold(&tree, 2);
      if (me == 3) tree_fold(&tree, 3);
    }
    narrow(0, 7, STRETTO_FP16);
    tile_store(R(0), g->out.base + (uint64_t)at * 2, tile_shape(1, count * 2, 0), STRETTO_FP16);
  }
  tile_wait(0);
  tile_barrier();
  for (uint32_t i = me; i < in->entries; i += STAGE_MAP_WAVEFRONTS)
    tile_queue_add_free(&queue, sums_payload(g, in, i));
  tile_wait(0);
  stage_end(g, me == 0 ? 3 : 0, begin, waited, 0);
}

#define KERNEL(name)                                                                        \
  STRETTO_KERNEL(name, .type = STRETTO_KERNEL_SIMT, .registers_bytes = STAGE_MAP_REGISTERS, \
                 .private_bytes = 512, .wavefronts = STAGE_MAP_WAVEFRONTS,                  \
                 .kernarg_bytes = sizeof(stage_arguments_t))
KERNEL(stage_fan_in_sum);
KERNEL(stage_final);
