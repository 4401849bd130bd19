// SPDX-License-Identifier: Apache-2.0
// A runtime (sw/collectives/runtime.h) for a host program of this machine: what its calls of nccl.h
// and cuda_runtime.h work on while it runs.
#ifndef STRETTO_PLATFORM_JOBS_HOST_RUNTIME_H_
#define STRETTO_PLATFORM_JOBS_HOST_RUNTIME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/host/host.h"
#include "platform/jobs/job.h"
#include "platform/jobs/job_request.h"
#include "sw/collectives/runtime.h"

namespace stretto {

// How collectives of a job work: from `software` and the engine's name. Throws UserError.
stretto_runtime_options_t runtime_options(const JobRequest& request, const std::string& engine,
                                          bool all_pairs, const std::vector<uint8_t>& kernels);

// What runtime_options() counts on: init, reduce, move of stretto_runtime_accounts_t.
std::vector<Account> runtime_accounts();
std::vector<PhaseRule> runtime_phases();
// Those, and what a program's own kernels do (cudaLaunchKernel); of four jobs, `reduce` has that.
std::vector<Account> program_accounts(const JobRequest& request);
std::vector<PhaseRule> program_phases(const JobRequest& request);

// Gives up the host program that calls: it goes no further, so that a run can end while the program
// lets no time pass. REQUIRES: a HostRuntime has been made.
[[noreturn]] void abandon_host_program();
// WorkloadKind::claims() of a job whose communicators have that engine.
std::vector<std::string> runtime_claims(const std::string& engine);

class HostRuntime {
 public:
  // Of the program that runs on `core`; `options` but for the host's functions.
  HostRuntime(HostCore& core, stretto_runtime_options_t options);
  ~HostRuntime();
  HostRuntime(const HostRuntime&) = delete;
  HostRuntime& operator=(const HostRuntime&) = delete;

  // What the last call that failed had to say; "" if none has.
  std::string last_error() const;
  // End of the device memory that the program was given, as an offset.
  uint64_t memory_end(uint32_t device) const {
    return stretto_runtime_memory_end(runtime_, device);
  }
  // Symmetric memory that the program has opened; null: none. `is_open`: and has not closed.
  const stretto_symmetric_options_t* symmetric(int* is_open) const {
    return stretto_runtime_symmetric(runtime_, is_open);
  }
  // Lets a library that was preloaded end its part; takes machine time.
  void end_layer() { stretto_runtime_end_layer(runtime_); }
  // Groups that are open.
  int group_depth() const { return stretto_runtime_group_depth(runtime_); }
  // Where the program stands; "" outside of communication.
  std::string position() const { return stretto_runtime_position(runtime_); }

 private:
  stretto_runtime_t* runtime_;
  const void* process_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_HOST_RUNTIME_H_
