// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/compnet/compnet_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "platform/reproduce/compnet/compnet_energy.h"
#include "platform/reproduce/compnet/compnet_training.h"
#include "platform/reproduce/compnet/llc_study.h"

namespace stretto {

namespace {

struct Recipe {
  const char* id;
  std::set<CompnetSource> sources;
  std::function<Measured(const CompnetResults& results, const std::string& dgpu)> measure;
};

double percent(double slow, double fast) { return 100 * (slow / fast - 1); }

// ---- Gets and launches

Measured exchange(const CompnetResults& results, const std::string&) {
  const double ns = compnet_job(results, get_folder(kCompnetDesign))
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

// The statement is about both: the smaller ratio counts.
Measured small_get(const CompnetResults& results, const std::string& dgpu) {
  const auto slow = get_us(results, dgpu), own = get_us(results, kCompnetDesign),
             apu = get_us(results, kApuDesign);
  const double us = slow.begin()->second,
               ratio = std::min(us / own.begin()->second, us / apu.begin()->second);
  return {.value = ratio,
          .holds = ratio > 2,
          .note = fmt::format("{} B: dGPU {:.2f} us, ComP-Net {:.2f}, APU {:.2f}",
                              slow.begin()->first, us, own.begin()->second, apu.begin()->second)};
}

Measured convergence(const CompnetResults& results, const std::string& dgpu) {
  const auto slow = get_us(results, dgpu), fast = get_us(results, kCompnetDesign),
             apu = get_us(results, kApuDesign);
  const double first = slow.begin()->second / fast.begin()->second,
               last = slow.rbegin()->second / fast.rbegin()->second,
               last_apu = apu.rbegin()->second / fast.rbegin()->second;
  return {.value = last,
          .holds = last < 1.05 && last < first && std::abs(last_apu - 1) < 0.05,
          .note = fmt::format("dGPU over ComP-Net {:.2f} at {} B, {:.3f} at {} B; APU {:.3f} there",
                              first, slow.begin()->first, last, slow.rbegin()->first, last_apu)};
}

Measured launch_gap(const CompnetResults& results, const std::string&) {
  const double us = launch_gap_us(results);
  return {.value = us,
          .holds = us <= 10,
          .note =
              "from the end of a kernel to the begin of the next one in its queue, by the "
              "command processor alone; what host, driver and framework add is "
              "software.launch_ns, 0 here"};
}

Measured host_message(const CompnetResults& results, const std::string&) {
  const double us = message_us(results);
  return {.value = us,
          .holds = us <= 0.7,
          .note =
              "a put of 8 B between programs of two hosts, from the call until its completion "
              "is read; entry and data are fetched over PCIe (CN-U01)"};
}

// ---- Queues alone (Fig 4) and under load (Fig 8b)

Measured host_queue_range(const CompnetResults& results, const std::string&) {
  std::vector<double> us;
  for (const unsigned groups : kQueueGroups)
    us.push_back(queue_us(results, kHostQueueDesign, groups, 1));
  return {
      .note = fmt::format("entries that need no NIC, one thread, {} to {} work-groups of 64 "
                          "units; the published sweep is in an image",
                          kQueueGroups.front(), kQueueGroups.back()),
      .range = {*std::min_element(us.begin(), us.end()), *std::max_element(us.begin(), us.end())}};
}

Measured queue_placement(const CompnetResults& results, const std::string&) {
  bool holds = true;
  std::string text;
  double last = 0;
  for (const unsigned groups : kQueueGroups) {
    const double host = queue_us(results, kHostQueueDesign, groups, 1),
                 gpu = queue_us(results, kGpuQueueDesign, groups, 1);
    holds = holds && host < gpu;
    last = gpu / host;
    text += fmt::format("{}{}: {:.1f} and {:.1f}", text.empty() ? "" : ", ", groups, host, gpu);
  }
  return {.value = last,
          .holds = holds,
          .note = "us in host and GPU memory by work-groups, one thread: " + text};
}

// It cannot rise before threads have several work-groups each.
Measured queue_threads(const CompnetResults& results, const std::string& dgpu) {
  bool holds = true;
  for (const unsigned threads : kThreads) {
    const auto us = [&](unsigned groups) { return queue_us(results, dgpu, groups, threads); };
    for (size_t i = 1; i < kQueueGroups.size(); ++i)
      holds =
          holds && (kQueueGroups[i] <= threads || us(kQueueGroups[i]) > us(kQueueGroups[i - 1]));
  }
  std::string text;
  double before = 0, first = 0;
  for (const unsigned threads : kThreads) {
    const double us = queue_us(results, dgpu, kQueueGroups.back(), threads);
    holds = holds && (before == 0 || us < before);
    first = first == 0 ? us : first;
    before = us;
    text += fmt::format("{}{}: {:.1f}", text.empty() ? "" : ", ", threads, us);
  }
  return {.value = first / before,
          .holds = holds,
          .note = fmt::format("us of {} work-groups by threads: {}", kQueueGroups.back(), text)};
}

Measured under_load(const CompnetResults& results, const std::string& dgpu) {
  const double own = loaded_us(results, kCompnetDesign, kHarts),
               apu = loaded_us(results, kApuDesign, kHarts),
               equal = loaded_us(results, dgpu, kHarts);
  std::string sweep;
  for (const unsigned threads : kThreads)
    sweep += fmt::format("{}{}: {:.0f}", sweep.empty() ? "" : ", ", threads,
                         loaded_us(results, dgpu, threads));
  return {.value = equal / own,
          .holds = equal > own && equal > apu,
          .note = fmt::format("a round of 480 takes {:.0f} us with two harts, {:.0f} with two "
                              "threads of an APU; dGPU by threads: {} us",
                              own, apu, sweep)};
}

// Set-up posts entries, too: the second round of operations is what one costs.
Measured queue_bytes(const CompnetResults& results, const std::string& dgpu) {
  double most = 0;
  for (const std::string& design : {std::string(kCompnetDesign), dgpu}) {
    double bytes = 0, operations = 0;
    for (const unsigned rounds : {2u, 1u}) {
      const std::string folder = loaded_folder(design, kHarts, rounds);
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

// ---- Energy: constants are cited, so nothing is judged but shown

Measured energy(const CompnetResults& results, EnergyExperiment experiment, unsigned servers,
                const std::string& dgpu, bool as_reduction) {
  const EnergyRatio one = energy_ratio(results, experiment, dgpu, servers);
  return {.value = as_reduction ? 100 * (1 - one.ratio) : one.ratio,
          .note = fmt::format("with energy.*; less in {} of {} cells of energy.csv; a third and a "
                              "half would need a host core with {:.2g} and {:.2g} times a hart's "
                              "power",
                              one.less, one.cells, one.needed_third, one.needed_half),
          .input = true};
}

Measured loaded_energy(const CompnetResults& results, const std::string& dgpu) {
  return energy(results, EnergyExperiment::loaded, 2, dgpu, false);
}
Measured loaded_energy_of_apu(const CompnetResults& results, const std::string&) {
  return energy(results, EnergyExperiment::loaded, 2, kApuDesign, false);
}
Measured reduce_energy(const CompnetResults& results, const std::string& dgpu) {
  Measured all = energy(results, EnergyExperiment::all_reduce, kTrainingServers, dgpu, true);
  const Measured apu =
      energy(results, EnergyExperiment::all_reduce, kTrainingServers, kApuDesign, true);
  all.note = fmt::format("{} servers, {}; against an APU {:.1f} %", kTrainingServers, all.note,
                         *apu.value);
  return all;
}
Measured most_energy(const CompnetResults& results, const std::string& dgpu) {
  const Measured loaded = energy(results, EnergyExperiment::loaded, 2, dgpu, true),
                 reduce = reduce_energy(results, dgpu);
  return *loaded.value > *reduce.value ? loaded : reduce;
}

// ---- The APU

// About equal: within 15 %, what headlines are judged by.
Measured like_apu(const CompnetResults& results, const std::string&) {
  std::string text;
  bool holds = true;
  double most = 0;
  const auto take = [&](const std::string& what, double apu, double own) {
    const double ratio = apu / own;
    holds = holds && std::abs(ratio - 1) <= 0.15;
    if (std::abs(ratio - 1) > std::abs(most - 1) || text.empty()) most = ratio;
    text += fmt::format("{}{} {:.2f}", text.empty() ? "" : ", ", what, ratio);
  };
  take("get of 8 B", get_us(results, kApuDesign).begin()->second,
       get_us(results, kCompnetDesign).begin()->second);
  take("480 work-groups", loaded_us(results, kApuDesign, kHarts),
       loaded_us(results, kCompnetDesign, kHarts));
  for (const unsigned side : kSides)
    take(fmt::format("Jacobi {}", side), jacobi_us(results, kApuDesign, side),
         jacobi_us(results, kCompnetDesign, side));
  take("all-reduce of 8 servers", reduce_us(results, kApuDesign, kTrainingServers),
       reduce_us(results, kCompnetDesign, kTrainingServers));
  return {.value = most, .holds = holds, .note = "APU over ComP-Net, equal: within 15 %; " + text};
}

// ---- Jacobi (Fig 9)

// The published figure begins its second region where GPUs become advantageous.
std::optional<unsigned> middle_side(const CompnetResults& results) {
  for (const unsigned side : kSides)
    if (jacobi_us(results, kCompnetDesign, side) < jacobi_us(results, kCpuDesign, side))
      return side;
  return {};
}

Measured jacobi_middle(const CompnetResults& results, const std::string& dgpu) {
  const std::optional<unsigned> side = middle_side(results);
  if (!side) {
    const double last = jacobi_us(results, kCompnetDesign, kSides.back()) /
                        jacobi_us(results, kCpuDesign, kSides.back());
    return {.not_judged = fmt::format("the CPU is faster at all sizes up to {} of a side, there by "
                                      "{:.2f}: no second region",
                                      kSides.back(), last)};
  }
  std::vector<double> gains;
  for (const std::string& design : {dgpu, std::string(kInterKernelDesign)})
    gains.push_back(
        percent(jacobi_us(results, design, *side), jacobi_us(results, kCompnetDesign, *side)));
  return {.note = fmt::format("{0} x {0} elements a server, the first size at which ComP-Net is "
                              "faster than the CPU; eight servers, iterations behind the first: "
                              "over dGPU {1:.1f} %, over Inter-Kernel {2:.1f} %",
                              *side, gains[0], gains[1]),
          .range = {*std::min_element(gains.begin(), gains.end()),
                    *std::max_element(gains.begin(), gains.end())}};
}

Measured jacobi_small(const CompnetResults& results, const std::string& dgpu) {
  const double cpu = jacobi_us(results, kCpuDesign, kSides.front());
  double least = 0;
  std::string text =
      fmt::format("{} x {} elements, us: cpu {:.2f}", kSides.front(), kSides.front(), cpu);
  for (const std::string& design :
       {std::string(kCompnetDesign), dgpu, std::string(kInterKernelDesign)}) {
    const double us = jacobi_us(results, design, kSides.front());
    least = least == 0 ? us : std::min(least, us);
    text += fmt::format(", {} {:.2f}", design, us);
  }
  return {.value = least / cpu, .holds = cpu < least, .note = text};
}

Measured jacobi_large(const CompnetResults& results, const std::string& dgpu) {
  const auto over = [&](const std::string& design, unsigned side) {
    return jacobi_us(results, design, side) / jacobi_us(results, kCompnetDesign, side);
  };
  bool converges = true;
  double value = 0;
  std::string text;
  for (const std::string& design : {dgpu, std::string(kInterKernelDesign)}) {
    const double first = over(design, kSides.front()), last = over(design, kSides.back());
    converges = converges && std::abs(last - 1) < std::abs(first - 1);
    if (design == dgpu) value = last;
    text += fmt::format("{}{} over ComP-Net {:.2f} at {}, {:.2f} at {}", text.empty() ? "" : "; ",
                        design, first, kSides.front(), last, kSides.back());
  }
  return {.value = value, .holds = converges, .note = text};
}

// ---- All-reduce (Fig 10) and training (Fig 11)

std::vector<std::string> gpu_designs(const std::string& dgpu) {
  return {kCompnetDesign, dgpu, kInterKernelDesign};
}

std::string times_text(const CompnetResults& results, const std::vector<std::string>& designs,
                       unsigned servers) {
  std::string text = fmt::format("us at {}:", servers);
  for (const std::string& design : designs)
    text += fmt::format(" {} {:.0f}", design, reduce_us(results, design, servers));
  return text;
}

Measured reduce_few(const CompnetResults& results, const std::string& dgpu) {
  const unsigned servers = kReduceServers.front();
  std::vector<double> us;
  for (const std::string& design : gpu_designs(dgpu))
    us.push_back(reduce_us(results, design, servers));
  const double ratio =
      *std::max_element(us.begin(), us.end()) / *std::min_element(us.begin(), us.end());
  return {.value = ratio,
          .holds = ratio < 1.1,
          .note = "slowest over fastest, equal: within 10 %; " +
                  times_text(results, gpu_designs(dgpu), servers)};
}

Measured reduce_growth(const CompnetResults& results, const std::string& dgpu) {
  const auto gain = [&](const std::string& design, unsigned servers) {
    return percent(reduce_us(results, design, servers),
                   reduce_us(results, kCompnetDesign, servers));
  };
  bool grows = true;
  std::string text;
  for (const std::string& design : {dgpu, std::string(kInterKernelDesign)}) {
    grows = grows && gain(design, kReduceServers.back()) > gain(design, kReduceServers.front());
    text += fmt::format("{}over {}, %:", text.empty() ? "" : "; ", design);
    for (const unsigned servers : kReduceServers)
      text += fmt::format(" {:.2f}", gain(design, servers));
  }
  return {.value = gain(dgpu, kReduceServers.back()), .holds = grows, .note = text};
}

Measured reduce_by_cpu(const CompnetResults& results, const std::string& dgpu) {
  std::vector<std::string> designs = gpu_designs(dgpu);
  const unsigned servers = kReduceServers.back();
  const double cpu = reduce_us(results, kCpuDesign, servers);
  double least = 0;
  for (const std::string& design : designs) {
    const double us = reduce_us(results, design, servers);
    least = least == 0 ? us : std::min(least, us);
  }
  designs.push_back(kCpuDesign);
  return {.value = least / cpu,
          .holds = cpu < least,
          .note = times_text(results, designs, kReduceServers.front()) + "; " +
                  times_text(results, designs, servers)};
}

// Gain of ComP-Net over the dGPU, percent, of each network.
std::vector<double> training_gains(const CompnetResults& results, const std::string& dgpu) {
  std::vector<double> all;
  for (const TrainedNetwork& network : trained_networks())
    all.push_back(percent(iteration_share(results, dgpu, network),
                          iteration_share(results, kCompnetDesign, network)));
  return all;
}

constexpr const char* kShares =
    "the share of an iteration that is blocked is an input (training.csv)";

Measured training_mean(const CompnetResults& results, const std::string& dgpu) {
  double sum = 0;
  const std::vector<double> gains = training_gains(results, dgpu);
  for (const double gain : gains) sum += gain;
  return {.value = sum / static_cast<double>(gains.size()), .note = kShares, .input = true};
}

Recipe training_of(const char* id, const std::string& name) {
  return {id,
          {CompnetSource::training},
          [name](const CompnetResults& results, const std::string& dgpu) {
            const auto& all = trained_networks();
            const auto found = std::find_if(all.begin(), all.end(),
                                            [&](const auto& one) { return one.name == name; });
            const std::vector<double> gains = training_gains(results, dgpu);
            return Measured{.value = gains[static_cast<size_t>(found - all.begin())],
                            .note = name + "; " + kShares,
                            .input = true};
          }};
}

// Iterations are linear in the time of reductions: the share does not matter.
Measured training_steps(const CompnetResults& results, const std::string& dgpu) {
  bool holds = true;
  double least = 0;
  std::string text;
  for (const TrainedNetwork& network : trained_networks()) {
    const double cpu = reduction_us(results, kCpuDesign, network),
                 gpu = reduction_us(results, dgpu, network),
                 own = reduction_us(results, kCompnetDesign, network);
    holds = holds && own < gpu && cpu - gpu > gpu - own;
    least = least == 0 ? (cpu - gpu) / cpu : std::min(least, (cpu - gpu) / cpu);
    text += fmt::format("{}{} {:.0f}, {:.0f}, {:.0f}", text.empty() ? "" : "; ", network.name, cpu,
                        gpu, own);
  }
  return {.value = 100 * least,
          .holds = holds,
          .note = "us of reductions by CPU, dGPU, ComP-Net: " + text +
                  "; copies between GPU and CPU are not in it"};
}

// ---- The largest gain of applications

Measured most_gain(const CompnetResults& results, const std::string& dgpu) {
  double most = 0;
  std::string what;
  const auto take = [&](double gain, const std::string& of) {
    if (!what.empty() && gain <= most) return;
    most = gain;
    what = of;
  };
  for (const std::string& design : {dgpu, std::string(kInterKernelDesign)}) {
    if (const std::optional<unsigned> side = middle_side(results))
      take(percent(jacobi_us(results, design, *side), jacobi_us(results, kCompnetDesign, *side)),
           fmt::format("Jacobi at {} over {}", *side, design));
    for (const unsigned servers : kReduceServers)
      take(
          percent(reduce_us(results, design, servers), reduce_us(results, kCompnetDesign, servers)),
          fmt::format("all-reduce of {} servers over {}", servers, design));
  }
  return {.value = most, .note = what + "; of Jacobi's second region, and all-reduce"};
}

const std::vector<Recipe>& recipes() {
  using enum CompnetSource;
  constexpr const char* kQuoted = "quoted from other work";
  static const std::vector<Recipe> all{
      {"CN-R01", {jacobi, all_reduce}, most_gain},
      {"CN-R02", {loaded, training}, most_energy},
      {"CN-R03", {jacobi}, jacobi_middle},
      {"CN-R04", {training}, reduce_energy},
      {"CN-R05", {training}, training_mean},
      {"CN-R10", {launch}, launch_gap},
      {"CN-R11", {message}, host_message},
      {"CN-R12", {queues}, host_queue_range},
      {"CN-R13", {queues}, queue_placement},
      {"CN-R14", {queues}, queue_threads},
      {"CN-R15", {}, [](const auto&, const auto&) { return Measured{.not_judged = kQuoted}; }},
      {"CN-R20", {llc}, [](const auto& all, const auto&) { return measure_hit_rate(all); }},
      {"CN-R21", {llc}, [](const auto& all, const auto&) { return measure_locked_drop(all); }},
      {"CN-R22", {llc}, [](const auto& all, const auto&) { return measure_lock_time(all); }},
      {"CN-R23", {get}, exchange},
      {"CN-R30", {get}, small_get},
      {"CN-R31", {get}, convergence},
      {"CN-R32", {loaded}, under_load},
      {"CN-R33", {loaded}, loaded_energy},
      {"CN-R34", {loaded}, loaded_energy_of_apu},
      {"CN-R35", {get, loaded, jacobi, training}, like_apu},
      {"CN-R40", {jacobi}, jacobi_small},
      {"CN-R41", {jacobi}, jacobi_large},
      {"CN-R50", {all_reduce}, reduce_few},
      {"CN-R51", {all_reduce}, reduce_growth},
      {"CN-R52", {all_reduce}, reduce_by_cpu},
      training_of("CN-R60", "AN4 LSTM"),
      training_of("CN-R61", "CIFAR"),
      {"CN-R62", {training}, training_steps},
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

Measured measure_compnet(const std::string& id, bool host_queue, const CompnetResults& results) {
  try {
    return recipe_of(id).measure(results, host_queue ? kHostQueueDesign : kGpuQueueDesign);
  } catch (const MissingSimulations& missing) {
    return {.needs = missing.what()};
  }
}

}  // namespace stretto
