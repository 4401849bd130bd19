// SPDX-License-Identifier: Apache-2.0
// Are the files of an earlier run whole again, whenever a run that came after it was killed? The
// states are those between any two of its steps, made by hand in the order that atomic_file.h gives.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "platform/base/atomic_file.h"

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kNames{"stats.json", "stats.csv", "machine.yaml", "timeline.json"};
using Files = std::map<std::string, std::string>;
const Files kEarlier{{"stats.json", "old"}, {"stats.csv", "old"}, {"machine.yaml", "old"}};

struct Folder {
  const fs::path path =
      fs::temp_directory_path() / ("stretto_earlier_files." + std::to_string(getpid()));
  explicit Folder(const Files& files) {
    fs::remove_all(path);
    fs::create_directories(path);
    for (const auto& [name, text] : files) std::ofstream(path / name) << text;
  }
  ~Folder() { fs::remove_all(path); }
  Files files() const {
    Files all;
    for (const auto& entry : fs::directory_iterator(path)) {
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      all[entry.path().filename()] = text.str();
    }
    return all;
  }
};

// The files after those of `aside` were renamed.
Files with_aside(const Files& files, const std::set<std::string>& aside) {
  Files all;
  for (const auto& [name, text] : files) all[name + (aside.count(name) ? ".previous" : "")] = text;
  return all;
}

// The next run is refused: what it found comes back.
void comes_back(const Files& found, const Files& expected) {
  const Folder folder(found);
  { const stretto::EarlierFiles earlier(folder.path, kNames); }
  CHECK(folder.files() == expected);
}

}  // namespace

TEST_CASE("what a killed process has begun to write goes, what goes on stays") {
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  REQUIRE(waitpid(dead, nullptr, 0) == dead);
  const std::string alive = "stats.json.tmp." + std::to_string(getppid());
  Files found{{"stats.json", "old"}, {alive, ""}, {"my.tmp.notes", ""}};
  const Files expected = found;
  for (const char* name : {"stats.json.tmp.", "waves.tmp.", ".probe.1.tmp."})
    found[name + std::to_string(dead)] = "begun";
  const Folder folder(found);
  stretto::prepare_folder(folder.path);
  CHECK(folder.files() == expected);
}

TEST_CASE("a run that was killed while files were set aside, or came back, loses none") {
  std::set<std::string> aside;
  comes_back(with_aside(kEarlier, aside), kEarlier);
  for (auto name = kNames.rbegin(); name != kNames.rend(); ++name) {  // stats.json goes last.
    aside.insert(*name);
    comes_back(with_aside(kEarlier, aside), kEarlier);
  }
  for (const std::string& name : kNames) {  // It comes back first.
    aside.erase(name);
    comes_back(with_aside(kEarlier, aside), kEarlier);
  }
}

TEST_CASE("what a killed run without results has left goes, the earlier files come back") {
  Files found = with_aside(kEarlier, {"stats.json", "stats.csv", "machine.yaml"});
  found["timeline.json"] = found["machine.yaml"] = "new";
  comes_back(found, kEarlier);
}

TEST_CASE("a killed run with results is the earlier run of the next one, whatever is still aside") {
  const Files results{{"stats.json", "new"}, {"machine.yaml", "new"}};
  std::set<std::string> aside{"stats.csv", "machine.yaml"};
  for (;;) {
    Files found = with_aside(kEarlier, aside);
    found["stats.json.previous"] = "old";  // Discarded last.
    found.erase("stats.csv");
    found.erase("machine.yaml");
    found.insert(results.begin(), results.end());
    found["stats.json"] = "new";
    comes_back(found, results);
    if (aside.empty()) break;
    aside.erase(aside.begin());
  }
}
