// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/t3/reproduce.h"

#include <unistd.h>

#include <boost/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>

#include "models/common/error.h"
#include "platform/base/atomic_file.h"
#include "platform/base/exit_status.h"
#include "platform/base/installation.h"
#include "platform/campaign/campaign.h"
#include "platform/config/machine.h"
#include "platform/config/options.h"
#include "platform/jobs/workload.h"
#include "platform/reproduce/t3/t3_targets.h"
#include "platform/results/result_file.h"

namespace stretto {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

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

// `wanted`: beginnings of names, by commas; empty = all.
bool chosen(const std::string& name, const std::string& wanted) {
  const std::vector<std::string> beginnings = split(wanted, ',');
  return wanted.empty() ||
         std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& one) { return name.rfind(one, 0) == 0; });
}

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
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
  std::string folder;
};

class Reproduction {
 public:
  explicit Reproduction(const ReproduceOptions& options)
      : options_(options), campaign_("t3", options), machines_(split(options.machines, ',')) {
    if (machines_.empty()) throw UserError("--machines: give at least one, as in t3,t3-paper");
    check_options();
    for (const std::string& name : shipped("workloads")) {
      if (name.rfind("t3/", 0) != 0 || name.find("-tp") == std::string::npos) continue;
      const std::string shorter = name.substr(3);
      if (chosen(shorter, options.cases)) cases_.push_back(shorter);
    }
    for (const std::string& beginning : split(options.cases, ',')) {
      if (std::none_of(cases_.begin(), cases_.end(),
                       [&](const std::string& name) { return name.rfind(beginning, 0) == 0; }))
        throw UserError("--cases " + beginning +
                        ": no case begins so; 'stretto list workloads' shows all as t3/CASE");
    }
    if (cases_.empty()) throw UserError("--cases: give at least one, as in tnlg,mega-op");
    plan();
    for (const Simulation& one : simulations_) {
      CampaignRun run;
      run.folder = one.folder;
      run.title = one.machine + " " + one.name + " " + one.mode + (one.full ? " full" : "");
      run.workload = "t3/" + one.name;
      run.mode = one.mode;
      run.machine = one.machine;
      if (!one.full) run.sets.push_back("sim.mirror=true");
      campaign_.add(std::move(run));
    }
    campaign_.lock();
  }

  int run() {
    const int status = campaign_.simulate();
    load();
    write_cases();
    write_table();
    return status;
  }

 private:
  // What can be judged without building a machine.
  void check_options() {
    std::string all;
    for (const std::string& mode : modes()) all += (all.empty() ? "" : ", ") + mode;
    const std::vector<std::string> wanted = split(options_.modes, ',');
    if (wanted.empty() && !options_.modes.empty())
      throw UserError("--modes: give at least one of " + all);
    for (const std::string& mode : wanted) {
      if (std::find(modes().begin(), modes().end(), mode) == modes().end())
        throw UserError("--modes " + mode + ": must be of " + all);
    }
    std::set<std::string> folders;
    for (const std::string& machine : machines_) {
      if (!folders.insert(folder_of(machine)).second)
        throw UserError("--machines " + options_.machines + ": two would share the folder " +
                        folder_of(machine));
    }
    const std::vector<Target> all_targets = load_targets("t3");
    for (const std::string& id : t3_ids()) {
      for (const Target& target : all_targets) {
        if (target.id == id && in_figure(target, options_.figure)) targets_.push_back(target);
      }
    }
    if (targets_.empty()) {
      throw UserError("--figure " + options_.figure +
                      ": no target of this version; allowed: 16, 17, 18 or one of " +
                      t3_ids().front() + " .. " + t3_ids().back());
    }
    if (!options_.impl.empty()) {
      std::map<std::string, Impl> ignored;
      set_impl(options_.impl, ignored);
    }
  }

  static std::string folder_of(const std::string& machine) {
    return fs::path(machine).stem().string();
  }

  void plan() {
    for (const std::string& machine : machines_) {
      for (const std::string& name : cases_) {
        for (const std::string& mode : modes()) {
          if (wants(mode)) add(machine, name, mode, options_.full);
        }
      }
    }
    if (options_.full || !options_.modes.empty()) return;
    for (const std::string& name : full_cases()) {
      if (std::find(cases_.begin(), cases_.end(), name) != cases_.end())
        add(machines_.front(), name, "t3-mca", true);
    }
  }

  bool wants(const std::string& mode) const {
    const std::vector<std::string> some = split(options_.modes, ',');
    return some.empty() || std::find(some.begin(), some.end(), mode) != some.end();
  }

  void add(const std::string& machine, const std::string& name, const std::string& mode,
           bool full) {
    std::string simulated = name;
    if (is_shared(mode)) {
      const std::vector<std::string> parts = split(name, '-');
      simulated = parts[0] + "-op-" + parts[2];
      for (Simulation& other : simulations_) {
        if (other.machine == machine && other.name == simulated && other.mode == mode &&
            other.full == full) {
          other.serves.push_back(name);
          return;
        }
      }
    }
    Simulation one{machine, simulated, {name}, mode, full, ""};
    one.folder = folder_of(machine) + "/" + simulated + "/" + mode + (full ? "-full" : "");
    simulations_.push_back(std::move(one));
  }

  void load() {
    for (const Simulation& one : simulations_) {
      const std::optional<json::value> result = campaign_.result(one.folder);
      if (!result) continue;
      const json::value& root = *result;
      T3Run run;
      run.total = number_at(root, {"time_ns", "total"});
      run.setup = number_at(root, {"time_ns", "setup"});
      run.init = number_at(root, {"time_ns", "init"});
      run.gemm = number_at(root, {"time_ns", "gemm"});
      run.rs = number_at(root, {"time_ns", "rs"});
      run.ag = number_at(root, {"time_ns", "ag"});
      run.link_bytes = number_at(root, {"link_bytes"});
      run.gpus = static_cast<uint32_t>(number_at(root, {"gpus"}));
      for (const auto& item : root.at("dram_bytes").as_object()) {
        run.dram[std::string(item.key())] = item.value().to_number<uint64_t>();
      }
      std::vector<T3Case>& cases =
          results_[one.full && !options_.full ? one.machine + " full" : one.machine];
      for (const std::string& name : one.serves) case_of(cases, name).runs[one.mode] = run;
    }
  }

  static T3Case& case_of(std::vector<T3Case>& cases, const std::string& name) {
    const auto found =
        std::find_if(cases.begin(), cases.end(), [&](const T3Case& c) { return c.name == name; });
    if (found != cases.end()) return *found;
    const std::vector<std::string> parts = split(name, '-');  // tnlg-fc2-tp8.
    T3Case fresh;
    fresh.name = name;
    fresh.model = parts[0];
    fresh.layer = parts[1];
    fresh.tp = static_cast<unsigned>(std::stoul(parts[2].substr(2)));
    return *cases.insert(cases.end(), fresh);
  }

  // Isolated times, ideals and speed-ups of each case, and what mirroring changed.
  void write_cases() {
    std::string csv =
        "machine,case,gemm_ms,rs_ms,rs_nmc_ms,ag_ms,sequential_ms,t3_ms,t3_mca_ms,setup_init_ms,"
        "ideal,ideal_nmc,t3,t3_mca,"
        "t3_with_setup_init,t3_mca_with_setup_init\n";
    std::printf("%-9s %-15s %8s %8s %8s %8s %8s | %6s %6s %6s %6s\n", "machine", "case", "gemm ms",
                "rs", "rs-nmc", "ag", "seq.", "ideal", "+nmc", "T3", "T3-MCA");
    for (const std::string& machine : machines_) {
      for (const T3Case& one : results_[machine]) {
        const auto ms = [&](const char* mode, auto field) {
          return one.runs.count(mode) ? format("%.3f", double(field(one.run(mode))) / 1e6)
                                      : std::string("-");
        };
        const auto gain = [&](std::initializer_list<const char*> needs, auto value) {
          return one.has(needs) ? format("%.3f", value()) : std::string("-");
        };
        const auto layer = [](const T3Run& r) { return r.layer(); };
        const std::string gemm = ms("gemm", [](const T3Run& r) { return r.gemm; });
        const std::string rs = ms("rs", [](const T3Run& r) { return r.rs; });
        const std::string nmc = ms("rs-nmc", [](const T3Run& r) { return r.rs; });
        const std::string ag = ms("ag", [](const T3Run& r) { return r.ag; });
        const std::string sequential = ms("sequential", layer);
        const std::string ideal =
            gain({"sequential", "gemm", "rs", "ag"}, [&] { return one.ideal_speedup(); });
        const std::string ideal_nmc = gain({"sequential", "gemm", "rs-nmc", "ag"}, [&] {
          return one.run("sequential").layer() / one.ideal_nmc_time();
        });
        const std::string t3 = gain({"sequential", "t3"}, [&] { return one.speedup("t3"); });
        const std::string mca =
            gain({"sequential", "t3-mca"}, [&] { return one.speedup("t3-mca"); });
        const auto whole = [&](const char* mode) {
          return gain({"sequential", mode}, [&] {
            return double(one.run("sequential").total) / double(one.run(mode).total);
          });
        };
        std::printf("%-9s %-15s %8s %8s %8s %8s %8s | %6s %6s %6s %6s\n", machine.c_str(),
                    one.name.c_str(), gemm.c_str(), rs.c_str(), nmc.c_str(), ag.c_str(),
                    sequential.c_str(), ideal.c_str(), ideal_nmc.c_str(), t3.c_str(), mca.c_str());
        csv += machine + "," + one.name + "," + gemm + "," + rs + "," + nmc + "," + ag + "," +
               sequential + "," + ms("t3", layer) + "," + ms("t3-mca", layer) + "," +
               ms("t3-mca", [](const T3Run& r) { return r.setup + r.init; }) + "," + ideal + "," +
               ideal_nmc + "," + t3 + "," + mca + "," + whole("t3") + "," + whole("t3-mca") + "\n";
      }
    }
    for (const T3Case& full : results_[machines_.front() + " full"]) {
      for (const T3Case& mirrored : results_[machines_.front()]) {
        if (mirrored.name != full.name || !mirrored.runs.count("t3-mca")) continue;
        const double a = mirrored.run("t3-mca").layer(), b = full.run("t3-mca").layer();
        std::printf("%s t3-mca: %.6f ms mirrored, %.6f ms with all %u GPUs: %+.2f %%\n",
                    full.name.c_str(), a / 1e6, b / 1e6, full.run("t3-mca").gpus,
                    100 * (a / b - 1));
      }
    }
    write_atomically(options_.out + "/cases.csv", csv);
  }

  void write_table() {
    write_targets({machines_, targets_,
                   [this](const std::string& id, const std::string& machine) {
                     return measure(id, results_[machine]);
                   },
                   options_.out});
    std::printf("written: %s/{table.csv,table.json,cases.csv}\n", options_.out.c_str());
  }

  const ReproduceOptions& options_;
  Campaign campaign_;
  std::vector<std::string> machines_;
  std::vector<std::string> cases_;
  std::vector<Target> targets_;
  std::vector<Simulation> simulations_;
  std::map<std::string, std::vector<T3Case>> results_;
};

}  // namespace

int reproduce(const ReproduceOptions& options) { return Reproduction(options).run(); }

}  // namespace stretto
