// SPDX-License-Identifier: Apache-2.0
// An allocator that asks the host for huge pages (2 MiB) where it allocates at least one: what is
// touched at random all over megabytes then costs few page walks (5 % of the main job's CPU time in
// a virtual machine).
#ifndef STRETTO_MODELS_COMMON_HUGE_ALLOCATOR_H_
#define STRETTO_MODELS_COMMON_HUGE_ALLOCATOR_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace stretto {

template <class Value>
struct HugeAllocator {
  using value_type = Value;
  static constexpr size_t kHugePage = size_t{2} << 20;

  HugeAllocator() = default;
  template <class Other>
  HugeAllocator(const HugeAllocator<Other>&) {}

  Value* allocate(size_t count) {
    const size_t bytes = count * sizeof(Value);
    const size_t alignment =
        bytes < kHugePage ? (alignof(Value) < 64 ? 64 : alignof(Value)) : kHugePage;
    void* const memory =
        std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc();
    if (alignment == kHugePage)
      madvise(memory, bytes, MADV_HUGEPAGE);  // Advice: refusal costs speed only.
    return static_cast<Value*>(memory);
  }
  void deallocate(Value* memory, size_t) { std::free(memory); }
  friend bool operator==(HugeAllocator, HugeAllocator) { return true; }
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_HUGE_ALLOCATOR_H_
