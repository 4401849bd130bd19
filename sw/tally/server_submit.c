// SPDX-License-Identifier: Apache-2.0
// What all parts of the server need: its log, and how things are put into a client's queue.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/tally/server_internal.h"

uint64_t server_now(const server_t* s) { return s->ops->now_ns(s->ops->context); }

void server_log(const server_t* s, tally_record_t record) {
  if (s->p->log == NULL) return;
  record.time_ns = server_now(s);
  s->p->log(s->p->log_context, &record);
}

uint64_t server_key(uint64_t key, const void* data, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i) key = (key ^ ((const uint8_t*)data)[i]) * 0x100000001B3u;
  return key;
}

stretto_status_t server_try(server_t* s, stretto_status_t status) {
  if (status != STRETTO_OK)
    snprintf(s->error, 256, "tally server: %s", s->own->api->last_error(s->own));
  return status;
}

static uint32_t account_of(const server_t* s, const tenant_t* t) {
  return t == s->high ? s->p->high_account : s->p->best_effort_account;
}

stretto_status_t server_launch(server_t* s, tenant_t* t, const item_t* item, uint32_t form,
                               uint32_t first, uint32_t groups, uint64_t control,
                               stretto_event_t* event) {
  const stretto_kernel_t* kernel = &item->kernel->form[form];
  const uint32_t bytes = kernel->descriptor.kernarg_bytes;
  uint8_t* const arguments = calloc(1, bytes + 1);
  if (arguments == NULL) return STRETTO_ERROR_TABLE_FULL;
  memcpy(arguments, item->arguments, item->argument_bytes);
  const stretto_transformed_arguments_t more = {.control = control,
                                                .first = first,
                                                .tasks = item->work_groups,
                                                .grid_x = item->grid[0],
                                                .grid_y = item->grid[1],
                                                .grid_z = item->grid[2]};
  const int is_original = form == STRETTO_FORM_ORIGINAL;
  if (!is_original) memcpy(arguments + bytes - sizeof more, &more, sizeof more);
  const stretto_launch_t launch = {.kernel = kernel,
                                   .arguments = arguments,
                                   .argument_bytes = bytes,
                                   .work_groups = is_original ? item->grid[0] : groups,
                                   .grid_y = is_original ? item->grid[1] : 1,
                                   .grid_z = is_original ? item->grid[2] : 1,
                                   .account = account_of(s, t),
                                   .device_scope = !item->read_by_host,
                                   .after_all_earlier = 1};
  server_log(s, (tally_record_t){.kind = TALLY_LAUNCHED,
                                 .client = t->number,
                                 .launch = item->number,
                                 .form = form,
                                 .first = first,
                                 .groups = groups,
                                 .work_groups = item->work_groups,
                                 .control = control,
                                 .kernel = item->kernel->name});
  stretto_status_t status = t->driver->api->launch(t->driver, t->stream, &launch);
  if (status == STRETTO_OK) status = t->driver->api->event_of_last(t->driver, t->stream, event);
  t->is_released = status == STRETTO_OK && !launch.device_scope;
  free(arguments);
  return status;
}

// An event of all that was submitted. Where the last packet has left nothing in the L2, or released it, that
// packet's end is the event's, unless the GPU is to note the time.
static stretto_status_t record(tenant_t* t, const item_t* item, stretto_event_t* event) {
  const stretto_api_t* api = t->driver->api;
  if (item->is_timed)
    return api->event_record_time(t->driver, t->stream,
                                  tally_event_time_address(&t->channel, item->event), 0, event);
  return t->is_released ? api->event_of_last(t->driver, t->stream, event)
                        : api->event_record(t->driver, t->stream, event);
}

stretto_status_t server_submit(server_t* s, tenant_t* t, item_t* item) {
  const stretto_api_t* api = t->driver->api;
  submitted_t* const entry = &t->submitted[(t->submitted_first + t->submitted_count) % SUBMITTED];
  stretto_status_t status = STRETTO_OK;
  switch (item->operation) {
    case TALLY_LAUNCH:
      status =
          server_launch(s, t, item, STRETTO_FORM_ORIGINAL, 0, item->work_groups, 0, &entry->event);
      break;
    case TALLY_COPY:
      status = api->copy(t->driver, t->stream, item->to, item->from, item->bytes, account_of(s, t));
      break;
    case TALLY_FILL:
      status = api->fill_in_order(t->driver, t->stream, item->to, item->bytes, item->pattern,
                                  account_of(s, t));
      break;
    case TALLY_FREE: status = api->release(t->driver, t->stream, item->to); break;
    default: status = record(t, item, &entry->event); break;
  }
  if (status == STRETTO_OK && item->operation != TALLY_LAUNCH &&
      item->operation != TALLY_EVENT_RECORD)
    status = api->event_of_last(t->driver, t->stream, &entry->event);
  if (item->operation != TALLY_LAUNCH) t->is_released = status == STRETTO_OK;
  free(item->arguments);
  item->arguments = NULL;
  entry->item = *item;
  if (status == STRETTO_OK) ++t->submitted_count;
  return status;
}
