// SPDX-License-Identifier: Apache-2.0
// Workloads of kind program: host programs that a user wrote over cuda_runtime.h and nccl.h, compiled as
// shared objects whose main() is called. One runs as one thread of the modelled host and sees all GPUs;
// the mode is the engine of its communicators. `stretto run FILE.so` needs no workload file. With a server
// (sw/tally) there may be several, which share one GPU through it: each is unchanged, and its calls go to the
// server by libtally_client.so, which is preloaded. With a mode of ComP-Net each server of the machine runs the
// program, as a PE with its first GPU (shmem.h).
//
// Programs share the process with the simulator: they must return from main() and not exit().
#ifndef STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_KIND_H_
#define STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_KIND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/server_report.h"
#include "platform/jobs/workload_kind.h"
#include "sw/include/formats/shmem_queue.h"

namespace stretto {

// What serves the programs.
enum class ProgramServer : uint8_t {
  none,
  no_scheduling,      // All kernels at once, as they come.
  no_transformation,  // Best effort waits for high priority, kernel by kernel.
  tally,              // Best-effort kernels are transformed and stopped.
  tally_stock_isa,    // Likewise, without tile.vote.
  tally_unmodified,   // The GPU stops best-effort kernels as they are.
};

// A program of a job, and its arguments.
struct ProgramCall {
  std::string file;
  std::vector<std::string> arguments;
};

class ProgramKind final : public WorkloadKind {
 public:
  ProgramKind() : policy(default_policy()) {}
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  bool spans_servers(const std::string& mode) const override;
  void resolve(const std::string& workload) override;
  std::map<std::string, uint64_t> shape() const override { return {}; }
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;
  std::vector<std::string> preloads() const override;

  // By client; one without a server.
  std::vector<ProgramCall> calls() const;
  std::vector<std::vector<std::string>> arguments_of_clients() const;

  std::string file;
  std::string beside;     // More files, with spaces between them.
  std::string arguments;  // With spaces between them, and " | " between those of clients.
  std::string preload;    // With spaces between them.
  uint32_t clients = 0;   // 0: one a file.
  ProgramServer server = ProgramServer::none;
  uint32_t high_priority = 1;  // Of the clients, the first so many.
  tally_policy_t policy;       // Of the server.
  // Of programs that are PEs.
  uint64_t heap_bytes = 16u << 20;
  uint32_t threads = STRETTO_SHMEM_HARTS;
  uint32_t poll_rounds = 4;  // CN-U06.
  bool return_errors = false;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_KIND_H_
