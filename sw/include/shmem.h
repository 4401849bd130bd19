// SPDX-License-Identifier: Apache-2.0
// One-sided communication from kernels, with the names of OpenSHMEM 1.5. What a call asks for, the
// command processor does (ComP-Net), or threads of the host: the call writes an entry into the queue of
// its work-group (formats/shmem_queue.h) and, if it is a blocking one, waits for its end. PEs are servers; a host
// program opens heap and service by shmem_wg_init and hands kernels a stretto_shmem_handle_t.
//
// Suffix _wg: all wavefronts of a work-group call with equal arguments, and none goes on before the
// call has ended (CN-API-02). Order of calls: shmem_wg_ctx_create; operations;
// shmem_wg_ctx_destroy before tile_end. A context lies in private memory, one a wavefront.
//
// Symmetric addresses are those in the own heap. `source` of a put and `dest` of a get lie in the
// own heap, too: that alone is registered with the NIC.
//   blocking    put: the source may be written again. get, atomics: the result is there.
//   _nbi        nothing is promised before shmem_ctx_quiet_wg; the source stays as it is till then
//   quiet       all operations of this context have ended: puts can be seen at their PEs
//   fence       puts, signals and atomics behind it take effect behind those before, at each PE: the
//               service keeps the order of a queue, so there is nothing to do
//   _signal     the signal is there after the data
//   wait_until  what was put before the value that it sees can be read
//   collectives work-groups of one number at all PEs; what was asked for before has ended behind
//               those that move bytes; reductions have the same bits at all PEs
// Every call that reads or writes the heap, and every wait, has a fence of system scope: the NIC
// sees what the work-group has stored, and the work-group what the NIC has written
// (MEMORY_MODEL.md). The axioms of all this: SHMEM_MODEL.md.
//
// `pe` may be the own one everywhere: the NIC does the operation on the own server, so axioms and
// atomics are those of any PE. Failures end the run, unless the service returns them: then
// ctx->failed has the first one (STRETTO_SHMEM_*, STRETTO_NIC_*).
#ifndef STRETTO_SW_INCLUDE_SHMEM_H_
#define STRETTO_SW_INCLUDE_SHMEM_H_

#include <stddef.h>

#include "formats/shmem_queue.h"

#ifndef __riscv

// Host programs, one PE a server (--mode compnet and others). Names and meaning are OpenSHMEM's; sw/net/README.md
// has a program. The symmetric heap lies in memory of device 0: cudaMemcpy and cudaMemset reach the own part of it.
// A call that fails says why: stretto_error_text().
#ifdef __cplusplus
extern "C" {
#endif

// All PEs call it, with the same number. The service starts: up to `work_groups` contexts (1 .. 1024) at a time.
// `handle`: for kernels, in their arguments. Not 0: it has failed.
int shmem_wg_init(stretto_shmem_handle_t* handle, unsigned work_groups);
void shmem_init(void);  // For one context, and no kernel gets it.
int shmem_my_pe(void);  // -1: before init, or behind finalize.
int shmem_n_pes(void);
// Of all PEs, with equal sizes, in the same order; sizes that differ give NULL at all. Addresses are multiples of
// 128. They may differ from PE to PE: what kernels name is the own one (see above).
void* shmem_malloc(size_t size);
void* shmem_calloc(size_t count, size_t size);
void* shmem_align(size_t alignment, size_t size);
void shmem_free(void* pointer);
// NULL for other PEs: nothing but the NIC reaches them.
void* shmem_ptr(const void* dest, int pe);
// Waits for all streams of device 0, then for all PEs: what kernels have stored and put by then, kernels behind
// it read.
void shmem_barrier_all(void);
// A barrier; then the service stops. Refused while a stream has not ended.
void shmem_finalize(void);

#ifdef __cplusplus
}
#endif

#else  // Kernels.

#include "sw/include/formats/machine_types.h"
#include "sw/include/tile.h"

#define SHMEM_INLINE static inline __attribute__((always_inline))

typedef struct shmem_ctx {
  uint64_t queue;
  uint64_t entries;  // Where its entries are written, less STRETTO_SHMEM_FIRST.
  uint64_t heap;
  uint64_t written;    // Entries so far (CN-Q-01),
  uint64_t read;       // and the last known read index.
  uint64_t barriers;   // shmem_ctx_barrier_all_wg so far,
  uint64_t exchanges;  // and words exchanged with all PEs.
  uint32_t work_group;
  uint32_t pe, pes;
  uint32_t flags;
  uint32_t failed;  // Status of the first operation that is known to have failed, 0 = none.
} shmem_ctx_t;

// Comparisons of waits, unsigned.
enum {
  SHMEM_CMP_EQ,
  SHMEM_CMP_NE,
  SHMEM_CMP_GT,
  SHMEM_CMP_LE,
  SHMEM_CMP_LT,
  SHMEM_CMP_GE,
};
enum { SHMEM_SIGNAL_SET = STRETTO_SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD = STRETTO_SHMEM_SIGNAL_ADD };

// Words of memory

SHMEM_INLINE uint64_t shmem_load_(uint64_t address) {
  return *(volatile uint64_t*)(uintptr_t)address;
}
SHMEM_INLINE void shmem_store_(uint64_t address, uint64_t value) {
  *(volatile uint64_t*)(uintptr_t)address = value;
}
SHMEM_INLINE int shmem_acts_(void) { return tile_csr(TILE_CSR_WF_ID) == 0; }
// What the first wavefront has, to all; a barrier.
SHMEM_INLINE uint64_t shmem_share_(uint64_t value) { return tile_vote(shmem_acts_() ? value : 0); }

// Contexts

// The first wavefront takes the queue for the work-group.
SHMEM_INLINE void shmem_take_queue_(uint64_t queue) {
  if (!shmem_acts_()) return;
  const uint64_t before =
      __atomic_exchange_n((uint64_t*)(uintptr_t)(queue + STRETTO_SHMEM_TAKEN), 1, __ATOMIC_RELAXED);
  if (before != 0) tile_abort("shmem_wg_ctx_create: the context is another work-group's");
}

// That of work-group `work_group`, which no other one uses now: below handle->queue_count. What a
// context may not do ends the run: made while it is in use, used when it was destroyed.
SHMEM_INLINE void shmem_wg_ctx_create(shmem_ctx_t* ctx, const stretto_shmem_handle_t* handle,
                                      uint32_t work_group) {
  if (work_group >= handle->queue_count)
    tile_abort("shmem_wg_ctx_create: more contexts than shmem_wg_init was told");
  shmem_take_queue_(handle->queues + (uint64_t)work_group * STRETTO_SHMEM_QUEUE_BYTES);
  ctx->queue = handle->queues + (uint64_t)work_group * STRETTO_SHMEM_QUEUE_BYTES;
  ctx->entries = handle->entries + (uint64_t)work_group * STRETTO_SHMEM_QUEUE_BYTES;
  ctx->heap = handle->heap;
  ctx->work_group = work_group;
  ctx->pe = handle->pe;
  ctx->pes = handle->pes;
  ctx->flags = handle->flags;
  ctx->failed = 0;
  ctx->written = ctx->read = shmem_load_(ctx->queue + STRETTO_SHMEM_WRITTEN);
  ctx->barriers = shmem_load_(ctx->queue + STRETTO_SHMEM_BARRIERS);
  ctx->exchanges = shmem_load_(ctx->queue + STRETTO_SHMEM_EXCHANGES);
}

SHMEM_INLINE uint32_t shmem_ctx_my_pe(const shmem_ctx_t* ctx) { return ctx->pe; }
SHMEM_INLINE uint32_t shmem_ctx_n_pes(const shmem_ctx_t* ctx) { return ctx->pes; }

// Offset in the queue.
SHMEM_INLINE uint64_t shmem_entry_(uint64_t index) {
  return STRETTO_SHMEM_FIRST + index % STRETTO_SHMEM_ENTRIES * STRETTO_SHMEM_ENTRY_BYTES;
}

// Waits for a place in the ring (CN-Q-02), then writes the entry and announces it (CN-Q-03, -04).
SHMEM_INLINE void shmem_enqueue_(shmem_ctx_t* ctx, uint64_t state, uint64_t destination,
                                 uint64_t source, uint64_t bytes, uint64_t signal, uint64_t operand,
                                 uint64_t compare) {
  if (ctx->queue == 0) tile_abort("shmem.h: the context was destroyed");
  if (ctx->written - ctx->read >= STRETTO_SHMEM_ENTRIES) {
    const uint64_t index = ctx->queue + STRETTO_SHMEM_READ;
    tile_wait_until(index, TILE_GEU | TILE_WAIT_DEVICE, ctx->written - STRETTO_SHMEM_ENTRIES + 1);
    tile_fence(TILE_SCOPE_DEVICE);
    ctx->read = shmem_load_(index);
  }
  const uint64_t entry = ctx->entries + shmem_entry_(ctx->written);
  if (ctx->entries != ctx->queue) shmem_store_(ctx->queue + shmem_entry_(ctx->written), state);
  shmem_store_(entry + offsetof(stretto_shmem_entry_t, destination), destination);
  shmem_store_(entry + offsetof(stretto_shmem_entry_t, source), source);
  shmem_store_(entry + offsetof(stretto_shmem_entry_t, bytes), bytes);
  if (signal != 0) shmem_store_(entry + offsetof(stretto_shmem_entry_t, signal), signal);
  shmem_store_(entry + offsetof(stretto_shmem_entry_t, operand), operand);
  shmem_store_(entry + offsetof(stretto_shmem_entry_t, compare), compare);
  if ((ctx->flags & STRETTO_SHMEM_NO_LOCK) != 0) {
    tile_locked_store(entry, state);
  } else {
    tile_llc_store(entry, state);
  }
  ++ctx->written;
}

// Waits until the entry written last has ended; what it has brought can be read. Returns its value.
SHMEM_INLINE uint64_t shmem_end_(shmem_ctx_t* ctx, uint64_t state) {
  const uint64_t entry = ctx->queue + shmem_entry_(ctx->written - 1);
  tile_wait_until(entry, TILE_NE | TILE_WAIT_DEVICE, state);
  tile_fence(TILE_SCOPE_SYSTEM);
  const uint32_t status = (uint32_t)shmem_load_(entry) & 0xFF;
  if (status != STRETTO_SHMEM_DONE && ctx->failed == 0)
    ctx->failed = status & ~(uint32_t)STRETTO_SHMEM_FAILED;
  return shmem_load_(entry + offsetof(stretto_shmem_entry_t, value));
}

// An operation of the first wavefront; its value if it blocks.
SHMEM_INLINE uint64_t shmem_do_(shmem_ctx_t* ctx, uint32_t operation, uint32_t flags,
                                uint64_t destination, uint64_t source, uint64_t bytes,
                                uint64_t signal, uint64_t operand, uint64_t compare, uint32_t pe) {
  const uint64_t state = stretto_shmem_state(operation, flags, pe, ctx->work_group);
  tile_fence(TILE_SCOPE_SYSTEM);
  shmem_enqueue_(ctx, state, destination, source, bytes, signal, operand, compare);
  return (flags & STRETTO_SHMEM_BLOCKING) != 0 ? shmem_end_(ctx, state) : 0;
}

// Quiet, fence, end

SHMEM_INLINE void shmem_quiet_(shmem_ctx_t* ctx) {
  const uint64_t state =
      stretto_shmem_state(STRETTO_SHMEM_QUIET, STRETTO_SHMEM_BLOCKING, 0, ctx->work_group);
  shmem_enqueue_(ctx, state, 0, 0, 0, 0, 0, 0);
  (void)shmem_end_(ctx, state);
}

SHMEM_INLINE void shmem_ctx_quiet_wg(shmem_ctx_t* ctx) {
  tile_barrier();
  if (shmem_acts_()) shmem_quiet_(ctx);
  tile_barrier();
}

SHMEM_INLINE void shmem_ctx_fence_wg(shmem_ctx_t* ctx) {
  (void)ctx;
  tile_barrier();
}

// Quiet, too.
SHMEM_INLINE void shmem_wg_ctx_destroy(shmem_ctx_t* ctx) {
  tile_barrier();
  if (shmem_acts_()) {
    shmem_quiet_(ctx);
    shmem_store_(ctx->queue + STRETTO_SHMEM_WRITTEN, ctx->written);
    shmem_store_(ctx->queue + STRETTO_SHMEM_BARRIERS, ctx->barriers);
    shmem_store_(ctx->queue + STRETTO_SHMEM_EXCHANGES, ctx->exchanges);
    tile_fence(TILE_SCOPE_DEVICE);
    shmem_store_(ctx->queue + STRETTO_SHMEM_TAKEN, 0);
  }
  ctx->queue = 0;
  tile_barrier();
}

// Puts

// The signal of a put without data.
SHMEM_INLINE void shmem_signal_(shmem_ctx_t* ctx, uint64_t* sig_addr, uint64_t signal, int adds,
                                uint32_t pe) {
  const uint64_t at = (uint64_t)(uintptr_t)sig_addr;
  if (adds)
    (void)shmem_do_(ctx, STRETTO_SHMEM_FETCH_ADD, 0, at, 0, 8, 0, signal, 0, pe);
  else
    (void)shmem_do_(ctx, STRETTO_SHMEM_PUT, STRETTO_SHMEM_INLINE, at, signal, 8, 0, 0, 0, pe);
}

// At most eight bytes that lie in one word go with the entry (CN-Q-03, CN-D5): the source is free.
// No bytes, here and in gets and collectives: nothing is asked for, but the signal.
SHMEM_INLINE void shmem_put_(shmem_ctx_t* ctx, void* dest, const void* source, size_t nbytes,
                             uint64_t* sig_addr, uint64_t signal, uint32_t flags, uint32_t pe) {
  uint64_t from = (uint64_t)(uintptr_t)source;
  tile_barrier();
  if (nbytes == 0 && sig_addr != NULL && shmem_acts_())
    shmem_signal_(ctx, sig_addr, signal, (flags & STRETTO_SHMEM_SIGNAL_ADD) != 0, pe);
  if (nbytes != 0 && shmem_acts_()) {
    if (nbytes <= 8 && from % 8 == 0) {
      tile_fence(TILE_SCOPE_SYSTEM);
      from = shmem_load_(from);
      flags = (flags | STRETTO_SHMEM_INLINE) & ~(uint32_t)STRETTO_SHMEM_BLOCKING;
    }
    (void)shmem_do_(ctx, STRETTO_SHMEM_PUT, flags, (uint64_t)(uintptr_t)dest, from, nbytes,
                    (uint64_t)(uintptr_t)sig_addr, signal, 0, pe);
  }
  tile_barrier();
}

SHMEM_INLINE void shmem_ctx_putmem_wg(shmem_ctx_t* ctx, void* dest, const void* source,
                                      size_t nelems, uint32_t pe) {
  shmem_put_(ctx, dest, source, nelems, NULL, 0, STRETTO_SHMEM_BLOCKING, pe);
}
SHMEM_INLINE void shmem_ctx_putmem_nbi_wg(shmem_ctx_t* ctx, void* dest, const void* source,
                                          size_t nelems, uint32_t pe) {
  shmem_put_(ctx, dest, source, nelems, NULL, 0, 0, pe);
}
// sig_op: SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD.
SHMEM_INLINE void shmem_ctx_putmem_signal_wg(shmem_ctx_t* ctx, void* dest, const void* source,
                                             size_t nelems, uint64_t* sig_addr, uint64_t signal,
                                             int sig_op, uint32_t pe) {
  shmem_put_(ctx, dest, source, nelems, sig_addr, signal, STRETTO_SHMEM_BLOCKING | (uint32_t)sig_op,
             pe);
}
SHMEM_INLINE void shmem_ctx_putmem_signal_nbi_wg(shmem_ctx_t* ctx, void* dest, const void* source,
                                                 size_t nelems, uint64_t* sig_addr, uint64_t signal,
                                                 int sig_op, uint32_t pe) {
  shmem_put_(ctx, dest, source, nelems, sig_addr, signal, (uint32_t)sig_op, pe);
}
SHMEM_INLINE void shmem_ctx_uint64_p_wg(shmem_ctx_t* ctx, uint64_t* dest, uint64_t value,
                                        uint32_t pe) {
  tile_barrier();
  if (shmem_acts_())
    (void)shmem_do_(ctx, STRETTO_SHMEM_PUT, STRETTO_SHMEM_INLINE, (uint64_t)(uintptr_t)dest, value,
                    8, 0, 0, 0, pe);
  tile_barrier();
}

// Gets

SHMEM_INLINE void shmem_get_(shmem_ctx_t* ctx, void* dest, const void* source, size_t nelems,
                             uint32_t flags, uint32_t pe) {
  tile_barrier();
  if (nelems != 0 && shmem_acts_())
    (void)shmem_do_(ctx, STRETTO_SHMEM_GET, flags, (uint64_t)(uintptr_t)dest,
                    (uint64_t)(uintptr_t)source, nelems, 0, 0, 0, pe);
  tile_barrier();
}
SHMEM_INLINE void shmem_ctx_getmem_wg(shmem_ctx_t* ctx, void* dest, const void* source,
                                      size_t nelems, uint32_t pe) {
  shmem_get_(ctx, dest, source, nelems, STRETTO_SHMEM_BLOCKING, pe);
}
SHMEM_INLINE void shmem_ctx_getmem_nbi_wg(shmem_ctx_t* ctx, void* dest, const void* source,
                                          size_t nelems, uint32_t pe) {
  shmem_get_(ctx, dest, source, nelems, 0, pe);
}

// Of the heap, for collectives of this work-group.
SHMEM_INLINE uint64_t shmem_work_(const shmem_ctx_t* ctx) {
  return ctx->heap + (uint64_t)ctx->work_group * STRETTO_SHMEM_WORK_BYTES;
}
// Of PE `pe`: words of barriers. That of the own PE takes results.
SHMEM_INLINE uint64_t shmem_sync_(const shmem_ctx_t* ctx, uint32_t pe) {
  return shmem_work_(ctx) + 8 * (uint64_t)pe;
}

SHMEM_INLINE uint64_t shmem_ctx_uint64_g_wg(shmem_ctx_t* ctx, const uint64_t* source, uint32_t pe) {
  const uint64_t word = shmem_sync_(ctx, ctx->pe);
  uint64_t value = 0;
  tile_barrier();
  if (shmem_acts_()) {
    (void)shmem_do_(ctx, STRETTO_SHMEM_GET, STRETTO_SHMEM_BLOCKING, word,
                    (uint64_t)(uintptr_t)source, 8, 0, 0, 0, pe);
    value = shmem_load_(word);
  }
  return shmem_share_(value);
}

// Atomics: among the operations of the NIC at the PE; what its own GPU does to the word meanwhile
// is not held up.

SHMEM_INLINE uint64_t shmem_atomic_(shmem_ctx_t* ctx, uint32_t operation, uint64_t* dest,
                                    uint64_t operand, uint64_t compare, uint32_t pe) {
  return shmem_do_(ctx, operation, STRETTO_SHMEM_BLOCKING, (uint64_t)(uintptr_t)dest, 0, 8, 0,
                   operand, compare, pe);
}
SHMEM_INLINE uint64_t shmem_ctx_uint64_atomic_fetch_add_wg(shmem_ctx_t* ctx, uint64_t* dest,
                                                           uint64_t value, uint32_t pe) {
  uint64_t before = 0;
  tile_barrier();
  if (shmem_acts_()) before = shmem_atomic_(ctx, STRETTO_SHMEM_FETCH_ADD, dest, value, 0, pe);
  return shmem_share_(before);
}
SHMEM_INLINE uint64_t shmem_ctx_uint64_atomic_compare_swap_wg(shmem_ctx_t* ctx, uint64_t* dest,
                                                              uint64_t cond, uint64_t value,
                                                              uint32_t pe) {
  uint64_t before = 0;
  tile_barrier();
  if (shmem_acts_()) before = shmem_atomic_(ctx, STRETTO_SHMEM_COMPARE_SWAP, dest, value, cond, pe);
  return shmem_share_(before);
}
SHMEM_INLINE uint64_t shmem_ctx_uint64_atomic_fetch_wg(shmem_ctx_t* ctx, uint64_t* source,
                                                       uint32_t pe) {
  return shmem_ctx_uint64_atomic_fetch_add_wg(ctx, source, 0, pe);
}
// The NIC has no swap: compare and swap until it was right.
SHMEM_INLINE uint64_t shmem_ctx_uint64_atomic_swap_wg(shmem_ctx_t* ctx, uint64_t* dest,
                                                      uint64_t value, uint32_t pe) {
  uint64_t before = 0;
  tile_barrier();
  if (shmem_acts_()) {
    uint64_t seen = shmem_atomic_(ctx, STRETTO_SHMEM_FETCH_ADD, dest, 0, 0, pe);
    do {
      before = seen;
      seen = shmem_atomic_(ctx, STRETTO_SHMEM_COMPARE_SWAP, dest, value, before, pe);
    } while (seen != before && ctx->failed == 0);
  }
  return shmem_share_(before);
}
SHMEM_INLINE void shmem_ctx_uint64_atomic_set_wg(shmem_ctx_t* ctx, uint64_t* dest, uint64_t value,
                                                 uint32_t pe) {
  (void)shmem_ctx_uint64_atomic_swap_wg(ctx, dest, value, pe);
}
// Nothing comes back: it has ended at the next quiet.
SHMEM_INLINE void shmem_ctx_uint64_atomic_add_wg(shmem_ctx_t* ctx, uint64_t* dest, uint64_t value,
                                                 uint32_t pe) {
  tile_barrier();
  if (shmem_acts_())
    (void)shmem_do_(ctx, STRETTO_SHMEM_FETCH_ADD, 0, (uint64_t)(uintptr_t)dest, 0, 8, 0, value, 0,
                    pe);
  tile_barrier();
}
SHMEM_INLINE void shmem_ctx_uint64_atomic_inc_wg(shmem_ctx_t* ctx, uint64_t* dest, uint32_t pe) {
  shmem_ctx_uint64_atomic_add_wg(ctx, dest, 1, pe);
}
SHMEM_INLINE uint64_t shmem_ctx_uint64_atomic_fetch_inc_wg(shmem_ctx_t* ctx, uint64_t* dest,
                                                           uint32_t pe) {
  return shmem_ctx_uint64_atomic_fetch_add_wg(ctx, dest, 1, pe);
}

// Waits

SHMEM_INLINE void shmem_wait_(uint64_t ivar, int cmp, uint64_t value) {
  switch (cmp) {
    case SHMEM_CMP_EQ: tile_wait_until(ivar, TILE_EQ, value); break;
    case SHMEM_CMP_NE: tile_wait_until(ivar, TILE_NE, value); break;
    case SHMEM_CMP_GT: tile_wait_until(ivar, TILE_GEU, value + 1); break;
    case SHMEM_CMP_LE: tile_wait_until(ivar, TILE_LTU, value + 1); break;
    case SHMEM_CMP_LT: tile_wait_until(ivar, TILE_LTU, value); break;
    default: tile_wait_until(ivar, TILE_GEU, value); break;
  }
  tile_fence(TILE_SCOPE_SYSTEM);
}
// `ivar` in the own heap. GT and LE: `cmp_value` is not the largest there is.
SHMEM_INLINE void shmem_uint64_wait_until_wg(uint64_t* ivar, int cmp, uint64_t cmp_value) {
  tile_barrier();
  if (shmem_acts_()) shmem_wait_((uint64_t)(uintptr_t)ivar, cmp, cmp_value);
  tile_barrier();
}
// Returns what the signal was after that.
SHMEM_INLINE uint64_t shmem_signal_wait_until_wg(uint64_t* sig_addr, int cmp, uint64_t cmp_value) {
  uint64_t value = 0;
  tile_barrier();
  if (shmem_acts_()) {
    shmem_wait_((uint64_t)(uintptr_t)sig_addr, cmp, cmp_value);
    value = shmem_load_((uint64_t)(uintptr_t)sig_addr);
  }
  return shmem_share_(value);
}

SHMEM_INLINE int shmem_holds_(uint64_t seen, int cmp, uint64_t value) {
  switch (cmp) {
    case SHMEM_CMP_EQ: return seen == value;
    case SHMEM_CMP_NE: return seen != value;
    case SHMEM_CMP_GT: return seen > value;
    case SHMEM_CMP_LE: return seen <= value;
    case SHMEM_CMP_LT: return seen < value;
    default: return seen >= value;
  }
}
// Whether it holds now.
SHMEM_INLINE int shmem_uint64_test_wg(uint64_t* ivar, int cmp, uint64_t cmp_value) {
  int holds = 0;
  tile_barrier();
  if (shmem_acts_()) {
    tile_fence(TILE_SCOPE_SYSTEM);
    holds = shmem_holds_(shmem_load_((uint64_t)(uintptr_t)ivar), cmp, cmp_value);
    tile_fence(TILE_SCOPE_SYSTEM);
  }
  return (int)shmem_share_((uint64_t)holds);
}
// All of `nelems` words; those whose `status` is not 0 are left out, as below. status: NULL, or in
// private memory.
SHMEM_INLINE void shmem_uint64_wait_until_all_wg(uint64_t* ivars, size_t nelems, const int* status,
                                                 int cmp, uint64_t cmp_value) {
  tile_barrier();
  for (size_t i = 0; i < nelems && shmem_acts_(); ++i)
    if (status == NULL || status[i] == 0)
      shmem_wait_((uint64_t)(uintptr_t)(ivars + i), cmp, cmp_value);
  tile_barrier();
}
// The number of a word for which it holds now; SIZE_MAX: there is none.
SHMEM_INLINE size_t shmem_uint64_test_any_wg(uint64_t* ivars, size_t nelems, const int* status,
                                             int cmp, uint64_t cmp_value) {
  size_t found = SIZE_MAX;
  tile_barrier();
  if (shmem_acts_()) {
    tile_fence(TILE_SCOPE_SYSTEM);
    for (size_t i = 0; i < nelems && found == SIZE_MAX; ++i)
      if ((status == NULL || status[i] == 0) &&
          shmem_holds_(shmem_load_((uint64_t)(uintptr_t)(ivars + i)), cmp, cmp_value))
        found = i;
    tile_fence(TILE_SCOPE_SYSTEM);
  }
  return shmem_share_(found);
}
// Until it holds for one; its number. It polls: no instruction waits for several words. SIZE_MAX:
// all are left out.
SHMEM_INLINE size_t shmem_uint64_wait_until_any_wg(uint64_t* ivars, size_t nelems,
                                                   const int* status, int cmp, uint64_t cmp_value) {
  size_t left = 0, found = SIZE_MAX;
  for (size_t i = 0; i < nelems; ++i) left += status == NULL || status[i] == 0;
  while (left != 0 && found == SIZE_MAX)
    found = shmem_uint64_test_any_wg(ivars, nelems, status, cmp, cmp_value);
  return found;
}

// All pass when work-groups of this number at all PEs have come for the nth time, and their
// operations before it have ended.
SHMEM_INLINE void shmem_ctx_barrier_all_wg(shmem_ctx_t* ctx) {
  tile_barrier();
  if (shmem_acts_()) {
    shmem_quiet_(ctx);
    ++ctx->barriers;
    for (uint32_t pe = 0; pe < ctx->pes; ++pe)
      if (pe != ctx->pe)
        (void)shmem_do_(ctx, STRETTO_SHMEM_PUT, STRETTO_SHMEM_INLINE, shmem_sync_(ctx, ctx->pe),
                        ctx->barriers, 8, 0, 0, 0, pe);
    for (uint32_t pe = 0; pe < ctx->pes; ++pe)
      if (pe != ctx->pe) shmem_wait_(shmem_sync_(ctx, pe), SHMEM_CMP_GE, ctx->barriers);
  }
  tile_barrier();
}

// Reductions

// Of the first wavefront: gives `value` to all PEs, and returns where those of all lie, one in the
// lower half of each word, by PE. A word is written again two exchanges later: its PE has then had
// that of this one behind it, which was sent when all of this exchange had been read.
SHMEM_INLINE uint64_t shmem_exchange_(shmem_ctx_t* ctx, uint32_t value) {
  const uint64_t number = ++ctx->exchanges;
  const uint64_t words =
      shmem_work_(ctx) + STRETTO_SHMEM_EXCHANGED + number % 2 * (8 * STRETTO_SHMEM_MAX_PES);
  const uint64_t word = number << 32 | value, own = words + 8 * (uint64_t)ctx->pe;
  shmem_store_(own, word);
  tile_fence(TILE_SCOPE_SYSTEM);
  for (uint32_t i = 1; i < ctx->pes; ++i) {
    const uint32_t pe = ctx->pe + i < ctx->pes ? ctx->pe + i : ctx->pe + i - ctx->pes;
    shmem_enqueue_(
        ctx, stretto_shmem_state(STRETTO_SHMEM_PUT, STRETTO_SHMEM_INLINE, pe, ctx->work_group), own,
        word, 8, 0, 0, 0);
  }
  for (uint32_t pe = 0; pe < ctx->pes; ++pe)
    tile_wait_until(words + 8 * (uint64_t)pe, TILE_GEU, number << 32);
  tile_fence(TILE_SCOPE_SYSTEM);
  return words;
}

// Reductions over all PEs, in the order of PEs, so that all have the same bits. Uses tiles 6 and 7
// of the first wavefront, 128 bytes each.
#define SHMEM_TILE_ TILE_R(6)
SHMEM_INLINE void shmem_float_reduce_(shmem_ctx_t* ctx, uint64_t dest, uint64_t source) {
  const uint64_t words = shmem_exchange_(ctx, *(volatile uint32_t*)(uintptr_t)source);
  const uint64_t numbers = shmem_work_(ctx) + STRETTO_SHMEM_NUMBERS;
  for (uint32_t pe = 0; pe < ctx->pes; ++pe)
    *(volatile uint32_t*)(uintptr_t)(numbers + 4 * (uint64_t)pe) =
        (uint32_t)shmem_load_(words + 8 * (uint64_t)pe);
  tile_fence(TILE_SCOPE_DEVICE);
  tile_load(SHMEM_TILE_, numbers, tile_shape(1, 4 * ctx->pes, 0), STRETTO_FP32, 0);
  tile_simt(TILE_SIMT_ROW_SUM, SHMEM_TILE_, SHMEM_TILE_, SHMEM_TILE_);
  tile_simt(TILE_SIMT_FIRST, TILE_R(7), SHMEM_TILE_, SHMEM_TILE_);
  tile_store(TILE_R(7), dest, tile_shape(1, 4, 0), STRETTO_FP32);
  tile_fence(TILE_SCOPE_DEVICE);
}
// dest[i] <- the sum of source[i] of all PEs; both in the own heap, and may be the same.
SHMEM_INLINE void shmem_ctx_float_sum_reduce_wg(shmem_ctx_t* ctx, float* dest, const float* source,
                                                size_t nreduce) {
  tile_barrier();
  for (size_t i = 0; i < nreduce && shmem_acts_(); ++i)
    shmem_float_reduce_(ctx, (uint64_t)(uintptr_t)(dest + i), (uint64_t)(uintptr_t)(source + i));
  tile_barrier();
}

// Of the first wavefront: words of all PEs, two exchanges, combined in the order of PEs.
#define SHMEM_REDUCE_(name, combine)                                                              \
  SHMEM_INLINE void shmem_ctx_uint64_##name##_reduce_wg(shmem_ctx_t* ctx, uint64_t* dest,         \
                                                        const uint64_t* source, size_t nreduce) { \
    tile_barrier();                                                                               \
    for (size_t i = 0; i < nreduce && shmem_acts_(); ++i) {                                       \
      const uint64_t own = shmem_load_((uint64_t)(uintptr_t)(source + i));                        \
      const uint64_t low = shmem_exchange_(ctx, (uint32_t)own);                                   \
      const uint64_t high = shmem_exchange_(ctx, (uint32_t)(own >> 32));                          \
      uint64_t a = shmem_word_of_(low, high, 0);                                                  \
      for (uint32_t pe = 1; pe < ctx->pes; ++pe) {                                                \
        const uint64_t b = shmem_word_of_(low, high, pe);                                         \
        a = (combine);                                                                            \
      }                                                                                           \
      shmem_store_((uint64_t)(uintptr_t)(dest + i), a);                                           \
    }                                                                                             \
    if (shmem_acts_()) tile_fence(TILE_SCOPE_DEVICE);                                             \
    tile_barrier();                                                                               \
  }
SHMEM_INLINE uint64_t shmem_word_of_(uint64_t low, uint64_t high, uint32_t pe) {
  return shmem_load_(high + 8 * (uint64_t)pe) << 32 | (uint32_t)shmem_load_(low + 8 * (uint64_t)pe);
}
// dest[i] <- source[i] of all PEs, combined; modulo 2^64, unsigned.
SHMEM_REDUCE_(sum, a + b)
SHMEM_REDUCE_(prod, a* b)
SHMEM_REDUCE_(min, a < b ? a : b)
SHMEM_REDUCE_(max, a > b ? a : b)
SHMEM_REDUCE_(and, a& b)
SHMEM_REDUCE_(or, a | b)
SHMEM_REDUCE_(xor, a ^ b)

// Collectives that move bytes: all PEs call with the same sizes, work-groups of one number; behind
// them source may be written again, and dest be read. dest and source do not overlap. Tile 6 of the
// first wavefront is used, 128 bytes.

SHMEM_INLINE void shmem_copy_(uint64_t dest, uint64_t source, size_t nbytes) {
  for (size_t at = 0; at < nbytes; at += 128) {
    const uint64_t shape = tile_shape(1, nbytes - at < 128 ? (uint32_t)(nbytes - at) : 128, 0);
    tile_load(TILE_R(6), source + at, shape, STRETTO_BYTE, 0);
    tile_store(TILE_R(6), dest + at, shape, STRETTO_BYTE);
  }
  tile_fence(TILE_SCOPE_DEVICE);
}
// `source` + pe x step to `dest` at each PE; to the own one by a copy.
SHMEM_INLINE void shmem_scatter_(shmem_ctx_t* ctx, void* dest, const void* source, size_t step,
                                 size_t nelems) {
  const uint64_t from = (uint64_t)(uintptr_t)source, to = (uint64_t)(uintptr_t)dest;
  tile_barrier();
  for (uint32_t i = 1; i < ctx->pes && nelems != 0 && shmem_acts_(); ++i) {
    const uint32_t pe = ctx->pe + i < ctx->pes ? ctx->pe + i : ctx->pe + i - ctx->pes;
    (void)shmem_do_(ctx, STRETTO_SHMEM_PUT, 0, to, from + pe * step, nelems, 0, 0, 0, pe);
  }
  if (shmem_acts_()) shmem_copy_(to, from + ctx->pe * step, nelems);
  shmem_ctx_barrier_all_wg(ctx);
}
// All PEs' dest <- source of PE_root.
SHMEM_INLINE void shmem_ctx_broadcastmem_wg(shmem_ctx_t* ctx, void* dest, const void* source,
                                            size_t nelems, uint32_t PE_root) {
  if (ctx->pe == PE_root)
    shmem_scatter_(ctx, dest, source, 0, nelems);
  else
    shmem_ctx_barrier_all_wg(ctx);
}
// dest <- nelems of each PE, in their order.
SHMEM_INLINE void shmem_ctx_fcollectmem_wg(shmem_ctx_t* ctx, void* dest, const void* source,
                                           size_t nelems) {
  shmem_scatter_(ctx, (char*)dest + ctx->pe * nelems, source, 0, nelems);
}
// dest + pe x nelems <- source + own x nelems of each PE.
SHMEM_INLINE void shmem_ctx_alltoallmem_wg(shmem_ctx_t* ctx, void* dest, const void* source,
                                           size_t nelems) {
  shmem_scatter_(ctx, (char*)dest + ctx->pe * nelems, source, nelems, nelems);
}

#endif  // __riscv

#endif  // STRETTO_SW_INCLUDE_SHMEM_H_
