// SPDX-License-Identifier: Apache-2.0
// SampledGpu: executes the work-groups of one GPU without executing their bodies, or measures them
// (gpu.executor). It has a SampledUnit for each compute unit, knows which kernel each launch runs,
// and shares out the L2 and the memory.
//
// Exact stay the grid scheduler, the front end and whatever a kernel that sw/transform has rewritten
// does around its bodies: its first wavefront runs on the compute unit's simulator, its loads and
// atomics go to memory. When its pc comes to where the body begins it stands for the body's time and
// goes on behind it. Of tasks nothing is known here.
//
// Invariants
//  1 A time depends on seed, kernel, launch, work-group and on what runs beside it: not on the order
//    of calls in one instant, nor on how far the partition is simulated at a time.
//  2 Shares of L2 and memory change at edges of a grid of 64 clocks, and when they change by a
//    hundredth or so; shares of a unit's parts at once.
//  3 Work done by class = what its bodies need. No part is used above what it has.
#ifndef STRETTO_MODELS_SAMPLED_SAMPLED_GPU_H_
#define STRETTO_MODELS_SAMPLED_SAMPLED_GPU_H_

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/common/component.h"
#include "models/gpu/gpu.h"
#include "models/sampled/body_law.h"
#include "models/sampled/body_table.h"
#include "models/sampled/kernel_key.h"
#include "models/sampled/measured_launch.h"
#include "models/sampled/measurement.h"
#include "models/sampled/sampled_spec.h"
#include "models/sampled/state_flow.h"

namespace stretto {

class SampledUnit;

// A launch that has work-groups, by slot.
struct SampledLaunch {
  enum class Kind : uint8_t {
    executed,  // By the simulator.
    measured,  // Likewise, and its times are noted.
    sampled,   // Its work-groups are bodies.
    wrapped,   // Its work-groups have bodies.
  };
  uint64_t number = 0;     // DispatchContext::launch
  uint64_t of_kernel = 0;  // Launches of this kernel before.
  Kind kind = Kind::executed;
  KernelLaunch kernel;
  const BodyLaw* law = nullptr;        // Of sampled and wrapped ones.
  uint64_t hash = 0;                   // Likewise: of seed, kernel and launch,
  Strata strata;                       // and where in them the times of its work-groups are.
  DispatchContext wrapper;             // Of wrapped ones.
  std::optional<MeasuredLaunch> part;  // Of measured ones, if not all may be simulated.
  bool is_left_out = false;            // None is.
  uint64_t hbm_bytes = 0;              // When it began.
  uint64_t running = 0;                // Work-groups on the GPU.
  uint64_t begun = 0;                  // Of measured ones: that no unit holds back.
  uint64_t most_company_milli =
      0;  // Likewise: of a body by its launch on its unit, itself included.
  uint64_t ended = 0;
  bool body_has_ended = false;
  bool is_shared = false;  // Work-groups of another launch ran, too.
  Time begin = 0;
  Time end = 0;
};

class SampledGpu final : public Component, private EventHandler {
 public:
  struct Parts {
    MemoryImage* memory;
    std::function<std::pair<uint64_t, uint64_t>()> hbm_bytes;  // Read and written since time 0.
    // A launch of a kernel that no table has: its key and its entry. Does not return.
    std::function<void(const std::string& key, uint64_t entry)> missing;
  };

  // Takes the place of the compute units of `gpu`, which outlives it. `table` may be empty if
  // `gpu_spec.executor` is `measured`.
  SampledGpu(const GpuSpec& gpu_spec, const SampledSpec& spec, const BodyRates& rates,
             PartitionServices& services, Gpu& gpu, BodyTable table, Parts parts);
  ~SampledGpu() override;

  // The table, in which launches that ran by themselves are corrected by what they differed.
  BodyTable corrected() const;
  // What was measured, without names.
  std::map<std::string, BodyTimes> measured() const { return measurement_.kernels(); }
  // An entry that each of these kernels had.
  const std::map<std::string, uint64_t>& entries() const { return entries_; }

  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

  // Of its units.
  SampledLaunch& launch_of(uint8_t slot, const DispatchContext& context);
  void group_started(uint8_t slot);
  void group_ended(uint8_t slot, bool drained);
  void group_suspended(uint8_t slot);
  void measured_body(uint8_t slot, MeasuredLaunch::Counts counts, MeasuredBody body);
  void forget_body(uint8_t slot, MeasuredLaunch::Counts counts) {
    --launches_[slot].begun;
    if (launches_[slot].part) launches_[slot].part->forget(counts);
  }
  // Work-groups of the kernel that a unit holds at once, and those that the measurement lets run.
  uint32_t most_that_fit(const DispatchContext& context) const;
  uint32_t most_resident(const DispatchContext& context) const;
  // The integral over time of the work-groups on the GPU that are measured, of which there are now
  // so many more.
  Time measured_running(int change);
  bool has_room() const { return spec_.groups == 0 || measured_now_ < spec_.groups; }
  void hold(SampledUnit& unit) { held_.push_back(&unit); }
  void start_held();
  // Bodies of the slot that a unit has more, and bytes per ms that they ask for more.
  void ask(uint8_t slot, int64_t bodies, const std::array<int64_t, kGpuParts>& bytes);
  // By which bodies of the slot take longer because of L2 and memory.
  uint64_t stretch(uint8_t slot) const { return stretch_[slot]; }
  // What a body of the launch takes alone on the GPU, the `order`-th that begins on the unit, which has so
  // many at a time: these take times of as many equal parts of all, so that units have like ones.
  DrawnTime draw(const SampledLaunch& launch, uint32_t wg_id, uint16_t unit, uint64_t order,
                 uint64_t at_a_time) const;
  // Of a launch whose work-groups are bodies.
  uint64_t at_a_time(const SampledLaunch& launch, const DispatchContext& context) const;
  // Of suspended bodies. What has been saved comes from the L2 if less than that holds has gone
  // through it since, when traffic() was `traffic_before`; else from memory.
  void save_state(unsigned unit, uint64_t bytes, std::function<void()> done);
  void load_state(unsigned unit, uint64_t bytes, uint64_t traffic_before,
                  std::function<void()> done);
  // Of bodies that have ended with the memory, and of states.
  uint64_t traffic() const { return demand_.hbm_bytes() + state_bytes_; }
  const GpuSpec& gpu_spec() const { return gpu_spec_; }
  const SampledSpec& spec() const { return spec_; }
  PartitionServices& services() { return services_; }
  void body_ended(const BodyLaw& law);

 private:
  void on_event(uint64_t tag) override;  // The grid of shares.
  void resolve(uint8_t slot, const DispatchContext& context);
  void measure(SampledLaunch& launch, const DispatchContext& context);
  // What the memory must have moved until what the L2 held before does not count.
  uint64_t turnover() const { return uint64_t{2} * gpu_.l2.spec().bytes; }
  uint64_t hbm_bytes() const;
  void note(const SampledLaunch& launch);
  void close(const SampledLaunch& launch);
  BodyDemand counters() const;
  uint64_t port_rate(uint32_t bytes_per_cycle) const;  // Bytes per us.
  Time l2_latency() const;
  void share();
  const BodyLaw& law(const std::string& key, const BodyTimes& times);

  const GpuSpec gpu_spec_;
  const SampledSpec spec_;
  const BodyRates rates_;
  const ClockDomain clock_;
  PartitionServices& services_;
  Gpu& gpu_;
  const BodyTable table_;
  const Parts parts_;
  const uint64_t hbm_limit_;
  Measurement measurement_;
  KernelKeys keys_;
  std::vector<std::unique_ptr<SampledUnit>> units_;
  std::map<std::string, BodyTimes> times_;  // Measured in this run, where a law needs them.
  std::map<std::string, BodyLaw> laws_;
  std::map<std::string, uint64_t> entries_;
  std::map<std::string, uint64_t> launches_of_;  // By key.
  std::set<std::string> large_;  // Kernels of which another launch finds nothing else in the L2.
  std::array<SampledLaunch, kGridSlots> launches_{};
  unsigned running_slots_ = 0;

  // Shares.
  struct Asked {
    uint64_t bodies = 0;
    std::array<uint64_t, kGpuParts> bytes{};  // Per ms.
  };
  std::array<Asked, kGridSlots> asked_{};
  std::array<uint64_t, kGpuParts> asked_in_all_{};
  std::array<uint64_t, kGridSlots> stretch_{};
  bool settles_ = false;  // An event of the grid is scheduled.

  StateFlow saves_, loads_, memory_loads_;
  uint64_t state_bytes_ = 0;

  uint64_t measured_now_ = 0;
  Time measured_integral_ = 0;
  Time measured_since_ = 0;
  std::deque<SampledUnit*> held_;  // In the order of dispatches.

  struct Duration {
    Time sampled = 0;
    Time measured = 0;  // Of the launches whose times they took.
  };
  // Of whole sampled launches, by key and index of the launch that they took times of.
  std::map<std::string, std::map<size_t, Duration>> durations_;
  uint64_t bodies_ = 0;
  BodyDemand demand_;  // Sum over bodies that have ended.
  uint64_t rerated_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_SAMPLED_SAMPLED_GPU_H_
