// SPDX-License-Identifier: Apache-2.0
// Reads packets from the queues in GPU memory and hands them to the services. Runs on hart 0, woken
// by doorbells and by hart 1's completions.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_PACKET_SERVICE_H_
#define STRETTO_SW_FIRMWARE_SERVICES_PACKET_SERVICE_H_

#include "sw/firmware/hal/intc.h"
#include "sw/firmware/hal/mca.h"
#include "sw/firmware/services/trigger_service.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct packet_service {
  shared_t* shared;
  trigger_service_t* trigger;
  mca_t mca;
  uint64_t next[STRETTO_QUEUE_COUNT];   // First packet not yet taken.
  uint64_t limit[STRETTO_QUEUE_COUNT];  // Packets below this were announced by the doorbell.
  uint32_t rung;  // Queues with packets announced and not taken, one bit each.
  uint32_t behind[STRETTO_PRIORITIES];  // Queues behind the one of a priority that was served last.
  uint32_t read;  // Queues whose next packet was read and waits for those before it, likewise.
  uint32_t owed;  // Queues whose driver has not been told of the last one that was taken, likewise.
  uint64_t look_at[STRETTO_QUEUE_COUNT];  // When a barrier that polls looks again; 0 = none does.
  uint64_t
      pipeline_look;  // When a pipeline behind another one, or what shares the GPU, is looked at
                      // again; 0 = none waits.
} packet_service_t;

FW_MUST_CHECK fw_result_t packet_service_init(packet_service_t* service, shared_t* shared,
                                              trigger_service_t* trigger);
// A doorbell interrupt: notes how far each queue goes.
void packet_service_doorbell(packet_service_t* service);
// Takes packets until every queue is empty or waits for a completion.
void packet_service_run(packet_service_t* service);
// When packet_service_run() has something to do without an interrupt, or CLINT_NEVER.
uint64_t packet_service_alarm(const packet_service_t* service);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_PACKET_SERVICE_H_
