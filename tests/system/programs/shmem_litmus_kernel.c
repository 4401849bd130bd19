// SPDX-License-Identifier: Apache-2.0
// A test a work-group, at the same time at four PEs that change parts each round. Round v writes v; what is looked at
// was v - 1 before, and caches have seen that. Delays and lengths of runs are drawn for each round and PE.
//
// Planted: LITMUS_NO_FENCE takes all fences out of the calls; LITMUS_GET_AND_PUT makes an addition of a get and a
// put; LITMUS_NO_ORDER sends the second of two puts by another context.
#include "sw/include/tile.h"
#include "sw/kernels/kernel.h"

// What the tests need themselves.
KERNEL_INLINE void own_fence(void) { tile_fence(TILE_SCOPE_SYSTEM); }

#ifdef LITMUS_NO_FENCE
#undef tile_fence
#define tile_fence(scope) ((void)(scope))
#endif
#include "sw/include/shmem.h"
#include "tests/system/programs/shmem_litmus.h"

typedef struct play {
  shmem_ctx_t ctx, other;
  uint64_t *x, *y, *source;  // The last word of each run.
  uint64_t* flags;
  uint64_t round, random;
  uint32_t a, b, c, d;  // PEs.
  uint32_t pe;
  uint32_t words;  // Of a run.
  uint64_t seen;
} play_t;

KERNEL_INLINE uint64_t load(const uint64_t* at) { return *(const volatile uint64_t*)at; }
KERNEL_INLINE void store(uint64_t* at, uint64_t value) { *(volatile uint64_t*)at = value; }
KERNEL_INLINE uint64_t* flag(const play_t* p, uint32_t number) { return p->flags + 16 * number; }

KERNEL_INLINE uint64_t draw(play_t* p) {
  p->random ^= p->random << 13;
  p->random ^= p->random >> 7;
  p->random ^= p->random << 17;
  return p->random;
}
// Nothing, up to some microseconds.
static __attribute__((noinline)) void delay(play_t* p) {
  const uint64_t most = 1ull << draw(p) % 12;
  for (uint64_t i = draw(p) % most; i != 0; --i) __asm__ volatile("");
}

// The run that ends in `to` at a PE gets this round's number.
KERNEL_INLINE void* begin_of(uint64_t* last, uint32_t words) { return last + 1 - words; }
static __attribute__((noinline)) void put(play_t* p, uint64_t* to, uint32_t pe) {
  store(p->source, p->round);
  shmem_ctx_putmem_nbi_wg(&p->ctx, begin_of(to, p->words), begin_of(p->source, p->words),
                          8 * (size_t)p->words, pe);
}
static __attribute__((noinline)) void tell(play_t* p, uint32_t number, uint32_t pe) {
  shmem_ctx_uint64_p_wg(&p->ctx, flag(p, number), p->round, pe);
}
static __attribute__((noinline)) void await(play_t* p, uint32_t number) {
  delay(p);
  shmem_uint64_wait_until_wg(flag(p, number), SHMEM_CMP_GE, p->round);
}
static __attribute__((noinline)) uint64_t get(play_t* p, uint64_t* from, uint32_t pe) {
  return shmem_ctx_uint64_g_wg(&p->ctx, from, pe);
}
static __attribute__((noinline)) void quiet(play_t* p) { shmem_ctx_quiet_wg(&p->ctx); }
static __attribute__((noinline)) void barrier(play_t* p) {
  shmem_ctx_quiet_wg(&p->other);
  shmem_ctx_barrier_all_wg(&p->ctx);
}
KERNEL_INLINE void saw(play_t* p, int outcome) { p->seen += outcome != 0; }
// The own word must be new.
KERNEL_INLINE void look(play_t* p, const uint64_t* at) { saw(p, load(at) != p->round); }

static __attribute__((noinline)) void put_signal(play_t* p, uint64_t* to, uint32_t number,
                                                 int operation, uint64_t value, uint32_t pe) {
  store(p->source, p->round);
  shmem_ctx_putmem_signal_nbi_wg(&p->ctx, begin_of(to, p->words), begin_of(p->source, p->words),
                                 8 * (size_t)p->words, flag(p, number), value, operation, pe);
}

static void one_to_one(play_t* p, litmus_test_t test) {
  if (p->pe == p->a) {
    switch (test) {
      case LITMUS_mp_quiet: put(p, p->x, p->b), quiet(p), tell(p, 0, p->b); break;
      case LITMUS_mp_fence:
        put(p, p->x, p->b), shmem_ctx_fence_wg(&p->ctx), tell(p, 0, p->b);
        break;
      case LITMUS_mp_signal: put_signal(p, p->x, 0, SHMEM_SIGNAL_SET, p->round, p->b); break;
      case LITMUS_other_context:
        put(p, p->x, p->b);
        shmem_ctx_uint64_p_wg(&p->other, flag(p, 0), p->round, p->b);
        break;
      case LITMUS_put_source:
        store(p->source, p->round);
        shmem_ctx_putmem_wg(&p->ctx, begin_of(p->x, p->words), begin_of(p->source, p->words),
                            8 * (size_t)p->words, p->b);
        store(p->source, 0);
        own_fence();
        quiet(p), tell(p, 0, p->b);
        break;
      case LITMUS_put_nbi_source:
        put(p, p->x, p->b);
        store(p->source, 0);
        own_fence();
        quiet(p), tell(p, 0, p->b);
        break;
      case LITMUS_read_read: delay(p), shmem_ctx_uint64_p_wg(&p->ctx, p->x, p->round, p->b); break;
      default:  // write_write
        put(p, p->x, p->b);
        shmem_ctx_fence_wg(&p->ctx);
#ifdef LITMUS_NO_ORDER
        shmem_ctx_uint64_p_wg(&p->other, p->x, p->round + (1ull << 32), p->b);
        shmem_ctx_quiet_wg(&p->other);
#else
        shmem_ctx_uint64_p_wg(&p->ctx, p->x, p->round + (1ull << 32), p->b);
#endif
        quiet(p), tell(p, 0, p->b);
        break;
    }
  } else if (p->pe == p->b) {
    (void)load(p->x);
    if (test == LITMUS_read_read) {
      delay(p);
      shmem_uint64_wait_until_wg(p->x, SHMEM_CMP_GE, p->round);
    } else {
      await(p, 0);
    }
    saw(p, load(p->x) != p->round + (test == LITMUS_write_write ? 1ull << 32 : 0));
  }
}

static void of_three(play_t* p, litmus_test_t test) {
  if (p->pe == p->a) {
    put(p, p->x, p->b);
    if (test == LITMUS_third_tells || test == LITMUS_third_gets) quiet(p);
    if (test != LITMUS_barrier) tell(p, 0, p->c);
  } else if (p->pe == p->c && test != LITMUS_barrier) {
    await(p, 0);
    if (test == LITMUS_third_tells)
      tell(p, 1, p->b);
    else
      saw(p, get(p, p->x, p->b) != p->round);
  } else if (p->pe == p->b && test == LITMUS_third_tells) {
    (void)load(p->x);
    await(p, 1);
    look(p, p->x);
  }
  if (test != LITMUS_barrier) return;
  barrier(p);
  if (p->pe == p->c) saw(p, get(p, p->x, p->b) != p->round);
}

// Two producers, each with words of its own.
static void add_signals(play_t* p) {
  if (p->pe == p->a || p->pe == p->c) {
    delay(p);
    put_signal(p, p->pe == p->a ? p->x : p->y, 0, SHMEM_SIGNAL_ADD, 1, p->b);
  } else if (p->pe == p->b) {
    (void)load(p->x), (void)load(p->y);
    shmem_uint64_wait_until_wg(flag(p, 0), SHMEM_CMP_EQ, 2);
    saw(p, load(p->x) != p->round || load(p->y) != p->round);
    store(flag(p, 0), 0);
    own_fence();
  }
}

static void stored_then_got(play_t* p) {
  if (p->pe == p->a) {
    store(p->x, p->round);
    tell(p, 0, p->b);
  } else if (p->pe == p->b) {
    await(p, 0);
    saw(p, get(p, p->x, p->a) != p->round);
  }
}

static void got_later(play_t* p) {
  if (p->pe == p->b) {
    store(p->source, p->round);
    tell(p, 0, p->a);
  } else if (p->pe == p->a) {
    await(p, 0);
    (void)load(p->x);
    shmem_ctx_getmem_nbi_wg(&p->ctx, begin_of(p->x, p->words), begin_of(p->source, p->words),
                            8 * (size_t)p->words, p->b);
    quiet(p);
    look(p, p->x);
  }
}

// Three add 1 to a word of the fourth.
static void additions(play_t* p) {
  delay(p);
  if (p->pe != p->c) {
#ifdef LITMUS_GET_AND_PUT
    shmem_ctx_uint64_p_wg(&p->ctx, p->x, get(p, p->x, p->c) + 1, p->c);
#else
    (void)shmem_ctx_uint64_atomic_fetch_add_wg(&p->ctx, p->x, 1, p->c);
#endif
  }
  barrier(p);
  if (p->pe == p->c) {
    saw(p, load(p->x) != 3);
    store(p->x, 0);
    own_fence();
  }
}

// a and b write a word of c and of d, then read the other one's: one of them must see the other.
static void store_buffering(play_t* p, int waits) {
  const int is_a = p->pe == p->a;
  if (is_a || p->pe == p->b) {
    delay(p);
    put(p, p->x, is_a ? p->c : p->d);
    if (waits) quiet(p);
    const uint64_t got = get(p, p->x, is_a ? p->d : p->c);
    store(p->y, p->round << 1 | (got != p->round));
    own_fence();
  }
  barrier(p);
  if (is_a) saw(p, (load(p->y) & 1) != 0 && (get(p, p->y, p->b) & 1) != 0);
}

KERNEL_INLINE int is_of_three(uint32_t test) {
  return test == LITMUS_third_tells || test == LITMUS_third_gets || test == LITMUS_barrier ||
         test == LITMUS_store_buffering || test == LITMUS_third_no_quiet ||
         test == LITMUS_stores_no_quiet;
}

void litmus(void) {
  const litmus_arguments_t* g = (const litmus_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint32_t test = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  uint64_t* words = g->words + test * (uint64_t)LITMUS_WORDS;
  play_t play;
  play.x = words + LITMUS_Y - 1;
  play.y = words + LITMUS_SOURCE - 1;
  play.source = words + LITMUS_FLAGS - 1;
  play.flags = words + LITMUS_FLAGS;
  play.seen = 0;
  shmem_wg_ctx_create(&play.ctx, &g->shmem, 2 * test);
  shmem_wg_ctx_create(&play.other, &g->shmem, 2 * test + 1);
  play.pe = shmem_ctx_my_pe(&play.ctx);
  for (uint64_t round = 1; round <= g->rounds; ++round) {
    const uint64_t shared = (g->seed + round) * 0x9e3779b97f4a7c15 + test * 0xbf58476d1ce4e5b9;
    play.round = round;
    play.a = (uint32_t)(shared >> 40) % LITMUS_PES;
    play.b = (play.a + 1) % LITMUS_PES, play.c = (play.a + 2) % LITMUS_PES;
    play.d = (play.a + 3) % LITMUS_PES;
    play.random = (shared ^ shared >> 29) * (2 * play.pe + 1) | 1;
    // Of three: long enough that a word for the third PE can be faster.
    play.words = 1u << (is_of_three(test) ? 8 + (shared >> 20) % 7 : (shared >> 20) % 12);
    delay(&play);
    switch ((litmus_test_t)test) {
      case LITMUS_third_tells:
      case LITMUS_third_gets:
      case LITMUS_third_no_quiet:
      case LITMUS_barrier: of_three(&play, test); break;
      case LITMUS_mp_add_signal: add_signals(&play); break;
      case LITMUS_stored_then_got: stored_then_got(&play); break;
      case LITMUS_get_nbi: got_later(&play); break;
      case LITMUS_lost_add: additions(&play); break;
      case LITMUS_store_buffering: store_buffering(&play, 1); break;
      case LITMUS_stores_no_quiet: store_buffering(&play, 0); break;
      default: one_to_one(&play, test); break;
    }
    barrier(&play);
  }
  store(g->seen + test, play.seen);
  shmem_wg_ctx_destroy(&play.other);
  shmem_wg_ctx_destroy(&play.ctx);
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(litmus, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096, .private_bytes = 2048,
               .wavefronts = 1, .kernarg_bytes = sizeof(litmus_arguments_t));
