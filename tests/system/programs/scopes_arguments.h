// SPDX-License-Identifier: Apache-2.0
// Arguments of scopes_kernel.c: what each work-group does, one operation after the other.
#ifndef STRETTO_TESTS_SYSTEM_PROGRAMS_SCOPES_ARGUMENTS_H_
#define STRETTO_TESTS_SYSTEM_PROGRAMS_SCOPES_ARGUMENTS_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define SCOPES_END 0
#define SCOPES_LOAD 1   // mem[value] <- mem[address]; value 0: nowhere.
#define SCOPES_STORE 2  // mem[address] <- value.
#define SCOPES_TILE 3   // A tile of `detail` rows of 512 bytes at address <- the one at value.
#define SCOPES_FENCE 4  // tile.fence of scope `detail`.
#define SCOPES_RISCV_FENCE 5  // A C fence: the compiler's fence iorw,iorw.
#define SCOPES_ADD 6          // mem[address] += value; detail: SCOPES_ACQUIRE, SCOPES_RELEASE.
#define SCOPES_SCOPE 7        // CSR TILE_CSR_SCOPE <- detail.
#define SCOPES_WAIT 8         // Until mem[address] >= value; detail 1: at device scope.

#define SCOPES_ACQUIRE 1u
#define SCOPES_RELEASE 2u

#define SCOPES_GROUPS 4
#define SCOPES_OPERATIONS 8

typedef struct scopes_operation {
  uint32_t what;
  uint32_t detail;
  uint64_t address;
  uint64_t value;
} scopes_operation_t;

typedef struct scopes_arguments {
  scopes_operation_t does[SCOPES_GROUPS][SCOPES_OPERATIONS];
} scopes_arguments_t;

#endif  // STRETTO_TESTS_SYSTEM_PROGRAMS_SCOPES_ARGUMENTS_H_
