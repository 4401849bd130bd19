// SPDX-License-Identifier: Apache-2.0
// Question: do the MCA's RTL and its reference model agree clock by clock, and do both keep the
// rules of rtl/mca/README.md? State space: pending counts x DRAM occupancy x policy x limit x drain
// x measurement x waiting time. The bench is a channel: it knows what is pending, never pops more
// than was granted, and skips clocks as a channel may. Limits 5, 10, 30, none and the cut-offs 32,
// 16, 8 are T3 4.5, T3-U05; the starvation limit is T3-U06.
#include <catch2/catch.hpp>

#include "models/common/error.h"
#include "platform/adapters/rtl_blocks.h"
#include "sw/include/regs/mca_regs.h"
#include "tests/support/block_waves.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

class Channel {
 public:
  explicit Channel(Impl impl = Impl::lockstep) : mca_(make_mca(impl, "test.mca", test::wave_probe("mca"))) {}

  // One clock with the inputs of `in`; keeps the books and checks R1 and R2.
  McaOutputs step() {
    in.cycle = cycle_++;
    in.dram_parked = static_cast<uint8_t>(parked);
    compute_now_ = compute;
    comm_now_ = comm;
    out = mca_->step(in);
    if (out.grant_compute && out.grant_comm) throw CheckError("R1: two grants");
    if (out.grant_compute && compute_now_ == 0)
      throw CheckError("R2: grant to an empty compute queue");
    if (out.grant_comm && comm_now_ == 0)
      throw CheckError("R2: grant to an empty communication queue");
    if ((out.grant_compute || out.grant_comm) && occupancy >= depth)
      throw CheckError("R2: no room");
    compute += in.compute_push - unsigned{out.grant_compute};
    comm += in.comm_push - unsigned{out.grant_comm};
    occupancy += unsigned{out.grant_compute} + out.grant_comm - in.dram_pop;
    if (in.reg.write && in.reg.address == MCA_DRAM_QUEUE_DEPTH_OFFSET) depth = in.reg.wdata & 0x7f;
    in = McaInputs();
    return out;
  }
  void steps(unsigned n) {
    while (n-- != 0) step();
  }
  void write(uint16_t address, uint64_t data) {
    in.reg = {true, false, address, data};
    step();
  }
  uint64_t read(uint16_t address) {
    in.reg = {false, true, address, 0};
    step();
    return step().reg_rdata;
  }
  void push(unsigned compute_atoms, unsigned comm_atoms) {
    in.compute_push = static_cast<uint8_t>(compute_atoms);
    in.comm_push = static_cast<uint8_t>(comm_atoms);
    step();
  }
  void use(uint64_t policy, uint64_t limit) {
    write(MCA_CONTROL_OFFSET, policy << MCA_CONTROL_POLICY_SHIFT);
    write(MCA_THRESHOLD_OFFSET, limit);
  }
  void start_kernel() {
    in.kernel_start = true;
    step();
  }
  void skip(uint64_t cycles) { cycle_ += cycles; }
  void reset() {
    mca_->reset();
    compute = comm = occupancy = parked = 0;
    depth = 64;
  }
  uint64_t cycle() const { return cycle_; }

  McaInputs in;
  McaOutputs out;
  unsigned compute = 0;
  unsigned comm = 0;
  unsigned occupancy = 0;
  unsigned depth = 64;
  unsigned parked = 0;  // Level of dram_parked.

 private:
  std::unique_ptr<Mca> mca_;
  uint64_t cycle_ = 0;
  unsigned compute_now_ = 0;
  unsigned comm_now_ = 0;
};

// Random traffic for `cycles` clocks; with `skipping`, clocks that wake_cycle allows to skip are
// skipped.
struct Traffic {
  test::Rng rng;
  unsigned compute_chance = 0, comm_chance = 0, pop_chance = 0, parked = 0;

  void drive(Channel& c) {
    if (rng.chance(1, 500)) {
      compute_chance = static_cast<unsigned>(rng.below(12));
      comm_chance = static_cast<unsigned>(rng.below(12));
      pop_chance = static_cast<unsigned>(rng.below(16));
    }
    if (c.compute < 1000 && rng.chance(compute_chance, 16))
      c.in.compute_push = static_cast<uint8_t>(rng.below(4));
    if (c.comm < 1000 && rng.chance(comm_chance, 16))
      c.in.comm_push = static_cast<uint8_t>(rng.below(4));
    if (rng.chance(pop_chance, 16))
      c.in.dram_pop = static_cast<uint8_t>(rng.below(std::min(c.occupancy, 3u) + 1));
    if (rng.chance(1, 50)) parked = static_cast<unsigned>(rng.below(40));
    c.parked = std::min(parked, c.occupancy - c.in.dram_pop);
    c.in.kernel_start = rng.chance(1, 300);
    c.in.first_wg_done = rng.chance(1, 200);
    c.in.kernel_end = rng.chance(1, 300);
    if (rng.chance(1, 100)) {
      const auto address = static_cast<uint16_t>(rng.below(14) * 8);
      if (rng.chance(1, 2)) {
        c.in.reg = {false, true, address, 0};
        return;
      }
      uint64_t data = rng.next();
      if (address == MCA_CONTROL_OFFSET) data = rng.below(32);
      if (address == MCA_THRESHOLD_OFFSET) data = rng.chance(1, 4) ? 0 : rng.below(40);
      if (address == MCA_STARVE_LIMIT_OFFSET) data = rng.below(200);
      if (address == MCA_DRAM_QUEUE_DEPTH_OFFSET) data = rng.between(1, 127);
      c.in.reg = {true, false, address, data};
    }
  }
};

TEST_CASE("an atom is granted one clock after it was pushed") {
  Channel c;
  c.push(1, 0);
  CHECK_FALSE(c.out.grant_compute);
  CHECK_FALSE(c.out.idle);
  CHECK(c.step().grant_compute);
  CHECK_FALSE(c.step().grant_compute);
  CHECK(c.out.idle);
  CHECK(c.out.wake_cycle == kMcaNeverWakes);
}

TEST_CASE("round robin alternates and falls back to the queue that has atoms") {
  Channel c;
  c.push(3, 2);
  CHECK(c.step().grant_comm);  // Compute has the first turn after a communication grant; none was
                               // granted yet.
  CHECK(c.step().grant_compute);
  CHECK(c.step().grant_comm);
  CHECK(c.step().grant_compute);
  CHECK(c.step().grant_compute);
}

TEST_CASE("communication aware serves compute first and communication below the limit only") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMMUNICATION_AWARE, 5);
  c.start_kernel();
  c.push(2, 3);
  c.push(0, 3);
  CHECK(c.out.grant_compute);
  CHECK(c.step().grant_compute);
  CHECK(c.step().grant_comm);  // Occupancy 2, 3, 4: below 5.
  CHECK(c.step().grant_comm);
  CHECK(c.step().grant_comm);
  CHECK_FALSE(c.step().grant_comm);
  c.in.dram_pop = 1;
  CHECK_FALSE(c.step().grant_comm);
  CHECK(c.step().grant_comm);
}

TEST_CASE("atoms parked for a write batch do not count against the limit") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMMUNICATION_AWARE, 5);
  c.start_kernel();
  for (int i = 0; i < 4; ++i) c.push(0, 3);
  c.steps(20);
  CHECK(c.occupancy == 5);
  c.parked = 2;
  CHECK_FALSE(c.step().grant_comm);
  CHECK(c.step().grant_comm);
  c.steps(20);
  CHECK(c.occupancy == 7);
  c.parked = 0;
  c.steps(20);
  CHECK(c.occupancy == 7);
}

TEST_CASE("the limit protects a kernel: without one communication is not held back") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMMUNICATION_AWARE, 5);
  for (int i = 0; i < 4; ++i) c.push(0, 3);
  c.steps(20);
  CHECK(c.occupancy == 12);
}

TEST_CASE(
    "communication that waited for the starvation limit goes first, and not one clock earlier") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMMUNICATION_AWARE, 5);
  c.write(MCA_STARVE_LIMIT_OFFSET, 100);
  const uint64_t pushed = c.cycle();
  c.push(3, 1);
  while (!c.out.grant_comm) {
    c.in.compute_push = 1;
    c.in.dram_pop = c.occupancy != 0;
    c.step();
    REQUIRE(c.cycle() < pushed + 200);
  }
  CHECK(c.cycle() - 1 - pushed == 100);
  CHECK(c.read(MCA_GRANTS_STARVED_OFFSET) == 1);
}

TEST_CASE("wake_cycle is the clock in which waiting communication starves") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMPUTE_EXCLUSIVE, 0);
  c.in.kernel_start = true;
  c.step();
  const uint64_t pushed = c.cycle();
  c.push(0, 1);
  c.step();
  CHECK_FALSE(c.out.idle);
  REQUIRE(c.out.wake_cycle == pushed + 1000);
  c.skip(c.out.wake_cycle - c.cycle() - 1);
  CHECK_FALSE(c.step().grant_comm);
  CHECK(c.step().grant_comm);
}

TEST_CASE("exclusive compute lets communication through only while no kernel runs") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMPUTE_EXCLUSIVE, 0);
  c.in.kernel_start = true;
  c.push(0, 2);
  c.steps(50);
  CHECK(c.comm == 2);
  c.in.kernel_end = true;
  c.step();
  c.steps(4);
  CHECK(c.comm == 0);
}

TEST_CASE("compute first without limit ignores the occupancy") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMPUTE_FIRST_NO_LIMIT, 1);
  c.push(3, 3);
  c.steps(6);
  CHECK(c.occupancy == 6);
}

TEST_CASE("a kernel's end drains communication without limit and says when it is done") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMMUNICATION_AWARE, 5);
  c.start_kernel();
  for (int i = 0; i < 4; ++i) c.push(0, 3);
  c.steps(20);
  CHECK(c.occupancy == 5);
  c.in.kernel_end = true;
  c.step();
  unsigned clocks = 0;
  while (!c.step().drain_done) REQUIRE(++clocks < 20);
  CHECK(c.comm == 0);
  CHECK(clocks == 7);  // Seven atoms, one a clock; the pulse follows the last.
  CHECK(c.read(MCA_DRAINS_OFFSET) == 1);
}

TEST_CASE("a drain of an empty queue ends at once") {
  Channel c;
  c.in.kernel_end = true;
  CHECK_FALSE(c.step().drain_done);
  CHECK(c.step().drain_done);
  CHECK_FALSE(c.step().drain_done);
  CHECK(c.out.idle);
}

TEST_CASE("nothing is granted into a full DRAM queue, and waiting for it is idle") {
  Channel c;
  c.write(MCA_DRAM_QUEUE_DEPTH_OFFSET, 8);
  for (int i = 0; i < 4; ++i) c.push(3, 0);
  c.steps(20);
  CHECK(c.occupancy == 8);
  CHECK(c.compute == 4);
  CHECK(c.out.idle);
  c.in.dram_pop = 1;
  c.step();
  CHECK_FALSE(c.out.idle);
  CHECK(c.step().grant_compute);
}

// Holds the DRAM queue at `occupancy` for 1000 clocks of a measured stage, most of them skipped.
uint64_t limit_after_stage_at(unsigned occupancy) {
  Channel c;
  c.write(MCA_CONTROL_OFFSET,
          MCA_CONTROL_POLICY_COMMUNICATION_AWARE | 1u << MCA_CONTROL_THRESHOLD_SELECT_SHIFT);
  for (unsigned i = 0; i < occupancy; ++i) c.push(1, 0);
  c.steps(4);
  CHECK(c.occupancy == occupancy);
  c.in.kernel_start = true;
  c.step();
  c.skip(999);
  c.in.first_wg_done = true;
  c.step();
  c.steps(2);
  CHECK(c.read(MCA_SAMPLE_CYCLES_OFFSET) == 1000);
  CHECK(c.read(MCA_SAMPLE_SUM_OFFSET) == 1000 * occupancy);
  return c.out.threshold;
}

TEST_CASE("the mean occupancy of the first stage chooses the limit") {
  CHECK(limit_after_stage_at(33) == 5);
  CHECK(limit_after_stage_at(32) == 10);
  CHECK(limit_after_stage_at(17) == 10);
  CHECK(limit_after_stage_at(16) == 30);
  CHECK(limit_after_stage_at(9) == 30);
  CHECK(limit_after_stage_at(8) == 0);
  CHECK(limit_after_stage_at(0) == 0);
}

TEST_CASE("cycles in which communication was pending are not measured") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMMUNICATION_AWARE, 1);
  c.push(2, 0);
  c.steps(3);
  c.in.kernel_start = true;
  c.step();
  c.skip(9);
  c.push(0, 1);  // Pending from the 11th clock on; the limit of 1 holds it back.
  c.steps(50);
  c.in.first_wg_done = true;
  c.step();
  c.step();
  CHECK(c.read(MCA_SAMPLE_CYCLES_OFFSET) == 10);
  CHECK(c.read(MCA_SAMPLE_SUM_OFFSET) == 20);
}

TEST_CASE("reset in mid-flight leaves nothing behind") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMMUNICATION_AWARE, 1);
  for (int i = 0; i < 10; ++i) c.push(3, 3);
  c.reset();
  CHECK(c.step().idle);
  CHECK(c.read(MCA_STATUS_OFFSET) == 0);
  CHECK(c.read(MCA_CONTROL_OFFSET) == 0);
  CHECK(c.read(MCA_CUTOFFS_OFFSET) == MCA_CUTOFFS_RESET);
  CHECK(c.read(MCA_STARVE_LIMIT_OFFSET) == 1000);
}

TEST_CASE("MCA RTL and model agree in 100000 random clocks") {
  test::print_seed();
  Channel c;
  Traffic traffic{test::Rng(1)};
  uint64_t grants = 0;
  for (unsigned i = 0; i < 100000; ++i) {
    if (traffic.rng.chance(1, 5000)) c.reset();
    traffic.drive(c);
    c.step();
    grants += c.out.grant_compute + c.out.grant_comm;
    if (c.out.wake_cycle > c.cycle() && traffic.rng.chance(1, 4)) {
      c.skip(traffic.rng.below(std::min<uint64_t>(c.out.wake_cycle - c.cycle(), 50) + 1));
    }
  }
  CHECK(grants > 10000);
}

TEST_CASE("skipping the clocks that wake_cycle allows changes no grant") {
  test::print_seed();
  Channel stepped;
  Channel skipped;
  test::Rng rng(2);
  Traffic first{test::Rng(3)};
  unsigned skips = 0;
  for (unsigned i = 0; i < 20000; ++i) {
    first.drive(stepped);
    skipped.in = stepped.in;
    skipped.parked = stepped.parked;
    stepped.step();
    skipped.step();
    REQUIRE(stepped.out == skipped.out);
    const unsigned gap = static_cast<unsigned>(rng.below(20));
    for (unsigned g = 0; g < gap; ++g) {
      const bool may_skip = skipped.out.wake_cycle > stepped.cycle();
      stepped.step();
      if (may_skip) {
        skipped.skip(1);
        ++skips;
        REQUIRE_FALSE(
            (stepped.out.grant_compute || stepped.out.grant_comm || stepped.out.drain_done));
      } else {
        skipped.step();
        REQUIRE(stepped.out == skipped.out);
      }
    }
  }
  CHECK(skips > 10000);
}

TEST_CASE("no atom starves under communication aware, for any starvation limit") {
  for (const uint64_t limit : {uint64_t{0}, uint64_t{1}, uint64_t{50}}) {
    Channel c;
    c.use(MCA_CONTROL_POLICY_COMMUNICATION_AWARE, 5);
    c.write(MCA_STARVE_LIMIT_OFFSET, limit);
    c.push(3, 3);
    uint64_t since_compute = 0;
    uint64_t since_comm = 0;
    for (int i = 0; i < 1000; ++i) {
      c.in.compute_push = c.compute < 100 ? 2 : 0;
      c.in.comm_push = c.comm < 100 ? 2 : 0;
      c.in.dram_pop = c.occupancy != 0;
      c.step();
      since_compute = c.out.grant_compute ? 0 : since_compute + 1;
      since_comm = c.out.grant_comm ? 0 : since_comm + 1;
      REQUIRE(since_compute <= 2);
      REQUIRE(since_comm <= limit + 2);
    }
  }
}

TEST_CASE("lockstep finds the MCA with inverted priority") {
  const auto mca = make_inverted_mca(Impl::lockstep, "test.mca");
  McaInputs in;
  in.reg = {true, false, MCA_CONTROL_OFFSET, MCA_CONTROL_POLICY_COMMUNICATION_AWARE};
  mca->step(in);
  in = McaInputs();
  in.compute_push = in.comm_push = 1;
  mca->step(in);
  CHECK_THROWS_WITH(mca->step(McaInputs()), Catch::Contains("grant_comm: rtl 0x1, model 0x0"));
}

// Flips one output in one clock.
class CorruptMca final : public Mca {
 public:
  explicit CorruptMca(std::unique_ptr<Mca> inner) : inner_(std::move(inner)) {}
  void reset() override { inner_->reset(); }
  McaOutputs step(const McaInputs& in) override {
    McaOutputs out = inner_->step(in);
    if (in.cycle == 7) out.grant_comm = !out.grant_comm;
    return out;
  }

 private:
  std::unique_ptr<Mca> inner_;
};

TEST_CASE(
    "lockstep stops at the first difference and names block, instance, cycle, signal and values") {
  const auto mca = make_lockstep(std::make_unique<CorruptMca>(make_mca(Impl::rtl, "")),
                                 make_mca(Impl::model, ""), "gpu0.hbm.channel3.mca");
  McaInputs in;
  for (in.cycle = 1000; in.cycle < 1030; ++in.cycle) mca->step(in);  // Too old to be told.
  for (in.cycle = 0; in.cycle < 7; ++in.cycle) {
    in.comm_push = in.cycle == 3;
    mca->step(in);
  }
  in.comm_push = 0;
  in.compute_push = 2;
  std::string text;
  try {
    mca->step(in);
  } catch (const CheckError& error) {
    text = error.what();
  }
  CHECK(text ==
        "lockstep: mca gpu0.hbm.channel3.mca, cycle 7: grant_comm: rtl 0x1, model 0x0; "
        "inputs of this cycle: compute_push=0x2\n last inputs before it:\n"
        "  cycle 1018: none\n  cycle 1019: none\n  cycle 1020: none\n  cycle 1021: none\n"
        "  cycle 1022: none\n  cycle 1023: none\n  cycle 1024: none\n  cycle 1025: none\n"
        "  cycle 1026: none\n  cycle 1027: none\n  cycle 1028: none\n  cycle 1029: none\n"
        "  cycle 0: none\n  cycle 1: none\n  cycle 2: none\n  cycle 3: comm_push=0x1\n"
        "  cycle 4: none\n  cycle 5: none\n  cycle 6: none");
}

}  // namespace
}  // namespace stretto
