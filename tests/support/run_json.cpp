// SPDX-License-Identifier: Apache-2.0
#include "tests/support/run_json.h"

namespace stretto::test {
namespace {

template <class Number>
Number as(const boost::json::value& value, std::string_view path) {
  boost::system::error_code error;
  const auto number = value.to_number<Number>(error);
  if (error) FAIL("stats.json: " << path << " is no such number: " << error.message());
  return number;
}

}  // namespace

RunResult::RunResult(boost::json::value root, std::string output)
    : root_(std::move(root)), output_(std::move(output)) {}

uint64_t RunResult::number(std::string_view path) const { return as<uint64_t>(at(path), path); }
double RunResult::real(std::string_view path) const { return as<double>(at(path), path); }

std::string RunResult::text(std::string_view path) const {
  const boost::json::value& value = at(path);
  if (!value.is_string()) FAIL("stats.json: " << path << " is no text");
  return std::string(value.as_string());
}

const boost::json::value& RunResult::at(std::string_view path) const {
  const boost::json::value* value = find(path);
  if (value == nullptr) FAIL("stats.json has no " << path);
  return *value;
}

bool RunResult::has(std::string_view path) const { return find(path) != nullptr; }
bool RunResult::says(std::string_view text) const {
  return output_.find(text) != std::string::npos;
}

// Names of statistics have dots themselves.
const boost::json::value* RunResult::find(std::string_view path) const {
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

RunResult run_correctly(const std::string& arguments) {
  const Scratch scratch;
  const Finished finished = run_stretto("run " + arguments + " --out " + scratch.path + "/r");
  INFO(arguments << "\n" << finished.output);
  REQUIRE(finished.status == 0);
  const RunResult run(stats(scratch.path + "/r"), finished.output);
  CHECK(run.number("check.mismatches") == 0);
  CHECK(run.number("audit.violations") == 0);
  return run;
}

Finished run_somewhere(const std::string& arguments) {
  const Scratch scratch;
  return run_stretto("run " + arguments + " --out " + scratch.path + "/r", "timeout 300");
}

void fails(const std::string& arguments, const std::string& says) {
  const Finished finished = run_somewhere(arguments);
  INFO(arguments << "\n" << finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says(says));
}

}  // namespace stretto::test
