// SPDX-License-Identifier: Apache-2.0
// Plays the operations of scopes_arguments.h, a list for each work-group.
#include "tests/system/programs/scopes_arguments.h"

#include "sw/kernels/kernel.h"

KERNEL_INLINE volatile uint64_t* word(uint64_t address) {
  return (volatile uint64_t*)(uintptr_t)address;
}

KERNEL_INLINE void fence(uint32_t scope) {
  switch (scope) {
    case TILE_SCOPE_WAVEFRONT: tile_fence(TILE_SCOPE_WAVEFRONT); break;
    case TILE_SCOPE_WORK_GROUP: tile_fence(TILE_SCOPE_WORK_GROUP); break;
    case TILE_SCOPE_DEVICE: tile_fence(TILE_SCOPE_DEVICE); break;
    default: tile_fence(TILE_SCOPE_SYSTEM); break;
  }
}

#define ADD(suffix) \
  __asm__ volatile("amoadd.d" suffix " x0, %0, (%1)" : : "r"(value), "r"(address) : "memory")
KERNEL_INLINE void add(uint64_t address, uint64_t value, uint32_t order) {
  switch (order) {
    case 0: ADD(""); break;
    case SCOPES_ACQUIRE: ADD(".aq"); break;
    case SCOPES_RELEASE: ADD(".rl"); break;
    default: ADD(".aqrl"); break;
  }
}

void scopes(void) {
  const scopes_arguments_t* g = (const scopes_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const scopes_operation_t* op = g->does[tile_csr(TILE_CSR_WG_ID)];
  for (; op->what != SCOPES_END; ++op) {
    switch (op->what) {
      case SCOPES_LOAD: {
        const uint64_t value = *word(op->address);
        if (op->value != 0) *word(op->value) = value;
        break;
      }
      case SCOPES_STORE: *word(op->address) = op->value; break;
      case SCOPES_TILE:
        if (op->detail != 1) {
          tile_load(TILE_L(0), op->value, tile_shape(op->detail, 512, 512), STRETTO_BYTE, 1);
          tile_store(TILE_L(0), op->address, tile_shape(op->detail, 512, 512), STRETTO_BYTE);
        } else {  // Another tile, which does not wait for that one.
          tile_load(TILE_L(1), op->value, tile_shape(1, 512, 512), STRETTO_BYTE, 1);
          tile_store(TILE_L(1), op->address, tile_shape(1, 512, 512), STRETTO_BYTE);
        }
        break;
      case SCOPES_FENCE: fence(op->detail); break;
      case SCOPES_RISCV_FENCE: __atomic_thread_fence(__ATOMIC_SEQ_CST); break;
      case SCOPES_ADD: add(op->address, op->value, op->detail); break;
      case SCOPES_SCOPE: tile_set_scope(op->detail); break;
      case SCOPES_WAIT:
        if (op->detail == 0) {
          tile_wait_until(op->address, TILE_GEU, op->value);
        } else {
          tile_wait_until(op->address, TILE_GEU | TILE_WAIT_DEVICE, op->value);
        }
        break;
    }
  }
  tile_end();
  __builtin_unreachable();
}

STRETTO_KERNEL(scopes, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096, .lds_bytes = 65536,
               .private_bytes = 256, .wavefronts = 1, .kernarg_bytes = sizeof(scopes_arguments_t));
