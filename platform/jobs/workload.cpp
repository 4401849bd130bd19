// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/config/yaml_file.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/queue.h"

namespace stretto {

namespace {

std::vector<std::string> modes_of(const std::string& file, const YAML::Node& key,
                                  const YAML::Node& list, const WorkloadKind& kind) {
  if (!list.IsSequence()) throw UserError(where(file, key) + ": modes must be a list");
  std::vector<std::string> modes;
  for (const auto& mode : list) {
    const std::string name = yaml_text(file, mode, "modes");
    const auto& all = kind.info().modes;
    if (std::none_of(all.begin(), all.end(), [&](const auto& one) { return one.first == name; })) {
      std::string allowed;
      for (const auto& one : all) allowed += (allowed.empty() ? "" : ", ") + one.first;
      throw UserError(where(file, mode) + ": unknown mode '" + name + "'; allowed: " + allowed);
    }
    if (std::find(modes.begin(), modes.end(), name) != modes.end())
      throw UserError(where(file, mode) + ": mode '" + name + "' is there twice");
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
    assign_tree(machine.parameters(), file, set, "workload " + name);
  }
}

std::string Workload::mode_list() const {
  std::string all;
  for (const std::string& mode : modes) all += (all.empty() ? "" : ", ") + mode;
  return all;
}

bool Workload::owns(const std::string& set) const {
  const auto owned_by = [&](const Workload& one) {
    return one.kind != nullptr && set.rfind(one.kind->info().name + ".", 0) == 0;
  };
  if (!jobs.empty() && set.rfind("jobs.", 0) == 0) return true;
  return owned_by(*this) || std::any_of(jobs.begin(), jobs.end(), [&](const WorkloadJob& job) {
           return owned_by(job.workload);
         });
}

std::vector<std::string> keys_of_kinds() {
  std::vector<std::string> keys;
  for (const auto& kind : workload_kinds()) {
    ParameterSet set;
    set.group(kind->info().name, *kind);
    for (const Parameter& one : set.all()) keys.push_back(one.path);
  }
  return keys;
}

namespace {

// By key, without the name of the kind.
std::map<std::string, std::string> values_of(const WorkloadKind& kind, const ParameterSet& set) {
  std::map<std::string, std::string> values;
  for (const Parameter& one : set.all())
    values[one.path.substr(kind.info().name.size() + 1)] = one.get();
  return values;
}

// path=value, and where it stands.
struct KeySet {
  std::string set;
  std::string place;
};

// Changes a key of the kind if the workload owns it.
void apply_set(const Workload& workload, ParameterSet& set, const KeySet& given) {
  if (!workload.owns(given.set)) return;
  const size_t equal = given.set.find('=');
  if (equal == std::string::npos) throw UserError(given.place + ": must be path.to.key=value");
  set.assign(given.set.substr(0, equal), given.set.substr(equal + 1), given.place, "");
}

// A workload without a file, of a kind and with what is given.
Workload bare_workload(const std::string& name, const std::string& kind_name,
                       const std::vector<KeySet>& given) {
  const auto kinds = workload_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const auto& one) { return one->info().name == kind_name; });
  const std::shared_ptr<WorkloadKind>& kind = *found;
  Workload workload;
  workload.name = name;
  workload.kind = kind;
  for (const auto& [mode, sentence] : kind->info().modes) workload.modes.push_back(mode);
  ParameterSet set;
  set.group(kind_name, *kind);
  for (const KeySet& one : given) apply_set(workload, set, one);
  workload.parameters = values_of(*kind, set);
  return workload;
}

// `stretto run FILE.so`.
Workload program_workload(const std::string& file, const std::vector<KeySet>& given) {
  std::vector<KeySet> all{{"program.file=" + file, ""}};
  all.insert(all.end(), given.begin(), given.end());
  return bare_workload(file, "program", all);
}

// `stretto run FILE.onnx`, `stretto run nerf:`.
Workload graph_workload(const std::string& name, const std::vector<KeySet>& given) {
  Workload workload = bare_workload(name, "graph", given);
  if (const std::string error = workload.kind->first_error(); !error.empty())
    throw UserError(
        fmt::format("{}: graph {}: 'stretto run' makes it (--dry-run prints it and the machine); "
                    "elsewhere give "
                    "--set graph.plan=DIR/plan/plan.graph of a run",
                    name, error));
  workload.machine = kGraphMachine;
  workload.modes = {"kitsune", "bsp", "vertical"};
  return workload;
}

void check_data(const WorkloadKind& kind, const std::string& place) {
  if (kind.info().data.empty())
    throw UserError(place + ": data does nothing: kind " + kind.info().name +
                    " has data of its own");
}

std::vector<uint32_t> gpus_of(const std::string& file, const YAML::Node& list) {
  std::vector<uint32_t> gpus;
  if (list.IsScalar() && list.Scalar() == "all") return gpus;
  if (!list.IsSequence() || list.size() == 0)
    throw UserError(where(file, list) + ": gpus must be all or a list of numbers");
  for (const auto& one : list) {
    ParameterSet set;
    set.number("gpus", gpus.emplace_back(), 0, STRETTO_MAX_GPUS - 1, "");
    set.assign("gpus", yaml_text(file, one, "gpus"), where(file, one), "");
    if (std::count(gpus.begin(), gpus.end(), gpus.back()) > 1)
      throw UserError(where(file, one) + ": GPU " + std::to_string(gpus.back()) +
                      " twice in a job");
  }
  return gpus;
}

// Keys of the kind of a job.
std::vector<KeySet> sets_of(const std::string& file, const YAML::Node& map,
                            const std::string& kind) {
  std::vector<KeySet> sets;
  if (!map.IsMap()) throw UserError(where(file, map) + ": set must be a map of keys of its kind");
  const Machine machine;
  for (const auto& item : map) {
    const std::string key = item.first.Scalar();
    if (machine.parameters().find(key) != nullptr || machine.parameters().is_group(key))
      throw UserError(where(file, item.first) + ": " + key +
                      " is a parameter of the machine, which all jobs share; put it in the file's "
                      "own set, beside jobs");
    sets.push_back({kind + "." + key + "=" + yaml_text(file, item.second, kind + "." + key),
                    where(file, item.first)});
  }
  return sets;
}

Workload load(const std::string& name_or_file, const std::vector<KeySet>& given);

WorkloadJob job_of(const std::string& file, const YAML::Node& node,
                   const std::vector<KeySet>& given) {
  static const std::vector<std::string> keys{"name", "workload", "mode", "gpus", "data", "set"};
  if (!node.IsMap()) throw UserError(where(file, node) + ": a job is a map with the key workload");
  for (const auto& item : node) {
    const std::string key = item.first.Scalar();
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw UserError(where(file, item.first) + ": unknown key '" + key +
                      "' of a job; allowed: name, workload, mode, gpus, data, set");
  }
  if (!node["workload"]) throw UserError(where(file, node) + ": a job needs workload");
  WorkloadJob job;
  job.place = where(file, node);
  const std::string name = beside(file, yaml_text(file, node["workload"], "workload"));
  // Before it is loaded: it may be the file that names it.
  if (is_graph_name(name))
    throw UserError(where(file, node["workload"]) + ": " + name + ": a graph runs alone");
  if (!name.ends_with(".so") && load_yaml(find_shipped("workloads", name))["jobs"])
    throw UserError(where(file, node["workload"]) + ": " + name + " has jobs itself");
  job.workload = load(name, {});
  std::vector<KeySet> all;
  if (const YAML::Node set = node["set"]; set)
    all = sets_of(file, set, job.workload.kind->info().name);
  all.insert(all.end(), given.begin(), given.end());
  job.workload = load(name, all);
  job.mode = node["mode"] ? yaml_text(file, node["mode"], "mode") : job.workload.modes.front();
  if (!job.workload.has_mode(job.mode)) {
    throw UserError(where(file, node["mode"]) + ": workload " + name + " has no mode " + job.mode +
                    "; it has " + job.workload.mode_list());
  }
  if (node["data"]) {
    check_data(*job.workload.kind, where(file, node["data"]));
    ParameterSet set;
    set.choice<std::string>("data", job.workload.data, {{"stamp", "stamp"}, {"real", "real"}}, "");
    set.assign("data", yaml_text(file, node["data"], "data"), where(file, node["data"]), "");
  }
  if (node["gpus"]) job.gpus = gpus_of(file, node["gpus"]);
  if (node["name"]) job.name = yaml_text(file, node["name"], "name");
  return job;
}

// --set jobs.NAME=false.
void turn_off(std::vector<WorkloadJob>& jobs, const std::vector<KeySet>& given) {
  ParameterSet set;
  for (WorkloadJob& job : jobs)
    if (!job.name.empty()) set.flag("jobs." + job.name, job.is_on, "Whether the job runs.");
  for (const KeySet& one : given) {
    const size_t equal = one.set.find('=');
    if (one.set.rfind("jobs.", 0) != 0) continue;
    if (equal == std::string::npos) throw UserError(one.place + ": must be jobs.NAME=true|false");
    set.assign(one.set.substr(0, equal), one.set.substr(equal + 1), one.place, "");
  }
  if (std::none_of(jobs.begin(), jobs.end(), [](const WorkloadJob& job) { return job.is_on; }))
    throw UserError(given.back().place + ": no job is left");
}

std::vector<WorkloadJob> jobs_of(const std::string& file, const YAML::Node& key,
                                 const YAML::Node& list, const std::vector<KeySet>& given) {
  if (!list.IsSequence() || list.size() < 2 || list.size() > STRETTO_MAX_JOBS)
    throw UserError(where(file, key) + ": jobs must be a list of 2 to " +
                    std::to_string(STRETTO_MAX_JOBS) + " jobs");
  std::vector<WorkloadJob> jobs;
  for (const auto& one : list) {
    WorkloadJob job = job_of(file, one, given);
    for (const WorkloadJob& other : jobs)
      if (!job.name.empty() && job.name == other.name)
        throw UserError(job.place + ": two jobs have the name " + job.name);
    jobs.push_back(std::move(job));
  }
  turn_off(jobs, given);
  return jobs;
}

Workload load(const std::string& name_or_file, const std::vector<KeySet>& given) {
  if (name_or_file.ends_with(".so")) return program_workload(name_or_file, given);
  if (is_graph_name(name_or_file)) return graph_workload(name_or_file, given);
  Workload workload;
  workload.name = name_or_file;
  workload.file = find_shipped("workloads", name_or_file);
  const std::string& file = workload.file;
  const YAML::Node node = load_yaml(file);
  std::vector<std::string> keys{"description", "machine", "data", "set", "modes", "jobs"};
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
      find_shipped("machines", workload.machine, where(file, item.second));
    } else if (key == "data") {
      ParameterSet set;
      set.choice<std::string>("data", workload.data, {{"stamp", "stamp"}, {"real", "real"}}, "");
      set.assign("data", yaml_text(file, item.second, key), where(file, item.first), "");
    } else if (key == "set") {
      continue;  // configure().
    } else if (key == "jobs") {
      workload.jobs = jobs_of(file, item.first, item.second, given);
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
      set.group(key, *kind);
      assign_tree(set, file, item.second, "", {}, key);
      kind->resolve(file);
      workload.kind = kind;
      std::string error = kind->first_error(), place = where(file, item.second);
      for (const KeySet& one : given) {
        const std::string before = error;
        apply_set(workload, set, one);
        error = kind->first_error();
        if (error != before) place = one.place;
      }
      if (!error.empty()) throw UserError(place + ": " + key + " " + error);
      workload.parameters = values_of(*kind, set);
    } else {
      const std::string near = nearest_names(key, keys);
      throw UserError(where(file, item.first) + ": unknown key '" + key + "'" +
                      (near.empty() ? "" : "; nearest: " + near));
    }
  }
  if (!workload.jobs.empty()) {
    if (workload.kind != nullptr || !modes.IsNull() || node["data"])
      throw UserError(file + ": beside jobs there is no other work, modes and data are theirs");
    workload.modes = {"shared"};
    return workload;
  }
  if (workload.kind == nullptr) throw UserError(file + ": " + kinds + " or jobs is missing");
  if (!modes.IsDefined() || modes.IsNull()) throw UserError(file + ": modes is missing");
  workload.modes = modes_of(file, modes_key, modes, *workload.kind);
  if (workload.modes.empty()) throw UserError(file + ": modes is missing");
  if (node["data"]) check_data(*workload.kind, where(file, node["data"]));
  return workload;
}

}  // namespace

bool is_graph_name(const std::string& name) {
  const size_t colon = name.find(':');
  const bool is_application =
      colon != std::string::npos && name.rfind('/', colon) == std::string::npos;
  return name.ends_with(".onnx") || (is_application && !name.ends_with(".yaml"));
}

bool is_workload_name(const std::string& name) {
  const std::vector<std::string> names = shipped("workloads");
  if (std::binary_search(names.begin(), names.end(), name) || is_graph_name(name) ||
      name.ends_with(".so"))
    return true;
  if (!name.ends_with(".yaml")) return false;
  const YAML::Node file = load_yaml(name);
  return file.IsMap() && (file["modes"] || file["jobs"]);
}

Workload load_workload(const std::string& name_or_file, const std::vector<std::string>& sets) {
  std::vector<KeySet> given;
  for (const std::string& one : sets) given.push_back({one, "--set " + one});
  return load(name_or_file, given);
}

}  // namespace stretto
