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
  Scratch();
  ~Scratch();
  std::string file(const std::string& name, const std::string& contents) const;
  // Folders of one process lie apart.
  static std::string next();
};

struct Finished {
  int status = -1;
  std::string output;  // Standard output and error.
  bool says(const std::string& text) const { return output.find(text) != std::string::npos; }
  size_t lines() const {
    return static_cast<size_t>(std::count(output.begin(), output.end(), '\n'));
  }
};

Finished run_command(const std::string& command);
// `prefix` goes before the executable: "timeout -s INT 1".
// STRETTO_SABOTAGE: arguments of every run, for tests/sabotage.sh.
Finished run_stretto(const std::string& arguments, const std::string& prefix = "");
// The software of the build with kernel `elf` in the place of `shipped`, in a folder of links: for STRETTO_SW.
std::string software_with(const Scratch& scratch, const std::string& elf,
                          const std::string& shipped);
// stats.json of the folder.
boost::json::value stats(const std::string& folder);

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SYSTEM_PROCESS_H_
