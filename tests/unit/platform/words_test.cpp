// SPDX-License-Identifier: Apache-2.0
// Words of a command line: what a shell reads back is what was typed, and numbers keep their range.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "models/common/error.h"
#include "platform/base/say.h"
#include "platform/base/version.h"
#include "platform/cli/words.h"

namespace stretto {
namespace {

// What a shell makes of a text.
std::string read_by_shell(const std::string& text) {
  std::FILE* const pipe = popen(("printf '%s|' " + text).c_str(), "r");
  std::string out;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
  pclose(pipe);
  return out;
}

TEST_CASE("lines of several threads on standard error are whole") {
  std::FILE* const file = std::tmpfile();
  const int kept = dup(STDERR_FILENO);
  fcntl(fileno(file), F_SETFL, O_APPEND);
  dup2(fileno(file), STDERR_FILENO);
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 4; ++i) {
      threads.emplace_back([i] {
        for (unsigned n = 0; n < 500; ++n) say(std::string(300, static_cast<char>('a' + i)));
      });
    }
  }
  dup2(kept, STDERR_FILENO);
  close(kept);
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  constexpr size_t kLine = sizeof "stretto: " + 300;
  REQUIRE(text.size() == 2000 * kLine);
  for (size_t at = 0; at < text.size(); at += kLine) {
    const std::string line = text.substr(at, kLine);
    CHECK(line == "stretto: " + std::string(300, line[9]) + "\n");
  }
}

TEST_CASE("a shell reads quoted words back as they were") {
  const std::vector<std::string> words{"run",   "a b", "it's",      "",
                                       "$HOME", "x;y", "--set=a=1", "\"q\""};
  std::string wanted;
  for (const std::string& word : words) wanted += word + "|";
  CHECK(read_by_shell(shell_quoted(words)) == wanted);
  CHECK(shell_quoted("t3/small") == "t3/small");
}

TEST_CASE("whole numbers and seconds are in range or refused with it") {
  CHECK(whole_number("jobs", "256", 1, 256) == 256);
  for (const char* text : {"0", "257", "-1", "1.5", "", "x", "99999999999999999999"})
    CHECK_THROWS_WITH(whole_number("jobs", text, 1, 256), Catch::Contains("1..256"));
  CHECK(seconds("time-limit", "1.5") == 1.5);
  for (const char* text : {"0", "-1", "nan", "inf", "1e10", "", "2s"})
    CHECK_THROWS_AS(seconds("time-limit", text), UserError);
}

TEST_CASE("names are joined as in a sentence") {
  CHECK(joined({}).empty());
  CHECK(joined({"a"}) == "a");
  CHECK(joined({"a", "b", "c"}) == "a, b or c");
  CHECK(joined({"a", "b", "c"}, "|", "|") == "a|b|c");
}

TEST_CASE("the version names a commit, or says that it is unknown") {
  const std::string commit = commit_text().substr(0, commit_text().find('-'));
  const bool is_sum =
      commit.size() == 40 && commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  INFO(version_text());
  CHECK((is_sum || commit == "unknown"));
  CHECK(version_text() == "stretto 0.1, commit " + commit_text());
}

}  // namespace
}  // namespace stretto
