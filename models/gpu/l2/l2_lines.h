// SPDX-License-Identifier: Apache-2.0
// The tag path of one line: of all lines of a request at once (l2_cache.cpp), or of one when it is at
// its slice (l2_slices.cpp). Inlined: it runs for each lookup.
#ifndef STRETTO_MODELS_GPU_L2_L2_LINES_H_
#define STRETTO_MODELS_GPU_L2_L2_LINES_H_

#include <algorithm>

#include "models/gpu/l2/l2_cache.h"

namespace stretto {

template <class Extension>
[[gnu::always_inline]] inline uint64_t L2Cache::read_line(const Lookup& lookup, uint32_t request,
                                                          Extension extension, uint64_t at,
                                                          uint64_t& hits) {
  L2Tags::Set& set = tags_.set(lookup.set);
  const int way = L2Tags::find(set, lookup.tag());
  const unsigned count = lookup.mask == 3 ? 2 : 1;
  const uint64_t looked = banks_.take(lookup.bank, at, count * sector_cycles_);
  if (way >= 0) {
    tags_.touch(set, static_cast<unsigned>(way));
    const unsigned state = set.state[way];
    // Every wanted sector valid and none pending (the valid bits are the lowest, the pending ones
    // four above).
    if (((state >> L2Tags::kValidShift) & ~(state >> L2Tags::kPendingShift) & lookup.mask) ==
        lookup.mask) {
      hits += count;
      return looked;
    }
  }
  read_slow(lookup, set, way, request, extension(), looked);
  return looked;
}

[[gnu::always_inline]] inline uint64_t L2Cache::write_line(const Lookup& lookup,
                                                           const StrettoExtension& extension,
                                                           uint64_t at) {
  L2Tags::Set& set = tags_.set(lookup.set);
  int way = L2Tags::find(set, lookup.tag());
  const unsigned count = lookup.mask == 3 ? 2 : 1;
  const uint64_t looked = banks_.take(lookup.bank, at, count * sector_cycles_);
  if (way >= 0) {
    tags_.touch(set, static_cast<unsigned>(way));
  } else {
    way = allocate(lookup, looked);
  }
  counters_.written[extension.account] += count;
  if (way < 0) {  // Written around the cache.
    counters_.unallocated += count;
    if (any_pin_ && in_pinned_range(lookup.line)) counters_.pinned_evictions += count;
    send_write_back(lookup.line, lookup.mask, extension.account, Kind::write_back,
                    clock_.edge(looked));
    return looked;
  }
  note_writer(lookup, static_cast<unsigned>(way), extension);
  set.state[way] = static_cast<uint8_t>(set.state[way] | lookup.mask << L2Tags::kValidShift |
                                        lookup.mask << L2Tags::kDirtyShift);
  L2Tags::set_account(set, static_cast<unsigned>(way), extension.account);
  return looked;
}

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_L2_L2_LINES_H_
