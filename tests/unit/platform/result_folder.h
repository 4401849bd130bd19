// SPDX-License-Identifier: Apache-2.0
// Result folders for tests: written as runs write them, then changed as users do.
#ifndef STRETTO_TESTS_UNIT_PLATFORM_RESULT_FOLDER_H_
#define STRETTO_TESTS_UNIT_PLATFORM_RESULT_FOLDER_H_

#include <unistd.h>

#include <boost/json.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "models/common/read_file.h"
#include "platform/base/atomic_file.h"
#include "platform/results/result_file.h"
#include "platform/results/results.h"

namespace stretto::test {

inline void set_total(Results& results, Time total) { results.total = total; }

// A folder that goes away with the test.
struct ResultFolder {
  std::string path =
      (std::filesystem::temp_directory_path() / ("result_folder." + std::to_string(getpid())))
          .string();
  ResultFolder() {
    std::filesystem::remove_all(path);
    prepare_folder(path);
  }
  ~ResultFolder() { std::filesystem::remove_all(path); }

  // A complete and right result below it, of a run that took 1 ms; its folder.
  std::string result(
      const std::string& name,
      const std::function<void(Results&)>& change = [](Results&) {}) const {
    Results results;
    results.workload = std::string("w");
    results.machine = std::string("t3");
    results.mode = std::string("sequential");
    results.gpus = 8;
    results.check.elements = 5;
    set_total(results, 1000 * kMicrosecond);
    change(results);
    const std::string folder = path + "/" + name;
    prepare_folder(folder);
    write_results(folder, results, "gpus: 8\n");
    return folder;
  }
};

// Changes stats.json of a result. `seal`: as if it had been written so.
inline void edit(const std::string& folder, const std::function<void(boost::json::object&)>& change,
                 bool seal) {
  boost::json::value root = boost::json::parse(read_file(folder + "/stats.json"));
  change(root.as_object());
  if (seal) root.as_object()["sha256"] = contents_sha256(root.as_object());
  std::ofstream(folder + "/stats.json") << boost::json::serialize(root);
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_PLATFORM_RESULT_FOLDER_H_
