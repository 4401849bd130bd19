// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/program/program_kind.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "models/common/error.h"
#include "platform/base/exit_status.h"
#include "platform/jobs/host_runtime.h"

namespace stretto {

namespace {

const void* current_process() {
  return sc_core::sc_get_current_process_handle().get_process_object();
}

const void* program_process = nullptr;  // Of the program that runs.

// A program that calls exit() would take the run with it, and succeed.
void on_exit_of_process() {
  if (program_process == nullptr || current_process() != program_process) return;
  static constexpr char kText[] =
      "stretto: failed: the program called exit(); it must return from main(). There are no "
      "results\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(kExitCheckFailed);
}

// While it lives, an access of its program to memory that the host does not have comes back to `back`; one of
// anything else in this process ends it as always.
class FaultGuard {
 public:
  FaultGuard() {
    program_process = current_process();
    thread = pthread_self();
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~FaultGuard() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    program_process = nullptr;
  }
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;

  static inline sigjmp_buf back;
  static inline const void* address = nullptr;

 private:
  static constexpr std::array<int, 2> kSignals{SIGSEGV, SIGBUS};
  static void on_fault(int signal, siginfo_t* info, void*) {
    if (current_process() != program_process || pthread_equal(pthread_self(), thread) == 0) {
      std::signal(signal, SIG_DFL);  // The access is made again.
      return;
    }
    address = info->si_addr;
    siglongjmp(back, 1);
  }
  static inline pthread_t thread{};  // A thread that the program made has no way back.
  std::array<struct sigaction, 2> before_{};
};

class ProgramJob final : public Job {
 public:
  // Throws UserError if the file cannot be loaded.
  ProgramJob(const ProgramKind& kind, const JobRequest& request, Memories memories);
  ~ProgramJob() override;

  std::vector<Account> accounts() const override { return runtime_accounts(); }
  std::vector<PhaseRule> phases() const override { return runtime_phases(); }
  void place_contents() override {}
  void add_programs(Host& host) override;
  CheckReport check() const override;
  void audit(uint32_t, AuditSink&) const override {}
  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override;
  std::vector<std::string> waiting_on() const override;
  boost::json::object details() const override;

 private:
  void run(HostCore& core);

  const ProgramKind& kind_;
  const std::vector<uint8_t> kernels_;
  const stretto_runtime_options_t options_;
  void* library_ = nullptr;
  int (*main_)(int, char**) = nullptr;
  const HostRuntime* runtime_ = nullptr;  // While the program runs.
  bool returned_ = false;
  int status_ = 0;
};

ProgramJob::ProgramJob(const ProgramKind& kind, const JobRequest& request, Memories memories)
    : Job(request, std::move(memories)),
      kind_(kind),
      kernels_(kernel_file(spec_.software.collective)),
      options_(runtime_options(request, request.mode, true, kernels_)) {
  // dlopen() searches its own places for a name without a slash.
  const std::string path = std::filesystem::absolute(kind_.file).string();
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) throw UserError(std::string("cannot load the program: ") + dlerror());
  main_ = reinterpret_cast<int (*)(int, char**)>(dlsym(library_, "main"));
  if (main_ == nullptr) throw UserError(kind_.file + ": has no main()");
}

ProgramJob::~ProgramJob() {
  if (library_ != nullptr) dlclose(library_);
}

void ProgramJob::add_programs(Host& host) {
  add_program(host, "program", [this](HostCore& core) { run(core); });
}

void ProgramJob::run(HostCore& core) {
  HostRuntime runtime(core, options_);
  runtime_ = &runtime;
  const auto forget = [this](void*) { runtime_ = nullptr; };
  const std::unique_ptr<void, decltype(forget)> forgets(this, forget);  // However this ends.
  std::vector<std::string> words{kind_.file};
  std::istringstream list(kind_.arguments);
  for (std::string word; list >> word;) words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  static const int kAtExit = std::atexit(on_exit_of_process);
  if (kAtExit != 0) throw CheckError("no room for atexit()");
  const FaultGuard guard;
  if (sigsetjmp(FaultGuard::back, 1) != 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%p", FaultGuard::address);
    throw CheckError(
        kind_.file + ": main() used address " + text +
        ", where the host has no memory; what cudaMalloc gives is a device's, for cudaMemcpy");
  }
  status_ = main_(static_cast<int>(words.size()), arguments.data());
  returned_ = true;
  const std::string said = runtime.last_error();
  const int open_groups = runtime.group_depth();
  if (status_ == 0 && open_groups != 0)
    throw CheckError(kind_.file +
                     ": main() returned inside a group: ncclGroupEnd is missing, its calls were "
                     "not carried out");
  if (status_ != 0) {
    throw CheckError(kind_.file + ": main() returned " + std::to_string(status_) +
                     (said.empty() ? "" : "; the last call that failed: " + said));
  }
}

// The program's own verdict is its exit status.
CheckReport ProgramJob::check() const {
  CheckReport report;
  report.elements = returned_ ? 1 : 0;
  return report;
}

std::vector<std::pair<std::string, std::string>> ProgramJob::kernel_sha256() const {
  return {{spec_.software.collective, sha256_hex(kernels_.data(), kernels_.size())}};
}

std::vector<std::string> ProgramJob::waiting_on() const {
  std::vector<std::string> lines;
  if (runtime_ != nullptr && !runtime_->position().empty()) lines.push_back(runtime_->position());
  if (runtime_ != nullptr && !runtime_->last_error().empty())
    lines.push_back("the last call that failed: " + runtime_->last_error());
  return lines;
}

boost::json::object ProgramJob::details() const {
  return {{"program", kind_.file}, {"returned", returned_}, {"status", status_}};
}

}  // namespace

void ProgramKind::describe(ParameterSet& set) {
  set.text("file", file, "Shared object with a main() over nccl.h and cuda_runtime.h.");
  set.text("arguments", arguments, "Of main(), with spaces between them.");
}

std::string ProgramKind::first_error() const { return file.empty() ? "needs file" : ""; }

const KindInfo& ProgramKind::info() const {
  static const KindInfo info{
      .name = "program",
      .sentence = "A program of yours over nccl.h and cuda_runtime.h.",
      .modes = {{"mmio", "program, its communicators with engine mmio"},
                {"gdma", "program, its communicators with engine gdma"},
                {"dma", "program, its communicators with engine dma"},
                {"t3", "program, its communicators with engine t3"}},
  };
  return info;
}

void ProgramKind::check(const JobRequest& request) const {
  if (!std::filesystem::is_regular_file(file)) throw UserError(file + ": no such file");
  (void)runtime_options(request, request.mode, true, kernel_file(request.spec.software.collective));
}

std::vector<std::string> ProgramKind::kernel_files(const JobRequest& request) const {
  return {kernel_path(request.spec.software.collective)};
}

std::unique_ptr<Job> ProgramKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<ProgramJob>(*this, request, std::move(memories));
}

}  // namespace stretto
