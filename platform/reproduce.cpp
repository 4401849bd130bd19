// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce.h"

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
#include "models/common/read_file.h"
#include "platform/atomic_file.h"
#include "platform/cli.h"
#include "platform/compare.h"
#include "platform/job_pool.h"
#include "platform/machine.h"
#include "platform/options.h"
#include "platform/system.h"
#include "platform/t3_targets.h"
#include "platform/workload.h"
#include "platform/yaml_file.h"

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
bool is_shared(const std::string& mode) {
  return mode == "rs" || mode == "rs-nmc" || mode == "ag";
}

struct Simulation {
  std::string machine;
  std::string name;                 // Case that is simulated.
  std::vector<std::string> serves;  // Cases whose result it is.
  std::string mode;
  bool full = false;
  std::string folder;
  std::string key;  // See checked_key().
};

class Reproduction {
 public:
  explicit Reproduction(const ReproduceOptions& options)
      : options_(options), machines_(split(options.machines, ',')) {
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
    for (Simulation& one : simulations_) one.key = checked_key(one);
    if (options.table_only && !fs::is_directory(options.out))
      throw UserError("--table-only: " + options.out +
                      ": no such folder; results are there after 'stretto reproduce t3'");
    lock_ = std::make_unique<OutputFolder>(options.out);
  }

  int run() {
    tell_unreadable();
    tell_stale();
    const int status = options_.table_only ? kExitSuccess : simulate();
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
    targets_ =
        load_targets(std::string(STRETTO_SOURCE_DIR) + "/tests/reproduction/targets/t3.yaml");
    if (std::none_of(targets_.begin(), targets_.end(),
                     [this](const Target& target) { return computed(target) && wants(target); })) {
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

  static bool computed(const Target& target) {
    return std::find(t3_ids().begin(), t3_ids().end(), target.id) != t3_ids().end();
  }

  // Builds the machine description of a simulation, so that what is wrong with it is said before
  // any simulation, and makes from it what must be equal for a result to be taken from a folder:
  // the machine in all its parameters, the workload, and the executable and programs that ran. How
  // many threads do it changes no result.
  std::string checked_key(const Simulation& one) const {
    RunOptions options;
    options.mode = one.mode;
    Machine machine;
    SystemRequest request{machine, options, load_workload("t3/" + one.name), true, DataMode::stamp};
    machine.load(one.machine);
    request.workload.configure(machine);
    if (!one.full) machine.set("sim.mirror=true");
    for (const std::string& set : options_.sets) machine.set(set);
    machine.check();
    request.workload.what->check(request);
    std::string text = "workload t3/" + one.name + "\nmode " + one.mode + "\n";
    for (const auto& [key, size] : request.workload.what->shape())
      text += key + " " + std::to_string(size) + "\n";
    text += "impl " + options_.impl + "\n";
    for (const Parameter& parameter : machine.parameters().all()) {
      if (parameter.path != "sim.threads") text += parameter.path + " " + parameter.get() + "\n";
    }
    std::vector<std::string> files = request.workload.what->kernel_files(request);
    files.insert(files.begin(), {"/proc/self/exe", software_folder() + "/firmware/main.elf"});
    for (const std::string& file : files) {
      text += fs::path(file).filename().string() + " sha256 " + sum_of(file) + "\n";
    }
    return text;
  }

  const std::string& sum_of(const std::string& file) const {
    std::string& sum = sums_[file];
    if (sum.empty()) {
      const std::string contents = read_file(file);
      sum = sha256_hex(contents.data(), contents.size());
    }
    return sum;
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
    Simulation one{machine, simulated, {name}, mode, full, "", ""};
    one.folder = options_.out + "/" + folder_of(machine) + "/" + simulated + "/" + mode +
                 (full ? "-full" : "");
    simulations_.push_back(std::move(one));
  }

  std::vector<std::string> arguments(const Simulation& one) const {
    std::vector<std::string> words{"run",    "t3/" + one.name, "--machine", one.machine,
                                   "--mode", one.mode,         "--out",     one.folder};
    if (!one.full) words.insert(words.end(), {"--set", "sim.mirror=true"});
    // With several simulations at a time each keeps to one thread.
    if (options_.jobs > 1) words.insert(words.end(), {"--set", "sim.threads=1"});
    if (!options_.impl.empty()) words.insert(words.end(), {"--impl", options_.impl});
    for (const std::string& set : options_.sets) words.insert(words.end(), {"--set", set});
    return words;
  }

  static bool readable(const Simulation& one) {
    try {
      const json::value root = load_results(one.folder);
      const json::object& all = root.as_object();
      return all.contains("status") && all.contains("time_ns") && all.contains("dram_bytes");
    } catch (const UserError&) {
      return false;
    }
  }

  bool there(const Simulation& one) const {
    return fs::exists(one.folder + "/stats.json") && fs::exists(one.folder + "/key") &&
           readable(one) && text_of(load_results(one.folder), "status") == "complete";
  }

  bool done(const Simulation& one) const {
    return there(one) && read_file(one.folder + "/key") == one.key;
  }

  void tell_unreadable() const {
    std::vector<std::string> files;
    for (const Simulation& one : simulations_) {
      const std::string file = one.folder + "/stats.json";
      if (fs::exists(file) && !readable(one)) files.push_back(file);
    }
    if (files.empty()) return;
    std::fprintf(stderr, "reproduce t3: %zu results are damaged, the first is %s: %s\n",
                 files.size(), files.front().c_str(), again());
  }

  const char* again() const { return options_.table_only ? "left out" : "simulated again"; }

  void tell_stale() const {
    const auto stale = std::count_if(simulations_.begin(), simulations_.end(),
                                     [this](const Simulation& s) { return there(s) && !done(s); });
    if (stale == 0) return;
    std::fprintf(stderr,
                 "reproduce t3: %td results in %s are of another build, firmware, kernel, machine "
                 "or option: %s\n",
                 stale, options_.out.c_str(), again());
  }

  static std::string text_of(const json::value& root, const char* name) {
    const json::value* at = root.as_object().if_contains(name);
    return at != nullptr && at->is_string() ? std::string(at->get_string()) : "";
  }

  int simulate() {
    std::vector<ChildProcess> jobs;
    std::error_code error;
    const std::string self = fs::read_symlink("/proc/self/exe", error).string();
    for (const Simulation& one : simulations_) {
      if (done(one)) continue;
      prepare_folder(one.folder);
      fs::remove(one.folder + "/stats.json", error);
      write_atomically(one.folder + "/key", one.key);
      ChildProcess job;
      job.title = one.machine + " " + one.name + " " + one.mode + (one.full ? " full" : "");
      job.command = arguments(one);
      job.command.insert(job.command.begin(), self);
      job.log_file = one.folder + "/log";
      jobs.push_back(std::move(job));
    }
    std::fprintf(stderr,
                 "reproduce t3: %zu of %zu simulations to run, %u at a time, results in %s\n",
                 jobs.size(), simulations_.size(), options_.jobs, options_.out.c_str());
    size_t finished = 0;
    int status = kExitSuccess;
    const int signal = run_jobs(jobs, options_.jobs, [&](const ChildProcess& job) {
      ++finished;
      const bool failed = job.exit_code != 0 && !job.interrupted;
      const char* how = failed ? "FAILED" : job.exit_code != 0 ? "interrupted" : "ok";
      std::fprintf(stderr, "[%zu/%zu] %s: %s (exit %d, %.1f s)%s%s\n", finished, jobs.size(),
                   job.title.c_str(), how, job.exit_code, job.seconds, failed ? "; see " : "",
                   failed ? job.log_file.c_str() : "");
      if (job.exit_code != 0 && status == kExitSuccess) status = job.exit_code;
    });
    if (signal != 0)
      throw Interrupted("interrupted; this goes on from here: " + options_.command_line, signal);
    return status;
  }

  void load() {
    for (const Simulation& one : simulations_) {
      if (!done(one)) continue;
      const json::value root = load_results(one.folder);
      // A result that failed its own checks measures nothing.
      if (number_at(root, {"audit", "violations"}) != 0 ||
          number_at(root, {"check", "mismatches"}) != 0)
        continue;
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

  bool wants(const Target& target) const {
    if (options_.figure.empty() || target.id == options_.figure) return true;
    const std::string figure = "Fig " + options_.figure;
    const size_t at = target.section.find(figure);
    return at != std::string::npos && (at + figure.size() == target.section.size() ||
                                       !std::isdigit(target.section[at + figure.size()]));
  }

  void write_table() {
    std::string csv = "id,kind,metric,published,unit";
    for (const std::string& machine : machines_)
      csv += "," + machine + "," + machine + " ratio," + machine + " verdict," + machine + " note";
    csv += ",statement\n";
    std::printf("\n%-7s %-10s %-26s %9s", "id", "kind", "metric", "published");
    for (const std::string& machine : machines_)
      std::printf(" | %9s %6s %-7s", machine.c_str(), "ratio", "verdict");
    std::printf("\n");
    json::array rows;
    unsigned count = 0;
    std::map<std::string, unsigned> met;
    for (const std::string& id : t3_ids()) {
      const auto target = std::find_if(targets_.begin(), targets_.end(),
                                       [&](const Target& t) { return t.id == id; });
      if (target == targets_.end() || !wants(*target)) continue;
      ++count;
      const std::string published = target->value ? format("%g", *target->value) : "trend";
      std::printf("%-7s %-10s %-26s %9s", id.c_str(), target->kind.c_str(), target->metric.c_str(),
                  published.c_str());
      csv += id + "," + target->kind + "," + target->metric + "," + published + "," + target->unit;
      json::object row{{"id", id},
                       {"kind", target->kind},
                       {"metric", target->metric},
                       {"unit", target->unit},
                       {"statement", target->statement}};
      row["published"] = target->value ? json::value(*target->value) : json::value();
      std::string notes;
      for (const std::string& machine : machines_) {
        const Measured measured = measure(id, results_[machine]);
        const std::string judged = verdict(*target, measured);
        met[machine] += judged == "met";
        const std::string value = measured.value ? format("%.3f", *measured.value) : "-";
        const std::string ratio = measured.value && target->value
                                      ? format("%.2f", *measured.value / *target->value)
                                      : "-";
        std::printf(" | %9s %6s %-7s", value.c_str(), ratio.c_str(), judged.c_str());
        csv += "," + value + "," + ratio + "," + judged + ",\"" + measured.note + "\"";
        if (!measured.note.empty()) notes += "        " + machine + ": " + measured.note + "\n";
        json::object cell{{"verdict", judged}, {"note", measured.note}};
        cell["measured"] = measured.value ? json::value(*measured.value) : json::value();
        row[machine] = std::move(cell);
      }
      std::string statement = target->statement;
      std::replace(statement.begin(), statement.end(), '"', '\'');
      csv += ",\"" + statement + "\"\n";
      std::printf("\n%s", notes.c_str());
      rows.push_back(std::move(row));
    }
    for (const std::string& machine : machines_)
      std::printf("%s: %u of %u met\n", machine.c_str(), met[machine], count);
    write_atomically(options_.out + "/table.csv", csv);
    write_atomically(options_.out + "/table.json", json::serialize(rows) + "\n");
    std::printf("written: %s/{table.csv,table.json,cases.csv}\n", options_.out.c_str());
  }

  const ReproduceOptions& options_;
  std::vector<std::string> machines_;
  std::vector<std::string> cases_;
  std::vector<Target> targets_;
  std::vector<Simulation> simulations_;
  std::unique_ptr<OutputFolder> lock_;
  mutable std::map<std::string, std::string> sums_;  // SHA-256 of files, by name.
  std::map<std::string, std::vector<T3Case>> results_;
};

}  // namespace

int reproduce(const ReproduceOptions& options) {
  return Reproduction(options).run();
}

}  // namespace stretto
