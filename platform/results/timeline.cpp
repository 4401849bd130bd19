// SPDX-License-Identifier: Apache-2.0
#include "platform/results/timeline.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "models/common/error.h"

namespace stretto {

namespace {

// Chrome wants microseconds; viewers keep nanoseconds, so that is what is written.
std::string microseconds(Time time) {
  const std::string rest = std::to_string(time / kNanosecond % 1000);
  return std::to_string(time / kMicrosecond) + "." + std::string(3 - rest.size(), '0') + rest;
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

Timeline::Timeline(TimelineSpec spec, unsigned pages) : spec_(std::move(spec)), pages_(pages) {
  file_ = std::fopen(spec_.file.c_str(), "w");
  if (file_ == nullptr)
    throw UserError(spec_.file + ": cannot be written (" + std::strerror(errno) + ")");
  write("[\n");
}

Timeline::~Timeline() {
  if (file_ != nullptr) std::fclose(file_);
}

void Timeline::write(const std::string& text) {
  bytes_ += text.size();
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() && failure_ == 0)
    failure_ = errno;
}

unsigned Timeline::process_of(const std::string& track) {
  const std::string process = track.substr(0, track.find('/'));
  const auto [place, fresh] = processes_.emplace(process, processes_.size() + 1);
  if (fresh) {
    write("{\"ph\":\"M\",\"pid\":" + std::to_string(place->second) +
          ",\"name\":\"process_name\",\"args\":{\"name\":" + in_quotes(process) + "}},\n");
  }
  return place->second;
}

// The lane of the track that became free last: ends come in order, so a free one stays free.
unsigned Timeline::lane_for(const std::string& track, Time begin, Time end) {
  const auto [place, fresh] = tracks_.try_emplace(track);
  Track& on = place->second;
  if (fresh) on.process = process_of(track);
  Lane* best = nullptr;
  for (Lane& lane : on.lanes) {
    if (lane.end <= begin && (best == nullptr || lane.end > best->end)) best = &lane;
  }
  if (best == nullptr) {
    on.lanes.push_back({++threads_, 0});
    best = &on.lanes.back();
    const size_t slash = track.find('/');
    std::string name = slash == std::string::npos ? track : track.substr(slash + 1);
    if (on.lanes.size() > 1) name += " #" + std::to_string(on.lanes.size());
    const std::string place_of_lane =
        ",\"pid\":" + std::to_string(on.process) + ",\"tid\":" + std::to_string(best->thread);
    write("{\"ph\":\"M\"" + place_of_lane +
          ",\"name\":\"thread_name\",\"args\":{\"name\":" + in_quotes(name) + "}},\n");
    write("{\"ph\":\"M\"" + place_of_lane +
          ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":" +
          std::to_string(tracks_.size() * 1000 + on.lanes.size()) + "}},\n");
  }
  best->end = std::max(best->end, end);
  return best->thread;
}

void Timeline::flush() {
  for (unsigned page = 0; page < pages_.size(); ++page) {
    for (const Event& event : pages_[page].events) add(page, event);
    pages_[page].events.clear();
  }
}

void Timeline::add(unsigned page, const Event& event) {
  const Time last = event.kind == Kind::span ? event.end_or_value : event.begin;
  if (event.begin > spec_.to || last < spec_.from) return;
  if (bytes_ >= spec_.max_bytes) {
    ++dropped_;
    return;
  }
  ++drawn_;
  if (event.kind == Kind::span) {
    add_span(page, event);
    return;
  }
  const size_t slash = event.track.find('/');
  const std::string name = slash == std::string::npos ? event.track : event.track.substr(slash + 1);
  write("{\"ph\":\"C\",\"pid\":" + std::to_string(process_of(event.track)) +
        ",\"ts\":" + microseconds(event.begin) + ",\"name\":" + in_quotes(name) +
        ",\"args\":{\"value\":" + std::to_string(event.end_or_value) + "}},\n");
}

void Timeline::add_span(unsigned page, const Event& event) {
  const unsigned thread = lane_for(event.track, event.begin, event.end_or_value);
  const std::string place = ",\"pid\":" + std::to_string(tracks_.at(event.track).process) +
                            ",\"tid\":" + std::to_string(thread) +
                            ",\"ts\":" + microseconds(event.begin);
  std::string name = event.name;
  if (event.detail.code != 0 && kernel_names_) {
    const std::string kernel = kernel_names_(page, event.detail.code);
    if (!kernel.empty()) name.insert(0, kernel + " ");
  }
  // Of the rounded times, so that what follows at once does not overlap by rounding.
  const Time duration =
      (event.end_or_value / kNanosecond - event.begin / kNanosecond) * kNanosecond;
  write("{\"ph\":\"X\"" + place + ",\"dur\":" + microseconds(duration) +
        ",\"name\":" + in_quotes(name) + "},\n");
  if (event.detail.flow != 0) add_arrow(place, event);
}

void Timeline::add_arrow(const std::string& place, const Event& event) {
  const char* phase = "s";
  if (event.detail.arrow == TraceDetail::Arrow::passes) phase = "t";
  if (event.detail.arrow == TraceDetail::Arrow::arrives) phase = "f";
  write("{\"ph\":\"" + std::string(phase) + "\"" + place + ",\"id\":" +
        std::to_string(event.detail.flow) + ",\"cat\":\"tile\",\"name\":\"tile\",\"bp\":\"e\"},\n");
}

void Timeline::close() {
  if (file_ == nullptr) return;
  flush();
  write("{\"ph\":\"M\",\"pid\":0,\"name\":\"stretto\",\"args\":{\"events_left_out\":" +
        std::to_string(dropped_) + "}}\n]\n");
  if (std::fclose(file_) != 0 && failure_ == 0) failure_ = errno;
  file_ = nullptr;
  if (failure_ != 0) {
    throw UserError(spec_.file + ": cannot be written in full (" + std::strerror(failure_) +
                    "); choose another --out");
  }
}

}  // namespace stretto
