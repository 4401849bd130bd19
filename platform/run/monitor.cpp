// SPDX-License-Identifier: Apache-2.0
#include "platform/run/monitor.h"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "platform/base/exit_status.h"
#include "platform/base/stop_request.h"

namespace stretto {

namespace {

constexpr double kQuietSeconds = 2;
// A run that was asked to stop is looked at every tick. A program that lets no time pass is left
// after a while wherever it is; what does not stop then is given up. Ticks, not seconds: a process
// that was stopped goes on where it was.
constexpr int kForceTicks = 150;
constexpr int kGiveUpTicks = 500;

volatile std::sig_atomic_t ticks = 0;
std::time_t first_signal = 0;

void set_timer(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const auto part = static_cast<suseconds_t>(1e6 * (seconds - static_cast<double>(whole)));
  const itimerval timer{{0, 0}, {whole, part}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

[[noreturn]] void give_up() {
  static constexpr char kText[] =
      "stretto: it does not stop where it is asked to; there are no results\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
  end_process(stop_request.signal != 0 ? kExitSignal + stop_request.signal : kExitTimeLimit);
}

void on_tick(int, siginfo_t*, void* context) {
  stop_request.stop(StopRequest::Cause::time_limit);
  ticks = ticks + 1;
  if (ticks > kGiveUpTicks) give_up();
  if (stop_request.leave_program != nullptr)
    stop_request.leave_program(context, ticks > kForceTicks);
}

// A signal some seconds after the first ends the process at once: somebody who asks again means it.
// Sooner it may be the same request: timeout(1) signals the process and its group.
void on_signal(int number, siginfo_t*, void* context) {
  const std::time_t now = std::time(nullptr);
  if (stop_request.signal != 0 && now > first_signal + 2) end_process(kExitSignal + number);
  if (stop_request.signal != 0) return;
  first_signal = now;
  stop_request.signal = number;
  stop_request.stop(StopRequest::Cause::signal);
  if (stop_request.leave_program != nullptr) stop_request.leave_program(context, false);
}

// Handlers may not return: SA_NODEFER.
void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

Monitor::Monitor(sc_core::sc_module_name name, const Spec& spec, std::function<std::string()> work,
                 std::function<std::optional<double>()> share)
    : sc_module(name),
      spec_(spec),
      work_(std::move(work)),
      share_(std::move(share)),
      start_(std::chrono::steady_clock::now()),
      terminal_(isatty(STDERR_FILENO) != 0),
      next_print_(spec.progress ? 0 : kQuietSeconds) {
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
  // nohup(1) has it ignored.
  if (std::signal(SIGHUP, SIG_DFL) == SIG_IGN) {
    std::signal(SIGHUP, SIG_IGN);
  } else {
    handle(SIGHUP, on_signal);
  }
  handle(SIGALRM, on_tick);
  SC_HAS_PROCESS(Monitor);
  SC_METHOD(look);
}

Monitor::~Monitor() {
  set_timer(0);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (std::signal(SIGHUP, SIG_DFL) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

void Monitor::start_of_simulation() {
  if (spec_.time_limit_s > 0) set_timer(std::clamp(spec_.time_limit_s - elapsed_s(), 1e-3, 1e8));
}

double Monitor::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Monitor::look() {
  const double elapsed = elapsed_s();
  if (spec_.time_limit_s > 0 && elapsed >= spec_.time_limit_s)
    stop_request.stop(StopRequest::Cause::time_limit);
  if (elapsed >= next_print_) {
    print_progress(elapsed);
    next_print_ = elapsed + (terminal_ ? 0.25 : 5);
  }
  // The conductor sees the request behind a window, at most a millisecond long. There is none while
  // host programs sleep and nothing is under way.
  constexpr unsigned kLooks = 1001;
  if (stop_request.requested.load(std::memory_order_relaxed) && ++looks_since_stop_ > kLooks)
    sc_core::sc_pause();
  if (also_) also_(sc_core::sc_time_stamp().value());
  // Looking on must not keep a machine alive that has nothing left to do: the conductor finds
  // deadlocks by running empty.
  if (sc_core::sc_pending_activity()) sc_core::next_trigger(sc_core::sc_time(1, sc_core::SC_US));
}

void Monitor::print_progress(double elapsed) {
  constexpr double kLeast = 0.02;  // Before that a guess of the end is worth nothing.
  std::string done;
  if (const std::optional<double> share = share_()) {
    done = fmt::format(", {:.0f} %", 100 * *share);
    if (*share >= kLeast)
      done += fmt::format(", about {:.0f} s left", elapsed * (1 - *share) / *share);
  }
  fmt::print(stderr, "{}{}: {}{}, {:.1f} us simulated, {:.1f} s{}", terminal_ ? "\r" : "",
             spec_.title, work_(), done, sc_core::sc_time_stamp().to_seconds() * 1e6, elapsed,
             terminal_ ? " \033[K" : "\n");
  std::fflush(stderr);
  printed_ = true;
}

void Monitor::finish() {
  set_timer(0);
  if (printed_ && terminal_) std::fprintf(stderr, "\r\033[K");
}

}  // namespace stretto
