// SPDX-License-Identifier: Apache-2.0
// The command line: one function a subcommand, each with --help.
#ifndef STRETTO_PLATFORM_CLI_CLI_H_
#define STRETTO_PLATFORM_CLI_CLI_H_

#include <string>
#include <vector>

namespace stretto {

// Of the subcommands, in the order of the help text.
std::vector<std::string> command_names();

// The exit status (base/exit_status.h). Never throws; prints one line for every error.
int cli(int argc, char* argv[]);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CLI_CLI_H_
