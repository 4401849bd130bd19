// SPDX-License-Identifier: Apache-2.0
// Programs over OpenSHMEM as users write them: with what sw/include/shmem.h documents, and no more.
// Each work-group plays with those of its number at the other PEs.
#include "sw/kernels/open_shmem.h"

#include "sw/include/shmem.h"
#include "sw/kernels/kernel.h"

typedef struct me {
  const open_shmem_arguments_t* g;
  uint32_t work_group, groups;
  uint64_t* part;
  open_shmem_result_t* result;
} me_t;

KERNEL_INLINE me_t me_of(void) {
  const open_shmem_arguments_t* g =
      (const open_shmem_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint32_t w = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  return (me_t){g, w, (uint32_t)tile_csr(TILE_CSR_GRID),
                (uint64_t*)(uintptr_t)(g->parts + w * (uint64_t)OPEN_SHMEM_PART_BYTES),
                (open_shmem_result_t*)(uintptr_t)g->results + w};
}

KERNEL_INLINE int is_first(void) { return tile_csr(TILE_CSR_WF_ID) == 0; }

KERNEL_INLINE void leave(const me_t* me, uint32_t which, uint64_t value) {
  if (is_first()) *(volatile uint64_t*)&me->result->value[which] = value;
}

KERNEL_INLINE void end(const me_t* me, shmem_ctx_t* ctx) {
  shmem_wg_ctx_destroy(ctx);
  if (is_first()) {
    *(volatile uint64_t*)&me->result->failed = ctx->failed;
    *(volatile uint64_t*)&me->result->ended = 1;
  }
  tile_end();
}

// A token goes round, by fetch-add.
void open_shmem_tokens(void) {
  const me_t me = me_of();
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &me.g->shmem, me.work_group);
  const uint32_t pe = shmem_ctx_my_pe(&ctx), next = pe + 1 == shmem_ctx_n_pes(&ctx) ? 0 : pe + 1;
  uint64_t seen = 0;
  for (uint64_t round = 1; round <= me.g->rounds; ++round) {
    if (pe != 0) shmem_uint64_wait_until_wg(me.part, SHMEM_CMP_GE, round);
    seen += shmem_ctx_uint64_atomic_fetch_add_wg(&ctx, me.part, 1, next);
    if (pe == 0) shmem_uint64_wait_until_wg(me.part, SHMEM_CMP_GE, round);
  }
  leave(&me, 0, seen);
  end(&me, &ctx);
  __builtin_unreachable();
}

// Bins lie at all PEs. An operation on the own one is refused, so those are counted beside.
void open_shmem_histogram(void) {
  const me_t me = me_of();
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &me.g->shmem, me.work_group);
  const uint32_t pe = shmem_ctx_my_pe(&ctx);
  const uint64_t bins = OPEN_SHMEM_BINS * (uint64_t)shmem_ctx_n_pes(&ctx);
  for (uint64_t i = 0; i < me.g->rounds; ++i) {
    const uint64_t bin = open_shmem_value(pe, me.work_group, i) % bins;
    const uint32_t home = (uint32_t)(bin / OPEN_SHMEM_BINS);
    uint64_t* at = me.part + bin % OPEN_SHMEM_BINS;
    if (home != pe)
      shmem_ctx_uint64_atomic_inc_wg(&ctx, at, home);
    else if (is_first())
      ++*(volatile uint64_t*)(at + OPEN_SHMEM_OWN_BINS);
  }
  shmem_ctx_barrier_all_wg(&ctx);
  end(&me, &ctx);
  __builtin_unreachable();
}

// PEs are a torus of two columns; rows go by one context, columns by another one.
void open_shmem_halo(void) {
  const me_t me = me_of();
  shmem_ctx_t rows, columns;
  shmem_wg_ctx_create(&rows, &me.g->shmem, me.work_group);
  shmem_wg_ctx_create(&columns, &me.g->shmem, me.groups + me.work_group);
  const uint32_t pe = shmem_ctx_my_pe(&rows), pes = shmem_ctx_n_pes(&rows);
  const uint32_t above = pe < 2 ? pe + pes - 2 : pe - 2,
                 below = pe + 2 < pes ? pe + 2 : pe + 2 - pes;
  const uint32_t beside = pe ^ 1;
  const size_t n = OPEN_SHMEM_SIDE;
  uint64_t *halo = me.part + OPEN_SHMEM_HALO, *signals = me.part + OPEN_SHMEM_SIGNALS;
  uint64_t *edges = me.part + OPEN_SHMEM_EDGES, *block = me.part + OPEN_SHMEM_BLOCK;
  if (is_first()) {
    for (size_t i = 0; i < n * n; ++i) block[i] = open_shmem_value(pe, me.work_group, i);
    for (size_t i = 0; i < n; ++i) {
      edges[i] = block[i * n];
      edges[n + i] = block[i * n + n - 1];
    }
  }
  shmem_ctx_putmem_signal_nbi_wg(&rows, halo + n, block, 8 * n, signals + 1, 1, SHMEM_SIGNAL_SET,
                                 above);
  shmem_ctx_putmem_signal_nbi_wg(&rows, halo, block + n * (n - 1), 8 * n, signals, 1,
                                 SHMEM_SIGNAL_SET, below);
  shmem_ctx_putmem_signal_nbi_wg(&columns, halo + 3 * n, edges, 8 * n, signals + 3, 1,
                                 SHMEM_SIGNAL_SET, beside);
  shmem_ctx_putmem_signal_nbi_wg(&columns, halo + 2 * n, edges + n, 8 * n, signals + 2, 1,
                                 SHMEM_SIGNAL_SET, beside);
  shmem_ctx_quiet_wg(&columns);
  shmem_ctx_quiet_wg(&rows);
  shmem_uint64_wait_until_all_wg(signals, 4, NULL, SHMEM_CMP_EQ, 1);
  shmem_wg_ctx_destroy(&columns);
  leave(&me, 0, columns.failed);
  end(&me, &rows);
  __builtin_unreachable();
}

// All work-groups of all PEs but 0 add to a word there, one at a time.
void open_shmem_ticket_lock(void) {
  const me_t me = me_of();
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &me.g->shmem, me.work_group);
  uint64_t* lock = (uint64_t*)(uintptr_t)me.g->parts;
  for (uint64_t i = 0; i < me.g->rounds && shmem_ctx_my_pe(&ctx) != 0; ++i) {
    const uint64_t ticket = shmem_ctx_uint64_atomic_fetch_inc_wg(&ctx, lock + OPEN_SHMEM_NEXT, 0);
#ifndef OPEN_SHMEM_NO_LOCK  // Deliberately wrong: nobody waits.
    while (shmem_ctx_uint64_atomic_fetch_wg(&ctx, lock + OPEN_SHMEM_SERVING, 0) != ticket) {
    }
#else
    (void)ticket;
#endif
    const uint64_t seen = shmem_ctx_uint64_g_wg(&ctx, lock + OPEN_SHMEM_COUNTER, 0);
    shmem_ctx_uint64_p_wg(&ctx, lock + OPEN_SHMEM_COUNTER, seen + 1, 0);
    shmem_ctx_quiet_wg(&ctx);
    shmem_ctx_uint64_atomic_inc_wg(&ctx, lock + OPEN_SHMEM_SERVING, 0);
    shmem_ctx_quiet_wg(&ctx);
  }
  end(&me, &ctx);
  __builtin_unreachable();
}

KERNEL_INLINE void fill(const me_t* me, uint32_t pe, uint32_t pes) {
  uint64_t* sent = me->part + OPEN_SHMEM_SENT;
  for (size_t i = 0; i <= pes * OPEN_SHMEM_BYTES / 8 && is_first(); ++i)
    sent[i] = open_shmem_value(pe, me->work_group, i);
}

KERNEL_INLINE char* bytes_at(uint64_t* words, uint32_t pe) {
  return (char*)words + pe * (size_t)OPEN_SHMEM_BYTES;
}

// Puts to all others, quiet, barrier.
void open_shmem_all_to_all(void) {
  const me_t me = me_of();
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &me.g->shmem, me.work_group);
  const uint32_t self = shmem_ctx_my_pe(&ctx), pes = shmem_ctx_n_pes(&ctx);
  fill(&me, self, pes);
  for (uint32_t pe = 0; pe < pes; ++pe)
    if (pe != self)
      shmem_ctx_putmem_nbi_wg(&ctx, bytes_at(me.part + OPEN_SHMEM_PUT, self),
                              bytes_at(me.part + OPEN_SHMEM_SENT, pe), OPEN_SHMEM_BYTES, pe);
  shmem_ctx_quiet_wg(&ctx);
  shmem_ctx_barrier_all_wg(&ctx);
  end(&me, &ctx);
  __builtin_unreachable();
}

// Collectives and waits for several words.
void open_shmem_collectives(void) {
  const me_t me = me_of();
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &me.g->shmem, me.work_group);
  const uint32_t self = shmem_ctx_my_pe(&ctx), pes = shmem_ctx_n_pes(&ctx);
  uint64_t *sent = me.part + OPEN_SHMEM_SENT, *told = me.part + OPEN_SHMEM_TOLD;
  uint64_t *operand = me.part + OPEN_SHMEM_OPERAND, *reduced = me.part + OPEN_SHMEM_REDUCED;
  fill(&me, self, pes);
  shmem_ctx_broadcastmem_wg(&ctx, me.part + OPEN_SHMEM_BROADCAST, sent, OPEN_SHMEM_BYTES, pes - 1);
  shmem_ctx_fcollectmem_wg(&ctx, me.part + OPEN_SHMEM_COLLECTED, sent, OPEN_SHMEM_BYTES);
  shmem_ctx_alltoallmem_wg(&ctx, me.part + OPEN_SHMEM_EXCHANGED, sent, OPEN_SHMEM_BYTES);
  leave(&me, 0, shmem_uint64_test_any_wg(told, pes, NULL, SHMEM_CMP_NE, 0));
  shmem_ctx_barrier_all_wg(&ctx);
  for (uint32_t pe = 0; pe < pes; ++pe)
    if (pe != self) shmem_ctx_uint64_p_wg(&ctx, told + self, self + 1, pe);
  const size_t one = shmem_uint64_wait_until_any_wg(told, pes, NULL, SHMEM_CMP_NE, 0);
  leave(&me, 1, one < pes && one != self);
  int status[STRETTO_SHMEM_MAX_PES];
  for (uint32_t pe = 0; pe < pes; ++pe) status[pe] = pe == self;
  shmem_uint64_wait_until_all_wg(told, pes, status, SHMEM_CMP_GT, 0);
  leave(&me, 2, shmem_uint64_test_wg(told + (self == 0 ? 1 : 0), SHMEM_CMP_LE, 0));
  if (is_first()) operand[0] = open_shmem_value(self, me.work_group, 0);
  shmem_ctx_uint64_sum_reduce_wg(&ctx, reduced + 0, operand, 1);
  shmem_ctx_uint64_prod_reduce_wg(&ctx, reduced + 1, operand, 1);
  shmem_ctx_uint64_min_reduce_wg(&ctx, reduced + 2, operand, 1);
  shmem_ctx_uint64_max_reduce_wg(&ctx, reduced + 3, operand, 1);
  shmem_ctx_uint64_and_reduce_wg(&ctx, reduced + 4, operand, 1);
  shmem_ctx_uint64_or_reduce_wg(&ctx, reduced + 5, operand, 1);
  shmem_ctx_uint64_xor_reduce_wg(&ctx, reduced + 6, operand, 1);
  end(&me, &ctx);
  __builtin_unreachable();
}

#define PROGRAM(name)                                                                     \
  STRETTO_KERNEL(open_shmem_##name, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096, \
                 .private_bytes = 2048, .wavefronts = OPEN_SHMEM_WAVEFRONTS,              \
                 .kernarg_bytes = sizeof(open_shmem_arguments_t))
PROGRAM(tokens);
PROGRAM(histogram);
PROGRAM(halo);
PROGRAM(ticket_lock);
PROGRAM(all_to_all);
PROGRAM(collectives);
