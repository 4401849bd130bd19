// SPDX-License-Identifier: Apache-2.0
// What --waves asks for: BLOCK[,BLOCK...][@FROM..TO].
//
//   mca,tracker@10us..12us        all MCAs and the Tracker of GPU 0, from 10 us to 12 us
//   mca[3]   mca[0-3]             one, some of the instances
//   gpu1.mca[0-3]   gpu*.tracker  of another GPU, of all
//   all@55us..                    every block of GPU 0, to the end of the run
// Times take fs, ps, ns, us or ms; either side may be left out.
#ifndef STRETTO_PLATFORM_WAVES_WAVE_REQUEST_H_
#define STRETTO_PLATFORM_WAVES_WAVE_REQUEST_H_

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "models/common/event_queue.h"
#include "platform/config/options.h"

namespace stretto {

struct WaveRange {
  unsigned first = 0;
  unsigned last = std::numeric_limits<unsigned>::max();
  bool holds(unsigned index) const { return first <= index && index <= last; }
  bool bounded() const { return last != std::numeric_limits<unsigned>::max(); }
};

struct WaveItem {
  std::string text;   // As written, for messages.
  std::string block;  // Of block_names(), or "all".
  WaveRange gpus{0, 0};
  WaveRange instances;

  bool selects(unsigned gpu, const std::string& name, unsigned instance) const {
    return (block == name || block == "all") && gpus.holds(gpu) && instances.holds(instance);
  }
};

struct WaveRequest {
  std::vector<WaveItem> items;
  Time from = 0;
  Time to = kNever;

  bool selects(unsigned gpu, const std::string& block, unsigned instance) const {
    return std::any_of(items.begin(), items.end(),
                       [&](const WaveItem& item) { return item.selects(gpu, block, instance); });
  }
};

struct TimeWindow {
  Time from = 0;
  Time to = kNever;
};
// "10us..12us"; either side may be left out. Throws UserError that begins with `option`.
TimeWindow parse_window(const std::string& option, const std::string& text);

// Throws UserError: form, block, times.
WaveRequest parse_waves(const std::string& text);

// Throws UserError for what the machine does not have and for blocks that run as models, which
// have no signals. `instances` is how many a GPU has of each block.
void check_waves(const WaveRequest& request, unsigned gpus,
                 const std::map<std::string, unsigned>& instances,
                 const std::map<std::string, Impl>& impl);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_WAVES_WAVE_REQUEST_H_
