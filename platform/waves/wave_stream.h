// SPDX-License-Identifier: Apache-2.0
// The signals of one traced block: their declarations and the changes that are not yet written.
// A stream belongs to its partition's thread while partitions run, to Waves between windows.
#ifndef STRETTO_PLATFORM_WAVES_WAVE_STREAM_H_
#define STRETTO_PLATFORM_WAVES_WAVE_STREAM_H_

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/common/clock_domain.h"
#include "platform/adapters/wave_probe.h"

namespace stretto {

class WaveStream final : public WaveProbe {
 public:
  struct Name {
    unsigned gpu;
    std::string block;
    unsigned instance;
    bool several;                // Of this block on a GPU.
    std::string in_gpu() const;  // "mca[3]"
    std::string text() const;    // "gpu0.mca[3]"
    bool operator<(const Name& other) const;
  };
  // In the order of the header.
  struct Declaration {
    enum class Kind : uint8_t { scope, variable, end_of_scope } kind;
    std::string name;
    unsigned bits = 0;
    uint32_t signal = 0;  // Two variables of one signal have one value.
  };
  struct Change {
    Time time;
    uint32_t signal;
    std::string value;  // As many '0' and '1' as the signal has bits.
  };

  WaveStream(Name name, uint32_t clock_mhz);

  void declare(Source& source, std::string_view vcd_header) override;
  void record_all(std::string_view vcd_values) override;
  void record(uint64_t cycle, WaveMoment moment, std::string_view vcd_changes) override;

  // Takes the snapshot; from here on every clock is recorded.
  void start();
  void stop() { recording_ = false; }

  const Name& name() const { return name_; }
  const std::vector<Declaration>& declarations() const { return declarations_; }
  uint32_t signals() const { return static_cast<uint32_t>(bits_.size()); }
  // By signal: those of the snapshot, then what is written.
  std::vector<std::string>& values() { return values_; }
  // In the order of time.
  std::deque<Change>& changes() { return changes_; }
  Time period() const { return period_; }

 private:
  template <typename Use>
  void each_value(std::string_view text, const Use& use) const;
  Time time_of(uint64_t cycle, WaveMoment moment);

  const Name name_;
  const ClockDomain clock_;
  const Time period_;
  Source* source_ = nullptr;
  std::vector<Declaration> declarations_;
  std::unordered_map<std::string, uint32_t> signal_of_code_;
  std::vector<unsigned> bits_;
  std::vector<std::string> values_;
  std::deque<Change> changes_;
  // Times of the clock that is being recorded.
  uint64_t cycle_ = ~uint64_t{0};
  Time rise_ = 0;
  Time fall_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_WAVES_WAVE_STREAM_H_
