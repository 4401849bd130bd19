// SPDX-License-Identifier: Apache-2.0
#include "platform/campaign/campaign.h"

#include <boost/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/base/exit_status.h"
#include "platform/base/installation.h"
#include "platform/campaign/job_pool.h"
#include "platform/config/machine.h"
#include "platform/config/options.h"
#include "platform/jobs/run_request.h"
#include "platform/jobs/workload.h"
#include "platform/results/result_file.h"

namespace stretto {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

std::string text_of(const json::value& root, const char* name) {
  const json::value* at = root.as_object().if_contains(name);
  return at != nullptr && at->is_string() ? std::string(at->get_string()) : "";
}

bool readable(const std::string& folder) {
  try {
    const json::value root = load_results(folder);
    const json::object& all = root.as_object();
    return all.contains("status") && all.contains("time_ns") && all.contains("dram_bytes");
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace

Campaign::Campaign(std::string name, const ReproduceOptions& options)
    : name_(std::move(name)), options_(options) {}

void Campaign::add(CampaignRun run) {
  run.key = checked_key(run);
  runs_.push_back(std::move(run));
}

void Campaign::lock() {
  if (options_.table_only && !fs::is_directory(options_.out))
    throw UserError("--table-only: " + options_.out +
                    ": no such folder; results are there after 'stretto reproduce " + name_ + "'");
  folder_ = std::make_unique<OutputFolder>(options_.out);
}

// What must be equal for a result to be taken from a folder: the machine in all its parameters, the
// workload, and the executable and programs that ran. How many threads do it changes no result.
std::string Campaign::checked_key(const CampaignRun& run) const {
  RunOptions options;
  options.workload = run.workload;
  options.mode = run.mode;
  options.machine = run.machine;
  options.sets = run.sets;
  options.sets.insert(options.sets.end(), options_.sets.begin(), options_.sets.end());
  Machine machine;
  const RunRequest request = prepare_request(options, machine);
  std::string of_kind;
  for (const std::string& set : options.sets)
    if (request.workload.owns(set)) of_kind += set + "\n";
  std::string text = "workload " + run.workload + "\nmode " + run.mode + "\n" + of_kind;
  for (const auto& [key, size] : request.workload.kind->shape())
    text += key + " " + std::to_string(size) + "\n";
  text += "impl " + options_.impl + "\n";
  for (const Parameter& parameter : machine.parameters().all()) {
    if (parameter.path != "sim.threads") text += parameter.path + " " + parameter.get() + "\n";
  }
  std::vector<std::string> files = request.workload.kind->kernel_files(request.jobs[0]);
  files.insert(files.begin(), {"/proc/self/exe", software_folder() + "/firmware/main.elf"});
  for (const std::string& file : files)
    text += fs::path(file).filename().string() + " sha256 " + sum_of(file) + "\n";
  return text;
}

const std::string& Campaign::sum_of(const std::string& file) const {
  std::string& sum = sums_[file];
  if (sum.empty()) {
    const std::string contents = read_file(file);
    sum = sha256_hex(contents.data(), contents.size());
  }
  return sum;
}

std::vector<std::string> Campaign::arguments(const CampaignRun& run) const {
  std::vector<std::string> words{"run", run.workload, "--mode", run.mode, "--out", path(run)};
  if (!run.machine.empty()) words.insert(words.end(), {"--machine", run.machine});
  for (const std::string& set : run.sets) words.insert(words.end(), {"--set", set});
  // With several simulations at a time each keeps to one thread.
  if (options_.jobs > 1) words.insert(words.end(), {"--set", "sim.threads=1"});
  if (!options_.impl.empty()) words.insert(words.end(), {"--impl", options_.impl});
  for (const std::string& set : options_.sets) words.insert(words.end(), {"--set", set});
  return words;
}

bool Campaign::there(const CampaignRun& run) const {
  const std::string folder = path(run);
  return fs::exists(folder + "/stats.json") && fs::exists(folder + "/key") && readable(folder) &&
         text_of(load_results(folder), "status") == "complete";
}

bool Campaign::done(const CampaignRun& run) const {
  return there(run) && read_file(path(run) + "/key") == run.key;
}

void Campaign::tell() const {
  const char* const again = options_.table_only ? "left out" : "simulated again";
  std::vector<std::string> damaged;
  size_t stale = 0;
  for (const CampaignRun& run : runs_) {
    const std::string file = path(run) + "/stats.json";
    if (fs::exists(file) && !readable(path(run))) damaged.push_back(file);
    stale += there(run) && !done(run);
  }
  if (!damaged.empty()) {
    std::fprintf(stderr, "reproduce %s: %zu results are damaged, the first is %s: %s\n",
                 name_.c_str(), damaged.size(), damaged.front().c_str(), again);
  }
  if (stale != 0) {
    std::fprintf(stderr,
                 "reproduce %s: %zu results in %s are of another build, firmware, kernel, machine "
                 "or option: %s\n",
                 name_.c_str(), stale, options_.out.c_str(), again);
  }
}

int Campaign::simulate() {
  tell();
  if (options_.table_only) return kExitSuccess;
  std::vector<ChildProcess> jobs;
  std::error_code error;
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  for (const CampaignRun& run : runs_) {
    if (done(run)) continue;
    prepare_folder(path(run));
    fs::remove(path(run) + "/stats.json", error);
    write_atomically(path(run) + "/key", run.key);
    ChildProcess job;
    job.title = run.title;
    job.command = arguments(run);
    job.command.insert(job.command.begin(), self);
    job.log_file = path(run) + "/log";
    jobs.push_back(std::move(job));
  }
  std::fprintf(stderr, "reproduce %s: %zu of %zu simulations to run, %u at a time, results in %s\n",
               name_.c_str(), jobs.size(), runs_.size(), options_.jobs, options_.out.c_str());
  size_t finished = 0;
  int status = kExitSuccess;
  const int signal =
      run_jobs(jobs, options_.jobs, options_.time_limit_s, [&](const ChildProcess& job) {
        ++finished;
        const bool failed = job.exit_code != 0 && !job.interrupted;
        const char* how = failed ? "FAILED" : job.exit_code != 0 ? "interrupted" : "ok";
        std::fprintf(stderr, "[%zu/%zu] %s: %s (exit %d, %.1f s)%s%s\n", finished, jobs.size(),
                     job.title.c_str(), how, job.exit_code, job.seconds, failed ? "; see " : "",
                     failed ? job.log_file.c_str() : "");
        if (job.exit_code != 0 && status == kExitSuccess) status = job.exit_code;
      });
  if (signal == SIGALRM) {
    std::fprintf(stderr, "reproduce %s: time limit of %u s; this goes on from here: %s\n",
                 name_.c_str(), options_.time_limit_s, options_.command_line.c_str());
    return kExitTimeLimit;
  }
  if (signal != 0)
    throw Interrupted("interrupted; this goes on from here: " + options_.command_line, signal);
  return status;
}

std::optional<json::value> Campaign::result(const std::string& folder) const {
  for (const CampaignRun& run : runs_) {
    if (run.folder != folder) continue;
    if (!done(run)) return std::nullopt;
    json::value root = load_results(path(run));
    // A result that failed its own checks measures nothing.
    if (number_at(root, {"audit", "violations"}) != 0 ||
        number_at(root, {"check", "mismatches"}) != 0)
      return std::nullopt;
    return root;
  }
  return std::nullopt;
}

}  // namespace stretto
