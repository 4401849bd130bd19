// SPDX-License-Identifier: Apache-2.0
#include "platform/base/version.h"

#include <filesystem>
#include <fstream>

#include "platform/base/installation.h"

namespace stretto {

// The build leaves it in the file `commit` beside the executable (cmake/commit.cmake), or in
// share/stretto when installed; tests lie one folder below.
const std::string& commit_text() {
  static const std::string commit = [] {
    const std::filesystem::path folder = executable_folder();
    for (const auto& place : {folder / "commit", folder.parent_path() / "commit",
                              folder.parent_path() / "share/stretto/commit"}) {
      std::string text;
      if (std::ifstream(place) >> text) return text;
    }
    return std::string("unknown");
  }();
  return commit;
}

std::string version_text() { return "stretto 0.1, commit " + commit_text(); }

}  // namespace stretto
