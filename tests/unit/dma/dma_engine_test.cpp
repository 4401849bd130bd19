// SPDX-License-Identifier: Apache-2.0
// Question: does the engine move what was triggered, once, at the speed of memory and link and
// within its limits? One engine, a test memory of 1 TB/s, and a second one that plays the link: 75
// GB/s, answers when it has taken the data.
#include "models/dma/dma_engine.h"

#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/common/partition.h"
#include "models/common/tlm_checker.h"
#include "models/fabric/router.h"
#include "sw/include/formats/address_map.h"
#include "tests/unit/dma/region_words.h"
#include "tests/unit/fabric/test_memory.h"

namespace stretto {
namespace {

using test::kHere;
using test::kThere;
using test::RegionNumbers;
using test::TestMemory;

class Lines final : public InterruptLine {
 public:
  void set(unsigned line, bool level) override {
    if (level && !levels[line]) ++rises[line];
    levels[line] = level;
  }
  std::map<unsigned, bool> levels;
  std::map<unsigned, int> rises;
};

constexpr uint32_t kPush = DMA_QUEUE_PUSH_OFFSET;

// Actions at given times inside a partition.
class Script final : private EventHandler {
 public:
  explicit Script(EventQueue& queue) : EventHandler(queue), queue_(queue) {}
  void at(Time time, std::function<void()> action) {
    queue_.schedule(time, *this, actions_.size());
    actions_.push_back(std::move(action));
  }

 private:
  void on_event(uint64_t tag) override { actions_[tag](); }
  EventQueue& queue_;
  std::vector<std::function<void()>> actions_;
};

SC_MODULE(Bench) {
  Conductor conductor;
  Partition partition;
  Script script;
  TestMemory memory;
  TestMemory link;
  DmaEngine dma;
  Lines lines;
  tlm_utils::simple_initiator_socket<Bench> cp;

  explicit Bench(sc_core::sc_module_name name, DmaSpec spec = {})
      : sc_module(name),
        conductor("conductor", {}, 500 * kNanosecond),
        partition("gpu0", conductor, 1),
        script(partition.queue()),
        memory("memory", partition.queue()),
        link("link", partition.queue(), 75'000, 0),
        dma("dma", spec, partition.services()),
        cp("cp") {
    connect_checked(dma.memory, memory.port[0], partition.queue());
    connect_checked(dma.egress, link.port[0], partition.queue());
    dma.set_interrupts(lines);
    partition.add("dma", dma);
    cp.bind(dma.csr);
  }
  void at(Time time, std::function<void()> action) { script.at(time, std::move(action)); }
  void run() { REQUIRE(conductor.run() == Conductor::Outcome::quiet); }

  tlm::tlm_response_status access(tlm::tlm_command command, uint64_t offset, uint64_t & value,
                                  unsigned bytes = 8) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(bytes);
    sc_core::sc_time delay;
    cp->b_transport(payload, delay);
    return payload.get_response_status();
  }
  void write(uint64_t offset, uint64_t value) {
    REQUIRE(access(tlm::TLM_WRITE_COMMAND, offset, value) == tlm::TLM_OK_RESPONSE);
  }
  uint64_t read(uint64_t offset) {
    uint64_t value = 0;
    REQUIRE(access(tlm::TLM_READ_COMMAND, offset, value) == tlm::TLM_OK_RESPONSE);
    return value;
  }
  void arm(unsigned region, const RegionNumbers& numbers) {
    const RegionWords words = numbers.words();
    write(DMA_REGION_RANGE_OFFSET_AT(region), words.range);
    write(DMA_REGION_BASE_OFFSET_AT(region), words.base);
    write(DMA_REGION_PEER_OFFSET_AT(region), words.peer);
    write(DMA_REGION_PITCH_OFFSET_AT(region), words.pitch);
    write(DMA_REGION_SIZE_OFFSET_AT(region), words.size);
    write(DMA_REGION_TILE_OFFSET_AT(region), words.tile);
    write(DMA_REGION_WAVEFRONTS_OFFSET_AT(region), words.wavefronts);
    write(DMA_REGION_CONTROL_OFFSET_AT(region), words.control);
  }
  void trigger(const RegionNumbers& numbers, uint32_t wg, uint8_t wf) {
    const uint64_t row =
        (wg - numbers.id_base) / numbers.tiles_n * numbers.tile_m + wf * numbers.rows;
    const uint64_t column = (wg - numbers.id_base) % numbers.tiles_n * numbers.tile_n;
    dma.on_trigger(partition.queue().now(), static_cast<uint16_t>(wg), wf,
                   numbers.base + row * numbers.pitch + column * 2);
  }
  // All wavefront tiles of a region, at once.
  void trigger_all(const RegionNumbers& numbers) {
    for (uint64_t wg = numbers.first_wg; wg < numbers.first_wg + numbers.wg_count; ++wg) {
      for (uint64_t wf = 0; wf < numbers.wavefronts; ++wf) {
        if ((wg - numbers.id_base) / numbers.tiles_n * numbers.tile_m + wf * numbers.rows <
            numbers.m) {
          trigger(numbers, static_cast<uint32_t>(wg), static_cast<uint8_t>(wf));
        }
      }
    }
  }
  void fill(uint64_t address, uint64_t bytes, uint64_t pattern) {
    write(DMA_QUEUE_DESTINATION_OFFSET, address);
    write(DMA_QUEUE_BYTES_OFFSET, bytes);
    write(DMA_QUEUE_PATTERN_OFFSET, pattern);
    write(kPush, STRETTO_FIELD(DMA_QUEUE_PUSH_KIND, DMA_QUEUE_PUSH_KIND_FILL) |
                     STRETTO_FIELD(DMA_QUEUE_PUSH_ACCOUNT, 12) | DMA_QUEUE_PUSH_INTERRUPT_MASK);
  }
  void copy(uint64_t destination, uint64_t source, uint64_t bytes, bool update = false) {
    write(DMA_QUEUE_SOURCE_OFFSET, source);
    write(DMA_QUEUE_DESTINATION_OFFSET, destination);
    write(DMA_QUEUE_BYTES_OFFSET, bytes);
    write(kPush, STRETTO_FIELD(DMA_QUEUE_PUSH_KIND, DMA_QUEUE_PUSH_KIND_COPY) |
                     STRETTO_FIELD(DMA_QUEUE_PUSH_OPERATION, update ? 1 : 0) |
                     STRETTO_FIELD(DMA_QUEUE_PUSH_ELEMENT, 3));
  }
  std::vector<std::string> violations() {
    AuditSink sink;
    partition.audit(sink);
    std::vector<std::string> broken;
    for (const AuditResult& result : sink.all()) {
      if (!result.holds) broken.push_back(result.law);
    }
    CHECK(sink.all().size() == 6);
    return broken;
  }
  uint64_t statistic(const std::string& name) {
    StatisticSink sink;
    dma.report(sink);
    for (const Statistic& each : sink.all()) {
      if (each.path == name) return each.value;
    }
    FAIL("no statistic " << name);
    return 0;
  }
};

std::vector<uint8_t> fill_memory(TestMemory& memory, uint64_t offset, size_t bytes) {
  std::vector<uint8_t> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(i * 13 + i / 251);
  memory.image.load(offset, data.data(), bytes);
  return data;
}

TEST_CASE(
    "a triggered tile is read once by rows and leaves as one two-dimensional update with its ids",
    "[T3-DMA-06][T3-DMA-08]") {
  Bench bench("bench");
  const RegionNumbers numbers;
  const std::vector<uint8_t> output = fill_memory(bench.memory, 0x10000, 300 * 400);
  bench.at(0, [&] { bench.arm(2, numbers); });
  bench.at(kMicrosecond, [&] { bench.trigger(numbers, 3, 1); });
  CHECK_THROWS_WITH(bench.conductor.run(),
                    Catch::Contains("region 2 (wg 0..5): 1 of 20 wavefront tiles triggered (not "
                                    "work-group 0, wavefront 0), 1 sent"));

  REQUIRE(bench.memory.log.size() == 32);
  for (unsigned row = 0; row < 32; ++row) {
    const TestMemory::Seen& seen = bench.memory.log[row];
    REQUIRE(seen.address == numbers.base + (160 + row) * 400 + 256);
    REQUIRE(seen.bytes == 144);
    REQUIRE(seen.extension.operation == Operation::read);
    REQUIRE(seen.extension.stream == Stream::communication);
    REQUIRE(seen.extension.account == 13);
  }
  REQUIRE(bench.link.log.size() == 1);
  const TestMemory::Seen& sent = bench.link.log[0];
  CHECK(sent.address == numbers.peer + 160 * 400 + 256);
  CHECK(sent.bytes == 32 * 144);
  CHECK(sent.extension.rows == 32);
  CHECK(sent.extension.row_bytes == 144);
  CHECK(sent.extension.pitch == 400);
  CHECK(sent.extension.operation == Operation::update);
  CHECK(sent.extension.tracked);
  CHECK(sent.extension.wg_id == 3);
  CHECK(sent.extension.wf_id == 1);
  std::vector<uint8_t> packed(32 * 144);
  bench.link.image.read((numbers.peer + 160 * 400 + 256) & STRETTO_OFFSET_MASK, packed.data(),
                        packed.size());
  for (unsigned row = 0; row < 32; ++row) {
    REQUIRE(std::equal(packed.begin() + row * 144, packed.begin() + (row + 1) * 144,
                       output.begin() + (160 + row) * 400 + 256));
  }
  // Read: 4,608 B at 1 TB/s and 100 ns; then the link: 4,608 B at 75 GB/s = 61.44 ns.
  CHECK(sent.at == kMicrosecond + 4'608 * kPicosecond + 100 * kNanosecond + 61'440 * kPicosecond);
}

TEST_CASE("a region is done when all of it is triggered and sent, and interrupts once") {
  Bench bench("bench");
  const RegionNumbers numbers;
  bench.at(0, [&] {
    bench.arm(70, numbers);
    bench.write(DMA_REGION_IRQ_ENABLE_OFFSET_AT(1), ~0ull);
    bench.trigger_all(numbers);
    CHECK(bench.read(DMA_REGION_DONE_OFFSET_AT(1)) == 0);
  });
  bench.run();
  CHECK(bench.link.log.size() == 20);
  CHECK(bench.read(DMA_REGION_DONE_OFFSET_AT(1)) == 1u << 6);
  CHECK(bench.lines.levels[STRETTO_IRQ_DMA]);
  CHECK(bench.lines.rises[STRETTO_IRQ_DMA] == 1);
  bench.write(DMA_REGION_DONE_OFFSET_AT(1), 1u << 6);
  CHECK_FALSE(bench.lines.levels[STRETTO_IRQ_DMA]);
  CHECK(bench.read(DMA_TRIGGERS_OFFSET) == 20);
  CHECK(bench.read(DMA_BYTES_SENT_OFFSET) == 300 * 200 * 2);
  CHECK(bench.read(DMA_REGION_STATUS_OFFSET_AT(70)) == (20ull | 20ull << 20 | 20ull << 40));
  CHECK(bench.violations().empty());
}

TEST_CASE("a local region is done by its triggers alone") {
  Bench bench("bench");
  RegionNumbers numbers;
  numbers.peer = 0;
  bench.at(0, [&] {
    bench.arm(0, numbers);
    bench.trigger_all(numbers);
    CHECK(bench.read(DMA_REGION_DONE_OFFSET_AT(0)) == 1);
  });
  bench.run();
  CHECK(bench.memory.log.empty());
  CHECK(bench.link.log.empty());
  CHECK(bench.violations().empty());
}

// 8 x 8 full tiles of 32 KiB = 2 MiB of output.
RegionNumbers big_region() {
  RegionNumbers numbers;
  numbers.m = numbers.n = 1024;
  numbers.pitch = 2048;
  numbers.tiles_n = 8;
  numbers.wg_count = 64;
  return numbers;
}

TEST_CASE("link pacing keeps 64 KiB in flight and the link busy") {
  Bench bench("bench");
  const RegionNumbers numbers = big_region();
  bench.at(0, [&] {
    bench.arm(0, numbers);
    bench.trigger_all(numbers);
  });
  bench.run();
  CHECK(bench.statistic("in_flight_high_water") == 65'536);
  const uint64_t bytes = 1024 * 2048;
  const Time on_link = bytes * 1'000'000'000 / 75'000;
  // The link starts when the first tile is read: 8 KiB at 1 TB/s and 100 ns.
  CHECK(bench.link.log.back().at == 8'192 * kPicosecond + 100 * kNanosecond + on_link);
}

TEST_CASE("unthrottled reads everything at the speed of the memory") {
  DmaSpec spec;
  spec.read_pacing = ReadPacing::unthrottled;
  Bench bench("bench", spec);
  const RegionNumbers numbers = big_region();
  bench.at(0, [&] {
    bench.arm(0, numbers);
    bench.trigger_all(numbers);
    CHECK(bench.read(DMA_CONTROL_OFFSET) == DMA_CONTROL_READ_PACING_UNTHROTTLED);
  });
  bench.run();
  const uint64_t bytes = 1024 * 2048;
  CHECK(bench.statistic("in_flight_high_water") == bytes);
  CHECK(bench.memory.log.back().at == bytes * kPicosecond + 100 * kNanosecond);
}

TEST_CASE("firmware can change the pacing while tiles wait") {
  Bench bench("bench");
  const RegionNumbers numbers = big_region();
  bench.at(0, [&] {
    bench.arm(0, numbers);
    bench.trigger_all(numbers);
  });
  bench.at(kMicrosecond,
           [&] { bench.write(DMA_CONTROL_OFFSET, DMA_CONTROL_READ_PACING_UNTHROTTLED); });
  bench.run();
  CHECK(bench.memory.log.back().at < 4 * kMicrosecond);
}

TEST_CASE("a fill runs at the bandwidth of the memory") {
  Bench bench("bench");
  const uint64_t bytes = 8 << 20;
  bench.at(0, [&] { bench.fill(kHere, bytes, 0x0123456789ABCDEF); });
  bench.run();
  CHECK(bench.memory.log.back().at ==
        bytes * kPicosecond + 100 * kNanosecond);  // 1 TB/s and one latency: never out of requests.
  CHECK(bench.memory.log[0].extension.account == 12);
  CHECK(bench.memory.log[0].extension.operation == Operation::fill);
  uint64_t last = 0;
  bench.memory.image.read(bytes - 8, reinterpret_cast<uint8_t*>(&last), 8);
  CHECK(last == 0x0123456789ABCDEF);
  CHECK(bench.read(DMA_BYTES_WRITTEN_OFFSET) == bytes);
  CHECK(bench.violations().empty());
}

TEST_CASE("descriptors get ids and complete in order with an interrupt") {
  Bench bench("bench");
  bench.at(0, [&] {
    bench.write(DMA_IRQ_ENABLE_OFFSET, DMA_IRQ_ENABLE_QUEUE_DONE_MASK);
    bench.fill(kHere, 1 << 20, 1);
    CHECK(bench.read(DMA_QUEUE_PUSHED_OFFSET) == 1);
    bench.fill(kHere + (1 << 20), 64, 2);
    CHECK(bench.read(DMA_QUEUE_PUSHED_OFFSET) == 2);
    CHECK(STRETTO_FIELD_GET(bench.read(DMA_QUEUE_STATUS_OFFSET), DMA_QUEUE_STATUS_FREE) == 14);
  });
  bench.at(kMicrosecond, [&] { CHECK(bench.read(DMA_QUEUE_COMPLETED_OFFSET) == 0); });
  bench.run();
  CHECK(bench.read(DMA_QUEUE_COMPLETED_OFFSET) == 2);
  CHECK(bench.lines.levels[STRETTO_IRQ_DMA]);
  bench.write(DMA_QUEUE_STATUS_OFFSET, DMA_QUEUE_STATUS_DONE_MASK);
  CHECK_FALSE(bench.lines.levels[STRETTO_IRQ_DMA]);
}

TEST_CASE("copies move bytes inside the memory and add where told") {
  Bench bench("bench");
  const std::vector<uint8_t> data = fill_memory(bench.memory, 0x1000, 10'000);
  bench.at(0, [&] { bench.copy(kHere + 0x100000, kHere + 0x1000, 10'000); });
  bench.at(10 * kMicrosecond, [&] { bench.copy(kHere + 0x100000, kHere + 0x1000, 8, true); });
  bench.run();
  std::vector<uint8_t> there(10'000);
  bench.memory.image.read(0x100000, there.data(), there.size());
  CHECK(std::equal(there.begin() + 8, there.end(), data.begin() + 8));
  uint32_t original;
  uint32_t doubled;
  std::memcpy(&original, data.data(), 4);
  std::memcpy(&doubled, there.data(), 4);
  CHECK(doubled == 2 * original);
  CHECK(bench.violations().empty());
}

TEST_CASE("a remote copy leaves in pieces over the link, untracked") {
  Bench bench("bench");
  fill_memory(bench.memory, 0x1000, 10'000);
  bench.at(0, [&] { bench.copy(kThere + 0x40, kHere + 0x1000, 10'000); });
  bench.run();
  REQUIRE(bench.link.log.size() == 3);  // 4,096 + 4,096 + 1,808.
  CHECK(bench.link.log[2].address == kThere + 0x40 + 8'192);
  CHECK(bench.link.log[2].bytes == 1'808);
  CHECK_FALSE(bench.link.log[0].extension.tracked);
  CHECK(bench.read(DMA_QUEUE_COMPLETED_OFFSET) == 1);
}

TEST_CASE("bad descriptors complete at once with an error and do nothing") {
  Bench bench("bench");
  bench.at(0, [&] {
    bench.write(DMA_ERROR_ENABLE_OFFSET, DMA_ERROR_ENABLE_BITS_MASK);
    bench.fill(kHere, 0, 0);
    bench.fill(kHere + 4, 64, 0);
    bench.fill(kThere, 64, 0);
    bench.fill(kHere + 0xFEFFFFFFF8, 64, 0);
    bench.copy(kHere, kThere, 64);
    CHECK(bench.read(DMA_QUEUE_COMPLETED_OFFSET) == 5);
    CHECK(bench.read(DMA_ERROR_OFFSET) == DMA_ERROR_BAD_DESCRIPTOR_MASK);
    CHECK(STRETTO_FIELD_GET(bench.read(DMA_ERROR_INFO_OFFSET), DMA_ERROR_INFO_INDEX) == 1);
    CHECK(bench.lines.levels[STRETTO_IRQ_DMA_ERROR]);
    bench.write(DMA_ERROR_OFFSET, DMA_ERROR_BAD_DESCRIPTOR_MASK);
    CHECK_FALSE(bench.lines.levels[STRETTO_IRQ_DMA_ERROR]);
  });
  bench.run();
  CHECK(bench.memory.log.empty());
}

TEST_CASE("a seventeenth descriptor is lost and reported") {
  Bench bench("bench");
  bench.at(0, [&] {
    for (int i = 0; i < 17; ++i) bench.fill(kHere + 64 * i, 64, 0);
    CHECK(bench.read(DMA_ERROR_OFFSET) == DMA_ERROR_QUEUE_FULL_MASK);
    CHECK(bench.read(DMA_QUEUE_PUSHED_OFFSET) == 16);
  });
  bench.run();
  CHECK(bench.memory.log.size() == 16);
}

TEST_CASE(
    "stray and repeated triggers are errors and break the law of triggers only if tiles are "
    "missing") {
  Bench bench("bench");
  RegionNumbers numbers;
  numbers.peer = 0;
  bench.at(0, [&] {
    bench.arm(0, numbers);
    bench.trigger_all(numbers);
    bench.trigger(numbers, 0, 0);
    CHECK(bench.read(DMA_ERROR_OFFSET) == DMA_ERROR_REPEATED_TRIGGER_MASK);
    bench.dma.on_trigger(0, 999, 1, 0);
    CHECK(bench.read(DMA_ERROR_OFFSET) ==
          (DMA_ERROR_REPEATED_TRIGGER_MASK | DMA_ERROR_NO_REGION_MASK));
    numbers.tiles_n = 5;
    bench.arm(1, numbers);
    CHECK((bench.read(DMA_ERROR_OFFSET) & DMA_ERROR_BAD_REGION_MASK) != 0);
    CHECK((bench.read(DMA_REGION_CONTROL_OFFSET_AT(1)) & DMA_REGION_CONTROL_VALID_MASK) == 0);
  });
  bench.run();
  CHECK(bench.violations().empty());
}

TEST_CASE("a trigger whose address is not its tile's breaks a law") {
  Bench bench("bench");
  RegionNumbers numbers;
  numbers.peer = 0;
  numbers.first_wg = 0;
  numbers.wg_count = 1;
  numbers.m = 32;
  bench.at(0, [&] {
    bench.arm(0, numbers);
    bench.dma.on_trigger(0, 0, 0, numbers.base + 2);
  });
  bench.run();
  CHECK(bench.violations() ==
        std::vector<std::string>{"trigger addresses that are not their tile's = 0"});
}

TEST_CASE("an answer with an error is reported and named by the audit") {
  Bench bench("bench");
  bench.memory.refuse_from = 0x100000;
  bench.at(0, [&] { bench.copy(kHere, kHere + 0x200000, 64); });
  bench.run();
  CHECK(bench.read(DMA_ERROR_OFFSET) == DMA_ERROR_RESPONSE_MASK);
  CHECK(bench.read(DMA_QUEUE_COMPLETED_OFFSET) == 1);
  CHECK(bench.violations() == std::vector<std::string>{"DMA bytes that failed = 0"});
}

TEST_CASE("accesses that hit no register answer with an address error") {
  Bench bench("bench");
  bench.at(0, [&] {
    uint64_t value = 0;
    CHECK(bench.access(tlm::TLM_READ_COMMAND, 0x38, value) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(bench.access(tlm::TLM_READ_COMMAND, 0xFFF8, value) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(bench.access(tlm::TLM_READ_COMMAND, 0x4, value, 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  });
  bench.run();
}

// Direct transfers

class Client final : public DirectTransferClient {
 public:
  explicit Client(EventQueue& queue) : queue_(queue) {}
  void transfer_done(uint16_t tag, bool failed) override {
    done.push_back({tag, failed, queue_.now()});
  }
  struct Done {
    uint16_t tag;
    bool failed;
    Time at;
  };
  std::vector<Done> done;

 private:
  EventQueue& queue_;
};

TEST_CASE("a direct transfer with a source at a peer reads over the link and writes here") {
  Bench bench("bench");
  Client client(bench.partition.queue());
  bench.dma.set_direct_client(client);
  std::vector<uint8_t> there(10'000);
  for (size_t i = 0; i < there.size(); ++i) there[i] = static_cast<uint8_t>(i * 3 + i / 256);
  bench.link.image.write(0x1000, there.data(), there.size());
  bench.at(0, [&] { bench.dma.start_direct({5, kThere + 0x1000, kHere + 0x8000, there.size()}); });
  bench.run();
  REQUIRE(client.done.size() == 1);
  CHECK(client.done[0].tag == 5);
  CHECK_FALSE(client.done[0].failed);
  // The link at 75 GB/s, then the last piece (10000 - 2 x 4096 B) at the memory's 1 TB/s and 100
  // ns.
  CHECK(client.done[0].at ==
        uint64_t{10'000} * 1'000'000'000 / 75'000 + (1'808 + 100'000) * kPicosecond);
  std::vector<uint8_t> here(there.size());
  bench.memory.image.read(0x8000, here.data(), here.size());
  CHECK(here == there);
  CHECK(bench.link.log[0].extension.operation == Operation::read);
}

TEST_CASE("a direct transfer whose source the peer refuses fails and writes nothing") {
  Bench bench("bench");
  Client client(bench.partition.queue());
  bench.dma.set_direct_client(client);
  bench.link.refuse_from = 0;
  bench.at(0, [&] { bench.dma.start_direct({5, kThere, kHere, 64}); });
  bench.run();
  REQUIRE(client.done.size() == 1);
  CHECK(client.done[0].failed);
  CHECK(bench.memory.log.empty());
  AuditSink sink;
  bench.dma.audit(sink);
  CHECK(std::any_of(sink.all().begin(), sink.all().end(), [](const AuditResult& one) {
    return !one.holds && one.law == "DMA bytes that failed = 0";
  }));
}

TEST_CASE("a direct transfer from one peer to another reads and writes over the link") {
  Bench bench("bench");
  Client client(bench.partition.queue());
  bench.dma.set_direct_client(client);
  const std::vector<uint8_t> there(512, 7);
  bench.link.image.write(0x1000, there.data(), there.size());
  bench.at(0, [&] {
    bench.dma.start_direct(
        {1, kThere + 0x1000, (uint64_t{3} << STRETTO_NODE_SHIFT) + 0x4000, there.size()});
  });
  bench.run();
  REQUIRE(client.done.size() == 1);
  CHECK_FALSE(client.done[0].failed);
  CHECK(bench.memory.log.empty());
  std::vector<uint8_t> moved(512);
  bench.link.image.read(0x4000, moved.data(), moved.size());
  CHECK(moved == there);
}

}  // namespace
}  // namespace stretto
