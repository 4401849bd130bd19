// SPDX-License-Identifier: Apache-2.0
#include "platform/results/timeline.h"

#include <cerrno>
#include <cstring>

#include "models/common/error.h"

namespace stretto {

namespace {

// Chrome wants microseconds; femtoseconds are kept as decimals, by integer arithmetic.
std::string microseconds(Time time) {
  char text[48];
  std::snprintf(text, sizeof text, "%llu.%06llu",
                static_cast<unsigned long long>(time / kMicrosecond),
                static_cast<unsigned long long>(time % kMicrosecond / 1000));
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

Timeline::Timeline(const std::string& file, uint64_t max_bytes, unsigned gpus)
    : name_(file), pages_(gpus), max_bytes_(max_bytes) {
  file_ = std::fopen(file.c_str(), "w");
  if (file_ == nullptr)
    throw UserError(file + ": cannot be written (" + std::strerror(errno) + ")");
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

Timeline::Track Timeline::track_of(const std::string& track) {
  if (const auto known = tracks_.find(track); known != tracks_.end()) return known->second;
  const size_t slash = track.find('/');
  const std::string process = track.substr(0, slash);
  const std::string thread = slash == std::string::npos ? process : track.substr(slash + 1);
  const auto [place, fresh] = processes_.emplace(process, processes_.size() + 1);
  const unsigned pid = place->second;
  if (fresh) {
    write("{\"ph\":\"M\",\"pid\":" + std::to_string(pid) +
          ",\"name\":\"process_name\",\"args\":{\"name\":" + quoted(process) + "}},\n");
  }
  const Track made{pid, static_cast<unsigned>(tracks_.size() + 1)};
  tracks_.emplace(track, made);
  write("{\"ph\":\"M\",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(made.thread) +
        ",\"name\":\"thread_name\",\"args\":{\"name\":" + quoted(thread) + "}},\n");
  return made;
}

void Timeline::flush() {
  for (Page& page : pages_) {
    for (const Event& event : page.events) add(event);
    page.events.clear();
  }
}

void Timeline::add(const Event& event) {
  if (bytes_ >= max_bytes_) {
    ++dropped_;
    return;
  }
  const Track on = track_of(event.track);
  const std::string pid = ",\"pid\":" + std::to_string(on.process);
  if (event.is_span) {
    write("{\"ph\":\"X\"" + pid + ",\"tid\":" + std::to_string(on.thread) + ",\"ts\":" +
          microseconds(event.begin) + ",\"dur\":" + microseconds(event.end_or_value - event.begin) +
          ",\"name\":" + quoted(event.name) + "},\n");
  } else {
    write("{\"ph\":\"C\"" + pid + ",\"ts\":" + microseconds(event.begin) +
          ",\"name\":" + quoted(event.track) +
          ",\"args\":{\"value\":" + std::to_string(event.end_or_value) + "}},\n");
  }
}

void Timeline::close() {
  if (file_ == nullptr) return;
  flush();
  write("{\"ph\":\"M\",\"pid\":0,\"name\":\"stretto\",\"args\":{\"events_left_out\":" +
        std::to_string(dropped_) + "}}\n]\n");
  if (std::fclose(file_) != 0 && failure_ == 0) failure_ = errno;
  file_ = nullptr;
  if (failure_ != 0) {
    throw UserError(name_ + ": cannot be written in full (" + std::strerror(failure_) +
                    "); choose another --out");
  }
}

}  // namespace stretto
