// SPDX-License-Identifier: Apache-2.0
// The table of published results: it says when it is partial, judges nothing whose simulations are
// missing, and prints statements as they are published.
#include <catch2/catch.hpp>

#include <set>

#include "models/common/error.h"
#include "platform/campaign/targets.h"
#include "platform/reproduce/reproduction.h"
#include "tests/unit/platform/result_folder.h"

namespace stretto {
namespace {

using test::ResultFolder;

TargetTable table_in(const std::string& folder) {
  TargetTable table;
  table.name = "t3";
  table.columns = {"t3"};
  table.targets = {
      {"A-1", "1", "It is \"fast\", they say.", "speedup", 2.0, "x", "headline"},
      {"A-2", "1", "so", "trend", std::nullopt, "", "trend"},
  };
  table.measure = [](const std::string& id, const std::string&) -> Measured {
    if (id == "A-1") return {.value = 2.1};
    return {.needs = "case t3 and 3 more"};
  };
  table.out = folder;
  return table;
}

TEST_CASE("table.json says that a reproduction is partial and why a target is not judged") {
  const ResultFolder scratch;
  TargetTable table = table_in(scratch.path);
  table.partial = {"--cases tnlg: 8 of 20 cases"};
  write_targets(table);
  const boost::json::value root = boost::json::parse(read_file(scratch.path + "/table.json"));
  CHECK(root.at("reproduction").as_string() == "t3");
  REQUIRE(root.at("partial").as_array().size() == 1);
  CHECK(root.at("partial").at(0).as_string() == "--cases tnlg: 8 of 20 cases");
  const boost::json::array& rows = root.at("targets").as_array();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("t3").at("verdict").as_string() == "met");
  CHECK(rows[0].at("statement").as_string() == "It is \"fast\", they say.");
  CHECK(rows[1].at("t3").at("verdict").as_string() == "not judged: needs case t3 and 3 more");
  CHECK(rows[1].at("t3").at("measured").is_null());
}

TEST_CASE("published statements keep their quotation marks in table.csv") {
  const ResultFolder scratch;
  write_targets(table_in(scratch.path));
  const std::string csv = read_file(scratch.path + "/table.csv");
  INFO(csv);
  // RFC 4180: a quotation mark inside a quoted field is doubled.
  CHECK(csv.find("\"It is \"\"fast\"\", they say.\"") != std::string::npos);
}

TEST_CASE("published ranges are judged end by end, and reasons not to judge are the verdict") {
  Target range{"A-3", "1", "from to", "speedup_range", std::nullopt, "x", "headline"};
  range.range = {1.5, 3};
  CHECK(verdict(range, {.range = {1.45, 3.2}}) == "met");     // Gains of 0.45 and 2.2.
  CHECK(verdict(range, {.range = {1.45, 3.4}}) == "missed");  // 2.4 of 2 is above 15 %.
  CHECK(verdict(range, {.range = {1.5}}) == "missed");
  CHECK(verdict(range, {}) == "not measured");
  CHECK(verdict(range, {.range = {1.5, 3}, .not_judged = "so"}) == "not judged: so");
  CHECK(verdict(range, {.range = {1.5, 3}, .not_run = "refused"}) == "not run: refused");
}

TEST_CASE("names of missing simulations are counted") {
  CHECK(MissingSimulations({"a"}).what() == std::string("a"));
  CHECK(MissingSimulations({"a", "b", "c"}).what() == std::string("a and 2 more"));
}

TEST_CASE("a figure without targets names those that have some") {
  CHECK(targets_of_figure("t3", {"T3-R01", "T3-R30"}, "T3-R30", "16").size() == 1);
  CHECK_THROWS_WITH(targets_of_figure("t3", {"T3-R01"}, "99", "16, 17"),
                    Catch::Contains("--figure 99") && Catch::Contains("16, 17"));
}

TEST_CASE("every reproduction has a name of its own, a sentence and something to run") {
  std::set<std::string> names;
  for (const Reproduction& one : reproductions()) {
    CHECK(names.insert(one.name).second);
    CHECK_FALSE(one.sentence.empty());
    CHECK(one.run != nullptr);
  }
  CHECK(names.size() >= 3);
}

}  // namespace
}  // namespace stretto
