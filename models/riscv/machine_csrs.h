// SPDX-License-Identifier: Apache-2.0
// Machine-mode control and status registers of a hart with machine mode only, except the counters
// (those need the run loop's exact counts and live in Hart).
//
// WARL choices, all allowed by the privileged specification: misa is read-only; mstatus.MPP is
// always M; mtvec accepts direct and vectored mode, 4-byte aligned; mip is read-only to software,
// its bits follow the owner's lines; PMP entries can be written but never locked, so they do not
// bind machine mode; there is no trigger module (tselect and tdata* read as zero); hardware
// performance counters and mcountinhibit read as zero.
#ifndef STRETTO_MODELS_RISCV_MACHINE_CSRS_H_
#define STRETTO_MODELS_RISCV_MACHINE_CSRS_H_

#include <cstdint>

#include "models/riscv/isa.h"

namespace stretto::riscv {

struct MachineCsrs {
  static constexpr uint64_t kMstatusMie = 1u << 3;
  static constexpr uint64_t kMstatusMpie = 1u << 7;
  static constexpr uint64_t kMstatusMpp = 3u << 11;
  static constexpr uint64_t kInterruptMask =
      1u << kInterruptSoftware | 1u << kInterruptTimer | 1u << kInterruptExternal;
  static constexpr unsigned kPmpEntries = 16;

  uint64_t hart_id = 0;
  uint64_t mstatus = kMstatusMpp;
  uint64_t mie = 0;
  uint64_t mip = 0;  // written by the owner through Hart::set_interrupt()
  uint64_t mtvec = 0;
  uint64_t mscratch = 0;
  uint64_t mepc = 0;
  uint64_t mcause = 0;
  uint64_t mtval = 0;
  uint64_t pmpcfg[kPmpEntries / 8] = {};
  uint64_t pmpaddr[kPmpEntries] = {};

  // Both return false for a register that does not exist. write() is not called for read-only ones.
  bool read(uint32_t csr, uint64_t& value) const;
  bool write(uint32_t csr, uint64_t value);

  bool interrupt_pending() const { return (mip & mie) != 0; }
  bool interrupt_enabled() const { return interrupt_pending() && (mstatus & kMstatusMie) != 0; }

  // Enter a trap: records the cause and returns the handler's address.
  uint64_t enter_exception(Cause cause, uint64_t value, uint64_t pc);
  // REQUIRES: interrupt_enabled(). External before software before timer.
  uint64_t enter_interrupt(uint64_t pc);
  // mret: returns the address to go on at.
  uint64_t leave_trap();

 private:
  void push_status(uint64_t pc);
};

}  // namespace stretto::riscv

#endif  // STRETTO_MODELS_RISCV_MACHINE_CSRS_H_
