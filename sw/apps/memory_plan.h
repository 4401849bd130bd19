// SPDX-License-Identifier: Apache-2.0
// What lies where in the memory of a program's GPU: named ranges in the order in which it allocates
// them, placed once, before time 0. The platform puts contents there, the check reads results
// there, and the law on who may write goes by it.
#ifndef STRETTO_SW_APPS_MEMORY_PLAN_H_
#define STRETTO_SW_APPS_MEMORY_PLAN_H_

#include "sw/driver/stretto_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MEMORY_PLAN_RANGES 10

typedef struct memory_range {
  const char* name;
  uint64_t base;  // Offset in the GPU's memory.
  uint64_t bytes;
  uint32_t allocation;  // STRETTO_ALLOCATION_*.
  int is_input;         // Nobody writes it.
} memory_range_t;

typedef struct memory_plan {
  uint32_t gpu;
  uint64_t alignment;
  uint64_t end;  // Of what is placed.
  uint32_t ranges;
  memory_range_t range[MEMORY_PLAN_RANGES];  // The first is the client's own.
} memory_plan_t;

// The plan of a client that has allocated nothing.
memory_plan_t memory_plan(const stretto_client_options_t* client, uint64_t alignment);
// Return the address of the new range. REQUIRES: it is none above MEMORY_PLAN_RANGES; else the
// process ends.
uint64_t memory_plan_add(memory_plan_t* plan, const char* name, uint64_t bytes,
                         uint32_t allocation);
uint64_t memory_plan_add_input(memory_plan_t* plan, const char* name, uint64_t bytes,
                               uint32_t allocation);

// Allocates all ranges but the first. STRETTO_ERROR_STATE: one does not lie where it should.
stretto_status_t memory_plan_allocate(const memory_plan_t* plan, stretto_client_t* client,
                                      stretto_stream_t* stream);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_MEMORY_PLAN_H_
