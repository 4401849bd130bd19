// SPDX-License-Identifier: Apache-2.0
// Guest of cp_bench: the mix with its data in GPU memory, so that every load and store but the
// stack's goes through the L1. Hart 0 reports; other harts run the same on data of their own.
#include "guest.h"
#include "tests/unit/riscv/bench_mix.h"

int guest_main(uint64_t hart) {
  bench_data_t* const d = (bench_data_t*)MEMORY(0x100000 + hart * 0x10000);
  bench_prepare(d);
  bench_node_t* head = d->nodes;
  const uint16_t expected = bench_iterate(d, &head);
  int failed = 0;
  for (int i = 0; i < ITERATIONS; ++i) {
    if (bench_iterate(d, &head) != expected) failed = 1;
    d->retired = CSR_READ(instret);
  }
  return failed;
}
