// SPDX-License-Identifier: Apache-2.0
// A run of the executable that must end well, and its stats.json by path: "check.mismatches",
// "statistics.gpu0.dma.triggers". A key that is not there, or is no number, fails the test.
#ifndef STRETTO_TESTS_SUPPORT_RUN_JSON_H_
#define STRETTO_TESTS_SUPPORT_RUN_JSON_H_

#include <boost/json.hpp>
#include <catch2/catch.hpp>

#include <string>
#include <string_view>

#include "tests/system/process.h"

namespace stretto::test {

class RunResult {
 public:
  RunResult(boost::json::value root, std::string output)
      : root_(std::move(root)), output_(std::move(output)) {}

  uint64_t number(std::string_view path) const { return as<uint64_t>(path); }
  double real(std::string_view path) const { return as<double>(path); }
  std::string text(std::string_view path) const {
    const boost::json::value& value = at(path);
    if (!value.is_string()) FAIL("stats.json: " << path << " is no text");
    return std::string(value.as_string());
  }
  const boost::json::value& at(std::string_view path) const {
    const boost::json::value* value = find(path);
    if (value == nullptr) FAIL("stats.json has no " << path);
    return *value;
  }
  bool has(std::string_view path) const { return find(path) != nullptr; }
  bool says(std::string_view text) const { return output_.find(text) != std::string::npos; }

 private:
  template <class Number>
  Number as(std::string_view path) const {
    boost::system::error_code error;
    const auto number = at(path).to_number<Number>(error);
    if (error) FAIL("stats.json: " << path << " is no such number: " << error.message());
    return number;
  }
  // Names of statistics have dots themselves.
  const boost::json::value* find(std::string_view path) const {
    const boost::json::value* value = &root_;
    while (value->is_object()) {
      if (const auto* whole = value->as_object().if_contains(path)) return whole;
      const size_t dot = path.find('.');
      if (dot == std::string_view::npos) return nullptr;
      value = value->as_object().if_contains(path.substr(0, dot));
      if (value == nullptr) return nullptr;
      path.remove_prefix(dot + 1);
    }
    return nullptr;
  }

  boost::json::value root_;
  std::string output_;
};

// `stretto run ARGUMENTS`, which must exit with 0, every element right and no law violated.
inline RunResult run_correctly(const std::string& arguments) {
  const Scratch scratch;
  const Finished finished = run_stretto("run " + arguments + " --out " + scratch.path + "/r");
  INFO(arguments << "\n" << finished.output);
  REQUIRE(finished.status == 0);
  const RunResult run(stats(scratch.path + "/r"), finished.output);
  CHECK(run.number("check.mismatches") == 0);
  CHECK(run.number("audit.violations") == 0);
  return run;
}

// `stretto run ARGUMENTS`, whose results nobody looks at.
inline Finished run_somewhere(const std::string& arguments) {
  const Scratch scratch;
  return run_stretto("run " + arguments + " --out " + scratch.path + "/r", "timeout 300");
}

// It must exit with 1 and say so.
inline void fails(const std::string& arguments, const std::string& says) {
  const Finished finished = run_somewhere(arguments);
  INFO(arguments << "\n" << finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says(says));
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_RUN_JSON_H_
