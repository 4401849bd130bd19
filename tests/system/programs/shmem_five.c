// SPDX-License-Identifier: Apache-2.0
// Five programs over OpenSHMEM, from main() to what each PE checks, written with what shmem.h and
// cuda_runtime.h document: a ring of tokens by fetch-add, a distributed histogram, a two-dimensional halo with two
// contexts, a ticket lock, all-to-all by puts and quiet.
//   shmem_five.so KERNELS.elf tokens|histogram|halo|ticket_lock|all_to_all
#include <cuda_runtime.h>
#include <shmem.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/system/programs/must.h"
#include "tests/system/programs/shmem_five_arguments.h"

#define OK(call) MUST((call) == cudaSuccess)
#define GROUPS 3u

static cudaLibrary_t library;
static shmem_five_arguments_t arguments;
static unsigned pe, pes;

static uint64_t* zeroed(size_t words) {
  uint64_t* memory = shmem_calloc(words, 8);
  MUST(memory != NULL);
  return memory;
}

// All PEs begin together, and behind it all have ended.
static void run(const char* name, unsigned groups) {
  cudaKernel_t kernel;
  void* list[] = {&arguments};
  OK(cudaLibraryGetKernel(&kernel, library, name));
  shmem_barrier_all();
  OK(cudaLaunchCooperativeKernel((const void*)kernel, (dim3){groups, 1, 1}, (dim3){1, 1, 1}, list,
                                 0, NULL));
  OK(cudaDeviceSynchronize());
  shmem_barrier_all();
}

static uint64_t* read_back(const uint64_t* from, size_t words) {
  uint64_t* to = malloc(8 * words);
  OK(cudaMemcpy(to, from, 8 * words, cudaMemcpyDeviceToHost));
  return to;
}

static void tokens(void) {
  enum { ROUNDS = 7 };
  arguments.words = zeroed(GROUPS), arguments.more = zeroed(GROUPS), arguments.rounds = ROUNDS;
  run("tokens", GROUPS);
  const uint64_t *words = read_back(arguments.words, GROUPS),
                 *more = read_back(arguments.more, GROUPS);
  for (unsigned w = 0; w < GROUPS; ++w)
    MUST(words[w] == ROUNDS && more[w] == ROUNDS * (ROUNDS - 1) / 2);
}

static void histogram(void) {
  enum { BINS = 11, KEYS = 20 };
  uint64_t expected[BINS] = {0};
  arguments.words = zeroed(BINS);
  arguments.n = BINS, arguments.rounds = KEYS;
  run("histogram", GROUPS);
  for (uint64_t key = 0; key < pes * GROUPS * KEYS; ++key) {
    const uint64_t bin = key * 2654435761u % (BINS * pes);
    if (bin / BINS == pe) ++expected[bin % BINS];
  }
  const uint64_t* words = read_back(arguments.words, BINS);
  for (unsigned i = 0; i < BINS; ++i) MUST(words[i] == expected[i]);
}

static void halo(void) {
  enum { N = 6, PITCH = N + 2, ROUNDS = 5 };
  const unsigned height = pes / 2 * N, width = 2 * N, x0 = pe % 2 * N, y0 = pe / 2 * N;
  uint64_t *grid = calloc(height * width, 8), *next = calloc(height * width, 8);
  uint64_t block[2 * PITCH * PITCH] = {0};
  for (unsigned i = 0; i < height * width; ++i) grid[i] = i * i + 3;
  for (unsigned y = 0; y < N; ++y)
    for (unsigned x = 0; x < N; ++x)
      block[(y + 1) * PITCH + x + 1] = grid[(y0 + y) * width + x0 + x];
  arguments.words = zeroed(2 * PITCH * PITCH), arguments.more = zeroed(8 * N);
  arguments.signals = zeroed(4), arguments.n = N, arguments.rounds = ROUNDS;
  OK(cudaMemcpy(arguments.words, block, sizeof block, cudaMemcpyHostToDevice));
  run("halo", 1);
  for (unsigned round = 0; round < ROUNDS; ++round) {
    for (unsigned y = 0; y < height; ++y)
      for (unsigned x = 0; x < width; ++x)
        next[y * width + x] =
            grid[(y + height - 1) % height * width + x] + grid[(y + 1) % height * width + x] +
            grid[y * width + (x + width - 1) % width] + grid[y * width + (x + 1) % width];
    memcpy(grid, next, 8 * height * width);
  }
  const uint64_t* got = read_back(arguments.words, 2 * PITCH * PITCH) + ROUNDS % 2 * PITCH * PITCH;
  for (unsigned y = 0; y < N; ++y)
    for (unsigned x = 0; x < N; ++x)
      MUST(got[(y + 1) * PITCH + x + 1] == grid[(y0 + y) * width + x0 + x]);
}

static void ticket_lock(void) {
  enum { ROUNDS = 3 };
  arguments.words = zeroed(4), arguments.rounds = ROUNDS;
  run("ticket_lock", 2);
  const uint64_t* words = read_back(arguments.words, 4);
  for (unsigned i = 0; i < 4 && pe == 0; ++i) MUST(words[i] == pes * 2 * ROUNDS);
}

static void all_to_all(void) {
  enum { N = 37 };
  const size_t count = (size_t)GROUPS * pes * N;
  uint64_t* sent = malloc(8 * count);
  for (size_t i = 0; i < count; ++i) sent[i] = pe * count + i;
  arguments.words = zeroed(count), arguments.more = zeroed(count), arguments.n = N;
  OK(cudaMemcpy(arguments.more, sent, 8 * count, cudaMemcpyHostToDevice));
  run("all_to_all", GROUPS);
  const uint64_t* got = read_back(arguments.words, count);
  for (size_t i = 0; i < count; ++i) {
    const size_t from = i / N % pes, group = i / N / pes;
    MUST(got[i] == from * count + (group * pes + pe) * N + i % N);
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } programs[] = {{"tokens", tokens},
                  {"histogram", histogram},
                  {"halo", halo},
                  {"ticket_lock", ticket_lock},
                  {"all_to_all", all_to_all}};
  MUST(argc == 3);
  if (shmem_wg_init(&arguments.shmem, GROUPS) != 0) return 1;
  pe = (unsigned)shmem_my_pe(), pes = (unsigned)shmem_n_pes();
  OK(cudaLibraryLoadFromFile(&library, argv[1], NULL, NULL, 0, NULL, NULL, 0));
  for (unsigned i = 0; i < sizeof programs / sizeof programs[0]; ++i)
    if (strcmp(argv[2], programs[i].name) == 0) programs[i].run();
  shmem_finalize();
  printf("PE %u of %u: %s is right\n", pe, pes, argv[2]);
  return 0;
}
