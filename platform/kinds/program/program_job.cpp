// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/program/program_job.h"

#include <fmt/format.h>

#include "models/common/error.h"
#include "platform/kinds/program/program_guard.h"

namespace stretto {

ProgramJob::ProgramJob(const ProgramKind& kind, const JobRequest& request, Memories memories)
    : ServersJob(request, std::move(memories)),
      are_pes_(kind.spans_servers(request.mode)),
      kernels_(kernel_file(spec_.software.collective)),
      options_(runtime_options(request, request.mode, true, kernels_)) {
  std::vector<ProgramCall> calls = kind.calls();
  if (are_pes_) calls.resize(servers(), calls.front());
  programs_.reserve(calls.size());
  for (const ProgramCall& call : calls) {
    check_program(call.file);  // Again: what is loaded by now decides what the loader finds.
    Program& program = programs_.emplace_back();
    program.call = call;
    program.is_high_priority = programs_.size() <= kind.high_priority;
    program.library = std::make_unique<ProgramLibrary>(call.file);
  }
  for (uint32_t pe = 0; are_pes_ && pe < servers(); ++pe) {
    plans_[pe].threads = kind.threads;
    networks_.push_back(
        plans_[pe].network(request, pe, cluster_memory(), kind.heap_bytes, kind.poll_rounds));
    if (kind.return_errors) networks_.back().table_flags = STRETTO_SHMEM_RETURN_ERRORS;
  }
  if (kind.server != ProgramServer::none)
    server_ = std::make_unique<ServerProgram>(request, kind.server, kind.policy,
                                              static_cast<uint32_t>(programs_.size()));
}

void ProgramJob::add_programs(Host& host, uint32_t server) {
  if (are_pes_) {
    add_program(host, "pe" + std::to_string(server),
                [this, server](HostCore& core) { run(core, programs_[server], server); });
    add_service(host, server);
    return;
  }
  for (uint32_t i = 0; i < programs_.size(); ++i) {
    const std::string name = server_ == nullptr ? "program" : "client" + std::to_string(i);
    add_program(host, name, [this, i](HostCore& core) { run(core, programs_[i], i); });
  }
  if (server_ != nullptr) add_program(host, "server", [this](HostCore& core) { serve(core); });
}

void ProgramJob::call(Program& program, HostRuntime& runtime) {
  const std::string& file = program.call.file;
  std::vector<std::string> words = program.call.arguments;
  words.insert(words.begin(), file);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  program.status =
      guarded_call(file, *program.library, static_cast<int>(words.size()), arguments.data());
  program.returned = true;
  if (program.status == 0 && runtime.group_depth() == 0) return;
  if (program.status == 0)
    throw CheckError(file +
                     ": main() returned inside a group: ncclGroupEnd is missing, its calls were "
                     "not carried out");
  const std::string said = runtime.last_error();
  throw CheckError(fmt::format("{}: main() returned {}{}", file, program.status,
                               said.empty() ? "" : "; the last call that failed: " + said));
}

stretto_runtime_options_t ProgramJob::options_of(uint32_t number) const {
  stretto_runtime_options_t options = options_;
  if (server_ != nullptr) {
    options.server_channel = tally_channel_address(options.job, number);
    options.high_priority = programs_[number].is_high_priority;
  }
  if (are_pes_) {
    options.devices = 1;
    options.device_gpu[0] = static_cast<uint8_t>(request_.share.gpus[rank_of(number)]);
    options.network = networks_[number];
  }
  return options;
}

void ProgramJob::run(HostCore& core, Program& program, uint32_t number) {
  HostRuntime runtime(core, options_of(number));
  program.runtime = &runtime;
  const auto forget = [&program](void*) { program.runtime = nullptr; };
  const std::unique_ptr<void, decltype(forget)> forgets(this, forget);  // However this ends.
  try {
    call(program, runtime);
  } catch (const CheckError& error) {
    program.failure = error.what();
    if (request_.spec.gpu.executor != Executor::iss)
      program.failure +=
          "; if it checks data: work-groups whose times are sampled (gpu.executor) compute nothing";
  }
  const stretto_runtime_layer_t& layer = *stretto_runtime_layer();
  if (server_ != nullptr && layer.end == nullptr) {  // It has called nothing, and the server waits.
    tally_channel_t channel = tally_attach(layer.ops, layer.server_channel, TALLY_BEST_EFFORT);
    tally_detach(&channel);
  }
  runtime.end_layer();
  program.answered = layer.answered;
  program.messages = layer.messages;
  program.message_bytes = layer.message_bytes;
  program.ended = core.now();
  program.has_ended = true;
  if (server_ == nullptr && !program.failure.empty()) throw CheckError(program.failure);
  const uint64_t begin = request_.share.memory_begin;
  if (are_pes_) {
    int is_open = 0;
    plans_[number].opened(core, runtime.symmetric(&is_open));
    if (is_open != 0)
      throw CheckError(program.call.file + ": main() returned without shmem_finalize" +
                       (runtime.last_error().empty()
                            ? ""
                            : "; the last call that failed: " + runtime.last_error()));
    layouts_[rank_of(number)].add("runtime", begin, runtime.memory_end(0) - begin);
    return;
  }
  for (uint32_t rank = 0; rank < request_.ranks() && server_ == nullptr; ++rank)
    layouts_[rank].add("runtime", begin, runtime.memory_end(rank) - begin);
}

void ProgramJob::serve(HostCore& core) {
  server_->run(core);
  layouts_[0].add("clients", request_.share.memory_begin,
                  request_.share.memory_end - request_.share.memory_begin);
}

uint64_t ProgramJob::heap_of(uint32_t server) const {
  int is_open = 0;
  const HostRuntime* runtime = are_pes_ ? programs_[server].runtime : nullptr;
  const stretto_symmetric_options_t* symmetric =
      runtime == nullptr ? nullptr : runtime->symmetric(&is_open);
  return symmetric == nullptr ? 0 : symmetric->cluster.heap;
}

// A program's own verdict is its exit status. A client that has failed does not end the others.
CheckReport ProgramJob::check() const {
  CheckReport report;
  for (size_t i = 0; i < programs_.size(); ++i) {
    const Program& program = programs_[i];
    report.elements += program.returned || !program.failure.empty() ? 1 : 0;
    if (!program.failure.empty()) report.wrong(fmt::format("client {}, {}", i, program.failure));
  }
  return report;
}

std::string ProgramJob::faulted(uint32_t gpu, uint64_t offset) {
  const auto client =
      server_ == nullptr ? std::nullopt : stretto::client_at(server_->gpu(), gpu, offset);
  if (!client) return "";
  programs_[*client].has_faulted = true;
  return fmt::format("client {} ({})", *client, programs_[*client].call.file);
}

std::string ProgramJob::client_at(uint32_t gpu, uint64_t offset) const {
  const auto client =
      server_ == nullptr ? std::nullopt : stretto::client_at(server_->gpu(), gpu, offset);
  return client && programs_.size() > 1 ? fmt::format("client{}", *client) : "";
}

std::string ProgramJob::outcome_of(const Program& program) {
  if (!program.failure.empty()) return "wrong: " + program.failure;
  if (program.has_faulted) return "its kernel faulted";
  return program.returned ? "right" : "not returned";
}

std::string ProgramJob::table() const {
  if (server_ == nullptr) return "";
  std::string text = fmt::format("  {:<8} {:<12} {:>10} {:>10} {:>12}  {}\n", "client", "priority",
                                 "messages", "answered", "ended us", "outcome");
  for (size_t i = 0; i < programs_.size(); ++i) {
    const Program& one = programs_[i];
    const auto known = [&one](std::string value) { return one.has_ended ? value : "-"; };
    text += fmt::format(
        "  {:<8} {:<12} {:>10} {:>10} {:>12}  {}\n", i,
        one.is_high_priority ? "high" : "best effort", known(std::to_string(one.messages)),
        known(std::to_string(one.answered)),
        known(fmt::format("{:.1f}", static_cast<double>(one.ended) / (1e3 * kNanosecond))),
        outcome_of(one));
  }
  return text + server_text(server_->parameters(), server_->result(), server_->log());
}

void ProgramJob::audit(uint32_t rank, AuditSink& sink) const {
  if (const uint32_t server = server_of(rank); are_pes_ && server != servers())
    audit_service(server, sink);
  for (uint32_t i = 0; i < programs_.size() && server_ != nullptr; ++i) {
    const std::string client = fmt::format("client {}: messages ", i);
    sink.equal(client + "sent = received", programs_[i].messages, server_->result().messages[i]);
    sink.equal(client + "in bytes", programs_[i].message_bytes, server_->result().message_bytes[i]);
  }
  if (server_ != nullptr) audit_server(server_->parameters(), laws_of_server(), sink);
}

// But of kernels of clients that have failed: what became of those the client says.
ServerLaws ProgramJob::laws_of_server() const {
  ServerLog log;
  for (const ServerRecord& one : server_->log())
    if (programs_[one.told.client].failure.empty() && !programs_[one.told.client].has_faulted)
      log.push_back(one);
  return laws_of(server_->parameters(), log, *memories_[0]);
}

std::vector<std::pair<std::string, std::string>> ProgramJob::kernel_sha256() const {
  return {{spec_.software.collective, sha256_hex(kernels_.data(), kernels_.size())}};
}

std::map<std::string, std::string> ProgramJob::contents() const {
  std::map<std::string, std::string> none{{"server", ""}, {"high_priority", ""}};
  add_policy(none);
  return none;
}

std::vector<std::string> ProgramJob::waiting_on() const {
  std::vector<std::string> lines = ServersJob::waiting_on();
  for (size_t i = 0; i < programs_.size(); ++i) {
    const HostRuntime* runtime = programs_[i].runtime;
    if (runtime == nullptr) continue;
    const std::string who = are_pes_             ? "PE " + std::to_string(i) + ": "
                            : server_ == nullptr ? ""
                                                 : "client " + std::to_string(i) + ": ";
    if (!runtime->position().empty()) lines.push_back(who + runtime->position());
    if (!runtime->last_error().empty())
      lines.push_back(who + "the last call that failed: " + runtime->last_error());
  }
  return lines;
}

boost::json::object ProgramJob::details() const {
  const auto describe = [this](const Program& program) {
    boost::json::object object{{"program", program.call.file}, {"returned", program.returned}};
    if (program.returned) object["status"] = program.status;
    if (server_ == nullptr) return object;
    object["priority"] = program.is_high_priority ? "high" : "best effort";
    object["failure"] = program.failure;
    object["outcome"] = outcome_of(program);
    object["calls_answered_by_client"] = program.answered;
    object["messages"] = program.messages;
    object["ended_ns"] = program.ended / kNanosecond;
    return object;
  };
  if (server_ == nullptr) return describe(programs_.front());
  boost::json::array clients;
  for (const Program& program : programs_) clients.push_back(describe(program));
  return {{"clients", std::move(clients)},
          {"server", server_details(server_->parameters(), server_->result(), server_->log(),
                                    laws_of_server())}};
}

}  // namespace stretto
