// SPDX-License-Identifier: Apache-2.0
// Runs a function in a child process and returns the text it makes: SystemC elaborates once a
// process, so a test that compares two machines needs two processes. An exception of the child
// becomes "exception: ...".
#ifndef STRETTO_TESTS_UNIT_COMMON_IN_CHILD_H_
#define STRETTO_TESTS_UNIT_COMMON_IN_CHILD_H_

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <string>

namespace stretto::test {

// REQUIRES: no SystemC object exists yet in this process.
inline std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string text;
    try {
      text = body();
    } catch (const std::exception& error) {
      text = std::string("exception: ") + error.what();
    }
    for (size_t done = 0; done < text.size();) {
      const ssize_t written = write(ends[1], text.data() + done, text.size() - done);
      if (written <= 0) break;
      done += static_cast<size_t>(written);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) text += " [child died]";
  return text;
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_COMMON_IN_CHILD_H_
