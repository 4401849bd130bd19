// SPDX-License-Identifier: Apache-2.0
// The wish that a run ends soon with what it has: of a signal, of the time limit, or because a
// user's program gave up where it cannot be left. Set in handlers of signals, looked at between
// windows and in calls of host programs.
#ifndef STRETTO_PLATFORM_BASE_STOP_REQUEST_H_
#define STRETTO_PLATFORM_BASE_STOP_REQUEST_H_

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace stretto {

struct StopRequest {
  enum class Cause : uint8_t { none, signal, time_limit, program };

  // The first cause counts. From then on SIGALRM comes every 20 ms, for what does not look
  // (run/monitor.cpp).
  void stop(Cause why) {
    Cause none = Cause::none;
    if (!cause.compare_exchange_strong(none, why)) return;
    requested = true;
    const itimerval timer{{0, 20'000}, {0, 20'000}};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }

  std::atomic<bool> requested{false};
  std::atomic<Cause> cause{Cause::none};
  std::atomic<int> signal{0};    // That was caught.
  std::array<char, 512> text{};  // Cause::program: what happened.

  // Gives up the user's program if it is what runs, so that the run can end; called from a handler
  // of signals with its context. With `force` also where the program may hold a lock. Returns if it
  // cannot, here and now.
  void (*leave_program)(const void* context, bool force) = nullptr;
};

inline StopRequest stop_request;

// Also from a handler, and also where a user's program runs, whose _exit() is another.
[[noreturn]] inline void end_process(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_STOP_REQUEST_H_
