// SPDX-License-Identifier: Apache-2.0
// Register table and trap entry of machine mode.
#include "models/riscv/machine_csrs.h"

#include <cassert>

namespace stretto::riscv {
namespace {

constexpr uint64_t misa_bit(char letter) { return uint64_t{1} << (letter - 'A'); }
constexpr uint64_t kMisa =
    uint64_t{2} << 62 | misa_bit('I') | misa_bit('M') | misa_bit('A') | misa_bit('C');

constexpr uint64_t kPmpAddrMask = (uint64_t{1} << 54) - 1;
// Per byte: R, W, X and the address mode; bits 5 and 6 are reserved and L is hard-wired to 0.
constexpr uint64_t kPmpCfgMask = 0x1f1f1f1f1f1f1f1fu;

constexpr bool in(uint32_t csr, uint32_t first, uint32_t last) {
  return csr >= first && csr <= last;
}

}  // namespace

bool MachineCsrs::read(uint32_t csr, uint64_t& value) const {
  switch (csr) {
    case 0x300: value = mstatus; return true;
    case 0x301: value = kMisa; return true;
    case 0x304: value = mie; return true;
    case 0x305: value = mtvec; return true;
    case 0x340: value = mscratch; return true;
    case 0x341: value = mepc; return true;
    case 0x342: value = mcause; return true;
    case 0x343: value = mtval; return true;
    case 0x344: value = mip; return true;
    case 0x3a0: value = pmpcfg[0]; return true;
    case 0x3a2: value = pmpcfg[1]; return true;
    case 0xf14: value = hart_id; return true;
    default: break;
  }
  if (in(csr, 0x3b0, 0x3b0 + kPmpEntries - 1)) {
    value = pmpaddr[csr - 0x3b0];
    return true;
  }
  value = 0;
  return csr == 0x320 ||           // mcountinhibit
         in(csr, 0x323, 0x33f) ||  // mhpmevent3..31
         in(csr, 0x7a0, 0x7a3) ||  // tselect, tdata1..3
         in(csr, 0xb03, 0xb1f) ||  // mhpmcounter3..31
         in(csr, 0xc03, 0xc1f) ||  // hpmcounter3..31
         in(csr, 0xf11, 0xf13) ||  // mvendorid, marchid, mimpid: not a registered core
         csr == 0xf15;             // mconfigptr: no configuration structure
}

bool MachineCsrs::write(uint32_t csr, uint64_t value) {
  switch (csr) {
    case 0x300: mstatus = (value & (kMstatusMie | kMstatusMpie)) | kMstatusMpp; return true;
    case 0x304: mie = value & kInterruptMask; return true;
    case 0x305: mtvec = value & ~uint64_t{2}; return true;
    case 0x340: mscratch = value; return true;
    case 0x341: mepc = value & ~uint64_t{1}; return true;
    case 0x342: mcause = value; return true;
    case 0x343: mtval = value; return true;
    case 0x3a0: pmpcfg[0] = value & kPmpCfgMask; return true;
    case 0x3a2: pmpcfg[1] = value & kPmpCfgMask; return true;
    default: break;
  }
  if (in(csr, 0x3b0, 0x3b0 + kPmpEntries - 1)) {
    pmpaddr[csr - 0x3b0] = value & kPmpAddrMask;
    return true;
  }
  uint64_t ignored = 0;
  return read(csr, ignored);  // exists, but keeps its value
}

void MachineCsrs::push_status(uint64_t pc) {
  const uint64_t previous = (mstatus & kMstatusMie) != 0 ? kMstatusMpie : 0;
  mstatus = (mstatus & ~(kMstatusMie | kMstatusMpie)) | previous | kMstatusMpp;
  mepc = pc;
}

uint64_t MachineCsrs::enter_exception(Cause cause, uint64_t value, uint64_t pc) {
  push_status(pc);
  mcause = static_cast<uint64_t>(cause);
  mtval = value;
  return mtvec & ~uint64_t{3};
}

uint64_t MachineCsrs::enter_interrupt(uint64_t pc) {
  assert(interrupt_enabled());
  const uint64_t active = mip & mie;
  unsigned number = kInterruptTimer;
  if ((active >> kInterruptSoftware & 1) != 0) number = kInterruptSoftware;
  if ((active >> kInterruptExternal & 1) != 0) number = kInterruptExternal;
  push_status(pc);
  mcause = uint64_t{1} << 63 | number;
  mtval = 0;
  const uint64_t base = mtvec & ~uint64_t{3};
  return (mtvec & 1) != 0 ? base + 4 * number : base;
}

uint64_t MachineCsrs::leave_trap() {
  const uint64_t enabled = (mstatus & kMstatusMpie) != 0 ? kMstatusMie : 0;
  mstatus = (mstatus & ~kMstatusMie) | enabled | kMstatusMpie | kMstatusMpp;
  return mepc;
}

}  // namespace stretto::riscv
