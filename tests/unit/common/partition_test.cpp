// SPDX-License-Identifier: Apache-2.0
// Question: do partitions that run apart behave as if one calendar ran them all? A Node sends
// packets to random others, does random local work and keeps a digest of all it sees with its
// times; each run of the same seed must give the same digests whatever the window, the threads and
// the order of construction. And: how do runs end?
#include "models/common/partition.h"

#include <catch2/catch.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/common/error.h"
#include "models/common/payload_pool.h"
#include "tests/support/seeded_rng.h"
#include "tests/unit/common/in_child.h"

namespace stretto {
namespace {

using test::in_child;

constexpr Time kLookahead = 500 * kNanosecond;
// From the others to those of the last nodes that may run ahead, and reach the others alone.
constexpr Time kWay = 700 * kNanosecond;

class Node final : public EventHandler, public PacketSink, public Component {
 public:
  Node(Partition& partition, unsigned nodes, unsigned last, unsigned budget)
      : EventHandler(partition.queue()),
        partition_(partition),
        nodes_(partition.node() > nodes - last ? nodes - last : nodes),
        last_(nodes - last),
        budget_(budget),
        rng_(7, partition.node()) {
    partition.attach(0, *this);
    partition.add("node", *this);
    for (int i = 0; i < 4; ++i) partition.queue().schedule(rng_.below(2 * kMicrosecond), *this);
  }
  void receive(Packet&& packet) override {
    if (packet.arrival != partition_.queue().now()) throw CheckError("received at another time");
    partition_.digest().event(packet.arrival, 1, packet.source, packet.sequence);
    act();
  }
  void on_event(uint64_t tag) override {
    partition_.digest().event(partition_.queue().now(), 2, tag, 0);
    act();
  }
  void report(StatisticSink& sink) const override {
    sink.add("acts", acts_, "count", "Times it acted.");
  }
  std::vector<std::string> waiting_on() const override {
    return waits_ ? std::vector<std::string>{"waits for Godot"} : std::vector<std::string>{};
  }
  bool waits_ = false;
  unsigned throw_at_ = ~0u;
  unsigned finish_at_ = ~0u;

 private:
  void act() {
    ++acts_;
    ++partition_.services().progress;
    if (acts_ == throw_at_) throw CheckError("node " + std::to_string(partition_.node()));
    if (acts_ == finish_at_) partition_.finish(5);
    if (budget_ == 0) return;
    --budget_;
    EventQueue& queue = partition_.queue();
    // Coarse times, so that packets of several nodes and local events often meet at one time.
    const Time step = 100 * kNanosecond;
    if (rng_.chance(1, 2)) {
      queue.schedule(queue.now() + step * rng_.below(5), *this, acts_);
    } else {
      Packet packet;
      packet.destination = static_cast<uint8_t>(1 + rng_.below(nodes_));
      const Time way = packet.destination > last_ ? kWay : kLookahead;
      packet.arrival = queue.now() + way + step * rng_.below(8);
      partition_.send(std::move(packet));
    }
  }

  Partition& partition_;
  const unsigned nodes_;  // That it sends to.
  const unsigned last_;   // Behind it are those at the end.
  unsigned budget_;
  unsigned acts_ = 0;
  test::Rng rng_;
};

struct Run {
  ConductorSpec spec;
  bool reversed = false;
  unsigned nodes = 5;
  unsigned budget = 2'000;
  unsigned last = 0;  // Nodes at the end: see kWay.
  Time ahead = 0;     // By which they run ahead.
};

class Bench {
 public:
  explicit Bench(const Run& run) {
    conductor = std::make_unique<Conductor>("conductor", run.spec, kLookahead);
    for (unsigned i = 0; i < run.nodes; ++i) {
      const uint8_t node = static_cast<uint8_t>(run.reversed ? run.nodes - i : i + 1);
      partitions.push_back(std::make_unique<Partition>(("gpu" + std::to_string(node - 1)).c_str(),
                                                       *conductor, node));
      nodes.push_back(std::make_unique<Node>(*partitions.back(), run.nodes, run.last, run.budget));
      if (node > run.nodes - run.last && run.ahead != 0)
        partitions.back()->run_ahead(run.ahead, kNever);
    }
  }
  std::string digests() {
    std::string all;
    for (Partition* partition : conductor->partitions()) all += partition->digest().hex() + "\n";
    return all;
  }
  std::unique_ptr<Conductor> conductor;
  std::vector<std::unique_ptr<Partition>> partitions;
  std::vector<std::unique_ptr<Node>> nodes;
};

std::string digests_of(const Run& run) {
  return in_child([&] {
    Bench bench(run);
    if (bench.conductor->run() != Conductor::Outcome::quiet) return std::string("not quiet");
    if (bench.conductor->windows() < 100) return std::string("too few windows");
    return bench.digests();
  });
}

TEST_CASE("results do not depend on the window") {
  Run run;
  const std::string whole = digests_of(run);
  REQUIRE(whole.size() == 5 * 65);
  for (const uint32_t window_ns : {1u, 77u, 250u, 499u}) {
    run.spec.window_ns = window_ns;
    CHECK(digests_of(run) == whole);
  }
}

// Of a machine whose last three nodes are wired to the first two alone.
Run with_ends(Time ahead, uint32_t window_ns = 0, uint32_t threads = 2, bool reversed = false) {
  Run run;
  run.spec.window_ns = window_ns;
  run.spec.threads = threads;
  run.reversed = reversed;
  run.last = 3;
  run.ahead = ahead;
  return run;
}

TEST_CASE("results do not depend on who runs ahead") {
  const std::string whole = digests_of(with_ends(0));
  REQUIRE(whole.size() == 5 * 65);
  for (const uint32_t threads : {1u, 2u, 3u}) {
    for (const uint32_t window_ns : {0u, 1u, 77u, 250u, 499u, 600u})
      CHECK(digests_of(with_ends(kWay, window_ns, threads)) == whole);
  }
  CHECK(digests_of(with_ends(kLookahead)) == whole);
  CHECK(digests_of(with_ends(kWay, 0, 2, true)) == whole);
}

TEST_CASE("who runs ahead is begun half as often") {
  const auto begun = [](Time ahead) {
    return std::stoul(in_child([&] {
      Bench bench(with_ends(ahead));
      bench.conductor->run();
      return std::to_string(bench.conductor->partitions().back()->services().windows);
    }));
  };
  CHECK(begun(kWay) < 0.6 * static_cast<double>(begun(0)));
}

TEST_CASE("a lead that is longer than the way is an error that names who was too far") {
  const std::string text = in_child([] {
    Bench bench(with_ends(2 * kWay));
    bench.conductor->run();
    return std::string("no exception");
  });
  CHECK(text.find("gets a packet of node") != std::string::npos);
}

// What has been counted at 730 ns and its multiples: no window decides it.
TEST_CASE("what is read at equal steps of time is read between the events around them") {
  const auto readings = [](uint32_t window_ns) {
    Run run;
    run.spec.window_ns = window_ns;
    return in_child([&] {
      Bench bench(run);
      std::string text;
      Time read_at = 0;
      Partition& partition = *bench.partitions[0];
      partition.on_each(730 * kNanosecond, [&](Time at) {
        if (at % (730 * kNanosecond) != 0 || at <= read_at || partition.queue().now() != at ||
            partition.queue().next_time() < at)
          text += "late ";
        read_at = at;
        text += std::to_string(partition.queue().executed()) + " ";
      });
      bench.conductor->run();
      const size_t first = 500;  // The last readings depend on when the run ends.
      return text.size() < first ? std::string("few") : text.substr(0, first);
    });
  };
  const std::string whole = readings(0);
  REQUIRE(whole.size() == 500);
  CHECK(whole.find("late") == std::string::npos);
  for (const uint32_t window_ns : {1u, 77u, 250u, 499u}) CHECK(readings(window_ns) == whole);
}

TEST_CASE("results do not depend on the number of threads") {
  Run run;
  run.spec.threads = 1;
  const std::string one = digests_of(run);
  REQUIRE(one.size() == 5 * 65);
  for (const uint32_t threads : {2u, 3u, 8u}) {
    run.spec.threads = threads;
    CHECK(digests_of(run) == one);
  }
}

TEST_CASE("results do not depend on the order of construction") {
  Run run;
  const std::string forward = digests_of(run);
  REQUIRE(forward.size() == 5 * 65);
  run.reversed = true;
  CHECK(digests_of(run) == forward);
}

TEST_CASE("different work gives different digests") {
  Run run;
  const std::string some = digests_of(run);
  run.budget = 1'999;
  CHECK(digests_of(run) != some);
}

TEST_CASE("idle time is skipped") {
  Bench bench({{}, false, 1, 0});
  bench.partitions[0]->queue().schedule(3'000'000 * kMicrosecond, *bench.nodes[0]);
  CHECK(bench.conductor->run() == Conductor::Outcome::quiet);
  CHECK(bench.conductor->windows() <= 4);
}

TEST_CASE("idle time is not read") {
  Bench bench({{}, false, 1, 0});
  Partition& partition = *bench.partitions[0];
  std::vector<Time> read;
  partition.on_each(10 * kMicrosecond, [&](Time at) { read.push_back(at); });
  constexpr Time kHour = Time{3'600} * 1'000'000 * kMicrosecond;
  partition.queue().schedule(kHour + kMicrosecond, *bench.nodes[0]);
  CHECK(bench.conductor->run() == Conductor::Outcome::quiet);
  CHECK(partition.queue().now() > kHour);
  for (const Time at : read) CHECK((at == 10 * kMicrosecond || at >= kHour));
}

TEST_CASE("the earliest exception of a window wins, and it is the same with threads") {
  for (const uint32_t threads : {1u, 2u}) {
    Run run;
    run.spec.threads = threads;
    const std::string text = in_child([&] {
      Bench bench(run);
      for (auto& node : bench.nodes) node->throw_at_ = 200;
      bench.conductor->run();
      return std::string("no exception");
    });
    Run other;
    other.spec.window_ns = 50;
    const std::string expected = in_child([&] {
      Bench bench(other);
      for (auto& node : bench.nodes) node->throw_at_ = 200;
      bench.conductor->run();
      return std::string("no exception");
    });
    CHECK(text.substr(0, 16) == "exception: node ");
    CHECK(text == expected);
  }
}

TEST_CASE("the earliest exception wins, whoever runs ahead") {
  for (const unsigned which : {0u, 1u, 2u}) {
    std::vector<std::string> texts;
    for (const Run& run : {with_ends(0, 50), with_ends(0), with_ends(kWay), with_ends(kWay, 100)}) {
      texts.push_back(in_child([&] {
        Bench bench(run);
        // All; those at the end; these at different times.
        for (size_t i = which == 0 ? 0 : 2; i < bench.nodes.size(); ++i)
          bench.nodes[i]->throw_at_ = 200 + (which == 2 ? 3 * static_cast<unsigned>(i) : 0);
        bench.conductor->run();
        return std::string("no exception");
      }));
    }
    CHECK(texts[0].substr(0, 16) == "exception: node ");
    for (const std::string& text : texts) CHECK(text == texts[0]);
  }
}

TEST_CASE("what runs until a partition ends the run does not depend on the window") {
  for (const size_t who : {0u, 4u}) {
    std::vector<std::string> all;
    for (const uint32_t window_ns : {0u, 50u, 333u, 499u}) {
      all.push_back(in_child([&] {
        Bench bench(with_ends(kWay, window_ns));
        bench.nodes[who]->finish_at_ = 300;
        bench.conductor->run();
        return bench.digests();
      }));
    }
    REQUIRE(all[0].size() == 5 * 65);
    for (const std::string& each : all) CHECK(each == all[0]);
  }
}

TEST_CASE("a run that falls silent while somebody waits is a deadlock and names him") {
  Bench bench({{}, false, 3, 10});
  bench.nodes[1]->waits_ = true;
  std::string text;
  try {
    bench.conductor->run();
  } catch (const CheckError& error) {
    text = error.what();
  }
  CHECK(text.find("deadlock at ") == 0);
  CHECK(text.find("nothing can happen any more\n  gpu1.node: waits for Godot") !=
        std::string::npos);
}

// A line a wavefront would be thousands.
TEST_CASE("a deadlock report shows four waits that differ in numbers only and counts the others") {
  Bench bench({{}, false, 7, 10});
  for (auto& node : bench.nodes) node->waits_ = true;
  CHECK_THROWS_WITH(bench.conductor->run(),
                    Catch::EndsWith("nothing can happen any more\n  gpu0.node: waits for Godot\n"
                                    "  gpu1.node: waits for Godot\n  gpu2.node: waits for Godot\n"
                                    "  gpu3.node: waits for Godot\n  ... and 3 more like these"));
}

class Spinner final : public EventHandler {
 public:
  explicit Spinner(EventQueue& queue) : EventHandler(queue), queue_(queue) {
    queue_.schedule(0, *this);
  }
  void on_event(uint64_t) override { queue_.schedule(queue_.now() + 10 * kNanosecond, *this); }

 private:
  EventQueue& queue_;
};

TEST_CASE("a run that polls for ever without progress is a deadlock after the limit") {
  Run run{{}, false, 1, 0};
  run.spec.progress_limit_us = 100;
  Bench bench(run);
  Spinner spinner(bench.partitions[0]->queue());
  CHECK_THROWS_WITH(bench.conductor->run(), Catch::Contains("no progress in 100000 ns"));
  CHECK(sc_core::sc_time_stamp() < sc_core::sc_time(110, sc_core::SC_US));
}

TEST_CASE("a stop request ends the run cleanly") {
  Run run{{}, false, 1, 0};
  Bench bench(run);
  Spinner spinner(bench.partitions[0]->queue());
  const std::atomic<bool> stop{true};
  bench.conductor->watch_stop(stop);
  CHECK(bench.conductor->run() == Conductor::Outcome::stopped);
}

TEST_CASE("a partition can end the run with a status") {
  Bench bench({{}, false, 2, 1000});
  bench.nodes[1]->finish_at_ = 30;
  CHECK(bench.conductor->run() == Conductor::Outcome::finished);
  CHECK(bench.conductor->status() == 5);
}

TEST_CASE("after finish a machine that never falls quiet is cut off at the drain limit") {
  Run run{{}, false, 1, 0};
  run.spec.drain_limit_us = 50;
  Bench bench(run);
  Spinner spinner(bench.partitions[0]->queue());
  bench.conductor->finish(0);
  CHECK(bench.conductor->run() == Conductor::Outcome::finished);
  CHECK(sc_core::sc_time_stamp() <= sc_core::sc_time(51, sc_core::SC_US));
}

// Plays the host: answers every packet with one, and posts some of its own.
SC_MODULE(EchoHost), public HostSide {
  EchoHost(sc_core::sc_module_name name, Conductor & conductor)
      : sc_module(name), conductor_(conductor) {
    SC_METHOD(due);
    sensitive << arrival_;
    dont_initialize();
    SC_THREAD(program);
    conductor.attach_host(*this);
  }
  SC_HAS_PROCESS(EchoHost);
  void deliver(Packet && packet) override {
    const Time now = sc_core::sc_time_stamp().value();
    REQUIRE(packet.arrival >= now);
    waiting_.push_back(std::move(packet));
    arrival_.notify(delay_of(waiting_.front().arrival - now));
  }
  uint64_t progress() const override { return 0; }
  std::vector<std::string> waiting_on() const override { return {"program"}; }

  std::vector<Time> seen;

 private:
  void due() {
    REQUIRE(sc_core::sc_time_stamp().value() == waiting_.front().arrival);
    seen.push_back(waiting_.front().arrival);
    waiting_.pop_front();
    heard_.notify();
  }
  void program() {
    for (int i = 0; i < 3; ++i) {
      wait(1, sc_core::SC_US);
      Packet packet;
      packet.destination = 1;
      packet.link = 1;
      packet.arrival = sc_core::sc_time_stamp().value() + kLookahead;
      conductor_.post(std::move(packet));
      wait(heard_);
    }
    conductor_.finish(0);
  }
  Conductor& conductor_;
  std::deque<Packet> waiting_;
  sc_core::sc_event arrival_;
  sc_core::sc_event heard_;
};

class Echo final : public PacketSink {
 public:
  explicit Echo(Partition& partition) : partition_(partition) { partition.attach(1, *this); }
  void receive(Packet&& packet) override {
    packet.destination = kHostNode;
    packet.arrival += kLookahead + 7 * kNanosecond;
    partition_.send(std::move(packet));
  }

 private:
  Partition& partition_;
};

TEST_CASE("host and GPU exchange packets at their exact times") {
  Bench bench({{}, false, 1, 0});
  Echo echo(*bench.partitions[0]);
  EchoHost host("host", *bench.conductor);
  CHECK(bench.conductor->run() == Conductor::Outcome::finished);
  const Time round = 2 * kLookahead + 7 * kNanosecond;
  CHECK(host.seen == std::vector<Time>{kMicrosecond + round, 2 * (kMicrosecond + round),
                                       3 * (kMicrosecond + round)});
}

}  // namespace
}  // namespace stretto
