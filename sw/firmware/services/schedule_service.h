// SPDX-License-Identifier: Apache-2.0
// Who is served first: priorities of queues, preemption and resumption of their kernels, the policy
// of the grid scheduler. Runs on hart 0; a preemption is complete when hart 1 has seen its kernels
// off the units.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_SCHEDULE_SERVICE_H_
#define STRETTO_SW_FIRMWARE_SERVICES_SCHEDULE_SERVICE_H_

#include "sw/firmware/services/shared.h"

#ifdef __cplusplus
extern "C" {
#endif

FW_MUST_CHECK fw_result_t schedule_service_priority(shared_t* shared, uint32_t queue,
                                                    const stretto_priority_t* priority);
FW_MUST_CHECK fw_result_t schedule_service_policy(const shared_t* shared,
                                                  const stretto_scheduler_policy_t* policy);
// STRETTO_ERROR_TABLE_FULL while another preemption is under way; STRETTO_ERROR_STATE if the queue
// is stopped already.
FW_MUST_CHECK fw_result_t schedule_service_preempt(shared_t* shared,
                                                   const stretto_preempt_t* preempt, job_t job);
// STRETTO_ERROR_TABLE_FULL while its preemption is under way, or while it has a pipeline and another
// one is not placed; STRETTO_ERROR_STATE if the queue is
// not stopped.
FW_MUST_CHECK fw_result_t schedule_service_resume(shared_t* shared,
                                                  const stretto_preempt_t* preempt);
// What PREEMPT does, of kernels of several queues; `job` is complete when they are off the units.
FW_MUST_CHECK fw_result_t schedule_service_stop(shared_t* shared, uint32_t queues, bool drain,
                                                job_t job);
// Likewise, and work-groups that have begun are suspended: their states go to [base, base + bytes).
FW_MUST_CHECK fw_result_t schedule_service_suspend(shared_t* shared, uint32_t queues,
                                                   uint64_t save_base, uint64_t save_bytes,
                                                   job_t job);
// What RESUME does. STRETTO_ERROR_TABLE_FULL: not now.
FW_MUST_CHECK fw_result_t schedule_service_go_on(shared_t* shared, uint32_t queues);
// From now on preemptions may drain.
void schedule_service_expect_drains(shared_t* shared);
// Whenever hart 1 has news: takes what came back, and launches the next part of resumed kernels.
void schedule_service_run(shared_t* shared);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_SCHEDULE_SERVICE_H_
