// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/program/program_guard.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
constexpr int kExit = 1'000;         // With sigsetjmp(): the program called exit(), no signal.
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

// Of the program that runs.
struct Running {
  const char* file = nullptr;  // Null: none.
  const void* process = nullptr;
  pthread_t thread{};
  std::set<long> own_threads;  // Of the simulator.
  Code program;
  Code simulator;
  sigjmp_buf back;
  const void* address = nullptr;
  bool is_stack = false;
  int status = 0;  // Of exit().
} running;

bool in_program() {
  return running.file != nullptr && pthread_equal(pthread_self(), running.thread) != 0 &&
         sc_core::sc_get_current_process_handle().get_process_object() == running.process;
}

// Of a thread that the program made.
bool in_thread_of_program() {
  return running.file != nullptr && running.own_threads.count(syscall(SYS_gettid)) == 0;
}

[[noreturn]] void stop_here(const char* what) {
  std::snprintf(stop_request.text.data(), stop_request.text.size(),
                "%s: a thread that the program made: %s", running.file, what);
  stop_request.stop(StopRequest::Cause::program);
  for (;;) pause();
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (in_program()) {
    running.address = info->si_addr;
    const intptr_t from_stack = reinterpret_cast<intptr_t>(info->si_addr) - stack_of(context);
    running.is_stack = signal == SIGSEGV && from_stack > -kNear && from_stack < kNear;
    siglongjmp(running.back, signal);
  }
  if (in_thread_of_program()) stop_here(strsignal(signal));
  std::signal(signal, SIG_DFL);  // The simulator's own: it happens again.
  if (signal == SIGABRT) raise(signal);
}

// Returns if it is not the program that exits.
void on_exit(int status) {
  if (in_program()) {
    running.status = status;
    siglongjmp(running.back, kExit);
  }
  if (in_thread_of_program()) stop_here("called exit(); main() must return");
}

void leave_program(const void* context, bool force) {
  const void* const at = instruction_of(context);
  if (in_program() && (running.program.holds(at) || (force && !running.simulator.holds(at))))
    abandon_host_program();
}

class Guard {
 public:
  Guard(const std::string& file, ProgramMain main) {
    running.own_threads = threads_of_process();
    running.process = sc_core::sc_get_current_process_handle().get_process_object();
    running.thread = pthread_self();
    running.program = code_around(reinterpret_cast<const void*>(main));
    running.simulator = code_around(reinterpret_cast<const void*>(&leave_program));
    running.file = file.c_str();
    stop_request.leave_program = leave_program;
    // A program that is out of stack has none for a handler.
    static std::array<char, 1 << 16> stack;
    const stack_t other{stack.data(), 0, stack.size()};
    sigaltstack(&other, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~Guard() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    stop_request.leave_program = nullptr;
    running.file = nullptr;
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  std::array<struct sigaction, kSignals.size()> before_{};
};

std::string address_text() {
  char text[32];
  std::snprintf(text, sizeof text, "%p", running.address);
  return text;
}

std::string cause_of(int end) {
  if (running.is_stack && end == SIGSEGV) return "main() ran out of stack (8 MiB)";
  switch (end) {
    case kExit:
      return "the program called exit(" + std::to_string(running.status) +
             "); it must return from main()";
    case SIGFPE: return "main() divided by zero, or what it divided has no result (SIGFPE)";
    case SIGILL: return "main() ran into an illegal instruction (SIGILL)";
    case SIGABRT: return "main() aborted: abort() or an assertion that failed (SIGABRT)";
    default:
      return "main() used address " + address_text() +
             ", where the host has no memory; what cudaMalloc gives is a device's, for cudaMemcpy";
  }
}

}  // namespace

int guarded_call(const std::string& file, ProgramMain main, int count, char** words) {
  const Guard guard(file, main);
  running.is_stack = false;
  if (const int end = sigsetjmp(running.back, 1); end != 0)
    throw CheckError(file + ": " + cause_of(end));
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

// A program's calls of these come here, and all others go on.
extern "C" {
void exit(int status) {
  stretto::on_exit(status);
  const auto real = reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "exit"));
  real(status);
  std::abort();
}
void _exit(int status) {
  stretto::on_exit(status);
  for (;;) syscall(SYS_exit_group, status);
}
void _Exit(int status) { _exit(status); }
void quick_exit(int status) {
  stretto::on_exit(status);
  const auto real = reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "quick_exit"));
  real(status);
  std::abort();
}
}
