// SPDX-License-Identifier: Apache-2.0
#include "platform/results/compare.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "platform/base/exit_status.h"
#include "platform/base/say.h"
#include "platform/base/text_table.h"
#include "platform/config/options.h"
#include "platform/config/yaml_file.h"
#include "platform/results/result_file.h"

namespace stretto {

namespace json = boost::json;

namespace {

// A result and what is known of its machine.
struct Compared {
  ResultFile result;
  bool has_machine = true;                        // machine.yaml is there.
  std::map<std::string, std::string> parameters;  // Of it.
  bool comparable = true;                         // Its times may be divided.
};

void flatten(const YAML::Node& node, const std::string& prefix,
             std::map<std::string, std::string>& all) {
  for (const auto& item : node) {
    const std::string path = prefix + item.first.Scalar();
    if (item.second.IsMap()) {
      flatten(item.second, path + ".", all);
    } else if (path != "description" && path.rfind("sim.", 0) != 0) {  // sim.* changes no result.
      all[path] = item.second.Scalar();
    }
  }
}

Compared load(const std::string& folder) {
  Compared one{ResultFile(folder), true, {}, true};
  const std::string& suffix = one.result.suffix;
  if (!suffix.empty())
    say(folder +
        ": a later run has no results, it goes on or was killed; these are of the one "
        "before it (*" +
        suffix + ")");
  const std::string machine = folder + "/machine.yaml" + suffix;
  one.has_machine = std::filesystem::exists(machine);
  if (one.has_machine) flatten(load_yaml(machine), "", one.parameters);
  return one;
}

// "rtl/mca 0123456789ab"; empty if the block ran as model.
std::string rtl_of(const ResultFile& result, const std::string& block) {
  const std::optional<ResultValue> rtl = result.root().find("rtl");
  const std::optional<ResultValue> one = rtl ? rtl->find(block) : std::nullopt;
  if (!one) return "";
  return one->at("sources").text() + " " + one->at("sha256").text().substr(0, 12);
}

// "rtl", or "mca=model, else rtl".
std::string impl_of(const ResultFile& result) {
  std::map<std::string, std::vector<std::string>> blocks;  // By what they ran as.
  for (const auto& [block, impl] : result.root().at("impl").texts()) blocks[impl].push_back(block);
  std::string most, text;
  for (const auto& [impl, names] : blocks) {
    if (most.empty() || names.size() > blocks[most].size()) most = impl;
  }
  for (const auto& [impl, names] : blocks) {
    for (const std::string& block : names)
      if (impl != most) text += fmt::format("{}={}, ", block, impl);
  }
  return text.empty() ? most : text + "else " + most;
}

// By parameter of the workload's kind: see Job::contents().
std::map<std::string, std::string> contents(const ResultFile& of) {
  const std::optional<ResultValue> found = of.root().find("contents");
  return found ? found->texts() : std::map<std::string, std::string>{};
}

// In what `b` differs from `a` beside the mode, as "machine (t3, t3-method), ...".
std::string differences(const Compared& a, const Compared& b) {
  constexpr size_t kShown = 6;
  std::vector<std::string> all;
  const auto add = [&](const std::string& what, const std::string& left, const std::string& right) {
    if (left != right) all.push_back(fmt::format("{} ({}, {})", what, left, right));
  };
  add("machine", a.result.machine, b.result.machine);
  add("data", a.result.data, b.result.data);
  add("firmware_sha256", a.result.firmware_sha256.substr(0, 12),
      b.result.firmware_sha256.substr(0, 12));
  add("impl", impl_of(a.result), impl_of(b.result));
  add("seed", std::to_string(a.result.seed), std::to_string(b.result.seed));
  add("gpus", std::to_string(a.result.gpus), std::to_string(b.result.gpus));
  for (const std::string& block : block_names()) {
    const std::string left = rtl_of(a.result, block), right = rtl_of(b.result, block);
    if (!left.empty() && !right.empty() && left != right)
      all.push_back(fmt::format("rtl of {} ({}, {})", block, left, right));
  }
  for (const auto& [path, value] : b.parameters) {
    const auto other = a.parameters.find(path);
    if (path != "gpus" && other != a.parameters.end() && other->second != value)
      all.push_back(fmt::format("{} ({}, {})", path, other->second, value));
  }
  // Of the kind, those that are no part of the work.
  for (const auto& [key, what] : contents(b.result)) {
    const auto left = a.result.parameters.find(key), right = b.result.parameters.find(key);
    if (!what.empty() || left == a.result.parameters.end() || right == b.result.parameters.end())
      continue;
    if (left->second != right->second && !left->second.empty() && !right->second.empty())
      all.push_back(fmt::format("{} ({}, {})", key, left->second, right->second));
  }
  const size_t shown = std::min(all.size(), kShown);
  std::string text = fmt::format("{}", fmt::join(all.begin(), all.begin() + shown, ", "));
  if (all.size() > shown) text += fmt::format(" and {} more", all.size() - shown);
  return text;
}

// In what the work of `b` differs from that of `a`; empty if it does not. Modes of a workload may
// do different parts of it.
std::string other_work(const ResultFile& a, const ResultFile& b) {
  if (a.workload != b.workload) return "workload " + b.workload;
  const auto mine = contents(a), others = contents(b);
  for (const auto& [key, value] : b.parameters) {
    if (mine.contains(key) && others.contains(key)) {  // Of files, not what they are called.
      if (mine.at(key) != others.at(key)) return value + " holds another " + key;
      continue;
    }
    const auto other = a.parameters.find(key);
    if (other == a.parameters.end() || other->second != value) return key + " is " + value;
  }
  if (a.root().at("shape").json() != b.root().at("shape").json()) return "another shape";
  const std::string left = a.root().at("work").text(), right = b.root().at("work").text();
  if (left != right)
    return fmt::format("mode {} does {}, mode {} does {}", a.mode,
                       left.empty() ? "all of it" : left, b.mode,
                       right.empty() ? "all of it" : right);
  return "";
}

// Marks results whose times must not be divided. Returns a line for each, and for what makes a
// ratio doubtful.
std::string judge(std::vector<Compared>& all) {
  const Compared& first = all[0];
  std::string lines;
  for (Compared& one : all) {
    if (!one.has_machine)
      lines += fmt::format(
          "stretto: {0}: parameters are not compared: {0}/machine.yaml is missing; was the run "
          "killed while it wrote its results?\n",
          one.result.folder);
    std::string why = one.result.why_unusable();
    if (why.empty()) {
      if (const std::string other = other_work(first.result, one.result); !other.empty())
        why = fmt::format("its work is not that of {} ({})", first.result.folder, other);
    }
    if (!why.empty()) {
      lines += fmt::format("stretto: {}: no speed-up: {}\n", one.result.folder, why);
      one.comparable = false;
      continue;
    }
    const std::string differs = differences(first, one);
    if (!differs.empty())
      lines += fmt::format("stretto: {}: not only the mode differs from {}: {}\n",
                           one.result.folder, first.result.folder, differs);
  }
  return lines;
}

// The keys of a group, of all results, in the order of their files, without those that are 0 in
// all.
std::vector<std::string> keys_of(const std::vector<Compared>& all, const std::string& group) {
  std::vector<std::string> keys;
  for (const Compared& one : all) {
    const std::optional<ResultValue> values = one.result.root().find(group);
    if (!values) continue;
    for (const auto& [key, value] : values->members()) {
      if (value.whole() != 0 && std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
    }
  }
  return keys;
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// What a value of `job` says in a cell; nothing for what stands in the job's table.
std::optional<std::string> cell_of(const json::value& value) {
  if (value.is_string()) {
    const std::string text(value.get_string());
    return is_sha256(text) ? text.substr(0, 12) : text;
  }
  if (value.is_double()) return fmt::format("{:.6g}", value.get_double());
  if (value.is_number() || value.is_bool()) return json::serialize(value);
  return std::nullopt;
}

void job_rows(const std::vector<Compared>& all, TextTable& table) {
  std::vector<std::string> keys;
  std::vector<std::map<std::string, std::string>> cells(all.size());
  const std::function<void(const std::string&, const ResultValue&, size_t)> walk =
      [&](const std::string& path, const ResultValue& value, size_t column) {
        if (value.json().is_object()) {
          for (const auto& [key, below] : value.members())
            walk(path.empty() ? key : path + "." + key, below, column);
        } else if (const std::optional<std::string> cell = cell_of(value.json())) {
          cells[column][path] = *cell;
          if (std::find(keys.begin(), keys.end(), path) == keys.end()) keys.push_back(path);
        }
      };
  for (size_t i = 0; i < all.size(); ++i) {
    if (const auto job = all[i].result.root().find("job")) walk("", *job, i);
  }
  for (const std::string& key : keys) {
    std::vector<std::string> row{"job " + key};
    for (const auto& column : cells) row.push_back(column.count(key) ? column.at(key) : "-");
    table.row(std::move(row));
  }
}

// The table that the run itself has printed.
std::string job_table(const ResultFile& result) {
  std::string text;
  if (const auto lines = result.root().find("table")) {
    for (const ResultValue& line : lines->items()) text += line.text() + "\n";
  }
  return text;
}

double sum_of_phases(const ResultFile& result) {
  double sum = 0;
  for (const auto& [phase, ns] : result.time_ns) sum += phase == "total" ? 0 : double(ns);
  return sum;
}

std::string phase_note(const std::vector<Compared>& all) {
  // Each is rounded to nanoseconds.
  const bool differs = std::any_of(all.begin(), all.end(), [](const Compared& one) {
    const ResultFile& r = one.result;
    return std::abs(sum_of_phases(r) - double(r.time("total"))) > double(r.time_ns.size());
  });
  if (!differs) return "";
  return "\nPhases may overlap, and no_phase is time in none of them: their sum differs from the "
         "total by 'phases - total'.\nThe total ends with the last host program; counters of "
         "components run on until the machine is quiet.\n";
}

// Rows with a cell for each result.
class Rows {
 public:
  explicit Rows(const std::vector<Compared>& all) : all_(all) {}

  template <class Cell>
  void add(const std::string& title, Cell cell) {
    std::vector<std::string> cells{title};
    for (const Compared& one : all_) cells.push_back(cell(one.result));
    table_.row(std::move(cells));
  }
  void add_gap() {
    add("", [](const ResultFile&) { return std::string(); });
  }
  // The numbers of an object, divided by `scale`; "-" where a result has no such key, or a phase
  // did not come.
  void add_group(const std::string& name, const std::string& before, const char* unit, double scale,
                 int digits) {
    for (const std::string& key : keys_of(all_, name)) {
      if (key == "total") continue;
      add(before + key + unit, [&](const ResultFile& r) {
        const std::optional<ResultValue> values = r.root().find(name);
        const std::optional<ResultValue> value = values ? values->find(key) : std::nullopt;
        const bool has = value && (name != "time_ns" || value->whole() != 0);
        return has ? fmt::format("{:.{}f}", double(value->whole()) / scale, digits) : "-";
      });
    }
  }
  // A speed-up is asked for with and without what comes before the first kernel.
  void add_speedup(const std::string& title, const std::vector<std::string>& without) {
    const auto time = [&](const ResultFile& r) {
      double time = double(r.time("total"));
      for (const std::string& phase : without) {
        if (r.time_ns.count(phase) != 0) time -= double(r.time(phase));
      }
      return time;
    };
    std::vector<std::string> cells{title};
    for (const Compared& one : all_) {
      const bool shown = all_[0].comparable && one.comparable && time(one.result) > 0;
      cells.push_back(shown ? fmt::format("{:.3f}", time(all_[0].result) / time(one.result)) : "-");
    }
    table_.row(std::move(cells));
  }
  void add_job() { job_rows(all_, table_); }
  std::string text() const { return table_.text(); }

 private:
  const std::vector<Compared>& all_;
  TextTable table_;
};

void add_times(Rows& rows, bool many) {
  rows.add_group("time_ns", "", " ms", 1e6, 6);
  rows.add("total ms", [](const ResultFile& r) {
    return fmt::format("{:.6f}", double(r.time("total")) / 1e6);
  });
  rows.add("phases - total ms", [](const ResultFile& r) {
    return fmt::format("{:+.6f}", (sum_of_phases(r) - double(r.time("total"))) / 1e6);
  });
  if (!many) return;
  rows.add_speedup("speed-up, whole run", {});
  rows.add_speedup("speed-up without init", {"init"});
  rows.add_speedup("speed-up without setup and init", {"setup", "init"});
}

}  // namespace

ComparedResults compare_results(const std::vector<std::string>& folders) {
  std::vector<Compared> all;
  for (const std::string& folder : folders) all.push_back(load(folder));
  const bool many = folders.size() > 1;
  ComparedResults comparison;
  if (many) comparison.complaints = judge(all);
  Rows rows(all);
  rows.add("workload", [](const ResultFile& r) { return r.workload; });
  rows.add("machine", [](const ResultFile& r) { return r.machine; });
  rows.add("mode", [](const ResultFile& r) { return r.mode; });
  rows.add("impl", impl_of);
  rows.add("data", [](const ResultFile& r) { return r.data; });
  rows.add("status", [](const ResultFile& r) { return r.status; });
  rows.add_gap();
  add_times(rows, many);
  rows.add_gap();
  rows.add_job();
  rows.add_group("dram_bytes", "DRAM ", " MB", 1e6, 3);
  rows.add("link MB",
           [](const ResultFile& r) { return fmt::format("{:.3f}", double(r.link_bytes) / 1e6); });
  rows.add_group("tracker", "tracker ", "", 1, 0);
  rows.add_group("cp", "CP ", "", 1, 0);
  rows.add_gap();
  rows.add("elements checked", [](const ResultFile& r) { return std::to_string(r.elements); });
  rows.add("mismatches", [](const ResultFile& r) { return std::to_string(r.mismatches); });
  rows.add("audit violations", [](const ResultFile& r) { return std::to_string(r.violations); });
  rows.add("host seconds", [](const ResultFile& r) {
    return fmt::format("{:.2f}", r.root().at("host").at("wall_s").number());
  });
  rows.add("digest", [](const ResultFile& r) { return r.digest.substr(0, 12); });
  comparison.text = rows.text() + phase_note(all);
  for (const Compared& one : all) {
    if (const std::string text = job_table(one.result); !text.empty())
      comparison.text += fmt::format("\n{}:\n{}", one.result.folder, text);
    comparison.all_comparable = comparison.all_comparable && one.comparable;
  }
  return comparison;
}

int compare(const std::vector<std::string>& folders) {
  const ComparedResults comparison = compare_results(folders);
  fmt::print(stderr, "{}", comparison.complaints);
  fmt::print("{}", comparison.text);
  return comparison.all_comparable ? kExitSuccess : kExitCheckFailed;
}

}  // namespace stretto
