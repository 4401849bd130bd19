// SPDX-License-Identifier: Apache-2.0
// What host programs of several ranks on one host share: they meet in words of host memory, and all
// place their arrays at the same offsets.
#ifndef STRETTO_SW_APPS_RANKS_H_
#define STRETTO_SW_APPS_RANKS_H_

#include "sw/driver/stretto_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

// The job that programs belong to: several share a host.
typedef struct host_job {
  const uint32_t* gpus;  // By rank; null: rank r has GPU r.
  uint32_t number;       // Below STRETTO_MAX_JOBS: chooses its words of host memory.
} host_job_t;

uint32_t job_gpu(const host_job_t* job, uint32_t rank);
// The job's host memory, STRETTO_HOST_JOB_BYTES.
uint64_t job_host_memory(const host_job_t* job);

// Rank `rank` of `ranks`; the programs of `host_ranks` of them run on this host: all, or 1 when one
// GPU stands for all.
typedef struct ranks {
  const stretto_host_ops_t* ops;
  host_job_t job;
  uint32_t rank;
  uint32_t ranks;
  uint32_t host_ranks;
  uint64_t met;  // Times that this rank has come; begins with 0.
} ranks_t;

#define RANKS_FAILED UINT64_MAX

// Tells the others whether this rank is ready and waits until all have said so for the same time.
// STRETTO_ERROR_STATE: another one is not, and never will be.
stretto_status_t ranks_meet(ranks_t* ranks, int ready);

// All pass when all have come for the nth time, where none can fail without ending the run.
void ranks_barrier(ranks_t* ranks);

// The word of host memory that says how often a rank has come, or RANKS_FAILED: for threads beside
// the ranks.
uint64_t ranks_word(const ranks_t* ranks, uint32_t rank);

// The place of `address` of this rank's GPU on another one.
uint64_t ranks_at(const ranks_t* ranks, uint64_t address, uint32_t rank);

// A driver client for the rank's program, if `planned` is STRETTO_OK; else the others are told.
// `error`, here and below: 256 bytes, one line if the status that is returned is not STRETTO_OK.
stretto_status_t ranks_client(ranks_t* ranks, stretto_status_t planned,
                              const stretto_client_options_t* options, stretto_client_t** client,
                              char* error);
// The end of the program, with `status`.
stretto_status_t ranks_end(const ranks_t* ranks, stretto_status_t status, stretto_client_t* client,
                           char* error);

// The first failing call ends the function with its status.
#define TRY(call)                                      \
  do {                                                 \
    const stretto_status_t try_status_ = (call);       \
    if (try_status_ != STRETTO_OK) return try_status_; \
  } while (0)

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_RANKS_H_
