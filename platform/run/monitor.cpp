// SPDX-License-Identifier: Apache-2.0
#include "platform/run/monitor.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "platform/base/exit_status.h"

namespace stretto {

namespace {

constexpr double kQuietSeconds = 2;
constexpr unsigned kAlarmSeconds = 5;  // After the time limit, and once more.

std::atomic<bool>* stop_flag = nullptr;
volatile std::sig_atomic_t caught = 0;

std::time_t first_signal = 0;

// A signal some seconds after the first ends the process at once: somebody who asks again means it.
// Sooner it may be the same request: timeout(1) signals the process and its group.
void on_signal(int number) {
  const std::time_t now = std::time(nullptr);
  if (stop_flag == nullptr || (caught != 0 && now > first_signal + 2)) _exit(128 + number);
  if (caught == 0) first_signal = now;
  caught = number;
  stop_flag->store(true, std::memory_order_relaxed);
}

// The host program lets no simulated time pass, so nobody looks at the time limit. Twice, because a process that was
// stopped looks again when it goes on.
void on_alarm(int) {
  static volatile std::sig_atomic_t alarms = 0;
  alarms = alarms + 1;
  if (alarms == 1) {
    alarm(kAlarmSeconds);
    return;
  }
  static constexpr char kText[] =
      "stretto: time limit: the host program lets no time pass; there are no results\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(kExitTimeLimit);
}

}  // namespace

Monitor::Monitor(sc_core::sc_module_name name, const Spec& spec, std::function<std::string()> work)
    : sc_module(name),
      spec_(spec),
      work_(std::move(work)),
      start_(std::chrono::steady_clock::now()),
      terminal_(isatty(STDERR_FILENO) != 0),
      next_print_(spec.progress ? 0 : kQuietSeconds) {
  caught = 0;
  stop_flag = &stop_;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  // nohup(1) has it ignored.
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  SC_HAS_PROCESS(Monitor);
  SC_METHOD(look);
}

Monitor::~Monitor() {
  alarm(0);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (std::signal(SIGHUP, SIG_DFL) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  stop_flag = nullptr;
}

void Monitor::start_of_simulation() {
  if (spec_.time_limit_s <= 0) return;
  std::signal(SIGALRM, on_alarm);
  const double left = std::clamp(spec_.time_limit_s - elapsed_s(), 0.0, 1e8);
  alarm(static_cast<unsigned>(left) + kAlarmSeconds);
}

std::string Monitor::reason() const {
  return over_time_ ? "time limit" : caught != 0 ? "interrupted" : "";
}

int Monitor::signal() const { return caught; }

double Monitor::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Monitor::look() {
  const double elapsed = elapsed_s();
  if (spec_.time_limit_s > 0 && elapsed >= spec_.time_limit_s && !stop_) {
    alarm(0);
    over_time_ = true;
    stop_ = true;
  }
  if (elapsed >= next_print_) {
    print(elapsed);
    next_print_ = elapsed + (terminal_ ? 0.25 : 5);
  }
  if (also_) also_(sc_core::sc_time_stamp().value());
  // Looking on must not keep a machine alive that has nothing left to do: the conductor finds
  // deadlocks by running empty.
  if (sc_core::sc_pending_activity()) sc_core::next_trigger(sc_core::sc_time(1, sc_core::SC_US));
}

void Monitor::print(double elapsed) {
  std::fprintf(stderr, "%s%s: %s, %.1f us simulated, %.1f s%s", terminal_ ? "\r" : "",
               spec_.title.c_str(), work_().c_str(), sc_core::sc_time_stamp().to_seconds() * 1e6,
               elapsed, terminal_ ? " \033[K" : "\n");
  std::fflush(stderr);
  printed_ = true;
}

void Monitor::finish() {
  alarm(0);
  if (printed_ && terminal_) std::fprintf(stderr, "\r\033[K");
}

}  // namespace stretto
