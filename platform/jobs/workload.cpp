// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/workload.h"

#include <algorithm>

#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/config/yaml_file.h"

namespace stretto {

namespace {

std::vector<std::string> modes_of(const std::string& file, const YAML::Node& key,
                                  const YAML::Node& list, const WorkloadKind& kind) {
  if (!list.IsSequence()) throw UserError(where(file, key) + ": modes must be a list");
  std::vector<std::string> modes;
  for (const auto& mode : list) {
    const std::string name = yaml_text(file, mode, "modes");
    const auto& all = kind.info().modes;
    if (std::none_of(all.begin(), all.end(), [&](const auto& one) { return one.first == name; }))
      throw UserError(where(file, mode) + ": unknown mode '" + name + "'");
    modes.push_back(name);
  }
  return modes;
}

}  // namespace

bool Workload::has_mode(const std::string& mode) const {
  return std::find(modes.begin(), modes.end(), mode) != modes.end();
}

void Workload::configure(Machine& machine) const {
  if (file.empty()) return;
  const YAML::Node node = load_yaml(file);
  if (const YAML::Node set = node["set"]; set) {
    if (!set.IsMap()) throw UserError(where(file, set) + ": set must be a map of parameters");
    assign_tree(machine.parameters(), file, set, "", "workload " + name);
  }
}

bool Workload::owns(const std::string& set) const {
  return kind != nullptr && set.rfind(kind->info().name + ".", 0) == 0;
}

namespace {

std::map<std::string, std::string> values_of(const ParameterSet& set) {
  std::map<std::string, std::string> values;
  for (const Parameter& one : set.all()) values[one.path] = one.get();
  return values;
}

// Changes keys of the kind by those of `sets` that the workload owns.
void apply_sets(const Workload& workload, ParameterSet& set, const std::vector<std::string>& sets) {
  for (const std::string& one : sets) {
    const size_t equal = one.find('=');
    if (!workload.owns(one) || equal == std::string::npos) continue;
    const size_t begin = workload.kind->info().name.size() + 1;
    set.assign(one.substr(begin, equal - begin), one.substr(equal + 1), "--set", "--set");
  }
}

// `stretto run FILE.so`.
Workload program_workload(const std::string& file, const std::vector<std::string>& sets) {
  const auto kinds = workload_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [](const auto& one) { return one->info().name == "program"; });
  const std::shared_ptr<WorkloadKind>& kind = *found;
  Workload workload;
  workload.name = file;
  workload.kind = kind;
  for (const auto& [mode, sentence] : kind->info().modes) workload.modes.push_back(mode);
  ParameterSet set;
  kind->describe(set);
  set.assign("file", file, "", "");
  apply_sets(workload, set, sets);
  workload.parameters = values_of(set);
  return workload;
}

}  // namespace

Workload load_workload(const std::string& name_or_file, const std::vector<std::string>& sets) {
  if (name_or_file.ends_with(".so")) return program_workload(name_or_file, sets);
  Workload workload;
  workload.name = name_or_file;
  workload.file = find_shipped("workloads", name_or_file);
  const std::string& file = workload.file;
  const YAML::Node node = load_yaml(file);
  std::vector<std::string> keys{"description", "machine", "data", "set", "modes"};
  std::string kinds;
  const auto all = workload_kinds();
  for (const auto& kind : all) {
    keys.push_back(kind->info().name);
    kinds.append(kinds.empty() ? "" : " or ").append(keys.back());
  }
  YAML::Node modes_key, modes;
  for (const auto& item : node) {
    const std::string key = item.first.Scalar();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& one) { return one->info().name == key; });
    if (key == "description") {
      workload.description = yaml_text(file, item.second, key);
    } else if (key == "machine") {
      workload.machine = beside(file, yaml_text(file, item.second, key));
    } else if (key == "data") {
      ParameterSet set;
      set.choice<std::string>("data", workload.data, {{"stamp", "stamp"}, {"real", "real"}}, "");
      set.assign("data", yaml_text(file, item.second, key), where(file, item.first), "");
    } else if (key == "set") {
      continue;  // configure().
    } else if (key == "modes") {
      modes_key.reset(item.first);
      modes.reset(item.second);
    } else if (found != all.end()) {
      const std::shared_ptr<WorkloadKind>& kind = *found;
      if (workload.kind != nullptr)
        throw UserError(where(file, item.first) + ": a workload is " + kinds + ", not several");
      if (!item.second.IsMap())
        throw UserError(where(file, item.first) + ": " + key + " must be a map");
      ParameterSet set;
      kind->describe(set);
      assign_tree(set, file, item.second, "", "");
      workload.kind = kind;
      const std::string error_in_file = kind->first_error();
      apply_sets(workload, set, sets);
      const std::string error = kind->first_error();
      if (!error.empty())
        throw UserError((error == error_in_file ? where(file, item.second) : "--set") + ": " + key +
                        " " + error);
      workload.parameters = values_of(set);
    } else {
      const std::string near = nearest_names(key, keys);
      throw UserError(where(file, item.first) + ": unknown key '" + key + "'" +
                      (near.empty() ? "" : "; nearest: " + near));
    }
  }
  if (workload.kind == nullptr) throw UserError(file + ": " + kinds + " is missing");
  if (!modes.IsDefined() || modes.IsNull()) throw UserError(file + ": modes is missing");
  workload.modes = modes_of(file, modes_key, modes, *workload.kind);
  if (workload.modes.empty()) throw UserError(file + ": modes is missing");
  return workload;
}

}  // namespace stretto
