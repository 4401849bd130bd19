// SPDX-License-Identifier: Apache-2.0
// Shared objects of users, in the simulator's process: checked before the loader believes them, and loaded
// so that two programs from one file have variables of their own.
#ifndef STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_LIBRARY_H_
#define STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_LIBRARY_H_

#include <string>

#include "platform/kinds/program/program_guard.h"

namespace stretto {

// Throw UserError, one line that names the file, unless it is a whole shared object for this machine
// that the loader takes; of what is preloaded also if it has a main(). REQUIRE: this process has one thread.
void check_program(const std::string& file);
void check_preload(const std::string& file);

// A program as one host program has it. The first from a file is the file; others are copies, so their
// variables are their own. Those of libraries that the program needs are common to all.
class ProgramLibrary {
 public:
  // Throws UserError if the file cannot be loaded or has no main(). REQUIRES: it was checked.
  explicit ProgramLibrary(const std::string& file);
  // What was not unloaded stays: threads may run in it, or destructors find it half-way.
  ~ProgramLibrary();
  ProgramLibrary(const ProgramLibrary&) = delete;
  ProgramLibrary& operator=(const ProgramLibrary&) = delete;

  ProgramMain main() const { return main_; }
  // Runs its destructors, and what it gave to atexit().
  void unload();

 private:
  void* library_ = nullptr;
  ProgramMain main_ = nullptr;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_PROGRAM_PROGRAM_LIBRARY_H_
