// SPDX-License-Identifier: Apache-2.0
// What programs do wrong with communicators of two devices, one thing an argument
// (tests/system/program_test.cpp).
#include <assert.h>
#include <cuda_runtime.h>
#include <nccl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ncclComm_t comms[2];
static void* buffers[2];

static ncclResult_t reduce(int device, int type) {
  return ncclAllReduce(buffers[device], buffers[device], 16, (ncclDataType_t)type, ncclSum,
                       comms[device], NULL);
}

static int recurse(const volatile char* from) {
  volatile char local[1000];
  if (from == NULL) return 0;
  local[0] = from[0];
  return recurse(local) + local[0];
}

static void* fault(void* nothing) {
  *(volatile int*)8 = 1;
  return nothing;
}

// What no part of the machine sees.
static void misbehave(const char* wrong) {
  static volatile int zero;
  pthread_t thread;
  if (strcmp(wrong, "exit") == 0) exit(0);
  if (strcmp(wrong, "_exit") == 0) _exit(0);
  if (strcmp(wrong, "assert") == 0) assert(zero == 1);
  if (strcmp(wrong, "divide") == 0) zero = zero / zero;
  if (strcmp(wrong, "recurse") == 0) recurse(wrong);
  if (strcmp(wrong, "thread") == 0 && pthread_create(&thread, NULL, fault, NULL) == 0)
    pthread_join(thread, NULL);
  if (strcmp(wrong, "above") == 0)
    for (const volatile char* at = (const char*)&thread;; ++at) zero += *at;
  while (strcmp(wrong, "spin") == 0) {
  }
  while (strcmp(wrong, "sleep") == 0) pause();
  while (strcmp(wrong, "clock") == 0) stretto_time();
}

static void say(const char* what, ncclResult_t result) {
  printf("%s %d %s\n", what, (int)result, result == ncclSuccess ? "" : ncclGetLastError(NULL));
}

int main(int argc, char** argv) {
  const char* wrong = argc > 1 ? argv[1] : "";
  misbehave(wrong);
  if (strcmp(wrong, "stack") == 0) {
    volatile char large[4 << 20];
    for (size_t i = 0; i < sizeof large; i += 4096) large[i] = 1;
  }
  if (ncclCommInitAll(comms, 2, NULL) != ncclSuccess) return 2;
  for (int d = 0; d < 2; ++d)
    if (cudaSetDevice(d) != cudaSuccess || cudaMalloc(&buffers[d], 4096) != cudaSuccess) return 3;
  ncclGroupStart();
  reduce(0, ncclFloat);
  if (strcmp(wrong, "open") == 0) return 0;
  if (strcmp(wrong, "type") == 0) reduce(1, 77);
  if (strcmp(wrong, "type") != 0) reduce(1, ncclFloat);
  if (strcmp(wrong, "abort") == 0) say("abort", ncclCommAbort(comms[1]));
  say("end", ncclGroupEnd());
  for (int d = 0; d < 2; ++d) say("destroy", ncclCommDestroy(comms[d]));  // It waits.
  int count = 0;
  if (strcmp(wrong, "twice") == 0) say("again", ncclCommDestroy(comms[0]));
  if (strcmp(wrong, "twice") == 0) say("count", ncclCommCount(comms[1], &count));
  return 0;
}
