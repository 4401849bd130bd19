// SPDX-License-Identifier: Apache-2.0
#include "platform/job_pool.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>

#include "models/common/error.h"

namespace stretto {

namespace {

volatile std::sig_atomic_t interrupted = 0;
void on_signal(int) {
  interrupted = 1;
}

using Clock = std::chrono::steady_clock;

pid_t start(const Job& job) {
  std::vector<char*> argv;
  for (const std::string& word : job.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, job.log_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  // A group of its own: a terminal's SIGINT reaches the children through us, once.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw UserError(job.command[0] + ": cannot be started (" + std::strerror(error) + ")");
  return child;
}

}  // namespace

bool run_jobs(std::vector<Job>& jobs, unsigned at_once,
              const std::function<void(const Job&)>& finished) {
  interrupted = 0;
  struct sigaction action {
  }, old_int{}, old_term{};
  action.sa_handler = on_signal;  // Without SA_RESTART: waitpid returns.
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);
  struct Running {
    size_t job;
    Clock::time_point since;
  };
  std::map<pid_t, Running> running;
  size_t next = 0;
  bool told = false;
  while (!running.empty() || (next < jobs.size() && interrupted == 0)) {
    while (running.size() < at_once && next < jobs.size() && interrupted == 0) {
      running.emplace(start(jobs[next]), Running{next, Clock::now()});
      ++next;
    }
    if (interrupted != 0 && !told) {
      told = true;
      for (const auto& [child, job] : running) kill(child, SIGINT);
    }
    int status = 0;
    const pid_t child = waitpid(-1, &status, 0);
    if (child < 0) {
      if (errno == EINTR) continue;
      break;
    }
    const auto found = running.find(child);
    if (found == running.end()) continue;
    Job& job = jobs[found->second.job];
    job.seconds = std::chrono::duration<double>(Clock::now() - found->second.since).count();
    job.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    running.erase(found);
    finished(job);
  }
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
  return interrupted == 0;
}

}  // namespace stretto
