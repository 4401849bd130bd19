// SPDX-License-Identifier: Apache-2.0
// Question: is what kernels compute the same whenever their work-groups are suspended, with products,
// loads, barriers, votes, waits and lines under way, and does all of their state go through memory?
// State space: what is under way x when it is stopped x how often. The firmware's C code drives the
// scheduler; expected values are worked out by hand.
#include <catch2/catch.hpp>

#include "sw/firmware/hal/gpu.h"
#include "tests/unit/gpu/machine_mmio.h"
#include "tests/unit/gpu/program.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr uint64_t kIn = kNode + 0x100000;
constexpr uint64_t kOut = kNode + 0x200000;
constexpr uint64_t kCount = kNode + 0x300000;  // A word of each work-group,
constexpr uint64_t kSum = kNode + 0x310000;    // one of all,
constexpr uint64_t kWord = kNode + 0x320000;   // and one that the test writes.
constexpr uint64_t kSave = kNode + 0x1000000;
constexpr uint64_t kSaveBytes = 0x800000;

struct Bench {
  explicit Bench(const Program& what, GpuSpec spec = GpuMachine::small())
      : machine(spec), program(what) {
    machine_of_test = &machine;
    machine.map(kIn, 0x100000);
    machine.map(kOut, 0x100000);
    machine.map(kCount, 0x10000, AllocationClass::uncached);
    machine.map(kSum, 0x30000, AllocationClass::uncached);
    program.put_into(machine);
    launch = program.launch();
    launch.registers_bytes = launch.lds_bytes = 8 * 1024;
    job.launch.registers_bytes = launch.registers_bytes;
    job.launch.lds_bytes = launch.lds_bytes;
    const unit_limits_t limits = {4, 256 * 1024, 128 * 1024, 64, 32};
    REQUIRE(grid_scheduler_init(&scheduler, &limits) == STRETTO_OK);
    REQUIRE(gpu_init(&gpu) == STRETTO_OK);
  }
  ~Bench() { machine_of_test = nullptr; }

  void start(unsigned workgroups, unsigned wavefronts = 1) {
    launch.workgroups = job.launch.grid = job.launch.count = workgroups;
    launch.wavefronts = job.launch.wavefronts = wavefronts;
    machine.set_context(launch, 0);
    job.skip = 0;
    placed = 0;
    gpu_set_save_area(&gpu, 0, kSave, save_bytes);
    REQUIRE(grid_control_launch(&scheduler, &job) == STRETTO_OK);
  }
  void run_for(Time time) { machine.queue.run_until(machine.queue.now() + time); }
  // Stops the kernel. Returns whether something of it is left.
  bool stop() {
    REQUIRE(grid_control_preempt(&scheduler, 0, true) == STRETTO_OK);
    uint32_t first = job.launch.count;
    unsigned rounds = 0;
    for (bool done = false; !done;) {
      REQUIRE(++rounds < 100);
      machine.run();
      done = grid_scheduler_done(&scheduler) == 1;
      uint32_t slot = 0, id = 0;
      while (grid_control_take_returned(&scheduler, &slot, &id)) {
        const uint32_t count = job.launch.count;
        first = std::min(first, (id + count - job.launch.start) % count);
        ++returned;
      }
    }
    grid_report_t report;
    REQUIRE(grid_control_report(&scheduler, 0, &report) == STRETTO_OK);
    const uint32_t reached = job.launch.count - report.undispatched;
    placed = std::max(placed, reached);
    job.skip = std::min(first, reached);
    grid_scheduler_release(&scheduler, 1);
    return job.skip != job.launch.count;
  }
  void go_on() {
    gpu_set_resume(&gpu, 0, placed - job.skip);
    REQUIRE(grid_control_launch(&scheduler, &job) == STRETTO_OK);
  }
  // To its end, stopped after each slice; returns how often.
  unsigned run_in_slices(Time slice) {
    for (unsigned slices = 0;; ++slices) {
      run_for(slice);
      if (grid_scheduler_done(&scheduler) == 1) {
        grid_scheduler_release(&scheduler, 1);
        machine.run();
        return slices;
      }
      REQUIRE(slices < 1000);
      if (!stop()) return slices;
      go_on();
    }
  }
  uint64_t sum(uint64_t ComputeUnitCounters::*counter) const { return machine.gpu.sum(counter); }
  std::vector<std::string> violations() const {
    AuditSink sink;
    machine.gpu.audit(sink);
    std::vector<std::string> all;
    for (const AuditResult& one : sink.all())
      if (!one.holds) all.push_back(one.law);
    return all;
  }

  GpuMachine machine;
  const Program program;
  Launch launch;
  grid_scheduler_t scheduler{};
  gpu_t gpu{};
  grid_job_t job{};
  uint64_t save_bytes = kSaveBytes;
  uint32_t placed = 0;
  uint64_t returned = 0;
};

constexpr unsigned kRounds = 20;
constexpr unsigned kExtent = 16;

// 20 products of ones, with time between; the sum is stored, and two counters go up by one.
Program products() {
  Program p;
  p.csr(3, TILE_CSR_WG_ID);
  p.load_at(0, kIn, shape(kExtent, 2 * kExtent, 2 * kExtent));
  p.load_at(TILE_FIRST_LDS, kIn, shape(kExtent, 2 * kExtent, 2 * kExtent));
  p.constant(12, kExtent | kExtent << 16).zero(TILE_FIRST_ACCUMULATOR, 12);
  p.constant(7, kRounds);
  p.mma(TILE_FIRST_ACCUMULATOR, 0, TILE_FIRST_LDS, false, false);
  p.constant(6, 100).addi(6, 6, -1).bnez(6, -1);
  p.addi(7, 7, -1).bnez(7, -5);
  p.constant(13, uint64_t{kExtent} << 16 | uint64_t{kExtent} << 48);
  p.epilogue(1, TILE_FIRST_ACCUMULATOR, 13);
  p.constant(10, kOut).slli(8, 3, 9).add(10, 10, 8);
  p.constant(11, shape(kExtent, 2 * kExtent, 2 * kExtent)).store(1, 10, 11).wait(0);
  p.constant(14, 1).constant(10, kSum).red(10, 14).amoadd(15, 14, 10);
  p.constant(10, kCount).slli(8, 3, 3).add(10, 10, 8).ld(5, 10).addi(5, 5, 1).sd(5, 10).end();
  return p;
}

void fill_with_ones(GpuMachine& machine) {
  const std::vector<uint16_t> ones(kExtent * kExtent, 0x3C00);
  machine.image.load(kIn & STRETTO_OFFSET_MASK, reinterpret_cast<const uint8_t*>(ones.data()),
                     2 * ones.size());
}

unsigned wrong_products(GpuMachine& machine, unsigned workgroups) {
  unsigned wrong = 0;
  for (unsigned i = 0; i < workgroups * kExtent * kExtent; ++i)
    wrong += machine.value_at<uint16_t>(kOut + 2 * i) != 0x5D00;  // 320
  return wrong;
}

}  // namespace

TEST_CASE("products, sums and counters are the same whatever the slices", "[TL-BASE-01]") {
  Bench b(products());
  fill_with_ones(b.machine);
  constexpr unsigned kGroups = 150;  // More than are resident at once.
  uint64_t runs = 0;
  for (const Time slice : {1700 * kNanosecond, 2300 * kNanosecond, 7001 * kNanosecond}) {
    b.start(kGroups);
    CHECK(b.run_in_slices(slice) > 1);
    ++runs;
    CHECK(wrong_products(b.machine, kGroups) == 0);
    for (unsigned i = 0; i < kGroups; ++i)
      REQUIRE(b.machine.value_at<uint64_t>(kCount + 8 * i) == runs);
    CHECK(b.machine.value_at<uint64_t>(kSum) == 2 * kGroups * runs);
    for (unsigned i = 0; i < kGroups * kExtent * kExtent; ++i)
      b.machine.set_value<uint16_t>(kOut + 2 * i, 0);
  }
  CHECK(b.sum(&ComputeUnitCounters::suspended) > 0);
  CHECK(b.sum(&ComputeUnitCounters::suspended) == b.sum(&ComputeUnitCounters::resumed));
  CHECK(b.sum(&ComputeUnitCounters::saved_bytes) == b.sum(&ComputeUnitCounters::loaded_bytes));
  CHECK(b.violations().empty());
}

TEST_CASE("an order that does not begin with the first work-group goes on where it was") {
  Bench b(products());
  fill_with_ones(b.machine);
  b.job.launch.start = 33;
  b.start(140);
  CHECK(b.run_in_slices(2300 * kNanosecond) > 1);
  for (unsigned i = 0; i < 140; ++i) REQUIRE(b.machine.value_at<uint64_t>(kCount + 8 * i) == 1);
  CHECK(b.violations().empty());
}

TEST_CASE("a suspended work-group holds nothing of its unit, and its state is in memory") {
  Bench b(products());
  fill_with_ones(b.machine);
  b.start(8);
  b.run_for(1 * kMicrosecond);
  REQUIRE(b.stop());
  CHECK(b.returned == 8);
  for (const auto& unit : b.machine.gpu.units) CHECK(unit->finished());
  // All registers and LDS of each, and 512 bytes a wavefront.
  CHECK(b.sum(&ComputeUnitCounters::saved_bytes) == 8 * (16 * 1024 + 512));
  CHECK(b.machine.gpu.front_end.suspended_bytes() == 8 * (16 * 1024 + 512));
  CHECK(b.violations().empty());
  CHECK(b.machine.value_at<uint64_t>(kSave) > kCode);
  b.machine.set_value<uint64_t>(kSave, 0);  // Whoever overwrites it is felt: a pc.
  b.go_on();
  b.machine.run();
  CHECK_FALSE(b.machine.gpu.front_end.faults().empty());
}

TEST_CASE("barriers and votes go on with who has come") {
  // Wavefront w votes w + 1 behind a time of its own, ten times; the OR of 1 .. 4 is 7.
  Program p;
  p.csr(3, TILE_CSR_WG_ID).csr(4, TILE_CSR_WF_ID).addi(9, 4, 1).constant(7, 10);
  p.slli(6, 9, 7).addi(6, 6, -1).bnez(6, -1);
  p.vote(5, 9).add(8, 8, 5).barrier();
  p.addi(7, 7, -1).bnez(7, -7);
  p.constant(10, kOut).slli(3, 3, 5).add(10, 10, 3).slli(4, 4, 3).add(10, 10, 4).sd(8, 10).end();
  p.words.insert(p.words.begin() + 1, 0x00000413);  // x8 = 0.
  Bench b(p);
  b.start(40, 4);
  CHECK(b.run_in_slices(1900 * kNanosecond) > 1);
  for (unsigned i = 0; i < 160; ++i) REQUIRE(b.machine.value_at<uint64_t>(kOut + 8 * i) == 70);
  CHECK(b.violations().empty());
}

TEST_CASE("who waits for a word waits on") {
  Program p;
  p.csr(3, TILE_CSR_WG_ID).constant(10, kWord).constant(11, 5).wait_until(10, TILE_GEU, 11);
  p.constant(10, kOut).slli(3, 3, 3).add(10, 10, 3).sd(11, 10).end();
  Bench b(p);
  b.start(6);
  b.machine.run();
  REQUIRE(b.stop());
  CHECK(b.returned == 6);
  b.go_on();
  b.machine.run();
  REQUIRE(b.stop());
  b.machine.set_value<uint64_t>(kWord, 5);  // While it is away.
  b.machine.run();
  CHECK(b.machine.value_at<uint64_t>(kOut) == 0);
  b.go_on();
  b.machine.run();
  for (unsigned i = 0; i < 6; ++i) CHECK(b.machine.value_at<uint64_t>(kOut + 8 * i) == 5);
  CHECK(b.violations().empty());
}

TEST_CASE("a load of lines polls on") {
  Program p;
  p.constant(5, 9).set_csr(TILE_CSR_FLAG, 5);
  p.constant(10, kWord).constant(11, shape(1, TILE_LINE_DATA, 0)).load_lines(0, 10, 11);
  p.constant(10, kOut).store(0, 10, 11, ElementType::byte).end();
  Bench b(p);
  b.start(1);
  b.machine.run();
  REQUIRE(b.stop());
  CHECK(b.returned == 1);
  b.go_on();
  b.machine.run();
  b.machine.set_value<uint64_t>(kWord, 77);
  b.machine.set_value<uint64_t>(kWord + TILE_LINE_DATA, 9);
  b.machine.run();
  CHECK(b.machine.value_at<uint64_t>(kOut) == 77);
  CHECK(b.violations().empty());
}

TEST_CASE("a work-group that finds no room in the save area runs to its end") {
  Bench b(products());
  fill_with_ones(b.machine);
  b.save_bytes = 3 * (16 * 1024 + 512);
  b.start(8);
  b.run_for(1 * kMicrosecond);
  REQUIRE(b.stop());
  CHECK(b.returned == 3);
  b.go_on();
  b.machine.run();
  CHECK(wrong_products(b.machine, 8) == 0);
  CHECK(b.machine.value_at<uint64_t>(kSum) == 16);
  CHECK(b.violations().empty());
}

TEST_CASE("tiles that do not come back are found out") {
  GpuSpec spec = GpuMachine::small();
  spec.fault_restore = RestoreFault::tiles;
  Bench b(products(), spec);
  fill_with_ones(b.machine);
  b.start(8);
  b.run_for(2 * kMicrosecond);
  REQUIRE(b.stop());
  b.go_on();
  b.machine.run();
  CHECK(wrong_products(b.machine, 8) > 0);
}

TEST_CASE("bytes that are not read back break a law") {
  GpuSpec spec = GpuMachine::small();
  spec.fault_restore = RestoreFault::bytes;
  Bench b(products(), spec);
  fill_with_ones(b.machine);
  b.start(8);
  b.run_for(1 * kMicrosecond);
  REQUIRE(b.stop());
  b.go_on();
  b.machine.run();
  REQUIRE(b.violations().size() == 1);
  CHECK(b.violations()[0].find("bytes of suspended work-groups") != std::string::npos);
}
