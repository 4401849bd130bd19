// SPDX-License-Identifier: Apache-2.0
// Sets behind copies, nothing waited for in between: the DMA engine works on both at a time if it may, and then
// overtakes the copy.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/system/programs/must.h"

#define OK(call) MUST((call) == cudaSuccess)

enum { BYTES = 1 << 20 };
static uint8_t out[BYTES];

static void expect(const void* device, int value) {
  OK(cudaMemcpy(out, device, BYTES, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < BYTES; ++i) MUST(out[i] == value);
}

int main(void) {
  void *from, *to;
  OK(cudaMalloc(&from, BYTES));
  OK(cudaMalloc(&to, BYTES));
  OK(cudaMemset(from, 1, BYTES));
  OK(cudaMemset(to, 2, BYTES));
  // Of what is read,
  OK(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToDevice, NULL));
  OK(cudaMemsetAsync(from, 0x5A, BYTES, NULL));
  expect(to, 1);
  // and of what is written.
  OK(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToDevice, NULL));
  OK(cudaMemsetAsync(to, 7, BYTES, NULL));
  expect(to, 7);
  printf("sets behind copies\n");
  return 0;
}
