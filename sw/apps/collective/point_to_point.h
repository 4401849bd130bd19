// SPDX-License-Identifier: Apache-2.0
// Host programs that measure messages between GPU 0 and GPU 1 under six ways to control them.
//
//   engine    what starts a transfer, and who tells whom that it is over
//   memcpy    the CPU: copies in a row on one stream, no event in between (the ideal rate of Fig 1)
//   c-drv     the CPU at run time, one message at a time (GD-CDRV): a kernel, an event, the copy on
//             another stream, an event that a framework's polling thread finds, a callback thread
//             that locks a mutex and launches the dependent kernel on GPU 1
//   c-async   the CPU in advance (GD-CASYNC): the same packets, bound by semaphores between streams
//             and GPUs
//   g-drv-s   a kernel, by send requests into a ring in host memory; a CPU thread a GPU drains it and
//             copies, by the GPU's DMA engine or by itself (GD-SW)
//   g-drv-h   a kernel, by send requests to a card behind PCIe (GD-HW)
//   g-drv-d   a kernel, by send requests to the ring on the die (GD-DMA)
//
// For each size first the rate, which of send requests ends when the receiver has the last message,
// and of copies when the stream is synchronised. Then the latency one way: of a round trip, halved
// (c-drv: of single messages, from the end of the producer to the begin of the dependent kernel).
// c-async and memcpy have the same rate, and memcpy has no latency: nobody is told.
//
// Threads: one a rank; g-drv-s two more (engines, on the host or on SmartNICs) and their workers;
// g-drv-h two more, which watch the cards; c-drv three more: polling thread, callback thread, and an
// observer that watches the event of each message alone (a dedicated busy-waiting thread), so that
// the parts of the overhead can be told apart.
#ifndef STRETTO_SW_APPS_COLLECTIVE_POINT_TO_POINT_H_
#define STRETTO_SW_APPS_COLLECTIVE_POINT_TO_POINT_H_

#include "sw/apps/memory_plan.h"
#include "sw/apps/ranks.h"
#include "sw/apps/send_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum p2p_engine {
  P2P_MEMCPY,
  P2P_C_DRV,
  P2P_C_ASYNC,
  P2P_G_DRV_S,
  P2P_G_DRV_H,
  P2P_G_DRV_D,
  P2P_ENGINES,
} p2p_engine_t;

// Accounts (machine_types.h).
enum {
  P2P_ACCOUNT_INIT = STRETTO_ACCOUNT_JOB,  // Zeroing.
  P2P_ACCOUNT_SEND,                        // Kernels that ask for transfers.
  P2P_ACCOUNT_PUT,                         // Copies of the DMA engine that the CPU asks for.
};

#define P2P_MAX_SIZES 64
#define P2P_UNIT_SHIFT 10  // Sizes are multiples of 1 KiB.
#define P2P_PARTS 5
#define P2P_MODULE_BYTES (4u << 20)  // Behind the arrays: where kernels are loaded.

typedef struct p2p_parameters {
  p2p_engine_t engine;
  uint32_t rank;  // 0 or 1.
  uint32_t sizes;
  uint64_t bytes[P2P_MAX_SIZES];     // Rising.
  uint32_t messages[P2P_MAX_SIZES];  // Of the rate.
  uint32_t rounds;                   // Of the latency,
  uint64_t latency_bytes;            // which is measured up to this size (c-drv: always).
  send_mover_t mover;                // Of g-drv-s,
  uint32_t workers;                  // and who moves for it, 0 = nobody else,
  int on_smartnic;                   // whose engine runs there.
  int contiguous;                    // Messages of a rate lie side by side, else with gaps.
  uint64_t buffer_bytes;  // Of source and destination each; holds the messages in flight.
  uint32_t clock_mhz;     // Of the GPU, in which kernels note times.
  uint64_t stream_wait_poll_ns;
  uint64_t event_query_ns;
  uint64_t event_poll_delay_ns;
  uint32_t outstanding_events;
  host_job_t job;
  stretto_client_options_t client;
  const void* send_elf;
  size_t send_elf_bytes;
} p2p_parameters_t;

typedef struct p2p_result {
  uint64_t rate_ns[P2P_MAX_SIZES];     // All messages of the rate; 0 = not measured.
  uint64_t latency_ns[P2P_MAX_SIZES];  // `rounds` messages (c-drv) or round trips.
  // g-drv-s: of the first of these, from the kernel that sends to the engine that finds the request.
  uint64_t request_ns[P2P_MAX_SIZES];
  // c-drv, sum over `rounds` of each size: event trigger on the GPU, wait of the communication
  // stream, polling gap, mutex, launch (Table I). The copy itself lies between the second and
  // third.
  uint64_t parts_ns[P2P_MAX_SIZES][P2P_PARTS];
} p2p_result_t;

// Where everything lies, as addresses of the rank.
typedef struct p2p_plan {
  uint64_t source;
  uint64_t destination;
  uint64_t words;
  memory_plan_t memory;
} p2p_plan_t;

// What the threads of one run share.
typedef struct p2p_shared p2p_shared_t;
p2p_shared_t* p2p_shared_create(void);
void p2p_shared_destroy(p2p_shared_t* shared);

// From a message of a rate to the next one, and how many places there are before the first is used
// again.
uint64_t p2p_stride(const p2p_parameters_t* parameters, uint32_t size);
uint64_t p2p_places(const p2p_parameters_t* parameters, uint32_t size);

const char* p2p_engine_name(p2p_engine_t engine);
stretto_status_t p2p_plan(const p2p_parameters_t* parameters, p2p_plan_t* plan);

// Threads. Each returns a status and leaves one line in `error` (256 bytes) if it is not
// STRETTO_OK; the others are told and end, too.
stretto_status_t p2p_rank(const p2p_parameters_t* parameters, p2p_shared_t* shared,
                          const stretto_host_ops_t* ops, p2p_result_t* result, char* error);
stretto_status_t p2p_send_engine(const p2p_parameters_t* parameters, p2p_shared_t* shared,
                                 const stretto_host_ops_t* ops, send_engine_counts_t* counts,
                                 char* error);
// The same on the processor of the SmartNIC that serves the rank's GPU, which `ops` are of.
stretto_status_t p2p_smartnic_engine(const p2p_parameters_t* parameters,
                                     const stretto_host_ops_t* ops, send_engine_counts_t* counts,
                                     char* error);
// Worker `worker` of the engine of the rank, wherever that runs.
void p2p_worker(const p2p_parameters_t* parameters, const stretto_host_ops_t* ops, uint32_t worker);
void p2p_polling_thread(const p2p_parameters_t* parameters, p2p_shared_t* shared,
                        const stretto_host_ops_t* ops);
void p2p_callback_thread(const p2p_parameters_t* parameters, p2p_shared_t* shared,
                         const stretto_host_ops_t* ops);
void p2p_observer_thread(const p2p_parameters_t* parameters, p2p_shared_t* shared,
                         const stretto_host_ops_t* ops);
// g-drv-h: waits for what the rank's card reports. STRETTO_ERROR_DEVICE: an error, in words.
stretto_status_t p2p_card_watch(const p2p_parameters_t* parameters, const stretto_host_ops_t* ops,
                                char* error);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_COLLECTIVE_POINT_TO_POINT_H_
