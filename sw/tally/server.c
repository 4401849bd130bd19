// SPDX-License-Identifier: Apache-2.0
// Clients and their calls. See server.h; what is submitted is server_submit.c, best effort
// server_schedule.c.
#include "sw/tally/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/tally/server_internal.h"
#include "sw/transform/transform_c.h"

// Answers

static void answer(tenant_t* t, stretto_status_t status, uint64_t first, uint64_t second,
                   uint64_t third, const char* text) {
  const tally_reply_t reply = {.status = status, .value = {first, second, third}};
  tally_answer(&t->channel, &reply, text);
}

static void answer_driver(tenant_t* t, stretto_status_t status, uint64_t value) {
  answer(t, status, value, 0, 0, t->driver->api->last_error(t->driver));
}

static int grow(void** array, size_t count, size_t bytes) {
  void* const larger = realloc(*array, (count + 1) * bytes);
  if (larger == NULL) return 0;
  *array = larger;
  return 1;
}

// Libraries and kernels

typedef struct refusals {
  const server_t* server;
  const tenant_t* tenant;
  uint32_t form;
} refusals_t;

static void note_refusal(void* context, const char* kernel, const char* reason) {
  const refusals_t* r = context;
  // Both forms refuse for the same reasons but for few: the one that Tally prefers is told.
  if (r->form != STRETTO_FORM_PREEMPT) return;
  server_log(r->server, (tally_record_t){.kind = TALLY_REFUSED,
                                         .client = r->tenant->number,
                                         .form = r->form,
                                         .kernel = kernel,
                                         .text = reason});
}

static int transforms(const server_t* s, const tenant_t* t) {
  return s->p->mode == TALLY_TRANSFORMED && t->priority == TALLY_BEST_EFFORT;
}

// Loads the forms that the transformer makes of the file.
static stretto_status_t load_forms(server_t* s, tenant_t* t, const void* elf, uint64_t bytes,
                                   library_t* library) {
  refusals_t refusals = {s, t, STRETTO_FORM_PREEMPT};
  stretto_subject_t* const subject = stretto_subject_new(elf, bytes, note_refusal, &refusals);
  if (subject == NULL) return STRETTO_OK;
  stretto_status_t status = STRETTO_OK;
  for (uint32_t form = STRETTO_FORM_SLICE; form < FORMS && status == STRETTO_OK; ++form) {
    refusals.form = form;
    size_t out_bytes = 0;
    void* const out = stretto_transform_elf(subject, (int)form, s->p->stock_isa, note_refusal,
                                            &refusals, &out_bytes);
    if (out == NULL) continue;
    status = t->driver->api->module_load(t->driver, out, out_bytes, &library->module[form]);
    free(out);
  }
  stretto_subject_free(subject);
  return status;
}

static void load_library(server_t* s, tenant_t* t, const tally_message_t* m) {
  const uint64_t bytes = m->library_load.bytes, bulk = m->library_load.bulk;
  uint8_t* const elf = bytes == 0 || bytes > TALLY_BULK_BYTES || bulk > TALLY_BULK_BYTES - bytes
                           ? NULL
                           : malloc(bytes);
  if (elf == NULL || !grow((void**)&t->libraries, t->library_count, sizeof *t->libraries)) {
    free(elf);
    answer(t, STRETTO_ERROR_ARGUMENT, 0, 0, 0, "library: not in the bulk, or no host memory");
    return;
  }
  s->ops->read(s->ops->context, tally_bulk_address(&t->channel, bulk), elf, bytes);
  library_t library = {.key = server_key(SERVER_KEY, elf, bytes)};
  stretto_status_t status =
      t->driver->api->module_load(t->driver, elf, bytes, &library.module[STRETTO_FORM_ORIGINAL]);
  if (status == STRETTO_OK && transforms(s, t)) status = load_forms(s, t, elf, bytes, &library);
  free(elf);
  if (status == STRETTO_OK) t->libraries[t->library_count++] = library;
  answer_driver(t, status, t->library_count - 1);
}

static void find_kernel(tenant_t* t, const tally_message_t* m, const char* name) {
  if (m->kernel.library >= t->library_count || m->payload_bytes == 0 ||
      name[m->payload_bytes - 1] != '\0') {
    answer(t, STRETTO_ERROR_ARGUMENT, 0, 0, 0, "kernel: no such library, or no name");
    return;
  }
  const library_t* library = &t->libraries[m->kernel.library];
  kernel_t* const kernel = calloc(1, sizeof *kernel);
  if (kernel == NULL || !grow((void**)&t->kernels, t->kernel_count, sizeof *t->kernels)) {
    free(kernel);
    answer(t, STRETTO_ERROR_TABLE_FULL, 0, 0, 0, "kernel: no host memory");
    return;
  }
  const stretto_status_t status = t->driver->api->module_kernel(
      t->driver, library->module[STRETTO_FORM_ORIGINAL], name, &kernel->form[0]);
  if (status != STRETTO_OK) {
    free(kernel);
    answer_driver(t, status, 0);
    return;
  }
  kernel->name = strdup(name);
  kernel->key = server_key(library->key, name, m->payload_bytes);
  kernel->has[STRETTO_FORM_ORIGINAL] = 1;
  for (uint32_t form = STRETTO_FORM_SLICE; form < FORMS; ++form) {
    if (library->module[form] == NULL) continue;
    kernel->has[form] = t->driver->api->module_kernel(t->driver, library->module[form], name,
                                                      &kernel->form[form]) == STRETTO_OK &&
                        kernel->form[form].descriptor.reserved[STRETTO_RESERVED_FORM] == form;
  }
  t->kernels[t->kernel_count++] = kernel;
  const stretto_kernel_descriptor_t* d = &kernel->form[STRETTO_FORM_ORIGINAL].descriptor;
  answer(t, STRETTO_OK, t->kernel_count - 1, d->kernarg_bytes, d->wavefronts, "");
}

// Memory

static int is_idle(const server_t* s, const tenant_t* t) {
  return t->submitted_count == 0 && t->items_count == 0 &&
         (s->current.phase == PHASE_NONE || s->current.tenant != t);
}

// Waits until the GPU has mapped the block: it may have no room for one more.
static void allocate(const server_t* s, tenant_t* t, const tally_message_t* m) {
  const stretto_api_t* const api = t->driver->api;
  const uint64_t bytes = m->malloc.bytes, alignment = m->malloc.alignment;
  const uint32_t allocation = (uint32_t)m->malloc.allocation;
  if (!is_idle(s, t)) {
    answer(t, STRETTO_ERROR_STATE, 0, 0, 0, "malloc: not while work of the client is under way");
    return;
  }
  struct memory_block* block = NULL;
  for (size_t i = 0; i < t->memory_count && block == NULL; ++i) {
    struct memory_block* const b = &t->memory[i];
    if (!b->used && b->bytes == bytes && b->alignment >= alignment) block = b;
  }
  stretto_status_t status = STRETTO_OK;
  if (block != NULL) {
    status = api->map(t->driver, t->stream, block->address, bytes, allocation);
  } else {
    if (!grow((void**)&t->memory, t->memory_count, sizeof *t->memory)) {
      answer(t, STRETTO_ERROR_TABLE_FULL, 0, 0, 0, "malloc: no host memory");
      return;
    }
    block = &t->memory[t->memory_count];
    *block = (struct memory_block){.bytes = bytes, .alignment = alignment};
    status = api->allocate(t->driver, t->stream, bytes, alignment, allocation, &block->address);
    if (status == STRETTO_OK) ++t->memory_count;
  }
  if (status == STRETTO_OK) status = api->stream_synchronize(t->driver, t->stream);
  if (status == STRETTO_OK) block->used = 1;
  answer_driver(t, status, block->address);
}

static void copy_in(tenant_t* t, const tally_message_t* m) {
  const uint64_t bytes = m->copy_in.bytes, bulk = m->copy_in.bulk;
  if (bytes == 0 || bytes > TALLY_BULK_BYTES || bulk > TALLY_BULK_BYTES - bytes) {
    answer(t, STRETTO_ERROR_ARGUMENT, 0, 0, 0, "copy: not in the bulk");
    return;
  }
  // From the memory that both share, without a copy of its own.
  answer_driver(t,
                t->driver->api->copy_host_memory(t->driver, m->copy_in.to,
                                                 tally_bulk_address(&t->channel, bulk), bytes),
                0);
}

// Calls that are in the order of the stream

static uint64_t grid_of(const tally_message_t* m) {
  const uint64_t rows = (uint64_t)m->launch.grid_y * m->launch.grid_z;
  return rows > STRETTO_MAX_GRID ? 0 : rows * m->launch.grid_x;
}

// What is wrong with the call, or null.
static const char* item_of(const tenant_t* t, const tally_message_t* m, const uint8_t* payload,
                           item_t* item) {
  *item = (item_t){.operation = m->operation, .number = t->channel.messages};
  switch (m->operation) {
    case TALLY_LAUNCH: {
      if (m->launch.kernel >= t->kernel_count) return "launch: no such kernel";
      item->kernel = t->kernels[m->launch.kernel];
      if (m->payload_bytes != item->kernel->form[0].descriptor.kernarg_bytes)
        return "launch: other bytes of arguments than the kernel has";
      if (grid_of(m) == 0 || grid_of(m) > STRETTO_MAX_GRID)
        return "launch: no work-group, or more than a grid has";
      item->work_groups = (uint32_t)grid_of(m);
      memcpy(item->grid, &m->launch.grid_x, sizeof item->grid);
      item->read_by_host = m->launch.read_by_host != 0;
      item->argument_bytes = m->payload_bytes;
      item->arguments = malloc(m->payload_bytes + 1);
      if (item->arguments == NULL) return "launch: no host memory";
      memcpy(item->arguments, payload, m->payload_bytes);
      return NULL;
    }
    case TALLY_COPY:
      item->to = m->copy.to;
      item->from = m->copy.from;
      item->bytes = m->copy.bytes;
      return NULL;
    case TALLY_FILL:
      item->to = m->fill.address;
      item->bytes = m->fill.bytes;
      item->pattern = m->fill.pattern;
      return NULL;
    case TALLY_FREE:
      for (size_t i = 0; i < t->memory_count; ++i) {
        if (t->memory[i].address != m->free.address || !t->memory[i].used) continue;
        item->to = m->free.address;
        return NULL;
      }
      return "free: not allocated";
    default:  // TALLY_EVENT_RECORD
      item->event = (uint32_t)m->event.event;
      item->is_timed = m->event.timed != 0;
      return m->event.event < TALLY_EVENT_COUNT ? NULL : "event: no such number";
  }
}

// High priority and, without a scheduler, all: at once. Best effort: later.
static int is_direct(const server_t* s, const tenant_t* t) {
  return s->p->mode == TALLY_FORWARD || t == s->high;
}

static void ordered(server_t* s, tenant_t* t, const tally_message_t* m, const uint8_t* payload) {
  item_t item;
  const char* wrong = item_of(t, m, payload, &item);
  if (wrong != NULL) {
    answer(t, STRETTO_ERROR_ARGUMENT, 0, 0, 0, wrong);
    return;
  }
  if (!is_direct(s, t)) {
    t->items[(t->items_first + t->items_count++) % ITEMS] = item;
    answer(t, STRETTO_OK, 0, 0, 0, "");
    return;
  }
  if (t == s->high && !s->high_active) {
    s->high_active = 1;
    server_log(s, (tally_record_t){.kind = TALLY_HIGH_ACTIVE, .client = t->number});
  }
  const stretto_status_t status = server_submit(s, t, &item);
  answer_driver(t, status, 0);
}

static void serve(server_t* s, tenant_t* t, const tally_message_t* m, const uint8_t* payload) {
  switch (m->operation) {
    case TALLY_LIBRARY_LOAD: load_library(s, t, m); break;
    case TALLY_KERNEL: find_kernel(t, m, (const char*)payload); break;
    case TALLY_MALLOC: allocate(s, t, m); break;
    case TALLY_COPY_IN: copy_in(t, m); break;
    case TALLY_STREAM_CREATE:
    case TALLY_STREAM_DESTROY:
    case TALLY_STREAM_WAIT_EVENT: answer(t, STRETTO_OK, 1, 0, 0, ""); break;
    case TALLY_LAUNCH:
    case TALLY_COPY:
    case TALLY_FILL:
    case TALLY_FREE:
    case TALLY_EVENT_RECORD: ordered(s, t, m, payload); break;
    default: answer(t, STRETTO_ERROR_PACKET, 0, 0, 0, "no such operation"); break;
  }
}

// Clients

static uint64_t word_at(const server_t* s, const tenant_t* t, uint64_t offset) {
  uint64_t word = 0;
  s->ops->read(s->ops->context, t->channel.address + offset, &word, sizeof word);
  return word;
}

static stretto_status_t attach(server_t* s, tenant_t* t) {
  if (word_at(s, t, TALLY_STATE) == TALLY_ABSENT) return STRETTO_OK;
  t->state = TALLY_ATTACHED;
  const int wants_high = word_at(s, t, TALLY_PRIORITY) == TALLY_HIGH_PRIORITY;
  if (wants_high && s->high == NULL) {
    s->high = t;
    t->priority = TALLY_HIGH_PRIORITY;
  }
  t->driver = stretto_client_create(&s->p->client[t->number], s->ops);
  if (t->driver == NULL) {
    snprintf(s->error, 256, "tally server: no driver client for client %u", t->number);
    return STRETTO_ERROR_STATE;
  }
  const stretto_status_t status = t->driver->api->stream_create(t->driver, &t->stream);
  if (status != STRETTO_OK)
    snprintf(s->error, 256, "tally server: client %u: %s", t->number,
             t->driver->api->last_error(t->driver));
  return status;
}

static int has_room(const tenant_t* t) {
  return t->items_count < ITEMS && t->submitted_count < SUBMITTED;
}

// Takes what a client asks for. Its end drops what waits here.
static stretto_status_t take_messages(server_t* s, tenant_t* t, int* progress) {
  if (t->state == TALLY_ABSENT) TRY(attach(s, t));
  if (t->state != TALLY_ATTACHED) return STRETTO_OK;
  tally_message_t message;
  uint8_t payload[TALLY_PAYLOAD_BYTES];
  // One of best effort, so that high priority does not wait for many.
  for (uint32_t i = 0; has_room(t) && (i == 0 || t == s->high); ++i) {
    tally_state_t state = TALLY_ATTACHED;
    if (!tally_receive(&t->channel, &message, payload, &state)) {
      if (state != TALLY_GONE) break;
      t->state = TALLY_GONE;
      *progress = 1;
      schedule_forget(s, t);
      break;
    }
    *progress = 1;
    serve(s, t, &message, payload);
  }
  return STRETTO_OK;
}

// Notes what of a client's work has ended.
static void retire(server_t* s, tenant_t* t, int* progress) {
  while (t->submitted_count != 0) {
    submitted_t* const oldest = &t->submitted[t->submitted_first];
    if (!t->driver->api->event_query(t->driver, &oldest->event)) break;
    *progress = 1;
    if (oldest->item.operation == TALLY_LAUNCH)
      server_log(s, (tally_record_t){.kind = TALLY_ENDED,
                                     .client = t->number,
                                     .launch = oldest->item.number,
                                     .groups = oldest->item.work_groups,
                                     .work_groups = oldest->item.work_groups,
                                     .is_last = 1});
    if (oldest->item.operation == TALLY_FREE) {
      for (size_t i = 0; i < t->memory_count; ++i)
        if (t->memory[i].address == oldest->item.to) t->memory[i].used = 0;
    }
    if (oldest->item.operation == TALLY_EVENT_RECORD) {
      // All of the stream is complete: this waits for nothing.
      if (t->submitted_count == 1 && t->failure == STRETTO_OK)
        t->failure = t->driver->api->stream_synchronize(t->driver, t->stream);
      tally_event_done(&t->channel, oldest->item.event, oldest->item.number, t->failure);
      t->failure = STRETTO_OK;
    }
    t->submitted_first = (t->submitted_first + 1) % SUBMITTED;
    --t->submitted_count;
  }
  if (t != s->high || !s->high_active || t->submitted_count != 0) return;
  s->high_active = 0;
  s->high_idle_since_ns = server_now(s);
  server_log(s, (tally_record_t){.kind = TALLY_HIGH_IDLE, .client = t->number});
}

// The loop

// Waits until something may have changed, or until `until_ns`.
static void wait_for_news(server_t* s, uint64_t until_ns) {
  stretto_host_word_t words[3 * TALLY_CLIENTS + 1];
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->p->clients; ++i) {
    const tenant_t* t = &s->tenants[i];
    if (t->state != TALLY_GONE)
      words[count++] = (stretto_host_word_t){t->channel.address + TALLY_STATE,
                                             STRETTO_WAIT_NOT_EQUAL, (uint64_t)t->state};
    if (t->state == TALLY_ATTACHED && has_room(t))
      words[count++] = (stretto_host_word_t){t->channel.address + TALLY_WRITTEN,
                                             STRETTO_WAIT_NOT_EQUAL, t->channel.bytes};
    if (t->submitted_count != 0)
      words[count++] =
          t->driver->api->event_word(t->driver, &t->submitted[t->submitted_first].event);
  }
  if (schedule_word(s, &words[count])) ++count;
  s->ops->wait_any(s->ops->context, words, count, until_ns);
}

static int all_gone(const server_t* s) {
  for (uint32_t i = 0; i < s->p->clients; ++i) {
    const tenant_t* t = &s->tenants[i];
    if (t->state != TALLY_GONE || t->submitted_count != 0) return 0;
  }
  return s->current.phase == PHASE_NONE;
}

static stretto_status_t serve_all(server_t* s) {
  const tally_server_parameters_t* p = s->p;
  while (!all_gone(s)) {
    int progress = 0;
    uint64_t until_ns = UINT64_MAX;
    if (s->high != NULL) {
      TRY(take_messages(s, s->high, &progress));
      retire(s, s->high, &progress);
    }
    for (uint32_t i = 0; i < p->clients; ++i) {
      tenant_t* t = &s->tenants[i];
      if (t == s->high) continue;
      TRY(take_messages(s, t, &progress));
      if (t->driver != NULL) retire(s, t, &progress);
    }
    if (p->mode != TALLY_FORWARD) TRY(schedule(s, &progress, &until_ns));
    if (!progress) wait_for_news(s, until_ns);
  }
  return STRETTO_OK;
}

static stretto_status_t set_up(server_t* s) {
  const tally_server_parameters_t* p = s->p;
  s->own = stretto_client_create(&p->own, s->ops);
  if (s->own == NULL) {
    snprintf(s->error, 256, "tally server: no driver client of its own");
    return STRETTO_ERROR_STATE;
  }
  const stretto_api_t* api = s->own->api;
  TRY(server_try(s, api->stream_create(s->own, &s->stream)));
  if (p->mode == TALLY_UNMODIFIED)  // Its packets stop others: they are taken first.
    TRY(server_try(s, api->stream_priority(s->own, s->stream, STRETTO_PRIORITIES - 1)));
  s->control_bytes = tally_control_bytes(p->stock_isa, p->units * p->unit_workgroups);
  const uint64_t bytes = s->control_bytes * TALLY_CONTROL_BLOCKS;
  TRY(server_try(
      s, api->allocate(s->own, s->stream, bytes, 4096, STRETTO_ALLOCATION_UNCACHED, &s->controls)));
  TRY(server_try(s, api->fill(s->own, s->stream, s->controls, bytes, 0, p->own_account)));
  return server_try(s, api->stream_synchronize(s->own, s->stream));
}

static void free_tenant(tenant_t* t) {
  for (size_t i = 0; i < t->kernel_count; ++i) {
    free(t->kernels[i]->name);
    free(t->kernels[i]);
  }
  while (t->profiles != NULL) {
    profile_t* const next = t->profiles->next;
    free(t->profiles);
    t->profiles = next;
  }
  for (uint32_t i = 0; i < t->items_count; ++i)
    free(t->items[(t->items_first + i) % ITEMS].arguments);
  free(t->kernels);
  free(t->libraries);
  free(t->memory);
  stretto_client_destroy(t->driver);
}

stretto_status_t tally_server_run(const tally_server_parameters_t* parameters,
                                  const stretto_host_ops_t* ops, tally_server_result_t* result,
                                  char* error) {
  const char* wrong = tally_policy_error(&parameters->policy);
  if (wrong != NULL || parameters->clients == 0 || parameters->clients > TALLY_CLIENTS) {
    snprintf(error, 256, "tally server: %s",
             wrong != NULL ? wrong : "needs 1 to 14 clients, a queue of the GPU each");
    return STRETTO_ERROR_ARGUMENT;
  }
  server_t* const s = calloc(1, sizeof *s);
  if (s == NULL) {
    snprintf(error, 256, "tally server: no host memory");
    return STRETTO_ERROR_STATE;
  }
  s->p = parameters;
  s->ops = ops;
  s->result = result;
  s->error = error;
  for (uint32_t i = 0; i < parameters->clients; ++i) {
    s->tenants[i].number = i;
    s->tenants[i].channel = tally_accept(ops, tally_channel_address(parameters->job, i));
  }
  stretto_status_t status = set_up(s);
  if (status == STRETTO_OK) status = serve_all(s);
  for (uint32_t i = 0; i < parameters->clients; ++i) {
    result->messages[i] = s->tenants[i].channel.messages;
    result->message_bytes[i] = s->tenants[i].channel.bytes;
    free_tenant(&s->tenants[i]);
  }
  stretto_client_destroy(s->own);
  free(s);
  return status;
}
