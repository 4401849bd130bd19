// SPDX-License-Identifier: Apache-2.0
// y = relu(x) + z by kernels of the library, one after the other through memory, and by their versions with queues
// (sw/kernels/stages/vector_queues.diff) as a pipeline of two stages: the same bits.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/runtime.h"
#include "sw/include/tile_queue.h"
#include "sw/kernels/ops/vector.h"
#include "tests/system/programs/must.h"

#define PAYLOAD 16384u
#define PAYLOADS 12u
#define ELEMENTS (PAYLOADS * PAYLOAD / 2)
#define PIECES (PAYLOADS * PAYLOAD / OPS_VECTOR_PIECE)

static stretto_client_t* client;
static cudaStream_t cuda;
static stretto_stream_t* stream;

static uint64_t copied(const void* host, size_t bytes) {
  void* memory = NULL;
  MUST(cudaMalloc(&memory, bytes) == cudaSuccess);
  MUST(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  return (uint64_t)memory;
}

static stretto_module_t* load(const char* path) {
  static char elf[1 << 20];
  FILE* file = fopen(path, "rb");
  MUST(file != NULL);
  const size_t bytes = fread(elf, 1, sizeof elf, file);
  fclose(file);
  stretto_module_t* module;
  MUST(client->api->module_load(client, elf, bytes, &module) == STRETTO_OK);
  return module;
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
  for (int i = 0; depth < PAYLOADS && i < 2; ++i)
    MUST(client->api->access_policy_window(
             client, stream, i == 0 ? queue.payloads : queue.words,
             i == 0 ? depth * PAYLOAD : depth * TILE_QUEUE_WORDS_BYTES, 1) == STRETTO_OK);
  return copied(&queue, sizeof queue);
}

static stretto_launch_t of(const stretto_kernel_t* kernel, const ops_vector_arguments_t* arguments,
                           uint32_t work_groups) {
  return (stretto_launch_t){.kernel = kernel,
                            .arguments = arguments,
                            .argument_bytes = sizeof *arguments,
                            .work_groups = work_groups,
                            .account = STRETTO_ACCOUNT_JOB,
                            .after_all_earlier = 1};
}

int main(int argc, char** argv) {
  MUST(argc == 3);
  MUST(cudaStreamCreateWithPriority(&cuda, 0, 0) == cudaSuccess);
  stream = stretto_runtime_stream(cuda, &client);
  stretto_kernel_t kernels[2][2];
  for (int i = 0; i < 2; ++i) {
    stretto_module_t* const module = load(argv[1 + i]);
    MUST(client->api->module_kernel(client, module, "map_relu_fp16", &kernels[i][0]) == STRETTO_OK);
    MUST(client->api->module_kernel(client, module, "map_add_fp16", &kernels[i][1]) == STRETTO_OK);
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
  const stretto_launch_t alone[2] = {
      of(&kernels[0][0], &relu, PIECES / OPS_VECTOR_WAVEFRONTS(OPS_VECTOR_PIECE)),
      of(&kernels[0][1], &add, PIECES / OPS_VECTOR_WAVEFRONTS(OPS_VECTOR_PIECE))};
  for (int i = 0; i < 2; ++i) MUST(client->api->launch(client, stream, &alone[i]) == STRETTO_OK);
  MUST(cudaStreamSynchronize(cuda) == cudaSuccess);

  // What comes from memory is a queue that is full, what goes there one that nobody empties.
  MUST(client->api->set_persisting_l2_cache_size(client, stream,
                                                 client->options.l2_persist_bytes) == STRETTO_OK);
  const uint64_t queue = queue_of(between[1], 2, 0);
  relu.in[0] = queue_of(from, PAYLOADS, 1);
  relu.out = add.in[0] = queue;
  add.in[1] = queue_of(other, PAYLOADS, 1);
  add.out = queue_of(to[1], PAYLOADS, 0);
  const stretto_launch_t stages[2] = {of(&kernels[1][0], &relu, 1), of(&kernels[1][1], &add, 1)};
  MUST(client->api->launch_pipeline(client, stream, stages, 2) == STRETTO_OK);
  MUST(cudaStreamSynchronize(cuda) == cudaSuccess);

  for (int i = 0; i < 2; ++i)
    MUST(cudaMemcpy(y[i], (void*)to[i], sizeof y[i], cudaMemcpyDeviceToHost) == cudaSuccess);
  for (uint32_t i = 0; i < ELEMENTS; ++i) MUST((x[i] & 0x8000) == 0 || y[0][i] == z[i]);
  MUST(memcmp(y[0], y[1], sizeof y[0]) == 0);
  printf("%u elements have the same bits\n", ELEMENTS);
  return 0;
}
