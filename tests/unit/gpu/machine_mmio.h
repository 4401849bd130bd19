// SPDX-License-Identifier: Apache-2.0
// The firmware's register accesses go to a GPU on the bench: front end and grid scheduler. Include in
// one file of a test executable: it defines the firmware's access functions.
#ifndef STRETTO_TESTS_UNIT_GPU_MACHINE_MMIO_H_
#define STRETTO_TESTS_UNIT_GPU_MACHINE_MMIO_H_

#include "sw/firmware/hal/grid_control.h"
#include "tests/unit/gpu/gpu_machine.h"

namespace stretto::test {

inline GpuMachine* machine_of_test = nullptr;

static_assert(STRETTO_GRID_SCHEDULER_BASE < STRETTO_GPU_BASE);
inline bool is_scheduler(uint64_t address) { return address < STRETTO_GPU_BASE; }

}  // namespace stretto::test

extern "C" uint64_t mock_mmio_read(uint64_t address, unsigned) {
  using namespace stretto::test;
  if (!is_scheduler(address))
    return machine_of_test->read(static_cast<uint32_t>(address - STRETTO_GPU_BASE));
  return machine_of_test->read_scheduler(
      static_cast<uint32_t>(address - STRETTO_GRID_SCHEDULER_BASE));
}

extern "C" void mock_mmio_write(uint64_t address, unsigned, uint64_t value) {
  using namespace stretto::test;
  if (!is_scheduler(address)) {
    machine_of_test->write(static_cast<uint32_t>(address - STRETTO_GPU_BASE), value);
  } else {
    machine_of_test->write_scheduler(static_cast<uint32_t>(address - STRETTO_GRID_SCHEDULER_BASE),
                                     value);
  }
}

#endif  // STRETTO_TESTS_UNIT_GPU_MACHINE_MMIO_H_
