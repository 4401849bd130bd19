// SPDX-License-Identifier: Apache-2.0
// Question: does the request ring's RTL, whoever wrote it, keep the rules that every request ring
// must keep? No reference model: the scoreboard of the bench, which knows the contract only, so
// that RTL with another latency, order of arbitration or batching of the replica may pass where
// lockstep cannot. With the bound properties of the checked flavour this is what RTL brought by a
// user must pass (rtl/README.md). Rules are those of rtl/request_ring/README.md: R1..R7 and R10 as
// the traffic goes, R8 in every idle clock, R9 and the counters whenever the ring has been drained.
#include <catch2/catch.hpp>

#include <functional>
#include <vector>

#include "tests/coverification/request_ring_bench.h"
#include "tests/coverification/request_ring_traffic.h"
#include "tests/support/coverage_bins.h"

namespace stretto {
namespace {

struct Exercise {
  uint64_t drains = 0, audits = 0, resets = 0;
};

// Throws CheckError with rule and clock.
Exercise exercise(RingBench& r, uint64_t cycles) {
  Exercise done;
  RingTraffic traffic{r};
  const auto begin = [&] {
    traffic.retable();
    traffic.registers = r.rng.chance(1, 2);
    if (!traffic.registers) r.begin_audit(r.rng.below(8));
  };
  const auto drain = [&] {
    r.control(true, false, true, 16);
    r.drain();
    ++done.drains;
    if (traffic.registers) return;
    r.audit();
    ++done.audits;
  };
  begin();
  while (r.cycle() < cycles) {
    traffic.step();
    if (!r.rng.chance(1, 2000)) continue;
    if (r.rng.chance(1, 3)) {
      r.reset();
      ++done.resets;
    } else {
      drain();
      if (r.rng.chance(1, 2)) r.write(REQUEST_RING_CLEAR_OFFSET, 1);
    }
    begin();
  }
  drain();
  return done;
}

TEST_CASE("the RTL of the request ring keeps the rules that bind any request ring") {
  RingBench r(Impl::rtl, 7);
  const uint64_t cycles = test::coverification_cycles();
  const Exercise done = exercise(r, cycles);
  // Else the rules were not asked much.
  CHECK(done.audits > cycles / 100000);
  CHECK(done.resets > cycles / 100000);  // About one in 10,000 clocks.
  CHECK(r.issues > cycles / 20);
  CHECK(r.flags > cycles / 20);
  CHECK(r.refusals > cycles / 200);
  CHECK(r.drops > 0);
  CHECK(r.seen["connection full"] > 0);
  CHECK(r.seen["transfer failed"] > 0);
  CHECK(r.seen["done by software"] > 0);
}

// The RTL, seen through glasses that show a defect.
struct Defect {
  const char* rule;
  const char* what;
  std::function<void(RequestRingInputs&)> before;
  std::function<void(const RequestRingInputs&, RequestRingOutputs&)> after;
};

class Defective final : public RequestRing {
 public:
  explicit Defective(const Defect& defect) : defect_(defect) {}
  void reset() override { inner_->reset(); }
  RequestRingOutputs step(const RequestRingInputs& in) override {
    RequestRingInputs heard = in;
    if (defect_.before) defect_.before(heard);
    RequestRingOutputs out = inner_->step(heard);
    if (defect_.after) defect_.after(in, out);
    return out;
  }

 private:
  const Defect& defect_;
  std::unique_ptr<RequestRing> inner_ = make_request_ring(Impl::rtl, "");
};

TEST_CASE("the scoreboard notices a request ring that breaks a rule") {
  using In = RequestRingInputs;
  using Out = RequestRingOutputs;
  constexpr auto kReplica = static_cast<uint8_t>(RingWrite::replica);
  const std::vector<Defect> defects = {
      {"R1: requests changed",
       "an offset is lost",
       {},
       [](const In&, Out& o) { o.judged &= ~(uint64_t{0x1ffff} << 42); }},
      {"R1: dropped with room",
       "every request is reported as dropped",
       {},
       [](const In& i, Out& o) { o.drop = i.sr_valid; }},
      {"R2: taken without room",
       "no drop is reported",
       {},
       [](const In&, Out& o) { o.drop = false; }},
      {"R3: accepted and not offered",
       "an accepted request is lost",
       {},
       [](const In&, Out& o) { o.issue_valid = o.issue_valid && !o.accept; }},
      {"R3: wrong addresses or length",
       "one byte more",
       {},
       [](const In&, Out& o) { o.issue_bytes += o.issue_valid; }},
      {"R3: a malformed request was issued",
       "the size of a buffer is not looked at",
       [](In& i) {
         if (i.reg.address >= 0x1000 && i.reg.address < 0x2000 && i.reg.address % 16 == 8)
           i.reg.wdata |= 0x3ffff;
       },
       {}},
      {"R4: a connection has more transfers in flight than its limit",
       "limits are not kept",
       [](In& i) {
         if (i.reg.address >= 0x400 && i.reg.address < 0x600 && i.reg.address % 32 == 0)
           i.reg.wdata &= ~uint64_t{0xf0};
       },
       {}},
      {"R5: a transfer that was not taken changed",
       "a source that waits changes",
       {},
       [](const In&, Out& o) { o.issue_source ^= o.issue_valid && !o.accept ? 16 : 0; }},
      {"R6: flag at a wrong address",
       "the next flag's address",
       {},
       [](const In&, Out& o) { o.write_address += o.write_kind != kReplica ? 8 : 0; }},
      {"R6: a flag",
       "the number of the one before",
       {},
       [](const In&, Out& o) { o.write_data -= o.write_kind != kReplica ? 1 : 0; }},
      {"R7: the replica is ahead",
       "one ahead",
       {},
       [](const In&, Out& o) { o.write_data += o.write_kind == kReplica ? 1 : 0; }},
      {"R8", "always idle", {}, [](const In&, Out& o) { o.idle = true; }},
      {"R9: the line", "no interrupts", {}, [](const In&, Out& o) { o.irq = false; }},
      {"R9: ",  // Or a counter that is read first.
       "nothing sets error",
       {},
       [](const In&, Out& o) { o.reg_rdata &= ~uint64_t{7}; }},
      {"R10: the ring does not fall quiet",
       "completions are not heard",
       [](In& i) { i.done_valid = false; },
       {}},
      {"R10: the ring does not fall quiet",
       "receive flags are not written",
       {},
       [](const In&, Out& o) { o.write_valid = o.write_valid && o.write_kind != 2; }},
  };
  for (const Defect& defect : defects) {
    INFO(defect.what);
    RingBench r(std::make_unique<Defective>(defect), 11);
    CHECK_THROWS_WITH(exercise(r, 100000), Catch::Contains(defect.rule));
  }
}

}  // namespace
}  // namespace stretto
