// SPDX-License-Identifier: Apache-2.0
// What a run leaves behind: stats.json, stats.csv and machine.yaml (the resolved configuration) in
// one folder, each written atomically, also when the run was cut short; `status` tells.
#ifndef STRETTO_PLATFORM_RESULTS_RESULTS_H_
#define STRETTO_PLATFORM_RESULTS_RESULTS_H_

#include <boost/json/object.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/common/component.h"
#include "models/common/event_queue.h"
#include "platform/adapters/rtl_sources.h"
#include "platform/check/check.h"
#include "platform/config/options.h"
#include "platform/results/use_windows.h"

namespace stretto {

using TimeSpan = std::pair<Time, Time>;

// A phase of the run, as the job defines it. One that did not come has no spans.
struct PhaseTime {
  std::string name;
  std::vector<TimeSpan> spans;  // In rising order, apart from each other.
  Time time = 0;                // Their sum.
  // False: the run was cut short before its end. If it has begun, it lasts to the cut; results say
  // since when, not how long.
  bool known = true;
  bool is_under_way() const { return !known && !spans.empty(); }
};

// One of several jobs.
struct JobResults {
  std::string workload;
  std::string kind;
  std::string mode;
  std::vector<uint32_t> gpus;
  std::optional<Time> time;  // From the begin of the run to the end of its last program.
  std::map<std::string, uint64_t> shape;
  std::map<std::string, std::string> parameters;
  boost::json::object details;
  CheckReport check;
};

enum class RunStatus : uint8_t { complete, failed, interrupted, time_limit };
const char* to_string(RunStatus status);

struct Results {
  RunStatus status = RunStatus::complete;
  std::string message;  // One line, when not complete.
  int signal = 0;       // That interrupted it.
  std::string machine;
  std::string workload;
  std::string mode;
  std::string work;  // What of the workload the mode does; empty: all of it.
  std::string data;
  uint64_t seed = 0;
  uint32_t gpus = 0;
  std::string executor = "iss";  // gpu.executor: others do not compute what could be checked.
  std::map<std::string, uint64_t> shape;          // Of the workload: m, n, k of a sub-layer.
  std::map<std::string, std::string> parameters;  // Of the workload's kind.
  std::map<std::string, std::string> contents;    // Of files that they name, see Job.
  std::map<std::string, std::string> impl;
  std::map<std::string, RtlSources> rtl;  // Of the blocks that are no models.
  std::map<std::string, std::string> kernel_sha256;
  std::string firmware_sha256;
  Time total = 0;
  Time horizon = 0;  // Begin of the run to the time that statistics cover: the machine is quiet.
  std::vector<PhaseTime> phases;  // Of the job; they may overlap.
  Time write_back = 0;  // Of `total`, what passed in none of them while ended kernels' data left.
  Time no_phase = 0;    // The rest.
  // By account and direction, "sync_read", summed over all GPUs; those of the job first.
  std::vector<std::pair<std::string, uint64_t>> dram_bytes;

  UseOfSpan use;  // Of all simulated GPUs, while phases last that do not prepare.

  // All times that are known in the order of results: total, the phases, write_back, no_phase.
  std::vector<std::pair<std::string, Time>> times() const;
  uint64_t link_bytes = 0;
  uint64_t cp_instructions = 0;
  uint64_t cp_cycles = 0;
  std::map<std::string, uint64_t> tracker;  // updates, triggers, spills, max_live.
  std::map<std::string, uint64_t> mca;
  boost::json::object job;  // What the job says itself, see job.h.
  std::string table;
  std::vector<std::string> requests;  // Lines of requests.csv.
  std::vector<JobResults> jobs;       // Only if there are several.
  CheckReport check;
  std::vector<AuditResult> audit;
  std::string digest;
  std::vector<Statistic> statistics;
  double wall_s = 0;
  double cpu_s = 0;
  double peak_rss_mib = 0;

  uint64_t violations() const;
  // A complete run with wrong elements or violated laws has failed, and its message says why.
  void judge();
  // 0, 1, 124 or 128 + signal, from status, check and audit.
  int exit_code() const;
};

std::string to_json(const Results& results);
std::string to_csv(const Results& results);
// Each request that was served: job (from 0), client, request (from 0), arrival_ns, begin_ns, end_ns from the begin of
// the run. Empty if no job serves requests.
std::string requests_csv(const Results& results);
// stats.json first: it holds all, the others are for reading.
void write_results(const std::string& folder, const Results& results,
                   const std::string& resolved_machine);
// The one line that says why the exit status is not 0: status, first mismatch, first violation of
// each law.
std::string first_complaint(const Results& results);
// A short account for people: time by phase, traffic, checks.
std::string summary(const Results& results);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RESULTS_RESULTS_H_
