// SPDX-License-Identifier: Apache-2.0
#include "platform/run/run.h"

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>

#include <boost/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include "models/common/elf_image.h"
#include "models/common/error.h"
#include "platform/base/exit_status.h"
#include "platform/base/held_signals.h"
#include "platform/base/installation.h"
#include "platform/base/say.h"
#include "platform/base/stop_request.h"
#include "platform/machine/system.h"
#include "platform/results/results.h"
#include "platform/results/timeline.h"
#include "platform/run/checked_build.h"
#include "platform/run/dry_run.h"
#include "platform/run/monitor.h"
#include "platform/run/preload.h"
#include "platform/waves/waves.h"

namespace stretto {

namespace {

void measure_host(const Monitor& monitor, Results& results) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  results.wall_s = monitor.elapsed_s();
  results.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  results.peak_rss_mib = static_cast<double>(usage.ru_maxrss) / 1024;
}

namespace fs = std::filesystem;

// What is to be drawn, read and checked.
struct Drawn {
  TimeWindow timeline;
  WaveRequest waves;  // Without items: none.
};

Drawn check_drawn(const RunOptions& options, const MachineSpec& spec, const std::string& out) {
  Drawn drawn;
  if (options.timeline && out.empty()) throw UserError("--timeline needs --out DIR");
  if (!options.timeline_window.empty())
    drawn.timeline = parse_window("--timeline-window", options.timeline_window);
  if (options.waves.empty()) return drawn;
  drawn.waves = parse_waves(options.waves);
  std::map<std::string, unsigned> instances;
  for (const BlockInfo& block : kBlocks)
    instances[block.name] = block.place == BlockPlace::gpu ? 1 : spec.hbm.channels;
  check_waves(drawn.waves, spec.sim.mirror ? 1 : spec.gpus, instances, options.impl);
  if (out.empty()) throw UserError("--waves needs --out DIR");
  if (!rtl_is_traced()) (void)checked_build();
  return drawn;
}

// A dry run loads nothing into a machine; it finds what cannot be loaded.
void check_programs(const RunRequest& request) {
  (void)ElfImage::load(
      firmware_file(request.options.firmware, request.machine.spec().cp.private_memory));
  for (const JobRequest& job : request.jobs) {
    for (const std::string& file : job.kind->kernel_files(job)) {
      if (file.ends_with(".json"))  // A plan, read when the request was checked.
        continue;
      (void)ElfImage::load(file);
    }
  }
}

// The loader has one list a process.
std::vector<std::string> preloads_of(const RunRequest& request) {
  std::vector<std::string> libraries;
  for (const JobRequest& job : request.jobs) {
    const std::vector<std::string> own = job.kind->preloads();
    if (&job == &request.jobs.front()) libraries = own;
    if (own != libraries)
      throw UserError(job.subject() +
                      ": preload: all jobs of a run have the same libraries, those of " +
                      request.jobs.front().subject());
  }
  return libraries;
}

constexpr const char* kProfile = "/profile.json";
constexpr const char* kTimeline = "/timeline.json";
constexpr const char* kPart = ".part";  // Of the timeline's name until the run has ended.

// What the compiler reads of a run (compile.py --profile): what the job has measured, on which machine; of parameters
// those that are not its file's and can change a time.
void write_profile(const std::string& out, const Results& results, const Machine& machine) {
  const boost::json::value* const measured = results.job.if_contains("profile");
  if (measured == nullptr || results.exit_code() != kExitSuccess) return;
  boost::json::object profile = measured->as_object();
  profile["machine"] = machine.name();
  boost::json::array set;
  for (const Parameter& one : machine.parameters().all()) {
    const bool is_of_file = one.origin == "default" || one.origin.starts_with("machine ");
    if (is_of_file || one.path.starts_with("sim.") || one.path == "gpu.tile_values") continue;
    set.emplace_back(one.path + "=" + one.get());
  }
  profile["set"] = std::move(set);
  write_atomically(out + kProfile, boost::json::serialize(profile) + "\n");
}

// Empty, or why something could not be kept. What is small and tells most comes before what is
// large and asked for on top.
std::string write_all(const std::string& out, const Results& results, const Machine& machine,
                      Timeline* timeline) {
  if (out.empty()) return "";
  std::string wrong;
  const auto note = [&wrong](const char* what) {
    wrong += (wrong.empty() ? "" : "; ") + std::string(what);
  };
  const std::string part = out + kTimeline + kPart;
  try {
    for (const PhaseTime& phase : results.phases) {
      for (const auto& [begin, end] : phase.spans) {
        if (timeline != nullptr)
          timeline->page(0).span("phases/" + phase.name, phase.name, begin, end);
      }
    }
    if (timeline != nullptr) {
      timeline->close();
      if (timeline->left_out() != 0)
        say(out + kTimeline +
            " has reached sim.timeline_mib: " + std::to_string(timeline->left_out()) +
            " events are not in it; draw a --timeline-window");
      if (timeline->drawn() == 0) say(out + kTimeline + " is empty: nothing happened then");
    }
  } catch (const UserError& error) {
    note(error.what());
    unlink(part.c_str());
  }
  const auto write = [&] {
    try {
      write_results(out, results, machine.resolved());
    } catch (const DiskFullError& error) {
      bool room = unlink(part.c_str()) == 0;
      for (const char* file : {"/waves.fst", "/waves.fst.hier"})
        room = unlink((out + file).c_str()) == 0 || room;
      if (!room) throw;
      note("the disk is full: timeline and waves were removed for stats.json");
      write_results(out, results, machine.resolved());
    }
  };
  try {
    write();
    write_profile(out, results, machine);
  } catch (const UserError& error) {
    note(error.what());
  }
  if (timeline != nullptr) std::rename(part.c_str(), (out + kTimeline).c_str());
  return wrong;
}

}  // namespace

const std::vector<std::string>& result_files() {
  static const std::vector<std::string> files{
      "stats.json",     "stats.csv",     "machine.yaml",       "plan",
      "profile.json",   "timeline.json", "timeline.json.part", "waves.fst",
      "waves.fst.hier", "bodies.txt",    "requests.csv"};
  return files;
}

fs::path folder_of(const fs::path& name) {
  const std::string suffix = name.extension();
  if (suffix != ".yaml" && suffix != ".so" && suffix != ".onnx") return name;
  constexpr const char* kOutside = "outside";  // Of the working directory: with its whole path.
  const fs::path whole = fs::absolute(name).lexically_normal();
  const fs::path inside = whole.lexically_relative(fs::current_path());
  return *inside.begin() == ".." || *inside.begin() == kOutside ? kOutside / whole.relative_path()
                                                                : inside;
}

std::string default_out_folder(const RunOptions& options) {
  if (!options.out.empty() || options.workload.empty()) return options.out;
  std::string mode = options.mode;
  if (!options.machine.empty()) mode.append("@").append(folder_of(options.machine));
  return ("results" / folder_of(options.workload) / mode).string();
}

int run(const RunOptions& given, std::unique_ptr<RunFolder> folder) {
  RunOptions options = given;
  Machine machine;
  const RunRequest request = prepare_request(options, machine);
  preload(preloads_of(request), options.command_line);
  const std::string out = default_out_folder(options);
  const Drawn drawn = check_drawn(options, machine.spec(), out);
  if (options.dry_run) {
    check_programs(request);
    std::cout << resolved_text(request);
    return kExitSuccess;
  }
  if (!drawn.waves.items.empty() && !rtl_is_traced()) become_checked_build(options.command_line);
  const HeldSignals held;  // Until the monitor handles them: earlier results are set aside below.
  const std::unique_ptr<RunFolder> results_folder =
      out.empty() || folder ? std::move(folder) : std::make_unique<RunFolder>(out);
  if (results_folder) results_folder->set_earlier_aside();
  std::unique_ptr<Timeline> timeline;
  if (options.timeline) {
    TimelineSpec spec{out + kTimeline + kPart, uint64_t{machine.spec().sim.timeline_mib} << 20};
    spec.from = drawn.timeline.from;
    spec.to = drawn.timeline.to;
    timeline = std::make_unique<Timeline>(spec, System::timeline_pages(machine.spec()));
  }

  std::unique_ptr<Waves> waves;
  if (!drawn.waves.items.empty()) {
    const MachineSpec& spec = machine.spec();
    const Time lookahead = std::max(spec.link.latency_ns, spec.pcie.latency_ns) * kNanosecond;
    waves = make_waves(
        {drawn.waves, out + "/waves.fst", uint64_t{options.waves_limit_mib} << 20, lookahead});
  }

  System system(request, timeline.get(), waves.get());
  const std::string title =
      request.has_workload ? request.workload.name + " " + options.mode : options.firmware;
  Monitor monitor(
      "monitor", {options.time_limit_s, options.progress, title},
      [&] { return std::to_string(system.work_groups_retired()) + " work-groups"; },
      [&] { return system.done_share(); });
  HeldSignals::release();
  system.conductor().watch_stop(stop_request.requested);
  if (waves) {
    waves->advance(0);
    monitor.also([&](Time now) { waves->advance(now); });
  }

  Results results;
  try {
    const Conductor::Outcome outcome = system.conductor().run();
    monitor.finish();
    if (outcome == Conductor::Outcome::stopped) {
      if (stop_request.cause == StopRequest::Cause::program)
        throw CheckError(stop_request.text.data());
      const bool late = stop_request.cause == StopRequest::Cause::time_limit;
      results.status = late ? RunStatus::time_limit : RunStatus::interrupted;
      results.message = system.progress_text();
      results.signal = stop_request.signal;
    } else if (request.has_workload && !system.firmware_end().empty()) {
      throw CheckError(system.firmware_end());
    } else if (request.has_workload && !system.is_sampled()) {
      results.check = system.check();
      if (results.check.elements == 0) throw CheckError("no element was checked");
    }
  } catch (const CheckError& error) {
    monitor.finish();
    results.status = RunStatus::failed;
    results.message = error.what();
    // What the program waits for before what the machine does.
    results.message.insert(std::min(results.message.find('\n'), results.message.size()),
                           system.waiting_text());
  }
  if (waves) waves->close(sc_core::sc_time_stamp().value());
  system.collect(results);
  const uint64_t tohost = request.has_workload ? 0 : system.tohost_failure();
  if (tohost != 0 && results.status == RunStatus::complete) {
    results.status = RunStatus::failed;
    results.message = "the program wrote " + std::to_string(tohost) + " to tohost: test " +
                      std::to_string(tohost >> 1) + " failed";
  }
  results.judge();
  measure_host(monitor, results);
  if (const auto bodies = system.measured_bodies();
      bodies && !out.empty() && results.status == RunStatus::complete)
    write_atomically(out + "/bodies.txt", bodies->text());
  const std::string unwritten = write_all(out, results, machine, timeline.get());
  if (results_folder && (unwritten.empty() || fs::exists(out + "/stats.json")))
    results_folder->keep();

  if (request.has_workload) {
    std::cout << summary(results);
    if (!out.empty() && unwritten.empty()) std::cout << "  results     " << out << "\n";
    if (waves) std::cout << "  waves       " << waves->summary() << "\n";
  } else if (!results.message.empty()) {
    say(std::string(to_string(results.status)) + ": " + results.message);
  }
  if (request.has_workload && results.exit_code() != kExitSuccess) {
    std::cout.flush();
    say(first_complaint(results));
  }
  if (unwritten.empty()) return results.exit_code();
  std::cout.flush();
  say(unwritten);
  return results.exit_code() == kExitSuccess ? kExitUsage : results.exit_code();
}

}  // namespace stretto
