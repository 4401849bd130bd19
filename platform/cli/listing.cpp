// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/listing.h"

#include <fmt/format.h>

#include <cstdio>
#include <set>
#include <sstream>

#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/cli/cli.h"
#include "platform/cli/words.h"
#include "platform/config/machine.h"
#include "platform/config/options.h"
#include "platform/jobs/workload.h"
#include "platform/reproduce/reproduction.h"

namespace stretto {

namespace {

void list_machines() {
  for (const std::string& name : shipped("machines")) {
    Machine machine;
    machine.load(name);
    fmt::print("{:<16} {}\n", name, machine.description());
  }
}

void list_workloads() {
  for (const std::string& name : shipped("workloads")) {
    const Workload workload = load_workload(name);
    std::string work;
    for (const WorkloadJob& job : workload.jobs)
      work += fmt::format("{}{} {}", work.empty() ? "" : " beside ", job.workload.name, job.mode);
    if (workload.kind != nullptr) {
      work = workload.kind->info().name + ":";
      for (const auto& [key, size] : workload.kind->shape())
        work += fmt::format(" {} {}", key, size);
      work += "; data " + (workload.kind->info().data.empty() ? "own" : workload.data);
    }
    fmt::print("{:<20} {:<34} machine {}; {}\n", name, workload.description, workload.machine,
               work);
  }
  for (const auto& kind : workload_kinds()) {
    const KindInfo& info = kind->info();
    fmt::print("\n{0}: {1}\nmodes of {0}\n", info.name, info.sentence);
    for (const auto& [name, sentence] : info.modes) fmt::print("  {:<12} {}\n", name, sentence);
  }
}

void list_blocks() {
  for (const BlockInfo& block : kBlocks) {
    std::printf("%-16s one per %s: %s\n", block.name,
                block.place == BlockPlace::gpu ? "GPU" : "HBM channel", block.sentence);
  }
  std::printf(
      "\n--impl BLOCK=rtl (Verilated, default) | model (cycle-exact C++) | lockstep (both, "
      "compared each cycle)\n");
}

std::vector<std::string> parameter_names(const std::string&) {
  std::vector<std::string> names;
  const Machine machine;
  for (const Parameter& one : machine.parameters().all()) names.push_back(one.path);
  for (const std::string& key : keys_of_kinds()) names.push_back(key);
  return names;
}

bool is_in(const std::string& path, const std::string& group) {
  return group.empty() || path == group || path.starts_with(group + ".");
}

// Those of a group, "hbm" or "collective", or of all; how many.
size_t print_parameters(const ParameterSet& set, const std::string& group) {
  size_t count = 0;
  for (const Parameter& one : set.all()) {
    if (!is_in(one.path, group)) continue;
    ++count;
    fmt::print("{:<34} {:<8} default {:<12} {}{}\n{:<34} {}\n", one.path, one.type, one.fallback,
               one.range.empty() ? "" : "allowed ", one.range, "", one.sentence);
  }
  return count;
}

// Of machines, then of each kind of workload.
void list_group(const std::string& group) {
  size_t count = print_parameters(Machine().parameters(), group);
  for (const auto& kind : workload_kinds()) {
    ParameterSet set;
    set.group(kind->info().name, *kind);
    if (group.empty()) fmt::print("\n");
    count += print_parameters(set, group);
  }
  if (count != 0) return;
  std::set<std::string> groups;
  for (const std::string& path : parameter_names(""))
    if (const size_t dot = path.find('.'); dot != std::string::npos)
      groups.insert(path.substr(0, dot));
  throw UserError(
      fmt::format("list parameters {}: no such group; must be {}", group,
                  fmt::join(std::vector<std::string>(groups.begin(), groups.end()), ", ")));
}
void list_parameters() { list_group(""); }

void list_reproductions() {
  for (const Reproduction& one : reproductions()) fmt::print("{:<14} {}\n", one.name, one.sentence);
}

void list_modes() {
  for (const auto& kind : workload_kinds()) {
    for (const auto& [mode, sentence] : kind->info().modes)
      fmt::print("{:<14} {:<14} {}\n", kind->info().name, mode, sentence);
  }
}

std::vector<std::string> machine_names(const std::string&) { return shipped("machines"); }

std::vector<std::string> workload_names(const std::string&) { return shipped("workloads"); }

std::vector<std::string> reproduction_names(const std::string&) {
  std::vector<std::string> names;
  for (const Reproduction& one : reproductions()) names.push_back(one.name);
  return names;
}

// Of a workload, or all.
std::vector<std::string> mode_names(const std::string& workload) {
  if (!workload.empty()) return load_workload(workload).modes;
  std::set<std::string> names;
  for (const auto& kind : workload_kinds()) {
    for (const auto& [mode, sentence] : kind->info().modes) names.insert(mode);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> listed_blocks(const std::string&) { return block_names(); }

// That a parameter may have, if they are few.
std::vector<std::string> value_names(const std::string& path) {
  const auto values = [](const Parameter* one) -> std::vector<std::string> {
    if (one == nullptr || one->type == "integer" || one->type == "text") return {};
    if (one->type == "flag") return {"true", "false"};
    std::vector<std::string> names;
    std::istringstream stream(one->range);
    for (std::string name; std::getline(stream, name, '|');) names.push_back(name);
    return names;
  };
  for (const auto& kind : workload_kinds()) {
    ParameterSet set;
    set.group(kind->info().name, *kind);
    if (const Parameter* one = set.find(path); one != nullptr) return values(one);
  }
  return values(Machine().parameters().find(path));
}

struct Topic {
  const char* name;
  void (*print)();
  std::vector<std::string> (*names)(const std::string& of);
};

// clang-format off
constexpr Topic kTopics[] = {
    {"machines",      list_machines,      machine_names},
    {"workloads",     list_workloads,     workload_names},
    {"modes",         list_modes,         mode_names},
    {"reproductions", list_reproductions, reproduction_names},
    {"blocks",        list_blocks,        listed_blocks},
    {"parameters",    list_parameters,    parameter_names},
};
// clang-format on

void print_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) fmt::print("{}\n", name);
}

}  // namespace

const std::vector<std::string>& list_topics() {
  static const std::vector<std::string> topics = [] {
    std::vector<std::string> names;
    for (const Topic& topic : kTopics) names.emplace_back(topic.name);
    return names;
  }();
  return topics;
}

int list(const std::string& topic, const std::string& of, bool names) {
  if (names && topic == "values") {  // What only scripts ask for, as below.
    print_names(value_names(of));
    return 0;
  }
  if (!of.empty() && !names && topic == "parameters") {
    list_group(of);
    return 0;
  }
  if (!of.empty() && topic != "modes")
    throw UserError(fmt::format(
        "list {} {}: only modes are those of a workload, and parameters those of a group", topic,
        of));
  // What only scripts ask for.
  if (names && (topic == "commands" || topic == "topics")) {
    print_names(topic == "commands" ? command_names() : list_topics());
    return 0;
  }
  for (const Topic& one : kTopics) {
    if (topic != one.name) continue;
    if (names || !of.empty())
      print_names(one.names(of));
    else
      one.print();
    return 0;
  }
  throw UserError("list " + topic + ": must be " + joined(list_topics()));
}

}  // namespace stretto
