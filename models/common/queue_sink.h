// SPDX-License-Identifier: Apache-2.0
// Hears when the memory's arbiter has taken an atom out of its queue: the place is free again.
#ifndef STRETTO_MODELS_COMMON_QUEUE_SINK_H_
#define STRETTO_MODELS_COMMON_QUEUE_SINK_H_

#include <cstdint>

namespace stretto {

class QueueSink {
 public:
  virtual ~QueueSink() = default;
  // Now. `offset` of the atom in this GPU's memory. Not for what the memory refuses.
  virtual void on_place_free(uint64_t offset) = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_QUEUE_SINK_H_
