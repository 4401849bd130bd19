// SPDX-License-Identifier: Apache-2.0
// Groups of a plan: operators that are one spatial pipeline, its stages and queues.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_GROUPS_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_GROUPS_H_

#include "platform/kinds/graph/graph_plan.h"
#include "platform/kinds/graph/plan_entry.h"

namespace stretto {

// REQUIRES: tensors and launches of `plan` are read. Throws UserError naming the entry: a queue without its one writer
// or with other readers than it says, operands that do not fit a stage, groups out of order.
void read_groups(const PlanEntry& groups, GraphPlan& plan);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_GROUPS_H_
