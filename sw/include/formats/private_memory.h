// SPDX-License-Identifier: Apache-2.0
// Private memory of the command processor with cp.private_memory=gpu: addresses of node 0 behind which
// the GPU's own memory lies, in its system's MiB (queue.h). Harts reach it through their L1s, which are
// not coherent, so it is for what one hart alone uses: code, constants, stacks (boot/link_gpu.ld).
#ifndef STRETTO_SW_INCLUDE_FORMATS_PRIVATE_MEMORY_H_
#define STRETTO_SW_INCLUDE_FORMATS_PRIVATE_MEMORY_H_

#define STRETTO_PRIVATE_BASE 0x90000000
#define STRETTO_PRIVATE_BYTES 0x80000
#define STRETTO_PRIVATE_OFFSET 0x80000  // In the GPU's memory.

#endif  // STRETTO_SW_INCLUDE_FORMATS_PRIVATE_MEMORY_H_
