// SPDX-License-Identifier: Apache-2.0
// The firmware's services on a fake device, and the packets and maps that their tests send: one GPU
// of a ring of four, an output of 5 x 3 tiles (640 x 300 elements, last column 44 wide).
#ifndef STRETTO_TESTS_UNIT_SW_FIRMWARE_BENCH_H_
#define STRETTO_TESTS_UNIT_SW_FIRMWARE_BENCH_H_

#include "tests/unit/sw/fake_device.h"

#include <catch2/catch.hpp>

#include <cstring>

#include "sw/firmware/services/dispatch_service.h"
#include "sw/firmware/services/packet_service.h"
#include "sw/firmware/services/trigger_service.h"
#include "sw/include/formats/code_object.h"
#include "sw/include/formats/machine_types.h"

namespace stretto::test {

// Accounts of a kernel and of what the DMA engine sends.
constexpr unsigned kKernelAccount = 9;
constexpr uint8_t kSendAccount = 13;
constexpr auto kFp16 = static_cast<uint8_t>(ElementType::fp16);
constexpr unsigned kGpu = 1;
constexpr uint64_t kOwn = uint64_t{kGpu + 1} << STRETTO_NODE_SHIFT;
constexpr uint64_t kPeer = uint64_t{1} << STRETTO_NODE_SHIFT;
constexpr uint64_t kHost = uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT;
constexpr uint64_t kOutput = 0x200000;
constexpr uint64_t kDescriptor = kOwn + 0x300000;
constexpr uint32_t kPitch = 600;

struct Firmware {
  FakeDevice device;
  shared_t shared{};
  trigger_service_t trigger{};
  packet_service_t packets{};

  Firmware() {
    shared.gpu_id = kGpu;
    shared.limits = {80, 256 * 1024, 96 * 1024, 64, 32};
    REQUIRE(gpu_init(&shared.gpu) == STRETTO_OK);
    REQUIRE(grid_scheduler_init(&shared.scheduler, &shared.limits) == STRETTO_OK);
    REQUIRE(dma_init(&shared.dma) == STRETTO_OK);
    REQUIRE(trigger_service_init(&trigger, &shared) == STRETTO_OK);
    REQUIRE(packet_service_init(&packets, &shared, &trigger) == STRETTO_OK);
    device.writes.clear();
  }

  uint64_t signal(unsigned index) const {
    return kHost + STRETTO_SIGNAL_OFFSET(uint64_t{kGpu}, index);
  }

  // Puts a packet into a queue; its signal is signal(index), of another queue signal(100 * queue +
  // index).
  void put(uint64_t index, stretto_packet_t packet, unsigned queue = 0) {
    packet.vendor.completion_signal = signal(static_cast<unsigned>(100 * queue + index));
    const uint64_t slot =
        kOwn + STRETTO_QUEUE_OFFSET(uint64_t{queue}) + index % STRETTO_QUEUE_PACKETS * 64;
    for (unsigned i = 0; i < 8; ++i) device.word[slot + 8 * i] = packet.words[i];
    device.word[packet.vendor.completion_signal] = STRETTO_SIGNAL_PENDING;
  }
  // The doorbell of a queue rings, and nobody has looked yet.
  void rings(uint64_t index, unsigned queue) {
    device.word[STRETTO_DOORBELL_BASE + DOORBELL_PENDING_OFFSET] |= 1u << queue;
    device.word[STRETTO_DOORBELL_BASE + DOORBELL_VALUE_OFFSET_AT(queue)] = index;
    device.word[STRETTO_INTC_BASE + INTC_CLAIM_OFFSET_AT(QUEUE_HART)] = STRETTO_IRQ_DOORBELL;
  }
  void ring(uint64_t index, unsigned queue = 0) {
    rings(index, queue);
    packet_service_doorbell(&packets);
    packet_service_run(&packets);
  }
  int64_t status_of(unsigned index) { return static_cast<int64_t>(device.at(signal(index))); }

  void kernel_ends(unsigned slot) {
    device.word[STRETTO_GRID_SCHEDULER_BASE + GRID_SCHEDULER_DONE_OFFSET] = 1u << slot;
    completion_service_irq(&shared, STRETTO_IRQ_GRID_SCHEDULER);
  }

  void written_back() {
    device.word[STRETTO_GPU_BASE + GPU_L2_DONE_OFFSET] = GPU_L2_DONE_PENDING_MASK;
    completion_service_irq(&shared, STRETTO_IRQ_L2);
  }

  void put_descriptor(uint32_t registers_bytes = 112 * 1024) {
    stretto_kernel_descriptor_t d{};
    d.magic = STRETTO_KERNEL_MAGIC;
    d.type = STRETTO_KERNEL_TENSOR;
    d.entry = kDescriptor - 0x1000 + 0x40;
    d.registers_bytes = registers_bytes;
    d.lds_bytes = 32 * 1024;
    d.private_bytes = 256;
    d.wavefronts = 8;
    d.kernarg_bytes = 56;
    d.code_base = kDescriptor - 0x1000;
    d.code_bytes = 0x2000;
    uint64_t words[8];
    std::memcpy(words, &d, sizeof d);
    for (unsigned i = 0; i < 8; ++i) device.word[kDescriptor + 8 * i] = words[i];
  }
};

inline stretto_packet_t dispatch(uint32_t work_groups, bool barrier = false) {
  stretto_packet_t packet{};
  packet.dispatch.header = static_cast<uint16_t>(STRETTO_PACKET_KERNEL_DISPATCH |
                                                 (barrier ? STRETTO_PACKET_BARRIER : 0));
  packet.dispatch.setup = 1;
  packet.dispatch.workgroup_size_x = 8;
  packet.dispatch.workgroup_size_y = packet.dispatch.workgroup_size_z = 1;
  packet.dispatch.flags = STRETTO_DISPATCH_UPDATE | kKernelAccount
                                                        << STRETTO_DISPATCH_ACCOUNT_SHIFT;
  packet.dispatch.grid_size_x = work_groups * 8;
  packet.dispatch.grid_size_y = packet.dispatch.grid_size_z = 1;
  packet.dispatch.kernel_object = kDescriptor;
  packet.dispatch.kernarg_address = kOwn + 0x400000;
  return packet;
}

inline stretto_packet_t vendor(stretto_operation_t operation, uint32_t flags = 0) {
  stretto_packet_t packet{};
  packet.vendor.header = STRETTO_PACKET_VENDOR;
  packet.vendor.operation = static_cast<uint16_t>(operation);
  packet.vendor.flags = flags;
  return packet;
}

inline stretto_packet_t priority(uint32_t level) {
  stretto_packet_t packet = vendor(STRETTO_OP_PRIORITY);
  packet.vendor.priority.priority = level;
  return packet;
}

inline stretto_packet_t stops(stretto_operation_t operation, uint32_t queue) {
  stretto_packet_t packet = vendor(operation);
  packet.vendor.preempt.queue = queue;
  return packet;
}

inline stretto_packet_t pipeline(uint32_t members) {
  stretto_packet_t packet = vendor(STRETTO_OP_PIPELINE);
  packet.vendor.pipeline.members = members;
  return packet;
}

constexpr uint64_t slot_register(uint64_t offset, unsigned slot) {
  return STRETTO_GRID_SCHEDULER_BASE + offset + slot * 0x40;
}

// What slot_state says of a kernel that left the units with `undispatched` work-groups not placed.
inline void stopped(Firmware& f, unsigned slot, uint64_t undispatched) {
  f.device.word[slot_register(GRID_SCHEDULER_SLOT_STATE_OFFSET, slot)] =
      GRID_SCHEDULER_SLOT_STATE_STATE_DONE | GRID_SCHEDULER_SLOT_STATE_PREEMPTED_MASK |
      undispatched << GRID_SCHEDULER_SLOT_STATE_UNDISPATCHED_SHIFT;
  f.kernel_ends(slot);
  f.device.word[slot_register(GRID_SCHEDULER_SLOT_STATE_OFFSET, slot)] = 0;
}

inline constexpr uint64_t kL2Command = STRETTO_GPU_BASE + GPU_L2_COMMAND_OFFSET;
inline constexpr uint8_t kFillAccount = 11, kCopyAccount = 12;

inline stretto_packet_t fill(uint64_t bytes) {
  stretto_packet_t packet = vendor(STRETTO_OP_FILL);
  packet.vendor.fill = {kOwn + kOutput, bytes, 0, kFillAccount, {}, {}};
  return packet;
}

inline stretto_packet_t copy(uint64_t destination, uint64_t source, uint64_t bytes) {
  stretto_packet_t packet = vendor(STRETTO_OP_COPY);
  packet.vendor.copy = {source, destination, bytes, kCopyAccount, {}, {}};
  return packet;
}

inline stretto_packet_t with_scopes(stretto_packet_t packet, unsigned acquire, unsigned release) {
  packet.header = static_cast<uint16_t>(packet.header | STRETTO_PACKET_SCOPES(acquire, release));
  return packet;
}

inline stretto_output_config_t output() {
  stretto_output_config_t o{};
  o.base = kOwn + kOutput;
  o.m = 640;
  o.n = 300;
  o.pitch = kPitch;
  o.tile_m = o.tile_n = 128;
  o.wavefronts = 8;
  o.updates = 2;
  o.element = kFp16;
  o.account = kSendAccount;
  return o;
}

inline stretto_map_t tiles(uint32_t first, uint32_t count) {
  stretto_map_t map{};
  map.first_tile = first;
  map.tile_count = count;
  map.peer_base = kPeer + kOutput;
  map.updates = 2;
  map.allocation = STRETTO_ALLOCATION_UNCACHED;
  return map;
}

inline void configure(Firmware& f, uint32_t work_groups = 0) {
  const stretto_spill_table_t spill = {kOwn + 0x100000, 15 * 64, {}};
  stretto_output_config_t o = output();
  o.work_groups = work_groups;
  REQUIRE(trigger_service_spill_table(&f.trigger, &spill) == STRETTO_OK);
  REQUIRE(trigger_service_output(&f.trigger, &o) == STRETTO_OK);
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_SW_FIRMWARE_BENCH_H_
