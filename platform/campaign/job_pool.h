// SPDX-License-Identifier: Apache-2.0
// Runs commands as child processes, a few at a time. Output of each goes to a file. SIGINT, SIGTERM
// and SIGHUP reach the children as SIGINT: they write what they have. Children do not outlive their
// parent.
#ifndef STRETTO_PLATFORM_CAMPAIGN_JOB_POOL_H_
#define STRETTO_PLATFORM_CAMPAIGN_JOB_POOL_H_

#include <functional>
#include <string>
#include <vector>

namespace stretto {

struct ChildProcess {
  std::string title;
  std::vector<std::string> command;
  std::string log_file;
  std::function<void()> prepare;  // Called right before it starts, if there is one.
  int exit_code = -1;
  bool interrupted = false;  // Ended by a signal that reached it through us.
  double seconds = 0;
};

// `finished` is called after each job. Returns the number of the signal that interrupted it,
// SIGALRM if `limit_s` seconds have passed (0 = no limit), or 0. REQUIRES: one thread.
int run_jobs(std::vector<ChildProcess>& jobs, unsigned at_once, unsigned limit_s,
             const std::function<void(const ChildProcess&)>& finished);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CAMPAIGN_JOB_POOL_H_
