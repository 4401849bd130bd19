// SPDX-License-Identifier: Apache-2.0
// The published results of GPU-driven code execution and how each is computed from simulations.
#ifndef STRETTO_PLATFORM_REPRODUCE_GPU_DRIVEN_GPU_DRIVEN_TARGETS_H_
#define STRETTO_PLATFORM_REPRODUCE_GPU_DRIVEN_GPU_DRIVEN_TARGETS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/campaign/targets.h"

namespace stretto {

// A size of a sweep of messages between two GPUs.
struct MessageRow {
  uint64_t bytes = 0;
  double rate = 0;     // GB/s.
  double latency = 0;  // us one way; 0 = not measured.
  double request = 0;  // us from the kernel to the engine of g-drv-s; likewise.
  std::map<std::string, double> parts = {};  // us, by name; c-drv.
};

// A kernel beside an all-gather: time with the other running over time alone.
struct Slowdowns {
  double kernel = 0;
  double gather = 0;
};

// A training step of one or a few layers, the last of the iterations.
struct TrainingStep {
  double step_us = 0;
  double compute_us = 0;  // To the last operator of back-propagation.
  struct Bucket {
    double us = 0;
    double bus_gb_s = 0;              // As nccl-tests has it: what each link must carry.
    double begin_us = 0, end_us = 0;  // launched: in the step.
  };
  std::vector<Bucket>
      buckets;  // In the order of reduction, the last one when nothing is left to compute.
  std::vector<double> op_end_us = {};  // launched: of operators but updates, in the step.
};

constexpr unsigned kBertLayers = 24;     // BERT-Large,
constexpr unsigned kBertSequences = 10;  // a GPU and step (config.workloads).
constexpr unsigned kBertGpus[] = {1, 2, 4, 8};

// Of one mode: by GPUs, then by layers.
using TrainingSteps = std::map<unsigned, std::map<unsigned, TrainingStep>>;

// Folders of simulations, which are also their names.
std::string messages_folder(const std::string& platform, const std::string& mode);
std::string interference_folder(const std::string& mode);
std::string bert_folder(const std::string& platform, const std::string& mode, unsigned gpus,
                        unsigned layers);
std::string all_reduce_folder(const std::string& platform);

// What the simulations say, empty where they have no result.
struct GpuDrivenResults {
  std::map<std::string, std::vector<MessageRow>> pcie;    // By mode, on v100-pcie.
  std::map<std::string, std::vector<MessageRow>> nvlink;  // ... on a100-nvswitch.
  // 8 GPUs of v100-pcie, by mode; of the copy kernels beside `issue` also with every wavefront slot
  //   taken, "issue-mmio-full".
  std::map<std::string, Slowdowns> interference;
  // By platform, "pcie" or "nvlink", and mode.
  std::map<std::string, std::map<std::string, TrainingSteps>> bert;
  std::map<std::string, double>
      all_reduce_gb_s;  // By platform: 32 MB by copy kernels, nothing beside them, 8 GPUs.
};

// Extrapolates the time of a step with `layers` layers from steps with one and two layers:
// T(n) = T(1) + (n - 1) (T(2) - T(1)). Returns nothing if a step is missing. Why this holds:
// README.md, "Composed steps".
std::optional<double> composed_us(const TrainingSteps& steps, unsigned gpus, unsigned layers,
                                  double TrainingStep::*time = &TrainingStep::step_us);
// The same of a whole step of BERT-Large (kBertLayers) under `mode`. Under `launched-after` nothing
// overlaps: a step is kBertLayers times the step of one layer under `launched`, which reduces its
// single bucket after back-propagation, too. With one GPU it is `launched`.
std::optional<double> bert_us(const GpuDrivenResults& results, const std::string& platform,
                              const std::string& mode, unsigned gpus,
                              double TrainingStep::*time = &TrainingStep::step_us);
// Sequences in a second of BERT-Large.
std::optional<double> bert_throughput(const GpuDrivenResults& results, const std::string& mode,
                                      unsigned gpus);
// A line of each simulated step, and of each composed one of a mode that ran on that platform.
std::string bert_csv(const GpuDrivenResults& results);

// Which simulations a result is computed from.
enum class GpuDrivenSource { none, messages, interference, bert, bert_nvlink };

// All results of the paper, in the order of the table; those without a source say why.
const std::vector<std::string>& gpu_driven_ids();
GpuDrivenSource gpu_driven_source(const std::string& id);
Measured measure_gpu_driven(const std::string& id, const GpuDrivenResults& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_GPU_DRIVEN_GPU_DRIVEN_TARGETS_H_
