// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/program/program_kind.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/jobs/host_runtime.h"
#include "platform/kinds/program/program_guard.h"

namespace stretto {

namespace {

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

// dlopen() maps what the headers promise: a file that ends before would end the simulator.
void check_library(const std::string& file) {
  if (std::filesystem::is_directory(file))
    throw UserError(file + ": is a directory, not a program");
  if (!std::filesystem::is_regular_file(file)) throw UserError(file + ": no such file");
  const std::string bytes = read_file(file);
  const auto refuse = [&](const std::string& why) {
    throw UserError(file + ": " + why +
                    "; a program is a shared object of this machine (cc -shared -fPIC)");
  };
  Elf64_Ehdr header{}, own{};
  const std::string self = read_file("/proc/self/exe");
  std::memcpy(&own, self.data(), sizeof own);
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    refuse("is no ELF file");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] || header.e_machine != own.e_machine ||
      header.e_type != ET_DYN) {
    refuse("is for another processor or no shared object");
  }
  const auto inside = [&](uint64_t begin, uint64_t size) {
    return begin <= bytes.size() && size <= bytes.size() - begin;
  };
  bool whole = header.e_phentsize == sizeof(Elf64_Phdr) &&
               inside(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  for (unsigned i = 0; whole && i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    whole = segment.p_type == PT_NULL || inside(segment.p_offset, segment.p_filesz);
  }
  if (!whole)
    refuse("truncated: its segments end beyond its " + std::to_string(bytes.size()) + " bytes");
}

// The loader believes what lies behind the headers, and damaged tables end its process: so a child loads the file first.
// REQUIRES: this process has one thread.
void check_loads(const std::string& file) {
  const std::string path = std::filesystem::absolute(file).string();
  const pid_t child = fork();
  if (child < 0) return;  // No room for another process: then it is not known.
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE})
      std::signal(signal, SIG_DFL);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    alarm(10);  // Seconds; a table that is a circle.
    dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  throw UserError(
      file + ": damaged: the loader fails on it" +
      (WIFSIGNALED(status) ? std::string(" (") + strsignal(WTERMSIG(status)) + ")" : "") +
      "; a program is a shared object of this machine (cc -shared -fPIC)");
}

ProgramJob::ProgramJob(const ProgramKind& kind, const JobRequest& request, Memories memories)
    : Job(request, std::move(memories)),
      kind_(kind),
      kernels_(kernel_file(spec_.software.collective)),
      options_(runtime_options(request, request.mode, true, kernels_)) {
  // dlopen() searches its own places for a name without a slash.
  const std::string path = std::filesystem::absolute(kind_.file).string();
  check_loads(kind_.file);  // Again: what is loaded by now decides what the loader finds.
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
  status_ = guarded_call(kind_.file, main_, static_cast<int>(words.size()), arguments.data());
  returned_ = true;
  const uint64_t begin = request_.share.memory_begin;
  for (uint32_t rank = 0; rank < request_.ranks(); ++rank)
    layouts_[rank].add("runtime", begin, runtime.memory_end(rank) - begin);
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
  boost::json::object object{{"program", kind_.file}, {"returned", returned_}};
  if (returned_) object["status"] = status_;
  return object;
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
  check_library(file);
  check_loads(file);
  (void)runtime_options(request, request.mode, true, kernel_file(request.spec.software.collective));
}

std::vector<std::string> ProgramKind::claims(const JobRequest& request) const {
  return runtime_claims(request.mode);
}

std::vector<std::string> ProgramKind::kernel_files(const JobRequest& request) const {
  return {kernel_path(request.spec.software.collective)};
}

std::unique_ptr<Job> ProgramKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<ProgramJob>(*this, request, std::move(memories));
}

}  // namespace stretto
