// SPDX-License-Identifier: Apache-2.0
// Question: do the MCA's RTL and its reference model agree clock by clock, and do both keep the
// rules of rtl/mca/README.md? State space: pending counts x DRAM occupancy x policy x limit x drain
// x measurement x waiting time. The bench is a channel: it knows what is pending, never pops more
// than was granted, and skips clocks as a channel may. Limits 5, 10, 30, none and the cut-offs 32,
// 16, 8 are T3 4.5, T3-U05; the starvation limit is T3-U06.
#include <catch2/catch.hpp>

#include "models/common/error.h"
#include "platform/adapters/rtl_blocks.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/mca_bank.h"
#include "sw/include/regs/mca_regs.h"
#include "tests/support/block_waves.h"
#include "tests/support/coverage_bins.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

class Channel {
 public:
  explicit Channel(Impl impl = Impl::lockstep)
      : mca_(make_mca(impl, "test.mca", test::wave_probe("mca"))) {}

  // One clock with the inputs of `in`; keeps the books and checks R1 and R2.
  McaOutputs step() {
    in.cycle = cycle_++;
    in.dram_parked = static_cast<uint8_t>(parked);
    compute_now_ = compute;
    comm_now_ = comm;
    out = mca_->step(in);
    mca_->snapshot();  // Lockstep compares the state inside, too.
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
  std::optional<McaSnapshot> snapshot() const { return mca_->snapshot(); }
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

// Any policy, the aware one often, and now and then a value that names none.
uint64_t random_policy(test::Rng& rng) {
  if (rng.chance(1, 16)) return rng.below(MCA_CONTROL_POLICY_MASK + 1);
  if (rng.chance(1, 2)) return MCA_CONTROL_POLICY_COMMUNICATION_AWARE;
  return kMcaControlPolicyValues[rng.below(std::size(kMcaControlPolicyValues))].value;
}

// Random traffic for `cycles` clocks; with `skipping`, clocks that wake_cycle allows to skip are
// skipped.
struct Traffic {
  test::Rng rng;
  unsigned compute_chance = 0, comm_chance = 0, pop_chance = 0, parked = 0;

  void drive(Channel& c) {
    if (rng.chance(1, 500)) {
      // Every other time the queues run empty now and then.
      const bool light = rng.chance(1, 2);
      compute_chance = static_cast<unsigned>(rng.below(light ? 3 : 12));
      comm_chance = static_cast<unsigned>(rng.below(light ? 6 : 12));
      pop_chance = static_cast<unsigned>(light ? rng.between(3, 16) : rng.below(16));
    }
    if (c.compute < 1000 && rng.chance(compute_chance, 16))
      c.in.compute_push = static_cast<uint8_t>(rng.below(4));
    if (c.comm < 1000 && rng.chance(comm_chance, 16))
      c.in.comm_push = static_cast<uint8_t>(rng.below(4));
    if (rng.chance(pop_chance, 16))
      c.in.dram_pop = static_cast<uint8_t>(rng.below(std::min(c.occupancy, 3u) + 1));
    if (rng.chance(1, 50)) parked = static_cast<unsigned>(rng.below(40));
    c.parked = std::min(parked, c.occupancy - c.in.dram_pop);
    c.in.kernel_start = rng.chance(1, 200);
    c.in.first_wg_done = rng.chance(1, c.in.kernel_start ? 20 : 150);
    c.in.kernel_end = rng.chance(1, 500);
    if (rng.chance(1, 25)) {
      const auto address =
          static_cast<uint16_t>(rng.chance(1, 8) ? MCA_CONTROL_OFFSET : rng.below(14) * 8);
      if (rng.chance(1, 2)) {
        c.in.reg = {false, true, address, 0};
        return;
      }
      uint64_t data = rng.next();
      if (address == MCA_CONTROL_OFFSET)
        data = STRETTO_FIELD(MCA_CONTROL_THRESHOLD_SELECT, rng.below(2)) | random_policy(rng);
      if (address == MCA_CUTOFFS_OFFSET && rng.chance(3, 4)) {
        data = STRETTO_FIELD(MCA_CUTOFFS_LIMIT_30, rng.below(4)) |
               STRETTO_FIELD(MCA_CUTOFFS_LIMIT_10, rng.between(4, rng.chance(1, 2) ? 8 : 24)) |
               STRETTO_FIELD(MCA_CUTOFFS_LIMIT_5, rng.between(24, 60));
      }
      if (address == MCA_THRESHOLD_OFFSET)
        data = rng.chance(1, 4) ? 0 : rng.below(rng.chance(1, 2) ? 6 : 40);
      if (address == MCA_STARVE_LIMIT_OFFSET) data = rng.below(rng.chance(1, 2) ? 20 : 200);
      if (address == MCA_DRAM_QUEUE_DEPTH_OFFSET) data = rng.between(1, 127);
      c.in.reg = {true, false, address, data};
    }
  }
};

TEST_CASE("the MCA's state inside is read while it is busy, and reading it costs no clock") {
  for (const Impl impl : {Impl::rtl, Impl::model, Impl::lockstep}) {
    Channel c(impl);
    c.use(MCA_CONTROL_POLICY_COMMUNICATION_AWARE, 10);
    c.start_kernel();
    uint64_t compute = 0;
    uint64_t comm = 0;
    for (unsigned i = 0; i < 200; ++i) {
      c.in.compute_push = i % 3 == 0;
      c.in.comm_push = i % 2;
      c.in.dram_pop = c.occupancy != 0 && i % 2 == 0;
      c.step();
      compute += c.out.grant_compute;
      comm += c.out.grant_comm;
      for (unsigned twice = 0; twice < 2; ++twice) {
        const std::optional<McaSnapshot> state = c.snapshot();
        REQUIRE(state.has_value());
        REQUIRE(state->grants_compute == compute);
        REQUIRE(state->grants_comm == comm);
        REQUIRE(state->limit == 10);
      }
    }
    CHECK(compute > 50);
    CHECK(comm > 10);
    CHECK(c.comm > 0);  // It is busy to the end.
  }
}

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

TEST_CASE("round robin alternates and falls back to the queue that has atoms", "[T3-MCA-07]") {
  Channel c;
  c.push(3, 2);
  CHECK(c.step().grant_comm);  // Compute has the first turn after a communication grant; none was
                               // granted yet.
  CHECK(c.step().grant_compute);
  CHECK(c.step().grant_comm);
  CHECK(c.step().grant_compute);
  CHECK(c.step().grant_compute);
  c.push(1, 3);
  CHECK(c.step().grant_comm);
  CHECK(c.step().grant_compute);
  CHECK(c.step().grant_comm);
  CHECK(c.step().grant_comm);
}

TEST_CASE("communication aware serves compute first and communication below the limit only",
          "[T3-MCA-01][T3-MCA-02]") {
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
    "communication that waited for the starvation limit goes first, and not one clock earlier",
    "[T3-MCA-05]") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMMUNICATION_AWARE, 5);
  c.write(MCA_STARVE_LIMIT_OFFSET, 100);
  const uint64_t pushed = c.cycle();
  c.push(3, 2);
  for (const uint64_t waited : {100, 200}) {  // From the last grant of communication on.
    do {
      c.in.compute_push = 1;
      c.in.dram_pop = c.occupancy != 0;
      c.step();
      REQUIRE(c.cycle() < pushed + 300);
    } while (!c.out.grant_comm);
    CHECK(c.cycle() - 1 - pushed == waited);
  }
  CHECK(c.read(MCA_GRANTS_STARVED_OFFSET) == 2);
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

TEST_CASE("a kernel's end drains communication without limit and says when it is done",
          "[T3-MCA-06]") {
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

TEST_CASE("a drain takes turns with the compute of a kernel that still runs", "[T3-MCA-06]") {
  Channel c;
  c.use(MCA_CONTROL_POLICY_COMMUNICATION_AWARE, 5);
  c.start_kernel();
  c.start_kernel();
  for (int i = 0; i < 4; ++i) c.push(0, 3);
  c.steps(20);
  CHECK(c.comm == 7);
  c.in.kernel_end = true;
  c.step();
  unsigned clocks = 0;
  do {
    c.in.compute_push = 1;
    REQUIRE(++clocks < 20);
  } while (!c.step().drain_done);
  CHECK(c.comm == 0);
  CHECK(clocks <= 2 * 7 + 2);  // Two clocks an atom, one of the push and one of the pulse.
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

TEST_CASE("the mean occupancy of the first stage chooses the limit", "[T3-MCA-03][T3-MCA-04]") {
  CHECK(limit_after_stage_at(33) == 5);
  CHECK(limit_after_stage_at(32) == 10);
  CHECK(limit_after_stage_at(17) == 10);
  CHECK(limit_after_stage_at(16) == 30);
  CHECK(limit_after_stage_at(9) == 30);
  CHECK(limit_after_stage_at(8) == 0);
  CHECK(limit_after_stage_at(0) == 0);
}

TEST_CASE("cycles in which communication was pending are not measured", "[T3-MCA-04]") {
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

// What random traffic must have met; the rules are those of rtl/mca/README.md. One sample() a
// clock, with the channel as it was before the clock.
class McaCoverage {
 public:
  struct Before {
    unsigned compute, comm, occupancy, parked, depth, threshold;
  };

  static Before before(const Channel& c) {
    return {c.compute, c.comm, c.occupancy, c.parked, c.depth, c.out.threshold};
  }

  void sample(const Before& was, const McaInputs& in, const McaOutputs& out) {
    const bool room = was.occupancy < was.depth;
    const bool both = was.compute != 0 && was.comm != 0 && room;
    const bool alone = was.comm != 0 && was.compute == 0 && room;
    const bool turns = policy_ == MCA_CONTROL_POLICY_ROUND_ROBIN || draining_;
    one_after_another +=
        (out.grant_comm && last_.grant_compute) || (out.grant_compute && last_.grant_comm);
    full += !room && was.compute != 0 && was.comm != 0;
    last_atom += (out.grant_comm && was.comm == 1) || (out.grant_compute && was.compute == 1);
    works += both && out.grant_compute;
    alternates += both && turns && out.grant_comm && last_.grant_compute;
    if (!turns) {
      compute_first += both && out.grant_compute;
      starved += both && out.grant_comm;
      next_turn += both && out.grant_compute && last_.grant_comm;
      const bool aware = policy_ == MCA_CONTROL_POLICY_COMMUNICATION_AWARE;
      const bool exclusive = policy_ == MCA_CONTROL_POLICY_COMPUTE_EXCLUSIVE;
      const bool below = was.threshold == 0 || was.occupancy < was.threshold + was.parked;
      limit_holds += aware && alone && !below && !out.grant_comm;
      limit_allows +=
          aware && kernels_ != 0 && alone && below && was.threshold != 0 && out.grant_comm;
      starved_at_limit += aware && kernels_ != 0 && alone && !below && out.grant_comm;
      kernel_holds += exclusive && alone && !out.grant_comm;
      no_kernel += exclusive && alone && out.grant_comm;
      no_limit += policy_ == MCA_CONTROL_POLICY_COMPUTE_FIRST_NO_LIMIT && alone && out.grant_comm;
    }
    three_each += in.compute_push == 3 && in.comm_push == 3;
    drained += out.drain_done && drain_grants_ >= 2;
    drained_at_once += out.drain_done && drain_grants_ == 0;
    idle_full += out.idle && !room;
    slept += out.wake_cycle != 0 && !out.idle;
    restart += in.kernel_start && in.first_wg_done;
    if (measured_ && automatic_) {
      limit_5 += out.threshold == 5;
      limit_10 += out.threshold == 10;
      limit_30 += out.threshold == 30;
      limit_none += out.threshold == 0;
    }
    written_under_traffic += in.reg.write && was.compute != 0 && was.comm != 0;

    drain_grants_ = draining_ ? drain_grants_ + out.grant_comm : 0;
    if (out.drain_done) draining_ = false;
    if (in.kernel_end) draining_ = true;
    kernels_ += in.kernel_start && kernels_ != 15;
    kernels_ -= in.kernel_end && kernels_ != 0;
    measured_ = measured_ || in.first_wg_done;
    if (in.reg.write && in.reg.address == MCA_CONTROL_OFFSET) {
      policy_ = STRETTO_FIELD_GET(in.reg.wdata, MCA_CONTROL_POLICY);
      automatic_ = STRETTO_FIELD_GET(in.reg.wdata, MCA_CONTROL_THRESHOLD_SELECT) != 0;
    }
    last_ = out;
  }

  void reset(const Channel& c) {
    reset_in_flight += c.compute != 0 && c.comm != 0 && c.occupancy != 0;
    policy_ = MCA_CONTROL_POLICY_ROUND_ROBIN;
    kernels_ = 0;
    automatic_ = draining_ = measured_ = false;
    last_ = McaOutputs();
  }

  void skip(uint64_t clocks, bool measuring) {
    skipped += clocks != 0;
    skipped_measured += clocks != 0 && measuring;
  }

  test::CoverageBins bins{"mca"};

 private:
  uint64_t& one_after_another = bins.bin("R1: the queues are granted in consecutive clocks");
  uint64_t& full = bins.bin("R2: both wait for room in the DRAM queue");
  uint64_t& last_atom = bins.bin("R2: a queue's only atom is granted");
  uint64_t& works = bins.bin("R3: compute is granted while both are pending");
  uint64_t& alternates = bins.bin("R4: round robin alternates");
  uint64_t& compute_first = bins.bin("R4: compute goes first");
  uint64_t& starved = bins.bin("R4: starved communication goes before compute");
  uint64_t& limit_holds = bins.bin("R4: the limit holds communication back");
  uint64_t& limit_allows = bins.bin("R4: communication is granted below the limit");
  uint64_t& starved_at_limit = bins.bin("R4: starved communication is granted at the limit");
  uint64_t& kernel_holds = bins.bin("R4: exclusive compute holds communication back");
  uint64_t& no_kernel = bins.bin("R4: exclusive compute lets communication through");
  uint64_t& no_limit = bins.bin("R4: compute first without limit lets communication through");
  uint64_t& written_under_traffic = bins.bin("R4: a register is written while both are pending");
  uint64_t& three_each = bins.bin("R5: three atoms enter each queue at once");
  uint64_t& reset_in_flight = bins.bin("R5: reset with atoms in all three queues");
  uint64_t& drained = bins.bin("R6: a drain of two atoms or more ends");
  uint64_t& drained_at_once = bins.bin("R6: a drain of an empty queue ends");
  uint64_t& next_turn = bins.bin("R7: compute is granted right after a starved grant");
  uint64_t& idle_full = bins.bin("R8: idle with a full DRAM queue");
  uint64_t& slept = bins.bin("R8: awake only for the clock in which communication starves");
  uint64_t& skipped = bins.bin("R8: clocks are skipped");
  uint64_t& skipped_measured = bins.bin("R8: clocks are skipped in a measured stage");
  uint64_t& restart = bins.bin("R9: kernel_start together with first_wg_done");
  uint64_t& limit_5 = bins.bin("R9: limit 5 is chosen");
  uint64_t& limit_10 = bins.bin("R9: limit 10 is chosen");
  uint64_t& limit_30 = bins.bin("R9: limit 30 is chosen");
  uint64_t& limit_none = bins.bin("R9: no limit is chosen");

  // As programmed and seen so far.
  uint64_t policy_ = MCA_CONTROL_POLICY_ROUND_ROBIN;
  bool automatic_ = false;
  bool draining_ = false;
  bool measured_ = false;
  unsigned kernels_ = 0;
  unsigned drain_grants_ = 0;
  McaOutputs last_;
};

TEST_CASE("MCA RTL and model agree in random traffic that meets every rule") {
  Channel c;
  Traffic traffic{test::Rng(1)};
  McaCoverage coverage;
  bool measuring = false;
  // At least so many clocks, and up to eight times as many until no bin is empty: two of 400 seeds leave one so.
  const uint64_t clocks = test::coverification_cycles();
  for (uint64_t i = 0; i < clocks || (i < 8 * clocks && coverage.bins.empty() != ""); ++i) {
    if (traffic.rng.chance(1, 5000)) {
      coverage.reset(c);
      c.reset();
    }
    const McaCoverage::Before was = McaCoverage::before(c);
    traffic.drive(c);
    const McaInputs in = c.in;
    c.step();
    coverage.sample(was, in, c.out);
    measuring = in.kernel_start || (measuring && !in.first_wg_done);
    if (c.out.wake_cycle > c.cycle() && traffic.rng.chance(1, 4)) {
      const uint64_t most = std::min<uint64_t>(c.out.wake_cycle - c.cycle(), 50);
      const uint64_t skipped = traffic.rng.below(most + 1);
      c.skip(skipped);
      coverage.skip(skipped, measuring);
    }
  }
  coverage.bins.report();
  CHECK(coverage.bins.empty() == "");
  CHECK(coverage.bins.rules_without_bin(STRETTO_SOURCE_DIR "/rtl/mca/README.md") == "");
}

TEST_CASE("skipping the clocks that wake_cycle allows changes no grant") {
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
    if (in.cycle == 37) out.grant_comm = !out.grant_comm;
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
  for (in.cycle = 0; in.cycle < 37; ++in.cycle) {
    in.comm_push = in.cycle == 33;
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
        "lockstep: mca gpu0.hbm.channel3.mca, cycle 37: grant_comm: rtl 0x1, model 0x0; "
        "inputs of this cycle: compute_push=0x2\n last inputs before it:\n"
        "  cycle 18: none\n  cycle 19: none\n  cycle 20: none\n  cycle 21: none\n"
        "  cycle 22: none\n  cycle 23: none\n  cycle 24: none\n  cycle 25: none\n"
        "  cycle 26: none\n  cycle 27: none\n  cycle 28: none\n  cycle 29: none\n"
        "  cycle 30: none\n  cycle 31: none\n  cycle 32: none\n  cycle 33: comm_push=0x1\n"
        "  cycle 34: none\n  cycle 35: none\n  cycle 36: none");
}

}  // namespace
}  // namespace stretto
