// SPDX-License-Identifier: Apache-2.0
#include "models/host/copy_engine.h"

#include <algorithm>
#include <utility>

#include "models/common/error.h"
#include "models/host/host.h"

namespace stretto {
namespace {

constexpr size_t kTurn = size_t{1} << 32;  // Behind all programs.

}  // namespace

// None of these is published for an engine of a processor: platform/reproduce/gpu_driven/README.md
// has what follows from each.
void describe(CopyEngineSpec& spec, ParameterSet& set) {
  set.number("channels", spec.channels, 1, 64, "Descriptors that it works on at a time.");
  set.number("buffers", spec.buffers, 1, 4'096, "Lines that a channel has under way.");
  set.choice<uint32_t>("line_bytes", spec.line_bytes, {{"64", 64}, {"128", 128}, {"256", 256}},
                       "What it reads and writes as one.");
  set.number("start_ns", spec.start_ns, 1, 1'000'000,
             "From the doorbell to the first read: the descriptor is fetched and decoded.");
}

CopyEngine::CopyEngine(sc_core::sc_module_name name, Host& host, const CopyEngineSpec& spec)
    : sc_module(name), host_(host), spec_(spec), channels_(spec.channels) {
  SC_HAS_PROCESS(CopyEngine);
  SC_METHOD(step);
  sensitive << wake_;
  for (size_t i = 0; i < channels_.size(); ++i) {
    channels_[i].mover = host.make_mover(kTurn + i, {spec.buffers, spec.line_bytes}, digest_);
    sensitive << channels_[i].mover->ended();
  }
  dont_initialize();
}

CopyEngine::~CopyEngine() = default;

void CopyEngine::submit(Descriptor&& descriptor) {
  const Time now = systemc_now();
  descriptor.ready = now + spec_.start_ns * kNanosecond;
  const auto behind = std::upper_bound(
      waiting_.begin(), waiting_.end(), descriptor, [](const Descriptor& a, const Descriptor& b) {
        return a.ready != b.ready ? a.ready < b.ready : a.program < b.program;
      });
  waiting_.insert(behind, std::move(descriptor));
  ++descriptors_;
  wake_.notify(delay_of(waiting_.front().ready - std::min(waiting_.front().ready, now)));
}

void CopyEngine::step() {
  const Time now = systemc_now();
  for (Channel& channel : channels_) {
    if (!channel.busy || !channel.mover->is_idle()) continue;
    channel.busy = false;
    if (channel.mover->has_failed()) {
      host_.fail(CheckError("DMA engine of the processor: copy of " +
                            std::to_string(channel.descriptor.bytes) +
                            " bytes from where no memory is"));
      return;
    }
    ++completed_;
    host_.write_word(channel.descriptor.signal, channel.descriptor.value);
  }
  for (Channel& channel : channels_) {
    if (waiting_.empty() || waiting_.front().ready > now) break;
    if (channel.busy) continue;
    channel.busy = true;
    channel.descriptor = waiting_.front();
    waiting_.pop_front();
    const Descriptor& d = channel.descriptor;
    channel.mover->begin(d.to, d.from, d.bytes);
  }
  if (!waiting_.empty() && waiting_.front().ready > now)
    wake_.notify(delay_of(waiting_.front().ready - now));
}

void CopyEngine::report(StatisticSink& sink) const {
  uint64_t moved = 0;
  for (const Channel& channel : channels_) moved += channel.mover->moved();
  sink.add("copy_engine.descriptors", descriptors_, "count",
           "Copies that programs left to the DMA engine of the processor.");
  sink.add("copy_engine.moved_bytes", moved, "bytes",
           "Device memory that it has read, and written to a device.");
}

void CopyEngine::audit(AuditSink& sink) const {
  sink.equal("copies of the processor's DMA engine: asked for = done", descriptors_, completed_);
}

std::vector<std::string> CopyEngine::waiting_on() const {
  std::vector<std::string> lines;
  for (const Channel& channel : channels_) {
    if (channel.busy) lines.push_back("the processor's DMA engine " + channel.mover->waiting_on());
  }
  return lines;
}

}  // namespace stretto
