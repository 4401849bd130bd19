// SPDX-License-Identifier: Apache-2.0
#include "platform/waves/wave_stream.h"

#include <algorithm>
#include <cassert>
#include <sstream>
#include <tuple>
#include <utility>

namespace stretto {

namespace {

// Calls `use` for each line, without its line end and leading blanks.
template <typename Use>
void each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t begin = line.find_first_not_of(' ');
    if (begin != std::string_view::npos) use(line.substr(begin));
  }
}

}  // namespace

std::string WaveStream::Name::in_gpu() const {
  if (!several) return block;
  std::string text = block + "[";
  return text.append(std::to_string(instance)).append("]");
}

std::string WaveStream::Name::text() const {
  std::string text = "gpu";
  return text.append(std::to_string(gpu)).append(".").append(in_gpu());
}

bool WaveStream::Name::operator<(const Name& other) const {
  return std::tie(gpu, block, instance) < std::tie(other.gpu, other.block, other.instance);
}

WaveStream::WaveStream(Name name, uint32_t clock_mhz)
    : name_(std::move(name)), clock_(clock_mhz), period_(clock_.edge(1)) {}

// Verilator's header has a scope of the model, with the ports, and in it those of the top module,
// which has everything, and of packages. Of these the top module's is taken; its name is the
// block's. Scopes that Verilator makes up hold loop counters.
void WaveStream::declare(Source& source, std::string_view vcd_header) {
  source_ = &source;
  unsigned depth = 0;
  unsigned dropped = 0;  // Depth of the outermost scope that is left out; 0 = none.
  each_line(vcd_header, [&](std::string_view line) {
    std::istringstream words{std::string(line)};
    std::string keyword;
    words >> keyword;
    if (keyword == "$scope") {
      std::string kind, name;
      words >> kind >> name;
      ++depth;
      if (dropped != 0) return;
      if ((depth == 2 && name != name_.block) || name.rfind("unnamedblk", 0) == 0) {
        dropped = depth;
      } else if (depth > 2) {
        declarations_.push_back({Declaration::Kind::scope, name});
      }
    } else if (keyword == "$upscope") {
      if (dropped == 0 && depth > 2) declarations_.push_back({Declaration::Kind::end_of_scope, ""});
      if (dropped == depth) dropped = 0;
      --depth;
    } else if (keyword == "$var") {
      std::string kind, code, name, more;
      unsigned bits = 0;
      words >> kind >> bits >> code >> name;
      while (words >> more && more != "$end") name += " " + more;  // "[15:0]".
      const auto [entry, is_new] = signal_of_code_.emplace(code, signals());
      if (is_new) bits_.push_back(bits);
      if (depth > 1 && dropped == 0)
        declarations_.push_back({Declaration::Kind::variable, name, bits, entry->second});
    }
  });
  values_.resize(bits_.size());
}

// "1a" or "b0101 a".
template <typename Use>
void WaveStream::each_value(std::string_view text, const Use& use) const {
  each_line(text, [&](std::string_view line) {
    const bool bit = line[0] == '0' || line[0] == '1';
    if (!bit && line[0] != 'b') return;
    const size_t end = bit ? 1 : line.find(' ');
    const std::string_view digits = line.substr(bit ? 0 : 1, end - (bit ? 0 : 1));
    const auto entry = signal_of_code_.find(std::string(line.substr(bit ? end : end + 1)));
    assert(entry != signal_of_code_.end());
    const unsigned bits = bits_[entry->second];
    std::string value(bits - std::min<size_t>(bits, digits.size()), '0');
    value.append(digits);
    use(entry->second, std::move(value));
  });
}

void WaveStream::start() {
  recording_ = true;
  source_->snapshot();
}

void WaveStream::record_all(std::string_view vcd_values) {
  each_value(vcd_values, [&](uint32_t signal, std::string value) { values_[signal] = value; });
}

void WaveStream::record(uint64_t cycle, WaveMoment moment, std::string_view vcd_changes) {
  const Time time = time_of(cycle, moment);
  each_value(vcd_changes, [&](uint32_t signal, std::string value) {
    changes_.push_back({time, signal, std::move(value)});
  });
}

// A register access is a clock of its own, beside the one that the block may take in that cycle:
// such clocks follow each other in what is left of the period, ever narrower.
Time WaveStream::time_of(uint64_t cycle, WaveMoment moment) {
  if (moment == WaveMoment::rise) return rise_;
  if (moment == WaveMoment::fall) return fall_;
  const Time edge = clock_.edge(cycle);
  Time inputs;
  if (cycle != cycle_) {
    inputs = std::max(fall_, edge - std::min(edge, period_ / 2));
    rise_ = std::max(edge, fall_);
    fall_ = rise_ + period_ / 2;
  } else {
    inputs = fall_;
    const Time left = edge + period_ - std::min(fall_, edge + period_);
    rise_ = fall_ + left / 4;
    fall_ += left / 2;
  }
  cycle_ = cycle;
  return inputs;
}

}  // namespace stretto
