// SPDX-License-Identifier: Apache-2.0
// Question: do the bytes come out right, whatever the shape and order of accesses?
//
// State space: operation x alignment x length x stream x element type x order of conflicting
// accesses. The reference is an array of bytes with the operations applied in arrival order. Sums
// use small integers, exact in every format.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstring>

#include "models/common/arithmetic.h"
#include "models/common/stamp.h"
#include "tests/support/seeded_rng.h"
#include "tests/unit/hbm/hbm_fixture.h"

using namespace stretto;
using namespace stretto::test;

namespace {

std::vector<uint8_t> random_bytes(Rng& rng, size_t count) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng.next());
  return bytes;
}

std::vector<uint8_t> halves(const std::vector<uint16_t>& values) {
  std::vector<uint8_t> bytes(values.size() * 2);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<uint8_t> memory(HbmFixture& bench, uint64_t address, size_t count) {
  std::vector<uint8_t> bytes(count);
  bench.image.read(address, bytes.data(), count);
  return bytes;
}

}  // namespace

TEST_CASE("a payload of any alignment and length is written and read back whole") {
  HbmFixture bench{HbmSpec{}};
  Rng rng;
  std::vector<std::vector<uint8_t>> sent;
  std::vector<uint64_t> addresses;
  uint64_t address = 0x10003;
  for (unsigned i = 0; i < 200; ++i) {
    sent.push_back(random_bytes(rng, rng.between(1, 3000)));
    addresses.push_back(address);
    bench.write(address, sent.back(), i * kCycle, Stream::communication);
    address += sent.back().size() + rng.below(100);
  }
  bench.run();
  std::vector<size_t> reads;
  for (unsigned i = 0; i < 200; ++i) {
    reads.push_back(
        bench.read(addresses[i], sent[i].size(), bench.queue.now(), Stream::communication));
  }
  bench.run();
  bool equal = true;
  for (unsigned i = 0; i < 200; ++i) equal = equal && bench.requests[reads[i]].data == sent[i];
  CHECK(equal);
  CHECK(bench.answered() == 400);
  CHECK(bench.accepted);
  CHECK(bench.violations().empty());
}

TEST_CASE("byte enables and fills write what they name and nothing else") {
  HbmFixture bench{HbmSpec{}};
  std::vector<uint8_t> before(512, 0xEE);
  bench.image.load(0, before.data(), before.size());
  const uint8_t enable[4] = {0xFF, 0, 0, 0xFF};
  bench.send(Operation::write, 96, std::vector<uint8_t>(8, 0x11), 0, Stream::communication,
             [&](PooledPayload& payload) {
               payload.set_byte_enable_ptr(const_cast<uint8_t*>(enable));
               payload.set_byte_enable_length(4);
             });
  bench.send(Operation::fill, 200, {1, 2, 3, 4, 5, 6, 7, 8}, 0, Stream::communication,
             [&](PooledPayload& payload) { payload.set_data_length(100); });
  bench.run();
  std::vector<uint8_t> expected = before;
  for (unsigned i = 0; i < 8; ++i) {
    if (i % 4 == 0 || i % 4 == 3) expected[96 + i] = 0x11;
  }
  for (unsigned i = 0; i < 100; ++i) expected[200 + i] = static_cast<uint8_t>(i % 8 + 1);
  CHECK(memory(bench, 0, 512) == expected);
}

TEST_CASE("op-and-store adds in every element type", "[T3-NMC-01]") {
  HbmFixture bench{HbmSpec{}};
  // 1.5 + 2.25 = 3.75 in FP16, BF16 and FP32; 7 + -9 = -2 in INT32.
  const auto put = [&](uint64_t at, std::vector<uint8_t> bytes) {
    bench.image.load(at, bytes.data(), bytes.size());
  };
  put(0, halves({0x3E00, 0x3E00}));
  put(4096, halves({0x3FC0, 0x3FC0}));
  put(8192, halves({0x0000, 0x3FC0}));
  put(12288, halves({7, 0}));
  bench.update(0, halves({0x4080, 0x4080}), 0, Stream::communication, ElementType::fp16);
  bench.update(4096, halves({0x4010, 0x4010}), 0, Stream::communication, ElementType::bf16);
  bench.update(8192, halves({0x0000, 0x4010}), 0, Stream::communication, ElementType::fp32);
  bench.update(12288, halves({0xFFF7, 0xFFFF}), 0, Stream::communication, ElementType::int32);
  bench.run();
  CHECK(memory(bench, 0, 4) == halves({0x4380, 0x4380}));
  CHECK(memory(bench, 4096, 4) == halves({0x4070, 0x4070}));
  CHECK(memory(bench, 8192, 4) == halves({0x0000, 0x4070}));
  CHECK(memory(bench, 12288, 4) == halves({0xFFFE, 0xFFFF}));
}

TEST_CASE("op-and-store adds FP8 at any address, rounds each sum and saturates", "[T3-2XCU-02]") {
  HbmFixture bench{HbmSpec{}};
  // E4M3: 1.5 + 2.25 = 3.75; 2 + 0.125 is half-way to 2.25 and stays; 416 + 416 saturates at 448.
  // E5M2: 1.5 + 2.5 = 4; 8 + 1 is half-way to 10 and stays.
  const std::vector<uint8_t> memory4{0x3C, 0x40, 0x7D}, added4{0x41, 0x20, 0x7D};
  const std::vector<uint8_t> memory5{0x3E, 0x48}, added5{0x41, 0x3C};
  bench.image.load(4097, memory4.data(), 3);
  bench.image.load(8193, memory5.data(), 2);
  bench.update(4097, added4, 0, Stream::communication, ElementType::e4m3);
  bench.update(8193, added5, 0, Stream::communication, ElementType::e5m2);
  bench.run();
  // What lies beside them stays as it was.
  CHECK(memory(bench, 4096, 5) == std::vector<uint8_t>{0, 0x47, 0x40, 0x7E, 0});
  CHECK(memory(bench, 8192, 4) == std::vector<uint8_t>{0, 0x44, 0x48, 0});
}

TEST_CASE("accesses are counted on the account that they name, by the job's name for it") {
  HbmFixture bench{HbmSpec{}};
  for (const uint8_t account : {uint8_t{STRETTO_ACCOUNT_CP}, uint8_t{STRETTO_ACCOUNTS - 1}}) {
    bench.send(Operation::write, 4096 * account, std::vector<uint8_t>(64, 1), 0, Stream::compute,
               [account](PooledPayload& payload) { payload.extension.account = account; });
  }
  bench.run();
  CHECK(bench.statistic("write_bytes.cp") == 64);
  CHECK(bench.statistic("write_bytes.account15") == 64);
  CHECK(bench.statistic("first_access.account15") > 0);
  // Without a name and without an access there is nothing to tell.
  CHECK_THROWS(bench.statistic("write_bytes.account4"));
  StatisticSink sink;
  sink.name_account(4, "unused");
  sink.name_account(15, "put");
  bench.hbm->report(sink);
  const auto value = [&](const std::string& path) {
    for (const Statistic& one : sink.all()) {
      if (one.path == path) return static_cast<int64_t>(one.value);
    }
    return int64_t{-1};
  };
  CHECK(value("write_bytes.put") == 64);
  CHECK(value("write_bytes.unused") == 0);
  CHECK(value("write_bytes.account15") == -1);
}

TEST_CASE("tags-only accesses take time and touch no bytes") {
  HbmFixture bench{HbmSpec{}};
  const size_t id = bench.send(Operation::write, 0, std::vector<uint8_t>(128, 0x55), 0,
                               Stream::compute, [](PooledPayload& payload) {
                                 payload.extension.tags_only = true;
                                 payload.set_data_ptr(nullptr);
                               });
  bench.run();
  CHECK(bench.done(id) > 0);
  CHECK(memory(bench, 0, 128) == std::vector<uint8_t>(128, 0));
  CHECK(bench.statistic("write_atoms.other") == 2);
  CHECK(bench.image.resident_bytes() == 0);
}

namespace {

// An arrival that no queue has taken.
bool waits_for_admission(const HbmFixture& bench) {
  const std::vector<std::string> lines = bench.hbm->waiting_on();
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("arrivals wait for a queue") != std::string::npos;
  });
}

// Reads, writes and updates of few atoms from both streams at random times; the image and every
// read must equal a reference in arrival order. The memory promises the order of admission
// (channel.h, invariant 1). A queue that is full, or that takes what was held, admits nothing for
// some cycles, and then an access of the other stream overtakes. So each access arrives after the
// one before it has been admitted: both orders are one.
void random_conflicts(HbmSpec spec, uint64_t salt) {
  HbmFixture bench(spec);
  for (unsigned i = 0; i < spec.channels;
       ++i) {  // Communication-aware with a tight limit: streams drift apart.
    bench.write_register(true, i * STRETTO_MCA_STRIDE, 1);
    bench.write_register(true, i * STRETTO_MCA_STRIDE + 8, 5);
  }
  Rng rng(salt);
  std::vector<uint8_t> reference(4096, 0);
  std::vector<std::pair<size_t, std::vector<uint8_t>>> expected;
  Time at = 100 * kCycle;
  for (unsigned i = 0; i < 20000; ++i) {
    const Stream stream = rng.chance(1, 2) ? Stream::compute : Stream::communication;
    const uint64_t block = rng.below(16) * 256;
    const uint64_t offset = block + rng.below(64) * 2;
    const size_t bytes = rng.between(1, 64) * 2;
    // Arrivals of different channels have no order to each other, so one access stays within one
    // block.
    bench.run(at + 2 * kCycle);
    for (Time step = kCycle; waits_for_admission(bench); step *= 2) {
      bench.run(bench.queue.now() + step);
    }
    at = bench.queue.now() + rng.between(1, 3) * kCycle;
    switch (rng.below(3)) {
      case 0: {
        const size_t id = bench.read(offset, bytes, at, stream);
        expected.push_back({id, {reference.begin() + offset, reference.begin() + offset + bytes}});
        break;
      }
      case 1: {
        const std::vector<uint8_t> data = random_bytes(rng, bytes);
        bench.write(offset, data, at, stream);
        std::copy(data.begin(), data.end(), reference.begin() + offset);
        break;
      }
      default: {
        std::vector<uint8_t> data(bytes);
        for (uint8_t& byte : data) byte = static_cast<uint8_t>(rng.below(3));
        std::vector<uint8_t> padded = data;
        padded.resize((bytes + 3) / 4 * 4);
        const uint64_t aligned = offset & ~uint64_t{3};
        if (aligned + padded.size() > block + 256) break;
        bench.update(aligned, padded, at, stream, ElementType::int32);
        add_elements(ElementType::int32, reference.data() + aligned, padded.data(), padded.size());
        break;
      }
    }
  }
  bench.run();
  size_t wrong = 0;
  for (const auto& [id, bytes] : expected) wrong += bench.requests[id].data == bytes ? 0 : 1;
  CHECK(wrong == 0);
  CHECK(memory(bench, 0, 4096) == reference);
  CHECK(bench.answered() == bench.requests.size());
  CHECK(bench.statistic("held_atoms") > 0);
  CHECK(bench.statistic("ordered_atoms") > 0);
  CHECK(bench.violations().empty());
}

HbmSpec few_channels() {
  HbmSpec spec;
  spec.channels = 1;
  spec.input_queue_atoms = 4096;
  return spec;
}

}  // namespace

TEST_CASE("conflicting accesses of both streams end in arrival order", "[T3-NMC-04]") {
  random_conflicts(few_channels(), 1);
}
TEST_CASE("conflicting accesses end in arrival order under write watermarks") {
  HbmSpec spec = few_channels();
  spec.write_policy = WritePolicy::watermark;
  random_conflicts(spec, 2);
}
TEST_CASE("conflicting accesses end in arrival order in the HBM2 set with a small DRAM queue") {
  HbmSpec spec = few_channels();
  spec.timing = "hbm2_generic";
  spec.dram_queue_atoms = 6;
  random_conflicts(spec, 3);
}

TEST_CASE("without same-atom order hazards happen, are counted and break the audit") {
  HbmSpec spec = few_channels();
  spec.same_atom_order = false;
  HbmFixture bench(spec);
  const uint64_t row0 = bench.hbm->mapping().address_of(0, 0, 0);
  const uint64_t row1 = bench.hbm->mapping().address_of(0, 0, 1);
  bench.read(row1, 64,
             0);  // Opens row 1: the update to row 0 must wait, the compute queue goes on.
  bench.write_register(true, 0, 1);  // Communication-aware: compute first.
  bench.update(row0, std::vector<uint8_t>(64, 1), 200 * kCycle, Stream::communication);
  for (unsigned i = 0; i < 20; ++i) bench.read(row1 + 64, 64, 200 * kCycle);
  bench.read(row0, 64, 200 * kCycle);
  bench.run();
  CHECK(bench.statistic("hazards") > 0);
  CHECK(bench.violations().size() == 1);
}

TEST_CASE("a dropped and a doubled update break the audit") {
  HbmSpec spec;
  spec.fault_drop_update = 3;
  HbmFixture bench(spec);
  for (unsigned i = 0; i < 5; ++i)
    bench.update(i * 64, halves(std::vector<uint16_t>(32, 0x3C00)), 0, Stream::communication);
  bench.run();
  REQUIRE(bench.violations().size() == 1);
  CHECK(bench.violations()[0] == "received updates = written updates: 5 != 4");
}

TEST_CASE("a doubled update is added twice and breaks the audit") {
  HbmSpec spec;
  spec.fault_double_update = 1;
  HbmFixture bench(spec);
  bench.update(0, halves({0x3C00}), 0, Stream::communication);
  bench.run();
  CHECK(memory(bench, 0, 2) == halves({0x4000}));
  CHECK(bench.violations().size() == 1);
}

TEST_CASE("accesses that memory cannot serve answer with an error and change nothing") {
  HbmSpec spec;
  HbmFixture bench(spec);
  const auto refuse = [&](Operation operation, uint64_t address, size_t bytes,
                          const std::function<void(PooledPayload&)>& adjust = {}) {
    const size_t id = bench.send(operation, address, std::vector<uint8_t>(bytes, 1),
                                 bench.queue.now(), Stream::communication, adjust);
    bench.run();
    return bench.requests[id].status;
  };
  CHECK(refuse(Operation::atomic, 0, 8) == tlm::TLM_COMMAND_ERROR_RESPONSE);
  CHECK(refuse(Operation::locked_store, 0, 8) == tlm::TLM_COMMAND_ERROR_RESPONSE);
  CHECK(refuse(Operation::write, STRETTO_GPU_MEMORY_LIMIT - 4, 8) ==
        tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(refuse(Operation::update, 1, 2) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(refuse(Operation::update, 0, 2, [](PooledPayload& payload) {
          payload.extension.element = ElementType::byte;
        }) == tlm::TLM_COMMAND_ERROR_RESPONSE);
  CHECK(refuse(Operation::write, 0, 8, [](PooledPayload& payload) {
          payload.extension.tracked = true;
          payload.extension.wf_id = 8;
        }) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  CHECK(memory(bench, 0, 64) == std::vector<uint8_t>(64, 0));
  CHECK(bench.violations().empty());
}

TEST_CASE("atomic units lose no update and show no half of one, whatever comes between",
          "[T3-NMC-07]") {
  HbmSpec spec;
  spec.channels = 1;
  spec.updates = Updates::controller;
  HbmFixture bench(spec);
  Rng rng;
  // Eight atoms in two banks' rows; sums of at most 2000 ones are exact. Accesses of one stream
  // arrive in order, so the reference is the order of arrival.
  const auto whole = [](uint16_t sum) { return sum == 0 ? uint16_t{0} : fp16_from_whole(sum); };
  std::array<uint16_t, 8> sums{};
  std::vector<std::pair<size_t, uint16_t>> reads;
  for (unsigned i = 0; i < 2000; ++i) {
    const unsigned atom = static_cast<unsigned>(rng.below(8));
    const uint64_t address = atom % 4 * 64 + atom / 4 * 0x100000;
    const Stream stream = rng.below(2) == 0 ? Stream::compute : Stream::communication;
    const Time at = 10 * i * kCycle;
    switch (rng.below(8)) {
      case 0: reads.emplace_back(bench.read(address, 64, at, stream), sums[atom]); break;
      case 1:
        bench.write(address, std::vector<uint8_t>(64, 0), at, stream);
        sums[atom] = 0;
        break;
      default:
        bench.update(address, halves(std::vector<uint16_t>(32, 0x3C00)), at, stream);
        ++sums[atom];
    }
  }
  bench.run();
  for (const auto& [id, sum] : reads)
    CHECK(bench.requests[id].data == halves(std::vector<uint16_t>(32, whole(sum))));
  for (unsigned atom = 0; atom < 8; ++atom) {
    CHECK(memory(bench, atom % 4 * 64 + atom / 4 * 0x100000, 64) ==
          halves(std::vector<uint16_t>(32, whole(sums[atom]))));
  }
  CHECK(bench.violations().empty());
}

TEST_CASE("without anybody who adds, updates are refused") {
  HbmSpec spec;
  spec.updates = Updates::none;
  HbmFixture bench(spec);
  const size_t id = bench.update(0, std::vector<uint8_t>(64, 1), 0);
  bench.run();
  CHECK(bench.requests[id].status == tlm::TLM_COMMAND_ERROR_RESPONSE);
}
