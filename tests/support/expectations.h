// SPDX-License-Identifier: Apache-2.0
// What runs of the executable must be that go wrong, or are made in several ways. `arguments`: of
// `stretto run`.
#ifndef STRETTO_TESTS_SUPPORT_EXPECTATIONS_H_
#define STRETTO_TESTS_SUPPORT_EXPECTATIONS_H_

#include <string>

#include "tests/support/run_json.h"

namespace stretto::test {

// A fault of the machine is found: exit status 1, and `why` is said.
inline void expect_found(const std::string& arguments, const std::string& why) {
  const Scratch scratch;
  const Finished finished = run_stretto("run " + arguments + " --out " + scratch.path + "/r");
  INFO(arguments << "\n" << finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says(why));
}

// Bad input: exit status 2, in one line.
inline void expect_refused(const std::string& arguments, const std::string& why) {
  const Scratch scratch;
  const Finished finished = run_stretto("run " + arguments + " --out " + scratch.path + "/r");
  INFO(arguments << "\n" << finished.output);
  CHECK(finished.status == 2);
  CHECK(finished.lines() == 1);
  CHECK(finished.says(why));
}

// RTL, models, lockstep and blocks that never sleep leave the same digest.
inline void expect_same_digest(const std::string& arguments) {
  const auto digest = [&](const std::string& more) {
    return run_correctly(arguments + more).text("digest");
  };
  const std::string rtl = digest("");
  CHECK(digest(" --impl all=model") == rtl);
  CHECK(digest(" --impl all=lockstep") == rtl);
  CHECK(digest(" --impl all=model --set sim.sleep=false") == rtl);
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_EXPECTATIONS_H_
