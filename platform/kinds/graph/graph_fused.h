// SPDX-License-Identifier: Apache-2.0
// Vertically fused groups of a plan: operators that are one kernel.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_FUSED_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_FUSED_H_

#include "platform/kinds/graph/graph_plan.h"
#include "platform/kinds/graph/plan_entry.h"

namespace stretto {

// REQUIRES: tensors and launches of `plan` are read. Throws UserError naming the entry: operands that do not fit each
// other, more than a kernel has, groups out of order.
void read_fused(const PlanEntry& groups, GraphPlan& plan);

// DRAM bytes of a fused kernel, by closed form: its distinct operands, of which so many are weights, and its results.
uint64_t fused_reads(const graph_fused_t& fused);
uint64_t fused_weights(const graph_fused_t& fused);
uint64_t fused_writes(const graph_fused_t& fused);
// And what it reads at most while its weights stay in the L2: work-groups of the library's products, and of a product
// that is cut into blocks of columns, share rows of tiles, through the L2 if they are close together in time. A row of
// tiles may come once for each of them. REQUIRES: its kernel is chosen.
uint64_t fused_most_reads(const graph_fused_t& fused);

// How many kernels and operators that is, and which groups of the plan are no kernel as a whole, and why.
boost::json::object fused_json(const GraphPlan& plan);
std::string fused_text(const GraphPlan& plan);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_FUSED_H_
