// SPDX-License-Identifier: Apache-2.0
// Reading stats.json back: what is missing, of another type, negative or changed is refused in one
// line that names file and key. Nothing is ever read as 0.
#include <catch2/catch.hpp>

#include "models/common/error.h"
#include "tests/unit/platform/result_folder.h"

namespace stretto {
namespace {

using test::edit;
using test::ResultFolder;

std::string refusal(const std::string& folder) {
  try {
    const ResultFile ignored(folder);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// What is said of a result after `change`, as if it had been written so.
std::string refusal_after(const std::function<void(boost::json::object&)>& change) {
  const ResultFolder scratch;
  const std::string folder = scratch.result("r");
  edit(folder, change, true);
  const std::string text = refusal(folder);
  CHECK((text.empty() || text.rfind(folder + "/stats.json: ", 0) == 0));
  return text;
}

bool says(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("a result is read back as it was written") {
  const ResultFolder scratch;
  const ResultFile result(scratch.result("r", [](Results& results) {
    results.seed = 7;
    results.link_bytes = 640;
    results.check.mismatches = 2;
    results.check.max_error = 0.1234567891;  // Printed with 6 digits.
    results.audit.push_back({"law", "gpu0", 1, 2, false});
    results.parameters["type"] = "half";
  }));
  CHECK(result.status == "complete");
  CHECK(result.workload == "w");
  CHECK(result.mode == "sequential");
  CHECK(result.seed == 7);
  CHECK(result.gpus == 8);
  CHECK(result.link_bytes == 640);
  CHECK(result.elements == 5);
  CHECK(result.mismatches == 2);
  CHECK(result.violations == 1);
  CHECK(result.parameters.at("type") == "half");
  CHECK(result.time("total") == 1'000'000);
  CHECK(result.root().at("check").at("max_error").number() == Approx(0.123457));
}

TEST_CASE("a missing key is named with the nearest one, and is not 0") {
  for (const char* key : {"status", "time_ns", "dram_bytes", "link_bytes", "check", "audit", "seed",
                          "gpus", "digest"}) {
    INFO(key);
    CHECK(says(refusal_after([&](auto& root) { root.erase(key); }),
               "missing '" + std::string(key) + "'"));
  }
  CHECK(says(refusal_after([](auto& root) {
               root["audit"].as_object().erase("violations");
               root["audit"].as_object()["violation"] = 0;
             }),
             "missing 'audit.violations'; nearest: violation"));
  CHECK(says(refusal_after([](auto& root) { root["time_ns"].as_object().erase("total"); }),
             "missing 'time_ns.total'"));
  const ResultFolder scratch;
  const ResultFile result(scratch.result("r"));
  CHECK_THROWS_WITH(result.time("totl"), Catch::Contains("missing 'time_ns.totl'; nearest: total"));
  CHECK_THROWS_WITH(result.dram("gem_read"), Catch::Contains("missing 'dram_bytes.gem_read'"));
}

TEST_CASE("another type and a negative number are refused with the value that stands there") {
  CHECK(says(refusal_after([](auto& root) { root["link_bytes"] = -1; }),
             "'link_bytes' is -1, must be a whole number, not negative"));
  CHECK(says(refusal_after([](auto& root) { root["seed"] = "1"; }),
             "'seed' is \"1\", must be a whole number"));
  CHECK(says(refusal_after([](auto& root) { root["time_ns"].as_object()["total"] = 1.5; }),
             "'time_ns.total' is 1.5E0, must be a whole number"));
  CHECK(says(refusal_after([](auto& root) { root["check"] = 3; }),
             "'check' is 3, must be an object"));
  CHECK(says(refusal_after([](auto& root) { root["status"] = nullptr; }),
             "'status' is null, must be a text"));
}

TEST_CASE("numbers that were changed after the run are refused, another layout is not") {
  const ResultFolder scratch;
  const std::string folder = scratch.result("r");
  edit(
      folder, [](auto&) {}, false);  // One line instead of many.
  CHECK(refusal(folder).empty());
  edit(
      folder, [](auto& root) { root["time_ns"].as_object()["total"] = 999'999; }, false);
  CHECK(says(refusal(folder), "was changed after it was written; remove it to simulate again"));
  const std::string other = scratch.result("other");
  edit(
      other, [](auto& root) { root.erase("sha256"); }, false);
  CHECK(says(refusal(other), "missing 'sha256'"));
}

TEST_CASE("what is no result at all is named") {
  const ResultFolder scratch;
  CHECK(says(refusal(scratch.path + "/none"), "/none/stats.json"));
  for (const char* contents : {"", "{\"status\": \"comp", "[]", "7"}) {
    std::ofstream(scratch.path + "/stats.json") << contents;
    INFO(contents);
    CHECK(says(refusal(scratch.path), "stats.json: not a result of stretto"));
  }
}

TEST_CASE("an unusable result says why") {
  const ResultFolder scratch;
  const auto why = [&](const std::function<void(Results&)>& change) {
    return ResultFile(scratch.result("r", change)).why_unusable();
  };
  CHECK(why([](Results&) {}).empty());
  CHECK(why([](Results& r) { r.status = RunStatus::time_limit; }) == "status is 'time limit'");
  CHECK(why([](Results& r) { r.check.elements = 0; }) == "no element was checked");
  CHECK(why([](Results& r) { r.check.mismatches = 1; }) == "its data is wrong");
  CHECK(why([](Results& r) { r.audit.push_back({"law", "", 1, 2, false}); }) == "it violates laws");
}

}  // namespace
}  // namespace stretto
