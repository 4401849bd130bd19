// SPDX-License-Identifier: Apache-2.0
#include "platform/run/checked_build.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "models/common/error.h"

namespace stretto {

std::string checked_build() {
#ifndef STRETTO_HAVE_RTL
  throw UserError("--waves: this build has no RTL (CMake option STRETTO_RTL is OFF)");
#endif
  namespace fs = std::filesystem;
  const fs::path self = fs::read_symlink("/proc/self/exe");
  const fs::path traced = self.parent_path() / "stretto_checked";
  const bool is_build = fs::exists(self.parent_path() / "CMakeCache.txt");
  const std::string cure =
      is_build ? "build it with: ninja -C " + fs::proximate(self.parent_path()).string() +
                     " stretto_checked"
               : "it is not installed: in the folder of Stretto's sources, ninja -C build "
                 "stretto_checked, then build/stretto run ... --waves";
  std::error_code missing;
  const fs::file_time_type built = fs::last_write_time(traced, missing);
  if (missing)
    throw UserError("--waves needs the executable with signals, " + traced.string() + "; " + cure);
  if (built < fs::last_write_time(self))
    throw UserError("--waves: " + traced.string() + " is older than " + self.string() + "; " +
                    cure);
  return traced;
}

void become_checked_build(const std::vector<std::string>& arguments) {
  const std::string traced = checked_build();
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(traced.c_str(), argv.data());
  throw UserError("--waves: cannot run " + traced + ": " + std::strerror(errno));
}

}  // namespace stretto
