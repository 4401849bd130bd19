// SPDX-License-Identifier: Apache-2.0
// Question: which accesses of two wavefronts to the same bytes does the race law let pass, and which
// does it end the run for? Without a machine: requests, answers and barriers as units tell of them.
// State space: who synchronises (nobody, atomic, barrier before it or not) x what is in flight then.
#include "models/gpu/base/race_law.h"

#include <utility>

#include <catch2/catch.hpp>

#include "models/common/error.h"
#include "models/common/payload_pool.h"
#include "sw/include/formats/address_map.h"

using namespace stretto;

namespace {

constexpr uint64_t kData = 0x1000, kWord = 0x2000, kElsewhere = 0x9000;
constexpr RaceLaw::Wavefront kProducer{1, 0, 0, 3, 10}, kSecond{1, 0, 1, 3, 10},
    kConsumer{2, 0, 0, 4, 11};

struct Fixture {
  RaceLaw law{0};
  uint64_t now = 100;

  Fixture() {
    law.watch({{kData, 0x1000}, {kWord, 0x100}});
    add(kSecond, kWord + 0x80);  // From now on these are queues.
  }
  struct Request {
    PooledPayload payload;
    Request(Operation operation, uint64_t offset, uint32_t bytes) {
      payload.set_address((uint64_t{1} << STRETTO_NODE_SHIFT) + offset);
      payload.set_data_length(bytes);
      payload.extension.operation = operation;
      payload.extension.row_bytes = bytes;
    }
  };
  void begin(const RaceLaw::Wavefront& by, Operation operation, uint64_t offset, uint32_t bytes) {
    Request request(operation, offset, bytes);
    law.sent(by, request.payload, now += 10);
  }
  void end(const RaceLaw::Wavefront& by, Operation operation, uint64_t offset, uint32_t bytes) {
    Request request(operation, offset, bytes);
    law.answered(by, request.payload, now += 10);
  }
  void access(const RaceLaw::Wavefront& by, Operation operation, uint64_t offset = kData,
              uint32_t bytes = 256) {
    begin(by, operation, offset, bytes);
    end(by, operation, offset, bytes);
  }
  void add(const RaceLaw::Wavefront& by, uint64_t word) { access(by, Operation::atomic, word, 8); }
  void wait(const RaceLaw::Wavefront& by, uint64_t word) { access(by, Operation::read, word, 8); }
  void barrier(const RaceLaw::Wavefront& of) {
    law.barrier(of.unit, of.group, {now, now, 0, 0, 0, 0, 0, 0});
    now += 10;
  }
  // What the law says; "" if it lets `access` pass.
  template <class Access>
  std::string breach(const Access& access) {
    try {
      access();
    } catch (const CheckError& error) {
      return error.what();
    }
    return "";
  }
};

constexpr Operation kLoad = Operation::read, kStore = Operation::write;

}  // namespace

TEST_CASE("a load behind the word that its store's wavefront added to passes") {
  Fixture f;
  f.access(kProducer, kStore);
  f.add(kProducer, kWord);
  f.wait(kConsumer, kWord);
  CHECK(f.breach([&] {
    f.access(kConsumer, kLoad);
    f.add(kConsumer, kWord + 8);
    f.wait(kProducer, kWord + 8);
    f.access(kProducer, kStore);
  }) == "");
}

TEST_CASE("a load that waits for nothing is named with its store, line and queue") {
  Fixture f;
  f.law.set_names(
      {.place = [](uint64_t offset) { return "entry " + std::to_string(offset); }, .stage = {}});
  f.access(kProducer, kStore);
  f.add(kProducer, kWord);
  CHECK(
      f.breach([&] { f.access(kConsumer, kLoad, kData + 128, 4); }) ==
      "race: gpu0: queue data at 0x10000001080, entry 4224, read by compute unit 2 (kernel slot 4, "
      "work-group 11, wavefront 0) before the store of compute unit 1 (kernel slot 3, work-group "
      "10, "
      "wavefront 0) was ordered before it (a release or an acquire is missing)");
}

TEST_CASE("what is always watched needs no atomic, outlasts pins, and is not counted as pinned") {
  RaceLaw law{0};
  law.watch_always({{kElsewhere, 0x100}});
  Fixture f;
  const auto race = [&] {
    return f.breach([&] {
      for (const auto& [by, operation] :
           {std::pair{kProducer, kStore}, std::pair{kConsumer, kLoad}}) {
        Fixture::Request request(operation, kElsewhere, 64);
        law.sent(by, request.payload, f.now += 10);
        law.answered(by, request.payload, f.now += 10);
      }
    });
  };
  CHECK(race().starts_with("race: gpu0: data at 0x10000009000 read by compute unit 2"));
  law.watch({{kData, 0x100}});
  CHECK(race() != "");
  law.ended(kProducer.unit, kProducer.group);
  law.ended(kConsumer.unit, kConsumer.group);
  CHECK(race() != "");
  law.watch({});
  CHECK(law.traffic(kElsewhere, 0x100).written == 0);
  StatisticSink sink;
  law.report(sink);
  REQUIRE(sink.all().size() == 1);
  CHECK(sink.all()[0].path == "l2.race_checks");
}

TEST_CASE("a load of what is on its way to the L2 is a race even behind a word") {
  Fixture f;
  f.begin(kSecond, kStore, kData, 256);
  f.barrier(kProducer);  // Nobody has waited for the store.
  f.add(kProducer, kWord);
  f.wait(kConsumer, kWord);
  CHECK(f.breach([&] { f.access(kConsumer, kLoad); }).ends_with("was performed"));
}

TEST_CASE("a store that is performed behind the barrier is not released by who added behind it") {
  Fixture f;
  f.begin(kSecond, kStore, kData, 256);
  f.barrier(kProducer);
  f.end(kSecond, kStore, kData, 256);
  f.add(kProducer, kWord);
  f.wait(kConsumer, kWord);
  CHECK(f.breach([&] { f.access(kConsumer, kLoad); }) != "");
}

TEST_CASE("a word does not release what another wavefront of the work-group has stored") {
  for (const bool meets : {false, true}) {
    Fixture f;
    f.access(kSecond, kStore);
    if (meets) f.barrier(kProducer);
    f.add(kProducer, kWord);
    f.wait(kConsumer, kWord);
    CHECK((f.breach([&] { f.access(kConsumer, kLoad); }) == "") == meets);
  }
}

TEST_CASE("a store over what is still read, or was read without a release, is a race") {
  for (const bool is_answered : {false, true}) {
    Fixture f;
    f.access(kProducer, kStore);
    f.add(kProducer, kWord);
    f.wait(kConsumer, kWord);
    f.begin(kConsumer, kLoad, kData, 256);
    f.add(kConsumer, kWord + 8);  // Before the load is there.
    if (is_answered) f.end(kConsumer, kLoad, kData, 256);
    f.wait(kProducer, kWord + 8);
    CHECK(
        f.breach([&] { f.access(kProducer, kStore); })
            .find(
                "written by compute unit 1 (kernel slot 3, work-group 10, wavefront 0) before the "
                "load of compute unit 2") != std::string::npos);
  }
}

TEST_CASE("two stores to the same bytes are a race, to bytes of one line beside each other not") {
  Fixture f;
  f.access(kProducer, kStore, kData, 64);
  f.access(kConsumer, kStore, kData + 64, 64);
  CHECK(f.breach([&] { f.access(kConsumer, kStore, kData + 60, 8); }) != "");
}

TEST_CASE("rows of a tile are watched, what is between them is not") {
  const auto rows = [](Fixture& f, const RaceLaw::Wavefront& by, Operation operation, uint64_t at) {
    Fixture::Request request(operation, at, 4 * 32);
    request.payload.extension.rows = 4;
    request.payload.extension.row_bytes = 32;
    request.payload.extension.pitch = 64;
    f.law.sent(by, request.payload, f.now += 10);
    f.law.answered(by, request.payload, f.now += 10);
  };
  Fixture f;
  rows(f, kProducer, kStore, kData);
  rows(f, kConsumer, kLoad, kData + 32);
  CHECK(f.breach([&] { rows(f, kConsumer, kLoad, kData + 1); }) != "");
}

TEST_CASE(
    "what a work-group has done that has ended is ordered, and a new one in its place is not") {
  Fixture f;
  f.access(kProducer, kStore);
  f.law.ended(1, 0);
  f.add(kConsumer, kWord);
  f.access(kConsumer, kLoad);
  CHECK(f.breach([&] { f.access(kProducer, kStore); }) != "");
}

TEST_CASE("lines without queues, other lines and other GPUs are not watched") {
  Fixture f;
  f.access(kProducer, kStore, kElsewhere);
  f.access(kConsumer, kLoad, kElsewhere);
  f.law.watch({{kData, 0x1000}});  // Pinned anew: no atomic yet.
  f.access(kProducer, kStore);
  f.access(kConsumer, kLoad);
  CHECK(f.law.traffic(kData, 0x1000).written == 256);
  CHECK(f.law.traffic(kData, 128).read == 128);
  f.law.watch({});
  CHECK_FALSE(f.law.watches());
}

TEST_CASE("what a range moved is counted on while others are watched, and nothing in between") {
  Fixture f;
  f.access(kProducer, kStore);
  f.law.watch({{kWord, 0x100}});
  CHECK(f.law.traffic(kData, 0x1000).written == 256);
  f.access(kProducer, kStore);  // Nobody watches.
  f.law.watch({{kData, 0x1000}, {kWord, 0x100}});
  f.access(kProducer, kStore, kData + 128, 128);
  CHECK(f.law.traffic(kData, 0x1000).written == 256 + 128);
  CHECK(f.law.traffic(kData, 128).written == 128);
  CHECK(f.law.traffic(kWord, 0x100).written == 0);
}
