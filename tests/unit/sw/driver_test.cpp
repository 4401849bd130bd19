// SPDX-License-Identifier: Apache-2.0
// Question: does the driver keep the queue protocol (header last, doorbell after it, no packet
// overwritten before it was taken), give out memory as planned, and bring errors back? State space:
// ring position x completion; every refusal once.
#include <catch2/catch.hpp>

#include <memory>
#include <string>

#include "sw/driver/stretto_driver.h"
#include "tests/unit/sw/fake_gpu_host.h"

using stretto::test::FakeGpuHost;

namespace {

constexpr uint64_t kBegin = STRETTO_SYSTEM_BYTES;
constexpr uint32_t kFillAccount = 11, kCopyAccount = 12;

stretto_client_options_t options() {
  return {0, 2, 2, kBegin, kBegin + (1 << 20), {100, 10, 1, 1000, 500}, 0, 0, 0, 0, 0, 0};
}

struct Client {
  FakeGpuHost host;
  stretto_client_t* client = nullptr;
  const stretto_api_t* api = nullptr;
  stretto_stream_t* stream = nullptr;

  explicit Client(const stretto_client_options_t& o = options()) {
    const stretto_host_ops_t ops = host.ops();
    client = stretto_client_create(&o, &ops);
    REQUIRE(client != nullptr);
    api = client->api;
    REQUIRE(api->stream_create(client, &stream) == STRETTO_OK);
  }
  ~Client() { stretto_client_destroy(client); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
};

stretto_kernel_t kernel() {
  stretto_kernel_t k{};
  k.object = stretto_gpu_address(0, 0x180000);
  k.descriptor.magic = STRETTO_KERNEL_MAGIC;
  k.descriptor.wavefronts = 8;
  k.descriptor.kernarg_bytes = 16;
  return k;
}

}  // namespace

TEST_CASE(
    "a packet is written body first, header last, then the doorbell of its queue rings with its "
    "index") {
  Client c;
  REQUIRE(c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, 7, kFillAccount) ==
          STRETTO_OK);
  const uint64_t slot = stretto_gpu_address(0, STRETTO_QUEUE_OFFSET(2));
  REQUIRE(c.host.writes.size() == 3);
  CHECK(c.host.writes[0] == std::make_pair(slot + 4, uint64_t{60}));
  CHECK(c.host.writes[1] == std::make_pair(slot, uint64_t{4}));
  CHECK(c.host.writes[2] ==
        std::make_pair(stretto_gpu_address(0, STRETTO_DOORBELL_APERTURE + 16), uint64_t{8}));
  REQUIRE(c.host.packets.size() == 1);
  CHECK(c.host.packets[0].vendor.operation == STRETTO_OP_FILL);
  CHECK(c.host.packets[0].vendor.fill.bytes == 64);
  CHECK(c.host.packets[0].vendor.fill.account == kFillAccount);
  CHECK(c.host.packets[0].vendor.fill.pattern == 7);
}

TEST_CASE("a full ring blocks until the firmware has taken a packet") {
  Client c;
  c.host.completes = false;
  for (unsigned i = 0; i < STRETTO_QUEUE_PACKETS; ++i) {
    REQUIRE(c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, 0,
                        kFillAccount) == STRETTO_OK);
  }
  CHECK_THROWS_WITH(
      c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, 0, kFillAccount),
      "the driver would wait for ever");
  c.host.words[FakeGpuHost::host(STRETTO_READ_INDEX_OFFSET(0, 2))] = 1;
  CHECK(c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, 0, kFillAccount) ==
        STRETTO_OK);
}

TEST_CASE("a signal is not used again before its packet was seen complete") {
  Client c;
  for (unsigned i = 0; i < STRETTO_SIGNALS_PER_QUEUE; ++i) {
    REQUIRE(c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, 0,
                        kFillAccount) == STRETTO_OK);
  }
  const uint64_t waits = c.host.waits;
  REQUIRE(c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, 0, kFillAccount) ==
          STRETTO_OK);
  CHECK(c.host.waits > waits);
  CHECK(c.host.packets.front().vendor.completion_signal ==
        c.host.packets.back().vendor.completion_signal);
}

TEST_CASE("an error comes back although what follows it never completes") {
  Client c;
  c.host.status = [](const stretto_packet_t& p) {
    return p.vendor.fill.pattern == 1 ? int64_t{STRETTO_ERROR_RESOURCES}
                                      : int64_t{STRETTO_SIGNAL_PENDING};
  };
  REQUIRE(c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, 1, kFillAccount) ==
          STRETTO_OK);
  REQUIRE(c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, 2, kFillAccount) ==
          STRETTO_OK);
  CHECK(c.api->stream_synchronize(c.client, c.stream) == STRETTO_ERROR_RESOURCES);
}

TEST_CASE("the first error of a stream comes back once, with a line that names the packet") {
  Client c;
  c.host.status = [](const stretto_packet_t& p) {
    return p.vendor.fill.pattern == 1 ? int64_t{STRETTO_ERROR_UNMAPPED} : 0;
  };
  for (const uint64_t pattern : {0, 1, 0}) {
    REQUIRE(c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, pattern,
                        kFillAccount) == STRETTO_OK);
  }
  CHECK(c.api->stream_synchronize(c.client, c.stream) == STRETTO_ERROR_UNMAPPED);
  CHECK(std::string(c.api->last_error(c.client)) ==
        "gpu 0 queue 2 packet 1: address or tile outside of what is mapped or configured");
  CHECK(c.api->stream_synchronize(c.client, c.stream) == STRETTO_OK);
}

TEST_CASE("a launch names the resource of which a compute unit has too little") {
  stretto_client_options_t unit = options();
  unit.unit_registers_bytes = 4096;
  unit.unit_lds_bytes = 1024;
  unit.unit_wavefronts = 8;
  Client c(unit);
  const auto refusal = [&](auto change) {
    stretto_kernel_t k = kernel();
    k.descriptor.kernarg_bytes = 0;
    change(k.descriptor);
    stretto_launch_t launch{};
    launch.kernel = &k;
    launch.work_groups = 1;
    const stretto_status_t status = c.api->launch(c.client, c.stream, &launch);
    return status == STRETTO_ERROR_RESOURCES ? std::string(c.api->last_error(c.client)) : "";
  };
  const std::string begin = "launch: kernel needs more than a compute unit has: ";
  CHECK(refusal([](auto&) {}).empty());
  CHECK(refusal([](auto& d) { d.registers_bytes = 4097; }) ==
        begin + "4097 bytes of registers, it has 4096");
  CHECK(refusal([](auto& d) { d.lds_bytes = 2048; }) == begin + "2048 bytes of LDS, it has 1024");
  CHECK(refusal([](auto& d) { d.wavefronts = 9; }) == begin + "9 wavefronts, it has 8");
}

TEST_CASE(
    "the limit of pinned ranges is held against the L2 of the machine, windows against memory") {
  stretto_client_options_t l2 = options();
  l2.l2_way_bytes = 1 << 20;
  l2.l2_persist_bytes = 12 << 20;
  Client c(l2);
  CHECK(c.api->set_persisting_l2_cache_size(c.client, c.stream, (12 << 20) + 1) ==
        STRETTO_ERROR_ARGUMENT);
  CHECK(std::string(c.api->last_error(c.client)) ==
        "persisting L2 cache size: 12582913 bytes; 0, or 1048576 to 12582912");
  uint64_t memory = 0;
  REQUIRE(c.api->allocate(c.client, c.stream, 4096, 4096, STRETTO_ALLOCATION_CACHED, &memory) ==
          STRETTO_OK);
  for (const auto& [base, bytes] : {std::pair(memory + 64, 128), std::pair(memory, 100),
                                    std::pair(memory, 8192), std::pair(memory, 0)}) {
    CHECK(c.api->access_policy_window(c.client, c.stream, base, bytes, 1) ==
          STRETTO_ERROR_ARGUMENT);
  }
  c.host.packets.clear();
  REQUIRE(c.api->set_persisting_l2_cache_size(c.client, c.stream, 3 << 20) == STRETTO_OK);
  REQUIRE(c.api->access_policy_window(c.client, c.stream, memory, 4096, 1) == STRETTO_OK);
  REQUIRE(c.api->access_policy_window(c.client, c.stream, memory, 4096, 0) == STRETTO_OK);
  REQUIRE(c.api->reset_persisting_l2_cache(c.client, c.stream) == STRETTO_OK);
  REQUIRE(c.host.packets.size() == 4);
  for (unsigned i = 0; i < 4; ++i) {
    const stretto_vendor_packet_t& packet = c.host.packets[i].vendor;
    CHECK(packet.operation == STRETTO_OP_L2_PERSIST);
    CHECK(packet.persist.action == i);  // Limit, pin, unpin, reset.
    CHECK((packet.header & STRETTO_PACKET_BARRIER) != 0);
  }
  CHECK(c.host.packets[0].vendor.persist.bytes == 3 << 20);
  CHECK(c.host.packets[1].vendor.persist.base == memory);
}

TEST_CASE("memory is given out in ascending order, aligned, and mapped with its class") {
  Client c;
  uint64_t first = 0, second = 0;
  REQUIRE(c.api->allocate(c.client, c.stream, 100, 4096, STRETTO_ALLOCATION_UNCACHED, &first) ==
          STRETTO_OK);
  REQUIRE(c.api->allocate(c.client, c.stream, 100, 4096, STRETTO_ALLOCATION_CACHED, &second) ==
          STRETTO_OK);
  CHECK(first == stretto_gpu_address(0, kBegin + STRETTO_ARGUMENT_BUFFER_BYTES));
  CHECK(second == first + 4096);
  REQUIRE(c.host.packets.size() == 2);
  CHECK(c.host.packets[0].vendor.operation == STRETTO_OP_LOCAL_MAP);
  CHECK(c.host.packets[0].vendor.map.base == first);
  CHECK(c.host.packets[0].vendor.map.row_bytes == 100);
  CHECK(c.host.packets[0].vendor.map.allocation == STRETTO_ALLOCATION_UNCACHED);
}

TEST_CASE("shared memory comes and is mapped in whole lines") {
  Client c;
  uint64_t before = 0, shared = 0;
  REQUIRE(c.api->allocate(c.client, c.stream, 64, 64, STRETTO_ALLOCATION_CACHED, &before) ==
          STRETTO_OK);
  REQUIRE(c.api->allocate(c.client, c.stream, 130, 64, STRETTO_ALLOCATION_SHARED, &shared) ==
          STRETTO_OK);
  CHECK(shared % 128 == 0);
  CHECK(c.host.packets[1].vendor.map.row_bytes == 256);
  CHECK(c.host.packets[1].vendor.map.allocation == STRETTO_ALLOCATION_SHARED);
  CHECK(c.api->map(c.client, c.stream, shared, 128, STRETTO_ALLOCATION_SHARED) == STRETTO_OK);
  CHECK(c.api->map(c.client, c.stream, shared, 64, STRETTO_ALLOCATION_SHARED) ==
        STRETTO_ERROR_ARGUMENT);
  CHECK(c.api->allocate(c.client, c.stream, 64, 64, STRETTO_ALLOCATION_SHARED + 1, &before) ==
        STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("an allocation is released and mapped again, nothing else") {
  Client c;
  uint64_t address = 0;
  REQUIRE(c.api->allocate(c.client, c.stream, 4096, 4096, STRETTO_ALLOCATION_UNCACHED, &address) ==
          STRETTO_OK);
  CHECK(c.api->release(c.client, c.stream, address) == STRETTO_OK);
  CHECK(c.api->map(c.client, c.stream, address, 512, STRETTO_ALLOCATION_CACHED) == STRETTO_OK);
  REQUIRE(c.host.packets.size() == 3);
  CHECK(c.host.packets[1].vendor.operation == STRETTO_OP_UNMAP);
  CHECK((c.host.packets[1].header & STRETTO_PACKET_BARRIER) != 0);
  CHECK(c.host.packets[1].vendor.map.base == address);
  CHECK(c.host.packets[2].vendor.operation == STRETTO_OP_LOCAL_MAP);
  CHECK(c.host.packets[2].vendor.map.row_bytes == 512);
  CHECK(c.api->release(c.client, c.stream, address + 4096) == STRETTO_ERROR_UNMAPPED);
  CHECK(c.api->map(c.client, c.stream, address, 8192, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.api->map(c.client, c.stream, address, 0, 0) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("what cannot be allocated or copied is refused with a reason") {
  Client c;
  uint64_t address = 0;
  CHECK(c.api->allocate(c.client, c.stream, 1 << 20, 64, 0, &address) == STRETTO_ERROR_TABLE_FULL);
  CHECK_THAT(std::string(c.api->last_error(c.client)),
             Catch::Contains("1048576 bytes wanted, 983040 left"));
  CHECK(c.api->allocate(c.client, c.stream, 0, 64, 0, &address) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.api->allocate(c.client, c.stream, 64, 96, 0, &address) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.api->allocate(c.client, c.stream, 64, 64, 4, &address) == STRETTO_ERROR_ARGUMENT);
  const uint64_t word = 0;
  CHECK(c.api->copy_to_device(c.client, stretto_gpu_address(0, 0), &word, 8) ==
        STRETTO_ERROR_UNMAPPED);
  CHECK(c.api->copy_to_device(c.client, stretto_gpu_address(1, kBegin), &word, 8) ==
        STRETTO_ERROR_UNMAPPED);
  CHECK(c.api->copy_host_memory(c.client, stretto_gpu_address(0, 0), c.host.host(0), 8) ==
        STRETTO_ERROR_UNMAPPED);
  CHECK(c.host.packets.empty());
}

TEST_CASE("bytes of host memory are written to the device without a copy of them") {
  Client c;
  uint64_t address = 0;
  REQUIRE(c.api->allocate(c.client, c.stream, 8192, 64, 0, &address) == STRETTO_OK);
  REQUIRE(c.api->copy_host_memory(c.client, address, c.host.host(0x100), 8192) == STRETTO_OK);
  CHECK(c.host.from == std::vector<std::pair<uint64_t, uint64_t>>{{c.host.host(0x100), 4096},
                                                                  {c.host.host(0x1100), 4096}});
}

TEST_CASE("a launch writes its arguments and one HSA dispatch packet") {
  Client c;
  const stretto_kernel_t k = kernel();
  const uint64_t arguments[2] = {11, 22};
  stretto_launch_t launch{};
  launch.kernel = &k;
  launch.arguments = arguments;
  launch.argument_bytes = 16;
  launch.work_groups = 2176;
  launch.stagger = 272;
  launch.batch = 17;
  launch.account = 9;
  launch.update = 1;
  launch.after_all_earlier = 1;
  REQUIRE(c.api->launch(c.client, c.stream, &launch) == STRETTO_OK);
  const stretto_dispatch_packet_t& d = c.host.packets.at(0).dispatch;
  CHECK((d.header & 0xFF) == STRETTO_PACKET_KERNEL_DISPATCH);
  CHECK((d.header & STRETTO_PACKET_BARRIER) != 0);
  CHECK(d.workgroup_size_x == 8);
  CHECK(d.grid_size_x == 2176 * 8);
  CHECK(d.kernel_object == k.object);
  CHECK(d.flags == (STRETTO_DISPATCH_UPDATE | 9 << STRETTO_DISPATCH_ACCOUNT_SHIFT));
  CHECK(STRETTO_ORDER_STAGGER(d.order) == 272);
  CHECK(STRETTO_ORDER_BATCH(d.order) == 17);
  CHECK(c.host.read64(d.kernarg_address) == 11);
  CHECK(c.host.read64(d.kernarg_address + 8) == 22);
}

TEST_CASE("a kernel without arguments is launched by its packet alone") {
  Client c;
  stretto_kernel_t none = kernel(), all = kernel();
  none.descriptor.kernarg_bytes = 0;
  all.descriptor.kernarg_bytes = STRETTO_ARGUMENT_BUFFER_BYTES;
  const std::vector<uint8_t> arguments(STRETTO_ARGUMENT_BUFFER_BYTES);
  stretto_launch_t filling{}, launch{};
  filling.kernel = &all;
  filling.arguments = arguments.data();
  filling.argument_bytes = STRETTO_ARGUMENT_BUFFER_BYTES;
  filling.work_groups = 1;
  REQUIRE(c.api->launch(c.client, c.stream, &filling) == STRETTO_OK);
  const size_t before = c.host.writes.size();
  launch.kernel = &none;
  launch.work_groups = 3;
  REQUIRE(c.api->launch(c.client, c.stream, &launch) == STRETTO_OK);
  CHECK(c.host.writes.size() == before + 3);  // Body, header, doorbell.
  for (size_t i = before; i < c.host.writes.size(); ++i) CHECK(c.host.writes[i].second != 0);
}

TEST_CASE("a launch of three dimensions, or of ids above 65,535, says so in its packet") {
  Client c;
  const stretto_kernel_t k = kernel();
  const uint64_t arguments[2] = {11, 22};
  stretto_launch_t launch{};
  launch.kernel = &k;
  launch.arguments = arguments;
  launch.argument_bytes = 16;
  launch.work_groups = 1000;
  launch.grid_y = 300;
  launch.grid_z = 2;
  launch.first = 500'000;
  launch.count = 70'000;
  REQUIRE(c.api->launch(c.client, c.stream, &launch) == STRETTO_OK);
  const stretto_dispatch_packet_t& d = c.host.packets.at(0).dispatch;
  CHECK(d.setup == 3);
  CHECK(d.grid_size_x == 1000 * 8);
  CHECK(d.grid_size_y == 300);
  CHECK(d.grid_size_z == 2);
  CHECK((d.flags & STRETTO_DISPATCH_RANGE) != 0);
  CHECK(d.order == STRETTO_RANGE(500'000u, 70'000u));
  launch.batch = 1;
  CHECK(c.api->launch(c.client, c.stream, &launch) == STRETTO_ERROR_ARGUMENT);
  launch.batch = 0;
  launch.count = 100'001;
  CHECK(c.api->launch(c.client, c.stream, &launch) == STRETTO_ERROR_ARGUMENT);
  launch.first = launch.count = 0;
  launch.grid_z = 3580;  // 1000 x 300 x 3580 fit, but with updates only 65,536.
  CHECK(c.api->launch(c.client, c.stream, &launch) == STRETTO_OK);
  launch.update = 1;
  CHECK(c.api->launch(c.client, c.stream, &launch) == STRETTO_ERROR_ARGUMENT);
  launch.update = 0;
  launch.grid_z = 65'536;
  CHECK(c.api->launch(c.client, c.stream, &launch) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("a kernel behind a kernel stays at device scope until something else needs its output") {
  Client c;
  const stretto_kernel_t k = kernel();
  const uint64_t arguments[2] = {11, 22};
  const auto launch = [&](int device_scope) {
    stretto_launch_t what{};
    what.kernel = &k;
    what.arguments = arguments;
    what.argument_bytes = 16;
    what.work_groups = 1;
    what.device_scope = device_scope;
    what.after_all_earlier = 1;
    REQUIRE(c.api->launch(c.client, c.stream, &what) == STRETTO_OK);
    const unsigned header = c.host.packets.back().header;
    return std::pair{STRETTO_PACKET_ACQUIRE(header), STRETTO_PACKET_RELEASE(header)};
  };
  const auto kDevice = STRETTO_SCOPE_DEVICE, kSystem = STRETTO_SCOPE_SYSTEM;
  CHECK(launch(0) == std::pair{kSystem, kSystem});
  CHECK(launch(1) == std::pair{kDevice, kDevice});
  CHECK(launch(1) == std::pair{kDevice, kDevice});
  // The host writes: the next kernel must see it.
  uint64_t memory = 0;
  REQUIRE(c.api->allocate(c.client, c.stream, 4096, 4096, STRETTO_ALLOCATION_CACHED, &memory) ==
          STRETTO_OK);
  // The map is no kernel: a barrier releases what the kernels before it left.
  const stretto_packet_t& barrier = c.host.packets.at(c.host.packets.size() - 2);
  CHECK((barrier.header & 0xFF) == STRETTO_PACKET_BARRIER_AND);
  CHECK((barrier.header & STRETTO_PACKET_BARRIER) != 0);
  CHECK(STRETTO_PACKET_RELEASE(barrier.header) == kSystem);
  CHECK(launch(1) == std::pair{kSystem, kDevice});
  REQUIRE(c.api->copy_to_device(c.client, memory, arguments, 16) == STRETTO_OK);
  CHECK(launch(1) == std::pair{kSystem, kDevice});
  CHECK(launch(1) == std::pair{kDevice, kDevice});
  // Who waits is told of memory, once.
  const size_t before = c.host.packets.size();
  REQUIRE(c.api->stream_synchronize(c.client, c.stream) == STRETTO_OK);
  REQUIRE(c.host.packets.size() == before + 1);
  CHECK(STRETTO_PACKET_RELEASE(c.host.packets.back().header) == kSystem);
  REQUIRE(c.api->stream_synchronize(c.client, c.stream) == STRETTO_OK);
  CHECK(c.host.packets.size() == before + 1);
}

TEST_CASE("a pipeline is a packet that announces its kernels, and they follow") {
  Client c;
  const stretto_kernel_t k = kernel();
  const uint64_t arguments[2] = {11, 22};
  std::vector<stretto_launch_t> members(STRETTO_PIPELINE_MEMBERS + 1);
  for (stretto_launch_t& member : members) {
    member.kernel = &k;
    member.arguments = arguments;
    member.argument_bytes = 16;
    member.work_groups = 3;
    member.account = 9;
  }
  const auto launch = [&](uint32_t count) {
    return c.api->launch_pipeline(c.client, c.stream, members.data(), count);
  };
  CHECK(launch(0) == STRETTO_ERROR_ARGUMENT);
  CHECK(launch(STRETTO_PIPELINE_MEMBERS + 1) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.api->last_error(c.client) == std::string("pipeline: 33 kernels (1..32)"));
  members[1].batch = 1;
  CHECK(launch(2) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.api->last_error(c.client) == std::string("pipeline: kernel 1 waits for gates"));
  CHECK(c.host.packets.empty());
  members[1].batch = 0;
  members[0].after_all_earlier = 1;
  REQUIRE(launch(STRETTO_PIPELINE_MEMBERS) == STRETTO_OK);
  REQUIRE(c.host.packets.size() == 1 + STRETTO_PIPELINE_MEMBERS);
  CHECK(c.host.packets[0].vendor.operation == STRETTO_OP_PIPELINE);
  CHECK(c.host.packets[0].vendor.pipeline.members == STRETTO_PIPELINE_MEMBERS);
  CHECK((c.host.packets[0].header & STRETTO_PACKET_BARRIER) != 0);
  CHECK((c.host.packets[1].header & 0xFF) == STRETTO_PACKET_KERNEL_DISPATCH);
  CHECK(c.host.packets[STRETTO_PIPELINE_MEMBERS].dispatch.grid_size_x == 3 * 8);
}

TEST_CASE("priorities, preemption and policy are a packet each, of the stream that says so") {
  Client c;
  stretto_stream_t* other = nullptr;
  REQUIRE(c.api->stream_create(c.client, &other) == STRETTO_OK);
  CHECK(c.api->stream_priority(c.client, c.stream, 4) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.api->last_error(c.client) == std::string("stream_priority: 4 (0..3)"));
  CHECK(c.api->preempt(c.client, other, other, 0) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.api->resume(c.client, other, other) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.host.packets.empty());
  const stretto_scheduler_policy_t policy = {1, 0, 1, 0, {}};
  REQUIRE(c.api->stream_priority(c.client, c.stream, 3) == STRETTO_OK);
  REQUIRE(c.api->preempt(c.client, c.stream, other, 1) == STRETTO_OK);
  REQUIRE(c.api->resume(c.client, c.stream, other) == STRETTO_OK);
  REQUIRE(c.api->scheduler_policy(c.client, c.stream, &policy) == STRETTO_OK);
  CHECK(c.host.packets.at(0).vendor.operation == STRETTO_OP_PRIORITY);
  CHECK(c.host.packets[0].vendor.priority.priority == 3);
  CHECK(c.host.packets.at(1).vendor.operation == STRETTO_OP_PREEMPT);
  CHECK(c.host.packets[1].vendor.preempt.queue == 3);  // The client's are 2 and 3.
  CHECK(c.host.packets[1].vendor.preempt.drain == 1);
  CHECK(c.host.packets.at(2).vendor.operation == STRETTO_OP_RESUME);
  CHECK(c.host.packets[2].vendor.preempt.queue == 3);
  CHECK(c.host.packets.at(3).vendor.operation == STRETTO_OP_SCHEDULER_POLICY);
  CHECK(c.host.packets[3].vendor.policy.in_order == 1);
  CHECK(c.host.packets[3].vendor.policy.strict_priority == 1);
}

// A client with a kernel that has run on each of two streams, the second of which never ends.
TEST_CASE("a pipeline whose arguments exceed their room together is refused as a whole") {
  Client c;
  stretto_kernel_t k = kernel();
  k.descriptor.kernarg_bytes = 16384;
  const std::vector<uint8_t> arguments(16384);
  std::vector<stretto_launch_t> members(5);
  for (stretto_launch_t& member : members) {
    member.kernel = &k;
    member.arguments = arguments.data();
    member.argument_bytes = 16384;
    member.work_groups = 1;
  }
  // 64 KiB are four of them, again and again.
  for (unsigned i = 0; i < 2; ++i) {
    CHECK(c.api->launch_pipeline(c.client, c.stream, members.data(), 5) ==
          STRETTO_ERROR_TABLE_FULL);
    CHECK(c.host.packets.empty());
  }
  CHECK(c.api->launch_pipeline(c.client, c.stream, members.data(), 4) == STRETTO_OK);
  CHECK(c.host.packets.size() == 5);
}

struct Preempted : Client {
  Preempted() {
    REQUIRE(api->stream_create(client, &other) == STRETTO_OK);
    host.status = [](const stretto_packet_t& p) {
      const bool mine = p.dispatch.completion_signal <
                        FakeGpuHost::host(STRETTO_SIGNAL_OFFSET(0, 3 * STRETTO_SIGNALS_PER_QUEUE));
      return mine ? int64_t{0} : int64_t{STRETTO_SIGNAL_PENDING};
    };
  }
  stretto_status_t launch(stretto_stream_t* to) {
    const uint64_t arguments[2] = {};
    const stretto_kernel_t k = kernel();
    stretto_launch_t one{};
    one.kernel = &k;
    one.arguments = arguments;
    one.argument_bytes = 16;
    one.work_groups = 1;
    return api->launch(client, to, &one);
  }
  // Of the arguments of the last launch.
  uint64_t place() const {
    return (host.packets.back().dispatch.kernarg_address - client->argument_buffer) / 128;
  }
  stretto_stream_t* other = nullptr;
};

TEST_CASE("arguments go where a kernel has ended, past those of a stream that is preempted") {
  Preempted c;
  REQUIRE(c.launch(c.stream) == STRETTO_OK);
  REQUIRE(c.launch(c.other) == STRETTO_OK);
  REQUIRE(c.api->preempt(c.client, c.stream, c.other, 0) == STRETTO_OK);
  for (unsigned i = 2; i < 512; ++i) REQUIRE(c.launch(c.stream) == STRETTO_OK);
  CHECK(c.place() == 511);
  REQUIRE(c.launch(c.stream) == STRETTO_OK);
  CHECK(c.place() == 0);
  REQUIRE(c.launch(c.stream) == STRETTO_OK);
  CHECK(c.place() == 2);  // 1 is the other's.
  REQUIRE(c.api->resume(c.client, c.stream, c.other) == STRETTO_OK);
}

TEST_CASE("a launch is refused if the queue of its preempted stream is full") {
  Preempted c;
  REQUIRE(c.api->preempt(c.client, c.stream, c.other, 0) == STRETTO_OK);
  c.host.completes = false;  // Nobody takes what waits.
  for (unsigned i = 0; i < STRETTO_QUEUE_PACKETS; ++i) REQUIRE(c.launch(c.other) == STRETTO_OK);
  CHECK(c.launch(c.other) == STRETTO_ERROR_TABLE_FULL);
  CHECK(std::string(c.api->last_error(c.client))
            .find("64 packets wait, and its stream is preempted") != std::string::npos);
}

TEST_CASE("a launch is refused if all arguments are those of preempted streams") {
  Preempted c;
  c.host.status = [](const stretto_packet_t& p) {
    return (p.header & 0xFF) == STRETTO_PACKET_KERNEL_DISPATCH ? int64_t{STRETTO_SIGNAL_PENDING}
                                                               : int64_t{0};
  };
  const stretto_kernel_t k = [] {
    stretto_kernel_t large = kernel();
    large.descriptor.kernarg_bytes = 32768;
    return large;
  }();
  std::vector<uint8_t> arguments(32768);
  stretto_launch_t one{};
  one.kernel = &k;
  one.arguments = arguments.data();
  one.argument_bytes = 32768;
  one.work_groups = 1;
  for (unsigned i = 0; i < 2; ++i) REQUIRE(c.api->launch(c.client, c.other, &one) == STRETTO_OK);
  REQUIRE(c.api->preempt(c.client, c.stream, c.other, 0) == STRETTO_OK);
  CHECK(c.api->launch(c.client, c.stream, &one) == STRETTO_ERROR_TABLE_FULL);
  CHECK(std::string(c.api->last_error(c.client)) ==
        "launch: no room for arguments: all of it is of this pipeline or of preempted streams");
}

TEST_CASE("a launch says of which type its kernel is") {
  Client c;
  const stretto_kernel_t k = kernel();
  const uint64_t arguments[2] = {};
  stretto_launch_t launch{};
  launch.kernel = &k;
  launch.arguments = arguments;
  launch.argument_bytes = 16;
  launch.work_groups = 1;
  launch.type = STRETTO_DISPATCH_TYPE(STRETTO_KERNEL_TENSOR);
  REQUIRE(c.api->launch(c.client, c.stream, &launch) == STRETTO_OK);
  CHECK(STRETTO_DISPATCH_TYPE_OF(c.host.packets[0].dispatch.flags) == 2);
  launch.type = 3;
  CHECK(c.api->launch(c.client, c.stream, &launch) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("an account that a machine does not have is refused") {
  Client c;
  const uint64_t own = stretto_gpu_address(0, 0x200000);
  const stretto_kernel_t k = kernel();
  const uint64_t arguments[2] = {};
  stretto_launch_t launch{};
  launch.kernel = &k;
  launch.arguments = arguments;
  launch.argument_bytes = 16;
  launch.work_groups = 1;
  launch.account = 16;
  CHECK(c.api->launch(c.client, c.stream, &launch) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.api->last_error(c.client) == std::string("launch: account 16 (0..15)"));
  CHECK(c.api->fill(c.client, c.stream, own, 64, 0, 16) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.api->last_error(c.client) == std::string("fill: account 16 (0..15)"));
  CHECK(c.api->copy(c.client, c.stream, own, own + 64, 64, 16) == STRETTO_ERROR_ARGUMENT);
  CHECK(c.api->last_error(c.client) == std::string("copy: account 16 (0..15)"));
  CHECK(c.host.packets.empty());
}

TEST_CASE("arguments of a running kernel are not overwritten") {
  Client c;
  const stretto_kernel_t k = kernel();
  const uint64_t arguments[2] = {0, 0};
  stretto_launch_t launch{};
  launch.kernel = &k;
  launch.arguments = arguments;
  launch.argument_bytes = 16;
  launch.work_groups = 1;
  const unsigned places = STRETTO_ARGUMENT_BUFFER_BYTES / 128;
  for (unsigned i = 0; i < places; ++i)
    REQUIRE(c.api->launch(c.client, c.stream, &launch) == STRETTO_OK);
  CHECK(c.host.packets.back().dispatch.kernarg_address ==
        c.host.packets.front().dispatch.kernarg_address + (places - 1) * 128);
  const uint64_t waits = c.host.waits;
  REQUIRE(c.api->launch(c.client, c.stream, &launch) == STRETTO_OK);
  CHECK(c.host.waits > waits);
  CHECK(c.host.packets.back().dispatch.kernarg_address ==
        c.host.packets.front().dispatch.kernarg_address);
}

TEST_CASE("launches out of range are refused before anything is written") {
  Client c;
  const stretto_kernel_t k = kernel();
  const uint64_t arguments[2] = {0, 0};
  const auto status = [&](auto change) {
    stretto_launch_t launch{};
    launch.kernel = &k;
    launch.arguments = arguments;
    launch.argument_bytes = 16;
    launch.work_groups = 10;
    change(launch);
    return c.api->launch(c.client, c.stream, &launch);
  };
  CHECK(status([](auto& l) { l.work_groups = 0; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& l) { l.work_groups = 65537, l.update = 1; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& l) { l.work_groups = 1u << 28, l.grid_y = 8; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& l) { l.argument_bytes = 8; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& l) { l.first = 5, l.count = 6; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& l) { l.stagger = 10; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& l) { l.batch = 32768; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(status([](auto& l) { l.work_groups = 1025, l.batch = 1; }) == STRETTO_ERROR_ARGUMENT);
  CHECK_THAT(std::string(c.api->last_error(c.client)),
             Catch::Contains("1025 work-groups, 1 a gate, and a GPU has 1024 gates"));
  CHECK(c.host.writes.empty());
}

TEST_CASE("an event waits for what was before it and not for what came later") {
  Client c;
  stretto_event_t event;
  REQUIRE(c.api->event_record(c.client, c.stream, &event) == STRETTO_OK);
  CHECK((c.host.packets.back().header & 0xFF) == STRETTO_PACKET_BARRIER_AND);
  c.host.completes = false;
  REQUIRE(c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, 0, kFillAccount) ==
          STRETTO_OK);
  CHECK(c.api->event_synchronize(c.client, &event) == STRETTO_OK);
  event.packet = 99;
  CHECK(c.api->event_synchronize(c.client, &event) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("an event of the last packet is asked for without a packet or a wait") {
  Client c;
  stretto_event_t event;
  stretto_stream_t* idle = nullptr;
  REQUIRE(c.api->stream_create(c.client, &idle) == STRETTO_OK);
  CHECK(c.api->event_of_last(c.client, idle, &event) == STRETTO_ERROR_STATE);
  c.host.completes = false;
  REQUIRE(c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, 0, kFillAccount) ==
          STRETTO_OK);
  const size_t packets = c.host.packets.size();
  REQUIRE(c.api->event_of_last(c.client, c.stream, &event) == STRETTO_OK);
  const uint64_t waits = c.host.waits;
  CHECK(c.api->event_query(c.client, &event) == 0);
  const stretto_host_word_t word = c.api->event_word(c.client, &event);
  CHECK(word.address == c.host.packets.back().vendor.completion_signal);
  CHECK(word.condition == STRETTO_WAIT_NOT_EQUAL);
  CHECK(word.value == STRETTO_SIGNAL_PENDING);
  c.host.words[word.address] = static_cast<uint64_t>(int64_t{STRETTO_ERROR_FAULT});
  CHECK(c.api->event_query(c.client, &event) == 1);
  CHECK(c.host.packets.size() == packets);
  CHECK(c.host.waits == waits);
  CHECK(c.api->stream_synchronize(c.client, c.stream) == STRETTO_ERROR_FAULT);
}

TEST_CASE("an event with a time is one packet behind all before it") {
  Client c;
  const uint64_t time = (uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT) + 0x7000,
                 word = stretto_gpu_address(0, 0x200000);
  stretto_event_t event;
  REQUIRE(c.api->event_record_time(c.client, c.stream, time, word, &event) == STRETTO_OK);
  REQUIRE(c.host.packets.size() == 1);
  const stretto_vendor_packet_t& packet = c.host.packets[0].vendor;
  CHECK(packet.operation == STRETTO_OP_SIGNAL);
  CHECK((packet.header & STRETTO_PACKET_BARRIER) != 0);
  CHECK(packet.signal.time == time);
  CHECK(packet.signal.address == word);
  CHECK(packet.signal.value == 0);
  CHECK(c.api->event_query(c.client, &event) == 1);
}

TEST_CASE("a client has the queues it was given and no more") {
  Client c;
  stretto_stream_t* another = nullptr;
  CHECK(c.api->stream_create(c.client, &another) == STRETTO_OK);
  CHECK(c.api->stream_create(c.client, &another) == STRETTO_ERROR_TABLE_FULL);
}

TEST_CASE("clients with impossible options are not created") {
  FakeGpuHost host;
  const stretto_host_ops_t ops = host.ops();
  const auto created = [&](auto change) {
    stretto_client_options_t o = options();
    change(o);
    stretto_client_t* client = stretto_client_create(&o, &ops);
    const bool yes = client != nullptr;
    stretto_client_destroy(client);
    return yes;
  };
  CHECK(created([](auto&) {}));
  CHECK_FALSE(created([](auto& o) { o.gpu = 64; }));
  CHECK_FALSE(created([](auto& o) { o.queue_count = 0; }));
  CHECK_FALSE(created([](auto& o) { o.first_queue = 15; }));
  CHECK_FALSE(created([](auto& o) { o.memory_begin = 0; }));
  CHECK_FALSE(created([](auto& o) { o.memory_end = o.memory_begin + 100; }));
}

TEST_CASE("every call charges the host's CPU") {
  Client c;
  const uint64_t before = c.host.cpu_ns;
  REQUIRE(c.api->fill(c.client, c.stream, stretto_gpu_address(0, 0x200000), 64, 0, kFillAccount) ==
          STRETTO_OK);
  CHECK(c.host.cpu_ns == before + 110);
}

TEST_CASE("copies, signals and waits are packets with the barrier bit") {
  Client c;
  const uint64_t own = stretto_gpu_address(0, 0x200000), peer = stretto_gpu_address(1, 0x300000);
  const uint64_t before = c.host.cpu_ns;
  REQUIRE(c.api->copy(c.client, c.stream, peer + 1, own + 2, 3, kCopyAccount) == STRETTO_OK);
  CHECK(c.host.cpu_ns - before == 100 + 500 + 10);
  REQUIRE(c.api->signal(c.client, c.stream, peer, 9) == STRETTO_OK);
  REQUIRE(c.api->stream_wait(c.client, c.stream, own, 250) == STRETTO_OK);
  REQUIRE(c.host.packets.size() == 3);
  for (const stretto_packet_t& packet : c.host.packets)
    CHECK((packet.header & STRETTO_PACKET_BARRIER) != 0);
  CHECK(c.host.packets[0].vendor.operation == STRETTO_OP_COPY);
  CHECK(c.host.packets[0].vendor.copy.destination == peer + 1);
  CHECK(c.host.packets[0].vendor.copy.source == own + 2);
  CHECK(c.host.packets[0].vendor.copy.bytes == 3);
  CHECK(c.host.packets[0].vendor.copy.account == kCopyAccount);
  CHECK(c.host.packets[1].vendor.operation == STRETTO_OP_SIGNAL);
  CHECK(c.host.packets[1].vendor.signal.address == peer);
  CHECK(c.host.packets[1].vendor.signal.value == 9);
  CHECK(c.host.packets[2].barrier.dep_signal[0] == own);
  CHECK(c.host.packets[2].barrier.poll_ns == 250);
}
