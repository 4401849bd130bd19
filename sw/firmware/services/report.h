// SPDX-License-Identifier: Apache-2.0
// What the firmware says on its console, and how it ends a run that cannot go on.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_REPORT_H_
#define STRETTO_SW_FIRMWARE_SERVICES_REPORT_H_

#include "sw/firmware/hal/gpu.h"
#include "sw/firmware/hal/mmio.h"
#include "sw/net/queue_service.h"

#ifdef __cplusplus
extern "C" {
#endif

// Exit codes: the run ends with `tohost` = (code << 1) | 1.
typedef enum fail_code {
  FAIL_BOOT = 1,     // A step of the start-up failed.
  FAIL_TRAP = 2,     // A hart took an exception.
  FAIL_FAULT = 3,    // A wavefront faulted.
  FAIL_DMA = 4,      // The DMA engine reported an error.
  FAIL_ASSERT = 5,   // Something that cannot be happened.
  FAIL_SEND = 6,     // The request ring refused a request or its transfer failed.
  FAIL_NETWORK = 7,  // An operation of a work-group on the memory of another server failed.
} fail_code_t;

void report_init(unsigned gpu);
const char* report_status_name(fw_result_t status);
// "firmware: gpu 3: queue 0 packet 12 (dma_map): refused: overlaps an earlier map"; instead of the
// status what reason_* has said of this packet.
void report_refused(unsigned queue, uint64_t index, const char* what, fw_result_t status);
// "41943040 bytes of the L2 for pinned ranges: 4194304 to 29360128 are possible"
void reason_l2_limit(uint64_t wanted, uint64_t least, uint64_t most);
// "109 work-groups of member 2 need 182272 bytes of registers each, 19867648 in all with the members
// before; 108 units have 262144 each, room for 108"
typedef struct pipeline_room {
  uint32_t member;
  uint32_t work_groups;
  const char* resource;
  uint32_t each;
  uint64_t all;
  uint32_t cus;
  uint32_t unit;
} pipeline_room_t;
void reason_pipeline_room(const pipeline_room_t* room);
// "firmware: gpu 0: pipeline of 3 kernels from slot 4 on: refused by the scheduler: never co-resident"
void report_pipeline_refused(uint32_t members, uint32_t slot, uint32_t cause);
void report_fault(const gpu_fault_t* fault);
void report_dma_error(uint32_t errors, uint64_t info);
// Prints "firmware: gpu 0: send request 0x...: buffer 7 -> 2, connection 0, offset 3, length 5:
// WHY" and ends the run with FAIL_SEND.
__attribute__((noreturn)) void report_send_failure(uint64_t request, const char* why);
// Prints "firmware: gpu 0: work-group 3: get of 64 bytes, PE 1 at 0x..., here at 0x...: WHY" (of a
// put whose data came with its entry ", value 0x...") and ends the run with FAIL_NETWORK.
__attribute__((noreturn)) void report_network_failure(const queue_service_failure_t* failure);
// Prints "firmware: gpu 3: TEXT" and ends the run.
__attribute__((noreturn)) void report_fail(fail_code_t code, const char* text);

#define FW_ASSERT(condition)                                                     \
  do {                                                                           \
    if (!(condition)) report_fail(FAIL_ASSERT, "assertion failed: " #condition); \
  } while (0)

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_REPORT_H_
