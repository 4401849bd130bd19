// SPDX-License-Identifier: Apache-2.0
// What was measured on real machines (tests/reproduction/targets/silicon.yaml), value by value, and
// what simulations say of it. Each value is judged against a tolerance, or the table says why not.
//
// Invariants
//  1 Every value of the file is a row, in the order of the file.
//  2 A row without its simulations is not judged. A measured value is never edited.
#ifndef STRETTO_PLATFORM_REPRODUCE_SILICON_SILICON_TARGETS_H_
#define STRETTO_PLATFORM_REPRODUCE_SILICON_SILICON_TARGETS_H_

#include <boost/json/object.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/campaign/campaign.h"

namespace stretto {

// A value of an entry, as the file has it.
struct SiliconValue {
  std::string id;       // "SI-MEM-01".
  std::string area;     // "memory".
  std::string machine;  // As the entry says it.
  std::string what;
  std::string key;  // "HBM (80 MB)".
  std::string text;
  std::string unit;
  // Equal, or a range, as "400-440"; none: words or a list.
  std::optional<double> low, high;
};

std::vector<SiliconValue> silicon_values();

// `job` of stats.json, by the folder of its simulation.
using SiliconJobs = std::map<std::string, boost::json::object>;

struct SiliconRow {
  SiliconValue value;
  double tolerance_percent = 0;  // 0: it is not judged.
  // "within", "outside", "input", "not modelled", "not run" or "not judged: needs X".
  std::string verdict;
  std::optional<double> measured;
  std::string note;

  bool is_judged() const { return verdict == "within" || verdict == "outside"; }
  // Of the measured value to silicon, the nearest bound of a range; 1 inside it. REQUIRES: both are.
  double ratio() const;
  double error_percent() const;
};

// All that are needed for some row.
const std::vector<CampaignRun>& silicon_simulations();
// Folders of those that a row needs.
std::vector<std::string> simulations_of(const SiliconValue& value);
SiliconRow measure_silicon(const SiliconValue& value, const SiliconJobs& jobs);

// Of the judged rows among some.
struct SiliconErrors {
  unsigned judged = 0, within = 0;
  double median_percent = 0, ninety_percent = 0;
  std::vector<double> percent;  // Rising.
};
SiliconErrors errors_of(const std::vector<SiliconRow>& rows, const std::string& area = "");

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_SILICON_SILICON_TARGETS_H_
