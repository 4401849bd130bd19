// SPDX-License-Identifier: Apache-2.0
#include "platform/base/installation.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "models/common/error.h"
#include "models/common/spec.h"

namespace stretto {

namespace fs = std::filesystem;

std::string executable_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return (error ? fs::current_path() : self.parent_path()).string();
}

std::string share_folder() {
  if (const char* text = std::getenv("STRETTO_SHARE"); text != nullptr && *text != '\0')
    return text;
  for (const fs::path& candidate : {fs::path(executable_folder()) / "../share/stretto",
                                    fs::path(STRETTO_SOURCE_DIR) / "platform"}) {
    if (fs::is_directory(candidate / "machines")) return candidate.lexically_normal().string();
  }
  throw UserError(std::string(STRETTO_SOURCE_DIR) +
                  "/platform/machines: no such folder; set STRETTO_SHARE to the folder "
                  "that holds machines/ and workloads/");
}

std::string targets_folder() {
  const fs::path installed = fs::path(share_folder()) / "targets";
  return fs::is_directory(installed)
             ? installed.string()
             : std::string(STRETTO_SOURCE_DIR) + "/tests/reproduction/targets";
}

std::string compiler_folder() {
  const fs::path installed = fs::path(share_folder()) / "compiler";
  return fs::exists(installed / "compile.py") ? installed.string()
                                              : std::string(STRETTO_SOURCE_DIR) + "/sw/compiler";
}

std::string software_folder() {
  if (const char* text = std::getenv("STRETTO_SW"); text != nullptr && *text != '\0') return text;
  const fs::path installed = fs::path(executable_folder()) / "../lib/stretto/sw";
  return (fs::is_directory(installed) ? installed.lexically_normal()
                                      : fs::path(executable_folder()) / "sw")
      .string();
}

std::string library_file(const std::string& name) {
  const fs::path installed = fs::path(executable_folder()) / "../lib" / name;
  return (fs::exists(installed) ? installed.lexically_normal()
                                : fs::path(executable_folder()) / "sw/tally" / name)
      .string();
}

std::string firmware_file(const std::string& given, PrivateMemory memory) {
  if (!given.empty()) return given;
  return software_folder() +
         (memory == PrivateMemory::gpu ? "/firmware/main_gpu.elf" : "/firmware/main.elf");
}

std::vector<std::string> shipped(const std::string& kind) {
  const fs::path base = fs::path(share_folder()) / kind;
  std::vector<std::string> names;
  if (!fs::is_directory(base)) return names;
  for (const auto& entry : fs::recursive_directory_iterator(base)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".yaml") continue;
    names.push_back(fs::relative(entry.path(), base).replace_extension("").string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string find_shipped(const std::string& kind, const std::string& name_or_file,
                         const std::string& place) {
  const std::string one = kind.substr(0, kind.size() - 1);
  const std::string at = place.empty() ? "" : place + ": ";
  if (name_or_file.size() > 5 && name_or_file.substr(name_or_file.size() - 5) == ".yaml") {
    if (!fs::exists(name_or_file))
      throw UserError(at + name_or_file + ": no such " + one + " file");
    return name_or_file;
  }
  const std::vector<std::string> names = shipped(kind);
  if (std::binary_search(names.begin(), names.end(), name_or_file)) {
    return (fs::path(share_folder()) / kind / (name_or_file + ".yaml")).string();
  }
  const std::string wanted = "; must be a shipped " + one + " or a file that ends in .yaml";
  if (fs::is_directory(name_or_file))
    throw UserError(at + name_or_file + ": is a directory" + wanted);
  if (fs::exists(name_or_file))
    throw UserError(at + name_or_file + ": its name does not end in .yaml" + wanted);
  const std::string near = nearest_names(name_or_file, names, 5);
  throw UserError(
      at + "unknown " + one + " '" + name_or_file + "'" +
      (near.empty() ? "; 'stretto list " + kind + "' shows all" : "; nearest: " + near));
}

std::string beside(const std::string& file, const std::string& name) {
  const fs::path near = fs::path(file).parent_path() / name;
  return fs::path(name).has_extension() && fs::exists(near) ? near.string() : name;
}

}  // namespace stretto
