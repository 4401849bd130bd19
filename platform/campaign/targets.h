// SPDX-License-Identifier: Apache-2.0
// Published results as data (tests/reproduction/targets), what was measured for them, and the table of
// both. A measured value is never edited; a missed target is shown as missed.
#ifndef STRETTO_PLATFORM_CAMPAIGN_TARGETS_H_
#define STRETTO_PLATFORM_CAMPAIGN_TARGETS_H_

#include <functional>
#include <optional>
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
  std::string kind;  // headline, per-figure, bound, trend.
};

struct Measured {
  std::optional<double> value;  // None: simulations missing.
  bool holds = false;           // Trends and bounds: what the statement says.
  std::string note;
  bool input = false;  // The published value is a parameter of the machine: shown, not judged.
};

// Of tests/reproduction/targets/NAME.yaml.
std::vector<Target> load_targets(const std::string& name);
// "met", "missed", "input", "not run", by the bands of targets/README.md.
std::string verdict(const Target& target, const Measured& measured);
// Whether a target belongs to `figure`: an id, or a number as in "Fig 4" of its section; empty = all do.
bool in_figure(const Target& target, const std::string& figure);

struct TargetTable {
  std::vector<std::string> columns;  // Machines.
  std::vector<Target> targets;       // In the order of the table.
  std::function<Measured(const std::string& id, const std::string& column)> measure;
  std::string out;  // Folder of table.csv and table.json.
};

// Prints the table and writes it.
void write_targets(const TargetTable& table);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CAMPAIGN_TARGETS_H_
