// SPDX-License-Identifier: Apache-2.0
// A code object is a kernel ELF (static PIE, RV64IMA + tile extension) with one descriptor, 64
// bytes, in the section `.stretto.kernel` under the symbol NAME.kd. The loader relocates the image;
// `entry` becomes an address in GPU memory.
#ifndef STRETTO_SW_INCLUDE_FORMATS_CODE_OBJECT_H_
#define STRETTO_SW_INCLUDE_FORMATS_CODE_OBJECT_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define STRETTO_KERNEL_MAGIC 0x4B545253u  // "SRTK"
#define STRETTO_KERNEL_SIMT 0
#define STRETTO_KERNEL_TENSOR 1

typedef struct stretto_kernel_descriptor {
  uint32_t magic;
  uint32_t
      type;  // STRETTO_KERNEL_SIMT or STRETTO_KERNEL_TENSOR: which scheduler arbiter serves it.
  uint64_t entry;  // Address of the first instruction.
  uint32_t
      registers_bytes;  // Register file bytes of one work-group (accumulators and register tiles included).
  uint32_t lds_bytes;      // LDS of one work-group.
  uint32_t private_bytes;  // Private memory of one wavefront (stack), power of two, 256..65536.
  uint32_t wavefronts;     // Per work-group, 1..8.
  uint32_t tile_m;         // Output tile rows of a work-group; 0 = not a tiled kernel.
  uint32_t tile_n;         // Output tile columns.
  uint32_t kernarg_bytes;
  uint32_t code_bytes;  // Written by the loader: bytes of the loaded image ...
  uint64_t code_base;   // ... and where it starts in GPU memory.
  uint32_t reserved[2];
} stretto_kernel_descriptor_t;

#ifdef __cplusplus
static_assert(sizeof(stretto_kernel_descriptor_t) == 64, "descriptor is 64 bytes");
#else
_Static_assert(sizeof(stretto_kernel_descriptor_t) == 64, "descriptor is 64 bytes");
#endif

#endif  // STRETTO_SW_INCLUDE_FORMATS_CODE_OBJECT_H_
