// SPDX-License-Identifier: Apache-2.0
#include "platform/results/results.h"

#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>
#include <boost/json.hpp>

#include <cstdio>
#include <sstream>

#include "models/sampled/body_table.h"
#include "platform/base/atomic_file.h"
#include "platform/base/exit_status.h"
#include "platform/base/version.h"
#include "platform/results/csv.h"
#include "platform/results/result_file.h"

namespace stretto {

namespace json = boost::json;

namespace {

template <class Map>
json::object object_of(const Map& map) {
  json::object object;
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

// Boost.JSON writes one line; people read these files, so one key a line and two spaces a level.
void pretty(std::string& out, const json::value& value, int level) {
  const std::string indent(2 * (level + 1), ' ');
  const std::string close(2 * level, ' ');
  if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
    out += "{\n";
    bool first = true;
    for (const auto& item : *object) {
      if (!first) out += ",\n";
      first = false;
      out += indent + json::serialize(item.key()) + ": ";
      pretty(out, item.value(), level + 1);
    }
    out += "\n" + close + "}";
  } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
    out += "[\n";
    for (size_t i = 0; i < array->size(); ++i) {
      if (i) out += ",\n";
      out += indent;
      pretty(out, (*array)[i], level + 1);
    }
    out += "\n" + close + "]";
  } else if (value.is_double()) {
    char text[40];
    std::snprintf(text, sizeof text, "%.6g", value.get_double());
    out += text;
  } else {
    out += json::serialize(value);
  }
}

json::object audit_json(const Results& results) {
  struct Law {
    std::string name;
    uint64_t checked = 0;
    uint64_t violated = 0;
  };
  std::vector<Law> laws;
  std::map<std::string, size_t> index;
  json::array violations;
  for (const AuditResult& one : results.audit) {
    const auto [place, fresh] = index.emplace(one.law, laws.size());
    if (fresh) laws.push_back({one.law});
    Law& law = laws[place->second];
    ++law.checked;
    if (one.holds) continue;
    ++law.violated;
    violations.push_back(json::object{
        {"law", one.law}, {"where", one.where}, {"left", one.left}, {"right", one.right}});
  }
  json::object law_object;
  for (const Law& law : laws) {
    law_object[law.name] = json::object{{"checked", law.checked}, {"violated", law.violated}};
  }
  json::object object;
  object["laws"] = std::move(law_object);
  object["violations"] = results.violations();
  object["violated"] = std::move(violations);
  return object;
}

json::object check_json(const CheckReport& check) {
  return {{"elements", check.elements},
          {"mismatches", check.mismatches},
          {"first", check.first},
          {"max_error", check.max_error},
          {"error_bound", check.error_bound}};
}

// Shares of the time that was looked at.
json::object use_json(const UseOfSpan& use) {
  const double all = static_cast<double>(use.time());
  const auto share = [&](Time time) { return static_cast<double>(time) / all; };
  return {{"time_ns", use.time() / kNanosecond},
          {"sm", use.sm},
          {"dram", use.dram},
          {"both_low", share(use.both_low)},
          {"only_sm_low", share(use.only_sm_low)},
          {"only_dram_low", share(use.only_dram_low)},
          {"neither_low", share(use.neither_low)}};
}

json::array jobs_json(const Results& results) {
  json::array jobs;
  for (const JobResults& one : results.jobs) {
    json::object job{{"workload", one.workload},
                     {"kind", one.kind},
                     {"mode", one.mode},
                     {"gpus", json::array(one.gpus.begin(), one.gpus.end())},
                     {"shape", object_of(one.shape)},
                     {"parameters", object_of(one.parameters)},
                     {"check", check_json(one.check)}};
    if (one.time) job["time_ns"] = *one.time / kNanosecond;
    if (!one.details.empty()) job["job"] = one.details;
    jobs.push_back(std::move(job));
  }
  return jobs;
}

json::array lines_of(const std::string& text) {
  json::array lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.emplace_back(line);
  return lines;
}

// Of sampled runs against simulated ones, as the table of their times says.
constexpr const char* kSampledError = "bodies.sampled.error.";

// The largest ones: of kernels by themselves, and of what was checked beside others.
std::vector<std::string> error_lines(const Results& results) {
  constexpr size_t kMost = 12;
  std::vector<std::pair<uint64_t, std::string>> errors;
  for (const Statistic& one : results.statistics) {
    const size_t name = one.path.find(kSampledError);
    if (!one.path.starts_with("gpu0.") || name == std::string::npos) continue;
    errors.emplace_back(one.value, one.path.substr(name + std::string(kSampledError).size()));
  }
  std::stable_sort(errors.begin(), errors.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> lines;
  for (const auto& [ppm, name] : errors) {
    if (lines.size() == kMost) {
      lines.push_back(
          fmt::format("{} smaller ones: statistics in stats.json", errors.size() - kMost));
      break;
    }
    const bool is_by_itself = !name.starts_with(kCheckedError);
    lines.push_back(fmt::format("{:.3f} %  {}{}", static_cast<double>(ppm) / 1e4,
                                is_by_itself ? "by itself: " : "", name));
  }
  return lines;
}

std::string milliseconds(Time time) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6f", static_cast<double>(time / 1'000'000) / 1e6);
  return text;
}

}  // namespace

std::vector<std::pair<std::string, Time>> Results::times() const {
  std::vector<std::pair<std::string, Time>> all{{"total", total}};
  for (const PhaseTime& phase : phases)
    if (phase.known) all.emplace_back(phase.name, phase.time);
  if (!phases.empty()) {
    all.emplace_back("write_back", write_back);
    all.emplace_back("no_phase", no_phase);
  }
  return all;
}

uint64_t Results::violations() const {
  uint64_t count = 0;
  for (const AuditResult& one : audit) count += one.holds ? 0 : 1;
  return count;
}

void Results::judge() {
  if (status != RunStatus::complete || (violations() == 0 && check.passed())) return;
  message = first_complaint(*this);
  status = RunStatus::failed;
}

int Results::exit_code() const {
  if (status == RunStatus::time_limit) return kExitTimeLimit;
  if (status == RunStatus::interrupted) return kExitSignal + signal;
  const bool right = status == RunStatus::complete && violations() == 0 && check.passed();
  return right ? kExitSuccess : kExitCheckFailed;
}

const char* to_string(RunStatus status) {
  constexpr const char* kNames[] = {"complete", "failed", "interrupted", "time limit"};
  return kNames[static_cast<size_t>(status)];
}

std::string to_json(const Results& results) {
  json::object root;
  root["stretto"] = version_text();
  root["status"] = to_string(results.status);
  root["message"] = results.message;
  root["machine"] = results.machine;
  root["workload"] = results.workload;
  root["mode"] = results.mode;
  root["work"] = results.work;
  root["data"] = results.data;
  root["seed"] = results.seed;
  root["gpus"] = results.gpus;
  if (results.executor != "iss") root["executor"] = results.executor;
  root["shape"] = object_of(results.shape);
  root["parameters"] = object_of(results.parameters);
  if (!results.contents.empty()) root["contents"] = object_of(results.contents);
  root["impl"] = object_of(results.impl);
  json::object rtl;
  for (const auto& [block, sources] : results.rtl)
    rtl[block] = json::object{{"sources", sources.folder}, {"sha256", sources.sha256}};
  root["rtl"] = std::move(rtl);
  root["kernel_sha256"] = object_of(results.kernel_sha256);
  root["firmware_sha256"] = results.firmware_sha256;
  json::object time;
  for (const auto& [name, value] : results.times()) time[name] = value / kNanosecond;
  root["time_ns"] = std::move(time);
  json::object under_way;
  for (const PhaseTime& phase : results.phases)
    if (phase.is_under_way()) under_way[phase.name] = phase.spans.front().first / kNanosecond;
  if (!under_way.empty()) root["under_way_since_ns"] = std::move(under_way);
  root["horizon_ns"] = results.horizon / kNanosecond;
  root["dram_bytes"] = object_of(results.dram_bytes);
  root["link_bytes"] = results.link_bytes;
  if (results.use.time() != 0) root["utilisation"] = use_json(results.use);
  root["cp"] =
      json::object{{"instructions", results.cp_instructions}, {"cycles", results.cp_cycles}};
  root["tracker"] = object_of(results.tracker);
  root["mca"] = object_of(results.mca);
  root["check"] = check_json(results.check);
  if (!results.job.empty()) root["job"] = results.job;
  if (!results.jobs.empty()) root["jobs"] = jobs_json(results);
  if (!results.table.empty()) root["table"] = lines_of(results.table);
  root["audit"] = audit_json(results);
  root["digest"] = results.digest;
  root["host"] = json::object{
      {"wall_s", results.wall_s}, {"cpu_s", results.cpu_s}, {"peak_rss_mib", results.peak_rss_mib}};
  json::object statistics;
  for (const Statistic& one : results.statistics) statistics[one.path] = one.value;
  root["statistics"] = std::move(statistics);
  std::string text;
  pretty(text, root, 0);
  // Of the numbers as they are written, so that a change of the file shows (result_file.h).
  root["sha256"] = contents_sha256(json::parse(text).as_object());
  text.clear();
  pretty(text, root, 0);
  return text + "\n";
}

std::string to_csv(const Results& results) {
  std::string text = "path,value,unit,sentence\n";
  const auto sentence = [](const std::string& name) {
    return name == "total" ? "End of the last host program"
           : name == "write_back"
               ? "Time in no phase in which the L2 writes back what ended kernels have stored"
           : name == "no_phase" ? "What of the total lies in no phase and is no write_back"
                                : "Time of the phase";
  };
  for (const auto& [name, value] : results.times()) {
    text += "time_ns." + name + "," + std::to_string(value / kNanosecond) + ",ns," +
            sentence(name) + "\n";
  }
  text += "horizon_ns," + std::to_string(results.horizon / kNanosecond) +
          ",ns,Time that the statistics cover\n";
  for (const auto& [key, value] : results.dram_bytes) {
    text += "dram_bytes." + key + "," + std::to_string(value) + ",bytes,DRAM traffic of all GPUs\n";
  }
  text += "link_bytes," + std::to_string(results.link_bytes) + ",bytes,Payload over all links\n";
  for (const Statistic& one : results.statistics) {
    text += csv_text(one.path) + "," + std::to_string(one.value) + "," + one.unit + "," +
            csv_text(one.sentence) + "\n";
  }
  return text;
}

std::string requests_csv(const Results& results) {
  if (results.requests.empty()) return "";
  return "job,client,request,arrival_ns,begin_ns,end_ns\n" +
         boost::algorithm::join(results.requests, "\n") + "\n";
}

void write_results(const std::string& folder, const Results& results,
                   const std::string& resolved_machine) {
  write_atomically(folder + "/stats.json", to_json(results));
  write_atomically(folder + "/machine.yaml", resolved_machine);
  write_atomically(folder + "/stats.csv", to_csv(results));
  if (const std::string requests = requests_csv(results); !requests.empty())
    write_atomically(folder + "/requests.csv", requests);
}

std::string first_complaint(const Results& results) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (results.status != RunStatus::complete) {
    add(to_string(results.status) + (results.message.empty() ? "" : ": " + results.message));
    return text;
  }
  if (!results.check.first.empty()) {
    add("wrong data: " + results.check.first + " (" + std::to_string(results.check.mismatches) +
        " of " + std::to_string(results.check.elements) + " elements)");
  }
  if (results.check.max_error > 1) add("partial products are outside of their error bound");
  std::string last;
  for (const AuditResult& one : results.audit) {
    if (one.holds || one.law == last) continue;
    last = one.law;
    add("law violated: " + one.law + ", at " + one.where + ": " + std::to_string(one.left) +
        " against " + std::to_string(one.right));
  }
  return text;
}

std::string summary(const Results& results) {
  std::ostringstream out;
  out << results.workload << " on " << results.machine << ", " << results.gpus
      << (results.gpus == 1 ? " GPU" : " GPUs") << ", mode " << results.mode << ", data "
      << results.data << ": " << to_string(results.status);
  if (!results.message.empty()) out << ": " << results.message;
  out << (results.status == RunStatus::complete ? "\n  time ms   " : "\n  time ms so far");
  std::string without, under_way;
  for (const auto& [name, value] : results.times()) {
    if (value != 0) out << "  " << name << " " << milliseconds(value);
  }
  for (const PhaseTime& phase : results.phases) {
    if (phase.is_under_way())
      under_way += (under_way.empty() ? "" : ", ") + phase.name + " since " +
                   milliseconds(phase.spans.front().first);
    if (phase.known && phase.time == 0) without += (without.empty() ? "" : ", ") + phase.name;
  }
  if (!under_way.empty()) out << "\n  under way   " << under_way;
  if (!without.empty())
    out << "\n  none        " << without
        << ": nothing ran under this name; what a kernel does on the way is part of its own phase";
  out << "\n  DRAM MB   ";
  for (const auto& [key, value] : results.dram_bytes) {
    if (value == 0) continue;
    char text[64];
    std::snprintf(text, sizeof text, "  %s %.3f", key.c_str(), static_cast<double>(value) / 1e6);
    out << text;
  }
  char text[200];
  std::snprintf(text, sizeof text, "\n  link MB     %.3f\n",
                static_cast<double>(results.link_bytes) / 1e6);
  out << text;
  if (results.status != RunStatus::complete && results.check.elements == 0)
    out << "  check       not made: the run did not end";
  else if (results.executor != "iss")
    out << "  check       not made: gpu.executor=" << results.executor;
  else
    out << "  check       " << results.check.elements << " elements, " << results.check.mismatches
        << " mismatches";
  if (!results.check.limit.empty()) out << "; " << results.check.limit;
  if (!results.check.first.empty()) out << "; first: " << results.check.first;
  if (results.check.error_bound > 0) {
    std::snprintf(text, sizeof text, "; largest error %.4g of its bound", results.check.max_error);
    out << text;
  }
  for (const std::string& line : error_lines(results)) out << "\n  error       " << line;
  if (results.audit.empty())
    out << "\n  audit       not made: the run did not end\n";
  else
    out << "\n  audit       " << results.audit.size() << " checks of laws, " << results.violations()
        << " violations\n";
  unsigned shown = 0;
  for (const AuditResult& one : results.audit) {
    if (one.holds || shown++ == 8) continue;
    if (shown > 8) break;
    out << "    violated: " << one.law << ", at " << one.where << ": " << one.left << " against "
        << one.right << "\n";
  }
  std::snprintf(text, sizeof text, "  host        %.2f s wall, %.2f s cpu, %.0f MiB\n",
                results.wall_s, results.cpu_s, results.peak_rss_mib);
  out << text << "  digest      " << results.digest << "\n";
  for (const auto& [block, sources] : results.rtl) {
    if (sources.is_brought())
      out << "  rtl         " << block << " from " << sources.folder << "\n";
  }
  if (!results.table.empty()) out << "\n" << results.table;
  return out.str();
}

}  // namespace stretto
