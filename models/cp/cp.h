// SPDX-License-Identifier: Apache-2.0
// Cp: the command processor of one GPU. One to four RV64IMAC harts with private non-coherent L1
// data caches, 16 MiB of SRAM, CLINT, interrupt controller, doorbells and UART. Firmware, or any
// bare-metal ELF, runs on it.
//
// Sockets and who is bound to them
//   mem       the L2 (StrettoProtocol, 48-bit addresses): for this GPU's memory 64-byte line fills, write-backs of
//             runs of dirty bytes, reads, locked_read + unlocking_write of 4 or 8 bytes; for other
//             nodes stores of 1..8 bytes, which the L2 passes to the links
//   doorbell  8-byte writes from the links at STRETTO_DOORBELL_APERTURE + 8 * queue; the node bits are ignored
//   bus       base protocol; attach(base, bytes, socket) binds a device, which sees offsets from its base
// Devices raise interrupts through set(line, level) (InterruptLine), at the calendar's now().
//
// Use: construct, bind, load(), start(), run the calendar. ComP-Net 4.2.2 for acquire,
// release and atomics.
#ifndef STRETTO_MODELS_CP_CP_H_
#define STRETTO_MODELS_CP_CP_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <tlm>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "models/common/component.h"
#include "models/common/elf_image.h"
#include "models/common/interrupt_line.h"
#include "models/common/memory_image.h"
#include "models/common/payload_pool.h"
#include "models/common/range_lookup.h"
#include "models/cp/cp_bus.h"
#include "models/cp/cp_hart.h"
#include "models/cp/cp_spec.h"
#include "models/cp/local_devices.h"

namespace stretto {

class Cp final : public sc_core::sc_module,
                 public Component,
                 public InterruptLine,
                 private HartOwner,
                 private HartInterrupts,
                 private EventHandler {
 public:
  tlm_utils::simple_initiator_socket<Cp, 32, StrettoProtocol> mem;
  tlm_utils::simple_target_socket<Cp, 32, StrettoProtocol> doorbell;
  CpBus bus;

  // REQUIRES: spec.check() is empty; `services` outlives the Cp and has a queue.
  Cp(const sc_core::sc_module_name& name, const CpSpec& spec, PartitionServices& services);
  ~Cp() override;

  // Copies the segments into the SRAM, and into private memory if that is the GPU's. Throws
  // UserError if one lies elsewhere. Call once.
  void load(std::shared_ptr<const ElfImage> image);
  // All harts start at the entry at the calendar's now(); mhartid tells them apart. Without load()
  // nothing happens.
  void start();
  // Called when a hart stores a value other than 0 to the symbol `tohost`; the Cp has halted then.
  // Value 1 = passed, (n << 1) | 1 = test n failed.
  void on_end(std::function<void(uint64_t tohost)> callback) { on_end_ = std::move(callback); }
  // How the L2 treats an address that a hart misses; without it all are cached.
  void set_ranges(const RangeLookup& ranges) { ranges_ = &ranges; }
  // Memory of the GPU, for private memory of the harts (cp.private_memory); before load().
  void set_memory(MemoryImage& memory) { memory_ = &memory; }

  void set(unsigned line, bool level) override { intc_.set(line, level); }

  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

  uint64_t instructions() const;  // Of all harts.
  // What the console said last, without the end of line.
  std::string last_words() const {
    return uart_.last_line().substr(0, uart_.last_line().find('\n'));
  }
  const CpHart& hart(unsigned index) const { return *harts_.at(index); }
  std::string symbolize(uint64_t address) const override;

 private:
  struct SramDeleter {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };
  struct Ringing {
    Time at;
    tlm::tlm_generic_payload* payload;
  };
  enum Event : uint64_t { kHart, kDoorbell };

  std::string allowed_places() const;

  void schedule(Time at, unsigned hart, uint64_t what) override;
  bool bus_access(bool write, uint64_t address, uint8_t* data, unsigned bytes,
                  Time& delay) override;
  void send(PooledPayload& payload) override;
  void on_tohost(unsigned hart, uint64_t value) override;
  uint64_t mtime(Time at) const override { return clint_.mtime(at); }
  void set_interrupt(unsigned hart, unsigned number, bool level) override;
  void set_timer(unsigned hart, Time fires) override;
  void on_event(uint64_t tag) override;

  tlm::tlm_sync_enum on_memory_answer(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                      sc_core::sc_time& delay);
  tlm::tlm_sync_enum on_doorbell(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay);
  void doorbell_b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void ring(tlm::tlm_generic_payload& payload);

  const CpSpec spec_;
  PartitionServices& services_;
  const ClockDomain clock_;
  tlm_utils::simple_initiator_socket<Cp> bus_port_;
  tlm::tlm_generic_payload bus_payload_;
  Clint clint_;
  Intc intc_;
  Doorbells doorbells_;
  Uart uart_;
  std::unique_ptr<uint8_t, SramDeleter> sram_;
  riscv::ReservationSet reservations_;
  riscv::CodeCache code_;
  const RangeLookup* ranges_ = nullptr;
  MemoryImage* memory_ = nullptr;
  std::vector<std::unique_ptr<CpHart>> harts_;
  std::vector<Ringing>
      ringing_;  // Doorbell writes between BEGIN_REQ and BEGIN_RESP, in order of arrival.
  std::shared_ptr<const ElfImage> image_;
  std::function<void(uint64_t)> on_end_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_CP_CP_H_
