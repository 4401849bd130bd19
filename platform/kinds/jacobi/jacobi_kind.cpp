// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/jacobi/jacobi_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/json.hpp>
#include <cmath>
#include <utility>

#include "models/common/clock_domain.h"
#include "models/common/error.h"
#include "platform/jobs/servers_job.h"
#include "sw/apps/shmem/jacobi.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr const char* kInterKernel = "inter-kernel";
constexpr const char* kFile = "jacobi";

bool is_by_programs(const std::string& mode) { return mode == kInterKernel || mode == kCpuMode; }
constexpr uint32_t kQueues = 2;  // Of the work-groups with the first and the last row.

// Of the server's program: of a launch for all iterations, or of one for each.
struct ServerRun {
  jacobi_arguments_t arguments{};
  shmem_span_t span{};
  jacobi_parameters_t program{};
  jacobi_result_t result{};
  std::vector<jacobi_ended_t> ended;
};

class JacobiJob final : public ServersJob {
 public:
  JacobiJob(const JacobiKind& kind, const JobRequest& request, Memories memories)
      : ServersJob(request, std::move(memories)),
        kind_(kind),
        grid_(kind.grid_of(request)),
        is_cpu_(request.mode == kCpuMode),
        by_programs_(is_by_programs(request.mode)),
        elf_(kernel_file(kind.kernels.empty() ? kFile : kind.kernels)),
        compute_(host_compute()),
        runs_(grid_.servers),
        grids_(grid_.servers) {
    for (uint32_t server = 0; server < grid_.servers; ++server) {
      layouts_of_grid_.emplace_back(grid_, server);
      plan(server);
    }
  }

  void place_contents() override {
    for (uint32_t server = 0; server < grid_.servers && !is_cpu_; ++server)
      place(memory(server), server);
  }

  void add_programs(Host& host, uint32_t server) override {
    if (is_cpu_) place(host.memory(), server);
    add_program(host, "server" + std::to_string(server), [this, server](HostCore& core) {
      run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
        ServerRun& one = runs_[server];
        if (by_programs_) return jacobi_run(&one.program, ops, &one.result, error);
        return shmem_list_run(&plans_[server].list, ops, error);
      });
    });
    if (!by_programs_) add_service(host, server);
  }

  CheckReport check() const override {
    CheckReport report;
    report.error_bound = 1;
    const JacobiReference reference = jacobi_reference(grid_, kind_.iterations, kind_.stop());
    const uint32_t iterations = static_cast<uint32_t>(reference.residuals.size());
    for (uint32_t server = 0; server < grid_.servers; ++server) {
      const uint32_t done = iterations_of(server);
      ++report.elements;
      if (done != iterations)
        report.wrong(
            fmt::format("server {}: {} iterations, expected {}", server, done, iterations));
      for (uint32_t i = 0; i < std::min(done, iterations); ++i) {
        ++report.elements;
        if (residual_of(server, i) != reference.residuals[i])
          report.wrong(fmt::format("server {}, iteration {}: residual {:#010x}, expected {:#010x}",
                                   server, i + 1, residual_of(server, i), reference.residuals[i]));
      }
      compare(server, reference, report);
    }
    return report;
  }

  void audit(uint32_t rank, AuditSink& sink) const override {
    const uint32_t server = server_of(rank);
    if (server == servers()) return;
    const ServerRun& one = runs_[server];
    const uint64_t iterations = iterations_of(server), halos = neighbours(server) * iterations;
    if (by_programs_) {
      sink.equal("halos that there are = sent", halos, one.result.sent);
      sink.equal("halos that there are = received", halos, one.result.received);
      return;
    }
    audit_service(server, sink);
    const stretto_shmem_counts_t counts = plans_[server].counts(memory(server));
    const uint64_t words = (grid_.servers - 1) * iterations;
    sink.equal("halos with their signals and words of residuals = operations", 2 * halos + words,
               counts.posted);
    sink.equal("bytes of halos and of residuals = posted by the network service",
               halos * 4 * grid_.columns + words * 8, counts.bytes);
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{kFile, sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    const std::vector<double> us = iteration_us();
    if (us.empty()) return "";
    const auto last = static_cast<uint32_t>(us.size()) - 1;
    std::string text = fmt::format("{:>12} {:>12} {:>12} {:>12} {:>12}", "iterations", "total us",
                                   "first us", "others us", "residual");
    std::string values =
        fmt::format("{:>12} {:>12.3f} {:>12.3f} {} {:>12.6g}", us.size(), total_us(), us.front(),
                    figure(others_us(us), 12), std::bit_cast<float>(residual_of(0, last)));
    for (const auto& [name, part] : parts_us()) {
      text += fmt::format(" {:>10}", name);
      values += figure(part, 11);
    }
    return text + "\n" + values + "\n";
  }

  json::object details() const override {
    json::array residuals, bits, ends;
    const std::vector<double> us = iteration_us();
    for (uint32_t i = 0; i < us.size(); ++i) {
      residuals.push_back(std::bit_cast<float>(residual_of(0, i)));
      bits.push_back(residual_of(0, i));
      ends.push_back(us[i]);
    }
    json::object all{{"iterations", us.size()},
                     {"total_us", total_us()},
                     {"iteration_us", std::move(ends)},
                     {"residuals", std::move(residuals)},
                     {"residual_bits", std::move(bits)}};
    if (us.size() > 1) all["others_us"] = others_us(us);
    json::object parts;
    for (const auto& [name, part] : parts_us()) parts[name] = part;
    if (!parts.empty()) all["parts_us"] = std::move(parts);
    if (!by_programs_) add_service(all);
    return all;
  }

 private:
  void place(MemoryImage& image, uint32_t server) {
    const ShmemPlan& plan = plans_[server];
    grids_[server] = &image;
    layouts_of_grid_[server].place(image, offset_of(plan.data), offset_of(plan.arrays));
  }

  void plan(uint32_t server) {
    ServerRun& one = runs_[server];
    ShmemPlan& shmem = plans_[server];
    const JacobiPlan& grid = layouts_of_grid_[server];
    const uint64_t notes = sizeof(jacobi_notes_t) + kind_.iterations * sizeof(jacobi_note_t);
    shmem.threads = kind_.threads;
    shmem.place(request_, server, rank_of(server), kQueues, is_cpu_ ? 0 : grid.data_bytes, notes,
                layouts_[rank_of(server)], is_cpu_ ? 0 : grid.arrays_bytes);
    if (is_cpu_) {
      shmem.data = shmem.heap = shmem.list.symmetric.cluster.heap = host_arrays();
      shmem.list.symmetric.cluster.heap_bytes = grid.data_bytes;
      shmem.arrays = shmem.data + grid.data_bytes;
    }
    one.arguments = grid.arguments(shmem.data, shmem.arrays);
    one.arguments.notes = shmem.results;
    one.arguments.iterations = kind_.iterations;
    one.arguments.stop = kind_.stop();
    shmem.launches.assign(
        1, {"jacobi_relax", &one.arguments, sizeof one.arguments, grid_.work_groups});
    shmem.finish(cluster_memory(), elf_, kind_.poll_rounds);
    shmem.list.spans = &one.span;
    one.ended.resize(kind_.iterations);
    one.result.ended = one.ended.data();
    one.program = {.server = shmem.program(is_cpu_ ? nullptr : "jacobi_sweep", grid_.work_groups),
                   .arguments = one.arguments,
                   .word = host_words(),
                   .compute = is_cpu_ ? &compute_ : nullptr};
  }

  uint32_t neighbours(uint32_t server) const {
    return (server != 0 ? 1 : 0) + (server + 1 != grid_.servers ? 1 : 0);
  }

  jacobi_note_t iteration_note(uint32_t server, uint32_t i) const {
    return in_memory<jacobi_note_t>(
        server, plans_[server].results + sizeof(jacobi_notes_t) + i * sizeof(jacobi_note_t));
  }
  uint32_t iterations_of(uint32_t server) const {
    if (by_programs_) return runs_[server].result.iterations;
    return static_cast<uint32_t>(std::min<uint64_t>(
        in_memory<jacobi_notes_t>(server, plans_[server].results).iterations, kind_.iterations));
  }
  uint32_t residual_of(uint32_t server, uint32_t i) const {
    return by_programs_ ? runs_[server].ended[i].residual : iteration_note(server, i).residual;
  }

  // The grid, bit for bit and against the exact one: each iteration rounds three sums of at most 4
  // quarters.
  void compare(uint32_t server, const JacobiReference& reference, CheckReport& report) const {
    const uint32_t done = iterations_of(server), first = grid_.first_row(server);
    const double bound = done * 0x1p-23;
    for (uint32_t row = 0; row < grid_.rows_of(server); ++row) {
      const std::vector<float> found = layouts_of_grid_[server].row(
          *grids_[server], offset_of(plans_[server].arrays), done % 2, row);
      for (uint32_t column = 0; column < grid_.columns; ++column) {
        const size_t at = (size_t{first} + row) * grid_.columns + column;
        ++report.elements;
        if (std::bit_cast<uint32_t>(found[column]) != std::bit_cast<uint32_t>(reference.grid[at]))
          report.wrong(fmt::format("row {} (server {}) column {}: got {}, expected {}", first + row,
                                   server, column, found[column], reference.grid[at]));
        report.max_error =
            std::max(report.max_error, std::abs(found[column] - reference.exact[at]) / bound);
      }
    }
  }

  // From all servers' begin to the end of the last.
  double total_us() const {
    std::vector<shmem_span_t> spans;
    for (const ServerRun& one : runs_) spans.push_back(by_programs_ ? one.result.span : one.span);
    return span_us(spans);
  }
  // Of server 0, from its begin: with the launch, but of one kernel not with its end.
  std::vector<double> iteration_us() const {
    std::vector<double> all;
    const uint32_t done = iterations_of(0);
    double before = 0;
    for (uint32_t i = 0; i < done; ++i) {
      const ServerRun& one = runs_[0];
      const shmem_span_t& span = by_programs_ ? one.result.span : one.span;
      const double at =
          by_programs_
              ? static_cast<double>(one.ended[i].at_ns)
              : static_cast<double>(ClockDomain(spec_.gpu.clock_mhz)
                                        .edge(iteration_note(0, i).cycle[JACOBI_DECIDED])) /
                    kNanosecond;
      const double us = (at - static_cast<double>(span.begin_ns)) / 1e3;
      all.push_back(us - before);
      before = us;
    }
    return all;
  }
  // What others_us() is made of, at work-group 0 of server 0: they add up to it.
  std::vector<std::pair<const char*, double>> parts_us() const {
    const uint32_t done = iterations_of(0);
    if (by_programs_ || done < 2) return {};
    std::vector<std::pair<const char*, double>> parts{
        {"halo", 0}, {"sweep", 0}, {"reduce", 0}, {"decide", 0}};
    for (uint32_t i = 1; i < done; ++i) {
      uint64_t before = iteration_note(0, i - 1).cycle[JACOBI_DECIDED];
      const jacobi_note_t one = iteration_note(0, i);
      for (uint32_t moment = 0; moment < JACOBI_MOMENTS; ++moment) {
        parts[moment].second +=
            static_cast<double>(one.cycle[moment] - before) / (spec_.gpu.clock_mhz * (done - 1.0));
        before = one.cycle[moment];
      }
    }
    return parts;
  }
  static double others_us(const std::vector<double>& us) {
    double sum = 0;
    for (size_t i = 1; i < us.size(); ++i) sum += us[i];
    return us.size() > 1 ? sum / static_cast<double>(us.size() - 1) : 0;
  }

  const JacobiKind& kind_;
  const JacobiShape grid_;
  const bool is_cpu_;
  const bool by_programs_;  // Of the host.
  const std::vector<uint8_t> elf_;
  const host_compute_t compute_;
  std::vector<JacobiPlan> layouts_of_grid_;
  std::vector<ServerRun> runs_;
  std::vector<MemoryImage*> grids_;  // By server: memory with its band.
};

}  // namespace

void JacobiKind::describe(ParameterSet& set) {
  set.number("rows", rows, 2, 1u << 20, "Of the grid of all servers; they have bands of it.");
  set.number("columns", columns, 1, JACOBI_MAX_COLUMNS, "Of the grid.");
  set.number("iterations", iterations, 1, 100'000, "At most.");
  set.number("stop_log2", stop_log2, 0, 127,
             "Ends when the sum of the squares of all changes is below 2^-stop_log2; 127: never.");
  set.number("work_groups", work_groups, 1, STRETTO_SHMEM_QUEUES,
             "Of each server, of four wavefronts; they have bands of its rows.");
  set.number("poll_rounds", poll_rounds, 1, 1000,
             "Rounds of a hart over its queues to one look at completions (CN-U06).");
  set.number("threads", threads, 1, STRETTO_SHMEM_MAX_THREADS,
             "Harts, or threads of the host, that serve queues (CN-U07).");
  set.text("kernels", kernels, "Kernel ELF instead of the shipped one, for tests; empty: that.");
}

std::string JacobiKind::first_error() const { return ""; }

const KindInfo& JacobiKind::info() const {
  static const KindInfo info{
      .name = "jacobi",
      .sentence = "Relaxation of a grid over servers: halos to neighbours, residuals of all.",
      .modes = {{"compnet", "one kernel; its work-groups ask the command processor for transfers"},
                {kNoLockMode, "the same, and entries may leave the L2 before they are seen"},
                {kDgpuMode, "one kernel; its work-groups ask threads of the host, by GPU memory"},
                {kDgpuHostMode, "the same, by host memory"},
                {kApuMode, "the same, where GPU and host are coherent on one die"},
                {kInterKernel, "a kernel an iteration; host programs send and receive in between"},
                {kCpuMode, "programs of the host, which compute in host memory"}},
      .spans_servers = true,
      .machine_of_mode = shmem_machines()};
  return info;
}

std::map<std::string, uint64_t> JacobiKind::shape() const {
  return {{"rows", rows},           {"columns", columns},         {"iterations", iterations},
          {"stop_log2", stop_log2}, {"work_groups", work_groups}, {"poll_rounds", poll_rounds},
          {"threads", threads}};
}

JacobiShape JacobiKind::grid_of(const JobRequest& request) const {
  return {.rows = rows,
          .columns = columns,
          .servers = request.spec.servers,
          .work_groups = work_groups,
          .seed = request.seed};
}

void JacobiKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  check_servers(request, 2);
  if (!is_by_programs(request.mode)) check_service_threads(request, threads);
  const JacobiShape grid = grid_of(request);
  if (work_groups > rows / spec.servers)
    throw UserError(fmt::format(
        "{}: jacobi.work_groups ({}) need a row each, and a server has {} of jacobi.rows ({})",
        request.subject(), work_groups, rows / spec.servers, rows));
  if (request.mode == kCpuMode) return;
  const uint32_t room =
      spec.gpu.cus *
      std::min({spec.gpu.workgroup_slots, spec.gpu.wavefront_slots / JACOBI_WAVEFRONTS,
                spec.gpu.registers_bytes / JACOBI_REGISTERS_BYTES});
  if (work_groups > room)
    throw UserError(
        fmt::format("{}: jacobi.work_groups ({}) wait for each other, and the GPU has room for {}",
                    request.subject(), work_groups, room));
  const uint32_t band = (rows / spec.servers + work_groups) / work_groups + 1;
  if (band * grid.chunks() > JACOBI_MAX_PIECES)
    throw UserError(
        fmt::format("{}: a work-group has {} rows in {} pieces each, at most {} pieces; make "
                    "jacobi.work_groups larger, or rows or columns smaller",
                    request.subject(), band, grid.chunks(), JACOBI_MAX_PIECES));
  check_kernels(kernels.empty() ? kFile : kernels, {"jacobi_relax", "jacobi_sweep"});
  const JacobiPlan plan(grid, spec.servers - 1);
  check_memory(request,
               plan.arrays_bytes + plan.data_bytes + STRETTO_SHMEM_SYNC_BYTES(work_groups) +
                   SHMEM_LIST_MODULE_BYTES + uint64_t{work_groups} * STRETTO_SHMEM_QUEUE_BYTES +
                   (2u << 20),
               "the grid", plan.arrays_bytes, "jacobi.rows or columns");
}

std::vector<std::string> JacobiKind::claims(const JobRequest&) const { return {kNetworkInterface}; }

std::vector<std::string> JacobiKind::kernel_files(const JobRequest&) const {
  return {kernel_path(kernels.empty() ? kFile : kernels)};
}

std::unique_ptr<Job> JacobiKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<JacobiJob>(*this, request, std::move(memories));
}

}  // namespace stretto
