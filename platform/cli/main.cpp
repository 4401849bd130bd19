// SPDX-License-Identifier: Apache-2.0
// The executable `stretto`. SystemC brings main(); this is where it hands over.
#include <cxxabi.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <typeinfo>

#include <systemc>

#include "platform/base/exit_status.h"
#include "platform/base/say.h"
#include "platform/base/stop_request.h"
#include "platform/cli/cli.h"

namespace {

std::terminate_handler usual_end = nullptr;
bool has_begun = false;  // sc_main().

// What no handler catches: libraries make their objects before main(), and handlers need memory
// themselves.
[[noreturn]] void end_by_exception() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  // No exception: there was no memory for one, though some may fit by now. Constructors of libraries
  // end for nothing else.
  const bool none_left = type == nullptr && (!has_begun || std::malloc(256) == nullptr ||
                                             std::malloc(1u << 20) == nullptr);
  if (none_left || (type != nullptr && *type == typeid(std::bad_alloc))) {
    stretto::say_out_of_memory();
    stretto::end_process(stretto::kExitUsage);
  }
  usual_end();
  std::abort();
}

// Called before all constructors, those of shared libraries too.
__attribute__((section(".preinit_array"), used)) void (*watch_end)() = [] {
  usual_end = std::set_terminate(end_by_exception);
};

// SystemC prints its banner before sc_main.
const int kBannerIsOff = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);

}  // namespace

int sc_main(int argc, char* argv[]) {
  has_begun = true;
  if (kBannerIsOff != 0) return EXIT_FAILURE;
  rlimit stack{};
  constexpr rlim_t kLeastKiB = 1024;
  if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < kLeastKiB * 1024) {
    std::fprintf(stderr, "stretto: the stack may have %llu KiB; it needs %llu: raise ulimit -s\n",
                 static_cast<unsigned long long>(stack.rlim_cur / 1024),
                 static_cast<unsigned long long>(kLeastKiB));
    return stretto::kExitUsage;
  }
  std::signal(SIGXFSZ, SIG_IGN);  // A file beyond the limit is an error of write().
  // Before anything makes an sc_time: one unit is a femtosecond (models/README.md, contract (a)).
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  const int status = stretto::cli(argc, argv);
  if (stretto::skips_destructors) {
    std::fflush(nullptr);
    stretto::end_process(status);
  }
  return status;
}
