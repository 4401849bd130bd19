// SPDX-License-Identifier: Apache-2.0
// A host and a GPU for driver tests: posted writes land in a byte map, a doorbell completes the
// packet at once with the status that the test has chosen, and everything is logged.
#ifndef STRETTO_TESTS_UNIT_SW_FAKE_GPU_HOST_H_
#define STRETTO_TESTS_UNIT_SW_FAKE_GPU_HOST_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "sw/driver/stretto_driver.h"

namespace stretto::test {

struct FakeGpuHost {
  uint32_t gpu = 0;
  std::map<uint64_t, uint8_t> bytes;                  // GPU memory.
  std::map<uint64_t, uint64_t> words;                 // Host memory.
  std::vector<stretto_packet_t> packets;              // As they were when the doorbell rang.
  std::vector<std::pair<uint64_t, uint64_t>> writes;  // Address, bytes.
  std::vector<std::pair<uint64_t, uint64_t>> from;    // Host memory written on, bytes.
  std::function<int64_t(const stretto_packet_t&)> status = [](const stretto_packet_t&) {
    return 0;
  };
  bool completes = true;  // Packets are taken and answered when the doorbell rings.
  uint64_t waits = 0;
  uint64_t cpu_ns = 0;

  stretto_host_ops_t ops() {
    stretto_host_ops_t all{};
    all.context = this;
    all.write = &write;
    all.write_from = [](void* context, uint64_t, uint64_t from, uint64_t count) {
      self(context).from.emplace_back(from, count);
    };
    all.wait = &wait;
    all.read = &read;
    all.store = &store;
    all.charge_cpu_ns = &charge;
    all.now_ns = &now;
    return all;
  }
  uint64_t read64(uint64_t address) const {
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i) {
      const auto found = bytes.find(address + i);
      if (found != bytes.end()) value |= uint64_t{found->second} << (8 * i);
    }
    return value;
  }
  void ring(uint32_t queue, uint64_t index) {
    stretto_packet_t packet;
    const uint64_t slot = stretto_gpu_address(gpu, STRETTO_QUEUE_OFFSET(uint64_t{queue})) +
                          index % STRETTO_QUEUE_PACKETS * 64;
    for (unsigned i = 0; i < 8; ++i) packet.words[i] = read64(slot + 8 * i);
    packets.push_back(packet);
    if (!completes) return;
    words[host(STRETTO_READ_INDEX_OFFSET(uint64_t{gpu}, queue))] = index + 1;
    words[packet.vendor.completion_signal] = static_cast<uint64_t>(status(packet));
  }
  static uint64_t host(uint64_t offset) {
    return (uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT) + offset;
  }

 private:
  static FakeGpuHost& self(void* context) { return *static_cast<FakeGpuHost*>(context); }
  static void write(void* context, uint64_t address, const void* data, uint64_t count) {
    FakeGpuHost& h = self(context);
    h.writes.emplace_back(address, count);
    const uint64_t doorbells = stretto_gpu_address(h.gpu, STRETTO_DOORBELL_APERTURE);
    if (address >= doorbells && address < doorbells + 8 * STRETTO_QUEUE_COUNT) {
      uint64_t index;
      std::memcpy(&index, data, 8);
      h.ring(static_cast<uint32_t>((address - doorbells) / 8), index);
      return;
    }
    for (uint64_t i = 0; i < count; ++i)
      h.bytes[address + i] = static_cast<const uint8_t*>(data)[i];
  }
  static uint64_t wait(void* context, uint64_t address, stretto_wait_t condition, uint64_t value) {
    FakeGpuHost& h = self(context);
    ++h.waits;
    const uint64_t word = h.words[address];
    const bool met = condition == STRETTO_WAIT_NOT_EQUAL ? word != value : word >= value;
    if (!met) throw std::runtime_error("the driver would wait for ever");
    return word;
  }
  static void read(void* context, uint64_t address, void* data, uint64_t count) {
    std::memcpy(data, &self(context).words[address], count);
  }
  static void store(void* context, uint64_t address, uint64_t value) {
    self(context).words[address] = value;
  }
  static void charge(void* context, uint64_t nanoseconds) { self(context).cpu_ns += nanoseconds; }
  static uint64_t now(void* context) { return self(context).cpu_ns; }
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_SW_FAKE_GPU_HOST_H_
