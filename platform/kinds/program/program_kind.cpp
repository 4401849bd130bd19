// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/program/program_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/jobs/host_runtime.h"
#include "platform/jobs/servers_job.h"
#include "platform/kinds/program/program_job.h"
#include "platform/kinds/program/program_library.h"

namespace stretto {

namespace {

constexpr uint32_t kMostClients = 10;
constexpr const char* kBetween = "|";  // Arguments of clients.

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream list(text);
  for (std::string word; list >> word;) words.push_back(word);
  return words;
}

}  // namespace

void ProgramKind::describe(ParameterSet& set) {
  set.text("file", file, "Shared object with a main() over cuda_runtime.h and nccl.h.");
  set.text("beside", beside, "More of them, with spaces between them: clients, too.");
  set.text(
      "arguments", arguments,
      "Of main(), with spaces between them; of several clients with \" | \" between them, the last "
      "ones are those of all that follow.");
  set.text("preload", preload,
           "Shared objects that take calls before libstretto_cudart.so, the first one first, with "
           "spaces between them.");
  set.choice<ProgramServer>(
      "server", server,
      {{"none", ProgramServer::none},
       {"no-scheduling", ProgramServer::no_scheduling},
       {"no-transformation", ProgramServer::no_transformation},
       {"tally", ProgramServer::tally},
       {"tally-stock-isa", ProgramServer::tally_stock_isa},
       {"tally-unmodified", ProgramServer::tally_unmodified}},
      "What programs share a GPU through: none, one has it itself; no-scheduling, kernels run as "
      "they come; no-transformation, best effort waits for high priority; tally, best-effort "
      "kernels "
      "are transformed and stopped; tally-unmodified, the GPU stops them as they are.");
  set.number("clients", clients, 0, kMostClients,
             "Of the server; they take the files in turn. 0: one a file.");
  set.number("high_priority", high_priority, 0, 1,
             "Whether the first client has high priority; the others are best effort.");
  describe_policy(policy, set);
  set.number("heap_bytes", heap_bytes, 1, 1u << 30, "Of a PE, what shmem_malloc gives.");
  set.number("threads", threads, 1, STRETTO_SHMEM_MAX_THREADS,
             "That serve kernels which communicate: harts of the command processor, or threads of "
             "the host.");
  set.number("poll_rounds", poll_rounds, 1, 1000,
             "Rounds of a thread over its queues to one look at completions (CN-U06).");
  set.flag("return_errors", return_errors,
           "An operation that fails is told to its context alone; else it ends the run.");
}

// Those of each client that has its own.
std::vector<std::vector<std::string>> ProgramKind::arguments_of_clients() const {
  std::vector<std::vector<std::string>> all(1);
  for (const std::string& word : words_of(arguments)) {
    if (server != ProgramServer::none && word == kBetween)
      all.emplace_back();
    else
      all.back().push_back(word);
  }
  return all;
}

std::vector<ProgramCall> ProgramKind::calls() const {
  std::vector<std::string> files = words_of(beside);
  files.insert(files.begin(), file);
  const std::vector<std::vector<std::string>> all = arguments_of_clients();
  std::vector<ProgramCall> calls(clients == 0 ? files.size() : clients);
  for (size_t i = 0; i < calls.size(); ++i)
    calls[i] = {files[i % files.size()], all[std::min(i, all.size() - 1)]};
  return calls;
}

std::string ProgramKind::first_error() const {
  if (file.empty()) return "needs file";
  if (const char* const wrong = tally_policy_error(&policy); wrong != nullptr)
    return fmt::format("has no policy: {}", wrong);
  const size_t count = calls().size();
  if (server == ProgramServer::none && count != 1)
    return fmt::format("has {} clients and no server; programs without one are jobs", count);
  if (count > kMostClients) return fmt::format("has {} files; at most {}", count, kMostClients);
  if (const size_t own = arguments_of_clients().size(); own > count)
    return fmt::format("has arguments of {} clients (with {} between them) and {} clients", own,
                       kBetween, count);
  for (const std::string& word : words_of(arguments))
    if (server != ProgramServer::none && word != kBetween && word.find(kBetween) != word.npos)
      return fmt::format("arguments: '{}': {} between those of clients has spaces around it", word,
                         kBetween);
  return "";
}

void ProgramKind::resolve(const std::string& workload) {
  file = stretto::beside(workload, file);
  for (std::string* list : {&beside, &preload}) {
    std::vector<std::string> files = words_of(*list);
    for (std::string& one : files) one = stretto::beside(workload, one);
    *list = fmt::format("{}", fmt::join(files, " "));
  }
}

const KindInfo& ProgramKind::info() const {
  static const KindInfo info = [] {
    KindInfo made{
        .name = "program",
        .sentence = "A program of yours over cuda_runtime.h and nccl.h.",
        .accounts = 3,
        .modes = {{"mmio", "program, its communicators with engine mmio"},
                  {"gdma", "program, its communicators with engine gdma"},
                  {"dma", "program, its communicators with engine dma"},
                  {"t3", "program, its communicators with engine t3"}},
        .spans_servers = true,
    };
    for (const auto& mode : shmem_modes()) made.modes.emplace_back(mode);
    made.machine_of_mode = shmem_machines();
    return made;
  }();
  return info;
}

bool ProgramKind::spans_servers(const std::string& mode) const {
  const auto modes = shmem_modes();
  return std::any_of(modes.begin(), modes.end(),
                     [&](const auto& one) { return one.first == mode; });
}

void ProgramKind::check(const JobRequest& request) const {
  if (const std::string error = first_error(); !error.empty())
    throw UserError(request.subject() + ": program " + error);
  for (const ProgramCall& call : calls()) check_program(call.file);
  for (const std::string& library : preloads()) check_preload(library);
  if (spans_servers(request.mode)) {
    if (server != ProgramServer::none)
      throw UserError(
          fmt::format("{}: program.server: a PE has its GPU itself", request.subject()));
    check_servers(request, 2);
    check_service_threads(request, threads);
  }
  if (server != ProgramServer::none) {
    if (request.ranks() != 1)
      throw UserError(
          fmt::format("program.server: clients share one GPU; this job has {}", request.ranks()));
    (void)ServerProgram(request, server, policy, static_cast<uint32_t>(calls().size()));
  }
  (void)runtime_options(request, request.mode, true, kernel_file(request.spec.software.collective));
}

std::vector<std::string> ProgramKind::claims(const JobRequest& request) const {
  if (spans_servers(request.mode)) return {kNetworkInterface};
  return runtime_claims(request.mode);
}

std::vector<std::string> ProgramKind::kernel_files(const JobRequest& request) const {
  return {kernel_path(request.spec.software.collective)};
}

std::vector<std::string> ProgramKind::preloads() const {
  std::vector<std::string> libraries = words_of(preload);
  if (server != ProgramServer::none) libraries.push_back(library_file("libtally_client.so"));
  return libraries;
}

std::unique_ptr<Job> ProgramKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<ProgramJob>(*this, request, std::move(memories));
}

}  // namespace stretto
