// SPDX-License-Identifier: Apache-2.0
// What updates of weights have moved, and what masters take.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_UPDATES_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_UPDATES_H_

#include <boost/json/object.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/kinds/graph/graph_plan.h"

namespace stretto {

// The elements of plan.tensors[index] behind a run.
using GraphTensorReader = std::function<std::vector<uint16_t>(size_t index)>;

// `weights` that are updated, `master_bytes`; with values (`read` is not empty) how many of both differ from what they
// were at first: `weights_moved`, `masters_moved`.
boost::json::object graph_updates(const GraphPlan& plan, uint64_t seed,
                                  const GraphTensorReader& read);
// A line of these.
std::string updates_text(const boost::json::object& updates);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_UPDATES_H_
