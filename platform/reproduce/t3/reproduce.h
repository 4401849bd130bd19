// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce t3`: simulates the sub-layers of T3 (each case x mode x machine a child
// process with a result folder of its own), then prints one table: id, published, measured, ratio,
// verdict. What is there is not run again. A measured value is never edited; a missed target is
// shown as missed.
#ifndef STRETTO_PLATFORM_REPRODUCE_T3_REPRODUCE_H_
#define STRETTO_PLATFORM_REPRODUCE_T3_REPRODUCE_H_

#include "platform/campaign/reproduce_options.h"

namespace stretto {

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

#endif  // STRETTO_PLATFORM_REPRODUCE_T3_REPRODUCE_H_
