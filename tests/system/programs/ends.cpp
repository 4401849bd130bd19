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
  if (is("execl")) execl("/bin/true", "true", nullptr);
  if (is("execv")) execv("/bin/true", argv);
  std::puts("main() has ended");
  return 0;
}
