// SPDX-License-Identifier: Apache-2.0
// Ends main() as its argument says (tests/system/program_test.cpp).
#include <cuda_runtime.h>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

bool aborts = false;
struct Last {
  ~Last() {
    if (aborts) std::abort();
    std::puts("destroyed");
  }
} last;

void fault() { *reinterpret_cast<volatile int*>(8) = 1; }

}  // namespace

int main(int argc, char** argv) {
  const auto is = [&](const char* name) { return argc > 1 && std::strcmp(argv[1], name) == 0; };
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return 1;
  if (is("destructor")) aborts = true;
  if (is("atexit")) std::atexit(fault);
  if (is("thread")) {
    std::thread([] {
      for (std::atomic<int> turns{0};; ++turns) usleep(1000);
    }).detach();
  }
  if (is("joined")) std::thread([] { pthread_exit(nullptr); }).join();
  if (is("pthread_exit")) pthread_exit(nullptr);
  if (is("alarm")) alarm(1);
  if (is("setitimer")) {
    const itimerval soon{{0, 1}, {0, 1}};
    setitimer(ITIMER_REAL, &soon, nullptr);
  }
  if (is("chdir") && chdir("/") != 0) return 2;
  if (is("fork") && fork() < 0) return 2;
  sigset_t all;
  int number = 0;
  // What only asks is answered.
  if (sigprocmask(SIG_BLOCK, nullptr, &all) != 0 || sigaction(SIGINT, nullptr, nullptr) != 0)
    return 2;
  sigfillset(&all);
  if (is("signal")) std::signal(SIGSEGV, SIG_IGN);
  if (is("sigaction")) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, nullptr);
  }
  if (is("sigprocmask")) sigprocmask(SIG_BLOCK, &all, nullptr);
  if (is("pthread_sigmask")) pthread_sigmask(SIG_BLOCK, &all, nullptr);
  if (is("sigaltstack")) {
    const stack_t none{nullptr, SS_DISABLE, 0};
    sigaltstack(&none, nullptr);
  }
  if (is("sigsuspend")) sigsuspend(&all);
  if (is("sigwait")) sigwait(&all, &number);
  if (is("raise")) std::raise(SIGUSR1);
  if (is("kill")) kill(getpid(), SIGKILL);
  if (is("pthread_kill")) pthread_kill(pthread_self(), SIGPIPE);
  if (is("raises")) std::thread([] { std::raise(SIGPIPE); }).join();
  if (is("execl")) execl("/bin/true", "true", nullptr);
  if (is("execv")) execv("/bin/true", argv);
  std::puts("main() has ended");
  return 0;
}
