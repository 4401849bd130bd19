// SPDX-License-Identifier: Apache-2.0
// See memory_image.h.
#include "models/common/memory_image.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <stdexcept>

#include "models/common/error.h"

namespace stretto {

namespace {

constexpr uint8_t kZeros[MemoryImage::kPageBytes] = {};

}  // namespace

void MemoryImage::Unmap::operator()(uint8_t* block) const { munmap(block, kBlockBytes); }

bool MemoryImage::is_generated(uint64_t address, uint64_t count) const {
  return std::any_of(regions_.begin(), regions_.end(), [&](const Region& region) {
    return address < region.base + region.bytes && region.base < address + count;
  });
}

uint8_t* MemoryImage::make_room(Page& page) {
  const uint64_t used = resident_ * kPageBytes % kBlockBytes;
  if (used == 0) {
    void* const block = mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    blocks_.emplace_back(static_cast<uint8_t*>(block));
    madvise(block, kBlockBytes, MADV_HUGEPAGE);  // Fewer page walks; refusal costs speed only.
  }
  ++resident_;  // There may have been no block.
  return page.bytes = blocks_.back().get() + used;
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
  const uint64_t upper = index >> kHalfBits;
  if (upper >= pages_.size()) throw std::out_of_range("address beyond a node's memory");
  if (pages_[upper] == nullptr) pages_[upper] = std::make_unique<Pages>();
  Page& result = (*pages_[upper])[index & (pages_.size() - 1)];
  if (!result.is_known) {
    const uint64_t address = index << kPageBits;
    if (is_generated(address, kPageBytes)) generate(address, make_room(result), kPageBytes);
    result.is_known = true;
  }
  return result;
}

void MemoryImage::load(uint64_t address, const uint8_t* bytes, uint64_t count) {
  while (count > 0) {
    const uint64_t offset = address & (kPageBytes - 1);
    const uint64_t part = std::min(count, kPageBytes - offset);
    std::memcpy(room_of(page(address >> kPageBits)) + offset, bytes, part);
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
    const uint8_t* const from = page(address >> kPageBits).bytes;
    if (from != nullptr) {
      std::memcpy(bytes, from + offset, part);
    } else {
      std::memset(bytes, 0, part);
    }
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
    if (target.bytes != nullptr || std::memcmp(bytes, kZeros, part) != 0)
      std::memcpy(room_of(target) + offset, bytes, part);
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
    room_of(target)[(address + i) & (kPageBytes - 1)] = bytes[i];
    target.written = true;
  }
  changed(address, count);
}

uint8_t* MemoryImage::span(uint64_t address, uint64_t count, bool for_write) {
  const uint64_t offset = address & (kPageBytes - 1);
  if (offset + count > kPageBytes) return nullptr;
  Page& target = page(address >> kPageBits);
  if (for_write) target.written = true;
  return room_of(target) + offset;
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
  for (uint64_t upper = 0; upper < pages_.size(); ++upper) {
    if (pages_[upper] == nullptr) continue;
    for (uint64_t lower = 0; lower < pages_[upper]->size(); ++lower) {
      const Page& one = (*pages_[upper])[lower];
      if (one.written)
        f((upper << kHalfBits | lower) << kPageBits, one.bytes != nullptr ? one.bytes : kZeros);
    }
  }
}

}  // namespace stretto
