// SPDX-License-Identifier: Apache-2.0
// Takes the Tracker's triggers: a wavefront's output region is complete (T3-TRK-09). The DMA
// command table implements it; so does whoever schedules the work-groups that wait for a gathered
// input (T3-AGC-01), for the triggers that are marked as events.
#ifndef STRETTO_MODELS_COMMON_TRIGGER_SINK_H_
#define STRETTO_MODELS_COMMON_TRIGGER_SINK_H_

#include <cstdint>

#include "models/common/event_queue.h"

namespace stretto {

class TriggerSink {
 public:
  virtual ~TriggerSink() = default;
  // At most one a memory clock. `at` is the edge; `address` the smallest address of the region, 48
  // bits. REQUIRES: at == EventQueue::now() of the partition.
  virtual void on_trigger(Time at, uint16_t wg_id, uint8_t wf_id, uint64_t address) = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_TRIGGER_SINK_H_
