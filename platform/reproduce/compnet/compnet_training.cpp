// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/compnet/compnet_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stretto {

namespace {

constexpr uint64_t kPackedBytes = 32 << 10;  // CNTK: DEFAULT_PACK_THRESHOLD_SIZE_IN_KB.

// Weights and biases.
void add_layer(std::vector<uint64_t>& all, uint64_t inputs, uint64_t outputs) {
  all.push_back(inputs * outputs);
  all.push_back(outputs);
}
std::vector<uint64_t> layers(std::initializer_list<std::pair<uint64_t, uint64_t>> sizes) {
  std::vector<uint64_t> all;
  for (const auto& [inputs, outputs] : sizes) add_layer(all, inputs, outputs);
  return all;
}

// CNTK, Examples/Speech/AN4/Config/lstmp-3layer-opt.ndl: three layers of 1024 cells, 512 outputs.
std::vector<uint64_t> an4_lstm() {
  constexpr uint64_t kCells = 1024, kHidden = 512, kFeatures = 363, kLabels = 132;
  std::vector<uint64_t> all;
  for (const uint64_t inputs : {kFeatures, kHidden, kHidden}) {
    all.push_back(4 * kCells * inputs);
    all.push_back(4 * kCells);
    all.push_back(4 * kCells * kHidden);
    all.insert(all.end(), 3, kCells);
    all.push_back(kHidden * kCells);
  }
  add_layer(all, kHidden, kLabels);
  return all;
}

double scaled(const std::vector<std::pair<double, double>>& table, double bytes) {
  if (bytes <= table.front().first) return table.front().second;
  if (bytes >= table.back().first) return table.back().second * bytes / table.back().first;
  const auto above = std::find_if(table.begin(), table.end(),
                                  [bytes](const auto& point) { return point.first >= bytes; });
  const auto below = above - 1;
  const double at = std::log(bytes / below->first) / std::log(above->first / below->first);
  return below->second * std::pow(above->second / below->second, at);
}

}  // namespace

const std::vector<TrainedNetwork>& trained_networks() {
  // Shares: recollection of a table of the same authors (GPU-TN, SC'17), unverified.
  static const std::vector<TrainedNetwork> all{
      {"AlexNet",  // Examples/Image/Classification/AlexNet/BrainScript.
       layers({{11 * 11 * 3, 96},
               {5 * 5 * 96, 192},
               {9 * 192, 384},
               {9 * 384, 384},
               {9 * 384, 256},
               {6 * 6 * 256, 4096},
               {4096, 4096},
               {4096, 1000}}),
       0.14},
      {"AN4 LSTM", an4_lstm(), 0.50},
      {"CIFAR",  // Examples/Image/Classification/ConvNet/BrainScript/ConvNet_CIFAR10.
       layers({{9 * 3, 64},
               {9 * 64, 64},
               {9 * 64, 64},
               {9 * 64, 64},
               {7 * 7 * 64, 256},
               {256, 128},
               {128, 10}}),
       0.04},
      {"MNIST Conv",  // ConvNet_MNIST.
       layers({{25, 32}, {9 * 32, 48}, {9 * 48, 64}, {3 * 3 * 64, 96}, {96, 10}}), 0.12},
      {"MNIST Hidden",  // Examples/Image/Classification/MLP/BrainScript/MLP_MNIST.
       layers({{784, 768}, {768, 512}, {512, 256}, {256, 10}}), 0.29},
  };
  return all;
}

std::vector<uint64_t> reduced_bytes(const TrainedNetwork& network) {
  std::vector<uint64_t> all;
  uint64_t packed = 0;
  for (const uint64_t count : network.parameters) {
    if (4 * count <= kPackedBytes) {
      packed += 4 * count;
    } else {
      all.push_back(4 * count);
    }
  }
  if (packed != 0) all.push_back(packed);
  return all;
}

double reduction_us(const CompnetResults& results, const std::string& design,
                    const TrainedNetwork& network) {
  std::vector<std::pair<double, double>> table;
  for (const unsigned bytes : kTrainingBytes)
    table.emplace_back(bytes, reduce_us(results, design, kTrainingServers, bytes));
  double sum = 0;
  for (const uint64_t bytes : reduced_bytes(network))
    sum += scaled(table, static_cast<double>(bytes));
  return sum;
}

double iteration_share(const CompnetResults& results, const std::string& design,
                       const TrainedNetwork& network) {
  return 1 - network.blocked +
         network.blocked * reduction_us(results, design, network) /
             reduction_us(results, kCpuDesign, network);
}

std::string training_csv(const CompnetResults& results) {
  std::string csv = "network,parameters,reductions,blocked_share,design,reduction_us,iteration\n";
  for (const TrainedNetwork& network : trained_networks())
    for (const char* design : kAllDesigns) {
      if (!has_result([&] { return iteration_share(results, design, network); })) continue;
      uint64_t parameters = 0;
      for (const uint64_t count : network.parameters) parameters += count;
      csv += fmt::format("{},{},{},{},{},{:.3f},{:.4f}\n", network.name, parameters,
                         reduced_bytes(network).size(), network.blocked, design,
                         reduction_us(results, design, network),
                         iteration_share(results, design, network));
    }
  return csv;
}

}  // namespace stretto
