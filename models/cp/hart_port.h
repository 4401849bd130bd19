// SPDX-License-Identifier: Apache-2.0
// HartPort: what a hart of the command processor sees as memory, inlined into the ISS run loop.
//
// SRAM and L1 hits are served at once, at the hart's local time. Everything else is noted in
// request() and answered kPending; CpHart carries it out in the calendar. Where an address belongs
// (sw/include/formats/address_map.h):
//   SRAM of node 0            direct, single cycle; an aligned store to `tohost` yields
//   private memory of node 0  if it is there: the GPU's memory at STRETTO_PRIVATE_OFFSET, as below
//   rest of node 0            peripheral bus, never cached, aligned accesses only
//   this GPU's memory         L1 data cache, then the L2; an access that crosses a line is address-misaligned
//   this GPU's aperture       access fault (doorbells are rung from outside; inside there is the bus)
//   any other node            aligned stores only, uncached, through L2 and links; loads are access faults
// Code is fetched from SRAM, and from private memory through the L1 instruction cache, which has tags
// only: a hart waits for lines that are not there. Elsewhere is an instruction access fault.
#ifndef STRETTO_MODELS_CP_HART_PORT_H_
#define STRETTO_MODELS_CP_HART_PORT_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>

#include "models/common/l1_cache.h"
#include "models/common/memory_image.h"
#include "models/common/store_buffer.h"
#include "models/cp/cp_spec.h"
#include "models/riscv/hart.h"
#include "models/riscv/reservation_set.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/private_memory.h"

namespace stretto {

class HartPort;
using CpCore = riscv::Hart<HartPort>;

enum class Region : uint8_t { sram, bus, memory, remote, nothing };

class HartPort {
 public:
  static constexpr bool kMachineMode = true;
  static constexpr bool kCompressed = true;
  static constexpr bool kWatchCodeWrites = false;  // fence.i, as the architecture asks
  static constexpr bool kFetchTiming = true;

  static constexpr uint64_t kNoAddress = ~uint64_t{0};

  // What the hart waits for; valid after kPending.
  struct Request {
    riscv::PendingAccess::Kind kind = riscv::PendingAccess::Kind::kNone;
    Region region = Region::nothing;
    uint64_t address = 0;  // Of private memory: in the GPU's.
    unsigned bytes = 0;
    uint64_t value = 0;  // Of a store.
    riscv::AmoRequest amo{};
    riscv::FenceRequest fence{};
    bool fences_private = true;  // What orders memory reaches private lines, too.
  };

  // What the port needs beside its own cache; all outlive it.
  struct Surroundings {
    unsigned hart = 0;
    uint8_t gpu = 0;
    uint8_t* sram = nullptr;                        // STRETTO_SRAM_BYTES
    riscv::ReservationSet* reservations = nullptr;  // On SRAM, of all harts.
    MemoryImage* const* memory = nullptr;           // Of the GPU: code in private memory.
    std::function<uint64_t()> mtime;                // At the hart's local time.
    std::function<void(riscv::Cause, uint64_t value, uint64_t pc)> on_trap;
  };

  HartPort(const Surroundings& surroundings, const CpSpec& spec);

  bool fetch(uint64_t address, uint16_t& parcel) {
    const uint64_t offset = address - STRETTO_SRAM_BASE;
    if (offset > STRETTO_SRAM_BYTES - 2) return fetch_private(address, parcel);
    std::memcpy(&parcel, sram_ + offset, 2);
    return true;
  }
  bool fetched(uint64_t pc, uint32_t bytes) {
    return pc - STRETTO_PRIVATE_BASE >= private_bytes_ || is_in_code_cache(pc, bytes);
  }

  template <class T>
  riscv::MemStatus load(uint64_t address, T& value, uint64_t& extra_cycles) {
    const uint64_t offset = address - STRETTO_SRAM_BASE;
    if (offset <= STRETTO_SRAM_BYTES - sizeof(T)) [[likely]] {
      std::memcpy(&value, sram_ + offset, sizeof(T));
      return riscv::MemStatus::kDone;
    }
    address = in_memory(address);
    const uint64_t in_line = address % L1Cache::kLineBytes;
    if (in_line <= L1Cache::kLineBytes - sizeof(T)) [[likely]] {
      const uint32_t slot = cache_.lookup(address >> L1Cache::kLineShift);
      if (slot != L1Cache::kMiss) [[likely]] {
        std::memcpy(&value, cache_.bytes(slot) + in_line, sizeof(T));
        ++hits_;
        extra_cycles = hit_cycles_;
        return riscv::MemStatus::kDone;
      }
      if (buffer_.forward(address >> L1Cache::kLineShift, in_line, sizeof(T), &value, true)) {
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
    address = in_memory(address);
    const uint64_t in_line = address % L1Cache::kLineBytes;
    if (in_line <= L1Cache::kLineBytes - sizeof(T)) [[likely]] {
      const uint32_t slot = cache_.lookup(address >> L1Cache::kLineShift);
      if (slot != L1Cache::kMiss) [[likely]] {
        std::memcpy(cache_.bytes(slot) + in_line, &value, sizeof(T));
        cache_.mark_dirty(slot, byte_mask(in_line, sizeof(T)));
        ++hits_;
        return riscv::MemStatus::kDone;
      }
      if (buffer_.merge(address >> L1Cache::kLineShift, in_line, sizeof(T), &value))
        return riscv::MemStatus::kDone;
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
  bool is_private(uint64_t line) const {
    return line - (private_at_ >> L1Cache::kLineShift) < private_bytes_ >> L1Cache::kLineShift;
  }

  const Request& request() const { return request_; }
  L1Cache& cache() { return cache_; }
  StoreBuffer& buffer() { return buffer_; }
  bool has_store_buffer() const { return buffer_.exists(); }
  L1Cache& code_cache() { return *code_cache_; }  // REQUIRES: private memory is there.
  bool has_private_memory() const { return private_bytes_ != 0; }
  // An acquire; `all`: private lines, too. REQUIRES: no line of these is dirty.
  void drop_lines(bool all);
  uint64_t hits() const { return hits_; }
  uint64_t sram_word(uint64_t address) const;  // REQUIRES: 8 bytes in SRAM.
  // The 8 bytes whose stores end the run; kNoAddress: none.
  void set_tohost(uint64_t address) { tohost_ = address; }

 private:
  // Where the GPU's memory has what lies at an address of private memory; others stay.
  uint64_t in_memory(uint64_t address) const {
    const uint64_t offset = address - STRETTO_PRIVATE_BASE;
    return offset < private_bytes_ ? private_at_ + offset : address;
  }
  bool fetch_private(uint64_t address, uint16_t& parcel) const;
  bool is_in_code_cache(uint64_t pc, uint32_t bytes);
  bool has_dirty_lines(bool all) const;
  riscv::MemStatus start(riscv::PendingAccess::Kind kind, uint64_t address, unsigned bytes,
                         uint64_t value);

  Surroundings around_;
  uint8_t* const sram_;
  L1Cache cache_;
  StoreBuffer buffer_;
  const uint64_t hit_cycles_;  // Beside the issue slot.
  const uint64_t private_at_;
  const uint64_t private_bytes_;  // 0: there is none.
  const bool fences_reach_private_;
  std::optional<L1Cache> code_cache_;
  uint64_t tohost_ = kNoAddress;
  uint64_t hits_ = 0;
  Request request_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_CP_HART_PORT_H_
