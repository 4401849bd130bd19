// SPDX-License-Identifier: Apache-2.0
// Kernels of shmem_five.c, of one wavefront, written with what shmem.h documents: work-group w of a PE plays with
// those of its number at the others. Words of the heap belong to work-groups by their number.
#include "sw/include/shmem.h"
#include "sw/kernels/kernel.h"
#include "tests/system/programs/shmem_five_arguments.h"

#define ARGUMENTS ((const shmem_five_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG))
#define SELF ((uint32_t)tile_csr(TILE_CSR_WG_ID))
#define GROUPS ((uint32_t)tile_csr(TILE_CSR_GRID))

// A token goes round n times: who has it adds 1 to the next one's word. words[w] is the token, more[w] what
// fetch-adds brought.
void tokens(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, SELF);
  const uint32_t pe = shmem_ctx_my_pe(&ctx), next = (pe + 1) % shmem_ctx_n_pes(&ctx);
  volatile uint64_t* brought = g->more + SELF;
  for (uint64_t turn = 1; turn <= g->rounds; ++turn) {
    if (pe != 0) shmem_uint64_wait_until_wg(g->words + SELF, SHMEM_CMP_GE, turn);
    *brought += shmem_ctx_uint64_atomic_fetch_add_wg(&ctx, g->words + SELF, 1, next);
    if (pe == 0) shmem_uint64_wait_until_wg(g->words + SELF, SHMEM_CMP_GE, turn);
  }
  shmem_wg_ctx_destroy(&ctx);
  tile_end();
  __builtin_unreachable();
}

// n bins at each PE, common to all work-groups, also of the own PE; key k of a work-group is a hash of where it is.
void histogram(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, SELF);
  const uint64_t bins = g->n * shmem_ctx_n_pes(&ctx), pe = shmem_ctx_my_pe(&ctx);
  for (uint64_t k = 0; k < g->rounds; ++k) {
    const uint64_t bin = ((pe * GROUPS + SELF) * g->rounds + k) * 2654435761u % bins;
    shmem_ctx_uint64_atomic_inc_wg(&ctx, g->words + bin % g->n, (uint32_t)(bin / g->n));
  }
  shmem_ctx_quiet_wg(&ctx);
  shmem_wg_ctx_destroy(&ctx);
  tile_end();
  __builtin_unreachable();
}

// PEs are a torus of two columns, each has a block of n x n words with a frame. Rounds: each word becomes the sum of
// its four neighbours. Rows go by one context, columns by another one; signals count rounds.
void halo(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t rows, columns;
  shmem_wg_ctx_create(&rows, &g->shmem, 0);
  shmem_wg_ctx_create(&columns, &g->shmem, 1);
  const uint32_t pe = shmem_ctx_my_pe(&rows), pes = shmem_ctx_n_pes(&rows);
  const uint32_t above = (pe + pes - 2) % pes, below = (pe + 2) % pes, beside = pe ^ 1;
  const uint64_t n = g->n, pitch = n + 2;
  volatile uint64_t* edges = g->more;  // Two that leave, two that come, of two rounds each.
  uint64_t* blocks[2] = {g->words, g->words + pitch * pitch};
  for (uint64_t round = 1; round <= g->rounds; ++round) {
    uint64_t *from = blocks[(round + 1) % 2], *to = blocks[round % 2];
    uint64_t* half = g->more + round % 2 * 4 * n;
    edges = half;
    for (uint64_t i = 0; i < n; ++i) {
      edges[i] = from[(i + 1) * pitch + 1];
      edges[n + i] = from[(i + 1) * pitch + n];
    }
    shmem_ctx_putmem_signal_nbi_wg(&columns, half + 3 * n, half, 8 * n, g->signals, round,
                                   SHMEM_SIGNAL_SET, beside);
    shmem_ctx_putmem_signal_nbi_wg(&columns, half + 2 * n, half + n, 8 * n, g->signals + 1, round,
                                   SHMEM_SIGNAL_SET, beside);
    shmem_ctx_putmem_signal_nbi_wg(&rows, from + (n + 1) * pitch + 1, from + pitch + 1, 8 * n,
                                   g->signals + 2, round, SHMEM_SIGNAL_SET, above);
    shmem_ctx_putmem_signal_nbi_wg(&rows, from + 1, from + n * pitch + 1, 8 * n, g->signals + 3,
                                   round, SHMEM_SIGNAL_SET, below);
    shmem_uint64_wait_until_all_wg(g->signals, 4, NULL, SHMEM_CMP_GE, round);
    for (uint64_t i = 0; i < n; ++i) {
      ((volatile uint64_t*)from)[(i + 1) * pitch] = edges[2 * n + i];
      ((volatile uint64_t*)from)[(i + 1) * pitch + n + 1] = edges[3 * n + i];
    }
    for (uint64_t y = 1; y <= n; ++y)
      for (uint64_t x = 1; x <= n; ++x)
        ((volatile uint64_t*)to)[y * pitch + x] = from[(y - 1) * pitch + x] +
                                                  from[(y + 1) * pitch + x] +
                                                  from[y * pitch + x - 1] + from[y * pitch + x + 1];
    shmem_ctx_quiet_wg(&columns);
    shmem_ctx_barrier_all_wg(&rows);  // Its neighbours have read their frames, too.
  }
  shmem_wg_ctx_destroy(&columns);
  shmem_wg_ctx_destroy(&rows);
  tile_end();
  __builtin_unreachable();
}

// A lock at PE 0, which takes it, too, keeps two words equal: words[0] tickets, [1] who is served,
// [2] and [3] what is guarded.
void ticket_lock(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, SELF);
  for (uint64_t i = 0; i < g->rounds; ++i) {
    const uint64_t ticket = shmem_ctx_uint64_atomic_fetch_inc_wg(&ctx, g->words, 0);
    while (shmem_ctx_uint64_atomic_fetch_wg(&ctx, g->words + 1, 0) != ticket) {
    }
    const uint64_t a = shmem_ctx_uint64_g_wg(&ctx, g->words + 2, 0);
    const uint64_t b = shmem_ctx_uint64_g_wg(&ctx, g->words + 3, 0);
    shmem_ctx_uint64_p_wg(&ctx, g->words + 2, a + 1, 0);
    shmem_ctx_uint64_p_wg(&ctx, g->words + 3, a == b ? b + 1 : 0, 0);
    shmem_ctx_quiet_wg(&ctx);
    shmem_ctx_uint64_atomic_inc_wg(&ctx, g->words + 1, 0);
  }
  shmem_wg_ctx_destroy(&ctx);
  tile_end();
  __builtin_unreachable();
}

// n words from each PE to each one: words of a work-group come from, more of it go to PE p at p x n.
void all_to_all(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, SELF);
  const uint32_t self = shmem_ctx_my_pe(&ctx), pes = shmem_ctx_n_pes(&ctx);
  const uint64_t first = SELF * pes * g->n;
  for (uint32_t pe = 0; pe < pes; ++pe)
    shmem_ctx_putmem_nbi_wg(&ctx, g->words + first + self * g->n, g->more + first + pe * g->n,
                            8 * g->n, pe);
  shmem_ctx_quiet_wg(&ctx);
  shmem_wg_ctx_destroy(&ctx);
  tile_end();
  __builtin_unreachable();
}

// Work-group 1 of PE 1 waits for what nobody sends.
void unsent(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, SELF);
  if (shmem_ctx_my_pe(&ctx) == 1 && SELF == 1)
    shmem_uint64_wait_until_wg(g->words + 5, SHMEM_CMP_GE, 77);
  shmem_wg_ctx_destroy(&ctx);
  tile_end();
  __builtin_unreachable();
}

// PE 1 asks PE 0 for a lock that nobody gives back.
void spin(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, SELF);
  while (shmem_ctx_my_pe(&ctx) == 1 &&
         shmem_ctx_uint64_atomic_compare_swap_wg(&ctx, g->words, 1, 2, 0) != 1) {
  }
  shmem_wg_ctx_destroy(&ctx);
  tile_end();
  __builtin_unreachable();
}

// The others ask PE 0 for a lock, by turns, which its host program gives.
void held(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, SELF);
  if (shmem_ctx_my_pe(&ctx) != 0) {
    while (shmem_ctx_uint64_atomic_compare_swap_wg(&ctx, g->words, 1, 2, 0) != 1) {
    }
    shmem_ctx_uint64_atomic_inc_wg(&ctx, g->words + 1, 0);
    shmem_ctx_uint64_p_wg(&ctx, g->words, 1, 0);
  }
  shmem_wg_ctx_destroy(&ctx);
  tile_end();
  __builtin_unreachable();
}

// PE 0 puts to PE 1 three times and waits for nothing but its own entry to be marked; more: for each, status, read
// index and clock, then the clock of the begin and that behind quiet.
void marked(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, SELF);
  volatile uint64_t* told = g->more;
  if (shmem_ctx_my_pe(&ctx) == 0) {
    told[9] = tile_csr(TILE_CSR_CYCLE);
    for (uint64_t i = 0; i < 3; ++i) {
      const uint64_t queue = g->shmem.queues, entry = queue + STRETTO_SHMEM_FIRST + i * 64;
      shmem_ctx_putmem_nbi_wg(&ctx, g->words + 8 * i, g->words + 64, 64, 1);
      tile_wait_until(entry, TILE_NE | TILE_WAIT_DEVICE,
                      stretto_shmem_state(STRETTO_SHMEM_PUT, 0, 1, 0));
      tile_fence(TILE_SCOPE_DEVICE);
      told[3 * i] = *(volatile uint64_t*)(uintptr_t)entry;
      told[3 * i + 1] = *(volatile uint64_t*)(uintptr_t)(queue + STRETTO_SHMEM_READ);
      told[3 * i + 2] = tile_csr(TILE_CSR_CYCLE);
    }
    shmem_ctx_quiet_wg(&ctx);
    told[10] = tile_csr(TILE_CSR_CYCLE);
  }
  shmem_wg_ctx_destroy(&ctx);
  tile_end();
  __builtin_unreachable();
}

// What a context may not do: n is 0, work-group 1 makes that of work-group 0; 1, one is used that was destroyed;
// 2, there are not so many.
void contexts(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  if (SELF == 1)
    for (int i = 0; i < 2000; ++i) __asm__ volatile("");
  shmem_wg_ctx_create(&ctx, &g->shmem, g->n == 0 ? 0 : g->n == 2 ? SELF + 3 : SELF);
  if (g->n == 0 && SELF == 0) shmem_uint64_wait_until_wg(g->words, SHMEM_CMP_EQ, 1);
  shmem_wg_ctx_destroy(&ctx);
  if (SELF == 1) shmem_ctx_quiet_wg(&ctx);
  tile_end();
  __builtin_unreachable();
}

// PE 0 asks for one thing that must not be; more[0] is what it is told. The heap ends at signals. 12: it forgets to
// destroy its context.
void bad(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, SELF);
  const uint32_t pes = shmem_ctx_n_pes(&ctx);
  uint64_t *words = g->words, *last = g->signals - 1;
  const uint64_t number = shmem_ctx_my_pe(&ctx) == 0 ? g->n : 99;
  switch (number) {
    case 0: shmem_ctx_putmem_wg(&ctx, last, words, 9, 1); break;
    case 1: shmem_ctx_putmem_wg(&ctx, g->signals, words, 64, 1); break;
    case 2: shmem_ctx_getmem_wg(&ctx, words, last, 9, 1); break;
    case 3: shmem_ctx_getmem_wg(&ctx, last, words, 9, 1); break;
    case 4: shmem_ctx_putmem_wg(&ctx, words, g->more, 64, 1); break;
    case 5: shmem_ctx_putmem_wg(&ctx, words, words + 8, 64, pes); break;
    case 6: shmem_ctx_putmem_wg(&ctx, last, words, 9, 0); break;
    case 7:
      (void)shmem_ctx_uint64_atomic_fetch_add_wg(&ctx, (uint64_t*)(void*)((char*)words + 4), 1, 1);
      break;
    case 8: shmem_ctx_putmem_wg(&ctx, words, words, (size_t)1 << 33, 1); break;
    case 9: shmem_ctx_putmem_wg(&ctx, (char*)words - (1 << 20), words, 64, 1); break;
    case 10: shmem_ctx_uint64_atomic_add_wg(&ctx, g->signals, 1, 1); break;
    case 11: shmem_ctx_uint64_p_wg(&ctx, last + 1, 1, 1); break;
    case 12: shmem_ctx_quiet_wg(&ctx); break;
    default: break;
  }
  if (number != 12) shmem_wg_ctx_destroy(&ctx);
  *(volatile uint64_t*)g->more = number == 12 ? 12 : ctx.failed;
  tile_end();
  __builtin_unreachable();
}

// PE 1 does not answer: the others put to it by one context, and to each other by another one. more[0] and [1]: what
// these are told.
void down(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t broken, whole;
  shmem_wg_ctx_create(&broken, &g->shmem, 0);
  shmem_wg_ctx_create(&whole, &g->shmem, 1);
  const uint32_t pe = shmem_ctx_my_pe(&whole), pes = shmem_ctx_n_pes(&whole);
  if (pe != 1) {
    shmem_ctx_putmem_wg(&broken, g->words + 32, g->words + 64, 256, 1);
    for (uint32_t to = 0; to < pes; ++to)
      if (to != 1 && to != pe) shmem_ctx_uint64_p_wg(&whole, g->words + pe, 1000 + pe, to);
    for (uint32_t from = 0; from < pes; ++from)
      if (from != 1 && from != pe)
        shmem_uint64_wait_until_wg(g->words + from, SHMEM_CMP_EQ, 1000 + from);
    shmem_ctx_quiet_wg(&whole);
  }
  shmem_wg_ctx_destroy(&broken);
  shmem_wg_ctx_destroy(&whole);
  ((volatile uint64_t*)g->more)[0] = broken.failed;
  ((volatile uint64_t*)g->more)[1] = whole.failed;
  tile_end();
  __builtin_unreachable();
}

// 65 puts that nobody waits for, a word each, then quiet.
void many(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, SELF);
  const uint32_t pe = shmem_ctx_my_pe(&ctx), next = (pe + 1) % shmem_ctx_n_pes(&ctx);
  for (uint64_t i = 0; i < 65; ++i)
    shmem_ctx_uint64_p_wg(&ctx, g->words + 65 * SELF + i, 1000 * pe + i, next);
  shmem_wg_ctx_destroy(&ctx);
  tile_end();
  __builtin_unreachable();
}

// PE 0 asks for no bytes of what is in no heap, in each way; PE 1 waits for the signals. more: what PE 0 is told, and
// the entries that it wrote.
void zero(void) {
  const shmem_five_arguments_t* g = ARGUMENTS;
  shmem_ctx_t ctx;
  shmem_wg_ctx_create(&ctx, &g->shmem, SELF);
  const uint64_t before = ctx.written;
  char* far = (char*)g->words + (1 << 30);
  uint64_t* signal = g->words + 1;
  if (shmem_ctx_my_pe(&ctx) == 0) {
    shmem_ctx_putmem_wg(&ctx, far, far, 0, 1);
    shmem_ctx_putmem_nbi_wg(&ctx, far, far + 1, 0, 1);
    shmem_ctx_getmem_wg(&ctx, far, far, 0, 1);
    shmem_ctx_getmem_nbi_wg(&ctx, far, far, 0, 1);
    shmem_ctx_putmem_signal_wg(&ctx, far, far, 0, signal, 7, SHMEM_SIGNAL_SET, 1);
    shmem_ctx_quiet_wg(&ctx);
    shmem_ctx_putmem_signal_nbi_wg(&ctx, far, far, 0, signal, 2, SHMEM_SIGNAL_ADD, 1);
  }
  const uint64_t written = ctx.written - before;
  if (shmem_ctx_my_pe(&ctx) == 1) shmem_uint64_wait_until_wg(signal, SHMEM_CMP_EQ, 9);
  shmem_ctx_broadcastmem_wg(&ctx, far, far, 0, 0);
  shmem_ctx_fcollectmem_wg(&ctx, far, far, 0);
  shmem_ctx_alltoallmem_wg(&ctx, far, far, 0);
  shmem_wg_ctx_destroy(&ctx);
  ((volatile uint64_t*)g->more)[0] = ctx.failed;
  ((volatile uint64_t*)g->more)[1] = written;
  tile_end();
  __builtin_unreachable();
}

// Nothing, so often.
void idle(void) {
  for (uint64_t i = 0; i < ARGUMENTS->rounds; ++i) __asm__ volatile("");
  tile_end();
  __builtin_unreachable();
}

#define KERNEL(name)                                                         \
  STRETTO_KERNEL(name, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096, \
                 .private_bytes = 1024, .wavefronts = 1,                     \
                 .kernarg_bytes = sizeof(shmem_five_arguments_t))
KERNEL(tokens);
KERNEL(histogram);
KERNEL(halo);
KERNEL(ticket_lock);
KERNEL(all_to_all);
KERNEL(unsent);
KERNEL(contexts);
KERNEL(bad);
KERNEL(many);
KERNEL(down);
KERNEL(spin);
KERNEL(held);
KERNEL(zero);
KERNEL(marked);
KERNEL(idle);
