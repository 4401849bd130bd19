// SPDX-License-Identifier: Apache-2.0
#include "platform/run/plan_graph.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "models/common/error.h"
#include "platform/base/exit_status.h"
#include "platform/base/installation.h"
#include "platform/jobs/workload.h"

namespace stretto {

namespace fs = std::filesystem;

namespace {

// Debian's interpreter has the packages that the compiler needs (scripts/install.sh).
std::string interpreter() {
  constexpr const char* kDebian = "/usr/bin/python3";
  return access(kDebian, X_OK) == 0 ? kDebian : "python3";
}

// What a process says on standard error until it ends or a signal of HeldSignals comes; `signal`: that one, or 0.
std::string listen(int descriptor, int& signal) {
  const sigset_t ending = HeldSignals::all();
  const int signals = signalfd(-1, &ending, SFD_CLOEXEC);
  std::string said;
  std::array<char, 4096> buffer;
  signal = 0;
  for (;;) {
    std::array<pollfd, 2> wait{{{descriptor, POLLIN, 0}, {signals, POLLIN, 0}}};
    if (poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) break;
    signalfd_siginfo one{};
    if ((wait[1].revents & POLLIN) != 0 && ::read(signals, &one, sizeof one) == sizeof one) {
      signal = static_cast<int>(one.ssi_signo);
      break;
    }
    if ((wait[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0) said.append(buffer.data(), static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) break;
  }
  close(signals);
  return said;
}

// Runs a command with our standard output, in a process group of its own. Throws UserError with the last line that it
// complains by, CheckError if what it made itself is wrong, Interrupted by a signal.
void run_compiler(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw UserError(fmt::format("{}: no pipe ({})", command[1], std::strerror(errno)));
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    HeldSignals::release();
    dup2(ends[1], STDERR_FILENO);
    setenv("STRETTO_SHARE", share_folder().c_str(), 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    execvp(argv[0], argv.data());
    dprintf(STDERR_FILENO, "%s cannot be started: %s\n", argv[0], std::strerror(errno));
    _exit(2);
  }
  close(ends[1]);
  int signal = 0;
  std::string said = listen(ends[0], signal);
  close(ends[0]);
  if (child > 0 && signal != 0) {
    kill(child, SIGKILL);
    kill(-child, SIGKILL);  // And its solver.
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (signal != 0) {
    HeldSignals::ignore();
    throw Interrupted(
        fmt::format("interrupted by SIG{} while {} was planned", sigabbrev_np(signal), command[2]),
        signal);
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
  if (name.ends_with(".onnx") && !fs::is_regular_file(name))
    throw UserError(name + ": cannot be read (is not a regular file)");
  if (how.training && options.out.empty()) options.out = default_out_folder(options) + "-training";
  held_ = std::make_unique<HeldSignals>();
  std::string folder;
  if (options.dry_run) {
    folder = (fs::temp_directory_path() / "stretto_plan.XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr)
      throw UserError(folder + ": cannot be made (" + std::strerror(errno) + ")");
    scratch_.path = folder;
  } else {
    folder_ = std::make_unique<RunFolder>(default_out_folder(options));
    folder = folder_->path();
  }
  // Until there is a whole one, the plan of an earlier run stays.
  const std::string place = folder + "/plan";
  const Scratch begun{place + ".part"};
  fs::remove_all(begun.path);
  std::vector<std::string> command{interpreter(),
                                   compiler_folder() + "/compile.py",
                                   name,
                                   "--mode",
                                   options.mode,
                                   "-o",
                                   begun.path + "/plan",
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
  run_compiler(command);
  if (folder_) folder_->set_earlier_aside();
  fs::rename(begun.path, place);
  options.sets.push_back("graph.plan=" + place + "/plan.graph");
}

PlannedGraph::Scratch::~Scratch() {
  std::error_code ignored;
  if (!path.empty()) fs::remove_all(path, ignored);
}

}  // namespace stretto
