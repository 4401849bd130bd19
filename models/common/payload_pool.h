// SPDX-License-Identifier: Apache-2.0
// Pool of generic payloads with their StrettoExtension attached once and for all. One pool per
// initiator; not shared between partitions. acquire() gives a transaction with reference count 1
// and a default extension; the initiator calls release() on the payload after TLM_COMPLETED.
#ifndef STRETTO_MODELS_COMMON_PAYLOAD_POOL_H_
#define STRETTO_MODELS_COMMON_PAYLOAD_POOL_H_

#include <tlm>

#include <algorithm>
#include <typeinfo>
#include <vector>

#include "models/common/event_queue.h"
#include "models/common/huge_allocator.h"
#include "models/common/payload_extension.h"

namespace stretto {

// A payload and its extension in one allocation.
struct alignas(64) PooledPayload final : tlm::tlm_generic_payload {
  PooledPayload() { set_extension(&extension); }
  ~PooledPayload() override { clear_extension(&extension); }
  StrettoExtension extension;
};

class PayloadPool final : public tlm::tlm_mm_interface {
 public:
  PooledPayload& acquire() {
    if (free_.empty()) grow();
    PooledPayload* payload = free_.back();
    free_.pop_back();
    payload->acquire();
    payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    payload->set_byte_enable_ptr(nullptr);
    payload->set_streaming_width(0);
    payload->extension.tracked = false;
    payload->extension.multiply = false;
    payload->extension.tags_only = false;
    payload->extension.rows = 1;
    payload->extension.flow = 0;
    return *payload;
  }
  void free(tlm::tlm_generic_payload* payload) override {
    free_.push_back(static_cast<PooledPayload*>(payload));
  }
  size_t outstanding() const { return size_ - free_.size(); }

 private:
  using Block = std::vector<PooledPayload, HugeAllocator<PooledPayload>>;
  void grow() {  // By as many as there are: few large blocks, in which payloads never move.
    const size_t count = std::max<size_t>(16, size_);
    Block& block = blocks_.emplace_back(count);
    free_.reserve(size_ + count);
    for (size_t i = count; i-- > 0;) {
      block[i].set_mm(this);
      free_.push_back(&block[i]);
    }
    size_ += count;
  }
  std::vector<Block> blocks_;
  size_t size_ = 0;
  std::vector<PooledPayload*> free_;
};

// The extension of any payload on a memory-side socket; null if the sender attached none (a
// protocol error). One of a pool has it beside itself, which saves the look into the payload's
// list.
inline StrettoExtension* extension_of(tlm::tlm_generic_payload& payload) {
  if (typeid(payload) == typeid(PooledPayload))
    return &static_cast<PooledPayload&>(payload).extension;
  return payload.get_extension<StrettoExtension>();
}

inline Time systemc_now() { return sc_core::sc_time_stamp().value(); }

inline sc_core::sc_time delay_of(Time femtoseconds) {
  return sc_core::sc_time::from_value(femtoseconds);
}
inline Time time_of(const sc_core::sc_time& delay) { return delay.value(); }

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_PAYLOAD_POOL_H_
