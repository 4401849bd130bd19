// SPDX-License-Identifier: Apache-2.0
// Scopes of ComputeUnit: fences, .aq and .rl, and the scalar cache of shared ranges, of which they
// are the only coherence. sw/include/MEMORY_MODEL.md says what each instruction does.
#include <algorithm>
#include <cstring>

#include "models/gpu/compute_unit/compute_unit.h"

namespace stretto {

static_assert(static_cast<unsigned>(Scope::wavefront) == TILE_SCOPE_WAVEFRONT &&
              static_cast<unsigned>(Scope::work_group) == TILE_SCOPE_WORK_GROUP &&
              static_cast<unsigned>(Scope::device) == TILE_SCOPE_DEVICE &&
              static_cast<unsigned>(Scope::system) == TILE_SCOPE_SYSTEM);

// RISC-V names no scopes, and GCC sets input and output in every fence that it makes: its bits do
// not tell them either. CSR TILE_CSR_SCOPE has the scope of all that RISC-V orders.
ComputeUnit::Step ComputeUnit::fence(Wavefront& wavefront) {
  constexpr unsigned kRead = 2, kWrite = 1;  // Bits of predecessors and successors.
  Step step = Step::go_on;
  if (!operations_done(wavefront, wavefront.last, false, step)) return step;
  const riscv::FenceRequest& fence = wavefront.port.fence_request();
  return order(wavefront, {wavefront.port.scope(), (fence.successor & kRead) != 0,
                           (fence.predecessor & kWrite) != 0});
}

ComputeUnit::Step ComputeUnit::tile_fence(Wavefront& wavefront, Scope scope) {
  Step step = Step::go_on;
  if (scope != Scope::wavefront && !operations_done(wavefront, wavefront.last, true, step))
    return step;
  return order(wavefront, {scope, true, true});
}

// The wavefront's own accesses are done. Release to device scope needs no more: stores write
// through. At system scope the L2 answers when its dirty shared lines are in memory.
ComputeUnit::Step ComputeUnit::order(Wavefront& wavefront, Ordering ordering) {
  ordering.scope = std::min(ordering.scope, spec_.fault_fence_scope);
  wavefront.ordering = ordering;
  if (ordering.scope < Scope::system || !parts_.ranges->has_shared() ||
      !(ordering.acquire || ordering.release))
    return ordered(wavefront, wavefront.at);
  return send_fence(wavefront);
}

ComputeUnit::Step ComputeUnit::ordered(Wavefront& wavefront, Cycle at) {
  const Ordering& ordering = wavefront.ordering;
  if (ordering.acquire && ordering.scope >= Scope::device) forget_scalars();
  wavefront.at = std::max(wavefront.at, at);
  wavefront.state = Wavefront::State::ready;
  if (wavefront.stop == riscv::StopReason::kCustom) return finish(wavefront);
  if (wavefront.hart.pending().kind != riscv::PendingAccess::Kind::kAmo || ordering.acquire)
    return access_done(wavefront, wavefront.at, false);
  return send_scalar(wavefront);  // The AMO behind its release.
}

// Its release is a fence before it, its acquire one behind it.
ComputeUnit::Step ComputeUnit::amo(Wavefront& wavefront) {
  if (!wavefront.port.amo_request().release) return send_scalar(wavefront);
  Step step = Step::go_on;
  if (!operations_done(wavefront, wavefront.last, false, step)) return step;
  return order(wavefront, {wavefront.port.scope(), false, true});
}

ComputeUnit::Step ComputeUnit::amo_done(Wavefront& wavefront, Cycle at) {
  if (!wavefront.port.amo_request().acquire) return access_done(wavefront, at, false);
  wavefront.at = std::max(wavefront.at, at);
  return order(wavefront, {wavefront.port.scope(), true, false});
}

// The scalar cache

void ComputeUnit::begin_kernel() { forget_scalars(); }

void ComputeUnit::forget_scalars() {
  if (scalars_ == nullptr) return;
  ++counters_.scalar_drops;
  scalars_->drop_all();
}

// A scalar load of a shared range, which lies in one line; true: it hits.
bool ComputeUnit::hits_scalar(Wavefront& wavefront, uint64_t address, unsigned bytes) {
  if (scalars_ == nullptr)
    scalars_ = std::make_unique<L1Cache>(spec_.scalar_cache_kib * 1024, spec_.scalar_cache_ways);
  const uint32_t slot = scalars_->lookup(address >> L1Cache::kLineShift);
  if (slot == L1Cache::kMiss) {
    ++counters_.scalar_misses;
    return false;
  }
  ++counters_.scalar_hits;
  std::memcpy(&wavefront.word, scalars_->bytes(slot) + address % L1Cache::kLineBytes, bytes);
  return true;
}

// The L2 has read the line of a load. It is here from now on: what the unit acquires or writes
// later takes it out again.
void ComputeUnit::take_scalar_line(Wavefront& wavefront) {
  const riscv::PendingAccess& access = wavefront.hart.pending();
  std::memcpy(&wavefront.word, wavefront.line.data() + access.addr % L1Cache::kLineBytes,
              access.size_bytes);
  const uint64_t line = access.addr >> L1Cache::kLineShift;
  uint32_t slot = scalars_->find(line);
  if (slot == L1Cache::kMiss) {
    slot = scalars_->victim(line);
    scalars_->install(slot, line);
  }
  std::memcpy(scalars_->bytes(slot), wavefront.line.data(), wavefront.line.size());
}

// A write of the unit to a shared range is performed at the L2: its lines go (write-through,
// write-evict).
void ComputeUnit::drop_scalars(const tlm::tlm_generic_payload& payload,
                               const StrettoExtension& extension) {
  if (scalars_ == nullptr) return;
  const uint32_t row_bytes = extension.rows == 1 ? payload.get_data_length() : extension.row_bytes;
  for (uint32_t row = 0; row < extension.rows; ++row) {
    const uint64_t begin = payload.get_address() + row * extension.pitch;
    const uint64_t last = (begin + row_bytes - 1) >> L1Cache::kLineShift;
    for (uint64_t line = begin >> L1Cache::kLineShift; line <= last; ++line) {
      const uint32_t slot = scalars_->find(line);
      if (slot != L1Cache::kMiss) scalars_->drop(slot);
    }
  }
}

}  // namespace stretto
