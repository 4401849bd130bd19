// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/compnet/llc_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "platform/campaign/plot.h"

namespace stretto {

namespace {

// Wavefronts that stream beside so many work-groups that use the network: a unit has room for 40.
constexpr std::array<unsigned, 3> kNetworking{4, 8, 20};
constexpr unsigned kUsual = 8;
constexpr std::array<unsigned, 5> kStreaming{0, 4, 8, 16, 32};
constexpr unsigned kRoom = 40;
constexpr const char* kLocked = "compnet";
constexpr const char* kUnlocked = "compnet-nolock";
constexpr double kClocksPerNs = 1.5;  // Table 1.

// Where the command processor has what is its own.
struct Private {
  const char* name;
  std::vector<std::string> sets;
};
const Private kUsualMemory{"shared", {"cp.private_memory=gpu", "cp.fenced=shared"}};
const Private kDropped{"all", {"cp.private_memory=gpu", "cp.fenced=all"}};
const Private kSram{"sram", {"cp.private_memory=sram"}};
const std::array<const Private*, 3> kPrivates{&kUsualMemory, &kDropped, &kSram};

struct Point {
  unsigned networking, streaming;
  const char* mode;
  const Private* memory;
  std::string folder() const {
    return fmt::format("llc/{}-{}-{}-{}", mode, memory->name, networking, streaming);
  }
};

std::vector<Point> points() {
  std::vector<Point> all;
  for (const Private* memory : kPrivates)
    for (const char* mode : {kLocked, kUnlocked})
      for (const unsigned networking : kNetworking)
        for (const unsigned streaming : kStreaming)
          if (networking + streaming <= kRoom && (networking == kUsual || memory == &kUsualMemory))
            all.push_back({networking, streaming, mode, memory});
  return all;
}

// Reads of harts at the L2, and of these those that found their sector.
struct Reads {
  double all = 0, found = 0;
  double rate() const { return all == 0 ? 0 : found / all; }
  Reads& operator+=(const Reads& other) {
    all += other.all, found += other.found;
    return *this;
  }
};

struct Figures {
  Reads shared, announced, data, code;
  double lock_ns = 0;
  Reads all() const {
    Reads sum = shared;
    return sum += data, sum += code;
  }
};

double statistic(const ResultFile& file, const std::string& name) {
  const auto found = file.root().at("statistics").find("gpu0.compute." + name);
  return found ? found->number() : 0;
}

std::optional<Figures> figures(const CompnetResults& results, const Point& point) {
  const ResultFile* const file = results(point.folder());
  if (file == nullptr) return std::nullopt;
  const auto reads = [&](const std::string& name) {
    return Reads{statistic(*file, "l2." + name), statistic(*file, "l2." + name + "_found")};
  };
  Figures one{reads("hart_reads"), reads("hart_announced_reads"), reads("hart_data_reads"),
              reads("hart_code_reads")};
  if (const double locks = statistic(*file, "l2.locks_accessed"); locks != 0)
    one.lock_ns = statistic(*file, "l2.lock_time") / locks / kClocksPerNs;
  return one;
}

Figures needed(const CompnetResults& results, const Point& point) {
  const std::optional<Figures> one = figures(results, point);
  if (!one) throw MissingSimulations({point.folder()});
  return *one;
}

// By streaming wavefronts, kUsual work-groups beside them.
std::vector<Figures> sweep(const CompnetResults& results, const char* mode, const Private& memory) {
  std::vector<Figures> all;
  for (const unsigned streaming : kStreaming)
    all.push_back(needed(results, {kUsual, streaming, mode, &memory}));
  return all;
}

double worst_rate(const std::vector<Figures>& all) {
  double worst = 1;
  for (const Figures& one : all) worst = std::min(worst, one.all().rate());
  return worst;
}

}  // namespace

std::vector<CampaignRun> llc_runs() {
  std::vector<CampaignRun> all;
  for (const Point& point : points()) {
    std::vector<std::string> sets = point.memory->sets;
    sets.push_back(fmt::format("loaded.work_groups={}", point.networking));
    sets.push_back(fmt::format("loaded.streaming={}", point.streaming));
    all.push_back({point.folder(), point.folder(), "compnet/llc", point.mode, "", std::move(sets)});
  }
  return all;
}

Measured measure_hit_rate(const CompnetResults& results) {
  const std::vector<Figures> all = sweep(results, kUnlocked, kUsualMemory);
  const double alone = all.front().all().rate(), last = all.back().all().rate();
  std::string text;
  for (size_t i = 0; i < all.size(); ++i)
    text += fmt::format("{}{}: {:.3f}", i == 0 ? "" : ", ", kStreaming[i], all[i].all().rate());
  return {
      .value = last,
      .holds = alone >= 0.5 && last <= 0.1,
      .note = fmt::format("hit rate by streaming wavefronts beside {} work-groups: {}; of polls "
                          "that find an entry {:.3f}",
                          kUsual, text, all.back().announced.rate())};
}

Measured measure_locked_drop(const CompnetResults& results) {
  const auto drop = [&](const Private& memory) {
    const std::vector<Figures> all = sweep(results, kLocked, memory);
    return 100 * (1 - worst_rate(all) / all.front().all().rate());
  };
  const std::vector<Figures> all = sweep(results, kLocked, kUsualMemory);
  double announced = 1;
  for (const Figures& one : all) announced = std::min(announced, one.announced.rate());
  return {.value = drop(kUsualMemory),
          .note = fmt::format("percent; polls that find an entry hit at worst in {:.3f} of cases. "
                              "If acquires drop private lines {:.1f}, with private memory in SRAM "
                              "{:.1f}",
                              announced, drop(kDropped), drop(kSram))};
}

Measured measure_lock_time(const CompnetResults& results) {
  std::vector<double> times;
  for (const Figures& one : sweep(results, kLocked, kUsualMemory)) times.push_back(one.lock_ns);
  return {.note = fmt::format("ns, mean of each number of streaming wavefronts, {} work-groups",
                              kUsual),
          .range = {*std::min_element(times.begin(), times.end()),
                    *std::max_element(times.begin(), times.end())}};
}

std::string llc_csv(const CompnetResults& results) {
  std::string csv;
  const auto rate = [](const Reads& reads) {
    return fmt::format("{},{:.4f}", reads.all, reads.rate());
  };
  for (const Point& point : points()) {
    const std::optional<Figures> one = figures(results, point);
    if (!one) continue;
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{:.1f}\n", point.mode, point.memory->name,
                       point.networking, point.streaming, rate(one->all()), rate(one->shared),
                       rate(one->announced), rate(one->data), rate(one->code), one->lock_ns);
  }
  if (csv.empty()) return csv;
  return "design,private,networking,streaming,reads,hit_rate,polls,polls_hit,entries,entries_hit,"
         "data,data_hit,code,code_hit,lock_ns\n" +
         csv;
}

void plot_llc(const std::string& folder, const CompnetResults& results) {
  Plot plot{"Fig 7: the command processor in the L2",
            "streaming wavefronts",
            "hit rate",
            false,
            false,
            {}};
  for (const char* mode : {kLocked, kUnlocked})
    for (const unsigned networking : kNetworking) {
      PlotLine line{fmt::format("{} networking{}", networking, mode == kLocked ? ", locks" : ""),
                    {}};
      for (const unsigned streaming : kStreaming) {
        if (networking + streaming > kRoom) continue;
        const auto one = figures(results, {networking, streaming, mode, &kUsualMemory});
        if (one) line.points.emplace_back(streaming, one->all().rate());
      }
      if (!line.points.empty()) plot.lines.push_back(std::move(line));
    }
  if (!plot.lines.empty()) write_plot(folder + "/fig7", plot);
}

}  // namespace stretto
