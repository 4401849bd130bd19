// SPDX-License-Identifier: Apache-2.0
// Test cases that fail, for failure_waves_test.cpp: each block in lockstep with a model whose one
// output is wrong in one clock. Not part of any suite.
#include <catch2/catch.hpp>

#include <memory>
#include <utility>

#include "platform/adapters/rtl_blocks.h"
#include "tests/support/block_waves.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

constexpr uint64_t kWrongCycle = 5000;

// What `corrupt` does to the outputs of one clock.
template <typename Block, typename Inputs, typename Outputs, typename Corrupt>
class WrongOnce final : public Block {
 public:
  WrongOnce(std::unique_ptr<Block> inner, Corrupt corrupt)
      : inner_(std::move(inner)), corrupt_(corrupt) {}
  void reset() override { inner_->reset(); }
  Outputs step(const Inputs& in) override {
    Outputs out = inner_->step(in);
    if (in.cycle == kWrongCycle) corrupt_(out);
    return out;
  }

 private:
  std::unique_ptr<Block> inner_;
  Corrupt corrupt_;
};

// Steps until the lockstep stops; in every clock a random register is read.
template <typename Inputs, typename Outputs, typename Block, typename Corrupt>
void fail(std::unique_ptr<Block> rtl, std::unique_ptr<Block> model, const char* instance,
          Corrupt corrupt) {
  const auto block = make_lockstep(
      std::move(rtl),
      std::make_unique<WrongOnce<Block, Inputs, Outputs, Corrupt>>(std::move(model), corrupt),
      instance);
  test::Rng rng;
  Inputs in;
  for (in.cycle = 0; in.cycle < 2 * kWrongCycle; ++in.cycle) {
    in.reg = {false, true, static_cast<uint16_t>(8 * rng.below(8)), 0};
    block->step(in);
  }
}

TEST_CASE("mca") {
  fail<McaInputs, McaOutputs>(make_mca(Impl::rtl, "", test::wave_probe("mca")),
                              make_mca(Impl::model, ""), "mca",
                              [](McaOutputs& out) { out.threshold ^= 1; });
}

TEST_CASE("tracker") {
  fail<TrackerInputs, TrackerOutputs>(make_tracker(Impl::rtl, "", test::wave_probe("tracker")),
                                      make_tracker(Impl::model, ""), "tracker",
                                      [](TrackerOutputs& out) { out.trigger_wg_id ^= 1; });
}

TEST_CASE("grid_scheduler") {
  fail<GridSchedulerInputs, GridSchedulerOutputs>(
      make_grid_scheduler(Impl::rtl, "", test::wave_probe("grid_scheduler")),
      make_grid_scheduler(Impl::model, ""), "grid_scheduler",
      [](GridSchedulerOutputs& out) { out.irq = !out.irq; });
}

TEST_CASE("request_ring") {
  fail<RequestRingInputs, RequestRingOutputs>(
      make_request_ring(Impl::rtl, "", test::wave_probe("request_ring")),
      make_request_ring(Impl::model, ""), "request_ring",
      [](RequestRingOutputs& out) { out.issue_tag ^= 1; });
}

}  // namespace
}  // namespace stretto
