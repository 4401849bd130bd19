// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce kitsune`: plans of the applications, made by the compiler, and simulations of
// them as kernels and as pipelines; queues alone. What the compiler or the platform refuses is in
// the table with its reason.
#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/base/atomic_file.h"
#include "platform/base/exit_status.h"
#include "platform/base/installation.h"
#include "platform/campaign/campaign.h"
#include "platform/campaign/job_pool.h"
#include "platform/campaign/plot.h"
#include "platform/check/check.h"
#include "platform/config/machine.h"
#include "platform/config/peaks.h"
#include "platform/jobs/run_request.h"
#include "platform/reproduce/kitsune/kitsune_targets.h"
#include "platform/reproduce/reproduction.h"
#include "platform/results/csv.h"

namespace stretto {

namespace json = boost::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kFigures = "2, 3, 5, 10, 11, 13, 14";
constexpr const char* kPython = "/usr/bin/python3";  // Of the system, which has onnx.
constexpr const char* kQueueWorkload = "kitsune/queue";
constexpr const char* kAtomicsWorkload = "machine/l2";

std::string width_name(unsigned width) { return fmt::format("mlp-width{}", width); }

// A run of compile.py.
struct PlanStep {
  std::string name;   // plan_name().
  std::string graph;  // As compile.py takes it.
  std::string mode;
  std::string machine;
  bool is_trained = false;
  std::vector<std::string> profiles = {};  // What earlier runs have measured; none: estimates.
};

class KitsuneCampaign {
 public:
  KitsuneCampaign(const ReproduceOptions& options, const std::string& apps)
      : options_(options),
        campaign_(options_),
        targets_(targets_of_figure("kitsune", kitsune_ids(), options.figure, kFigures)) {
    for (const Target& target : targets_)
      for (const KitsuneSource source : kitsune_sources(target.id)) needed_.insert(source);
    choose_apps(apps);
    for (const char* machine : {kKitsuneMachine, kTwiceMachine}) {
      RunOptions of_machine;
      of_machine.workload = kQueueWorkload;
      of_machine.machine = machine;
      of_machine.sets = options.sets;
      Machine described;
      prepare_request(of_machine, described);
      const Peaks peaks = peaks_of(described.spec());
      results_.peaks[machine] = {peaks.hbm_gb_s, peaks.tensor_fp16_tflop_s};
    }
  }

  int run() {
    campaign_.lock();
    int status = make_plans(plan_steps());
    if (status != kExitSuccess) return status;
    add_simulations();
    status = simulate();
    if (status == kExitSuccess && add_second_pass(status)) status = simulate();
    load();
    write_targets({.name = options_.name,
                   .columns = {"stretto"},
                   .targets = targets_,
                   .measure =
                       [this](const std::string& id, const std::string&) {
                         for (const Target& target : targets_)
                           if (target.id == id) return measure_kitsune(target, results_);
                         return Measured{};
                       },
                   .out = options_.out,
                   .partial = partial()});
    print_refusals();
    write_lists();
    fmt::print("written into {}: table.csv, table.json{}\n", options_.out, written_);
    return status;
  }

 private:
  // For what comes next.
  void limit_time() {
    using std::chrono::duration_cast, std::chrono::seconds;
    const auto spent = duration_cast<seconds>(std::chrono::steady_clock::now() - begin_).count();
    if (limit_s_ != 0)
      options_.time_limit_s =
          static_cast<unsigned>(std::max<long>(1, static_cast<long>(limit_s_) - spent));
  }
  int simulate() {
    limit_time();
    return campaign_.simulate();
  }

  bool needs(KitsuneSource source) const { return needed_.count(source) != 0; }
  bool needs_plans(bool is_trained) const {
    return is_trained ? needs(KitsuneSource::training_plans) || needs_runs(true)
                      : needs(KitsuneSource::inference_plans) || needs_runs(false);
  }
  bool needs_runs(bool is_trained) const {
    return needs(is_trained ? KitsuneSource::training : KitsuneSource::inference) ||
           needs_twice(is_trained) || needs_vertical(is_trained);
  }
  bool needs_vertical(bool is_trained) const {
    return needs(is_trained ? KitsuneSource::training_vertical : KitsuneSource::inference_vertical);
  }
  bool needs_twice(bool is_trained) const {
    return needs(is_trained ? KitsuneSource::training_twice : KitsuneSource::inference_twice);
  }

  void choose_apps(const std::string& text) {
    std::vector<std::string> names;
    for (const KitsuneApp& app : kitsune_apps()) names.emplace_back(app.name);
    std::set<std::string> wanted;
    for (size_t at = 0; !text.empty() && at <= text.size();) {
      const size_t end = std::min(text.find(',', at), text.size());
      const std::string one = text.substr(at, end - at);
      if (std::find(names.begin(), names.end(), one) == names.end())
        throw UserError(fmt::format("--apps {}: no application is called '{}'; allowed: {}", text,
                                    one, fmt::join(names, ", ")));
      wanted.insert(one);
      at = end + 1;
    }
    for (const KitsuneApp& app : kitsune_apps())
      if (wanted.empty() || wanted.count(app.name) != 0) apps_.push_back(app);
  }
  bool has_app(const std::string& name) const {
    return std::any_of(apps_.begin(), apps_.end(),
                       [&](const KitsuneApp& app) { return app.name == name; });
  }

  // Plans.

  std::vector<PlanStep> plan_steps() const {
    std::vector<PlanStep> all;
    const auto add = [&](const std::string& name, const std::string& graph, const char* mode,
                         const char* machine, bool is_trained = false) {
      all.push_back({plan_name(name, mode, machine), graph, mode, machine, is_trained});
    };
    for (const KitsuneApp& app : apps_) {
      if (!needs_plans(app.is_trained)) continue;
      for (const char* mode : {kBsp, kVertical, kKitsune})
        add(app.name, app.graph, mode, kKitsuneMachine, app.is_trained);
      if (needs_twice(app.is_trained))
        add(app.name, app.graph, kKitsune, kTwiceMachine, app.is_trained);
    }
    for (const unsigned rows : kSweepRows) {
      if (!needs(KitsuneSource::sweep) || !has_app("dlrm")) break;
      for (const char* mode : {kBsp, kKitsune})
        add(sweep_name(rows), fmt::format("dlrm:batch={}", rows), mode, kKitsuneMachine);
    }
    for (const unsigned width : kWidths) {
      if (!needs(KitsuneSource::widths) || apps_.size() != kitsune_apps().size()) break;
      add(width_name(width), fmt::format("nerf:rows=1024,width={}", width), kVertical,
          kKitsuneMachine);
    }
    return all;
  }

  std::string path(const std::string& name) const { return options_.out + "/" + name; }

  // What must be equal for a plan to be taken again.
  std::string plan_key(const PlanStep& step) {
    if (sources_.empty()) {
      std::vector<fs::path> files;
      for (const std::string& folder : {compiler_folder(), share_folder() + "/machines"})
        for (const auto& entry : fs::recursive_directory_iterator(folder))
          if (entry.path().extension() == ".py" || entry.path().extension() == ".yaml")
            files.push_back(entry.path());
      std::sort(files.begin(), files.end());
      std::string all;
      for (const fs::path& file : files) all += read_file(file.string());
      sources_ = sha256_hex(all.data(), all.size());
    }
    std::string profile;
    for (const std::string& file : step.profiles) profile += read_file(file);
    return fmt::format(
        "graph {}\nmode {}\nmachine {}\ntraining {}\nset {}\nsources sha256 {}\nprofile sha256 "
        "{}\n",
        step.graph, step.mode, step.machine, step.is_trained, fmt::join(options_.sets, " "),
        sources_, sha256_hex(profile.data(), profile.size()));
  }

  int make_plans(const std::vector<PlanStep>& steps) {
    if (!options_.table_only) {
      if (!fs::is_regular_file(compiler_folder() + "/compile.py"))
        throw UserError(
            fmt::format("{}: no such file; it makes the plans", compiler_folder() + "/compile.py"));
      setenv("STRETTO_SHARE", share_folder().c_str(), 1);  // Where the compiler finds machines.
      if (const int status = compile(steps); status != kExitSuccess) return status;
    }
    for (const PlanStep& step : steps) take_plan(step);
    return kExitSuccess;
  }

  int compile(const std::vector<PlanStep>& steps) {
    std::vector<ChildProcess> jobs;
    std::vector<const PlanStep*> of_job;
    prepare_folder(path("plans"));
    for (const PlanStep& step : steps) {
      const std::string stem = path(step.name), key = plan_key(step);
      if (fs::exists(stem + ".key") && read_file(stem + ".key") == key) continue;
      std::error_code error;
      for (const char* suffix : {".key", ".json", ".graph.json"}) fs::remove(stem + suffix, error);
      ChildProcess job;
      job.title = step.name;
      job.command = {kPython,      compiler_folder() + "/compile.py",
                     step.graph,   "--mode",
                     step.mode,    "--machine",
                     step.machine, "-o",
                     stem};
      if (step.is_trained) job.command.emplace_back("--training");
      for (const std::string& profile : step.profiles)
        job.command.insert(job.command.end(), {"--profile", profile});
      for (const std::string& set : options_.sets)
        job.command.insert(job.command.end(), {"--set", set});
      job.log_file = stem + ".log";
      jobs.push_back(std::move(job));
      of_job.push_back(&step);
    }
    if (jobs.empty()) return kExitSuccess;
    fmt::print(stderr, "reproduce {}: {} of {} plans to make\n", options_.name, jobs.size(),
               steps.size());
    limit_time();
    const int signal = run_jobs(jobs, options_.jobs, options_.time_limit_s, [](const auto&) {});
    // What the compiler refuses is a result, too.
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].exit_code != 0 && jobs[i].exit_code != kExitUsage) continue;
      write_atomically(path(of_job[i]->name) + ".key", plan_key(*of_job[i]));
    }
    if (signal == SIGALRM) {
      fmt::print(stderr, "reproduce {}: time limit of {} s; this goes on from here: {}\n",
                 options_.name, limit_s_, options_.command_line);
      return kExitTimeLimit;
    }
    if (signal != 0)
      throw Interrupted("interrupted; this goes on from here: " + options_.command_line, signal);
    return kExitSuccess;
  }

  void take_plan(const PlanStep& step) {
    const std::string stem = path(step.name);
    if (!fs::exists(stem + ".key")) {
      ++missing_plans_;
      return;
    }
    const std::string printed = fs::exists(stem + ".log") ? read_file(stem + ".log") : "";
    if (!fs::exists(stem + ".json")) {
      std::string why = printed.substr(0, printed.find('\n'));
      results_.refused[step.name] = why.empty() ? "the compiler made no plan" : why;
      return;
    }
    results_.plans[step.name] = kitsune_plan(json::parse(read_file(stem + ".json")), printed);
  }

  // Simulations.

  void add_simulations() {
    if (needs(KitsuneSource::queue) && apps_.size() == kitsune_apps().size()) {
      campaign_.add({kAtomicsFolder,
                     "atomics, " + std::string(kKitsuneMachine),
                     kAtomicsWorkload,
                     "probe",
                     kKitsuneMachine,
                     {}});
      campaign_.add({kQueueFolder,
                     "queues, " + std::string(kKitsuneMachine),
                     kQueueWorkload,
                     "queue",
                     kKitsuneMachine,
                     {}});
    }
    // What is published for one machine first.
    for (const bool is_trained : {false, true}) {
      for (const KitsuneApp& app : apps_) {
        if (app.is_trained != is_trained || !needs_runs(is_trained)) continue;
        add_app(app.name, kKitsuneMachine);
        if (!is_trained && needs_vertical(false)) add_run(app.name, kVertical, kKitsuneMachine);
      }
    }
    if (needs(KitsuneSource::sweep) && has_app("dlrm"))
      for (const unsigned rows : kSweepRows) add_run(sweep_name(rows), kBsp, kKitsuneMachine);
    for (const KitsuneApp& app : apps_)
      if (needs_twice(app.is_trained)) add_app(app.name, kTwiceMachine);
    for (const KitsuneApp& app : apps_)
      if (app.is_trained && needs_vertical(true)) add_run(app.name, kVertical, kKitsuneMachine);
  }

  // Balances pipelines that have run once more, by what their stages took: the paper's two-pass
  // compiler (KT-LB-06). Groups that take longer than their kernels took are left to those. Whether
  // there is something to simulate.
  bool add_second_pass(int& status) {
    std::vector<PlanStep> steps;
    for (const KitsuneApp& app : apps_) {
      for (const char* machine : {kKitsuneMachine, kTwiceMachine}) {
        const std::string folder = run_folder(app.name, kKitsune, machine);
        const std::string profile = path(folder) + "/profile.json";
        if (campaign_.result(folder) == nullptr || !fs::exists(profile)) continue;
        PlanStep step{plan_name(app.name, kBalanced, machine),
                      app.graph,
                      kKitsune,
                      machine,
                      app.is_trained,
                      {profile}};
        const std::string kernels = run_folder(app.name, kBsp, machine);
        if (campaign_.result(kernels) != nullptr && fs::exists(path(kernels) + "/profile.json"))
          step.profiles.push_back(path(kernels) + "/profile.json");
        steps.push_back(std::move(step));
      }
    }
    status = make_plans(steps);
    if (status != kExitSuccess) return false;
    for (const KitsuneApp& app : apps_)
      for (const char* machine : {kKitsuneMachine, kTwiceMachine})
        if (const auto plan = results_.plans.find(plan_name(app.name, kBalanced, machine));
            plan != results_.plans.end() && plan->second.groups_run() != 0)
          add_run(app.name, kBalanced, machine);
    return !steps.empty();
  }

  void add_app(const std::string& app, const std::string& machine) {
    add_run(app, kBsp, machine);
    const auto plan = results_.plans.find(plan_name(app, kKitsune, machine));
    if (plan != results_.plans.end() && plan->second.groups_run() == 0) {
      const std::string why =
          plan->second.groups.empty() ? "the plan has no pipeline" : plan->second.not_run();
      results_.refused[run_folder(app, kKitsune, machine)] = why;
      return;
    }
    add_run(app, kKitsune, machine);
  }

  // A graph's plan for kernels is that of kKitsuneMachine on any machine.
  void add_run(const std::string& app, const std::string& mode, const std::string& machine) {
    const std::string folder = run_folder(app, mode, machine);
    const std::string plan =
        plan_name(app, mode, mode == kBsp ? std::string(kKitsuneMachine) : machine);
    if (results_.plans.count(plan) == 0) {
      if (const auto why = results_.refused.find(plan); why != results_.refused.end())
        results_.refused[folder] = why->second;
      else
        ++missing_runs_;
      return;
    }
    const std::string workload = path(fmt::format("workloads/{}-{}@{}.yaml", app, mode, machine));
    prepare_folder(path("workloads"));
    write_atomically(workload, fmt::format("description: \"{} as {}, without numbers\"\n"
                                           "machine: {}\nset: {{gpu.tile_values: false}}\n"
                                           "graph: {{plan: \"{}.graph\", iterations: 1}}\n"
                                           "modes: [launched, kitsune, vertical]\n",
                                           app, mode, machine, path(plan)));
    try {
      campaign_.add({folder,
                     fmt::format("{}, {}, {}", app, mode, machine),
                     workload,
                     mode == kBsp        ? "launched"
                     : mode == kVertical ? "vertical"
                                         : "kitsune",
                     "",
                     {}});
    } catch (const UserError& error) {
      results_.refused[folder] = error.what();
    }
  }

  void load() {
    if (const ResultFile* result = campaign_.result(kQueueFolder)) {
      for (const ResultValue& line : result->root().at("job").at("lines").items())
        results_.queue.push_back({line.at("payload_bytes").number(), line.at("all_gb_s").number(),
                                  line.at("one_gb_s").number(),
                                  line.at("without_atomics_gb_s").number(),
                                  100 * line.at("cost").number()});
    }
    if (const ResultFile* result = campaign_.result(kAtomicsFolder))
      results_.atomics_per_s = 1e6 * result->root().at("job").at("atomics_per_us").number();
    std::vector<std::string> names;
    for (const KitsuneApp& app : apps_) names.emplace_back(app.name);
    for (const unsigned rows : kSweepRows) names.push_back(sweep_name(rows));
    for (const std::string& name : names)
      for (const char* mode : {kBsp, kVertical, kKitsune, kBalanced})
        for (const char* machine : {kKitsuneMachine, kTwiceMachine}) {
          const std::string folder = run_folder(name, mode, machine);
          if (const ResultFile* result = campaign_.result(folder))
            results_.runs[folder] = kitsune_run(result->root().json());
        }
    for (const unsigned width : kWidths) {
      const auto plan =
          results_.plans.find(plan_name(width_name(width), kVertical, kKitsuneMachine));
      if (plan == results_.plans.end()) continue;
      results_.products_fused[width] = products_of_a_group(plan->second) > 1;
    }
  }

  static size_t products_of_a_group(const KitsunePlan& plan) {
    size_t most = 0;
    for (const PlannedGroup& group : plan.groups) {
      const auto count =
          std::count_if(plan.list.begin(), plan.list.end(), [&](const PlannedOperator& op) {
            return op.is_product && std::find(group.operators.begin(), group.operators.end(),
                                              op.output) != group.operators.end();
          });
      most = std::max(most, static_cast<size_t>(count));
    }
    return most;
  }

  // What makes this less than the whole reproduction.
  std::vector<std::string> partial() const {
    std::vector<std::string> all;
    if (!options_.figure.empty())
      all.push_back(fmt::format("--figure {}: {} of {} targets", options_.figure, targets_.size(),
                                kitsune_ids().size()));
    if (apps_.size() != kitsune_apps().size())
      all.push_back(fmt::format("--apps: {} of {} applications, no queues", apps_.size(),
                                kitsune_apps().size()));
    if (missing_plans_ != 0)
      all.push_back(fmt::format("{} plans are missing, and {} simulations of them", missing_plans_,
                                missing_runs_));
    if (const std::string missing = campaign_.missing_results(); !missing.empty())
      all.push_back(missing);
    return all;
  }

  // Reasons apart from the rows that they keep from being run.
  void print_refusals() const {
    if (results_.refused.empty()) return;
    fmt::print("\nrefused by the compiler or the platform:\n");
    for (const auto& [what, why] : results_.refused) fmt::print("  {}: {}\n", what, why);
  }

  // Lists and pictures.

  void write_lists() {
    write_queue();
    write_applications();
    write_groups();
    write_cuts();
  }

  void write_queue() {
    if (results_.queue.empty()) return;
    Plot plot{"Fig 5: 54 queues of two entries", "payload in bytes", "GB/s", true, false, {}};
    PlotLine all{"54 queues", {}}, free{"54 queues, without atomics", {}},
        one{"one queue alone, times 54", {}};
    for (const QueueLine& line : results_.queue) {
      all.points.emplace_back(line.bytes, line.all_gb_s);
      free.points.emplace_back(line.bytes, line.without_atomics_gb_s);
      one.points.emplace_back(line.bytes, 54 * line.one_gb_s);
    }
    plot.lines = {all, free, one};
    write_picture("fig5", plot);
  }

  // A line of each simulation, speed-ups and classes of use as bars.
  void write_applications() {
    std::string csv =
        "application,machine,mode,us,speedup,partly,baseline_percent_of_roofline,dram_mb,"
        "both_low_percent,only_sm_low_percent,only_dram_low_percent,neither_low_percent,sm_percent,"
        "dram_percent,refused\n";
    for (const bool is_trained : {false, true}) {
      Plot speed{is_trained ? "Fig 14: training, speed-up over kernels one by one"
                            : "Fig 11: inference, speed-up over kernels one by one",
                 "",
                 "x",
                 false,
                 false,
                 {{kKitsuneMachine, {}}, {kTwiceMachine, {}}, {"vertical fusion", {}}}};
      Plot use{is_trained ? "Figs 3, 13: time by use below 33 % of the peak, training"
                          : "Figs 3, 13: time by use below 33 % of the peak, inference",
               "",
               "percent of the time",
               false,
               false,
               {{"both low", {}}, {"only SM low", {}}, {"only DRAM low", {}}, {"neither", {}}}};
      use.is_stacked = true;
      for (const KitsuneApp& app : apps_) {
        if (app.is_trained != is_trained) continue;
        for (size_t m = 0; m < 2; ++m) {
          const std::string machine = m == 0 ? kKitsuneMachine : kTwiceMachine;
          for (const char* mode : {kBsp, kVertical, kKitsune, kBalanced})
            add_application(csv, app.name, machine, mode, m == 0 ? &use : nullptr);
          add_speedup(speed, app.name, machine, kKitsune, m);
        }
        add_speedup(speed, app.name, kKitsuneMachine, kVertical, 2);
      }
      std::erase_if(speed.lines, [](const PlotLine& line) { return line.points.empty(); });
      write_picture(is_trained ? "fig14" : "fig11", speed);
      if (!use.bars.empty()) write_picture(is_trained ? "fig13-training" : "fig13-inference", use);
    }
    for (const unsigned rows : kSweepRows)
      add_application(csv, sweep_name(rows), kKitsuneMachine, kBsp, nullptr);
    write_atomically(path("applications.csv"), csv);
    written_ += ", applications.csv";
  }

  void add_application(std::string& csv, const std::string& app, const std::string& machine,
                       const std::string& mode, Plot* use) const {
    const std::string folder = run_folder(app, mode, machine);
    const auto run = results_.runs.find(folder);
    if (run == results_.runs.end()) {
      if (const auto why = results_.refused.find(folder); why != results_.refused.end())
        csv += fmt::format("{},{},{},,,,,,,,,,,,{}\n", app, machine, mode, csv_text(why->second));
      return;
    }
    const KitsuneRun& one = run->second;
    std::string speedup, partly, roofline;
    try {
      const KitsuneRun& bsp = run_of(results_, app, kBsp, machine);
      const KitsunePeaks& peaks = results_.peaks.at(machine);
      roofline = fmt::format(
          "{:.1f}",
          100 * roofline_us(plan_of(results_, app, kBsp), peaks.hbm_gb_s, peaks.tensor_tflop_s) /
              bsp.us);
      if (mode != kBsp) speedup = fmt::format("{:.4g}", bsp.us / one.us);
      if (mode != kBsp)
        partly = plan_of(results_, app, mode == kVertical ? kVertical : kKitsune).not_run();
    } catch (const std::runtime_error&) {  // One of both has not run.
    }
    csv += fmt::format(
        "{},{},{},{:.6g},{},{},{},{:.6g},{:.2f},{:.2f},{:.2f},{:.2f},{:.2f},{:.2f},\n", app,
        machine, mode, one.us, speedup, csv_text(partly), roofline, one.dram_bytes / 1e6,
        one.both_low, one.only_sm_low, one.only_dram_low, one.neither_low, one.sm, one.dram);
    if (use == nullptr) return;
    const double at = static_cast<double>(use->bars.size());
    use->bars.push_back(fmt::format("{} {}", app, mode));
    const double shares[] = {one.both_low, one.only_sm_low, one.only_dram_low, one.neither_low};
    for (size_t i = 0; i < 4; ++i) use->lines[i].points.emplace_back(at, shares[i]);
  }

  void add_speedup(Plot& plot, const std::string& app, const std::string& machine,
                   const std::string& mode, size_t line) const {
    try {
      const Speedup gained = app_speedup(results_, app, machine, mode);
      const bool is_partly = mode == kKitsune && !gained.partly.empty();
      const std::string name = app + (is_partly ? " (partly)" : "");
      auto bar = std::find(plot.bars.begin(), plot.bars.end(), name);
      if (bar == plot.bars.end()) bar = plot.bars.insert(plot.bars.end(), name);
      plot.lines[line].points.emplace_back(static_cast<double>(bar - plot.bars.begin()), gained.x);
    } catch (const std::runtime_error&) {  // Has not run.
    }
  }

  void write_groups() {
    std::string csv = "application,machine,pipeline,operators,speedup,sums_over_rows\n";
    for (const bool is_trained : {false, true}) {
      Plot plot{is_trained ? "Fig 12: pipelines of training, speed-up over their kernels"
                           : "Fig 10: pipelines of inference, speed-up over their kernels",
                "",
                "x",
                false,
                false,
                {{kKitsuneMachine, {}}}};
      for (const KitsuneApp& app : apps_) {
        if (app.is_trained != is_trained) continue;
        for (const char* machine : {kKitsuneMachine, kTwiceMachine}) {
          try {
            for (const Speedup& one : group_speedups(results_, app.name, machine)) {
              csv += fmt::format("{},{},{},{},{:.4g},{}\n", app.name, machine, csv_text(one.name),
                                 one.operators, one.x, one.has_fan_in);
              if (machine != std::string(kKitsuneMachine)) continue;
              plot.lines[0].points.emplace_back(static_cast<double>(plot.bars.size()), one.x);
              plot.bars.push_back(one.name);
            }
          } catch (const std::runtime_error&) {  // Has not run.
          }
        }
      }
      if (!plot.bars.empty()) write_picture(is_trained ? "fig12" : "fig10", plot);
    }
    write_atomically(path("pipelines.csv"), csv);
    written_ += ", pipelines.csv";
  }

  void write_cuts() {
    Plot plot{"Table 2: DRAM traffic cut", "", "percent", false, false, {}};
    PlotLine vertical{"vertical, plan", {}}, planned{"Kitsune, plan", {}},
        simulated{"Kitsune, simulated", {}};
    for (const KitsuneApp& app : apps_) {
      try {
        const double at = static_cast<double>(plot.bars.size());
        const double cuts[] = {plan_of(results_, app.name, kVertical).cut_percent,
                               plan_of(results_, app.name, kKitsune).cut_percent};
        plot.bars.emplace_back(app.name);
        vertical.points.emplace_back(at, cuts[0]);
        planned.points.emplace_back(at, cuts[1]);
        const KitsuneRun &bsp = run_of(results_, app.name, kBsp),
                         &mine = run_of(results_, app.name, kKitsune);
        simulated.points.emplace_back(at, 100 * (1 - mine.dram_bytes / bsp.dram_bytes));
      } catch (const std::runtime_error&) {  // Has no plan, or has not run.
      }
    }
    if (plot.bars.empty()) return;
    // A bar of each at every name.
    for (size_t i = 0; i < plot.bars.size(); ++i) {
      const double at = static_cast<double>(i);
      const bool is_there = std::any_of(simulated.points.begin(), simulated.points.end(),
                                        [&](const auto& point) { return point.first == at; });
      if (!is_there)
        simulated.points.insert(simulated.points.begin() + static_cast<long>(i), {at, 0});
    }
    plot.lines = {vertical, planned, simulated};
    write_picture("table2", plot);
  }

  void write_picture(const std::string& name, const Plot& plot) {
    if (plot.lines.empty()) return;
    write_plot(path(name), plot);
    written_ += ", " + name;
  }

  ReproduceOptions options_;  // Its time limit is what is left.
  const unsigned limit_s_ = options_.time_limit_s;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Campaign campaign_;
  const std::vector<Target> targets_;
  std::set<KitsuneSource> needed_;
  std::vector<KitsuneApp> apps_;
  KitsuneResults results_;
  std::string sources_;  // SHA-256 of the compiler and of machines.
  size_t missing_plans_ = 0, missing_runs_ = 0;
  std::string written_;  // ", NAME" of each file and picture beside the table.
};

void add_options(boost::program_options::options_description& own) {
  own.add_options()("apps", boost::program_options::value<std::string>()->value_name("A,B"),
                    "only these applications, without queues: nerf,mgn-training");
}

int run(const ReproduceOptions& options, const boost::program_options::variables_map& own) {
  const std::string apps = own.count("apps") == 0 ? "" : own["apps"].as<std::string>();
  return KitsuneCampaign(options, apps).run();
}

}  // namespace

Reproduction kitsune_reproduction() {
  return {.name = "kitsune",
          .sentence = "Kitsune (arXiv 2502.18403): queues, plans, applications as pipelines",
          .figures = kFigures,
          .time_limit_s = 3600,
          .add_options = add_options,
          .run = run};
}

}  // namespace stretto
