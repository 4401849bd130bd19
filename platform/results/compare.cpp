// SPDX-License-Identifier: Apache-2.0
#include "platform/results/compare.h"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "models/common/error.h"
#include "platform/base/exit_status.h"
#include "platform/config/options.h"
#include "platform/config/yaml_file.h"
#include "platform/results/result_file.h"

namespace stretto {

namespace json = boost::json;

namespace {

std::string text_at(const json::value& root, const char* key) {
  const json::value* at = root.as_object().if_contains(key);
  return at != nullptr && at->is_string() ? std::string(at->get_string()) : "";
}

class Table {
 public:
  void row(std::string title, std::vector<std::string> cells) {
    cells.insert(cells.begin(), std::move(title));
    rows_.push_back(std::move(cells));
  }
  void print() const {
    std::vector<size_t> width;
    for (const auto& row : rows_) {
      width.resize(std::max(width.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
    }
    for (const auto& row : rows_) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string pad(width[i] - row[i].size(), ' ');
        line += i == 0 ? row[i] + pad : "  " + pad + row[i];
      }
      std::printf("%s\n", line.c_str());
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string fixed(double value, int digits) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// A result and where it lies.
struct Result {
  std::string folder;
  json::value root;
  std::map<std::string, std::string> parameters;  // Of machine.yaml; empty if it is not there.
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

Result load(const std::string& folder) {
  Result result{folder, load_results(folder), {}, true};
  const std::string machine = folder + "/machine.yaml";
  if (std::filesystem::exists(machine)) flatten(load_yaml(machine), "", result.parameters);
  return result;
}

bool has_key(const json::value& root, const char* group, const std::string& key) {
  const json::value* at = root.as_object().if_contains(group);
  return at != nullptr && at->is_object() && at->get_object().contains(key);
}

// The keys of a group, of all results, in the order in which they come, without those that are 0 in all.
std::vector<std::string> keys_of(const std::vector<Result>& all, const char* group) {
  std::vector<std::string> keys;
  for (const Result& one : all) {
    const json::value* at = one.root.as_object().if_contains(group);
    if (at == nullptr || !at->is_object()) continue;
    for (const auto& item : at->get_object()) {
      const std::string key = item.key();
      if (item.value() == 0) continue;
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

// Why the times of a result mean nothing; empty if they do.
std::string unusable(const json::value& v) {
  if (text_at(v, "status") != "complete") return "status is '" + text_at(v, "status") + "'";
  if (number_at(v, {"check", "elements"}) == 0) return "no element was checked";
  if (number_at(v, {"check", "mismatches"}) != 0) return "its data is wrong";
  if (number_at(v, {"audit", "violations"}) != 0) return "it violates laws";
  return "";
}

// "rtl/mca 0123456789ab"; empty if the block ran as model.
std::string rtl_of(const json::value& v, const std::string& block) {
  const json::value* const rtl = v.as_object().if_contains("rtl");
  const json::value* const one = rtl == nullptr ? nullptr : rtl->as_object().if_contains(block);
  if (one == nullptr) return "";
  return text_at(*one, "sources") + " " + text_at(*one, "sha256").substr(0, 12);
}

// In what `b` differs from `a` beside the mode, as "machine (t3, t3-paper), ...".
std::string differences(const Result& a, const Result& b) {
  constexpr size_t kShown = 6;
  std::vector<std::string> all;
  for (const char* key : {"machine", "data", "firmware_sha256"}) {
    const std::string left = text_at(a.root, key), right = text_at(b.root, key);
    if (left != right)
      all.push_back(std::string(key) + " (" + left.substr(0, 12) + ", " + right.substr(0, 12) +
                    ")");
  }
  for (const char* key : {"seed", "gpus"}) {
    const uint64_t left = number_at(a.root, {key}), right = number_at(b.root, {key});
    if (left != right)
      all.push_back(std::string(key) + " (" + std::to_string(left) + ", " + std::to_string(right) +
                    ")");
  }
  for (const std::string& block : block_names()) {
    const std::string left = rtl_of(a.root, block), right = rtl_of(b.root, block);
    if (!left.empty() && !right.empty() && left != right)
      all.push_back("rtl of " + block + " (" + left + ", " + right + ")");
  }
  for (const auto& [path, value] : b.parameters) {
    const auto other = a.parameters.find(path);
    if (path != "gpus" && other != a.parameters.end() && other->second != value)
      all.push_back(path + " (" + other->second + ", " + value + ")");
  }
  std::string text;
  for (size_t i = 0; i < all.size() && i < kShown; ++i) text += (i ? ", " : "") + all[i];
  if (all.size() > kShown) text += " and " + std::to_string(all.size() - kShown) + " more";
  return text;
}

// In what the work of `b` differs from that of `a`; empty if it does not.
std::string other_work(const json::value& a, const json::value& b) {
  if (text_at(a, "workload") != text_at(b, "workload")) return text_at(b, "workload");
  const json::value *left = a.as_object().if_contains("parameters"),
                    *right = b.as_object().if_contains("parameters");
  if (left != nullptr && right != nullptr) {
    for (const auto& item : right->as_object()) {
      const json::value* other = left->as_object().if_contains(item.key());
      if (other == nullptr || *other != item.value())
        return std::string(item.key()) + " is " + json::serialize(item.value());
    }
  }
  const json::value *one = a.as_object().if_contains("shape"),
                    *two = b.as_object().if_contains("shape");
  return one == two || (one != nullptr && two != nullptr && *one == *two) ? "" : "another shape";
}

// Says on standard error what makes ratios wrong or doubtful; true if every ratio may be shown.
bool judge(std::vector<Result>& all) {
  const Result& first = all[0];
  bool good = true;
  for (Result& one : all) {
    std::string why = unusable(one.root);
    if (why.empty()) {
      if (const std::string other = other_work(first.root, one.root); !other.empty())
        why = "it is of another workload than " + first.folder + " (" + other + ")";
    }
    if (!why.empty()) {
      std::fprintf(stderr, "stretto: %s: no speed-up: %s\n", one.folder.c_str(), why.c_str());
      one.comparable = good = false;
      continue;
    }
    const std::string differs = differences(first, one);
    if (!differs.empty())
      std::fprintf(stderr, "stretto: %s: not only the mode differs from %s: %s\n",
                   one.folder.c_str(), first.folder.c_str(), differs.c_str());
  }
  return good;
}

}  // namespace

int compare(const std::vector<std::string>& folders) {
  std::vector<Result> all;
  for (const std::string& folder : folders) all.push_back(load(folder));
  const bool many = folders.size() > 1;
  const bool good = !many || judge(all);
  Table table;
  const auto row = [&](const std::string& title, const auto& cell) {
    std::vector<std::string> cells;
    for (const Result& one : all) cells.push_back(cell(one.root));
    table.row(title, std::move(cells));
  };
  for (const char* key : {"workload", "machine", "mode", "data", "status"}) {
    row(key, [&](const json::value& v) { return text_at(v, key); });
  }
  row("", [](const json::value&) { return std::string(); });
  // "-" where a result has no such phase or account.
  const auto named_rows = [&](const char* group, const std::string& before, const char* unit,
                              int digits, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
      row(before + key + unit, [&](const json::value& v) {
        return has_key(v, group, key)
                   ? fixed(double(number_at(v, {group, key.c_str()})) / 1e6, digits)
                   : std::string("-");
      });
    }
  };
  std::vector<std::string> phases = keys_of(all, "time_ns");
  // The sum of all behind what it is made of.
  std::stable_partition(phases.begin(), phases.end(),
                        [](const std::string& key) { return key != "total"; });
  named_rows("time_ns", "", " ms", 6, phases);
  // A speed-up is asked for with and without what comes before the first kernel.
  const auto ratio = [&](const std::string& title, const std::vector<const char*>& without) {
    const auto time = [&](const json::value& v) {
      double time = double(number_at(v, {"time_ns", "total"}));
      for (const char* phase : without) time -= double(number_at(v, {"time_ns", phase}));
      return time;
    };
    std::vector<std::string> cells;
    for (const Result& one : all) {
      const bool shown = all[0].comparable && one.comparable && time(one.root) > 0;
      cells.push_back(shown ? fixed(time(all[0].root) / time(one.root), 3) : "-");
    }
    table.row(title, std::move(cells));
  };
  if (many) {
    ratio("speed-up, whole run", {});
    ratio("speed-up without init", {"init"});
    ratio("speed-up without setup and init", {"setup", "init"});
  }
  row("", [](const json::value&) { return std::string(); });
  named_rows("dram_bytes", "DRAM ", " MB", 3, keys_of(all, "dram_bytes"));
  row("link MB", [](const json::value& v) { return fixed(number_at(v, {"link_bytes"}) / 1e6, 3); });
  for (const char* key : {"updates", "triggers", "spills", "max_live"}) {
    row(std::string("tracker ") + key, [&](const json::value& v) {
      return std::to_string(number_at(v, {"tracker", key}));
    });
  }
  row("CP instructions", [](const json::value& v) {
    return std::to_string(number_at(v, {"cp", "instructions"}));
  });
  row("CP cycles", [](const json::value& v) {
    return std::to_string(number_at(v, {"cp", "cycles"}));
  });
  row("", [](const json::value&) { return std::string(); });
  row("elements checked", [](const json::value& v) {
    return std::to_string(number_at(v, {"check", "elements"}));
  });
  row("mismatches", [](const json::value& v) {
    return std::to_string(number_at(v, {"check", "mismatches"}));
  });
  row("audit violations", [](const json::value& v) {
    return std::to_string(number_at(v, {"audit", "violations"}));
  });
  row("host seconds", [](const json::value& v) {
    const json::value* host = v.as_object().if_contains("host");
    const json::value* wall =
        host != nullptr && host->is_object() ? host->get_object().if_contains("wall_s") : nullptr;
    return wall == nullptr || !wall->is_number() ? std::string("-")
                                                 : fixed(wall->to_number<double>(), 2);
  });
  row("digest", [](const json::value& v) { return text_at(v, "digest").substr(0, 12); });
  table.print();
  return good ? kExitSuccess : kExitCheckFailed;
}

}  // namespace stretto
