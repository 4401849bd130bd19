// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/all_reduce/all_reduce_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>

#include "models/common/error.h"
#include "platform/jobs/contents.h"
#include "platform/jobs/servers_job.h"
#include "sw/apps/shmem/all_reduce.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr const char* kInterKernel = "inter-kernel";
constexpr const char* kFile = "all_reduce";

bool is_by_programs(const std::string& mode) { return mode == kInterKernel || mode == kCpuMode; }

// Numbers `2 index` and `2 index + 1` of what a server has, in [-1, 1) with 24 bits.
void two_numbers(uint64_t seed, uint32_t server, uint64_t index, float* to) {
  const uint64_t word = content_word(seed, server, index);
  to[0] = static_cast<float>(static_cast<int32_t>(word) >> 8) * 0x1p-23f;
  to[1] = static_cast<float>(static_cast<int32_t>(word >> 32) >> 8) * 0x1p-23f;
}

// Of an array from `base` on.
MemoryImage::Generator numbers(uint64_t seed, uint32_t server, uint64_t base) {
  return [=](uint64_t from, uint8_t* to, uint64_t count) {
    for (uint64_t at = from; at < from + count;) {
      float both[2];
      two_numbers(seed, server, (at - base) / 8, both);
      const uint64_t skip = (at - base) % 8, part = std::min(8 - skip, from + count - at);
      std::memcpy(to + (at - from), reinterpret_cast<const uint8_t*>(both) + skip, part);
      at += part;
    }
  };
}

struct Plan {
  uint64_t block_bytes = 0, share_bytes = 0, scratch_bytes = 0;
  uint64_t data_bytes = 0;  // Of all, in the heap.

  Plan(const AllReduceKind& kind, uint32_t servers, bool by_programs)
      : block_bytes(all_reduce_part(kind.bytes, servers)),
        share_bytes(all_reduce_part(block_bytes, kind.rings)),
        scratch_bytes(block_bytes * (by_programs ? servers - 1 : 2)),
        data_bytes(array_bytes(servers) + scratch_bytes + kind.rings * sizeof(all_reduce_words_t)) {
  }
  uint64_t array_bytes(uint32_t servers) const { return block_bytes * servers; }
};

class AllReduceJob final : public ServersJob {
 public:
  AllReduceJob(const AllReduceKind& kind, const JobRequest& request, Memories memories)
      : ServersJob(request, std::move(memories)),
        kind_(kind),
        is_cpu_(request.mode == kCpuMode),
        by_programs_(is_by_programs(request.mode)),
        plan_(kind, servers(), by_programs_),
        elf_(kernel_file(kind.kernels.empty() ? kFile : kind.kernels)),
        compute_(host_compute()),
        runs_(servers()),
        arrays_(servers()) {
    for (uint32_t server = 0; server < servers(); ++server) plan(server);
  }

  void place_contents() override {
    for (uint32_t server = 0; server < servers() && !is_cpu_; ++server)
      place(memory(server), server);
  }

  void add_programs(Host& host, uint32_t server) override {
    if (is_cpu_) place(host.memory(), server);
    add_program(host, "server" + std::to_string(server), [this, server](HostCore& core) {
      run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
        ServerRun& one = runs_[server];
        if (by_programs_) return all_reduce_run(&one.program, ops, &one.result, error);
        return shmem_list_run(&plans_[server].list, ops, error);
      });
    });
    if (!by_programs_) add_service(host, server);
  }

  CheckReport check() const override {
    CheckReport report;
    for (uint32_t server = 0; server < servers() && !by_programs_; ++server) {
      for (uint32_t ring = 0; ring < kind_.rings; ++ring) {
        const all_reduce_note_t one = note(server, ring);
        ++report.elements;
        if (one.ended == 0 || one.failed != 0)
          report.wrong(fmt::format("server {} ring {}: {}", server, ring,
                                   one.ended == 0 ? "has not ended" : "an operation has failed"));
      }
    }
    std::vector<float> sum, own;
    for (uint32_t block = 0; block < servers(); ++block) {
      const uint64_t count = block_bytes(block) / 4, first = block * plan_.block_bytes / 4;
      add_up(block, first, count, sum, own);
      for (uint32_t server = 0; server < servers(); ++server) compare(server, first, sum, report);
    }
    return report;
  }

  void audit(uint32_t rank, AuditSink& sink) const override {
    const uint32_t server = server_of(rank);
    if (server == servers()) return;
    const uint32_t before = (server + servers() - 1) % servers();
    if (by_programs_) {
      const all_reduce_result_t& result = runs_[server].result;
      sink.equal("bytes of blocks = sent", payload(server), result.sent_bytes);
      sink.equal("bytes of blocks = received", payload(before), result.received_bytes);
      return;
    }
    audit_service(server, sink);
    const stretto_shmem_counts_t counts = plans_[server].counts(memory(server));
    // Of each ring, of all hops that add but the first and the last.
    const uint64_t words = servers() > 3 ? uint64_t{servers() - 3} * kind_.rings : 0;
    sink.equal("pieces with their signals and words of what was read = operations",
               2 * pieces(server) + words, counts.posted);
    sink.equal("bytes of blocks and of words = posted by the network service",
               payload(server) + 8 * words, counts.bytes);
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{kFile, sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    const double us = total_us();
    if (us == 0) return "";
    const double gb_s = kind_.bytes / us / 1e3;
    return fmt::format(
        "{:>10} {:>12} {:>12} {:>12} {:>12}\n{:>10} {:>12} {:>12.3f} {:>12.3f} {:>12.3f}\n",
        "servers", "bytes", "us", "GB/s", "on wire GB/s", servers(), kind_.bytes, us, gb_s,
        gb_s * wire_share());
  }

  json::object details() const override {
    const double us = total_us();
    if (us == 0) return {};
    json::object all{{"bytes", kind_.bytes},
                     {"total_us", us},
                     {"gb_s", kind_.bytes / us / 1e3},
                     {"wire_gb_s", kind_.bytes / us / 1e3 * wire_share()}};
    if (by_programs_) return all;
    double reduced = 0, ended = 0;
    for (uint32_t ring = 0; ring < kind_.rings; ++ring) {
      const all_reduce_note_t one = note(0, ring);
      reduced = std::max(reduced, us_of(one.reduced - one.begin));
      ended = std::max(ended, us_of(one.ended - one.begin));
    }
    all["reduced_us"] = reduced;  // Of server 0: the last ring's begin to the sum, to the end.
    all["kernel_us"] = ended;
    add_service(all);
    return all;
  }

 private:
  struct ServerRun {
    all_reduce_arguments_t arguments{};
    shmem_span_t span{};
    all_reduce_parameters_t program{};
    all_reduce_result_t result{};
  };

  void place(MemoryImage& image, uint32_t server) {
    const uint64_t base = offset_of(plans_[server].data);
    arrays_[server] = &image;
    image.add_generator(base, kind_.bytes, numbers(request_.seed, server, base));
  }

  void plan(uint32_t server) {
    ServerRun& one = runs_[server];
    ShmemPlan& shmem = plans_[server];
    shmem.threads = kind_.threads;
    shmem.place(request_, server, rank_of(server), kind_.rings, is_cpu_ ? 0 : plan_.data_bytes,
                kind_.rings * sizeof(all_reduce_note_t), layouts_[rank_of(server)]);
    if (is_cpu_) {
      shmem.data = shmem.heap = shmem.list.symmetric.cluster.heap = host_arrays();
      shmem.list.symmetric.cluster.heap_bytes = plan_.data_bytes;
    }
    all_reduce_arguments_t& arguments = one.arguments;
    arguments.data = shmem.data;
    arguments.scratch = shmem.data + plan_.array_bytes(servers());
    arguments.words = arguments.scratch + plan_.scratch_bytes;
    arguments.notes = shmem.results;
    arguments.bytes = kind_.bytes;
    arguments.block_bytes = plan_.block_bytes;
    arguments.share_bytes = plan_.share_bytes;
    arguments.piece_bytes = kind_.piece_bytes;
    shmem.launches.assign(1, {"all_reduce_ring", &arguments, sizeof arguments, kind_.rings});
    shmem.finish(cluster_memory(), elf_, kind_.poll_rounds);
    shmem.list.spans = &one.span;
    one.program = {.server = shmem.program(is_cpu_ ? nullptr : "all_reduce_add", kind_.rings),
                   .arguments = arguments,
                   .compute = is_cpu_ ? &compute_ : nullptr};
  }

  all_reduce_note_t note(uint32_t server, uint32_t ring) const {
    return in_memory<all_reduce_note_t>(server,
                                        plans_[server].results + ring * sizeof(all_reduce_note_t));
  }
  double us_of(uint64_t cycles) const { return static_cast<double>(cycles) / spec_.gpu.clock_mhz; }
  double total_us() const {
    std::vector<shmem_span_t> spans;
    for (const ServerRun& one : runs_) spans.push_back(by_programs_ ? one.result.span : one.span);
    return span_us(spans);
  }
  double wire_share() const { return 2 * (servers() - 1.0) / servers(); }

  uint64_t block_bytes(uint32_t block) const {
    return all_reduce_part_bytes(kind_.bytes, plan_.block_bytes, block);
  }
  template <class Of>
  uint64_t over_hops(uint32_t server, Of of) const {
    uint64_t sum = 0;
    for (uint32_t hop = 0; hop < 2 * (servers() - 1); ++hop)
      sum += of(block_bytes(all_reduce_block(server, hop, servers())));
    return sum;
  }
  // That a server sends.
  uint64_t payload(uint32_t server) const {
    return over_hops(server, [](uint64_t bytes) { return bytes; });
  }
  uint64_t pieces(uint32_t server) const {
    return over_hops(server, [this](uint64_t bytes) {
      uint64_t count = 0;
      for (uint32_t ring = 0; ring < kind_.rings; ++ring)
        count += (all_reduce_part_bytes(bytes, plan_.share_bytes, ring) + kind_.piece_bytes - 1) /
                 kind_.piece_bytes;
      return count;
    });
  }

  // The sum of a block in the order of its way round the ring.
  void add_up(uint32_t block, uint64_t first, uint64_t count, std::vector<float>& sum,
              std::vector<float>& own) const {
    sum.assign(count + 1, 0);
    own.resize(count + 1);
    for (uint32_t step = 0; step < servers(); ++step) {
      const uint32_t server = (block + step) % servers();
      for (uint64_t i = 0; i < count; i += 2)
        two_numbers(request_.seed, server, (first + i) / 2, &own[i]);
      for (uint64_t i = 0; i < count; ++i) sum[i] = step == 0 ? own[i] : sum[i] + own[i];
    }
    sum.resize(count);
  }

  void compare(uint32_t server, uint64_t first, const std::vector<float>& sum,
               CheckReport& report) const {
    const uint64_t base = offset_of(plans_[server].data) + 4 * first;
    std::vector<float> found(1u << 16);
    for (uint64_t at = 0; at < sum.size(); at += found.size()) {
      const uint64_t count = std::min<uint64_t>(found.size(), sum.size() - at);
      arrays_[server]->read(base + 4 * at, reinterpret_cast<uint8_t*>(found.data()), 4 * count);
      report.elements += count;
      if (std::memcmp(found.data(), &sum[at], 4 * count) == 0) continue;
      for (uint64_t i = 0; i < count; ++i)
        if (std::memcmp(&found[i], &sum[at + i], 4) != 0)
          report.wrong(fmt::format("server {} element {}: got {}, expected {}", server,
                                   first + at + i, found[i], sum[at + i]));
    }
  }

  const AllReduceKind& kind_;
  const bool is_cpu_;
  const bool by_programs_;  // Of the host.
  const Plan plan_;
  const std::vector<uint8_t> elf_;
  const host_compute_t compute_;
  std::vector<ServerRun> runs_;
  std::vector<MemoryImage*> arrays_;  // By server: memory with its array.
};

}  // namespace

void AllReduceKind::describe(ParameterSet& set) {
  set.number("bytes", bytes, 4, 1u << 30, "Of the array of FP32 numbers; a multiple of 4.");
  set.number("rings", rings, 1, STRETTO_SHMEM_QUEUES,
             "Work-groups of each server, a ring each; inter-kernel: those that add.");
  set.number(
      "piece_bytes", piece_bytes, 64, 1u << 24,
      "Of a put with signal, at most; a multiple of 64. Small: puts cost time; large: a ring "
      "adds nothing while its piece is on its way.");
  set.number("poll_rounds", poll_rounds, 1, 1000,
             "Rounds of a hart over its queues to one look at completions (CN-U06).");
  set.number("threads", threads, 1, STRETTO_SHMEM_MAX_THREADS,
             "Harts, or threads of the host, that serve queues (CN-U07).");
  set.text("kernels", kernels, "Kernel ELF instead of the shipped one, for tests; empty: that.");
}

std::string AllReduceKind::first_error() const {
  if (bytes % 4 != 0) return "needs bytes that are a multiple of 4";
  return piece_bytes % ALL_REDUCE_ALIGNMENT != 0 ? "needs piece_bytes that are a multiple of 64"
                                                 : "";
}

const KindInfo& AllReduceKind::info() const {
  static const KindInfo info{
      .name = "all_reduce",
      .sentence = "The sum of arrays over servers, at each, by rings.",
      .modes = {{"compnet", "one kernel; its work-groups ask the command processor for transfers"},
                {kNoLockMode, "the same, and entries may leave the L2 before they are seen"},
                {kDgpuMode, "one kernel; its work-groups ask threads of the host, by GPU memory"},
                {kDgpuHostMode, "the same, by host memory"},
                {kApuMode, "the same, where GPU and host are coherent on one die"},
                {kInterKernel, "a ring of host programs, which send and launch kernels that add"},
                {kCpuMode, "a ring of host programs, which send and add arrays in host memory"}},
      .spans_servers = true,
      .machine_of_mode = shmem_machines()};
  return info;
}

std::map<std::string, uint64_t> AllReduceKind::shape() const {
  return {{"bytes", bytes},
          {"rings", rings},
          {"piece_bytes", piece_bytes},
          {"poll_rounds", poll_rounds},
          {"threads", threads}};
}

void AllReduceKind::check(const JobRequest& request) const {
  check_servers(request, 2);
  const bool by_programs = is_by_programs(request.mode);
  if (!by_programs) check_service_threads(request, threads);
  const MachineSpec& spec = request.spec;
  const uint32_t room =
      spec.gpu.cus *
      std::min({spec.gpu.workgroup_slots, spec.gpu.wavefront_slots / ALL_REDUCE_WAVEFRONTS,
                spec.gpu.registers_bytes / ALL_REDUCE_REGISTERS_BYTES});
  if (rings > room)
    throw UserError(
        fmt::format("{}: all_reduce.rings ({}) wait for each other, and the GPU has room for {}",
                    request.subject(), rings, room));
  check_kernels(kernels.empty() ? kFile : kernels, {"all_reduce_ring", "all_reduce_add"});
  const Plan plan(*this, spec.servers, by_programs);
  if (request.mode == kCpuMode) return;
  check_memory(request,
               plan.data_bytes + STRETTO_SHMEM_SYNC_BYTES(rings) + SHMEM_LIST_MODULE_BYTES +
                   uint64_t{rings} * STRETTO_SHMEM_QUEUE_BYTES + (2u << 20),
               "the heap", plan.data_bytes, "all_reduce.bytes");
}

std::vector<std::string> AllReduceKind::claims(const JobRequest&) const {
  return {kNetworkInterface};
}

std::vector<std::string> AllReduceKind::kernel_files(const JobRequest&) const {
  return {kernel_path(kernels.empty() ? kFile : kernels)};
}

std::unique_ptr<Job> AllReduceKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<AllReduceJob>(*this, request, std::move(memories));
}

}  // namespace stretto
