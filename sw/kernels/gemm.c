// SPDX-License-Identifier: Apache-2.0
// Tiled GEMM for the tensor pipe, K step of 64 bytes, tiles of 128 x 128, 256 x 128 and, for the few rows of
// token generation, 16 x 128. One ELF for every mode of execution: what happens to the stores of C
// (kept, sent to a peer, added in memory) is decided outside, by the range table and the update bit
// of the dispatch (T3-CFG-05).
//
// Wavefront 0 runs the K loop (gemm.h). All wavefronts meet at the barrier, then
// each converts and stores its own rows of the accumulator, clipped at the edges of C; a wavefront
// without rows stores nothing. An edge tile is multiplied as a full tile (what lies beyond an
// operand reads as zero), like a tensor kernel that masks its loads.
//
// GEMM_E4M3 builds gemm_e4m3.elf: operands and C of FP8, the accumulator is FP32 as ever.
// GEMM_SPLIT_K builds gemm_split.elf: several work-groups a tile, each with a part of K
// (kernel_arguments.h). GEMM_SKIP_STEP, GEMM_SWAP_TILES and GEMM_WILD_STORE build deliberately wrong
// kernels for the tests of the checkers; GEMM_OTHER_ROWS one whose result is right, and which no Tracker can follow,
// GEMM_OTHER_ORDER one that takes the tiles in row-major order, whatever it is asked for.
#include "sw/kernels/gemm.h"

#include "sw/include/tile_order.h"

#ifdef GEMM_SPLIT_K
typedef stretto_gemm_split_arguments_t arguments_t;
#else
typedef stretto_gemm_arguments_t arguments_t;
#endif

// The rows that a wavefront stores.
#ifdef GEMM_OTHER_ROWS
#define SLICE_OF(wavefront) (GEMM_WAVEFRONTS - 1 - (wavefront))
#else
#define SLICE_OF(wavefront) (wavefront)
#endif

KERNEL_INLINE _Noreturn void gemm(const uint32_t tile_m) {
  const uint32_t wavefront = (uint32_t)tile_csr(TILE_CSR_WF_ID);
#ifdef GEMM_SPLIT_K
  const arguments_t* split = (const arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const stretto_gemm_arguments_t* arguments = &split->gemm;
  const uint32_t group = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  const uint32_t tile = group / split->split;
  const uint32_t part = group % split->split;
  uint32_t parts = split->split;
  if (tile - split->whole_first < split->whole_count) {
    if (part != 0) {
      tile_end();
      __builtin_unreachable();
    }
    parts = 1;
  }
  const uint32_t steps = (arguments->k + K_STEP - 1) / K_STEP;
  const uint32_t first_k = steps * part / parts * K_STEP;
  const uint32_t end_k = min_u32(steps * (part + 1) / parts * K_STEP, arguments->k);
#else
  const uint32_t tile = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  const arguments_t* arguments = (const arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint32_t first_k = 0;
  const uint32_t end_k = arguments->k;
#endif
  const uint32_t m = arguments->m;
  const uint32_t n = arguments->n;
#ifdef GEMM_OTHER_ORDER
  const uint32_t code = TILE_ORDER_ROWS;
#else
  const uint32_t code = arguments->layout >> GEMM_ORDER_SHIFT;
#endif
  const tile_order_t order = tile_order(code, (m + tile_m - 1) / tile_m, arguments->tiles_n);
  const tile_place_t place = tile_order_place(&order, tile);
  if (wavefront == 0) {
    tile_zero(ACCUMULATOR, (uint64_t)tile_m | ((uint64_t)GEMM_TILE_N << 16));
#ifdef GEMM_SWAP_TILES
    const tile_place_t product = tile_order_place(&order, tile < 2 ? tile ^ 1 : tile);
#else
    const tile_place_t product = place;
#endif
    const uint32_t row = product.row * tile_m;
    const uint32_t column = product.column * GEMM_TILE_N;
    multiply_part(arguments, row, column, min_u32(tile_m, m - row),
                  min_u32(GEMM_TILE_N, n - column), first_k, end_k);
  }
  const uint32_t rows_each = tile_m / GEMM_WAVEFRONTS;
  const uint32_t row = place.row * tile_m + SLICE_OF(wavefront) * rows_each;
  const uint32_t column = place.column * GEMM_TILE_N;
  const uint32_t ldc = arguments->ldc;
#ifdef GEMM_WILD_STORE
  const uint64_t address = 0xdead00;
#else
  const uint64_t address = arguments->c + (uint64_t)row * ldc + column * ELEMENT_BYTES;
#endif
  tile_barrier();
  if (row < m) {
    const uint32_t rows = min_u32(rows_each, m - row);
    const uint32_t columns = min_u32(GEMM_TILE_N, n - column);
    const uint64_t block = (uint64_t)(SLICE_OF(wavefront) * rows_each) | ((uint64_t)rows << 16) |
                           ((uint64_t)columns << 48);
    tile_epilogue(TILE_R(0), ACCUMULATOR, block, GEMM_ELEMENT);
    tile_store(TILE_R(0), address, tile_shape(rows, columns * ELEMENT_BYTES, ldc), GEMM_ELEMENT);
  }
  tile_end();
  __builtin_unreachable();
}

void gemm_128x128(void) { gemm(128); }
void gemm_256x128(void) { gemm(256); }
void gemm_16x128(void) { gemm(16); }

// Registers: accumulator, one row tile a wavefront, 2 KiB of scalar registers a wavefront. LDS: two
// buffers of A and B.
STRETTO_KERNEL(gemm_128x128, .type = STRETTO_KERNEL_TENSOR,
               .registers_bytes = (64 + 8 * 2 * ELEMENT_BYTES + 8 * 2) * 1024,
               .lds_bytes = 32 * 1024, .private_bytes = 256, .wavefronts = GEMM_WAVEFRONTS,
               .tile_m = 128, .tile_n = GEMM_TILE_N, .kernarg_bytes = sizeof(arguments_t));
STRETTO_KERNEL(gemm_256x128, .type = STRETTO_KERNEL_TENSOR,
               .registers_bytes = (128 + 8 * 4 * ELEMENT_BYTES + 8 * 2) * 1024,
               .lds_bytes = 48 * 1024, .private_bytes = 256, .wavefronts = GEMM_WAVEFRONTS,
               .tile_m = 256, .tile_n = GEMM_TILE_N, .kernarg_bytes = sizeof(arguments_t));
STRETTO_KERNEL(gemm_16x128, .type = STRETTO_KERNEL_TENSOR,
               .registers_bytes = (8 + 8 * 1 + 8 * 2) * 1024, .lds_bytes = 18 * 1024,
               .private_bytes = 256, .wavefronts = GEMM_WAVEFRONTS, .tile_m = 16,
               .tile_n = GEMM_TILE_N, .kernarg_bytes = sizeof(arguments_t));
