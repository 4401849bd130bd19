// SPDX-License-Identifier: Apache-2.0
// ComputeUnit: executes work-groups. Wavefronts are RISC-V harts with the tile extension
// (sw/include/tile.h); this class steps them, keeps the scoreboard of their tiles, and times one
// tensor pipe, one SIMT pipe and the issue ports.
//
// Invariants
//  1 A wavefront runs ahead only over registers, private memory and arguments; at every tile
//    operation, barrier, fence, AMO, read of the clock and scalar access to global memory it stops.
//    What it does there happens at the partition's time, when the port gives it the slot
//    (models/README.md, Execution).
//  2 How many instructions are simulated at a time changes nothing (issue_port.h).
//  3 An instruction issues only when no earlier asynchronous operation of the work-group uses its
//    tiles in conflict (read after write, write after read, write after write).
//  4 Each pipe does one thing at a time, in issue order; a port issues one instruction a clock, and
//    wavefront slot s uses port s mod issue_ports. A tile instruction takes the slots of the native
//    ones that it stands for: loads and stores those of their wavefront, products and SIMT
//    operations those of their work-group, on all ports, while the pipe works. A pipe whose slots
//    come late ends late.
//  5 A line of the scalar cache is as the L2 had it after the unit's last acquire and its last write
//    of that line, or later.
//  6 A work-group that is to be suspended issues nothing. When nothing of it is under way, all that
//    it holds is written to memory; the unit keeps no byte of it (compute_unit_suspend.cpp).
//  7 What is resident never exceeds registers, LDS, wavefront or work-group slots (asserted; the
//    grid scheduler counts).
#ifndef STRETTO_MODELS_GPU_COMPUTE_UNIT_COMPUTE_UNIT_H_
#define STRETTO_MODELS_GPU_COMPUTE_UNIT_COMPUTE_UNIT_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/common/clock_domain.h"
#include "models/common/component.h"
#include "models/gpu/base/dispatch.h"
#include "models/gpu/base/gpu_spec.h"
#include "models/gpu/base/race_law.h"
#include "models/gpu/base/range_table.h"
#include "models/gpu/compute_unit/issue_port.h"
#include "models/gpu/compute_unit/tile_state.h"
#include "models/gpu/compute_unit/wavefront.h"
#include "models/gpu/l2/l2_shared.h"

namespace stretto {

// Clocks of one pipe; with the unit's idle_cycles: busy + waiting + idle = all clocks since time 0.
struct PipeCounters {
  uint64_t busy = 0;  // It worked.
  uint64_t waiting =
      0;  // A work-group was resident and the pipe had nothing to do; counted when that ends.
  uint64_t operations = 0;
};

struct ComputeUnitCounters {
  PipeCounters tensor;
  PipeCounters simt;
  uint64_t multiply_adds = 0;
  uint64_t fp16_work = 0;  // In those of FP16 that take the same time at the peak.
  uint64_t tile_loads = 0;
  uint64_t tile_stores = 0;
  uint64_t load_bytes = 0;
  uint64_t store_bytes = 0;
  uint64_t scalar_accesses = 0;
  uint64_t atomics = 0;
  uint64_t reductions = 0;   // tile.red.
  uint64_t scalar_hits = 0;  // Of loads of shared ranges in the scalar cache.
  uint64_t scalar_misses = 0;
  uint64_t scalar_drops = 0;  // Times that it was emptied.
  uint64_t barriers = 0;
  uint64_t waits = 0;          // wait_until executed.
  uint64_t charged_polls = 0;  // Polls that they and loads of lines stand for.
  uint64_t wait_cycles = 0;
  uint64_t resident_cycles = 0;  // Clocks with at least one work-group; counted when it ends.
  uint64_t idle_cycles = 0;      // Clocks without; counted when one starts.
  uint64_t started = 0;
  uint64_t retired = 0;
  uint64_t drained = 0;
  uint64_t suspended = 0;     // Work-groups that left with their state in memory.
  uint64_t resumed = 0;       // Those that came back.
  uint64_t saved_bytes = 0;   // Of states, written
  uint64_t loaded_bytes = 0;  // and read.
  Time draining_time = 0;     // Of work-groups that are to be suspended, until they were quiet.
  Time saving_time = 0;       // Of states, until they were in memory,
  Time loading_time = 0;      // and until they were back.
  uint64_t above_peak = 0;    // Work-groups of more multiply-adds than fit into their time.
};

class ComputeUnit final : public sc_core::sc_module,
                          public Component,
                          public WorkGroupExecutor,
                          private EventHandler,
                          private IssueSource,
                          private MemoryWatcher {
 public:
  tlm_utils::simple_initiator_socket<ComputeUnit, 32, StrettoProtocol> l2;

  struct Parts {
    MemoryImage* memory;
    const RangeTable* ranges;
    L2Shared* shared;        // What the L2 sees of shared ranges.
    RaceLaw* races;          // Of pinned ranges.
    riscv::CodeCache* code;  // Shared by all units of a GPU.
    WorkGroupListener* listener;
    FaultSink* faults;
    BodyExecutor* bodies = nullptr;  // Of contexts with a body.
  };

  ComputeUnit(sc_core::sc_module_name name, const GpuSpec& spec, uint16_t index,
              PartitionServices& services, const Parts& parts);

  void start(uint8_t slot, uint32_t wg_id, const DispatchContext& context) override;
  void preempt(uint8_t slot) override;
  void suspend(uint8_t slot, SaveArea& area) override;
  void resume(uint8_t slot, uint32_t wg_id, const DispatchContext& context, SavedGroup saved,
              SaveArea& area) override;
  void begin_kernel() override;
  bool finished() const override { return resident_ == 0; }
  WorkGroupResources resources() const override;

  // Before the run: who hears of work-groups, and who takes bodies.
  void set_executor(WorkGroupListener& listener, BodyExecutor& bodies) {
    parts_.listener = &listener;
    parts_.bodies = &bodies;
  }
  // The work-group's first wavefront goes on at `pc`, or ends if that is 0. REQUIRES: it has
  // entered a body.
  void leave_body(unsigned group, uint64_t pc);
  // What a work-group of the context takes in memory.
  static uint64_t saved_bytes(const DispatchContext& context);
  // Moves the state of a work-group to or from memory, at once and through the L2; `data`: null if
  // there is nothing but the traffic. Calls `done` when all of it is there.
  using Moved = std::function<void()>;
  void move_state(bool save, uint64_t address, uint64_t bytes, uint8_t* data,
                  const DispatchContext& context, uint32_t wg_id, Moved done);
  // Whoever moves a state without traffic counts it here: one that is loaded when that begins, both
  // when they are there.
  void count_load(uint64_t bytes) { counters_.loaded_bytes += bytes; }
  void count_loaded(Time time) { counters_.loading_time += time; }
  void count_saved(uint64_t bytes, Time time) {
    counters_.saved_bytes += bytes;
    counters_.saving_time += time;
  }

  const ComputeUnitCounters& counters() const { return counters_; }
  uint64_t instructions() const;  // Issue slots taken.
  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

 private:
  // A tile and who uses it.
  struct Slot {
    Tile tile;
    Accumulator accumulator;       // Of names 24..31 only.
    Cycle written = 0;             // When its last write is done; kUnknown: it is under way.
    Cycle read = 0;                // When its last read is done.
    uint32_t stores = 0;           // Stores in flight that read it,
    uint32_t reads = 0;            // and operations of pipes.
    std::vector<uint8_t> staging;  // Bytes of a store of another shape than the tile's.
    uint32_t bytes = 0;            // Charged against the work-group's share.
  };
  enum class Phase : uint8_t {
    runs,
    stops,     // It is to be suspended: something of it is under way.
    saves,     // Its state is written.
    restores,  // Its state is read.
  };
  struct Group {
    bool active = false;
    Phase phase = Phase::runs;
    bool is_left = false;  // Restores: it is to be suspended again.
    uint64_t save_address = 0;
    Time phase_since = 0;  // Of `stops`.
    Cycle begin = 0;       // When its first instruction can issue.
    uint8_t slot = 0;
    uint32_t wg_id = 0;
    uint32_t tile_id = 0;  // What its accesses carry: wg_id / split.
    const DispatchContext* context = nullptr;
    std::array<uint8_t, 8> members{};  // Wavefront slots.
    unsigned wavefronts = 0;
    unsigned live = 0;
    unsigned at_barrier = 0;
    Cycle barrier = 0;   // Latest arrival.
    uint64_t votes = 0;  // OR of those at the barrier.
    Cycle ended = 0;
    Time started = 0;
    uint64_t register_bytes = 0;  // Of tiles and accumulators.
    uint64_t lds_bytes = 0;
    uint32_t operations = 0;  // Of pipes, under way.
    uint64_t fp16_work = 0;   // Of the tensor pipe.
    std::vector<Slot> slots;  // 8 per wavefront, then 16 of LDS, then 8 accumulators.
    size_t tiles() const { return 8 * wavefronts + 24; }  // Of `slots` those in use.
    bool has_tiles = false;  // One of `slots` may be other than at the start.
  };
  // Event tags: work-group slots that retire, kTickTag, slots that are quiet, states moved.
  static constexpr uint64_t kTickTag = 0xFFFF, kFrozenTag = 0x10000, kMoveTag = 0x20000;
  class Suspended;  // What of a work-group has no bytes.
  // A state on its way.
  struct Move {
    uint32_t requests = 0;  // Not yet answered.
    Cycle latest = 0;
    Time since = 0;
    uint64_t saved_bytes = 0;  // Written when it is done.
    Moved done;
  };
  struct PipeOperation {
    uint8_t wavefront;  // Slot of the unit.
    uint8_t result;     // Tile names.
    std::array<uint8_t, 2> sources;
    unsigned source_count;
    uint64_t clocks;
    uint64_t slots;
    uint64_t served = 0;         // Of the clocks.
    uint64_t multiply_adds = 0;  // Of the tensor cores,
    uint64_t fp16_work = 0;      // in those of FP16.
  };
  struct Pipe {
    std::deque<PipeOperation> queue;  // The first one is under way,
    Cycle begin = 0;                  // since then,
    Cycle turn = 0;                   // for so many clocks;
    Cycle look = kUnknown;            // when it may have ended.
    Cycle free = 0;                   // End of the last one.
  };
  enum : unsigned { kTensor, kSimt, kPipes };
  // Of an instruction that others see, at its turn: it has issued and the wavefront goes on at
  // wavefront.at; it has issued and the wavefront waits; it cannot issue yet and takes no slot.
  enum class Step : uint8_t { go_on, wait, stop };

  void on_event(uint64_t tag) override;
  bool extend(unsigned port, unsigned position) override;
  void on_memory_change(uint64_t address, uint64_t cookie) override;
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

  Cycle now_cycle() const { return clock_.cycle_from(services_.queue->now()); }
  // The wavefront goes on at `at`, or now if that is past.
  void wake(Wavefront& wavefront, Cycle at);
  bool is_free(unsigned wavefront) const;
  Wavefront& occupy(unsigned wavefront);
  IssuePort& port_of(const Wavefront& wavefront) {
    return ports_[wavefront.slot % spec_.issue_ports];
  }
  unsigned position_of(const Wavefront& wavefront) const {
    return wavefront.slot / spec_.issue_ports;
  }
  void tick();
  void schedule_tick();
  void issue(IssuePort& port, Wavefront& wavefront, Cycle now);
  Step perform(Wavefront& wavefront);

  // Tile instructions (compute_unit_tiles.cpp). Each leaves the hart at the instruction when it
  // must wait.
  Step tile_instruction(Wavefront& wavefront, const riscv::CustomOp& op);
  Step tile_load(Wavefront& wavefront, Group& group, const riscv::CustomOp& op);
  Step tile_store(Wavefront& wavefront, Group& group, const riscv::CustomOp& op);
  Step tile_mma(Wavefront& wavefront, Group& group, const riscv::CustomOp& op);
  Step tile_simt(Wavefront& wavefront, Group& group, const riscv::CustomOp& op);
  Step tile_epilogue(Wavefront& wavefront, Group& group, const riscv::CustomOp& op);
  Step tile_control(Wavefront& wavefront, Group& group, const riscv::CustomOp& op);
  Step tile_wait_until(Wavefront& wavefront, const riscv::CustomOp& op);
  Step tile_release(Wavefront& wavefront, Group& group);
  Step tile_locked_store(Wavefront& wavefront, const riscv::CustomOp& op);
  Step tile_red(Wavefront& wavefront, const riscv::CustomOp& op);
  // When the stores before operation `number` are done; kUnknown: not all are answered.
  Cycle stores_done(Wavefront& wavefront, uint32_t number) const;
  Step send_reduction(Wavefront& wavefront, uint32_t number, Cycle at);
  void send_held(Wavefront& wavefront);
  Step barrier(Wavefront& wavefront, Group& group);
  bool release_barrier(Group& group, Wavefront* current);
  Step enter_body(Wavefront& wavefront, const Group& group);
  Step end(Wavefront& wavefront, Group& group);
  Step finish(Wavefront& wavefront, uint64_t slots = 1);
  void retired(Wavefront& wavefront, uint64_t slots);
  uint64_t memory_instructions(uint64_t bytes, bool to_lds) const;

  // Scoreboard.
  Slot& slot_of(Group& group, const Wavefront& wavefront, unsigned name);
  // Stops the wavefront until then, if that is not past (the instruction is tried again).
  bool advance(Wavefront& wavefront, Cycle until, Step& step);
  bool readable(Wavefront& wavefront, const Slot& slot, unsigned name, Step& step);
  bool writable(Wavefront& wavefront, const Slot& slot, unsigned name, Step& step);
  bool resize(Group& group, unsigned name, Slot& slot, uint64_t bytes);
  // Waits until the operations below `number` are done (of those, only the stores).
  bool operations_done(Wavefront& wavefront, uint32_t number, bool stores_only, Step& step);
  bool ring_has_room(Wavefront& wavefront, Step& step);
  // Whether locked stores and reductions of the wavefront to the word at `address` are performed.
  bool own_word_done(Wavefront& wavefront, uint64_t address, Step& step);
  // Pipes.
  Step use(unsigned pipe, Wavefront& wavefront, Group& group, const PipeOperation& operation);
  void begin_turn(unsigned pipe, Cycle at);
  void look_at(unsigned pipe, Cycle now);
  void end_turn(unsigned pipe, Cycle at);
  void end_operation(unsigned pipe, Cycle at);
  void give_turn(Pipe& pipe, uint8_t group);
  void tiles_done(Group& group, const Wavefront& owner, uint32_t names, Cycle at);
  void retire_when_done(Group& group);
  PipeCounters& counters_of(unsigned pipe) {
    return pipe == kTensor ? counters_.tensor : counters_.simt;
  }
  bool multiplies(unsigned code) const;
  uint64_t product_slots(const Group& group, uint64_t fma, uint64_t bytes) const;
  uint64_t simt_slots(uint64_t instructions) const;

  // Memory requests (compute_unit_memory.cpp).
  Step issue_tile(Wavefront& wavefront, Group& group, unsigned name, uint64_t address,
                  const TileShape& shape, ElementType element, bool store, bool streaming,
                  uint8_t* data);
  // Lines (compute_unit_lines.cpp).
  Step load_lines(Wavefront& wavefront, Group& group, const riscv::CustomOp& op,
                  ElementType element);
  Step store_lines(Wavefront& wavefront, Group& group, const riscv::CustomOp& op,
                   ElementType element);
  bool are_lines(Wavefront& wavefront, const riscv::CustomOp& op, Step& step);
  void poll_lines(Wavefront& wavefront, uint32_t number, Cycle at);
  // The tile's bytes from the lines that have come; false: a line lost its flag meanwhile.
  bool take_lines(Wavefront& wavefront, uint32_t number);
  PooledPayload& make_request(Wavefront& wavefront, tlm::tlm_command command, uint64_t address,
                              uint8_t* data, uint32_t bytes);
  PooledPayload& make_request(const DispatchContext& context, tlm::tlm_command command,
                              uint64_t address, uint8_t* data, uint32_t bytes);
  // Where the access goes by its range entry; false: fault.
  bool apply_entry(Wavefront& wavefront, const RangeEntry* entry, uint64_t address, bool store,
                   PooledPayload& payload);
  // Sends it at the wavefront's time; returns when it is done, or kUnknown.
  Cycle send(Wavefront& wavefront, PooledPayload& payload) { return send(wavefront.at, payload); }
  Cycle send(Cycle not_before, PooledPayload& payload);
  // send() without a wavefront.
  Cycle transport(Cycle not_before, PooledPayload& payload);
  void request_done(Wavefront& wavefront, uint32_t number, Cycle at);
  void operation_done(Wavefront& wavefront, uint32_t number);
  Step scalar_access(Wavefront& wavefront);
  Step send_scalar(Wavefront& wavefront);
  Step access_done(Wavefront& wavefront, Cycle at, bool failed);
  Step confirm_done(Wavefront& wavefront, Cycle at, bool failed);
  // Of a pipeline; "" if it is of none.
  std::string stage_of(const Group& group) const;
  // What a wait_until waits for, and what is there.
  std::string describe_wait(const riscv::CustomOp& op) const;
  uint64_t peek(uint64_t address, bool at_l2) const;
  bool waits_at_l2(const riscv::CustomOp& op) const;
  void watch(uint64_t offset, bool at_l2, uint64_t index);

  // Suspension (compute_unit_suspend.cpp).
  Group& place(uint8_t slot, uint32_t wg_id, const DispatchContext& context);
  void freeze(Group& group);
  // Saves it if nothing of it is under way.
  void look_at_frozen(Group& group);
  // From when on nothing of it is under way; kUnknown: not all is known.
  Cycle quiet_from(const Group& group);
  void save(Group& group);
  void saved(Group& group, SavedGroup& state);
  void restore(Group& group, const Suspended& state, const std::vector<uint8_t>& bytes);
  void go_on(Group& group);
  void move_done(uint32_t number, Cycle at);
  void end_wait(Wavefront& wavefront, Cycle at);

  // Scopes (compute_unit_scopes.cpp).
  Step fence(Wavefront& wavefront);
  Step tile_fence(Wavefront& wavefront, Scope scope);
  Step order(Wavefront& wavefront, Ordering ordering);
  Step send_fence(Wavefront& wavefront);
  Step ordered(Wavefront& wavefront, Cycle at);
  Step amo(Wavefront& wavefront);
  Step amo_done(Wavefront& wavefront, Cycle at);
  void forget_scalars();
  bool hits_scalar(Wavefront& wavefront, uint64_t address, unsigned bytes);
  void take_scalar_line(Wavefront& wavefront);
  void drop_scalars(const tlm::tlm_generic_payload& payload, const StrettoExtension& extension);

  Step fault(Wavefront& wavefront, FaultKind kind, uint64_t address, uint8_t cause,
             std::string detail);
  void leave(Group& group);
  RaceLaw::Wavefront racer(const PooledPayload& payload) const;
  void retire(Group& group);
  bool own(uint64_t address) const { return (address & ~uint64_t{STRETTO_OFFSET_MASK}) == node_; }

  const GpuSpec spec_;
  const ClockDomain clock_;
  const uint16_t index_;
  PartitionServices& services_;
  Parts parts_;
  const uint64_t node_;
  const std::string track_;  // Name in the timeline.

  std::vector<std::unique_ptr<Wavefront>> wavefronts_;  // By slot; made when one is used first.
  std::vector<Group> groups_;
  std::vector<IssuePort> ports_;
  Cycle next_tick_ = kUnknown;  // When ports are looked at next.
  bool ticking_ = false;
  std::array<Pipe, kPipes> pipes_;
  PayloadPool pool_;
  std::unique_ptr<L1Cache> scalars_;  // Made when it is used first.
  std::map<uint32_t, Move> moves_;    // By number.
  uint32_t last_move_ = 0;
  unsigned resident_ = 0;
  Cycle resident_since_ = 0;
  Cycle idle_since_ = 0;
  WorkGroupResources used_;
  ComputeUnitCounters counters_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_COMPUTE_UNIT_COMPUTE_UNIT_H_
