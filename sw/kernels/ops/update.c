// SPDX-License-Identifier: Apache-2.0
// Updates of weights with masters, see update.h. A wavefront has one piece.
#include "sw/kernels/ops/update.h"

#include "sw/kernels/ops/walk.h"

void update_master(void) {
  const ops_update_arguments_t* const g =
      (const ops_update_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t first = (uint64_t)wavefront() * OPS_UPDATE_PIECE;
  if (first < g->elements) update_master_piece(g, first);
  tile_end();
  __builtin_unreachable();
}
STRETTO_KERNEL(update_master, .type = STRETTO_KERNEL_SIMT, .registers_bytes = OPS_UPDATE_REGISTERS,
               .private_bytes = 512, .wavefronts = OPS_UPDATE_WAVEFRONTS,
               .kernarg_bytes = sizeof(ops_update_arguments_t));
