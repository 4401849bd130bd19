// SPDX-License-Identifier: Apache-2.0
// The time of the machine, for host programs: the only clock that they may read. libstretto_cudart.so has it.
//
// A program shares the process with the simulator, so the clocks of the operating system tell how long the
// simulation takes, and differ from run to run. clock_gettime(), gettimeofday(), time(), clock(),
// timespec_get(), and with them std::chrono, end a program. The time stamp counter (rdtsc) and system calls
// without libc are not seen: a program that reads those has results that nobody can repeat.
#ifndef STRETTO_SW_INCLUDE_MACHINE_TIME_H_
#define STRETTO_SW_INCLUDE_MACHINE_TIME_H_

#ifdef __cplusplus
extern "C" {
#endif

// Nanoseconds since the start of the machine. Reading it takes no time. Calls of cuda_runtime.h return
// before the GPU is done: synchronise first. 0 outside of a host program.
unsigned long long stretto_time(void);

// The calling thread does nothing for so long: what usleep() is elsewhere.
void stretto_sleep(unsigned long long nanoseconds);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STRETTO_SW_INCLUDE_MACHINE_TIME_H_
