// SPDX-License-Identifier: Apache-2.0
// Question: does the register access layer of the DMA engine write the right values in the order
// that the device needs, and refuse what it must? State space: one call on a fresh device; each
// guard once. Expected numbers are worked out by hand in the comments.
#include "sw/firmware/hal/dma.h"
#include "sw/include/regs/dma_regs.h"
#include "tests/unit/sw/hal/hal_test.h"

TEST_CASE("a DMA region becomes valid by its last write and is read back") {
  MockMmio mmio;
  const dma_t dma = {STRETTO_DMA_BASE};
  const auto at = [](uint64_t offset) { return STRETTO_DMA_BASE + offset + 2 * 128; };
  mmio.expect_write(at(DMA_REGION_RANGE_OFFSET), 272 | uint64_t{272} << 32);
  mmio.expect_write(at(DMA_REGION_BASE_OFFSET), 0x10000200000);
  mmio.expect_write(at(DMA_REGION_PEER_OFFSET), 0x80000200000);
  mmio.expect_write(at(DMA_REGION_PITCH_OFFSET), 8512);
  mmio.expect_write(at(DMA_REGION_SIZE_OFFSET), 8192 | uint64_t{4256} << 32);
  mmio.expect_write(at(DMA_REGION_TILE_OFFSET), 128 | 128 << 16 | uint64_t{34} << 32);
  mmio.expect_write(at(DMA_REGION_WAVEFRONTS_OFFSET), 8 | 3 << 4 | 16 << 16);
  const uint64_t control = 1 | 1 << 4 | 1 << 5 | 2 << 12 | 1 << 16;
  mmio.expect_write(at(DMA_REGION_CONTROL_OFFSET), control);
  mmio.expect_read(at(DMA_REGION_CONTROL_OFFSET), control);
  const dma_region_t region = {
      0x10000200000, 0x80000200000, 8512, 8192, 4256, 128,  128,   34, 3, 8,
      272,           272,           1,    0,    2,    true, false, {}, {}};
  CHECK(dma_set_region(&dma, 2, &region) == STRETTO_OK);
}

TEST_CASE("DMA regions and fills out of range are refused without a write") {
  MockMmio mmio;
  const dma_t dma = {STRETTO_DMA_BASE};
  const dma_region_t good = {0x10000200000, 0, 8512, 8192, 4256, 128,   128, 34, 0, 8, 0,
                             272,           0, 0,    2,    true, false, {},  {}};
  const auto refused = [&](auto change) {
    dma_region_t region = good;
    change(region);
    return dma_set_region(&dma, 0, &region) == STRETTO_ERROR_ARGUMENT;
  };
  CHECK(dma_set_region(&dma, 128, &good) == STRETTO_ERROR_ARGUMENT);
  CHECK(refused([](dma_region_t& r) { r.tile_count = 0; }));
  CHECK(refused([](dma_region_t& r) { r.first_tile = 65535; }));
  CHECK(refused([](dma_region_t& r) { r.wavefronts = 0; }));
  CHECK(refused([](dma_region_t& r) { r.wavefronts = 5; }));
  CHECK(refused([](dma_region_t& r) { r.m = 0; }));
  CHECK(refused([](dma_region_t& r) { r.block_tiles = 65536; }));
  uint64_t id = 0;
  CHECK(dma_fill(&dma, 0x10000000000, 0, 0, 4, &id) == STRETTO_ERROR_ARGUMENT);
  CHECK(dma_fill(&dma, 0x10000000000, 12, 0, 4, &id) == STRETTO_ERROR_ARGUMENT);
  CHECK(dma_fill(&dma, 0x10000000004, 8, 0, 4, &id) == STRETTO_ERROR_ARGUMENT);
  CHECK(dma_fill(&dma, 0x10000000000, 8, 0, 4, nullptr) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a fill into a full queue is held back") {
  MockMmio mmio;
  const dma_t dma = {STRETTO_DMA_BASE};
  mmio.expect_read(STRETTO_DMA_BASE + DMA_QUEUE_STATUS_OFFSET, 0);
  uint64_t id = 0;
  CHECK(dma_fill(&dma, 0x10000000000, 64, 0, 4, &id) == STRETTO_ERROR_TABLE_FULL);
}

TEST_CASE("an interrupt storm acknowledges each cause once") {
  MockMmio mmio;
  const dma_t dma = {STRETTO_DMA_BASE};
  mmio.expect_write(STRETTO_DMA_BASE + DMA_QUEUE_STATUS_OFFSET, 1);
  mmio.expect_read(STRETTO_DMA_BASE + DMA_REGION_DONE_OFFSET_AT(0), 0x11);
  mmio.expect_write(STRETTO_DMA_BASE + DMA_REGION_DONE_OFFSET_AT(0), 0x11);
  mmio.expect_read(STRETTO_DMA_BASE + DMA_REGION_DONE_OFFSET_AT(1), 0);
  uint64_t done[2] = {0x2, 0};
  dma_take_done(&dma, done);
  CHECK(done[0] == 0x13);
  CHECK(done[1] == 0);
}
