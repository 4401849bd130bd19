// SPDX-License-Identifier: Apache-2.0
// Which code object an image in memory is, wherever it was loaded. For the host.
#ifndef STRETTO_SW_INCLUDE_FORMATS_CODE_IDENTITY_H_
#define STRETTO_SW_INCLUDE_FORMATS_CODE_IDENTITY_H_

#ifdef __cplusplus
#include <cstring>
#else
#include <string.h>
#endif

#include "sw/include/formats/code_object.h"

// Takes back what depends on where an image was loaded: addresses inside it count from its start, and
// what the loader writes is zero. Images of one file are then equal. `bytes` is a multiple of 8.
static inline void stretto_code_unload(uint8_t* image, uint64_t bytes, uint64_t base) {
  for (uint64_t at = 0; at + 8 <= bytes; at += 8) {
    uint64_t word;
    memcpy(&word, image + at, sizeof word);
    if (word < base || word - base >= bytes) continue;
    word -= base;
    memcpy(image + at, &word, sizeof word);
  }
  for (uint64_t at = 0; at + sizeof(stretto_kernel_descriptor_t) <= bytes; at += 8) {
    stretto_kernel_descriptor_t descriptor;
    memcpy(&descriptor, image + at, sizeof descriptor);
    if (descriptor.magic != STRETTO_KERNEL_MAGIC) continue;
    descriptor.code_bytes = 0;
    descriptor.code_base = 0;
    memcpy(image + at, &descriptor, sizeof descriptor);
  }
}

#endif  // STRETTO_SW_INCLUDE_FORMATS_CODE_IDENTITY_H_
