// SPDX-License-Identifier: Apache-2.0
// Host program of a server that relaxes its band of a grid and exchanges halos and residuals with the
// programs of other servers after each iteration. Grids in GPU memory: by a kernel an iteration, the
// NIC reads and writes GPU memory (ComP-Net's Inter-Kernel). Grids in host memory: itself (CPU).
#ifndef STRETTO_SW_APPS_SHMEM_JACOBI_H_
#define STRETTO_SW_APPS_SHMEM_JACOBI_H_

#include "sw/apps/shmem/host_compute.h"
#include "sw/apps/shmem/server_program.h"
#include "sw/apps/shmem/shmem_list.h"
#include "sw/kernels/jacobi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jacobi_parameters {
  server_parameters_t server;     // Its heap has halos, edges and residual; kernel jacobi_sweep.
  jacobi_arguments_t arguments;   // But for `iteration`.
  uint64_t word;                  // Of host memory, for the residual.
  const host_compute_t* compute;  // Grids in host memory: what sweeping costs; null: GPU memory.
} jacobi_parameters_t;

// Of an iteration of all servers: its residual is there.
typedef struct jacobi_ended {
  uint64_t at_ns;
  uint32_t residual;  // Bits.
} jacobi_ended_t;

typedef struct jacobi_result {
  shmem_span_t span;
  uint32_t iterations;
  uint64_t sent, received;  // Halos.
  jacobi_ended_t* ended;    // The caller's, one an iteration.
} jacobi_result_t;

// As server_program_run() does.
stretto_status_t jacobi_run(const jacobi_parameters_t* parameters, const stretto_host_ops_t* ops,
                            jacobi_result_t* result, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_SHMEM_JACOBI_H_
