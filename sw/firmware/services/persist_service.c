// SPDX-License-Identifier: Apache-2.0
// See persist_service.h. FIRMWARE_NO_PIN and FIRMWARE_ONE_WAY build images that pin nothing, and of
// each set one line at most, for tests that such runs are found out.
#include "sw/firmware/services/persist_service.h"

#include <stddef.h>

#include "sw/firmware/services/memory_range.h"
#include "sw/firmware/services/report.h"

static fw_result_t set_limit(const shared_t* shared, uint64_t bytes) {
  const gpu_l2_size_t l2 = gpu_l2_size(&shared->gpu);
  if (l2.ways == 0) return STRETTO_ERROR_DEVICE;
  const uint64_t way = l2.bytes / l2.ways;
  if (bytes != 0 && (bytes < way || bytes > way * l2.persist_ways)) {
    reason_l2_limit(bytes, way, way * l2.persist_ways);
    return STRETTO_ERROR_ARGUMENT;
  }
#ifdef FIRMWARE_ONE_WAY
  gpu_l2_set_persist_ways(&shared->gpu, bytes != 0);
#else
  gpu_l2_set_persist_ways(&shared->gpu, (uint32_t)(bytes / way));
#endif
  return STRETTO_OK;
}

static fw_result_t pin(const gpu_t* gpu, uint64_t begin, uint64_t bytes) {
  uint32_t unused = STRETTO_L2_PINNED_RANGES;
  for (uint32_t i = STRETTO_L2_PINNED_RANGES; i-- > 0;) {
    const uint64_t other = gpu_l2_pin_base(gpu, i), other_bytes = gpu_l2_pin_bytes(gpu, i);
    if (other_bytes == 0) {
      unused = i;
    } else if (begin < other + other_bytes && other < begin + bytes) {
      return STRETTO_ERROR_OVERLAP;
    }
  }
  if (unused == STRETTO_L2_PINNED_RANGES) return STRETTO_ERROR_TABLE_FULL;
#ifndef FIRMWARE_NO_PIN
  gpu_l2_pin(gpu, unused, begin, bytes);
#endif
  return STRETTO_OK;
}

// The range that begins there, or all of them.
static fw_result_t unpin(const gpu_t* gpu, uint64_t begin, bool all) {
  fw_result_t result = all ? STRETTO_OK : STRETTO_ERROR_UNMAPPED;
  for (uint32_t i = 0; i < STRETTO_L2_PINNED_RANGES; ++i) {
    if (gpu_l2_pin_bytes(gpu, i) == 0 || (!all && gpu_l2_pin_base(gpu, i) != begin)) continue;
    gpu_l2_pin(gpu, i, 0, 0);
    result = STRETTO_OK;
  }
  return result;
}

fw_result_t persist_service(const shared_t* shared, const stretto_l2_persist_t* persist) {
  if (shared == NULL || persist == NULL) return STRETTO_ERROR_ARGUMENT;
  const uint64_t base = persist->base, bytes = persist->bytes;
  switch (persist->action) {
    case STRETTO_L2_LIMIT: return set_limit(shared, bytes);
    case STRETTO_L2_PIN:
      if ((base | bytes) % STRETTO_L2_LINE_BYTES != 0 || bytes == 0 || bytes > UINT32_MAX)
        return STRETTO_ERROR_ARGUMENT;
      if (!in_gpu_memory(base, bytes, shared->gpu_id)) return STRETTO_ERROR_UNMAPPED;
      return pin(&shared->gpu, base, bytes);
    case STRETTO_L2_UNPIN: return unpin(&shared->gpu, base, false);
    case STRETTO_L2_RESET: return unpin(&shared->gpu, 0, true);
    default: return STRETTO_ERROR_ARGUMENT;
  }
}
