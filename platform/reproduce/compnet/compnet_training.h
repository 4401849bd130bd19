// SPDX-License-Identifier: Apache-2.0
// Projection of training with data parallelism (ComP-Net 5.4.1, CN-AR-03): what the all-reduces of an
// iteration take, by a table of simulated sizes, and how much of an iteration that is, which is an
// input. Networks are public examples of CNTK; only AN4 LSTM and CIFAR are named in the paper.
#ifndef STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_TRAINING_H_
#define STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_TRAINING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "platform/reproduce/compnet/compnet_runs.h"

namespace stretto {

struct TrainedNetwork {
  const char* name;
  std::vector<uint64_t> parameters;  // Of each tensor.
  double blocked;                    // Share of an iteration with the CPU's all-reduce: an input.
};
const std::vector<TrainedNetwork>& trained_networks();

// Bytes of each all-reduce of an iteration: gradients in FP32, those of at most 32 KiB packed into
// one (CNTK's default).
std::vector<uint64_t> reduced_bytes(const TrainedNetwork& network);

// All-reduces of an iteration at 8 servers; between simulated sizes by powers, above the largest in
// proportion, below the smallest as that.
double reduction_us(const CompnetResults& results, const std::string& design,
                    const TrainedNetwork& network);

// Time of an iteration over that with the CPU's all-reduce.
double iteration_share(const CompnetResults& results, const std::string& design,
                       const TrainedNetwork& network);

std::string training_csv(const CompnetResults& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_TRAINING_H_
