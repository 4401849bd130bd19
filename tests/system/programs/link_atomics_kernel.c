// SPDX-License-Identifier: Apache-2.0
// Atomics on a word wherever it lies: see link_atomics_arguments.h.
#include "sw/kernels/kernel.h"
#include "tests/system/programs/link_atomics_arguments.h"

#define AMO(instruction, value)                          \
  ({                                                     \
    uint64_t found_;                                     \
    __asm__ volatile(instruction " %0, %1, (%2)"         \
                     : "=r"(found_)                      \
                     : "r"((uint64_t)(value)), "r"(word) \
                     : "memory");                        \
    found_;                                              \
  })

void link_atomics(void) {
  const link_arguments_t* const g = (const link_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t me = tile_csr(TILE_CSR_WG_ID) * LINK_WAVEFRONTS + tile_csr(TILE_CSR_WF_ID);
  volatile uint64_t* const out = (volatile uint64_t*)(uintptr_t)g->out + me * LINK_MOST;
  volatile uint64_t* const behind = (volatile uint64_t*)(uintptr_t)g->word + 8;
  uint64_t word = g->word;
  if (g->what != LINK_DEVICE) tile_set_scope(TILE_SCOPE_SYSTEM);
  switch (g->what) {
    case LINK_ADD:
      for (uint64_t i = 0; i < g->count; ++i) out[i] = AMO("amoadd.d", 1);
      break;
    case LINK_ADD_W:
      word += 4;
      for (uint64_t i = 0; i < g->count; ++i) out[i] = AMO("amoadd.w", 1);
      break;
    case LINK_SWAP: {
      const uint64_t all = LINK_GROUPS * LINK_WAVEFRONTS;
      for (uint64_t i = 0; i < g->count; ++i)
        out[i] = AMO("amoswap.d", 1 + (g->number * all + me) * g->count + i);
      break;
    }
    case LINK_CAS:
      for (uint64_t i = 0; i < g->count; ++i) {
        uint64_t guess = 0, found = 0;
        do {
          guess = found;
          found = tile_compare_swap(word, guess, guess + 1, 0);
        } while (found != guess);
        out[i] = found;
      }
      break;
    case LINK_READ: out[0] = *(volatile uint64_t*)(uintptr_t)word; break;
    case LINK_SEND:
      for (uint64_t i = 0; i < g->count; ++i)
        behind[g->number * g->count + i] = g->number << 32 | i;
      AMO("amoadd.d.rl", 1);
      break;
    case LINK_RECEIVE:
      tile_wait_until(word, TILE_GEU, g->until);
      for (uint64_t i = 0; i < g->count; ++i) out[i] = behind[i];
      break;
    case LINK_SPIN:
      while (AMO("amoswap.d.aq", 1) != 0) continue;
      break;
    case LINK_XOR: AMO("amoxor.d", 1); break;
    default: AMO("amoadd.d", 1); break;
  }
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(link_atomics, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 16384,
               .private_bytes = 256, .wavefronts = LINK_WAVEFRONTS,
               .kernarg_bytes = sizeof(link_arguments_t));
