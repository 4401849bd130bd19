// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/loaded/loaded_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "models/common/clock_domain.h"
#include "models/common/error.h"
#include "platform/jobs/contents.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/servers_job.h"
#include "sw/kernels/shmem_probe.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr uint32_t kServers = 2;     // Server 0 uses the memory of server 1.
constexpr uint64_t kAlignment = 64;  // Of what a work-group moves.

uint32_t operation_of(LoadedOperation operation) {
  switch (operation) {
    case LoadedOperation::get: return STRETTO_SHMEM_GET;
    case LoadedOperation::put: return STRETTO_SHMEM_PUT;
    default: return STRETTO_SHMEM_QUIET;
  }
}

uint64_t stride_of(uint32_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

class LoadedJob final : public ServersJob {
 public:
  LoadedJob(const LoadedKind& kind, const JobRequest& request, Memories memories)
      : ServersJob(request, std::move(memories)),
        kind_(kind),
        clock_(spec_.gpu.clock_mhz),
        half_(uint64_t{kind.work_groups} * stride_of(kind.bytes)),
        elf_(kernel_file("shmem_probe")) {
    for (uint32_t server = 0; server < kServers; ++server) plan(server);
  }

  // What is read; what is written lies behind it and is zero.
  void place_contents() override {
    for (uint32_t server = 0; server < kServers; ++server) {
      const uint64_t base = offset_of(plans_[server].data);
      memory(server).add_generator(base, half_, random_words(request_.seed, server, base));
    }
  }

  void add_programs(Host& host, uint32_t server) override {
    add_program(host, "server" + std::to_string(server), [this, server](HostCore& core) {
      run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
        return shmem_list_run(&plans_[server].list, ops, error);
      });
    });
    add_service(host, server);
  }

  CheckReport check() const override {
    CheckReport report;
    const uint32_t source = kind_.operation == LoadedOperation::get ? 1 : 0, target = 1 - source;
    std::vector<uint8_t> expected(half_), got(half_);
    if (kind_.operation != LoadedOperation::none)
      memory(source).read(offset_of(plans_[source].data), expected.data(), half_);
    memory(target).read(offset_of(plans_[target].data) + half_, got.data(), half_);
    const uint64_t stride = stride_of(kind_.bytes);
    for (uint64_t at = 0; at < half_; ++at) {
      if (at % stride >= kind_.bytes) expected[at] = 0;
      ++report.elements;
      if (got[at] != expected[at])
        report.wrong(fmt::format("server {}, work-group {}, byte {}: got {:#x}, expected {:#x}",
                                 target, at / stride, at % stride, got[at], expected[at]));
    }
    return report;
  }

  void audit(uint32_t rank, AuditSink& sink) const override {
    if (rank != rank_of(0)) return;
    audit_service(0, sink);
    const uint64_t moved = kind_.operation == LoadedOperation::none ? 0 : operations();
    sink.equal("operations asked for = posted by the network service", moved,
               plans_[0].counts(memory(0)).posted);
    uint64_t well = 0;
    for (uint32_t group = 0; group < kind_.work_groups; ++group)
      for (uint32_t round = 0; round < kind_.rounds; ++round) {
        const shmem_probe_stamp_t one = stamp(group, round);
        well += one.ended > one.written && one.written > one.call && one.failed == 0;
      }
    sink.equal("blocking operations = ended well", uint64_t{kind_.work_groups} * kind_.rounds,
               well);
    sink.equal("bytes asked for = posted by the network service", moved * kind_.bytes,
               plans_[0].counts(memory(0)).bytes);
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{"shmem_probe", sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    const Figures all = figures();
    std::string text = fmt::format("{:>24} {:>12} {:>12} {:>12} {:>14}\n", "", "mean us",
                                   "median us", "99 % us", "operations/us");
    const auto line = [&](const char* name, const std::vector<uint64_t>& clocks, double us) {
      if (clocks.empty()) return;
      text += fmt::format("{:>24} {:>12.3f} {:>12.3f} {:>12.3f} {:>14.3f}\n", name, mean_us(clocks),
                          us_of(percentile(clocks, 50)), us_of(percentile(clocks, 99)), us);
    };
    line("blocking operation", all.latencies, rate(all.blocking));
    line("all that do not block", all.messages, rate(all.posted));
    return text;
  }

  json::object details() const override {
    const Figures all = figures();
    const stretto_shmem_counts_t counts = plans_[0].counts(memory(0));
    json::object details{
        {"operations", operations()}, {"polling_rounds", counts.rounds}, {"entries", counts.taken}};
    if (!all.latencies.empty())
      details["blocking"] = json::object{{"mean_us", mean_us(all.latencies)},
                                         {"median_us", us_of(percentile(all.latencies, 50))},
                                         {"p99_us", us_of(percentile(all.latencies, 99))},
                                         {"span_us", all.blocking.us},
                                         {"per_us", rate(all.blocking)}};
    if (!all.messages.empty())
      details["not_blocking"] =
          json::object{{"span_us", all.posted.us}, {"per_us", rate(all.posted)}};
    add_service(details);
    if (kind_.streaming != 0) details["streamed_bytes"] = streamed_bytes();
    return details;
  }

 private:
  // From the first call to the last end, and how many operations.
  struct Span {
    double us = 0;
    uint64_t operations = 0;
  };
  struct Figures {
    std::vector<uint64_t> latencies;  // Clocks of the GPU, sorted,
    std::vector<uint64_t> messages;   // likewise, of all messages of a work-group.
    Span blocking, posted;
  };

  uint64_t operations() const {
    return uint64_t{kind_.work_groups} * (kind_.rounds + kind_.messages);
  }
  double us_of(uint64_t clocks) const {
    return static_cast<double>(clock_.edge(clocks)) / kMicrosecond;
  }
  double mean_us(const std::vector<uint64_t>& clocks) const {
    uint64_t sum = 0;
    for (const uint64_t one : clocks) sum += one;
    return us_of(sum) / static_cast<double>(clocks.size());
  }
  static uint64_t percentile(const std::vector<uint64_t>& sorted, uint32_t percent) {
    return sorted[std::min(sorted.size() - 1, sorted.size() * percent / 100)];
  }
  static double rate(const Span& span) {
    return span.us == 0 ? 0 : static_cast<double>(span.operations) / span.us;
  }

  void plan(uint32_t server) {
    ShmemPlan& plan = plans_[server];
    plan.threads = kind_.threads;
    const uint64_t stamps = SHMEM_PROBE_STAMP_BYTES(kind_.rounds);
    const uint32_t streaming = server == 0 ? kind_.streaming : 0;
    plan.place(request_, server, rank_of(server), kind_.work_groups, 2 * half_,
               kind_.work_groups * stamps + (streaming == 0 ? 0 : 64 + 8 * streaming),
               layouts_[rank_of(server)], streaming * array_bytes());
    arguments_[server] = shmem_stream_arguments_t{};
    shmem_stream_arguments_t& all = arguments_[server];
    all.arrays = plan.arrays;
    all.array_bytes = array_bytes();
    all.ended = plan.results + kind_.work_groups * stamps;
    all.notes = all.ended + 64;
    all.probes = kind_.work_groups;
    shmem_probe_arguments_t& one = all.probe;
    one.source = plan.data;
    one.destination = plan.data + half_;
    one.bytes = kind_.bytes;
    one.stride = stride_of(kind_.bytes);
    one.stamps = plan.results;
    one.operation = operation_of(kind_.operation);
    one.pe = 1 - server;
    one.rounds = kind_.rounds;
    one.messages = kind_.messages;
    if (streaming != 0)
      plan.launches.push_back({"shmem_stream", &all, sizeof all, kind_.work_groups + streaming});
    else
      plan.launches.push_back(
          {"shmem_probe", &one, sizeof one, server == 0 ? kind_.work_groups : 0});
    plan.finish(cluster_memory(), elf_, kind_.poll_rounds);
  }

  uint64_t array_bytes() const { return uint64_t{kind_.stream_kib} * 1024; }
  uint64_t streamed_bytes() const {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < kind_.streaming; ++i)
      bytes += in_memory<uint64_t>(0, arguments_[0].notes + 8 * i);
    return bytes;
  }
  uint64_t stamps_of(uint32_t group) const {
    return plans_[0].results + group * SHMEM_PROBE_STAMP_BYTES(kind_.rounds);
  }
  shmem_probe_stamp_t stamp(uint32_t group, uint32_t round) const {
    return in_memory<shmem_probe_stamp_t>(0,
                                          stamps_of(group) + round * sizeof(shmem_probe_stamp_t));
  }

  // Of what has ended.
  Figures figures() const {
    Figures all;
    uint64_t first = ~uint64_t{0}, last = 0, first_message = ~uint64_t{0}, last_message = 0;
    for (uint32_t group = 0; group < kind_.work_groups; ++group) {
      for (uint32_t round = 0; round < kind_.rounds; ++round) {
        const shmem_probe_stamp_t one = stamp(group, round);
        if (one.ended == 0) continue;
        all.latencies.push_back(one.ended - one.call);
        first = std::min(first, one.call);
        last = std::max(last, one.ended);
      }
      const auto clocks = in_memory<std::array<uint64_t, 2>>(
          0, stamps_of(group) + kind_.rounds * sizeof(shmem_probe_stamp_t));
      if (kind_.messages == 0 || clocks[1] == 0) continue;
      all.messages.push_back(clocks[1] - clocks[0]);
      first_message = std::min(first_message, clocks[0]);
      last_message = std::max(last_message, clocks[1]);
    }
    if (!all.latencies.empty()) all.blocking = {us_of(last - first), all.latencies.size()};
    if (!all.messages.empty())
      all.posted = {us_of(last_message - first_message), all.messages.size() * kind_.messages};
    std::sort(all.latencies.begin(), all.latencies.end());
    std::sort(all.messages.begin(), all.messages.end());
    return all;
  }

  const LoadedKind& kind_;
  const ClockDomain clock_;
  const uint64_t half_;  // What is read; as much is written.
  const std::vector<uint8_t> elf_;
  std::array<shmem_stream_arguments_t, kServers> arguments_{};
};

}  // namespace

void LoadedKind::describe(ParameterSet& set) {
  set.choice("operation", operation,
             {{"get", LoadedOperation::get},
              {"put", LoadedOperation::put},
              {"none", LoadedOperation::none}},
             "Gets, puts, or entries alone, which the service answers without the NIC (quiet).");
  set.number("work_groups", work_groups, 1, STRETTO_SHMEM_QUEUES, "Of server 0, all at a time.");
  set.number("bytes", bytes, 1, 1u << 20, "Of an operation.");
  set.number("rounds", rounds, 1, 1000, "Blocking operations of each, one after the other.");
  set.number("messages", messages, 0, 4096,
             "Operations of each behind them that do not block, and a quiet.");
  set.number("poll_rounds", poll_rounds, 1, 1000,
             "Rounds of a thread over its queues to one look at completions (CN-U06).");
  set.number("threads", threads, 1, STRETTO_SHMEM_MAX_THREADS,
             "Harts, or threads of the host, that serve queues (CN-U07).");
  set.number("streaming", streaming, 0, 1000,
             "Work-groups of server 0 beside these, which load arrays of their own until all "
             "operations have ended (Fig 7).");
  set.number("stream_kib", stream_kib, 16, 65536, "Array of each of them, KiB; a multiple of 16.");
}

std::string LoadedKind::first_error() const {
  if (operation == LoadedOperation::none && messages != 0) return "operation=none has no messages";
  if (stream_kib * 1024 % SHMEM_STREAM_STEP_BYTES != 0)
    return fmt::format("stream_kib ({}) is not a multiple of {}", stream_kib,
                       SHMEM_STREAM_STEP_BYTES / 1024);
  return "";
}

const KindInfo& LoadedKind::info() const {
  static const KindInfo info{
      .name = "loaded",
      .sentence = "Many work-groups use the memory of another server: what service they get.",
      .modes = shmem_modes(),
      .spans_servers = true,
      .machine_of_mode = shmem_machines()};
  return info;
}

std::map<std::string, uint64_t> LoadedKind::shape() const {
  return {{"work_groups", work_groups}, {"bytes", bytes},
          {"rounds", rounds},           {"messages", messages},
          {"poll_rounds", poll_rounds}, {"threads", threads},
          {"streaming", streaming}};
}

void LoadedKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  check_servers(request, kServers, kServers);
  const uint32_t room = spec.gpu.cus * spec.gpu.workgroup_slots;
  if (work_groups + streaming > room)
    throw UserError(fmt::format(
        "{}: loaded.work_groups and streaming ({}) are to be there at a time, and the GPU has room "
        "for {}",
        request.subject(), work_groups + streaming, room));
  check_service_threads(request, threads);
  check_kernels("shmem_probe", {"shmem_probe", "shmem_stream"});
  const uint64_t heap = 2 * uint64_t{work_groups} * stride_of(bytes);
  check_memory(
      request,
      heap + uint64_t{streaming} * stream_kib * 1024 + 8 * streaming + 64 +
          STRETTO_SHMEM_SYNC_BYTES(work_groups) + SHMEM_LIST_MODULE_BYTES +
          work_groups * (uint64_t{STRETTO_SHMEM_QUEUE_BYTES} + SHMEM_PROBE_STAMP_BYTES(rounds)) +
          (4u << 20),
      "the heap", heap, "loaded.bytes or work_groups");
}

std::vector<std::string> LoadedKind::claims(const JobRequest&) const { return {kNetworkInterface}; }

std::vector<std::string> LoadedKind::kernel_files(const JobRequest&) const {
  return {kernel_path("shmem_probe")};
}

std::unique_ptr<Job> LoadedKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<LoadedJob>(*this, request, std::move(memories));
}

}  // namespace stretto
