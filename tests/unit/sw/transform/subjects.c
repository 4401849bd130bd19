// SPDX-License-Identifier: Apache-2.0
// Kernels that the transformer must get right where a naive one goes wrong, and those that it must
// refuse.
#include "tests/unit/sw/transform/subjects.h"

#include "sw/kernels/kernel.h"

KERNEL_INLINE const subject_arguments_t* arguments(void) {
  return (const subject_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
}

KERNEL_INLINE volatile uint64_t* word(uint64_t address, uint64_t index) {
  return (volatile uint64_t*)(uintptr_t)(address + 8 * index);
}

KERNEL_INLINE void add(volatile uint64_t* to, uint64_t value) {
  __asm__ volatile("amoadd.d zero, %1, (%0)" : : "r"(to), "r"(value) : "memory");
}

KERNEL_INLINE void note_run(const subject_arguments_t* a, uint64_t id, uint64_t wavefront) {
  add(word(a->ran, id), 1ull << (16 * wavefront));
}

// Takes time that depends on `turns`.
KERNEL_INLINE void delay(uint64_t turns) {
  for (uint64_t i = 0; i < turns; ++i) __asm__ volatile("");
}

__attribute__((noreturn)) KERNEL_INLINE void end(void) {
  tile_end();
  __builtin_unreachable();
}

#define SUBJECT(name)                                                                             \
  STRETTO_KERNEL(name, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 16384, .lds_bytes = 65536, \
                 .private_bytes = 1024, .kernarg_bytes = sizeof(subject_arguments_t),             \
                 .wavefronts = SUBJECT_WAVEFRONTS)

// Some wavefronts return before a barrier, others between two; the rest exchange marks.
void early_return(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t id = tile_csr(TILE_CSR_WG_ID), w = tile_csr(TILE_CSR_WF_ID);
  const uint64_t last = id % SUBJECT_WAVEFRONTS;
  note_run(a, id, w);
  if (w > last) end();
  delay(100 + 300 * w);
  *word(a->marks, SUBJECT_WAVEFRONTS * id + w) = id * 10 + w + 1;
  tile_barrier();
  uint64_t sum = 0;
  for (uint64_t i = 0; i <= last; ++i) sum += *word(a->marks, SUBJECT_WAVEFRONTS * id + i);
  *word(a->out, 8 * id + w) = sum;
  if (w == last && (id & 4) != 0) end();
  tile_barrier();
  *word(a->out, 8 * id + 4 + w) = sum * 3 + *word(a->out, 8 * id);
  end();
}
SUBJECT(early_return);

// Even work-groups fill one LDS tile, odd ones another; both together have no room.
void tiles_by_parity(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t id = tile_csr(TILE_CSR_WG_ID), w = tile_csr(TILE_CSR_WF_ID);
  note_run(a, id, w);
  if (w == 0) {
    const uint64_t shape = tile_shape(40, 1024, 1024);
    const uint64_t from = a->marks + 1024 * (id % 8), to = a->out + 64 * id;
    const uint64_t part = tile_shape(1, 64, 64);
    if ((id & 1) == 0) {
      tile_load(TILE_L(0), from, shape, STRETTO_BYTE, 0);
    } else {
      tile_load(TILE_L(1), from, shape, STRETTO_BYTE, 0);
    }
    tile_load(TILE_R(1), from + 64 * (id & 1), part, STRETTO_BYTE, 0);
    tile_store(TILE_R(1), to, part, STRETTO_BYTE);
  }
  end();
}
SUBJECT(tiles_by_parity);

// Takes private memory to be zero, and leaves something else there.
void private_sum(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t id = tile_csr(TILE_CSR_WG_ID), w = tile_csr(TILE_CSR_WF_ID);
  volatile uint64_t local[64];
  uint64_t sum = 0;
  note_run(a, id, w);
  for (unsigned i = 0; i < 64; ++i) sum |= local[i];
  for (unsigned i = 0; i < 64; ++i) local[i] = id + 1;
  *word(a->out, 8 * id + w) = sum;
  end();
}
SUBJECT(private_sum);

// Ids and sizes of all dimensions.
void places(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t id = tile_csr(TILE_CSR_WG_ID), w = tile_csr(TILE_CSR_WF_ID);
  note_run(a, id, w);
  if (w == 1) {
    *word(a->out, 8 * id) = tile_csr(TILE_CSR_WG_X);
    *word(a->out, 8 * id + 1) = tile_csr(TILE_CSR_WG_Y);
    *word(a->out, 8 * id + 2) = tile_csr(TILE_CSR_WG_Z);
    *word(a->out, 8 * id + 3) = tile_csr(TILE_CSR_GRID_X);
    *word(a->out, 8 * id + 4) = tile_csr(TILE_CSR_GRID_Y);
    *word(a->out, 8 * id + 5) = tile_csr(TILE_CSR_GRID_Z);
    *word(a->out, 8 * id + 6) = tile_csr(TILE_CSR_GRID);
  }
  end();
}
SUBJECT(places);

// Votes and barriers of those that have not returned; all votes may be 0.
void votes(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t id = tile_csr(TILE_CSR_WG_ID), w = tile_csr(TILE_CSR_WF_ID);
  note_run(a, id, w);
  if (w == id % 5) end();
  delay(50 * w);
  const uint64_t all = tile_vote(id % 3 == 0 ? 0 : 1ull << w);
  if (w == (id + 1) % 5) end();
  tile_barrier();
  *word(a->out, 8 * id + w) = all | tile_vote(w << 8) << 8;
  end();
}
SUBJECT(votes);

// What two kernels share: a barrier, the id, the grid, a switch and an end.
__attribute__((noinline)) static uint64_t shared(const subject_arguments_t* a, uint64_t w) {
  const uint64_t id = tile_csr(TILE_CSR_WG_ID);
  *word(a->marks, SUBJECT_WAVEFRONTS * id + w) = id ^ w;
  tile_barrier();
  const uint64_t other = *word(a->marks, SUBJECT_WAVEFRONTS * id + (w + 1) % SUBJECT_WAVEFRONTS);
  switch (id % 7) {
    case 0: add(word(a->out, 8 * id + w), other); return 1;
    case 1: add(word(a->out, 8 * id + w), other * 3); return 5;
    case 2: *word(a->out, 8 * id + w) = tile_csr(TILE_CSR_GRID); return 7;
    case 3: *word(a->out, 8 * id + 4 + w) = w; return 11;
    case 4: *word(a->out, 8 * id + 4) = id; return 13;
    case 5: *word(a->out, 8 * id + 4 + w) = other; return 17;
    default: end();
  }
}

void calls_once(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t id = tile_csr(TILE_CSR_WG_ID), w = tile_csr(TILE_CSR_WF_ID);
  note_run(a, id, w);
  const uint64_t value = shared(a, w);
  tile_barrier();
  *word(a->out, 8 * id + w) += value;
  end();
}
SUBJECT(calls_once);

void calls_twice(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t id = tile_csr(TILE_CSR_WG_ID), w = tile_csr(TILE_CSR_WF_ID);
  note_run(a, id, w);
  uint64_t value = shared(a, w);
  tile_barrier();
  value = value * 100 + shared(a, w);
  *word(a->out, 8 * id + w) += value;
  end();
}
SUBJECT(calls_twice);

// Its task costs what the code around it costs.
void nothing(void) { end(); }
SUBJECT(nothing);

// Takes 1, 2, 3 or 6 times as long, by its id.
void lasts(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t id = tile_csr(TILE_CSR_WG_ID);
  static const uint8_t kTimes[4] = {1, 2, 3, 6};
  if (tile_csr(TILE_CSR_WF_ID) == 0) {
    delay(a->count * kTimes[id % 4]);
    add(word(a->ran, id), 0x0001000100010001);
  }
  end();
}
SUBJECT(lasts);

// --- refused ---

void spins(void) {
  const subject_arguments_t* a = arguments();
  while (*word(a->flag, 0) != a->count) {
  }
  end();
}
SUBJECT(spins);

// A flag of its own for each of a list.
void spins_on_each(void) {
  const subject_arguments_t* a = arguments();
  for (uint64_t i = 0; i < a->count; ++i) {
    uint64_t turns = 0;
    while (*word(a->flag, i) == 0) delay(++turns);
  }
  end();
}
SUBJECT(spins_on_each);

void takes_lock(void) {
  const subject_arguments_t* a = arguments();
  uint64_t old;
  do {
    __asm__ volatile("amoswap.d %0, %2, (%1)" : "=r"(old) : "r"(a->flag), "r"(1) : "memory");
  } while (old != 0);
  *word(a->flag, 0) = 0;
  end();
}
SUBJECT(takes_lock);

__attribute__((noinline)) static uint64_t look(uint64_t flag) { return *word(flag, 0); }

void spins_in_call(void) {
  const subject_arguments_t* a = arguments();
  while (look(a->flag) == 0) {
  }
  end();
}
SUBJECT(spins_in_call);

// All flags of a list, round and round: the address differs from turn to turn, and comes back.
void goes_round(void) {
  const subject_arguments_t* a = arguments();
  uint64_t up = 0, i = 0;
  do {
    up = *word(a->flag, i) != 0 ? up + 1 : 0;
    i = i + 1 == a->count ? 0 : i + 1;
  } while (up < a->count);
  end();
}
SUBJECT(goes_round);

void goes_round_by_mask(void) {
  const subject_arguments_t* a = arguments();
  for (uint64_t i = 0; *word(a->flag, i) == 0;) i = (i + 1) & 7;
  end();
}
SUBJECT(goes_round_by_mask);

void goes_round_by_remainder(void) {
  const subject_arguments_t* a = arguments();
  for (uint64_t i = 0; *word(a->flag, i) == 0;) i = (i + 1) % a->count;
  end();
}
SUBJECT(goes_round_by_remainder);

void goes_to_and_fro(void) {
  const subject_arguments_t* a = arguments();
  for (uint64_t i = 0; *word(a->flag, i) == 0;) i = a->count - i;
  end();
}
SUBJECT(goes_to_and_fro);

// Steps when a flag is up: only which way a turn goes depends on it.
void steps_behind_flags(void) {
  const subject_arguments_t* a = arguments();
  for (uint64_t i = 0; i < a->count;)
    if (*word(a->flag, i) != 0) __asm__ volatile("addi %0, %0, 1" : "+r"(i));
  end();
}
SUBJECT(steps_behind_flags);

// What steps is compared with a bound behind the flag alone.
void leaves_behind_flag(void) {
  const subject_arguments_t* a = arguments();
  for (uint64_t i = 0;;) {
    __asm__ volatile("addi %0, %0, 1" : "+r"(i));
    if (*word(a->flag, 0) == 0) continue;
    __asm__ volatile("");
    if (i > a->count) break;
  }
  end();
}
SUBJECT(leaves_behind_flag);

void waits_until(void) {
  const subject_arguments_t* a = arguments();
  tile_wait_until(a->flag, TILE_GEU, a->count);
  end();
}
SUBJECT(waits_until);

void waits_for_lines(void) {
  const subject_arguments_t* a = arguments();
  tile_load(TILE_R(0), a->flag, tile_shape(1, 56, 64), STRETTO_BYTE | TILE_LINES, 0);
  end();
}
SUBJECT(waits_for_lines);

void uses_scratch(void) {
  __asm__ volatile("csrw 0x801, zero");
  end();
}
SUBJECT(uses_scratch);

void calls_pointer(void) {
  const subject_arguments_t* a = arguments();
  ((void (*)(void))(uintptr_t)a->flag)();
  end();
}
SUBJECT(calls_pointer);

// A switch with a jump table, and beside it jumps that are of none.
KERNEL_INLINE uint64_t switched(uint64_t id, uint64_t count) {
  switch (id % 8) {
    case 0: return id + 5;
    case 1: return id * 7;
    case 2: return id ^ 99;
    case 3: return id * id;
    case 4: return id - 3;
    case 5: return id + count;
    default: return count;
  }
}

void jumps_by_offsets(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t id = tile_csr(TILE_CSR_WG_ID);
  const uint64_t value = switched(id, a->count);
  static const short kOffsets[2] = {&&first - &&first, &&second - &&first};
  goto*(&&first + kOffsets[value & 1]);
first:
  *word(a->out, 8 * id) = value;
  end();
second:
  *word(a->out, 8 * tile_csr(TILE_CSR_WG_ID) + 1) = value;
  end();
}
SUBJECT(jumps_by_offsets);

// The second word is 0 and has no relocation.
void jumps_by_words(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t id = tile_csr(TILE_CSR_WG_ID);
  static const int kOffsets[3] = {&&second - &&first, &&first - &&first, &&third - &&first};
  goto*(&&first + kOffsets[id % 3]);
first:
  *word(a->out, 8 * tile_csr(TILE_CSR_WG_ID)) = id;
  end();
second:
  *word(a->out, 8 * tile_csr(TILE_CSR_WG_ID) + 1) = id;
  end();
third:
  *word(a->out, 8 * tile_csr(TILE_CSR_WG_ID) + 2) = id;
  end();
}
SUBJECT(jumps_by_words);

void jumps_to_label(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t value = switched(tile_csr(TILE_CSR_WG_ID), a->count);
  __asm__ goto("lla t0, %l[far]\n jr t0" : : : "t0", "memory" : far);
  end();
far:
  *word(a->out, 8 * tile_csr(TILE_CSR_WG_ID)) = value;
  end();
}
SUBJECT(jumps_to_label);

// t0 and t1: two tables; 5: where the jumps go.
#define TABLES                                         \
  "5: nop\n .pushsection .rodata\n .balign 4\n"        \
  "1: .4byte 5b - 1b\n .4byte 5b - 1b\n"               \
  "2: .4byte 5b - 2b\n .4byte 5b - 2b\n .popsection\n" \
  "lla t0, 1b\n lla t1, 2b\n"
#define JUMPS(name, text)                                                                   \
  void name(void) {                                                                         \
    const uint64_t id = tile_csr(TILE_CSR_WG_ID);                                           \
    __asm__ volatile(TABLES text : : "r"((id & 1) * 4) : "t0", "t1", "t2", "t3", "memory"); \
    end();                                                                                  \
  }                                                                                         \
  SUBJECT(name)

JUMPS(adds_another_table, "add t2, t0, %0\n lw t2, 0(t2)\n add t2, t2, t1\n jr t2");
JUMPS(adds_another_table_on_a_way,
      "beqz %0, 3f\n mv t1, t0\n 3: add t2, t0, %0\n lw t2, 0(t2)\n add t2, t2, t1\n jr t2");
JUMPS(loads_half_of_an_entry, "add t2, t0, %0\n lh t2, 0(t2)\n add t2, t2, t0\n jr t2");
JUMPS(adds_more_to_an_entry,
      "add t2, t0, %0\n lw t2, 0(t2)\n add t2, t2, t0\n add t2, t2, %0\n jr t2");
JUMPS(loads_elsewhere, "lw t2, 0(sp)\n add t2, t2, t0\n jr t2");
JUMPS(goes_through_a_call, "call keeps_nothing\n add t2, t2, t0\n jr t2");
__asm__(".pushsection .text\n .type keeps_nothing, @function\nkeeps_nothing: ret\n.popsection\n");

void turns_stack(void) {
  __asm__ volatile("mv t0, sp\n li sp, 0\n mv sp, t0" : : : "t0", "memory");
  end();
}
SUBJECT(turns_stack);

void has_float(void) {
  __asm__ volatile(".4byte 0x02000053");  // fadd.d
  end();
}
SUBJECT(has_float);

void returns(void) {
  __asm__ volatile("jr ra");
  end();
}
SUBJECT(returns);

// --- refused with the stock ISA ---

void stores_below_stack(void) {
  __asm__ volatile("sd zero, -8(sp)" : : : "memory");
  tile_barrier();
  end();
}
SUBJECT(stores_below_stack);

void points_below_stack(void) {
  __asm__ volatile("addi t0, sp, -24\n sd zero, 0(t0)" : : : "t0", "memory");
  tile_barrier();
  end();
}
SUBJECT(points_below_stack);

// --- not refused although it loops over memory: the bound is the same, the address steps ---

void walks(void) {
  const subject_arguments_t* a = arguments();
  const uint64_t id = tile_csr(TILE_CSR_WG_ID), w = tile_csr(TILE_CSR_WF_ID);
  note_run(a, id, w);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < *word(a->flag, 0); ++i) sum += *word(a->marks, i);
  *word(a->out, 8 * id + w) = sum + tile_csr(TILE_CSR_CYCLE) * 0;
  end();
}
SUBJECT(walks);

void searches(void) {
  const subject_arguments_t* a = arguments();
  uint64_t i = 0;
  while (*word(a->marks, i) != a->count) ++i;
  *word(a->out, 8 * tile_csr(TILE_CSR_WG_ID)) = i;
  end();
}
SUBJECT(searches);

// --- not refused: one jump of several switches, each with its table ---

JUMPS(shares_a_jump,
      "mv t3, t0\n beqz %0, 3f\n mv t3, t1\n 3: add t2, t3, %0\n lw t2, 0(t2)\n add t2, t2, t3\n "
      "jr t2");
JUMPS(shares_an_end,
      "beqz %0, 3f\n add t2, t0, %0\n lw t2, 0(t2)\n mv t3, t0\n j 4f\n"
      "3: lw t2, 4(t1)\n mv t3, t1\n 4: sext.w t2, t2\n add t2, t3, t2\n jr t2");

// --- the last one of the file: nothing but the end of the text is behind its trap ---

void traps(void) {
  const subject_arguments_t* a = arguments();
  if (*word(a->flag, 0) != ~0ull) end();
  __builtin_trap();
}
SUBJECT(traps);
