// SPDX-License-Identifier: Apache-2.0
// Why a send request came to nothing, in words: from the fields of error_first (request_ring.yaml).
// C and C++.
#ifndef STRETTO_SW_INCLUDE_FORMATS_SEND_ERROR_H_
#define STRETTO_SW_INCLUDE_FORMATS_SEND_ERROR_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#include "sw/include/regs/request_ring_regs.h"  // Generated.

static inline const char* stretto_send_error_text(uint32_t kind, uint32_t reason) {
  static const char* const kReasons[] = {
      "opcode is neither write nor read",
      "reserved bits are set",
      "connection is not set up",
      "source buffer is not registered",
      "destination buffer is not registered",
      "source may not be read or destination not written",
      "a buffer is not at the connection's end where it must be",
      "buffers have different units",
      "length is 0",
      "goes beyond the source buffer",
      "goes beyond the destination buffer",
  };
  if (kind == REQUEST_RING_ERROR_FIRST_KIND_DROPPED)
    return "dropped: the ring was full or not started";
  if (kind == REQUEST_RING_ERROR_FIRST_KIND_TRANSFER) return "its transfer failed";
  for (unsigned i = 0; i < sizeof kReasons / sizeof kReasons[0]; ++i) {
    if ((reason >> i & 1) != 0) return kReasons[i];
  }
  return "unknown";
}

#endif  // STRETTO_SW_INCLUDE_FORMATS_SEND_ERROR_H_
