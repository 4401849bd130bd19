// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tile_queue/tile_queue_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/json.hpp>
#include <optional>

#include "models/common/error.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/queue_owner.h"
#include "sw/apps/graph/tile_queue.h"

namespace stretto {

namespace json = boost::json;

namespace {

const Account kQueue{TILE_QUEUE_ACCOUNT, "queue"};
constexpr uint64_t kLeastPayloads = 12;  // Of a queue, so that its beginning does not count.
constexpr uint64_t kPatternBytes = 2 * TILE_QUEUE_PIECE_BYTES;  // Of a wavefront.
constexpr uint32_t kRegistersBytes =
    TILE_QUEUE_WAVEFRONTS * TILE_QUEUE_TILES * TILE_QUEUE_PIECE_BYTES + 16384;

// Element of the first payload: a small integer that no other place of the machine has, exact with
// the number of the payload added.
float pattern(uint64_t index) { return static_cast<float>(index % (1u << 23)); }

// What the clocks of a launch say, in GB/s of payload.
struct Rates {
  double all;          // From the first begin to the last end.
  double least, most;  // Of a pair, from its producer's begin to its consumer's end.
};

class TileQueue final : public Job, public QueueOwner {
 public:
  TileQueue(const TileQueueKind& kind, const JobRequest& request, Memories memories)
      : Job(request, std::move(memories)), kind_(kind), elf_(kernel_file("tile_queue")) {
    const uint64_t ends = 2 * uint64_t{kind.pairs};
    const uint64_t wavefronts = uint64_t{kind.pairs} * TILE_QUEUE_WAVEFRONTS;
    for (uint32_t bytes = kind.min_bytes; bytes <= kind.max_bytes; bytes *= 2) {
      add_line(bytes, kind.pairs, false);
      add_line(bytes, 1, false);
      if (kind.cost) add_line(bytes, kind.pairs, true);
    }
    p_.client = client_options(request, 0);
    p_.limit = kind.pinned ? p_.client.l2_persist_bytes : 0;
    p_.memory = memory_plan(&p_.client, 65536);
    const uint32_t cached = STRETTO_ALLOCATION_CACHED;
    words_of_line_ = kind.pairs * uint64_t{kind.depth} * TILE_QUEUE_WORDS_BYTES;
    clocks_of_line_ = (8 * (1 + 2 * ends) + 127) / 128 * 128;
    const uint64_t words = memory_plan_add(
        &p_.memory, "words", lines_.size() * (words_of_line_ + clocks_of_line_), cached);
    differences_of_line_ = wavefronts * kPatternBytes;
    const uint64_t differences =
        memory_plan_add(&p_.memory, "differences", lines_.size() * differences_of_line_, cached);
    const uint64_t payloads = memory_plan_add(
        &p_.memory, "payloads", uint64_t{kind.pairs} * kind.depth * kind.max_bytes, cached);
    patterns_ = memory_plan_add_input(&p_.memory, "patterns", wavefronts * kPatternBytes, cached);
    constants_ = memory_plan_add_input(&p_.memory, "constants", kPatternBytes, cached);
    for (size_t i = 0; i < lines_.size(); ++i) {
      stretto_tile_queue_arguments_t& g = lines_[i].arguments;
      g.queue.payloads = payloads;
      g.queue.words = words + i * words_of_line_;
      g.clocks = words + lines_.size() * words_of_line_ + i * clocks_of_line_;
      g.differences = differences + i * differences_of_line_;
      g.patterns = patterns_;
      g.constants = constants_;
    }
    layouts_[0].add(p_.memory, TILE_QUEUE_MODULE_BYTES);
    p_.lines = lines_.data();
    p_.count = static_cast<uint32_t>(lines_.size());
    p_.elf = elf_.data();
    p_.elf_bytes = elf_.size();
  }

  std::string queue_at(uint32_t, uint64_t offset) const override {
    for (const tile_queue_line_t& line : lines_) {
      const tile_queue_t& queue = line.arguments.queue;
      const auto name = [&](const char* what, uint64_t entry) {
        return fmt::format("{} {} of queue {} of {} of {} bytes", what, entry % kind_.depth,
                           entry / kind_.depth, line.pairs, queue.payload_bytes);
      };
      if (&line == &lines_[at_line_] && offset - offset_of(queue.payloads) < line.payloads_bytes)
        return name("entry", (offset - offset_of(queue.payloads)) / queue.payload_bytes);
      if (offset - offset_of(queue.words) < line.words_bytes)
        return name("words of entry", (offset - offset_of(queue.words)) / TILE_QUEUE_WORDS_BYTES);
    }
    return "";
  }

  std::optional<QueueWord> word_at(uint32_t, uint64_t offset) const override {
    for (const tile_queue_line_t& line : lines_) {
      const uint64_t word = offset - offset_of(line.arguments.queue.words);
      if (word >= line.words_bytes) continue;
      return QueueWord{
          fmt::format("{} of {} of {} bytes", word / TILE_QUEUE_WORDS_BYTES / kind_.depth,
                      line.pairs, line.arguments.queue.payload_bytes),
          kind_.depth, static_cast<uint32_t>(word / TILE_QUEUE_WORDS_BYTES % kind_.depth), 1,
          word % TILE_QUEUE_WORDS_BYTES != 0};
    }
    return std::nullopt;
  }

  // Lines of the table run one after the other; the ranges of each are pinned until it has ended.
  bool watches_kernels() const override { return true; }
  void on_kernel(const KernelMoment& moment) override {
    if (moment.account != kQueue.number) return;
    const tile_queue_line_t& line = lines_[at_line_];
    const tile_queue_t& queue = line.arguments.queue;
    const uint64_t queue_bytes = queue.depth * queue.payload_bytes;
    if (!moment.ended) before_.clear();
    for (uint64_t i = 0; kind_.pinned && i < line.pairs; ++i) {
      const QueueTraffic so_far =
          meter().traffic(0, offset_of(queue.payloads) + i * queue_bytes, queue_bytes);
      if (moment.ended)
        traffic_.push_back({so_far.written - before_[i].written, so_far.read - before_[i].read});
      else
        before_.push_back(so_far);
    }
    if (!moment.ended) return;
    ++at_line_;
    const uint64_t all = meter().evictions(0);
    if (stay(p_.client, {{offset_of(queue.payloads), line.payloads_bytes},
                         {offset_of(queue.words), line.words_bytes}}))
      evictions_ += all - all_evictions_;
    all_evictions_ = all;
  }

  std::vector<Account> accounts() const override { return {kQueue}; }
  std::vector<PhaseRule> phases() const override { return {kernels_of(kQueue)}; }

  void place_contents() override {
    const uint64_t patterns = uint64_t{kind_.pairs} * TILE_QUEUE_WAVEFRONTS * kPatternBytes;
    place(patterns_, patterns, pattern);
    place(constants_, kPatternBytes,
          [](uint64_t i) { return i < TILE_QUEUE_PIECE_BYTES / 4 ? 0.0f : 1.0f; });
  }

  void add_programs(Host& host, uint32_t) override {
    add_rank(host, 0, [this](HostCore& core) {
      run_app(core, [this](const stretto_host_ops_t* ops, char* error) {
        return tile_queue_run(&p_, ops, error);
      });
    });
  }

  // The consumers have compared; what they leave is zero. The words have counted all payloads.
  CheckReport check() const override {
    CheckReport report;
    const auto expect = [&](bool holds, const std::string& what) {
      ++report.elements;
      if (!holds) report.wrong(what);
    };
    auto traffic = traffic_.begin();
    for (const tile_queue_line_t& line : lines_) {
      const uint64_t bytes = line.arguments.payloads * line.arguments.queue.payload_bytes;
      for (uint64_t i = 0; traffic != traffic_.end() && i < line.pairs; ++i, ++traffic)
        expect(
            traffic->written == bytes && traffic->read == bytes,
            fmt::format("queue {} of {} of {} bytes: {} bytes were stored to pinned lines and {} "
                        "loaded from there, of {}",
                        i, line.pairs, line.arguments.queue.payload_bytes, traffic->written,
                        traffic->read, bytes));
    }
    expect(evictions_ == 0,
           fmt::format("queues that fit the L2's share of pinned lines had {} sectors written back "
                       "to make room",
                       evictions_));
    for (const tile_queue_line_t& line : lines_) {
      if (line.is_free) continue;
      const stretto_tile_queue_arguments_t& g = line.arguments;
      const std::string name =
          fmt::format("{} queues of {} bytes", line.pairs, g.queue.payload_bytes);
      std::vector<uint32_t> found(g.piece_bytes / 4);
      for (uint64_t i = 0; i < 2 * uint64_t{line.pairs} * TILE_QUEUE_WAVEFRONTS; ++i) {
        memories_[0]->read(offset_of(g.differences) + i * TILE_QUEUE_PIECE_BYTES,
                           reinterpret_cast<uint8_t*>(found.data()), g.piece_bytes);
        for (const uint32_t bits : found)
          expect(bits == 0,
                 fmt::format("{}: wavefront {} of pair {} has read something else", name,
                             i / 2 % TILE_QUEUE_WAVEFRONTS, i / 2 / TILE_QUEUE_WAVEFRONTS));
      }
      for (uint64_t entry = 0; entry < uint64_t{line.pairs} * kind_.depth; ++entry) {
        const uint64_t index = entry % kind_.depth;
        const uint64_t times = (g.payloads - index + kind_.depth - 1) / kind_.depth;
        for (const uint64_t word : {0u, TILE_QUEUE_LINE_BYTES})
          expect(read_word(g.queue.words + entry * TILE_QUEUE_WORDS_BYTES + word) == times,
                 fmt::format("{}: entry {} was not filled and freed {} times", name, entry, times));
      }
    }
    return report;
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{"tile_queue", sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    std::string text = fmt::format("  {:>10}  {:>8}  {:>10}  {:>10}  {:>21}  {:>10}", "", "",
                                   "all pairs", "one alone", "one of all", "off alone");
    text += kind_.cost ? fmt::format("  {:>12}  {:>8}\n", "no atomics", "cost") : "\n";
    text += fmt::format("  {:>10}  {:>8}  {:>10}  {:>10}  {:>10} {:>10}  {:>10}", "payload",
                        "payloads", "TB/s", "GB/s", "GB/s, min", "max", "%");
    text += kind_.cost ? fmt::format("  {:>12}  {:>8}\n", "TB/s", "%") : "\n";
    for (size_t i = 0; i < lines_.size(); i += step()) {
      const stretto_tile_queue_arguments_t& g = lines_[i].arguments;
      text += fmt::format("  {:10}  {:8}", g.queue.payload_bytes, g.payloads);
      const std::optional<Rates> all = rates(lines_[i]), one = rates(lines_[i + 1]);
      if (all && one)
        text += fmt::format("  {:10.3f}  {:10.2f}  {:10.2f} {:10.2f}  {:10.1f}", all->all / 1000,
                            one->all, all->least, all->most, 100 * off(*all, *one));
      if (const std::optional<Rates> free = free_of(i); all && free)
        text += fmt::format("  {:12.3f}  {:8.1f}", free->all / 1000, 100 * cost(*all, *free));
      text += "\n";
    }
    return text;
  }

  json::object details() const override {
    json::array lines;
    for (size_t i = 0; i < lines_.size(); i += step()) {
      const std::optional<Rates> all = rates(lines_[i]), one = rates(lines_[i + 1]);
      if (!all || !one) continue;  // The run was cut short.
      json::object line{{"payload_bytes", lines_[i].arguments.queue.payload_bytes},
                        {"payloads", lines_[i].arguments.payloads},
                        {"all_gb_s", all->all},
                        {"one_gb_s", one->all},
                        {"least_gb_s", all->least},
                        {"most_gb_s", all->most},
                        {"off_one", off(*all, *one)}};
      if (const std::optional<Rates> free = free_of(i)) {
        line["without_atomics_gb_s"] = free->all;
        line["cost"] = cost(*all, *free);
      }
      lines.push_back(std::move(line));
    }
    return {{"pairs", kind_.pairs}, {"depth", kind_.depth}, {"lines", std::move(lines)}};
  }

 private:
  void add_line(uint32_t bytes, uint32_t pairs, bool is_free) {
    tile_queue_line_t line{};
    line.pairs = pairs;
    line.is_free = is_free;
    line.arguments.queue.payload_bytes = bytes;
    line.arguments.queue.depth = kind_.depth;
    line.arguments.queue.readers = 1;
    line.arguments.queue.writers = 1;
    line.arguments.payloads = kind_.payloads_of(bytes);
    line.arguments.piece_bytes = std::min(bytes / TILE_QUEUE_WAVEFRONTS, TILE_QUEUE_PIECE_BYTES);
    line.payloads_bytes = uint64_t{pairs} * kind_.depth * bytes;
    line.words_bytes = uint64_t{pairs} * kind_.depth * TILE_QUEUE_WORDS_BYTES;
    lines_.push_back(line);
  }
  template <class Value>
  void place(uint64_t address, uint64_t bytes, Value value) {
    const uint64_t base = offset_of(address);
    memories_[0]->add_generator(base, bytes, [=](uint64_t from, uint8_t* to, uint64_t count) {
      for (uint64_t i = 0; i < count; ++i) {
        const uint32_t bits = std::bit_cast<uint32_t>(value((from + i - base) / 4));
        to[i] = static_cast<uint8_t>(bits >> 8 * ((from + i - base) % 4));
      }
    });
  }
  uint64_t read_word(uint64_t address) const {
    uint64_t value = 0;
    memories_[0]->read(offset_of(address), reinterpret_cast<uint8_t*>(&value), 8);
    return value;
  }
  double gb_s(uint64_t bytes, uint64_t clocks) const {
    return static_cast<double>(bytes) * spec_.gpu.clock_mhz / 1000 / static_cast<double>(clocks);
  }
  // Nothing: it has not ended.
  std::optional<Rates> rates(const tile_queue_line_t& line) const {
    const auto clock = [&](uint64_t group, uint64_t which) {
      return read_word(line.arguments.clocks + 8 * (1 + 2 * group + which));
    };
    const uint64_t bytes = line.arguments.queue.payload_bytes * line.arguments.payloads;
    uint64_t first = UINT64_MAX, last = 0;
    Rates rates{0, 1e99, 0};
    for (uint64_t pair = 0; pair < line.pairs; ++pair) {
      const uint64_t begin = clock(2 * pair, 0), end = clock(2 * pair + 1, 1);
      if (end == 0) return {};
      first = std::min(first, begin);
      last = std::max(last, end);
      rates.least = std::min(rates.least, gb_s(bytes, end - begin));
      rates.most = std::max(rates.most, gb_s(bytes, end - begin));
    }
    rates.all = gb_s(bytes * line.pairs, last - first);
    return rates;
  }
  size_t step() const { return kind_.cost ? 3 : 2; }
  std::optional<Rates> free_of(size_t line) const {
    return kind_.cost ? rates(lines_[line + 2]) : std::nullopt;
  }
  // What atomics cost, as a part of the time without.
  static double cost(const Rates& all, const Rates& free) { return free.all / all.all - 1; }
  // How far a pair among all is off one that is alone, at most.
  static double off(const Rates& all, const Rates& one) {
    return std::max(one.all - all.least, all.most - one.all) / one.all;
  }

  const TileQueueKind& kind_;
  const std::vector<uint8_t> elf_;
  tile_queue_parameters_t p_{};
  std::vector<tile_queue_line_t>
      lines_;  // Of each payload all pairs, one, perhaps all without queues.
  uint64_t words_of_line_ = 0, clocks_of_line_ = 0, differences_of_line_ = 0;
  uint64_t patterns_ = 0, constants_ = 0;
  size_t at_line_ = 0;                 // That runs.
  std::vector<QueueTraffic> before_;   // Of each queue of the line that runs, at its begin.
  std::vector<QueueTraffic> traffic_;  // Of each queue of each line, if they are pinned.
  uint64_t evictions_ = 0, all_evictions_ = 0;  // Of lines whose queues fit.
};

}  // namespace

uint32_t TileQueueKind::payloads_of(uint32_t payload_bytes) const {
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(queue_bytes / payload_bytes, kLeastPayloads, payloads));
}

void TileQueueKind::describe(ParameterSet& set) {
  set.number("pairs", pairs, 1, 80, "Producers, and consumers, each on a unit of its own.");
  set.number("depth", depth, 1, 64, "Entries of a queue.");
  set.number("min_bytes", min_bytes, 512, 1u << 24, "Smallest payload, a power of two.");
  set.number("max_bytes", max_bytes, 512, 1u << 24, "Largest payload, a power of two.");
  set.number("payloads", payloads, kLeastPayloads, 1u << 20,
             "What a queue moves for a line of the table, at most,");
  set.number("queue_bytes", queue_bytes, 4096, 1u << 30,
             "and in bytes, where that is 12 payloads.");
  set.flag("pinned", pinned,
           "Queues are pinned into all of the L2 that can be set aside (l2.persist_percent).");
  set.flag(
      "cost", cost,
      "All pairs move the same without atomics, too: with the barriers and waits for their own "
      "loads and stores, but no waiting for each other.");
}

std::string TileQueueKind::first_error() const {
  if (!std::has_single_bit(min_bytes) || !std::has_single_bit(max_bytes))
    return "needs powers of two for min_bytes and max_bytes";
  if (min_bytes > max_bytes) return "needs min_bytes up to max_bytes";
  return "";
}

const KindInfo& TileQueueKind::info() const {
  static const KindInfo info{
      .name = "tile_queue",
      .sentence =
          "Queues between compute units through pinned lines of the L2, by size of payload.",
      .accounts = 1,
      .modes = {{"queue", "all pairs at a time, and one alone; every element is checked"}}};
  return info;
}

std::map<std::string, uint64_t> TileQueueKind::shape() const {
  return {{"pairs", pairs},         {"depth", depth},       {"min_bytes", min_bytes},
          {"max_bytes", max_bytes}, {"payloads", payloads}, {"queue_bytes", queue_bytes},
          {"pinned", pinned}};
}

void TileQueueKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  const auto refuse = [&](const std::string& what) {
    throw UserError(fmt::format("{}: {}", request.subject(), what));
  };
  if (2 * pairs > spec.gpu.cus)
    refuse(fmt::format("{} pairs need gpu.cus of at least {}, it is {}", pairs, 2 * pairs,
                       spec.gpu.cus));
  if (spec.gpu.registers_bytes < kRegistersBytes)
    refuse(fmt::format("needs gpu.registers_bytes of at least {}", kRegistersBytes));
  if (!spec.gpu.tile_values) refuse("needs gpu.tile_values: consumers compare what they read");
  if (pinned && spec.l2.persist_ways() == 0)
    refuse("l2.persist_percent leaves nothing for pinned lines; set tile_queue.pinned=false");
  check_kernels("tile_queue", {"tile_queue_pairs", "tile_queue_pairs_free"});
}

std::vector<std::string> TileQueueKind::claims(const JobRequest&) const {
  return pinned ? std::vector<std::string>{kPersist} : std::vector<std::string>{};
}

std::vector<std::string> TileQueueKind::kernel_files(const JobRequest&) const {
  return {kernel_path("tile_queue")};
}

std::unique_ptr<Job> TileQueueKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<TileQueue>(*this, request, std::move(memories));
}

}  // namespace stretto
