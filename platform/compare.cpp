// SPDX-License-Identifier: Apache-2.0
#include "platform/compare.h"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdio>

#include "models/common/error.h"
#include "platform/atomic_file.h"

namespace stretto {

namespace json = boost::json;

json::value load_results(const std::string& folder) {
  const std::string file = folder + "/stats.json";
  boost::system::error_code error;
  json::value value = json::parse(read_file(file), error);
  if (error || !value.is_object())
    throw UserError(file + ": not a result of stretto (" + error.message() + ")");
  return value;
}

uint64_t number_at(const json::value& root, std::initializer_list<const char*> path) {
  const json::value* at = &root;
  for (const char* key : path) {
    const json::object* object = at->if_object();
    if (object == nullptr || (at = object->if_contains(key)) == nullptr) return 0;
  }
  if (at->is_uint64()) return at->get_uint64();
  if (at->is_int64()) return static_cast<uint64_t>(at->get_int64());
  return at->is_double() ? static_cast<uint64_t>(at->get_double()) : 0;
}

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

}  // namespace

int compare(const std::vector<std::string>& folders) {
  std::vector<json::value> all;
  for (const std::string& folder : folders) all.push_back(load_results(folder));
  Table table;
  const auto row = [&](const std::string& title, const auto& cell) {
    std::vector<std::string> cells;
    for (const json::value& one : all) cells.push_back(cell(one));
    table.row(title, std::move(cells));
  };
  for (const char* key : {"workload", "machine", "mode", "data", "status"}) {
    row(key, [&](const json::value& v) { return text_at(v, key); });
  }
  row("", [](const json::value&) { return std::string(); });
  for (const char* phase : {"setup", "init", "gemm", "rs", "ag", "total"}) {
    row(std::string(phase) + " ms", [&](const json::value& v) {
      return fixed(number_at(v, {"time_ns", phase}) / 1e6, 6);
    });
  }
  // A speed-up is asked for with and without what comes before the first kernel.
  const auto ratio = [&](const auto& time) {
    return [&, time](const json::value& v) {
      const double mine = time(v);
      return mine == 0 ? std::string("-") : fixed(time(all[0]) / mine, 3);
    };
  };
  row("speed-up, whole run", ratio([](const json::value& v) {
        return double(number_at(v, {"time_ns", "total"}));
      }));
  row("speed-up without init", ratio([](const json::value& v) {
        return double(number_at(v, {"time_ns", "total"})) -
               double(number_at(v, {"time_ns", "init"}));
      }));
  row("speed-up without setup and init", ratio([](const json::value& v) {
        return double(number_at(v, {"time_ns", "total"})) -
               double(number_at(v, {"time_ns", "setup"})) -
               double(number_at(v, {"time_ns", "init"}));
      }));
  row("", [](const json::value&) { return std::string(); });
  for (const char* key : {"gemm_read", "gemm_write", "rs_read", "rs_write", "ag_read", "ag_write",
                          "init_write", "sync_read", "sync_write", "spill_read", "spill_write"}) {
    row(std::string("DRAM ") + key + " MB", [&](const json::value& v) {
      return fixed(number_at(v, {"dram_bytes", key}) / 1e6, 3);
    });
  }
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
  return 0;
}

}  // namespace stretto
