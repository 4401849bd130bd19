// SPDX-License-Identifier: Apache-2.0
// Counters of the timeline: for each queue in pinned lines of a GPU's L2 the entries that are filled
// and not yet freed, from the atomics on their words. An entry is filled when its last writer has
// added 1, freed when its last reader has; at the clock in which that leaves its unit.
#ifndef STRETTO_PLATFORM_MACHINE_QUEUE_FILL_H_
#define STRETTO_PLATFORM_MACHINE_QUEUE_FILL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "models/common/component.h"
#include "platform/jobs/queue_owner.h"

namespace stretto {

class QueueFill {
 public:
  using Words = std::function<std::optional<QueueWord>(uint64_t offset)>;
  QueueFill(std::string process, Words words, TraceSink& sink)
      : process_(std::move(process)), words_(std::move(words)), sink_(sink) {}

  // An atomic on a word of a queue, or on something else.
  void add(uint64_t offset, Time at);

 private:
  struct Queue {
    uint64_t filled = 0;
    Time at = 0;  // Of the last sample: calls of several units come a little out of order.
  };
  struct Word {
    Queue* queue;  // Null: of none.
    std::string track;
    uint32_t adds;
    bool is_free;
    uint64_t count = 0;
  };

  const std::string process_;
  const Words words_;
  TraceSink& sink_;
  std::map<std::string, Queue> queues_;
  std::unordered_map<uint64_t, Word> known_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_QUEUE_FILL_H_
