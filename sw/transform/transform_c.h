// SPDX-License-Identifier: Apache-2.0
// The transformer for programs in C: all kernels of a file at once, in one form after the other.
#ifndef STRETTO_SW_TRANSFORM_TRANSFORM_C_H_
#define STRETTO_SW_TRANSFORM_TRANSFORM_C_H_

#include "sw/include/formats/transformed_kernel.h"

#ifdef __cplusplus
#include <cstddef>
extern "C" {
#else
#include <stddef.h>
#endif

// Told of each kernel that stays as it is, with the reason in one line; of the file as a whole if
// `kernel` is "".
typedef void (*stretto_refused_t)(void* context, const char* kernel, const char* reason);

// A file whose kernels are known, to be freed by stretto_subject_free(). Null: it is unfit.
typedef struct stretto_subject stretto_subject_t;
stretto_subject_t* stretto_subject_new(const void* elf, size_t bytes, stretto_refused_t refused,
                                       void* context);
void stretto_subject_free(stretto_subject_t* subject);

// The ELF with all kernels rewritten that can be, to be freed by free(). `form`: STRETTO_FORM_SLICE or
// STRETTO_FORM_PREEMPT; `stock`: without tile.vote and tile.release. Null: none could be.
void* stretto_transform_elf(const stretto_subject_t* subject, int form, int stock,
                            stretto_refused_t refused, void* context, size_t* out_bytes);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_TRANSFORM_TRANSFORM_C_H_
