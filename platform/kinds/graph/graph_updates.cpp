// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_updates.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "platform/kinds/graph/graph_contents.h"

namespace stretto {

namespace json = boost::json;

json::object graph_updates(const GraphPlan& plan, uint64_t seed, const GraphTensorReader& read) {
  uint64_t weights = 0, weights_moved = 0, master_bytes = 0, masters_moved = 0;
  // A number has `halves` elements.
  const auto moved = [&](size_t index, size_t halves) {
    uint64_t count = 0;
    const std::vector<uint16_t> now = read ? read(index) : std::vector<uint16_t>();
    const GraphContent before(seed, plan.tensors[index], index, 0);
    const auto differs = [&](uint64_t at) { return now[at] != before(at); };
    for (uint64_t i = 0; i < now.size(); i += halves)
      count += differs(i) || differs(i + halves - 1) ? 1 : 0;
    return count;
  };
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const GraphTensor& tensor = plan.tensors[i];
    if (tensor.kind == "master") {
      master_bytes += kElementBytes * tensor.elements();
      masters_moved += moved(i, 2);
    } else if (tensor.kind == "weight" && plan.results.contains(tensor.name)) {
      weights += tensor.elements();
      weights_moved += moved(i, 1);
    }
  }
  json::object all{{"weights", weights}, {"master_bytes", master_bytes}};
  if (!read) return all;
  all["weights_moved"] = weights_moved;
  if (master_bytes != 0) all["masters_moved"] = masters_moved;
  return all;
}

std::string updates_text(const json::object& updates) {
  const auto number = [&](const char* key) { return updates.at(key).to_number<uint64_t>(); };
  std::string text = fmt::format("  {} bytes of master weights", number("master_bytes"));
  if (updates.contains("masters_moved"))
    text += fmt::format("; of {} weights {} have moved, {} of their masters", number("weights"),
                        number("weights_moved"), number("masters_moved"));
  return text + "\n";
}

}  // namespace stretto
