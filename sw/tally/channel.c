// SPDX-License-Identifier: Apache-2.0
// See channel.h.
#include "sw/tally/channel.h"

#include <assert.h>
#include <string.h>

static void get(const tally_channel_t* channel, uint64_t offset, void* data, uint64_t bytes) {
  channel->ops->read(channel->ops->context, channel->address + offset, data, bytes);
}

static void put(const tally_channel_t* channel, uint64_t offset, const void* data, uint64_t bytes) {
  channel->ops->store_bytes(channel->ops->context, channel->address + offset, data, bytes);
}

static void put_word(const tally_channel_t* channel, uint64_t offset, uint64_t word) {
  channel->ops->store(channel->ops->context, channel->address + offset, word);
}

static uint64_t wait_at_least(const tally_channel_t* channel, uint64_t offset, uint64_t value) {
  return channel->ops->wait(channel->ops->context, channel->address + offset, STRETTO_WAIT_AT_LEAST,
                            value);
}

// The part of [at, at + bytes) of the ring that lies before its end.
static uint64_t before_end(uint64_t at, uint64_t bytes) {
  const uint64_t left = TALLY_RING_BYTES - at % TALLY_RING_BYTES;
  return bytes < left ? bytes : left;
}

static void put_ring(const tally_channel_t* channel, uint64_t at, const void* data,
                     uint64_t bytes) {
  const uint64_t first = before_end(at, bytes);
  put(channel, TALLY_RING + at % TALLY_RING_BYTES, data, first);
  if (first < bytes) put(channel, TALLY_RING, (const uint8_t*)data + first, bytes - first);
}

static void get_ring(const tally_channel_t* channel, uint64_t at, void* data, uint64_t bytes) {
  const uint64_t first = before_end(at, bytes);
  get(channel, TALLY_RING + at % TALLY_RING_BYTES, data, first);
  if (first < bytes) get(channel, TALLY_RING, (uint8_t*)data + first, bytes - first);
}

static uint64_t event_at(uint32_t event) { return TALLY_EVENTS + 32ull * event; }

// The client's side

tally_channel_t tally_attach(const stretto_host_ops_t* ops, uint64_t address,
                             tally_priority_t priority) {
  const tally_channel_t channel = {.ops = ops, .address = address};
  put_word(&channel, TALLY_PRIORITY, priority);
  put_word(&channel, TALLY_STATE, TALLY_ATTACHED);
  return channel;
}

uint64_t tally_send(tally_channel_t* channel, const tally_message_t* message, const void* payload) {
  assert(message->payload_bytes <= TALLY_PAYLOAD_BYTES);
  const uint64_t bytes = tally_message_bytes(message);
  if (channel->bytes + bytes - channel->limit > TALLY_RING_BYTES)
    channel->limit = wait_at_least(channel, TALLY_TAKEN, channel->bytes + bytes - TALLY_RING_BYTES);
  if (channel->messages - channel->answered >= TALLY_REPLIES)
    channel->answered =
        wait_at_least(channel, TALLY_ANSWERED, channel->messages - TALLY_REPLIES + 1);
  put_ring(channel, channel->bytes, message, sizeof *message);
  if (message->payload_bytes != 0)
    put_ring(channel, channel->bytes + sizeof *message, payload, message->payload_bytes);
  channel->bytes += bytes;
  put_word(channel, TALLY_WRITTEN, channel->bytes);
  return ++channel->messages;
}

static tally_reply_t reply_of(const tally_channel_t* channel, uint64_t number) {
  tally_reply_t reply;
  get(channel, TALLY_ANSWERS + number % TALLY_REPLIES * sizeof reply, &reply, sizeof reply);
  return reply;
}

tally_reply_t tally_wait_reply(tally_channel_t* channel, uint64_t number) {
  assert(number <= channel->messages && channel->messages - number < TALLY_REPLIES);
  if (channel->answered < number)
    channel->answered = wait_at_least(channel, TALLY_ANSWERED, number);
  return reply_of(channel, number);
}

uint64_t tally_wait_failed(tally_channel_t* channel, uint64_t since, uint64_t number) {
  assert(number <= channel->messages);
  if (channel->answered < number)
    channel->answered = wait_at_least(channel, TALLY_ANSWERED, number);
  uint64_t failed = 0;
  get(channel, TALLY_FAILED, &failed, sizeof failed);
  return failed > since && failed <= number ? failed : 0;
}

tally_reply_t tally_call(tally_channel_t* channel, const tally_message_t* message,
                         const void* payload) {
  return tally_wait_reply(channel, tally_send(channel, message, payload));
}

int tally_event_query(const tally_channel_t* channel, uint32_t event, uint64_t number,
                      tally_event_t* words) {
  assert(event < TALLY_EVENT_COUNT);
  tally_event_t now;
  get(channel, event_at(event), &now, sizeof now);
  if (words != NULL) *words = now;
  return now.number >= number;
}

tally_event_t tally_event_wait(const tally_channel_t* channel, uint32_t event, uint64_t number) {
  assert(event < TALLY_EVENT_COUNT);
  wait_at_least(channel, event_at(event), number);
  tally_event_t words;
  tally_event_query(channel, event, number, &words);
  return words;
}

void tally_bulk_write(const tally_channel_t* channel, uint64_t offset, const void* data,
                      uint64_t bytes) {
  assert(offset <= TALLY_BULK_BYTES && bytes <= TALLY_BULK_BYTES - offset);
  put(channel, TALLY_BULK + offset, data, bytes);
}

void tally_detach(tally_channel_t* channel) { put_word(channel, TALLY_STATE, TALLY_GONE); }

// The server's side

tally_channel_t tally_accept(const stretto_host_ops_t* ops, uint64_t address) {
  return (tally_channel_t){.ops = ops, .address = address};
}

int tally_receive(tally_channel_t* channel, tally_message_t* message, void* payload,
                  tally_state_t* state) {
  if (channel->bytes == channel->limit) {
    uint64_t line[(TALLY_WRITTEN + 8 - TALLY_STATE) / 8];
    get(channel, TALLY_STATE, line, sizeof line);
    *state = (tally_state_t)line[0];
    channel->limit = line[(TALLY_WRITTEN - TALLY_STATE) / 8];
    if (channel->bytes == channel->limit) return 0;
  }
  get_ring(channel, channel->bytes, message, sizeof *message);
  if (message->payload_bytes > TALLY_PAYLOAD_BYTES) message->payload_bytes = 0;  // No client's.
  if (message->payload_bytes != 0)
    get_ring(channel, channel->bytes + sizeof *message, payload, message->payload_bytes);
  channel->bytes += tally_message_bytes(message);
  ++channel->messages;
  put_word(channel, TALLY_TAKEN, channel->bytes);
  return 1;
}

void tally_answer(tally_channel_t* channel, const tally_reply_t* reply, const char* text) {
  assert(channel->answered < channel->messages);
  if (reply->status != STRETTO_OK) {
    char line[TALLY_ERROR_BYTES] = "";
    strncpy(line, text, sizeof line - 1);
    put(channel, TALLY_ERROR_TEXT, line, sizeof line);
    put_word(channel, TALLY_FAILED, channel->answered + 1);
  }
  const uint64_t number = channel->answered + 1;
  put(channel, TALLY_ANSWERS + number % TALLY_REPLIES * sizeof *reply, reply, sizeof *reply);
  channel->answered = number;
  put_word(channel, TALLY_ANSWERED, number);
}

void tally_event_done(const tally_channel_t* channel, uint32_t event, uint64_t number,
                      int64_t status) {
  put(channel, event_at(event) + offsetof(tally_event_t, status), &status, sizeof status);
  put_word(channel, event_at(event), number);
}
