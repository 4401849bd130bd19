// SPDX-License-Identifier: Apache-2.0
// GPU front end: see gpu.h.
#include "sw/firmware/hal/gpu.h"

#include <stddef.h>

#include "sw/include/regs/gpu_regs.h"  // Generated.

STRETTO_STATIC_ASSERT(GPU_CONTEXT_FLAGS_ACCOUNT_MASK == 0xF0, "below 256 where it is checked");
STRETTO_STATIC_ASSERT(GRID_SLOTS == GPU_CONTEXT_ENTRY_COUNT, "one context a kernel slot");

STRETTO_STATIC_ASSERT(STRETTO_L2_PINNED_RANGES == GPU_L2_PIN_BASE_COUNT, "as many as are built");

fw_result_t gpu_init(gpu_t* gpu) {
  if (gpu == NULL) return STRETTO_ERROR_ARGUMENT;
  gpu->base = STRETTO_GPU_BASE;
  return STRETTO_OK;
}

fw_result_t gpu_limits(const gpu_t* gpu, unit_limits_t* limits) {
  if (gpu == NULL || limits == NULL) return STRETTO_ERROR_ARGUMENT;
  limits->cus = (uint32_t)mmio_read64(gpu->base + GPU_CUS_OFFSET);
  limits->registers_bytes = (uint32_t)mmio_read64(gpu->base + GPU_REGISTERS_PER_CU_OFFSET);
  limits->lds_bytes = (uint32_t)mmio_read64(gpu->base + GPU_LDS_PER_CU_OFFSET);
  limits->wavefronts = (uint32_t)mmio_read64(gpu->base + GPU_WAVEFRONTS_PER_CU_OFFSET);
  limits->work_groups = (uint32_t)mmio_read64(gpu->base + GPU_WORKGROUPS_PER_CU_OFFSET);
  return STRETTO_OK;
}

fw_result_t gpu_set_context(const gpu_t* gpu, uint32_t slot, const gpu_context_t* context) {
  if (gpu == NULL || context == NULL || slot >= GRID_SLOTS) return STRETTO_ERROR_ARGUMENT;
  if (context->wavefronts == 0 || context->wavefronts > 8 || context->grid == 0 ||
      (context->grid_y | context->grid_z) > STRETTO_MAX_GRID_YZ)
    return STRETTO_ERROR_ARGUMENT;
  // The account in its place is above 8 bits if it has more than four, as a split of more than 255
  // is.
  const uint64_t account = (uint64_t)context->account << GPU_CONTEXT_FLAGS_ACCOUNT_SHIFT;
  if (context->kernarg_bytes > GPU_CONTEXT_KERNARG_BYTES_BYTES_MASK ||
      (context->split | account) > GPU_CONTEXT_FLAGS_SPLIT_MASK >> GPU_CONTEXT_FLAGS_SPLIT_SHIFT)
    return STRETTO_ERROR_ARGUMENT;
  mmio_write64(gpu->base + GPU_CONTEXT_ENTRY_OFFSET_AT(slot), context->entry);
  mmio_write64(gpu->base + GPU_CONTEXT_KERNARG_OFFSET_AT(slot), context->kernarg);
  mmio_write64(gpu->base + GPU_CONTEXT_KERNARG_BYTES_OFFSET_AT(slot), context->kernarg_bytes);
  mmio_write64(gpu->base + GPU_CONTEXT_CODE_BASE_OFFSET_AT(slot), context->code_base);
  mmio_write64(gpu->base + GPU_CONTEXT_CODE_BYTES_OFFSET_AT(slot), context->code_bytes);
  mmio_write64(gpu->base + GPU_CONTEXT_REGISTERS_BYTES_OFFSET_AT(slot), context->registers_bytes);
  mmio_write64(gpu->base + GPU_CONTEXT_LDS_BYTES_OFFSET_AT(slot), context->lds_bytes);
  mmio_write64(gpu->base + GPU_CONTEXT_PRIVATE_BYTES_OFFSET_AT(slot), context->private_bytes);
  mmio_write64(gpu->base + GPU_CONTEXT_WAVEFRONTS_OFFSET_AT(slot), context->wavefronts);
  mmio_write64(gpu->base + GPU_CONTEXT_GRID_OFFSET_AT(slot),
               STRETTO_FIELD(GPU_CONTEXT_GRID_WORKGROUPS, context->grid) |
                   STRETTO_FIELD(GPU_CONTEXT_GRID_Y, context->grid_y) |
                   STRETTO_FIELD(GPU_CONTEXT_GRID_Z, context->grid_z));
  mmio_write64(gpu->base + GPU_CONTEXT_FLAGS_OFFSET_AT(slot),
               STRETTO_FIELD(GPU_CONTEXT_FLAGS_UPDATE, context->update) | account |
                   STRETTO_FIELD(GPU_CONTEXT_FLAGS_TYPE, context->type) |
                   STRETTO_FIELD(GPU_CONTEXT_FLAGS_COMMUNICATION, context->communication) |
                   STRETTO_FIELD(GPU_CONTEXT_FLAGS_SPLIT, context->split));
  return STRETTO_OK;
}

void gpu_set_save_area(const gpu_t* gpu, uint32_t slot, uint64_t base, uint64_t bytes) {
  mmio_write64(gpu->base + GPU_CONTEXT_SAVE_BASE_OFFSET_AT(slot), base);
  mmio_write64(gpu->base + GPU_CONTEXT_SAVE_BYTES_OFFSET_AT(slot), bytes);
}

void gpu_set_resume(const gpu_t* gpu, uint32_t slot, uint32_t replayed) {
  mmio_write64(gpu->base + GPU_CONTEXT_RESUME_OFFSET_AT(slot), replayed);
}

fw_result_t gpu_set_event_map(const gpu_t* gpu, uint32_t per_gate, uint32_t ids) {
  if (gpu == NULL || per_gate > GPU_EVENT_MAP_PER_GATE_MASK || ids > 65536)
    return STRETTO_ERROR_ARGUMENT;
  if (ids != 0 && (per_gate == 0 || (ids - 1) / per_gate >= STRETTO_GATES))
    return STRETTO_ERROR_ARGUMENT;
  mmio_write64(gpu->base + GPU_EVENT_MAP_OFFSET, STRETTO_FIELD(GPU_EVENT_MAP_PER_GATE, per_gate) |
                                                     STRETTO_FIELD(GPU_EVENT_MAP_IDS, ids));
  return STRETTO_OK;
}

void gpu_l2_write_back(const gpu_t* gpu) {
  mmio_write64(gpu->base + GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_WRITE_BACK_MASK);
}

void gpu_l2_invalidate(const gpu_t* gpu) {
  mmio_write64(gpu->base + GPU_L2_COMMAND_OFFSET, GPU_L2_COMMAND_INVALIDATE_MASK);
}

bool gpu_l2_take_done(const gpu_t* gpu) {
  if ((mmio_read64(gpu->base + GPU_L2_DONE_OFFSET) & GPU_L2_DONE_PENDING_MASK) == 0) return false;
  mmio_write64(gpu->base + GPU_L2_DONE_OFFSET, GPU_L2_DONE_PENDING_MASK);
  return true;
}

gpu_l2_size_t gpu_l2_size(const gpu_t* gpu) {
  const uint64_t size = mmio_read64(gpu->base + GPU_L2_SIZE_OFFSET);
  return (gpu_l2_size_t){
      .bytes = (uint32_t)STRETTO_FIELD_GET(size, GPU_L2_SIZE_BYTES),
      .ways = (uint32_t)STRETTO_FIELD_GET(size, GPU_L2_SIZE_WAYS),
      .persist_ways = (uint32_t)STRETTO_FIELD_GET(size, GPU_L2_SIZE_PERSIST_WAYS)};
}

void gpu_l2_set_persist_ways(const gpu_t* gpu, uint32_t ways) {
  mmio_write64(gpu->base + GPU_L2_PERSIST_OFFSET, STRETTO_FIELD(GPU_L2_PERSIST_WAYS, ways));
}

// A range of no bytes stands between the old one and the new one.
void gpu_l2_pin(const gpu_t* gpu, uint32_t index, uint64_t base, uint64_t bytes) {
  mmio_write64(gpu->base + GPU_L2_PIN_BYTES_OFFSET_AT(index), 0);
  if (bytes == 0) return;
  mmio_write64(gpu->base + GPU_L2_PIN_BASE_OFFSET_AT(index), base);
  mmio_write64(gpu->base + GPU_L2_PIN_BYTES_OFFSET_AT(index), bytes);
}

uint64_t gpu_l2_pin_base(const gpu_t* gpu, uint32_t index) {
  return mmio_read64(gpu->base + GPU_L2_PIN_BASE_OFFSET_AT(index));
}

uint64_t gpu_l2_pin_bytes(const gpu_t* gpu, uint32_t index) {
  return mmio_read64(gpu->base + GPU_L2_PIN_BYTES_OFFSET_AT(index));
}

bool gpu_take_fault(const gpu_t* gpu, gpu_fault_t* fault) {
  if ((mmio_read64(gpu->base + GPU_FAULT_STATUS_OFFSET) & GPU_FAULT_STATUS_PENDING_MASK) == 0)
    return false;
  const uint64_t kind = mmio_read64(gpu->base + GPU_FAULT_KIND_OFFSET);
  fault->kind = (uint32_t)STRETTO_FIELD_GET(kind, GPU_FAULT_KIND_KIND);
  fault->slot = (uint32_t)STRETTO_FIELD_GET(kind, GPU_FAULT_KIND_SLOT);
  fault->cu = (uint32_t)STRETTO_FIELD_GET(kind, GPU_FAULT_KIND_CU);
  fault->wavefront = (uint32_t)STRETTO_FIELD_GET(kind, GPU_FAULT_KIND_WF_ID);
  fault->address = mmio_read64(gpu->base + GPU_FAULT_ADDRESS_OFFSET);
  fault->pc = mmio_read64(gpu->base + GPU_FAULT_PC_OFFSET);
  fault->work_group = mmio_read64(gpu->base + GPU_FAULT_WG_OFFSET);
  mmio_write64(gpu->base + GPU_FAULT_STATUS_OFFSET, GPU_FAULT_STATUS_PENDING_MASK);
  return true;
}

const char* gpu_fault_name(uint32_t kind) {
  static const char* const kNames[] = {
      [GPU_FAULT_KIND_KIND_NONE] = "none",
      [GPU_FAULT_KIND_KIND_UNMAPPED_LOAD] = "load from an unmapped address",
      [GPU_FAULT_KIND_KIND_UNMAPPED_STORE] = "store to an unmapped address",
      [GPU_FAULT_KIND_KIND_REMOTE_LOAD] = "load from another GPU",
      [GPU_FAULT_KIND_KIND_ILLEGAL_INSTRUCTION] = "illegal instruction",
      [GPU_FAULT_KIND_KIND_BAD_SHAPE] = "bad tile shape",
      [GPU_FAULT_KIND_KIND_NO_ROOM] = "no room for a tile",
      [GPU_FAULT_KIND_KIND_EMPTY_TILE] = "use of an empty tile",
      [GPU_FAULT_KIND_KIND_FETCH] = "fetch outside the code object",
      [GPU_FAULT_KIND_KIND_MISALIGNED] = "misaligned access",
      [GPU_FAULT_KIND_KIND_BUS_ERROR] = "bus error",
      [GPU_FAULT_KIND_KIND_KERNEL_TOO_LARGE] = "kernel too large",
      [GPU_FAULT_KIND_KIND_BAD_CONTEXT] = "bad dispatch context",
      [GPU_FAULT_KIND_KIND_REMOTE_ATOMIC] = "atomic that no peer and no host executes",
  };
  if (kind >= sizeof kNames / sizeof kNames[0] || kNames[kind] == NULL) return "unknown";
  return kNames[kind];
}
