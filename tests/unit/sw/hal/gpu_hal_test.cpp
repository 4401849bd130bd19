// SPDX-License-Identifier: Apache-2.0
// Question: does the register access layer of the GPU's front end write the right values in the
// order that the device needs, and refuse what it must? State space: one call on a fresh device;
// each guard once. Expected numbers are worked out by hand in the comments.
#include <string>

#include "sw/firmware/hal/gpu.h"
#include "sw/include/regs/gpu_regs.h"
#include "tests/unit/sw/hal/hal_test.h"

TEST_CASE("a fault is read completely before it is acknowledged") {
  MockMmio mmio;
  const gpu_t gpu = {STRETTO_GPU_BASE};
  mmio.expect_read(STRETTO_GPU_BASE + GPU_FAULT_STATUS_OFFSET, 1);
  mmio.expect_read(STRETTO_GPU_BASE + GPU_FAULT_KIND_OFFSET,
                   2 | 3 << 16 | uint64_t{17} << 24 | uint64_t{5} << 32);
  mmio.expect_read(STRETTO_GPU_BASE + GPU_FAULT_ADDRESS_OFFSET, 0xdead0);
  mmio.expect_read(STRETTO_GPU_BASE + GPU_FAULT_PC_OFFSET, 0x1000);
  mmio.expect_read(STRETTO_GPU_BASE + GPU_FAULT_WG_OFFSET, 99);
  mmio.expect_write(STRETTO_GPU_BASE + GPU_FAULT_STATUS_OFFSET, 1);
  gpu_fault_t fault;
  REQUIRE(gpu_take_fault(&gpu, &fault));
  CHECK(std::string(gpu_fault_name(fault.kind)) == "store to an unmapped address");
  CHECK(fault.slot == 3);
  CHECK(fault.cu == 17);
  CHECK(fault.wavefront == 5);
  CHECK(fault.address == 0xdead0);
  CHECK(fault.work_group == 99);
  CHECK(std::string(gpu_fault_name(200)) == "unknown");
}

TEST_CASE("a dispatch context with impossible fields is refused without a write") {
  MockMmio mmio;
  const gpu_t gpu = {STRETTO_GPU_BASE};
  gpu_context_t context = {};
  context.wavefronts = 8;
  context.grid = 1;
  CHECK(gpu_set_context(&gpu, 32, &context) == STRETTO_ERROR_ARGUMENT);
  context.wavefronts = 9;
  CHECK(gpu_set_context(&gpu, 0, &context) == STRETTO_ERROR_ARGUMENT);
  context.wavefronts = 8;
  context.account = 16;
  CHECK(gpu_set_context(&gpu, 0, &context) == STRETTO_ERROR_ARGUMENT);
  context.account = 1;
  context.grid = 0;
  CHECK(gpu_set_context(&gpu, 0, &context) == STRETTO_ERROR_ARGUMENT);
  context.grid = 65536;
  context.grid_y = 65536;
  CHECK(gpu_set_context(&gpu, 0, &context) == STRETTO_ERROR_ARGUMENT);
}
