// SPDX-License-Identifier: Apache-2.0
#include "platform/campaign/targets.h"

#include <fmt/format.h>
#include <algorithm>
#include <boost/json.hpp>

#include <cctype>
#include <cmath>
#include <map>

#include "models/common/error.h"
#include "platform/base/atomic_file.h"
#include "platform/base/installation.h"
#include "platform/base/version.h"
#include "platform/config/yaml_file.h"
#include "platform/results/csv.h"

namespace stretto {

namespace json = boost::json;

MissingSimulations::MissingSimulations(const std::vector<std::string>& names)
    : std::runtime_error(names.size() == 1
                             ? names.front()
                             : fmt::format("{} and {} more", names.front(), names.size() - 1)) {}

namespace {

// Empty if some are lost, or if each is a list of its own.
std::vector<double> numbers_of(const YAML::Node& sequence) {
  std::vector<double> all;
  for (const auto& item : sequence) {
    double value = 0;
    if (!item.IsScalar() || !YAML::convert<double>::decode(item, value)) return {};
    all.push_back(value);
  }
  return all;
}

}  // namespace

std::vector<Target> load_targets(const std::string& name) {
  std::vector<Target> targets;
  const YAML::Node root = load_yaml(targets_folder() + "/" + name + ".yaml");
  for (const auto& item : root["results"]) {
    Target target;
    target.id = item["id"].Scalar();
    target.section = item["sec"].Scalar();
    target.statement = item["statement"].Scalar();
    target.metric = item["metric"].Scalar();
    target.kind = item["kind"].Scalar();
    if (item["unit"].IsScalar()) target.unit = item["unit"].Scalar();
    // Some are words or ranges: what holds is decided where they are measured.
    double value = 0;
    if (item["value"].IsScalar() && YAML::convert<double>::decode(item["value"], value))
      target.value = value;
    if (item["value"].IsSequence()) target.range = numbers_of(item["value"]);
    if (item["value"].IsMap()) target.row = item["value"].as<std::map<std::string, double>>();
    targets.push_back(std::move(target));
  }
  return targets;
}

namespace {

// Reductions and gaps: percentage points for headlines; gains: a share of the gain.
bool is_inside(const Target& target, double value, double wanted) {
  const bool headline = target.kind == "headline";
  if (target.unit == "percentage_points" || (target.unit == "percent" && headline))
    return std::abs(value - wanted) <= 5;
  const double zero = target.unit == "x" ? 1 : 0;
  return std::abs((value - zero) / (wanted - zero) - 1) <= (headline ? 0.15 : 0.25);
}

}  // namespace

std::string verdict(const Target& target, const Measured& measured) {
  if (!measured.not_run.empty()) return "not run: " + measured.not_run;
  if (!measured.needs.empty()) return "not judged: needs " + measured.needs;
  if (!measured.not_judged.empty()) return "not judged: " + measured.not_judged;
  if (!measured.value && measured.range.empty()) return "not measured";
  if (measured.input) return "input";
  bool holds = measured.holds;
  const bool is_banded = target.kind == "headline" || target.kind == "per-figure";
  if (is_banded && target.value)
    holds = measured.value && is_inside(target, *measured.value, *target.value);
  if (is_banded && !target.range.empty()) {
    holds = measured.range.size() == target.range.size();
    for (size_t i = 0; holds && i < target.range.size(); ++i)
      holds = is_inside(target, measured.range[i], target.range[i]);
  }
  return holds ? "met" : "missed";
}

bool in_figure(const Target& target, const std::string& figure) {
  if (figure.empty() || target.id == figure) return true;
  for (const char* word : {"Fig ", "Table "}) {
    const std::string wanted = word + figure;
    const size_t at = target.section.find(wanted);
    if (at == std::string::npos) continue;
    const size_t end = at + wanted.size();
    if (end == target.section.size() ||
        !std::isalnum(static_cast<unsigned char>(target.section[end])))
      return true;
  }
  return false;
}

std::vector<Target> targets_of_figure(const std::string& file, const std::vector<std::string>& ids,
                                      const std::string& figure, const std::string& figures) {
  const std::vector<Target> all = load_targets(file);
  std::vector<Target> chosen;
  for (const std::string& id : ids) {
    for (const Target& target : all) {
      if (target.id == id && in_figure(target, figure)) chosen.push_back(target);
    }
  }
  if (chosen.empty()) {
    throw UserError(
        fmt::format("--figure {}: no target of this version; allowed: {} or one of {} .. {}",
                    figure, figures, ids.front(), ids.back()));
  }
  return chosen;
}

namespace {

// What a column says of a target, and how many it has met.
struct Cell {
  Measured measured;
  std::string verdict;
  std::string value() const {
    if (!measured.range.empty()) return fmt::format("{:.3g}", fmt::join(measured.range, ".."));
    return measured.value ? fmt::format("{:.3f}", *measured.value) : "-";
  }
  std::string ratio(const Target& target) const {
    const bool has_ratio = measured.value && target.value && *target.value != 0;
    return has_ratio ? fmt::format("{:.2f}", *measured.value / *target.value) : "-";
  }
  // In the printed table; the rest of the verdict stands below.
  std::string short_verdict() const { return verdict.substr(0, verdict.find(':')); }
};

struct Count {
  unsigned met = 0, missed = 0, inputs = 0, not_judged = 0;
  void add(const std::string& verdict) {
    ++(verdict == "met"      ? met
       : verdict == "missed" ? missed
       : verdict == "input"  ? inputs
                             : not_judged);
  }
};

std::string published(const Target& target) {
  if (!target.range.empty()) return fmt::format("{:g}", fmt::join(target.range, ".."));
  return target.value ? fmt::format("{:g}", *target.value) : target.kind == "trend" ? "trend" : "-";
}

json::object json_row(const Target& target) {
  return {{"id", target.id},
          {"kind", target.kind},
          {"metric", target.metric},
          {"unit", target.unit},
          {"statement", target.statement},
          {"published", !target.range.empty() ? json::value_from(target.range)
                        : target.value        ? json::value(*target.value)
                                              : json::value()}};
}

json::object json_cell(const Cell& cell) {
  return {{"verdict", cell.verdict},
          {"note", cell.measured.note},
          {"measured", !cell.measured.range.empty() ? json::value_from(cell.measured.range)
                       : cell.measured.value        ? json::value(*cell.measured.value)
                                                    : json::value()}};
}

// What is printed below a row: each sentence once, behind the columns that it is about. A simulation without a result is
// named in the files alone: of a reproduction in part most are missing.
std::string notes_of(const std::vector<std::pair<std::string, Cell>>& cells) {
  std::vector<std::pair<std::string, std::vector<std::string>>> sentences;
  const auto add = [&](const std::string& sentence, const std::string& column) {
    const auto same = std::find_if(sentences.begin(), sentences.end(),
                                   [&](const auto& one) { return one.first == sentence; });
    if (same == sentences.end()) {
      sentences.push_back({sentence, {column}});
    } else {
      same->second.push_back(column);
    }
  };
  for (const auto& [column, cell] : cells) {
    if (!cell.measured.not_run.empty() || !cell.measured.not_judged.empty())
      add(cell.verdict, column);
    if (!cell.measured.note.empty()) add(cell.measured.note, column);
  }
  std::string text;
  for (const auto& [sentence, columns] : sentences)
    text += fmt::format("        {}: {}\n", fmt::join(columns, ", "), sentence);
  return text;
}

}  // namespace

void write_targets(const TargetTable& table) {
  fmt::print("\n");
  for (const std::string& why : table.partial) fmt::print("partial reproduction: {}\n", why);
  std::string csv = "id,kind,metric,published,unit";
  fmt::print("{:<7} {:<10} {:<26} {:>9}", "id", "kind", "metric", "published");
  for (const std::string& column : table.columns) {
    csv += fmt::format(",{0},{0} ratio,{0} verdict,{0} note", column);
    fmt::print(" | {:>9} {:>6} {:<12}", column, "ratio", "verdict");
  }
  csv += ",statement\n";
  fmt::print("\n");
  json::array rows;
  std::map<std::string, Count> counts;
  unsigned lacking = 0;
  for (const Target& target : table.targets) {
    fmt::print("{:<7} {:<10} {:<26} {:>9}", target.id, target.kind, target.metric,
               published(target));
    csv += fmt::format("{},{},{},{},{}", target.id, target.kind, target.metric, published(target),
                       target.unit);
    json::object row = json_row(target);
    std::vector<std::pair<std::string, Cell>> cells;
    for (const std::string& column : table.columns) {
      Cell cell{table.measure(target.id, column), ""};
      cell.verdict = verdict(target, cell.measured);
      counts[column].add(cell.verdict);
      fmt::print(" | {:>9} {:>6} {:<12}", cell.value(), cell.ratio(target), cell.short_verdict());
      csv += fmt::format(",{},{},{},{}", cell.value(), cell.ratio(target), csv_text(cell.verdict),
                         csv_text(cell.measured.note));
      row[column] = json_cell(cell);
      cells.emplace_back(column, std::move(cell));
    }
    const bool lacks = std::any_of(cells.begin(), cells.end(), [](const auto& one) {
      return !one.second.measured.needs.empty();
    });
    lacking += lacks ? 1 : 0;
    csv += ',' + csv_text(target.statement) + '\n';
    fmt::print("\n{}", notes_of(cells));
    rows.push_back(std::move(row));
  }
  if (lacking != 0)
    fmt::print("{} of {} targets need simulations that have no result: {}/table.csv names them\n",
               lacking, table.targets.size(), table.out);
  for (const std::string& column : table.columns) {
    const Count& count = counts[column];
    fmt::print("{}: {} of {} judged targets met; {} inputs, {} not judged\n", column, count.met,
               count.met + count.missed, count.inputs, count.not_judged);
  }
  const json::object root{{"reproduction", table.name},
                          {"stretto", version_text()},
                          {"partial", json::array(table.partial.begin(), table.partial.end())},
                          {"targets", std::move(rows)}};
  write_atomically(table.out + "/table.csv", csv);
  write_atomically(table.out + "/table.json", json::serialize(root) + "\n");
}

}  // namespace stretto
