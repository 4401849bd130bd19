// SPDX-License-Identifier: Apache-2.0
// Host program of a GPU that exchanges blocks with all others, driven by a kernel: all-to-all, or
// all-gather without the own block. The kernel makes call after call; the host launches it once a
// size.
//
//   engine              what moves the blocks, and how it is asked
//   g-drv-d             the ring on the die, a request to each peer
//   g-drv-h             a card behind PCIe, likewise
//   g-drv-h-collective  a card with a collective engine (GD-FUTURE-02), one request a call
//
// Peer i of rank r is rank r + 1 + i, so that nobody is everybody's first. The source of peer i, the
// place of this rank's blocks at it and the connection to it have ids that grow with i. Every call has
// a place of its own in all of them: nothing is sent twice or overwritten.
#ifndef STRETTO_SW_APPS_COLLECTIVE_EXCHANGE_H_
#define STRETTO_SW_APPS_COLLECTIVE_EXCHANGE_H_

#include "sw/apps/memory_plan.h"
#include "sw/apps/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum exchange_engine {
  EXCHANGE_G_DRV_D,
  EXCHANGE_G_DRV_H,
  EXCHANGE_G_DRV_H_COLLECTIVE,
  EXCHANGE_ENGINES,
} exchange_engine_t;

// Accounts (machine_types.h).
enum {
  EXCHANGE_ACCOUNT_INIT = STRETTO_ACCOUNT_JOB,  // Zeroing.
  EXCHANGE_ACCOUNT_SEND,                        // Kernels, and what they ask for.
};

#define EXCHANGE_MAX_SIZES 24u
#define EXCHANGE_MAX_PEERS STRETTO_SEND_CONNECTIONS
#define EXCHANGE_UNIT_SHIFT 6u  // Blocks are multiples of 64 bytes.
#define EXCHANGE_WARM_UP 1u     // Calls before those that are timed: all are in step then.
#define EXCHANGE_MODULE_BYTES (4u << 20)  // Behind the arrays: where kernels are loaded.

typedef struct exchange_parameters {
  exchange_engine_t engine;
  uint32_t rank;
  uint32_t ranks;
  int same_block;  // All-gather: to every peer the same.
  uint32_t sizes;
  uint64_t bytes[EXCHANGE_MAX_SIZES];  // Of a block.
  uint32_t calls;                      // Of a size, without EXCHANGE_WARM_UP.
  uint32_t ahead;                      // Calls that may be under way at a time.
  uint32_t work_groups;                // Of the kernel.
  int tickets_at_once;                 // Of a call; collective requests always do.
  host_job_t job;
  stretto_client_options_t client;
  const void* send_elf;
  size_t send_elf_bytes;
} exchange_parameters_t;

// Where everything lies, as addresses of the rank.
typedef struct exchange_plan {
  uint64_t
      place_bytes;  // Of a peer in source and destination: the blocks of all calls of all sizes.
  uint64_t source;  // By peer; one place if the block is the same.
  uint64_t destination;  // By the peer that this rank is of the sender.
  uint64_t words;        // Flags, ticket, replica.
  uint64_t stamps;       // By size and work-group: cycles of begin and end.
  memory_plan_t memory;
} exchange_plan_t;

const char* exchange_engine_name(exchange_engine_t engine);
// STRETTO_ERROR_TABLE_FULL: does not fit the client's memory; the plan is complete all the same.
stretto_status_t exchange_plan(const exchange_parameters_t* parameters, exchange_plan_t* plan);
// Offset of the first block of a size in a place.
uint64_t exchange_offset(const exchange_parameters_t* parameters, uint32_t size);
// Address of the two stamps of a work-group.
uint64_t exchange_stamps(const exchange_parameters_t* parameters, const exchange_plan_t* plan,
                         uint32_t size, uint32_t work_group);
// The rank that is peer `peer` of `rank`.
uint32_t exchange_peer(const exchange_parameters_t* parameters, uint32_t rank, uint32_t peer);

// Threads: one a rank, and with cards one more, which waits for what the card reports. Each returns a
// status and leaves one line in `error` (256 bytes) if it is not STRETTO_OK; the others are told. The
// rank writes into `done` how many sizes it has run.
stretto_status_t exchange_rank(const exchange_parameters_t* parameters,
                               const stretto_host_ops_t* ops, uint32_t* done, char* error);
stretto_status_t exchange_card_watch(const exchange_parameters_t* parameters,
                                     const stretto_host_ops_t* ops, char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_COLLECTIVE_EXCHANGE_H_
