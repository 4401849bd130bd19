// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/tally/tally_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "platform/base/text_table.h"
#include "platform/results/csv.h"

namespace stretto {

std::string tally_alone_folder(const std::string& list) { return "alone/" + list; }
std::string tally_trace_folder(const std::string& inference, unsigned load) {
  return fmt::format("pairs/load-{}/{}/ideal", load, inference);
}
std::string tally_pair_folder(const std::string& inference, const std::string& training,
                              const std::string& mode, unsigned load, uint64_t threshold_ns) {
  const std::string within = threshold_ns == kTallyThresholdNs
                                 ? std::string()
                                 : fmt::format("-threshold-{}ns", threshold_ns);
  return fmt::format("pairs/load-{}{}/{}+{}/{}", load, within, inference, training, mode);
}
std::string tally_clients_folder(unsigned clients) {
  return fmt::format("pairs/clients/{}", clients);
}
std::string tally_day_folder(const std::string& mode) { return "pairs/day/" + mode; }

namespace {

using Results = TallyResults;
using Numbers = std::vector<double>;

constexpr const char* kLongKernels = "whisper-training";
constexpr const char* kShortKernels = "resnet50-training";
constexpr double kConstant = 1.05;    // "Constant", "indistinguishable": within 5 %,
constexpr double kNegligible = 1.15;  // "negligible": the band of a headline's gain.

// Thrown while a target is measured: no simulation shows it.
struct NotRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string training_list(const std::string& name) { return name + "-training"; }
std::string inference_list(const std::string& name) { return name + "-inference"; }

// ---- What simulations say; one that is missing ends a recipe here

const TallyRun& run(const Results& r, const std::string& folder) {
  const auto found = r.runs.find(folder);
  if (found == r.runs.end()) throw MissingSimulations({folder});
  return found->second;
}
const TallyRun& pair(const Results& r, const std::string& inference, const std::string& training,
                     const std::string& mode, unsigned load = kTallyLoad,
                     uint64_t threshold_ns = kTallyThresholdNs) {
  const std::string& system = mode == kTallyMode ? r.tally : mode;
  if (r.modes.count(system) == 0) throw NotRun(fmt::format("there is no mode {}", system));
  return run(r, tally_pair_folder(inference, training, system, load, threshold_ns));
}
double slowdown(const Results& r, const std::string& inference, const std::string& training,
                const std::string& mode, unsigned load = kTallyLoad,
                uint64_t threshold_ns = kTallyThresholdNs) {
  return pair(r, inference, training, mode, load, threshold_ns).p99_ms /
         run(r, tally_trace_folder(inference, load)).p99_ms;
}
// Of the training alone.
double training_share(const Results& r, const std::string& inference, const std::string& training,
                      const std::string& mode, unsigned load = kTallyLoad,
                      uint64_t threshold_ns = kTallyThresholdNs) {
  return pair(r, inference, training, mode, load, threshold_ns).best_effort_per_s /
         run(r, tally_alone_folder(training_list(training))).per_s;
}
// Sum of both throughputs, each of its own alone (TL-U18).
double throughput(const Results& r, const std::string& inference, const std::string& training,
                  const std::string& mode, unsigned load = kTallyLoad) {
  return pair(r, inference, training, mode, load).per_s /
             run(r, tally_trace_folder(inference, load)).per_s +
         training_share(r, inference, training, mode, load);
}

double mean(const Numbers& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// ---- Over pairs

using OfPair = std::function<double(const std::string& inference, const std::string& training)>;
// The first `inferences` of Table 2 with each training.
Numbers over_pairs(size_t inferences, const OfPair& of) {
  Numbers all;
  for (size_t i = 0; i < inferences; ++i)
    for (const char* training : kTallyTrainings) all.push_back(of(kTallyInferences[i], training));
  return all;
}
constexpr size_t kAll = kTallyInferences.size();
constexpr size_t kOfArtifact = 2;  // BERT and Llama-2-7b.

double mean_slowdown(const Results& r, const std::string& mode, size_t inferences = kAll) {
  return mean(over_pairs(inferences,
                         [&](const auto& i, const auto& t) { return slowdown(r, i, t, mode); }));
}
double mean_throughput(const Results& r, const std::string& mode, size_t inferences = kAll) {
  return mean(over_pairs(inferences,
                         [&](const auto& i, const auto& t) { return throughput(r, i, t, mode); }));
}
double percent_more(double times) { return 100 * (times - 1); }

Measured number(double value, std::string note = "") {
  return {.value = value, .note = std::move(note)};
}
Measured judged(bool holds, std::string note, double value = 0) {
  return {.value = value, .holds = holds, .note = std::move(note)};
}
Measured numbers(Numbers values, std::string note = "") {
  return {.note = std::move(note), .range = std::move(values)};
}

// One value a system, in their order.
Numbers of_systems(const std::function<double(const char* system)>& of) {
  Numbers all;
  for (const char* system : kTallySystems) all.push_back(of(system));
  return all;
}
std::string listed(const Numbers& values) { return fmt::format("{:.3f}", fmt::join(values, ", ")); }

// ---- Recipes

using Recipe = std::function<Measured(const Results&)>;

Measured overhead(const Results& r, const std::string& mode) {
  const Numbers all =
      over_pairs(kAll, [&](const auto& i, const auto& t) { return slowdown(r, i, t, mode); });
  return number(
      percent_more(mean(all)),
      fmt::format("worst pair {:.1f} %", percent_more(*std::max_element(all.begin(), all.end()))));
}

Measured throughput_of_tgs(const Results& r) {
  return number(100 * mean_throughput(r, kTallyMode) / mean_throughput(r, "tgs"));
}

Measured worst_is_resnet(const Results& r) {
  std::pair<double, std::string> worst;
  for (const char* inference : kTallyInferences)
    for (const char* training : kTallyTrainings)
      worst = std::max(worst, {slowdown(r, inference, training, kTallyMode),
                               fmt::format("{} with {}", inference, training)});
  return judged(worst.second.starts_with("resnet50 "),
                fmt::format("{}: {:.3f}", worst.second, worst.first), worst.first);
}

Measured prior_order(const Results& r) {
  const Numbers all = of_systems([&](const char* s) { return mean_slowdown(r, s); });
  const bool holds = all[3] < std::min({all[0], all[1], all[2]}) && all[4] < all[3];
  return judged(holds, listed(all));
}
Measured aware_is_better(const Results& r) {
  const Numbers all = of_systems([&](const char* s) { return mean_slowdown(r, s); });
  return judged(std::max(all[2], all[3]) < std::min(all[0], all[1]), listed(all));
}
// The spread over trainings: most over least, in the mean of inferences.
double spread(const Results& r, const std::string& mode) {
  Numbers of_training;
  for (const char* training : kTallyTrainings) {
    Numbers all;
    for (const char* inference : kTallyInferences)
      all.push_back(slowdown(r, inference, training, mode));
    of_training.push_back(mean(all));
  }
  const auto [least, most] = std::minmax_element(of_training.begin(), of_training.end());
  return *most / *least;
}
Measured insensitive(const Results& r) {
  const double tally = spread(r, kTallyMode);
  Numbers others;
  for (const char* mode : {"mps", "mps-priority", "tgs"}) others.push_back(spread(r, mode));
  return judged(
      tally < *std::min_element(others.begin(), others.end()) && tally < kNegligible,
      fmt::format("most over least of trainings: tally {:.3f}; {}", tally, listed(others)));
}

const TallyGranularity& granularity(const Results& r, const std::string& list) {
  const auto found = r.granularity.find(list);
  if (found == r.granularity.end()) throw MissingSimulations({"bodies/" + list});
  return found->second;
}
double bert_ms(const Results& r) {
  return run(r, tally_alone_folder(inference_list("bert"))).p50_ms;
}
Measured kernels_last_ms(const Results& r) {
  const double kernel = granularity(r, kLongKernels).longest_kernel_ms;
  return judged(
      kernel >= 1,
      fmt::format("longest kernel, {:.2f} times a BERT inference here", kernel / bert_ms(r)),
      kernel);
}
Measured blocks_suffice(const Results& r) {
  const TallyGranularity& of = granularity(r, kLongKernels);
  return judged(of.longest_work_group_us < 1000,
                fmt::format("longest work-group; BERT inference {:.0f} us here", 1000 * bert_ms(r)),
                of.longest_work_group_us);
}
Measured short_and_long(const Results& r) {
  const double shorts = granularity(r, kShortKernels).median_kernel_ms, bert = bert_ms(r);
  const double longest = granularity(r, kLongKernels).longest_kernel_ms;
  return judged(10 * shorts < longest && longest > bert,
                fmt::format("ms: median kernel of ResNet50 {:.3f}, longest of Whisper {:.3f}, BERT "
                            "inference {:.3f}",
                            shorts, longest, bert));
}

Measured level_over_loads(const Results& r) {
  Numbers all;
  for (const char* inference : kTallyLoadInferences)
    for (const char* training : kTallyLoadTrainings)
      for (const unsigned load : kTallyLoads)
        all.push_back(slowdown(r, inference, training, kTallyMode, load));
  const double most = *std::max_element(all.begin(), all.end());
  return judged(most < kNegligible, "largest p99 over that alone", most);
}
Measured tgs_at_every_load(const Results& r) {
  std::map<std::string, double> most;
  bool holds = true;
  for (const char* inference : kTallyLoadInferences)
    for (const char* training : kTallyLoadTrainings)
      for (const unsigned load : kTallyLoads) {
        const double times = slowdown(r, inference, training, "tgs", load);
        holds = holds && times > kConstant;
        most[inference] = std::max(most[inference], times);
      }
  return judged(holds && most["bert"] > most["llama-2-7b"],
                fmt::format("most {:.2f} bert, {:.2f} llama", most["bert"], most["llama-2-7b"]));
}
// By load, in the mean of pairs.
Numbers load_throughputs(const Results& r, const std::string& mode) {
  Numbers by_load;
  for (const unsigned load : kTallyLoads) {
    Numbers all;
    for (const char* inference : kTallyLoadInferences)
      for (const char* training : kTallyLoadTrainings)
        all.push_back(training_share(r, inference, training, mode, load));
    by_load.push_back(mean(all));
  }
  return by_load;
}
Measured grows_with_idle(const Results& r) {
  bool holds = true;
  std::string note;
  for (const char* mode : kTallyLoadSystems) {
    const Numbers all = load_throughputs(r, mode);
    holds = holds && std::is_sorted(all.rbegin(), all.rend());
    note += fmt::format("{}{} {}", note.empty() ? "" : "; ", mode, listed(all));
  }
  return judged(holds, "share of the training, loads 0.1 to 0.9: " + note);
}
Measured gap_closes(const Results& r) {
  const Numbers tgs = load_throughputs(r, "tgs"), tally = load_throughputs(r, kTallyMode);
  const double busy = tgs.back() - tally.back(), idle = tgs.front() - tally.front();
  return judged(busy > 0 && idle < busy,
                fmt::format("TGS ahead by {:.3f} at load 0.9, {:.3f} at 0.1", busy, idle));
}

// p99 of each part of the day of which requests were served, over that alone: a slow system has not come to all.
Numbers over_the_day(const Results& r, const std::string& mode) {
  if (r.modes.count(mode) == 0) throw NotRun(fmt::format("there is no mode {}", mode));
  const TallyRun &together = run(r, tally_day_folder(mode)),
                 &alone = run(r, tally_day_folder("ideal"));
  Numbers all;
  for (size_t i = 0; i < alone.window_p99_ms.size(); ++i)
    if (alone.window_p99_ms[i] > 0 && together.window_p99_ms.at(i) > 0)
      all.push_back(together.window_p99_ms.at(i) / alone.window_p99_ms[i]);
  if (all.empty()) throw NotRun("no request came");
  return all;
}
Measured follows_ideal(const Results& r) {
  std::string note = "p99 over that alone, in parts of a day: ";
  double tally = 0, least = std::numeric_limits<double>::max();
  for (const char* mode : kTallySystems) {
    const Numbers all = over_the_day(r, mode);
    note += fmt::format("{}{} {}", mode == kTallySystems[0] ? "" : "; ", mode, listed(all));
    const double most = *std::max_element(all.begin(), all.end());
    if (std::string(mode) == kTallyMode) {
      tally = most;
    } else {
      least = std::min(least, most);
    }
  }
  return judged(tally < kNegligible && least > kNegligible, note, tally);
}
// What the training has done in each part, of what it does alone: its throughput, spread over the parts as its kernels
// had the GPU.
Measured moves_opposite(const Results& r) {
  const TallyRun& tally = run(r, tally_day_folder(kTallyMode));
  const double kept =
      tally.best_effort_per_s / run(r, tally_alone_folder(training_list("bert"))).per_s;
  const double share = mean(tally.window_best_effort_share);
  Numbers parts;
  for (const double one : tally.window_best_effort_share) parts.push_back(kept * one / share);
  bool falls = true;  // Where there is more load there is less of it.
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t k = 0; k < parts.size(); ++k)
      falls = falls && (kTallyDay.at(i) <= kTallyDay.at(k) || parts[i] < parts[k]);
  return judged(falls && kept > 0.5,
                fmt::format("load {}; training {}", fmt::join(kTallyDay, ", "), listed(parts)),
                kept);
}

Measured constant_over_clients(const Results& r) {
  Numbers all;
  for (const unsigned clients : kTallyClients)
    all.push_back(run(r, tally_clients_folder(clients)).p99_ms);
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  return judged(*most <= kConstant * *least,
                fmt::format("p99 of 1, 2, 4, 7, 10 clients: {} ms", listed(all)), *most / *least);
}
// Up to the most, and level from there on.
Measured rises_with_clients(const Results& r) {
  Numbers all;
  for (const unsigned clients : kTallyClients) {
    const TallyRun& one = run(r, tally_clients_folder(clients));
    all.push_back(60 * (one.per_s + one.best_effort_per_s));
  }
  const auto most = std::max_element(all.begin(), all.end());
  const bool rises = most != all.begin() && std::is_sorted(all.begin(), most + 1);
  const bool stays = *std::min_element(most, all.end()) * kConstant >= *most;
  const double full = 60 * run(r, tally_alone_folder(inference_list("resnet50"))).per_s;
  return judged(rises && stays,
                fmt::format("requests a minute of 1, 2, 4, 7, 10 clients: {}; {:.0f} back to back",
                            listed(all), full));
}

// BERT inference with a training: kTallyAblations.
Numbers ablation(const Results& r, const std::string& inference, const std::string& training) {
  Numbers all;
  for (const char* mode : kTallyAblations) all.push_back(slowdown(r, inference, training, mode));
  return all;
}
Measured no_scheduling_is_slowest(const Results& r) {
  bool holds = true;
  std::pair<double, std::string> worst;
  for (const char* training : kTallyTrainings) {
    const Numbers all = ablation(r, "bert", training);
    holds = holds && all[0] > all[1] && all[0] > all[2];
    worst = std::max(worst, {all[0], training});
  }
  return judged(holds && worst.second == "whisper",
                fmt::format("worst {}: {:.2f}", worst.second, worst.first));
}
Measured scheduling_only(const Results& r) {
  std::map<std::string, double> of;
  for (const char* training : kTallyTrainings) of[training] = ablation(r, "bert", training)[1];
  const double low = std::max(of["resnet50"], of["gpt2-large"]);
  const double high = std::min(of["whisper"], of["bert"]);
  return judged(low < high,
                fmt::format("resnet50 {:.2f}, gpt2-large {:.2f}; whisper {:.2f}, bert "
                            "{:.2f}",
                            of["resnet50"], of["gpt2-large"], of["whisper"], of["bert"]));
}
Measured full_is_negligible(const Results& r) {
  Numbers all;
  for (const char* training : kTallyTrainings) all.push_back(ablation(r, "bert", training)[2]);
  const double most = *std::max_element(all.begin(), all.end());
  return judged(most < kNegligible, listed(all), most);
}
Measured threshold_sweep(const Results& r) {
  Numbers p99, share;
  for (const uint64_t ns : kTallyThresholdsNs) {
    Numbers times, shares;
    for (const char* training : kTallyTrainings) {
      times.push_back(slowdown(r, "bert", training, kTallyMode, kTallyLoad, ns));
      shares.push_back(training_share(r, "bert", training, kTallyMode, kTallyLoad, ns));
    }
    p99.push_back(mean(times));
    share.push_back(mean(shares));
  }
  return judged(p99.back() > p99.front() && share.back() >= share.front() &&
                    share.back() / share.front() < p99.back() / p99.front(),
                fmt::format("0.01 to 3.16 ms: p99 {}; training {}", listed(p99), listed(share)));
}
Measured per_pair_order(const Results& r) {
  unsigned wrong = 0;
  for (size_t i = 0; i < kOfArtifact; ++i)
    for (const char* training : kTallyTrainings) {
      const Numbers all = ablation(r, kTallyInferences[i], training);
      wrong += all[0] > all[1] && all[1] > all[2] && all[2] > 1 ? 0 : 1;
    }
  return judged(wrong == 0, fmt::format("{} of 12 pairs in another order", wrong));
}

Measured artifact_mean(const Results& r, size_t first, size_t last) {
  return numbers(of_systems([&](const char* system) {
    Numbers all;
    for (size_t i = first; i < last; ++i)
      for (const char* training : kTallyTrainings)
        all.push_back(slowdown(r, kTallyInferences[i], training, system));
    return mean(all);
  }));
}
Measured artifact_worst(const Results& r) {
  const Numbers worst = of_systems([&](const char* system) {
    const Numbers all = over_pairs(
        kOfArtifact, [&](const auto& i, const auto& t) { return slowdown(r, i, t, system); });
    return *std::max_element(all.begin(), all.end());
  });
  return numbers(worst, "each is to be at most the published one");
}
Measured throughput_ratios(const Results& r) {
  const double tally = mean_throughput(r, kTallyMode, kOfArtifact);
  Numbers all;
  for (const char* system : {"time-slicing", "mps", "mps-priority", "tgs"})
    all.push_back(100 * tally / mean_throughput(r, system, kOfArtifact));
  return numbers(all);
}
// Slowdowns of BERT, which takes a seventh of the published time here: what p99 has beyond that alone compares better.
Measured of_bert(const Results& r, const Numbers& slowdowns) {
  const double alone_ms = run(r, tally_trace_folder("bert", kTallyLoad)).p99_ms;
  Numbers delays;
  for (const double times : slowdowns) delays.push_back((times - 1) * alone_ms);
  return numbers(slowdowns, fmt::format("ms beyond {:.3f} alone: {}", alone_ms, listed(delays)));
}
Measured with_training(const Results& r, const std::string& training) {
  return of_bert(r, of_systems([&](const char* s) { return slowdown(r, "bert", training, s); }));
}

Measured latency_ms(const Results& r, const std::string& inference) {
  return number(run(r, tally_alone_folder(inference_list(inference))).p50_ms,
                "kernels alone: a framework's own time between launches is not in the list");
}
Measured isolated_p99(const Results& r) {
  return numbers({run(r, tally_alone_folder(inference_list("bert"))).p99_ms,
                  run(r, tally_alone_folder(inference_list("llama-2-7b"))).p99_ms},
                 "16 tokens stand for a request of Llama");
}

struct Row {
  const char* id;
  std::set<TallySource> sources;
  Recipe recipe;
  // Columns but the first have the pairs of Tally alone.
  bool is_in_every_column() const {
    constexpr std::array kOfOthers{"TL-R02", "TL-R04", "TL-R06"};
    return (sources.count(TallySource::pairs) != 0 || sources.count(TallySource::ablation) != 0) &&
           sources.count(TallySource::thresholds) == 0 &&
           std::find(kOfOthers.begin(), kOfOthers.end(), std::string(id)) == kOfOthers.end();
  }
};

Recipe not_run(const char* why) {
  return [why](const Results&) -> Measured { throw NotRun(why); };
}

const std::vector<Row>& rows() {
  using enum TallySource;
  const auto of_training = [](const char* id, const char* training) -> Row {
    return {
        id, {alone, pairs}, [training](const Results& r) { return with_training(r, training); }};
  };
  const auto of_ablation = [](const char* id, const char* training) -> Row {
    return {id, {alone, ablation}, [training](const Results& r) {
              return of_bert(r, stretto::ablation(r, "bert", training));
            }};
  };
  static const std::vector<Row> all{
      {"TL-R01", {alone, pairs}, [](const Results& r) { return overhead(r, kTallyMode); }},
      {"TL-R02", {alone, pairs}, [](const Results& r) { return overhead(r, "tgs"); }},
      {"TL-R03", {alone, pairs}, throughput_of_tgs},
      {"TL-R04",
       {alone, pairs},
       [](const Results& r) {
         Numbers all;
         for (const char* mode : {"time-slicing", "mps", "mps-priority"})
           all.push_back(percent_more(mean_slowdown(r, mode)));
         return Measured{.note = listed(all), .not_judged = "published from memory, unverified"};
       }},
      {"TL-R05", {alone, pairs}, prior_order},
      {"TL-R06", {alone, pairs}, aware_is_better},
      {"TL-R07", {alone, pairs}, insensitive},
      {"TL-R08", {alone, pairs}, worst_is_resnet},
      {"TL-R09",
       {alone, pairs},
       [](const Results& r) {
         Measured one = throughput_of_tgs(r);
         one.holds = *one.value > 80;
         one.note = "of TGS; the others are lost";
         return one;
       }},
      {"TL-R20", {alone}, [](const Results& r) { return latency_ms(r, "bert"); }},
      {"TL-R21",
       {alone},
       [](const Results& r) {
         return number(1 / run(r, tally_alone_folder(kLongKernels)).per_s,
                       "an iteration without the host's half of its time (TL-A31)");
       }},
      {"TL-R22", {alone}, kernels_last_ms},
      {"TL-R23", {none}, not_run("nothing here stops single threads")},
      {"TL-R24", {alone}, blocks_suffice},
      {"TL-R30", {alone, loads}, level_over_loads},
      {"TL-R31", {alone, loads}, tgs_at_every_load},
      {"TL-R32", {alone, loads}, grows_with_idle},
      {"TL-R33", {alone, loads}, gap_closes},
      {"TL-R40", {alone, day}, follows_ideal},
      {"TL-R41", {alone, day}, moves_opposite},
      {"TL-R50", {alone, clients}, constant_over_clients},
      {"TL-R51", {alone, clients}, rises_with_clients},
      {"TL-R60", {alone, ablation}, no_scheduling_is_slowest},
      {"TL-R61", {alone, ablation}, scheduling_only},
      {"TL-R62", {alone, ablation}, full_is_negligible},
      {"TL-R63", {alone}, short_and_long},
      {"TL-R64", {alone, ablation, thresholds}, threshold_sweep},
      {"TL-R65",
       {alone},
       [](const Results& r) {
         run(r, tally_alone_folder(inference_list("bert")));
         return Measured{.value = kTallyThresholdNs / 1e6,
                         .note = "tenants.turnaround_threshold_ns",
                         .input = true};
       }},
      {"TL-A01", {alone, pairs}, [](const Results& r) { return artifact_mean(r, 0, 2); }},
      {"TL-A02", {alone, pairs}, [](const Results& r) { return artifact_mean(r, 0, 1); }},
      {"TL-A03", {alone, pairs}, [](const Results& r) { return artifact_mean(r, 1, 2); }},
      {"TL-A04", {alone, pairs}, artifact_worst},
      {"TL-A05",
       {alone, pairs},
       [](const Results& r) {
         return numbers(
             of_systems([&](const char* s) { return mean_throughput(r, s, kOfArtifact); }));
       }},
      {"TL-A06", {alone, pairs}, throughput_ratios},
      {"TL-A07", {alone}, isolated_p99},
      of_training("TL-A10", "whisper"),
      of_training("TL-A11", "resnet50"),
      of_training("TL-A12", "pointnet"),
      of_training("TL-A13", "pegasus"),
      of_training("TL-A14", "gpt2-large"),
      of_training("TL-A15", "bert"),
      {"TL-A16",
       {alone, pairs},
       [](const Results& r) {
         std::string note;
         for (const char* training :
              {"whisper", "resnet50", "pointnet", "pegasus", "gpt2-large", "bert"})
           note += fmt::format("{}{}: {}", note.empty() ? "" : "; ", training,
                               listed(of_systems([&](const char* s) {
                                 return slowdown(r, "llama-2-7b", training, s);
                               })));
         return Measured{.note = note, .not_judged = "a table of 30; its means are TL-A03"};
       }},
      of_ablation("TL-A20", "whisper"),
      of_ablation("TL-A21", "resnet50"),
      of_ablation("TL-A22", "pointnet"),
      of_ablation("TL-A23", "pegasus"),
      of_ablation("TL-A24", "gpt2-large"),
      of_ablation("TL-A25", "bert"),
      {"TL-A26",
       {alone, ablation},
       [](const Results& r) {
         Numbers all;
         for (const char* training : kTallyTrainings)
           all.push_back(percent_more(slowdown(r, "bert", training, kTallyMode)));
         return numbers({mean(all), *std::max_element(all.begin(), all.end())});
       }},
      {"TL-A27", {alone, pairs, ablation}, per_pair_order},
      {"TL-A30",
       {none},
       not_run("lists of kernels are clients of the server or of a driver, not programs: "
               "forwarding is measured by tests/system/clients_test")},
      {"TL-A31", {none}, not_run("lists have no host's time between launches")},
  };
  return all;
}

const Row& row(const std::string& id) {
  return *std::find_if(rows().begin(), rows().end(), [&](const Row& one) { return id == one.id; });
}

}  // namespace

const std::vector<std::string>& tally_ids() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> all;
    for (const Row& one : rows()) all.emplace_back(one.id);
    return all;
  }();
  return ids;
}

std::set<TallySource> tally_sources(const std::string& id) { return row(id).sources; }

Measured measure_tally(const Target& target, const TallyResults& results) {
  if (results.tally != kTallyMode && !row(target.id).is_in_every_column())
    return {.not_run = fmt::format("of {} alone", kTallyMode)};
  try {
    Measured measured = row(target.id).recipe(results);
    if (target.kind == "bound" && measured.range.size() == target.range.size())
      measured.holds = std::equal(measured.range.begin(), measured.range.end(),
                                  target.range.begin(), std::less_equal<>());
    return measured;
  } catch (const MissingSimulations& missing) {
    return {.needs = missing.what()};
  } catch (const NotRun& why) {
    return {.not_run = why.what()};
  }
}

std::optional<double> tally_slowdown(const TallyResults& results, const std::string& inference,
                                     const std::string& training, const std::string& mode) {
  const auto together = results.runs.find(tally_pair_folder(inference, training, mode));
  const auto alone = results.runs.find(tally_trace_folder(inference, kTallyLoad));
  if (together == results.runs.end() || alone == results.runs.end()) return std::nullopt;
  return together->second.p99_ms / alone->second.p99_ms;
}

std::string tally_pairs_text(const TallyResults& results,
                             const std::vector<std::string>& inferences,
                             const std::vector<std::string>& trainings) {
  TextTable table;
  std::vector<std::string> head{"inference, training"};
  head.insert(head.end(), kTallySystems.begin(), kTallySystems.end());
  table.row(head);
  bool has_some = false;
  for (const std::string& inference : inferences)
    for (const std::string& training : trainings) {
      std::vector<std::string> row{inference + ", " + training};
      for (const char* system : kTallySystems) {
        const auto times = tally_slowdown(results, inference, training, system);
        const auto alone = results.runs.find(tally_alone_folder(training_list(training)));
        const auto together = results.runs.find(tally_pair_folder(inference, training, system));
        has_some |= times.has_value();
        row.push_back(!times || alone == results.runs.end()
                          ? "-"
                          : fmt::format("{:.3f}, {:.2f}", *times,
                                        together->second.best_effort_per_s / alone->second.per_s));
      }
      table.row(row);
    }
  if (!has_some) return "";
  return "p99 of the inference, times that alone; throughput of the training, of that alone\n" +
         table.text();
}

std::string tally_day_csv(const TallyResults& results) {
  std::string text;
  std::vector<std::string> modes{"ideal"};
  modes.insert(modes.end(), kTallySystems.begin(), kTallySystems.end());
  for (const std::string& mode : modes) {
    const auto found = results.runs.find(tally_day_folder(mode));
    if (found == results.runs.end()) continue;
    const TallyRun& run = found->second;
    for (size_t i = 0; i < run.window_p99_ms.size(); ++i)
      text += fmt::format("{},{},{},{:.6f},{:.4f}\n", mode, i, kTallyDay.at(i),
                          run.window_p99_ms[i], run.window_best_effort_share[i]);
  }
  return text.empty() ? text : "system,part,percent_of_load,p99_ms,best_effort_share\n" + text;
}

std::string tally_csv(const TallyResults& results) {
  std::string text =
      "simulation,requests,p50_ms,p99_ms,p99_low_ms,p99_high_ms,response_p99_ms,requests_per_s,"
      "best_effort_per_s,longest_drain_ms,sampling_error\n";
  for (const auto& [folder, run] : results.runs)
    text += fmt::format("{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.4f},{:.4f},{:.6f},{:.4f}\n",
                        csv_text(folder), run.requests, run.p50_ms, run.p99_ms, run.p99_low_ms,
                        run.p99_high_ms, run.response_p99_ms, run.per_s, run.best_effort_per_s,
                        run.longest_drain_ms, run.sampling_error);
  return text;
}

}  // namespace stretto
