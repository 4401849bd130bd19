// SPDX-License-Identifier: Apache-2.0
// The job of kind program: one program that has the devices itself, clients and their server, or a PE on each
// server of the machine.
#ifndef STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_JOB_H_
#define STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_JOB_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/jobs/code_owner.h"
#include "platform/jobs/host_runtime.h"
#include "platform/jobs/servers_job.h"
#include "platform/kinds/program/program_kind.h"
#include "platform/kinds/program/program_library.h"
#include "platform/kinds/program/program_server.h"

namespace stretto {

class ProgramJob final : public ServersJob, public CodeOwner {
 public:
  // Throws UserError if a file cannot be loaded.
  ProgramJob(const ProgramKind& kind, const JobRequest& request, Memories memories);

  std::vector<Account> accounts() const override { return program_accounts(request_); }
  std::vector<PhaseRule> phases() const override { return program_phases(request_); }
  void place_contents() override {}
  void add_programs(Host& host, uint32_t server) override;
  CheckReport check() const override;
  void audit(uint32_t rank, AuditSink& sink) const override;
  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override;
  std::map<std::string, std::string> contents() const override;
  std::vector<std::string> waiting_on() const override;
  std::string table() const override;
  boost::json::object details() const override;
  std::string faulted(uint32_t gpu, uint64_t offset) override;
  std::string client_at(uint32_t gpu, uint64_t offset) const override;

 private:
  struct Program {
    ProgramCall call;
    bool is_high_priority = false;
    std::unique_ptr<ProgramLibrary> library;
    const HostRuntime* runtime = nullptr;  // While it runs.
    bool returned = false;
    int status = 0;
    std::string failure;       // Why it failed; empty: it did not.
    bool has_faulted = false;  // A kernel of it.
    bool has_ended = false;  // With its last message answered. What follows is known from then on.
    Time ended = 0;
    uint64_t answered = 0;  // Calls of a client that needed no message, and messages.
    uint64_t messages = 0;
    uint64_t message_bytes = 0;
  };

  // "right", "wrong: ...", "its kernel faulted" or "not returned".
  static std::string outcome_of(const Program& program);
  ServerLaws laws_of_server() const;
  uint64_t heap_of(uint32_t server) const override;
  stretto_runtime_options_t options_of(uint32_t number) const;
  void run(HostCore& core, Program& program, uint32_t number);
  // Throws CheckError if main() said that something is wrong.
  void call(Program& program, HostRuntime& runtime);
  void serve(HostCore& core);

  const bool are_pes_;
  const std::vector<uint8_t> kernels_;
  const stretto_runtime_options_t options_;
  std::vector<Program> programs_;
  std::vector<stretto_runtime_network_t> networks_;  // Of PEs.
  std::unique_ptr<ServerProgram> server_;            // Null: none.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_JOB_H_
