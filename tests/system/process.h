// SPDX-License-Identifier: Apache-2.0
// Runs the executable under test as users do: a command line, an exit status, what it printed.
#ifndef STRETTO_TESTS_SYSTEM_PROCESS_H_
#define STRETTO_TESTS_SYSTEM_PROCESS_H_

#include <boost/json.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace stretto::test {

// A folder that goes away with the test.
struct Scratch {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("stretto_system." + std::to_string(getpid()) + "." + next()))
                         .string();
  Scratch() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file(const std::string& name, const std::string& contents) const {
    std::ofstream(path + "/" + name, std::ios::binary) << contents;
    return path + "/" + name;
  }
  // Folders of one process lie apart.
  static std::string next() {
    static unsigned count = 0;
    return std::to_string(count++);
  }
};

struct Finished {
  int status = -1;
  std::string output;  // Standard output and error.
  bool says(const std::string& text) const { return output.find(text) != std::string::npos; }
  size_t lines() const {
    return static_cast<size_t>(std::count(output.begin(), output.end(), '\n'));
  }
};

inline Finished run_command(const std::string& command) {
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1",
         0);  // A tenth sooner (platform/campaign/job_pool.cpp).
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  Finished finished;
  char buffer[4096];
  while (pipe != nullptr) {
    const size_t count = std::fread(buffer, 1, sizeof buffer, pipe);
    if (count == 0) break;
    finished.output.append(buffer, count);
  }
  const int status = pipe == nullptr ? -1 : pclose(pipe);
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

// `prefix` goes before the executable: "timeout -s INT 1".
// STRETTO_SABOTAGE: arguments of every run, for tests/sabotage.sh.
inline Finished run_stretto(const std::string& arguments, const std::string& prefix = "") {
  const char* sabotage = arguments.starts_with("run ") ? std::getenv("STRETTO_SABOTAGE") : nullptr;
  return run_command(prefix + " " STRETTO_BUILD_DIR "/stretto " + arguments + " " +
                     (sabotage == nullptr ? "" : sabotage));
}

inline boost::json::value stats(const std::string& folder) {
  std::ifstream stream(folder + "/stats.json");
  std::ostringstream text;
  text << stream.rdbuf();
  return boost::json::parse(text.str());
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SYSTEM_PROCESS_H_
