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
  static sigset_t all() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, one);
    return signals;
  }
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_HELD_SIGNALS_H_
