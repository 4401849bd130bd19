// SPDX-License-Identifier: Apache-2.0
// The published results of Tally and how each is computed from simulations.
#ifndef STRETTO_PLATFORM_REPRODUCE_TALLY_TALLY_TARGETS_H_
#define STRETTO_PLATFORM_REPRODUCE_TALLY_TALLY_TARGETS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/campaign/targets.h"

namespace stretto {

// Of Table 2, in the order of the artifact's figures where it has one.
inline constexpr std::array kTallyInferences{"bert",    "llama-2-7b",       "resnet50",
                                             "yolov6m", "stable-diffusion", "gpt-neo"};
inline constexpr std::array kTallyTrainings{"whisper", "resnet50",   "pointnet",
                                            "pegasus", "gpt2-large", "bert"};
// Systems side by side, in the order of TL-A01.
inline constexpr std::array kTallySystems{"time-slicing", "mps", "mps-priority", "tgs", "tally"};
inline constexpr const char* kTallyMode = "tally";
// Systems that stand for Tally, a column of the table each; the first is as published.
inline constexpr std::array kTallyColumns{kTallyMode, "tally-stock-isa", "tally-firmware"};
inline constexpr std::array kTallyAblations{"no-scheduling", "no-transformation", kTallyMode};
// Loads in per mille of the time that a request takes alone.
inline constexpr unsigned kTallyLoad = 500;
inline constexpr std::array<unsigned, 5> kTallyLoads{100, 300, 500, 700, 900};
inline constexpr std::array kTallyLoadInferences{"bert", "llama-2-7b"};
inline constexpr std::array kTallyLoadTrainings{"bert", "gpt2-large", "whisper"};
inline constexpr std::array kTallyLoadSystems{"tgs", kTallyMode};
inline constexpr uint64_t kTallyThresholdNs = 31'600;
inline constexpr std::array<uint64_t, 6> kTallyThresholdsNs{10'000,  31'600,    100'000,
                                                            316'000, 1'000'000, 3'160'000};
inline constexpr std::array<unsigned, 5> kTallyClients{1, 2, 4, 7, 10};  // Fig 6a.
// Fig 5b: percent of load 0.5 in equal parts of time, bursts on top. The trace is not published (TL-U16): a rise and a
// fall stand for its days.
inline constexpr std::array<unsigned, 8> kTallyDay{20, 60, 100, 140, 180, 140, 100, 60};

// What one simulation says.
struct TallyRun {
  double p50_ms = 0, p99_ms = 0;  // Service times of the first client.
  double p99_low_ms = 0, p99_high_ms = 0;
  double response_p99_ms = 0;
  double per_s = 0;              // Its requests.
  double best_effort_per_s = 0;  // Those of all others together.
  uint64_t requests = 0;
  double sampling_error = 0;  // Of the times of kernels, 0.01 = 1 %: the largest.
  double longest_drain_ms = 0;
  std::vector<double> window_p99_ms, window_best_effort_share;  // Of parts of time, if asked for.
};

// Folders of simulations, which are also their names.
// A list by itself, back to back: "alone/bert-inference".
std::string tally_alone_folder(const std::string& list);
// An inference by itself as it arrives under a load.
std::string tally_trace_folder(const std::string& inference, unsigned load);
std::string tally_pair_folder(const std::string& inference, const std::string& training,
                              const std::string& mode, unsigned load = kTallyLoad,
                              uint64_t threshold_ns = kTallyThresholdNs);
// `clients` equal inferences, one of them with high priority.
std::string tally_clients_folder(unsigned clients);
// BERT's inference while its load goes up and down, alone (ideal) or beside BERT's training.
std::string tally_day_folder(const std::string& mode);

// Of the kernels of a list, each counted once.
struct TallyGranularity {
  double median_kernel_ms = 0, longest_kernel_ms = 0, longest_work_group_us = 0;
};

struct TallyResults {
  std::map<std::string, TallyRun> runs;                 // By folder.
  std::map<std::string, TallyGranularity> granularity;  // By list.
  std::set<std::string> modes;                          // That workloads of kind tenants have.
  std::string tally = kTallyMode;                       // Which of kTallyColumns stands for it.
};

enum class TallySource { none, alone, pairs, loads, day, clients, ablation, thresholds };

// All results of the paper and the authors' run, in the order of the table.
const std::vector<std::string>& tally_ids();
std::set<TallySource> tally_sources(const std::string& id);
// Of column results.tally.
Measured measure_tally(const Target& target, const TallyResults& results);
// A line of each simulation of two clients.
std::string tally_csv(const TallyResults& results);
// A table for people: a row a pair at load 0.5, a column a system; empty without any.
std::string tally_pairs_text(const TallyResults& results,
                             const std::vector<std::string>& inferences,
                             const std::vector<std::string>& trainings);
// A line of each part of the day and system; empty without it.
std::string tally_day_csv(const TallyResults& results);
// How many times as long the p99 is as alone; none without both simulations.
std::optional<double> tally_slowdown(const TallyResults& results, const std::string& inference,
                                     const std::string& training, const std::string& mode);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_TALLY_TALLY_TARGETS_H_
