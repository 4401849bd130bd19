// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/open_shmem/open_shmem_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>
#include <functional>

#include "models/common/error.h"
#include "platform/jobs/servers_job.h"
#include "sw/kernels/open_shmem.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr const char* kFile = "open_shmem";
constexpr uint32_t kMaxWorkGroups = STRETTO_SHMEM_QUEUES / 2;  // Of two contexts each.

const char* kernel_of(OpenShmemProgram program) {
  switch (program) {
    case OpenShmemProgram::tokens: return "open_shmem_tokens";
    case OpenShmemProgram::histogram: return "open_shmem_histogram";
    case OpenShmemProgram::halo: return "open_shmem_halo";
    case OpenShmemProgram::ticket_lock: return "open_shmem_ticket_lock";
    case OpenShmemProgram::all_to_all: return "open_shmem_all_to_all";
    default: return "open_shmem_collectives";
  }
}

class OpenShmemJob final : public ServersJob {
 public:
  OpenShmemJob(const OpenShmemKind& kind, const JobRequest& request, Memories memories)
      : ServersJob(request, std::move(memories)),
        kind_(kind),
        elf_(kernel_file(kind.kernels.empty() ? kFile : kind.kernels)),
        arguments_(servers()),
        spans_(servers()) {
    for (uint32_t pe = 0; pe < servers(); ++pe) {
      ShmemPlan& plan = plans_[pe];
      plan.threads = kind_.threads;
      plan.place(request_, pe, rank_of(pe), 2 * kind_.work_groups,
                 uint64_t{kind_.work_groups} * OPEN_SHMEM_PART_BYTES,
                 kind_.work_groups * sizeof(open_shmem_result_t), layouts_[rank_of(pe)]);
      arguments_[pe].parts = plan.data;
      arguments_[pe].results = plan.results;
      arguments_[pe].rounds = kind_.rounds;
      plan.launches.assign(
          1, {kernel_of(kind_.program), &arguments_[pe], sizeof arguments_[pe], kind_.work_groups});
      plan.finish(cluster_memory(), elf_, kind_.poll_rounds);
      plan.list.spans = &spans_[pe];
    }
  }

  void place_contents() override {}

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
    for (uint32_t pe = 0; pe < servers(); ++pe) {
      for (uint32_t group = 0; group < kind_.work_groups; ++group) {
        const Place place{&report, pe, group, parts(pe, group), result(pe, group)};
        place.expect(place.result.ended, 1, "end");
        place.expect(place.result.failed, 0, "status of the first operation that failed");
        switch (kind_.program) {
          case OpenShmemProgram::tokens: check_tokens(place); break;
          case OpenShmemProgram::histogram: check_histogram(place); break;
          case OpenShmemProgram::halo: check_halo(place); break;
          case OpenShmemProgram::ticket_lock: check_lock(place); break;
          case OpenShmemProgram::all_to_all: check_all_to_all(place, OPEN_SHMEM_PUT, false); break;
          case OpenShmemProgram::collectives: check_collectives(place); break;
        }
      }
    }
    return report;
  }

  void audit(uint32_t rank, AuditSink& sink) const override {
    const uint32_t server = server_of(rank);
    if (server != servers()) audit_service(server, sink);
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{kFile, sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    std::string text =
        fmt::format("{:>6} {:>10} {:>12} {:>12}\n", "PE", "entries", "operations", "bytes");
    for (uint32_t pe = 0; pe < servers(); ++pe) {
      const stretto_shmem_counts_t sum = plans_[pe].counts(memory(pe));
      text += fmt::format("{:>6} {:>10} {:>12} {:>12}\n", pe, sum.taken, sum.posted, sum.bytes);
    }
    return text;
  }

  json::object details() const override { return {{"total_us", span_us(spans_)}}; }

 private:
  using Words = std::vector<uint64_t>;
  // What a work-group has left.
  struct Place {
    CheckReport* report;
    uint32_t pe, group;
    Words words;
    open_shmem_result_t result;
    void expect(uint64_t got, uint64_t expected, const std::string& what) const {
      ++report->elements;
      if (got != expected)
        report->wrong(fmt::format("PE {} work-group {}: {}: got {:#x}, expected {:#x}", pe, group,
                                  what, got, expected));
    }
    // Bytes of OPEN_SHMEM_BYTES that lie `index` times so many behind word `at`.
    void expect_bytes(uint32_t at, uint32_t index, const uint8_t* expected,
                      const char* what) const {
      const uint8_t* got = reinterpret_cast<const uint8_t*>(&words[at]) + index * OPEN_SHMEM_BYTES;
      const auto same = std::mismatch(got, got + OPEN_SHMEM_BYTES, expected);
      expect(static_cast<uint64_t>(same.first - got), OPEN_SHMEM_BYTES,
             fmt::format("first byte that differs of what {} brought from PE {}", what, index));
    }
  };

  Words parts(uint32_t pe, uint32_t group) const {
    Words words(OPEN_SHMEM_PART_BYTES / 8);
    memory(pe).read(offset_of(plans_[pe].data) + uint64_t{group} * OPEN_SHMEM_PART_BYTES,
                    reinterpret_cast<uint8_t*>(words.data()), OPEN_SHMEM_PART_BYTES);
    return words;
  }
  open_shmem_result_t result(uint32_t pe, uint32_t group) const {
    return in_memory<open_shmem_result_t>(pe,
                                          plans_[pe].results + group * sizeof(open_shmem_result_t));
  }

  void check_tokens(const Place& place) const {
    const uint64_t rounds = kind_.rounds;
    place.expect(place.words[0], rounds, "token");
    place.expect(place.result.value[0], rounds * (rounds - 1) / 2, "sum of what fetch-add brought");
  }

  void check_histogram(const Place& place) const {
    const uint64_t bins = uint64_t{OPEN_SHMEM_BINS} * servers();
    Words expected(OPEN_SHMEM_BINS);
    for (uint32_t pe = 0; pe < servers(); ++pe)
      for (uint64_t i = 0; i < kind_.rounds; ++i) {
        const uint64_t bin = open_shmem_value(pe, place.group, i) % bins;
        if (bin / OPEN_SHMEM_BINS == place.pe) ++expected[bin % OPEN_SHMEM_BINS];
      }
    for (uint32_t bin = 0; bin < OPEN_SHMEM_BINS; ++bin)
      place.expect(place.words[bin] + place.words[bin + OPEN_SHMEM_OWN_BINS], expected[bin],
                   fmt::format("bin {}", bin));
  }

  void check_halo(const Place& place) const {
    const uint32_t n = OPEN_SHMEM_SIDE, pes = servers(), pe = place.pe;
    const auto block = [&](uint32_t of, uint32_t row, uint32_t column) {
      return open_shmem_value(of, place.group, row * n + column);
    };
    place.expect(place.result.value[0], 0, "status of the second context");
    for (uint32_t i = 0; i < n; ++i) {
      const uint64_t* halo = &place.words[OPEN_SHMEM_HALO + i];
      place.expect(halo[0], block((pe + pes - 2) % pes, n - 1, i), "row above");
      place.expect(halo[n], block((pe + 2) % pes, 0, i), "row below");
      place.expect(halo[2 * n], block(pe ^ 1, i, n - 1), "column on the left");
      place.expect(halo[3 * n], block(pe ^ 1, i, 0), "column on the right");
    }
  }

  void check_lock(const Place& place) const {
    if (place.pe != 0 || place.group != 0) return;
    const uint64_t all = uint64_t{servers() - 1} * kind_.work_groups * kind_.rounds;
    place.expect(place.words[OPEN_SHMEM_NEXT], all, "tickets");
    place.expect(place.words[OPEN_SHMEM_SERVING], all, "tickets that were served");
    place.expect(place.words[OPEN_SHMEM_COUNTER], all, "counter");
  }

  // What a PE sends: words, of which each PE has OPEN_SHMEM_BYTES.
  static std::vector<uint8_t> sent(uint32_t pe, uint32_t group, uint32_t servers) {
    std::vector<uint8_t> bytes((uint64_t{servers} * OPEN_SHMEM_BYTES / 8 + 1) * 8);
    for (uint64_t i = 0; i < bytes.size() / 8; ++i) {
      const uint64_t word = open_shmem_value(pe, group, i);
      std::memcpy(&bytes[8 * i], &word, 8);
    }
    return bytes;
  }

  void check_all_to_all(const Place& place, uint32_t at, bool own) const {
    for (uint32_t pe = 0; pe < servers(); ++pe)
      if (own || pe != place.pe)
        place.expect_bytes(at, pe,
                           &sent(pe, place.group, servers())[uint64_t{place.pe} * OPEN_SHMEM_BYTES],
                           "all-to-all");
  }

  void check_collectives(const Place& place) const {
    const uint32_t root = servers() - 1;
    place.expect_bytes(OPEN_SHMEM_BROADCAST, 0, sent(root, place.group, servers()).data(),
                       "the broadcast");
    for (uint32_t pe = 0; pe < servers(); ++pe)
      place.expect_bytes(OPEN_SHMEM_COLLECTED, pe, sent(pe, place.group, servers()).data(),
                         "fcollect");
    check_all_to_all(place, OPEN_SHMEM_EXCHANGED, true);
    place.expect(place.result.value[0], UINT64_MAX, "test of any, before");
    place.expect(place.result.value[1], 1, "wait for any");
    place.expect(place.result.value[2], 0, "test, behind");
    const std::pair<const char*, std::function<uint64_t(uint64_t, uint64_t)>> reductions[] = {
        {"sum", [](uint64_t a, uint64_t b) { return a + b; }},
        {"product", [](uint64_t a, uint64_t b) { return a * b; }},
        {"minimum", [](uint64_t a, uint64_t b) { return std::min(a, b); }},
        {"maximum", [](uint64_t a, uint64_t b) { return std::max(a, b); }},
        {"and", [](uint64_t a, uint64_t b) { return a & b; }},
        {"or", [](uint64_t a, uint64_t b) { return a | b; }},
        {"xor", [](uint64_t a, uint64_t b) { return a ^ b; }}};
    uint32_t at = OPEN_SHMEM_REDUCED;
    for (const auto& [name, combine] : reductions) {
      uint64_t expected = open_shmem_value(0, place.group, 0);
      for (uint32_t pe = 1; pe < servers(); ++pe)
        expected = combine(expected, open_shmem_value(pe, place.group, 0));
      place.expect(place.words[at++], expected, name);
    }
  }

  const OpenShmemKind& kind_;
  const std::vector<uint8_t> elf_;
  std::vector<open_shmem_arguments_t> arguments_;
  std::vector<shmem_span_t> spans_;
};

}  // namespace

void OpenShmemKind::describe(ParameterSet& set) {
  set.choice("program", program,
             {{"tokens", OpenShmemProgram::tokens},
              {"histogram", OpenShmemProgram::histogram},
              {"halo", OpenShmemProgram::halo},
              {"ticket_lock", OpenShmemProgram::ticket_lock},
              {"all_to_all", OpenShmemProgram::all_to_all},
              {"collectives", OpenShmemProgram::collectives}},
             "tokens: a ring by fetch-add; histogram: of bins at all PEs; halo: of a torus of two "
             "columns, with two contexts; ticket_lock: at PE 0; all_to_all: puts and quiet; "
             "collectives: each of them, and waits for several words.");
  set.number("work_groups", work_groups, 1, kMaxWorkGroups, "Of each PE.");
  set.number("rounds", rounds, 1, 100'000, "Of tokens; keys of a histogram; times in the lock.");
  set.number("poll_rounds", poll_rounds, 1, 1000,
             "Rounds of a hart over its queues to one look at completions (CN-U06).");
  set.number("threads", threads, 1, STRETTO_SHMEM_MAX_THREADS,
             "Harts, or threads of the host, that serve queues (CN-U07).");
  set.text("kernels", kernels, "Kernel ELF instead of the shipped one, for tests; empty: that.");
}

std::string OpenShmemKind::first_error() const { return ""; }

const KindInfo& OpenShmemKind::info() const {
  static const KindInfo info{
      .name = "open_shmem",
      .sentence = "Programs over OpenSHMEM as users write them, and what each must leave.",
      .modes = shmem_modes(),
      .spans_servers = true,
      .machine_of_mode = shmem_machines()};
  return info;
}

std::map<std::string, uint64_t> OpenShmemKind::shape() const {
  return {{"work_groups", work_groups},
          {"rounds", rounds},
          {"poll_rounds", poll_rounds},
          {"threads", threads}};
}

void OpenShmemKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  check_servers(request, program == OpenShmemProgram::halo ? 4 : 2);
  check_service_threads(request, threads);
  if (program == OpenShmemProgram::halo && spec.servers % 2 != 0)
    throw UserError(
        fmt::format("{}: open_shmem.program=halo needs an even number of servers, not {}",
                    request.subject(), spec.servers));
  const uint32_t room = spec.gpu.cus * std::min(spec.gpu.workgroup_slots,
                                                spec.gpu.wavefront_slots / OPEN_SHMEM_WAVEFRONTS);
  if (work_groups > room)
    throw UserError(fmt::format(
        "{}: open_shmem.work_groups ({}) wait for each other, and the GPU has room for {}",
        request.subject(), work_groups, room));
  check_kernels(kernels.empty() ? kFile : kernels, {kernel_of(program)});
  check_memory(
      request,
      uint64_t{work_groups} * (OPEN_SHMEM_PART_BYTES + 2 * STRETTO_SHMEM_QUEUE_BYTES + 1024) +
          STRETTO_SHMEM_SYNC_BYTES(2 * work_groups) + SHMEM_LIST_MODULE_BYTES + (2u << 20),
      "the heap", uint64_t{work_groups} * OPEN_SHMEM_PART_BYTES, "open_shmem.work_groups");
}

std::vector<std::string> OpenShmemKind::claims(const JobRequest&) const {
  return {kNetworkInterface};
}

std::vector<std::string> OpenShmemKind::kernel_files(const JobRequest&) const {
  return {kernel_path(kernels.empty() ? kFile : kernels)};
}

std::unique_ptr<Job> OpenShmemKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<OpenShmemJob>(*this, request, std::move(memories));
}

}  // namespace stretto
