// SPDX-License-Identifier: Apache-2.0
// Question: which atomics of a kernel leave its GPU, as what, and what does the L2 make of those that
// peers send? Out: amoadd, amoswap and others x scopes x ranges {remote, none}. In: words of shared
// ranges {dirty here, clean, not here}, of uncached ones, of cached ones that are dirty here; what has
// no word. Expected: sw/include/MEMORY_MODEL.md.
#include <cstring>

#include "models/common/error.h"
#include "tests/unit/gpu/instruction_bench.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr uint64_t kRemote = kNode + 0x400000, kPeer = 2 * kNode + 0x700000;
constexpr uint64_t kShared = kNode + 0x500000;

struct LinkBench : Bench {
  LinkBench() {
    RangeEntry entry;
    entry.base = kRemote;
    entry.rows = 1;
    entry.row_bytes = 0x1000;
    entry.kind = RangeKind::remote;
    entry.peer_base = kPeer;
    map(entry);
    map(kShared, 0x10000, AllocationClass::shared);
  }
  // An atomic of a peer.
  PooledPayload& start(AtomicOp op, uint64_t address, uint64_t& value, unsigned bytes = 8,
                       uint64_t compare = 0, Operation operation = Operation::atomic) {
    PooledPayload& payload = cp_pool.acquire();
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<uint8_t*>(&value));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.extension = {};
    payload.extension.operation = operation;
    payload.extension.atomic_op = op;
    payload.extension.compare = compare;
    payload.extension.engine = Engine::link;
    payload.extension.stream = Stream::communication;
    payload.extension.scope = Scope::system;
    payload.extension.allocation = AllocationClass::uncached;
    payload.extension.row_bytes = bytes;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (links->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED)
      cp_done.push_back(&payload);
    return payload;
  }
  uint64_t perform(AtomicOp op, uint64_t address, uint64_t value, unsigned bytes = 8,
                   uint64_t compare = 0) {
    cp_done.clear();
    PooledPayload& payload = start(op, address, value, bytes, compare);
    finish(payload);
    return value;
  }
  // By a hart, in the shared range.
  uint64_t request(Operation operation, uint64_t address, uint64_t value = 0) {
    cp_done.clear();
    PooledPayload& payload = cp_request(
        operation == Operation::read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, operation,
        address, reinterpret_cast<uint8_t*>(&value), 8, AllocationClass::shared);
    finish(payload);
    return value;
  }
  void finish(PooledPayload& payload) {
    while (cp_done.empty()) queue.run_until(queue.next_time() + 1);
    REQUIRE(payload.is_response_ok());
    payload.release();
  }
  tlm::tlm_response_status refused(Operation operation, uint64_t address, unsigned bytes = 8) {
    cp_done.clear();
    uint64_t value = 1;
    PooledPayload& payload = start(AtomicOp::add, address, value, bytes, 0, operation);
    REQUIRE(cp_done.size() == 1);  // At once.
    const tlm::tlm_response_status status = payload.get_response_status();
    payload.release();
    return status;
  }
};

// amoadd.d with funct5 changed to that of `operation`.
uint32_t amo(uint32_t operation, unsigned rd, unsigned rs2, unsigned rs1) {
  return operation << 27 | rs2 << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x2F;
}
constexpr uint32_t kAdd = 0, kSwap = 1, kXor = 4, kCas = 5, kMaxu = 0x1C;

Program atomic(uint32_t operation, unsigned scope, uint64_t address = kRemote + 0x40) {
  Program p;
  p.addi(4, 0, static_cast<int>(scope)).set_csr(TILE_CSR_SCOPE, 4);
  p.constant(10, address).addi(5, 0, 3).addi(6, 0, 9).word(amo(operation, 6, 5, 10)).end();
  return p;
}

void expect_sent(uint32_t operation, AtomicOp as) {
  LinkBench bench;
  atomic(operation, TILE_SCOPE_SYSTEM).run(bench);
  bench.require_quiet();
  REQUIRE(bench.memory.remote.size() == 1);
  const FixedMemory::Access& access = bench.memory.remote[0];
  CHECK(access.address == kPeer + 0x40);
  CHECK(access.bytes == 8);
  CHECK(access.extension.operation == Operation::atomic);
  CHECK(access.extension.atomic_op == as);
  CHECK(access.extension.scope == Scope::system);
  CHECK(access.data == std::vector<uint8_t>{3, 0, 0, 0, 0, 0, 0, 0});
  if (as == AtomicOp::compare_swap) CHECK(access.extension.compare == 9);
  CHECK(bench.gpu.l2.counters().remote_atomics == 1);
  CHECK(bench.gpu.l2.counters().remote_bytes == 0);
}

void expect_fault(Program&& program, FaultKind kind, const std::string& says) {
  LinkBench bench;
  program.run(bench);
  REQUIRE(bench.gpu.front_end.fault_count() == 1);
  const GpuFault& fault = bench.gpu.front_end.faults().at(0);
  CHECK(fault.kind == kind);
  INFO(fault.detail);
  CHECK(fault.detail.find(says) != std::string::npos);
  CHECK(bench.memory.remote.empty());
}

}  // namespace

TEST_CASE("amoadd of system scope in a remote range goes to the peer's word") {
  expect_sent(kAdd, AtomicOp::add);
}
TEST_CASE("amoswap of system scope in a remote range goes to the peer's word") {
  expect_sent(kSwap, AtomicOp::swap);
}
TEST_CASE("amocas of system scope in a remote range goes to the peer's word with both operands") {
  expect_sent(kCas, AtomicOp::compare_swap);
}

// Ten work-groups take a number each, by loops of load and compare and swap.
void expect_numbers(uint64_t word, unsigned scope) {
  LinkBench bench;
  Program p;
  p.addi(4, 0, static_cast<int>(scope)).set_csr(TILE_CSR_SCOPE, 4).constant(10, word);
  p.constant(11, kOut + 0x1000).csr(7, TILE_CSR_WG_ID).slli(7, 7, 3).add(11, 11, 7);
  p.amoadd(8, 0, 10);  // The word.
  p.addi(5, 8, 1).addi(6, 8, 0).word(amo(kCas, 6, 5, 10)).sub(9, 6, 8);
  p.bnez(9, -5);  // Somebody was there first: from amoadd on.
  p.sd(8, 11).end();
  Launch launch = p.launch();
  launch.workgroups = 10;
  p.run(bench, launch);
  bench.run();
  bench.require_quiet();
  uint64_t seen = 0;
  for (unsigned i = 0; i < 10; ++i)
    seen |= uint64_t{1} << bench.value_at<uint64_t>(kOut + 0x1000 + 8 * i);
  CHECK(seen == 0x3FF);
}
TEST_CASE("amocas on a cached word: each of ten takes another number") {
  expect_numbers(kIn + 0x40000, TILE_SCOPE_DEVICE);
}
TEST_CASE("amocas at device scope on a shared word: each of ten takes another number") {
  expect_numbers(kShared, TILE_SCOPE_DEVICE);
}
TEST_CASE("amocas at system scope on a shared word: each of ten takes another number") {
  expect_numbers(kShared, TILE_SCOPE_SYSTEM);
}
TEST_CASE("amocas on an uncached word: each of ten takes another number") {
  expect_numbers(kOut, TILE_SCOPE_DEVICE);
}

TEST_CASE("amoxor in a remote range is a fault that names what there is") {
  expect_fault(atomic(kXor, TILE_SCOPE_SYSTEM), FaultKind::remote_atomic,
               "PCIe AtomicOps alone: amoadd");
}
TEST_CASE("amomaxu in a remote range is a fault that names what there is") {
  expect_fault(atomic(kMaxu, TILE_SCOPE_SYSTEM), FaultKind::remote_atomic,
               "PCIe AtomicOps alone: amoadd");
}
TEST_CASE("an AMO of device scope in a remote range is a fault that names the scope") {
  expect_fault(atomic(kAdd, TILE_SCOPE_DEVICE), FaultKind::remote_atomic,
               "has system scope: tile_set_scope(TILE_SCOPE_SYSTEM)");
}
TEST_CASE("an AMO on a peer without a range is a fault") {
  expect_fault(atomic(kAdd, TILE_SCOPE_SYSTEM, kPeer), FaultKind::unmapped_store,
               "no range entry holds it");
}

TEST_CASE("an atomic of a peer finds and leaves what it says in an uncached word") {
  LinkBench bench;
  bench.set_value<uint64_t>(kOut + 0x40, 0x1'FFFF'FFFF);
  CHECK(bench.perform(AtomicOp::add, kOut + 0x40, 2, 4) == 0xFFFF'FFFF);
  CHECK(bench.value_at<uint64_t>(kOut + 0x40) == 0x1'0000'0001);
  CHECK(bench.perform(AtomicOp::swap, kOut + 0x40, 5) == 0x1'0000'0001);
  CHECK(bench.perform(AtomicOp::compare_swap, kOut + 0x40, 6, 8, 4) == 5);
  CHECK(bench.value_at<uint64_t>(kOut + 0x40) == 5);
  CHECK(bench.perform(AtomicOp::compare_swap, kOut + 0x40, 6, 8, 5) == 5);
  CHECK(bench.value_at<uint64_t>(kOut + 0x40) == 6);
  CHECK(bench.gpu.l2.counters().link_atomics == 4);
  bench.require_quiet();
}

TEST_CASE("an atomic of a peer takes the dirty bytes of a shared line to memory first") {
  LinkBench bench;
  bench.request(Operation::write, kShared, 40);
  bench.request(Operation::write, kShared + 8, 77);
  CHECK(bench.value_at<uint64_t>(kShared) == 0);  // Here alone.
  CHECK(bench.perform(AtomicOp::add, kShared, 2) == 40);
  CHECK(bench.value_at<uint64_t>(kShared) == 42);
  CHECK(bench.value_at<uint64_t>(kShared + 8) == 77);
  CHECK(bench.request(Operation::read, kShared) == 42);
  bench.require_quiet();
}

TEST_CASE("an atomic of a peer is not hidden by the bytes that the L2 has of the line") {
  LinkBench bench;
  bench.set_value<uint64_t>(kShared, 7);
  CHECK(bench.request(Operation::read, kShared) == 7);
  CHECK(bench.perform(AtomicOp::add, kShared, 1) == 7);
  CHECK(bench.request(Operation::read, kShared) == 8);
}

TEST_CASE("atomics of a peer and of a kernel at system scope on one shared word all count") {
  LinkBench bench;
  Program p;
  p.addi(4, 0, TILE_SCOPE_SYSTEM).set_csr(TILE_CSR_SCOPE, 4).constant(10, kShared).addi(5, 0, 1);
  for (unsigned i = 0; i < 8; ++i) p.amoadd(6, 5, 10);
  p.end();
  Launch launch = p.launch();
  launch.workgroups = 4;
  std::vector<uint64_t> values(40, 1000);
  std::vector<PooledPayload*> payloads;
  for (uint64_t& value : values) payloads.push_back(&bench.start(AtomicOp::add, kShared, value));
  p.run(bench, launch);
  bench.run();
  CHECK(bench.value_at<uint64_t>(kShared) == 40'000 + 32);
  for (PooledPayload* const payload : payloads) payload->release();
  bench.require_quiet();
}

TEST_CASE(
    "an atomic of a peer on a cached sector that is dirty in the L2 breaks the coherence law") {
  LinkBench bench;
  uint64_t value = 1;
  PooledPayload& store = bench.cp_request(tlm::TLM_WRITE_COMMAND, Operation::write, kIn,
                                          reinterpret_cast<uint8_t*>(&value), 8);
  bench.run();
  store.release();
  uint64_t operand = 1;
  bench.start(AtomicOp::add, kIn, operand);
  CHECK_THROWS_WITH(bench.run(), Catch::Contains("past the L2 by a peer or the host, by port 0 is "
                                                 "dirty there, written by hart 0"));
}

TEST_CASE("an atomic of a peer waits while a hart has locked the line") {
  LinkBench bench;
  uint64_t mine = 0, theirs = 5;
  bench.set_value<uint64_t>(kOut, 1);
  PooledPayload& lock =
      bench.cp_request(tlm::TLM_READ_COMMAND, Operation::locked_read, kOut,
                       reinterpret_cast<uint8_t*>(&mine), 8, AllocationClass::uncached);
  bench.run();
  PooledPayload& atomic = bench.start(AtomicOp::add, kOut, theirs);
  bench.run();
  CHECK(bench.cp_done.size() == 1);
  mine += 10;
  PooledPayload& unlock =
      bench.cp_request(tlm::TLM_WRITE_COMMAND, Operation::unlocking_write, kOut,
                       reinterpret_cast<uint8_t*>(&mine), 8, AllocationClass::uncached);
  bench.run();
  CHECK(bench.cp_done.size() == 3);
  CHECK(theirs == 11);
  CHECK(bench.value_at<uint64_t>(kOut) == 16);
  for (PooledPayload* const payload : {&lock, &atomic, &unlock}) payload->release();
}

TEST_CASE("what is no word of this GPU's memory, or no atomic, is refused at once") {
  LinkBench bench;
  StampMatrix matrix;
  matrix.base = 0x600000;
  matrix.pitch = 128;
  matrix.rows = 16;
  matrix.columns = matrix.k_total = 64;
  bench.image.add_stamp(matrix);
  CHECK(bench.refused(Operation::atomic, kNode + 0x600000) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(bench.refused(Operation::atomic, kNode + STRETTO_GPU_MEMORY_LIMIT) ==
        tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(bench.refused(Operation::atomic, kOut + 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(bench.refused(Operation::write, kOut) == tlm::TLM_COMMAND_ERROR_RESPONSE);
  CHECK(bench.gpu.l2.counters().link_atomics == 0);
}
