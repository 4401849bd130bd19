// SPDX-License-Identifier: Apache-2.0
// What the threads of point_to_point share, and where their words lie.
#ifndef STRETTO_SW_APPS_COLLECTIVE_POINT_TO_POINT_INTERNAL_H_
#define STRETTO_SW_APPS_COLLECTIVE_POINT_TO_POINT_INTERNAL_H_

#include "sw/apps/collective/point_to_point.h"
#include "sw/apps/ranks.h"
#include "sw/driver/card.h"

#define P2P_MAX_STAMPS 8u
#define P2P_MAX_SEMAPHORES 32u

// Words in a GPU's memory.
#define P2P_SC 0u
#define P2P_RC STRETTO_SEND_FLAG_BYTES
#define P2P_TICKET (2u * STRETTO_SEND_FLAG_BYTES)
#define P2P_REPLICA (P2P_TICKET + 64u)
#define P2P_STAMPS (P2P_TICKET + 128u)
#define P2P_SEMAPHORES (P2P_TICKET + 256u)
#define P2P_WORD_BYTES (P2P_SEMAPHORES + 8u * P2P_MAX_SEMAPHORES)

// Words of host memory.
#define P2P_WORD_STOP 2u       // One a rank: its engine may end.
#define P2P_WORD_TRIGGERED 8u  // c-drv: number of the message whose event was triggered,
#define P2P_WORD_WAITED 9u     // ... whose communication stream goes on,
#define P2P_WORD_CONSUMED 10u  // ... whose dependent kernel has run.
#define P2P_WORD_READY 11u     // The callback thread waits for messages.
#define P2P_WORD_CARD 12u      // Two a rank: what its card reports.
#define P2P_WORD_STAMPS 16u    // P2P_MAX_STAMPS a client.
#define P2P_WORD_EVENTS \
  4096u  // c-drv: one an event, the number of the message whose data are there.

// Memory of the software engine, behind its ring and signals: jobs of its workers. Of one on a
// SmartNIC, whether it may end, whether its setup is there, and that.
#define P2P_SMARTNIC_STOP 0xA00u
#define P2P_SMARTNIC_READY 0xA08u
#define P2P_ENGINE_JOBS 0xC00u
#define P2P_SMARTNIC_SETUP 0x1000u

// One message of c-drv, by the clock of the machine.
typedef struct p2p_times {
  uint64_t triggered;  // Observer.
  uint64_t waited;
  uint64_t copied;
  uint64_t released;  // Polling thread lets go of the mutex.
  uint64_t locked;    // Callback thread has it.
  uint64_t consumer;  // First instruction of the dependent kernel.
} p2p_times_t;

struct p2p_shared {
  stretto_ring_export_t exported[2];
  send_engine_setup_t engine[2];
  uint64_t found_ns[2][STRETTO_SEND_RING_DEPTH];  // Of the engines.
  uint64_t arrived_ns;  // At rank 1, the last message of the current rate.
  uint64_t messages;    // c-drv: number of the current one.
  p2p_times_t times;
  uint64_t found;  // Under the mutex: message whose event the polling thread found.
  int stop;        // Under the mutex.
};

typedef struct p2p_rank {
  const p2p_parameters_t* p;
  p2p_shared_t* shared;
  const stretto_host_ops_t* ops;
  ranks_t ranks;
  p2p_result_t* result;
  stretto_client_t* client;
  const stretto_api_t* api;
  stretto_stream_t* stream;  // Kernels.
  stretto_stream_t* copies;
  stretto_kernel_t send_stream, receive_stream, ping_pong, stamp;
  uint64_t source, destination, words;
  uint64_t window;
  int engine_is_set_up;
  stretto_card_t card;
  uint64_t sent, received;
} p2p_rank_t;

ranks_t p2p_ranks(const p2p_parameters_t* parameters, const stretto_host_ops_t* ops);
uint64_t p2p_host_word(const p2p_parameters_t* parameters, uint32_t index);
// Where the software engine of the rank has its ring.
uint64_t p2p_engine_memory(const p2p_parameters_t* parameters);
// The event of a message; each next one takes another place among the outstanding ones.
uint64_t p2p_event(const p2p_parameters_t* parameters, uint64_t message);
// The number of the mutex of all threads.
uint64_t p2p_mutex(const p2p_parameters_t* parameters);
stretto_status_t p2p_launch_stamp(stretto_client_t* client, stretto_stream_t* stream,
                                  const stretto_kernel_t* kernel, uint64_t address);

#endif  // STRETTO_SW_APPS_COLLECTIVE_POINT_TO_POINT_INTERNAL_H_
