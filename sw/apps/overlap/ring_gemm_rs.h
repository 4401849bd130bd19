// SPDX-License-Identifier: Apache-2.0
// Host program of one rank: a tensor-parallel sub-layer C = A B whose partial results are reduced
// (reduce-scatter), by a ring or directly, and gathered by a ring (all-gather), in the modes of T3
// 5.3 and 7.1. Every rank runs the same program in a host thread of its own.
//
// Ring (T3 Fig 11, U10): rank r sends to r - 1 and receives from r + 1. Chunk c is tiles c T / N ..
// (c + 1) T / N - 1 of the output, in the order in which the GEMM takes them (tile_order.h), and
// belongs to rank c. Rank r computes chunk r + 1 first and its own last.
//
// Direct (T3 7.1): all ranks are linked, rank r stores chunk c to rank c, where memory adds it. Each
// chunk is a launch of its own, a range of work-groups of the same kernel: the scheduler takes them
// in turn, so that every stage of the GEMM is sliced over all links. With in_switch (T3 7.4) a switch
// adds what goes to rank c on its way there; chunks are launched in one order on all ranks then, so
// that what is to be added comes at about the same time.
//
// clang-format off
//   mode         kernels and maps                                                        memory of C
//   sequential   GEMM, ring_reduce_scatter, ring_all_gather, one after the other         cached
//   t3           fused: chunk r + 1 remote_map, r + 2 .. r - 1 dma_map, r local;         uncached,
//                then ring_all_gather                                                    zeroed first
//   t3-mca       as t3, with the communication-aware arbiter                             as t3
//   direct       fused: chunk c remote_map to rank c, r local; then ring_all_gather      as t3
//   gemm         GEMM alone                                                              cached
//   rs           ring_reduce_scatter alone, C holds the partial result                   cached
//   rs-nmc       ring_reduce_scatter_nmc alone, C holds the partial result               uncached
//   ag           ring_all_gather alone, C holds the own reduced chunk                    cached
// clang-format on
//
// follow_on (T3 7.6): dropout and residual behind the reduction, C = C mask + residual. Fused modes
// apply them to the own chunk in memory, before the gather: a map of operands each, and a wait. Mode
// sequential does all of C on every rank behind the gather, by ring_follow_on.
//
// Before time 0 the platform puts the contents of A and B (or C) where ring_gemm_plan says; the
// program allocates in the same order and checks that it got the same addresses.
#ifndef STRETTO_SW_APPS_OVERLAP_RING_GEMM_RS_H_
#define STRETTO_SW_APPS_OVERLAP_RING_GEMM_RS_H_

#include "sw/apps/arbiter.h"
#include "sw/apps/memory_plan.h"
#include "sw/apps/ranks.h"
#include "sw/include/tile_order.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ring_gemm_mode {
  RING_GEMM_SEQUENTIAL,
  RING_GEMM_T3,
  RING_GEMM_T3_MCA,
  RING_GEMM_DIRECT,
  RING_GEMM_GEMM,
  RING_GEMM_RS,
  RING_GEMM_RS_NMC,
  RING_GEMM_AG,
  RING_GEMM_MODES,
} ring_gemm_mode_t;

typedef enum ring_gemm_tile_order {
  RING_GEMM_ROWS,
  RING_GEMM_STRIPS,
} ring_gemm_tile_order_t;

// Accounts (machine_types.h).
enum {
  RING_GEMM_ACCOUNT_INIT = STRETTO_ACCOUNT_JOB,  // Zeroing.
  RING_GEMM_ACCOUNT_GEMM,
  RING_GEMM_ACCOUNT_RS,
  RING_GEMM_ACCOUNT_AG,
};

typedef struct ring_gemm_parameters {
  ring_gemm_mode_t mode;
  uint32_t rank;
  uint32_t ranks;
  uint32_t host_ranks;  // Ranks whose programs run on this host: `ranks`, or 1 when one GPU stands
                        // for all.
  uint32_t m;           // Rows of C.
  uint32_t n;           // Columns of C.
  uint32_t k;           // Of one rank.
  int a_k_contiguous;   // A is stored m x k, else k x m.
  int b_k_contiguous;   // B is stored n x k, else k x n.
  ring_gemm_tile_order_t tile_order;
  uint32_t tile_m;   // 16, 128 or 256.
  uint32_t split_k;  // Fused modes, gemm_split.elf: work-groups that add to a tile; 0 = 1.
  int follow_on;     // Modes sequential, t3, t3-mca, direct.
  int in_switch;     // Mode direct.
  int e4m3;          // A, B and C are of FP8, else of FP16; so are the kernels. Not split.
  uint32_t collective_groups;    // Work-groups of a collective kernel: what the GPU holds at once.
  uint32_t block_tiles;          // Wavefront tiles of a DMA block; 0 = 1.
  uint32_t tracker_ways;         // 0 = all.
  arbiter_parameters_t arbiter;  // Its policy is what sets t3-mca apart from t3.
  host_job_t job;
  stretto_client_options_t client;
  const void* gemm_elf;
  size_t gemm_elf_bytes;
  const void* ring_elf;
  size_t ring_elf_bytes;
} ring_gemm_parameters_t;

// Where everything lies, as 48-bit addresses of rank `rank`; 0 = not used in this mode.
typedef struct ring_gemm_plan {
  uint64_t a;
  uint64_t b;
  uint64_t c;
  uint64_t receive;         // Receive array of the reduce-scatter, laid out like C.
  uint64_t mask, residual;  // follow_on; laid out like C, the same on all ranks.
  uint64_t rs_flags;
  uint64_t ag_flags;
  uint64_t spill;
  uint64_t a_bytes, b_bytes, c_bytes, flag_bytes, spill_bytes;
  uint32_t lda;  // Bytes between rows as stored; rows of A and B start at multiples of 128 bytes.
  uint32_t ldb;
  uint32_t ldc;  // n elements, not padded.
  uint32_t tiles_m;
  uint32_t tiles_n;
  uint32_t tiles;
  uint32_t order_code;
  tile_order_t order;
  memory_plan_t memory;
} ring_gemm_plan_t;

// Name as on the command line ("t3-mca"), or null.
const char* ring_gemm_mode_name(ring_gemm_mode_t mode);

// Pure function. STRETTO_ERROR_ARGUMENT: a parameter is out of range; STRETTO_ERROR_TABLE_FULL:
// more than the device memory.
stretto_status_t ring_gemm_plan(const ring_gemm_parameters_t* parameters, ring_gemm_plan_t* plan);

// Updates of an element that the Tracker can count for tiles of so many rows: ranks of mode direct.
uint32_t ring_gemm_most_updates(uint32_t tile_m);

// First tile of a chunk; chunk = ranks gives the number of tiles.
uint32_t ring_gemm_chunk_first(const ring_gemm_plan_t* plan, uint32_t ranks, uint32_t chunk);

// Whether the program could load what its mode needs from `gemm_elf` and `ring_elf`; if not,
// `error` gets one line. Needs no device.
stretto_status_t ring_gemm_check_gemm_elf(const ring_gemm_parameters_t* parameters, char* error,
                                          size_t error_bytes);
stretto_status_t ring_gemm_check_ring_elf(const ring_gemm_parameters_t* parameters, char* error,
                                          size_t error_bytes);

// The whole program of a rank. Blocks in `ops` until its part is done. `error` has 256 bytes.
stretto_status_t ring_gemm_run(const ring_gemm_parameters_t* parameters,
                               const stretto_host_ops_t* ops, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_OVERLAP_RING_GEMM_RS_H_
