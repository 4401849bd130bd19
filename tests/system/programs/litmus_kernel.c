// SPDX-License-Identifier: Apache-2.0
// What two work-groups do for a litmus test: litmus_arguments.h.
#include "tests/system/programs/litmus_arguments.h"

#include "sw/kernels/kernel.h"

#define FAR_CYCLES 30000u  // 20 us and more: longer than any agent takes to look again.

KERNEL_INLINE volatile uint64_t* word(uint64_t address) {
  return (volatile uint64_t*)(uintptr_t)address;
}

void litmus(void) {
  const litmus_arguments_t* g = (const litmus_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint32_t does = g->does[tile_csr(TILE_CSR_WG_ID)];
  if (does & LITMUS_TOUCH) *word(g->out + 64) = *word(g->data);
  if (does & LITMUS_FLAG_FIRST) {
    *word(g->flag) = g->flag_value;
    const uint64_t begin = tile_csr(TILE_CSR_CYCLE);
    while (tile_csr(TILE_CSR_CYCLE) - begin < FAR_CYCLES) {
    }
  }
  if (does & LITMUS_STORE) *word(g->data) = g->value;
  if (does & LITMUS_FLAG) *word(g->flag) = g->flag_value;
  if (does & LITMUS_WAIT) tile_wait_until(g->flag, TILE_GEU, g->flag_value);
  if (does & LITMUS_READ) *word(g->out) = *word(g->data);
  if (does & LITMUS_READ_PAST) {
    tile_load(TILE_R(0), g->data, tile_shape(1, 8, 8), STRETTO_BYTE, 1);
    tile_store(TILE_R(0), g->out, tile_shape(1, 8, 8), STRETTO_BYTE);
    tile_wait(0);
  }
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(litmus, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096, .private_bytes = 256,
               .wavefronts = 1, .kernarg_bytes = sizeof(litmus_arguments_t));
