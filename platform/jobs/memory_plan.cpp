// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/memory_plan.h"

#include <algorithm>
#include <vector>

namespace stretto {

void MemoryPlan::give(uint64_t begin, uint64_t bytes) {
  if (bytes == 0) return;
  uint64_t end = begin + bytes;
  auto next = given_.upper_bound(begin);
  if (next != given_.begin() && std::prev(next)->second >= begin) --next;
  while (next != given_.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = given_.erase(next);
  }
  given_[begin] = end;
}

// Bytes that differ from those of time 0 and belong to nobody.
uint64_t MemoryPlan::strays(const MemoryImage& memory) const {
  uint64_t changed = 0;
  std::vector<uint8_t> before(MemoryImage::kPageBytes);
  memory.for_each_written_page([&](uint64_t page, const uint8_t* bytes) {
    const uint64_t page_end = page + MemoryImage::kPageBytes;
    const auto compare = [&](uint64_t begin, uint64_t end) {
      memory.initial(begin, before.data(), end - begin);
      const uint8_t* const now = bytes + (begin - page);
      if (std::equal(now, now + (end - begin), before.begin())) return;
      for (uint64_t i = 0; i < end - begin; ++i) changed += now[i] != before[i];
    };
    uint64_t at = page;
    auto next = given_.upper_bound(page);
    if (next != given_.begin()) at = std::max(at, std::prev(next)->second);
    for (; at < page_end; at = next->second, ++next) {
      const bool last = next == given_.end() || next->first >= page_end;
      compare(at, last ? page_end : next->first);
      if (last) break;
    }
  });
  return changed;
}

void MemoryPlan::audit(const MemoryImage& memory, AuditSink& sink) const {
  sink.equal("bytes written outside of what was given = 0", strays(memory), 0);
}

}  // namespace stretto
