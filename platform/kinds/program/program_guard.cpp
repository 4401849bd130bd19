// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/program/program_guard.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>

#include <systemc>

#include "models/common/error.h"
#include "platform/base/stop_request.h"
#include "platform/jobs/host_runtime.h"

namespace stretto {

namespace {

constexpr std::array<int, 5> kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kExit = 1'000;         // With sigsetjmp(): the program called exit(), no signal;
constexpr int kClock = 1'001;        // read the real clock.
constexpr intptr_t kNear = 1 << 16;  // An access so near to the stack pointer is one of the stack.

#if defined(__x86_64__)
const void* instruction_of(const void* context) {
  return reinterpret_cast<const void*>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
}
intptr_t stack_of(const void* context) {
  return static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP];
}
#else  // Nothing is known of the registers: no loop is left, a full stack is an address like others.
const void* instruction_of(const void*) { return nullptr; }
intptr_t stack_of(const void*) { return 0; }
#endif

struct Code {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool holds(const void* address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return at >= begin && at < end;
  }
};

// Of the object that `address` is in.
Code code_around(const void* address) {
  struct Search {
    const void* address;
    Code found;
  } search{address, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* context) {
        Search& wanted = *static_cast<Search*>(context);
        for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
          const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
          const Code code{begin, begin + part.p_memsz};
          if (code.holds(wanted.address)) wanted.found = code;
        }
        return 0;
      },
      &search);
  return search.found;
}

std::set<long> threads_of_process() {
  std::set<long> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    all.insert(std::stol(entry.path().filename().string()));
  return all;
}

// A program that runs.
struct Running {
  const char* file = nullptr;  // Null: free.
  const void* process = nullptr;
  pthread_t thread{};
  Code code;
  sigjmp_buf back;
  const void* address = nullptr;
  bool is_stack = false;
  int status = 0;               // Of exit().
  const char* clock = nullptr;  // The call that read it.
};

// Handlers of signals look here, also when the stack of a program that was given up is gone.
std::array<Running, 1'024> programs;  // As many as a host has cores.
size_t running = 0;
std::set<long> own_threads;  // Of the simulator.
Code simulator;

// What runs in the calling thread; null: the simulator itself.
Running* current_program() {
  const void* process = nullptr;
  for (size_t i = 0, seen = 0; i < programs.size() && seen < running; ++i) {
    Running& one = programs[i];
    if (one.file == nullptr) continue;
    ++seen;
    if (pthread_equal(pthread_self(), one.thread) == 0) continue;
    if (process == nullptr) process = sc_core::sc_get_current_process_handle().get_process_object();
    if (one.process == process) return &one;
  }
  return nullptr;
}

// Of a thread that a program made.
bool in_thread_of_program() { return running != 0 && own_threads.count(syscall(SYS_gettid)) == 0; }

// Which program made a thread is known if there is one.
const char* maker_of_thread() {
  if (running != 1) return "one of the programs";
  return std::find_if(programs.begin(), programs.end(),
                      [](const Running& one) { return one.file != nullptr; })
      ->file;
}

[[noreturn]] void stop_here(const char* what) {
  std::snprintf(stop_request.text.data(), stop_request.text.size(),
                "%s: a thread that the program made: %s", maker_of_thread(), what);
  stop_request.stop(StopRequest::Cause::program);
  for (;;) pause();
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (Running* const program = current_program(); program != nullptr) {
    program->address = info->si_addr;
    const intptr_t from_stack = reinterpret_cast<intptr_t>(info->si_addr) - stack_of(context);
    program->is_stack = signal == SIGSEGV && from_stack > -kNear && from_stack < kNear;
    siglongjmp(program->back, signal);
  }
  if (in_thread_of_program()) stop_here(strsignal(signal));
  std::signal(signal, SIG_DFL);  // The simulator's own: it happens again.
  if (signal == SIGABRT) raise(signal);
}

// Returns if it is not a program that exits.
void on_exit(int status) {
  if (Running* const program = current_program(); program != nullptr) {
    program->status = status;
    siglongjmp(program->back, kExit);
  }
  if (in_thread_of_program()) stop_here("called exit(); main() must return");
}

// Returns if it is not a program that reads a clock. `caller`: where the call returns to.
void on_clock(const char* call, const void* caller) {
  if (simulator.holds(caller)) return;
  if (Running* const program = current_program(); program != nullptr) {
    program->clock = call;
    siglongjmp(program->back, kClock);
  }
}

void leave_program(const void* context, bool force) {
  const void* const at = instruction_of(context);
  const Running* const program = current_program();
  if (program != nullptr && (program->code.holds(at) || (force && !simulator.holds(at))))
    abandon_host_program();
}

// The first program that starts installs the handlers, the last one that ends removes them.
class Handlers {
 public:
  static void install() {
    own_threads = threads_of_process();
    simulator = code_around(reinterpret_cast<const void*>(&leave_program));
    stop_request.leave_program = leave_program;
    // A program that is out of stack has none for a handler.
    static std::array<char, 1 << 16> stack;
    const stack_t other{stack.data(), 0, stack.size()};
    sigaltstack(&other, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before()[i]);
  }
  static void remove() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before()[i], nullptr);
    stop_request.leave_program = nullptr;
  }

 private:
  static std::array<struct sigaction, kSignals.size()>& before() {
    static std::array<struct sigaction, kSignals.size()> all{};
    return all;
  }
};

class Guard {
 public:
  Guard(const std::string& file, ProgramMain main)
      : program(*std::find_if(programs.begin(), programs.end(),
                              [](const Running& one) { return one.file == nullptr; })) {
    if (running == 0) Handlers::install();
    ++running;
    program = Running{};
    program.process = sc_core::sc_get_current_process_handle().get_process_object();
    program.thread = pthread_self();
    program.code = code_around(reinterpret_cast<const void*>(main));
    program.file = file.c_str();
  }
  ~Guard() {
    program.file = nullptr;
    if (--running == 0) Handlers::remove();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  Running& program;
};

std::string cause_of(const Running& program, int end) {
  if (program.is_stack && end == SIGSEGV) return "main() ran out of stack (8 MiB)";
  switch (end) {
    case kExit:
      return fmt::format("the program called exit({}); it must return from main()", program.status);
    case kClock:
      return fmt::format(
          "the program read the real clock, {}(); its time is that of the machine: stretto_time() "
          "and events (machine_time.h)",
          program.clock);
    case SIGFPE: return "main() divided by zero, or what it divided has no result (SIGFPE)";
    case SIGILL: return "main() ran into an illegal instruction (SIGILL)";
    case SIGABRT: return "main() aborted: abort() or an assertion that failed (SIGABRT)";
    default:
      return fmt::format(
          "main() used address {}, where the host has no memory; what cudaMalloc gives is a "
          "device's, for cudaMemcpy",
          fmt::ptr(program.address));
  }
}

}  // namespace

int guarded_call(const std::string& file, ProgramMain main, int count, char** words) {
  const Guard guard(file, main);
  if (const int end = sigsetjmp(guard.program.back, 1); end != 0)
    throw CheckError(file + ": " + cause_of(guard.program, end));
  try {
    return main(count, words);
  } catch (const UserError&) {
    throw;
  } catch (const CheckError&) {
    throw;
  } catch (const sc_core::sc_unwind_exception&) {
    throw;
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& error) {
    throw CheckError(file + ": main() threw an exception: " + error.what());
  } catch (...) {
    throw CheckError(file + ": main() threw an exception");
  }
}

}  // namespace stretto

namespace {

// The next definition of a function that this file defines, too: that of the C library.
template <class Function>
Function* next_of(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// A program's calls of these come here, and all others go on.
extern "C" {
void exit(int status) {
  stretto::on_exit(status);
  next_of<void(int)>("exit")(status);
  std::abort();
}
void _exit(int status) {
  stretto::on_exit(status);
  for (;;) syscall(SYS_exit_group, status);
}
void _Exit(int status) { _exit(status); }
void quick_exit(int status) {
  stretto::on_exit(status);
  next_of<void(int)>("quick_exit")(status);
  std::abort();
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  stretto::on_clock("clock_gettime", __builtin_return_address(0));
  static const auto real = next_of<int(clockid_t, timespec*)>("clock_gettime");
  return real(clock, time);
}
int gettimeofday(timeval* __restrict time, void* __restrict zone) noexcept {
  stretto::on_clock("gettimeofday", __builtin_return_address(0));
  static const auto real = next_of<int(timeval*, void*)>("gettimeofday");
  return real(time, zone);
}
time_t time(time_t* seconds) noexcept {
  stretto::on_clock("time", __builtin_return_address(0));
  static const auto real = next_of<time_t(time_t*)>("time");
  return real(seconds);
}
clock_t clock() noexcept {
  stretto::on_clock("clock", __builtin_return_address(0));
  static const auto real = next_of<clock_t()>("clock");
  return real();
}
int timespec_get(timespec* time, int base) noexcept {
  stretto::on_clock("timespec_get", __builtin_return_address(0));
  static const auto real = next_of<int(timespec*, int)>("timespec_get");
  return real(time, base);
}
}
