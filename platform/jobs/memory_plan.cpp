// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace stretto {

void MemoryPlan::add(const std::string& name, uint64_t begin, uint64_t bytes, bool is_input) {
  if (bytes == 0) return;
  names_.emplace(begin, name);
  if (is_input) return;
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

void MemoryPlan::add(const memory_plan_t& program, uint64_t module_bytes) {
  for (uint32_t i = 0; i < program.ranges; ++i) {
    const memory_range_t& range = program.range[i];
    add(range.name, range.base, range.bytes, range.is_input != 0);
  }
  add("modules", program.end, module_bytes);
}

void MemoryPlan::add(const MemoryPlan& other) {
  for (const auto& [begin, end] : other.given_) add(other.name_of(begin), begin, end - begin);
  names_.insert(other.names_.begin(), other.names_.end());
}

// The last range that begins at or before it.
std::string MemoryPlan::name_of(uint64_t address) const {
  const auto next = names_.upper_bound(address);
  return next == names_.begin() ? "nothing" : std::prev(next)->second;
}

void MemoryPlan::audit(const MemoryImage& memory, AuditSink& sink, const std::string& where) const {
  // Bytes that differ from those of time 0 and belong to nobody, and the lowest.
  uint64_t changed = 0, first = UINT64_MAX;
  std::vector<uint8_t> before(MemoryImage::kPageBytes);
  memory.for_each_written_page([&](uint64_t page, const uint8_t* bytes) {
    const uint64_t page_end = page + MemoryImage::kPageBytes;
    const auto compare = [&](uint64_t begin, uint64_t end) {
      memory.initial(begin, before.data(), end - begin);
      const uint8_t* const now = bytes + (begin - page);
      if (std::equal(now, now + (end - begin), before.begin())) return;
      for (uint64_t i = 0; i < end - begin; ++i) {
        if (now[i] == before[i]) continue;
        ++changed;
        first = std::min(first, begin + i);
      }
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
  sink.set_where(changed == 0 ? where
                              : fmt::format("{}, first at {:#x}, in or behind '{}'", where, first,
                                            name_of(first)));
  sink.equal("bytes written outside of what was given = 0", changed, 0);
}

}  // namespace stretto
