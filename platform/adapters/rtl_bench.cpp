// SPDX-License-Identifier: Apache-2.0
// Prints the processor time of one step of each block, Verilated and as model, idle and busy.
#include <cstdio>
#include <ctime>
#include <functional>

#include "platform/adapters/rtl_blocks.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/send_request.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/grid_scheduler_regs.h"
#include "sw/include/regs/mca_regs.h"
#include "sw/include/regs/request_ring_regs.h"
#include "sw/include/regs/tracker_regs.h"

namespace stretto {
namespace {

void measure(const char* what, Impl impl, uint64_t steps,
             const std::function<void(uint64_t)>& run) {
  run(steps / 10);
  const std::clock_t begin = std::clock();
  run(steps);
  const double time_ns = static_cast<double>(std::clock() - begin) * 1e9 / CLOCKS_PER_SEC;
  std::printf("%-28s %-6s %8.1f ns/step\n", what, impl == Impl::rtl ? "rtl" : "model",
              time_ns / static_cast<double>(steps));
}

// A cheap sequence of numbers; the same for all implementations.
struct Sequence {
  uint32_t state = 1;
  uint32_t next() { return state = state * 1664525u + 1013904223u; }
};

void bench_mca(Impl impl) {
  const auto mca = make_mca(impl, "bench");
  McaInputs in;
  uint64_t sum = 0;
  measure("mca idle", impl, 3000000, [&](uint64_t steps) {
    for (uint64_t i = 0; i < steps; ++i) {
      ++in.cycle;
      sum += mca->step(in).idle;
    }
  });
  in.reg = {true, false, MCA_CONTROL_OFFSET, MCA_CONTROL_POLICY_COMMUNICATION_AWARE};
  mca->step(in);
  in.reg = {};
  Sequence random;
  uint32_t occupancy = 0;
  measure("mca busy", impl, 3000000, [&](uint64_t steps) {
    for (uint64_t i = 0; i < steps; ++i) {
      ++in.cycle;
      const uint32_t r = random.next();
      in.compute_push = (r >> 28) < 5;
      in.comm_push = (r >> 24 & 15) < 3;
      in.dram_pop = occupancy != 0 && (r >> 20 & 15) < 9;
      const McaOutputs out = mca->step(in);
      occupancy += uint32_t{out.grant_compute} + out.grant_comm - in.dram_pop;
    }
  });
  if (sum == 0) std::puts("never idle");
}

void bench_tracker(Impl impl) {
  const auto tracker = make_tracker(impl, "bench");
  TrackerInputs in;
  const auto write = [&](uint16_t address, uint64_t data) {
    in.reg = {true, false, address, data};
    tracker->step(in);
    in.reg = {};
  };
  write(TRACKER_TILES_OFFSET, 2048 | uint64_t{2016} << 32);
  write(TRACKER_STRIPS_OFFSET, 32 | uint64_t{1u << 19} << 32);
  for (unsigned i = 0; i < 8; ++i) {
    write(static_cast<uint16_t>(TRACKER_THRESHOLD_OFFSET_AT(i)), 0x1000100010001000);
  }
  write(TRACKER_CONTROL_OFFSET, 0x81);
  measure("tracker idle", impl, 1000000, [&](uint64_t steps) {
    for (uint64_t i = 0; i < steps; ++i) tracker->step(in);
  });
  // `percent` of the cycles bring an update to each bank; eight wavefronts of a tile in turn.
  for (const unsigned percent : {10u, 100u}) {
    Sequence random;
    uint64_t n = 0;
    TrackerOutputs out;
    measure(percent == 10 ? "tracker 10 % a bank" : "tracker full rate", impl, 1000000,
            [&](uint64_t steps) {
              for (uint64_t i = 0; i < steps; ++i) {
                for (unsigned b = 0; b < kTrackerBanks; ++b) {
                  in.update[b].valid = (random.next() >> 16) % 100 < percent;
                  in.update[b].wg_id = static_cast<uint16_t>((n % 64 * 4 + b) & 0x7ff);
                  in.update[b].wf_id = n / 64 % 8;
                  in.update[b].count = 128;
                  in.update[b].address = n * 256;
                }
                ++n;
                out = tracker->step(in);
              }
            });
  }
}

void bench_grid_scheduler(Impl impl) {
  const auto scheduler = make_grid_scheduler(impl, "bench");
  GridSchedulerInputs in;
  measure("grid_scheduler idle", impl, 500000, [&](uint64_t steps) {
    for (uint64_t i = 0; i < steps; ++i) scheduler->step(in);
  });
  const auto write = [&](uint16_t address, uint64_t data) {
    in.reg = {true, false, address, data};
    scheduler->step(in);
    in.reg = {};
  };
  write(GRID_SCHEDULER_SLOT_NEEDS_OFFSET, 100 | 48u << 16 | uint64_t{8} << 32);
  write(GRID_SCHEDULER_SLOT_RANGE_OFFSET, uint64_t{0x7fffffff} << 32);
  write(GRID_SCHEDULER_SLOT_ORDER_OFFSET, 0x7fffffff);
  write(GRID_SCHEDULER_SLOT_CONTROL_OFFSET, 1);
  uint64_t dispatched = 0;
  measure("grid_scheduler busy", impl, 500000, [&](uint64_t steps) {
    for (uint64_t i = 0; i < steps; ++i) {
      const GridSchedulerOutputs out = scheduler->step(in);
      dispatched += out.dispatch_valid;
      in.done_valid = out.dispatch_valid;
      in.done_cu = out.dispatch_cu;
      in.done_slot = out.dispatch_slot;
    }
  });
  if (dispatched == 0) std::puts("nothing dispatched");
}

void bench_request_ring(Impl impl) {
  const auto ring = make_request_ring(impl, "bench");
  RequestRingInputs in;
  uint64_t sum = 0;
  measure("request_ring idle", impl, 2000000, [&](uint64_t steps) {
    for (uint64_t i = 0; i < steps; ++i) sum += ring->step(in).idle;
  });
  const auto write = [&](uint64_t address, uint64_t data) {
    in.reg = {true, false, static_cast<uint16_t>(address), data};
    ring->step(in);
    in.reg = {};
  };
  const uint64_t config = STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_UNITS, 1024) |
                          REQUEST_RING_BUFFER_CONFIG_READABLE_MASK |
                          REQUEST_RING_BUFFER_CONFIG_WRITABLE_MASK |
                          REQUEST_RING_BUFFER_CONFIG_VALID_MASK;
  for (const uint64_t id : {uint64_t{1}, uint64_t{2}}) {
    write(REQUEST_RING_BUFFER_BASE_OFFSET_AT(id), id << STRETTO_NODE_SHIFT);
    write(REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(id), config);
  }
  write(REQUEST_RING_NODE_OFFSET, 1);
  write(REQUEST_RING_CONNECTION_CONFIG_OFFSET,
        1 | STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_NODE, 2));
  write(REQUEST_RING_CONTROL_OFFSET, 5 | 16u << REQUEST_RING_CONTROL_BATCH_SHIFT);
  RequestRingOutputs taken;
  // A request every other clock, complete one clock after it was taken, with both flags.
  measure("request_ring busy", impl, 500000, [&](uint64_t steps) {
    for (uint64_t i = 0; i < steps; ++i) {
      in.sr_valid = i % 2 == 0;
      in.sr_data = stretto_send_request(STRETTO_SR_WRITE, 1, 2, 0, i % 1000, 1,
                                        STRETTO_SR_SC | STRETTO_SR_RC);
      const RequestRingOutputs out = ring->step(in);
      sum += out.write_valid;
      in.done_valid = taken.issue_valid;
      in.done_tag = taken.issue_tag;
      taken = out;
    }
  });
  if (sum == 0) std::puts("nothing written");
}

}  // namespace
}  // namespace stretto

int main() {
  using stretto::Impl;
#ifdef STRETTO_HAVE_RTL
  const Impl impls[] = {Impl::rtl, Impl::model};
#else
  const Impl impls[] = {Impl::model};
#endif
  for (const Impl impl : impls) stretto::bench_mca(impl);
  for (const Impl impl : impls) stretto::bench_tracker(impl);
  for (const Impl impl : impls) stretto::bench_grid_scheduler(impl);
  for (const Impl impl : impls) stretto::bench_request_ring(impl);
}
