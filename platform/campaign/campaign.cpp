// SPDX-License-Identifier: Apache-2.0
#include "platform/campaign/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
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

namespace stretto {

namespace fs = std::filesystem;

std::string plain_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '/' || c == ' ' || c == ':' || c == ','; },
      '_');
  return text;
}

namespace {

// Not what is too long for a name, either.
bool is_file(const std::string& name) {
  std::error_code ignored;
  return fs::is_regular_file(name, ignored);
}

// A workload's name; of a file without its folder, which may be moved with its results.
std::string name_of(const std::string& workload) {
  return is_file(workload) ? fs::path(workload).filename().string() : workload;
}

}  // namespace

const std::string& Campaign::add(CampaignRun run) {
  std::string key = checked_key(run);
  simulations_.push_back({.run = std::move(run), .key = std::move(key)});
  return simulations_.back().key;
}

void Campaign::lock() {
  if (options_.table_only && !fs::is_directory(options_.out))
    throw UserError(fmt::format("--table-only: {}: no such folder; 'stretto {}' makes results",
                                options_.out, options_.command));
  folder_ = std::make_unique<OutputFolder>(options_.out);
  for (const Simulation& one : simulations_) {
    if (const std::string folder = path(one.run); fs::exists(folder) && !fs::is_directory(folder))
      throw UserError(folder + ": is in the way of a result, and no folder");
  }
}

// What must be equal for a result to be taken from a folder: the machine in all its parameters, the
// workload as it was read, and the executable and programs that ran. How many threads do it changes
// no result.
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
  std::string text = "workload " + name_of(run.workload) + "\nmode " + run.mode + "\n" + of_kind;
  for (const JobRequest& job : request.jobs) {
    text +=
        fmt::format("job {} {} mode {} data {} seed {} on {} gpus {}\n", job.kind->info().name,
                    name_of(job.workload), job.mode, job.data == DataMode::real ? "real" : "stamp",
                    job.seed, job.share.is_on, fmt::join(job.share.gpus, ","));
    for (const auto& [key, size] : job.kind->shape())
      text += key + " " + std::to_string(size) + "\n";
    // Where a file or a result is does not matter, but what it holds.
    for (const auto& [key, value] : job.parameters) {
      const std::string file = is_file(value) ? value : value + "/stats.json";
      text += key + " " + (is_file(file) ? sum_of(file) : value) + "\n";
    }
  }
  text += "impl " + options_.impl + "\n";
  for (const Parameter& parameter : machine.parameters().all()) {
    if (parameter.path != "sim.threads") text += parameter.path + " " + parameter.get() + "\n";
  }
  std::vector<std::string> files{"/proc/self/exe",
                                 firmware_file("", machine.spec().cp.private_memory)};
  for (const JobRequest& job : request.jobs) {
    for (std::string& file : job.kind->kernel_files(job)) files.push_back(std::move(file));
  }
  if (machine.spec().gpu.executor == Executor::sampled)
    files.push_back(machine.spec().sampled.bodies);
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
  // With several simulations at a time each keeps to one thread, if it does not vary them.
  if (options_.jobs > 1) words.insert(words.end(), {"--set", "sim.threads=1"});
  for (const std::string& set : run.sets) words.insert(words.end(), {"--set", set});
  if (!options_.impl.empty()) words.insert(words.end(), {"--impl", options_.impl});
  for (const std::string& set : options_.sets) words.insert(words.end(), {"--set", set});
  return words;
}

void Campaign::inspect(Simulation& simulation) const {
  const std::string folder = path(simulation.run);
  simulation.state = State::missing;
  simulation.result.reset();
  if (!fs::exists(folder + "/stats.json")) return;
  try {
    simulation.result.emplace(folder);
  } catch (const UserError& error) {
    simulation.state = State::damaged;
    simulation.why = error.what();
    return;
  }
  // stats.csv is written last: without it the disk was full.
  if (simulation.result->status != "complete" || !fs::exists(folder + "/key") ||
      !fs::exists(folder + "/stats.csv"))
    return;
  if (read_file(folder + "/key") != simulation.key) {
    simulation.state = State::stale;
    return;
  }
  const ResultFile& result = *simulation.result;
  simulation.why = result.why_unusable();
  const std::string& workload = simulation.run.workload;
  const bool is_of_it = is_file(workload)
                            ? fs::path(result.workload).filename() == name_of(workload)
                            : result.workload == workload;
  if (simulation.why.empty() && (!is_of_it || result.mode != simulation.run.mode))
    simulation.why = fmt::format("it is of {}, mode {}", result.workload, result.mode);
  simulation.state = simulation.why.empty() ? State::usable : State::rejected;
}

void Campaign::print_plan() const {
  const char* const again = options_.table_only ? "left out" : "simulated again";
  std::map<State, unsigned> count;
  std::map<State, const Simulation*> first;
  for (const Simulation& one : simulations_) {
    ++count[one.state];
    first.emplace(one.state, &one);
  }
  if (const unsigned damaged = count[State::damaged]; damaged != 0) {
    const Simulation& one = *first[State::damaged];
    fmt::print(stderr, "{}: {} results are damaged, the first is {}/stats.json: {} ({})\n",
               options_.command, damaged, path(one.run), again, one.why);
  }
  if (const unsigned stale = count[State::stale]; stale != 0) {
    fmt::print(stderr,
               "{}: {} results in {} are of another build, firmware, kernel, machine or "
               "option: {}\n",
               options_.command, stale, options_.out, again);
  }
  if (const unsigned rejected = count[State::rejected]; rejected != 0) {
    const Simulation& one = *first[State::rejected];
    fmt::print(stderr, "{}: {} results failed their checks, the first is {}: {}: left out\n",
               options_.command, rejected, path(one.run), one.why);
  }
}

int Campaign::simulate() {
  for (Simulation& one : simulations_) inspect(one);
  print_plan();
  if (options_.table_only) return kExitSuccess;
  std::vector<ChildProcess> jobs;
  std::vector<Simulation*> of_job;
  std::error_code error;
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  for (Simulation& one : simulations_) {
    if (one.state == State::usable || one.state == State::rejected) continue;
    ChildProcess job;
    // A result of another build is kept until its successor begins: with that build it is usable.
    job.prepare = [folder = path(one.run), key = one.key] {
      std::error_code absent;
      prepare_folder(folder);
      fs::remove(folder + "/stats.json", absent);
      write_atomically(folder + "/key", key);
    };
    job.title = one.run.title;
    job.command = arguments(one.run);
    job.command.insert(job.command.begin(), self);
    job.log_file = path(one.run) + "/log";
    jobs.push_back(std::move(job));
    of_job.push_back(&one);
  }
  fmt::print(stderr, "{}: {} of {} simulations to run, {} at a time, results in {}\n",
             options_.command, jobs.size(), simulations_.size(), options_.jobs, options_.out);
  size_t finished = 0;
  int status = kExitSuccess;
  const int signal =
      run_jobs(jobs, options_.jobs, options_.time_limit_s, [&](const ChildProcess& job) {
        ++finished;
        const bool failed = job.exit_code != 0 && !job.interrupted;
        const char* how = failed ? "FAILED" : job.exit_code != 0 ? "interrupted" : "ok";
        fmt::print(stderr, "[{}/{}] {}: {} (exit {}, {:.1f} s){}{}\n", finished, jobs.size(),
                   job.title, how, job.exit_code, job.seconds, failed ? "; see " : "",
                   failed ? job.log_file : "");
        // Of a child that a signal has ended, not of this process.
        const int own = job.exit_code > kExitSignal ? kExitCheckFailed : job.exit_code;
        if (own != kExitSuccess && status == kExitSuccess) status = own;
      });
  for (Simulation* one : of_job) inspect(*one);
  if (signal == SIGALRM) {
    fmt::print(stderr, "{}: time limit of {} s; this goes on from here: {}\n", options_.command,
               options_.time_limit_s, options_.command_line);
    return kExitTimeLimit;
  }
  if (signal != 0)
    throw Interrupted("interrupted; this goes on from here: " + options_.command_line, signal);
  return status;
}

const ResultFile* Campaign::result(const std::string& folder) const {
  for (const Simulation& one : simulations_) {
    if (one.run.folder == folder) return one.state == State::usable ? &*one.result : nullptr;
  }
  return nullptr;
}

std::string Campaign::missing_results() const {
  const auto missing =
      std::count_if(simulations_.begin(), simulations_.end(),
                    [](const Simulation& one) { return one.state != State::usable; });
  return missing == 0
             ? ""
             : fmt::format("{} of {} simulations have no result", missing, simulations_.size());
}

}  // namespace stretto
