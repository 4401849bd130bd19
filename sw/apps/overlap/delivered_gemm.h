// SPDX-License-Identifier: Apache-2.0
// Host program of one rank: a GEMM C = A B whose output goes to other GPUs as it is made (T3 7.1).
// All ranks are linked, or neighbours in a ring for the all-gather. Output tiles are in row-major
// order; chunk c is the row blocks c T / N .. (c + 1) T / N - 1 of tile_m rows (N divides T).
//
//   all_gather   rank r has the rows of chunk r of A and multiplies these; in the end all have all of
//                C. All have the same B.
//   all_to_all   rank r multiplies all of its A; chunk c goes to rank c, whose C holds in its place s
//                what rank s has made for it. As the experts of a mixture give their tokens back (T3
//                7.2): each has a B of its own, and rows for each rank, up to a capacity.
//   next         all of C goes to rank r + 1, the last rank's to rank 0, and is kept there: stages of
//                a pipeline pass activations on (T3 7.2), in a circle as interleaved ones do.
//
// clang-format off
//   mode         all_gather                                  all_to_all
//   sequential   GEMM, then ring_all_gather                  GEMM, then DMA copies to all peers
//   t3           own chunk dma_map to r - 1, chunks r + 1    chunk c remote_map to rank c, at place r
//                .. r - 2 likewise as they arrive; stores,   with the ids of that place; own chunk local
//                no updates (T3-AG-01)                       (T3-A2A-01)
// clang-format on
//
// next: sequentially a DMA copy; mode t3 maps all of C remotely, and the previous rank's arrives in
// its place (T3-DPPP-01).
//
// In all modes t3 the Tracker counts what arrives, one store an element; a collective wait ends when
// all has.
// Of an all-to-all each chunk is a launch of its own, taken in turn (ring_gemm_rs.h). Before time 0
// the platform puts the contents of A and B where delivered_gemm_plan says.
#ifndef STRETTO_SW_APPS_OVERLAP_DELIVERED_GEMM_H_
#define STRETTO_SW_APPS_OVERLAP_DELIVERED_GEMM_H_

#include "sw/apps/arbiter.h"
#include "sw/apps/memory_plan.h"
#include "sw/apps/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum delivered_gemm_mode {
  DELIVERED_GEMM_SEQUENTIAL,
  DELIVERED_GEMM_T3,
  DELIVERED_GEMM_MODES,
} delivered_gemm_mode_t;

typedef enum delivered_gemm_collective {
  DELIVERED_GEMM_ALL_GATHER,
  DELIVERED_GEMM_ALL_TO_ALL,
  DELIVERED_GEMM_NEXT,
} delivered_gemm_collective_t;

// Accounts (machine_types.h).
enum {
  DELIVERED_GEMM_ACCOUNT_INIT = STRETTO_ACCOUNT_JOB,  // Zeroing.
  DELIVERED_GEMM_ACCOUNT_GEMM,
  DELIVERED_GEMM_ACCOUNT_MOVE,
};

#define DELIVERED_GEMM_MAX_RANKS 8u  // A stream a peer copies.

typedef struct delivered_gemm_parameters {
  delivered_gemm_mode_t mode;
  delivered_gemm_collective_t collective;
  uint32_t rank;
  uint32_t ranks;
  uint32_t m;  // Rows of C.
  uint32_t n;
  uint32_t k;
  int b_k_contiguous;          // B is stored n x k, else k x n. A is stored m x k.
  uint32_t tile_m;             // 16, 128 or 256.
  uint32_t collective_groups;  // Work-groups of ring_all_gather.
  uint32_t block_tiles;        // Wavefront tiles of a DMA block; 0 = 1.
  uint32_t tracker_ways;
  arbiter_parameters_t arbiter;
  host_job_t job;
  stretto_client_options_t client;
  const void* gemm_elf;
  size_t gemm_elf_bytes;
  const void* ring_elf;
  size_t ring_elf_bytes;
} delivered_gemm_parameters_t;

// Where everything lies, as 48-bit addresses of rank `rank`; 0 = not used.
typedef struct delivered_gemm_plan {
  uint64_t a, b, c;
  uint64_t received;  // Laid out like C; sequential all_to_all: all chunks but the own;
                      // sequential next: all.
  uint64_t flags;     // Of ring_all_gather.
  uint64_t words;  // Sequential all_to_all, next: [0] the GEMM has ended, [1 + s] rank s has sent.
  uint64_t spill;
  uint64_t a_bytes, b_bytes, c_bytes, flag_bytes, word_bytes, spill_bytes;
  uint32_t lda, ldb, ldc;  // Bytes between rows as stored.
  uint32_t tiles_m, tiles_n, tiles;
  memory_plan_t memory;
} delivered_gemm_plan_t;

// Name as on the command line ("t3"), or null.
const char* delivered_gemm_mode_name(delivered_gemm_mode_t mode);

// Pure function. STRETTO_ERROR_ARGUMENT: a parameter is out of range; STRETTO_ERROR_TABLE_FULL:
// more than the device memory.
stretto_status_t delivered_gemm_plan(const delivered_gemm_parameters_t* parameters,
                                     delivered_gemm_plan_t* plan);

// Whether the program could load its kernels; if not, `error` gets one line. Needs no device.
stretto_status_t delivered_gemm_check_gemm_elf(const delivered_gemm_parameters_t* parameters,
                                               char* error, size_t error_bytes);
stretto_status_t delivered_gemm_check_ring_elf(const delivered_gemm_parameters_t* parameters,
                                               char* error, size_t error_bytes);

// The whole program of a rank. Blocks in `ops` until its part is done. `error` has 256 bytes.
stretto_status_t delivered_gemm_run(const delivered_gemm_parameters_t* parameters,
                                    const stretto_host_ops_t* ops, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_OVERLAP_DELIVERED_GEMM_H_
