// SPDX-License-Identifier: Apache-2.0
// Interface of the memory-controller arbiter (MCA), one per HBM channel, used by the channel, the
// adapters and the reference model. T3 4.5 (T3-MCA-01..08).
//
// The compute and communication queues and the DRAM queue hold payload and stay in the channel; the
// MCA keeps only their counts, in its own flip-flops, and says which queue's head moves to the DRAM
// queue. One step() is one memory clock: inputs are sampled by the edge, outputs are the registered
// values after it. An atom pushed at edge k can be granted in the outputs of edge k + 1 at the
// earliest. A grant means that the head of that queue enters the DRAM queue in this very cycle; the
// MCA has already counted it.
//
// Contract (rule numbers are those of rtl/mca/README.md):
//  R1 at most one grant a cycle; R2 a grant only to a queue whose count is not zero and only while
//  the DRAM queue has room; R3 work-conserving for compute; R4 under `communication_aware`,
//  communication only when no compute is pending and no kernel runs or fewer atoms than the
//  threshold compete in the DRAM queue (occupancy - parked), or when it has waited `starve_limit`
//  cycles; R5 order inside each queue is kept (counts only move by one head at a time); R6 after
//  kernel_end communication is served without limit until its queue is empty, then drain_done; R7
//  every pending atom is granted within a bounded number of grants.
#ifndef STRETTO_MODELS_REFERENCE_MCA_IF_H_
#define STRETTO_MODELS_REFERENCE_MCA_IF_H_

#include <cstdint>

#include "models/reference/block.h"

namespace stretto {

inline constexpr unsigned kMcaMaxPush = 3;         // Atoms a queue can take in one cycle.
inline constexpr unsigned kMcaQueueBits = 16;      // Width of the pending counts.
inline constexpr unsigned kMcaMaxDramQueue = 127;  // Largest supported DRAM queue, entries.
inline constexpr uint64_t kMcaNeverWakes = (uint64_t{1} << 48) - 1;

struct McaInputs {
  uint64_t cycle =
      0;  // cycle_i: memory clock cycles since reset, 48 bits. The only notion of elapsed time.
  uint8_t compute_push = 0;  // Atoms that entered the compute queue this cycle, 0..3.
  uint8_t comm_push = 0;     // Atoms that entered the communication queue this cycle, 0..3.
  uint8_t dram_pop = 0;      // Atoms that left the DRAM queue this cycle, 0..3.
  uint8_t dram_parked =
      0;  // Level: atoms in the DRAM queue of the direction that is not served now (write batching).
  bool kernel_start =
      false;  // Pulse: the first work-group of a kernel of the compute stream was dispatched.
  bool first_wg_done = false;  // Pulse: the first work-group of that kernel ended.
  bool kernel_end = false;     // Pulse: the kernel's last work-group ended.
  RegisterPort reg;

  bool operator==(const McaInputs&) const = default;
};

struct McaOutputs {
  bool grant_compute = false;
  bool grant_comm = false;
  bool drain_done =
      false;  // Pulse: the drain that kernel_end began has emptied the communication queue.
  uint8_t threshold = 0;  // The occupancy limit in force; 0 = none (diagnostic, also a register).
  bool idle = true;       // More clocks with idle inputs change no state, whatever cycle_i says.
  // With idle inputs no state changes before cycle_i reaches this value: 0 = the next clock counts,
  // kMcaNeverWakes when idle; between the two when communication waits behind the limit for its
  // starvation cycle only. Skipping those clocks is allowed, not required.
  uint64_t wake_cycle = kMcaNeverWakes;
  uint64_t reg_rdata = 0;

  bool operator==(const McaOutputs&) const = default;
};

// Counts since reset or the last clear.
struct McaSnapshot {
  uint64_t grants_compute = 0;
  uint64_t grants_comm = 0;
  uint64_t grants_starved = 0;  // Of grants_comm, those because of the starvation limit.
  uint64_t drains = 0;
  uint8_t limit = 0;  // The occupancy limit in force; 0 = none.

  bool operator==(const McaSnapshot&) const = default;
};

// For reports: add(name, value) for each pin in use.
template <class Add>
void list_pins(const McaInputs& in, Add add) {
  add("compute_push", in.compute_push);
  add("comm_push", in.comm_push);
  add("dram_pop", in.dram_pop);
  add("dram_parked", in.dram_parked);
  add("kernel_start", in.kernel_start);
  add("first_wg_done", in.first_wg_done);
  add("kernel_end", in.kernel_end);
  list_pins(in.reg, add);
}

template <class Add>
void list_pins(const McaOutputs& out, Add add) {
  add("grant_compute", out.grant_compute);
  add("grant_comm", out.grant_comm);
  add("drain_done", out.drain_done);
  add("threshold", out.threshold);
  add("idle", out.idle);
  add("wake_cycle", out.wake_cycle);
  add("reg_rdata", out.reg_rdata);
}

class Mca : public Block<McaInputs, McaOutputs, McaSnapshot> {};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_MCA_IF_H_
