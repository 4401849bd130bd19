// SPDX-License-Identifier: Apache-2.0
// Is what lies in memory after a run what the graph's operators give?
//
// Every operator of the last iteration is worked out in double precision from the operands that lie in memory, so that
// its bound is that of this operator alone, however deep the graph is. Operands that no longer lie there are worked out:
// what was fused into another operator, or passed through a queue; gradients before they were summed over the ranks; weights before they were
// updated, which the update itself gives to half an ulp. In addition weights that are updated are compared with those of
// a whole run in double precision: each iteration may add the roundings of one update, and the rate times what the
// gradients were seen to differ.
//
// A weight with a master is the master rounded, to the bit. The master is what its steps of FP32 leave of the first
// weight, each with the roundings of FP32 alone: of one iteration, and of many where no weight that is updated reaches
// the gradient, so that it is the same each time. Other masters are compared with the whole run, within some times the
// rate times what the gradients were seen to differ.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_CHECK_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_CHECK_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "platform/check/check.h"
#include "platform/kinds/graph/graph_arithmetic.h"

namespace stretto {

struct GraphRun {
  uint32_t ranks;
  uint32_t iterations;
  uint64_t seed;
  // Whether a tensor lies in memory: a pipeline keeps some in its queues.
  std::function<bool(size_t index)> is_left;
  GraphKernels kernels;
  // The elements of plan.tensors[index] in the memory of a rank.
  std::function<std::vector<uint16_t>(uint32_t rank, size_t index)> read;
};

// Adds to the report.
void check_graph(const GraphPlan& plan, const GraphRun& run, CheckReport& report);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_CHECK_H_
