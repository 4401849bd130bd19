// SPDX-License-Identifier: Apache-2.0
#include "tests/system/process.h"

namespace stretto::test {

Scratch::Scratch() {
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::string Scratch::file(const std::string& name, const std::string& contents) const {
  std::ofstream(path + "/" + name, std::ios::binary) << contents;
  return path + "/" + name;
}

std::string Scratch::next() {
  static unsigned count = 0;
  return std::to_string(count++);
}

Finished run_command(const std::string& command) {
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

Finished run_stretto(const std::string& arguments, const std::string& prefix) {
  const char* sabotage = arguments.starts_with("run ") ? std::getenv("STRETTO_SABOTAGE") : nullptr;
  return run_command(prefix + " " STRETTO_BUILD_DIR "/stretto " + arguments + " " +
                     (sabotage == nullptr ? "" : sabotage));
}

std::string software_with(const Scratch& scratch, const std::string& elf,
                          const std::string& shipped) {
  namespace fs = std::filesystem;
  const fs::path built = STRETTO_BUILD_DIR "/sw", sw = scratch.path + "/sw";
  fs::create_directories(sw / "kernels");
  for (const auto& entry : fs::directory_iterator(built))
    if (entry.path().filename() != "kernels")
      fs::create_symlink(entry.path(), sw / entry.path().filename());
  for (const auto& entry : fs::directory_iterator(built / "kernels"))
    if (entry.path().stem() != shipped)
      fs::create_symlink(entry.path(), sw / "kernels" / entry.path().filename());
  const fs::path other = built / "kernels" / (elf + ".elf");
  if (!fs::exists(other)) throw std::runtime_error("no kernel " + other.string());
  fs::create_symlink(other, sw / "kernels" / (shipped + ".elf"));
  return sw.string();
}

boost::json::value stats(const std::string& folder) {
  std::ifstream stream(folder + "/stats.json");
  std::ostringstream text;
  text << stream.rdbuf();
  return boost::json::parse(text.str());
}

}  // namespace stretto::test
