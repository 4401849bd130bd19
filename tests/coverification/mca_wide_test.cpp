// SPDX-License-Identifier: Apache-2.0
// Question: do the MCA's RTL and its reference model agree where values are wide? Clocks far apart,
// queues with tens of thousands of atoms, a DRAM queue of 127, limits of 32 bits, every register
// address: what a channel reaches seldom or after hours. Lockstep only; what the rules say of usual
// values, mca_lockstep_test.cpp and mca_contract_test.cpp ask.
#include <catch2/catch.hpp>

#include <algorithm>

#include "platform/adapters/rtl_blocks.h"
#include "sw/include/regs/mca_regs.h"
#include "tests/support/block_waves.h"
#include "tests/support/coverage_bins.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

constexpr uint64_t kLongestStage = (uint64_t{1} << 32) - (1 << 20);  // REQUIRES of README.md.
constexpr uint64_t kLastLongJump = uint64_t{1} << 47;
constexpr uint64_t kLastCycle = (uint64_t{1} << 48) - (uint64_t{1} << 40);  // Then time walks.
constexpr unsigned kMostPending = 65'000;

class WideChannel {
 public:
  void run(uint64_t clocks) {
    for (uint64_t i = 0; i < clocks; ++i) {
      if (i % kPhase == 0) begin_phase();
      step();
    }
  }
  uint64_t grants() const { return grants_; }

 private:
  static constexpr uint64_t kPhase = 24'000;  // Fills a queue at three atoms a clock.

  void begin_phase() {
    if (rng_.chance(1, 2)) {
      mca_->reset();
      compute_ = comm_ = occupancy_ = 0;
      measuring_ = false;
    }
    compute_chance_ = static_cast<unsigned>(rng_.below(17));
    comm_chance_ = static_cast<unsigned>(rng_.below(17));
    pop_chance_ = rng_.chance(1, 2) ? 0 : static_cast<unsigned>(rng_.below(17));
    // Only without communication is a long stage measured.
    if (rng_.chance(1, 2)) (rng_.chance(1, 2) ? comm_chance_ : compute_chance_) = 0;
  }

  void step() {
    McaInputs in;
    in.cycle = cycle_;
    if (compute_ < kMostPending && rng_.chance(compute_chance_, 16))
      in.compute_push = static_cast<uint8_t>(rng_.between(1, 3));
    if (comm_ < kMostPending && rng_.chance(comm_chance_, 16))
      in.comm_push = static_cast<uint8_t>(rng_.between(1, 3));
    if (rng_.chance(pop_chance_, 16))
      in.dram_pop = static_cast<uint8_t>(rng_.below(std::min(occupancy_, 3u) + 1));
    if (rng_.chance(1, 50)) parked_ = static_cast<unsigned>(rng_.below(128));
    in.dram_parked = static_cast<uint8_t>(std::min(parked_, occupancy_ - in.dram_pop));
    in.kernel_start = rng_.chance(1, 300);
    in.first_wg_done = rng_.chance(1, 200);
    in.kernel_end = rng_.chance(1, 300);
    if (rng_.chance(1, 40)) access(in.reg);

    out_ = mca_->step(in);
    compute_ += in.compute_push - unsigned{out_.grant_compute};
    comm_ += in.comm_push - unsigned{out_.grant_comm};
    grants_ += unsigned{out_.grant_compute} + out_.grant_comm;
    occupancy_ += unsigned{out_.grant_compute} + out_.grant_comm - in.dram_pop;
    if (in.kernel_start) stage_ = kLongestStage;
    measuring_ = in.kernel_start || (measuring_ && !in.first_wg_done);
    ++cycle_;
    if (rng_.chance(1, 100)) jump();
  }

  // Sleeps as far as the block allows and the contract does.
  void jump() {
    if (out_.wake_cycle <= cycle_) return;
    const bool short_one = measuring_ || cycle_ >= kLastLongJump;
    const uint64_t wide = rng_.next() >> rng_.between(short_one ? 32 : 18, 63);
    const uint64_t far = std::min(
        {wide, out_.wake_cycle - cycle_, kLastCycle - cycle_, measuring_ ? stage_ : ~uint64_t{0}});
    if (measuring_) stage_ -= far;
    cycle_ += far;
  }

  void access(RegisterPort& reg) {
    static constexpr uint16_t kWritable[] = {MCA_CONTROL_OFFSET,          MCA_THRESHOLD_OFFSET,
                                             MCA_CUTOFFS_OFFSET,          MCA_STARVE_LIMIT_OFFSET,
                                             MCA_DRAM_QUEUE_DEPTH_OFFSET, MCA_COUNTER_CLEAR_OFFSET};
    if (rng_.chance(3, 4)) {
      reg = {
          false, true,
          static_cast<uint16_t>(rng_.chance(1, 2) ? rng_.below(14) * 8 : rng_.below(1 << 13) * 8),
          0};
      return;
    }
    uint64_t data = rng_.next();
    uint16_t address = kWritable[rng_.below(std::size(kWritable))];
    if (address == MCA_COUNTER_CLEAR_OFFSET && !rng_.chance(1, 200)) address = MCA_CONTROL_OFFSET;
    if (address == MCA_STARVE_LIMIT_OFFSET) data >>= rng_.between(32, 63);
    if (address == MCA_DRAM_QUEUE_DEPTH_OFFSET)
      data = rng_.chance(1, 2) ? 127 : rng_.between(1, 127);
    reg = {true, false, address, data};
  }

  std::unique_ptr<Mca> mca_ = make_mca(Impl::lockstep, "wide.mca", test::wave_probe("mca"));
  test::Rng rng_{71};
  McaOutputs out_;
  uint64_t cycle_ = 0, grants_ = 0;
  bool measuring_ = false;
  uint64_t stage_ = 0;  // While measuring: what is left of the longest stage.
  unsigned compute_ = 0, comm_ = 0, occupancy_ = 0;
  unsigned parked_ = 0;
  unsigned compute_chance_ = 0, comm_chance_ = 0, pop_chance_ = 0;
};

TEST_CASE("MCA RTL and model agree on wide values") {
  WideChannel channel;
  channel.run(test::coverification_cycles());
  // Registers drawn at random stop a channel for long: one run in 17 had fewer grants.
  for (unsigned more = 0; channel.grants() <= 1000 && more < 50; ++more)
    channel.run(test::coverification_cycles());
  CHECK(channel.grants() > 1000);
}

}  // namespace
}  // namespace stretto
