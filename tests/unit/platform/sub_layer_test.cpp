// SPDX-License-Identifier: Apache-2.0
// What lies in memory before a run, and the law on who may write: it must fire on a write into an
// operand and into memory that nobody was given, and on nothing else.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "platform/jobs/run_request.h"
#include "platform/kinds/sub_layer/sub_layer_kind.h"
#include "sw/include/formats/address_map.h"

namespace stretto {
namespace {

struct Bench {
  Machine machine;
  RunOptions options;
  std::vector<std::unique_ptr<MemoryImage>> memories;
  std::unique_ptr<RunRequest> request;
  std::unique_ptr<SubLayer> layer;

  Bench(const std::string& workload, const std::string& mode, DataMode data) {
    setenv("STRETTO_SW", STRETTO_BUILD_DIR "/sw", 1);
    options.workload = workload;
    options.machine = "t3";
    options.mode = mode;
    options.data = data == DataMode::real ? "real" : "stamp";
    request = std::make_unique<RunRequest>(prepare_request(options, machine));
    Memories pointers;
    for (unsigned i = 0; i < machine.spec().gpus; ++i) {
      memories.push_back(std::make_unique<MemoryImage>());
      pointers.push_back(memories.back().get());
    }
    const auto& kind = dynamic_cast<const SubLayerKind&>(*request->jobs[0].kind);
    layer = std::make_unique<SubLayer>(kind, request->jobs[0], pointers);
    layer->place_contents();
  }
  bool law_holds_after_write(uint64_t address) {
    const uint64_t word = 0x123456789ABCDEF0;
    memories[1]->write(address & STRETTO_OFFSET_MASK, reinterpret_cast<const uint8_t*>(&word), 8);
    AuditSink sink;
    layer->layout(1).audit(*memories[1], sink, "gpu1");
    REQUIRE(sink.all().size() == 1);
    return sink.all()[0].holds;
  }
};

TEST_CASE("writing results, flags and receive buffers is allowed") {
  Bench bench("t3/small", "sequential", DataMode::stamp);
  const ring_gemm_plan_t& plan = bench.layer->plan(1);
  CHECK(bench.law_holds_after_write(plan.c));
  CHECK(bench.law_holds_after_write(plan.c + plan.c_bytes - 8));
  CHECK(bench.law_holds_after_write(plan.receive));
  CHECK(bench.law_holds_after_write(plan.rs_flags));
}

TEST_CASE("a write into an operand of real numbers breaks the law, reading it does not") {
  Bench bench("t3/ragged-b", "t3", DataMode::real);
  const ring_gemm_plan_t& plan = bench.layer->plan(1);
  uint8_t bytes[256];
  bench.memories[1]->read(plan.a & STRETTO_OFFSET_MASK, bytes, sizeof bytes);
  CHECK(bench.law_holds_after_write(plan.c));
  CHECK_FALSE(bench.law_holds_after_write(plan.b + 64));
}

TEST_CASE("a write behind everything that was given out breaks the law") {
  Bench bench("t3/small", "t3", DataMode::stamp);
  CHECK_FALSE(bench.law_holds_after_write(uint64_t{20} << 30));
}

TEST_CASE("an isolated all-gather starts with the own chunk and zeros elsewhere") {
  Bench bench("t3/small", "ag", DataMode::stamp);
  const ring_gemm_plan_t& plan = bench.layer->plan(0);
  unsigned filled = 0;
  for (unsigned rank = 0; rank < 4; ++rank) {
    uint16_t first = 0;
    bench.memories[rank]->read(plan.c & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&first), 2);
    filled += first != 0;
    CHECK((first != 0) == (rank == 0));
  }
  CHECK(filled == 1);
}

}  // namespace
}  // namespace stretto
