// SPDX-License-Identifier: Apache-2.0
// Writes the waves of chosen blocks in a window of machine time to one FST file.
//
// Partitions run ahead of each other by up to the lookahead and side by side, so their changes do
// not come in the order of time. Each block records into a stream of its own; advance(), called
// between windows, writes what nothing earlier can follow any more.
//
// The axis is machine time in picoseconds (rounded down). A block is looked at from a little before
// the window; the last value before the window is its value at the beginning.
//
// The file is complete after close(), which comes at the end of the window or of the run. Until
// then sections are closed every second of host time: after a SIGKILL they are readable as long as
// FILE.hier stays beside FILE.
#ifndef STRETTO_PLATFORM_WAVES_WAVES_H_
#define STRETTO_PLATFORM_WAVES_WAVES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "platform/waves/wave_request.h"
#include "platform/waves/wave_stream.h"

namespace stretto {

struct WavesSpec {
  WaveRequest request;
  std::string file;
  uint64_t limit_bytes = 0;  // At which recording ends.
  Time lookahead = 0;        // How far partitions may be ahead of each other.
};

class Waves {
 public:
  virtual ~Waves() = default;

  // Where the block shall record; null if it was not asked for. Call while elaborating.
  virtual WaveProbe* probe(const WaveStream::Name& name, uint32_t clock_mhz) = 0;

  // Everything before `now` has happened, and no partition is running. Call at 0, before the run,
  // and at least every microsecond of machine time.
  virtual void advance(Time now) = 0;
  // The run ended at `now`. Writes the rest; says on standard error if there is nothing to see.
  virtual void close(Time now) = 0;

  // "DIR/waves.fst: gpu0.mca[3] gpu0.tracker, 10.000..12.000 us, 0.31 MiB".
  virtual std::string summary() const = 0;
};

// Removes the file of an earlier run. Throws UserError in a build without RTL. REQUIRES:
// rtl_is_traced().
std::unique_ptr<Waves> make_waves(WavesSpec spec);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_WAVES_WAVES_H_
