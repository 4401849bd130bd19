// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/queue_fill.h"

#include <algorithm>

namespace stretto {

void QueueFill::add(uint64_t offset, Time at) {
  const auto [found, is_new] = known_.try_emplace(offset);
  Word& word = found->second;
  if (is_new) {
    if (const std::optional<QueueWord> of = words_(offset))
      word = {&queues_[of->queue],
              process_ + "/queue " + of->queue + ", filled of " + std::to_string(of->entries),
              of->adds, of->is_free};
  }
  if (word.queue == nullptr || ++word.count % word.adds != 0) return;
  Queue& queue = *word.queue;
  queue.filled += word.is_free ? ~uint64_t{0} : 1;
  queue.at = std::max(queue.at, at);
  sink_.counter(word.track, queue.at, queue.filled);
}

}  // namespace stretto
