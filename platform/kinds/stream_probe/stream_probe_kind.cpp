// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/stream_probe/stream_probe_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/json.hpp>

#include "models/common/error.h"
#include "platform/config/peaks.h"
#include "platform/jobs/operands.h"
#include "sw/apps/kernel_list.h"
#include "sw/kernels/stream_probe.h"

namespace stretto {

namespace json = boost::json;

namespace {

const Account kWarmUp{STREAM_PROBE_ACCOUNT_WARM_UP, "warm_up"},
    kStream{STREAM_PROBE_ACCOUNT_STREAM, "stream"};
constexpr uint32_t kWavefronts[] = {2, 4, 8, 16, 24, 32, 64};
constexpr uint64_t kHostAt = 1 << 20;  // In the job's part of host memory.
constexpr const char* kDma = "dma";

struct Operation {
  const char* name;
  unsigned inputs, outputs;
};
constexpr Operation kOperations[STREAM_PROBE_OPERATIONS] = {{"read", 1, 0}, {"write", 0, 1},
                                                            {"copy", 1, 1}, {"scale", 1, 1},
                                                            {"add", 2, 1},  {"triad", 3, 1}};

uint32_t operation_of(const std::string& mode) {
  for (uint32_t i = 0; i < STREAM_PROBE_OPERATIONS; ++i)
    if (mode == kOperations[i].name) return i;
  return STREAM_PROBE_COPY;  // What the DMA engine does.
}

// Element of input `which`: small integers, exact in all that is computed with them.
float element(uint32_t which, uint64_t index) {
  return static_cast<float>((index * (2 * which + 3) + which) % 509);
}
float expected(uint32_t operation, uint64_t i) {
  switch (operation) {
    case STREAM_PROBE_WRITE: return 0;
    case STREAM_PROBE_SCALE: return 2 * element(0, i);
    case STREAM_PROBE_ADD: return element(0, i) + element(1, i);
    case STREAM_PROBE_TRIAD: return element(0, i) + element(1, i) * element(2, i);
    default: return element(0, i);
  }
}

class StreamProbe final : public Job {
 public:
  StreamProbe(const StreamProbeKind& kind, const JobRequest& request, Memories memories)
      : Job(request, std::move(memories)),
        kind_(kind),
        operation_(operation_of(request.mode)),
        is_dma_(request.mode == kDma),
        elf_(kernel_file("stream_probe")),
        kernel_(fmt::format("stream_probe_{}", kind.wavefronts)),
        ranks_(kind.both ? 2 : 1),
        tail_(std::min<uint64_t>(std::max(2u, kind.wavefronts / 8) * spec_.gpu.cus, groups())),
        programs_(ranks_) {
    for (uint32_t rank = 0; rank < simulated_ranks(); ++rank) plan(rank);
  }

  std::vector<Account> accounts() const override { return {kWarmUp, kStream}; }
  std::vector<PhaseRule> phases() const override { return {work_of(kWarmUp), work_of(kStream)}; }

  // Inputs; and in what is written something that no operation leaves there.
  void place_contents() override {
    for (uint32_t rank = 0; rank < simulated_ranks(); ++rank) {
      for (uint32_t i = 0; i < STREAM_PROBE_INPUTS; ++i)
        place(rank, from_[i], [i](uint64_t index) { return element(i, index); });
      place(rank, to_, [](uint64_t) { return -1.0f; });
    }
  }

  void add_programs(Host& host, uint32_t) override {
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      add_rank(host, rank, [this, rank](HostCore& core) {
        run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
          Program& one = programs_[rank];
          return kernel_list_run(&one.p, ops, one.spans.data(), error);
        });
      });
    }
  }

  CheckReport check() const override {
    CheckReport report;
    const auto expect = [&](bool holds, const std::string& what) {
      ++report.elements;
      if (!holds) report.wrong(what);
    };
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      expect(gb_s() > 0, fmt::format("rank {} has not ended", rank));
      if (kind_.target == StreamTarget::host) continue;  // Nobody sees host memory but programs.
      const uint32_t at = kind_.target == StreamTarget::peer ? 1 - rank : rank;
      const bool writes = kOperations[operation_].outputs > 0;
      std::vector<float> found(16384);
      for (uint64_t first = 0; first < kind_.bytes / 4; first += found.size()) {
        memories_[at]->read(offset_of(to_) + 4 * first, reinterpret_cast<uint8_t*>(found.data()),
                            4 * found.size());
        for (uint64_t i = 0; i < found.size(); ++i)
          expect(found[i] == (writes ? expected(operation_, first + i) : -1.0f),
                 fmt::format("GPU {}: element {} is {}", at, first + i, found[i]));
      }
    }
    return report;
  }

  // A kernel has ended when its stores have left, a copy when they have come.
  void audit(uint32_t rank, AuditSink& sink) const override {
    if (kind_.target == StreamTarget::peer && is_dma_ && rank == 0)
      audit_rate(request_.spec, gb_s() / ranks_, sink);
    if (kind_.target != StreamTarget::local || gb_s() == 0) return;
    // What an L2 had before, what it keeps, and what is on its way when the last store has left.
    const L2Spec& l2 = spec_.l2;
    const uint64_t held = 2 * l2.bytes + 64ull * l2.memory_queue_sectors * l2.banks;
    const Operation& operation = kOperations[operation_];
    const uint64_t runs = is_dma_ ? kind_.copies : 1;
    sink.at_most("bytes of a stream <= peak of HBM x its time + what L2 and its queues hold",
                 runs * (operation.inputs + operation.outputs) * kind_.bytes,
                 static_cast<uint64_t>(peaks_of(spec_).hbm_gb_s * us() * 1e3) + held);
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{"stream_probe", sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    return fmt::format("  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}\n  {:>10}  {:10}  {:10}  {}  {}\n",
                       "operation", "bytes", "threads", "GB/s", "us", request_.mode, kind_.bytes,
                       threads(), figure(gb_s(), 10), figure(us(), 10));
  }

  json::object details() const override {
    json::object details{{"operation", request_.mode}, {"bytes", kind_.bytes}};
    if (!is_dma_) details["threads"] = threads();
    if (gb_s() == 0) return details;  // The run was cut short.
    details["gb_s"] = gb_s();
    details["us"] = us();
    return details;
  }

 private:
  struct Program {
    kernel_list_parameters_t p{};
    std::array<stretto_stream_probe_arguments_t, 2> arguments{};
    kernel_list_copy_t copy{};
    std::vector<kernel_list_entry_t> entries;
    std::vector<kernel_list_span_t> spans;
  };

  // All ranks have the same plan, so that an address of one is the other's, too.
  void plan(uint32_t rank) {
    kernel_list_parameters_t p{};
    p.client = client_options(request_, rank);
    p.memory = memory_plan(&p.client, 65536);
    const uint32_t cached = STRETTO_ALLOCATION_CACHED;
    const uint64_t words = memory_plan_add(&p.memory, "words", 2 * words_bytes(), cached);
    for (uint64_t& from : from_)
      from = memory_plan_add_input(&p.memory, "input", kind_.bytes, cached);
    to_ = memory_plan_add(&p.memory, "output", kind_.bytes, cached);
    layouts_[rank].add(p.memory, KERNEL_LIST_MODULE_BYTES);
    if (rank >= ranks_) return;
    Program& one = programs_[rank];
    const host_job_t job = host_job(request_);
    uint64_t to = to_;
    if (kind_.target == StreamTarget::host)
      to = job_host_memory(&job) + kHostAt;
    else if (kind_.target == StreamTarget::peer)
      to = stretto_gpu_address(job_gpu(&job, 1 - rank), offset_of(to_));
    words_ = offset_of(words);
    for (uint32_t i = 0; i < 2; ++i) {
      stretto_stream_probe_arguments_t& g = one.arguments[i];
      std::copy(from_.begin(), from_.end(), g.from);
      g.to = to;
      g.words = words + i * words_bytes();
      g.operation = operation_;
      g.piece_bytes = kind_.piece_bytes;
      g.tail = static_cast<uint32_t>(tail_);
      const uint8_t account = i == 0 ? kWarmUp.number : kStream.number;
      kernel_list_entry_t entry{};
      entry.account = account;
      if (is_dma_) {
        one.copy = {to, from_[0], kind_.bytes};
        entry.arguments = &one.copy;
      } else {
        entry.kernel = kernel_.c_str();
        entry.arguments = &g;
        entry.argument_bytes = sizeof g;
        entry.work_groups = static_cast<uint32_t>(groups());
        entry.device_scope = 1;
      }
      for (uint32_t left = is_dma_ && i == 1 ? kind_.copies : 1; left > 0; --left) {
        // What the warm-up leaves dirty stays in the L2, as between the calls of a long run.
        entry.queued = left > 1 || (i == 0 && !is_dma_);
        one.entries.push_back(entry);
      }
    }
    p.entries = one.entries.data();
    p.count = static_cast<uint32_t>(one.entries.size());
    p.elf = elf_.data();
    p.elf_bytes = elf_.size();
    p.job = job;
    p.rank = rank;
    p.ranks = ranks_;
    if (kind_.target == StreamTarget::peer && !is_dma_) {
      p.peer_base = to;
      p.peer_bytes = kind_.bytes;
    }
    one.spans.resize(one.entries.size());
    one.p = p;
  }

  template <class Value>
  void place(uint32_t rank, uint64_t address, Value value) {
    const uint64_t base = offset_of(address);
    memories_[rank]->add_generator(
        base, kind_.bytes, [=](uint64_t from, uint8_t* to, uint64_t count) {
          for (uint64_t i = 0; i < count; ++i) {
            const uint32_t bits = std::bit_cast<uint32_t>(value((from + i - base) / 4));
            to[i] = static_cast<uint8_t>(bits >> 8 * ((from + i - base) % 4));
          }
        });
  }

  uint64_t groups() const {
    return kind_.bytes / kind_.piece_bytes / std::min(8u, kind_.wavefronts / 2);
  }
  uint64_t words_bytes() const { return (8 * (1 + tail_) + 127) / 128 * 128; }
  // In flight at most; a lane of 8 B is a thread.
  uint64_t threads() const {
    return uint64_t{spec_.gpu.cus} * kind_.wavefronts * std::min(32u, kind_.piece_bytes / 8);
  }
  uint64_t word(uint32_t rank, uint64_t index) const {
    uint64_t value = 0;
    memories_[rank]->read(words_ + words_bytes() + 8 * index, reinterpret_cast<uint8_t*>(&value),
                          8);
    return value;
  }
  // From the first begin to the last end, of all ranks; 0 = not measured. Of kernels on the GPU, of
  // copies on the host.
  double us() const {
    uint64_t begin = UINT64_MAX, end = 0;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      if (is_dma_) {
        const kernel_list_span_t& span = programs_[rank].spans.back();
        if (span.end_ns == 0) return 0;
        begin = std::min(begin, span.begin_ns);
        end = std::max(end, span.end_ns);
        continue;
      }
      begin = std::min(begin, word(rank, 0));
      for (uint64_t i = 1; i <= tail_; ++i) {
        if (word(rank, i) == 0) return 0;
        end = std::max(end, word(rank, i));
      }
    }
    const double spent = static_cast<double>(end - begin);
    return is_dma_ ? spent / 1000 : spent / spec_.gpu.clock_mhz;
  }
  // What goes through its own memory; of other targets what arrives there.
  double gb_s() const {
    if (us() == 0) return 0;
    const unsigned arrays = kind_.target == StreamTarget::local
                                ? kOperations[operation_].inputs + kOperations[operation_].outputs
                                : 1;
    const uint64_t times = is_dma_ ? kind_.copies : 1;
    return static_cast<double>(kind_.bytes * arrays * times * ranks_) / us() / 1000;
  }

  const StreamProbeKind& kind_;
  const uint32_t operation_;
  const bool is_dma_;
  const std::vector<uint8_t> elf_;
  const std::string kernel_;
  const uint32_t ranks_;  // That stream.
  const uint64_t tail_;   // Work-groups that note their end.
  std::vector<Program> programs_;
  std::array<uint64_t, STREAM_PROBE_INPUTS> from_{};
  uint64_t to_ = 0, words_ = 0;  // The latter an offset.
};

}  // namespace

void StreamProbeKind::describe(ParameterSet& set) {
  set.number("bytes", bytes, 65536, uint64_t{1} << 32, "Of each array, a multiple of 65536.");
  set.number("piece_bytes", piece_bytes, 64, STREAM_PROBE_PIECE_BYTES,
             "What a wavefront moves: 32 lanes of 2 to 16 B; a power of two.");
  set.number("wavefronts", wavefronts, 2, 64,
             "Of a compute unit at a time: 2, 4, 8, 16, 24, 32 or 64.");
  set.number("copies", copies, 1, 32, "Mode dma: copies in a row.");
  set.choice<StreamTarget>(
      "target", target,
      {{"local", StreamTarget::local}, {"peer", StreamTarget::peer}, {"host", StreamTarget::host}},
      "Where the result goes; host: mode dma only.");
  set.flag("both", both, "Two GPUs do it at once.");
}

std::string StreamProbeKind::first_error() const {
  if (bytes % 65536 != 0) return "needs bytes that is a multiple of 65536";
  if (!std::has_single_bit(piece_bytes)) return "needs piece_bytes that is a power of two";
  if (std::find(std::begin(kWavefronts), std::end(kWavefronts), wavefronts) ==
      std::end(kWavefronts))
    return "needs wavefronts of 2, 4, 8, 16, 24, 32 or 64";
  if (target == StreamTarget::host && bytes > (uint64_t{32} << 20))
    return "has target host, which has room for bytes up to 33554432";
  return "";
}

const KindInfo& StreamProbeKind::info() const {
  static const KindInfo info{
      .name = "stream_probe",
      .sentence = "What a GPU streams by kernels of a piece a wavefront, or by its DMA engine.",
      .accounts = 2,
      .modes = {{"read", "kernel: one array is read"},
                {"write", "kernel: one array is written"},
                {"copy", "kernel: one array into another"},
                {"scale", "kernel: a = 2 b"},
                {"add", "kernel: a = b + c"},
                {"triad", "kernel: a = b + c d"},
                {kDma, "the DMA engine copies an array"}}};
  return info;
}

std::map<std::string, uint64_t> StreamProbeKind::shape() const {
  return {{"bytes", bytes}, {"piece_bytes", piece_bytes}, {"wavefronts", wavefronts}};
}

void StreamProbeKind::check(const JobRequest& request) const {
  const auto refuse = [&](const std::string& what) {
    throw UserError(fmt::format("{}: {}", request.subject(), what));
  };
  const MachineSpec& spec = request.spec;
  if ((both || target == StreamTarget::peer) && request.ranks() != 2)
    refuse(fmt::format("both=true and target=peer need 2 GPUs, it has {}", request.ranks()));
  if (target == StreamTarget::host && request.mode != kDma)
    refuse("target=host is of mode dma only");
  if (target == StreamTarget::peer && request.mode == "read")
    refuse("mode read has no result to put at a peer");
  if (!spec.gpu.tile_values) refuse("needs gpu.tile_values: what is written is compared");
  if (spec.gpu.registers_bytes < STREAM_PROBE_REGISTERS_BYTES ||
      spec.gpu.wavefront_slots < wavefronts)
    refuse(fmt::format("needs gpu.registers_bytes of at least {} and {} gpu.wavefront_slots",
                       STREAM_PROBE_REGISTERS_BYTES, wavefronts));
  check_memory(request, (STREAM_PROBE_INPUTS + 1) * bytes + (uint64_t{64} << 20), "the arrays",
               bytes, "stream_probe.bytes");
  check_kernels("stream_probe", {fmt::format("stream_probe_{}", wavefronts)});
}

std::vector<std::string> StreamProbeKind::kernel_files(const JobRequest&) const {
  return {kernel_path("stream_probe")};
}

std::unique_ptr<Job> StreamProbeKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<StreamProbe>(*this, request, std::move(memories));
}

}  // namespace stretto
