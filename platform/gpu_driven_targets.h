// SPDX-License-Identifier: Apache-2.0
// The published results of GPU-driven code execution and how each is computed from simulations.
#ifndef STRETTO_PLATFORM_GPU_DRIVEN_TARGETS_H_
#define STRETTO_PLATFORM_GPU_DRIVEN_TARGETS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/targets.h"

namespace stretto {

// A size of a sweep of messages between two GPUs.
struct MessageRow {
  uint64_t bytes = 0;
  double rate = 0;     // GB/s.
  double latency = 0;  // us one way; 0 = not measured.
  std::map<std::string, double> parts;  // us, by name; c-drv.
};

// What the simulations say, empty where they were not run.
struct GpuDrivenResults {
  std::map<std::string, std::vector<MessageRow>> pcie;    // By mode, on v100-pcie.
  std::map<std::string, std::vector<MessageRow>> nvlink;  // ... on a100-nvswitch.
};

// The ids that this version computes, in the order of the table.
const std::vector<std::string>& gpu_driven_ids();
Measured measure_gpu_driven(const std::string& id, const GpuDrivenResults& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_GPU_DRIVEN_TARGETS_H_
