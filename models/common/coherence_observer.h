// SPDX-License-Identifier: Apache-2.0
// Told of accesses to a GPU's memory that pass its L2 by: those of DMA engines, links and the
// request ring. The L2 implements it and asks its tags (MEMORY_MODEL.md).
#ifndef STRETTO_MODELS_COMMON_COHERENCE_OBSERVER_H_
#define STRETTO_MODELS_COMMON_COHERENCE_OBSERVER_H_

#include "models/common/payload_extension.h"

namespace stretto {

class CoherenceObserver {
 public:
  virtual ~CoherenceObserver() = default;
  // When the memory takes the request in. `by.operation` says what it does.
  virtual void passes(const StrettoExtension& by, uint64_t offset, uint64_t bytes) = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_COHERENCE_OBSERVER_H_
