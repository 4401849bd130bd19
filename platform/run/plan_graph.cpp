// SPDX-License-Identifier: Apache-2.0
#include "platform/run/plan_graph.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/jobs/workload.h"
#include "platform/run/run.h"

namespace stretto {

namespace fs = std::filesystem;

namespace {

// Debian's interpreter has the packages that the compiler needs (scripts/install.sh).
std::string interpreter() {
  constexpr const char* kDebian = "/usr/bin/python3";
  return access(kDebian, X_OK) == 0 ? kDebian : "python3";
}

// Runs a command with our standard output. Throws UserError with the last line that it complains by, CheckError if
// what it made itself is wrong.
void run_compiler(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw UserError(fmt::format("{}: no pipe ({})", command[1], std::strerror(errno)));
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    setenv("STRETTO_SHARE", share_folder().c_str(), 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    execvp(argv[0], argv.data());
    dprintf(STDERR_FILENO, "%s cannot be started: %s\n", argv[0], std::strerror(errno));
    _exit(2);
  }
  close(ends[1]);
  std::string said;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    if (count > 0) said.append(buffer, static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) break;
  }
  close(ends[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  said.erase(0, said.rfind('\n') == std::string::npos ? 0 : said.rfind('\n') + 1);
  constexpr const char* kWho = "compile.py: ";
  if (said.starts_with(kWho)) said.erase(0, std::strlen(kWho));
  if (said.empty()) said = command[1] + " failed";
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1) throw CheckError(said);
  throw UserError(said);
}

}  // namespace

PlannedGraph::PlannedGraph(RunOptions& options, const PlanOptions& how) {
  if (!is_graph_name(options.workload)) {
    if (how.training || !how.profiles.empty())
      throw UserError(
          "--profile and --training are of graphs: FILE.onnx or an application as nerf:");
    return;
  }
  const std::string& name = options.workload;
  if (options.mode.empty()) options.mode = "kitsune";
  if (options.mode != "kitsune" && options.mode != "bsp" && options.mode != "vertical")
    throw UserError("--mode " + options.mode + ": a graph has bsp, vertical, kitsune");
  for (const std::string& set : options.sets)
    if (set.starts_with("graph.plan="))
      throw UserError("--set " + set + ": the plan of " + name + " is what the compiler makes");
  if (name.ends_with(".onnx") && !fs::exists(name)) throw UserError(name + ": no such file");
  std::string folder = default_out_folder(options);
  if (options.dry_run) {
    folder = (fs::temp_directory_path() / "stretto_plan.XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr)
      throw UserError(folder + ": cannot be made (" + std::strerror(errno) + ")");
    scratch_ = folder;
  } else {
    folder_ = std::make_unique<OutputFolder>(folder);
  }
  const std::string stem = folder + "/plan/plan";
  std::vector<std::string> command{interpreter(),
                                   compiler_folder() + "/compile.py",
                                   name,
                                   "--mode",
                                   options.mode,
                                   "-o",
                                   stem,
                                   "--machine",
                                   options.machine.empty() ? kGraphMachine : options.machine};
  if (how.training) command.emplace_back("--training");
  const auto add = [&](const char* option, const std::string& value) {
    command.emplace_back(option);
    command.push_back(value);
  };
  for (const std::string& file : how.profiles) add("--profile", file);
  for (const std::string& set : options.sets)
    if (!set.starts_with("graph.")) add("--set", set);
  try {
    run_compiler(command);
  } catch (...) {
    if (!scratch_.empty()) fs::remove_all(scratch_);  // No destructor runs.
    throw;
  }
  options.sets.push_back("graph.plan=" + stem + ".graph");
}

PlannedGraph::~PlannedGraph() {
  std::error_code ignored;
  if (!scratch_.empty()) fs::remove_all(scratch_, ignored);
}

}  // namespace stretto
