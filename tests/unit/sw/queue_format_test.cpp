// SPDX-License-Identifier: Apache-2.0
// Question: do the packets have the layout that the HSA specification prints (HSA Platform System
// Architecture 1.2, tables 2-8 and 2-10)? Offsets are those of the tables; what HSA reserves is
// ours.
#include "sw/include/formats/queue.h"
#include "sw/include/formats/send_request.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <set>

TEST_CASE("a dispatch packet has the fields of an HSA kernel dispatch packet at their offsets") {
  CHECK(offsetof(stretto_dispatch_packet_t, header) == 0);
  CHECK(offsetof(stretto_dispatch_packet_t, setup) == 2);
  CHECK(offsetof(stretto_dispatch_packet_t, workgroup_size_x) == 4);
  CHECK(offsetof(stretto_dispatch_packet_t, workgroup_size_y) == 6);
  CHECK(offsetof(stretto_dispatch_packet_t, workgroup_size_z) == 8);
  CHECK(offsetof(stretto_dispatch_packet_t, grid_size_x) == 12);
  CHECK(offsetof(stretto_dispatch_packet_t, grid_size_y) == 16);
  CHECK(offsetof(stretto_dispatch_packet_t, grid_size_z) == 20);
  CHECK(offsetof(stretto_dispatch_packet_t, private_segment_bytes) == 24);
  CHECK(offsetof(stretto_dispatch_packet_t, group_segment_bytes) == 28);
  CHECK(offsetof(stretto_dispatch_packet_t, kernel_object) == 32);
  CHECK(offsetof(stretto_dispatch_packet_t, kernarg_address) == 40);
  CHECK(offsetof(stretto_dispatch_packet_t, completion_signal) == 56);
}

TEST_CASE("a barrier-and packet has the fields of the HSA packet at their offsets") {
  CHECK(offsetof(stretto_barrier_packet_t, header) == 0);
  CHECK(offsetof(stretto_barrier_packet_t, dep_signal) == 8);
  CHECK(offsetof(stretto_barrier_packet_t, completion_signal) == 56);
}

TEST_CASE("every packet keeps its completion signal in the last word") {
  CHECK(offsetof(stretto_vendor_packet_t, completion_signal) == 56);
  CHECK(offsetof(stretto_vendor_packet_t, words) == 8);
}

TEST_CASE("the order word gives back what was put in") {
  const uint64_t order = STRETTO_ORDER(65535u, 65536u, 47110u, 32767u);
  CHECK(STRETTO_ORDER_FIRST(order) == 65535u);
  CHECK(STRETTO_ORDER_COUNT(order) == 65536u);
  CHECK(STRETTO_ORDER_STAGGER(order) == 47110u);
  CHECK(STRETTO_ORDER_BATCH(order) == 32767u);
  CHECK(STRETTO_ORDER_COUNT(STRETTO_ORDER(65535u, 0, 65535u, 0)) == 0);
  CHECK(STRETTO_ORDER_STAGGER(STRETTO_ORDER(0, 65536u, 0, 1u)) == 0);
}

TEST_CASE("a range has all bits of both numbers") {
  CHECK(STRETTO_RANGE(STRETTO_MAX_GRID - 1, 1u) == (uint64_t{1} << 32 | 0x7FFFFFFE));
  CHECK((STRETTO_DISPATCH_RANGE & (STRETTO_DISPATCH_UPDATE | STRETTO_DISPATCH_ACCOUNT_MASK |
                                   STRETTO_DISPATCH_COMMUNICATION)) == 0);
}

TEST_CASE("rings, read indices, signals and words of all GPUs lie apart") {
  CHECK(STRETTO_QUEUE_OFFSET(STRETTO_QUEUE_COUNT) <= STRETTO_SYSTEM_BYTES);
  CHECK(STRETTO_QUEUE_OFFSET(1) - STRETTO_QUEUE_OFFSET(0) ==
        STRETTO_QUEUE_PACKETS * sizeof(stretto_packet_t));
  std::set<uint64_t> used;
  size_t expected = 0;
  for (uint64_t gpu = 0; gpu < 3; ++gpu) {
    for (unsigned queue = 0; queue < STRETTO_QUEUE_COUNT; ++queue)
      used.insert(STRETTO_READ_INDEX_OFFSET(gpu, queue));
    for (unsigned i = 0; i < STRETTO_QUEUE_COUNT * STRETTO_SIGNALS_PER_QUEUE; ++i)
      used.insert(STRETTO_SIGNAL_OFFSET(gpu, i));
    for (unsigned i = 0; i < 16; ++i) used.insert(STRETTO_HOST_WORD_OFFSET(gpu, i));
    expected += STRETTO_QUEUE_COUNT + STRETTO_QUEUE_COUNT * STRETTO_SIGNALS_PER_QUEUE + 16;
  }
  CHECK(used.size() == expected);
}

// GD-DMA-11: 2 bits of type, 8 of destination, 8 of source, 7 of connection, 34 of length, 5
// reserved. Here the length is cut into length and offset of 17 bits, and two reserved bits ask for
// the flags.
TEST_CASE("a send request has the fields of ARK at their bits", "[GD-DMA-11]") {
  CHECK(STRETTO_SEND_BUFFERS == 256);
  CHECK(stretto_send_request(3, 0, 0, 0, 0, 0, 0) == 0x3);
  CHECK(stretto_send_request(0, 0, 255, 0, 0, 0, 0) == 0xFFull << 2);
  CHECK(stretto_send_request(0, 255, 0, 0, 0, 0, 0) == 0xFFull << 10);
  CHECK(stretto_send_request(0, 0, 0, 127, 0, 0, 0) == 0x7Full << 18);
  CHECK(stretto_send_request(0, 0, 0, 0, 0, 0x1FFFF, 0) == 0x1FFFFull << 25);
  CHECK(stretto_send_request(0, 0, 0, 0, 0x1FFFF, 0, 0) == 0x1FFFFull << 42);
  CHECK((STRETTO_SR_SC | STRETTO_SR_RC) == 0x3ull << 59);
}
