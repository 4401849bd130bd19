// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/l2_probe/l2_probe_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/json.hpp>
#include <numeric>

#include "models/common/error.h"
#include "platform/config/peaks.h"
#include "platform/jobs/operands.h"
#include "sw/apps/kernel_list.h"
#include "sw/kernels/l2_probe.h"

namespace stretto {

namespace json = boost::json;

namespace {

const Account kStream{L2_PROBE_ACCOUNT_STREAM, "stream"}, kChase{L2_PROBE_ACCOUNT_CHASE, "chase"},
    kAtomics{L2_PROBE_ACCOUNT_ATOMICS, "atomics"};
constexpr std::array<const char*, 3> kMixes{"read", "half", "write"};
constexpr uint64_t kAtomicWords = 48;  // Begin, end, and in a line of its own what is added to.
constexpr uint32_t kUnitTileBytes = L2_PROBE_WAVEFRONTS * L2_PROBE_TILE_BYTES;

// A line of the table.
struct Line {
  uint32_t piece_bytes;
  uint32_t stores;  // Index into kMixes.
  uint32_t work_groups;
  stretto_l2_stream_arguments_t arguments;
};

struct Chase {
  const char* what;
  uint64_t links;
  stretto_l2_chase_arguments_t arguments;
};

// The place after `link` in a chain of `links`: all are met before one comes again (Hull and Dobell:
// factor - 1 has all primes of `links`, and 4; the step has none of them).
constexpr uint64_t kChainStep = 1013904223;
uint64_t next_link(uint64_t link, uint64_t links) {
  const uint64_t odd = links >> std::countr_zero(links);
  return (link * ((1 + 1664524 * odd) % links) + kChainStep) % links;
}

class L2Probe final : public Job {
 public:
  L2Probe(const L2ProbeKind& kind, const JobRequest& request, Memories memories)
      : Job(request, std::move(memories)), kind_(kind), elf_(kernel_file("l2_probe")) {
    for (uint32_t piece = kind.min_piece_bytes; piece <= kind.max_piece_bytes; piece *= 2) {
      for (uint32_t stores = 0; stores < kMixes.size(); ++stores) add_line(piece, stores);
    }
    add_chase("hit", kind.hit_bytes, true);
    add_chase("miss", kind.miss_bytes, false);
    atomics_.words = 8 * word_count_;
    atomics_.count = kind.loads;
    word_count_ += kAtomicWords;
    p_.client = client_options(request, 0);
    p_.memory = memory_plan(&p_.client, 65536);
    const uint32_t cached = STRETTO_ALLOCATION_CACHED;
    const uint64_t words = memory_plan_add(&p_.memory, "words", 8 * word_count_, cached);
    const uint64_t moved = memory_plan_add(&p_.memory, "moved", kind.footprint_bytes, cached);
    for (Line& line : lines_) {
      line.arguments.base = moved;
      line.arguments.words += words;
      launches_.push_back({"l2_stream", &line.arguments, sizeof line.arguments, line.work_groups,
                           kStream.number, 0, 0, 0});
    }
    for (Chase& chase : chases_) {
      chase.arguments.base =
          memory_plan_add_input(&p_.memory, chase.what, chase.links * L2_PROBE_LINE_BYTES, cached);
      chase.arguments.words += words;
      launches_.push_back(
          {"l2_chase", &chase.arguments, sizeof chase.arguments, 1, kChase.number, 0, 0, 0});
    }
    atomics_.words += words;
    atomics_.target = (atomics_.words + 8 * 16 + 127) / 128 * 128;
    launches_.push_back({"l2_atomics", &atomics_, sizeof atomics_, 1, kAtomics.number, 0, 0, 0});
    layouts_[0].add(p_.memory, KERNEL_LIST_MODULE_BYTES);
    p_.entries = launches_.data();
    p_.count = static_cast<uint32_t>(launches_.size());
    p_.elf = elf_.data();
    p_.elf_bytes = elf_.size();
  }

  std::vector<Account> accounts() const override { return {kStream, kChase, kAtomics}; }
  std::vector<PhaseRule> phases() const override {
    return {kernels_of(kStream), kernels_of(kChase), kernels_of(kAtomics)};
  }

  // The links of the chains that kernels follow.
  void place_contents() override {
    for (const Chase& chase : chases_) {
      uint64_t link = 0;
      for (uint64_t i = 0; i < uint64_t{chase.arguments.warm} + chase.arguments.loads; ++i) {
        const uint64_t next = next_link(link, chase.links);
        const uint64_t address = chase.arguments.base + next * L2_PROBE_LINE_BYTES;
        memories_[0]->load(offset_of(chase.arguments.base) + link * L2_PROBE_LINE_BYTES,
                           reinterpret_cast<const uint8_t*>(&address), sizeof address);
        link = next;
      }
    }
  }

  void add_programs(Host& host, uint32_t) override {
    add_rank(host, 0, [this](HostCore& core) {
      run_app(core, [this](const stretto_host_ops_t* ops, char* error) {
        return kernel_list_run(&p_, ops, nullptr, error);
      });
    });
  }

  CheckReport check() const override {
    CheckReport report;
    const auto expect = [&](bool holds, const std::string& what) {
      ++report.elements;
      if (!holds) report.wrong(what);
    };
    for (const Line& line : lines_) {
      const uint64_t wavefronts = uint64_t{line.work_groups} * L2_PROBE_WAVEFRONTS;
      expect(word(line.arguments.words, 0) == wavefronts, "wavefronts that have come");
      for (uint64_t i = 0; i < wavefronts; ++i)
        expect(word(line.arguments.words, 1 + 2 * i) < word(line.arguments.words, 2 + 2 * i),
               fmt::format("piece {} {}: wavefront {} has no end", line.piece_bytes,
                           kMixes[line.stores], i));
    }
    for (const Chase& chase : chases_) {
      uint64_t link = 0;
      for (uint64_t i = 0; i < uint64_t{chase.arguments.warm} + chase.arguments.loads; ++i)
        link = next_link(link, chase.links);
      expect(word(chase.arguments.words, 2) == chase.arguments.base + link * L2_PROBE_LINE_BYTES,
             fmt::format("the chain that should {} led elsewhere", chase.what));
    }
    expect(word(atomics_.target, 0) == kind_.loads, "atomics that were performed");
    return report;
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{"l2_probe", sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    std::string text = fmt::format("  {:>10}  {:>6}  {:>12}  {:>10}  {:>10}\n", "bytes", "piece",
                                   "mix", "GB/s", "% of peak");
    for (const Line& line : lines_)
      text += fmt::format("  {:10}  {:6}  {:>12}  {}  {}\n", bytes_of(line), line.piece_bytes,
                          kMixes[line.stores], figure(gb_s(line), 10),
                          figure(100 * gb_s(line) / peak_gb_s_, 10));
    text += fmt::format("  {:>10}  {:>10}  {:>10}\n", "latency", "ns", "clocks");
    for (const Chase& chase : chases_)
      text += fmt::format("  {:>10}  {}  {}\n", chase.what, figure(ns(clocks(chase)), 10),
                          figure(clocks(chase), 10));
    text += fmt::format("  {:>10}  {}\n", "atomics/us", figure(atomics_per_us(), 10));
    return text;
  }

  json::object details() const override {
    json::array lines;
    for (const Line& line : lines_) {
      if (gb_s(line) == 0) continue;  // The run was cut short.
      lines.push_back(json::object{{"bytes", bytes_of(line)},
                                   {"piece_bytes", line.piece_bytes},
                                   {"mix", kMixes[line.stores]},
                                   {"gb_s", gb_s(line)},
                                   {"share_of_peak", gb_s(line) / peak_gb_s_}});
    }
    json::object details{{"peak_gb_s", peak_gb_s_}, {"lines", std::move(lines)}};
    for (const Chase& chase : chases_) {
      if (clocks(chase) == 0) continue;
      details[fmt::format("{}_clocks", chase.what)] = clocks(chase);
      details[fmt::format("{}_ns", chase.what)] = ns(clocks(chase));
    }
    if (atomics_per_us() > 0) details["atomics_per_us"] = atomics_per_us();
    return details;
  }

 private:
  // As many bytes under way in a unit whatever the piece, or nearly: 32 to 64 KiB.
  void add_line(uint32_t piece, uint32_t stores) {
    Line line{};
    line.piece_bytes = piece;
    line.stores = stores;
    const uint32_t groups = piece <= 512 ? 2 : 1;
    line.work_groups = groups * spec_.gpu.cus;
    line.arguments.bytes = kind_.footprint_bytes;
    line.arguments.piece_shift = static_cast<uint32_t>(std::countr_zero(piece));
    line.arguments.tiles = std::min(8u, L2_PROBE_TILE_BYTES / piece);
    line.arguments.pieces = kind_.unit_bytes / (groups * L2_PROBE_WAVEFRONTS * piece);
    line.arguments.stores = stores;
    line.arguments.words = 8 * word_count_;
    word_count_ += 1 + 2 * uint64_t{line.work_groups} * L2_PROBE_WAVEFRONTS;
    lines_.push_back(line);
  }
  void add_chase(const char* what, uint64_t bytes, bool warm) {
    Chase chase{what, bytes / L2_PROBE_LINE_BYTES, {}};
    chase.arguments.warm = warm ? static_cast<uint32_t>(chase.links) : 0;
    chase.arguments.loads = kind_.loads;
    chase.arguments.words = 8 * word_count_;
    word_count_ += 3;
    chases_.push_back(chase);
  }

  uint64_t word(uint64_t words, uint64_t index) const {
    uint64_t value = 0;
    memories_[0]->read(offset_of(words) + 8 * index, reinterpret_cast<uint8_t*>(&value), 8);
    return value;
  }
  static uint64_t bytes_of(const Line& line) {
    return uint64_t{line.work_groups} * L2_PROBE_WAVEFRONTS * line.arguments.pieces *
           line.piece_bytes;
  }
  double ns(double clocks) const { return clocks * 1000 / spec_.gpu.clock_mhz; }
  // From the first wavefront's begin to the last one's end; 0 = not measured.
  double gb_s(const Line& line) const {
    uint64_t begin = UINT64_MAX, end = 0;
    for (uint64_t i = 0; i < uint64_t{line.work_groups} * L2_PROBE_WAVEFRONTS; ++i) {
      const uint64_t ended = word(line.arguments.words, 2 + 2 * i);
      if (ended == 0) return 0;
      begin = std::min(begin, word(line.arguments.words, 1 + 2 * i));
      end = std::max(end, ended);
    }
    return static_cast<double>(bytes_of(line)) / ns(static_cast<double>(end - begin));
  }
  double clocks(const Chase& chase) const {  // Likewise.
    return static_cast<double>(word(chase.arguments.words, 1) - word(chase.arguments.words, 0)) /
           chase.arguments.loads;
  }

  double atomics_per_us() const {  // Likewise.
    const uint64_t clocks = word(atomics_.words, 1) - word(atomics_.words, 0);
    return clocks == 0 ? 0 : 1000 * kind_.loads / ns(static_cast<double>(clocks));
  }

  const L2ProbeKind& kind_;
  const double peak_gb_s_ = peaks_of(spec_).l2_gb_s;
  const std::vector<uint8_t> elf_;
  kernel_list_parameters_t p_{};
  std::vector<Line> lines_;
  std::vector<Chase> chases_;
  stretto_l2_atomics_arguments_t atomics_{};
  std::vector<kernel_list_entry_t> launches_;
  uint64_t word_count_ = 0;
};

}  // namespace

void L2ProbeKind::describe(ParameterSet& set) {
  set.number("min_piece_bytes", min_piece_bytes, 64, L2_PROBE_TILE_BYTES,
             "Smallest piece, a power of two.");
  set.number("max_piece_bytes", max_piece_bytes, 64, L2_PROBE_TILE_BYTES,
             "Largest piece, a power of two.");
  set.number("unit_bytes", unit_bytes, 128 * 1024, 1u << 30,
             "What a compute unit moves for a line of the table, a power of two.");
  set.number("footprint_bytes", footprint_bytes, 64 * 1024, 1u << 30,
             "Among which it moves them, a power of two.");
  set.number("loads", loads, L2_PROBE_CHASE_BATCH, 1u << 20,
             "Loads of a chain that are timed, a multiple of 8, and atomics.");
  set.number("hit_bytes", hit_bytes, 4096, 1u << 30,
             "Footprint of the chain that hits, whole lines of 128 B.");
  set.number("miss_bytes", miss_bytes, 4096, uint64_t{1} << 32,
             "Footprint of the chain that misses, of which nothing is read twice; a power of two.");
}

std::string L2ProbeKind::first_error() const {
  for (const uint64_t value : {uint64_t{min_piece_bytes}, uint64_t{max_piece_bytes},
                               uint64_t{unit_bytes}, uint64_t{footprint_bytes}, miss_bytes}) {
    if (!std::has_single_bit(value)) return "needs powers of two for all bytes but hit_bytes";
  }
  if (hit_bytes % L2_PROBE_LINE_BYTES != 0 ||
      std::gcd(uint64_t{hit_bytes} / L2_PROBE_LINE_BYTES, kChainStep) != 1)
    return fmt::format("needs hit_bytes of 128 times a number without a factor of {}", kChainStep);
  if (min_piece_bytes > max_piece_bytes) return "needs min_piece_bytes up to max_piece_bytes";
  if (loads % L2_PROBE_CHASE_BATCH != 0) return "needs loads that is a multiple of 8";
  if (loads > miss_bytes / L2_PROBE_LINE_BYTES)
    return "needs miss_bytes of at least 128 for each of loads";
  return "";
}

const KindInfo& L2ProbeKind::info() const {
  static const KindInfo info{
      .name = "l2_probe",
      .sentence = "What the L2 of one GPU does: throughput by size of pieces, latency, atomics.",
      .accounts = 3,
      .modes = {{"probe", "equal bytes in pieces of many sizes, and one load at a time"}}};
  return info;
}

std::map<std::string, uint64_t> L2ProbeKind::shape() const {
  return {{"min_piece_bytes", min_piece_bytes},
          {"max_piece_bytes", max_piece_bytes},
          {"unit_bytes", unit_bytes},
          {"footprint_bytes", footprint_bytes},
          {"loads", loads},
          {"hit_bytes", hit_bytes},
          {"miss_bytes", miss_bytes}};
}

void L2ProbeKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  for (const auto& [name, bytes] :
       {std::pair("footprint_bytes", footprint_bytes), std::pair("hit_bytes", hit_bytes)}) {
    if (bytes > spec.l2.bytes)
      throw UserError(fmt::format("{}: {} ({}) does not fit into l2.bytes ({})", request.subject(),
                                  name, bytes, spec.l2.bytes));
  }
  if (spec.gpu.registers_bytes < 2 * (kUnitTileBytes + 16384))
    throw UserError(fmt::format("{}: needs gpu.registers_bytes of at least {}", request.subject(),
                                2 * (kUnitTileBytes + 16384)));
  check_kernels("l2_probe", {"l2_stream", "l2_chase", "l2_atomics"});
}

std::vector<std::string> L2ProbeKind::kernel_files(const JobRequest&) const {
  return {kernel_path("l2_probe")};
}

std::unique_ptr<Job> L2ProbeKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<L2Probe>(*this, request, std::move(memories));
}

}  // namespace stretto
