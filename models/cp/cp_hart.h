// SPDX-License-Identifier: Apache-2.0
// CpHart: one hart of the command processor in the calendar.
//
// Its local time is hart().cycles() on the CP clock; it is at or ahead of the calendar. Life of a
// hart:
//   run        up to a quantum of instructions over registers, SRAM and L1 hits; then again at its local time
//   access     at its local time a bus access (blocking, returned delay added) or a chain of memory transactions:
//              write-backs, line fill, locked read, unlocking write; the instruction retires when
//              the chain is done
//   wait       WFI: no event at all until an interrupt that is enabled in mie is pending
// Invariants
//  1 busy + waiting + idle = local time, in cycles.
//  2 At most one access at a time (in-order, blocking); a chain's next step starts when all
//    transactions of the one before have answered.
//  3 A hart never runs past the time its timer interrupt fires by more than what the last
//    instructions take.
#ifndef STRETTO_MODELS_CP_CP_HART_H_
#define STRETTO_MODELS_CP_CP_HART_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "models/common/clock_domain.h"
#include "models/common/component.h"
#include "models/common/payload_pool.h"
#include "models/common/range_lookup.h"
#include "models/cp/cp_spec.h"
#include "models/cp/hart_port.h"

namespace stretto {

// What a hart asks of its command processor.
class HartOwner {
 public:
  virtual ~HartOwner() = default;
  virtual void schedule(Time at, unsigned hart, uint64_t what) = 0;
  // Reads or writes `data`; false: no device there. `delay` is what the access takes.
  virtual bool bus_access(bool write, uint64_t address, uint8_t* data, unsigned bytes,
                          Time& delay) = 0;
  // Sends a request to the L2. The answer comes back through CpHart::answer().
  virtual void send(PooledPayload& payload) = 0;
  virtual void on_tohost(unsigned hart, uint64_t value) = 0;
  virtual uint64_t mtime(Time at) const = 0;
  virtual std::string symbolize(uint64_t address) const = 0;
};

class CpHart {
 public:
  struct Shared {
    uint8_t* sram;
    riscv::ReservationSet* reservations;
    riscv::CodeCache* code;
    PartitionServices* services;
    const RangeLookup* const* ranges;  // Null inside: every address is cached by the L2.
    MemoryImage* const* memory;        // Of the GPU: private memory.
  };

  CpHart(unsigned hart, const CpSpec& spec, const Shared& shared, HartOwner& owner);

  void start(uint64_t entry);
  void halt() { state_ = State::halted; }
  // `what` as given to HartOwner::schedule().
  void on_event(uint64_t what);
  // A request of this hart was answered, effective `delay` from now.
  void answer(PooledPayload& payload, Time delay);

  void set_interrupt(unsigned number, bool level);
  void set_timer(Time fires) {
    timer_cycle_ = fires == kNever ? ~uint64_t{0} : clock_.cycle_from(fires);
  }
  void set_tohost(uint64_t address) { port_.set_tohost(address), tohost_ = address; }

  const CpCore& core() const { return core_; }
  void report(StatisticSink& sink) const;
  void audit(AuditSink& sink) const;
  std::string waiting_on() const;  // Empty: halted.

 private:
  enum class State : uint8_t { halted, running, access, memory, wfi };
  enum What : uint64_t { kRun, kAccess, kAnswer };
  enum class Step : uint8_t {
    write_back_all,
    write_back_line,
    drop_all,
    drop_line,
    fill,
    fetch,
    read,
    locked_read,
    unlocking_write,
    remote_write,
    buffer_store,  // These need or await room in the store buffer, or its entries' answers:
    drain_line,
    drain_all,
    bus_write,
  };
  struct Transaction {
    Operation operation;
    uint64_t address;
    uint32_t bytes;
    std::array<uint8_t, L1Cache::kLineBytes> data;
  };
  struct Slot {
    PooledPayload* payload = nullptr;
    uint64_t entry = 0;  // Of the store buffer; 0: of the access under way.
    std::array<uint8_t, L1Cache::kLineBytes> data{};
  };

  void wake();
  Time local_time() const { return clock_.edge(core_.cycles()); }
  uint64_t line() const { return port_.request().address >> L1Cache::kLineShift; }
  void on_trap(riscv::Cause cause, uint64_t value, uint64_t pc);
  void run();
  void begin_access();
  void access_bus();
  void plan_access();
  void plan_amo();
  void next_step();
  void do_step(Step step);
  bool may_begin(Step step);
  void close_for_room();
  bool has_room_for_write_backs();
  void buffer_write_back(uint32_t slot);
  void buffer_store();
  void pump_buffer();
  void on_stored(Slot& slot);
  void queue_write_back(uint32_t slot);
  void queue_fetches();
  void pump();
  void send(Slot& slot, unsigned index, Operation operation, uint64_t address, uint32_t bytes,
            PrivateAccess private_access);
  Slot* free_slot(unsigned& index);
  void enqueue(Operation operation, uint64_t address, uint32_t bytes, const void* data = nullptr);
  void on_answer(unsigned slot);
  void finish_access(Time at);
  void complete();
  uint64_t uncounted(bool asleep) const;
  // Runs `act` and books the cycles that the hart took in it as busy.
  template <class Act>
  void busy(Act act) {
    const uint64_t before = core_.cycles();
    act();
    busy_cycles_ += core_.cycles() - before;
  }
  void check_tohost();

  const unsigned id_;
  const Shared shared_;
  HartOwner& owner_;
  const ClockDomain clock_;
  const uint64_t quantum_cycles_;
  HartPort port_;
  CpCore core_;
  State state_ = State::halted;
  uint64_t timer_cycle_ = ~uint64_t{0};
  uint64_t tohost_ = HartPort::kNoAddress;

  // Of the access under way.
  std::vector<Step> steps_;  // Planned by plan_access(), walked by next_step().
  size_t step_ = 0;
  std::deque<Transaction> queue_;  // Of the present step, not sent yet.
  unsigned outstanding_ = 0;
  unsigned storing_ = 0;    // Transactions of the store buffer.
  bool forwarded_ = false;  // A load has its bytes from the store buffer.
  bool waits_ = false;      // The next step may not begin yet.
  bool failed_ = false;     // A transaction was answered with an error.
  uint64_t result_ = 0;     // Of read and locked_read: the old value.
  uint64_t stored_ = 0;     // For unlocking_write.
  std::vector<Slot> slots_;
  PayloadPool pool_;

  // LR of GPU memory: what it read, until the next SC.
  bool reserved_ = false;
  uint64_t reserved_address_ = 0;
  uint64_t reserved_value_ = 0;

  Time awake_since_ = 0;  // For the timeline.
  uint64_t busy_cycles_ = 0;
  uint64_t waiting_cycles_ = 0;
  uint64_t wfi_cycles_ = 0;
  uint64_t misses_ = 0;
  uint64_t fetched_lines_ = 0;
  uint64_t buffered_ = 0;
  uint64_t written_back_lines_ = 0;
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;
  uint64_t atomics_ = 0;
  uint64_t bus_reads_ = 0;
  uint64_t bus_writes_ = 0;
  uint64_t requests_ = 0;
  uint64_t answers_ = 0;
  uint64_t faults_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_CP_CP_HART_H_
