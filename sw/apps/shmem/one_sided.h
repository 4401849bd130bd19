// SPDX-License-Identifier: Apache-2.0
// Host program of a server that reads from, or writes to, the heap of another one through its NIC:
// latency and rate by size.
#ifndef STRETTO_SW_APPS_SHMEM_ONE_SIDED_H_
#define STRETTO_SW_APPS_SHMEM_ONE_SIDED_H_

#include "sw/net/cluster.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ONE_SIDED_SIZES 32

// Of an operation whose latency is measured, at the host.
typedef enum one_sided_moment {
  ONE_SIDED_CALL,     // Its entry is about to be written.
  ONE_SIDED_POSTED,   // Its doorbell has left.
  ONE_SIDED_NOTICED,  // Its completion has been read.
} one_sided_moment_t;

typedef struct one_sided_parameters {
  stretto_cluster_options_t cluster;  // But for `ops`.
  int acts;                           // Else it serves alone.
  uint32_t peer;                      // Whose heap it uses.
  uint8_t opcode;                     // STRETTO_NIC_GET or _PUT.
  uint32_t sizes;
  uint32_t bytes[ONE_SIDED_SIZES];
  uint64_t from[ONE_SIDED_SIZES];      // Offsets in the heap that is read,
  uint64_t to[ONE_SIDED_SIZES];        // in the one that is written.
  uint32_t rounds;                     // Operations one after the other, of a latency.
  uint32_t messages[ONE_SIDED_SIZES];  // Operations of a rate,
  uint32_t window;                     // so many of them at a time; at most 64.
  // Told what happens to operation `round` of a latency; takes no machine time.
  void (*note)(void* context, uint32_t size, uint32_t round, one_sided_moment_t what);
  void* note_context;
} one_sided_parameters_t;

typedef struct one_sided_result {
  uint64_t rate_ns[ONE_SIDED_SIZES];  // Of all messages; 0: not measured.
  uint64_t operations;                // That ended well.
} one_sided_result_t;

// Id of an operation in its work entry.
static inline uint64_t one_sided_id(uint32_t size, uint32_t round) {
  return (uint64_t)(size + 1) << 32 | round;
}

// `error` has 256 bytes. STRETTO_ERROR_STATE: an operation has failed, or a server does not answer.
stretto_status_t one_sided_run(const one_sided_parameters_t* parameters,
                               const stretto_host_ops_t* ops, one_sided_result_t* result,
                               char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_SHMEM_ONE_SIDED_H_
