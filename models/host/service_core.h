// SPDX-License-Identifier: Apache-2.0
// ServiceCore: a core of the host that is modelled instruction by instruction (RV64IMAC, user mode),
// as a program of HostCore. Other host programs are native functions that charge what they cost;
// this one is for software whose cost is the question, and which runs on other processors, too.
//
// What its program sees, by the node of an address (sw/include/formats/address_map.h):
//   node 0         its own memory, kOwnBytes from kOwnBase on: code, data, stack; always in its first cache
//   host memory    loads through the caches of line_caches.h, stores at once
//   other nodes    PCIe: a load waits for a read of its 1 to 8 bytes (processors read device memory of
//                  their machine in no larger pieces), a store is posted and costs host.write_ns
// Ecalls: exit (93) and write (64), which collects text. CSR time counts nanoseconds.
//
// Invariants
//  1 A load of host memory finds what was written there at its time, neither earlier nor later: the
//    core runs ahead only up to where the next write of a device can come.
//  2 Stores, and all that crosses PCIe, happen at the core's time.
//  3 busy + waiting = the time from begin to end.
#ifndef STRETTO_MODELS_HOST_SERVICE_CORE_H_
#define STRETTO_MODELS_HOST_SERVICE_CORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/common/clock_domain.h"
#include "models/common/elf_image.h"
#include "models/common/spec.h"
#include "models/host/host.h"
#include "models/host/line_caches.h"
#include "models/riscv/hart.h"

namespace stretto {

struct ServiceCoreSpec {
  uint32_t mhz = 4'000;
  uint32_t ipc_percent = 200;
  uint32_t l1_kib = 64, l1_ways = 2;
  uint32_t l2_kib = 2'048, l2_ways = 8, l2_cycles = 8;
  uint32_t l3_kib = 16'384, l3_ways = 16, l3_cycles = 20;
  uint32_t memory_ns = 90;

  // The first relation between parameters that does not hold, in words; empty if all is well.
  std::string check() const;
};

void describe(ServiceCoreSpec& spec, ParameterSet& set);

class ServiceCore final : private HostMemoryWatcher {
 public:
  static constexpr uint64_t kOwnBase = 0x8000'0000;
  static constexpr uint64_t kOwnBytes = 0x10'0000;

  struct Counters {
    uint64_t instructions = 0;
    uint64_t loads[LineCaches::levels] = {};  // Of host memory, by where they found it.
    uint64_t device_loads = 0;
    uint64_t device_stores = 0;
    Time busy = 0;     // Instructions and caches.
    Time waiting = 0;  // For PCIe.
  };

  // Throws UserError if the image does not fit into its own memory.
  ServiceCore(const ServiceCoreSpec& spec, const ElfImage& image);
  ~ServiceCore() override;

  // Runs the program on `core` from its entry to its exit, with arguments in a0 and a1. Returns its
  // exit status. CheckError: it did what it cannot. Call once.
  int run(HostCore& core, uint64_t a0, uint64_t a1);

  const std::string& output() const { return output_; }
  const Counters& counters() const { return counters_; }

 private:
  class Port {
   public:
    static constexpr bool kMachineMode = false;
    static constexpr bool kCompressed = true;
    static constexpr bool kWatchCodeWrites = false;
    static constexpr bool kFetchTiming = false;

    explicit Port(ServiceCore& owner) : owner_(owner), own_(owner.own_.data()) {}
    bool fetch(uint64_t address, uint16_t& parcel);
    template <class T>
    riscv::MemStatus load(uint64_t address, T& value, uint64_t&) {
      if (address - kOwnBase <= kOwnBytes - sizeof(T)) [[likely]] {
        std::memcpy(&value, own_ + (address - kOwnBase), sizeof(T));
        return riscv::MemStatus::kDone;
      }
      return outside(address, sizeof(T));
    }
    template <class T>
    riscv::MemStatus store(uint64_t address, T value, uint64_t&) {
      if (address - kOwnBase <= kOwnBytes - sizeof(T)) [[likely]] {
        std::memcpy(own_ + (address - kOwnBase), &value, sizeof(T));
        return riscv::MemStatus::kDone;
      }
      value_ = value;
      return outside(address, sizeof(T));
    }
    // The program shares no word with other threads that all write.
    riscv::MemStatus amo(const riscv::AmoRequest&, uint64_t&, uint64_t&) {
      return riscv::MemStatus::kFault;
    }
    // Caches are coherent, and what is posted stays in order.
    riscv::MemStatus fence(const riscv::FenceRequest&, uint64_t&) {
      return riscv::MemStatus::kDone;
    }
    bool csr_read(uint32_t csr, uint64_t& value);
    bool csr_write(uint32_t, uint64_t) { return false; }
    uint64_t store_value() const { return value_; }

   private:
    static riscv::MemStatus outside(uint64_t address, unsigned bytes);

    ServiceCore& owner_;
    uint8_t* const own_;
    uint64_t value_ = 0;
  };

  Time local_time() const { return begin_ + slots_.edge(hart_.cycles()); }
  void reach_local_time();  // What the core has run ahead passes.
  void catch_up();          // It has waited: its clock goes on from now.
  void access();
  bool call(int& status);  // True: the program has ended.
  [[noreturn]] void fail(const std::string& what) const;
  void on_host_write(uint64_t offset, uint64_t bytes) override;

  const ServiceCoreSpec spec_;
  const ElfImage& image_;
  const ClockDomain slots_;  // In which an instruction of cost 1 retires.
  std::vector<uint8_t> own_;
  LineCaches caches_;
  riscv::CodeCache code_;
  Port port_;
  riscv::Hart<Port> hart_;
  HostCore* core_ = nullptr;  // While it runs.
  Time begin_ = 0;
  std::string output_;
  Counters counters_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HOST_SERVICE_CORE_H_
