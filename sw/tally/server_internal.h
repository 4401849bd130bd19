// SPDX-License-Identifier: Apache-2.0
// What the server's files share.
#ifndef STRETTO_SW_TALLY_SERVER_INTERNAL_H_
#define STRETTO_SW_TALLY_SERVER_INTERNAL_H_

#include "sw/tally/server.h"

#define SUBMITTED 32u  // Packets of a client that are on the GPU; less than a queue has room for.
#define ITEMS 64u      // Calls of a client that wait here.
#define FORMS 3u

typedef struct library {
  stretto_module_t* module[FORMS];  // By form; null: none.
  uint64_t key;                     // Of its contents.
} library_t;

// A kernel of a client's library.
typedef struct kernel {
  char* name;
  uint64_t key;  // Of its library and name.
  stretto_kernel_t form[FORMS];
  int has[FORMS];
  int is_refused;  // Has no form, and that was said.
} kernel_t;

// What a client has asked for in the order of its stream.
typedef struct item {
  uint32_t operation;
  uint64_t number;  // Of the message.
  kernel_t* kernel;
  uint32_t grid[3];
  uint32_t work_groups;
  int read_by_host;
  uint8_t* arguments;  // Owned by the item.
  uint32_t argument_bytes;
  uint64_t to, from, bytes, pattern;
  uint32_t event;
  int is_timed;
} item_t;

typedef struct submitted {
  stretto_event_t event;
  item_t item;  // Without arguments.
} submitted_t;

// What was measured of a kernel with one grid and arguments.
typedef struct profile {
  struct profile* next;
  const kernel_t* kernel;
  uint64_t key;
  tally_kernel_t shape;
  tally_configuration_t candidate[TALLY_CANDIDATES];
  uint64_t duration_ns[TALLY_CANDIDATES];
  uint32_t candidates;
  uint64_t original_ns;
  uint32_t runs;     // Of the configuration that is measured now,
  uint32_t stopped;  // and its runs that do not count.
  uint32_t turn;     // 0: of the original, to warm up; 1: of it; 2 + i: of candidate i.
  uint64_t sum_ns;
  int is_chosen;
  tally_configuration_t chosen;
} profile_t;

typedef struct tenant {
  uint32_t number;
  tally_state_t state;
  tally_priority_t priority;
  tally_channel_t channel;
  stretto_client_t* driver;
  stretto_stream_t* stream;
  library_t* libraries;
  size_t library_count;
  kernel_t** kernels;
  size_t kernel_count;
  struct memory_block {
    uint64_t address, bytes, alignment;
    int used;
  } * memory;
  size_t memory_count;
  item_t items[ITEMS];  // Ring: best effort, not submitted.
  uint32_t items_first, items_count;
  submitted_t submitted[SUBMITTED];  // Ring.
  uint32_t submitted_first, submitted_count;
  int is_released;           // Nothing that its last kernel wrote is in the L2 alone.
  stretto_status_t failure;  // Of its stream, until an event has told.
  profile_t* profiles;
} tenant_t;

typedef enum phase {
  PHASE_NONE,     // No best-effort kernel has begun or is next.
  PHASE_WAITING,  // For the policy; nothing of it is on the GPU.
  PHASE_RUNNING,
  PHASE_STOPPING,  // Told to stop.
  PHASE_READING,   // It has ended, and `next` is on its way here.
  PHASE_HELD,      // Stopped by the GPU, and still there.
} phase_t;

// The one best-effort kernel that has begun or is next (TL-SCHED-08).
typedef struct current {
  phase_t phase;
  tenant_t* tenant;
  item_t item;
  profile_t* profile;  // Null: not looked for.
  tally_configuration_t configuration;
  int has_begun;
  int is_measured;  // This launch is a measured run of its profile.
  int was_interrupted;
  uint64_t begun_ns;  // Of what is on the GPU.
  uint64_t ran_ns;    // In all, as the host sees it, without waits for high priority.
  uint32_t first;     // Of the next slice.
  uint64_t control;
  stretto_event_t event;
  stretto_event_t stopped;  // Of the packet that stops, or of the copy of `next`.
} current_t;

typedef struct server {
  const tally_server_parameters_t* p;
  const stretto_host_ops_t* ops;
  tally_server_result_t* result;
  tenant_t tenants[TALLY_CLIENTS];
  tenant_t* high;  // Null: none has come.
  int high_active;
  uint64_t high_idle_since_ns;
  stretto_client_t* own;
  stretto_stream_t* stream;
  uint64_t controls;  // Address of control blocks,
  uint64_t control_bytes;
  uint64_t controls_used;
  current_t current;
  uint32_t turn;  // Of best-effort clients.
  char* error;
} server_t;

// server_submit.c

// FNV-1a of bytes, on top of `key`.
uint64_t server_key(uint64_t key, const void* data, uint64_t bytes);
#define SERVER_KEY 0xCBF29CE484222325u

// What a server's own call means, with a line in its error.
stretto_status_t server_try(server_t* s, stretto_status_t status);
uint64_t server_now(const server_t* s);
void server_log(const server_t* s, tally_record_t record);

// Submits the oldest thing that the client wants, or an item of it, in order.
stretto_status_t server_submit(server_t* s, tenant_t* t, item_t* item);
stretto_status_t server_launch(server_t* s, tenant_t* t, const item_t* item, uint32_t form,
                               uint32_t first, uint32_t groups, uint64_t control,
                               stretto_event_t* event);

// server_schedule.c: lets best-effort work go on; 1: something was done. `until`: when to look again.
stretto_status_t schedule(server_t* s, int* progress, uint64_t* until_ns);
// Drops what a client that is gone has asked for and has not begun.
void schedule_forget(server_t* s, tenant_t* t);
// The word that the scheduler waits for, if any.
int schedule_word(const server_t* s, stretto_host_word_t* word);

// server_profile.c
profile_t* profile_find(server_t* s, tenant_t* t, const item_t* item);
// The configuration to launch next, and whether that is a measured run.
tally_configuration_t profile_next(const profile_t* profile, int* is_measured);
// A run took so long; one that was interrupted counts if as many were before as are to be measured.
void profile_note(server_t* s, const tenant_t* t, profile_t* profile, uint64_t duration_ns,
                  int was_interrupted);

#define TRY(call)                                      \
  do {                                                 \
    const stretto_status_t try_status_ = (call);       \
    if (try_status_ != STRETTO_OK) return try_status_; \
  } while (0)

#endif  // STRETTO_SW_TALLY_SERVER_INTERNAL_H_
