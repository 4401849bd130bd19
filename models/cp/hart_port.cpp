// SPDX-License-Identifier: Apache-2.0
// The paths of a hart's accesses that are not hot: where an address belongs, atomics, fences.
#include "models/cp/hart_port.h"

#include <cassert>

#include "sw/include/formats/nic.h"

namespace stretto {

using riscv::AmoOp;
using riscv::MemStatus;
using Kind = riscv::PendingAccess::Kind;

namespace {

constexpr uint8_t kFenceRead = 2;  // Bits of predecessor and successor.
constexpr uint8_t kFenceWrite = 1;
constexpr uint8_t kFenceDevices = 12;

}  // namespace

HartPort::HartPort(const Surroundings& surroundings, const CpSpec& spec)
    : around_(surroundings),
      sram_(surroundings.sram),
      cache_(spec.l1d_kib * 1024, spec.l1d_ways),
      buffer_(spec.store_buffer),
      hit_cycles_(spec.l1d_hit_cycles - 1),
      private_at_(((uint64_t{surroundings.gpu} + 1) << STRETTO_NODE_SHIFT) +
                  STRETTO_PRIVATE_OFFSET),
      private_bytes_(spec.private_memory == PrivateMemory::gpu ? STRETTO_PRIVATE_BYTES : 0),
      fences_reach_private_(spec.fenced == Fenced::all) {
  if (private_bytes_ != 0) code_cache_.emplace(spec.l1i_kib * 1024, spec.l1i_ways);
}

bool HartPort::fetch_private(uint64_t address, uint16_t& parcel) const {
  const uint64_t offset = address - STRETTO_PRIVATE_BASE;
  if (private_bytes_ == 0 || offset > private_bytes_ - 2) return false;
  uint8_t bytes[2];
  (*around_.memory)->read(STRETTO_PRIVATE_OFFSET + offset, bytes, 2);
  std::memcpy(&parcel, bytes, 2);
  return true;
}

// All of these lines; else they are what the hart waits for.
bool HartPort::is_in_code_cache(uint64_t pc, uint32_t bytes) {
  const uint64_t address = in_memory(pc);
  bool all = true;
  for (uint64_t line = address >> L1Cache::kLineShift;
       line <= (address + bytes - 1) >> L1Cache::kLineShift; ++line)
    all &= code_cache_->lookup(line) != L1Cache::kMiss;
  if (all) return true;
  request_ = {};
  request_.kind = Kind::kFetch;
  request_.region = Region::memory;
  request_.address = address;
  request_.bytes = bytes;
  return false;
}

bool HartPort::has_dirty_lines(bool all) const {
  if (all || cache_.dirty_lines() == 0) return cache_.dirty_lines() != 0;
  for (uint32_t slot = 0; slot < cache_.slots(); ++slot)
    if (cache_.dirty(slot) != 0 && !is_private(cache_.line_of(slot))) return true;
  return false;
}

void HartPort::drop_lines(bool all) {
  if (all) return cache_.drop_all();
  for (uint32_t slot = 0; slot < cache_.slots(); ++slot)
    if (cache_.valid(slot) && !is_private(cache_.line_of(slot))) cache_.drop(slot);
}

Region HartPort::region_of(uint64_t address, unsigned bytes) const {
  if (address >> 48 != 0) return Region::nothing;
  const uint64_t node = address >> STRETTO_NODE_SHIFT;
  const uint64_t offset = address & STRETTO_OFFSET_MASK;
  if (node == STRETTO_NODE_LOCAL) {
    const bool sram = offset - STRETTO_SRAM_BASE <= STRETTO_SRAM_BYTES - bytes;
    return sram ? Region::sram : Region::bus;
  }
  if (node == around_.gpu + 1u) {
    return offset + bytes <= STRETTO_GPU_MEMORY_LIMIT ? Region::memory : Region::nothing;
  }
  const bool is_nic = node >= STRETTO_NODE_NIC && node < STRETTO_NODE_NIC + STRETTO_MAX_SERVERS;
  const bool is_remote = node <= STRETTO_MAX_GPUS || is_nic || node == STRETTO_NODE_SWITCH ||
                         node == STRETTO_NODE_HOST;
  return is_remote ? Region::remote : Region::nothing;
}

MemStatus HartPort::start(Kind kind, uint64_t address, unsigned bytes, uint64_t value) {
  const Region region = region_of(address, bytes);
  if (region == Region::nothing || (region == Region::remote && kind == Kind::kLoad))
    return MemStatus::kFault;
  const bool aligned = address % bytes == 0;
  const bool in_one_line = address % L1Cache::kLineBytes + bytes <= L1Cache::kLineBytes;
  if (region == Region::memory ? !in_one_line : !aligned) return MemStatus::kMisaligned;
  request_ = {};
  request_.kind = kind;
  request_.region = region;
  request_.address = address;
  request_.bytes = bytes;
  request_.value = value;
  return MemStatus::kPending;
}

MemStatus HartPort::amo(const riscv::AmoRequest& request, uint64_t& result,
                        uint64_t& extra_cycles) {
  const uint64_t address = in_memory(request.addr);
  const Region region = region_of(address, request.size_bytes);
  if (region == Region::memory) {
    request_ = {};
    request_.kind = Kind::kAmo;
    request_.region = region;
    request_.address = address;
    request_.bytes = request.size_bytes;
    request_.amo = request;
    request_.amo.addr = address;
    request_.fences_private = fences_reach_private_;
    return MemStatus::kPending;
  }
  if (region != Region::sram) return MemStatus::kFault;
  uint8_t* const word = sram_ + (request.addr - STRETTO_SRAM_BASE);
  uint64_t value = 0;
  std::memcpy(&value, word, request.size_bytes);
  extra_cycles = 1;  // Read and write are a cycle each.
  uint64_t stored = request.operand;
  switch (request.op) {
    case AmoOp::kLoadReserved:
      around_.reservations->reserve(around_.hart, request.addr);
      result = value;
      return MemStatus::kDone;
    case AmoOp::kStoreConditional:
      result = around_.reservations->claim(around_.hart, request.addr) ? 0 : 1;
      if (result != 0) return MemStatus::kDone;
      break;
    default:
      result = value;
      stored = riscv::apply_amo(request.op, request.size_bytes, value, request.operand);
      around_.reservations->note_store(around_.hart, request.addr);
      break;
  }
  std::memcpy(word, &stored, request.size_bytes);
  return request.addr - tohost_ < 8 ? MemStatus::kDoneYield : MemStatus::kDone;
}

// A fence whose predecessors hold writes is a release: dirty bytes go to memory. One whose
// successors hold reads is an acquire: all lines are dropped, dirty ones after they went to memory.
// Bus accesses are in order anyway. Whether private lines are among these: fences_reach_private_, or
// the fence names devices. fence.i drops the instruction cache.
MemStatus HartPort::fence(const riscv::FenceRequest& request, uint64_t&) {
  if (request.instruction) {  // The ISS has forgotten the decoded code.
    if (code_cache_) code_cache_->drop_all();
    return MemStatus::kDone;
  }
  const bool release = (request.predecessor & kFenceWrite) != 0;
  const bool acquire = (request.successor & kFenceRead) != 0;
  const bool all =
      fences_reach_private_ || ((request.predecessor | request.successor) & kFenceDevices) != 0;
  if (!has_dirty_lines(all) && (buffer_.empty() || !release)) {
    if (acquire) drop_lines(all);
    return MemStatus::kDone;
  }
  if (!release && !acquire) return MemStatus::kDone;
  request_ = {};
  request_.kind = Kind::kFence;
  request_.region = Region::memory;
  request_.fence = request;
  request_.fences_private = all;
  return MemStatus::kPending;
}

bool HartPort::csr_read(uint32_t csr, uint64_t& value) {
  constexpr uint32_t kTime = 0xC01;
  if (csr != kTime) return false;
  value = around_.mtime();
  return true;
}

uint64_t HartPort::sram_word(uint64_t address) const {
  assert(address - STRETTO_SRAM_BASE <= STRETTO_SRAM_BYTES - 8);
  uint64_t value = 0;
  std::memcpy(&value, sram_ + (address - STRETTO_SRAM_BASE), 8);
  return value;
}

}  // namespace stretto
