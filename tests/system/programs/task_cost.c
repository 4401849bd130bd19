// SPDX-License-Identifier: Apache-2.0
// What the code around a task costs: workers of a transformed kernel whose tasks do nothing. Arguments:
// ELF, workers.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/runtime.h"
#include "sw/include/formats/transformed_kernel.h"
#include "tests/system/programs/load_kernels.h"
#include "tests/system/programs/must.h"

static stretto_client_t* client;
static stretto_stream_t* stream;
static stretto_kernel_t kernel;
static uint64_t control;
static void* copy;  // Of it, where cudaMemcpy reads.

static unsigned long long time_of(uint32_t workers, uint64_t tasks) {
  static uint8_t arguments[4096];
  const uint32_t bytes = kernel.descriptor.kernarg_bytes;
  const stretto_transformed_arguments_t further = {
      .control = control, .tasks = tasks, .grid_x = tasks, .grid_y = 1, .grid_z = 1};
  memcpy(arguments + bytes - sizeof further, &further, sizeof further);
  MUST(client->api->fill(client, stream, control, 64, 0, STRETTO_ACCOUNT_JOB) == STRETTO_OK);
  MUST(client->api->stream_synchronize(client, stream) == STRETTO_OK);
  const unsigned long long begin = stretto_time();
  const stretto_launch_t launch = {.kernel = &kernel,
                                   .arguments = arguments,
                                   .argument_bytes = bytes,
                                   .work_groups = workers,
                                   .account = STRETTO_ACCOUNT_JOB,
                                   .after_all_earlier = 1};
  MUST(client->api->launch(client, stream, &launch) == STRETTO_OK);
  MUST(client->api->stream_synchronize(client, stream) == STRETTO_OK);
  const unsigned long long took = stretto_time() - begin;
  stretto_task_control_t now;
  MUST(client->api->copy(client, stream, (uint64_t)copy, control, 64, STRETTO_ACCOUNT_JOB) ==
       STRETTO_OK);
  MUST(client->api->stream_synchronize(client, stream) == STRETTO_OK);
  MUST(cudaMemcpy(&now, copy, sizeof now, cudaMemcpyDeviceToHost) == cudaSuccess);
  MUST(now.next == tasks + workers && now.preempt == 0);
  return took;
}

int main(int argc, char** argv) {
  MUST(argc == 3);
  cudaStream_t cuda;
  MUST(cudaStreamCreate(&cuda) == cudaSuccess);
  stream = stretto_runtime_stream(cuda, &client);
  kernel = kernel_of(client, load_module(client, argv[1]), "nothing");
  MUST(client->api->allocate(client, stream, 4096, 4096, STRETTO_ALLOCATION_UNCACHED, &control) ==
       STRETTO_OK);
  MUST(cudaMalloc(&copy, 64) == cudaSuccess);
  const uint32_t workers = (uint32_t)strtoul(argv[2], NULL, 0);
  // Of each worker; the launch is in both.
  const unsigned long long few = time_of(workers, 20 * workers),
                           many = time_of(workers, 120 * workers);
  printf("a task takes %llu ns\n", (many - few) / 100);
  return 0;
}
