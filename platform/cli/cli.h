// SPDX-License-Identifier: Apache-2.0
// The command line: one function a subcommand, each with --help. Exit codes are those of DESIGN
// "Interfaces".
#ifndef STRETTO_PLATFORM_CLI_H_
#define STRETTO_PLATFORM_CLI_H_

#include <stdexcept>
#include <string>

namespace stretto {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitCheckFailed = 1;  // Data, lockstep, audit, firmware assert, deadlock.
inline constexpr int kExitUsage = 2;        // Bad usage or input.
inline constexpr int kExitTimeLimit = 124;
inline constexpr int kExitSignal = 128;  // Plus the number of the signal that interrupted the run.

// Never throws; prints one line for every error.
// A command that a signal ended.
struct Interrupted : std::runtime_error {
  Interrupted(const std::string& text, int by) : std::runtime_error(text), signal(by) {}
  int signal;
};

int cli(int argc, char* argv[]);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CLI_H_
