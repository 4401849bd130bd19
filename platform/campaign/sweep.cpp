// SPDX-License-Identifier: Apache-2.0
#include "platform/campaign/sweep.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <boost/json.hpp>
#include <boost/tokenizer.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

#include "models/common/error.h"
#include "platform/base/atomic_file.h"
#include "platform/base/exit_status.h"
#include "platform/base/text_table.h"
#include "platform/base/version.h"
#include "platform/campaign/campaign.h"
#include "platform/campaign/plot.h"
#include "platform/config/machine.h"
#include "platform/config/options.h"
#include "platform/jobs/run_request.h"
#include "platform/results/csv.h"

namespace stretto {
namespace {

namespace json = boost::json;

constexpr size_t kMostSimulations = 10'000;

struct Varied {
  std::string key;
  std::vector<std::string> values;
};

// A value that has commas stands in double quotes.
Varied parse_varied(const std::string& text) {
  const size_t equals = text.find('=');
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }))
    throw UserError("--vary: must be KEY=VALUE,VALUE,... without control characters");
  Varied one{text.substr(0, equals), {}};
  if (equals != std::string::npos) {
    const std::string list = text.substr(equals + 1);
    const boost::escaped_list_separator<char> commas("", ",", "\"");
    for (const std::string& value : boost::tokenizer(list, commas)) one.values.push_back(value);
  }
  if (one.key.empty() || one.values.empty() || std::count(text.begin(), text.end(), '"') % 2 != 0 ||
      std::count(one.values.begin(), one.values.end(), "") != 0)
    throw UserError(fmt::format(
        "--vary {}: must be KEY=VALUE,VALUE,..., a VALUE with commas in double quotes", text));
  for (const std::string& value : one.values) {
    if (std::count(one.values.begin(), one.values.end(), value) != 1)
      throw UserError(fmt::format("--vary {}: '{}' is there twice", text, value));
  }
  return one;
}

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Of a number or text; of anything else UserError.
std::string cell_text(const ResultValue& value) {
  const json::value& json = value.json();
  if (json.is_int64() && json.get_int64() < 0) return std::to_string(json.get_int64());
  if (json.is_uint64() || json.is_int64()) return std::to_string(value.whole());
  if (json.is_double()) return fmt::format("{:.6g}", json.get_double());
  if (json.is_object() || json.is_array()) throw UserError("has parts: name one of them");
  return value.text();
}

// For sweep.json: numbers are numbers there, and whole ones stay whole.
json::value json_of(const std::string& cell) {
  if (cell.empty()) return nullptr;
  constexpr size_t kMostDigits = 18;
  const bool is_whole = cell.size() <= kMostDigits &&
                        cell.find_first_not_of("0123456789") == std::string::npos &&
                        (cell == "0" || cell[0] != '0');
  if (is_whole) return std::strtoull(cell.c_str(), nullptr, 10);
  const std::optional<double> number = number_of(cell);
  return number ? json::value(*number) : json::value(cell);
}

// What a result has at a place as SweepOptions::values describes it; UserError if there is nothing.
std::string value_at(const ResultFile& result, const std::string& place) {
  const std::string counters = "statistics.";
  if (place.starts_with(counters)) {
    const std::string path = place.substr(counters.size());
    const ResultValue statistics = result.root().at("statistics");
    if (path.find('*') == std::string::npos) return cell_text(statistics.at(path));
    uint64_t sum = 0;
    bool any = false;
    for (const auto& [name, value] : statistics.whole_numbers()) {
      if (fnmatch(path.c_str(), name.c_str(), 0) != 0) continue;
      sum += value;
      any = true;
    }
    if (!any) throw UserError(fmt::format("no counter of {}/stats.json matches", result.folder));
    return std::to_string(sum);
  }
  ResultValue value = result.root();
  std::istringstream path(place);
  for (std::string key; std::getline(path, key, '.');) {
    if (!value.json().is_array()) {
      value = value.at(key);
      continue;
    }
    const std::vector<ResultValue> items = value.items();
    const bool is_index =
        !key.empty() && key.size() < 10 && key.find_first_not_of("0123456789") == std::string::npos;
    const size_t index = is_index ? std::strtoul(key.c_str(), nullptr, 10) : items.size();
    if (index >= items.size())
      throw UserError(fmt::format("{}/stats.json has {} entries there, from 0, not '{}'",
                                  result.folder, items.size(), key));
    value = items[index];
  }
  return cell_text(value);
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    if (&cell != &cells.front()) line += ',';
    line += csv_text(cell);
  }
  return line + '\n';
}

double time_us_of(const ResultFile& result) {
  return 1e-3 * static_cast<double>(result.time("total"));
}

class Sweep {
 public:
  explicit Sweep(const SweepOptions& options) : options_(options), campaign_(options.campaign) {}

  int run() {
    read_varied();
    const std::vector<std::vector<size_t>> all = combinations();
    constexpr size_t kMany = 64;  // To prepare more takes seconds.
    if (all.size() > kMany) fmt::print(stderr, "sweep: checks {} combinations\n", all.size());
    for (const std::vector<size_t>& combination : all) add(combination);
    campaign_.lock();
    int status = kExitSuccess;
    try {
      status = campaign_.simulate();
    } catch (const Interrupted&) {
      report();
      throw;
    }
    report();
    if (!wrong_value_.empty()) throw UserError(wrong_value_);
    const std::string missing = campaign_.missing_results();
    if (!missing.empty()) fmt::print(stderr, "sweep: {}\n", missing);
    return status != kExitSuccess || missing.empty() ? status : kExitCheckFailed;
  }

 private:
  struct Row {
    std::vector<std::string> values;  // Of what is varied.
    std::string folder;
  };

  void read_varied() {
    for (const std::string& place : options_.values) {
      if (std::count(options_.values.begin(), options_.values.end(), place) != 1)
        throw UserError(fmt::format("--value {}: is there twice", place));
    }
    if (options_.vary.empty())
      throw UserError("sweep needs something to vary: --vary KEY=VALUE,VALUE,...");
    size_t simulations = 1;
    for (const std::string& text : options_.vary) {
      Varied one = parse_varied(text);
      for (const Varied& other : varied_) {
        if (other.key == one.key)
          throw UserError(fmt::format("--vary {}: is there twice", one.key));
      }
      const auto is_set = [&](const std::string& set) { return set.starts_with(one.key + "="); };
      const std::vector<std::string>& sets = options_.campaign.sets;
      if (std::any_of(sets.begin(), sets.end(), is_set))
        throw UserError(fmt::format("--vary {}: --set gives it a value, too", one.key));
      if ((one.key == "mode" && !options_.mode.empty()) ||
          (one.key == "machine" && !options_.machine.empty()))
        throw UserError(fmt::format("--vary {0}: --{0} gives it a value, too", one.key));
      simulations *= one.values.size();
      if (simulations > kMostSimulations)
        throw UserError(fmt::format("--vary {}: these are more than {} simulations", one.key,
                                    kMostSimulations));
      varied_.push_back(std::move(one));
    }
  }

  // Indices of values, the last parameter fastest.
  std::vector<std::vector<size_t>> combinations() const {
    std::vector<std::vector<size_t>> all{{}};
    for (const Varied& one : varied_) {
      std::vector<std::vector<size_t>> longer;
      for (const std::vector<size_t>& begun : all) {
        for (size_t i = 0; i < one.values.size(); ++i) {
          longer.push_back(begun);
          longer.back().push_back(i);
        }
      }
      all = std::move(longer);
    }
    return all;
  }

  void add(const std::vector<size_t>& combination) {
    CampaignRun run{.folder = "",
                    .title = "",
                    .workload = options_.workload,
                    .mode = options_.mode,
                    .machine = options_.machine,
                    .sets = {}};
    Row row;
    for (size_t i = 0; i < varied_.size(); ++i) {
      const std::string& value = varied_[i].values[combination[i]];
      const std::string set = varied_[i].key + "=" + value;
      if (varied_[i].key == "mode")
        run.mode = value;
      else if (varied_[i].key == "machine")
        run.machine = value;
      else
        run.sets.push_back(set);
      run.title += (i == 0 ? "" : " ") + set;
      run.folder += (i == 0 ? "" : ",") + plain_name(set);
      row.values.push_back(value);
    }
    if (!folders_.insert(run.folder).second)
      throw UserError(fmt::format("--vary: two combinations have the folder {}", run.folder));
    row.folder = run.folder;
    add_to_campaign(std::move(run));
    rows_.push_back(std::move(row));
  }

  // Children get what is varied by --set; whoever reads a message has written --vary.
  void add_to_campaign(CampaignRun run) {
    const std::vector<std::string> sets = run.sets;
    const std::string mode_of_run = run.mode;
    try {
      if (first_mode_.empty() && run.mode.empty()) first_mode_ = first_mode(run);
      if (run.mode.empty()) run.mode = first_mode_;
      campaign_.add(std::move(run));
    } catch (const UserError& error) {
      const std::string what = error.what();
      for (const std::string& set : sets) {
        if (what.starts_with("--set " + set + ":"))
          throw UserError("--vary " + what.substr(std::strlen("--set ")));
      }
      if (const std::string mode = "--mode " + mode_of_run;
          is_mode_varied() && what.starts_with(mode))
        throw UserError("--vary mode=" + what.substr(std::strlen("--mode ")));
      throw;
    }
  }
  bool is_mode_varied() const {
    return std::any_of(varied_.begin(), varied_.end(),
                       [](const Varied& one) { return one.key == "mode"; });
  }

  std::string first_mode(const CampaignRun& run) const {
    RunOptions options;
    options.workload = run.workload;
    options.machine = run.machine;
    options.sets = run.sets;
    options.sets.insert(options.sets.end(), options_.campaign.sets.begin(),
                        options_.campaign.sets.end());
    Machine machine;
    prepare_request(options, machine);
    return options.mode;
  }

  // What --value asks for, of one result after the other; "" where it has no such place, as a mode
  // without a phase. If none has, wrong_value_ says so when the table is written.
  std::vector<std::string> column(const std::string& place) {
    std::vector<std::string> cells;
    std::string why;
    bool any = false;
    for (const Row& row : rows_) {
      cells.emplace_back();
      const ResultFile* const result = campaign_.result(row.folder);
      if (result == nullptr) continue;
      try {
        cells.back() = value_at(*result, place);
        any = true;
      } catch (const UserError& error) {
        why = error.what();
      }
    }
    if (!any && !why.empty() && wrong_value_.empty())
      wrong_value_ = fmt::format("--value {}: {}", place, why);
    return cells;
  }

  void report() {
    std::vector<std::vector<std::string>> columns;
    std::vector<std::string> titles;
    for (const Varied& one : varied_) titles.push_back(one.key);
    titles.insert(titles.end(), {"time_us", "to_first"});
    for (const std::string& place : options_.values) {
      columns.push_back(column(place));
      titles.push_back(place);
    }
    TextTable table;
    table.row(titles);
    std::string csv = csv_line(titles);
    json::array simulations;
    const ResultFile* const first = campaign_.result(rows_[0].folder);
    if (first == nullptr)
      fmt::print(stderr, "sweep: {} has no result: there are no ratios to it\n", rows_[0].folder);
    bool any = false;
    for (size_t number = 0; number < rows_.size(); ++number) {
      const Row& row = rows_[number];
      std::vector<std::string> cells = row.values;
      json::object varied, values;
      for (size_t i = 0; i < varied_.size(); ++i) varied[varied_[i].key] = json_of(row.values[i]);
      json::value time_ns;
      if (const ResultFile* const result = campaign_.result(row.folder)) {
        any = true;
        time_ns = result->time("total");
        cells.push_back(fmt::format("{:.3f}", time_us_of(*result)));
        cells.push_back(first == nullptr
                            ? ""
                            : fmt::format("{:.4f}", time_us_of(*result) / time_us_of(*first)));
      }
      cells.resize(varied_.size() + 2);
      for (size_t i = 0; i < columns.size(); ++i) {
        cells.push_back(columns[i][number]);
        values[options_.values[i]] = json_of(columns[i][number]);
      }
      csv += csv_line(cells);
      for (std::string& cell : cells) cell = cell.empty() ? "-" : cell;
      table.row(std::move(cells));
      simulations.push_back(json::object{{"folder", row.folder},
                                         {"varied", std::move(varied)},
                                         {"time_ns", std::move(time_ns)},
                                         {"values", std::move(values)}});
    }
    const std::string& out = options_.campaign.out;
    std::cout << table.text();
    // What is there of earlier calls stays if this one has nothing.
    const bool has_nothing = !any || !wrong_value_.empty();
    if (has_nothing && std::filesystem::exists(out + "/sweep.csv")) return;
    const json::object root{{"workload", options_.workload},
                            {"stretto", version_text()},
                            {"simulations", std::move(simulations)}};
    write_atomically(out + "/sweep.csv", csv);
    write_atomically(out + "/sweep.json", json::serialize(root) + "\n");
    for (const char* kind : {".gp", ".svg", ".png"}) {
      std::error_code absent;
      std::filesystem::remove(out + "/sweep" + kind, absent);
    }
    if (any) draw();
  }

  // Time over the first parameter whose values are numbers, or bars; a line for each combination
  // of the others.
  void draw() const {
    size_t axis = 0;
    const auto is_number = [](const std::string& value) { return number_of(value).has_value(); };
    const auto is_axis = [&](const Varied& one) {
      return one.values.size() > 1 && std::all_of(one.values.begin(), one.values.end(), is_number);
    };
    const auto found = std::find_if(varied_.begin(), varied_.end(), is_axis);
    const bool numbers = found != varied_.end();
    if (numbers) axis = static_cast<size_t>(found - varied_.begin());
    Plot plot{.title = options_.workload, .x = varied_[axis].key, .y = "time (us)", .lines = {}};
    if (numbers) {
      const auto is_power_of_2 = [](const std::string& value) {
        int exponent;
        return std::frexp(*number_of(value), &exponent) == 0.5;
      };
      const std::vector<std::string>& values = varied_[axis].values;
      plot.log_x = values.size() > 2 && std::all_of(values.begin(), values.end(), is_power_of_2);
    } else {
      plot.bars = varied_[axis].values;
    }
    for (const Row& row : rows_) {
      const ResultFile* const result = campaign_.result(row.folder);
      if (result == nullptr) continue;
      std::string title;
      for (size_t i = 0; i < varied_.size(); ++i) {
        if (i != axis)
          title += fmt::format("{}{}={}", title.empty() ? "" : " ", varied_[i].key, row.values[i]);
      }
      auto line = std::find_if(plot.lines.begin(), plot.lines.end(),
                               [&](const PlotLine& one) { return one.title == title; });
      if (line == plot.lines.end()) line = plot.lines.insert(line, PlotLine{title, {}});
      const std::vector<std::string>& names = varied_[axis].values;
      const double x =
          numbers ? *number_of(row.values[axis])
                  : static_cast<double>(std::find(names.begin(), names.end(), row.values[axis]) -
                                        names.begin());
      line->points.emplace_back(x, time_us_of(*result));
    }
    for (PlotLine& line : plot.lines) std::sort(line.points.begin(), line.points.end());
    write_plot(options_.campaign.out + "/sweep", plot);
  }

  const SweepOptions& options_;
  Campaign campaign_;
  std::vector<Varied> varied_;
  std::vector<Row> rows_;
  std::set<std::string> folders_;
  std::string first_mode_;   // Of the workload, where none is given.
  std::string wrong_value_;  // Of the first --value that no result has.
};

}  // namespace

int sweep(const SweepOptions& options) { return Sweep(options).run(); }

}  // namespace stretto
