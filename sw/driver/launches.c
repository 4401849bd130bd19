// SPDX-License-Identifier: Apache-2.0
// Modules, launches of kernels and pipelines, and which queue is served first.
#include <stdlib.h>
#include <string.h>

#include "sw/driver/internal.h"

stretto_status_t driver_module_load(stretto_client_t* client, const void* elf, size_t bytes,
                                    stretto_module_t** module) {
  driver_call(client);
  uint64_t image_bytes = 0;
  uint64_t base = 0;
  stretto_status_t status =
      kernel_image_size(elf, bytes, &image_bytes, client->error, sizeof client->error);
  if (status != STRETTO_OK) return status;
  client->ops.charge_cpu_ns(client->ops.context,
                            client->options.costs.load_ns_per_kib * (image_bytes / 1024));
  status = driver_take_memory(client, image_bytes, MODULE_ALIGNMENT, &base);
  if (status != STRETTO_OK) return status;
  stretto_module_t* loaded = calloc(1, sizeof *loaded);
  if (loaded == NULL)
    return driver_fail(client, STRETTO_ERROR_TABLE_FULL, "module_load: no host memory");
  kernel_image_t image;
  status = kernel_image_load(elf, bytes, base, &image, client->error, sizeof client->error);
  if (status != STRETTO_OK) {
    free(loaded);
    return status;
  }
  *loaded = (stretto_module_t){.next = client->modules,
                               .base = base,
                               .bytes = image.bytes,
                               .kernels = image.kernels,
                               .kernel = image.kernel};
  client->modules = loaded;
  status = driver_copy_to_device(client, base, image.data, image.bytes);
  free(image.data);
  if (client->ops.code_loaded != NULL)
    client->ops.code_loaded(client->ops.context, base, elf, bytes);
  *module = loaded;
  return status;
}

stretto_status_t driver_module_kernel(stretto_client_t* client, const stretto_module_t* module,
                                      const char* name, stretto_kernel_t* kernel) {
  driver_call(client);
  for (size_t i = 0; i < module->kernels; ++i) {
    if (strcmp(module->kernel[i].name, name) != 0) continue;
    *kernel = (stretto_kernel_t){.object = module->base + module->kernel[i].offset,
                                 .descriptor = module->kernel[i].descriptor};
    return STRETTO_OK;
  }
  return driver_fail(client, STRETTO_ERROR_KERNEL, "module_kernel: no kernel %s in this module",
                     name);
}

int driver_complete(stretto_client_t* client, stretto_stream_t* stream, uint64_t packet) {
  while (stream->checked <= packet && stream->checked != stream->written) {
    if (!stream->preempted) {
      driver_check_oldest(client, stream);
    } else if (!driver_look_at_oldest(client, stream)) {
      return 0;
    }
  }
  return 1;
}

// A place for arguments that no running kernel reads, of a launch that is complete with packet
// `last`: the next one in the ring whose kernels have ended.
static stretto_status_t argument_place(stretto_client_t* client, stretto_stream_t* stream,
                                       uint64_t last, uint32_t bytes, uint64_t* address) {
  const uint32_t units =
      (uint32_t)(((uint64_t)bytes + ARGUMENT_ALIGNMENT - 1) / ARGUMENT_ALIGNMENT);
  *address = client->argument_buffer;
  if (units == 0) return STRETTO_OK;  // Nothing is written, nothing read.
  if (units > ARGUMENT_UNITS)
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "launch: %u bytes of arguments", bytes);
  uint32_t begin = client->argument_next;
  uint32_t passed = 0;
  for (uint32_t found = 0; found != units;) {
    if (begin + units > ARGUMENT_UNITS) {
      passed += ARGUMENT_UNITS - begin;
      begin = found = 0;
    }
    if (passed > ARGUMENT_UNITS)
      return driver_fail(
          client, STRETTO_ERROR_TABLE_FULL,
          "launch: no room for arguments: all of it is of this pipeline or of preempted streams");
    argument_owner_t* owner = &client->argument[begin + found];
    const int pending = owner->stream != NULL && owner->packet >= owner->stream->written;
    if (owner->stream == NULL ||
        (!pending && driver_complete(client, owner->stream, owner->packet))) {
      ++found;
      continue;
    }
    passed += found + 1;
    begin += found + 1;
    found = 0;
  }
  for (uint32_t i = 0; i < units; ++i)
    client->argument[begin + i] = (argument_owner_t){.stream = stream, .packet = last};
  *address = client->argument_buffer + begin * ARGUMENT_ALIGNMENT;
  client->argument_next = begin + units;
  return STRETTO_OK;
}

uint32_t driver_account_of(const stretto_client_t* client, uint32_t account) {
  return account < STRETTO_ACCOUNT_JOB ? account : account + client->options.account_base;
}

stretto_status_t driver_bad_account(stretto_client_t* client, const char* call, uint32_t account) {
  return driver_fail(client, STRETTO_ERROR_ARGUMENT, "%s: account %u (0..%u)", call, account,
                     STRETTO_ACCOUNTS - 1u);
}

// Names the first resource of which the kernel needs more than a compute unit has.
static stretto_status_t check_resources(stretto_client_t* client,
                                        const stretto_kernel_descriptor_t* d) {
  const stretto_client_options_t* unit = &client->options;
  const struct {
    const char* name;
    uint32_t needed, available;
  } resources[] = {
      {"bytes of registers", d->registers_bytes, unit->unit_registers_bytes},
      {"bytes of LDS", d->lds_bytes, unit->unit_lds_bytes},
      {"wavefronts", d->wavefronts, unit->unit_wavefronts},
  };
  if (unit->unit_wavefronts == 0) return STRETTO_OK;
  for (size_t i = 0; i < sizeof resources / sizeof resources[0]; ++i) {
    if (resources[i].needed <= resources[i].available) continue;
    return driver_fail(client, STRETTO_ERROR_RESOURCES, "launch: %s: %u %s, it has %u",
                       stretto_status_text(STRETTO_ERROR_RESOURCES), resources[i].needed,
                       resources[i].name, resources[i].available);
  }
  return STRETTO_OK;
}

// A kernel behind a kernel acquires at device scope if it may: nobody else has written since. All
// others acquire at system scope: host, DMA engine or peers may have written what the L2 holds.
static uint32_t scopes_of(const stretto_client_t* client, stretto_stream_t* stream,
                          const stretto_launch_t* launch) {
  const int device = launch->device_scope;
  const int alone = device && !launch->system_acquire && stream->behind_kernel &&
                    stream->acquired == client->host_writes;
  stream->acquired = client->host_writes;
  stream->behind_kernel = 1;
  stream->unreleased = device || (stream->unreleased && !launch->after_all_earlier);
  return STRETTO_PACKET_SCOPES(alone ? STRETTO_SCOPE_DEVICE : STRETTO_SCOPE_SYSTEM,
                               device ? STRETTO_SCOPE_DEVICE : STRETTO_SCOPE_SYSTEM);
}

// What a call that launches costs: once, whatever the number of kernels. A graph of kernels is submitted by one call of the
// framework (NVIDIA, "Constant Time Launch for Straight-Line CUDA Graphs", 2024: 2.5 us and some ns a kernel).
static void charge_launch(stretto_client_t* client) {
  driver_call(client);
  driver_charge(client, client->options.costs.launch_ns);
}

// Checks a launch, writes its arguments and fills its packet; all is complete with packet `last`.
static stretto_status_t dispatch(stretto_client_t* client, stretto_stream_t* stream, uint64_t last,
                                 const stretto_launch_t* launch, stretto_packet_t* packet) {
  const stretto_kernel_descriptor_t* d = &launch->kernel->descriptor;
  const uint32_t y = launch->grid_y != 0 ? launch->grid_y : 1;
  const uint32_t z = launch->grid_z != 0 ? launch->grid_z : 1;
  const uint32_t most = launch->update ? 65536u : STRETTO_MAX_GRID;  // 16-bit ids of output tiles.
  const uint32_t row = launch->work_groups;
  if (row == 0 || row > UINT32_MAX / d->wavefronts || (y | z) > STRETTO_MAX_GRID_YZ ||
      (uint64_t)y * z > most / row) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "launch: %u x %u x %u work-groups; 1..%u in all, y and z at most %u", row, y,
                       z, most, STRETTO_MAX_GRID_YZ);
  }
  const uint32_t grid = row * y * z;
  if (launch->type != 0 && launch->type != STRETTO_DISPATCH_TYPE(STRETTO_KERNEL_SIMT) &&
      launch->type != STRETTO_DISPATCH_TYPE(STRETTO_KERNEL_TENSOR)) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "launch: type %#x", launch->type);
  }
  if (launch->argument_bytes != d->kernarg_bytes) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "launch: %u bytes of arguments, the kernel has %u", launch->argument_bytes,
                       d->kernarg_bytes);
  }
  if ((uint64_t)launch->first + launch->count > grid) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "launch: block range %u + %u of %u",
                       launch->first, launch->count, grid);
  }
  const uint32_t count = launch->count != 0 ? launch->count : grid - launch->first;
  if (launch->stagger >= count) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "launch: stagger %u of %u work-groups",
                       launch->stagger, count);
  }
  const int range = launch->first > 0xFFFF || launch->count > 0x1FFFF;
  if (launch->stagger > 0xFFFF || (range && (launch->stagger | launch->batch) != 0)) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "launch: stagger %u, %u a gate: not with ids above 65535", launch->stagger,
                       launch->batch);
  }
  if (driver_account_of(client, launch->account) >= STRETTO_ACCOUNTS)
    return driver_bad_account(client, "launch", launch->account);
  if (launch->batch > STRETTO_ORDER_MAX_BATCH ||
      (launch->batch != 0 && (count - 1) / launch->batch >= STRETTO_GATES)) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "launch: %u work-groups, %u a gate, and a GPU has %u gates", count,
                       launch->batch, STRETTO_GATES);
  }
  uint64_t arguments = 0;
  stretto_status_t status = check_resources(client, d);
  if (status != STRETTO_OK) return status;
  status = argument_place(client, stream, last, launch->argument_bytes, &arguments);
  if (status != STRETTO_OK) return status;
  if (launch->argument_bytes != 0)
    client->ops.write(client->ops.context, arguments, launch->arguments, launch->argument_bytes);
  packet->dispatch = (stretto_dispatch_packet_t){
      .header = (uint16_t)(STRETTO_PACKET_KERNEL_DISPATCH | scopes_of(client, stream, launch) |
                           (launch->after_all_earlier ? STRETTO_PACKET_BARRIER : 0)),
      .setup = (uint16_t)(1 + ((y | z) > 1) + (z > 1)),
      .workgroup_size_x = (uint16_t)d->wavefronts,
      .workgroup_size_y = 1,
      .workgroup_size_z = 1,
      .flags =
          (uint16_t)((launch->update ? STRETTO_DISPATCH_UPDATE : 0) |
                     (launch->communication ? STRETTO_DISPATCH_COMMUNICATION : 0) |
                     (range ? STRETTO_DISPATCH_RANGE : 0) | launch->type |
                     driver_account_of(client, launch->account) << STRETTO_DISPATCH_ACCOUNT_SHIFT),
      .grid_size_x = row * d->wavefronts,
      .grid_size_y = y,
      .grid_size_z = z,
      .kernel_object = launch->kernel->object,
      .kernarg_address = arguments,
      .order = range ? STRETTO_RANGE(launch->first, launch->count)
                     : STRETTO_ORDER(launch->first, launch->count, launch->stagger, launch->batch),
  };
  return STRETTO_OK;
}

stretto_status_t driver_launch(stretto_client_t* client, stretto_stream_t* stream,
                               const stretto_launch_t* launch) {
  charge_launch(client);
  stretto_packet_t packet;
  const stretto_status_t status = dispatch(client, stream, stream->written, launch, &packet);
  return status == STRETTO_OK ? driver_put(client, stream, &packet) : status;
}

stretto_status_t driver_launch_pipeline(stretto_client_t* client, stretto_stream_t* stream,
                                        const stretto_launch_t* members, uint32_t count) {
  if (count == 0 || count > STRETTO_PIPELINE_MEMBERS) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "pipeline: %u kernels (1..%u)", count,
                       STRETTO_PIPELINE_MEMBERS);
  }
  charge_launch(client);
  stretto_packet_t packets[STRETTO_PIPELINE_MEMBERS];
  const stretto_status_t room = driver_queue_room(client, stream, count + 1);
  if (room != STRETTO_OK) return room;
  const uint64_t last = stream->written + count;
  for (uint32_t i = 0; i < count; ++i) {
    if (members[i].batch != 0) {
      return driver_fail(client, STRETTO_ERROR_ARGUMENT, "pipeline: kernel %u waits for gates", i);
    }
    const stretto_status_t status = dispatch(client, stream, last, &members[i], &packets[i]);
    if (status == STRETTO_OK) continue;
    stream->behind_kernel = 0;  // Those before it have acquired nothing.
    for (uint32_t unit = 0; unit < ARGUMENT_UNITS; ++unit) {
      argument_owner_t* owner = &client->argument[unit];
      if (owner->stream == stream && owner->packet == last) owner->stream = NULL;
    }
    return status;
  }
  stretto_packet_t packet = driver_vendor(STRETTO_OP_PIPELINE, 0);
  packet.vendor.header |= members[0].after_all_earlier ? STRETTO_PACKET_BARRIER : 0;
  packet.vendor.pipeline = (stretto_pipeline_t){.members = count};
  stretto_status_t status = driver_put(client, stream, &packet);
  for (uint32_t i = 0; i < count && status == STRETTO_OK; ++i)
    status = driver_put(client, stream, &packets[i]);
  return status;
}

// Who is served first

stretto_status_t driver_stream_priority(stretto_client_t* client, stretto_stream_t* stream,
                                        uint32_t priority) {
  driver_call(client);
  if (priority >= STRETTO_PRIORITIES) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "stream_priority: %u (0..%u)", priority,
                       STRETTO_PRIORITIES - 1);
  }
  stretto_packet_t packet = driver_vendor(STRETTO_OP_PRIORITY, 0);
  packet.vendor.priority = (stretto_priority_t){.priority = priority};
  return driver_submit(client, stream, &packet);
}

static stretto_status_t preemption(stretto_client_t* client, stretto_stream_t* stream,
                                   stretto_operation_t operation, const stretto_stream_t* other,
                                   int drain) {
  driver_call(client);
  if (other == stream) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "preempt, resume: of another stream than the one that says so");
  }
  stretto_packet_t packet = driver_vendor(operation, 0);
  packet.vendor.preempt = (stretto_preempt_t){.queue = other->queue, .drain = drain != 0};
  const stretto_status_t status = driver_submit(client, stream, &packet);
  for (uint32_t i = 0; i < client->streams && status == STRETTO_OK; ++i) {
    if (client->stream[i] == other) client->stream[i]->preempted = operation == STRETTO_OP_PREEMPT;
  }
  return status;
}

stretto_status_t driver_preempt(stretto_client_t* client, stretto_stream_t* stream,
                                const stretto_stream_t* other, int drain) {
  return preemption(client, stream, STRETTO_OP_PREEMPT, other, drain);
}

stretto_status_t driver_resume(stretto_client_t* client, stretto_stream_t* stream,
                               const stretto_stream_t* other) {
  return preemption(client, stream, STRETTO_OP_RESUME, other, 0);
}

stretto_status_t driver_scheduler_policy(stretto_client_t* client, stretto_stream_t* stream,
                                         const stretto_scheduler_policy_t* policy) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_SCHEDULER_POLICY, 0);
  packet.vendor.policy = *policy;
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_share(stretto_client_t* client, stretto_stream_t* stream,
                              const stretto_share_t* share) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_SHARE, 0);
  packet.vendor.share = *share;
  return driver_submit(client, stream, &packet);
}

static stretto_status_t time_slice(stretto_client_t* client, stretto_stream_t* stream,
                                   const stretto_time_slice_t* context) {
  stretto_packet_t packet = driver_vendor(STRETTO_OP_TIME_SLICE, 0);
  packet.vendor.time_slice = *context;
  return driver_submit(client, stream, &packet);
}

stretto_status_t driver_time_slice(stretto_client_t* client, stretto_stream_t* stream,
                                   const uint32_t* queues, uint32_t count, uint64_t slice_ns,
                                   uint64_t save_bytes) {
  driver_call(client);
  const stretto_time_slice_t none = {0};
  if (count == 0) return time_slice(client, stream, &none);
  for (uint32_t i = 0; i < count; ++i) {
    stretto_time_slice_t context = {
        .queues = queues[i], .slice_ns = slice_ns, .save_bytes = save_bytes};
    stretto_status_t status = STRETTO_OK;
    if (save_bytes != 0)
      status = driver_take_memory(client, save_bytes, STRETTO_L2_LINE_BYTES, &context.save_base);
    if (status == STRETTO_OK) status = time_slice(client, stream, &context);
    if (status != STRETTO_OK) return status;
  }
  return STRETTO_OK;
}

stretto_status_t driver_network(stretto_client_t* client, stretto_stream_t* stream,
                                uint64_t table) {
  driver_call(client);
  stretto_packet_t packet = driver_vendor(STRETTO_OP_NETWORK, 0);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.network = (stretto_network_t){.table = table};
  return driver_submit(client, stream, &packet);
}
