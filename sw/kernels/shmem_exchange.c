// SPDX-License-Identifier: Apache-2.0
// Kernels that use every call of shmem.h and cpnet.h and leave what they have seen. See
// shmem_exchange.h.
#include "sw/kernels/shmem_exchange.h"

#include "sw/include/cpnet.h"
#include "sw/kernels/kernel.h"

typedef struct places {
  uint64_t part, source, put, got, result;
} places_t;

KERNEL_INLINE const shmem_exchange_arguments_t* arguments(void) {
  return (const shmem_exchange_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
}

KERNEL_INLINE places_t places_of(const shmem_exchange_arguments_t* g, uint64_t work_group) {
  return (places_t){g->parts + work_group * SHMEM_EXCHANGE_PART_BYTES,
                    g->source + work_group * g->stride, g->put + work_group * g->stride,
                    g->got + work_group * g->stride,
                    g->results + work_group * sizeof(shmem_exchange_result_t)};
}

#define PART(places, field) \
  ((uint64_t*)(uintptr_t)((places)->part + offsetof(shmem_exchange_part_t, field)))
#define BYTES(address) ((void*)(uintptr_t)(address))
#define LEAVE(places, field, value)                                                       \
  do {                                                                                    \
    if (shmem_acts_())                                                                    \
      shmem_store_((places)->result + offsetof(shmem_exchange_result_t, field), (value)); \
  } while (0)

KERNEL_INLINE void end(shmem_ctx_t* ctx, const places_t* at) {
  LEAVE(at, failed, ctx->failed);
  LEAVE(at, ended, 1);
  cpnet_ctx_destroy(ctx);
  tile_end();
}

void shmem_exchange(void) {
  const shmem_exchange_arguments_t* g = arguments();
  const uint64_t me = tile_csr(TILE_CSR_WG_ID);
  const places_t at = places_of(g, me);
  shmem_ctx_t ctx;
  cpnet_ctx_create(&g->shmem, &ctx);
  const uint32_t pe = shmem_ctx_my_pe(&ctx), pes = shmem_ctx_n_pes(&ctx);
  const uint32_t next = pe + 1 == pes ? 0 : pe + 1, target = pe == 0 ? 1 : 0;
  const uint64_t value = shmem_exchange_value(pe, me);
  for (uint64_t i = 0; i < g->rounds; ++i)
    shmem_ctx_putmem_nbi_wg(&ctx, BYTES(at.put), BYTES(at.source), g->bytes, next);
  shmem_ctx_putmem_signal_wg(&ctx, BYTES(at.put), BYTES(at.source), g->bytes, PART(&at, signal),
                             value, SHMEM_SIGNAL_SET, next);
  LEAVE(&at, signal, shmem_signal_wait_until_wg(PART(&at, signal), SHMEM_CMP_NE, 0));
  shmem_ctx_getmem_wg(&ctx, BYTES(at.got), BYTES(at.source), g->bytes, next);
  LEAVE(&at, counter, shmem_ctx_uint64_atomic_fetch_inc_wg(&ctx, PART(&at, counter), target));
  LEAVE(&at, last, shmem_ctx_uint64_atomic_swap_wg(&ctx, PART(&at, last), value, target));
  shmem_ctx_uint64_atomic_set_wg(&ctx, PART(&at, set), value, next);
  shmem_ctx_uint64_atomic_add_wg(&ctx, PART(&at, sum), 5, next);
  shmem_ctx_putmem_signal_nbi_wg(&ctx, BYTES(at.put), BYTES(at.source), 8, PART(&at, sum), 3,
                                 SHMEM_SIGNAL_ADD, next);
  shmem_ctx_quiet_wg(&ctx);
  LEAVE(&at, sum, shmem_ctx_uint64_atomic_fetch_wg(&ctx, PART(&at, sum), next));
  shmem_ctx_uint64_p_wg(&ctx, PART(&at, word), value, next);
  shmem_ctx_fence_wg(&ctx);
  cpnet_shmem_char_p(&ctx, (char*)PART(&at, byte) + 3, 1, next);
  cpnet_shmem_char_wait_until((char*)PART(&at, byte) + 3, 1);
  shmem_ctx_barrier_all_wg(&ctx);
  shmem_ctx_barrier_all_wg(&ctx);
  LEAVE(&at, word, shmem_ctx_uint64_g_wg(&ctx, PART(&at, word), next));
  end(&ctx, &at);
  __builtin_unreachable();
}

void shmem_litmus(void) {
  const shmem_exchange_arguments_t* g = arguments();
  const places_t at = places_of(g, tile_csr(TILE_CSR_WG_ID));
  shmem_ctx_t ctx;
  cpnet_ctx_create(&g->shmem, &ctx);
  if (ctx.pe == 0) {
    shmem_ctx_putmem_nbi_wg(&ctx, BYTES(at.put), BYTES(at.source), g->bytes, 1);
    shmem_ctx_quiet_wg(&ctx);
    shmem_ctx_uint64_p_wg(&ctx, PART(&at, flag), 1, 2);
  } else if (ctx.pe == 2) {
    shmem_uint64_wait_until_wg(PART(&at, flag), SHMEM_CMP_EQ, 1);
    shmem_ctx_uint64_p_wg(&ctx, PART(&at, flag), 1, 1);
  } else if (ctx.pe == 1) {
    shmem_uint64_wait_until_wg(PART(&at, flag), SHMEM_CMP_GT, 0);
    LEAVE(&at, seen, shmem_load_(at.put + g->bytes - 8));
  }
  end(&ctx, &at);
  __builtin_unreachable();
}

void shmem_outside(void) {
  const shmem_exchange_arguments_t* g = arguments();
  const places_t at = places_of(g, tile_csr(TILE_CSR_WG_ID));
  shmem_ctx_t ctx;
  cpnet_ctx_create(&g->shmem, &ctx);
  if (ctx.pe == 0) shmem_ctx_getmem_wg(&ctx, BYTES(at.got), BYTES(g->results), g->bytes, 1);
  end(&ctx, &at);
  __builtin_unreachable();
}

STRETTO_KERNEL(shmem_exchange, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 8192,
               .private_bytes = 1024, .wavefronts = SHMEM_EXCHANGE_WAVEFRONTS,
               .kernarg_bytes = sizeof(shmem_exchange_arguments_t));
STRETTO_KERNEL(shmem_litmus, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 8192,
               .private_bytes = 1024, .wavefronts = SHMEM_EXCHANGE_WAVEFRONTS,
               .kernarg_bytes = sizeof(shmem_exchange_arguments_t));
STRETTO_KERNEL(shmem_outside, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 8192,
               .private_bytes = 1024, .wavefronts = SHMEM_EXCHANGE_WAVEFRONTS,
               .kernarg_bytes = sizeof(shmem_exchange_arguments_t));
