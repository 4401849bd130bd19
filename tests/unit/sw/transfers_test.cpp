// SPDX-License-Identifier: Apache-2.0
// Question: which packets does a rank of the point-to-point programs submit for a transfer that the
// CPU binds in advance? Of one rank, the other has always come; per round, by the difference of
// runs with one and two. Expected counts: GPU-driven code execution, IV-A.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "sw/apps/collective/point_to_point.h"
#include "tests/unit/sw/fake_gpu_host.h"

using stretto::test::FakeGpuHost;

namespace {

struct Counts {
  int signals, waits, copies, launches;
};

Counts packets_of(uint32_t rank, uint32_t rounds) {
  std::ifstream stream(STRETTO_BUILD_DIR "/sw/kernels/send.elf", std::ios::binary);
  const std::string elf((std::istreambuf_iterator<char>(stream)), {});
  p2p_parameters_t p{};
  p.engine = P2P_C_ASYNC;
  p.rank = rank;
  p.sizes = 1;
  p.bytes[0] = p.latency_bytes = p.buffer_bytes = 4096;
  p.messages[0] = 1;
  p.rounds = rounds;
  p.clock_mhz = 1000;
  p.client.gpu = rank;
  p.client.queue_count = 2;
  p.client.memory_begin = STRETTO_SYSTEM_BYTES;
  p.client.memory_end = uint64_t{1} << 32;
  p.client.unit_registers_bytes = p.client.unit_lds_bytes = 1 << 18;
  p.client.unit_wavefronts = 32;
  p.send_elf = elf.data();
  p.send_elf_bytes = elf.size();
  FakeGpuHost host;
  host.gpu = rank;
  const stretto_host_ops_t ops = host.ops();
  const ranks_t ranks{
      .ops = &ops, .job = p.job, .rank = rank, .ranks = 2, .host_ranks = 2, .met = 0};
  host.words[ranks_word(&ranks, 1 - rank)] = 1 << 30;  // It has met this one as often as it likes.
  const std::unique_ptr<p2p_shared_t, void (*)(p2p_shared_t*)> shared(p2p_shared_create(),
                                                                      p2p_shared_destroy);
  p2p_result_t result;
  char error[256] = "";
  const stretto_status_t status = p2p_rank(&p, shared.get(), &ops, &result, error);
  INFO(error);
  REQUIRE(status == STRETTO_OK);
  const auto count = [&](auto is) {
    return static_cast<int>(std::count_if(host.packets.begin(), host.packets.end(), is));
  };
  const auto operation = [](stretto_operation_t wanted) {
    return [wanted](const stretto_packet_t& packet) {
      return (packet.vendor.header & 0xFF) == STRETTO_PACKET_VENDOR &&
             packet.vendor.operation == wanted;
    };
  };
  return {count(operation(STRETTO_OP_SIGNAL)), count([](const stretto_packet_t& packet) {
            return (packet.barrier.header & 0xFF) == STRETTO_PACKET_BARRIER_AND &&
                   packet.barrier.dep_signal[0] != 0;
          }),
          count(operation(STRETTO_OP_COPY)), count([](const stretto_packet_t& packet) {
            return (packet.vendor.header & 0xFF) == STRETTO_PACKET_KERNEL_DISPATCH;
          })};
}

}  // namespace

TEST_CASE("a trip that is bound in advance has two event triggers and two stream synchronisations",
          "[GD-CASYNC-03]") {
  for (const uint32_t rank : {0u, 1u}) {
    // Of a round a rank has one trip out, and of each trip it is in the first or the second half:
    // its own trigger and wait before the copy, the trigger behind it, the wait for the other's.
    const Counts one = packets_of(rank, 1), two = packets_of(rank, 2);
    INFO("rank " << rank);
    CHECK(two.copies - one.copies == 1);
    CHECK(two.signals - one.signals == 2);
    CHECK(two.waits - one.waits == 2);
    CHECK(two.launches - one.launches == 1);
  }
}
