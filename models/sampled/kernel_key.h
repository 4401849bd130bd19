// SPDX-License-Identifier: Apache-2.0
// Which kernel a launch runs, as far as the times of its work-groups depend on it: the SHA-256 of
// the code object, where in it the kernel begins, the grid, how the scheduler was told to treat its
// accesses, and the arguments.
//
// The code object is read from the GPU's memory and taken as it is in the file: words that hold
// addresses of itself count from its start, and what the loader writes counts as zero. Of an
// argument that is a mapped address count the class of its range, the place in its line, and which
// earlier argument is the same: the memory's interleaving makes addresses equal otherwise.
//
// A kernel that sw/transform has rewritten counts as its original, with the grid and the arguments of
// that: its body is the original's, whatever launches it.
#ifndef STRETTO_MODELS_SAMPLED_KERNEL_KEY_H_
#define STRETTO_MODELS_SAMPLED_KERNEL_KEY_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "models/common/memory_image.h"
#include "models/gpu/base/dispatch.h"
#include "models/gpu/base/range_table.h"

namespace stretto {

struct KernelLaunch {
  std::string key;      // 16 hexadecimal digits.
  uint64_t number = 0;  // The same.
  uint64_t grid = 0;    // Of the original.
  // Of a rewritten kernel, addresses: where its body begins, and where it goes on (0: it ends).
  uint64_t body = 0;
  uint64_t behind = 0;
};

class KernelKeys final : private MemoryWatcher {
 public:
  // Both outlive it.
  KernelKeys(MemoryImage& memory, const RangeTable& ranges) : memory_(memory), ranges_(ranges) {}
  ~KernelKeys() override;

  // At the launch's first dispatch: its arguments are in memory.
  KernelLaunch of(const DispatchContext& context);

 private:
  struct Entry {
    std::string code;    // SHA-256 of the original's code object.
    uint64_t entry = 0;  // Of the original, from its start.
    uint64_t body = 0;   // Likewise, if it was rewritten,
    uint64_t behind = 0;
    uint64_t arguments = 0;  // and the bytes of the original's arguments.
  };
  struct Code {
    std::string sum;
    std::map<uint64_t, Entry> entries;  // By place in the code object.
  };

  void on_memory_change(uint64_t address, uint64_t base) override;
  const Entry& entry_of(const DispatchContext& context);
  Entry read_entry(const DispatchContext& context, const Code& code);

  MemoryImage& memory_;
  const RangeTable& ranges_;
  std::map<uint64_t, Code> codes_;  // By base; as long as nobody writes to its first word.
  std::unordered_map<std::string, std::string> keys_;  // Of what they are the sum.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_SAMPLED_KERNEL_KEY_H_
