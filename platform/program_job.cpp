// SPDX-License-Identifier: Apache-2.0
#include "platform/program_job.h"

#include <dlfcn.h>

#include <filesystem>
#include <sstream>

#include "models/common/error.h"
#include "platform/yaml_file.h"

namespace stretto {

namespace {

const ProgramKind& kind_of(const SystemRequest& request) {
  return dynamic_cast<const ProgramKind&>(*request.workload.what);
}

}  // namespace

void ProgramKind::describe(ParameterSet& set) {
  set.text("file", file, "Shared object with a main() over nccl.h and cuda_runtime.h.");
  set.text("arguments", arguments, "Of main(), with spaces between them.");
}

std::string ProgramKind::wrong() const {
  return file.empty() ? "needs file" : "";
}

const std::vector<std::pair<std::string, std::string>>& ProgramKind::modes() const {
  static const std::vector<std::pair<std::string, std::string>> modes{
      {"mmio", "program, its communicators with engine mmio"},
      {"gdma", "program, its communicators with engine gdma"},
      {"dma", "program, its communicators with engine dma"},
      {"t3", "program, its communicators with engine t3"},
  };
  return modes;
}

void ProgramKind::check(const SystemRequest& request) const {
  const MachineSpec& spec = request.machine.spec();
  if (spec.sim.mirror) throw UserError("sim.mirror: programs need all GPUs");
  if (!std::filesystem::is_regular_file(file)) throw UserError(file + ": no such file");
  (void)runtime_options(spec, request.options.mode, true, kernel_file(spec.software.collective));
}

std::vector<std::string> ProgramKind::kernel_files(const SystemRequest& request) const {
  return {kernel_path(request.machine.spec().software.collective)};
}

std::unique_ptr<Job> ProgramKind::make_job(const SystemRequest& request,
                                           std::vector<MemoryImage*>) const {
  return std::make_unique<ProgramJob>(request);
}

ProgramJob::ProgramJob(const SystemRequest& request)
    : spec_(request.machine.spec()),
      workload_(kind_of(request)),
      kernels_(kernel_file(spec_.software.collective)),
      options_(runtime_options(spec_, request.options.mode, true, kernels_)) {
  // dlopen() searches its own places for a name without a slash.
  const std::string path = std::filesystem::absolute(workload_.file).string();
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) throw UserError(std::string("cannot load the program: ") + dlerror());
  main_ = reinterpret_cast<int (*)(int, char**)>(dlsym(library_, "main"));
  if (main_ == nullptr) throw UserError(workload_.file + ": has no main()");
}

ProgramJob::~ProgramJob() {
  if (library_ != nullptr) dlclose(library_);
}

void ProgramJob::add_programs(Host& host) {
  host.add_program("program", [this](HostCore& core) { run(core); });
}

void ProgramJob::run(HostCore& core) {
  HostRuntime runtime(core, options_);
  runtime_ = &runtime;
  std::vector<std::string> words{workload_.file};
  std::istringstream list(workload_.arguments);
  for (std::string word; list >> word;) words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  status_ = main_(static_cast<int>(words.size()), arguments.data());
  returned_ = true;
  ended_ = core.now();
  const std::string said = runtime.last_error();
  runtime_ = nullptr;
  if (status_ != 0) {
    throw CheckError(workload_.file + ": main() returned " + std::to_string(status_) +
                     (said.empty() ? "" : "; the last call that failed: " + said));
  }
}

MirrorMap ProgramJob::mirror() const {
  throw UserError("sim.mirror: programs need all GPUs");
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
  if (runtime_ == nullptr || runtime_->position().empty()) return {};
  return {runtime_->position()};
}

boost::json::object ProgramJob::details() const {
  return {{"program", workload_.file}, {"returned", returned_}, {"status", status_}};
}

}  // namespace stretto
