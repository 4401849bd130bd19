// SPDX-License-Identifier: Apache-2.0
// See host_compute.h.
#include "sw/apps/shmem/host_compute.h"

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

// At so many units in a microsecond.
static uint64_t ns_of(uint64_t units, uint64_t per_us) {
  return (units * 1000 + per_us - 1) / per_us;
}

uint64_t host_compute_ns(const host_compute_t* host, uint64_t operations, uint64_t bytes,
                         uint64_t array_bytes) {
  const uint64_t core_operations = (uint64_t)host->operations_per_cycle * host->mhz;
  const uint64_t core_cache = (uint64_t)host->cache_bytes_per_cycle * host->mhz;
  const int is_cached = array_bytes <= host->cache_bytes;
  const uint64_t one = is_cached ? core_cache : host->core_memory_mb_s;
  const uint64_t all = is_cached ? host->cores * core_cache : host->memory_mb_s;
  const uint64_t alone = most(ns_of(operations, core_operations), ns_of(bytes, one));
  const uint64_t together =
      host->parallel_ns + most(ns_of(operations, host->cores * core_operations), ns_of(bytes, all));
  return alone < together ? alone : together;
}

#define PART 4096u  // Numbers.

void host_compute_add(const host_compute_t* host, const stretto_host_ops_t* ops, uint64_t data,
                      uint64_t more, uint64_t bytes, uint64_t array_bytes) {
  float sum[PART], one[PART];
  for (uint64_t at = 0; at < bytes; at += sizeof sum) {
    const uint64_t part = bytes - at < sizeof sum ? bytes - at : sizeof sum;
    ops->peek(ops->context, data + at, sum, part);
    ops->peek(ops->context, more + at, one, part);
    for (uint64_t i = 0; i < part / sizeof sum[0]; ++i) sum[i] += one[i];
    ops->poke(ops->context, data + at, sum, part);
  }
  // Two are read, one is written back.
  ops->charge_cpu_ns(ops->context,
                     host_compute_ns(host, bytes / sizeof sum[0], 3 * bytes, array_bytes));
}
