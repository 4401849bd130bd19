// SPDX-License-Identifier: Apache-2.0
// The names of ComP-Net's device side (4.1, Fig 5) for those of shmem.h. Contexts lie in private
// memory instead of scratch-pad memory; each wavefront has its own, with the same contents.
#ifndef STRETTO_SW_INCLUDE_CPNET_H_
#define STRETTO_SW_INCLUDE_CPNET_H_

#include "sw/include/shmem.h"

typedef stretto_shmem_handle_t cpnet_handle_t;

#ifndef __riscv

#define cpnet_init(handle, work_groups) shmem_wg_init((handle), (work_groups))

#else

typedef shmem_ctx_t cpnet_ctx_t;

// Of the work-group that calls.
#define cpnet_ctx_create(handle, ctx) \
  shmem_wg_ctx_create((ctx), (handle), (uint32_t)tile_csr(TILE_CSR_WG_ID))
#define cpnet_ctx_destroy(ctx) shmem_wg_ctx_destroy(ctx)

SHMEM_INLINE void cpnet_shmem_char_p(cpnet_ctx_t* ctx, char* dest, char value, uint32_t pe) {
  tile_barrier();
  if (shmem_acts_())
    (void)shmem_do_(ctx, STRETTO_SHMEM_PUT, STRETTO_SHMEM_INLINE, (uint64_t)(uintptr_t)dest,
                    (uint8_t)value, 1, 0, 0, 0, pe);
  tile_barrier();
}

// Until the byte is `value`. Waits see whole words, so each change of its word is looked at.
SHMEM_INLINE void cpnet_shmem_char_wait_until(char* ivar, char value) {
  const uint64_t at = (uint64_t)(uintptr_t)ivar, word = at & ~7ull;
  tile_barrier();
  if (shmem_acts_()) {
    tile_fence(TILE_SCOPE_SYSTEM);
    for (uint64_t seen = shmem_load_(word); (char)(seen >> at % 8 * 8) != value;
         seen = shmem_load_(word)) {
      tile_wait_until(word, TILE_NE, seen);
      tile_fence(TILE_SCOPE_SYSTEM);
    }
  }
  tile_barrier();
}

#define cpnet_shmem_putmem(ctx, dest, source, nelems, pe) \
  shmem_ctx_putmem_wg((ctx), (dest), (source), (nelems), (pe))
#define cpnet_shmem_getmem(ctx, dest, source, nelems, pe) \
  shmem_ctx_getmem_wg((ctx), (dest), (source), (nelems), (pe))
#define cpnet_shmem_quiet(ctx) shmem_ctx_quiet_wg(ctx)

#endif  // Kernels.

#endif  // STRETTO_SW_INCLUDE_CPNET_H_
