// SPDX-License-Identifier: Apache-2.0
// IssuePort: one scheduler of a compute unit. In each clock it issues one instruction of the
// wavefronts that are ready, in loose round robin: the first behind the one that issued last. (The
// order of Accel-Sim's QV100, `-gpgpu_scheduler lrr` with `-gpgpu_sub_core_model 1`,
// accel-sim/gpgpu-sim_distribution 0874995e; NVIDIA publishes none. k ready wavefronts have 1/k of
// the slots each.)
//
// A wavefront runs ahead over registers and leaves a trace: so many instructions back to back, then
// so many clocks in which it is not ready. The port arbitrates traces in closed form: while the same
// wavefronts are ready, whole rounds at once. What comes out is what a loop over clocks yields
// (issue_port_test). At the end of its trace a wavefront stands at an instruction whose effect
// others see (a tile instruction, an access to memory): that one's slot is given at its own time, by
// turn(). Wavefronts in loops come to stand to each other as they have stood before: what has
// happened since then happens again, so many times at once.
//
// A pipe that works takes slots, too: those of the native instructions that its operation stands
// for, evenly over the operation's time. All wavefronts of the work-group would issue them, so each
// of their positions has a turn in a round for the pipe and one for the wavefront itself.
//
// Invariants
//  1 Clocks before `clock()` are decided and do not change; who enters is ready from there on.
//  2 Nothing depends on how much of a trace is known: it is extended whenever the port comes to its
//    end, and a stretch in two parts is the same as in one.
#ifndef STRETTO_MODELS_GPU_COMPUTE_UNIT_ISSUE_PORT_H_
#define STRETTO_MODELS_GPU_COMPUTE_UNIT_ISSUE_PORT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/riscv/code_cache.h"

namespace stretto {

// A point in the GPU's clock; unknown while memory has not answered.
using Cycle = uint64_t;
inline constexpr Cycle kUnknown = ~uint64_t{0};

// What a wavefront issues before its next instruction that others see.
class IssueTrace {
 public:
  struct Stretch {
    uint32_t slots;  // Instructions back to back,
    uint32_t stall;  // then clocks in which the wavefront is not ready;
    uint64_t times;  // so many times.
  };

  void clear() {
    stretches_.clear();
    open_ = 0;
  }
  void add_slots(uint32_t slots) { open_ += slots; }
  void add_stall(uint32_t clocks);
  // What a hart tells (models/riscv/hart.h).
  void enter_block(const riscv::Block& block) {
    mark_.size = stretches_.size();
    mark_.open = open_;
    if (mark_.size != 0) {
      const Stretch& back = stretches_.back();
      mark_.times = back.times;
      mark_.slots = back.slots;
      mark_.stall = back.stall;
    }
    add(block, block.instruction_count);
  }
  void leave_block(const riscv::Block& block, const riscv::Op* first);
  // Ends what is known so far.
  void close();
  // Only `left` of the current run of stretch `stretch`, of which `begun` have begun, and what is
  // behind it.
  void keep(size_t stretch, uint64_t begun, uint32_t left, uint32_t stall);
  void assign(std::vector<Stretch> stretches) {
    clear();
    stretches_ = std::move(stretches);
  }
  const std::vector<Stretch>& stretches() const { return stretches_; }
  // Forgets the first `count` stretches.
  void drop(size_t count) {
    stretches_.erase(stretches_.begin(), stretches_.begin() + static_cast<long>(count));
  }

  size_t size() const { return stretches_.size(); }
  const Stretch& operator[](size_t index) const { return stretches_[index]; }

 private:
  void add(const riscv::Block& block, uint32_t count);
  void push(uint32_t slots, uint32_t stall);

  // Of the last stretch `times` apart from the rest: a copy of both at once waits for the store of `times` before it.
  struct Mark {
    uint64_t times = 0;
    size_t size = 0;
    uint32_t slots = 0, stall = 0;
    uint32_t open = 0;
  };
  std::vector<Stretch> stretches_;
  uint32_t open_ = 0;  // Instructions since the last stall.
  Mark mark_;          // Before the block that was entered last.
};

// Whom the port asks for more of a trace.
class IssueSource {
 public:
  virtual ~IssueSource() = default;
  // Extends the trace of the wavefront in this position of this port; false: it stands at an
  // instruction that others see.
  virtual bool extend(unsigned port, unsigned position) = 0;
};

class IssuePort {
 public:
  // `positions`: wavefront slots of this port, at most 64.
  IssuePort(unsigned index, unsigned positions, IssueSource& source);

  IssueTrace& trace(unsigned position) { return traces_[position]; }

  // The wavefront's trace counts from clock `ready` on. REQUIRES: advance() to the present.
  void enter(unsigned position, Cycle ready);
  void leave(unsigned position);
  // leave(), and its trace is what it had left to issue. Returns from when on it can.
  Cycle pull(unsigned position);
  bool holds(unsigned position) const { return (state_.present >> position & 1) != 0; }

  // Decides the clocks before `until`. REQUIRES: until <= next(), and nobody enters before.
  void advance(Cycle until);
  // Who stands at the end of its trace and has the slot of clock `now`. REQUIRES: advance(now).
  std::optional<unsigned> turn(Cycle now) const;
  // It issues: the slot is used. It may have left.
  void take(unsigned position);
  // From `begin` on a pipe's operation takes `slots` over `clocks`, at the turns of these positions.
  // REQUIRES: advance(begin); the pipe's operation before has all its slots.
  void start(unsigned pipe, Cycle begin, Cycle clocks, uint64_t slots, uint64_t positions);
  // Slots that it has not had.
  uint64_t missing(unsigned pipe) const {
    return state_.pipes[pipe].slots - state_.pipes[pipe].issued;
  }
  // When turn() should be asked next, if nobody enters or leaves; kUnknown: not at all.
  Cycle next();

  Cycle clock() const { return state_.clock; }
  uint64_t issued() const { return state_.issued; }
  // Forgets who issued last: an empty unit begins as a new one.
  void forget() {
    state_.last = 0;
    state_.whose = kOwn;
  }

 private:
  struct Member {
    Cycle ready = 0;    // Of the next slot.
    uint32_t left = 0;  // Slots of this stretch,
    uint32_t stall = 0;
    size_t stretch = 0;  // In the trace,
    uint64_t begun = 0;  // and how often it has begun.
  };
  struct PipeSlots {
    Cycle begin = 0;
    Cycle clocks = 1;
    uint64_t slots = 0;
    uint64_t issued = 0;
    uint64_t positions = 0;
    Cycle whole = 0;         // floor(clocks / slots),
    uint64_t part = 0;       // and its remainder.
    Cycle ready = kUnknown;  // Of the next slot: begin + floor(issued clocks / slots),
    uint64_t rest = 0;       // and its remainder; kUnknown: it has had all.
    void take_one();
    void take(uint64_t count);
    // What could have been issued before `until`.
    uint64_t planned(Cycle until) const;
  };
  static constexpr unsigned kPipes = 2;
  static constexpr unsigned kOwn =
      kPipes;  // Turn of the wavefront in a position, behind those of pipes.
  static constexpr unsigned kNobody = kOwn + 1;
  struct Turn {
    unsigned position;
    unsigned whose;  // A pipe's, kOwn or kNobody.
  };
  struct Head {
    Cycle clock = 0;    // First one that is not decided.
    unsigned last = 0;  // Who issued last, and at whose turn.
    unsigned whose = kOwn;
    std::array<PipeSlots, kPipes> pipes;
    uint64_t present = 0;  // By position: has entered,
    uint64_t active = 0;   // is ready,
    uint64_t at_end = 0;   // stands at the end of its trace.
    Cycle soon = 0;        // When the next one gets ready; kUnknown: nobody.
    uint64_t issued = 0;
  };
  struct State : Head {
    std::vector<Member> members;  // Of no meaning unless present.
  };
  // How far next() looks: bounds what a wavefront runs ahead, and the work that one that enters
  // makes void.
  static constexpr Cycle kHorizon = 4096;
  static constexpr unsigned kSteps = 256;
  static constexpr size_t kDropFrom = 1024;
  // Steps of a run before one is kept to compare with; then twice as many each time, so that any period is found.
  static constexpr unsigned kFirstLook = 16;

  // Until a clock, until somebody's turn() comes, or for so many steps.
  void run(State& state, Cycle until, unsigned steps);
  // Whether wavefronts stand to each other as in past_, each in the same stretch of its trace.
  bool recurs(const State& state) const;
  // REQUIRES: recurs(). What has happened since past_, as often as stretches and time allow; false: not once.
  bool repeat(State& state, Cycle until) const;
  static unsigned first_behind(uint64_t positions, unsigned last);
  static Turn turn_of(const State& state);
  static uint64_t unfinished(const State& state);
  // Clocks in which no wavefront is ready.
  void run_pipes(State& state, Cycle until);
  // So many clocks at once; false: none.
  bool beside_pipe(State& state, unsigned who, Cycle until);
  static void find_active(State& state);
  void next_stretch(State& state, unsigned position);
  void end_stretch(State& state, unsigned position);
  // Slots in successive clocks.
  void issue(State& state, unsigned who, uint32_t slots);

  const unsigned index_;
  IssueSource& source_;
  std::vector<IssueTrace> traces_;
  State state_;
  State ahead_;  // What next() has looked at.
  State past_;   // What a run has been at.
  bool looked_ahead_ = false;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_COMPUTE_UNIT_ISSUE_PORT_H_
