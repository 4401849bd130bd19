// SPDX-License-Identifier: Apache-2.0
// How a client of a shared GPU reaches it: by a driver client of its own, or by messages to Tally's
// server. The same calls, in the same order, give the same addresses.
#ifndef STRETTO_SW_APPS_TENANTS_TENANT_PORT_H_
#define STRETTO_SW_APPS_TENANTS_TENANT_PORT_H_

#include "sw/tally/channel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENANT_FILES 8u

typedef struct tenant_port {
  const stretto_host_ops_t* ops;
  uint64_t channel_address;  // 0: the driver.
  tally_channel_t channel;
  uint64_t event;  // Number of the last record of event 0.
  stretto_client_t* client;
  stretto_stream_t* stream;
  stretto_module_t* module[TENANT_FILES];
  char error[200];
} tenant_port_t;

// What a launch names: of the driver, or the server's number.
typedef struct tenant_kernel {
  stretto_kernel_t kernel;
  uint64_t number;
} tenant_kernel_t;

typedef struct tenant_work {
  const tenant_kernel_t* kernel;
  const void* arguments;
  uint32_t argument_bytes;
  uint32_t work_groups;
  uint32_t account;  // Of the driver; the server has its own.
  int read_by_host;
} tenant_work_t;

// By messages if `channel_address` is not 0; `stream_priority` is for the driver alone.
stretto_status_t tenant_open(tenant_port_t* port, const stretto_host_ops_t* ops,
                             uint64_t channel_address, tally_priority_t priority,
                             const stretto_client_options_t* options, uint32_t stream_priority);
// Has the command processor schedule. REQUIRES: it is reached by the driver.
stretto_status_t tenant_share(tenant_port_t* port, const stretto_share_t* share);
// Has it give the GPU to `count` contexts in turn. REQUIRES: as above; all is allocated.
stretto_status_t tenant_time_slice(tenant_port_t* port, const uint32_t* queues, uint32_t count,
                                   uint64_t slice_ns, uint64_t save_bytes);
// Says how the GPU serves kernels of all clients. REQUIRES: it is reached by the driver.
stretto_status_t tenant_set_policy(tenant_port_t* port, const stretto_scheduler_policy_t* policy);
stretto_status_t tenant_allocate(tenant_port_t* port, uint64_t bytes, uint64_t alignment,
                                 uint32_t allocation, uint64_t* address);
// Zeroes memory, in order.
stretto_status_t tenant_clear(tenant_port_t* port, uint64_t address, uint64_t bytes,
                              uint32_t account);
// File number `file`, below TENANT_FILES; each once, in order.
stretto_status_t tenant_load(tenant_port_t* port, uint32_t file, const void* elf, size_t bytes);
stretto_status_t tenant_find(tenant_port_t* port, uint32_t file, const char* name,
                             tenant_kernel_t* kernel);
// Behind all that was launched before.
stretto_status_t tenant_launch(tenant_port_t* port, const tenant_work_t* work);
// Waits for all that was asked for.
stretto_status_t tenant_wait(tenant_port_t* port);
// What the last call that failed had to say.
const char* tenant_error(tenant_port_t* port);
void tenant_close(tenant_port_t* port);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_TENANTS_TENANT_PORT_H_
