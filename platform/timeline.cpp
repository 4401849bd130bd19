// SPDX-License-Identifier: Apache-2.0
#include "platform/timeline.h"

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

Timeline::Timeline(const std::string& file, uint64_t max_bytes)
    : name_(file), max_bytes_(max_bytes) {
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
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) failed_ = true;
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

void Timeline::span(const std::string& track, const std::string& name, Time begin, Time end) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (bytes_ >= max_bytes_) {
    ++dropped_;
    return;
  }
  const Track on = track_of(track);
  write("{\"ph\":\"X\",\"pid\":" + std::to_string(on.process) +
        ",\"tid\":" + std::to_string(on.thread) + ",\"ts\":" + microseconds(begin) +
        ",\"dur\":" + microseconds(end - begin) + ",\"name\":" + quoted(name) + "},\n");
}

void Timeline::counter(const std::string& track, Time at, uint64_t value) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (bytes_ >= max_bytes_) {
    ++dropped_;
    return;
  }
  const Track on = track_of(track);
  write("{\"ph\":\"C\",\"pid\":" + std::to_string(on.process) + ",\"ts\":" + microseconds(at) +
        ",\"name\":" + quoted(track) + ",\"args\":{\"value\":" + std::to_string(value) + "}},\n");
}

void Timeline::close() {
  if (file_ == nullptr) return;
  write("{\"ph\":\"M\",\"pid\":0,\"name\":\"stretto\",\"args\":{\"events_left_out\":" +
        std::to_string(dropped_) + "}}\n]\n");
  if (std::fclose(file_) != 0) failed_ = true;
  file_ = nullptr;
  if (failed_) throw UserError(name_ + ": cannot be written in full; is the disk full?");
}

}  // namespace stretto
