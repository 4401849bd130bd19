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
  RunResult(boost::json::value root, std::string output);

  uint64_t number(std::string_view path) const;
  double real(std::string_view path) const;
  std::string text(std::string_view path) const;
  const boost::json::value& at(std::string_view path) const;
  bool has(std::string_view path) const;
  bool says(std::string_view text) const;

 private:
  const boost::json::value* find(std::string_view path) const;

  boost::json::value root_;
  std::string output_;
};

// `stretto run ARGUMENTS`, which must exit with 0, every element right and no law violated.
RunResult run_correctly(const std::string& arguments);
// `stretto run ARGUMENTS`, whose results nobody looks at.
Finished run_somewhere(const std::string& arguments);
// It must exit with 1 and say so.
void fails(const std::string& arguments, const std::string& says);

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_RUN_JSON_H_
