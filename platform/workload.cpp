// SPDX-License-Identifier: Apache-2.0
#include "platform/workload.h"

#include <algorithm>

#include "models/common/error.h"
#include "platform/yaml_file.h"

namespace stretto {

const std::vector<std::pair<std::string, std::string>>& workload_modes() {
  static const std::vector<std::pair<std::string, std::string>> modes{
      {"sequential", "GEMM, then ring reduce-scatter kernel, then ring all-gather kernel"},
      {"t3",
       "GEMM fused with the reduce-scatter by Tracker and DMA, round-robin arbitration; then "
       "all-gather"},
      {"t3-mca", "as t3, with communication-aware memory arbitration"},
      {"gemm", "the GEMM alone"},
      {"rs", "the reduce-scatter kernel alone"},
      {"rs-nmc", "the reduce-scatter kernel alone, reducing in memory"},
      {"ag", "the all-gather kernel alone"},
  };
  return modes;
}

bool Workload::has_mode(const std::string& mode) const {
  return std::find(modes.begin(), modes.end(), mode) != modes.end();
}

void Workload::configure(Machine& machine) const {
  const YAML::Node node = load_yaml(file);
  if (const YAML::Node set = node["set"]; set) {
    if (!set.IsMap()) throw UserError(where(file, set) + ": set must be a map of parameters");
    assign_tree(machine.parameters(), file, set, "", "workload " + name);
  }
}

Workload load_workload(const std::string& name_or_file) {
  Workload workload;
  workload.name = name_or_file;
  workload.file = find_shipped("workloads", name_or_file);
  const std::string& file = workload.file;
  const YAML::Node node = load_yaml(file);
  bool has_shape = false;
  for (const auto& item : node) {
    const std::string key = item.first.Scalar();
    if (key == "description") {
      workload.description = yaml_text(file, item.second, key);
    } else if (key == "machine") {
      workload.machine = yaml_text(file, item.second, key);
    } else if (key == "data") {
      ParameterSet set;
      set.choice<std::string>("data", workload.data, {{"stamp", "stamp"}, {"real", "real"}}, "");
      set.assign("data", yaml_text(file, item.second, key), where(file, item.first), "");
    } else if (key == "set") {
      continue;  // configure().
    } else if (key == "modes") {
      if (!item.second.IsSequence())
        throw UserError(where(file, item.first) + ": modes must be a list");
      for (const auto& mode : item.second) {
        const std::string name = yaml_text(file, mode, key);
        const auto& all = workload_modes();
        if (std::none_of(all.begin(), all.end(),
                         [&](const auto& one) { return one.first == name; })) {
          throw UserError(where(file, mode) + ": unknown mode '" + name + "'");
        }
        workload.modes.push_back(name);
      }
    } else if (key == "sub_layer") {
      if (!item.second.IsMap())
        throw UserError(where(file, item.first) + ": sub_layer must be a map");
      has_shape = true;
      ParameterSet set;
      set.number("m", workload.m, 1, 1u << 20, "");
      set.number("n", workload.n, 1, 1u << 20, "");
      set.number("k", workload.k, 1, 1u << 20, "");
      set.flag("a_k_contiguous", workload.a_k_contiguous, "");
      set.flag("b_k_contiguous", workload.b_k_contiguous, "");
      assign_tree(set, file, item.second, "", "");
    } else {
      const std::string near =
          nearest_names(key, {"description", "machine", "data", "set", "modes", "sub_layer"});
      throw UserError(where(file, item.first) + ": unknown key '" + key + "'" +
                      (near.empty() ? "" : "; nearest: " + near));
    }
  }
  if (!has_shape) throw UserError(file + ": sub_layer with m, n and k is missing");
  for (const auto& [key, value] :
       {std::pair("m", workload.m), std::pair("n", workload.n), std::pair("k", workload.k)}) {
    if (value == 0) throw UserError(where(file, node["sub_layer"]) + ": sub_layer needs " + key);
  }
  if (workload.modes.empty()) throw UserError(file + ": modes is missing");
  return workload;
}

}  // namespace stretto
