// SPDX-License-Identifier: Apache-2.0
// Effects of the registers of CLINT, interrupt controller, doorbells and UART.
#include "models/cp/local_devices.h"

#include <fcntl.h>

#include <bit>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "models/common/error.h"
#include "models/riscv/isa.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/regs/cp_bank.h"
#include "sw/include/regs/cp_regs.h"

namespace stretto {

// CLINT

Clint::Clint(const sc_core::sc_module_name& name, EventQueue& queue, uint32_t timer_mhz,
             unsigned harts, HartInterrupts& interrupts)
    : RegisterDevice(name, kClintRegisters),
      EventHandler(queue),
      queue_(queue),
      clock_(timer_mhz),
      interrupts_(interrupts),
      harts_(harts),
      generation_(harts, 0) {
  registers_.on_read(CLINT_MTIME_OFFSET, [this](uint32_t) { return mtime(queue_.now()); });
  registers_.on_write(CLINT_MTIME_OFFSET, [this](const RegisterBank::Write& write) {
    offset_ = write.held - clock_.cycle_at(queue_.now());
    for (unsigned hart = 0; hart < harts_; ++hart) update(hart);
  });
  registers_.on_write(CLINT_MSIP_OFFSET, [this](const RegisterBank::Write& write) {
    if (write.index >= harts_) return;
    interrupts_.set_interrupt(write.index, riscv::kInterruptSoftware, (write.held & 1) != 0);
  });
  registers_.on_write(CLINT_MTIMECMP_OFFSET, [this](const RegisterBank::Write& write) {
    if (write.index < harts_) update(write.index);
  });
}

void Clint::on_event(uint64_t tag) {
  const unsigned hart = static_cast<unsigned>(tag & 0xFF);
  if (tag >> 8 == generation_[hart]) update(hart);
}

void Clint::update(unsigned hart) {
  const uint64_t compare = registers_[CLINT_MTIMECMP_OFFSET + 8 * hart];
  const bool pending = mtime(queue_.now()) >= compare;
  ++generation_[hart];
  Time fires = kNever;
  // Beyond this many ticks femtoseconds do not fit 64 bits (an hour is far below).
  const uint64_t last_tick = clock_.cycle_at(kNever / 2);
  if (!pending && compare - offset_ < last_tick) {
    fires = clock_.edge(compare - offset_);
    queue_.schedule(fires, *this, generation_[hart] << 8 | hart);
  }
  interrupts_.set_timer(hart, fires);
  interrupts_.set_interrupt(hart, riscv::kInterruptTimer, pending);
}

// Interrupt controller

Intc::Intc(const sc_core::sc_module_name& name, unsigned harts, unsigned node,
           HartInterrupts& interrupts)
    : RegisterDevice(name, kIntcRegisters), interrupts_(interrupts), harts_(harts) {
  registers_[INTC_NODE_OFFSET] = node;
  registers_.on_read(INTC_PENDING_OFFSET, [this](uint32_t) { return levels_; });
  registers_.on_read(INTC_CLAIM_OFFSET, [this](uint32_t hart) {
    return hart < harts_ ? claim(hart) : registers_[INTC_CLAIM_OFFSET_AT(hart)];
  });
  registers_.on_write(INTC_CLAIM_OFFSET, [this](const RegisterBank::Write& write) {
    if (write.bits < STRETTO_IRQ_COUNT) claimed_ &= ~(uint64_t{1} << write.bits);
  });
  registers_.on_update([this] { update(); });
}

void Intc::set(unsigned line, bool level) {
  assert(line > 0 && line < STRETTO_IRQ_COUNT);
  const uint64_t bit = uint64_t{1} << line;
  const uint64_t levels = level ? levels_ | bit : levels_ & ~bit;
  if (levels == levels_) return;
  levels_ = levels;
  update();
}

uint64_t Intc::active(unsigned hart) const {
  return levels_ & ~claimed_ & registers_[INTC_ENABLE_OFFSET + 8 * hart];
}

void Intc::update() {
  for (unsigned hart = 0; hart < harts_; ++hart) {
    interrupts_.set_interrupt(hart, riscv::kInterruptExternal, active(hart) != 0);
  }
}

uint64_t Intc::claim(unsigned hart) {
  const uint64_t lines = active(hart);
  if (lines == 0) return 0;
  const unsigned line = static_cast<unsigned>(std::countr_zero(lines));
  claimed_ |= uint64_t{1} << line;
  update();
  return line;
}

// Doorbells

Doorbells::Doorbells(const sc_core::sc_module_name& name, InterruptLine& line)
    : RegisterDevice(name, kDoorbellRegisters), line_(line) {
  registers_.on_write(DOORBELL_PENDING_OFFSET, [this](const RegisterBank::Write& write) {
    if (write.held == 0) line_.set(STRETTO_IRQ_DOORBELL, false);
  });
}

void Doorbells::ring(unsigned queue, uint64_t value) {
  assert(queue < DOORBELL_VALUE_COUNT);
  registers_[DOORBELL_VALUE_OFFSET + 8 * queue] = value;
  registers_[DOORBELL_PENDING_OFFSET] |= uint64_t{1} << queue;
  ++rings_;
  line_.set(STRETTO_IRQ_DOORBELL, true);
}

// UART

Uart::Uart(const sc_core::sc_module_name& name, const std::string& where)
    : RegisterDevice(name, kUartRegisters) {
  registers_.on_write(UART_TX_OFFSET, [this](const RegisterBank::Write& write) {
    put(static_cast<char>(write.bits));
  });
  if (where == "none") return;
  if (where == "stdout") {
    file_ = stdout;
    return;
  }
  // Without O_NONBLOCK the open of a pipe waits until somebody reads from it.
  const int descriptor =
      open(where.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0644);
  if (descriptor >= 0) file_ = fdopen(descriptor, "w");
  if (file_ == nullptr)
    throw UserError("cp.uart: cannot write " + where + ": " + std::strerror(errno));
}

Uart::~Uart() {
  flush();
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void Uart::flush() {
  if (file_ != nullptr && !line_.empty()) {
    std::fwrite(line_.data(), 1, line_.size(), file_);
    std::fflush(file_);
  }
  if (!line_.empty()) last_line_ = line_;
  line_.clear();
}

void Uart::put(char character) {
  ++characters_;
  line_ += character;
  if (character == '\n') flush();
}

}  // namespace stretto
