// SPDX-License-Identifier: Apache-2.0
// What lies between a traced block and the file of waves: the block declares its signals once and
// hands over their changes; whoever implements WaveProbe gives them times and writes them.
//
// A block in the window is recorded three times a clock: with its new inputs (half a period before
// the edge), after the rising edge, and after the falling edge, with idle inputs. A sleeping block
// is not evaluated and records nothing: its signals hold, its clock rests.
#ifndef STRETTO_PLATFORM_ADAPTERS_WAVE_PROBE_H_
#define STRETTO_PLATFORM_ADAPTERS_WAVE_PROBE_H_

#include <cstdint>
#include <string_view>

namespace stretto {

enum class WaveMoment : uint8_t { inputs, rise, fall };

class WaveProbe {
 public:
  // The traced block.
  class Source {
   public:
    virtual ~Source() = default;
    // Hands over the value of every signal with record_all(). Called between evaluations.
    virtual void snapshot() = 0;
  };

  virtual ~WaveProbe() = default;
  // Signals as a VCD header: $scope, $var and $upscope lines. Call once, before the simulation.
  virtual void declare(Source& source, std::string_view vcd_header) = 0;
  virtual void record_all(std::string_view vcd_values) = 0;
  // Changes as VCD lines; '#' lines are ignored. Cycles do not go back.
  virtual void record(uint64_t cycle, WaveMoment moment, std::string_view vcd_changes) = 0;

  // True from the snapshot on; then the block records every clock.
  bool recording() const { return recording_; }

 protected:
  bool recording_ = false;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_ADAPTERS_WAVE_PROBE_H_
