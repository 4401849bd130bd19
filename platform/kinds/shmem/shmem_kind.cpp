// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/shmem/shmem_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstddef>
#include <set>

#include "models/common/error.h"
#include "platform/jobs/contents.h"
#include "platform/jobs/nic_watcher.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/servers_job.h"
#include "platform/jobs/shmem_plan.h"
#include "sw/include/formats/nic.h"
#include "sw/kernels/shmem_exchange.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr uint32_t kLaunches = 1;
constexpr const char* kFile = "shmem_exchange";

// In the heap behind the words of barriers: parts, then what is put, where to, and what is got.
struct DataPlan {
  uint64_t stride = 0, source = 0, put = 0, got = 0, total = 0;

  explicit DataPlan(const ShmemKind& kind) {
    stride = (uint64_t{kind.bytes} + 127) / 128 * 128;
    source = uint64_t{kind.work_groups} * SHMEM_EXCHANGE_PART_BYTES;
    put = source + kind.work_groups * stride;
    got = put + kind.work_groups * stride;
    total = got + kind.work_groups * stride;
  }
};

const char* kernel_of(ShmemProgram program) {
  switch (program) {
    case ShmemProgram::litmus: return "shmem_litmus";
    case ShmemProgram::outside: return "shmem_outside";
    default: return "shmem_exchange";
  }
}

class ShmemJob final : public Job, public NicWatcher {
 public:
  ShmemJob(const ShmemKind& kind, const JobRequest& request, Memories memories)
      : Job(request, std::move(memories)),
        kind_(kind),
        servers_(spec_.servers),
        data_(kind),
        elf_(kernel_file(kFile)),
        plans_(servers_),
        arguments_(servers_),
        begun_(servers_),
        ids_(servers_) {
    for (uint32_t pe = 0; pe < servers_; ++pe) plan(pe);
  }

  std::vector<Account> accounts() const override { return {}; }
  std::vector<PhaseRule> phases() const override { return {}; }

  void place_contents() override {
    for (uint32_t pe = 0; pe < servers_; ++pe) {
      const uint64_t base = offset_of(plans_[pe].data + data_.source);
      memory(pe).add_generator(base, data_.put - data_.source,
                               random_words(request_.seed, pe, base));
    }
  }

  void add_programs(Host& host, uint32_t server) override {
    add_program(host, "server" + std::to_string(server), [this, server](HostCore& core) {
      run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
        return shmem_list_run(&plans_[server].list, ops, error);
      });
    });
    uint32_t thread = 0;
    for (HostCore::Program& program : plans_[server].service_programs(host))
      add_thread(host, fmt::format("service{}_{}", server, thread++), std::move(program));
  }

  void on_nic(uint32_t server, const NicMoment& moment) override {
    if (moment.event != NicMoment::Event::entry || moment.pair < kFirstServicePair) return;
    ++begun_[server];
    // A put and its signal have one id, and differ in what ends the entry.
    ids_[server].insert({moment.pair, moment.id});
  }

  CheckReport check() const override {
    CheckReport report;
    for (uint32_t pe = 0; pe < servers_; ++pe) {
      for (uint32_t group = 0; group < kind_.work_groups; ++group) {
        const shmem_exchange_result_t result = result_of(pe, group);
        const auto expect = [&](uint64_t got, uint64_t expected, const char* what) {
          ++report.elements;
          if (got != expected)
            report.wrong(fmt::format("PE {} work-group {}: {}: got {:#x}, expected {:#x}", pe,
                                     group, what, got, expected));
        };
        expect(result.ended, 1, "end");
        expect(result.failed, expected_failure(pe), "status of the first operation that failed");
        if (kind_.program == ShmemProgram::exchange) exchanged(pe, group, result, expect);
        if (kind_.program == ShmemProgram::litmus && pe == 1)
          expect(result.seen, last_word(0, group), "end of the data behind the flag");
      }
    }
    if (kind_.program == ShmemProgram::exchange)
      for (uint32_t group = 0; group < kind_.work_groups; ++group) shared_words(group, report);
    return report;
  }

  void audit(uint32_t rank, AuditSink& sink) const override {
    const uint32_t pe = request_.server_led_by(rank);
    if (pe == servers_) return;
    plans_[pe].audit(memory(pe), begun_[pe], ids_[pe].size(), sink);
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{kFile, sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    std::string text = fmt::format("{:>6} {:>10} {:>12} {:>12} {:>14}\n", "PE", "entries",
                                   "operations", "bytes", "polling rounds");
    for (uint32_t pe = 0; pe < servers_; ++pe) {
      const stretto_shmem_counts_t sum = plans_[pe].counts(memory(pe));
      text += fmt::format("{:>6} {:>10} {:>12} {:>12} {:>14}\n", pe, sum.taken, sum.posted,
                          sum.bytes, sum.rounds);
    }
    return text;
  }

  json::object details() const override {
    json::array pes;
    for (uint32_t pe = 0; pe < servers_; ++pe) {
      const stretto_shmem_counts_t sum = plans_[pe].counts(memory(pe));
      pes.push_back(json::object{{"entries", sum.taken},
                                 {"operations", sum.posted},
                                 {"bytes", sum.bytes},
                                 {"polling_rounds", sum.rounds}});
    }
    return {{"pes", std::move(pes)}};
  }

 private:
  // The GPU of a server whose memory is used: its first.
  uint32_t rank_of(uint32_t server) const { return request_.rank_in(server); }
  MemoryImage& memory(uint32_t pe) const { return *memories_[rank_of(pe)]; }

  void plan(uint32_t pe) {
    ShmemPlan& plan = plans_[pe];
    plan.threads = kind_.threads;
    plan.place(request_, pe, rank_of(pe), kind_.work_groups, data_.total,
               kind_.work_groups * sizeof(shmem_exchange_result_t), layouts_[rank_of(pe)]);
    if (kind_.return_errors) plan.list.symmetric.table_flags = STRETTO_SHMEM_RETURN_ERRORS;
    shmem_exchange_arguments_t& one = arguments_[pe];
    one.parts = plan.data;
    one.source = plan.data + data_.source;
    one.put = plan.data + data_.put;
    one.got = plan.data + data_.got;
    one.results = plan.results;
    one.stride = data_.stride;
    one.bytes = kind_.bytes;
    one.rounds = kind_.rounds;
    plan.launches.assign(kLaunches,
                         {kernel_of(kind_.program), &one, sizeof one, kind_.work_groups});
    const uint64_t host = uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT |
                          STRETTO_HOST_JOB_OFFSET(request_.share.number);
    plan.finish(host + 4096, elf_, kind_.poll_rounds);
    static_assert(STRETTO_HOST_JOB_WORDS * 8 <= 4096);
  }

  template <class Value>
  Value at(uint32_t pe, uint64_t address) const {
    Value value{};
    memory(pe).read(offset_of(address), reinterpret_cast<uint8_t*>(&value), sizeof value);
    return value;
  }
  shmem_exchange_result_t result_of(uint32_t pe, uint32_t group) const {
    return at<shmem_exchange_result_t>(
        pe, plans_[pe].results + group * sizeof(shmem_exchange_result_t));
  }
  shmem_exchange_part_t part_of(uint32_t pe, uint32_t group) const {
    return at<shmem_exchange_part_t>(pe,
                                     plans_[pe].data + uint64_t{group} * SHMEM_EXCHANGE_PART_BYTES);
  }
  uint64_t last_word(uint32_t pe, uint32_t group) const {
    return at<uint64_t>(pe,
                        plans_[pe].data + data_.source + group * data_.stride + kind_.bytes - 8);
  }

  uint64_t expected_failure(uint32_t pe) const {
    return kind_.program == ShmemProgram::outside && pe == 0 ? STRETTO_NIC_REMOTE_ACCESS : 0;
  }

  std::vector<uint8_t> bytes_at(uint32_t pe, uint64_t part, uint32_t group) const {
    std::vector<uint8_t> bytes(data_.stride);
    memory(pe).read(offset_of(plans_[pe].data + part + group * data_.stride), bytes.data(),
                    bytes.size());
    return bytes;
  }

  // What a work-group and its neighbours have left each other.
  template <class Expect>
  void exchanged(uint32_t pe, uint32_t group, const shmem_exchange_result_t& result,
                 const Expect& expect) const {
    const uint32_t before = (pe + servers_ - 1) % servers_, next = (pe + 1) % servers_;
    const uint64_t from_before = shmem_exchange_value(before, group);
    const shmem_exchange_part_t part = part_of(pe, group);
    expect(result.signal, from_before, "signal that was waited for");
    expect(result.sum, 8, "sum at the next PE, behind a quiet");
    expect(result.word, shmem_exchange_value(pe, group), "word of the next PE, behind a barrier");
    expect(part.signal, from_before, "signal");
    expect(part.sum, 8, "sum");
    expect(part.word, from_before, "word that was put");
    expect(part.byte, uint64_t{1} << 24, "byte that was put");
    expect(part.set, from_before, "word that was set");
    const auto compare = [&](uint64_t place, uint32_t source, const char* what) {
      std::vector<uint8_t> expected = bytes_at(source, data_.source, group);
      std::fill(expected.begin() + kind_.bytes, expected.end(), uint8_t{0});
      const std::vector<uint8_t> got = bytes_at(pe, place, group);
      const auto [a, b] = std::mismatch(got.begin(), got.end(), expected.begin());
      expect(static_cast<uint64_t>(a - got.begin()), got.size(), what);
    };
    compare(data_.put, before, "first byte that differs of what was put");
    compare(data_.got, next, "first byte that differs of what was got");
  }

  // What all PEs but 0 have added to and swapped at PE 0, and PE 0 at PE 1: in some order, each
  // once.
  void shared_words(uint32_t group, CheckReport& report) const {
    for (uint32_t target = 0; target < 2; ++target) {
      std::set<uint64_t> counters, seen, expected{0};
      uint64_t adds = 0;
      for (uint32_t pe = 0; pe < servers_; ++pe) {
        if ((pe == 0) != (target == 1)) continue;
        ++adds;
        counters.insert(result_of(pe, group).counter);
        seen.insert(result_of(pe, group).last);
        expected.insert(shmem_exchange_value(pe, group));
      }
      const shmem_exchange_part_t part = part_of(target, group);
      seen.insert(part.last);
      report.elements += 3;
      if (part.counter != adds || counters.size() != adds || *counters.rbegin() != adds - 1)
        report.wrong(
            fmt::format("work-group {}: counter of PE {}: {} after {} additions that saw {} "
                        "different values",
                        group, target, part.counter, adds, counters.size()));
      if (seen != expected)
        report.wrong(
            fmt::format("work-group {}: swaps at PE {} lost or repeated a value", group, target));
    }
  }

  const ShmemKind& kind_;
  const uint32_t servers_;
  const DataPlan data_;
  const std::vector<uint8_t> elf_;
  std::vector<ShmemPlan> plans_;
  std::vector<shmem_exchange_arguments_t> arguments_;
  std::vector<uint64_t> begun_;
  std::vector<std::set<std::pair<uint16_t, uint64_t>>> ids_;
};

}  // namespace

void ShmemKind::describe(ParameterSet& set) {
  set.choice(
      "program", program,
      {{"exchange", ShmemProgram::exchange},
       {"litmus", ShmemProgram::litmus},
       {"outside", ShmemProgram::outside}},
      "exchange: every call, with the next PE; litmus: put to PE 1, quiet, flag to PE 2, which "
      "tells PE 1; outside: PE 0 gets what lies behind the heap of PE 1.");
  set.number("work_groups", work_groups, 1, STRETTO_SHMEM_QUEUES, "Of each PE.");
  set.number("bytes", bytes, 8, 1u << 24, "Of a put or get.");
  set.number("rounds", rounds, 0, 10'000, "exchange: puts that nobody waits for, first.");
  set.number("poll_rounds", poll_rounds, 1, 1000,
             "Rounds of a thread over its queues to one look at completions (CN-U06).");
  set.number("threads", threads, 1, STRETTO_SHMEM_MAX_THREADS,
             "Harts, or threads of the host, that serve queues (CN-U07).");
  set.flag("return_errors", return_errors,
           "What fails is told to the work-group, instead of ending the run.");
}

std::string ShmemKind::first_error() const { return ""; }

const KindInfo& ShmemKind::info() const {
  static const KindInfo info{
      .name = "shmem",
      .sentence = "Work-groups use every call of shmem.h; what each must leave is checked.",
      .modes = shmem_modes(),
      .spans_servers = true,
      .machine_of_mode = shmem_machines()};
  return info;
}

std::map<std::string, uint64_t> ShmemKind::shape() const {
  return {{"work_groups", work_groups},
          {"bytes", bytes},
          {"rounds", rounds},
          {"poll_rounds", poll_rounds},
          {"threads", threads}};
}

void ShmemKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  check_servers(request, program == ShmemProgram::litmus ? 3 : 2);
  const uint32_t room = spec.gpu.cus * spec.gpu.workgroup_slots;
  if (work_groups > room)
    throw UserError(
        fmt::format("{}: shmem.work_groups ({}) wait for each other, and the GPU has room for {}",
                    request.subject(), work_groups, room));
  check_service_threads(request, threads);
  check_kernels(kFile, {"shmem_exchange", "shmem_litmus", "shmem_outside"});
  const DataPlan data(*this);
  check_memory(request,
               data.total + STRETTO_SHMEM_SYNC_BYTES(work_groups) + SHMEM_LIST_MODULE_BYTES +
                   uint64_t{work_groups} * STRETTO_SHMEM_QUEUE_BYTES + (1u << 20),
               "the heap", data.total, "shmem.bytes or work_groups");
}

std::vector<std::string> ShmemKind::claims(const JobRequest&) const { return {kNetworkInterface}; }

std::vector<std::string> ShmemKind::kernel_files(const JobRequest&) const {
  return {kernel_path(kFile)};
}

std::unique_ptr<Job> ShmemKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<ShmemJob>(*this, request, std::move(memories));
}

}  // namespace stretto
