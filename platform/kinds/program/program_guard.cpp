// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/program/program_guard.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include <systemc>

#include "models/common/error.h"
#include "platform/base/stop_request.h"
#include "platform/jobs/host_runtime.h"
#include "platform/kinds/program/program_library.h"

// Where the section of what calls programs is; the linker makes both.
extern "C" const char __start_stretto_program_entries, __stop_stretto_program_entries;
#define STRETTO_PROGRAM_ENTRY __attribute__((noinline, section("stretto_program_entries")))

namespace stretto {

namespace {

constexpr std::array<int, 5> kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kExit = 1'000;         // With sigsetjmp(): the program called exit(), no signal;
constexpr int kClock = 1'001;        // read the real clock,
constexpr int kRefused = 1'002;      // made a call that would act on the simulator.
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

// Of threads: a program, also if another thread of it made them. Lives on, since threads may outlive it.
struct Maker {
  explicit Maker(std::string name) : file(std::move(name)) {}
  const std::string file;
  std::atomic<unsigned> threads{0};  // That run.
};

// A program that runs.
struct Running {
  const char* file = nullptr;  // Null: free.
  const void* process = nullptr;
  Maker* maker = nullptr;  // Of its threads.
  pthread_t thread{};
  Code code;
  sigjmp_buf back;
  const void* address = nullptr;
  uintptr_t stack_top = 0;  // Where the caller of main() begins.
  bool is_below_stack = false, is_above_stack = false;
  bool is_unloading = false;   // main() has returned.
  int status = 0;              // Of exit().
  const char* call = nullptr;  // That read a clock, or was refused,
  const char* why = nullptr;   // for this reason.
};

// Handlers of signals look here, also when the stack of a program that was given up is gone.
std::array<Running, 1'024> programs;  // As many as a host has cores.
size_t running = 0;
Code simulator;
thread_local Maker* maker_of_thread = nullptr;  // Null: the simulator's own thread.

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

// In handlers, too.
[[noreturn]] void stop_here(const char* what, const char* why = "") {
  std::snprintf(stop_request.text.data(), stop_request.text.size(),
                "%s: a thread that the program made: %s%s", maker_of_thread->file.c_str(), what,
                why);
  stop_request.stop(StopRequest::Cause::program);
  for (;;) pause();
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (Running* const program = current_program(); program != nullptr) {
    program->address = info->si_addr;
    const intptr_t from_stack = reinterpret_cast<intptr_t>(info->si_addr) - stack_of(context);
    const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
    const bool is_above = at >= program->stack_top;
    program->is_below_stack =
        signal == SIGSEGV && !is_above && from_stack > -kNear && from_stack < kNear;
    program->is_above_stack = signal == SIGSEGV && is_above && at - program->stack_top < kNear;
    siglongjmp(program->back, signal);
  }
  if (maker_of_thread != nullptr) stop_here(strsignal(signal));
  struct sigaction none {};  // The simulator's own: it happens again.
  sigaction(signal, &none, nullptr);
  if (signal == SIGABRT) raise(signal);
}

// Returns if it is not a program that exits.
void on_exit(int status) {
  if (Running* const program = current_program(); program != nullptr) {
    program->status = status;
    siglongjmp(program->back, kExit);
  }
  if (maker_of_thread != nullptr) stop_here("called exit(); main() must return");
}

// Whether a call that returns to `caller` is the simulator's: its handlers run where programs do. What calls
// a program is not counted: a call that is the last of main() returns there.
bool is_simulator(const void* caller) {
  const Code entries{reinterpret_cast<uintptr_t>(&__start_stretto_program_entries),
                     reinterpret_cast<uintptr_t>(&__stop_stretto_program_entries)};
  return simulator.holds(caller) && !entries.holds(caller);
}

// Returns if it is not a program that calls. `caller`: where the call returns to.
void on_refused(const char* call, const char* why, const void* caller) {
  if (is_simulator(caller)) return;
  if (Running* const program = current_program(); program != nullptr) {
    program->call = call;
    program->why = why;
    siglongjmp(program->back, kRefused);
  }
  if (maker_of_thread == nullptr) return;
  std::array<char, 64> what;
  std::snprintf(what.data(), what.size(), "called %s(): ", call);
  stop_here(what.data(), why);
}
constexpr const char* kShared = "it has no process of its own, but that of the simulator";

// Nobody else calls these.
int refuse_list(const char* call, const void* caller) {
  on_refused(call, kShared, caller);
  errno = ENOSYS;
  return -1;
}

// Returns if it is not a program that reads a clock. `caller`: where the call returns to.
void on_clock(const char* call, const void* caller) {
  if (is_simulator(caller)) return;
  if (Running* const program = current_program(); program != nullptr) {
    program->call = call;
    siglongjmp(program->back, kClock);
  }
}

// Whose the calling thread's work is; null: the simulator's.
Maker* maker_of_calls() {
  const Running* const program = current_program();
  return program != nullptr ? program->maker : maker_of_thread;
}

// A thread that a program makes.
struct Thread {
  Maker* maker;
  void* (*start)(void*);
  void* argument;
};

// With code behind the call, or the compiler makes a jump of it, which returns past the section.
STRETTO_PROGRAM_ENTRY int enter_main(ProgramMain main, int count, char** words) {
  const int status = main(count, words);
  __asm__ volatile("");
  return status;
}
STRETTO_PROGRAM_ENTRY void* enter_thread(const Thread& thread) {
  void* const value = thread.start(thread.argument);
  __asm__ volatile("");
  return value;
}

void* run_thread(void* thread) {
  const std::unique_ptr<Thread> mine(static_cast<Thread*>(thread));
  maker_of_thread = mine->maker;
  const auto ends = [](Maker* maker) { --maker->threads; };  // However it does.
  const std::unique_ptr<Maker, decltype(ends)> counted(mine->maker, ends);
  return enter_thread(*mine);
}

void leave_program(const void* context, bool force) {
  const void* const at = instruction_of(context);
  const Running* const program = current_program();
  if (program != nullptr && (program->code.holds(at) || (force && !simulator.holds(at))))
    abandon_host_program();
}

// The first program that starts installs the handlers, the last one that ends removes them, unless threads
// of programs go on.
class Handlers {
 public:
  static void install() {
    if (std::exchange(is_installed, true)) return;
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
    is_installed = false;
  }

 private:
  static inline bool is_installed = false;
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
    program.maker = new Maker{file};
  }
  ~Guard() {
    program.file = nullptr;
    threads_go_on |= program.maker->threads != 0;
    if (--running == 0 && !threads_go_on) Handlers::remove();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  Running& program;

 private:
  static inline bool threads_go_on = false;
};

std::string cause_of(const Running& program, int end) {
  const char* const who =
      program.is_unloading ? "what runs behind main() (a destructor, atexit())" : "main()";
  if (program.is_below_stack && end == SIGSEGV)
    return fmt::format("{} ran out of stack (8 MiB)", who);
  if (program.is_above_stack && end == SIGSEGV)
    return fmt::format(
        "{} used address {}, above its stack: a variable there is shorter than what was read or "
        "written (a launch reads the arguments that the kernel declares)",
        who, fmt::ptr(program.address));
  switch (end) {
    case kExit:
      return fmt::format("the program called exit({}); it must return from main()", program.status);
    case kClock:
      return fmt::format(
          "the program read the real clock, {}(); its time is that of the machine: stretto_time() "
          "and events (machine_time.h)",
          program.call);
    case kRefused: return fmt::format("the program called {}(): {}", program.call, program.why);
    case SIGFPE:
      return fmt::format("{} divided by zero, or what it divided has no result (SIGFPE)", who);
    case SIGILL: return fmt::format("{} ran into an illegal instruction (SIGILL)", who);
    case SIGABRT:
      return fmt::format("{} aborted: abort() or an assertion that failed (SIGABRT)", who);
    default:
      return fmt::format(
          "{} used address {}, where the host has no memory; what cudaMalloc gives is a device's, "
          "for cudaMemcpy",
          who, fmt::ptr(program.address));
  }
}

}  // namespace

int guarded_call(const std::string& file, ProgramLibrary& library, int count, char** words) {
  const Guard guard(file, library.main());
  guard.program.stack_top = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (const int end = sigsetjmp(guard.program.back, 1); end != 0)
    throw CheckError(file + ": " + cause_of(guard.program, end));
  try {
    const int status = enter_main(library.main(), count, words);
    // Threads that nobody waited for go on in its code. They end with the process, as elsewhere.
    if (guard.program.maker->threads != 0) return status;
    guard.program.is_unloading = true;
    library.unload();
    return status;
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

// The call of that name, unless a program makes it.
template <class Function, class... Arguments>
auto call_unless_program(const char* call, const void* caller, Arguments... arguments) {
  stretto::on_refused(call, stretto::kShared, caller);
  return next_of<Function>(call)(arguments...);
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

void pthread_exit(void* value) {
  if (stretto::maker_of_thread == nullptr)
    stretto::on_refused("pthread_exit", "main() must return", __builtin_return_address(0));
  next_of<void(void*)>("pthread_exit")(value);
  std::abort();
}
int pthread_create(pthread_t* __restrict thread, const pthread_attr_t* __restrict attributes,
                   void* (*start)(void*), void* __restrict argument) noexcept {
  static const auto real =
      next_of<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  stretto::Maker* const maker = stretto::maker_of_calls();
  if (maker == nullptr) return real(thread, attributes, start, argument);
  auto made = std::make_unique<stretto::Thread>(stretto::Thread{maker, start, argument});
  ++maker->threads;
  const int error = real(thread, attributes, stretto::run_thread, made.get());
  if (error == 0)
    (void)made.release();
  else
    --maker->threads;
  return error;
}

unsigned alarm(unsigned seconds) noexcept {
  return call_unless_program<unsigned(unsigned)>("alarm", __builtin_return_address(0), seconds);
}
int setitimer(__itimer_which_t which, const itimerval* __restrict value,
              itimerval* __restrict before) noexcept {
  return call_unless_program<int(__itimer_which_t, const itimerval*, itimerval*)>(
      "setitimer", __builtin_return_address(0), which, value, before);
}
int timer_create(clockid_t clock, sigevent* __restrict event, timer_t* __restrict timer) noexcept {
  return call_unless_program<int(clockid_t, sigevent*, timer_t*)>(
      "timer_create", __builtin_return_address(0), clock, event, timer);
}
int chdir(const char* path) noexcept {
  return call_unless_program<int(const char*)>("chdir", __builtin_return_address(0), path);
}
int fchdir(int folder) noexcept {
  return call_unless_program<int(int)>("fchdir", __builtin_return_address(0), folder);
}
pid_t fork() noexcept { return call_unless_program<pid_t()>("fork", __builtin_return_address(0)); }
int execve(const char* path, char* const words[], char* const environment[]) noexcept {
  return call_unless_program<int(const char*, char* const*, char* const*)>(
      "execve", __builtin_return_address(0), path, words, environment);
}
int execv(const char* path, char* const words[]) noexcept {
  stretto::on_refused("execv", stretto::kShared, __builtin_return_address(0));
  return execve(path, words, environ);
}
int execvp(const char* file, char* const words[]) noexcept {
  stretto::on_refused("execvp", stretto::kShared, __builtin_return_address(0));
  return next_of<int(const char*, char* const*)>("execvp")(file, words);
}
int execl(const char*, const char*, ...) noexcept {
  return stretto::refuse_list("execl", __builtin_return_address(0));
}
int execlp(const char*, const char*, ...) noexcept {
  return stretto::refuse_list("execlp", __builtin_return_address(0));
}
int execle(const char*, const char*, ...) noexcept {
  return stretto::refuse_list("execle", __builtin_return_address(0));
}

// Signals: handlers and masks are the simulator's, and so is the process that one is sent to. What only asks
// for a handler or a mask goes on.
sighandler_t signal(int number, sighandler_t handler) noexcept {
  return call_unless_program<sighandler_t(int, sighandler_t)>("signal", __builtin_return_address(0),
                                                              number, handler);
}
// What signal() of a program is that was compiled for System V's.
sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  stretto::on_refused("signal", stretto::kShared, __builtin_return_address(0));
  return next_of<sighandler_t(int, sighandler_t)>("__sysv_signal")(number, handler);
}
int sigaction(int number, const struct sigaction* __restrict action,
              struct sigaction* __restrict before) noexcept {
  if (action != nullptr)
    stretto::on_refused("sigaction", stretto::kShared, __builtin_return_address(0));
  static const auto real =
      next_of<int(int, const struct sigaction*, struct sigaction*)>("sigaction");
  return real(number, action, before);
}
int siginterrupt(int number, int interrupts) noexcept {
  return call_unless_program<int(int, int)>("siginterrupt", __builtin_return_address(0), number,
                                            interrupts);
}
int sigaltstack(const stack_t* __restrict stack, stack_t* __restrict before) noexcept {
  if (stack != nullptr)
    stretto::on_refused("sigaltstack", stretto::kShared, __builtin_return_address(0));
  return next_of<int(const stack_t*, stack_t*)>("sigaltstack")(stack, before);
}
int sigprocmask(int how, const sigset_t* __restrict set, sigset_t* __restrict before) noexcept {
  if (set != nullptr)
    stretto::on_refused("sigprocmask", stretto::kShared, __builtin_return_address(0));
  return next_of<int(int, const sigset_t*, sigset_t*)>("sigprocmask")(how, set, before);
}
int pthread_sigmask(int how, const sigset_t* __restrict set, sigset_t* __restrict before) noexcept {
  if (set != nullptr)
    stretto::on_refused("pthread_sigmask", stretto::kShared, __builtin_return_address(0));
  return next_of<int(int, const sigset_t*, sigset_t*)>("pthread_sigmask")(how, set, before);
}
int sigblock(int mask) noexcept {
  return call_unless_program<int(int)>("sigblock", __builtin_return_address(0), mask);
}
int sigsetmask(int mask) noexcept {
  return call_unless_program<int(int)>("sigsetmask", __builtin_return_address(0), mask);
}
int sighold(int number) noexcept {
  return call_unless_program<int(int)>("sighold", __builtin_return_address(0), number);
}
int sigrelse(int number) noexcept {
  return call_unless_program<int(int)>("sigrelse", __builtin_return_address(0), number);
}
int sigignore(int number) noexcept {
  return call_unless_program<int(int)>("sigignore", __builtin_return_address(0), number);
}
sighandler_t sigset(int number, sighandler_t handler) noexcept {
  return call_unless_program<sighandler_t(int, sighandler_t)>("sigset", __builtin_return_address(0),
                                                              number, handler);
}

int sigsuspend(const sigset_t* set) {
  return call_unless_program<int(const sigset_t*)>("sigsuspend", __builtin_return_address(0), set);
}
int sigwait(const sigset_t* __restrict set, int* __restrict number) {
  return call_unless_program<int(const sigset_t*, int*)>("sigwait", __builtin_return_address(0),
                                                         set, number);
}
int sigwaitinfo(const sigset_t* __restrict set, siginfo_t* __restrict info) {
  return call_unless_program<int(const sigset_t*, siginfo_t*)>(
      "sigwaitinfo", __builtin_return_address(0), set, info);
}
int sigtimedwait(const sigset_t* __restrict set, siginfo_t* __restrict info,
                 const timespec* __restrict limit) {
  return call_unless_program<int(const sigset_t*, siginfo_t*, const timespec*)>(
      "sigtimedwait", __builtin_return_address(0), set, info, limit);
}
int signalfd(int file, const sigset_t* set, int flags) noexcept {
  return call_unless_program<int(int, const sigset_t*, int)>(
      "signalfd", __builtin_return_address(0), file, set, flags);
}

int raise(int number) noexcept {
  return call_unless_program<int(int)>("raise", __builtin_return_address(0), number);
}
int kill(pid_t process, int number) noexcept {
  return call_unless_program<int(pid_t, int)>("kill", __builtin_return_address(0), process, number);
}
int killpg(pid_t group, int number) noexcept {
  return call_unless_program<int(pid_t, int)>("killpg", __builtin_return_address(0), group, number);
}
int tgkill(pid_t process, pid_t thread, int number) {
  return call_unless_program<int(pid_t, pid_t, int)>("tgkill", __builtin_return_address(0), process,
                                                     thread, number);
}
int sigqueue(pid_t process, int number, const sigval value) noexcept {
  return call_unless_program<int(pid_t, int, sigval)>("sigqueue", __builtin_return_address(0),
                                                      process, number, value);
}
int pthread_kill(pthread_t thread, int number) noexcept {
  return call_unless_program<int(pthread_t, int)>("pthread_kill", __builtin_return_address(0),
                                                  thread, number);
}
int pthread_sigqueue(pthread_t thread, int number, const sigval value) noexcept {
  return call_unless_program<int(pthread_t, int, sigval)>(
      "pthread_sigqueue", __builtin_return_address(0), thread, number, value);
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
