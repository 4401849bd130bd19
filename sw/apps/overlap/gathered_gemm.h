// SPDX-License-Identifier: Apache-2.0
// Host program of one rank: a tensor-parallel GEMM C = A B whose input A is all-gathered (T3 7.2,
// T3-AGC). Every rank has a chunk of A's rows and its own B; it sends its chunk to all others and
// multiplies the whole of A.
//
// Chunk c is the row blocks c T / N .. (c + 1) T / N - 1 of tile_m rows (T row blocks, N divides T)
// and belongs to rank c. The DMA engine sends it, tile by tile of 16 x 256 elements; the receiver's
// Tracker counts what arrives.
//
//   mode        what the completion of a tile does at the receiver
//   sequential  counts for its DMA region; when all have come the GEMM is launched
//   t3-agc      raises a scheduling event; the GEMM is launched at once, and its work-groups of a
//               row block start when that is complete
//
// The transfers are the same in both, and so are kernel and arguments. Rank r computes chunk r
// first, which it has, then r + 1, ... Before time 0 the platform puts the contents of B and of the
// own chunk of A where gathered_gemm_plan says.
#ifndef STRETTO_SW_APPS_OVERLAP_GATHERED_GEMM_H_
#define STRETTO_SW_APPS_OVERLAP_GATHERED_GEMM_H_

#include "sw/apps/arbiter.h"
#include "sw/apps/memory_plan.h"
#include "sw/apps/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gathered_gemm_mode {
  GATHERED_GEMM_SEQUENTIAL,
  GATHERED_GEMM_AGC,
  GATHERED_GEMM_MODES,
} gathered_gemm_mode_t;

// Accounts (machine_types.h).
enum {
  GATHERED_GEMM_ACCOUNT_INIT = STRETTO_ACCOUNT_JOB,  // Zeroing.
  GATHERED_GEMM_ACCOUNT_GEMM,
  GATHERED_GEMM_ACCOUNT_AG,
};

typedef struct gathered_gemm_parameters {
  gathered_gemm_mode_t mode;
  uint32_t rank;
  uint32_t ranks;
  uint32_t m;  // Rows of A and C.
  uint32_t n;  // Columns of this rank's B and C.
  uint32_t k;
  int b_k_contiguous;  // B is stored n x k, else k x n. A is stored m x k.
  uint32_t tile_m;     // 16, 128 or 256.
  uint32_t tracker_ways;
  arbiter_parameters_t arbiter;
  host_job_t job;
  stretto_client_options_t client;
  const void* gemm_elf;
  size_t gemm_elf_bytes;
} gathered_gemm_parameters_t;

// Where everything lies, as 48-bit addresses of rank `rank`.
typedef struct gathered_gemm_plan {
  uint64_t a, b, c, spill;
  uint64_t a_bytes, b_bytes, c_bytes, spill_bytes;
  uint32_t lda, ldb, ldc;  // Bytes between rows as stored.
  uint32_t tiles_m;        // Output tiles, and row blocks of A.
  uint32_t tiles_n;
  uint32_t input_tiles_k;   // Tiles of A in a row.
  uint32_t input_tiles;     // In all.
  uint32_t tiles_per_gate;  // In a row block.
  memory_plan_t memory;
} gathered_gemm_plan_t;

// Name as on the command line ("t3-agc"), or null.
const char* gathered_gemm_mode_name(gathered_gemm_mode_t mode);

// Pure function. STRETTO_ERROR_ARGUMENT: a parameter is out of range; STRETTO_ERROR_TABLE_FULL:
// more than the device memory.
stretto_status_t gathered_gemm_plan(const gathered_gemm_parameters_t* parameters,
                                    gathered_gemm_plan_t* plan);

// Whether the program could load the kernel from `gemm_elf`; if not, `error` gets one line. Needs
// no device.
stretto_status_t gathered_gemm_check_elf(const gathered_gemm_parameters_t* parameters, char* error,
                                         size_t error_bytes);

// The whole program of a rank. Blocks in `ops` until its part is done. `error` has 256 bytes.
stretto_status_t gathered_gemm_run(const gathered_gemm_parameters_t* parameters,
                                   const stretto_host_ops_t* ops, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_OVERLAP_GATHERED_GEMM_H_
