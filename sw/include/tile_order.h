// SPDX-License-Identifier: Apache-2.0
// The order in which a kernel's work-groups take the tiles of its output: id of a tile from its row
// and column, and back. Kernels, firmware, host programs (C) and models (C++).
//
// An output of tiles_m x tiles_n tiles is cut into strips of 8, 4, 2 or 1 tiles across. Ids run
// through one strip after the other; in a strip along it, all tiles across before the next step.
// Strips lie along the rows of the output (a step is a column of 8 tiles), or, TILE_ORDER_DOWN, along
// its columns. An order is a byte: log2 of the tiles across, and the direction.
//
//   rows      one tile across, along the rows: id = row x tiles_n + column
//   strips    as CUTLASS's GemmIdentityThreadblockSwizzle<8>: operands of 8 x 20 resident tiles are
//             fewer than of 5 x 34. Along the shorter side, so that what a strip streams is short, too.
//             All strips are equally wide, so 8, 4, 2, 1 is the largest that divides the tiles of the
//             other side (CUTLASS lets work-groups of a wider last strip exit; ids would have gaps).
#ifndef STRETTO_SW_INCLUDE_TILE_ORDER_H_
#define STRETTO_SW_INCLUDE_TILE_ORDER_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define TILE_ORDER_ROWS 0u
#define TILE_ORDER_WIDTH 3u  // Bits: log2 of the tiles across a strip.
#define TILE_ORDER_DOWN 4u   // Bit: strips lie along columns of the output.
#define TILE_ORDER_CODES 8u

typedef struct tile_order {
  uint32_t along;  // Tiles along a strip.
  uint32_t width;  // log2 of the tiles across it.
  uint32_t down;
} tile_order_t;

typedef struct tile_place {
  uint32_t row;
  uint32_t column;
} tile_place_t;

// Tile rows [row, row_end) x tile columns [column, column_end).
typedef struct tile_rectangle {
  uint32_t row, row_end;
  uint32_t column, column_end;
} tile_rectangle_t;

#define TILE_ORDER_RECTANGLES 5u  // That a run of ids takes at most.

static inline tile_order_t tile_order(uint32_t code, uint32_t tiles_m, uint32_t tiles_n) {
  const uint32_t down = (code & TILE_ORDER_DOWN) != 0;
  const tile_order_t order = {down ? tiles_m : tiles_n, code & TILE_ORDER_WIDTH, down};
  return order;
}

// Whether all strips of such an order are equally wide.
static inline int tile_order_fits(uint32_t code, uint32_t tiles_m, uint32_t tiles_n) {
  const uint32_t side = (code & TILE_ORDER_DOWN) != 0 ? tiles_n : tiles_m;
  return code < TILE_ORDER_CODES && side % (1u << (code & TILE_ORDER_WIDTH)) == 0;
}

// The order `strips` of an output of m x n elements.
static inline uint32_t tile_order_strips(uint32_t m, uint32_t n, uint32_t tiles_m,
                                         uint32_t tiles_n) {
  uint32_t code = TILE_ORDER_WIDTH | (m < n ? TILE_ORDER_DOWN : 0);
  while (!tile_order_fits(code, tiles_m, tiles_n)) --code;  // One tile across always fits.
  return code;
}

// Always inline: kernels have no calls.
__attribute__((always_inline)) static inline tile_place_t tile_order_place(
    const tile_order_t* order, uint32_t id) {
  const uint32_t step = id >> order->width;
  const uint32_t strip = step / order->along;
  const uint32_t along = step - strip * order->along;
  const uint32_t across = (strip << order->width) | (id & ((1u << order->width) - 1));
  const tile_place_t place = {order->down ? along : across, order->down ? across : along};
  return place;
}

static inline uint32_t tile_order_id(const tile_order_t* order, uint32_t row, uint32_t column) {
  const uint32_t across = order->down ? column : row;
  const uint32_t along = order->down ? row : column;
  const uint32_t mask = (1u << order->width) - 1;
  return (((across >> order->width) * order->along + along) << order->width) | (across & mask);
}

// The tiles [across, across_end) x [along, along_end) as a rectangle; returns how many there are now.
static inline uint32_t tile_order_add_rectangle(const tile_order_t* order, uint32_t across,
                                                uint32_t across_end, uint32_t along,
                                                uint32_t along_end, tile_rectangle_t* rectangles,
                                                uint32_t count) {
  if (across == across_end || along == along_end) return count;
  if (order->down) {
    const tile_rectangle_t rectangle = {along, along_end, across, across_end};
    rectangles[count] = rectangle;
  } else {
    const tile_rectangle_t rectangle = {across, across_end, along, along_end};
    rectangles[count] = rectangle;
  }
  return count + 1;
}

// The part of a strip from tile `begin` of the strip to `end`: the rest of a step, whole steps, the
// beginning of a step.
static inline uint32_t tile_order_add_part(const tile_order_t* order, uint32_t strip,
                                           uint32_t begin, uint32_t end,
                                           tile_rectangle_t* rectangles, uint32_t count) {
  const uint32_t width = 1u << order->width;
  const uint32_t base = strip << order->width;
  const uint32_t first = begin >> order->width, head = begin & (width - 1);
  const uint32_t last = end >> order->width, tail = end & (width - 1);
  if (first == last)
    return tile_order_add_rectangle(order, base + head, base + tail, first, first + 1, rectangles,
                                    count);
  if (head != 0)
    count = tile_order_add_rectangle(order, base + head, base + width, first, first + 1, rectangles,
                                     count);
  count = tile_order_add_rectangle(order, base, base + width, first + (head != 0), last, rectangles,
                                   count);
  return tile_order_add_rectangle(order, base, base + tail, last, last + 1, rectangles, count);
}

// The run of tiles first .. first + count - 1 as rectangles that do not overlap; returns how many.
static inline uint32_t tile_order_rectangles(const tile_order_t* order, uint32_t first,
                                             uint32_t count,
                                             tile_rectangle_t rectangles[TILE_ORDER_RECTANGLES]) {
  const uint32_t tiles = order->along << order->width;  // Of a strip.
  const uint32_t end = first + count;
  const uint32_t strip = first / tiles, begin = first % tiles;
  const uint32_t last = end / tiles, rest = end % tiles;
  if (strip == last) return tile_order_add_part(order, strip, begin, rest, rectangles, 0);
  uint32_t added = 0;
  if (begin != 0) added = tile_order_add_part(order, strip, begin, tiles, rectangles, 0);
  added = tile_order_add_rectangle(order, (strip + (begin != 0)) << order->width,
                                   last << order->width, 0, order->along, rectangles, added);
  return rest == 0 ? added : tile_order_add_part(order, last, 0, rest, rectangles, added);
}

#endif  // STRETTO_SW_INCLUDE_TILE_ORDER_H_
