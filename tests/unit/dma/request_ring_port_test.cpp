// SPDX-License-Identifier: Apache-2.0
// Question: does the send window answer every access as the memory side demands (TlmChecker on the
// socket): stores of 8 bytes when the ring has them, all else at once, refused, and the ring not
// told? State space: one access on a fresh port; parameters: each thing that makes an access bad.
#include "models/dma/request_ring_port.h"

#include <catch2/catch.hpp>

#include <memory>

#include "models/common/partition.h"
#include "models/common/tlm_checker.h"
#include "models/reference/request_ring_model.h"
#include "sw/include/formats/address_map.h"
#include "tests/unit/fabric/test_memory.h"

namespace stretto {
namespace {

constexpr uint64_t kWindow = (uint64_t{1} << STRETTO_NODE_SHIFT) + STRETTO_SEND_APERTURE;

SC_MODULE(Bench) {
  Conductor conductor;
  Partition partition;
  test::TestMemory memory;
  DmaEngine dma;
  RequestRingPort ring;
  tlm_utils::simple_initiator_socket<Bench, 32, StrettoProtocol> cu;
  PayloadPool pool;
  uint64_t data[2] = {7, 8};
  unsigned answers = 0;
  Time answered_at = 0;

  explicit Bench(sc_core::sc_module_name name)
      : sc_module(name),
        conductor("conductor", {}, 500 * kNanosecond),
        partition("gpu0", conductor, 1),
        memory("memory", partition.queue()),
        dma("dma", DmaSpec{}, partition.services()),
        ring("ring", 1000, partition.services(), std::make_unique<RequestRingModel>(), dma),
        cu("cu") {
    connect_checked(dma.memory, memory.port[0], partition.queue());
    connect_checked(dma.egress, memory.port[1], partition.queue());
    connect_checked(ring.memory, memory.port[2], partition.queue());
    connect_checked(ring.egress, memory.port[3], partition.queue());
    connect_checked(cu, ring.stores, partition.queue());
    cu.register_nb_transport_bw(this, &Bench::answered);
    partition.add("dma", dma);
    partition.add("request_ring", ring);
  }

  PooledPayload& store() {
    PooledPayload& payload = pool.acquire();
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(kWindow + 8);
    payload.set_data_ptr(reinterpret_cast<uint8_t*>(data));
    payload.set_data_length(8);
    payload.set_streaming_width(8);
    payload.extension.operation = Operation::write;
    payload.extension.row_bytes = 8;
    return payload;
  }
  // Arrives `ahead` of the partition's time.
  tlm::tlm_sync_enum send(tlm::tlm_generic_payload & payload, Time ahead = 0) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = delay_of(ahead);
    return cu->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum answered(tlm::tlm_generic_payload & payload, tlm::tlm_phase & phase,
                              sc_core::sc_time&) {
    CHECK(phase == tlm::BEGIN_RESP);
    CHECK(payload.is_response_ok());
    ++answers;
    answered_at = partition.queue().now();
    phase = tlm::END_RESP;
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  // Is answered in the call, with that status.
  void refused(PooledPayload & payload, tlm::tlm_response_status status) {
    CHECK(send(payload) == tlm::TLM_COMPLETED);
    CHECK(payload.get_response_status() == status);
    payload.release();
  }
  uint64_t counted(const std::string& what) {
    StatisticSink sink;
    ring.report(sink);
    for (const Statistic& statistic : sink.all()) {
      if (statistic.path == what) return statistic.value;
    }
    FAIL("no statistic " << what);
    return 0;
  }
};

TEST_CASE("a store of 8 bytes is accepted, and answered when the ring has it") {
  Bench bench("bench");
  CHECK(bench.send(bench.store()) == tlm::TLM_UPDATED);
  CHECK(bench.answers == 0);
  REQUIRE(bench.conductor.run() == Conductor::Outcome::quiet);
  CHECK(bench.answers == 1);
  CHECK(bench.counted("stores") == 1);
  CHECK(bench.counted("dropped") == 1);  // Nobody has enabled the ring.
}

// The checker's rule 17: its request must not end before it has begun.
TEST_CASE("a store that arrives later is accepted at its arrival and enters the ring no earlier") {
  Bench bench("bench");
  constexpr Time kAhead = 95 * kNanosecond;
  CHECK(bench.send(bench.store(), kAhead) == tlm::TLM_UPDATED);
  REQUIRE(bench.conductor.run() == Conductor::Outcome::quiet);
  CHECK(bench.answers == 1);
  CHECK(bench.answered_at >= kAhead);
  CHECK(bench.counted("stores") == 1);
}

TEST_CASE("whatever is no store of 8 bytes is refused in the call", "[GD-DMA-03]") {
  Bench bench("bench");
  PooledPayload& narrow = bench.store();
  narrow.set_data_length(4);
  narrow.set_streaming_width(4);
  narrow.extension.row_bytes = 4;
  bench.refused(narrow, tlm::TLM_COMMAND_ERROR_RESPONSE);

  PooledPayload& two = bench.store();
  two.set_data_length(16);
  two.set_streaming_width(16);
  two.extension.row_bytes = 16;
  bench.refused(two, tlm::TLM_COMMAND_ERROR_RESPONSE);

  PooledPayload& crooked = bench.store();
  crooked.set_address(kWindow + 4);
  bench.refused(crooked, tlm::TLM_COMMAND_ERROR_RESPONSE);

  PooledPayload& load = bench.store();
  load.set_command(tlm::TLM_READ_COMMAND);
  load.extension.operation = Operation::read;
  bench.refused(load, tlm::TLM_COMMAND_ERROR_RESPONSE);

  PooledPayload& update = bench.store();
  update.extension.operation = Operation::update;
  bench.refused(update, tlm::TLM_COMMAND_ERROR_RESPONSE);

  PooledPayload& behind = bench.store();
  behind.set_address(kWindow + STRETTO_SEND_APERTURE_BYTES);
  bench.refused(behind, tlm::TLM_ADDRESS_ERROR_RESPONSE);

  REQUIRE(bench.conductor.run() == Conductor::Outcome::quiet);
  CHECK(bench.answers == 0);
  CHECK(bench.counted("stores") == 0);
  CHECK(bench.counted("refused_stores") == 6);
}

}  // namespace
}  // namespace stretto
