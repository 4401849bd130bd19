// SPDX-License-Identifier: Apache-2.0
// Workloads of kind program: a host program that a user wrote over nccl.h and cuda_runtime.h,
// compiled as a shared object whose main() is called. It runs as one thread of the modelled host
// and sees all GPUs; the mode is the engine of its communicators. `stretto run FILE.so` needs no
// workload file.
//
// The program shares the process with the simulator: it must return from main() and not exit().
#ifndef STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_KIND_H_
#define STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_KIND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

class ProgramKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  void resolve(const std::string& workload) override;
  std::map<std::string, uint64_t> shape() const override { return {}; }
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::vector<std::string> preloads() const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  std::string file;
  std::string arguments;  // With spaces between them.
  std::string preload;    // Likewise.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_KIND_H_
