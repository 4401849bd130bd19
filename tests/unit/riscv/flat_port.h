// SPDX-License-Identifier: Apache-2.0
// The plainest memory port for a hart: one RAM, `tohost`, optional regions that answer "pending",
// and custom CSRs. Used by the ISS tests and its benchmark.
#ifndef STRETTO_TESTS_UNIT_RISCV_FLAT_PORT_H_
#define STRETTO_TESTS_UNIT_RISCV_FLAT_PORT_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "models/riscv/hart.h"
#include "models/riscv/reservation_set.h"

namespace stretto::riscv::test {

template <bool MachineMode>
class FlatPort {
 public:
  static constexpr bool kMachineMode = MachineMode;
  static constexpr bool kCompressed = MachineMode;
  static constexpr bool kWatchCodeWrites = MachineMode;
  static constexpr bool kFetchTiming = false;

  static constexpr uint64_t kRamBase = 0x80000000;
  static constexpr uint64_t kNothing = ~uint64_t{0};

  explicit FlatPort(uint64_t ram_bytes) : ram_(ram_bytes), reservations_(1) {}

  bool fetch(uint64_t addr, uint16_t& parcel) {
    if (!in_ram(addr, 2)) return false;
    std::memcpy(&parcel, &ram_[addr - kRamBase], 2);
    return true;
  }
  template <class T>
  MemStatus load(uint64_t addr, T& value, uint64_t& extra_cycles) {
    if (in_ram(addr, sizeof(T))) [[likely]] {
      std::memcpy(&value, &ram_[addr - kRamBase], sizeof(T));
      return MemStatus::kDone;
    }
    if (addr - slow_base_ < slow_bytes_) return MemStatus::kPending;
    if (addr - yield_base_ < 8) {
      value = static_cast<T>(0x1122334455667788u);
      extra_cycles = 10;
      return MemStatus::kDoneYield;
    }
    return MemStatus::kFault;
  }
  template <class T>
  MemStatus store(uint64_t addr, T value, uint64_t& extra_cycles) {
    if (in_ram(addr, sizeof(T))) [[likely]] {
      reservations_.note_store(0, addr);
      std::memcpy(&ram_[addr - kRamBase], &value, sizeof(T));
      if (addr == tohost_) [[unlikely]]
        return MemStatus::kDoneYield;
      return MemStatus::kDone;
    }
    if (addr - slow_base_ < slow_bytes_) {
      slow_value_ = value;
      return MemStatus::kPending;
    }
    if (addr - yield_base_ < 8) {
      extra_cycles = 10;
      return MemStatus::kDoneYield;
    }
    return MemStatus::kFault;
  }
  MemStatus amo(const AmoRequest& request, uint64_t& result, uint64_t&) {
    last_amo_ = request;
    if (request.addr - slow_base_ < slow_bytes_) return MemStatus::kPending;
    if (!in_ram(request.addr, request.size_bytes)) return MemStatus::kFault;
    uint64_t value = 0;
    std::memcpy(&value, &ram_[request.addr - kRamBase], request.size_bytes);
    result = value;
    if (request.op == AmoOp::kLoadReserved) {
      reservations_.reserve(0, request.addr);
      return MemStatus::kDone;
    }
    if (request.op == AmoOp::kStoreConditional) {
      const bool success = reservations_.claim(0, request.addr);
      result = success ? 0 : 1;
      if (success)
        std::memcpy(&ram_[request.addr - kRamBase], &request.operand, request.size_bytes);
      return MemStatus::kDone;
    }
    const uint64_t updated = apply_amo(request.op, request.size_bytes, value, request.operand);
    std::memcpy(&ram_[request.addr - kRamBase], &updated, request.size_bytes);
    return MemStatus::kDone;
  }
  MemStatus fence(const FenceRequest& request, uint64_t&) {
    last_fence_ = request;
    ++fences_;
    return slow_fence_ ? MemStatus::kPending : MemStatus::kDone;
  }
  bool csr_read(uint32_t csr, uint64_t& value) {
    const auto it = csrs_.find(csr);
    if (it == csrs_.end()) return false;
    value = it->second;
    return true;
  }
  bool csr_write(uint32_t csr, uint64_t value) {
    if (csrs_.count(csr) == 0) return false;
    csrs_[csr] = value;
    return true;
  }

  bool in_ram(uint64_t addr, uint64_t size) const {
    return addr - kRamBase < ram_.size() && addr - kRamBase + size <= ram_.size();
  }
  template <class T>
  T peek(uint64_t addr) const {
    T value;
    std::memcpy(&value, &ram_.at(addr - kRamBase), sizeof(T));
    return value;
  }
  template <class T>
  void poke(uint64_t addr, T value) {
    std::memcpy(&ram_.at(addr - kRamBase), &value, sizeof(T));
  }

  std::vector<uint8_t> ram_;
  ReservationSet reservations_;
  uint64_t tohost_ = kNothing;
  uint64_t slow_base_ = kNothing;
  uint64_t slow_bytes_ = 0;
  uint64_t yield_base_ = kNothing;
  uint64_t slow_value_ = 0;
  bool slow_fence_ = false;
  unsigned fences_ = 0;
  FenceRequest last_fence_{};
  AmoRequest last_amo_{};
  std::map<uint32_t, uint64_t> csrs_;
};

using MachinePort = FlatPort<true>;
using WavefrontPort = FlatPort<false>;

}  // namespace stretto::riscv::test

#endif  // STRETTO_TESTS_UNIT_RISCV_FLAT_PORT_H_
