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

// An operation that must not be: the context is told, and no byte of any heap, nor behind it, changes.
static void bad(const char* file, uint64_t number) {
  enum { HEAP = 4096, BEHIND = 256 };
  static uint8_t shadow[HEAP], got[HEAP];
  uint64_t told = 0;
  char *heap = shmem_malloc(HEAP), *behind = NULL;
  MUST(heap != NULL && cudaMalloc((void**)&behind, BEHIND) == cudaSuccess);
  for (unsigned i = 0; i < HEAP; ++i) shadow[i] = (uint8_t)(37 * i + 11 * (unsigned)shmem_my_pe());
  MUST(cudaMemcpy(heap, shadow, HEAP, cudaMemcpyHostToDevice) == cudaSuccess);
  MUST(cudaMemset(behind, 0x5A, BEHIND) == cudaSuccess);
  arguments.words = (uint64_t*)(void*)heap, arguments.signals = (uint64_t*)(void*)(heap + HEAP);
  arguments.more = (uint64_t*)(void*)behind, arguments.n = number;
  shmem_barrier_all();
  MUST(launch(file, "bad", 1, 0) == cudaSuccess);
  shmem_barrier_all();
  MUST(cudaMemcpy(got, heap, HEAP, cudaMemcpyDeviceToHost) == cudaSuccess);
  MUST(memcmp(got, shadow, HEAP) == 0);
  MUST(cudaMemcpy(got, behind, BEHIND, cudaMemcpyDeviceToHost) == cudaSuccess);
  memcpy(&told, got, 8);
  for (unsigned i = 8; i < BEHIND; ++i) MUST(got[i] == 0x5A);
  MUST((told != 0) == (shmem_my_pe() == 0));
  if (told != 0)
    printf("bad%llu: status %llu\n", (unsigned long long)number, (unsigned long long)told);
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
  if (CASE("shared") || CASE("destroyed") || CASE("beyond")) {
    arguments.words = shmem_calloc(16, 8);
    arguments.n = CASE("shared") ? 0 : CASE("destroyed") ? 1 : 2;
    MUST(launch(argv[1], "contexts", 2, 0) == cudaSuccess);
    shmem_barrier_all();
  }
  if (CASE("down")) {
    uint64_t told[2];
    arguments.words = shmem_calloc(128, 8);
    MUST(cudaMalloc((void**)&arguments.more, sizeof told) == cudaSuccess);
    MUST(launch(argv[1], what, 1, 0) == cudaSuccess);
    MUST(cudaDeviceSynchronize() == cudaSuccess);
    MUST(cudaMemcpy(told, arguments.more, sizeof told, cudaMemcpyDeviceToHost) == cudaSuccess);
    printf("PE %d is told %u and %u\n", pe, (unsigned)told[0], (unsigned)told[1]);
    stretto_sleep(8000000);  // The first to return ends the run.
    return 0;
  }
  if (CASE("many")) {
    uint64_t got[2 * 65];
    const unsigned before = (unsigned)(pe == 0 ? shmem_n_pes() - 1 : pe - 1);
    arguments.words = shmem_calloc(2 * 65, 8);
    shmem_barrier_all();
    MUST(launch(argv[1], "many", 2, 0) == cudaSuccess);
    shmem_barrier_all();
    MUST(cudaMemcpy(got, arguments.words, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (unsigned i = 0; i < 2 * 65; ++i) MUST(got[i] == 1000 * before + i % 65);
  }
  if (strncmp(what, "bad", 3) == 0) bad(argv[1], (uint64_t)atoi(what + 3));
  if (CASE("marked")) {
    uint64_t told[11];
    arguments.words = shmem_calloc(128, 8);
    MUST(cudaMalloc((void**)&arguments.more, sizeof told) == cudaSuccess);
    shmem_barrier_all();
    MUST(launch(argv[1], what, 1, 0) == cudaSuccess);
    shmem_barrier_all();
    MUST(cudaMemcpy(told, arguments.more, sizeof told, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (unsigned i = 0; i < 3 && pe == 0; ++i)
      printf("entry %u: status %u read index %u after %u clocks of %u\n", i,
             (unsigned)(told[3 * i] & 0xFF), (unsigned)told[3 * i + 1],
             (unsigned)(told[3 * i + 2] - told[9]), (unsigned)(told[10] - told[9]));
  }
  if (CASE("zero")) {
    uint64_t words[16], told[2];
    arguments.words = shmem_calloc(16, 8);
    MUST(cudaMalloc((void**)&arguments.more, sizeof told) == cudaSuccess);
    MUST(launch(argv[1], what, 1, 0) == cudaSuccess);
    shmem_barrier_all();
    MUST(cudaMemcpy(told, arguments.more, sizeof told, cudaMemcpyDeviceToHost) == cudaSuccess);
    MUST(cudaMemcpy(words, arguments.words, sizeof words, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (unsigned i = 0; i < 16; ++i) MUST(words[i] == (pe == 1 && i == 1 ? 9 : 0));
    MUST(told[0] == 0 && told[1] == (pe == 0 ? 3 : 0));  // Two signals and a quiet.
  }
  if (CASE("naps")) stretto_sleep(3000000);
  if (CASE("held")) {  // For 3 ms.
    const uint64_t free_lock = 1;
    uint64_t got[2];
    arguments.words = shmem_calloc(16, 8);
    shmem_barrier_all();
    MUST(launch(argv[1], what, 1, 0) == cudaSuccess);
    if (pe == 0) {
      stretto_sleep(3000000);
      MUST(cudaMemcpy(arguments.words, &free_lock, 8, cudaMemcpyHostToDevice) == cudaSuccess);
    }
    shmem_barrier_all();
    MUST(cudaMemcpy(got, arguments.words, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
    MUST(pe != 0 || (got[0] == 1 && got[1] == (uint64_t)shmem_n_pes() - 1));
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
