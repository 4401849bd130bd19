// SPDX-License-Identifier: Apache-2.0
// SampledUnit: executor of work-groups that stands in front of a ComputeUnit (sampled_gpu.h). Bodies
// of one launch advance alike, so a unit keeps one virtual clock a slot: time that a body alone on
// the GPU would have taken. Each body notes where that clock stands when it will have ended; a unit
// has one event, for the first of them.
#ifndef STRETTO_MODELS_SAMPLED_SAMPLED_UNIT_H_
#define STRETTO_MODELS_SAMPLED_SAMPLED_UNIT_H_

#include <array>
#include <deque>
#include <vector>

#include "models/gpu/compute_unit/compute_unit.h"
#include "models/sampled/sampled_gpu.h"

namespace stretto {

class SampledUnit final : public WorkGroupExecutor,
                          public WorkGroupListener,
                          public BodyExecutor,
                          private EventHandler {
 public:
  SampledUnit(SampledGpu& gpu, ComputeUnit& unit, uint16_t index, WorkGroupListener& listener);

  void start(uint8_t slot, uint32_t wg_id, const DispatchContext& context) override;
  void begin_kernel() override { unit_.begin_kernel(); }
  void preempt(uint8_t slot) override;
  void suspend(uint8_t slot, SaveArea& area) override;
  void resume(uint8_t slot, uint32_t wg_id, const DispatchContext& context, SavedGroup saved,
              SaveArea& area) override;
  bool finished() const override {
    return bodies_.empty() && held_.empty() && moving_ == 0 && passing_ == 0 && unit_.finished();
  }
  WorkGroupResources resources() const override;

  void done(uint16_t cu, uint8_t slot, uint32_t wg_id, uint64_t multiply_adds) override;
  void drained(uint16_t cu, uint8_t slot, uint32_t wg_id) override;
  void suspended(uint16_t cu, uint8_t slot, uint32_t wg_id, SavedGroup saved,
                 uint64_t multiply_adds) override;
  void enter_body(unsigned group, uint8_t slot, uint32_t wg_id) override;

  // Starts the first work-group that waits here, if its kernel may have another on the unit.
  bool start_held();
  bool has_held() const { return !held_.empty(); }
  // The share of L2 or memory of a slot has changed.
  void rerate();
  void audit(AuditSink& sink) const;
  size_t bodies() const { return bodies_.size(); }
  // Of a launch of these slots (bits).
  bool has_bodies_of(uint32_t slots) const { return (active_ & slots) != 0; }

 private:
  struct Body {
    uint32_t wg_id;
    uint8_t slot;
    bool is_wrapped;
    uint8_t group;  // Of the compute unit, if wrapped.
    Time begin;
    Time need;        // Alone on the GPU.
    Time finish = 0;  // On the slot's clock.
    Time since = 0;   // Here.
  };
  struct Class {
    uint32_t bodies = 0;
    const BodyLaw* law = nullptr;
    Time clock = 0;                           // Virtual,
    Time first = kNever;                      // When the first body ends,
    uint64_t rate = 0;                        // of 2^32.
    uint64_t carry = 0;                       // Parts of a femtosecond, of 2^32.
    uint64_t stretch = kOne;                  // By the unit,
    uint64_t all_stretch = 0;                 // and by L2 and memory, of which `rate` is made.
    uint32_t told = 0;                        // Bodies that the GPU knows of,
    std::array<uint64_t, kGpuParts> asked{};  // and what they ask for.
  };
  struct Held {
    uint32_t wg_id;
    uint8_t slot;
    const DispatchContext* context;
  };
  struct Measured {
    uint32_t wg_id;
    uint8_t slot;
    bool first;
    MeasuredLaunch::Counts counts;
    Time begin, on_unit, on_gpu, of_launch;
  };

  class SuspendedBody;
  struct Loading {
    uint32_t wg_id;
    uint8_t slot;
    bool is_left;  // It is to be suspended again.
  };

  void on_event(uint64_t tag) override;
  // Work-groups of the slot that have not begun.
  void send_back(uint8_t slot);
  // The state of a body that has so much left.
  void save(uint8_t slot, uint32_t wg_id, Time left, uint64_t address);
  void forget_measured(uint8_t slot, uint32_t wg_id);
  Time now() const { return queue_.now(); }
  uint64_t order_of(const SampledLaunch& launch, uint8_t slot);
  void begin_body(Body body, const DrawnTime& drawn);
  // What a body of the slot needs to end together with another one; its own time if none ends near.
  Time need_to_join(unsigned slot, const DrawnTime& drawn) const;
  void integrate();
  // Since another work-group of the slot ended here. Called at the end of each.
  Time since_end(uint8_t slot);
  void left_body(const Body& body);
  void advance();
  void set_rates();
  void set_stretches();
  void tell(unsigned slot, const std::array<uint64_t, kGpuParts>& asked);
  void find_firsts();
  void schedule();
  void end_body(const Body& body);
  // A work-group that is not measured begins, and ends.
  void pass(uint8_t slot, uint32_t wg_id);
  void passed(uint8_t slot, uint32_t wg_id);
  void start_measured(uint8_t slot, uint32_t wg_id, const DispatchContext& context);
  void release(uint8_t slot);

  SampledGpu& gpu_;
  ComputeUnit& unit_;
  const uint16_t index_;
  WorkGroupListener& listener_;
  EventQueue& queue_;
  const ClockDomain clock_;
  const Time start_time_;

  std::vector<Body> bodies_;  // In the order of their begins.
  std::vector<Body> ended_;   // In this instant; keeps its memory.
  std::array<Class, kGridSlots> classes_{};
  uint32_t active_ = 0;                          // Slots with bodies,
  uint32_t told_ = 0;                            // and those with bodies that the GPU knows of.
  uint32_t firsts_left_ = 0;                     // Slots whose first body has left.
  std::array<uint32_t, kGridSlots> resident_{};  // Work-groups that are sampled, by slot,
  std::array<const DispatchContext*, kGridSlots> contexts_{};
  Time last_ = 0;       // Up to where clocks are.
  Time next_ = kNever;  // The earliest event scheduled.

  std::vector<Loading> loading_;  // Bodies whose states are read.
  uint32_t moving_ = 0;           // States read or written.

  uint32_t passing_ = 0;  // Work-groups that are not measured.
  std::deque<Held> held_;
  std::vector<Measured> measured_;
  std::array<Time, kGridSlots> last_ends_{};  // Of work-groups that are measured, by slot.
  // Up to integral_to_: of the work-groups in measured_, and of those of each slot.
  Time integral_ = 0;
  std::array<Time, kGridSlots> slot_integrals_{};
  Time integral_to_ = 0;

  // For laws: spans of time without a change in which a part was used above its peak, or a body worked
  // faster than alone.
  uint64_t above_peak_ = 0, too_fast_ = 0;
  Wide done_ = 0;    // Virtual time of all bodies.
  Wide wanted_ = 0;  // Of those that have ended, with what they ran beyond their end.
  // Bodies of a launch that have begun here, by slot.
  struct Order {
    uint64_t launch = 0;
    uint64_t next = 0;
  };
  std::array<Order, kGridSlots> orders_{};
};

}  // namespace stretto

#endif  // STRETTO_MODELS_SAMPLED_SAMPLED_UNIT_H_
