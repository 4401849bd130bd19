// SPDX-License-Identifier: Apache-2.0
// Question: are parts of an operation told from what its own NIC, the other one and the program have
// noted, and is nothing told of one that has not ended, or whose moments are out of order?
#include <catch2/catch.hpp>

#include <numeric>

#include "platform/kinds/one_sided/operation_log.h"

namespace stretto {
namespace {

using Event = NicMoment::Event;

constexpr uint8_t kNode = 0xA0;
constexpr uint16_t kPair = 2;

// Of a get in two packets by server 0; all moments are 10 apart.
struct GetLog {
  OperationLog log{2, false};
  GetLog() { host(7, 10, 20, 100); }
  void host(uint64_t id, Time call, Time posted, Time noticed) {
    log.asker(0, id) = {.call = call, .posted = posted, .noticed = noticed};
  }
  void note(uint32_t server, Event event, Time at, uint32_t number = 0, uint64_t id = 0) {
    log.add(server, {event, kNode, kPair, number, id, at});
  }
  void note_all() {
    note(0, Event::doorbell, 30, 1);
    note(0, Event::entry, 40, 0, 7);
    note(0, Event::request_out, 50, 5);
    note(1, Event::request_in, 60, 5);
    note(1, Event::answer_out, 70, 5);
    note(1, Event::answer_out, 71, 6);
    note(0, Event::answer_in, 78, 5);
    note(0, Event::answer_in, 80, 6);
    note(0, Event::end, 90, 0, 7);
  }
  std::optional<OperationParts> parts(bool is_get = true) {
    log.close();
    return log.parts(0, 7, is_get, 2);
  }
};

TEST_CASE("each part of an operation ends where the next one begins") {
  GetLog get;
  get.note_all();
  const auto parts = get.parts();
  REQUIRE(parts);
  for (const Time part : *parts) CHECK(part == 10);
  CHECK(std::accumulate(parts->begin(), parts->end(), Time{0}) == 90);
}

TEST_CASE("of a put the last packet counts at the other server, and its acknowledgement") {
  GetLog put;
  put.note(0, Event::doorbell, 30, 1);
  put.note(0, Event::entry, 40, 0, 7);
  put.note(0, Event::request_out, 50, 5);
  put.note(0, Event::request_out, 55, 6);
  put.note(1, Event::request_in, 57, 5);
  put.note(1, Event::request_in, 60, 6);
  put.note(1, Event::answer_out, 64, 5);
  put.note(1, Event::answer_out, 70, 6);
  put.note(0, Event::answer_in, 75, 5);
  put.note(0, Event::answer_in, 80, 6);
  put.note(0, Event::end, 90, 0, 7);
  const auto parts = put.parts(false);
  REQUIRE(parts);
  for (const Time part : *parts) CHECK(part == 10);
}

TEST_CASE("a packet that comes again does not move what came first") {
  GetLog get;
  get.note_all();
  get.note(1, Event::request_in, 66, 5);
  get.note(1, Event::answer_out, 76, 5);
  const auto parts = get.parts();
  REQUIRE(parts);
  REQUIRE(get.log.part_names()[5] == "remote");
  CHECK((*parts)[5] == 10);
}

TEST_CASE("of a work-group the hart that takes its entry comes between it and the doorbell") {
  OperationLog log(2, true);
  GetLog get;
  CHECK(log.part_names().size() == get.log.part_names().size() + 1);
  CHECK(log.part_names()[1] == "detect");
  log.asker(0, 7) = {.call = 10, .posted = 15, .taken = 22, .noticed = 100};
  log.add(0, {Event::doorbell, kNode, kPair, 1, 0, 30});
  log.add(0, {Event::entry, kNode, kPair, 0, 7, 40});
  log.add(0, {Event::request_out, kNode, kPair, 5, 0, 50});
  log.add(1, {Event::request_in, kNode, kPair, 5, 0, 60});
  log.add(1, {Event::answer_out, kNode, kPair, 5, 0, 70});
  log.add(0, {Event::answer_in, kNode, kPair, 5, 0, 80});
  log.add(0, {Event::end, kNode, kPair, 0, 7, 90});
  log.close();
  const auto parts = log.parts(0, 7, true, 1);
  REQUIRE(parts);
  CHECK(*parts == OperationParts{5, 7, 8, 10, 10, 10, 10, 10, 10, 10});
  CHECK(log.begun(0, kPair) == std::pair<uint64_t, uint64_t>(1, 1));
  CHECK(log.begun(0, kPair + 1).first == 0);
}

TEST_CASE("other queue pairs and operations are kept apart") {
  GetLog get;
  get.log.add(0, {Event::doorbell, kNode, 9, 1, 0, 35});
  get.note_all();
  get.log.add(0, {Event::entry, kNode, 9, 0, 8, 95});
  get.log.add(1, {Event::answer_out, 0xA1, kPair, 5, 0, 1});
  const auto parts = get.parts();
  REQUIRE(parts);
  for (const Time part : *parts) CHECK(part == 10);
}

TEST_CASE("nothing is told of what has not ended, or is out of order") {
  {
    GetLog open;
    open.note_all();
    open.host(7, 10, 20, 0);
    CHECK_FALSE(open.parts());
  }
  {
    GetLog unanswered;
    unanswered.note(0, Event::doorbell, 30, 1);
    unanswered.note(0, Event::entry, 40, 0, 7);
    unanswered.note(0, Event::request_out, 50, 5);
    CHECK_FALSE(unanswered.parts());
  }
  {
    GetLog turned;
    turned.note_all();
    turned.host(7, 10, 35, 100);
    CHECK_FALSE(turned.parts());
  }
  GetLog other;
  other.note_all();
  other.log.close();
  CHECK_FALSE(other.log.parts(0, 8, true, 2));
  CHECK_FALSE(other.log.parts(1, 7, true, 2));
}

}  // namespace
}  // namespace stretto
