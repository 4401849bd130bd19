// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/compnet/compnet_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

namespace stretto {

namespace {

constexpr const char* kCompnet = "compnet";
constexpr const char* kGpuQueue = "dgpu";
constexpr const char* kHostQueue = "dgpu-host";
constexpr std::array kDesigns{kCompnet, kGpuQueue, kHostQueue};
constexpr std::array<unsigned, 4> kThreads{1, 2, 4, 8};  // Of the host; a GPU has two harts.
constexpr unsigned kHarts = 2;
constexpr const char* kInterKernel = "inter-kernel";
// Elements of a side, a server.
constexpr std::array<unsigned, 3> kSides{128, 256, 512};

std::string get_folder(const std::string& mode) { return "get/" + mode; }
std::string loaded_folder(const std::string& mode, unsigned threads) {
  return fmt::format("loaded/{}-{}", mode, threads);
}
std::string rounds_folder(const std::string& mode) {
  return loaded_folder(mode, kHarts) + "-rounds-2";
}
std::string jacobi_folder(const std::string& mode, unsigned side) {
  return fmt::format("jacobi/{}-{}", mode, side);
}

// Why no simulation shows it.
struct NotRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};
constexpr const char* kNoApu = "there is no APU: no host that shares coherent memory with its GPU";
constexpr const char* kNoEnergy = "there is no model of energy";
constexpr const char* kNoCpu = "there is no design that computes on the CPU";
constexpr const char* kNoPrivate =
    "firmware has its own data in SRAM, and no kernel streams beside a service";

// ---- What simulations say

ResultValue job(const CompnetResults& results, const std::string& folder) {
  const ResultFile* const file = results(folder);
  if (file == nullptr) throw MissingSimulations({folder});
  return file->root().at("job");
}
// Latency in microseconds by size.
std::map<double, double> latencies(const CompnetResults& results, const std::string& mode) {
  std::map<double, double> all;
  for (const ResultValue& size : job(results, get_folder(mode)).at("sizes").items())
    all[size.at("bytes").number()] = size.at("latency_us").at("mean").number();
  return all;
}
double span_us(const CompnetResults& results, const std::string& mode, unsigned threads) {
  return job(results, loaded_folder(mode, threads)).at("blocking").at("span_us").number();
}
double jacobi_us(const CompnetResults& results, const std::string& mode, unsigned side) {
  return job(results, jacobi_folder(mode, side)).at("others_us").number();
}

// ---- Recipes

struct Recipe {
  const char* id;
  std::set<CompnetSource> sources;
  std::function<Measured(const CompnetResults& results, const std::string& dgpu)> measure;
};

Recipe not_run(const char* id, const char* why) {
  return {id, {}, [why](const auto&, const auto&) { return Measured{.not_run = why}; }};
}

Measured exchange(const CompnetResults& results, const std::string&) {
  const double ns = job(results, get_folder(kCompnet))
                        .at("sizes")
                        .items()
                        .front()
                        .at("parts_fs")
                        .at("detect")
                        .number() /
                    1e6;
  const double clocks = ns * 1.5;  // Table 1: 1.5 GHz.
  return {.value = clocks,
          .holds = clocks >= 100 && clocks < 1000,
          .note = "GPU clocks from the entry's last store until a hart has found it"};
}

Measured small_get(const CompnetResults& results, const std::string& dgpu) {
  const auto slow = latencies(results, dgpu), fast = latencies(results, kCompnet);
  const double ratio = slow.begin()->second / fast.begin()->second;
  return {
      .value = ratio,
      .holds = ratio > 2,
      .note = fmt::format("{:.2f} against {:.2f} us of {} B; against an APU: {}",
                          slow.begin()->second, fast.begin()->second, slow.begin()->first, kNoApu)};
}

Measured convergence(const CompnetResults& results, const std::string& dgpu) {
  const auto slow = latencies(results, dgpu), fast = latencies(results, kCompnet);
  const double first = slow.begin()->second / fast.begin()->second,
               last = slow.rbegin()->second / fast.rbegin()->second;
  return {.value = last,
          .holds = last < 1.05 && last < first,
          .note = fmt::format("dGPU over ComP-Net {:.2f} at {} B, {:.3f} at {} B", first,
                              slow.begin()->first, last, slow.rbegin()->first)};
}

Measured under_load(const CompnetResults& results, const std::string& dgpu) {
  const double own = span_us(results, kCompnet, kHarts), equal = span_us(results, dgpu, kHarts);
  std::string sweep;
  for (const unsigned threads : kThreads)
    sweep += fmt::format("{}{}: {:.0f}", sweep.empty() ? "" : ", ", threads,
                         span_us(results, dgpu, threads));
  return {.value = equal / own,
          .holds = equal > own,
          .note = fmt::format(
              "a round of 480 takes {:.0f} us with two harts; dGPU by threads: {} us", own, sweep)};
}

// Set-up posts entries, too: the second round of operations is what one costs.
Measured queue_bytes(const CompnetResults& results, const std::string& dgpu) {
  double most = 0;
  for (const std::string& mode : {std::string(kCompnet), dgpu}) {
    double bytes = 0, operations = 0;
    for (const unsigned rounds : {2u, 1u}) {
      const std::string folder = rounds == 1 ? loaded_folder(mode, kHarts) : rounds_folder(mode);
      const ResultFile* const file = results(folder);
      if (file == nullptr) throw MissingSimulations({folder});
      const ResultValue statistics = file->root().at("statistics");
      const double sign = rounds == 1 ? -1 : 1;
      bytes += sign * statistics.at("nic0.interface.pcie_read_bytes.entries").number();
      operations += sign * statistics.at("nic0.interface.operations_begun").number();
    }
    most = std::max(most, bytes / operations);
  }
  return {.value = most, .holds = most == 64, .note = "bytes of entries an operation of the NIC"};
}

Measured jacobi_middle(const CompnetResults& results, const std::string& dgpu) {
  std::vector<double> gains;
  for (const std::string& mode : {dgpu, std::string(kInterKernel)})
    gains.push_back(
        100 * (jacobi_us(results, mode, kSides[1]) / jacobi_us(results, kCompnet, kSides[1]) - 1));
  return {.note = fmt::format("{0} x {0} elements a server, eight servers, iterations behind the "
                              "first: over dGPU {1:.1f} %, over Inter-Kernel {2:.1f} %; sizes of "
                              "the published region are in an image",
                              kSides[1], gains[0], gains[1]),
          .range = {*std::min_element(gains.begin(), gains.end()),
                    *std::max_element(gains.begin(), gains.end())}};
}

Measured jacobi_large(const CompnetResults& results, const std::string& dgpu) {
  const auto over = [&](const std::string& mode, unsigned side) {
    return jacobi_us(results, mode, side) / jacobi_us(results, kCompnet, side);
  };
  bool converges = true;
  double value = 0;
  std::string text;
  for (const std::string& mode : {dgpu, std::string(kInterKernel)}) {
    const double first = over(mode, kSides.front()), last = over(mode, kSides.back());
    converges = converges && std::abs(last - 1) < std::abs(first - 1);
    if (mode == dgpu) value = last;
    text += fmt::format("{}{} over ComP-Net {:.2f} at {}, {:.2f} at {}", text.empty() ? "" : "; ",
                        mode, first, kSides.front(), last, kSides.back());
  }
  return {.value = value, .holds = converges, .note = text};
}

const std::vector<Recipe>& recipes() {
  using enum CompnetSource;
  constexpr const char* kQuoted = "quoted from other work";
  static const std::vector<Recipe> all{
      not_run("CN-R01", "the largest of results that have not all been run"),
      not_run("CN-R02", kNoEnergy),
      {"CN-R03", {jacobi}, jacobi_middle},
      not_run("CN-R04", kNoEnergy),
      not_run("CN-R05", "the share of time in all-reduce is an input that is not published"),
      not_run("CN-R10", "software.launch_ns is a parameter; no workload measures start and end"),
      not_run("CN-R11", "no workload measures a message between host programs"),
      not_run("CN-R12", "no sweep over work-groups on a GPU of 64 units"),
      not_run("CN-R13", "no sweep over work-groups on a GPU of 64 units"),
      not_run("CN-R14", "no sweep over work-groups on a GPU of 64 units"),
      {"CN-R15", {}, [](const auto&, const auto&) { return Measured{.not_judged = kQuoted}; }},
      not_run("CN-R20", kNoPrivate),
      not_run("CN-R21", kNoPrivate),
      not_run("CN-R22", kNoPrivate),
      {"CN-R23", {get}, exchange},
      {"CN-R30", {get}, small_get},
      {"CN-R31", {get}, convergence},
      {"CN-R32", {loaded}, under_load},
      not_run("CN-R33", kNoEnergy),
      not_run("CN-R34", kNoEnergy),
      not_run("CN-R35", kNoApu),
      not_run("CN-R40", kNoCpu),
      {"CN-R41", {jacobi}, jacobi_large},
      not_run("CN-R50", "no sweep of all-reduce over servers"),
      not_run("CN-R51", "no sweep of all-reduce over servers"),
      not_run("CN-R52", kNoCpu),
      not_run("CN-R60", "no projection of training"),
      not_run("CN-R61", "no projection of training"),
      not_run("CN-R62", "no projection of training"),
      {"CN-R63", {loaded}, queue_bytes},
  };
  return all;
}

const Recipe& recipe_of(const std::string& id) {
  const auto found = std::find_if(recipes().begin(), recipes().end(),
                                  [&](const Recipe& one) { return one.id == id; });
  if (found == recipes().end()) throw std::logic_error("no recipe for " + id);
  return *found;
}

}  // namespace

const std::vector<std::string>& compnet_ids() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> all;
    for (const Recipe& one : recipes()) all.emplace_back(one.id);
    return all;
  }();
  return ids;
}

std::set<CompnetSource> compnet_sources(const std::string& id) { return recipe_of(id).sources; }

std::vector<CampaignRun> compnet_runs(CompnetSource source) {
  std::vector<CampaignRun> all;
  const auto add = [&](const std::string& folder, const char* workload, const std::string& mode,
                       std::vector<std::string> sets) {
    all.push_back({folder, folder, workload, mode, "", std::move(sets)});
  };
  switch (source) {
    case CompnetSource::get:
      for (const char* mode : kDesigns) add(get_folder(mode), "compnet/get", mode, {});
      break;
    case CompnetSource::loaded:
      for (const char* mode : kDesigns)
        for (const unsigned threads : kThreads)
          if (mode != kCompnet || threads <= kHarts)
            add(loaded_folder(mode, threads), "compnet/loaded", mode,
                {fmt::format("loaded.threads={}", threads), "loaded.rounds=1"});
      for (const char* mode : kDesigns)
        add(rounds_folder(mode), "compnet/loaded", mode,
            {fmt::format("loaded.threads={}", kHarts), "loaded.rounds=2"});
      break;
    case CompnetSource::jacobi:
      for (const unsigned side : kSides)
        for (const std::string mode : {kCompnet, kGpuQueue, kHostQueue, kInterKernel})
          add(jacobi_folder(mode, side), "compnet/jacobi", mode,
              {"gpus=8", "servers=8", fmt::format("jacobi.rows={}", 8 * side),
               fmt::format("jacobi.columns={}", side)});
      break;
  }
  return all;
}

Measured measure_compnet(const std::string& id, bool host_queue, const CompnetResults& results) {
  try {
    return recipe_of(id).measure(results, host_queue ? kHostQueue : kGpuQueue);
  } catch (const MissingSimulations& missing) {
    return {.needs = missing.what()};
  }
}

std::string compnet_csv(const CompnetResults& results) {
  std::string csv = "figure,design,x,us\n";
  for (const char* mode : kDesigns) {
    if (results(get_folder(mode)) == nullptr) continue;
    for (const auto& [bytes, us] : latencies(results, mode))
      csv += fmt::format("8a,{},{},{:.3f}\n", mode, bytes, us);
  }
  for (const char* mode : kDesigns)
    for (const unsigned threads : kThreads)
      if (results(loaded_folder(mode, threads)) != nullptr)
        csv += fmt::format("8b,{},{},{:.3f}\n", mode, threads, span_us(results, mode, threads));
  for (const std::string mode : {kCompnet, kGpuQueue, kHostQueue, kInterKernel})
    for (const unsigned side : kSides)
      if (results(jacobi_folder(mode, side)) != nullptr)
        csv += fmt::format("9,{},{},{:.3f}\n", mode, side, jacobi_us(results, mode, side));
  return csv;
}

}  // namespace stretto
