// SPDX-License-Identifier: Apache-2.0
// Runs the litmus tests; each PE says how often it has seen each outcome.
//   shmem_litmus.so KERNELS.elf ROUNDS SEED
#include <cuda_runtime.h>
#include <shmem.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/system/programs/must.h"
#include "tests/system/programs/shmem_litmus.h"

#define OK(call) MUST((call) == cudaSuccess)

int main(int argc, char** argv) {
#define NAME(name, forbidden) {#name, forbidden},
  static const struct {
    const char* name;
    int forbidden;
  } tests[] = {LITMUS_TESTS(NAME)};
  static uint64_t seen[LITMUS_COUNT];
  litmus_arguments_t arguments;
  void* list[] = {&arguments};
  cudaLibrary_t library;
  cudaKernel_t kernel;
  MUST(argc == 4);
  arguments.rounds = strtoull(argv[2], NULL, 0), arguments.seed = strtoull(argv[3], NULL, 0);
  if (shmem_wg_init(&arguments.shmem, 2 * LITMUS_COUNT) != 0) return 1;
  MUST(shmem_n_pes() == LITMUS_PES);
  OK(cudaLibraryLoadFromFile(&library, argv[1], NULL, NULL, 0, NULL, NULL, 0));
  OK(cudaLibraryGetKernel(&kernel, library, "litmus"));
  arguments.words = shmem_calloc(LITMUS_COUNT * LITMUS_WORDS, 8);
  MUST(arguments.words != NULL);
  OK(cudaMalloc((void**)&arguments.seen, sizeof seen));
  OK(cudaLaunchCooperativeKernel((const void*)kernel, (dim3){LITMUS_COUNT, 1, 1}, (dim3){1, 1, 1},
                                 list, 0, NULL));
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(seen, arguments.seen, sizeof seen, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < LITMUS_COUNT; ++i)
    printf("litmus %s %s %llu %llu\n", tests[i].name, tests[i].forbidden ? "forbidden" : "allowed",
           (unsigned long long)seen[i], (unsigned long long)arguments.rounds);
  shmem_finalize();
  return 0;
}
