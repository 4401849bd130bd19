// SPDX-License-Identifier: Apache-2.0
// `stretto run`: one simulation from options to results.
#ifndef STRETTO_PLATFORM_RUN_RUN_H_
#define STRETTO_PLATFORM_RUN_RUN_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/base/atomic_file.h"
#include "platform/config/options.h"

namespace stretto {

// Of a workload or machine below a folder of results. Two files never share it: what ships has its name, a file its path
// with the suffix.
std::filesystem::path folder_of(const std::filesystem::path& name);
// Where the results of a run go. REQUIRES: its mode is known. Empty: nowhere.
std::string default_out_folder(const RunOptions& options);

// What a run leaves in that folder: files, and `plan`, a folder itself.
const std::vector<std::string>& result_files();

// That folder, nobody else's while this lives. Results of an earlier run come back when it goes, unless keep() was called.
class RunFolder {
 public:
  // Throws UserError if another process writes there, or nobody can.
  explicit RunFolder(const std::string& path) : path_(path), folder_(path) {}
  const std::string& path() const { return path_; }
  // From here on the folder is the new run's. The first call counts.
  void set_earlier_aside() {
    if (!earlier_) earlier_.emplace(path_, result_files());
  }
  // The new run has results. REQUIRES: earlier ones are set aside.
  void keep() { earlier_->discard(); }

 private:
  const std::string path_;
  OutputFolder folder_;
  std::optional<EarlierFiles> earlier_;
};

// Exit status. Throws UserError for bad input. `folder`: that of its results, if the process has it already.
int run(const RunOptions& options, std::unique_ptr<RunFolder> folder = nullptr);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RUN_RUN_H_
