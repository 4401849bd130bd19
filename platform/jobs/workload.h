// SPDX-License-Identifier: Apache-2.0
// A workload file: what runs (one of several kinds, or several jobs side by side), its modes and
// its default machine.
#ifndef STRETTO_PLATFORM_JOBS_WORKLOAD_H_
#define STRETTO_PLATFORM_JOBS_WORKLOAD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/config/machine.h"
#include "platform/jobs/workload_kind.h"

namespace stretto {

struct WorkloadJob;

struct Workload {
  std::string name;
  std::string description;
  std::string file;  // Empty: a program or a graph.
  std::string machine = "t3";
  std::vector<std::string> modes;
  std::string data = "stamp";
  std::map<std::string, std::string> parameters;  // Of the kind, as file and --set leave them.
  std::shared_ptr<const WorkloadKind> kind;       // Null: several jobs.
  std::vector<WorkloadJob> jobs;                  // Side by side; empty: one, of `kind`.

  bool has_mode(const std::string& mode) const;
  // "sequential, t3".
  std::string mode_list() const;
  // Whether `path=value` sets a key of the kind, or of that of a job: "collective.op=broadcast".
  bool owns(const std::string& set) const;
  // Applies the file's `set` to a machine. Throws UserError.
  void configure(Machine& machine) const;
};

// A job beside others: a workload of its own, but for its machine.
struct WorkloadJob {
  Workload workload;
  std::string mode;
  std::vector<uint32_t> gpus;  // Empty: all.
  std::string place;           // File and line.
  std::string name;            // Empty: it has none.
  bool is_on = true;           // --set jobs.NAME=false: it keeps its share and does not run.
};

// `name_or_file` of a shipped workload, a path that ends in .yaml, a program that ends in .so, or a graph.
// Of `sets`, path=value, those that the workload owns change keys of its kind. Throws UserError.
Workload load_workload(const std::string& name_or_file, const std::vector<std::string>& sets = {});
// Whether a name is that of an operator graph which the compiler makes a plan of: a file.onnx, or an application with its
// parameters, "nerf:rows=1024". As workload it needs the key graph.plan.
bool is_graph_name(const std::string& name);
// Whether a name or file is that of a workload, and not of a machine.
bool is_workload_name(const std::string& name);
inline constexpr const char* kGraphMachine = "a100";  // Theirs by default.
// Of all kinds: "collective.op".
std::vector<std::string> keys_of_kinds();

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_WORKLOAD_H_
