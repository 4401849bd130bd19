// SPDX-License-Identifier: Apache-2.0
// Published results as data (tests/reproduction/targets), what was measured for them, and the table
// of both. A measured value is never edited. A missed target is shown as missed. A target whose
// simulations are missing is not judged.
#ifndef STRETTO_PLATFORM_CAMPAIGN_TARGETS_H_
#define STRETTO_PLATFORM_CAMPAIGN_TARGETS_H_

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace stretto {

struct Target {
  std::string id;
  std::string section;  // "6.1.2, Fig 16".
  std::string statement;
  std::string metric;
  std::optional<double> value;
  std::string unit;
  std::string kind;                        // headline, per-figure, bound, trend.
  std::vector<double> range = {};          // Where the value is several: a range, or one a case,
  std::map<std::string, double> row = {};  // or figures with names.
};

struct Measured {
  std::optional<double> value = std::nullopt;
  bool holds = false;  // Trends, bounds and rows: what the statement says.
  std::string note = "";
  bool input = false;      // The published value is a parameter of the machine: shown, not judged.
  std::string needs = "";  // Simulations without a result; not empty: not judged.
  std::vector<double> range = {};  // Instead of value, where several are published.
  std::string not_judged = "";     // Why, although everything has run.
  std::string not_run = "";        // Why no simulation shows it.
};

// Thrown while a target is measured: simulations that it needs have no result. what() names the
// first of them and counts the rest.
struct MissingSimulations : std::runtime_error {
  explicit MissingSimulations(const std::vector<std::string>& names);
};

// Of tests/reproduction/targets/NAME.yaml.
std::vector<Target> load_targets(const std::string& name);
// "met", "missed", "input", "not measured", "not run: why", "not judged: why" or "not judged: needs
// X", by the bands of targets/README.md.
std::string verdict(const Target& target, const Measured& measured);
// Whether a target belongs to `figure`: an id, or a number as in "Fig 4" of its section; empty =
// all do.
bool in_figure(const Target& target, const std::string& figure);
// The targets of `figure` that `ids` lists, in the order of `ids`. UserError, which names
// `figures`, if there is none.
std::vector<Target> targets_of_figure(const std::string& file, const std::vector<std::string>& ids,
                                      const std::string& figure, const std::string& figures);

struct TargetTable {
  std::string name;                  // Of the reproduction.
  std::vector<std::string> columns;  // Machines.
  std::vector<Target> targets;       // In the order of the table.
  std::function<Measured(const std::string& id, const std::string& column)> measure;
  std::string out;                   // Folder of table.csv and table.json.
  std::vector<std::string> partial;  // What makes this less than the whole; empty: it is whole.
};

// Prints the table and writes it.
void write_targets(const TargetTable& table);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CAMPAIGN_TARGETS_H_
