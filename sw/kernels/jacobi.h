// SPDX-License-Identifier: Apache-2.0
// Arguments and notes of the kernels of a Jacobi relaxation over several servers (ComP-Net 5.3), for
// jacobi.c and for those who launch them and check what is left.
//
// The grid of all servers is cut into bands of rows, a server's band into bands of its work-groups.
// An element becomes ((above + below) + (left + right)) * factor, FP32, rounded after each; columns
// -1 and `columns` and the rows beyond the grid stay as they are. Iteration i = 1, 2, .. reads grid
// and halo of parity (i - 1) % 2 and writes those of i % 2.
//
// Residual of an iteration: the sum of (new - old)^2, FP32, rounded after each, of columns in pieces
// of JACOBI_CHUNK_BYTES ascending; then of pieces, row by row, of a work-group's band; then of
// work-groups; then of servers; all ascending.
#ifndef STRETTO_SW_KERNELS_JACOBI_H_
#define STRETTO_SW_KERNELS_JACOBI_H_

#include "sw/include/formats/shmem_queue.h"

#define JACOBI_WAVEFRONTS 4u
#define JACOBI_CHUNK_BYTES 4096u  // Of a row, at most, in a tile.
#define JACOBI_MAX_PIECES 2048u   // Of the rows of a work-group's band: one row of a tile.
// Of a work-group: five tiles of a piece and the factor for each wavefront, and what reductions need
// beside one row of pieces.
#define JACOBI_REGISTERS_BYTES \
  (JACOBI_WAVEFRONTS * (5 * JACOBI_CHUNK_BYTES + 64) + JACOBI_CHUNK_BYTES)
#define JACOBI_MAX_COLUMNS 16384u

enum { JACOBI_ABOVE, JACOBI_BELOW, JACOBI_SIDES };

// Moments of an iteration, at work-group 0.
enum {
  JACOBI_HALO,     // The halo above was there,
  JACOBI_SWEPT,    // the band of this work-group is done,
  JACOBI_REDUCED,  // those of all work-groups, and the residual of this server,
  JACOBI_DECIDED,  // and of all servers: the next one begins.
  JACOBI_MOMENTS,
};
typedef struct jacobi_note {
  uint64_t cycle[JACOBI_MOMENTS];
  uint32_t residual;  // Bits: of all servers; jacobi_sweep: of this one.
  uint32_t reserved;
} jacobi_note_t;

typedef struct jacobi_notes {
  uint64_t begin;  // Cycle.
  uint64_t iterations;
  uint64_t failed;  // Status of the first operation that failed, of any work-group.
  uint64_t reserved;
  jacobi_note_t iteration[];
} jacobi_notes_t;

// jacobi_relax: all iterations, until the residual is below `stop`. Halos are put by the work-groups
// of the first and last rows as soon as these are there, while others still work inside.
// jacobi_sweep: iteration `iteration` alone, whose halos are there; the edges are left in `edge`.
typedef struct jacobi_arguments {
  stretto_shmem_handle_t shmem;
  uint64_t grid[2];                // Element (0, 0), by parity; a multiple of 64.
  uint64_t halo[2][JACOBI_SIDES];  // Rows above and below the band, in the heap, by parity.
  uint64_t edge[2][JACOBI_SIDES];  // First and last row, likewise: where they are put from.
  uint64_t signal[JACOBI_SIDES];   // Words of the heap: iteration whose halo is there.
  uint64_t residual;               // Words of the heap: of this PE, of all.
  uint64_t pieces;                 // FP32, JACOBI_MAX_PIECES a work-group.
  uint64_t sums;                   // FP32, one a work-group.
  uint64_t factor;                 // FP32.
  uint64_t arrived;                // Word: work-groups that have ended an iteration.
  uint64_t decision;               // Word: 2 x iteration, + 1 if it is the last one.
  uint64_t notes;
  uint32_t rows, columns;  // Of this server.
  uint32_t pitch;          // Bytes from a row to the next.
  uint32_t rows_each;      // Of an interior piece, at most; JACOBI_CHUNK_BYTES in all.
  uint32_t iterations;     // At most.
  uint32_t stop;           // Bits of an FP32 number.
  uint32_t iteration;
  uint32_t reserved;
} jacobi_arguments_t;

#endif  // STRETTO_SW_KERNELS_JACOBI_H_
