// SPDX-License-Identifier: Apache-2.0
// A program that may share a GPU: rounds of copies in, kernels, copies out, each checked. It knows of no server.
//   client.so KERNELS.elf what [rounds [kernels [words]]]
//     what: work; idle (no call); early (one round); late (waits before its first call); fail, crash, exit, block (after half
//     of the rounds, with work under way); devices (asks for the current device 1,000 times a round); fills (first
//     takes memory until there is none for one more piece, twice)
#include <cuda_runtime.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/system/programs/must.h"
#include "tests/system/programs/vector_add_arguments.h"

#define WORDS 4096u
#define OK(call) MUST((call) == cudaSuccess)

static int calls_of_main;  // Each client has its own.
static uint64_t words[WORDS], back[WORDS];

static void go_wrong(const char* what) {
  if (strcmp(what, "crash") == 0) *(volatile int*)8 = 1;
  if (strcmp(what, "exit") == 0) exit(0);
  if (strcmp(what, "block") == 0) {  // All signals; then a fault would end the process.
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    *(volatile int*)8 = 1;
  }
}

// Until the GPU maps no more pieces; what was given out is good, and there is room for one that was freed.
static void fill(unsigned turn) {
  enum { MOST = 2000 };
  static void* piece[MOST];
  unsigned pieces = 0;
  while (pieces < MOST && cudaMalloc(&piece[pieces], 64) == cudaSuccess) ++pieces;
  MUST(pieces > 100 && pieces < MOST && piece[pieces] == NULL);
  OK(cudaFree(piece[pieces - 1]));
  OK(cudaMalloc(&piece[pieces - 1], 64));
  OK(cudaMemset(piece[pieces - 1], 0, 64));
  OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < pieces; ++i) OK(cudaFree(piece[i]));
  printf("filled %u: some hundred pieces\n", turn);
}

int main(int argc, char** argv) {
  MUST(argc >= 3);
  const char* what = argv[2];
  unsigned rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 4;
  const unsigned kernels = argc > 4 ? (unsigned)atoi(argv[4]) : 6;
  const unsigned count_of_words = argc > 5 ? (unsigned)atoi(argv[5]) : WORDS;
  const size_t bytes = 8 * count_of_words;
  MUST(++calls_of_main == 1);
  if (strcmp(what, "idle") == 0) return 0;
  if (strcmp(what, "late") == 0) stretto_sleep(400000);
  if (strcmp(what, "early") == 0) rounds = 1;
  cudaLibrary_t library;
  cudaKernel_t scale;
  cudaStream_t stream;
  void* data = NULL;
  int count = 0, device = 7;
  OK(cudaGetDeviceCount(&count));
  OK(cudaLibraryLoadFromFile(&library, argv[1], NULL, NULL, 0, NULL, NULL, 0));
  OK(cudaLibraryGetKernel(&scale, library, "scale"));
  OK(cudaStreamCreate(&stream));
  OK(cudaMalloc(&data, bytes));
  for (unsigned turn = 0; turn < 2 && strcmp(what, "fills") == 0; ++turn) fill(turn);
  const unsigned long long begin = stretto_time();
  for (unsigned round = 0; round < rounds; ++round) {
    uint64_t factor = 1;
    for (unsigned i = 0; i < count_of_words; ++i) words[i] = i + round;
    OK(cudaMemcpyAsync(data, words, bytes, cudaMemcpyHostToDevice, stream));
    for (unsigned k = 0; k < kernels; ++k) {
      scale_arguments_t arguments = {(uint64_t)(uintptr_t)data, count_of_words, 3 + 2 * k, 0};
      void* list[] = {&arguments};
      OK(cudaLaunchKernel((const void*)scale, (dim3){64, 1, 1}, (dim3){1, 1, 1}, list, 0, stream));
      factor *= 3 + 2 * k;
    }
    if (2 * round >= rounds) go_wrong(what);
    if (2 * round >= rounds && strcmp(what, "fail") == 0) return 3;
    OK(cudaMemcpyAsync(back, data, bytes, cudaMemcpyDeviceToHost, stream));
    for (unsigned i = 0; i < 1000 && strcmp(what, "devices") == 0; ++i) OK(cudaGetDevice(&device));
    OK(cudaStreamSynchronize(stream));
    for (unsigned i = 0; i < count_of_words; ++i) MUST(back[i] == (i + round) * factor);
  }
  printf("client %s: %u rounds right in %llu ns\n", what, rounds, stretto_time() - begin);
  OK(cudaFree(data));
  return 0;
}
