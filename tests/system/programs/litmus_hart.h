// SPDX-License-Identifier: Apache-2.0
// What the bare-metal program litmus_hart.c finds in GPU memory: what it launches, and what it does
// beside the kernel.
#ifndef STRETTO_TESTS_SYSTEM_PROGRAMS_LITMUS_HART_H_
#define STRETTO_TESTS_SYSTEM_PROGRAMS_LITMUS_HART_H_

#include "tests/system/programs/scopes_arguments.h"

#define LITMUS_HART_PLAN 0x200000u      // Offset of the plan in GPU memory,
#define LITMUS_HART_SHARED 0x300000u    // of a shared range of this size,
#define LITMUS_HART_UNCACHED 0x400000u  // and of an uncached one.
#define LITMUS_HART_BYTES 0x10000u

// The hart's own meaning of a fence's `detail`: SCOPES_ACQUIRE is fence r,rw; SCOPES_RELEASE fence
// rw,w. It waits with AMOs, which pass its L1 by and leave it as it is.
typedef struct litmus_hart_plan {
  uint64_t kernel;   // Its descriptor
  uint64_t kernarg;  // and arguments.
  scopes_operation_t does[SCOPES_OPERATIONS];
} litmus_hart_plan_t;

#endif  // STRETTO_TESTS_SYSTEM_PROGRAMS_LITMUS_HART_H_
