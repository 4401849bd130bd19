// SPDX-License-Identifier: Apache-2.0
// What clients of one GPU, and the server between them (sw/tally/server.h), have of a job's share of it.
// The same in all modes: so these differ by what they do, and not by where things lie.
#ifndef STRETTO_PLATFORM_JOBS_SHARED_GPU_H_
#define STRETTO_PLATFORM_JOBS_SHARED_GPU_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "platform/jobs/job_request.h"
#include "sw/tally/server.h"

namespace stretto {

struct SharedGpu {
  std::vector<stretto_client_options_t> clients;  // A queue and a window of the memory each.
  stretto_client_options_t server;  // The queue and the memory behind them: control blocks.
};

// Whose window `offset` of GPU `gpu` is in: the client's number, or none.
std::optional<size_t> client_at(const SharedGpu& shared, uint32_t gpu, uint64_t offset);

// Of rank 0's GPU. Throws UserError if the job has too few queues or too little memory.
SharedGpu share_gpu(const JobRequest& request, uint32_t clients);  // Equal windows.
// Windows of `bytes`, rounded up to 1 MiB; the first client has what is left, so that what it allocates
// besides moves no other.
SharedGpu share_gpu(const JobRequest& request, const std::vector<uint64_t>& bytes);
// Of the job's memory, those that clients can have.
uint64_t bytes_for_clients(const JobRequest& request);

// Without accounts and log. Mode TALLY_WHOLE_KERNELS waits for no idle time, whatever `policy` says: the
// ablation of the authors' code has none (TL-ABL-02).
tally_server_parameters_t server_parameters(const JobRequest& request, const SharedGpu& gpu,
                                            tally_mode_t mode, bool stock_isa,
                                            const tally_policy_t& policy);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_SHARED_GPU_H_
