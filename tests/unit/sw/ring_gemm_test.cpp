// SPDX-License-Identifier: Apache-2.0
// Question: does the host program of a rank lay memory out as it planned and map the chunks as T3
// Fig 11 prescribes? State space: modes x position in the ring; shapes whole and ragged. Expected
// maps: the paper's example of four GPUs.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sw/apps/overlap/ring_gemm_rs.h"
#include "sw/include/regs/mca_bank.h"
#include "sw/include/regs/mca_regs.h"
#include "sw/kernels/kernel_arguments.h"
#include "tests/unit/sw/fake_gpu_host.h"

using stretto::test::FakeGpuHost;

namespace {

ring_gemm_parameters_t parameters(ring_gemm_mode_t mode, uint32_t rank = 0, uint32_t ranks = 4) {
  ring_gemm_parameters_t p{};
  p.mode = mode;
  p.rank = rank;
  p.ranks = ranks;
  p.host_ranks = 1;
  p.m = 640;
  p.n = 300;
  p.k = 100;
  p.a_k_contiguous = 1;
  p.b_k_contiguous = 1;
  p.tile_m = 128;
  p.collective_groups = 240;
  p.client = {rank, 0, 1, STRETTO_SYSTEM_BYTES, uint64_t{1} << 32, {0, 0, 0, 0, 0}, 0, 0, 0,
              0,    0, 0};
  return p;
}

ring_gemm_plan_t plan_of(const ring_gemm_parameters_t& p) {
  ring_gemm_plan_t plan;
  REQUIRE(ring_gemm_plan(&p, &plan) == STRETTO_OK);
  return plan;
}

}  // namespace

TEST_CASE("operand rows are padded to 128 bytes, output rows never") {
  const ring_gemm_plan_t plan = plan_of(parameters(RING_GEMM_T3));
  CHECK(plan.lda == 256);  // 100 elements
  CHECK(plan.ldb == 256);
  CHECK(plan.ldc == 600);
  ring_gemm_parameters_t p = parameters(RING_GEMM_T3);
  p.a_k_contiguous = 0;
  p.b_k_contiguous = 0;
  const ring_gemm_plan_t other = plan_of(p);
  CHECK(other.lda == 1280);
  CHECK(other.ldb == 640);  // 300 elements
  CHECK(other.a_bytes == 100 * 1280);
}

TEST_CASE("rows of 8 bits take half the bytes, and are not split", "[T3-2XCU-02]") {
  ring_gemm_parameters_t p = parameters(RING_GEMM_T3);
  p.e4m3 = 1;
  p.a_k_contiguous = p.b_k_contiguous = 0;
  const ring_gemm_plan_t plan = plan_of(p);
  CHECK(plan.lda == 640);
  CHECK(plan.ldb == 384);  // 300 elements
  CHECK(plan.ldc == 300);
  CHECK(plan.c_bytes * 2 == plan_of(parameters(RING_GEMM_T3)).c_bytes);
  p.split_k = 2;
  ring_gemm_plan_t refused;
  CHECK(ring_gemm_plan(&p, &refused) == STRETTO_ERROR_ARGUMENT);
}

TEST_CASE("the arrays of every mode lie apart and inside the device memory") {
  for (unsigned mode = 0; mode < RING_GEMM_MODES; ++mode) {
    const ring_gemm_parameters_t p = parameters(static_cast<ring_gemm_mode_t>(mode), 2);
    const ring_gemm_plan_t plan = plan_of(p);
    const std::vector<std::pair<uint64_t, uint64_t>> all = {
        {plan.c, plan.c_bytes},           {plan.a, plan.a_bytes},
        {plan.b, plan.b_bytes},           {plan.receive, plan.c_bytes},
        {plan.rs_flags, plan.flag_bytes}, {plan.ag_flags, plan.flag_bytes},
        {plan.spill, plan.spill_bytes}};
    uint64_t end = stretto_gpu_address(2, STRETTO_SYSTEM_BYTES + STRETTO_ARGUMENT_BUFFER_BYTES);
    for (const auto& [address, bytes] : all) {
      if (address == 0) continue;
      INFO(ring_gemm_mode_name(p.mode));
      CHECK(address >= end);
      end = address + bytes;
    }
    CHECK(end <= stretto_gpu_address(2, p.client.memory_end));
    CHECK((plan.spill != 0) ==
          (p.mode == RING_GEMM_T3 || p.mode == RING_GEMM_T3_MCA || p.mode == RING_GEMM_DIRECT));
  }
}

TEST_CASE("chunks are contiguous, cover all tiles and differ by at most one tile") {
  const ring_gemm_plan_t plan = plan_of(parameters(RING_GEMM_T3));
  REQUIRE(plan.tiles == 15);
  CHECK(ring_gemm_chunk_first(&plan, 4, 0) == 0);
  CHECK(ring_gemm_chunk_first(&plan, 4, 4) == 15);
  for (uint32_t c = 0; c < 4; ++c) {
    const uint32_t count =
        ring_gemm_chunk_first(&plan, 4, c + 1) - ring_gemm_chunk_first(&plan, 4, c);
    CHECK((count == 3 || count == 4));
  }
}

TEST_CASE("slicing K changes neither tiles nor output, only the operands", "[T3-BASE-02]") {
  ring_gemm_parameters_t p = parameters(RING_GEMM_T3);
  p.k = 2048;
  const ring_gemm_plan_t whole = plan_of(p);
  p.k /= 16;
  const ring_gemm_plan_t sliced = plan_of(p);
  CHECK(sliced.tiles == whole.tiles);
  CHECK(sliced.ldc == whole.ldc);
  CHECK(sliced.c_bytes == whole.c_bytes);
  CHECK(sliced.a_bytes == whole.a_bytes / 16);
  CHECK(sliced.b_bytes == whole.b_bytes / 16);
}

TEST_CASE("parameters out of range have no plan") {
  ring_gemm_plan_t plan;
  const auto refused = [&](auto change) {
    ring_gemm_parameters_t p = parameters(RING_GEMM_T3);
    change(p);
    return ring_gemm_plan(&p, &plan);
  };
  CHECK(refused([](auto& p) { p.rank = 4; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(refused([](auto& p) { p.ranks = 0; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(refused([](auto& p) { p.m = 0; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(refused([](auto& p) { p.tile_m = 64; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(refused([](auto& p) { p.collective_groups = 0; }) == STRETTO_ERROR_ARGUMENT);
  CHECK(refused([](auto& p) { p.m = p.n = 1 << 16; }) == STRETTO_ERROR_ARGUMENT);  // 262144 tiles
  CHECK(refused([](auto& p) { p.client.memory_end = STRETTO_SYSTEM_BYTES + (1 << 17); }) ==
        STRETTO_ERROR_TABLE_FULL);
}

TEST_CASE("a program whose kernels cannot be loaded ends with one line and tells the other ranks") {
  FakeGpuHost host;
  const ring_gemm_parameters_t p = parameters(RING_GEMM_T3);
  const stretto_host_ops_t ops = host.ops();
  char error[256] = "";
  CHECK(ring_gemm_run(&p, &ops, error) == STRETTO_ERROR_KERNEL);
  CHECK(std::string(error) == "rank 0: kernel ELF: truncated header");
  CHECK(host.words[FakeGpuHost::host(STRETTO_HOST_WORD_OFFSET(0, 0))] == UINT64_MAX);
}

namespace {

std::vector<char> file(const std::string& name) {
  std::ifstream in(std::string(STRETTO_BUILD_DIR) + "/sw/kernels/" + name + ".elf",
                   std::ios::binary);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Runs the program against a GPU that says yes to everything; returns its packets.
std::vector<stretto_packet_t> packets_of(ring_gemm_parameters_t p, FakeGpuHost& host) {
  const std::vector<char> gemm = file("gemm"), ring = file("ring");
  p.gemm_elf = gemm.data();
  p.gemm_elf_bytes = gemm.size();
  p.ring_elf = ring.data();
  p.ring_elf_bytes = ring.size();
  host.gpu = p.rank;
  const stretto_host_ops_t ops = host.ops();
  char error[256] = "";
  const stretto_status_t status = ring_gemm_run(&p, &ops, error);
  INFO(error);
  REQUIRE(status == STRETTO_OK);
  return host.packets;
}

// What the packets say of the arbiters; REQUIRES: exactly one does.
stretto_vendor_packet_t arbiter_packet(const std::vector<stretto_packet_t>& packets) {
  std::vector<stretto_vendor_packet_t> found;
  for (const stretto_packet_t& p : packets) {
    const bool vendor = (p.header & 0xFF) == STRETTO_PACKET_VENDOR;
    if (vendor && p.vendor.operation == STRETTO_OP_MCA_CONFIG) found.push_back(p.vendor);
  }
  REQUIRE(found.size() == 1);
  return found[0];
}

std::vector<stretto_packet_t> tile_maps(const std::vector<stretto_packet_t>& packets) {
  std::vector<stretto_packet_t> maps;
  for (const stretto_packet_t& p : packets) {
    const bool is_map = (p.header & 0xFF) == STRETTO_PACKET_VENDOR &&
                        p.vendor.operation >= STRETTO_OP_LOCAL_MAP &&
                        p.vendor.operation <= STRETTO_OP_DMA_MAP;
    if (is_map && (p.vendor.flags & STRETTO_MAP_TILES) != 0) maps.push_back(p);
  }
  return maps;
}

std::vector<stretto_packet_t> dispatches(const std::vector<stretto_packet_t>& packets) {
  std::vector<stretto_packet_t> all;
  for (const stretto_packet_t& p : packets) {
    if ((p.header & 0xFF) == STRETTO_PACKET_KERNEL_DISPATCH) all.push_back(p);
  }
  return all;
}

}  // namespace

TEST_CASE(
    "GPU 0 of 4 maps its chunks as in Fig 11: first remote, two by DMA, its own local, all to GPU "
    "3",
    "[T3-FUSE-02][T3-FUSE-04][T3-FUSE-08][T3-CFG-01][T3-CFG-03]") {
  FakeGpuHost host;
  const ring_gemm_parameters_t p = parameters(RING_GEMM_T3, 0);
  const ring_gemm_plan_t plan = plan_of(p);
  const std::vector<stretto_packet_t> maps = tile_maps(packets_of(p, host));
  REQUIRE(maps.size() == 4);
  const uint16_t operations[4] = {STRETTO_OP_REMOTE_MAP, STRETTO_OP_DMA_MAP, STRETTO_OP_DMA_MAP,
                                  STRETTO_OP_LOCAL_MAP};
  const uint32_t chunks[4] = {1, 2, 3, 0};
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(maps[i].vendor.operation == operations[i]);
    CHECK(maps[i].vendor.map.first_tile == ring_gemm_chunk_first(&plan, 4, chunks[i]));
    CHECK((maps[i].vendor.flags & STRETTO_MAP_UPDATE) != 0);
    if (i < 3)
      CHECK(maps[i].vendor.map.peer_base == stretto_gpu_address(3, plan.c & STRETTO_OFFSET_MASK));
    CHECK(maps[i].vendor.map.updates == 2);
  }
}

TEST_CASE("outputs that are aggregated in memory are allocated and mapped uncached",
          "[T3-NMC-02]") {
  for (const ring_gemm_mode_t mode : {RING_GEMM_T3, RING_GEMM_T3_MCA, RING_GEMM_DIRECT}) {
    INFO(ring_gemm_mode_name(mode));
    FakeGpuHost host;
    const ring_gemm_parameters_t p = parameters(mode, 1);
    const uint64_t c = plan_of(p).c;
    const std::vector<stretto_packet_t> packets = packets_of(p, host);
    const auto allocates = [&](const stretto_packet_t& packet) {
      return (packet.header & 0xFF) == STRETTO_PACKET_VENDOR &&
             packet.vendor.operation == STRETTO_OP_LOCAL_MAP &&
             (packet.vendor.flags & STRETTO_MAP_TILES) == 0 && packet.vendor.map.base == c;
    };
    const auto output = std::find_if(packets.begin(), packets.end(), allocates);
    REQUIRE(output != packets.end());
    CHECK(output->vendor.map.allocation == STRETTO_ALLOCATION_UNCACHED);
    const std::vector<stretto_packet_t> maps = tile_maps(packets);
    REQUIRE(maps.size() == 4);
    for (const stretto_packet_t& map : maps)
      CHECK(map.vendor.map.allocation == STRETTO_ALLOCATION_UNCACHED);
  }
}

TEST_CASE("directly, each chunk is a launch of its own and goes to the GPU that owns it",
          "[T3-DIRECT-01][T3-DIRECT-03]") {
  FakeGpuHost host;
  const ring_gemm_parameters_t p = parameters(RING_GEMM_DIRECT, 1);
  const ring_gemm_plan_t plan = plan_of(p);
  const std::vector<stretto_packet_t> packets = packets_of(p, host);
  const std::vector<stretto_packet_t> maps = tile_maps(packets), kernels = dispatches(packets);
  REQUIRE(maps.size() == 4);
  REQUIRE(kernels.size() == 5);  // Four ranges of the GEMM, all-gather.
  const uint32_t chunks[4] = {2, 3, 0, 1};
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t first = ring_gemm_chunk_first(&plan, 4, chunks[i]);
    CHECK(maps[i].vendor.operation == (i < 3 ? STRETTO_OP_REMOTE_MAP : STRETTO_OP_LOCAL_MAP));
    CHECK(maps[i].vendor.map.first_tile == first);
    CHECK((maps[i].vendor.flags & STRETTO_MAP_UPDATE) != 0);
    CHECK(maps[i].vendor.map.updates == 4);
    if (i < 3)
      CHECK(maps[i].vendor.map.peer_base ==
            stretto_gpu_address(chunks[i], plan.c & STRETTO_OFFSET_MASK));
    CHECK(STRETTO_ORDER_FIRST(kernels[i].dispatch.order) == first);
    CHECK(STRETTO_ORDER_COUNT(kernels[i].dispatch.order) ==
          ring_gemm_chunk_first(&plan, 4, chunks[i] + 1) - first);
    CHECK(STRETTO_ORDER_STAGGER(kernels[i].dispatch.order) == 0);
    CHECK((kernels[i].header & STRETTO_PACKET_BARRIER) == 0);
    CHECK(kernels[i].dispatch.kernel_object == kernels[0].dispatch.kernel_object);
  }
}

TEST_CASE("where a switch adds, its owner asks for it, and all ranks launch chunks in one order",
          "[T3-SW-01]") {
  for (uint32_t rank = 0; rank < 4; ++rank) {
    FakeGpuHost host;
    ring_gemm_parameters_t p = parameters(RING_GEMM_DIRECT, rank);
    p.in_switch = 1;
    const ring_gemm_plan_t plan = plan_of(p);
    const std::vector<stretto_packet_t> packets = packets_of(p, host);
    const std::vector<stretto_packet_t> maps = tile_maps(packets), kernels = dispatches(packets);
    REQUIRE(maps.size() == 4);
    for (unsigned i = 0; i < 4; ++i)
      CHECK(((maps[i].vendor.flags & STRETTO_MAP_SWITCH) != 0) == (i == 3));
    CHECK(maps[3].vendor.operation == STRETTO_OP_LOCAL_MAP);
    const uint32_t chunks[4] = {1, 2, 3, 0};
    for (unsigned i = 0; i < 4; ++i)
      CHECK(STRETTO_ORDER_FIRST(kernels[i].dispatch.order) ==
            ring_gemm_chunk_first(&plan, 4, chunks[i]));
  }
}

TEST_CASE("the fused GEMM starts with the chunk it sends first and carries the update bit",
          "[T3-STAG-01][T3-NMC-03]") {
  FakeGpuHost host;
  const ring_gemm_parameters_t p = parameters(RING_GEMM_T3, 2);
  const ring_gemm_plan_t plan = plan_of(p);
  const std::vector<stretto_packet_t> kernels = dispatches(packets_of(p, host));
  REQUIRE(kernels.size() == 2);  // GEMM, all-gather
  CHECK(STRETTO_ORDER_STAGGER(kernels[0].dispatch.order) == ring_gemm_chunk_first(&plan, 4, 3));
  CHECK((kernels[0].dispatch.flags & STRETTO_DISPATCH_UPDATE) != 0);
  CHECK((kernels[1].dispatch.flags & STRETTO_DISPATCH_UPDATE) == 0);
}

TEST_CASE("kernels and firmware get the order of the tiles", "[T3-U20]") {
  FakeGpuHost fused, sequential;
  ring_gemm_parameters_t p = parameters(RING_GEMM_T3);
  p.m = 700;  // 6 x 3 tiles: strips of 2 rows.
  p.tile_order = RING_GEMM_STRIPS;
  CHECK(plan_of(p).order_code == 1);
  const std::vector<stretto_packet_t> packets = packets_of(p, fused);
  const auto is_output = [](const stretto_packet_t& packet) {
    return packet.vendor.operation == STRETTO_OP_OUTPUT_CONFIG;
  };
  const auto output = std::find_if(packets.begin(), packets.end(), is_output);
  REQUIRE(output != packets.end());
  CHECK(output->vendor.output.tile_order == 1);
  const stretto_packet_t gemm = dispatches(packets).at(0);
  CHECK(static_cast<uint32_t>(
            fused.read64(gemm.dispatch.kernarg_address + offsetof(stretto_gemm_arguments_t, k)) >>
            32) == (GEMM_B_NK | 1 << GEMM_ORDER_SHIFT));
  p.mode = RING_GEMM_SEQUENTIAL;
  const stretto_packet_t ring = dispatches(packets_of(p, sequential)).at(1);
  CHECK(static_cast<uint32_t>(sequential.read64(ring.dispatch.kernarg_address +
                                                offsetof(stretto_ring_arguments_t, order))) == 1);
  p.m = 100;  // 1 x 3 tiles: down the columns, one across.
  CHECK(plan_of(p).order_code == TILE_ORDER_DOWN);
  p.tile_order = RING_GEMM_ROWS;
  CHECK(plan_of(p).order_code == TILE_ORDER_ROWS);
}

TEST_CASE("the GEMM has equal arguments in sequential and fused mode", "[T3-CFG-05]") {
  FakeGpuHost sequential, fused;
  const stretto_dispatch_packet_t a =
      dispatches(packets_of(parameters(RING_GEMM_SEQUENTIAL), sequential)).at(0).dispatch;
  const stretto_dispatch_packet_t b =
      dispatches(packets_of(parameters(RING_GEMM_T3), fused)).at(0).dispatch;
  for (unsigned i = 0; i < sizeof(stretto_gemm_arguments_t); i += 8) {
    CHECK(sequential.read64(a.kernarg_address + i) == fused.read64(b.kernarg_address + i));
  }
  CHECK((a.flags ^ b.flags) == STRETTO_DISPATCH_UPDATE);
  CHECK(a.grid_size_x == b.grid_size_x);
}

TEST_CASE(
    "the sequential kernels wait for each other, in the order GEMM, reduce-scatter, all-gather",
    "[T3-BASE-01]") {
  FakeGpuHost host;
  const ring_gemm_parameters_t p = parameters(RING_GEMM_SEQUENTIAL, 1);
  const ring_gemm_plan_t plan = plan_of(p);
  const std::vector<stretto_packet_t> kernels = dispatches(packets_of(p, host));
  REQUIRE(kernels.size() == 3);
  CHECK((kernels[1].header & STRETTO_PACKET_BARRIER) != 0);
  CHECK((kernels[2].header & STRETTO_PACKET_BARRIER) != 0);
  // The reduce-scatter writes into the receive array of rank 0.
  CHECK(
      host.read64(kernels[1].dispatch.kernarg_address + offsetof(stretto_ring_arguments_t, peer)) ==
      stretto_gpu_address(0, plan.receive & STRETTO_OFFSET_MASK));
  CHECK(
      host.read64(kernels[2].dispatch.kernarg_address + offsetof(stretto_ring_arguments_t, peer)) ==
      stretto_gpu_address(0, plan.c & STRETTO_OFFSET_MASK));
}

TEST_CASE(
    "fused output is zeroed before it is mapped, outside of it nothing but flags and spill table "
    "is filled") {
  FakeGpuHost host;
  const ring_gemm_parameters_t p = parameters(RING_GEMM_T3);
  const ring_gemm_plan_t plan = plan_of(p);
  std::vector<uint64_t> filled;
  bool mapped = false;
  for (const stretto_packet_t& packet : packets_of(p, host)) {
    if ((packet.header & 0xFF) != STRETTO_PACKET_VENDOR) continue;
    if (packet.vendor.operation == STRETTO_OP_OUTPUT_CONFIG) mapped = true;
    if (packet.vendor.operation != STRETTO_OP_FILL) continue;
    CHECK_FALSE(mapped);
    CHECK(packet.vendor.fill.pattern == 0);
    filled.push_back(packet.vendor.fill.address);
  }
  CHECK(filled == std::vector<uint64_t>{plan.ag_flags, plan.spill, plan.c});
}

TEST_CASE("every policy of the arbiters can be asked for in every mode, with its limits") {
  for (const stretto::RegisterValue& policy : stretto::kMcaControlPolicyValues) {
    INFO(policy.name);
    ring_gemm_parameters_t p = parameters(RING_GEMM_T3);
    p.arbiter = {static_cast<uint32_t>(policy.value), 1, 5, 77};
    FakeGpuHost host;
    const stretto_vendor_packet_t packet = arbiter_packet(packets_of(p, host));
    CHECK(packet.mca.policy == policy.value);
    CHECK(packet.mca.starve_limit == 77);
    CHECK(packet.flags == STRETTO_MCA_FIXED_THRESHOLD);
    const bool limited = policy.value == MCA_CONTROL_POLICY_COMMUNICATION_AWARE;
    CHECK(packet.mca.threshold == (limited ? 5 : 0));
  }
}
