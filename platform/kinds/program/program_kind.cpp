// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/program/program_kind.h"

#include <exception>
#include <sstream>

#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/jobs/host_runtime.h"
#include "platform/kinds/program/program_guard.h"
#include "platform/kinds/program/program_library.h"

namespace stretto {

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream list(text);
  for (std::string word; list >> word;) words.push_back(word);
  return words;
}

class ProgramJob final : public Job {
 public:
  // Throws UserError if the file cannot be loaded.
  ProgramJob(const ProgramKind& kind, const JobRequest& request, Memories memories);

  std::vector<Account> accounts() const override { return program_accounts(request_); }
  std::vector<PhaseRule> phases() const override { return program_phases(request_); }
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
  std::unique_ptr<ProgramLibrary> library_;
  const HostRuntime* runtime_ = nullptr;  // While the program runs.
  bool returned_ = false;
  int status_ = 0;
};

ProgramJob::ProgramJob(const ProgramKind& kind, const JobRequest& request, Memories memories)
    : Job(request, std::move(memories)),
      kind_(kind),
      kernels_(kernel_file(spec_.software.collective)),
      options_(runtime_options(request, request.mode, true, kernels_)) {
  check_program(kind_.file);  // Again: what is loaded by now decides what the loader finds.
  library_ = std::make_unique<ProgramLibrary>(kind_.file);
}

void ProgramJob::add_programs(Host& host) {
  add_program(host, "program", [this](HostCore& core) { run(core); });
}

void ProgramJob::run(HostCore& core) {
  HostRuntime runtime(core, options_);
  runtime_ = &runtime;
  const auto forget = [this](void*) { runtime_ = nullptr; };
  const std::unique_ptr<void, decltype(forget)> forgets(this, forget);  // However this ends.
  std::vector<std::string> words = words_of(kind_.arguments);
  words.insert(words.begin(), kind_.file);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::exception_ptr ended;  // Behind the catch clause simulated time may pass.
  try {
    status_ = guarded_call(kind_.file, library_->main(), static_cast<int>(words.size()),
                           arguments.data());
    returned_ = true;
  } catch (const CheckError&) {
    ended = std::current_exception();
  }
  runtime.end_layer();
  if (ended != nullptr) std::rethrow_exception(ended);
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
  set.text("preload", preload,
           "Shared objects that take calls before libstretto_cudart.so, the first one first, with "
           "spaces between them.");
}

std::string ProgramKind::first_error() const { return file.empty() ? "needs file" : ""; }

void ProgramKind::resolve(const std::string& workload) { file = beside(workload, file); }

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
  check_program(file);
  for (const std::string& library : preloads())
    check_shared_object(library, "a library to preload");
  (void)runtime_options(request, request.mode, true, kernel_file(request.spec.software.collective));
}

std::vector<std::string> ProgramKind::claims(const JobRequest& request) const {
  return runtime_claims(request.mode);
}

std::vector<std::string> ProgramKind::kernel_files(const JobRequest& request) const {
  return {kernel_path(request.spec.software.collective)};
}

std::vector<std::string> ProgramKind::preloads() const { return words_of(preload); }

std::unique_ptr<Job> ProgramKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<ProgramJob>(*this, request, std::move(memories));
}

}  // namespace stretto
