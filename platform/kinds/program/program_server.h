// SPDX-License-Identifier: Apache-2.0
// The server of a job's clients (sw/tally/server.h): its parameters, and what it has counted.
#ifndef STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_SERVER_H_
#define STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_SERVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "platform/jobs/job.h"
#include "platform/jobs/server_log.h"
#include "platform/jobs/shared_gpu.h"
#include "platform/kinds/program/program_kind.h"
#include "sw/tally/server.h"

namespace stretto {

class ServerProgram {
 public:
  // Throws UserError if the job has too little for so many clients.
  ServerProgram(const JobRequest& request, ProgramServer server, const tally_policy_t& policy,
                uint32_t clients);

  // Until all clients have come and gone. Throws what its status means.
  void run(HostCore& core);

  const SharedGpu& gpu() const { return gpu_; }
  const tally_server_result_t& result() const { return result_; }
  const tally_server_parameters_t& parameters() const { return parameters_; }
  const ServerLog& log() const { return log_; }

 private:
  const SharedGpu gpu_;
  tally_server_parameters_t parameters_;
  tally_server_result_t result_{};
  ServerLog log_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_SERVER_H_
