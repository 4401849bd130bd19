// SPDX-License-Identifier: Apache-2.0
// Workloads of kind program: a host program that a user wrote over nccl.h and cuda_runtime.h, compiled
// as a shared object whose main() is called. It runs as one thread of the modelled host and sees all
// GPUs; the mode is the engine of its communicators. `stretto run FILE.so` needs no workload file.
//
// The program shares the process with the simulator: it must return from main() and not exit().
#ifndef STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_JOB_H_
#define STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_JOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/common/memory_image.h"
#include "platform/jobs/host_runtime.h"
#include "platform/jobs/job.h"
#include "platform/jobs/run_request.h"
#include "platform/jobs/workload.h"

namespace stretto {

class ProgramKind final : public WorkloadKind {
 public:
  void describe(ParameterSet& set) override;
  std::string wrong() const override;
  const std::vector<std::pair<std::string, std::string>>& modes() const override;
  std::map<std::string, uint64_t> shape() const override { return {}; }
  void check(const RunRequest& request) const override;
  std::vector<std::string> kernel_files(const RunRequest& request) const override;
  std::unique_ptr<Job> make_job(const RunRequest& request,
                                std::vector<MemoryImage*> memories) const override;

  std::string file;
  std::string arguments;  // With spaces between them.
};

class ProgramJob final : public Job {
 public:
  // Throws UserError if the file cannot be loaded.
  explicit ProgramJob(const RunRequest& request);
  ~ProgramJob() override;

  void place_contents() override {}
  void add_programs(Host& host) override;
  MirrorMap mirror() const override;
  CheckReport check() const override;
  void audit(uint32_t, AuditSink&) const override {}
  Time ended() const override { return ended_; }
  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override;
  std::vector<std::string> waiting_on() const override;
  boost::json::object details() const override;

 private:
  void run(HostCore& core);

  const MachineSpec& spec_;
  const ProgramKind& workload_;
  const std::vector<uint8_t> kernels_;
  const stretto_runtime_options_t options_;
  void* library_ = nullptr;
  int (*main_)(int, char**) = nullptr;
  const HostRuntime* runtime_ = nullptr;  // While the program runs.
  bool returned_ = false;
  int status_ = 0;
  Time ended_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_JOB_H_
