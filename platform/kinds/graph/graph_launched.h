// SPDX-License-Identifier: Apache-2.0
// The baseline beside loop kernels: one rank that launches a kernel for every operator of a graph,
// in one stream, and reduces gradients with ncclAllReduce in another, bound by semaphores: a bucket
// is reduced when the operators before it have ended (mode launched-after: when those before the
// last bucket have), and used when it is reduced.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_LAUNCHED_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_LAUNCHED_H_

#include <functional>
#include <vector>

#include "models/host/host.h"
#include "platform/jobs/job_request.h"
#include "platform/kinds/graph/graph_reference.h"
#include "sw/apps/graph.h"
#include "sw/include/nccl.h"

namespace stretto {

struct GraphLaunch {
  const JobRequest& request;
  const GraphPlan& plan;
  const graph_parameters_t&
      parameters;      // Its client is that of the kernels; memory behind `place`.
  uint64_t arena = 0;  // Where the first allocation must lie; gradients follow it.
  const std::vector<uint8_t>& collective_elf;
  const std::vector<uint8_t>& stamp_elf;  // send.elf.
  ncclUniqueId& id;                       // Rank 0 fills it in.
  std::function<void()> meet;             // All ranks pass when all have come.
};

// Returns the end of the device memory that the rank was given below `parameters.client`, an
// offset. Throws UserError or CheckError.
uint64_t run_launched(HostCore& core, const GraphLaunch& launch, graph_result_t& result);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_LAUNCHED_H_
