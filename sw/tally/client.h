// SPDX-License-Identifier: Apache-2.0
// What the files of libtally_client.so share. The library is preloaded: it has the calls of cuda_runtime.h,
// with the same signatures, and turns them into messages to the server (channel.h). What only this side
// knows, or host memory tells, it answers itself. A program that is no client goes on to the next library.
//
// The server does all that a client asks for in the order of its calls. So one event, number 0, behind what
// was sent says how far it has come: its number is that of the last message before it that is done.
#ifndef STRETTO_SW_TALLY_CLIENT_H_
#define STRETTO_SW_TALLY_CLIENT_H_

#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // RTLD_NEXT.
#endif
#include <dlfcn.h>

#include "sw/collectives/runtime.h"
#include "sw/tally/channel.h"

// The first MiB of the bulk is for ELFs and bytes to the device, in pieces; the rest is a ring of what
// comes to the host.
#define CLIENT_IN_BYTES (1ull << 20)
#define CLIENT_OUT_AT CLIENT_IN_BYTES
#define CLIENT_OUT_BYTES (TALLY_BULK_BYTES - CLIENT_OUT_AT)
#define CLIENT_SLOT_BYTES (256ull << 10)
// The server writes a piece to the device while the client copies the next one.
#define CLIENT_PIECE_BYTES (2ull << 10)
#define CLIENT_ALIGNMENT 512u  // Of cudaMalloc, as without a server.

struct CUstream_st {
  struct CUstream_st* next;
  uint32_t number;  // Of the server; 0: the default stream.
};

struct CUevent_st {
  struct CUevent_st* next;
  uint32_t number;  // Of the channel.
  int has_time;
  uint64_t message;  // That recorded it last; 0 = never.
};

struct CUkern_st {
  stretto_runtime_kernel_t base;
  uint64_t kernel;  // Of the server.
};

struct CUlib_st {
  stretto_runtime_library_t base;
  uint64_t library;  // Of the server.
};

typedef struct client_block {
  struct client_block* next;
  uint64_t address;
  uint64_t bytes;
} client_block_t;

// Bytes on their way to the host.
typedef struct client_arrival {
  struct client_arrival* next;  // Later.
  uint64_t message;             // Done when event 0 is as far.
  uint64_t place;               // In the bulk.
  uint64_t room;
  uint64_t skip;  // Bytes before the first.
  void* to;
  uint64_t bytes;
} client_arrival_t;

// A part of the bulk, and of staging memory.
typedef struct client_slot {
  uint64_t
      taken;  // The message whose answer says that the server has taken all of it from the bulk,
  uint64_t copied;  // and the one with which that has left staging memory.
} client_slot_t;

typedef struct client {
  stretto_runtime_layer_t* layer;
  tally_channel_t channel;
  uint64_t idle_at;  // Nothing is under way if no message is behind this one.
  uint64_t marked;   // The last message that recorded event 0,
  uint64_t done;     // and as far as it is known to be done.
  uint64_t checked;  // Messages whose answer was looked at, or will not be.
  struct CUstream_st* streams;
  struct CUstream_st first;  // The default one.
  struct CUevent_st* events;
  struct CUevent_st* free_events;
  uint32_t events_made;  // Beside event 0.
  stretto_runtime_library_t* libraries;
  client_block_t* blocks;
  client_arrival_t* arrivals;
  uint64_t arrivals_next;
  uint64_t staging;  // Device memory; 0 = none yet.
  client_slot_t slots[CLIENT_IN_BYTES / CLIENT_SLOT_BYTES];
  uint32_t next_slot;
} client_t;

// Null: the caller is no client of a server.
client_t* client_current(void);

// Passes the call on unless a server serves the caller. First line of each call; `client` is its client.
#define CLIENT_OR_NEXT(function, ...)                                                 \
  client_t* client = client_current();                                                \
  if (client == NULL) {                                                               \
    static __typeof__(&function) next_function;                                       \
    if (next_function == NULL) *(void**)&next_function = dlsym(RTLD_NEXT, #function); \
    return next_function(__VA_ARGS__);                                                \
  }                                                                                   \
  (void)client

// Answered here (TL-VIRT-04).
static inline void client_answered(client_t* client) { ++client->layer->answered; }

// Sends a message; its answer is looked at later, or waited for (`reply` is not null): an error then keeps
// the server's line.
uint64_t client_send(client_t* client, const tally_message_t* message, const void* payload);
cudaError_t client_call(client_t* client, const char* call, const tally_message_t* message,
                        const void* payload, tally_reply_t* reply);
// Waits for answers that nobody has waited for, up to `message`, and says what failed.
cudaError_t client_check(client_t* client, const char* call, uint64_t message);
// Records event 0 behind what was sent. Waits until it is done; delivers what came to the host. Returns what
// failed before.
uint64_t client_mark(client_t* client);
cudaError_t client_wait(client_t* client, const char* call, uint64_t message);
// Whether all up to the message is done; a read of host memory.
int client_is_done(client_t* client, uint64_t message);
// All that was sent.
cudaError_t client_wait_all(client_t* client, const char* call);

// Hands over what has come to the host.
void client_deliver(client_t* client);
// The stream that a program means; null: none.
struct CUstream_st* client_stream(client_t* client, cudaStream_t stream);
cudaError_t client_no_stream(const char* call, cudaStream_t stream);

void client_memory_free(client_t* client);

#endif  // STRETTO_SW_TALLY_CLIENT_H_
