// SPDX-License-Identifier: Apache-2.0
// Host program of a client of a shared GPU: requests, each a list of kernels one behind the other,
// as they arrive or back to back. All clients of a run begin together; those without a number of
// requests end with client 0.
#ifndef STRETTO_SW_APPS_TENANTS_TENANT_H_
#define STRETTO_SW_APPS_TENANTS_TENANT_H_

#include "sw/apps/memory_plan.h"
#include "sw/apps/ranks.h"
#include "sw/apps/tenants/tenant_port.h"
#include "sw/apps/tenants/tenant_rate.h"

#ifdef __cplusplus
extern "C" {
#endif

// Accounts of the job.
enum {
  TENANT_ACCOUNT_HIGH = STRETTO_ACCOUNT_JOB,
  TENANT_ACCOUNT_BEST_EFFORT,
  TENANT_ACCOUNT_SERVER,
};

#define TENANT_CLEARED 1u  // The first range that it allocates; zero at first.

typedef struct tenant_file {
  const void* elf;
  size_t bytes;
} tenant_file_t;

typedef struct tenant_step {
  uint32_t file;
  const char* kernel;
  uint32_t number;  // Of the kernel: from 0, in the order in which they come first.
  const void* arguments;
  uint32_t argument_bytes;
  uint32_t work_groups;
  uint32_t host_ns;  // What the client computes before it.
} tenant_step_t;

typedef struct tenant_request {
  uint64_t arrival_ns, begin_ns, end_ns;  // On the host's clock.
} tenant_request_t;

typedef struct tenant_parameters {
  uint32_t job;     // Whose host memory has the words of all clients, and channels.
  uint32_t number;  // Of the client, below `clients`.
  uint32_t clients;
  int alone;  // One after the other, in the order of numbers.
  stretto_client_options_t client;
  memory_plan_t memory;
  int by_server;
  tally_priority_t priority;
  uint32_t stream_priority;  // Without a server.
  tenant_file_t file[TENANT_FILES];
  uint32_t files;
  const tenant_step_t* steps;  // Of a request.
  uint32_t step_count;
  uint32_t kernel_count;       // Of all steps.
  const uint64_t* arrival_ns;  // Of each request, from the begin on; null: back to back.
  uint32_t requests;           // 0: until client 0 has ended; alone: as long as it took.
  uint32_t most_requests;      // Room for them.
  uint64_t time_ns;  // Behind its begin the client begins no further request; 0: no matter when.
  uint32_t least_requests;  // That it begins all the same.
  uint32_t host_ns;         // What it computes before each launch, on top of the step's.
  const stretto_scheduler_policy_t* policy;  // Of the GPU, for all clients; null: as at boot.
  stretto_share_t share;  // Its `high` is not 0: the command processor schedules all clients so.
  uint32_t context[STRETTO_CONTEXTS];  // Queues that have the GPU in turn;
  uint32_t contexts;                   // 0: all at once.
  uint64_t slice_ns, save_bytes;       // Of each.
  const tenant_rate_t* rate;           // Null: launches are not limited.
  uint32_t lead;  // With a number: it begins when all others have ended so many.
} tenant_parameters_t;

typedef struct tenant_result {
  tenant_request_t* request;  // most_requests of them.
  uint32_t requests;          // Complete.
  uint32_t steps;             // Of the one that was cut short, which began at `cut_begin_ns`.
  uint64_t cut_begin_ns;
  uint64_t begin_ns, end_ns;         // Of all; 0: has not come so far.
  uint64_t messages, message_bytes;  // Sent.
} tenant_result_t;

// Gives `rate` its words, in the lines of the job's clients.
void tenant_rate_place(tenant_rate_t* rate, uint32_t job);

// `error` has 256 bytes.
stretto_status_t tenant_run(const tenant_parameters_t* parameters, const stretto_host_ops_t* ops,
                            tenant_result_t* result, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_TENANTS_TENANT_H_
