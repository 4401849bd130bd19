// SPDX-License-Identifier: Apache-2.0
// Kernel dispatches: see dispatch_service.h. The descriptor is read from GPU memory, the needs are
// checked against the limits of a compute unit, then the dispatch context is programmed and the
// slot launched. Completion is hart 1's.
#include "sw/firmware/services/dispatch_service.h"

#include <stddef.h>
#include <string.h>

#include "sw/firmware/hal/grid_control.h"
#include "sw/firmware/services/memory_range.h"
#include "sw/firmware/services/report.h"
#include "sw/include/formats/code_object.h"

#define MAX_UPDATING_WORK_GROUPS 65536u  // Output tiles have 16-bit ids.

STRETTO_STATIC_ASSERT(STRETTO_PIPELINE_MEMBERS == GRID_SLOTS, "as many as there are slots");

static void read_descriptor(uint64_t address, stretto_kernel_descriptor_t* descriptor) {
  uint64_t words[sizeof *descriptor / 8];
  for (unsigned i = 0; i < sizeof words / sizeof words[0]; ++i)
    words[i] = mmio_read64(address + 8 * i);
  memcpy(descriptor, words, sizeof words);
}

static fw_result_t check_descriptor(const stretto_kernel_descriptor_t* d, unsigned gpu) {
  if (d->magic != STRETTO_KERNEL_MAGIC || d->type > STRETTO_KERNEL_TENSOR)
    return STRETTO_ERROR_KERNEL;
  if (d->wavefronts == 0 || d->wavefronts > 8) return STRETTO_ERROR_KERNEL;
  if (!in_gpu_memory(d->code_base, d->code_bytes, gpu)) return STRETTO_ERROR_KERNEL;
  if (d->entry < d->code_base || d->entry - d->code_base >= d->code_bytes)
    return STRETTO_ERROR_KERNEL;
  return STRETTO_OK;
}

// A free slot that is none of `taken`, or GRID_SLOTS.
static uint32_t free_slot(const shared_t* shared, uint32_t taken) {
  uint32_t slot = 0;
  while (slot < GRID_SLOTS &&
         ((taken & 1u << slot) != 0 || shared->slots_started[slot] != shared->slots_ended[slot]))
    ++slot;
  return slot;
}

// Checks a dispatch and programs the context of a free slot that is none of `taken`; says what the
// scheduler is to launch there.
static fw_result_t prepare(const shared_t* shared, const stretto_dispatch_packet_t* packet,
                           uint32_t queue, uint32_t taken, grid_job_t* work) {
  const uint32_t y = packet->grid_size_y, z = packet->grid_size_z;
  if (packet->setup == 0 || packet->setup > 3 || packet->workgroup_size_y != 1 ||
      packet->workgroup_size_z != 1 || (packet->setup < 2 && y != 1) ||
      (packet->setup < 3 && z != 1) || (y | z) > STRETTO_MAX_GRID_YZ) {
    return STRETTO_ERROR_ARGUMENT;
  }
  if (!in_gpu_memory(packet->kernel_object, sizeof(stretto_kernel_descriptor_t), shared->gpu_id) ||
      packet->kernel_object % 8 != 0) {
    return STRETTO_ERROR_KERNEL;
  }
  stretto_kernel_descriptor_t d;
  read_descriptor(packet->kernel_object, &d);
  if (shared->heed != NULL && is_to_wait(shared, queue)) return STRETTO_ERROR_TABLE_FULL;
  const fw_result_t valid = check_descriptor(&d, shared->gpu_id);
  if (valid != STRETTO_OK) return valid;
  if (packet->workgroup_size_x != d.wavefronts || packet->grid_size_x % d.wavefronts != 0)
    return STRETTO_ERROR_ARGUMENT;
  const uint32_t type = STRETTO_DISPATCH_TYPE_OF(packet->flags);
  if (type > STRETTO_KERNEL_TENSOR + 1) return STRETTO_ERROR_ARGUMENT;
  if (type != 0) d.type = type - 1;
  const bool update = (packet->flags & STRETTO_DISPATCH_UPDATE) != 0;
  const uint64_t rows = (uint64_t)y * z, row = packet->grid_size_x / d.wavefronts;
  const uint32_t most = update ? MAX_UPDATING_WORK_GROUPS : STRETTO_MAX_GRID;
  if (row == 0 || rows == 0 || row > most || rows > most || row * rows > most)
    return STRETTO_ERROR_ARGUMENT;
  const uint32_t grid = (uint32_t)(row * rows);
  const bool range = (packet->flags & STRETTO_DISPATCH_RANGE) != 0;
  const uint32_t first = range ? (uint32_t)packet->order : STRETTO_ORDER_FIRST(packet->order);
  uint32_t count = range ? (uint32_t)(packet->order >> 32) : STRETTO_ORDER_COUNT(packet->order);
  if (count == 0) count = grid;
  const uint32_t start = range ? 0 : STRETTO_ORDER_STAGGER(packet->order);
  if ((uint64_t)first + count > grid || start >= count) return STRETTO_ERROR_ARGUMENT;
  const uint32_t batch = range ? 0 : STRETTO_ORDER_BATCH(packet->order);
  if (batch != 0 && (count - 1) / batch >= STRETTO_GATES) return STRETTO_ERROR_ARGUMENT;
  // A kernel that writes the configured output has as many work-groups a tile as its thresholds
  // count.
  const uint32_t split = update && shared->output_tiles != 0 ? shared->split : 1;
  if (split > 1 && grid != shared->output_tiles * split) return STRETTO_ERROR_ARGUMENT;
  if (d.kernarg_bytes != 0 &&
      !in_gpu_memory(packet->kernarg_address, d.kernarg_bytes, shared->gpu_id)) {
    return STRETTO_ERROR_UNMAPPED;
  }
  const uint32_t lds =
      packet->group_segment_bytes > d.lds_bytes ? packet->group_segment_bytes : d.lds_bytes;
  const uint32_t private_bytes = packet->private_segment_bytes > d.private_bytes
                                     ? packet->private_segment_bytes
                                     : d.private_bytes;
  if (d.registers_bytes > shared->limits.registers_bytes || lds > shared->limits.lds_bytes ||
      d.wavefronts > shared->limits.wavefronts) {
    return STRETTO_ERROR_RESOURCES;
  }

  const uint32_t slot = free_slot(shared, taken);
  if (slot == GRID_SLOTS) return STRETTO_ERROR_TABLE_FULL;
  const gpu_context_t context = {
      .entry = d.entry,
      .kernarg = packet->kernarg_address,
      .kernarg_bytes = d.kernarg_bytes,
      .code_base = d.code_base,
      .code_bytes = d.code_bytes,
      .registers_bytes = d.registers_bytes,
      .lds_bytes = lds,
      .private_bytes = private_bytes,
      .wavefronts = d.wavefronts,
      .grid = grid,
      .grid_y = y,
      .grid_z = z,
      .account = (packet->flags & STRETTO_DISPATCH_ACCOUNT_MASK) >> STRETTO_DISPATCH_ACCOUNT_SHIFT,
      .type = d.type,
      .split = split,
      .update = update,
      .communication = (packet->flags & STRETTO_DISPATCH_COMMUNICATION) != 0,
  };
  *work = (grid_job_t){.slot = slot,
                       .launch = {.registers_bytes = d.registers_bytes,
                                  .lds_bytes = lds,
                                  .wavefronts = d.wavefronts,
                                  .type = d.type,
                                  .grid = grid,
                                  .first = first,
                                  .count = count,
                                  .start = start},
                       .priority = shared->priority[queue],
                       .batch = batch};
  return gpu_set_context(&shared->gpu, slot, &context);
}

// The job is published before the launch: the kernel may end before this hart runs again.
static void publish(shared_t* shared, const grid_job_t* work, uint32_t pipeline, job_t job) {
  const uint32_t slot = work->slot;
  if (slot >= shared->slots_used) shared->slots_used = slot + 1;
  shared->slot_work[slot] = *work;
  shared->slot_pipeline[slot] = pipeline;
  shared->slot_end[slot] = 0;
  shared->slot_jobs[slot] = job;
  ++shared->started[job.queue];
  shared->slots_started[slot] = shared->slots_started[slot] + 1;
}

static bool acquires(const stretto_dispatch_packet_t* packet) {
  return STRETTO_PACKET_ACQUIRE(packet->header) == STRETTO_SCOPE_SYSTEM;
}

fw_result_t dispatch_service_start(shared_t* shared, const stretto_dispatch_packet_t* packet,
                                   job_t job) {
  if (shared == NULL || packet == NULL) return STRETTO_ERROR_ARGUMENT;
  grid_job_t work;
  const fw_result_t result = prepare(shared, packet, job.queue, 0, &work);
  if (result != STRETTO_OK) return result;
  if (is_to_wait(shared, job.queue)) return STRETTO_ERROR_TABLE_FULL;
  publish(shared, &work, 0, job);
  fence_release();
  if (acquires(packet)) gpu_l2_invalidate(&shared->gpu);
  // Cannot fail: every field was checked above.
  return grid_control_launch(&shared->scheduler, &work);
}

// Of each resource alone, the members so far against what all units have. How work-groups share
// units is the scheduler's business, which may refuse what passes here.
static fw_result_t check_room(const shared_t* shared, const grid_job_t* work, uint32_t members) {
  const uint64_t cus = shared->limits.cus;
  for (uint32_t resource = 0; resource < 3; ++resource) {
    const char* const names[] = {"bytes of registers", "bytes of LDS", "wavefronts"};
    const uint32_t has[] = {shared->limits.registers_bytes, shared->limits.lds_bytes,
                            shared->limits.wavefronts};
    uint64_t all = 0;
    for (uint32_t i = 0; i < members; ++i) {
      const grid_launch_t* launch = &work[i].launch;
      const uint32_t needs[] = {launch->registers_bytes, launch->lds_bytes, launch->wavefronts};
      const uint32_t each = needs[resource], groups = launch->count;
      all += (uint64_t)each * groups;
      if (all <= has[resource] * cus &&
          (groups <= cus || each == 0 || groups <= has[resource] / each * cus))
        continue;
      const pipeline_room_t room = {.member = i,
                                    .work_groups = groups,
                                    .resource = names[resource],
                                    .each = each,
                                    .all = all,
                                    .cus = (uint32_t)cus,
                                    .unit = has[resource]};
      reason_pipeline_room(&room);
      return STRETTO_ERROR_RESOURCES;
    }
  }
  return STRETTO_OK;
}

fw_result_t dispatch_service_start_pipeline(shared_t* shared, const stretto_packet_t* packets,
                                            const job_t* jobs, uint32_t members) {
  if (shared == NULL || packets == NULL || jobs == NULL || members == 0 || members > GRID_SLOTS)
    return STRETTO_ERROR_ARGUMENT;
  grid_job_t work[GRID_SLOTS];
  uint32_t slots = 0;
  bool acquire = false, release = false;
  for (uint32_t i = 0; i < members; ++i) {
    acquire = acquire || acquires(&packets[i].dispatch);
    release = release || jobs[i].release;
    const fw_result_t result =
        prepare(shared, &packets[i].dispatch, jobs[i].queue, slots, &work[i]);
    if (result != STRETTO_OK) return result;
    if (work[i].batch != 0) return STRETTO_ERROR_ARGUMENT;
    slots |= 1u << work[i].slot;
  }
  const fw_result_t fits = check_room(shared, work, members);
  if (fits != STRETTO_OK) return fits;
  if (grid_control_pipeline_waits(&shared->scheduler)) return STRETTO_ERROR_TABLE_FULL;
  for (uint32_t i = 0; i < members; ++i) {
    job_t job = jobs[i];
    job.release = release;
    publish(shared, &work[i], slots, job);
  }
  fence_release();
  if (acquire) gpu_l2_invalidate(&shared->gpu);
  return grid_control_launch_pipeline(&shared->scheduler, work, members);
}
