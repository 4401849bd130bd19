// SPDX-License-Identifier: Apache-2.0
// Question: does the law on who may write fire on every byte that nobody was given, and on no
// other? State space: ranges apart, side by side and overlapping, over pages; contents of time 0
// that are not zero.
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <string>

#include <catch2/catch.hpp>

#include "platform/jobs/memory_plan.h"

namespace stretto {
namespace {

uint64_t strays(const MemoryPlan& plan, const MemoryImage& memory) {
  AuditSink sink;
  plan.audit(memory, sink, "gpu0");
  REQUIRE(sink.all().size() == 1);
  return sink.all()[0].left;
}

void write(MemoryImage& memory, uint64_t begin, uint64_t end) {
  const std::vector<uint8_t> bytes(end - begin, 0xA5);
  memory.write(begin, bytes.data(), bytes.size());
}

TEST_CASE("bytes outside of what was given are counted, each one") {
  MemoryImage memory;
  MemoryPlan plan;
  plan.add("a", 100, 50);
  write(memory, 90, 160);
  CHECK(strays(plan, memory) == 20);
  plan.add("b", 150, 10);  // Side by side,
  plan.add("c", 80, 30);   // overlapping,
  CHECK(strays(plan, memory) == 0);
  write(memory, 0x2FFF8, 0x30008);  // over a page's end, far from all,
  CHECK(strays(plan, memory) == 16);
  plan.add("d", 0x30000, 1 << 20);
  CHECK(strays(plan, memory) == 8);
  plan.add("e", 0, uint64_t{1} << 40);  // in one range that holds all others.
  CHECK(strays(plan, memory) == 0);
}

TEST_CASE("what was there at time 0 may stay, and be written again as it was") {
  MemoryImage memory;
  memory.add_generator(0x1000, 16, [](uint64_t address, uint8_t* bytes, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(address + i);
  });
  const MemoryPlan plan;
  uint8_t byte = 0x04;
  memory.write(0x1004, &byte, 1);
  CHECK(strays(plan, memory) == 0);
  byte = 0x05;
  memory.write(0x1004, &byte, 1);
  CHECK(strays(plan, memory) == 1);
}

TEST_CASE("a program that has more ranges than its plan takes ends at once, and says so") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);  // Not that of the test program.
    const stretto_client_options_t client{};
    memory_plan_t plan = memory_plan(&client, 4096);  // It has the client's own.
    for (unsigned i = 1; i <= MEMORY_PLAN_RANGES; ++i) {
      if (i == MEMORY_PLAN_RANGES) (void)!::write(STDERR_FILENO, "full;", 5);
      memory_plan_add(&plan, "one more", 64, 0);
    }
    _exit(0);
  }
  close(ends[1]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  std::string said(256, '\0');
  said.resize(static_cast<size_t>(std::max<ssize_t>(read(ends[0], said.data(), said.size()), 0)));
  close(ends[0]);
  INFO(said);
  CHECK(WIFSIGNALED(status));
  CHECK(said.find("full;") == 0);
  CHECK(said.find("'one more'") != std::string::npos);
}

TEST_CASE("the first byte outside is reported with the range that it lies in or behind") {
  MemoryImage memory;
  MemoryPlan plan;
  plan.add("C", 0x1000, 0x100);
  plan.add("A", 0x2000, 0x100, true);
  const auto where = [&] {
    AuditSink sink;
    plan.audit(memory, sink, "gpu0");
    return sink.all()[0].where;
  };
  write(memory, 0x10F0, 0x1100);
  CHECK(where() == "gpu0");
  write(memory, 0x2010, 0x2020);
  CHECK(where() == "gpu0, first at 0x2010, in or behind 'A'");
  write(memory, 0x1100, 0x1108);
  CHECK(where() == "gpu0, first at 0x1100, in or behind 'C'");
}

}  // namespace
}  // namespace stretto
