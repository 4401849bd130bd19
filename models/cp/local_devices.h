// SPDX-License-Identifier: Apache-2.0
// The command processor's own devices, registers from sw/include/regs/cp.yaml: Clint (timer and
// software interrupts), Intc (interrupt controller), Doorbells, Uart. All answer at once; the bus
// adds its time.
//
// A device tells its owner about a change of a hart's interrupt through HartInterrupts.
#ifndef STRETTO_MODELS_CP_LOCAL_DEVICES_H_
#define STRETTO_MODELS_CP_LOCAL_DEVICES_H_

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "models/common/clock_domain.h"
#include "models/common/event_queue.h"
#include "models/common/interrupt_line.h"
#include "models/common/register_bank.h"

namespace stretto {

// The interrupt inputs of the harts; `number` is the bit in mip.
class HartInterrupts {
 public:
  virtual ~HartInterrupts() = default;
  virtual void set_interrupt(unsigned hart, unsigned number, bool level) = 0;
  // When mtime reaches the hart's mtimecmp; kNever if not in sight. For harts that must not run
  // past it.
  virtual void set_timer(unsigned hart, Time fires) = 0;
};

// A device on the CP's bus that is nothing but registers.
class RegisterDevice : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<RegisterBank> csr;

 protected:
  template <size_t kSize>
  RegisterDevice(const sc_core::sc_module_name& name, const RegisterInfo (&table)[kSize])
      : sc_core::sc_module(name), csr("csr"), registers_(table) {
    csr.register_b_transport(&registers_, &RegisterBank::b_transport);
  }

  RegisterBank registers_;
};

class Clint final : public RegisterDevice, private EventHandler {
 public:
  Clint(const sc_core::sc_module_name& name, EventQueue& queue, uint32_t timer_mhz, unsigned harts,
        HartInterrupts& interrupts);
  uint64_t mtime(Time at) const { return clock_.cycle_at(at) + offset_; }

 private:
  void on_event(uint64_t tag) override;
  void update(unsigned hart);

  EventQueue& queue_;
  ClockDomain clock_;
  HartInterrupts& interrupts_;
  unsigned harts_;
  uint64_t offset_ = 0;  // What software added by writing mtime.
  std::vector<uint64_t>
      generation_;  // Events of an older one are of an mtimecmp that was replaced.
};

class Intc final : public RegisterDevice, public InterruptLine {
 public:
  Intc(const sc_core::sc_module_name& name, unsigned harts, unsigned node,
       HartInterrupts& interrupts);
  void set(unsigned line, bool level) override;

 private:
  uint64_t claim(unsigned hart);
  uint64_t active(unsigned hart) const;
  void update();

  HartInterrupts& interrupts_;
  unsigned harts_;
  uint64_t levels_ = 0;   // Written by the devices.
  uint64_t claimed_ = 0;  // Lines between claim and completion.
};

class Doorbells final : public RegisterDevice {
 public:
  Doorbells(const sc_core::sc_module_name& name, InterruptLine& line);
  // REQUIRES: queue < 16.
  void ring(unsigned queue, uint64_t value);
  uint64_t rings() const { return rings_; }

 private:
  InterruptLine& line_;
  uint64_t rings_ = 0;
};

// Writes whole lines, so that lines of several GPUs do not mix.
class Uart final : public RegisterDevice {
 public:
  // `where`: "stdout", "none" or a file, which is created; throws UserError if it cannot be.
  Uart(const sc_core::sc_module_name& name, const std::string& where);
  ~Uart() override;
  void flush();
  uint64_t characters() const { return characters_; }
  const std::string& last_line() const { return last_line_; }

 private:
  void put(char character);

  std::FILE* file_ = nullptr;  // Null: none.
  std::string line_;
  std::string last_line_;
  uint64_t characters_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_CP_LOCAL_DEVICES_H_
