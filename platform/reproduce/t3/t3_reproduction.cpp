// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce t3`: simulates the sub-layers of T3, each case x mode x machine, some of them
// with other numbers of compute units, the operators around them and a sweep of reduce-scatters,
// then prints the speed-ups of each case and model and the table of published results.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "models/common/error.h"
#include "platform/base/atomic_file.h"
#include "platform/base/installation.h"
#include "platform/campaign/campaign.h"
#include "platform/config/options.h"
#include "platform/reproduce/reproduction.h"
#include "platform/reproduce/t3/t3_targets.h"

namespace stretto {

namespace fs = std::filesystem;
namespace po = boost::program_options;

namespace {

constexpr const char* kFigures = "4, 6, 14, 16, 17, 18, 19, 20";

const std::vector<std::string>& modes() {
  static const std::vector<std::string> all{"sequential", "t3",     "t3-mca", "gemm",
                                            "rs",         "rs-nmc", "ag"};
  return all;
}

// Simulated on all GPUs as well, to show what mirroring changes.
const std::vector<std::string>& full_cases() {
  static const std::vector<std::string> all{"tnlg-fc2-tp8", "tnlg-op-tp16", "gpt3-op-tp32"};
  return all;
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

bool begins(const std::string& name, const std::string& beginning) {
  return name.rfind(beginning, 0) == 0;
}

// Options of this reproduction alone.
struct T3Options {
  std::string cases;  // Only cases that begin with one of these, by commas; empty: all.
  std::string machines;
  std::string modes;  // Only these, by commas; empty: all.
  bool full = false;  // Full machines instead of mirrored ones.
};

void add_options(po::options_description& own) {
  // clang-format off
  own.add_options()
    ("full",     po::bool_switch(),
                 "all GPUs of every case instead of one mirrored GPU")
    ("cases",    po::value<std::string>()->value_name("A,B"),
                 "only cases whose names begin with A, B ...: tnlg,mega-op")
    ("machines", po::value<std::string>()->value_name("A,B")->default_value("t3,t3-method"),
                 "side by side")
    ("modes",    po::value<std::string>()->value_name("A,B"),
                 "only these modes");
  // clang-format on
}

T3Options options_of(const po::variables_map& own) {
  const auto text = [&](const char* name) {
    return own.count(name) == 0 ? std::string() : own[name].as<std::string>();
  };
  return {text("cases"), text("machines"), text("modes"), own["full"].as<bool>()};
}

// The isolated collectives know nothing of the GEMM: one simulation serves the four layers of a
// model and TP.
bool is_shared(const std::string& mode) { return mode == "rs" || mode == "rs-nmc" || mode == "ag"; }

struct Simulation {
  std::string machine;
  std::string name;                 // Case that is simulated.
  std::vector<std::string> serves;  // Cases whose result it is.
  std::string mode;
  bool full = false;
  unsigned cus = 0;      // 0: the machine's.
  bool atomics = false;  // Controllers add instead of near-bank ALUs.
  std::string folder = "";
  // "gemm-72cu", "t3-mca-atomics".
  std::string key() const {
    return (cus == 0 ? mode : fmt::format("{}-{}cu", mode, cus)) + (atomics ? "-atomics" : "");
  }
};

// Other numbers of compute units: shares of 80 (Fig 6), and twice as many (Fig 20).
struct OtherUnits {
  const char* mode;
  unsigned cus;
  bool partition;
};
constexpr OtherUnits kOtherUnits[] = {{"gemm", 72, true},
                                      {"gemm", 64, true},
                                      {"rs", 8, true},
                                      {"ag", 8, true},
                                      {"rs", 16, true},
                                      {"ag", 16, true},
                                      {"sequential", 160, false},
                                      {"t3-mca", 160, false}};

bool wants_units(const T3Case& one, const OtherUnits& other) {
  if (one.layer != "op" && one.layer != "fc2") return false;
  return other.partition ? one.tp == 8 : !one.large();
}

// Of each model the layer that communication bounds most and one that products do (7.4).
bool adds_by_atomics(const T3Case& one) {
  return !one.large() && (one.layer == "op" || one.layer == "fc2");
}

// On linked GPUs, so small that all of them are simulated (7.1).
constexpr const char* kDirectModes[] = {"direct", "t3"};

// Reduce-scatters on four GPUs, 6 to 192 MB (5.1.1): 3072 columns of two bytes.
constexpr uint32_t kSweepColumns = 3072;
constexpr uint32_t kSweepRows[] = {1024, 2048, 4096, 8192, 16384, 32768};
uint64_t sweep_bytes(uint32_t rows) { return uint64_t{2} * kSweepColumns * rows; }

class T3Reproduction {
 public:
  T3Reproduction(const ReproduceOptions& options, const T3Options& own)
      : options_(options),
        own_(own),
        campaign_(options),
        machines_(split(own.machines, ',')),
        targets_(targets_of_figure("t3", t3_ids(), options.figure, kFigures)) {
    check_options();
    for (const std::string& name : shipped("workloads")) {
      if (begins(name, "t3/") && name.find("-tp") != std::string::npos)
        shipped_cases_.push_back(name.substr(3));
    }
    choose_cases();
    plan();
    for (const Simulation& one : simulations_) {
      CampaignRun run;
      run.folder = one.folder;
      run.title = one.machine + " " + one.name + " " + one.key() + (one.full ? " full" : "");
      run.workload = "t3/" + one.name;
      run.mode = one.mode;
      run.machine = one.machine;
      if (!one.full) run.sets.push_back("sim.mirror=true");
      if (one.atomics) run.sets.push_back("hbm.updates=controller");
      if (one.cus != 0) run.sets.push_back(fmt::format("gpu.cus={}", one.cus));
      campaign_.add(std::move(run));
    }
    for (const std::string& machine : machines_) add_around(machine);
    campaign_.lock();
  }

  int run() {
    const int status = campaign_.simulate();
    for (const std::string& machine : machines_) {
      T3Results& results = results_[machine];
      for (const std::string& name : shipped_cases_) results.cases.push_back(case_of(name));
      results.models = t3_models();
      for (const uint32_t rows : kSweepRows) results.sweep.push_back({sweep_bytes(rows)});
    }
    load();
    load_around();
    write_cases();
    write_models();
    write_table();
    return status;
  }

 private:
  // What can be judged without building a machine.
  void check_options() const {
    if (machines_.empty()) throw UserError("--machines: give at least one, as in t3,t3-method");
    const std::string all = fmt::format("{}", fmt::join(modes(), ", "));
    const std::vector<std::string> wanted = split(own_.modes, ',');
    if (wanted.empty() && !own_.modes.empty())
      throw UserError("--modes: give at least one of " + all);
    for (const std::string& mode : wanted) {
      if (std::find(modes().begin(), modes().end(), mode) == modes().end())
        throw UserError(fmt::format("--modes {}: must be of {}", mode, all));
    }
    std::set<std::string> folders;
    for (const std::string& machine : machines_) {
      if (!folders.insert(folder_of(machine)).second)
        throw UserError(fmt::format("--machines {}: two would share the folder {}", own_.machines,
                                    folder_of(machine)));
    }
    if (!options_.impl.empty()) {
      std::map<std::string, Impl> ignored;
      set_impl(options_.impl, ignored);
    }
  }

  void choose_cases() {
    const std::vector<std::string> beginnings = split(own_.cases, ',');
    if (beginnings.empty() && !own_.cases.empty())
      throw UserError("--cases: give at least one, as in tnlg,mega-op");
    for (const std::string& beginning : beginnings) {
      if (std::none_of(shipped_cases_.begin(), shipped_cases_.end(),
                       [&](const std::string& name) { return begins(name, beginning); }))
        throw UserError(fmt::format(
            "--cases {}: no case begins so; 'stretto list workloads' shows all as t3/CASE",
            beginning));
    }
    for (const std::string& name : shipped_cases_) {
      if (beginnings.empty() ||
          std::any_of(beginnings.begin(), beginnings.end(),
                      [&](const std::string& beginning) { return begins(name, beginning); }))
        cases_.push_back(name);
    }
  }

  static std::string folder_of(const std::string& machine) {
    return fs::path(machine).stem().string();
  }

  void plan() {
    for (const std::string& machine : machines_) {
      for (const std::string& name : cases_) {
        for (const std::string& mode : modes()) {
          if (wants(mode)) add(machine, name, mode, own_.full);
        }
        for (const OtherUnits& other : kOtherUnits) {
          if (wants(other.mode) && wants_units(case_of(name), other))
            add(machine, name, other.mode, own_.full, other.cus);
        }
        if (wants("t3-mca") && adds_by_atomics(case_of(name)))
          add(machine, name, "t3-mca", own_.full, 0, true);
      }
    }
    if (own_.full || !own_.modes.empty()) return;
    for (const std::string& name : full_cases()) {
      if (std::find(cases_.begin(), cases_.end(), name) != cases_.end())
        add(machines_.front(), name, "t3-mca", true);
    }
  }

  bool wants(const std::string& mode) const {
    const std::vector<std::string> some = split(own_.modes, ',');
    return some.empty() || std::find(some.begin(), some.end(), mode) != some.end();
  }

  // What lies around the sub-layers: the operators of the models of chosen cases, and the sweep.
  void add_around(const std::string& machine) {
    if (!own_.modes.empty()) return;
    for (const T3Model& model : t3_models()) {
      const bool chosen = std::any_of(cases_.begin(), cases_.end(), [&](const std::string& name) {
        const T3Case one = case_of(name);
        return one.model == model.model && one.tp == model.tp;
      });
      if (!chosen) continue;
      add_to_campaign({.folder = operators_folder(machine, model),
                       .title = machine + " " + model.name + " operators",
                       .workload = "kernels/roofline",
                       .mode = "operators",
                       .machine = machine,
                       .sets = {"roofline.operators=" + operator_list(model), "roofline.warm=0"}});
    }
    if (!own_.cases.empty()) return;
    for (const char* mode : kDirectModes) {
      add_to_campaign({.folder = direct_folder(machine, mode),
                       .title = fmt::format("{} direct reduce-scatter, {}", machine, mode),
                       .workload = "t3/direct",
                       .mode = mode,
                       .machine = machine,
                       .sets = {}});
    }
    for (const uint32_t rows : kSweepRows) {
      add_to_campaign(
          {.folder = sweep_folder(machine, rows),
           .title = fmt::format("{} reduce-scatter of {} MB", machine, sweep_bytes(rows) >> 20),
           .workload = "t3/mega-op-tp8",
           .mode = "rs",
           .machine = machine,
           .sets = {"sim.mirror=true", "gpus=4", fmt::format("sub_layer.m={}", rows),
                    fmt::format("sub_layer.n={}", kSweepColumns)}});
    }
  }

  // Null: not planned or without result.
  const ResultFile* result_of(const std::string& folder) const {
    return around_.count(folder) == 0 ? nullptr : campaign_.result(folder);
  }
  void add_to_campaign(CampaignRun run) {
    around_.insert(run.folder);
    campaign_.add(std::move(run));
  }

  static std::string operators_folder(const std::string& machine, const T3Model& model) {
    return folder_of(machine) + "/operators/" + model.name;
  }
  static std::string direct_folder(const std::string& machine, const char* mode) {
    return folder_of(machine) + "/direct/" + mode;
  }
  static std::string sweep_folder(const std::string& machine, uint32_t rows) {
    return fmt::format("{}/reduce-scatter/{}mb", folder_of(machine), sweep_bytes(rows) >> 20);
  }

  void add(const std::string& machine, const std::string& name, const std::string& mode, bool full,
           unsigned cus = 0, bool atomics = false) {
    std::string simulated = name;
    if (is_shared(mode)) {
      const std::vector<std::string> parts = split(name, '-');
      simulated = parts[0] + "-op-" + parts[2];
      for (Simulation& other : simulations_) {
        if (other.machine == machine && other.name == simulated && other.mode == mode &&
            other.full == full && other.cus == cus) {
          other.serves.push_back(name);
          return;
        }
      }
    }
    Simulation one{machine, simulated, {name}, mode, full, cus, atomics};
    one.folder = folder_of(machine) + "/" + simulated + "/" + one.key() + (full ? "-full" : "");
    simulations_.push_back(std::move(one));
  }

  void load() {
    for (const Simulation& one : simulations_) {
      const ResultFile* result = campaign_.result(one.folder);
      if (result == nullptr) continue;
      T3Run run{.total = result->time("total"),
                .setup = result->time("setup"),
                .init = result->time("init"),
                .gemm = result->time("gemm"),
                .rs = result->time("rs"),
                .ag = result->time("ag"),
                .dram = {},
                .gpus = result->gpus,
                .spills = result->root().at("tracker").at("spills").whole()};
      for (const char* key : kT3Traffic) run.dram[key] = result->dram(key);
      for (const std::string& name : one.serves) {
        if (one.full && !own_.full) {
          full_.push_back(case_of(name));
          full_.back().runs[one.key()] = run;
          continue;
        }
        for (T3Case& known : results_[one.machine].cases) {
          if (known.name == name) known.runs[one.key()] = run;
        }
      }
    }
  }

  void load_around() {
    for (const std::string& machine : machines_) {
      for (T3Model& model : results_[machine].models) {
        const ResultFile* result = result_of(operators_folder(machine, model));
        if (result == nullptr) continue;
        for (const ResultValue& line : result->root().at("job").at("operators").items())
          model.us.push_back(line.at("us").number());
      }
      for (const char* mode : kDirectModes) {
        const ResultFile* result = result_of(direct_folder(machine, mode));
        if (result == nullptr) continue;
        T3Run& run = results_[machine].direct.runs[mode];
        run = {.total = result->time("total"),
               .setup = result->time("setup"),
               .init = result->time("init"),
               .dram = {},
               .gpus = result->gpus};
        for (const char* key : kT3Traffic) run.dram[key] = result->dram(key);
      }
      for (size_t i = 0; i < std::size(kSweepRows); ++i) {
        const ResultFile* result = result_of(sweep_folder(machine, kSweepRows[i]));
        if (result != nullptr) results_[machine].sweep[i].time_ns = result->time("rs");
      }
    }
  }

  static T3Case case_of(const std::string& name) {
    const std::vector<std::string> parts = split(name, '-');  // tnlg-fc2-tp8.
    return {.name = name,
            .model = parts[0],
            .layer = parts[1],
            .tp = static_cast<unsigned>(std::stoul(parts[2].substr(2))),
            .runs = {}};
  }

  // Isolated times, ideals and speed-ups of each case, and what mirroring changed.
  void write_cases() {
    std::string csv =
        "machine,case,gemm_ms,rs_ms,rs_nmc_ms,ag_ms,sequential_ms,t3_ms,t3_mca_ms,setup_init_ms,"
        "ideal,ideal_nmc,t3,t3_mca,"
        "t3_with_setup_init,t3_mca_with_setup_init,t3_mca_spills\n";
    fmt::print("{:<9} {:<15} {:>8} {:>8} {:>8} {:>8} {:>8} | {:>6} {:>6} {:>6} {:>6}\n", "machine",
               "case", "gemm ms", "rs", "rs-nmc", "ag", "seq.", "ideal", "+nmc", "T3", "T3-MCA");
    for (const std::string& machine : machines_) {
      for (const T3Case& one : results_[machine].cases) {
        if (!one.runs.empty()) csv += write_case(machine, one);
      }
    }
    for (const T3Case& full : full_) {
      for (const T3Case& mirrored : results_[machines_.front()].cases) {
        if (mirrored.name != full.name || !mirrored.has({"t3-mca"})) continue;
        const double a = mirrored.run("t3-mca").layer(), b = full.run("t3-mca").layer();
        fmt::print("{} t3-mca: {:.6f} ms mirrored, {:.6f} ms with all {} GPUs: {:+.2f} %\n",
                   full.name, a / 1e6, b / 1e6, full.run("t3-mca").gpus, 100 * (a / b - 1));
      }
    }
    write_atomically(options_.out + "/cases.csv", csv);
  }

  // Prints the line of a case; returns that of the list. "-": simulations are missing.
  static std::string write_case(const std::string& machine, const T3Case& one) {
    const auto ms = [&](const char* mode, auto time) {
      return one.has({mode}) ? fmt::format("{:.3f}", double(time(one.run(mode))) / 1e6) : "-";
    };
    const auto gain = [&](std::initializer_list<const char*> needs, auto value) {
      return one.has(needs) ? fmt::format("{:.3f}", value()) : "-";
    };
    const auto whole = [&](const char* mode) {
      return gain({"sequential", mode}, [&] {
        return double(one.run("sequential").total) / double(one.run(mode).total);
      });
    };
    const auto layer = [](const T3Run& r) { return r.layer(); };
    const std::string gemm = ms("gemm", [](const T3Run& r) { return r.gemm; });
    const std::string rs = ms("rs", [](const T3Run& r) { return r.rs; });
    const std::string nmc = ms("rs-nmc", [](const T3Run& r) { return r.rs; });
    const std::string ag = ms("ag", [](const T3Run& r) { return r.ag; });
    const std::string sequential = ms("sequential", layer);
    const std::string setup = ms("t3-mca", [](const T3Run& r) { return r.setup + r.init; });
    const std::string ideal =
        gain({"sequential", "gemm", "rs", "ag"}, [&] { return one.ideal_speedup(); });
    const std::string ideal_nmc = gain({"sequential", "gemm", "rs-nmc", "ag"}, [&] {
      return one.run("sequential").layer() / one.ideal_nmc_time();
    });
    const std::string t3 = gain({"sequential", "t3"}, [&] { return one.speedup("t3"); });
    const std::string mca = gain({"sequential", "t3-mca"}, [&] { return one.speedup("t3-mca"); });
    fmt::print("{:<9} {:<15} {:>8} {:>8} {:>8} {:>8} {:>8} | {:>6} {:>6} {:>6} {:>6}\n", machine,
               one.name, gemm, rs, nmc, ag, sequential, ideal, ideal_nmc, t3, mca);
    const std::string spills = one.has({"t3-mca"}) ? std::to_string(one.run("t3-mca").spills) : "-";
    return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", machine, one.name,
                       gemm, rs, nmc, ag, sequential, ms("t3", layer), ms("t3-mca", layer), setup,
                       ideal, ideal_nmc, t3, mca, whole("t3"), whole("t3-mca"), spills);
  }

  // Of each model: a layer in parts, the share of communication, and what T3 makes of it.
  void write_models() {
    std::string csv =
        "machine,model,phase,attention_ms,gemm_ms,rest_ms,sub_layer_gemm_ms,communication_ms,"
        "layer_ms,communication_percent,t3,t3_mca,t3_with_setup_init,t3_mca_with_setup_init\n";
    fmt::print("\n{:<9} {:<20} {:>9} {:>8} {:>8} {:>8} {:>9} {:>8} | {:>6} {:>6} {:>6}\n",
               "machine", "iteration, a layer", "attention", "GEMMs", "rest", "sub-l.", "RS, AG",
               "all ms", "comm%", "T3", "T3-MCA");
    for (const std::string& machine : machines_) {
      for (const T3Model& model : results_[machine].models) {
        csv += write_iteration(machine, model, T3Phase::prompt);
        csv += write_iteration(machine, model, T3Phase::training);
      }
    }
    write_atomically(options_.out + "/models.csv", csv);
  }

  std::string write_iteration(const std::string& machine, const T3Model& model,
                              T3Phase phase) const {
    const std::vector<T3Case>& cases = results_.at(machine).cases;
    if (!missing_for(model, cases, phase, "sequential").empty()) return "";
    const T3Iteration i = iteration_of(model, cases, phase, "sequential");
    const double share = 100 * i.communication / i.total();
    const auto gain = [&](const char* mode, bool whole) -> std::string {
      if (!missing_for(model, cases, phase, mode).empty()) return "-";
      return fmt::format("{:.3f}", iteration_of(model, cases, phase, "sequential", whole).total() /
                                       iteration_of(model, cases, phase, mode, whole).total());
    };
    const char* phase_name = phase == T3Phase::prompt ? "prompt" : "training";
    const std::string t3 = gain("t3", false), mca = gain("t3-mca", false);
    fmt::print(
        "{:<9} {:<20} {:>9.3f} {:>8.3f} {:>8.3f} {:>8.3f} {:>9.3f} {:>8.3f} | {:>6.1f} "
        "{:>6} {:>6}\n",
        machine, model.name + " " + phase_name, i.attention, i.gemm, i.rest, i.sub_layer_gemm,
        i.communication, i.total(), share, t3, mca);
    return fmt::format("{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.1f},{},{},{},{}\n",
                       machine, model.name, phase_name, i.attention, i.gemm, i.rest,
                       i.sub_layer_gemm, i.communication, i.total(), share, t3, mca,
                       gain("t3", true), gain("t3-mca", true));
  }

  void write_table() {
    write_targets({.name = options_.name,
                   .columns = machines_,
                   .targets = targets_,
                   .measure =
                       [this](const std::string& id, const std::string& machine) {
                         return measure_t3(id, results_[machine]);
                       },
                   .out = options_.out,
                   .partial = partial()});
    fmt::print("written: {}/{{table.csv,table.json,cases.csv,models.csv}}\n", options_.out);
  }

  // What makes this less than the whole reproduction.
  std::vector<std::string> partial() const {
    std::vector<std::string> all;
    if (cases_.size() < shipped_cases_.size())
      all.push_back(fmt::format("--cases {}: {} of {} cases", own_.cases, cases_.size(),
                                shipped_cases_.size()));
    const auto wanted = std::count_if(modes().begin(), modes().end(),
                                      [this](const std::string& mode) { return wants(mode); });
    if (wanted < static_cast<long>(modes().size()))
      all.push_back(fmt::format("--modes {}: {} of {} modes", own_.modes, wanted, modes().size()));
    if (!options_.figure.empty())
      all.push_back(fmt::format("--figure {}: {} of {} targets", options_.figure, targets_.size(),
                                t3_ids().size()));
    if (const std::string missing = campaign_.missing_results(); !missing.empty())
      all.push_back(missing);
    return all;
  }

  const ReproduceOptions& options_;
  const T3Options own_;
  Campaign campaign_;
  const std::vector<std::string> machines_;
  const std::vector<Target> targets_;
  std::vector<std::string> shipped_cases_;
  std::vector<std::string> cases_;  // Of them, those that were asked for.
  std::vector<Simulation> simulations_;
  std::set<std::string> around_;  // Folders of the operators of models and of the sweep.
  std::map<std::string, T3Results> results_;  // By machine: all shipped cases, all models.
  std::vector<T3Case> full_;                  // On the first machine, with all GPUs.
};

int run(const ReproduceOptions& options, const po::variables_map& own) {
  return T3Reproduction(options, options_of(own)).run();
}

}  // namespace

Reproduction t3_reproduction() {
  return {.name = "t3",
          .sentence = "T3 (ASPLOS'24): sub-layers with overlapped reduce-scatter",
          .figures = kFigures,
          .add_options = add_options,
          .run = run};
}

}  // namespace stretto
