// SPDX-License-Identifier: Apache-2.0
// What a computation over arrays costs a host whose cores all take part (OpenMP): a roofline, the
// least time that its cores, its third cache and its memory allow, and the begin and end of a
// parallel loop. A loop that one core does sooner is done by one.
#ifndef STRETTO_SW_APPS_SHMEM_HOST_COMPUTE_H_
#define STRETTO_SW_APPS_SHMEM_HOST_COMPUTE_H_

#include <stdint.h>

#include "sw/driver/stretto_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct host_compute {
  uint32_t cores;
  uint32_t mhz;
  uint32_t operations_per_cycle;   // FP32, of a core.
  uint32_t memory_mb_s;            // Of all cores,
  uint32_t core_memory_mb_s;       // and of one alone.
  uint32_t cache_bytes_per_cycle;  // From the third cache, of a core.
  uint64_t cache_bytes;            // Of it, all cores'.
  uint32_t parallel_ns;            // Begin and end of a parallel loop.
} host_compute_t;

// Nanoseconds of a loop with so many operations that moves `bytes` to and from cores. `array_bytes`:
// all that the program uses in turn; what the third cache does not hold comes from memory.
uint64_t host_compute_ns(const host_compute_t* host, uint64_t operations, uint64_t bytes,
                         uint64_t array_bytes);

// data[i] += more[i], FP32, in host memory, and the time for it. `array_bytes` as above.
void host_compute_add(const host_compute_t* host, const stretto_host_ops_t* ops, uint64_t data,
                      uint64_t more, uint64_t bytes, uint64_t array_bytes);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_SHMEM_HOST_COMPUTE_H_
