// SPDX-License-Identifier: Apache-2.0
// HartPort: what a hart of the command processor sees as memory, inlined into the ISS run loop.
//
// SRAM and L1 hits are served at once, at the hart's local time. Everything else is noted in
// request() and answered kPending; CpHart carries it out in the calendar. Where an address belongs
// (sw/include/formats/address_map.h):
//   SRAM of node 0            direct, single cycle; an aligned store to `tohost` yields
//   rest of node 0            peripheral bus, never cached, aligned accesses only
//   this GPU's memory         L1 data cache, then the L2; an access that crosses a line is address-misaligned
//   this GPU's aperture       access fault (doorbells are rung from outside; inside there is the bus)
//   any other node            aligned stores only, uncached, through L2 and links; loads are access faults
// Code is fetched from SRAM only; elsewhere is an instruction access fault.
#ifndef STRETTO_MODELS_CP_HART_PORT_H_
#define STRETTO_MODELS_CP_HART_PORT_H_

#include <cstdint>
#include <cstring>
#include <functional>

#include "models/common/l1_cache.h"
#include "models/riscv/hart.h"
#include "models/riscv/reservation_set.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

class HartPort;
using CpCore = riscv::Hart<HartPort>;

enum class Region : uint8_t { sram, bus, memory, remote, nothing };

class HartPort {
 public:
  static constexpr bool kMachineMode = true;
  static constexpr bool kCompressed = true;
  static constexpr bool kWatchCodeWrites = false;  // fence.i, as the architecture asks
  static constexpr bool kFetchTiming = false;

  static constexpr uint64_t kNoAddress = ~uint64_t{0};

  // What the hart waits for; valid after kPending.
  struct Request {
    riscv::PendingAccess::Kind kind = riscv::PendingAccess::Kind::kNone;
    Region region = Region::nothing;
    uint64_t address = 0;
    unsigned bytes = 0;
    uint64_t value = 0;  // Of a store.
    riscv::AmoRequest amo{};
    riscv::FenceRequest fence{};
  };

  // What the port needs beside its own cache; all outlive it.
  struct Surroundings {
    unsigned hart = 0;
    uint8_t gpu = 0;
    uint8_t* sram = nullptr;                        // STRETTO_SRAM_BYTES
    riscv::ReservationSet* reservations = nullptr;  // On SRAM, of all harts.
    std::function<uint64_t()> mtime;                // At the hart's local time.
    std::function<void(riscv::Cause, uint64_t value, uint64_t pc)> on_trap;
  };

  HartPort(const Surroundings& surroundings, uint32_t l1_bytes, uint32_t l1_ways,
           uint32_t l1_hit_cycles)
      : around_(surroundings),
        sram_(surroundings.sram),
        cache_(l1_bytes, l1_ways),
        hit_cycles_(l1_hit_cycles - 1) {}

  bool fetch(uint64_t address, uint16_t& parcel) {
    const uint64_t offset = address - STRETTO_SRAM_BASE;
    if (offset > STRETTO_SRAM_BYTES - 2) return false;
    std::memcpy(&parcel, sram_ + offset, 2);
    return true;
  }

  template <class T>
  riscv::MemStatus load(uint64_t address, T& value, uint64_t& extra_cycles) {
    const uint64_t offset = address - STRETTO_SRAM_BASE;
    if (offset <= STRETTO_SRAM_BYTES - sizeof(T)) [[likely]] {
      std::memcpy(&value, sram_ + offset, sizeof(T));
      return riscv::MemStatus::kDone;
    }
    const uint64_t in_line = address % L1Cache::kLineBytes;
    if (in_line <= L1Cache::kLineBytes - sizeof(T)) [[likely]] {
      const uint32_t slot = cache_.lookup(address >> L1Cache::kLineShift);
      if (slot != L1Cache::kMiss) [[likely]] {
        std::memcpy(&value, cache_.bytes(slot) + in_line, sizeof(T));
        ++hits_;
        extra_cycles = hit_cycles_;
        return riscv::MemStatus::kDone;
      }
    }
    return start(riscv::PendingAccess::Kind::kLoad, address, sizeof(T), 0);
  }

  template <class T>
  riscv::MemStatus store(uint64_t address, T value, uint64_t&) {
    const uint64_t offset = address - STRETTO_SRAM_BASE;
    if (offset <= STRETTO_SRAM_BYTES - sizeof(T)) [[likely]] {
      around_.reservations->note_store(around_.hart, address);
      std::memcpy(sram_ + offset, &value, sizeof(T));
      return address - tohost_ < 8 ? riscv::MemStatus::kDoneYield : riscv::MemStatus::kDone;
    }
    const uint64_t in_line = address % L1Cache::kLineBytes;
    if (in_line <= L1Cache::kLineBytes - sizeof(T)) [[likely]] {
      const uint32_t slot = cache_.lookup(address >> L1Cache::kLineShift);
      if (slot != L1Cache::kMiss) [[likely]] {
        std::memcpy(cache_.bytes(slot) + in_line, &value, sizeof(T));
        cache_.mark_dirty(slot, byte_mask(in_line, sizeof(T)));
        ++hits_;
        return riscv::MemStatus::kDone;
      }
    }
    return start(riscv::PendingAccess::Kind::kStore, address, sizeof(T), value);
  }

  riscv::MemStatus amo(const riscv::AmoRequest& request, uint64_t& result, uint64_t& extra_cycles);
  riscv::MemStatus fence(const riscv::FenceRequest& request, uint64_t& extra_cycles);
  bool csr_read(uint32_t csr, uint64_t& value);
  bool csr_write(uint32_t, uint64_t) { return false; }
  void on_trap(riscv::Cause cause, uint64_t value, uint64_t pc) {
    around_.on_trap(cause, value, pc);
  }

  // `bytes` bits from bit `in_line`.
  static uint64_t byte_mask(uint64_t in_line, unsigned bytes) {
    return ((uint64_t{1} << bytes) - 1) << in_line;
  }
  Region region_of(uint64_t address, unsigned bytes) const;

  const Request& request() const { return request_; }
  L1Cache& cache() { return cache_; }
  uint64_t hits() const { return hits_; }
  uint64_t sram_word(uint64_t address) const;  // REQUIRES: 8 bytes in SRAM.
  // The 8 bytes whose stores end the run; kNoAddress: none.
  void set_tohost(uint64_t address) { tohost_ = address; }

 private:
  riscv::MemStatus start(riscv::PendingAccess::Kind kind, uint64_t address, unsigned bytes,
                         uint64_t value);

  Surroundings around_;
  uint8_t* const sram_;
  L1Cache cache_;
  const uint64_t hit_cycles_;  // Beside the issue slot.
  uint64_t tohost_ = kNoAddress;
  uint64_t hits_ = 0;
  Request request_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_CP_HART_PORT_H_
