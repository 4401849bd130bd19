// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/compnet/compnet_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/campaign/targets.h"
#include "platform/reproduce/compnet/llc_study.h"

namespace stretto {

namespace {

constexpr const char* kMessageFolder = "message";
constexpr const char* kLaunchFolder = "launch";

std::string queue_folder(const std::string& design, unsigned groups, unsigned threads) {
  return fmt::format("queues/{}-{}-{}", design, groups, threads);
}
std::string jacobi_folder(const std::string& design, unsigned side) {
  return fmt::format("jacobi/{}-{}", design, side);
}

// Work-groups of a band: each has a row.
unsigned jacobi_groups(unsigned side) { return std::min(24u, side); }

// Behind one that finds code and queues in no cache.
std::vector<std::string> gets(unsigned most_bytes) {
  return {fmt::format("one_sided.max_bytes={}", most_bytes), "one_sided.rounds=4",
          "one_sided.warm_up=1"};
}
std::vector<std::string> servers_of(unsigned servers) {
  return {fmt::format("gpus={}", servers), fmt::format("servers={}", servers)};
}

class Runs {
 public:
  void add(const std::string& folder, const char* workload, const std::string& mode,
           std::vector<std::string> sets, const char* machine = "") {
    all_.push_back({folder, folder, workload, mode, machine, std::move(sets)});
  }
  void add_reduce(const std::string& design, unsigned servers, unsigned bytes) {
    for (const unsigned rings : reduce_rings(design, bytes)) {
      std::vector<std::string> sets = servers_of(servers);
      sets.push_back(fmt::format("all_reduce.bytes={}", bytes));
      sets.push_back(fmt::format("all_reduce.rings={}", rings));
      add(reduce_folder(design, servers, bytes, rings), "compnet/all_reduce", design,
          std::move(sets));
    }
  }
  void add_loaded(const std::string& design) {
    for (const unsigned threads : kThreads)
      for (const unsigned rounds : {1u, 2u})
        if (design != kCompnetDesign || threads <= kHarts)
          add(loaded_folder(design, threads, rounds), "compnet/loaded", design,
              {fmt::format("loaded.threads={}", threads), fmt::format("loaded.rounds={}", rounds)});
  }
  void add_queues(const std::string& design) {
    for (const unsigned groups : kQueueGroups)
      for (const unsigned threads : kThreads)
        add(queue_folder(design, groups, threads), "compnet/loaded", design,
            {"gpu.cus=64", "loaded.operation=none", "loaded.rounds=4",
             fmt::format("loaded.work_groups={}", groups),
             fmt::format("loaded.threads={}", threads)});
  }
  void add_jacobi(const std::string& design) {
    for (const unsigned side : kSides) {
      std::vector<std::string> sets = servers_of(8);
      sets.push_back(fmt::format("jacobi.rows={}", 8 * side));
      sets.push_back(fmt::format("jacobi.columns={}", side));
      sets.emplace_back("jacobi.iterations=4");
      sets.push_back(fmt::format("jacobi.work_groups={}", jacobi_groups(side)));
      add(jacobi_folder(design, side), "compnet/jacobi", design, std::move(sets));
    }
  }
  std::vector<CampaignRun> take() { return std::move(all_); }

 private:
  std::vector<CampaignRun> all_;
};

}  // namespace

std::string get_folder(const std::string& design) { return "get/" + design; }
std::string loaded_folder(const std::string& design, unsigned threads, unsigned rounds) {
  return fmt::format("loaded/{}-{}-rounds-{}", design, threads, rounds);
}
std::string reduce_folder(const std::string& design, unsigned servers, unsigned bytes,
                          unsigned rings) {
  return fmt::format("all_reduce/{}-{}-{}-{}", design, servers, bytes, rings);
}

std::vector<unsigned> reduce_rings(const std::string& design, unsigned bytes) {
  constexpr unsigned kLarge = 4u << 20;
  if (design == kCpuDesign || bytes >= kLarge) return {kRings};
  return {1, 4, kRings};
}

std::vector<CampaignRun> compnet_runs(CompnetSource source) {
  Runs runs;
  switch (source) {
    case CompnetSource::get:
      for (const char* design : kServedDesigns)
        runs.add(get_folder(design), "compnet/get", design, gets(4 << 20));
      break;
    case CompnetSource::message:
      runs.add(kMessageFolder, "compnet/get", kCpuDesign,
               {"one_sided.operation=put", "one_sided.memory=host", "one_sided.max_bytes=8"});
      break;
    case CompnetSource::launch:
      runs.add(kLaunchFolder, "machine/launch", "launches",
               {"gpus=1", "servers=1", "launch_probe.launches=100",
                "launch_probe.max_dirty_bytes=524288"},
               "compnet");
      break;
    case CompnetSource::queues:
      for (const char* design : {kGpuQueueDesign, kHostQueueDesign}) runs.add_queues(design);
      break;
    case CompnetSource::loaded:
      for (const char* design : kServedDesigns) runs.add_loaded(design);
      break;
    case CompnetSource::jacobi:
      for (const char* design : kAllDesigns) runs.add_jacobi(design);
      break;
    case CompnetSource::all_reduce:
      for (const unsigned servers : kReduceServers)
        for (const char* design : kAllDesigns) runs.add_reduce(design, servers, kReduceBytes);
      break;
    case CompnetSource::training:
      for (const unsigned bytes : kTrainingBytes)
        for (const char* design : kAllDesigns) runs.add_reduce(design, kTrainingServers, bytes);
      break;
    case CompnetSource::llc: return llc_runs();
  }
  return runs.take();
}

std::vector<CompnetVariant> compnet_variants() {
  std::vector<CompnetVariant> all;
  const auto add = [&](const char* key, unsigned value, const char* what, const char* workload,
                       const char* design, std::vector<std::string> sets) {
    const std::string set = fmt::format("{}={}", key, value);
    const std::string folder = fmt::format("sensitivity/{}-{}-{}", what, design, set);
    sets.push_back(set);
    all.push_back({key, std::to_string(value), what, {folder, folder, workload, design, "", sets}});
  };
  for (const char* design : kServedDesigns) {
    // 400, 650 and 900 ns from device to device or host.
    for (const unsigned ns : {125u, 250u, 375u})
      add("pcie.latency_ns", ns, "get", "compnet/get", design, gets(8));
    for (const unsigned rounds : {1u, 4u, 16u})
      for (const char* what : {"get", "loaded"}) {
        const bool is_get = std::string(what) == "get";
        add(is_get ? "one_sided.poll_rounds" : "loaded.poll_rounds", rounds, what,
            is_get ? "compnet/get" : "compnet/loaded", design,
            is_get ? gets(8) : std::vector<std::string>{"loaded.rounds=1"});
      }
  }
  for (const unsigned ns : {40u, 80u, 120u, 200u})
    add("coherent.latency_ns", ns, "get", "compnet/get", kApuDesign, gets(8));
  for (const unsigned percent : {100u, 200u, 300u})
    for (const char* design : {kApuDesign, kGpuQueueDesign, kHostQueueDesign})
      add("service_core.ipc_percent", percent, "loaded", "compnet/loaded", design,
          {"loaded.rounds=1"});
  return all;
}

ResultValue compnet_job(const CompnetResults& results, const std::string& folder) {
  const ResultFile* const file = results(folder);
  if (file == nullptr) throw MissingSimulations({folder});
  return file->root().at("job");
}

std::map<double, double> get_us(const CompnetResults& results, const std::string& design) {
  std::map<double, double> all;
  for (const ResultValue& size : compnet_job(results, get_folder(design)).at("sizes").items())
    all[size.at("bytes").number()] = size.at("latency_us").at("mean").number();
  return all;
}

double message_us(const CompnetResults& results) {
  return compnet_job(results, kMessageFolder)
      .at("sizes")
      .items()
      .front()
      .at("latency_us")
      .at("mean")
      .number();
}

double launch_gap_us(const CompnetResults& results) {
  return compnet_job(results, kLaunchFolder).at("gap_us").at("mean").number();
}

double queue_us(const CompnetResults& results, const std::string& design, unsigned groups,
                unsigned threads) {
  return compnet_job(results, queue_folder(design, groups, threads))
      .at("blocking")
      .at("mean_us")
      .number();
}

double loaded_us(const CompnetResults& results, const std::string& design, unsigned threads) {
  return compnet_job(results, loaded_folder(design, threads, 1))
      .at("blocking")
      .at("span_us")
      .number();
}

double jacobi_us(const CompnetResults& results, const std::string& design, unsigned side) {
  return compnet_job(results, jacobi_folder(design, side)).at("others_us").number();
}

double reduce_us(const CompnetResults& results, const std::string& design, unsigned servers,
                 unsigned bytes) {
  double least = 0;
  for (const unsigned rings : reduce_rings(design, bytes)) {
    const double us =
        compnet_job(results, reduce_folder(design, servers, bytes, rings)).at("total_us").number();
    least = least == 0 ? us : std::min(least, us);
  }
  return least;
}

bool has_result(const std::function<double()>& measure) {
  try {
    (void)measure();
    return true;
  } catch (const MissingSimulations&) {
    return false;
  }
}

}  // namespace stretto
