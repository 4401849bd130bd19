// SPDX-License-Identifier: Apache-2.0
// Host driver: see stretto_driver.h.
#include "sw/driver/stretto_driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/driver/internal.h"

#define ARGUMENT_ALIGNMENT 128u
#define ARGUMENT_UNITS (STRETTO_ARGUMENT_BUFFER_BYTES / ARGUMENT_ALIGNMENT)
#define COPY_BYTES 4096u  // Of one posted write.
#define MODULE_ALIGNMENT 4096u

static uint64_t host_address(uint64_t offset) {
  return ((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) + offset;
}

stretto_status_t driver_fail(stretto_client_t* client, stretto_status_t status, const char* format,
                             ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(client->error, sizeof client->error, format, arguments);
  va_end(arguments);
  return status;
}

const char* stretto_status_text(stretto_status_t status) {
  switch (status) {
    case STRETTO_OK: return "ok";
    case STRETTO_ERROR_PACKET: return "unknown packet";
    case STRETTO_ERROR_ARGUMENT: return "argument out of range";
    case STRETTO_ERROR_OVERLAP: return "map overlaps an earlier map";
    case STRETTO_ERROR_UNMAPPED: return "address or tile outside of what is mapped or configured";
    case STRETTO_ERROR_TABLE_FULL: return "no room left";
    case STRETTO_ERROR_RESOURCES: return "kernel needs more than a compute unit has";
    case STRETTO_ERROR_KERNEL: return "no such kernel";
    case STRETTO_ERROR_DEVICE: return "device error";
    case STRETTO_ERROR_FAULT: return "fault";
    case STRETTO_ERROR_STATE: return "not possible now";
  }
  return "unknown status";
}

static void call(const stretto_client_t* client) {
  client->ops.charge_cpu_ns(client->ops.context, client->options.costs.call_ns);
}

static void charge(const stretto_client_t* client, uint32_t nanoseconds) {
  if (nanoseconds != 0) client->ops.charge_cpu_ns(client->ops.context, nanoseconds);
}

// Packets and signals

static uint64_t signal_address(const stretto_client_t* client, const stretto_stream_t* stream,
                               uint64_t packet) {
  const uint64_t index =
      stream->queue * STRETTO_SIGNALS_PER_QUEUE + packet % STRETTO_SIGNALS_PER_QUEUE;
  return host_address(STRETTO_SIGNAL_OFFSET((uint64_t)client->options.gpu, index));
}

// The oldest packet not yet seen complete has ended so.
static void note_oldest(stretto_client_t* client, stretto_stream_t* stream,
                        stretto_status_t status) {
  if (status != STRETTO_OK && stream->error == STRETTO_OK) {
    stream->error = status;
    driver_fail(client, status, "gpu %u queue %u packet %llu: %s", client->options.gpu,
                stream->queue, (unsigned long long)stream->checked, stretto_status_text(status));
  }
  ++stream->checked;
}

// Waits for it.
static void check_oldest(stretto_client_t* client, stretto_stream_t* stream) {
  const uint64_t address = signal_address(client, stream, stream->checked);
  note_oldest(client, stream,
              (stretto_status_t)(int64_t)client->ops.wait(
                  client->ops.context, address, STRETTO_WAIT_NOT_EQUAL, STRETTO_SIGNAL_PENDING));
}

// Looks whether it is complete.
static int look_at_oldest(stretto_client_t* client, stretto_stream_t* stream) {
  uint64_t word = STRETTO_SIGNAL_PENDING;
  client->ops.read(client->ops.context, signal_address(client, stream, stream->checked), &word,
                   sizeof word);
  if (word == STRETTO_SIGNAL_PENDING) return 0;
  note_oldest(client, stream, (stretto_status_t)(int64_t)word);
  return 1;
}

// Waits until the queue has room for so many packets; refused if that takes a resume.
static stretto_status_t queue_room(stretto_client_t* client, stretto_stream_t* stream,
                                   uint32_t packets) {
  const stretto_host_ops_t* ops = &client->ops;
  const uint64_t needed = stream->written + packets;
  if (needed - stream->read <= STRETTO_QUEUE_PACKETS) return STRETTO_OK;
  const uint64_t address =
      host_address(STRETTO_READ_INDEX_OFFSET((uint64_t)client->options.gpu, stream->queue));
  const uint64_t wanted = needed - STRETTO_QUEUE_PACKETS;
  if (stream->preempted) {
    ops->read(ops->context, address, &stream->read, sizeof stream->read);
    if (stream->read < wanted)
      return driver_fail(client, STRETTO_ERROR_TABLE_FULL,
                         "queue %u: its %u packets wait, and its stream is preempted",
                         stream->queue, STRETTO_QUEUE_PACKETS);
  } else {
    stream->read = ops->wait(ops->context, address, STRETTO_WAIT_AT_LEAST, wanted);
  }
  return STRETTO_OK;
}

// Sets the completion signal of the packet and submits it.
static stretto_status_t put(stretto_client_t* client, stretto_stream_t* stream,
                            stretto_packet_t* packet) {
  const stretto_host_ops_t* ops = &client->ops;
  const uint32_t gpu = client->options.gpu;
  const uint64_t index = stream->written;
  while (index - stream->checked >= STRETTO_SIGNALS_PER_QUEUE) check_oldest(client, stream);
  const stretto_status_t status = queue_room(client, stream, 1);
  if (status != STRETTO_OK) return status;
  const uint64_t signal = signal_address(client, stream, index);
  ops->store(ops->context, signal, STRETTO_SIGNAL_PENDING);
  packet->vendor.completion_signal = signal;
  ops->charge_cpu_ns(ops->context, client->options.costs.packet_ns);
  const uint64_t slot = stretto_gpu_address(gpu, STRETTO_QUEUE_OFFSET((uint64_t)stream->queue)) +
                        index % STRETTO_QUEUE_PACKETS * sizeof *packet;
  // The header last, then the doorbell (posted writes keep their order).
  ops->write(ops->context, slot + 4, (const uint8_t*)packet + 4, sizeof *packet - 4);
  ops->write(ops->context, slot, packet, 4);
  ops->write(ops->context,
             stretto_gpu_address(gpu, STRETTO_DOORBELL_APERTURE) + 8ull * stream->queue, &index,
             sizeof index);
  stream->written = index + 1;
  return STRETTO_OK;
}

// Complete when all before it is, and what that left in the L2 has left it.
static stretto_status_t put_barrier(stretto_client_t* client, stretto_stream_t* stream) {
  const uint32_t release = stream->unreleased ? STRETTO_SCOPE_SYSTEM : 0u;
  stretto_packet_t packet = {0};
  packet.barrier.header = (uint16_t)(STRETTO_PACKET_BARRIER_AND | STRETTO_PACKET_BARRIER |
                                     STRETTO_PACKET_SCOPES(0u, release));
  stream->unreleased = stream->behind_kernel = 0;
  return put(client, stream, &packet);
}

// A packet other than a kernel reads or tells what kernels wrote: first all of it leaves the L2.
static stretto_status_t release_earlier(stretto_client_t* client, stretto_stream_t* stream) {
  return stream->unreleased ? put_barrier(client, stream) : STRETTO_OK;
}

static stretto_status_t submit(stretto_client_t* client, stretto_stream_t* stream,
                               stretto_packet_t* packet) {
  const stretto_status_t status = release_earlier(client, stream);
  if (status != STRETTO_OK) return status;
  stream->behind_kernel = 0;
  return put(client, stream, packet);
}

static stretto_packet_t vendor(stretto_operation_t operation, uint32_t flags) {
  stretto_packet_t packet = {0};
  packet.vendor.header = STRETTO_PACKET_VENDOR;
  packet.vendor.operation = (uint16_t)operation;
  packet.vendor.flags = flags;
  return packet;
}

// Memory

static stretto_status_t take_memory(stretto_client_t* client, uint64_t bytes, uint64_t alignment,
                                    uint64_t* address) {
  uint64_t next = client->memory_next;
  if (bytes == 0 || alignment < 64 || (alignment & (alignment - 1)) != 0) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "allocate: %llu bytes aligned to %llu",
                       (unsigned long long)bytes, (unsigned long long)alignment);
  }
  const uint64_t left = client->options.memory_end - next;
  if (bytes > left || alignment > left) {
    return driver_fail(client, STRETTO_ERROR_TABLE_FULL, "allocate: %llu bytes wanted, %llu left",
                       (unsigned long long)bytes, (unsigned long long)left);
  }
  const uint64_t offset = stretto_place(&next, bytes, alignment);
  if (next > client->options.memory_end) {
    return driver_fail(client, STRETTO_ERROR_TABLE_FULL, "allocate: %llu bytes wanted, %llu left",
                       (unsigned long long)bytes, (unsigned long long)left);
  }
  client->memory_next = next;
  *address = stretto_gpu_address(client->options.gpu, offset);
  return STRETTO_OK;
}

static int in_client_memory(const stretto_client_t* client, uint64_t address, uint64_t bytes) {
  const uint64_t offset = address - stretto_gpu_address(client->options.gpu, 0);
  return offset >= client->options.memory_begin && offset <= client->memory_next &&
         bytes <= client->memory_next - offset;
}

static stretto_status_t map_memory(stretto_client_t* client, stretto_stream_t* stream,
                                   uint64_t address, uint64_t bytes, uint32_t allocation) {
  stretto_packet_t packet = vendor(STRETTO_OP_LOCAL_MAP, 0);
  packet.vendor.map = (stretto_map_t){
      .base = address, .row_bytes = bytes, .rows = 1, .allocation = (uint8_t)allocation};
  return submit(client, stream, &packet);
}

static stretto_status_t do_allocate(stretto_client_t* client, stretto_stream_t* stream,
                                    uint64_t bytes, uint64_t alignment, uint32_t allocation,
                                    uint64_t* address) {
  call(client);
  if (allocation > STRETTO_ALLOCATION_SHARED) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "allocate: class %u", allocation);
  }
  if (allocation == STRETTO_ALLOCATION_SHARED) {  // Whole lines of the L2.
    if (alignment < STRETTO_SHARED_ALIGNMENT) alignment = STRETTO_SHARED_ALIGNMENT;
    bytes = (bytes + STRETTO_SHARED_ALIGNMENT - 1) & ~(uint64_t)(STRETTO_SHARED_ALIGNMENT - 1);
  }
  const stretto_status_t status = take_memory(client, bytes, alignment, address);
  return status == STRETTO_OK ? map_memory(client, stream, *address, bytes, allocation) : status;
}

static stretto_status_t do_release(stretto_client_t* client, stretto_stream_t* stream,
                                   uint64_t address) {
  call(client);
  if (!in_client_memory(client, address, 1)) {
    return driver_fail(client, STRETTO_ERROR_UNMAPPED, "release: 0x%llx is not allocated",
                       (unsigned long long)address);
  }
  stretto_packet_t packet = vendor(STRETTO_OP_UNMAP, 0);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.map = (stretto_map_t){.base = address};
  return submit(client, stream, &packet);
}

static stretto_status_t do_map(stretto_client_t* client, stretto_stream_t* stream, uint64_t address,
                               uint64_t bytes, uint32_t allocation) {
  call(client);
  const int whole_lines = (address | bytes) % STRETTO_SHARED_ALIGNMENT == 0;
  if (bytes == 0 || allocation > STRETTO_ALLOCATION_SHARED ||
      (allocation == STRETTO_ALLOCATION_SHARED && !whole_lines) ||
      !in_client_memory(client, address, bytes)) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "map: 0x%llx, %llu bytes, class %u",
                       (unsigned long long)address, (unsigned long long)bytes, allocation);
  }
  return map_memory(client, stream, address, bytes, allocation);
}

static stretto_status_t do_copy_to_device(stretto_client_t* client, uint64_t address,
                                          const void* data, uint64_t bytes) {
  call(client);
  const uint64_t offset = address - stretto_gpu_address(client->options.gpu, 0);
  if (offset < client->options.memory_begin || offset > client->memory_next ||
      bytes > client->memory_next - offset) {
    return driver_fail(client, STRETTO_ERROR_UNMAPPED, "copy_to_device: 0x%llx is not allocated",
                       (unsigned long long)address);
  }
  ++client->host_writes;
  for (uint64_t done = 0; done < bytes; done += COPY_BYTES) {
    const uint64_t piece = bytes - done < COPY_BYTES ? bytes - done : COPY_BYTES;
    client->ops.write(client->ops.context, address + done, (const uint8_t*)data + done, piece);
  }
  return STRETTO_OK;
}

// Streams and events

static stretto_status_t do_stream_create(stretto_client_t* client, stretto_stream_t** stream) {
  call(client);
  if (client->streams == client->options.queue_count) {
    return driver_fail(client, STRETTO_ERROR_TABLE_FULL, "stream_create: all %u queues are in use",
                       client->streams);
  }
  stretto_stream_t* created = calloc(1, sizeof *created);
  if (created == NULL)
    return driver_fail(client, STRETTO_ERROR_TABLE_FULL, "stream_create: no host memory");
  created->queue = client->options.first_queue + client->streams;
  client->stream[client->streams++] = created;
  *stream = created;
  return STRETTO_OK;
}

static stretto_status_t do_stream_synchronize(stretto_client_t* client, stretto_stream_t* stream) {
  call(client);
  const stretto_status_t released = release_earlier(client, stream);
  if (released != STRETTO_OK) return released;
  while (stream->checked != stream->written && stream->error == STRETTO_OK) {
    check_oldest(client, stream);
  }
  const stretto_status_t status = stream->error;
  stream->error = STRETTO_OK;
  return status;
}

static stretto_status_t do_event_record(stretto_client_t* client, stretto_stream_t* stream,
                                        stretto_event_t* event) {
  call(client);
  *event = (stretto_event_t){.stream = stream, .packet = stream->written};
  return put_barrier(client, stream);
}

static stretto_status_t do_event_synchronize(stretto_client_t* client,
                                             const stretto_event_t* event) {
  call(client);
  if (event->packet >= event->stream->written)
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "event was never recorded");
  while (event->stream->checked <= event->packet) check_oldest(client, event->stream);
  return STRETTO_OK;
}

static stretto_status_t do_event_of_last(stretto_client_t* client, stretto_stream_t* stream,
                                         stretto_event_t* event) {
  if (stream->written == 0)
    return driver_fail(client, STRETTO_ERROR_STATE, "event: nothing was submitted to queue %u",
                       stream->queue);
  *event = (stretto_event_t){.stream = stream, .packet = stream->written - 1};
  return STRETTO_OK;
}

static int do_event_query(stretto_client_t* client, const stretto_event_t* event) {
  stretto_stream_t* stream = event->stream;
  if (event->packet >= stream->written) return 0;
  while (stream->checked <= event->packet) {
    if (!look_at_oldest(client, stream)) return 0;
  }
  return 1;
}

static stretto_host_word_t do_event_word(const stretto_client_t* client,
                                         const stretto_event_t* event) {
  const stretto_stream_t* stream = event->stream;
  // Packets may complete in another order: the oldest comes first.
  const uint64_t next = stream->checked < event->packet ? stream->checked : event->packet;
  return (stretto_host_word_t){.address = signal_address(client, stream, next),
                               .condition = STRETTO_WAIT_NOT_EQUAL,
                               .value = STRETTO_SIGNAL_PENDING};
}

// Modules and launches

static stretto_status_t do_module_load(stretto_client_t* client, const void* elf, size_t bytes,
                                       stretto_module_t** module) {
  call(client);
  uint64_t image_bytes = 0;
  uint64_t base = 0;
  stretto_status_t status =
      kernel_image_size(elf, bytes, &image_bytes, client->error, sizeof client->error);
  if (status != STRETTO_OK) return status;
  client->ops.charge_cpu_ns(client->ops.context,
                            client->options.costs.load_ns_per_kib * (image_bytes / 1024));
  status = take_memory(client, image_bytes, MODULE_ALIGNMENT, &base);
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
  status = do_copy_to_device(client, base, image.data, image.bytes);
  free(image.data);
  if (client->ops.code_loaded != NULL)
    client->ops.code_loaded(client->ops.context, base, elf, bytes);
  *module = loaded;
  return status;
}

static stretto_status_t do_module_kernel(stretto_client_t* client, const stretto_module_t* module,
                                         const char* name, stretto_kernel_t* kernel) {
  call(client);
  for (size_t i = 0; i < module->kernels; ++i) {
    if (strcmp(module->kernel[i].name, name) != 0) continue;
    *kernel = (stretto_kernel_t){.object = module->base + module->kernel[i].offset,
                                 .descriptor = module->kernel[i].descriptor};
    return STRETTO_OK;
  }
  return driver_fail(client, STRETTO_ERROR_KERNEL, "module_kernel: no kernel %s in this module",
                     name);
}

// Whether the packet is complete. Waits for it, but not for one of a stream that this client has
// preempted: who would resume it?
static int complete(stretto_client_t* client, stretto_stream_t* stream, uint64_t packet) {
  while (stream->checked <= packet && stream->checked != stream->written) {
    if (!stream->preempted) {
      check_oldest(client, stream);
    } else if (!look_at_oldest(client, stream)) {
      return 0;
    }
  }
  return 1;
}

// A place for arguments that no running kernel reads, of a launch that is complete with packet
// `last`: the next one in the ring whose kernels have ended.
static stretto_status_t argument_place(stretto_client_t* client, stretto_stream_t* stream,
                                       uint64_t last, uint32_t bytes, uint64_t* address) {
  const uint32_t units = (bytes + ARGUMENT_ALIGNMENT - 1) / ARGUMENT_ALIGNMENT;
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
    if (owner->stream == NULL || (!pending && complete(client, owner->stream, owner->packet))) {
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

// The account of the machine behind one of this client's job.
static uint32_t account_of(const stretto_client_t* client, uint32_t account) {
  return account < STRETTO_ACCOUNT_JOB ? account : account + client->options.account_base;
}

static stretto_status_t bad_account(stretto_client_t* client, const char* call, uint32_t account) {
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

// Checks a launch, writes its arguments and fills its packet; all is complete with packet `last`.
static stretto_status_t dispatch(stretto_client_t* client, stretto_stream_t* stream, uint64_t last,
                                 const stretto_launch_t* launch, stretto_packet_t* packet) {
  call(client);
  charge(client, client->options.costs.launch_ns);
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
  if (account_of(client, launch->account) >= STRETTO_ACCOUNTS)
    return bad_account(client, "launch", launch->account);
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
  client->ops.write(client->ops.context, arguments, launch->arguments, launch->argument_bytes);
  packet->dispatch = (stretto_dispatch_packet_t){
      .header = (uint16_t)(STRETTO_PACKET_KERNEL_DISPATCH | scopes_of(client, stream, launch) |
                           (launch->after_all_earlier ? STRETTO_PACKET_BARRIER : 0)),
      .setup = (uint16_t)(1 + ((y | z) > 1) + (z > 1)),
      .workgroup_size_x = (uint16_t)d->wavefronts,
      .workgroup_size_y = 1,
      .workgroup_size_z = 1,
      .flags = (uint16_t)((launch->update ? STRETTO_DISPATCH_UPDATE : 0) |
                          (launch->communication ? STRETTO_DISPATCH_COMMUNICATION : 0) |
                          (range ? STRETTO_DISPATCH_RANGE : 0) | launch->type |
                          account_of(client, launch->account) << STRETTO_DISPATCH_ACCOUNT_SHIFT),
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

static stretto_status_t do_launch(stretto_client_t* client, stretto_stream_t* stream,
                                  const stretto_launch_t* launch) {
  stretto_packet_t packet;
  const stretto_status_t status = dispatch(client, stream, stream->written, launch, &packet);
  return status == STRETTO_OK ? put(client, stream, &packet) : status;
}

static stretto_status_t do_launch_pipeline(stretto_client_t* client, stretto_stream_t* stream,
                                           const stretto_launch_t* members, uint32_t count) {
  if (count == 0 || count > STRETTO_PIPELINE_MEMBERS) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "pipeline: %u kernels (1..%u)", count,
                       STRETTO_PIPELINE_MEMBERS);
  }
  stretto_packet_t packets[STRETTO_PIPELINE_MEMBERS];
  const stretto_status_t room = queue_room(client, stream, count + 1);
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
  stretto_packet_t packet = vendor(STRETTO_OP_PIPELINE, 0);
  packet.vendor.header |= members[0].after_all_earlier ? STRETTO_PACKET_BARRIER : 0;
  packet.vendor.pipeline = (stretto_pipeline_t){.members = count};
  stretto_status_t status = put(client, stream, &packet);
  for (uint32_t i = 0; i < count && status == STRETTO_OK; ++i)
    status = put(client, stream, &packets[i]);
  return status;
}

// Who is served first

static stretto_status_t do_stream_priority(stretto_client_t* client, stretto_stream_t* stream,
                                           uint32_t priority) {
  call(client);
  if (priority >= STRETTO_PRIORITIES) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT, "stream_priority: %u (0..%u)", priority,
                       STRETTO_PRIORITIES - 1);
  }
  stretto_packet_t packet = vendor(STRETTO_OP_PRIORITY, 0);
  packet.vendor.priority = (stretto_priority_t){.priority = priority};
  return submit(client, stream, &packet);
}

static stretto_status_t preemption(stretto_client_t* client, stretto_stream_t* stream,
                                   stretto_operation_t operation, const stretto_stream_t* other,
                                   int drain) {
  call(client);
  if (other == stream) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "preempt, resume: of another stream than the one that says so");
  }
  stretto_packet_t packet = vendor(operation, 0);
  packet.vendor.preempt = (stretto_preempt_t){.queue = other->queue, .drain = drain != 0};
  const stretto_status_t status = submit(client, stream, &packet);
  for (uint32_t i = 0; i < client->streams && status == STRETTO_OK; ++i) {
    if (client->stream[i] == other) client->stream[i]->preempted = operation == STRETTO_OP_PREEMPT;
  }
  return status;
}

static stretto_status_t do_preempt(stretto_client_t* client, stretto_stream_t* stream,
                                   const stretto_stream_t* other, int drain) {
  return preemption(client, stream, STRETTO_OP_PREEMPT, other, drain);
}

static stretto_status_t do_resume(stretto_client_t* client, stretto_stream_t* stream,
                                  const stretto_stream_t* other) {
  return preemption(client, stream, STRETTO_OP_RESUME, other, 0);
}

static stretto_status_t do_scheduler_policy(stretto_client_t* client, stretto_stream_t* stream,
                                            const stretto_scheduler_policy_t* policy) {
  call(client);
  stretto_packet_t packet = vendor(STRETTO_OP_SCHEDULER_POLICY, 0);
  packet.vendor.policy = *policy;
  return submit(client, stream, &packet);
}

// L2 persistence

static stretto_status_t persist(stretto_client_t* client, stretto_stream_t* stream,
                                stretto_l2_persist_action_t action, uint64_t base, uint64_t bytes) {
  stretto_packet_t packet = vendor(STRETTO_OP_L2_PERSIST, 0);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.persist = (stretto_l2_persist_t){.base = base, .bytes = bytes, .action = action};
  return submit(client, stream, &packet);
}

static stretto_status_t do_set_persisting_l2_cache_size(stretto_client_t* client,
                                                        stretto_stream_t* stream, uint64_t bytes) {
  call(client);
  const uint64_t way = client->options.l2_way_bytes, most = client->options.l2_persist_bytes;
  if (way != 0 && bytes != 0 && (bytes < way || bytes > most)) {
    return driver_fail(
        client, STRETTO_ERROR_ARGUMENT, "persisting L2 cache size: %llu bytes; 0, or %llu to %llu",
        (unsigned long long)bytes, (unsigned long long)way, (unsigned long long)most);
  }
  return persist(client, stream, STRETTO_L2_LIMIT, 0, bytes);
}

static stretto_status_t do_access_policy_window(stretto_client_t* client, stretto_stream_t* stream,
                                                uint64_t base, uint64_t bytes, int persisting) {
  call(client);
  if ((base | bytes) % STRETTO_L2_LINE_BYTES != 0 || bytes == 0 || bytes > UINT32_MAX ||
      !in_client_memory(client, base, bytes)) {
    return driver_fail(
        client, STRETTO_ERROR_ARGUMENT,
        "access policy window: 0x%llx, %llu bytes: multiples of %u, allocated, below "
        "4 GiB",
        (unsigned long long)base, (unsigned long long)bytes, STRETTO_L2_LINE_BYTES);
  }
  return persist(client, stream, persisting ? STRETTO_L2_PIN : STRETTO_L2_UNPIN, base, bytes);
}

static stretto_status_t do_reset_persisting_l2_cache(stretto_client_t* client,
                                                     stretto_stream_t* stream) {
  call(client);
  return persist(client, stream, STRETTO_L2_RESET, 0, 0);
}

// Fills, maps and configuration

static stretto_status_t do_fill(stretto_client_t* client, stretto_stream_t* stream,
                                uint64_t address, uint64_t bytes, uint64_t pattern,
                                uint32_t account) {
  call(client);
  account = account_of(client, account);
  if (account >= STRETTO_ACCOUNTS) return bad_account(client, "fill", account);
  stretto_packet_t packet = vendor(STRETTO_OP_FILL, 0);
  packet.vendor.fill = (stretto_fill_t){
      .address = address, .bytes = bytes, .pattern = pattern, .account = (uint8_t)account};
  return submit(client, stream, &packet);
}

static stretto_status_t do_copy(stretto_client_t* client, stretto_stream_t* stream,
                                uint64_t destination, uint64_t source, uint64_t bytes,
                                uint32_t account) {
  call(client);
  account = account_of(client, account);
  if (account >= STRETTO_ACCOUNTS) return bad_account(client, "copy", account);
  charge(client, client->options.costs.copy_ns);
  stretto_packet_t packet = vendor(STRETTO_OP_COPY, 0);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.copy = (stretto_copy_t){
      .source = source, .destination = destination, .bytes = bytes, .account = (uint8_t)account};
  return submit(client, stream, &packet);
}

static stretto_status_t do_signal(stretto_client_t* client, stretto_stream_t* stream,
                                  uint64_t address, uint64_t value) {
  call(client);
  stretto_packet_t packet = vendor(STRETTO_OP_SIGNAL, 0);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.signal = (stretto_signal_t){.address = address, .value = value};
  return submit(client, stream, &packet);
}

static stretto_status_t do_event_record_time(stretto_client_t* client, stretto_stream_t* stream,
                                             uint64_t time, uint64_t word, stretto_event_t* event) {
  call(client);
  stretto_packet_t packet = vendor(STRETTO_OP_SIGNAL, 0);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  packet.vendor.signal = (stretto_signal_t){.address = word, .time = time};
  const stretto_status_t status = submit(client, stream, &packet);
  *event = (stretto_event_t){.stream = stream, .packet = stream->written - 1};
  return status;
}

static stretto_status_t do_stream_wait(stretto_client_t* client, stretto_stream_t* stream,
                                       uint64_t address, uint64_t poll_ns) {
  call(client);
  stretto_packet_t packet = {0};
  packet.barrier = (stretto_barrier_packet_t){
      .header = STRETTO_PACKET_BARRIER_AND | STRETTO_PACKET_BARRIER,
      .dep_signal = {address},
      .poll_ns = poll_ns,
  };
  stream->behind_kernel = 0;  // What it waits for may be somebody else's data.
  return put(client, stream, &packet);
}

static stretto_status_t do_remote_map(stretto_client_t* client, stretto_stream_t* stream,
                                      uint64_t base, uint64_t bytes, uint64_t peer_base,
                                      uint32_t flags) {
  call(client);
  stretto_packet_t packet = vendor(STRETTO_OP_REMOTE_MAP, flags);
  packet.vendor.map = (stretto_map_t){.base = base,
                                      .peer_base = peer_base,
                                      .row_bytes = bytes,
                                      .rows = 1,
                                      .allocation = STRETTO_ALLOCATION_UNCACHED};
  return submit(client, stream, &packet);
}

static stretto_status_t do_configure_output(stretto_client_t* client, stretto_stream_t* stream,
                                            const stretto_output_config_t* output) {
  call(client);
  stretto_packet_t packet = vendor(STRETTO_OP_OUTPUT_CONFIG, 0);
  packet.vendor.output = *output;
  packet.vendor.output.account = (uint8_t)account_of(client, output->account);
  return submit(client, stream, &packet);
}

static stretto_status_t map_tiles(stretto_client_t* client, stretto_stream_t* stream,
                                  stretto_operation_t operation, const stretto_tile_map_t* map) {
  call(client);
  if (map->updates > 255 || map->block_tiles > 65535 ||
      map->allocation > STRETTO_ALLOCATION_UNCACHED) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "tile map: %u updates, %u tiles a block, class %u", map->updates,
                       map->block_tiles, map->allocation);
  }
  stretto_packet_t packet = vendor(operation, map->flags | STRETTO_MAP_TILES);
  packet.vendor.map = (stretto_map_t){.peer_base = map->peer_base,
                                      .first_tile = map->first_tile,
                                      .tile_count = map->tile_count,
                                      .block_tiles = (uint16_t)map->block_tiles,
                                      .updates = (uint8_t)map->updates,
                                      .allocation = (uint8_t)map->allocation};
  return submit(client, stream, &packet);
}

static stretto_status_t do_remote_map_tiles(stretto_client_t* client, stretto_stream_t* stream,
                                            const stretto_tile_map_t* map) {
  return map_tiles(client, stream, STRETTO_OP_REMOTE_MAP, map);
}

static stretto_status_t do_dma_map_tiles(stretto_client_t* client, stretto_stream_t* stream,
                                         const stretto_tile_map_t* map) {
  return map_tiles(client, stream, STRETTO_OP_DMA_MAP, map);
}

static stretto_status_t do_local_map_tiles(stretto_client_t* client, stretto_stream_t* stream,
                                           const stretto_tile_map_t* map) {
  return map_tiles(client, stream, STRETTO_OP_LOCAL_MAP, map);
}

static stretto_status_t do_configure_gates(stretto_client_t* client, stretto_stream_t* stream,
                                           const stretto_gates_t* gates) {
  call(client);
  stretto_packet_t packet = vendor(STRETTO_OP_GATES, 0);
  packet.vendor.gates = *gates;
  return submit(client, stream, &packet);
}

static stretto_status_t do_spill_table(stretto_client_t* client, stretto_stream_t* stream,
                                       uint64_t base, uint64_t bytes) {
  call(client);
  stretto_packet_t packet = vendor(STRETTO_OP_SPILL_TABLE, 0);
  packet.vendor.spill = (stretto_spill_table_t){.base = base, .bytes = bytes};
  return submit(client, stream, &packet);
}

static stretto_status_t do_configure_mca(stretto_client_t* client, stretto_stream_t* stream,
                                         const stretto_mca_config_t* mca, uint32_t flags) {
  call(client);
  stretto_packet_t packet = vendor(STRETTO_OP_MCA_CONFIG, flags);
  packet.vendor.mca = *mca;
  return submit(client, stream, &packet);
}

static stretto_status_t do_reset_maps(stretto_client_t* client, stretto_stream_t* stream,
                                      uint32_t flags) {
  call(client);
  stretto_packet_t packet = vendor(STRETTO_OP_RESET_MAPS, flags);
  packet.vendor.header |= STRETTO_PACKET_BARRIER;
  return submit(client, stream, &packet);
}

static stretto_status_t do_collective_wait(stretto_client_t* client, stretto_stream_t* stream) {
  call(client);
  stretto_packet_t packet = vendor(STRETTO_OP_COLLECTIVE_WAIT, 0);
  return submit(client, stream, &packet);
}

// The request ring

static stretto_status_t do_ring_start(stretto_client_t* client, stretto_stream_t* stream,
                                      uint64_t replica, uint64_t sc_base, uint32_t batch) {
  call(client);
  if (!in_client_memory(client, replica, 8) ||
      !in_client_memory(client, sc_base, STRETTO_SEND_FLAG_BYTES)) {
    return driver_fail(client, STRETTO_ERROR_UNMAPPED,
                       "ring_start: replica or send flags are not allocated");
  }
  stretto_packet_t packet = vendor(STRETTO_OP_RING_CONFIG, 0);
  packet.vendor.ring =
      (stretto_ring_config_t){.replica = replica, .sc_base = sc_base, .batch = batch};
  return submit(client, stream, &packet);
}

static stretto_status_t do_ring_connect(stretto_client_t* client, stretto_stream_t* stream,
                                        uint32_t connection, uint32_t peer, uint64_t rc_base,
                                        uint32_t limit) {
  call(client);
  if (connection >= STRETTO_SEND_CONNECTIONS || limit > 15) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "ring_connect: connection %u (0..%u), limit %u", connection,
                       STRETTO_SEND_CONNECTIONS - 1, limit);
  }
  stretto_packet_t packet = vendor(STRETTO_OP_RING_CONNECTION, 0);
  packet.vendor.connection = (stretto_ring_connection_t){
      .rc_base = rc_base, .connection = connection, .peer = peer, .limit = limit};
  return submit(client, stream, &packet);
}

static stretto_status_t set_ring_buffer(stretto_client_t* client, stretto_stream_t* stream,
                                        uint32_t id, const stretto_ring_export_t* what) {
  if (id >= STRETTO_SEND_BUFFERS || what->unit_shift > STRETTO_SEND_MAX_UNIT_SHIFT ||
      what->bytes % (1ull << what->unit_shift) != 0 ||
      what->bytes >> what->unit_shift > STRETTO_SEND_MAX_UNITS) {
    return driver_fail(client, STRETTO_ERROR_ARGUMENT,
                       "ring buffer %u of %llu bytes in units of 2^%u: at most id %u, unit 2^%u, "
                       "%u whole units",
                       id, (unsigned long long)what->bytes, what->unit_shift,
                       STRETTO_SEND_BUFFERS - 1, STRETTO_SEND_MAX_UNIT_SHIFT,
                       STRETTO_SEND_MAX_UNITS);
  }
  if (client->ring_buffers == NULL) {
    client->ring_buffers = calloc(STRETTO_SEND_BUFFERS, sizeof *client->ring_buffers);
    if (client->ring_buffers == NULL)
      return driver_fail(client, STRETTO_ERROR_TABLE_FULL, "ring buffer: no host memory");
  }
  client->ring_buffers[id] = *what;
  stretto_packet_t packet = vendor(STRETTO_OP_RING_BUFFER, what->flags);
  packet.vendor.buffer = (stretto_ring_buffer_t){
      .base = what->base, .bytes = what->bytes, .buffer = id, .unit_shift = what->unit_shift};
  return submit(client, stream, &packet);
}

static stretto_status_t do_ring_register(stretto_client_t* client, stretto_stream_t* stream,
                                         uint32_t id, uint64_t base, uint64_t bytes,
                                         uint32_t unit_shift, uint32_t flags) {
  call(client);
  if (bytes == 0 || !in_client_memory(client, base, bytes)) {
    return driver_fail(client, STRETTO_ERROR_UNMAPPED,
                       "ring_register: buffer %u: 0x%llx, %llu bytes are not allocated", id,
                       (unsigned long long)base, (unsigned long long)bytes);
  }
  const stretto_ring_export_t what = {
      .base = base, .bytes = bytes, .unit_shift = unit_shift, .flags = flags};
  return set_ring_buffer(client, stream, id, &what);
}

static stretto_status_t do_ring_export(stretto_client_t* client, uint32_t id,
                                       stretto_ring_export_t* exported) {
  call(client);
  const stretto_ring_export_t* what =
      id < STRETTO_SEND_BUFFERS && client->ring_buffers != NULL ? &client->ring_buffers[id] : NULL;
  if (what == NULL || what->bytes == 0 || !in_client_memory(client, what->base, what->bytes))
    return driver_fail(client, STRETTO_ERROR_UNMAPPED,
                       "ring_export: buffer %u is not registered here", id);
  *exported = *what;
  return STRETTO_OK;
}

static stretto_status_t do_ring_import(stretto_client_t* client, stretto_stream_t* stream,
                                       uint32_t id, const stretto_ring_export_t* exported) {
  call(client);
  return set_ring_buffer(client, stream, id, exported);
}

static stretto_status_t do_ring_unregister(stretto_client_t* client, stretto_stream_t* stream,
                                           uint32_t id) {
  call(client);
  const stretto_ring_export_t nothing = {0};
  return set_ring_buffer(client, stream, id, &nothing);
}

static const char* do_last_error(const stretto_client_t* client) { return client->error; }

static const stretto_api_t kApi = {
    .allocate = do_allocate,
    .stream_create = do_stream_create,
    .stream_synchronize = do_stream_synchronize,
    .event_record = do_event_record,
    .event_synchronize = do_event_synchronize,
    .copy_to_device = do_copy_to_device,
    .module_load = do_module_load,
    .module_kernel = do_module_kernel,
    .launch = do_launch,
    .fill = do_fill,
    .copy = do_copy,
    .signal = do_signal,
    .stream_wait = do_stream_wait,
    .remote_map = do_remote_map,
    .configure_output = do_configure_output,
    .remote_map_tiles = do_remote_map_tiles,
    .dma_map_tiles = do_dma_map_tiles,
    .local_map_tiles = do_local_map_tiles,
    .configure_gates = do_configure_gates,
    .spill_table = do_spill_table,
    .configure_mca = do_configure_mca,
    .reset_maps = do_reset_maps,
    .collective_wait = do_collective_wait,
    .ring_start = do_ring_start,
    .ring_connect = do_ring_connect,
    .ring_register = do_ring_register,
    .ring_export = do_ring_export,
    .ring_import = do_ring_import,
    .ring_unregister = do_ring_unregister,
    .last_error = do_last_error,
    .release = do_release,
    .map = do_map,
    .stream_priority = do_stream_priority,
    .preempt = do_preempt,
    .resume = do_resume,
    .launch_pipeline = do_launch_pipeline,
    .scheduler_policy = do_scheduler_policy,
    .set_persisting_l2_cache_size = do_set_persisting_l2_cache_size,
    .access_policy_window = do_access_policy_window,
    .reset_persisting_l2_cache = do_reset_persisting_l2_cache,
    .event_of_last = do_event_of_last,
    .event_query = do_event_query,
    .event_word = do_event_word,
    .event_record_time = do_event_record_time,
};

stretto_client_t* stretto_client_create(const stretto_client_options_t* options,
                                        const stretto_host_ops_t* ops) {
  if (options->gpu >= STRETTO_MAX_GPUS || options->queue_count == 0 ||
      options->first_queue + options->queue_count > STRETTO_QUEUE_COUNT) {
    return NULL;
  }
  if (options->memory_begin < STRETTO_SYSTEM_BYTES ||
      options->memory_end > STRETTO_GPU_MEMORY_LIMIT ||
      options->memory_begin > options->memory_end) {
    return NULL;
  }
  stretto_client_t* client = calloc(1, sizeof *client);
  if (client == NULL) return NULL;
  client->argument = calloc(ARGUMENT_UNITS, sizeof *client->argument);
  client->api = &kApi;
  client->ops = *ops;
  client->options = *options;
  client->memory_next = options->memory_begin;
  if (client->argument == NULL ||
      take_memory(client, STRETTO_ARGUMENT_BUFFER_BYTES, MODULE_ALIGNMENT,
                  &client->argument_buffer) != STRETTO_OK) {
    free(client->argument);
    free(client);
    return NULL;
  }
  return client;
}

void stretto_client_destroy(stretto_client_t* client) {
  if (client == NULL) return;
  while (client->modules != NULL) {
    stretto_module_t* module = client->modules;
    client->modules = module->next;
    for (size_t i = 0; i < module->kernels; ++i) free(module->kernel[i].name);
    free(module->kernel);
    free(module);
  }
  for (uint32_t i = 0; i < client->streams; ++i) free(client->stream[i]);
  free(client->ring_buffers);
  free(client->argument);
  free(client);
}
