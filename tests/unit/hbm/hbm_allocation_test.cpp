// SPDX-License-Identifier: Apache-2.0
// Question: does the path of a request allocate host memory once storage has grown to its
// high-water mark?
//
// The global allocator of this executable counts. Random traffic (both streams, tracked updates,
// spills) runs several times; the last run must not allocate. How full each queue becomes depends
// on the refreshes and open rows that a run happens to meet, so the last run may not be as dense as
// those that set the marks.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "sw/include/regs/hbm_regs.h"
#include "sw/include/regs/tracker_regs.h"
#include "tests/support/seeded_rng.h"
#include "tests/unit/hbm/hbm_fixture.h"

using namespace stretto;
using namespace stretto::test;

namespace {

std::atomic<uint64_t> allocations{0};

}  // namespace

void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes); memory != nullptr) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace {

// Sends prepared payloads and takes their responses; allocates nothing itself.
class QuietInitiator final : public sc_core::sc_module {
 public:
  QuietInitiator(const sc_core::sc_module_name& name, HbmFixture& bench)
      : sc_core::sc_module(name), socket_("socket"), bench_(bench) {
    socket_.register_nb_transport_bw(this, &QuietInitiator::on_response);
    socket_.bind(bench.hbm->peer[2]);
  }
  void send(Operation operation, uint64_t address, bool tracked, Stream stream, Time at) {
    PooledPayload& payload = bench_.pool.acquire();
    payload.set_address(address);
    payload.set_data_ptr(data_);
    payload.set_data_length(256);
    payload.extension.operation = operation;
    payload.extension.stream = stream;
    payload.extension.tracked = tracked;
    payload.extension.wg_id = static_cast<uint32_t>(address >> 8 & 1023);
    payload.extension.wf_id = 0;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = delay_of(at - bench_.queue.now());
    socket_->nb_transport_fw(payload, phase, delay);
  }
  uint64_t answers = 0;

 private:
  tlm::tlm_sync_enum on_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                 sc_core::sc_time&) {
    ++answers;
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  tlm_utils::simple_initiator_socket<QuietInitiator, 32, StrettoProtocol> socket_;
  HbmFixture& bench_;
  uint8_t data_[256] = {};
};

}  // namespace

TEST_CASE("a request allocates nothing once storage has grown") {
  HbmSpec spec;
  HbmFixture bench(spec, 2, true, "fixture", false);
  QuietInitiator initiator("initiator", bench);
  bench.write_register(false, 0x1000 + SPILL_BASE_OFFSET, 0x4000'0000);
  bench.write_register(false, 0x1000 + SPILL_BYTES_OFFSET, 1024 * 64);
  bench.write_register(false, TRACKER_TILES_OFFSET, 1024 | uint64_t{1008} << 32);
  bench.write_register(false, TRACKER_STRIPS_OFFSET, 16 | uint64_t{1 << 20} << 32);
  for (unsigned i = 0; i < 8; ++i) {
    bench.write_register(false, TRACKER_THRESHOLD_OFFSET + 8 * i, 0x0400'0400'0400'0400);
  }
  bench.write_register(false, TRACKER_CONTROL_OFFSET, 1 | 1 << 4);
  bench.triggers.reserve(100'000);
  uint64_t grown = 0;
  for (unsigned round = 0; round < 6; ++round) {
    const bool last = round == 5;
    Rng rng(1);
    const uint64_t before = allocations;
    Time at = bench.queue.now();
    for (unsigned i = 0; i < 4000; ++i) {
      at += rng.below(4) * (last ? kCycle : kCycle / 4);
      const uint64_t address = rng.below(1024) * 256;
      const bool update = rng.chance(1, 2);
      initiator.send(update ? Operation::update : Operation::read, address, update,
                     rng.chance(1, 2) ? Stream::compute : Stream::communication, at);
    }
    bench.run();
    grown = allocations - before;
  }
  CHECK(initiator.answers == 24'000);
  CHECK(bench.hbm->tracker_counters().spill_writes > 0);
  CHECK(grown == 0);
}
