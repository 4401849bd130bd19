// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce tally`: times of the work-groups of all kernels, measured by simulating each list
// of kernels alone; then inferences beside trainings, with sampled work-groups, under all systems.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "models/sampled/body_table.h"
#include "platform/base/atomic_file.h"
#include "platform/base/exit_status.h"
#include "platform/campaign/campaign.h"
#include "platform/campaign/characterise.h"
#include "platform/campaign/plot.h"
#include "platform/jobs/workload.h"
#include "platform/reproduce/reproduction.h"
#include "platform/reproduce/tally/tally_targets.h"
#include "platform/reproduce/tally/tally_variants.h"

namespace stretto {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFigures = "1, 5a, 5b, 6a, 6b, 6c, variants";
// No figure of the paper: what its results depend on.
constexpr const char* kVariants = "variants";
constexpr const char* kPair = "tally/pair";
constexpr const char* kAlone = "ideal";
constexpr const char* kStock = kTallyColumns[1];
// Short lists that no result is about, for tests; on 8 units, unless --set says otherwise.
constexpr const char* kTiny = "tiny";
constexpr const char* kTinyUnits = "gpu.cus=8";
// Requests of a simulation: those of so long a time, within bounds. Where the least that p99 should
// have would last longer than kLongestSpanS, fewer; the interval of p99 says what they are worth. A system in which
// requests take longer serves fewer of them in that time, as in the published runs of 300 s.
constexpr double kSpanS = 2, kLongestSpanS = 3;
constexpr double kTinyRequests = 200;
constexpr double kLeastRequests = 50, kMostRequests = 1000, kFewestRequests = 20;
// A first launch, whose operands the L2 may lack, and another one, which stands for all later ones.
constexpr const char* kMeasuredLaunches = "sampled.launches=2";
// Of launches with more work-groups than the GPU holds.
constexpr const char* kMeasuredWaves = "sampled.waves=2";
constexpr const char* kListedLaunches = "tenants.most_times=2";
// Times are drawn: how long a launch takes is a mean.
constexpr const char* kCorrectedLaunches = "tenants.most_times=12";
constexpr unsigned kAloneInferences = 20, kAloneTrainings = 2;
// Requests of best effort before, where kernels of ten clients are measured meanwhile.
constexpr unsigned kLead = 3;
// In which TGS counts: published runs of 300 s have so many.
constexpr unsigned kTgsPeriods = 60;
// A profile: of each kernel a first launch, whose operands the L2 may lack, one that is measured and one of each of at
// most 16 candidates (8 work-groups of 128 threads are what TL-SCHED-10 allows a unit, each in two forms). The machine
// repeats itself: of five runs as published (TL-PROF-05) four would only cost.
constexpr std::array kProfile{"tenants.profile_warm_up_iterations=1",
                              "tenants.profile_iterations=1", "tenants.least_times=18"};
constexpr unsigned kBurst = 20;        // Requests, without a pause;
constexpr unsigned kFewestBursts = 4;  // shorter where a run would have fewer.
constexpr unsigned kClientLoad = 100;

std::string list_of(const std::string& name) { return "tally/models/" + name; }

// "bert,tiny" of the names that are allowed; empty: all of them. For short names there may be one more.
template <typename Names>
std::vector<std::string> chosen(const char* option,
                                const boost::program_options::variables_map& own,
                                const Names& names, const char* what, const char* more = nullptr) {
  const std::string text = own.count(option) == 0 ? "" : own[option].as<std::string>();
  std::vector<std::string> all;
  std::vector<std::string> allowed(names.begin(), names.end());
  if (more != nullptr) allowed.emplace_back(more);
  for (size_t at = 0; !text.empty() && at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    if (std::find(allowed.begin(), allowed.end(), one) == allowed.end())
      throw UserError(fmt::format("--{} {}: no {} is called '{}'; allowed: {}", option, text, what,
                                  one, fmt::join(allowed, ", ")));
    all.push_back(one);
    at = end + 1;
  }
  if (all.empty()) all.assign(names.begin(), names.end());
  return all;
}

class Tally {
 public:
  Tally(const ReproduceOptions& options, const boost::program_options::variables_map& own)
      : options_(options),
        inferences_(chosen("inferences", own, kTallyInferences, "list", kTiny)),
        trainings_(chosen("trainings", own, kTallyTrainings, "list", kTiny)),
        columns_(chosen("columns", own, kTallyColumns, "column")),
        arrivals_(own["arrivals"].as<std::string>()),
        given_bodies_(own.count("bodies") == 0 ? "" : own["bodies"].as<std::string>()),
        campaign_(options_),
        has_variants_(options.figure.empty() || options.figure == kVariants) {
    if (options.figure != kVariants)
      targets_ = targets_of_figure("tally", tally_ids(), options.figure, kFigures);
    if (!given_bodies_.empty()) BodyTable::parse(given_bodies_, read_file(given_bodies_));
    if (arrivals_ != "bursts" && arrivals_ != "poisson")
      throw UserError(fmt::format("--arrivals {}: allowed: bursts, poisson", arrivals_));
    if (has(inferences_, kTiny) || has(trainings_, kTiny))
      options_.sets.insert(options_.sets.begin(), kTinyUnits);
    for (const Target& target : targets_)
      for (const TallySource source : tally_sources(target.id)) needed_.insert(source);
    for (const auto& [mode, sentence] : load_workload(kPair).kind->info().modes)
      results_.modes.insert(mode);
  }

  int run() {
    campaign_.lock();
    int status = kExitSuccess;
    if (needs_runs() && !options_.table_only) {
      check_pairs();
      if (given_bodies_.empty()) status = measure_bodies();
    }
    if (status == kExitSuccess && needs_runs() && fs::exists(bodies())) {
      add_alone();
      add_profiles();
      status = simulate();
      load();
      add_traces();
      if (status == kExitSuccess) status = simulate();
      load();
    }
    load_granularity();
    write_targets({.name = options_.name,
                   .columns = columns_,
                   .targets = targets_,
                   .measure =
                       [this](const std::string& id, const std::string& column) {
                         results_.tally = column;
                         const auto target =
                             std::find_if(targets_.begin(), targets_.end(),
                                          [&](const Target& one) { return one.id == id; });
                         return measure_tally(*target, results_);
                       },
                   .out = options_.out,
                   .partial = partial()});
    write_lists();
    fmt::print("{}", tally_pairs_text(results_, inferences_, trainings_));
    fmt::print("written into {}: table.csv, table.json{}\n", options_.out, written_);
    return status;
  }

 private:
  bool needs(TallySource source) const { return needed_.count(source) != 0; }
  bool needs_pairs() const {
    return needs(TallySource::pairs) || needs(TallySource::ablation) || needs(TallySource::loads) ||
           needs(TallySource::day) || needs(TallySource::thresholds) || has_variants_;
  }
  bool needs_runs() const {
    return has_variants_ || std::any_of(needed_.begin(), needed_.end(), [](TallySource source) {
             return source != TallySource::none;
           });
  }
  std::string bodies() const {
    return given_bodies_.empty() ? options_.out + "/bodies.txt" : given_bodies_;
  }
  std::string measured() const { return options_.out + "/bodies"; }

  std::vector<std::string> lists() const {
    std::vector<std::string> all;
    for (const std::string& name : inferences_) all.push_back(name + "-inference");
    for (const std::string& name : trainings_) all.push_back(name + "-training");
    return all;
  }

  unsigned time_left() const {
    using std::chrono::duration_cast, std::chrono::seconds;
    if (limit_s_ == 0) return 0;
    const auto spent = duration_cast<seconds>(std::chrono::steady_clock::now() - begin_).count();
    return static_cast<unsigned>(
        std::max<long>(1, static_cast<long>(limit_s_) - static_cast<long>(spent)));
  }
  int simulate() {
    options_.time_limit_s = time_left();
    return campaign_.simulate();
  }

  // Hours of measurements come before pairs: one that cannot run is said now. In time slices clients need the
  // most memory.
  void check_pairs() const {
    Campaign pairs(options_);
    for (const std::string& inference : inferences_)
      for (const std::string& training : trainings_)
        pairs.add({"",
                   "",
                   kPair,
                   "time-slicing",
                   "",
                   {"tenants.high=" + list_of(inference + "-inference"),
                    "tenants.best_effort=" + list_of(training + "-training")}});
  }

  // What is there of the same executable is not simulated again.
  int measure_bodies() {
    CharacteriseOptions characterise_options;
    for (const std::string& list : lists()) characterise_options.workloads.push_back(list_of(list));
    characterise_options.bodies = bodies();
    characterise_options.no_check = true;
    characterise_options.campaign = options_;
    std::vector<std::string>& sets = characterise_options.campaign.sets;
    sets.insert(sets.begin(), {kMeasuredLaunches, kMeasuredWaves, kListedLaunches});
    characterise_options.correction_sets = {kCorrectedLaunches};
    characterise_options.campaign.name.clear();
    characterise_options.campaign.command = "characterise";
    characterise_options.campaign.figure.clear();
    characterise_options.campaign.out = measured();
    characterise_options.campaign.time_limit_s = time_left();
    return characterise(characterise_options);
  }

  void add_sampled(const std::string& folder, const std::string& workload, const std::string& mode,
                   std::vector<std::string> sets) {
    sets.emplace_back("gpu.executor=sampled");
    sets.push_back("sampled.bodies=" + fs::absolute(bodies()).string());
    campaign_.add({folder, folder, workload, mode, "", std::move(sets)});
  }
  void add(const std::string& folder, const std::string& workload, const std::string& mode,
           std::vector<std::string> sets) {
    add_sampled(folder, workload, mode, std::move(sets));
    folders_.push_back(folder);
  }

  void add_alone() {
    for (const std::string& list : lists())
      add(tally_alone_folder(list), list_of(list), kAlone,
          {fmt::format("tenants.requests={}",
                       list.ends_with("-training") ? kAloneTrainings : kAloneInferences)});
    for (const TallyVariant& variant : variants()) {
      if (!variant.changes_inference) continue;
      std::vector<std::string> sets{fmt::format("tenants.requests={}", kAloneInferences)};
      append(sets, variant.sets);
      add(tally_variant_alone_folder(variant), list_of(inferences_.front() + "-inference"), kAlone,
          std::move(sets));
    }
  }

  const std::vector<TallyVariant>& variants() const {
    static const std::vector<TallyVariant> none;
    return has_variants_ ? tally_variants() : none;
  }
  static void append(std::vector<std::string>& sets, const std::vector<std::string>& more) {
    sets.insert(sets.end(), more.begin(), more.end());
  }

  // Kernels of each training are measured once, all of them, and this taken by all its pairs, as the artifact warms
  // its cache (TL-U14).
  static std::string profile_folder(const std::string& training, const std::string& mode) {
    return "profiles/" + training + "/" + mode;
  }
  static bool transforms(const std::string& mode) { return mode == kTallyMode || mode == kStock; }
  void add_profiles() {
    if (!needs_pairs()) return;
    for (const std::string& training : trainings_) {
      // Loads, thresholds and variants are of Tally whatever columns there are.
      add_profile(profile_folder(training, kTallyMode), training, kTallyMode, {});
      if (has(columns_, kStock))
        add_profile(profile_folder(training, kStock), training, kStock, {});
    }
    for (const TallyVariant& variant : variants())
      if (variant.changes_profile)
        add_profile(tally_variant_profile_folder(variant), trainings_.back(), kTallyMode,
                    variant.sets);
  }
  void add_profile(const std::string& folder, const std::string& training, const std::string& mode,
                   const std::vector<std::string>& more) {
    std::vector<std::string> sets{
        "tenants.high=" + list_of(inferences_.front() + "-inference"),
        "tenants.best_effort=" + list_of(training + "-training"), "tenants.requests=1",
        "tenants.lead=1", fmt::format("tenants.turnaround_threshold_ns={}", kTallyThresholdNs)};
    sets.insert(sets.end(), kProfile.begin(), kProfile.end());
    append(sets, more);
    add_sampled(folder, kPair, mode, std::move(sets));
  }

  // Arrivals of an inference under a load, of which `alone` is the folder without load, and how many.
  std::vector<std::string> arrival_sets(const std::string& inference, const std::string& alone,
                                        unsigned load) const {
    const double alone_ms = results_.runs.at(alone).p50_ms;
    const double interval_ns = 1e6 * alone_ms * 1000 / load;
    const double least =
        std::clamp(std::floor(1e9 * kLongestSpanS / interval_ns), kFewestRequests, kLeastRequests);
    const double requests = std::clamp(std::ceil(1e9 * kSpanS / interval_ns), least,
                                       inference == kTiny ? kTinyRequests : kMostRequests);
    std::vector<std::string> sets{"tenants.high=" + list_of(inference + "-inference"),
                                  "tenants.arrivals=" + arrivals_,
                                  fmt::format("tenants.interval_ns={:.0f}", interval_ns),
                                  fmt::format("tenants.requests={:.0f}", requests),
                                  fmt::format("tenants.time_ns={:.0f}", interval_ns * requests),
                                  fmt::format("tenants.least_requests={:.0f}", kFewestRequests)};
    sets.push_back(
        fmt::format("tenants.tgs_period_ns={:.0f}", interval_ns * requests / kTgsPeriods));
    if (arrivals_ == "bursts") {
      sets.push_back(fmt::format("tenants.burst_requests={:.0f}",
                                 std::min<double>(kBurst, std::ceil(requests / kFewestBursts))));
      sets.push_back(fmt::format("tenants.burst_interval_ns={:.0f}", 1e6 * alone_ms));
    }
    return sets;
  }

  bool has(const std::vector<std::string>& names, const std::string& name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  bool is_added(const std::string& folder) const {
    return std::find(folders_.begin(), folders_.end(), folder) != folders_.end();
  }

  void add_trace(const std::string& folder, std::vector<std::string> sets) {
    if (is_added(folder)) return;
    sets.emplace_back("tenants.best_effort=");
    add(folder, kPair, kAlone, std::move(sets));
  }
  // Beside a training, with arrivals of `sets`, and `more` to the end of all; `profile`: folder of the training's.
  void add_together(const std::string& folder, const std::string& training, const std::string& mode,
                    std::vector<std::string> sets, uint64_t threshold_ns,
                    const std::string& profile, const std::vector<std::string>& more) {
    if (transforms(mode)) {
      if (campaign_.result(profile) == nullptr) return;
      sets.push_back("tenants.profiles=" + options_.out + "/" + profile);
    }
    sets.push_back("tenants.best_effort=" + list_of(training + "-training"));
    sets.emplace_back("tenants.lead=0");
    sets.push_back(fmt::format("tenants.turnaround_threshold_ns={}", threshold_ns));
    append(sets, more);
    add(folder, kPair, mode, std::move(sets));
  }

  void add_pair(const std::string& inference, const std::string& training, const std::string& mode,
                unsigned load = kTallyLoad, uint64_t threshold_ns = kTallyThresholdNs) {
    const std::string folder = tally_pair_folder(inference, training, mode, load, threshold_ns);
    const std::string alone = tally_alone_folder(inference + "-inference");
    if (is_added(folder) || results_.modes.count(mode) == 0 || !has(inferences_, inference) ||
        !has(trainings_, training) || results_.runs.count(alone) == 0)
      return;
    const std::vector<std::string> sets = arrival_sets(inference, alone, load);
    add_trace(tally_trace_folder(inference, load), sets);
    add_together(folder, training, mode, sets, threshold_ns, profile_folder(training, mode), {});
  }

  // Of the first inference and the last training, or all of them; and what they are compared with.
  void add_variant(const TallyVariant& variant) {
    const std::string& inference = inferences_.front();
    const std::string alone = variant.changes_inference
                                  ? tally_variant_alone_folder(variant)
                                  : tally_alone_folder(inference + "-inference");
    if (results_.runs.count(alone) == 0) return;
    std::vector<std::string> arrivals = arrival_sets(inference, alone, kTallyLoad);
    if (variant.changes_arrivals) {
      append(arrivals, variant.sets);
      add_trace(tally_variant_trace_folder(variant, inference), arrivals);
    }
    for (const std::string& training : trainings_) {
      if (!variant.with_all_trainings && training != trainings_.back()) continue;
      for (const char* system : variant.systems) {
        add_pair(inference, training, system);
        add_together(tally_variant_pair_folder(variant, inference, training, system), training,
                     system, arrivals, kTallyThresholdNs,
                     variant.changes_profile ? tally_variant_profile_folder(variant)
                                             : profile_folder(training, system),
                     variant.sets);
      }
    }
  }

  void add_traces() {
    if (needs(TallySource::pairs)) {
      for (const std::string& inference : inferences_)
        for (const std::string& training : trainings_)
          for (const char* mode : kTallySystems) add_pair(inference, training, mode);
      for (const std::string& column : columns_)
        for (const std::string& inference : inferences_)
          for (const std::string& training : trainings_) add_pair(inference, training, column);
    }
    if (needs(TallySource::ablation)) {
      for (const std::string& inference : inferences_)
        for (const std::string& training : trainings_)
          for (const char* mode : kTallyAblations)
            if (inference == kTallyInferences[0] || inference == kTallyInferences[1] ||
                inference == kTiny)
              add_pair(inference, training, mode);
    }
    if (needs(TallySource::loads)) {
      for (const char* inference : kTallyLoadInferences)
        for (const char* training : kTallyLoadTrainings)
          for (const unsigned load : kTallyLoads)
            for (const char* mode : kTallyLoadSystems) add_pair(inference, training, mode, load);
    }
    if (needs(TallySource::day)) add_day();
    if (needs(TallySource::thresholds)) {
      for (const std::string& training : trainings_)
        for (const uint64_t ns : kTallyThresholdsNs)
          add_pair("bert", training, kTallyMode, kTallyLoad, ns);
    }
    if (needs(TallySource::clients) &&
        results_.runs.count(tally_alone_folder("resnet50-inference")) != 0) {
      for (const unsigned clients : kTallyClients) add_clients(clients);
    }
    for (const TallyVariant& variant : variants()) add_variant(variant);
  }

  // BERT beside BERT, as published.
  void add_day() {
    const std::string alone = tally_alone_folder("bert-inference");
    if (!has(trainings_, "bert") || results_.runs.count(alone) == 0) return;
    std::vector<std::string> sets = arrival_sets("bert", alone, kTallyLoad);
    sets.push_back(fmt::format("tenants.load_profile={}", fmt::join(kTallyDay, ",")));
    sets.push_back(fmt::format("tenants.windows={}", kTallyDay.size()));
    add_trace(tally_day_folder(kAlone), sets);
    for (const std::string mode : kTallySystems)
      if (results_.modes.count(mode) != 0)
        add_together(tally_day_folder(mode), "bert", mode, sets, kTallyThresholdNs,
                     profile_folder("bert", mode), {});
  }

  void add_clients(unsigned clients) {
    const std::string list = list_of("resnet50-inference");
    std::vector<std::string> sets =
        arrival_sets("resnet50", tally_alone_folder("resnet50-inference"), kClientLoad);
    std::string others;
    for (unsigned i = 1; i < clients; ++i) others += (i == 1 ? "" : ",") + list;
    sets.push_back("tenants.best_effort=" + others);
    sets.push_back(fmt::format("tenants.lead={}", clients == 1 ? 0 : kLead));
    // As published: all at load 0.1, at random (config of the artifact).
    const double alone_ms = results_.runs.at(tally_alone_folder("resnet50-inference")).p50_ms;
    sets.emplace_back("tenants.arrivals=poisson");
    sets.push_back(
        fmt::format("tenants.best_effort_interval_ns={:.0f}", 1e6 * alone_ms * 1000 / kClientLoad));
    add(tally_clients_folder(clients), kPair, kTallyMode, std::move(sets));
  }

  void load() {
    for (const std::string& folder : folders_)
      if (const ResultFile* result = campaign_.result(folder)) results_.runs[folder] = of(*result);
  }

  static TallyRun of(const ResultFile& result) {
    const ResultValue job = result.root().at("job");
    TallyRun run;
    const std::vector<ResultValue> clients = job.at("clients").items();
    for (size_t i = 0; i < clients.size(); ++i) {
      const double per_s = clients[i].at("requests_per_s").number();
      if (i != 0) {
        run.best_effort_per_s += per_s;
        continue;
      }
      run.per_s = per_s;
      run.requests = clients[i].at("requests").whole();
      const ResultValue service = clients[i].at("service_us");
      run.p50_ms = service.at("p50").number() / 1000;
      run.p99_ms = service.at("p99").number() / 1000;
      run.response_p99_ms = clients[i].at("response_us").at("p99").number() / 1000;
      const std::vector<ResultValue> interval = clients[i].at("service_p99_interval_us").items();
      run.p99_low_ms = interval.at(0).number() / 1000;
      run.p99_high_ms = interval.at(1).number() / 1000;
    }
    if (const auto windows = job.find("windows")) {
      for (const ResultValue& window : windows->items()) {
        const auto service = window.find("service_us");  // Not of one without requests.
        run.window_p99_ms.push_back(service ? service->at("p99").number() / 1000 : 0);
        run.window_best_effort_share.push_back(window.at("best_effort_share").number());
      }
    }
    if (const auto server = job.find("server"))
      for (const ResultValue& ns : server->at("drain_ns").items())
        run.longest_drain_ms = std::max(run.longest_drain_ms, ns.number() / 1e6);
    for (const auto& [path, value] : result.root().at("statistics").whole_numbers())
      if (path.ends_with("sampled.kernel_error_max"))
        run.sampling_error = std::max(run.sampling_error, static_cast<double>(value) / 1e6);
    return run;
  }

  // Of the runs in which kernels had all of the GPU.
  void load_granularity() {
    for (const std::string& name : trainings_) {
      const std::string list = name + "-training";
      const std::string file = measured() + "/measured/tally_models_" + list + "/full/bodies.txt";
      if (!fs::exists(file)) continue;
      const BodyTable table = BodyTable::parse(file, read_file(file));
      std::vector<double> kernels;
      TallyGranularity& one = results_.granularity[list];
      for (const auto& [key, kernel] : table.kernels) {
        kernels.push_back(static_cast<double>(kernel.launch_time()) / (1000 * kMicrosecond));
        one.longest_work_group_us =
            std::max(one.longest_work_group_us,
                     static_cast<double>(kernel.group_time()) / static_cast<double>(kMicrosecond));
      }
      std::sort(kernels.begin(), kernels.end());
      if (kernels.empty()) continue;
      one.median_kernel_ms = kernels[kernels.size() / 2];
      one.longest_kernel_ms = kernels.back();
    }
  }

  // What makes this less than the whole reproduction.
  std::vector<std::string> partial() const {
    std::vector<std::string> all;
    if (!options_.figure.empty())
      all.push_back(fmt::format("--figure {}: {} of {} targets", options_.figure, targets_.size(),
                                tally_ids().size()));
    const auto less = [&](const char* what, const auto& some, const auto& whole) {
      const auto missing = std::count_if(whole.begin(), whole.end(),
                                         [&](const char* one) { return !has(some, one); });
      if (missing != 0)
        all.push_back(fmt::format("{} of {} {}", whole.size() - static_cast<size_t>(missing),
                                  whole.size(), what));
    };
    less("inferences", inferences_, kTallyInferences);
    less("trainings", trainings_, kTallyTrainings);
    less("columns", columns_, kTallyColumns);
    if (!given_bodies_.empty()) all.push_back("times of work-groups are those of " + given_bodies_);
    for (const char* system : kTallySystems)
      if (results_.modes.count(system) == 0)
        all.push_back(fmt::format("there is no mode {}", system));
    if (needs_runs() && !fs::exists(bodies()))
      all.push_back("no table of work-groups' times in " + options_.out);
    if (const std::string missing = campaign_.missing_results(); !missing.empty())
      all.push_back(missing);
    return all;
  }

  void write_lists() {
    if (results_.runs.empty()) return;
    write_atomically(options_.out + "/simulations.csv", tally_csv(results_));
    written_ += ", simulations.csv";
    if (const std::string day = tally_day_csv(results_); !day.empty()) {
      write_atomically(options_.out + "/day.csv", day);
      written_ += ", day.csv";
    }
    if (has_variants_) {
      write_atomically(options_.out + "/variants.csv",
                       tally_variants_csv(results_, inferences_.front(), trainings_));
      written_ += ", variants.csv";
    }
    Plot plot{.title = "p99 beside a training, over p99 alone", .x = "", .y = "times", .lines = {}};
    for (const char* system : kTallySystems) {
      PlotLine line{system, {}};
      std::vector<std::string> bars;
      for (const std::string& inference : inferences_)
        for (const std::string& training : trainings_)
          if (const auto times = tally_slowdown(results_, inference, training, system)) {
            line.points.emplace_back(static_cast<double>(bars.size()), *times);
            bars.push_back(inference + "+" + training);
          }
      if (bars.size() > plot.bars.size()) plot.bars = bars;
      if (!bars.empty()) plot.lines.push_back(std::move(line));
    }
    // Bars have a place for every system only where all of them have run.
    std::erase_if(plot.lines,
                  [&](const PlotLine& line) { return line.points.size() != plot.bars.size(); });
    if (plot.bars.empty()) return;
    write_plot(options_.out + "/slowdowns", plot);
    written_ += ", slowdowns.svg";
  }

  ReproduceOptions options_;
  const unsigned limit_s_ = options_.time_limit_s;
  const std::vector<std::string> inferences_, trainings_;
  const std::vector<std::string> columns_;
  const std::string arrivals_;
  const std::string given_bodies_;
  Campaign campaign_;
  const bool has_variants_;
  std::vector<Target> targets_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::set<TallySource> needed_;
  std::vector<std::string> folders_;
  TallyResults results_;
  std::string written_;
};

void add_options(boost::program_options::options_description& own) {
  namespace po = boost::program_options;
  own.add_options()("inferences", po::value<std::string>()->value_name("A,B"),
                    "only these: bert,llama-2-7b");
  own.add_options()("trainings", po::value<std::string>()->value_name("A,B"),
                    "only these: bert,whisper");
  own.add_options()("columns", po::value<std::string>()->value_name("A,B"),
                    "of the table, only these: tally,tally-stock-isa,tally-firmware");
  own.add_options()("bodies", po::value<std::string>()->value_name("FILE"),
                    "times of work-groups, measured before: the bodies.txt of a result folder");
  own.add_options()("arrivals",
                    po::value<std::string>()->default_value("bursts")->value_name("NAME"),
                    "bursts or poisson");
}

}  // namespace

Reproduction tally_reproduction() {
  return {
      .name = "tally",
      .sentence = "Tally (ASPLOS'25): inferences beside trainings on a shared GPU",
      .figures = kFigures,
      .time_limit_s = 7200,
      .add_options = add_options,
      .run = [](const ReproduceOptions& options, const boost::program_options::variables_map& own) {
        return Tally(options, own).run();
      }};
}

}  // namespace stretto
