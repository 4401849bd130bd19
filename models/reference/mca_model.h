// SPDX-License-Identifier: Apache-2.0
// Cycle-exact reference model of the MCA (rtl/mca/mca.sv); rules R1..R9 are those of
// rtl/mca/README.md.
//
// One object per HBM channel; step() is on the simulator's hot path (10^8 calls a run): no
// allocation, and the common case (no register access, no kernel pulse) is inline. Every member is
// a flip-flop of the RTL.
#ifndef STRETTO_MODELS_REFERENCE_MCA_MODEL_H_
#define STRETTO_MODELS_REFERENCE_MCA_MODEL_H_

#include <cassert>

#include "models/reference/mca_if.h"
#include "sw/include/regs/mca_file.h"

namespace stretto {

class McaModel final : public Mca {
 public:
  void reset() override { *this = McaModel(); }

  McaOutputs step(const McaInputs& in) override {
    // Who may be granted, from the state before the edge (R2, R3, R4).
    const bool compute = compute_pending_ != 0;
    const bool comm = comm_pending_ != 0;
    const bool room = occupancy_ < registers_.dram_queue_depth.atoms;
    const bool take_turns = draining_ || policy() == MCA_CONTROL_POLICY_ROUND_ROBIN;
    const bool allowed = comm_allowed();
    bool starved = false;
    bool pick_comm;
    if (take_turns) {
      pick_comm = comm && (!compute || !last_comm_);
    } else {
      starved = comm && ((in.cycle - wait_since_) & kCycleMask) >= registers_.starve_limit.cycles &&
                !(last_comm_ && compute);
      pick_comm = comm && (starved || (!compute && allowed));
    }
    const bool grant_comm = room && pick_comm;
    const bool grant_compute = room && compute && !pick_comm;
    const bool starved_grant = grant_comm && !take_turns && (compute || !allowed);

    const auto occupancy =
        static_cast<uint8_t>(occupancy_ + (grant_comm || grant_compute) - in.dram_pop);
    assert(occupancy < 128 && "more atoms left the DRAM queue than it held");
    const auto compute_pending =
        static_cast<uint16_t>(compute_pending_ + in.compute_push - grant_compute);
    const auto comm_pending = static_cast<uint16_t>(comm_pending_ + in.comm_push - grant_comm);

    const bool drain_done = draining_ && !comm;
    const uint64_t rdata =
        read_pending_ ? registers_.read(McaRegisters::find(read_address_), hardware()) : rdata_;
    if (decide_ || measuring_ || in.kernel_start || in.first_wg_done) {
      measure(in, occupancy != occupancy_ || (comm_pending != 0) != comm);
    }
    if (grant_comm || (!comm && in.comm_push != 0)) wait_since_ = in.cycle;
    if (grant_comm || grant_compute) last_comm_ = grant_comm;
    counters_.grants_compute += grant_compute;
    counters_.grants_comm += grant_comm;
    counters_.grants_starved += starved_grant;
    counters_.drains += drain_done;
    draining_ = in.kernel_end || (draining_ && comm);
    if (in.kernel_start != in.kernel_end) {
      if (in.kernel_start && kernels_ != 15) ++kernels_;
      if (in.kernel_end && kernels_ != 0) --kernels_;
    }
    occupancy_ = occupancy;
    parked_ = in.dram_parked;
    compute_pending_ = compute_pending;
    comm_pending_ = comm_pending;
    rdata_ = rdata;
    read_pending_ = in.reg.read;
    if (in.reg.read) read_address_ = in.reg.address;
    if (in.reg.write) write(in.reg.address, in.reg.wdata);

    McaOutputs out;
    out.grant_compute = grant_compute;
    out.grant_comm = grant_comm;
    out.drain_done = drain_done;
    out.threshold = limit();
    out.wake_cycle = grant_compute || grant_comm || drain_done ? 0 : wake();
    out.idle = out.wake_cycle == kMcaNeverWakes;
    out.reg_rdata = rdata_;
    return out;
  }

  std::optional<McaSnapshot> snapshot() const override {
    return McaSnapshot{counters_.grants_compute, counters_.grants_comm, counters_.grants_starved,
                       counters_.drains, limit()};
  }

 private:
  static constexpr uint64_t kCycleMask = (uint64_t{1} << 48) - 1;

  uint8_t policy() const { return registers_.control.policy; }
  uint8_t limit() const {
    return registers_.control.threshold_select ? automatic_limit_ : registers_.threshold.limit;
  }

  bool comm_allowed() const {
    if (kernels_ == 0 || policy() == MCA_CONTROL_POLICY_COMPUTE_FIRST_NO_LIMIT) return true;
    return policy() == MCA_CONTROL_POLICY_COMMUNICATION_AWARE &&
           (limit() == 0 || occupancy_ < limit() + parked_);
  }

  // wake_cycle of the state after the edge, when no output pulse is high.
  uint64_t wake() const {
    if (read_pending_ || decide_ || (draining_ && comm_pending_ == 0)) return 0;
    if ((compute_pending_ | comm_pending_) == 0 || occupancy_ >= registers_.dram_queue_depth.atoms)
      return kMcaNeverWakes;
    if (compute_pending_ != 0 || draining_ || policy() == MCA_CONTROL_POLICY_ROUND_ROBIN ||
        comm_allowed())
      return 0;
    return (wait_since_ + registers_.starve_limit.cycles) & kCycleMask;
  }

  void measure(const McaInputs& in, bool changed);
  void write(uint16_t address, uint64_t data);
  McaRegisters::Hardware hardware() const;

  McaRegisters registers_;

  uint16_t compute_pending_ = 0;
  uint16_t comm_pending_ = 0;
  uint8_t occupancy_ = 0;
  uint8_t parked_ = 0;
  uint8_t automatic_limit_ = 0;  // 0 = none until a kernel has been measured.
  bool last_comm_ = false;       // The last grant was for communication.
  bool draining_ = false;
  bool measuring_ = false;
  bool decide_ = false;  // The measurement ended: choose the limit at the next edge.
  bool read_pending_ = false;
  uint8_t kernels_ = 0;  // Started and not ended, saturating at 15.
  uint16_t read_address_ = 0;
  uint64_t wait_since_ = 0;  // Cycle since which the head of the communication queue waits.
  uint64_t rdata_ = 0;
  uint64_t since_ = 0;               // Cycle up to which the sample is accumulated.
  McaRegisters::Hardware counters_;  // Without status.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_MCA_MODEL_H_
