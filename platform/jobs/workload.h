// SPDX-License-Identifier: Apache-2.0
// A workload file: what runs (one of several kinds), its modes and its default machine.
#ifndef STRETTO_PLATFORM_JOBS_WORKLOAD_H_
#define STRETTO_PLATFORM_JOBS_WORKLOAD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/config/machine.h"
#include "platform/jobs/job.h"

namespace stretto {

struct RunRequest;

// What the key of a workload file that names the kind describes; parameters are declared as those
// of machines are.
class WorkloadKind {
 public:
  virtual ~WorkloadKind() = default;
  // The keys of its map; the fields are those of this object.
  virtual void describe(ParameterSet& set) = 0;
  // What is wrong with the values as they are, as in "needs m"; empty if nothing is.
  virtual std::string wrong() const = 0;
  // Modes of this kind, with a sentence each. A file lists those it allows.
  virtual const std::vector<std::pair<std::string, std::string>>& modes() const = 0;
  // Sizes for listings and stats.json.
  virtual std::map<std::string, uint64_t> shape() const = 0;

  // Throws UserError, with the limit, if the workload does not fit the machine or cannot be
  // mirrored, or naming the file if a kernel ELF that the mode needs would not load. Builds nothing.
  virtual void check(const RunRequest& request) const = 0;
  // Files of the kernels that the mode loads.
  virtual std::vector<std::string> kernel_files(const RunRequest& request) const = 0;
  // REQUIRES: check() has passed. `memories` by simulated GPU; they and the request outlive the job.
  virtual std::unique_ptr<Job> make_job(const RunRequest& request,
                                        std::vector<MemoryImage*> memories) const = 0;
};

struct Workload {
  std::string name;
  std::string description;
  std::string file;  // Empty: `stretto run PROGRAM.so`.
  std::string machine = "t3";
  std::vector<std::string> modes;
  std::string data = "stamp";
  std::string kind;                               // "sub_layer", ...
  std::map<std::string, std::string> parameters;  // Of the kind, as file and --set leave them.
  std::shared_ptr<const WorkloadKind> what;

  bool has_mode(const std::string& mode) const;
  // Whether `path=value` sets a key of the kind: "collective.op=broadcast".
  bool owns(const std::string& set) const;
  // Applies the file's `set` to a machine. Throws UserError.
  void configure(Machine& machine) const;
};

// `name_or_file` of a shipped workload, a path that ends in .yaml, or a program that ends in .so. Of `sets`, path=value, those that
// the workload owns change keys of its kind. Throws UserError.
Workload load_workload(const std::string& name_or_file, const std::vector<std::string>& sets = {});

// All kinds there are: the key and one with default values.
std::vector<std::pair<std::string, std::shared_ptr<WorkloadKind>>> workload_kinds();

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_WORKLOAD_H_
