// SPDX-License-Identifier: Apache-2.0
// What the process says to the shell when it ends; README, "Exit status".
#ifndef STRETTO_PLATFORM_BASE_EXIT_STATUS_H_
#define STRETTO_PLATFORM_BASE_EXIT_STATUS_H_

#include <stdexcept>
#include <string>

namespace stretto {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitCheckFailed = 1;  // Data, lockstep, audit, firmware assert, deadlock.
inline constexpr int kExitUsage = 2;        // Bad usage or input, results that cannot be written.
inline constexpr int kExitTimeLimit = 124;
inline constexpr int kExitSignal = 128;  // Plus the number of the signal that interrupted the run.

// Objects that live as long as the process are not destroyed at its end: among them are those of a user's
// program that was stopped half-way.
inline bool skips_destructors = false;

// A command that a signal ended.
struct Interrupted : std::runtime_error {
  Interrupted(const std::string& text, int by) : std::runtime_error(text), signal(by) {}
  int signal;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_EXIT_STATUS_H_
