// SPDX-License-Identifier: Apache-2.0
// What a host program over shmem.h can do wrong; it prints what the library says. PE 1 is the one that errs where
// PEs must agree.
//   shmem_misuse.so KERNELS.elf WHAT
#include <cuda_runtime.h>
#include <shmem.h>
#include <stdint.h>
#include <string.h>

#include "tests/system/programs/must.h"
#include "tests/system/programs/shmem_five_arguments.h"

static shmem_five_arguments_t arguments;

static void say(const char* what) { printf("%s: %s\n", what, stretto_error_text()); }

static cudaError_t launch(const char* file, const char* name, unsigned groups, uint64_t rounds) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  void* list[] = {&arguments};
  arguments.rounds = rounds;
  MUST(cudaLibraryLoadFromFile(&library, file, NULL, NULL, 0, NULL, NULL, 0) == cudaSuccess);
  MUST(cudaLibraryGetKernel(&kernel, library, name) == cudaSuccess);
  return cudaLaunchCooperativeKernel((const void*)kernel, (dim3){groups, 1, 1}, (dim3){1, 1, 1},
                                     list, 0, NULL);
}

int main(int argc, char** argv) {
  MUST(argc == 3);
  const char* what = argv[2];
#define CASE(name) (strcmp(what, name) == 0)
  if (CASE("early")) {
    MUST(shmem_malloc(8) == NULL && shmem_my_pe() == -1);
    say(what);
    return 0;
  }
  if (CASE("queues")) {
    MUST(shmem_wg_init(&arguments.shmem, 1025) != 0);
    say(what);
    return 0;
  }
  if (CASE("heaps")) {
    void* own = NULL;  // Device addresses begin with the number of the node: 1 is the first GPU.
    MUST(cudaMalloc(&own, 8) == cudaSuccess);
    MUST(shmem_wg_init(&arguments.shmem, (uint64_t)(uintptr_t)own >> 40 == 2 ? 5 : 4) != 0);
    say(what);
    return 0;
  }
  if (shmem_wg_init(&arguments.shmem, 4) != 0) return 1;
  const int pe = shmem_my_pe();
  if (CASE("twice")) MUST(shmem_wg_init(&arguments.shmem, 4) != 0);
  if (CASE("sizes")) MUST(shmem_malloc(pe == 1 ? 4096 : 2048) == NULL);
  if (CASE("large")) MUST(shmem_malloc((16u << 20) + 1) == NULL);
  if (CASE("align")) MUST(shmem_align(96, 8) == NULL);
  if (CASE("free")) shmem_free((char*)shmem_malloc(256) + 128);
  if (CASE("other")) {
    void* common = shmem_malloc(128);
    if (pe == 1)
      shmem_free(common);
    else
      MUST(shmem_malloc(128) == NULL);
  }
  if (CASE("running")) {
    MUST(launch(argv[1], "idle", 1, 100000) == cudaSuccess);
    shmem_finalize();
    say(what);
    MUST(cudaDeviceSynchronize() == cudaSuccess);
    shmem_finalize();
    return 0;
  }
  if (CASE("cooperative")) {
    MUST(launch(argv[1], "idle", 480, 1) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
    cudaError_t error = launch(argv[1], "idle", 481, 1);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    MUST(error != cudaSuccess);
  }
  if (CASE("unsent") || CASE("spin")) {
    arguments.words = shmem_calloc(16, 8);
    MUST(launch(argv[1], what, 2, 0) == cudaSuccess);
    shmem_barrier_all();
  }
  say(what);
  if (!CASE("open")) shmem_finalize();
  return 0;
}
