// SPDX-License-Identifier: Apache-2.0
// What the host programs of sw/apps/graph/graph.c are given for a plan on a machine.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_PARAMETERS_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_PARAMETERS_H_

#include <cstdint>
#include <string>

#include "platform/jobs/job.h"
#include "platform/kinds/graph/graph_kind.h"
#include "platform/kinds/graph/graph_plan.h"

namespace stretto {

inline constexpr const char* kBulkSynchronous = "bsp";

// Of the plan's files, without suffix.
std::string stem_of(const GraphKind& kind);

// Throws UserError.
graph_mode_t mode_of(const std::string& name);
inline bool is_launched(graph_mode_t mode) { return mode >= GRAPH_LAUNCHED; }

// Kernels of products are chosen in `plan`, to which the answer refers. Throws UserError if there is none for the machine.
graph_parameters_t parameters_of(const GraphKind& kind, const JobRequest& request, GraphPlan& plan,
                                 uint32_t rank);

// The second client of a rank: behind the memory of the first, on queues from `queue` on. Its bytes have room for a
// plan's queues, which begin with a way of the L2.
uint64_t second_client_bytes(const graph_parameters_t& p);
void take_second_client(graph_parameters_t& p, uint32_t queue);

// A pipeline is resident at once or not at all: throws UserError naming `who` and the stage that has no room.
void check_residency(const std::string& who, const GraphPlan& plan, const GpuSpec& gpu);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_PARAMETERS_H_
