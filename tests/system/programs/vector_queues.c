// SPDX-License-Identifier: Apache-2.0
// y = relu(x) + z by kernels of the library, one after the other through memory, and by their versions with queues
// (sw/kernels/stages/vector_queues.diff) as a pipeline of two stages: the same bits. With a second argument, calls that
// are refused.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/include/tile_queue.h"
#include "sw/kernels/ops/vector.h"
#include "tests/system/programs/must.h"

#define PAYLOAD 16384u
#define PAYLOADS 12u
#define ELEMENTS (PAYLOADS * PAYLOAD / 2)
#define PIECES (PAYLOADS * PAYLOAD / OPS_VECTOR_PIECE)
#define WAVEFRONTS OPS_VECTOR_WAVEFRONTS(OPS_VECTOR_PIECE)

static cudaStream_t stream;

static uint64_t copied(const void* host, size_t bytes) {
  void* memory = NULL;
  MUST(cudaMalloc(&memory, bytes) == cudaSuccess);
  MUST(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  return (uint64_t)(uintptr_t)memory;
}

static void persist(uint64_t base, size_t bytes) {
  const cudaStreamAttrValue value = {
      .accessPolicyWindow = {.base_ptr = (void*)(uintptr_t)base,
                             .num_bytes = bytes,
                             .hitRatio = 1,
                             .hitProp = cudaAccessPropertyPersisting}};
  MUST(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value) ==
       cudaSuccess);
}

// A queue of `depth` entries, all of them full or all free; its place in the GPU's memory.
static uint64_t queue_of(uint64_t payloads, uint32_t depth, int is_full) {
  uint64_t words[PAYLOADS * TILE_QUEUE_WORDS_BYTES / 8] = {0};
  for (uint32_t i = 0; i < depth; ++i) words[i * TILE_QUEUE_WORDS_BYTES / 8] = (uint64_t)is_full;
  const tile_queue_t queue = {.payloads = payloads,
                              .words = copied(words, (size_t)depth * TILE_QUEUE_WORDS_BYTES),
                              .payload_bytes = PAYLOAD,
                              .depth = depth,
                              .readers = 1,
                              .writers = 1};
  if (depth < PAYLOADS) {
    persist(queue.payloads, (size_t)depth * PAYLOAD);
    persist(queue.words, (size_t)depth * TILE_QUEUE_WORDS_BYTES);
  }
  return copied(&queue, sizeof queue);
}

static cudaPipelineKernelNodeParams node_of(cudaKernel_t kernel, void** arguments,
                                            uint32_t work_groups) {
  return (cudaPipelineKernelNodeParams){.func = kernel,
                                        .gridDim = {work_groups, 1, 1},
                                        .blockDim = {WAVEFRONTS, 1, 1},
                                        .kernelParams = arguments};
}

static void say(const char* what, cudaError_t error) {
  printf("%s: %s: %s\n", what, cudaGetErrorName(error), stretto_error_text());
}

static void refused(cudaKernel_t relu, void** arguments) {
  cudaPipeline_t pipeline, other;
  cudaPipelineNode_t first, second, stranger;
  cudaPipelineExec_t exec = NULL;
  int most = 0;
  say("flags", cudaPipelineCreate(&pipeline, 7));
  MUST(cudaPipelineCreate(&pipeline, 0) == cudaSuccess &&
       cudaPipelineCreate(&other, 0) == cudaSuccess);
  say("empty", cudaPipelineInstantiate(&exec, pipeline, 0));
  cudaPipelineKernelNodeParams node = node_of(relu, arguments, 1);
  MUST(cudaPipelineAddKernelNode(&first, pipeline, NULL, 0, &node) == cudaSuccess);
  MUST(cudaPipelineAddKernelNode(&second, pipeline, &first, 1, &node) == cudaSuccess);
  MUST(cudaPipelineAddKernelNode(&stranger, other, NULL, 0, &node) == cudaSuccess);
  say("stranger", cudaPipelineAddDependencies(pipeline, &stranger, &second, 1));
  node.type = (cudaPipelineKernelType)3;
  say("type", cudaPipelineAddKernelNode(&stranger, pipeline, NULL, 0, &node));
  node = node_of(relu, arguments, 1);
  node.blockDim.x = 1;
  say("block", cudaPipelineAddKernelNode(&stranger, pipeline, NULL, 0, &node));
  MUST(cudaPipelineAddDependencies(pipeline, &second, &first, 1) == cudaSuccess);
  say("cycle", cudaPipelineInstantiate(&exec, pipeline, 0));
  node = node_of(relu, arguments, 1);
  for (int i = 1; i < 32; ++i)
    MUST(cudaPipelineAddKernelNode(&stranger, other, NULL, 0, &node) == cudaSuccess);
  say("33", cudaPipelineAddKernelNode(&stranger, other, NULL, 0, &node));
  MUST(cudaPipelineDestroy(other) == cudaSuccess);
  say("destroyed", cudaPipelineInstantiate(&exec, other, 0));
  say("never made", cudaPipelineLaunch(exec, stream));
  MUST(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0) == cudaSuccess);
  say("limit", cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)most + 1));
  const cudaStreamAttrValue odd = {.accessPolicyWindow = {.base_ptr = (void*)128,
                                                          .num_bytes = 128,
                                                          .hitRatio = 0.5f,
                                                          .hitProp = cudaAccessPropertyPersisting}};
  say("ratio", cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &odd));
}

int main(int argc, char** argv) {
  MUST(argc >= 3);
  MUST(cudaStreamCreate(&stream) == cudaSuccess);
  cudaKernel_t kernels[2][2];
  for (int i = 0; i < 2; ++i) {
    cudaLibrary_t library;
    MUST(cudaLibraryLoadFromFile(&library, argv[1 + i], NULL, NULL, 0, NULL, NULL, 0) ==
         cudaSuccess);
    MUST(cudaLibraryGetKernel(&kernels[i][0], library, "map_relu_fp16") == cudaSuccess);
    MUST(cudaLibraryGetKernel(&kernels[i][1], library, "map_add_fp16") == cudaSuccess);
  }
  static uint16_t x[ELEMENTS], z[ELEMENTS], y[2][ELEMENTS], zeros[ELEMENTS];
  for (uint32_t i = 0; i < ELEMENTS; ++i) {  // -2 .. 2, 1 .. 2.
    x[i] = (uint16_t)((i * 2654435761u >> 16 & 0x83FF) | 0x3C00);
    z[i] = (uint16_t)((i * 40503u & 0x3FF) | 0x3C00);
  }
  const uint64_t from = copied(x, sizeof x), other = copied(z, sizeof z);
  const uint64_t between[2] = {copied(zeros, sizeof zeros), copied(zeros, 2 * PAYLOAD)};
  const uint64_t to[2] = {copied(zeros, sizeof zeros), copied(zeros, sizeof zeros)};

  ops_vector_arguments_t relu = {.in = {from}, .out = between[0], .bytes = sizeof x};
  ops_vector_arguments_t add = {.in = {between[0], other}, .out = to[0], .bytes = sizeof x};
  void* arguments[2][1] = {{&relu}, {&add}};
  if (argc > 3) {
    refused(kernels[1][0], arguments[0]);
    return 0;
  }
  for (int i = 0; i < 2; ++i)
    MUST(cudaLaunchKernel(kernels[0][i], (dim3){PIECES / WAVEFRONTS, 1, 1},
                          (dim3){WAVEFRONTS, 1, 1}, arguments[i], 0, stream) == cudaSuccess);
  MUST(cudaStreamSynchronize(stream) == cudaSuccess);

  // What comes from memory is a queue that is full, what goes there one that nobody empties.
  int most = 0;
  MUST(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0) == cudaSuccess);
  MUST(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)most) == cudaSuccess);
  const uint64_t queue = queue_of(between[1], 2, 0);
  relu.in[0] = queue_of(from, PAYLOADS, 1);
  relu.out = add.in[0] = queue;
  add.in[1] = queue_of(other, PAYLOADS, 1);
  add.out = queue_of(to[1], PAYLOADS, 0);
  cudaPipeline_t pipeline;
  cudaPipelineNode_t producer, consumer;
  cudaPipelineExec_t exec;
  MUST(cudaPipelineCreate(&pipeline, 0) == cudaSuccess);
  cudaPipelineKernelNodeParams node = node_of(kernels[1][1], arguments[1], 1);
  MUST(cudaPipelineAddKernelNode(&consumer, pipeline, NULL, 0, &node) == cudaSuccess);
  node = node_of(kernels[1][0], arguments[0], 1);
  MUST(cudaPipelineAddKernelNode(&producer, pipeline, NULL, 0, &node) == cudaSuccess);
  MUST(cudaPipelineAddDependencies(pipeline, &producer, &consumer, 1) == cudaSuccess);
  MUST(cudaPipelineInstantiate(&exec, pipeline, 0) == cudaSuccess);
  MUST(cudaPipelineDestroy(pipeline) == cudaSuccess);
  MUST(cudaPipelineLaunch(exec, stream) == cudaSuccess);
  MUST(cudaStreamSynchronize(stream) == cudaSuccess);
  MUST(cudaPipelineExecDestroy(exec) == cudaSuccess);

  for (int i = 0; i < 2; ++i)
    MUST(cudaMemcpy(y[i], (void*)(uintptr_t)to[i], sizeof y[i], cudaMemcpyDeviceToHost) ==
         cudaSuccess);
  for (uint32_t i = 0; i < ELEMENTS; ++i) MUST((x[i] & 0x8000) == 0 || y[0][i] == z[i]);
  MUST(memcmp(y[0], y[1], sizeof y[0]) == 0);
  printf("%u elements have the same bits\n", ELEMENTS);
  return 0;
}
