// SPDX-License-Identifier: Apache-2.0
// Registers and GPU memory as firmware services see them: values by address, every access in a log,
// and hooks for registers that answer. For services, whose tests ask for effects and a few orders;
// the access layer itself is tested with mock_mmio.h. Include in one file of a test executable: it
// defines the firmware's access functions and end_run.
#ifndef STRETTO_TESTS_UNIT_SW_FAKE_DEVICE_H_
#define STRETTO_TESTS_UNIT_SW_FAKE_DEVICE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sw/firmware/services/shared.h"
#include "sw/include/regs/cp_regs.h"
#include "sw/include/regs/dma_regs.h"
#include "sw/include/regs/gpu_regs.h"
#include "sw/include/regs/grid_scheduler_regs.h"
#include "sw/include/regs/range_table_regs.h"
#include "sw/include/regs/tracker_regs.h"

namespace stretto::test {

struct FakeDevice {
  struct Write {
    uint64_t address;
    uint64_t value;
  };
  std::map<uint64_t, uint64_t> word;
  std::vector<Write> writes;
  std::string console;
  std::map<uint64_t, std::function<uint64_t()>> on_read;
  std::map<uint64_t, std::function<void(uint64_t)>> on_write;
  std::function<void()> on_access;  // Before each.

  static FakeDevice*& current() {
    static FakeDevice* device = nullptr;
    return device;
  }
  FakeDevice() {
    current() = this;
    on_write[STRETTO_UART_BASE + UART_TX_OFFSET] = [this](uint64_t c) {
      console += static_cast<char>(c);
    };
    // A unit of T3 Table 1.
    word[STRETTO_DMA_BASE + DMA_QUEUE_STATUS_OFFSET] = uint64_t{16} << DMA_QUEUE_STATUS_FREE_SHIFT;
    on_write[STRETTO_DMA_BASE + DMA_QUEUE_STATUS_OFFSET] = [](uint64_t) {};
    on_write[STRETTO_DMA_BASE + DMA_QUEUE_PUSH_OFFSET] = [this](uint64_t) {
      ++word[STRETTO_DMA_BASE + DMA_QUEUE_PUSHED_OFFSET];
    };
    for (unsigned i = 0; i < DMA_REGION_DONE_COUNT; ++i)
      w1c(STRETTO_DMA_BASE + DMA_REGION_DONE_OFFSET_AT(i));
    w1c(STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_DONE_OFFSET);
    w1c(STRETTO_GPU_BASE + GPU_L2_DONE_OFFSET);
    w1c(STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET);
    w1c(STRETTO_INTC_BASE + INTC_CLAIM_OFFSET_AT(QUEUE_HART));  // One line is enough.
    w1c(STRETTO_RANGE_TABLE_BASE + RANGE_TABLE_STATUS_OFFSET);
  }
  ~FakeDevice() { current() = nullptr; }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  uint64_t at(uint64_t address) { return word[address]; }
  // Position of the first write to the address in the log; a large number if there is none.
  size_t position(uint64_t address) const {
    for (size_t i = 0; i < writes.size(); ++i) {
      if (writes[i].address == address) return i;
    }
    return SIZE_MAX;
  }
  size_t count(uint64_t address) const {
    size_t n = 0;
    for (const Write& w : writes) n += w.address == address;
    return n;
  }
  void w1c(uint64_t address) {
    on_write[address] = [this, address](uint64_t bits) { word[address] &= ~bits; };
  }
};

}  // namespace stretto::test

extern "C" uint64_t mock_mmio_read(uint64_t address, unsigned) {
  auto& device = *stretto::test::FakeDevice::current();
  if (device.on_access) device.on_access();
  const auto hook = device.on_read.find(address);
  return hook != device.on_read.end() ? hook->second() : device.word[address];
}

extern "C" void mock_mmio_write(uint64_t address, unsigned, uint64_t value) {
  auto& device = *stretto::test::FakeDevice::current();
  if (device.on_access) device.on_access();
  device.writes.push_back({address, value});
  const auto hook = device.on_write.find(address);
  if (hook != device.on_write.end()) {
    hook->second(value);
  } else {
    device.word[address] = value;
  }
}

extern "C" [[noreturn]] void end_run(uint64_t tohost) {
  throw std::runtime_error("tohost " + std::to_string(tohost));
}

#endif  // STRETTO_TESTS_UNIT_SW_FAKE_DEVICE_H_
