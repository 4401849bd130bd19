// SPDX-License-Identifier: Apache-2.0
// Hears when the memory has taken in all of a write: its queues hold every atom, so a buffer in
// front of it is free. The data are written later; the response says when.
#ifndef STRETTO_MODELS_COMMON_ADMISSION_SINK_H_
#define STRETTO_MODELS_COMMON_ADMISSION_SINK_H_

#include <cstdint>

namespace stretto {

class AdmissionSink {
 public:
  virtual ~AdmissionSink() = default;
  // `cookie` is the payload's. Once a write, at the edge of its admission, before its response; not
  // for a write that is refused.
  virtual void on_admitted(uint64_t cookie) = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_ADMISSION_SINK_H_
