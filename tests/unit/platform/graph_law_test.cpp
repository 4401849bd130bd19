// SPDX-License-Identifier: Apache-2.0
// Question: does the law on what a graph may write fire at a page behind all that its ranks were
// given, on the rank that wrote it, and at nothing else?
#include <catch2/catch.hpp>

#include <cstdlib>
#include <memory>
#include <vector>

#include "platform/jobs/job.h"
#include "platform/jobs/run_request.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/queue.h"

namespace stretto {
namespace {

struct Bench {
  Machine machine;
  RunOptions options;
  std::vector<std::unique_ptr<MemoryImage>> memories;
  std::unique_ptr<RunRequest> request;
  std::unique_ptr<Job> job;

  Bench() {
    setenv("STRETTO_SW", STRETTO_BUILD_DIR "/sw", 1);
    options.workload = "graph/mlp";
    options.sets = {"gpus=2"};
    request = std::make_unique<RunRequest>(prepare_request(options, machine));
    Memories pointers;
    for (unsigned i = 0; i < machine.spec().gpus; ++i) {
      memories.push_back(std::make_unique<MemoryImage>());
      pointers.push_back(memories.back().get());
    }
    job = request->jobs[0].kind->make_job(request->jobs[0], pointers);
    job->place_contents();
  }
  void write(unsigned rank, uint64_t offset) {
    const uint64_t word = 0x123456789ABCDEF0;
    memories[rank]->write(offset, reinterpret_cast<const uint8_t*>(&word), 8);
  }
  // Bytes that rank wrote outside of what it was given.
  uint64_t strays(unsigned rank) const {
    MemoryPlan given;
    given.add("firmware", 0, STRETTO_SYSTEM_BYTES);
    given.add(job->layout(rank));
    AuditSink sink;
    given.audit(*memories[rank], sink, "gpu");
    REQUIRE(sink.all().size() == 1);
    CHECK(sink.all()[0].law == "bytes written outside of what was given = 0");
    CHECK(sink.all()[0].holds == (sink.all()[0].left == 0));
    return sink.all()[0].left;
  }
};

// Of graph/mlp all arrays are below 16 MiB.
constexpr uint64_t kBehind = STRETTO_SYSTEM_BYTES + (uint64_t{256} << 20);

TEST_CASE("bytes behind a graph's arrays break the law of the rank that wrote them") {
  Bench bench;
  CHECK(bench.strays(0) == 0);
  bench.write(0, STRETTO_SYSTEM_BYTES + STRETTO_ARGUMENT_BUFFER_BYTES);
  CHECK(bench.strays(0) == 0);
  bench.write(1, kBehind);
  CHECK(bench.strays(1) == 8);
  CHECK(bench.strays(0) == 0);
  bench.write(1, 2 * kBehind);
  CHECK(bench.strays(1) == 16);
}

}  // namespace
}  // namespace stretto
