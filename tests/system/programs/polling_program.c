// SPDX-License-Identifier: Apache-2.0
// Asks for ever whether an idle device is idle.
#include <cuda_runtime.h>

int main(void) {
  for (;;) cudaDeviceSynchronize();
}
