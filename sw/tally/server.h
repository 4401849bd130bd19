// SPDX-License-Identifier: Apache-2.0
// The server of Tally (TL-ARCH-01, -03): a host program that alone submits work to the GPU. It takes
// the messages of all clients (channel.h), launches kernels of the high-priority client at once and
// unmodified, and those of best-effort clients one at a time, when and as the policy says
// (policy.h). Kernels come as ELFs and are transformed when they are loaded; what the transformer
// refuses runs as it is, and is named once.
//
// Each client has a driver client of its own here: a queue of the GPU and a window of its memory.
// The server has one more, for flags, control blocks and packets of its own. Everything that it
// decides is told, in order, to whoever gives a log.
#ifndef STRETTO_SW_TALLY_SERVER_H_
#define STRETTO_SW_TALLY_SERVER_H_

#include "sw/tally/channel.h"
#include "sw/tally/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tally_mode {
  TALLY_FORWARD,        // All kernels when they come (TL-ABL-01).
  TALLY_WHOLE_KERNELS,  // Best effort waits for high priority, kernel by kernel (TL-ABL-02).
  TALLY_TRANSFORMED,    // The system (TL-ABL-03).
  TALLY_UNMODIFIED,  // The same, but the GPU itself stops unmodified kernels: packets PREEMPT and
                     // RESUME (queue.h) in the place of flags and relaunches.
} tally_mode_t;

typedef enum tally_record_kind {
  TALLY_HIGH_ACTIVE,  // High priority has work on the GPU, from now on,
  TALLY_HIGH_IDLE,    // and has none any more.
  TALLY_LAUNCHED,     // A kernel, or a part of it: `first`, `groups`, of `work_groups`.
  TALLY_RESUMED,      // It goes on from where the GPU had stopped it.
  TALLY_STOPPED,      // The part in flight has been told to stop,
  TALLY_ENDED,        // and has ended. `next`: of preemptive kernels that were told to stop, tasks
                      // that were taken.
  TALLY_REFUSED,      // `kernel` has no form: `text` says why.
  TALLY_CHOSEN,       // `kernel` is launched as form and `groups` say from now on.
  TALLY_MEASURED,     // Before: `kernel` as form and `groups` say took `duration_ns`.
} tally_record_kind_t;

typedef struct tally_record {
  tally_record_kind_t kind;
  uint32_t client;
  uint64_t time_ns;
  uint64_t launch;  // Message of the client that asked for it.
  uint32_t form;
  uint32_t first;
  uint32_t groups;  // On the GPU: of a slice, workers, or all.
  uint32_t work_groups;
  uint64_t next;
  uint64_t control;      // Address of the control block; 0: has none.
  int is_last;           // ENDED: nothing of the kernel is left. CHOSEN: the estimate is measured.
  uint64_t original_ns;  // CHOSEN: measured, 0 = not; and of the configuration, as MEASURED,
  uint64_t duration_ns;
  uint64_t turnaround_ns;  // with the estimate.
  uint64_t key;            // Of both: library, kernel, grid and arguments but for addresses.
  const char* kernel;
  const char* text;
} tally_record_t;

// What an earlier run has measured of a kernel.
typedef struct tally_known {
  uint64_t key;
  tally_configuration_t configuration;
  uint64_t duration_ns;
} tally_known_t;

typedef struct tally_server_parameters {
  tally_mode_t mode;
  tally_policy_t policy;
  int stock_isa;  // Preemptive forms without tile.vote.
  uint32_t job;   // Whose host memory has the channels.
  uint32_t clients;
  stretto_client_options_t client[TALLY_CLIENTS];
  stretto_client_options_t own;
  uint32_t units;            // Of the GPU.
  uint32_t unit_workgroups;  // Slots of a unit.
  // Accounts (machine_types.h) of what the clients' work does, and of the server's own.
  uint32_t high_account;
  uint32_t best_effort_account;
  uint32_t own_account;
  const tally_known_t* known;  // A kernel of which everything is here is not measured.
  uint32_t known_count;
  void (*log)(void* context, const tally_record_t* record);
  void* log_context;
} tally_server_parameters_t;

typedef struct tally_server_result {
  uint64_t messages[TALLY_CLIENTS];  // Taken, and their bytes.
  uint64_t message_bytes[TALLY_CLIENTS];
  uint64_t refused_launches;  // Of kernels that have no form.
} tally_server_result_t;

// What the server has of the GPU's memory behind its argument buffer: control blocks.
#define TALLY_CONTROL_BLOCKS 4096u
// Bytes of a block with its mail, `workers` at most.
static inline uint64_t tally_control_bytes(int stock_isa, uint32_t workers) {
  return 64 + (stock_isa ? (uint64_t)workers * STRETTO_WORKER_MAIL_BYTES : 0);
}

// Serves until all clients have come and gone. `error` (256 bytes) gets one line if the status is
// not STRETTO_OK: then the GPU or the server's own calls have failed; what clients ask for in vain is
// their answer.
stretto_status_t tally_server_run(const tally_server_parameters_t* parameters,
                                  const stretto_host_ops_t* ops, tally_server_result_t* result,
                                  char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_TALLY_SERVER_H_
