// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce t3`: simulates the sub-layers of T3 (each case x mode x machine a child
// process with a result folder of its own), then prints one table: id, published, measured, ratio,
// verdict. What is there is not run again. A measured value is never edited; a missed target is
// shown as missed.
#ifndef STRETTO_PLATFORM_REPRODUCE_H_
#define STRETTO_PLATFORM_REPRODUCE_H_

#include <string>
#include <vector>

namespace stretto {

struct ReproduceOptions {
  std::string paper;
  std::string figure;  // Empty: all.
  unsigned jobs = 1;
  std::string out;
  std::string cases;  // Only cases that begin with one of these, by commas.
  std::string machines = "t3,t3-paper";
  std::string modes;              // Only these, by commas; empty: all.
  std::vector<std::string> sets;
  std::string impl;   // BLOCK|all=KIND of every simulation; empty: RTL.
  bool full = false;  // Full machines instead of mirrored ones.
  bool table_only = false;
  unsigned time_limit_s = 0;  // Of all simulations together; 0 = none.
  std::string command_line;  // For a shell, to run the same again.
};

// `stretto reproduce gpu-driven`: messages between two GPUs under all engines, kernels beside an all-gather, training
// steps of BERT-Large; tables and pictures. Simulates what the targets of the figure need. Takes figure, jobs, out, sets,
// impl, time_limit_s and table_only.
int reproduce_gpu_driven(const ReproduceOptions& options);

// `stretto reproduce collectives`: the tables of all collectives x engines, workloads collectives/*. Takes
// jobs, out, sets, impl, time_limit_s and table_only. At the time limit the tables of what is there are printed.
int reproduce_collectives(const ReproduceOptions& options);

// Exit status: 0 if every simulation passed its checks (targets may be missed), else that of the
// first failure.
int reproduce(const ReproduceOptions& options);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_H_
