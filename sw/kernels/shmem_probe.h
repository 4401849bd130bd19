// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernel that measures operations of shmem.h, for shmem_probe.c and for those who
// launch it.
#ifndef STRETTO_SW_KERNELS_SHMEM_PROBE_H_
#define STRETTO_SW_KERNELS_SHMEM_PROBE_H_

#include "sw/include/formats/shmem_queue.h"

// Of a blocking operation.
typedef struct shmem_probe_stamp {
  uint64_t entry;     // Its number in the queue.
  uint64_t call;      // Clocks of the GPU: of the call,
  uint64_t written;   // when the entry is written,
  uint64_t ended;     // and when the work-group goes on.
  uint64_t taken_ns;  // When the service took it.
  uint64_t failed;    // Its status, 0 = ended well.
} shmem_probe_stamp_t;

// shmem_probe: each work-group puts or gets `bytes` of symmetric memory `rounds` times, one after
// the other; then `messages` times, and waits for all. Work-group w uses what lies w x `stride`
// behind the first one's. Operation STRETTO_SHMEM_QUIET: rounds of that, which the service answers
// itself, as nothing is under way.
typedef struct shmem_probe_arguments {
  stretto_shmem_handle_t shmem;
  uint64_t source;
  uint64_t destination;
  uint64_t bytes;
  uint64_t stride;
  uint64_t stamps;  // Of each work-group `rounds` shmem_probe_stamp_t, then clocks of begin and end
                    // of the messages.
  uint32_t operation;  // STRETTO_SHMEM_PUT, GET or QUIET.
  uint32_t pe;
  uint32_t rounds;
  uint32_t messages;
} shmem_probe_arguments_t;

// shmem_stream: the first `probes` work-groups do what those of shmem_probe do. Each of the others
// loads an array of its own again and again, pieces of 1 KiB, until all these have ended. Its notes:
// bytes that it has loaded.
typedef struct shmem_stream_arguments {
  shmem_probe_arguments_t probe;
  uint64_t arrays;
  uint64_t array_bytes;  // Of each: a multiple of SHMEM_STREAM_STEP_BYTES.
  uint64_t ended;        // A word in memory that no cache holds, 0.
  uint64_t notes;        // A word of each of the others.
  uint64_t probes;
} shmem_stream_arguments_t;

#define SHMEM_STREAM_PIECE_BYTES 1024u
#define SHMEM_STREAM_STEP_BYTES (16u * SHMEM_STREAM_PIECE_BYTES)  // Between looks at `ended`.

// Of a work-group.
#define SHMEM_PROBE_STAMP_BYTES(rounds) ((rounds) * sizeof(shmem_probe_stamp_t) + 16)

#endif  // STRETTO_SW_KERNELS_SHMEM_PROBE_H_
