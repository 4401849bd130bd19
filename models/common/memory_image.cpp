// SPDX-License-Identifier: Apache-2.0
// See memory_image.h.
#include "models/common/memory_image.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

#include "models/common/error.h"

namespace stretto {

void MemoryImage::Unmap::operator()(uint8_t* block) const { munmap(block, kBlockBytes); }

MemoryImage::Page& MemoryImage::make_page(uint64_t index) {
  const uint64_t used = pages_.size() * kPageBytes % kBlockBytes;
  if (used == 0) {
    void* const block = mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    blocks_.emplace_back(static_cast<uint8_t*>(block));
    madvise(block, kBlockBytes, MADV_HUGEPAGE);  // Fewer page walks; refusal costs speed only.
  }
  Page& made = pages_[index];
  made.bytes = blocks_.back().get() + used;
  generate(index << kPageBits, made.bytes, kPageBytes);
  return made;
}

void MemoryImage::generate(uint64_t address, uint8_t* bytes, uint64_t count) const {
  for (const Region& region : regions_) {
    const uint64_t begin = std::max(address, region.base);
    const uint64_t end = std::min(address + count, region.base + region.bytes);
    if (begin < end) region.make(begin, bytes + (begin - address), end - begin);
  }
}

void MemoryImage::initial(uint64_t address, uint8_t* bytes, uint64_t count) const {
  std::memset(bytes, 0, count);
  generate(address, bytes, count);
}

MemoryImage::Page& MemoryImage::page(uint64_t index) {
  if (index == last_index_) return *last_page_;
  const auto found = pages_.find(index);
  Page& result = found == pages_.end() ? make_page(index) : found->second;
  last_index_ = index;
  last_page_ = &result;
  return result;
}

void MemoryImage::load(uint64_t address, const uint8_t* bytes, uint64_t count) {
  while (count > 0) {
    const uint64_t offset = address & (kPageBytes - 1);
    const uint64_t part = std::min(count, kPageBytes - offset);
    std::memcpy(page(address >> kPageBits).bytes + offset, bytes, part);
    address += part;
    bytes += part;
    count -= part;
  }
}

void MemoryImage::add_generator(uint64_t base, uint64_t bytes, Generator make) {
  regions_.push_back({base, bytes, std::move(make)});
}

void MemoryImage::add_stamp(StampMatrix matrix) {
  const auto after = std::find_if(stamps_.begin(), stamps_.end(), [&](const StampMatrix& other) {
    return other.base > matrix.base;
  });
  stamps_.insert(after, std::move(matrix));
}

const StampMatrix* MemoryImage::stamp_at(uint64_t address) const {
  for (const StampMatrix& stamp : stamps_) {
    if (address >= stamp.base && address < stamp.base + stamp.pitch * stamp.rows) return &stamp;
  }
  return nullptr;
}

void MemoryImage::read(uint64_t address, uint8_t* bytes, uint64_t count) {
  while (count > 0) {
    const uint64_t offset = address & (kPageBytes - 1);
    const uint64_t part = std::min(count, kPageBytes - offset);
    std::memcpy(bytes, page(address >> kPageBits).bytes + offset, part);
    address += part;
    bytes += part;
    count -= part;
  }
}

void MemoryImage::write(uint64_t address, const uint8_t* bytes, uint64_t count) {
  uint64_t at = address;
  for (uint64_t left = count; left > 0;) {
    const uint64_t offset = at & (kPageBytes - 1);
    const uint64_t part = std::min(left, kPageBytes - offset);
    Page& target = page(at >> kPageBits);
    std::memcpy(target.bytes + offset, bytes, part);
    target.written = true;
    at += part;
    bytes += part;
    left -= part;
  }
  changed(address, count);
}

void MemoryImage::write_masked(uint64_t address, const uint8_t* bytes, const uint8_t* enable,
                               uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    if (enable[i] == 0) continue;
    Page& target = page((address + i) >> kPageBits);
    target.bytes[(address + i) & (kPageBytes - 1)] = bytes[i];
    target.written = true;
  }
  changed(address, count);
}

uint8_t* MemoryImage::span(uint64_t address, uint64_t count, bool for_write) {
  const uint64_t offset = address & (kPageBytes - 1);
  if (offset + count > kPageBytes) return nullptr;
  Page& target = page(address >> kPageBits);
  if (for_write) target.written = true;
  return target.bytes + offset;
}

void MemoryImage::watch(uint64_t address, MemoryWatcher& watcher, uint64_t cookie) {
  watches_.insert({address & ~uint64_t{7}, {&watcher, cookie}});
}

void MemoryImage::unwatch(uint64_t address, MemoryWatcher& watcher, uint64_t cookie) {
  const auto range = watches_.equal_range(address & ~uint64_t{7});
  for (auto it = range.first; it != range.second; ++it) {
    if (it->second.watcher == &watcher && it->second.cookie == cookie) {
      watches_.erase(it);
      return;
    }
  }
}

void MemoryImage::notify(uint64_t address, uint64_t count) {
  const auto first = watches_.lower_bound(address & ~uint64_t{7});
  const auto last = watches_.lower_bound(address + count);
  if (first == last) return;
  std::vector<std::pair<uint64_t, Watch>> fired(first, last);  // A watcher may set a new watch.
  watches_.erase(first, last);
  for (const auto& [at, watch] : fired) watch.watcher->on_memory_change(at, watch.cookie);
}

void MemoryImage::for_each_written_page(
    const std::function<void(uint64_t, const uint8_t*)>& f) const {
  std::vector<uint64_t> written;
  for (const auto& entry : pages_) {
    if (entry.second.written) written.push_back(entry.first);
  }
  std::sort(written.begin(), written.end());
  for (const uint64_t index : written) f(index << kPageBits, pages_.at(index).bytes);
}

}  // namespace stretto
