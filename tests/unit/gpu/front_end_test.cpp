// SPDX-License-Identifier: Apache-2.0
// Question: does the front end run kernels as the registers say, report faults, and keep the stage
// rule? The grid scheduler here is its reference model; the RTL is compared with it elsewhere.
#include <catch2/catch.hpp>

#include "tests/unit/gpu/program.h"

using namespace stretto;
using namespace stretto::test;

namespace {

constexpr uint64_t kIn = kNode + 0x100000, kOut = kNode + 0x200000;

// Work-groups that count down from 100 * (1 + id) and write the clock of their start and end.
Program staggered_lengths() {
  Program p;
  p.csr(8, TILE_CSR_CYCLE)
      .csr(1, TILE_CSR_WG_ID)
      .addi(5, 1, 1)
      .slli(6, 5, 6)
      .slli(7, 5, 5)
      .add(6, 6, 7);
  p.addi(6, 6, -1).bnez(6, -1);
  p.csr(9, TILE_CSR_CYCLE)
      .constant(10, kOut)
      .slli(7, 1, 4)
      .add(10, 10, 7)
      .sd(8, 10)
      .addi(10, 10, 8)
      .sd(9, 10)
      .end();
  return p;
}

Launch two_a_unit(const Program& p, unsigned workgroups) {
  Launch launch = p.launch();
  launch.registers_bytes = 128 * 1024;
  launch.lds_bytes = 0;
  launch.workgroups = workgroups;
  return launch;
}

GpuFault only_fault(GpuMachine& machine) {
  REQUIRE(machine.gpu.front_end.fault_count() == 1);
  REQUIRE(machine.lines.level[STRETTO_IRQ_FAULT]);
  return machine.gpu.front_end.faults().at(0);
}

struct BadProgram {
  const char* what;
  FaultKind kind;
  Program program;
};

// Each in a kernel slot of its own, since the slot of a kernel with a fault never ends.
void require_faults(const std::vector<BadProgram>& programs) {
  REQUIRE(programs.size() <= kGridSlots);
  GpuSpec spec = GpuMachine::small();
  spec.cus = 8;
  GpuMachine machine(spec);
  machine.map(kIn, 0x100000);
  machine.map(kOut, 0x10000);
  for (unsigned slot = 0; slot < programs.size(); ++slot) {
    INFO(programs[slot].what);
    programs[slot].program.put_into(machine);
    machine.launch(programs[slot].program.launch(), slot);
    machine.run();
    REQUIRE(machine.gpu.front_end.fault_count() == slot + 1);
    REQUIRE(machine.gpu.front_end.faults().back().kind == programs[slot].kind);
  }
}

class DefectiveScheduler final : public GridScheduler {
 public:
  using Defect = std::function<void(GridSchedulerOutputs&)>;
  explicit DefectiveScheduler(Defect defect) : defect_(std::move(defect)) {}
  void reset() override { inner_.reset(); }
  GridSchedulerOutputs step(const GridSchedulerInputs& in) override {
    GridSchedulerOutputs out = inner_.step(in);
    defect_(out);
    return out;
  }

 private:
  GridSchedulerModel inner_;
  const Defect defect_;
};

// The laws that do not hold after two launches of one slot and a third that is preempted.
std::string violated_by(DefectiveScheduler::Defect defect) {
  GpuMachine machine(GpuMachine::small(), {}, 300 * kNanosecond,
                     std::make_unique<DefectiveScheduler>(std::move(defect)));
  machine.map(kOut, 0x10000, AllocationClass::uncached);
  const Program p = staggered_lengths();
  p.put_into(machine);
  machine.run_kernel(two_a_unit(p, 12));
  machine.run_kernel(two_a_unit(p, 1));
  machine.launch(two_a_unit(p, 20));
  machine.queue.run_until(machine.queue.now() + 500 * kNanosecond);
  machine.write_scheduler(GRID_SCHEDULER_SLOT_CONTROL_OFFSET,
                          GRID_SCHEDULER_SLOT_CONTROL_PREEMPT_MASK);
  machine.run();
  REQUIRE(machine.read_scheduler(GRID_SCHEDULER_DONE_OFFSET) == 1);
  AuditSink sink;
  machine.gpu.front_end.audit(sink);
  std::string broken;
  for (const AuditResult& law : sink.all()) {
    if (!law.holds) broken += law.law;
  }
  return broken;
}

}  // namespace

TEST_CASE("a kernel runs all its work-groups once and raises the interrupt") {
  GpuMachine machine;
  machine.map(kOut, 0x10000, AllocationClass::uncached);
  std::vector<std::string> order;
  KernelEvents events;
  events.kernel_start = [&](Time) { order.push_back("start"); };
  events.first_wg_done = [&](Time) { order.push_back("first"); };
  events.kernel_end = [&](Time) { order.push_back("end"); };
  machine.gpu.front_end.set_kernel_events(events);
  machine.write_scheduler(GRID_SCHEDULER_IRQ_ENABLE_OFFSET, 0xFF);
  Program p;
  p.constant(10, kOut)
      .csr(1, TILE_CSR_WG_ID)
      .slli(7, 1, 3)
      .add(10, 10, 7)
      .ld(5, 10)
      .addi(5, 5, 1)
      .sd(5, 10)
      .end();
  p.put_into(machine);
  machine.launch(two_a_unit(p, 50));
  machine.run();
  REQUIRE(machine.lines.level[STRETTO_IRQ_GRID_SCHEDULER]);
  REQUIRE(machine.read_scheduler(GRID_SCHEDULER_DONE_OFFSET) == 1);
  machine.clear_done();
  machine.run();
  REQUIRE_FALSE(machine.lines.level[STRETTO_IRQ_GRID_SCHEDULER]);
  for (unsigned i = 0; i < 50; ++i) REQUIRE(machine.value_at<uint64_t>(kOut + 8 * i) == 1);
  REQUIRE(order == std::vector<std::string>{"start", "first", "end"});
  REQUIRE(machine.read(GPU_COUNT_DISPATCHED_OFFSET) == 50);
  REQUIRE(machine.gpu.waiting_on().empty());
}

TEST_CASE("the memory is not told of kernels of the communication stream") {
  GpuMachine machine;
  machine.map(kOut, 0x10000, AllocationClass::uncached);
  unsigned told = 0;
  KernelEvents events;
  events.kernel_start = events.first_wg_done = events.kernel_end = [&](Time) { ++told; };
  machine.gpu.front_end.set_kernel_events(events);
  Program p;
  p.constant(10, kOut).sd(10, 10).end();
  p.put_into(machine);
  Launch launch = two_a_unit(p, 4);
  launch.communication = true;
  machine.run_kernel(launch);
  REQUIRE(told == 0);
  launch.communication = false;
  machine.run_kernel(launch);
  REQUIRE(told == 3);
}

// The laws about the scheduler's outputs, with a scheduler whose outputs `defect` has changed.
TEST_CASE("a kernel that is done while a work-group of it runs violates a law") {
  REQUIRE(violated_by([](GridSchedulerOutputs& out) { out.kernel_done |= out.first_wg_done; }) ==
          "kernels done while work-groups of them run = 0");
}

TEST_CASE("a first end that the second launch of a slot does not signal violates a law") {
  unsigned firsts = 0;
  REQUIRE(violated_by([&](GridSchedulerOutputs& out) {
            if (out.first_wg_done && ++firsts == 2) out.first_wg_done = false;
          }) == "launches whose first end is not signalled once = 0");
}

TEST_CASE("a first end that is signalled twice violates a law") {
  REQUIRE(violated_by([](GridSchedulerOutputs& out) { out.first_wg_done |= out.kernel_done; }) ==
          "launches whose first end is not signalled once = 0");
}

TEST_CASE("a scheduler without defect violates no law") {
  REQUIRE(violated_by([](GridSchedulerOutputs&) {}) == "");
}

TEST_CASE("staggered start rotates the order of dispatch and not the ids", "[T3-STAG-02]") {
  GpuMachine machine;
  machine.map(kOut, 0x10000, AllocationClass::uncached);
  const Program p = staggered_lengths();
  p.put_into(machine);
  Launch launch = two_a_unit(p, 16);
  launch.start = 10;
  machine.run_kernel(launch);
  const auto began = [&](unsigned id) { return machine.value_at<uint64_t>(kOut + 16 * id); };
  REQUIRE(began(10) < began(0));
  REQUIRE(began(15) < began(9));
}

TEST_CASE("synchronous stages start when all of the stage before has ended", "[T3-BASE-03]") {
  GpuSpec spec = GpuMachine::small();
  spec.stage_mode = StageMode::synchronous;
  GpuMachine machine(spec);
  machine.map(kOut, 0x10000, AllocationClass::uncached);
  const Program p = staggered_lengths();
  p.put_into(machine);
  const unsigned resident = 8, workgroups = 20;  // Two full stages and one of four.
  machine.run_kernel(two_a_unit(p, workgroups));
  const auto began = [&](unsigned id) { return machine.value_at<uint64_t>(kOut + 16 * id); };
  const auto ended = [&](unsigned id) { return machine.value_at<uint64_t>(kOut + 16 * id + 8); };
  for (unsigned id = resident; id < workgroups; ++id) {
    const unsigned before = id / resident * resident - 1;  // The longest of the stage before.
    REQUIRE(began(id) > ended(before));
    REQUIRE(began(id) < ended(before) + 2000);
  }
  REQUIRE(machine.gpu.front_end.fault_count() == 0);
  REQUIRE(machine.read(GPU_COUNT_RETIRED_OFFSET) == workgroups);
  REQUIRE(machine.gpu.waiting_on().empty());
}

TEST_CASE("free stages do not wait") {
  GpuMachine machine;
  machine.map(kOut, 0x10000, AllocationClass::uncached);
  const Program p = staggered_lengths();
  p.put_into(machine);
  machine.run_kernel(two_a_unit(p, 20));
  REQUIRE(machine.value_at<uint64_t>(kOut + 16 * 8) <
          machine.value_at<uint64_t>(kOut + 16 * 7 + 8));
}

TEST_CASE("a load outside every range is a fault with its place") {
  GpuMachine machine;
  Program p;
  p.load_at(0, kNode + 0xDEAD00, shape(1, 64, 64)).end();
  p.put_into(machine);
  Launch launch = p.launch();
  launch.workgroups = 3;
  launch.wavefronts = 1;
  machine.launch(launch);
  machine.run();
  REQUIRE(machine.gpu.front_end.fault_count() == 3);
  REQUIRE(machine.read(GPU_FAULT_STATUS_OFFSET) ==
          (GPU_FAULT_STATUS_PENDING_MASK | GPU_FAULT_STATUS_LOST_MASK));
  REQUIRE(STRETTO_FIELD_GET(machine.read(GPU_FAULT_KIND_OFFSET), GPU_FAULT_KIND_KIND) ==
          GPU_FAULT_KIND_KIND_UNMAPPED_LOAD);
  REQUIRE(machine.read(GPU_FAULT_ADDRESS_OFFSET) == kNode + 0xDEAD00);
  REQUIRE(machine.read(GPU_FAULT_PC_OFFSET) == kCode + 12);
  REQUIRE(machine.read(GPU_FAULT_WG_OFFSET) == 0);
  REQUIRE(describe_fault(0, machine.gpu.front_end.faults()[0]) ==
          "gpu0 cu0 wg 0 wf 0 pc 0x1000001000c: unmapped_load at 0x10000dead00: no range entry "
          "holds it");
  machine.write(GPU_FAULT_STATUS_OFFSET, GPU_FAULT_STATUS_PENDING_MASK);
  REQUIRE_FALSE(machine.lines.level[STRETTO_IRQ_FAULT]);
  REQUIRE(machine.gpu.waiting_on().size() ==
          4);  // The slot, and three wavefronts that a fault stopped.
}

TEST_CASE("a tile store beyond its entry is a fault") {
  GpuMachine machine;
  machine.map(kIn, 0x1000);
  machine.map(kOut, 0x1000);
  Program p;
  p.load_at(0, kIn, shape(4, 64, 64))
      .store_at(0, kOut + 0xF80, shape(4, 64, 64))
      .end()
      .run(machine);
  const GpuFault fault = only_fault(machine);
  REQUIRE(fault.kind == FaultKind::unmapped_store);
  REQUIRE(fault.address == kOut + 0x1000);
}

TEST_CASE("scalar accesses need a range too") {
  GpuMachine machine;
  Program().constant(10, kOut).sd(0, 10).end().run(machine);
  REQUIRE(only_fault(machine).kind == FaultKind::unmapped_store);
}

TEST_CASE("loads from a peer are a fault") {
  GpuMachine machine;
  RangeEntry entry;
  entry.base = kOut;
  entry.rows = 1;
  entry.row_bytes = 4096;
  entry.kind = RangeKind::remote;
  entry.peer_base = uint64_t{2} << 40;
  machine.map(entry);
  Program().load_at(0, kOut, shape(1, 64, 64)).end().run(machine);
  REQUIRE(only_fault(machine).kind == FaultKind::remote_load);
}

TEST_CASE("a store into a stamp matrix is a fault") {
  GpuMachine machine;
  StampMatrix matrix;
  matrix.base = kOut & STRETTO_OFFSET_MASK;
  matrix.pitch = 128;
  matrix.rows = 16;
  matrix.columns = matrix.k_total = 64;
  machine.image.add_stamp(matrix);
  machine.map(kIn, 0x1000);
  machine.map(kOut, 0x1000);
  Program()
      .load_at(0, kIn, shape(1, 64, 64))
      .store_at(0, kOut, shape(1, 64, 64))
      .end()
      .run(machine);
  REQUIRE(only_fault(machine).kind == FaultKind::unmapped_store);
}

TEST_CASE("bad shapes are faults") {
  require_faults({
      {"row_bytes 0", FaultKind::bad_shape, Program().load_at(0, kIn, shape(1, 0, 64)).end()},
      {"row_bytes 8194", FaultKind::bad_shape, Program().load_at(0, kIn, shape(1, 8194, 0)).end()},
      {"rows 0", FaultKind::bad_shape, Program().load_at(0, kIn, shape(0, 64, 64)).end()},
      {"rows 1025", FaultKind::bad_shape, Program().load_at(0, kIn, shape(1025, 2, 64)).end()},
      {"odd FP16 row", FaultKind::bad_shape, Program().load_at(0, kIn, shape(1, 3, 64)).end()},
      {"accumulator of no rows", FaultKind::bad_shape,
       Program().constant(5, 16 << 16).zero(24, 5).end()},
      {"epilogue outside", FaultKind::bad_shape,
       Program()
           .constant(5, 16 | 16 << 16)
           .constant(6, 17 << 16 | uint64_t{1} << 48)
           .zero(24, 5)
           .epilogue(0, 24, 6)
           .end()},
  });
}

TEST_CASE("tiles that do not fit or were never written are faults") {
  require_faults({
      {"LDS share", FaultKind::no_room, Program().load_at(8, kIn, shape(1024, 128, 128)).end()},
      {"register share", FaultKind::no_room,
       Program().constant(5, 256 | 256 << 16).zero(24, 5).end()},
      {"mma on empty tiles", FaultKind::empty_tile,
       Program().constant(5, 16 | 16 << 16).zero(24, 5).mma(24, 8, 9, false, true).end()},
      {"mma without zero", FaultKind::empty_tile,
       Program().load_at(8, kIn, shape(16, 32, 32)).mma(24, 8, 8, false, true).end()},
      {"store of an empty tile", FaultKind::empty_tile,
       Program().store_at(3, kOut, shape(1, 64, 64)).end()},
      {"SIMT on empty tiles", FaultKind::empty_tile, Program().simt(TILE_SIMT_ADD, 0, 1, 2).end()},
  });
}

TEST_CASE("instructions that do not exist are faults") {
  require_faults({
      {"mma into a register tile", FaultKind::illegal_instruction,
       Program().mma(0, 8, 9, false, true).end()},
      {"load of an accumulator", FaultKind::illegal_instruction,
       Program().load_at(24, kIn, shape(1, 64, 64)).end()},
      {"unknown control", FaultKind::illegal_instruction, Program().custom(5, 17, 0, 0, 0).end()},
      {"unknown SIMT operation", FaultKind::illegal_instruction,
       Program().custom(3, 99, 0, 0, 0).end()},
      {"all zero", FaultKind::illegal_instruction, Program().word(0)},
      {"unknown CSR", FaultKind::illegal_instruction, Program().csr(1, 0x123).end()},
      {"past the code", FaultKind::fetch, Program().addi(0, 0, 0)},
      {"misaligned wait", FaultKind::misaligned,
       Program().constant(10, kOut + 4).wait_until(10, TILE_EQ, 0).end()},
  });
}

TEST_CASE("a kernel that needs more registers than a unit has is refused") {
  GpuMachine machine;
  Program p;
  p.end();
  p.put_into(machine);
  Launch launch = p.launch();
  launch.registers_bytes = 257 * 1024;
  machine.launch(launch);
  machine.run();
  const GpuFault fault = only_fault(machine);
  REQUIRE(fault.kind == FaultKind::kernel_too_large);
  REQUIRE(fault.detail ==
          "a work-group needs 263168 bytes of registers, a compute unit has 262144");
  REQUIRE(machine.read(GPU_COUNT_DISPATCHED_OFFSET) == 0);
  // The scheduler refuses it too: state 3.
  REQUIRE((machine.read_scheduler(GRID_SCHEDULER_SLOT_STATE_OFFSET) &
           GRID_SCHEDULER_SLOT_STATE_STATE_MASK) == GRID_SCHEDULER_SLOT_STATE_STATE_REFUSED);
}

TEST_CASE("a context that cannot run is refused before the scheduler sees the launch") {
  GpuMachine machine;
  Program p;
  p.end();
  p.put_into(machine);
  Launch launch = p.launch();
  launch.entry = kCode + launch.code_bytes;
  machine.launch(launch);
  machine.run();
  REQUIRE(only_fault(machine).kind == FaultKind::bad_context);
  REQUIRE(machine.read_scheduler(GRID_SCHEDULER_SLOT_STATE_OFFSET) % 4 == 0);
}

TEST_CASE("a memory error is a fault and not a hang") {
  GpuMachine machine;
  machine.map(kOut, 0x1000, AllocationClass::uncached);
  machine.memory.errors = true;
  Program().load_at(0, kOut, shape(1, 64, 64)).wait(0).end().run(machine);
  REQUIRE(only_fault(machine).kind == FaultKind::bus_error);
}

TEST_CASE("two kernels share the units and end each for itself") {
  GpuMachine machine;
  machine.map(kOut, 0x10000, AllocationClass::uncached);
  const Program p = staggered_lengths();
  p.put_into(machine);
  Launch launch = two_a_unit(p, 12);
  machine.launch(launch, 2);
  machine.launch(launch, 5);
  machine.run();
  REQUIRE(machine.read_scheduler(GRID_SCHEDULER_DONE_OFFSET) == (1 << 2 | 1 << 5));
  REQUIRE(machine.read(GPU_COUNT_RETIRED_OFFSET) == 24);
}

TEST_CASE("preempted work-groups that have not begun leave and are reported as drained") {
  GpuSpec spec = GpuMachine::small();
  spec.start_cycles = 1000;
  GpuMachine machine(spec);
  machine.map(kOut, 0x10000, AllocationClass::uncached);
  const Program p = staggered_lengths();
  p.put_into(machine);
  machine.launch(two_a_unit(p, 8));
  machine.queue.run_until(500 * kNanosecond);
  REQUIRE(machine.read(GPU_COUNT_DISPATCHED_OFFSET) == 8);
  for (const auto& unit : machine.gpu.units) {
    REQUIRE_FALSE(unit->finished());
    unit->preempt(3);  // Another slot: nothing.
    REQUIRE_FALSE(unit->finished());
    unit->preempt(0);
    REQUIRE(unit->finished());
    REQUIRE(unit->resources().registers_bytes == spec.registers_bytes);
    REQUIRE(unit->counters().drained == 2);
  }
  machine.run();
  REQUIRE(machine.read_scheduler(GRID_SCHEDULER_DRAINED_OFFSET) == 8);
  REQUIRE(machine.read(GPU_COUNT_RETIRED_OFFSET) == 0);
  for (unsigned i = 0; i < 8; ++i) REQUIRE(machine.value_at<uint64_t>(kOut + 16 * i) == 0);
}

TEST_CASE("a work-group that runs for ever is named") {
  GpuMachine machine;
  Program p;
  p.beqz(0, 0);
  p.put_into(machine);
  machine.launch(p.launch());
  machine.queue.run_until(50 * kMicrosecond);
  REQUIRE(machine.gpu.waiting_on().size() == 2);
  REQUIRE(machine.gpu.waiting_on()[1] == "cu0 wg 0 wf 0 runs at pc 0x10000010004");
}

TEST_CASE("bad register accesses answer with an error") {
  GpuMachine machine;
  REQUIRE_THROWS(machine.read(0x438));
  REQUIRE_THROWS(machine.read(0x10000));
  REQUIRE_THROWS(machine.write_scheduler(0x8000, 0));
  REQUIRE_THROWS(machine.write_ranges(0x4030, 0));
  REQUIRE(machine.read(GPU_CUS_OFFSET) == 4);
}

TEST_CASE("two runs of one machine are the same event for event") {
  GpuMachine machine;
  machine.map(kOut, 0x10000, AllocationClass::uncached);
  const Program p = staggered_lengths();
  p.put_into(machine);
  machine.run();
  // Both begin at a whole number of 5 ns, seven clocks, so that all edges fall alike.
  const auto align = [&] {
    const Time begin = (machine.queue.now() / (5 * kNanosecond) + 1) * 5 * kNanosecond;
    machine.queue.run_until(begin);
    return begin;
  };
  const Time first_begin = align();
  const uint64_t before = machine.queue.executed();
  const Time first = machine.run_kernel(two_a_unit(p, 20)) - first_begin;
  const uint64_t events = machine.queue.executed() - before;
  const Time begin = align();
  const Time second = machine.run_kernel(two_a_unit(p, 20));
  REQUIRE(machine.queue.executed() == before + 2 * events);
  REQUIRE(second - begin == first);
}
