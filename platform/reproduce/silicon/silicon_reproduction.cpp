// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce silicon`: public measurements of V100 and A100 machines, each value simulated
// or listed with the reason why not; the errors by area and a picture of them.
#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "models/common/error.h"
#include "platform/base/atomic_file.h"
#include "platform/base/version.h"
#include "platform/campaign/campaign.h"
#include "platform/campaign/plot.h"
#include "platform/reproduce/reproduction.h"
#include "platform/reproduce/silicon/silicon_targets.h"
#include "platform/results/csv.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr const char* kFigures =
    "nccl, memory, gemm, launch, p2p, pcie, interference, atomics, opmix, operators, nic";

std::vector<SiliconValue> chosen(const std::string& figure) {
  std::vector<SiliconValue> all = silicon_values();
  const std::string first = all.front().id, last = all.back().id;
  std::erase_if(all, [&](const SiliconValue& value) {
    return !figure.empty() && figure != value.area && figure != value.id;
  });
  if (all.empty())
    throw UserError(fmt::format("--figure {}: no area and no entry; allowed: {} or one of {} .. {}",
                                figure, kFigures, first, last));
  return all;
}

class Silicon {
 public:
  explicit Silicon(const ReproduceOptions& options)
      : options_(options), campaign_(options), values_(chosen(options.figure)) {
    std::set<std::string> needed;
    for (const SiliconValue& value : values_)
      for (const std::string& folder : simulations_of(value)) needed.insert(folder);
    for (const CampaignRun& run : silicon_simulations())
      if (needed.count(run.folder) != 0) campaign_.add(run);
    campaign_.lock();
  }

  int run() {
    const int status = campaign_.simulate();
    SiliconJobs jobs;
    for (const CampaignRun& run : silicon_simulations())
      if (const ResultFile* result = campaign_.result(run.folder))
        jobs[run.folder] = result->root().at("job").json().as_object();
    for (const SiliconValue& value : values_) rows_.push_back(measure_silicon(value, jobs));
    print_rows();
    print_errors();
    write_csv();
    write_json();
    const bool drawn = write_picture();
    fmt::print("written into {}: table.csv, table.json{}\n", options_.out, drawn ? ", errors" : "");
    return status;
  }

 private:
  std::vector<std::string> partial() const {
    std::vector<std::string> all;
    if (!options_.figure.empty())
      all.push_back(fmt::format("--figure {}: {} of {} values", options_.figure, rows_.size(),
                                silicon_values().size()));
    if (const std::string missing = campaign_.missing_results(); !missing.empty())
      all.push_back(missing);
    return all;
  }

  // Rows with a figure one by one; the others by entry and reason.
  void print_rows() const {
    fmt::print("\n");
    for (const std::string& why : partial()) fmt::print("partial reproduction: {}\n", why);
    fmt::print("{:<13} {:<28} {:>11} {:>11} {:>6} {:>5}  {}\n", "id", "value", "silicon", "stretto",
               "ratio", "tol %", "verdict");
    for (const SiliconRow& row : rows_) {
      if (!row.measured || !row.value.low) continue;
      fmt::print("{:<13} {:<28} {:>11} {:>11} {:>6.2f} {:>5}  {}{}\n", row.value.id, row.value.key,
                 row.value.text, fmt::format("{:.4g}", *row.measured), row.ratio(),
                 row.is_judged() ? fmt::format("{:g}", row.tolerance_percent) : "-", row.verdict,
                 row.note.empty() ? "" : ": " + row.note);
    }
    fmt::print("\n");
    std::vector<std::pair<std::string, unsigned>> others;
    for (const SiliconRow& row : rows_) {
      if (row.measured && row.value.low) continue;
      const std::string text = fmt::format("{:<13} {}{}", row.value.id, row.verdict,
                                           row.note.empty() ? "" : ": " + row.note);
      if (others.empty() || others.back().first != text) others.emplace_back(text, 0);
      ++others.back().second;
    }
    for (const auto& [text, count] : others)
      fmt::print("{} ({} value{})\n", text, count, count == 1 ? "" : "s");
  }

  std::vector<std::string> areas() const {
    std::vector<std::string> all;
    for (const SiliconRow& row : rows_)
      if (std::find(all.begin(), all.end(), row.value.area) == all.end())
        all.push_back(row.value.area);
    return all;
  }

  // Values of `area`, "" = all, that have this verdict, or begin with it.
  unsigned count(const std::string& area, const std::string& verdict) const {
    return static_cast<unsigned>(
        std::count_if(rows_.begin(), rows_.end(), [&](const SiliconRow& row) {
          return (area.empty() || row.value.area == area) && row.verdict.rfind(verdict, 0) == 0;
        }));
  }

  void print_errors() const {
    fmt::print("\n{:<13} {:>7} {:>7} {:>9} {:>9} {:>9} {:>6} {:>13} {:>8} {:>11}\n", "area",
               "judged", "within", "within %", "median %", "90 % at %", "input", "not modelled",
               "not run", "not judged");
    std::vector<std::string> all = areas();
    all.push_back("");
    for (const std::string& area : all) {
      const SiliconErrors errors = errors_of(rows_, area);
      fmt::print("{:<13} {:>7} {:>7} ", area.empty() ? "all" : area, errors.judged, errors.within);
      if (errors.judged == 0)
        fmt::print("{0:>9} {0:>9} {0:>9}", "-");
      else
        fmt::print("{:>9.1f} {:>9.1f} {:>9.1f}", 100.0 * errors.within / errors.judged,
                   errors.median_percent, errors.ninety_percent);
      fmt::print(" {:>6} {:>13} {:>8} {:>11}\n", count(area, "input"), count(area, "not modelled"),
                 count(area, "not run"), count(area, "not judged"));
    }
  }

  void write_csv() const {
    std::string csv =
        "id,area,machine,what,value,silicon,unit,stretto,ratio,tolerance_percent,"
        "verdict,note\n";
    for (const SiliconRow& row : rows_) {
      const bool has_ratio = row.measured && row.value.low;
      csv +=
          fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", row.value.id, row.value.area,
                      csv_text(row.value.machine), csv_text(row.value.what),
                      csv_text(row.value.key), csv_text(row.value.text), csv_text(row.value.unit),
                      row.measured ? fmt::format("{:.6g}", *row.measured) : "",
                      has_ratio ? fmt::format("{:.4f}", row.ratio()) : "",
                      row.is_judged() ? fmt::format("{:g}", row.tolerance_percent) : "",
                      csv_text(row.verdict), csv_text(row.note));
    }
    write_atomically(options_.out + "/table.csv", csv);
  }

  static json::object json_errors(const SiliconErrors& errors) {
    json::object one{{"judged", errors.judged}, {"within", errors.within}};
    if (errors.judged == 0) return one;
    one["median_error_percent"] = errors.median_percent;
    one["ninety_percent_error_percent"] = errors.ninety_percent;
    return one;
  }

  void write_json() const {
    json::array rows;
    for (const SiliconRow& row : rows_) {
      json::object one{{"id", row.value.id},     {"area", row.value.area},
                       {"value", row.value.key}, {"silicon", row.value.text},
                       {"unit", row.value.unit}, {"verdict", row.verdict},
                       {"note", row.note}};
      if (row.measured) one["stretto"] = *row.measured;
      if (row.measured && row.value.low) one["ratio"] = row.ratio();
      if (row.is_judged()) one["tolerance_percent"] = row.tolerance_percent;
      rows.push_back(std::move(one));
    }
    json::object by_area;
    for (const std::string& area : areas()) by_area[area] = json_errors(errors_of(rows_, area));
    const std::vector<std::string> why = partial();
    const json::object root{{"reproduction", options_.name},
                            {"stretto", version_text()},
                            {"partial", json::array(why.begin(), why.end())},
                            {"errors", json_errors(errors_of(rows_))},
                            {"areas", std::move(by_area)},
                            {"values", std::move(rows)}};
    write_atomically(options_.out + "/table.json", json::serialize(root) + "\n");
  }

  // By area, which share of the judged values has at most which error. Whether there is one.
  bool write_picture() const {
    Plot plot{
        "Errors against silicon", "share of judged values in %", "error in %", false, true, {}};
    std::vector<std::string> all = areas();
    all.push_back("");
    for (const std::string& area : all) {
      const SiliconErrors errors = errors_of(rows_, area);
      PlotLine line{fmt::format("{} ({})", area.empty() ? "all" : area, errors.judged), {}};
      for (size_t i = 0; i < errors.percent.size(); ++i)
        line.points.emplace_back(100.0 * static_cast<double>(i + 1) / errors.judged,
                                 std::max(0.1, errors.percent[i]));
      if (!line.points.empty()) plot.lines.push_back(std::move(line));
    }
    if (plot.lines.empty()) return false;
    write_plot(options_.out + "/errors", plot);
    return true;
  }

  const ReproduceOptions& options_;
  Campaign campaign_;
  const std::vector<SiliconValue> values_;
  std::vector<SiliconRow> rows_;
};

int run(const ReproduceOptions& options, const boost::program_options::variables_map&) {
  return Silicon(options).run();
}

}  // namespace

Reproduction silicon_reproduction() {
  return {.name = "silicon",
          .sentence = "public measurements of V100 and A100 machines: errors by area",
          .figures = kFigures,
          .run = run};
}

}  // namespace stretto
