// SPDX-License-Identifier: Apache-2.0
// Events of cuda_runtime.h. A record is one packet behind what it stands for: it writes the command
// processor's clock to a word of host memory and, where another stream of the device may wait for it, 0 to a
// word of the device's memory. Each record has a word of its own there, so that what waits for an earlier
// record is not held by a later one.
#include <stdlib.h>

#include "sw/collectives/internal.h"

// Host memory with the times of events, an area a job and GPU.
#define TIMES_AT 0x60000000ull
#define TIMES_BYTES (64ull << 10)
#define EVENTS (TIMES_BYTES / 8)

#define WORDS 4096u  // Of a device, all 1 until a record writes 0.

struct CUevent_st {
  struct CUevent_st* next;  // Of the runtime.
  uint32_t number;          // Its place in the area.
  int has_time;
  int destroyed;               // May be given out again.
  struct CUstream_st* stream;  // On which it was recorded last; null: never.
  stretto_event_t record;
  uint64_t word;  // That the record makes 0; 0 = none.
  int done;
  uint64_t time_ns;
};

void events_free(stretto_runtime_t* runtime) {
  while (runtime->events != NULL) {
    struct CUevent_st* next = runtime->events->next;
    free(runtime->events);
    runtime->events = next;
  }
}

static struct CUevent_st* given_event(cudaEvent_t event) {
  const stretto_runtime_t* runtime = runtime_current();
  for (struct CUevent_st* e = runtime == NULL ? NULL : runtime->events; e != NULL; e = e->next)
    if (e == event && !e->destroyed) return e;
  return NULL;
}

static cudaError_t no_event(const char* call, cudaEvent_t event) {
  return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                "%s: %p is no event, or was destroyed", call, (void*)event);
}

static uint64_t time_address(const struct CUevent_st* event, const device_t* device) {
  return runtime_host_area(device, TIMES_AT, TIMES_BYTES) + 8 * event->number;
}

// Reads the time of a record that is done.
static void note_done(struct CUevent_st* event) {
  const device_t* device = event->stream->device;
  const stretto_host_ops_t* ops = &device->runtime->options.ops;
  if (event->has_time)
    ops->read(ops->context, time_address(event, device), &event->time_ns, sizeof event->time_ns);
  event->done = 1;
}

// Whether its last record is done; does not wait.
static int is_done(struct CUevent_st* event) {
  if (event->stream == NULL || event->done) return 1;
  const device_t* device = event->stream->device;
  if (device->client->api->event_query(device->client, &event->record)) note_done(event);
  return event->done;
}

static cudaError_t wait_for(struct CUevent_st* event) {
  if (is_done(event)) return cudaSuccess;
  const device_t* device = event->stream->device;
  const stretto_status_t status =
      device->client->api->event_synchronize(device->client, &event->record);
  if (runtime_status(device->runtime, device, status) != ncclSuccess) return cudaErrorLaunchFailure;
  note_done(event);
  return cudaSuccess;
}

// A word that is 1 and that nobody waits for. When all were used, all streams are waited for.
static cudaError_t take_word(device_t* device, uint64_t* word) {
  const stretto_api_t* api = device->client->api;
  stretto_runtime_t* runtime = device->runtime;
  stretto_stream_t* stream = device->default_stream->stream;
  if (device->words != 0 && device->words_used < WORDS) {
    *word = device->words + 8ull * device->words_used++;
    return cudaSuccess;
  }
  for (uint32_t i = 0; i < runtime->options.devices && device->words != 0; ++i)
    if (runtime->devices[i] != NULL && runtime_quiet(runtime->devices[i]) != ncclSuccess)
      return cudaErrorLaunchFailure;
  stretto_status_t status = STRETTO_OK;
  if (device->words == 0)
    status = api->allocate(device->client, stream, 8ull * WORDS, RUNTIME_ALIGNMENT,
                           STRETTO_ALLOCATION_UNCACHED, &device->words);
  if (status == STRETTO_OK)
    status = api->fill(device->client, stream, device->words, 8ull * WORDS, 1,
                       runtime->options.accounts.init);
  if (runtime_status(runtime, device, status) != ncclSuccess) return cudaErrorMemoryAllocation;
  TRY_CUDA(runtime_cuda_synchronize(device->default_stream));
  *word = device->words;
  device->words_used = 1;
  return cudaSuccess;
}

cudaError_t stretto_runtime_check_event(const cudaEvent_t* event, unsigned flags) {
  if (runtime_current() == NULL || event == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaEventCreate: null");
  if (flags > (cudaEventBlockingSync | cudaEventDisableTiming))
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaEventCreateWithFlags: flags %#x",
                                  flags);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  stretto_runtime_t* runtime = runtime_current();
  TRY_CUDA(stretto_runtime_check_event(event, flags));
  struct CUevent_st* e = runtime->events;
  while (e != NULL && !e->destroyed) e = e->next;
  if (e == NULL) {
    const uint32_t number = runtime->events == NULL ? 0 : runtime->events->number + 1;
    if (number == EVENTS)
      return stretto_runtime_refuse(cudaErrorMemoryAllocation, "cudaEventCreate: at most %u events",
                                    (unsigned)EVENTS);
    e = calloc(1, sizeof *e);
    if (e == NULL)
      return stretto_runtime_refuse(cudaErrorMemoryAllocation, "cudaEventCreate: no host memory");
    e->number = number;
    e->next = runtime->events;
    runtime->events = e;
  }
  e->destroyed = 0;
  e->stream = NULL;
  e->has_time = (flags & cudaEventDisableTiming) == 0;
  *event = e;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  struct CUevent_st* e = given_event(event);
  if (e == NULL) return no_event("cudaEventDestroy", event);
  TRY_CUDA(wait_for(e));  // Its packet writes to its word.
  e->destroyed = 1;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  struct CUevent_st* e = given_event(event);
  if (e == NULL) return no_event("cudaEventRecord", event);
  struct CUstream_st* s = runtime_given_stream(stream);
  if (s == NULL) return runtime_no_stream("cudaEventRecord", stream);
  if (e->stream != s) TRY_CUDA(wait_for(e));  // Two packets of two streams, one word.
  device_t* device = s->device;
  e->word = 0;
  if (device->streams->next != NULL) TRY_CUDA(take_word(device, &e->word));
  const uint64_t time = e->has_time ? time_address(e, device) : 0;
  const stretto_api_t* api = device->client->api;
  const stretto_status_t status =
      time == 0 && e->word == 0
          ? api->event_record(device->client, s->stream, &e->record)
          : api->event_record_time(device->client, s->stream, time, e->word, &e->record);
  if (runtime_status(device->runtime, device, status) != ncclSuccess)
    return runtime_keep(cudaErrorLaunchFailure);
  s->unreleased = 0;
  e->stream = s;
  e->done = 0;
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  struct CUevent_st* e = given_event(event);
  if (e == NULL) return no_event("cudaEventQuery", event);
  if (!is_done(e)) return cudaErrorNotReady;
  if (e->stream != NULL) copies_deliver(e->stream->device);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  struct CUevent_st* e = given_event(event);
  if (e == NULL) return no_event("cudaEventSynchronize", event);
  TRY_CUDA(wait_for(e));
  if (e->stream != NULL) copies_deliver(e->stream->device);
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  struct CUevent_st *a = given_event(start), *b = given_event(end);
  if (a == NULL || b == NULL) return no_event("cudaEventElapsedTime", a == NULL ? start : end);
  if (milliseconds == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaEventElapsedTime: null");
  for (int i = 0; i < 2; ++i) {
    const struct CUevent_st* e = i == 0 ? a : b;
    if (e->stream == NULL || !e->has_time)
      return stretto_runtime_refuse(
          cudaErrorInvalidResourceHandle, "cudaEventElapsedTime: its %s event %s",
          i == 0 ? "first" : "second", e->has_time ? "was not recorded" : "has no time");
  }
  if (!is_done(a) || !is_done(b)) return cudaErrorNotReady;
  *milliseconds = (float)((double)(int64_t)(b->time_ns - a->time_ns) / 1e6);
  return cudaSuccess;
}

// What was submitted up to now to the event's stream is done before `stream` goes on: of another device,
// and of a record without a word.
static cudaError_t wait_for_stream(const struct CUevent_st* event, device_t* waiter,
                                   uint64_t* word) {
  TRY_CUDA(take_word(waiter, word));
  device_t* source = event->stream->device;
  const stretto_status_t status =
      source->client->api->signal(source->client, event->stream->stream, *word, 0);
  return runtime_status(source->runtime, source, status) == ncclSuccess ? cudaSuccess
                                                                        : cudaErrorLaunchFailure;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  struct CUstream_st* s = runtime_given_stream(stream);
  if (s == NULL) return runtime_no_stream("cudaStreamWaitEvent", stream);
  struct CUevent_st* e = given_event(event);
  if (e == NULL) return no_event("cudaStreamWaitEvent", event);
  if (flags != 0)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaStreamWaitEvent: flags %#x", flags);
  s->acquires = 1;  // Others may have written what its next kernel reads.
  if (e->stream == s || is_done(e)) return cudaSuccess;
  device_t* device = s->device;
  uint64_t word = e->stream->device == device ? e->word : 0;
  if (word == 0) TRY_CUDA(runtime_keep(wait_for_stream(e, device, &word)));
  const stretto_status_t status =
      device->client->api->stream_wait(device->client, s->stream, word, 0);
  return runtime_status(device->runtime, device, status) == ncclSuccess
             ? cudaSuccess
             : runtime_keep(cudaErrorLaunchFailure);
}
