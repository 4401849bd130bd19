// SPDX-License-Identifier: Apache-2.0
#include "platform/campaign/targets.h"

#include <boost/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>

#include "platform/base/atomic_file.h"
#include "platform/config/yaml_file.h"

namespace stretto {

namespace json = boost::json;

namespace {

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string quoted(std::string text) {
  std::replace(text.begin(), text.end(), '"', '\'');
  return "\"" + text + "\"";
}

}  // namespace

std::vector<Target> load_targets(const std::string& name) {
  std::vector<Target> targets;
  const YAML::Node root =
      load_yaml(std::string(STRETTO_SOURCE_DIR) + "/tests/reproduction/targets/" + name + ".yaml");
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
    targets.push_back(std::move(target));
  }
  return targets;
}

std::string verdict(const Target& target, const Measured& measured) {
  if (!measured.value) return "not run";
  if (measured.input) return "input";
  if (target.kind == "trend" || target.kind == "bound") return measured.holds ? "met" : "missed";
  const bool headline = target.kind == "headline";
  if (!target.value) return "missed";
  const double value = *measured.value, wanted = *target.value;
  // Reductions and gaps: percentage points for headlines; gains: a share of the gain.
  bool inside = false;
  if (target.unit == "percentage_points" || (target.unit == "percent" && headline)) {
    inside = std::abs(value - wanted) <= 5;
  } else {
    const double zero = target.unit == "x" ? 1 : 0;
    inside = std::abs((value - zero) / (wanted - zero) - 1) <= (headline ? 0.15 : 0.25);
  }
  return inside ? "met" : "missed";
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

void write_targets(const TargetTable& table) {
  std::string csv = "id,kind,metric,published,unit";
  for (const std::string& column : table.columns)
    csv += "," + column + "," + column + " ratio," + column + " verdict," + column + " note";
  csv += ",statement\n";
  std::printf("\n%-7s %-10s %-26s %9s", "id", "kind", "metric", "published");
  for (const std::string& column : table.columns)
    std::printf(" | %9s %6s %-7s", column.c_str(), "ratio", "verdict");
  std::printf("\n");
  json::array rows;
  std::map<std::string, unsigned> met, judged;
  for (const Target& target : table.targets) {
    const std::string published = target.value             ? format("%g", *target.value)
                                  : target.kind == "trend" ? "trend"
                                                           : "-";
    std::printf("%-7s %-10s %-26s %9s", target.id.c_str(), target.kind.c_str(),
                target.metric.c_str(), published.c_str());
    csv +=
        target.id + "," + target.kind + "," + target.metric + "," + published + "," + target.unit;
    json::object row{{"id", target.id},
                     {"kind", target.kind},
                     {"metric", target.metric},
                     {"unit", target.unit},
                     {"statement", target.statement}};
    row["published"] = target.value ? json::value(*target.value) : json::value();
    std::string notes;
    for (const std::string& column : table.columns) {
      const Measured measured = table.measure(target.id, column);
      const std::string said = verdict(target, measured);
      met[column] += said == "met";
      judged[column] += said != "input";
      const std::string value = measured.value ? format("%.3f", *measured.value) : "-";
      const std::string ratio = measured.value && target.value && *target.value != 0
                                    ? format("%.2f", *measured.value / *target.value)
                                    : "-";
      std::printf(" | %9s %6s %-7s", value.c_str(), ratio.c_str(), said.c_str());
      csv += "," + value + "," + ratio + "," + said + "," + quoted(measured.note);
      if (!measured.note.empty()) notes += "        " + column + ": " + measured.note + "\n";
      json::object cell{{"verdict", said}, {"note", measured.note}};
      cell["measured"] = measured.value ? json::value(*measured.value) : json::value();
      row[column] = std::move(cell);
    }
    csv += ',' + quoted(target.statement) + '\n';
    std::printf("\n%s", notes.c_str());
    rows.push_back(std::move(row));
  }
  for (const std::string& column : table.columns)
    std::printf("%s: %u of %u met\n", column.c_str(), met[column], judged[column]);
  write_atomically(table.out + "/table.csv", csv);
  write_atomically(table.out + "/table.json", json::serialize(rows) + "\n");
}

}  // namespace stretto
