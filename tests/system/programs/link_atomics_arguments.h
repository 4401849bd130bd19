// SPDX-License-Identifier: Apache-2.0
// What link_atomics.c tells its kernel.
#ifndef STRETTO_TESTS_SYSTEM_PROGRAMS_LINK_ATOMICS_ARGUMENTS_H_
#define STRETTO_TESTS_SYSTEM_PROGRAMS_LINK_ATOMICS_ARGUMENTS_H_

#include <stdint.h>

#define LINK_WAVEFRONTS 2
#define LINK_GROUPS 3
#define LINK_MOST 16  // Values of a wavefront.

#define LINK_ADD 0      // Adds 1 so often, and keeps what it found each time.
#define LINK_ADD_W 1    // The same in the upper half of the word.
#define LINK_SWAP 2     // Leaves its own number, and keeps what it found.
#define LINK_READ 3     // Keeps the word.
#define LINK_SEND 4     // Stores `count` words behind the flag, then adds 1 to the flag, releasing.
#define LINK_RECEIVE 5  // Waits until the flag is `until`, and keeps the words behind it.
#define LINK_SPIN 6     // Takes a lock that nobody gives back.
#define LINK_XOR 7      // What no link carries.
#define LINK_DEVICE 8   // An add of device scope.
#define LINK_CAS 9      // As LINK_ADD, by compare and swap.

typedef struct link_arguments {
  uint64_t word;
  uint64_t out;     // LINK_MOST words a wavefront of the kernel.
  uint64_t number;  // Of the device.
  uint64_t what;
  uint64_t count;
  uint64_t until;
} link_arguments_t;

#endif  // STRETTO_TESTS_SYSTEM_PROGRAMS_LINK_ATOMICS_ARGUMENTS_H_
