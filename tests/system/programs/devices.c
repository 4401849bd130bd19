// SPDX-License-Identifier: Apache-2.0
// One process, all devices: each device contributes its number, all get the sum. Arguments: what to
// do wrong on purpose (tests/system/program_test.cpp).
#include <cuda_runtime.h>
#include <nccl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                 \
  do {                                                                              \
    const int code = (int)(call);                                                   \
    if (code != 0) {                                                                \
      fprintf(stderr, "line %d: %d: %s\n", __LINE__, code, ncclGetLastError(NULL)); \
      return 1;                                                                     \
    }                                                                               \
  } while (0)

#define MOST 16
#define COUNT 5003

static float* make(int device) {
  float* values = malloc(COUNT * sizeof *values);
  for (int i = 0; i < COUNT; ++i) values[i] = (float)(device * 10 + i % 7);
  return values;
}

static int verify(int devices, float* const* out) {
  float* values = malloc(COUNT * sizeof *values);
  for (int d = 0; d < devices; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaMemcpy(values, out[d], COUNT * sizeof *values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; ++i) {
      const float expected = (float)(10 * (devices * (devices - 1) / 2) + devices * (i % 7));
      if (values[i] == expected) continue;
      fprintf(stderr, "device %d element %d: %g, expected %g\n", d, i, values[i], expected);
      return 1;
    }
  }
  free(values);
  return 0;
}

// More than a GPU has ranges for.
static int allocate_often(void) {
  void *kept = NULL, *passing = NULL;
  for (int i = 0; i < 300; ++i) {
    CHECK(cudaMalloc(&passing, 512 * (1 + i % 7)));
    if (i % 50 == 0) CHECK(cudaMalloc(&kept, 512));
    CHECK(cudaFree(passing));
  }
  return 0;
}

static void* ask(void* result) {
  *(ncclResult_t*)result = ncclGroupStart();
  printf("a thread of its own: %s\n", ncclGetLastError(NULL));
  void* memory = NULL;
  printf("cudaMalloc there: %d, %s\n", (int)cudaMalloc(&memory, 16), stretto_error_text());
  return NULL;
}

static int from_thread(void) {
  pthread_t thread;
  ncclResult_t result = ncclSuccess;
  if (pthread_create(&thread, NULL, ask, &result) != 0 || pthread_join(thread, NULL) != 0) return 5;
  return result == ncclInvalidUsage ? 0 : 6;
}

int main(int argc, char** argv) {
  const char* wrong = argc > 1 ? argv[1] : "";
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  if (devices > MOST) devices = MOST;
  if (strcmp(wrong, "some") == 0) devices = 3;
  if (strcmp(wrong, "many") == 0) CHECK(allocate_often());
  ncclComm_t comms[MOST];
  cudaStream_t streams[MOST];
  float *in[MOST], *out[MOST];
  for (int d = 0; d < devices; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaMalloc((void**)&in[d], COUNT * sizeof(float)));
    CHECK(cudaMalloc((void**)&out[d], COUNT * sizeof(float)));
    CHECK(cudaMemset(out[d], 0xFF, COUNT * sizeof(float)));
    float* values = make(d);
    CHECK(cudaMemcpy(in[d], values, COUNT * sizeof(float), cudaMemcpyHostToDevice));
    free(values);
    CHECK(cudaStreamCreate(&streams[d]));
  }
  if (strcmp(wrong, "touch") == 0) in[0][0] = 1;
  if (strcmp(wrong, "thread") == 0 && from_thread() != 0) return 5;
  CHECK(ncclCommInitAll(comms, devices, NULL));
  CHECK(ncclGroupStart());
  for (int d = 0; d < devices; ++d) {
    size_t count = COUNT;
    ncclRedOp_t op = ncclSum;
    const float* from = in[d];
    if (strcmp(wrong, "absent") == 0 && d == devices - 1) continue;
    if (strcmp(wrong, "count") == 0 && d == 1) count = 17;
    if (strcmp(wrong, "op") == 0 && d == 1) op = ncclMax;
    if (strcmp(wrong, "buffer") == 0 && d == 1) from += 4;
    // A smaller one before it in the same group.
    if (strcmp(wrong, "twice") == 0)
      CHECK(ncclAllReduce(from, out[d], 17, ncclFloat, op, comms[d], streams[d]));
    CHECK(ncclAllReduce(from, out[d], count, ncclFloat, op, comms[d], streams[d]));
    if (strcmp(wrong, "pending") == 0) CHECK(cudaSetDevice(d) != cudaSuccess || cudaFree(out[d]));
  }
  CHECK(ncclGroupEnd());
  if (strcmp(wrong, "flight") == 0) {
    CHECK(cudaSetDevice(1));
    if (cudaFree(out[1]) == cudaSuccess) return 3;
    printf("refused: %s\n", ncclGetLastError(NULL));
  }
  for (int d = 0; d < devices; ++d) CHECK(cudaStreamSynchronize(streams[d]));
  if (verify(devices, out) != 0) return 2;
  for (int d = 0; d < devices; ++d) {
    CHECK(cudaFree(in[d]));  // Whatever device is current.
    if (cudaFree(in[d]) == cudaSuccess) return 4;
    CHECK(cudaSetDevice(d));
    CHECK(cudaStreamDestroy(streams[d]));
    CHECK(cudaFree(out[d]));
    CHECK(ncclCommDestroy(comms[d]));
  }
  printf("sum over %d devices is right\n", devices);
  return 0;
}
