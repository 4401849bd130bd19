// SPDX-License-Identifier: Apache-2.0
// Question: do blocks that kernels exchange between all GPUs arrive whole, whoever moves them and
// however it is asked, and does a collective engine make of each collective request the requests of
// all peers (GD-FUTURE-02)? Through the executable. Parameters: GPUs (2, 3, 4), operation, calls under
// way, work-groups, model and RTL of the ring.
#include <catch2/catch.hpp>

#include <string>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

constexpr unsigned kCalls = 5, kSizes = 3, kOfSize = kCalls + 1;  // One to warm up.
constexpr uint64_t kBytes = 64 + 1024 + 16384;

RunResult run(unsigned gpus, const std::string& mode, const std::string& rest = "") {
  const std::string n = std::to_string(gpus);
  return run_correctly(
      "gpu-driven/exchange --mode " + mode + " --set gpus=" + n + " --set card.count=" + n +
      " --set exchange.calls=" + std::to_string(kCalls) + " --set exchange.factor=16 --set " +
      "exchange.max_bytes=16384 " +
      (rest.find("--impl") == std::string::npos ? "--impl all=model " : "") + rest);
}

uint64_t of_card(const RunResult& run, unsigned card, const std::string& what) {
  return run.number("statistics.card" + std::to_string(card) + "." + what);
}

double call_us(const RunResult& run, size_t size) {
  return run.at("job.sizes").as_array().at(size).at("call_us").to_number<double>();
}

}  // namespace

TEST_CASE("blocks arrive whole in every mode, and links carry them, flags and no more",
          "[GD-USE-01]") {
  const unsigned gpus = 4, pairs = gpus * (gpus - 1);
  for (const char* mode : {"g-drv-d", "g-drv-h", "g-drv-h-collective"})
    for (const char* op : {"all_to_all", "all_gather"}) {
      INFO(mode << ", " << op);
      const RunResult root = run(gpus, mode, std::string("--set exchange.op=") + op);
      CHECK(root.number("check.elements") == pairs * kOfSize * kBytes / 8);
      CHECK(root.at("job.sizes").as_array().size() == kSizes);
      if (std::string(mode) == "g-drv-d")
        CHECK(root.number("link_bytes") == pairs * kOfSize * (kBytes + kSizes * 8));
    }
}

TEST_CASE("a collective engine makes the requests of all peers of one store a call",
          "[GD-FUTURE-02]") {
  for (const unsigned gpus : {2u, 3u, 4u}) {
    INFO(gpus << " GPUs");
    const unsigned calls = kSizes * kOfSize, peers = gpus - 1;
    const RunResult engine = run(gpus, "g-drv-h-collective"), requests = run(gpus, "g-drv-h");
    for (unsigned card = 0; card < gpus; ++card) {
      CHECK(of_card(engine, card, "window.stores") == calls);
      CHECK(of_card(engine, card, "collective_engine.collective") == calls);
      CHECK(of_card(engine, card, "collective_engine.made") == calls * peers);
      CHECK(of_card(requests, card, "window.stores") == calls * peers);
      // The ring and what is behind it do the same.
      for (const char* what : {"stores", "transfers", "received_flags", "bytes"}) {
        INFO(what);
        CHECK(of_card(engine, card, std::string("request_ring.") + what) ==
              of_card(requests, card, std::string("request_ring.") + what));
      }
      CHECK(of_card(engine, card, "request_ring.bytes") == kOfSize * kBytes * peers);
    }
  }
}

TEST_CASE("with many calls under way one wavefront asks for more of them by collective requests",
          "[GD-FUTURE-02]") {
  // 3 x 100 requests of a GPU are more than the 256 that the ring holds.
  double us[2];
  for (const bool collective : {false, true}) {
    const RunResult root =
        run(4, collective ? "g-drv-h-collective" : "g-drv-h",
            "--set exchange.calls=150 --set exchange.ahead=100 --set exchange.max_bytes=64");
    us[collective] = call_us(root, 0);
    for (unsigned card = 0; card < 4; ++card)
      CHECK(of_card(root, card, "request_ring.dropped") == 0);
  }
  // A ticket and a store instead of three of each, but the ring and the card take as long for both.
  CHECK(us[0] > 1.5 * us[1]);
}

// Metamorphic: 20 calls of 3 requests fit the ring, 200 do not.
TEST_CASE("a call takes as long whatever the calls before") {
  for (const char* mode : {"g-drv-d", "g-drv-h", "g-drv-h-collective"}) {
    INFO(mode);
    const std::string size = "--set exchange.max_bytes=64 --set exchange.calls=";
    const double few = call_us(run(4, mode, size + "20"), 0);
    CHECK(call_us(run(4, mode, size + "200"), 0) == Approx(few).epsilon(0.05));
  }
}

TEST_CASE("work-groups that share the peers, and tickets that are taken at once, move the same") {
  for (const char* how : {"--set exchange.work_groups=3",
                          "--set exchange.work_groups=2 --set exchange.tickets_at_once=true"}) {
    for (const char* mode : {"g-drv-h", "g-drv-h-collective"}) {
      INFO(mode << " " << how);
      const RunResult root = run(4, mode, how);
      for (unsigned card = 0; card < 4; ++card)
        CHECK(of_card(root, card, "request_ring.transfers") == 3 * kSizes * kOfSize);
    }
  }
}

TEST_CASE(
    "a run with a collective engine is the same for RTL and model of the ring, any window and any "
    "order of construction") {
  std::string digest;
  for (const char* how :
       {"--impl request_ring=rtl", "--impl request_ring=lockstep", "--impl all=model",
        "--impl all=model --set sim.window_ns=50", "--impl all=model --set sim.threads=1",
        "--impl all=model --set sim.reverse_elaboration=true"}) {
    const RunResult root = run(3, "g-drv-h-collective", how);
    if (digest.empty()) digest = root.text("digest");
    INFO(how);
    CHECK(root.text("digest") == digest);
  }
}

TEST_CASE("what cannot be exchanged is said before the run") {
  const auto bad = [&](const std::string& rest, const std::string& says) {
    const Finished finished = run_stretto("run gpu-driven/exchange " + rest);
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(says));
  };
  bad("--set card.collective=false", "the cards have no collective engine");
  bad("--set card.count=7", "no card for each of 8 GPUs (card.count is 7");
  bad("--set card.kind=smartnic", "card.collective needs card.kind=engine");
  bad("--mode g-drv-h --set card.kind=smartnic", "cards move blocks with card.kind=engine alone");
  bad("--set exchange.min_bytes=100", "multiple of 64");
  bad("--set exchange.max_bytes=64 --set exchange.min_bytes=128", "not below min_bytes");
  bad("--set exchange.calls=4096", "a buffer of a ring has 8388608 at most");
  bad("--set gpus=1 --set card.count=1", "needs 2 GPUs");
}
