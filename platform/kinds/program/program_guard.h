// SPDX-License-Identifier: Apache-2.0
// Calls main() of a user's program, which shares the process with the simulator, so that whatever
// it does ends main() and not the simulator: a fault, abort(), exit(), _exit(), an exception, a
// loop in which no simulated time passes. A program that reads the real clock by a call of libc or of the
// C++ library ends, too: its runs would differ. The time stamp counter, and a system call of its own, are
// not seen. Calls that would act on the process end it as well: fork(), exec(), alarm(), chdir(), those that
// set handlers and masks of signals, send signals or wait for them, pthread_exit() outside of a thread of
// its own.
//
// A fault on the simulator's thread comes back here by siglongjmp(). A thread that the program made
// has no way back: it stops for ever and the run is asked to stop. A loop is left by giving up the
// program's SystemC thread inside of the signal handler, once the program is in its own code.
#ifndef STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_GUARD_H_
#define STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_GUARD_H_

#include <string>

namespace stretto {

using ProgramMain = int (*)(int, char**);

class ProgramLibrary;

// What main() returns; behind it the program is unloaded, with its destructors and what it gave to atexit(),
// but if threads that it made go on. Throws CheckError that names `file` if these or main() did not
// return. Call from the SystemC thread of the program; several may run side by side.
int guarded_call(const std::string& file, ProgramLibrary& library, int count, char** words);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_GUARD_H_
