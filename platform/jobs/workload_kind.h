// SPDX-License-Identifier: Apache-2.0
// A kind of workload: what the key of a workload file that names it describes. One folder under
// kinds/ each, and a line in kinds/registry.cpp.
#ifndef STRETTO_PLATFORM_JOBS_WORKLOAD_KIND_H_
#define STRETTO_PLATFORM_JOBS_WORKLOAD_KIND_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/config/machine.h"
#include "platform/config/options.h"
#include "platform/jobs/job.h"

namespace stretto {

// What all workloads of a kind have in common.
struct KindInfo {
  std::string name;  // The key: "sub_layer".
  std::string sentence;
  uint32_t accounts = 0;  // Of its jobs: numbers from STRETTO_ACCOUNT_JOB on.
  std::vector<std::pair<std::string, std::string>> modes;  // With a sentence each.
  // What --data may ask for; empty: its data are its own, --data is not used.
  std::vector<DataMode> data = {};
  bool can_mirror = false;  // One GPU can stand for all, see Job::mirror().
  uint32_t min_gpus = 1;
  bool spans_servers =
      false;  // Its programs run on the host of each, see WorkloadKind::spans_servers().
  bool programs_arbiters = false;  // Its programs set the policy of the memory arbiters.
  // What a mode needs of the machine, path=value; --set may say otherwise.
  std::map<std::string, std::string> machine_of_mode = {};
};

inline constexpr const char* kTracker = "the Tracker";
inline constexpr const char* kRequestRing = "the request ring";
inline constexpr const char* kArbiter = "the memory arbiter";
inline constexpr const char* kPersist = "what is set aside of the L2";
inline constexpr const char* kNetworkInterface = "the network interface";  // Of a server.
inline constexpr const char* kSchedule = "the schedule of the command processor";

class WorkloadKind {
 public:
  virtual ~WorkloadKind() = default;
  virtual const KindInfo& info() const = 0;
  // Whether programs of the mode run on the host of each server, see Job::add_programs().
  virtual bool spans_servers(const std::string& /*mode*/) const { return info().spans_servers; }
  // Accounts of its jobs in the mode.
  virtual uint32_t accounts(const std::string& /*mode*/) const { return info().accounts; }
  // The keys of its map, declared as those of machines are; the fields are those of this object.
  virtual void describe(ParameterSet& set) = 0;
  // What is wrong with the values as they are, as in "needs m"; empty if nothing is.
  virtual std::string first_error() const = 0;
  // Files that a workload's `file` names are looked for beside it first.
  virtual void resolve(const std::string& /*file*/) {}
  // What `mode` does of the work, as "the GEMM"; empty: all of it. Times of different work are not
  // compared.
  virtual std::string work(const std::string& /*mode*/) const { return ""; }
  // Sizes for listings and stats.json.
  virtual std::map<std::string, uint64_t> shape() const = 0;

  // Throws UserError, with the limit, if the workload does not fit its share of the machine, or
  // naming the file if a kernel ELF that the mode needs would not load. Builds nothing. What info()
  // says has been checked.
  virtual void check(const JobRequest& request) const = 0;
  // What of each of its GPUs, or of their servers, no other job may have, in words: "the request
  // ring".
  virtual std::vector<std::string> claims(const JobRequest& request) const {
    (void)request;
    return {};
  }
  // Files of the kernels that the mode loads.
  virtual std::vector<std::string> kernel_files(const JobRequest& request) const = 0;
  // Shared objects that take calls of its host programs before libstretto_cudart.so does (run/preload.h).
  virtual std::vector<std::string> preloads() const { return {}; }
  // REQUIRES: check() has passed. `memories` by simulated rank; they, this and the request outlive
  // the job.
  virtual std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const = 0;
};

// Its keys below its name: "sub_layer.m", through ParameterSet::group().
inline void describe(WorkloadKind& kind, ParameterSet& set) { kind.describe(set); }

// All kinds there are, with default values.
std::vector<std::shared_ptr<WorkloadKind>> workload_kinds();

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_WORKLOAD_KIND_H_
