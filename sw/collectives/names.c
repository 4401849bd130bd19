// SPDX-License-Identifier: Apache-2.0
// Collectives, types and operations in words, for messages.
#include <stdio.h>
#include <string.h>

#include "sw/collectives/internal.h"

static const char* const kOps[STRETTO_COLLECTIVES] = {"all_reduce", "reduce_scatter", "all_gather",
                                                      "all_to_all", "broadcast",      "reduce"};
static const char* const kTypes[ncclNumTypes] = {"int8",    "uint8",   "int32",   "uint32",
                                                 "int64",   "uint64",  "float16", "float32",
                                                 "float64", "bfloat16"};
static const char* const kReductions[ncclNumOps] = {"sum", "prod", "max", "min", "avg"};

const char* op_name(uint32_t op) { return op < STRETTO_COLLECTIVES ? kOps[op] : "?"; }
const char* type_name(uint32_t type) { return type < ncclNumTypes ? kTypes[type] : "?"; }
const char* reduction_name(uint32_t reduction) {
  return reduction < ncclNumOps ? kReductions[reduction] : "?";
}
int op_reduces(uint32_t op) {
  return op == STRETTO_ALL_REDUCE || op == STRETTO_REDUCE_SCATTER || op == STRETTO_REDUCE;
}

uint64_t operation_summary(const operation_t* o) {
  return (uint64_t)o->arguments.op | (uint64_t)o->type << 8 | (uint64_t)o->reduction << 16 |
         (uint64_t)o->arguments.root << 24;
}

void summary_text(uint64_t what, uint64_t count, char* text, size_t bytes) {
  const uint32_t op = what & 0xFF, type = what >> 8 & 0xFF, reduction = what >> 16 & 0xFF;
  const int length = snprintf(text, bytes, "%s of %llu %s", op_name(op), (unsigned long long)count,
                              type_name(type));
  if (op_reduces(op))
    snprintf(text + length, bytes - (size_t)length, " %s", reduction_name(reduction));
  if (op == STRETTO_BROADCAST || op == STRETTO_REDUCE) {
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used, " root %u", (unsigned)(what >> 24));
  }
}

void operation_text(const operation_t* o, char* text, size_t bytes) {
  const unsigned rank = o->comm->comm.rank;
  // Before it is carried out it has no number.
  const unsigned long long number = o->number != 0 ? o->number : o->comm->collectives + 1;
  char what[96];
  if (o->kind == OPERATION_COLLECTIVE) {
    summary_text(operation_summary(o), o->arguments.count, what, sizeof what);
    snprintf(text, bytes, "rank %u, collective %llu, %s", rank, number, what);
  } else {
    snprintf(text, bytes, "rank %u, %s of %llu bytes, peer %u", rank,
             o->kind == OPERATION_SEND ? "ncclSend" : "ncclRecv", (unsigned long long)o->bytes,
             o->peer);
  }
}
