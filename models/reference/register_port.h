// SPDX-License-Identifier: Apache-2.0
// The register port that every RTL block has, in pins: reg_we_i, reg_re_i, reg_addr_i, reg_wdata_i,
// reg_rdata_o.
//
// A write is taken at the clock edge at which `write` is high. A read presented at edge k answers
// in `reg_rdata` of the outputs after edge k + 1 and is held until the next read. Registers are 64
// bits wide and 8 bytes apart (sw/include/regs/BLOCK.yaml).
#ifndef STRETTO_MODELS_REFERENCE_REGISTER_PORT_H_
#define STRETTO_MODELS_REFERENCE_REGISTER_PORT_H_

#include <cstdint>

namespace stretto {

struct RegisterPort {
  bool write = false;
  bool read = false;
  uint16_t address = 0;  // Byte offset in the block's bank, a multiple of 8.
  uint64_t wdata = 0;

  bool operator==(const RegisterPort&) const = default;
};

// The pins in use, for reports: add(name, value).
template <class Add>
void list_pins(const RegisterPort& port, Add add) {
  if (!port.write && !port.read) return;
  add(port.write ? "reg_we" : "reg_re", 1);
  add("reg_addr", port.address);
  add("reg_wdata", port.wdata);
}

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_REGISTER_PORT_H_
