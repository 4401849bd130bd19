// SPDX-License-Identifier: Apache-2.0
#include "platform/run/preload.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "models/common/error.h"

namespace stretto {

namespace {

constexpr const char* kVariable = "LD_PRELOAD";

}  // namespace

void preload(const std::vector<std::string>& libraries, const std::vector<std::string>& arguments) {
  if (libraries.empty()) return;
  std::string wanted;
  for (const std::string& library : libraries) {
    const std::string path = std::filesystem::absolute(library).lexically_normal().string();
    if (path.find_first_of(" :") != std::string::npos)
      throw UserError(path + ": the name of a library to preload must not hold spaces or colons");
    wanted += (wanted.empty() ? "" : ":") + path;
  }
  const char* const before = std::getenv(kVariable);
  const std::string set = before == nullptr ? "" : before;
  if (set == wanted || set.starts_with(wanted + ":")) return;
  setenv(kVariable, (set.empty() ? wanted : wanted + ":" + set).c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv("/proc/self/exe", argv.data());
  throw UserError(std::string("--preload: cannot start again: ") + std::strerror(errno));
}

}  // namespace stretto
