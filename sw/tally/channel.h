// SPDX-License-Identifier: Apache-2.0
// The channel between a client of Tally and its server (TL-VIRT-03): words of host memory that both
// share. Nobody takes a mutex or sleeps in the operating system; each side polls words that the
// other writes.
//
// A client writes messages into a ring, one for each call that the server has to know of. The server
// takes them in order and answers each, in order, as soon as the call itself is done: a launch when
// it is accepted, not when the kernel has ended. What lies in the future is told by events: a client
// that waits for its stream records an event behind what it waits for, and waits for that.
//
// All streams of a client are one: what a client asks for is done in the order of its calls, but for
// TALLY_COPY_IN. Device memory and addresses are the GPU's own; clients share its address space, and
// nothing keeps one from another's memory.
//
// Invariants
//  1 One thread of the client writes state, priority, written and the ring; the server alone writes
//    the rest, but for times of events, which the GPU writes.
//  2 A message, and what of the bulk it names, is whole before `written` counts it; an answer, and
//    `failed`, before `answered` does; an event's time before its number.
//  3 written - taken <= TALLY_RING_BYTES; messages - answered <= TALLY_REPLIES.
#ifndef STRETTO_SW_TALLY_CHANNEL_H_
#define STRETTO_SW_TALLY_CHANNEL_H_

#include <stddef.h>

#include "sw/driver/stretto_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

// Layout, offsets in bytes from the channel's address in host memory. Host memory is zero at first,
// and so begins a channel.
#define TALLY_STATE 0x000       // tally_state_t, of the client.
#define TALLY_PRIORITY 0x008    // tally_priority_t, whole before the state is ATTACHED.
#define TALLY_WRITTEN 0x010     // Bytes of messages written: one line with the state.
#define TALLY_TAKEN 0x080       // Of those, bytes that may be written over.
#define TALLY_ANSWERED 0x0C0    // Messages answered,
#define TALLY_FAILED 0x0C8      // and the last of them that was not STRETTO_OK, 0 = none.
#define TALLY_ERROR_TEXT 0x100  // What the last call that failed had to say, up to a 0.
#define TALLY_ERROR_BYTES 256u
#define TALLY_ANSWERS 0x200  // tally_reply_t by message % TALLY_REPLIES.
#define TALLY_REPLIES 64u
#define TALLY_EVENTS 0x1000  // tally_event_t by number.
#define TALLY_EVENT_COUNT 256u
#define TALLY_RING 0x4000
#define TALLY_RING_BYTES 0x4000u
#define TALLY_BULK 0x10000  // The client's: what messages name by an offset in it.
#define TALLY_BULK_BYTES 0x1F0000u
#define TALLY_CHANNEL_BYTES 0x200000u

typedef enum tally_state {
  TALLY_ABSENT = 0,  // Nobody has come yet. The server serves whoever comes, at any time.
  TALLY_ATTACHED = 1,
  TALLY_GONE = 2,  // Ended, or killed: what it had asked for and has not begun is dropped.
} tally_state_t;

typedef enum tally_priority {
  TALLY_BEST_EFFORT = 0,
  TALLY_HIGH_PRIORITY = 1,  // Of all clients one (TL-ARCH-02); the server says no to a second one.
} tally_priority_t;

typedef enum tally_operation {
  TALLY_LIBRARY_LOAD = 1,   // An ELF, in the bulk. Reply: library. Here the server transforms it.
  TALLY_KERNEL = 2,         // Payload: a name, with its 0. Reply: kernel, bytes of its arguments,
                            // wavefronts of a work-group.
  TALLY_MALLOC = 3,         // Reply: address.
  TALLY_FREE = 4,           // Of all memory that was given out so. In the order of calls.
  TALLY_STREAM_CREATE = 5,  // Reply: stream.
  TALLY_STREAM_DESTROY = 6,
  TALLY_LAUNCH = 7,         // Payload: the arguments. Replied when it is accepted.
  TALLY_COPY_IN = 8,        // From the bulk into device memory. At once, whatever runs: wait first.
  TALLY_COPY = 9,           // From device memory to device memory, or to the bulk, in order.
  TALLY_FILL = 10,          // In order.
  TALLY_EVENT_RECORD = 11,  // The event is done when all before it is, and is seen by the host.
  TALLY_STREAM_WAIT_EVENT = 12,  // Holds by itself: all streams of a client are one.
} tally_operation_t;

#define TALLY_OPERATIONS 13u

// 64 bytes, and a payload behind them, in the ring: whole words.
typedef struct tally_message {
  uint32_t operation;  // tally_operation_t.
  uint32_t stream;     // Of TALLY_STREAM_CREATE; 0: the client's first one, always there.
  uint32_t payload_bytes;
  uint32_t reserved;
  union {
    struct {
      uint64_t bulk;  // Offset in the bulk.
      uint64_t bytes;
    } library_load;
    struct {
      uint64_t library;
    } kernel;
    struct {
      uint64_t bytes;
      uint64_t alignment;   // Power of two, at least 64.
      uint64_t allocation;  // STRETTO_ALLOCATION_*.
    } malloc;
    struct {
      uint64_t address;
    } free;
    struct {
      uint64_t priority;  // Kept, and without effect: the client's own class decides.
    } stream_create;
    struct {
      uint64_t kernel;
      uint32_t grid_x, grid_y, grid_z;  // Work-groups.
      uint32_t read_by_host;  // 1: what it wrote is in memory when it has ended; else when a copy,
                              // fill or event behind it is done.
    } launch;
    struct {
      uint64_t to;
      uint64_t bulk;
      uint64_t bytes;
    } copy_in;
    struct {
      uint64_t to;  // Device address, or tally_bulk_address().
      uint64_t from;
      uint64_t bytes;
    } copy;
    struct {
      uint64_t address;  // Multiple of 8, as is `bytes`.
      uint64_t bytes;
      uint64_t pattern;
    } fill;
    struct {
      uint64_t event;  // Below TALLY_EVENT_COUNT. An event may be recorded again.
      uint64_t timed;  // 1: the GPU notes when it is done.
    } event;
    uint64_t words[6];
  };
} tally_message_t;

typedef struct tally_reply {
  int64_t status;  // stretto_status_t; if it is not STRETTO_OK, TALLY_ERROR_TEXT has one line.
  uint64_t value[3];
} tally_reply_t;

typedef struct tally_event {
  uint64_t number;   // Of the message that recorded it and is done; the highest so far.
  uint64_t time_ns;  // Of a timed one: by the command processor's clock, from there.
  int64_t status;    // Of what was before it: the first failure since the event before.
  uint64_t reserved;
} tally_event_t;

STRETTO_STATIC_ASSERT(sizeof(tally_message_t) == 64, "messages have 64 bytes");
STRETTO_STATIC_ASSERT(sizeof(tally_reply_t) == 32 && sizeof(tally_event_t) == 32,
                      "replies and events have 32 bytes");
STRETTO_STATIC_ASSERT(TALLY_ANSWERS + 32 * TALLY_REPLIES <= TALLY_EVENTS &&
                          TALLY_EVENTS + 32 * TALLY_EVENT_COUNT <= TALLY_RING &&
                          TALLY_RING + TALLY_RING_BYTES <= TALLY_BULK &&
                          TALLY_BULK + TALLY_BULK_BYTES == TALLY_CHANNEL_BYTES,
                      "parts of a channel do not overlap");

// Bytes that a message takes in the ring.
static inline uint64_t tally_message_bytes(const tally_message_t* message) {
  return sizeof *message + (((uint64_t)message->payload_bytes + 7) & ~7ull);
}
#define TALLY_PAYLOAD_BYTES 4096u  // At most, of a message.

#define TALLY_JOB_BYTES 0x100000u  // What programs of the server's job have in front of channels.
#define TALLY_CLIENTS 14u          // A queue of the GPU each, and one for the server's own packets.

// The channel of client `client` in the host memory of the server's job (queue.h).
static inline uint64_t tally_channel_address(uint32_t job, uint32_t client) {
  return ((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) + STRETTO_HOST_JOB_OFFSET(job) +
         TALLY_JOB_BYTES + (uint64_t)client * TALLY_CHANNEL_BYTES;
}

// One end of a channel; each side has its own.
typedef struct tally_channel {
  const stretto_host_ops_t* ops;
  uint64_t address;   // Of the channel, in host memory.
  uint64_t bytes;     // Of messages written (client), taken (server),
  uint64_t limit;     // and up to where that is known to be possible.
  uint64_t messages;  // Sent (client), taken (server),
  uint64_t answered;  // and of those answered, as far as is known here.
} tally_channel_t;

// The client's side

// Joins the channel at `address` with a priority; the server may come later. Nothing else may have
// attached there.
tally_channel_t tally_attach(const stretto_host_ops_t* ops, uint64_t address,
                             tally_priority_t priority);
// Puts a message into the ring and returns its number, from 1. Blocks while the ring has no room, or
// TALLY_REPLIES messages are unanswered. REQUIRES: payload_bytes <= TALLY_PAYLOAD_BYTES.
uint64_t tally_send(tally_channel_t* channel, const tally_message_t* message, const void* payload);
// Waits until message `number` is answered. REQUIRES: fewer than TALLY_REPLIES messages were sent
// since.
tally_reply_t tally_wait_reply(tally_channel_t* channel, uint64_t number);
// Waits until messages up to `number` are answered, and returns the last of them behind `since` that
// has failed; 0: none has. Of answers without values nothing more is read than that.
uint64_t tally_wait_failed(tally_channel_t* channel, uint64_t since, uint64_t number);
// Sends and waits for the answer.
tally_reply_t tally_call(tally_channel_t* channel, const tally_message_t* message,
                         const void* payload);
// Whether the record that message `number` made of an event is done, without waiting: a read of host
// memory, no message (TL-VIRT-04). `event`, if not null, gets its words.
int tally_event_query(const tally_channel_t* channel, uint32_t event, uint64_t number,
                      tally_event_t* words);
// Waits for it.
tally_event_t tally_event_wait(const tally_channel_t* channel, uint32_t event, uint64_t number);
// Where the time of an event is.
static inline uint64_t tally_event_time_address(const tally_channel_t* channel, uint32_t event) {
  return channel->address + TALLY_EVENTS + sizeof(tally_event_t) * event +
         offsetof(tally_event_t, time_ns);
}
// The address of a place in the bulk, for TALLY_COPY and for ops->read.
static inline uint64_t tally_bulk_address(const tally_channel_t* channel, uint64_t offset) {
  return channel->address + TALLY_BULK + offset;
}
// Copies bytes into the bulk. What messages name there stays until they are answered (TALLY_COPY:
// until an event behind it is done).
void tally_bulk_write(const tally_channel_t* channel, uint64_t offset, const void* data,
                      uint64_t bytes);
// The last message. What it had asked for and has not waited for may be dropped.
void tally_detach(tally_channel_t* channel);

// The server's side

// REQUIRES: the client is attached.
tally_channel_t tally_accept(const stretto_host_ops_t* ops, uint64_t address);
// Takes the next message; `payload` has TALLY_PAYLOAD_BYTES. 0: there is none, and `state` is the
// client's.
int tally_receive(tally_channel_t* channel, tally_message_t* message, void* payload,
                  tally_state_t* state);
// Answers the oldest message that is not answered. `text`: for a status that is not STRETTO_OK.
void tally_answer(tally_channel_t* channel, const tally_reply_t* reply, const char* text);
// Says that the record of message `number` is done.
void tally_event_done(const tally_channel_t* channel, uint32_t event, uint64_t number,
                      int64_t status);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_TALLY_CHANNEL_H_
