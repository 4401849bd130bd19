// SPDX-License-Identifier: Apache-2.0
// See memory_plan.h.
#include "sw/apps/memory_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "sw/apps/ranks.h"

memory_plan_t memory_plan(const stretto_client_options_t* client, uint64_t alignment) {
  memory_plan_t plan = {.gpu = client->gpu, .alignment = 4096, .end = client->memory_begin};
  memory_plan_add(&plan, "kernel arguments", STRETTO_ARGUMENT_BUFFER_BYTES, 0);
  plan.alignment = alignment;
  return plan;
}

uint64_t memory_plan_add(memory_plan_t* plan, const char* name, uint64_t bytes,
                         uint32_t allocation) {
  if (plan->ranges == MEMORY_PLAN_RANGES) {
    fprintf(stderr, "memory plan: no room for '%s', there are %d ranges\n", name,
            MEMORY_PLAN_RANGES);
    abort();
  }
  const uint64_t base = stretto_place(&plan->end, bytes, plan->alignment);
  plan->range[plan->ranges++] = (memory_range_t){name, base, bytes, allocation, 0};
  return stretto_gpu_address(plan->gpu, base);
}

uint64_t memory_plan_add_input(memory_plan_t* plan, const char* name, uint64_t bytes,
                               uint32_t allocation) {
  const uint64_t address = memory_plan_add(plan, name, bytes, allocation);
  plan->range[plan->ranges - 1].is_input = 1;
  return address;
}

stretto_status_t memory_plan_allocate(const memory_plan_t* plan, stretto_client_t* client,
                                      stretto_stream_t* stream) {
  for (uint32_t i = 1; i < plan->ranges; ++i) {
    const memory_range_t* range = &plan->range[i];
    uint64_t address = 0;
    TRY(client->api->allocate(client, stream, range->bytes, plan->alignment, range->allocation,
                              &address));
    if (address != stretto_gpu_address(plan->gpu, range->base)) return STRETTO_ERROR_STATE;
  }
  return STRETTO_OK;
}
