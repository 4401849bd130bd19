// SPDX-License-Identifier: Apache-2.0
// Times an all-reduce by the machine's clock: the call returns at once, the transfer takes at least
// what the slowest link needs.
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>

#define COUNT (1u << 18)

int main(void) {
  int gpus = 0;
  ncclComm_t comms[64];
  float* buffers[64];
  cudaGetDeviceCount(&gpus);
  if (ncclCommInitAll(comms, gpus, NULL) != ncclSuccess) return 1;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    cudaSetDevice(gpu);
    if (cudaMalloc((void**)&buffers[gpu], COUNT * sizeof(float)) != cudaSuccess) return 1;
  }
  const unsigned long long begin = stretto_time();
  if (stretto_time() != begin) return 2;  // Reading it takes no time.
  ncclGroupStart();
  for (int gpu = 0; gpu < gpus; ++gpu)
    ncclAllReduce(buffers[gpu], buffers[gpu], COUNT, ncclFloat32, ncclSum, comms[gpu], NULL);
  if (ncclGroupEnd() != ncclSuccess) return 3;
  const unsigned long long launched = stretto_time();
  for (int gpu = 0; gpu < gpus; ++gpu) {
    cudaSetDevice(gpu);
    if (cudaStreamSynchronize(NULL) != cudaSuccess) return 4;
  }
  const unsigned long long end = stretto_time();
  printf("launched in %llu ns, done after %llu ns\n", launched - begin, end - begin);
  // A ring moves 2 (N - 1) / N of the buffer over each link, and no link has 1 TB/s.
  const unsigned long long least = 2ull * (unsigned)(gpus - 1) * COUNT * 4 / (unsigned)gpus / 1000;
  return begin < launched && launched < end && end - begin > least ? 0 : 5;
}
