// SPDX-License-Identifier: Apache-2.0
// Kernels of one's own by CUDA's names: loads a library, adds vectors, times that by events, copies and
// sets while kernels run, orders streams by events, and checks every element.
//   vector_add.so KERNELS.elf [what]     what: all (default), times, errors, together
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/system/programs/must.h"
#include "tests/system/programs/vector_add_arguments.h"

#define COUNT 100003u
#define OK(call) MUST((call) == cudaSuccess)

static cudaKernel_t vector_add, scale;

static dim3 line(unsigned x) { return (dim3){x, 1, 1}; }

static void launch_scale(void* data, uint64_t count, uint64_t factor, uint64_t rounds,
                         unsigned groups, cudaStream_t stream) {
  scale_arguments_t arguments = {(uint64_t)(uintptr_t)data, count, factor, rounds};
  void* list[] = {&arguments};
  OK(cudaLaunchKernel((const void*)scale, line(groups), line(1), list, 0, stream));
}

static void* device(size_t bytes) {
  void* memory = NULL;
  OK(cudaMalloc(&memory, bytes));
  return memory;
}

// sum = a + b, copied in and out on one stream, nothing waited for in between.
static void add(void) {
  float* a = malloc(4 * COUNT);
  float* b = malloc(4 * COUNT);
  float* sum = calloc(COUNT, 4);
  for (uint32_t i = 0; i < COUNT; ++i) a[i] = (float)i, b[i] = (float)(3 * i % 1001);
  void *on_a = device(4 * COUNT), *on_b = device(4 * COUNT), *on_sum = device(4 * COUNT);
  cudaStream_t stream;
  cudaEvent_t begin, end;
  OK(cudaStreamCreate(&stream));
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaMemcpyAsync(on_a, a, 4 * COUNT, cudaMemcpyHostToDevice, stream));
  OK(cudaMemcpyAsync(on_b, b, 4 * COUNT, cudaMemcpyHostToDevice, stream));
  vector_add_arguments_t arguments = {(uint64_t)(uintptr_t)on_a, (uint64_t)(uintptr_t)on_b,
                                      (uint64_t)(uintptr_t)on_sum, COUNT};
  void* list[] = {&arguments};
  const unsigned piece = VECTOR_ADD_WAVEFRONTS * VECTOR_ADD_PIECE;
  OK(cudaEventRecord(begin, stream));
  OK(cudaLaunchKernel((const void*)vector_add, line((COUNT + piece - 1) / piece),
                      line(VECTOR_ADD_WAVEFRONTS), list, 0, stream));
  OK(cudaEventRecord(end, stream));
  OK(cudaMemcpyAsync(sum, on_sum, 4 * COUNT, cudaMemcpyDeviceToHost, stream));
  MUST(cudaStreamQuery(stream) == cudaErrorNotReady);
  MUST(cudaEventQuery(end) == cudaErrorNotReady);
  OK(cudaStreamSynchronize(stream));
  for (uint32_t i = 0; i < COUNT; ++i) MUST(sum[i] == a[i] + b[i]);
  float milliseconds = 0;
  OK(cudaEventElapsedTime(&milliseconds, begin, end));
  printf("added %u elements in %.3f us\n", COUNT, 1e3 * (double)milliseconds);
  // Three arrays of 400,012 bytes: some microseconds of memory, and less than a millisecond.
  MUST(milliseconds > 5e-4f && milliseconds < 1.0f);
  OK(cudaEventDestroy(begin));
  OK(cudaEventDestroy(end));
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(on_a));
  OK(cudaFree(on_b));
  OK(cudaFree(on_sum));
  free(a), free(b), free(sum);
}

// Behind a kernel that runs: a set and a copy with ragged ends, and a copy back. The host goes on.
static void overlap(void) {
  enum { WORDS = 1000, BYTES = 8 * WORDS };
  static uint64_t in[WORDS], out[WORDS], expected[WORDS];
  for (unsigned i = 0; i < WORDS; ++i) in[i] = i + 1;
  memcpy(expected, in, sizeof in);
  for (unsigned i = 0; i < WORDS; ++i) expected[i] *= 7;
  memset((char*)expected + 13, 0xA5, 3001);
  memcpy((char*)expected + 5003, (const char*)in + 1, 1999);
  void* data = device(BYTES);
  cudaStream_t stream;
  OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1));
  OK(cudaMemcpy(data, in, BYTES, cudaMemcpyHostToDevice));
  const unsigned long long begin = stretto_time();
  launch_scale(data, WORDS, 7, 200000, 8, stream);
  OK(cudaMemsetAsync((char*)data + 13, 0xA5, 3001, stream));
  OK(cudaMemcpyAsync((char*)data + 5003, (const char*)in + 1, 1999, cudaMemcpyHostToDevice,
                     stream));
  OK(cudaMemcpyAsync(out, data, BYTES, cudaMemcpyDefault, stream));
  const unsigned long long submitted = stretto_time();
  MUST(out[0] == 0);
  OK(cudaStreamSynchronize(stream));
  const unsigned long long done = stretto_time();
  MUST(memcmp(out, expected, BYTES) == 0);
  printf("submitted in %llu ns, done in %llu ns\n", submitted - begin, done - begin);
  MUST(2 * (submitted - begin) < done - begin);
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(data));
}

// Two streams that take turns by one event, recorded anew each time: the order is that of the calls.
static void turns(void) {
  enum { WORDS = 64, TURNS = 10 };
  uint64_t words[WORDS], expected = 1;
  for (unsigned i = 0; i < WORDS; ++i) words[i] = 1;
  void* data = device(8 * WORDS);
  cudaStream_t streams[2];
  cudaEvent_t event;
  OK(cudaStreamCreate(&streams[0]));
  OK(cudaStreamCreate(&streams[1]));
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  OK(cudaMemcpy(data, words, sizeof words, cudaMemcpyHostToDevice));
  for (unsigned turn = 0; turn < TURNS; ++turn) {
    OK(cudaStreamWaitEvent(streams[turn % 2], event, 0));
    if (turn % 2 == 0) {
      launch_scale(data, WORDS, 3, 20000, 4, streams[0]);
      expected *= 3;
    } else {
      OK(cudaMemsetAsync(data, (int)turn, sizeof words, streams[1]));
      memset(&expected, (int)turn, sizeof expected);
    }
    OK(cudaEventRecord(event, streams[turn % 2]));
  }
  OK(cudaEventSynchronize(event));
  OK(cudaMemcpy(words, data, sizeof words, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < WORDS; ++i) MUST(words[i] == expected);
  float none;
  MUST(cudaEventElapsedTime(&none, event, event) == cudaErrorInvalidResourceHandle);
  OK(cudaEventDestroy(event));
  OK(cudaFree(data));
  printf("%d turns in order\n", TURNS);
}

// An event stands where it was recorded: a kernel of 1,000 rounds, then one of 20 times as many.
static void times(void) {
  void* data = device(64);
  cudaEvent_t events[3];
  for (int i = 0; i < 3; ++i) OK(cudaEventCreate(&events[i]));
  launch_scale(data, 1, 1, 1000, 1, NULL);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 3; ++i) {
    OK(cudaEventRecord(events[i], NULL));
    if (i < 2) launch_scale(data, 1, 1, i == 0 ? 10000 : 200000, 1, NULL);
  }
  OK(cudaEventSynchronize(events[1]));
  MUST(cudaEventQuery(events[2]) == cudaErrorNotReady);
  float first, second;
  MUST(cudaEventElapsedTime(&second, events[1], events[2]) == cudaErrorNotReady);
  OK(cudaEventSynchronize(events[2]));
  OK(cudaEventElapsedTime(&first, events[0], events[1]));
  OK(cudaEventElapsedTime(&second, events[1], events[2]));
  printf("kernels of 10000 and 200000 rounds: %.3f us, %.3f us\n", 1e3 * (double)first,
         1e3 * (double)second);
}

// Between two kernels, with a list and without one.
static void without_arguments(cudaLibrary_t library) {
  cudaKernel_t kernel;
  uint64_t words[64];
  void* list[] = {words};
  void* data = device(sizeof words);
  for (unsigned i = 0; i < 64; ++i) words[i] = i;
  OK(cudaLibraryGetKernel(&kernel, library, "no_arguments"));
  OK(cudaMemcpy(data, words, sizeof words, cudaMemcpyHostToDevice));
  for (unsigned turn = 0; turn < 2; ++turn) {
    launch_scale(data, 64, 3, 1, 4, NULL);
    OK(cudaLaunchKernel((const void*)kernel, line(20), line(1), turn == 0 ? NULL : list, 0, NULL));
  }
  OK(cudaMemcpy(words, data, sizeof words, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < 64; ++i) MUST(words[i] == 9 * i);
  OK(cudaFree(data));
}

// The program is far ahead of the GPU when the first event is done.
static void row(void) {
  void* data = device(64);
  cudaEvent_t begin, end;
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaDeviceSynchronize());
  OK(cudaEventRecord(begin, NULL));
  for (int i = 0; i < 16; ++i) launch_scale(data, 1, 1, 1000, 1, NULL);
  OK(cudaEventRecord(end, NULL));
  OK(cudaEventSynchronize(end));
  float milliseconds;
  OK(cudaEventElapsedTime(&milliseconds, begin, end));
  printf("16 kernels in a row: %.3f us\n", 1e3 * (double)milliseconds);
}

static void say(const char* call, cudaError_t error) {
  printf("%s: %s: %s\n", call, cudaGetErrorName(error), stretto_error_text());
}

static void errors(const char* file, cudaLibrary_t kept) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  static const char text[4096] = "no ELF";
  say("load", cudaLibraryLoadFromFile(&library, "nowhere.elf", NULL, NULL, 0, NULL, NULL, 0));
  say("data", cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
  OK(cudaLibraryLoadFromFile(&library, file, NULL, NULL, 0, NULL, NULL, 0));
  say("kernel", cudaLibraryGetKernel(&kernel, library, "subtract"));
  OK(cudaLibraryUnload(library));
  say("unloaded", cudaLibraryGetKernel(&kernel, library, "scale"));
  scale_arguments_t arguments = {0};
  void* list[] = {&arguments};
  const void* known = (const void*)scale;
  say("block", cudaLaunchKernel(known, line(1), line(256), list, 0, NULL));
  say("grid", cudaLaunchKernel(known, line(0), line(1), list, 0, NULL));
  say("shared", cudaLaunchKernel(known, line(1), line(1), list, 1024, NULL));
  say("arguments", cudaLaunchKernel(known, line(1), line(1), NULL, 0, NULL));
  say("handle", cudaLaunchKernel(file, line(1), line(1), list, 0, NULL));
  say("stream", cudaStreamSynchronize((cudaStream_t)(uintptr_t)file));
  say("event", cudaEventSynchronize((cudaEvent_t)(uintptr_t)file));
  say("copy", cudaMemcpyAsync(list, list, 8, cudaMemcpyDeviceToHost, NULL));
  say("set", cudaMemsetAsync(list, 0, 8, NULL));
  say("no stream", cudaStreamCreate(NULL));
  say("no event", cudaEventCreate(NULL));
  say("no memory", cudaMalloc(NULL, 16));
  say("no count", cudaGetDeviceCount(NULL));
  say("no kernel", cudaLibraryGetKernel(NULL, kept, "scale"));
  say("no name", cudaLibraryGetKernel(&kernel, kept, NULL));
  say("no attributes", cudaFuncGetAttributes(NULL, known));
  void* memory = NULL;
  say("much", cudaMallocHost(&memory, SIZE_MAX));
  say("small", cudaFreeHost((void*)8));
  OK(cudaMallocHost(&memory, 16));
  OK(cudaFreeHost(memory));
  say("again", cudaFreeHost(memory));
  OK(cudaFreeHost(NULL));
  say("device", cudaSetDevice(77));
  MUST(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  MUST(cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess);
}

// All work-groups at once, or an error when it is waited for.
static void together(void) {
  void* data = device(8000);
  OK(cudaMemset(data, 0, 8000));
  scale_arguments_t arguments = {(uint64_t)(uintptr_t)data, 1000, 1, 100};
  void* list[] = {&arguments};
  OK(cudaLaunchCooperativeKernel((const void*)scale, line(8), line(1), list, 0, NULL));
  OK(cudaDeviceSynchronize());
  const cudaError_t launched =
      cudaLaunchCooperativeKernel((const void*)scale, line(100000), line(1), list, 0, NULL);
  say("too many", launched == cudaSuccess ? cudaDeviceSynchronize() : launched);
}

int main(int argc, char** argv) {
  MUST(argc >= 2);
  const char* what = argc > 2 ? argv[2] : "all";
  cudaLibrary_t library;
  OK(cudaLibraryLoadFromFile(&library, argv[1], NULL, NULL, 0, NULL, NULL, 0));
  OK(cudaLibraryGetKernel(&vector_add, library, "vector_add"));
  OK(cudaLibraryGetKernel(&scale, library, "scale"));
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, (const void*)vector_add));
  MUST(attributes.maxThreadsPerBlock == VECTOR_ADD_WAVEFRONTS && attributes.numRegs == 2048);
  if (strcmp(what, "all") == 0) add(), overlap(), turns(), times(), without_arguments(library);
  if (strcmp(what, "times") == 0) times();
  if (strcmp(what, "row") == 0) row();
  if (strcmp(what, "errors") == 0) errors(argv[1], library);
  if (strcmp(what, "together") == 0) together();
  printf("vector_add: all right\n");
  return 0;
}
