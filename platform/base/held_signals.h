// SPDX-License-Identifier: Apache-2.0
// Signals that end a run (SIGINT, SIGTERM, SIGHUP) wait as long as this lives, or until release(): while files are set
// aside, and until a run has handlers that end it with its results.
#ifndef STRETTO_PLATFORM_BASE_HELD_SIGNALS_H_
#define STRETTO_PLATFORM_BASE_HELD_SIGNALS_H_

#include <csignal>

namespace stretto {

class HeldSignals {
 public:
  HeldSignals() {
    const sigset_t these = all();
    pthread_sigmask(SIG_BLOCK, &these, nullptr);
  }
  ~HeldSignals() { release(); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  static void release() {
    const sigset_t these = all();
    pthread_sigmask(SIG_UNBLOCK, &these, nullptr);
  }
  // From now on further ones are nothing: of a process that says that it was interrupted, and ends.
  // timeout(1) and a terminal may send more than one.
  static void ignore() {
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) std::signal(one, SIG_IGN);
  }
  static sigset_t all() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, one);
    return signals;
  }
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_HELD_SIGNALS_H_
