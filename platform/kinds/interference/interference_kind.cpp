// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/interference/interference_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "models/common/error.h"
#include "platform/jobs/contents.h"
#include "platform/jobs/host_runtime.h"
#include "platform/jobs/operands.h"
#include "sw/apps/interference.h"
#include "sw/collectives/runtime.h"

namespace stretto {

namespace json = boost::json;

namespace {

const Account kInit{INTERFERENCE_ACCOUNT_INIT, "init"}, kLoad{INTERFERENCE_ACCOUNT_LOAD, "load"},
    kGather{INTERFERENCE_ACCOUNT_GATHER, "gather"};

// "l2-mmio": kernel and engine.
std::string kernel_of(const std::string& mode) { return "load_" + mode.substr(0, mode.find('-')); }
std::string engine_of(const std::string& mode) { return mode.substr(mode.find('-') + 1); }

// Of short runs: some 50 us on shipped machines.
constexpr uint32_t kL2Rounds = 8, kIssueRounds = 1000;

std::vector<interference_line_t> lines_of(const InterferenceKind& kind, uint32_t ranks) {
  std::vector<interference_line_t> lines;
  const uint64_t least = kind.min_gather_bytes == 0 ? kind.gather_bytes : kind.min_gather_bytes;
  for (uint64_t bytes = kind.gather_bytes; bytes >= least; bytes /= 4) {
    for (uint32_t percent = kind.max_kernel_percent; percent >= kind.min_kernel_percent;
         percent /= 2)
      lines.push_back({bytes / ranks, percent});
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

uint32_t work_groups_of(const InterferenceKind& kind, const MachineSpec& spec) {
  return kind.work_groups != 0 ? kind.work_groups : 2 * spec.gpu.cus;
}
uint64_t clocks_bytes_of(uint64_t lines, uint32_t work_groups) {
  return (INTERFERENCE_FIRST_KERNELS + 2 * lines) * INTERFERENCE_CLOCKS_BYTES(work_groups);
}

stretto_runtime_options_t options_of(const JobRequest& request,
                                     const std::vector<uint8_t>& kernels) {
  stretto_runtime_options_t options =
      runtime_options(request, engine_of(request.mode), false, kernels);
  options.accounts = {kInit.number, kGather.number, kGather.number, 0};
  return options;
}

class Interference final : public Job {
 public:
  Interference(const InterferenceKind& kind, const JobRequest& request, Memories memories)
      : Job(request, std::move(memories)),
        kind_(kind),
        mode_(request.mode),
        ranks_(request.ranks()),
        collective_elf_(kernel_file(spec_.software.collective)),
        load_elf_(kernel_file("load")),
        block_(kind_.gather_bytes / ranks_),
        lines_(lines_of(kind_, ranks_)),
        work_groups_(work_groups_of(kind_, spec_)),
        clocks_bytes_(clocks_bytes_of(lines_.size(), work_groups_)),
        options_(options_of(request, collective_elf_)),
        source_(stretto_runtime_first_address(&options_)),
        kernel_(kernel_of(mode_)),
        results_(ranks_) {
    const uint64_t begin = request.share.memory_begin;
    for (MemoryPlan& layout : layouts_) {
      layout.add("kernel arguments", begin, source_ - begin);
      layout.add("block", source_, block_, true);
    }
  }

  std::vector<Account> accounts() const override { return {kLoad, kGather, kInit}; }
  std::vector<PhaseRule> phases() const override {
    return {preparation_of(kInit), work_of(kLoad), work_of(kGather)};
  }

  void place_contents() override {
    for (uint32_t rank = 0; rank < ranks_; ++rank)
      memories_[rank]->add_generator(source_, block_, random_words(request_.seed, rank, source_));
  }

  void add_programs(Host& host, uint32_t) override {
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      add_rank(host, rank, [this, rank](HostCore& core) {
        HostRuntime runtime(core, options_);
        const interference_parameters_t p = parameters(rank);
        run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
          return interference_rank(&p, ops, &id_, &results_[rank], error);
        });
        const uint64_t gathered = source_ + block_, loaded = results_[rank].loaded,
                       clocks = loaded + kind_.l2_bytes, clocks_end = clocks + clocks_bytes_;
        layouts_[rank].add("gathered and runtime", gathered, loaded - gathered);
        layouts_[rank].add("loaded", loaded, kind_.l2_bytes, true);
        layouts_[rank].add("clocks", clocks, clocks_bytes_);
        layouts_[rank].add("runtime", clocks_end, runtime.memory_end(rank) - clocks_end);
      });
    }
  }

  CheckReport check() const override {
    CheckReport report;
    std::vector<uint64_t> got(8192);
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      for (uint64_t at = 0; at < block_ * ranks_; at += 8 * got.size()) {
        const uint64_t words = std::min<uint64_t>(got.size(), (block_ * ranks_ - at) / 8);
        memories_[rank]->read(source_ + block_ + at, reinterpret_cast<uint8_t*>(got.data()),
                              8 * words);
        for (uint64_t i = 0; i < words; ++i) {
          ++report.elements;
          const uint64_t byte = at + 8 * i;
          if (got[i] == content(static_cast<uint32_t>(byte / block_), byte % block_)) continue;
          if (report.mismatches++ == 0)
            report.first = "rank " + std::to_string(rank) + " byte " + std::to_string(byte) +
                           " of the gathered array";
        }
      }
    }
    return report;
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{"load", sha256_hex(load_elf_.data(), load_elf_.size())},
            {"collective", sha256_hex(collective_elf_.data(), collective_elf_.size())}};
  }

  std::string table() const override {
    std::string text = fmt::format("  {:>11}  {:>8}  {:>43}  {:>43}\n  {:>11}  {:>8}", "all-gather",
                                   "", kernel_of(mode_), "all-gather", "bytes", "rounds");
    for (int side = 0; side < 2; ++side)
      text +=
          fmt::format("  {:>10} {:>10} {:>10} {:>10}", "alone us", "both us", "slowdown", "% lost");
    for (uint32_t i = 0; i < lines_.size(); ++i) {
      text += fmt::format("\n  {:11}  {:8}", lines_[i].block_bytes * ranks_, results_[0].rounds[i]);
      for (const Side& side : {kernel_of_line(i), gather_of_line(i)})
        text += "  " + figure(side.alone, 10) + " " + figure(side.both, 10) + " " +
                figure(side.slowdown(), 10) + " " + figure(100 * side.lost, 10);
    }
    return text + "\n";
  }

  json::object details() const override {
    json::array lines;
    for (uint32_t i = 0; i < lines_.size(); ++i) {
      const Side kernel = kernel_of_line(i), gather = gather_of_line(i);
      if (kernel.both == 0 || gather.both == 0) break;  // The run was cut short.
      json::object line{{"gather_bytes", lines_[i].block_bytes * ranks_},
                        {"kernel_percent", lines_[i].percent},
                        {"kernel_rounds", results_[0].rounds[i]}};
      for (const auto& [name, side] : {std::pair("kernel", kernel), std::pair("gather", gather)}) {
        line[fmt::format("{}_alone_us", name)] = side.alone;
        line[fmt::format("{}_both_us", name)] = side.both;
        line[fmt::format("{}_slowdown", name)] = side.slowdown();
        line[fmt::format("{}_lost_percent", name)] = 100 * side.lost;
      }
      lines.push_back(std::move(line));
    }
    return {{"lines", std::move(lines)}};
  }

 private:
  struct Side {
    double alone = 0, both = 0;  // us.
    double lost = 0;             // Of the time in which both ran.
    double slowdown() const { return alone > 0 ? both / alone : 0; }
  };

  // From the first begin to the last end; 0: one is missing.
  struct Span {
    uint64_t begin = UINT64_MAX, end = 0;
    bool whole = true;
    void add(uint64_t from, uint64_t to) {
      begin = std::min(begin, from);
      end = std::max(end, to);
      whole = whole && from != 0 && to >= from;
    }
    double length() const { return whole ? static_cast<double>(end - begin) : 0; }
  };
  // By the clocks that its work-groups note, of all ranks.
  double kernel_us(uint32_t line, interference_turn_t turn) const {
    Span clocks;
    std::vector<uint64_t> words(2 * uint64_t{work_groups_});
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      const uint64_t bytes = 8 * words.size(), at = results_[rank].loaded + kind_.l2_bytes +
                                                    INTERFERENCE_KERNEL_OF(line, turn) * bytes;
      memories_[rank]->read(at, reinterpret_cast<uint8_t*>(words.data()), bytes);
      for (size_t i = 0; i < words.size(); i += 2) clocks.add(words[i], words[i + 1]);
    }
    return clocks.length() / spec_.gpu.clock_mhz;
  }
  double gather_us(uint32_t line, interference_turn_t turn) const {
    Span ns;
    for (const interference_result_t& one : results_)
      ns.add(one.gather_begin_ns[line][turn], one.gather_end_ns[line][turn]);
    return ns.length() / 1000;
  }
  Side side(double alone, double both, double other) const {
    const double together = std::min(both, other);
    return {alone, both, together > 0 ? (both - alone) / together : 0};
  }
  Side kernel_of_line(uint32_t i) const {
    return side(kernel_us(i, INTERFERENCE_KERNEL), kernel_us(i, INTERFERENCE_BOTH),
                gather_us(i, INTERFERENCE_BOTH));
  }
  Side gather_of_line(uint32_t i) const {
    return side(gather_us(i, INTERFERENCE_GATHER), gather_us(i, INTERFERENCE_BOTH),
                kernel_us(i, INTERFERENCE_BOTH));
  }

  uint64_t content(uint32_t rank, uint64_t offset) const {
    return content_word(request_.seed, rank, offset / 8);
  }

  interference_parameters_t parameters(uint32_t rank) const {
    interference_parameters_t p{};
    p.rank = rank;
    p.ranks = ranks_;
    p.job = host_job(request_);
    p.source = source_;
    p.block_bytes = block_;
    p.kernel = kernel_.c_str();
    p.work_groups = work_groups_;
    p.rounds = kernel_ == "load_l2" ? kL2Rounds : kIssueRounds;
    p.line = lines_.data();
    p.lines = static_cast<uint32_t>(lines_.size());
    p.first = &results_[0];
    p.load_bytes = static_cast<uint32_t>(kind_.l2_bytes);
    p.load_elf = load_elf_.data();
    p.load_elf_bytes = load_elf_.size();
    return p;
  }

  const InterferenceKind& kind_;
  const std::string mode_;
  const uint32_t ranks_;
  const std::vector<uint8_t> collective_elf_, load_elf_;
  const uint64_t block_;
  const std::vector<interference_line_t> lines_;  // The longest all-gather last.
  const uint32_t work_groups_;
  const uint64_t clocks_bytes_;  // Of all kernels of a rank.
  const stretto_runtime_options_t options_;
  const uint64_t source_;  // The rank's block; the gathered array is behind it.
  const std::string kernel_;
  ncclUniqueId id_{};
  std::vector<interference_result_t> results_;  // By rank.
};

}  // namespace

void InterferenceKind::describe(ParameterSet& set) {
  set.number("gather_bytes", gather_bytes, 4096, uint64_t{1} << 32,
             "Gathered array, at most; a multiple of 4 KiB a GPU.");
  set.number("min_gather_bytes", min_gather_bytes, 0, uint64_t{1} << 32,
             "At least, in steps of a quarter of gather_bytes; 0 = gather_bytes.");
  set.number("max_kernel_percent", max_kernel_percent, 1, 10'000,
             "Length of the kernel alone at most, in percent of the all-gather's alone.");
  set.number("min_kernel_percent", min_kernel_percent, 1, 10'000,
             "At least, in steps of a half of max_kernel_percent.");
  set.number("l2_bytes", l2_bytes, 16384, 1u << 30,
             "What load_l2 reads again and again, a multiple of 16 KiB.");
  set.number("work_groups", work_groups, 0, 65535,
             "Work-groups of the kernel; 0 = two a compute unit.");
}

std::string InterferenceKind::first_error() const {
  if (l2_bytes % 16384 != 0) return "needs l2_bytes that is a multiple of 16384";
  if (min_gather_bytes > gather_bytes) return "needs min_gather_bytes up to gather_bytes";
  if (min_kernel_percent > max_kernel_percent)
    return "needs min_kernel_percent up to max_kernel_percent";
  return lines_of(*this, 1).size() > INTERFERENCE_MAX_LINES
             ? fmt::format("needs fewer than {} pairs of lengths", INTERFERENCE_MAX_LINES + 1)
             : "";
}

const KindInfo& InterferenceKind::info() const {
  static const KindInfo info{
      .name = "interference",
      .sentence =
          "A kernel that loads one resource beside an all-gather, by their lengths: each alone, "
          "both.",
      .accounts = 3,
      .modes = {{"l2-mmio", "a kernel that reads the L2, beside an all-gather by copy kernels"},
                {"l2-gdma", "... beside an all-gather by GPU-initiated DMA"},
                {"issue-mmio",
                 "a kernel that issues instructions, beside an all-gather by copy kernels"},
                {"issue-gdma", "... beside an all-gather by GPU-initiated DMA"}},
      .min_gpus = 2};
  return info;
}

std::string InterferenceKind::work(const std::string& mode) const {
  return mode.rfind("l2-", 0) == 0 ? "the kernel that reads the L2" : "the kernel that issues";
}

std::map<std::string, uint64_t> InterferenceKind::shape() const {
  return {{"gather_bytes", gather_bytes},
          {"min_gather_bytes", min_gather_bytes},
          {"min_kernel_percent", min_kernel_percent},
          {"max_kernel_percent", max_kernel_percent},
          {"l2_bytes", l2_bytes},
          {"work_groups", work_groups}};
}

void InterferenceKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  const std::vector<interference_line_t> lines = lines_of(*this, request.ranks());
  const auto is_whole = [&](const interference_line_t& line) {
    return line.block_bytes % 4096 == 0 && line.block_bytes != 0;
  };
  if (gather_bytes % request.ranks() != 0 || !std::all_of(lines.begin(), lines.end(), is_whole))
    throw UserError(
        request.subject() +
        ": gather_bytes, and its quarters, must be a multiple of 4096 bytes for each of " +
        std::to_string(request.ranks()) + " GPUs");
  if (l2_bytes > spec.l2.bytes)
    throw UserError(request.subject() + ": l2_bytes (" + std::to_string(l2_bytes) +
                    ") does not fit into l2.bytes (" + std::to_string(spec.l2.bytes) + ")");
  const uint64_t block = gather_bytes / request.ranks();
  const uint64_t clocks = clocks_bytes_of(lines.size(), work_groups_of(*this, spec));
  check_memory(request, gather_bytes + block + l2_bytes + clocks + kModuleBytes,
               "the gathered array", gather_bytes, "interference.gather_bytes");
  check_kernels("load", {kernel_of(request.mode)});
}

std::vector<std::string> InterferenceKind::claims(const JobRequest& request) const {
  return runtime_claims(engine_of(request.mode));
}

std::vector<std::string> InterferenceKind::kernel_files(const JobRequest& request) const {
  return {kernel_path("load"), kernel_path(request.spec.software.collective)};
}

std::unique_ptr<Job> InterferenceKind::make_job(const JobRequest& request,
                                                Memories memories) const {
  return std::make_unique<Interference>(*this, request, std::move(memories));
}

}  // namespace stretto
