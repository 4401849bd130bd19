// SPDX-License-Identifier: Apache-2.0
// TGS between clients of kind tenants (rate_control.h): the first client counts the work-groups that it
// launches in a word of host memory, a controller writes the limit of the others into another one, and each
// of these waits before a launch until its share of the window has room.
//
// Until the first client has launched something there is no limit.
#ifndef STRETTO_SW_APPS_TENANTS_TENANT_RATE_H_
#define STRETTO_SW_APPS_TENANTS_TENANT_RATE_H_

#include "sw/apps/tenants/rate_control.h"
#include "sw/driver/stretto_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tenant_rate_event {
  TENANT_RATE_LIMIT,   // `groups` is the limit from now on, work-groups a window of all clients;
  TENANT_RATE_LAUNCH,  // `client` launches so many, and has read `limit`.
} tenant_rate_event_t;

typedef struct tenant_rate_record {
  tenant_rate_event_t event;
  uint32_t client;
  uint64_t time_ns;
  uint64_t groups;
  uint64_t limit;
} tenant_rate_record_t;

typedef struct tenant_rate {
  rate_policy_t policy;
  uint32_t clients;     // The first one has high priority.
  uint64_t count_word;  // Address in host memory: work-groups that it has launched;
  uint64_t limit_word;  // the limit;
  uint64_t ended_word;  // not 0: the first client has ended.
  void (*log)(void* context, const tenant_rate_record_t* record);
  void* log_context;
} tenant_rate_t;

// Of a client, zero at first.
typedef struct tenant_turn {
  uint64_t window;  // Number of the one that
  uint64_t used;    // so many work-groups were launched in.
} tenant_turn_t;

// The share of each client but the first.
static inline uint64_t tenant_rate_share(uint64_t limit, uint32_t clients) {
  const uint64_t others = clients > 1 ? clients - 1 : 1;
  return limit == 0 ? 0 : limit < others ? 1 : limit / others;
}

// The first client launches so many; `count` is its own of all.
void tenant_rate_count(const tenant_rate_t* rate, const stretto_host_ops_t* ops, uint64_t* count,
                       uint32_t groups);
// Waits until client `client` may launch so many. 0: the first one has ended.
int tenant_rate_wait(const tenant_rate_t* rate, const stretto_host_ops_t* ops, tenant_turn_t* turn,
                     uint32_t client, uint32_t groups);
// The controller; until the first client has ended.
void tenant_rate_control(const tenant_rate_t* rate, const stretto_host_ops_t* ops);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_TENANTS_TENANT_RATE_H_
