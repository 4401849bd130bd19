// SPDX-License-Identifier: Apache-2.0
// A payload inside the HBM, from BEGIN_REQ to its last atom, and the pool of such requests.
#ifndef STRETTO_MODELS_HBM_REQUEST_H_
#define STRETTO_MODELS_HBM_REQUEST_H_

#include <cstdint>
#include <vector>

#include "models/common/event_queue.h"
#include "models/common/huge_allocator.h"
#include "models/common/payload_extension.h"

namespace stretto {

// HbmRequest::source of the Tracker's own accesses.
inline constexpr uint16_t kSpillSource = 0xFFFF;

// One cache line, since every atom touches it.
struct alignas(64) HbmRequest {
  tlm::tlm_generic_payload* payload = nullptr;  // Null: the Tracker's.
  uint8_t* data = nullptr;
  uint64_t done_cycle = 0;       // Latest completion of its atoms so far.
  uint64_t tracked_address = 0;  // The address as sent, 48 bits.
  Time arrival = 0;
  uint32_t bytes_left = 0;  // Not yet issued to DRAM.
  uint32_t wg_id = 0;
  uint32_t spill_index = 0;
  uint16_t source = 0;  // Socket, or kSpillSource.
  // Segments that no channel has admitted yet, of a write of which an AdmissionSink hears.
  uint16_t outside = 0;
  uint8_t wf_id = 0;
  bool tracked = false;
  bool tags_only : 1 = false;
  bool enabled : 1 = false;   // The payload has byte enables.
  bool multiply : 1 = false;  // Of an update.
  Operation operation = Operation::read;
  Stream stream = Stream::compute;
  ElementType element = ElementType::fp16;
  uint8_t account = STRETTO_ACCOUNT_OTHER;
  uint8_t parts = 1;
};
static_assert(sizeof(HbmRequest) == 64);

// Bytes that count as a half-word at the Tracker, of updates of such elements: one of FP8 counts as
// one of FP16 does, so that rows of an odd number of bytes can be counted.
inline constexpr unsigned tracked_unit(ElementType element) { return is_fp8(element) ? 1 : 2; }

// Requests by index, which stays valid while a request lives; storage grows to the high-water mark
// and stays.
class HbmRequestPool {
 public:
  HbmRequestPool() { grow(); }
  uint32_t acquire() {
    if (free_.empty()) grow();
    const uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void release(uint32_t index) { free_.push_back(index); }
  HbmRequest& operator[](uint32_t index) { return blocks_[index / kBlock][index % kBlock]; }
  const HbmRequest& operator[](uint32_t index) const {
    return blocks_[index / kBlock][index % kBlock];
  }
  uint32_t live() const { return static_cast<uint32_t>(blocks_.size() * kBlock - free_.size()); }

 private:
  static constexpr uint32_t kBlock = 1024;
  void grow() {
    const uint32_t first = static_cast<uint32_t>(blocks_.size()) * kBlock;
    blocks_.emplace_back(kBlock);
    free_.reserve(first + kBlock);
    for (uint32_t i = kBlock; i-- > 0;) free_.push_back(first + i);
  }
  std::vector<std::vector<HbmRequest, HugeAllocator<HbmRequest>>> blocks_;  // Blocks never move.
  std::vector<uint32_t> free_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_REQUEST_H_
