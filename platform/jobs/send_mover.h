// SPDX-License-Identifier: Apache-2.0
// What moves the data of jobs with a software engine for send requests (software.send_mover).
#ifndef STRETTO_PLATFORM_JOBS_SEND_MOVER_H_
#define STRETTO_PLATFORM_JOBS_SEND_MOVER_H_

#include "models/common/error.h"
#include "platform/jobs/job_request.h"
#include "sw/apps/send_engine.h"

namespace stretto {

inline send_mover_t send_mover(const MachineSpec& spec) {
  switch (spec.software.send_mover) {
    case SendMover::gpu_dma: break;
    case SendMover::cpu_mmio: return SEND_MOVER_CPU_MMIO;
    case SendMover::cpu_dma: return SEND_MOVER_CPU_DMA;
  }
  return SEND_MOVER_GPU_DMA;
}

// Throws UserError if another mover than the default is asked for, and the job's mode is not the one
// with such an engine.
inline void check_send_mover(const JobRequest& request, const char* mode) {
  if (request.spec.software.send_mover != SendMover::gpu_dma && request.mode != mode)
    throw UserError(request.subject() +
                    ": software.send_mover is of the software engine, which mode " + mode +
                    " has, not mode " + request.mode);
}

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_SEND_MOVER_H_
