// SPDX-License-Identifier: Apache-2.0
// Rows by index, see index.h. Indices are scalar loads of two; a wavefront waits for them, others go on.
#include "sw/kernels/ops/index.h"

#include "sw/kernels/ops/walk.h"

#define R TILE_R

KERNEL_INLINE const ops_index_arguments_t* arguments(void) {
  return (const ops_index_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
}

KERNEL_INLINE uint64_t read_two(uint64_t address) {
  return *(const volatile uint64_t*)(uintptr_t)address;
}

// A wavefront's walk over an index list; two at a time.
typedef struct list {
  uint64_t indices;
  uint64_t two;
  uint32_t at;  // The next.
  uint32_t end;
  int is_read;  // `two` has it.
} list_t;

KERNEL_INLINE uint32_t next_index(list_t* l) {
  const uint32_t at = l->at++;
  if (l->indices == 0) return at;
  if (!l->is_read || at % 2 == 0) l->two = read_two(l->indices + (uint64_t)(at & ~1u) * 4);
  l->is_read = 1;
  return (uint32_t)(at % 2 == 0 ? l->two : l->two >> 32);
}

// Gather: wavefronts take blocks of eight results in turn.

#define BLOCK 8u

typedef struct gather {
  const ops_index_arguments_t* g;
  list_t list;
  uint64_t from;                  // The row that is loaded.
  uint32_t loaded, stored;        // Rows,
  uint32_t loaded_at, stored_at;  // and bytes of them.
  uint32_t step;
} gather_t;

KERNEL_INLINE uint32_t behind(uint32_t row, uint32_t step) {
  return (row + 1) % BLOCK != 0 ? row + 1 : row + 1 + step;
}

KERNEL_INLINE void gather_load(gather_t* w, const int t, uint32_t piece) {
  const ops_index_arguments_t* const g = w->g;
  if (w->loaded >= g->count) return;
  if (w->loaded_at == 0) {
    w->list.at = w->loaded;
    w->from = g->table + (uint64_t)next_index(&w->list) * g->row_bytes;
  }
  tile_load(R(t), w->from + w->loaded_at,
            tile_shape(1, min_u32(piece, g->row_bytes - w->loaded_at), 0), STRETTO_BYTE, 0);
  w->loaded_at += piece;
  if (w->loaded_at < g->row_bytes) return;
  w->loaded_at = 0;
  w->loaded = behind(w->loaded, w->step);
}

KERNEL_INLINE int gather_store(gather_t* w, const int t, uint32_t piece) {
  const ops_index_arguments_t* const g = w->g;
  if (w->stored >= g->count) return 0;
  tile_store(R(t), g->out + (uint64_t)w->stored * g->row_bytes + w->stored_at,
             tile_shape(1, min_u32(piece, g->row_bytes - w->stored_at), 0), STRETTO_BYTE);
  w->stored_at += piece;
  if (w->stored_at < g->row_bytes) return 1;
  w->stored_at = 0;
  w->stored = behind(w->stored, w->step);
  return 1;
}

KERNEL_INLINE void gather(uint32_t piece) {
  const uint32_t first = wavefront() * BLOCK;
  gather_t w = {.g = arguments(),
                .list = {.indices = arguments()->indices},
                .loaded = first,
                .stored = first,
                .step = (wavefronts() - 1) * BLOCK};
#define LOAD(s) gather_load(&w, s, piece)
#define WORK(s) \
  if (!gather_store(&w, s, piece)) return
  WALK_8(LOAD, WORK)
#undef LOAD
#undef WORK
}

// Gather of columns: an item is an index and a piece of rows; wavefronts take blocks of eight in turn.

typedef struct columns {
  const ops_index_arguments_t* g;
  list_t list;
  uint32_t loaded, stored, step, items;
  uint32_t piece;  // Rows.
} columns_t;

KERNEL_INLINE uint64_t columns_shape(const columns_t* w, uint32_t row, uint32_t pitch) {
  return tile_shape(min_u32(w->piece, w->g->columns - row), w->g->row_bytes, pitch);
}
KERNEL_INLINE void columns_load(columns_t* w, const int t) {
  const ops_index_arguments_t* const g = w->g;
  if (w->loaded >= w->items) return;
  const uint32_t row = w->loaded / g->count * w->piece;
  const uint32_t at = w->loaded % g->count;
  if (w->loaded % BLOCK == 0 || at == 0) w->list.is_read = 0;
  w->list.at = at;
  tile_load(R(t),
            g->table + (uint64_t)row * g->pitch + (uint64_t)next_index(&w->list) * g->row_bytes,
            columns_shape(w, row, g->pitch), STRETTO_BYTE, 0);
  w->loaded = behind(w->loaded, w->step);
}
KERNEL_INLINE int columns_store(columns_t* w, const int t) {
  const ops_index_arguments_t* const g = w->g;
  if (w->stored >= w->items) return 0;
  const uint32_t row = w->stored / g->count * w->piece, pitch = g->count * g->row_bytes;
  tile_store(R(t), g->out + (uint64_t)row * pitch + (uint64_t)(w->stored % g->count) * g->row_bytes,
             columns_shape(w, row, pitch), STRETTO_BYTE);
  w->stored = behind(w->stored, w->step);
  return 1;
}

KERNEL_INLINE void take_columns(void) {
  const ops_index_arguments_t* const g = arguments();
  const uint32_t first = wavefront() * BLOCK;
  columns_t w = {.g = g,
                 .list = {.indices = g->indices},
                 .loaded = first,
                 .stored = first,
                 .step = (wavefronts() - 1) * BLOCK,
                 .piece = ops_gather_rows(g->row_bytes)};
  w.items = (g->columns + w.piece - 1) / w.piece * g->count;
#define LOAD(s) columns_load(&w, s)
#define WORK(s) \
  if (!columns_store(&w, s)) return
  WALK_8(LOAD, WORK)
#undef LOAD
#undef WORK
}

// Bags: wavefronts take segments in turn. Tiles 0 to 3 hold rows, 4 one in FP32, 5 the sum, 6 what is stored.

typedef struct bag {
  const ops_index_arguments_t* g;
  list_t list;
  uint32_t at, columns;    // Piece of the rows,
  uint32_t slice, slices;  // in so many slices.
  int summed;
} bag_t;

KERNEL_INLINE uint32_t bytes_of(const int element) { return element == STRETTO_FP32 ? 4 : 2; }

// Row `row` of matrices of that pitch, from the piece's first column on.
KERNEL_INLINE uint64_t bag_at(const bag_t* b, uint64_t matrix, uint32_t pitch, uint32_t row,
                              const int element) {
  return matrix + (uint64_t)b->slice * pitch +
         ((uint64_t)row * b->g->columns + b->at) * bytes_of(element);
}
KERNEL_INLINE uint64_t bag_shape(const bag_t* b, uint32_t pitch, const int element) {
  return tile_shape(b->slices, b->columns * bytes_of(element), pitch);
}

KERNEL_INLINE void bag_load(bag_t* b, const int t, const int element) {
  if (b->list.at == b->list.end) return;
  const uint32_t row = next_index(&b->list);
  tile_load(R(t), bag_at(b, b->g->table, b->g->pitch, row, element),
            bag_shape(b, b->g->pitch, element), element, 0);
}

KERNEL_INLINE void bag_add(bag_t* b, const int t, const int element) {
  if (!b->summed) {
    widen(5, t, element);
    b->summed = 1;
    return;
  }
  widen(4, t, element);
  tile_simt(TILE_SIMT_ADD, R(5), R(5), R(4));
}

KERNEL_INLINE void bag_piece(bag_t b, uint64_t list, uint64_t place, const int from,
                             const int element) {
  const ops_index_arguments_t* const g = b.g;
  const uint32_t first = (uint32_t)list, count = (uint32_t)(list >> 32), row = (uint32_t)place;
  const int is_part = place >> 32 != 0;
  b.list = (list_t){.indices = g->indices, .at = first, .end = first + count};
  bag_load(&b, 0, from);
  bag_load(&b, 1, from);
  bag_load(&b, 2, from);
  bag_load(&b, 3, from);
  if (g->base != 0 && !is_part) {
    tile_load(R(6), bag_at(&b, g->base, g->out_pitch, row, element),
              bag_shape(&b, g->out_pitch, element), element, 0);
    widen(5, 6, element);
    b.summed = 1;
  }
  if (count == 0 && !b.summed) {  // Zeros of an accumulator that nothing is added to.
    tile_zero(TILE_A(0), b.slices | (uint64_t)b.columns << 16);
    tile_epilogue(R(5), TILE_A(0), (uint64_t)b.slices << 16 | (uint64_t)b.columns << 48,
                  STRETTO_FP32);
  }
#define STEP(t)           \
  if (left-- == 0) break; \
  bag_add(&b, t, from);   \
  bag_load(&b, t, from)
  for (uint32_t left = count;;) {
    STEP(0);
    STEP(1);
    STEP(2);
    STEP(3);
  }
#undef STEP
  if (is_part) {
    tile_store(R(5), bag_at(&b, g->parts, g->parts_pitch, row, STRETTO_FP32),
               bag_shape(&b, g->parts_pitch, STRETTO_FP32), STRETTO_FP32);
    return;
  }
  narrow(6, 5, element);
  tile_store(R(6), bag_at(&b, g->out, g->out_pitch, row, element),
             bag_shape(&b, g->out_pitch, element), element);
}

KERNEL_INLINE void bag(uint32_t columns, const int from, const int element) {
  const ops_index_arguments_t* const g = arguments();
  const uint32_t together = g->slices == 1 ? 1 : ops_bag_slices(g, columns);
  uint32_t i = wavefront();
  for (uint32_t slice = 0;; i += wavefronts()) {
    for (; i >= g->count; i -= g->count) slice += together;
    if (slice >= g->slices) return;
    const uint64_t segment = g->segments + (uint64_t)i * sizeof(ops_index_segment_t);
    const uint64_t list = read_two(segment), place = read_two(segment + 8);
    for (uint32_t at = 0; at < g->columns; at += columns)
      bag_piece((bag_t){.g = g,
                        .at = at,
                        .columns = min_u32(columns, g->columns - at),
                        .slice = slice,
                        .slices = min_u32(together, g->slices - slice)},
                list, place, from, element);
  }
}

#define KERNEL(name, registers, call)                                             \
  void name(void) {                                                               \
    call;                                                                         \
    tile_end();                                                                   \
    __builtin_unreachable();                                                      \
  }                                                                               \
  STRETTO_KERNEL(name, .type = STRETTO_KERNEL_SIMT, .registers_bytes = registers, \
                 .private_bytes = 512, .wavefronts = OPS_INDEX_WAVEFRONTS,        \
                 .kernarg_bytes = sizeof(ops_index_arguments_t))

KERNEL(gather_256, OPS_GATHER_REGISTERS(256), gather(256));
KERNEL(gather_2048, OPS_GATHER_REGISTERS(2048), gather(2048));
KERNEL(gather_columns, OPS_GATHER_REGISTERS(OPS_GATHER_COLUMNS_PIECE), take_columns());
#define BAG(name, from, element, columns)                                              \
  KERNEL(name##_##columns, OPS_BAG_REGISTERS(columns, (from) == STRETTO_FP32 ? 4 : 2), \
         bag(columns, from, element))
#define OF_ELEMENT(name, element)                    \
  BAG(bag_##name, element, element, 256);            \
  BAG(bag_##name, element, element, 1024);           \
  BAG(bag_parts_##name, STRETTO_FP32, element, 256); \
  BAG(bag_parts_##name, STRETTO_FP32, element, 1024)
OF_ELEMENT(fp16, STRETTO_FP16);
#ifndef OPS_FP16_ALONE
OF_ELEMENT(bf16, STRETTO_BF16);
OF_ELEMENT(fp32, STRETTO_FP32);
#endif
