// SPDX-License-Identifier: Apache-2.0
// The bytes of one GPU's (or the host's) memory: sparse pages, initial contents, watches.
//
// The L2 keeps real tags but no bytes of its own: bytes of cached allocations move to and from this
// image when the L2 serves the access; bytes of uncached and streaming ones when the DRAM column
// command issues. (Simplification: who reads a dirty cached line past the L2 would see it early; the
// L2's coherence law ends such a run.)
//
// Initial contents (what is there at time 0, like an ELF):
//  - literal bytes: load();
//  - generated regions: add_generator(); a page is made when it is first touched, so what is
//    untouched costs nothing;
//  - zeros; writing zeros there takes no room either;
//  - stamp matrices: add_stamp(); no bytes at all, only provenance (data mode `stamp`): reading one
//    yields no bytes, a tile load of it yields (matrix, row, column) instead. Writing into one
//    makes it ordinary memory no more: a fault.
// Addresses are offsets in the node, [39:0].
#ifndef STRETTO_MODELS_COMMON_MEMORY_IMAGE_H_
#define STRETTO_MODELS_COMMON_MEMORY_IMAGE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sw/include/formats/machine_types.h"

namespace stretto {

// A matrix operand that exists only as provenance. Element (row, k) is at base + row * pitch + k *
// element bytes.
struct StampMatrix {
  std::string name;  // "A", "B".
  uint64_t base = 0;
  uint64_t pitch = 0;  // Bytes between rows.
  uint32_t rows = 0;
  uint32_t columns = 0;  // Elements a row.
  ElementType element = ElementType::fp16;
  bool k_is_column = true;  // K runs along a row (true) or along the rows (false).
  uint8_t role = 0;         // 0 = A (rows or columns are M), 1 = B (N).
  uint32_t k_offset = 0;    // First K index of this matrix in the reduction dimension [0, k_total).
  uint32_t k_total = 0;
  uint64_t seed = 0;  // Of the values that a complete accumulation yields.
};

// Told when bytes of a watched address change.
class MemoryWatcher {
 public:
  virtual ~MemoryWatcher() = default;
  virtual void on_memory_change(uint64_t address, uint64_t cookie) = 0;
};

class MemoryImage {
 public:
  static constexpr unsigned kPageBits = 16;
  static constexpr uint64_t kPageBytes = uint64_t{1} << kPageBits;

  MemoryImage() = default;
  MemoryImage(const MemoryImage&) = delete;
  MemoryImage& operator=(const MemoryImage&) = delete;

  // Initial contents; only before the run. `make` fills `bytes` for [address, address + count).
  void load(uint64_t address, const uint8_t* bytes, uint64_t count);
  using Generator = std::function<void(uint64_t address, uint8_t* bytes, uint64_t count)>;
  void add_generator(uint64_t base, uint64_t bytes, Generator make);
  void add_stamp(StampMatrix matrix);
  // The stamp matrix that holds `address`, or null.
  const StampMatrix* stamp_at(uint64_t address) const;

  // Accesses of the machine. Ranges may cross pages. Untouched memory reads as zero.
  void read(uint64_t address, uint8_t* bytes, uint64_t count);
  void write(uint64_t address, const uint8_t* bytes, uint64_t count);
  // Byte enables as in TLM: enable[i] == 0 leaves byte i alone.
  void write_masked(uint64_t address, const uint8_t* bytes, const uint8_t* enable, uint64_t count);
  // What was there at time 0, but for load().
  void initial(uint64_t address, uint8_t* bytes, uint64_t count) const;
  // Host pointer to [address, address + count) if it lies in one page, which has room then; for hot
  // loops. The caller must call changed() after writing through it.
  uint8_t* span(uint64_t address, uint64_t count, bool for_write);
  // Where the byte lies at the host; null: it has no room.
  const uint8_t* peek(uint64_t address) const {
    const uint64_t index = address >> kPageBits;
    if (index >> kHalfBits >= pages_.size()) return nullptr;
    const Pages* const pages = pages_[index >> kHalfBits].get();
    const uint8_t* const bytes = pages == nullptr ? nullptr : (*pages)[index % pages->size()].bytes;
    return bytes == nullptr ? nullptr : bytes + address % kPageBytes;
  }
  void changed(uint64_t address, uint64_t count) {
    if (!watches_.empty()) notify(address, count);
  }

  // Watches: one shot; cookie comes back. A watch fires after the write that touches its 8 bytes.
  void watch(uint64_t address, MemoryWatcher& watcher, uint64_t cookie);
  void unwatch(uint64_t address, MemoryWatcher& watcher, uint64_t cookie);

  // Pages that the machine wrote, in address order: f(page address, bytes).
  void for_each_written_page(const std::function<void(uint64_t, const uint8_t*)>& f) const;
  uint64_t resident_bytes() const { return resident_ * kPageBytes; }

 private:
  struct Page {
    uint8_t* bytes = nullptr;  // kPageBytes in one of the blocks; null: all zeros.
    bool is_known = false;     // Generated, if it is to be.
    bool written = false;
  };
  struct Region {
    uint64_t base;
    uint64_t bytes;
    Generator make;
  };
  struct Watch {
    MemoryWatcher* watcher;
    uint64_t cookie;
  };
  Page& page(uint64_t index);
  // The page's bytes, with room of their own.
  uint8_t* room_of(Page& page) { return page.bytes != nullptr ? page.bytes : make_room(page); }
  uint8_t* make_room(Page& page);
  bool is_generated(uint64_t address, uint64_t count) const;
  // Contents of generated regions; leaves the rest as it is.
  void generate(uint64_t address, uint8_t* bytes, uint64_t count) const;
  void notify(uint64_t address, uint64_t count);

  // Pages never move. A block comes from the host, zeroed when it is first touched.
  static constexpr uint64_t kBlockBytes = uint64_t{64} << 20;
  struct Unmap {
    void operator()(uint8_t* block) const;
  };

  // Pages by the upper and lower half of their index.
  static constexpr unsigned kHalfBits = (40 - kPageBits) / 2;
  using Pages = std::array<Page, size_t{1} << kHalfBits>;

  std::array<std::unique_ptr<Pages>, size_t{1} << kHalfBits> pages_;
  uint64_t resident_ = 0;  // Pages with room.
  std::vector<std::unique_ptr<uint8_t, Unmap>> blocks_;
  std::vector<Region> regions_;
  std::vector<StampMatrix> stamps_;
  std::multimap<uint64_t, Watch> watches_;  // By address & ~7.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_MEMORY_IMAGE_H_
