// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/interference/interference_kind.h"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdio>

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

stretto_runtime_options_t options_of(const JobRequest& request,
                                     const std::vector<uint8_t>& kernels) {
  stretto_runtime_options_t options =
      runtime_options(request, engine_of(request.mode), false, kernels);
  options.accounts = {kInit.number, kGather.number, kGather.number};
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

  void add_programs(Host& host) override {
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      add_rank(host, rank, [this, rank](HostCore& core) {
        HostRuntime runtime(core, options_);
        const interference_parameters_t p = parameters(rank);
        run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
          return interference_rank(&p, ops, &id_, &results_[rank], error);
        });
        const uint64_t gathered = source_ + block_, loaded = results_[rank].loaded,
                       loaded_end = loaded + kind_.l2_bytes;
        layouts_[rank].add("gathered and runtime", gathered, loaded - gathered);
        layouts_[rank].add("loaded", loaded, kind_.l2_bytes, true);
        layouts_[rank].add("runtime", loaded_end, runtime.memory_end(rank) - loaded_end);
      });
      add_thread(host, "watch" + std::to_string(rank), [this, rank](HostCore& core) {
        const interference_parameters_t p = parameters(rank);
        const stretto_host_ops_t ops = host_ops(core);
        interference_watch(&p, &ops, &results_[rank]);
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
    std::string kernel = "  kernel " + kernel_of(mode_);
    std::string gather = "  all-gather";
    kernel.resize(22, ' ');
    gather.resize(22, ' ');
    const auto row = [](double alone, double both) {
      return figure(alone, 12) + figure(both, 14) + figure(ratio(both, alone), 14) + "\n";
    };
    return "                        alone us       both us      slowdown\n" + kernel +
           row(kernel_us(INTERFERENCE_KERNEL), kernel_us(INTERFERENCE_BOTH)) + gather +
           row(gather_us(INTERFERENCE_GATHER), gather_us(INTERFERENCE_BOTH));
  }

  json::object details() const override {
    json::object object{
        {"gather_bytes", block_ * ranks_},
        {"kernel_alone_us", kernel_us(INTERFERENCE_KERNEL)},
        {"kernel_both_us", kernel_us(INTERFERENCE_BOTH)},
        {"gather_alone_us", gather_us(INTERFERENCE_GATHER)},
        {"gather_both_us", gather_us(INTERFERENCE_BOTH)},
        {"kernel_slowdown", ratio(kernel_us(INTERFERENCE_BOTH), kernel_us(INTERFERENCE_KERNEL))},
        {"gather_slowdown", ratio(gather_us(INTERFERENCE_BOTH), gather_us(INTERFERENCE_GATHER))}};
    for (auto it = object.begin(); it != object.end();) {  // Of a run that was cut short.
      it = it->value().is_double() && it->value().as_double() == 0 ? object.erase(it) : it + 1;
    }
    return object;
  }

 private:
  static double ratio(double a, double b) { return b > 0 ? a / b : 0; }
  static double us(uint64_t begin, uint64_t end) {
    return end > begin ? static_cast<double>(end - begin) / 1000 : 0;
  }
  // Over all ranks, from the first begin to the last end.
  double turn_us(interference_turn_t turn,
                 const uint64_t (interference_result_t::*ends)[INTERFERENCE_TURNS]) const {
    uint64_t begin = UINT64_MAX, end = 0;
    for (const interference_result_t& one : results_) {
      begin = std::min(begin, one.begin_ns[turn]);
      end = std::max(end, (one.*ends)[turn]);
    }
    return us(begin, end);
  }
  double kernel_us(interference_turn_t turn) const {
    return turn_us(turn, &interference_result_t::kernel_end_ns);
  }
  double gather_us(interference_turn_t turn) const {
    return turn_us(turn, &interference_result_t::gather_end_ns);
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
    p.work_groups = kind_.work_groups != 0 ? kind_.work_groups : 2 * spec_.gpu.cus;
    p.rounds = kernel_ == "load_l2" ? kind_.l2_rounds : kind_.issue_rounds;
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
  const stretto_runtime_options_t options_;
  const uint64_t source_;  // The rank's block; the gathered array is behind it.
  const std::string kernel_;
  ncclUniqueId id_{};
  std::vector<interference_result_t> results_;  // By rank.
};

}  // namespace

void InterferenceKind::describe(ParameterSet& set) {
  set.number("gather_bytes", gather_bytes, 4096, uint64_t{1} << 32,
             "Gathered array; a multiple of 4 KiB a GPU.");
  set.number("l2_bytes", l2_bytes, 16384, 1u << 30,
             "What load_l2 reads again and again, a multiple of 16 KiB.");
  set.number("work_groups", work_groups, 0, 65535,
             "Work-groups of the kernel; 0 = two a compute unit.");
  set.number("l2_rounds", l2_rounds, 1, 1u << 30, "Rounds of load_l2, of 16 KiB a wavefront.");
  set.number("issue_rounds", issue_rounds, 1, 1u << 30,
             "Rounds of load_issue, of 16 additions a wavefront.");
}

std::string InterferenceKind::first_error() const {
  return l2_bytes % 16384 != 0 ? "needs l2_bytes that is a multiple of 16384" : "";
}

const KindInfo& InterferenceKind::info() const {
  static const KindInfo info{
      .name = "interference",
      .sentence = "A kernel that loads one resource beside an all-gather: each alone, then both.",
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
          {"l2_bytes", l2_bytes},
          {"work_groups", work_groups},
          {"l2_rounds", l2_rounds},
          {"issue_rounds", issue_rounds}};
}

void InterferenceKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  if (gather_bytes % (4096 * uint64_t{request.ranks()}) != 0)
    throw UserError(request.subject() +
                    ": gather_bytes must be a multiple of 4096 bytes for each of " +
                    std::to_string(request.ranks()) + " GPUs");
  if (l2_bytes > spec.l2.bytes)
    throw UserError(request.subject() + ": l2_bytes (" + std::to_string(l2_bytes) +
                    ") does not fit into l2.bytes (" + std::to_string(spec.l2.bytes) + ")");
  const uint64_t block = gather_bytes / request.ranks();
  check_memory(request, gather_bytes + block + l2_bytes + kModuleBytes, "the gathered array",
               gather_bytes, "interference.gather_bytes");
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
