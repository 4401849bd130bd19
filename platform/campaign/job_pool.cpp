// SPDX-License-Identifier: Apache-2.0
#include "platform/campaign/job_pool.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "models/common/error.h"
#include "platform/base/exit_status.h"

namespace stretto {

namespace {

volatile std::sig_atomic_t interrupted = 0;
void on_signal(int number) { interrupted = number; }

using Clock = std::chrono::steady_clock;

pid_t start(const ChildProcess& job) {
  if (job.prepare) job.prepare();
  std::vector<char*> argv;
  for (const std::string& word : job.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int log = open(job.log_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (log < 0) throw UserError(job.log_file + ": cannot be written (" + std::strerror(errno) + ")");
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    // A group of its own: a terminal's SIGINT reaches the children through us, once.
    setpgid(0, 0);
    // When we are killed nobody would wait for it; the next reproduction would meet it at its
    // files.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    // Heaps in huge pages (glibc 2.35 on): a layer of BERT-Large on one GPU takes 5 to 13 % less.
    setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 0);
    execv(argv[0], argv.data());
    std::perror(argv[0]);
    _exit(127);
  }
  const int reason = errno;
  close(log);
  if (child < 0)
    throw UserError(job.command[0] + ": cannot be started (" + std::strerror(reason) + ")");
  return child;
}

}  // namespace

int run_jobs(std::vector<ChildProcess>& jobs, unsigned at_once, unsigned limit_s,
             const std::function<void(const ChildProcess&)>& finished) {
  interrupted = 0;
  struct sigaction action {
  }, old_int{}, old_term{}, old_hup{}, old_alarm{};
  action.sa_handler = on_signal;  // Without SA_RESTART: waitpid returns.
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);
  sigaction(SIGHUP, &action, &old_hup);
  sigaction(SIGALRM, &action, &old_alarm);
  alarm(limit_s);
  if (old_hup.sa_handler == SIG_IGN) sigaction(SIGHUP, &old_hup, nullptr);  // nohup(1).
  struct Running {
    size_t job;
    Clock::time_point since;
  };
  std::map<pid_t, Running> running;
  size_t next = 0;
  bool told = false;
  while (!running.empty() || (next < jobs.size() && interrupted == 0)) {
    while (running.size() < at_once && next < jobs.size() && interrupted == 0) {
      ChildProcess& job = jobs[next];
      try {
        running.emplace(start(job), Running{next, Clock::now()});
      } catch (const UserError& error) {  // Of this one; the others go on.
        std::fprintf(stderr, "stretto: %s\n", error.what());
        job.exit_code = kExitUsage;
        finished(job);
      }
      ++next;
    }
    if (interrupted != 0 && !told) {
      told = true;
      for (const auto& [child, job] : running) kill(child, SIGINT);
    }
    if (running.empty()) continue;
    int status = 0;
    const pid_t child = waitpid(-1, &status, 0);
    if (child < 0) {
      if (errno == EINTR) continue;
      break;
    }
    const auto found = running.find(child);
    if (found == running.end()) continue;
    ChildProcess& job = jobs[found->second.job];
    job.seconds = std::chrono::duration<double>(Clock::now() - found->second.since).count();
    job.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    job.interrupted = told && job.exit_code == 128 + SIGINT;
    running.erase(found);
    finished(job);
  }
  alarm(0);
  sigaction(SIGALRM, &old_alarm, nullptr);
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
  sigaction(SIGHUP, &old_hup, nullptr);
  return interrupted;
}

}  // namespace stretto
