// SPDX-License-Identifier: Apache-2.0
// Calls main() of a user's program, which shares the process with the simulator, so that whatever
// it does ends main() and not the simulator: a fault, abort(), exit(), _exit(), an exception, a
// loop in which no simulated time passes. A program that reads the real clock by a call of libc or of the
// C++ library ends, too: its runs would differ. The time stamp counter, and a system call of its own, are
// not seen.
//
// A fault on the simulator's thread comes back here by siglongjmp(). A thread that the program made
// has no way back: it stops for ever and the run is asked to stop. A loop is left by giving up the
// program's SystemC thread inside of the signal handler, once the program is in its own code.
#ifndef STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_GUARD_H_
#define STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_GUARD_H_

#include <string>

namespace stretto {

using ProgramMain = int (*)(int, char**);

// What main() returns. Throws CheckError that names `file` if main() did not return. Call from the
// SystemC thread of the program; several may run side by side.
int guarded_call(const std::string& file, ProgramMain main, int count, char** words);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_GUARD_H_
