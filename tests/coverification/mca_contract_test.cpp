// SPDX-License-Identifier: Apache-2.0
// Question: does the MCA's RTL, whoever wrote it, keep the rules that every MCA must keep? No
// reference model: an independent scoreboard in a random channel, so that another policy may pass
// where lockstep cannot. With the bound properties of the checked flavour this is what RTL brought
// by a user must pass (rtl/README.md). Rules are those of rtl/mca/README.md. What a policy may
// decide (R4, R9) is not judged here; that somebody is granted (R3) and nobody waits for ever (R7)
// is. The bound of R7: starve_limit clocks with room, one grant more, and one in which the atom is
// counted.
#include <catch2/catch.hpp>

#include <algorithm>

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

constexpr unsigned kDepth = 64;  // MCA_DRAM_QUEUE_DEPTH_RESET.
constexpr unsigned kStarveLimit = 100;

class Scoreboard {
 public:
  explicit Scoreboard(std::unique_ptr<Mca> mca) : mca_(std::move(mca)) {}

  void write(uint16_t address, uint64_t data) {
    McaInputs in;
    in.reg = {true, false, address, data};
    step(in);
  }

  // Throws CheckError with rule and clock.
  void step(McaInputs in) {
    in.cycle = cycle_++;
    const McaOutputs out = mca_->step(in);
    const bool room = occupancy_ < kDepth;
    const bool granted = out.grant_compute || out.grant_comm;
    if (out.grant_compute && out.grant_comm) broken("R1: two grants");
    if (out.grant_compute && compute_ == 0) broken("R2: a grant to an empty compute queue");
    if (out.grant_comm && comm_ == 0) broken("R2: a grant to an empty communication queue");
    if (granted && !room) broken("R2: a grant without room in the DRAM queue");
    if (compute_ != 0 && room && !granted)
      broken("R3: compute is pending, there is room, no grant");
    if (out.drain_done && comm_ != 0) broken("R6: drained with communication pending");
    if (draining_ && room && comm_ != 0 && compute_ == 0 && !out.grant_comm)
      broken("R6: the drain holds communication back");
    compute_waits_ = out.grant_compute || compute_ == 0 ? 0 : compute_waits_ + (granted ? 1 : 0);
    if (compute_waits_ > 1) broken("R7: compute waits for a second communication grant");
    comm_waits_ = out.grant_comm || comm_ == 0 ? 0 : comm_waits_ + (room ? 1 : 0);
    if (comm_waits_ > kStarveLimit + 2)
      broken("R7: communication waits beyond the starvation limit");
    draining_ = in.kernel_end || (draining_ && !out.drain_done);
    compute_ += in.compute_push - unsigned{out.grant_compute};
    comm_ += in.comm_push - unsigned{out.grant_comm};
    occupancy_ += unsigned{granted} - in.dram_pop;
    grants_ += granted ? 1 : 0;
    full_ += occupancy_ == kDepth ? 1 : 0;
    if (out.idle && compute_ != 0 && occupancy_ < kDepth)
      broken("R8: idle with compute pending and room");
  }

  unsigned compute() const { return compute_; }
  unsigned comm() const { return comm_; }
  unsigned occupancy() const { return occupancy_; }
  uint64_t grants() const { return grants_; }
  uint64_t full() const { return full_; }

 private:
  [[noreturn]] void broken(const char* rule) const {
    throw CheckError(std::string(rule) + ", clock " + std::to_string(cycle_ - 1) + ": compute " +
                     std::to_string(compute_) + ", communication " + std::to_string(comm_) +
                     " pending, DRAM queue " + std::to_string(occupancy_));
  }

  std::unique_ptr<Mca> mca_;
  uint64_t cycle_ = 0;
  unsigned compute_ = 0, comm_ = 0, occupancy_ = 0;
  unsigned compute_waits_ = 0, comm_waits_ = 0;
  bool draining_ = false;
  uint64_t grants_ = 0, full_ = 0;
};

// Random traffic under one policy.
void keep_the_rules(const RegisterValue& policy) {
  INFO("policy " << policy.name);
  test::Rng rng(7);
  Scoreboard board(make_mca(Impl::rtl, "contract.mca", test::wave_probe("mca")));
  board.write(MCA_STARVE_LIMIT_OFFSET, kStarveLimit);
  board.write(MCA_CONTROL_OFFSET, STRETTO_FIELD(MCA_CONTROL_POLICY, policy.value));
  board.write(MCA_THRESHOLD_OFFSET, 5);
  unsigned compute_chance = 0, comm_chance = 0, pop_chance = 8;
  bool kernel = false;
  const uint64_t cycles = test::coverification_cycles();
  for (uint64_t i = 0; i < cycles; ++i) {
    if (rng.chance(1, 300)) {
      compute_chance = static_cast<unsigned>(rng.below(12));
      comm_chance = static_cast<unsigned>(rng.below(12));
      pop_chance = static_cast<unsigned>(rng.below(17));
    }
    McaInputs in;
    if (board.compute() < 1000 && rng.chance(compute_chance, 16))
      in.compute_push = static_cast<uint8_t>(rng.below(4));
    if (board.comm() < 1000 && rng.chance(comm_chance, 16))
      in.comm_push = static_cast<uint8_t>(rng.below(4));
    if (rng.chance(pop_chance, 16))
      in.dram_pop = static_cast<uint8_t>(rng.below(std::min(board.occupancy(), 3u) + 1));
    if (rng.chance(1, 400)) {
      (kernel ? in.kernel_end : in.kernel_start) = true;
      kernel = !kernel;
    }
    board.step(in);
  }
  CHECK(board.grants() > cycles / 10);
  CHECK(board.full() > cycles / 1000);  // Else R2 was not asked much.
}

// A policy that mca.yaml names is under this without a line here.
TEST_CASE("the RTL of the MCA keeps the rules that bind any policy, under every policy") {
  for (const RegisterValue& policy : kMcaControlPolicyValues) keep_the_rules(policy);
}

TEST_CASE("the scoreboard notices an MCA that grants to nobody") {
  struct Silent final : Mca {
    void reset() override {}
    McaOutputs step(const McaInputs&) override { return {}; }
  };
  Scoreboard board(std::make_unique<Silent>());
  McaInputs in;
  in.compute_push = 1;
  CHECK_THROWS_WITH(board.step(in), Catch::Matchers::Contains("R8"));
  CHECK_THROWS_WITH(board.step({}), Catch::Matchers::Contains("R3"));
}

}  // namespace
}  // namespace stretto
