// SPDX-License-Identifier: Apache-2.0
// Does the operations of shmem_random.h one after the other.
#include "sw/include/shmem.h"
#include "sw/kernels/kernel.h"
#include "tests/system/programs/shmem_random.h"

void random_operations(void) {
  const random_arguments_t* g = (const random_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint32_t group = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  shmem_ctx_t contexts[RANDOM_CONTEXTS];
  for (uint32_t i = 0; i < RANDOM_CONTEXTS; ++i)
    shmem_wg_ctx_create(&contexts[i], &g->shmem, group * RANDOM_CONTEXTS + i);
  volatile uint64_t* log = g->log + group * RANDOM_LOG;
  for (const random_operation_t* o = g->operations + group * RANDOM_OPERATIONS;
       o->kind != RANDOM_END; ++o) {
    shmem_ctx_t* ctx = &contexts[o->context];
    uint64_t *at = g->words + o->at, *from = g->words + o->from, *other = g->words + o->other;
    const size_t bytes = 8 * o->count;
    switch ((random_kind_t)o->kind) {
      case RANDOM_DELAY:
        for (uint64_t i = 0; i < o->value; ++i) __asm__ volatile("");
        break;
      case RANDOM_STORE: *(volatile uint64_t*)at = o->value; break;
      case RANDOM_LOAD: *log++ = *(volatile uint64_t*)at; break;
      case RANDOM_PUT: shmem_ctx_putmem_wg(ctx, at, from, bytes, o->pe); break;
      case RANDOM_PUT_NBI: shmem_ctx_putmem_nbi_wg(ctx, at, from, bytes, o->pe); break;
      case RANDOM_P: shmem_ctx_uint64_p_wg(ctx, at, o->value, o->pe); break;
      case RANDOM_GET: shmem_ctx_getmem_wg(ctx, from, at, bytes, o->pe); break;
      case RANDOM_GET_NBI: shmem_ctx_getmem_nbi_wg(ctx, from, at, bytes, o->pe); break;
      case RANDOM_G: *log++ = shmem_ctx_uint64_g_wg(ctx, at, o->pe); break;
      case RANDOM_ADD: shmem_ctx_uint64_atomic_add_wg(ctx, at, o->value, o->pe); break;
      case RANDOM_FETCH_ADD:
        *log++ = shmem_ctx_uint64_atomic_fetch_add_wg(ctx, at, o->value, o->pe);
        break;
      case RANDOM_SWAP: *log++ = shmem_ctx_uint64_atomic_swap_wg(ctx, at, o->value, o->pe); break;
      case RANDOM_COMPARE:
        *log++ = shmem_ctx_uint64_atomic_compare_swap_wg(ctx, at, o->other, o->value, o->pe);
        break;
      case RANDOM_PUT_SIGNAL:
        shmem_ctx_putmem_signal_wg(ctx, at, from, bytes, other, o->value, SHMEM_SIGNAL_SET, o->pe);
        break;
      case RANDOM_PUT_SIGNAL_NBI:
        shmem_ctx_putmem_signal_nbi_wg(ctx, at, from, bytes, other, o->value, SHMEM_SIGNAL_SET,
                                       o->pe);
        break;
      case RANDOM_ADD_SIGNAL:
        shmem_ctx_putmem_signal_nbi_wg(ctx, at, from, bytes, other, 1, SHMEM_SIGNAL_ADD, o->pe);
        break;
      case RANDOM_WAIT: shmem_uint64_wait_until_wg(other, SHMEM_CMP_GE, o->value); break;
      case RANDOM_FENCE: shmem_ctx_fence_wg(ctx); break;
      case RANDOM_QUIET: shmem_ctx_quiet_wg(ctx); break;
      case RANDOM_BARRIER: shmem_ctx_barrier_all_wg(ctx); break;
      default: break;
    }
  }
  for (uint32_t i = 0; i < RANDOM_CONTEXTS; ++i) shmem_wg_ctx_destroy(&contexts[i]);
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(random_operations, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096,
               .private_bytes = 2048, .wavefronts = 1, .kernarg_bytes = sizeof(random_arguments_t));
