// SPDX-License-Identifier: Apache-2.0
// libtally_client.so: attaching, messages, devices, streams and events. See client.h.
#include "sw/tally/client.h"

#include <stdlib.h>
#include <string.h>

#define UNCHECKED (TALLY_REPLIES / 2)  // Messages that are sent without a look at an answer.

// Attaching and leaving

static void free_list(void* first) {
  for (void** item = first; item != NULL;) {  // `next` is the first field of all lists.
    void** next = *item;
    free(item);
    item = next;
  }
}

static void end(stretto_runtime_layer_t* layer) {
  client_t* client = layer->state;
  tally_detach(&client->channel);
  layer->messages = client->channel.messages;
  layer->message_bytes = client->channel.bytes;
  free_list(client->streams);
  free_list(client->events);
  free_list(client->free_events);
  client_memory_free(client);
  stretto_runtime_remove_libraries(&client->libraries);
  free(client);
  layer->state = NULL;
}

client_t* client_current(void) {
  stretto_runtime_layer_t* layer = stretto_runtime_layer();
  if (layer == NULL || layer->server_channel == 0) return NULL;
  if (layer->state != NULL) return layer->state;
  client_t* client = calloc(1, sizeof *client);
  if (client == NULL) return NULL;
  client->layer = layer;
  client->channel = tally_attach(layer->ops, layer->server_channel,
                                 layer->high_priority ? TALLY_HIGH_PRIORITY : TALLY_BEST_EFFORT);
  layer->state = client;
  layer->end = end;
  return client;
}

// Messages

static cudaError_t error_of(int64_t status) {
  switch (status) {
    case STRETTO_OK: return cudaSuccess;
    case STRETTO_ERROR_TABLE_FULL: return cudaErrorMemoryAllocation;
    case STRETTO_ERROR_RESOURCES: return cudaErrorLaunchOutOfResources;
    case STRETTO_ERROR_KERNEL: return cudaErrorInvalidKernelImage;
    case STRETTO_ERROR_ARGUMENT:
    case STRETTO_ERROR_UNMAPPED:
    case STRETTO_ERROR_STATE: return cudaErrorInvalidValue;
    default: return cudaErrorLaunchFailure;
  }
}

// With the server's line.
static cudaError_t failed(const client_t* client, const char* call, int64_t status) {
  char line[TALLY_ERROR_BYTES];
  const stretto_host_ops_t* ops = client->channel.ops;
  ops->read(ops->context, client->channel.address + TALLY_ERROR_TEXT, line, sizeof line);
  line[sizeof line - 1] = '\0';
  return stretto_runtime_refuse(
      error_of(status), "%s: %s", call,
      line[0] != '\0' ? line : stretto_status_text((stretto_status_t)status));
}

cudaError_t client_check(client_t* client, const char* call, uint64_t message) {
  if (client->checked >= message) return cudaSuccess;
  const uint64_t which = tally_wait_failed(&client->channel, client->checked, message);
  client->checked = message;
  if (which == 0) return cudaSuccess;
  return failed(client, call, tally_wait_reply(&client->channel, which).status);
}

uint64_t client_send(client_t* client, const tally_message_t* message, const void* payload) {
  if (client->channel.messages - client->checked >= UNCHECKED)
    client_check(client, "an earlier call", client->checked + UNCHECKED / 2);
  return tally_send(&client->channel, message, payload);
}

cudaError_t client_call(client_t* client, const char* call, const tally_message_t* message,
                        const void* payload, tally_reply_t* reply) {
  const uint64_t number = client_send(client, message, payload);
  const cudaError_t earlier = client_check(client, "an earlier call", number - 1);
  *reply = tally_wait_reply(&client->channel, number);
  client->checked = number;
  return reply->status == STRETTO_OK ? earlier : failed(client, call, reply->status);
}

uint64_t client_mark(client_t* client) {
  if (client->marked == client->channel.messages) return client->marked;
  const tally_message_t message = {.operation = TALLY_EVENT_RECORD, .event = {.event = 0}};
  return client->marked = client_send(client, &message, NULL);
}

int client_is_done(client_t* client, uint64_t message) {
  tally_event_t words;
  if (client->done >= message) return 1;
  tally_event_query(&client->channel, 0, message, &words);
  client->done = words.number;
  return client->done >= message;
}

cudaError_t client_wait(client_t* client, const char* call, uint64_t message) {
  int64_t status = STRETTO_OK;
  // Answers come before: looked at while the GPU works.
  const cudaError_t error = client_check(client, call, message);
  if (client->done < message) {
    const tally_event_t words = tally_event_wait(&client->channel, 0, message);
    client->done = words.number;
    status = words.status;
  }
  client_deliver(client);
  return error == cudaSuccess && status != STRETTO_OK ? failed(client, call, status) : error;
}

cudaError_t client_wait_all(client_t* client, const char* call) {
  return client_wait(client, call, client_mark(client));
}

// Devices: there is one

cudaError_t cudaGetDeviceCount(int* count) {
  CLIENT_OR_NEXT(cudaGetDeviceCount, count);
  client_answered(client);
  if (count == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaGetDeviceCount: null");
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  CLIENT_OR_NEXT(cudaGetDevice, device);
  client_answered(client);
  if (device == NULL) return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaGetDevice: null");
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  CLIENT_OR_NEXT(cudaSetDevice, device);
  client_answered(client);
  if (device == 0) return cudaSuccess;
  return stretto_runtime_refuse(cudaErrorInvalidDevice, "cudaSetDevice: device %d: there are 1",
                                device);
}

cudaError_t cudaDeviceSynchronize(void) {
  CLIENT_OR_NEXT(cudaDeviceSynchronize);
  return client_wait_all(client, "cudaDeviceSynchronize");
}

// Streams

struct CUstream_st* client_stream(client_t* client, cudaStream_t stream) {
  if (stream == NULL) return &client->first;
  for (struct CUstream_st* s = client->streams; s != NULL; s = s->next)
    if (s == stream) return s;
  return NULL;
}

cudaError_t client_no_stream(const char* call, cudaStream_t stream) {
  return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                "%s: %p is no stream, or was destroyed", call, (void*)stream);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  CLIENT_OR_NEXT(cudaDeviceGetStreamPriorityRange, least, greatest);
  client_answered(client);
  if (least != NULL) *least = 0;
  if (greatest != NULL) *greatest = 1 - (int)STRETTO_PRIORITIES;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  CLIENT_OR_NEXT(cudaStreamCreateWithPriority, stream, flags, priority);
  const cudaError_t refused = stretto_runtime_check_stream(stream, flags);
  if (refused != cudaSuccess) return refused;
  const tally_message_t message = {
      .operation = TALLY_STREAM_CREATE,
      .stream_create = {.priority = stretto_runtime_priority(priority)}};
  tally_reply_t reply;
  const cudaError_t error = client_call(client, "cudaStreamCreate", &message, NULL, &reply);
  if (error != cudaSuccess) return error;
  struct CUstream_st* created = calloc(1, sizeof *created);
  if (created == NULL)
    return stretto_runtime_refuse(cudaErrorMemoryAllocation, "cudaStreamCreate: no host memory");
  created->number = (uint32_t)reply.value[0];
  created->next = client->streams;
  client->streams = created;
  *stream = created;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  CLIENT_OR_NEXT(cudaStreamCreateWithFlags, stream, flags);
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  CLIENT_OR_NEXT(cudaStreamCreate, stream);
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  CLIENT_OR_NEXT(cudaStreamSynchronize, stream);
  if (client_stream(client, stream) == NULL)
    return client_no_stream("cudaStreamSynchronize", stream);
  return client_wait_all(client, "cudaStreamSynchronize");
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  CLIENT_OR_NEXT(cudaStreamDestroy, stream);
  if (stream == NULL || client_stream(client, stream) == NULL)
    return client_no_stream("cudaStreamDestroy", stream);
  const cudaError_t error = client_wait_all(client, "cudaStreamDestroy");
  const tally_message_t message = {.operation = TALLY_STREAM_DESTROY, .stream = stream->number};
  client_send(client, &message, NULL);
  struct CUstream_st** s = &client->streams;
  while (*s != stream) s = &(*s)->next;
  *s = stream->next;
  free(stream);
  return error;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  CLIENT_OR_NEXT(cudaStreamQuery, stream);
  if (client_stream(client, stream) == NULL) return client_no_stream("cudaStreamQuery", stream);
  const uint64_t sent = client->channel.messages, mark = client_mark(client);
  if (client->channel.messages == sent) client_answered(client);
  return client_is_done(client, mark) ? client_wait(client, "cudaStreamQuery", mark)
                                      : cudaErrorNotReady;
}

// Events

static struct CUevent_st* event_of(const client_t* client, cudaEvent_t event) {
  for (struct CUevent_st* e = client->events; e != NULL; e = e->next)
    if (e == event) return e;
  return NULL;
}

static cudaError_t no_event(const char* call, cudaEvent_t event) {
  return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                "%s: %p is no event, or was destroyed", call, (void*)event);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  CLIENT_OR_NEXT(cudaEventCreateWithFlags, event, flags);
  client_answered(client);
  const cudaError_t refused = stretto_runtime_check_event(event, flags);
  if (refused != cudaSuccess) return refused;
  struct CUevent_st* e = client->free_events;
  if (e != NULL) {
    client->free_events = e->next;
  } else {
    if (client->events_made == TALLY_EVENT_COUNT - 1)
      return stretto_runtime_refuse(cudaErrorMemoryAllocation,
                                    "cudaEventCreate: a client has at most %u events",
                                    TALLY_EVENT_COUNT - 1);
    e = calloc(1, sizeof *e);
    if (e == NULL)
      return stretto_runtime_refuse(cudaErrorMemoryAllocation, "cudaEventCreate: no host memory");
    e->number = ++client->events_made;
  }
  e->has_time = (flags & cudaEventDisableTiming) == 0;
  e->message = 0;
  e->next = client->events;
  client->events = e;
  *event = e;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  CLIENT_OR_NEXT(cudaEventCreate, event);
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  CLIENT_OR_NEXT(cudaEventRecord, event, stream);
  struct CUevent_st* e = event_of(client, event);
  if (e == NULL) return no_event("cudaEventRecord", event);
  const struct CUstream_st* s = client_stream(client, stream);
  if (s == NULL) return client_no_stream("cudaEventRecord", stream);
  const tally_message_t message = {.operation = TALLY_EVENT_RECORD,
                                   .stream = s->number,
                                   .event = {.event = e->number, .timed = e->has_time}};
  e->message = client_send(client, &message, NULL);
  return cudaSuccess;
}

// Its words, if its last record is done.
static int query(const client_t* client, const struct CUevent_st* e, tally_event_t* words) {
  return e->message == 0 || tally_event_query(&client->channel, e->number, e->message, words);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  CLIENT_OR_NEXT(cudaEventQuery, event);
  client_answered(client);
  const struct CUevent_st* e = event_of(client, event);
  if (e == NULL) return no_event("cudaEventQuery", event);
  tally_event_t words;
  if (!query(client, e, &words)) return cudaErrorNotReady;
  client_deliver(client);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  CLIENT_OR_NEXT(cudaEventSynchronize, event);
  client_answered(client);
  const struct CUevent_st* e = event_of(client, event);
  if (e == NULL) return no_event("cudaEventSynchronize", event);
  if (e->message != 0) tally_event_wait(&client->channel, e->number, e->message);
  client_deliver(client);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  CLIENT_OR_NEXT(cudaEventDestroy, event);
  client_answered(client);
  struct CUevent_st* given = event_of(client, event);
  if (given == NULL) return no_event("cudaEventDestroy", event);
  struct CUevent_st** e = &client->events;
  while (*e != given) e = &(*e)->next;
  *e = given->next;
  given->next = client->free_events;
  client->free_events = given;
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end_event) {
  CLIENT_OR_NEXT(cudaEventElapsedTime, milliseconds, start, end_event);
  client_answered(client);
  const struct CUevent_st *a = event_of(client, start), *b = event_of(client, end_event);
  if (a == NULL || b == NULL)
    return no_event("cudaEventElapsedTime", a == NULL ? start : end_event);
  if (milliseconds == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaEventElapsedTime: null");
  for (int i = 0; i < 2; ++i) {
    const struct CUevent_st* e = i == 0 ? a : b;
    if (e->message == 0 || !e->has_time)
      return stretto_runtime_refuse(
          cudaErrorInvalidResourceHandle, "cudaEventElapsedTime: its %s event %s",
          i == 0 ? "first" : "second", e->has_time ? "was not recorded" : "has no time");
  }
  tally_event_t first, second;
  if (!query(client, a, &first) || !query(client, b, &second)) return cudaErrorNotReady;
  *milliseconds = (float)((double)(int64_t)(second.time_ns - first.time_ns) / 1e6);
  return cudaSuccess;
}

// All streams of a client are one.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  CLIENT_OR_NEXT(cudaStreamWaitEvent, stream, event, flags);
  client_answered(client);
  if (client_stream(client, stream) == NULL) return client_no_stream("cudaStreamWaitEvent", stream);
  if (event_of(client, event) == NULL) return no_event("cudaStreamWaitEvent", event);
  if (flags != 0)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaStreamWaitEvent: flags %#x", flags);
  return cudaSuccess;
}
