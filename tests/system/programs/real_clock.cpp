// SPDX-License-Identifier: Apache-2.0
// Reads a clock, the one that its argument names (tests/system/program_test.cpp).
#include <cuda_runtime.h>
#include <machine_time.h>
#include <sys/time.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>

int main(int argc, char** argv) {
  const char* clock_name = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(clock_name, name) == 0; };
  long long now = 0;
  timespec spec{};
  timeval value{};
  if (is("machine")) {
    const unsigned long long before = stretto_time();
    stretto_sleep(12'345);
    std::printf("slept %llu ns\n", stretto_time() - before);
  }
  if (is("steady")) now = std::chrono::steady_clock::now().time_since_epoch().count();
  if (is("system")) now = std::chrono::system_clock::now().time_since_epoch().count();
  if (is("clock_gettime") && clock_gettime(CLOCK_MONOTONIC, &spec) == 0) now = spec.tv_sec;
  if (is("gettimeofday") && gettimeofday(&value, nullptr) == 0) now = value.tv_sec;
  if (is("timespec_get") && timespec_get(&spec, TIME_UTC) == TIME_UTC) now = spec.tv_sec;
  if (is("time")) now = std::time(nullptr);
  if (is("clock")) now = std::clock();
  std::printf("read %s\n", now == 0 ? "no other clock" : clock_name);
  return 0;
}
