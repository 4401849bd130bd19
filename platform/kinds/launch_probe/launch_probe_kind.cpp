// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/launch_probe/launch_probe_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/json.hpp>
#include <optional>

#include "models/common/error.h"
#include "platform/jobs/contents.h"
#include "platform/jobs/operands.h"
#include "sw/apps/kernel_list.h"
#include "sw/kernels/launch_probe.h"

namespace stretto {

namespace json = boost::json;

namespace {

const Account kMove{LAUNCH_PROBE_ACCOUNT_MOVE, "move"}, kDirty{LAUNCH_PROBE_ACCOUNT_DIRTY, "dirty"};

struct Launch {
  stretto_launch_probe_arguments_t arguments;
  uint32_t work_groups;
  bool dirties;
  bool device_scope;
  bool queued;
};

// Pairs of launches: the first leaves bytes dirty, the second begins when it has ended.
struct Line {
  uint32_t dirty_bytes;
  bool device_scope;
  size_t first;  // Launch.
};

// us; nothing where a run was cut short.
struct Times {
  std::optional<double> mean, most;
};

class LaunchProbe final : public Job {
 public:
  LaunchProbe(const LaunchProbeKind& kind, const JobRequest& request, Memories memories)
      : Job(request, std::move(memories)), kind_(kind), elf_(kernel_file("launch_probe")) {
    for (uint32_t i = 0; i < kind.launches; ++i) add_tiny(true, i + 1 < kind.launches);
    for (const bool device : {true, false}) {
      add_line(0, device);
      for (uint64_t bytes = kind.dirty_bytes; bytes <= kind.max_dirty_bytes; bytes *= 8)
        add_line(static_cast<uint32_t>(bytes), device);
    }
    place();
  }

  std::vector<Account> accounts() const override { return {kMove, kDirty}; }
  std::vector<PhaseRule> phases() const override { return {kernels_of(kMove), kernels_of(kDirty)}; }

  void place_contents() override {
    const uint64_t from = offset_of(launches_[0].arguments.from);
    memories_[0]->add_generator(from, from_bytes(), random_words(request_.seed, 0, from));
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
    const auto expect = [&](bool holds, size_t launch, const char* what) {
      ++report.elements;
      if (!holds) report.wrong(fmt::format("launch {}: {}", launch, what));
    };
    for (size_t i = 0; i < launches_.size(); ++i) {
      for (uint32_t group = 0; group < launches_[i].work_groups; ++group)
        expect(clock(i, group, false) < clock(i, group, true), i, "a work-group has no end");
      if (i > 0)
        expect(begin(i) > end(i - 1), i, "began before the one that it depends on had ended");
    }
    std::vector<uint8_t> moved(from_bytes()), wanted(from_bytes());
    memories_[0]->read(offset_of(launches_[0].arguments.to), moved.data(), moved_bytes());
    memories_[0]->read(offset_of(launches_[0].arguments.from), wanted.data(), moved_bytes());
    expect(moved == wanted, 0, "moved other bytes");
    return report;
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{"launch_probe", sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    const Times gap = gaps_of_row(), launch = launches_of_row(), kernel = kernels_of_row();
    std::string text = fmt::format(
        "  {} dependent launches, {} B moved by each{:15}mean us      most us\n"
        "  {:50}{:>12} {:>12}\n  {:50}{:>12} {:>12}\n  {:50}{:>12} {:>12}\n",
        kind_.launches, 2 * moved_bytes(), "", "launch to launch", us(launch.mean), us(launch.most),
        "gap, end to begin", us(gap.mean), us(gap.most), "kernel, begin to end", us(kernel.mean),
        us(kernel.most));
    text += fmt::format("  {:>12}  {:>12}  {:>10}\n", "dirty bytes", "released to", "gap us");
    for (const Line& line : lines_) {
      const Times of_line = gaps(line);
      text += fmt::format("  {:12}  {:>12}{:24}{:>12} {:>12}\n", line.dirty_bytes,
                          line.device_scope ? "device" : "system", "", us(of_line.mean),
                          us(of_line.most));
    }
    return text;
  }

  json::object details() const override {
    const auto add = [](json::object& to, const char* key, const Times& times) {
      if (times.mean) to[key] = json::object{{"mean", *times.mean}, {"most", *times.most}};
    };
    json::array lines;
    for (const Line& line : lines_) {
      json::object one{{"dirty_bytes", line.dirty_bytes},
                       {"scope", line.device_scope ? "device" : "system"}};
      add(one, "gap_us", gaps(line));
      lines.push_back(std::move(one));
    }
    json::object all;
    add(all, "launch_us", launches_of_row());
    add(all, "gap_us", gaps_of_row());
    add(all, "kernel_us", kernels_of_row());
    all["lines"] = std::move(lines);
    return all;
  }

 private:
  void add(const Launch& launch) {
    launches_.push_back(launch);
    launches_.back().arguments.words = 8 * words_;
    words_ += 2 * uint64_t{launch.work_groups};
  }
  void add_tiny(bool device_scope, bool queued) {
    add({{}, kind_.work_groups, false, device_scope, queued});
  }
  void add_line(uint32_t bytes, bool device_scope) {
    lines_.push_back({bytes, device_scope, launches_.size()});
    for (uint32_t i = 0; i < kind_.pairs; ++i) {
      add({{0, 0, 0, bytes}, spec_.gpu.cus, true, device_scope, true});
      add_tiny(device_scope, i + 1 < kind_.pairs);
    }
  }
  void place() {
    p_.client = client_options(request_, 0);
    p_.memory = memory_plan(&p_.client, 65536);
    const uint32_t cached = STRETTO_ALLOCATION_CACHED;
    const uint64_t words = memory_plan_add(&p_.memory, "words", 8 * words_, cached);
    const uint64_t from = memory_plan_add_input(&p_.memory, "from", from_bytes(), cached);
    const uint64_t to = memory_plan_add(&p_.memory, "to", moved_bytes(), cached);
    const uint64_t dirty = memory_plan_add(&p_.memory, "dirty", kind_.max_dirty_bytes, cached);
    for (Launch& launch : launches_) {
      launch.arguments.from = from;
      launch.arguments.to = launch.dirties ? dirty : to;
      launch.arguments.words += words;
      entries_.push_back({launch.dirties ? "launch_dirty" : "launch_move", &launch.arguments,
                          sizeof launch.arguments, launch.work_groups,
                          launch.dirties ? kDirty.number : kMove.number, launch.device_scope,
                          launch.queued, 0});
    }
    layouts_[0].add(p_.memory, KERNEL_LIST_MODULE_BYTES);
    p_.entries = entries_.data();
    p_.count = static_cast<uint32_t>(entries_.size());
    p_.elf = elf_.data();
    p_.elf_bytes = elf_.size();
  }

  uint64_t moved_bytes() const {
    return uint64_t{kind_.work_groups} * LAUNCH_PROBE_WAVEFRONTS * LAUNCH_PROBE_PIECE_BYTES;
  }
  uint64_t from_bytes() const {
    return std::max<uint64_t>(moved_bytes(), LAUNCH_PROBE_DIRTY_BYTES);
  }
  uint64_t clock(size_t launch, uint32_t group, bool is_end) const {
    uint64_t value = 0;
    memories_[0]->read(offset_of(launches_[launch].arguments.words) + 16 * group + 8 * is_end,
                       reinterpret_cast<uint8_t*>(&value), 8);
    return value;
  }
  uint64_t begin(size_t launch) const {
    uint64_t first = UINT64_MAX;
    for (uint32_t group = 0; group < launches_[launch].work_groups; ++group)
      first = std::min(first, clock(launch, group, false));
    return first;
  }
  uint64_t end(size_t launch) const {
    uint64_t last = 0;
    for (uint32_t group = 0; group < launches_[launch].work_groups; ++group)
      last = std::max(last, clock(launch, group, true));
    return last;
  }

  static std::string us(const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : "-";
  }
  // Of so many spans, in clocks. The words of what has not run are 0: no end, no begin.
  template <class Value>
  Times times(uint32_t count, Value value) const {
    double sum = 0, most = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const auto [from, to] = value(i);
      if (from == 0 || to == 0 || to < from) return {};
      const double us = static_cast<double>(to - from) / spec_.gpu.clock_mhz;
      sum += us;
      most = std::max(most, us);
    }
    return {sum / count, most};
  }
  Times gaps_of_row() const {
    return times(kind_.launches - 1, [&](uint32_t i) { return std::pair(end(i), begin(i + 1)); });
  }
  Times launches_of_row() const {
    return times(kind_.launches - 1, [&](uint32_t i) { return std::pair(begin(i), begin(i + 1)); });
  }
  Times kernels_of_row() const {
    return times(kind_.launches, [&](uint32_t i) { return std::pair(begin(i), end(i)); });
  }
  Times gaps(const Line& line) const {
    return times(kind_.pairs, [&](uint32_t i) {
      return std::pair(end(line.first + 2 * i), begin(line.first + 2 * i + 1));
    });
  }

  const LaunchProbeKind& kind_;
  const std::vector<uint8_t> elf_;
  kernel_list_parameters_t p_{};
  std::vector<Launch> launches_;
  std::vector<Line> lines_;
  std::vector<kernel_list_entry_t> entries_;
  uint64_t words_ = 0;
};

}  // namespace

void LaunchProbeKind::describe(ParameterSet& set) {
  set.number("launches", launches, 2, 100'000, "Tiny kernels in a row.");
  set.number("work_groups", work_groups, 1, 4096,
             "Of a tiny kernel; each reads 2 KiB and writes 2 KiB.");
  set.number("pairs", pairs, 1, 1000, "Gaps that are measured for each number of dirty bytes.");
  set.number("dirty_bytes", dirty_bytes, LAUNCH_PROBE_DIRTY_BYTES, 1u << 30,
             "What a kernel leaves dirty, least but 0; a power of two. Then eight times as much.");
  set.number("max_dirty_bytes", max_dirty_bytes, LAUNCH_PROBE_DIRTY_BYTES, 1u << 30,
             "What it leaves dirty at most.");
}

std::string LaunchProbeKind::first_error() const {
  if (!std::has_single_bit(dirty_bytes)) return "needs dirty_bytes that is a power of two";
  return dirty_bytes > max_dirty_bytes ? "needs dirty_bytes up to max_dirty_bytes" : "";
}

const KindInfo& LaunchProbeKind::info() const {
  static const KindInfo info{
      .name = "launch_probe",
      .sentence = "What launches cost on one GPU: tiny dependent kernels, gaps behind dirty bytes.",
      .accounts = 2,
      .modes = {{"launches", "thousands queued, then pairs with the L2 dirty between them"}}};
  return info;
}

std::map<std::string, uint64_t> LaunchProbeKind::shape() const {
  return {{"launches", launches},
          {"work_groups", work_groups},
          {"pairs", pairs},
          {"dirty_bytes", dirty_bytes},
          {"max_dirty_bytes", max_dirty_bytes}};
}

void LaunchProbeKind::check(const JobRequest& request) const {
  if (max_dirty_bytes > request.spec.l2.bytes)
    throw UserError(fmt::format("{}: max_dirty_bytes ({}) does not fit into l2.bytes ({})",
                                request.subject(), max_dirty_bytes, request.spec.l2.bytes));
  check_kernels("launch_probe", {"launch_move", "launch_dirty"});
}

std::vector<std::string> LaunchProbeKind::kernel_files(const JobRequest&) const {
  return {kernel_path("launch_probe")};
}

std::unique_ptr<Job> LaunchProbeKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<LaunchProbe>(*this, request, std::move(memories));
}

}  // namespace stretto
