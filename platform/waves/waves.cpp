// SPDX-License-Identifier: Apache-2.0
#include "platform/waves/waves.h"

#include <fstapi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "models/common/error.h"

namespace stretto {

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kSectionBytes = 4 * kMiB;
constexpr std::chrono::seconds kSectionTime{1};

double in_us(Time time) { return static_cast<double>(time) / static_cast<double>(kMicrosecond); }

class FstWaves final : public Waves {
 public:
  explicit FstWaves(WavesSpec spec);
  ~FstWaves() override;
  WaveProbe* probe(const WaveStream::Name& name, uint32_t clock_mhz) override;
  void advance(Time now) override;
  void close(Time now) override;
  std::string summary() const override;

 private:
  void begin();
  void declare(const WaveStream& stream);
  void emit(Time before);
  void emit_value(size_t stream, uint32_t signal, const std::string& value);
  void go_to(Time time);
  void end_section(Time next);
  void finish(Time end);

  const WavesSpec spec_;
  const Time lead_;               // How long before the window recording begins.
  const uint64_t section_limit_;  // Of section_bytes_, which are before compression.
  Time margin_ = 0;               // A clock at `now` may still record this much earlier.
  std::vector<std::unique_ptr<WaveStream>> streams_;
  void* fst_ = nullptr;
  std::vector<std::vector<fstHandle>> handles_;  // [stream][signal]; 0 = not declared.
  bool recording_ = false;
  bool window_begun_ = false;  // The first values are written.
  bool finished_ = false;
  bool cut_ = false;  // By the limit.
  Time last_ = 0;     // What is written reaches up to here.
  uint64_t changes_ = 0;
  uint64_t section_bytes_ = 0;
  std::chrono::steady_clock::time_point section_begin_;
};

FstWaves::FstWaves(WavesSpec spec)
    : spec_(std::move(spec)),
      lead_(2 * (spec_.lookahead + kMicrosecond)),
      section_limit_(std::min(kSectionBytes, spec_.limit_bytes / 8)) {
  std::error_code ignored;
  std::filesystem::remove(spec_.file, ignored);
  std::filesystem::remove(spec_.file + ".hier", ignored);
}

FstWaves::~FstWaves() {
  if (recording_) finish(last_);
}

WaveProbe* FstWaves::probe(const WaveStream::Name& name, uint32_t clock_mhz) {
  if (!spec_.request.selects(name.gpu, name.block, name.instance)) return nullptr;
  streams_.push_back(std::make_unique<WaveStream>(name, clock_mhz));
  margin_ = std::max(margin_, streams_.back()->period());
  return streams_.back().get();
}

void FstWaves::begin() {
  // GPUs are not always elaborated in their order, and a model has declared nothing.
  std::erase_if(streams_, [](const auto& stream) { return stream->declarations().empty(); });
  std::sort(streams_.begin(), streams_.end(),
            [](const auto& a, const auto& b) { return a->name() < b->name(); });
  fst_ = fstWriterCreate(spec_.file.c_str(), 1);
  if (fst_ == nullptr) throw UserError("cannot write " + spec_.file);
  fstWriterSetPackType(fst_, FST_WR_PT_LZ4);
  fstWriterSetTimescaleFromString(fst_, "1ps");
  fstWriterSetVersion(fst_, "stretto");
  for (size_t i = 0; i < streams_.size(); ++i) {
    const unsigned gpu = streams_[i]->name().gpu;
    if (i == 0 || streams_[i - 1]->name().gpu != gpu)
      fstWriterSetScope(fst_, FST_ST_VCD_MODULE, ("gpu" + std::to_string(gpu)).c_str(), nullptr);
    declare(*streams_[i]);
    if (i + 1 == streams_.size() || streams_[i + 1]->name().gpu != gpu) fstWriterSetUpscope(fst_);
  }
  section_begin_ = std::chrono::steady_clock::now();
  recording_ = true;
  for (const auto& stream : streams_) stream->start();
}

void FstWaves::declare(const WaveStream& stream) {
  const std::string& block = stream.name().block;
  fstWriterSetScope(fst_, FST_ST_VCD_MODULE, stream.name().in_gpu().c_str(), block.c_str());
  std::vector<fstHandle> handles(stream.signals(), 0);
  for (const WaveStream::Declaration& one : stream.declarations()) {
    switch (one.kind) {
      case WaveStream::Declaration::Kind::scope:
        fstWriterSetScope(fst_, FST_ST_VCD_MODULE, one.name.c_str(), nullptr);
        break;
      case WaveStream::Declaration::Kind::end_of_scope: fstWriterSetUpscope(fst_); break;
      case WaveStream::Declaration::Kind::variable: {
        fstHandle& known = handles[one.signal];
        const fstHandle handle = fstWriterCreateVar(fst_, FST_VT_VCD_WIRE, FST_VD_IMPLICIT,
                                                    one.bits, one.name.c_str(), known);
        if (known == 0) known = handle;
        break;
      }
    }
  }
  fstWriterSetUpscope(fst_);
  handles_.push_back(std::move(handles));
}

void FstWaves::advance(Time now) {
  if (finished_) return;
  if (!recording_) {
    if (now + lead_ < spec_.request.from) return;
    begin();
  }
  const Time safe = now - std::min(now, margin_);
  emit(std::min(safe, spec_.request.to));
  if (finished_) return;
  if (safe >= spec_.request.to) {
    finish(spec_.request.to);
    return;
  }
  if (section_bytes_ != 0 && safe > last_ &&
      std::chrono::steady_clock::now() - section_begin_ >= kSectionTime) {
    end_section(safe);
  }
}

void FstWaves::go_to(Time time) {
  fstWriterEmitTimeChange(fst_, time / kPicosecond);
  last_ = time;
}

void FstWaves::emit_value(size_t stream, uint32_t signal, const std::string& value) {
  const fstHandle handle = handles_[stream][signal];
  if (handle == 0 || value.empty()) return;
  fstWriterEmitValueChange(fst_, handle, value.data());
  section_bytes_ += value.size() + 2;
}

// Writes the changes before `before` in the order of time; of one time in the order of streams.
void FstWaves::emit(Time before) {
  if (before <= spec_.request.from) return;
  if (!window_begun_) {
    window_begun_ = true;
    go_to(spec_.request.from);
    for (size_t i = 0; i < streams_.size(); ++i) {
      std::vector<std::string>& values = streams_[i]->values();
      auto& changes = streams_[i]->changes();
      for (; !changes.empty() && changes.front().time <= spec_.request.from; changes.pop_front())
        values[changes.front().signal] = std::move(changes.front().value);
      for (uint32_t signal = 0; signal < values.size(); ++signal)
        emit_value(i, signal, values[signal]);
    }
  }
  using Next = std::pair<Time, size_t>;
  std::set<Next> order;  // The next change of each stream.
  const auto enlist = [&](size_t i) {
    const auto& changes = streams_[i]->changes();
    if (!changes.empty() && changes.front().time < before) order.emplace(changes.front().time, i);
  };
  for (size_t i = 0; i < streams_.size(); ++i) enlist(i);
  while (!order.empty()) {
    const auto [time, i] = *order.begin();
    order.erase(order.begin());
    // A clock's fall and the inputs of the next are at one time: the last value counts, if it is
    // new.
    std::map<uint32_t, std::string> last;
    auto& changes = streams_[i]->changes();
    for (; !changes.empty() && changes.front().time == time; changes.pop_front())
      last[changes.front().signal] = std::move(changes.front().value);
    for (auto& [signal, value] : last) {
      std::string& current = streams_[i]->values()[signal];
      if (current == value) continue;
      if (last_ != time && section_bytes_ >= section_limit_) end_section(time);
      if (finished_) return;
      if (last_ != time) go_to(time);
      current = std::move(value);
      emit_value(i, signal, current);
      ++changes_;
    }
    enlist(i);
  }
}

// The file has the section when time goes on to `next`, and is finished if it is then too large.
void FstWaves::end_section(Time next) {
  const Time end = last_;
  fstWriterFlushContext(fst_);
  go_to(next);
  section_bytes_ = 0;
  section_begin_ = std::chrono::steady_clock::now();
  std::error_code unknown;
  const uint64_t bytes = std::filesystem::file_size(spec_.file, unknown);
  if (unknown || bytes < spec_.limit_bytes) return;
  cut_ = true;
  last_ = end;
  finish(last_);
  std::fprintf(stderr,
               "stretto: %s reached --waves-limit %llu MiB at %.3f us of the machine; later waves "
               "are not in it (fewer blocks or a shorter window need less)\n",
               spec_.file.c_str(), static_cast<unsigned long long>(spec_.limit_bytes / kMiB),
               in_us(last_));
}

void FstWaves::finish(Time end) {
  if (window_begun_ && end > last_) go_to(end);
  fstWriterClose(fst_);
  recording_ = false;
  finished_ = true;
  for (const auto& stream : streams_) {
    stream->stop();
    stream->changes().clear();
  }
}

void FstWaves::close(Time now) {
  if (finished_) return;
  if (recording_) {
    if (now > spec_.request.from) emit(spec_.request.to);
    if (!finished_) finish(last_);
  }
  if (window_begun_) return;
  std::error_code ignored;
  std::filesystem::remove(spec_.file, ignored);
  std::fprintf(stderr,
               "stretto: no waves: the run ended at %.3f us, the window begins at %.3f us\n",
               in_us(now), in_us(spec_.request.from));
}

std::string FstWaves::summary() const {
  if (!window_begun_) return "none";
  if (changes_ == 0) return spec_.file + ": nothing changes in the window: the blocks sleep";
  std::error_code unknown;
  const uint64_t bytes = std::filesystem::file_size(spec_.file, unknown);
  std::string names;
  for (const auto& stream : streams_) {
    names.append(" ").append(stream->name().text());
    if (names.size() <= 60 || stream == streams_.back()) continue;
    names.append(" ...");
    break;
  }
  char text[128];
  std::snprintf(text, sizeof text, ", %.3f..%.3f us, %.2f MiB%s", in_us(spec_.request.from),
                in_us(last_), static_cast<double>(bytes) / kMiB,
                cut_ ? " (cut at --waves-limit)" : "");
  return spec_.file + ":" + names + text;
}

}  // namespace

std::unique_ptr<Waves> make_waves(WavesSpec spec) {
  return std::make_unique<FstWaves>(std::move(spec));
}

}  // namespace stretto
